package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/storm"
)

var benchTrimRows = flag.Int64("bench-trim-rows", 10_000_000, "orphaned rows of statistics that a benchmark of trimming removes")

// maxSlowdown is how many times as long as alone a commit may take, in the mean and at the 99th percentile, while a lake is trimmed.
const maxSlowdown = 2

// orphans is what a trim calls the rows that the benchmarks have it remove.
const orphans = "rows of ducklake_file_column_stats"

// trimRun is what a job of trimming was, seen by the client that asked for it.
type trimRun struct {
	state string
	rows  int64
	took  time.Duration
	err   error
}

// runTrim trims a lake on a server that runs, and waits for the end of the job.
func runTrim(ctx context.Context, c *pgconn.PgConn) (r trimRun) {
	began := time.Now()
	res, err := c.Exec(ctx, `SELECT state, counts FROM eider.gc_run('public', 'trim', '{"wait": true}')`).ReadAll()
	r.took = time.Since(began)
	if err == nil && (len(res) != 1 || len(res[0].Rows) != 1) {
		err = errors.New("gc_run did not answer with one job")
	}
	if err != nil {
		r.err = err
		return r
	}
	row := res[0].Rows[0]
	r.state = string(row[0])
	var counts map[string]int64
	if len(row[1]) > 0 {
		r.err = json.Unmarshal(row[1], &counts)
	}
	r.rows = counts[orphans]
	return r
}

// rawWriters commit rows to one lake. What was acknowledged is kept as sums: a trim of many rows lasts for millions of commits.
type rawWriters struct {
	table storm.RawTable
	conns []*storm.Raw

	mu                     sync.Mutex
	next                   int64 // value of the next row
	rows, values, snapshot int64 // acknowledged: number, sum of the values, sum of the snapshot ids
}

// run commits on all connections, without a pause, for a time or until stop is closed.
func (x *rawWriters) run(ctx context.Context, d time.Duration, stop <-chan struct{}) *storm.Report {
	return storm.Run(len(x.conns), d, stop, func(w, _ int) storm.Outcome {
		x.mu.Lock()
		v := x.next
		x.next++
		x.mu.Unlock()
		attempts, snap, err := x.conns[w].Commit(ctx, v)
		if err == nil {
			x.mu.Lock()
			x.rows, x.values, x.snapshot = x.rows+1, x.values+v, x.snapshot+snap
			x.mu.Unlock()
		}
		return storm.Outcome{Attempts: attempts, Err: err}
	})
}

// check compares the rows of the lake with those that were acknowledged.
func (x *rawWriters) check(ctx context.Context, t *testing.T, c *pgconn.PgConn) {
	t.Helper()
	row := mustExec(ctx, t, c, fmt.Sprintf("SELECT count(*), sum(i), sum(begin_snapshot) FROM %s WHERE begin_snapshot > %d", x.table.Inlined, x.table.Base))[0].Rows[0]
	got, want := fmt.Sprintf("%s %s %s", row[0], row[1], row[2]), fmt.Sprintf("%d %d %d", x.rows, x.values, x.snapshot)
	if got != want {
		t.Errorf("rows, sum of values, sum of snapshots are %s, acknowledged were %s", got, want)
	}
}

// restingSize is the size of a folder once it has not changed for some seconds: a server gives space back after the rows are gone.
func restingSize(t *testing.T, dir string) int64 {
	t.Helper()
	size, same := folderSize(t, dir), 0
	for range 120 {
		time.Sleep(time.Second)
		now := folderSize(t, dir)
		if same++; now != size {
			size, same = now, 0
		}
		if same == 5 {
			break
		}
	}
	return size
}

// cancelJobs ends the jobs that run, each after its present transaction.
func cancelJobs(ctx context.Context, t *testing.T, dsn string) {
	t.Helper()
	c := connect(ctx, t, dsn)
	for _, r := range mustExec(ctx, t, c, "SELECT id FROM eider.jobs WHERE state = 'running'")[0].Rows {
		if _, err := c.Exec(ctx, fmt.Sprintf("SELECT * FROM eider.gc_cancel(%s)", r[0])).ReadAll(); err != nil {
			t.Logf("ending job %s: %v", r[0], err) // it may have come to its end
		}
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestBenchTrimCommits trims 10,000,000 rows of statistics of files that do not exist, on a server where clients commit one row after the other. A
// commit takes at most twice as long as without the trim, and none fails.
func TestBenchTrimCommits(t *testing.T) {
	if !*benchFlag {
		t.Skip("benchmarks run with -bench")
	}
	var commits, jobs []string
	for _, n := range []int{1, 8} {
		name := fmt.Sprintf("trim, clients that commit: %d", n)
		if !benchWanted(t, name) {
			continue
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			lines, job := benchTrimCommits(t, name, n)
			commits, jobs = append(commits, lines...), append(jobs, job)
		})
	}
	fmt.Printf("\n| commits beside a trim | commits/s | mean | p50 | p99 | slowest | mean / mean between | p99 / p99 between | failed |\n|---|---|---|---|---|---|---|---|---|\n%s\n", strings.Join(commits, "\n"))
	fmt.Printf("\n| trim beside commits | rows | took | on disk before | after |\n|---|---|---|---|---|\n%s\n\n", strings.Join(jobs, "\n"))
}

// benchTrimCommits is TestBenchTrimCommits with n clients. It returns the lines of the commits and that of the job.
func benchTrimCommits(t *testing.T, name string, n int) (commits []string, job string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	s, db := privateEider(t), newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	rawLake(ctx, t, s.DSN(db), t.TempDir())
	s.Kill()
	gcStep(ctx, t, s.DataDir(), db, "-orphans", fmt.Sprint(*benchTrimRows), "grow")
	before := folderSize(t, s.DataDir())
	if err := s.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	c := connect(ctx, t, s.DSN(db))
	x := &rawWriters{conns: make([]*storm.Raw, n)}
	var err error
	if x.table, err = storm.PrepareRaw(ctx, c); err != nil {
		t.Fatal(err)
	}
	for w := range x.conns {
		if x.conns[w], err = storm.OpenRaw(ctx, s.DSN(db), x.table); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = x.conns[w].Close(context.Background()) }()
	}

	reports := []*storm.Report{{}, {}, {}}
	x.run(ctx, *benchBlock/4, nil) // warm up
	// Blocks without and with the trim in turns, since a machine is not the same from minute to minute; the last lasts until the trim's end.
	var trim trimRun
	for turn := 0; trim.state != "done" && trim.err == nil; turn++ {
		reports[0].Add(x.run(ctx, *benchBlock, nil))
		stop, done := make(chan struct{}), make(chan trimRun, 1)
		go func() {
			defer close(stop)
			done <- runTrim(ctx, c)
		}()
		d := *benchBlock
		if turn >= *benchTurns {
			d = time.Hour
		}
		reports[1].Add(x.run(ctx, d, stop))
		if turn < *benchTurns {
			cancelJobs(ctx, t, s.DSN(db))
		}
		r := <-done
		trim.state, trim.err, trim.rows, trim.took = r.state, r.err, trim.rows+r.rows, trim.took+r.took
	}
	after := restingSize(t, s.DataDir())
	reports[2].Add(x.run(ctx, *benchBlock*time.Duration(*benchTurns), nil))

	base := reports[0]
	for i, when := range []string{"between", "beside it", "after it"} {
		r := reports[i]
		if r.Commits() == 0 {
			t.Fatalf("no commit %s: %v", when, errors.Join(r.Failures...))
		}
		for _, err := range r.Failures[:min(3, len(r.Failures))] {
			t.Errorf("%s: %.300s", when, err)
		}
		commits = append(commits, fmt.Sprintf("| %s, %s | %.0f | %s | %s | %s | %s | %.2f | %.2f | %d |", name, when, r.Rate(), short(r.Mean()), short(r.Quantile(0.5)), short(r.Quantile(0.99)),
			short(r.Quantile(1)), r.Mean().Seconds()/base.Mean().Seconds(), r.Quantile(0.99).Seconds()/base.Quantile(0.99).Seconds(), len(r.Failures)))
	}
	if ratio := reports[1].Mean().Seconds() / base.Mean().Seconds(); ratio > maxSlowdown {
		t.Errorf("beside the trim a commit took %.2f times as long, want at most %d", ratio, maxSlowdown)
	}
	if ratio := reports[1].Quantile(0.99).Seconds() / base.Quantile(0.99).Seconds(); ratio > maxSlowdown {
		t.Errorf("beside the trim one commit in a hundred took %.2f times as long, want at most %d", ratio, maxSlowdown)
	}
	if trim.err != nil || trim.state != "done" || trim.rows != *benchTrimRows {
		t.Errorf("the trim is %q and has removed %d rows, want %d: %v", trim.state, trim.rows, *benchTrimRows, trim.err)
	}
	x.check(ctx, t, connect(ctx, t, s.DSN(db)))
	return commits, fmt.Sprintf("| %s | %d | %s | %s | %s |", name, trim.rows, short(trim.took), mib(before), mib(after))
}
