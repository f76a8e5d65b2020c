select regexp_count('baaac','a*'), regexp_count('abcabc', 'b', 3), regexp_count('abc', 'B', 1, 'i'), regexp_count('日本日', '日', 2), regexp_count('abc', 'c', 10)

select array(select regexp_matches('baaac','a*','g')), array(select regexp_matches('a1b2','(\w)(\d)','g'))

select regexp_replace('baaac','a*','X','g'), regexp_split_to_array('baaac','a*'), regexp_split_to_array('abc',''), regexp_split_to_array(',a,,b,',',')

select substring('a"b"c"d' similar '%#"%#"%#"' escape '#')

select substring('hello' similar 'h#"%#"o' escape '#'), substring('hello' similar 'x#"%#"o' escape '#'), substring('abcabc' similar '%#"b%#"_' escape '#'), substring('hello' similar 'h%' escape '#'), substring('hello', 'h#"e#"%', '#'), substring('hello' similar null escape '#')

select substring('abc' similar '%##"' escape '##')

select substring('Thomas' similar '%#"o_a#"_' escape '#'), substring('a%b' similar 'a#%#"_#"' escape '#')

select regexp_replace('abc','b','x','3')

select regexp_replace('abcb','b','x',1,-1)

select regexp_replace('abcb','b','x',0,1)

select regexp_replace('abcbcb', 'b', 'X', 3), regexp_replace('abcbcb', 'b', 'X', 1, 0), regexp_replace('abcbcb', 'b', 'X', 1, 2), regexp_replace('abcbcb', 'B', 'X', 1, 3, 'i'), regexp_replace('aaa', 'a', 'X', 2, 0), regexp_replace('abc', 'x', 'X', 9)

select regexp_instr('abc','b',0)

select regexp_instr('abc','b',1,0)

select regexp_instr('abc','b',1,1,2)

select regexp_instr('abc','(b)',1,1,0,'g')

select regexp_instr('abc','(b)',1,1,0,'z')

select regexp_instr('abc','(b)',1,1,0,'i',-1)

select regexp_instr('banana','an'), regexp_instr('banana','an',3), regexp_instr('banana','an',1,2), regexp_instr('banana','an',1,1,1), regexp_instr('banana','(a)(n)',1,2,0,'',2), regexp_instr('abc','(b)',1,1,0,'i',2), regexp_instr('abc', 'z'), regexp_instr('日本日', '日', 2), regexp_instr('banana', 'ana', 3)

select regexp_like('abc','b','g')

select regexp_like('aBc', 'b'), regexp_like('aBc', 'b', 'i'), regexp_like(null, 'b')

select regexp_substr('abc','(b)(c)',1,1,'',2), regexp_substr('abc','(b)(c)'), regexp_substr('banana', 'n.', 1, 2), regexp_substr('abc', 'x'), regexp_substr('banana', 'an.', 4), regexp_substr('aBc', 'b', 1, 1, 'i')

select regexp_substr('abc', 'b', 1, 1, 'g')

select regexp_count('abc','b',1,'g')

select regexp_count('abc','b',0)

select regexp_matches('abc','b','z')

select regexp_match('abc','b','g')

select regexp_split_to_array('abc','b','g')

select regexp_replace('abc','b','x','1z')

select unistr('\zz')

select unistr('\D83D\DE00\+01F600\u0041\U0001F600\\'), unistr('abc'), unistr('')

select unistr('\D83D')

select unistr('\D83Dx')

select unistr('\DE00')

select unistr('\D83D\0041')

select unistr('\0000')

select unistr('\+110000')

select unistr('\00')

select unistr('a\')

select normalize('e' || chr(769)) = 'é', normalize('é', nfd) = 'é', length(normalize('é', nfd)), normalize('ﬁ', nfkc), normalize('ﬁ', nfkd), normalize('', nfc)

select 'a' is nfc normalized, 'é' is nfd normalized, 'é' is not nfd normalized, 'é' is normalized, null is normalized

select collation for ('x'), collation for ('x' collate "C"), collation for (1)

select collation for ('x'), collation for ('x' collate "C"), collation for ('a'::name), collation for ('a'::text), collation for (array['a']), collation for (null)

select right('abc', -2147483648), left('abc', -2147483648), right('abc', -1), left('abc', -1), right('abc', -5), right('abc', 2147483647)

select overlay('abc' placing 'x' from 2147483647 for 1)

select overlay('abc' placing 'x' from 0)

select overlay('abc' placing 'x' from 2 for -1), overlay('abcdef' placing '日本' from 3), overlay('abc' placing '' from 2 for 1), overlay('abc' placing 'x' from 10), overlay('abc', 'x', 1, 2)

select overlay('\x010203'::bytea placing '\xff' from 2), overlay('\x010203'::bytea placing '\xff' from 2 for 0), overlay('\x010203'::bytea placing '\xff' from 3 for -2), overlay('\x01'::bytea placing '\xff' from 9)

select make_interval(years => 2147483647, months => 2147483647, weeks => 2147483647)

select make_interval(secs => 'NaN')

select make_interval(secs => 1e300)

select make_interval(years => null, months=>1), make_interval(1,null), make_interval(), make_interval(1, 2, 3, 4, 5, 6, 7.5), make_interval(days => 10, secs => -1.5)

select make_interval(hours => 2147483647, mins=>2147483647, secs=>1e12)

select array_positions(array[1,null,1],null), array_positions(null::int[],1), array_positions('{}'::int[],1), array_positions('[5:7]={1,2,1}'::int[],1), array_positions(array['a','b'],'b')

select array_positions(array[[1,2],[1,3]],1)

select array_position(array[[1,2],[1,3]],1)

select array_position(array[1],1,null)

select array_position(array[1,2,1],1,2), array_position(array[1,2,1],1,-5), array_position('[5:7]={1,2,1}'::int[],1,6), array_position(array[1,null],null)

select pg_catalog.json_object('{a,b}','{1,2}'), jsonb_object('{a,b}','{1,null}'), pg_catalog.json_object('{{a,1},{b,2}}'), pg_catalog.json_object('{}'), jsonb_object('{}', '{}'), jsonb_object('{a,1,a,2}')

select pg_catalog.json_object('{{a,b,1}}')

select pg_catalog.json_object('{{{a},{1}}}')

select pg_catalog.json_object('{a,null}','{1,2}')

select pg_catalog.json_object('{null,a}')

select pg_catalog.json_object('{{a,b}}','{{1,2}}')

select pg_catalog.json_object('{a,b}','{1}')

select pg_catalog.json_object('{a,b,c}')
