package policy

// TableCatalogType is the kind of a destination.
type TableCatalogType string

// The kinds of destinations. DuckLake is Eider's own, all others are the specification's.
const (
	Iceberg    TableCatalogType = "ICEBERG"
	Delta      TableCatalogType = "DELTA"
	DeltaUC    TableCatalogType = "DELTA_UC"
	ClickHouse TableCatalogType = "CLICKHOUSE"
	None       TableCatalogType = "NONE"
	DuckLake   TableCatalogType = "DUCKLAKE"
)

// WriteMode says how records become rows.
type WriteMode string

// The modes of writing.
const (
	Append WriteMode = "APPEND"
	Upsert WriteMode = "UPSERT"
	CDC    WriteMode = "CDC"
)

// StartPosition says where a materialization begins.
type StartPosition string

// The positions. No field carries the value of the last two.
const (
	Earliest  StartPosition = "EARLIEST"
	Latest    StartPosition = "LATEST"
	Offset    StartPosition = "OFFSET"
	Timestamp StartPosition = "TIMESTAMP"
)

// ErrorMode says what becomes of a record that cannot be written.
type ErrorMode string

// The modes of errors.
const (
	Suspend ErrorMode = "SUSPEND"
	Skip    ErrorMode = "SKIP"
	Log     ErrorMode = "LOG"
)

// Compression is a codec of data files.
type Compression string

// The codecs.
const (
	Zstd         Compression = "ZSTD"
	Snappy       Compression = "SNAPPY"
	Gzip         Compression = "GZIP"
	LZ4          Compression = "LZ4"
	Uncompressed Compression = "UNCOMPRESSED"
)

// PartitionTransform makes a partition's value of a column's.
type PartitionTransform string

// The transforms. Bucket, Truncate and Expression need a parameter.
const (
	Identity   PartitionTransform = "IDENTITY"
	Bucket     PartitionTransform = "BUCKET"
	Truncate   PartitionTransform = "TRUNCATE"
	Year       PartitionTransform = "YEAR"
	Month      PartitionTransform = "MONTH"
	Day        PartitionTransform = "DAY"
	Hour       PartitionTransform = "HOUR"
	Expression PartitionTransform = "EXPRESSION"
)

// SortDirection is the direction of an order.
type SortDirection string

// The directions.
const (
	Asc  SortDirection = "ASC"
	Desc SortDirection = "DESC"
)

// State is what a materialization is doing.
type State string

// The states.
const (
	// Pending is configured and not running.
	Pending State = "PENDING"
	// Running writes.
	Running State = "RUNNING"
	// Degraded runs impaired.
	Degraded State = "DEGRADED"
	// Suspended has stopped after failures and needs an operator.
	Suspended State = "SUSPENDED"
	// Paused has stopped on request.
	Paused State = "PAUSED"
)
