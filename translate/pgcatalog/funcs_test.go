package pgcatalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// TestFuncs calls functions: one call per line, name and then arguments as type:text,
// separated by blanks ("%20" in a text is a blank). "table:NAME" is that relation's oid.
func TestFuncs(t *testing.T) {
	t.Parallel()
	c := fixture(t)
	datadriven.RunTest(t, "testdata/functions", func(t *testing.T, d *datadriven.TestData) string {
		var out []string
		for line := range strings.Lines(d.Input) {
			out = append(out, callLine(t, c, strings.TrimSpace(line)))
		}
		s := c.Session.(*fakeSession)
		for _, n := range s.notices {
			out = append(out, "notice: "+n)
		}
		s.notices = nil
		return strings.Join(out, "\n")
	})
}

func callLine(t *testing.T, c *exec.Ctx, line string) string {
	t.Helper()
	f := strings.Fields(line)
	var args []types.Datum
	var sig []types.OID
	for _, a := range f[1:] {
		name, text, _ := strings.Cut(a, ":")
		text = strings.ReplaceAll(text, "%20", " ")
		if name == "table" {
			oid, err := NewNames(c).Class(text)
			if err != nil {
				return line + ": " + err.Error()
			}
			args, sig = append(args, dOID(oid)), append(sig, types.OidOID)
			continue
		}
		oid, ok := types.ByName(name)
		if !ok {
			t.Fatalf("no type %s", name)
		}
		sig = append(sig, oid)
		if text == "null" {
			args = append(args, types.Null)
			continue
		}
		v, err := types.Input(c.Env, types.T{OID: oid, Mod: -1}, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, v)
	}
	fn := find(f[0], sig)
	if fn == nil {
		return line + ": no such function"
	}
	call := &exec.Call{Ctx: c, Args: args, Ret: types.T{OID: fn.Ret, Mod: -1}, Func: fn}
	for _, o := range sig {
		call.Types = append(call.Types, types.T{OID: o, Mod: -1})
	}
	if !fn.NullCall && slices.ContainsFunc(args, func(d types.Datum) bool { return !d.Valid }) {
		return line + " = ∅"
	}
	v, err := fn.Eval(call)
	switch {
	case err != nil:
		return line + ": " + pgerr.CodeOf(err) + " " + pgerr.As(err).Message
	case !v.Valid:
		return line + " = ∅"
	}
	return line + " = " + string(types.AppendText(c.Env, nil, call.Ret, v))
}

// find picks an overload: equal types, with every reg type taken for oid.
func find(name string, sig []types.OID) *exec.Func {
	for _, exact := range []bool{true, false} {
		for _, f := range Funcs() {
			if f.Name != name || len(f.Args) != len(sig) {
				continue
			}
			ok := true
			for i, a := range f.Args {
				fits := a == sig[i] || a == types.AnyOID
				if !exact {
					fits = fits || a == types.RegclassOID && sig[i] == types.OidOID || a == types.PgNodeTreeOID && sig[i] == types.TextOID ||
						a == types.NameOID && sig[i] == types.TextOID
				}
				ok = ok && fits
			}
			if ok {
				return &f
			}
		}
	}
	return nil
}

// No two functions have the same name and arguments, those of package exec included,
// and each can be called.
func TestFuncTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	exec.NewFuncSet().All(func(f *exec.Func) bool {
		seen[f.Name+fmt.Sprint(f.Args)] = true
		return true
	})
	for _, f := range Funcs() {
		sig := f.Name + fmt.Sprint(f.Args)
		if seen[sig] {
			t.Errorf("%s twice", sig)
		}
		seen[sig] = true
		if f.Eval == nil && f.Rows == nil || f.Ret == 0 {
			t.Errorf("%s cannot be called", sig)
		}
	}
}

func TestSplitName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"a", []string{"a"}},
		{" Public.Birds ", []string{"public", "birds"}},
		{`"A b"."c""d"`, []string{"A b", `c"d`}},
		{`a . "B"`, []string{"a", "B"}},
		{"", nil},
		{"a.", nil},
		{`"a`, nil},
		{`""`, nil},
		{"a b", nil},
	} {
		got, ok := SplitName(c.in)
		if ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
			t.Errorf("SplitName(%q) = %q, %v", c.in, got, ok)
		}
	}
}

func TestQuoteIdent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a": "a", "_a$1": "_a$1", "A": `"A"`, "1a": `"1a"`, "select": `"select"`, `a"b`: `"a""b"`, "": `""`, "name": "name"} {
		if got := quoteIdent(in); got != want {
			t.Errorf("quoteIdent(%q) = %s, want %s", in, got, want)
		}
	}
}

// What a stored constraint or default is numbered stays out of each other's way.
func TestMadeUpOIDs(t *testing.T) {
	t.Parallel()
	seen := map[uint32]string{}
	for table := uint32(16384); table < 17384; table++ {
		for i := range 3 {
			o := checkOID(table, i)
			if s, ok := seen[o]; ok || o < 1<<31 {
				t.Fatalf("check %d of %d has the oid of %s", i, table, s)
			}
			seen[o] = fmt.Sprintf("check %d of %d", i, table)
			o = defaultOID(table, int16(i+1))
			if s, ok := seen[o]; ok || o < 1<<31 {
				t.Fatalf("default %d of %d has the oid of %s", i, table, s)
			}
			seen[o] = fmt.Sprintf("default %d of %d", i, table)
		}
	}
}
