package classify

import "strings"

// kind is what a token is.
type kind int

const (
	tokSpace   kind = iota
	tokComment      // with its delimiters, without the line break that ends a line comment
	tokWord         // a name, a keyword, the digits of a number
	tokString       // '…'
	tokEscape       // E'…', or a later part of one
	tokDollar       // $$…$$ or $tag$…$tag$
	tokName         // "…"
	tokPunct        // one other byte
)

// token is a piece of a script. Tokens cover it without gaps.
type token struct {
	kind       kind
	start, end int // bytes
	// open is set if the script ends before the token does.
	open bool
}

// scanner takes a script apart by DuckDB's lexical rules.
type scanner struct {
	src string
	pos int
	// fresh is set as long as the line, or the statement, has had only white space and
	// comments: // begins a comment there.
	fresh bool
	// escape is set after a part of an E'…' string, and broken from the first line break
	// on that follows: a string there goes on with the same escapes.
	escape, broken bool
}

func newScanner(src string) *scanner { return &scanner{src: src, fresh: true} }

// next is the next token; ok is false at the end.
func (s *scanner) next() (t token, ok bool) {
	if s.pos >= len(s.src) {
		return token{}, false
	}
	t = s.token(s.src[s.pos:])
	t.start, t.end = s.pos, min(s.pos+t.end, len(s.src))
	s.pos = t.end
	text := s.src[t.start:t.end]
	switch t.kind {
	case tokSpace, tokComment: // a comment counts as what it leaves: see blank
		if strings.ContainsAny(text, "\r\n") {
			s.fresh, s.broken = true, true
		}
	default:
		s.fresh = text == ";"
		s.escape, s.broken = t.kind == tokEscape, false
	}
	return t, true
}

// token is the token that rest, which is not empty, begins with. Its start is 0.
func (s *scanner) token(rest string) token {
	c := rest[0]
	switch {
	case spaceLen(rest) > 0:
		return token{kind: tokSpace, end: spaces(rest)}
	case strings.HasPrefix(rest, "--"), s.fresh && strings.HasPrefix(rest, "//"):
		return token{kind: tokComment, end: lineEnd(rest)}
	case strings.HasPrefix(rest, "/*"):
		end, open := blockEnd(rest)
		return token{kind: tokComment, end: end, open: open}
	case c == '\'':
		k := tokString
		if s.escape && s.broken {
			k = tokEscape
		}
		end, open := quoteEnd(rest, 1, '\'', k == tokEscape)
		return token{kind: k, end: end, open: open}
	case (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'"):
		end, open := quoteEnd(rest, 2, '\'', true)
		return token{kind: tokEscape, end: end, open: open}
	case c == '"':
		end, open := quoteEnd(rest, 1, '"', false)
		return token{kind: tokName, end: end, open: open}
	case c == '$':
		if tag := dollarTag(rest); tag != "" {
			if i := strings.Index(rest[len(tag):], tag); i >= 0 {
				return token{kind: tokDollar, end: i + 2*len(tag)}
			}
			return token{kind: tokDollar, end: len(rest), open: true}
		}
	case isDigit(c):
		return token{kind: tokWord, end: span(rest, func(i int) bool { return isDigit(rest[i]) })}
	case isLetter(c):
		return token{kind: tokWord, end: span(rest, func(i int) bool {
			return (isLetter(rest[i]) || isDigit(rest[i]) || rest[i] == '$') && spaceLen(rest[i:]) == 0
		})}
	}
	return token{kind: tokPunct, end: 1}
}

// blank is what a comment leaves behind: its line breaks, or a space.
func blank(comment string) string {
	if !strings.ContainsAny(comment, "\r\n") {
		return " "
	}
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return r
		}
		return -1
	}, comment)
}

// span is how many bytes of s fit, from the second on; the first is taken.
func span(s string, fits func(i int) bool) int {
	i := 1
	for i < len(s) && fits(i) {
		i++
	}
	return i
}

// lineEnd is the length of s up to its first line break.
func lineEnd(s string) int {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return i
	}
	return len(s)
}

// blockEnd is the length of the block comment that s begins with. Comments nest.
func blockEnd(s string) (end int, open bool) {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1, false
			}
		}
	}
	return len(s), true
}

// quoteEnd is the length of the quoted text that s begins with and whose content begins at
// from. A doubled quote is one of the content, as is what follows a backslash if there are
// escapes.
func quoteEnd(s string, from int, quote byte, escapes bool) (end int, open bool) {
	for i := from; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] != quote:
		case i+1 < len(s) && s[i+1] == quote:
			i++
		default:
			return i + 1, false
		}
	}
	return len(s), true
}

// dollarTag is the delimiter $…$ that s begins with, empty if it begins with none.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '$':
			return s[:i+1]
		case !isLetter(s[i]) && (i == 1 || !isDigit(s[i])):
			return ""
		}
	}
	return ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter tells whether a name can begin with c. All of UTF-8 beyond ASCII can, but for
// spaces.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }

// wideSpaces are the spaces beyond ASCII that DuckDB takes for spaces, the byte order mark
// among them.
var wideSpaces = []string{
	"\u00a0", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b",
	"\u200c", "\u200d", "\u202f", "\u205f", "\u2060", "\u3000", "\ufeff",
}

// spaceLen is the length of the space that s begins with, 0 if it begins with none.
func spaceLen(s string) int {
	switch c := s[0]; {
	case c == ' ' || c >= '\t' && c <= '\r':
		return 1
	case c < 0x80:
		return 0
	}
	for _, w := range wideSpaces {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}

// spaces is the length of all spaces that s begins with.
func spaces(s string) int {
	i := 0
	for i < len(s) {
		n := spaceLen(s[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}
