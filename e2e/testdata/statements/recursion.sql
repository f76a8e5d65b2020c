create table t (i int, s text); create table u (i int); insert into t values (1, 'a'), (2, 'b')

select * from t where i = 1 for update

select 1 union select 2 limit 1 for update

select distinct i from t for update

select i from t group by i for share

select count(*) from t for no key update

select i from t having true for key share

select sum(i) over () from t for update

select generate_series(1, 2) from t for update

values (1) for update

select * from t, u for update of t

select * from t for update of x

select * from t a for update of t

select * from t for update of public.t

select * from (select * from t) q for update

select * from (select * from t) q for update of q

with c as (select 1 as i) select * from c for update

with c as (select 1 as i) select * from c for update of c

select * from generate_series(1, 2) g for update of g

select * from (values (1)) v for update of v

select * from t join u using (i) for update of u

select * from t left join u using (i) for update

select 1 for update

select * from pg_class limit 0 for update

begin read only; select * from t for update

rollback

select * from t for update nowait; select * from t for share skip locked; select i from t for update for share of t

select * from t where i in (select i from t for update)

select 1 union select 2 as b order by b

select 1 as a union select 2 as b order by b

select 1 as a union select 2 as b union select 3 as c order by c

select a from (select 1 as a) x order by b

with a as (select * from b), b as (select 1) select * from a

with a as (select * from b) select * from a, b

with a as (select 1), c as (select * from d), d as (select 2) select * from c

with recursive a as (select * from b), b as (select 1 as x) select * from a

with recursive a as (select * from b), b as (select x + 1 as x from c), c as (select 5 as x) select a.x, c.x from a, c

with recursive a as (select * from b), b as (select * from a) select * from a

with recursive a as (select 1 as n union all select n + 1 from b where n < 3), b as (select * from a) select * from a

with recursive b as (select n + 10 as n from a), a as (select 1 as n union all select n + 1 from a where n < 3) select * from b

with recursive t(n) as (select 1 union all select n + 1 from t where n < (select max(n) from t)) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where exists (select 1 from t)) select * from t

with recursive t(n) as (select 1 union all select a.n + b.n from t a, t b where a.n < 5) select * from t

with recursive t(n) as (select 1 union all (select n + 1 from t where n < 3 union all select n + 1 from t where n < 2)) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t left join u on true where n < 3) select * from t

with recursive t(n) as (select 1 union all select n + 1 from u left join t on true where n < 3) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t right join u on true where n < 3) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t full join u on true where n < 3) select * from t

with recursive t(n) as (select 1 union all (select 2 intersect select n + 1 from t)) select * from t

with recursive t(n) as (select 1 union all (select n + 1 from t where n < 3 except select 5)) select * from t

with recursive t(n) as (select 1 union all (select 5 except select n + 1 from t)) select * from t

with recursive t(n) as (select n from t union all select 1) select * from t

with recursive t(n) as (select 1 from t) select * from t

with recursive t(n) as (select 1 intersect select n from t) select * from t

with recursive t(n) as (select 1 union all select sum(n) from t) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where n < 3 order by 1) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where n < 3 limit 5) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where n < 3 offset 5) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where n < 3 for update) select * from t

with recursive t(n) as (select 1 union all select * from (select n + 1 from t where n < 3) q) select * from t

with recursive t(n) as (select 1 union all select q.x from t, lateral (select t.n + 1 as x) q where n < 3) select * from t

with recursive t(n) as (with x as (select 1 as one) select one from x union all select n + 1 from t where n < 3) select * from t

with recursive t(n) as (with x as (select n from t) select 1 union all select n + 1 from x where n < 3) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where n < 3), t2 as (select max(n) from t) select * from t2

with recursive t(n) as (select 1 union all select n + 1 from t where n in (select 1)) select * from t

with recursive t(n) as (insert into u select n from t returning i) select * from t

with recursive t(n) as (values (1) union all values (2)) select * from t

with recursive t(n) as (select 1 union all select array_agg(n) from t) select 1

with recursive t(n) as (select 1 union all select n + 1 from t order by (select max(n) from t)) select * from t
