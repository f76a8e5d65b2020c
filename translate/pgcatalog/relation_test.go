package pgcatalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// TestRelations prints relations over the fixture: "rows REL [column=value …]" with the
// columns to show as the input.
func TestRelations(t *testing.T) {
	t.Parallel()
	c := fixture(t)
	datadriven.RunTest(t, "testdata/relations", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "rows" {
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		eq := map[string]string{}
		for _, a := range d.CmdArgs[1:] {
			eq[a.Key] = strings.Join(a.Vals, ",")
		}
		rows, err := readAll(c, d.CmdArgs[0].Key, eq, strings.Fields(d.Input))
		if err != nil {
			return "error: " + err.Error()
		}
		if len(rows) == 0 {
			return "(none)"
		}
		return strings.Join(rows, "\n")
	})
}

// Every relation can be read, without rows or with rows of all its columns, and a scan
// that is left early ends.
func TestEveryRelation(t *testing.T) {
	t.Parallel()
	c := fixture(t)
	for schema, list := range New().byName {
		for name, r := range list {
			if _, err := readAll(c, schema+"."+name, nil, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			it, err := r.Rows(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := it.Next(); err != nil && !errors.Is(err, exec.EOF) {
				t.Errorf("%s: %v", name, err)
			}
			it.Close()
			it.Close()
			for i := range r.cols {
				if _, ok := types.Lookup(r.cols[i].Type.OID); !ok {
					t.Errorf("%s.%s has an unknown type", name, r.cols[i].Name)
				}
			}
		}
	}
}

// A constraint never loses a row that it allows: reading with one and filtering give the same.
func TestHintsOnlyNarrow(t *testing.T) {
	t.Parallel()
	c := fixture(t)
	for schema, list := range New().byName {
		for name, r := range list {
			all, err := readAll(c, schema+"."+name, nil, nil)
			if err != nil || len(all) == 0 || len(all) > 200 {
				continue
			}
			for i, col := range r.cols {
				if strings.ContainsAny(all[0], "\n") || col.Type.OID == types.Float4OID {
					continue
				}
				for _, row := range all {
					v := strings.Split(row, "|")
					if len(v) != len(r.cols) || v[i] == "∅" {
						continue
					}
					got, err := readAll(c, schema+"."+name, map[string]string{col.Name: v[i]}, nil)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					for _, want := range all {
						w := strings.Split(want, "|")
						if len(w) != len(r.cols) || w[i] != v[i] {
							continue
						}
						found := false
						for _, g := range got {
							found = found || g == want
						}
						if !found {
							t.Errorf("%s with %s = %s loses %s", name, col.Name, v[i], want)
						}
					}
				}
			}
		}
	}
}

func TestNullHint(t *testing.T) {
	t.Parallel()
	c := fixture(t)
	r := New().find("pg_catalog.pg_class")
	it, err := r.Rows(c, map[int]types.Datum{r.index["oid"]: types.Null})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if _, err := it.Next(); !errors.Is(err, exec.EOF) {
		t.Errorf("a comparison with NULL has rows: %v", err)
	}
}
