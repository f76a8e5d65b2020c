package parse

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/pgerr"
)

// TestDepth checks that everything that nests is bounded: 54001, never an overflow.
func TestDepth(t *testing.T) {
	const n = 100_000
	r := strings.Repeat
	for name, sql := range map[string]string{
		"parens":        "select " + r("(", n) + "1" + r(")", n),
		"open parens":   "select " + r("(", n),
		"paren sums":    "select " + r("(1+", n) + "1" + r(")", n),
		"unary minus":   "select " + r("- ", n) + "1",
		"not":           "select " + r("not ", n) + "true",
		"operators":     "select " + r("@ ", n) + "1",
		"case":          "select " + r("case when ", n) + "true" + r(" then 1 end", n),
		"case else":     "select " + r("case when a then b else ", n) + "1" + r(" end", n),
		"subqueries":    "select " + r("(select ", n) + "1" + r(")", n),
		"exists":        r("select exists (", n) + "select 1" + r(")", n),
		"from":          r("select * from (", n) + "select 1" + r(") x", n),
		"paren joins":   "select * from " + r("(", n) + "a" + r(" join b on true)", n),
		"right joins":   "select * from a" + r(" join b", n) + r(" on true", n),
		"select parens": r("(", n) + "select 1" + r(")", n),
		"with":          r("with a as (", n) + "select 1" + r(") select 1", n),
		"functions":     "select " + r("f(", n) + "1" + r(")", n),
		"arrays":        "select array" + r("[", n) + "1" + r("]", n),
		"subscripts":    "select a" + r("[a", n) + r("]", n),
		"casts":         "select " + r("cast(", n) + "1" + r(" as int)", n),
		"between":       "select " + r("1 between (", n) + "1" + r(") and 1", n),
		"in":            "select " + r("1 in (", n) + "1" + r(")", n),
		"grouping sets": "select 1 group by " + r("grouping sets (", n) + "a" + r(")", n),
		"rows":          "select " + r("row(", n) + "1" + r(")", n),
		"quantified":    "select " + r("1 = any (", n) + "1" + r(")", n),
		"coalesce":      "select " + r("coalesce(", n) + "1" + r(")", n),
		"right sums":    "select " + r("1 + (", n) + "1" + r(")", n),
		"or in and":     "select " + r("a and (b or ", n) + "c" + r(")", n),
		"windows":       "select " + r("f() over (order by ", n) + "1" + r(")", n),
		"at time zone":  "select a " + r("at time zone (a ", n) + r(")", n),
		"long sum":      "select 1" + r(" + 1", n),
		"long concat":   "select a" + r(" || a", n),
		"long casts":    "select 1" + r("::int", n),
		"long fields":   "select (a)" + r(".b", n),
		"long indexes":  "select a" + r("[1]", n),
		"long unions":   "select 1" + r(" union select 1", n),
		"long joins":    "select * from a" + r(" cross join b", n),
		"long is null":  "select 1" + r(" is null", n),
		"long collate":  "select a" + r(" collate c", n),
		"explain":       r("explain ", n) + "select 1",
		"copy":          r("copy (", n) + "select 1" + r(") to stdout", n),
		"default":       "create table t (a int default " + r("(", n) + "1" + r(")", n) + ")",
		"index":         "create index i on t (" + r("(", n) + "1" + r(")", n) + ")",
	} {
		_, err := Parse(sql, Limits{})
		code := pgerr.CodeOf(err)
		if code != pgerr.StatementTooComplex && code != pgerr.SyntaxError {
			t.Errorf("%s: %.200v", name, err)
		}
		if code == pgerr.SyntaxError && name != "explain" && name != "copy" && name != "at time zone" && name != "or in and" {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestDepthAllowed checks that what real clients may nest is not refused.
func TestDepthAllowed(t *testing.T) {
	const n = 1000
	r := strings.Repeat
	for name, sql := range map[string]string{
		"parens":     "select " + r("(", n) + "1" + r(")", n),
		"or parens":  "select * from t where " + r("(", n) + "a" + r(" or b)", n),
		"subqueries": "select " + r("(select ", n/2) + "1" + r(")", n/2),
		"case":       "select " + r("case when a then b else ", n) + "1" + r(" end", n),
		"sum":        "select 1" + r(" + 1", 20_000),
		"unions":     "select 1" + r(" union all select 1", 10_000),
	} {
		if _, err := Parse(sql, Limits{}); err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	if _, err := Parse("select ((((1))))", Limits{Depth: 3}); pgerr.CodeOf(err) != pgerr.StatementTooComplex {
		t.Errorf("depth 3: %v", err)
	}
	if _, err := Parse("select 1", Limits{Bytes: 5}); pgerr.CodeOf(err) != pgerr.ProgramLimitExceeded {
		t.Errorf("bytes: %v", err)
	}
}

func height(e ast.Expr) int {
	if b, ok := e.(*ast.Binary); ok {
		return 1 + max(height(b.Left), height(b.Right))
	}
	return 0
}

func leaves(e ast.Expr, out *[]string) {
	if b, ok := e.(*ast.Binary); ok {
		leaves(b.Left, out)
		leaves(b.Right, out)
		return
	}
	*out = append(*out, ast.Dump(e))
}

// TestLongChains checks that long AND and OR chains are balanced and keep their order.
func TestLongChains(t *testing.T) {
	for _, op := range []string{"and", "or"} {
		for _, n := range []int{2, 63, 64, 65, 66, 1000, 100_000} {
			var b strings.Builder
			var want []string
			for i := range n {
				if i > 0 {
					b.WriteString(" " + op + " ")
				}
				c := "c" + strings.Repeat("x", i%7)
				b.WriteString(c)
				want = append(want, "Col("+c+")")
			}
			e, err := ParseExpr(b.String())
			if err != nil {
				t.Fatal(err)
			}
			if h := height(e); n > longChain && h > longChain+40 {
				t.Errorf("%d operands: height %d", n, h)
			}
			var got []string
			leaves(e, &got)
			if strings.Join(got, ",") != strings.Join(want, ",") {
				t.Errorf("%d operands: the order changed", n)
			}
		}
	}
}
