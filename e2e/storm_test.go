package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/server"
	"github.com/eiderdb/eider/e2e/internal/storm"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// Storms of writers. Their ids are those of the case list. On PostgreSQL, where most of them fail some time, they run with -storm-full only.

// gale is a storm of writers, each a DuckDB of its own behind a tap of its own.
type gale struct {
	target script.Target
	most   func() int // attempts for one commit
	db     string
	data   string
	taps   []*tap.Tap
	who    []*storm.Writer

	mu       sync.Mutex
	attempts map[int]int // commits by their attempts
	lostRace int
	commits  int
	failures []string
	refused  map[string]int
	reads    map[string]int // reads that were answered with an error
	errors   map[string]int // all errors
}

// onStorm runs a case on each server.
func onStorm(t *testing.T, writers int, run func(ctx context.Context, t *testing.T, g *gale)) {
	for _, target := range stormTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			g := &gale{target: target, db: newDatabase(), data: t.TempDir(), attempts: map[int]int{}, refused: map[string]int{}, reads: map[string]int{}, errors: map[string]int{}}
			if err := target.CreateDatabase(ctx, g.db); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = target.DropDatabase(context.Background(), g.db) }()
			g.most = attempts(ctx, t, target)
			defer g.close()
			w := g.client(ctx, t) // makes the lake
			_ = w.Close()
			for range writers {
				tp, err := tap.New(target.DSN(g.db))
				if err != nil {
					t.Fatal(err)
				}
				g.taps = append(g.taps, tp)
				w, err := storm.OpenWriter(ctx, tp.DSN(target.DSN(g.db)), g.data)
				if err != nil {
					t.Fatal(err)
				}
				g.who = append(g.who, w)
				tp.Take()
			}
			run(ctx, t, g)
		})
	}
}

// client is a fresh DuckDB, not behind a tap.
func (g *gale) client(ctx context.Context, t *testing.T) *storm.Writer {
	t.Helper()
	w, err := storm.OpenWriter(ctx, g.target.DSN(g.db), g.data)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (g *gale) close() {
	for _, w := range g.who {
		_ = w.Close()
	}
	for _, t := range g.taps {
		t.Close()
	}
}

// times is the size of a case: the full one, or a part that shows the same in a fraction of the time.
func times(full, short int) int {
	if *stormFull {
		return full
	}
	return short
}

// blow lets every writer run its statements, one after the other: a statement is a commit.
func (g *gale) blow(n int, statement func(w, i int) string) {
	var wg sync.WaitGroup
	for w := range g.who {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range n {
				g.exec(w, statement(w, i))
			}
		}()
	}
	wg.Wait()
}

// exec runs a statement of a writer and keeps account.
func (g *gale) exec(w int, sql string) {
	_, err := g.who[w].Exec(context.Background(), sql)
	g.account(w, sql, err)
}

// account takes over what a writer's tap has counted for an operation that has ended.
func (g *gale) account(w int, what string, err error) {
	n := g.taps[w].Take()
	g.mu.Lock()
	defer g.mu.Unlock()
	for k, v := range n.Errors {
		g.errors[k+" "+n.Texts[k]] += v
		if strings.HasSuffix(k, " read") {
			g.reads[k+" "+n.Texts[k]] += v
		}
	}
	g.lostRace += n.Attempts - n.Commits
	g.commits += n.Commits
	switch {
	case err == nil:
		if n.Attempts > 0 {
			g.attempts[n.Attempts]++
		}
	case storm.Refused(err):
		g.refused[storm.Normal(err)]++
	default:
		g.failures = append(g.failures, fmt.Sprintf("writer %d: %s: %s", w, what, storm.Short(err)))
	}
}

// attempts returns how many attempts a commit may have needed since the call: two, and three if the server counts a retry meanwhile that lost its
// turn because its bound had passed. That is seconds of wall-clock time, and whoever comes so late is only held up by a machine that stood still. A
// lease that ends early costs nobody a third attempt: who had it comes again with a retry's turn.
func attempts(ctx context.Context, t *testing.T, target script.Target) (most func() int) {
	t.Helper()
	s, ok := target.(*server.Server)
	if !ok {
		return func() int { return 2 }
	}
	overruns := func() float64 {
		n, err := s.Metric(ctx, "eider_commit_turn_overruns_total", `kind="retry"`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := overruns()
	return func() int {
		if now := overruns(); now != before {
			t.Logf("%.0f turns were taken from retries", now-before)
			return 3
		}
		return 2
	}
}

// judge fails the test for what must not happen in a storm: on eider, a failed statement, a commit with too many attempts, a read that was
// answered with an error. The lake must be healthy.
func (g *gale) judge(ctx context.Context, t *testing.T) {
	t.Helper()
	t.Logf("%d commits, attempts %v, %d lost races, refused %v", g.commits, g.attempts, g.lostRace, g.refused)
	for text, n := range g.errors {
		t.Logf("%5d × %s", n, text)
	}
	report := t.Logf
	if g.target.Name() == "eider" {
		report = t.Errorf
	}
	for i, f := range g.failures {
		if i == 5 {
			report("and %d more", len(g.failures)-i)
			break
		}
		report("%s", f)
	}
	for text, n := range g.reads {
		report("%d reads were answered with %s", n, text)
	}
	most := g.most()
	for a := range g.attempts {
		if a > most {
			report("a commit took too many attempts: %v", g.attempts)
			break
		}
	}
	if err := healthy(ctx, g.target, g.db); err != nil {
		t.Error(err)
	}
}

// expect compares a query's rows by a fresh client.
func (g *gale) expect(ctx context.Context, t *testing.T, sql string, want ...string) {
	t.Helper()
	w := g.client(ctx, t)
	defer w.Close()
	got := strings.Join(mustDuck(ctx, t, w, sql).Lines(), "\n")
	if want := strings.Join(want, "\n"); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", sql, got, want)
	}
}

func (g *gale) setup(ctx context.Context, t *testing.T, statements ...string) {
	t.Helper()
	w := g.client(ctx, t)
	defer w.Close()
	for _, sql := range statements {
		mustDuck(ctx, t, w, sql)
	}
}

// B01a: writers insert single rows into one table; all land with default retry settings.
func TestB01a(t *testing.T) {
	for _, writers := range []int{8, 16} {
		t.Run(strconv.Itoa(writers), func(t *testing.T) {
			n := times(40, 12)
			onStorm(t, writers, func(ctx context.Context, t *testing.T, g *gale) {
				g.setup(ctx, t, "CREATE TABLE lake.t (w INTEGER, i INTEGER)")
				g.blow(n, func(w, i int) string { return fmt.Sprintf("INSERT INTO lake.t VALUES (%d, %d)", w, i) })
				g.judge(ctx, t)
				if len(g.failures) == 0 {
					g.expect(ctx, t, "SELECT count(*), count(DISTINCT (w, i)), count(DISTINCT rowid), max(rowid) FROM lake.t", fmt.Sprintf("%d | %d | %d | %d", writers*n, writers*n, writers*n, writers*n-1))
				}
			})
		})
	}
}

// The same with rows enough for Parquet files, into one table and into tables of their own.
func TestParquetInserts(t *testing.T) {
	n := times(30, 6)
	for _, many := range []bool{false, true} {
		t.Run(fmt.Sprintf("many=%v", many), func(t *testing.T) {
			onStorm(t, 8, func(ctx context.Context, t *testing.T, g *gale) {
				table := func(w int) string {
					if many {
						return fmt.Sprintf("lake.t%d", w)
					}
					return "lake.t0"
				}
				for w := range 8 {
					g.setup(ctx, t, fmt.Sprintf("CREATE TABLE lake.t%d (w INTEGER, i INTEGER)", w))
				}
				g.blow(n, func(w, i int) string {
					return fmt.Sprintf("INSERT INTO %s SELECT %d, range + %d FROM range(50)", table(w), w, 50*i)
				})
				g.judge(ctx, t)
				if len(g.failures) > 0 {
					return
				}
				for w := range 8 {
					g.expect(ctx, t, fmt.Sprintf("SELECT count(*), count(DISTINCT i), max(i) FROM %s WHERE w = %d", table(w), w), fmt.Sprintf("%d | %d | %d", 50*n, 50*n, 50*n-1))
				}
			})
		})
	}
}

// B01c: each of 12 clients replaces a table of its own again and again.
func TestB01c(t *testing.T) {
	n := times(15, 4)
	onStorm(t, 12, func(ctx context.Context, t *testing.T, g *gale) {
		g.blow(n, func(w, i int) string {
			return fmt.Sprintf("CREATE OR REPLACE TABLE lake.t%d AS SELECT range AS i, %d AS round FROM range(100)", w, i)
		})
		g.judge(ctx, t)
		if len(g.failures) > 0 {
			return
		}
		for w := range 12 {
			g.expect(ctx, t, fmt.Sprintf("SELECT count(*), sum(i), min(round), max(round) FROM lake.t%d", w), fmt.Sprintf("100 | 4950 | %d | %d", n-1, n-1))
		}
	})
}

// B01e: 8 clients create, alter, fill and drop tables and views of their own.
func TestB01e(t *testing.T) {
	rounds := times(6, 2)
	steps := []string{
		"CREATE TABLE lake.t%[1]d (i INTEGER)", "ALTER TABLE lake.t%[1]d ADD COLUMN c VARCHAR DEFAULT 'x'", "INSERT INTO lake.t%[1]d VALUES (%[2]d, 'y')",
		"CREATE VIEW lake.v%[1]d AS SELECT * FROM lake.t%[1]d", "ALTER TABLE lake.t%[1]d RENAME COLUMN c TO d", "INSERT INTO lake.t%[1]d SELECT range, 'z' FROM range(30)",
		"DROP VIEW lake.v%[1]d", "DROP TABLE lake.t%[1]d",
	}
	onStorm(t, 8, func(ctx context.Context, t *testing.T, g *gale) {
		g.blow(rounds*len(steps), func(w, i int) string { return fmt.Sprintf(steps[i%len(steps)]+" -- round %[2]d", w, i) })
		g.judge(ctx, t)
		if len(g.failures) == 0 {
			g.expect(ctx, t, "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'lake'")
		}
	})
}

// B03: 8 clients insert into tables of their own. At most one lost race per commit on average, and no read is answered with an error.
func TestB03(t *testing.T) {
	n := times(15, 10)
	onStorm(t, 8, func(ctx context.Context, t *testing.T, g *gale) {
		for w := range 8 {
			g.setup(ctx, t, fmt.Sprintf("CREATE TABLE lake.t%d (i INTEGER)", w))
		}
		g.blow(n, func(w, i int) string { return fmt.Sprintf("INSERT INTO lake.t%d VALUES (%d)", w, i) })
		g.judge(ctx, t)
		if g.lostRace > g.commits {
			t.Errorf("%d lost races in %d commits", g.lostRace, g.commits)
		}
		if len(g.failures) > 0 {
			return
		}
		for w := range 8 {
			g.expect(ctx, t, fmt.Sprintf("SELECT count(*), sum(i) FROM lake.t%d", w), fmt.Sprintf("%d | %d", n, n*(n-1)/2))
		}
	})
}

// B11: two clients insert into a fresh table of 60 columns at once: both have to make its inlined table.
func TestB11(t *testing.T) {
	tables := times(25, 6)
	onStorm(t, 2, func(ctx context.Context, t *testing.T, g *gale) {
		columns := make([]string, 60)
		values := make([]string, 60)
		for c := range columns {
			columns[c], values[c] = fmt.Sprintf("c%d INTEGER", c), "%[1]d"
		}
		for n := range tables {
			g.setup(ctx, t, fmt.Sprintf("CREATE TABLE lake.t%d (%s)", n, strings.Join(columns, ", ")))
			g.blow(1, func(w, _ int) string {
				return fmt.Sprintf(fmt.Sprintf("INSERT INTO lake.t%d VALUES (%s)", n, strings.Join(values, ", ")), w+1)
			})
			if len(g.failures) == 0 {
				g.expect(ctx, t, fmt.Sprintf("SELECT c0, c59 FROM lake.t%d ORDER BY 1", n), "1 | 1", "2 | 2")
			}
		}
		g.judge(ctx, t)
	})
}

// B12a: two clients create views in a schema that two others drop and create again. Only plain errors; a fresh client loads everything.
func TestB12a(t *testing.T) {
	rounds := times(8, 4)
	onStorm(t, 4, func(ctx context.Context, t *testing.T, g *gale) {
		g.setup(ctx, t, "CREATE SCHEMA lake.s")
		g.blow(rounds, func(w, i int) string {
			switch {
			case w < 2:
				return fmt.Sprintf("CREATE OR REPLACE VIEW lake.s.v%d AS SELECT %d AS i", w, i)
			case i%2 == 0:
				return "DROP SCHEMA IF EXISTS lake.s CASCADE"
			default:
				return "CREATE SCHEMA IF NOT EXISTS lake.s"
			}
		})
		for _, f := range g.failures {
			if !plainError(f) {
				t.Errorf("%s", f)
			}
		}
		g.failures = nil
		g.judge(ctx, t)
		w := g.client(ctx, t)
		defer w.Close()
		for _, row := range mustDuck(ctx, t, w, "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE database_name = 'lake' AND NOT internal").Rows {
			mustDuck(ctx, t, w, "SELECT * FROM lake."+row[0])
		}
	})
}

// plainError says whether an error is one that a person who drops schemas under others' feet may expect.
func plainError(text string) bool {
	for _, bad := range []string{"INTERNAL", "FATAL", "Exceeded the maximum retry count", "server closed", "Invalid Input Error: Attempting to execute an unsuccessful"} {
		if strings.Contains(text, bad) {
			return false
		}
	}
	for _, good := range []string{"does not exist", "already exists", "Transaction conflict", "not found", "Nothing was stored.", "depend"} {
		if strings.Contains(text, good) {
			return true
		}
	}
	return false
}

// B17a: eight processes attach an empty catalog at once; one that fails tries again up to three times. There is one bootstrap.
func TestB17a(t *testing.T) {
	n := times(8, 4)
	for _, target := range stormTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			db, data := newDatabase(), t.TempDir()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = target.DropDatabase(context.Background(), db) }()
			clients := make([]*duck.Python, n)
			for i := range clients {
				var err error
				if clients[i], err = duck.OpenPython(ctx, "1.5.5"); err != nil {
					t.Fatal(err)
				}
				defer clients[i].Close()
			}
			err := onWriters(n, func(w int) error {
				var errs []error
				for range 4 {
					_, err := clients[w].Exec(ctx, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", target.DSN(db), data))
					if err == nil {
						return nil
					}
					errs = append(errs, err)
					if strings.Contains(err.Error(), "INTERNAL") {
						break
					}
				}
				return fmt.Errorf("process %d: %w", w, errors.Join(errs...))
			})
			if err != nil {
				t.Error(err)
			}
			c := connect(ctx, t, target.DSN(db))
			for sql, want := range map[string]string{
				"SELECT count(*) FROM ducklake_snapshot":                       "1",
				"SELECT count(*) FROM ducklake_schema":                         "1",
				"SELECT count(*) FROM ducklake_metadata WHERE key = 'version'": "1",
			} {
				if got := one(ctx, t, c, sql); got != want {
					t.Errorf("%s: %s, want %s", sql, got, want)
				}
			}
			for w, p := range clients {
				if _, err := p.Exec(ctx, fmt.Sprintf("CREATE TABLE lake.t%d AS SELECT %d AS i", w, w)); err != nil {
					t.Errorf("process %d: %v", w, err)
				}
			}
			if err := healthy(ctx, target, db); err != nil {
				t.Error(err)
			}
		})
	}
}
