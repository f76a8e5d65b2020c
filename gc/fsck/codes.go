package fsck

// Code names an invariant. It is stable: scripts and alerts go by it.
type Code string

// Severity says what a finding means for those who use the lake.
type Severity string

const (
	// Error: some reader or writer gets wrong results or fails, now or later.
	Error Severity = "error"
	// Warning: nothing reads wrong, but something is left behind or is not as it should be.
	Warning Severity = "warning"
	// Info: something could not be looked at, or is worth knowing. The lake counts as clean.
	Info Severity = "info"
)

// CodeInfo describes a code.
type CodeInfo struct {
	Code     Code
	Severity Severity
	// What is wrong, without a full stop.
	What string
	// Repair is what a repair does, "" when there is none.
	Repair string
}

// The codes, by what they are about.
const (
	NoSnapshot             Code = "no-snapshot"
	SnapshotTwice          Code = "snapshot-twice"
	SnapshotWithoutChanges Code = "snapshot-without-changes"
	ChangesWithoutSnapshot Code = "changes-without-snapshot"
	SnapshotTimeWentBack   Code = "snapshot-time-went-back"
	SnapshotTimeUnknown    Code = "snapshot-time-unknown"
	CounterWentBack        Code = "counter-went-back"
	IDBeyondCounter        Code = "id-beyond-counter"
	NullID                 Code = "null-id"
	RelationMissing        Code = "relation-missing"
	VersionUnknown         Code = "version-unknown"
	OptionTwice            Code = "option-twice"

	BeginsAfterHead     Code = "begins-after-head"
	EndsAfterHead       Code = "ends-after-head"
	EndsBeforeBegin     Code = "ends-before-begin"
	VersionsOverlap     Code = "versions-overlap"
	NameTwice           Code = "name-twice"
	IDShared            Code = "id-shared"
	RefersToEnded       Code = "refers-to-ended"
	RefersToMissing     Code = "refers-to-missing"
	TableWithoutColumns Code = "table-without-columns"
	MacroWithoutImpl    Code = "macro-without-implementation"
	PartOrphaned        Code = "part-orphaned"
	PartitionColumn     Code = "partition-column-unknown"

	DataFileTwice      Code = "data-file-twice"
	PathTwice          Code = "path-twice"
	NegativeCount      Code = "negative-count"
	PartitionUnknown   Code = "partition-unknown"
	MappingUnknown     Code = "mapping-unknown"
	SchemaVersion      Code = "schema-version-missing"
	DeleteFileTwice    Code = "delete-file-twice"
	DeleteFileDangling Code = "delete-file-dangling"
	DeleteFileForeign  Code = "delete-file-foreign"
	DeleteCount        Code = "delete-count"

	FileStatsOrphaned      Code = "file-stats-orphaned"
	FileStatsForeign       Code = "file-stats-foreign"
	FileStatsTwice         Code = "file-stats-twice"
	FileStatsColumn        Code = "file-stats-column"
	FileStatsCount         Code = "file-stats-count"
	PartitionValueOrphaned Code = "partition-value-orphaned"
	PartitionValueForeign  Code = "partition-value-foreign"
	PartitionValueTwice    Code = "partition-value-twice"
	PartitionValueMissing  Code = "partition-value-missing"
	TableStatsMissing      Code = "table-stats-missing"
	TableStatsTwice        Code = "table-stats-twice"
	TableStatsOrphaned     Code = "table-stats-orphaned"
	ColumnStatsTwice       Code = "column-stats-twice"
	RecordCount            Code = "record-count"

	RowIDBeyondCounter    Code = "row-id-beyond-counter"
	RowIDTwice            Code = "row-id-twice"
	RowIDRange            Code = "row-id-range"
	InlinedDeleteDangling Code = "inlined-delete-dangling"
	InlinedDeleteOrphaned Code = "inlined-delete-orphaned"
	InlinedDeleteForeign  Code = "inlined-delete-foreign"
	InlinedDeletePosition Code = "inlined-delete-position"
	InlinedDeleteTwice    Code = "inlined-delete-twice"
	RegistryTwice         Code = "registry-twice"
	RegistryDangling      Code = "registry-dangling"
	RegistryForeign       Code = "registry-foreign"
	RelationUnregistered  Code = "relation-unregistered"
	RelationLeaked        Code = "relation-leaked"

	ScheduledLive  Code = "scheduled-live"
	ScheduledTwice Code = "scheduled-twice"

	CommitFilesMissing Code = "commit-files-missing"
	FileMissing        Code = "file-missing"
	FileDamaged        Code = "file-damaged"
	FileSize           Code = "file-size"
	FooterSize         Code = "footer-size"
	FileRows           Code = "file-rows"
	RowIDMissing       Code = "row-id-missing"
	DeletePosition     Code = "delete-position"
	DeletePositions    Code = "delete-positions"
	DeleteOverlap      Code = "delete-overlap"
	FileUnreadable     Code = "file-unreadable"
	FileUnverified     Code = "file-unverified"
)

const (
	removesRow   = "removes the row"
	removesRows  = "removes the rows"
	dropsIt      = "drops the relation"
	keepsOne     = "leaves one of the rows"
	raisesIt     = "raises the counter above all ids in use"
	endsEarlier  = "ends the earlier version where the later one begins, if that loses nothing"
	cancelsIt    = "removes the row of the schedule: the file stays"
	ofNoSnapshot = "adds the row, with an empty list of changes"
)

// Codes lists every code, by subject.
func Codes() []CodeInfo {
	return []CodeInfo{
		{NoSnapshot, Error, "the lake has no snapshot: clients cannot attach it", ""},
		{SnapshotTwice, Error, "a snapshot id exists more than once", ""},
		{SnapshotWithoutChanges, Warning, "a snapshot has no row in ducklake_snapshot_changes", ofNoSnapshot},
		{ChangesWithoutSnapshot, Warning, "a row of ducklake_snapshot_changes names a snapshot that does not exist", removesRow},
		{SnapshotTimeWentBack, Warning, "a snapshot is older than the one before it: time travel by time is wrong there", ""},
		{SnapshotTimeUnknown, Warning, "a snapshot's time is NULL, infinite or cannot be read", ""},
		{CounterWentBack, Error, "a counter of a snapshot is lower than that of the one before", "raises the counters of the newest snapshot; those of older ones are read by nobody"},
		{IDBeyondCounter, Error, "an id that the newest snapshot's counters have not given out: the next commit gives it to something else", raisesIt},
		{NullID, Error, "an id or begin_snapshot is NULL", ""},
		{RelationMissing, Error, "a relation that every lake of its version has is not there", ""},
		{VersionUnknown, Error, "ducklake_metadata has no version: clients cannot attach the lake", ""},
		{OptionTwice, Warning, "an option is set more than once for one scope, as by two clients at once: the order of the rows decides which value counts", "leaves the last of the rows, which counts for clients"},

		{BeginsAfterHead, Error, "a row begins in a snapshot that does not exist yet: it appears out of nothing when that comes", ""},
		{EndsAfterHead, Error, "a row ends in a snapshot that does not exist yet: it vanishes when that comes", ""},
		{EndsBeforeBegin, Error, "a row ends before it begins", ""},
		{VersionsOverlap, Error, "two versions of one thing are valid in one snapshot (of an object, a column, a tag; two delete files of one data file)", endsEarlier},
		{NameTwice, Error, "two objects of one name in one snapshot", ""},
		{IDShared, Error, "objects of different kinds have the same id", ""},
		{RefersToEnded, Error, "something live belongs to something that has ended", ""},
		{RefersToMissing, Error, "a row belongs to a table or schema that has no row at all", ""},
		{TableWithoutColumns, Error, "a live table has no live column: clients cannot load the catalog", ""},
		{MacroWithoutImpl, Error, "a live macro has no implementation: clients cannot load the catalog", ""},
		{PartOrphaned, Warning, "rows of a part (tag, column, partition key, sort key, mapping, macro implementation, schema version) whose whole is gone", removesRows},
		{PartitionColumn, Error, "a live partition key names a column that the table never had", ""},

		{DataFileTwice, Error, "a data file id exists more than once", ""},
		{PathTwice, Error, "two rows name one file: when one of them expires the file is removed under the other", ""},
		{NegativeCount, Error, "a count or size is negative", ""},
		{PartitionUnknown, Info, "a data file names a partitioning of its table that has no row; only compaction groups by it", ""},
		{MappingUnknown, Error, "a data file names a column mapping that does not exist: it cannot be read", ""},
		{SchemaVersion, Error, "no row of ducklake_schema_versions covers a data file's beginning: its table cannot be compacted", ""},
		{DeleteFileTwice, Error, "a delete file id exists more than once", ""},
		{DeleteFileDangling, Error, "a delete file of a data file that does not exist", "removes the row, and schedules the file for deletion"},
		{DeleteFileForeign, Error, "a delete file and its data file are of different tables", ""},
		{DeleteCount, Error, "more rows of a data file are deleted than it has", ""},

		{FileStatsOrphaned, Warning, "statistics of files that do not exist", removesRows},
		{FileStatsForeign, Error, "statistics or variant statistics of a file under another table's id: filters may leave the file out", ""},
		{FileStatsTwice, Error, "statistics of one column of one file exist more than once", ""},
		{FileStatsColumn, Warning, "statistics of a column that the table has never had", removesRows},
		{FileStatsCount, Warning, "the statistics of a column count more values than its file has rows", ""},
		{PartitionValueOrphaned, Warning, "partition values of files that do not exist", removesRows},
		{PartitionValueForeign, Error, "a partition value of a file under another table's id", ""},
		{PartitionValueTwice, Error, "a file has two values for one partition key", ""},
		{PartitionValueMissing, Error, "a file of a partitioning has no value for one of its keys", ""},
		{TableStatsMissing, Error, "a table with rows has no row in ducklake_table_stats: row ids are given out again", "adds the row, from the files and inlined rows"},
		{TableStatsTwice, Error, "a table has more than one row in ducklake_table_stats", "leaves one, with the highest of each count"},
		{TableStatsOrphaned, Warning, "statistics of tables that do not exist", removesRows},
		{ColumnStatsTwice, Error, "a column has more than one row in ducklake_table_column_stats", ""},
		{RecordCount, Warning, "ducklake_table_stats counts fewer rows than the table has", "raises the count"},

		{RowIDBeyondCounter, Error, "a row id that next_row_id has not given out: the next insert gives it to another row", raisesIt},
		{RowIDTwice, Error, "two live inlined rows of a table have one row id", ""},
		{RowIDRange, Info, "the row ids of two live data files overlap, as the catalog has them; ids inside of the files go before these", ""},
		{InlinedDeleteDangling, Error, "an inlined delete of a data file that does not exist, from a snapshot that does: if a compaction replaced it, the row is back", "removes the row, which nothing reads; the log keeps it"},
		{InlinedDeleteOrphaned, Info, "inlined deletes of data files that have expired, from snapshots that have expired as well: nothing reads them, and the next trim takes them", removesRows},
		{InlinedDeleteForeign, Error, "an inlined delete of another table's data file", ""},
		{InlinedDeletePosition, Error, "an inlined delete of a row that its file does not have", ""},
		{InlinedDeleteTwice, Error, "a row is deleted twice: later deletes of its file are not seen", "keeps the earlier delete"},
		{RegistryTwice, Error, "an inlined relation is registered more than once: its rows are read twice", keepsOne},
		{RegistryDangling, Error, "an inlined relation is registered and does not exist: its table cannot be read", removesRow},
		{RegistryForeign, Warning, "an inlined relation is registered for a table that does not exist", "removes the row, and drops the relation"},
		{RelationUnregistered, Error, "an inlined relation with rows of a live table is not registered: its rows are not read", "registers it under the name's schema version"},
		{RelationLeaked, Warning, "an inlined relation that nothing uses is left behind", dropsIt},

		{ScheduledLive, Error, "a file in use is scheduled for deletion: the next cleanup removes it", cancelsIt},
		{ScheduledTwice, Warning, "a file is scheduled for deletion more than once", "leaves the row that is due last"},

		{CommitFilesMissing, Error, "all files that one snapshot added to a table are gone, as when a client took a commit that landed for failed and removed its files", ""},
		{FileMissing, Error, "a file that some snapshot reads does not exist", "with --drop-missing-files: a new snapshot in which the data file has ended"},
		{FileDamaged, Error, "a file is not what its name says", ""},
		{FileSize, Error, "a file's size is not file_size_bytes", ""},
		{FooterSize, Error, "a Parquet file's footer is not as long as footer_size", ""},
		{FileRows, Error, "a Parquet file's row count is not record_count", ""},
		{RowIDMissing, Error, "a data file has no row_id_start, and its rows' ids are not inside: its rows have none", ""},
		{DeletePosition, Error, "a delete file deletes a row that its data file does not have", ""},
		{DeletePositions, Error, "a delete file deletes another number of rows than delete_count, or one of them twice", ""},
		{DeleteOverlap, Error, "rows are deleted by a delete file and inlined as well: later deletes of the file are not seen", "removes the inlined deletes that the delete file has"},
		{FileUnreadable, Warning, "a file could not be read: access denied, or the storage failed", ""},
		{FileUnverified, Info, "a file could not be verified: encrypted without a key that fits, out of reach, of an unknown format or too large", ""},
	}
}

// infos are the codes by name.
func infos() map[Code]CodeInfo {
	m := map[Code]CodeInfo{}
	for _, i := range Codes() {
		m[i.Code] = i
	}
	return m
}
