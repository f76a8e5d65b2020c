package types

import (
	"math"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Arithmetic of dates, times and intervals.

func stamp(ts int64) (Datum, error) {
	if !timestampInRange(ts) {
		return Null, errDatetimeOverflow("timestamp")
	}
	return Int(ts), nil
}

// DateAddDays is date + integer.
func DateAddDays(d Datum, days int64) (Datum, error) {
	if !finiteDate(d.I) {
		return d, nil
	}
	v := d.I + days
	if v < minDate || v >= endDate {
		return Null, errDatetimeOverflow("date")
	}
	return Int(v), nil
}

// DateSub is date − date in days.
func DateSub(a, b Datum) (Datum, error) {
	if !finiteDate(a.I) || !finiteDate(b.I) {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
	}
	return Int(a.I - b.I), nil
}

// addMonths moves a local timestamp by months; a day past the month's end becomes its last day.
func addMonths(local int64, months int64) (int64, bool) {
	c := breakTimestamp(local)
	m := int64(c.month) - 1 + months
	y := int64(c.year) + floorDiv64(m, 12)
	mon := int(m-floorDiv64(m, 12)*12) + 1
	if y < -4714 || y > 294277 {
		return 0, false
	}
	day := min(c.day, daysInMonth(int(y), mon))
	return combine(daysFromCivil(int(y), mon, day), c.usOfDay)
}

// TimestampAddInterval is timestamp + interval.
func TimestampAddInterval(d, iv Datum) (Datum, error) {
	if !finiteTimestamp(d.I) {
		return d, nil
	}
	ts, ok := d.I, true
	if iv.K != 0 {
		ts, ok = addMonths(ts, int64(iv.K))
	}
	if ok && iv.J != 0 {
		days, us := splitTimestamp(ts)
		ts, ok = combine(days+int64(iv.J), us)
	}
	if ok {
		ts, ok = addCheck(ts, iv.I)
		ok = ok || iv.I == 0
	}
	if !ok {
		return Null, errDatetimeOverflow("timestamp")
	}
	return stamp(ts)
}

// TimestamptzAddInterval is timestamptz + interval: months and days move the local date
// in the session's zone, the rest is exact time.
func TimestamptzAddInterval(env *Env, d, iv Datum) (Datum, error) {
	if !finiteTimestamp(d.I) {
		return d, nil
	}
	loc := env.loc()
	ts, ok := d.I, true
	if iv.K != 0 {
		_, off := offsetAt(loc, ts)
		if ts, ok = addMonths(ts+int64(off)*usPerSecond, int64(iv.K)); ok {
			ts = toUTC(loc, ts)
		}
	}
	if ok && iv.J != 0 {
		_, off := offsetAt(loc, ts)
		days, us := splitTimestamp(ts + int64(off)*usPerSecond)
		if ts, ok = combine(days+int64(iv.J), us); ok {
			ts = toUTC(loc, ts)
		}
	}
	if ok {
		ts, ok = addCheck(ts, iv.I)
		ok = ok || iv.I == 0
	}
	if !ok {
		return Null, errDatetimeOverflow("timestamp")
	}
	return stamp(ts)
}

// TimestampSub is timestamp − timestamp (or timestamptz − timestamptz) in days and time.
func TimestampSub(a, b Datum) (Datum, error) {
	if !finiteTimestamp(a.I) || !finiteTimestamp(b.I) {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
	}
	diff := a.I - b.I
	if (a.I >= b.I) != (diff >= 0) {
		return Null, errDatetimeOverflow("interval")
	}
	return Datum{I: diff % usPerDay, J: int32(diff / usPerDay), Valid: true}, nil
}

func wrapDay(us int64) int64 {
	us %= usPerDay
	if us < 0 {
		us += usPerDay
	}
	return us
}

// TimeAddInterval is time + interval, or timetz + interval: it wraps around midnight.
func TimeAddInterval(d, iv Datum) Datum {
	d.I = wrapDay(d.I + iv.I%usPerDay)
	return d
}

// TimeSub is time − time.
func TimeSub(a, b Datum) Datum { return Int(a.I - b.I) }

func makeInterval(us, days, months int64) (Datum, error) {
	if days < math.MinInt32 || days > math.MaxInt32 || months < math.MinInt32 || months > math.MaxInt32 {
		return Null, errDatetimeOverflow("interval")
	}
	return Datum{I: us, J: int32(days), K: int32(months), Valid: true}, nil
}

// Interval makes an interval datum.
func Interval(us int64, days, months int32) Datum {
	return Datum{I: us, J: days, K: months, Valid: true}
}

// IntervalAdd is interval + interval.
func IntervalAdd(a, b Datum) (Datum, error) {
	us, ok := addCheck(a.I, b.I)
	if !ok && b.I != 0 {
		return Null, errDatetimeOverflow("interval")
	}
	return makeInterval(us, int64(a.J)+int64(b.J), int64(a.K)+int64(b.K))
}

// IntervalNeg is −interval.
func IntervalNeg(a Datum) (Datum, error) {
	if a.I == math.MinInt64 {
		return Null, errDatetimeOverflow("interval")
	}
	return makeInterval(-a.I, -int64(a.J), -int64(a.K))
}

// IntervalSub is interval − interval.
func IntervalSub(a, b Datum) (Datum, error) {
	n, err := IntervalNeg(b)
	if err != nil {
		return Null, err
	}
	return IntervalAdd(a, n)
}

// IntervalMul is interval · factor; fractions of months become days, of days time.
func IntervalMul(a Datum, factor float64) (Datum, error) {
	return scaleInterval(a, func(v float64) float64 { return v * factor })
}

// IntervalDiv is interval / factor.
func IntervalDiv(a Datum, factor float64) (Datum, error) {
	if factor == 0 {
		return Null, errDivZero()
	}
	return scaleInterval(a, func(v float64) float64 { return v / factor })
}

func scaleInterval(a Datum, scale func(float64) float64) (Datum, error) {
	tsround := func(f float64) float64 { return math.RoundToEven(f*usPerSecond) / usPerSecond }
	bad := func(f float64) bool { return math.IsNaN(f) || f < math.MinInt32 || f > math.MaxInt32 }
	mf, df := scale(float64(a.K)), scale(float64(a.J))
	if bad(mf) || bad(df) {
		return Null, errDatetimeOverflow("interval")
	}
	months, days := int64(mf), int64(df)
	extraDays := tsround((mf - float64(months)) * 30)
	secs := tsround((df - float64(days) + extraDays - math.Trunc(extraDays)) * 86400)
	if math.Abs(secs) >= 86400 {
		whole := int64(secs / 86400)
		days += whole
		secs -= float64(whole) * 86400
	}
	days += int64(extraDays)
	us := math.RoundToEven(scale(float64(a.I)) + secs*usPerSecond)
	if math.IsNaN(us) || us < math.MinInt64 || us >= math.MaxInt64 {
		return Null, errDatetimeOverflow("interval")
	}
	return makeInterval(int64(us), days, months)
}

// JustifyHours turns 24-hour stretches into days.
func JustifyHours(a Datum) (Datum, error) {
	days, us := int64(a.J)+a.I/usPerDay, a.I%usPerDay
	if days > 0 && us < 0 {
		us += usPerDay
		days--
	} else if days < 0 && us > 0 {
		us -= usPerDay
		days++
	}
	return makeInterval(us, days, int64(a.K))
}

// JustifyDays turns 30-day stretches into months.
func JustifyDays(a Datum) (Datum, error) {
	months, days := int64(a.K)+int64(a.J)/30, int64(a.J)%30
	if months > 0 && days < 0 {
		days += 30
		months--
	} else if months < 0 && days > 0 {
		days -= 30
		months++
	}
	return makeInterval(a.I, days, months)
}

// JustifyInterval does both and makes all parts have one sign.
func JustifyInterval(a Datum) (Datum, error) {
	us, days, months := a.I, int64(a.J), int64(a.K)
	if days > 0 && us > 0 || days < 0 && us < 0 {
		months += days / 30
		days %= 30
	}
	days += us / usPerDay
	us %= usPerDay
	months += days / 30
	days %= 30
	if months > 0 && (days < 0 || days == 0 && us < 0) {
		days += 30
		months--
	} else if months < 0 && (days > 0 || days == 0 && us > 0) {
		days -= 30
		months++
	}
	if days > 0 && us < 0 {
		us += usPerDay
		days--
	} else if days < 0 && us > 0 {
		us -= usPerDay
		days++
	}
	return makeInterval(us, days, months)
}

// Age is age(a, b): the difference in years, months, days and time. For timestamptz
// both are taken as local times of the session's zone.
func Age(env *Env, oid OID, a, b Datum) (Datum, error) {
	x, y := breakTimestamp(a.I), breakTimestamp(b.I)
	if oid == TimestamptzOID {
		x, y = breakTimestamptz(env.loc(), a.I), breakTimestamptz(env.loc(), b.I)
	}
	neg := a.I < b.I
	if neg {
		x, y = y, x
	}
	years, months, days := x.year-y.year, x.month-y.month, x.day-y.day
	us := x.usOfDay - y.usOfDay
	if us < 0 {
		us += usPerDay
		days--
	}
	// A month is borrowed with the length it has at the earlier end.
	for days < 0 {
		days += daysInMonth(y.year, y.month)
		months--
	}
	for months < 0 {
		months += 12
		years--
	}
	r, err := makeInterval(us, int64(days), int64(years)*12+int64(months))
	if err == nil && neg {
		return IntervalNeg(r)
	}
	return r, err
}

// MakeDate is make_date; negative years are BC.
func MakeDate(y, m, d int) (Datum, error) {
	bad := func() (Datum, error) {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", y, m, d)
	}
	if y == 0 {
		return bad()
	}
	year := y
	if y < 0 {
		year = y + 1
	}
	if m < 1 || m > 12 || d < 1 || d > daysInMonth(year, m) {
		return bad()
	}
	v := int64(math.MaxInt64)
	if y > -5000 && y < 5900000 {
		v = daysFromCivil(year, m, d)
	}
	if v < minDate || v >= endDate {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", year, m, d)
	}
	return Int(v), nil
}

func clockFields(h, m int, sec float64) (int64, bool) {
	if math.IsNaN(sec) || h < 0 || m < 0 || m > 59 || sec < 0 || sec > 60 || h > 24 || h == 24 && (m > 0 || sec > 0) {
		return 0, false
	}
	return int64(h)*usPerHour + int64(m)*usPerMinute + int64(math.RoundToEven(sec*usPerSecond)), true
}

// MakeTime is make_time.
func MakeTime(h, m int, sec float64) (Datum, error) {
	us, ok := clockFields(h, m, sec)
	if !ok {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%02g", h, m, sec)
	}
	return Int(us), nil
}

// MakeTimestamp is make_timestamp.
func MakeTimestamp(y, mo, d, h, m int, sec float64) (Datum, error) {
	date, err := MakeDate(y, mo, d)
	if err != nil {
		return Null, err
	}
	t, err := MakeTime(h, m, sec)
	if err != nil {
		return Null, err
	}
	ts, ok := combine(date.I, t.I)
	if !ok {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range: %d-%02d-%02d %d:%02d:%02g", y, mo, d, h, m, sec)
	}
	return Int(ts), nil
}

// MakeTimestamptz is make_timestamptz in the session's zone, or in zone when it is not empty.
func MakeTimestamptz(env *Env, y, mo, d, h, m int, sec float64, zone string) (Datum, error) {
	local, err := MakeTimestamp(y, mo, d, h, m, sec)
	if err != nil {
		return Null, err
	}
	loc := env.loc()
	if zone != "" {
		if loc, err = zoneByText(zone); err != nil {
			return Null, err
		}
	}
	return stamp(toUTC(loc, local.I))
}

// MakeInterval is make_interval. Like PostgreSQL's it lets the integer fields wrap around and
// refuses only seconds that are no number.
func MakeInterval(years, months, weeks, days, hours, mins int64, secs float64) (Datum, error) {
	if math.IsNaN(secs) || math.IsInf(secs, 0) {
		return Null, errDatetimeOverflow("interval")
	}
	us := math.RoundToEven(secs * usPerSecond)
	t := int64(math.MinInt64) // what a conversion beyond the range gives
	if us >= -(1<<63) && us < 1<<63 {
		t = int64(us)
	}
	t += hours*usPerHour + mins*usPerMinute
	return Interval(t, int32(weeks*7+days), int32(years*12+months)), nil
}

// zoneByText finds the zone of AT TIME ZONE 'text'.
func zoneByText(name string) (*time.Location, error) {
	loc, ok := LoadZone(name)
	if !ok {
		return nil, pgerr.New(pgerr.InvalidParameterValue, `time zone "%s" not recognized`, name)
	}
	return loc, nil
}

// AtTimeZone is timezone(zone, value): a timestamp becomes the timestamptz it is in the
// zone, a timestamptz the local timestamp there, a timetz is moved to the zone.
func AtTimeZone(env *Env, zone string, oid OID, d Datum) (Datum, error) {
	loc, err := zoneByText(zone)
	if err != nil {
		return Null, err
	}
	return atLocation(env, loc, oid, d)
}

// AtInterval is timezone(interval, value).
func AtInterval(env *Env, iv Datum, oid OID, d Datum) (Datum, error) {
	if iv.J != 0 || iv.K != 0 {
		return Null, pgerr.New(pgerr.InvalidParameterValue, `interval time zone "%s" must not include months or days`,
			AppendText(nil, nil, T{IntervalOID, -1}, iv))
	}
	return atLocation(env, time.FixedZone("", int(iv.I/usPerSecond)), oid, d)
}

func atLocation(env *Env, loc *time.Location, oid OID, d Datum) (Datum, error) {
	switch oid {
	case TimestampOID:
		if !finiteTimestamp(d.I) {
			return d, nil
		}
		return stamp(toUTC(loc, d.I))
	case TimestamptzOID:
		if !finiteTimestamp(d.I) {
			return d, nil
		}
		_, off := offsetAt(loc, d.I)
		return stamp(d.I + int64(off)*usPerSecond)
	case TimetzOID:
		now := int64(0)
		if env != nil {
			now = TimestampFromTime(env.Now).I
		}
		_, off := offsetAt(loc, now)
		us := wrapDay(d.I + int64(d.J)*usPerSecond + int64(off)*usPerSecond)
		return Datum{I: us, J: -int32(off), Valid: true}, nil
	}
	return Null, errUnsupported(oid)
}
