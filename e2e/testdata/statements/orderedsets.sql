create table w (g int, v int, s text); insert into w values (1, 1, 'a'), (1, 5, 'b'), (1, 5, 'c'), (1, null, 'd'), (2, 7, 'e'), (2, 2, null)

select rank(5) within group (order by v), dense_rank(6) within group (order by v), percent_rank(5) within group (order by v), cume_dist(5) within group (order by v) from w

select g, rank(5) within group (order by v desc), dense_rank(null) within group (order by v), rank(5) within group (order by v nulls first), cume_dist(5.5) within group (order by v) from w group by g order by g

select rank(1, 'b') within group (order by g, s), dense_rank(1, 'b') within group (order by g, s desc), rank(1, 'b') within group (order by g desc, s) filter (where v > 1) from w

select rank(1) within group (order by v), dense_rank(1) within group (order by v), percent_rank(1) within group (order by v), cume_dist(1) within group (order by v) from w where false

select rank(10) from w

select rank() within group (order by v) from w

select rank(1, 2) within group (order by v) from w

select rank(1) within group (order by v, g) from w

select rank('x') within group (order by v) from w

select rank('x'::text) within group (order by v) from w

select rank(date '2024-01-01') within group (order by s) from w

select rank(1) within group (order by v) over () from w

select rank(distinct 1) within group (order by v) from w

select cume_dist(s) within group (order by s) from w

select g, rank(g) within group (order by v) from w group by g order by 1

select rank(2.5) within group (order by v), pg_typeof(rank(2) within group (order by v)), pg_typeof(cume_dist(2) within group (order by v)) from w

select percentile_cont(0.5) within group (order by v) over () from w

select rank(1 order by 2) from w

select array(select array[1, 2] union all select array[3, 4]), array(select '{}'::int[] where false)

select array(select array[1, 2] union all select array[3])

select ntile(2) within group (order by v) from w
select coalesce(date '2024-01-01', 1)

select 1 union select date '2024-01-01'

select array_agg(a) from (values (array[1,2]), (array[3])) v(a)

select array_agg(a) from (values (array[1,2]), (null)) v(a)

select array(select null::int[] union all select array[1])

select array_agg(a) from (values ('{}'::int[]), ('{}')) v(a)

select array(select '{}'::int[])
