package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/materialize/partition"
	"pgregory.net/rapid"
)

func duckSession(t *testing.T) duck.Session {
	t.Helper()
	in, err := duck.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	c, err := in.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// comparePartitions asks DuckDB what the macro of a spec says of instants, and of what its
// clocks show then, and compares with the spec.
func comparePartitions(t rapid.TB, c duck.Session, s partition.Spec, at []time.Time) {
	t.Helper()
	ctx := context.Background()
	if _, err := c.Exec(ctx, s.Macro()); err != nil {
		t.Fatalf("%s: %v", s.Macro(), err)
	}
	var rows []string
	for i, a := range at {
		rows = append(rows, fmt.Sprintf("(%d, TIMESTAMPTZ '%s', TIMESTAMP '%s')", i, a.UTC().Format("2006-01-02 15:04:05.999999Z"), a.In(s.Zone).Format("2006-01-02 15:04:05.999999")))
	}
	res, err := c.Query(ctx, "SELECT wm_partition(z), wm_partition(w), wm_partition(CAST(NULL AS TIMESTAMPTZ)) IS NULL FROM (VALUES "+strings.Join(rows, ", ")+") AS v(i, z, w) ORDER BY i")
	if err != nil {
		t.Fatalf("%s %q: %v", s.Kind, s.Format, err)
	}
	if len(res.Rows) != len(at) {
		t.Fatalf("%d rows for %d instants", len(res.Rows), len(at))
	}
	for i, row := range res.Rows {
		want, _, err := s.Resolve(at[i])
		if err != nil || row[0] != want || row[1] != want || row[2] != "true" {
			t.Fatalf("%s %q in %s at %s: %q, %v, but DuckDB has %q", s.Kind, s.Format, s.Zone, at[i].UTC(), want, err, row)
		}
	}
}

// The four default formats where they are difficult: the edges of ISO years, leap days,
// changes of the clocks, the first and the last year.
func TestPartitionEdgesAsDuckDB(t *testing.T) {
	t.Parallel()
	c := duckSession(t)
	var at []time.Time
	for year := 1968; year <= 2070; year++ {
		for d := -4; d <= 4; d++ {
			at = append(at, time.Date(year, 1, 1+d, 0, 0, 0, 0, time.UTC), time.Date(year, 3, d, 23, 59, 59, 999999000, time.UTC))
		}
	}
	for _, s := range []string{"0001-01-02T00:00:00Z", "9999-12-30T23:59:59Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"} {
		a, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, a)
	}
	for _, kind := range []string{"daily", "hourly", "weekly", "monthly"} {
		for _, tz := range []string{"", "Europe/Berlin", "America/New_York"} {
			s, err := partition.New(kind, tz, "", "", "")
			if err != nil {
				t.Fatal(err)
			}
			comparePartitions(t, c, s, at)
		}
	}
	for day, want := range map[string]string{"2027-01-01": "2026-W53", "2023-01-01": "2022-W52", "2021-01-03": "2020-W53", "2026-01-01": "2026-W01"} {
		s, _ := partition.New("weekly", "America/New_York", "", "", "")
		if _, err := c.Exec(context.Background(), s.Macro()); err != nil {
			t.Fatal(err)
		}
		res, err := c.Query(context.Background(), "SELECT wm_partition(DATE '"+day+"'), wm_partition('"+day+"')")
		if err != nil || res.Rows[0][0] != want || res.Rows[0][1] != want {
			t.Errorf("the date %s: %v, %v; want %s", day, res.Rows, err, want)
		}
	}
}

// Hours of a day for filters: a bucket has what happened in it and nothing else.
func TestPartitionMacroFilters(t *testing.T) {
	t.Parallel()
	c := duckSession(t)
	s, err := partition.New("hourly", "", "", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(context.Background(), s.Macro()); err != nil {
		t.Fatal(err)
	}
	res, err := c.Query(context.Background(), `SELECT ts FROM (VALUES (TIMESTAMP '2026-07-05 22:30:00'), ('2026-07-05 23:10:00'), ('2026-07-05 23:55:00'), ('2026-07-06 00:05:00')) v(ts)
WHERE wm_partition(ts) = '2026-07-05T23' ORDER BY ts`)
	if err != nil || len(res.Rows) != 2 || res.Rows[0][0] != "2026-07-05 23:10:00" || res.Rows[1][0] != "2026-07-05 23:55:00" {
		t.Errorf("%v, %v", res.Rows, err)
	}
}

// Random formats, zones and instants; the zone of the session must not matter.
func TestPartitionAsDuckDB(t *testing.T) {
	t.Parallel()
	c := duckSession(t)
	fields := map[string][]string{"monthly": {"%Y", "%y", "%-y", "%m", "%-m", "%b", "%h", "%B"}, "weekly": {"%G", "%V"}}
	fields["daily"] = append(append(fields["monthly"], fields["weekly"]...), "%d", "%-d", "%j", "%-j", "%U", "%W", "%a", "%A", "%u", "%w", "%x")
	fields["hourly"] = append(fields["daily"], "%H", "%-H", "%I", "%-I", "%p")
	literals := []string{"", "-", "/", " ", "T", "%%", "'", "''", "ü", "=", "7", "\\", "{", ";--"}
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati"}
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom([]string{"daily", "hourly", "weekly", "monthly"}).Draw(r, "kind")
		var format strings.Builder
		for range rapid.IntRange(1, 6).Draw(r, "fields") {
			format.WriteString(rapid.SampledFrom(fields[kind]).Draw(r, "field"))
			format.WriteString(rapid.SampledFrom(literals).Draw(r, "literal"))
		}
		s, err := partition.New(kind, rapid.SampledFrom(zones).Draw(r, "zone"), format.String(), "", "")
		if err != nil {
			r.Fatal(err)
		}
		if _, err := c.Exec(context.Background(), "SET TimeZone = '"+rapid.SampledFrom(zones).Draw(r, "session")+"'"); err != nil {
			r.Fatal(err)
		}
		var at []time.Time
		for range 20 {
			// Years that a format with two digits has too. Before 1970 the two databases of
			// zones differ in how much of the past they keep, after 2037 in how they go on.
			at = append(at, time.UnixMicro(rapid.Int64Range(0, 2_140_000_000_000_000).Draw(r, "instant")))
		}
		comparePartitions(r, c, s, at)
	})
}

// The fields that DuckDB has, and those that are known here, are the same; those that a
// partition cannot have are refused for another reason.
func TestPartitionFieldsAsDuckDB(t *testing.T) {
	t.Parallel()
	c := duckSession(t)
	for b := byte('!'); b < 0x7f; b++ {
		for _, field := range []string{"%" + string(b), "%-" + string(b)} {
			if b == '-' || b == '\'' {
				continue
			}
			_, duckErr := c.Query(context.Background(), "SELECT strftime(TIMESTAMP '2026-07-05 04:07:09', '"+field+"')")
			_, err := partition.New("hourly", "", "%Y"+field, "", "")
			unknown := err != nil && strings.Contains(err.Error(), "no field "+field)
			if unknown != (duckErr != nil) {
				t.Errorf("%s: %v, DuckDB: %v", field, err, duckErr)
			}
		}
	}
}
