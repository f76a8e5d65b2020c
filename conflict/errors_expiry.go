package conflict

// CodeOptionTwice is an option that two clients set at once.
const CodeOptionTwice Code = "option-twice"

// Codes of the checks of what goes: snapshots, and files that are to be deleted.
const (
	CodeSnapshotPinned Code = "snapshot-pinned"
	CodeSnapshotTagged Code = "snapshot-tagged"
	CodeScheduleTwice  Code = "schedule-twice"
	CodeScheduleEarly  Code = "schedule-early"
	CodeOrphanScan     Code = "orphan-scan"
	CodeFileGone       Code = "file-gone"
)

// SnapshotsPinned refuses the removal of snapshots that open transactions hold, which
// holders names: their commits could not see what others have changed since.
func SnapshotsPinned(ids []int64, holders string) Violation {
	v := terminal(CodeSnapshotPinned, stateInUse, TableRef{}, "%s cannot be removed: transactions that need %s are open", snapshots(ids), them(ids)).
		hint("Expire them when these transactions have ended. DELETE leaves such snapshots out by itself when it comes after they have begun.")
	if holders != "" {
		v = v.detail("Open: %s.", holders)
	}
	return v
}

// SnapshotsSpared says that a DELETE has left out snapshots which open transactions hold.
func SnapshotsSpared(ids []int64, holders string) Violation {
	v := terminal(CodeSnapshotPinned, stateInUse, TableRef{}, "%s for now: transactions that need %s are open", stay(ids), them(ids))
	if holders != "" {
		v = v.detail("Open: %s.", holders)
	}
	return v
}

// SnapshotsTagged refuses the removal of snapshots with tags.
func SnapshotsTagged(ids []int64) Violation {
	return terminal(CodeSnapshotTagged, stateInUse, TableRef{}, "%s cannot be removed: tags protect %s", snapshots(ids), them(ids)).
		hint("The tags are rows of eider.tags.")
}

// TaggedSpared says that a DELETE has left out snapshots with tags.
func TaggedSpared(ids []int64) Violation {
	return terminal(CodeSnapshotTagged, stateInUse, TableRef{}, "%s: tags protect %s", stay(ids), them(ids))
}

// ChangesRemoved refuses to remove what a snapshot has changed while the snapshot stays.
func ChangesRemoved(snapshot int64) Violation {
	return terminal(CodeSnapshotRow, stateCheck, TableRef{}, "the changes of snapshot %d would be removed, but the snapshot stays", snapshot).
		detail("Whoever commits after it has to know what it changed.")
}

// ScheduleEarly refuses to take a file off the schedule that may not be deleted yet: whoever
// does it has deleted the file, or nobody will.
func ScheduleEarly(path, why string) Violation {
	return terminal(CodeScheduleEarly, stateInUse, TableRef{}, "file %s may not be deleted yet: %s", quoted(path), why).
		detail("A scan that reads data_file_id of ducklake_files_scheduled_for_deletion returns the files that may.")
}

// OrphanScan refuses to tell a client which files are catalogued, while transactions are
// open whose files are not: it would delete them.
func OrphanScan(holders string) Violation {
	return terminal(CodeOrphanScan, stateInUse, TableRef{}, "orphans cannot be told from the files of open transactions").
		detail("Open: %s.", holders).
		hint("Run it again when these transactions have ended. ALTER DATABASE ... SET eider.orphan_scan = 'allow' lets it pass.")
}

// OrphanScanOld refuses the same to one who does not see the newest files.
func OrphanScanOld() Violation {
	return terminal(CodeOrphanScan, stateInUse, TableRef{}, "another transaction has committed, whose files would be taken for orphans").
		hint("Run it again, in a transaction of its own. ALTER DATABASE ... SET eider.orphan_scan = 'allow' lets it pass.")
}

// OrphanScanFolder refuses the same where the client does not know the lake's files again in its listing of the folder.
func OrphanScanFolder(path string) Violation {
	return terminal(CodeOrphanScan, stateInUse, TableRef{}, "orphans cannot be told from the lake's files: the data path %s has double slashes inside", quoted(path)).
		detail("DuckDB lists the folder without them, so that every file would be taken for an orphan.").
		hint("The server's own search (eider gc run orphans) knows them.")
}

// FileGone refuses a new file that is not there any more.
func FileGone(t TableRef, path string) Violation {
	return terminal(CodeFileGone, stateObjectState, t, "file %s of table %v is gone", quoted(path), t).
		detail("A search for orphans ran while the transaction was open, and has removed it.").
		hint("Nothing was stored. Run the transaction again, and searches for orphans with an age (older_than).")
}

// FileDeleted refuses a new file that a cleanup has deleted since the client has seen it.
func FileDeleted(t TableRef, path string) Violation {
	return terminal(CodeFileGone, stateObjectState, t, "file %s was deleted and cannot be added to table %v", quoted(path), t).
		detail("It was scheduled for deletion, and a cleanup has taken it off the schedule while the transaction was open.").
		hint("Nothing was stored. Write the file again under another name.")
}

// snapshots names some snapshots.
func snapshots(ids []int64) string {
	if len(ids) == 1 {
		return "snapshot " + list(ids)
	}
	return "snapshots " + list(ids)
}

func them(ids []int64) string {
	if len(ids) == 1 {
		return "it"
	}
	return "them"
}

func stay(ids []int64) string {
	if len(ids) == 1 {
		return snapshots(ids) + " stays"
	}
	return snapshots(ids) + " stay"
}
