package partition

import (
	"fmt"
	"time"

	"github.com/eiderdb/eider/materialize/wall"
)

// MaxRange is how many buckets a range may have: the hours of more than a century.
const MaxRange = 1 << 20

// Range is the values of all buckets that have an instant on one of the days from from to
// to, both included, in the zone's calendar, in order and each once. Days before the start
// are left out.
func (s Spec) Range(from, to Date) ([]string, error) {
	if err := s.listable(); err != nil {
		return nil, err
	}
	if to.Compare(from) < 0 {
		return nil, fmt.Errorf("%w: the range ends at %s, before it begins at %s", ErrRange, to, from)
	}
	if !s.Start.IsZero() && from.Compare(s.Start) < 0 {
		from = s.Start
	}
	var values []string
	end := to.AddDays(1).wall()
	for at := s.Kind.truncate(from.wall()); at.Before(end); at = s.Kind.next(at) {
		if len(values) == MaxRange {
			return nil, fmt.Errorf("%w: %s to %s has more than %d partitions", ErrRange, from, to, MaxRange)
		}
		if _, ok := s.first(at); !ok {
			continue
		}
		v, err := s.write(at)
		if err != nil {
			return nil, fmt.Errorf("partitions of %s to %s: %w", from, to, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// Recent is the value of now's bucket and those of the n-1 before it, the newest first;
// fewer if the start is among them. An n of 0 or less is the kind's Window.
func (s Spec) Recent(now time.Time, n int) ([]string, error) {
	if err := s.listable(); err != nil {
		return nil, err
	}
	if n <= 0 {
		n = s.Kind.Window()
	}
	values := make([]string, 0, min(n, MaxRange))
	for at := s.Kind.truncate(wall.Of(now.In(s.Zone))); len(values) < min(n, MaxRange); at = s.Kind.step(at, -1) {
		if !s.Start.IsZero() && !s.Kind.next(at).After(s.Start.wall()) {
			break
		}
		if _, ok := s.first(at); !ok {
			continue
		}
		v, err := s.write(at)
		if err != nil {
			if len(values) > 0 {
				break // the first year that there is
			}
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Window is how many buckets of a kind are recent: 14 days, 24 hours, 8 weeks, 6 months. A
// dynamic partition has none.
func (k Kind) Window() int {
	if k < Daily || k > Dynamic {
		return 0
	}
	return kinds[k].window
}

// listable says why the buckets of a spec cannot be listed.
func (s Spec) listable() error {
	if s.Kind == Dynamic {
		return ErrDynamic
	}
	return s.layout.ambiguous
}
