package lake_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/eiderdb/eider/lake"
)

// tables is a Source over literal rows: "relation: col col" followed by one line a row,
// fields split by blanks, "-" for NULL.
type tables map[string][][]string

func parse(t *testing.T, text string) tables {
	t.Helper()
	out := tables{}
	var cur string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case strings.HasSuffix(f[0], ":"):
			cur = strings.TrimSuffix(f[0], ":")
			out[cur] = [][]string{f[1:]}
		default:
			out[cur] = append(out[cur], f)
		}
	}
	return out
}

func (s tables) Relations(context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	for name, rows := range s {
		out[name] = rows[0]
	}
	return out, nil
}

func (s tables) Rows(_ context.Context, relation string, columns []string, fn func([]*string) error) error {
	head := s[relation][0]
	for _, r := range s[relation][1:] {
		v := make([]*string, len(columns))
		for i, c := range columns {
			for j, h := range head {
				if h == c && r[j] != "-" {
					v[i] = &r[j]
				}
			}
		}
		if err := fn(v); err != nil {
			return err
		}
	}
	return nil
}

// healthy is a small lake with one of everything.
const healthy = `
ducklake_metadata: key value
 version 1.0
ducklake_snapshot: snapshot_id snapshot_time schema_version next_catalog_id next_file_id
 0 2026-01-01 0 1 0
 1 2026-01-02 1 3 4
 2 2026-01-03 1 3 5
ducklake_snapshot_changes: snapshot_id changes_made
 0 -
 1 created_table:"main"."t"
 2 deleted_from_table:1
ducklake_schema: schema_id schema_name begin_snapshot end_snapshot
 0 main 0 -
ducklake_table: table_id schema_id table_name begin_snapshot end_snapshot
 1 0 t 1 -
ducklake_view: view_id schema_id view_name begin_snapshot end_snapshot
 2 0 v 1 -
ducklake_column: column_id table_id column_name parent_column begin_snapshot end_snapshot
 1 1 a - 1 -
 2 1 b - 1 2
ducklake_data_file: data_file_id table_id path path_is_relative record_count row_id_start partial_max begin_snapshot end_snapshot
 0 1 f0 t 10 0 - 1 -
 1 1 f1 t 10 10 - 1 2
ducklake_delete_file: delete_file_id table_id data_file_id path path_is_relative delete_count begin_snapshot end_snapshot
 2 1 0 d2 t 3 1 2
 3 1 0 d3 t 4 2 -
ducklake_table_stats: table_id record_count next_row_id
 1 20 22
ducklake_files_scheduled_for_deletion: data_file_id path path_is_relative
 9 main/t/gone t
ducklake_inlined_data_tables: table_id table_name schema_version
 1 ducklake_inlined_data_1_1 1
ducklake_inlined_data_1_1: row_id begin_snapshot end_snapshot
 20 1 2
 20 2 -
ducklake_inlined_delete_1: file_id row_id begin_snapshot
 0 7 2
`

func load(t *testing.T, text string) *lake.Model {
	t.Helper()
	m, err := lake.Load(context.Background(), parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestHealthyLakeHasNoFindings(t *testing.T) {
	t.Parallel()
	m := load(t, healthy)
	if f := lake.Check(m); len(f) != 0 {
		t.Fatalf("findings in a healthy lake: %v", f)
	}
	if h, _ := m.Head(); h.ID != 2 || m.Version != "1.0" {
		t.Fatalf("head %d, version %q", h.ID, m.Version)
	}
}

// A transaction that writes to a table and drops it leaves its file live.
func TestFileOfTheTransactionThatDropped(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]int{"2": 0, "1": 1} {
		text := strings.Replace(healthy, " 1 0 t 1 -\n", " 1 0 t 1 -\n 0 0 w 1 2\n", 1)
		text = strings.Replace(text, " 0 1 f0 t 10 0 - 1 -\n", " 0 1 f0 t 10 0 - 1 -\n 4 0 f4 t 10 0 - "+begin+" -\n", 1)
		if f := lake.Check(load(t, text)); len(f) != want {
			t.Errorf("begun in %s: %v", begin, f)
		}
	}
}

// TestEachInvariantCanBreak changes one line of the healthy lake at a time.
func TestEachInvariantCanBreak(t *testing.T) {
	t.Parallel()
	cases := []struct{ from, to, code string }{
		{" 2 deleted_from_table:1\n", "", "snapshot-without-changes"},
		{" 2 2026-01-03 1 3 5\n", " 2 2026-01-03 0 3 5\n", "counter-went-back"},
		{" 2 2026-01-03 1 3 5\n", " 2 2026-01-01 1 3 5\n", "snapshot-time-went-back"},
		{" 2 2026-01-03 1 3 5\n", " 2 2026-01-03 1 3 5\n 2 2026-01-03 1 3 5\n", "snapshot-twice"},
		{" 2 0 v 1 -\n", " 5 0 v 1 -\n", "id-beyond-counter"},
		{" 2 0 v 1 -\n", " 2 0 T 1 -\n", "name-twice"},
		{" 2 0 v 1 -\n", " 2 7 v 1 -\n", "refers-to-ended"},
		{" 1 0 t 1 -\n", " 1 0 t 1 -\n 1 0 u 2 -\n", "versions-overlap"},
		{" 2 1 b - 1 2\n", " 2 1 A - 1 2\n", "name-twice"},
		{" 1 1 a - 1 -\n", "", "table-without-columns"},
		{" 0 1 f0 t 10 0 - 1 -\n", " 0 1 f0 t 10 0 - 102 -\n", "begins-after-head"},
		{" 1 1 f1 t 10 10 - 1 2\n", " 1 1 f1 t 10 10 - 2 1\n", "ends-before-begin"},
		{" 1 1 f1 t 10 10 - 1 2\n", " 1 1 f0 t 10 10 - 1 -\n", "path-twice"},
		{" 3 1 0 d3 t 4 2 -\n", " 3 1 0 d3 t 4 1 -\n", "versions-overlap"},
		{" 3 1 0 d3 t 4 2 -\n", " 3 1 8 d3 t 4 2 -\n", "delete-file-dangling"},
		{" 3 1 0 d3 t 4 2 -\n", " 3 2 0 d3 t 4 2 -\n", "delete-file-foreign"},
		{" 3 1 0 d3 t 4 2 -\n", " 3 1 0 d3 t 11 2 -\n", "delete-count"},
		{" 0 7 2\n", " 5 7 2\n", "inlined-delete-dangling"},
		{" 0 7 2\n", " 0 10 2\n", "inlined-delete-position"},
		{" 0 7 2\n", " 0 7 2\n 0 7 2\n", "inlined-delete-twice"},
		{" 1 20 22\n", " 1 -5 22\n", "negative-count"},
		{" 1 20 22\n", " 1 20 20\n", "row-id-beyond-counter"},
		{" 20 1 2\n", " 20 1 -\n", "row-id-twice"},
		{" 1 ducklake_inlined_data_1_1 1\n", " 1 ducklake_inlined_data_1_2 2\n", "registry-dangling"},
		{" 1 ducklake_inlined_data_1_1 1\n", "", "relation-unregistered"},
		{" 9 main/t/gone t\n", " 0 main/t/f0 t\n", "scheduled-live"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/%s", c.code, strings.TrimSpace(c.to)), func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(healthy, c.from) {
				t.Fatalf("the healthy lake has no line %q", c.from)
			}
			found := lake.Check(load(t, strings.Replace(healthy, c.from, c.to, 1)))
			for _, f := range found {
				if f.Code == c.code {
					return
				}
			}
			t.Fatalf("no finding %s, but %v", c.code, found)
		})
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	if _, err := lake.Load(context.Background(), tables{}); !errors.Is(err, lake.ErrNotALake) {
		t.Fatalf("empty source: %v", err)
	}
	bad := strings.Replace(healthy, " 1 20 22\n", " 1 twenty 22\n", 1)
	if _, err := lake.Load(context.Background(), parse(t, bad)); err == nil || !strings.Contains(err.Error(), "ducklake_table_stats.record_count") {
		t.Fatalf("malformed number: %v", err)
	}
}
