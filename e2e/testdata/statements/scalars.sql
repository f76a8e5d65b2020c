set timezone = 'UTC'; set datestyle = 'ISO, MDY'

select date '2024-02-29' + interval '1 year', date '2024-01-31' + interval '1 month' * 2, timestamp '2024-03-31 10:00' - interval '1 month'

select date '2024-02-29' - 365, date '2024-02-29' - date '2023-02-28', 3 + date '2024-01-01'

select timestamp '2024-01-01 00:00' - timestamp '2023-01-01 12:30:15.25', timestamptz '2024-01-01 00:00+02' - timestamptz '2024-01-01 00:00+00'

select time '12:00' + interval '13 hours', time '12:00' - time '10:30', date '2024-01-01' + time '08:15', time '01:00' - interval '2 hours'

select interval '1 day' / 3, interval '1 month' / 4, interval '-1 day 2 hours' * 1.5, - interval '1 hour'

select interval '1-2', interval '1 2:03:04', interval 'P1Y2M3DT4H5M6S', interval '1.5 days', interval '90' minute, interval '3' year

select interval '1 day' > interval '23 hours', interval '1 month' = interval '30 days', interval '1 day' < interval '25 hours'

select extract(day from interval '40 days 2 hours'), extract(hour from interval '40 days 26 hours'), extract(epoch from interval '1 month 1 day'), extract(second from time '10:11:12.5')

select extract(century from date '2001-01-01'), extract(decade from date '1999-01-01'), extract(isodow from date '2024-03-03'), extract(isoyear from date '2021-01-01'), extract(week from date '2021-01-01'), extract(doy from date '2024-12-31'), extract(quarter from date '2024-05-01'), extract(millennium from date '2000-01-01'), extract(julian from date '2000-01-01')

select extract(timezone from timestamptz '2024-01-01 00:00+00'), extract(microseconds from timestamp '2024-01-01 00:00:01.5'), extract(milliseconds from time '00:00:01.25')

select extract(nosuch from date '2024-01-01')

select extract(hour from date '2024-01-01')

select date_part('hour', timestamp '2024-01-01 13:14:15'), date_part('epoch', date '1970-01-02'), date_part('day', interval '3 days')

select date_trunc('day', timestamptz '2024-01-01 13:14:15+00'), date_trunc('week', date '2024-03-03'), date_trunc('hour', interval '3 days 04:05:06'), date_trunc('quarter', timestamp '2024-05-05'), date_trunc('century', timestamp '2024-05-05')

select date_trunc('day', timestamptz '2024-01-01 03:00+00', 'America/New_York')

select date_trunc('nosuch', now())

select date_bin('15 minutes', timestamp '2024-01-01 10:38', timestamp '2024-01-01')

select age(timestamp '2024-02-29', timestamp '2020-03-31'), age(date '2024-01-01', date '2024-01-01')

select justify_days(interval '65 days'), justify_interval(interval '1 month -1 hour'), justify_hours(interval '49 hours')

select make_timestamp(2024, 2, 29, 1, 2, 3.5), make_time(1, 2, 3), make_interval(1, 2, 3, 4, 5, 6, 7.5), make_timestamptz(2024, 1, 1, 0, 0, 0, 'UTC')

select make_date(2023, 2, 29)

select to_timestamp(1704067200.5), to_timestamp('2024-01-01 10', 'YYYY-MM-DD HH24'), to_date('01 Feb 2024', 'DD Mon YYYY')

select to_char(date '2024-02-05', 'Day, DD Month YYYY'), to_char(timestamp '2024-02-05 15:04:05.123', 'HH12:MI:SS.MS AM'), to_char(interval '26 hours', 'HH24:MI'), to_char(date '2024-02-05', 'IYYY-IW-ID DDD Q J')

select to_char(1234.567, '99999.99'), to_char(-5, 'S999'), to_char(0.5, '0.99'), to_char(1234567, '9,999,999'), to_char(12, 'RN'), to_char(1e10::float8, '9.99EEEE'), to_char(5, '000'), to_char(-12.3, '99.9PR')

select timestamp '2024-01-01 12:00' at time zone 'America/New_York', timestamptz '2024-07-01 12:00+00' at time zone 'Europe/Berlin', timestamptz '2024-07-01 12:00+00' at time zone interval '2 hours'

select now() at time zone 'Nowhere/City'

select timestamp 'infinity', date '-infinity', timestamptz 'epoch', date 'infinity' > date '2024-01-01', isfinite(timestamp 'infinity'), isfinite(interval '1 day')

select timestamp '2024-02-30'

select date '2024-13-01'

select date 'nonsense'

select time '25:00'

select interval '1 parsec'

select timestamp '0001-01-01 BC', date '4713-01-01 BC', date '5874897-12-31'

select date '5874898-01-01'

select timestamp '2024-01-01 24:00:00', time '24:00', timestamp '2024-01-01T10:00:00Z', timestamptz '2024-01-01 10:00:00-05:30', timestamptz 'Jan 5 2024 3:04 PM PST'

select '20240105'::date, 'January 5, 2024'::date, '5-Jan-2024'::date, '2024.005'::date, '01/02/2024'::date

select (date '2024-01-01', date '2024-02-01') overlaps (date '2024-01-15', date '2024-03-01'), (date '2024-01-01', interval '1 day') overlaps (date '2024-01-02', interval '1 day')

select timestamp(0) '2024-01-01 10:00:00.6', '2024-01-01 10:00:00.123456'::timestamp(3), time(1) '10:00:00.66', interval(1) '1.26 seconds', current_timestamp(0) = now()::timestamptz(0)

select date '2024-01-01' = timestamp '2024-01-01', date '2024-01-01' < timestamptz '2024-01-01 01:00+00', timestamp '2024-01-01' = timestamptz '2024-01-01 00:00+00'

select timetz '10:00+02', timetz '10:00+02' = timetz '08:00+00', timetz '10:00+02' > timetz '09:00+00'

select * from generate_series(timestamp '2024-01-01', timestamp '2024-01-02', interval '6 hours')

select * from generate_series(date '2024-01-01', date '2024-01-03', '1 day')

select * from generate_series(1, 2, 0)

select * from generate_series(1.5, 3.5, 0.5)

select * from generate_series(1, null)

select 0.1 + 0.2, 0.1::float8 + 0.2::float8, 0.1::float4 + 0.2::float4, 1::float4 / 3, 1::float8 / 3

select 10.0 / 3, 1 / 7.0, 100000000000000000000 / 3.0, 0.00001 / 3, 2 / 3.000000000000

select 123.456 % 10, -7.5 % 2, mod(-7, 2), 7 % -2, 1.5 % 0.4

select 12345678901234567890.123456789 * 98765432109876543210.987654321

select round(1234.5678, -2), round(-0.5), round(1.5), trunc(-1.567, 2), trunc(1234.5, -2), ceil(-1.5), floor(-1.5), ceiling(1.0001)

select sqrt(2), sqrt(2.0), round(cbrt(27)), power(2, 0.5), power(2.0, 0.5), exp(1.0), ln(2.0), log(2.0, 64.0), log10(1000)

select sqrt(-1)

select ln(0)

select power(0, -1)

select power(-8, 1.0/3)

select exp(10000.0::float8)

select abs(-2147483648)

select abs((-2147483648)::int4)

select -(-9223372036854775808)

select (-32768)::int2 / (-1)::int2

select 9223372036854775807 * 2

select 2147483647::int4 + 1::int8, 32767::int2 + 1, 1::int2 + 1::int2, pg_typeof(1::int2 + 1::int8), pg_typeof(1 + 1.0), pg_typeof(1::float4 + 1), pg_typeof(1::float4 + 1::numeric)

select pi(), degrees(pi()), radians(180), sin(0), cos(0), tan(0), atan2(1, 1), asin(1), acos(1), atan(1)

select asin(2)

select gcd(12, 18), lcm(4, 6), factorial(20), scale(1.230), min_scale(1.230), trim_scale(1.230), width_bucket(5, 0, 10, 4)

select factorial(-1)

select 'NaN'::float8 = 'NaN'::float8, 'NaN'::numeric > 1e100, 'Infinity'::float8, '-Infinity'::numeric, 'Infinity'::numeric - 'Infinity'::numeric, 'inf'::float8 * 0

select 1e308::float8 * 10

select 1e-320::float8, 5e-324::float8, 1e-400::float8

select 1e39::float4

select 123456789.123::float4, 0.1::float4::float8, 16777217::float4, 1e15::float8, 1e16::float8, 123456789012345678::float8

select 3.7::int, -3.7::int, 2.5::int, 3.5::int, '3.7'::numeric::int, 1e9::int, 'NaN'::numeric::float8

select 'NaN'::float8::int

select 3000000000::int

select 99999999999999999999::int8

select 40000::int2

select 1234.5::numeric(5, 1), 1234.55::numeric(5, 1), 0.004::numeric(3, 2), 99.995::numeric(4, 2)

select 12345.6::numeric(5, 1)

select 123::numeric(2)

select 1::numeric(3, -1), 15::numeric(2, -1), 0.0001::numeric(3, 5)

select 1::numeric(1001)

select '  12  '::int, '+5'::int, '-0'::int, '0012'::int

select '12a'::int

select ''::int

select '1e3'::int

select '1e3'::numeric, '1_000'::text, '.5'::numeric, '5.'::numeric, '-.5e-3'::numeric, '0x10'::text

select '1 2'::numeric

select 1::bool, 0::bool, 5::bool, 'yes'::bool, 'on'::bool, 'F'::bool, ' tr '::bool

select 'maybe'::bool

select 1.0::bool

select true::int, false::text, true::varchar(2), (1 = 1)::int + 1

select 'abc'::char(5) || '|', 'abc'::varchar(2), 'abc  '::char(5) = 'abc', length('ab '::char(5)), 'x'::"char", 'abcdef'::char

select 'toolong'::name, 'a'::bpchar || 'b', octet_length('ab'::char(4))

-- differs: bit strings are not supported
select b'101'

-- differs: bit strings are not supported
select x'1F'

select e'\x41\u0042\101', U&'\0041', 'it''s', $$dollar$$, $t$tagged $$ $t$

select '\x4142'::bytea, 'abc\000d'::bytea, '\\x41'::bytea, 'a\134b'::bytea, length('\x0001'::bytea), '\x01'::bytea < '\x02'::bytea, '\x01'::bytea || '\x02'::bytea

select '\x4'::bytea

select '\x4g'::bytea

select encode('\x00ff41'::bytea, 'escape'), encode('\xdeadbeef'::bytea, 'base64'), decode('3q2+7w==', 'base64'), decode('zz', 'hex')

select get_byte('\x0102'::bytea, 1), set_byte('\x0102'::bytea, 0, 255), substring('\x010203'::bytea from 2), position('\x02'::bytea in '\x0102'::bytea), sha256('abc'), md5('abc'::bytea), convert_from('\x6869', 'UTF8'), convert_to('hi', 'UTF8')

select 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 'A0EEBC999C0B4EF8BB6D6BB9BD380A11'::uuid, '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid < 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'

select 'not-a-uuid'::uuid

select 1::oid, '4294967295'::oid, -1::oid, 'int4'::regtype, 'pg_class'::regclass::oid

select 4294967296::oid

select pg_typeof('x'::name), pg_typeof(1::oid), pg_typeof(null::int), pg_typeof('{}'::int[]), pg_typeof(row(1)), pg_typeof('a'::"char")

select 5::text || 'x', 5 || 'x', 'x' || 5.50, 'x' || true, 'x' || null::text, 'a' || array['b']

select 5 || 6

select 'a' < 'b', 'a' < 'A', 'Z' < 'a', 'é' > 'z', '' < 'a', 'abc' < 'abcd'

select ascii('é'), chr(233), chr(8364), ascii('')

select chr(0)

select chr(1114112)

select length('日本語'), reverse('日本語'), left('日本語', 2), upper('strasse'), initcap('o''neil mc-donald')

-- differs: the oracle runs in the C locale, eider folds case as Unicode says
select lower('ÀÉ'), upper('é')

select lpad('abc', 2), lpad('abc', 5), lpad('abc', 8, 'xy'), rpad('abc', 8, 'xy'), lpad('a', -1), repeat('a', 0), repeat('ab', -1)

select substring('hello', 0, 3), substring('hello', -1, 3), substring('hello', 2, 100), substring('hello' from '.l+'), substring('hello' from 'h(.)l')

select substring('hello' similar 'h#"%#"o' escape '#')

select substring('hello', 2, -1)

select split_part('a,b,c', ',', 2), split_part('a,b,c', ',', 5), split_part('abc', '', 1), split_part('a,b,c', ',', -3)

select split_part('a', ',', 0)

select strpos('abc', ''), position('' in 'abc'), replace('aaa', 'a', ''), replace('abc', '', 'x'), translate('abc', 'abc', 'x'), overlay('abcdef' placing 'ZZ' from 3), overlay('abc' placing 'xyz' from 2 for 0)

select trim(trailing 'x' from 'axx'), trim('ab' from 'abcba'), btrim('  a  '), ltrim('  a'), rtrim('a  ') || '|', trim(both from '  b ')

select format('%s', null), format('%L', null), format('%5s|%-5s|', 'a', 'b'), format('%2$s %1$s', 'a', 'b'), format('%%'), format('%I', 'select')

select format('%s')

select format('%q', 1)

select format('%I', null)

select concat(), concat(null), concat(1, true, 2.5, date '2024-01-01'), concat_ws(',', 1, null, 2), concat_ws(null, 1)

select quote_literal('a\b'), quote_literal(5), quote_nullable(null), quote_ident('a b'), quote_ident('abc'), quote_ident('table')

select 'abc' like 'abc', 'abc' like '%', '' like '%', 'a_c' like 'a\_c', 'abc' like 'a\_c', 'a\c' like 'a\\c', null like 'a', 'abc' not like null

select 'abc' like 'a\'

select 'abc' ilike 'AB_', 'abc' ~~ 'a%', 'abc' !~~* 'A%', 'abc' like any (array['x%', 'a%']), 'abc' like all (array['%c', 'a%'])

select 'foobar' ~ 'o{2}', 'foo.bar' ~ '\.', 'abc' ~ '[[:digit:]]', 'a1' ~ '\d', 'ABC' ~* 'b', 'abc' ~ '(?i)B'

-- differs: the regular expressions' compiler has messages of its own
select 'abc' ~ '('

select regexp_replace('abcabc', 'b', 'X'), regexp_replace('abcabc', 'b', 'X', 'g'), regexp_replace('abc', '(b)(c)', '\2\1'), regexp_replace('ABC', 'b', 'x', 'i'), regexp_replace('abc', 'b', '[\&]')

select regexp_match('foobarbequebaz', '(bar)(beque)'), regexp_match('abc', 'x'), regexp_match('abc', 'b')

select regexp_matches('a1b2', '([a-z])(\d)', 'g')

select regexp_split_to_array('a, b,c', ',\s*'), array(select regexp_split_to_table('a b c', ' '))

select regexp_count('banana', 'an'), regexp_like('abc', 'B', 'i')

select regexp_instr('banana', 'an', 1, 2), regexp_substr('banana', 'n.', 1, 2)

select 'abc' similar to 'abc', 'abc' similar to '%(b|d)%', 'abc' similar to 'a', 'abc' not similar to '_b_'

select string_to_array('a,b,,c', ','), string_to_array('a,b', null), string_to_array('', ','), string_to_array('a,b,c', ',', 'b'), array(select string_to_table('x-y', '-'))

select to_hex(255), to_hex(-1), to_hex(4294967296), md5(''), sha256(''::bytea), crc32('a')

select starts_with('abc', 'ab'), 'abc' ^@ 'ab', bit_length('abc')

select unistr('\0041')

select normalize('e' || chr(769)) = 'é', 'a' is normalized

select case when null then 1 else 2 end, case null when null then 1 else 2 end, case 1 when 1.0 then 'eq' end, coalesce(null, null), coalesce(null, 1, 2.5), nullif('a', 'a'), nullif(1, 1.0), greatest(1, 2.5, null), least(null, null)

select nullif(1, 'a')

select 1 is null, null is not null, row(null, null) is null, row(1, null) is null, row(1, null) is not null, row(null) is distinct from row(null)

select (1, 2) = (1, 2), (1, 2) < (1, null), (1, 'a') <> (1, 'b'), (1, 2) is distinct from (1, null), row(1, 2) in (row(1, 2)), (1, 2) = (1, 2, 3)

select true and null, false and null, true or null, null or false, not null::bool, true <> false, true > false

select 1 in (1, 2, null), 3 in (1, 2, null), 3 not in (1, 2, null), null in (1), 'a' in ('a', 'b'), 1.0 in (1, 2), 1 in (1.5, 1.0)

select 5 between 1 and 10, 5 not between 1 and 10, null between 1 and 2, 5 between 10 and 1, 5 between symmetric 10 and 1, 'b' between 'a' and 'c'

select 1 = any ('{1,2}'), 1 <> all ('{1,2}'), 3 > all (array[1, 2]), null = any (array[1]), 1 = any (array[]::int[]), 1 = all (null::int[])

select 1 = any (1)

select 6 & 3, 6 | 3, 6 # 3, ~6, 1 << 3, -8 >> 1, 1::int8 << 40, |/ 16, @ -5, 2 ^ 3 ^ 2, -2 ^ 2, 5 ! = 4

select @ -5.5, round(||/ 27), 7 / 2, -7 / 2, 7 % 3, 2 * 3 + 4, 2 + 3 * 4, (2 + 3) * 4, - - 5, +5
