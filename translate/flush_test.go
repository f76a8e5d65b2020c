package translate_test

import (
	"strings"
	"testing"
)

// TestMendFlush: a flush that would add a delete file to a rewritten file beside an older
// one keeps the inlined deletes instead; all else that the commit does stays.
func TestMendFlush(t *testing.T) {
	w := newWorld(t)
	w.run("a", `
		create table ducklake_schema (schema_id bigint primary key, begin_snapshot bigint, end_snapshot bigint, schema_name varchar, path varchar, path_is_relative boolean);
		create table ducklake_table (table_id bigint, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar, path varchar, path_is_relative boolean);
		create table ducklake_data_file (data_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint);
		create table ducklake_delete_file (delete_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, data_file_id bigint, path varchar, path_is_relative boolean, partial_max bigint);
		create table ducklake_files_scheduled_for_deletion (data_file_id bigint, path varchar, path_is_relative boolean, schedule_start timestamptz);
		create table ducklake_inlined_delete_7 (file_id bigint, row_id bigint, begin_snapshot bigint);
		insert into ducklake_schema values (0, 0, null, 'main', 'main/', true);
		insert into ducklake_table values (7, 1, null, 0, 't', 't/', true);
		insert into ducklake_data_file values (1, 7, 2, 5), (2, 7, 2, null), (3, 7, 5, null);
		insert into ducklake_delete_file values (10, 7, 3, 5, 1, 'old', true, null);
		insert into ducklake_inlined_delete_7 values (1, 30, 4), (2, 8, 4), (1, 31, 6);
	`)
	// The flush: its deletes by ctid, then the batch. File 1 is the rewritten one.
	w.run("a", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	w.run("a", "delete from ducklake_inlined_delete_7 where begin_snapshot <= 4")
	w.run("a", `insert into ducklake_delete_file values (11, 7, 4, null, 1, 'misplaced', true, 4), (12, 7, 4, null, 2, 'right', true, 4);
		update ducklake_delete_file set path = path where delete_file_id = 10`)
	w.run("a", "COMMIT")
	for _, c := range []struct{ sql, want string }{
		{"select delete_file_id from ducklake_delete_file order by 1", "10 12"},
		{"select file_id || ':' || row_id from ducklake_inlined_delete_7 order by file_id, row_id", "1:30 1:31"},
		{"select data_file_id || ' ' || path || ' ' || path_is_relative from ducklake_files_scheduled_for_deletion", "11 main/t/misplaced true"},
	} {
		var rows []string
		for line := range strings.Lines(w.simple("b", c.sql, nil, "")) {
			if v, ok := strings.CutPrefix(line, "D "); ok {
				rows = append(rows, strings.TrimSpace(v))
			}
		}
		if got := strings.Join(rows, " "); got != c.want {
			t.Errorf("%s: %s, not %s", c.sql, got, c.want)
		}
	}
}
