-- What DuckDB and DuckLake send or take for granted, beyond plain SQL: odd spelling, types of literals, order of rows.
create schema "My sch"; create table snap (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint); create table tag (object_id bigint, begin_snapshot bigint, end_snapshot bigint, key varchar, value varchar); create table stats (table_id bigint, column_id bigint, contains_null boolean, contains_nan boolean, min_value varchar, max_value varchar); create table f (data_file_id bigint primary key, table_id bigint, begin_snapshot bigint, end_snapshot bigint, path varchar, path_is_relative boolean, id uuid)

-- Blanks that are missing.
CREATE SCHEMA  IF NOT EXISTS"My sch"; CREATE TABLE "My sch"."t"(row_id BIGINT,begin_snapshot BIGINT); INSERT INTO "My sch"."t" values(0,9),(1,NULL); DROP SCHEMA "My sch"CASCADE

SELECT count(*) FROM pg_namespace WHERE nspname IN ('public')AND nspname='public'

-- Mixed case, doubled blanks, a leading newline and a lone terminator.

DROP Table  IF EXISTS nosuch
;

select 1;

select 1; ;

-- Words as names.
create temp table words (key varchar, value varchar, type varchar, path varchar, sql varchar, format varchar, transform varchar, expression varchar); insert into words (key, value, type) values ('k', 'v', 't'); select key, value, type, path, sql, format, transform, expression from words

-- A quoted option, a backspace as the NULL of a text COPY, and no blank before the end.
COPY (SELECT "table_id", "min_value" FROM "public"."stats" WHERE "table_id" = '7') TO STDOUT (FORMAT "text", NULL '');

-- Backslashes are literal, and text stays text.
insert into stats values (1, 1, false, null, '\xAA\x00b', 'hello ''w'' \ back'); select min_value, max_value, length(min_value) from stats where table_id = 1

-- Columns of VALUES take their types from all rows; all NULL is text that casts.
WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max) AS ( VALUES (1, 1, true, NULL, NULL, NULL),(2, 2, false, NULL, NULL, 'x') ) UPDATE stats SET contains_null=CAST(new_contains_null AS BOOLEAN), contains_nan=CAST(new_contains_nan AS BOOLEAN), min_value=new_min, max_value=new_max FROM new_values WHERE table_id=tid AND column_id=cid; select * from stats where table_id = 1

WITH new_values(tid, cid, new_contains_nan) AS ( VALUES (1, 1, NULL) ) UPDATE stats SET contains_nan=CAST(new_contains_nan AS BOOLEAN) FROM new_values WHERE table_id=tid AND column_id=cid; select contains_nan from stats where table_id = 1

-- Unqualified names are the target's; the bare table name qualifies a schema-qualified target.
insert into tag values (2, 1, null, 'comment', 'old'), (2, 1, null, 'other', 'o'), (3, 1, null, 'comment', 'c'); WITH overwritten_tags(tid, key) AS ( VALUES (2, 'comment') ) UPDATE "public".tag SET end_snapshot = 5 FROM overwritten_tags WHERE object_id=tid AND tag.key=overwritten_tags.key AND end_snapshot IS NULL ; select * from tag order by object_id, key

WITH dropped(tid, cid) AS ( VALUES (2, 4) ) UPDATE "public".stats SET min_value = 'd' FROM dropped WHERE table_id=tid AND column_id=cid

-- Digits of a number in a text column stay as they are.
create table digits (a varchar, b varchar); insert into digits values (18446744073709551615, -170141183460469231731687303715884105728), (340282366920938463463374607431768211455, 0.10000000000000000000000001), (1e3, 12345678901234567890.50); select * from digits

-- Literals of filters are strings and take the column's type.
insert into f values (9, 7, 1, null, 'a', true, '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'), (10, 7, 2, 3, 'B', false, '0F1E2D3C4B5A69788796A5B4C3D2E1F1'), (11, 8, null, null, 'ä', true, null); SELECT "data_file_id" FROM f WHERE "data_file_id" > '9' ORDER BY 1

SELECT "data_file_id", id FROM f WHERE "path_is_relative" = 'false' AND id = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1'

insert into f (data_file_id, id) values (12, 'not a uuid')

-- NULL is not below anything.
SELECT data_file_id FROM f WHERE "begin_snapshot" <= '5' ORDER BY 1

-- COLLATE "C" behind the literal compares bytes, in every operator.
SELECT path FROM f WHERE path = 'a' COLLATE "C"; SELECT path FROM f WHERE path < 'a' COLLATE "C"; SELECT path FROM f WHERE path <> 'B' COLLATE "C" ORDER BY path COLLATE "C"

create table j (j json, n int); SELECT n FROM j WHERE j = '{}' COLLATE "C"

-- Timestamps as the client writes them.
insert into snap values (0, '2026-11-30 01:49:38.077034+00', 0), (1, '2026-11-30 01:49:38.5+00', 0), (2, '2026-11-30 01:49:39+00', 1); SELECT snapshot_id FROM snap WHERE ("snapshot_time" <= '2026-11-30 01:49:38.5+00') ORDER BY 1

-- The newest snapshot, and the types of its columns; nothing of an empty table.
SELECT snapshot_id, schema_version FROM snap WHERE snapshot_id = (SELECT MAX(snapshot_id) FROM snap)

create table empty (snapshot_id bigint); SELECT snapshot_id FROM empty WHERE snapshot_id = (SELECT MAX(snapshot_id) FROM empty)

-- Later statements of a batch see earlier ones.
BEGIN; INSERT INTO f VALUES (20, 9, 5, NULL, 'new', true, NULL); UPDATE f SET begin_snapshot = 6 WHERE data_file_id = 20; DELETE FROM f WHERE data_file_id = 20; INSERT INTO f VALUES (20, 9, 7, NULL, 'again', true, NULL); COMMIT; SELECT begin_snapshot, path FROM f WHERE data_file_id = 20

-- Ids of versioned rows repeat.
insert into tag values (2, 5, null, 'comment', 'new'); SELECT count(*) FROM tag WHERE object_id = 2 AND key = 'comment'

INSERT INTO stats VALUES ;

-- Places: quoted text that is cast, bounds at the end of the range, NULL for a place that is none.
SELECT ctid IS NOT NULL FROM snap WHERE ctid <= '(4294967295,0)'::tid AND snapshot_id = 0; SELECT '"(0,6)"'::text, '(0,6)'::tid

DELETE FROM snap WHERE ctid IN ('(4000000000,9)')

-- The order of insertion.
create table params (n int, name text); insert into params values (2, 'b'); insert into params values (1, 'a'), (3, 'c'); select * from params; delete from params where n = 1; insert into params values (0, 'z'); select name from params

-- No such table is no row of the catalog.
SELECT count(*) FROM pg_class WHERE relname = 'nosuch'; SELECT to_regclass('duckdb_secrets')

-- Temporary tables with dashes, which go at the commit.
BEGIN; CREATE LOCAL TEMPORARY TABLE "update_data_0f1e2d3c-4b5a" (a varchar, ctid_ varchar) ON COMMIT DROP; INSERT INTO "update_data_0f1e2d3c-4b5a" VALUES ('x', '(0,1)'); SELECT a FROM "update_data_0f1e2d3c-4b5a"; COMMIT; SELECT a FROM "update_data_0f1e2d3c-4b5a"

BEGIN; CREATE LOCAL TEMPORARY TABLE "left-over" (a int); ROLLBACK; SELECT * FROM "left-over"

CREATE LOCAL TEMPORARY TABLE "left-over" (a int); SELECT * FROM "left-over"

DISCARD ALL

SELECT * FROM "left-over"

-- A notice, no error.
CREATE TABLE IF NOT EXISTS snap (a int)

-- Text forms of values.
select true, false, 'NaN'::float8, 'Infinity'::float8, '-Infinity'::float8, 0.1::float8, 1e300::float8, 0.1::float4, '\xdead'::bytea, '0F1E2D3C4B5A69788796A5B4C3D2E1F1'::uuid, 1.50::numeric(10, 4), 'NaN'::numeric

-- Lists of changes that are NULL are left out.
create table changes (id bigint, made varchar); insert into changes values (1, null), (2, 'a'), (3, 'b'); SELECT COALESCE((SELECT STRING_AGG(made, ',') FROM changes WHERE id > 0), ''); SELECT COALESCE((SELECT STRING_AGG(made, ',') FROM changes WHERE id > 9), '')

-- A failed block does not commit.
BEGIN; insert into changes values (9, 'x'); select 1/0

SELECT 1

ROLLBACK

select count(*) from changes where id = 9

-- Booleans, keys and estimates of the catalog as the client reads them.
SELECT relname, relpages, reltuples FROM pg_class WHERE relname = 'empty'; SELECT conkey::text, contype FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid WHERE relname = 'snap'

SELECT attname, atttypmod, attnotnull FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid WHERE relname = 'snap' AND attnum > 0 ORDER BY attnum

## A terminator makes no answer of its own; an empty message does.
-- protocol
query select 1;
query select 1; ;
query ; update snap set schema_version = 1 where snapshot_id = -1;
query ;
query
