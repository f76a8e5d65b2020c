-- differs: eider names no minor version of PostgreSQL
show server_version_num

show standard_conforming_strings; show client_encoding; show integer_datetimes; show server_encoding

set timezone = 'Europe/Berlin'; select timestamptz '2024-07-01 12:00+00', timestamptz '2024-01-01 12:00+00'

set time zone 'UTC'; show timezone

set timezone to default

set datestyle = 'SQL, DMY'; select date '2024-02-29', timestamp '2024-02-29 12:34:56'

set datestyle = 'ISO, MDY'; select date '01/02/2024'

set datestyle = 'nonsense'

set intervalstyle = 'iso_8601'; select interval '1 year 2 days 3 hours'

set intervalstyle = 'postgres_verbose'; select interval '1 year 2 days 3 hours'

set intervalstyle = 'sql_standard'; select interval '1 year 2 days 3 hours'

reset intervalstyle; select interval '1 year 2 days 3 hours', interval '-1 day 2 hours'

set bytea_output = 'escape'; select '\x00ff41'::bytea

reset bytea_output

set extra_float_digits = 0; select 0.1::float8 + 0.2::float8, 0.1::float4

reset extra_float_digits; select 0.1::float8 + 0.2::float8

set nosuchsetting = 1

show nosuchsetting

set my.custom = 'x'; show my.custom

select current_setting('my.custom'), current_setting('nosuch', true)

select set_config('my.custom', 'y', false), current_setting('my.custom')

begin; set local my.custom = 'local'; show my.custom; commit; show my.custom

begin; set my.custom = 'rolled back'; rollback; show my.custom

set search_path = nosuch, public; show search_path; select current_schema()

create schema s; set search_path to s; create table t (i int); select 's.t'::regclass; set search_path to default; select * from t

set search_path to "$user", public; show search_path

set statement_timeout = '5s'; show statement_timeout; set statement_timeout = 0

set statement_timeout = 'abc'

set application_name = 'x y'; show application_name

set synchronous_commit = off; show synchronous_commit; reset synchronous_commit

set client_min_messages = warning; drop table if exists nosuch; reset client_min_messages

set names 'utf8'

-- differs: eider adds a detail
set client_encoding = 'nonsense'

set session characteristics as transaction isolation level repeatable read; show default_transaction_isolation

reset all; show default_transaction_isolation

select name, setting from pg_settings where name in ('standard_conforming_strings', 'integer_datetimes') order by 1
