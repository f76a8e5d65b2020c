package lex

import "strings"

// quoted scans the rest of a '..' literal whose first quote is at q; start is where the
// token starts. Parts on following lines are joined, as the standard wants.
func (l *Lexer) quoted(t *Token, start, q int, kind Kind) {
	src := l.Src
	form := Plain
	i := q + 1
	for {
		n := strings.IndexByte(src[i:], '\'')
		if n < 0 {
			l.fail(t, start, len(src), unterminated(kind))
			return
		}
		i += n + 1
		if i < len(src) && src[i] == '\'' {
			form = max(form, Doubled)
			i++
			continue
		}
		next := continuation(src, i)
		if next < 0 {
			break
		}
		form = Continued
		i = next + 1
	}
	l.set(t, kind, i)
	t.Form = form
}

func unterminated(k Kind) string {
	switch k {
	case Bit:
		return "unterminated bit string literal"
	case Hex:
		return "unterminated hexadecimal string literal"
	}
	return "unterminated quoted string"
}

// continuation returns the offset of the quote that continues a literal ended before i:
// only white space with at least one newline, and comments, may lie between. It
// returns -1 when there is none.
func continuation(src string, i int) int {
	newline := false
	for i < len(src) {
		switch src[i] {
		case ' ', '\t', '\f':
			i++
		case '\n', '\r':
			newline = true
			i++
		case '-':
			if i+1 >= len(src) || src[i+1] != '-' {
				return -1
			}
			// The comment must end in a newline, which the next round sees.
			i = skipLine(src, i+2)
		case '\'':
			if newline {
				return i
			}
			return -1
		default:
			return -1
		}
	}
	return -1
}

// escapeString scans E'..' starting at i.
func (l *Lexer) escapeString(t *Token, start int) {
	src := l.Src
	i := start + 2
	for {
		if i >= len(src) {
			l.fail(t, start, len(src), "unterminated quoted string")
			return
		}
		switch src[i] {
		case '\\':
			i += 2
		case '\'':
			i++
			if i < len(src) && src[i] == '\'' {
				i++
				continue
			}
			if next := continuation(src, i); next >= 0 {
				i = next + 1
				continue
			}
			l.set(t, String, i)
			t.Form = Escape
			return
		default:
			i++
		}
	}
}

// unicodeString scans U&'..' with its optional UESCAPE clause.
func (l *Lexer) unicodeString(t *Token, start int) {
	l.quoted(t, start, start+2, String)
	if t.Kind == String {
		t.Form = Unicode
		l.uescape(t)
	}
}

// quotedIdent scans ".." whose first quote is at q.
func (l *Lexer) quotedIdent(t *Token, start, q int) {
	src := l.Src
	i := q + 1
	form := Plain
	for {
		n := strings.IndexByte(src[i:], '"')
		if n < 0 {
			l.fail(t, start, len(src), "unterminated quoted identifier")
			return
		}
		i += n + 1
		if i < len(src) && src[i] == '"' {
			form = Doubled
			i++
			continue
		}
		break
	}
	if i == q+2 {
		l.fail(t, start, i, "zero-length delimited identifier")
		return
	}
	l.set(t, Quoted, i)
	t.Form = form
	if q != start {
		t.Form = Unicode
		l.uescape(t)
	}
}

// uescape extends a U& token by the UESCAPE 'c' that may follow it.
func (l *Lexer) uescape(t *Token) {
	save := *t
	pos := l.Pos
	var w Token
	l.Next(&w)
	if w.Kind != Word || w.Kw != KwUescape {
		// Whatever it is, it is scanned again as the next token.
		l.Pos, l.Err = pos, nil
		*t = save
		return
	}
	l.Next(&w)
	if w.Kind == Invalid {
		*t = w
		return
	}
	if w.Kind != String || w.Form > Continued {
		end := int(w.End)
		l.fail(t, int(w.Start), end, "UESCAPE must be followed by a simple string literal")
		return
	}
	if v := l.Value(&w); len(v) != 1 || !validUescape(v[0]) {
		l.fail(t, int(w.Start), int(w.End), "invalid Unicode escape character")
		return
	}
	*t = save
	t.End = w.End
	l.Pos = int(w.End)
}

func validUescape(c byte) bool {
	if hexVal(c) >= 0 || c == '+' || c == '\'' || c == '"' || charClass[c] == cSpace {
		return false
	}
	return true
}

// dollar scans $n, $tag$..$tag$ or a lone dollar.
func (l *Lexer) dollar(t *Token, start int) {
	src := l.Src
	i := start + 1
	if i < len(src) && isDigit(src[i]) {
		for i < len(src) && isDigit(src[i]) {
			i++
		}
		if i < len(src) && identStart(src[i]) {
			l.fail(t, start, wordEnd(src, i), "trailing junk after parameter")
			return
		}
		l.set(t, Param, i)
		return
	}
	if i < len(src) && identStart(src[i]) {
		for i < len(src) && src[i] != '$' && foldTable[src[i]] != 0 {
			i++
		}
	}
	if i >= len(src) || src[i] != '$' {
		l.set(t, Other, start+1)
		return
	}
	tag := src[start : i+1]
	n := strings.Index(src[i+1:], tag)
	if n < 0 {
		l.fail(t, start, len(src), "unterminated dollar-quoted string")
		return
	}
	l.set(t, String, i+1+n+len(tag))
	t.Form = Dollar
}

// wordEnd returns the end of the identifier characters at i.
func wordEnd(src string, i int) int {
	for i < len(src) && foldTable[src[i]] != 0 {
		i++
	}
	return i
}

// number scans an integer, decimal or real constant.
func (l *Lexer) number(t *Token, start int) {
	src := l.Src
	i := start
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	kind := Integer
	if i < len(src) && src[i] == '.' && (i+1 >= len(src) || src[i+1] != '.') {
		kind = Numeric
		i++
		for i < len(src) && isDigit(src[i]) {
			i++
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		j := i + 1
		if j < len(src) && (src[j] == '+' || src[j] == '-') {
			j++
		}
		if j >= len(src) || !isDigit(src[j]) {
			if j == i+1 {
				j = wordEnd(src, j)
			}
			l.fail(t, start, j, "trailing junk after numeric literal")
			return
		}
		for j < len(src) && isDigit(src[j]) {
			j++
		}
		i, kind = j, Numeric
	}
	if i < len(src) && identStart(src[i]) {
		l.fail(t, start, wordEnd(src, i), "trailing junk after numeric literal")
		return
	}
	l.set(t, kind, i)
}

// maxOperator is PostgreSQL's NAMEDATALEN.
const maxOperator = 64

// operator scans an operator by PostgreSQL's rules: the longest run of operator
// characters, cut where a comment starts, and without a trailing + or - unless it holds
// a character that no standard operator has.
func (l *Lexer) operator(t *Token, start int) {
	src := l.Src
	end := start + 1
	for end < len(src) && charClass[src[end]] == cOp {
		if c := src[end]; (c == '*' && src[end-1] == '/') || (c == '-' && src[end-1] == '-') {
			end--
			break
		}
		end++
	}
	// A comment right at the start was skipped before, so end > start.
	if end-start > 1 && (src[end-1] == '+' || src[end-1] == '-') && !hasSpecialOp(src[start:end-1]) {
		for end-start > 1 && (src[end-1] == '+' || src[end-1] == '-') {
			end--
		}
	}
	kind := Op
	switch end - start {
	case 1:
		if k := selfKind[src[start]]; k != EOF {
			kind = k
		}
	case 2:
		switch src[start:end] {
		case "<=":
			kind = LessEqual
		case ">=":
			kind = GreaterEqual
		case "<>", "!=":
			kind = NotEqual
		case "=>":
			kind = Arrow
		}
	}
	if end-start >= maxOperator {
		l.fail(t, start, end, "operator too long")
		return
	}
	l.set(t, kind, end)
}

func hasSpecialOp(op string) bool {
	for i := 0; i < len(op); i++ {
		switch op[i] {
		case '~', '!', '@', '#', '^', '&', '|', '`', '?', '%':
			return true
		}
	}
	return false
}
