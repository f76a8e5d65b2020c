create table w (id int, g text, v int, f float8, n numeric); insert into w values (1, 'a', 10, 1.5, 0.1), (2, 'a', 10, 2.5, 0.2), (3, 'a', 30, null, 0.3), (4, 'b', null, -1, null), (5, 'b', 5, 0, 1.5), (6, null, 7, 1e10, 2)

select id, row_number() over (partition by g order by v, id) from w order by id

select id, rank() over (order by v), dense_rank() over (order by v), percent_rank() over (order by v), cume_dist() over (order by v) from w order by id

select id, ntile(4) over (order by id) from w order by id

select id, ntile(0) over (order by id) from w

select id, lag(v) over (order by id), lag(v, 2) over (order by id), lag(v, 1, -1) over (order by id) from w order by id

select id, lead(g, 1, 'z') over (partition by g order by id) from w order by id

select id, first_value(v) over (order by id), last_value(v) over (order by id), nth_value(v, 2) over (order by id) from w order by id

select id, nth_value(v, 0) over (order by id) from w

select id, sum(v) over (order by v) from w order by id

select id, sum(v) over (order by v nulls first) from w order by id

select id, sum(v) over (order by id rows unbounded preceding) from w order by id

select id, sum(v) over (order by id rows between unbounded preceding and 1 preceding) from w order by id

select id, sum(v) over (order by id rows between 1 following and unbounded following) from w order by id

select id, count(*) over (order by id rows between 2 preceding and 1 following) from w order by id

select id, count(*) over (order by v range between 5 preceding and 5 following) from w order by id

select id, count(*) over (order by v groups between 1 preceding and current row) from w order by id

select id, sum(v) over (order by id rows between unbounded preceding and unbounded following exclude current row) from w order by id

select id, sum(v) over (order by v groups between current row and unbounded following exclude ties) from w order by id

select id, sum(v) over (order by v range between unbounded preceding and current row exclude group) from w order by id

select id, sum(v) over (order by id rows between -1 preceding and current row) from w

select id, sum(v) over (order by id rows between 1 following and 1 preceding) from w order by id

select id, sum(v) over (rows between unbounded following and current row) from w

select id, avg(v) over (partition by g), min(v) over (partition by g), max(v) over () from w order by id

select id, sum(n) over (order by id), avg(n) over (order by id) from w order by id

select id, sum(f) over (order by id rows 1 preceding) from w order by id

select id, string_agg(g, ',') over (order by id), array_agg(v) over (order by id rows 1 preceding) from w order by id

select id, count(*) filter (where v > 6) over (order by id) from w order by id

select id, bool_and(v > 6) over (partition by g) from w order by id

select g, sum(sum(v)) over (order by g) from w group by g order by g

select g, rank() over (order by count(*) desc, g) from w group by g order by g

select id from w order by row_number() over (order by id desc)

select id, sum(v) over win, count(*) over win from w window win as (partition by g order by id) order by id

select id, sum(v) over (win rows 1 preceding) from w window win as (partition by g order by id) order by id

select id, sum(v) over (win order by id) from w window win as (partition by g), win2 as (order by v) order by id

select id, sum(v) over (win order by id) from w window win as (order by g)

select id, sum(v) over (win partition by g) from w window win as (order by g)

select id, sum(v) over nosuch from w

select id from w where row_number() over () = 1

select row_number() from w

select abs(v) over () from w

select count(distinct v) over () from w

select g from w group by g having sum(v) over () > 1

select sum(row_number() over ()) from w

select sum(v) over (order by sum(v) over ()) from w

select * from (select id, row_number() over (partition by g order by id desc) rn from w) x where rn = 1 order by id

select distinct g, count(*) over (partition by g) from w order by 1

select id, v - lag(v, 1, 0) over (order by id) as diff from w order by id

select id, lag(v, id) over (order by id) from w order by id

select id, sum(v) over (partition by g, v order by id) from w order by id

select id, row_number() over () from w where id < 3 order by id

select count(*) over (), id from w limit 2

select id, sum(v) over (order by f range between 1 preceding and 1 following) from w order by id

select id, sum(v) over (order by n range between 0.1 preceding and 0.1 following) from w order by id

select id, count(*) over (order by d range between interval '1 day' preceding and current row) from (values (1, date '2024-01-01'), (2, date '2024-01-02'), (3, date '2024-01-05')) x(id, d) order by id

select g, count(*), sum(v), avg(v), min(v), max(v), sum(f), avg(f), sum(n), avg(n) from w group by g order by g

select variance(v), stddev(v), var_pop(v), stddev_pop(v), var_samp(n), stddev_samp(n) from w

select variance(f), stddev(f), var_pop(f), stddev_pop(f) from w where id < 6

select corr(v, id), covar_pop(v, id), covar_samp(v, id), regr_slope(v, id), regr_intercept(v, id), regr_r2(v, id), regr_count(v, id) from w

select bit_and(v), bit_or(v), bit_xor(v) from w

select every(v > 0), bool_or(v is null) from w

select string_agg(g, '-' order by g desc, id), string_agg(distinct g, '' order by g) from w

select string_agg(distinct g, '' order by id) from w

select array_agg(v order by v nulls first), array_agg(distinct v) from w

select array_agg(g) from w where false

select json_agg(id order by id), jsonb_agg(g order by id), json_object_agg(id, v order by id) from w

select percentile_cont(0.5) within group (order by v), percentile_disc(0.5) within group (order by v), mode() within group (order by g) from w

select percentile_cont(array[0.25, 0.75]) within group (order by f) from w where id < 6

select count(*), count(1), count(null), count(g), count(distinct g), count(distinct v) from w

select count(distinct (g, v)) from w

select sum(distinct v), avg(distinct v) from w

select sum(v) filter (where g = 'a') a, sum(v) filter (where g = 'b') b from w

select min(g), max(g), min(f), max(n) from w

select min(x), max(x) from (values (date '2024-01-01'), ('2023-01-01')) v(x)

select sum(x), avg(x) from (values (interval '1 day'), ('2 hours')) v(x)

select sum(9223372036854775807::bigint) from generate_series(1, 2)

select sum(x::int2), sum(x::int4), sum(x::int8), sum(x::float4) from generate_series(1, 3) x

select avg(x::int2), avg(x::int8), avg(x::float4), avg(x::numeric) from generate_series(1, 2) x

select g, grouping(g), count(*) from w group by rollup(g) order by 1, 2

select g, v, grouping(g, v), count(*) from w group by cube(g, v) order by 1, 2, 3

select g, v, count(*) from w group by grouping sets ((g), (v), ()) order by 1, 2, 3

select g, v % 2 as m, count(*) from w group by g, rollup(v % 2) order by 1, 2, 3

select g as x, count(*) from w group by x order by x

select g, count(*) from w group by 1 order by 2 desc, 1

select upper(g), count(*) from w group by upper(g) order by 1

select upper(g) from w group by g order by 1

select v from w group by g

select g, v from w group by g, v having count(*) > 1

select g from w group by g having max(v) > 9

select g from w having true

select 1 from w having count(*) > 3

select count(*) from w having count(*) > 100

select g from w group by count(*)

select g, sum(v) from w where sum(v) > 1 group by g

select sum(v) from w order by g

select g from w group by g order by sum(v) desc nulls last

select g from w group by g order by v

select distinct v % 2 from w order by 1

select distinct g from w order by v

select distinct on (g) g, v from w order by g, v desc nulls last

select distinct on (g) g, v from w order by v

select distinct on (v % 2) id from w order by v % 2, id

select count(*) from (select distinct g, v from w) x

select max(count(*)) from w group by g

select count(*) from w group by 3

select nosuch(v) from w

select sum(g) from w

select avg(g) from w

select string_agg(v, ',') from w

select sum(*) from w

select count() from w

select lower(distinct g) from w

select any_value(v) from w

select sum(v order by id) from w

select count(*) filter (where v) from w

select xmlagg(g) from w

select mode() from w

select percentile_cont(2) within group (order by v) from w

select rank(10) within group (order by v), dense_rank(10) within group (order by v) from w
