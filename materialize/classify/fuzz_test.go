package classify

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// seeds are scripts around the edges of the lexical rules.
var seeds = []string{
	"", ";", " ; -- x\n;", "SELECT 1", "SET a = 1; SELECT ';' -- ;\n, \"a;b\" /* ; /* ; */ */ FROM t",
	"SELECT $$;$$, $a$;$$;$a$, $1, a$$;b", "SELECT E'\\';' -- x\n'\\';'; SELECT 'a\\';", "// x\nSELECT 7//2\n// 3\n;// y",
	"WITH update AS (SELECT 1) (FROM update)", "SELECT 'a", "SELECT \"a", "SELECT /* /* */", "\ufeffSELECT\u00a01;\u3000FROM t",
	"SELECT {partition}, '{partition}', E'{partition}', $${partition}$$, \"{partition}\" -- {partition}", "a\r\n//b\r-- c\rd",
}

// FuzzSplit: statements are where the script says, and put together again they are the
// same ones.
func FuzzSplit(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) { checkSplit(t, script) })
}

func checkSplit(t rapid.TB, script string) {
	covered := 0
	for s := newScanner(script); ; {
		tok, ok := s.next()
		if !ok {
			break
		}
		if tok.start != covered || tok.end <= tok.start {
			t.Fatalf("%q: token %+v after %d", script, tok, covered)
		}
		covered = tok.end
	}
	list := Split(script)
	texts := make([]string, len(list))
	for i, st := range list {
		texts[i] = st.Text
		before := script[:st.Offset]
		if line := strings.Count(before, "\n") + 1; line != st.Line {
			t.Errorf("%q: %+v is in line %d", script, st, line)
		}
		if col := st.Offset - strings.LastIndexByte(before, '\n'); col != st.Col {
			t.Errorf("%q: %+v is in column %d", script, st, col)
		}
		if st.Text == "" || script[st.Offset] != st.Text[0] {
			t.Errorf("%q: %+v begins elsewhere", script, st)
		}
	}
	again := Split(strings.Join(texts, ";\n"))
	if len(again) != len(list) {
		t.Fatalf("%q: %q become %+v", script, texts, again)
	}
	for i := range again {
		if again[i].Text != texts[i] {
			t.Errorf("%q: %q becomes %q", script, texts[i], again[i].Text)
		}
	}
}

// FuzzClassify: a script is taken as a whole, or its error says why.
func FuzzClassify(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := Classify(text)
		if (script == nil) == (err == nil) {
			t.Fatalf("%q: %v, %v", text, script, err)
		}
		if err != nil {
			if err.(*Error).Error() == "" || strings.ContainsAny(err.(*Error).Snippet, "\n\r\t") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if n := len(Split(text)); len(script.Setup) != n-1 || ClassOf(script.Output.Text) != Output {
			t.Errorf("%q: %+v of %d", text, script, n)
		}
	})
}

// FuzzSubstitutePartition: no value gets out of its place.
func FuzzSubstitutePartition(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "2026-07-05")
		f.Add(s, `a'b"c\$$;-- /*`)
	}
	f.Fuzz(func(t *testing.T, sql, value string) { checkSubstitute(t, sql, value) })
}

func checkSubstitute(t rapid.TB, sql, value string) {
	kinds := func(text string) []kind {
		var list []kind
		for s := newScanner(text); ; {
			tok, ok := s.next()
			if !ok {
				return list
			}
			if tok.kind != tokSpace {
				list = append(list, tok.kind)
			}
		}
	}
	// The value may itself hold a placeholder, which is text.
	plain, got := kinds(SubstitutePartition(sql, "x")), kinds(SubstitutePartition(sql, value))
	if len(plain) != len(got) {
		t.Fatalf("%q with %q: %q", sql, value, SubstitutePartition(sql, value))
	}
	for i := range plain {
		if plain[i] != got[i] {
			t.Fatalf("%q with %q: %q", sql, value, SubstitutePartition(sql, value))
		}
	}
	if _, open := split(sql); open == nil {
		if n := len(Split(SubstitutePartition(sql, value))); n != len(Split(sql)) {
			t.Errorf("%q with %q has %d statements", sql, value, n)
		}
	}
	if !HasPartition(sql) && SubstitutePartition(sql, value) != sql {
		t.Errorf("%q with %q: changed", sql, value)
	}
	if HasPartition(sql) && SubstitutePartition(sql, value) == sql && value != placeholder {
		t.Errorf("%q with %q: not changed", sql, value)
	}
}

// pieces are what random scripts are made of.
var pieces = []string{
	"SELECT", "a", "1", " ", "\n", "\r", ";", "'", "''", "\\", "\"", "$$", "$t$", "$", "E'", "e", "--", "//", "/", "/*", "*/", "*", "(", ")", ",",
	"{partition}", "WITH", "AS", "\u00a0", "ä", "#", "U&'", "x'a'",
}

func TestRandomScripts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		script := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(r, "script"), "")
		checkSplit(r, script)
		checkSubstitute(r, script, strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(r, "value"), ""))
		_, _ = Classify(script)
	})
}
