package types

import (
	"math"
	"strconv"
	"strings"
)

// ivUnit is what a unit word of an interval counts.
type ivUnit uint8

const (
	unitNone ivUnit = iota
	unitMicro
	unitMilli
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitAgo
	unitIgnored
)

// ivWords are the unit words; longer spellings match by their first ten letters as in PostgreSQL.
var ivWords = map[string]ivUnit{
	"@": unitIgnored, "ago": unitAgo,
	"us": unitMicro, "usec": unitMicro, "usecs": unitMicro, "usecond": unitMicro, "useconds": unitMicro,
	"microsecon": unitMicro, "microsecond": unitMicro, "microseconds": unitMicro,
	"ms": unitMilli, "msec": unitMilli, "msecs": unitMilli, "mseconds": unitMilli, "msecond": unitMilli,
	"millisecon": unitMilli, "millisecond": unitMilli, "milliseconds": unitMilli,
	"s": unitSecond, "sec": unitSecond, "secs": unitSecond, "second": unitSecond, "seconds": unitSecond,
	"m": unitMinute, "min": unitMinute, "mins": unitMinute, "minute": unitMinute, "minutes": unitMinute,
	"h": unitHour, "hr": unitHour, "hrs": unitHour, "hour": unitHour, "hours": unitHour,
	"d": unitDay, "day": unitDay, "days": unitDay,
	"w": unitWeek, "week": unitWeek, "weeks": unitWeek,
	"mon": unitMonth, "mons": unitMonth, "month": unitMonth, "months": unitMonth,
	"qtr": unitQuarter, "quarter": unitQuarter,
	"y": unitYear, "yr": unitYear, "yrs": unitYear, "year": unitYear, "years": unitYear,
	"dec": unitDecade, "decs": unitDecade, "decade": unitDecade, "decades": unitDecade,
	"c": unitCentury, "cent": unitCentury, "century": unitCentury, "centuries": unitCentury,
	"mil": unitMillennium, "mils": unitMillennium, "millennium": unitMillennium, "millennia": unitMillennium,
}

// ivAcc sums an interval with overflow checks.
type ivAcc struct {
	years, months, days, us int64
}

// total is years and months together; false when an interval cannot hold them.
func (a *ivAcc) total() (int64, bool) {
	m := a.years*12 + a.months
	return m, m >= math.MinInt32 && m <= math.MaxInt32
}

func addCheck(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func mulCheck(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	return c, c/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

func (a *ivAcc) addMonths(v, mult int64) bool {
	p, ok := mulCheck(v, mult)
	if !ok {
		return false
	}
	a.months, ok = addCheck(a.months, p)
	return ok && a.months >= math.MinInt32 && a.months <= math.MaxInt32
}

func (a *ivAcc) addYears(v, mult int64) bool {
	p, ok := mulCheck(v, mult)
	if !ok {
		return false
	}
	a.years, ok = addCheck(a.years, p)
	return ok && a.years >= math.MinInt32 && a.years <= math.MaxInt32
}

func (a *ivAcc) addDays(v, mult int64) bool {
	p, ok := mulCheck(v, mult)
	if !ok {
		return false
	}
	a.days, ok = addCheck(a.days, p)
	return ok && a.days >= math.MinInt32 && a.days <= math.MaxInt32
}

func (a *ivAcc) addMicros(v, mult int64) bool {
	p, ok := mulCheck(v, mult)
	if !ok {
		return false
	}
	a.us, ok = addCheck(a.us, p)
	return ok
}

// addFracMicros adds frac units of mult µs, rounded.
func (a *ivAcc) addFracMicros(frac float64, mult int64) bool {
	if frac == 0 {
		return true
	}
	f := math.RoundToEven(frac * float64(mult))
	if f >= math.MaxInt64 || f <= math.MinInt64 {
		return false
	}
	return a.addMicros(int64(f), 1)
}

// addFracDays adds frac·scale days: whole days, the rest as time.
func (a *ivAcc) addFracDays(frac float64, scale int64) bool {
	if frac == 0 {
		return true
	}
	frac *= float64(scale)
	whole := int64(frac)
	return a.addDays(whole, 1) && a.addFracMicros(frac-float64(whole), usPerDay)
}

// add counts val+frac units.
func (a *ivAcc) add(u ivUnit, val int64, frac float64) bool {
	years := func(n int64) bool {
		return a.addYears(val, n) && a.addMonths(int64(math.RoundToEven(frac*float64(12*n))), 1)
	}
	switch u {
	case unitMicro:
		return a.addMicros(val, 1) && a.addFracMicros(frac, 1)
	case unitMilli:
		return a.addMicros(val, 1000) && a.addFracMicros(frac, 1000)
	case unitSecond:
		return a.addMicros(val, usPerSecond) && a.addFracMicros(frac, usPerSecond)
	case unitMinute:
		return a.addMicros(val, usPerMinute) && a.addFracMicros(frac, usPerMinute)
	case unitHour:
		return a.addMicros(val, usPerHour) && a.addFracMicros(frac, usPerHour)
	case unitDay:
		return a.addDays(val, 1) && a.addFracMicros(frac, usPerDay)
	case unitWeek:
		return a.addDays(val, 7) && a.addFracDays(frac, 7)
	case unitMonth:
		return a.addMonths(val, 1) && a.addFracDays(frac, 30)
	case unitYear:
		return years(1)
	case unitDecade:
		return years(10)
	case unitCentury:
		return years(100)
	case unitMillennium:
		return years(1000)
	}
	return false
}

// unitBit marks a unit as seen; a second amount for one of these is refused.
func unitBit(u ivUnit) uint32 { return 1 << u }

// decodeInterval reads an interval literal of PostgreSQL's or SQL's form.
func decodeInterval(env *Env, s []byte, rng int32) (ivAcc, dtFailure) {
	var a ivAcc
	fields, f := splitFields(s)
	if f != dtOK {
		return a, f
	}
	// In the SQL style a leading minus covers every field that has no sign of its own.
	forceNeg := false
	if env.orDefault().IntervalStyle == IntervalSQLStandard && fields[0].text[0] == '-' {
		forceNeg = true
		for _, g := range fields[1:] {
			if g.text[0] == '-' || g.text[0] == '+' {
				forceNeg = false
			}
		}
	}
	unit := unitNone
	seen := uint32(0)
	any, ago := false, false
	mark := func(u ivUnit) bool {
		b := unitBit(u)
		if seen&b != 0 {
			return false
		}
		seen |= b
		any = true
		return true
	}
	for i := len(fields) - 1; i >= 0; i-- {
		fld := fields[i]
		text := fld.text
		switch fld.kind {
		case dtClock, dtSigned:
			if fld.kind == dtSigned && strings.IndexByte(text, ':') < 0 {
				if f := a.number(text, &unit, rng, forceNeg, mark); f != dtOK {
					return a, f
				}
				continue
			}
			neg := forceNeg
			if text[0] == '-' || text[0] == '+' {
				neg = text[0] == '-'
				text = text[1:]
			}
			us, f := intervalClock(text, rng)
			if f != dtOK {
				return a, f
			}
			if !mark(unitHour) || !mark(unitMinute) || !mark(unitSecond) {
				return a, dtBadFormat
			}
			if neg {
				us = -us
			}
			if !a.addMicros(us, 1) {
				return a, dtIntervalOverflow
			}
			unit = unitDay // what stands to the left of a time counts days
		case dtDate, dtNumber:
			if f := a.number(text, &unit, rng, forceNeg, mark); f != dtOK {
				return a, f
			}
		case dtWord:
			if len(text) > 10 {
				if _, ok := ivWords[text]; !ok {
					text = text[:10]
				}
			}
			u, ok := ivWords[text]
			if !ok || u == unitQuarter {
				return a, dtBadFormat
			}
			if u == unitAgo {
				ago = true
				unit = unitAgo
				continue
			}
			unit = u
		default:
			return a, dtBadFormat
		}
	}
	if !any {
		return a, dtBadFormat
	}
	if ago {
		if a.us == math.MinInt64 || a.days == math.MinInt32 || a.months == math.MinInt32 || a.years == math.MinInt32 {
			return a, dtFieldOverflow
		}
		a.us, a.days, a.months, a.years = -a.us, -a.days, -a.months, -a.years
	}
	return a, dtOK
}

// number takes an amount; without a unit word after it the modifier's fields decide.
func (a *ivAcc) number(text string, unit *ivUnit, rng int32, forceNeg bool, mark func(ivUnit) bool) dtFailure {
	u := *unit
	if u == unitNone || u == unitAgo {
		u = rangeUnit(rng)
	}
	if u == unitIgnored {
		return dtBadFormat
	}
	neg := false
	body := text
	if body[0] == '-' || body[0] == '+' {
		neg = body[0] == '-'
		body = body[1:]
	}
	end := 0
	for end < len(body) && isDigit(body[end]) {
		end++
	}
	var val int64
	var err error
	if end > 0 {
		num := body[:end]
		if neg {
			num = "-" + num
		}
		if val, err = strconv.ParseInt(num, 10, 64); err != nil {
			return dtFieldOverflow
		}
	} else if len(body) == 0 || body[0] != '.' {
		return dtBadFormat
	}
	frac := 0.0
	switch rest := body[end:]; {
	case rest == "":
	case rest[0] == '-':
		// years-months
		m, err := strconv.ParseInt(rest[1:], 10, 64)
		if err != nil {
			return dtBadFormat
		}
		if m < 0 || m >= 12 {
			return dtFieldOverflow
		}
		if neg || text[0] == '-' {
			m = -m
		}
		u = unitMonth
		y, ok := mulCheck(val, 12)
		if !ok {
			return dtFieldOverflow
		}
		if val, ok = addCheck(y, m); !ok {
			return dtFieldOverflow
		}
	case rest[0] == '.':
		if strings.Trim(rest[1:], "0123456789") != "" {
			return dtBadFormat
		}
		if len(rest) > 1 {
			if frac, err = strconv.ParseFloat("0"+rest, 64); err != nil {
				return dtBadFormat
			}
		}
		if neg {
			frac = -frac
		}
	default:
		return dtBadFormat
	}
	if forceNeg && val >= 0 && frac >= 0 {
		val, frac = -val, -frac
	}
	if !a.add(u, val, frac) {
		return dtFieldOverflow
	}
	if !mark(u) {
		return dtBadFormat
	}
	*unit = u
	return dtOK
}

// rangeUnit is what a bare number counts under an interval modifier's fields.
func rangeUnit(rng int32) ivUnit {
	switch rng {
	case maskYear:
		return unitYear
	case maskMonth, maskYear | maskMonth:
		return unitMonth
	case maskDay:
		return unitDay
	case maskHour, maskDay | maskHour:
		return unitHour
	case maskMinute, maskHour | maskMinute, maskDay | maskHour | maskMinute:
		return unitMinute
	}
	return unitSecond
}

// intervalClock reads h:m[:s] of an interval; two parts under MINUTE TO SECOND are m:s.
func intervalClock(text string, rng int32) (int64, dtFailure) {
	h, m, s, us, f := parseClock(text)
	if f != dtOK {
		if f == dtFieldOverflow && strings.Trim(text, "0123456789:.") == "" {
			return 0, dtFieldOverflow
		}
		return 0, f
	}
	if strings.Count(text, ":") == 1 && strings.IndexByte(text, '.') < 0 && rng == maskMinute|maskSecond {
		if h > 59 {
			return 0, dtFieldOverflow
		}
		h, m, s = 0, int(h), m
	}
	var a ivAcc
	if !a.addMicros(h, usPerHour) || !a.addMicros(int64(m)*usPerMinute+int64(s)*usPerSecond+int64(us), 1) {
		return 0, dtFieldOverflow
	}
	return a.us, dtOK
}

// decodeISOInterval reads P1Y2M3DT4H5M6S, P2W and the alternative P0001-02-03T04:05:06.
func decodeISOInterval(s string) (ivAcc, dtFailure) {
	var a ivAcc
	if len(s) < 2 || s[0] != 'P' {
		return a, dtBadFormat
	}
	s = s[1:]
	date, seenAny := true, false
	for len(s) > 0 {
		if s[0] == 'T' {
			date, seenAny = false, false
			s = s[1:]
			continue
		}
		val, frac, rest, ok := isoNumber(s)
		if !ok {
			return a, dtBadFormat
		}
		unit := byte(0)
		if len(rest) > 0 {
			unit = rest[0]
			if unit != 'T' && isAlpha(unit) {
				rest = rest[1:]
			}
		}
		good := true
		if date {
			switch unit {
			case 'Y':
				good = a.add(unitYear, val, frac)
			case 'M':
				good = a.add(unitMonth, val, frac)
			case 'W':
				good = a.add(unitWeek, val, frac)
			case 'D':
				good = a.add(unitDay, val, frac)
			case 'T', 0, '-':
				return isoAlternative(a, s, seenAny)
			default:
				return a, dtBadFormat
			}
		} else {
			switch unit {
			case 'H':
				good = a.add(unitHour, val, frac)
			case 'M':
				good = a.add(unitMinute, val, frac)
			case 'S':
				good = a.add(unitSecond, val, frac)
			case 0, ':':
				if seenAny {
					return a, dtBadFormat
				}
				f := isoClock(&a, s)
				return a, f
			default:
				return a, dtBadFormat
			}
		}
		if !good {
			return a, dtFieldOverflow
		}
		seenAny = true
		s = rest
	}
	return a, dtOK
}

// isoNumber reads a signed decimal and answers its parts and what follows.
func isoNumber(s string) (val int64, frac float64, rest string, ok bool) {
	i := 0
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	from := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	end := i
	if i < len(s) && s[i] == '.' {
		i++
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if end == from && i <= end+1 {
		return 0, 0, s, false
	}
	if end > from {
		v, err := strconv.ParseInt(s[from:end], 10, 64)
		if err != nil {
			return 0, 0, s, false
		}
		val = v
	}
	if i > end+1 {
		f, err := strconv.ParseFloat("0"+s[end:i], 64)
		if err != nil {
			return 0, 0, s, false
		}
		frac = f
	}
	if neg {
		val, frac = -val, -frac
	}
	return val, frac, s[i:], true
}

// isoAlternative reads yyyy-mm-dd or yyyymmdd, and a time after T.
func isoAlternative(a ivAcc, s string, seen bool) (ivAcc, dtFailure) {
	if seen {
		return a, dtBadFormat
	}
	date, clock, hasClock := strings.Cut(s, "T")
	if len(date) == 8 && strings.Trim(date, "0123456789") == "" {
		date = date[:4] + "-" + date[4:6] + "-" + date[6:]
	}
	for i, u := range [...]ivUnit{unitYear, unitMonth, unitDay} {
		if date == "" {
			if i == 0 {
				return a, dtBadFormat
			}
			break
		}
		val, frac, rest, ok := isoNumber(date)
		if !ok || !a.add(u, val, frac) {
			return a, dtBadFormat
		}
		if rest != "" {
			if rest[0] != '-' || i == 2 {
				return a, dtBadFormat
			}
			rest = rest[1:]
		}
		date = rest
	}
	if hasClock {
		return a, isoClock(&a, clock)
	}
	return a, dtOK
}

// isoClock reads hh:mm:ss or hhmmss.
func isoClock(a *ivAcc, s string) dtFailure {
	if len(s) == 6 && strings.Trim(s, "0123456789") == "" {
		s = s[:2] + ":" + s[2:4] + ":" + s[4:]
	}
	for i, u := range [...]ivUnit{unitHour, unitMinute, unitSecond} {
		if s == "" {
			if i == 0 {
				return dtBadFormat
			}
			return dtOK
		}
		val, frac, rest, ok := isoNumber(s)
		if !ok || !a.add(u, val, frac) {
			return dtBadFormat
		}
		if rest != "" {
			if rest[0] != ':' || i == 2 {
				return dtBadFormat
			}
			rest = rest[1:]
		}
		s = rest
	}
	return dtOK
}

func intervalInput(env *Env, s []byte, mod int32) (Datum, error) {
	rng, _ := splitIntervalTypmod(mod)
	a, f := decodeInterval(env, s, rng)
	if f == dtBadFormat {
		if b, g := decodeISOInterval(string(trimSpace(s))); g != dtBadFormat {
			a, f = b, g
		}
	}
	if f == dtFieldOverflow {
		f = dtIntervalOverflow
	}
	if f != dtOK {
		return Null, f.err("interval", s)
	}
	months, ok := a.total()
	if !ok {
		return Null, errDatetimeOverflow("interval")
	}
	return applyIntervalTypmod(Datum{I: a.us, J: int32(a.days), K: int32(months), Valid: true}, mod), nil
}

// applyIntervalTypmod drops the fields below the modifier's last one and rounds seconds.
func applyIntervalTypmod(d Datum, mod int32) Datum {
	if mod < 0 {
		return d
	}
	rng, prec := splitIntervalTypmod(mod)
	switch rng {
	case maskYear:
		d.K, d.J, d.I = d.K/12*12, 0, 0
	case maskMonth, maskYear | maskMonth:
		d.J, d.I = 0, 0
	case maskDay:
		d.I = 0
	case maskHour, maskDay | maskHour:
		d.I = d.I / usPerHour * usPerHour
	case maskMinute, maskDay | maskHour | maskMinute, maskHour | maskMinute:
		d.I = d.I / usPerMinute * usPerMinute
	}
	if prec >= 0 {
		d.I = roundTime(d.I, int32(prec))
	}
	return d
}

// intervalSpan is the normalised length: 30-day months, 24-hour days, as hi·2^64+lo µs.
func intervalSpan(d Datum) (hi int64, lo uint64) {
	days := int64(d.K)*30 + int64(d.J)
	return addMul128(d.I, days, usPerDay)
}

// addMul128 is a + b·m in 128 bits.
func addMul128(a, b, m int64) (int64, uint64) {
	hi, lo := mul128(b, m)
	sum := lo + uint64(a)
	carry := int64(0)
	if sum < lo {
		carry = 1
	}
	return hi + a>>63 + carry, sum
}
