package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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

// B33c: 400 sessions are opened, each with one query, and kept. PostgreSQL refuses at max_connections.
func TestB33c(t *testing.T) {
	s := needEider(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for i := range 400 {
		c := connect(ctx, t, s.DSN("postgres"))
		if got := one(ctx, t, c, "SELECT 1"); got != "1" {
			t.Fatalf("session %d answers %s", i, got)
		}
	}
}
