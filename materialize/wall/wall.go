package wall

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // zones are the same where the system has none
)

// ErrZone is returned by Zone for a name that is no zone's.
var ErrZone = errors.New("no such time zone")

// Zone finds a zone of the time zone database by its name; "" is UTC. Local, which would be
// another zone on each machine, is none.
func Zone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, fmt.Errorf("%w: %q differs from machine to machine; write a name such as Europe/Berlin", ErrZone, name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q; write a name of the time zone database such as UTC, Europe/Berlin or America/New_York", ErrZone, name)
	}
	return zone, nil
}

// widest is more than any zone is, or was, from UTC.
const widest = 26 * time.Hour

// Of is what clocks in t's location show at t.
func Of(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// First is the first instant at which clocks in zone show a time from low until before
// high. There is none if they skip all of it.
func First(zone *time.Location, low, high time.Time) (t time.Time, ok bool) {
	for at := low.Add(-widest).In(zone); ; {
		from, to, offset := Period(at)
		first, end := low.Add(-offset), high.Add(-offset)
		if !from.IsZero() && first.Before(from) {
			first = from
		}
		if !to.IsZero() && end.After(to) {
			end = to
		}
		if first.Before(end) {
			return first.In(zone), true
		}
		if to.IsZero() || to.After(high.Add(widest)) {
			return time.Time{}, false
		}
		at = to
	}
}

// Period is a time around t in which clocks of t's location are offset ahead of UTC all the
// time: from from until before to. A zero from or to is no limit. What is outside of it may
// have the same offset.
func Period(t time.Time) (from, to time.Time, offset time.Duration) {
	_, seconds := t.Zone()
	from, to = t.ZoneBounds()
	if !to.IsZero() && !to.After(t) {
		// On December 31st of a leap year, where a rule stands for the years to come, the
		// standard library ends the period with the 30th. It lasts at least as long as the
		// year does, in UTC.
		to = time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).In(t.Location())
	}
	return from, to, time.Duration(seconds) * time.Second
}
