package types

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// dtPatterns are the template patterns of to_char and to_timestamp, longer ones before
// those they start with. Patterns of text come in three cases and are matched as written.
var dtPatterns = [...]string{
	"SSSSS", "SSSS", "SS", "sssss", "ssss", "ss",
	"Y,YYY", "YYYY", "YYY", "YY", "Y", "y,yyy", "yyyy", "yyy", "yy", "y",
	"IYYY", "IYY", "IY", "IDDD", "ID", "IW", "I", "iyyy", "iyy", "iy", "iddd", "id", "iw", "i",
	"HH24", "HH12", "HH", "hh24", "hh12", "hh",
	"MONTH", "Month", "month", "MON", "Mon", "mon", "MI", "mi", "MM", "mm", "MS", "ms",
	"US", "us", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "ff1", "ff2", "ff3", "ff4", "ff5", "ff6",
	"A.M.", "a.m.", "P.M.", "p.m.", "A.D.", "a.d.", "B.C.", "b.c.", "AM", "am", "PM", "pm", "AD", "ad", "BC", "bc",
	"DAY", "Day", "day", "DDD", "DD", "DY", "Dy", "dy", "D", "ddd", "dd", "d",
	"WW", "W", "ww", "w", "CC", "cc", "J", "j", "Q", "q", "RM", "rm", "TZH", "TZM", "TZ", "tzh", "tzm", "tz", "OF", "of",
}

// dtNode is one piece of a template: a pattern, or text to copy.
type dtNode struct {
	pattern string // as written; "" for literal text
	text    string
	fm      bool // FM before it: no padding
	th      string
}

// parseTemplate cuts a date/time template into nodes.
func parseTemplate(format string) []dtNode {
	var out []dtNode
	lit := func(s string) {
		if n := len(out); n > 0 && out[n-1].pattern == "" {
			out[n-1].text += s
		} else {
			out = append(out, dtNode{text: s})
		}
	}
	for i := 0; i < len(format); {
		rest := format[i:]
		fm := false
		for {
			if up := strings.ToUpper(rest[:min(2, len(rest))]); up == "FM" {
				fm = true
			} else if up != "TM" && up != "FX" {
				break
			}
			rest = rest[2:]
			i += 2
		}
		found := ""
		for _, p := range dtPatterns {
			if strings.HasPrefix(rest, p) {
				found = p
				break
			}
		}
		if found != "" {
			n := dtNode{pattern: found, fm: fm}
			i += len(found)
			if s := format[i:min(i+2, len(format))]; s == "TH" || s == "th" {
				n.th = s
				i += 2
			}
			out = append(out, n)
			continue
		}
		switch {
		case rest == "":
		case rest[0] == '"':
			i++
			var text strings.Builder
			for i < len(format) && format[i] != '"' {
				if format[i] == '\\' && i+1 < len(format) {
					i++
				}
				text.WriteByte(format[i])
				i++
			}
			i++
			lit(text.String())
		case rest[0] == '\\' && len(rest) > 1 && rest[1] == '"':
			lit(`"`)
			i += 2
		default:
			lit(rest[:1])
			i++
		}
	}
	return out
}

// charTime is what the patterns show.
type charTime struct {
	civil
	interval bool
}

// ToChar is to_char for date, time, timestamp, timestamptz and interval. An infinite
// value gives NULL.
func ToChar(env *Env, oid OID, d Datum, format string) (Datum, error) {
	var c charTime
	switch oid {
	case DateOID:
		if !finiteDate(d.I) {
			return Null, nil
		}
		v, _, err := toDatetime(env, DateOID, TimestampOID, d)
		if err != nil {
			return Null, err
		}
		c.civil = breakTimestamp(v.I)
	case TimestampOID, TimestamptzOID:
		if !finiteTimestamp(d.I) {
			return Null, nil
		}
		if oid == TimestamptzOID {
			c.civil = breakTimestamptz(env.loc(), d.I)
		} else {
			c.civil = breakTimestamp(d.I)
		}
	case TimeOID, IntervalOID:
		p := breakInterval(d)
		c.year, c.month, c.day = int(p.year), int(p.mon), int(p.day)
		c.hour, c.min, c.sec, c.us = int(p.hour), int(p.min), int(p.sec), int(p.us)
		c.yearDay = (c.year*12+c.month)*30 + c.day
		c.interval = true
	default:
		return Null, errUnsupported(oid)
	}
	if format == "" {
		return Null, nil
	}
	dst := []byte{}
	for _, n := range parseTemplate(format) {
		if n.pattern == "" {
			dst = append(dst, n.text...)
			continue
		}
		at := len(dst)
		var err error
		if dst, err = c.appendPattern(dst, &n, oid == TimestamptzOID); err != nil {
			return Null, err
		}
		if n.th != "" {
			dst = append(dst, ordinal(dst[at:], n.th == "TH")...)
		}
	}
	return Datum{B: dst, Valid: true}, nil
}

// ordinal is the English suffix of a number.
func ordinal(num []byte, upper bool) string {
	s := "th"
	if len(num) > 0 && !(len(num) > 1 && num[len(num)-2] == '1') {
		switch num[len(num)-1] {
		case '1':
			s = "st"
		case '2':
			s = "nd"
		case '3':
			s = "rd"
		}
	}
	if upper {
		return strings.ToUpper(s)
	}
	return s
}

// appendPadded writes v with at least width digits, without padding under FM.
func appendPadded(dst []byte, v, width int, fm bool) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	s := strconv.Itoa(v)
	if !fm {
		for i := len(s); i < width; i++ {
			dst = append(dst, '0')
		}
	}
	return append(dst, s...)
}

// appendName writes a name in the case of its pattern, blank-padded to width.
func appendName(dst []byte, name, pattern string, width int, fm bool) []byte {
	switch {
	case pattern == strings.ToUpper(pattern):
		name = strings.ToUpper(name)
	case pattern == strings.ToLower(pattern):
		name = strings.ToLower(name)
	}
	dst = append(dst, name...)
	if !fm {
		for i := len(name); i < width; i++ {
			dst = append(dst, ' ')
		}
	}
	return dst
}

var romanMonths = [...]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

func errNotForInterval() error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
		WithHint("Intervals are not tied to specific calendar dates.")
}

func (c *charTime) appendPattern(dst []byte, n *dtNode, zoned bool) ([]byte, error) {
	pad := func(v, width int) ([]byte, error) { return appendPadded(dst, v, width, n.fm), nil }
	year := c.year
	if !c.interval && year <= 0 {
		year = 1 - year
	}
	half := func(am, pm string) ([]byte, error) {
		s := am
		if c.hour%24 >= 12 {
			s = pm
		}
		return append(dst, s...), nil
	}
	twelve := c.hour % 12
	if twelve == 0 {
		twelve = 12
	}
	switch up := strings.ToUpper(n.pattern); up {
	case "HH24":
		return pad(c.hour, 2)
	case "HH12", "HH":
		return pad(twelve, 2)
	case "MI":
		return pad(c.min, 2)
	case "SS":
		return pad(c.sec, 2)
	case "MS", "FF3":
		return appendPadded(dst, c.us/1000, 3, false), nil
	case "US", "FF6":
		return appendPadded(dst, c.us, 6, false), nil
	case "FF1", "FF2", "FF4", "FF5":
		w := int(up[2] - '0')
		return appendPadded(dst, c.us/int(pow10int[6-w]), w, false), nil
	case "SSSS", "SSSSS":
		return append(dst, strconv.Itoa(c.hour*3600+c.min*60+c.sec)...), nil
	case "AM", "PM":
		if n.pattern == up {
			return half("AM", "PM")
		}
		return half("am", "pm")
	case "A.M.", "P.M.":
		if n.pattern == up {
			return half("A.M.", "P.M.")
		}
		return half("a.m.", "p.m.")
	case "YYYY":
		return pad(year, 4)
	case "YYY":
		return pad(year%1000, 3)
	case "YY":
		return pad(year%100, 2)
	case "Y":
		return pad(year%10, 1)
	case "Y,YYY":
		dst = strconv.AppendInt(dst, int64(year/1000), 10)
		return appendPadded(append(dst, ','), year%1000, 3, false), nil
	case "MM":
		return pad(c.month, 2)
	case "DD":
		return appendSigned(dst, c.day, 2, n.fm), nil
	case "DDD":
		return pad(c.yearDay, 3)
	case "WW":
		return pad((c.yearDay-1)/7+1, 2)
	case "Q":
		if c.month == 0 {
			return dst, nil
		}
		return pad((c.month-1)/3+1, 1)
	case "W":
		return pad((c.day-1)/7+1, 1)
	case "CC":
		v := c.year / 100
		if !c.interval {
			v = runOf(c.year, 100)
		}
		if v > 99 || v < -99 {
			return append(dst, strconv.Itoa(v)...), nil
		}
		return pad(v, 2)
	case "RM":
		m := c.month
		if m == 0 {
			if c.year == 0 {
				return dst, nil
			}
			m = 12
		}
		if m < 0 {
			m += 12
		}
		return appendName(dst, romanMonths[m-1], n.pattern, 4, n.fm), nil
	}
	if c.interval {
		switch strings.ToUpper(n.pattern) {
		case "J":
			return strconv.AppendInt(dst, daysFromCivil(c.year, c.month, c.day)+epochJulian, 10), nil
		case "IYYY":
			return pad(c.year, 4)
		case "IYY":
			return pad(c.year%1000, 3)
		case "IY":
			return pad(c.year%100, 2)
		case "I":
			return pad(c.year%10, 1)
		case "IDDD", "IW":
			return pad(c.yearDay, 3)
		}
		return dst, errNotForInterval()
	}
	isoYear, isoWk := isoWeek(c.days)
	if isoYear <= 0 {
		isoYear = 1 - isoYear
	}
	switch up := strings.ToUpper(n.pattern); up {
	case "J":
		return strconv.AppendInt(dst, c.days+epochJulian, 10), nil
	case "D":
		return pad(c.weekday+1, 1)
	case "ID":
		return pad((c.weekday+6)%7+1, 1)
	case "IDDD":
		return pad((isoWk-1)*7+(c.weekday+6)%7+1, 3)
	case "IW":
		return pad(isoWk, 2)
	case "IYYY":
		return pad(isoYear, 4)
	case "IYY":
		return pad(isoYear%1000, 3)
	case "IY":
		return pad(isoYear%100, 2)
	case "I":
		return pad(isoYear%10, 1)
	case "MONTH":
		return appendName(dst, monthNames[c.month-1], n.pattern, 9, n.fm), nil
	case "MON":
		return appendName(dst, monthNames[c.month-1][:3], n.pattern, 3, n.fm), nil
	case "DAY":
		return appendName(dst, dayNames[c.weekday], n.pattern, 9, n.fm), nil
	case "DY":
		return appendName(dst, dayNames[c.weekday][:3], n.pattern, 3, n.fm), nil
	case "BC", "AD", "B.C.", "A.D.":
		s := "AD"
		if c.year <= 0 {
			s = "BC"
		}
		if strings.IndexByte(up, '.') >= 0 {
			s = s[:1] + "." + s[1:] + "."
		}
		return appendName(dst, s, n.pattern, 0, true), nil
	case "TZ":
		if zoned {
			return appendName(dst, c.zone, n.pattern, 0, true), nil
		}
		return dst, nil
	case "TZH", "TZM", "OF":
		off, s := c.offset, byte('+')
		if off < 0 {
			off, s = -off, '-'
		}
		if up == "TZM" {
			return append2(dst, off/60%60), nil
		}
		dst = append2(append(dst, s), off/3600)
		if up == "OF" && off%3600 != 0 {
			dst = append2(append(dst, ':'), off/60%60)
		}
		return dst, nil
	}
	return dst, nil
}

// appendSigned is appendPadded with the sign counted in the width.
func appendSigned(dst []byte, v, width int, fm bool) []byte {
	if v < 0 {
		width--
	}
	return appendPadded(dst, v, width, fm)
}
