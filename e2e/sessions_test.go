package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestManySessions opens 300 sessions of which 16 work, and checks that all 300 answer afterwards and that the work is complete.
func TestManySessions(t *testing.T) {
	s := needEider(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	db := newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.DropDatabase(ctx, db) }()
	setup := connect(ctx, t, s.DSN(db))
	mustExec(ctx, t, setup, "CREATE TABLE t (w int, n int, PRIMARY KEY (w, n))")

	const open, working, rounds = 300, 16, 40
	conns := make([]*pgconn.PgConn, open)
	for i := range conns {
		conns[i] = connect(ctx, t, s.DSN(db))
	}
	var wg sync.WaitGroup
	errs := make([]error, working)
	for w := range working {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := conns[w*open/working]
			for n := range rounds {
				for _, sql := range []string{
					"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ",
					fmt.Sprintf("SELECT count(*) FROM t WHERE w = %d", w),
					fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", w, n),
					"COMMIT", "SELECT 1", "DISCARD ALL",
				} {
					if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
						errs[w] = fmt.Errorf("%s: %w", sql, err)
						return
					}
				}
			}
		}()
	}
	wg.Wait()
	for w, err := range errs {
		if err != nil {
			t.Errorf("worker %d: %v", w, err)
		}
	}
	for i, c := range conns {
		if got := one(ctx, t, c, "SELECT 1"); got != "1" {
			t.Fatalf("session %d answers %s", i, got)
		}
	}
	if n := one(ctx, t, setup, "SELECT count(*) FROM t"); n != fmt.Sprint(working*rounds) {
		t.Errorf("%s rows, want %d", n, working*rounds)
	}
}

// B33c: 400 sessions are opened, each with one query, and kept. The last answers within 100 ms. PostgreSQL refuses at max_connections.
func TestB33c(t *testing.T) {
	s := needEider(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var last *pgconn.PgConn
	for i := range 400 {
		last = connect(ctx, t, s.DSN("postgres"))
		if got := one(ctx, t, last, "SELECT 1"); got != "1" {
			t.Fatalf("session %d answers %s", i, got)
		}
	}
	// The best of some: tests beside this one take the processor now and then.
	best := time.Hour
	for range 10 {
		began := time.Now()
		one(ctx, t, last, "SELECT 1")
		best = min(best, time.Since(began))
	}
	if best > 100*time.Millisecond {
		t.Errorf("the last of 400 sessions answers in %v", best)
	}
}

// B32: a transaction reads, inserts and is idle for 20 s while another client commits to another table, again and again. The first keeps its
// snapshot and commits, the second is never held up.
func TestB32(t *testing.T) {
	const idle, heldUp = 20 * time.Second, 5 * time.Second
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		a, b := openLake(ctx, t, dsn, data), openLake(ctx, t, dsn, data)
		a.must(ctx, t, "CREATE TABLE lake.t (i INTEGER)", "CREATE TABLE lake.u (i INTEGER)", "INSERT INTO lake.t VALUES (1)")
		a.must(ctx, t, "BEGIN")
		if got := a.rows(ctx, t, "SELECT (SELECT count(*) FROM lake.t), (SELECT count(*) FROM lake.u)"); got != "1 | 0" {
			t.Fatalf("A reads %s", got)
		}
		a.must(ctx, t, "INSERT INTO lake.t VALUES (2)")
		n := 0
		for end := time.Now().Add(idle); time.Now().Before(end); n++ {
			within, cancel := context.WithTimeout(ctx, heldUp)
			b.must(within, t, fmt.Sprintf("INSERT INTO lake.u VALUES (%d)", n))
			cancel()
		}
		if got := a.rows(ctx, t, "SELECT (SELECT count(*) FROM lake.t), (SELECT count(*) FROM lake.u)"); got != "2 | 0" {
			t.Errorf("A reads %s after %d commits of B", got, n)
		}
		a.must(ctx, t, "COMMIT")
		if got, want := openLake(ctx, t, dsn, data).rows(ctx, t, "SELECT (SELECT count(*) FROM lake.t), (SELECT count(*) FROM lake.u)"), fmt.Sprintf("2 | %d", n); got != want {
			t.Errorf("in the end %s, want %s", got, want)
		}
		t.Logf("%s: %d commits of B", target.Name(), n)
	})
}
