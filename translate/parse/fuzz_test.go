package parse

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
)

// checkParse parses a text and checks what must hold of any result.
func checkParse(t interface {
	Helper()
	Fatalf(string, ...any)
}, sql string,
) {
	t.Helper()
	list, err := Parse(sql, Limits{Depth: 200})
	if err != nil {
		e := pgerr.As(err)
		if e == nil || e.Code == "" || e.Message == "" {
			t.Fatalf("error without a code: %v", err)
		}
		if e.Position < 0 || e.Position > utf8.RuneCountInString(sql)+1 {
			t.Fatalf("position %d is outside the text", e.Position)
		}
		return
	}
	last := 0
	for _, p := range list {
		if p.Start < last || p.End <= p.Start || p.End > len(sql) {
			t.Fatalf("extent %d..%d after %d", p.Start, p.End, last)
		}
		last = p.End
		one, err := Parse(sql[p.Start:p.End], Limits{Depth: 200})
		if err != nil || len(one) != 1 {
			t.Fatalf("%q alone: %d statements, %v", sql[p.Start:p.End], len(one), err)
		}
		if a, b := ast.Dump(p), ast.Dump(one[0]); a != b {
			t.Fatalf("%q alone parses as\n%s\nnot\n%s", sql[p.Start:p.End], b, a)
		}
		checkFingerprint(t, sql, p)
	}
}

// checkFingerprint checks that the normal form with the literals put back parses to the
// same tree, and that slots agree with the parser's.
func checkFingerprint(t interface {
	Helper()
	Fatalf(string, ...any)
}, sql string, p ast.Parsed,
) {
	t.Helper()
	var fp lex.FP
	lex.Fingerprint(sql, p.Start, &fp)
	if !fp.Cacheable {
		return
	}
	if u, ok := p.Stmt.(*ast.Unsupported); ok && strings.HasPrefix(u.Feature, "CREATE") && fp.End < p.End {
		return // a routine's body with semicolons of its own, never cached
	}
	if fp.Start != p.Start || fp.End != p.End {
		t.Fatalf("fingerprint of %q has the extent %d..%d, not %d..%d", sql, fp.Start, fp.End, p.Start, p.End)
	}
	if len(fp.Slots) != p.Slots {
		t.Fatalf("%q: %d slots, the parser has %d", sql, len(fp.Slots), p.Slots)
	}
	checkSlots(t, &fp, p.Stmt)
	var b strings.Builder
	n := 0
	for i := 0; i < len(fp.Norm); i++ {
		if fp.Norm[i] != 1 || insideQuotes(fp.Norm[:i]) {
			b.WriteByte(fp.Norm[i])
			continue
		}
		i++
		b.WriteString(sql[fp.Slots[n].Pos():fp.Slots[n].End()])
		b.WriteByte(' ')
		n++
	}
	again, err := Parse(b.String(), Limits{Depth: 200})
	if err != nil || len(again) != 1 {
		t.Fatalf("%q normalised is %q: %v", sql, b.String(), err)
	}
	if x, y := ast.Dump(withoutText(p.Stmt)), ast.Dump(withoutText(again[0].Stmt)); x != y {
		t.Fatalf("%q normalised is %q, which parses as\n%s\nnot\n%s", sql, b.String(), y, x)
	}
}

// checkSlots checks that every literal in the tree is the slot that it names.
func checkSlots(t interface {
	Helper()
	Fatalf(string, ...any)
}, fp *lex.FP, n any,
) {
	t.Helper()
	for _, l := range literals(reflect.ValueOf(n), nil) {
		if l.Slot < 0 {
			continue
		}
		s := fp.Slots[l.Slot]
		if SlotKind(s.Kind) != l.Kind || fp.Text(l.Slot) != l.Text || s.Pos() != int(l.Pos) {
			t.Fatalf("literal %s at %d names slot %d, which is %s at %d", ast.Dump(l), l.Pos, l.Slot, fp.Text(l.Slot), s.Pos())
		}
	}
}

// literals collects the literals of a tree.
func literals(v reflect.Value, out []*ast.Literal) []*ast.Literal {
	switch v.Kind() {
	case reflect.Interface:
		return literals(v.Elem(), out)
	case reflect.Pointer:
		if l, ok := v.Interface().(*ast.Literal); ok {
			return append(out, l)
		}
		return literals(v.Elem(), out)
	case reflect.Slice:
		for i := range v.Len() {
			out = literals(v.Index(i), out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = literals(v.Field(i), out)
		}
	}
	return out
}

func insideQuotes(b []byte) bool { return strings.Count(string(b), `"`)%2 == 1 }

// withoutText drops source texts, which keep the original spacing.
func withoutText(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.CreateView:
		s.QueryText = ""
	case *ast.Prepare:
		s.Text = ""
	case *ast.CreateTable:
		for i := range s.Columns {
			for j := range s.Columns[i].Constraints {
				s.Columns[i].Constraints[j].Text = ""
			}
		}
		for j := range s.Constraints {
			s.Constraints[j].Text = ""
		}
	case *ast.AlterTable:
		for i := range s.Actions {
			a := &s.Actions[i]
			a.Text = ""
			if a.Constraint != nil {
				a.Constraint.Text = ""
			}
			if a.Def != nil {
				for j := range a.Def.Constraints {
					a.Def.Constraints[j].Text = ""
				}
			}
		}
	case *ast.Explain:
		withoutText(s.Stmt)
	}
	return s
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/client_statements.sql", "testdata/oracle_corpus.sql"} {
		for i, sql := range blocks(f, file) {
			if i%10 == 0 {
				f.Add(sql)
			}
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if len(sql) > 4<<10 {
			return
		}
		checkParse(t, sql)
	})
}

// TestCorpusProperties runs the fuzz target's checks over the corpora.
func TestCorpusProperties(t *testing.T) {
	for _, file := range []string{"testdata/client_statements.sql", "testdata/oracle_corpus.sql"} {
		for _, sql := range blocks(t, file) {
			checkParse(t, sql)
		}
	}
}

// TestMutations parses random splices of the corpora.
func TestMutations(t *testing.T) {
	all := append(blocks(t, "testdata/client_statements.sql"), blocks(t, "testdata/oracle_corpus.sql")...)
	rapid.Check(t, func(t *rapid.T) {
		a := tokens(rapid.SampledFrom(all).Draw(t, "a"))
		b := tokens(rapid.SampledFrom(all).Draw(t, "b"))
		switch i := rapid.IntRange(0, len(a)).Draw(t, "i"); rapid.IntRange(0, 3).Draw(t, "how") {
		case 0: // drop a token
			if i < len(a) {
				a = append(a[:i:i], a[i+1:]...)
			}
		case 1: // insert one of the other statement
			if len(b) > 0 {
				tok := b[rapid.IntRange(0, len(b)-1).Draw(t, "j")]
				a = append(a[:i:i], append([]string{tok}, a[i:]...)...)
			}
		case 2: // splice
			a = append(a[:i:i], b[rapid.IntRange(0, len(b)).Draw(t, "j"):]...)
		case 3: // swap
			if i+1 < len(a) {
				a[i], a[i+1] = a[i+1], a[i]
			}
		}
		checkParse(t, strings.Join(a, " "))
	})
}

// tokens splits a text into its tokens' texts.
func tokens(sql string) []string {
	l := lex.Lexer{Src: sql}
	var t lex.Token
	var out []string
	for {
		l.Next(&t)
		if t.Kind == lex.EOF || t.Kind == lex.Invalid {
			return out
		}
		out = append(out, sql[t.Start:t.End])
	}
}
