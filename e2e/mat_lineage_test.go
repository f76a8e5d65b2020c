package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/materialize/lineage"
)

const lineageData = "../materialize/lineage/testdata"

// lineageCase is a SELECT of the lineage tests.
type lineageCase struct {
	file, sql string
	read      bool // and no view
}

// lineageCases reads the SELECTs, and the columns that each file says are known.
func lineageCases(t *testing.T) (cases []lineageCase, columns map[string]map[string][]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(lineageData, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	columns = map[string]map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		columns[name] = map[string][]string{}
		lines := strings.Split(string(text), "\n")
		for i := 0; i < len(lines); i++ {
			cmd, _, _ := strings.Cut(lines[i], " ")
			if cmd != "read" && cmd != "view" && cmd != "columns" {
				continue
			}
			var input []string
			for i++; lines[i] != "----"; i++ {
				input = append(input, lines[i])
			}
			if cmd != "columns" {
				cases = append(cases, lineageCase{name, strings.Join(input, "\n"), cmd == "read"})
				continue
			}
			for _, l := range input {
				at := strings.LastIndex(l, ":")
				columns[name][l[:at]] = strings.Fields(l[at+1:])
			}
		}
	}
	return cases, columns
}

// The parse trees that the lineage tests read are what DuckDB gives.
func TestLineageTrees(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(lineageData, "trees.json"))
	if err != nil {
		t.Fatal(err)
	}
	var have map[string]json.RawMessage
	if err := json.Unmarshal(text, &have); err != nil {
		t.Fatal(err)
	}
	c := duckSession(t)
	cases, _ := lineageCases(t)
	used := map[string]bool{}
	for _, x := range cases {
		used[x.sql] = true
		if got := treeOf(t, c, x.sql); got != string(have[x.sql]) {
			t.Errorf("%s: DuckDB's tree is another than that in trees.json, which trees.py beside it writes:\n%s", x.file, x.sql)
		}
	}
	for sql := range have {
		if !used[sql] {
			t.Errorf("no test needs the tree of %s", sql)
		}
	}
	t.Logf("%d trees", len(used))
}

func treeOf(t *testing.T, c duck.Session, sql string) string {
	t.Helper()
	return mustDuck(t.Context(), t, c, "SELECT json_serialize_sql('"+strings.ReplaceAll(sql, "'", "''")+"'::VARCHAR)").Rows[0][0]
}

// Of the SELECTs that DuckDB accepts on tables with the columns that the tests know, it
// has the output columns that lineage says, in number and in name.
func TestLineageColumns(t *testing.T) {
	ctx := context.Background()
	cases, columns := lineageCases(t)
	compared := 0
	for file, tables := range columns {
		c := duckSession(t)
		mustDuck(ctx, t, c, "ATTACH ':memory:' AS lake")
		for table, cols := range tables {
			if !strings.Contains(table, "/") {
				mustDuck(ctx, t, c, "CREATE TABLE "+table+" ("+strings.Join(cols, " INTEGER, ")+" INTEGER)")
			}
		}
		options := lineage.Options{Columns: func(catalog, schema, name string) ([]string, bool) {
			cols, ok := tables[strings.ToLower(lineage.TableRef{Catalog: catalog, Schema: schema, Name: name}.String())]
			return cols, ok
		}}
		for _, x := range cases {
			if x.file != file || !x.read {
				continue
			}
			described, err := c.Exec(ctx, "DESCRIBE "+x.sql)
			if err != nil {
				continue // on tables that are nowhere, mostly
			}
			r, err := lineage.OfSelect(json.RawMessage(treeOf(t, c, x.sql)), options)
			if err != nil || !r.Complete {
				continue
			}
			compared++
			var got, want []string
			for i, row := range described.Rows {
				want = append(want, row[0])
				if i < len(r.Columns) && r.Columns[i].Name == "" {
					r.Columns[i].Name = row[0] // of the expression's text
				}
			}
			for _, col := range r.Columns {
				got = append(got, col.Name)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s\nlineage has the columns %q, DuckDB %q", x.sql, got, want)
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d SELECTs were compared", compared)
	}
	t.Logf("%d SELECTs", compared)
}

// What DuckDB says has another value on another run, lineage says too.
func TestLineageUnstable(t *testing.T) {
	c := duckSession(t)
	r, err := c.Exec(context.Background(), "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability IN ('VOLATILE', 'CONSISTENT_WITHIN_QUERY') AND database_name = 'system'")
	if err != nil || len(r.Rows) < 20 {
		t.Fatal(r, err)
	}
	for _, row := range r.Rows {
		if len(lineage.Unstable(row)) != 1 && !strings.HasPrefix(row[0], "ducklake_") && !strings.HasPrefix(row[0], "postgres_") {
			t.Errorf("%s is not among the functions without a stable value", row[0])
		}
	}
}
