package lex

import (
	"math"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// MaxText is the longest text that can be scanned.
const MaxText = math.MaxInt32 - 1

// Lexer scans a text from Pos on. Texts of a client must have passed Check before.
type Lexer struct {
	Src string
	Pos int
	// Err is why the last token was Invalid.
	Err *pgerr.Error
}

// Check reports whether a text may be scanned: not too long and valid UTF-8.
func Check(sql string) *pgerr.Error {
	if len(sql) > MaxText {
		return pgerr.New(pgerr.ProgramLimitExceeded, "statement of %d bytes is too long", len(sql))
	}
	if utf8.ValidString(sql) {
		return nil
	}
	return invalidUTF8(sql)
}

// invalidUTF8 words the error for the first bad sequence as PostgreSQL does: the bytes
// that the lead byte announces, as far as there are any.
func invalidUTF8(s string) *pgerr.Error {
	i := 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	n := 1
	if i < len(s) {
		switch c := s[i]; {
		case c >= 0xf0 && c < 0xf8:
			n = 4
		case c >= 0xe0 && c < 0xf0:
			n = 3
		case c >= 0xc0 && c < 0xe0:
			n = 2
		}
	}
	n = min(n, len(s)-i)
	const digits = "0123456789abcdef"
	var buf []byte
	for j := range n {
		if j > 0 {
			buf = append(buf, ' ')
		}
		c := s[i+j]
		buf = append(buf, '0', 'x', digits[c>>4], digits[c&15])
	}
	return pgerr.New(pgerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": %s", buf)
}

// Character classes for the main switch.
const (
	cOther uint8 = iota
	cSpace
	cIdent // starts an identifier
	cDigit
	cOp   // may be part of an operator
	cSelf // always a token of its own
	cQuote
	cDouble
	cDollar
	cDot
	cColon
)

var charClass = [256]uint8{
	' ': cSpace, '\t': cSpace, '\n': cSpace, '\r': cSpace, '\f': cSpace,
	'0': cDigit, '1': cDigit, '2': cDigit, '3': cDigit, '4': cDigit,
	'5': cDigit, '6': cDigit, '7': cDigit, '8': cDigit, '9': cDigit,
	'~': cOp, '!': cOp, '@': cOp, '#': cOp, '^': cOp, '&': cOp, '|': cOp, '`': cOp, '?': cOp,
	'+': cOp, '-': cOp, '*': cOp, '/': cOp, '%': cOp, '<': cOp, '>': cOp, '=': cOp,
	',': cSelf, '(': cSelf, ')': cSelf, '[': cSelf, ']': cSelf, ';': cSelf,
	'\'': cQuote, '"': cDouble, '$': cDollar, '.': cDot, ':': cColon,
	'_': cIdent,
	'a': cIdent, 'b': cIdent, 'c': cIdent, 'd': cIdent, 'e': cIdent, 'f': cIdent, 'g': cIdent,
	'h': cIdent, 'i': cIdent, 'j': cIdent, 'k': cIdent, 'l': cIdent, 'm': cIdent, 'n': cIdent,
	'o': cIdent, 'p': cIdent, 'q': cIdent, 'r': cIdent, 's': cIdent, 't': cIdent, 'u': cIdent,
	'v': cIdent, 'w': cIdent, 'x': cIdent, 'y': cIdent, 'z': cIdent,
	'A': cIdent, 'B': cIdent, 'C': cIdent, 'D': cIdent, 'E': cIdent, 'F': cIdent, 'G': cIdent,
	'H': cIdent, 'I': cIdent, 'J': cIdent, 'K': cIdent, 'L': cIdent, 'M': cIdent, 'N': cIdent,
	'O': cIdent, 'P': cIdent, 'Q': cIdent, 'R': cIdent, 'S': cIdent, 'T': cIdent, 'U': cIdent,
	'V': cIdent, 'W': cIdent, 'X': cIdent, 'Y': cIdent, 'Z': cIdent,
}

// selfKind maps one-character tokens to their kinds.
var selfKind = [128]Kind{
	',': Comma, '(': LParen, ')': RParen, '[': LBracket, ']': RBracket, '.': Dot,
	';': Semicolon, ':': Colon, '+': Plus, '-': Minus, '*': Star, '/': Slash,
	'%': Percent, '^': Caret, '<': Less, '>': Greater, '=': Equal,
}

// foldTable lower-cases identifier characters; zero marks any other byte, so one lookup
// both tests and folds.
var foldTable = buildFoldTable()

func buildFoldTable() *[256]byte {
	t := new([256]byte)
	for i := range 256 {
		c := byte(i)
		if charClass[c] == cIdent || charClass[c] == cDigit || c == '$' || c >= utf8.RuneSelf {
			t[i] = lower(c)
		}
	}
	return t
}

func identStart(c byte) bool { return charClass[c] == cIdent || c >= utf8.RuneSelf }
func isDigit(c byte) bool    { return c-'0' < 10 }

// Next scans the next token into t. After an Invalid token the lexer must not be used
// further; at the end every call gives EOF.
func (l *Lexer) Next(t *Token) {
	src, i := l.Src, l.Pos
	for {
		for i < len(src) && charClass[src[i]] == cSpace {
			i++
		}
		if i+1 >= len(src) {
			break
		}
		if src[i] == '-' && src[i+1] == '-' {
			i = skipLine(src, i+2)
			continue
		}
		if src[i] == '/' && src[i+1] == '*' {
			end := skipComment(src, i)
			if end < 0 {
				l.fail(t, i, len(src), "unterminated /* comment")
				return
			}
			i = end
			continue
		}
		break
	}
	t.Kw, t.Form, t.Start = NoKeyword, Plain, int32(i)
	if i >= len(src) {
		t.Kind, t.End = EOF, int32(i)
		l.Pos = i
		return
	}
	c := src[i]
	switch charClass[c] {
	case cIdent:
		l.word(t, i)
	case cSelf:
		l.set(t, selfKind[c], i+1)
	case cDigit:
		l.number(t, i)
	case cQuote:
		l.quoted(t, i, i, String)
	case cDouble:
		l.quotedIdent(t, i, i)
	case cDot:
		switch {
		case i+1 < len(src) && isDigit(src[i+1]):
			l.number(t, i)
		case i+1 < len(src) && src[i+1] == '.':
			l.set(t, DotDot, i+2)
		default:
			l.set(t, Dot, i+1)
		}
	case cColon:
		switch {
		case i+1 < len(src) && src[i+1] == ':':
			l.set(t, TypeCast, i+2)
		case i+1 < len(src) && src[i+1] == '=':
			l.set(t, ColonEquals, i+2)
		default:
			l.set(t, Colon, i+1)
		}
	case cOp:
		l.operator(t, i)
	case cDollar:
		l.dollar(t, i)
	default:
		if c >= utf8.RuneSelf {
			l.word(t, i)
			return
		}
		l.set(t, Other, i+1)
	}
}

func (l *Lexer) set(t *Token, k Kind, end int) {
	t.Kind, t.End = k, int32(end)
	l.Pos = end
}

// fail makes t Invalid with PostgreSQL's scanner error for src[start:end].
func (l *Lexer) fail(t *Token, start, end int, msg string) {
	t.Kind, t.Form, t.Kw, t.Start, t.End = Invalid, Plain, NoKeyword, int32(start), int32(end)
	l.Pos = len(l.Src)
	l.Err = Near(l.Src, start, end, msg)
}

// Near words an error about src[start:end]: msg at or near "text", or msg at end of input.
func Near(src string, start, end int, msg string) *pgerr.Error {
	if start >= len(src) {
		return pgerr.New(pgerr.SyntaxError, "%s at end of input", msg).At(src, len(src))
	}
	return pgerr.New(pgerr.SyntaxError, "%s at or near \"%s\"", msg, excerpt(src[start:end])).At(src, start)
}

// maxExcerpt is how much of a text an error quotes. PostgreSQL quotes all of it, which
// for a string without an end in a long batch is megabytes.
const maxExcerpt = 1000

func excerpt(s string) string {
	if len(s) <= maxExcerpt {
		return s
	}
	n := maxExcerpt
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func skipLine(src string, i int) int {
	for i < len(src) && src[i] != '\n' && src[i] != '\r' {
		i++
	}
	return i
}

// skipComment returns the offset after the nested comment at i, or -1.
func skipComment(src string, i int) int {
	depth := 0
	for i+1 < len(src) {
		switch {
		case src[i] == '/' && src[i+1] == '*':
			depth++
			i += 2
		case src[i] == '*' && src[i+1] == '/':
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return -1
}

// word scans an identifier or keyword, or a string with a letter before its quote.
func (l *Lexer) word(t *Token, i int) {
	src := l.Src
	if i+1 < len(src) && (src[i+1] == '\'' || src[i+1] == '&') && l.prefixed(t, i) {
		return
	}
	h := uint32(0)
	j := i
	for j < len(src) {
		c := foldTable[src[j]]
		if c == 0 {
			break
		}
		h = h*hashMul + uint32(c)
		j++
	}
	t.Kind, t.End = Word, int32(j)
	t.Kw = lookupKeyword(src[i:j], h)
	l.Pos = j
}

// prefixed scans B'..', X'..', E'..', N'..', U&'..' and U&"..".
func (l *Lexer) prefixed(t *Token, i int) bool {
	src := l.Src
	if src[i+1] == '&' {
		if lower(src[i]) != 'u' || i+2 >= len(src) {
			return false
		}
		switch src[i+2] {
		case '\'':
			l.unicodeString(t, i)
		case '"':
			l.quotedIdent(t, i, i+2)
		default:
			return false
		}
		return true
	}
	switch lower(src[i]) {
	case 'b':
		l.quoted(t, i, i+1, Bit)
	case 'x':
		l.quoted(t, i, i+1, Hex)
	case 'e':
		l.escapeString(t, i)
	case 'n':
		// N'..' is the keyword NCHAR and a string.
		l.set(t, Word, i+1)
		t.Kw = KwNchar
	default:
		return false
	}
	return true
}
