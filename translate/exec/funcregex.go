package exec

import (
	"regexp"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// callRegex compiles the pattern in argument p with the flags in argument f, if given.
func (c *Call) callRegex(p, f int) (*regexp.Regexp, bool, error) {
	flags := ""
	if f < len(c.Args) {
		flags = c.str(f)
	}
	re, err := c.regex(c.str(p), flags)
	return re, strings.Contains(flags, "g"), err
}

// groups are a match's captures, or the whole match when there are none.
func groups(s string, m []int) types.Datum {
	var es []types.Datum
	if len(m) == 2 {
		es = []types.Datum{Str(s[m[0]:m[1]])}
	}
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] < 0 {
			es = append(es, types.Null)
		} else {
			es = append(es, Str(s[m[i]:m[i+1]]))
		}
	}
	return types.MakeArray(tText, es)
}

// replacement translates \1 and \& for one match.
func replacement(dst []byte, s, tmpl string, m []int) []byte {
	for i := 0; i < len(tmpl); i++ {
		if tmpl[i] != '\\' || i+1 >= len(tmpl) {
			dst = append(dst, tmpl[i])
			continue
		}
		i++
		switch ch := tmpl[i]; {
		case ch == '&':
			dst = append(dst, s[m[0]:m[1]]...)
		case ch >= '1' && ch <= '9':
			k := 2 * int(ch-'0')
			if k+1 < len(m) && m[k] >= 0 {
				dst = append(dst, s[m[k]:m[k+1]]...)
			}
		case ch == '\\':
			dst = append(dst, '\\')
		default:
			dst = append(dst, '\\', ch)
		}
	}
	return dst
}

// replaceRegex replaces the n-th match from a start, or all with n 0.
func (c *Call) replaceRegex(re *regexp.Regexp, s, tmpl string, start, n int) (types.Datum, error) {
	if err := c.roomForMatches(re, s); err != nil {
		return types.Null, err
	}
	var out []byte
	last := 0
	count := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
		if m[0] < start {
			continue
		}
		count++
		if n > 0 && count != n {
			continue
		}
		out = append(out, s[last:m[0]]...)
		out = replacement(out, s, tmpl, m)
		last = m[1]
		if err := c.Check(); err != nil {
			return types.Null, err
		}
		if err := c.room(int64(len(out))); err != nil {
			return types.Null, err
		}
		if n > 0 {
			break
		}
	}
	return Bytes(append(out, s[last:]...)), nil
}

func regexFuncs() []Func {
	match := func(c *Call) (types.Datum, error) {
		re, global, err := c.callRegex(1, 2)
		if err != nil {
			return types.Null, err
		}
		if global {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "regexp_match() does not support the \"global\" option").
				WithHint("Use the regexp_matches function instead.")
		}
		s := c.str(0)
		m := re.FindStringSubmatchIndex(s)
		if m == nil {
			return types.Null, nil
		}
		return groups(s, m), nil
	}
	matches := func(c *Call) (Iter, error) {
		re, global, err := c.callRegex(1, 2)
		if err != nil {
			return nil, err
		}
		n := 1
		if global {
			n = -1
		}
		s := c.str(0)
		if n < 0 {
			if err := c.roomForMatches(re, s); err != nil {
				return nil, err
			}
		}
		var rows []Row
		for _, m := range re.FindAllStringSubmatchIndex(s, n) {
			rows = append(rows, Row{groups(s, m)})
		}
		return &SliceIter{Items: rows}, nil
	}
	replace := func(c *Call) (types.Datum, error) {
		re, global, err := c.callRegex(1, 3)
		if err != nil {
			return types.Null, err
		}
		n := 1
		if global {
			n = 0
		}
		return c.replaceRegex(re, c.str(0), c.str(2), 0, n)
	}
	replaceAt := func(c *Call) (types.Datum, error) {
		n := 1
		if len(c.Args) > 4 {
			n = int(c.Args[4].I)
		}
		flags := ""
		if len(c.Args) > 5 {
			flags = c.str(5)
		}
		re, err := c.regex(c.str(1), flags)
		if err != nil {
			return types.Null, err
		}
		if c.Args[3].I <= 0 || n < 0 {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter %q: %d", "start", c.Args[3].I)
		}
		s := c.str(0)
		head, _ := substr(s, 1, c.Args[3].I-1, true)
		return c.replaceRegex(re, s, c.str(2), len(head), n)
	}
	split := func(c *Call) ([]string, error) {
		re, _, err := c.callRegex(1, 2)
		if err != nil {
			return nil, err
		}
		s := c.str(0)
		if err := c.roomForMatches(re, s); err != nil {
			return nil, err
		}
		var out []string
		last := 0
		for _, m := range re.FindAllStringIndex(s, -1) {
			if m[1] == m[0] && (m[0] == 0 || m[0] == len(s)) {
				continue
			}
			out = append(out, s[last:m[0]])
			last = m[1]
		}
		return append(out, s[last:]), nil
	}
	splitArr := func(c *Call) (types.Datum, error) {
		parts, err := split(c)
		if err != nil {
			return types.Null, err
		}
		es := make([]types.Datum, len(parts))
		for i, p := range parts {
			es[i] = Str(p)
		}
		return types.MakeArray(tText, es), nil
	}
	splitRows := func(c *Call) (Iter, error) {
		parts, err := split(c)
		if err != nil {
			return nil, err
		}
		rows := make([]Row, len(parts))
		for i, p := range parts {
			rows[i] = Row{Str(p)}
		}
		return &SliceIter{Items: rows}, nil
	}
	sub := func(c *Call) (types.Datum, error) {
		re, _, err := c.callRegex(1, 9)
		if err != nil {
			return types.Null, err
		}
		s := c.str(0)
		m := re.FindStringSubmatchIndex(s)
		switch {
		case m == nil:
			return types.Null, nil
		case len(m) > 2:
			if m[2] < 0 {
				return types.Null, nil
			}
			return Str(s[m[2]:m[3]]), nil
		}
		return Str(s[m[0]:m[1]]), nil
	}
	like := func(c *Call) (types.Datum, error) {
		re, _, err := c.callRegex(1, 2)
		if err != nil {
			return types.Null, err
		}
		return Bool(re.Match(c.Args[0].B)), nil
	}
	count := func(c *Call) (types.Datum, error) {
		flags := ""
		if len(c.Args) > 3 {
			flags = c.str(3)
		}
		re, err := c.regex(c.str(1), flags)
		if err != nil {
			return types.Null, err
		}
		s := c.str(0)
		if len(c.Args) > 2 {
			s, _ = substr(s, c.Args[2].I, 0, false)
		}
		if err := c.roomForMatches(re, s); err != nil {
			return types.Null, err
		}
		return Int(int64(len(re.FindAllStringIndex(s, -1)))), nil
	}
	return []Func{
		fn("regexp_match", tTextArr, match, tText, tText), fn("regexp_match", tTextArr, match, tText, tText, tText),
		set("regexp_matches", tTextArr, matches, tText, tText), set("regexp_matches", tTextArr, matches, tText, tText, tText),
		fn("regexp_replace", tText, replace, tText, tText, tText), fn("regexp_replace", tText, replace, tText, tText, tText, tText),
		fn("regexp_replace", tText, replaceAt, tText, tText, tText, tInt4),
		fn("regexp_replace", tText, replaceAt, tText, tText, tText, tInt4, tInt4),
		fn("regexp_replace", tText, replaceAt, tText, tText, tText, tInt4, tInt4, tText),
		fn("regexp_split_to_array", tTextArr, splitArr, tText, tText), fn("regexp_split_to_array", tTextArr, splitArr, tText, tText, tText),
		set("regexp_split_to_table", tText, splitRows, tText, tText), set("regexp_split_to_table", tText, splitRows, tText, tText, tText),
		fn("substring", tText, sub, tText, tText),
		fn("regexp_substr", tText, sub, tText, tText),
		fn("regexp_like", tBool, like, tText, tText), fn("regexp_like", tBool, like, tText, tText, tText),
		fn("regexp_count", tInt4, count, tText, tText), fn("regexp_count", tInt4, count, tText, tText, tInt4),
		fn("regexp_count", tInt4, count, tText, tText, tInt4, tText),
		nullable(set("string_to_table", tText, func(c *Call) (Iter, error) {
			d, err := stringToArray(c)
			if err != nil || !d.Valid {
				return &SliceIter{}, err
			}
			es, _, err := arrayElems(d)
			rows := make([]Row, len(es))
			for i, e := range es {
				rows[i] = Row{e}
			}
			return &SliceIter{Items: rows}, err
		}, tText, tText)),
	}
}
