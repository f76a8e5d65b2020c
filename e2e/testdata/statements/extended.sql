create table t (i int, b bigint, s text, n numeric(10, 2), d date, ts timestamp, tz timestamptz, f float8, ok bool, u uuid, a int[], j jsonb, y bytea, v varchar(5)); insert into t (i, b, s) values (1, 10, 'one'), (2, 20, 'two'), (3, null, null)

-- params: 1
select $1 + 1

-- params: 1
select $1::int

-- params: abc
select $1

-- params: abc | def
select $1 || $2

-- params: int8:5
select $1 + 1, pg_typeof($1)

-- params: 5 | 7
select $1::int2 + $2::int8

-- params: 2
select * from t where i = $1

-- params: 15
select i, s from t where b > $1 order by i

-- params: one
select i from t where s = $1

-- params: NULL
select i from t where s is not distinct from $1 order by i

-- params: 1 | 2
select i from t where i in ($1, $2) order by i

-- params: {1,3}
select i from t where i = any ($1) order by i

-- params: {1,NULL,3}
select $1::int[], array_length($1::int[], 1), $1::int[] @> array[1]

-- params: _int4:{1,2}
select unnest($1) + 1

-- params: _text:{a,"b c",NULL}
select $1, cardinality($1)

-- params: 2
select i from t order by i limit $1

-- params: 1 | 1
select i from t order by i limit $1 offset $2

-- params: NULL
select i from t order by i limit $1

-- params: -1
select i from t order by i limit $1

-- params: x
select i from t order by i limit $1

-- params: int4:2
select i from t order by i limit $1

-- params: 4 | forty | 12.345
insert into t (i, s, n) values ($1, $2, $3) returning i, s, n

-- params: 5 | NULL
insert into t (i, s) values ($1, $2)

-- params: text:6 | six
insert into t (i, s) values ($1, $2)

-- params: 2024-02-29 | 2024-02-29 12:34:56.789 | 2024-02-29 12:34:56+02 | 1.5 | t
insert into t (i, d, ts, tz, f, ok) values (7, $1, $2, $3, $4, $5) returning d, ts, tz, f, ok

-- params: 6b8f0f3e-7a3e-4b7e-9c1d-0123456789ab | {1,2} | {"a": [1, 2]} | \x00ff | abc
insert into t (i, u, a, j, y, v) values (8, $1, $2, $3, $4, $5) returning u, a, j, y, v

-- differs: constants are evaluated when the statement runs, not when it is bound
-- params: abcdef
insert into t (i, v) values (9, $1)

-- params: x
insert into t (i) values ($1)

-- params: 1 | 2
insert into t (i, s) select $1, 'sel' || $2 returning *

-- params: 100 | 1
update t set b = $1 where i = $2

-- params: 1 | 2
update t set b = b + $1 where i = $2 returning i, b

-- params: new | 7
update t set s = $1 where i >= $2 returning i, s

-- params: 8
delete from t where i = $1 returning i, u

-- params: 4 | 5
delete from t where i between $1 and $2

-- params: 1
select case when $1 = 1 then 'one' else 'other' end

-- params: 1 | 2.5
select case when true then $1 else $2::numeric end

-- params: 5
select coalesce($1, 'none')

-- params: NULL | 5
select coalesce($1, $2::int)

-- params: 3 | 5
select greatest($1, 4), nullif($2, 5)

-- params: a% | A_
select 'abc' like $1, 'ab' ilike $2

-- params: b
select regexp_replace('abc', $1, 'X')

-- params: 2024-01-01
select $1::date + 1, date_trunc('month', $1::timestamp), extract(year from $1::date)

-- params: date:2024-01-01 | interval:1 day 02:03:04
select $1 + $2, pg_typeof($1 + $2)

-- params: timestamptz:2024-01-01 00:00:00+00
select $1 at time zone 'America/New_York'

-- params: 1 day
select now() - $1 < now(), $1::interval * 2

-- params: '12:34:56'
select $1::time + interval '1 hour'

-- params: 1.50 | 2
select $1::numeric * $2, round($1::numeric, 1), $1::numeric / 7

-- params: float4:1.5 | float8:2.25 | int2:3
select $1, $2, $3, $1 + $2, $2 * $3

-- params: NaN | Infinity
select $1::float8, $2::float8, $1::numeric

-- params: bool:true | false
select $1 and $2, not $1

-- params: bool:yes
select $1

-- params: bytea:\x0001ff
select $1, length($1), encode($1, 'hex')

-- params: uuid:6b8f0f3e-7a3e-4b7e-9c1d-0123456789ab
select $1, $1::text

-- params: json:{"a": 1} | jsonb:{"b":  2}
select $1, $2, $1 ->> 'a', $2 -> 'b'

-- params: a
select '{"a": {"b": 1}}'::jsonb -> $1, '{"a": 1}'::jsonb ? $1

-- params: 1
select '[10, 20]'::jsonb -> $1

-- params: name:pg_class | oid:1259
select $1, $2, $2::regclass

-- params: varchar:abc | bpchar:de  
select $1, $2, length($2), $1 || $2

-- params: char:x
select $1, pg_typeof($1)

-- params: 23
select typname from pg_type where oid = $1

-- params: t
select relname, relkind from pg_class where relname = $1

-- params: 'public' | t
select table_name from information_schema.tables where table_schema = $1 and table_name = $2

-- params: 
select 1

-- params: 1
select 1

-- params: 1 | 2
select $2

-- params: 1
select $2::int, $1

-- params: int4:1
select $1, $2::text

-- params: 1
select $1, $1 + 1

-- params: 1
select $1 + 1, $1 || 'x'

-- params: 1
select $1::text, $1 + 1

-- params: 1
select sum($1::int), count(*), max(i) from t

-- params: 2
select i % $1, count(*) from t group by i % $1 order by 1

-- params: 2
select i % $1 as m, count(*) from t group by 1 having count(*) > $1 - 1 order by 1

-- params: 1 | x
select * from (values ($1, $2)) v(a, b)

-- params: 1 | 2.5
values ($1), ($2::numeric)

-- params: 1 | x
values ($1::int, $2), (2, 'y')

-- params: 3
select * from generate_series(1, $1) g

-- params: 1 | 3
select * from generate_series($1::int, $2::int) g where g <> 2

-- params: 1
select (select $1::int + count(*) from t where i > $1)

-- params: 1
select exists (select 1 from t where i = $1), i = $1 from t order by i limit 2

-- params: 1
with c as (select i from t where i = $1) select * from c

-- params: 3
with recursive r(n) as (select 1 union all select n + 1 from r where n < $1) select * from r

-- params: 1
select i, row_number() over (order by i desc) + $1 from t order by i limit 2

-- params: 1
select lag(i, $1) over (order by i) from t order by i limit 2

-- params: 0.5
select percentile_cont($1) within group (order by i) from t

-- params: x
select $1::int

-- params: 99999999999
select $1::int

-- differs: constants are evaluated when the statement runs, not when it is bound
-- params: 0
select 1 / $1

-- differs: constants are evaluated when the statement runs, not when it is bound
-- params: int4:2147483647
select $1 + 1

-- params: 1
select nosuch($1)

-- params: 1
select nosuch from t where i = $1

-- params: 1
select $1 +

-- params: 1
select $1 from nosuch

-- params: 1
select i from t where $1 order by i

-- params: t
select i from t where $1 order by i limit 1

-- params: 1
select $1 is null, $1 is not null

-- params: 1
select $1 is null

-- params: 1 | 2
select $1 = $2

-- params: 1 | 2
select $1 < $2, $1 between $2 and $1

-- params: 1 | 2
select ($1, $2) = (1, 2), row($1::int, $2::text)

-- params: 1 | 2
select array[$1, $2], array[$1::int, $2]

-- params: {1,2,3} | 2
select ($1::int[])[$2], ($1::int[])[1:$2]

-- params: 1
select $1 union select 2

-- params: a
select $1 union all select 'b' order by 1

-- params: 1
select i from t where i = $1 union select 5 order by 1

-- params: 1
select distinct $1 from t

-- params: 1
select $1 from t order by $1 limit 1

-- params: 1
select i from t order by $1, i limit 1

-- params: 1
create table x as select $1

-- params: 1
create table x (i int default $1)

-- params: 1
select set_config('application_name', $1, false)

-- params: 
show application_name

-- params: 
begin

-- params: 
select txid_current() > 0

-- params: 
commit

-- params: 
select i from t order by i limit 1; select 2

-- params: 

-- params: 
-- nothing but a comment

-- params: 1
declare c cursor for select $1

-- differs: EXPLAIN shows this server's own plan
-- params: 1
explain (costs off) select 1 from t where false and i = $1

-- params: 1
copy (select $1) to stdout

-- params: regclass:pg_class
select $1::oid, $1::text

-- differs: the text must not hold a word that makes a DuckLake client retry
-- params: 1
select to_char($1, '999'), to_char($1::int, '999')

-- params: 2024-01-05
select to_char($1::date, 'YYYY"x"MM')

-- params: 5 | abc
select lpad($2, $1, '*'), substring($2 from 2 for 1), position('b' in $2), left($2, 2)

-- params: 5
select concat('a', $1), format('%s-%s', $1, 1)

-- params: 1
select json_build_object('a', $1), jsonb_build_array($1::int, 2)

-- params: 1
select pg_typeof($1), pg_typeof($1::int8)

-- params: int4:1 | unknown:x
select pg_typeof($1), $2

-- params: 705:x
select $1

-- differs: PostgreSQL answers with an internal error
-- params: 999999:x
select $1

-- params: int4:abc
select $1

-- params: 1 | 2 | 3
select $1::int + $2::int

## named statements and portals

-- protocol
parse s1 (int4): select i, s from t where i >= $1 order by i
describe statement s1
bind p1 s1 (1)
describe portal p1
execute p1 1
execute p1 1
execute p1
execute p1
close portal p1
execute p1
sync

-- protocol
parse s2: select generate_series(1, $1::int) as n
bind - s2 (5)
execute - 2
execute - 2
execute - 2
sync
bind - s2 (2) binary
describe portal -
execute -
sync
close statement s2
bind - s2 (2)
sync

-- protocol
parse s3: select 1
parse s3: select 2
sync
describe statement s3
bind - s3
execute -
sync
close statement s3
sync

-- protocol
parse - (int4): select $1
bind - - (1)
execute -
parse -: select 'again'
bind - -
execute -
execute -
sync

-- protocol
bind - nosuch
sync
execute nosuch
sync
describe statement nosuch
sync
describe portal nosuch
sync
close statement nosuch
close portal nosuch
sync

-- protocol
parse s4: select $1::int, $2::text
bind - s4 (1)
sync
bind - s4 (1 | 2 | 3)
sync
bind - s4 (x | 2)
sync
bind - s4 (1 | 2) 0 1
describe portal -
execute -
sync
bind - s4 (1 | 2) 0 1 0
sync
bind - s4 (1 | 2) 7
execute -
sync
bind - s4 (\x00000005 | \x6869)
execute -
sync
bind - s4 (\x0005 | \x6869)
sync
bind - s4 (\x0000000500 | \x6869)
sync
bind - s4 (\x00000005 | \xff)
sync
close statement s4
sync

-- differs: constants are evaluated when the statement runs, not when it is bound
-- protocol
parse s5: select 1 / $1::int
bind - s5 (0)
execute -
bind - s5 (1)
execute -
sync
bind - s5 (1)
execute -
sync
close statement s5
sync

-- protocol
query begin
parse s6: select i from t where i < $1 order by i
bind a s6 (3)
bind b s6 (2)
execute a 1
execute b 1
execute a 1
execute b 1
execute a 1
sync
execute a 1
sync
query commit
execute a 1
sync
close statement s6
sync

-- protocol
parse s7: select i from t order by i
bind a s7
bind a s7
sync
bind a s7
execute a 1
sync
execute a 1
sync
close statement s7
sync

-- protocol
query begin
parse s8: insert into t (i, s) values ($1, $2) returning i
bind a s8 (50 | a)
bind b s8 (51 | b)
execute a
execute b
execute a
sync
query rollback
close statement s8
sync

-- protocol
parse s9: insert into t (i, s) values ($1, 'portal') returning i, s
bind a s9 (60)
execute a 1
execute a 1
sync
query select count(*) from t where i = 60
query delete from t where i = 60
close statement s9
sync

-- protocol
parse s10: update t set s = s || $1 where i = $2 returning s
bind a s10 (! | 7)
execute a 1
execute a
sync
query select i, s from t where i = 7 order by i, s
close statement s10
sync

-- protocol
parse -: begin
bind - -
execute -
parse -: select 1
bind - -
execute -
sync
parse -: nosuch
sync
parse -: select 1
sync
parse -: rollback
bind - -
execute -
sync

-- differs: a statement is planned again when it runs, not when it is bound
-- protocol
parse s11: select * from t where i = $1
query alter table t add column extra int default 7
bind - s11 (1)
execute -
sync
close statement s11
parse s12: select extra from t where i = $1
bind - s12 (1)
execute -
sync
query alter table t drop column extra
bind - s12 (1)
execute -
sync
close statement s12
sync

-- protocol
parse -: 
describe statement -
bind - -
describe portal -
execute -
sync

-- protocol
parse -: select 1; select 2
sync
parse -: select $1; select 2
sync

-- protocol
parse -: set application_name = 'ext'
bind - -
describe portal -
execute -
sync
query show application_name
query reset application_name

-- protocol
parse s13: select $1::int as a, $2::text as b, $3::numeric as c
bind - s13 (NULL | NULL | NULL) binary
execute -
sync
bind - s13 (1 | x | 1.50) 1 0 1
describe portal -
execute -
sync
query execute s13 (2, 'y', 3)
query deallocate s13
bind - s13 (1 | 2 | 3)
sync

-- protocol
query prepare q1 (int) as select $1 + 1 as n
describe statement q1
bind - q1 (41)
execute -
sync
query deallocate q1

-- protocol
query begin
query declare c1 cursor for select i from t order by i
execute c1 1
execute c1 1
sync
query fetch 1 from c1
query close c1
query rollback

-- protocol
query begin
parse s14: select i from t order by i
bind cur s14
execute cur 1
sync
query close cur
execute cur 1
sync
query rollback
close statement s14
sync

-- protocol
query begin
query savepoint a
parse s15: select i from t order by i
bind p s15
execute p 1
sync
query rollback to a
execute p 1
sync
query rollback
close statement s15
sync

-- protocol
parse -: copy (select 1 union all select 2) to stdout
bind - -
describe portal -
execute -
sync

-- protocol
parse s16 (int4, int4): select $1
describe statement s16
bind - s16 (1 | 2)
execute -
sync
close statement s16
sync

-- protocol
parse - (int4, 0): select $1, $2
describe statement -
sync
parse - (0): select $1 = i from t
describe statement -
sync
parse -: select i from t where i = $1 and b = $2 and s = $3 and n = $4 and d = $5 and ts < $6 and tz > $7 and f = $8 and ok = $9 and u = $10 and a = $11 and j = $12 and y = $13 and v = $14
describe statement -
sync
parse -: insert into t values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
describe statement -
sync
parse -: update t set i = $1, n = $2, d = $3, v = $4 where tz = $5
describe statement -
sync

-- protocol
parse -: select pg_sleep(0), $1
flush
bind - - (1)
flush
execute -
sync
