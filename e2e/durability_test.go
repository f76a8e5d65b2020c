package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	kills   = 24
	writers = 4
)

// TestDurability kills the server with SIGKILL in the middle of commits, again and again on one data folder. After each restart every commit
// that was acknowledged must be there, whole; one that was not acknowledged may be there, but whole as well.
func TestDurability(t *testing.T) {
	s := privateEider(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	const db = "durable"
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	setup, err := pgconn.Connect(ctx, s.DSN(db))
	if err != nil {
		t.Fatal(err)
	}
	mustExec(ctx, t, setup, "CREATE TABLE a (w int, n int, pad text, PRIMARY KEY (w, n)); CREATE TABLE b (w int, n int); CREATE TABLE c (w int PRIMARY KEY, n int)")
	for w := range writers {
		mustExec(ctx, t, setup, fmt.Sprintf("INSERT INTO c VALUES (%d, 0)", w))
	}
	_ = setup.Close(ctx)

	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) // when the kill comes is left to chance on purpose
	acked := make([]atomic.Int64, writers)
	total := int64(0)
	for k := range kills {
		var wg sync.WaitGroup
		started := make(chan struct{}, writers)
		for w := range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				write(ctx, t, s.DSN(db), w, &acked[w], started)
			}()
		}
		// At least one commit of every writer, then a little more.
		for range writers {
			<-started
		}
		time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
		s.Kill()
		wg.Wait()
		if err := s.Launch(ctx); err != nil {
			t.Fatalf("after kill %d: %v", k+1, err)
		}
		total = verify(ctx, t, s.DSN(db), acked)
		if t.Failed() {
			t.Fatalf("after kill %d", k+1)
		}
	}
	t.Logf("%d kills, %d commits", kills, total)
}

// write commits until the connection breaks. Each commit spans three tables, every eighth creates a table too.
func write(ctx context.Context, t *testing.T, dsn string, w int, acked *atomic.Int64, started chan<- struct{}) {
	first := true
	defer func() {
		if first {
			started <- struct{}{}
		}
	}()
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Errorf("writer %d: %v", w, err)
		return
	}
	defer c.Close(ctx)
	for n := acked.Load() + 1; ; n++ {
		sql := fmt.Sprintf("INSERT INTO a VALUES (%[1]d, %[2]d, repeat('x', %[3]d)); INSERT INTO b VALUES (%[1]d, %[2]d); UPDATE c SET n = %[2]d WHERE w = %[1]d", w, n, n%500)
		if n%8 == 0 {
			sql += fmt.Sprintf("; CREATE TABLE t_%d_%d (i int); INSERT INTO t_%d_%d VALUES (%d)", w, n, w, n, n)
		}
		if _, err = c.Exec(ctx, "BEGIN; "+sql).ReadAll(); err == nil {
			_, err = c.Exec(ctx, "COMMIT").ReadAll()
		}
		if err != nil {
			var e *pgconn.PgError
			if errors.As(err, &e) {
				t.Errorf("writer %d, commit %d: %v", w, n, err)
			}
			return
		}
		acked.Store(n)
		if first {
			first = false
			started <- struct{}{}
		}
	}
}

// verify reads back every writer's commits and takes over what was committed without an acknowledgement.
func verify(ctx context.Context, t *testing.T, dsn string, acked []atomic.Int64) int64 {
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	total := int64(0)
	number := func(sql string) int64 {
		n, err := strconv.ParseInt(one(ctx, t, c, sql), 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	for w := range acked {
		n := number(fmt.Sprintf("SELECT n FROM c WHERE w = %d", w))
		ack := acked[w].Load()
		if n < ack || n > ack+1 {
			t.Errorf("writer %d: commit %d was acknowledged, the server has %d", w, ack, n)
		}
		for _, table := range []string{"a", "b"} {
			got := one(ctx, t, c, fmt.Sprintf("SELECT count(*) || ' ' || count(DISTINCT n) || ' ' || coalesce(max(n), 0) FROM %s WHERE w = %d", table, w))
			if want := fmt.Sprintf("%d %d %d", n, n, n); got != want {
				t.Errorf("writer %d: table %s has %s (rows, distinct, last), want %s", w, table, got, want)
			}
		}
		if got := number(fmt.Sprintf("SELECT count(*) FROM a WHERE w = %d AND length(pad) <> n %% 500", w)); got != 0 {
			t.Errorf("writer %d: %d rows of wrong content", w, got)
		}
		if got := number(fmt.Sprintf(`SELECT count(*) FROM pg_class WHERE relname LIKE 't\_%d\_%%' AND relkind = 'r'`, w)); got != n/8 {
			t.Errorf("writer %d: %d tables after %d commits, want %d", w, got, n, n/8)
		}
		if n >= 8 {
			last := n / 8 * 8
			if got := number(fmt.Sprintf("SELECT i FROM t_%d_%d", w, last)); got != last {
				t.Errorf("writer %d: table of commit %d holds %d", w, last, got)
			}
		}
		acked[w].Store(n)
		total += n
	}
	return total
}
