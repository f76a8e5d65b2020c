package classify

import (
	"strings"
	"unicode/utf8"
)

// remedyManual ends what is said of scripts that do something else.
const remedyManual = "a table is made of setup statements and one SELECT at the end; a script that writes its table itself says materialize manual"

// Classify takes a script apart into setup and the SELECT that a table is made of. Its
// error is an *Error.
func Classify(script string) (*Script, error) {
	list, open := split(script)
	if open != nil {
		return nil, unterminated(script, *open)
	}
	if len(list) == 0 {
		return nil, &Error{Err: ErrEmpty, Remedy: "write a SELECT below the header"}
	}
	outputs, last, bad := 0, -1, -1 // how many, the last of them, the first that is not allowed
	second := -1
	for i, st := range list {
		switch ClassOf(st.Text) {
		case Output:
			if outputs++; outputs == 2 {
				second = i
			}
			last = i
		case Disallowed:
			if bad < 0 {
				bad = i
			}
		}
	}
	switch {
	case outputs == 0:
		if bad < 0 {
			return nil, &Error{Err: ErrNoSelect, Remedy: remedyManual}
		}
		return nil, at(ErrNoSelect, list[bad])
	case outputs > 1:
		e := at(ErrSeveral, list[second])
		e.Count = outputs
		return nil, e
	case last < len(list)-1:
		return nil, at(ErrNotLast, list[last+1])
	case bad >= 0:
		return nil, at(ErrStatement, list[bad])
	}
	return &Script{Setup: list[:last:last], Output: list[last]}, nil
}

// at is an error about a statement.
func at(err error, st Statement) *Error {
	e := &Error{Err: err, Line: st.Line, Col: st.Col, Snippet: snippet(st.Text), Remedy: remedyManual}
	if err == ErrStatement || err == ErrNoSelect {
		e.Remedy = remedy(st.Text)
	}
	return e
}

// unterminated is the error about a token without an end.
func unterminated(script string, t token) *Error {
	before := script[:t.start]
	e := &Error{
		Err:     ErrUnterminated,
		Line:    strings.Count(before, "\n") + 1,
		Col:     len(before) - strings.LastIndexByte(before, '\n'),
		Snippet: snippet(script[t.start:]),
	}
	switch t.kind {
	case tokComment:
		e.Remedy = "end the comment with */, once for each /* in it"
	case tokName:
		e.Remedy = `end the name with "`
	case tokDollar:
		e.Remedy = "end the string with " + dollarTag(script[t.start:])
	default:
		e.Remedy = "end the string with '"
	}
	return e
}

// remedy says what to write instead of a statement that is not allowed.
func remedy(text string) string {
	c := newCursor(text)
	switch word := c.word(); word {
	case "describe", "desc", "show", "summarize":
		return "its result is a table as SELECT * FROM (" + strings.ToUpper(word) + " …)"
	case "create":
		return "setup can create what is temporary, as CREATE TEMP TABLE; " + remedyManual
	case "":
		if c.punct("#") {
			return "# is no comment in SQL: write --"
		}
	}
	return remedyManual
}

// maxSnippet is how much of a statement is shown, in characters.
const maxSnippet = 40

// snippet is the beginning of a statement in one line.
func snippet(text string) string {
	head := text
	if len(head) > 64*maxSnippet { // a long text is not walked through
		head = strings.ToValidUTF8(head[:64*maxSnippet], "")
	}
	line := strings.Join(strings.Fields(head), " ")
	if utf8.RuneCountInString(line) <= maxSnippet && len(head) == len(text) {
		return line
	}
	runes := []rune(line)
	return strings.TrimSpace(string(runes[:min(len(runes), maxSnippet)])) + "…"
}

// queryVerbs are the words that queries begin with, besides with.
var queryVerbs = words("select from values table pivot pivot_wider unpivot pivot_longer")

// setupVerbs are the words of statements that change only the session.
var setupVerbs = words("attach install load set pragma use")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// ClassOf is the class of one statement, by its first words. Its text has no comments
// before the first word, as Split returns it.
func ClassOf(text string) Class {
	c := newCursor(text)
	if c.query() {
		return Output
	}
	c = newCursor(text)
	switch word := c.word(); {
	case setupVerbs[word]:
		return Setup
	case word == "force" && c.word() == "install":
		return Setup
	case word == "create" && c.temporary():
		return Setup
	}
	return Disallowed
}

// cursor walks through the tokens of a statement that mean something.
type cursor struct {
	src string
	s   *scanner
	t   token // the one at hand
	ok  bool  // false at the end
}

func newCursor(text string) *cursor {
	c := &cursor{src: text, s: newScanner(text)}
	c.step()
	return c
}

func (c *cursor) step() {
	for {
		c.t, c.ok = c.s.next()
		if !c.ok || c.t.kind != tokSpace && c.t.kind != tokComment {
			return
		}
	}
}

func (c *cursor) text() string { return c.src[c.t.start:c.t.end] }

// word takes the word at hand, in lower case; empty, and nothing taken, if it is none.
func (c *cursor) word() string {
	if !c.ok || c.t.kind != tokWord {
		return ""
	}
	w := strings.ToLower(c.text())
	c.step()
	return w
}

// take takes the word at hand if it is w.
func (c *cursor) take(w string) bool {
	if !c.ok || c.t.kind != tokWord || !strings.EqualFold(c.text(), w) {
		return false
	}
	c.step()
	return true
}

// punct takes the character at hand if it is p.
func (c *cursor) punct(p string) bool {
	if !c.ok || c.t.kind != tokPunct || c.text() != p {
		return false
	}
	c.step()
	return true
}

// group takes what is in parentheses; false if there are none.
func (c *cursor) group() bool {
	if !c.punct("(") {
		return false
	}
	for depth := 1; depth > 0; {
		switch {
		case !c.ok:
			return false
		case c.punct("("):
			depth++
		case c.punct(")"):
			depth--
		default:
			c.step()
		}
	}
	return true
}

// query tells whether a query begins here, be it in parentheses or after WITH.
func (c *cursor) query() bool {
	for c.punct("(") {
	}
	word := c.word()
	if word != "with" {
		return queryVerbs[word]
	}
	c.take("recursive")
	for {
		if !c.tableExpression() {
			return false
		}
		if !c.punct(",") {
			break
		}
	}
	for c.punct("(") {
	}
	return queryVerbs[c.word()]
}

// tableExpression takes one name AS (…) of a WITH. The name may be a verb, which is why the
// list is read and not searched for the first one.
func (c *cursor) tableExpression() bool {
	switch {
	case !c.ok:
		return false
	case c.t.kind == tokName:
		c.step()
	case c.word() == "":
		return false
	}
	c.group()
	if c.take("using") && (!c.take("key") || !c.group()) {
		return false
	}
	if !c.take("as") {
		return false
	}
	c.take("not")
	c.take("materialized")
	return c.group()
}

// temporary tells whether a CREATE is of something that ends with the session. The word
// has to be before what is created: a table may be called temp.
func (c *cursor) temporary() bool {
	if c.take("or") && !c.take("replace") {
		return false
	}
	c.take("local")
	return c.take("temp") || c.take("temporary")
}
