package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/duckdb/duckdb-go/v2/mapping"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/materialize/classify"
)

// extractor counts the statements of scripts as DuckDB's own parser does.
func extractor(t *testing.T) func(script string) (int, string) {
	t.Helper()
	var db mapping.Database
	if mapping.Open("", &db) != mapping.StateSuccess {
		t.Fatal("no DuckDB")
	}
	t.Cleanup(func() { mapping.Close(&db) })
	var conn mapping.Connection
	if mapping.Connect(db, &conn) != mapping.StateSuccess {
		t.Fatal("no connection to DuckDB")
	}
	t.Cleanup(func() { mapping.Disconnect(&conn) })
	return func(script string) (int, string) {
		var list mapping.ExtractedStatements
		n := mapping.ExtractStatements(conn, script, &list)
		defer mapping.DestroyExtracted(&list)
		if n == 0 {
			return 0, mapping.ExtractStatementsError(list)
		}
		return int(n), ""
	}
}

// What random scripts are made of: tokens that hold what ends statements and strings, and
// what may be between tokens.
var (
	operands = []string{
		"1", "a$$b", "'a;b'", "'it''s; '", "'\\'", "$$;'\"--$$", "$t$ $$; $u$ $t$", "$ä1$;$ä1$", "E'\\';'", "e'\\\\'", "E'a'\n'\\';'", "'a' -- ;'\n 'b;\\'", `"a;""b"`, "x'41'", "(1)", "$1",
		"{'a;': [1, 2]}", "f('(', ')')", "ä", "$$$$", "''", "DATE '2026-01-01'", "CASE WHEN a THEN 'b' ELSE c END", "1e5", "1.5",
	}
	gaps = []string{" ", "\n", "\t", "\r\n", "/**/", "/* ; ' \" $$ */", "/* a /* ; */ -- */", "-- ; ' \" /* $$\n", "--\r"}
	// DuckDB looks for wide spaces before it parses, with simpler rules: it takes quotes in
	// block comments and after a backslash for quotes, and dollars in names. Scripts with wide
	// spaces have none of these.
	wideOperands = []string{"1", "'a;b'", "'it''s; '", `"a;""b"`, "(1)", "ä", "f('(', ')')", "''"}
	wideGaps     = []string{" ", "\n", "/**/", "/* a */", "-- ; ' \" /* $$\n", "\u00a0", "\u3000", "\u2003"}
	ops          = []string{"+", "//", "||", "*"}
	// Each has a gap in the place of each space, and an operand in that of each ?.
	shapes = []string{
		"SELECT ?", "SELECT ? , ?", "FROM t SELECT ?", "FROM t", "VALUES ( ? , ? )", "TABLE t", "( SELECT ? )", "( SELECT ? ) UNION ALL ( FROM t )",
		"WITH a AS ( SELECT ? ) FROM a", "WITH update AS NOT MATERIALIZED ( SELECT ? ) SELECT ?", "WITH RECURSIVE a ( b ) AS ( SELECT ? ) ( TABLE a )",
		"UNPIVOT t ON a , b", "SET x = 1", "USE memory", "LOAD json", "PRAGMA version", "ATTACH 'a;b' AS x",
		"CREATE TEMP TABLE t AS SELECT ?", "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT ?", "CREATE TABLE temp AS SELECT ?", "INSERT INTO t SELECT ?",
		"DELETE FROM t WHERE a = ?", "DROP TABLE t", "DESCRIBE t", "BEGIN",
	}
)

// checkMany is rapid.Check with more scripts than it takes by itself: they cost little.
func checkMany(t *testing.T, prop func(r *rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, prop)
	}
}

func drawScript(r *rapid.T) string {
	between, values := gaps, operands
	if rapid.Bool().Draw(r, "wide") {
		between, values = wideGaps, wideOperands
	}
	gap := func(least int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(between), least, 3).Draw(r, "gap"), "")
	}
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(r, "statements") {
		b.WriteString(gap(0))
		for _, c := range rapid.SampledFrom(shapes).Draw(r, "shape") {
			switch c {
			case ' ':
				b.WriteString(gap(1))
			case '?':
				b.WriteString(rapid.SampledFrom(values).Draw(r, "operand"))
				if rapid.Bool().Draw(r, "more") {
					b.WriteString(gap(1))
					if op := rapid.SampledFrom(ops).Draw(r, "op"); op == "//" {
						b.WriteString("+ 1 //") // at the beginning of a line it is a comment of ours
					} else {
						b.WriteString(op)
					}
					b.WriteString(gap(1) + rapid.SampledFrom(values).Draw(r, "operand"))
				}
			default:
				b.WriteRune(c)
			}
		}
		b.WriteString(gap(0) + strings.Repeat(";", rapid.IntRange(1, 2).Draw(r, "semicolons")))
	}
	return b.String() + gap(0) + "  " // at the very end DuckDB takes a wide space for a name
}

// TestSplitLikeDuckDB: a script has the statements that DuckDB finds in it, and each of
// them is one for DuckDB when it is alone and without its comments.
func TestSplitLikeDuckDB(t *testing.T) {
	count := extractor(t)
	scripts, statements := 0, 0
	checkMany(t, func(r *rapid.T) {
		script := drawScript(r)
		list := classify.Split(script)
		want, refused := count(script)
		if refused != "" {
			r.Fatalf("DuckDB refuses %q: %s", script, refused)
		}
		if len(list) != want {
			r.Fatalf("%q has %d statements, for DuckDB %d: %+v", script, len(list), want, list)
		}
		scripts++
		for _, st := range list {
			statements++
			if n, refused := count(st.Text); n != 1 {
				r.Fatalf("%q of %q is %d statements for DuckDB: %s", st.Text, script, n, refused)
			}
			if n, refused := count("SELECT * FROM (" + st.Text + ")"); classify.ClassOf(st.Text) == classify.Output && n != 1 {
				r.Fatalf("the query %q does not go in parentheses: %s", st.Text, refused)
			}
		}
	})
	t.Logf("%d scripts, %d statements", scripts, statements)
}

// soup are pieces of tokens. Most of what they make is refused by DuckDB; what is not has to
// be split alike.
var soup = []string{
	"SELECT ", "FROM t ", "1", "a", "'", "''", "\\", "\"", "$$", "$t$", "$", "E'", "e'", "--", "/*", "*/", "*", "(", ")", ",", ";", " ", "\n", "\r", "x'", "+",
}

// TestSplitSoupLikeDuckDB is the same for scripts that are hardly any.
func TestSplitSoupLikeDuckDB(t *testing.T) {
	count := extractor(t)
	taken := 0
	checkMany(t, func(r *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(r, "statements") {
			b.WriteString(rapid.SampledFrom([]string{"SELECT ", "FROM ", "SELECT '", "SELECT E'", "SELECT $$", "SELECT \"", "SELECT 1 ", ""}).Draw(r, "begin"))
			b.WriteString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(soup), 0, 6).Draw(r, "pieces"), ""))
			b.WriteString(rapid.SampledFrom([]string{";", "';", "$$;", "\";", " a;", "*/;", "\n;"}).Draw(r, "end"))
		}
		script := b.String()
		want, refused := count(script)
		if want == 0 || refused != "" {
			return
		}
		taken++
		if list := classify.Split(script); len(list) != want {
			r.Fatalf("%q has %d statements, for DuckDB %d: %+v", script, len(list), want, list)
		}
	})
	if taken == 0 {
		t.Error("DuckDB takes none of the scripts")
	}
	t.Logf("DuckDB takes %d", taken)
}

// TestPartitionValueInDuckDB: DuckDB reads the value that was put in, whatever it is.
func TestPartitionValueInDuckDB(t *testing.T) {
	ctx := context.Background()
	d := newDuck(ctx, t)
	places := []struct{ sql, before, after string }{
		{"SELECT {partition}", "", ""},
		{"SELECT '{partition}'", "", ""},
		{"SELECT E'{partition}'", "", ""},
		{"SELECT $${partition}$$", "", ""},
		{"SELECT $t${partition}$t$", "", ""},
		{"SELECT 's3://b/{partition}/x.parquet'", "s3://b/", "/x.parquet"},
		{`SELECT E'\t{partition}\''`, "\t", "'"},
		{`SELECT E'' -- a
			'\\{partition}'`, `\`, ""},
		{"SELECT $$it's {partition}$$", "it's ", ""},
		{`SELECT a FROM (SELECT 'n' AS "x{partition}") t(a) -- {partition}`, "n", "-"},
		{"SELECT 'a'||{partition}||'b' /* {partition} */", "a", "b"},
	}
	rapid.Check(t, func(r *rapid.T) {
		value := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"'", `"`, `\`, "$$", "$t$", "a", "ä", "-- ", "/*", "*/", ";", "{partition}", "\n", "2026"}), 1, 6).Draw(r, "value"), "")
		p := rapid.SampledFrom(places).Draw(r, "place")
		sql := classify.SubstitutePartition(p.sql, value)
		got, err := d.Query(ctx, "SELECT hex(c) FROM ("+sql+"\n) t(c)")
		if err != nil {
			r.Fatalf("%s: %v", sql, err)
		}
		want := p.before + value + p.after
		if p.after == "-" { // the value is a name
			want = p.before
		}
		if len(got.Rows) != 1 || got.Rows[0][0] != fmt.Sprintf("%X", want) {
			r.Errorf("%s gives %q, want %q", sql, got.Rows, want)
		}
	})
}
