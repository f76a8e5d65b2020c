package partition

import (
	"fmt"
	"strings"
	"time"
)

// pivotYear is the first of the hundred years that two digits stand for, as POSIX has it:
// 69 is 1969, 68 is 2068.
const pivotYear = 1969

// reading is which fields of a value say what time it is for.
type reading struct {
	year byte // Y, y or G
	day  byte // m: month alone; d: month and day; j; V: ISO week; U, W: weeks of the year
	hour byte // 0, H or I
}

// invert finds out how values are read back, or why they cannot be.
func (l *layout) invert(k Kind, format string) {
	has := func(fields string) bool {
		for _, e := range l.elements {
			if e.field != 0 && strings.IndexByte(fields, e.field) >= 0 {
				return true
			}
		}
		return false
	}
	for i, e := range l.elements[:len(l.elements)-1] {
		next := l.elements[i+1]
		digit := next.field == 0 && next.literal[0] >= '0' && next.literal[0] <= '9'
		if e.bare && (digit || next.field != 0 && namesOf(next.field) == nil) {
			l.ambiguous = fmt.Errorf("%w: in %q nothing says where %%-%c ends; write %%%c", ErrAmbiguous, format, e.field, e.field)
			return
		}
	}
	year := byte(0)
	switch {
	case has("Y"):
		year = 'Y'
	case has("y"):
		year = 'y'
	}
	weekday := has("aAuw")
	switch {
	case k == Weekly && has("G") && has("V"), k != Weekly && k != Monthly && has("G") && has("V") && weekday:
		l.how = reading{year: 'G', day: 'V'}
	case year == 0:
	case k == Monthly && has("mbhB"):
		l.how = reading{year: year, day: 'm'}
	case k == Weekly || k == Monthly:
	case has("mbhB") && has("d"):
		l.how = reading{year: year, day: 'd'}
	case has("j"):
		l.how = reading{year: year, day: 'j'}
	case has("U") && weekday:
		l.how = reading{year: year, day: 'U'}
	case has("W") && weekday:
		l.how = reading{year: year, day: 'W'}
	}
	l.pivot = l.how.year == 'y'
	if k == Hourly {
		switch {
		case has("H"):
			l.how.hour = 'H'
		case has("I") && has("p"):
			l.how.hour = 'I'
		}
	}
	if l.how.day == 0 || k == Hourly && l.how.hour == 0 {
		l.ambiguous = fmt.Errorf("%w: %q has the same value for several partitions that are %s; %s has not", ErrAmbiguous, format, k, kinds[k].format)
	}
}

// fields are what a value says, by field in digits: the month of a name is under m, the
// half of a day under p, the day of the week under w. What it does not say is 0.
type fields [128]int

// read is the wall time at which the bucket of a value begins.
func (s Spec) read(value string) (time.Time, error) {
	if s.Kind == Dynamic {
		return time.Time{}, ErrDynamic
	}
	if s.layout.ambiguous != nil {
		return time.Time{}, s.layout.ambiguous
	}
	bad := fmt.Errorf("%w: %q; partitions that are %s look like %s (%s)", ErrValue, value, s.Kind, s.example(), s.Format)
	f, ok := s.layout.scan(value)
	if !ok {
		return time.Time{}, bad
	}
	wall, ok := s.layout.how.wall(&f)
	if !ok {
		return time.Time{}, bad
	}
	// What is said twice must agree, and no day or week may be one too many.
	if again, err := s.write(wall); err != nil || again != value {
		return time.Time{}, bad
	}
	return s.Kind.truncate(wall), nil
}

func (s Spec) example() string {
	return string(s.layout.append(nil, time.Date(2026, time.July, 5, 14, 0, 0, 0, time.UTC)))
}

// scan takes a value apart.
func (l layout) scan(value string) (f fields, ok bool) {
	for _, e := range l.elements {
		if e.field == 0 {
			value, ok = strings.CutPrefix(value, e.literal)
		} else if names := namesOf(e.field); names != nil {
			value, ok = f.word(e.field, names, value)
		} else {
			value, ok = f.digits(e, value)
		}
		if !ok {
			return f, false
		}
	}
	return f, value == ""
}

// word reads a field that is one of names, none of which begins with another.
func (f *fields) word(field byte, names []string, value string) (rest string, ok bool) {
	for i, name := range names {
		if rest, ok = strings.CutPrefix(value, name); !ok {
			continue
		}
		switch field {
		case 'b', 'h', 'B':
			f['m'] = i + 1
		case 'a', 'A':
			f['w'] = i
		default:
			f[field] = i
		}
		return rest, true
	}
	return value, false
}

func (f *fields) digits(e element, value string) (rest string, ok bool) {
	n, i, width := 0, 0, widthOf(e.field)
	for i < len(value) && i < width && value[i] >= '0' && value[i] <= '9' {
		n = n*10 + int(value[i]-'0')
		i++
	}
	if i == 0 || !e.bare && i < width {
		return value, false
	}
	if f[e.field] = n; e.field == 'u' {
		f['w'] = n % 7
	}
	return value[i:], true
}

// wall is the wall time that the fields say. It may be of another day than they say, if
// there is none such: who calls writes it again and compares.
func (r reading) wall(f *fields) (time.Time, bool) {
	year := f[r.year]
	if r.year == 'y' {
		year += pivotYear - pivotYear%100
		if year < pivotYear {
			year += 100
		}
	}
	if year < minYear {
		return time.Time{}, false
	}
	day := func(m time.Month, d int) time.Time { return time.Date(year, m, d, 0, 0, 0, 0, time.UTC) }
	var wall time.Time
	switch r.day {
	case 'm':
		wall = day(time.Month(f['m']), 1)
	case 'd':
		wall = day(time.Month(f['m']), f['d'])
	case 'j':
		wall = day(time.January, f['j'])
	case 'V': // January 4th is always in the first week
		monday := day(time.January, 4)
		monday = monday.AddDate(0, 0, -mondayIndex(monday))
		wall = monday.AddDate(0, 0, 7*(f['V']-1)+(f['w']+6)%7)
	case 'U': // week 1 begins with the first Sunday
		sunday := day(time.January, 1)
		sunday = sunday.AddDate(0, 0, (7-int(sunday.Weekday()))%7)
		wall = sunday.AddDate(0, 0, 7*(f['U']-1)+f['w'])
	case 'W': // week 1 begins with the first Monday
		monday := day(time.January, 1)
		monday = monday.AddDate(0, 0, (7-mondayIndex(monday))%7)
		wall = monday.AddDate(0, 0, 7*(f['W']-1)+(f['w']+6)%7)
	}
	switch r.hour {
	case 'H':
		wall = wall.Add(time.Duration(f['H']) * time.Hour)
	case 'I':
		wall = wall.Add(time.Duration(f['I']%12+12*f['p']) * time.Hour)
	}
	return wall, true
}
