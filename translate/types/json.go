package types

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// maxJSONDepth bounds nesting, so that hostile input cannot exhaust the stack.
const maxJSONDepth = 6000

// jsonReader walks a JSON text. With out set it rebuilds values for jsonb.
type jsonReader struct {
	s     []byte
	i     int
	depth int
}

func (r *jsonReader) fail(detail string, args ...any) error {
	return pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(detail, args...)
}

// failToken names the token at the reader's place.
func (r *jsonReader) failToken(expected string) error {
	if r.i >= len(r.s) {
		return r.fail("The input string ended unexpectedly.")
	}
	if expected != "" {
		if err := r.tokenError(); err != nil {
			return err
		}
	}
	end := r.i + 1
	if c := r.s[r.i]; isAlpha(c) || c == '_' || c >= utf8.RuneSelf {
		end = r.wordEnd()
	} else if c == '-' || isDigit(c) {
		for end < len(r.s) && isWordByte(r.s[end]) {
			end++
		}
	} else if r.s[r.i] == '"' {
		for end < len(r.s) && r.s[end] != '"' {
			end++
		}
		end = min(end+1, len(r.s))
	} else {
		for end < len(r.s) && !utf8.RuneStart(r.s[end]) {
			end++
		}
	}
	token := r.s[r.i:end]
	if expected == "" {
		return r.fail(`Token "%s" is invalid.`, token)
	}
	return r.fail(`Expected %s, but found "%s".`, expected, token)
}

// tokenError says what is wrong with the token at the reader's place by itself. PostgreSQL reads a token before it asks whether it may stand there.
func (r *jsonReader) tokenError() error {
	ahead := *r
	switch c := r.s[r.i]; {
	case c == '"':
		return ahead.scanString(nil)
	case c == '-' || isDigit(c):
		_, err := ahead.number(nil, false)
		return err
	case bytes.IndexByte([]byte("{}[],:"), c) >= 0:
		return nil
	}
	switch string(r.s[r.i:r.wordEnd()]) {
	case "true", "false", "null":
		return nil
	}
	return r.failToken("")
}

// wordEnd is where the word at the reader's place ends.
func (r *jsonReader) wordEnd() int {
	end := r.i
	for end < len(r.s) && (isAlpha(r.s[end]) || isDigit(r.s[end]) || r.s[end] == '_' || r.s[end] >= utf8.RuneSelf) {
		end++
	}
	return end
}

func isWordByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '_' || c == '.' || c == '-' || c == '+' || c >= 0x80
}

func (r *jsonReader) space() {
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return
		}
	}
}

// checkJSON validates a JSON text.
func checkJSON(s []byte) error {
	r := jsonReader{s: s}
	if _, err := r.value(nil, false); err != nil {
		return err
	}
	return r.end()
}

func (r *jsonReader) end() error {
	r.space()
	if r.i < len(r.s) {
		return r.failToken("end of input")
	}
	return nil
}

// normalizeJSONB rewrites a JSON text as jsonb prints it: one space after : and ,, keys
// ordered by length and then bytes, the last of equal keys, numbers as numeric prints them.
func normalizeJSONB(s []byte) ([]byte, error) {
	r := jsonReader{s: s}
	out, err := r.value(make([]byte, 0, len(s)+8), true)
	if err != nil {
		return nil, err
	}
	return out, r.end()
}

// value reads one value and, when build is set, appends its normal form to dst.
func (r *jsonReader) value(dst []byte, build bool) ([]byte, error) {
	r.space()
	if r.i >= len(r.s) {
		return dst, r.failToken("")
	}
	switch c := r.s[r.i]; {
	case c == '{' || c == '[':
		r.depth++
		if r.depth > maxJSONDepth {
			return dst, pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")
		}
		var err error
		if c == '{' {
			dst, err = r.object(dst, build)
		} else {
			dst, err = r.array(dst, build)
		}
		r.depth--
		return dst, err
	case c == '"':
		return r.str(dst, build)
	case c == '-' || isDigit(c):
		return r.number(dst, build)
	}
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(r.s[r.i:], []byte(w)) && r.wordEnd() == r.i+len(w) {
			r.i += len(w)
			if build {
				dst = append(dst, w...)
			}
			return dst, nil
		}
	}
	if isWordByte(r.s[r.i]) {
		return dst, r.failToken("")
	}
	switch r.s[r.i] {
	case '}', ']', ',', ':':
		return dst, r.failToken("JSON value")
	}
	return dst, r.failToken("")
}

func (r *jsonReader) array(dst []byte, build bool) ([]byte, error) {
	r.i++
	if build {
		dst = append(dst, '[')
	}
	r.space()
	if r.i < len(r.s) && r.s[r.i] == ']' {
		r.i++
		if build {
			dst = append(dst, ']')
		}
		return dst, nil
	}
	for {
		var err error
		if dst, err = r.value(dst, build); err != nil {
			return dst, err
		}
		r.space()
		if r.i >= len(r.s) {
			return dst, r.failToken("")
		}
		switch r.s[r.i] {
		case ',':
			r.i++
			if build {
				dst = append(dst, ',', ' ')
			}
		case ']':
			r.i++
			if build {
				dst = append(dst, ']')
			}
			return dst, nil
		default:
			return dst, r.failToken(`"," or "]"`)
		}
	}
}

// jsonMember is one member of an object being normalised, as ranges of a scratch buffer.
type jsonMember struct {
	key, val []byte // key unescaped, val in normal form
	raw      []byte // key in normal form
	seq      int
}

func (r *jsonReader) object(dst []byte, build bool) ([]byte, error) {
	r.i++
	var members []jsonMember
	r.space()
	if r.i < len(r.s) && r.s[r.i] == '}' {
		r.i++
		if build {
			dst = append(dst, '{', '}')
		}
		return dst, nil
	}
	for {
		r.space()
		if r.i >= len(r.s) {
			return dst, r.failToken("")
		}
		if r.s[r.i] != '"' {
			if len(members) == 0 {
				return dst, r.failToken(`string or "}"`)
			}
			return dst, r.failToken("string")
		}
		m := jsonMember{seq: len(members)}
		var err error
		if build {
			if m.key, err = r.unescape(nil); err != nil {
				return dst, err
			}
			m.raw = appendJSONString(nil, m.key)
		} else if _, err = r.str(nil, false); err != nil {
			return dst, err
		}
		r.space()
		if r.i >= len(r.s) || r.s[r.i] != ':' {
			return dst, r.failToken(`":"`)
		}
		r.i++
		if m.val, err = r.value(nil, build); err != nil {
			return dst, err
		}
		if build {
			members = append(members, m)
		} else {
			members = append(members[:0], m)
		}
		r.space()
		if r.i >= len(r.s) {
			return dst, r.failToken("")
		}
		switch r.s[r.i] {
		case ',':
			r.i++
			continue
		case '}':
			r.i++
		default:
			return dst, r.failToken(`"," or "}"`)
		}
		break
	}
	if !build {
		return dst, nil
	}
	sort.Slice(members, func(a, b int) bool {
		x, y := &members[a], &members[b]
		if len(x.key) != len(y.key) {
			return len(x.key) < len(y.key)
		}
		if c := bytes.Compare(x.key, y.key); c != 0 {
			return c < 0
		}
		return x.seq < y.seq
	})
	dst = append(dst, '{')
	first := true
	for i := range members {
		if i+1 < len(members) && bytes.Equal(members[i].key, members[i+1].key) {
			continue
		}
		if !first {
			dst = append(dst, ',', ' ')
		}
		first = false
		dst = append(dst, members[i].raw...)
		dst = append(dst, ':', ' ')
		dst = append(dst, members[i].val...)
	}
	return append(dst, '}'), nil
}

func (r *jsonReader) number(dst []byte, build bool) ([]byte, error) {
	from := r.i
	digits := func() int {
		n := r.i
		for r.i < len(r.s) && isDigit(r.s[r.i]) {
			r.i++
		}
		return r.i - n
	}
	bad := func() ([]byte, error) {
		r.i = from
		return dst, r.failToken("")
	}
	if r.s[r.i] == '-' {
		r.i++
	}
	if r.i < len(r.s) && r.s[r.i] == '0' {
		r.i++
	} else if digits() == 0 {
		return bad()
	}
	if r.i < len(r.s) && r.s[r.i] == '.' {
		r.i++
		if digits() == 0 {
			return bad()
		}
	}
	if r.i < len(r.s) && r.s[r.i]|0x20 == 'e' {
		r.i++
		if r.i < len(r.s) && (r.s[r.i] == '+' || r.s[r.i] == '-') {
			r.i++
		}
		if digits() == 0 {
			return bad()
		}
	}
	if r.i < len(r.s) && isWordByte(r.s[r.i]) {
		return bad()
	}
	if !build {
		return dst, nil
	}
	var n num
	if err := n.parse(r.s[from:r.i]); err != nil {
		return dst, err
	}
	d, err := n.datum()
	if err != nil {
		return dst, err
	}
	return appendNumericText(dst, d.B), nil
}

// str reads a string; with build it is unescaped and written in normal form.
func (r *jsonReader) str(dst []byte, build bool) ([]byte, error) {
	if build {
		u, err := r.unescape(nil)
		if err != nil {
			return dst, err
		}
		return appendJSONString(dst, u), nil
	}
	return dst, r.scanString(nil)
}

func (r *jsonReader) unescape(dst []byte) ([]byte, error) {
	if dst == nil {
		dst = []byte{}
	}
	err := r.scanString(&dst)
	return dst, err
}

// scanString checks a string's escapes and, with out set, collects the text they mean.
// For jsonb an escape must name a character that text can hold.
func (r *jsonReader) scanString(out *[]byte) error {
	from := r.i
	unterminated := func() error { return r.fail(`Token "%s" is invalid.`, r.s[from:]) }
	r.i++
	high := rune(0)
	put := func(b ...byte) {
		if out != nil {
			*out = append(*out, b...)
		}
	}
	lone := func() error { return r.fail("Unicode low surrogate must follow a high surrogate.") }
	for {
		if r.i >= len(r.s) {
			return unterminated()
		}
		c := r.s[r.i]
		if high != 0 && (c != '\\' || r.i+1 >= len(r.s) || r.s[r.i+1] != 'u') {
			return lone()
		}
		switch {
		case c == '"':
			r.i++
			return nil
		case c < 0x20:
			return r.fail("Character with value 0x%02x must be escaped.", c)
		case c != '\\':
			plain := r.i
			for r.i < len(r.s) && r.s[r.i] != '"' && r.s[r.i] != '\\' && r.s[r.i] >= 0x20 {
				r.i++
			}
			put(r.s[plain:r.i]...)
			continue
		}
		r.i++
		if r.i >= len(r.s) {
			return unterminated()
		}
		e := r.s[r.i]
		r.i++
		switch e {
		case '"', '\\', '/':
			put(e)
		case 'b':
			put('\b')
		case 'f':
			put('\f')
		case 'n':
			put('\n')
		case 'r':
			put('\r')
		case 't':
			put('\t')
		case 'u':
			if r.i+4 > len(r.s) {
				return r.fail(`"\u" must be followed by four hexadecimal digits.`)
			}
			v, err := strconv.ParseUint(string(r.s[r.i:r.i+4]), 16, 32)
			if err != nil || r.s[r.i] == '+' {
				return r.fail(`"\u" must be followed by four hexadecimal digits.`)
			}
			r.i += 4
			ch := rune(v)
			if out == nil {
				// json keeps escapes as they are written; only jsonb looks at their meaning.
				continue
			}
			switch {
			case ch >= 0xd800 && ch < 0xdc00:
				if high != 0 {
					return r.fail("Unicode high surrogate must not follow a high surrogate.")
				}
				high = ch
				continue
			case ch >= 0xdc00 && ch < 0xe000:
				if high == 0 {
					return lone()
				}
				ch = 0x10000 + (high-0xd800)<<10 + (ch - 0xdc00)
				high = 0
			case high != 0:
				return lone()
			case ch == 0:
				return pgerr.New(pgerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
					WithDetail(`\u0000 cannot be converted to text.`)
			}
			*out = utf8.AppendRune(*out, ch)
		default:
			r.i--
			_, n := utf8.DecodeRune(r.s[r.i:])
			return r.fail(`Escape sequence "\%s" is invalid.`, r.s[r.i:r.i+n])
		}
	}
}

// AppendJSONString appends s as a JSON string with its quotes, escaped as PostgreSQL
// escapes it.
func AppendJSONString(dst, s []byte) []byte { return appendJSONString(dst, s) }

func appendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c < 0x20 {
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
