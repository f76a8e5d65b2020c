package types

var (
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

func append2(dst []byte, v int) []byte {
	return append(dst, byte('0'+v/10%10), byte('0'+v%10))
}

// appendYear writes at least four digits.
func appendYear(dst []byte, y int) []byte {
	if y < 10000 {
		return append(dst, byte('0'+y/1000), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10))
	}
	return appendInt(dst, int64(y))
}

// appendFraction writes .ffffff without trailing zeros, nothing for 0.
func appendFraction(dst []byte, us int) []byte {
	if us == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := 100000; us > 0; unit /= 10 {
		dst = append(dst, byte('0'+us/unit))
		us %= unit
	}
	return dst
}

func appendClock(dst []byte, hour, minute, sec, us int) []byte {
	dst = append2(dst, hour)
	dst = append(dst, ':')
	dst = append2(dst, minute)
	dst = append(dst, ':')
	dst = append2(dst, sec)
	return appendFraction(dst, us)
}

func appendTime(dst []byte, t int64) []byte {
	return appendClock(dst, int(t/usPerHour), int(t/usPerMinute%60), int(t/usPerSecond%60), int(t%usPerSecond))
}

// appendOffset writes ±hh[:mm[:ss]] for seconds east of UTC.
func appendOffset(dst []byte, east int) []byte {
	sign := byte('+')
	if east < 0 {
		sign, east = '-', -east
	}
	dst = append(dst, sign)
	dst = append2(dst, east/3600)
	if east%3600 != 0 {
		dst = append(dst, ':')
		dst = append2(dst, east/60%60)
		if east%60 != 0 {
			dst = append(dst, ':')
			dst = append2(dst, east%60)
		}
	}
	return dst
}

func appendTimetz(dst []byte, t int64, west int32) []byte {
	return appendOffset(appendTime(dst, t), -int(west))
}

// appendDay writes the date part of the numeric styles.
func appendDay(env *Env, dst []byte, y, m, d int) []byte {
	if y <= 0 {
		y = 1 - y
	}
	sep := byte('-')
	dayFirst := env.DateOrder == OrderDMY
	switch env.DateStyle {
	case DateStyleISO:
		dst = appendYear(dst, y)
		dst = append(dst, '-')
		dst = append2(dst, m)
		dst = append(dst, '-')
		return append2(dst, d)
	case DateStyleSQL:
		sep = '/'
	case DateStyleGerman:
		sep, dayFirst = '.', true
	}
	if dayFirst {
		m, d = d, m
	}
	dst = append2(dst, m)
	dst = append(dst, sep)
	dst = append2(dst, d)
	dst = append(dst, sep)
	return appendYear(dst, y)
}

func appendDate(env *Env, dst []byte, v int64) []byte {
	switch v {
	case dateInfinity:
		return append(dst, "infinity"...)
	case dateNegInfinity:
		return append(dst, "-infinity"...)
	}
	y, m, d := civilFromDays(v)
	dst = appendDay(env.orDefault(), dst, y, m, d)
	if y <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

func appendTimestamp(env *Env, dst []byte, ts int64) []byte {
	if out, ok := appendInfinite(dst, ts); ok {
		return out
	}
	c := breakTimestamp(ts)
	return appendCivil(env.orDefault(), dst, &c, false)
}

func appendTimestamptz(env *Env, dst []byte, ts int64) []byte {
	if out, ok := appendInfinite(dst, ts); ok {
		return out
	}
	c := breakTimestamptz(env.loc(), ts)
	return appendCivil(env.orDefault(), dst, &c, true)
}

func appendInfinite(dst []byte, ts int64) ([]byte, bool) {
	switch ts {
	case tsInfinity:
		return append(dst, "infinity"...), true
	case tsNegInfinity:
		return append(dst, "-infinity"...), true
	}
	return dst, false
}

func appendCivil(env *Env, dst []byte, c *civil, zone bool) []byte {
	if env.DateStyle == DateStylePostgres {
		dst = append(dst, dayNames[c.weekday][:3]...)
		dst = append(dst, ' ')
		if env.DateOrder == OrderDMY {
			dst = append2(dst, c.day)
			dst = append(dst, ' ')
			dst = append(dst, monthNames[c.month-1][:3]...)
		} else {
			dst = append(dst, monthNames[c.month-1][:3]...)
			dst = append(dst, ' ')
			dst = append2(dst, c.day)
		}
		dst = append(dst, ' ')
		dst = appendClock(dst, c.hour, c.min, c.sec, c.us)
		dst = append(dst, ' ')
		y := c.year
		if y <= 0 {
			y = 1 - y
		}
		dst = appendYear(dst, y)
	} else {
		dst = appendDay(env, dst, c.year, c.month, c.day)
		dst = append(dst, ' ')
		dst = appendClock(dst, c.hour, c.min, c.sec, c.us)
	}
	if zone {
		if env.DateStyle == DateStyleISO {
			dst = appendOffset(dst, c.offset)
		} else {
			dst = append(dst, ' ')
			dst = append(dst, c.zone...)
		}
	}
	if c.year <= 0 {
		dst = append(dst, " BC"...)
	}
	return dst
}

// ivParts is an interval broken down for output.
type ivParts struct {
	year, mon, day int64
	hour, min, sec int64
	us             int64
}

func breakInterval(d Datum) ivParts {
	t := d.I
	return ivParts{
		year: int64(d.K / 12), mon: int64(d.K % 12), day: int64(d.J),
		hour: t / usPerHour, min: t / usPerMinute % 60, sec: t / usPerSecond % 60, us: t % usPerSecond,
	}
}

func abs64(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func appendInterval(env *Env, dst []byte, d Datum) []byte {
	p := breakInterval(d)
	switch env.orDefault().IntervalStyle {
	case IntervalPostgresVerbose:
		return p.appendVerbose(dst)
	case IntervalSQLStandard:
		return p.appendSQL(dst)
	case IntervalISO8601:
		return p.appendISO(dst)
	}
	return p.appendPostgres(dst)
}

// appendSeconds writes |sec|.|us|, two digits wide when fill is set.
func (p *ivParts) appendSeconds(dst []byte, fill bool) []byte {
	s := abs64(p.sec)
	if fill {
		dst = append2(dst, int(s))
	} else {
		dst = appendInt(dst, s)
	}
	return appendFraction(dst, int(abs64(p.us)))
}

// appendWide writes at least two digits.
func appendWide(dst []byte, v int64) []byte {
	if v < 10 {
		dst = append(dst, '0')
	}
	return appendUint(dst, uint64(v))
}

func (p *ivParts) appendPostgres(dst []byte) []byte {
	first, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if !first {
			dst = append(dst, ' ')
		}
		if before && v > 0 {
			dst = append(dst, '+')
		}
		dst = appendInt(dst, v)
		dst = append(dst, ' ')
		dst = append(dst, unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		before, first = v < 0, false
	}
	part(p.year, "year")
	part(p.mon, "mon")
	part(p.day, "day")
	if first || p.hour != 0 || p.min != 0 || p.sec != 0 || p.us != 0 {
		if !first {
			dst = append(dst, ' ')
		}
		if p.hour < 0 || p.min < 0 || p.sec < 0 || p.us < 0 {
			dst = append(dst, '-')
		} else if before {
			dst = append(dst, '+')
		}
		dst = appendWide(dst, abs64(p.hour))
		dst = append(dst, ':')
		dst = appendWide(dst, abs64(p.min))
		dst = append(dst, ':')
		dst = p.appendSeconds(dst, true)
	}
	return dst
}

func (p *ivParts) appendVerbose(dst []byte) []byte {
	dst = append(dst, '@')
	first, before := true, false
	part := func(v int64, unit string) {
		if v == 0 {
			return
		}
		if first {
			before = v < 0
			v = abs64(v)
		} else if before {
			v = -v
		}
		dst = append(dst, ' ')
		dst = appendInt(dst, v)
		dst = append(dst, ' ')
		dst = append(dst, unit...)
		if v != 1 {
			dst = append(dst, 's')
		}
		first = false
	}
	part(p.year, "year")
	part(p.mon, "mon")
	part(p.day, "day")
	part(p.hour, "hour")
	part(p.min, "min")
	if p.sec != 0 || p.us != 0 {
		dst = append(dst, ' ')
		if p.sec < 0 || p.us < 0 {
			if first {
				before = true
			} else if !before {
				dst = append(dst, '-')
			}
		} else if before {
			dst = append(dst, '-')
		}
		dst = p.appendSeconds(dst, false)
		dst = append(dst, " sec"...)
		if abs64(p.sec) != 1 || p.us != 0 {
			dst = append(dst, 's')
		}
		first = false
	}
	if first {
		dst = append(dst, " 0"...)
	}
	if before {
		dst = append(dst, " ago"...)
	}
	return dst
}

func (p *ivParts) appendSQL(dst []byte) []byte {
	neg := p.year < 0 || p.mon < 0 || p.day < 0 || p.hour < 0 || p.min < 0 || p.sec < 0 || p.us < 0
	pos := p.year > 0 || p.mon > 0 || p.day > 0 || p.hour > 0 || p.min > 0 || p.sec > 0 || p.us > 0
	hasYM := p.year != 0 || p.mon != 0
	hasDT := p.day != 0 || p.hour != 0 || p.min != 0 || p.sec != 0 || p.us != 0
	clock := func() {
		dst = appendInt(dst, abs64(p.hour))
		dst = append(dst, ':')
		dst = appendWide(dst, abs64(p.min))
		dst = append(dst, ':')
		dst = p.appendSeconds(dst, true)
	}
	sign := func(negative bool) {
		if negative {
			dst = append(dst, '-')
		} else {
			dst = append(dst, '+')
		}
	}
	switch {
	case !neg && !pos:
		return append(dst, '0')
	case neg && pos || hasYM && hasDT:
		sign(p.year < 0 || p.mon < 0)
		dst = appendInt(dst, abs64(p.year))
		dst = append(dst, '-')
		dst = appendInt(dst, abs64(p.mon))
		dst = append(dst, ' ')
		sign(p.day < 0)
		dst = appendInt(dst, abs64(p.day))
		dst = append(dst, ' ')
		sign(p.hour < 0 || p.min < 0 || p.sec < 0 || p.us < 0)
		clock()
		return dst
	}
	if neg {
		dst = append(dst, '-')
	}
	switch {
	case hasYM:
		dst = appendInt(dst, abs64(p.year))
		dst = append(dst, '-')
		dst = appendInt(dst, abs64(p.mon))
	case p.day != 0:
		dst = appendInt(dst, abs64(p.day))
		dst = append(dst, ' ')
		clock()
	default:
		clock()
	}
	return dst
}

func (p *ivParts) appendISO(dst []byte) []byte {
	if *p == (ivParts{}) {
		return append(dst, "PT0S"...)
	}
	part := func(v int64, unit byte) {
		if v != 0 {
			dst = appendInt(dst, v)
			dst = append(dst, unit)
		}
	}
	dst = append(dst, 'P')
	part(p.year, 'Y')
	part(p.mon, 'M')
	part(p.day, 'D')
	if p.hour != 0 || p.min != 0 || p.sec != 0 || p.us != 0 {
		dst = append(dst, 'T')
	}
	part(p.hour, 'H')
	part(p.min, 'M')
	if p.sec != 0 || p.us != 0 {
		if p.sec < 0 || p.us < 0 {
			dst = append(dst, '-')
		}
		dst = p.appendSeconds(dst, false)
		dst = append(dst, 'S')
	}
	return dst
}
