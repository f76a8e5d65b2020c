package partition_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/partition"
)

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at
		}
	}
	t.Fatalf("%q is no instant", s)
	return time.Time{}
}

func newSpec(t testing.TB, kind, tz, format, start string) partition.Spec {
	t.Helper()
	key := ""
	if kind == "dynamic" {
		key = "$.tenant_id"
	}
	s, err := partition.New(kind, tz, format, start, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What instants are called. P1…: partition resolution; B…: buckets.
func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, kind, tz, format, start, at string
		want                            string // "" for a day before the start
	}{
		{"P1", "daily", "", "", "", "2026-05-16T09:30Z", "2026-05-16"},
		{"P2", "hourly", "", "", "", "2026-05-16T09:30Z", "2026-05-16T09"},
		{"P3", "monthly", "", "", "", "2026-05-16T09:30Z", "2026-05"},
		{"P4", "daily", "America/New_York", "", "", "2026-05-16T00:30Z", "2026-05-15"},
		{"P5", "daily", "", "%Y/%m/%d", "", "2026-05-16T09:30Z", "2026/05/16"},
		{"P6", "daily", "", "", "2026-06-01", "2026-05-16T09:30Z", ""},
		{"P7", "daily", "", "", "2026-06-01", "2026-06-02T09:30Z", "2026-06-02"},
		{"P8 the day of the start", "daily", "", "", "2026-06-01", "2026-06-01T00:00Z", "2026-06-01"},
		{"P9 the start is in the zone", "daily", "America/New_York", "", "2026-06-01", "2026-06-01T03:59Z", ""},
		{"B1", "daily", "", "", "", "2026-07-05T14:37Z", "2026-07-05"},
		{"B2", "hourly", "", "", "", "2026-07-05T14:37Z", "2026-07-05T14"},
		{"B3", "weekly", "", "", "", "2026-07-05T14:37Z", "2026-W27"},
		{"B4", "monthly", "", "", "", "2026-07-05T14:37Z", "2026-07"},
		{"B5", "daily", "America/New_York", "", "", "2026-07-05T02:30Z", "2026-07-04"},
		{"B6", "hourly", "America/New_York", "", "", "2026-07-05T02:30Z", "2026-07-04T22"},
		{"W1", "weekly", "", "", "", "2027-01-01T00:00Z", "2026-W53"},
		{"W2", "weekly", "", "", "", "2023-01-01T00:00Z", "2022-W52"},
		{"W3", "weekly", "", "", "", "2021-01-03T00:00Z", "2020-W53"},
		{"W4", "weekly", "", "", "", "2026-01-01T00:00Z", "2026-W01"},
		{"W5 a start within a week", "weekly", "", "", "2026-07-01", "2026-06-30T12:00Z", ""},
		{"W6", "weekly", "", "", "2026-07-01", "2026-07-01T12:00Z", "2026-W27"},
		{"L1 leap day", "daily", "", "%Y-%j", "", "2024-12-31T12:00Z", "2024-366"},
		{"L2", "daily", "", "%d %B %Y", "", "2024-02-29T12:00Z", "29 February 2024"},
		{"S1 hour 2 before the clocks go back", "hourly", "Europe/Berlin", "", "", "2026-10-25T00:30Z", "2026-10-25T02"},
		{"S2 and after it", "hourly", "Europe/Berlin", "", "", "2026-10-25T01:30Z", "2026-10-25T02"},
		{"S3 hour 3 after hour 1", "hourly", "Europe/Berlin", "", "", "2026-03-29T01:00Z", "2026-03-29T03"},
		{"N1 a year that begins on a Tuesday", "daily", "", "%Y %W", "", "2030-01-01T12:00Z", "2030 00"},
		{"N2", "daily", "", "%Y %W", "", "2030-01-07T12:00Z", "2030 01"},
		{"N3 a year that begins on a Monday", "daily", "", "%Y %U", "", "2029-01-01T12:00Z", "2029 00"},
		{"N4", "daily", "", "%Y %U", "", "2029-01-07T12:00Z", "2029 01"},
		{"F1", "hourly", "", "%x %-I%p", "", "2026-07-05T00:37Z", "2026-07-05 12AM"},
		{"F2", "daily", "", "100%% %a %-m/%-d/%y, it's %h", "", "2026-07-05T00:37Z", "100% Sun 7/5/26, it's Jul"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			s := newSpec(t, c.kind, c.tz, c.format, c.start)
			got, skip, err := s.Resolve(instant(t, c.at))
			if err != nil || got != c.want || skip != (c.want == "") {
				t.Errorf("%q, skip %v, %v; want %q", got, skip, err, c.want)
			}
		})
	}
}

func TestNewErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, tz, format, start, key string
		is                           error
		says                         string
	}{
		{"fortnightly", "", "", "", "", partition.ErrKind, "daily, hourly, weekly, monthly and dynamic"},
		{"", "", "", "", "", partition.ErrKind, ""},
		{"daily", "Not/AZone", "", "", "", partition.ErrZone, "Europe/Berlin"},
		{"daily", "Local", "", "", "", partition.ErrZone, "machine"},
		{"daily", "+02:00", "", "", "", partition.ErrZone, ""},
		{"daily", "", "", "06/01/2026", "", partition.ErrStart, "YYYY-MM-DD"},
		{"daily", "", "", "2026-02-29", "", partition.ErrStart, "YYYY-MM-DD"},
		{"daily", "", "", "0000-01-01", "", partition.ErrStart, ""},
		{"dynamic", "", "", "", "", partition.ErrKey, "key="},
		{"dynamic", "", "", "", "$", partition.ErrKey, "empty"},
		{"dynamic", "", "", "", "$.items[0]", partition.ErrKey, "brackets"},
		{"dynamic", "", "", "", "$.a.*", partition.ErrKey, "stars"},
		{"dynamic", "", "", "", "a..b", partition.ErrKey, "empty"},
		{"dynamic", "", "", "", "$.a.", partition.ErrKey, "empty"},
		{"daily", "", "%Y-%m-%e", "", "", partition.ErrFormat, "%-d"},
		{"daily", "", "%Y-%M-%d", "", "", partition.ErrFormat, "changes within a partition that is daily"},
		{"daily", "", "%Y-%m-%dT%H", "", "", partition.ErrFormat, "%H changes within"},
		{"daily", "", "%c", "", "", partition.ErrFormat, "%c is %Y-%m-%d %H:%M:%S"},
		{"hourly", "", "%Y-%m-%dT%H:%M", "", "", partition.ErrFormat, "%M changes"},
		{"hourly", "", "%Y-%m-%dT%H%z", "", "", partition.ErrFormat, "zone"},
		{"hourly", "", "%Y-%m-%dT%H%-Z", "", "", partition.ErrFormat, "zone"},
		{"hourly", "", "%Y-%m-%dT%K", "", "", partition.ErrFormat, "%I"},
		{"weekly", "", "%Y-W%V", "", "", partition.ErrFormat, "%G"},
		{"weekly", "", "%G-W%v", "", "", partition.ErrFormat, "%V is the ISO week"},
		{"weekly", "", "%G-W%-V", "", "", partition.ErrFormat, "write %V"},
		{"monthly", "", "%Y-%m-%d", "", "", partition.ErrFormat, "%d changes"},
		{"daily", "", "YYYY-MM-DD", "", "", partition.ErrFormat, "the same name"},
		{"daily", "", "%%", "", "", partition.ErrFormat, "the same name"},
		{"daily", "", "%Y%", "", "", partition.ErrFormat, "ends inside of %"},
		{"daily", "", "%Y%-", "", "", partition.ErrFormat, "ends inside of %-"},
		{"daily", "", "%D", "", "", partition.ErrFormat, "%m/%d/%y"},
		{"daily", "", "%Y %J", "", "", partition.ErrFormat, "did you mean %j"},
		{"daily", "", "%Y %ü", "", "", partition.ErrFormat, "%ü; fields are %Y"},
		{"daily", "", "%Y\x00", "", "", partition.ErrFormat, "not a text"},
		{"daily", "", "%Y\xff", "", "", partition.ErrFormat, "not a text"},
	} {
		_, err := partition.New(c.kind, c.tz, c.format, c.start, c.key)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("New(%q, %q, %q, %q, %q): %v; want %v that says %q", c.kind, c.tz, c.format, c.start, c.key, err, c.is, c.says)
		}
	}
}

// The way back, and which values there are.
func TestBucket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, tz, format, value string
		start, end              string
		is                      error
	}{
		{"daily", "", "", "2026-07-05", "2026-07-05T00:00:00Z", "2026-07-06T00:00:00Z", nil},
		{"daily", "America/New_York", "", "2026-07-05", "2026-07-05T04:00:00Z", "2026-07-06T04:00:00Z", nil},
		{"weekly", "", "", "2026-W53", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z", nil},
		{"weekly", "", "", "2026-W01", "2025-12-29T00:00:00Z", "2026-01-05T00:00:00Z", nil},
		{"weekly", "", "", "2025-W53", "", "", partition.ErrValue},
		{"weekly", "", "", "2026-W00", "", "", partition.ErrValue},
		{"monthly", "", "", "2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z", nil},
		{"monthly", "", "", "2024-13", "", "", partition.ErrValue},
		{"monthly", "", "%b %y", "Feb 24", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z", nil},
		{"monthly", "", "%b %y", "Feb 69", "1969-02-01T00:00:00Z", "1969-03-01T00:00:00Z", nil},
		{"monthly", "", "%b %y", "Feb 68", "2068-02-01T00:00:00Z", "2068-03-01T00:00:00Z", nil},
		{"monthly", "", "%b %y", "feb 24", "", "", partition.ErrValue},
		{"daily", "", "", "2026-02-29", "", "", partition.ErrValue},
		{"daily", "", "", "2026-2-9", "", "", partition.ErrValue},
		{"daily", "", "", "2026-07-05 ", "", "", partition.ErrValue},
		{"daily", "", "", "0000-07-05", "", "", partition.ErrValue},
		{"daily", "", "", "", "", "", partition.ErrValue},
		{"daily", "", "%Y-%j", "2024-366", "2024-12-31T00:00:00Z", "2025-01-01T00:00:00Z", nil},
		{"daily", "", "%Y-%j", "2023-366", "", "", partition.ErrValue},
		{"daily", "", "%a %Y-%m-%d", "Mon 2026-07-05", "", "", partition.ErrValue},
		{"daily", "", "%a %Y-%m-%d", "Sun 2026-07-05", "2026-07-05T00:00:00Z", "2026-07-06T00:00:00Z", nil},
		{"daily", "", "%G-W%V-%u", "2026-W53-5", "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z", nil},
		{"daily", "", "%Y %U %w", "2026 00 4", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", nil},
		{"daily", "", "%Y %U %u", "2026 01 7", "2026-01-04T00:00:00Z", "2026-01-05T00:00:00Z", nil},
		{"daily", "", "%Y %W %A", "2026 00 Thursday", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", nil},
		{"hourly", "", "%Y-%m-%d %I%p", "2026-07-05 12AM", "2026-07-05T00:00:00Z", "2026-07-05T01:00:00Z", nil},
		{"hourly", "", "", "2026-07-05T24", "", "", partition.ErrValue},
		{"hourly", "Europe/Berlin", "", "2026-10-25T02", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z", nil},
		{"hourly", "Europe/Berlin", "", "2026-03-29T01", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", nil},
		{"hourly", "Europe/Berlin", "", "2026-03-29T02", "", "", partition.ErrNoBucket},
		{"hourly", "Australia/Lord_Howe", "", "2026-04-05T01", "2026-04-04T14:00:00Z", "2026-04-04T15:30:00Z", nil},
		{"hourly", "Australia/Lord_Howe", "", "2026-10-04T02", "2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z", nil},
		{"daily", "Africa/Cairo", "", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z", nil}, // begins at 01:00
		{"daily", "America/Havana", "", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", nil},
		{"daily", "Pacific/Apia", "", "2011-12-30", "", "", partition.ErrNoBucket},
		{"daily", "Pacific/Apia", "", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", nil},
		{"hourly", "America/St_Johns", "", "2006-10-29T00", "2006-10-29T02:30:00Z", "2006-10-29T04:30:00Z", nil}, // goes back at 00:01
		{"daily", "", "%m-%d", "07-05", "", "", partition.ErrAmbiguous},
		{"daily", "", "%Y-%d", "2026-05", "", "", partition.ErrAmbiguous},
		{"daily", "", "%Y%-m%-d", "2026111", "", "", partition.ErrAmbiguous},
		{"daily", "", "%Y-%-j0", "2026-10", "", "", partition.ErrAmbiguous},
		{"daily", "", "%Y-%-m-%-d", "2026-1-11", "2026-01-11T00:00:00Z", "2026-01-12T00:00:00Z", nil},
		{"hourly", "", "%x", "2026-01-11", "", "", partition.ErrAmbiguous},
		{"hourly", "", "%x %I", "2026-01-11 03", "", "", partition.ErrAmbiguous},
		{"weekly", "", "%V", "03", "", "", partition.ErrAmbiguous},
		{"monthly", "", "%Y", "2026", "", "", partition.ErrAmbiguous},
		{"daily", "", "%G-%V-%m", "2026-03-01", "", "", partition.ErrAmbiguous},
		{"dynamic", "", "", "acme", "", "", partition.ErrDynamic},
	} {
		s := newSpec(t, c.kind, c.tz, c.format, "")
		start, end, err := s.Bucket(c.value)
		if c.is != nil {
			if !errors.Is(err, c.is) {
				t.Errorf("%s %s %q of %q: %v; want %v", c.kind, c.tz, c.format, c.value, err, c.is)
			}
			continue
		}
		if err != nil || !start.Equal(instant(t, c.start)) || !end.Equal(instant(t, c.end)) {
			t.Errorf("%s %s %q of %q: %s to %s, %v; want %s to %s", c.kind, c.tz, c.format, c.value,
				start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339), err, c.start, c.end)
		}
		if got, _, err := s.Resolve(start); got != c.value {
			t.Errorf("the start of %q is called %q, %v", c.value, got, err)
		}
	}
}

// Years that a format cannot write are no values.
func TestYears(t *testing.T) {
	t.Parallel()
	at := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		format string
		year   int
		ok     bool
	}{
		{"", 0, false},
		{"", 1, true},
		{"", 9999, true},
		{"", 10000, false},
		{"%y%m%d", 1968, false},
		{"%y%m%d", 1969, true},
		{"%y%m%d", 2068, true},
		{"%y%m%d", 2069, false},
	} {
		_, _, err := newSpec(t, "daily", "", c.format, "").Resolve(at(c.year))
		if c.ok != (err == nil) || err != nil && !errors.Is(err, partition.ErrRange) {
			t.Errorf("%q in %d: %v", c.format, c.year, err)
		}
	}
	s := newSpec(t, "daily", "", "", "")
	if got, err := s.Recent(time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), 5); err != nil || len(got) != 2 {
		t.Errorf("before year 1: %v, %v", got, err)
	}
	if _, err := s.Recent(at(10000), 5); !errors.Is(err, partition.ErrRange) {
		t.Errorf("in year 10000: %v", err)
	}
}

// What somebody types is checked, and the start does not make it wrong.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, format, value string
		ok                  bool
	}{
		{"daily", "", "2020-01-01", true},
		{"daily", "", "2020-01-32", false},
		{"daily", "%m-%d", "anything", true},
		{"daily", "%m-%d", "", false},
		{"dynamic", "", "acme", true},
		{"dynamic", "", "", false},
		{"dynamic", "", "a\x00b", false},
		{"dynamic", "", "a\xffb", false},
	} {
		if err := newSpec(t, c.kind, "", c.format, "2026-01-01").Check(c.value); c.ok != (err == nil) || err != nil && !errors.Is(err, partition.ErrValue) {
			t.Errorf("%s %q: %v", c.kind, c.value, err)
		}
	}
	weekly := newSpec(t, "weekly", "", "", "2026-07-01")
	for value, want := range map[string]bool{"2026-W26": true, "2026-W27": false, "2026-W28": false, "nonsense": false} {
		if got := weekly.Skips(value); got != want {
			t.Errorf("skips %s: %v", value, got)
		}
	}
}

// Fields in which people pick a value.
func TestInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, format, input, picked, value, shown string }{
		{"daily", "", "date", "2026-07-05", "2026-07-05", "2026-07-05"},
		{"hourly", "", "datetime-local", "2026-07-05T14:37", "2026-07-05T14", "2026-07-05T14:00"},
		{"hourly", "", "datetime-local", "2026-07-05T14:37:12.5", "2026-07-05T14", "2026-07-05T14:00"},
		{"hourly", "", "datetime-local", "", "", ""},
		{"weekly", "", "week", "2026-W27", "2026-W27", "2026-W27"},
		{"monthly", "", "month", "2026-07", "2026-07", "2026-07"},
		{"dynamic", "", "text", "acme", "acme", "acme"},
		{"daily", "%Y/%m/%d", "text", "2026/07/05", "2026/07/05", "2026/07/05"},
		{"daily", "%Y-%m-%d", "date", "", "", ""},
	} {
		s := newSpec(t, c.kind, "", c.format, "")
		if got := s.Input(); got != c.input {
			t.Errorf("%s %q: field %s, want %s", c.kind, c.format, got, c.input)
		}
		if got, err := s.FromInput(c.picked); err != nil || got != c.value {
			t.Errorf("%s: picked %q is %q, %v; want %q", c.kind, c.picked, got, err, c.value)
		}
		if got, err := s.ToInput(c.value); err != nil || got != c.shown {
			t.Errorf("%s: %q is shown as %q, %v; want %q", c.kind, c.value, got, err, c.shown)
		}
	}
	hourly := newSpec(t, "hourly", "", "", "")
	for _, bad := range []string{"2026-07-05", ":30", "2026-07-05T14:60", "2026-07-05T14:3", "2026-07-05T14:30:99"} {
		if got, err := hourly.FromInput(bad); !errors.Is(err, partition.ErrValue) {
			t.Errorf("picked %q: %q, %v", bad, got, err)
		}
	}
	if _, err := hourly.ToInput("x"); !errors.Is(err, partition.ErrValue) {
		t.Errorf("shown x: %v", err)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int{"daily": 14, "hourly": 24, "weekly": 8, "monthly": 6, "dynamic": 0} {
		s := newSpec(t, kind, "", "", "")
		if s.Kind.String() != kind || s.Kind.Window() != want || s.Zone.String() != "UTC" {
			t.Errorf("%s: %s with %d in %s", kind, s.Kind, s.Kind.Window(), s.Zone)
		}
		got, err := s.Recent(instant(t, "2026-07-05T14:37Z"), 0)
		if kind == "dynamic" {
			if !errors.Is(err, partition.ErrDynamic) {
				t.Errorf("dynamic: %v, %v", got, err)
			}
			continue
		}
		if err != nil || len(got) != want {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	if k := partition.Kind(99); k.String() != "Kind(99)" || k.Window() != 0 {
		t.Errorf("%s %d", k, k.Window())
	}
}
