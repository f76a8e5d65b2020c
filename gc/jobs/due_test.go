package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
)

// Nothing runs before maintenance is on; then all kinds run in their order, one lake's round
// after the other's, and again after their times.
func TestRounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	w.want(w.settle(), "")
	w.policy("a", "maintenance", "on")
	w.want(w.settle(), "expire a, trim a, cleanup a, plan orphans a, fsck a")
	w.want(w.settle(), "")
	w.clock.advance(24*time.Hour - time.Second)
	w.want(w.settle(), "")
	w.policy("", "maintenance", "on")
	w.want(w.settle(), "expire b, trim b, cleanup b, plan orphans b, fsck b")
	w.clock.advance(time.Second)
	w.want(w.settle(), "expire a, trim a, cleanup a")
	w.policy("a", "maintenance", "off")
	w.policy("b", "orphans", "on")
	w.policy("b", "cleanup", "off")
	w.policy("b", "every", "1h")
	w.clock.advance(7 * 24 * time.Hour)
	w.want(w.settle(), "expire b, trim b, orphans b, fsck b")
}

// A window holds jobs up, by the wall clock of its zone.
func TestWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.policy("", "maintenance", "on")
	w.policy("", "windows", "22:00-23:00")
	w.policy("", "time-zone", "Asia/Tokyo") // 13:00 UTC; it is noon
	w.want(w.settle(), "")
	w.clock.advance(time.Hour)
	w.want(w.settle(), "expire a, trim a, cleanup a, plan orphans a, fsck a")
}

// What failed is tried again, at growing intervals; what was done in between starts anew.
func TestRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	for _, k := range []string{"trim", "cleanup", "orphans", "fsck"} {
		w.policy("", k, "off")
	}
	w.policy("", "maintenance", "on")
	w.log.do[gc.Expire] = func(context.Context, *gc.Request) (gc.Result, error) {
		return gc.Result{}, errors.New("no luck")
	}
	w.want(w.settle(), "expire a")
	for _, wait := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute} {
		w.clock.advance(wait - time.Second)
		w.want(w.settle(), "")
		w.clock.advance(time.Second)
		w.want(w.settle(), "expire a")
	}
	list, err := w.m.Status(context.Background(), "lake", "a")
	must(t, err)
	if s := list[0]; s.State != "waiting" || s.Problem != "it has failed 4 times" || !s.Next.Equal(w.clock.Now().Add(40*time.Minute)) {
		t.Errorf("%+v", s)
	}
	delete(w.log.do, gc.Expire)
	w.clock.advance(30 * 24 * time.Hour)
	w.want(w.settle(), "expire a")
	w.want(w.states(), "1 expire failed, 2 expire failed, 3 expire failed, 4 expire failed, 5 expire done")
	w.clock.advance(5 * time.Minute)
	w.want(w.settle(), "")
	if e := w.jobs()[0]; e.Error != "no luck" || e.AskedBy != gc.Scheduler {
		t.Errorf("%+v", e)
	}
}

// Triggers begin a round early, but not again and again when that does not help.
func TestTriggers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lake("a", 10)
	w.policy("", "maintenance", "on")
	w.policy("", "orphans", "off")
	w.policy("", "fsck", "off")
	w.want(w.settle(), "expire a, trim a, cleanup a")
	w.policy("", "trigger-snapshots", "11")
	w.policy("", "trigger-age", "12h")
	w.clock.advance(2 * time.Hour)
	w.want(w.settle(), "")
	w.log.do[gc.Trim] = func(context.Context, *gc.Request) (gc.Result, error) { return gc.Result{}, nil }
	w.policy("", "trigger-snapshots", "10")
	w.want(w.settle(), "expire a, trim a, cleanup a")
	w.clock.advance(triggerGap)
	w.want(w.settle(), "expire a, cleanup a") // trim had nothing to do
	w.log.do[gc.Expire] = func(context.Context, *gc.Request) (res gc.Result, err error) {
		res.Count(gc.LeftPinned, 3)
		return res, nil
	}
	w.clock.advance(triggerGap)
	w.want(w.settle(), "expire a, cleanup a")
	w.clock.advance(triggerGap)
	w.want(w.settle(), "cleanup a") // expiry could do nothing
	delete(w.log.do, gc.Expire)
	w.clock.advance(idleGap - triggerGap)
	w.want(w.settle(), "expire a, trim a, cleanup a")
	w.policy("", "expire", "dry-run") // a plan removes nothing
	w.policy("", "trim", "off")
	w.clock.advance(triggerGap)
	w.want(w.settle(), "plan expire a, cleanup a")
	w.clock.advance(triggerGap)
	w.want(w.settle(), "cleanup a")
	w.policy("", "expire", "on")
	w.policy("", "trim", "on")
	w.policy("", "trigger-snapshots", "none")
	w.clock.advance(10 * time.Hour) // the oldest is 9 hours old at the begin
	w.want(w.settle(), "expire a, trim a, cleanup a")
}

// Counts of files scheduled ask for cleanup alone, bytes of ended files for all.
func TestTriggerOf(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	l := Measure{At: now, Snapshots: 5, Oldest: now.Add(-9 * time.Hour), Free: now.Add(-time.Hour), Scheduled: 7, EndedBytes: 100}
	for _, c := range []struct {
		t    gc.Triggers
		k    gc.Kind
		want string
	}{
		{gc.Triggers{Files: 7}, gc.Cleanup, "trigger-files"},
		{gc.Triggers{Files: 8}, gc.Cleanup, ""},
		{gc.Triggers{Files: 7}, gc.Expire, ""},
		{gc.Triggers{Bytes: 100}, gc.Expire, "trigger-bytes"},
		{gc.Triggers{Bytes: 101}, gc.Expire, ""},
		{gc.Triggers{Age: time.Hour}, gc.Trim, "trigger-age"},
		{gc.Triggers{Age: time.Hour + 1}, gc.Trim, ""},
		{gc.Triggers{Snapshots: 1}, gc.Fsck, ""},
		{gc.Triggers{}, gc.Expire, ""},
	} {
		if got := l.trigger(c.t, c.k, now); got != c.want {
			t.Errorf("%+v for %s: %q, want %q", c.t, c.k, got, c.want)
		}
	}
	if got := (&Measure{}).trigger(gc.Triggers{Snapshots: 1}, gc.Expire, now); got != "" {
		t.Errorf("of a lake that was not measured: %q", got)
	}
}

// A policy that cannot be read stops the lakes that it covers, and nothing else; who asks
// for a job there hears why, and may look at a plan.
func TestProblemsStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	w.policy("", "maintenance", "on")
	w.raw("a", "retain_age", "30d")
	w.want(w.settle(), "expire b, trim b, cleanup b, plan orphans b, fsck b")
	_, err := w.m.Submit(context.Background(), Ask{Catalog: "lake", Lake: "a", Kinds: []gc.Kind{gc.Trim}, By: "ann"})
	if !errors.Is(err, ErrProblems) || !errors.Is(err, gc.ErrPolicy) {
		t.Error(err)
	}
	if _, err := w.m.Submit(context.Background(), Ask{Catalog: "lake", Lake: "a", Kinds: []gc.Kind{gc.Trim}, DryRun: true}); err != nil {
		t.Error(err)
	}
	list, err := w.m.Status(context.Background(), "lake", "a")
	must(t, err)
	if list[0].State != "blocked" {
		t.Errorf("%+v", list[0])
	}
	contains(t, list[0].Problem, "lake a", "it is spelt retain-age")
	was, err := w.m.ResetPolicy(context.Background(), "lake", gc.Setting{Scope: gc.Scope{Lake: "a"}, Name: "retain_age"})
	if err != nil || !was {
		t.Fatal(was, err)
	}
	w.want(w.settle(), "plan trim a, expire a, trim a, cleanup a, plan orphans a, fsck a")
}

// Pauses outlast the manager, hold up what is due and what is asked for, and not plans.
func TestPauses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	ctx := context.Background()
	w.policy("", "maintenance", "on")
	must(t, w.m.Pause(ctx, "lake", Pause{Kind: gc.Trim, By: "ann", Note: "initial load"}))
	w.want(w.settle(), "expire a, cleanup a, plan orphans a, fsck a")
	must(t, w.m.Pause(ctx, "lake", Pause{By: "ben"}))
	w.clock.advance(30 * 24 * time.Hour)
	w.m = w.manager(Options{})
	w.want(w.settle(), "")
	if _, err := w.m.Submit(ctx, Ask{Catalog: "lake", Kinds: []gc.Kind{gc.Expire}}); !errors.Is(err, gc.ErrPaused) {
		t.Error(err)
	}
	_, err := w.m.Submit(ctx, Ask{Catalog: "lake", Kinds: []gc.Kind{gc.Expire}, DryRun: true})
	must(t, err)
	w.want(w.settle(), "plan expire a")
	if err := w.m.Resume(ctx, "lake", gc.Fsck, "ann"); !errors.Is(err, ErrNotPaused) {
		t.Error(err)
	}
	must(t, w.m.Resume(ctx, "lake", "", "ann"))
	w.want(w.settle(), "expire a, trim a, cleanup a, plan orphans a, fsck a")
	if err := w.m.Resume(ctx, "lake", "", "ann"); !errors.Is(err, ErrNotPaused) {
		t.Error(err)
	}
}

// A crash leaves a job as running: the next server marks it and starts it again, at once the
// first time, and after a while if that ended the server as well.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	for _, k := range []string{"trim", "cleanup", "orphans", "fsck"} {
		w.policy("", k, "off")
	}
	w.policy("", "maintenance", "on")
	crash := func(id int64, s State) {
		e := Entry{ID: id, Lake: "a", Kind: gc.Expire, State: s, Asked: w.clock.Now(), AskedBy: gc.Scheduler}
		must(t, w.m.record(context.Background(), w.cat, &e))
		w.m = w.manager(Options{})
	}
	crash(7, Running)
	w.want(w.settle(), "expire a")
	w.want(w.states(), "7 expire interrupted, 8 expire done")
	w.clock.advance(24 * time.Hour)
	crash(9, Queued)
	crash(10, Running)
	w.want(w.settle(), "")
	w.clock.advance(10 * time.Minute)
	w.want(w.settle(), "expire a")
	w.want(w.states(), "7 expire interrupted, 8 expire done, 9 expire interrupted, 10 expire interrupted, 11 expire done")
}

// The history is bounded, and keeps what tells when the next job is due.
func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.m = w.manager(Options{History: 3})
	w.policy("", "maintenance", "on")
	w.policy("", "trim", "off")
	w.policy("", "cleanup", "off")
	w.policy("", "orphans", "off")
	w.policy("", "every", "1m")
	w.want(w.settle(), "expire a, fsck a")
	for range 5 {
		w.clock.advance(time.Minute)
		w.want(w.settle(), "expire a")
	}
	w.want(w.states(), "2 fsck done, 5 expire done, 6 expire done, 7 expire done")
	w.m = w.manager(Options{History: 3})
	w.want(w.settle(), "")
}

// What somebody has asked for with other policies than those that are set says nothing
// about what is due.
func TestOverridesAreNoRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.policy("", "maintenance", "on")
	w.want(w.settle(), "expire a, trim a, cleanup a, plan orphans a, fsck a")
	w.clock.advance(23 * time.Hour)
	ask := Ask{Catalog: "lake", Lake: "a", Kinds: []gc.Kind{gc.Expire}, By: "ann"}
	ask.Overrides = map[string]string{"retain-count": "5"}
	w.log.do[gc.Expire] = func(_ context.Context, r *gc.Request) (gc.Result, error) {
		w.log.add("%+v", r.Policies.Retention().Count)
		return gc.Result{}, nil
	}
	_, err := w.m.Submit(context.Background(), ask)
	must(t, err)
	w.want(w.settle(), "expire a, 5")
	ask.Overrides = nil
	ask.Kinds = []gc.Kind{gc.Trim}
	_, err = w.m.Submit(context.Background(), ask)
	must(t, err)
	w.want(w.settle(), "trim a")
	w.clock.advance(time.Hour)
	w.want(w.settle(), "expire a, 0, cleanup a")
	ask.Overrides = map[string]string{"retain-count": "few"}
	if _, err := w.m.Submit(context.Background(), ask); !errors.Is(err, gc.ErrPolicy) {
		t.Error(err)
	}
}

// A measurement counts what a lake holds, and says when it has not read all.
func TestMeasure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lake("a", 5)
	w.write(func(txn *store.Txn) error {
		l, err := meta.Open(txn, "a")
		if err != nil {
			return err
		}
		for name, cols := range map[string][]string{
			"ducklake_table":                        {"table_id", "begin_snapshot", "end_snapshot"},
			"ducklake_data_file":                    {"data_file_id", "table_id", "file_size_bytes", "record_count", "begin_snapshot", "end_snapshot"},
			"ducklake_file_column_stats":            {"data_file_id", "table_id", "column_id"},
			"ducklake_files_scheduled_for_deletion": {"data_file_id", "path text"},
			"ducklake_inlined_data_1_2":             {"row_id"},
			"ducklake_inlined_data_9_2":             {"row_id"},
			"ducklake_inlined_data_tables":          {"table_id"},
			"ducklake_metadata":                     {"key text", "value text"},
		} {
			if err := metatest.CreateTable(txn, l.Schema(), name, cols...); err != nil {
				return err
			}
		}
		n := func(table string, cols string, vals ...int64) {
			v := meta.Values{}
			i := 0
			for c := range fieldsOf(cols) {
				if vals[i] >= 0 {
					v[c] = meta.Int(vals[i])
				}
				i++
			}
			must(t, l.Table(table).Insert(v))
		}
		n("ducklake_table", "table_id begin_snapshot end_snapshot", 1, 0, -1)
		n("ducklake_table", "table_id begin_snapshot end_snapshot", 2, 0, 3)
		n("ducklake_data_file", "data_file_id file_size_bytes record_count begin_snapshot end_snapshot", 1, 100, 10, 0, -1)
		n("ducklake_data_file", "data_file_id file_size_bytes record_count begin_snapshot end_snapshot", 2, 50, 5, 0, 2)
		for _, f := range []int64{1, 2, 3, 4} {
			n("ducklake_file_column_stats", "data_file_id column_id", f, 1)
		}
		for i, p := range []string{"x", "x", "y"} {
			must(t, l.Table("ducklake_files_scheduled_for_deletion").Insert(meta.Values{"data_file_id": meta.Int(int64(i)), "path": meta.Str(p)}))
		}
		return l.Table("ducklake_metadata").Insert(meta.Values{"key": meta.Str("version"), "value": meta.Str("1.0")})
	})
	look := func(limit int) (x Measure) {
		must(t, meta.Read(context.Background(), w.cat, func(txn *store.Txn) error {
			l, err := meta.Open(txn, "a")
			if err != nil {
				return err
			}
			x, err = measureLake(context.Background(), l, map[int64]bool{0: true}, limit)
			return err
		}))
		return x
	}
	got := look(100)
	now := w.clock.Now()
	want := Measure{
		Complete: true, Version: "1.0", Snapshots: 5, NewestID: 4, Oldest: now.Add(-4 * time.Hour), Newest: now, Free: now.Add(-3 * time.Hour), Tables: 1, EndedTables: 1,
		Files: 1, FileBytes: 100, FileRows: 10, EndedFiles: 1, EndedBytes: 50, Scheduled: 3, ScheduledPaths: 2,
		InlinedTables: 2, UnreachableInlined: 1, FileStats: 4, FileStatsOrphaned: 2,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got = look(3); got.Complete || got.Snapshots != 5 || got.FileStats != 3 || got.FileStatsOrphaned != 0 {
		t.Errorf("with a limit: %+v", got)
	}
}
