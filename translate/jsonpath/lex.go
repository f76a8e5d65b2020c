package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// token kinds beyond single characters and operators, which are their own text.
const (
	tokEnd = iota
	tokOp
	tokString
	tokIdent
	tokNumber
	tokVar
)

type token struct {
	kind int
	text string // operator, decoded string, name, number
	raw  string // as it was written
}

type lexer struct {
	s string
	i int
}

func syntax(raw string) *pgerr.Error {
	if raw == "" {
		return pgerr.New(pgerr.SyntaxError, "syntax error at end of jsonpath input")
	}
	return pgerr.New(pgerr.SyntaxError, "syntax error at or near \"%s\" of jsonpath input", raw)
}

const special = `?%$.[]{}()|&!=<>@#,*:-+/`

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// next reads one token.
func (l *lexer) next() (token, error) {
	for l.i < len(l.s) {
		if isSpace(l.s[l.i]) {
			l.i++
			continue
		}
		if !strings.HasPrefix(l.s[l.i:], "/*") {
			break
		}
		end := strings.Index(l.s[l.i+2:], "*/")
		if end < 0 {
			return token{}, pgerr.New(pgerr.SyntaxError, "unexpected end of comment at end of jsonpath input")
		}
		l.i += end + 4
	}
	start := l.i
	if l.i >= len(l.s) {
		return token{kind: tokEnd}, nil
	}
	raw := func() string { return l.s[start:l.i] }
	c := l.s[l.i]
	for _, op := range [...]string{"&&", "||", "**", "==", "!=", "<>", "<=", ">="} {
		if strings.HasPrefix(l.s[l.i:], op) {
			l.i += 2
			return token{tokOp, op, raw()}, nil
		}
	}
	switch {
	case c == '"':
		s, err := l.quoted()
		return token{tokString, s, raw()}, err
	case c == '$':
		l.i++
		if l.i < len(l.s) && l.s[l.i] == '"' {
			s, err := l.quoted()
			return token{tokVar, s, raw()}, err
		}
		if l.i >= len(l.s) || !identByte(l.s[l.i]) {
			return token{tokOp, "$", "$"}, nil
		}
		s, err := l.ident()
		return token{tokVar, s, raw()}, err
	case c >= '0' && c <= '9' || c == '.' && l.i+1 < len(l.s) && l.s[l.i+1] >= '0' && l.s[l.i+1] <= '9':
		return l.number(start)
	case strings.IndexByte(special, c) >= 0:
		l.i++
		return token{tokOp, string(c), raw()}, nil
	}
	s, err := l.ident()
	return token{tokIdent, s, raw()}, err
}

func identByte(c byte) bool { return !isSpace(c) && c != '"' && strings.IndexByte(special, c) < 0 }

func (l *lexer) number(start int) (token, error) {
	digits := func() {
		for l.i < len(l.s) && l.s[l.i] >= '0' && l.s[l.i] <= '9' {
			l.i++
		}
	}
	if l.s[l.i] == '0' {
		l.i++
		if l.i < len(l.s) && l.s[l.i] >= '0' && l.s[l.i] <= '9' {
			digits()
			return token{}, pgerr.New(pgerr.SyntaxError, "trailing junk after numeric literal at or near \"%s\" of jsonpath input", l.s[start:l.i])
		}
	} else {
		digits()
	}
	if l.i < len(l.s) && l.s[l.i] == '.' {
		l.i++
		digits()
	}
	if l.i < len(l.s) && (l.s[l.i] == 'e' || l.s[l.i] == 'E') {
		l.i++
		if l.i < len(l.s) && (l.s[l.i] == '+' || l.s[l.i] == '-') {
			l.i++
		}
		at := l.i
		if digits(); at == l.i {
			return token{}, pgerr.New(pgerr.SyntaxError, "trailing junk after numeric literal at or near \"%s\" of jsonpath input", l.s[start:l.i])
		}
	}
	if l.i < len(l.s) && (identByte(l.s[l.i]) || l.s[l.i] == '"') {
		l.i++
		return token{}, pgerr.New(pgerr.SyntaxError, "trailing junk after numeric literal at or near \"%s\" of jsonpath input", l.s[start:l.i])
	}
	return token{tokNumber, l.s[start:l.i], l.s[start:l.i]}, nil
}

func (l *lexer) ident() (string, error) {
	var b strings.Builder
	for l.i < len(l.s) && identByte(l.s[l.i]) {
		if l.s[l.i] != '\\' {
			b.WriteByte(l.s[l.i])
			l.i++
			continue
		}
		if err := l.escape(&b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (l *lexer) quoted() (string, error) {
	var b strings.Builder
	for l.i++; l.i < len(l.s); {
		switch l.s[l.i] {
		case '"':
			l.i++
			return b.String(), nil
		case '\\':
			if err := l.escape(&b); err != nil {
				return "", err
			}
		default:
			b.WriteByte(l.s[l.i])
			l.i++
		}
	}
	return "", pgerr.New(pgerr.SyntaxError, "unexpected end of quoted string at end of jsonpath input")
}

// escape reads what follows a backslash.
func (l *lexer) escape(b *strings.Builder) error {
	l.i++
	if l.i >= len(l.s) {
		return pgerr.New(pgerr.SyntaxError, "unexpected end after backslash at end of jsonpath input")
	}
	c := l.s[l.i]
	l.i++
	simple := map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}
	if r, ok := simple[c]; ok {
		b.WriteByte(r)
		return nil
	}
	switch c {
	case 'x':
		v, ok := l.hex(2, 2)
		if !ok {
			return pgerr.New(pgerr.SyntaxError, "invalid hexadecimal character sequence at or near \"%s\" of jsonpath input", l.s[l.i-2:l.i])
		}
		return putRune(b, rune(v))
	case 'u':
		r, err := l.unicode()
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) {
			if !strings.HasPrefix(l.s[l.i:], `\u`) || r >= 0xdc00 {
				return surrogate(r)
			}
			l.i += 2
			low, err := l.unicode()
			if err != nil {
				return err
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return surrogate(low)
			}
		}
		return putRune(b, r)
	}
	_, w := utf8.DecodeRuneInString(l.s[l.i-1:])
	b.WriteString(l.s[l.i-1 : l.i-1+w])
	l.i += w - 1
	return nil
}

func surrogate(r rune) error {
	e := pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type %s", "jsonpath")
	if r >= 0xdc00 {
		return e.WithDetail("Unicode low surrogate must follow a high surrogate.")
	}
	return e.WithDetail("Unicode low surrogate must follow a high surrogate.")
}

func putRune(b *strings.Builder, r rune) error {
	if r == 0 {
		return pgerr.New("22P05", "unsupported Unicode escape sequence").WithDetail(`\u0000 cannot be converted to text.`)
	}
	b.WriteRune(r)
	return nil
}

func (l *lexer) unicode() (rune, error) {
	bad := func() error {
		return pgerr.New(pgerr.SyntaxError, "invalid Unicode escape sequence at or near \"%s\" of jsonpath input", l.s[max(0, l.i-2):l.i])
	}
	if l.i < len(l.s) && l.s[l.i] == '{' {
		l.i++
		v, ok := l.hex(1, 6)
		if !ok || l.i >= len(l.s) || l.s[l.i] != '}' {
			return 0, bad()
		}
		l.i++
		return rune(v), nil
	}
	v, ok := l.hex(4, 4)
	if !ok {
		return 0, bad()
	}
	return rune(v), nil
}

func (l *lexer) hex(low, high int) (uint64, bool) {
	start := l.i
	for l.i < len(l.s) && l.i-start < high {
		if _, err := strconv.ParseUint(l.s[l.i:l.i+1], 16, 8); err != nil {
			break
		}
		l.i++
	}
	v, err := strconv.ParseUint(l.s[start:l.i], 16, 32)
	return v, err == nil && l.i-start >= low
}
