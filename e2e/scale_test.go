package e2e

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// The cases of scale. Each has a size that the suite runs, with a property that needs no clock; -bench runs the published size with its bound in time.

// scaled is a number of the suite, or of the published case.
func scaled(small, full int) int {
	if *benchFlag {
		return full
	}
	return small
}

// fast runs something once; with -bench five times, and the median time is printed, returned, and on eider no longer than the case says.
func fast(t *testing.T, target script.Target, what string, most time.Duration, run func()) time.Duration {
	t.Helper()
	if !*benchFlag {
		run()
		return 0
	}
	times := make([]time.Duration, 5)
	for i := range times {
		began := time.Now()
		run()
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	fmt.Printf("| %s | %s | %s |\n", what, target.Name(), short(times[2]))
	if target.Name() != "pg" && times[2] > most {
		t.Errorf("%s: %s, the case allows %s", what, times[2], most)
	}
	return times[2]
}

// scaleLake is a lake in a new database, and how it is attached.
func scaleLake(ctx context.Context, t *testing.T, dsn string, statements ...string) (attach string) {
	t.Helper()
	attach = fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", dsn, t.TempDir())
	d := again(ctx, t, attach)
	for _, sql := range statements {
		mustDuck(ctx, t, d, sql)
	}
	return attach
}

// TestBenchScale runs the published sizes, one case after the other.
func TestBenchScale(t *testing.T) {
	if !*benchFlag {
		t.Skip("benchmarks run with -bench")
	}
	fmt.Println("\n| case | server | median |\n|---|---|---|")
	for _, c := range []struct {
		name string
		run  func(ctx context.Context, t *testing.T, target script.Target, dsn string)
	}{{"B21a", b21a}, {"B22b", b22b}, {"B23", b23}, {"B24", b24}, {"B27", b27}} {
		if !benchWanted(t, "scale "+c.name) {
			continue
		}
		for _, target := range benchTargets(t) {
			t.Run(c.name+" "+target.Name(), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
				defer cancel()
				db := newDatabase()
				if err := target.CreateDatabase(ctx, db); err != nil {
					t.Fatal(err)
				}
				c.run(ctx, t, target, target.DSN(db))
				if err := target.DropDatabase(ctx, db); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// B21a: the statistics of one column of a table with ten files, among rows of other tables. What the server reads for it is counted in package translate
// (TestReadsOfOneTable).
func TestB21a(t *testing.T) { onBoth(t, b21a) }

func b21a(ctx context.Context, t *testing.T, target script.Target, dsn string) {
	t.Helper()
	rows := scaled(20_000, 1_000_000)
	scaleLake(ctx, t, dsn, "CREATE TABLE lake.t (i INTEGER)")
	c := connect(ctx, t, dsn)
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "%d\t%d\t%d\t40\t100\t0\t0\t99\tf\t\\N\n", 1000+i/10, 2+i/1000, i%10)
	}
	for i := range 10 {
		fmt.Fprintf(&text, "%d\t1\t1\t40\t100\t0\t%d\t99\tf\t\\N\n", 900+i, i)
	}
	if _, err := c.CopyFrom(ctx, strings.NewReader(text.String()), "COPY ducklake_file_column_stats (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value, contains_nan, extra_stats) FROM STDIN"); err != nil {
		t.Fatal(err)
	}
	mustExec(ctx, t, c, "ANALYZE")
	const query = "SELECT data_file_id, value_count, max_value, min_value FROM ducklake_file_column_stats WHERE column_id = 1 AND table_id = 1"
	fast(t, target, fmt.Sprintf("B21a: statistics of one column among %d rows", rows), 15*time.Millisecond, func() {
		if res := mustExec(ctx, t, c, query); len(res[0].Rows) != 10 {
			t.Errorf("%d rows", len(res[0].Rows))
		}
	})
	fast(t, target, "B21a: the same by COPY", 15*time.Millisecond, func() {
		if tag, err := c.CopyTo(ctx, io.Discard, "COPY ("+query+") TO STDOUT (FORMAT BINARY)"); err != nil || tag.RowsAffected() != 10 {
			t.Errorf("%v %v", tag, err)
		}
	})
}

// B22b: a client that attaches to read only, with four threads, reads a lake with a large metadata table while another one commits: every read sees one
// state, and a write is refused.
func TestB22b(t *testing.T) { onBoth(t, b22b) }

func b22b(ctx context.Context, t *testing.T, target script.Target, dsn string) {
	t.Helper()
	const columns = 100
	files := scaled(100, 1_000)
	var list strings.Builder
	for i := range columns {
		fmt.Fprintf(&list, ", range + %d AS c%d", i, i)
	}
	attach := scaleLake(ctx, t, dsn, "CALL lake.set_option('data_inlining_row_limit', 0)",
		fmt.Sprintf("CREATE TABLE lake.big AS SELECT range AS p%s FROM range(%d) LIMIT 0", list.String(), files),
		"ALTER TABLE lake.big SET PARTITIONED BY (p)",
		fmt.Sprintf("INSERT INTO lake.big SELECT range%s FROM range(%d)", list.String(), files),
		"CREATE TABLE lake.t (i INTEGER)", "INSERT INTO lake.t VALUES (0)")
	c := connect(ctx, t, dsn)
	mustExec(ctx, t, c, "ANALYZE")
	if n := one(ctx, t, c, "SELECT count(*) FROM ducklake_file_column_stats"); n != fmt.Sprint(files*(columns+1)+1) {
		t.Fatalf("%s rows of statistics", n)
	}
	r := again(ctx, t, strings.TrimSuffix(attach, ")")+", READ_ONLY)")
	mustDuck(ctx, t, r, "SET threads = 4")
	w := again(ctx, t, attach)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Both tables in one transaction: a read that sees one of the two commits only is wrong.
			for _, sql := range []string{"BEGIN", "INSERT INTO lake.t VALUES (1)", "INSERT INTO lake.big (p) VALUES (-1)", "COMMIT"} {
				if _, err := w.Exec(ctx, sql); err != nil {
					t.Errorf("%s: %v", sql, err)
					return
				}
			}
		}
	})
	last, moved := 0, 0
	for range 30 {
		res, err := r.Query(ctx, `SELECT (SELECT count(*) FROM lake.t), (SELECT count(*) FROM lake.t WHERE i >= 0),
			(SELECT count(*) FROM lake.big) - `+fmt.Sprint(files-1)+`, (SELECT count(p + 0) FROM lake.big WHERE p < 0) + 1`)
		if err != nil {
			t.Errorf("a read: %v", err)
			break
		}
		row := res.Rows[0]
		for _, v := range row[1:] {
			if v != row[0] {
				t.Errorf("rows of the two tables, by metadata and by scan: %v", row)
			}
		}
		var n int
		if _, err := fmt.Sscan(row[0], &n); err != nil || n < last {
			t.Errorf("%d rows after %d (%v)", n, last, err)
		}
		if n > last {
			moved++
		}
		last = n
	}
	close(stop)
	wg.Wait()
	if moved < 3 {
		t.Errorf("the writer was seen to commit %d times", moved)
	}
	if _, err := r.Exec(ctx, "INSERT INTO lake.t VALUES (2)"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a write: %v", err)
	}
}

// counted runs statements in a fresh client behind a tap, and says what went over its connections.
func counted(ctx context.Context, t *testing.T, dsn, attach string, statements ...string) (c tap.Counts, rows [][]string) {
	t.Helper()
	p, err := tap.New(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := again(ctx, t, strings.Replace(attach, dsn, p.DSN(dsn), 1))
	for _, sql := range statements {
		rows = mustDuck(ctx, t, d, sql).Rows
	}
	return p.Take(), rows
}

// linear says whether what a client gets grows with a number of tables by no more than a share for each: three counts, at equal distances.
func linear(t *testing.T, what string, counts [3]int) {
	t.Helper()
	first, second := counts[1]-counts[0], counts[2]-counts[1]
	if float64(second) > 1.02*float64(first) {
		t.Errorf("%s: %v, which grows faster than the tables", what, counts)
	}
}

// B23: a fresh attach and the first SELECT beside many tables in another schema of the database. The client lists all relations of the database, whatever
// schema its lake is in: its statements are no more for that, and the bytes grow by those of the list.
func TestB23(t *testing.T) { onBoth(t, b23) }

func b23(ctx context.Context, t *testing.T, target script.Target, dsn string) {
	t.Helper()
	attach := scaleLake(ctx, t, dsn, "CREATE TABLE lake.t (i INTEGER)", "INSERT INTO lake.t VALUES (1)")
	begin := func() tap.Counts {
		t.Helper()
		c, rows := counted(ctx, t, dsn, attach, "SELECT * FROM lake.t")
		if fmt.Sprint(rows) != "[[1]]" {
			t.Errorf("read %v", rows)
		}
		return c
	}
	c := connect(ctx, t, dsn)
	mustExec(ctx, t, c, "CREATE SCHEMA other")
	step := scaled(500, 10_000)
	var bytes [3]int
	var statements, times []int
	for n := range bytes {
		// The first client of a session of tests loads what later ones find loaded.
		begin()
		took := fast(t, target, fmt.Sprintf("B23: attach and first SELECT, %d other tables", n*step), 300*time.Millisecond, func() { begin() })
		got := begin()
		bytes[n] = got.Answered
		statements, times = append(statements, got.Statements), append(times, int(took))
		if n == len(bytes)-1 {
			break
		}
		for i := 0; i < step; {
			var sql strings.Builder
			for end := min(i+500, step); i < end; i++ {
				fmt.Fprintf(&sql, "CREATE TABLE other.t%06d (a integer, b varchar, c double precision);", n*step+i)
			}
			mustExec(ctx, t, c, sql.String())
		}
	}
	linear(t, "bytes", bytes)
	if statements[0] != statements[2] {
		t.Errorf("statements: %v", statements)
	}
	if target.Name() != "pg" && times[2] > 3*times[0] {
		t.Errorf("%s with the tables, %s without", time.Duration(times[2]), time.Duration(times[0]))
	}
}

// B24: the first listing of a fresh client. DuckLake asks twice for each table; what it gets grows with the tables and no faster.
func TestB24(t *testing.T) { onBoth(t, b24) }

func b24(ctx context.Context, t *testing.T, target script.Target, dsn string) {
	t.Helper()
	attach := scaleLake(ctx, t, dsn)
	d := again(ctx, t, attach)
	step := scaled(50, 1_000)
	var bytes, statements [2][3]int
	for n := range 3 {
		mustDuck(ctx, t, d, "BEGIN")
		for i := range step {
			mustDuck(ctx, t, d, fmt.Sprintf("CREATE TABLE lake.t%06d (a INTEGER, b VARCHAR, c DOUBLE)", n*step+i))
		}
		mustDuck(ctx, t, d, "COMMIT")
		tables := (n + 1) * step
		for i, sql := range []string{"SELECT count(*) FROM (SHOW ALL TABLES) WHERE database = 'lake'", "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake'"} {
			fast(t, target, fmt.Sprintf("B24: %s, %d tables", sql, tables), 3*time.Second, func() {
				c, rows := counted(ctx, t, dsn, attach, sql)
				if fmt.Sprint(rows) != fmt.Sprintf("[[%d]]", tables) {
					t.Errorf("%s: %v of %d tables", sql, rows, tables)
				}
				bytes[i][n], statements[i][n] = c.Answered, c.Statements
			})
		}
	}
	for i := range bytes {
		linear(t, "bytes", bytes[i])
		linear(t, "statements", statements[i])
	}
}

// B27: what one client that inserts one row each time without a competitor gets from the server, and sends to it, is no more after hundreds of
// commits.
func TestB27(t *testing.T) { onBoth(t, b27) }

func b27(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
	t.Helper()
	attach := scaleLake(ctx, t, dsn, "CREATE TABLE lake.t (i INTEGER)")
	p, err := tap.New(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := again(ctx, t, strings.Replace(attach, dsn, p.DSN(dsn), 1))
	insert := func(rows int) tap.Counts {
		for range rows {
			mustDuck(ctx, t, d, "INSERT INTO lake.t VALUES (1)")
		}
		return p.Take()
	}
	insert(20) // loads the catalog
	early := insert(20)
	insert(scaled(100, 340))
	late := insert(20)
	if early.Commits != 20 || late.Commits != 20 || 2*late.Answered > 3*early.Answered || 2*late.Statements > 3*early.Statements {
		t.Errorf("twenty commits early: %+v, late: %+v", early, late)
	}
}
