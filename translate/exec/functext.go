package exec

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// maxText bounds the lengths that padding and repetition take.
const maxText = 1 << 28

func tooLong() error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "requested length too large")
}

// textFunc is a function of one text.
func textFunc(name string, f func(s string) string) Func {
	return fn(name, tText, func(c *Call) (types.Datum, error) { return Str(f(c.str(0))), nil }, tText)
}

func runeLen(c *Call) (types.Datum, error) { return Int(int64(utf8.RuneCount(c.Args[0].B))), nil }

// substr is substring(s from start for n) over characters; n < 0 without a length.
func substr(s string, start, n int64, bounded bool) (string, error) {
	end := int64(len(s)) + 1
	if bounded {
		if n < 0 {
			return "", pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
		}
		if e := start + n; e >= start || n == 0 {
			end = e
		}
	}
	at, pos := 0, int64(1)
	for pos < start && at < len(s) {
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
		pos++
	}
	from := at
	for pos < end && at < len(s) {
		if start > pos { // start lies beyond the end
			break
		}
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
		pos++
	}
	return s[from:at], nil
}

func strpos(s, sub string) int64 {
	i := strings.Index(s, sub)
	if i < 0 {
		return 0
	}
	return int64(utf8.RuneCountInString(s[:i]) + 1)
}

func trimSet(name string, f func(s, set string) string) []Func {
	return []Func{
		fn(name, tText, func(c *Call) (types.Datum, error) { return Str(f(c.str(0), " ")), nil }, tText),
		fn(name, tText, func(c *Call) (types.Datum, error) { return Str(f(c.str(0), c.str(1))), nil }, tText, tText),
	}
}

func pad(left bool) evalFn {
	return func(c *Call) (types.Datum, error) {
		s := []rune(c.str(0))
		n := c.Args[1].I
		fill := []rune(" ")
		if len(c.Args) > 2 {
			fill = []rune(c.str(2))
		}
		if n < 0 {
			n = 0
		}
		if n > maxText {
			return types.Null, tooLong()
		}
		if int64(len(s)) >= n {
			return Str(string(s[:n])), nil
		}
		if len(fill) == 0 {
			return Str(string(s)), nil
		}
		if err := c.room(n * utf8.UTFMax); err != nil {
			return types.Null, err
		}
		p := make([]rune, 0, n)
		for k := int64(0); k < n-int64(len(s)); k++ {
			p = append(p, fill[k%int64(len(fill))])
		}
		if left {
			return Str(string(p) + string(s)), nil
		}
		return Str(string(s) + string(p)), nil
	}
}

func splitPart(c *Call) (types.Datum, error) {
	s, sep, n := c.str(0), c.str(1), c.Args[2].I
	if n == 0 {
		return types.Null, pgerr.New(pgerr.InvalidParameterValue, "field position must not be zero")
	}
	if sep == "" {
		if n == 1 || n == -1 {
			return Str(s), nil
		}
		return Str(""), nil
	}
	if err := c.roomForSplit(s, sep); err != nil {
		return types.Null, err
	}
	parts := strings.Split(s, sep)
	if n < 0 {
		n += int64(len(parts)) + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return Str(""), nil
	}
	return Str(parts[n-1]), nil
}

func initcap(s string) string {
	var b strings.Builder
	in := false
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if in {
				b.WriteRune(unicode.ToLower(r))
			} else {
				b.WriteRune(unicode.ToUpper(r))
			}
			in = true
			continue
		}
		in = false
		b.WriteRune(r)
	}
	return b.String()
}

func translate(s, from, to string) string {
	f, t := []rune(from), []rune(to)
	return strings.Map(func(r rune) rune {
		for i, x := range f {
			if x == r {
				if i < len(t) {
					return t[i]
				}
				return -1
			}
		}
		return r
	}, s)
}

func reverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// leftRight takes n characters from an end, or all but -n.
func leftRight(s string, n int64, left bool) string {
	r := []rune(s)
	l := int64(len(r))
	if n == math.MinInt32 && !left {
		return s // PostgreSQL negates it as an int4, which overflows to the same number
	}
	if n < 0 {
		n = max(0, l+n)
	}
	n = min(n, l)
	if left {
		return string(r[:n])
	}
	return string(r[l-n:])
}

// overlaid is the place that overlay replaces: its start and its length.
func (c *Call) overlaid(length int) (start, n int64, err error) {
	start, n = c.Args[2].I, int64(length)
	if len(c.Args) > 3 {
		n = c.Args[3].I
	}
	if start <= 0 {
		return 0, 0, pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
	}
	if end := start + n; end > math.MaxInt32 || end < math.MinInt32 {
		return 0, 0, pgerr.New(pgerr.NumericValueOutOfRange, "integer out of range")
	}
	return start, n, nil
}

func concatAll(c *Call, args []types.Datum, ts []types.T, sep []byte) types.Datum {
	out := []byte{}
	first := true
	for i, a := range args {
		if !a.Valid {
			continue
		}
		if !first {
			out = append(out, sep...)
		}
		first = false
		if ts[i].OID == tBool {
			out = append(out, "ft"[a.I])
			continue
		}
		out = append(out, c.textOf(ts[i].OID, a).B...)
	}
	return Bytes(out)
}

func textFuncs() []Func {
	lower := func(s string) string { return strings.ToLower(s) }
	upper := func(s string) string { return strings.ToUpper(s) }
	sub := func(bounded bool) evalFn {
		return func(c *Call) (types.Datum, error) {
			n := int64(0)
			if bounded {
				n = c.Args[2].I
			}
			return c.strOK(substr(c.str(0), c.Args[1].I, n, bounded))
		}
	}
	pos := func(c *Call) (types.Datum, error) { return Int(strpos(c.str(0), c.str(1))), nil }
	overlay := func(c *Call) (types.Datum, error) {
		s, p := c.str(0), c.str(1)
		start, n, err := c.overlaid(utf8.RuneCountInString(p))
		if err != nil {
			return types.Null, err
		}
		head, err := substr(s, 1, start-1, true)
		if err != nil {
			return types.Null, err
		}
		tail, err := substr(s, start+n, 0, false)
		return c.strOK(head+p+tail, err)
	}
	out := []Func{
		fn("length", tInt4, runeLen, tText), fn("char_length", tInt4, runeLen, tText), fn("character_length", tInt4, runeLen, tText),
		fn("length", tInt4, func(c *Call) (types.Datum, error) {
			return Int(int64(utf8.RuneCount(bytes.TrimRight(c.Args[0].B, " ")))), nil
		}, types.BpcharOID),
		fn("octet_length", tInt4, func(c *Call) (types.Datum, error) { return Int(int64(len(c.Args[0].B))), nil }, tText),
		fn("octet_length", tInt4, func(c *Call) (types.Datum, error) { return Int(int64(len(c.Args[0].B))), nil }, types.BpcharOID),
		fn("bit_length", tInt4, func(c *Call) (types.Datum, error) { return Int(int64(8 * len(c.Args[0].B))), nil }, tText),
		textFunc("lower", lower), textFunc("upper", upper), textFunc("initcap", initcap), textFunc("reverse", reverse),
		fn("substr", tText, sub(false), tText, tInt4), fn("substr", tText, sub(true), tText, tInt4, tInt4),
		fn("substring", tText, sub(false), tText, tInt4), fn("substring", tText, sub(true), tText, tInt4, tInt4),
		fn("strpos", tInt4, pos, tText, tText), fn("position", tInt4, pos, tText, tText),
		fn("split_part", tText, splitPart, tText, tText, tInt4),
		fn("replace", tText, func(c *Call) (types.Datum, error) {
			if c.str(1) == "" {
				return c.Args[0], nil
			}
			s, old, with := c.str(0), c.str(1), c.str(2)
			if len(with) > len(old) {
				if err := c.room(int64(strings.Count(s, old)) * int64(len(with))); err != nil {
					return types.Null, err
				}
			}
			return Str(strings.ReplaceAll(s, old, with)), nil
		}, tText, tText, tText),
		fn("translate", tText, func(c *Call) (types.Datum, error) { return Str(translate(c.str(0), c.str(1), c.str(2))), nil }, tText, tText, tText),
		fn("overlay", tText, overlay, tText, tText, tInt4), fn("overlay", tText, overlay, tText, tText, tInt4, tInt4),
		fn("lpad", tText, pad(true), tText, tInt4), fn("lpad", tText, pad(true), tText, tInt4, tText),
		fn("rpad", tText, pad(false), tText, tInt4), fn("rpad", tText, pad(false), tText, tInt4, tText),
		fn("left", tText, func(c *Call) (types.Datum, error) { return Str(leftRight(c.str(0), c.Args[1].I, true)), nil }, tText, tInt4),
		fn("right", tText, func(c *Call) (types.Datum, error) { return Str(leftRight(c.str(0), c.Args[1].I, false)), nil }, tText, tInt4),
		fn("repeat", tText, func(c *Call) (types.Datum, error) {
			n := max(0, c.Args[1].I)
			if n*int64(len(c.Args[0].B)) > maxText {
				return types.Null, tooLong()
			}
			if err := c.room(n * int64(len(c.Args[0].B))); err != nil {
				return types.Null, err
			}
			return Str(strings.Repeat(c.str(0), int(n))), nil
		}, tText, tInt4),
		fn("starts_with", tBool, func(c *Call) (types.Datum, error) { return Bool(bytes.HasPrefix(c.Args[0].B, c.Args[1].B)), nil }, tText, tText),
		fn("ascii", tInt4, func(c *Call) (types.Datum, error) {
			if len(c.Args[0].B) == 0 {
				return Int(0), nil
			}
			r, _ := utf8.DecodeRune(c.Args[0].B)
			return Int(int64(r)), nil
		}, tText),
		fn("chr", tText, func(c *Call) (types.Datum, error) {
			n := c.Args[0].I
			if n == 0 {
				return types.Null, pgerr.New(pgerr.ProgramLimitExceeded, "null character not permitted")
			}
			if n < 0 {
				return types.Null, pgerr.New(pgerr.InvalidParameterValue, "character number must be positive")
			}
			if n > 0x10FFFF {
				return types.Null, pgerr.New(pgerr.ProgramLimitExceeded, "requested character too large for encoding: %d", n)
			}
			if !utf8.ValidRune(rune(n)) {
				return types.Null, pgerr.New(pgerr.ProgramLimitExceeded, "requested character not valid for encoding: %d", n)
			}
			return Str(string(rune(n))), nil
		}, tInt4),
		fn("to_hex", tText, func(c *Call) (types.Datum, error) {
			return Str(strconv.FormatUint(uint64(uint32(c.Args[0].I)), 16)), nil
		}, tInt4),
		fn("to_hex", tText, func(c *Call) (types.Datum, error) { return Str(strconv.FormatUint(uint64(c.Args[0].I), 16)), nil }, tInt8),
		variadic(nullable(stableFn("concat", tText, func(c *Call) (types.Datum, error) { return concatAll(c, c.Args, c.Types, nil), nil }, tAny))),
		variadic(nullable(stableFn("concat_ws", tText, func(c *Call) (types.Datum, error) {
			if !c.Args[0].Valid {
				return types.Null, nil
			}
			return concatAll(c, c.Args[1:], c.Types[1:], c.Args[0].B), nil
		}, tText, tAny))),
	}
	out = append(out, trimSet("btrim", strings.Trim)...)
	out = append(out, trimSet("ltrim", strings.TrimLeft)...)
	out = append(out, trimSet("rtrim", strings.TrimRight)...)
	return append(out, trimSet("trim", strings.Trim)...)
}

// QuoteIdent quotes an identifier where it needs it.
func QuoteIdent(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		ch := s[i]
		plain = ch >= 'a' && ch <= 'z' || ch == '_' || i > 0 && ch >= '0' && ch <= '9'
	}
	if plain && !reserved[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// reserved are the key words that cannot be bare names; never changed.
var reserved = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
		char character check coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role
		current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract
		false fetch float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
		interval into is isnull join lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not
		notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real references
		returning right row select session_user setof similar smallint some substring symmetric table tablesample then time timestamp to
		trailing treat trim true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat
		xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		m[w] = true
	}
	return m
}()

// QuoteLiteral quotes a string constant.
func QuoteLiteral(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return " E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

func quoteLit(s string) string { return strings.TrimPrefix(QuoteLiteral(s), " ") }

func textMoreFuncs() []Func {
	format := func(c *Call) (types.Datum, error) { return formatText(c) }
	return []Func{
		textFunc("quote_ident", QuoteIdent),
		textFunc("quote_literal", quoteLit),
		stableFn("quote_literal", tText, func(c *Call) (types.Datum, error) {
			return Str(quoteLit(string(c.textOf(c.Types[0].OID, c.Args[0]).B))), nil
		}, tElem),
		nullable(fn("quote_nullable", tText, func(c *Call) (types.Datum, error) {
			if !c.Args[0].Valid {
				return Str("NULL"), nil
			}
			return Str(quoteLit(string(c.textOf(c.Types[0].OID, c.Args[0]).B))), nil
		}, tElem)),
		nullable(fn("quote_nullable", tText, func(c *Call) (types.Datum, error) {
			if !c.Args[0].Valid {
				return Str("NULL"), nil
			}
			return Str(quoteLit(c.str(0))), nil
		}, tText)),
		nullable(stableFn("format", tText, format, tText)),
		variadic(nullable(stableFn("format", tText, format, tText, tAny))),
		fn("like_escape", tText, func(c *Call) (types.Datum, error) { return c.strOK(likeEscape(c.str(0), c.str(1))) }, tText, tText),
		fn("similar_to_escape", tText, func(c *Call) (types.Datum, error) { return c.strOK(similarToRegex(c.str(0), "\\")) }, tText),
		fn("similar_to_escape", tText, func(c *Call) (types.Datum, error) { return c.strOK(similarToRegex(c.str(0), c.str(1))) }, tText, tText),
		fn("like", tBool, func(c *Call) (types.Datum, error) {
			ok, err := likeMatch(c.Ctx, c.Args[0].B, c.Args[1].B, true)
			return Bool(ok), err
		}, tText, tText),
		fn("parse_ident", tTextArr, parseIdent, tText),
	}
}

func parseIdent(c *Call) (types.Datum, error) {
	s := strings.TrimSpace(c.str(0))
	var parts []types.Datum
	for {
		s = strings.TrimLeft(s, " \t\n")
		var part string
		if strings.HasPrefix(s, `"`) {
			i := 1
			var b strings.Builder
			for i < len(s) {
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						b.WriteByte('"')
						i += 2
						continue
					}
					break
				}
				b.WriteByte(s[i])
				i++
			}
			if i >= len(s) {
				return types.Null, pgerr.New(pgerr.InvalidParameterValue, "string is not a valid identifier: %q", c.str(0))
			}
			part, s = b.String(), s[i+1:]
		} else {
			i := 0
			for i < len(s) && (s[i] == '_' || s[i] == '$' || s[i] >= 0x80 || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || i > 0 && s[i] >= '0' && s[i] <= '9') {
				i++
			}
			if i == 0 {
				return types.Null, pgerr.New(pgerr.InvalidParameterValue, "string is not a valid identifier: %q", c.str(0))
			}
			part, s = strings.ToLower(s[:i]), s[i:]
		}
		parts = append(parts, Str(part))
		s = strings.TrimLeft(s, " \t\n")
		if s == "" {
			return types.MakeArray(tText, parts), nil
		}
		if s[0] != '.' {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "string is not a valid identifier: %q", c.str(0))
		}
		s = s[1:]
	}
}

// formatText is format(): %s, %I, %L with widths and positions.
func formatText(c *Call) (types.Datum, error) {
	if !c.Args[0].Valid {
		return types.Null, nil
	}
	f := c.str(0)
	var out strings.Builder
	next := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			out.WriteByte(f[i])
			continue
		}
		i++
		if i >= len(f) {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "unterminated format() type specifier").
				WithHint(`For a single "%%" use "%%%%".`)
		}
		if f[i] == '%' {
			out.WriteByte('%')
			continue
		}
		width, left, tooBig := 0, false, false
		digits := func() (int, bool) {
			start := i
			n := 0
			for i < len(f) && f[i] >= '0' && f[i] <= '9' {
				n = min(n*10+int(f[i]-'0'), math.MaxInt32+1)
				i++
			}
			tooBig = tooBig || n > math.MaxInt32
			return n, i > start
		}
		arg := 0
		if n, ok := digits(); ok {
			if i < len(f) && f[i] == '$' {
				if n == 0 {
					return types.Null, pgerr.New(pgerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
				}
				arg = n
				i++
			} else {
				width = n
			}
		}
		for i < len(f) && f[i] == '-' {
			left = true
			i++
		}
		if i < len(f) && f[i] == '*' {
			i++
			at := next
			if n, ok := digits(); ok && i < len(f) && f[i] == '$' {
				at = n
				i++
			} else {
				next++
			}
			if at < len(c.Args) && c.Args[at].Valid {
				width = int(c.Args[at].I)
				if width < 0 {
					width, left = -width, true
				}
			}
		} else if n, ok := digits(); ok {
			width = n
		}
		if tooBig {
			return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "number is out of range")
		}
		if i >= len(f) {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "unterminated format() type specifier").
				WithHint(`For a single "%%" use "%%%%".`)
		}
		if arg == 0 {
			arg = next
		}
		next = arg + 1
		if f[i] != 's' && f[i] != 'I' && f[i] != 'L' {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "unrecognized format() type specifier %q", f[i:i+1]).
				WithHint(`For a single "%%" use "%%%%".`)
		}
		if arg >= len(c.Args) {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "too few arguments for format()")
		}
		a := c.Args[arg]
		s := ""
		if a.Valid {
			s = string(c.textOf(c.Types[arg].OID, a).B)
		}
		switch f[i] {
		case 'I':
			if !a.Valid {
				return types.Null, pgerr.New(pgerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
			}
			s = QuoteIdent(s)
		case 'L':
			if !a.Valid {
				s = "NULL"
			} else {
				s = quoteLit(s)
			}
		}
		gap := max(0, width-utf8.RuneCountInString(s))
		if err := c.room(int64(out.Len()) + int64(len(s)) + int64(gap)); err != nil {
			return types.Null, err
		}
		if gap > 0 && !left {
			out.WriteString(strings.Repeat(" ", gap))
		}
		out.WriteString(s)
		if gap > 0 && left {
			out.WriteString(strings.Repeat(" ", gap))
		}
	}
	return Str(out.String()), nil
}

func stringToArray(c *Call) (types.Datum, error) {
	if !c.Args[0].Valid {
		return types.Null, nil
	}
	s := c.str(0)
	if s == "" {
		return types.MakeArray(tText, nil), nil
	}
	var parts []string
	switch {
	case !c.Args[1].Valid:
		if err := c.roomForSplit(s, ""); err != nil {
			return types.Null, err
		}
		parts = strings.Split(s, "")
	case c.str(1) == "":
		parts = []string{s}
	default:
		if err := c.roomForSplit(s, c.str(1)); err != nil {
			return types.Null, err
		}
		parts = strings.Split(s, c.str(1))
	}
	es := make([]types.Datum, len(parts))
	for i, p := range parts {
		if len(c.Args) > 2 && c.Args[2].Valid && p == c.str(2) {
			continue
		}
		es[i] = Str(p)
	}
	return types.MakeArray(tText, es), nil
}
