package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/server"
	"github.com/eiderdb/eider/e2e/internal/tools"
)

// maintainCommand is "eider maintain" on a database of a server, with the worker beside the server's binary.
func maintainCommand(ctx context.Context, t *testing.T, target script.Target, db string, args ...string) *exec.Cmd {
	t.Helper()
	worker := eiderWorker(t)
	args = append(append([]string{"maintain"}, workerArgs(ctx, t, target, db)...), args...)
	if os.Getenv("EIDER_E2E_BINARY") != "" {
		args = append(args, "--worker", worker)
	}
	return exec.CommandContext(ctx, eiderBinary(t), args...)
}

// eiderWorker builds the worker once, beside the server's binary.
func eiderWorker(t *testing.T) string {
	t.Helper()
	dir := filepath.Dir(eiderBinary(t))
	worker, err := shared.worker.get(func() (string, error) { return server.BuildWorker(context.Background(), dir) })
	if err != nil {
		t.Fatal(err)
	}
	return worker
}

// workerArgs are the flags of the worker's commands for a database of a server.
func workerArgs(ctx context.Context, t *testing.T, target script.Target, db string) []string {
	t.Helper()
	dir, err := tools.Fetch(ctx, tools.Extensions)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"--server", target.DSN("postgres"), "--catalog", db, "--format", "json", "--threads", "1", "--memory-limit", "1GB",
		"--extension-dir", filepath.Join(dir, "extensions"),
	}
}

// maintainEvent is a line of what maintain reports.
type maintainEvent struct {
	Event, Phase, Table, Status, Note, Error, Stopped string
	Steps, Failed, Skipped, Retries                   int
	Seconds                                           float64
	Min                                               int64 `json:"tier_min_bytes"`
	Read                                              int64 `json:"files_read"`
	Rows                                              int64
}

// runMaintain runs the command to its end and returns its exit code, what it reported, and what it complained about.
func runMaintain(ctx context.Context, t *testing.T, target script.Target, db string, args ...string) (int, []maintainEvent, string) {
	t.Helper()
	cmd := maintainCommand(ctx, t, target, db, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	p, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return cmd.ProcessState.ExitCode(), maintainEvents(t, &out), errs.String()
}

// startMaintain starts the command and returns what it reports while it runs.
func startMaintain(ctx context.Context, t *testing.T, target script.Target, db string, args ...string) (*proc.Process, io.Reader) {
	t.Helper()
	cmd := maintainCommand(ctx, t, target, db, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

func maintainEvents(t *testing.T, r io.Reader) []maintainEvent {
	t.Helper()
	var list []maintainEvent
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var e maintainEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%q: %v", lines.Text(), err)
		}
		list = append(list, e)
	}
	return list
}

// lakeSession is a DuckDB of its own with the lake of a database attached as lake.
func lakeSession(ctx context.Context, t *testing.T, dsn, data string) duck.Session {
	t.Helper()
	s := newDuck(ctx, t)
	for _, sql := range []string{fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", dsn, data), "USE lake"} {
		if _, err := s.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return s
}

// The tables of the maintenance tests, by the names that SQL has for them.
var maintained = []string{"main.plain", "main.parts", "main.sorted", "other.small"}

// buildMaintained makes a lake with something to do for every step: small files, files of updates, deletes in files and inlined, inlined
// rows, partitions, a sorted table, a file above all tiers.
func buildMaintained(ctx context.Context, t *testing.T, s duck.Session, r *rand.Rand) {
	t.Helper()
	do := func(format string, args ...any) { mustDuck(ctx, t, s, fmt.Sprintf(format, args...)) }
	do("CREATE SCHEMA other")
	do("CREATE TABLE main.plain (i BIGINT, v VARCHAR)")
	do("CREATE TABLE main.parts (i BIGINT, p INTEGER, v VARCHAR)")
	do("ALTER TABLE main.parts SET PARTITIONED BY (p)")
	do("CREATE TABLE main.sorted (i BIGINT, v VARCHAR)")
	do("ALTER TABLE main.sorted SET SORTED BY (v ASC)")
	do("CREATE TABLE other.small (i BIGINT, v VARCHAR)")
	do("INSERT INTO main.plain SELECT i, md5(i::VARCHAR) FROM range(100000, 112000) t(i)") // about 400 kB
	next := 0
	for round := range 24 {
		n := 20 + r.IntN(400)
		do("INSERT INTO main.plain SELECT i, md5(i::VARCHAR) FROM range(%d, %d) t(i)", next, next+n)
		do("INSERT INTO main.parts SELECT i, i %% 3, md5(i::VARCHAR) FROM range(%d, %d) t(i)", next, next+n)
		if round%3 == 0 {
			do("INSERT INTO main.sorted SELECT i, md5(i::VARCHAR) FROM range(%d, %d) t(i)", next, next+n)
			do("INSERT INTO other.small VALUES (%d, 'a'), (%d, 'b')", round, round+100)
		}
		switch r.IntN(4) {
		case 0:
			do("UPDATE main.plain SET v = 'u' || i WHERE i BETWEEN %d AND %d", next, next+n/2)
			do("UPDATE main.plain SET v = 'w' || i WHERE i BETWEEN %d AND %d", next, next+n/3)
		case 1:
			do("DELETE FROM main.plain WHERE i >= %d AND i < %d", next, next+n*2/3)
		case 2:
			do("DELETE FROM main.parts WHERE i = %d", next+r.IntN(n))
			do("UPDATE other.small SET v = 'c' WHERE i = %d", round)
		}
		next += n
	}
	do("ALTER TABLE main.parts ADD COLUMN w INTEGER")
	do("INSERT INTO main.parts SELECT i, i %% 2, 'late', i FROM range(%d, %d) t(i)", next, next+50)
}

// lakeContent is what every snapshot has in every table, row ids included.
func lakeContent(ctx context.Context, t *testing.T, dsn, data string, upTo int) map[string]string {
	t.Helper()
	s := lakeSession(ctx, t, dsn, data)
	out := map[string]string{}
	for v := 1; v <= upTo; v++ {
		for _, table := range maintained {
			res, err := s.Query(ctx, fmt.Sprintf("SELECT count(*), md5(string_agg(h, ',' ORDER BY h)) FROM (SELECT x::VARCHAR AS h FROM (SELECT rowid, * FROM lake.%s AT (VERSION => %d)) x)", table, v))
			if err != nil {
				if !strings.Contains(err.Error(), "does not exist") {
					t.Fatalf("version %d of %s: %v", v, table, err)
				}
				continue
			}
			out[fmt.Sprintf("%s at %d", table, v)] = strings.Join(res.Lines(), " ")
		}
	}
	return out
}

// headSnapshot is the newest snapshot.
func headSnapshot(ctx context.Context, t *testing.T, dsn string) int {
	t.Helper()
	n, err := strconv.Atoi(one(ctx, t, connect(ctx, t, dsn), "SELECT max(snapshot_id) FROM ducklake_snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lakeOptions are the lake's options as they are stored.
func lakeOptions(ctx context.Context, t *testing.T, dsn string) string {
	t.Helper()
	return one(ctx, t, connect(ctx, t, dsn), "SELECT string_agg(key || '=' || value || coalesce(scope, '') || coalesce(scope_id::text, ''), ', ' ORDER BY key, value, scope, scope_id) FROM ducklake_metadata")
}

// The tiers of the tests, in bytes: small enough that the files of the tests are in all of them.
const testTiers = "0-16KiB:32KiB,16KiB-64KiB:128KiB"

// databaseOf is the database that a connection string names.
func databaseOf(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Database
}
