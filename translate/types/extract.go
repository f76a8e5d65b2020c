package types

import (
	"math/big"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// dateField is a field of date_trunc and extract.
type dateField uint8

const (
	fieldUnknown dateField = iota
	fieldMicros
	fieldMillis
	fieldSecond
	fieldMinute
	fieldHour
	fieldDay
	fieldWeek
	fieldMonth
	fieldQuarter
	fieldYear
	fieldDecade
	fieldCentury
	fieldMillennium
	fieldDow
	fieldIsoDow
	fieldDoy
	fieldIsoYear
	fieldJulian
	fieldEpoch
	fieldZone
	fieldZoneHour
	fieldZoneMinute
)

var dateFields = map[string]dateField{
	"dow": fieldDow, "isodow": fieldIsoDow, "doy": fieldDoy, "isoyear": fieldIsoYear, "julian": fieldJulian, "jd": fieldJulian, "j": fieldJulian,
	"epoch": fieldEpoch, "timezone": fieldZone, "timezone_h": fieldZoneHour, "timezone_hour": fieldZoneHour,
	"timezone_m": fieldZoneMinute, "timezone_minute": fieldZoneMinute, "qtr": fieldQuarter, "quarter": fieldQuarter,
}

func fieldByName(name string) dateField {
	name = strings.ToLower(name)
	if f, ok := dateFields[name]; ok {
		return f
	}
	u, ok := ivWords[name]
	if !ok && len(name) > 10 {
		u = ivWords[name[:10]]
	}
	switch u {
	case unitMicro:
		return fieldMicros
	case unitMilli:
		return fieldMillis
	case unitSecond:
		return fieldSecond
	case unitMinute:
		return fieldMinute
	case unitHour:
		return fieldHour
	case unitDay:
		return fieldDay
	case unitWeek:
		return fieldWeek
	case unitMonth:
		return fieldMonth
	case unitYear:
		return fieldYear
	case unitDecade:
		return fieldDecade
	case unitCentury:
		return fieldCentury
	case unitMillennium:
		return fieldMillennium
	}
	return fieldUnknown
}

func errField(name string, f dateField, oid OID) error {
	name = strings.ToLower(name)
	if f == fieldUnknown {
		return pgerr.New(pgerr.InvalidParameterValue, `unit "%s" not recognized for type %s`, name, TypeName(oid))
	}
	return pgerr.New(pgerr.FeatureNotSupported, `unit "%s" not supported for type %s`, name, TypeName(oid))
}

// isoWeek answers the ISO 8601 year and week of a day.
func isoWeek(days int64) (year, week int) {
	monday := func(y int) int64 {
		jan4 := daysFromCivil(y, 1, 4)
		return jan4 - weekdayFromMonday(jan4)
	}
	y, _, _ := civilFromDays(days)
	start := monday(y)
	if days < start {
		y--
		start = monday(y)
	} else if next := monday(y + 1); days >= next {
		y++
		start = next
	}
	return y, int((days-start)/7) + 1
}

// weekdayFromMonday is 0 for a Monday.
func weekdayFromMonday(days int64) int64 { return ((days+5)%7 + 7) % 7 }

// floorTo rounds a year down to the first of a run of n years that start at 1.
func floorTo(y, n int) int { return floorDiv(y-1, n)*n + 1 }

// truncCivil cuts a local timestamp to a field.
func truncCivil(f dateField, ts int64) (int64, bool) {
	c := breakTimestamp(ts)
	day := func(y, m, d int) (int64, bool) { return combine(daysFromCivil(y, m, d), 0) }
	switch f {
	case fieldMicros:
		return ts, true
	case fieldMillis:
		return ts - int64(c.us%1000), true
	case fieldSecond:
		return ts - int64(c.us), true
	case fieldMinute:
		return ts - c.usOfDay%usPerMinute, true
	case fieldHour:
		return ts - c.usOfDay%usPerHour, true
	case fieldDay:
		return ts - c.usOfDay, true
	case fieldWeek:
		return combine(c.days-weekdayFromMonday(c.days), 0)
	case fieldMonth:
		return day(c.year, c.month, 1)
	case fieldQuarter:
		return day(c.year, (c.month-1)/3*3+1, 1)
	case fieldYear:
		return day(c.year, 1, 1)
	case fieldDecade:
		return day(floorDiv(c.year, 10)*10, 1, 1)
	case fieldCentury:
		return day(floorTo(c.year, 100), 1, 1)
	case fieldMillennium:
		return day(floorTo(c.year, 1000), 1, 1)
	}
	return 0, false
}

// DateTrunc is date_trunc(field, value) for timestamp, timestamptz and interval.
func DateTrunc(env *Env, field string, oid OID, d Datum) (Datum, error) {
	return dateTruncAt(env.loc(), field, oid, d)
}

// DateTruncZone is date_trunc(field, timestamptz, zone).
func DateTruncZone(field string, d Datum, zone string) (Datum, error) {
	loc, err := zoneByText(zone)
	if err != nil {
		return Null, err
	}
	return dateTruncAt(loc, field, TimestamptzOID, d)
}

func dateTruncAt(loc *time.Location, field string, oid OID, d Datum) (Datum, error) {
	if oid != IntervalOID && !finiteTimestamp(d.I) {
		return d, nil
	}
	f := fieldByName(field)
	switch f {
	case fieldDow, fieldIsoDow, fieldDoy, fieldIsoYear, fieldJulian, fieldEpoch:
		return Null, errField(field, fieldUnknown, oid)
	case fieldUnknown, fieldZone, fieldZoneHour, fieldZoneMinute:
		return Null, errField(field, f, oid)
	}
	switch oid {
	case TimestampOID, TimestamptzOID:
		off := 0
		if oid == TimestamptzOID {
			_, off = offsetAt(loc, d.I)
		}
		ts, ok := truncCivil(f, d.I+int64(off)*usPerSecond)
		if !ok {
			return Null, errDatetimeOverflow("timestamp")
		}
		if oid == TimestamptzOID {
			if f >= fieldDay {
				off = localOffset(loc, ts) // the zone may stand differently on that day
			}
			ts -= int64(off) * usPerSecond
		}
		return stamp(ts)
	case IntervalOID:
		return truncInterval(field, f, d)
	}
	return Null, errUnsupported(oid)
}

func truncInterval(name string, f dateField, d Datum) (Datum, error) {
	months := func(n int32) { d.K, d.J, d.I = d.K/n*n, 0, 0 }
	unit := func(n int64) { d.I = d.I / n * n }
	switch f {
	case fieldMicros:
	case fieldMillis:
		unit(1000)
	case fieldSecond:
		unit(usPerSecond)
	case fieldMinute:
		unit(usPerMinute)
	case fieldHour:
		unit(usPerHour)
	case fieldDay:
		d.I = 0
	case fieldMonth:
		months(1)
	case fieldQuarter:
		months(3)
	case fieldYear:
		months(12)
	case fieldDecade:
		months(120)
	case fieldCentury:
		months(1200)
	case fieldMillennium:
		months(12000)
	default:
		e := pgerr.As(errField(name, f, IntervalOID))
		if f == fieldWeek {
			e = e.WithDetail("Months usually have fractional weeks.")
		}
		return Null, e
	}
	return d, nil
}

// scaled is v / 10^scale as numeric.
func scaled(v int64, scale int) Datum {
	d, _ := NumericFromBig(big.NewInt(v), scale)
	return d
}

// Extract is extract(field from value) for date, time, timetz, timestamp, timestamptz
// and interval: a numeric, NULL for a field that an infinite value does not have.
func Extract(env *Env, field string, oid OID, d Datum) (Datum, error) {
	f := fieldByName(field)
	if f == fieldUnknown {
		return Null, errField(field, f, oid)
	}
	var v Datum
	ok := false
	switch oid {
	case DateOID:
		if !finiteDate(d.I) {
			return extractInfinite(field, f, oid, d.I > 0)
		}
		if f >= fieldDay && f <= fieldEpoch {
			c := breakTimestamp(0)
			c.days = d.I
			c.year, c.month, c.day = civilFromDays(d.I)
			c.weekday = int(((d.I+6)%7 + 7) % 7)
			c.yearDay = int(d.I-daysFromCivil(c.year, 1, 1)) + 1
			switch f {
			case fieldJulian:
				v, ok = NumericFromInt64(d.I+epochJulian), true
			case fieldEpoch:
				v, ok = NumericFromInt64((d.I-unixEpochDay)*86400), true
			default:
				v, ok = c.extract(f)
			}
		}
	case TimestampOID, TimestamptzOID:
		if !finiteTimestamp(d.I) {
			return extractInfinite(field, f, oid, d.I > 0)
		}
		if f == fieldEpoch {
			return numericSum(scaled(d.I, 6), NumericFromInt64(unixDelta))
		}
		c := breakTimestamp(d.I)
		if oid == TimestamptzOID {
			c = breakTimestamptz(env.loc(), d.I)
		}
		switch f {
		case fieldZone, fieldZoneHour, fieldZoneMinute:
			if oid == TimestamptzOID {
				v, ok = extractZone(f, c.offset), true
			}
		case fieldJulian:
			frac, err := NumericDiv(NumericFromInt64(c.usOfDay), NumericFromInt64(usPerDay))
			if err != nil {
				return Null, err
			}
			return NumericAdd(NumericFromInt64(c.days+epochJulian), frac)
		default:
			v, ok = c.extract(f)
		}
	case TimeOID, TimetzOID:
		if v, ok = extractClock(f, d.I); !ok {
			switch f {
			case fieldEpoch:
				us := d.I
				if oid == TimetzOID {
					us += int64(d.J) * usPerSecond
				}
				v, ok = scaled(us, 6), true
			case fieldZone, fieldZoneHour, fieldZoneMinute:
				if oid == TimetzOID {
					v, ok = extractZone(f, -int(d.J)), true
				}
			}
		}
	case IntervalOID:
		v, ok = extractInterval(f, d)
	default:
		return Null, errUnsupported(oid)
	}
	if !ok {
		return Null, errField(field, f, oid)
	}
	return v, nil
}

func numericSum(a, b Datum) (Datum, error) { return NumericAdd(a, b) }

func extractZone(f dateField, east int) Datum {
	switch f {
	case fieldZoneHour:
		return NumericFromInt64(int64(east / 3600))
	case fieldZoneMinute:
		return NumericFromInt64(int64(east / 60 % 60))
	}
	return NumericFromInt64(int64(east))
}

func extractClock(f dateField, us int64) (Datum, bool) {
	switch f {
	case fieldMicros:
		return NumericFromInt64(us % usPerMinute), true
	case fieldMillis:
		return scaled(us%usPerMinute, 3), true
	case fieldSecond:
		return scaled(us%usPerMinute, 6), true
	case fieldMinute:
		return NumericFromInt64(us / usPerMinute % 60), true
	case fieldHour:
		return NumericFromInt64(us / usPerHour), true
	}
	return Null, false
}

func (c *civil) extract(f dateField) (Datum, bool) {
	if d, ok := extractClock(f, c.usOfDay); ok {
		return d, true
	}
	v := 0
	bc := func(y int) int { // there is no year 0
		if y > 0 {
			return y
		}
		return y - 1
	}
	switch f {
	case fieldDay:
		v = c.day
	case fieldMonth:
		v = c.month
	case fieldQuarter:
		v = (c.month-1)/3 + 1
	case fieldWeek:
		_, v = isoWeek(c.days)
	case fieldIsoYear:
		y, _ := isoWeek(c.days)
		v = bc(y)
	case fieldYear:
		v = bc(c.year)
	case fieldDecade:
		v = floorDiv(c.year, 10)
	case fieldCentury:
		v = runOf(c.year, 100)
	case fieldMillennium:
		v = runOf(c.year, 1000)
	case fieldDow:
		v = c.weekday
	case fieldIsoDow:
		if v = c.weekday; v == 0 {
			v = 7
		}
	case fieldDoy:
		v = c.yearDay
	default:
		return Null, false
	}
	return NumericFromInt64(int64(v)), true
}

// runOf numbers centuries and millennia: 1 to n are the first, before it −1.
func runOf(y, n int) int {
	if y > 0 {
		return (y + n - 1) / n
	}
	return -((n - 1 - (y - 1)) / n)
}

func extractInfinite(name string, f dateField, oid OID, positive bool) (Datum, error) {
	switch f {
	case fieldYear, fieldDecade, fieldCentury, fieldMillennium, fieldJulian, fieldIsoYear, fieldEpoch:
		if positive {
			return infinity(1), nil
		}
		return infinity(-1), nil
	case fieldZone, fieldZoneHour, fieldZoneMinute:
		if oid != DateOID {
			return Null, nil
		}
		return Null, errField(name, f, oid)
	case fieldMicros, fieldMillis, fieldSecond, fieldMinute, fieldHour:
		if oid == DateOID {
			return Null, errField(name, f, oid)
		}
	}
	return Null, nil
}

func extractInterval(f dateField, d Datum) (Datum, bool) {
	p := breakInterval(d)
	var v int64
	switch f {
	case fieldMicros:
		v = p.sec*usPerSecond + p.us
	case fieldMillis:
		return scaled(p.sec*usPerSecond+p.us, 3), true
	case fieldSecond:
		return scaled(p.sec*usPerSecond+p.us, 6), true
	case fieldMinute:
		v = p.min
	case fieldHour:
		v = p.hour
	case fieldDay:
		v = p.day
	case fieldMonth:
		v = p.mon
	case fieldQuarter:
		v = p.mon/3 + 1
	case fieldYear:
		v = p.year
	case fieldDecade:
		v = p.year / 10
	case fieldCentury:
		v = p.year / 100
	case fieldMillennium:
		v = p.year / 1000
	case fieldEpoch:
		// Years count 365.25 days, the months beyond them 30.
		secs := big.NewInt(int64(d.K/12) * 31557600)
		secs.Add(secs, big.NewInt(int64(d.K%12)*30*86400+int64(d.J)*86400))
		secs.Mul(secs, big.NewInt(usPerSecond))
		secs.Add(secs, big.NewInt(d.I))
		r, err := NumericFromBig(secs, 6)
		return r, err == nil
	default:
		return Null, false
	}
	return NumericFromInt64(v), true
}

// DatePart is date_part(field, value): extract as float8.
func DatePart(env *Env, field string, oid OID, d Datum) (Datum, error) {
	if oid == IntervalOID && fieldByName(field) == fieldEpoch {
		f := float64(d.I) / usPerSecond
		f += 365.25 * 86400 * float64(d.K/12)
		f += 30 * 86400 * float64(d.K%12)
		return Float8(f + 86400*float64(d.J)), nil
	}
	v, err := Extract(env, field, oid, d)
	if err != nil || !v.Valid {
		return v, err
	}
	f, err := NumericToFloat64(v)
	return Float8(f), err
}
