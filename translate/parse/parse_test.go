package parse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// blocks reads a file of batches separated by blank lines.
func blocks(t testing.TB, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n\n")
}

func describe(err error) string {
	e := pgerr.As(err)
	if e == nil {
		return fmt.Sprintf("not a *pgerr.Error: %v", err)
	}
	s := fmt.Sprintf("error %s at %d: %s", e.Code, e.Position, e.Message)
	if e.Hint != "" {
		s += "\nhint: " + e.Hint
	}
	return s
}

// TestGolden parses statements and compares the trees, or the errors. Each line of a
// case is a batch of its own, unless it has the argument "whole".
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			lines := strings.Split(d.Input, "\n")
			if d.HasArg("whole") {
				lines = []string{d.Input}
			}
			var out strings.Builder
			for _, sql := range lines {
				switch d.Cmd {
				case "parse":
					list, err := Parse(sql, Limits{})
					if err != nil {
						fmt.Fprintln(&out, describe(err))
						continue
					}
					if len(list) == 0 {
						fmt.Fprintln(&out, "nothing")
					}
					for _, p := range list {
						fmt.Fprintln(&out, ast.Dump(p.Stmt))
					}
				case "extent":
					list, err := Parse(sql, Limits{})
					if err != nil {
						fmt.Fprintln(&out, describe(err))
						continue
					}
					for _, p := range list {
						fmt.Fprintf(&out, "%q params=%d slots=%d fixed=%v\n", sql[p.Start:p.End], p.Params, p.Slots, p.Fixed)
					}
				case "expr":
					e, err := ParseExpr(sql)
					if err != nil {
						fmt.Fprintln(&out, describe(err))
						continue
					}
					fmt.Fprintln(&out, ast.Dump(e))
				case "type":
					ty, err := ParseType(sql)
					if err != nil {
						fmt.Fprintln(&out, describe(err))
						continue
					}
					fmt.Fprintln(&out, ast.Dump(ty))
				default:
					t.Fatalf("unknown command %s", d.Cmd)
				}
			}
			return out.String()
		})
	})
}

// TestClientStatements parses what DuckDB and DuckLake send.
func TestClientStatements(t *testing.T) {
	for _, sql := range blocks(t, "testdata/client_statements.sql") {
		list, err := Parse(sql, Limits{})
		if err != nil {
			t.Errorf("%s\n%s", sql, describe(err))
			continue
		}
		for _, p := range list {
			if u, ok := p.Stmt.(*ast.Unsupported); ok && u.Feature != "CREATE TYPE" {
				t.Errorf("%s\nis not supported: %s", sql, u.Feature)
			}
		}
	}
}

// TestCorpus pins which statements of the corpus are accepted. The errors were compared
// with PostgreSQL 15's.
func TestCorpus(t *testing.T) {
	var out strings.Builder
	for _, sql := range blocks(t, "testdata/oracle_corpus.sql") {
		_, err := Parse(sql, Limits{})
		if err != nil {
			fmt.Fprintf(&out, "%s\n  %s\n", sql, strings.ReplaceAll(describe(err), "\n", "\n  "))
		}
	}
	const file = "testdata/oracle_corpus.errors"
	if *rewriteCorpus {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			t.Fatalf("line %d of %s differs:\ngot  %q\nwant %q", i+1, file, at(g, i), at(w, i))
		}
	}
}

func at(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return ""
}

// TestNext checks that a batch parsed statement by statement gives the same trees.
func TestNext(t *testing.T) {
	for _, sql := range blocks(t, "testdata/client_statements.sql") {
		list, err := Parse(sql, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		pos := 0
		for _, want := range list {
			got, next, ok, err := Next(sql, pos, Limits{})
			if err != nil || !ok {
				t.Fatalf("%s: ok=%v err=%v", sql[pos:], ok, err)
			}
			if ast.Dump(got) != ast.Dump(want) || got.Start != want.Start || got.End != want.End {
				t.Fatalf("got %s, want %s", ast.Dump(got), ast.Dump(want))
			}
			pos = next
		}
		if _, _, ok, err := Next(sql, pos, Limits{}); ok || err != nil {
			t.Fatalf("behind the last statement: ok=%v err=%v", ok, err)
		}
	}
}

// TestKeywords checks every keyword in the places where its class matters.
func TestKeywords(t *testing.T) {
	for k := lex.NoKeyword + 1; k.Valid(); k++ {
		w := k.String()
		ok := func(sql string) bool {
			_, err := Parse(sql, Limits{})
			return err == nil
		}
		if got, want := ok("select a as "+w), true; got != want {
			t.Errorf("%s as label after AS: %v", w, got)
		}
		// ISNULL and NOTNULL are operators there.
		if got, want := ok("select 1 "+w), k.BareLabel() || w == "isnull" || w == "notnull"; got != want {
			t.Errorf("%s as bare label: %v", w, got)
		}
		if got, want := ok("create table t ("+w+" int)"), k.Class() <= lex.ColName; got != want && w != "like" {
			t.Errorf("%s as column name: %v", w, got)
		}
		if got, want := ok("select * from t as "+w), k.Class() <= lex.ColName; got != want {
			t.Errorf("%s as alias: %v", w, got)
		}
		if got, want := ok("select s."+w+" from s"), true; got != want {
			t.Errorf("%s after a dot: %v", w, got)
		}
		if got, want := ok("drop type "+w), k.Class() <= lex.ColName; got != want {
			t.Errorf("%s as object name: %v", w, got)
		}
		if got := ok(`select "` + w + `" from "` + w + `"`); !got {
			t.Errorf("%q quoted is refused", w)
		}
	}
}
