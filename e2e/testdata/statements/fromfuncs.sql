select * from unnest(array[1, 2], array['a', 'b', 'c']) as u(i, s)

select * from unnest(array[1, 2], array['a', 'b', 'c']) with ordinality as u(i, s, n)

select * from unnest(array[1, 2], array['a', 'b', 'c'])

select * from unnest(array[1, 2], array['a']) u

select * from unnest(array[1, 2], null::text[], array[true]) u(a, b, c) where a > 1

select * from unnest(array[1], array[2]) u(a, b, c)

select unnest(array[1, 2], array['a'])

select * from unnest(1, array[2])

select * from rows from (generate_series(1, 3), generate_series(10, 11)) as r(a, b)

select * from rows from (generate_series(1, 3), generate_series(10, 11)) with ordinality

select * from rows from (unnest(array[1, 2]), unnest(array['x', 'y', 'z'])) with ordinality as r(a, b, n) where n > 1

select * from rows from (jsonb_each('{"a": 1}'), generate_series(1, 2)) as r

select * from rows from (unnest(array[1, 2], array[3]), generate_series(1, 1)) as r(a, b, c)

select * from rows from (abs(-1), upper('x')) as r(a, b)

select r.a, x from (values (array[1, 2]), (array[3])) v(x), lateral unnest(x, array['q']) as r(a, b)

select v.i, r.* from generate_series(1, 2) v(i), rows from (generate_series(1, v.i), unnest(array['a', 'b', 'c'])) r(a, b)

select * from rows from (generate_series(1, 2)) as r

select * from rows from (generate_series(1, 2))

select count(*), sum(a) from unnest(array[1, 2, 3], array[1]) u(a, b) where b is null

select r from unnest(array[1, 2], array['a']) r

select * from rows from (sum(1))

select * from rows from (generate_series(1, 2), nosuch(1)) r

select 1 from rows from ()

select unnest from unnest(array[1], array[2])
