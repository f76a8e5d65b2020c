select 1

select 1 as one, 2 two, 3 "Three"

select

select from t

select distinct a from t

select distinct on (a, b) a, b, c from t order by a, b, c desc

select all a from t

select * from t

select t.* from t

select s.t.* from s.t

select t.*, u.a from t, u

select a.b.c.d from x

select "A" from "T"

select "a""b" from t

select U&"d\0061t\+000061" from t

select U&"d!0061t" UESCAPE '!' from t

select 'it''s'

select 'a' 
  'b'

select 'a' -- comment
  'b'

select 'a' 'b'

select E'a\nb\\c\'d\x41\101\u0041\U00000041'

select e'\q'

select U&'\0041\+000042'

select U&'!0041' uescape '!'

select U&'\D83D\DE00'

select b'1010', x'1FF', B'', X''

select n'abc'

select $$abc$$, $tag$a $$ b$tag$, $_é$x$_é$

select $a$ $b$ $a$

select 1.5, .5, 1., 1e10, 1.5e-3, 1E+5, 0.0

select 1234567890123456789012345678901234567890

select 9223372036854775807, 9223372036854775808, 2147483647, 2147483648

select -1, +1, - -1, -(-1)

select - - 1

select 1 + 2 * 3 - 4 / 5 % 6 ^ 7

select (1 + 2) * 3

select 2 ^ 3 ^ 4

select -2 ^ 2

select a or b and c from t

select not a and b from t

select not not a from t

select a = b and c <> d or e != f from t

select a < b, a <= b, a > b, a >= b from t

select a < b = c

select a = b = c

select a < b < c

select a is null from t

select a is not null, a isnull, a notnull from t

select a is null is null

select a is true, a is not true, a is false, a is not false, a is unknown, a is not unknown from t

select a is distinct from b, a is not distinct from b from t

select a is distinct from b is null

select a = b is null

select 1 is distinct from 2 is distinct from 3

select a between 1 and 2 from t

select a not between 1 and 2 and b from t

select a between symmetric 2 and 1, a not between asymmetric 1 and 2 from t

select a between 1 and 2 between 3 and 4

select a between 1 + 2 and 3 * 4 and c from t

select a between b and c or d

select a in (1, 2, 3), a not in (1) from t

select a in (select b from u) from t

select a in ((select b from u)) from t

select a in ((select b from u), 1) from t

select a in ((1), (2)) from t

select (a, b) in ((1, 2), (3, 4)) from t

select (a, b) in (select c, d from u) from t

select a in (1) in (true)

select a like 'x%', a not like 'y', a ilike 'z', a not ilike 'w' from t

select a like 'x' escape '!' from t

select a like b like c

select a similar to 'x', a not similar to 'y' escape '#' from t

select a like any (array['x']), a not ilike all (select b from u) from t

select a = any (array[1,2]), a <> all (array[1]), a < some (select 1) from t

select a = any ('{1,2}'::int[]) from t

select a = any (values (1), (2))

select 1 + any (array[1])

select a || b || c from t

select a ~ 'x', a !~ 'y', a ~* 'z', a !~* 'w' from t

select a ~~ b, a !~~ b from t

select @ -5, |/ 4, ||/ 8, ~ 5

select 5 !

select a -> 'b' ->> 'c', a #> '{x}', a #>> '{y}', a @> b, a <@ b, a ? 'k', a ?| b, a ?& b from t

select a <-> b, a && b, a -|- b, a << b, a >> b, a & b, a | b, a # b from t

select 1 operator(pg_catalog.+) 2

select operator(pg_catalog.-) 2

select a operator(pg_catalog.~) '^(x)$' collate pg_catalog.default from t

select a operator(+) b

select 1 operator

select 1 at

select 1*-2, 1*+2, 1 -2, 1--2

select 1 <-1, 1 @-1, 1 @- 1

select a*/* comment */b

select a /* nested /* comment */ still */ from t

select a + -- comment
  b from t

select a::int, a::int::text, a::numeric(10,2), a::varchar(3)[] from t

select -1::int, (-1)::int, - 1::int2

select cast(a as int), cast(a as double precision), cast('x' as character varying(10)) from t

select cast(a as timestamp with time zone), cast(a as timestamp(3) without time zone) from t

select a::timestamptz(3), a::time(2) with time zone, a::time from t

select a::interval, a::interval(3), a::interval year to month, a::interval day to second(2), a::interval second(3) from t

select a::interval day to month

select a::float, a::float(24), a::float(53), a::real, a::double precision, a::decimal(5), a::dec from t

select a::float(54)

select a::float(0)

select a::bit, a::bit(3), a::bit varying, a::bit varying(5) from t

select a::char, a::char(3), a::character, a::character varying, a::nchar(2), a::national character varying(3), a::"char" from t

select a::pg_catalog.int4, a::s.t, a::"My Type", a::s.t(1,2)[] from t

select a::int array, a::int array[3], a::int[3][], a::int[][] from t

select a::setof int from t

select a::int(3) from t

select a::text(3) from t

select a::foo(b) from t

select a::foo('1') from t

select a::numeric(-1, 2)

select a::numeric()

select date '2020-01-01', time '10:00', timestamp '2020-01-01 10:00', timestamptz '2020-01-01', time with time zone '10:00+1', timestamp(3) with time zone 'now'

select interval '1 day', interval '1' day, interval '1-2' year to month, interval(3) '1 second', interval '1' second(2), interval '1 2:03' day to minute

select interval(3) '1' day

select int '1', int4 '2', bigint '3', float '1.5', float(3) '2', numeric '1', numeric(3,1) '1.5', decimal '1', boolean 't', real '1'

select bit '101', bit varying '1', bit(3) '101', varchar 'x', varchar(3) 'xyz', char 'x', character varying 'y', nchar 'z', double precision '1'

select json '{}', jsonb '[]', uuid 'x', inet '::1', point '(1,2)', bytea '\x00', "char" 'a', s.mytype 'x', mytype(3) 'y'

select regclass 'pg_class', regclass('pg_class')

select 'x'::regclass::oid

select array[1,2,3], array[[1,2],[3,4]], array[]::int[], array['a', 'b']::text[]

select array[1,[2]]

select array[[1],2]

select array[[[]]]

select array(select 1), array((select 1)), array(values (1))

select a[1], a[1:2], a[:2], a[1:], a[:], a[1][2], a[i+1] from t

select t.a[1], t.a[1].b, (t.a)[1], (a).b, (a).*, (t.a).b.c from t

select (array[1,2])[1], (select array[1])[1], ((select array[1]))[1]

select array[1,2][1]

select f(1)[1]

select $1, $2::int, $1.a, $1[2]

select row(1, 2), row(), row(1), (1, 2), (1, (2, 3)), row(t.*) from t

select (row(1,2)).f1

select (1,2) = (3,4), row(1,2) < row(1,3), (1,2) is null, (1,2) is distinct from (1,2)

select (1)

select ((1))

select ()

select (1,)

select case when a then 1 end, case when a then 1 when b then 2 else 3 end, case x when 1 then 'a' else 'b' end from t

select case end

select case when 1 then 2

select case x else 1 end

select exists (select 1), not exists (select 1 from t), exists ((select 1))

select exists (select)

select (select 1), (select 1) + 2, ((select 1)) * 3, (select 1 union select 2)

select ((select 1) union (select 2))

select (((select 1) union (select 2)) limit 1)

select ((select 1) + 1)

select (select 1) union (select 2)

select ((select 1), 2)

select (values (1))

select (table t)

select coalesce(a, b, 1), nullif(a, 0), greatest(1, 2, 3), least(a) from t

select coalesce()

select nullif(1)

select nullif(1, 2, 3)

select current_date, current_time, current_timestamp, localtime, localtimestamp, current_time(3), current_timestamp(0), localtime(1), localtimestamp(6)

select current_user, session_user, user, current_role, current_catalog, current_schema, current_schema(), current_schemas(true)

select current_date()

select current_user()

select extract(year from a), extract('epoch' from a), extract(dow from now()), extract("week" from a) from t

select extract(from a)

select extract(all from a)

select extract(year, a)

select position('a' in 'abc'), position(a || b in c)

select position('a', 'b')

select substring('abc' from 1), substring('abc' from 1 for 2), substring('abc' for 2), substring('abc' for 2 from 1), substring('abc', 1, 2), substring('abc' from 'b'), substring('abc' similar 'x' escape '#')

select substring('a' similar 'b')

select substring()

select overlay('abc' placing 'x' from 1), overlay('abc' placing 'x' from 1 for 2), overlay('abc', 'x', 1)

select trim('  x '), trim(both from ' x'), trim(both 'x' from 'xax'), trim(leading from 'x'), trim(trailing 'x' from 'y'), trim('x' from 'y'), trim('x', 'y')

select trim()

select normalize('x'), normalize('x', nfc), 'x' is normalized, 'x' is not nfkd normalized

select collation for ('x')

select count(*), count(distinct a), count(all a), sum(a) filter (where b > 0), string_agg(a, ',' order by b desc) from t

select array_agg(a order by b, c nulls first) filter (where d) over (partition by e) from t

select percentile_cont(0.5) within group (order by a) from t

select rank(1, 2) within group (order by a, b desc) filter (where c) from t

select f(distinct a, b order by a), f(variadic array[1]), f(a, variadic b) from t

select f(distinct variadic a)

select f(a => 1, b => 2), f(a := 1), f(1, b => 2)

select f(*, 1)

select f(distinct *)

select f()

select s.f(1), db.s.f(2), "F"(3), left('abc', 1), right('abc', 1), overlaps(1, 2)

select row_number() over (), rank() over (order by a), sum(a) over w, sum(b) over (w order by c) from t window w as (partition by d)

select sum(a) over (order by b rows between unbounded preceding and current row) from t

select sum(a) over (rows 1 preceding), sum(a) over (range between interval '1' day preceding and '1 day' following), sum(a) over (groups between 1 following and 2 following exclude ties) from t

select sum(a) over (order by b rows between 1 preceding and 1 following exclude current row), sum(a) over (order by b rows unbounded preceding exclude group), sum(a) over (rows current row exclude no others) from t

select sum(a) over (rows unbounded following)

select sum(a) over (rows between current row and 1 preceding)

select sum(a) over (rows between 1 following and current row)

select sum(a) over (rows between 1 preceding and unbounded preceding)

select sum(a) over (partition by b order by c)

select sum(a) over (range)

select lag(a, 1, 0) over (partition by b order by c desc nulls last) as prev from t

select grouping(a, b), a, b from t group by rollup (a, b)

select a from t group by a, (b, c), rollup (d, (e, f)), cube (g), grouping sets ((a), (b, c), (), rollup (d))

select a from t group by ()

select a from t group by distinct a, b

select a from t group by all a

select a from t group by a having count(*) > 1

select a from t having true

select a from t where

select a from t where b = 1 group by

select * from a, b, c

select * from a join b on a.x = b.x

select * from a inner join b using (x, y)

select * from a left join b on true right join c on true full outer join d using (x) as j

select * from a cross join b natural join c natural left join d

select * from a left outer join b on true

select * from a join b

select * from a natural join b on true

select * from a cross join b on true

select * from a join b join c on true on true

select * from a join (b join c on true) on true

select * from (a join b on true) as j

select * from (a cross join b)

select * from ((a cross join b))

select * from (a)

select * from ((a))

select * from (a join b on true) join c on true

select * from (select 1) as x

select * from (select 1) x(a)

select * from (select 1)

select * from (values (1)) 

select * from (values (1, 'a'), (2, 'b')) as v(id, name)

select * from ((select 1)) as x

select * from ((select 1) union (select 2)) as x

select * from ((select 1) x cross join t)

select * from (((select 1) x join t on true) join u on true)

select * from a, lateral (select * from b where b.x = a.x) s

select * from a left join lateral (select 1) s on true

select * from lateral f(1) as x, lateral s.g(2) y

select * from generate_series(1, 10)

select * from generate_series(1, 10) as g

select * from generate_series(1, 10) g(i)

select * from generate_series(1, 10) with ordinality as g(i, n)

select * from json_to_record('{}') as x(a int, b text collate "C")

select * from f() as (a int, b text)

select * from f() x(a int)

select * from unnest(array[1,2]) as u(v), s.f(1)

select * from current_date

select * from coalesce(1, 2) as c

select * from cast(1 as int) as c

select * from rows from (f(1), g(2)) as x

select * from f(1) over ()

select * from t tablesample bernoulli (10) repeatable (1)

select * from t as x tablesample system (5)

select * from only t, only (u), v *

select * from t as a(x, y)

select * from t a (x, y)

select * from t as select

select * from t left

select * from s.t as "T T", db.s.t2

select * from a.b.c.d

select * from t order by a, b desc, c asc nulls first, d desc nulls last, e using <, f using operator(pg_catalog.>)

select * from t order by

select * from t order by 1, 2 limit 10 offset 5

select * from t offset 5 limit 10

select * from t limit all

select * from t limit null offset null

select * from t limit 1, 2

select * from t limit 1 limit 2

select * from t offset 1 offset 2

select * from t offset 5 rows

select * from t offset 5 row fetch first 3 rows only

select * from t fetch first row only

select * from t fetch next 5 rows with ties

select * from t fetch first (1 + 2) rows only

select * from t fetch first -1 rows only

select * from t order by a fetch first 2 rows with ties

select * from t for update

select * from t for no key update of t nowait

select * from t for share skip locked

select * from t for key share of t, u for update

select * from t for read only

select * from t limit 1 for update

select * from t for update limit 1

select * from t for update limit 1 for share

select 1 union select 2

select 1 union all select 2 union distinct select 3

select 1 intersect select 2 except all select 3

select 1 union select 2 intersect select 3

(select 1) union (select 2) order by 1 limit 1

select 1 union (select 2 order by 1 limit 1)

select 1 order by 1 union select 2

(select 1 order by 1) union select 2

(select 1)

((select 1))

(select 1) limit 1

((select 1) limit 1) limit 2

(select 1 order by 1) order by 1

(select 1 limit 1) order by 1

select 1 union

union select 1

values (1), (2)

values (1, 'a'), (2, default)

values (1) union values (2) order by 1

values ()

values

table t

table only t

table t union all table u order by 1

with a as (select 1) select * from a

with recursive a(n) as (select 1 union all select n + 1 from a where n < 10) select * from a

with a as materialized (select 1), b as not materialized (select 2) select * from a, b

with a as (insert into t values (1) returning *) select * from a

with a as (update t set x = 1 returning y), b as (delete from u returning *) select * from a, b

with a as (values (1)) insert into t select * from a

with a as (select 1) update t set x = 1 from a

with a as (select 1) delete from t using a

with a as (select 1) (select * from a)

with a as (select 1) (with b as (select 2) select * from b)

with a as (select 1) table a

with a (select 1) select 1

with a as select 1 select 2

with a as (with b as (select 1) select * from b) select * from a

with recursive t(n) as (select 1) search depth first by n set o select * from t

with recursive t(n) as (select 1) cycle n set c using p select * from t

select a into b from c

select a into temp table b from c

select a as select, b as from from t

select a order from t

select a "order" from t

select a year from t

select a as year, b as over from t

select a over from t

select a filter from t

select a name, b value, c type, d key, e path, f format from t

select key, value, type, path, sql, format, transform, expression, dialect, scope, tid, cid from t

select name, text, date, time, timestamp, interval, int, char, bit, values, row, position, coalesce from t

select user.a from t

select left from t

select "left" from t

select natural from t

select between, setof, out, inout, national, none, nullif, treat from t

select end from t

select offset from t

select default

select a default from t

select 1 where true

select 1 from t where a = 1 and (b = 2 or c = 3) and not d

select * from t where current of c

select t.xmin, ctid, tableoid::regclass from t

select a collate "C" < b collate pg_catalog."default" from t

select a collate "C" collate "D"

select - a collate "C" from t

select now() at time zone 'UTC', ts at time zone 'a' at time zone 'b' from t

select - a at time zone 'x' from t

select (a, b) overlaps (c, d) from t

select row(a, b) overlaps row(c, d) from t

select (a, b, c) overlaps (d, e) from t

select a overlaps b from t

select unique (select 1)

select xmlelement(name foo)

select treat(a as int)

select merge_action()

select 'a' is json

select 1 is of (int)

select a.b.c from t

select a. b from t

select a .b from t

select .5.5

select 1..2

select 1.2.3

select 1a

select 1_000

select 0x10

select 0b1

select 1e

select 1e+

select 1.5e5x

select $1a

select $0

select $99999999999

select 'abc

select "abc

select ""

select $$abc

select $tag$abc$$

select /* abc

select E'abc\

select b'10

select x'1

select E'\u12'

select E'\U0011FFFF'

select E'\uD800'

select E'\xff'

select U&'\12'

select U&'x' uescape 'ab'

select U&'x' uescape '+'

select U&'x' uescape

select \

select {

select @

select `

select 1 +

select + from t

select 1 2

select 1 'a'

select a b c from t

select a, from t

select , a from t

select a from , t

select a from t,

select a from t where a = = b

select a from t where a in ()

select a from t where a in 1

select a from t group a

select a from from t

selec 1

select 1;; select 2;

;

;;;

select 1; selec 2

select 1 select 2

(select 1

select 1)

select (1

select a[1 from t

select f(1 from t

select f(1,) from t

insert into t values (1)

insert into t values (1, 'a', null, true, default, -1.5, now())

insert into t(a, b) values (1, 2), (3, 4)

insert into t (a) select 1

insert into t (select 1)

insert into t ((select 1))

insert into t (values (1))

insert into t (values) values (1)

insert into t (with a as (select 1) select * from a)

insert into t with a as (select 1) select * from a

insert into t table u

insert into t default values

insert into t (a) default values

insert into s.t as x (a) values (1) returning x.a, *

insert into t as set values (1)

insert into t x values (1)

insert into t values (1) returning a as b, c d

insert into t values (1) on conflict do nothing

insert into t values (1) on conflict (a) do nothing

insert into t values (1) on conflict (a, lower(b)) where a > 1 do update set a = excluded.a, b = default where t.c returning *

insert into t values (1) on conflict on constraint t_pkey do update set (a, b) = (1, 2)

insert into t values (1) on conflict do update set a = 1

insert into t values (1) on conflict

insert into t overriding system value values (1)

insert into t (a) overriding user value select 1

insert into t(a.b, c[1]) values (1, 2)

insert into t

insert t values (1)

insert into t set a = 1

insert into t() values (1)

insert into t values(0,9,'add1',1, NULL);

insert into "s".ducklake_snapshot VALUES (1, NOW(), 0, 1, 0);

insert into t values (1) order by 1 limit 1

insert into t values ('a''b', E'\n', 1e5, .5, $1, cast('x' as uuid), '2020-01-01'::date)

update t set a = 1

update t set a = 1, b = default, c = c + 1 where d = 2 returning *

update only t as x set a = 1

update t x set a = 1

update t set set a = 1

update t * set a = 1

update s.t set (a, b) = (1, 2), (c) = row(3), (d, e) = (select 1, 2)

update t set a.b = 1

update t set a[1] = 2

update t set a = 1 from u, v join w on true where t.x = u.x

update t set a = 1 where current of c

update t set

update t set a

update t a = 1

update t set a = 1 order by b

update t set a = b = c

update "s"."t" SET "value" = "update_data_x-y"."value" FROM "update_data_x-y" WHERE "t".ctid=__page_id_string::TID

WITH new_values(tid, cid) AS ( VALUES (2, 1),(3, 4) ) UPDATE S.t SET contains_null=CAST(new_contains_null AS BOOLEAN) FROM new_values WHERE table_id=tid AND column_id=cid;

delete from t

delete from only t as x using u, v where x.a = u.a returning *

delete from t x where a in ('(0,1)','(0,2)')

delete from t where current of c

delete t

delete from t set

delete from t where

delete from t using

truncate t

truncate table t, only u, s.v * restart identity cascade

truncate t continue identity restrict

truncate

COPY (SELECT "a", "b" FROM "S"."tbl" WHERE "table_id" = '2' AND ("x" >= '1' AND "x" <= '3') LIMIT 5 OFFSET 2) TO STDOUT (FORMAT "binary");

COPY (SELECT NULL FROM "S"."t" ) TO STDOUT (FORMAT "binary");

COPY "S"."tbl" FROM STDIN (FORMAT BINARY)

COPY "S"."tbl" ("c1", "c2") FROM STDIN (FORMAT BINARY)

COPY "update_data_1-2" FROM STDIN (FORMAT TEXT, NULL '')

COPY (select 'a' collate "C") to stdout

copy t from stdin

copy t to stdout

copy t(a, b) from stdin with (format csv, header, delimiter ',', null 'x', quote '"', escape '\', force_null (a, b), force_quote *, encoding 'utf8', freeze off)

copy t from stdin (header match, format 'csv', header true, header 1)

copy t from stdin binary

copy binary t from stdin

copy t from stdin with binary

copy t from stdin csv header

copy t from stdin with csv header quote as '"' escape '\' force not null a, b delimiter ','

copy t to stdout with null as '' delimiter as '|' csv force quote *

copy t to stdout csv force quote a, b

copy t from stdin csv force null a encoding 'latin1' freeze

copy t from stdin using delimiters '|' with null as ''

copy t from '/tmp/x'

copy t to program 'cat'

copy t from program stdin

copy t from stdout

copy t to stdin

copy t from stdin where a > 1

copy t to stdout where a > 1

copy (select 1) from stdin

copy (insert into t values (1) returning *) to stdout

copy (update t set a = 1 returning a) to stdout with (format binary)

copy (with a as (select 1) select * from a) to stdout

copy (values (1)) to stdout

copy (table t) to stdout

copy t from

copy t from stdin (format)

copy t from stdin ()

copy t from stdin (null -1)

copy (select 1 union select 2) to stdout

copy ((select 1)) to stdout

create table t ()

create table t (a int)

create table if not exists s.t (a int not null, b text default 'x', c int primary key, d int unique, e int check (e > 0), f int references u(g) on delete cascade on update set null)

CREATE TABLE "public"."ducklake_snapshot"("snapshot_id" BIGINT PRIMARY KEY, "snapshot_time" TIMESTAMP WITH TIME ZONE, "schema_version" BIGINT);

CREATE TABLE IF NOT EXISTS "s".ducklake_inlined_delete_1(file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT);

create table IF NOT EXISTS"x"(a int)

create temp table t (a int) on commit drop

CREATE LOCAL TEMPORARY TABLE "update_data_1-2"("value" VARCHAR, __page_id_string VARCHAR) ON COMMIT DROP;

create global temp table t (a int) on commit preserve rows

create temporary table t (a int) on commit delete rows

create unlogged table t (a int)

create local table t (a int)

create table t (a int, primary key (a), unique (b, c), constraint x check (a > 0), foreign key (a) references u, constraint y unique nulls not distinct (z))

create table t (a int constraint x not null constraint y default 1 null)

create table t (a int not null default 1 + 2 primary key)

create table t (a int default (1), b text default now(), c text default 'a' || 'b', d int default -1)

create table t (a int default 1 in (2))

create table t (a int default not true)

create table t (a int default 1 is null)

create table t (a serial, b bigserial primary key, c smallserial)

create table t (a int generated always as identity, b int generated by default as identity (start 5 increment 2))

create table t (a int generated always as (b + 1) stored)

create table t (a int generated always as (b + 1))

create table t (a int generated by default as (b + 1) stored)

create table t (a text collate "C" not null, b varchar(10) collate pg_catalog.default)

create table t (a int deferrable initially deferred)

create table t (a int references u deferrable initially immediate, b int references v match full not deferrable)

create table t (a numeric(10, 2)[], b timestamp(3), c interval day to second, d double precision[3], e bit varying(5))

create table t (a int) with (fillfactor = 70, autovacuum_enabled = false, toast.x = 1)

create table t (a int) without oids

create table t (a int) tablespace x

create table t (a int) using heap

create table t (a int) inherits (u, v)

create table t (a int) partition by range (a, lower(b))

create table t partition of u for values from (1) to (2)

create table t of mytype

create table t (like u)

create table t (like u including all excluding indexes, b int)

create table t (a int compression lz4)

create table t (a int storage plain)

create table t (exclude using gist (a with =) where (b))

create table t (exclude int, key text, value text, type text, path text, sql text, format text)

create table t as select 1

create table t (a, b) as select 1, 2

create table if not exists t as select 1 with no data

create temp table t on commit drop as select 1 with data

create table t with (fillfactor = 10) as values (1)

create table t as execute p

create table t as table u

create table t

create table t (a)

create table t (a int,)

create table t (a int b)

create table t (int)

create table (a int)

create table t (a int primary)

create table t (a int default)

create table t (a double)

create table t (a double precision precision)

create or replace table t (a int)

create index i on t (a)

create index on t (a)

create unique index concurrently if not exists i on only s.t using btree (a desc nulls last, lower(b) collate "C" text_ops, (c + d) asc) include (e) with (fillfactor = 10) where f > 0

create unique index i on t (a) nulls not distinct

create index i on t (a text_pattern_ops (x = 1))

create index if not exists on t (a)

create index i on t

create index i on t (a + b)

create index i on t (s.f(a))

create view v as select 1

create or replace temp view s.v (a, b) with (security_barrier) as select 1, 2 with cascaded check option

create view v as (select 1) union (select 2)

create view v as values (1)

create view v as with a as (select 1) select * from a

create recursive view v (n) as select 1

create materialized view if not exists v as select 1 with no data

create view v as insert into t values (1)

create schema s

create schema if not exists s

CREATE SCHEMA  IF NOT EXISTS"My sch"

create schema s authorization bob

create schema authorization bob

create schema authorization current_user

create schema if not exists authorization bob

create schema

create schema s create table t (a int)

create database d

create database d with owner = bob template template0 encoding 'UTF8' connection limit 5

create database d owner bob

create database if not exists d

drop database d

drop database if exists d

drop database d with (force)

drop database d (force, force)

drop database d with

drop table t

drop table if exists s.t, u cascade

DROP Table IF EXISTS "s"."t"

DROP Table  IF EXISTS "s"."t"CASCADE

DROP SCHEMA "x"CASCADE

DROP SCHEMA  IF EXISTS "x" restrict

drop schema a, b cascade

drop view v

drop materialized view if exists v

drop index concurrently if exists i, j

drop sequence s

drop type t

drop domain d cascade

drop table

drop table if t

drop t

drop function f(int)

drop role bob

drop user bob

drop extension x

drop trigger a on b

drop owned by bob

alter table t add column a int

alter table t add a int

ALTER TABLE "s"."t" ADD COLUMN  IF NOT EXISTS "c" DOUBLE DEFAULT 1.5

ALTER TABLE "s"."t" ADD COLUMN  "c" BLOB

ALTER TABLE s.t ADD COLUMN c VARCHAR DEFAULT 'x'

alter table only t add column a int not null default 5, drop column b, drop if exists c cascade, alter column d set default 1, alter e drop default

alter table if exists t alter column a set not null, alter column a drop not null, alter a type bigint using a::bigint, alter b set data type text collate "C"

alter table t rename to u

alter table t rename column a to b

alter table t rename a to b

alter table t rename constraint a to b

alter table t set schema s

alter table t owner to bob

alter table t owner to current_user

alter table t add primary key (a)

alter table t add constraint x unique (a, b), add constraint y foreign key (a) references u (b) not valid, add check (a > 0)

alter table t drop constraint if exists x cascade

alter table t validate constraint x

alter table t enable trigger all

alter table t disable row level security

alter table t set (fillfactor = 50)

alter table t set tablespace x

alter table t cluster on i

alter table t inherit u

alter table t attach partition u for values in (1)

alter table t alter column a set statistics 100

alter table t alter column a add generated always as identity

alter table t alter column a set storage plain

alter table t replica identity full

alter table t rename column a to b, drop column c

alter table t

alter table t foo

alter table t add

alter table t add column

alter table t drop

alter table t alter a

alter table t rename

alter view v rename to w

alter view if exists v set schema s

alter index i rename to j

alter materialized view v rename to w

alter schema s rename to t

alter schema s owner to bob

alter database d rename to e

alter database d set x = 1

alter role bob with password 'x'

alter sequence s restart

alter function f() owner to bob

alter type t add value 'x'

alter system set x = 1

comment on table t is 'x'

comment on table s.t is null

comment on column s.t.c is 'x'

comment on column c is 'x'

comment on view v is E'x\n'

comment on schema s is $$x$$

comment on database d is 'x'

comment on index i is 'x'

comment on function f(int) is 'x'

comment on table t

begin

begin work

begin transaction

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;

begin isolation level serializable, read write, not deferrable

begin read only deferrable

begin isolation level read uncommitted read only

begin isolation level foo

begin,

begin read only,

start transaction

start transaction read only

start

commit

commit work and chain

commit and no chain

end

end transaction

commit prepared 'x'

rollback

rollback work

abort

abort and chain

rollback and no chain

rollback to a

rollback to savepoint a

rollback work to savepoint a

rollback prepared 'x'

savepoint a

release a

release savepoint a

prepare transaction 'x'

savepoint

set transaction isolation level serializable

set transaction read only

set transaction snapshot '00000003-0000001B-1'

set transaction

set session characteristics as transaction isolation level read committed, read only

set local transaction isolation level serializable

set x = 1

set x to 1

set x to default

set x = default

set x = 'a', b, 1.5, -2, on, true, false, off

set local x = 'y'

set session x = 'y'

set a.b.c = 1

set search_path to "$user", public

set search_path = a, b

set time zone 'UTC'

set time zone local

set time zone default

set time zone -5

set time zone 5.5

set time zone utc

set time zone interval '1' hour

set time zone interval '-08:00' hour to minute

set time zone interval '1' day

set timezone = 'UTC'

set timezone to -7

set session authorization bob

set session authorization default

set local session authorization 'bob'

set role bob

set role none

set role 'x'

set names 'utf8'

set names

set names default

set schema 'x'

set xml option document

set constraints all deferred

set constraints a, s.b immediate

set client_encoding to utf8

set extra_float_digits = 3

set statement_timeout = '5s'

set datestyle to iso, mdy

set x

set x =

set x = select

set x = 1 2

set x from current

set local = 1

set session = 1

set names = 1

set role = 1

set time = 1

set catalog 'x'

show x

show all

show a.b

show time zone

show transaction isolation level

show session authorization

show server_version

show

reset x

reset all

reset time zone

reset transaction isolation level

reset session authorization

reset a.b

discard all

discard plans

discard sequences

discard temp

discard temporary

discard

discard foo

prepare p as select 1

prepare p (int, text) as select $1, $2

prepare p as insert into t values ($1) returning *

prepare p as prepare q as select 1

prepare p () as select 1

execute p

execute p (1, 'a', $1)

execute p ()

deallocate p

deallocate prepare p

deallocate all

deallocate prepare all

deallocate prepare

declare c cursor for select 1

declare c binary insensitive no scroll cursor with hold for select 1

declare c scroll cursor without hold for select * from t for update

declare c cursor for insert into t values (1)

fetch c

fetch next from c

fetch 5 from c

fetch -5 in c

fetch all c

fetch all from c

fetch forward c

fetch forward 5 from c

fetch forward all in c

fetch backward all from c

fetch absolute -1 from c

fetch relative 2 c

fetch first from c

fetch last c

fetch prior from c

fetch next

fetch from c

fetch first

fetch

move 5 in c

move forward all from c

close c

close all

explain select 1

explain analyze select 1

explain verbose select 1

explain analyze verbose select 1

explain (analyze, verbose off, format json, costs false, buffers on) select 1

explain (select 1)

explain ((select 1))

explain (analyze) (select 1)

explain insert into t values (1)

explain update t set a = 1

explain delete from t

explain create table t as select 1

explain create table t (a int)

explain execute p

explain declare c cursor for select 1

explain begin

explain

explain (format) select 1

explain () select 1

listen c

listen "C"

unlisten c

unlisten *

notify c

notify c, 'payload'

notify c, payload

vacuum

vacuum t

vacuum full freeze verbose analyze s.t (a, b), u

vacuum (full, analyze, parallel 4) t

vacuum analyze

analyze

analyze verbose t (a)

analyze (verbose, skip_locked) t, u

analyse t

checkpoint

reindex table t

reindex index concurrently i

reindex database d

reindex (verbose) table t

reindex

cluster

cluster t using i

cluster verbose t

cluster i on t

lock t

lock table t, only u in access exclusive mode nowait

lock t in share row exclusive mode

lock t in share update exclusive mode

lock t in foo mode

lock table t in exclusive

call f(1, 2)

call s.f()

call f

do $$ begin end $$

do language plpgsql 'x'

do

create role bob with login password 'x'

create user bob

create group g

create function f(a int) returns int language sql as $$ select 1 $$

create or replace function f() returns void begin atomic select 1; select 2; end

create procedure p() language sql begin atomic insert into t values (1); end

create trigger x before insert on t for each row execute function f()

create type t as enum ('a', 'b')

create type t as (a int, b text)

create domain d as int check (value > 0)

create extension if not exists x

create sequence s start 1

create temp sequence s

create rule r as on insert to t do instead nothing

create aggregate a (int) (sfunc = x, stype = int)

create policy p on t

create publication p for all tables

create subscription s connection 'x' publication p

create cast (int as text) without function

create operator + (leftarg = int)

create statistics s on a, b from t

create server s foreign data wrapper w

create foreign table f (a int) server s

create event trigger e on ddl_command_start execute function f()

create language l

create tablespace x location '/tmp'

create collation c from "C"

create access method m type table handler h

create text search configuration c (parser = p)

create

create foo

grant select on t to bob

grant all on all tables in schema s to public with grant option

grant a to b

revoke select on t from bob cascade

grant

revoke

reassign owned by a to b

refresh materialized view v

security label on table t is 'x'

import foreign schema s from server x into y

load 'x'

merge into t using u on t.a = u.a when matched then update set b = 1 when not matched then insert values (1)

alter default privileges in schema s grant select on tables to bob
