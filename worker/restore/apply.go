package restore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/eiderdb/eider/worker/duck"
)

// writer makes the statements of the commit, in the order in which clients send theirs.
type writer struct {
	*reader
	then     int64 // the old snapshot
	now      head
	next     head // what the new snapshot says
	sql      []string
	changes  []string
	schemas  map[int64]int64 // from now on, by the ids that they had
	versions []int64         // tables with a new schema version
}

func newWriter(r *reader, then int64, now head, was, is *Version) *writer {
	w := &writer{reader: r, then: then, now: now, next: now, schemas: map[int64]int64{}}
	w.next.id++
	for id, name := range was.Schemas {
		if there, ok := is.schemaID(name); ok {
			w.schemas[id] = there
		}
	}
	return w
}

func (w *writer) add(format string, args ...any) { w.sql = append(w.sql, fmt.Sprintf(format, args...)) }

func (w *writer) change(format string, args ...any) {
	w.changes = append(w.changes, fmt.Sprintf(format, args...))
}

func (w *writer) catalogID() int64 { w.next.nextCatalogID++; return w.next.nextCatalogID - 1 }

// end ends the live rows of a relation that a condition is true of.
func (w *writer) end(relation, where string) {
	if w.cols[relation] != nil {
		w.add("UPDATE %s SET end_snapshot = %d WHERE end_snapshot IS NULL AND %s", w.rel(relation), w.next.id, where)
	}
}

// copy adds rows of a relation again, with other values in some columns.
func (w *writer) copy(relation, where string, values map[string]string) {
	if w.cols[relation] == nil {
		return
	}
	names, from := make([]string, 0, 16), make([]string, 0, 16)
	for _, c := range w.cols[relation] {
		value, ok := values[c]
		switch {
		case ok:
		case c == "begin_snapshot":
			value = fmt.Sprint(w.next.id)
		case c == "end_snapshot":
			value = "NULL"
		case strings.HasSuffix(c, "_uuid"):
			value = "gen_random_uuid()"
		default:
			value = duck.Ident(c)
		}
		names, from = append(names, duck.Ident(c)), append(from, value)
	}
	w.add("INSERT INTO %s (%s) SELECT %s FROM %s WHERE %s", w.rel(relation), strings.Join(names, ", "), strings.Join(from, ", "), w.rel(relation), where)
}

func (w *writer) seen(cond string, args ...any) string {
	return fmt.Sprintf(cond, args...) + " AND " + at("", w.then)
}

// objects ends and makes everything but tables' rows. rows is called for each table that is
// made, with its new id and that of its partitioning.
func (w *writer) objects(p *Plan, then *Version, rows func(o *Object, id, partition int64)) {
	for _, id := range p.DropSchemas {
		w.end("ducklake_schema", fmt.Sprintf("schema_id = %d", id))
		w.end("ducklake_tag", fmt.Sprintf("object_id = %d", id))
		w.change("dropped_schema:%d", id)
	}
	for i := range p.Drop {
		w.dropTable(p.Drop[i].ID)
	}
	for _, o := range p.DropViews {
		w.end("ducklake_view", fmt.Sprintf("view_id = %d", o.ID))
		w.end("ducklake_tag", fmt.Sprintf("object_id = %d", o.ID))
		w.change("dropped_view:%d", o.ID)
	}
	for _, id := range p.CreateSchemas {
		w.schemas[id] = w.catalogID()
		w.copy("ducklake_schema", w.seen("schema_id = %d", id), map[string]string{"schema_id": fmt.Sprint(w.schemas[id])})
		w.tags(id, w.schemas[id])
		w.change("created_schema:%s", duck.Ident(then.Schemas[id]))
	}
	for i := range p.Create {
		o := &p.Create[i]
		id, partition := w.createTable(o)
		rows(o, id, partition)
	}
	for _, o := range p.CreateViews {
		id := w.catalogID()
		w.copy("ducklake_view", w.seen("view_id = %d", o.ID), map[string]string{"view_id": fmt.Sprint(id), "schema_id": w.schema(&o)})
		w.tags(o.ID, id)
		w.change("created_view:%s.%s", duck.Ident(o.Schema), duck.Ident(o.Name))
	}
	for _, o := range p.CreateMacros {
		id := fmt.Sprint(w.catalogID())
		w.copy("ducklake_macro", w.seen("macro_id = %d", o.ID), map[string]string{"macro_id": id, "schema_id": w.schema(&o)})
		of := fmt.Sprintf("macro_id = %d", o.ID)
		w.copy("ducklake_macro_impl", of, map[string]string{"macro_id": id})
		w.copy("ducklake_macro_parameters", of, map[string]string{"macro_id": id})
		w.change("created_%s_macro:%s.%s", o.Kind, duck.Ident(o.Schema), duck.Ident(o.Name))
	}
	for _, o := range p.DropMacros {
		w.end("ducklake_macro", fmt.Sprintf("macro_id = %d", o.ID))
		w.change("dropped_%s_macro:%d", o.Kind, o.ID)
	}
}

// schema is the id that the schema of an object has from now on.
func (w *writer) schema(o *Object) string {
	return fmt.Sprint(w.schemas[o.SchemaID])
}

func (w *writer) tags(id, to int64) {
	w.copy("ducklake_tag", w.seen("object_id = %d", id), map[string]string{"object_id": fmt.Sprint(to)})
}

// tableParts are the relations with rows of a table that end with it.
var tableParts = []string{
	"ducklake_table", "ducklake_column", "ducklake_column_tag", "ducklake_partition_info", "ducklake_sort_info", "ducklake_data_file", "ducklake_delete_file",
}

func (w *writer) dropTable(id int64) {
	for _, relation := range tableParts {
		w.end(relation, fmt.Sprintf("table_id = %d", id))
	}
	w.end("ducklake_tag", fmt.Sprintf("object_id = %d", id))
	w.change("dropped_table:%d", id)
}

// createTable makes a table of the old version again, under a new id, without rows. It
// returns the id, and that of its partitioning, if it has one.
func (w *writer) createTable(o *Object) (id, partition int64) {
	id = w.catalogID()
	with := func(more ...string) map[string]string {
		m := map[string]string{"table_id": fmt.Sprint(id)}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	of := fmt.Sprintf("table_id = %d", o.ID)
	w.copy("ducklake_table", w.seen("%s", of), with("schema_id", w.schema(o)))
	w.copy("ducklake_column", w.seen("%s", of), with())
	w.copy("ducklake_column_tag", w.seen("%s", of), with())
	for _, p := range []struct{ info, id, parts string }{
		{"ducklake_partition_info", "partition_id", "ducklake_partition_column"},
		{"ducklake_sort_info", "sort_id", "ducklake_sort_expression"},
	} {
		if w.cols[p.info] == nil {
			continue
		}
		// At most one is seen; the id is used up when there is none.
		n := w.catalogID()
		if p.id == "partition_id" {
			partition = n
		}
		part := fmt.Sprint(n)
		w.copy(p.info, w.seen("%s", of), with(p.id, part))
		w.copy(p.parts, fmt.Sprintf("%s AND %s IN (SELECT %s FROM %s WHERE %s)", of, p.id, p.id, w.rel(p.info), w.seen("%s", of)), with(p.id, part))
	}
	w.tags(o.ID, id)
	// Row ids go on where the old table's were.
	w.add("INSERT INTO %s (table_id, record_count, next_row_id, file_size_bytes) SELECT %d, 0, next_row_id, 0 FROM %s WHERE %s", w.rel("ducklake_table_stats"), id, w.rel("ducklake_table_stats"), of)
	w.copy("ducklake_table_column_stats", fmt.Sprintf("%s AND column_id IN (SELECT column_id FROM %s WHERE %s)", of, w.rel("ducklake_column"), w.seen("%s", of)), with())
	w.change("created_table:%s.%s", duck.Ident(o.Schema), duck.Ident(o.Name))
	w.versions = append(w.versions, id)
	return id, partition
}

// replace ends all rows of a table and adds files in their place. partition is the id of its
// partitioning, if it has one.
func (w *writer) replace(p *Pair, files []file, partition int64, inlined []string) {
	id, stats := p.Now.ID, w.rel("ducklake_table_stats")
	w.end("ducklake_data_file", fmt.Sprintf("table_id = %d", id))
	w.end("ducklake_delete_file", fmt.Sprintf("table_id = %d", id))
	for _, relation := range inlined {
		w.add("UPDATE %s SET end_snapshot = %d WHERE end_snapshot IS NULL", w.rel(relation), w.next.id)
	}
	if p.Then.ID != id && len(files) > 0 {
		// Ids that were another table's are not given out again.
		w.add("INSERT INTO %[1]s (table_id, record_count, next_row_id, file_size_bytes) SELECT %[2]d, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM %[1]s WHERE table_id = %[2]d)", stats, id)
		w.add("UPDATE %[1]s SET next_row_id = (SELECT max(next_row_id) FROM %[1]s WHERE table_id IN (%[2]d, %[3]d)) WHERE table_id = %[2]d", stats, id, p.Then.ID)
		// Statistics of columns that are no wider than the old table's would hide its rows.
		w.add("DELETE FROM %s WHERE table_id = %d", w.rel("ducklake_table_column_stats"), id)
	}
	w.files(id, files, partition)
	if len(inlined) > 0 {
		w.change("inlined_delete:%d", id)
	}
	w.change("deleted_from_table:%d", id)
}

// files registers data files. partition is the id of the table's partitioning, and of no
// account for files without partition.
func (w *writer) files(table int64, files []file, partition int64) {
	if len(files) == 0 {
		return
	}
	rows, bytes := int64(0), int64(0)
	for _, f := range files {
		id := w.next.nextFileID
		w.next.nextFileID++
		rows, bytes = rows+f.rows, bytes+f.bytes
		w.add("INSERT INTO %s (data_file_id, table_id, begin_snapshot, path, path_is_relative, file_format, record_count, file_size_bytes, footer_size, partition_id, encryption_key) VALUES (%d, %d, %d, %s, true, 'parquet', %d, %d, %d, %s, %s)",
			w.rel("ducklake_data_file"), id, table, w.next.id, duck.Literal(f.name), f.rows, f.bytes, f.footer, orNull(fmt.Sprint(partition), len(f.partition) > 0), literalOrNull(f.key, f.key != ""))
		for _, p := range f.partition {
			w.add("INSERT INTO %s (data_file_id, table_id, partition_key_index, partition_value) VALUES (%d, %d, %d, %s)", w.rel("ducklake_file_partition_value"), id, table, p.index, literalOrNull(p.value, !p.null))
		}
		for _, s := range f.stats {
			w.add("INSERT INTO %s (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value, contains_nan) VALUES (%d, %d, %d, %s, %s, %s, %s, %s, %s)",
				w.rel("ducklake_file_column_stats"), id, table, s.column, orNull(s.size, s.size != ""), orNull(s.values, s.values != ""), orNull(s.nulls, s.nulls != ""),
				literalOrNull(s.min, s.hasMin), literalOrNull(s.max, s.hasMax), orNull(s.nan, s.isNaN))
		}
	}
	w.add("UPDATE %s SET record_count = record_count + %d, file_size_bytes = file_size_bytes + %d WHERE table_id = %d", w.rel("ducklake_table_stats"), rows, bytes, table)
	w.change("inserted_into_table:%d", table)
}

func orNull(s string, ok bool) string {
	if !ok {
		return "NULL"
	}
	return s
}

func literalOrNull(s string, ok bool) string { return orNull(duck.Literal(s), ok) }

// retag gives a table that stays the comments that it had.
func (w *writer) retag(ctx context.Context, p *Pair) error {
	differs := false
	for _, t := range []struct{ relation, of string }{{"ducklake_tag", "object_id"}, {"ducklake_column_tag", "table_id"}} {
		if w.cols[t.relation] == nil {
			continue
		}
		was, is := fmt.Sprintf("%s = %d", t.of, p.Then.ID), fmt.Sprintf("%s = %d", t.of, p.Now.ID)
		var sides [2]map[string]int
		for i, cond := range []string{was + " AND " + at("", w.then), is + " AND " + at("", w.now.id)} {
			sides[i] = map[string]int{}
			var text string
			if err := w.each(ctx, fmt.Sprintf("SELECT %s FROM %s x WHERE %s", w.shape(t.relation, "x", t.of), w.rel(t.relation), cond), []any{&text}, func() { sides[i][text]++ }); err != nil {
				return err
			}
		}
		if maps.Equal(sides[0], sides[1]) {
			continue
		}
		differs = true
		w.end(t.relation, is)
		w.copy(t.relation, w.seen("%s", was), map[string]string{t.of: fmt.Sprint(p.Now.ID)})
	}
	if differs {
		w.change("altered_table:%d", p.Now.ID)
		w.versions = append(w.versions, p.Now.ID)
	}
	return nil
}

// batch is the commit: the new snapshot first, its changes last.
func (w *writer) batch(author, message string) string {
	if len(w.versions) > 0 || slices.ContainsFunc(w.changes, func(c string) bool {
		return strings.HasPrefix(c, "created_") || strings.HasPrefix(c, "dropped_")
	}) {
		w.next.schemaVersion++
	}
	all := []string{fmt.Sprintf("INSERT INTO %s (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id) VALUES (%d, now(), %d, %d, %d)",
		w.rel("ducklake_snapshot"), w.next.id, w.next.schemaVersion, w.next.nextCatalogID, w.next.nextFileID)}
	all = append(all, w.sql...)
	for _, table := range w.versions {
		all = append(all, fmt.Sprintf("INSERT INTO %s (begin_snapshot, schema_version, table_id) VALUES (%d, %d, %d)", w.rel("ducklake_schema_versions"), w.next.id, w.next.schemaVersion, table))
	}
	all = append(all, fmt.Sprintf("INSERT INTO %s (snapshot_id, changes_made, author, commit_message) VALUES (%d, %s, %s, %s)",
		w.rel("ducklake_snapshot_changes"), w.next.id, duck.Literal(strings.Join(w.changes, ",")), literalOrNull(author, author != ""), duck.Literal(message)))
	return strings.Join(all, ";\n")
}
