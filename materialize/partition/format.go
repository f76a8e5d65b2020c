package partition

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// layout is a compiled format.
type layout struct {
	elements []element
	how      reading // the fields that say which bucket a value is for
	pivot    bool    // the year has two digits
	// ambiguous says why there is no way back from a value to its bucket; nil if there is.
	ambiguous error
}

// element is a piece of a format: literal text, or a field of the time.
type element struct {
	literal string
	field   byte // the character behind %; 0 for literal text
	bare    bool // without leading zeros: a minus is between them
}

// The fields of strftime as DuckDB has it, by what a partition can do with them: each kind
// may use those that are the same in all of its bucket.
const (
	fieldsMonthly = "YymbhB"
	fieldsWeekly  = "GV"
	fieldsDaily   = fieldsMonthly + fieldsWeekly + "djUWaAuw"
	fieldsHourly  = fieldsDaily + "HIp"
	fieldsFiner   = "MSfgn" // change within an hour
	fieldsZone    = "zZ"    // of a time without a zone DuckDB writes +00 and nothing
	fieldsBare    = "dmyHIMSj"
)

// compounds are fields that stand for others.
var compounds = map[byte]string{'c': "%Y-%m-%d %H:%M:%S", 'x': "%Y-%m-%d", 'X': "%H:%M:%S", 'T': "%H:%M:%S"}

// elsewhere has the fields that other strftimes have, and what to write for them.
var elsewhere = map[byte]string{
	'e': "%-d is the day without a zero",
	'D': "write %m/%d/%y",
	'F': "write %Y-%m-%d",
	'k': "%-H is the hour without a zero",
	'l': "%-I is the hour of 12 without a zero",
	'P': "%p is AM and PM",
	'C': "%Y is the year with its century",
	's': "a partition has no seconds",
	'N': "a partition has no parts of seconds",
	'L': "a partition has no parts of seconds",
	'R': "write %H:%M",
	'r': "write %I:%M:%S %p",
	'q': "there are no quarters",
	'Q': "there are no quarters",
	'v': "%V is the ISO week",
	't': "write the tab itself",
}

func (k Kind) fields() string {
	switch k {
	case Hourly:
		return fieldsHourly
	case Weekly:
		return fieldsWeekly
	case Monthly:
		return fieldsMonthly
	}
	return fieldsDaily
}

// compile takes a format apart and refuses what is no name for buckets of kind k.
func compile(k Kind, format string) (layout, error) {
	if !utf8.ValidString(format) || strings.ContainsRune(format, 0) {
		return layout{}, fmt.Errorf("%w %q: not a text", ErrFormat, format)
	}
	var l layout
	if err := l.add(k, format); err != nil {
		return layout{}, fmt.Errorf("%w %q: %w", ErrFormat, format, err)
	}
	fields := false
	for _, e := range l.elements {
		fields = fields || e.field != 0
	}
	if !fields {
		return layout{}, fmt.Errorf("%w %q: all partitions would have the same name; %s partitions are by default %s", ErrFormat, format, k, kinds[k].format)
	}
	l.invert(k, format)
	return l, nil
}

// add compiles a part of a format.
func (l *layout) add(k Kind, format string) error {
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			i = len(format)
		}
		l.literal(format[:i])
		if format = format[i:]; format == "" {
			return nil
		}
		spec, bare := format[1:], false
		if spec != "" && spec[0] == '-' {
			spec, bare = spec[1:], true
		}
		if spec == "" {
			return fmt.Errorf("it ends inside of %s; a percent sign itself is %%%%", format)
		}
		c := spec[0]
		_, size := utf8.DecodeRuneInString(spec)
		name := format[:len(format)-len(spec)+size]
		format = spec[1:]
		if c == '%' && !bare {
			l.literal("%")
			continue
		}
		if sub, ok := compounds[c]; ok && !bare {
			if err := l.add(k, sub); err != nil {
				return fmt.Errorf("%s is %s: %w", name, sub, err)
			}
			continue
		}
		if err := fieldError(k, name, c, bare); err != nil {
			return err
		}
		l.elements = append(l.elements, element{field: c, bare: bare})
	}
	return nil
}

func (l *layout) literal(s string) {
	if s == "" {
		return
	}
	if n := len(l.elements); n > 0 && l.elements[n-1].field == 0 {
		l.elements[n-1].literal += s
		return
	}
	l.elements = append(l.elements, element{literal: s})
}

// fieldError says why a partition of kind k cannot have a field.
func fieldError(k Kind, name string, c byte, bare bool) error {
	known := strings.IndexByte(fieldsHourly+fieldsFiner, c) >= 0
	switch {
	case strings.IndexByte(fieldsZone, c) >= 0 && bare:
		return fmt.Errorf("no field %s; the zone is not part of a partition's name", name)
	case strings.IndexByte(fieldsZone, c) >= 0:
		return fmt.Errorf("%s: the zone is not part of a partition's name", name)
	case bare && known && strings.IndexByte(fieldsBare, c) < 0:
		return fmt.Errorf("no field %s; write %%%c", name, c)
	case known && strings.IndexByte(k.fields(), c) >= 0:
		return nil
	case k == Weekly && known:
		return fmt.Errorf("%s can change within an ISO week; write %%G for its year and %%V for its number", name)
	case known:
		return fmt.Errorf("%s changes within a partition that is %s; fields are %s", name, k, fieldList(k))
	}
	if help, ok := elsewhere[c]; ok {
		return fmt.Errorf("no field %s; %s", name, help)
	}
	for _, other := range []string{strings.ToLower(string(c)), strings.ToUpper(string(c))} {
		if other != string(c) && strings.Contains(k.fields(), other) {
			return fmt.Errorf("no field %s; did you mean %%%s? Fields are %s", name, other, fieldList(k))
		}
	}
	return fmt.Errorf("no field %s; fields are %s", name, fieldList(k))
}

func fieldList(k Kind) string {
	var b strings.Builder
	for i, c := range k.fields() {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('%')
		b.WriteRune(c)
	}
	return b.String()
}

// append writes a wall time.
func (l layout) append(b []byte, wall time.Time) []byte {
	for _, e := range l.elements {
		if e.field == 0 {
			b = append(b, e.literal...)
			continue
		}
		if names := namesOf(e.field); names != nil {
			b = append(b, names[nameIndex(e.field, wall)]...)
			continue
		}
		width := widthOf(e.field)
		if e.bare {
			width = 1
		}
		n := strconv.Itoa(number(e.field, wall))
		for i := len(n); i < width; i++ {
			b = append(b, '0')
		}
		b = append(b, n...)
	}
	return b
}

// widthOf is how many digits a field has.
func widthOf(field byte) int {
	switch field {
	case 'Y', 'G':
		return 4
	case 'j':
		return 3
	case 'u', 'w':
		return 1
	}
	return 2
}

// number is what a field in digits says of a wall time.
func number(field byte, wall time.Time) int {
	switch field {
	case 'Y':
		return wall.Year()
	case 'y':
		return wall.Year() % 100
	case 'm':
		return int(wall.Month())
	case 'd':
		return wall.Day()
	case 'j':
		return wall.YearDay()
	case 'G':
		year, _ := wall.ISOWeek()
		return year
	case 'V':
		_, week := wall.ISOWeek()
		return week
	case 'U': // weeks from Sunday; the days before the first one are week 0
		return (wall.YearDay() + 6 - int(wall.Weekday())) / 7
	case 'W': // weeks from Monday
		return (wall.YearDay() + 6 - mondayIndex(wall)) / 7
	case 'w':
		return int(wall.Weekday())
	case 'u':
		return mondayIndex(wall) + 1
	case 'H':
		return wall.Hour()
	}
	return (wall.Hour()+11)%12 + 1 // 'I'
}

// mondayIndex counts the days of the week from Monday, which is 0.
func mondayIndex(wall time.Time) int { return (int(wall.Weekday()) + 6) % 7 }

var (
	monthNames, monthShorts = englishNames(1, 12, func(i int) string { return time.Month(i).String() })
	dayNames, dayShorts     = englishNames(0, 6, func(i int) string { return time.Weekday(i).String() })
	halves                  = []string{"AM", "PM"}
)

func englishNames(from, to int, name func(int) string) (full, short []string) {
	for i := from; i <= to; i++ {
		full = append(full, name(i))
		short = append(short, name(i)[:3])
	}
	return full, short
}

// namesOf are the words of a field, nil if it has digits.
func namesOf(field byte) []string {
	switch field {
	case 'b', 'h':
		return monthShorts
	case 'B':
		return monthNames
	case 'a':
		return dayShorts
	case 'A':
		return dayNames
	case 'p':
		return halves
	}
	return nil
}

func nameIndex(field byte, wall time.Time) int {
	switch field {
	case 'b', 'h', 'B':
		return int(wall.Month()) - 1
	case 'a', 'A':
		return int(wall.Weekday())
	}
	return wall.Hour() / 12 // 'p'
}
