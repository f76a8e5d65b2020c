package script

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Table is the content of one table of a catalog, reduced to what two servers must agree on.
type Table struct {
	Name    string
	Columns string
	Rows    []string
}

const listTables = `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ` +
	`WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1, 2`

// dump reads all tables of a database, sorted by name, with their rows sorted.
func dump(ctx context.Context, dsn string, norm *normaliser) ([]Table, error) {
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	list, err := c.Exec(ctx, listTables).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	var tables []Table
	for _, row := range list[0].Rows {
		schema, name := string(row[0]), string(row[1])
		if strings.HasPrefix(schema, "pg_temp") {
			continue
		}
		t, err := dumpTable(ctx, c, schema, name, norm)
		if err != nil {
			return nil, fmt.Errorf("reading %s.%s: %w", schema, name, err)
		}
		tables = append(tables, t)
	}
	sort.Slice(tables, func(i, j int) bool { return tables[i].Name < tables[j].Name })
	return tables, nil
}

func dumpTable(ctx context.Context, c *pgconn.PgConn, schema, name string, norm *normaliser) (Table, error) {
	res, err := c.Exec(ctx, "SELECT * FROM "+quote(schema)+"."+quote(name)).ReadAll()
	if err != nil {
		return Table{}, err
	}
	t := Table{Name: schema + "." + name}
	known := strings.HasPrefix(name, "ducklake_") && !strings.HasPrefix(name, "ducklake_inlined_data_") || name == "ducklake_inlined_data_tables"
	var cols []string
	for _, f := range res[0].FieldDescriptions {
		cols = append(cols, fmt.Sprintf("%s:%d:%d", f.Name, f.DataTypeOID, f.TypeModifier))
	}
	t.Columns = strings.Join(cols, " ")
	for _, row := range res[0].Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			switch {
			case v == nil:
				parts[i] = "NULL"
			case known:
				parts[i] = norm.metadata(res[0].FieldDescriptions[i].Name, string(v))
			default:
				parts[i] = string(v)
			}
		}
		t.Rows = append(t.Rows, strings.Join(parts, " | "))
	}
	sort.Strings(t.Rows)
	return t, nil
}

// metadata reduces a value of a DuckLake table.
func (n *normaliser) metadata(column, v string) string {
	switch column {
	case "snapshot_time", "schedule_start":
		return "#time"
	case "encryption_key":
		return "#key"
	case "schema_uuid", "table_uuid", "view_uuid":
		return "#uuid"
	case "path", "sql", "value":
		return anyUUID.ReplaceAllString(n.text(v), "#uuid")
	}
	return v
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// compareTables lists the differences between two dumps.
func compareTables(a, b []Table) []string {
	var diffs []string
	byName := map[string]Table{}
	for _, t := range b {
		byName[t.Name] = t
	}
	for _, t := range a {
		u, ok := byName[t.Name]
		delete(byName, t.Name)
		if !ok {
			diffs = append(diffs, "table "+t.Name+": missing on eider")
			continue
		}
		if t.Columns != u.Columns {
			diffs = append(diffs, fmt.Sprintf("table %s: columns\n  pg    %s\n  eider %s", t.Name, t.Columns, u.Columns))
		}
		diffs = append(diffs, compareRows(t.Name, t.Rows, u.Rows)...)
	}
	var extra []string
	for name := range byName {
		extra = append(extra, "table "+name+": only on eider")
	}
	sort.Strings(extra)
	return append(diffs, extra...)
}

func compareRows(name string, a, b []string) []string {
	count := map[string]int{}
	for _, r := range a {
		count[r]++
	}
	for _, r := range b {
		count[r]--
	}
	var diffs []string
	for _, r := range a {
		if count[r] > 0 {
			count[r]--
			diffs = append(diffs, "table "+name+": only on pg: "+r)
		}
	}
	for _, r := range b {
		if count[r] < 0 {
			count[r]++
			diffs = append(diffs, "table "+name+": only on eider: "+r)
		}
	}
	return diffs
}
