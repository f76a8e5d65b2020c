package exec

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// unicodeFuncs are normalize, IS NORMALIZED and unistr.
func unicodeFuncs() []Func {
	form := func(c *Call) (norm.Form, error) {
		name := "NFC"
		if len(c.Args) > 1 {
			name = c.str(1)
		}
		switch strings.ToUpper(name) {
		case "NFC":
			return norm.NFC, nil
		case "NFD":
			return norm.NFD, nil
		case "NFKC":
			return norm.NFKC, nil
		case "NFKD":
			return norm.NFKD, nil
		}
		return 0, pgerr.New(pgerr.InvalidParameterValue, "invalid normalization form: %s", name)
	}
	return []Func{
		defaults(1, fn("normalize", tText, func(c *Call) (types.Datum, error) {
			f, err := form(c)
			if err != nil {
				return types.Null, err
			}
			return Bytes(f.Bytes(c.Args[0].B)), nil
		}, tText, tText)),
		defaults(1, fn("is_normalized", tBool, func(c *Call) (types.Datum, error) {
			f, err := form(c)
			return Bool(err == nil && f.IsNormal(c.Args[0].B)), err
		}, tText, tText)),
		fn("unistr", tText, func(c *Call) (types.Datum, error) { return c.strOK(unistr(c.str(0))) }, tText),
	}
}

// unistr replaces \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX by the characters they name. Two
// halves of a surrogate pair must follow each other.
func unistr(s string) (string, error) {
	var out []byte
	high := rune(0)
	pair := func() error { return pgerr.New(pgerr.SyntaxError, "invalid Unicode surrogate pair") }
	for s != "" {
		if s[0] != '\\' || strings.HasPrefix(s, `\\`) {
			if high != 0 {
				return "", pair()
			}
			out = append(out, s[0])
			if s[0] == '\\' {
				s = s[1:]
			}
			s = s[1:]
			continue
		}
		r, n := unicodeEscape(s)
		if n == 0 {
			return "", pgerr.New(pgerr.SyntaxError, "invalid Unicode escape").
				WithHint(`Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX.`)
		}
		if r == 0 || r > utf8.MaxRune || r < 0 {
			return "", pgerr.New(pgerr.InvalidParameterValue, "invalid Unicode code point: %04X", uint32(r))
		}
		s = s[n:]
		switch low := r >= 0xdc00 && r < 0xe000; {
		case high != 0 && !low, high == 0 && low:
			return "", pair()
		case high != 0:
			r, high = utf16.DecodeRune(high, r), 0
		case utf16.IsSurrogate(r):
			high = r
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	if high != 0 {
		return "", pair()
	}
	return string(out), nil
}

// unicodeEscape reads the escape that s begins with, and how long it is; 0 for none.
func unicodeEscape(s string) (rune, int) {
	skip, digits := 1, 4
	if len(s) > 1 {
		switch s[1] {
		case 'u':
			skip = 2
		case '+':
			skip, digits = 2, 6
		case 'U':
			skip, digits = 2, 8
		}
	}
	if len(s) < skip+digits {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[skip:skip+digits], 16, 32)
	if err != nil {
		return 0, 0
	}
	return rune(v), skip + digits
}
