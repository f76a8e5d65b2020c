package jsonpath_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/translate/jsonpath"
	"github.com/eiderdb/eider/translate/pgerr"
)

func quote(dst []byte, s string) []byte {
	return append(append(append(dst, '"'), strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)...), '"')
}

// FuzzParse holds that every path has a normal form that reads back as itself, and that every
// refusal has a SQLSTATE.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"$", "strict $.a[*].b", `lax $."a b"[0, 1 to last]`, "$.**{1 to last}.c", "$ ? (@.a > 1 && !(exists (@.b)))", "-$.a * (2 + $x)",
		`$ ? (@ like_regex "^a" flag "i")`, `$ ? ((@ starts with "x") is unknown).type()`, `"\u00e9\x41"`, "(1).abs()", "1e3 % .5", "$.datetime(\"HH24\")",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := jsonpath.Parse(s)
		if err != nil {
			if pgerr.As(err) == nil {
				t.Fatalf("%q: %v has no SQLSTATE", s, err)
			}
			return
		}
		same := func(s string) string { return s }
		form := p.Print(quote, same)
		again, err := jsonpath.Parse(form)
		if err != nil {
			t.Fatalf("%q prints as %q: %v", s, form, err)
		}
		if back := again.Print(quote, same); back != form {
			t.Fatalf("%q prints as %q and then as %q", s, form, back)
		}
	})
}
