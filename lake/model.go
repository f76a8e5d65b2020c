package lake

// Span is the validity of a versioned row: visible at snapshot n when
// Begin ≤ n and (Ended is false or n < End).
type Span struct {
	Begin int64
	End   int64
	Ended bool
}

// VisibleAt says whether the row is visible at snapshot n.
func (s Span) VisibleAt(n int64) bool { return s.Begin <= n && (!s.Ended || n < s.End) }

// Overlaps says whether two validities share a snapshot.
func (s Span) Overlaps(o Span) bool {
	return (!o.Ended || s.Begin < o.End) && (!s.Ended || o.Begin < s.End) && !s.Empty() && !o.Empty()
}

// Empty says whether no snapshot can see the row.
func (s Span) Empty() bool { return s.Ended && s.End <= s.Begin }

// Snapshot is a row of ducklake_snapshot with its row of ducklake_snapshot_changes.
type Snapshot struct {
	ID            int64
	Time          string // as the source prints it
	Micros        int64  // the time in µs since 1970, where the source gives it in binary form; else 0
	SchemaVersion int64
	NextCatalogID int64
	NextFileID    int64
	HasChanges    bool   // a changes row exists
	Changes       string // changes_made, "" for NULL
}

// Schema is a row of ducklake_schema.
type Schema struct {
	Span
	ID       int64
	Name     string
	Path     string
	Relative bool
}

// Table is a row of ducklake_table.
type Table struct {
	Span
	ID       int64
	SchemaID int64
	Name     string
	Path     string
	Relative bool
}

// View is a row of ducklake_view.
type View struct {
	Span
	ID       int64
	SchemaID int64
	Name     string
}

// Column is a row of ducklake_column.
type Column struct {
	Span
	ID        int64
	TableID   int64
	Name      string
	Type      string // as DuckLake spells it, e.g. "int128"
	Order     int64
	Parent    int64
	HasParent bool
}

// DataFile is a row of ducklake_data_file.
type DataFile struct {
	Span
	ID            int64
	TableID       int64
	Path          string
	Relative      bool
	Records       int64
	Size          int64 // file_size_bytes
	Footer        int64 // footer_size, 0 for NULL
	RowIDStart    int64
	HasRowIDStart bool
	PartitionID   int64
	HasPartition  bool
	Key           string // encryption_key, "" for NULL
	MappingID     int64
	HasMapping    bool
	PartialMax    int64
	HasPartialMax bool
}

// DeleteFile is a row of ducklake_delete_file.
type DeleteFile struct {
	Span
	ID            int64
	TableID       int64
	DataFileID    int64
	Path          string
	Relative      bool
	Format        string // "parquet" or "puffin"
	Count         int64
	Size          int64
	Footer        int64  // footer_size, 0 for NULL
	Key           string // encryption_key, "" for NULL
	PartialMax    int64
	HasPartialMax bool
}

// TableStats is a row of ducklake_table_stats.
type TableStats struct {
	TableID   int64
	Records   int64
	NextRowID int64
	Size      int64 // file_size_bytes
}

// Scheduled is a row of ducklake_files_scheduled_for_deletion.
type Scheduled struct {
	ID       int64
	Path     string
	Relative bool
	// Start is schedule_start in µs since 1970; 0 when it is NULL, or was not asked for.
	Start int64
}

// InlinedTable is a row of ducklake_inlined_data_tables.
type InlinedTable struct {
	TableID       int64
	Name          string
	SchemaVersion int64
}

// InlinedDelete is a row of a ducklake_inlined_delete_<table> relation.
type InlinedDelete struct {
	TableID int64
	FileID  int64
	RowID   int64
	Begin   int64
}

// InlinedRow is the head of a row of an inlined-data relation.
type InlinedRow struct {
	Span
	Relation string
	TableID  int64
	RowID    int64
}

// Model is everything that was read.
type Model struct {
	Version        string // ducklake_metadata 'version'
	Snapshots      []Snapshot
	Schemas        []Schema
	Tables         []Table
	Views          []View
	Columns        []Column
	DataFiles      []DataFile
	DeleteFiles    []DeleteFile
	Stats          []TableStats
	Scheduled      []Scheduled
	InlinedTables  []InlinedTable
	InlinedDeletes []InlinedDelete
	InlinedRows    []InlinedRow
	// Relations are the names of all relations in the metadata schema.
	Relations map[string]bool
}

// Head is the newest snapshot; ok is false for a lake without one.
func (m *Model) Head() (s Snapshot, ok bool) {
	for i, c := range m.Snapshots {
		if i == 0 || c.ID > s.ID {
			s, ok = c, true
		}
	}
	return s, ok
}
