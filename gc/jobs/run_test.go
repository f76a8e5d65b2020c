package jobs

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
)

func fieldsOf(s string) iter.Seq[string] { return strings.FieldsSeq(s) }

// One job runs at a time in a catalog, in the order of asking; a finished one has its result.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	stop := w.run()
	started, release := w.block(gc.Expire)
	ids := w.submit(gc.Expire, gc.Trim)
	r := <-started
	if r.Job != ids[0] || r.Lake != "a" || r.Catalog != "lake" || r.AskedBy != "ann" {
		t.Errorf("%+v", r)
	}
	e, err := w.m.Job(context.Background(), "lake", ids[1])
	must(t, err)
	if e.State != Queued {
		t.Errorf("%+v", e)
	}
	w.want(w.states(), "1 expire running, 2 trim queued")
	var p gc.Result
	p.Count("things", 3)
	r.Progress(p)
	if e, err = w.m.Job(context.Background(), "lake", ids[0]); err != nil || e.Result.Counts["things"] != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	w.clock.advance(progressEvery)
	r.Progress(p)
	if e := w.jobs()[0]; e.Result.Counts["things"] != 3 {
		t.Errorf("progress was not written: %+v", e)
	}
	w.clock.advance(time.Second)
	release <- nil
	if e = w.wait(ids[0]); e.State != Done || e.Result.Counts["half"] != 1 || e.Ended.Sub(e.Started) != progressEvery+time.Second {
		t.Errorf("%+v", e)
	}
	if e = w.wait(ids[1]); e.State != Done {
		t.Errorf("%+v", e)
	}
	stop()
	w.want(w.states(), "1 expire done, 2 trim done")
	if _, err := w.m.Submit(context.Background(), Ask{Catalog: "lake", Kinds: []gc.Kind{gc.Trim}}); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}

// What ends a running job leaves its mark: a pause, a cancel, the server's end.
func TestEndings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	stop := w.run()
	ctx := context.Background()
	started, _ := w.block(gc.Expire)
	expect := func(id int64, s State, text string) {
		t.Helper()
		if e := w.wait(id); e.State != s || !strings.Contains(e.Error, text) || e.Result.Counts["half"] != 1 {
			t.Errorf("%+v", e)
		}
	}
	id := w.submit(gc.Expire)[0]
	<-started
	must(t, w.m.Pause(ctx, "lake", Pause{Kind: gc.Expire, By: "ann"}))
	expect(id, Stopped, "paused")
	must(t, w.m.Resume(ctx, "lake", "", "ann"))
	ids := w.submit(gc.Expire, gc.Trim)
	<-started
	must(t, w.m.Cancel(ctx, "lake", ids[1], "ben"))
	must(t, w.m.Cancel(ctx, "lake", ids[0], "ben"))
	expect(ids[0], Cancelled, "cancelled by ben")
	if e := w.wait(ids[1]); e.State != Cancelled || !e.Started.IsZero() {
		t.Errorf("%+v", e)
	}
	if err := w.m.Cancel(ctx, "lake", ids[0], "ben"); !errors.Is(err, ErrNoJob) {
		t.Error(err)
	}
	ids = w.submit(gc.Expire, gc.Trim)
	<-started
	stop()
	expect(ids[0], Stopped, "the server stops")
	if e := w.wait(ids[1]); e.State != Stopped {
		t.Errorf("%+v", e)
	}
	w.log.take()
	// The next server goes on with what was stopped.
	delete(w.log.do, gc.Expire)
	w.m = w.manager(Options{})
	w.policy("", "maintenance", "on")
	w.want(w.settle(), "expire a, trim a, cleanup a, plan orphans a, fsck a")
}

// A job of the scheduler ends with its window and goes on in the next one; one that somebody
// has asked for does not mind.
func TestWindowCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	for _, k := range []string{"trim", "cleanup", "orphans", "fsck"} {
		w.policy("", k, "off")
	}
	w.policy("", "windows", "12:00-13:00")
	w.policy("", "maintenance", "on")
	started, release := w.block(gc.Expire)
	w.run()
	r := <-started
	w.clock.advance(59 * time.Minute)
	w.clock.advance(time.Minute)
	if e := w.wait(r.Job); e.State != Stopped || !strings.Contains(e.Error, "window") {
		t.Errorf("%+v", e)
	}
	id := w.submit(gc.Expire)[0]
	<-started
	w.clock.advance(time.Hour)
	release <- nil
	if e := w.wait(id); e.State != Done {
		t.Errorf("%+v", e)
	}
}

// A defect in a job is its own failure, not the server's.
func TestPanics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.run()
	w.log.do[gc.Expire] = func(context.Context, *gc.Request) (gc.Result, error) { panic("ouch") }
	ids := w.submit(gc.Expire, gc.Trim)
	if e := w.wait(ids[0]); e.State != Failed || e.Error != "defect: ouch" {
		t.Errorf("%+v", e)
	}
	if e := w.wait(ids[1]); e.State != Done {
		t.Errorf("%+v", e)
	}
}

// Requests that cannot be served say why.
func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.m = w.manager(Options{Waiting: 4})
	delete(w.m.o.Jobs, gc.Fsck)
	w.run()
	ctx := context.Background()
	for _, c := range []struct {
		ask  Ask
		want error
	}{
		{Ask{Catalog: "nope", Kinds: []gc.Kind{gc.Trim}}, ErrNoCatalog},
		{Ask{Catalog: "lake", Lake: "b", Kinds: []gc.Kind{gc.Trim}}, ErrNoLake},
		{Ask{Catalog: "lake", Lake: "a", Kinds: []gc.Kind{gc.Fsck}}, ErrUnavailable},
	} {
		if _, err := w.m.Submit(ctx, c.ask); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.ask, err)
		}
	}
	if _, err := w.m.Job(ctx, "lake", 99); !errors.Is(err, ErrNoJob) {
		t.Error(err)
	}
	if ids := w.submit(); len(ids) != 4 { // all that the server has, fsck is none of them
		t.Errorf("%d jobs", len(ids))
	} else {
		w.wait(ids[3])
	}
	started, _ := w.block(gc.Expire)
	w.submit(gc.Expire)
	<-started
	w.submit(gc.Trim, gc.Trim, gc.Trim, gc.Trim)
	if _, err := w.m.Submit(ctx, Ask{Catalog: "lake", Kinds: []gc.Kind{gc.Trim}}); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}

// Tags name snapshots that are there; one that an expiry takes away meanwhile is refused.
func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lake("a", 5)
	ctx := context.Background()
	set := func(name string, snapshot int64, move bool) (Tag, error) {
		return w.m.SetTag(ctx, "lake", Tag{Lake: "a", Name: name, Snapshot: snapshot, Note: "n"}, move)
	}
	if tag, err := set("newest", -1, false); err != nil || tag.Snapshot != 4 || !tag.Created.Equal(w.clock.Now()) {
		t.Error(tag, err)
	}
	for _, c := range []struct {
		name     string
		snapshot int64
		want     string
	}{
		{"q1", 5, "no snapshot 5"}, {" ", 1, "no name"}, {"newest", 3, "names snapshot 4 already"},
	} {
		if _, err := set(c.name, c.snapshot, false); !errors.Is(err, ErrTag) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if tag, err := set("newest", 3, true); err != nil || tag.Snapshot != 3 {
		t.Error(tag, err)
	}
	if _, err := w.m.SetTag(ctx, "lake", Tag{Lake: "b", Name: "x"}, false); !errors.Is(err, ErrNoLake) {
		t.Error(err)
	}
	// An expiry lands between the look and the commit.
	w.m.o.Committer = expires{w}
	if _, err := set("late", 0, false); !errors.Is(err, ErrTag) || !strings.Contains(err.Error(), "has expired") && !strings.Contains(err.Error(), "no snapshot") {
		t.Error(err)
	}
	w.m.o.Committer = metatest.Plain{}
	if tag, err := w.m.RemoveTag(ctx, "lake", "a", "newest"); err != nil || tag.Snapshot != 3 || tag.Note != "n" {
		t.Error(tag, err)
	}
	if _, err := w.m.RemoveTag(ctx, "lake", "a", "newest"); !errors.Is(err, ErrNoTag) {
		t.Error(err)
	}
}

// expires takes snapshot 0 away before it commits.
type expires struct{ w *world }

func (c expires) Commit(ctx context.Context, txn *store.Txn) error {
	c.w.write(func(txn *store.Txn) error {
		l, err := meta.Open(txn, "a")
		if err != nil {
			return err
		}
		return l.Table(meta.SnapshotTable).Scan(ctx, func(r *meta.Row) error { return r.Delete() }, meta.Is("snapshot_id", 0))
	})
	return txn.Commit(ctx)
}

// Metrics tell what jobs did, and forget catalogs and lakes that are gone.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	reg := prometheus.NewPedanticRegistry()
	w.m = w.manager(Options{Metrics: NewMetrics(reg)})
	w.policy("", "maintenance", "on")
	w.settle()
	value := func(name string, labels map[string]string) (float64, bool) {
		t.Helper()
		list, err := reg.Gather()
		must(t, err)
		for _, f := range list {
			for _, m := range f.Metric {
				fits := f.GetName() == name
				for _, l := range m.Label {
					if want, ok := labels[l.GetName()]; ok && want != l.GetValue() {
						fits = false
					}
				}
				if fits {
					return m.GetCounter().GetValue() + m.GetGauge().GetValue(), true
				}
			}
		}
		return 0, false
	}
	for name, want := range map[string]float64{
		"eider_gc_jobs_total": 1, "eider_gc_items_total": 1, "ducklake_snapshots_count": 1, "eider_lake_measure_complete": 1,
		"eider_gc_jobs_running": 0, "eider_gc_paused": 0, "eider_gc_policy_problems": 0,
	} {
		if got, ok := value(name, map[string]string{"kind": "expire"}); !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	w.write(func(txn *store.Txn) error {
		l, err := meta.Open(txn, "a")
		if err != nil {
			return err
		}
		return l.DropTable(meta.SnapshotTable)
	})
	w.settle()
	if _, ok := value("ducklake_snapshots_count", nil); ok {
		t.Error("a lake that is gone is still shown")
	}
	must(t, w.store.DropCatalog(context.Background(), "lake"))
	w.settle()
	if _, ok := value("eider_gc_policy_problems", map[string]string{"catalog": "lake"}); ok {
		t.Error("a catalog that is gone is still shown")
	}
	for _, d := range MetricList() {
		if d.Help == "" || d.Type == "" {
			t.Errorf("%+v", d)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
