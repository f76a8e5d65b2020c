package policy

// Policy says whether and how a stream is written to a table. A nil pointer, a nil list and a
// nil map are absent; an empty list is present. ConnectionOverrides has no absence: nil and
// empty are the same.
type Policy struct {
	// CatalogRef is the name of a table catalog that is registered.
	CatalogRef *string `json:"catalogRef,omitzero" yaml:"catalogRef,omitempty"`
	// TableNaming derives the table from the stream. It is read from the namespace's policy only.
	TableNaming *TableNaming `json:"tableNaming,omitzero" yaml:"tableNaming,omitempty"`
	// TableIdentifier is the table itself. It is read from the stream's policy only.
	TableIdentifier *TableIdentifier `json:"tableIdentifier,omitzero" yaml:"tableIdentifier,omitempty"`
	// Enabled takes a stream out when it is false in the stream's policy. A namespace's never does.
	Enabled *bool `json:"enabled,omitzero" yaml:"enabled,omitempty"`
	// Framework are the settings that every kind of destination has.
	Framework *Framework `json:"framework,omitzero" yaml:"framework,omitempty"`
	// Evolution says which changes of the table's columns are permitted.
	Evolution *Evolution `json:"evolution,omitzero" yaml:"evolution,omitempty"`
	// PrimaryKey are the columns of the table's primary key.
	PrimaryKey []string `json:"primaryKey,omitzero" yaml:"primaryKey,omitempty"`
	// BaseSchemaVersion is the version of a schema that others are compared with.
	BaseSchemaVersion *int64 `json:"baseSchemaVersion,omitzero" yaml:"baseSchemaVersion,omitempty"`
	// Table are settings whose effect depends on the destination.
	Table *TableConf `json:"table,omitzero" yaml:"table,omitempty"`
	// ConnectionOverrides replace values of the table catalog's connection for a stream.
	ConnectionOverrides map[string]string `json:"connectionOverrides,omitempty" yaml:"connectionOverrides,omitempty"`
}

// TableNaming derives a table identifier from a stream.
type TableNaming struct {
	// TableNamespacePrefix is the table's namespace, word for word, in place of the stream's.
	TableNamespacePrefix *string `json:"tableNamespacePrefix,omitzero" yaml:"tableNamespacePrefix,omitempty"`
	// TableNameTemplate is the table's name, with variables.
	TableNameTemplate string `json:"tableNameTemplate" yaml:"tableNameTemplate"`
}

// TableIdentifier names a table within a table catalog.
type TableIdentifier struct {
	Namespace string `json:"namespace" yaml:"namespace"`
	Name      string `json:"name" yaml:"name"`
}

// TableCatalog is a destination that is registered under a name.
type TableCatalog struct {
	Name string           `json:"name" yaml:"name"`
	Type TableCatalogType `json:"type" yaml:"type"`
	// Connection says how the destination is reached; its keys are the materializer's.
	Connection map[string]string `json:"connection,omitempty" yaml:"connection,omitempty"`
	// Properties are defaults for the whole destination; their keys are the materializer's.
	Properties map[string]string `json:"properties,omitempty" yaml:"properties,omitempty"`
}

// Framework are settings that do not depend on the destination.
type Framework struct {
	WriteMode     *WriteMode     `json:"writeMode,omitzero" yaml:"writeMode,omitempty"`
	StartPosition *StartPosition `json:"startPosition,omitzero" yaml:"startPosition,omitempty"`
	// Paused stops writing; the stream resolves all the same.
	Paused        *bool          `json:"paused,omitzero" yaml:"paused,omitempty"`
	ErrorHandling *ErrorHandling `json:"errorHandling,omitzero" yaml:"errorHandling,omitempty"`
	Commit        *Commit        `json:"commit,omitzero" yaml:"commit,omitempty"`
}

// ErrorHandling says what becomes of records that cannot be written. Layers do not mix it.
type ErrorHandling struct {
	Mode     ErrorMode `json:"mode" yaml:"mode"`
	DLQTopic *string   `json:"dlqTopic,omitzero" yaml:"dlqTopic,omitempty"`
}

// Commit are the settings of commits.
type Commit struct {
	MaxRetries *int32 `json:"maxRetries,omitzero" yaml:"maxRetries,omitempty"`
	// RetryDelayMs is the shortest wait before a retry, in milliseconds.
	RetryDelayMs *int64 `json:"retryDelayMs,omitzero" yaml:"retryDelayMs,omitempty"`
	// BatchSize is how many records one commit holds at most.
	BatchSize *int32 `json:"batchSize,omitzero" yaml:"batchSize,omitempty"`
}

// Evolution are the changes of a table's columns: true permits one, false forbids it, absent
// leaves it to the materializer.
type Evolution struct {
	AddColumn          *bool `json:"addColumn,omitzero" yaml:"addColumn,omitempty"`
	AddNullableColumn  *bool `json:"addNullableColumn,omitzero" yaml:"addNullableColumn,omitempty"`
	DropColumn         *bool `json:"dropColumn,omitzero" yaml:"dropColumn,omitempty"`
	WidenType          *bool `json:"widenType,omitzero" yaml:"widenType,omitempty"`
	NarrowType         *bool `json:"narrowType,omitzero" yaml:"narrowType,omitempty"`
	RenameColumn       *bool `json:"renameColumn,omitzero" yaml:"renameColumn,omitempty"`
	ReorderColumns     *bool `json:"reorderColumns,omitzero" yaml:"reorderColumns,omitempty"`
	NullabilityRelax   *bool `json:"nullabilityRelax,omitzero" yaml:"nullabilityRelax,omitempty"`
	NullabilityTighten *bool `json:"nullabilityTighten,omitzero" yaml:"nullabilityTighten,omitempty"`
}

// TableConf are settings of the table.
type TableConf struct {
	PartitionBy         []PartitionField `json:"partitionBy,omitzero" yaml:"partitionBy,omitempty"`
	SortBy              []SortField      `json:"sortBy,omitzero" yaml:"sortBy,omitempty"`
	Retention           *Retention       `json:"retention,omitzero" yaml:"retention,omitempty"`
	TargetFileSizeBytes *int64           `json:"targetFileSizeBytes,omitzero" yaml:"targetFileSizeBytes,omitempty"`
	Compression         *Compression     `json:"compression,omitzero" yaml:"compression,omitempty"`
}

// PartitionField is one part of a table's partitioning.
type PartitionField struct {
	// Column is a column of the table, or StreamPartition.
	Column    string             `json:"column" yaml:"column"`
	Transform PartitionTransform `json:"transform" yaml:"transform"`
	// Parameter is the number of buckets, the width of a truncation, or the expression's text.
	Parameter *string `json:"parameter,omitzero" yaml:"parameter,omitempty"`
}

// StreamPartition is the column that stands for the partition of the stream that holds a record.
const StreamPartition = "__partition"

// SortField is one part of a table's order.
type SortField struct {
	Column     string        `json:"column" yaml:"column"`
	Direction  SortDirection `json:"direction" yaml:"direction"`
	NullsFirst bool          `json:"nullsFirst" yaml:"nullsFirst"`
}

// Retention says how long snapshots and rows are kept.
type Retention struct {
	SnapshotRetentionMs *int64 `json:"snapshotRetentionMs,omitzero" yaml:"snapshotRetentionMs,omitempty"`
	MaxSnapshots        *int32 `json:"maxSnapshots,omitzero" yaml:"maxSnapshots,omitempty"`
	RowRetentionMs      *int64 `json:"rowRetentionMs,omitzero" yaml:"rowRetentionMs,omitempty"`
}

// StreamID names a stream within a stream catalog.
type StreamID struct {
	Namespace string `json:"namespace" yaml:"namespace"`
	Name      string `json:"name" yaml:"name"`
}

// Reserved properties of streams, which source integrations set and users may not.
const (
	PropertyLogicalName = "lakestream.source.logical.name"
	PropertyKafkaTopic  = "lakestream.kafka.topic.name"
)

// Resolved is where and how a stream is written.
type Resolved struct {
	Catalog         TableCatalog    `json:"catalog"`
	TableIdentifier TableIdentifier `json:"tableIdentifier"`
	// Effective always has a CatalogRef and a TableIdentifier.
	Effective Policy `json:"effectivePolicy"`
}
