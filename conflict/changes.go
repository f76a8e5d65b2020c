package conflict

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ChangeKind is the keyword of one entry of changes_made.
type ChangeKind uint8

// The keywords, in the order in which DuckLake writes them. The last two are written by
// older clients only.
const (
	ChangeUnknown ChangeKind = iota
	DroppedSchema
	DroppedTable
	DroppedView
	CreatedSchema
	CreatedTable
	CreatedView
	CreatedScalarMacro
	CreatedTableMacro
	DroppedScalarMacro
	DroppedTableMacro
	InsertedIntoTable
	DeletedFromTable
	AlteredTable
	AlteredView
	InlinedInsert
	InlinedDelete
	InlineFlush
	MergeAdjacent
	RewriteDelete
	CompactedTable
	FlushedInlined
	numChangeKinds
)

// valueForm is what stands behind the colon.
type valueForm uint8

const (
	formID        valueForm = iota // 7
	formName                       // "s"
	formQualified                  // "s"."t"
)

var changeKinds = [numChangeKinds]struct {
	word string
	form valueForm
}{
	ChangeUnknown:      {"unknown", formID},
	DroppedSchema:      {"dropped_schema", formID},
	DroppedTable:       {"dropped_table", formID},
	DroppedView:        {"dropped_view", formID},
	CreatedSchema:      {"created_schema", formName},
	CreatedTable:       {"created_table", formQualified},
	CreatedView:        {"created_view", formQualified},
	CreatedScalarMacro: {"created_scalar_macro", formQualified},
	CreatedTableMacro:  {"created_table_macro", formQualified},
	DroppedScalarMacro: {"dropped_scalar_macro", formID},
	DroppedTableMacro:  {"dropped_table_macro", formID},
	InsertedIntoTable:  {"inserted_into_table", formID},
	DeletedFromTable:   {"deleted_from_table", formID},
	AlteredTable:       {"altered_table", formID},
	AlteredView:        {"altered_view", formID},
	InlinedInsert:      {"inlined_insert", formID},
	InlinedDelete:      {"inlined_delete", formID},
	InlineFlush:        {"inline_flush", formID},
	MergeAdjacent:      {"merge_adjacent", formID},
	RewriteDelete:      {"rewrite_delete", formID},
	CompactedTable:     {"compacted_table", formID},
	FlushedInlined:     {"flushed_inlined", formID},
}

// ChangeKinds returns all keywords, in the order of writing.
func ChangeKinds() []ChangeKind {
	out := make([]ChangeKind, 0, numChangeKinds-1)
	for k := ChangeUnknown + 1; k < numChangeKinds; k++ {
		out = append(out, k)
	}
	return out
}

// String returns the keyword.
func (k ChangeKind) String() string {
	if k >= numChangeKinds {
		k = ChangeUnknown
	}
	return changeKinds[k].word
}

// Change is one entry of changes_made: an id, or one or two names, as the kind has it.
type Change struct {
	Kind         ChangeKind
	ID           int64
	Schema, Name string // Name is empty for a schema
}

// String returns the entry as DuckLake writes it.
func (c Change) String() string { return string(c.append(nil)) }

func (c Change) append(b []byte) []byte {
	b = append(append(b, c.Kind.String()...), ':')
	switch changeKinds[min(c.Kind, numChangeKinds-1)].form {
	case formName:
		return appendIdent(b, c.Schema)
	case formQualified:
		return appendIdent(append(appendIdent(b, c.Schema), '.'), c.Name)
	default:
		return strconv.AppendInt(b, c.ID, 10)
	}
}

func appendIdent(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(append(b, s[:i]...), `""`...)
		s = s[i+1:]
	}
}

// Changes is the content of one changes_made.
type Changes []Change

// String returns the text as DuckLake writes it; no change is the empty text.
func (cs Changes) String() string {
	var b []byte
	for i, c := range cs {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.append(b)
	}
	return string(b)
}

// ErrChanges is what every error of ParseChanges is.
var ErrChanges = errors.New("changes_made is not in DuckLake's grammar")

// ParseChanges reads a changes_made. It accepts what DuckLake's own reader accepts and
// nothing else: that reader throws on an unknown keyword, in every client that has to
// look for conflicts across the snapshot, so such a text must never be stored. Keywords
// count in any case. The empty text has no changes.
func ParseChanges(s string) (Changes, error) {
	if s == "" {
		return nil, nil
	}
	out := make(Changes, 0, strings.Count(s, ",")+1)
	p := changeParser{s: s}
	for {
		c, err := p.entry()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		if p.i == len(s) {
			return out, nil
		}
		if s[p.i] != ',' {
			return nil, p.fail("a comma is missing")
		}
		p.i++
	}
}

type changeParser struct {
	s string
	i int
}

func (p *changeParser) fail(why string) error {
	return fmt.Errorf("%w: %s at byte %d", ErrChanges, why, p.i)
}

func (p *changeParser) entry() (Change, error) {
	n := strings.IndexByte(p.s[p.i:], ':')
	if n < 0 {
		return Change{}, p.fail("a colon is missing")
	}
	c := Change{Kind: kindOf(p.s[p.i : p.i+n])}
	if c.Kind == ChangeUnknown {
		return Change{}, p.fail("unknown keyword")
	}
	p.i += n + 1
	var err error
	switch changeKinds[c.Kind].form {
	case formName:
		c.Schema, err = p.ident()
	case formQualified:
		if c.Schema, err = p.ident(); err != nil {
			break
		}
		if p.i == len(p.s) || p.s[p.i] != '.' {
			return Change{}, p.fail("a dot is missing")
		}
		p.i++
		c.Name, err = p.ident()
	default:
		c.ID, err = p.id()
	}
	return c, err
}

func kindOf(word string) ChangeKind {
	for k := ChangeUnknown + 1; k < numChangeKinds; k++ {
		if foldEqual(changeKinds[k].word, word) {
			return k
		}
	}
	return ChangeUnknown
}

// foldEqual compares lower-case ASCII with a word in any case of ASCII: the readers that
// must understand the text know no other case.
func foldEqual(lower, word string) bool {
	if len(lower) != len(word) {
		return false
	}
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func (p *changeParser) id() (int64, error) {
	start, n := p.i, int64(0)
	for ; p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9'; p.i++ {
		d := int64(p.s[p.i] - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, p.fail("the id is too large")
		}
		n = n*10 + d
	}
	if p.i == start {
		return 0, p.fail("an id is missing")
	}
	return n, nil
}

func (p *changeParser) ident() (string, error) {
	if p.i == len(p.s) || p.s[p.i] != '"' {
		return "", p.fail("a quoted name is missing")
	}
	start, quotes := p.i+1, false
	for p.i++; p.i < len(p.s); p.i++ {
		if p.s[p.i] != '"' {
			continue
		}
		if p.i+1 < len(p.s) && p.s[p.i+1] == '"' {
			quotes = true
			p.i++
			continue
		}
		name := p.s[start:p.i]
		p.i++
		if quotes {
			name = strings.ReplaceAll(name, `""`, `"`)
		}
		return name, nil
	}
	return "", p.fail("a quote is not closed")
}

// joinWords writes a list of words.
func joinWords(words []string) string { return strings.Join(words, ", ") }
