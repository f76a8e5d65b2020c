package exec

import (
	"strings"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// callRegex compiles the pattern in argument p with the flags in argument f, if given.
func (c *Call) callRegex(p, f int) (*pattern, bool, error) {
	flags := ""
	if f < len(c.Args) {
		flags = c.str(f)
	}
	re, err := c.regex(c.str(p), flags)
	return re, strings.Contains(flags, "g"), err
}

// localRegex is callRegex for a function that has no use for the flag g; instead names the one
// that has, if any.
func (c *Call) localRegex(f int, instead string) (*pattern, error) {
	re, global, err := c.callRegex(1, f)
	if err == nil && global {
		e := pgerr.New(pgerr.InvalidParameterValue, "%s() does not support the \"global\" option", c.Func.Name)
		if instead != "" {
			e = e.WithHint("Use the %s function instead.", instead)
		}
		err = e
	}
	return re, err
}

// from is the optional argument start: characters from 1, as a byte offset.
func (c *Call) from(arg int) (int, error) {
	if arg >= len(c.Args) {
		return 0, nil
	}
	n, err := c.atLeast(arg, "start", 1, 1)
	if err != nil || n == 1 {
		return 0, err
	}
	s := c.str(0)
	head, err := substr(s, 1, n-1, true)
	if err == nil && len(head) == len(s) && utf8.RuneCountInString(s) < int(n-1) {
		return len(s) + 1, nil // beyond the end
	}
	return len(head), err
}

// atLeast is an optional integer argument with its lower bound.
func (c *Call) atLeast(arg int, name string, otherwise, low int64) (int64, error) {
	if arg >= len(c.Args) {
		return otherwise, nil
	}
	n := c.Args[arg].I
	if n < low {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter %q: %d", name, n)
	}
	return n, nil
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
func (c *Call) replaceRegex(re *pattern, s, tmpl string, start int, n int64) (types.Datum, error) {
	if err := c.roomForMatches(re.Regexp, s); err != nil {
		return types.Null, err
	}
	var out []byte
	last := 0
	count := int64(0)
	err := re.each(c.Ctx, s, start, func(m []int) (bool, error) {
		count++
		if n > 0 && count != n {
			return true, nil
		}
		out = append(out, s[last:m[0]]...)
		out = replacement(out, s, tmpl, m)
		last = m[1]
		return n == 0, c.room(int64(len(out)))
	})
	return Bytes(append(out, s[last:]...)), err
}

// nthMatch finds the n-th match of regexp_instr and regexp_substr: the place of a group, 0 for
// the whole match. It is nil when there is none.
func (c *Call) nthMatch(re *pattern, start int, n, group int64) ([]int, error) {
	if group > int64(re.NumSubexp()) {
		return nil, nil
	}
	var found []int
	count := int64(0)
	err := re.each(c.Ctx, c.str(0), start, func(m []int) (bool, error) {
		if count++; count < n {
			return true, nil
		}
		if k := 2 * int(group); m[k] >= 0 {
			found = m[k : k+2]
		}
		return false, nil
	})
	return found, err
}

// instr is regexp_instr(string, pattern, start, n, endoption, flags, subexpr).
func instr(c *Call) (types.Datum, error) {
	at, n, group, err := c.place(6)
	if err != nil {
		return types.Null, err
	}
	end := int64(0)
	if len(c.Args) > 4 {
		if end = c.Args[4].I; end != 0 && end != 1 {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter %q: %d", "endoption", end)
		}
	}
	re, err := c.localRegex(5, "")
	if err != nil {
		return types.Null, err
	}
	m, err := c.nthMatch(re, at, n, group)
	if err != nil || m == nil {
		return Int(0), err
	}
	return Int(int64(utf8.RuneCountInString(c.str(0)[:m[end]]) + 1)), nil
}

// place reads start, n and subexpr.
func (c *Call) place(sub int) (start int, n, group int64, err error) {
	if start, err = c.from(2); err != nil {
		return 0, 0, 0, err
	}
	if n, err = c.atLeast(3, "n", 1, 1); err != nil {
		return 0, 0, 0, err
	}
	group, err = c.atLeast(sub, "subexpr", 0, 0)
	return start, n, group, err
}

// matched is regexp_substr(string, pattern, start, n, flags, subexpr).
func matched(c *Call) (types.Datum, error) {
	at, n, group, err := c.place(5)
	if err != nil {
		return types.Null, err
	}
	re, err := c.localRegex(4, "")
	if err != nil {
		return types.Null, err
	}
	m, err := c.nthMatch(re, at, n, group)
	if err != nil || m == nil {
		return types.Null, err
	}
	return Str(c.str(0)[m[0]:m[1]]), nil
}

func regexFuncs() []Func {
	match := func(c *Call) (types.Datum, error) {
		re, err := c.localRegex(2, "regexp_matches")
		if err != nil {
			return types.Null, err
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
		s := c.str(0)
		if global {
			if err := c.roomForMatches(re.Regexp, s); err != nil {
				return nil, err
			}
		}
		var rows []Row
		err = re.each(c.Ctx, s, 0, func(m []int) (bool, error) {
			rows = append(rows, Row{groups(s, m)})
			return global, nil
		})
		if err != nil {
			return nil, err
		}
		return &SliceIter{Items: rows}, nil
	}
	replace := func(c *Call) (types.Datum, error) {
		if len(c.Args) > 3 && c.str(3) != "" && c.str(3)[0] >= '0' && c.str(3)[0] <= '9' {
			return types.Null, pgerr.New(pgerr.InvalidParameterValue, "invalid regular expression option: %q", c.str(3)[:1]).
				WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
		}
		re, global, err := c.callRegex(1, 3)
		if err != nil {
			return types.Null, err
		}
		n := int64(1)
		if global {
			n = 0
		}
		return c.replaceRegex(re, c.str(0), c.str(2), 0, n)
	}
	replaceAt := func(c *Call) (types.Datum, error) {
		at, err := c.from(3)
		if err != nil {
			return types.Null, err
		}
		n, err := c.atLeast(4, "n", 1, 0)
		if err != nil {
			return types.Null, err
		}
		re, _, err := c.callRegex(1, 5)
		if err != nil {
			return types.Null, err
		}
		return c.replaceRegex(re, c.str(0), c.str(2), at, n)
	}
	split := func(c *Call) ([]string, error) {
		re, err := c.localRegex(2, "")
		if err != nil {
			return nil, err
		}
		s := c.str(0)
		if err := c.roomForMatches(re.Regexp, s); err != nil {
			return nil, err
		}
		var out []string
		last := 0
		err = re.each(c.Ctx, s, 0, func(m []int) (bool, error) {
			// An empty match at an end, or right behind a match, parts nothing.
			if m[1] > m[0] || m[0] > last && m[0] < len(s) {
				out = append(out, s[last:m[0]])
				last = m[1]
			}
			return true, nil
		})
		return append(out, s[last:]), err
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
		re, err := c.localRegex(2, "")
		if err != nil {
			return types.Null, err
		}
		return Bool(re.Match(c.Args[0].B)), nil
	}
	count := func(c *Call) (types.Datum, error) {
		at, err := c.from(2)
		if err != nil {
			return types.Null, err
		}
		re, err := c.localRegex(3, "")
		if err != nil {
			return types.Null, err
		}
		n := int64(0)
		err = re.each(c.Ctx, c.str(0), at, func([]int) (bool, error) {
			n++
			return true, nil
		})
		return Int(n), err
	}
	similar := func(c *Call) (types.Datum, error) {
		re, err := similarToRegex(c.str(1), c.str(2))
		if err != nil {
			return types.Null, err
		}
		c.Args = []types.Datum{c.Args[0], Str(re)}
		return sub(c)
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
		fn("substring", tText, similar, tText, tText, tText),
		defaults(4, fn("regexp_substr", tText, matched, tText, tText, tInt4, tInt4, tText, tInt4)),
		defaults(5, fn("regexp_instr", tInt4, instr, tText, tText, tInt4, tInt4, tInt4, tText, tInt4)),
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
