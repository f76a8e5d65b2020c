select 1 + 2 * 3, (1 + 2) * 3, 7 / 2, -7 / 2, 7 % 3, -7 % 3, 2 ^ 10

select 7.0 / 2, 1 / 3.0, 10.00 / 4, 2.5 * 2.5, 1.1 + 2.22

select 1 / 0

select 1.0 / 0

select 1e0 / 0

select 5 % 0

select 2147483647 + 1

select 9223372036854775807 + 1

select -9223372036854775808 - 1

select 32767::int2 + 1::int2

select 2147483647 * 2

select abs(-5), abs(-5.5), sign(-2), sign(0), ceil(1.2), floor(-1.2), round(2.5), round(-2.5), round(1.2345, 2), trunc(1.987, 1)

select round(0.5::float8), round(1.5::float8), round(2.5::float8)

select power(2, 10), sqrt(2.0), sqrt(2::float8), exp(1::float8), ln(10.0), log(100), mod(10, 3), div(10, 3)

select greatest(1, 2, null), least('b', 'a'), coalesce(null, 1), nullif(1, 1), nullif(1, 2)

select 1 = 1, 1 <> 2, 1 < 2, 2 >= 2, 'a' < 'b', 'a' < 'B', 1 != 2

select null = null, null is null, 1 is not null, null and false, null or true, not null

select 1 between 0 and 2, 1 not between 0 and 2, 3 between symmetric 5 and 1

select 1 in (1, 2), 3 in (1, 2), 3 in (1, null), 1 not in (2, null)

select 1 is distinct from null, null is distinct from null, 1 is not distinct from 1

select true is true, null is unknown, false is not true

select case when 1 > 2 then 'a' when 1 < 2 then 'b' else 'c' end, case 5 when 5 then 'five' end, case 6 when 5 then 'five' end

select 'abc' like 'a%', 'abc' like '_b_', 'abc' not like 'x%', 'ABC' ilike 'a%', 'a%c' like 'a\%c', 'a%c' like 'ax%c' escape 'x'

select 'abc' ~ '^a', 'abc' ~* 'B', 'abc' !~ 'x', 'abc' similar to '(a|b)%'

select 'a' || 'b', 'a' || 1, 1 || 'a', 'a' || null

select length('größe'), char_length('abc'), octet_length('größe'), upper('abc'), lower('ABC'), initcap('hello world')

select substring('hello' from 2 for 3), substring('hello', 2), substr('hello', -1, 4), left('hello', 2), right('hello', -2)

select position('l' in 'hello'), strpos('hello', 'l'), replace('hello', 'l', 'L'), reverse('abc'), repeat('ab', 3)

select trim('  x  '), ltrim('xxa', 'x'), rtrim('axx', 'x'), btrim('xyax', 'xy'), trim(both 'x' from 'xax'), trim(leading from ' a ')

select lpad('5', 3, '0'), rpad('5', 3), split_part('a.b.c', '.', 2), split_part('a.b.c', '.', -1)

select concat('a', null, 1), concat_ws('-', 'a', null, 'b'), format('%s %I %L', 'x', 'A b', 'it''s'), quote_ident('A b'), quote_literal('it''s'), quote_nullable(null)

select ascii('a'), chr(97), md5('abc'), encode('\x00ff'::bytea, 'hex'), encode('abc', 'base64'), decode('YWJj', 'base64'), to_hex(255)

select translate('12345', '143', 'ax'), starts_with('alphabet', 'alph'), overlay('Txxxxas' placing 'hom' from 2 for 4)

select string_to_array('a,b,c', ','), array_to_string(array[1,2,null], ',', '*'), regexp_replace('foobar', 'o+', 'x'), regexp_matches('foobar', 'o(.)', 'g')

select 1::text, '1'::int, 1.9::int, 2.5::int, 1.5::float8::int, 2.5::float8::int, true::int, 1::bool, 'true'::bool::text

select cast('12' as integer), cast(12.7 as bigint), int '5', float8 '1.5'

-- differs: the text must not hold a word that makes a DuckLake client retry
select 1 + '2', '1' + '2'

select 1 = '1', 1 = 'x'

select 1 + true

-- differs: the text must not hold a word that makes a DuckLake client retry
select 'a' + 'b'

select true > false, true + true

select nosuchfunction(1)

select abs('x'::text)

select length(1)

select upper()

select array[1,2,3][2], array[1,2,3][5], (array[1,2,3])[1:2], array_length(array[1,2,3], 1), cardinality(array[1,2])

select array[1,2] || array[3], array[1,2] || 3, array_append(array[1], 2), array_position(array['a','b'], 'b'), 2 = any(array[1,2]), 2 = all(array[2,2])

select array[[1,2],[3,4]], array_dims(array[[1,2],[3,4]]), unnest(array[1,2])

select row(1, 'a'), (1, 2) = (1, 2), (1, 2) < (1, 3), row(1, null) is null

select now() = now(), current_date = now()::date, now() >= timestamptz '2020-01-01'

select extract(year from date '2024-02-29'), date_part('dow', date '2024-02-29'), extract(epoch from timestamptz '2000-01-01 00:00:00+00'), date_trunc('month', timestamp '2024-02-29 12:00')

select date '2024-02-29' + 1, date '2024-03-01' - date '2024-02-01', date '2024-01-31' + interval '1 month', timestamp '2024-01-01' - timestamp '2023-12-31 12:00'

select interval '1 day' * 2.5, interval '1 month' + interval '30 days', interval '36 hours', justify_hours(interval '36 hours'), interval '1 year 2 mons' = interval '14 months'

select age(timestamp '2024-03-01', timestamp '2023-02-28'), make_date(2024, 2, 29), to_timestamp(0), make_interval(days => 3)

select to_char(timestamp '2024-02-29 13:04:05', 'YYYY-MM-DD HH24:MI:SS'), to_char(1234.5, '9,999.99'), to_date('2024-02-29', 'YYYY-MM-DD'), to_number('12.5', '99.9')

select timestamp '2024-02-29 12:00' at time zone 'UTC', timestamptz '2024-02-29 12:00+00' at time zone 'America/New_York'

select '2024-02-29'::date::timestamp, '2024-02-29 12:00'::timestamp::date, '12:34'::time + interval '1 hour', '2024-02-29 12:00'::timestamp::time

select 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 256 >> 2

select pg_typeof(1), pg_typeof(1.5), pg_typeof('a'), pg_typeof(null), pg_typeof(array[1]), pg_typeof(now())

select format_type(1700, 655366), format_type(25, null), format_type(1043, 14), format_type(20, -1)

select exists (select 1), exists (select 1 where false), (select 5), (select 1 where false), array(select generate_series(1, 3))

select (select 1 union all select 2)

select 1 where 1 > (select count(*) from generate_series(1, 3))

select random() between 0 and 1, gen_random_uuid() is not null

select version() like 'PostgreSQL%', current_database() = current_catalog, current_schema(), current_schemas(false)

select coalesce(1, 'a')

select case when true then 1 else 'a' end

select greatest(1, 'a')

select 1 in ('a')

select 12345678901234567890::bigint

select (-128)::int2, -32768::int2
