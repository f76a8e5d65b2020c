package script

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Table is the content of one table of a catalog, reduced to what two servers must agree on.
type Table struct {
	Schema, Name string
	Columns      []string // name:type:modifier
	Rows         [][]string
}

// lines renders the rows, sorted.
func (t Table) lines() []string {
	out := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		out[i] = strings.Join(r, separator)
	}
	sort.Strings(out)
	return out
}

// column is the index of a column, or -1.
func (t Table) column(name string) int {
	for i, c := range t.Columns {
		if strings.HasPrefix(c, name+":") {
			return i
		}
	}
	return -1
}

const listTables = `SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ` +
	`WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1, 2`

// dump reads all tables of a database, by schema and name.
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
	return tables, nil
}

func dumpTable(ctx context.Context, c *pgconn.PgConn, schema, name string, norm *normaliser) (Table, error) {
	res, err := c.Exec(ctx, "SELECT * FROM "+quote(schema)+"."+quote(name)).ReadAll()
	if err != nil {
		return Table{}, err
	}
	t := Table{Schema: schema, Name: name}
	known := strings.HasPrefix(name, "ducklake_") && !strings.HasPrefix(name, "ducklake_inlined_data_") || name == "ducklake_inlined_data_tables"
	for _, f := range res[0].FieldDescriptions {
		t.Columns = append(t.Columns, fmt.Sprintf("%s:%d:%d", f.Name, f.DataTypeOID, f.TypeModifier))
	}
	for _, row := range res[0].Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			switch {
			case v == nil:
				parts[i] = "NULL"
			case known:
				parts[i] = norm.metadata(name, res[0].FieldDescriptions[i].Name, string(v))
			default:
				parts[i] = norm.text(string(v))
			}
		}
		t.Rows = append(t.Rows, parts)
	}
	return t, nil
}

// metadata reduces a value of a DuckLake table.
func (n *normaliser) metadata(table, column, v string) string {
	switch column {
	case "file_size_bytes", "footer_size":
		// Delete files hold the random names of the files they belong to, which compress well or less well.
		if table == "ducklake_delete_file" {
			return "#size"
		}
	case "snapshot_time", "schedule_start":
		return "#time"
	case "encryption_key":
		return "#key"
	case "schema_uuid", "table_uuid", "view_uuid":
		return "#uuid"
	case "path", "sql", "value":
		return anyUUID.ReplaceAllString(n.text(v), "#uuid")
	}
	return n.text(v)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// compareTables lists the differences between two dumps. Dumps that are equal but for the numbering of their files are equal: a client that
// writes several files at once numbers them as they come.
func compareTables(a, b []Table) []string {
	diffs := differences(a, b)
	if len(diffs) > 0 && len(differences(renumber(a), renumber(b))) == 0 {
		return nil
	}
	return diffs
}

func differences(a, b []Table) []string {
	var diffs []string
	byName := map[string]Table{}
	for _, t := range b {
		byName[t.Schema+"."+t.Name] = t
	}
	for _, t := range a {
		name := t.Schema + "." + t.Name
		u, ok := byName[name]
		delete(byName, name)
		if !ok {
			diffs = append(diffs, "table "+name+": missing on eider")
			continue
		}
		if x, y := strings.Join(t.Columns, " "), strings.Join(u.Columns, " "); x != y {
			diffs = append(diffs, fmt.Sprintf("table %s: columns\n  pg    %s\n  eider %s", name, x, y))
		}
		rows := compareRows(name, t.lines(), u.lines())
		if t.Name == "ducklake_data_file" {
			rows = withoutStarts(rows, t.column("row_id_start"))
		}
		diffs = append(diffs, rows...)
	}
	var extra []string
	for name := range byName {
		extra = append(extra, "table "+name+": only on eider")
	}
	sort.Strings(extra)
	return append(diffs, extra...)
}

// renumber gives the files of each schema new ids in the order of what the catalog says about them.
func renumber(tables []Table) []Table {
	schemas := map[string]map[string]Table{}
	for _, t := range tables {
		if schemas[t.Schema] == nil {
			schemas[t.Schema] = map[string]Table{}
		}
		schemas[t.Schema][t.Name] = t
	}
	out := make([]Table, len(tables))
	ids := map[string]map[string]string{}
	for schema, byName := range schemas {
		ids[schema] = map[string]string{"NULL": "NULL"}
		number(byName["ducklake_data_file"], "data_file_id", "data", ids[schema], byName["ducklake_file_column_stats"])
		number(byName["ducklake_delete_file"], "delete_file_id", "delete", ids[schema], Table{})
	}
	for i, t := range tables {
		out[i] = replaceIDs(t, ids[t.Schema])
	}
	return out
}

// number orders the files of a table by their rows and by the statistics about them, and gives them names by that order.
func number(t Table, column, prefix string, ids map[string]string, stats Table) {
	col := t.column(column)
	if col < 0 {
		return
	}
	about := map[string][]string{}
	if c := stats.column(column); c >= 0 {
		for _, r := range stats.Rows {
			about[r[c]] = append(about[r[c]], strings.Join(replaceIDs(Table{Columns: stats.Columns, Rows: [][]string{r}}, nil).Rows[0], "|"))
		}
	}
	type file struct{ key, id string }
	files := make([]file, len(t.Rows))
	for i, r := range t.Rows {
		own := about[r[col]]
		sort.Strings(own)
		row := append([]string(nil), r...)
		row[col] = ""
		row = replaceIDs(Table{Columns: t.Columns, Rows: [][]string{row}}, ids).Rows[0]
		files[i] = file{strings.Join(row, "|") + strings.Join(own, "|"), r[col]}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].key < files[j].key })
	for i, f := range files {
		ids[f.id] = fmt.Sprintf("%s %d", prefix, i+1)
	}
}

// replaceIDs puts new names for file ids into a table; files that the catalog no longer has become "gone".
func replaceIDs(t Table, ids map[string]string) Table {
	var cols []int
	for _, name := range []string{"data_file_id", "delete_file_id", "file_id"} {
		if c := t.column(name); c >= 0 {
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 || !strings.HasPrefix(t.Name, "ducklake_") && t.Name != "" || strings.HasPrefix(t.Name, "ducklake_inlined_data_") {
		return t
	}
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		row := append([]string(nil), r...)
		for _, c := range cols {
			if id, ok := ids[row[c]]; ok {
				row[c] = id
			} else {
				row[c] = "gone"
			}
		}
		rows[i] = row
	}
	return Table{Schema: t.Schema, Name: t.Name, Columns: t.Columns, Rows: rows}
}

const (
	separator = " | "
	onlyPG    = ": only on pg: "
	onlyEider = ": only on eider: "
)

// withoutStarts takes out the one difference that Eider makes in catalogs: where DuckLake's client sends a row-id start for a data file that has
// its rows' ids inside, Eider stores NULL, so that merges keep those ids. Nothing else about starts is let pass: a pair of rows has to be equal
// in all other columns, the start has to be a number on PostgreSQL and NULL on Eider, and not the other way round. That the ids are inside of every
// file whose start is NULL is looked up in the files at the end of each script (see health).
func withoutStarts(diffs []string, column int) []string {
	if column < 0 {
		return diffs
	}
	const null, number = "NULL ", "number "
	// half is what a difference is half of a pair by: a row without its start, and what stands there. It is empty if the difference is none.
	half := func(d string) (kind, rest string) {
		_, row, eider := strings.Cut(d, onlyEider)
		if !eider {
			if _, row, _ = strings.Cut(d, onlyPG); row == "" {
				return "", ""
			}
		}
		fields := strings.Split(row, separator)
		if column >= len(fields) {
			return "", ""
		}
		start := fields[column]
		fields[column] = ""
		_, err := strconv.ParseUint(start, 10, 63)
		switch {
		case eider && start == "NULL":
			kind = null
		case !eider && err == nil:
			kind = number
		}
		return kind, strings.Join(fields, separator)
	}
	halves := map[string]int{}
	for _, d := range diffs {
		kind, rest := half(d)
		halves[kind+rest]++
	}
	gone := map[string]int{}
	var out []string
	for _, d := range diffs {
		kind, rest := half(d)
		if kind != "" && gone[kind+rest] < min(halves[null+rest], halves[number+rest]) {
			gone[kind+rest]++
			continue
		}
		out = append(out, d)
	}
	return out
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
			diffs = append(diffs, "table "+name+onlyPG+r)
		}
	}
	for _, r := range b {
		if count[r] < 0 {
			count[r]++
			diffs = append(diffs, "table "+name+onlyEider+r)
		}
	}
	return diffs
}
