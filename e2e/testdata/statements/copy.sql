create table t (i int, s text, b bytea); insert into t values (1, 'a', '\x00'), (2, E'tab\there', null), (3, E'back\\slash', '\xff'), (4, '', ''), (5, null, null)

copy t to stdout

copy (select i, s from t order by i desc) to stdout

copy (select i, s from t order by i) to stdout (format csv)

copy (select i, s from t order by i) to stdout with (format csv, header, null 'NIL', delimiter ';', quote '~')

copy (select i, s from t order by i) to stdout (null 'N', delimiter '|')

copy t (s, i) to stdout (format text)

copy t to stdout (format nosuch)

copy nosuch to stdout

copy t (nosuch) to stdout

copy (select 1/0) to stdout

copy (select i from t limit 1) to stdout (format "text");
