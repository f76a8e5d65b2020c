package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/gc/fsck"
)

// smallLake is a lake with one table, of a format that needs few relations.
const smallLake = `
create table ducklake_metadata (key varchar, value varchar);
create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
create table ducklake_snapshot_changes (snapshot_id bigint primary key, changes_made varchar);
create table ducklake_schema (schema_id bigint primary key, begin_snapshot bigint, end_snapshot bigint, schema_name varchar, path varchar, path_is_relative boolean);
create table ducklake_table (table_id bigint, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar, path varchar, path_is_relative boolean);
create table ducklake_column (column_id bigint, begin_snapshot bigint, end_snapshot bigint, table_id bigint, column_name varchar, parent_column bigint);
create table ducklake_table_stats (table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint);
create table ducklake_file_column_stats (data_file_id bigint, table_id bigint, column_id bigint, value_count bigint, null_count bigint);
create table ducklake_inlined_data_tables (table_id bigint, table_name varchar, schema_version bigint);
begin;
insert into ducklake_metadata values ('version', '0.3'), ('data_path', '/nowhere/');
insert into ducklake_snapshot values (0, now(), 0, 2, 0);
insert into ducklake_snapshot_changes values (0, 'created_schema:"main"');
insert into ducklake_schema values (0, 0, null, 'main', 'main/', true);
insert into ducklake_table values (1, 0, null, 0, 't', 't/', true);
insert into ducklake_column values (1, 0, null, 1, 'i', null);
insert into ducklake_table_stats values (1, 0, 0, 0);
commit;
`

func TestFsck(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := serve(t, "--data", data)
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	ctx := context.Background()
	conn := p.connect(t, "lake")
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	eider(t, "", env, "fsck").want(t, 2, "catalog lake has no lake")
	exec(smallLake)
	eider(t, "", env, "fsck").want(t, 0, "catalog lake, lake public", "format 0.3", "1 snapshots", "clean\n")
	eider(t, "", env, "fsck", "--lake", "other").want(t, 2, "no lake other", "public")
	eider(t, "", env, "fsck", "--catalog", "nothere").want(t, 2, "nothere")
	eider(t, "", env, "fsck", "--format", "xml").want(t, 2, "unknown format")
	eider(t, "", env, "fsck", "--drop-missing-files").want(t, 2, "--files")
	eider(t, "", env, "fsck", "extra").want(t, 2, "no arguments")

	exec("insert into ducklake_file_column_stats select g, 1, 1, 0, 0 from generate_series(100, 149) g")
	eider(t, "", env, "fsck").want(t, 1, "warning file-stats-orphaned: ducklake_file_column_stats: 50 rows of 50 data files that do not exist", "[repair]",
		"repair  file-stats-orphaned: planned", `DELETE FROM "public"."ducklake_file_column_stats"`, "0 errors, 1 warnings, 0 remarks")
	eider(t, "", env, "fsck", "--repair", "--dry-run").want(t, 1, "planned")
	var out struct {
		Catalog string
		Clean   bool
		Lakes   []fsck.Report
	}
	r := eider(t, "", env, "fsck", "--format", "json", "--max-findings", "1")
	if err := json.Unmarshal([]byte(r.out), &out); err != nil || r.code != 1 || out.Clean || len(out.Lakes) != 1 || out.Lakes[0].Totals[fsck.FileStatsOrphaned] != 1 ||
		out.Lakes[0].Findings[0].Rows != 50 || !strings.Contains(r.out, `"severity": "warning"`) {
		t.Errorf("%v %d %s", err, r.code, r.out)
	}
	r = eider(t, "", env, "fsck", "--repair")
	r.want(t, 0, "repair  file-stats-orphaned: applied", "the state before is kept in "+filepath.Join(data, "checkpoints", "lake-fsck-"), "clean\n", "level=INFO msg=repaired")
	eider(t, "", env, "fsck").want(t, 0, "clean")
	var code, statements, checkpoint string
	if err := conn.QueryRow(ctx, "select code, statements, checkpoint from eider.repairs").Scan(&code, &statements, &checkpoint); err != nil ||
		code != string(fsck.FileStatsOrphaned) || !strings.Contains(statements, "'149'") {
		t.Errorf("%s %s %v", code, statements, err)
	}
	if _, err := os.Stat(checkpoint); err != nil {
		t.Error(err)
	}
}

// A server in memory has no checkpoints; a repair has to be told that there is a backup.
func TestFsckWithoutCheckpoint(t *testing.T) {
	t.Parallel()
	p := serve(t, "--engine", "memory")
	env := map[string]string{"EIDER_SERVER": p.url("postgres")}
	ctx := context.Background()
	conn := p.connect(t, "lake")
	if _, err := conn.Exec(ctx, smallLake+"insert into ducklake_file_column_stats values (100, 1, 1, 0, 0)", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	eider(t, "", env, "fsck", "--repair").want(t, 2, "takes no checkpoints")
	eider(t, "", env, "fsck").want(t, 1)
	eider(t, "", env, "fsck", "--repair", "--no-checkpoint").want(t, 0, "applied", "clean")
	for sql, want := range map[string]string{
		"select eider_checkpoint('fsck')": "this server keeps no checkpoints", "select eider_checkpoint('../x')": "one of fsck, manual, restore", "select eider_checkpoint('mine')": "one of fsck, manual, restore",
	} {
		if _, err := conn.Exec(ctx, sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
