package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
)

// begin begins a run of a worker as a session.
func (w *world) begin(session int32, o map[string]string) int64 {
	w.Helper()
	id, err := w.m.Begin(context.Background(), "lake", Work{Lake: "a", By: "ann", Session: session, Options: o})
	must(w, err)
	return id
}

// merged is a report of merged files.
func merged(n int64) (r gc.Result) {
	r.Count("files merged", n)
	r.Add(gc.Item{What: fmt.Sprintf("merge %d", n)})
	return r
}

// A worker's run is in the history from its begin to its end, with what it has reported; what it
// did counts for what is told of the kind, whatever its options.
func TestWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	ctx := context.Background()
	job := w.submit // ids go on in one order with the server's jobs
	w.started()
	job(gc.Expire)
	id := w.begin(7, map[string]string{"tiers": "0-1:1"})
	e, err := w.m.Job(ctx, "lake", id)
	must(t, err)
	if e.Kind != gc.Maintain || e.State != Running || e.AskedBy != "ann" || e.Overrides["tiers"] == "" || id != 3 {
		t.Errorf("%+v", e)
	}
	for _, n := range []int64{2, 3} {
		w.clock.advance(progressEvery)
		stop, err := w.m.Report(ctx, "lake", id, 7, merged(n))
		if stop != nil || err != nil {
			t.Errorf("%v, %v", stop, err)
		}
	}
	if e := w.jobs()[2]; e.State != Running || e.Result.Counts["files merged"] != 5 || len(e.Result.Items) != 2 {
		t.Errorf("while it runs: %+v", e)
	}
	if s := w.worker("a"); s.State != "running" || s.Job != id || s.Result.Counts["files merged"] != 5 {
		t.Errorf("%+v", s)
	}
	// Only its session goes on with it.
	if _, err := w.m.Report(ctx, "lake", id, 8, merged(1)); !errors.Is(err, ErrNoJob) {
		t.Errorf("another session: %v", err)
	}
	w.m.Lost(ctx, "lake", id, 8)
	if _, err := w.m.Finish(ctx, "lake", id, 7, Done, merged(4), ""); err != nil {
		t.Error(err)
	}
	w.m.Lost(ctx, "lake", id, 7) // as at the end of every session
	e = w.wait(id)
	if e.State != Done || e.Result.Counts["files merged"] != 9 || e.Error != "" || !e.Ended.Equal(w.clock.Now()) {
		t.Errorf("%+v", e)
	}
	if s := w.worker("a"); s.State != "idle" || !s.Last.Equal(e.Ended) {
		t.Errorf("%+v", s)
	}
	if s := w.worker("b"); s.Lake != "" {
		t.Errorf("a lake where no worker was: %+v", s)
	}
	if _, err := w.m.Begin(ctx, "lake", Work{Lake: "none"}); !errors.Is(err, ErrNoLake) {
		t.Errorf("no lake: %v", err)
	}
	if _, err := w.m.Submit(ctx, Ask{Catalog: "lake", Kinds: []gc.Kind{gc.Maintain}}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "eider maintain") {
		t.Errorf("asked of the server: %v", err)
	}
}

// worker is the status of workers on a lake; zero when there is none.
func (w *world) worker(lake string) Status {
	w.Helper()
	list, err := w.m.Status(context.Background(), "lake", lake)
	must(w, err)
	for _, s := range list {
		if s.Kind == gc.Maintain {
			return s
		}
	}
	return Status{}
}

// However a run ends, the history says so, also of what nobody has ended.
func TestWorkEnds(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name, want string
		end        func(w *world, id int64)
	}{
		{"dies", "interrupted: the connection of the worker ended", func(w *world, id int64) { w.m.Lost(ctx, "lake", id, 7) }},
		{"the server dies", "interrupted: the server ended while the job was running", func(w *world, id int64) {
			w.m = w.manager(Options{})
			w.settle()
		}},
		{"fails", "failed: no", func(w *world, id int64) { _, _ = w.m.Finish(ctx, "lake", id, 7, Failed, gc.Result{}, "no") }},
		{"early", "stopped: the time is up", func(w *world, id int64) {
			_, _ = w.m.Finish(ctx, "lake", id, 7, Stopped, gc.Result{}, "the time is up")
		}},
		{"cancelled", "cancelled: the job was cancelled by bob", func(w *world, id int64) {
			must(w, w.m.Cancel(ctx, "lake", id, "bob"))
			stop, err := w.m.Report(ctx, "lake", id, 7, merged(1))
			must(w, err)
			_, _ = w.m.Finish(ctx, "lake", id, 7, Stopped, gc.Result{}, stop.Error())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "a")
			id := w.begin(7, nil)
			c.end(w, id)
			e, err := w.m.Job(ctx, "lake", id)
			must(t, err)
			if got := string(e.State) + ": " + e.Error; !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if e.Ended.IsZero() {
				t.Error("it has no end")
			}
			if _, err := w.m.Finish(ctx, "lake", id, 7, Done, gc.Result{}, ""); !errors.Is(err, ErrNoJob) {
				t.Errorf("ended again: %v", err)
			}
			if s := w.worker("a"); (s.Problem != "") != (e.State == Failed || e.State == Interrupted) {
				t.Errorf("problem of a run that is %s: %q", e.State, s.Problem)
			}
		})
	}
}

// Runs of workers do not keep the server's jobs waiting, are pruned like them, and the last good
// one stays.
func TestWorkBesideJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.m = w.manager(Options{History: 2})
	ctx := context.Background()
	good := w.begin(1, map[string]string{"x": "y"})
	if _, err := w.m.Finish(ctx, "lake", good, 1, Done, gc.Result{}, ""); err != nil {
		t.Error(err)
	}
	id := w.begin(2, nil)
	w.policy("a", gc.NameMaintenance, "on")
	w.want(w.settle(), "expire a, trim a, cleanup a, plan orphans a, fsck a")
	w.clock.advance(time.Hour)
	if _, err := w.m.Finish(ctx, "lake", id, 2, Failed, gc.Result{}, "no"); err != nil {
		t.Error(err)
	}
	w.want(w.states(), fmt.Sprintf("%d maintain done, 3 expire done, 4 trim done, 5 cleanup done, 6 orphans done, 7 fsck done", good))
}

// The defaults of the server's configuration count where no policy is set.
func TestDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	w.m = w.manager(Options{Defaults: gc.Defaults{gc.NameDeletionGrace: "3h"}})
	w.policy("b", gc.NameDeletionGrace, "0s")
	for lake, want := range map[string]string{"a": "3h", "b": "0s"} {
		list, err := w.m.InForce(context.Background(), "lake", gc.Scope{Lake: lake})
		must(t, err)
		for _, x := range list {
			if x.Name == gc.NameDeletionGrace && (x.Value != want || x.Set != (lake == "b")) {
				t.Errorf("%s: %+v, want %s", lake, x, want)
			}
		}
	}
	var got time.Duration
	w.log.mu.Lock()
	w.log.do[gc.Cleanup] = func(_ context.Context, r *gc.Request) (gc.Result, error) {
		got = max(got, r.Policies.DeletionGrace())
		return gc.Result{}, nil
	}
	w.log.mu.Unlock()
	w.started()
	w.submit(gc.Cleanup)
	w.settle()
	if got != 3*time.Hour {
		t.Errorf("a job gets a grace of %s", got)
	}
}
