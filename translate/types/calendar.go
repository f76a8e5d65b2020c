package types

import (
	"math"
	"time"
)

// Ranges of the date and time types. Days and microseconds count from 2000-01-01.
const (
	dateInfinity    = math.MaxInt32
	dateNegInfinity = math.MinInt32
	tsInfinity      = math.MaxInt64
	tsNegInfinity   = math.MinInt64

	minDate      = -2451545   // 4714-11-24 BC, Julian day 0
	endDate      = 2145031949 // 5874898-01-01
	minTimestamp = -211813488000000000
	endTimestamp = 9223371331200000000

	usPerSecond = 1000000
	usPerMinute = 60 * usPerSecond
	usPerHour   = 3600 * usPerSecond
	usPerDay    = 86400 * usPerSecond

	epochJulian  = 2451545 // Julian day of 2000-01-01
	unixEpochDay = -10957  // 1970-01-01
	unixDelta    = 946684800
	maxZone      = 16 * 3600 // zone displacements stay below this many seconds
)

// daysFromCivil counts days from 2000-01-01 in the proleptic Gregorian calendar. Year
// 0 is 1 BC. Months outside 1–12 carry into the year.
func daysFromCivil(y, m, d int) int64 {
	y += floorDiv(m-1, 12)
	m = (m-1)%12 + 1
	if m <= 0 {
		m += 12
	}
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int64(era)*146097 + int64(doe) - 730425
}

// civilFromDays is the inverse of daysFromCivil.
func civilFromDays(days int64) (y, m, d int) {
	z := days + 730425
	era := z / 146097
	if z < 0 && z%146097 != 0 {
		era--
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp + 3)
	y = int(yoe + era*400)
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

var monthDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysInMonth(y, m int) int {
	if m == 2 && isLeap(y) {
		return 29
	}
	return monthDays[m-1]
}

// splitTimestamp is floor division into days and microseconds of the day.
func splitTimestamp(ts int64) (days, us int64) {
	days = ts / usPerDay
	us = ts % usPerDay
	if us < 0 {
		us += usPerDay
		days--
	}
	return days, us
}

// civil is a broken-down local time.
type civil struct {
	year, month, day int // year 0 is 1 BC
	hour, min, sec   int
	us               int
	offset           int    // seconds east of UTC, for timestamptz
	zone             string // abbreviation, for timestamptz
	days, usOfDay    int64
	weekday, yearDay int
}

func breakTimestamp(ts int64) civil { return breakShifted(ts, 0) }

// breakShifted breaks down ts moved east by so many seconds; it cannot overflow.
func breakShifted(ts int64, east int) civil {
	var c civil
	c.days, c.usOfDay = splitTimestamp(ts)
	c.usOfDay += int64(east) * usPerSecond
	carry := floorDiv64(c.usOfDay, usPerDay)
	c.days += carry
	c.usOfDay -= carry * usPerDay
	c.year, c.month, c.day = civilFromDays(c.days)
	t := c.usOfDay
	c.us = int(t % usPerSecond)
	t /= usPerSecond
	c.sec = int(t % 60)
	c.min = int(t / 60 % 60)
	c.hour = int(t / 3600)
	c.weekday = int(((c.days+6)%7 + 7) % 7) // 2000-01-01 was a Saturday; 0 is Sunday
	c.yearDay = int(c.days-daysFromCivil(c.year, 1, 1)) + 1
	return c
}

// offsetAt is the zone's displacement, seconds east, at a UTC timestamp.
func offsetAt(loc *time.Location, ts int64) (name string, offset int) {
	if loc == time.UTC {
		return "UTC", 0
	}
	return time.Unix(floorDiv64(ts, usPerSecond)+unixDelta, 0).In(loc).Zone()
}

func floorDiv64(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func breakTimestamptz(loc *time.Location, ts int64) civil {
	name, off := offsetAt(loc, ts)
	c := breakShifted(ts, off)
	c.offset, c.zone = off, name
	return c
}

// localOffset is the displacement that applies to a local time. A time that a forward
// jump skips is read with the offset before the jump, a repeated one with the offset
// after it.
func localOffset(loc *time.Location, local int64) int {
	if loc == time.UTC {
		return 0
	}
	sec := floorDiv64(local, usPerSecond) + unixDelta
	prev := time.Unix(sec-86400, 0).In(loc)
	_, before := prev.Zone()
	_, end := prev.ZoneBounds()
	if end.IsZero() {
		return before
	}
	boundary := end.Unix()
	_, after := end.Zone()
	beforeTime, afterTime := sec-int64(before), sec-int64(after)
	switch {
	case beforeTime < boundary && afterTime < boundary:
		return before
	case beforeTime >= boundary && afterTime >= boundary:
		return after
	case beforeTime > afterTime:
		return before
	}
	return after
}

// toUTC turns a local timestamp into a UTC one in the zone.
func toUTC(loc *time.Location, local int64) int64 {
	return local - int64(localOffset(loc, local))*usPerSecond
}

func timestampInRange(ts int64) bool { return ts >= minTimestamp && ts < endTimestamp }

func finiteTimestamp(ts int64) bool { return ts != tsInfinity && ts != tsNegInfinity }

func finiteDate(d int64) bool { return d != dateInfinity && d != dateNegInfinity }

// combine makes a timestamp of days and microseconds, false when out of range.
func combine(days, us int64) (int64, bool) {
	if days < minDate || days > endTimestamp/usPerDay {
		return 0, false
	}
	ts := days*usPerDay + us
	return ts, timestampInRange(ts)
}

// TimestampFromTime makes a timestamptz (UTC) from a Go time, cut to microseconds.
func TimestampFromTime(t time.Time) Datum {
	return Int((t.Unix()-unixDelta)*usPerSecond + int64(t.Nanosecond()/1000))
}

// TimestampToTime is the Go time of a finite timestamptz.
func TimestampToTime(d Datum) time.Time {
	sec := floorDiv64(d.I, usPerSecond)
	return time.Unix(sec+unixDelta, (d.I-sec*usPerSecond)*1000).UTC()
}

// roundTime rounds microseconds to p decimal places of a second, half away from zero.
func roundTime(us int64, mod int32) int64 {
	if mod < 0 || mod >= 6 {
		return us
	}
	unit := int64(1)
	for i := mod; i < 6; i++ {
		unit *= 10
	}
	if us >= 0 {
		return (us + unit/2) / unit * unit
	}
	return -((-us + unit/2) / unit * unit)
}

func roundTimestamp(ts int64, mod int32) int64 {
	if !finiteTimestamp(ts) {
		return ts
	}
	return roundTime(ts, mod)
}
