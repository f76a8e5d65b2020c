package types

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

const (
	haveYear = 1 << iota
	haveMonth
	haveDay
	haveDOY
	haveDate = haveYear | haveMonth | haveDay
)

// dtState collects what the fields of a literal say.
type dtState struct {
	env            *Env
	have           int
	year           int
	month, day     int
	hour, min, sec int
	us             int
	clock          bool
	twoDigit, era  bool
	bc             bool
	textMonth      bool
	meridiem       int // 0 none, 1 am, 2 pm
	special        int
	zoned          bool
	east           int            // with zoned and no loc
	loc            *time.Location // a zone by full name
	prefix         int            // 'j' or 't' just seen
	fullDateBySpec bool
	zoneErr        error
	yearDay        int
	julian         bool
	julianDays     int64
}

// decodeDateTime reads the fields of a date, time or timestamp literal.
func decodeDateTime(env *Env, s []byte) (*dtState, dtFailure) {
	fields, f := splitFields(s)
	if f != dtOK {
		return nil, f
	}
	st := &dtState{env: env.orDefault()}
	for i := range fields {
		var next *dtField
		if i+1 < len(fields) {
			next = &fields[i+1]
		}
		if f := st.field(&fields[i], next); f != dtOK {
			return st, f
		}
		if st.zoneErr != nil {
			return st, dtBadFormat
		}
	}
	if st.prefix != 0 {
		return st, dtBadFormat
	}
	return st, st.finish()
}

func (st *dtState) field(f, next *dtField) dtFailure {
	if st.prefix != 0 && f.kind != dtClock {
		return st.prefixed(f)
	}
	switch f.kind {
	case dtClock:
		st.prefix = 0
		return st.clockField(f.text)
	case dtDate:
		if !isDigit(f.text[0]) && !(st.have == 0 && looksLikeTextDate(f.text)) {
			return st.zoneName(f.text)
		}
		if st.have&haveDate == haveDate {
			// A date is known: digits here can only be a run-together time with a zone.
			if at := strings.IndexByte(f.text, '-'); at > 0 && !st.clock && isDigit(f.text[0]) {
				if r := st.runTogether(f.text[:at]); r != dtOK {
					return r
				}
				return st.zoneOffset(f.text[at:])
			}
			return dtBadFormat
		}
		return st.dateField(f.text)
	case dtNumber:
		return st.number(f.text)
	case dtSigned:
		return st.zoneOffset(f.text)
	case dtSignedWord:
		if w, ok := dtWords[f.text]; ok && w.kind == wordSpecial {
			return st.setSpecial(w.val)
		}
		return dtBadFormat
	}
	return st.word(f.text, next)
}

// looksLikeTextDate tells jan-08-1999 from america/new_york.
func looksLikeTextDate(s string) bool {
	n := 0
	for n < len(s) && isAlpha(s[n]) {
		n++
	}
	w, ok := dtWords[s[:n]]
	return ok && (w.kind == wordMonth || w.kind == wordPrefix)
}

func (st *dtState) prefixed(f *dtField) dtFailure {
	p := st.prefix
	st.prefix = 0
	if p == 't' {
		switch f.kind {
		case dtNumber:
			if st.have&haveDate != haveDate {
				return dtBadFormat
			}
			return st.runTogether(f.text)
		case dtDate:
			if at := strings.IndexByte(f.text, '-'); at > 0 {
				if r := st.runTogether(f.text[:at]); r != dtOK {
					return r
				}
				return st.zoneOffset(f.text[at:])
			}
		}
		return dtBadFormat
	}
	if f.kind != dtNumber {
		return dtBadFormat
	}
	return st.setJulian(f.text)
}

func (st *dtState) setJulian(text string) dtFailure {
	whole, frac, hasFrac := strings.Cut(text, ".")
	v, err := strconv.ParseInt(whole, 10, 32)
	if err != nil {
		return dtFieldOverflow
	}
	if st.have&haveDate != 0 {
		return dtBadFormat
	}
	st.julian, st.julianDays = true, v-epochJulian
	st.have |= haveDate
	st.year, st.month, st.day = civilFromDays(v - epochJulian)
	if hasFrac && frac != "" {
		x, err := strconv.ParseFloat("0."+frac, 64)
		if err != nil {
			return dtBadFormat
		}
		us := int64(x * usPerDay)
		st.hour, st.min, st.sec, st.us = int(us/usPerHour), int(us/usPerMinute%60), int(us/usPerSecond%60), int(us%usPerSecond)
		st.clock = true
	}
	return dtOK
}

func (st *dtState) setSpecial(v int) dtFailure {
	switch v {
	case specInfinity, specNegInfinity, specEpoch, specNow:
		if st.special != specNone {
			return dtBadFormat
		}
		st.special = v
	case specAllBalls:
		st.clock, st.hour, st.min, st.sec, st.us = true, 0, 0, 0, 0
		return st.setZone(0)
	default:
		if st.have&haveDate != 0 {
			return dtBadFormat
		}
		c := breakTimestamptz(st.env.loc(), TimestampFromTime(st.env.Now).I)
		d := c.days
		if v == specTomorrow {
			d++
		} else if v == specYesterday {
			d--
		}
		st.year, st.month, st.day = civilFromDays(d)
		st.have |= haveDate
		st.fullDateBySpec = true
	}
	return dtOK
}

func (st *dtState) word(text string, next *dtField) dtFailure {
	w, ok := dtWords[text]
	if !ok {
		return st.zoneName(text)
	}
	switch w.kind {
	case wordMonth:
		if st.have&haveMonth != 0 && !st.textMonth && st.have&haveDay == 0 {
			// The number before a month's name was the day after all: 8 Jan 1999.
			st.day = st.month
			st.have |= haveDay
			st.have &^= haveMonth
		}
		if st.have&haveMonth != 0 {
			return dtBadFormat
		}
		st.month, st.textMonth = w.val, true
		st.have |= haveMonth
	case wordWeekday, wordIgnore:
	case wordEra:
		if st.era {
			return dtBadFormat
		}
		st.era, st.bc = true, w.val == 1
	case wordMeridiem:
		st.meridiem = w.val + 1
	case wordSpecial:
		return st.setSpecial(w.val)
	case wordDST:
		if !st.zoned {
			return dtBadFormat
		}
		st.east += 3600
	case wordPrefix:
		if next == nil {
			return dtBadFormat
		}
		st.prefix = w.val
	default:
		return dtBadFormat
	}
	return dtOK
}

func (st *dtState) setZone(east int) dtFailure {
	if st.zoned {
		return dtBadFormat
	}
	st.zoned, st.east = true, east
	return dtOK
}

// zoneName takes an abbreviation or a full zone name.
func (st *dtState) zoneName(text string) dtFailure {
	if off, ok := zoneAbbrevs[text]; ok {
		return st.setZone(off)
	}
	loc, ok := LoadZone(text)
	if !ok {
		if strings.ContainsAny(text, "/_+-0123456789") {
			st.zoneErr = pgerr.New(pgerr.InvalidParameterValue, `time zone "%s" not recognized`, text)
		}
		return dtBadFormat
	}
	if f := st.setZone(0); f != dtOK {
		return f
	}
	st.loc = loc
	return dtOK
}

// zoneOffset takes ±hh, ±hhmm, ±hh:mm and ±hh:mm:ss.
func (st *dtState) zoneOffset(text string) dtFailure {
	east, f := parseOffset(text)
	if f != dtOK {
		return f
	}
	if st.zoned && st.loc == nil && st.east == 0 {
		// "UTC+3" style: the sign after a zone word adds to it.
		st.zoned = false
	}
	return st.setZone(east)
}

func parseOffset(text string) (east int, f dtFailure) {
	sign := 1
	switch text[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, dtBadFormat
	}
	text = text[1:]
	var h, m, s int
	parts := strings.Split(text, ":")
	for _, p := range parts {
		if p == "" {
			return 0, dtBadFormat
		}
		for j := range len(p) {
			if !isDigit(p[j]) {
				return 0, dtBadFormat
			}
		}
		if len(p) > 9 {
			return 0, dtZoneOverflow
		}
	}
	switch len(parts) {
	case 1:
		v, _ := strconv.Atoi(text)
		switch {
		case len(text) <= 2:
			h = v
		case len(text) == 6:
			h, m, s = v/10000, v/100%100, v%100
		default:
			h, m = v/100, v%100
		}
	case 2, 3:
		h, _ = strconv.Atoi(parts[0])
		m, _ = strconv.Atoi(parts[1])
		if len(parts) == 3 {
			s, _ = strconv.Atoi(parts[2])
		}
	default:
		return 0, dtBadFormat
	}
	if h > 15 || m > 59 || s > 59 {
		return 0, dtZoneOverflow
	}
	return sign * (h*3600 + m*60 + s), dtOK
}

// clockField reads hh:mm[:ss[.ffffff]], and mm:ss.fff.
func (st *dtState) clockField(text string) dtFailure {
	if st.clock {
		return dtBadFormat
	}
	h, m, s, us, f := parseClock(text)
	if f != dtOK {
		return f
	}
	if h > math.MaxInt32 {
		return dtFieldOverflow
	}
	st.hour, st.min, st.sec, st.us, st.clock = int(h), m, s, us, true
	return dtOK
}

// parseClock reads a clock text; hours are unbounded here.
func parseClock(text string) (h int64, m, s, us int, f dtFailure) {
	hs, rest, _ := strings.Cut(text, ":")
	h, err := strconv.ParseInt(hs, 10, 64)
	if err != nil {
		return 0, 0, 0, 0, dtFieldOverflow
	}
	ms, rest, more := strings.Cut(rest, ":")
	if !more && strings.IndexByte(ms, '.') >= 0 {
		// mm:ss.fff
		whole, frac, _ := strings.Cut(ms, ".")
		if s, f = smallInt(whole); f != dtOK {
			return 0, 0, 0, 0, f
		}
		if us, f = fraction(frac); f != dtOK {
			return 0, 0, 0, 0, f
		}
		if h > math.MaxInt32 {
			return 0, 0, 0, 0, dtFieldOverflow
		}
		m, h = int(h), 0
	} else {
		if m, f = smallInt(ms); f != dtOK {
			return 0, 0, 0, 0, f
		}
		if more {
			whole, frac, has := strings.Cut(rest, ".")
			if s, f = smallInt(whole); f != dtOK {
				return 0, 0, 0, 0, f
			}
			if has {
				if us, f = fraction(frac); f != dtOK {
					return 0, 0, 0, 0, f
				}
			}
		}
	}
	if m > 59 || s > 60 {
		return 0, 0, 0, 0, dtFieldOverflow
	}
	return h, m, s, us, dtOK
}

func smallInt(s string) (int, dtFailure) {
	if s == "" {
		return 0, dtBadFormat
	}
	v, err := strconv.Atoi(s)
	if err != nil {
		if strings.Trim(s, "0123456789") == "" {
			return 0, dtFieldOverflow
		}
		return 0, dtBadFormat
	}
	if v > math.MaxInt32 {
		return 0, dtFieldOverflow
	}
	return v, dtOK
}

// fraction reads the digits after a point as microseconds, rounded (1000000 possible).
func fraction(digits string) (int, dtFailure) {
	if len(digits) <= 6 {
		v, unit := 0, 100000
		for i := range len(digits) {
			if !isDigit(digits[i]) {
				return 0, dtBadFormat
			}
			v += int(digits[i]-'0') * unit
			unit /= 10
		}
		return v, dtOK
	}
	x, err := strconv.ParseFloat("0."+digits, 64)
	if err != nil || strings.Trim(digits, "0123456789") != "" {
		return 0, dtBadFormat
	}
	return int(math.RoundToEven(x * 1000000)), dtOK
}

// number takes a bare number: part of a date, or a run-together date or time.
func (st *dtState) number(text string) dtFailure {
	whole, _, hasFrac := strings.Cut(text, ".")
	if st.have&haveDate == haveDate && st.clock {
		return dtBadFormat
	}
	if hasFrac && st.have == 0 && !st.clock && len(whole) < 6 && whole != "" {
		// year.day-of-year
		if len(whole) >= 3 && len(text)-len(whole)-1 == 3 {
			return st.dateField(text)
		}
	}
	if len(whole) >= 6 || st.have&haveDate == haveDate && !st.fullDateBySpec {
		return st.runTogether(text)
	}
	if st.fullDateBySpec || hasFrac {
		return st.runTogether(text)
	}
	return st.dateNumber(text)
}

// runTogether reads yyyymmdd, yymmdd, hhmmss[.fff], hhmm.
func (st *dtState) runTogether(text string) dtFailure {
	whole, frac, hasFrac := strings.Cut(text, ".")
	for i := range len(whole) {
		if !isDigit(whole[i]) {
			return dtBadFormat
		}
	}
	num := func(s string) int { v, _ := strconv.Atoi(s); return v }
	n := len(whole)
	if hasFrac {
		us, f := fraction(frac)
		if f != dtOK {
			return f
		}
		if st.clock || n < 4 {
			return dtBadFormat
		}
		st.us = us
	} else if st.have&haveDate != haveDate && n >= 6 {
		if st.have&haveDate != 0 {
			return dtBadFormat
		}
		st.day, st.month = num(whole[n-2:]), num(whole[n-4:n-2])
		st.year = min(num(whole[:n-4]), math.MaxInt32)
		st.twoDigit = n-4 == 2
		st.have |= haveDate
		return dtOK
	}
	if st.clock {
		return dtBadFormat
	}
	switch n {
	case 6:
		st.hour, st.min, st.sec = num(whole[:2]), num(whole[2:4]), num(whole[4:])
	case 4:
		st.hour, st.min = num(whole[:2]), num(whole[2:])
	default:
		return dtBadFormat
	}
	st.clock = true
	return dtOK
}

// dateField reads a date whose parts are joined by punctuation.
func (st *dtState) dateField(text string) dtFailure {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	var split []string
	for _, p := range parts {
		// Letters and digits may touch: 08jan1999.
		from := 0
		for i := 1; i < len(p); i++ {
			if isDigit(p[i]) != isDigit(p[i-1]) {
				split = append(split, p[from:i])
				from = i
			}
		}
		split = append(split, p[from:])
	}
	if len(split) == 0 || len(split) > 3 {
		return dtBadFormat
	}
	// A month's name decides what the numbers beside it are, so it goes first.
	for i, p := range split {
		if isDigit(p[0]) {
			continue
		}
		w, ok := dtWords[p]
		if !ok || w.kind == wordIgnore {
			return dtBadFormat
		}
		if w.kind != wordMonth || st.have&haveMonth != 0 {
			return dtBadFormat
		}
		st.month, st.textMonth = w.val, true
		st.have |= haveMonth
		split[i] = ""
	}
	for _, p := range split {
		if p == "" {
			continue
		}
		if f := st.dateNumber(p); f != dtOK {
			return f
		}
	}
	if st.have&(haveDate|haveDOY) != haveDate && st.have&haveDOY == 0 {
		return dtBadFormat
	}
	return dtOK
}

// dateNumber gives a number its place in the date by what is known so far, its
// length and the DateStyle.
func (st *dtState) dateNumber(p string) dtFailure {
	if len(p) > 9 {
		return dtFieldOverflow
	}
	v, err := strconv.Atoi(p)
	if err != nil {
		return dtBadFormat
	}
	set := func(part int) dtFailure {
		if st.have&part != 0 {
			return dtBadFormat
		}
		switch part {
		case haveYear:
			st.year, st.twoDigit = v, len(p) <= 2
		case haveMonth:
			st.month = v
		case haveDay:
			st.day = v
		}
		st.have |= part
		return dtOK
	}
	order := st.env.DateOrder
	if len(p) == 3 && st.have&haveDate == haveYear && v >= 1 && v <= 366 {
		st.yearDay = v
		st.have |= haveDOY | haveMonth | haveDay
		return dtOK
	}
	switch st.have & haveDate {
	case 0:
		switch {
		case len(p) >= 3 || order == OrderYMD:
			return set(haveYear)
		case order == OrderDMY:
			return set(haveDay)
		}
		return set(haveMonth)
	case haveYear:
		return set(haveMonth)
	case haveMonth:
		if st.textMonth && (len(p) >= 3 || order == OrderYMD) {
			return set(haveYear)
		}
		return set(haveDay)
	case haveYear | haveMonth:
		if st.textMonth && len(p) >= 3 && st.twoDigit {
			st.day = st.year
			st.year, st.twoDigit = v, false
			st.have |= haveDay
			return dtOK
		}
		return set(haveDay)
	case haveDay:
		return set(haveMonth)
	case haveDay | haveMonth:
		return set(haveYear)
	}
	return st.runTogether(p)
}

// finish checks ranges and applies eras, two-digit years and am/pm.
func (st *dtState) finish() dtFailure {
	if st.special != specNone {
		if st.special == specNow && (st.have != 0 || st.clock) {
			return dtBadFormat
		}
		return dtOK
	}
	if st.meridiem != 0 {
		if st.hour > 12 {
			return dtFieldOverflow
		}
		if st.meridiem == 2 && st.hour != 12 {
			st.hour += 12
		} else if st.meridiem == 1 && st.hour == 12 {
			st.hour = 0
		}
	}
	if st.clock && (st.hour > 24 || st.min > 59 || st.sec > 60 || st.hour == 24 && (st.min > 0 || st.sec > 0 || st.us > 0) || st.us > 1000000) {
		return dtFieldOverflow
	}
	if st.have&haveYear != 0 && !st.julian && !st.fullDateBySpec {
		switch {
		case st.bc:
			if st.year <= 0 {
				return dtFieldOverflow
			}
			st.year = 1 - st.year
		case st.twoDigit:
			if st.year < 70 {
				st.year += 2000
			} else if st.year < 100 {
				st.year += 1900
			}
		case st.year <= 0:
			return dtFieldOverflow
		}
	} else if st.era {
		return dtBadFormat
	}
	if st.have&haveDOY != 0 {
		days := daysFromCivil(st.year, 1, 1) + int64(st.yearDay) - 1
		st.year, st.month, st.day = civilFromDays(days)
		return dtOK
	}
	if st.have&haveMonth != 0 && (st.month < 1 || st.month > 12) {
		return dtMDOverflow
	}
	if st.have&haveDay != 0 && (st.day < 1 || st.day > 31) {
		return dtMDOverflow
	}
	if st.have&haveDate == haveDate && st.day > daysInMonth(st.year, st.month) {
		return dtFieldOverflow
	}
	return dtOK
}

func (st *dtState) clockMicros() int64 {
	return int64(st.hour)*usPerHour + int64(st.min)*usPerMinute + int64(st.sec)*usPerSecond + int64(st.us)
}

// offset is the zone of a literal at its local time, seconds east.
func (st *dtState) offset(local int64) int {
	switch {
	case st.loc != nil:
		return localOffset(st.loc, local)
	case st.zoned:
		return st.east
	}
	return localOffset(st.env.loc(), local)
}
