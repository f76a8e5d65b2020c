package translate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/lake/retry"
)

// lakeDDL are DuckLake's tables of format 1.0 that the checks look at.
const lakeDDL = `
create table ducklake_metadata (key varchar not null, value varchar not null, scope varchar, scope_id bigint);
create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
create table ducklake_snapshot_changes (snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar);
create table ducklake_schema (schema_id bigint primary key, schema_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_name varchar, path varchar, path_is_relative boolean);
create table ducklake_table (table_id bigint, table_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, table_name varchar, path varchar, path_is_relative boolean);
create table ducklake_view (view_id bigint, view_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id bigint, view_name varchar, dialect varchar, sql varchar, column_aliases varchar);
create table ducklake_tag (object_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar);
create table ducklake_column_tag (table_id bigint, column_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar);
create table ducklake_data_file (data_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, file_order bigint, path varchar, path_is_relative boolean, file_format varchar, record_count bigint, file_size_bytes bigint, footer_size bigint, row_id_start bigint, partition_id bigint, encryption_key varchar, mapping_id bigint, partial_max bigint);
create table ducklake_file_column_stats (data_file_id bigint, table_id bigint, column_id bigint, column_size_bytes bigint, value_count bigint, null_count bigint, min_value varchar, max_value varchar, contains_nan boolean, extra_stats varchar);
create table ducklake_delete_file (delete_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, data_file_id bigint, path varchar, path_is_relative boolean, format varchar, delete_count bigint, file_size_bytes bigint, footer_size bigint, encryption_key varchar, partial_max bigint);
create table ducklake_column (column_id bigint, begin_snapshot bigint, end_snapshot bigint, table_id bigint, column_order bigint, column_name varchar, column_type varchar, initial_default varchar, default_value varchar, nulls_allowed boolean, parent_column bigint, default_value_type varchar, default_value_dialect varchar);
create table ducklake_table_stats (table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint);
create table ducklake_table_column_stats (table_id bigint, column_id bigint, contains_null boolean, contains_nan boolean, min_value varchar, max_value varchar, extra_stats varchar);
create table ducklake_partition_info (partition_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint);
create table ducklake_files_scheduled_for_deletion (data_file_id bigint, path varchar, path_is_relative boolean, schedule_start timestamptz);
create table ducklake_inlined_data_tables (table_id bigint, table_name varchar, schema_version bigint);
create table ducklake_column_mapping (mapping_id bigint, table_id bigint, type varchar);
create table ducklake_schema_versions (begin_snapshot bigint, schema_version bigint, table_id bigint);
create table ducklake_macro (schema_id bigint, macro_id bigint, macro_name varchar, begin_snapshot bigint, end_snapshot bigint);
create table ducklake_macro_impl (macro_id bigint, impl_id bigint, dialect varchar, sql varchar, type varchar);
create table ducklake_sort_info (sort_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint);
create table ducklake_sort_expression (sort_id bigint, table_id bigint, sort_key_index bigint, expression varchar, dialect varchar, sort_direction varchar, null_order varchar);
create table ducklake_inlined_data_1_1 (row_id bigint, begin_snapshot bigint, end_snapshot bigint, i bigint, h varchar);
create table ducklake_inlined_delete_1 (file_id bigint, row_id bigint, begin_snapshot bigint);
`

// lakeRows is a lake at snapshot 5: tables t (1), u (2) and the dropped x (3), view v (4),
// a dropped schema s (5); t has file 0 with an inlined delete, file 1 with delete file 2,
// file 4 without deletes, file 7 that ended, and inlined rows; u has file 3.
const lakeRows = `
insert into ducklake_metadata values ('version', '1.0', null, null), ('data_path', '/data/', null, null);
insert into ducklake_schema values (0, null, 0, null, 'main', 'main/', true), (5, null, 2, 3, 's', 's/', true);
insert into ducklake_table values (1, null, 1, null, 0, 't', 't/', true), (2, null, 1, null, 0, 'u', 'u/', true), (3, null, 1, 3, 0, 'x', 'x/', true);
insert into ducklake_view values (4, null, 1, null, 0, 'v', 'duckdb', 'select 1', '');
insert into ducklake_macro values (0, 6, 'm', 1, null);
insert into ducklake_macro_impl values (6, 0, 'duckdb', '1', 'scalar');
insert into ducklake_column values (1, 1, null, 1, 1, 'i', 'int64', null, 'NULL', true, null, 'literal', 'duckdb'), (2, 1, null, 1, 2, 'h', 'int128', null, 'NULL', true, null, 'literal', 'duckdb'),
	(1, 1, null, 2, 1, 'i', 'int64', null, 'NULL', true, null, 'literal', 'duckdb'), (1, 1, 3, 3, 1, 'i', 'int64', null, 'NULL', true, null, 'literal', 'duckdb');
insert into ducklake_data_file values
	(0, 1, 1, null, null, 'f0', true, 'parquet', 100, 1000, 10, 0, null, null, null, null),
	(1, 1, 1, null, null, 'f1', true, 'parquet', 100, 1000, 10, 100, null, null, null, null),
	(3, 2, 1, null, null, 'f3', true, 'parquet', 50, 1000, 10, 0, null, null, null, null),
	(4, 1, 2, null, null, 'f4', true, 'parquet', 10, 1000, 10, 200, null, null, null, null),
	(7, 1, 2, 4, null, 'f7', true, 'parquet', 10, 1000, 10, 210, null, null, null, null);
insert into ducklake_delete_file values (2, 1, 3, null, 1, 'd2', true, 'parquet', 20, 100, 10, null, null);
insert into ducklake_inlined_data_tables values (1, 'ducklake_inlined_data_1_1', 1);
insert into ducklake_inlined_data_1_1 values (220, 4, null, 7, '9'), (221, 4, 5, 8, '10');
insert into ducklake_inlined_delete_1 values (0, 5, 4);
insert into ducklake_table_stats values (1, 210, 230, 4000), (2, 50, 50, 1000);
insert into ducklake_table_column_stats values (1, 1, false, null, '0', '99', null), (2, 1, false, null, '0', '49', null);
insert into ducklake_files_scheduled_for_deletion values (90, 'main/t/gone', true, now());
insert into ducklake_snapshot_changes values (0, 'created_schema:"main"', null, null, null), (1, 'created_table:"main"."t"', null, null, null), (2, null, null, null, null), (3, null, null, null, null), (4, null, null, null, null), (5, null, null, null, null);
insert into ducklake_snapshot values (0, '2026-01-01', 0, 1, 0), (1, '2026-01-01 00:01', 1, 7, 4), (2, '2026-01-01 00:02', 2, 7, 8), (3, '2026-01-01 00:03', 3, 7, 10), (4, '2026-01-01 00:04', 3, 7, 10), (5, '2026-01-01 00:05', 3, 7, 10);
`

// newLake makes a world with that lake in it.
func newLake(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	w.setUpLake("")
	return w
}

// setUpLake makes the lake, and runs more statements in the same transaction.
func (w *world) setUpLake(more string) {
	w.t.Helper()
	w.run("setup", "begin")
	w.run("setup", lakeDDL)
	w.run("setup", lakeRows)
	if more != "" {
		w.run("setup", more)
	}
	w.run("setup", "commit")
}

// lakeBatch is a commit of snapshot n as DuckLake sends it.
func lakeBatch(n int, counters, changes string, statements ...string) string {
	made := "NULL"
	if changes != "" {
		made = "'" + strings.ReplaceAll(changes, "'", "''") + "'"
	}
	return fmt.Sprintf("INSERT INTO \"public\".ducklake_snapshot VALUES (%d, NOW(), %s);%s;INSERT INTO \"public\".ducklake_snapshot_changes VALUES (%d, %s, NULL, NULL, NULL);",
		n, counters, strings.Join(statements, ";"), n, made)
}

const same = "3, 7, 10" // counters of the head

// attempt runs statements as one DuckLake transaction and returns the error that its
// batch or its COMMIT gets, or "".
func (w *world) attempt(name string, statements ...string) string {
	w.simple(name, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", nil, "")
	for _, sql := range append(statements, "COMMIT") {
		out := w.simple(name, sql, nil, "")
		if i := strings.Index(out, "ERROR "); i >= 0 {
			w.simple(name, "ROLLBACK", nil, "")
			text, _, _ := strings.Cut(out[i+len("ERROR "):], "\nZ ")
			return text
		}
	}
	return ""
}

func file(id, table, begin int, end, path string, rows int, rest string) string {
	return fmt.Sprintf("INSERT INTO ducklake_data_file VALUES (%d, %d, %d, %s, NULL, '%s', true, 'parquet', %d, 10, 5, %s)", id, table, begin, end, path, rows, rest)
}

func deleteFile(id, table, begin, of, count int, partialMax string) string {
	return fmt.Sprintf("INSERT INTO ducklake_delete_file VALUES (%d, %d, %d, NULL,  %d, 'd%d', true, 'parquet', %d, 10, 5, NULL, %s)", id, table, begin, of, id, count, partialMax)
}

// TestRefusedCommits: batches that would corrupt the catalog are refused, with an error
// that no client takes for a reason to try again.
func TestRefusedCommits(t *testing.T) {
	const plain = "230, NULL, NULL, NULL, NULL"
	for _, c := range []struct{ name, sql, want string }{
		{"G01 next_file_id goes back", lakeBatch(6, "3, 7, 9", ""), "23514: next_file_id of the new snapshot is 9"},
		{"G02 next_catalog_id goes back", lakeBatch(6, "3, 6, 10", ""), "23514: next_catalog_id"},
		{"G03 schema_version goes back", lakeBatch(6, "2, 7, 10", ""), "23514: schema_version"},
		{"G04 second live column", lakeBatch(6, "4, 7, 10", "altered_table:1", `insert into ducklake_column values (1, 6, null, 1, 1, 'i2', 'int64', null, 'NULL', true, null, 'literal', 'duckdb')`), "23514: column 1 would have two live rows"},
		{"G04 without a snapshot", `insert into ducklake_column values (1, 5, null, 1, 1, 'i2', 'int64', null, 'NULL', true, null, 'literal', 'duckdb')`, "23514: column 1"},
		{"column name twice", lakeBatch(6, "4, 7, 10", "altered_table:1", `insert into ducklake_column values (3, 6, null, 1, 3, 'I', 'int64', null, 'NULL', true, null, 'literal', 'duckdb')`), `23514: a live column named "t"."I"`},
		{"dropped column comes back", lakeBatch(6, "4, 7, 10", "altered_table:1", `update ducklake_column set end_snapshot = 6 where table_id = 1 and column_id = 2`) + lakeBatch(7, "5, 7, 10", "altered_table:1", `insert into ducklake_column values (2, 7, null, 1, 2, 'h', 'int64', null, 'NULL', true, null, 'literal', 'duckdb')`), "55000: column 2"},
		{"G05 view in an ended schema", lakeBatch(6, "4, 8, 10", `created_view:"s"."w"`, `insert into ducklake_view values (7, null, 6, null, 5, 'w', 'duckdb', 'select 1', '')`), "55000: view 7 belongs to schema 5"},
		{"G08 name in other case", lakeBatch(6, "4, 8, 10", `created_table:"main"."T"`, `insert into ducklake_table values (7, null, 6, null, 0, 'T', 'T/', true)`, `insert into ducklake_column values (1, 6, null, 7, 1, 'i', 'int64', null, 'NULL', true, null, 'literal', 'duckdb')`), `23514: a live table named "main"."T"`},
		{"G08 view with a table's name", lakeBatch(6, "4, 8, 10", `created_view:"main"."U"`, `insert into ducklake_view values (7, null, 6, null, 0, 'U', 'duckdb', 'select 1', '')`), `23514: a live view named "main"."U"`},
		{"table without columns", lakeBatch(6, "4, 8, 10", `created_table:"main"."w"`, `insert into ducklake_table values (7, null, 6, null, 0, 'w', 'w/', true)`), "23514: table"},
		{"B14 macro of a name and kind", lakeBatch(6, "4, 8, 10", `created_scalar_macro:"main"."M"`, `insert into ducklake_macro values(0,7,'M',6, NULL)`, `insert into ducklake_macro_impl values(7,0,'duckdb','2','scalar')`), "23514: a live macro"},
		{"B14b macro of a name and another kind", lakeBatch(6, "4, 8, 10", `created_table_macro:"main"."m"`, `insert into ducklake_macro values(0,7,'m',6, NULL)`, `insert into ducklake_macro_impl values(7,0,'duckdb','2','table')`), ""},
		{"G10 second delete file", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 1, 5, "NULL")), "55000: data file 1 of table \"t\" (id 1) has delete file 2 already"},
		{"G10 two at once", lakeBatch(6, "3, 7, 12", "deleted_from_table:1", deleteFile(10, 1, 6, 4, 5, "NULL"), deleteFile(11, 1, 6, 4, 5, "NULL")), "55000: data file 4"},
		{"G12 delete file of another table", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 3, 5, "NULL")), "23514: delete file 10"},
		{"delete file of no data file", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 99, 5, "NULL")), "55000: data file 99"},
		{"delete file of an ended data file", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 7, 5, "NULL")), "55000: data file 7"},
		{"delete file with more rows than there are", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 4, 11, "NULL")), "23514: delete file 10"},
		{"G13 inlined delete of no data file", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (99, 0, 6)"), "55000: data file 99"},
		{"G13 inlined delete of another table's file", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (3, 0, 6)"), "55000: data file 3"},
		{"G13 inlined delete of an ended file", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (7, 0, 6)"), "55000: data file 7"},
		{"G13 without a snapshot", "insert into ducklake_inlined_delete_1 values (7, 0, 5)", "55000: data file 7"},
		{"inlined delete of a row that is not there", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (4, 10, 6)"), "23514: row 10"},
		{"G14 negative record_count", lakeBatch(6, same, "", "UPDATE ducklake_table_stats SET record_count=-5 WHERE table_id=1"), "23514: ducklake_table_stats.record_count"},
		{"next_row_id goes back", lakeBatch(6, same, "", "UPDATE ducklake_table_stats SET next_row_id=229 WHERE table_id=1"), "23514: next_row_id"},
		{"second statistics row", lakeBatch(6, same, "", "insert into ducklake_table_stats values (2, 0, 0, 0)"), "23514: statistics of table 2"},
		{"G17 a live file is scheduled", "insert into ducklake_files_scheduled_for_deletion values (77, 'main/t/f0', true, now())", "23514: file \"main/t/f0\" is in use"},
		{"G17 by its whole path", "insert into ducklake_files_scheduled_for_deletion values (77, '/data/main/t/d2', false, now())", "23514: file"},
		{"a file of another table's folder is scheduled", "insert into ducklake_files_scheduled_for_deletion values (77, 'main/u/f0', true, now())", ""},
		{"G18 all snapshots", "delete from ducklake_snapshot", "23514: snapshot 5 is the newest"},
		{"G18 the head", "delete from ducklake_snapshot where snapshot_id = 5", "23514: snapshot 5 is the newest"},
		{"G18 truncate", "truncate ducklake_snapshot", "23514: snapshot 5 is the newest"},
		{"truncate of delete files", "truncate ducklake_delete_file", `55000: "ducklake_delete_file" would lose its rows`},
		{"truncate of inlined deletes", "truncate ducklake_inlined_delete_1", `55000: "ducklake_inlined_delete_1" would lose its rows`},
		{"drop of inlined deletes", "drop table ducklake_inlined_delete_1", `55000: "ducklake_inlined_delete_1" would lose its rows`},
		{"drop of inlined rows", "drop table ducklake_inlined_data_1_1", `55000: "ducklake_inlined_data_1_1" would lose its rows`},
		{"truncate of the schedule", "truncate ducklake_files_scheduled_for_deletion", ""},
		{"drop of a fixed table", "drop table ducklake_delete_file", "55000: the lake would go on without ducklake_delete_file"},
		{"rewrite of a table", "alter table ducklake_data_file alter column path type text using path || ''", ""},
		{"rewrite of a table beside changes", lakeBatch(6, same, "") + "alter table ducklake_data_file alter column path type text using path || ''", `55000: "ducklake_data_file" would lose its rows`},
		{"rewrite of a table without some rows", "alter table ducklake_data_file alter column path type text using path || ''; delete from ducklake_data_file where data_file_id = 0", `55000: "ducklake_data_file" would lose its rows`},
		{"counters of the head go back", "update ducklake_snapshot set next_file_id = 9 where snapshot_id = 5", "23514: next_file_id"},
		{"counters of the head go on", "update ducklake_snapshot set next_file_id = 99 where snapshot_id = 5", ""},
		{"counters without room", "update ducklake_snapshot set next_catalog_id = 9223372036854775807 where snapshot_id = 5", "23514: next_catalog_id of the new snapshot is 9223372036854775807"},
		{"counters of a new snapshot without room", lakeBatch(6, "3, 7, 9223372036854775807", ""), "23514: next_file_id"},
		{"a file without a path", "update ducklake_data_file set path = null where data_file_id = 0", "23514: ducklake_data_file.path is null"},
		{"older snapshots go", "delete from ducklake_snapshot where snapshot_id < 5", ""},
		{"G20b registered twice", "insert into ducklake_inlined_data_tables values (1, 'ducklake_inlined_data_1_1', 1)", "23514: inlined table"},
		{"G24 begins in the future", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", file(10, 1, 106, "NULL", "f10", 1, "220, NULL, NULL, NULL, NULL")), "23514: row 10 of ducklake_data_file begins with snapshot 106"},
		{"G24 ends before it begins", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", file(10, 1, 6, "4", "f10", 1, "220, NULL, NULL, NULL, NULL")), "23514: row 10 of ducklake_data_file"},
		{"G26 unknown kind of change", lakeBatch(6, same, "frobbed_table:1"), "23514: the commit does not say what it did"},
		{"id beyond the counter", lakeBatch(6, same, "inserted_into_table:1", file(10, 1, 6, "NULL", "f10", 1, "220, NULL, NULL, NULL, NULL")), "23514: row 10 of ducklake_data_file"},
		{"id given out before", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", file(9, 1, 6, "NULL", "f10", 1, "220, NULL, NULL, NULL, NULL")), "23514: row 9 of ducklake_data_file is new"},
		{"row ids beyond the counter", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", file(10, 1, 6, "NULL", "f10", 1, "230, NULL, NULL, NULL, NULL")), "23514: row 230"},
		{"inlined row ids beyond the counter", lakeBatch(6, same, "inlined_insert:1", "insert into ducklake_inlined_data_1_1 values (230, 6, null, 1, '1')"), "23514: row 230"},
		{"file of a dropped table", lakeBatch(6, "3, 7, 11", "inserted_into_table:3", file(10, 3, 6, "NULL", "f10", 1, "NULL, NULL, NULL, NULL, NULL")), "55000: data file 10 belongs to table 3"},
		{"NULL table id", lakeBatch(6, "3, 7, 11", "", "INSERT INTO ducklake_data_file VALUES (10, NULL, 6, NULL, NULL, 'f10', true, 'parquet', 1, 1, 1, NULL, NULL, NULL, NULL, NULL)"), "23514: ducklake_data_file.table_id is null"},
		{"path taken", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", file(10, 1, 6, "NULL", "f0", 1, "220, NULL, NULL, NULL, NULL")), "55000: this commit is stored already"},
		{"path scheduled", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", file(10, 1, 6, "NULL", "gone", 1, "220, NULL, NULL, NULL, NULL")), "55000: file \"gone\" is scheduled"},
		{"D5 comment on a dropped object", lakeBatch(6, "4, 7, 10", "altered_view:3", "INSERT INTO ducklake_tag VALUES (3, 6, NULL, 'comment', 'x')"), "55000: the comment of object 3"},
		{"H9 rename of a dropped table", lakeBatch(6, "4, 7, 10", `created_table:"main"."y"`, `UPDATE ducklake_table SET end_snapshot = 6 WHERE end_snapshot IS NULL AND table_id IN (3)`, `insert into ducklake_table values (3, null, 6, null, 0, 'y', 'x/', true)`), "55000: table"},
		{"H1 merge of a file with inlined deletes", lakeBatch(6, "3, 7, 11", "merge_adjacent:1", "DELETE FROM ducklake_data_file WHERE data_file_id IN (0, 4)", "insert into ducklake_files_scheduled_for_deletion values (0, 'main/t/f0', true, now()), (4, 'main/t/f4', true, now())", file(10, 1, 1, "NULL", "f10", 110, "NULL, NULL, NULL, NULL, 2")), "55000: another transaction deleted rows of data file 0"},
		{"merge of a file with a delete file", lakeBatch(6, "3, 7, 11", "merge_adjacent:1", "DELETE FROM ducklake_data_file WHERE data_file_id IN (1, 4)", "DELETE FROM ducklake_delete_file WHERE data_file_id IN (1, 4)", file(10, 1, 1, "NULL", "f10", 110, "NULL, NULL, NULL, NULL, 2")), "55000: another transaction deleted rows of data file 1"},
		{"H3 rewrite that did not see a delete", lakeBatch(6, "3, 7, 11", "rewrite_delete:1", file(10, 1, 6, "NULL", "f10", 100, "NULL, NULL, NULL, NULL, NULL"), "UPDATE ducklake_data_file SET end_snapshot = 6 WHERE data_file_id = 0"), "55000: another transaction changed the deletes of data file 0"},
		{"rewrite", lakeBatch(6, "3, 7, 11", "rewrite_delete:1", file(10, 1, 6, "NULL", "f10", 80, "NULL, NULL, NULL, NULL, NULL"), "UPDATE ducklake_delete_file SET end_snapshot = 6 WHERE delete_file_id = 2", "UPDATE ducklake_data_file SET end_snapshot = 6 WHERE data_file_id = 1"), ""},
		{"rewrite of a file that has ended", lakeBatch(6, "3, 7, 11", "rewrite_delete:1", file(10, 1, 6, "NULL", "f10", 10, "NULL, NULL, NULL, NULL, NULL"), "UPDATE ducklake_data_file SET end_snapshot = 6 WHERE data_file_id = 7"), "55000: data file"},
		{"a delete file goes", lakeBatch(6, same, "deleted_from_table:1", "DELETE FROM ducklake_delete_file WHERE delete_file_id IN (2)"), "23514: delete file 2"},
		{"a smaller one takes its place", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", "DELETE FROM ducklake_delete_file WHERE delete_file_id IN (2)", deleteFile(10, 1, 3, 1, 19, "6")), "23514: delete file 2"},
		{"inlined deletes go", lakeBatch(6, same, "deleted_from_table:1", "delete from ducklake_inlined_delete_1"), "23514: inlined deletes"},
		{"inlined rows go", lakeBatch(6, same, "inline_flush:1", "delete from ducklake_inlined_data_1_1"), "23514: 1 live rows"},
		{"X3c flush with deletes on a text sort", lakeBatch(6, "4, 8, 12", "inline_flush:1",
			"insert into ducklake_sort_info values (7, 1, 6, null)", `insert into ducklake_sort_expression values (7, 1, 0, '"h"', 'duckdb', 'ASC', 'NULLS_LAST')`,
			file(10, 1, 4, "NULL", "f10", 2, "220, NULL, NULL, NULL, 4"), deleteFile(11, 1, 5, 10, 1, "NULL"), "DELETE FROM ducklake_inlined_data_1_1 WHERE begin_snapshot <= 5"), "55000: table \"t\" (id 1) is sorted by \"h\""},
		{"an ordinary insert", lakeBatch(6, "3, 7, 11", "inserted_into_table:1", "UPDATE ducklake_table_stats SET record_count=211, file_size_bytes=1, next_row_id=231 WHERE table_id=1", file(10, 1, 6, "NULL", "f10", 1, plain)), ""},
		{"an ordinary delete", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 0, 5, "NULL")), ""},
		{"an inlined delete beside a delete file", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (1, 90, 6)"), ""},
		{"snapshot only", "insert into ducklake_snapshot values (6, now(), 3, 7, 10)", ""},
		{"snapshot beyond the next", "insert into ducklake_snapshot values (8, now(), 3, 7, 10)", "40001: could not serialize"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newLake(t)
			got := w.attempt("a", c.sql)
			switch {
			case c.want == "" && got != "":
				t.Fatalf("refused: %s", got)
			case !strings.HasPrefix(got, c.want):
				t.Fatalf("got %q, want %q", got, c.want)
			case c.want != "" && retry.Is(got) != strings.HasPrefix(c.want, "40001"):
				t.Fatalf("a client takes this text for another kind: %q", got)
			}
			if left := w.rows("b", "select max(snapshot_id) from ducklake_snapshot"); c.want != "" && left != "5" {
				t.Errorf("head %s after a refusal", left)
			}
		})
	}
}

// TestSettingsOfTheCommitItself: a setting counts for the next commit, and a table that
// only has the name of the settings sets nothing.
func TestSettingsOfTheCommitItself(t *testing.T) {
	const bad = "truncate ducklake_delete_file"
	w := newLake(t)
	w.run("a", "create schema eider")
	w.run("a", "create table eider.settings (mode text)")
	w.run("a", "insert into eider.settings values ('off')")
	if got := w.attempt("a", bad); got == "" {
		t.Error("any table counts")
	}
	w.run("a", "drop table eider.settings")
	w.run("a", `create table eider.settings (lake text, table_id bigint, "check" text, mode text)`)
	const off = "insert into eider.settings values (null, null, '*', 'off')"
	if got := w.attempt("a", off, bad); got == "" {
		t.Error("a commit sets its own mode")
	}
	if got := w.attempt("a", off); got != "" {
		t.Fatal(got)
	}
	if got := w.attempt("a", bad); got != "" {
		t.Errorf("the setting does not count: %s", got)
	}
}

// rows runs a query and returns its rows, joined by blanks.
func (w *world) rows(name, sql string) string {
	var rows []string
	for line := range strings.Lines(w.simple(name, sql, nil, "")) {
		if v, ok := strings.CutPrefix(line, "D "); ok {
			rows = append(rows, strings.TrimSpace(v))
		}
		if strings.HasPrefix(line, "ERROR") {
			w.t.Fatalf("%s: %s", sql, line)
		}
	}
	return strings.Join(rows, " ")
}

// TestSnapshotTimesGrow: B60a, a transaction that began before another one committed.
func TestSnapshotTimesGrow(t *testing.T) {
	w := newLake(t)
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	w.clock = func() time.Time { return now }
	w.run("a", "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED")
	now = now.Add(time.Hour)
	w.run("b", lakeBatch(6, same, ""))
	w.run("a", lakeBatch(7, same, ""))
	w.run("a", "COMMIT")
	if got := w.rows("b", "select count(*) from ducklake_snapshot a join ducklake_snapshot b on b.snapshot_id = a.snapshot_id + 1 where b.snapshot_time <= a.snapshot_time"); got != "0" {
		t.Fatalf("%s snapshots are not after the one before: %s", got, w.rows("b", "select snapshot_time from ducklake_snapshot order by snapshot_id"))
	}
}

// TestExpiredBase: B09a, the snapshots between a transaction's and the head expire, so
// that its snapshot id is free again.
func TestExpiredBase(t *testing.T) {
	w := newLake(t)
	w.run("a", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	w.rows("a", "select max(snapshot_id) from ducklake_snapshot")
	w.run("b", lakeBatch(6, same, ""))
	w.run("b", lakeBatch(7, same, ""))
	const expire = "delete from ducklake_snapshot where snapshot_id = 6; delete from ducklake_snapshot_changes where snapshot_id = 6"
	w.run("b", expire) // leaves it, since a is open
	if got := w.rows("b", "select count(*) from ducklake_snapshot natural join ducklake_snapshot_changes where snapshot_id = 6"); got != "1" {
		t.Fatalf("a pinned snapshot was removed: %s", got)
	}
	out := w.simple("a", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (4, 1, 6)"), nil, "")
	out += w.simple("a", "COMMIT", nil, "")
	if !strings.Contains(out, "ERROR 23505") {
		t.Fatalf("a snapshot below the head was committed: %s", out)
	}
	w.run("b", expire) // while a waits for its second try
	// The client's second try looks at what others did since snapshot 5.
	got := w.attempt("a", `select changes_made from ducklake_snapshot_changes where snapshot_id > '5'`,
		lakeBatch(8, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (4, 1, 8)"))
	if !strings.HasPrefix(got, "55000: snapshots between 5") {
		t.Fatalf("got %q", got)
	}
}

// TestDeleteRaces: a delete file and inlined deletes of one data file, of which one was
// planned without the other.
func TestDeleteRaces(t *testing.T) {
	const look = `select changes_made from ducklake_snapshot_changes where snapshot_id > '5'`
	t.Run("H5a", func(t *testing.T) {
		w := newLake(t)
		w.run("b", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (4, 1, 6)"))
		got := w.attempt("a", look, lakeBatch(7, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 7, 4, 5, "NULL")))
		if !strings.HasPrefix(got, "55000: another transaction deleted rows of data file 4") {
			t.Fatalf("got %q", got)
		}
	})
	t.Run("known", func(t *testing.T) {
		w := newLake(t)
		w.run("b", lakeBatch(6, same, "inserted_into_table:2"))
		if got := w.attempt("a", look, lakeBatch(7, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 7, 0, 5, "NULL"))); got != "" {
			t.Fatalf("refused: %s", got)
		}
	})
	t.Run("H5b", func(t *testing.T) {
		w := newLake(t)
		w.run("b", lakeBatch(6, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 6, 4, 5, "NULL")))
		got := w.attempt("a", look, lakeBatch(7, "3, 7, 11", "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (4, 1, 7)"))
		if !strings.HasPrefix(got, "55000: another transaction deleted rows of data file 4") {
			t.Fatalf("got %q", got)
		}
	})
	t.Run("H6", func(t *testing.T) {
		w := newLake(t)
		w.run("b", lakeBatch(6, same, ""))
		// The flush of file 0 was planned on snapshot 5; its removal of inlined rows was lost.
		if got := w.attempt("a", look, lakeBatch(7, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 4, 0, 1, "4"))); got != "" {
			t.Fatalf("refused: %s", got)
		}
		if got := w.rows("b", "select count(*) from ducklake_inlined_delete_1"); got != "0" {
			t.Fatalf("%s inlined deletes are left beside the delete file that holds them", got)
		}
	})
	t.Run("H7", func(t *testing.T) {
		w := newLake(t)
		w.run("b", lakeBatch(6, same, "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (0, 9, 6)"))
		if got := w.attempt("a", look, lakeBatch(7, "3, 7, 11", "deleted_from_table:1", deleteFile(10, 1, 4, 0, 1, "4"))); got != "" {
			t.Fatalf("refused: %s", got)
		}
		if got := w.rows("b", "select row_id from ducklake_inlined_delete_1"); got != "9" {
			t.Fatalf("inlined deletes: %s", got)
		}
	})
	t.Run("H11", func(t *testing.T) {
		w := newLake(t)
		w.run("b", lakeBatch(6, same, "inserted_into_table:2"))
		got := w.attempt("a", look, lakeBatch(7, "3, 7, 11", "deleted_from_table:1", "DELETE FROM ducklake_delete_file WHERE delete_file_id IN (2)",
			"INSERT INTO ducklake_files_scheduled_for_deletion VALUES (2, 'main/t/d2', true, NOW())", deleteFile(10, 1, 3, 1, 35, "6")))
		if got != "" {
			t.Fatalf("refused: %s", got)
		}
		if got := w.rows("b", "select delete_file_id, begin_snapshot, end_snapshot from ducklake_delete_file order by 1"); got != "2|3|7 10|7|NULL" {
			t.Fatalf("delete files: %s", got)
		}
		if got := w.rows("b", "select path from ducklake_files_scheduled_for_deletion"); got != "main/t/gone" {
			t.Fatalf("scheduled: %s", got)
		}
		// The next delete dates its file back to the first row in it.
		got = w.attempt("a", lakeBatch(8, "3, 7, 12", "deleted_from_table:1", "DELETE FROM ducklake_delete_file WHERE delete_file_id IN (10)",
			"INSERT INTO ducklake_files_scheduled_for_deletion VALUES (10, 'main/t/d10', true, NOW())", deleteFile(11, 1, 3, 1, 40, "8")))
		if got != "" {
			t.Fatalf("refused: %s", got)
		}
		if got := w.rows("b", "select delete_file_id, begin_snapshot, end_snapshot from ducklake_delete_file order by 1"); got != "2|3|7 11|7|NULL" {
			t.Fatalf("delete files: %s", got)
		}
		// A flush of inlined deletes from the time of the kept file is taken back.
		w.run("b", lakeBatch(9, "3, 7, 12", "inlined_delete:1", "insert into ducklake_inlined_delete_1 values (1, 90, 9)"))
		w.run("b", "begin; update ducklake_inlined_delete_1 set begin_snapshot = 6 where row_id = 90; commit")
		got = w.attempt("a", "DELETE FROM ducklake_inlined_delete_1 WHERE file_id = 1", lakeBatch(10, "3, 7, 13", "deleted_from_table:1",
			"DELETE FROM ducklake_delete_file WHERE delete_file_id IN (11)",
			"INSERT INTO ducklake_files_scheduled_for_deletion VALUES (11, 'main/t/d11', true, NOW())", deleteFile(12, 1, 3, 1, 41, "8")))
		if got != "" {
			t.Fatalf("refused: %s", got)
		}
		if got := w.rows("b", "select delete_file_id, begin_snapshot, end_snapshot from ducklake_delete_file order by 1"); got != "2|3|7 11|7|NULL" {
			t.Fatalf("delete files: %s", got)
		}
		if got := w.rows("b", "select row_id from ducklake_inlined_delete_1 where file_id = 1"); got != "90" {
			t.Fatalf("inlined deletes: %s", got)
		}
		if got := w.rows("b", "select path from ducklake_files_scheduled_for_deletion order by 1"); got != "main/t/d10 main/t/d12 main/t/gone" {
			t.Fatalf("scheduled: %s", got)
		}
	})
}

// TestStatisticsAreNotNarrowed: U110, clients use a table's statistics for every snapshot. They
// answer min and max from them as well, so that the old bounds are no better.
func TestStatisticsAreNotNarrowed(t *testing.T) {
	w := newLake(t)
	got := w.attempt("a", lakeBatch(6, "3, 7, 11", "rewrite_delete:1", file(10, 1, 6, "NULL", "f10", 80, "NULL, NULL, NULL, NULL, NULL"),
		"UPDATE ducklake_delete_file SET end_snapshot = 6 WHERE delete_file_id = 2", "UPDATE ducklake_data_file SET end_snapshot = 6 WHERE data_file_id = 1",
		"UPDATE ducklake_table_column_stats SET max_value = '50' where table_id = 1"))
	if got != "" {
		t.Fatalf("refused: %s", got)
	}
	if got := w.rows("b", "select min_value is null, max_value from ducklake_table_column_stats where table_id = 1"); got != "t|99" {
		t.Fatalf("bounds are %s", got)
	}
}
