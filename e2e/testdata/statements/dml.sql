create table t (id int primary key, s text default 'dflt', n numeric(8,2) not null default 0, ts timestamptz default '2020-01-01 00:00:00+00')

insert into t values (1)

insert into t (n, id) values (2.345, 2)

insert into t values (3, 'x', 3, null), (4, default, default, default)

insert into t default values

insert into t (id) select 10 + i from generate_series(1, 3) i

select id, s, n, ts from t order by id

insert into t values (1, 'dup')

insert into t values (5, 'x', null)

insert into t values (5, 'x', 1, null, 'extra')

insert into t (id, id) values (1, 2)

insert into t (nope) values (1)

insert into t (id) values (1, 2)

insert into t (id, s) values (5)

insert into t values ('abc')

insert into t (id, n) values (5, 12345678.9)

insert into t (id, n) values (5, 'nan')

insert into missing values (1)

insert into t (id, s) values (6, 'ret') returning *

insert into t (id, s) values (7, 'a'), (8, 'b') returning id, s || '!' as x, id * 2

insert into t values (1, 'c') on conflict do nothing

insert into t values (1, 'c') on conflict (id) do update set s = excluded.s || t.id returning *

-- differs: the text must not hold a word that makes a DuckLake client retry
insert into t values (1, 'c') on conflict (s) do nothing

select id, s, n from t order by id

update t set s = 'u' where id = 1

update t set n = n + 1, s = upper(s) where id in (2, 3)

update t set n = default, s = null where id = 4

update t set (s, n) = ('two', 22) where id = 2

update t set (s, n) = (select 'sub', 5.5) where id = 3

update t set s = 'none' where false

update t set id = 2 where id = 1

update t set n = null where id = 1

update t set nope = 1

update t set n = 'abc'

update t x set s = x.s || '?' where x.id = 2 returning x.id, x.s

update t set s = v.s from (values (1, 'v1'), (2, 'v2')) as v(id, s) where t.id = v.id

update t set s = a.s from t a where a.id = t.id + 1 and t.id = 1 returning t.*

with c as (select id from t where id > 7) update t set s = 'cte' from c where t.id = c.id

with c(i, v) as (values (1, 'w1'), (2, 'w2')) update t set s = v from c where id = i and n is not null

select id, s, n from t order by id

delete from t where id = 1

delete from t where id in (select id from t where id > 10)

delete from t using (values (2), (3)) v(i) where t.id = v.i returning t.id

delete from t where false

delete from t where nope = 1

delete from missing

select id, s, n from t order by id

with d as (delete from t where id = 8 returning *) select count(*) from d

with i as (insert into t (id) values (20) returning id) select * from i

truncate t

select count(*) from t

insert into t (id) values (1); update t set id = 2; delete from t where id = 2; select count(*) from t

create table arr (a int[], b text[]); insert into arr values ('{1,2}', '{"a b",null}'), (array[3], array['x','y']); select * from arr

update arr set a = a || 9 where a[1] = 3 returning a

create table b (x bytea, y bool, z uuid, f real, d double precision, i interval, tm time, tz timetz)

insert into b values ('\x00ff', true, '12345678-9abc-def0-1234-56789abcdef0', 1.1, 1.1, '1 mon 2 days', '12:34:56.7', '12:34:56+02'); select * from b

insert into b (y) values ('yes'), ('0'), (null); select y from b order by y

insert into b (y) values (1)

insert into b (x) values (5)

create table v (a varchar(3), c char(3), t text); insert into v values ('abc', 'x', 'y'); select a, c, c || '|', length(c) from v

insert into v values ('abcd')

insert into v values ('abc   ', 'abc   ')

select * from v where c = 'x'

create table nums (n numeric, v varchar); insert into nums values (1.10, 18446744073709551615), (-0.5, -170141183460469231731687303715884105728), (1e20, 1e3); select * from nums
