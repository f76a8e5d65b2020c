package translate_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/eiderdb/eider/translate/guard"
)

// inlinedInsert is the commit of one inlined row.
func inlinedInsert() string {
	return lakeBatch(6, same, "inlined_insert:1",
		"UPDATE ducklake_table_stats SET record_count=211, file_size_bytes=0, next_row_id=231 WHERE table_id=1",
		`WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (1, 1, false, NULL, '1', '2', NULL) ) UPDATE ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid`,
		"INSERT INTO ducklake_inlined_data_1_1 VALUES (230, 6, NULL, 2, '3')")
}

// BenchmarkGuard measures what a commit pays for being looked at.
func BenchmarkGuard(b *testing.B) {
	for _, c := range []struct{ name, sql string }{
		{"none", "create table if not exists other (i bigint); insert into other values (1)"},
		{"inlined", inlinedInsert()},
		{"file", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", "UPDATE ducklake_table_stats SET record_count=211, file_size_bytes=1, next_row_id=231 WHERE table_id=1", file(10, 1, 6, "NULL", "f10", 1, "229, NULL, NULL, NULL, NULL"))},
		{"delete", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 4, 5, "NULL"))},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newLake(b)
			w.run("a", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
			w.run("a", c.sql)
			txn := w.session("a").Txn()
			g := guard.New(guard.Options{Clock: w.clock})
			b.ReportAllocs()
			for b.Loop() {
				if err := g.Look(context.Background(), txn, guard.Info{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestGuardAllocations: the commit that there are most of stays cheap, and what a commit
// pays does not grow with the lake.
func TestGuardAllocations(t *testing.T) {
	look := func(w *world) float64 {
		w.run("a", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		w.run("a", inlinedInsert())
		txn := w.session("a").Txn()
		g := guard.New(guard.Options{Clock: w.clock})
		return testing.AllocsPerRun(20, func() {
			if err := g.Look(context.Background(), txn, guard.Info{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	small := look(newLake(t))
	const most = 60
	if small > most {
		t.Errorf("%v allocations for one inlined row, at most %d", small, most)
	}
	w := newLake(t)
	w.run("s", "begin")
	for i := 100; i < 1100; i++ {
		w.run("s", fmt.Sprintf("insert into ducklake_snapshot_changes values (%d, null, null, null, null)", -i))
		w.run("s", fmt.Sprintf("insert into ducklake_schema_versions values (1, 1, %d)", i))
	}
	w.run("s", "delete from ducklake_snapshot_changes where snapshot_id < 0")
	w.run("s", "commit")
	if large := look(w); large > small+2 {
		t.Errorf("%v allocations in a larger lake, %v in a small one", large, small)
	}
}
