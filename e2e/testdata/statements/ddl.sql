create table t (a int)

create table t (a int)

create table if not exists t (a int)

create table if not exists u (a int, b text not null, primary key (a))

create table bad (a int, a text)

create table bad (a nosuchtype)

-- differs: the text must not hold words that make a DuckLake client retry
create table bad (a int primary key, b int primary key)

create table "Quoted Name" ("Col A" int, "select" text); insert into "Quoted Name" values (1, 'x'); select * from "Quoted Name"

create schema s

create schema s

create schema if not exists s

create schema  if not exists"other one"

create table s.t (i bigint primary key, j varchar not null)

create table nosuch.t (i int)

select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname in ('public', 's') and c.relkind = 'r' order by 1, 2

alter table t add column b text default 'x'

insert into t values (1); select * from t

alter table t add column b int

alter table t add column if not exists b int

alter table t add column c int not null

alter table t add column c int not null default 5; select * from t

alter table t rename column b to bb; select * from t

alter table t rename column nope to x

alter table t rename column bb to c

alter table t drop column c; select * from t

alter table t drop column nope

alter table t drop column if exists nope

alter table t alter column bb set default 'y'; insert into t (a) values (2); select * from t order by a

alter table t alter column bb drop default; insert into t (a) values (3); select * from t order by a

alter table t alter column a set not null

insert into t (bb) values ('z')

alter table t alter column a drop not null; insert into t (bb) values ('z')

alter table t alter column a set not null

alter table t alter column a type bigint; select a from t order by a nulls last limit 1

alter table t rename to t2; select count(*) from t2

select * from t

alter table nosuch add column x int

alter table if exists nosuch add column x int

alter table t2 rename to u

alter table t2 set schema s; select count(*) from s.t2

create unique index idx on s.t2 (bb)

insert into s.t2 values (100, 'dup'), (101, 'dup')

drop index s.idx

create table c as select 1 as x, 'a'::text as y; select * from c

create table c2 as select * from c with no data; select * from c2

create view vw as select x from c

drop table nosuch

drop table if exists nosuch

drop table c2, c

drop schema s

drop schema s cascade

drop schema nosuch

drop schema if exists nosuch

drop schema "other one"cascade

create temp table tmp (a int); insert into tmp values (1); select * from tmp

create temp table tmp (a int)

begin; create temp table gone (a int) on commit drop; insert into gone values (1); select * from gone; commit

select * from gone

create local temporary table "x-y"("v" varchar, __page_id_string varchar) on commit drop

begin; create local temporary table "x-y"("v" varchar, __page_id_string varchar) on commit drop; insert into "x-y" values ('a', '''(0,1)'''); select "v", __page_id_string::tid from "x-y"; rollback

drop Table if exists "public"."u"

drop table tmp

create database foo bar

comment on table "Quoted Name" is 'a comment'; select obj_description('"Quoted Name"'::regclass)

select attname, format_type(atttypid, atttypmod), attnotnull, attnum from pg_attribute where attrelid = '"Quoted Name"'::regclass and attnum > 0 order by attnum

create table k (a int, b int, c text, unique (a, b)); insert into k values (1, 1, 'x'), (1, null, 'y'), (1, null, 'z'); insert into k values (1, 1, 'dup')

select conname, contype, conkey from pg_constraint where conrelid = 'k'::regclass

select indexname from pg_indexes where tablename = 'k'

create table ch (a int check (a > 0)); insert into ch values (1); insert into ch values (0)

truncate k, ch; select (select count(*) from k), (select count(*) from ch)

drop schema public cascade; create schema public; create table again (i int); select count(*) from again
