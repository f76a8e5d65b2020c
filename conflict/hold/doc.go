// Package hold keeps the ids of rows through compactions.
//
// A compaction by DuckLake's client replaces data files by others. Whether the rows keep
// their ids depends on things that the catalog's rows alone do not show: whether a file
// has ids inside or counts them from its start, and in which order the client wrote it.
// The client decides on the start and the number of rows alone, and is wrong for files of
// UPDATE and MERGE INTO, for flushes with gaps, and for sorted tables.
//
// The package works on two ends. Embedding finds new files that have ids inside, so that
// they can be stored with NULL as their start: then the client's merges are right. Verify
// judges compactions before they are committed, in tiers: by metadata, by the files'
// footers, by all row ids, by all rows.
//
// Files are read through package lake/files, by row-id column only. Nothing here writes.
// A file is a stranger's bytes: whatever is wrong with one is a finding about it.
package hold
