package lex

import (
	"strings"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Value returns what a token stands for: a name folded, a string unescaped, digits as
// written; a Bit or Hex token's digits with b or x before them; a Param's digits. It
// copies only when the value differs from the text. An escape that is wrong sets Err.
func (l *Lexer) Value(t *Token) string {
	s := l.Src[t.Start:t.End]
	switch t.Kind {
	case Word:
		return Fold(s)
	case Quoted:
		switch t.Form {
		case Plain:
			return s[1 : len(s)-1]
		case Unicode:
			return l.unicodeValue(t)
		}
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	case String:
		switch t.Form {
		case Plain:
			return s[1 : len(s)-1]
		case Doubled:
			return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
		case Continued:
			return joinParts(s)
		case Escape:
			return l.escapeValue(t)
		case Unicode:
			return l.unicodeValue(t)
		case Dollar:
			n := strings.IndexByte(s[1:], '$') + 2
			return s[n : len(s)-n]
		}
	case Bit, Hex:
		v := s[2 : len(s)-1]
		if t.Form != Plain {
			v = joinParts(s[1:])
		}
		if t.Kind == Bit {
			return "b" + v
		}
		return "x" + v
	case Param:
		return s[1:]
	}
	return s
}

// Fold lower-cases the ASCII letters of a name, without a copy when there are none.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i]-'A' < 26 {
			b := []byte(s)
			for ; i < len(b); i++ {
				b[i] = lower(b[i])
			}
			return string(b)
		}
	}
	return s
}

// joinParts unescapes '..' parts with white space between them.
func joinParts(s string) string {
	b := make([]byte, 0, len(s))
	return string(appendParts(b, s, false))
}

// appendParts appends the contents of s, a run of '..' parts, to b. With escapes,
// backslash pairs are kept for the caller to decode.
func appendParts(b []byte, s string, escapes bool) []byte {
	i := strings.IndexByte(s, '\'') + 1
	for i < len(s) {
		c := s[i]
		switch {
		case escapes && c == '\\' && i+1 < len(s):
			b = append(b, c, s[i+1])
			i += 2
		case c == '\'' && i+1 < len(s) && s[i+1] == '\'':
			b = append(b, '\'')
			i += 2
		case c == '\'':
			next := continuation(s, i+1)
			if next < 0 {
				return b
			}
			i = next + 1
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

func hexVal(c byte) int {
	switch {
	case c-'0' < 10:
		return int(c - '0')
	case lower(c)-'a' < 6:
		return int(lower(c)-'a') + 10
	}
	return -1
}

// valueErr records an error in the value of a token once.
func (l *Lexer) valueErr(e *pgerr.Error, at int) {
	if l.Err == nil {
		l.Err = e.At(l.Src, at)
	}
}

// escapeValue decodes E'..'.
func (l *Lexer) escapeValue(t *Token) string {
	src := l.Src[t.Start:t.End]
	raw := appendParts(make([]byte, 0, len(src)), src[1:], true)
	out := raw[:0]
	var pair surrogate
	checked := false
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' || i+1 >= len(raw) {
			if pair.open() {
				l.badPair(t)
				return ""
			}
			out = append(out, c)
			i++
			continue
		}
		c = raw[i+1]
		i += 2
		if c == 'u' || c == 'U' {
			n := 4
			if c == 'U' {
				n = 8
			}
			r, ok := hexRune(raw[i:], n)
			if !ok {
				l.valueErr(pgerr.New(pgerr.InvalidEscapeSequence, "invalid Unicode escape").
					WithHint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."), int(t.Start))
				return ""
			}
			i += n
			if out, ok = pair.add(out, r); !ok {
				l.badPair(t)
				return ""
			}
			continue
		}
		if pair.open() {
			l.badPair(t)
			return ""
		}
		switch {
		case c == 'b':
			out = append(out, '\b')
		case c == 'f':
			out = append(out, '\f')
		case c == 'n':
			out = append(out, '\n')
		case c == 'r':
			out = append(out, '\r')
		case c == 't':
			out = append(out, '\t')
		case c == 'v':
			out = append(out, '\v')
		case c == 'x' && i < len(raw) && hexVal(raw[i]) >= 0:
			v := hexVal(raw[i])
			i++
			if i < len(raw) && hexVal(raw[i]) >= 0 {
				v = v<<4 | hexVal(raw[i])
				i++
			}
			checked = true
			out = append(out, byte(v))
		case c-'0' < 8:
			v := int(c - '0')
			for n := 0; n < 2 && i < len(raw) && raw[i]-'0' < 8; n++ {
				v = v<<3 | int(raw[i]-'0')
				i++
			}
			checked = true
			out = append(out, byte(v))
		default:
			out = append(out, c)
		}
	}
	if pair.open() {
		l.badPair(t)
		return ""
	}
	s := string(out)
	if checked {
		if i := strings.IndexByte(s, 0); i >= 0 && utf8.ValidString(s[:i]) {
			l.valueErr(pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00"), -1)
			return ""
		}
		if !utf8.ValidString(s) {
			l.valueErr(invalidUTF8(s), -1)
			return ""
		}
	}
	return s
}

func hexRune(b []byte, n int) (rune, bool) {
	if len(b) < n {
		return 0, false
	}
	v := int64(0)
	for _, c := range b[:n] {
		h := hexVal(c)
		if h < 0 {
			return 0, false
		}
		v = v<<4 | int64(h)
	}
	if v > utf8.MaxRune {
		return -1, true
	}
	return rune(v), true
}

// surrogate joins UTF-16 pairs written as two escapes.
type surrogate struct{ high rune }

func (p *surrogate) open() bool { return p.high != 0 }

// add appends r, or keeps it when it is the first half of a pair. It fails for a half
// without its partner and for what is no character.
func (p *surrogate) add(out []byte, r rune) ([]byte, bool) {
	switch {
	case r >= 0xd800 && r < 0xdc00:
		if p.high != 0 {
			return out, false
		}
		p.high = r
		return out, true
	case r >= 0xdc00 && r < 0xe000:
		if p.high == 0 {
			return out, false
		}
		r = (p.high-0xd800)<<10 + (r - 0xdc00) + 0x10000
		p.high = 0
	case p.high != 0 || r <= 0:
		return out, false
	}
	return utf8.AppendRune(out, r), true
}

func (l *Lexer) badPair(t *Token) {
	l.valueErr(pgerr.New(pgerr.SyntaxError, "invalid Unicode surrogate pair"), int(t.Start))
}

// unicodeValue decodes U&'..' and U&"..", with the escape character of a UESCAPE clause.
func (l *Lexer) unicodeValue(t *Token) string {
	src := l.Src[t.Start:t.End]
	esc := byte('\\')
	body := make([]byte, 0, len(src))
	quote := src[2]
	if quote == '"' {
		i := 3
		for ; i < len(src); i++ {
			if src[i] == '"' {
				if i+1 >= len(src) || src[i+1] != '"' {
					break
				}
				i++
			}
			body = append(body, src[i])
		}
		if src[len(src)-1] == '\'' {
			esc = src[len(src)-2]
		}
	} else {
		rest := Lexer{Src: l.Src, Pos: int(t.Start) + 2}
		var part Token
		rest.Next(&part)
		body = appendParts(body, l.Src[part.Start:part.End], false)
		if part.End != t.End {
			esc = src[len(src)-2]
		}
	}
	out := body[:0]
	var pair surrogate
	for i := 0; i < len(body); {
		if body[i] != esc {
			if pair.open() {
				l.badPair(t)
				return ""
			}
			out = append(out, body[i])
			i++
			continue
		}
		if i+1 < len(body) && body[i+1] == esc {
			if pair.open() {
				l.badPair(t)
				return ""
			}
			out = append(out, esc)
			i += 2
			continue
		}
		n, skip := 4, 1
		if i+1 < len(body) && body[i+1] == '+' {
			n, skip = 6, 2
		}
		r, ok := hexRune(body[min(i+skip, len(body)):], n)
		if !ok {
			l.valueErr(pgerr.New(pgerr.SyntaxError, "invalid Unicode escape").
				WithHint("Unicode escapes must be \\XXXX or \\+XXXXXX."), int(t.Start))
			return ""
		}
		i += skip + n
		if out, ok = pair.add(out, r); !ok {
			l.badPair(t)
			return ""
		}
	}
	if pair.open() {
		l.badPair(t)
		return ""
	}
	return string(out)
}
