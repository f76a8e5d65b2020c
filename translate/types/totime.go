package types

import (
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

// fromTemplate holds what to_timestamp has read.
type fromTemplate struct {
	year, month, day   int
	hour, min, sec, us int
	yearDay            int
	julian             int64
	hasYear, hasJulian bool
	hasDOY, twelve     bool
	hasSSSS            bool
	ssss               int
	pm, am, bc, zoned  bool
	zoneHour, zoneMin  int
	zoneNeg            bool
}

func errTemplateValue(value, pattern string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidDatetimeFormat, `invalid value "%s" for "%s"`, value, pattern)
}

// ToTimestamp is to_timestamp(text, format): a timestamptz in the session's zone unless
// the text has a displacement.
func ToTimestamp(env *Env, text, format string) (Datum, error) {
	f, err := readTemplate(text, format)
	if err != nil {
		return Null, err
	}
	days, us, err := f.stamp(text)
	if err != nil {
		return Null, err
	}
	ts, ok := combine(days, us)
	if !ok {
		return Null, errDatetimeOverflow("timestamp")
	}
	if f.zoned {
		off := f.zoneHour*3600 + f.zoneMin*60
		if f.zoneNeg {
			off = -off
		}
		return stamp(ts - int64(off)*usPerSecond)
	}
	return stamp(toUTC(env.loc(), ts))
}

// ToDate is to_date(text, format).
func ToDate(text, format string) (Datum, error) {
	f, err := readTemplate(text, format)
	if err != nil {
		return Null, err
	}
	days, _, err := f.stamp(text)
	if err != nil {
		return Null, err
	}
	if days < minDate || days >= endDate {
		return Null, pgerr.New(pgerr.DatetimeFieldOverflow, `date out of range: "%s"`, text)
	}
	return Int(days), nil
}

// stamp checks the fields and makes days and microseconds of them.
func (f *fromTemplate) stamp(text string) (days, us int64, err error) {
	overflow := func() (int64, int64, error) { return 0, 0, errDatetimeField([]byte(text)) }
	if f.hasSSSS {
		f.hour, f.min, f.sec = f.ssss/3600, f.ssss/60%60, f.ssss%60
	}
	if f.twelve {
		if f.hour < 1 || f.hour > 12 {
			return 0, 0, pgerr.New(pgerr.InvalidDatetimeFormat, `hour "%d" is invalid for the 12-hour clock`, f.hour).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		if f.pm && f.hour < 12 {
			f.hour += 12
		} else if !f.pm && f.hour == 12 {
			f.hour = 0
		}
	}
	if f.hour > 23 || f.min > 59 || f.sec > 59 {
		if !(f.hour == 24 && f.min == 0 && f.sec == 0 && f.us == 0) && f.sec != 60 || f.hour > 24 || f.min > 59 {
			return overflow()
		}
	}
	us = int64(f.hour)*usPerHour + int64(f.min)*usPerMinute + int64(f.sec)*usPerSecond + int64(f.us)
	if f.hasJulian {
		return f.julian - epochJulian, us, nil
	}
	year := 0 // nothing said: 1 BC
	if f.hasYear {
		year = f.year
		if f.bc {
			if year > 0 {
				year = 1 - year
			}
		} else if year < 0 {
			year++
		}
	}
	if f.hasDOY {
		limit := 365
		if isLeap(year) {
			limit = 366
		}
		if f.yearDay < 1 || f.yearDay > limit {
			return overflow()
		}
		return daysFromCivil(year, 1, 1) + int64(f.yearDay) - 1, us, nil
	}
	month, day := f.month, f.day
	if month == 0 {
		month = 1
	}
	if day == 0 {
		day = 1
	}
	if month > 12 || day > daysInMonth(year, month) {
		return overflow()
	}
	return daysFromCivil(year, month, day), us, nil
}

// templateReader walks the input text along a template.
type templateReader struct {
	s string
}

func (r *templateReader) blanks() {
	for len(r.s) > 0 && isSpace(r.s[0]) {
		r.s = r.s[1:]
	}
}

// number reads an integer: at most width digits, or all there are when free.
func (r *templateReader) number(pattern string, width int, free bool) (v, n int, err error) {
	r.blanks()
	if r.s == "" {
		return 0, 0, nil // a template may say more than the text
	}
	i := 0
	if r.s[0] == '-' || r.s[0] == '+' {
		i++
	}
	from := i
	for i < len(r.s) && isDigit(r.s[i]) && (free || i < width) {
		i++
	}
	if i == from {
		bad := r.s[:min(len(r.s), width)]
		return 0, 0, errTemplateValue(bad, pattern).WithDetail("Value must be an integer.")
	}
	v, convErr := strconv.Atoi(r.s[:i])
	if convErr != nil || v > 1<<31-1 {
		return 0, 0, pgerr.New(pgerr.DatetimeFieldOverflow, `value for "%s" in source string is out of range`, pattern)
	}
	n = i - from
	r.s = r.s[i:]
	return v, n, nil
}

// name reads one of the names (in any case) and answers its index.
func (r *templateReader) name(pattern string, names []string, short int) (int, error) {
	r.blanks()
	for i, n := range names {
		if short > 0 {
			n = n[:short]
		}
		if len(r.s) >= len(n) && strings.EqualFold(r.s[:len(n)], n) {
			r.s = r.s[len(n):]
			return i, nil
		}
	}
	end := 0
	for end < len(r.s) && !isSpace(r.s[end]) {
		end++
	}
	return 0, errTemplateValue(r.s[:end], pattern).WithDetail("The given value did not match any of the allowed values for this field.")
}

func readTemplate(text, format string) (*fromTemplate, error) {
	f := &fromTemplate{}
	r := &templateReader{s: text}
	nodes := parseTemplate(format)
	for i := range nodes {
		n := &nodes[i]
		if r.s == "" {
			break
		}
		if n.pattern == "" {
			for j := range len(n.text) {
				r.skip(n.text[j])
			}
			continue
		}
		// A number runs on unless another number follows directly.
		free := n.fm || i+1 == len(nodes) || nodes[i+1].pattern == "" && !isDigit(nodes[i+1].text[0]) || nodes[i+1].pattern != "" && !numericPattern(nodes[i+1].pattern)
		if err := f.read(r, n, free); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// skip passes what a template's literal character stands for: a separator matches any
// run of separators, another character any one character.
func (r *templateReader) skip(c byte) {
	sep := func(c byte) bool { return c > ' ' && c < 0x7f && !isAlpha(c) && !isDigit(c) || isSpace(c) }
	if r.s == "" {
		return
	}
	if isSpace(c) || sep(c) {
		if sep(r.s[0]) && !(r.s[0] == '-' || r.s[0] == '+') {
			r.s = r.s[1:]
		} else if (r.s[0] == '-' || r.s[0] == '+') && !isSpace(c) {
			r.s = r.s[1:]
		}
		return
	}
	r.s = r.s[1:]
}

func numericPattern(p string) bool {
	switch strings.ToUpper(p) {
	case "MONTH", "MON", "DAY", "DY", "AM", "PM", "A.M.", "P.M.", "BC", "AD", "B.C.", "A.D.", "TZ", "RM", "OF", "TZH":
		return false
	}
	return true
}

func (f *fromTemplate) read(r *templateReader, n *dtNode, free bool) error {
	int2 := func(dst *int, width int) error {
		v, _, err := r.number(n.pattern, width, free)
		*dst = v
		return err
	}
	fraction := func(digits int) error {
		v, got, err := r.number(n.pattern, digits, free)
		if err != nil {
			return err
		}
		for ; got < digits; got++ {
			v *= 10
		}
		for ; got > digits; got-- {
			v /= 10
		}
		f.us += v * int(pow10int[6-digits])
		return nil
	}
	switch up := strings.ToUpper(n.pattern); up {
	case "HH24":
		return int2(&f.hour, 2)
	case "HH12", "HH":
		f.twelve = true
		return int2(&f.hour, 2)
	case "MI":
		return int2(&f.min, 2)
	case "SS":
		return int2(&f.sec, 2)
	case "SSSS", "SSSSS":
		f.hasSSSS = true
		return int2(&f.ssss, 5)
	case "MS", "FF3":
		return fraction(3)
	case "US", "FF6":
		return fraction(6)
	case "FF1", "FF2", "FF4", "FF5":
		return fraction(int(up[2] - '0'))
	case "AM", "PM", "A.M.", "P.M.":
		names := []string{"am", "pm"}
		if strings.IndexByte(up, '.') >= 0 {
			names = []string{"a.m.", "p.m."}
		}
		v, err := r.name(n.pattern, names, 0)
		f.pm, f.am, f.twelve = v == 1, v == 0, true
		return err
	case "BC", "AD", "B.C.", "A.D.":
		names := []string{"ad", "bc"}
		if strings.IndexByte(up, '.') >= 0 {
			names = []string{"a.d.", "b.c."}
		}
		v, err := r.name(n.pattern, names, 0)
		f.bc = v == 1
		return err
	case "YYYY":
		f.hasYear = true
		return int2(&f.year, 4)
	case "Y,YYY":
		f.hasYear = true
		a, _, err := r.number(n.pattern, 9, true)
		if err != nil {
			return err
		}
		if r.s != "" && r.s[0] == ',' {
			r.s = r.s[1:]
		}
		b, _, err := r.number(n.pattern, 3, false)
		f.year = a*1000 + b
		return err
	case "YYY", "YY", "Y":
		f.hasYear = true
		v, got, err := r.number(n.pattern, len(up), free)
		if err == nil && got < 4 {
			// The year nearest 2020 is meant.
			switch {
			case v < 70:
				v += 2000
			case v < 100:
				v += 1900
			case v < 520:
				v += 2000
			case v < 1000:
				v += 1000
			}
		}
		f.year = v
		return err
	case "MM":
		return int2(&f.month, 2)
	case "DD":
		return int2(&f.day, 2)
	case "DDD":
		f.hasDOY = true
		return int2(&f.yearDay, 3)
	case "MONTH":
		v, err := r.name(n.pattern, monthNames[:], 0)
		f.month = v + 1
		return err
	case "MON":
		v, err := r.name(n.pattern, monthNames[:], 3)
		f.month = v + 1
		return err
	case "DAY":
		_, err := r.name(n.pattern, dayNames[:], 0)
		return err
	case "DY":
		_, err := r.name(n.pattern, dayNames[:], 3)
		return err
	case "J":
		f.hasJulian = true
		v, _, err := r.number(n.pattern, 9, true)
		f.julian = int64(v)
		return err
	case "TZH":
		f.zoned = true
		r.blanks()
		if r.s != "" && (r.s[0] == '-' || r.s[0] == '+') {
			f.zoneNeg = r.s[0] == '-'
			r.s = r.s[1:]
		}
		return int2(&f.zoneHour, 2)
	case "TZM":
		f.zoned = true
		return int2(&f.zoneMin, 2)
	case "Q", "D", "ID", "W":
		_, _, err := r.number(n.pattern, 1, free)
		return err
	}
	return pgerr.New(pgerr.FeatureNotSupported, `formatting field "%s" is only supported in to_char`, n.pattern)
}
