create table t (i int, s text, n numeric(6, 2)); create table c (a text, b text); create table b (i int, s text, f float8, ok bool, d date, a int[], u uuid, n numeric, j jsonb, ts timestamp)

-- copyin: 1\tone\t1.5\n2\ttwo\t\\N\n
copy t from stdin

-- copyin: 3\tthree\t1\n\\.\n
copy t from stdin

-- copyin: 4\tfour\t1\n\\.\n5\tfive\t1\n
copy t from stdin

-- copyin: 6\tsix\t1\n\\.
copy t from stdin

-- copyin: 7\tseven\t1
copy t from stdin

-- copyin: 
copy t from stdin

-- copyin: \n
copy t from stdin

-- copyin: 1\tx\t1\n\\.x\n
copy t from stdin

-- copyin: 1\tx\t1\n1\\.\n
copy t from stdin

-- copyin: 1\t\\.\t1\n
copy t from stdin

-- copyin: \\.\r\n1\tx\t1\r\n
copy t from stdin

-- copyin: 1\tx\t1\r\n\\.\n
copy t from stdin

-- copyin: 1\tx\t1\n\\.\r\n
copy t from stdin

-- copyin: 1\tx\t1\r\n2\ty\t2\n
copy t from stdin

-- copyin: 1\tx\t1\n2\ty\t2\r\n
copy t from stdin

-- copyin: a\tx\t1\n
copy t from stdin

-- copyin: 1\tx\n
copy t from stdin

-- copyin: 1\tx\t1\t2\n
copy t from stdin

-- copyin: 1\tx\t123456.789\n
copy t from stdin

-- copyin: 1\ta\\tb\\nc\\\\d\\x41\\101\\q\t1\n
copy t from stdin

-- copyin: 1\t\xff\t1\n
copy t from stdin

-- differs: text may hold NUL bytes
-- copyin: 1\ta\x00b\t1\n
copy t from stdin

-- copyin: 8|eight|1\n
copy t from stdin (delimiter '|')

-- copyin: 8\tnil\tnil\n
copy t from stdin (null 'nil')

-- copyin: 8;\\;;1\n
copy t from stdin (delimiter ';')

-- copyin: 9\tnine\n
copy t (i, s) from stdin

-- copyin: nine\t9\n
copy t (s, i) from stdin

-- copyin: 10\tten\t1\n11\televen\t1\n
copy t from stdin where i > 10

truncate t

-- copyin: 1\tone\t1.5\n2\ttwo\t\\N\n
copy t from stdin

select i, s, n from t order by i, s

-- copyin: i\ts\tn\n12\tx\t1\n
copy t from stdin (header)

-- copyin: i\ts\tn\n13\tx\t1\n
copy t from stdin (header match)

-- copyin: i\tz\tn\n13\tx\t1\n
copy t from stdin (header match)

-- copyin: i\ts\n13\tx\t1\n
copy t from stdin (header match)

-- copyin: \\N\ts\tn\n13\tx\t1\n
copy t from stdin (header match)

-- copyin: i,s,n\n14,x,1\n
copy t from stdin (format csv, header match)

-- copyin: i,,n\n14,x,1\n
copy t from stdin (format csv, header match)

-- copyin: \"i\",\"s\",\"n\"\n15,x,1\n
copy t from stdin (format csv, header match)

-- copyin: s,i\nx,16\n
copy t (s, i) from stdin (format csv, header match)

-- copyin: 1,\"a,b\"\"c\nd\"\n,\"\"\n\"\",\n
copy c from stdin (format csv)

-- copyin: a,\"\"\n\"\",b\n
copy c from stdin (format csv, force_null (a, b))

-- copyin: ,\n
copy c from stdin (format csv, force_not_null (a))

-- copyin: N,N\n\"N\",\"N\"\n
copy c from stdin (format csv, null 'N', force_null (a), force_not_null (b))

-- copyin: \"\",\n
copy c from stdin (format csv, force_null (a), force_not_null (a))

-- copyin: x,\"unterminated\n
copy c from stdin (format csv)

-- copyin: x,y,z\n
copy c from stdin (format csv)

-- copyin: x\n
copy c from stdin (format csv)

-- copyin: x,\\.\n\\.\ny,z\n
copy c from stdin (format csv)

-- copyin: \"\\.\",x\n
copy c from stdin (format csv)

-- copyin: x,\"a\\\"b\"\n
copy c from stdin (format csv, escape '\')

-- copyin: x;~a,b~\n
copy c from stdin (format csv, delimiter ';', quote '~')

-- copyin: x,y\r\n\"a\r\nb\",c\r\n
copy c from stdin (format csv)

-- copyin: x,ab\"cd\"ef\n
copy c from stdin (format csv)

select * from c order by a, b

-- differs: FREEZE is accepted without effect
-- copyin: 1\tx\t1\n
copy t from stdin (freeze)

-- copyin: 1\tx\t1\n
copy t from stdin (freeze false)

begin; create table fz (i int)

-- copyin: 1\n
copy fz from stdin (freeze on)

rollback

-- copyin: 1\tx\t1\n
copy t from stdin (freeze maybe)

-- copyin: 1\tx\t1\n
copy t from stdin (encoding 'utf8')

-- copyin: 1\tx\t1\n
copy t from stdin (encoding 'nosuch')

-- copyin: x\n
copy t from stdin (force_null (s))

-- copyin: x\n
copy t from stdin (format csv, force_null (nosuch))

-- copyin: x\n
copy t (i) from stdin (format csv, force_null (s))

-- copyin: x\n
copy t (i) from stdin (format csv, force_not_null (s))

-- copyin: x\n
copy t from stdin (format csv, force_quote (s))

-- copyin: x\n
copy t from stdin (format csv, force_null *)

-- differs: the text must not hold a word that makes a DuckLake client retry
-- copyin: x\n
copy t from stdin (format csv, format text)

-- copyin: x\n
copy t from stdin (header maybe)

-- copyin: x\n
copy t from stdin (delimiter 'xx')

-- copyin: x\n
copy t from stdin (delimiter 'a')

-- copyin: x\n
copy t from stdin (delimiter)

-- copyin: x\n
copy t from stdin (null E'a\nb')

-- copyin: x\n
copy t from stdin (quote 'x')

-- copyin: x\n
copy t from stdin (escape 'x')

-- copyin: x\n
copy t from stdin (format csv, quote '')

-- copyin: x\n
copy t from stdin (format csv, quote ',')

-- copyin: x\n
copy t from stdin (format csv, null '"')

-- copyin: x\n
copy t from stdin (format binary, delimiter ',')

-- copyin: x\n
copy t from stdin (format binary, null '')

-- copyin: x\n
copy t from stdin (format binary, header)

-- copyin: 1\tx\t1\n
copy t from stdin with null as 'x' delimiter as '|'

-- copyin: 20,y,1\n
copy t from stdin csv

-- copyin: 21|y|1\n
copy t from stdin delimiters '|'

-- copyin: x\n
copy t (i, i) from stdin

-- copyin: x\n
copy t (nosuch) from stdin

-- copyin: x\n
copy nosuch from stdin

-- differs: system catalogs cannot be written
-- copyin: x\n
copy pg_class from stdin

-- copyin: x\n
copy (select 1) from stdin

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00\x02hi\xff\xff
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x05\xff\xff\xff\xff\xff\xff
copy b (i, s) from stdin (format binary)

select i, s from b

-- copyin: PGCOPX\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n
copy b (i, s) from stdin (format binary)

-- copyin: 
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x01\x00\x00\x00\x00\x00\x00
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x02\x00\x00\x00\x00\x00\x00
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\xff\xff\xff\xff
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x02x
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\xff\xff\xff\xfe
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x02\x00\x05\x00\x00\x00\x02hi\xff\xff
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x05\x00\x00\x00\x05\x00\x00\x00\x00\x02hi\xff\xff
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00\x01\xff\xff\xff
copy b (i, s) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff
copy b (ok) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x03abc\xff\xff
copy b (u) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x7f\xff\xff\xf0\xff\xff
copy b (d) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff
copy b (a) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x1c\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x09\x00\x00\x00\x07\xff\xff
copy b (a) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x1c\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x07\xff\xff
copy b (a) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x08\x00\x01\x00\x00\x00\x00\x00\x00\xff\xff
copy b (n) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x03\x02{}\xff\xff
copy b (j) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01x\xff\xffmore
copy b (s) from stdin (format binary)

copy (select 1, 'a,b', null, 'x "q"', '') to stdout (format csv, force_quote *)

copy (select 1 as i, 'ab' as s) to stdout (format csv, force_quote (s), header)

copy (select 1 as i, 'ab' as s) to stdout (format csv, force_quote (nosuch))

copy (select 1 as i) to stdout (force_quote (i))

copy (select 1 as i) to stdout (format csv, force_null (i))

copy (select 1 as i) to stdout (header match)

copy (select 1 as i, 2 as "J k") to stdout (header)

copy (select 1 as i) to stdout (freeze)

copy (select 1 as i) to stdout (format csv, force_not_null (i))

copy (select '\.' as s) to stdout (format csv)

copy (select '\.' as s) to stdout

copy (select e'a\rb\nc' as s, e'\\N') to stdout (format csv)

copy (select null, 'N') to stdout (format csv, null 'N')

copy (select true, 1.5, date '2024-01-01', array[1, null], '\x00'::bytea) to stdout (delimiter ',')

copy (select 'a,b') to stdout (delimiter ',')

truncate t; insert into t values (1, 'x', 2)

copy t (i, n) to stdout (format csv, header, delimiter '|')

copy t (i, n) to stdout (format csv, force_quote (s))

copy t (i, n) to stdout (format csv, force_quote (nosuch))

copy t to stdout (format csv, force_quote (s))

-- Numerics as binary: the scale on the wire (the last of four headers) is the sender's, what is stored and sent has the declared one.
create table scales (id int, n numeric(10, 2), m numeric, z numeric(4, 0))

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x00\x00\x03\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x00\x00\x02\x00\x05\xff\xff
copy scales from stdin (format binary)

## Trailing groups of zeros, as DuckDB writes them, and more digits than the scale says.
-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x0e\x00\x03\x00\x00\x00\x00\x00\x06\x00\x01\x04\xd2\x00\x00\x00\x00\x00\x0c\x00\x02\x00\x00\x00\x00\x00\x02\x00\x01\x04\xd2\x00\x00\x00\x0a\x00\x01\xff\xff\x00\x00\x00\x01\x13\x88\xff\xff
copy scales from stdin (format binary)

## Zero with a digit, minus zero, NaN.
-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x0a\x00\x01\x00\x00\x40\x00\x00\x01\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\xc0\x00\x00\x00\xff\xff
copy scales from stdin (format binary)

## Too large for the column, a digit that is none, a sign that is none, a scale that is none.
-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x01\x00\x00\x00\x00\x00\x01\xff\xff
copy scales (z) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x27\x10\xff\xff
copy scales (m) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x00\x12\x34\x00\x00\x00\x01\xff\xff
copy scales (m) from stdin (format binary)

-- copyin: PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x00\xff\xff\x00\x01\xff\xff
copy scales (m) from stdin (format binary)

select * from scales order by id

copy (select n, m, z from scales order by id) to stdout (format "binary");

## A raw backspace as NULL, as the client writes it; a quote behind a backslash is a quote.
-- copyin: 30\t\b\t\b\n31\ta\\"b\\b\t1\n
copy t from stdin (format text, null '')

select i, s, n from t where i >= 30 order by i
