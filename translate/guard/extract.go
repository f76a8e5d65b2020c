package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// The relations that make a schema a lake, and those whose names carry ids.
const (
	prefix           = "ducklake_"
	snapshotTable    = "ducklake_snapshot"
	changesTable     = "ducklake_snapshot_changes"
	schemaTable      = "ducklake_schema"
	tableTable       = "ducklake_table"
	viewTable        = "ducklake_view"
	macroTable       = "ducklake_macro"
	macroImplTable   = "ducklake_macro_impl"
	columnTable      = "ducklake_column"
	tagTable         = "ducklake_tag"
	columnTagTable   = "ducklake_column_tag"
	partitionTable   = "ducklake_partition_info"
	sortTable        = "ducklake_sort_info"
	sortKeyTable     = "ducklake_sort_expression"
	dataFileTable    = "ducklake_data_file"
	deleteFileTable  = "ducklake_delete_file"
	fileStatsTable   = "ducklake_file_column_stats"
	fileValueTable   = "ducklake_file_partition_value"
	tableStatsTable  = "ducklake_table_stats"
	columnStatsTable = "ducklake_table_column_stats"
	versionTable     = "ducklake_schema_versions"
	scheduleTable    = "ducklake_files_scheduled_for_deletion"
	registryTable    = lake.InlinedRegistry
	optionTable      = "ducklake_metadata"
	mappingTable     = "ducklake_column_mapping"
)

// required are the columns of a known table that every reader takes for a number, and the
// paths of files, without which none can be opened. Tables
// of older formats lack some; those of ducklake_schema_versions may be NULL, because
// older clients left them so.
var required = map[string][]string{
	snapshotTable:    {"snapshot_id", "snapshot_time", "schema_version", "next_catalog_id", "next_file_id"},
	changesTable:     {"snapshot_id"},
	schemaTable:      {"schema_id", "begin_snapshot"},
	tableTable:       {"table_id", "begin_snapshot", "schema_id"},
	viewTable:        {"view_id", "begin_snapshot", "schema_id"},
	columnTable:      {"column_id", "begin_snapshot", "table_id"},
	tagTable:         {"object_id", "begin_snapshot"},
	columnTagTable:   {"table_id", "column_id", "begin_snapshot"},
	partitionTable:   {"partition_id", "table_id", "begin_snapshot"},
	sortTable:        {"sort_id", "table_id", "begin_snapshot"},
	dataFileTable:    {"data_file_id", "table_id", "begin_snapshot", "record_count", "path"},
	deleteFileTable:  {"delete_file_id", "table_id", "begin_snapshot", "data_file_id", "path"},
	tableStatsTable:  {"table_id"},
	columnStatsTable: {"table_id", "column_id"},
	scheduleTable:    {"data_file_id"},
	registryTable:    {"table_id"},
}

// commit is what a transaction does to one lake: the batch, and what is needed to change it.
type commit struct {
	batch *conflict.Batch
	txn   *store.Txn
	space uint32 // oid of the metadata schema
}

// extract reads the batches of a transaction, one for each lake that it writes to.
func extract(txn *store.Txn) ([]*commit, error) {
	var out []*commit
	of := func(space uint32) *commit {
		for _, c := range out {
			if c.space == space {
				return c
			}
		}
		s, ok := txn.SchemaByOID(space)
		if !ok {
			return nil
		}
		snapshots, ok := txn.TableByName(space, snapshotTable)
		if !ok {
			snapshots, ok = goneSnapshots(txn, space)
		}
		if !ok || !isSnapshots(snapshots) {
			return nil
		}
		c := &commit{batch: &conflict.Batch{Schema: s.Name}, txn: txn, space: space}
		out = append(out, c)
		return c
	}
	var err error
	txn.TouchedTables(func(tbl *rel.Table) {
		if err != nil || tbl.Temp || !strings.HasPrefix(tbl.Name, prefix) {
			return
		}
		if c := of(tbl.Schema); c != nil {
			err = c.table(tbl)
		}
	})
	if err != nil {
		return nil, err
	}
	txn.Reshaped(func(before, after *rel.Table) {
		note := func(t *rel.Table, in func(*conflict.Batch) *[]string) {
			if t.Kind != rel.KindTable {
				return
			}
			if c := of(t.Schema); c != nil {
				list := in(c.batch)
				*list = append(*list, t.Name)
			}
		}
		moved := renamed(before, after)
		if before != nil && (after == nil || moved) {
			note(before, func(b *conflict.Batch) *[]string { return &b.Dropped })
		}
		if after != nil && (before == nil || moved) {
			note(after, func(b *conflict.Batch) *[]string { return &b.Made })
		}
		if before != nil && after != nil && before.Storage != after.Storage {
			note(after, func(b *conflict.Batch) *[]string { return &b.Emptied })
		}
	})
	for _, c := range out {
		b := c.batch
		pair(&b.DataFiles, func(f lake.DataFile) int64 { return f.ID })
		pair(&b.DeleteFiles, func(d lake.DeleteFile) int64 { return d.ID })
	}
	return out, nil
}

// renamed says whether a relation that a transaction alters gets another name or schema.
func renamed(before, after *rel.Table) bool {
	return before != nil && after != nil && (before.Schema != after.Schema || before.Name != after.Name)
}

// goneSnapshots is the table of snapshots that a transaction takes away from a schema.
func goneSnapshots(txn *store.Txn, space uint32) (t *rel.Table, ok bool) {
	txn.Reshaped(func(before, after *rel.Table) {
		if before != nil && before.Schema == space && before.Name == snapshotTable && (after == nil || renamed(before, after)) {
			t, ok = before, true
		}
	})
	return t, ok
}

// isSnapshots says whether a table has the columns that a lake's snapshots have had in
// every format: a table that only has the name is nobody's lake.
func isSnapshots(t *rel.Table) bool {
	for _, name := range required[snapshotTable] {
		if _, ok := t.Column(name); !ok {
			return false
		}
	}
	return true
}

// pair makes one change of a row that is removed and another of its id that is added.
func pair[T any](rows *conflict.Rows[T], id func(T) int64) {
	if len(rows.Added) == 0 || len(rows.Removed) == 0 {
		return
	}
	removed := make(map[int64]T, len(rows.Removed))
	for _, x := range rows.Removed {
		removed[id(x)] = x
	}
	both := map[int64]bool{}
	rows.Added = slices.DeleteFunc(rows.Added, func(x T) bool {
		was, ok := removed[id(x)]
		if ok {
			both[id(x)] = true
			rows.Changed = append(rows.Changed, conflict.Edit[T]{Before: was, After: x})
		}
		return ok
	})
	rows.Removed = slices.DeleteFunc(rows.Removed, func(x T) bool { return both[id(x)] })
}

// table reads what the transaction does to one table.
func (c *commit) table(tbl *rel.Table) error {
	r, b := relation{c.txn, tbl}, c.batch
	if slices.Contains(c.emptied(), tbl.Name) {
		return nil
	}
	switch tbl.Name {
	case snapshotTable:
		return collectGone(c, r, &b.Snapshots, relation.snapshot, relation.snapshotID)
	case changesTable:
		return collectGone(c, r, &b.Logs, relation.changes, relation.changesOf)
	case schemaTable:
		return collect(c, r, &b.Schemas, relation.schema)
	case tableTable:
		return collect(c, r, &b.Tables, relation.table)
	case viewTable:
		return collect(c, r, &b.Views, relation.view)
	case macroTable:
		return collect(c, r, &b.Macros, relation.macro)
	case macroImplTable:
		return collect(c, r, &b.MacroImpls, relation.macroImpl)
	case columnTable:
		return collect(c, r, &b.Columns, relation.columnRow)
	case tagTable:
		return collect(c, r, &b.Tags, relation.tag)
	case columnTagTable:
		return collect(c, r, &b.ColumnTags, relation.columnTag)
	case partitionTable:
		return collect(c, r, &b.Partitions, relation.partition)
	case sortTable:
		return collect(c, r, &b.Sorts, relation.sort)
	case sortKeyTable:
		return collect(c, r, &b.SortKeys, relation.sortKey)
	case dataFileTable:
		return collect(c, r, &b.DataFiles, relation.dataFile)
	case deleteFileTable:
		return collect(c, r, &b.DeleteFiles, relation.deleteFile)
	case fileValueTable:
		return collect(c, r, &b.FileValues, relation.fileValue)
	case tableStatsTable:
		return collect(c, r, &b.TableStats, relation.tableStats)
	case columnStatsTable:
		return c.columnStats(r)
	case versionTable:
		return collect(c, r, &b.Versions, relation.schemaVersion)
	case scheduleTable:
		return collect(c, r, &b.Scheduled, relation.scheduled)
	case registryTable:
		return collect(c, r, &b.InlinedTables, relation.registered)
	case optionTable:
		return collect(c, r, &b.Options, relation.option)
	case mappingTable:
		return collect(c, r, &b.Mappings, relation.mapping)
	case fileStatsTable:
		return c.txn.Changes(tbl, func(ch store.RowChange) bool {
			switch {
			case ch.Before == nil && ch.After == nil:
			case ch.Before == nil:
				b.FileStats.Added++
			case ch.After == nil:
				b.FileStats.Removed++
			default:
				b.FileStats.Changed++
			}
			return true
		})
	}
	return c.inlined(r)
}

// emptied are the tables whose rows are not to be read one by one.
func (c *commit) emptied() []string {
	if c.batch.Emptied != nil {
		return c.batch.Emptied
	}
	names := []string{}
	c.txn.Reshaped(func(before, after *rel.Table) {
		if before != nil && after != nil && before.Schema == c.space && before.Storage != after.Storage {
			names = append(names, after.Name)
		}
	})
	return names
}

// inlined reads a relation whose name carries a table id, or notes one that nobody knows.
func (c *commit) inlined(r relation) error {
	name, b := r.tbl.Name, c.batch
	if rest, ok := strings.CutPrefix(name, lake.InlinedDeletePrefix); ok {
		if id, err := strconv.ParseInt(rest, 10, 64); err == nil {
			d := conflict.InlinedDeletes{TableID: id}
			err := collect(c, r, &d.Rows, func(r relation, t row.Tuple) lake.InlinedDelete { return r.inlinedDelete(id, t) })
			b.InlinedDeletes = append(b.InlinedDeletes, d)
			return err
		}
	}
	if id, ok := inlinedTableID(name); ok {
		d := conflict.InlinedRows{TableID: id, Relation: name}
		err := collect(c, r, &d.Rows, func(r relation, t row.Tuple) lake.InlinedRow {
			return lake.InlinedRow{Span: r.span(t), Relation: name, TableID: id, RowID: r.num(t, "row_id")}
		})
		b.InlinedRows = append(b.InlinedRows, d)
		return err
	}
	b.Others = append(b.Others, name)
	return nil
}

func (r relation) inlinedDelete(table int64, t row.Tuple) lake.InlinedDelete {
	return lake.InlinedDelete{TableID: table, FileID: r.num(t, "file_id"), RowID: r.num(t, "row_id"), Begin: r.num(t, "begin_snapshot")}
}

// inlinedTableID takes the table's id out of the name of a relation of inlined rows.
func inlinedTableID(name string) (int64, bool) {
	rest, ok := strings.CutPrefix(name, lake.InlinedDataPrefix)
	if !ok {
		return 0, false
	}
	rest, _, ok = strings.Cut(rest, "_")
	id, err := strconv.ParseInt(rest, 10, 64)
	return id, ok && err == nil
}

// columnStats reads the statistics of columns. Every insert changes those of all columns
// of its table, so changes of rows are left to those who ask (commit.changedStats).
func (c *commit) columnStats(r relation) error {
	b := c.batch
	return c.txn.Changes(r.tbl, func(ch store.RowChange) bool {
		switch {
		case ch.Before == nil && ch.After == nil:
		case ch.Before == nil:
			c.nulls(r, ch.After)
			b.ColumnStats.Added = append(b.ColumnStats.Added, r.columnStats(ch.After))
		case ch.After == nil:
			b.ColumnStats.Removed = append(b.ColumnStats.Removed, r.columnStats(ch.Before))
		}
		return true
	})
}

// collect reads the changes of one table into rows.
func collect[T any](c *commit, r relation, rows *conflict.Rows[T], read func(relation, row.Tuple) T) error {
	return collectGone(c, r, rows, read, read)
}

// collectGone is collect with another form of the rows that are removed: an expiry removes
// hundreds of thousands of snapshots, of which only the ids are asked for.
func collectGone[T any](c *commit, r relation, rows *conflict.Rows[T], read, gone func(relation, row.Tuple) T) error {
	err := c.txn.Changes(r.tbl, func(ch store.RowChange) bool {
		switch {
		case ch.Before == nil && ch.After == nil:
		case ch.Before == nil:
			c.nulls(r, ch.After)
			rows.Added = append(rows.Added, read(r, ch.After))
		case ch.After == nil:
			if n := len(rows.Removed); n == cap(rows.Removed) {
				rows.Removed = slices.Grow(rows.Removed, n+1) // doubles, which append does not
			}
			rows.Removed = append(rows.Removed, gone(r, ch.Before))
		case !bytes.Equal(ch.Before, ch.After):
			c.nulls(r, ch.After)
			rows.Changed = append(rows.Changed, conflict.Edit[T]{Before: read(r, ch.Before), After: read(r, ch.After)})
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("read the changes of %s: %w", r.tbl.Name, err)
	}
	return nil
}

// nulls notes NULLs where numbers must be.
func (c *commit) nulls(r relation, t row.Tuple) {
	for _, name := range required[r.tbl.Name] {
		col := r.column(name)
		if col == nil {
			continue
		}
		n := conflict.NullField{Table: r.tbl.Name, Column: name}
		if _, null := col.Value(t); null && !slices.Contains(c.batch.Nulls, n) {
			c.batch.Nulls = append(c.batch.Nulls, n)
		}
	}
}
