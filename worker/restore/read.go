package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/worker/duck"
)

// reader reads the catalog in a transaction.
type reader struct {
	tx   pgx.Tx
	lake string // metadata schema
	cols map[string][]string
}

// head is the newest snapshot.
type head struct{ id, schemaVersion, nextCatalogID, nextFileID int64 }

func (r *reader) rel(name string) string { return duck.Ident(r.lake) + "." + duck.Ident(name) }

func (r *reader) each(ctx context.Context, sql string, to []any, f func()) error {
	rows, err := r.tx.Query(ctx, sql)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, to, func() error { f(); return nil })
	return err
}

// columns reads the columns of all relations of the lake.
func (r *reader) columns(ctx context.Context) error {
	r.cols = map[string][]string{}
	var table, column string
	return r.each(ctx, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = "+duck.Literal(r.lake)+" ORDER BY table_name, ordinal_position",
		[]any{&table, &column}, func() { r.cols[table] = append(r.cols[table], column) })
}

func (r *reader) head(ctx context.Context) (h head, err error) {
	err = r.tx.QueryRow(ctx, "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM "+r.rel("ducklake_snapshot")+" ORDER BY snapshot_id DESC LIMIT 1").
		Scan(&h.id, &h.schemaVersion, &h.nextCatalogID, &h.nextFileID)
	return h, err
}

// at is the condition for rows that a snapshot sees.
func at(alias string, n int64) string {
	return fmt.Sprintf("%[1]sbegin_snapshot <= %[2]d AND (%[1]send_snapshot IS NULL OR %[1]send_snapshot > %[2]d)", alias, n)
}

// shape is the concatenation of a relation's columns, but for those that say when, UUIDs and
// some others.
func (r *reader) shape(relation, alias string, but ...string) string {
	var parts []string
next:
	for _, c := range r.cols[relation] {
		if strings.HasSuffix(c, "_uuid") {
			continue
		}
		for _, b := range append(but, "begin_snapshot", "end_snapshot") {
			if b == c {
				continue next
			}
		}
		parts = append(parts, "coalesce('=' || CAST("+alias+"."+duck.Ident(c)+" AS text), '-')")
	}
	if len(parts) == 0 {
		return "''"
	}
	return strings.Join(parts, " || '|' || ")
}

// version reads what a snapshot sees.
func (r *reader) version(ctx context.Context, n int64) (*Version, error) {
	v := &Version{Schemas: map[int64]string{}}
	var id int64
	var text string
	if err := r.each(ctx, "SELECT schema_id, schema_name FROM "+r.rel("ducklake_schema")+" WHERE "+at("", n), []any{&id, &text}, func() { v.Schemas[id] = text }); err != nil {
		return nil, err
	}
	for _, k := range []struct {
		relation, id, name, kind string
		to                       *[]Object
	}{
		{"ducklake_table", "table_id", "table_name", "''", &v.Tables},
		{"ducklake_view", "view_id", "view_name", "''", &v.Views},
		{"ducklake_macro", "macro_id", "macro_name", "coalesce((SELECT min(type) FROM " + r.rel("ducklake_macro_impl") + " i WHERE i.macro_id = x.macro_id), '')", &v.Macros},
	} {
		if r.cols[k.relation] == nil {
			continue // of an older format
		}
		var o Object
		err := r.each(ctx, fmt.Sprintf("SELECT %s, schema_id, %s, %s, %s FROM %s x WHERE %s ORDER BY 1", k.id, k.name, r.shape(k.relation, "x", k.id, "schema_id", "path", "path_is_relative"), k.kind, r.rel(k.relation), at("", n)),
			[]any{&o.ID, &o.SchemaID, &o.Name, &o.Shape, &o.Kind}, func() {
				o.Schema = v.Schemas[o.SchemaID]
				*k.to = append(*k.to, o)
			})
		if err != nil {
			return nil, err
		}
	}
	return v, errors.Join(r.parts(ctx, v, n), r.macros(ctx, v))
}

// macros adds to the shapes of macros what they do.
func (r *reader) macros(ctx context.Context, v *Version) error {
	at := map[int64]int{}
	for i := range v.Macros {
		at[v.Macros[i].ID] = i
	}
	for _, relation := range []string{"ducklake_macro_impl", "ducklake_macro_parameters"} {
		if len(at) == 0 || r.cols[relation] == nil {
			continue
		}
		shape := r.shape(relation, "x", "macro_id")
		var id int64
		var text string
		if err := r.each(ctx, fmt.Sprintf("SELECT macro_id, %s FROM %s x ORDER BY 1, 2", shape, r.rel(relation)), []any{&id, &text}, func() {
			if i, ok := at[id]; ok {
				v.Macros[i].Shape += "\n" + text
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// parts adds to the shapes of tables their columns, partitioning and sorting.
func (r *reader) parts(ctx context.Context, v *Version, n int64) error {
	shapes := map[int64]*strings.Builder{}
	for i := range v.Tables {
		shapes[v.Tables[i].ID] = &strings.Builder{}
	}
	var id int64
	var text string
	for _, q := range []string{
		fmt.Sprintf("SELECT table_id, %s FROM %s x WHERE %s ORDER BY table_id, column_id", r.shape("ducklake_column", "x", "table_id"), r.rel("ducklake_column"), at("", n)),
		fmt.Sprintf("SELECT x.table_id, %s FROM %s x JOIN %s i ON i.partition_id = x.partition_id AND i.table_id = x.table_id WHERE %s ORDER BY x.table_id, partition_key_index",
			r.shape("ducklake_partition_column", "x", "table_id", "partition_id"), r.rel("ducklake_partition_column"), r.rel("ducklake_partition_info"), at("i.", n)),
		fmt.Sprintf("SELECT x.table_id, %s FROM %s x JOIN %s i ON i.sort_id = x.sort_id AND i.table_id = x.table_id WHERE %s ORDER BY x.table_id, sort_key_index",
			r.shape("ducklake_sort_expression", "x", "table_id", "sort_id"), r.rel("ducklake_sort_expression"), r.rel("ducklake_sort_info"), at("i.", n)),
	} {
		if strings.Contains(q, "ducklake_sort_info") && r.cols["ducklake_sort_info"] == nil {
			continue
		}
		if err := r.each(ctx, q, []any{&id, &text}, func() {
			if b := shapes[id]; b != nil {
				b.WriteString("\n" + text)
			}
		}); err != nil {
			return err
		}
		for _, b := range shapes {
			b.WriteString("\n")
		}
	}
	for i := range v.Tables {
		v.Tables[i].Shape += shapes[v.Tables[i].ID].String()
	}
	return nil
}

// column is a column of a table with its children.
type column struct {
	id       int64
	name     string
	children []column
}

// columnsOf reads a table's columns at a snapshot, as a tree.
func (r *reader) columnsOf(ctx context.Context, table, n int64) ([]column, error) {
	type flat struct {
		column
		parent int64
	}
	var all []flat
	var f flat
	err := r.each(ctx, fmt.Sprintf("SELECT column_id, column_name, coalesce(parent_column, -1) FROM %s WHERE table_id = %d AND %s ORDER BY column_order, column_id", r.rel("ducklake_column"), table, at("", n)),
		[]any{&f.id, &f.name, &f.parent}, func() { all = append(all, f) })
	if err != nil {
		return nil, err
	}
	var below func(parent int64) []column
	below = func(parent int64) (list []column) {
		for _, f := range all {
			if f.parent == parent {
				list = append(list, column{f.id, f.name, below(f.id)})
			}
		}
		return list
	}
	return below(-1), nil
}
