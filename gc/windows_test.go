package gc_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the zone, where the system has none

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc"
)

// When windows are open, on a known week: 2026-11-30 is a Monday.
func TestWindowsOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, at string
		want     bool
	}{
		{"", "2026-11-30T03:00:00Z", true},
		{"22:00-06:00", "2026-11-30T21:59:59Z", false},
		{"22:00-06:00", "2026-11-30T22:00:00Z", true},
		{"22:00-06:00", "2026-12-01T05:59:59Z", true},
		{"22:00-06:00", "2026-12-01T06:00:00Z", false},
		{"Mon 22:00-06:00", "2026-12-01T05:00:00Z", true},  // belongs to Monday
		{"Tue 22:00-06:00", "2026-12-01T05:00:00Z", false}, // that was Monday's night
		{"Fri-Mon", "2026-11-29T12:00:00Z", true},
		{"Fri-Mon", "2026-12-01T12:00:00Z", false},
		{"saturday, Sun 10:00-11:00", "2026-12-05T23:59:00Z", true},
		{"saturday, Sun 10:00-11:00", "2026-12-06T00:00:00Z", false},
		{"saturday, Sun 10:00-11:00", "2026-12-06T10:30:00Z", true},
		{"00:00-24:00", "2026-12-06T23:59:59Z", true},
	} {
		w, err := gc.ParseWindows(c.text)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Open(at); got != c.want {
			t.Errorf("%q at %s: %v", c.text, c.at, got)
		}
	}
}

// Windows are open by the wall clock: in the zone asked for, and as it jumps.
func TestWindowsZone(t *testing.T) {
	t.Parallel()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	w, err := gc.ParseWindows("02:30-03:30")
	if err != nil {
		t.Fatal(err)
	}
	// 2026-03-29: 02:00 becomes 03:00. The window begins when there is such a time at all.
	if w.Open(time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC).In(loc)) || !w.Open(time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC).In(loc)) {
		t.Error("the hour that is left out")
	}
	at, ok := w.Change(time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC).In(loc))
	if want := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC); !ok || !at.Equal(want) {
		t.Errorf("opens at %s, want %s", at.UTC(), want)
	}
}

// Between a moment and the change that Change names, windows stay as they are.
func TestWindowsChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom([]string{"22:00-06:00", "Mon-Fri 22:00-06:00, Sat-Sun", "Wed", "Sun 23:59-00:01"}).Draw(r, "windows")
		w, err := gc.ParseWindows(text)
		if err != nil {
			r.Fatal(err)
		}
		at := time.Unix(1_700_000_000+rapid.Int64Range(0, 14*24*3600).Draw(r, "at"), 0).UTC()
		next, ok := w.Change(at)
		if !ok {
			r.Fatalf("%q never changes", text)
		}
		step := max(next.Sub(at)/50, time.Second)
		for x := at; x.Before(next); x = x.Add(step) {
			if w.Open(x) != w.Open(at) {
				r.Fatalf("%q: %s differs from %s, before %s", text, x, at, next)
			}
		}
		if w.Open(next) == w.Open(at) {
			r.Fatalf("%q: no change at %s", text, next)
		}
	})
}
