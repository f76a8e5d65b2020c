package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/storm"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// TestFlushBesideUpdates flushes a lake in which inlined rows are updated without a pause. A flush deletes the rows that it has read: one that an update
// has changed meanwhile ends it before its commit, and DuckLake does not repeat it. Whoever does gets the turn. A flush of one table is two commits, of
// which each may lose once: it needs four attempts at most. A client without a name shares its losses with the writers, so that theirs may come between.
func TestFlushBesideUpdates(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	const writers, rows = 3, 100
	for _, c := range []struct {
		name, words string
		most        int
	}{{"named", " application_name=flusher", 4}, {"unnamed", "", 6}} {
		t.Run(c.name, func(t *testing.T) {
			target := needEider(t)
			db := newDatabase()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = target.DropDatabase(context.Background(), db) }()
			dsn, data := target.DSN(db), t.TempDir()
			tp, err := tap.New(dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(tp.Close)
			s := lakeSession(ctx, t, tp.DSN(dsn)+c.words, data)
			mustRun(ctx, t, s, "CALL lake.set_option('data_inlining_row_limit', 100000)", "CREATE TABLE main.t (w INTEGER, i BIGINT, v BIGINT)")
			for w := range writers {
				mustRun(ctx, t, s, fmt.Sprintf("INSERT INTO main.t SELECT %d, i, 0 FROM range(%d) t(i)", w, rows))
			}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var updates [writers]atomic.Int64
			// Between what a flush reads and what it deletes there is an update, unless updates wait for the flush.
			tp.Before(func(sql string) bool {
				if strings.HasPrefix(sql, "DELETE") && strings.Contains(sql, "ducklake_inlined_data_") {
					awaitMore(ctx, &updates[0], 400*time.Millisecond)
				}
				return true
			})
			for w := range writers {
				d := lakeSession(ctx, t, dsn, data)
				wg.Add(1)
				go func() {
					defer wg.Done()
					r := rand.New(rand.NewPCG(1, uint64(w)))
					for {
						select {
						case <-stop:
							return
						default:
						}
						_, err := d.Exec(ctx, fmt.Sprintf("UPDATE main.t SET v = v + 1 WHERE w = %d AND i = %d", w, r.IntN(rows)))
						switch {
						case err == nil:
							updates[w].Add(1)
						case !storm.Refused(err):
							t.Errorf("writer %d: %v", w, err)
							return
						}
					}
				}()
			}
			flushes := map[int]int{} // by attempts
			for range times(20, 5) {
				flushes[flushRepeated(ctx, t, s, 12)]++
			}
			close(stop)
			wg.Wait()
			t.Logf("flushes by attempts: %v; %d, %d, %d updates", flushes, updates[0].Load(), updates[1].Load(), updates[2].Load())
			if most := slices.Max(slices.Collect(maps.Keys(flushes))); most > c.most {
				t.Errorf("a flush took %d attempts", most)
			}
			fresh := lakeSession(ctx, t, dsn, data)
			for w := range writers {
				want := fmt.Sprintf("[[%d %d %d]]", rows, rows, updates[w].Load())
				if got := fmt.Sprint(mustDuck(ctx, t, fresh, fmt.Sprintf("SELECT count(*), count(DISTINCT i), sum(v)::BIGINT FROM main.t WHERE w = %d", w)).Rows); got != want {
					t.Errorf("writer %d: %s, want %s", w, got, want)
				}
			}
		})
	}
}

// flushRepeated repeats a flush until it is done, or most times, and returns how often.
func flushRepeated(ctx context.Context, t *testing.T, s duck.Session, most int) int {
	t.Helper()
	for n := 1; ; n++ {
		_, err := s.Exec(ctx, "CALL ducklake_flush_inlined_data('lake')")
		if err == nil || n == most {
			if err != nil {
				t.Logf("given up: %s", storm.Short(err))
			}
			return n
		}
	}
}

// awaitMore waits until a counter grows, for a time at most.
func awaitMore(ctx context.Context, n *atomic.Int64, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for before := n.Load(); n.Load() == before && ctx.Err() == nil; {
		runtime.Gosched()
	}
}
