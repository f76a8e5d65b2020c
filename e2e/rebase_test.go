package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// stats is answered from the statistics of table t.
const stats = "SELECT count(*), min(i), max(i) FROM lake.t"

// lose makes A lose the race for its snapshot: both begin, B commits, then A does. It returns A's attempts and what its COMMIT was answered with.
func lose(ctx context.Context, t *testing.T, a, b *lakeClient, ours, theirs string) (attempts int, err error) {
	t.Helper()
	a.must(ctx, t, "BEGIN", ours)
	b.must(ctx, t, "BEGIN", theirs, "COMMIT", stats) // B now remembers the statistics of A's table as its own snapshot has them
	a.Take()
	_, err = a.sess.Exec(ctx, "COMMIT")
	c := a.Take()
	if err == nil && c.Commits != 1 {
		t.Errorf("%s after %s: %d commits", ours, theirs, c.Commits)
	}
	if c.Attempts == 1 && err == nil && len(c.Errors) > 0 {
		t.Errorf("%s after %s: one attempt, and errors: %v", ours, theirs, c.Texts)
	}
	return c.Attempts, err
}

// TestRebase: with --rebase, an append that has lost only its ids commits at its first attempt. Both clients and a fresh one then read the same, and go
// on. What has lost more is the client's to repeat, or to give up; so is everything when the catalog says off.
func TestRebase(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := privateEider(t, "--rebase")
	dsn, data := s.DSN("lake"), t.TempDir()
	a, b := openLake(ctx, t, dsn, data), openLake(ctx, t, dsn, data)
	a.must(ctx, t, "CREATE TABLE lake.t (i INTEGER)", "CREATE TABLE lake.u (i INTEGER)", "CREATE TABLE lake.w (i INTEGER)", "INSERT INTO lake.w SELECT range FROM range(40)")
	b.must(ctx, t, "SELECT count(*) FROM lake.t")

	// Inlined rows and files, either beside either.
	next := 0
	insert := func(table string, rows int) string {
		next += rows
		return fmt.Sprintf("INSERT INTO lake.%s SELECT range FROM range(%d, %d)", table, next-rows, next)
	}
	for i, rows := range [][2]int{{2, 2}, {20, 20}, {2, 20}, {20, 2}} {
		attempts, err := lose(ctx, t, a, b, insert("t", rows[0]), insert("u", rows[1]))
		if attempts != 1 || err != nil {
			t.Errorf("%d rows after %d rows elsewhere: %d attempts, %v", rows[0], rows[1], attempts, err)
		}
		// Its own rows are the next thing that it reads; the receipt is the price of the switch.
		if got := a.rows(ctx, t, "SELECT count(*), count(DISTINCT rowid), max(rowid) FROM lake.t"); got != []string{"2 | 2 | 1", "22 | 22 | 21", "24 | 24 | 23", "44 | 44 | 43"}[i] {
			t.Errorf("A reads of its table: %s", got)
		}
		// What lies outside of the bounds that a client remembers is not looked for.
		newest := a.rows(ctx, t, "SELECT max(i + 0) FROM lake.t")
		if got := b.rows(ctx, t, "SELECT i FROM lake.t WHERE i = "+newest); got != newest {
			t.Errorf("B looks for row %s of A's table and finds %q", newest, got)
		}
		if got, want := b.rows(ctx, t, stats), a.rows(ctx, t, "SELECT count(i), min(i + 0), max(i + 0) FROM lake.t"); got != want {
			t.Errorf("B's statistics of A's table say %s, its rows %s", got, want)
		}
		receipt, head := a.rows(ctx, t, "SELECT id FROM lake.last_committed_snapshot()"), a.rows(ctx, t, "SELECT max(snapshot_id) FROM lake.snapshots()")
		if below := a.rows(ctx, t, "SELECT max(snapshot_id) - 1 FROM lake.snapshots()"); receipt != below {
			t.Errorf("the receipt is %s, the newest snapshot %s", receipt, head)
		}
	}

	// Where the line is.
	for _, c := range []struct {
		ours, theirs string
		attempts     int
		refused      string
	}{
		{insert("t", 2), "CREATE TABLE lake.other (i INTEGER)", 1, ""},
		{insert("t", 2), "DELETE FROM lake.w WHERE i = 0", 1, ""},
		{insert("t", 2), insert("t", 2), 2, ""},
		{insert("t", 20), insert("t", 20), 2, ""},
		{"CREATE TABLE lake.mine (i INTEGER)", insert("u", 2), 2, ""},
		{"ALTER TABLE lake.t ADD COLUMN s VARCHAR", insert("u", 2), 2, ""},
		{"DELETE FROM lake.w WHERE i = 1", insert("u", 2), 2, ""},
		{"UPDATE lake.w SET i = 1000 WHERE i = 2", insert("u", 20), 2, ""},
		{"INSERT INTO lake.u VALUES (1000000)", "ALTER TABLE lake.u ADD COLUMN s VARCHAR", 1, "Transaction conflict"},
	} {
		attempts, err := lose(ctx, t, a, b, c.ours, c.theirs)
		if attempts != c.attempts || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s after %s: %d attempts, want %d; %v", c.ours, c.theirs, attempts, c.attempts, err)
		}
		if err != nil {
			_, _ = a.sess.Exec(ctx, "ROLLBACK")
		}
	}

	// Everybody goes on, and reads the same at every snapshot.
	a.must(ctx, t, "DELETE FROM lake.t WHERE i = 1", "UPDATE lake.t SET s = 'x' WHERE i = 3 OR i = 5", "INSERT INTO lake.other VALUES (7)")
	b.must(ctx, t, "UPDATE lake.u SET s = 'y' WHERE i = 2", "INSERT INTO lake.mine VALUES (8)", "CALL ducklake_flush_inlined_data('lake')")
	fresh := openLake(ctx, t, dsn, data)
	read := []string{"SELECT snapshot_id, schema_version, changes FROM lake.snapshots() ORDER BY 1"}
	for _, table := range []string{"t", "u", "w", "other", "mine"} {
		read = append(read, "SELECT rowid, * FROM lake."+table+" ORDER BY rowid", "SELECT count(*), count(DISTINCT rowid) FROM lake."+table)
	}
	for _, id := range strings.Split(fresh.rows(ctx, t, "SELECT snapshot_id FROM lake.snapshots() WHERE snapshot_id >= 4 ORDER BY 1"), "; ") {
		for _, table := range []string{"t", "u", "w"} {
			read = append(read, fmt.Sprintf("SELECT rowid, i FROM lake.%s AT (VERSION => %s) ORDER BY rowid", table, id))
		}
	}
	for _, sql := range read {
		want := fresh.rows(ctx, t, sql)
		if strings.Contains(want, "Error") {
			t.Errorf("%s: %s", sql, want)
		}
		for name, c := range map[string]*lakeClient{"A": a, "B": b} {
			if got := c.rows(ctx, t, sql); got != want {
				t.Errorf("%s: %s reads %s, a fresh client %s", sql, name, got, want)
			}
		}
	}
	// What was inserted, and nothing else: next counts all rows of t and u.
	sum := fmt.Sprintf("%d | %d", next-1, next*(next-1)/2-1)
	if got := fresh.rows(ctx, t, "SELECT count(*), sum(i) FROM (SELECT i FROM lake.t UNION ALL SELECT i FROM lake.u)"); got != sum {
		t.Errorf("rows of both tables: %s, want %s", got, sum)
	}
	if found, err := script.FileFindings(ctx, dsn, data); err != nil || len(found) > 0 {
		t.Errorf("fsck: %v, %v", found, err)
	}

	mustExec(ctx, t, connect(ctx, t, dsn), "ALTER DATABASE lake SET eider.rebase = 'off'")
	if attempts, err := lose(ctx, t, a, b, "INSERT INTO lake.t VALUES (-1, 'z')", "INSERT INTO lake.u VALUES (-1, 'z')"); attempts != 2 || err != nil {
		t.Errorf("turned off: %d attempts, %v", attempts, err)
	}
}
