package annotate

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// Parse reads the header of a script. It never fails: see the package comment.
func Parse(script string) *Header {
	p := newParser()
	header := true
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(script, "\ufeff"), "\n") {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		prefix, comment := cutPrefix(line)
		header = header && prefix != ""
		p.at = n
		switch {
		case header:
			p.line(prefix, comment)
		case prefix == "//" || prefix == "--":
			p.unseen(comment)
		}
	}
	h := p.h
	h.Diagnostics = append(h.Diagnostics, h.Validate()...)
	sort.SliceStable(h.Diagnostics, func(i, j int) bool { return h.Diagnostics[i].Line < h.Diagnostics[j].Line })
	return h
}

// cutPrefix takes the prefix of a comment off a line; it is empty for a line of code.
func cutPrefix(line string) (prefix, comment string) {
	for _, prefix := range []string{"//", "--", "#"} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return prefix, strings.TrimSpace(rest)
		}
	}
	return "", line
}

// parser reads one header.
type parser struct {
	h        *Header
	keywords map[string]keyword
	at       int    // the number of the line at work
	word     string // its keyword
	plain    bool   // it has nothing but letters and spaces
	hashed   bool   // a line behind # was complained of
}

func newParser() *parser {
	return &parser{h: &Header{Lines: map[string]int{}}, keywords: keywords()}
}

// line reads a comment of the header.
func (p *parser) line(prefix, comment string) {
	if comment == "" {
		return
	}
	word, rest := cutWord(comment)
	rest = strings.TrimSpace(rest)
	k, ok := p.keywords[word]
	if !ok {
		p.misspelt(word, rest)
		return
	}
	p.word = word
	p.plain = !strings.ContainsFunc(rest, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsSpace(c) })
	before := len(p.h.Diagnostics)
	k.read(p, rest)
	malformed := slices.ContainsFunc(p.h.Diagnostics[before:], func(d Diagnostic) bool { return d.Code == CodeMalformed })
	if malformed && !k.term && isProse(rest) {
		p.h.Diagnostics = p.h.Diagnostics[:before]
		return
	}
	if prefix == "#" && !p.hashed {
		p.hashed = true
		p.say(CodePrefix, SeverityError, "# begins no comment in SQL: DuckDB will refuse the script", "write -- "+comment)
	}
}

// say complains of the line at work.
func (p *parser) say(code Code, severity Severity, message, remedy string) {
	p.h.Diagnostics = append(p.h.Diagnostics, Diagnostic{
		Line: p.at, Keyword: p.word, Code: code, Severity: severity, Message: p.word + ": " + message, Remedy: remedy,
	})
}

// malformed complains of a line that is left out.
func (p *parser) malformed(format string, args ...any) {
	severity := SeverityError
	if k := p.keywords[p.word]; k.harmless || k.english && p.plain {
		severity = SeverityWarning
	}
	p.say(CodeMalformed, severity, fmt.Sprintf(format, args...), "write "+p.keywords[p.word].form)
}

// duplicate complains of a well-formed line that another one leaves without effect.
func (p *parser) duplicate(line int, which string) {
	p.say(CodeDuplicate, SeverityWarning, fmt.Sprintf("line %d says it too, and the %s one counts", line, which), "remove one of them")
}

// first tells whether the line at work is the first of its keyword, and complains of it
// otherwise.
func (p *parser) first() bool {
	if line, ok := p.h.Lines[p.word]; ok {
		p.duplicate(line, "first")
		return false
	}
	p.h.Lines[p.word] = p.at
	return true
}

// flag reads a keyword that nothing may follow.
func (p *parser) flag(rest string, to *bool) {
	if rest != "" {
		p.malformed("nothing may follow, and %q does", rest)
		return
	}
	if !*to {
		*to = true
		p.h.Lines[p.word] = p.at
	}
}

func (p *parser) pipeline(rest string) { p.flag(rest, &p.h.Pipeline) }

func (p *parser) macros(rest string) { p.flag(rest, &p.h.Macros) }

// duration reads a keyword that a duration follows. What is none is kept, since the text
// is, but no run can go by it.
func (p *parser) duration(rest string, to *string) {
	if rest == "" {
		p.malformed("the duration is missing")
		return
	}
	if isProse(rest) {
		return
	}
	if !p.first() {
		return
	}
	*to = rest
	p.checkDuration(rest)
}

func (p *parser) checkDuration(text string) {
	if _, err := ParseDuration(text); err != nil {
		p.say(CodeValue, SeverityError, fmt.Sprintf("%q is no duration", text), "write 30s, 5m, 2h, 1d or 1h30m")
	}
}

func (p *parser) freshness(rest string) { p.duration(rest, &p.h.Freshness) }

func (p *parser) debounce(rest string) { p.duration(rest, &p.h.Debounce) }

// maxTag is how long a tag may be, in bytes.
const maxTag = 50

func (p *parser) tag(rest string) {
	switch {
	case rest == "":
		p.malformed("the word is missing")
	case strings.ContainsFunc(rest, unicode.IsSpace):
		p.malformed("%q is more than one word", rest)
	case len(rest) > maxTag:
		p.malformed("a tag of %d bytes is too long", len(rest))
	case p.first():
		p.h.Tag = rest
	}
}

func (p *parser) retry(rest string) {
	word, delay := cutWord(rest)
	delay = strings.TrimSpace(delay)
	count, err := strconv.ParseUint(word, 10, 31) // what an int holds on every machine
	switch {
	case rest == "":
		p.malformed("the count is missing")
	case err != nil || count == 0:
		p.malformed("%q is no count from 1 on", word)
	case p.h.Retry != nil:
		p.duplicate(p.h.Retry.Line, "first")
	default:
		p.h.Retry = &Retry{Count: int(count), Delay: delay, Line: p.at}
		if delay != "" {
			p.checkDuration(delay)
		}
	}
}

func (p *parser) trigger(rest string) {
	join := JoinAny
	switch rest {
	case "all":
		join = JoinAll
	case "any":
	default:
		p.malformed("%q is neither any nor all", rest)
		return
	}
	if line, ok := p.h.Lines[keyTrigger]; ok && join != p.h.Join {
		p.duplicate(line, "last")
	}
	p.h.Join = join
	p.h.Lines[keyTrigger] = p.at
}

func (p *parser) mute(rest string) {
	asset, ok := ParseAsset(rest)
	switch {
	case rest == "all":
		p.h.Mute.All = true
	case !ok:
		p.malformed("%q is no asset", rest)
		return
	case !slices.Contains(p.h.Mute.Assets, asset):
		p.h.Mute.Assets = append(p.h.Mute.Assets, asset)
	}
	if p.h.Lines[keyMute] == 0 {
		p.h.Lines[keyMute] = p.at
	}
}

func (p *parser) use(rest string) {
	switch {
	case !strings.Contains(rest, "/") || strings.ContainsFunc(rest, unicode.IsSpace):
		p.malformed("%q is no path of a script", rest)
	case !slices.Contains(p.h.Use, rest):
		p.h.Use = append(p.h.Use, rest)
		p.h.Lines[keyUse+" "+rest] = p.at
	}
}
