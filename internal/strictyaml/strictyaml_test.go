package strictyaml

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	DSN    string `yaml:"dsn"`
	Number int    `yaml:"number"`
}

type outer struct {
	Server string           `yaml:"server"`
	Lakes  map[string]inner `yaml:"lakes"`
	List   []inner          `yaml:"list"`
	Maybe  *inner           `yaml:"maybe"`
	Any    any              `yaml:"any"`
	secret string
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, want string // the error's; "" for none
	}{
		"empty":        {"", ""},
		"comment":      {"# nothing\n", ""},
		"all":          {"server: s\nlakes:\n  a: {dsn: x, number: 1}\nlist: [{dsn: y}]\nmaybe: {number: 2}\nany: {what: [ever]}\n", ""},
		"json":         {`{"server": "s", "list": [{"dsn": "y"}]}`, ""},
		"unknown":      {"server: s\nlaeks: {}\n", "line 2: unknown key laeks, did you mean lakes?"},
		"far":          {"zzzzzzzz: 1\n", "line 1: unknown key zzzzzzzz; there are any, lakes, list, maybe, server"},
		"deep":         {"lakes:\n  a:\n    dns: x\n", "line 3: unknown key lakes.a.dns, did you mean dsn?"},
		"in a list":    {"list:\n- dsn: x\n- nmber: 1\n", "line 3: unknown key list.nmber, did you mean number?"},
		"twice":        {"server: a\nserver: b\n", "line 2: server is there twice"},
		"unexported":   {"secret: a\n", "line 1: unknown key secret"},
		"type":         {"list:\n- number: many\n", "line 2: cannot unmarshal !!str `many` into int"},
		"no mapping":   {"- a\n", "line 1: the document has keys of its own, and is written key: value; there are any, lakes, list, maybe, server"},
		"a text":       {"lakes:\n  a: dbname=x\n", "line 2: lakes.a has keys of its own, and is written key: value; there are dsn, number"},
		"no names":     {"lakes: [a]\n", "line 1: lakes has names below it, and is written name: value"},
		"no list":      {"list: {dsn: y}\n", "line 1: list is a list, and is written [a, b]"},
		"no text":      {"server: {host: a}\n", "line 1: server is one text"},
		"nothing":      {"lakes:\nlist:\nmaybe:\nserver:\n", ""},
		"alias":        {"any: &x [1]\nserver: s\n", "line 1: anchors and aliases are not read"},
		"merge":        {"any: 1\n<<: {server: s}\n", "line 2: a key is a plain text"},
		"syntax":       {"server: [\n", "line 1: did not find expected node content"},
		"two":          {"server: s\n---\nserver: t\n", "there is a second document"},
		"two at once":  {"sever: s\nlkaes: {}\n", "line 1: unknown key sever, did you mean server?\nline 2: unknown key lkaes, did you mean lakes?"},
		"key not text": {"[1]: s\n", "a key is a plain text"},
	} {
		var o outer
		err := Decode([]byte(test.text), &o)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	var o outer
	if err := Decode([]byte("server: s\nlakes:\n  a: {dsn: x, number: 1}\nmaybe: {number: 2}\n"), &o); err != nil {
		t.Fatal(err)
	}
	want := outer{Server: "s", Lakes: map[string]inner{"a": {"x", 1}}, Maybe: &inner{Number: 2}}
	if diff := cmp.Diff(want, o, cmp.AllowUnexported(outer{})); diff != "" {
		t.Error(diff)
	}
	_ = o.secret
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("server: s\nlakes: {a: {dsn: x}}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var o outer
		_ = Decode(data, &o)
	})
}
