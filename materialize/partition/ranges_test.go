package partition_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/partition"
	"pgregory.net/rapid"
)

func date(t testing.TB, s string) partition.Date {
	t.Helper()
	d, err := partition.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, tz, format, start, from, to, want string }{
		{"daily", "", "", "", "2024-02-28", "2024-03-01", "2024-02-28 2024-02-29 2024-03-01"},
		{"daily", "", "", "", "2026-02-28", "2026-02-28", "2026-02-28"},
		{"daily", "", "", "2026-03-01", "2026-02-27", "2026-03-02", "2026-03-01 2026-03-02"},
		{"daily", "", "", "2026-04-01", "2026-02-27", "2026-03-02", ""},
		{"daily", "Pacific/Apia", "", "", "2011-12-29", "2011-12-31", "2011-12-29 2011-12-31"},
		{"weekly", "", "", "", "2026-12-30", "2027-01-05", "2026-W53 2027-W01"},
		{"weekly", "", "", "2027-01-01", "2026-12-01", "2027-01-05", "2026-W53 2027-W01"},
		{"monthly", "", "", "", "2025-12-31", "2026-02-01", "2025-12 2026-01 2026-02"},
		{"monthly", "", "%B", "", "2025-12-31", "2026-02-01", "ambiguous"},
		{"daily", "", "", "", "2026-02-02", "2026-02-01", "out of range"},
		{"daily", "", "%y%m%d", "", "2068-12-30", "2069-01-01", "out of range"},
		{"hourly", "", "", "", "0001-01-01", "9999-12-31", "out of range"},
		{"dynamic", "", "", "", "2026-02-01", "2026-02-01", "dynamic"},
	} {
		got, err := newSpec(t, c.kind, c.tz, c.format, c.start).Range(date(t, c.from), date(t, c.to))
		is := map[string]error{"ambiguous": partition.ErrAmbiguous, "out of range": partition.ErrRange, "dynamic": partition.ErrDynamic}[c.want]
		if !errors.Is(err, is) || is == nil && (err != nil || strings.Join(got, " ") != c.want) {
			t.Errorf("%s %s to %s: %v, %v; want %s", c.kind, c.from, c.to, got, err, c.want)
		}
	}
}

// Hours of days on which the clocks change: one is missing, or one is twice as long.
func TestRangeHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		day, tz string
		hours   int
		missing string
	}{
		{"2026-03-29", "Europe/Berlin", 23, "2026-03-29T02"},
		{"2026-10-25", "Europe/Berlin", 24, ""},
		{"2026-03-08", "America/New_York", 23, "2026-03-08T02"},
		{"2026-11-01", "America/New_York", 24, ""},
		{"2026-04-24", "Africa/Cairo", 23, "2026-04-24T00"},
		{"2026-04-05", "Australia/Lord_Howe", 24, ""},
		{"2026-10-04", "Australia/Lord_Howe", 24, ""}, // half of an hour is skipped
		{"2026-07-05", "UTC", 24, ""},
	} {
		got, err := newSpec(t, "hourly", c.tz, "", "").Range(date(t, c.day), date(t, c.day))
		if err != nil || len(got) != c.hours || slices.Contains(got, c.missing) || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%s in %s: %v, %v", c.day, c.tz, got, err)
		}
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, tz, format, start, now, want string }{
		{"daily", "", "", "", "2026-07-05T14:37Z", "2026-07-05 2026-07-04 2026-07-03"},
		{"hourly", "", "", "", "2026-07-05T14:37Z", "2026-07-05T14 2026-07-05T13 2026-07-05T12"},
		{"weekly", "", "", "", "2026-07-05T14:37Z", "2026-W27 2026-W26 2026-W25"},
		{"monthly", "", "", "", "2026-01-31T12:00Z", "2026-01 2025-12 2025-11"},
		{"daily", "", "", "2026-07-04", "2026-07-05T14:37Z", "2026-07-05 2026-07-04"},
		{"daily", "", "", "2026-07-06", "2026-07-05T14:37Z", ""},
		{"daily", "America/New_York", "", "", "2026-07-05T02:30Z", "2026-07-04 2026-07-03 2026-07-02"},
		{"hourly", "Europe/Berlin", "", "", "2026-03-29T02:30Z", "2026-03-29T04 2026-03-29T03 2026-03-29T01"},
		{"hourly", "Europe/Berlin", "", "", "2026-10-25T02:30Z", "2026-10-25T03 2026-10-25T02 2026-10-25T01"},
		{"daily", "", "%d", "", "2026-07-05T14:37Z", "ambiguous"},
	} {
		got, err := newSpec(t, c.kind, c.tz, c.format, c.start).Recent(instant(t, c.now), 3)
		if c.want == "ambiguous" {
			if !errors.Is(err, partition.ErrAmbiguous) {
				t.Errorf("%q: %v, %v", c.format, got, err)
			}
			continue
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s at %s: %v, %v; want %s", c.kind, c.now, got, err, c.want)
		}
	}
}

// Zones whose clocks are never set back across the edge of a bucket in the years that are
// drawn: in them, intervals and names agree on every instant.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Havana", "Africa/Cairo", "Asia/Kolkata", "Australia/Lord_Howe",
	"Pacific/Apia", "Pacific/Chatham", "America/Santiago", "Asia/Beirut", "Atlantic/Azores", "Pacific/Kiritimati", "Asia/Kathmandu",
}

// Formats that have a way back, by kind.
var formats = map[string][]string{
	"daily":   {"", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%Y-%j", "%-d %B %Y", "%a %x", "%G-W%V-%u", "%A, %U of %Y", "%W %w %Y", "%b-%-d-%Y %%", "%Y-%-m-%-d"},
	"hourly":  {"", "%Y%m%d%H", "%x %-I %p", "%Y-%j %-H", "%G%V%u/%H"},
	"weekly":  {"", "%G%V", "week %V of %G"},
	"monthly": {"", "%Y%m", "%B %Y", "%h%Y", "%-m/%Y"},
}

func drawSpec(r *rapid.T) partition.Spec {
	kind := rapid.SampledFrom([]string{"daily", "hourly", "weekly", "monthly"}).Draw(r, "kind")
	s, err := partition.New(kind, rapid.SampledFrom(zones).Draw(r, "zone"), rapid.SampledFrom(formats[kind]).Draw(r, "format"), "", "")
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func drawInstant(r *rapid.T) time.Time {
	low, high := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2068, 12, 1, 0, 0, 0, 0, time.UTC).Unix()
	if rapid.Bool().Draw(r, "this year") {
		low, high = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return time.Unix(rapid.Int64Range(low, high).Draw(r, "instant"), 0)
}

// An instant lies in the bucket of its value, whose start has that value too, and whose end
// has the next.
func TestBucketProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, at := drawSpec(r), drawInstant(r)
		value, skip, err := s.Resolve(at)
		if err != nil || skip {
			r.Fatalf("%s: %v", at, err)
		}
		start, end, err := s.Bucket(value)
		if err != nil {
			r.Fatal(err)
		}
		if at.Before(start) || !at.Before(end) {
			r.Fatalf("%s is %q, which is %s to %s", at, value, start, end)
		}
		for when, same := range map[time.Time]bool{start: true, end.Add(-1): true, end: false, start.Add(-1): false} {
			if got, _, err := s.Resolve(when); err != nil || (got == value) != same {
				r.Fatalf("%q is %s to %s, but %s is %q, %v", value, start, end, when, got, err)
			}
		}
	})
}

// A range has each bucket of its days once, in order, without gaps: what stands before the
// first instant of the first day and after the last one of the last day is all that is left
// out.
func TestRangeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := drawSpec(r)
		from := partition.DateIn(drawInstant(r), s.Zone)
		to := from.AddDays(rapid.IntRange(0, 40).Draw(r, "days"))
		values, err := s.Range(from, to)
		if err != nil {
			r.Fatal(err)
		}
		var last time.Time
		for i, v := range values {
			start, end, err := s.Bucket(v)
			if err != nil || i > 0 && !start.Equal(last) || !end.After(start) {
				r.Fatalf("%q is %s to %s after %s, %v", v, start, end, last, err)
			}
			if i == 0 && partition.DateIn(start, s.Zone).Compare(from) > 0 && s.Zone.String() != "Pacific/Apia" {
				r.Fatalf("%s to %s begins with %q", from, to, v)
			}
			last = end
		}
		if len(values) > 0 {
			if got := partition.DateIn(last, s.Zone); got.Compare(to) <= 0 {
				r.Fatalf("%s to %s ends with %q", from, to, values[len(values)-1])
			}
			lastStart, _, _ := s.Bucket(values[len(values)-1])
			if partition.DateIn(lastStart, s.Zone).Compare(to) > 0 {
				r.Fatalf("%s to %s ends with %q, too late", from, to, values[len(values)-1])
			}
		}
		// Recent is a range from behind.
		now := drawInstant(r)
		recent, err := s.Recent(now, 12)
		if err != nil || len(recent) != 12 {
			r.Fatal(recent, err)
		}
		current, _, _ := s.Resolve(now)
		oldest, _, err := s.Bucket(recent[11])
		if err != nil || recent[0] != current {
			r.Fatalf("recent at %s begins with %q, not %q: %v", now, recent[0], current, err)
		}
		slices.Reverse(recent)
		all, err := s.Range(partition.DateIn(oldest, s.Zone), partition.DateIn(now, s.Zone))
		if err != nil || !strings.Contains(strings.Join(all, "|"), strings.Join(recent, "|")) {
			r.Fatalf("recent %v are not part of %v, %v", recent, all, err)
		}
	})
}

// A format is taken or refused, and what is taken writes values that are read back.
func FuzzFormat(f *testing.F) {
	for _, list := range formats {
		for _, s := range list {
			f.Add(s, int64(1_783_262_220))
		}
	}
	for _, s := range []string{"%", "%-", "%%-", "%-%", "%c", "%e", "\xff%Y", "%Y%-m%-d", "%y", "%-y-%m-%d", "%ü", "%G-%y-%m-%d"} {
		f.Add(s, int64(3_000_000_000))
	}
	f.Fuzz(func(t *testing.T, format string, unix int64) {
		for _, kind := range []string{"daily", "hourly", "weekly", "monthly"} {
			s, err := partition.New(kind, "", format, "", "")
			if err != nil {
				if !errors.Is(err, partition.ErrFormat) {
					t.Fatal(err)
				}
				continue
			}
			at := time.Unix(unix, 0)
			value, _, err := s.Resolve(at)
			if err != nil {
				if !errors.Is(err, partition.ErrRange) {
					t.Fatal(err)
				}
				continue
			}
			start, end, err := s.Bucket(value)
			if errors.Is(err, partition.ErrAmbiguous) {
				continue
			}
			if err != nil || at.Before(start) || !at.Before(end) {
				t.Errorf("%s %q at %d: %q is %s to %s, %v", kind, format, unix, value, start, end, err)
			}
		}
	})
}

// Whatever text is given for a value, it is refused or it is the name of its bucket.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"2026-07-05", "2026-07-05T14", "2026-W27", "2026-07", "0000-00-00", "9999-12-31", "2026-W53", "", "Sun 2026-07-05", "05 July 2026"} {
		f.Add(s, s, "$.a")
	}
	f.Add(`{"a":{"b":1e3}}`, "9999-W52", "a.b")
	var specs []partition.Spec
	for kind, list := range formats {
		for _, format := range list {
			for _, zone := range []string{"", "Europe/Berlin"} {
				specs = append(specs, newSpec(f, kind, zone, format, ""))
			}
		}
	}
	f.Fuzz(func(t *testing.T, value, start, key string) {
		for _, s := range specs {
			from, _, err := s.Bucket(value)
			if (err == nil) != (s.Check(value) == nil) {
				t.Fatalf("%q: %v, %v", value, err, s.Check(value))
			}
			if err != nil {
				continue
			}
			if got, _, err := s.Resolve(from); err != nil || got != value {
				t.Errorf("%s %q: the start of %q is called %q, %v", s.Kind, s.Format, value, got, err)
			}
		}
		if d, err := partition.ParseDate(start); err == nil && d.String() != start {
			t.Errorf("%q is the day %s", start, d)
		}
		s, err := partition.New("dynamic", "", "", "", key)
		if err != nil {
			return
		}
		if got, err := s.ResolveKey([]byte(value)); err == nil && s.Check(got) != nil {
			t.Errorf("%q of %q is %q", key, value, got)
		}
	})
}
