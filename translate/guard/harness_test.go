package guard_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/guard"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// lakeSQL is a lake at snapshot 1: table t (1) with the data files 0 and 1, of which row 5
// of file 0 is deleted inline.
const lakeSQL = `
create table ducklake_metadata (key varchar not null, value varchar not null, scope varchar, scope_id bigint);
create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
create table ducklake_snapshot_changes (snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar);
create table ducklake_schema (schema_id bigint primary key, schema_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_name varchar, path varchar, path_is_relative boolean);
create table ducklake_table (table_id bigint, table_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar, path varchar, path_is_relative boolean);
create table ducklake_column (column_id bigint, begin_snapshot bigint, end_snapshot bigint, table_id bigint, column_order bigint, column_name varchar, column_type varchar, initial_default varchar, default_value varchar, nulls_allowed boolean, parent_column bigint, default_value_type varchar, default_value_dialect varchar);
create table ducklake_data_file (data_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, file_order bigint, path varchar, path_is_relative boolean, file_format varchar, record_count bigint, file_size_bytes bigint, footer_size bigint, row_id_start bigint, partition_id bigint, encryption_key varchar, mapping_id bigint, partial_max bigint);
create table ducklake_delete_file (delete_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, data_file_id bigint, path varchar, path_is_relative boolean, format varchar, delete_count bigint, file_size_bytes bigint, footer_size bigint, encryption_key varchar, partial_max bigint);
create table ducklake_table_stats (table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint);
create table ducklake_tag (object_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar);
create table ducklake_inlined_data_tables (table_id bigint, table_name varchar, schema_version bigint);
create table ducklake_inlined_delete_1 (file_id bigint, row_id bigint, begin_snapshot bigint);
insert into ducklake_metadata values ('version', '1.0', null, null), ('data_path', '/data/', null, null);
insert into ducklake_schema values (0, null, 0, null, 'main', 'main/', true);
insert into ducklake_table values (1, null, 1, null, 0, 't', 't/', true);
insert into ducklake_column values (1, 1, null, 1, 1, 'i', 'int64', null, 'NULL', true, null, 'literal', 'duckdb');
insert into ducklake_data_file values
	(0, 1, 1, null, null, 'f0', true, 'parquet', 100, 1000, 10, 0, null, null, null, null),
	(1, 1, 1, null, null, 'f1', true, 'parquet', 100, 1000, 10, 100, null, null, null, null);
insert into ducklake_inlined_delete_1 values (0, 5, 1);
insert into ducklake_table_stats values (1, 199, 200, 2000);
insert into ducklake_snapshot_changes values (0, 'created_schema:"main"', null, null, null), (1, 'created_table:"main"."t"', null, null, null);
insert into ducklake_snapshot values (0, '2026-01-01', 0, 1, 0), (1, '2026-01-01 00:01', 1, 2, 2)`

// made is the commit of a snapshot, with counters that stay as they are.
func made(snapshot, changes string, statements ...string) string {
	return "insert into ducklake_snapshot values (" + snapshot + ", now(), 1, 2, 2);" + strings.Join(statements, ";") +
		";insert into ducklake_snapshot_changes values (" + snapshot + ", '" + changes + "', null, null, null)"
}

// server is a catalog with sessions, whose guard tells what it logs and finds.
type server struct {
	t     testing.TB
	shop  *store.Store
	deps  translate.Deps
	log   strings.Builder
	found []string
	conn  map[string]*translate.Session

	now     time.Time
	grace   time.Duration
	missing map[string]bool   // files that are gone
	looked  func(path string) // is told what is looked for; may be nil
	notices []string
}

// Missing implements guard.Presence.
func (s *server) Missing(_ context.Context, path string) bool {
	if s.looked != nil {
		s.looked(path)
	}
	return s.missing[path]
}

// serve makes a catalog, with a lake in it when there is SQL for one.
func serve(t testing.TB, def conflict.Mode, lake string) *server {
	t.Helper()
	st := storetest.Open(t)
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &server{t: t, shop: st, conn: map[string]*translate.Session{}, now: start}
	clock := func() time.Time { return s.now }
	s.deps = translate.Deps{
		Store: st, Shared: translate.NewShared(translate.SharedOptions{Now: start}), Clock: clock, Version: "0.0.0",
		Guard: guard.New(guard.Options{
			Clock: clock, Default: def, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
			Files:         s,
			Writing:       func() time.Time { return s.deps.Shared.Writing(s.now) },
			DeletionGrace: func(*store.Txn, string) (time.Duration, error) { return s.grace, nil },
			Found: func(_ string, code conflict.Code, mode conflict.Mode) {
				s.found = append(s.found, string(code)+" "+mode.String())
			},
		}),
	}
	t.Cleanup(func() {
		for _, c := range s.conn {
			c.Close()
		}
	})
	if lake != "" {
		if got := s.attempt("setup", lake); got != "" {
			t.Fatal(got)
		}
	}
	return s
}

// answer keeps the rows of a statement, as text.
type answer struct {
	srv  *server
	sess *translate.Session
	rows []string
}

func (*answer) RowDescription([]exec.Column, []int16) error { return nil }

func (a *answer) DataRow(row exec.Row, cols []exec.Column, _ []int16) error {
	parts := make([]string, len(row))
	for i, d := range row {
		parts[i] = "NULL"
		if d.Valid {
			parts[i] = string(types.AppendText(a.sess.Env(), nil, cols[i].Type, d))
		}
	}
	a.rows = append(a.rows, strings.Join(parts, "|"))
	return nil
}

func (*answer) CommandComplete(string) error { return nil }
func (*answer) EmptyQuery() error            { return nil }
func (a *answer) Notice(e *pgerr.Error) error {
	a.srv.notices = append(a.srv.notices, strings.TrimSpace(e.Message+" "+e.Detail))
	return nil
}
func (*answer) ParameterStatus(string, string) error           { return nil }
func (*answer) CopyOut(bool, int) error                        { return nil }
func (*answer) CopyData([]byte) error                          { return nil }
func (*answer) CopyDone() error                                { return nil }
func (*answer) CopyIn(bool, int) (translate.CopyReader, error) { return nil, nil } //nolint:nilnil // no COPY here
func (*answer) Suspended() error                               { return nil }

// send runs a message in a session of that name.
func (s *server) send(name, sql string) ([]string, error) {
	s.t.Helper()
	c, ok := s.conn[name]
	if !ok {
		var err error
		if c, err = translate.NewSession(s.deps, translate.SessionOptions{User: "eider", Database: "lake", PID: int32(len(s.conn) + 1)}); err != nil {
			s.t.Fatal(err)
		}
		s.conn[name] = c
	}
	a := &answer{srv: s, sess: c}
	err := c.Simple(context.Background(), sql, a)
	return a.rows, err
}

// attempt runs statements as one transaction and returns the refusal, or "".
func (s *server) attempt(name string, statements ...string) string {
	s.t.Helper()
	list := append([]string{"begin transaction isolation level repeatable read"}, statements...)
	for _, sql := range append(list, "commit") {
		if _, err := s.send(name, sql); err != nil {
			_, _ = s.send(name, "rollback")
			e := pgerr.As(err)
			if e == nil {
				s.t.Fatalf("error without SQLSTATE: %v", err)
			}
			return e.Code + ": " + e.Message + " " + e.Hint
		}
	}
	return ""
}

// rows runs a query.
func (s *server) rows(sql string) string {
	s.t.Helper()
	rows, err := s.send("reader", sql)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return strings.Join(rows, " ")
}

// want attempts a commit that must be refused with a text, or land when it is "".
func (s *server) want(text string, statements ...string) {
	s.t.Helper()
	got := s.attempt("writer", statements...)
	if (text == "") != (got == "") || !strings.Contains(got, text) {
		s.t.Errorf("%s:\ngot %q, want %q", strings.Join(statements, ";"), got, text)
	}
}
