package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/materialize/state"
)

// stateClock gives times one second apart.
func stateClock() func() time.Time {
	var mu sync.Mutex
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
}

func openState(ctx context.Context, t *testing.T, dsn string, o state.Options) *state.Store {
	t.Helper()
	s, err := state.Open(ctx, dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// TestMaterializeState records runs and reads them again.
func TestMaterializeState(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		if _, err := state.Open(ctx, dsn, state.Options{ReadOnly: true}); !errors.Is(err, state.ErrNone) {
			t.Fatalf("reading where nothing was run: %v", err)
		}
		s := openState(ctx, t, dsn, state.Options{Now: stateClock()})
		asset := state.Asset{Kind: "ducklake", Path: "analytics/o'rders"}
		n := func(v int64) *int64 { return &v }

		first := state.Run{Script: "a/b", Asset: asset, Partition: "2026-01-01", Strategy: "replace", Trigger: "by hand", Owner: "here", ScriptHash: "h1"}
		if err := s.Begin(ctx, &first); err != nil {
			t.Fatal(err)
		}
		slices := func() []state.Slice {
			list, err := s.Slices(ctx, asset)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		if got := slices(); len(got) != 1 || got[0].Status != state.Running || got[0].Run != first.ID {
			t.Fatalf("after the beginning: %+v", got)
		}
		first.Sources = map[string]int64{"lake/main.t": 7}
		first.Outcome = state.Outcome{
			Snapshot: n(8), Rows: n(3), Columns: []state.Column{{Name: "a", Type: "INTEGER"}},
			Tests: []state.Test{{Name: "unique(a)", Violating: 0}, {Name: `x"'`, Violating: 2, Sample: json.RawMessage(`[{"a":1}]`)}},
		}
		for _, kind := range []string{"setup", "write", "écrit\x00"} {
			if err := s.Event(ctx, first.ID, kind, kind+" '1'"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finish(ctx, &first, state.Materialized, nil); err != nil {
			t.Fatal(err)
		}
		if first.SchemaVersion == nil || *first.SchemaVersion != 1 {
			t.Errorf("the first columns have version %v", first.SchemaVersion)
		}

		second := state.Run{Script: "a/b", Asset: asset, Partition: "2026-01-02", Strategy: "replace", Trigger: "by hand", Owner: "here", Attempt: 2}
		if err := s.Begin(ctx, &second); err != nil {
			t.Fatal(err)
		}
		second.Outcome = state.Outcome{Snapshot: n(9), Columns: first.Columns, Error: "it broke\x00" + strings.Repeat("é", 100_000)}
		if err := s.Finish(ctx, &second, state.Failed, nil); err != nil {
			t.Fatal(err)
		}
		third := state.Run{Script: "a/b", Asset: asset, Partition: "2026-01-03", Strategy: "replace", Trigger: "by hand", Owner: "here"}
		if err := s.Skip(ctx, &third); err != nil {
			t.Fatal(err)
		}
		changed := state.Run{Script: "a/b", Asset: asset, Partition: "2026-01-01", Strategy: "replace", Trigger: "by hand", Owner: "here"}
		changed.Columns = []state.Column{{Name: "a", Type: "BIGINT"}}
		if err := s.Finish(ctx, &changed, state.Materialized, nil); err != nil { // a run that could not be begun
			t.Fatal(err)
		}
		again := state.Run{Script: "a/b", Asset: asset, Partition: "2026-01-01", Strategy: "replace", Trigger: "by hand", Owner: "here"}
		again.Columns = changed.Columns
		if err := s.Finish(ctx, &again, state.Materialized, nil); err != nil {
			t.Fatal(err)
		}
		if *changed.SchemaVersion != 2 || *again.SchemaVersion != 2 {
			t.Errorf("versions %d and %d, want 2 for both", *changed.SchemaVersion, *again.SchemaVersion)
		}

		got := slices()
		if len(got) != 2 || got[0].Partition != "2026-01-02" || got[0].Status != state.Failed || got[1].Status != state.Materialized || got[1].Run != again.ID {
			t.Errorf("the partitions are %+v", got)
		}
		runs, err := s.Runs(ctx, state.Filter{Asset: asset, Script: "a/b"})
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != 5 || runs[0].ID != again.ID || runs[4].ID != first.ID {
			t.Fatalf("the runs are %+v", runs)
		}
		want := first
		want.Columns = nil // are in the schemas
		if diff := cmp.Diff(want, runs[4]); diff != "" {
			t.Errorf("the first run reads otherwise (-written +read):\n%s", diff)
		}
		if e := runs[3].Error; !strings.HasPrefix(e, "it broke\uFFFDé") || len(e) > 66_000 || !strings.HasSuffix(e, "…") {
			t.Errorf("the long error is %d bytes: %.40q", len(e), e)
		}
		empty := ""
		if some, err := s.Runs(ctx, state.Filter{Partition: &empty, Status: state.Skipped, Limit: 1}); err != nil || len(some) != 0 {
			t.Errorf("skipped without partition: %v, %v", some, err)
		}
		versions, err := s.Schemas(ctx, asset, 0)
		if err != nil || len(versions) != 2 || versions[0].Version != 2 || versions[0].Columns[0].Type != "BIGINT" {
			t.Errorf("versions: %+v, %v", versions, err)
		}
		events, err := s.Events(ctx, first.ID)
		if err != nil || len(events) != 3 || events[2].Seq != 3 || events[2].Kind != "écrit\uFFFD" {
			t.Errorf("events: %+v, %v", events, err)
		}

		c := connect(ctx, t, dsn)
		mustExec(ctx, t, c, "UPDATE eider_materialize.meta SET value = '2'")
		if _, err := state.Open(ctx, dsn, state.Options{}); !errors.Is(err, state.ErrNewer) {
			t.Errorf("tables of a newer version: %v", err)
		}
	})
}

// TestMaterializeStateFirstUsers opens the state of one catalog for the first time in many sessions at once.
func TestMaterializeStateFirstUsers(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		errs := make(chan error, 16)
		for range cap(errs) {
			go func() {
				s, err := state.Open(ctx, dsn, state.Options{})
				if err == nil {
					err = s.Begin(ctx, &state.Run{Script: "s", Asset: state.Asset{Kind: "ducklake", Path: "l/t"}})
					_ = s.Close(context.Background())
				}
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		s := openState(ctx, t, dsn, state.Options{})
		if runs, err := s.Runs(ctx, state.Filter{}); err != nil || len(runs) != cap(errs) {
			t.Errorf("%d runs, %v", len(runs), err)
		}
	})
}

// TestMaterializeLock waits for an asset's lock, and takes over from an owner that is gone.
func TestMaterializeLock(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		asset, other := state.Asset{Kind: "ducklake", Path: "l/t"}, state.Asset{Kind: "ducklake", Path: "l/u"}
		a, b := openState(ctx, t, dsn, state.Options{Now: stateClock()}), openState(ctx, t, dsn, state.Options{Now: stateClock()})
		if err := a.Lock(ctx, asset, func(*state.Run) { t.Error("the first one waits") }); err != nil {
			t.Fatal(err)
		}
		run := state.Run{Script: "s", Asset: asset, Owner: "host process 7"}
		if err := a.Begin(ctx, &run); err != nil {
			t.Fatal(err)
		}
		if ok, err := b.TryLock(ctx, asset); ok || err != nil {
			t.Fatalf("a second lock: %v, %v", ok, err)
		}
		if ok, err := b.TryLock(ctx, other); !ok || err != nil {
			t.Fatalf("another asset's lock: %v, %v", ok, err)
		}
		if lost, err := b.ReclaimAll(ctx); err != nil || len(lost) != 0 {
			t.Fatalf("a run at work is taken for lost: %v, %v", lost, err)
		}
		waits, done := make(chan string, 1), make(chan error, 1)
		go func() {
			done <- b.Lock(ctx, asset, func(r *state.Run) { waits <- r.Owner })
		}()
		if by := <-waits; by != "host process 7" {
			t.Errorf("it waits for %q", by)
		}
		if err := a.Close(ctx); err != nil { // as the end of a process does
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		lost, err := b.Reclaim(ctx, asset)
		if err != nil || len(lost) != 1 || lost[0].ID != run.ID {
			t.Fatalf("lost runs: %+v, %v", lost, err)
		}
		slices, err := b.Slices(ctx, asset)
		if err != nil || len(slices) != 1 || slices[0].Status != state.Failed || !strings.Contains(slices[0].Error, "its owner is gone (host process 7, since 2026-05-01") {
			t.Errorf("the slice is %+v, %v", slices, err)
		}
		if err := b.Unlock(ctx, asset); err != nil {
			t.Fatal(err)
		}
		if err := b.Begin(ctx, &run); err != nil {
			t.Fatal(err)
		}
		c := openState(ctx, t, dsn, state.Options{})
		if lost, err := c.ReclaimAll(ctx); err != nil || len(lost) != 1 {
			t.Errorf("lost runs of all assets: %+v, %v", lost, err)
		}

		// A connection that is cut is made again to record what came of the run.
		d := openState(ctx, t, dsn, state.Options{Application: "cut me"})
		if err := d.Begin(ctx, &run); err != nil {
			t.Fatal(err)
		}
		mustExec(ctx, t, connect(ctx, t, dsn), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut me'")
		if err := d.Alive(ctx); !errors.Is(err, state.ErrLost) {
			t.Errorf("after the cut: %v", err)
		}
		if err := d.Finish(ctx, &run, state.Materialized, nil); err != nil {
			t.Errorf("recording after the cut: %v", err)
		}
	})
}

// TestMaterializeSource asks which tables have changed, and is told of commits.
func TestMaterializeSource(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		if _, err := state.OpenSource(ctx, dsn, ""); !errors.Is(err, state.ErrNoLake) {
			t.Fatalf("a database without a lake: %v", err)
		}
		s := lakeSession(ctx, t, dsn, t.TempDir())
		for _, sql := range []string{
			"CREATE TABLE t AS SELECT range i FROM range(10)", "CREATE TABLE u (i INT)", "CREATE SCHEMA s", "CREATE TABLE s.t (i INT)", "CREATE VIEW v AS FROM t",
		} {
			mustDuck(ctx, t, s, sql)
		}
		src, err := state.OpenSource(ctx, dsn, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = src.Close(context.Background()) })
		names := []state.TableName{{Schema: "main", Name: "T"}, {Schema: "main", Name: "u"}, {Schema: "s", Name: "t"}, {Schema: "main", Name: "v"}, {Schema: "main", Name: "none"}}
		since := int64(headSnapshot(ctx, t, dsn))
		changed := func() string {
			got, err := src.Changes(ctx, since, names)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, n := range names {
				if c := got[n]; !c.Known {
					out = append(out, n.Name+" unknown")
				} else if c.Snapshot > 0 {
					out = append(out, fmt.Sprintf("%s.%s +%d", n.Schema, n.Name, c.Snapshot-since))
				}
			}
			return strings.Join(out, ", ")
		}
		for _, step := range []struct{ sql, want string }{
			{"SELECT 1", "none unknown"},
			{"INSERT INTO u VALUES (1)", "main.u +1, none unknown"},
			{"CALL ducklake_flush_inlined_data('lake')", "main.u +1, none unknown"},
			{"DELETE FROM t WHERE i = 3", "main.T +3, main.u +1, none unknown"},
			{"ALTER TABLE s.t ADD COLUMN j INT", "main.T +3, main.u +1, s.t +4, none unknown"},
			{"CREATE OR REPLACE VIEW v AS FROM u", "main.T +3, main.u +1, s.t +4, main.v +5, none unknown"},
			{"DROP TABLE u", "main.T +3, u unknown, s.t +4, main.v +5, none unknown"},
			{"CREATE TABLE u AS SELECT 1 AS i", "main.T +3, main.u +7, s.t +4, main.v +5, none unknown"},
			{"UPDATE t SET i = 4 WHERE i = 5", "main.T +8, main.u +7, s.t +4, main.v +5, none unknown"},
		} {
			mustDuck(ctx, t, s, step.sql)
			if got := changed(); got != step.want {
				t.Errorf("after %s: %s, want %s", step.sql, got, step.want)
			}
		}
		head := int64(headSnapshot(ctx, t, dsn))
		mustDuck(ctx, t, s, fmt.Sprintf("CALL ducklake_expire_snapshots('lake', versions => [%d])", since+2))
		if got, want := changed(), "main.T +8, main.u +7, s.t +4, main.v +5, none unknown"; got != want {
			t.Errorf("after an expiry: %s, want %s", got, want)
		}
		since = head - 1
		mustDuck(ctx, t, s, fmt.Sprintf("CALL ducklake_expire_snapshots('lake', versions => [%d])", since))
		if got, want := changed(), "main.T +1, u unknown, t unknown, v unknown, none unknown"; got != want {
			t.Errorf("after an expiry of what was read: %s, want %s", got, want)
		}

		follow, stop := context.WithCancel(ctx)
		heads, done := make(chan int64, 100), make(chan error, 1)
		watched, err := state.OpenSource(ctx, dsn, "")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			done <- watched.Follow(follow, state.WaitOptions{Poll: 20 * time.Millisecond}, func(h int64) { heads <- h }, nil)
		}()
		if h := <-heads; h != head {
			t.Errorf("it begins with head %d, want %d", h, head)
		}
		mustDuck(ctx, t, s, "INSERT INTO u VALUES (2)")
		if h := <-heads; h != head+1 {
			t.Errorf("it goes on with head %d, want %d", h, head+1)
		}
		mustExec(ctx, t, connect(ctx, t, dsn), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'eider materialize'")
		mustDuck(ctx, t, s, "INSERT INTO u VALUES (3)")
		if h := <-heads; h != head+2 {
			t.Errorf("after the connection was cut: head %d, want %d", h, head+2)
		}
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}
