package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/storm"
)

// A writer that was told which snapshot the one before it would leave finds it, though that one rolls back: the server adds a snapshot which changes
// nothing. DuckDB reads it, lists it, commits and retries after it, and expires it as any other.
func TestFilledSnapshot(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	target := privateEider(t)
	s := &rawStorm{target: target, db: newDatabase(), data: t.TempDir(), acked: map[int64]int64{}}
	if err := target.CreateDatabase(ctx, s.db); err != nil {
		t.Fatal(err)
	}
	s.table = rawLake(ctx, t, target.DSN(s.db), s.data)
	c := connect(ctx, t, s.target.DSN(s.db))
	newest := func() int64 {
		var n int64
		res, err := c.Exec(ctx, "SELECT max(snapshot_id) FROM ducklake_snapshot").ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(res[0].Rows[0][0]), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	a, b, loser := s.open(ctx, t), s.open(ctx, t), s.open(ctx, t)
	for range 10 { // everybody knows what they write
		for _, w := range []*storm.Raw{a, b} {
			if o := s.commit(ctx, w); o.Err != nil {
				t.Fatal(o.Err)
			}
		}
	}
	if err := loser.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if o := s.commit(ctx, a); o.Err != nil {
		t.Fatal(o.Err)
	}
	if _, err := loser.Finish(ctx, s.next()); !storm.LostRace(err) {
		t.Fatalf("a lost race: %v", err)
	}
	if err := loser.Rollback(ctx); err != nil {
		t.Fatal(err)
	}

	w, err := storm.OpenWriter(ctx, s.target.DSN(s.db), s.data)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	mustDuck(ctx, t, w, "CREATE TABLE lake.other (i INTEGER)")
	mustDuck(ctx, t, w, "BEGIN")
	mustDuck(ctx, t, w, "INSERT INTO lake.other SELECT range FROM range(100)")

	base := newest()
	if err := a.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if n := newest(); n != base {
		t.Fatalf("snapshot %d, though nobody has committed since %d", n, base)
	}
	if err := a.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	v := s.next()
	snap, err := b.Finish(ctx, v)
	if err != nil {
		t.Fatal(err)
	}
	s.ack(snap, v)
	if snap != base+2 {
		t.Fatalf("the commit made snapshot %d on top of %d: nothing was told", snap, base)
	}

	// It began before the filled snapshot and commits after it: the client reads whether the changes in between are in its way.
	mustDuck(ctx, t, w, "COMMIT")
	query := func(want, sql string, args ...any) {
		t.Helper()
		res, err := w.Query(ctx, fmt.Sprintf(sql, args...))
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if got := fmt.Sprint(res.Rows); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	query(fmt.Sprintf("[[%d {}]]", base+1), "SELECT snapshot_id, changes FROM lake.snapshots() WHERE snapshot_id = %d", base+1)
	query("[[true]]", "SELECT (SELECT list(i ORDER BY i) FROM lake.t AT (VERSION => %d)) = (SELECT list(i ORDER BY i) FROM lake.t AT (VERSION => %d))", base, base+1)
	query("[[0]]", "SELECT count(*) FROM ducklake_table_changes('lake', 'main', 't', %d, %d)", base+1, base+1)
	query("[[1]]", "SELECT count(*) FROM ducklake_table_changes('lake', 'main', 't', %d, %d)", base+1, base+2)

	query("[[100]]", "SELECT count(*) FROM lake.other")
	mustDuck(ctx, t, w, fmt.Sprintf("CALL ducklake_expire_snapshots('lake', versions => [%d])", base+1))
	query("[[0]]", "SELECT count(*) FROM lake.snapshots() WHERE snapshot_id = %d", base+1)
	if err := healthy(ctx, target, s.db); err != nil {
		t.Error(err)
	}
}
