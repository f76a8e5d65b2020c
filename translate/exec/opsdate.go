package exec

import (
	"math"

	"github.com/eiderdb/eider/translate/types"
)

// addDateOps adds the operators of dates, times and intervals.
func addDateOps(add func(name string, l, r, ret types.OID, fn OpFunc), prefix func(name string, t, ret types.OID, fn func(types.Datum) (types.Datum, error))) {
	const (
		date, ts, tz = types.DateOID, types.TimestampOID, types.TimestamptzOID
		tm, ttz, iv  = types.TimeOID, types.TimetzOID, types.IntervalOID
		i4, f8       = types.Int4OID, types.Float8OID
	)
	swap := func(f OpFunc) OpFunc {
		return func(c *Ctx, a, b types.Datum) (types.Datum, error) { return f(c, b, a) }
	}
	plain := func(f func(a, b types.Datum) (types.Datum, error)) OpFunc {
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return f(a, b) }
	}
	days := func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return types.DateAddDays(a, b.I) }
	add("+", date, i4, date, days)
	add("+", i4, date, date, swap(days))
	add("-", date, i4, date, func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return types.DateAddDays(a, -b.I) })
	add("-", date, date, i4, plain(types.DateSub))
	toTS := func(c *Ctx, d types.Datum) (types.Datum, error) {
		return c.cast(types.T{OID: date, Mod: -1}, types.T{OID: ts, Mod: -1}, d, false)
	}
	dateIv := func(neg bool) OpFunc {
		return func(c *Ctx, a, b types.Datum) (types.Datum, error) {
			t, err := toTS(c, a)
			if err != nil {
				return types.Null, err
			}
			if neg {
				if b, err = types.IntervalNeg(b); err != nil {
					return types.Null, err
				}
			}
			return types.TimestampAddInterval(t, b)
		}
	}
	add("+", date, iv, ts, dateIv(false))
	add("+", iv, date, ts, swap(dateIv(false)))
	add("-", date, iv, ts, dateIv(true))
	dateTime := func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		t, err := toTS(c, a)
		if err != nil || t.I == math.MaxInt64 || t.I == math.MinInt64 {
			return t, err
		}
		return Int(t.I + b.I), nil
	}
	add("+", date, tm, ts, dateTime)
	add("+", tm, date, ts, swap(dateTime))
	dateTimetz := func(c *Ctx, a, b types.Datum) (types.Datum, error) {
		t, err := toTS(c, a)
		if err != nil || t.I == math.MaxInt64 || t.I == math.MinInt64 {
			return t, err
		}
		return Int(t.I + b.I + int64(b.J)*1e6), nil
	}
	add("+", date, ttz, tz, dateTimetz)
	add("+", ttz, date, tz, swap(dateTimetz))
	negated := func(f OpFunc) OpFunc {
		return func(c *Ctx, a, b types.Datum) (types.Datum, error) {
			n, err := types.IntervalNeg(b)
			if err != nil {
				return types.Null, err
			}
			return f(c, a, n)
		}
	}
	tsIv := plain(types.TimestampAddInterval)
	add("+", ts, iv, ts, tsIv)
	add("+", iv, ts, ts, swap(tsIv))
	add("-", ts, iv, ts, negated(tsIv))
	tzIv := func(c *Ctx, a, b types.Datum) (types.Datum, error) { return types.TimestamptzAddInterval(c.Env, a, b) }
	add("+", tz, iv, tz, tzIv)
	add("+", iv, tz, tz, swap(tzIv))
	add("-", tz, iv, tz, negated(tzIv))
	add("-", ts, ts, iv, plain(types.TimestampSub))
	add("-", tz, tz, iv, plain(types.TimestampSub))
	tmIv := func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return types.TimeAddInterval(a, b), nil }
	add("+", tm, iv, tm, tmIv)
	add("+", iv, tm, tm, swap(tmIv))
	add("-", tm, iv, tm, negated(tmIv))
	add("+", ttz, iv, ttz, tmIv)
	add("+", iv, ttz, ttz, swap(tmIv))
	add("-", ttz, iv, ttz, negated(tmIv))
	add("-", tm, tm, iv, func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return types.TimeSub(a, b), nil })
	add("+", iv, iv, iv, plain(types.IntervalAdd))
	add("-", iv, iv, iv, plain(types.IntervalSub))
	mul := func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return types.IntervalMul(a, Float(b)) }
	add("*", iv, f8, iv, mul)
	add("*", f8, iv, iv, swap(mul))
	add("/", iv, f8, iv, func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return types.IntervalDiv(a, Float(b)) })
	prefix("-", iv, iv, types.IntervalNeg)
}
