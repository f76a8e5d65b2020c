package due_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/due"
	"pgregory.net/rapid"
)

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05Z07:00", s)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04Z07:00", s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func schedule(t testing.TB, text, zone string) due.Schedule {
	t.Helper()
	s, err := due.ParseSchedule(text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, zone, after, want string }{
		{"daily", "30 2 * * *", "", "2026-07-05T02:29Z", "2026-07-05T02:30Z 2026-07-06T02:30Z"},
		{"strictly after", "30 2 * * *", "", "2026-07-05T02:30Z", "2026-07-06T02:30Z"},
		{"in the zone", "30 2 * * *", "America/New_York", "2026-07-05T02:29Z", "2026-07-05T06:30Z"},
		{"names and ranges", "0 9 * jan mon-fri", "", "2026-01-02T09:00Z", "2026-01-05T09:00Z"},
		{"either day", "0 0 13 * fri", "", "2026-03-07T00:00Z", "2026-03-13T00:00Z 2026-03-20T00:00Z"},
		{"steps", "*/20 8-9 * * *", "", "2026-07-05T08:45Z", "2026-07-05T09:00Z 2026-07-05T09:20Z 2026-07-05T09:40Z 2026-07-06T08:00Z"},
		{"a name", "@weekly", "", "2026-07-05T00:00Z", "2026-07-12T00:00Z"},
		{"a leap day", "0 0 29 2 *", "", "2096-02-29T00:00Z", "2104-02-29T00:00Z"},
		{"every", "@every 1d", "", "2026-07-05T13:00Z", "2026-07-06T00:00Z 2026-07-07T00:00Z"},
		{"every, at a tick", "@every 15m", "Europe/Berlin", "2026-07-05T13:15Z", "2026-07-05T13:30Z"},
		{"every, before 1970", "@every 1h", "", "1969-12-31T22:30Z", "1969-12-31T23:00Z 1970-01-01T00:00Z"},

		{"skipped: at once", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z 2026-03-30T00:30Z"},
		{"skipped, before", "30 2 * * *", "Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:00Z"},
		{"skipped twice: once", "0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z 2026-03-30T00:00Z"},
		{"skipped, with the one after it", "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z 2026-03-30T00:00Z"},
		{"repeated: the first", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-25T00:30Z 2026-10-26T01:30Z"},
		{"repeated, between", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:00Z", "2026-10-26T01:30Z"},
		{"repeated, New York", "30 1 * * *", "America/New_York", "2026-10-31T12:00Z", "2026-11-01T05:30Z 2026-11-02T06:30Z"},
		{"every hour, skipped", "0 * * * *", "Europe/Berlin", "2026-03-28T23:30Z", "2026-03-29T00:00Z 2026-03-29T01:00Z 2026-03-29T02:00Z"},
		{"every hour, repeated", "0 * * * *", "Europe/Berlin", "2026-10-24T23:30Z", "2026-10-25T00:00Z 2026-10-25T01:00Z 2026-10-25T02:00Z"},
		{"quarters, repeated", "*/30 * * * *", "Europe/Berlin", "2026-10-25T00:15Z", "2026-10-25T00:30Z 2026-10-25T01:00Z 2026-10-25T01:30Z 2026-10-25T02:00Z"},
		{"half an hour is skipped", "15 * * * *", "Australia/Lord_Howe", "2026-10-03T14:30Z", "2026-10-03T14:45Z 2026-10-03T16:15Z"},
		{"midnight is skipped", "0 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", "2026-04-23T22:00Z 2026-04-24T21:00Z"},
		{"a day is skipped", "0 12 * * *", "Pacific/Apia", "2011-12-29T23:00Z", "2011-12-30T10:00Z 2011-12-30T22:00Z"},
		{"the last day of a leap year", "0 12 * * *", "Europe/Berlin", "2040-12-30T12:00Z", "2040-12-31T11:00Z 2041-01-01T11:00Z"},
		{"and its hours", "30 * * * *", "Europe/Berlin", "2040-12-31T23:00Z", "2040-12-31T23:30Z 2041-01-01T00:30Z"},
	} {
		s, at := schedule(t, c.text, c.zone), instant(t, c.after)
		for i, want := range strings.Fields(c.want) {
			at = s.Next(at)
			if !at.Equal(instant(t, want)) {
				t.Errorf("%s: tick %d of %s after %s is %s, want %s", c.name, i, s, c.after, at.UTC(), want)
				break
			}
		}
	}
}

func TestParseScheduleErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, zone, says string }{
		{"", "", "minute, hour"},
		{"* * * *", "", "4 fields"},
		{"0 0 2 * * *", "", "6 fields"},
		{"60 * * * *", "", "60"},
		{"0 0 * * 7", "", "7"},
		{"0 0 30 2 *", "", "no such day"},
		{"@sometimes", "", "@hourly"},
		{"@every", "", "@every"},
		{"@every 0s", "", "whole seconds"},
		{"@every -5m", "", "number"},
		{"@every 1500ms", "", "whole seconds"},
		{"@every soon", "", "number"},
		{"TZ=UTC", "", "zone"},
		{"CRON_TZ=Europe/Berlin 0 0 * * *", "", "zone"},
		{"0 0 * * *", "Nowhere", "time zone"},
		{"0 0 * * *", "Local", "machine"},
	} {
		_, err := due.ParseSchedule(c.text, c.zone)
		if !errors.Is(err, due.ErrSchedule) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q in %q: %v; want one that says %q", c.text, c.zone, err, c.says)
		}
	}
	if got := schedule(t, " 0 0 * * * ", "Europe/Berlin").String(); got != "0 0 * * * Europe/Berlin" {
		t.Errorf("%q", got)
	}
}

// A tick is after the time that is asked about, and the same for all times between two
// ticks; with fixed hours, no local time has two.
func TestNextProperties(t *testing.T) {
	t.Parallel()
	zones := []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/St_Johns", "Pacific/Apia", "Antarctica/Troll"}
	texts := []string{"* * * * *", "*/15 * * * *", "30 2 * * *", "0,30 0-3 * * *", "15 */2 * * *", "0 1 1 * *", "59 23 * * sun", "30 1,2 28-31 10,3 *", "@every 7m", "10 0-22 * * *"}
	rapid.Check(t, func(r *rapid.T) {
		text, zone := rapid.SampledFrom(texts).Draw(r, "schedule"), rapid.SampledFrom(zones).Draw(r, "zone")
		s, err := due.ParseSchedule(text, zone)
		if err != nil {
			r.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(1_000_000_000, 2_500_000_000).Draw(r, "at"), 0)
		if rapid.Bool().Draw(r, "near a change of clocks") {
			loc, _ := time.LoadLocation(zone)
			if from, _ := at.In(loc).ZoneBounds(); !from.IsZero() {
				at = from.Add(time.Duration(rapid.IntRange(-4000, 8000).Draw(r, "seconds")) * time.Second)
			}
		}
		shown := map[string]bool{}
		for range 8 {
			next := s.Next(at)
			if !next.After(at) {
				r.Fatalf("%s after %s: %s", s, at, next)
			}
			between := at.Add(time.Duration(rapid.Int64Range(0, int64(next.Sub(at)/time.Second)-1).Draw(r, "between")) * time.Second)
			if got := s.Next(between); !got.Equal(next) {
				r.Fatalf("%s after %s is %s, but after %s %s", s, at, next, between, got)
			}
			if clock := next.Format("2006-01-02T15:04"); !strings.Contains(text, "* * * *") && !strings.Contains(text, "@") {
				if shown[clock] {
					r.Fatalf("%s ticks twice at %s", s, clock)
				}
				shown[clock] = true
			}
			at = next
		}
	})
}

func FuzzParseSchedule(f *testing.F) {
	for _, s := range []string{"30 2 * * *", "@every 5m", "@daily", "TZ=", "CRON_TZ=", "0 0 31 2 *", "*/0 * * * *", "1-0 * * * *", "? ? ? ? ?"} {
		f.Add(s, int64(1_783_262_220))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := due.ParseSchedule(text, "Europe/Berlin")
		if err != nil {
			if !errors.Is(err, due.ErrSchedule) {
				t.Fatal(err)
			}
			return
		}
		at := time.Unix(unix%4_000_000_000, 0)
		if next := s.Next(at); !next.After(at) || next.IsZero() {
			t.Errorf("%q after %s: %s", text, at, next)
		}
	})
}
