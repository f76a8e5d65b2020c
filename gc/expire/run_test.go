package expire_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/expire"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// small is a lake of snapshots 0 to n with one table (id 1), whose file i (path "f<i>") is
// there from snapshot i to i+1.
func small(t testing.TB, n int64) *store.Catalog {
	t.Helper()
	c, err := storetest.Open(t).Catalog("lake")
	must(t, err)
	must(t, meta.Do(context.Background(), c, metatest.Plain{}, func(txn *store.Txn) error {
		for name, columns := range map[string]string{
			meta.SnapshotTable:                      "snapshot_id, snapshot_time timestamptz, schema_version, next_catalog_id, next_file_id",
			"ducklake_snapshot_changes":             "snapshot_id, changes_made varchar",
			"ducklake_metadata":                     "key varchar, value varchar, scope varchar",
			"ducklake_schema":                       "schema_id, begin_snapshot, end_snapshot, schema_name varchar, path varchar, path_is_relative boolean",
			"ducklake_table":                        "table_id, schema_id, begin_snapshot, end_snapshot, table_name varchar, path varchar, path_is_relative boolean",
			"ducklake_data_file":                    "data_file_id, table_id, begin_snapshot, end_snapshot, path varchar, path_is_relative boolean, file_size_bytes",
			"ducklake_file_column_stats":            "data_file_id, table_id, column_id",
			"ducklake_delete_file":                  "delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path varchar, path_is_relative boolean, file_size_bytes",
			"ducklake_files_scheduled_for_deletion": "data_file_id, path varchar, path_is_relative boolean, schedule_start timestamptz",
		} {
			must(t, metatest.CreateTable(txn, store.PublicOID, name, strings.Split(columns, ", ")...))
		}
		l, err := meta.Open(txn, "public")
		must(t, err)
		insert := func(table string, v meta.Values) { must(t, l.Table(table).Insert(v)) }
		insert("ducklake_metadata", meta.Values{"key": meta.Str("data_path"), "value": meta.Str("/data/")})
		insert("ducklake_schema", meta.Values{"schema_id": meta.Int(0), "begin_snapshot": meta.Int(0), "schema_name": meta.Str("main"), "path": meta.Str("main/"), "path_is_relative": meta.Truth(true)})
		insert("ducklake_table", meta.Values{"table_id": meta.Int(1), "schema_id": meta.Int(0), "begin_snapshot": meta.Int(0), "table_name": meta.Str("t"), "path": meta.Str("t/"), "path_is_relative": meta.Truth(true)})
		for i := range n + 1 {
			addSnapshot(t, l, i)
		}
		return nil
	}))
	return c
}

// addSnapshot adds snapshot i, made i seconds after 2026 began, with its file.
func addSnapshot(t testing.TB, l meta.Lake, i int64) {
	t.Helper()
	insert := func(table string, v meta.Values) { must(t, l.Table(table).Insert(v)) }
	insert(meta.SnapshotTable, meta.Values{"snapshot_id": meta.Int(i), "snapshot_time": meta.Time(at(i)), "schema_version": meta.Int(0), "next_catalog_id": meta.Int(2), "next_file_id": meta.Int(i + 1)})
	insert("ducklake_snapshot_changes", meta.Values{"snapshot_id": meta.Int(i), "changes_made": meta.Str("inserted_into_table:1")})
	insert("ducklake_data_file", meta.Values{"data_file_id": meta.Int(i), "table_id": meta.Int(1), "begin_snapshot": meta.Int(i), "end_snapshot": meta.Int(i + 1), "path": meta.Str(fmt.Sprint("f", i)), "path_is_relative": meta.Truth(true), "file_size_bytes": meta.Int(10)})
	insert("ducklake_file_column_stats", meta.Values{"data_file_id": meta.Int(i), "table_id": meta.Int(1), "column_id": meta.Int(1)})
}

func at(i int64) time.Time { return time.Date(2026, 1, 1, 0, 0, int(i), 0, time.UTC) }

// fence is what a test holds.
type fence struct {
	pinned int64
	has    bool
	tags   []int64
}

func (f *fence) Pinned(context.Context) (int64, bool, error) { return f.pinned, f.has, nil }
func (f *fence) Tagged(context.Context) ([]int64, error)     { return f.tags, nil }
func (f *fence) Held(_ context.Context, l []gc.FileRef) ([]string, error) {
	return make([]string, len(l)), nil
}

// column lists the numbers of a column.
func column(t testing.TB, c *store.Catalog, table, name string) []int64 {
	t.Helper()
	out := []int64{}
	must(t, meta.Read(context.Background(), c, func(txn *store.Txn) error {
		l, err := meta.Open(txn, "public")
		must(t, err)
		return l.Table(table).Scan(context.Background(), func(r *meta.Row) error { out = append(out, r.Num(name)); return nil })
	}))
	slices.Sort(out)
	return out
}

func ids(first, last int64) []int64 {
	out := []int64{}
	for i := first; i <= last; i++ {
		out = append(out, i)
	}
	return out
}

func TestRun(t *testing.T) {
	t.Parallel()
	c := small(t, 9)
	res, err := expire.Run(context.Background(), c, "public", expire.Selection{Before: at(7).UnixMicro(), HasBefore: true}, expire.Options{
		Committer: metatest.Plain{}, Clock: func() time.Time { return at(100) },
		Fence: func(*store.Txn, string) gc.Fence { return &fence{pinned: 5, has: true, tags: []int64{2}} },
	})
	must(t, err)
	want := gc.Result{
		Counts: map[string]int64{"snapshots": 4, "pinned snapshots": 2, "tagged snapshots": 1, "data files": 4}, Bytes: 40, Deferred: 3,
		Notes: []string{"snapshots left for the next time, because open transactions can still read them or look at what changed since: 2", "snapshots protected by tags: 1"},
	}
	for _, i := range []int64{0, 1, 3, 4} {
		want.Items = append(want.Items, gc.Item{What: "snapshot", ID: i})
	}
	for _, i := range []int64{0, 1, 3, 4} {
		want.Items = append(want.Items, gc.Item{What: "data file", ID: i, Path: fmt.Sprint("f", i), Bytes: 10})
	}
	if d := cmp.Diff(want, res); d != "" {
		t.Error(d)
	}
	left := append([]int64{2}, ids(5, 9)...)
	for table, col := range map[string]string{
		meta.SnapshotTable: "snapshot_id", "ducklake_snapshot_changes": "snapshot_id", "ducklake_data_file": "data_file_id", "ducklake_file_column_stats": "data_file_id",
	} {
		if d := cmp.Diff(left, column(t, c, table, col)); d != "" {
			t.Errorf("%s: %s", table, d)
		}
	}
	must(t, meta.Read(context.Background(), c, func(txn *store.Txn) error {
		l, err := meta.Open(txn, "public")
		must(t, err)
		r, ok, err := l.Table("ducklake_files_scheduled_for_deletion").One(context.Background(), meta.Is("data_file_id", 3))
		micros, _ := r.Micros("schedule_start")
		if !ok || err != nil || r.Text("path") != "main/t/f3" || !r.Truth("path_is_relative") || micros != at(100).UnixMicro() {
			t.Errorf("scheduled: %v, %v, %q, %d", ok, err, r.Text("path"), micros)
		}
		return nil
	}))
}

// Snapshots that are pinned, tagged or made while a run is under way keep their rows.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	c := small(t, 9)
	f := &fence{}
	commits := 0
	o := expire.Options{
		Pace:  meta.PaceOptions{Rows: 4, BusyShare: 1},
		Fence: func(*store.Txn, string) gc.Fence { return f },
		Committer: metatest.Plain{Before: func(*store.Txn) {
			switch commits++; commits {
			case 2: // snapshots 0 to 3 are gone, or on their way
				f.pinned, f.has, f.tags = 6, true, []int64{5}
			case 4:
				// Files that began and ended after the plan was made, in snapshots of their own.
				must(t, meta.Do(context.Background(), c, metatest.Plain{}, func(txn *store.Txn) error {
					l, err := meta.Open(txn, "public")
					must(t, err)
					addSnapshot(t, l, 10)
					addSnapshot(t, l, 11)
					return nil
				}))
			}
		}},
	}
	res, err := expire.Run(context.Background(), c, "public", expire.Selection{Newest: 1, HasNewest: true}, o)
	must(t, err)
	left := ids(5, 11)
	if d := cmp.Diff(left, column(t, c, meta.SnapshotTable, "snapshot_id")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(left, column(t, c, "ducklake_data_file", "data_file_id")); d != "" {
		t.Error(d)
	}
	if res.Counts["snapshots"] != 5 || res.Deferred != 4 {
		t.Errorf("%+v", res)
	}
}

// A file that another row has as well is not scheduled before that row is gone.
func TestSharedFile(t *testing.T) {
	t.Parallel()
	c := small(t, 3)
	must(t, meta.Do(context.Background(), c, metatest.Plain{}, func(txn *store.Txn) error {
		l, err := meta.Open(txn, "public")
		must(t, err)
		return l.Table("ducklake_data_file").Insert(meta.Values{
			"data_file_id": meta.Int(4), "table_id": meta.Int(1), "begin_snapshot": meta.Int(3), "path": meta.Str("f0"), "path_is_relative": meta.Truth(true),
		})
	}))
	_, err := expire.Run(context.Background(), c, "public", expire.Selection{Newest: 1, HasNewest: true}, expire.Options{Committer: metatest.Plain{}})
	must(t, err)
	if d := cmp.Diff([]int64{1, 2}, column(t, c, "ducklake_files_scheduled_for_deletion", "data_file_id")); d != "" {
		t.Error(d)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	c := small(t, 9)
	ctx, cancel := context.WithCancelCause(context.Background())
	o := expire.Options{Committer: metatest.Plain{}, Pace: meta.PaceOptions{Rows: 2, BusyShare: 1}, Progress: func(gc.Result) { cancel(gc.ErrWindowClosed) }}
	res, err := expire.Run(ctx, c, "public", expire.Selection{Newest: 1, HasNewest: true}, o)
	if !errors.Is(err, gc.ErrWindowClosed) || res.Counts["snapshots"] != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	o.Progress = nil
	if _, err = expire.Run(context.Background(), c, "public", expire.Selection{Only: []sweep.Range{{First: 1, Last: 4}}}, o); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(ids(5, 9), column(t, c, "ducklake_data_file", "data_file_id")); d != "" {
		t.Error(d)
	}
	res, err = expire.Preview(context.Background(), c, "public", expire.Selection{Newest: 2, HasNewest: true}, o)
	if err != nil || !maps.Equal(res.Counts, map[string]int64{"snapshots": 3, "data files": 3}) {
		t.Errorf("%v, %+v", err, res)
	}
}

func TestByPolicies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  []gc.Setting
		left []int64
	}{
		{"nothing", nil, ids(0, 9)},
		{"count", []gc.Setting{{Name: gc.NameRetainCount, Value: "3"}}, ids(7, 9)},
		{"age", []gc.Setting{{Name: gc.NameRetainAge, Value: "5s"}}, ids(6, 9)},
		{"either keeps", []gc.Setting{{Name: gc.NameRetainAge, Value: "5s"}, {Name: gc.NameRetainCount, Value: "6"}}, ids(4, 9)},
		{"of the table", []gc.Setting{
			{Name: gc.NameRetainCount, Value: "3"},
			{Scope: gc.Scope{Lake: "public", Schema: "main", Table: "t"}, Name: gc.NameRetainCount, Value: "6"},
		}, ids(4, 9)},
		{"of another table", []gc.Setting{
			{Name: gc.NameRetainCount, Value: "3"},
			{Scope: gc.Scope{Lake: "public", Schema: "main", Table: "u"}, Name: gc.NameRetainCount, Value: "6"},
		}, ids(7, 9)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cat := small(t, 9)
			set := gc.NewSet(c.set)
			if p := set.Problems(); len(p) > 0 {
				t.Fatal(p[0].Err)
			}
			j := &expire.Job{Catalog: func(string) (*store.Catalog, error) { return cat, nil }, Options: expire.Options{Committer: metatest.Plain{}}}
			req := &gc.Request{Lake: "public", Policies: set.For("public"), Now: at(10)}
			plan, err := j.Plan(context.Background(), req)
			must(t, err)
			res, err := j.Run(context.Background(), req)
			must(t, err)
			if d := cmp.Diff(c.left, column(t, cat, meta.SnapshotTable, "snapshot_id")); d != "" {
				t.Error(d)
			}
			if plan.Counts["snapshots"] != 10-int64(len(c.left)) || !maps.Equal(plan.Counts, res.Counts) {
				t.Errorf("planned %v, done %v", plan.Counts, res.Counts)
			}
		})
	}
}

// The snapshots of a table that was replaced or dropped count by the retention of its last
// name, with those of its successor.
func TestByPoliciesOfEndedTables(t *testing.T) {
	t.Parallel()
	of := gc.Scope{Lake: "public", Schema: "main", Table: "t"}
	longer := []gc.Setting{{Name: gc.NameRetainAge, Value: "1s"}, {Scope: of, Name: gc.NameRetainAge, Value: "1h"}}
	for _, c := range []struct {
		name     string
		replaced bool
		set      []gc.Setting
		left     []int64
	}{
		{"replaced", true, longer, ids(0, 9)},
		{"dropped", false, longer, append(ids(0, 5), 9)},
		{"counted by name", true, []gc.Setting{{Name: gc.NameRetainCount, Value: "1"}, {Scope: of, Name: gc.NameRetainCount, Value: "3"}}, ids(7, 9)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cat := context.Background(), small(t, 9)
			must(t, meta.Do(ctx, cat, metatest.Plain{}, func(txn *store.Txn) error {
				l, err := meta.Open(txn, "public")
				must(t, err)
				tables := l.Table("ducklake_table")
				must(t, tables.Scan(ctx, func(x *meta.Row) error { return x.Update(meta.Values{"end_snapshot": meta.Int(5)}) }))
				drop, later := "dropped_table:1", "inserted_into_table:2" // 2: of no table, or the new one
				if c.replaced {
					drop += `,created_table:"main"."t",inserted_into_table:2`
					must(t, tables.Insert(meta.Values{"table_id": meta.Int(2), "schema_id": meta.Int(0), "begin_snapshot": meta.Int(5), "table_name": meta.Str("t")}))
				}
				return l.Table("ducklake_snapshot_changes").Scan(ctx, func(x *meta.Row) error {
					switch id := x.Num("snapshot_id"); {
					case id == 5:
						return x.Update(meta.Values{"changes_made": meta.Str(drop)})
					case id > 5:
						return x.Update(meta.Values{"changes_made": meta.Str(later)})
					}
					return nil
				})
			}))
			_, err := expire.Run(ctx, cat, "public", expire.ByPolicies(gc.NewSet(c.set).For("public"), at(10)), expire.Options{Committer: metatest.Plain{}})
			must(t, err)
			if d := cmp.Diff(c.left, column(t, cat, meta.SnapshotTable, "snapshot_id")); d != "" {
				t.Error(d)
			}
		})
	}
}
