package lex

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate/pgerr"
)

var kindNames = map[Kind]string{
	Word: "word", Quoted: "name", Integer: "int", Numeric: "num", String: "str", Bit: "bit", Hex: "hex", Param: "param",
	Op: "op", Other: "other",
}

// describeTokens scans a text and writes its tokens, a keyword as such and anything with
// a value with it.
func describeTokens(sql string) string {
	if err := Check(sql); err != nil {
		return err.Error()
	}
	l := Lexer{Src: sql}
	var out []string
	for {
		var t Token
		l.Next(&t)
		if t.Kind == EOF {
			return strings.Join(out, " ")
		}
		v := ""
		if t.Kind != Invalid {
			v = l.Value(&t)
		}
		if l.Err != nil {
			return strings.Join(append(out, fmt.Sprintf("!%s@%d %s", l.Err.Code, l.Err.Position, l.Err.Message)), " ")
		}
		switch name := kindNames[t.Kind]; {
		case t.Kw != NoKeyword:
			out = append(out, strings.ToUpper(t.Kw.String()))
		case name != "":
			out = append(out, fmt.Sprintf("%s(%s)", name, v))
		default:
			out = append(out, v)
		}
	}
}

func describeFingerprint(sql string) string {
	var out []string
	var fp FP
	for pos := 0; ; pos = fp.Next {
		Fingerprint(sql, pos, &fp)
		if fp.Empty {
			out = append(out, "empty")
			break
		}
		if !fp.Cacheable {
			out = append(out, fmt.Sprintf("not cacheable from %d", fp.Start))
			break
		}
		s := fmt.Sprintf("%q", fp.Norm)
		for i := range fp.Slots {
			s += fmt.Sprintf(" %q", fp.Text(i))
		}
		out = append(out, fmt.Sprintf("%d..%d %s", fp.Start, fp.End, s))
		if fp.Next >= len(sql) {
			break
		}
	}
	return strings.Join(out, " | ")
}

func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			lines := strings.Split(d.Input, "\n")
			if d.HasArg("whole") {
				lines = []string{d.Input}
			}
			var b strings.Builder
			for _, sql := range lines {
				if d.Cmd == "fingerprint" {
					fmt.Fprintln(&b, describeFingerprint(sql))
				} else {
					fmt.Fprintln(&b, describeTokens(sql))
				}
			}
			return b.String()
		})
	})
}

func TestControlBytesInStrings(t *testing.T) {
	l := Lexer{Src: "NULL '\b\x01\x7f'"}
	var tok Token
	l.Next(&tok)
	l.Next(&tok)
	if v := l.Value(&tok); tok.Kind != String || v != "\b\x01\x7f" {
		t.Errorf("got %v %q", tok.Kind, v)
	}
}

func TestCheck(t *testing.T) {
	for sql, want := range map[string]string{
		"select 'é€😀'":         "",
		"select '\xff'":        `invalid byte sequence for encoding "UTF8": 0xff`,
		"select '\xc3'":        `invalid byte sequence for encoding "UTF8": 0xc3 0x27`,
		"select '\xe2\x82'":    `invalid byte sequence for encoding "UTF8": 0xe2 0x82 0x27`,
		"select '\xc0\x80'":    `invalid byte sequence for encoding "UTF8": 0xc0 0x80`,
		"select '\xed\xa0\x80": `invalid byte sequence for encoding "UTF8": 0xed 0xa0 0x80`,
		"\xf0\x9f":             `invalid byte sequence for encoding "UTF8": 0xf0 0x9f`,
	} {
		err := Check(sql)
		switch {
		case err == nil && want == "":
		case err == nil || err.Code != pgerr.CharacterNotInRepertoire || err.Message != want:
			t.Errorf("%q: got %v, want %s", sql, err, want)
		}
	}
}

func TestKeywordTable(t *testing.T) {
	for k := NoKeyword + 1; k < numKeywords; k++ {
		w := k.String()
		for _, s := range []string{w, strings.ToUpper(w), strings.ToUpper(w[:1]) + w[1:]} {
			if got := LookupKeyword(s); got != k {
				t.Errorf("%s: got %v", s, got)
			}
		}
		if LookupKeyword(w+"x").Valid() && !Keyword(k).Valid() {
			t.Errorf("%sx is no keyword", w)
		}
		if len(w) > maxKeyword {
			t.Errorf("%s is longer than maxKeyword", w)
		}
	}
	if n := int(numKeywords) - 1; n != 460 {
		t.Errorf("%d keywords", n)
	}
}

// checkLex scans a text and checks what must hold of any.
func checkLex(t interface {
	Helper()
	Fatalf(string, ...any)
}, sql string,
) {
	t.Helper()
	if Check(sql) != nil {
		return
	}
	l := Lexer{Src: sql}
	last := int32(0)
	for {
		var tok Token
		l.Next(&tok)
		if tok.Kind == EOF {
			break
		}
		// What is missing at the end of the input has no extent.
		missing := tok.Kind == Invalid && int(tok.Start) == len(sql)
		if tok.Start < last || tok.End <= tok.Start && !missing || int(tok.End) > len(sql) {
			t.Fatalf("token %+v after %d", tok, last)
		}
		last = tok.End
		if tok.Kind == Invalid {
			if l.Err == nil || l.Err.Position < 1 || l.Err.Position > utf8.RuneCountInString(sql)+1 {
				t.Fatalf("error %v", l.Err)
			}
			break
		}
		v := l.Value(&tok)
		if !utf8.ValidString(v) {
			t.Fatalf("%q has the value %q", sql[tok.Start:tok.End], v)
		}
		if l.Err != nil {
			break
		}
		// The token's text alone is the same token.
		one := Lexer{Src: sql[tok.Start:tok.End]}
		var again Token
		one.Next(&again)
		if w := one.Value(&again); again.Kind != tok.Kind || again.Kw != tok.Kw && tok.End-tok.Start != 1 || w != v && tok.Kw == NoKeyword {
			t.Fatalf("%q alone is %v %q, not %v %q", sql[tok.Start:tok.End], again.Kind, w, tok.Kind, v)
		}
	}
}

// checkFP fingerprints a text and checks the result against the tokens.
func checkFP(t interface {
	Helper()
	Fatalf(string, ...any)
}, sql string,
) {
	t.Helper()
	if Check(sql) != nil {
		return
	}
	var fp, again FP
	for pos := 0; pos < len(sql); pos = fp.Next {
		Fingerprint(sql, pos, &fp)
		if fp.Empty || !fp.Cacheable {
			return
		}
		if fp.Start < pos || fp.End <= fp.Start || fp.Next < fp.End || fp.Next > len(sql) {
			t.Fatalf("extent %d..%d next %d from %d", fp.Start, fp.End, fp.Next, pos)
		}
		l := Lexer{Src: sql[fp.Start:fp.End]}
		n := 0
		for {
			var tok Token
			l.Next(&tok)
			if tok.Kind == EOF {
				break
			}
			switch tok.Kind {
			case Semicolon, Invalid:
				t.Fatalf("%q holds %v", l.Src, tok.Kind)
			case Integer, Numeric, String, Bit, Hex:
				if got, want := fp.Text(n), l.Value(&tok); got != want {
					t.Fatalf("slot %d is %q, not %q", n, got, want)
				}
				n++
			}
		}
		if n != len(fp.Slots) {
			t.Fatalf("%d slots, %d literals", len(fp.Slots), n)
		}
		// The statement alone, and with other spacing, has the same fingerprint.
		Fingerprint("  ;\t"+l.Src+" -- x", 0, &again)
		if !again.Cacheable || again.Hash != fp.Hash || string(again.Norm) != string(fp.Norm) {
			t.Fatalf("%q has the normal form %q, alone %q", l.Src, fp.Norm, again.Norm)
		}
	}
}

var seeds = []string{
	"select 1", `SELECT "a""b", 'it''s', E'\n\u0041', $x$ y $x$, U&'\0041' UESCAPE '!', B'1' FROM t WHERE a <> -1.5e3 -- c`,
	"insert into t values (1, 'a', null), (2, 'b', $1); select /* a /* b */ */ 2;", "a+-b*/*x*/c::d[1:2]:=3=>4..5", "'a'\n'b'",
}

func FuzzLex(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) { checkLex(t, sql) })
}

func FuzzFingerprint(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) { checkFP(t, sql) })
}

var piece = rapid.SampledFrom([]string{
	"select", "FROM", "a", "B_1", `"q"`, `"q""r"`, `U&"x"`, "1", "2147483648", "1.5", "1e3", "'s'", "'it''s'", `E'\n'`, "$$d$$", "b'1'",
	"$1", "(", ")", ",", ".", ";", "::", "+", "-", "*", "/", "<=", "||", "--x\n", "/*y*/", " ", "\n", "\t", "n'x'", "é", "u&'z'", "uescape", "'!'",
})

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sql := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")
		checkLex(t, sql)
		checkFP(t, sql)
	})
}

// TestNormIsInjective checks that different token streams have different normal forms.
func TestNormIsInjective(t *testing.T) {
	shape := func(sql string) string {
		l := Lexer{Src: sql}
		var b strings.Builder
		for {
			var tok Token
			l.Next(&tok)
			switch tok.Kind {
			case EOF, Semicolon:
				return b.String()
			case Integer, Numeric, String, Bit, Hex:
				fmt.Fprintf(&b, "[%c]", slotKind(&tok, sql))
			default:
				fmt.Fprintf(&b, "[%d %d %q]", tok.Kind, tok.Kw, l.Value(&tok))
			}
		}
	}
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		sql := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), " ")
		var fp FP
		Fingerprint(sql, 0, &fp)
		if !fp.Cacheable || fp.Start != 0 {
			return
		}
		s := shape(sql)
		if old, ok := seen[string(fp.Norm)]; ok && old != s {
			t.Fatalf("%q: the tokens %s and %s share the normal form %q", sql, s, old, fp.Norm)
		}
		seen[string(fp.Norm)] = s
	})
}

func TestFingerprintLimits(t *testing.T) {
	var fp FP
	Fingerprint("insert into t values (1)"+strings.Repeat(", (1)", maxSlots+1), 0, &fp)
	if fp.Cacheable {
		t.Error("a long list of values should not be cached")
	}
	Fingerprint("select "+strings.Repeat("a, ", maxNorm), 0, &fp)
	if fp.Cacheable {
		t.Error("a long statement should not be cached")
	}
}

func TestAllocations(t *testing.T) {
	var fp FP
	for name, sql := range benchStatements {
		Fingerprint(sql, 0, &fp)
		if n := testing.AllocsPerRun(20, func() { Fingerprint(sql, 0, &fp) }); n != 0 {
			t.Errorf("%s: fingerprint takes %v allocations", name, n)
		}
		n := testing.AllocsPerRun(20, func() {
			l := Lexer{Src: sql}
			var tok Token
			for tok.Kind = Other; tok.Kind != EOF; {
				l.Next(&tok)
			}
		})
		if n != 0 {
			t.Errorf("%s: lexer takes %v allocations", name, n)
		}
	}
}

var benchStatements = map[string]string{
	"select1": `SELECT 1`,
	"begin":   `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ`,
	"copy": `COPY (SELECT "table_id", "begin_snapshot", "end_snapshot", "column_id", "column_name", "column_type" ` +
		`FROM "public"."ducklake_column" WHERE "begin_snapshot" <= '12' AND "table_id" = '3') TO STDOUT (FORMAT "binary");`,
	"insert": `INSERT INTO "public".ducklake_data_file VALUES (7, 2, 9, NULL, NULL, 'ducklake-01a22a26-10c9-71fc-9bee-c3f1e45fbce5.parquet', ` +
		`true, 'parquet', 100, 1024, 300, 0, NULL, NULL, NULL, NULL);`,
	"update": `WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES ` +
		`(2, 1, false, NULL, '0', '99', NULL),(2, 2, false, NULL, 'a', 'z', NULL)) UPDATE "public".ducklake_table_column_stats ` +
		`SET contains_null=CAST(new_contains_null AS BOOLEAN), min_value=new_min, max_value=new_max FROM new_values WHERE table_id=tid AND column_id=cid;`,
}

func BenchmarkFingerprint(b *testing.B) {
	for _, name := range []string{"select1", "begin", "copy", "insert", "update"} {
		sql := benchStatements[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(sql)))
			var fp FP
			for b.Loop() {
				Fingerprint(sql, 0, &fp)
			}
		})
	}
}

func BenchmarkLexer(b *testing.B) {
	sql := strings.Repeat(benchStatements["update"], 100)
	b.ReportAllocs()
	b.SetBytes(int64(len(sql)))
	for b.Loop() {
		l := Lexer{Src: sql}
		var tok Token
		for tok.Kind = Other; tok.Kind != EOF; {
			l.Next(&tok)
		}
	}
}
