create table t (id int primary key, g text, n int, d numeric(10,2)); insert into t values (1, 'a', 10, 1.50), (2, 'b', 20, 2.50), (3, 'a', 30, 3.50), (4, null, null, null), (5, 'c', 50, 0.00)

create table u (id int, t_id int, v text); insert into u values (1, 1, 'x'), (2, 1, 'y'), (3, 3, 'z'), (4, 99, 'w'), (5, null, 'n')

select * from t order by id

select id, n * 2 as twice from t where n > 10 order by twice desc

select t.*, u.v from t join u on t.id = u.t_id order by u.id

select t.id, u.v from t left join u on t.id = u.t_id order by t.id, u.v

select t.id, u.v from t right join u on t.id = u.t_id order by u.id

select t.id, u.id from t full join u on t.id = u.t_id order by t.id nulls last, u.id

select count(*) from t, u

select count(*) from t cross join u where t.id = u.id

select id, v from t join u using (id) order by id

select * from t natural join u order by id

select g, count(*), sum(n), avg(n), min(d), max(d) from t group by g order by g

select g, count(*) from t group by g having count(*) > 1

select count(*), count(n), count(distinct g), sum(n), avg(d), sum(d) from t

select sum(n), avg(n), max(g) from t where false

select count(*) from t where false group by g

select string_agg(g, ',' order by id desc), array_agg(n order by id), bool_and(n > 5), bool_or(n > 40) from t

select count(*) filter (where n > 10), sum(n) filter (where g = 'a') from t

select distinct g from t order by g nulls first

select distinct on (g) g, id from t order by g, id desc

select id from t order by n desc nulls last limit 2 offset 1

select id from t order by 1 desc fetch first 2 rows only

select id from t order by g, n desc

select id from t limit 0

select id from t order by id limit all offset 3

select id from t order by id limit -1

select g as x from t order by x

select n from t order by d

select id from t union select t_id from u order by 1

select id from t union all select id from u order by id

select id from t intersect select t_id from u order by 1

select id from t except select t_id from u order by 1

(select 1 union select 2) except select 1

select 1 union select 'a'

select 1, 2 union select 1

select 1 union all select 2.5 order by 1

select null union select 1 order by 1

with x as (select id, n from t where n > 10) select sum(n) from x

with x(a, b) as (select id, n from t), y as (select a from x where b > 20) select count(*) from y

with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select sum(n), count(*) from r

with recursive r(a, b) as (values (1, 1) union select b, a + b from r where b < 50) select a from r order by a

select * from (values (1, 'a'), (2, 'b')) as v(i, s) order by i

values (1, 2), (3, 4)

values (1), ('a')

select id, (select count(*) from u where u.t_id = t.id) from t order by id

select id from t where id in (select t_id from u) order by id

select id from t where id not in (select t_id from u where t_id is not null) order by id

select id from t where id not in (select t_id from u) order by id

select id from t where exists (select 1 from u where u.t_id = t.id) order by id

select id from t where n > all (select n from t where g = 'a') order by id

select id from t where n = any (array[10, 50]) order by id

select t.id, l.v from t, lateral (select v from u where u.t_id = t.id order by v desc limit 1) l order by t.id

select t.id, l.v from t left join lateral (select v from u where u.t_id = t.id order by v limit 1) l on true order by t.id

select id, row_number() over (order by id), rank() over (order by g), dense_rank() over (order by g), sum(n) over (partition by g order by id) from t order by id

select id, lag(n) over (order by id), lead(n, 1, 0) over (order by id), first_value(n) over (partition by g order by id), last_value(n) over (order by id), ntile(2) over (order by id) from t order by id

select id, sum(n) over (order by id rows between 1 preceding and current row), avg(n) over (), count(*) over (partition by g) from t order by id

select id, sum(n) over w from t window w as (order by id desc) order by id

select sum(count(*)) over () from t group by g

select * from generate_series(1, 5) g where g % 2 = 0

select * from generate_series(5, 1, -2)

select generate_series(1, 3), generate_series(1, 2)

select g.i, t.n from generate_series(1, 3) as g(i) join t on t.id = g.i order by 1

select unnest(array[1,2,3]) order by 1 desc

select * from unnest(array['a','b']) with ordinality as x(v, n)

select a.id, b.id from t a join t b on a.n < b.n order by 1, 2

select count(*) from t group by ()

select g, sum(n) from t group by rollup (g) order by g

select t.id from t where t.id = t.id and (g = 'a' or g is null) order by 1

select id, case when g is null then 'none' else g end from t order by id

select max(id) from t where id < (select max(id) from t)

select * from t where id = (select max(id) from t)

select * from t where (id, g) = (1, 'a')

select * from t where (id, g) in ((1, 'a'), (2, 'b')) order by id

select id from t where g like 'a%' and n::text = '10'

select id as a, id as a from t order by id limit 1

select "t"."id" from "public"."t" order by 1 limit 1

select t::text from t order by id limit 1

select count(t) from t

select public.t.id from public.t limit 0

select missing from t

select t.missing from t

select x.id from t

select id from t, u

select * from missing

select * from missing.t

select id from t group by g

select count(*) from t where count(*) > 1

select sum(sum(n)) from t

select id from t where n

select id from t order by 7

select id from t limit 'a'

select 1 from t having n > 1

select * from t as a, t as a

select a.id from t b

select (select id, n from t)

select * from t where id = (select id from t)

select id from (select id from t)x where id < 3 order by id

select id from t for update

select id from t where ctid = '(0,1)'

select ctid is not null, tableoid = 't'::regclass from t where id = 1
