select 1

select -1, +1, - -1

select 1.5, .5, 5., 1e3, 1.5e-3, 123456789012345678901234567890

select 2147483647, 2147483648, 9223372036854775807, 9223372036854775808

select 'a', 'it''s', '', E'a\nb\t\'', U&'\0041'

select null, true, false, 't'::bool, 'off'::bool

select $$dollar$$, $x$a$$b$x$

select date '2024-02-29', timestamp '2024-02-29 12:34:56.789', timestamptz '2024-02-29 12:34:56+02', time '12:34:56', interval '1 day 2 hours'

-- differs: eider has no bit strings
select B'101', X'1F'

select 1 as "Odd Name", 2 as "select", 3 four

select 'x'::text, 'x'::varchar(3), 'abcdef'::varchar(3), 'ab'::char(4), 'x'::name

select '\xdeadbeef'::bytea, '\x'::bytea, 'abc'::bytea

select 'abc'::bytea || '\x00'::bytea

select '12345678-9ABC-def0-1234-56789abcdef0'::uuid, '{12345678-9abc-def0-1234-56789abcdef0}'::uuid

select array[1,2,3], '{1,2,3}'::int[], array['a',null,'b c'], '{}'::int[]

select '(1,2)'::tid, '(4294967295,0)'::tid

select 'pg_class'::regclass

select 1::oid, 4294967295::oid

select 'nan'::float8, 'infinity'::float8, '-inf'::float8, -0.0::float8

select 1.0::float4, 0.1::float4, 1e38::float4, 3.4028235e38::float4

select 0.1::float8, 1e300::float8, 5e-324::float8, 1.7976931348623157e308::float8

select 'NaN'::numeric, 'Infinity'::numeric, '-Infinity'::numeric

select 1.10::numeric, 1.10::numeric(5,1), 99.95::numeric(3,1)

select 1::numeric(10,2), 123.456::numeric(10,0), 0.00::numeric

select 999.99::numeric(4,2)

select 'abc'::int

select '12a'::bigint

select ''::int

select ' 12 '::int

select '2147483648'::int

select 32768::int2

select 'x'::bool

select '2024-13-01'::date

select '2024-02-30'::date

select 'infinity'::date, '-infinity'::timestamp

select '24:00:00'::time, '25:00'::time

select 'not-a-uuid'::uuid

select '\xzz'::bytea

select '\x123'::bytea

select 1 2

select 'unterminated

select "unterminated

select 1 +

select

select;

;

select 1;;select 2;

-- only a comment

/* a /* nested */ comment */ select 1

select /* x */ 1 -- y
