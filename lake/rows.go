package lake

// The rows of the tables that only commits are judged by: the Model has no need of them.

// Changes is a row of ducklake_snapshot_changes.
type Changes struct {
	SnapshotID int64
	Made       string // changes_made
	HasMade    bool   // false for NULL: an empty list of changes
	Message    string // commit_message
}

// Macro is a row of ducklake_macro.
type Macro struct {
	Span
	ID       int64
	SchemaID int64
	Name     string
}

// MacroImpl is a row of ducklake_macro_impl.
type MacroImpl struct {
	MacroID int64
	ImplID  int64
	Type    string // "scalar" or "table"
}

// Tag is a row of ducklake_tag; Object is a schema, table, view or macro.
type Tag struct {
	Span
	Object int64
	Key    string
}

// ColumnTag is a row of ducklake_column_tag.
type ColumnTag struct {
	Span
	TableID  int64
	ColumnID int64
	Key      string
}

// Partition is a row of ducklake_partition_info.
type Partition struct {
	Span
	ID      int64
	TableID int64
}

// PartitionValue is a row of ducklake_file_partition_value.
type PartitionValue struct {
	FileID   int64
	TableID  int64
	Key      int64 // partition_key_index
	Value    string
	HasValue bool
}

// Sort is a row of ducklake_sort_info.
type Sort struct {
	Span
	ID      int64
	TableID int64
}

// SortKey is a row of ducklake_sort_expression.
type SortKey struct {
	SortID     int64
	TableID    int64
	Key        int64 // sort_key_index
	Expression string
}

// ColumnStats is a row of ducklake_table_column_stats. Min and Max are texts whose order
// is that of the column's type; nil is NULL.
type ColumnStats struct {
	TableID  int64
	ColumnID int64
	Min, Max *string
	// ContainsNull and ContainsNaN are nil for NULL.
	ContainsNull, ContainsNaN *bool
}

// SchemaVersion is a row of ducklake_schema_versions.
type SchemaVersion struct {
	Begin    int64
	Version  int64
	TableID  int64
	HasTable bool
}

// Option is a row of ducklake_metadata. Scope is "", "schema" or "table".
type Option struct {
	Key, Value string
	Scope      string
	ScopeID    int64
}

// Mapping is a row of ducklake_column_mapping.
type Mapping struct {
	ID      int64
	TableID int64
}
