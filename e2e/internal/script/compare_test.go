package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func table(name, columns string, rows ...string) Table {
	t := Table{Schema: "public", Name: name}
	for _, c := range strings.Fields(columns) {
		t.Columns = append(t.Columns, c+":20:-1")
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, strings.Fields(r))
	}
	return t
}

func TestCompareOutcomes(t *testing.T) {
	s := &Script{Name: "s"}
	a := Outcome{Line: 1, SQL: "q", Rows: []string{"1"}}
	b := Outcome{Line: 1, SQL: "q", Rows: []string{"2"}}
	failed := Outcome{Line: 1, SQL: "q", Err: "boom"}
	pin := func(o Outcome) Outcome { o.Differs = "reason"; return o }
	for _, tc := range []struct {
		name          string
		pg, eider     []Outcome
		diffs, pinned int
	}{
		{"equal", []Outcome{a}, []Outcome{a}, 0, 0},
		{"other rows", []Outcome{a}, []Outcome{b}, 1, 0},
		{"error on one side", []Outcome{a}, []Outcome{failed}, 1, 0},
		{"stops early", []Outcome{a, {Line: 2}}, []Outcome{a}, 1, 0},
		{"pinned", []Outcome{pin(a)}, []Outcome{pin(b)}, 0, 1},
		{"stale pin", []Outcome{pin(a)}, []Outcome{pin(a)}, 1, 0},
		{"one server only", []Outcome{a}, []Outcome{a, pin(Outcome{Line: 2})}, 0, 1},
		{"one server only, in the middle", []Outcome{a, {Line: 3}}, []Outcome{a, pin(Outcome{Line: 2}), {Line: 3}}, 0, 1},
	} {
		c := Compare(s, &Trace{Outcomes: tc.pg}, &Trace{Outcomes: tc.eider})
		if len(c.Differences) != tc.diffs || c.Pinned != tc.pinned {
			t.Errorf("%s: %d differences, %d pinned, want %d and %d: %v", tc.name, len(c.Differences), c.Pinned, tc.diffs, tc.pinned, c.Differences)
		}
	}
}

func TestCompareTables(t *testing.T) {
	base := []Table{
		table("ducklake_data_file", "data_file_id table_id begin_snapshot", "1 7 2", "2 7 3"),
		table("ducklake_delete_file", "delete_file_id data_file_id", "3 1"),
		table("ducklake_file_column_stats", "data_file_id min_value", "1 a", "2 b"),
		table("ducklake_inlined_delete_7", "file_id row_id", "2 5"),
	}
	renumbered := []Table{
		table("ducklake_data_file", "data_file_id table_id begin_snapshot", "2 7 2", "1 7 3"),
		table("ducklake_delete_file", "delete_file_id data_file_id", "3 2"),
		table("ducklake_file_column_stats", "data_file_id min_value", "2 a", "1 b"),
		table("ducklake_inlined_delete_7", "file_id row_id", "1 5"),
	}
	if d := compareTables(base, base); len(d) != 0 {
		t.Errorf("a catalog differs from itself: %v", d)
	}
	if d := compareTables(base, renumbered); len(d) != 0 {
		t.Errorf("another numbering of files counts as a difference: %v", d)
	}
	wrong := append([]Table(nil), renumbered...)
	wrong[3] = table("ducklake_inlined_delete_7", "file_id row_id", "2 5") // the delete belongs to the other file now
	if d := compareTables(base, wrong); len(d) == 0 {
		t.Error("a delete of another file goes unnoticed")
	}
	if d := compareTables(base, base[:3]); len(d) != 1 {
		t.Errorf("a missing table: %v", d)
	}
	if d := compareTables(base[:3], base); len(d) != 1 {
		t.Errorf("an extra table: %v", d)
	}
}

func TestNormalise(t *testing.T) {
	n := &normaliser{data: "/tmp/x1", dsn: "host=h port=1 dbname=e2e_3", db: "e2e_3", now: time.Date(2024, 5, 5, 12, 0, 0, 0, time.UTC)}
	for in, want := range map[string]string{
		"/tmp/x1/main/t/ducklake-0190a0b1-c2d3-7e4f-8a9b-0c1d2e3f4a5b.parquet": "$DATA/main/t/ducklake-#.parquet",
		"2024-05-05 11:59:58.123+00":           "#now",
		"2020-01-01 00:00:00":                  "2020-01-01 00:00:00",
		"12345678-9abc-4def-8123-456789abcdef": "12345678-9abc-4def-8123-456789abcdef",
		"0190a0b1-c2d3-7e4f-8a9b-0c1d2e3f4a5b": "#uuid",
		"host=h port=1 dbname=e2e_3":           "$DSN",
	} {
		if got := n.text(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := n.error("failed on port=5555 user=eider\n\nLINE 1: x\n ^"); got != "failed on port user" {
		t.Errorf("got %q", got)
	}
}

func TestRewrite(t *testing.T) {
	text := "query\nSELECT 1\n\nquery\nSELECT 2\n----\nold\n\nexec\nSELECT 3\n"
	s, err := Parse("s", text)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.lake")
	trace := &Trace{Outcomes: []Outcome{
		{Line: 1, Rows: []string{"1"}, query: true, top: true},
		{Line: 4, Rows: []string{"2", "3"}, query: true, top: true},
		{Line: 9, Rows: []string{"4"}},
	}}
	if err := Rewrite(s, path, trace); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "query\nSELECT 1\n----\n1\n\nquery\nSELECT 2\n----\n2\n3\n\nexec\nSELECT 3\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

func TestRowIDStarts(t *testing.T) {
	const columns = "data_file_id record_count row_id_start"
	with := func(rows ...string) []Table { return []Table{table("ducklake_data_file", columns, rows...)} }
	for _, tc := range []struct {
		name      string
		pg, eider []Table
		diffs     int
	}{
		{"a file with its ids inside", with("1 20 0", "2 10 20"), with("1 20 0", "2 10 NULL"), 0},
		{"another start", with("1 20 0"), with("1 20 5"), 2},
		{"the other way round", with("1 20 NULL"), with("1 20 0"), 2},
		{"another count", with("1 20 0"), with("1 21 NULL"), 2},
		{"one of two equal rows", with("1 20 0", "1 20 0"), with("1 20 NULL", "1 20 7"), 2},
		{"no number", with("1 20 #now"), with("1 20 NULL"), 2},
		{"none on pg", with("1 20 0"), with("1 20 0", "2 20 NULL"), 1},
		{"another table's", []Table{table("ducklake_table_stats", columns, "1 20 0")}, []Table{table("ducklake_table_stats", columns, "1 20 NULL")}, 2},
	} {
		if d := compareTables(tc.pg, tc.eider); len(d) != tc.diffs {
			t.Errorf("%s: %v", tc.name, d)
		}
	}
}
