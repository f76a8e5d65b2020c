package clean_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/clean"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
)

// modelFile is a file of the model, with everything that rows say of it.
type modelFile struct {
	rel string // below the folder of lake a
	age time.Duration

	live, kept, inB, held bool // named by lake a, for an old snapshot, by lake b, by an open view only
	due, later            bool // scheduled, and due or not
	plainly               bool // scheduled under its own name
}

// named says whether a row names the file.
func (f *modelFile) named() bool { return f.live || f.kept || f.inB || f.held }

// spelling draws a way to write the path of a file in a folder that has a link to it.
func spelling(t *rapid.T, dir, rel string, encode bool) string {
	p := rapid.SampledFrom([]string{dir + "/lake/" + rel, dir + "/lake/" + rel, dir + "/link/" + rel, dir + "/lake/../lake/" + rel}).Draw(t, "by way of")
	if encode && rapid.IntRange(0, 3).Draw(t, "encode") == 0 {
		p = strings.ReplaceAll(url.PathEscape(p), "%2F", "/")
	}
	p = strings.Replace(p, "/lake/", rapid.SampledFrom([]string{"/lake/", "/lake//", "/lake/./"}).Draw(t, "slash"), 1)
	return rapid.SampledFrom([]string{"", "", "file://", "file://localhost", "FILE://"}).Draw(t, "scheme") + p
}

// Whatever a lake looks like, no run removes a file that a kept snapshot, an open view or
// another lake names, by whatever spelling, nor one that is not due or too young; and what
// may go does go.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "lake")
		must(rt, err)
		must(rt, os.MkdirAll(dir+"/lake", 0o755))
		must(rt, os.Symlink(dir+"/lake", dir+"/link"))
		w := worldOf(rt, storetest.Open(t))
		w.o.Round = rapid.IntRange(1, 5).Draw(rt, "round")
		w.o.Chunk = rapid.IntRange(1, 3).Draw(rt, "chunk")
		w.allow(rapid.SampledFrom([]string{dir, dir + "/lake/", dir + "/link"}).Draw(rt, "allowed"))
		a := w.lake("a", rapid.SampledFrom([]string{dir + "/lake", dir + "/lake/", dir + "/link/", dir + "/lake/.//", "file://" + dir + "/lake/"}).Draw(rt, "data path"))
		b := w.lake("b", rapid.SampledFrom([]string{dir + "/lake/", dir + "/lake/b/", dir + "/elsewhere", dir + "/link/b", "s3://bucket/"}).Draw(rt, "data path of b"))
		nested := strings.HasSuffix(strings.TrimSuffix(b.dataPath, "/"), "/b")

		files := drawFiles(rt)
		for _, f := range files {
			write(rt, dir+"/lake/"+f.rel, f.age)
			f.rows(rt, dir, a, b)
		}
		c, err := w.st.Catalog("lake")
		must(rt, err)
		reader := c.Begin(store.TxnOptions{Isolation: store.RepeatableRead, ReadOnly: true})
		must(rt, reader.EnsureSnapshot())
		for i, f := range files {
			if f.held {
				a.remove("ducklake_data_file", f.heldAs(i, dir))
			}
		}
		writing := rapid.SampledFrom([]time.Duration{0, 10 * day}).Draw(rt, "writing since")
		if writing > 0 {
			w.o.Writing = func() time.Time { return now.Add(-writing) }
		}
		quarantine := rapid.SampledFrom([]string{"on", "off"}).Draw(rt, "quarantine")
		req := a.request(gc.NameDeletionGrace, "1h", gc.NameOrphanMinAge, "7d", gc.NameQuarantine, quarantine)
		cleaned, swept := false, false
		for _, kind := range rapid.SliceOfN(rapid.SampledFrom([]gc.Kind{gc.Cleanup, gc.Orphans}), 1, 3).Draw(rt, "jobs") {
			before := tree(rt, dir+"/lake")
			plan := a.run(kind, true, req)
			equal(rt, "after a dry run", tree(rt, dir+"/lake"), before)
			done := a.run(kind, false, req)
			if !slices.Equal(plan.manifest, done.manifest) {
				rt.Fatalf("%s: planned %v, done %v", kind, plan.manifest, done.manifest)
			}
			if kind == gc.Cleanup {
				cleaned = true
			} else {
				swept = true
			}
		}
		for _, f := range files {
			_, err := os.Lstat(dir + "/lake/" + f.rel)
			there := err == nil
			parquet := strings.HasSuffix(f.rel, ".parquet")
			tooYoung := f.age <= 7*day || writing > 0 && f.age <= writing+15*time.Minute
			mustStay := f.named() || f.later ||
				!f.due && (!parquet || tooYoung || nested && strings.HasPrefix(f.rel, "b/"))
			may := !mustStay
			switch {
			case mustStay && !there:
				rt.Fatalf("%+v is gone", *f)
			case may && there && f.due && f.plainly && cleaned:
				rt.Fatalf("%+v was due and is still there", *f)
			case may && there && !f.due && swept:
				rt.Fatalf("%+v is an orphan and is still there", *f)
			}
		}
		must(rt, reader.Rollback())
		if quarantine == "on" {
			_, err := clean.New(w.o).Restore(context.Background(), clean.Undo{Catalog: "lake", Lake: "a"}, now)
			must(rt, err)
			var all []string
			for _, f := range files {
				all = append(all, f.rel)
			}
			equal(rt, "after all came back", tree(rt, dir+"/lake"), all)
		}
	})
}

func drawFiles(t *rapid.T) []*modelFile {
	var files []*modelFile
	for i := range rapid.IntRange(1, 8).Draw(t, "files") {
		f := &modelFile{
			rel: rapid.SampledFrom([]string{"main/t/", "main/t/p=a%20b/", "main/t/p=x y=%25/", "stray/", "b/main/t/", ""}).Draw(t, "folder") +
				fmt.Sprintf("%d%s", i, rapid.SampledFrom([]string{".parquet", ".parquet", " é.parquet", "%2F.parquet", "", ".txt"}).Draw(t, "ending")),
			age: rapid.SampledFrom([]time.Duration{time.Hour, 7 * day, 8 * day, 10 * day, 10*day + 10*time.Minute, 11 * day, 100 * day}).Draw(t, "age"),
		}
		rare := func(what string) bool { return rapid.IntRange(0, 4).Draw(t, what) == 0 }
		f.live, f.kept, f.inB, f.held = rare("live"), rare("kept"), rare("in b"), rare("held")
		f.due, f.later = rapid.Bool().Draw(t, "due"), rare("later")
		files = append(files, f)
	}
	return files
}

// heldAs is the name under which only an open view has the file.
func (f *modelFile) heldAs(i int, dir string) string {
	return fmt.Sprintf("file://%s/lake%s%s", dir, []string{"/", "//"}[i%2], f.rel)
}

// rows writes what the catalogs say of the file.
func (f *modelFile) rows(t *rapid.T, dir string, a, b *lakeIn) {
	inTable, isIn := strings.CutPrefix(f.rel, "main/t/")
	for _, row := range []struct {
		is    bool
		ended bool
		l     *lakeIn
	}{{f.live, false, a}, {f.kept, true, a}, {f.inB, rapid.Bool().Draw(t, "ended"), b}} {
		switch {
		case !row.is:
		case row.l == a && isIn && rapid.Bool().Draw(t, "relative"):
			a.data(inTable, true, row.ended)
		default:
			row.l.data(spelling(t, dir, f.rel, true), false, row.ended)
		}
	}
	if f.held {
		var i int
		_, err := fmt.Sscanf(filepath.Base(f.rel), "%d", &i)
		must(t, err)
		a.data(f.heldAs(i, dir), false, false)
	}
	schedule := func(start time.Time) (plainly bool) {
		if rapid.Bool().Draw(t, "scheduled relative") {
			a.schedule(f.rel, true, start)
			return true
		}
		s := spelling(t, dir, f.rel, false)
		a.schedule(s, false, start)
		return !strings.Contains(s, "/..")
	}
	if f.due {
		f.plainly = schedule(now.Add(-2 * time.Hour))
		if rapid.IntRange(0, 3).Draw(t, "twice") == 0 {
			schedule(now.Add(-3 * time.Hour))
		}
	}
	if f.later {
		schedule(now.Add(-30 * time.Minute))
	}
}
