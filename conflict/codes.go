package conflict

// CheckInfo describes one check for settings and documents.
type CheckInfo struct {
	Code Code
	What string // what is refused, without a full stop
}

// Checks lists what can be set to a mode, by subject.
func Checks() []CheckInfo {
	return []CheckInfo{
		{CodeMergeDeletes, "a merge of data files that have deletes which it did not read"},
		{CodeRewriteDeletes, "a rewrite that took out other deletes than its data file has"},
		{CodeSourceGone, "a compaction of a data file that has ended"},
		{CodeDeleteTarget, "deletes of a data file that is not live, or not of the table"},
		{CodeDeleteFileTwo, "a second delete file for a data file"},
		{CodeDeleteOverlap, "a delete file beside inlined deletes that it was not planned with; off also leaves inlined deletes that a flush covers"},
		{CodeDeletesDropped, "deletes that go without others in their place"},
		{CodeDeleteCount, "deletes of rows that a data file does not have"},
		{CodeDeleteDate, "not refused but put right: delete files that take another's place and say less for older snapshots"},
		{CodeRowsDropped, "inlined rows that go without a data file that has them"},
		{CodeTableEmptied, "a TRUNCATE, DROP or rewrite that takes rows which the lake needs"},
		{CodeTableDropped, "a DROP or new name for some of the tables that make a lake, while others stay"},
		{CodeTextSortFlush, "a flush with deletes on a table sorted by a column that is kept as text"},
		{CodeTableGone, "a new version of a table, view or column that was dropped"},
		{CodeInlinedShape, "an inlined table with other columns than its table"},
		{CodeTwoLive, "two live rows for one id"},
		{CodeNameTaken, "two live objects of one name"},
		{CodeReference, "live rows that belong to something that has ended"},
		{CodeRegistry, "an inlined table registered twice, or without its relation"},
		{CodeCounter, "counters that go back, ids that they have not given out"},
		{CodeSpan, "rows that begin in the future or end before they begin"},
		{CodeNullID, "ids that are NULL"},
		{CodeNegative, "negative counts and sizes"},
		{CodeStatistics, "not refused but put right: table statistics that get narrower while older snapshots use them"},
		{CodeSnapshotTime, "an UPDATE of snapshot times to infinite ones, or out of order; those of new snapshots are put right"},
		{CodeSnapshotRow, "changes of a snapshot that does not exist, or a snapshot that loses its changes"},
		{CodeHeadRemoved, "the removal of the newest snapshot"},
		{CodeBaseExpired, "a commit planned on a snapshot since which others have expired"},
		{CodeSnapshotPinned, "the removal of snapshots that open transactions hold; a DELETE leaves them out"},
		{CodeSnapshotTagged, "the removal of snapshots with tags; a DELETE leaves them out"},
		{CodeScheduledLive, "a file in use that is scheduled for deletion; off also schedules one that is registered twice"},
		{CodeScheduleTwice, "not refused but put right: a second row for a file that is scheduled for deletion"},
		{CodeScheduleEarly, "the removal of a file from the list of files to delete before it may be deleted; a client sees such files only if it asks for all"},
		{CodeOptionTwice, "not refused but put right: a second row for an option that another client has set meanwhile"},
		{CodeFileGone, "a new file that a search for orphans has removed before the commit, where the server can reach it"},
		{CodePathTaken, "a file that is catalogued or scheduled already"},
		{CodeCommittedTwice, "a commit that is stored already"},
		{CodeChangesGrammar, "a changes_made that clients cannot read"},
		{CodeChangesDiffer, "a changes_made that says something else than the commit does"},
		{CodeRowIDs, "a compaction that changes row ids"},
		{CodeRowIDColumn, "a compaction whose row-id column cannot be used"},
		{CodeRowIDShape, "a compaction that cannot keep row ids by its shape"},
		{CodeRowIDShared, "files that share row ids"},
		{CodeCompactionDate, "outputs that other snapshots see than saw their sources"},
		{CodeRowIDNext, "a compaction that changes next_row_id"},
		{CodeRowCount, "a compaction with another number of rows than its sources leave"},
		{CodeUnverified, "a compaction with files that should be readable and are not, or not with the catalog's key"},
		{CodeUnread, "a compaction with files out of the server's reach, judged by the catalog alone; at most warn unless set by this name"},
	}
}

// Known says whether a code is one of Checks.
func Known(c Code) bool {
	for _, i := range Checks() {
		if i.Code == c {
			return true
		}
	}
	return false
}
