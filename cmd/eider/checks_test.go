package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The modes of checks: what is set, what it does to a commit, what is found and counted.
func TestChecks(t *testing.T) {
	t.Parallel()
	p := serve(t, "--engine", "memory")
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	ctx := context.Background()
	conn := p.connect(t, "lake")
	exec := func(sql string) error {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	if err := exec(`
		create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
		create table ducklake_table_stats (table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint);
		insert into ducklake_table_stats values (7, 0, 0, 0), (8, 0, 0, 0);
		insert into ducklake_snapshot values (0, now(), 0, 1, 0)`); err != nil {
		t.Fatal(err)
	}
	break7, break8 := "update ducklake_table_stats set record_count = -1 where table_id = 7", "update ducklake_table_stats set record_count = -1 where table_id = 8"
	refused := func(sql string) {
		t.Helper()
		if err := exec(sql); err == nil || !strings.Contains(err.Error(), "23514") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	eider(t, "", env, "checks", "findings").want(t, 0)
	eider(t, "", env, "checks", "reset", "negative").want(t, 1, "nothing is set")
	refused(break7)
	for _, id := range []string{"-1", "0", "seven", "7.5", "99999999999999999999"} {
		eider(t, "", env, "checks", "set", "negative", "warn", "--table", id).want(t, 2, "--table", id, "a table_id is a whole number from 1 on")
	}
	eider(t, "", env, "checks", "set", "negative", "warn", "--table", "7").want(t, 0, "negative for the catalog, table 7: warn\n")
	if err := exec(break7); err != nil {
		t.Error(err)
	}
	refused(break8)
	eider(t, "", env, "checks", "findings").want(t, 0, "negative", "record_count of table 7 would be -1")
	eider(t, "", env, "checks", "set", "*", "off", "--lake", "public").want(t, 0, "* for lake public: off\n")
	if err := exec(break8); err != nil {
		t.Error(err)
	}
	eider(t, "", env, "checks", "list").want(t, 0, "head-removed", "lake public", "the catalog, table 7")
	eider(t, "", env, "checks", "reset", "*", "--lake", "public").want(t, 0, "* for lake public: as the server's --checks says\n")
	if err := exec("update eider.settings set mode = 'nonsense'"); err != nil {
		t.Error(err)
	}
	refused("update ducklake_table_stats set record_count = -2 where table_id = 7")
	eider(t, "", env, "checks", "set", "span", "off", "--table", "9").want(t, 0, "span for the catalog, table 9: off\n")
	eider(t, "", env, "checks", "set", "*", "warn", "--lake", "public", "--table", "9").want(t, 0, "* for lake public, table 9: warn; span: off\n")
	eider(t, "", env, "checks", "reset", "*", "--lake", "public", "--table", "9").want(t, 0, "table 9: as the server's --checks says; span: off\n")
	eider(t, "", env, "checks", "set", "bogus", "warn").want(t, 2, "unknown check")
	eider(t, "", env, "checks", "set", "negative", "loud").want(t, 2, "unknown mode")
	eider(t, "", env, "checks", "list", "--catalog", "nothere").want(t, 1, "nothere")
	if code, body := get(t, "http://"+p.admin+"/metrics"); code != http.StatusOK ||
		!strings.Contains(body, `eider_findings_total{catalog="lake",check="negative",mode="warn"} 1`) ||
		!strings.Contains(body, `eider_findings_total{catalog="lake",check="negative",mode="enforce"} 3`) {
		t.Errorf("metrics: %d", code)
	}
}

// A server may be told not to refuse.
func TestChecksByDefault(t *testing.T) {
	t.Parallel()
	p := serve(t, "--engine", "memory", "--checks", "warn")
	ctx := context.Background()
	conn := p.connect(t, "lake")
	if _, err := conn.Exec(ctx, `
		create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
		insert into ducklake_snapshot values (0, now(), 0, 1, 0)`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "insert into ducklake_snapshot values (1, now(), 0, 0, 0)"); err != nil {
		t.Fatal(err)
	}
	var check string
	if err := conn.QueryRow(ctx, `select "check" from eider.findings`).Scan(&check); err != nil || check != "counter" {
		t.Fatalf("%q, %v", check, err)
	}
}
