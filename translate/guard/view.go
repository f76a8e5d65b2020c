package guard

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// view reads one lake through a transaction. It implements conflict.View, and notes the
// tables that it was asked for: what the verdict rests on.
type view struct {
	txn   *store.Txn
	space uint32
	read  []*rel.Table
	// finders look up by path in the tables of their names; nil where there is no index.
	finders map[string]*store.Finder

	head    lake.Snapshot
	hasHead bool
	known   bool // head is
}

// of returns a table of the lake; ok is false when the lake has none of that name.
func (v *view) of(name string) (relation, bool) {
	for _, t := range v.read {
		if t.Name == name {
			return relation{v.txn, t}, true
		}
	}
	t, ok := v.txn.TableByName(v.space, name)
	if !ok || t.Kind != rel.KindTable {
		return relation{}, false
	}
	v.read = append(v.read, t)
	return relation{v.txn, t}, true
}

// errStop ends a scan early.
var errStop = errors.New("stop")

func list[T any](v *view, table, column string, value []byte, read func(relation, row.Tuple) T) (out []T, err error) {
	r, ok := v.of(table)
	if !ok {
		return nil, nil
	}
	err = r.each(column, value, func(_ uint64, t row.Tuple) error {
		out = append(out, read(r, t))
		return nil
	})
	return out, err
}

func one[T any](v *view, table, column string, id int64, read func(relation, row.Tuple) T) (x T, found bool, err error) {
	r, ok := v.of(table)
	if !ok {
		return x, false, nil
	}
	err = r.eachID(column, id, func(_ uint64, t row.Tuple) error {
		x, found = read(r, t), true
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return x, found, err
}

// Head is the newest snapshot: the last key of its primary key, where there is one.
func (v *view) Head() (lake.Snapshot, bool, error) {
	if v.known {
		return v.head, v.hasHead, nil
	}
	s, ok, err := v.newest()
	v.head, v.hasHead, v.known = s, ok, err == nil
	return s, ok, err
}

func (v *view) newest() (s lake.Snapshot, ok bool, err error) {
	err = v.snapshots(math.MinInt64, math.MaxInt64, true, func(n lake.Snapshot, ordered bool) bool {
		if !ok || n.ID > s.ID {
			s, ok = n, true
		}
		return !ordered
	})
	return s, ok, err
}

// snapshots calls fn for the snapshots with from ≤ id ≤ to until it answers false: in the
// order of their ids, or the reverse of it, where there is a primary key.
func (v *view) snapshots(from, to int64, reverse bool, fn func(s lake.Snapshot, ordered bool) (more bool)) error {
	r, found := v.of(snapshotTable)
	if !found {
		return nil
	}
	var a store.Access
	x, ordered := r.tbl.PrimaryKey()
	if ordered = ordered && len(x.Columns) == 1; ordered {
		a.Index, a.Reverse = x, reverse
		if from > math.MinInt64 {
			a.Lo = &store.Bound{Value: bigint(from), Inclusive: true}
		}
		if to < math.MaxInt64 {
			a.Hi = &store.Bound{Value: bigint(to), Inclusive: true}
		}
	}
	it, err := v.txn.Scan(r.tbl, a)
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		if s := r.snapshot(it.Tuple()); from <= s.ID && s.ID <= to && !fn(s, ordered) {
			break
		}
	}
	return it.Err()
}

// Snapshots counts the snapshots of a range.
func (v *view) Snapshots(from, to int64) (n int64, err error) {
	err = v.snapshots(from, to, false, func(lake.Snapshot, bool) bool { n++; return true })
	return n, err
}

// Beside finds the snapshots before and after one.
func (v *view) Beside(id int64) (before, after *lake.Snapshot, err error) {
	err = v.snapshots(math.MinInt64, id-1, true, func(n lake.Snapshot, ordered bool) bool {
		if before == nil || n.ID > before.ID {
			before = &n
		}
		return !ordered
	})
	if err != nil {
		return nil, nil, err
	}
	next, ok, err := v.firstFrom(id+1, func(lake.Snapshot) bool { return true })
	if ok {
		after = &next
	}
	return before, after, err
}

// firstFrom is the snapshot with the smallest id, from one on, that fn is true of.
func (v *view) firstFrom(id int64, fn func(lake.Snapshot) bool) (s lake.Snapshot, ok bool, err error) {
	err = v.snapshots(id, math.MaxInt64, false, func(n lake.Snapshot, ordered bool) bool {
		if (!ok || n.ID < s.ID) && fn(n) {
			s, ok = n, true
		}
		return !ok || !ordered
	})
	return s, ok, err
}

func (v *view) ChangesOf(snapshot int64) (lake.Changes, bool, error) {
	return one(v, changesTable, "snapshot_id", snapshot, relation.changes)
}

func (v *view) Schemas() ([]lake.Schema, error) {
	return list(v, schemaTable, "", nil, relation.schema)
}

func (v *view) Tables() ([]lake.Table, error) { return list(v, tableTable, "", nil, relation.table) }

func (v *view) Views() ([]lake.View, error) { return list(v, viewTable, "", nil, relation.view) }

func (v *view) Macros() ([]lake.Macro, error) { return list(v, macroTable, "", nil, relation.macro) }

func (v *view) MacroType(id int64) (string, error) {
	m, _, err := one(v, macroImplTable, "macro_id", id, relation.macroImpl)
	return m.Type, err
}

func (v *view) Schema(id int64) ([]lake.Schema, error) {
	return list(v, schemaTable, "schema_id", bigint(id), relation.schema)
}

// schemaName is the name of a live schema.
func (v *view) schemaName(id int64) (string, bool) {
	versions, err := v.Schema(id)
	if err != nil {
		return "", false
	}
	for _, s := range versions {
		if !s.Ended {
			return s.Name, true
		}
	}
	return "", false
}

func (v *view) Table(id int64) ([]lake.Table, error) {
	return list(v, tableTable, "table_id", bigint(id), relation.table)
}

func (v *view) Columns(table int64) ([]lake.Column, error) {
	return list(v, columnTable, "table_id", bigint(table), relation.columnRow)
}

func (v *view) Partitions(table int64) ([]lake.Partition, error) {
	return list(v, partitionTable, "table_id", bigint(table), relation.partition)
}

func (v *view) Sorts(table int64) ([]lake.Sort, error) {
	return list(v, sortTable, "table_id", bigint(table), relation.sort)
}

func (v *view) SortKeys(table int64) ([]lake.SortKey, error) {
	return list(v, sortKeyTable, "table_id", bigint(table), relation.sortKey)
}

func (v *view) Tags(object int64) ([]lake.Tag, error) {
	return list(v, tagTable, "object_id", bigint(object), relation.tag)
}

func (v *view) ColumnTags(table int64) ([]lake.ColumnTag, error) {
	return list(v, columnTagTable, "table_id", bigint(table), relation.columnTag)
}

func (v *view) TableStats(table int64) ([]lake.TableStats, error) {
	return list(v, tableStatsTable, "table_id", bigint(table), relation.tableStats)
}

func (v *view) ColumnStats(table int64) ([]lake.ColumnStats, error) {
	return list(v, columnStatsTable, "table_id", bigint(table), relation.columnStats)
}

func (v *view) Registered(table int64) ([]lake.InlinedTable, error) {
	return list(v, registryTable, "table_id", bigint(table), relation.registered)
}

func (v *view) DataFile(id int64) (lake.DataFile, bool, error) {
	return one(v, dataFileTable, "data_file_id", id, relation.dataFile)
}

func (v *view) DeleteFile(id int64) (lake.DeleteFile, bool, error) {
	return one(v, deleteFileTable, "delete_file_id", id, relation.deleteFile)
}

func (v *view) DeletesOf(dataFile int64) ([]lake.DeleteFile, error) {
	return list(v, deleteFileTable, "data_file_id", bigint(dataFile), relation.deleteFile)
}

func (v *view) DataFilesAt(path string) ([]lake.DataFile, error) {
	return byPath(v, dataFileTable, path, relation.dataFile)
}

func (v *view) DeleteFilesAt(path string) ([]lake.DeleteFile, error) {
	return byPath(v, deleteFileTable, path, relation.deleteFile)
}

// foreignBegins are what paths begin with that DuckLake has not made, in the order of their
// bytes: a path that is absolute, or that is spelled so that it begins with a dot or slash,
// and URLs of the schemes that DuckDB's file systems know.
var foreignBegins = []string{
	".", "/", "abfs://", "abfss://", "az://", "azure://", "file:/", "gcs://", "gs://", "hf://", "http://", "https://", "r2://",
	"s3://", "s3a://", "s3n://", "wasb://", "wasbs://",
}

// Foreign reads through the index of paths.
func (v *view) Foreign(fn func(table int64, path string, relative bool) error) error {
	for _, name := range []string{dataFileTable, deleteFileTable} {
		r, ok := v.of(name)
		if !ok {
			continue
		}
		err := r.eachBeginning("path", foreignBegins, func(t row.Tuple) error {
			return fn(r.num(t, "table_id"), r.text(t, "path"), r.truth(t, "path_is_relative"))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *view) ScheduledAt(path string) ([]lake.Scheduled, error) {
	return byPath(v, scheduleTable, path, relation.scheduled)
}

// ScheduledForeign reads through the index of paths.
func (v *view) ScheduledForeign(fn func(s lake.Scheduled) error) error {
	r, ok := v.of(scheduleTable)
	if !ok {
		return nil
	}
	return r.eachBeginning("path", foreignBegins, func(t row.Tuple) error { return fn(r.scheduled(t)) })
}

func (v *view) Options() ([]lake.Option, error) {
	return list(v, optionTable, "", nil, relation.option)
}

func (v *view) DataPath() (path string, err error) {
	r, ok := v.of(optionTable)
	if !ok {
		return "", nil
	}
	err = r.each("key", []byte("data_path"), func(_ uint64, t row.Tuple) error {
		if r.field(t, "scope") == nil {
			path = r.text(t, "value")
		}
		return nil
	})
	return path, err
}

func (v *view) InlinedDeletes(table int64) ([]lake.InlinedDelete, error) {
	return list(v, lake.InlinedDeletePrefix+itoa(table), "", nil, func(r relation, t row.Tuple) lake.InlinedDelete {
		return r.inlinedDelete(table, t)
	})
}

func (v *view) InlinedColumns(name string) (names []string, ok bool, err error) {
	r, ok := v.of(name)
	if !ok {
		return nil, false, nil
	}
	for i := range r.tbl.Columns {
		c := &r.tbl.Columns[i]
		if c.Dropped || slices.Contains([]string{"row_id", "begin_snapshot", "end_snapshot"}, c.Name) {
			continue
		}
		names = append(names, c.Name)
	}
	return names, true, nil
}

// Rows counts the rows of a relation, and those that have not ended.
func (v *view) Rows(name string) (all, live int64, ok bool, err error) {
	r, ok := v.of(name)
	if !ok {
		return 0, 0, false, nil
	}
	err = r.each("", nil, func(_ uint64, t row.Tuple) error {
		all++
		if r.field(t, "end_snapshot") == nil {
			live++
		}
		return nil
	})
	return all, live, true, err
}

// sameTuple says whether two rows are the same bytes.
func sameTuple(a, b row.Tuple) bool { return bytes.Equal(a, b) }
