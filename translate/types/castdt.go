package types

import "github.com/eiderdb/eider/translate/pgerr"

// toDatetime converts among the date and time types; done is false when there is no such cast.
func toDatetime(env *Env, from, to OID, d Datum) (v Datum, done bool, err error) {
	loc := env.loc()
	ok := func(i int64) (Datum, bool, error) { return Int(i), true, nil }
	switch from {
	case DateOID:
		if to != TimestampOID && to != TimestamptzOID {
			break
		}
		switch d.I {
		case dateInfinity:
			return ok(tsInfinity)
		case dateNegInfinity:
			return ok(tsNegInfinity)
		}
		local, good := combine(d.I, 0)
		if good && to == TimestamptzOID {
			local = toUTC(loc, local)
			good = timestampInRange(local)
		}
		if !good {
			return Null, false, errOverflowText("date out of range for timestamp")
		}
		return ok(local)
	case TimestampOID, TimestamptzOID:
		if !finiteTimestamp(d.I) {
			switch to {
			case DateOID:
				if d.I > 0 {
					return ok(dateInfinity)
				}
				return ok(dateNegInfinity)
			case TimestampOID, TimestamptzOID:
				return ok(d.I)
			case TimeOID, TimetzOID:
				return Null, true, nil
			}
			break
		}
		local, off := d.I, 0
		if from == TimestamptzOID {
			_, off = offsetAt(loc, d.I)
			local += int64(off) * usPerSecond
		}
		days, us := splitTimestamp(local)
		switch to {
		case DateOID:
			return ok(days)
		case TimeOID:
			return ok(us)
		case TimestampOID:
			if !timestampInRange(local) {
				return Null, false, errDatetimeOverflow("timestamp")
			}
			return ok(local)
		case TimestamptzOID:
			utc := toUTC(loc, local)
			if from == TimestamptzOID {
				utc = d.I
			}
			if !timestampInRange(utc) {
				return Null, false, errDatetimeOverflow("timestamp")
			}
			return ok(utc)
		case TimetzOID:
			if from == TimestamptzOID {
				return Datum{I: us, J: -int32(off), Valid: true}, true, nil
			}
		}
	case TimeOID:
		switch to {
		case IntervalOID:
			return ok(d.I)
		case TimetzOID:
			var now int64
			if env != nil {
				now = TimestampFromTime(env.Now).I
			}
			c := breakTimestamptz(loc, now)
			return Datum{I: d.I, J: -int32(localOffset(loc, c.days*usPerDay+d.I)), Valid: true}, true, nil
		}
	case TimetzOID:
		if to == TimeOID {
			return ok(d.I)
		}
	case IntervalOID:
		if to == TimeOID {
			us := d.I % usPerDay
			if us < 0 {
				us += usPerDay
			}
			return ok(us)
		}
	}
	return Null, false, nil
}

func errOverflowText(format string, args ...any) error {
	return pgerr.New(pgerr.DatetimeFieldOverflow, format, args...)
}
