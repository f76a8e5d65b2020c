package clean_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/paths"
)

// strict is a fence that tells by the time, as the server's does.
type strict struct {
	free
	grace time.Duration
}

func (s strict) Early(_ context.Context, files []gc.FileRef) ([]string, error) {
	out := make([]string, len(files))
	for i, f := range files {
		if time.UnixMicro(f.Start).Add(s.grace).After(now) {
			out[i] = "it is not due"
		}
	}
	return out, nil
}

// keeps is a committer that refuses to take rows off the schedule that are not due.
func (s strict) keeps(l string) committerFunc {
	return func(ctx context.Context, txn *store.Txn) error {
		m, err := meta.Open(txn, l)
		if err != nil {
			return err
		}
		start := m.Table("ducklake_files_scheduled_for_deletion").Column("schedule_start")
		var refused error
		err = txn.Changes(m.Table("ducklake_files_scheduled_for_deletion").Descriptor(), func(c store.RowChange) bool {
			if c.Before != nil && c.After == nil {
				at, _ := start.Micros(&meta.Row{Tuple: c.Before})
				if time.UnixMicro(at).Add(s.grace).After(now) {
					refused = errors.New("a file was taken off the schedule too early")
				}
			}
			return true
		})
		if err = errors.Join(err, refused); err != nil {
			return errors.Join(err, txn.Rollback())
		}
		return txn.Commit(ctx)
	}
}

// What is stored decides when a file may go: who asks for a job can only wait longer, and what
// the commit would refuse is kept before any byte goes.
func TestGrace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		grace  time.Duration // stored
		told   bool          // whether the job is told, or only the fence knows
		over   string
		goes   bool
		orphan bool // whether orphans go all the same
	}{
		{"as stored", time.Minute, true, "", true, true},
		{"shorter", time.Hour, true, "0s", false, true},
		{"shorter, changed meanwhile", time.Hour, false, "0s", false, false},
		{"longer", time.Minute, true, "1h", false, true},
	} {
		for _, quarantine := range []string{"on", "off"} {
			t.Run(tc.name+", quarantine "+quarantine, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				w := newWorld(t)
				w.allow(dir)
				fence := strict{grace: tc.grace}
				w.o.Fence = func(*store.Txn, string) (clean.Fence, error) { return fence, nil }
				if tc.told {
					w.o.Grace = func(*store.Txn, string) (time.Duration, error) { return tc.grace, nil }
				}
				l := w.lake("l", dir)
				w.o.Commit = fence.keeps("l")
				write(t, dir+"/main/t/a", old)
				write(t, dir+"/main/t/twice", old)
				l.schedule("main/t/a", true, now.Add(-30*time.Minute))
				l.schedule("main/t/twice", true, now.Add(-30*time.Minute))
				l.schedule(dir+"/main//t/twice", false, now.Add(-3*time.Hour))
				policies := []string{gc.NameQuarantine, quarantine}
				if tc.over != "" {
					policies = append(policies, gc.NameDeletionGrace, tc.over)
				}
				plan := l.run(gc.Cleanup, true, l.request(policies...))
				res := l.run(gc.Cleanup, false, l.request(policies...))
				equal(t, "done as planned", res.paths(), plan.paths())
				// Without being told, the file goes by its other, older name.
				want := 0
				switch {
				case tc.goes:
					want = 2
				case !tc.told:
					want = 1
				}
				if got := res.Counts["files"] + res.Counts["files moved aside"]; int(got) != want {
					t.Errorf("%d files of %d: %+v", got, want, res.Result)
				}
				write(t, dir+"/main/t/orphan.parquet", old)
				res = l.run(gc.Orphans, false, l.request(policies...))
				if got := len(res.manifest); (got == 1) != tc.orphan {
					t.Errorf("orphans: %+v", res.Result)
				}
			})
		}
	}
}

// Without a grace that can be read nothing goes.
func TestGraceUnknown(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	unknown := errors.New("unknown")
	w.o.Grace = func(*store.Txn, string) (time.Duration, error) { return 0, unknown }
	write(t, dir+"/main/t/a", old)
	write(t, dir+"/main/t/orphan.parquet", old)
	l.schedule("main/t/a", true, now.Add(-day))
	c := clean.New(w.o)
	for _, job := range []gc.Job{c.Cleanup(nil), c.Orphans(nil)} {
		if _, err := job.Run(context.Background(), l.request()); !errors.Is(err, unknown) {
			t.Errorf("%v", err)
		}
	}
	if len(tree(t, dir)) != 2 || len(l.scheduled()) != 1 {
		t.Error("something has gone")
	}
}

// A file stays that a row names which was committed after the look at the catalogs: of
// another lake, of another catalog, or of the lake itself by another spelling.
func TestNamedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		path func(dir string) string
	}{
		{"same spelling", func(d string) string { return d + "/main/t/a-3.parquet" }},
		{"slashes", func(d string) string { return d + "//main/./t/a-3.parquet" }},
		{"URL", func(d string) string { return "file://" + d + "/main/t/a%2D3.parquet" }},
		{"by another way", func(string) string { return "somewhere/../t/a-3.parquet" }},
	} {
		for _, by := range []string{"itself", "other lake", "other catalog", "new catalog"} {
			for _, kind := range []gc.Kind{gc.Cleanup, gc.Orphans, "purge"} {
				t.Run(fmt.Sprintf("%s, %s, %s", tc.name, by, kind), func(t *testing.T) {
					t.Parallel()
					dir, w, l := onDisk(t)
					w.o.Chunk = 2
					namer := l
					second := &world{t: t, st: w.st, cat: "second"}
					switch by {
					case "other lake":
						namer = w.lake("other", dir+"/elsewhere/")
					case "other catalog":
						must(t, w.st.CreateCatalog(context.Background(), "second"))
						namer = second.lake("l", dir)
					}
					req := l.request()
					for i := range 6 {
						write(t, fmt.Sprintf("%s/main/t/a-%d.parquet", dir, i), old)
						if kind != gc.Orphans {
							l.schedule(fmt.Sprintf("main/t/a-%d.parquet", i), true, now.Add(-time.Hour))
						}
					}
					path := tc.path(dir)
					run := kind
					if kind == "purge" {
						run = gc.Cleanup
						l.run(gc.Cleanup, false, l.request(gc.NameQuarantine, "on"))
						req = l.request(gc.NameQuarantine, "on", gc.NameQuarantineKeep, "1d")
						req.Now = now.Add(2 * day)
						path = "somewhere/../.eider-quarantine/7/main/t/a-3.parquet"
						if tc.name != "by another way" {
							path = "file://" + dir + "/.eider-quarantine/7/main/t//a-3.parquet"
						}
					}
					w.o.Access = &onLook{Access: w.o.Access, fn: func() {
						if by == "new catalog" {
							must(t, w.st.CreateCatalog(context.Background(), "second"))
							namer = second.lake("l", dir)
						}
						namer.data(path, false, true)
					}}
					res := l.run(run, false, req)
					if left := tree(t, dir); len(left) != 1 || filepath.Base(left[0]) != "a-3.parquet" {
						t.Errorf("left: %v", left)
					}
					if res.Deferred != 1 {
						t.Errorf("%+v", res.Result)
					}
				})
			}
		}
	}
}

// onLook calls a function when the first file is looked at, which is after the catalogs were.
type onLook struct {
	clean.Access
	fn func()
}

func (o *onLook) Storage(at paths.Place) (clean.Storage, error) {
	if o.fn != nil && filepath.Base(at.Name) != "probe.parquet" {
		fn := o.fn
		o.fn = nil
		fn()
	}
	return o.Access.Storage(at)
}

// Of a quarantine that is longer than a round everything is purged.
func TestPurgeRounds(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	w.o.Round, w.o.Chunk = 3, 2
	for i := range 8 {
		write(t, fmt.Sprintf("%s/main/t/%d", dir, i), old)
		l.schedule(fmt.Sprintf("main/t/%d", i), true, now.Add(-time.Hour))
	}
	l.run(gc.Cleanup, false, l.request(gc.NameQuarantine, "on"))
	req := l.request(gc.NameQuarantine, "on")
	req.Now = now.Add(30 * day)
	res := l.run(gc.Cleanup, false, req)
	if left := tree(t, dir); len(left) != 0 || res.Counts["files purged from quarantine"] != 8 {
		t.Errorf("%v %+v", left, res.Result)
	}
	kept, err := clean.New(w.o).Quarantined(context.Background(), "lake", "")
	if err != nil || len(kept) != 0 {
		t.Errorf("%v %v", kept, err)
	}
}

// A call to restore that was killed before it took files off the list is made good by the next.
func TestRestoreAgain(t *testing.T) {
	t.Parallel()
	dir, w, l := onDisk(t)
	for _, f := range []string{"main/t/a", "main/u/b"} {
		write(t, dir+"/"+f, old)
		l.schedule(f, true, now.Add(-time.Hour))
	}
	l.run(gc.Cleanup, false, l.request(gc.NameQuarantine, "on"))
	undo := clean.Undo{Catalog: "lake", Path: dir + "/main/t"}
	killed := errors.New("killed")
	w.o.Commit = committerFunc(func(_ context.Context, txn *store.Txn) error { return errors.Join(txn.Rollback(), killed) })
	if _, err := clean.New(w.o).Restore(context.Background(), undo, now); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	w.o.Commit = metatest.Plain{}
	c := clean.New(w.o)
	res, err := c.Restore(context.Background(), undo, now)
	if err != nil || res.Counts[clean.CountBack] != 1 || res.Counts[clean.CountNotBack] != 0 {
		t.Errorf("%+v %v", res, err)
	}
	kept, err := c.Quarantined(context.Background(), "lake", "l")
	if err != nil || len(kept) != 1 || kept[0].Path != dir+"/main/u/b" || kept[0].Lake != "l" {
		t.Errorf("%v %v", kept, err)
	}
}
