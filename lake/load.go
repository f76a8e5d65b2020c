package lake

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// ErrNotALake is returned by Load when the source has no ducklake_snapshot relation.
var ErrNotALake = errors.New("lake: no ducklake_snapshot relation")

// Source gives the rows of the relations of one metadata schema, all read at one moment.
type Source interface {
	// Relations lists relation names with their column names.
	Relations(ctx context.Context) (map[string][]string, error)
	// Rows calls fn for each row with the named columns as text, nil for NULL. The
	// slice is reused between calls.
	Rows(ctx context.Context, relation string, columns []string, fn func(v []*string) error) error
}

// The relations of inlined data have names of their own for each table.
const (
	// InlinedDataPrefix and a table's id, "_" and a version of its schema are the name of a
	// relation of inlined rows.
	InlinedDataPrefix = "ducklake_inlined_data_"
	// InlinedDeletePrefix and a table's id are the name of a relation of inlined deletes.
	InlinedDeletePrefix = "ducklake_inlined_delete_"
	// InlinedRegistry lists the relations of inlined rows. Its own name begins as theirs.
	InlinedRegistry = "ducklake_inlined_data_tables"
)

// Load reads a Model. Relations or columns that an older catalog version lacks read as NULL.
func Load(ctx context.Context, src Source) (*Model, error) {
	r, err := NewReader(ctx, src)
	if err != nil {
		return nil, err
	}
	l := &loader{ctx: ctx, r: r, m: &Model{Relations: map[string]bool{}}}
	for _, name := range r.Relations() {
		l.m.Relations[name] = true
	}
	l.snapshots()
	l.objects()
	l.files()
	l.inlined()
	return l.m, l.err
}

type loader struct {
	ctx context.Context
	r   *Reader
	m   *Model
	err error
}

// each reads a relation, unless something failed before.
func (l *loader) each(relation, columns string, fn func(r *Row)) {
	if l.err != nil {
		return
	}
	l.err = l.r.Each(l.ctx, relation, columns, func(r *Row) error {
		fn(r)
		return nil
	})
}

func (l *loader) snapshots() {
	m := l.m
	l.each("ducklake_metadata", "key value", func(r *Row) {
		if r.Text(0) == "version" {
			m.Version = r.Text(1)
		}
	})
	l.each("ducklake_snapshot", "snapshot_id snapshot_time schema_version next_catalog_id next_file_id", func(r *Row) {
		m.Snapshots = append(m.Snapshots, Snapshot{ID: r.Num(0), Time: r.Text(1), SchemaVersion: r.Num(2), NextCatalogID: r.Num(3), NextFileID: r.Num(4)})
	})
	at := make(map[int64]int, len(m.Snapshots))
	for i, s := range m.Snapshots {
		at[s.ID] = i
	}
	l.each("ducklake_snapshot_changes", "snapshot_id changes_made", func(r *Row) {
		if i, ok := at[r.Num(0)]; ok {
			m.Snapshots[i].HasChanges = true
			m.Snapshots[i].Changes = r.Text(1)
		}
	})
}

func (l *loader) objects() {
	m := l.m
	l.each("ducklake_schema", "schema_id schema_name begin_snapshot end_snapshot", func(r *Row) {
		m.Schemas = append(m.Schemas, Schema{Span: r.Span(2), ID: r.Num(0), Name: r.Text(1)})
	})
	l.each("ducklake_table", "table_id schema_id table_name begin_snapshot end_snapshot", func(r *Row) {
		m.Tables = append(m.Tables, Table{Span: r.Span(3), ID: r.Num(0), SchemaID: r.Num(1), Name: r.Text(2)})
	})
	l.each("ducklake_view", "view_id schema_id view_name begin_snapshot end_snapshot", func(r *Row) {
		m.Views = append(m.Views, View{Span: r.Span(3), ID: r.Num(0), SchemaID: r.Num(1), Name: r.Text(2)})
	})
	l.each("ducklake_column", "column_id table_id column_name parent_column begin_snapshot end_snapshot", func(r *Row) {
		m.Columns = append(m.Columns, Column{Span: r.Span(4), ID: r.Num(0), TableID: r.Num(1), Name: r.Text(2), Parent: r.Num(3), HasParent: r.Has(3)})
	})
	l.each("ducklake_table_stats", "table_id record_count next_row_id", func(r *Row) {
		m.Stats = append(m.Stats, TableStats{TableID: r.Num(0), Records: r.Num(1), NextRowID: r.Num(2)})
	})
}

func (l *loader) files() {
	m := l.m
	l.each("ducklake_data_file", "data_file_id table_id path path_is_relative record_count row_id_start partial_max begin_snapshot end_snapshot", func(r *Row) {
		m.DataFiles = append(m.DataFiles, DataFile{
			Span: r.Span(7), ID: r.Num(0), TableID: r.Num(1), Path: r.Text(2), Relative: r.Bool(3), Records: r.Num(4),
			RowIDStart: r.Num(5), HasRowIDStart: r.Has(5), PartialMax: r.Num(6), HasPartialMax: r.Has(6),
		})
	})
	l.each("ducklake_delete_file", "delete_file_id table_id data_file_id path path_is_relative delete_count partial_max begin_snapshot end_snapshot", func(r *Row) {
		m.DeleteFiles = append(m.DeleteFiles, DeleteFile{
			Span: r.Span(7), ID: r.Num(0), TableID: r.Num(1), DataFileID: r.Num(2), Path: r.Text(3), Relative: r.Bool(4), Count: r.Num(5),
			PartialMax: r.Num(6), HasPartialMax: r.Has(6),
		})
	})
	l.each("ducklake_files_scheduled_for_deletion", "data_file_id path path_is_relative", func(r *Row) {
		m.Scheduled = append(m.Scheduled, Scheduled{ID: r.Num(0), Path: r.Text(1), Relative: r.Bool(2)})
	})
}

func (l *loader) inlined() {
	m := l.m
	l.each(InlinedRegistry, "table_id table_name schema_version", func(r *Row) {
		m.InlinedTables = append(m.InlinedTables, InlinedTable{TableID: r.Num(0), Name: r.Text(1), SchemaVersion: r.Num(2)})
	})
	for _, name := range l.r.Relations() {
		if rest, ok := strings.CutPrefix(name, InlinedDeletePrefix); ok {
			id, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				continue
			}
			l.each(name, "file_id row_id begin_snapshot", func(r *Row) {
				m.InlinedDeletes = append(m.InlinedDeletes, InlinedDelete{TableID: id, FileID: r.Num(0), RowID: r.Num(1), Begin: r.Num(2)})
			})
			continue
		}
		rest, ok := strings.CutPrefix(name, InlinedDataPrefix)
		if !ok || name == InlinedRegistry {
			continue
		}
		table, _, _ := strings.Cut(rest, "_")
		id, err := strconv.ParseInt(table, 10, 64)
		if err != nil {
			continue
		}
		l.each(name, "row_id begin_snapshot end_snapshot", func(r *Row) {
			m.InlinedRows = append(m.InlinedRows, InlinedRow{Span: r.Span(1), Relation: name, TableID: id, RowID: r.Num(0)})
		})
	}
}
