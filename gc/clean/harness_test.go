package clean_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

// now is the time of every test.
var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// tb is what tests and properties have in common.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// free is a fence that holds nothing: what the package looks at itself must do.
type free struct{}

func (free) Pinned(context.Context) (int64, bool, error) { return 0, false, nil }
func (free) Tagged(context.Context) ([]int64, error)     { return nil, nil }
func (free) Held(_ context.Context, files []gc.FileRef) ([]string, error) {
	return make([]string, len(files)), nil
}

func (f free) Early(ctx context.Context, files []gc.FileRef) ([]string, error) {
	return f.Held(ctx, files)
}

// world is a server with one catalog.
type world struct {
	t   tb
	st  *store.Store
	o   clean.Options
	cat string // the catalog of its lakes
}

func newWorld(t testing.TB) *world { return worldOf(t, storetest.Open(t)) }

func worldOf(t tb, st *store.Store) *world {
	w := &world{t: t, st: st, cat: "lake"}
	w.o = clean.Options{
		Store: st, Commit: metatest.Plain{},
		Fence: func(*store.Txn, string) (clean.Fence, error) { return free{}, nil },
	}
	return w
}

// allow lets the server delete in folders.
func (w *world) allow(folders ...string) {
	w.t.Helper()
	a, err := clean.NewAccess(clean.AccessOptions{Folders: folders, Spare: w.o.Spare})
	must(w.t, err)
	w.o.Access = a
}

func (w *world) do(fn func(txn *store.Txn)) {
	w.t.Helper()
	c, err := w.st.Catalog(w.cat)
	must(w.t, err)
	must(w.t, meta.Do(context.Background(), c, metatest.Plain{}, func(txn *store.Txn) error { fn(txn); return nil }))
}

// lakeIn is a lake that tests fill.
type lakeIn struct {
	w        *world
	name     string
	dataPath string
	next     int64
}

// lake makes a lake with a data path, a schema 0 (main/) and a table 1 (t/).
func (w *world) lake(name, dataPath string) *lakeIn {
	w.t.Helper()
	l := &lakeIn{w: w, name: name, dataPath: dataPath, next: 1}
	w.do(func(txn *store.Txn) {
		s, ok := txn.SchemaByName(name)
		if !ok {
			var err error
			s, err = txn.CreateSchema(name)
			must(w.t, err)
		}
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_snapshot", metatest.SnapshotColumns()...))
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_metadata", "key varchar", "value varchar", "scope varchar", "scope_id"))
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_schema", "schema_id", "begin_snapshot", "end_snapshot", "path varchar", "path_is_relative boolean"))
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_table", "table_id", "schema_id", "begin_snapshot", "end_snapshot", "path varchar", "path_is_relative boolean"))
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_data_file", "data_file_id", "table_id", "begin_snapshot", "end_snapshot", "path varchar", "path_is_relative boolean"))
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_delete_file", "delete_file_id", "table_id", "data_file_id", "begin_snapshot", "end_snapshot", "path varchar", "path_is_relative boolean"))
		must(w.t, metatest.CreateTable(txn, s.OID, "ducklake_files_scheduled_for_deletion", "data_file_id", "path varchar", "path_is_relative boolean", "schedule_start timestamptz"))
	})
	l.insert("ducklake_metadata", meta.Values{"key": meta.Str("data_path"), "value": meta.Str(dataPath)})
	l.insert("ducklake_schema", meta.Values{"schema_id": meta.Int(0), "path": meta.Str("main/"), "path_is_relative": meta.Truth(true)})
	l.insert("ducklake_table", meta.Values{"table_id": meta.Int(1), "schema_id": meta.Int(0), "path": meta.Str("t/"), "path_is_relative": meta.Truth(true)})
	return l
}

// onDisk is a lake "l" in a folder of the test's, in a world that may delete there.
func onDisk(t testing.TB) (dir string, w *world, l *lakeIn) {
	t.Helper()
	dir, w = t.TempDir(), newWorld(t)
	w.allow(dir)
	return dir, w, w.lake("l", dir)
}

func (l *lakeIn) insert(table string, v meta.Values) {
	l.w.t.Helper()
	l.w.do(func(txn *store.Txn) {
		m, err := meta.Open(txn, l.name)
		if err != nil { // the first row of a new lake
			l.w.t.Fatal(err)
		}
		must(l.w.t, m.Table(table).Insert(v))
	})
}

// remove takes rows of a path out of a table.
func (l *lakeIn) remove(table, path string) {
	l.w.t.Helper()
	l.w.do(func(txn *store.Txn) {
		m, err := meta.Open(txn, l.name)
		must(l.w.t, err)
		must(l.w.t, m.Table(table).Scan(context.Background(), func(r *meta.Row) error { return r.Delete() }, meta.Equal("path", meta.Str(path))))
	})
}

// data adds a data file of table 1; ended ones are kept for an older snapshot.
func (l *lakeIn) data(path string, relative, ended bool) {
	l.w.t.Helper()
	v := meta.Values{
		"data_file_id": meta.Int(l.next), "table_id": meta.Int(1), "begin_snapshot": meta.Int(1),
		"path": meta.Str(path), "path_is_relative": meta.Truth(relative),
	}
	if ended {
		v["end_snapshot"] = meta.Int(2)
	}
	l.next++
	l.insert("ducklake_data_file", v)
}

// schedule adds a row to the deletion schedule.
func (l *lakeIn) schedule(path string, relative bool, start time.Time) {
	l.w.t.Helper()
	l.insert("ducklake_files_scheduled_for_deletion", meta.Values{
		"data_file_id": meta.Int(l.next), "path": meta.Str(path), "path_is_relative": meta.Truth(relative), "schedule_start": meta.Time(start),
	})
	l.next++
}

// scheduled lists the paths in the schedule.
func (l *lakeIn) scheduled() []string {
	l.w.t.Helper()
	var out []string
	l.w.do(func(txn *store.Txn) {
		m, err := meta.Open(txn, l.name)
		must(l.w.t, err)
		must(l.w.t, m.Table("ducklake_files_scheduled_for_deletion").Scan(context.Background(), func(r *meta.Row) error {
			out = append(out, r.Text("path"))
			return nil
		}))
	})
	slices.Sort(out)
	return out
}

// request asks for a job on the lake, with policies.
func (l *lakeIn) request(policies ...string) *gc.Request {
	l.w.t.Helper()
	over := map[string]string{}
	for i := 0; i < len(policies); i += 2 {
		over[policies[i]] = policies[i+1]
	}
	p, err := gc.NewSet(nil).For(l.name).With(over)
	must(l.w.t, err)
	return &gc.Request{Catalog: "lake", Lake: l.name, Policies: p, Now: now, AskedBy: gc.Scheduler, Job: 7}
}

// ran is what a job did.
type ran struct {
	gc.Result
	manifest []clean.Line // in the order of paths
}

func (r *ran) paths() []string {
	var out []string
	for _, l := range r.manifest {
		out = append(out, l.Path)
	}
	return out
}

// run runs a job, or plans it.
func (l *lakeIn) run(kind gc.Kind, dry bool, req *gc.Request) *ran {
	l.w.t.Helper()
	var buf bytes.Buffer
	c := clean.New(l.w.o)
	job := c.Cleanup(clean.JSONLines(&buf))
	if kind == gc.Orphans {
		job = c.Orphans(clean.JSONLines(&buf))
	}
	do := job.Run
	if dry {
		do = job.Plan
	}
	res, err := do(context.Background(), req)
	if err != nil {
		l.w.t.Fatalf("%s: %v", kind, err)
	}
	out := &ran{Result: res}
	for d := json.NewDecoder(&buf); d.More(); {
		var line clean.Line
		must(l.w.t, d.Decode(&line))
		out.manifest = append(out.manifest, line)
	}
	slices.SortFunc(out.manifest, func(a, b clean.Line) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// write makes a file of an age.
func write(t tb, name string, age time.Duration) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(name), 0o600))
	at := now.Add(-age)
	must(t, os.Chtimes(name, at, at))
}

// tree lists the regular files below a folder.
func tree(t tb, root string) []string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, rerr := filepath.Rel(root, name)
			must(t, rerr)
			out = append(out, rel)
		}
		return err
	}))
	return out
}

func equal(t tb, what string, got, want []string) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
