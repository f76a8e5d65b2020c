package e2e

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/storm"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

var (
	benchOnly  = flag.String("bench-only", "", "regular expression: run only the benchmarks whose line matches")
	benchBlock = flag.Duration("bench-block", 3*time.Second, "length of one block of a commit benchmark")
	benchTurns = flag.Int("bench-turns", 4, "blocks of a commit benchmark on each server, in turns")
)

func benchWanted(t *testing.T, name string) bool {
	t.Helper()
	ok, err := regexp.MatchString(*benchOnly, name)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func benchTargets(t *testing.T) []script.Target {
	t.Helper()
	if !*benchFlag {
		t.Skip("benchmarks run with -bench")
	}
	var list []script.Target
	if pg := postgres(t); pg != nil {
		list = append(list, pg)
	}
	if wantEider() {
		list = append(list, privateEider(t))
	}
	return list
}

// commitBench is one storm that can be run for a time, again and again; finish checks what it left behind.
type commitBench struct {
	run    func(d time.Duration) *storm.Report
	count  func(d time.Duration) *storm.Report // the same with attempts counted; nil where run counts them
	finish func() error
}

// TestBenchCommits measures commits per second beside PostgreSQL: blocks in turns, medians of the blocks' rates, latencies of all blocks together.
func TestBenchCommits(t *testing.T) {
	ctx := context.Background()
	list := benchTargets(t)
	fmt.Println("\n| commits | server | commits/s | spread | p50 | p99 | slowest writer / mean | attempts per commit (most) | failed |\n|---|---|---|---|---|---|---|---|---|")
	var ratios []string
	for _, b := range []struct {
		name    string
		prepare func(ctx context.Context, t *testing.T, target script.Target, db string) commitBench
	}{
		{"DuckDB, one table, 1 writer", duckBench(1, duckStorm{})},
		{"DuckDB, one table, 8 writers", duckBench(8, duckStorm{})},
		{"DuckDB, one table, 16 writers", duckBench(16, duckStorm{})},
		{"DuckDB, 8 tables, 8 writers", duckBench(8, duckStorm{many: true})},
		{"DuckDB, 16 tables, 16 writers", duckBench(16, duckStorm{many: true})},
		{"DuckDB, prepared by the Go driver, one table, 8 writers", duckBench(8, duckStorm{prepared: true})},
		{"raw batches, 1 connection", rawBench(1)},
		{"raw batches, 8 connections", rawBench(8)},
		{"raw batches, 64 connections", rawBench(64)},
	} {
		if !benchWanted(t, b.name) {
			continue
		}
		benches := make([]commitBench, len(list))
		dbs := make([]string, len(list))
		for i, target := range list {
			dbs[i] = newDatabase()
			if err := target.CreateDatabase(ctx, dbs[i]); err != nil {
				t.Fatal(err)
			}
			benches[i] = b.prepare(ctx, t, target, dbs[i])
			benches[i].run(*benchBlock / 4) // warm up
		}
		reports := make([]storm.Report, len(list))
		rates := make([][]float64, len(list))
		for range *benchTurns {
			for i := range list {
				r := benches[i].run(*benchBlock)
				rates[i] = append(rates[i], r.Rate())
				reports[i].Add(r)
			}
		}
		for i, target := range list {
			r := &reports[i]
			if benches[i].count != nil {
				c := benches[i].count(*benchBlock)
				r.Failures = append(r.Failures, c.Failures...)
				r.Attempts, r.Worst = int(c.AttemptsPerCommit()*float64(r.Commits())+0.5), c.Worst
			}
			if err := benches[i].finish(); err != nil {
				t.Errorf("%s on %s:\n%v", b.name, target.Name(), err)
			}
			slices.Sort(rates[i])
			fmt.Printf("| %s | %s | %.0f | %.0f–%.0f | %s | %s | %.0f %% | %.2f (%d) | %d |\n", b.name, title(target), middle(rates[i]), rates[i][0], rates[i][len(rates[i])-1],
				short(r.Quantile(0.5)), short(r.Quantile(0.99)), 100*r.Fairness(), r.AttemptsPerCommit(), r.Worst, len(r.Failures))
			for _, err := range r.Failures[:min(3, len(r.Failures))] {
				t.Logf("%s on %s: %.300s", b.name, target.Name(), err)
			}
			if target.Name() == "eider" && len(r.Failures) > 0 {
				t.Errorf("%s: %d commits failed", b.name, len(r.Failures))
			}
			_ = target.DropDatabase(ctx, dbs[i])
		}
		if len(list) == 2 {
			p, e := &reports[0], &reports[1]
			ratios = append(ratios, fmt.Sprintf("| %s | %.2f | %.3f |", b.name, middle(rates[1])/middle(rates[0]), e.Quantile(0.99).Seconds()/p.Quantile(0.99).Seconds()))
		}
	}
	if len(ratios) > 0 {
		fmt.Printf("\n| commits | Eider / PostgreSQL, commits/s | Eider / PostgreSQL, p99 |\n|---|---|---|\n%s\n\n", strings.Join(ratios, "\n"))
	}
}

func title(target script.Target) string {
	if target.Name() == "pg" {
		return "PostgreSQL 15"
	}
	return "Eider"
}

// middle of sorted values.
func middle(v []float64) float64 {
	if len(v)%2 == 0 {
		return (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return v[len(v)/2]
}

// onWriters runs a function for each writer at once.
func onWriters(n int, f func(w int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[w] = f(w)
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// duckStorm says how DuckDBs insert.
type duckStorm struct {
	many bool // each into a table of its own
	// prepared leaves the transaction to the driver. The Go driver prepares each statement in a transaction of its own before it runs it in a
	// second one. Without it the inserts reach the server as those of DuckDB's shell and of Python do.
	prepared bool
}

// duckBench is a storm of one-row inserts by DuckDBs, each an instance of its own.
func duckBench(n int, how duckStorm) func(ctx context.Context, t *testing.T, target script.Target, db string) commitBench {
	return func(ctx context.Context, t *testing.T, target script.Target, db string) commitBench {
		data := t.TempDir()
		open := func(dsn string) *storm.Writer {
			w, err := storm.OpenWriter(ctx, dsn, data)
			if err != nil {
				t.Fatalf("on %s: %v", target.Name(), err)
			}
			return w
		}
		table := func(w int) string {
			if how.many {
				return fmt.Sprintf("lake.t%d", w)
			}
			return "lake.t"
		}
		setup := open(target.DSN(db))
		for w := range n {
			if w > 0 && !how.many {
				break
			}
			mustDuck(ctx, t, setup, fmt.Sprintf("CREATE TABLE %s (w INTEGER, i INTEGER)", table(w)))
		}
		next := make([]int, n)
		insert := func(s *storm.Writer, w int) error {
			sql := fmt.Sprintf("INSERT INTO %s VALUES (%d, %d)", table(w), w, next[w])
			var err error
			if how.prepared {
				_, err = s.Exec(ctx, sql)
			} else {
				err = storm.Tx(ctx, s, sql)
			}
			if err == nil {
				next[w]++
			}
			return err
		}
		writers := make([]*storm.Writer, n)
		for w := range writers {
			writers[w] = open(target.DSN(db))
		}
		return commitBench{
			run: func(d time.Duration) *storm.Report {
				return storm.Run(n, d, nil, func(w, _ int) storm.Outcome { return storm.Outcome{Err: insert(writers[w], w)} })
			},
			count: func(d time.Duration) *storm.Report {
				taps := make([]*tap.Tap, n)
				counted := make([]*storm.Writer, n)
				for w := range taps {
					var err error
					if taps[w], err = tap.New(target.DSN(db)); err != nil {
						t.Fatal(err)
					}
					defer taps[w].Close()
					counted[w] = open(taps[w].DSN(target.DSN(db)))
					taps[w].Take()
				}
				r := storm.Run(n, d, nil, func(w, _ int) storm.Outcome {
					err := insert(counted[w], w)
					return storm.Outcome{Err: err, Attempts: taps[w].Take().Attempts}
				})
				for _, c := range counted {
					_ = c.Close()
				}
				return r
			},
			finish: func() error {
				for _, w := range writers {
					_ = w.Close()
				}
				defer setup.Close()
				for w := range n {
					res, err := setup.Query(ctx, fmt.Sprintf("SELECT count(*), count(DISTINCT i), coalesce(max(i) + 1, 0) FROM %s WHERE w = %d", table(w), w))
					if err != nil {
						return err
					}
					if got, want := strings.Join(res.Rows[0], " "), fmt.Sprintf("%d %d %d", next[w], next[w], next[w]); got != want {
						return fmt.Errorf("writer %d: rows, distinct, next are %s, want %s", w, got, want)
					}
				}
				return healthy(ctx, target, db)
			},
		}
	}
}

// rawBench is a storm of commit batches by plain connections.
func rawBench(n int) func(ctx context.Context, t *testing.T, target script.Target, db string) commitBench {
	return func(ctx context.Context, t *testing.T, target script.Target, db string) commitBench {
		table := rawLake(ctx, t, target.DSN(db), t.TempDir())
		conns := make([]*storm.Raw, n)
		for w := range conns {
			var err error
			if conns[w], err = storm.OpenRaw(ctx, target.DSN(db), table); err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		acked := map[int64]int64{}
		next := make([]int64, n)
		return commitBench{
			run: func(d time.Duration) *storm.Report {
				return storm.Run(n, d, nil, func(w, _ int) storm.Outcome {
					v := int64(w)*1_000_000 + next[w]
					attempts, snap, err := conns[w].Commit(ctx, v)
					if err == nil {
						next[w]++
						mu.Lock()
						acked[snap] = v
						mu.Unlock()
					}
					return storm.Outcome{Attempts: attempts, Err: err}
				})
			},
			finish: func() error {
				for _, c := range conns {
					_ = c.Close(ctx)
				}
				c := connect(ctx, t, target.DSN(db))
				if err := storm.CheckRaw(ctx, c, table, acked, nil, target.Name() == "eider"); err != nil {
					return err
				}
				return healthy(ctx, target, db)
			},
		}
	}
}

// rawLake makes a lake by DuckDB with one table for raw commits.
func rawLake(ctx context.Context, t *testing.T, dsn, data string) storm.RawTable {
	t.Helper()
	w, err := storm.OpenWriter(ctx, dsn, data)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	mustDuck(ctx, t, w, "CREATE TABLE lake.t (i INTEGER)")
	mustDuck(ctx, t, w, "INSERT INTO lake.t VALUES (-1)")
	mustDuck(ctx, t, w, "INSERT INTO lake.t VALUES (1073741824)")
	table, err := storm.PrepareRaw(ctx, connect(ctx, t, dsn))
	if err != nil {
		t.Fatal(err)
	}
	return table
}
