package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/internal/strictyaml"
)

// registered are the table catalogs of the cases, and notes what it was asked for.
type registered struct {
	list  map[string]TableCatalog
	asked []string
	err   error
}

func (r *registered) TableCatalog(_ context.Context, name string) (*TableCatalog, error) {
	r.asked = append(r.asked, name)
	c, ok := r.list[name]
	if !ok || r.err != nil {
		return nil, r.err
	}
	return &c, nil
}

func catalogs() *registered {
	r := &registered{list: map[string]TableCatalog{}}
	for name, t := range map[string]TableCatalogType{"ice": Iceberg, "del": Delta, "uc": DeltaUC, "ch": ClickHouse, "non": None, "duck": DuckLake} {
		r.list[name] = TableCatalog{Name: name, Type: t, Connection: map[string]string{"uri": name}}
	}
	return r
}

// given is a case as the files have it. Texts with what an editor would not show are written quoted,
// with escapes, by YAML.
type given struct {
	N      *Policy           `yaml:"N"`
	P      *Policy           `yaml:"P"`
	NS     *string           `yaml:"ns"`
	Name   *string           `yaml:"name"`
	Props  map[string]string `yaml:"props"`
	Lookup string            `yaml:"lookup"` // the error of the look-up
	Gone   string            `yaml:"gone"`   // a table catalog that is not registered any more
}

// told writes a text so that everything in it can be seen.
func told(s string) string {
	if q := strconv.QuoteToASCII(s); q != `"`+s+`"` || Blank(s) || strings.TrimSpace(s) != s {
		return q
	}
	return s
}

// TestResolve has the cases of the resolver: the order of steps, identifiers, templates, and the merge.
// In the files N and P are the policies of the namespace and the stream.
func TestResolve(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/resolve", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var g given
			if err := strictyaml.Decode([]byte(d.Input), &g); err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			known := catalogs()
			delete(known.list, g.Gone)
			if g.Lookup != "" {
				known.err = errors.New(g.Lookup)
			}
			in := Input{g.N, g.P, StreamID{"public/default", "orders"}, g.Props, known}
			if g.NS != nil {
				in.ID.Namespace = *g.NS
			}
			if g.Name != nil {
				in.ID.Name = *g.Name
			}
			before := encode(t, in.Namespace) + encode(t, in.Stream)
			r, err := Resolve(t.Context(), in)
			if after := encode(t, in.Namespace) + encode(t, in.Stream); after != before {
				t.Errorf("%s: the policies have changed: %s", d.Pos, after)
			}
			out := outcome(r, err)
			if d.Cmd == "effective" && r.Resolved != nil {
				out = encode(t, &r.Resolved.Effective)
			}
			if d.HasArg("asked") {
				out += fmt.Sprintf("\nasked for %q", known.asked)
			}
			return out + "\n"
		})
	})
}

func outcome(r Resolution, err error) string {
	switch {
	case err != nil:
		return "FAIL " + err.Error()
	case r.Resolved == nil:
		return fmt.Sprintf("NM %s: %s", r.Step, r.Reason)
	}
	x := r.Resolved
	return fmt.Sprintf("OK %s %s %s", x.Catalog.Name, told(x.TableIdentifier.Namespace), told(x.TableIdentifier.Name))
}

func encode(t testing.TB, p *Policy) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
