package wall_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/wall"
	"pgregory.net/rapid"
)

var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Havana", "America/St_Johns", "Africa/Cairo", "Africa/Monrovia", "Antarctica/Troll",
	"Asia/Kolkata", "Asia/Manila", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kwajalein", "Pacific/Chatham", "America/Metlakatla",
}

func load(t rapid.TB, name string) *time.Location {
	zone, err := wall.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestZone(t *testing.T) {
	t.Parallel()
	if zone, err := wall.Zone(""); err != nil || zone != time.UTC {
		t.Errorf("no name: %v, %v", zone, err)
	}
	for name, says := range map[string]string{"Local": "from machine to machine", "Nowhere": "time zone database", "CEST+1": "time zone database"} {
		if _, err := wall.Zone(name); !errors.Is(err, wall.ErrZone) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The whole of time is periods, one after the other, with a few hundred of them in four
// centuries. December 31st of a leap year is no exception.
func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, name := range zones {
		at := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).In(load(t, name))
		for n := 0; at.Year() < 2200; n++ {
			from, to, offset := wall.Period(at)
			if !from.IsZero() && from.After(at) || n > 2000 {
				t.Fatalf("%s at %s: %s to %s", name, at, from, to)
			}
			if to.IsZero() {
				break
			}
			if !to.After(at) {
				t.Fatalf("%s at %s: %s to %s", name, at, from, to)
			}
			for _, in := range []time.Time{to.Add(-1), at.Add(to.Sub(at) / 2)} {
				if _, got := in.Zone(); time.Duration(got)*time.Second != offset {
					t.Fatalf("%s at %s has %ds, but the period to %s has %s", name, in, got, to, offset)
				}
			}
			at = to
		}
	}
}

// First is what a walk over the minutes finds.
func TestFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		zone := load(r, rapid.SampledFrom(zones).Draw(r, "zone"))
		// Near a change of the clocks, if there is one.
		at := time.Unix(rapid.Int64Range(-3_000_000_000, 4_000_000_000).Draw(r, "unix"), 0).In(zone)
		if from, _, _ := wall.Period(at); !from.IsZero() {
			at = from.Add(time.Duration(rapid.IntRange(-300, 300).Draw(r, "minutes")) * time.Minute)
		}
		low := wall.Of(at).Truncate(time.Minute).Add(time.Duration(rapid.IntRange(-120, 120).Draw(r, "shift")) * time.Minute)
		high := low.Add(time.Duration(rapid.IntRange(1, 90).Draw(r, "length")) * time.Minute)
		got, ok := wall.First(zone, low, high)
		if ok {
			if w := wall.Of(got); w.Before(low) || !w.Before(high) {
				r.Fatalf("%s shows %s, not %s to %s", got, w, low, high)
			}
		}
		for m := low.Add(-27 * time.Hour); m.Before(high.Add(27 * time.Hour)); m = m.Add(time.Minute) {
			if w := wall.Of(m.In(zone)); !w.Before(low) && w.Before(high) {
				if !ok || m.Before(got) {
					r.Fatalf("clocks show %s to %s at %s, found %s, %v", low, high, m, got, ok)
				}
				return
			}
		}
	})
}
