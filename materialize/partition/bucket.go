package partition

import (
	"fmt"
	"time"

	"github.com/eiderdb/eider/materialize/wall"
)

// truncate is the beginning of the bucket of a wall time.
func (k Kind) truncate(at time.Time) time.Time {
	y, m, d := at.Date()
	switch k {
	case Hourly:
		return time.Date(y, m, d, at.Hour(), 0, 0, 0, time.UTC)
	case Weekly:
		return time.Date(y, m, d-mondayIndex(at), 0, 0, 0, 0, time.UTC)
	case Monthly:
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// step is the beginning of the bucket n after that of a wall time, on the calendar.
func (k Kind) step(at time.Time, n int) time.Time {
	at = k.truncate(at)
	switch k {
	case Hourly:
		return at.Add(time.Duration(n) * time.Hour)
	case Weekly:
		return at.AddDate(0, 0, 7*n)
	case Monthly:
		return at.AddDate(0, n, 0)
	}
	return at.AddDate(0, 0, n)
}

func (k Kind) next(at time.Time) time.Time { return k.step(at, 1) }

// first is the first instant at which the zone's clocks are in the bucket that begins at
// the wall time from. There is none if they skipped it.
func (s Spec) first(from time.Time) (t time.Time, ok bool) {
	return wall.First(s.Zone, from, s.Kind.next(from))
}

// Bucket is the time that a value is for, from start until before end, in the spec's zone.
// It needs a format that is not ambiguous.
func (s Spec) Bucket(value string) (start, end time.Time, err error) {
	at, err := s.read(value)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	start, ok := s.first(at)
	if !ok {
		return time.Time{}, time.Time{}, fmt.Errorf("%w: %s in %s", ErrNoBucket, value, s.Zone)
	}
	for {
		at = s.Kind.next(at)
		if end, ok = s.first(at); ok {
			return start, end, nil
		}
	}
}
