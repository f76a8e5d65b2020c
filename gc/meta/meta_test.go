package meta_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/lake"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func catalog(t testing.TB) *store.Catalog {
	t.Helper()
	c, err := storetest.Open(t).Catalog("lake")
	must(t, err)
	return c
}

// do runs fn in a transaction that is committed.
func do(t testing.TB, c *store.Catalog, fn func(txn *store.Txn) error) {
	t.Helper()
	must(t, meta.Do(context.Background(), c, metatest.Plain{}, fn))
}

func TestLakes(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	do(t, c, func(txn *store.Txn) error {
		for _, name := range []string{"b", "a", "other", "odd"} {
			s, err := txn.CreateSchema(name)
			must(t, err)
			switch name {
			case "odd": // a table of the name without the columns
				must(t, metatest.CreateTable(txn, s.OID, meta.SnapshotTable, "snapshot_id text"))
			case "a", "b":
				must(t, metatest.CreateTable(txn, s.OID, meta.SnapshotTable, metatest.SnapshotColumns()...))
			}
		}
		return nil
	})
	do(t, c, func(txn *store.Txn) error {
		var names []string
		for _, l := range meta.Lakes(txn) {
			names = append(names, l.Name())
		}
		if d := cmp.Diff([]string{"a", "b"}, names); d != "" {
			t.Error(d)
		}
		for name, want := range map[string]error{"a": nil, "odd": meta.ErrNoLake, "other": meta.ErrNoLake, "none": meta.ErrNoLake} {
			if _, err := meta.Open(txn, name); !errors.Is(err, want) {
				t.Errorf("open %s: %v", name, err)
			}
		}
		return nil
	})
}

// row is what a test knows of a row of the table of TestScan.
type fileRow struct{ file, table, begin, end int64 } // end 0: NULL

// A scan finds the rows that its conditions are true of, whichever index it takes, and one
// that goes on where another stopped, after each row a transaction of its own which removes
// the row, finds each once.
func TestScan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := catalog(t)
		small := rapid.Int64Range(1, 4)
		all := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) fileRow {
			return fileRow{small.Draw(rt, "file"), small.Draw(rt, "table"), small.Draw(rt, "begin"), max(0, small.Draw(rt, "end")-2)}
		}), 0, 12).Draw(rt, "rows")
		do(t, c, func(txn *store.Txn) error {
			must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
			must(t, metatest.CreateTable(txn, store.PublicOID, "ducklake_delete_file", "table_id", "data_file_id", "begin_snapshot", "end_snapshot", "path varchar"))
			l, err := meta.Open(txn, "public")
			must(t, err)
			for _, r := range all {
				v := meta.Values{"table_id": meta.Int(r.table), "data_file_id": meta.Int(r.file), "begin_snapshot": meta.Int(r.begin), "path": meta.Str(fmt.Sprint("f", r.file))}
				if r.end > 0 {
					v["end_snapshot"] = meta.Int(r.end)
				}
				must(t, l.Table("ducklake_delete_file").Insert(v))
			}
			return nil
		})
		n := small.Draw(rt, "n")
		choices := map[string]struct {
			cond  meta.Cond
			holds func(fileRow) bool
		}{
			"table":    {meta.Is("table_id", n), func(r fileRow) bool { return r.table == n }},
			"file":     {meta.Is("data_file_id", n), func(r fileRow) bool { return r.file == n }},
			"path":     {meta.Equal("path", meta.Str(fmt.Sprint("f", n))), func(r fileRow) bool { return r.file == n }},
			"live":     {meta.Null("end_snapshot"), func(r fileRow) bool { return r.end == 0 }},
			"ended":    {meta.NotNull("end_snapshot"), func(r fileRow) bool { return r.end != 0 }},
			"from":     {meta.From("table_id", n), func(r fileRow) bool { return r.table >= n }},
			"upto":     {meta.Upto("data_file_id", n), func(r fileRow) bool { return r.file <= n }},
			"begin":    {meta.From("begin_snapshot", n), func(r fileRow) bool { return r.begin >= n }},
			"end":      {meta.Upto("end_snapshot", n), func(r fileRow) bool { return r.end != 0 && r.end <= n }},
			"missing":  {meta.Null("nothing"), func(fileRow) bool { return true }},
			"missing2": {meta.Is("nothing", n), func(fileRow) bool { return false }},
			"reverse":  {meta.Reverse(), func(fileRow) bool { return true }},
		}
		names := make([]string, 0, len(choices))
		for name := range choices {
			names = append(names, name)
		}
		slices.Sort(names)
		var conds []meta.Cond
		want := slices.Clone(all)
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, "conditions") {
			conds = append(conds, choices[name].cond)
			want = slices.DeleteFunc(want, func(r fileRow) bool { return !choices[name].holds(r) })
		}
		read := func(r *meta.Row) fileRow {
			s := r.Span()
			return fileRow{r.Num("data_file_id"), r.Num("table_id"), s.Begin, s.End}
		}
		var got []fileRow
		scan := func(conds []meta.Cond, fn func(r *meta.Row) error) {
			do(t, c, func(txn *store.Txn) error {
				l, err := meta.Open(txn, "public")
				must(t, err)
				must(t, l.Table("ducklake_delete_file").Scan(context.Background(), fn, conds...))
				return nil
			})
		}
		scan(conds, func(r *meta.Row) error { got = append(got, read(r)); return nil })
		same := func(what string) {
			sorted := func(rows []fileRow) []string {
				out := make([]string, len(rows))
				for i, r := range rows {
					out[i] = fmt.Sprint(r)
				}
				slices.Sort(out)
				return out
			}
			if d := cmp.Diff(sorted(want), sorted(got)); d != "" {
				rt.Fatalf("%s: %s", what, d)
			}
		}
		same("all at once")
		got = nil
		var at []byte
		for more := true; more; {
			more = false
			scan(append(conds, meta.After(at)), func(r *meta.Row) error {
				got, at, more = append(got, read(r)), r.Position(), true
				must(t, r.Delete())
				return meta.ErrStop
			})
		}
		same("row by row")
	})
}

func TestWrites(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	do(t, c, func(txn *store.Txn) error {
		must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
		l, err := meta.Open(txn, "public")
		must(t, err)
		s := l.Table(meta.SnapshotTable)
		at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
		must(t, s.Insert(meta.Values{"snapshot_id": meta.Int(7), "snapshot_time": meta.Time(at), "schema_version": meta.Int(1)}))
		r, ok, err := s.One(context.Background(), meta.Is("snapshot_id", 7))
		if must(t, err); !ok {
			t.Fatal("no row")
		}
		must(t, r.Update(meta.Values{"schema_version": meta.Int(-2), "next_file_id": nil}))
		if r, _, err = s.One(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n, ok := r.Micros("snapshot_time"); !ok || n != at.UnixMicro() {
			t.Errorf("time %d, want %d", n, at.UnixMicro())
		}
		if n, ok := r.Int("schema_version"); !ok || n != -2 {
			t.Errorf("schema version %d", n)
		}
		if _, ok := r.Int("next_file_id"); ok {
			t.Error("NULL reads as a number")
		}
		if err := s.Insert(meta.Values{"snapshot": nil}); !errors.Is(err, meta.ErrNoColumn) {
			t.Errorf("unknown column: %v", err)
		}
		if err := l.Table("ducklake_tag").Insert(nil); !errors.Is(err, meta.ErrNoTable) {
			t.Errorf("unknown table: %v", err)
		}
		must(t, r.Delete())
		if _, ok, _ := s.One(context.Background()); ok {
			t.Error("the row is still there")
		}
		return nil
	})
}

// A lake.Model is read from the store.
func TestSource(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	do(t, c, func(txn *store.Txn) error {
		must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
		must(t, metatest.CreateTable(txn, store.PublicOID, "ducklake_data_file", "data_file_id", "table_id", "begin_snapshot", "path varchar", "path_is_relative boolean"))
		l, err := meta.Open(txn, "public")
		must(t, err)
		at := time.Date(2026, 1, 2, 3, 4, 5, 120_000_000, time.UTC)
		must(t, l.Table(meta.SnapshotTable).Insert(meta.Values{"snapshot_id": meta.Int(3), "snapshot_time": meta.Time(at), "schema_version": meta.Int(1), "next_catalog_id": meta.Int(2), "next_file_id": meta.Int(9)}))
		must(t, l.Table("ducklake_data_file").Insert(meta.Values{"data_file_id": meta.Int(8), "table_id": meta.Int(1), "begin_snapshot": meta.Int(3), "path": meta.Str("f"), "path_is_relative": meta.Truth(true)}))
		m, err := lake.Load(context.Background(), l.Source())
		must(t, err)
		want := &lake.Model{
			Snapshots: []lake.Snapshot{{ID: 3, Time: "2026-01-02 03:04:05.12+00", SchemaVersion: 1, NextCatalogID: 2, NextFileID: 9}},
			DataFiles: []lake.DataFile{{ID: 8, TableID: 1, Span: lake.Span{Begin: 3}, Path: "f", Relative: true}},
			Relations: map[string]bool{meta.SnapshotTable: true, "ducklake_data_file": true},
		}
		if d := cmp.Diff(want, m); d != "" {
			t.Error(d)
		}
		return nil
	})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	do(t, c, func(txn *store.Txn) error {
		must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
		must(t, metatest.CreateTable(txn, store.PublicOID, "v", "i int", "t timestamptz", "l timestamp", "b boolean", "u uuid", "d double", "s text", "j json"))
		l, err := meta.Open(txn, "public")
		must(t, err)
		v := l.Table("v")
		must(t, v.Insert(meta.Values{
			"i": {0xFF, 0xFF, 0xFF, 0xFE}, "t": meta.Int(math.MaxInt64), "l": meta.Int(-1), "b": meta.Truth(false),
			"u": []byte("0123456789abcdef"), "d": {0x3F, 0xF8, 0, 0, 0, 0, 0, 0}, "s": {},
		}))
		var got []string
		read := func(cols ...string) error {
			return l.Source().Rows(context.Background(), "v", cols, func(v []*string) error {
				for _, s := range v {
					if s == nil {
						got = append(got, "NULL")
					} else {
						got = append(got, *s)
					}
				}
				return nil
			})
		}
		must(t, read("i", "t", "l", "b", "u", "d", "s", "j"))
		want := []string{"-2", "infinity", "1999-12-31 23:59:59.999999", "f", "30313233-3435-3637-3839-616263646566", "1.5", "", "NULL"}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		must(t, v.Insert(meta.Values{"j": meta.Str("{}")}))
		if err := read("j"); !errors.Is(err, meta.ErrType) {
			t.Errorf("a type without text: %v", err)
		}
		return nil
	})
}

func TestOwnTable(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	defs := []meta.ColumnDef{{Name: "lake", Type: meta.Text, NotNull: true}, {Name: "snapshot_id", Type: meta.Int8}}
	do(t, c, func(txn *store.Txn) error {
		if _, ok, err := meta.Own(txn, "tags", defs...); ok || err != nil {
			t.Errorf("before it is made: %v, %v", ok, err)
		}
		own, err := meta.OwnTable(txn, "tags", defs...)
		must(t, err)
		must(t, own.Insert(meta.Values{"lake": meta.Str("l"), "snapshot_id": meta.Int(1)}))
		s, ok := txn.SchemaByName(meta.OwnSchema)
		if !ok {
			t.Fatal("no schema")
		}
		must(t, metatest.CreateTable(txn, s.OID, "short", "lake text"))
		must(t, metatest.CreateTable(txn, s.OID, "typed", "lake text", "snapshot_id text"))
		must(t, metatest.CreateTable(txn, s.OID, "wide", "more", "lake varchar", "snapshot_id"))
		return nil
	})
	do(t, c, func(txn *store.Txn) error {
		own, err := meta.OwnTable(txn, "tags", defs...)
		must(t, err)
		if r, ok, err := own.One(context.Background(), meta.Is("snapshot_id", 1)); err != nil || !ok || r.Text("lake") != "l" {
			t.Errorf("the row is not there: %v", err)
		}
		s, _ := txn.SchemaByName(meta.OwnSchema)
		_, err = txn.CreateTable(&rel.Table{Schema: s.OID, Name: "read", Kind: rel.KindTable, Columns: []rel.Column{
			{Num: 1, Name: "lake", Type: meta.Varchar, Mod: 20}, {Num: 2, Name: "snapshot_id", Type: meta.Int4, Mod: -1, NotNull: true},
		}})
		must(t, err)
		for name, want := range map[string]struct{ read, write error }{
			"short": {meta.ErrShape, meta.ErrShape}, "typed": {meta.ErrShape, meta.ErrShape}, "wide": {}, "read": {nil, meta.ErrShape},
		} {
			if _, _, err := meta.Own(txn, name, defs...); !errors.Is(err, want.read) {
				t.Errorf("reading %s: %v", name, err)
			}
			if _, err := meta.OwnTable(txn, name, defs...); !errors.Is(err, want.write) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
}

// loser loses some races before it commits.
type loser struct {
	losses int
	err    error
	asked  int
}

func (l *loser) Commit(ctx context.Context, txn *store.Txn) error {
	if l.asked++; l.asked <= l.losses {
		_ = txn.Rollback()
		return l.err
	}
	return txn.Commit(ctx)
}

func TestDo(t *testing.T) {
	t.Parallel()
	other := errors.New("refused")
	for _, c := range []struct {
		name   string
		losses int
		err    error
		runs   int
		want   error
	}{
		{"at once", 0, nil, 1, nil},
		{"one lost race", 1, &store.SerializationError{}, 2, nil},
		{"a race lost at the committer's word", 2, fmt.Errorf("refused: %w", meta.ErrLost), 3, nil},
		{"lost for ever", 1000, &store.UniqueViolation{}, 10, store.ErrUnique},
		{"refused", 1, other, 1, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			err := meta.Do(context.Background(), catalog(t), &loser{losses: c.losses, err: c.err}, func(txn *store.Txn) error {
				runs++
				_, err := txn.CreateSchema("s")
				return err
			})
			if !errors.Is(err, c.want) || runs != c.runs {
				t.Errorf("%d runs, %v", runs, err)
			}
		})
	}
	t.Run("an error leaves no trace", func(t *testing.T) {
		t.Parallel()
		cat := catalog(t)
		err := meta.Do(context.Background(), cat, metatest.Plain{}, func(txn *store.Txn) error {
			if _, err := txn.CreateSchema("s"); err != nil {
				return err
			}
			return other
		})
		if !errors.Is(err, other) {
			t.Error(err)
		}
		must(t, meta.Read(context.Background(), cat, func(txn *store.Txn) error {
			if _, ok := txn.SchemaByName("s"); ok {
				t.Error("the schema is there")
			}
			return nil
		}))
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := meta.Do(ctx, catalog(t), metatest.Plain{}, func(*store.Txn) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
