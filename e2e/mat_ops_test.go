package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// start starts a command; lines are what it reports while it runs.
func (p *matProject) start(ctx context.Context, verb string, args ...string) (running *proc.Process, lines <-chan matLine) {
	p.t.Helper()
	cmd := p.command(ctx, verb, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if running, err = proc.Start(cmd); err != nil {
		p.t.Fatal(err)
	}
	ch := make(chan matLine, 1000)
	go func() {
		defer close(ch)
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 1<<22)
		for sc.Scan() {
			var l matLine
			if json.Unmarshal(sc.Bytes(), &l) == nil {
				ch <- l
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	p.t.Cleanup(running.Kill)
	return running, ch
}

// until reads lines to the first of an event; it fails when there is none.
func (p *matProject) until(lines <-chan matLine, event, script string) matLine {
	p.t.Helper()
	for l := range lines {
		if l.Event == event && (script == "" || l.Script == script) {
			return l
		}
	}
	p.t.Fatalf("%s of %s was never told", event, script)
	return matLine{}
}

// slow is a SELECT that takes longer than any test.
const slow = "SELECT count(*) AS n FROM range(1000000) a, range(1000000) b WHERE hash(a.range, b.range) = 1"

// TestMaterializeBackfill fills partitions: one in the middle fails, the rest is run; then only what is missing; then it is ended in between.
func TestMaterializeBackfill(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT DATE '2026-01-01' + CAST(range // 3 AS INT) AS day, range AS id FROM range(30)")
		const head = "-- materialize ducklake://lake/days\n-- partitioned daily start=2026-01-02\n"
		p.write("days.sql", head+"SELECT * FROM lake.src WHERE strftime(day, '%Y-%m-%d') = {partition} AND CASE WHEN {partition} = '2026-01-04' THEN error('not this one') ELSE true END")
		list := p.must(ctx, "backfill", "days.sql", "--from", "2026-01-01", "--to", "2026-01-06", "--dry-run")
		if len(list) != 5 || list[0].Partition != "2026-01-02" {
			t.Fatalf("to be run: %+v", list)
		}
		code, lines, errs := p.do(ctx, "backfill", "days.sql", "--to", "2026-01-06")
		if got := ended(lines); code != 1 || got != "days 2026-01-02 materialized, days 2026-01-03 materialized, days 2026-01-04 failed, days 2026-01-05 materialized, days 2026-01-06 materialized" {
			t.Fatalf("exit code %d, %s\n%s", code, got, errs)
		}
		last := lines[len(lines)-1]
		if last.Success != 4 || last.Failure != 1 || last.Cancelled {
			t.Errorf("in the end: %+v", last)
		}
		p.write("days.sql", head+"SELECT * FROM lake.src WHERE strftime(day, '%Y-%m-%d') = {partition}")
		if got := ended(p.must(ctx, "backfill", "days.sql", "--to", "2026-01-07")); got != "days 2026-01-04 materialized, days 2026-01-07 materialized" {
			t.Errorf("the missing and the failed: %s", got)
		}
		if got := p.rows(ctx, "SELECT _wm_partition, count(*) FROM days GROUP BY 1 ORDER BY 1"); strings.Count(got, "| 3") != 6 {
			t.Errorf("the table:\n%s", got)
		}
		if got := p.must(ctx, "backfill", "days.sql", "--to", "2026-01-07"); len(got) != 1 || got[0].Success != 0 {
			t.Errorf("nothing is missing: %+v", got)
		}

		// A first signal ends it after the partition, a second one at once.
		p.write("days.sql", head+"SELECT n AS id, DATE '2026-01-01' AS day FROM ("+slow+")")
		running, ch := p.start(ctx, "backfill", "days.sql", "--from", "2026-01-08", "--to", "2026-01-09")
		p.until(ch, "started", "days")
		// Two signals of a kind that come close together are one to the system.
		go func() {
			for {
				_ = running.Signal(syscall.SIGTERM)
				select {
				case <-running.Done():
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}()
		end := p.until(ch, "backfill", "days")
		<-running.Done()
		if !end.Cancelled || end.Pending != 1 || end.Success != 0 {
			t.Errorf("the end: %+v", end)
		}
		if got := p.rows(ctx, "SELECT partition, status, error LIKE 'cancelled: %' FROM "+records("partitions")+" WHERE partition > '2026-01-07'"); got != "2026-01-08 | failed | true" {
			t.Errorf("the records:\n%s", got)
		}
		if err := healthy(ctx, target, databaseOf(t, dsn)); err != nil {
			t.Error(err)
		}
	})
}

// TestMaterializeKill kills a run between its beginning and its commit. Nothing was written; the next one finds its record and goes on.
func TestMaterializeKill(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		const head = "-- materialize ducklake://lake/t append\n"
		p.write("t.sql", head+"SELECT 1 AS n")
		p.must(ctx, "run")
		p.write("t.sql", head+slow)
		running, ch := p.start(ctx, "run")
		p.until(ch, "started", "t")
		if got := p.must(ctx, "status", "t.sql"); got[0].Status != "running" {
			t.Errorf("while it runs: %+v", got)
		}
		running.Kill()
		<-running.Done()
		// The catalog notices a connection that is gone when its process is; until then the run counts as one.
		for {
			got := p.must(ctx, "status", "t.sql")
			if got[0].Status == "failed" && strings.HasPrefix(got[0].Error, "its owner is gone (") {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("after the kill: %+v", got)
			}
		}
		p.write("t.sql", head+"SELECT 2 AS n")
		p.must(ctx, "run")
		if got := p.rows(ctx, "SELECT n FROM t ORDER BY n"); got != "1\n2" {
			t.Errorf("rows: %s", got)
		}
		if err := healthy(ctx, target, databaseOf(t, dsn)); err != nil {
			t.Error(err)
		}
	})
}

// TestMaterializeTwoRunners runs one asset from two processes at once: one waits for the other, and both succeed.
func TestMaterializeTwoRunners(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT 1 AS n")
		p.write("t.sql", "-- materialize ducklake://lake/t append\nSELECT n FROM lake.src")
		p.must(ctx, "run")
		const runners = 4
		codes := make(chan string, runners)
		for range runners {
			go func() {
				code, lines, errs := p.do(ctx, "run", "--force")
				codes <- fmt.Sprint(code, " ", ended(lines), errs)
			}()
		}
		for range runners {
			if got := <-codes; !strings.HasPrefix(got, "0 t materialized") {
				t.Errorf("a runner: %s", got)
			}
		}
		if got := p.rows(ctx, "SELECT count(*) FROM t"); got != fmt.Sprint(1+runners) {
			t.Errorf("%s rows, want %d", got, 1+runners)
		}
	})
}

// TestMaterializeSkip runs nothing when neither script nor sources have changed, and says why.
func TestMaterializeSkip(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT range AS id FROM range(3)", "CREATE TABLE unrelated (i INT)", "CREATE VIEW v AS SELECT id FROM src", "CREATE VIEW w AS SELECT * FROM v")
		p.write("direct.sql", "-- materialize ducklake://lake/direct\nATTACH 'ducklake://lake' AS dl; USE dl;\nWITH s AS (SELECT id FROM src) SELECT * FROM s WHERE id IN (SELECT id FROM dl.main.src)")
		p.write("view.sql", "-- materialize ducklake://lake/view\nSELECT * FROM lake.w")
		p.write("temp.sql", "-- materialize ducklake://lake/temp\nCREATE TEMP VIEW tv AS SELECT id FROM lake.src;\nSELECT * FROM tv")
		p.write("clock.sql", "-- materialize ducklake://lake/clock\nSELECT now() AS t FROM lake.src")
		p.write("file.sql", "-- materialize ducklake://lake/file\nSELECT * FROM read_text('"+p.dir+"/materialize.yaml')")
		p.write("constant.sql", "-- materialize ducklake://lake/constant\nSELECT 1 AS a")
		state := func(args ...string) string { return ended(p.must(ctx, "run", args...)) }
		all := "clock materialized, constant materialized, direct materialized, file materialized, temp materialized, view materialized"
		skipped := "clock materialized, constant skipped, direct skipped, file materialized, temp skipped, view skipped"
		if got := state(); got != all {
			t.Fatalf("first: %s", got)
		}
		if got := state(); got != skipped {
			t.Errorf("again: %s", got)
		}
		p.sql(ctx, "INSERT INTO unrelated VALUES (1)", "CALL ducklake_flush_inlined_data('lake')")
		if got := state(); got != skipped {
			t.Errorf("after another table's change and a flush: %s", got)
		}
		p.sql(ctx, "DELETE FROM src WHERE id = 1")
		if got := state(); got != strings.ReplaceAll(all, "constant materialized", "constant skipped") {
			t.Errorf("after a change: %s", got)
		}
		p.write("direct.sql", "-- materialize ducklake://lake/direct\nSELECT id + 1 AS id FROM lake.src")
		if got := state("direct.sql"); got != "direct materialized" {
			t.Errorf("another script: %s", got)
		}
		p.sql(ctx, "DELETE FROM direct")
		if got := state("direct.sql"); got != "direct materialized" {
			t.Errorf("after another's write into the target: %s", got)
		}
		if got := state("direct.sql", "--force"); got != "direct materialized" {
			t.Errorf("forced: %s", got)
		}
		if got := state("direct.sql"); got != "direct skipped" {
			t.Errorf("in the end: %s", got)
		}
		head := headSnapshot(ctx, t, dsn)
		p.sql(ctx, "INSERT INTO src VALUES (100)")
		if got := state("direct.sql", "--at-version", fmt.Sprint(head)); got != "direct materialized" {
			t.Errorf("as of a version: %s", got)
		}
		if got := p.rows(ctx, "SELECT max(id) FROM direct"); got != "3" {
			t.Errorf("as of a version it has %s", got)
		}
		if got := state("direct.sql"); got != "direct materialized" {
			t.Errorf("and then as of now: %s", got)
		}
		if got := p.rows(ctx, "SELECT max(id) FROM direct"); got != "101" {
			t.Errorf("as of now it has %s", got)
		}
	})
}

// TestMaterializeTableAgain drops a table with partitions, or has another script replace it: its slices are neither skipped nor taken for filled.
func TestMaterializeTableAgain(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("t.sql", "-- materialize ducklake://lake/t\n-- partitioned daily start=2026-01-01\nSELECT {partition} AS day")
		fill := func(want string) {
			t.Helper()
			if got := ended(p.must(ctx, "backfill", "t.sql", "--to", "2026-01-03")); got != want {
				t.Errorf("filled: %s, want %s", got, want)
			}
		}
		all := "t 2026-01-01 materialized, t 2026-01-02 materialized, t 2026-01-03 materialized"
		fill(all)
		fill("")
		p.sql(ctx, "DROP TABLE t")
		for _, want := range []string{"materialized", "skipped"} {
			for _, day := range []string{"2026-01-01", "2026-01-02"} {
				if got := ended(p.must(ctx, "run", "--partition", day)); got != "t "+day+" "+want {
					t.Errorf("after the drop: %s, want %s", got, want)
				}
			}
		}
		fill("t 2026-01-03 materialized")
		p.sql(ctx, "DROP TABLE t")
		fill(all)
		if got := p.rows(ctx, "SELECT day FROM t ORDER BY day"); got != "2026-01-01\n2026-01-02\n2026-01-03" {
			t.Errorf("the table:\n%s", got)
		}
		p.sql(ctx, "CREATE OR REPLACE TABLE t AS SELECT 1 AS other")
		if code, lines, errs := p.do(ctx, "run", "--partition", "2026-01-01"); code != 2 || !strings.Contains(errs, "was made without partitions") {
			t.Errorf("another table: exit code %d, %s\n%s", code, ended(lines), errs)
		}
	})
}

// TestMaterializeWatch runs what is due: after commits, in a chain; again after a failure; not what is muted.
func TestMaterializeWatch(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT 1 AS id", "CREATE TABLE gate AS SELECT false AS open")
		p.write("a.sql", "-- materialize ducklake://lake/a\n-- on ducklake://lake/src\nSELECT sum(id) AS s FROM lake.src")
		p.write("b.sql", "-- materialize ducklake://lake/b\n-- on ducklake://lake/a\nSELECT s + 1 AS s FROM lake.a")
		p.write("flaky.sql", "-- materialize ducklake://lake/flaky\n-- on ducklake://lake/gate\n-- retry 1\nSELECT CASE WHEN open THEN 1 ELSE error('closed') END AS x FROM lake.gate")
		running, ch := p.start(ctx, "watch")
		wait := func(script, status string) matLine {
			t.Helper()
			for {
				if l := p.until(ch, "ended", script); l.Status == status {
					return l
				}
			}
		}
		wait("b", "materialized")
		if l := wait("flaky", "failed"); l.Attempt != 2 {
			l = wait("flaky", "failed")
			if l.Attempt != 2 {
				t.Errorf("the last attempt is %d", l.Attempt)
			}
		}
		p.sql(ctx, "INSERT INTO src VALUES (10)")
		wait("b", "materialized")
		if got := p.rows(ctx, "SELECT s FROM b"); got != "12" {
			t.Errorf("after a commit: %s", got)
		}
		p.sql(ctx, "UPDATE gate SET open = true")
		wait("flaky", "materialized")
		if err := running.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-running.Done()
		got := p.rows(ctx, "SELECT DISTINCT trigger FROM "+records("runs")+" ORDER BY 1")
		if got != "changed: ducklake://lake/a\nchanged: ducklake://lake/gate\nchanged: ducklake://lake/src\nretry 1" {
			t.Errorf("why it ran:\n%s", got)
		}
	})
}

// TestMaterializeManual runs a script that writes itself; what it says of its own result is not believed.
func TestMaterializeManual(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("m.sql", "-- materialize manual ducklake://lake/m\nATTACH 'ducklake://lake' AS dl;\nBEGIN; CREATE TABLE IF NOT EXISTS dl.m AS SELECT 1 AS a; COMMIT;\nSELECT 99 AS rows, 99 AS snapshot_id")
		if got := ended(p.must(ctx, "run")); got != "m materialized" {
			t.Fatalf("it ran: %s", got)
		}
		if got := one(ctx, t, connect(ctx, t, dsn), "SELECT status || ' ' || strategy || ' ' || (snapshot_id IS NULL) || ' ' || (row_count IS NULL) || ' ' || (schema_version IS NULL) FROM eider_materialize.runs"); got != "materialized manual true true true" {
			t.Errorf("the record: %s", got)
		}
		if got := p.rows(ctx, "SELECT a FROM m"); got != "1" {
			t.Errorf("the table: %s", got)
		}
	})
}
