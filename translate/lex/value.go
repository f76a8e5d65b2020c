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

// joinParts returns the contents of a run of '..' parts.
func joinParts(s string) string {
	b := make([]byte, 0, len(s))
	i := strings.IndexByte(s, '\'') + 1
	for i < len(s) {
		switch c := s[i]; {
		case c == '\'' && i+1 < len(s) && s[i+1] == '\'':
			b = append(b, '\'')
			i += 2
		case c == '\'':
			next := continuation(s, i+1)
			if next < 0 {
				return string(b)
			}
			i = next + 1
		default:
			b = append(b, c)
			i++
		}
	}
	return string(b)
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
	src := l.Src[:t.End]
	out := make([]byte, 0, t.End-t.Start)
	var pair surrogate
	checked := false
	for i := int(t.Start) + 2; i < len(src); {
		c := src[i]
		if c == '\'' && i+1 < len(src) && src[i+1] != '\'' {
			i = continuation(src, i+1) + 1
			continue
		}
		if c != '\\' {
			if pair.open() {
				return l.badPair(i, runEnd(src, i))
			}
			if c == '\'' {
				i++
				if i == len(src) {
					break
				}
			}
			out = append(out, c)
			i++
			continue
		}
		start := i
		c = src[i+1]
		i += 2
		if c == 'u' || c == 'U' {
			n := 4
			if c == 'U' {
				n = 8
			}
			r, ok := hexRune(src[i:], n)
			if !ok {
				l.valueErr(pgerr.New(pgerr.InvalidEscapeSequence, "invalid Unicode escape").
					WithHint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."), start)
				return ""
			}
			i += n
			if r <= 0 {
				l.valueErr(Near(l.Src, start, i, "invalid Unicode escape value"), start)
				return ""
			}
			if out, ok = pair.add(out, r); !ok {
				return l.badPair(start, i)
			}
			continue
		}
		if pair.open() {
			return l.badPair(start, i)
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
		case c == 'x' && i < len(src) && hexVal(src[i]) >= 0:
			v := hexVal(src[i])
			i++
			if i < len(src) && hexVal(src[i]) >= 0 {
				v = v<<4 | hexVal(src[i])
				i++
			}
			checked = true
			out = append(out, byte(v))
		case c-'0' < 8:
			v := int(c - '0')
			for n := 0; n < 2 && i < len(src) && src[i]-'0' < 8; n++ {
				v = v<<3 | int(src[i]-'0')
				i++
			}
			checked = true
			out = append(out, byte(v))
		default:
			out = append(out, c)
		}
	}
	s := string(out)
	if checked {
		return l.checkBytes(s)
	}
	return s
}

// runEnd returns the end of the characters that PostgreSQL's scanner takes at once.
func runEnd(src string, i int) int {
	j := i
	for j < len(src) && src[j] != '\\' && src[j] != '\'' {
		j++
	}
	return max(j, i+1)
}

// checkBytes refuses what numeric escapes may have made: zero bytes and invalid UTF-8.
func (l *Lexer) checkBytes(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 && utf8.ValidString(s[:i]) {
		l.valueErr(pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00"), -1)
		return ""
	}
	if !utf8.ValidString(s) {
		l.valueErr(invalidUTF8(s), -1)
		return ""
	}
	return s
}

func hexRune(b string, n int) (rune, bool) {
	if len(b) < n {
		return 0, false
	}
	v := int64(0)
	for i := range n {
		h := hexVal(b[i])
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
	case p.high != 0:
		return out, false
	}
	return utf8.AppendRune(out, r), true
}

// badPair records half a surrogate pair, found at src[start:end].
func (l *Lexer) badPair(start, end int) string {
	l.valueErr(Near(l.Src, start, end, "invalid Unicode surrogate pair"), start)
	return ""
}

// unicodeValue decodes U&'..' and U&"..", with the escape character of a UESCAPE clause.
func (l *Lexer) unicodeValue(t *Token) string {
	src := l.Src[t.Start:t.End]
	esc := byte('\\')
	quote := src[2]
	body := src[2:]
	if n := unicodeEnd(src, quote); n < len(src) {
		// UESCAPE 'c' ends the token.
		esc, body = src[len(src)-2], src[2:n]
	}
	if quote == '"' {
		body = strings.ReplaceAll(body[1:len(body)-1], `""`, `"`)
	} else {
		body = joinParts(body)
	}
	out := make([]byte, 0, len(body))
	var pair surrogate
	bad := func(format, hint string) string {
		l.valueErr(pgerr.New(pgerr.SyntaxError, "%s", format).WithHint("%s", hint), int(t.Start))
		return ""
	}
	for i := 0; i < len(body); {
		if body[i] != esc || (i+1 < len(body) && body[i+1] == esc) {
			if pair.open() {
				return bad("invalid Unicode surrogate pair", "")
			}
			out = append(out, body[i])
			i++
			if body[i-1] == esc {
				i++
			}
			continue
		}
		n, skip := 4, 1
		if i+1 < len(body) && body[i+1] == '+' {
			n, skip = 6, 2
		}
		r, ok := hexRune(body[min(i+skip, len(body)):], n)
		if !ok {
			return bad("invalid Unicode escape", "Unicode escapes must be \\XXXX or \\+XXXXXX.")
		}
		if r <= 0 {
			return bad("invalid Unicode escape value", "")
		}
		i += skip + n
		if out, ok = pair.add(out, r); !ok {
			return bad("invalid Unicode surrogate pair", "")
		}
	}
	if pair.open() {
		return bad("invalid Unicode surrogate pair", "")
	}
	return string(out)
}

// unicodeEnd returns the length of the U& literal itself within a token that may go on
// with UESCAPE.
func unicodeEnd(src string, quote byte) int {
	l := Lexer{Src: src, Pos: 2}
	var part Token
	if quote == '"' {
		l.quotedIdent(&part, 2, 2)
	} else {
		l.quoted(&part, 2, 2, String)
	}
	return int(part.End)
}
