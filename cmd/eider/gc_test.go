package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// gcLake is a lake of five snapshots, a day apart, without a table.
const gcLake = `
	create table ducklake_metadata (key varchar not null, value varchar not null, scope varchar, scope_id bigint);
	create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
	create table ducklake_snapshot_changes (snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar);
	create table ducklake_files_scheduled_for_deletion (data_file_id bigint, path varchar, path_is_relative boolean, schedule_start timestamptz);
	insert into ducklake_metadata values ('version', '1.0', null, null), ('data_path', 'files/', null, null);
	insert into ducklake_snapshot_changes select i, 'created_schema:"main"' from generate_series(0, 4) i;
	insert into ducklake_snapshot select i, now() - (4 - i) * interval '1 day', 0, 1, 0 from generate_series(0, 4) i`

func lakeConn(t *testing.T, p *process) *pgx.Conn {
	t.Helper()
	conn := p.connect(t, "lake")
	if _, err := conn.Exec(context.Background(), gcLake, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Maintenance by the command line: policies, plans, jobs, pauses, tags.
func TestGC(t *testing.T) {
	t.Parallel()
	p := serve(t, "--engine", "memory", "--maintenance-tick", "1h")
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	conn := lakeConn(t, p)
	rows := func(sql string) string {
		t.Helper()
		var s *string
		if err := conn.QueryRow(context.Background(), sql).Scan(&s); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if s == nil {
			return "NULL"
		}
		return *s
	}
	is := func(sql, want string) {
		t.Helper()
		if got := rows(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	gc := func(args ...string) result { t.Helper(); return eider(t, "", env, append([]string{"gc"}, args...)...) }
	snapshots := "select string_agg(snapshot_id::text, ',' order by snapshot_id) from ducklake_snapshot"

	gc("status").want(t, 0, "expire", "off")
	gc("policy", "set", "retain_age", "30d").want(t, 2, "it is spelt retain-age")
	gc("policy", "set", "retain-age", "soon").want(t, 2, "write a number and a unit")
	gc("policy", "set", "windows", "Sat", "--lake", "public", "--schema", "main").want(t, 2, "only for a catalog, a lake")
	gc("policy", "set", "retain-count", "4", "--lake", "nope").want(t, 1, `no such lake: "nope"; there is public`)
	gc("policy", "set", "retain-count", "4", "--lake", "public", "--schema", "nope").want(t, 1, "no such object", `schema "nope"`)
	gc("policy", "reset", "every").want(t, 1, "policy every is not set for the catalog")
	gc("policy", "set", "retain-count", "4").want(t, 0, "retain-count  4", "the catalog")
	gc("policy", "set", "retain-count", "3", "--lake", "public").want(t, 0, "lake public")
	gc("policy", "list", "--lake", "public").want(t, 0, "retain-count       3", "lake public", "orphans            dry-run", "default")
	is("select count(*)::text from eider.policies", "2")

	eider(t, "", env, "snapshot", "tag", "release", "0", "--note", "keep").want(t, 0, "release", "keep")
	eider(t, "", env, "snapshot", "tag", "release", "1").want(t, 1, "names snapshot 0 already")
	eider(t, "", env, "snapshot", "tag", "x", "99").want(t, 1, "no snapshot 99")
	eider(t, "", env, "snapshot", "tag", "x", "-1").want(t, 2)
	eider(t, "", env, "snapshot", "tag", "newest").want(t, 0, "4")
	eider(t, "", env, "snapshot", "list", "--tagged").want(t, 0, "release", "newest")
	eider(t, "", env, "snapshot", "list", "--lake", "nope").want(t, 1, "no such lake")

	gc("plan", "expire").want(t, 0, "snapshot 1")
	is(snapshots, "0,1,2,3,4")
	gc("run", "expire", "--set", "retain-count=none").want(t, 0, "done")
	is(snapshots, "0,1,2,3,4")
	gc("run", "expire", "--set", "retain=1").want(t, 2, "unknown")
	gc("run", "expire", "--lake", "nope").want(t, 1, "no such lake")
	gc("run", "nonsense").want(t, 2, "unknown kind of job")
	gc("pause", "expire", "--note", "load").want(t, 0, "expire", "load")
	gc("run", "expire").want(t, 1, "maintenance is paused")
	gc("status").want(t, 0, "paused")
	gc("resume", "expire").want(t, 0)
	gc("resume", "expire").want(t, 1, "not paused")
	gc("run", "expire").want(t, 0, "done", "1 snapshots")
	is(snapshots, "0,2,3,4")
	eider(t, "", env, "snapshot", "untag", "release").want(t, 0, "release")
	eider(t, "", env, "snapshot", "untag", "release").want(t, 1, "no such tag")
	r := gc("run", "expire", "--format", "json")
	r.want(t, 0)
	var list []struct {
		Kind, State string
		Counts      map[string]int64
	}
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || len(list) != 1 || list[0].State != "done" || list[0].Counts["snapshots"] != 1 {
		t.Errorf("%v: %s", err, r.out)
	}
	is(snapshots, "2,3,4")
	gc("jobs").want(t, 0, "expire", "done", "eider")
	gc("cancel", "1").want(t, 1, "no such job")
	gc("cancel", "one").want(t, 2)

	// Turned on, everything runs.
	gc("policy", "set", "maintenance", "on").want(t, 0)
	gc("run").want(t, 0, "expire", "cleanup", "orphans", "fsck", "the policy orphans is dry-run")
	is("select bool_and(dry_run)::text from eider.jobs where kind = 'orphans'", "true")

	// The mode of a kind holds for who asks as well.
	gc("policy", "set", "expire", "off").want(t, 0)
	gc("run", "expire").want(t, 1, "policy expire of lake public is off")
	gc("run", "expire", "--set", "expire=on").want(t, 0, "done")
	gc("pause", "fsck").want(t, 0)
	gc("run").want(t, 0, "skipped", "policy expire of lake public is off", "maintenance is paused since", "cleanup")
	gc("resume").want(t, 0)
	gc("policy", "reset", "expire").want(t, 0)
	if code, body := get(t, "http://"+p.admin+"/metrics"); code != http.StatusOK ||
		!strings.Contains(body, `eider_gc_jobs_total{catalog="lake",kind="expire",state="done"}`) {
		t.Errorf("metrics: %d", code)
	}

	// What SQL alone can do, and a policy that nobody understands.
	if _, err := conn.Exec(context.Background(), "insert into eider.policies values ('public', null, null, 'retain_age', '1d')"); err != nil {
		t.Fatal(err)
	}
	gc("policy", "list").want(t, 0, "retain_age", "it is spelt retain-age")
	gc("status").want(t, 0, "blocked")
	gc("run", "expire").want(t, 1, "it is spelt retain-age")
	gc("policy", "reset", "retain_age", "--lake", "public").want(t, 0)
	gc("run", "expire").want(t, 0, "done")
}

// Functions and relations of the schema eider, in the ways that clients call them.
func TestGCFromSQL(t *testing.T) {
	t.Parallel()
	p := serve(t, "--engine", "memory", "--maintenance=false")
	conn := lakeConn(t, p)
	ctx := context.Background()
	for _, c := range []struct{ sql, want string }{
		{"select count(*)::text from eider.jobs", "0"},
		{"select count(*)::text from eider.findings", "0"},
		{"select count(*)::text from eider.schedule", "0"},
		{"select lake || ':' || snapshot_id from eider.sessions", "public:4"},
		{"select state from eider.gc_run('public', 'expire', '{\"wait\": true, \"retain-count\": 2}')", "done"},
		{"select count(*)::text from ducklake_snapshot", "2"},
		{"select kind || dry_run from eider.gc_plan(NULL, 'fsck')", "fscktrue"},
		{"select kind || state from eider.gc_job(1)", "expiredone"},
		{"select count(*)::text from eider.jobs", "2"},
		{"select snapshot_id::text from eider.snapshot_tag('public', 'a', note => 'n')", "4"},
		{"select tag from eider.tags", "a"},
		{"select kind from eider.gc_pause('trim')", "trim"},
		{"select kind from eider.pauses", "trim"},
		{"select value from eider.gc_policies('public') where name = 'every'", "24h"},
		{"select count(*)::text from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'eider' and relname in ('sessions', 'schedule')", "0"},
		{"insert into ducklake_files_scheduled_for_deletion values (7, 'main/t/x.parquet', true, now() - interval '1 day') returning 'ok'", "ok"},
		{"select name from eider.gc_policy_set('deletion-grace', '2d')", "deletion-grace"},
		{"select path || (due_at > now()) || (held is null) from eider.schedule", "main/t/x.parquettruetrue"},
	} {
		var got string
		if err := conn.QueryRow(ctx, c.sql, pgx.QueryExecModeSimpleProtocol).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.sql, got, err, c.want)
		}
	}
	for sql, code := range map[string]string{
		"select * from eider.gc_run('public', 'expire', '[1]')":                       "22023",
		"select * from eider.gc_run('public', 'expire', '{\"wait\": \"soon\"}')":      "22023",
		"select * from eider.gc_run('public', 'expire', '{\"nope\": 1}')":             "22023",
		"select * from eider.gc_run('public', NULL)":                                  "22004",
		"select * from eider.gc_run('nope', 'expire')":                                "42704",
		"select * from eider.gc_run('public', 'expiry')":                              "22023",
		"select * from eider.gc_run('public', 'trim')":                                "55000",
		"select * from eider.gc_nope()":                                               "42883",
		"select * from gc_status()":                                                   "42883",
		"insert into eider.sessions (pid) values (1)":                                 "42P01",
		"begin read only; select * from eider.gc_run('public', 'expire')":             "25006",
		"rollback; begin read only; select * from eider.gc_policy_set('every', '1h')": "25006",
	} {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %s", sql, err, code)
		}
		_, _ = conn.Exec(ctx, "rollback", pgx.QueryExecModeSimpleProtocol)
	}
}
