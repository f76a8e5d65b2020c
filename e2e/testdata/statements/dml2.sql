create table p (id int primary key, n int, s text default 'd', unique (n)); create table q (id int, n int); create table l (what text, id int)

insert into p (id, n) values (1, 10), (2, 20), (3, 30); insert into q values (1, 100), (2, 200), (9, 900)

with i as (insert into p values (4, 40, 'x') returning id, n) insert into l select 'ins', id from i returning *

with i as (insert into p (id, n) values (5, 50) returning *) select count(*), (select count(*) from p) from i

with d as (delete from p where id = 5 returning *) select d.id, (select count(*) from p) from d

with u as (update p set n = n + 1 returning id, n) select u.id, u.n, p.n from u join p on u.id = p.id order by 1

with u as (update p set s = 'w' where id = 1 returning id) update p set n = n + 1000 where id = 2 returning id, n, s

select * from p order by id

with a as (insert into l values ('a', 1) returning id), b as (insert into l values ('b', 2) returning id) select a.id, b.id, (select count(*) from l) from a, b

with a as (insert into l values ('c', 3)) select count(*) from l

select * from l order by what, id

with moved as (delete from q where id > 5 returning *) insert into p (id, n) select id, n from moved returning id, n, s

with a as (delete from l) delete from q where id = (select count(*) from l) returning *

select count(*) from l

with x as (select * from q) update p set s = x.n::text from x where x.id = p.id returning p.id, p.s, x.*

with a as (update p set n = 1 where id = 1 returning n) select * from a, a b

with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) insert into l select 'rec', n from t

with t as (insert into l values ('z', 1) returning nosuch) select * from t

with t as (insert into l values ('z', 1)) select * from t

with t as (delete from q) select t.id from t

select * from (insert into l values ('q', 1) returning *) x

select * from l where id in (with x as (insert into l values ('q', 1) returning id) select id from x)

insert into p (id, n) values (1, 11) on conflict do nothing returning *

insert into p (id, n) values (1, 11), (77, 77) on conflict (id) do nothing returning id

insert into p (id, n) values (1, 11) on conflict (id) do update set n = excluded.n, s = p.s || '+' returning *

insert into p as t (id, n) values (1, 12) on conflict (id) do update set n = t.n + excluded.n where t.n < 5 returning *

insert into p as t (id, n) values (1, 12) on conflict (id) do update set n = t.n + excluded.n where t.n > 5 returning t.*

insert into p (id, n) values (200, 20) on conflict (id) do nothing

-- differs: the text must not hold a word that makes a DuckLake client retry
insert into p (id, n) values (300, 1), (300, 2) on conflict (id) do update set n = excluded.n

insert into p (id, n) select 400 + i, 4000 + i from generate_series(1, 3) i on conflict (n) do nothing

insert into p (id, n) values (401, 0) on conflict (id) do update set (n, s) = (excluded.n - 1, 'tuple') returning *

insert into p (id, n) values (401, 0) on conflict (id) do update set n = default, s = default returning *

insert into p (id, n) values (401, 0) on conflict on constraint p_pkey do update set n = 5 returning n

insert into p (id, n) values (401, 0) on conflict on constraint nosuch do nothing

insert into p (id, n) values (401, 0) on conflict (nosuch) do nothing

insert into p (id, n) values (401, 0) on conflict (id) do update set nosuch = 1

insert into p (id, n) values (401, 0) on conflict (id) do update set n = nosuch.n

-- differs: the text must not hold a word that makes a DuckLake client retry
insert into p (id, n) values (401, 0) on conflict do update set n = 1

insert into p (id, n) values (401, 0) on conflict (id) do update set id = excluded.id + 1000 returning id

insert into p values (500, 500, default), (501, 501, 'y') returning s

insert into p (s, id) values ('only', 502) returning n is null

insert into p (id) values (503), (504) returning id + 1 as next, now() is not null as t

insert into p select * from (values (505, 505, 'v')) x returning *

insert into p (id, n) select id + 600, n + 600 from p where id < 4 order by id returning id

insert into p (id, n) (select 700, 700 union all select 701, 701) returning id

insert into p (id, n) values (800, (select max(n) + 1 from p)) returning n > 0

insert into p (id, n) values ('801', '802') returning *

insert into p (id, n) values (1.5, 2.5) returning *

insert into p (id, n) values (803, 'x')

insert into p (id, n) values (804, 3000000000)

insert into p (id, n) values (true, 1)

insert into p (id, s) values (805, 12) returning s

insert into p (id, s) values (806, date '2024-01-01') returning s

insert into p (id, s) select 807, date '2024-01-01' returning s

insert into p (id, n) select 'a', 1

insert into p (id, n) select 808, now()

insert into p values (null, 1)

insert into p (n) values (1)

insert into p values (1, 2, 'x', 4)

insert into p (id, n) select 1

insert into p (id, n) select 1, 2, 3

-- differs: composite columns are not supported, which is said before names are looked up
insert into p (p.id) values (1)

insert into nosuch.p values (1)

insert into p (id) values (default)

insert into p default values

update p set n = q.n from q where q.id = p.id returning p.id, q.id, q.n

update p set n = q.n from q, l where q.id = p.id and l.id = q.id

update p as x set n = x.n + 1 from (select id from q) y where y.id = x.id returning x.n, y.id

update p set n = p2.n from p p2 where p2.id = p.id and false

update p set n = (select max(n) from q where q.id = p.id) where id < 3 returning id, n

update p set (n, s) = (select 1000 + id, 'row') where id = 3 returning *

update p set (n, s) = row(1001, 'row2') where id = 3 returning *

update p set (n, s) = (1, 2, 3) where id = 3

update p set (n) = (5) where id = 3

update p set n = 5, n = 6

-- differs: composite columns are not supported, which is said before names are looked up
update p set p.n = 5

update p set n = n + x.id from q as x where x.id = 1 and p.id = 502 returning n

update p set id = id + 1 where id between 401 and 403

with x as (update p set id = id + 10000 where id > 700 returning id - 10000 as o) select * from x order by o

update p set s = default where id < 3 returning s

update p set n = null where id = 2 returning n

update p set n = n where nosuch

update p set n = 1 where id = 'x'

update p set n = sum(n)

update p set n = row_number() over ()

update p set s = 5 where id = 1

update p set n = 'abc' where id = 1

update p set n = s where id = 1

update p set n = 1.7 where id = 1 returning n

update p set n = 1 where exists (select 1 from q where q.id = p.id + 90000)

update p p1 set n = 3 where p.id = 1

update only p set s = 'only' where id = 1 returning s

update nosuch set n = 1

update p set id = 1 where id = 2

update p set s = upper(s), n = length(s) where id = 1 returning *

delete from p using q where q.id = p.id and q.id = 2 returning p.id, q.n

delete from p x using q, l where false

delete from p where n is null and id > 502

with x as (delete from p where id in (select id from q) or id > 10000 returning id) select * from x order by id

delete from only p where id = 3 returning *

delete from p where n > all (select n from q) returning count(*)

delete from p where id = 1 returning nosuch

delete from p p1 where p.id = 1

delete from p limit 1

delete from p where count(*) > 1

delete from q using q where true

delete from p where ctid in (select ctid from p order by id limit 1) returning id

select count(*) from p

create temp table tt (i int) on commit delete rows; begin; insert into tt values (1); select count(*) from tt; commit; select count(*) from tt

create temp table p (i int); insert into p values (1); select * from p; drop table p; select count(*) > 0 from p

create temporary table t3 on commit drop as select 1 as x

begin; create temp table t4 (x int) on commit drop; insert into t4 values (1) returning x; commit; select * from t4

select * from pg_temp.nosuch

create temp table t5 as select i, i * i as sq from generate_series(1, 3) i; select sum(sq) from t5

create table pg_temp.t6 (i int); insert into pg_temp.t6 values (1); select * from t6

create temp table public.t7 (i int)

truncate p, q; select count(*) from p

truncate nosuch

truncate table only q

begin; insert into q values (1, 1); truncate q; select count(*) from q; rollback; select count(*) from q

create table ck (i int check (i > 0), j int, constraint both_pos check (i + j > 0)); insert into ck values (1, 1)

insert into ck values (0, 5)

insert into ck values (1, -5)

insert into ck values (null, null) returning *

update ck set i = -i where i = 1

create table pk2 (a int, b text, c int, primary key (a, b)); insert into pk2 values (1, 'x', 1), (1, 'y', 2)

insert into pk2 values (1, 'x', 3)

insert into pk2 values (1, null, 3)

insert into pk2 values (1, 'x', 9) on conflict (b, a) do update set c = excluded.c returning *

-- differs: the text must not hold a word that makes a DuckLake client retry
insert into pk2 values (1, 'x', 9) on conflict (a) do nothing

update pk2 set b = 'x' where b = 'y'

select a, b, c from pk2 where a = 1 and b = 'x'

select a, b, c from pk2 where (a, b) > (1, 'x')

select * from pk2 order by b desc

create table sn (id int primary key, n int); insert into sn values (1, 10), (2, 20)

with u as (update sn set n = 0 where id = 1 returning id) update sn set n = 5 from u where sn.id >= u.id returning sn.id, sn.n

with d as (delete from sn where id = 2 returning *), i as (insert into sn select id + 10, n from d returning *) select (select count(*) from sn), i.* from i
