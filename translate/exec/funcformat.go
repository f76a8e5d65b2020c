package exec

import (
	"strings"

	"github.com/eiderdb/eider/translate/types"
)

// maxTemplate bounds the templates of to_char and its inverses, which are taken apart
// whole: an item costs a multiple of its text.
const maxTemplate = 1 << 16

// formatFuncs are to_char and its inverses; package types knows the templates.
func formatFuncs() []Func {
	when := func(c *Call) (types.Datum, error) { return types.ToChar(c.Env, c.Types[0].OID, c.Args[0], c.str(1)) }
	number := func(c *Call) (types.Datum, error) {
		d := c.Args[0]
		if c.Types[0].OID != tNum {
			var err error
			if d, err = c.cast(c.Types[0], types.T{OID: tNum, Mod: -1}, d, true); err != nil {
				return d, err
			}
		}
		return types.ToCharNumber(d, c.str(1))
	}
	var out []Func
	for _, t := range []types.OID{tInt4, tInt8, tF4, tF8, tNum} {
		out = append(out, stableFn("to_char", tText, number, t, tText))
	}
	for _, t := range []types.OID{tTS, tTZ, tIv} {
		out = append(out, stableFn("to_char", tText, when, t, tText))
	}
	out = append(
		out,
		stableFn("to_date", tDate, func(c *Call) (types.Datum, error) { return types.ToDate(c.str(0), c.str(1)) }, tText, tText),
		stableFn("to_timestamp", tTZ, func(c *Call) (types.Datum, error) { return types.ToTimestamp(c.Env, c.str(0), c.str(1)) }, tText, tText),
		stableFn("to_number", tNum, toNumber, tText, tText),
	)
	for i := range out {
		eval := out[i].Eval
		out[i].Eval = func(c *Call) (types.Datum, error) {
			if len(c.Args[1].B) > maxTemplate {
				return types.Null, tooLong()
			}
			return eval(c)
		}
	}
	return out
}

// toNumber reads what looks like a number and passes over the rest, whatever the template.
func toNumber(c *Call) (types.Datum, error) {
	s := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return -1
	}, c.str(0))
	if strings.HasSuffix(s, "-") {
		s = "-" + strings.TrimSuffix(s, "-")
	}
	return types.Input(c.Env, types.T{OID: tNum, Mod: -1}, []byte(s))
}
