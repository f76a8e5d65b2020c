package exec

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// dateWords are to_char's date patterns, longest first.
var dateWords = []string{
	"HH24", "HH12", "YYYY", "Y,YYY", "MONTH", "Month", "month", "SSSSS", "SSSS", "A.D.", "a.d.", "B.C.", "A.M.", "P.M.", "a.m.", "p.m.",
	"IYYY", "IDDD", "DAY", "Day", "day", "MON", "Mon", "mon", "DDD", "YYY", "IYY", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "TZH", "TZM",
	"HH", "MI", "SS", "MS", "US", "AM", "PM", "am", "pm", "YY", "IY", "IW", "ID", "MM", "DY", "Dy", "dy", "DD", "WW", "CC", "RM", "rm",
	"TZ", "tz", "OF", "AD", "BC", "ad", "bc", "Q", "W", "D", "J", "Y", "I",
}

// dateToken is a piece of a date template.
type dateToken struct {
	word string // "" for literal text
	text string
	fm   bool
	th   string
}

func dateTokens(f string) []dateToken {
	var out []dateToken
	lit := func(s string) {
		if n := len(out); n > 0 && out[n-1].word == "" {
			out[n-1].text += s
			return
		}
		out = append(out, dateToken{text: s})
	}
	for i := 0; i < len(f); {
		if f[i] == '"' {
			end := strings.IndexByte(f[i+1:], '"')
			if end < 0 {
				lit(f[i+1:])
				break
			}
			lit(f[i+1 : i+1+end])
			i += end + 2
			continue
		}
		if f[i] == '\\' && i+1 < len(f) && f[i+1] == '"' {
			lit(`"`)
			i += 2
			continue
		}
		fm := false
		j := i
		if strings.HasPrefix(f[j:], "FM") || strings.HasPrefix(f[j:], "TM") {
			fm = true
			j += 2
		} else if strings.HasPrefix(f[j:], "FX") {
			i += 2
			continue
		}
		word := ""
		for _, w := range dateWords {
			if strings.HasPrefix(f[j:], w) {
				word = w
				break
			}
		}
		if word == "" {
			up := strings.ToUpper(f[j:min(len(f), j+5)])
			for _, w := range dateWords {
				if strings.ToUpper(w) == w && strings.HasPrefix(up, w) && len(w) > 1 && w != "MONTH" && w != "DAY" && w != "MON" && w != "DY" {
					word = w
					break
				}
			}
		}
		if word == "" {
			lit(f[i : i+1])
			i++
			continue
		}
		j += len(word)
		t := dateToken{word: word, fm: fm}
		if strings.HasPrefix(f[j:], "TH") || strings.HasPrefix(f[j:], "th") {
			t.th = f[j : j+2]
			j += 2
		}
		out = append(out, t)
		i = j
	}
	return out
}

func ordinalSuffix(n int) string {
	if n%100 >= 11 && n%100 <= 13 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// charDate formats a time by a template.
func charDate(t time.Time, f string) string {
	var b strings.Builder
	for _, tk := range dateTokens(f) {
		if tk.word == "" {
			b.WriteString(tk.text)
			continue
		}
		n, w := math.MinInt, 0
		s := ""
		num := func(v, width int) { n, w = v, width }
		name := func(v string, width int) {
			s = v
			if !tk.fm {
				s += strings.Repeat(" ", max(0, width-len(v)))
			}
		}
		iy, iw := t.ISOWeek()
		y := t.Year()
		switch tk.word {
		case "YYYY":
			num(y, 4)
		case "YYY":
			num(y%1000, 3)
		case "YY":
			num(y%100, 2)
		case "Y":
			num(y%10, 1)
		case "Y,YYY":
			s = strconv.Itoa(y/1000) + "," + zeros(y%1000, 3)
		case "IYYY":
			num(iy, 4)
		case "IYY":
			num(iy%1000, 3)
		case "IY":
			num(iy%100, 2)
		case "I":
			num(iy%10, 1)
		case "CC":
			num((y+99)/100, 2)
		case "MM":
			num(int(t.Month()), 2)
		case "MONTH":
			name(strings.ToUpper(t.Month().String()), 9)
		case "Month":
			name(t.Month().String(), 9)
		case "month":
			name(strings.ToLower(t.Month().String()), 9)
		case "MON":
			s = strings.ToUpper(t.Month().String()[:3])
		case "Mon":
			s = t.Month().String()[:3]
		case "mon":
			s = strings.ToLower(t.Month().String()[:3])
		case "DAY":
			name(strings.ToUpper(t.Weekday().String()), 9)
		case "Day":
			name(t.Weekday().String(), 9)
		case "day":
			name(strings.ToLower(t.Weekday().String()), 9)
		case "DY":
			s = strings.ToUpper(t.Weekday().String()[:3])
		case "Dy":
			s = t.Weekday().String()[:3]
		case "dy":
			s = strings.ToLower(t.Weekday().String()[:3])
		case "DDD":
			num(t.YearDay(), 3)
		case "DD":
			num(t.Day(), 2)
		case "D":
			num(int(t.Weekday())+1, 1)
		case "ID":
			num((int(t.Weekday())+6)%7+1, 1)
		case "IDDD":
			num((iw-1)*7+(int(t.Weekday())+6)%7+1, 3)
		case "WW":
			num((t.YearDay()-1)/7+1, 2)
		case "W":
			num((t.Day()-1)/7+1, 1)
		case "IW":
			num(iw, 2)
		case "Q":
			num((int(t.Month())-1)/3+1, 1)
		case "J":
			num(int(t.Unix()/86400)+2440588, 7)
		case "HH24":
			num(t.Hour(), 2)
		case "HH", "HH12":
			num((t.Hour()+11)%12+1, 2)
		case "MI":
			num(t.Minute(), 2)
		case "SS":
			num(t.Second(), 2)
		case "MS", "FF3":
			num(t.Nanosecond()/1e6, 3)
		case "US", "FF6":
			num(t.Nanosecond()/1e3, 6)
		case "FF1", "FF2", "FF4", "FF5":
			d := int(tk.word[2] - '0')
			s = zeros(t.Nanosecond()/1e3, 6)[:d]
		case "SSSS", "SSSSS":
			num(t.Hour()*3600+t.Minute()*60+t.Second(), 1)
		case "AM", "PM":
			s = ampm(t, "AM", "PM")
		case "am", "pm":
			s = ampm(t, "am", "pm")
		case "A.M.", "P.M.":
			s = ampm(t, "A.M.", "P.M.")
		case "a.m.", "p.m.":
			s = ampm(t, "a.m.", "p.m.")
		case "AD", "BC":
			s = "AD"
		case "ad", "bc":
			s = "ad"
		case "A.D.", "B.C.":
			s = "A.D."
		case "a.d.":
			s = "a.d."
		case "RM", "rm":
			r := []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}[t.Month()-1]
			if tk.word == "rm" {
				r = strings.ToLower(r)
			}
			name(r, 4)
		case "TZ", "tz", "OF", "TZH", "TZM":
			s = zoneText(t, tk.word)
		}
		if n != math.MinInt {
			s = strconv.Itoa(n)
			if !tk.fm {
				s = zeros(n, w)
			}
			if tk.th != "" {
				suf := ordinalSuffix(n)
				if tk.th == "TH" {
					suf = strings.ToUpper(suf)
				}
				s += suf
			}
		}
		b.WriteString(s)
	}
	return b.String()
}

func zeros(n, w int) string {
	s := strconv.Itoa(n)
	if len(s) >= w {
		return s
	}
	return strings.Repeat("0", w-len(s)) + s
}

func ampm(t time.Time, am, pm string) string {
	if t.Hour() < 12 {
		return am
	}
	return pm
}

func zoneText(t time.Time, word string) string {
	name, off := t.Zone()
	switch word {
	case "TZ":
		return name
	case "tz":
		return strings.ToLower(name)
	}
	sign := "+"
	if off < 0 {
		sign, off = "-", -off
	}
	switch word {
	case "TZH":
		return sign + zeros(off/3600, 2)
	case "TZM":
		return zeros(off/60%60, 2)
	}
	s := sign + zeros(off/3600, 2)
	if off/60%60 != 0 {
		s += ":" + zeros(off/60%60, 2)
	}
	return s
}

// charNumber formats a number's digits by a template.
func charNumber(neg bool, digits, f string) string {
	up := strings.ToUpper(f)
	fm := strings.Contains(up, "FM")
	up = strings.ReplaceAll(up, "FM", "")
	intPart, frac, _ := strings.Cut(digits, ".")
	point := strings.IndexAny(up, ".D")
	before, after := up, ""
	if point >= 0 {
		before, after = up[:point], up[point+1:]
	}
	slots := strings.Count(before, "9") + strings.Count(before, "0")
	intPart = strings.TrimLeft(intPart, "0")
	over := len(intPart) > slots
	var b strings.Builder
	k := -(slots - len(intPart))
	started, signed := false, false
	sign := func() {
		if signed {
			return
		}
		signed = true
		if neg {
			b.WriteByte('-')
		} else if !fm {
			b.WriteByte(' ')
		}
	}
	explicit := strings.ContainsAny(up, "S") || strings.Contains(up, "MI") || strings.Contains(up, "PR")
	zero := false
	for i := 0; i < len(before); i++ {
		switch before[i] {
		case '9', '0':
			zero = zero || before[i] == '0'
			switch {
			case over:
				if !started && !explicit {
					sign()
				}
				started = true
				b.WriteByte('#')
			case k >= 0:
				if !started && !explicit {
					sign()
				}
				started = true
				b.WriteByte(intPart[k])
			case zero:
				if !started && !explicit {
					sign()
				}
				started = true
				b.WriteByte('0')
			default:
				if !fm {
					b.WriteByte(' ')
				}
			}
			k++
		case ',', 'G':
			switch {
			case started:
				b.WriteByte(',')
			case !fm:
				b.WriteByte(' ')
			}
		case 'S':
			if neg {
				b.WriteByte('-')
			} else {
				b.WriteByte('+')
			}
		case 'P', 'L', 'R', 'M', 'I', 'T', 'H', 'V', 'E':
		default:
			b.WriteByte(before[i])
		}
	}
	if !started && !explicit && point < 0 {
		sign()
		b.WriteByte('0')
	} else if !started && !explicit {
		sign()
	}
	if point >= 0 {
		tail := "."
		n, lastZero := 0, 0
		for i := 0; i < len(after); i++ {
			if after[i] == '9' || after[i] == '0' {
				ch := byte('0')
				if over {
					ch = '#'
				} else if n < len(frac) {
					ch = frac[n]
				}
				tail += string(ch)
				n++
				if after[i] == '0' || ch != '0' {
					lastZero = len(tail)
				}
			}
		}
		if fm {
			tail = tail[:max(lastZero, 1)]
		}
		b.WriteString(tail)
	}
	s := b.String()
	switch {
	case strings.HasSuffix(up, "MI"):
		if neg {
			s += "-"
		} else if !fm {
			s += " "
		}
	case strings.HasSuffix(up, "PR"):
		if neg {
			s = "<" + strings.TrimLeft(s, " ") + ">"
		} else if !fm {
			s = " " + s + " "
		}
	}
	return s
}

func toCharNumber(c *Call) (types.Datum, error) {
	f := c.str(1)
	scale := 0
	if p := strings.IndexAny(strings.ToUpper(f), ".D"); p >= 0 {
		scale = strings.Count(f[p:], "9") + strings.Count(f[p:], "0")
	}
	d := c.Args[0]
	if c.Types[0].OID != tNum {
		var err error
		if d, err = c.cast(c.Types[0], types.T{OID: tNum, Mod: -1}, d, true); err != nil {
			return d, err
		}
	}
	if !types.NumericIsFinite(d) {
		return c.textOf(tNum, d), nil
	}
	r, err := types.NumericRound(d, scale)
	if err != nil {
		return types.Null, err
	}
	s := string(c.textOf(tNum, r).B)
	neg := strings.HasPrefix(s, "-")
	return Str(charNumber(neg, strings.TrimPrefix(s, "-"), f)), nil
}

// parseDate reads text by a template.
func parseDate(s, f string, loc *time.Location) (time.Time, error) {
	y, mo, d, h, mi, sec, us := 1, 1, 1, 0, 0, 0, 0
	pm, twelve, doy := false, false, 0
	bad := func(word, got string) error {
		return pgerr.New(pgerr.InvalidDatetimeFormat, "invalid value %q for %q", got, word).WithDetail("Value must be an integer.")
	}
	i := 0
	for _, tk := range dateTokens(f) {
		if tk.word == "" {
			for range tk.text {
				if i < len(s) && (s[i] < '0' || s[i] > '9') {
					i++
				}
			}
			continue
		}
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i >= len(s) {
			break
		}
		up := strings.ToUpper(tk.word)
		switch up {
		case "AM", "PM", "A.M.", "P.M.":
			pm = strings.HasPrefix(strings.ToUpper(s[i:]), "P")
			twelve = true
			i = min(len(s), i+len(up))
			continue
		case "MON", "MONTH":
			found := false
			for m := time.January; m <= time.December; m++ {
				n := m.String()
				if up == "MON" {
					n = n[:3]
				}
				if len(s)-i >= len(n) && strings.EqualFold(s[i:i+len(n)], n) {
					mo, found = int(m), true
					i += len(n)
					break
				}
			}
			if !found {
				return time.Time{}, pgerr.New(pgerr.InvalidDatetimeFormat, "invalid value %q for %q", s[i:min(len(s), i+3)], tk.word).
					WithDetail("The given value did not match any of the allowed values for this field.")
			}
			continue
		case "DAY", "DY":
			for i < len(s) && s[i] != ' ' && s[i] != ',' {
				i++
			}
			continue
		}
		width := map[string]int{"YYYY": 4, "MS": 3, "US": 6, "DDD": 3, "SSSS": 5, "SSSSS": 5, "YYY": 3, "Y": 1}[up]
		if width == 0 {
			width = 2
		}
		start := i
		if i < len(s) && (s[i] == '-' || s[i] == '+') && up == "YYYY" {
			i++
		}
		for i < len(s) && i-start < width && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		v, err := strconv.Atoi(s[start:i])
		if err != nil {
			return time.Time{}, bad(tk.word, s[start:min(len(s), start+width)])
		}
		switch up {
		case "YYYY":
			y = v
		case "YY":
			y = 2000 + v
			if v >= 70 {
				y = 1900 + v
			}
		case "MM":
			mo = v
		case "DD":
			d = v
		case "DDD":
			doy = v
		case "HH24":
			h = v
		case "HH", "HH12":
			h, twelve = v, true
		case "MI":
			mi = v
		case "SS":
			sec = v
		case "MS":
			us = v * 1000
		case "US":
			us = v
		case "SSSS", "SSSSS":
			h, mi, sec = v/3600, v/60%60, v%60
		}
	}
	if twelve {
		if h == 12 {
			h = 0
		}
		if pm {
			h += 12
		}
	}
	if doy > 0 {
		mo, d = 1, doy
	} else if mo < 1 || mo > 12 || d < 1 || d > 31 || time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC).Day() != d {
		return time.Time{}, pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: %q", s)
	}
	if h > 23 || mi > 59 || sec > 59 {
		return time.Time{}, pgerr.New(pgerr.DatetimeFieldOverflow, "date/time field value out of range: %q", s)
	}
	return time.Date(y, time.Month(mo), d, h, mi, sec, us*1000, loc), nil
}

func formatFuncs() []Func {
	loc := func(c *Call) *time.Location {
		if c.Env != nil && c.Env.Location != nil {
			return c.Env.Location
		}
		return time.UTC
	}
	stamp := func(c *Call) (types.Datum, error) {
		v := c.Args[0].I
		if v == math.MaxInt64 || v == math.MinInt64 {
			return types.Null, nil
		}
		t := types.TimestampToTime(c.Args[0]).UTC()
		if c.Types[0].OID == tTZ {
			t = t.In(loc(c))
		}
		return Str(charDate(t, c.str(1))), nil
	}
	interval := func(c *Call) (types.Datum, error) {
		iv := c.Args[0]
		t := time.Date(int(iv.K)/12, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(iv.I) * time.Microsecond)
		return Str(charDate(t, c.str(1))), nil
	}
	var out []Func
	for _, t := range []types.OID{tInt4, tInt8, tF4, tF8, tNum} {
		out = append(out, stableFn("to_char", tText, toCharNumber, t, tText))
	}
	return append(
		out,
		stableFn("to_char", tText, stamp, tTS, tText), stableFn("to_char", tText, stamp, tTZ, tText), stableFn("to_char", tText, interval, tIv, tText),
		stableFn("to_date", tDate, func(c *Call) (types.Datum, error) {
			t, err := parseDate(c.str(0), c.str(1), time.UTC)
			if err != nil {
				return types.Null, err
			}
			return types.MakeDate(t.Year(), int(t.Month()), t.Day())
		}, tText, tText),
		stableFn("to_timestamp", tTZ, func(c *Call) (types.Datum, error) {
			t, err := parseDate(c.str(0), c.str(1), loc(c))
			if err != nil {
				return types.Null, err
			}
			return types.TimestampFromTime(t), nil
		}, tText, tText),
		stableFn("to_number", tNum, func(c *Call) (types.Datum, error) {
			s := strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' || r == '.' || r == '-' {
					return r
				}
				return -1
			}, c.str(0))
			if strings.HasSuffix(s, "-") {
				s = "-" + strings.TrimSuffix(s, "-")
			}
			return types.Input(c.Env, types.T{OID: tNum, Mod: -1}, []byte(s))
		}, tText, tText),
	)
}
