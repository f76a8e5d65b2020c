package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/server"
)

// jobsLake is a lake with some snapshots and files, on a server of its own that may delete.
func jobsLake(ctx context.Context, t *testing.T, snapshots int) (s *server.Server, db, attach string, exec func(sql string) []string) {
	t.Helper()
	s = privateEider(t, "--maintenance-tick", "1s")
	db = newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d, attach := lakeOn(ctx, t, s, db)
	exec = func(sql string) []string {
		t.Helper()
		r, err := d.Exec(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return r.Lines()
	}
	exec("CREATE TABLE lake.t (i INTEGER)")
	for i := range snapshots {
		exec(fmt.Sprintf("INSERT INTO lake.t SELECT range FROM range(%d, %d)", i*100, i*100+100))
	}
	return s, db, attach, exec
}

// TestJobsFromDuckDB runs maintenance from DuckDB, through postgres_query, beside the attached lake.
func TestJobsFromDuckDB(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, db, _, exec := jobsLake(ctx, t, 6)
	exec(fmt.Sprintf("ATTACH '%s' AS pg (TYPE postgres)", s.DSN(db)))
	ask := func(sql string) string {
		t.Helper()
		return strings.Join(exec("SELECT * FROM postgres_query('pg', $q$"+sql+"$q$)"), "\n")
	}
	count := func() string { return strings.Join(exec("SELECT count(*) FROM lake.snapshots()"), "") }
	before := count()
	if got := ask("SELECT lake, snapshot_id FROM eider.sessions WHERE snapshot_id IS NOT NULL"); !strings.Contains(got, "public") {
		t.Errorf("sessions: %q", got)
	}
	if got := ask(`SELECT kind, state FROM eider.gc_run('public', 'expire', '{"wait": true, "retain-count": 2}')`); !strings.Contains(got, "done") {
		t.Errorf("run: %q", got)
	}
	if after := count(); after != "2" {
		t.Errorf("%s snapshots, %s before", after, before)
	}
	if got := strings.Join(exec("SELECT count(*), sum(i) FROM lake.t"), ""); !strings.Contains(got, "600") {
		t.Errorf("rows: %q", got)
	}
	for _, sql := range []string{
		"SELECT id, kind, state, counts FROM eider.jobs", "SELECT * FROM eider.findings", "SELECT * FROM eider.schedule", "SELECT * FROM eider.policies",
		"SELECT * FROM eider.gc_status()", "SELECT * FROM eider.gc_plan('public', 'all')", "SELECT * FROM eider.snapshot_tag('public', 'now')",
		"SELECT * FROM eider.tags", "SELECT * FROM eider.gc_pause()", "SELECT * FROM eider.gc_resume()",
	} {
		ask(sql)
	}
	// What only the server knows is not listed among the relations.
	if got := strings.Join(exec("SELECT table_name FROM duckdb_tables() WHERE database_name IN ('pg', 'lake', '__ducklake_metadata_lake') AND table_name IN ('sessions', 'schedule')"), ""); got != "" {
		t.Errorf("listed: %s", got)
	}
	exec("INSERT INTO lake.t VALUES (1)")
}

// TestJobsKilled kills the server while jobs run: the next one goes on, and the lake is healthy.
func TestJobsKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	s, db, attach, exec := jobsLake(ctx, t, 40)
	policy := func(name, value string) {
		t.Helper()
		c := connect(ctx, t, s.DSN(db))
		mustExec(ctx, t, c, fmt.Sprintf("SELECT * FROM eider.gc_policy_set('%s', '%s')", name, value))
	}
	want := strings.Join(exec("SELECT count(*), sum(i) FROM lake.t"), "")
	r := rand.New(rand.NewPCG(1, 2))
	policy("maintenance", "on")
	for left := 38; left > 2; left -= 6 {
		policy("retain-count", fmt.Sprint(left))
		c := connect(ctx, t, s.DSN(db))
		mustExec(ctx, t, c, "SELECT * FROM eider.gc_run('public', 'all')")
		time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond) // any moment of the jobs will do
		s.Kill()
		if err := s.Launch(ctx); err != nil {
			t.Fatal(err)
		}
	}
	c := connect(ctx, t, s.DSN(db))
	if got := one(ctx, t, c, `SELECT state FROM eider.gc_run('public', 'expire', '{"wait": true, "retain-count": 2}')`); got != "done" {
		t.Errorf("the last run: %s", got)
	}
	if got := one(ctx, t, c, "SELECT count(*) FROM ducklake_snapshot"); got != "2" {
		t.Errorf("%s snapshots", got)
	}
	if got := one(ctx, t, c, "SELECT count(*) FROM eider.jobs WHERE state IN ('queued', 'running') AND asked_by <> 'scheduler'"); got != "0" {
		t.Errorf("%s jobs have not ended", got)
	}
	d := newDuck(ctx, t)
	if _, err := d.Exec(ctx, attach); err != nil {
		t.Fatal(err)
	}
	res, err := d.Exec(ctx, "SELECT count(*), sum(i) FROM lake.t")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(res.Lines(), ""); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := one(ctx, t, c, "SELECT counts FROM eider.gc_run('public', 'fsck', '{\"wait\": true}')"); strings.Contains(got, "error") {
		t.Errorf("fsck: %s", got)
	}
	t.Logf("interrupted: %s", one(ctx, t, c, "SELECT count(*) FROM eider.jobs WHERE state = 'interrupted'"))
}
