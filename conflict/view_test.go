package conflict_test

import (
	"slices"
	"strings"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// state is a lake in memory.
type state struct {
	snapshots   []lake.Snapshot
	schemas     []lake.Schema
	tables      []lake.Table
	views       []lake.View
	macros      []lake.Macro
	impls       []lake.MacroImpl
	columns     []lake.Column
	partitions  []lake.Partition
	sorts       []lake.Sort
	sortKeys    []lake.SortKey
	tags        []lake.Tag
	columnTags  []lake.ColumnTag
	stats       []lake.TableStats
	columnStats []lake.ColumnStats
	registered  []lake.InlinedTable
	files       []lake.DataFile
	deletes     []lake.DeleteFile
	scheduled   []lake.Scheduled
	inlined     []lake.InlinedDelete
	options     []lake.Option
	relations   map[string][]string
	counts      map[string][2]int64 // rows and live rows of relations
	after       map[string][2]int64 // the same when the commit is done
	missing     []string            // relations that are not there then
}

func filter[T any](list []T, keep func(T) bool) (out []T) {
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func (s *state) Head() (h lake.Snapshot, ok bool, err error) {
	for _, x := range s.snapshots {
		if !ok || x.ID > h.ID {
			h, ok = x, true
		}
	}
	return h, ok, nil
}

func (s *state) Snapshots(from, to int64) (int64, error) {
	return int64(len(filter(s.snapshots, func(x lake.Snapshot) bool { return x.ID >= from && x.ID <= to }))), nil
}

func (s *state) Beside(id int64) (before, after *lake.Snapshot, err error) {
	for i := range s.snapshots {
		switch x := &s.snapshots[i]; {
		case x.ID < id && (before == nil || x.ID > before.ID):
			before = x
		case x.ID > id && (after == nil || x.ID < after.ID):
			after = x
		}
	}
	return before, after, nil
}

func (s *state) ChangesOf(int64) (lake.Changes, bool, error) { return lake.Changes{}, false, nil }

func (s *state) Schemas() ([]lake.Schema, error) { return s.schemas, nil }
func (s *state) Tables() ([]lake.Table, error)   { return s.tables, nil }
func (s *state) Views() ([]lake.View, error)     { return s.views, nil }
func (s *state) Macros() ([]lake.Macro, error)   { return s.macros, nil }

func (s *state) MacroType(id int64) (string, error) {
	for _, i := range s.impls {
		if i.MacroID == id {
			return i.Type, nil
		}
	}
	return "", nil
}

func (s *state) Schema(id int64) ([]lake.Schema, error) {
	return filter(s.schemas, func(x lake.Schema) bool { return x.ID == id }), nil
}

func (s *state) Table(id int64) ([]lake.Table, error) {
	return filter(s.tables, func(x lake.Table) bool { return x.ID == id }), nil
}

func (s *state) Columns(table int64) ([]lake.Column, error) {
	return filter(s.columns, func(x lake.Column) bool { return x.TableID == table }), nil
}

func (s *state) Partitions(table int64) ([]lake.Partition, error) {
	return filter(s.partitions, func(x lake.Partition) bool { return x.TableID == table }), nil
}

func (s *state) Sorts(table int64) ([]lake.Sort, error) {
	return filter(s.sorts, func(x lake.Sort) bool { return x.TableID == table }), nil
}

func (s *state) SortKeys(table int64) ([]lake.SortKey, error) {
	return filter(s.sortKeys, func(x lake.SortKey) bool { return x.TableID == table }), nil
}

func (s *state) Tags(object int64) ([]lake.Tag, error) {
	return filter(s.tags, func(x lake.Tag) bool { return x.Object == object }), nil
}

func (s *state) ColumnTags(table int64) ([]lake.ColumnTag, error) {
	return filter(s.columnTags, func(x lake.ColumnTag) bool { return x.TableID == table }), nil
}

func (s *state) TableStats(table int64) ([]lake.TableStats, error) {
	return filter(s.stats, func(x lake.TableStats) bool { return x.TableID == table }), nil
}

func (s *state) ColumnStats(table int64) ([]lake.ColumnStats, error) {
	return filter(s.columnStats, func(x lake.ColumnStats) bool { return x.TableID == table }), nil
}

func (s *state) Registered(table int64) ([]lake.InlinedTable, error) {
	return filter(s.registered, func(x lake.InlinedTable) bool { return x.TableID == table }), nil
}

func (s *state) DataFile(id int64) (lake.DataFile, bool, error) {
	i := slices.IndexFunc(s.files, func(x lake.DataFile) bool { return x.ID == id })
	if i < 0 {
		return lake.DataFile{}, false, nil
	}
	return s.files[i], true, nil
}

func (s *state) DeleteFile(id int64) (lake.DeleteFile, bool, error) {
	i := slices.IndexFunc(s.deletes, func(x lake.DeleteFile) bool { return x.ID == id })
	if i < 0 {
		return lake.DeleteFile{}, false, nil
	}
	return s.deletes[i], true, nil
}

func (s *state) DeletesOf(file int64) ([]lake.DeleteFile, error) {
	return filter(s.deletes, func(x lake.DeleteFile) bool { return x.DataFileID == file }), nil
}

func (s *state) DataFilesAt(path string) ([]lake.DataFile, error) {
	return filter(s.files, func(x lake.DataFile) bool { return x.Path == path }), nil
}

func (s *state) DeleteFilesAt(path string) ([]lake.DeleteFile, error) {
	return filter(s.deletes, func(x lake.DeleteFile) bool { return x.Path == path }), nil
}

func (s *state) Foreign(fn func(table int64, path string, relative bool) error) error {
	for _, f := range s.files {
		if foreign(f.Path) {
			if err := fn(f.TableID, f.Path, f.Relative); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *state) ScheduledAt(path string) ([]lake.Scheduled, error) {
	return filter(s.scheduled, func(x lake.Scheduled) bool { return x.Path == path }), nil
}

func (s *state) ScheduledForeign(fn func(x lake.Scheduled) error) error {
	for _, x := range s.scheduled {
		if foreign(x.Path) {
			if err := fn(x); err != nil {
				return err
			}
		}
	}
	return nil
}

func foreign(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, ".") || strings.Contains(path, ":/")
}

func (s *state) Options() ([]lake.Option, error) { return s.options, nil }

func (s *state) DataPath() (string, error) { return "/data/", nil }

func (s *state) InlinedDeletes(table int64) ([]lake.InlinedDelete, error) {
	return filter(s.inlined, func(x lake.InlinedDelete) bool { return x.TableID == table }), nil
}

func (s *state) InlinedColumns(relation string) ([]string, bool, error) {
	if slices.Contains(s.missing, relation) {
		return nil, false, nil
	}
	names, ok := s.relations[relation]
	return names, ok, nil
}

func (s *state) Rows(relation string) (all, live int64, ok bool, err error) {
	if n, ok := s.counts[relation]; ok {
		return n[0], n[1], true, nil
	}
	if slices.Contains(s.missing, relation) {
		return 0, 0, false, nil
	}
	return 0, 0, true, nil
}

// with is the state that a batch leaves.
func (s *state) with(b *conflict.Batch) *state {
	return &state{
		snapshots: apply(s.snapshots, &b.Snapshots), schemas: apply(s.schemas, &b.Schemas), tables: apply(s.tables, &b.Tables),
		views: apply(s.views, &b.Views), macros: apply(s.macros, &b.Macros), impls: apply(s.impls, &b.MacroImpls),
		columns: apply(s.columns, &b.Columns), partitions: apply(s.partitions, &b.Partitions), sorts: apply(s.sorts, &b.Sorts),
		sortKeys: apply(s.sortKeys, &b.SortKeys), tags: apply(s.tags, &b.Tags), columnTags: apply(s.columnTags, &b.ColumnTags),
		stats: apply(s.stats, &b.TableStats), columnStats: apply(s.columnStats, &b.ColumnStats),
		registered: apply(s.registered, &b.InlinedTables), files: apply(s.files, &b.DataFiles), deletes: apply(s.deletes, &b.DeleteFiles),
		scheduled: apply(s.scheduled, &b.Scheduled), inlined: s.inlinedWith(b), relations: s.relations,
		options: apply(s.options, &b.Options), counts: s.after, missing: s.missing,
	}
}

func (s *state) inlinedWith(b *conflict.Batch) []lake.InlinedDelete {
	out := slices.Clone(s.inlined)
	for i := range b.InlinedDeletes {
		out = apply(out, &b.InlinedDeletes[i].Rows)
	}
	return out
}

func apply[T comparable](list []T, r *conflict.Rows[T]) []T {
	out := slices.Clone(list)
	for _, x := range r.Removed {
		if i := slices.Index(out, x); i >= 0 {
			out = slices.Delete(out, i, i+1)
		}
	}
	for _, e := range r.Changed {
		if i := slices.Index(out, e.Before); i >= 0 {
			out[i] = e.After
		}
	}
	return append(out, r.Added...)
}
