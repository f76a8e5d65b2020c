package clean_test

import (
	"context"
	"errors"
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
)

const (
	day  = 24 * time.Hour
	old  = 30 * day
	uuid = "ducklake-01234567-89ab-7def-8123-456789abcdef"
)

// Of the schedule goes what is due and named nowhere; its rows go with it.
func TestCleanup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t)
	w.allow(dir)
	l := w.lake("public2", dir+"/")
	other := w.lake("other", dir+"/../elsewhere/")
	for _, f := range []string{"due", "dup", "dup2", "later", "live", "kept", "respelt", "foreign", "p=a%20b", "folder/inside", "named"} {
		write(t, filepath.Join(dir, "main/t", f), old)
	}
	l.schedule("main/t/due", true, now.Add(-2*time.Hour))
	l.schedule("main/t/dup", true, now.Add(-2*time.Hour))
	l.schedule("main/t/dup", true, now.Add(-3*time.Hour))
	l.schedule("main/t/dup2", true, now.Add(-2*time.Hour))
	l.schedule(dir+"/main//t/dup2", false, now) // not due: the grace is an hour
	l.schedule("main/t/later", true, now.Add(-59*time.Minute))
	l.schedule("main/t/live", true, now.Add(-2*time.Hour))
	l.data("live", true, false)
	l.schedule("main/t/kept", true, now.Add(-2*time.Hour))
	l.data("kept", true, true)
	l.schedule("main/t/respelt", true, now.Add(-2*time.Hour))
	l.data("file://"+dir+"/main//t/./resp%65lt", false, false)
	l.schedule("main/t/foreign", true, now.Add(-2*time.Hour))
	other.data(dir+"/main/t/foreign", false, true)
	l.schedule("main/t/p=a%20b", true, now.Add(-2*time.Hour))
	l.schedule("main/t/folder", true, now.Add(-2*time.Hour))
	l.schedule("main/t/missing", true, now.Add(-2*time.Hour))
	l.schedule("main/t/../t/named", true, now.Add(-2*time.Hour))

	req := l.request(gc.NameDeletionGrace, "1h")
	plan := l.run(gc.Cleanup, true, req)
	before := tree(t, dir)
	if len(before) != 11 || len(l.scheduled()) != 14 {
		t.Fatal("a dry run has changed something")
	}
	res := l.run(gc.Cleanup, false, req)
	if !slices.Equal(plan.manifest, res.manifest) {
		t.Errorf("the dry run says %v, the real one %v", plan.manifest, res.manifest)
	}
	equal(t, "left", tree(t, dir), []string{
		"main/t/dup2", "main/t/later", "main/t/live", "main/t/kept", "main/t/respelt", "main/t/foreign", "main/t/folder/inside", "main/t/named",
	})
	equal(t, "scheduled", l.scheduled(), []string{
		"main/t/dup2", dir + "/main//t/dup2", "main/t/later", "main/t/live", "main/t/kept", "main/t/respelt", "main/t/foreign", "main/t/folder", "main/t/../t/named",
	})
	equal(t, "manifest", res.paths(), []string{dir + "/main/t/due", dir + "/main/t/dup", dir + "/main/t/p=a%20b", dir + "/main/t/missing"})
	if c := res.Counts; c["files"] != 3 || c["files that were gone"] != 1 || c["files that could not be deleted"] != 1 || res.Bytes == 0 || res.Bytes != plan.Bytes {
		t.Errorf("%v, %d bytes; plan %d", c, res.Bytes, plan.Bytes)
	}
	// A second run finds nothing.
	if res = l.run(gc.Cleanup, false, req); len(res.manifest) != 0 {
		t.Errorf("again: %v", res.manifest)
	}
}

// A file that an open transaction still sees stays, although the newest state has forgotten it.
func TestCleanupOpenView(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	write(t, dir+"/main/t/a", old)
	l.data("a", true, false)
	c, err := w.st.Catalog("lake")
	must(t, err)
	reader := c.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	must(t, reader.EnsureSnapshot())
	l.remove("ducklake_data_file", "a")
	l.schedule("main/t/a", true, now.Add(-time.Hour))
	res := l.run(gc.Cleanup, false, l.request())
	if res.Deferred != 1 || len(res.manifest) != 0 || len(tree(t, dir)) != 1 {
		t.Fatalf("%+v", res)
	}
	must(t, reader.Rollback())
	if res = l.run(gc.Cleanup, false, l.request()); len(res.manifest) != 1 || len(tree(t, dir)) != 0 {
		t.Fatalf("%+v", res)
	}
}

// held is a fence that holds what it is told.
type held struct {
	free
	path string
}

func (h held) Held(_ context.Context, files []gc.FileRef) ([]string, error) {
	out := make([]string, len(files))
	for i, f := range files {
		if f.Path == h.path {
			out[i] = "it is held"
		}
	}
	return out, nil
}

func (h held) Early(ctx context.Context, files []gc.FileRef) ([]string, error) {
	return h.Held(ctx, files)
}

func TestFence(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	w.o.Fence = func(*store.Txn, string) (clean.Fence, error) { return held{path: "main/t/a.parquet"}, nil }
	write(t, dir+"/main/t/a.parquet", old)
	for _, dry := range []bool{true, false} {
		if res := l.run(gc.Orphans, dry, l.request()); res.Deferred != 1 || len(res.manifest) != 0 {
			t.Fatalf("orphans: %+v", res)
		}
	}
	if res := l.run(gc.Cleanup, false, l.request()); res.Deferred != 1 || len(res.manifest) != 0 || len(tree(t, dir)) != 1 {
		t.Fatalf("cleanup: %+v", res)
	}
}

// The published ways in which removals of orphans have taken live files, and their like.
func TestOrphans(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		dataPath func(dir string) string
	}{
		{"plain", func(d string) string { return d + "/lake" }},
		{"trailing slash", func(d string) string { return d + "/lake/" }},
		{"trailing slashes", func(d string) string { return d + "/lake//" }},
		{"dot", func(d string) string { return d + "/./lake/./" }},
		{"double slash", func(d string) string { return d + "//lake" }},
		{"URL", func(d string) string { return "file://" + d + "/lake" }},
		{"symlink", func(d string) string { return d + "/link" }},
		{"encoded", func(d string) string { return d + "/lake" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			must(t, os.MkdirAll(dir+"/lake", 0o755))
			must(t, os.Symlink(dir+"/lake", dir+"/link"))
			must(t, os.Symlink(dir+"/lake/main/t", dir+"/sub"))
			w := newWorld(t)
			w.o.Spare = []string{dir + "/lake/store"}
			w.allow(dir)
			l := w.lake("l", tc.dataPath(dir))
			other := w.lake("other", dir+"/lake")
			nested := w.lake("nested", dir+"/lake/nested/")
			stay := []string{
				"main/t/live.parquet", "main/t/kept.parquet", "main/t/deletes.puffin", "main/t/scheduled.parquet", "main/t/p=a%20b%25/live.parquet",
				"main/t/abs.parquet", "main/t/real.parquet", "main/t/linked.parquet", "main/t/other.parquet", "main/t/tail.parquet",
				"main/t/unknown table.parquet", "main/t/url.parquet", "main/t/young.parquet", "main/t/notes.txt", "copy/" + uuid + ".parquet",
				"nested/main/t/orphan.parquet", "store/000001.parquet", ".eider-quarantine/3/main/t/x.parquet",
			}
			for _, f := range stay {
				age := old
				if strings.Contains(f, "young") {
					age = day
				}
				write(t, filepath.Join(dir, "lake", f), age)
			}
			goes := []string{"main/t/orphan.parquet", "stray/é ü=%.parquet", "main/t/o-deletes.puffin", "main/t/p=a b%/live.parquet.parquet"}
			for _, f := range goes {
				write(t, filepath.Join(dir, "lake", f), old)
			}
			l.data("live.parquet", true, false)
			l.data("kept.parquet", true, true)
			l.insert("ducklake_delete_file", meta.Values{"delete_file_id": meta.Int(90), "table_id": meta.Int(1), "path": meta.Str("deletes.puffin"), "path_is_relative": meta.Truth(true)})
			l.schedule("main/t/scheduled.parquet", true, now)
			l.data("p=a%20b%25/live.parquet", true, false)
			l.data(dir+"/link/main/t/abs.parquet", false, false)
			l.data(dir+"/lake/main/t/real.parquet", false, false)
			l.data(dir+"/sub/linked.parquet", false, true)
			other.data("other.parquet", true, true)
			l.data("somewhere/../t/tail.parquet", false, false)
			l.insert("ducklake_data_file", meta.Values{"data_file_id": meta.Int(91), "table_id": meta.Int(55), "path": meta.Str("unknown table.parquet"), "path_is_relative": meta.Truth(true)})
			l.data("file://localhost"+dir+"/lake/main/t//url.parquet", false, false)
			l.data(uuid+".parquet", true, false)
			_ = nested

			plan := l.run(gc.Orphans, true, l.request())
			if len(tree(t, dir)) != len(stay)+len(goes) || len(l.scheduled()) != 1 {
				t.Fatal("a dry run has changed something")
			}
			res := l.run(gc.Orphans, false, l.request())
			var want []string
			for _, f := range stay {
				want = append(want, "lake/"+f)
			}
			equal(t, "left", tree(t, dir), want)
			if len(res.manifest) != len(goes) {
				t.Errorf("manifest %v", res.manifest)
			}
			for i := range res.manifest {
				if p, r := plan.manifest[i], res.manifest[i]; p != r {
					t.Errorf("planned %+v, done %+v", p, r)
				}
			}
			equal(t, "scheduled", l.scheduled(), []string{"main/t/scheduled.parquet"})
			if again := l.run(gc.Orphans, false, l.request()); len(again.manifest) != 0 {
				t.Errorf("again: %v", again.manifest)
			}
		})
	}
}

// Files that an open transaction may have written stay, however old the minimum age lets them be.
func TestOrphansBesideWriter(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	write(t, dir+"/main/t/before.parquet", 10*time.Hour)
	write(t, dir+"/main/t/skew.parquet", 8*time.Hour+10*time.Minute)
	write(t, dir+"/main/t/since.parquet", 5*time.Hour)
	began := now.Add(-8 * time.Hour)
	w.o.Writing = func() time.Time { return began }
	res := l.run(gc.Orphans, false, l.request(gc.NameOrphanMinAge, "2h"))
	equal(t, "removed", res.paths(), []string{dir + "/main/t/before.parquet"})
	began = time.Time{}
	l.run(gc.Orphans, false, l.request(gc.NameOrphanMinAge, "2h"))
	equal(t, "left", tree(t, dir), nil)
}

// A writer that commits while orphans are looked for keeps its files: the catalogs are looked
// at after the listing, and once more when the orphans are scheduled.
func TestOrphansCommittedMeanwhile(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	write(t, dir+"/main/t/a.parquet", old)
	write(t, dir+"/main/t/b.parquet", old)
	w.o.Writing = func() time.Time { // after the listing
		l.data("a.parquet", true, false)
		return time.Time{}
	}
	fences := 0
	w.o.Fence = func(*store.Txn, string) (clean.Fence, error) {
		fences++
		return free{}, nil
	}
	w.o.Commit = committerFunc(func(ctx context.Context, txn *store.Txn) error {
		err := txn.Commit(ctx)
		if fences == 0 { // the orphans have been scheduled
			fences++
			l.data("file://"+dir+"/main/t//b.parquet", false, false)
		}
		return err
	})
	res := l.run(gc.Orphans, false, l.request())
	equal(t, "left", tree(t, dir), []string{"main/t/a.parquet", "main/t/b.parquet"})
	if res.Deferred != 1 {
		t.Errorf("%+v", res)
	}
}

type committerFunc func(context.Context, *store.Txn) error

func (f committerFunc) Commit(ctx context.Context, txn *store.Txn) error { return f(ctx, txn) }

// What cannot be known is kept.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(l *lakeIn){
		"a row that may name anything": func(l *lakeIn) { l.data("..", false, false) },
		"an empty path":                func(l *lakeIn) { l.data("", false, false) },
		"a path that is no text": func(l *lakeIn) {
			l.w.do(func(txn *store.Txn) {
				s, _ := txn.SchemaByName("l")
				must(l.w.t, metatest.CreateTable(txn, s.OID, "ducklake_new", "path"))
			})
		},
		"a data file table without tables": func(l *lakeIn) {
			l.w.do(func(txn *store.Txn) {
				s, err := txn.CreateSchema("odd")
				must(l.w.t, err)
				must(l.w.t, metatest.CreateTable(txn, s.OID, "ducklake_snapshot", metatest.SnapshotColumns()...))
				must(l.w.t, metatest.CreateTable(txn, s.OID, "ducklake_data_file", "path varchar"))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w, l := onDisk(t)
			write(t, dir+"/a.parquet", old)
			write(t, dir+"/b.parquet", old)
			l.schedule("b.parquet", true, now.Add(-time.Hour))
			spoil(l)
			c := clean.New(w.o)
			for kind, job := range map[gc.Kind]gc.Job{gc.Orphans: c.Orphans(nil), gc.Cleanup: c.Cleanup(nil)} {
				if res, err := job.Run(context.Background(), l.request()); err == nil {
					t.Errorf("%s: no error, %+v", kind, res)
				}
			}
			equal(t, "left", tree(t, dir), []string{"a.parquet", "b.parquet"})
		})
	}
}

// A table that this server does not know may name files, too.
func TestUnknownTable(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	w.do(func(txn *store.Txn) {
		s, _ := txn.SchemaByName("l")
		must(t, metatest.CreateTable(txn, s.OID, "ducklake_bloom_filter", "table_id", "path varchar"))
	})
	write(t, dir+"/main/t/bloom.parquet", old)
	write(t, dir+"/main/t/bloom2.parquet", old)
	l.insert("ducklake_bloom_filter", meta.Values{"table_id": meta.Int(1), "path": meta.Str("bloom.parquet")})
	l.insert("ducklake_bloom_filter", meta.Values{"path": meta.Str("bloom2.parquet")})
	l.run(gc.Orphans, false, l.request())
	equal(t, "left", tree(t, dir), []string{"main/t/bloom.parquet", "main/t/bloom2.parquet"})
}

// Nothing is deleted where the operator has not allowed it, whatever a catalog says.
func TestAccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t)
	w.o.Spare = []string{dir + "/lake/store"}
	w.allow(dir + "/lake")
	l := w.lake("l", dir+"/lake/")
	must(t, os.MkdirAll(dir+"/outside", 0o755))
	must(t, os.MkdirAll(dir+"/lake", 0o755))
	must(t, os.Symlink(dir+"/outside", dir+"/lake/link"))
	for _, f := range []string{"lake/store/a", "outside/b", "secret"} {
		write(t, filepath.Join(dir, f), old)
	}
	past := now.Add(-time.Hour)
	l.schedule(dir+"/secret", false, past)
	l.schedule("store/a", true, past)
	l.schedule("link/b", true, past)
	l.schedule("../secret", true, past)
	l.schedule("s3://bucket/key", false, past)
	l.schedule("az://container/key", false, past)
	l.schedule("https://host/key", false, past)
	l.schedule(`C:\key`, false, past)
	res := l.run(gc.Cleanup, false, l.request())
	if n := res.Counts["files left to the client"]; n != 5 || len(l.scheduled()) != 8 {
		t.Errorf("%+v", res.Result)
	}
	equal(t, "left", tree(t, dir), []string{"lake/store/a", "outside/b", "secret"})
	for _, line := range res.manifest {
		if line.Action != clean.ActionClient {
			t.Errorf("%+v", line)
		}
	}
	// Without any access, orphans are not looked for.
	w.o.Access = nil
	if res := l.run(gc.Orphans, false, l.request()); len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "left to a client") {
		t.Errorf("%+v", res.Result)
	}
	if _, err := clean.NewAccess(clean.AccessOptions{Folders: []string{"/"}}); err == nil {
		t.Error("the whole machine may be cleaned")
	}
	if _, err := clean.NewAccess(clean.AccessOptions{Folders: []string{"lake"}}); err == nil {
		t.Error("a relative folder may be cleaned")
	}
}

// Files go into quarantine, come back, and go for good when their time has passed.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t)
	w.allow(dir)
	l := w.lake("l", dir+"/lake")
	past := now.Add(-time.Hour)
	write(t, dir+"/lake/main/t/p=a b/a.parquet", old)
	write(t, dir+"/else/b", old)
	write(t, dir+"/lake/main/t/orphan.parquet", old)
	l.schedule("main/t/p=a b/a.parquet", true, past)
	l.schedule(dir+"/else/b", false, past)
	l.schedule("main/t/missing", true, past)
	on := l.request(gc.NameQuarantine, "on", gc.NameQuarantineKeep, "7d")
	plan := l.run(gc.Cleanup, true, on)
	res := l.run(gc.Cleanup, false, on)
	if !slices.Equal(plan.manifest, res.manifest) || len(res.manifest) != 3 {
		t.Errorf("planned %v, done %v", plan.manifest, res.manifest)
	}
	l.run(gc.Orphans, false, on)
	equal(t, "aside", tree(t, dir), []string{
		"lake/.eider-quarantine/7/main/t/p=a b/a.parquet", "else/.eider-quarantine/7/b", "lake/.eider-quarantine/7/main/t/orphan.parquet",
	})
	if s := l.scheduled(); len(s) != 0 {
		t.Errorf("scheduled: %v", s)
	}
	c := clean.New(w.o)
	kept, err := c.Quarantined(context.Background(), "lake", "l")
	must(t, err)
	if len(kept) != 3 || kept[0].Path != dir+"/lake/main/t/p=a b/a.parquet" || kept[0].Job != 7 || !kept[0].MovedAt.Equal(now) {
		t.Errorf("%+v", kept)
	}
	// Back: all but one whose place is taken.
	write(t, dir+"/else/b", 0)
	undone, err := c.Restore(context.Background(), clean.Undo{Catalog: "lake", Lake: "l"}, now)
	must(t, err)
	if undone.Counts["files brought back"] != 2 || undone.Counts["files that could not be brought back"] != 1 {
		t.Errorf("%+v", undone)
	}
	equal(t, "back", tree(t, dir), []string{
		"lake/main/t/p=a b/a.parquet", "lake/main/t/orphan.parquet", "else/b", "else/.eider-quarantine/7/b",
	})
	// What came back is young.
	if res := l.run(gc.Orphans, false, on); len(res.manifest) != 0 {
		t.Errorf("%+v", res)
	}
	// The time passes for the one that is left.
	for _, c := range []struct {
		after time.Duration
		left  int
	}{{7*day - time.Second, 4}, {7 * day, 3}} {
		req := l.request(gc.NameQuarantineKeep, "7d")
		req.Now = now.Add(c.after)
		l.run(gc.Cleanup, false, req)
		if left := tree(t, dir); len(left) != c.left {
			t.Errorf("after %v: %v", c.after, left)
		}
	}
	if kept, err = c.Quarantined(context.Background(), "lake", "l"); err != nil || len(kept) != 0 {
		t.Errorf("%v %v", kept, err)
	}
}

// However short the time in quarantine, what a run moves aside is there when it ends; and a
// request cannot make the time shorter than the stored policy does.
func TestQuarantineKeep(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	stored := time.Duration(0)
	w.o.Keep = func(*store.Txn, string) (time.Duration, error) { return stored, nil }
	write(t, dir+"/a", old)
	l.schedule(dir+"/a", false, now.Add(-time.Hour))
	at := func(after time.Duration) *gc.Request {
		req := l.request(gc.NameQuarantine, "on", gc.NameQuarantineKeep, "0s")
		req.Now = now.Add(after)
		return req
	}
	left := func(when string, want ...string) {
		t.Helper()
		equal(t, when, tree(t, dir), want)
	}
	l.run(gc.Cleanup, false, at(time.Nanosecond))
	left("after the run that moved it", ".eider-quarantine/7/a")
	stored = time.Hour
	l.run(gc.Cleanup, false, at(time.Minute))
	left("before the stored time", ".eider-quarantine/7/a")
	stored = 0
	l.run(gc.Cleanup, false, at(time.Minute))
	left("after it")
	if _, err := clean.New(w.o).Restore(context.Background(), clean.Undo{Catalog: "lake", Lake: "nope"}, now); !errors.Is(err, meta.ErrNoLake) {
		t.Errorf("a lake that is not there: %v", err)
	}
}

// A row of eider.quarantine that somebody has written does not have other files purged.
func TestPurgeForged(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	write(t, dir+"/a", old)
	write(t, dir+"/.eider-quarantine/1/live", old)
	l.data(dir+"/.eider-quarantine/1/live", false, false)
	w.do(func(txn *store.Txn) {
		s, err := txn.CreateSchema("eider")
		must(t, err)
		must(t, metatest.CreateTable(txn, s.OID, "quarantine", "lake varchar", "job", "path varchar", "place varchar", "bytes", "moved_at timestamptz", "reason varchar"))
		tbl, _, err := meta.Own(txn, "quarantine")
		must(t, err)
		for _, p := range []string{dir + "/a", dir + "/.eider-quarantine/../a", dir + "/.eider-quarantine/1/live"} {
			must(t, tbl.Insert(meta.Values{"lake": meta.Str("l"), "job": meta.Int(1), "path": meta.Str(p), "place": meta.Str(p), "moved_at": meta.Time(now.Add(-old))}))
		}
	})
	res := l.run(gc.Cleanup, false, l.request())
	if res.Deferred != 3 {
		t.Errorf("%+v", res.Result)
	}
	equal(t, "left", tree(t, dir), []string{"a", ".eider-quarantine/1/live"})
}

// A run that is killed leaves what the next one goes on with: at each commit, and after it.
func TestKilled(t *testing.T) {
	t.Parallel()
	errKilled := errors.New("killed")
	for _, after := range []bool{false, true} {
		for _, quarantine := range []string{"off", "on"} {
			for at := range 4 {
				dir, w, l := onDisk(t)
				write(t, dir+"/main/t/a.parquet", old)
				write(t, dir+"/main/t/live.parquet", old)
				l.data("live.parquet", true, false)
				write(t, dir+"/main/t/s.parquet", old)
				l.schedule("main/t/s.parquet", true, now.Add(-time.Hour))
				n := 0
				w.o.Commit = committerFunc(func(ctx context.Context, txn *store.Txn) error {
					n++
					if n-1 != at {
						return txn.Commit(ctx)
					}
					if after {
						return errors.Join(txn.Commit(ctx), errKilled)
					}
					return errors.Join(txn.Rollback(), errKilled)
				})
				c := clean.New(w.o)
				req := l.request(gc.NameQuarantine, quarantine, gc.NameQuarantineKeep, "1d")
				for _, job := range []gc.Job{c.Orphans(nil), c.Cleanup(nil)} {
					if _, err := job.Run(context.Background(), req); err != nil && !errors.Is(err, errKilled) {
						t.Fatal(err)
					}
				}
				w.o.Commit = metatest.Plain{}
				l.run(gc.Orphans, false, req)
				l.run(gc.Cleanup, false, req)
				if s := l.scheduled(); len(s) != 0 {
					t.Errorf("%v %s %d: scheduled %v", after, quarantine, at, s)
				}
				req.Now = now.Add(2 * day)
				l.run(gc.Cleanup, false, req)
				equal(t, "left", tree(t, dir), []string{"main/t/live.parquet"})
			}
		}
	}
}

// A run ends with its context, between two batches, and says what it has done.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	w.o.Chunk = 2
	for _, f := range []string{"a", "b", "c", "d", "e"} {
		write(t, dir+"/"+f, old)
		l.schedule(f, true, now.Add(-time.Hour))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	req := l.request()
	req.Progress = func(gc.Result) { cancel(gc.ErrWindowClosed) }
	res, err := clean.New(w.o).Cleanup(nil).Run(ctx, req)
	if !errors.Is(err, gc.ErrWindowClosed) || res.Counts["files"] != 2 || len(tree(t, dir)) != 3 || len(l.scheduled()) != 3 {
		t.Errorf("%v %+v %v %v", err, res, tree(t, dir), l.scheduled())
	}
}
