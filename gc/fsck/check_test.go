package fsck_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/lake"
)

func TestHealthy(t *testing.T) {
	t.Parallel()
	rep := check(t, parse(healthy), fsck.Options{Lake: "public"})
	if len(rep.Findings) != 0 || !rep.Clean() {
		t.Fatalf("findings in a healthy lake: %v", rep.Findings)
	}
	want := fsck.Counts{Snapshots: 3, Tables: 2, DataFiles: 2, DeleteFiles: 2, StatisticsRows: 4, InlinedRows: 2, InlinedDeletes: 1, Scheduled: 1}
	after, err := fsck.Run(context.Background(), reader(parse(healthy)), nil, fsck.Options{})
	if err != nil || len(after.Repairs) != 0 {
		t.Errorf("%v %+v", err, after)
	}
	if rep.Counts != want || rep.Head != 2 || rep.Version != "1.0" {
		t.Errorf("%+v", rep)
	}
}

// damage breaks one line of the healthy lake. also are codes that follow from the same
// break by necessity.
type damage struct {
	code     fsck.Code
	from, to string
	also     string
	// left are the codes that a repair leaves; "-" means that there is no repair at all.
	left string
}

// damages has at least one for each code that needs no files.
func damages() []damage {
	return []damage{
		{fsck.NoSnapshot, " 0 2026-01-01 0 1 0\n 1 2026-01-02 1 9 8\n 2 2026-01-03 1 9 9\n", "", "", "-"},
		{fsck.SnapshotTwice, " 2 2026-01-03 1 9 9\n", " 2 2026-01-03 1 9 9\n 2 2026-01-03 1 9 9\n", "", "-"},
		{fsck.SnapshotWithoutChanges, " 2 deleted_from_table:1 - - -\n", "", "", ""},
		{fsck.ChangesWithoutSnapshot, " 2 deleted_from_table:1 - - -\n", " 2 deleted_from_table:1 - - -\n 3 x - - -\n", "", ""},
		{fsck.SnapshotTimeWentBack, " 2 2026-01-03 1 9 9\n", " 2 2025-01-03 1 9 9\n", "", "-"},
		{fsck.SnapshotTimeUnknown, " 2 2026-01-03 1 9 9\n", " 2 infinity 1 9 9\n", "", "-"},
		{fsck.SnapshotTimeUnknown, " 2 2026-01-03 1 9 9\n", " 2 - 1 9 9\n", "", "-"},
		{fsck.CounterWentBack, " 2 2026-01-03 1 9 9\n", " 2 2026-01-03 0 9 9\n", "", ""},
		{fsck.CounterWentBack, " 1 2026-01-02 1 9 8\n", " 1 2026-01-02 1 12 8\n", "", ""},
		{fsck.CounterWentBack, " 1 2026-01-02 1 9 8\n", " 1 2026-01-02 1 0 8\n", "", "-"},
		{fsck.IDBeyondCounter, " 1 2026-01-02 1 9 8\n 2 2026-01-03 1 9 9\n", " 1 2026-01-02 1 2 2\n 2 2026-01-03 1 2 2\n", "", ""},
		{fsck.NullID, " 2 0 v 1 -\n", " - 0 v 1 -\n", "", "-"},
		{fsck.NullID, " 2 2026-01-03 1 9 9\n", " 2 2026-01-03 - 9 9\n", "", "-"},
		{fsck.NullID, " 2 1 b - 1 2\n", " 2 1 b - - 2\n", "file-stats-column", "-"},
		{fsck.RelationMissing, "ducklake_name_mapping:", "x:", "", "-"},
		{fsck.VersionUnknown, " version 1.0 -\n", "", "", "-"},
		{fsck.OptionTwice, " data_path /lake/ -\n", " data_path /elsewhere/ -\n data_path /lake/ -\n", "", ""},
		{fsck.OptionTwice, " data_path /lake/ -\n", " data_path /lake/ -\n quick yes -\n quick yes -\n quick yes table\n quick no table\n", "", ""},

		{fsck.BeginsAfterHead, " 2 0 v 1 -\n", " 2 0 v 7 -\n", "", "-"},
		{fsck.BeginsAfterHead, " 0 7 2\n", " 0 7 5\n", "", "-"},
		{fsck.BeginsAfterHead, " 1 1 1\nducklake_data", " 1 1 1\n 9 2 1\nducklake_data", "", "-"},
		{fsck.EndsAfterHead, " 2 0 v 1 -\n", " 2 0 v 1 7\n", "", "-"},
		{fsck.EndsBeforeBegin, " 1 1 1 2 f1", " 1 1 2 1 f1", "", "-"},
		{fsck.EndsBeforeBegin, " 20 1 2\n", " 20 2 1\n", "", "-"},
		{fsck.VersionsOverlap, " 1 0 old t/ t 1 2\n", " 1 0 old t/ t 1 -\n", "", ""},
		{fsck.VersionsOverlap, " 1 0 old t/ t 1 2\n", " 1 0 old t/ t 2 -\n", "", "-"},
		{fsck.VersionsOverlap, " 2 0 v 1 -\n", " 2 0 v 1 -\n 2 0 w 2 -\n", "", ""},
		{fsck.VersionsOverlap, " 2 1 b - 1 2\n", " 2 1 b - 1 -\n 2 1 c - 2 -\n", "", ""},
		{fsck.VersionsOverlap, " 2 1 1 2 0 d2", " 2 1 1 - 0 d2", "", ""},
		{fsck.VersionsOverlap, " 2 1 1 2 0 d2 t parquet 3", " 2 1 1 - 0 d2 t parquet 5", "", "-"},
		{fsck.VersionsOverlap, " 1 1 2 comment x\n 1 2", " 1 1 - comment x\n 1 2", "", ""},
		{fsck.VersionsOverlap, " 1 1 1 2 comment x\n", " 1 1 1 - comment x\n", "", ""},
		{fsck.VersionsOverlap, " 5 1 1 -\n", " 5 1 1 -\n 8 1 2 -\n", "", ""},
		{fsck.VersionsOverlap, " 6 1 1 -\n", " 6 1 1 -\n 8 1 2 -\n", "", ""},
		{fsck.NameTwice, " 2 0 v 1 -\n", " 2 0 T 1 -\n", "", "-"},
		{fsck.NameTwice, " 2 1 b - 1 2\n", " 2 1 A - 1 2\n", "", "-"},
		{fsck.NameTwice, " 0 main main/ t 0 -\n", " 0 main main/ t 0 -\n 8 MAIN m/ t 1 -\n", "", "-"},
		{fsck.NameTwice, " 0 4 m 1 -\nducklake_macro_impl: macro_id impl_id dialect sql type\n", " 0 4 m 1 -\n 0 8 M 1 -\nducklake_macro_impl: macro_id impl_id dialect sql type\n 8 0 duckdb 1 scalar\n", "", "-"},
		{fsck.IDShared, " 2 0 v 1 -\n", " 1 0 v 1 -\n", "", "-"},
		{fsck.RefersToEnded, " 0 main main/ t 0 -\n", " 0 main main/ t 0 2\n", "", "-"},
		{fsck.RefersToEnded, " 1 3 a - 1 2\n", " 1 3 a - 1 -\n", "", "-"},
		{fsck.RefersToEnded, " 3 1 s - 1 -\n", " 3 1 s - 1 2\n", "", "-"},
		{fsck.RefersToMissing, " 2 0 v 1 -\n", " 2 8 v 1 -\n", "", "-"},
		{fsck.RefersToMissing, " 1 1 1 2 f1", " 1 8 1 2 f1", "file-stats-foreign", "-"},
		{fsck.TableWithoutColumns, " 1 1 a - 1 -\n 2 1 b - 1 2\n 3 1 s - 1 -\n 4 1 a 3 1 -\n", " 1 1 a - 1 2\n 2 1 b - 1 2\n", "", "-"},
		{fsck.MacroWithoutImpl, " 4 0 duckdb 1 scalar\n", "", "", "-"},
		{fsck.PartOrphaned, " 4 0 0 x\n", " 4 0 0 x\n 8 0 0 x\n", "", ""},
		{fsck.PartOrphaned, " 4 0 duckdb 1 scalar\n", " 4 0 duckdb 1 scalar\n 8 0 duckdb 1 scalar\n", "", ""},
		{fsck.PartOrphaned, " 5 1 0 1 identity\n", " 5 1 0 1 identity\n 8 1 0 1 identity\n", "", ""},
		{fsck.PartOrphaned, " 5 1 1 -\n", " 5 1 1 -\n 8 12 1 2\n", "", ""},
		{fsck.PartOrphaned, " 6 1 0 a\n", " 6 1 0 a\n 8 1 0 a\n", "", ""},
		{fsck.PartOrphaned, " 6 1 1 -\n", " 6 1 1 -\n 8 12 1 2\n", "", ""},
		{fsck.PartOrphaned, " 1 1 2 comment x\n 1 2", " 12 1 2 comment x\n 1 2", "", ""},
		{fsck.PartOrphaned, " 1 1 1 2 comment x\n", " 12 1 1 2 comment x\n", "", ""},
		{fsck.PartOrphaned, " 7 0 a\n", " 7 0 a\n 6 0 a\n", "", ""},
		{fsck.PartOrphaned, " 7 1 map_by_name\n", " 7 1 map_by_name\n 6 12 map_by_name\n", "", ""},
		{fsck.PartOrphaned, " 1 1 1\nducklake_data", " 1 1 1\n 1 1 12\nducklake_data", "", ""},
		{fsck.PartOrphaned, " 1 3 a - 1 2\n", " 1 12 a - 1 2\n", "", ""},
		{fsck.PartitionColumn, " 5 1 0 1 identity\n", " 5 1 0 8 identity\n", "", "-"},

		{fsck.DataFileTwice, " 1 1 1 2 f1", " 0 1 1 2 f1", "file-stats-orphaned", "data-file-twice"},
		{fsck.PathTwice, " 1 1 1 2 f1", " 1 1 1 2 f0", "", "-"},
		{fsck.PathTwice, " 1 1 1 2 f1 t", " 1 1 1 2 file:///lake//main/./t/f0 f", "", "-"},
		{fsck.PathTwice, " 2 1 1 2 0 d2", " 2 1 1 2 0 f1", "", "-"},
		{fsck.NegativeCount, " 1 21 22 200\n", " 1 21 22 -5\n", "", "-"},
		{fsck.NegativeCount, " 1 1 1 2 f1 t parquet 10 100", " 1 1 1 2 f1 t parquet 10 -1", "", "-"},
		{fsck.PartitionUnknown, " 0 1 1 - f0 t parquet 10 100 10 0 5 7", " 0 1 1 - f0 t parquet 10 100 10 0 6 7", "", "-"},
		{fsck.MappingUnknown, " 0 1 1 - f0 t parquet 10 100 10 0 5 7", " 0 1 1 - f0 t parquet 10 100 10 0 5 6", "", "-"},
		{fsck.SchemaVersion, " 1 1 1\nducklake_data", " 2 1 1\nducklake_data", "", "-"},
		{fsck.DeleteFileTwice, " 2 1 1 2 0 d2", " 3 1 1 2 0 d2", "", "-"},
		{fsck.DeleteFileDangling, " 2 1 1 2 0 d2", " 2 1 1 2 6 d2", "", ""},
		{fsck.DeleteFileForeign, " 2 1 1 2 0 d2", " 2 3 1 2 0 d2", "", "-"},
		{fsck.DeleteCount, " 2 1 1 2 0 d2 t parquet 3", " 2 1 1 2 0 d2 t parquet 11", "", "-"},
		{fsck.DeleteCount, " 3 1 2 - 0 d3 t parquet 4", " 3 1 2 - 0 d3 t parquet 10", "", "-"}, // with the inlined delete

		{fsck.FileStatsOrphaned, " 1 1 1 10 0\n", " 1 1 1 10 0\n 5 1 1 10 0\n 5 1 2 10 0\n 4 1 1 10 0\n", "", ""},
		{fsck.FileStatsOrphaned, " 0 1 1\nducklake_file_part", " 5 1 1\nducklake_file_part", "", ""},
		{fsck.FileStatsForeign, " 1 1 1 10 0\n", " 1 3 1 10 0\n", "", "-"},
		{fsck.FileStatsTwice, " 1 1 1 10 0\n", " 1 1 1 10 0\n 1 1 1 10 0\n", "", "-"},
		{fsck.FileStatsTwice, " 1 1 1 10 0\n", " 1 1 2147483540 10 0\n 1 1 2147483540 10 0\n", "", "-"},
		{fsck.FileStatsColumn, " 1 1 1 10 0\n", " 1 1 8 10 0\n", "", "-"},
		{fsck.FileStatsCount, " 0 1 1 10 0\n", " 0 1 1 10 1\n", "", "-"},
		{fsck.PartitionValueOrphaned, " 0 1 0 x\n", " 0 1 0 x\n 5 1 0 x\n", "", ""},
		{fsck.PartitionValueForeign, " 0 1 0 x\n", " 0 3 0 x\n", "", "-"},
		{fsck.PartitionValueTwice, " 0 1 0 x\n", " 0 1 0 x\n 0 1 0 y\n", "", "-"},
		{fsck.PartitionValueMissing, " 0 1 0 x\n", "", "", "-"},
		{fsck.TableStatsMissing, " 1 21 22 200\n", "", "", ""},
		{fsck.TableStatsMissing, " 1 21 22 200\n", "", "", ""},
		{fsck.TableStatsTwice, " 1 21 22 200\n", " 1 21 22 200\n 1 22 21 200\n", "", ""},
		{fsck.TableStatsOrphaned, " 1 21 22 200\n", " 1 21 22 200\n 12 21 22 200\n", "", ""},
		{fsck.TableStatsOrphaned, " 1 1 f\n", " 1 1 f\n 12 1 f\n", "", ""},
		{fsck.ColumnStatsTwice, " 1 1 f\n", " 1 1 f\n 1 1 t\n", "", "-"},
		{fsck.RecordCount, " 1 21 22 200\n", " 1 5 22 200\n", "", ""},

		{fsck.RowIDBeyondCounter, " 1 21 22 200\n", " 1 21 20 200\n", "", ""},
		{fsck.RowIDBeyondCounter, " 1 1 1 2 f1 t parquet 10 100 10 10", " 1 1 1 2 f1 t parquet 10 100 10 23", "", ""},
		{fsck.RowIDTwice, " 20 1 2\n", " 20 1 -\n", "", "-"},
		{fsck.RowIDRange, " 1 1 1 2 f1 t parquet 10 100 10 10", " 1 1 1 - f1 t parquet 10 100 10 9", "", "-"},
		{fsck.InlinedDeleteDangling, " 0 7 2\n", " 5 7 2\n", "", ""},
		{fsck.InlinedDeleteOrphaned, " 0 7 2\n", " 0 7 2\n 5 7 -1\n 5 8 -1\n 6 1 -2\n", "", ""},
		{fsck.InlinedDeleteDangling, " 0 7 2\n", " 0 7 2\n 5 7 -1\n 5 7 1\n", "", ""},
		{fsck.InlinedDeleteForeign, "ducklake_inlined_delete_1:", "ducklake_inlined_delete_3:", "", "-"},
		{fsck.InlinedDeletePosition, " 0 7 2\n", " 0 10 2\n", "", "-"},
		{fsck.InlinedDeleteTwice, " 0 7 2\n", " 0 7 2\n 0 7 2\n", "", ""},
		{fsck.InlinedDeleteTwice, " 0 7 2\n", " 0 7 2\n 0 7 1\n", "", ""},
		{fsck.RegistryTwice, " 1 ducklake_inlined_data_1_1 1\n", " 1 ducklake_inlined_data_1_1 1\n 1 ducklake_inlined_data_1_1 1\n", "", ""},
		{fsck.RegistryDangling, " 1 ducklake_inlined_data_1_1 1\n", " 1 ducklake_inlined_data_1_1 1\n 1 ducklake_inlined_data_1_2 2\n", "", ""},
		{fsck.RegistryForeign, " 1 ducklake_inlined_data_1_1 1\n", " 1 ducklake_inlined_data_1_1 1\n 12 ducklake_inlined_data_12_2 2\n", "", ""},
		{fsck.RegistryForeign, " 1 ducklake_inlined_data_1_1 1\n", " 1 ducklake_inlined_data_1_1 1\n 12 ducklake_data_file 2\n", "", ""}, // which stays
		{fsck.NullID, " 1 ducklake_inlined_data_1_1 1\n", " 1 ducklake_inlined_data_1_1 1\n 1 - 2\n", "", "-"},
		{fsck.RelationUnregistered, " 1 ducklake_inlined_data_1_1 1\n", "", "", ""},
		{fsck.RelationLeaked, "ducklake_inlined_delete_1:", "ducklake_inlined_data_1_0: row_id begin_snapshot end_snapshot\nducklake_inlined_delete_1:", "", ""},
		{fsck.RelationLeaked, "ducklake_inlined_delete_1:", "ducklake_inlined_delete_12: row_id begin_snapshot end_snapshot\nducklake_inlined_delete_1:", "", ""},

		{fsck.ScheduledLive, " 8 main/t/gone t 2026-01-03\n", " 0 main/t/f0 t 2026-01-03\n", "", ""},
		{fsck.ScheduledLive, " 8 main/t/gone t 2026-01-03\n", " 1 /lake/./main//t/f1 f 2026-01-03\n", "", ""},
		{fsck.ScheduledLive, " 8 main/t/gone t 2026-01-03\n", " - main/t/d3 t 2026-01-03\n", "", ""},
		{fsck.ScheduledTwice, " 8 main/t/gone t 2026-01-03\n", " 8 main/t/gone t 2026-01-03\n 8 /lake/main/t/gone f 2026-01-04\n 8 main/t/gone t 2026-01-01\n", "", ""},
	}
}

// Each damage is found, and nothing else is; its repair mends it and breaks nothing.
func TestEachInvariantCanBreak(t *testing.T) {
	t.Parallel()
	for _, d := range damages() {
		t.Run(string(d.code)+"/"+strings.TrimSpace(d.to), func(t *testing.T) {
			t.Parallel()
			src := parse(edit(t, d.from, d.to))
			want := strings.Join(strings.Fields(d.also+" "+string(d.code)), " ")
			rep := check(t, src, fsck.Options{Lake: "public"})
			if got := codes(rep); got != sorted(want) {
				t.Fatalf("found %s, want %s: %v", got, want, rep.Findings)
			}
			w := &writer{t: src}
			after, err := fsck.Run(context.Background(), reader(src), w, fsck.Options{Lake: "public"})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case d.left == "-" && (len(after.Repairs) > 0 || w.checkpoints > 0):
				t.Errorf("repaired: %+v", after.Repairs)
			case d.left != "-" && w.checkpoints != 1:
				t.Errorf("%d checkpoints", w.checkpoints)
			case d.left != "-" && codes(after) != sorted(d.left):
				t.Errorf("after the repair: %v\n%+v", after.Findings, after.Repairs)
			}
			for _, r := range after.Repairs {
				if r.Outcome != fsck.Applied || len(r.Statements) == 0 {
					t.Errorf("%+v", r)
				}
			}
			for _, f := range rep.Findings {
				if f.Repairable != (d.left != "-") && f.Code == d.code && !strings.Contains(d.left, string(d.code)) {
					t.Errorf("%s: repairable is %v", f, f.Repairable)
				}
			}
		})
	}
}

func reader(src tables) fsck.Reader {
	return func(_ context.Context, fn func(lake.Source) error) error { return fn(src.clone()) }
}

// Every code that needs no files has a damage.
func TestEachCodeHasADamage(t *testing.T) {
	t.Parallel()
	seen := map[fsck.Code]bool{}
	for _, d := range damages() {
		seen[d.code] = true
	}
	files := false
	for _, i := range fsck.Codes() {
		files = files || i.Code == fsck.CommitFilesMissing
		if !files && !seen[i.Code] {
			t.Errorf("no damage for %s", i.Code)
		}
		if i.What == "" || i.Severity == "" || strings.HasSuffix(i.What, ".") {
			t.Errorf("%+v", i)
		}
	}
}

// Nothing is planned for a lake that nobody has written to.
func TestNewLake(t *testing.T) {
	t.Parallel()
	src := parse("ducklake_metadata: key value\n version 0.3\nducklake_snapshot: snapshot_id snapshot_time schema_version next_catalog_id next_file_id\n 0 2026-01-01 0 0 0\n")
	rep, err := fsck.Run(context.Background(), reader(src), nil, fsck.Options{})
	if err != nil || !rep.Clean() || len(rep.Repairs) != 0 {
		t.Errorf("%v %+v", err, rep)
	}
}

// A transaction that writes to a table and drops it leaves its file live.
func TestFileOfTheTransactionThatDropped(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]string{"2": "", "1": "refers-to-ended"} {
		text := edit(t, " 1 1 1 2 f1", " 4 3 "+begin+" - f4 t parquet 10 100 10 0 - - - -\n 1 1 1 2 f1")
		text = strings.Replace(text, " 1 1 1\nducklake_data", " 1 1 1\n 1 1 3\nducklake_data", 1)
		if got := codes(check(t, parse(text), fsck.Options{})); got != want {
			t.Errorf("begun in %s: %s", begin, got)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	if _, err := fsck.Check(ctx, tables{}, fsck.Options{}); !errors.Is(err, lake.ErrNotALake) {
		t.Errorf("empty source: %v", err)
	}
	src := parse(edit(t, " 1 21 22 200\n", " 1 twenty 22 200\n"))
	if _, err := fsck.Check(ctx, src, fsck.Options{}); err == nil || !strings.Contains(err.Error(), "ducklake_table_stats.record_count") {
		t.Errorf("malformed number: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := fsck.Check(ctx, parse(healthy), fsck.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
