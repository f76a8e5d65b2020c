package annotate

import (
	"fmt"
	"slices"
	"strings"
)

// partitioned reads a kind and its options.
func (p *parser) partitioned(rest string) {
	kind, text := cutWord(rest)
	if !slices.Contains([]string{Daily, Hourly, Weekly, Monthly, Dynamic}, kind) {
		p.malformed("there is no kind %q", kind)
		return
	}
	values, _ := p.options(text, SeverityError, []string{"tz", "format", "start", "key"}, nil, nil)
	if kind == Dynamic && values["key"] == "" {
		p.malformed("a dynamic one needs a key")
		return
	}
	if p.h.Partitioned != nil {
		p.duplicate(p.h.Partitioned.Line, "first")
		return
	}
	if kind != Dynamic && values["key"] != "" {
		p.say(CodeNoEffect, SeverityWarning, "key= means something of a dynamic one only", "remove it, or write partitioned dynamic")
		delete(values, "key")
	}
	p.h.Partitioned = &Partitioned{
		Kind: kind, Key: values["key"], TZ: values["tz"], Format: values["format"], Start: values["start"], Line: p.at,
	}
}

// materialize reads a mode, the table and its options.
func (p *parser) materialize(rest string) {
	m := Materialize{OnSchemaChange: SchemaWarn, Line: p.at}
	word, text := cutWord(rest)
	if word == "manual" || word == "scd2" {
		m.Manual, m.History = word == "manual", word == "scd2"
		word, text = cutWord(strings.TrimSpace(text))
	}
	asset, ok := ParseTarget(word)
	if !ok {
		if word == "" {
			p.malformed("the table is missing")
		} else {
			p.malformed("%q is no asset", word)
		}
		return
	}
	if p.h.Materialize != nil {
		p.duplicate(p.h.Materialize.Line, "first")
		return
	}
	m.Asset = asset
	values, words := p.options(text, SeverityError,
		[]string{"key", "track", "deletes", "on_schema_change"}, []string{"append", "history"}, []string{"key", "track"})
	m.Append = words["append"]
	m.History = m.History || words["history"]
	m.Key = values["key"]
	m.Track = splitList(values["track"])
	if key, ok := values["key"]; ok && key == "" {
		p.say(CodeValue, SeverityError, "key= is empty", "write key=COLUMN, or leave it out")
	}
	if v, ok := values["deletes"]; ok {
		m.CloseDeleted = v == "close"
		if v != "close" && v != "ignore" {
			p.say(CodeValue, SeverityError, fmt.Sprintf("deletes=%s is not known", v), "write deletes=close, or leave it out")
		}
	}
	if v, ok := values["on_schema_change"]; ok {
		switch c := SchemaChange(v); c {
		case SchemaWarn, SchemaIgnore, SchemaFail, SchemaSync:
			m.OnSchemaChange = c
		default:
			p.say(CodeValue, SeverityError, fmt.Sprintf("on_schema_change=%s is not known", v), "write warn, ignore, fail or sync")
		}
	}
	p.h.Materialize = &m
}

// on reads a trigger and its options.
func (p *parser) on(rest string) {
	word, text := cutWord(rest)
	text = strings.TrimSpace(text)
	t := Trigger{Line: p.at}
	if slices.Contains(Natives(), word) {
		t.Native = word
	} else if asset, ok := ParseAsset(word); ok {
		t.Asset = asset
	} else {
		p.malformed("%q is neither an asset nor a trigger such as %s", word, Schedule)
		return
	}
	// Only options may follow. What they are is not part of the grammar, but a first word
	// that is none is.
	first, _ := cutWord(text)
	switch {
	case text == "" || isOption(first):
	case t.Native == Schedule && !isProse(text):
		p.say(CodeMalformed, SeverityError, fmt.Sprintf("the time of a schedule is an option, and %s is none", text),
			fmt.Sprintf("write on schedule cron=%q", strings.Trim(text, `"'`)))
		return
	default:
		p.malformed("%q may not follow %s", text, word)
		return
	}
	keys := []string{"debounce"}
	severity := SeverityError
	switch t.Native {
	case "":
	case Schedule:
		keys = append(keys, "cron", "tz")
	default:
		severity = SeverityWarning // nothing goes by the options of the others
	}
	values, _ := p.options(text, severity, keys, nil, nil)
	t.Debounce, t.Cron, t.TZ = values["debounce"], values["cron"], values["tz"]
	if t.Native != "" && t.Debounce != "" {
		p.say(CodeNoEffect, SeverityWarning, "debounce= means something of assets only", "remove it")
		t.Debounce = ""
	}
	if t.Debounce != "" {
		p.checkDuration(t.Debounce)
	}
	if cron, ok := values["cron"]; ok && len(strings.Fields(cron)) != 5 && !strings.HasPrefix(cron, "@") {
		p.say(CodeValue, SeverityError, fmt.Sprintf("cron=%q has not five fields", cron), `write minute, hour, day, month and weekday in quotes, cron="0 6 * * *"`)
	}
	if t.Native == Schedule && values["cron"] == "" {
		p.say(CodeNoEffect, SeverityWarning, "a schedule without a time is never due", `write on schedule cron="0 * * * *"`)
	}
	for _, have := range p.h.Triggers {
		have.Line = t.Line
		if have == t {
			return
		}
	}
	for _, have := range p.h.Triggers {
		if t.Cron != "" && have.Cron != "" {
			p.say(CodeConflict, SeverityError, fmt.Sprintf("line %d has a schedule already, and a script has one", have.Line), `write one with lists, such as cron="0 6,18 * * *"`)
			break
		}
	}
	p.h.Triggers = append(p.h.Triggers, t)
}

// isOption tells whether a word is an identifier and an equals sign, and what may follow.
func isOption(word string) bool {
	key, _, ok := strings.Cut(word, "=")
	if !ok || key == "" {
		return false
	}
	for i, c := range key {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// column reads where a column comes from. References that cannot be read are left out.
func (p *parser) column(rest string) {
	name, refs, ok := strings.Cut(rest, "<-")
	name = strings.TrimSpace(name)
	switch {
	case !ok:
		p.malformed("the arrow <- is missing")
		return
	case !isWord(name):
		p.malformed("%q is no column", name)
		return
	}
	c := Column{Name: name, Line: p.at}
	var bad []string
	for ref := range strings.SplitSeq(refs, ",") {
		ref = strings.TrimSpace(ref)
		if asset, column, ok := cutColumn(ref); ok {
			c.From = append(c.From, ColumnRef{Asset: asset, Column: column})
		} else {
			bad = append(bad, fmt.Sprintf("%q", ref))
		}
	}
	if len(c.From) == 0 {
		p.malformed("%s is no column of an asset", strings.Join(bad, ", "))
		return
	}
	if len(bad) > 0 {
		p.say(CodeValue, SeverityWarning, strings.Join(bad, ", ")+" is no column of an asset, and left out", "write ducklake://LAKE/TABLE.COLUMN")
	}
	p.h.Columns = append(p.h.Columns, c)
}

// cutColumn reads ASSET.COLUMN. The column is what follows the last dot, so that the table
// may have a schema.
func cutColumn(ref string) (Asset, string, bool) {
	i := strings.LastIndexByte(ref, '.')
	if i < 0 || !isWord(ref[i+1:]) {
		return Asset{}, "", false
	}
	asset, ok := ParseTarget(ref[:i])
	return asset, ref[i+1:], ok
}

// isWord tells whether s is one word.
func isWord(s string) bool {
	return len(strings.Fields(s)) == 1 && strings.TrimSpace(s) == s
}
