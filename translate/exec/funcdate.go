package exec

import (
	"math"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func (c *Ctx) txnTime() time.Time {
	if c.Env != nil && !c.Env.Now.IsZero() {
		return c.Env.Now
	}
	return c.Clock()
}

func (c *Ctx) stmtTime() time.Time {
	if c.Session != nil {
		if t := c.Session.StatementTime(); !t.IsZero() {
			return t
		}
	}
	return c.txnTime()
}

// nowAs is the transaction's start as a value of a type.
func nowAs(oid types.OID) evalFn {
	return func(c *Call) (types.Datum, error) {
		d := types.TimestampFromTime(c.txnTime())
		if oid != tTZ {
			var err error
			if d, err = c.cast(types.T{OID: tTZ, Mod: -1}, types.T{OID: oid, Mod: -1}, d, true); err != nil {
				return d, err
			}
		}
		if len(c.Args) == 1 {
			p := min(max(c.Args[0].I, 0), 6)
			return c.cast(types.T{OID: oid, Mod: -1}, types.T{OID: oid, Mod: int32(p)}, d, true)
		}
		return d, nil
	}
}

func dateFuncs() []Func {
	now := nowAs(tTZ)
	clock := func(c *Call) (types.Datum, error) { return types.TimestampFromTime(c.Clock()), nil }
	out := []Func{
		stableFn("now", tTZ, now), stableFn("transaction_timestamp", tTZ, now),
		stableFn("statement_timestamp", tTZ, func(c *Call) (types.Datum, error) { return types.TimestampFromTime(c.stmtTime()), nil }),
		volatileFn("clock_timestamp", tTZ, clock),
		volatileFn("timeofday", tText, func(c *Call) (types.Datum, error) {
			loc := time.UTC
			if c.Env != nil && c.Env.Location != nil {
				loc = c.Env.Location
			}
			return Str(c.Clock().In(loc).Format("Mon Jan 02 15:04:05.000000 2006 MST")), nil
		}),
		stableFn("current_timestamp", tTZ, now), stableFn("current_timestamp", tTZ, now, tInt4),
		stableFn("localtimestamp", tTS, nowAs(tTS)), stableFn("localtimestamp", tTS, nowAs(tTS), tInt4),
		stableFn("current_date", tDate, nowAs(tDate)),
		stableFn("current_time", tTimetz, nowAs(tTimetz)), stableFn("current_time", tTimetz, nowAs(tTimetz), tInt4),
		stableFn("localtime", tTime, nowAs(tTime)), stableFn("localtime", tTime, nowAs(tTime), tInt4),
	}
	for _, t := range []types.OID{tTS, tTZ, tIv} {
		out = append(out, stableFn("date_trunc", t, func(c *Call) (types.Datum, error) {
			return types.DateTrunc(c.Env, c.str(0), t, c.Args[1])
		}, tText, t))
	}
	out = append(out, stableFn("date_trunc", tTZ, func(c *Call) (types.Datum, error) {
		return types.DateTruncZone(c.str(0), c.Args[1], c.str(2))
	}, tText, tTZ, tText))
	for _, t := range []types.OID{tDate, tTime, tTimetz, tTS, tTZ, tIv} {
		out = append(
			out,
			stableFn("extract", tNum, func(c *Call) (types.Datum, error) { return types.Extract(c.Env, c.str(0), t, c.Args[1]) }, tText, t),
			stableFn("date_part", tF8, func(c *Call) (types.Datum, error) { return types.DatePart(c.Env, c.str(0), t, c.Args[1]) }, tText, t),
		)
	}
	today := func(c *Ctx, oid types.OID) (types.Datum, error) {
		d, err := c.cast(types.T{OID: tTZ, Mod: -1}, types.T{OID: tDate, Mod: -1}, types.TimestampFromTime(c.txnTime()), true)
		if err != nil {
			return d, err
		}
		return c.cast(types.T{OID: tDate, Mod: -1}, types.T{OID: oid, Mod: -1}, d, true)
	}
	for _, t := range []types.OID{tTS, tTZ} {
		out = append(
			out,
			stableFn("age", tIv, func(c *Call) (types.Datum, error) { return types.Age(c.Env, t, c.Args[0], c.Args[1]) }, t, t),
			stableFn("age", tIv, func(c *Call) (types.Datum, error) {
				d, err := today(c.Ctx, t)
				if err != nil {
					return d, err
				}
				return types.Age(c.Env, t, d, c.Args[0])
			}, t),
		)
	}
	for _, p := range []struct{ in, out types.OID }{{tTS, tTZ}, {tTZ, tTS}, {tTimetz, tTimetz}} {
		out = append(
			out,
			stableFn("timezone", p.out, func(c *Call) (types.Datum, error) { return types.AtTimeZone(c.Env, c.str(0), p.in, c.Args[1]) }, tText, p.in),
			stableFn("timezone", p.out, func(c *Call) (types.Datum, error) { return types.AtInterval(c.Env, c.Args[0], p.in, c.Args[1]) }, tIv, p.in),
		)
	}
	return out
}

func dateMoreFuncs() []Func {
	i := func(c *Call, n int) int { return int(c.Args[n].I) }
	finite := func(c *Call) (types.Datum, error) {
		v := c.Args[0].I
		if c.Types[0].OID == tDate {
			return Bool(v != math.MaxInt32 && v != math.MinInt32), nil
		}
		return Bool(v != math.MaxInt64 && v != math.MinInt64), nil
	}
	overlaps := func(c *Call) (types.Datum, error) {
		s1, e1, s2, e2 := c.Args[0].I, c.Args[1].I, c.Args[2].I, c.Args[3].I
		if s1 > e1 {
			s1, e1 = e1, s1
		}
		if s2 > e2 {
			s2, e2 = e2, s2
		}
		if s1 == s2 {
			return Bool(true), nil
		}
		return Bool(s1 < e2 && s2 < e1), nil
	}
	// The ends of a period may be given as lengths.
	during := func(c *Call) (types.Datum, error) {
		args := [4]types.Datum{c.Args[0], c.Args[1], c.Args[2], c.Args[3]}
		for i := 1; i < 4; i += 2 {
			if c.Types[i].OID != tIv {
				continue
			}
			var err error
			if c.Types[0].OID == tTZ {
				args[i], err = types.TimestamptzAddInterval(c.Env, args[i-1], args[i])
			} else {
				args[i], err = types.TimestampAddInterval(args[i-1], args[i])
			}
			if err != nil {
				return types.Null, err
			}
		}
		return overlaps(&Call{Ctx: c.Ctx, Args: args[:]})
	}
	bin := func(c *Call) (types.Datum, error) {
		iv := c.Args[0]
		if iv.K != 0 {
			return types.Null, pgerr.New(pgerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
		}
		step := iv.I + int64(iv.J)*86400e6
		if step <= 0 {
			return types.Null, pgerr.New(pgerr.DatetimeFieldOverflow, "stride must be greater than zero")
		}
		d := c.Args[1].I - c.Args[2].I
		m := d % step
		if m < 0 {
			m += step
		}
		return Int(c.Args[1].I - m), nil
	}
	makeInterval := argNames(defaults(7, fn("make_interval", tIv, func(c *Call) (types.Datum, error) {
		a := c.Args
		return types.MakeInterval(a[0].I, a[1].I, a[2].I, a[3].I, a[4].I, a[5].I, Float(a[6]))
	}, tInt4, tInt4, tInt4, tInt4, tInt4, tInt4, tF8)), "years", "months", "weeks", "days", "hours", "mins", "secs")
	makeInterval.DefaultVals = []types.Datum{Int(0), Int(0), Int(0), Int(0), Int(0), Int(0), types.Float8(0)}
	return []Func{
		argNames(fn("make_date", tDate, func(c *Call) (types.Datum, error) { return types.MakeDate(i(c, 0), i(c, 1), i(c, 2)) }, tInt4, tInt4, tInt4), "year", "month", "day"),
		fn("make_time", tTime, func(c *Call) (types.Datum, error) { return types.MakeTime(i(c, 0), i(c, 1), Float(c.Args[2])) }, tInt4, tInt4, tF8),
		fn("make_timestamp", tTS, func(c *Call) (types.Datum, error) {
			return types.MakeTimestamp(i(c, 0), i(c, 1), i(c, 2), i(c, 3), i(c, 4), Float(c.Args[5]))
		}, tInt4, tInt4, tInt4, tInt4, tInt4, tF8),
		stableFn("make_timestamptz", tTZ, func(c *Call) (types.Datum, error) {
			return types.MakeTimestamptz(c.Env, i(c, 0), i(c, 1), i(c, 2), i(c, 3), i(c, 4), Float(c.Args[5]), "")
		}, tInt4, tInt4, tInt4, tInt4, tInt4, tF8),
		stableFn("make_timestamptz", tTZ, func(c *Call) (types.Datum, error) {
			return types.MakeTimestamptz(c.Env, i(c, 0), i(c, 1), i(c, 2), i(c, 3), i(c, 4), Float(c.Args[5]), c.str(6))
		}, tInt4, tInt4, tInt4, tInt4, tInt4, tF8, tText),
		makeInterval,
		fn("to_timestamp", tTZ, func(c *Call) (types.Datum, error) {
			s := Float(c.Args[0])
			switch {
			case math.IsNaN(s):
				return types.Null, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
			case math.IsInf(s, 1):
				return Int(math.MaxInt64), nil
			case math.IsInf(s, -1):
				return Int(math.MinInt64), nil
			case math.Abs(s) > 9e12:
				return types.Null, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range: \"%g\"", s)
			}
			return Int(int64(math.RoundToEven((s - 946684800) * 1e6))), nil
		}, tF8),
		fn("justify_days", tIv, func(c *Call) (types.Datum, error) { return types.JustifyDays(c.Args[0]) }, tIv),
		fn("justify_hours", tIv, func(c *Call) (types.Datum, error) { return types.JustifyHours(c.Args[0]) }, tIv),
		fn("justify_interval", tIv, func(c *Call) (types.Datum, error) { return types.JustifyInterval(c.Args[0]) }, tIv),
		fn("isfinite", tBool, finite, tDate), fn("isfinite", tBool, finite, tTS), fn("isfinite", tBool, finite, tTZ),
		fn("isfinite", tBool, func(*Call) (types.Datum, error) { return Bool(true), nil }, tIv),
		fn("overlaps", tBool, overlaps, tTS, tTS, tTS, tTS), fn("overlaps", tBool, overlaps, tTZ, tTZ, tTZ, tTZ), fn("overlaps", tBool, overlaps, tTime, tTime, tTime, tTime),
		fn("overlaps", tBool, during, tTS, tIv, tTS, tIv), fn("overlaps", tBool, during, tTS, tIv, tTS, tTS), fn("overlaps", tBool, during, tTS, tTS, tTS, tIv),
		stableFn("overlaps", tBool, during, tTZ, tIv, tTZ, tIv), stableFn("overlaps", tBool, during, tTZ, tIv, tTZ, tTZ), stableFn("overlaps", tBool, during, tTZ, tTZ, tTZ, tIv),
		fn("date_bin", tTS, bin, tIv, tTS, tTS), fn("date_bin", tTZ, bin, tIv, tTZ, tTZ),
	}
}
