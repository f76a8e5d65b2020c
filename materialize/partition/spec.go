package partition

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/eiderdb/eider/materialize/wall"
)

// Kind is what a bucket is.
type Kind int

// The kinds of partitions.
const (
	Daily   Kind = iota + 1 // days of the zone's calendar
	Hourly                  // hours on the zone's clock
	Weekly                  // ISO weeks, from Monday
	Monthly                 // months of the calendar
	Dynamic                 // no time: the value is taken from a payload
)

// kinds has what differs between the kinds, by Kind.
var kinds = [...]struct {
	name   string
	format string // the default
	input  string // the field that picks a value of the default format
	window int    // how many buckets are recent
}{
	Daily:   {"daily", "%Y-%m-%d", "date", 14},
	Hourly:  {"hourly", "%Y-%m-%dT%H", "datetime-local", 24},
	Weekly:  {"weekly", "%G-W%V", "week", 8},
	Monthly: {"monthly", "%Y-%m", "month", 6},
	Dynamic: {"dynamic", "", "text", 0},
}

// String is the kind as headers write it.
func (k Kind) String() string {
	if k < Daily || k > Dynamic {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kinds[k].name
}

// The years that values are written for: outside of them they have not four digits.
const (
	minYear = 1
	maxYear = 9999
)

// Spec says how a table is partitioned. New makes it; its fields are to be read only.
type Spec struct {
	// Kind is what a bucket is.
	Kind Kind
	// Zone is the zone whose clocks and calendar count. Never nil.
	Zone *time.Location
	// Format is what values look like, as for DuckDB's strftime; of a dynamic partition
	// it means nothing.
	Format string
	// Start is the first day that has partitions; zero if all have.
	Start Date
	// Key is the dotted path in the payload that a dynamic partition takes its value from.
	Key string

	layout layout   // Format, compiled
	path   []string // Key, taken apart
}

// New makes a Spec of the texts that a header has. Empty texts are those that it does not
// have: the zone is UTC then, and the format that of the kind. A kind that is not dynamic
// needs no key, and has none if it is given one.
func New(kind, tz, format, start, key string) (Spec, error) {
	var s Spec
	for k := Daily; k <= Dynamic; k++ {
		if kinds[k].name == kind {
			s.Kind = k
		}
	}
	if s.Kind == 0 {
		return Spec{}, fmt.Errorf("%w: %q; kinds are daily, hourly, weekly, monthly and dynamic", ErrKind, kind)
	}
	zone, err := wall.Zone(tz)
	if err != nil {
		return Spec{}, err
	}
	s.Zone = zone
	if start != "" {
		if s.Start, err = ParseDate(start); err != nil {
			return Spec{}, fmt.Errorf("%w: %w", ErrStart, err)
		}
	}
	s.Format = format
	if s.Kind == Dynamic {
		s.Key = key
		s.path, err = parsePath(key)
	} else {
		if format == "" {
			s.Format = kinds[s.Kind].format
		}
		s.layout, err = compile(s.Kind, s.Format)
	}
	if err != nil {
		return Spec{}, err
	}
	return s, nil
}

// Default tells whether values are written in the default format of the kind.
func (s Spec) Default() bool { return s.Kind != Dynamic && s.Format == kinds[s.Kind].format }

// Resolve is the value of the bucket that t is in. skip is set, without an error, if the
// day of t in the zone is before the start; the value is empty then.
func (s Spec) Resolve(t time.Time) (value string, skip bool, err error) {
	if s.Kind == Dynamic {
		return "", false, ErrDynamic
	}
	at := wall.Of(t.In(s.Zone))
	if !s.Start.IsZero() && dateOf(at).Compare(s.Start) < 0 {
		return "", true, nil
	}
	if value, err = s.write(at); err != nil {
		return "", false, fmt.Errorf("%s in %s: %w", t.UTC().Format(time.RFC3339), s.Zone, err)
	}
	return value, false, nil
}

// write is the value of a wall time.
func (s Spec) write(at time.Time) (string, error) {
	low, high := minYear, maxYear
	if s.layout.pivot {
		low, high = pivotYear, pivotYear+99
	}
	if y := at.Year(); y < low || y > high {
		return "", fmt.Errorf("%w: the format %q writes the years %d to %d", ErrRange, s.Format, low, high)
	}
	return string(s.layout.append(nil, at)), nil
}

// Check says what is wrong with a value that somebody gives: it must be one that Resolve
// or ResolveKey can return. A start is not looked at: see Skips. Of a format that is
// ambiguous only the characters are.
func (s Spec) Check(value string) error {
	if err := checkText(value); err != nil {
		return err
	}
	if s.Kind == Dynamic || s.layout.ambiguous != nil {
		return nil
	}
	_, _, err := s.Bucket(value)
	return err
}

// Skips tells whether all days of the value's bucket are before the start. Values that
// have no bucket are not skipped.
func (s Spec) Skips(value string) bool {
	if s.Start.IsZero() || s.Kind == Dynamic {
		return false
	}
	at, err := s.read(value)
	return err == nil && !s.Kind.next(at).After(s.Start.wall())
}

// checkText refuses what cannot be a value in SQL and in the record of a run, where the
// empty text means no partition.
func checkText(value string) error {
	switch {
	case value == "":
		return fmt.Errorf("%w: the value is empty", ErrValue)
	case !utf8.ValidString(value):
		return fmt.Errorf("%w: %q is no UTF-8", ErrValue, value)
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("%w: %q has a NUL character", ErrValue, value)
	}
	return nil
}
