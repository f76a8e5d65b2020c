package lake

import (
	"context"
	"errors"
	"fmt"
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

const (
	inlinedDataPrefix   = "ducklake_inlined_data_"
	inlinedDeletePrefix = "ducklake_inlined_delete_"
	inlinedRegistry     = "ducklake_inlined_data_tables"
)

// Load reads a Model. Relations or columns that an older catalog version lacks read as NULL.
func Load(ctx context.Context, src Source) (*Model, error) {
	rels, err := src.Relations(ctx)
	if err != nil {
		return nil, fmt.Errorf("lake: list relations: %w", err)
	}
	if _, ok := rels["ducklake_snapshot"]; !ok {
		return nil, ErrNotALake
	}
	l := &loader{ctx: ctx, src: src, rels: rels, m: &Model{Relations: map[string]bool{}}}
	for name := range rels {
		l.m.Relations[name] = true
	}
	l.snapshots()
	l.objects()
	l.files()
	l.inlined()
	return l.m, l.err
}

type loader struct {
	ctx  context.Context
	src  Source
	rels map[string][]string
	m    *Model
	err  error
}

// rec is one row during loading; the first malformed field is remembered in the loader.
type rec struct {
	l    *loader
	rel  string
	cols []string
	v    []*string
}

func (r rec) text(i int) string {
	if r.v[i] == nil {
		return ""
	}
	return *r.v[i]
}

func (r rec) has(i int) bool { return r.v[i] != nil }

func (r rec) num(i int) int64 {
	if r.v[i] == nil {
		return 0
	}
	n, err := strconv.ParseInt(*r.v[i], 10, 64)
	if err != nil && r.l.err == nil {
		r.l.err = fmt.Errorf("lake: %s.%s: %w", r.rel, r.cols[i], err)
	}
	return n
}

func (r rec) boolean(i int) bool { return strings.HasPrefix(r.text(i), "t") }

// span reads begin_snapshot at i and end_snapshot at i+1.
func (r rec) span(i int) Span {
	return Span{Begin: r.num(i), End: r.num(i + 1), Ended: r.has(i + 1)}
}

// each reads the wanted columns of one relation, NULL for columns it does not have.
func (l *loader) each(relation, columns string, fn func(r rec)) {
	have, ok := l.rels[relation]
	if l.err != nil || !ok {
		return
	}
	want := strings.Fields(columns)
	var ask []string
	at := make([]int, len(want))
	for i, w := range want {
		at[i] = -1
		for _, h := range have {
			if h == w {
				at[i] = len(ask)
				ask = append(ask, w)
				break
			}
		}
	}
	full := make([]*string, len(want))
	err := l.src.Rows(l.ctx, relation, ask, func(v []*string) error {
		for i := range want {
			full[i] = nil
			if at[i] >= 0 {
				full[i] = v[at[i]]
			}
		}
		fn(rec{l, relation, want, full})
		return l.err
	})
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("lake: read %s: %w", relation, err)
	}
}

func (l *loader) snapshots() {
	m := l.m
	l.each("ducklake_metadata", "key value", func(r rec) {
		if r.text(0) == "version" {
			m.Version = r.text(1)
		}
	})
	l.each("ducklake_snapshot", "snapshot_id snapshot_time schema_version next_catalog_id next_file_id", func(r rec) {
		m.Snapshots = append(m.Snapshots, Snapshot{ID: r.num(0), Time: r.text(1), SchemaVersion: r.num(2), NextCatalogID: r.num(3), NextFileID: r.num(4)})
	})
	at := make(map[int64]int, len(m.Snapshots))
	for i, s := range m.Snapshots {
		at[s.ID] = i
	}
	l.each("ducklake_snapshot_changes", "snapshot_id changes_made", func(r rec) {
		if i, ok := at[r.num(0)]; ok {
			m.Snapshots[i].HasChanges = true
			m.Snapshots[i].Changes = r.text(1)
		}
	})
}

func (l *loader) objects() {
	m := l.m
	l.each("ducklake_schema", "schema_id schema_name begin_snapshot end_snapshot", func(r rec) {
		m.Schemas = append(m.Schemas, Schema{Span: r.span(2), ID: r.num(0), Name: r.text(1)})
	})
	l.each("ducklake_table", "table_id schema_id table_name begin_snapshot end_snapshot", func(r rec) {
		m.Tables = append(m.Tables, Table{Span: r.span(3), ID: r.num(0), SchemaID: r.num(1), Name: r.text(2)})
	})
	l.each("ducklake_view", "view_id schema_id view_name begin_snapshot end_snapshot", func(r rec) {
		m.Views = append(m.Views, View{Span: r.span(3), ID: r.num(0), SchemaID: r.num(1), Name: r.text(2)})
	})
	l.each("ducklake_column", "column_id table_id column_name parent_column begin_snapshot end_snapshot", func(r rec) {
		m.Columns = append(m.Columns, Column{Span: r.span(4), ID: r.num(0), TableID: r.num(1), Name: r.text(2), Parent: r.num(3), HasParent: r.has(3)})
	})
	l.each("ducklake_table_stats", "table_id record_count next_row_id", func(r rec) {
		m.Stats = append(m.Stats, TableStats{TableID: r.num(0), Records: r.num(1), NextRowID: r.num(2)})
	})
}

func (l *loader) files() {
	m := l.m
	l.each("ducklake_data_file", "data_file_id table_id path path_is_relative record_count row_id_start partial_max begin_snapshot end_snapshot", func(r rec) {
		m.DataFiles = append(m.DataFiles, DataFile{
			Span: r.span(7), ID: r.num(0), TableID: r.num(1), Path: r.text(2), Relative: r.boolean(3), Records: r.num(4),
			RowIDStart: r.num(5), HasRowIDStart: r.has(5), PartialMax: r.num(6), HasPartialMax: r.has(6),
		})
	})
	l.each("ducklake_delete_file", "delete_file_id table_id data_file_id path path_is_relative delete_count partial_max begin_snapshot end_snapshot", func(r rec) {
		m.DeleteFiles = append(m.DeleteFiles, DeleteFile{
			Span: r.span(7), ID: r.num(0), TableID: r.num(1), DataFileID: r.num(2), Path: r.text(3), Relative: r.boolean(4), Count: r.num(5),
			PartialMax: r.num(6), HasPartialMax: r.has(6),
		})
	})
	l.each("ducklake_files_scheduled_for_deletion", "data_file_id path path_is_relative", func(r rec) {
		m.Scheduled = append(m.Scheduled, Scheduled{ID: r.num(0), Path: r.text(1), Relative: r.boolean(2)})
	})
}

func (l *loader) inlined() {
	m := l.m
	l.each(inlinedRegistry, "table_id table_name schema_version", func(r rec) {
		m.InlinedTables = append(m.InlinedTables, InlinedTable{TableID: r.num(0), Name: r.text(1), SchemaVersion: r.num(2)})
	})
	for name := range l.rels {
		if rest, ok := strings.CutPrefix(name, inlinedDeletePrefix); ok {
			id, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				continue
			}
			l.each(name, "file_id row_id begin_snapshot", func(r rec) {
				m.InlinedDeletes = append(m.InlinedDeletes, InlinedDelete{TableID: id, FileID: r.num(0), RowID: r.num(1), Begin: r.num(2)})
			})
			continue
		}
		rest, ok := strings.CutPrefix(name, inlinedDataPrefix)
		if !ok || name == inlinedRegistry {
			continue
		}
		table, _, _ := strings.Cut(rest, "_")
		id, err := strconv.ParseInt(table, 10, 64)
		if err != nil {
			continue
		}
		l.each(name, "row_id begin_snapshot end_snapshot", func(r rec) {
			m.InlinedRows = append(m.InlinedRows, InlinedRow{Span: r.span(1), Relation: name, TableID: id, RowID: r.num(0)})
		})
	}
}
