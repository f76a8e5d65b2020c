package clean_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

// row is one of ducklake_data_file.
func (l *lakeIn) row(id, table int64, path string, relative bool) meta.Values {
	return meta.Values{"data_file_id": meta.Int(id), "table_id": meta.Int(table), "path": meta.Str(path), "path_is_relative": meta.Truth(relative)}
}

// fill adds so many rows of other files.
func (l *lakeIn) fill(n int) {
	l.w.do(func(txn *store.Txn) {
		m, err := meta.Open(txn, l.name)
		must(l.w.t, err)
		for range n {
			l.next++
			must(l.w.t, m.Table("ducklake_data_file").Insert(l.row(l.next, 1, fmt.Sprint("old-", l.next, ".parquet"), true)))
		}
	})
}

func rename(w *world, schema, from, to string) {
	w.do(func(txn *store.Txn) {
		s, _ := txn.SchemaByName(schema)
		tbl, ok := txn.TableByName(s.OID, from)
		if !ok {
			w.t.Fatalf("no table %s", from)
		}
		tbl = tbl.Clone()
		tbl.Name = to
		_, err := txn.PutTable(tbl)
		must(w.t, err)
	})
}

// What a look reads is what was committed since the last one, however many rows the tables have. Only what makes other names of old rows
// has all of them read again.
func TestWatchReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newWorld(t)
	l, other := w.lake("l", "/lake"), w.lake("other", "/lake/main")
	l.fill(5000)
	other.fill(3000)
	w.do(func(txn *store.Txn) {
		s, _ := txn.SchemaByName("l")
		must(t, metatest.CreateTable(txn, s.OID, "kept", "path varchar", "path_is_relative boolean"))
	})
	rename(w, "l", "kept", "ducklake_kept")
	l.insert("ducklake_kept", meta.Values{"path": meta.Str("/lake/e"), "path_is_relative": meta.Truth(false)})
	rename(w, "l", "ducklake_kept", "kept")
	watch, err := clean.WatchFiles(ctx, w.st, "/lake/e", "/lake/main/t/a", "/lake/main/t/b", "/lake/main/u/c", "/lake/main/t/d")
	must(t, err)
	defer watch.Close()
	for _, c := range []struct {
		what string
		do   func()
		read int64
		name []string
	}{
		{"nothing", func() {}, 0, nil},
		{"another file", func() { l.insert("ducklake_data_file", l.row(9001, 1, "x", true)) }, 1, nil},
		{"a file", func() { l.insert("ducklake_data_file", l.row(9002, 1, "a", true)) }, 1, []string{"/lake/main/t/a"}},
		{"nothing again", func() {}, 0, []string{"/lake/main/t/a"}},
		{"in another lake by a detour", func() {
			other.insert("ducklake_data_file", other.row(9003, 1, "/lake//main/./t/b", false))
			l.fill(20)
		}, 21, []string{"/lake/main/t/a", "/lake/main/t/b"}},
		{"a new table", func() {
			l.insert("ducklake_table", meta.Values{"table_id": meta.Int(2), "schema_id": meta.Int(0), "path": meta.Str("u/"), "path_is_relative": meta.Truth(true)})
			l.insert("ducklake_data_file", l.row(9004, 2, "c", true))
		}, 1, []string{"/lake/main/t/a", "/lake/main/t/b", "/lake/main/u/c"}},
		{"a row that is changed", func() {
			w.do(func(txn *store.Txn) {
				m, err := meta.Open(txn, "l")
				must(t, err)
				must(t, m.Table("ducklake_data_file").Scan(ctx, func(r *meta.Row) error {
					return r.Update(meta.Values{"path": meta.Str("d")})
				}, meta.Is("data_file_id", 77)))
			})
		}, 1, []string{"/lake/main/t/a", "/lake/main/t/b", "/lake/main/u/c", "/lake/main/t/d"}},
		{"a table with another folder", func() {
			l.insert("ducklake_table", meta.Values{"table_id": meta.Int(1), "schema_id": meta.Int(0), "path": meta.Str("v/"), "path_is_relative": meta.Truth(true)})
		}, 5023, nil},
		{"a table that gets a lake's name", func() { rename(w, "l", "kept", "ducklake_kept") }, 1, []string{"/lake/main/t/a", "/lake/main/t/b", "/lake/main/u/c", "/lake/main/t/d", "/lake/e"}},
		{"a new lake", func() { w.lake("late", "/late").fill(5) }, 5, nil},
		{"and one row more in it", func() {
			(&lakeIn{w: w, name: "late", next: 100}).fill(1)
		}, 1, nil},
	} {
		c.do()
		named, read, err := watch.Look(ctx)
		must(t, err)
		if read != c.read {
			t.Errorf("%s: %d rows are read, want %d", c.what, read, c.read)
		}
		if c.name != nil {
			slices.Sort(c.name)
			slices.Sort(named)
			equal(t, c.what, named, c.name)
		}
	}
}

// Whatever is committed between looks, a look misses no file that rows have come to name.
func TestWatchMissesNothing(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t)
	files := []string{"/d/main/t/a", "/d/main/t/b", "/d/main/u/a", "/d/x/t/a", "/d/x/u/b", "/e/main/t/a"}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		n++
		w := worldOf(rt, st)
		w.cat = fmt.Sprint("c", n)
		must(rt, st.CreateCatalog(ctx, w.cat))
		lakes := []*lakeIn{w.lake("l", "/d"), w.lake("m", "/e")}
		before, err := clean.NamedNow(ctx, st, files...)
		must(rt, err)
		watch, err := clean.WatchFiles(ctx, st, files...)
		must(rt, err)
		defer watch.Close()
		path := rapid.SampledFrom([]string{"a", "b", "./a", "../u/a", "/d/main/t/a", "/d//x/u/b", "c", "/e/main/t/./a"})
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			l := rapid.SampledFrom(lakes).Draw(rt, "lake")
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0, 1:
				p := path.Draw(rt, "path")
				l.next++
				l.insert("ducklake_data_file", l.row(l.next, int64(rapid.IntRange(1, 2).Draw(rt, "table")), p, p[0] != '/'))
			case 2:
				l.insert("ducklake_table", meta.Values{
					"table_id": meta.Int(int64(rapid.IntRange(1, 2).Draw(rt, "table"))), "schema_id": meta.Int(int64(rapid.IntRange(0, 1).Draw(rt, "schema"))),
					"path": meta.Str(rapid.SampledFrom([]string{"t/", "u/"}).Draw(rt, "folder")), "path_is_relative": meta.Truth(true),
				})
			case 3:
				l.insert("ducklake_schema", meta.Values{"schema_id": meta.Int(1), "path": meta.Str("x/"), "path_is_relative": meta.Truth(true)})
			case 4: // a row that is there names another file
				p := path.Draw(rt, "path")
				w.do(func(txn *store.Txn) {
					m, err := meta.Open(txn, l.name)
					must(rt, err)
					must(rt, m.Table("ducklake_data_file").Scan(ctx, func(r *meta.Row) error {
						if err := r.Update(meta.Values{"path": meta.Str(p), "path_is_relative": meta.Truth(p[0] != '/')}); err != nil {
							return err
						}
						return meta.ErrStop
					}))
				})
			case 5: // a table that nobody knew to name files gets a name that says so
				name := fmt.Sprint("ducklake_more_", rapid.IntRange(0, 3).Draw(rt, "more"))
				w.do(func(txn *store.Txn) {
					m, err := meta.Open(txn, l.name)
					must(rt, err)
					if !m.Table(name).Exists() {
						must(rt, metatest.CreateTable(txn, m.Schema(), name, "path varchar", "path_is_relative boolean"))
					}
				})
				l.insert(name, meta.Values{"path": meta.Str("/d/main/u/a"), "path_is_relative": meta.Truth(false)})
			default:
				look(rt, ctx, st, watch, before, files)
			}
		}
		look(rt, ctx, st, watch, before, files)
		must(rt, st.DropCatalog(ctx, w.cat))
	})
}

// look compares what a watch finds with all that is there now.
func look(t tb, ctx context.Context, st *store.Store, watch *clean.Watched, before, files []string) {
	t.Helper()
	named, _, err := watch.Look(ctx)
	must(t, err)
	now, err := clean.NamedNow(ctx, st, files...)
	must(t, err)
	for _, f := range now {
		if !slices.Contains(before, f) && !slices.Contains(named, f) {
			t.Fatalf("%s is named, and the watch has not found it", f)
		}
	}
}
