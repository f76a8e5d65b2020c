select jsonb_path_exists('{"a": [1, 2]}', '$.a[*] ? (@ > 1)'), jsonb_path_exists('{"a": 1}', '$.b'), jsonb_path_exists('{"a": 1}', 'strict $.b', silent => true), jsonb_path_exists('{"a": [1,2,3]}', '$.a[*] ? (@ > $x)', '{"x": 2}')

select jsonb_path_query('{"a": [1, "x", {"b": null}, [5]]}', '$.a[*]')

select jsonb_path_query_array('{"a": [1, 2, 3]}', '$.a[*] ? (@ >= 2)'), jsonb_path_query_first('{"a": [1, 2, 3]}', '$.a[*] ? (@ > 5)'), jsonb_path_query_first('[3, 1]', '$[*]')

select '{"a": 1}'::jsonb @? '$.a', '{"a": 1}'::jsonb @? '$.b', '{"a": 1}'::jsonb @@ '$.a == 1', '{"a": 1}'::jsonb @@ '$.a', '{"a": 1}'::jsonb @? 'strict $.b', '{"a": 1}'::jsonb @@ '$.b > 1'

select jsonb_path_match('{"a": [1,2,3,4,5]}', 'exists($.a[*] ? (@ >= $min && @ <= $max))', '{"min":2, "max":4}'), jsonb_path_match('1', '$ > 0')

select jsonb_path_match('1', '$')

select jsonb_path_match('1', '$', silent => true), jsonb_path_match('null', '$ == null')

select '$'::jsonpath, '$.a.b'::jsonpath, 'strict $."a b"[*]'::jsonpath, 'lax $.a'::jsonpath, '$[0, 1 to 3, last]'::jsonpath, '$.*'::jsonpath, '$.**'::jsonpath, '$.**{2}'::jsonpath, '$.**{1 to last}.a'::jsonpath, '$.**{last}'::jsonpath

select '$.a ? (@ > 1 && @.b == "x" || !(@ < 3))'::jsonpath, '$.a + 1'::jsonpath, '($.a + 1) * 2'::jsonpath, '$.a + 1 * 2 - 3'::jsonpath, '-$.a'::jsonpath, '-1'::jsonpath, '1.50'::jsonpath, '1e3'::jsonpath, '.5'::jsonpath, '$x + $"y z"'::jsonpath

select '$.a ? (exists (@.b))'::jsonpath, '$.a ? ((@ > 1) is unknown)'::jsonpath, '$.a ? (@ starts with "x")'::jsonpath, '$.a ? (@ like_regex "^a" flag "i")'::jsonpath, '$.a.type()'::jsonpath, '$.a.size().abs()'::jsonpath, '$.a.datetime()'::jsonpath, '$.a.datetime("HH24")'::jsonpath, '"a\tb"'::jsonpath, 'null'::jsonpath, 'true'::jsonpath

select '$.a == 1'::jsonpath, '$.a <> 1'::jsonpath, '($.a == 1)'::jsonpath, '!($.a == 1)'::jsonpath, '$.a == 1 && $.b == 2 || $.c == 3'::jsonpath, '$.a == 1 && ($.b == 2 || $.c == 3)'::jsonpath, '$ ? (@.a == 1) ? (@.b == 2).c'::jsonpath, '(1).type()'::jsonpath, '1.type()'::jsonpath

select ''::jsonpath

select '$.'::jsonpath

select '$ a'::jsonpath

select '@'::jsonpath

select 'last'::jsonpath

select '$.a ? (@)'::jsonpath

select '$.a ? (1)'::jsonpath

select '$[1'::jsonpath

select '"abc'::jsonpath

select '$.a.foo()'::jsonpath

select '1a'::jsonpath

-- differs: the regular expressions' compiler has messages of its own
select '$ ? (@ like_regex "(")'::jsonpath

select '$ ? (@ like_regex "a" flag "z")'::jsonpath

select '$ ? (@ like_regex "a" flag "x")'::jsonpath

select '$.a && $.b'::jsonpath

select '$.a /* comment */ .b'::jsonpath, '$.a.true.null.last.to.is'::jsonpath, '$.type'::jsonpath

select jsonb_path_query('{"a": 1}', 'strict $.b')

select jsonb_path_query('{"a": 1}', '$.b')

select jsonb_path_query('[1]', 'strict $.a')

select jsonb_path_query('[{"a": 1}, {"a": 2}, {"b": 3}]', '$.a')

select jsonb_path_query('[{"a": 1}, {"b": 3}]', 'strict $[*].a')

select jsonb_path_query('1', 'strict $.*')

select jsonb_path_query('1', 'strict $[*]')

select jsonb_path_query('1', '$[*]'), jsonb_path_query('1', '$[0]')

select jsonb_path_query('1', 'strict $[0]')

select jsonb_path_query('[1]', 'strict $[1]')

select jsonb_path_query('[1]', '$[1]')

select jsonb_path_query('[1, 2, 3, 4]', '$[1 to 2]'), jsonb_path_query('[1, 2, 3]', '$[last]'), jsonb_path_query('[1, 2, 3]', '$[last - 1]'), jsonb_path_query('[1, 2, 3]', '$[1.7]')

select jsonb_path_query('[1, 2, 3]', '$["a"]')

select jsonb_path_query('[1, 2, 3]', '$[10000000000]')

select jsonb_path_query('[1, 2, 3]', '$[-1]'), jsonb_path_query('[1, 2, 3]', '$[0, 0, last to last]')

select jsonb_path_query('{"a": {"b": [1, {"c": 2}]}}', '$.**')

select jsonb_path_query('{"a": {"b": [1, {"c": 2}]}}', '$.**{2}'), jsonb_path_query('{"a": {"b": [1, {"c": 2}]}}', '$.**{last}')

select jsonb_path_query('{"a": {"b": [1, {"c": 2}]}}', '$.**{1 to 2}.b'), jsonb_path_query('{"a": {"c": 1}, "c": 2}', 'strict $.**.c')

select jsonb_path_query('[1, "a", null, true, [2], {"b": 3}]', '$[*].type()')

select jsonb_path_query('[1, "a", [2, 3], {"b": 3}]', '$[*].size()')

select jsonb_path_query('[1, "a"]', 'strict $[*].size()')

select jsonb_path_query('[-1.5, 2.5]', '$.abs()'), jsonb_path_query('[-1.5, 2.5]', '$.floor()'), jsonb_path_query('[-1.5, 2.5]', '$.ceiling()')

select jsonb_path_query('["a"]', '$.abs()')

select jsonb_path_query('["a"]', 'strict $.abs()')

select jsonb_path_query('["1.5", 2, "1e3"]', '$[*].double()')

select jsonb_path_query('["x"]', '$[*].double()')

select jsonb_path_query('[true]', '$[*].double()')

select jsonb_path_query('["inf"]', '$[*].double()')

select jsonb_path_query('1e1000', '$.double()')

select jsonb_path_query('[1, 2, "x", 3]', '$[*].double()', silent => true)

select jsonb_path_query('{"a": 1, "b": [2]}', '$.keyvalue()')

select jsonb_path_query('{"a": 1, "b": [2]}', '$.keyvalue() ? (@.key == "b").value'), jsonb_path_query('[{"a": 1}]', '$.keyvalue().key')

select jsonb_path_query('1', '$.keyvalue()')

select jsonb_path_query('2', '$ + 3'), jsonb_path_query('2', '$ * 3.5'), jsonb_path_query('7', '$ / 2'), jsonb_path_query('7', '$ % 4'), jsonb_path_query('7', '1 - $ - 2'), jsonb_path_query('[1, 2]', '-$'), jsonb_path_query('[7]', '$ + 1'), jsonb_path_query('2', '-$ + +$ * (1 + 1)')

select jsonb_path_query('7', '$ / 0')

select jsonb_path_query('7', '$ / 0', silent => true)

select jsonb_path_query('"a"', '$ + 1')

select jsonb_path_query('[1, 2]', '$ + 1')

select jsonb_path_query('[1, 2]', '1 + $')

select jsonb_path_query('"a"', '-$')

select jsonb_path_query('[1, 2]', 'strict -$')

select jsonb_path_query('[1, 2, 3, "x", null]', '$[*] ? (@ > 1)'), jsonb_path_query('[1, 2, "x", null]', '$[*] ? ((@ > 1) is unknown)'), jsonb_path_query('[1, null]', '$[*] ? (@ == null)'), jsonb_path_query('[1, null]', '$[*] ? (@ != null)')

select jsonb_path_query('[1, "1", true, "true"]', '$[*] ? (@ == "true" || @ == true)'), jsonb_path_query('["a", "b", "B"]', '$[*] ? (@ >= "a")'), jsonb_path_query('[false, true]', '$[*] ? (@ > false)'), jsonb_path_query('[[1], [2]]', '$[*] ? (@ == 1)')

select jsonb_path_query('[[1, 2], [3]]', 'strict $[*] ? (@ == 1)')

select jsonb_path_query('["abc", "abd", "xyz", 1]', '$[*] ? (@ starts with "ab")'), jsonb_path_query('["abc", "ABC"]', '$[*] ? (@ like_regex "^a")'), jsonb_path_query('["abc", "ABC", "b"]', '$[*] ? (@ like_regex "^a" flag "i")'), jsonb_path_query('["a.c", "abc"]', '$[*] ? (@ like_regex "a.c" flag "q")'), jsonb_path_query('["abc", "abd"]', '$[*] ? (@ starts with $p)', '{"p": "abd"}')

select jsonb_path_query('{"a": [{"b": 1, "c": "x"}, {"b": 2, "c": "y"}]}', '$.a[*] ? (@.b > 1 && @.c == "y")'), jsonb_path_query('{"a": [{"b": 1}, {"c": 2}]}', '$.a[*] ? (exists (@.b))'), jsonb_path_query('{"a": [{"b": 1}, {"c": 2}]}', '$.a[*] ? (!exists (@.b))'), jsonb_path_query('{"a": [{"b": 1}, {"c": 2}]}', '$.a ? (@.b == 1).b')

select jsonb_path_query('[1, 2]', '$[*] > 1'), jsonb_path_query('[1, 2]', '$ == 1 && $ == 2'), jsonb_path_query('"a"', '$ > 1'), jsonb_path_query('1', '!($ > 1)'), jsonb_path_query('1', '($ > "a") is unknown')

select jsonb_path_query('1', '$x')

select jsonb_path_query('1', '$x', '[1]')

select jsonb_path_query('1', '$x', '{"x": [1, 2]}'), jsonb_path_query('1', '$x[*] + $y', '{"x": 1, "y": 2}'), jsonb_path_query('1', '$"x y"', '{"x y": "z"}')

select jsonb_path_query('["2024-01-02", "12:34:56", "2024-01-02 12:34:56", "2024-01-02 12:34:56 +02", "12:34:56+03:30", "2024-01-02T12:34:56"]', '$[*].datetime()')

select jsonb_path_query('["2024-01-02", "12:34:56", "2024-01-02 12:34:56", "2024-01-02 12:34:56 +02", "12:34:56+03:30"]', '$[*].datetime().type()')

select jsonb_path_query('"x"', '$.datetime()')

select jsonb_path_query('1', '$.datetime()')

select jsonb_path_query('["2024-01-02", "2024-01-03", "2024-01-03 01:00:00"]', '$[*].datetime() ? (@ >= "2024-01-03".datetime())')

select jsonb_path_query('["2024-01-02 12:34:56 +02", "2024-01-03"]', '$[*].datetime() ? (@ >= "2024-01-03".datetime())')

select jsonb_path_query_tz('["2024-01-02 12:34:56 +02", "2024-01-03"]', '$[*].datetime() ? (@ >= "2024-01-02".datetime())'), jsonb_path_exists_tz('["2024-01-02"]', '$[*].datetime() ? (@ < "2024-01-02 12:34:56 +02".datetime())')

select jsonb_path_exists(null, '$'), jsonb_path_query_array('[]', '$[*]'), jsonb_path_query('[]', '$[*]'), jsonb_path_query_first('{}', '$.a')

create table t (i int, j jsonb, p jsonpath); insert into t values (1, '{"a": [1, 2], "n": "x"}', '$.a[*]'), (2, '{"a": 5}', '$.a'), (3, null, null)

select i, jsonb_path_query(j, p) from t order by i

select i, j @? p, j @@ '$.a[*] > 1' from t order by i

select i, x from t, jsonb_path_query(j, '$.a[*]') x order by 1, 2

select p, pg_typeof(p), p::text from t order by i

select jsonb_path_query('["2024-01-02 12:34:56-03:30"]', '$.datetime()')

select array['$.a'::jsonpath, '$.b']

select p from t order by p

select '$.a'::jsonpath = '$.a'

select jsonb_path_query('{"a": [{"b": [1, 2]}, {"b": [3]}]}', '$.a.b'), jsonb_path_query('{"a": [{"b": [1, 2]}, {"b": [3]}]}', '$.a[*].b[*] ? (@ > 1)')

select jsonb_path_query('{"\"": 1, "a\nb": 2}', '$."\""'), jsonb_path_query('{"a\nb": 2}', '$."a\nb"'), jsonb_path_query('{"é": 2}', '$."\u00e9"'), jsonb_path_query('{"é": 3}', '$.é')
