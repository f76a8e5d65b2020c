package e2e

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/eiderdb/eider/e2e/internal/tools"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
)

var grammarRewrite = flag.Bool("rewrite-grammar", false, "write the known disagreements with PostgreSQL's grammar anew")

const (
	knownFile = "testdata/grammar_disagreements.txt"
	mutants   = 8 // per statement
)

// TestGrammar asks PostgreSQL's own grammar about every statement of the parser's corpora and about mutants of them: both must accept or both
// reject. What is known to differ is listed in a file that may only shrink: a listed statement on which both agree fails the test too.
func TestGrammar(t *testing.T) {
	known := readKnown(t)
	found := map[string]bool{}
	n := 0
	for _, sql := range corpus(t) {
		for _, s := range append([]string{sql}, mutate(sql)...) {
			n++
			if line, differs := disagreement(s); differs {
				found[line] = true
				if !known[line] && !*grammarRewrite {
					t.Errorf("new disagreement: %s", line)
				}
			}
		}
	}
	if *grammarRewrite {
		writeKnown(t, found)
		return
	}
	for line := range known {
		if !found[line] {
			t.Errorf("both agree now, remove from %s: %s", knownFile, line)
		}
	}
	t.Logf("%d statements, %d known disagreements", n, len(known))
}

// disagreement describes how the two grammars differ about a statement.
func disagreement(sql string) (string, bool) {
	_, pgErr := pgquery.Parse(sql)
	stmts, err := parse.Parse(sql, parse.Limits{})
	for _, st := range stmts {
		if _, ok := st.Stmt.(*ast.Unsupported); ok {
			return "", false // refused by its first words, whatever follows
		}
	}
	var e *pgerr.Error
	if errors.As(err, &e) && e.Code == "0A000" {
		return "", false
	}
	if (pgErr == nil) == (err == nil) {
		return "", false
	}
	who := "postgres"
	if err == nil {
		who = "eider"
	}
	return who + " " + strconv.Quote(sql), true
}

// corpus is every statement of the parser's test files.
func corpus(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(tools.Root(), "translate", "parse", "testdata")
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", dir, err)
	}
	sort.Strings(files)
	own, err := filepath.Glob("testdata/statements/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var out []string
	for _, f := range append(files, own...) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n\n") {
			block = strings.TrimSpace(block)
			if block == "" || len(block) > 20000 || seen[block] {
				continue
			}
			seen[block] = true
			out = append(out, block)
		}
	}
	return out
}

var token = regexp.MustCompile(`(?s)'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_][A-Za-z_0-9]*|\d+(?:\.\d+)?|::|<>|<=|>=|!=|\|\||\S`)

// mutate derives statements from one: tokens dropped, doubled, swapped or taken from elsewhere in it. The choice depends on the statement
// alone, so that a growing corpus does not change the mutants of its older part.
func mutate(sql string) []string {
	toks := token.FindAllString(sql, -1)
	if len(toks) < 2 || len(toks) > 120 {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(sql))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	keywords := []string{"select", "from", "where", "(", ")", ",", "null", "as", "not", "1", "'x'", "a", ".", "*", "and", "all", "in", "="}
	var out []string
	for range mutants {
		m := append([]string(nil), toks...)
		for range 1 + r.IntN(2) {
			i, j := r.IntN(len(m)), r.IntN(len(m))
			switch r.IntN(5) {
			case 0:
				if len(m) > 1 {
					m = append(m[:i], m[i+1:]...)
				}
			case 1:
				m = append(m[:i], append([]string{m[j]}, m[i:]...)...)
			case 2:
				m[i], m[j] = m[j], m[i]
			case 3:
				m[i] = m[j]
			case 4:
				m = append(m[:i], append([]string{keywords[r.IntN(len(keywords))]}, m[i:]...)...)
			}
		}
		out = append(out, strings.Join(m, " "))
	}
	return out
}

func readKnown(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	f, err := os.Open(knownFile)
	if errors.Is(err, os.ErrNotExist) {
		return known
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if line := sc.Text(); line != "" && !strings.HasPrefix(line, "#") {
			known[line] = true
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return known
}

func writeKnown(t *testing.T, found map[string]bool) {
	t.Helper()
	lines := make([]string, 0, len(found))
	for l := range found {
		lines = append(lines, l)
	}
	sort.Strings(lines)
	text := "# Statements that only one of the two grammars accepts: the one that is named. The list may only shrink.\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(knownFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%d disagreements written\n", len(lines))
}
