create schema s; create table s.t (id bigint primary key, n numeric(10,2), v varchar(20) not null, b bytea, a int[], u uuid default '00000000-0000-0000-0000-000000000000'); create table p (x int, y int, unique (x, y))

select nspname from pg_namespace where nspname !~ '^pg_' order by 1

select relname, relkind, relnatts, relhasindex from pg_class where relnamespace = 's'::regnamespace and relkind = 'r'

select attname, atttypid, atttypmod, attnum, attnotnull, atthasdef, attndims from pg_attribute where attrelid = 's.t'::regclass and attnum > 0 order by attnum

select typname, typlen, typtype, typcategory, typelem, typarray from pg_type where oid in (16,17,20,21,23,25,26,27,700,701,1042,1043,1082,1083,1114,1184,1186,1266,1700,2205,2950) order by oid

select conname, contype, conkey from pg_constraint where conrelid in ('s.t'::regclass, 'p'::regclass) order by 1

select indexname, tablename from pg_indexes where schemaname in ('s', 'public') order by 1

select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = 's.t'::regclass

select table_schema, table_name, table_type from information_schema.tables where table_schema in ('s', 'public') order by 1, 2

select column_name, ordinal_position, is_nullable, data_type, character_maximum_length, numeric_precision, numeric_scale, udt_name from information_schema.columns where table_schema = 's' order by ordinal_position

select schema_name from information_schema.schemata where schema_name in ('s', 'public', 'information_schema') order by 1

select to_regclass('s.t'), to_regclass('nosuch'), to_regclass('s.nosuch')

select 's.t'::regclass::text, 'p'::regclass::text, 20::regtype, 'int8'::regtype::oid

select 'nosuch'::regclass

select pg_table_is_visible('p'::regclass), pg_table_is_visible('s.t'::regclass)

select count(*) from pg_settings where name like 'rds%'

select has_table_privilege('p', 'select'), has_schema_privilege('s', 'usage')

select count(*) from pg_database where datname = current_database()

select rolname from pg_roles where rolname = current_user and false

select count(*) from pg_enum; select count(*) from pg_proc where proname = 'nosuch'

select pg_backend_pid() > 0, pg_is_in_recovery(), txid_current() > 0

select pg_get_userbyid(10) is not null

select obj_description('p'::regclass), col_description('p'::regclass, 1)

comment on table p is 'tbl'; comment on column p.x is 'col'; select obj_description('p'::regclass), col_description('p'::regclass, 1)

select pg_encoding_to_char(6), pg_size_pretty(1024::bigint)

select schemaname, tablename from pg_tables where schemaname in ('s', 'public') order by 1, 2

select n.nspname, c.relname, a.attname, t.typname from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid where n.nspname = 's' and a.attnum > 0 and not a.attisdropped order by c.relname, a.attnum

alter table s.t drop column v; select attname, attnum, attisdropped from pg_attribute where attrelid = 's.t'::regclass and attnum > 0 order by attnum
