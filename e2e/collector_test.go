package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/e2e/internal/storm"
)

// TestCollectorBesideWriters runs the server's own jobs without a pause, one begun every 100 ms, beside eight writers, merges, rewrites and flushes,
// and readers that keep their transactions open. Few snapshots are kept and no file is spared a moment longer than the rules say: no row is lost, no read
// fails, who has a transaction open reads the same to its end.
func TestCollectorBesideWriters(t *testing.T) {
	wl := workload{writers: 8, tables: 3, weights: storm.DML.Plus(storm.DDL), time: 20 * time.Second, maintenance: []string{callMerge, callRewrite, callFlush, callFlush}}
	if *soakFlag > 0 {
		wl.time = *soakFlag
	}
	if testing.Short() {
		t.Skip("storms are long; they run without -short")
	}
	ctx, cancel := context.WithTimeout(context.Background(), wl.time+4*time.Minute)
	defer cancel()
	root := t.TempDir()
	s := privateEider(t, "--delete-paths", root)
	data := filepath.Join(root, "lake")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	x := newWorldIn(ctx, t, s, newSeed(t), wl.tables, data)
	c, err := pgx.Connect(ctx, s.DSN(x.db))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for name, value := range map[string]string{"retain-count": "6", "orphans": "on"} {
		if _, err := c.Exec(ctx, "SELECT * FROM eider.gc_policy_set($1, $2)", pgx.QueryExecModeSimpleProtocol, name, value); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	stray := filepath.Join(data, "stray.parquet")
	old := time.Now().AddDate(0, -1, 0)
	if err := errors.Join(os.WriteFile(stray, []byte("nobody's"), 0o644), os.Chtimes(stray, old, old)); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(wl.time)
	var wg sync.WaitGroup
	wg.Add(2)
	done := map[string]int{}
	go func() {
		defer wg.Done()
		// The last round is a whole one, as the scheduler's are: until its trim there are inlined deletes of files that an expiry has taken away,
		// which DuckLake's own leaves behind as well.
		for n := 0; n%4 != 0 || time.Now().Before(end); n++ {
			kind := []string{"expire", "cleanup", "trim", "orphans"}[n%4]
			begun := time.Now()
			var state string
			err := c.QueryRow(ctx, fmt.Sprintf(`SELECT state FROM eider.gc_run('public', '%s', '{"wait": true}')`, kind), pgx.QueryExecModeSimpleProtocol).Scan(&state)
			if err != nil {
				x.Problem("%s: %v", kind, err)
				return
			}
			done[kind+" "+state]++
			time.Sleep(max(0, 100*time.Millisecond-time.Since(begun)))
		}
	}()
	go func() {
		defer wg.Done()
		if err := x.readLong(ctx, end); err != nil {
			x.Problem("long reader: %v", err)
		}
	}()
	x.run(ctx, t, wl)
	wg.Wait()
	x.judge(ctx, t, 6)
	t.Logf("jobs: %v", done)
	for _, kind := range []string{"expire", "cleanup", "trim", "orphans"} {
		if done[kind+" done"] == 0 {
			t.Errorf("no %s was done: %v", kind, done)
		}
	}
	if _, err := os.Stat(stray); !os.IsNotExist(err) {
		t.Errorf("the file that nobody names is still there: %v", err)
	}
	var last string
	if err := c.QueryRow(ctx, "SELECT coalesce(max(error), '') FROM eider.jobs", pgx.QueryExecModeSimpleProtocol).Scan(&last); err != nil || last != "" {
		t.Errorf("a job failed: %s %v", last, err)
	}
}

// readLong opens transactions that read all tables, wait for two seconds and read them again.
func (x *world) readLong(ctx context.Context, end time.Time) error {
	w, err := storm.OpenWriter(ctx, x.DSN, x.Data)
	if err != nil {
		return err
	}
	defer w.Close()
	for time.Now().Before(end) {
		if _, err := w.Exec(ctx, "BEGIN"); err != nil {
			return err
		}
		tables, err := w.Query(ctx, "SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY 1")
		if err != nil {
			return err
		}
		first := map[string]string{}
		for round := range 2 {
			for _, r := range tables.Rows {
				res, err := w.Query(ctx, fmt.Sprintf("SELECT count(*), sum(k), sum(v), sum(rowid) FROM lake.%q", r[0]))
				if err != nil {
					return fmt.Errorf("round %d: %s: %w", round, r[0], err)
				}
				got := fmt.Sprint(res.Rows)
				if round == 0 {
					first[r[0]] = got
				} else if first[r[0]] != got {
					return fmt.Errorf("%s read %s and later %s in one transaction", r[0], first[r[0]], got)
				}
			}
			if round == 0 {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(2 * time.Second): // the others work meanwhile
				}
			}
		}
		if _, err := w.Exec(ctx, "COMMIT"); err != nil {
			return errors.Join(errors.New("the end of a reader"), err)
		}
	}
	return nil
}
