package restore

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names shows a plan's objects.
func names(list []Object) (out []string) {
	for _, o := range list {
		out = append(out, o.name())
	}
	return out
}

func TestNewPlan(t *testing.T) {
	t.Parallel()
	o := func(id int64, schemaID int64, schema, name, shape string) Object {
		return Object{ID: id, SchemaID: schemaID, Schema: schema, Name: name, Shape: shape}
	}
	then := &Version{
		Schemas: map[int64]string{0: "main", 7: "gone"},
		Tables:  []Object{o(1, 0, "main", "same", "x"), o(2, 0, "main", "altered", "x"), o(3, 7, "gone", "gone", "x"), o(4, 0, "main", "Again", "x")},
		Views:   []Object{o(10, 0, "main", "w", "1")},
		Macros:  []Object{{ID: 20, Schema: "main", Name: "m", Kind: "scalar", Shape: "1"}},
	}
	now := &Version{
		Schemas: map[int64]string{0: "main", 8: "new"},
		Tables:  []Object{o(1, 0, "main", "same", "x"), o(2, 0, "main", "altered", "y"), o(5, 0, "main", "again", "x"), o(6, 8, "new", "new", "x")},
		Views:   []Object{o(11, 0, "main", "w", "1"), o(12, 0, "main", "w2", "1")},
		Macros:  []Object{{ID: 20, Schema: "main", Name: "m", Kind: "table", Shape: "1"}},
	}
	for _, c := range []struct {
		name            string
		schemas, tables []string
		keep            int
		drop, create    []string
		views, macros   int // dropped or created
		schemasChanged  int
	}{
		{name: "all", keep: 2, drop: []string{"main.altered", "new.new"}, create: []string{"main.altered", "gone.gone"}, views: 1, macros: 2, schemasChanged: 2},
		{name: "one table", tables: []string{"SAME"}, keep: 1},
		{name: "a table of a schema that is gone", tables: []string{"gone.gone"}, create: []string{"gone.gone"}, schemasChanged: 1},
		{name: "one schema", schemas: []string{"new"}, drop: []string{"new.new"}, schemasChanged: 1},
	} {
		p, err := NewPlan(then, now, c.schemas, c.tables)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Keep) != c.keep || len(p.DropViews)+len(p.CreateViews) != c.views || len(p.DropMacros)+len(p.CreateMacros) != c.macros ||
			len(p.DropSchemas)+len(p.CreateSchemas) != c.schemasChanged {
			t.Errorf("%s: %+v", c.name, p)
		}
		if diff := cmp.Diff([][]string{c.drop, c.create}, [][]string{names(p.Drop), names(p.Create)}); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	if p, err := NewPlan(then, then, nil, nil); err != nil || len(p.Keep) != 4 || len(p.Drop)+len(p.Create)+len(p.DropViews)+len(p.DropMacros)+len(p.CreateSchemas)+len(p.DropSchemas) > 0 {
		t.Errorf("a version beside itself: %+v, %v", p, err)
	}
	if _, err := NewPlan(then, now, nil, []string{"zzz"}); !errors.Is(err, ErrNoTable) {
		t.Errorf("an unknown table: %v", err)
	}
}
