package conflict

// Codes of the state checks: what a commit assumes about deletes and files is not so.
const (
	CodeMergeDeletes   Code = "merge-deletes"
	CodeRewriteDeletes Code = "rewrite-deletes"
	CodeSourceGone     Code = "source-gone"
	CodeDeleteTarget   Code = "delete-target"
	CodeDeleteFileTwo  Code = "delete-file-two"
	CodeDeleteOverlap  Code = "delete-overlap"
	CodeDeleteDate     Code = "delete-date"
	CodeSnapshotOrder  Code = "snapshot-order"
)

// MergeOfDeletedRows refuses a merge that read data files without deletes that they have
// now: the deleted rows would come back.
func MergeOfDeletedRows(t TableRef, files []int64) Violation {
	return terminal(CodeMergeDeletes, stateObjectState, t,
		"another transaction deleted rows of data file %s of table %v since this merge read it", list(files), t).
		detail("The merged file would bring the deleted rows back.").hint(hintRunAgain)
}

// RewriteOfOtherDeletes refuses a rewrite whose data file has other deletes now than those
// that it took out.
func RewriteOfOtherDeletes(t TableRef, file int64) Violation {
	return terminal(CodeRewriteDeletes, stateObjectState, t,
		"another transaction changed the deletes of data file %d of table %v since this rewrite read it", file, t).
		detail("The rewritten file would bring deleted rows back.").hint(hintRunAgain)
}

// SourceGone refuses a compaction of a file that has ended meanwhile.
func SourceGone(t TableRef, file int64) Violation {
	return terminal(CodeSourceGone, stateObjectState, t,
		"data file %d of table %v, which this compaction replaces, is no longer there", file, t).hint(hintRunAgain)
}

// DeleteOfEndedFile refuses deletes of rows of a data file that is not live: they would be lost.
func DeleteOfEndedFile(t TableRef, file int64) Violation {
	return terminal(CodeDeleteTarget, stateObjectState, t,
		"data file %d, whose rows this transaction deletes, is no longer a live file of table %v", file, t).
		detail("Another transaction merged, rewrote or removed it; the deletes would be lost.").hint(hintRunAgain)
}

// DeleteOfForeignFile refuses a delete file that names a data file of another table.
func DeleteOfForeignFile(t TableRef, deleteFile, file int64) Violation {
	return terminal(CodeDeleteTarget, stateCheck, t,
		"delete file %d of table %v names data file %d, which is not a file of that table", deleteFile, t, file)
}

// SecondDeleteFile refuses a second delete file for a data file in one span of snapshots.
func SecondDeleteFile(t TableRef, file, have, added int64) Violation {
	return terminal(CodeDeleteFileTwo, stateObjectState, t,
		"data file %d of table %v has delete file %d already, delete file %d would be read beside it", file, t, have, added).
		detail("Every row of the data file would be read twice.").hint(hintRunAgain)
}

// DeletedTwice refuses a delete file and inlined deletes that both hold the same rows:
// readers lose all later deletes of the vector.
func DeletedTwice(t TableRef, file int64, rows int) Violation {
	return terminal(CodeDeleteOverlap, stateObjectState, t,
		"%d rows of data file %d of table %v would be deleted both by a delete file and by inlined deletes", rows, file, t).
		detail("Another transaction deleted rows of the same file at the same time.").hint(hintRunAgain)
}

// InlinedTwice refuses a commit that deletes a row inline twice itself.
func InlinedTwice(t TableRef, row, file int64) Violation {
	return terminal(CodeDeleteOverlap, stateCheck, t, "row %d of data file %d of table %v would be deleted inline twice", row, file, t).
		detail("Readers would lose the deletes that come after it.")
}

// DeleteRace refuses a delete file beside inlined deletes that came since it was planned,
// where the positions in the file could not be compared.
func DeleteRace(t TableRef, file int64) Violation {
	return terminal(CodeDeleteOverlap, stateObjectState, t,
		"another transaction deleted rows of data file %d of table %v since this one read it", file, t).hint(hintRunAgain)
}

// SnapshotNotNext says that a commit lost the race for its snapshot id.
func SnapshotNotNext(id, head int64) Violation {
	return retryable(CodeSnapshotOrder, TableRef{}, "snapshot %d does not follow the newest snapshot %d", id, head)
}
