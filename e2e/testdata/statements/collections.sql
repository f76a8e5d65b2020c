select array[1, 2, 3], array['a', null, 'b c', '', 'x"y', 'a,b', 'null'], array[]::int[], array[[1, 2], [3, 4]], '{1,2}'::int[], '{{a,b},{c,d}}'::text[]

select array[1, 2] || array[3], array[1] || 2, 0 || array[1], array[[1, 2]] || array[3, 4], '{1}' || array[2]

select array[1] || null::int, null || array[1]

select (array[1, 2, 3])[1], (array[1, 2, 3])[0], (array[1, 2, 3])[2:], (array[1, 2, 3])[:2], (array[1, 2, 3])[2:2], (array[[1, 2], [3, 4]])[2][1], (array[[1, 2], [3, 4]])[1:1]

select array_length(array[1, 2], 1), array_length(array[1, 2], 2), array_length('{}'::int[], 1), cardinality(array[[1], [2]]), array_ndims(array[[1]]), array_upper(array[1, 2], 1), array_lower(array[1, 2], 1), array_dims(array[[1, 2]])

select array_append(array[1], 2), array_prepend(0, array[1]), array_cat(array[1], array[2]), array_remove(array[1, 2, 1], 1), array_replace(array[1, 2], 1, 9), array_position(array['a', 'b'], 'b'), array_fill(7, array[2]), trim_array(array[1, 2, 3], 1)

select array_positions(array[1, 2, 1], 1)

select array[1, 2] = array[1, 2], array[1, 2] < array[1, 3], array[1, 2] < array[1], array[1, 2] @> array[1], array[1] <@ array[1, 2], array[1, 2] && array[2, 3], array[1, null] = array[1, null]

select 1 = any (array[1, 2]), 3 = any (array[1, null]), 1 <> all (array[2, 3]), 2 > any (array[1, 5])

select array_to_string(array[1, null, 3], ','), array_to_string(array[1, null, 3], ',', '*'), string_to_array('1,2', ',')::int[]

select unnest(array[1, 2]), unnest(array['a', 'b', 'c'])

select * from unnest(array[1, 2], array['a', 'b', 'c']) as u(i, s)

select * from unnest(array[[1, 2], [3, 4]])

select array(select i from generate_series(1, 3) i where i <> 2), array_agg(i order by i desc) from generate_series(1, 3) i

select array_agg(array[i, i * 2]) from generate_series(1, 2) i

select array[1, 'a']

select array[1, 2.5], array[1, null], pg_typeof(array[1, 2.5]), array[date '2024-01-01']

select array[]

select '{1,a}'::int[]

select '{1,2'::int[]

select array[[1, 2], [3]]

select '{"a\"b", "c\\d", NULL, "NULL"}'::text[], '[0:1]={1,2}'::int[], '{ 1 , 2 }'::int[]

select array[1, 2]::text[], array['1', '2']::int[], array[1, 2]::text, '{t,f}'::bool[], array[1.5]::int[]

select generate_subscripts(array[5, 6], 1)

select array[1, 2, 3] is null, array[null] is null, coalesce(null::int[], '{}')

select '{"a": 1, "b": [1, 2, {"c": null}]}'::json, '{"b": 1, "a": 2, "a": 3}'::jsonb, '[1, 2.50, "x", true, null]'::jsonb

select '{"a": {"b": [10, 20]}}'::jsonb -> 'a' -> 'b' -> 1, '{"a": {"b": [10, 20]}}'::jsonb #> '{a,b,0}', '{"a": {"b": [10, 20]}}'::jsonb #>> '{a,b,0}', '{"a": "x"}'::json ->> 'a', '[1, 2]'::jsonb -> -1, '[1]'::jsonb -> 5, '{"a": null}'::jsonb -> 'a', '{"a": null}'::jsonb ->> 'a'

select '{"a": 1, "b": 2}'::jsonb @> '{"a": 1}', '{"a": 1}'::jsonb ? 'a', '{"a": 1}'::jsonb ?| array['x', 'a'], '{"a": 1}'::jsonb ?& array['x', 'a'], '[1, 2]'::jsonb @> '1', '{"a": 1}'::jsonb <@ '{"a": 1, "b": 2}'

select '{"a": 1}'::jsonb || '{"b": 2}', '{"a": 1, "b": 2}'::jsonb - 'a', '[1, 2, 3]'::jsonb - 1, '{"a": {"b": 1}}'::jsonb #- '{a,b}', '[1]'::jsonb || '2'

select jsonb_set('{"a": 1}', '{a}', '2'), jsonb_set('{"a": 1}', '{b}', '2'), jsonb_set('{"a": 1}', '{b}', '2', false), jsonb_strip_nulls('{"a": null, "b": 1}'), jsonb_pretty('{"a": [1]}')

select json_build_object('a', 1, 'b', array[1, 2], 'c', null), json_build_array(1, 'x', true, null), jsonb_build_object('k', date '2024-01-01'), to_json('a"b'::text), to_jsonb(1.50), to_jsonb(array['x']), row_to_json(row(1, 'a'))

select json_typeof('1'), jsonb_typeof('{}'), jsonb_typeof('null'), json_array_length('[1, 2]'), jsonb_array_length('[]')

select * from json_each('{"a": 1, "b": "x"}')

select * from jsonb_each_text('{"a": 1, "b": "x"}')

select * from jsonb_array_elements('[1, "a", null]')

select * from json_array_elements_text('[1, "a", null]')

select jsonb_object_keys('{"b": 1, "a": 2}')

select '{"a": 1}'::jsonb = '{"a": 1.0}'::jsonb, '[1]'::jsonb < '[2]'::jsonb, '"a"'::jsonb::text, '1'::jsonb::int, 'true'::jsonb::bool

select '{bad}'::json

select '{"a": 1'::jsonb

select '"\u0041\n"'::jsonb, '"\u0041\n"'::json, '"\ud83d\ude00"'::jsonb

select '"\u0000"'::jsonb

select '1'::json = '1'::json

select jsonb_array_length('{}')

select json_object('{a,1,b,2}'), jsonb_object_agg(k, v) from (values ('x', 1), ('y', 2)) t(k, v)

select jsonb_path_exists('{"a": [1, 2]}', '$.a[*] ? (@ > 1)')

select row(1, 'a', null), row(1, 2) = row(1, 2), row(1, row(2, 3)), (row(1, 2)).f1

select (1, 2)::text, row()::text, row('a b', 'c,d', '"')

select v from (values (1, 'a')) as v(x, y)

select v.* from (values (1, 'a')) as v(x, y)

select (v).x from (values (1, 'a')) as v(x, y)

values (1, 'a'), (2, null) order by 1 desc limit 1

values (1), (2.5), (null)

values (1, 2), (3)

select 1 union select 1 union all select 1

select 1 union all select 2 intersect select 2

select 1 except all select 1; select 1 intersect all select 1

(select 2 union all select 1) order by 1 limit 1

select i from generate_series(1, 3) i union select 2 order by i desc

select 1 as a union select 2 as b order by a

select 1 as a union select 2 as b order by b

select 'a' union select 'b' order by 1 desc

select null union all select 'x' order by 1 nulls first

select 1 union select 'x'

select 1::int2 union select 2::int8

select date '2024-01-01' union select timestamp '2024-01-01 12:00' order by 1

select 1 union select 2 order by 1 + 1

select 1 union select 2 limit 1 for update

select a.i, b.i from generate_series(1, 2) a(i), generate_series(1, 2) b(i) except select 1, 1 order by 1, 2

select count(*) from (select 1 union all select 1 union select 1) x

with a as (select 1 as x), b as (select x + 1 as x from a) select * from a union all select * from b

with a as materialized (select 1 as x) select * from a; with a as not materialized (select 1 as x) select * from a, a b

with a(x, y) as (select 1) select * from a

with a as (select 1), a as (select 2) select * from a

with a as (select * from b), b as (select 1) select * from a

with recursive a as (select * from b), b as (select 1 as x) select * from a

with recursive t(n) as (select 1 union all select n * 2 from t where n < 100) select * from t

with recursive t(n, path) as (select 1, array[1] union all select n + 1, path || (n + 1) from t where n < 4) select n, path from t order by n

with recursive t(n) as (select 1 union select (n + 1) % 3 from t) select * from t order by n

with recursive t as (select 1 as n union all select n + 1 from t) select n from t limit 3

with recursive t(n) as (select n from t) select * from t

with recursive t(n) as (select 1 union all select n + 1 from t where n < (select max(n) from t)) select * from t

with recursive t(n) as (select 1 union all select 'a' from t) select * from t

with x as (select 1 as i) select (select i from x), exists (select 1 from x where i = 2) from x where i in (select i from x)

select * from (with y as (select 5 as v) select v from y) z

select x from (values (3), (1), (null), (2)) v(x) order by x

select x from (values (3), (1), (null), (2)) v(x) order by x desc

select x from (values (3), (1), (null), (2)) v(x) order by x nulls first

select x from (values (3), (1), (null), (2)) v(x) order by x desc nulls last limit 2

select x from (values (3), (1), (2)) v(x) order by x using >

select x from (values (3), (1), (2)) v(x) order by -x offset 1 rows fetch next 1 row only

select x from (values (3), (1), (2), (1)) v(x) order by x fetch first 1 row with ties

select x from (values (1)) v(x) limit null offset null

select x from (values (1)) v(x) limit 1.5

select x from (values (1), (2)) v(x) limit (select 1)

select x from (values (1), (2)) v(x) offset -1

select x from (values (1)) v(x) limit x

select x, y from (values (1, 'b'), (1, 'a'), (0, 'c')) v(x, y) order by x desc, y

select x as y, y as x from (values (1, 2), (2, 1)) v(x, y) order by x

select x + 1 as z from (values (2), (1)) v(x) order by z

select x + 1 as z from (values (2), (1)) v(x) order by z + 1

select x from (values (2), (1)) v(x) order by 2

select x from (values (2), (1)) v(x) order by 'a'

select distinct x from (values (2), (1), (2)) v(x) order by x

select true, (select true), true::text, 1::int, '1'::int::text, 'a'::text::varchar, now()::date is null, case when true then 1 end, case when true then 1 else v.x end, array[1], row(1), exists (select 1), array(select 1), coalesce(1, 2), nullif(1, 2), greatest(1), (array[1])[1], -1, not true, 1 + 1, 'a' || 'b', v.x, (v).x, (select 1 as q), (select v.x), (select 1)::text, current_date is null, extract(year from date '2024-01-01'), interval '1 day', position('a' in 'b'), trim('a'), substring('abc' from 1), overlay('a' placing 'b' from 1), 1 is null, 1 in (1), 1 between 0 and 2, cast(1 as numeric(5, 2)), '{}'::int[], x::text::int, (x + 1)::text from (values (1)) v(x)
