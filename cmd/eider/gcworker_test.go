package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// What a worker records is seen beside the server's own jobs, and a worker whose connection ends
// is shown as interrupted. Nobody else goes on with its run.
func TestGCWorker(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := serve(t, "--engine", "memory", "--maintenance=false", "--deletion-grace", "90m")
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	gc := func(args ...string) result { t.Helper(); return eider(t, "", env, append([]string{"gc"}, args...)...) }
	other := lakeConn(t, p)
	is := func(conn *pgx.Conn, sql, want string) {
		t.Helper()
		var got string
		if err := conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&got); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v; want %q", sql, got, err, want)
		}
	}
	worker, err := pgx.Connect(ctx, p.url("lake"))
	if err != nil {
		t.Fatal(err)
	}
	is(worker, `select job::text from eider.worker_begin('public', false, '{"tiers": "0-1:1"}')`, "1")
	is(worker, `select coalesce(stop, 'go on') from eider.worker_report(1, '{"counts": {"files merged": 12}, "items": [{"what": "merge main.t", "reason": "12 files into 1"}]}')`, "go on")
	gc("status").want(t, 0, "maintain", "running")
	gc("cancel", "1").want(t, 0)
	is(worker, `select stop from eider.worker_report(1, '{}')`, "the job was cancelled by eider")
	is(worker, `select state from eider.worker_end(1, 'stopped', '{"notes": ["a note"]}', 'told to')`, "cancelled")
	is(worker, `select job::text from eider.worker_begin('public', true)`, "2")
	for sql, code := range map[string]string{
		`select * from eider.worker_report(2, '{}')`:                              "42704",
		`select * from eider.worker_end(2, 'done')`:                               "42704",
		`select * from eider.worker_end(2, 'interrupted')`:                        "22023",
		`select * from eider.worker_report(2, 'x')`:                               "22023",
		`select * from eider.worker_report(2, '{"counts": {"files": "twelve"}}')`: "22023",
		`select * from eider.worker_begin('nope', false)`:                         "42704",
		`select * from eider.worker_begin('public', false, '["no", "object"]')`:   "22023",
		`begin read only; select * from eider.worker_begin('public', false)`:      "25006",
		`select * from eider.gc_run('public', 'maintain')`:                        "55000",
		`select * from eider.gc_policy_set('min-small-files', '1', 'public')`:     "22023",
		`select * from eider.gc_policy_set('windows', 'Sat', 'public', 'main')`:   "22023",
	} {
		_, err := other.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		if err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v, want %s", sql, err, code)
		}
		_, _ = other.Exec(ctx, "rollback", pgx.QueryExecModeSimpleProtocol)
	}
	// It dies, without a word.
	if err := worker.PgConn().Conn().Close(); err != nil {
		t.Fatal(err)
	}
	for state := "running"; state == "running"; {
		if err := other.QueryRow(ctx, "select state from eider.gc_job(2)", pgx.QueryExecModeSimpleProtocol).Scan(&state); err != nil {
			t.Fatal(err)
		}
	}
	is(other, "select error from eider.jobs where id = 2", "the connection of the worker ended while it was at work")
	is(other, `select state || ' ' || counts || ' ' || notes || ' ' || options from eider.jobs where id = 1`, `cancelled {"files merged":12} ["a note"] {"tiers":"0-1:1"}`)
	gc("jobs").want(t, 0, "maintain", "cancelled", "interrupted", "12 files merged")

	gc("run", "maintain").want(t, 2, "eider maintain")
	gc("pause", "maintain").want(t, 0, "maintain")
	gc("status").want(t, 0, "paused")
	gc("resume", "maintain").want(t, 0)

	// Policies of files are set as all others, down to a table, and listed as they count for it.
	for _, sql := range []string{
		`create table eider.settings (lake text, table_id bigint, "check" text, mode text)`,
		"insert into eider.settings values (null, null, '*', 'off')",
		`create table ducklake_schema (schema_id bigint, begin_snapshot bigint, end_snapshot bigint, schema_name varchar);
		 create table ducklake_table (table_id bigint, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar);
		 insert into ducklake_schema values (0, 0, null, 'main'); insert into ducklake_table values (1, 0, null, 0, 't')`,
	} {
		if _, err := other.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	gc("policy", "set", "tiers", "0-1MiB:5MiB", "--lake", "public").want(t, 0)
	gc("policy", "set", "tiers", "0-64KiB:1MiB", "--lake", "public", "--schema", "main", "--table", "t").want(t, 0, "table main.t")
	gc("policy", "set", "merge", "off", "--lake", "public", "--schema", "main").want(t, 0)
	gc("policy", "set", "delete-threshold", "2").want(t, 2, "above 0")
	list := gc("policy", "list", "--lake", "public", "--schema", "main", "--table", "t")
	list.want(t, 0, "0-64KiB:1MiB", "lake public, schema main")
	if strings.Contains(list.out, "5MiB") {
		t.Error(list.out)
	}
	// The server's own default is what counts where no policy is set.
	list.want(t, 0, "1h30m")
	gc("policy", "set", "deletion-grace", "0s").want(t, 0)
	if list := gc("policy", "list", "--lake", "public"); strings.Contains(list.out, "1h30m") {
		t.Error(list.out)
	}
}
