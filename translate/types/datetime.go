package types

import (
	"github.com/eiderdb/eider/translate/pgerr"
)

// isoStamp is a literal of the plain ISO form, read without the general parser.
type isoStamp struct {
	days     int64
	us       int64
	hasClock bool
	zoned    bool
	east     int
}

// parseISO reads YYYY-MM-DD[(space or T)HH:MM[:SS[.f…]][±HH[:MM[:SS]]]] exactly. ok is
// false for anything else, errors included: the general parser then decides.
func parseISO(s []byte) (r isoStamp, ok bool) {
	two := func(i int) int {
		if i+1 >= len(s) || !isDigit(s[i]) || !isDigit(s[i+1]) {
			return -1
		}
		return int(s[i]-'0')*10 + int(s[i+1]-'0')
	}
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return r, false
	}
	hi, lo, m, d := two(0), two(2), two(5), two(8)
	if hi < 0 || lo < 0 || m < 1 || m > 12 || d < 1 {
		return r, false
	}
	y := hi*100 + lo
	if y == 0 || d > daysInMonth(y, m) {
		return r, false
	}
	r.days = daysFromCivil(y, m, d)
	if len(s) == 10 {
		return r, true
	}
	if s[10] != ' ' && s[10] != 'T' || len(s) < 16 || s[13] != ':' {
		return r, false
	}
	h, mi := two(11), two(14)
	if h < 0 || h > 23 || mi < 0 || mi > 59 {
		return r, false
	}
	r.hasClock = true
	r.us = int64(h)*usPerHour + int64(mi)*usPerMinute
	i := 16
	if i < len(s) && s[i] == ':' {
		sec := two(17)
		if sec < 0 || sec > 59 {
			return r, false
		}
		r.us += int64(sec) * usPerSecond
		i = 19
		if i < len(s) && s[i] == '.' {
			i++
			unit := int64(100000)
			for ; i < len(s) && isDigit(s[i]); i++ {
				if unit == 0 {
					return r, false
				}
				r.us += int64(s[i]-'0') * unit
				unit /= 10
			}
		}
	}
	if i == len(s) {
		return r, true
	}
	sign := 1
	switch s[i] {
	case 'Z':
		r.zoned = true
		return r, i+1 == len(s)
	case '-':
		sign = -1
	case '+':
	default:
		return r, false
	}
	zh := two(i + 1)
	if zh < 0 || zh > 15 {
		return r, false
	}
	r.zoned = true
	r.east = zh * 3600
	i += 3
	for unit := 60; i < len(s); unit /= 60 {
		v := two(i + 1)
		if unit == 0 || s[i] != ':' || v < 0 || v > 59 {
			return r, false
		}
		r.east += v * unit
		i += 3
	}
	r.east *= sign
	return r, true
}

func (st *dtState) fail(f dtFailure, typ string, s []byte) error {
	if st != nil && st.zoneErr != nil {
		return st.zoneErr
	}
	return f.err(typ, s)
}

func dateInput(env *Env, s []byte) (Datum, error) {
	if r, ok := parseISO(s); ok {
		return Int(r.days), nil
	}
	st, f := decodeDateTime(env, s)
	if f != dtOK {
		return Null, st.fail(f, "date", s)
	}
	switch st.special {
	case specInfinity:
		return Int(dateInfinity), nil
	case specNegInfinity:
		return Int(dateNegInfinity), nil
	case specEpoch:
		return Int(unixEpochDay), nil
	case specNow:
		return Int(breakTimestamptz(st.env.loc(), TimestampFromTime(st.env.Now).I).days), nil
	}
	if st.have&haveDate != haveDate {
		return Null, errDatetimeSyntax("date", s)
	}
	d := daysFromCivil(st.year, st.month, st.day)
	if d < minDate || d >= endDate {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, `date out of range: "%s"`, s)
	}
	return Int(d), nil
}

// stampInput is the common part of timestamp and timestamptz.
func stampInput(env *Env, s []byte, mod int32, zoned bool, typ string) (Datum, error) {
	var local int64
	var st *dtState
	east := 0
	ok := true
	if r, iso := parseISO(s); iso {
		local = r.days*usPerDay + r.us
		if zoned {
			if east = r.east; !r.zoned {
				east = localOffset(env.loc(), local)
			}
		}
	} else {
		var f dtFailure
		st, f = decodeDateTime(env, s)
		if f != dtOK {
			return Null, st.fail(f, typ, s)
		}
		switch st.special {
		case specInfinity:
			return Int(tsInfinity), nil
		case specNegInfinity:
			return Int(tsNegInfinity), nil
		case specEpoch:
			return Int(-unixDelta * usPerSecond), nil
		case specNow:
			now := TimestampFromTime(st.env.Now).I
			if !zoned {
				_, off := offsetAt(st.env.loc(), now)
				now += int64(off) * usPerSecond
			}
			return Int(roundTimestamp(now, mod)), nil
		}
		if st.have&haveDate != haveDate {
			return Null, errDatetimeSyntax(typ, s)
		}
		// The local time may lie just outside the range that the UTC time is in.
		days := daysFromCivil(st.year, st.month, st.day)
		if ok = days >= minDate-1 && days <= endTimestamp/usPerDay+1; ok {
			local = days*usPerDay + st.clockMicros()
		}
		if zoned {
			east = st.offset(local)
		}
	}
	ts := local - int64(east)*usPerSecond
	if !ok || !timestampInRange(ts) {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, `timestamp out of range: "%s"`, s)
	}
	return Int(roundTimestamp(ts, mod)), nil
}

func timestampInput(env *Env, s []byte, mod int32) (Datum, error) {
	return stampInput(env, s, mod, false, "timestamp")
}

func timestamptzInput(env *Env, s []byte, mod int32) (Datum, error) {
	return stampInput(env, s, mod, true, "timestamp with time zone")
}

// clockInput reads a time of day, perhaps with a date before it.
func clockInput(env *Env, s []byte, typ string) (*dtState, error) {
	fields, f := splitFields(s)
	st := &dtState{env: env.orDefault()}
	if f == dtOK && isClockOnly(fields) {
		f = st.clockOnly(fields)
	} else if f == dtOK {
		st, f = decodeDateTime(env, s)
	}
	if f != dtOK {
		return nil, st.fail(f, typ, s)
	}
	switch {
	case st.special == specNow:
		c := breakTimestamptz(st.env.loc(), TimestampFromTime(st.env.Now).I)
		st.hour, st.min, st.sec, st.us, st.clock = c.hour, c.min, c.sec, c.us, true
		if !st.zoned {
			st.zoned, st.east = true, c.offset
		}
	case st.special != specNone, !st.clock && !st.fullDateBySpec, st.loc != nil && st.have&haveDate != haveDate:
		return nil, errDatetimeSyntax(typ, s)
	}
	return st, nil
}

// isClockOnly says that the literal starts like a bare time: 040506, 04:05, T040506.
func isClockOnly(fields []dtField) bool {
	switch f := fields[0]; f.kind {
	case dtNumber:
		for _, g := range fields[1:] {
			if g.kind == dtWord && dtWords[g.text].kind != wordMeridiem {
				if _, zone := zoneAbbrevs[g.text]; !zone {
					return false
				}
			}
			if g.kind == dtNumber || g.kind == dtClock {
				return false
			}
		}
		return true
	case dtWord:
		return f.text == "t" && len(fields) > 1
	}
	return false
}

func (st *dtState) clockOnly(fields []dtField) dtFailure {
	i := 0
	if fields[0].text == "t" {
		i++
	}
	text := fields[i].text
	if fields[i].kind == dtClock {
		if f := st.clockField(text); f != dtOK {
			return f
		}
	} else {
		st.have = haveDate // so that digits mean a time
		f := st.runTogether(text)
		st.have = 0
		if f != dtOK {
			return f
		}
	}
	for i++; i < len(fields); i++ {
		if f := st.field(&fields[i], nil); f != dtOK {
			return f
		}
	}
	return st.finish()
}

func timeInput(env *Env, s []byte, mod int32) (Datum, error) {
	st, err := clockInput(env, s, "time")
	if err != nil {
		return Null, err
	}
	return Int(roundTime(st.clockMicros(), mod)), nil
}

func timetzInput(env *Env, s []byte, mod int32) (Datum, error) {
	st, err := clockInput(env, s, "time with time zone")
	if err != nil {
		return Null, err
	}
	us := st.clockMicros()
	var local int64
	if st.have&haveDate == haveDate {
		local = daysFromCivil(st.year, st.month, st.day)*usPerDay + us
	} else {
		c := breakTimestamptz(st.env.loc(), TimestampFromTime(st.env.Now).I)
		local = c.days*usPerDay + us
	}
	return Datum{I: roundTime(us, mod), J: -int32(st.offset(local)), Valid: true}, nil
}
