package trim_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/expire"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/gc/trim"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shapes are the tables of a lake with their columns.
var shapes = map[string]string{
	meta.SnapshotTable:                      "snapshot_id, snapshot_time timestamptz, schema_version, next_catalog_id, next_file_id",
	"ducklake_snapshot_changes":             "snapshot_id, changes_made varchar",
	"ducklake_metadata":                     "key varchar, value varchar, scope varchar",
	"ducklake_schema":                       "schema_id, begin_snapshot, end_snapshot, schema_name varchar, path varchar, path_is_relative boolean",
	"ducklake_table":                        "table_id, schema_id, begin_snapshot, end_snapshot, table_name varchar, path varchar, path_is_relative boolean",
	"ducklake_view":                         "view_id, begin_snapshot, end_snapshot",
	"ducklake_view_column_tag":              "view_id, begin_snapshot, end_snapshot",
	"ducklake_tag":                          "object_id, begin_snapshot, end_snapshot",
	"ducklake_macro":                        "macro_id, begin_snapshot, end_snapshot",
	"ducklake_macro_impl":                   "macro_id, impl_id",
	"ducklake_macro_parameters":             "macro_id, impl_id",
	"ducklake_column":                       "column_id, table_id, begin_snapshot, end_snapshot",
	"ducklake_column_tag":                   "column_id, table_id, begin_snapshot, end_snapshot",
	"ducklake_sort_info":                    "sort_id, table_id, begin_snapshot, end_snapshot",
	"ducklake_sort_expression":              "sort_id, table_id",
	"ducklake_partition_info":               "partition_id, table_id, begin_snapshot, end_snapshot",
	"ducklake_partition_column":             "partition_id, table_id",
	"ducklake_schema_versions":              "begin_snapshot, schema_version, table_id",
	"ducklake_inlined_data_tables":          "table_id, table_name varchar, schema_version",
	"ducklake_column_mapping":               "mapping_id, table_id",
	"ducklake_name_mapping":                 "mapping_id",
	"ducklake_table_stats":                  "table_id",
	"ducklake_table_column_stats":           "table_id, column_id",
	"ducklake_data_file":                    "data_file_id, table_id, begin_snapshot, end_snapshot, partition_id, path varchar, path_is_relative boolean, file_size_bytes",
	"ducklake_file_column_stats":            "data_file_id, table_id, column_id",
	"ducklake_file_variant_stats":           "data_file_id, table_id, column_id",
	"ducklake_file_partition_value":         "data_file_id, table_id",
	"ducklake_delete_file":                  "delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path varchar, path_is_relative boolean, file_size_bytes",
	"ducklake_files_scheduled_for_deletion": "data_file_id, path varchar, path_is_relative boolean, schedule_start timestamptz",
}

const (
	inlinedData   = "row_id, begin_snapshot, end_snapshot"
	inlinedDelete = "file_id, row_id, begin_snapshot"
)

// lakeOf makes a lake of a name, with what fn adds.
func lakeOf(t testing.TB, c *store.Catalog, name string, fn func(txn *store.Txn, l meta.Lake, schema uint32)) {
	t.Helper()
	must(t, meta.Do(context.Background(), c, metatest.Plain{}, func(txn *store.Txn) error {
		s, err := txn.CreateSchema(name)
		must(t, err)
		for table, columns := range shapes {
			must(t, metatest.CreateTable(txn, s.OID, table, strings.Split(columns, ", ")...))
		}
		l, err := meta.Open(txn, name)
		must(t, err)
		fn(txn, l, s.OID)
		return nil
	}))
}

// ids makes a row of bigints from "column value" pairs.
func ids(pairs ...any) meta.Values {
	v := meta.Values{}
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		n, _ := pairs[i+1].(int)
		v[name] = meta.Int(int64(n))
	}
	return v
}

// random fills a lake with rows that refer to each other now and then, healthy or not.
func random(t testing.TB, rt *rapid.T, txn *store.Txn, l meta.Lake, schema uint32) {
	small := rapid.IntRange(0, 6)
	insert := func(table, columns string) {
		v := meta.Values{}
		begin := small.Draw(rt, table)
		for _, col := range strings.Split(columns, ", ") {
			col, typ, _ := strings.Cut(col, " ")
			switch {
			case col == "begin_snapshot":
				v[col] = meta.Int(int64(begin))
			case col == "end_snapshot":
				if n := rapid.IntRange(0, 4).Draw(rt, col); n > 0 {
					v[col] = meta.Int(int64(begin + n))
				}
			case typ == "":
				v[col] = meta.Int(int64(small.Draw(rt, col)))
			case col == "path":
				v[col] = meta.Str(fmt.Sprint("p", small.Draw(rt, col)))
			case typ == "boolean":
				v[col] = meta.Truth(true)
			}
		}
		if table == "ducklake_inlined_data_tables" {
			id := small.Draw(rt, "of")
			v["table_id"], v["table_name"] = meta.Int(int64(id)), meta.Str(fmt.Sprintf("ducklake_inlined_data_%d_%d", id, small.Draw(rt, "version")))
		}
		must(t, l.Table(table).Insert(v))
	}
	for i, here := range rapid.SliceOfN(rapid.Bool(), 9, 9).Draw(rt, "snapshots") {
		if here || i == 8 {
			must(t, l.Table(meta.SnapshotTable).Insert(meta.Values{
				"snapshot_id": meta.Int(int64(i)), "snapshot_time": meta.Time(time.Unix(int64(i), 0)), "next_catalog_id": meta.Int(6), "next_file_id": meta.Int(6),
			}))
		}
	}
	for _, table := range slices.Sorted(maps.Keys(shapes)) { // draws must repeat
		if table == meta.SnapshotTable || table == "ducklake_metadata" || table == "ducklake_files_scheduled_for_deletion" {
			continue
		}
		for range rapid.IntRange(0, 5).Draw(rt, "rows of "+table) {
			insert(table, shapes[table])
		}
	}
	for id := range 7 {
		for version := range 7 {
			if rapid.IntRange(0, 3).Draw(rt, "relation") > 0 {
				continue
			}
			name := fmt.Sprintf("ducklake_inlined_data_%d_%d", id, version)
			must(t, metatest.CreateTable(txn, schema, name, strings.Split(inlinedData, ", ")...))
			for range rapid.IntRange(0, 2).Draw(rt, name) {
				insert(name, inlinedData)
			}
		}
		if rapid.Bool().Draw(rt, "deletes") {
			name := fmt.Sprintf("ducklake_inlined_delete_%d", id)
			must(t, metatest.CreateTable(txn, schema, name, strings.Split(inlinedDelete, ", ")...))
			for range rapid.IntRange(0, 2).Draw(rt, name) {
				insert(name, inlinedDelete)
			}
		}
	}
}

// What previews say is what runs do, on any lake, in transactions of any size.
func TestPreviewIsRun(t *testing.T) {
	t.Parallel()
	c, err := storetest.Open(t).Catalog("lake")
	must(t, err)
	ctx, lakes := context.Background(), 0
	rapid.Check(t, func(rt *rapid.T) {
		lakes++
		name := fmt.Sprint("l", lakes)
		lakeOf(t, c, name, func(txn *store.Txn, l meta.Lake, schema uint32) { random(t, rt, txn, l, schema) })
		o := expire.Options{Committer: metatest.Plain{}, Pace: meta.PaceOptions{Rows: rapid.IntRange(1, 40).Draw(rt, "rows"), BusyShare: 1}}
		same := func(what string, plan, done gc.Result) {
			if !maps.Equal(plan.Counts, done.Counts) || plan.Bytes != done.Bytes || plan.Deferred != done.Deferred ||
				strings.Join(plan.Notes, "\n") != strings.Join(done.Notes, "\n") {
				rt.Fatalf("%s: planned %v, %d bytes, %q\ndone %v, %d bytes, %q", what, plan.Counts, plan.Bytes, plan.Notes, done.Counts, done.Bytes, done.Notes)
			}
		}
		if rapid.Bool().Draw(rt, "expire") {
			sel := expire.Selection{Newest: int64(rapid.IntRange(1, 4).Draw(rt, "newest")), HasNewest: true}
			if rapid.Bool().Draw(rt, "only") {
				sel = expire.Selection{Only: []sweep.Range{{First: 2, Last: 5}}}
			}
			plan, err := expire.Preview(ctx, c, name, sel, o)
			must(t, err)
			done, err := expire.Run(ctx, c, name, sel, o)
			must(t, err)
			same("expire", plan, done)
		}
		plan, err := trim.Preview(ctx, c, name)
		must(t, err)
		done, err := trim.Run(ctx, c, name, o)
		must(t, err)
		same("trim", plan, done)
	})
}

// A flush between the begin of a trim and its look at schema versions dates its file back to
// a version of which nothing was but inlined rows: the version stays.
func TestFlushMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c, err := storetest.Open(t).Catalog("lake")
	must(t, err)
	lakeOf(t, c, "l", func(txn *store.Txn, l meta.Lake, schema uint32) {
		insert := func(table string, pairs ...any) { must(t, l.Table(table).Insert(ids(pairs...))) }
		insert(meta.SnapshotTable, "snapshot_id", 9, "next_catalog_id", 5, "next_file_id", 5)
		insert("ducklake_table", "table_id", 1, "begin_snapshot", 1)
		for i := 1; i <= 3; i++ { // in force from 1, 3, 5
			insert("ducklake_schema_versions", "begin_snapshot", 2*i-1, "schema_version", i, "table_id", 1)
		}
		must(t, l.Table("ducklake_inlined_data_tables").Insert(meta.Values{"table_id": meta.Int(1), "schema_version": meta.Int(2), "table_name": meta.Str("ducklake_inlined_data_1_2")}))
		must(t, metatest.CreateTable(txn, schema, "ducklake_inlined_data_1_2", strings.Split(inlinedData, ", ")...))
		insert("ducklake_inlined_data_1_2", "row_id", 1, "begin_snapshot", 4)
		insert("ducklake_file_column_stats", "data_file_id", 2, "table_id", 1) // of no file: the first to go
	})
	flushed := false
	flush := func(l meta.Lake) {
		flushed = true
		must(t, l.Table("ducklake_data_file").Insert(ids("data_file_id", 5, "table_id", 1, "begin_snapshot", 4)))
		must(t, l.Table("ducklake_inlined_data_tables").Scan(ctx, func(x *meta.Row) error { return x.Delete() }))
		must(t, l.DropTable("ducklake_inlined_data_1_2"))
		must(t, l.Table(meta.SnapshotTable).Insert(ids("snapshot_id", 10, "next_catalog_id", 5, "next_file_id", 6)))
	}
	res, err := trim.Run(ctx, c, "l", expire.Options{Committer: metatest.Plain{Before: func(txn *store.Txn) {
		l, err := meta.Open(txn, "l")
		must(t, err)
		if _, some, err := l.Table("ducklake_file_column_stats").One(ctx); some || err != nil || flushed {
			return
		}
		must(t, meta.Do(ctx, c, metatest.Plain{}, func(txn *store.Txn) error {
			l, err := meta.Open(txn, "l")
			must(t, err)
			flush(l)
			return nil
		}))
	}}})
	must(t, err)
	if want := map[string]int64{"rows of ducklake_file_column_stats": 1, "rows of ducklake_schema_versions": 1}; !flushed || !maps.Equal(res.Counts, want) {
		t.Errorf("flushed %v, %v", flushed, res.Counts)
	}
	must(t, meta.Read(ctx, c, func(txn *store.Txn) error {
		l, err := meta.Open(txn, "l")
		must(t, err)
		if _, there, err := l.Table("ducklake_schema_versions").One(ctx, meta.Is("schema_version", 2)); !there || err != nil {
			t.Errorf("the version of the flushed file: %v, %v", there, err)
		}
		return nil
	}))
}

// Relations that leaked go, and of those that are left alone some are named. EIDER_MANY_RELATIONS
// gives another number of them than the small one.
func TestLeakedRelations(t *testing.T) {
	t.Parallel()
	n := 300
	if s := os.Getenv("EIDER_MANY_RELATIONS"); s != "" {
		_, err := fmt.Sscan(s, &n)
		must(t, err)
	}
	for _, rows := range []int{0, 1} {
		ctx := context.Background()
		c, err := storetest.Open(t).Catalog("lake")
		must(t, err)
		lakeOf(t, c, "l", func(txn *store.Txn, l meta.Lake, _ uint32) {
			must(t, l.Table(meta.SnapshotTable).Insert(ids("snapshot_id", 9, "next_catalog_id", n+1, "next_file_id", 5)))
			must(t, l.Table("ducklake_table").Insert(ids("table_id", 1, "begin_snapshot", 1)))
		})
		for first := 0; first < n; first += 1000 {
			must(t, meta.Do(ctx, c, metatest.Plain{}, func(txn *store.Txn) error {
				l, err := meta.Open(txn, "l")
				must(t, err)
				for i := first; i < min(n, first+1000); i++ {
					name := fmt.Sprintf("ducklake_inlined_data_1_%d", i)
					must(t, metatest.CreateTable(txn, l.Schema(), name, strings.Split(inlinedData, ", ")...))
					for range rows {
						must(t, l.Table(name).Insert(ids("row_id", 1, "begin_snapshot", 1)))
					}
				}
				return nil
			}))
		}
		began, allocated := time.Now(), allocations()
		plan, err := trim.Preview(ctx, c, "l")
		must(t, err)
		planned := time.Since(began)
		began = time.Now()
		res, err := trim.Run(ctx, c, "l", expire.Options{Committer: metatest.Plain{}})
		must(t, err)
		t.Logf("%d relations with %d rows each: planned in %s, run in %s, %d MiB allocated", n, rows, planned, time.Since(began), (allocations()-allocated)>>20)
		if !maps.Equal(plan.Counts, res.Counts) || res.Counts["relations"] != int64(n*(1-rows)) {
			t.Errorf("planned %v, done %v", plan.Counts, res.Counts)
		}
		if len(res.Notes) != rows || rows > 0 && (!strings.HasPrefix(res.Notes[0], fmt.Sprintf("relations left alone because they have rows and are not registered: %d (ducklake_inlined_data_1_", n)) ||
			!strings.HasSuffix(res.Notes[0], " and so on)") || len(res.Notes[0]) > 1000) {
			t.Errorf("%q", res.Notes)
		}
	}
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
