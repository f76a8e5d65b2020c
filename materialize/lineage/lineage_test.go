package lineage

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// trees gives what DuckDB made of the SELECTs in testdata.
func trees(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "trees.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOfSelect(t *testing.T) {
	t.Parallel()
	have := trees(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			w := world{columns: map[string][]string{}, views: map[string]NamedSelect{}}
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd == "columns" {
					return w.learn(d.Input)
				}
				tree, ok := have[d.Input]
				if !ok {
					t.Fatalf("%s: testdata/trees.json has no tree; testdata/trees.py makes it", d.Pos)
				}
				switch d.Cmd {
				case "view":
					n := NamedSelect{Tree: tree}
					if d.HasArg("params") {
						var p string
						d.ScanArgs(t, "params", &p)
						n.Params = []string{p}
					}
					w.views[d.CmdArgs[0].Key] = n
					return ""
				case "read":
					r, err := OfSelect(tree, w.options())
					if err != nil {
						return err.Error() + "\n"
					}
					return show(r)
				}
				t.Fatalf("%s: %s is no directive", d.Pos, d.Cmd)
				return ""
			})
		})
	}
}

// world is what a file of tests says is known.
type world struct {
	columns map[string][]string
	views   map[string]NamedSelect
}

func (w world) learn(text string) string {
	for line := range strings.Lines(text) {
		i := strings.LastIndex(line, ":")
		w.columns[line[:i]] = strings.Fields(line[i+1:])
	}
	return ""
}

func (w world) options() Options {
	return Options{
		Columns: func(catalog, schema, table string) ([]string, bool) {
			c, ok := w.columns[fold(TableRef{Catalog: catalog, Schema: schema, Name: table}.String())]
			return c, ok
		},
		Named: func(_ Kind, catalog, schema, name string) (NamedSelect, bool) {
			if catalog != "" || schema != "" {
				return NamedSelect{}, false
			}
			v, ok := w.views[name]
			return v, ok
		},
	}
}

func show(r Read) string {
	var b strings.Builder
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "table %s%s\n", t, map[bool]string{true: " at a version"}[t.AtVersion])
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "file %s %q%s\n", f.Function, f.Paths, map[bool]string{false: " and others"}[f.Literal])
	}
	if len(r.Functions) > 0 {
		fmt.Fprintf(&b, "functions %s; unstable %s\n", strings.Join(r.Functions, " "), Unstable(r.Functions))
	}
	if !r.Complete {
		b.WriteString("not complete\n")
	}
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "%s <-", c.Name)
		for i, f := range c.From {
			fmt.Fprintf(&b, "%s %s.%s", map[bool]string{true: ","}[i > 0], f.Table, f.Column)
		}
		if !c.Exact {
			b.WriteString(" ?")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestTreesOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tree string
		want       error
	}{
		{"no text", "", ErrTree},
		{"no object", "[]", ErrTree},
		{"no statement", `{"error":false,"statements":[]}`, ErrTree},
		{"no node", `{"error":false,"statements":[{}]}`, ErrTree},
		{"an error of DuckDB", `{"error":true,"error_message":"no"}`, ErrNotSelect},
	} {
		if _, err := OfSelect(json.RawMessage(c.tree), Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// nest wraps the tree of an expression n times.
func nest(n int, x string) string {
	return strings.Repeat(`{"class":"CAST","child":`, n) + x + strings.Repeat("}", n)
}

func selectOf(items, from string) json.RawMessage {
	return json.RawMessage(`{"error":false,"statements":[{"node":{"type":"SELECT_NODE","select_list":[` + items + `],"from_table":` + from + `}}]}`)
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	ref := `{"class":"COLUMN_REF","column_names":["a"]}`
	r, err := OfSelect(selectOf(nest(1000, ref), `{"type":"BASE_TABLE","table_name":"t"}`), Options{})
	if err != nil || len(r.Columns) != 1 || len(r.Columns[0].From) != 1 {
		t.Errorf("1000 levels: %v, %v", r, err)
	}
	if _, err := OfSelect(selectOf(nest(4000, ref), `{"type":"EMPTY"}`), Options{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("4000 levels: %v", err)
	}
}

// Each expression doubles the columns of the one before it.
func TestColumnsAreBounded(t *testing.T) {
	t.Parallel()
	star := `{"class":"STAR","relation_name":""}`
	var ctes []string
	last := "t"
	for i := range 60 {
		name := fmt.Sprintf("c%d", i)
		ctes = append(ctes, fmt.Sprintf(`{"key":%q,"value":{"query":{"node":{"type":"SELECT_NODE","select_list":[%s,%s],"from_table":{"type":"BASE_TABLE","table_name":%q}}}}}`,
			name, star, star, last))
		last = name
	}
	tree := json.RawMessage(`{"statements":[{"node":{"type":"SELECT_NODE","cte_map":{"map":[` + strings.Join(ctes, ",") +
		`]},"select_list":[` + star + `],"from_table":{"type":"BASE_TABLE","table_name":"` + last + `"}}}]}`)
	_, err := OfSelect(tree, Options{Columns: func(_, _, _ string) ([]string, bool) { return []string{"a"}, true }})
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	tree := selectOf(`{"class":"COLUMN_REF","column_names":["dl","orders","id"]}`, `{"type":"BASE_TABLE","schema_name":"dl","table_name":"orders"}`)
	meant := TableRef{Catalog: "dl", Schema: "main", Name: "orders"}
	r, err := OfSelect(tree, Options{
		Resolve: func(ref TableRef) TableRef {
			if ref != (TableRef{Schema: "dl", Name: "orders"}) {
				t.Error(ref)
			}
			return meant
		},
		Columns: func(catalog, schema, table string) ([]string, bool) {
			return []string{"id"}, catalog == "dl" && schema == "main" && table == "orders"
		},
	})
	if err != nil || len(r.Tables) != 1 || r.Tables[0] != meant || len(r.Columns) != 1 || !r.Columns[0].Exact || r.Columns[0].From[0].Table != meant {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNameColumns(t *testing.T) {
	t.Parallel()
	r := Read{Columns: []Column{{Name: ""}, {Name: "b"}}, Complete: true}
	if r.NameColumns([]string{"only one"}) || !r.NameColumns([]string{"sum(a)", "b"}) || r.Columns[0].Name != "sum(a)" {
		t.Error(r)
	}
	r.Complete = false
	if r.NameColumns([]string{"x", "y"}) || r.Columns[0].Name == "x" {
		t.Error("columns that are not known one by one were named")
	}
}

func FuzzOfSelect(f *testing.F) {
	for _, tree := range trees(f) {
		f.Add([]byte(tree))
	}
	f.Fuzz(func(t *testing.T, tree []byte) {
		o := Options{
			Columns: func(_, _, table string) ([]string, bool) { return []string{"a", "b", table}, len(table)%2 == 0 },
			Named: func(_ Kind, _, _, name string) (NamedSelect, bool) {
				return NamedSelect{tree, []string{"p"}}, name == "t"
			},
		}
		r, err := OfSelect(tree, o)
		if err == nil && !json.Valid(tree) {
			t.Error("no JSON, no error")
		}
		again, err2 := OfSelect(tree, o)
		if (err == nil) != (err2 == nil) || show(r) != show(again) {
			t.Errorf("not the same twice:\n%s\n%s", show(r), show(again))
		}
	})
}
