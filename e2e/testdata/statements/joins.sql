create table a (id int primary key, k int, s text); insert into a values (1, 1, 'one'), (2, 2, 'two'), (3, 2, 'deux'), (4, null, 'none'), (5, 9, null)

create table b (k int, v numeric(6,2), d date); insert into b values (1, 1.5, '2024-01-01'), (2, 2.5, '2024-02-29'), (2, 3.5, null), (3, null, '1999-12-31'), (null, 0, '2000-01-01')

create table c (id int, k int, tag text); insert into c values (1, 1, 'p'), (2, 2, 'q'), (7, 2, 'r')

select a.id, b.v from a inner join b on a.k = b.k order by 1, 2

select a.id, b.v from a left outer join b on a.k = b.k and b.v > 2 order by 1, 2

select a.id, b.v from a left join b on a.k = b.k where b.v > 2 order by 1, 2

select a.id, b.v from a left join b on a.k = b.k where b.k is null order by 1

select a.id, b.k from a right join b on a.k = b.k order by 2, 1

select a.id, b.k, b.v from a full outer join b on a.k = b.k order by 1, 2, 3

select a.id, b.k from a full join b using (k) order by 1, 2

select k, a.k, b.k from a full join b using (k) order by 1, 2, 3

select k, count(*) from a join b using (k) group by k order by k

select * from a join b using (k) order by id, v

select * from a natural join c order by 1

select * from a natural left join c order by 1

select * from a natural full join c order by 1, 2

select a.id, x.k, x.tag from a join (b join c using (k)) as x on x.k = a.k order by 1, 2, 3

select a.id, x.k, x.tag from a left join (select b.k, c.tag from b join c using (k)) as x on x.k = a.k order by 1, 2, 3

select a.id, c.tag from (a join b on a.k = b.k) join c on c.k = b.k and c.id = a.id order by 1, 2

select a.id, b.v, c.tag from a left join b on a.k = b.k left join c on c.k = b.k order by 1, 2, 3

select a.id, c.tag from a left join b on a.k = b.k right join c on c.id = a.id order by 1, 2

select a.id, b.v from a cross join b where a.id < 3 and b.v is not null order by 1, 2

select a.id, b.v from a, b where a.k = b.k and a.s like 't%' order by 1, 2

select x.id, y.id from a x join a y on x.id < y.id and x.k = y.k

select x.id, y.id from a x left join a y on x.id + 1 = y.id order by 1

select a.id, b.v from a join b on a.k < b.k order by 1, 2

select a.id, b.v from a join b on a.k <> b.k order by 1, 2

select a.id, b.k from a left join b on true order by 1, 2 limit 4

select a.id from a left join b on false order by 1

select count(*) from a full join b on a.id = b.k and a.s = 'one'

-- differs: any condition of a FULL JOIN is supported
select a.id, b.k from a full join b on a.k > b.k

select * from a join b on a.k = b.k join c on a.k = c.k where c.tag in ('q', 'r') and b.v between 2 and 3 order by a.id, c.id

select a.* from a join b on a.k = b.k where b.d = date '2024-02-29' order by 1

select b.*, a.s from a join b using (k) order by 1, 2, 4

select a.id, (select max(v) from b where b.k = a.k) m from a order by 1

select a.id from a where a.k in (select k from b where v > 2) order by 1

select a.id from a where a.k not in (select k from b where k is not null) order by 1

select a.id from a where (a.k, a.id) in (select k, id from c) order by 1

select a.id from a where not exists (select from b where b.k = a.k) order by 1

select a.id from a where exists (select * from b join c using (k) where b.k = a.k and c.id = a.id) order by 1

select a.id from a where a.k > some (select k from b) order by 1

select a.id from a where a.k >= all (select k from b where k is not null) order by 1

select a.id from a where a.k = (select k from b where v = 1.5)

select a.id from a where a.k = (select k from b)

select (select k, v from b limit 1)

select a.id, l.* from a cross join lateral (select v, d from b where b.k = a.k order by v desc limit 1) l order by 1

select a.id, l.n from a left join lateral (select count(*) n from b where b.k = a.k) l on true order by 1

select a.id, l.x from a, lateral (values (a.id * 10), (a.id * 100)) l(x) where a.id < 3 order by 1, 2

select a.id, g from a, generate_series(1, a.id) g where a.id < 4 order by 1, 2

select a.id, x.n from a join lateral unnest(array[a.id, a.k]) with ordinality as x(v, n) on x.v = a.k order by 1, 2

select a.id from a join b on b.k = c.k join c on true

select * from a join b using (nosuch)

select * from a join b using (id)

select id from a join c using (k)

select k from a join b on true

select a.id from a, (select a.id) x

select a.id from a left join (b join c on b.k = a.k) on true

select * from (a join b using (k)) as j order by 1, 2, 5

select j.k, j.v from (a join b using (k)) as j where j.k = 2 order by 1, 2

select * from (a cross join c) order by 1, 4 limit 2

select x.k from (a join b using (k)) as j

select * from a as x(p, q, r) where p = 1

select x.p, x.s from a as x(p) where p = 1

select * from a as x(p, q, r, t)

select * from (select 1, 2) as x(p, q)

select count(*) from a, b, c where a.k = b.k and b.k = c.k and a.id = c.id

select a.id, b.v from a join b on a.k = b.k and (a.id = 1 or b.v = 3.5) order by 1, 2

select a.id from a join (values (1), (3)) v(i) on a.id = v.i order by 1

select a.id from a where a.id in (values (1), (5)) order by 1

select sum(a.id) from a join b on a.k = b.k left join c on c.k = a.k and c.tag = 'q' where c.tag is null

select t.id, t.cnt from (select a.id, count(b.k) cnt from a left join b on a.k = b.k group by a.id) t where t.cnt > 0 order by 1

select a.id from a where a.id = any (select id from c) or a.s is null order by 1

select a.id, a.k in (select k from b) as i, a.k not in (select k from b where k < 3) as n from a order by 1

select a.id, case when exists (select 1 from c where c.k = a.k) then 'y' else 'n' end from a order by 1

select (select count(*) from b where b.k = a.k and b.v > (select avg(v) from b b2 where b2.k = b.k)) from a order by a.id

select a.id, (select string_agg(c.tag, '' order by c.id) from c where c.k = a.k) from a order by 1

select (select max(a.id)) from a

select (select sum(a.id) + count(*) from b) from a

select (select sum(a.k) from b limit 1) from a

select a.k, (select count(a.id)) from a group by a.k order by 1

select a.id from a where a.id > (select avg(id) from a) order by 1

select max(s) from (select s from a order by id limit 2) x

select 1 from a join a on true

select a.id from a a, a b

select public.a.id from a join public.c on a.id = c.id order by 1

select a.id from a right join b on a.k = b.k left join c on c.k = b.k where a.id is null order by b.v

select (select sum(a.id) + count(*) from (values (1), (2)) v) from a

select a.id from a where exists (select 1 having max(a.k) > 1)

select 1 from a having exists (select 1 from b where b.k = max(a.id))

select (select max(b.k) from b where b.k < max(a.id)) from a

select (select (select sum(a.id))) from a
