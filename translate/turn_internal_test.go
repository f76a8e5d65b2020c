package translate

import "testing"

func TestClassifyFirst(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want firstRead
	}{
		{"SELECT snapshot_id, schema_version, next_catalog_id, next_file_id\n\t\t FROM \"My sch\".ducklake_snapshot WHERE snapshot_id = (\n\t\t     SELECT MAX(snapshot_id) FROM \"My sch\".ducklake_snapshot\n\t\t )", readHead},
		{`COPY (SELECT "snapshot_id", "schema_version", "next_catalog_id", "next_file_id" FROM (SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM "public".ducklake_snapshot WHERE snapshot_id = ( SELECT MAX(snapshot_id) FROM "public".ducklake_snapshot )) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");`, readHead},
		{`select max(snapshot_id) from ducklake_snapshot`, readHead},
		{`COPY (SELECT "table_id", "record_count", "file_size_bytes", "next_row_id" FROM "My sch"."ducklake_table_stats" ) TO STDOUT (FORMAT "binary");`, readRetry},
		{`COPY (SELECT "snapshot_id", "schema_version", "next_catalog_id", "next_file_id" FROM "My sch"."ducklake_snapshot" ) TO STDOUT (FORMAT "binary");`, readRetry},
		{`COPY (SELECT "snapshot_id" FROM "public"."ducklake_snapshot" ) TO STDOUT (FORMAT "binary");`, readRetry},
		{`COPY (SELECT "schema_version" FROM "public"."ducklake_snapshot" ) TO STDOUT (FORMAT "binary");`, readOther}, // after a commit
		{`COPY (SELECT "snapshot_id" FROM "a WHERE b"."ducklake_snapshot" ) TO STDOUT (FORMAT "binary");`, readOther}, // a pity, not a harm
		{`COPY (SELECT "snapshot_id", "changes_made" FROM "public"."ducklake_snapshot_changes" WHERE "snapshot_id" > '3') TO STDOUT (FORMAT "binary");`, readRetry},
		{`COPY (SELECT "table_id", "column_id", "contains_null", "contains_nan", "min_value", "max_value", "extra_stats" FROM "public"."ducklake_table_column_stats" ) TO STDOUT (FORMAT "binary");`, readRetry},
		{`COPY (SELECT "table_id", "record_count", "file_size_bytes", "next_row_id" FROM "public"."ducklake_table_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, readOther},
		{`COPY (SELECT "snapshot_id" FROM "public"."ducklake_snapshot" WHERE "snapshot_id" = '4') TO STDOUT (FORMAT "binary");`, readOther},
		{`COPY (SELECT "schema_id", "path" FROM "public"."ducklake_schema" ) TO STDOUT (FORMAT "binary");`, readOther},
		{`COPY "public"."ducklake_snapshot" FROM STDIN (FORMAT BINARY)`, readOther},
		{`INSERT INTO ducklake_snapshot VALUES (1, NOW(), 1, 2, 0)`, readOther},
		{`SELECT count(*) FROM ducklake_snapshot`, readOther},
		{`SELECT 1`, readOther},
		{``, readOther},
	} {
		if got := classifyFirst(c.sql); got != c.want {
			t.Errorf("%.80s: %d, want %d", c.sql, got, c.want)
		}
	}
}

// TestReadsForBatch: the statistics of one table, in the client's words, and nothing that shows rows.
func TestReadsForBatch(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want bool
	}{
		{`COPY (SELECT "table_id", "record_count", "file_size_bytes", "next_row_id" FROM "My sch"."ducklake_table_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, true},
		{`COPY (SELECT "table_id", "column_id", "contains_null", "contains_nan", "min_value", "max_value", "extra_stats" FROM "public"."ducklake_table_column_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, true},
		{`COPY (SELECT "table_id", "schema_version", "table_name" FROM "public"."ducklake_inlined_data_tables" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, true},
		{`COPY (SELECT "table_id", "record_count", "file_size_bytes", "next_row_id" FROM "public"."ducklake_table_stats" ) TO STDOUT (FORMAT "binary");`, false},
		{`COPY (SELECT "row_id" FROM "public"."ducklake_inlined_data_1_1" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, false},
		{`COPY (SELECT "path" FROM "public"."ducklake_data_file" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, false},
		{`COPY (SELECT (SELECT count(*) FROM rows) FROM "public"."ducklake_table_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary");`, false},
		{`SELECT * FROM "public"."ducklake_table_stats" WHERE "table_id" = '1'`, false},
		{`COPY "public"."ducklake_table_stats" TO STDOUT`, false},
		{``, false},
	} {
		if got := readsForBatch(c.sql); got != c.want {
			t.Errorf("%.80s: %v", c.sql, got)
		}
	}
}
