package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// ask submits a request and returns what was done for it.
func (w *world) ask(a Ask) (string, error) {
	w.Helper()
	a.Catalog, a.By = "lake", "ann"
	_, err := w.m.Submit(context.Background(), a)
	return w.settle(), err
}

// started lets requests in without Run: settle does what they ask for.
func (w *world) started() {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.running = true
}

// The mode of a kind holds for who asks for a job: orphans are only planned by default, what is
// off is skipped in a round and refused by name, and an override lifts it.
func TestModesOfAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.started()
	for _, c := range []struct {
		policy string
		ask    Ask
		want   string
		err    error
	}{
		{"", Ask{}, "expire a, trim a, cleanup a, plan orphans a, fsck a", nil},
		{"", Ask{Kinds: []gc.Kind{gc.Orphans}}, "plan orphans a", nil},
		{"", Ask{Kinds: []gc.Kind{gc.Orphans}, Overrides: map[string]string{"orphans": "on"}}, "orphans a", nil},
		{"", Ask{Kinds: []gc.Kind{gc.Orphans}, Overrides: map[string]string{"orphans": "on"}, DryRun: true}, "plan orphans a", nil},
		{"expire=dry-run", Ask{Kinds: []gc.Kind{gc.Expire}}, "plan expire a", nil},
		{"expire=off", Ask{Kinds: []gc.Kind{gc.Expire}}, "", ErrOff},
		{"expire=off", Ask{Kinds: []gc.Kind{gc.Expire}, Skip: true}, "", nil},
		{"expire=off", Ask{Kinds: []gc.Kind{gc.Expire}, DryRun: true}, "plan expire a", nil},
		{"expire=off", Ask{Kinds: []gc.Kind{gc.Expire}, Overrides: map[string]string{"expire": "on"}}, "expire a", nil},
		{"expire=off", Ask{Kinds: []gc.Kind{gc.Trim}, Overrides: map[string]string{"trim": "off"}}, "", ErrOff},
		{"expire=off", Ask{}, "trim a, cleanup a, plan orphans a, fsck a", nil},
	} {
		name, value, set := strings.Cut(c.policy, "=")
		if set {
			w.policy("a", name, value)
		}
		got, err := w.ask(c.ask)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s, %+v: %q, %v; want %q", c.policy, c.ask, got, err, c.want)
		}
		if set {
			_, err := w.m.ResetPolicy(context.Background(), "lake", gc.Setting{Scope: gc.Scope{Lake: "a"}, Name: name})
			must(t, err)
		}
	}
	skipped := 0
	for _, e := range w.jobs() {
		if e.State == Skipped {
			skipped++
			if e.Kind != gc.Expire || e.Ended.IsZero() || !e.Started.IsZero() || !strings.Contains(e.Error, "policy expire of lake a is off") {
				t.Errorf("%+v", e)
			}
		}
		if plans := e.Kind == gc.Orphans && len(e.Overrides) == 0; plans && (len(e.Result.Notes) != 1 || !strings.Contains(e.Result.Notes[0], "orphans=on")) {
			t.Errorf("%+v", e)
		}
	}
	if skipped != 2 {
		t.Errorf("%d were skipped", skipped)
	}
}

// A kind that is off for one lake is refused only where no other lake lets it run.
func TestModesOfLakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	w.started()
	w.policy("a", "trim", "off")
	if got, err := w.ask(Ask{Kinds: []gc.Kind{gc.Trim}}); got != "trim b" || err != nil {
		t.Error(got, err)
	}
	w.want(w.states(), "1 trim skipped, 2 trim done")
	if _, err := w.ask(Ask{Lake: "a", Kinds: []gc.Kind{gc.Trim}}); !errors.Is(err, ErrOff) {
		t.Error(err)
	}
}

// A round leaves out what is paused; a kind that was named is refused, and so is a round when
// all is paused.
func TestPausedInRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.started()
	must(t, w.m.Pause(context.Background(), "lake", Pause{Kind: gc.Trim, By: "ben"}))
	if got, err := w.ask(Ask{}); got != "expire a, cleanup a, plan orphans a, fsck a" || err != nil {
		t.Error(got, err)
	}
	if e := w.jobs()[1]; e.State != Skipped || !strings.Contains(e.Error, "paused since") {
		t.Errorf("%+v", e)
	}
	if _, err := w.ask(Ask{Kinds: []gc.Kind{gc.Trim}}); !errors.Is(err, gc.ErrPaused) {
		t.Error(err)
	}
	must(t, w.m.Pause(context.Background(), "lake", Pause{By: "ben"}))
	if _, err := w.ask(Ask{}); !errors.Is(err, gc.ErrPaused) {
		t.Error(err)
	}
}

// Modes are looked at again when a job begins: it may have waited.
func TestModesWhenItBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.policy("a", "orphans", "on")
	w.run()
	started, release := w.block(gc.Expire)
	ids := w.submit(gc.Expire, gc.Trim, gc.Orphans)
	<-started
	w.policy("a", "trim", "off")
	w.policy("a", "orphans", "dry-run")
	release <- nil
	if e := w.wait(ids[0]); e.State != Done {
		t.Errorf("%+v", e)
	}
	if e := w.wait(ids[1]); e.State != Stopped || !strings.Contains(e.Error, "trim of lake a is off") {
		t.Errorf("%+v", e)
	}
	if e := w.wait(ids[2]); e.State != Done || !e.DryRun {
		t.Errorf("%+v", e)
	}
	w.want(w.log.take(), "expire a, plan orphans a")
}

// What the scheduler has put in the queue does what the policies say when it is its turn.
func TestScheduledWhenItBegins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{"", "", "expire a, trim a, cleanup a, plan orphans a, fsck a"},
		{"maintenance", "off", "expire a"},
		{"trim", "off", "expire a, cleanup a, plan orphans a, fsck a"},
		{"trim", "dry-run", "expire a, plan trim a, cleanup a, plan orphans a, fsck a"},
		{"orphans", "on", "expire a, trim a, cleanup a, orphans a, fsck a"},
	} {
		w := newWorld(t, "a")
		w.policy("a", "maintenance", "on")
		w.log.do[gc.Expire] = func(context.Context, *gc.Request) (gc.Result, error) {
			if c.name != "" {
				w.policy("a", c.name, c.value)
			}
			return gc.Result{}, nil
		}
		if got := w.settle(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.value, got, c.want)
		}
		for _, e := range w.jobs() {
			if e.State != Done && (e.State != Stopped || !strings.Contains(e.Error, "off")) {
				t.Errorf("%+v", e)
			}
		}
	}
}

// A change of the policies ends the scheduler's running job that they do not allow any more,
// whoever has written it, and no job of a user.
func TestPolicyEndsRunning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{"maintenance", "off", "maintenance of lake a is off"},
		{"expire", "off", "policy expire of lake a is off"},
		{"expire", "dry-run", "policy expire of lake a is dry-run"},
		{"retain_age", "7d", "it is spelt retain-age"},
	} {
		w := newWorld(t, "a")
		w.policy("", "maintenance", "on")
		started, _ := w.block(gc.Expire)
		stop := w.run()
		r := <-started
		w.raw("a", c.name, c.value) // as SQL does, which nobody is told of but at the next look
		w.m.poke()
		if e := w.wait(r.Job); e.State != Stopped || !strings.Contains(e.Error, c.want) || e.AskedBy != gc.Scheduler {
			t.Errorf("%s: %+v", c.name, e)
		}
		stop()
	}
	w := newWorld(t, "a")
	w.run()
	started, release := w.block(gc.Expire)
	id := w.submit(gc.Expire)[0]
	<-started
	w.policy("a", "expire", "off")
	release <- nil
	if e := w.wait(id); e.State != Done {
		t.Errorf("%+v", e)
	}
}

// A user with the scheduler's name is still a user.
func TestUserNamedScheduler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.started()
	_, err := w.m.Submit(context.Background(), Ask{Catalog: "lake", Kinds: []gc.Kind{gc.Trim}, By: gc.Scheduler})
	must(t, err)
	w.want(w.settle(), "trim a") // although maintenance is off
	if e := w.jobs()[0]; e.AskedBy == gc.Scheduler {
		t.Errorf("%+v", e)
	}
}

// A job of the scheduler that somebody has cancelled comes again at its regular time, for a new
// server too.
func TestCancelledWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	for _, k := range []string{"trim", "cleanup", "orphans", "fsck"} {
		w.policy("", k, "off")
	}
	w.policy("", "maintenance", "on")
	started, _ := w.block(gc.Expire)
	stop := w.run()
	r := <-started
	must(t, w.m.Cancel(context.Background(), "lake", r.Job, "ben"))
	if e := w.wait(r.Job); e.State != Cancelled {
		t.Errorf("%+v", e)
	}
	stop()
	w.log.take()
	delete(w.log.do, gc.Expire)
	for range 2 {
		w.want(w.settle(), "")
		list, err := w.m.Status(context.Background(), "lake", "a")
		must(t, err)
		if s := list[0]; s.State != "waiting" || s.Why != "it was cancelled" || !s.Next.Equal(w.clock.Now().Add(24*time.Hour)) {
			t.Errorf("%+v", s)
		}
		w.m = w.manager(Options{})
	}
	w.clock.advance(24 * time.Hour)
	w.want(w.settle(), "expire a")
}

// The age that a trigger looks at is of snapshots that may go: neither tagged nor the newest.
func TestTriggerAgeOfTagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lake("a", 3) // of two hours, one hour and now
	for _, k := range []string{"trim", "cleanup", "orphans", "fsck"} {
		w.policy("", k, "off")
	}
	w.policy("", "maintenance", "on")
	w.policy("", "trigger-age", "3h")
	w.want(w.settle(), "expire a")
	_, err := w.m.SetTag(context.Background(), "lake", Tag{Lake: "a", Name: "x", Snapshot: 0}, false)
	must(t, err)
	w.clock.advance(time.Hour)
	w.want(w.settle(), "") // 0 is of three hours, but tagged
	w.clock.advance(time.Hour)
	w.want(w.settle(), "expire a") // and so is 1
	w.write(func(txn *store.Txn) error {
		l, err := meta.Open(txn, "a")
		if err != nil {
			return err
		}
		return l.Table(meta.SnapshotTable).Scan(context.Background(), func(r *meta.Row) error { return r.Delete() }, meta.Is("snapshot_id", 1))
	})
	w.clock.advance(10 * time.Hour)
	w.want(w.settle(), "") // the newest stays anyhow
}

// What is removed of the history is old, and tells nothing of what is due.
func TestSurplus(t *testing.T) {
	t.Parallel()
	x, y := lakeKind{"a", gc.Expire}, lakeKind{"a", gc.Trim}
	all := []brief{
		{1, x, Done, true},
		{2, x, Cancelled, true},
		{3, y, Done, true},
		{4, x, Done, true},
		{5, x, Failed, false},
		{6, y, Done, false}, // a plan that somebody has asked for
		{7, y, Running, false},
		{8, x, Cancelled, false},
		{9, y, Failed, false},
	}
	got := surplus(all, 1)
	if want := map[int64]bool{1: true, 5: true, 6: true, 8: true}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := surplus(all, 9); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
