package paths_test

import (
	"testing"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/paths"
)

// More schemas and tables leave every file where it was; another folder of one that was there, or another data path, does not.
func TestExtends(t *testing.T) {
	t.Parallel()
	schemas := []lake.Schema{{ID: 0, Path: "main/", Relative: true}}
	tables := []lake.Table{{ID: 1, SchemaID: 0, Path: "t/", Relative: true}}
	old := paths.NewLayout("/d", schemas, tables)
	for _, c := range []struct {
		name    string
		data    string
		schemas []lake.Schema
		tables  []lake.Table
		want    bool
	}{
		{"the same", "/d", schemas, tables, true},
		{"a version in the same folder", "/d", schemas, append(tables[:1:1], tables[0]), true},
		{"a table more", "/d", schemas, append(tables[:1:1], lake.Table{ID: 2, Path: "u/", Relative: true}), true},
		{"a schema more", "/d", append(schemas[:1:1], lake.Schema{ID: 2, Path: "x/", Relative: true}), tables, true},
		{"another data path", "/e", schemas, tables, false},
		{"a folder more", "/d", schemas, append(tables[:1:1], lake.Table{ID: 1, Path: "v/", Relative: true}), false},
		{"another schema", "/d", schemas, append(tables[:1:1], lake.Table{ID: 1, SchemaID: 3, Path: "t/", Relative: true}), false},
		{"a table less", "/d", schemas, nil, false},
		{"a schema elsewhere", "/d", []lake.Schema{{ID: 0, Path: "/main/"}}, tables, false},
	} {
		if got := paths.NewLayout(c.data, c.schemas, c.tables).Extends(old); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
