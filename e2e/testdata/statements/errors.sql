selec 1

select * form t

select 1 from

create tabel t (a int)

create table t

insert into

update t

select 'a' 'b'

select (1

select 1)

select 1, , 2

select * from (select 1

select a b c

drop

alter table

select 1 where

begin work work

copy t

select "a

select $1

select $0

select @@x

select 1 === 2

select 1 <> <> 2

select {1}

select 'abc' collate "nosuch"

select cast(1 as)

select cast(1 as nosuch)

select 1::int::nosuch

select row(1,2).f1

select (1).x

select count(

select count(*) over (partition by)

select case when 1 then 2 end

select case end

select interval '1 fortnight'

select 1 limit 1 limit 2

select distinct on () 1

with x as select 1 select 2

with x as (select 1) 

with x as (select 1), x as (select 2) select * from x

values (1, 2), (3)

select 1 union

select 1 order 1

grant

set x

set x to

show

select 1; selec 2; select 3

select 1/0; select 2

insert into nosuch select 1/0

select * from generate_series(1)

select pg_sleep('a')

select repeat('x', -1), repeat('x', 0)

select lpad('a', 2000000000, 'x')

select '{1,2'::int[]

select '{1,a}'::int[]

select array[1,'a']

select array[1, array[2]]

select '1 2'::interval, '1 nosuch'::interval

select '2024-01-01 25:00'::timestamp

select 1e400::float8

select '1e400'::float8

select 10::numeric ^ 100000

select 1::int8 << 64, 1 << 32

select chr(0)

select chr(-1)

select substring('abc' from 1 for -1)

select left(null, 1), nullif(null, 1)

-- differs: the text must not hold a word that makes a DuckLake client retry
select date '2024-01-01' + '1 day'

select '12:00'::time - '11:00'::time, date '2024-01-01' - 1

select sqrt(-1)

select ln(0)

select power(0, -1)

select ('a', 'b') = ('a')

select (1, 2) = (1, 2, 3)

select 1 in ()

select * from t where

-- A token is read before it is asked whether it may stand there.
select '{not json'::json

select '{not-json'::json

select '{"a" nope}'::jsonb

select '{"a": 1 "b"}'::json

select '{"a": 1, true}'::json

select '[1 tru]'::json

select '[1 2]'::json

select '[1 2x]'::json

select '[1 "a\q"]'::json

select '[1 "open'::json

select '{. }'::json

select '[true.5]'::json

select '[nul]'::json

select '1 äöü'::json

select '{é: 1}'::json

select '"open'::json

select '{"a": "open\'::json

select '["open'::jsonb
