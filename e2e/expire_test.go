package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// gcReport is what the command gcstep prints.
type gcReport struct {
	Tables       map[string][]string
	Findings     []string
	Plan, Result struct {
		Counts map[string]int64
		Bytes  int64
	}
	Steps   int
	Stopped bool
	Took    time.Duration
	Peak    int64
}

// gcStep runs a step of maintenance on the data folder of a server that is stopped.
func gcStep(ctx context.Context, t testing.TB, dir, db string, args ...string) gcReport {
	t.Helper()
	bin := stepBinary(t, &shared.gcstep, "gcstep")
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, append([]string{"-data", dir, "-db", db}, args...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", db, args, err, stderr.String())
	}
	var r gcReport
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// grown is a lake with a history of everything that leaves rows behind.
func grown(ctx context.Context, t *testing.T, s *server.Server, db string, r *rand.Rand, steps int) (attach string) {
	t.Helper()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d, attach := lakeOn(ctx, t, s, db)
	for i := range 3 {
		for _, sql := range []string{
			fmt.Sprintf("CREATE TABLE lake.t%d (i INTEGER, s VARCHAR)", i),
			fmt.Sprintf("INSERT INTO lake.t%d SELECT range, 'x' FROM range(100)", i),
		} {
			if _, err := d.Exec(ctx, sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	done := map[string]int{}
	for i := range steps {
		table := fmt.Sprint("lake.t", r.IntN(5))
		at := r.IntN(100)
		sql := pick(
			fmt.Sprintf("INSERT INTO %s (i) VALUES (%d)", table, i),
			fmt.Sprintf("INSERT INTO %s (i) VALUES (%d), (%d)", table, i, i+1),
			fmt.Sprintf("INSERT INTO %s (i) SELECT range FROM range(60)", table),
			fmt.Sprintf("INSERT INTO %s (i) SELECT range FROM range(60)", table),
			fmt.Sprintf("DELETE FROM %s WHERE i = %d", table, at),
			fmt.Sprintf("DELETE FROM %s WHERE i BETWEEN %d AND %d", table, at, at+30),
			fmt.Sprintf("UPDATE %s SET i = i + 1 WHERE i BETWEEN %d AND %d", table, at, at+r.IntN(20)),
			fmt.Sprintf("DELETE FROM %s", table),
			fmt.Sprintf("ALTER TABLE %s ADD COLUMN c%d VARCHAR DEFAULT 'd'", table, i),
			fmt.Sprintf("ALTER TABLE %s RENAME TO t%d", table, r.IntN(5)),
			fmt.Sprintf("ALTER TABLE %s SET PARTITIONED BY (i)", table),
			fmt.Sprintf("ALTER TABLE %s RESET PARTITIONED BY", table),
			fmt.Sprintf("ALTER TABLE %s SET SORTED BY (i ASC)", table),
			fmt.Sprintf("DROP TABLE %s", table),
			fmt.Sprintf("CREATE TABLE %s (i INTEGER, s VARCHAR)", table),
			fmt.Sprintf("CREATE TABLE %s AS SELECT range::INTEGER AS i, 'y' AS s FROM range(50)", table),
			fmt.Sprintf("COMMENT ON TABLE %s IS 'c%d'", table, i),
			fmt.Sprintf("COMMENT ON COLUMN %s.i IS 'c%d'", table, i),
			fmt.Sprintf("CREATE OR REPLACE VIEW lake.v%d AS SELECT %d", r.IntN(2), i),
			fmt.Sprintf("DROP VIEW lake.v%d", r.IntN(2)),
			fmt.Sprintf("CREATE OR REPLACE MACRO lake.m%d(a, b := 3) AS a + b + %d", r.IntN(2), i),
			fmt.Sprintf("DROP MACRO lake.m%d", r.IntN(2)),
			fmt.Sprintf("CREATE SCHEMA lake.s%d", r.IntN(2)),
			fmt.Sprintf("CREATE TABLE lake.s%d.u (a INTEGER, st STRUCT(x INTEGER, y VARCHAR))", r.IntN(2)),
			fmt.Sprintf("INSERT INTO lake.s%d.u SELECT range, {'x': 1, 'y': 'z'} FROM range(40)", r.IntN(2)),
			fmt.Sprintf("DROP SCHEMA lake.s%d CASCADE", r.IntN(2)),
			"CALL ducklake_flush_inlined_data('lake')",
			"CALL ducklake_merge_adjacent_files('lake')",
			fmt.Sprintf("CALL ducklake_rewrite_data_files('lake', 't%d', delete_threshold => 0.1)", r.IntN(3)),
			"add files",
		)
		if sql == "add files" {
			// A file of the client's own, with a mapping of names.
			path := fmt.Sprintf("%s/own%d.parquet", t.TempDir(), i)
			if _, err := d.Exec(ctx, fmt.Sprintf("COPY (SELECT range::INTEGER AS i, 'z' AS s FROM range(20)) TO '%s'", path)); err != nil {
				t.Log(err)
			}
			sql = fmt.Sprintf("CALL ducklake_add_data_files('lake', '%s', '%s', allow_missing => true)", strings.TrimPrefix(table, "lake."), path)
		}
		_, err := d.Exec(ctx, sql)
		switch {
		case err == nil:
			done[strings.Join(strings.Fields(sql)[:2], " ")]++
		case strings.Contains(err.Error(), "database has been invalidated"):
			d = again(ctx, t, attach) // the client had an error of its own
		}
	}
	t.Logf("%s: %v", db, done)
	return attach
}

// again attaches a lake in a new DuckDB.
func again(ctx context.Context, t *testing.T, attach string) duck.Session {
	t.Helper()
	d := newDuck(ctx, t)
	if _, err := d.Exec(ctx, attach); err != nil {
		t.Fatalf("%s: %v", attach, err)
	}
	return d
}

// TestExpireAsDuckLake expires one lake by DuckLake and a copy of it by the server: the rows that are left are the same.
func TestExpireAsDuckLake(t *testing.T) {
	s := privateEider(t)
	ctx := context.Background()
	seed := newSeed(t)
	const lakes, steps = 4, 120
	dbs, attach, sels, calls := []string{}, map[string]string{}, map[string][]string{}, map[string]string{}
	for i := range lakes {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		db := newDatabase()
		dbs = append(dbs, db)
		attach[db] = grown(ctx, t, s, db, r, steps)
		pg, err := duck.OpenPostgres(ctx, s.DSN(db))
		if err != nil {
			t.Fatal(err)
		}
		res, err := pg.Exec(ctx, "SELECT snapshot_id, to_char(snapshot_time, 'YYYY-MM-DD HH24:MI:SS.US+00') FROM ducklake_snapshot ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		_ = pg.Close()
		rows := res.Rows
		if i%2 == 0 {
			at := rows[len(rows)/2+r.IntN(len(rows)/2)][1]
			when, err := time.Parse("2006-01-02 15:04:05.999999-07", at)
			if err != nil {
				t.Fatal(err)
			}
			sels[db] = []string{"-before", strconv.FormatInt(when.UnixMicro(), 10)}
			calls[db] = fmt.Sprintf("CALL ducklake_expire_snapshots('lake', older_than => '%s'::TIMESTAMPTZ)", at)
			continue
		}
		ids := []string{}
		for _, row := range rows[:len(rows)-1] {
			if r.IntN(4) > 0 {
				ids = append(ids, row[0])
			}
		}
		sels[db], calls[db] = []string{"-only", strings.Join(ids, ",")}, fmt.Sprintf("CALL ducklake_expire_snapshots('lake', versions => [%s])", strings.Join(ids, ", "))
	}
	s.Kill()
	copied := t.TempDir() + "/data"
	if err := os.CopyFS(copied, os.DirFS(s.DataDir())); err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	for _, db := range dbs {
		if _, err := again(ctx, t, attach[db]).Exec(ctx, calls[db]); err != nil {
			t.Fatalf("%s: %v", calls[db], err)
		}
	}
	if err := s.Restart(ctx, "", false); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	defer func() {
		if err := s.Launch(ctx); err != nil { // Stop wants one that runs
			t.Error(err)
		}
	}()
	for i, db := range dbs {
		before, want := gcStep(ctx, t, copied, db, "dump"), gcStep(ctx, t, s.DataDir(), db, "dump")
		// In many transactions, each of which leaves a healthy lake, and in several processes. One needs 11 transactions to see that nothing is left.
		args := append(sels[db], "-rows", "7", "-check", "-plan")
		done := gcStep(ctx, t, copied, db, append(args, "-stop", strconv.Itoa(13+i%3), "expire")...)
		for part := done; part.Stopped; {
			part = gcStep(ctx, t, copied, db, append(args, "-stop", strconv.Itoa(13+i%3), "expire")...)
			done.Steps += part.Steps
			done.Findings = append(done.Findings, part.Findings...)
			for what, n := range part.Result.Counts {
				done.Result.Counts[what] += n
			}
		}
		if len(done.Findings) > 0 {
			t.Errorf("%s: findings on the way:\n%s", db, strings.Join(done.Findings, "\n"))
		}
		for _, what := range []string{"snapshots", "data files", "tables"} {
			if done.Plan.Counts[what] != done.Result.Counts[what] {
				t.Errorf("%s: %s: planned %d, done %d", db, what, done.Plan.Counts[what], done.Result.Counts[what])
			}
		}
		got := gcStep(ctx, t, copied, db, "dump")
		t.Logf("%s: %s: %d transactions: %v, %d bytes", db, calls[db], done.Steps, done.Result.Counts, done.Result.Bytes)
		if len(before.Tables["ducklake_snapshot"]) <= len(got.Tables["ducklake_snapshot"]) {
			t.Errorf("%s: no snapshot was expired", db)
		}
		names := slices.Sorted(maps.Keys(want.Tables))
		if other := slices.Sorted(maps.Keys(got.Tables)); !slices.Equal(names, other) {
			t.Errorf("%s: tables of DuckLake:\n%v\nof the server:\n%v", db, names, other)
		}
		for _, name := range names {
			if !slices.Equal(want.Tables[name], got.Tables[name]) {
				t.Errorf("%s: %s\nleft by DuckLake only:\n%s\nleft by the server only:\n%s", db, name,
					strings.Join(minus(want.Tables[name], got.Tables[name]), "\n"), strings.Join(minus(got.Tables[name], want.Tables[name]), "\n"))
			}
		}
		if !slices.Equal(want.Findings, got.Findings) {
			t.Errorf("%s: findings after DuckLake's:\n%s\nafter the server's:\n%s", db, strings.Join(want.Findings, "\n"), strings.Join(got.Findings, "\n"))
		}
	}
}

// minus are the lines of a that are not in b.
func minus(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
