package conflict

import "github.com/eiderdb/eider/lake"

// Edit is one row that a commit finds and leaves.
type Edit[T any] struct {
	Before, After T
}

// Rows is what a commit does to one table, net of what it undoes itself: a row that it
// adds and then changes is added as it is in the end, one that it adds and removes is not
// there at all.
type Rows[T any] struct {
	Added   []T
	Changed []Edit[T]
	Removed []T
}

// Empty says whether the commit leaves the table as it was.
func (r *Rows[T]) Empty() bool {
	return len(r.Added) == 0 && len(r.Changed) == 0 && len(r.Removed) == 0
}

// each calls fn for the rows that a commit adds, and for those that it changes as it
// leaves them.
func each[T any](r *Rows[T], fn func(T)) {
	for i := range r.Added {
		fn(r.Added[i])
	}
	for i := range r.Changed {
		fn(r.Changed[i].After)
	}
}

// Batch is what one commit does to the rows of one lake. The rows of a table are in the
// order of its keys, not in the order in which they were written.
//
// The numbers in rows are 0 where the table has NULL; where NULL has a meaning, a Has
// field tells it from 0, and where it must not be, Nulls names it.
type Batch struct {
	// Schema is the metadata schema, which one catalog may have several of.
	Schema string
	// Bootstrap says that the commit makes the lake: its tables, or its first snapshot.
	Bootstrap bool

	Snapshots     Rows[lake.Snapshot] // without the changes, which are rows of their own
	Logs          Rows[lake.Changes]  // ducklake_snapshot_changes
	Schemas       Rows[lake.Schema]
	Tables        Rows[lake.Table]
	Views         Rows[lake.View]
	Macros        Rows[lake.Macro]
	MacroImpls    Rows[lake.MacroImpl]
	Columns       Rows[lake.Column]
	Tags          Rows[lake.Tag]
	ColumnTags    Rows[lake.ColumnTag]
	Partitions    Rows[lake.Partition]
	Sorts         Rows[lake.Sort]
	SortKeys      Rows[lake.SortKey]
	DataFiles     Rows[lake.DataFile]
	DeleteFiles   Rows[lake.DeleteFile]
	FileValues    Rows[lake.PartitionValue]
	TableStats    Rows[lake.TableStats]
	ColumnStats   Rows[lake.ColumnStats]
	Versions      Rows[lake.SchemaVersion]
	Scheduled     Rows[lake.Scheduled]
	InlinedTables Rows[lake.InlinedTable] // the registry
	Options       Rows[lake.Option]
	Mappings      Rows[lake.Mapping]
	// FileStats counts the rows of ducklake_file_column_stats, of which there is one for
	// each column of each file.
	FileStats Counts

	// InlinedRows are the rows of inlined data, by relation.
	InlinedRows []InlinedRows
	// InlinedDeletes are the inlined deletes of data files, by table.
	InlinedDeletes []InlinedDeletes

	// Nulls are the NULLs in columns that every reader takes for a number.
	Nulls []NullField
	// Others are the tables of the metadata schema with written rows that are none of the above.
	Others []string
	// Made, Dropped and Emptied are relations of the metadata schema that the commit makes,
	// drops, and takes all rows of at once (TRUNCATE, or a rewrite by ALTER TABLE, whose
	// rows are then not in the batch). One that gets another name or schema is dropped under
	// the old and made under the new one.
	Made, Dropped, Emptied []string
}

// Counts is how many rows a commit adds to a table, changes and removes.
type Counts struct {
	Added, Changed, Removed int
}

// InlinedRows is what a commit does to one relation of inlined data.
type InlinedRows struct {
	Relation string // ducklake_inlined_data_<table>_<schema version>
	TableID  int64
	Rows[lake.InlinedRow]
}

// InlinedDeletes is what a commit does to the inlined deletes of one table.
type InlinedDeletes struct {
	TableID int64
	Rows[lake.InlinedDelete]
}

// NullField is a NULL where a number must be.
type NullField struct {
	Table, Column string
}

// Snapshot returns the snapshot that the commit makes; ok is false for one that makes none
// (expiry, cleanup, options, plain SQL). Of several it is the newest.
func (b *Batch) Snapshot() (s lake.Snapshot, ok bool) {
	for i := range b.Snapshots.Added {
		if n := &b.Snapshots.Added[i]; !ok || n.ID > s.ID {
			s, ok = *n, true
		}
	}
	return s, ok
}

// ChangesMade returns the changes_made of the snapshot that the commit makes, "" when it
// makes none or has NULL.
func (b *Batch) ChangesMade() string {
	s, ok := b.Snapshot()
	for i := range b.Logs.Added {
		if c := &b.Logs.Added[i]; ok && c.SnapshotID == s.ID {
			return c.Made
		}
	}
	return ""
}

// Deletes returns what the commit does to the inlined deletes of a table.
func (b *Batch) Deletes(table int64) (d InlinedDeletes) {
	for i := range b.InlinedDeletes {
		if b.InlinedDeletes[i].TableID == table {
			return b.InlinedDeletes[i]
		}
	}
	return InlinedDeletes{TableID: table}
}
