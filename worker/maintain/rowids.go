package maintain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/worker/duck"
)

// A merge leaves out the column with the rows' ids when each of its sources begins with the
// id at which the one before it ends, by row_id_start and record_count of the catalog. That
// is wrong for a file whose rows have other ids than start and position (one that an UPDATE
// or a flush wrote), and for a table that is sorted, where rows change places. On Eider such
// files have no start, and what would go wrong all the same is refused. Elsewhere the worker
// looks before it merges.

// rowIDField is the field id of the column with row ids in DuckLake's files.
const rowIDField = 2147483540

// source is a data file that a merge may take, in the order in which a merge takes them.
type source struct {
	path           string // of the catalog
	start, records int64
	hasStart       bool
	group          string // partition
	// other says that the ids of the file's rows are not start and position.
	other bool
}

// renumbers says why a merge of the sources could give rows other ids; "" if it cannot.
// DuckLake may merge any run of a group's files.
func renumbers(files []source, sorted bool) string {
	last := map[string]source{}
	for _, f := range files {
		prev, ok := last[f.group]
		last[f.group] = f
		if !ok || !prev.hasStart || !f.hasStart || prev.start+prev.records != f.start {
			continue // the merge writes the ids
		}
		switch {
		case sorted:
			return "the table is sorted, and its files are adjacent"
		case prev.other:
			return "adjacent files have row ids of their own, " + prev.path + " for one"
		case f.other:
			return "adjacent files have row ids of their own, " + f.path + " for one"
		}
	}
	return ""
}

// adjacent are the paths of files that a merge would take for adjacent to another one.
func adjacent(files []source) []string {
	var paths []string
	last := map[string]source{}
	for _, f := range files {
		prev, ok := last[f.group]
		last[f.group] = f
		if ok && prev.hasStart && f.hasStart && prev.start+prev.records == f.start {
			paths = append(paths, prev.path, f.path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// sources reads the files that a merge step may take.
func (c *Catalog) sources(ctx context.Context, s *Step) (files []source, sorted bool, err error) {
	tx, err := c.conn.Begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	r := reader{Catalog: c, tx: tx}
	var id int64
	if err := r.each(ctx, "SELECT t.table_id FROM "+r.table("ducklake_table")+" t JOIN "+r.table("ducklake_schema")+" s ON s.schema_id = t.schema_id"+
		" WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND t.table_name = "+duck.Literal(s.Table)+" AND s.schema_name = "+duck.Literal(s.Schema),
		[]any{&id}, func() {}); err != nil {
		return nil, false, err
	}
	if err := r.each(ctx, fmt.Sprintf("SELECT table_id FROM %s WHERE end_snapshot IS NULL AND table_id = %d", r.table("ducklake_sort_info"), id),
		[]any{new(int64)}, func() { sorted = true }); err != nil {
		return nil, false, err
	}
	var f source
	err = r.each(ctx, fmt.Sprintf("SELECT f.path, coalesce(f.row_id_start, 0), f.row_id_start IS NOT NULL, f.record_count, coalesce(p.vals, '')"+
		" FROM %s f LEFT JOIN (SELECT DISTINCT data_file_id FROM %s WHERE table_id = %d) d ON d.data_file_id = f.data_file_id"+
		" LEFT JOIN (SELECT data_file_id, string_agg(coalesce(partition_value, 'NULL'), '/' ORDER BY partition_key_index) AS vals FROM %s WHERE table_id = %d GROUP BY data_file_id) p ON p.data_file_id = f.data_file_id"+
		" WHERE f.table_id = %d AND f.end_snapshot IS NULL AND d.data_file_id IS NULL AND f.file_size_bytes >= %d AND f.file_size_bytes < %d"+
		" ORDER BY f.begin_snapshot, f.row_id_start, f.data_file_id",
		r.table("ducklake_data_file"), r.table("ducklake_delete_file"), id, r.table("ducklake_file_partition_value"), id, id, s.Tier.Min, s.Tier.Max),
		[]any{&f.path, &f.start, &f.hasStart, &f.records, &f.group}, func() { files = append(files, f) })
	return files, sorted, err
}

// checkRowIDs says why a merge step would give rows other ids; "" if it would not. Files that
// cannot be read count as having ids of their own.
func (c *Catalog) checkRowIDs(ctx context.Context, db Engine, lake string, s *Step) (string, error) {
	files, sorted, err := c.sources(ctx, s)
	if err != nil {
		return "", fmt.Errorf("read the catalog: %w", err)
	}
	paths := adjacent(files)
	if len(paths) == 0 {
		return "", nil
	}
	if !sorted {
		other, err := embedded(ctx, db, lake, s, files, paths)
		if err != nil {
			return "the row ids of its files cannot be read: " + err.Error(), nil
		}
		for i := range files {
			files[i].other = other[files[i].path]
		}
	}
	return renumbers(files, sorted), nil
}

// embedded says which of some files have rows with other ids than start and position.
func embedded(ctx context.Context, db Engine, lake string, s *Step, files []source, paths []string) (map[string]bool, error) {
	listed, err := db.Query(ctx, fmt.Sprintf("SELECT data_file FROM ducklake_list_files(%s, %s, schema => %s)", duck.Literal(lake), duck.Literal(s.Table), duck.Literal(s.Schema)))
	if err != nil {
		return nil, err
	}
	byFile := map[string]source{} // by absolute path
	for _, row := range listed {
		full, _ := row[0].(string)
		for _, f := range files {
			if _, want := slices.BinarySearch(paths, f.path); want && strings.HasSuffix(full, f.path) {
				byFile[full] = f
			}
		}
	}
	if len(byFile) < len(paths) {
		return nil, fmt.Errorf("%d of %d files are not listed", len(paths)-len(byFile), len(paths))
	}
	other := map[string]bool{}
	for full, f := range byFile {
		col, err := db.Query(ctx, fmt.Sprintf("SELECT name FROM parquet_schema(%s) WHERE field_id = %d", duck.Literal(full), rowIDField))
		if err != nil {
			return nil, err
		}
		if len(col) == 0 {
			continue
		}
		name, _ := col[0][0].(string)
		rows, err := db.Query(ctx, fmt.Sprintf("SELECT count(*) FROM read_parquet(%s, file_row_number => true) WHERE %s IS DISTINCT FROM %d + file_row_number",
			duck.Literal(full), duck.Ident(name), f.start))
		if err != nil {
			return nil, err
		}
		n, _ := rows[0][0].(int64)
		other[f.path] = n > 0
	}
	return other, nil
}
