set timezone = 'UTC'; create table t (id int primary key, n int, s text); insert into t select i, i * 10, 's' || i from generate_series(1, 10) i

begin; savepoint a; insert into t values (11, 1, 'a'); savepoint a; insert into t values (12, 1, 'a'); rollback to a; select count(*) from t; rollback to a; release a; select count(*) from t; rollback to a; select count(*) from t; commit

begin; savepoint s; select 1/0

select 1

rollback to savepoint s; insert into t values (13, 13, 'sp'); release s; commit; select count(*) from t

begin; release nosuch

rollback

begin; insert into t values (1, 1, 'dup')

savepoint x

release x

-- differs: eider answers COMMIT of a failed transaction with an error, a client takes the tag for success
commit and chain

-- differs: the batch above ended the block
rollback

begin; rollback and chain; select 1; rollback

begin isolation level read committed, read write, not deferrable; show transaction_isolation; show transaction_read_only; commit

begin read only; select count(*) from t; update t set n = 1

rollback

begin read only; delete from t where false

rollback

-- differs: the statement that writes is named, not the one around it
begin read only; with x as (insert into t values (99, 1, 'x')) select 1

rollback

begin read only; create temp table ro (i int); insert into ro values (1); select * from ro; rollback

begin read only; truncate t

rollback

begin read only; drop table t

rollback

begin read only; alter table t add column x int

rollback

begin read only; copy t from stdin

rollback

begin; set transaction read only; insert into t values (99, 1, 'x')

rollback

begin read only; set transaction read write; insert into t values (14, 1, 'rw'); commit; delete from t where id = 14

begin; select 1; set transaction isolation level serializable

rollback

begin; select 1; set transaction read only; commit

set session characteristics as transaction read only; insert into t values (99, 1, 'x')

set session characteristics as transaction read write; show default_transaction_read_only

set default_transaction_read_only = on; insert into t values (99, 1, 'x')

reset default_transaction_read_only

set transaction read only

begin; declare c cursor for select id from t order by id; fetch 2 from c; fetch forward 3 from c; fetch all from c; fetch 1 from c; close c; commit

begin; declare c scroll cursor for select id from t order by id limit 3; fetch last from c; fetch prior from c; fetch first from c; fetch absolute 2 from c; fetch relative 1 from c; fetch backward all from c; move forward 2 in c; fetch 0 from c; commit

begin; declare c cursor for select id from t order by id; fetch from nosuch

rollback

begin; declare c cursor for select 1; declare c cursor for select 2

rollback

begin; declare c no scroll cursor for select id from t order by id; fetch 1 from c; fetch prior from c

rollback

declare h cursor with hold for select id from t order by id limit 2; fetch all from h; close h

begin; declare c cursor for select id from t order by id; fetch 1 from c; insert into t values (15, 1, 'later'); fetch all from c; rollback

begin; declare c cursor for select id from t; close all; fetch 1 from c

rollback

begin; declare c cursor for insert into t values (1, 1, 'x')

rollback

close nosuch

prepare a as select id, s from t where id = $1; execute a(3); execute a('4'); execute a(1 + 1); execute a(null)

prepare a as select 1

execute a

execute a(1, 2)

execute a('x')

execute nosuch

deallocate a; deallocate a

prepare b(text, int) as select $1 || $2, $2 + 1; execute b('x', 5); deallocate prepare b

prepare c as insert into t values ($1, $2, $3) returning *; execute c(20, 20, 'prep'); execute c(20, 20, 'prep')

prepare d as update t set n = $2 where id = $1; execute d(20, 21); execute d(2000, 21); deallocate all

prepare e as select $1

-- differs: the text must not hold a word that makes a DuckLake client retry
prepare f as select $1 + $2; execute f(1, 2)

prepare g(nosuchtype) as select $1

prepare h as selec 1

prepare i as select * from nosuch

prepare j(int) as select $2

prepare k as create table x (i int)

prepare l as select generate_series(1, $1::int); execute l(3); deallocate l

prepare m as select * from t where s = any ($1) order by id; execute m('{s1,s2}'); deallocate m

prepare n as delete from t where id = $1 returning id; execute n(20); execute n(20)

prepare o as select count(*) from t; execute o; alter table t add column extra int; execute o; alter table t drop column extra; execute o

prepare p as select * from t where id = 1; execute p; alter table t add column extra int; execute p

alter table t drop column extra; deallocate all

copy (select id, s from t order by id limit 2) to stdout

copy (select id, s from t order by id limit 2) to stdout csv header

copy t (id) to stdout with (format csv)

copy (select 'a,b', 'q"q', null, '', E'l1\nl2', 'x') to stdout csv

copy (select 'a,b', 'q"q', null, '', E'l1\nl2', 'x') to stdout csv force quote *

copy (select E'a\tb\\c\nd\r', null, '') to stdout

copy (select 1.50, true, date '2024-01-01', '\x01'::bytea, array[1, null], interval '1 day', 1.5::float8, '{"a": 1}'::jsonb) to stdout

copy (select 1, 2) to stdout (format csv, delimiter E'\t', null '\N')

copy (select 'x') to stdout (format csv, quote 'ab')

copy (select 'x') to stdout (delimiter ',,')

copy (select 'x') to stdout (format text, header)

copy (select 'x') to stdout (format binary, delimiter ',')

-- differs: the text must not hold a word that makes a DuckLake client retry
copy (select 'x') to stdout (format csv, format text)

copy (select 'x') to stdout (nosuch 1)

copy (insert into t values (30, 1, 'copied') returning id, s) to stdout

copy (delete from t where id = 30) to stdout

copy t (id, id) to stdout

copy t from stdin (format csv, force_quote *)

copy (select 1) from stdin

create view v as select id, n from t where n > 50; select count(*) from v; copy v to stdout

copy (select * from v order by id limit 1) to stdout

select * from v where id = 7

create view v as select 1

create or replace view v as select id, n, s from t where n > 50; select * from v where id = 7

create or replace view v as select id from t

create view vv(a, b) as select id, s from v; select a from vv order by a limit 1

drop view v

drop view v cascade

drop view if exists v; drop view vv

drop table v

create view t as select 1

drop view t

create table bad (i int default 'x')

create table bad (i int, j int default i)

create table bad (i int check (nosuch > 0))

-- differs: the text must not hold a word that makes a DuckLake client retry
create table bad (i int primary key, primary key (i))

create table bad (i int, unique (j))

create table bad (i nosuch)

create table bad (i numeric(5, 10, 2))

create table bad (i varchar(0))

create table bad ()

create table bad2 (like t); select attname from pg_attribute where attrelid = 'bad2'::regclass and attnum > 0 order by attnum; drop table bad2, bad

create table d (i int default 1 + 1, s text default 'a' || 'b', ts date default '2024-01-01', b bool default false); insert into d default values; select * from d; drop table d

alter table t add column id int

alter table t add constraint c check (n < 0)

alter table t add constraint c check (n > 0); insert into t values (50, -1, 'x')

alter table t drop constraint c; alter table t drop constraint c

alter table t drop constraint if exists c

alter table t add constraint u unique (s); insert into t values (51, 1, 's1')

-- differs: the position is told in ALTER TABLE too
alter table t add constraint u2 unique (nosuch)

alter table t drop constraint u

alter table t alter column n type text; select n from t where id = 1; alter table t alter column n type int using n::int; select n + 1 from t where id = 1

alter table t alter column s type int

alter table t alter column s type int using s::int

alter table t alter column nosuch type int

alter table t alter column n set not null; insert into t (id) values (60)

-- differs: the text must not hold a word that makes a DuckLake client retry
alter table t alter column n drop not null; alter table t alter column id drop not null

alter table t rename column n to m; select m from t where id = 1; alter table t rename m to n

alter table t rename to pg_t; alter table pg_t rename to t

alter table t rename to v2; alter table v2 rename to t

alter table t drop column id, add column id2 int; select id2 from t limit 1

alter table t add primary key (s); select count(*) from t where s = 's2'

-- differs: the text must not hold a word that makes a DuckLake client retry
alter table t add primary key (n)

create index on t (n); create index t_n_idx on t (s)

create index if not exists t_n_idx on t (s)

create index bad on t (nosuch)

create index bad on nosuch (i)

drop index nosuch

drop index t_n_idx; drop table t; select count(*) from pg_class where relname like 't\_%' and relkind = 'i'

create schema s1; create table s1.a (i int); drop schema s1

drop schema s1 cascade

create schema public

create schema pg_x

drop schema nosuch

drop schema if exists nosuch

alter schema nosuch rename to x

create schema s2; alter schema s2 rename to s3; drop schema s2

drop schema s3; select count(*) from pg_namespace where nspname like 's_'

set search_path = nosuch, public; show search_path; select current_schema(), current_schemas(true)

set search_path to default; show search_path

create schema sp; set search_path = sp; create table x (i int); select 'x'::regclass; reset search_path; select 'sp.x'::regclass; drop schema sp cascade

set work_mem = '64MB'; show work_mem; set work_mem = 'x'

set nosuch.thing = 'a'; show nosuch.thing

show nosuchsetting

set nosuchsetting = 1

select set_config('search_path', 'a', false), current_setting('search_path'), current_setting('nosuch', true)

select current_setting('nosuchsetting')

reset all; show search_path

begin; set local statement_timeout = '5s'; show statement_timeout; commit; show statement_timeout

set local work_mem = '4MB'

begin; set datestyle = 'German'; select date '2024-02-01'; rollback; select date '2024-02-01'

set datestyle = 'SQL, DMY'; select date '2024-02-01', timestamp '2024-02-01 10:00'; reset datestyle

set intervalstyle = 'iso_8601'; select interval '1 year 2 days 03:04'; set intervalstyle = 'sql_standard'; select interval '1 year 2 days 03:04'; reset intervalstyle

set extra_float_digits = 0; select 0.1::float8 + 0.2::float8; reset extra_float_digits

set bytea_output = 'escape'; select '\x0041'::bytea; reset bytea_output

set timezone = 'America/New_York'; select timestamptz '2024-07-01 12:00+00'; set timezone = 'nowhere'

set time zone 'UTC'; show timezone; set time zone local

explain (costs off) select 1 where false and nosuch

listen ch; notify ch, 'payload'; unlisten *

vacuum; analyze; checkpoint

begin; vacuum

rollback

select 1; select 2; select nosuch; select 3

;

-- only a comment

select 1;; select 2
