SELECT version(), (SELECT COUNT(*) FROM pg_settings WHERE name LIKE 'rds%')

SELECT 1

DISCARD ALL

SELECT to_regclass('duckdb_secrets')

CREATE TABLE "public"."ducklake_metadata"("key" VARCHAR NOT NULL, "value" VARCHAR NOT NULL, "scope" VARCHAR, "scope_id" BIGINT);

CREATE TABLE "public"."ducklake_snapshot"("snapshot_id" BIGINT PRIMARY KEY, "snapshot_time" TIMESTAMP WITH TIME ZONE, "schema_version" BIGINT, "next_catalog_id" BIGINT, "next_file_id" BIGINT);

CREATE TABLE "public"."ducklake_snapshot_changes"("snapshot_id" BIGINT PRIMARY KEY, "changes_made" VARCHAR, "author" VARCHAR, "commit_message" VARCHAR, "commit_extra_info" VARCHAR);

CREATE TABLE "public"."ducklake_schema"("schema_id" BIGINT PRIMARY KEY, "schema_uuid" UUID, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "schema_name" VARCHAR, "path" VARCHAR, "path_is_relative" BOOLEAN);

CREATE TABLE "public"."ducklake_table"("table_id" BIGINT, "table_uuid" UUID, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "schema_id" BIGINT, "table_name" VARCHAR, "path" VARCHAR, "path_is_relative" BOOLEAN);

CREATE TABLE "public"."ducklake_view"("view_id" BIGINT, "view_uuid" UUID, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "schema_id" BIGINT, "view_name" VARCHAR, "dialect" VARCHAR, "sql" VARCHAR, "column_aliases" VARCHAR);

CREATE TABLE "public"."ducklake_tag"("object_id" BIGINT, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "key" VARCHAR, "value" VARCHAR);

CREATE TABLE "public"."ducklake_column_tag"("table_id" BIGINT, "column_id" BIGINT, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "key" VARCHAR, "value" VARCHAR);

CREATE TABLE "public"."ducklake_data_file"("data_file_id" BIGINT PRIMARY KEY, "table_id" BIGINT, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "file_order" BIGINT, "path" VARCHAR, "path_is_relative" BOOLEAN, "file_format" VARCHAR, "record_count" BIGINT, "file_size_bytes" BIGINT, "footer_size" BIGINT, "row_id_start" BIGINT, "partition_id" BIGINT, "encryption_key" VARCHAR, "mapping_id" BIGINT, "partial_max" BIGINT);

CREATE TABLE "public"."ducklake_file_column_stats"("data_file_id" BIGINT, "table_id" BIGINT, "column_id" BIGINT, "column_size_bytes" BIGINT, "value_count" BIGINT, "null_count" BIGINT, "min_value" VARCHAR, "max_value" VARCHAR, "contains_nan" BOOLEAN, "extra_stats" VARCHAR);

CREATE TABLE "public"."ducklake_file_variant_stats"("data_file_id" BIGINT, "table_id" BIGINT, "column_id" BIGINT, "variant_path" VARCHAR, "shredded_type" VARCHAR, "column_size_bytes" BIGINT, "value_count" BIGINT, "null_count" BIGINT, "min_value" VARCHAR, "max_value" VARCHAR, "contains_nan" BOOLEAN, "extra_stats" VARCHAR);

CREATE TABLE "public"."ducklake_delete_file"("delete_file_id" BIGINT PRIMARY KEY, "table_id" BIGINT, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "data_file_id" BIGINT, "path" VARCHAR, "path_is_relative" BOOLEAN, "format" VARCHAR, "delete_count" BIGINT, "file_size_bytes" BIGINT, "footer_size" BIGINT, "encryption_key" VARCHAR, "partial_max" BIGINT);

CREATE TABLE "public"."ducklake_column"("column_id" BIGINT, "begin_snapshot" BIGINT, "end_snapshot" BIGINT, "table_id" BIGINT, "column_order" BIGINT, "column_name" VARCHAR, "column_type" VARCHAR, "initial_default" VARCHAR, "default_value" VARCHAR, "nulls_allowed" BOOLEAN, "parent_column" BIGINT, "default_value_type" VARCHAR, "default_value_dialect" VARCHAR);

CREATE TABLE "public"."ducklake_table_stats"("table_id" BIGINT, "record_count" BIGINT, "next_row_id" BIGINT, "file_size_bytes" BIGINT);

CREATE TABLE "public"."ducklake_table_column_stats"("table_id" BIGINT, "column_id" BIGINT, "contains_null" BOOLEAN, "contains_nan" BOOLEAN, "min_value" VARCHAR, "max_value" VARCHAR, "extra_stats" VARCHAR);

CREATE TABLE "public"."ducklake_partition_column"("partition_id" BIGINT, "table_id" BIGINT, "partition_key_index" BIGINT, "column_id" BIGINT, "transform" VARCHAR);

CREATE TABLE "public"."ducklake_file_partition_value"("data_file_id" BIGINT, "table_id" BIGINT, "partition_key_index" BIGINT, "partition_value" VARCHAR);

CREATE TABLE "public"."ducklake_files_scheduled_for_deletion"("data_file_id" BIGINT, "path" VARCHAR, "path_is_relative" BOOLEAN, "schedule_start" TIMESTAMP WITH TIME ZONE);

CREATE TABLE "public"."ducklake_inlined_data_tables"("table_id" BIGINT, "table_name" VARCHAR, "schema_version" BIGINT);

CREATE TABLE "public"."ducklake_column_mapping"("mapping_id" BIGINT, "table_id" BIGINT, "type" VARCHAR);

CREATE TABLE "public"."ducklake_name_mapping"("mapping_id" BIGINT, "column_id" BIGINT, "source_name" VARCHAR, "target_field_id" BIGINT, "parent_column" BIGINT, "is_partition" BOOLEAN);

CREATE TABLE "public"."ducklake_schema_versions"("begin_snapshot" BIGINT, "schema_version" BIGINT, "table_id" BIGINT);

CREATE TABLE "public"."ducklake_macro"("schema_id" BIGINT, "macro_id" BIGINT, "macro_name" VARCHAR, "begin_snapshot" BIGINT, "end_snapshot" BIGINT);

CREATE TABLE "public"."ducklake_macro_impl"("macro_id" BIGINT, "impl_id" BIGINT, "dialect" VARCHAR, "sql" VARCHAR, "type" VARCHAR);

CREATE TABLE "public"."ducklake_macro_parameters"("macro_id" BIGINT, "impl_id" BIGINT, "column_id" BIGINT, "parameter_name" VARCHAR, "parameter_type" VARCHAR, "default_value" VARCHAR, "default_value_type" VARCHAR);

COPY "public"."ducklake_snapshot" FROM STDIN (FORMAT BINARY)

COPY "public"."ducklake_metadata" ("key", "value") FROM STDIN (FORMAT BINARY)

COMMIT

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ

SELECT snapshot_id, schema_version, next_catalog_id, next_file_id
		 FROM "public".ducklake_snapshot WHERE snapshot_id = (
		     SELECT MAX(snapshot_id) FROM "public".ducklake_snapshot
		 )

COPY (SELECT "snapshot_id", "schema_version", "next_catalog_id", "next_file_id" FROM (SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM "public".ducklake_snapshot WHERE snapshot_id = ( SELECT MAX(snapshot_id) FROM "public".ducklake_snapshot )) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");

COPY (SELECT "begin_snapshot", "end_snapshot", "schema_id", "schema_uuid", "schema_name", "path", "path_is_relative" FROM "public"."ducklake_schema" WHERE "begin_snapshot" <= '0') TO STDOUT (FORMAT "binary");

COPY (SELECT "table_id", "begin_snapshot", "end_snapshot", "column_id", "column_name", "column_type", "initial_default", "default_value", "nulls_allowed", "parent_column", "default_value_type", "column_order" FROM "public"."ducklake_column" ) TO STDOUT (FORMAT "binary");

COPY (SELECT "schema_id", "path", "path_is_relative" FROM "public"."ducklake_schema" WHERE "schema_id" = '0') TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (1, NOW(), 1, 2, 0);INSERT INTO "public".ducklake_table VALUES (1, '01a22a24-b1c9-78a1-8ef0-24e42cf0741d', 1, NULL, 0, 't1', 't1/', true);

INSERT INTO "public".ducklake_snapshot VALUES (2, NOW(), 1, 2, 1);INSERT INTO "public".ducklake_table_stats VALUES (1, 2, 2, 0);INSERT INTO "public".ducklake_table_column_stats VALUES (1, 1, false, NULL, '1', '2', NULL),(1, 2, true, NULL, 'hello ''w'' \ back', 'hello ''w'' \ back', NULL),(1, 3, true, NULL, '2024-01-02', '2024-01-02', NULL),(1, 4, true, NULL, '2024-01-02 03:04:05.678', '2024-01-02 03:04:05.678', NULL),(1, 5, true, NULL, '2024-01-02 03:04:05+00', '2024-01-02 03:04:05+00', NULL),(1, 6, true, NULL, '12.34', '12.34', NULL),(1, 7, true, NULL, 'true', 'true', NULL),(1, 8, true, NULL, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001', NULL),(1, 9, true, NULL, '1.5', '1.5', NULL),(1, 10, true, NULL, 'nan', 'nan', NULL),(1, 11, true, NULL, '\xAA\x00b', '\xAA\x00b', NULL),(1, 12, true, NULL, '3', '3', NULL),(1, 13, true, NULL, '18446744073709551615', '18446744073709551615', NULL),(1, 14, true, NULL, '-170141183460469231731687303715884105728', '-170141183460469231731687303715884105728', NULL),(1, 16, true, NULL, '1', '2', NULL),(1, 18, true, NULL, '1', '1', NULL),(1, 19, true, NULL, 'x''y', 'x''y', NULL),(1, 20, true, NULL, '1 month 2 days 03:00:00', '1 month 2 days 03:00:00', NULL),(1, 21, true, NULL, '01:02:03', '01:02:03', NULL);

COPY (SELECT "data_file_id", "table_id", "begin_snapshot", "end_snapshot", "path", "path_is_relative", "file_size_bytes", "footer_size", "row_id_start", "partial_max", "mapping_id" FROM "public"."ducklake_data_file" WHERE "table_id" = '1' AND "begin_snapshot" <= '2') TO STDOUT (FORMAT "binary");

COPY (SELECT "table_id", "schema_version", "begin_snapshot" FROM "public"."ducklake_schema_versions" WHERE "table_id" = '1' AND "schema_version" = '1') TO STDOUT (FORMAT "binary");

SELECT data_file_id, value_count, max_value, min_value
     FROM "public".ducklake_file_column_stats
     WHERE column_id = 1 AND table_id = 1

COPY (SELECT "data_file_id", "value_count", "max_value", "min_value" FROM (SELECT data_file_id, value_count, max_value, min_value FROM "public".ducklake_file_column_stats WHERE column_id = 1 AND table_id = 1) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (3, NOW(), 2, 3, 1);INSERT INTO "public".ducklake_table VALUES (2, '01a22a24-b22b-73e6-865c-35df83f463f2', 3, NULL, 0, 't2', 't2/', true);INSERT INTO "public".ducklake_column VALUES (1, 3, NULL, 2, 1, 'id', 'int64', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(2, 3, NULL, 2, 2, 'v', 'varchar', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(3, 3, NULL, 2, 3, 'x', 'float64', NULL, 'NULL', true, NULL, 'literal', 'duckdb');INSERT INTO "public".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_2', 2);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_2_2(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT, v BYTEA, x DOUBLE PRECISION);INSERT INTO "public".ducklake_schema_versions VALUES (3,2,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (3, 'created_table:"main"."t2"', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (4, NOW(), 2, 3, 2);INSERT INTO "public".ducklake_table_stats VALUES (2, 100, 100, 1955);INSERT INTO "public".ducklake_table_column_stats VALUES (2, 1, false, NULL, '0', '99', NULL),(2, 2, false, NULL, 'v0', 'v99', NULL),(2, 3, false, false, '0.0', '33.0', NULL);INSERT INTO "public".ducklake_data_file VALUES (1, 2, 4, NULL, NULL, 'ducklake-01a22a24-b25b-7d1c-8d3e-83df4ff747bd.parquet', true, 'parquet', 100, 1955, 332, 0, NULL, NULL, NULL, NULL);INSERT INTO "public".ducklake_file_column_stats VALUES (1, 2, 1, 718, 100, 0, '0', '99', NULL, NULL),(1, 2, 2, 442, 100, 0, 'v0', 'v99', NULL, NULL),(1, 2, 3, 451, 100, 0, '0.0', '33.0', false, NULL);INSERT INTO "public".ducklake_snapshot_changes VALUES (4, 'inserted_into_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (5, NOW(), 2, 3, 3);UPDATE "public".ducklake_table_stats SET record_count=300, file_size_bytes=4843, next_row_id=300 WHERE table_id=2; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (2, 1, false, NULL, '0', '1199', NULL),(2, 2, false, NULL, 'v0', 'w1199', NULL),(2, 3, false, false, '0.0', '399.6666666666667', NULL) ) UPDATE "public".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "public".ducklake_data_file VALUES (2, 2, 5, NULL, NULL, 'ducklake-01a22a24-b263-7bae-9d11-a3b049bc239b.parquet', true, 'parquet', 200, 2888, 342, 100, NULL, NULL, NULL, NULL);INSERT INTO "public".ducklake_file_column_stats VALUES (2, 2, 1, 844, 200, 0, '1000', '1199', NULL, NULL),(2, 2, 2, 843, 200, 0, 'w1000', 'w1199', NULL, NULL),(2, 2, 3, 847, 200, 0, '333.3333333333333', '399.6666666666667', false, NULL);INSERT INTO "public".ducklake_snapshot_changes VALUES (5, 'inserted_into_table:2', NULL, NULL, NULL);

SELECT data_file_id, value_count, contains_nan, max_value
     FROM "public".ducklake_file_column_stats
     WHERE column_id = 3 AND table_id = 2

COPY (SELECT "data_file_id", "value_count", "contains_nan", "max_value" FROM (SELECT data_file_id, value_count, contains_nan, max_value FROM "public".ducklake_file_column_stats WHERE column_id = 3 AND table_id = 2) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");

SELECT data_file_id, value_count, min_value, max_value
     FROM "public".ducklake_file_column_stats
     WHERE column_id = 1 AND table_id = 2

COPY (SELECT "data_file_id", "value_count", "min_value", "max_value" FROM (SELECT data_file_id, value_count, min_value, max_value FROM "public".ducklake_file_column_stats WHERE column_id = 1 AND table_id = 2) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (6, NOW(), 2, 3, 3);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_delete_2(file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT); INSERT INTO "public".ducklake_inlined_delete_2 VALUES (1, 10, 6), (1, 11, 6), (1, 12, 6); INSERT INTO "public".ducklake_snapshot_changes VALUES (6, 'inlined_delete:2', NULL, NULL, NULL);

COPY (SELECT NULL FROM "public"."ducklake_inlined_delete_2" LIMIT 1) TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (8, NOW(), 2, 3, 5);UPDATE "public".ducklake_table_stats SET record_count=301, file_size_bytes=4843, next_row_id=300 WHERE table_id=2; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (2, 1, false, NULL, '0', '1199', NULL),(2, 2, false, NULL, 'v0', 'zz', NULL),(2, 3, false, NULL, '0.0', '399.6666666666667', NULL) ) UPDATE "public".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "public".ducklake_inlined_data_2_2 VALUES (20, 8, NULL, 20, '\x7a7a', 6.666666666666667);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_delete_2(file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT); INSERT INTO "public".ducklake_inlined_delete_2 VALUES (1, 20, 8); INSERT INTO "public".ducklake_snapshot_changes VALUES (8, 'inlined_insert:2,inlined_delete:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (9, NOW(), 2, 3, 6);UPDATE "public".ducklake_table_stats SET record_count=3, file_size_bytes=0, next_row_id=2 WHERE table_id=1;

INSERT INTO "public".ducklake_snapshot VALUES (10, NOW(), 2, 3, 6); WITH deleted_row_list(deleted_row_id) AS ( VALUES (1) ) UPDATE "public".ducklake_inlined_data_1_1 SET end_snapshot = 10 FROM deleted_row_list WHERE row_id=deleted_row_id AND end_snapshot IS NULL AND begin_snapshot != 10; INSERT INTO "public".ducklake_snapshot_changes VALUES (10, 'inlined_delete:1', NULL, NULL, NULL);

ROLLBACK

COPY (SELECT "snapshot_time", "snapshot_id" FROM "public"."ducklake_snapshot" WHERE ("snapshot_time" <= '2026-11-30 01:49:38.077034+00')) TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (11, NOW(), 3, 3, 6); WITH overwritten_tags(tid, key) AS ( VALUES (2, 'comment') ) UPDATE "public".ducklake_tag SET end_snapshot = 11 FROM overwritten_tags WHERE object_id=tid AND ducklake_tag.key=overwritten_tags.key AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_tag VALUES (2, 11, NULL, 'comment', 'tbl ''c''');INSERT INTO "public".ducklake_snapshot_changes VALUES (11, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (12, NOW(), 4, 3, 6); WITH overwritten_tags(tid, cid, key) AS ( VALUES (2, 2, 'comment') ) UPDATE "public".ducklake_column_tag SET end_snapshot = 12 FROM overwritten_tags WHERE table_id=tid AND column_id=cid AND ducklake_column_tag.key=overwritten_tags.key AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_column_tag VALUES (2, 2, 12, NULL, 'comment', 'colc');INSERT INTO "public".ducklake_snapshot_changes VALUES (12, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (14, NOW(), 6, 3, 6);INSERT INTO "public".ducklake_column VALUES (4, 14, NULL, 2, 4, 'n', 'int32', '42', '42', true, NULL, 'literal', 'duckdb');INSERT INTO "public".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_6', 6);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_2_6(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT, v BYTEA, x DOUBLE PRECISION, n INTEGER);INSERT INTO "public".ducklake_schema_versions VALUES (14,6,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (14, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (15, NOW(), 7, 3, 6); WITH dropped_cols(tid, cid) AS ( VALUES (2, 4) ) UPDATE "public".ducklake_column SET end_snapshot = 15 FROM dropped_cols WHERE table_id=tid AND column_id=cid AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_column VALUES (4, 15, NULL, 2, 4, 'n2', 'int32', '42', '42', true, NULL, 'literal', 'duckdb');INSERT INTO "public".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_7', 7);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_2_7(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT, v BYTEA, x DOUBLE PRECISION, n2 INTEGER);INSERT INTO "public".ducklake_schema_versions VALUES (15,7,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (15, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (16, NOW(), 8, 3, 6); WITH dropped_cols(tid, cid) AS ( VALUES (2, 4) ) UPDATE "public".ducklake_column SET end_snapshot = 16 FROM dropped_cols WHERE table_id=tid AND column_id=cid AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_column VALUES (4, 16, NULL, 2, 4, 'n2', 'int64', '42', '42', true, NULL, 'literal', 'duckdb');INSERT INTO "public".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_8', 8);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_2_8(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT, v BYTEA, x DOUBLE PRECISION, n2 BIGINT);INSERT INTO "public".ducklake_schema_versions VALUES (16,8,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (16, 'altered_table:2', NULL, NULL, NULL);

COPY (SELECT "table_id", "column_name", "begin_snapshot", "end_snapshot" FROM "public"."ducklake_column" WHERE "column_name" = 'n2' COLLATE "C") TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (17, NOW(), 9, 3, 6); WITH dropped_cols(tid, cid) AS ( VALUES (2, 4) ) UPDATE "public".ducklake_column SET end_snapshot = 17 FROM dropped_cols WHERE table_id=tid AND column_id=cid AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_column VALUES (4, 17, NULL, 2, 4, 'n2', 'int64', '42', '7', true, NULL, 'literal', 'duckdb');INSERT INTO "public".ducklake_schema_versions VALUES (17,9,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (17, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (19, NOW(), 11, 3, 6); WITH dropped_cols(tid, cid) AS ( VALUES (2, 4) ) UPDATE "public".ducklake_column SET end_snapshot = 19 FROM dropped_cols WHERE table_id=tid AND column_id=cid AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_11', 11);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_2_11(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT, v BYTEA, x DOUBLE PRECISION);INSERT INTO "public".ducklake_schema_versions VALUES (19,11,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (19, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (20, NOW(), 12, 3, 6);UPDATE "public".ducklake_table SET end_snapshot = 20 WHERE end_snapshot IS NULL AND table_id IN (2);INSERT INTO "public".ducklake_table VALUES (2, '01a22a24-b22b-73e6-865c-35df83f463f2', 20, NULL, 0, 't3', 't2/', true);INSERT INTO "public".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_12', 12);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_2_12(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id BIGINT, v BYTEA, x DOUBLE PRECISION);INSERT INTO "public".ducklake_schema_versions VALUES (20,12,2);INSERT INTO "public".ducklake_snapshot_changes VALUES (20, 'created_table:"main"."t3"', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (24, NOW(), 16, 4, 6);UPDATE "public".ducklake_view SET end_snapshot = 24 WHERE end_snapshot IS NULL AND view_id IN (3);INSERT INTO "public".ducklake_view VALUES (3, '4197e9fe-4aef-46d7-9c05-15e8ea842252', 24, NULL, 0, 'vw2', 'duckdb', 'SELECT id FROM {DUCKLAKE_CATALOG}.t2', '');INSERT INTO "public".ducklake_snapshot_changes VALUES (24, 'created_view:"main"."vw2"', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (26, NOW(), 18, 6, 6);INSERT INTO "public".ducklake_table VALUES (5, '01a22a24-b6e1-77c6-b356-f3b4e52fc759', 26, NULL, 4, 'p', 'p/', true);INSERT INTO "public".ducklake_column VALUES (1, 26, NULL, 5, 1, 'k', 'int32', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(2, 26, NULL, 5, 2, 'y', 'date', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(3, 26, NULL, 5, 3, 'v', 'varchar', NULL, 'NULL', true, NULL, 'literal', 'duckdb');INSERT INTO "public".ducklake_inlined_data_tables VALUES (5, 'ducklake_inlined_data_5_18', 18);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_5_18(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, k INTEGER, y VARCHAR, v BYTEA);INSERT INTO "public".ducklake_schema_versions VALUES (26,18,5);INSERT INTO "public".ducklake_snapshot_changes VALUES (26, 'created_table:"s2"."p"', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (27, NOW(), 19, 7, 6); UPDATE "public".ducklake_partition_info SET end_snapshot = 27 WHERE table_id IN (5) AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_partition_info VALUES (6, 5, 27, NULL);INSERT INTO "public".ducklake_partition_column VALUES (6, 5, 0, 1, 'identity'), (6, 5, 1, 2, 'year'), (6, 5, 2, 3, 'bucket(4)');INSERT INTO "public".ducklake_inlined_data_tables VALUES (5, 'ducklake_inlined_data_5_19', 19);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_5_19(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, k INTEGER, y VARCHAR, v BYTEA);INSERT INTO "public".ducklake_schema_versions VALUES (27,19,5);INSERT INTO "public".ducklake_snapshot_changes VALUES (27, 'altered_table:5', NULL, NULL, NULL);

COPY (SELECT "table_id", "partition_key_index", "partition_value", "data_file_id" FROM "public"."ducklake_file_partition_value" WHERE "table_id" = '5' AND "partition_key_index" = '2' AND "partition_value" = '0' COLLATE "C") TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (29, NOW(), 20, 8, 14); UPDATE "public".ducklake_partition_info SET end_snapshot = 29 WHERE table_id IN (5) AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_partition_info VALUES (7, 5, 29, NULL);INSERT INTO "public".ducklake_inlined_data_tables VALUES (5, 'ducklake_inlined_data_5_20', 20);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_data_5_20(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, k INTEGER, y VARCHAR, v BYTEA);INSERT INTO "public".ducklake_schema_versions VALUES (29,20,5);INSERT INTO "public".ducklake_snapshot_changes VALUES (29, 'altered_table:5', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (30, NOW(), 21, 9, 14); UPDATE "public".ducklake_sort_info SET end_snapshot = 30 WHERE table_id IN (2) AND end_snapshot IS NULL ;INSERT INTO "public".ducklake_sort_info VALUES (8, 2, 30, NULL);INSERT INTO "public".ducklake_sort_expression VALUES (8, 2, 0, 'id', 'duckdb', 'DESC', 'NULLS_LAST');INSERT INTO "public".ducklake_snapshot_changes VALUES (30, 'altered_table:2', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (31, NOW(), 22, 10, 14); INSERT INTO "public".ducklake_macro values(0,9,'add1',31, NULL); INSERT INTO "public".ducklake_macro_impl values(9,0,'duckdb','(a + b)','scalar'); INSERT INTO "public".ducklake_macro_parameters values(9,0,0,'a','unknown','NULL','unknown'); INSERT INTO "public".ducklake_macro_parameters values(9,0,1,'b','unknown','5','int32'); INSERT INTO "public".ducklake_snapshot_changes VALUES (31, 'created_scalar_macro:"main"."add1"', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (32, NOW(), 23, 11, 14); INSERT INTO "public".ducklake_macro values(0,10,'tm',32, NULL); INSERT INTO "public".ducklake_macro_impl values(10,0,'duckdb','SELECT a AS x','table'); INSERT INTO "public".ducklake_macro_parameters values(10,0,0,'a','unknown','NULL','unknown'); INSERT INTO "public".ducklake_snapshot_changes VALUES (32, 'created_table_macro:"main"."tm"', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (33, NOW(), 24, 11, 14);UPDATE "public".ducklake_macro SET end_snapshot = 33 WHERE end_snapshot IS NULL AND macro_id IN (9);INSERT INTO "public".ducklake_snapshot_changes VALUES (33, 'dropped_scalar_macro:9', NULL, NULL, NULL);

COPY (SELECT "key", "scope", "scope_id" FROM "public"."ducklake_metadata" WHERE "key" = 'parquet_compression' COLLATE "C" AND "scope" = 'table' COLLATE "C" AND "scope_id" = '2') TO STDOUT (FORMAT "binary");

COPY (SELECT "key", "scope", "scope_id", ctid FROM "public"."ducklake_metadata" WHERE "key" = 'parquet_compression' COLLATE "C" AND "scope" = 'table' COLLATE "C" AND "scope_id" = '2') TO STDOUT (FORMAT "binary");

CREATE LOCAL TEMPORARY TABLE "update_data_daeb54e2-e0af-4874-b4e5-463fccdb3fa8"("value" VARCHAR, __page_id_string VARCHAR) ON COMMIT DROP;

COPY "update_data_daeb54e2-e0af-4874-b4e5-463fccdb3fa8" FROM STDIN (FORMAT TEXT, NULL '')

UPDATE "public"."ducklake_metadata" SET "value" = "update_data_daeb54e2-e0af-4874-b4e5-463fccdb3fa8"."value" FROM "update_data_daeb54e2-e0af-4874-b4e5-463fccdb3fa8" WHERE "ducklake_metadata".ctid=__page_id_string::TID

INSERT INTO "public".ducklake_snapshot VALUES (34, NOW(), 24, 11, 15);UPDATE "public".ducklake_table_stats SET record_count=302, file_size_bytes=4843, next_row_id=301 WHERE table_id=2; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (2, 1, false, NULL, '0', '5000', NULL),(2, 2, false, NULL, 'a', 'zz', NULL),(2, 3, false, NULL, '0.0', '399.6666666666667', NULL) ) UPDATE "public".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "public".ducklake_inlined_data_2_13 VALUES (300, 34, NULL, 5000, '\x61', 1.0);INSERT INTO "public".ducklake_snapshot_changes VALUES (34, 'inlined_insert:2', 'me', 'it''s a msg', '{"a":1}');

COPY (SELECT ctid FROM "public"."ducklake_inlined_delete_2" ) TO STDOUT (FORMAT "binary");

DELETE FROM "public".ducklake_inlined_delete_2 WHERE ctid IN ('(0,1)','(0,2)','(0,3)','(0,4)')

COPY (SELECT "begin_snapshot", ctid FROM "public"."ducklake_inlined_data_1_1" WHERE "begin_snapshot" <= '34') TO STDOUT (FORMAT "binary");

DELETE FROM "public".ducklake_inlined_data_2_2 WHERE ctid IN ('(0,1)')

COPY (SELECT NULL FROM "public"."ducklake_inlined_data_2_2" ) TO STDOUT (FORMAT "binary");

COPY (SELECT "table_id", "schema_version", ctid FROM "public"."ducklake_inlined_data_tables" WHERE "table_id" = '2' AND "schema_version" = '2') TO STDOUT (FORMAT "binary");

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ; DROP Table IF EXISTS "public"."ducklake_inlined_data_2_2"

COPY (SELECT "begin_snapshot", "data_file_id", "table_id", "file_size_bytes", "end_snapshot", "record_count", "row_id_start", "mapping_id", "partial_max", "partition_id", "path", "path_is_relative", "footer_size" FROM "public"."ducklake_data_file" WHERE "table_id" = '5' AND "file_size_bytes" < '10000000') TO STDOUT (FORMAT "binary");

COPY (SELECT "file_id", "begin_snapshot" FROM "public"."ducklake_inlined_delete_2" WHERE "file_id" IN ('1', '2', '16', '17') AND "begin_snapshot" <= '35') TO STDOUT (FORMAT "binary");

COPY (SELECT "snapshot_id", "snapshot_time", "schema_version", "next_file_id" FROM "public"."ducklake_snapshot" WHERE "snapshot_time" < '2026-11-30 01:49:39.74794+00') TO STDOUT (FORMAT "binary");

COPY (SELECT "snapshot_id", ctid FROM "public"."ducklake_snapshot" WHERE ("snapshot_id" >= '0' AND "snapshot_id" <= '34')) TO STDOUT (FORMAT "binary");

COPY (SELECT "end_snapshot", "begin_snapshot", ctid FROM "public"."ducklake_schema" ) TO STDOUT (FORMAT "binary");

INSERT INTO "public".ducklake_snapshot VALUES (36, NOW(), 25, 11, 20);UPDATE "public".ducklake_table SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);UPDATE "public".ducklake_partition_info SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);UPDATE "public".ducklake_column SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);UPDATE "public".ducklake_column_tag SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);UPDATE "public".ducklake_data_file SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);UPDATE "public".ducklake_delete_file SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);UPDATE "public".ducklake_tag SET end_snapshot = 36 WHERE end_snapshot IS NULL AND object_id IN (5);UPDATE "public".ducklake_sort_info SET end_snapshot = 36 WHERE end_snapshot IS NULL AND table_id IN (5);INSERT INTO "public".ducklake_snapshot_changes VALUES (36, 'dropped_table:5', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (37, NOW(), 26, 11, 20);UPDATE "public".ducklake_schema SET end_snapshot = 37 WHERE end_snapshot IS NULL AND schema_id IN (4);INSERT INTO "public".ducklake_snapshot_changes VALUES (37, 'dropped_schema:4', NULL, NULL, NULL);

INSERT INTO "public".ducklake_snapshot VALUES (38, NOW(), 26, 11, 20);UPDATE "public".ducklake_data_file SET end_snapshot = 38 WHERE end_snapshot IS NULL AND data_file_id IN (1, 2);CREATE TABLE IF NOT EXISTS "public".ducklake_inlined_delete_2(file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT); INSERT INTO "public".ducklake_inlined_delete_2 VALUES (16, 0, 38), (17, 0, 38); INSERT INTO "public".ducklake_snapshot_changes VALUES (38, 'deleted_from_table:2,inlined_delete:2', NULL, NULL, NULL);

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY

COPY (SELECT "table_id", "column_id", "contains_null", "contains_nan", "min_value", "max_value", "extra_stats" FROM "public"."ducklake_table_column_stats" WHERE ctid BETWEEN '(0,0)'::tid AND '(4294967295,0)'::tid AND "table_id" = '1') TO STDOUT (FORMAT "binary");

CREATE SCHEMA IF NOT EXISTS"mb2"

INSERT INTO "mb2".ducklake_snapshot VALUES (1, NOW(), 1, 2, 0);INSERT INTO "mb2".ducklake_table VALUES (1, '01a22a26-2ee6-761d-89e0-fccf3446f977', 1, NULL, 0, 't', 't/', true);INSERT INTO "mb2".ducklake_column VALUES (1, 1, NULL, 1, 1, 'id', 'int32', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(2, 1, NULL, 1, 2, 'v', 'varchar', NULL, 'NULL', true, NULL, 'literal', 'duckdb');INSERT INTO "mb2".ducklake_inlined_data_tables VALUES (1, 'ducklake_inlined_data_1_1', 1);CREATE TABLE IF NOT EXISTS "mb2".ducklake_inlined_data_1_1(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id INTEGER, v BYTEA);INSERT INTO "mb2".ducklake_schema_versions VALUES (1,1,1);INSERT INTO "mb2".ducklake_snapshot_changes VALUES (1, 'created_table:"main"."t"', NULL, NULL, NULL);

INSERT INTO "mb2".ducklake_snapshot VALUES (5, NOW(), 1, 2, 4); DELETE FROM "mb2".ducklake_data_file WHERE data_file_id IN (0, 1, 2); DELETE FROM "mb2".ducklake_file_column_stats WHERE data_file_id IN (0, 1, 2); DELETE FROM "mb2".ducklake_delete_file WHERE data_file_id IN (0, 1, 2); DELETE FROM "mb2".ducklake_file_partition_value WHERE data_file_id IN (0, 1, 2); DELETE FROM "mb2".ducklake_file_variant_stats WHERE data_file_id IN (0, 1, 2); INSERT INTO "mb2".ducklake_files_scheduled_for_deletion VALUES (0, 'main/t/ducklake-01a22a26-2f49-7422-a7aa-aca014fcecdb.parquet', true, NOW()), (1, 'main/t/ducklake-01a22a26-2f62-700d-bfd9-8fa2e6999ce4.parquet', true, NOW()), (2, 'main/t/ducklake-01a22a26-2f73-728c-8fa2-7597c8f4569c.parquet', true, NOW());INSERT INTO "mb2".ducklake_data_file VALUES (3, 1, 2, NULL, NULL, 'ducklake-01a22a26-2fa9-71e9-b0f6-cbe0e9d64499.parquet', true, 'parquet', 150, 2035, 424, 0, NULL, 'eTZXoKkwuM2U85TSkwLU9Q==', NULL, 4);INSERT INTO "mb2".ducklake_file_column_stats VALUES (3, 1, 1, 694, 150, 0, '0', '149', NULL, NULL),(3, 1, 2, 707, 150, 0, 'v0', 'v99', NULL, NULL);INSERT INTO "mb2".ducklake_snapshot_changes VALUES (5, 'merge_adjacent:1', NULL, NULL, NULL);

SELECT data_file_id, value_count, min_value
     FROM "mb2".ducklake_file_column_stats
     WHERE column_id = 1 AND table_id = 1

COPY (SELECT "data_file_id", "value_count", "min_value" FROM (SELECT data_file_id, value_count, min_value FROM "mb2".ducklake_file_column_stats WHERE column_id = 1 AND table_id = 1) AS __unnamed_subquery ) TO STDOUT (FORMAT "binary");

INSERT INTO "mb2".ducklake_snapshot VALUES (7, NOW(), 1, 2, 6); DELETE FROM "mb2".ducklake_delete_file WHERE delete_file_id IN (4); INSERT INTO "mb2".ducklake_files_scheduled_for_deletion VALUES (4, 'main/t/ducklake-01a22a26-300b-7840-9c99-198853f77548-delete.parquet', true, NOW());INSERT INTO "mb2".ducklake_delete_file VALUES (5, 1, 6, NULL, 3, 'ducklake-01a22a26-3091-7975-802f-74269789ca01-delete.parquet', true, 'parquet', 45, 1608, 788, 'gPhdRR4W/kKvMr6eN62Uew==', 7);INSERT INTO "mb2".ducklake_snapshot_changes VALUES (7, 'deleted_from_table:1', NULL, NULL, NULL);

COPY (SELECT "table_id", "end_snapshot", "data_file_id", "path", "path_is_relative", "record_count", "file_size_bytes", "footer_size", "row_id_start", "encryption_key", "mapping_id" FROM "mb2"."ducklake_data_file" WHERE "table_id" = '1' AND ("end_snapshot" >= '1' AND "end_snapshot" <= '6')) TO STDOUT (FORMAT "binary");

COPY (SELECT "end_snapshot", "row_id" FROM "mb2"."ducklake_inlined_data_1_1" WHERE ("end_snapshot" >= '1' AND "end_snapshot" <= '6')) TO STDOUT (FORMAT "binary");

INSERT INTO "mb2".ducklake_snapshot VALUES (9, NOW(), 1, 2, 7);INSERT INTO "mb2".ducklake_data_file VALUES (6, 1, 9, NULL, NULL, 'ducklake-01a22a26-317f-722e-be7a-0a2c4dc94018.parquet', true, 'parquet', 104, 1981, 413, NULL, NULL, 'Ud+iMQLhYTlngRC4VzZdYA==', NULL, NULL);INSERT INTO "mb2".ducklake_file_column_stats VALUES (6, 1, 1, 512, 104, 0, '45', '149', NULL, NULL),(6, 1, 2, 524, 104, 0, 'v100', 'v99', NULL, NULL); UPDATE "mb2".ducklake_delete_file SET end_snapshot = 9 WHERE delete_file_id = 5; UPDATE "mb2".ducklake_data_file SET end_snapshot = 9 WHERE data_file_id = 3; UPDATE "mb2".ducklake_data_file SET begin_snapshot = 9 WHERE data_file_id = 6; UPDATE "mb2".ducklake_table_stats SET record_count=104, file_size_bytes=1981, next_row_id=150 WHERE table_id=1; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (1, 1, false, NULL, '45', '149', NULL),(1, 2, false, NULL, 'v100', 'v99', NULL) ) UPDATE "mb2".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "mb2".ducklake_snapshot_changes VALUES (9, 'rewrite_delete:1', NULL, NULL, NULL);

INSERT INTO "mb2".ducklake_snapshot VALUES (10, NOW(), 1, 2, 9);INSERT INTO "mb2".ducklake_column_mapping VALUES (7, 1, 'map_by_name');INSERT INTO "mb2".ducklake_name_mapping VALUES (7, 0, 'id', 1, NULL, false), (7, 1, 'v', 2, NULL, false);UPDATE "mb2".ducklake_table_stats SET record_count=109, file_size_bytes=2302, next_row_id=155 WHERE table_id=1; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (1, 1, false, NULL, '45', '1004', NULL),(1, 2, false, NULL, 'v100', 'w4', NULL) ) UPDATE "mb2".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "mb2".ducklake_data_file VALUES (8, 1, 10, NULL, NULL, '<path>', false, 'parquet', 5, 321, 214, 150, NULL, NULL, 7, NULL);INSERT INTO "mb2".ducklake_file_column_stats VALUES (8, 1, 1, 45, 5, 0, '1000', '1004', NULL, NULL),(8, 1, 2, 50, 5, 0, 'w0', 'w4', NULL, NULL);INSERT INTO "mb2".ducklake_snapshot_changes VALUES (10, 'inserted_into_table:1', NULL, NULL, NULL);

INSERT INTO "mb2".ducklake_snapshot VALUES (11, NOW(), 2, 3, 9);INSERT INTO "mb2".ducklake_table VALUES (2, '01a22a26-3227-7911-acd8-136ed1cef167', 11, NULL, 0, 'gone', 'gone/', true);INSERT INTO "mb2".ducklake_column VALUES (1, 11, NULL, 2, 1, 'a', 'int32', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(2, 11, NULL, 2, 2, 's', 'varchar', NULL, 'NULL', true, NULL, 'literal', 'duckdb');INSERT INTO "mb2".ducklake_inlined_data_tables VALUES (2, 'ducklake_inlined_data_2_2', 2);CREATE TABLE IF NOT EXISTS "mb2".ducklake_inlined_data_2_2(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, a INTEGER, s BYTEA);INSERT INTO "mb2".ducklake_schema_versions VALUES (11,2,2);INSERT INTO "mb2".ducklake_snapshot_changes VALUES (11, 'created_table:"main"."gone"', NULL, NULL, NULL);

INSERT INTO "mb2".ducklake_snapshot VALUES (12, NOW(), 2, 3, 10);INSERT INTO "mb2".ducklake_table_stats VALUES (2, 1, 1, 0);INSERT INTO "mb2".ducklake_table_column_stats VALUES (2, 1, false, NULL, '1', '1', NULL),(2, 2, false, NULL, 'x', 'x', NULL);INSERT INTO "mb2".ducklake_inlined_data_2_2 VALUES (0, 12, NULL, 1, '\x78');INSERT INTO "mb2".ducklake_snapshot_changes VALUES (12, 'inlined_insert:2', NULL, NULL, NULL);

COPY (SELECT "data_file_id", ctid FROM "mb2"."ducklake_data_file" WHERE "data_file_id" IN ('3', '10')) TO STDOUT (FORMAT "binary");

COPY (SELECT "delete_file_id", ctid FROM "mb2"."ducklake_delete_file" WHERE "delete_file_id" = '5') TO STDOUT (FORMAT "binary");

DROP Table IF EXISTS "mb2"."ducklake_inlined_data_2_2"

COPY (SELECT "snapshot_id", "snapshot_time", "schema_version", "next_file_id" FROM "mb2"."ducklake_snapshot" WHERE "snapshot_id" IN ('9999', '12345')) TO STDOUT (FORMAT "binary");

INSERT INTO "mb2".ducklake_snapshot VALUES (16, NOW(), 4, 4, 11);INSERT INTO "mb2".ducklake_table VALUES (3, '01a22a26-34cb-7e9e-b9f2-0835dbda1d53', 16, NULL, 0, 'n', 'n/', true);INSERT INTO "mb2".ducklake_column VALUES (1, 16, NULL, 3, 1, 'id', 'int32', NULL, 'NULL', false, NULL, 'literal', 'duckdb'),(2, 16, NULL, 3, 2, 'm', 'map', NULL, 'NULL', true, NULL, '', 'duckdb'),(3, 16, NULL, 3, 3, 'key', 'varchar', NULL, 'NULL', true, 2, 'literal', 'duckdb'),(4, 16, NULL, 3, 4, 'value', 'int32', NULL, 'NULL', true, 2, 'literal', 'duckdb'),(5, 16, NULL, 3, 5, 'v', 'varchar', NULL, 'concat(''a'', ''b'')', true, NULL, 'expression', 'duckdb');INSERT INTO "mb2".ducklake_inlined_data_tables VALUES (3, 'ducklake_inlined_data_3_4', 4);CREATE TABLE IF NOT EXISTS "mb2".ducklake_inlined_data_3_4(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id INTEGER, m VARCHAR, v BYTEA);INSERT INTO "mb2".ducklake_schema_versions VALUES (16,4,3);INSERT INTO "mb2".ducklake_snapshot_changes VALUES (16, 'created_table:"main"."n"', NULL, NULL, NULL);

INSERT INTO "mb2".ducklake_snapshot VALUES (18, NOW(), 4, 4, 13);UPDATE "mb2".ducklake_table_stats SET record_count=2, file_size_bytes=0, next_row_id=1 WHERE table_id=3; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (3, 1, false, NULL, '1', '1', NULL),(3, 3, false, NULL, 'k', 'k', NULL),(3, 4, false, NULL, '1', '1', NULL),(3, 5, false, NULL, 'ab', 'q', NULL) ) UPDATE "mb2".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "mb2".ducklake_inlined_data_3_4 VALUES (0, 18, NULL, 1, '{k=1}', '\x71'); WITH deleted_row_list(deleted_row_id) AS ( VALUES (0) ) UPDATE "mb2".ducklake_inlined_data_3_4 SET end_snapshot = 18 FROM deleted_row_list WHERE row_id=deleted_row_id AND end_snapshot IS NULL AND begin_snapshot != 18; INSERT INTO "mb2".ducklake_snapshot_changes VALUES (18, 'inlined_insert:3,inlined_delete:3', NULL, NULL, NULL);

INSERT INTO "My sch".ducklake_snapshot VALUES (1, NOW(), 1, 2, 0);INSERT INTO "My sch".ducklake_table VALUES (1, '01a22a26-10c9-71fc-9bee-c3f1e45fbce5', 1, NULL, 0, 'k', 'k/', true);INSERT INTO "My sch".ducklake_column VALUES (1, 1, NULL, 1, 1, 'i', 'int32', NULL, 'NULL', true, NULL, 'literal', 'duckdb');INSERT INTO "My sch".ducklake_inlined_data_tables VALUES (1, 'ducklake_inlined_data_1_1', 1);CREATE TABLE IF NOT EXISTS "My sch".ducklake_inlined_data_1_1(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, i INTEGER);INSERT INTO "My sch".ducklake_schema_versions VALUES (1,1,1);INSERT INTO "My sch".ducklake_snapshot_changes VALUES (1, 'created_table:"main"."k"', NULL, NULL, NULL);

COPY (SELECT "snapshot_id", "changes_made" FROM "My sch"."ducklake_snapshot_changes" WHERE "snapshot_id" > '1') TO STDOUT (FORMAT "binary");

INSERT INTO "My sch".ducklake_snapshot VALUES (3, NOW(), 1, 2, 2);UPDATE "My sch".ducklake_table_stats SET record_count=2, file_size_bytes=0, next_row_id=2 WHERE table_id=1; WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES (1, 1, false, NULL, '1', '2', NULL) ) UPDATE "My sch".ducklake_table_column_stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max, extra_stats=new_extra_stats FROM new_values WHERE table_id=tid AND column_id=cid; INSERT INTO "My sch".ducklake_inlined_data_1_1 VALUES (1, 3, NULL, 2);INSERT INTO "My sch".ducklake_snapshot_changes VALUES (3, 'inlined_insert:1', NULL, NULL, NULL);

COPY (SELECT "key", "scope", ctid FROM "ee"."ducklake_metadata" WHERE "key" = 'target_file_size' COLLATE "C") TO STDOUT (FORMAT "binary");

ALTER TABLE "m2"."ducklake_name_mapping" ADD COLUMN "is_partition" BOOLEAN DEFAULT NULL

ALTER TABLE "m3"."ducklake_column" ADD COLUMN "default_value_type" VARCHAR DEFAULT 'literal'

ALTER TABLE "m3"."ducklake_column" ADD COLUMN "default_value_dialect" VARCHAR DEFAULT NULL

ALTER TABLE "m3"."ducklake_schema_versions" ADD COLUMN "table_id" BIGINT

ALTER TABLE "m3"."ducklake_data_file" DROP COLUMN "partial_file_info"

CREATE LOCAL TEMPORARY TABLE "update_data_52c12294-8c29-4afa-8cc6-370580ef9dfe"("partial_max" BIGINT, __page_id_string VARCHAR) ON COMMIT DROP;

BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED

SELECT "snapshot_id", "schema_version", "next_catalog_id", "next_file_id" FROM (SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM "tx1".ducklake_snapshot WHERE snapshot_id = ( SELECT MAX(snapshot_id) FROM "tx1".ducklake_snapshot )) AS __unnamed_subquery ;

SELECT "begin_snapshot", "end_snapshot", "schema_id", "schema_uuid", "schema_name", "path", "path_is_relative" FROM "tx1"."ducklake_schema" WHERE "begin_snapshot" <= '0';

SELECT "table_id", "begin_snapshot", "end_snapshot", "column_id", "column_name", "column_type", "initial_default", "default_value", "nulls_allowed", "parent_column", "default_value_type", "column_order" FROM "tx1"."ducklake_column" ;

SELECT "schema_id", "path", "path_is_relative" FROM "tx1"."ducklake_schema" WHERE "schema_id" = '0';

INSERT INTO "tx1".ducklake_snapshot VALUES (1, NOW(), 1, 2, 0);INSERT INTO "tx1".ducklake_table VALUES (1, '01a22a28-369f-7a4e-8665-830721c098ca', 1, NULL, 0, 't', 't/', true);INSERT INTO "tx1".ducklake_column VALUES (1, 1, NULL, 1, 1, 'id', 'int32', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(2, 1, NULL, 1, 2, 'v', 'varchar', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(3, 1, NULL, 1, 3, 'ts', 'timestamp', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(4, 1, NULL, 1, 4, 'd', 'float64', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(5, 1, NULL, 1, 5, 'b', 'boolean', NULL, 'NULL', true, NULL, 'literal', 'duckdb'),(6, 1, NULL, 1, 6, 'u', 'uuid', NULL, 'NULL', true, NULL, 'literal', 'duckdb');INSERT INTO "tx1".ducklake_inlined_data_tables VALUES (1, 'ducklake_inlined_data_1_1', 1);CREATE TABLE IF NOT EXISTS "tx1".ducklake_inlined_data_1_1(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, id INTEGER, v BYTEA, ts VARCHAR, d DOUBLE PRECISION, b BOOLEAN, u UUID);INSERT INTO "tx1".ducklake_schema_versions VALUES (1,1,1);INSERT INTO "tx1".ducklake_snapshot_changes VALUES (1, 'created_table:"main"."t"', NULL, NULL, NULL);

INSERT INTO "tx1".ducklake_snapshot VALUES (2, NOW(), 1, 2, 1);INSERT INTO "tx1".ducklake_table_stats VALUES (1, 2, 2, 0);INSERT INTO "tx1".ducklake_table_column_stats VALUES (1, 1, false, NULL, '1', '2', NULL),(1, 2, true, NULL, 'a', 'a', NULL),(1, 3, true, NULL, '2024-01-01 00:00:00', '2024-01-01 00:00:00', NULL),(1, 4, false, NULL, '-inf', '1e+100', NULL),(1, 5, true, NULL, 'true', 'true', NULL),(1, 6, true, NULL, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001', NULL);INSERT INTO "tx1".ducklake_inlined_data_1_1 VALUES (0, 2, NULL, 1, '\x61', CAST('2024-01-01 00:00:00' AS VARCHAR), 1e+100, true, CAST('00000000-0000-0000-0000-000000000001' AS UUID)), (1, 2, NULL, 2, NULL, NULL, CAST('-inf' AS DOUBLE PRECISION), NULL, NULL);INSERT INTO "tx1".ducklake_snapshot_changes VALUES (2, 'inlined_insert:1', NULL, NULL, NULL);

SELECT "data_file_id", "table_id", "begin_snapshot", "end_snapshot", "path", "path_is_relative", "file_size_bytes", "footer_size", "row_id_start", "partial_max", "mapping_id" FROM "tx1"."ducklake_data_file" WHERE "table_id" = '1' AND "begin_snapshot" <= '2';

SELECT "table_id", "schema_version", "begin_snapshot" FROM "tx1"."ducklake_schema_versions" WHERE "table_id" = '1' AND "schema_version" = '1';

SELECT "key", "scope" FROM "tx1"."ducklake_metadata" WHERE "key" = 'target_file_size' COLLATE "C";

SELECT "key", "scope", ctid FROM "tx1"."ducklake_metadata" WHERE "key" = 'target_file_size' COLLATE "C";

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT oid, nspname
FROM pg_namespace
ORDER BY oid;

SELECT pg_namespace.oid AS namespace_id, relname, relpages, attname,
	pg_type.typname type_name, atttypmod type_modifier, pg_attribute.attndims ndim,
	attnum, pg_attribute.attnotnull AS notnull, NULL constraint_id, NULL constraint_type, NULL constraint_key,
	type_ns.nspname type_schema, col.description column_comment, tab.description table_comment
FROM pg_class
JOIN pg_namespace ON relnamespace = pg_namespace.oid
JOIN pg_attribute ON pg_class.oid=pg_attribute.attrelid
JOIN pg_type ON atttypid=pg_type.oid
JOIN pg_namespace type_ns ON pg_type.typnamespace = type_ns.oid
LEFT JOIN pg_description col ON (col.objoid = pg_class.oid AND col.objsubid = attnum)
LEFT JOIN pg_description tab ON (tab.objoid = pg_class.oid AND tab.objsubid = 0)
WHERE attnum > 0 AND relkind IN ('r', 'v', 'm', 'f', 'p') AND pg_namespace.nspname IN ('public')AND relname='tbl'
UNION ALL
SELECT pg_namespace.oid AS namespace_id, relname, NULL relpages, NULL attname, NULL type_name,
	NULL type_modifier, NULL ndim, NULL attnum, NULL AS notnull,
	pg_constraint.oid AS constraint_id, contype AS constraint_type,
	conkey AS constraint_key, NULL, NULL, NULL
FROM pg_class
JOIN pg_namespace ON relnamespace = pg_namespace.oid
JOIN pg_constraint ON (pg_class.oid=pg_constraint.conrelid)
WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND contype IN ('p', 'u') AND pg_namespace.nspname IN ('public')AND relname='tbl'
ORDER BY namespace_id, relname, attnum, constraint_id;

SELECT n.oid, enumtypid, typname, enumlabel
FROM pg_enum e
JOIN pg_type t ON e.enumtypid = t.oid
JOIN pg_namespace AS n ON (typnamespace=n.oid)
ORDER BY n.oid, enumtypid, enumsortorder;
SELECT n.oid, t.typrelid AS id, t.typname as type, pg_attribute.attname, sub_type.typname, sub_type_ns.nspname
FROM pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
JOIN pg_class ON pg_class.oid = t.typrelid
JOIN pg_attribute ON attrelid=t.typrelid
JOIN pg_type sub_type ON (pg_attribute.atttypid=sub_type.oid)
JOIN pg_catalog.pg_namespace sub_type_ns ON sub_type_ns.oid = sub_type.typnamespace
WHERE pg_class.relkind IN ('c', 'r', 'v', 'm', 'f', 'p') AND t.typtype='c' AND attnum > 0 AND NOT attisdropped
ORDER BY n.oid, t.oid, attrelid, attnum;
SELECT pg_namespace.oid, tablename, indexname
FROM pg_indexes
JOIN pg_namespace ON (schemaname=nspname)
ORDER BY pg_namespace.oid;

COPY "update_data_d9bd4d5c-2f1b-4d62-9f12-3c3a3c3d3e3f" FROM STDIN (FORMAT TEXT, NULL '')

SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = CASE WHEN ('x' LIKE '%.%') THEN split_part('x', '.', 1) ELSE 'public' END AND table_name = 'x')

CREATE SCHEMA  IF NOT EXISTS"My sch"

DROP SCHEMA  IF EXISTS "x"CASCADE

DROP Table  IF EXISTS "s"."t"CASCADE

ALTER TABLE "s"."t" ADD COLUMN  IF NOT EXISTS "c" DOUBLE DEFAULT 1.5

ALTER TABLE "s"."t" RENAME COLUMN  "a" TO "b"

CREATE TYPE "n" AS ENUM('a', 'b')

COPY (SELECT "i", ctid FROM "s"."t" WHERE ctid BETWEEN '(0,0)'::tid AND '(4294967295,0)'::tid AND "b" = '\x01FF'::BYTEA AND "s" < 'abd' COLLATE "C") TO STDOUT (FORMAT "binary");

SET TRANSACTION SNAPSHOT '00000003-0000001B-1'

-- comment only
/* and another */ ;
	;
