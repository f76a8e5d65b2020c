package conflict

// Codes of the checks of rows: what a commit writes would make the catalog inconsistent
// whoever else commits.
const (
	CodeCounter        Code = "counter"
	CodeTwoLive        Code = "two-live"
	CodeNameTaken      Code = "name-taken"
	CodeReference      Code = "reference"
	CodeNullID         Code = "null-id"
	CodeSpan           Code = "span"
	CodeNegative       Code = "negative"
	CodeSnapshotTime   Code = "snapshot-time"
	CodeSnapshotRow    Code = "snapshot-row"
	CodeHeadRemoved    Code = "head-removed"
	CodeScheduledLive  Code = "scheduled-live"
	CodePathTaken      Code = "path-taken"
	CodeRegistry       Code = "registry"
	CodeStatistics     Code = "statistics"
	CodeTextSortFlush  Code = "text-sort-flush"
	CodeChangesGrammar Code = "changes-grammar"
	CodeChangesDiffer  Code = "changes-differ"
	CodeFormat         Code = "format"
	CodeCommittedTwice Code = "committed-twice"
)

// CounterBack refuses a snapshot whose counter (next_file_id, next_catalog_id,
// schema_version) is below the newest snapshot's: ids would be given out twice.
func CounterBack(counter string, got, head int64) Violation {
	return terminal(CodeCounter, stateCheck, TableRef{},
		"%s of the new snapshot is %d, below %d of the newest snapshot", counter, got, head)
}

// CounterSpent refuses a snapshot whose counter leaves hardly an id: no client could write
// to the lake any more.
func CounterSpent(counter string, got int64) Violation {
	return terminal(CodeCounter, stateCheck, TableRef{}, "%s of the new snapshot is %d, which leaves no ids to give out", counter, got)
}

// IDBeyondCounter refuses a row whose id the snapshot's counter has not given out.
func IDBeyondCounter(relation string, id int64, counter string, next int64) Violation {
	return terminal(CodeCounter, stateCheck, TableRef{},
		"row %d of %s is not below %s %d of its snapshot", id, relation, counter, next)
}

// TwoLive refuses a second live row for an id.
func TwoLive(t TableRef, kind string, id int64) Violation {
	return terminal(CodeTwoLive, stateCheck, t, "%s %d would have two live rows", kind, id)
}

// TableTwice refuses a second live row for a table. DuckLake writes one when a transaction
// renames a table that it has altered before.
func TableTwice(t TableRef) Violation {
	return terminal(CodeTwoLive, stateCheck, t, "table %v would have two live rows", t).
		detail("A transaction that alters a table or sets a comment and then renames it leaves the old name live; no client could read the lake.").
		hint("Rename the table in a transaction of its own.")
}

// NameTaken refuses a second live object of a name. Names are compared without case.
func NameTaken(kind, schema, name string) Violation {
	return terminal(CodeNameTaken, stateCheck, TableRef{}, "a live %s named %s.%s is there already", kind, quoted(schema), quoted(name))
}

// DeadReference refuses a live row that belongs to an object which is not live.
func DeadReference(t TableRef, kind string, id int64, of string, ofID int64) Violation {
	return terminal(CodeReference, stateObjectState, t, "%s %d belongs to %s %d, which is not live", kind, id, of, ofID).
		detail("It was dropped, perhaps by another transaction.")
}

// NullID refuses a row without the id that says what it belongs to.
func NullID(relation, column string) Violation {
	return terminal(CodeNullID, stateCheck, TableRef{}, "%s.%s is null", relation, column)
}

// BadSpan refuses a row that begins in the future, or ends before it begins.
func BadSpan(t TableRef, relation string, id, begin, end, snapshot int64) Violation {
	return terminal(CodeSpan, stateCheck, t, "row %d of %s is valid from snapshot %d to %d, in a commit of snapshot %d", id, relation, begin, end, snapshot)
}

// BeginsLater refuses a row that begins in a snapshot that does not exist yet.
func BeginsLater(t TableRef, relation string, id, begin, snapshot int64) Violation {
	return terminal(CodeSpan, stateCheck, t, "row %d of %s begins with snapshot %d, the commit is snapshot %d", id, relation, begin, snapshot)
}

// NegativeCount refuses statistics or sizes below zero.
func NegativeCount(t TableRef, relation, column string, value int64) Violation {
	return terminal(CodeNegative, stateCheck, t, "%s.%s of table %v would be %d", relation, column, t, value)
}

// SnapshotTime refuses a snapshot that is not after the newest one.
func SnapshotTime(got, head string) Violation {
	return terminal(CodeSnapshotTime, stateCheck, TableRef{}, "snapshot time %s is not after %s of the newest snapshot", got, head)
}

// SnapshotTimeMoved refuses another time for a snapshot that is not between those beside
// it, or is infinite.
func SnapshotTimeMoved(snapshot int64, got string) Violation {
	return terminal(CodeSnapshotTime, stateCheck, TableRef{}, "the time of snapshot %d would become %s, which is not between those of the snapshots beside it", snapshot, got).
		detail("Times are finite and grow with the ids: clients find a snapshot by its time.")
}

// SnapshotRowMissing refuses rows that belong to a snapshot which the commit does not make.
func SnapshotRowMissing(relation string, snapshot int64) Violation {
	return terminal(CodeSnapshotRow, stateCheck, TableRef{}, "a row of %s names snapshot %d, which does not exist", relation, snapshot)
}

// HeadRemoved refuses the removal of the newest snapshot.
func HeadRemoved(head int64) Violation {
	return terminal(CodeHeadRemoved, stateCheck, TableRef{}, "snapshot %d is the newest one and cannot be removed", head).
		detail("Without it no client can attach the lake.")
}

// ScheduledLive refuses to schedule a file for deletion that a live row names.
func ScheduledLive(t TableRef, path string) Violation {
	return terminal(CodeScheduledLive, stateCheck, t, "file %s is in use by table %v and cannot be scheduled for deletion", quoted(path), t)
}

// PathTaken refuses a file whose path another row has already.
func PathTaken(t TableRef, path string, file int64) Violation {
	return terminal(CodePathTaken, stateCheck, t, "file %s is registered as file %d already", quoted(path), file)
}

// RegistryDangling refuses a row of ducklake_inlined_data_tables without its relation.
func RegistryDangling(t TableRef, relation string) Violation {
	return terminal(CodeRegistry, stateCheck, t, "inlined table %s of table %v does not exist", quoted(relation), t)
}

// RegistryTwice refuses a second row of ducklake_inlined_data_tables for one relation.
func RegistryTwice(t TableRef, relation string) Violation {
	return terminal(CodeRegistry, stateCheck, t, "inlined table %s of table %v is registered already", quoted(relation), t)
}

// TextSortFlush refuses the flush of deletes on a table that is sorted by a column which
// is kept as text: the client's positions are of another order.
func TextSortFlush(t TableRef, column string) Violation {
	return terminal(CodeTextSortFlush, stateObjectState, t,
		"table %v is sorted by %s, whose inlined values are kept as text: a flush with deletes would delete other rows", t, quoted(column)).
		hint("RESET SORTED BY, flush, and set the order again.")
}

// ChangesUnreadable refuses a changes_made that DuckLake's own reader throws on.
func ChangesUnreadable(reason error) Violation {
	return terminal(CodeChangesGrammar, stateCheck, TableRef{}, "the commit does not say what it did: %v", reason).
		detail("Every client that had to look at the snapshot would fail.")
}

// ChangesUnsaid refuses a commit that does something which its changes_made does not say:
// others would not see what they have to look out for.
func ChangesUnsaid(t TableRef, does string, want []string) Violation {
	return terminal(CodeChangesDiffer, stateCheck, t, "the commit %s, but its changes_made does not say so", does).
		detail("Expected one of: %s.", joinWords(want))
}

// ChangesUndone refuses a commit whose changes_made says what it does not do.
func ChangesUndone(says Change) Violation {
	return terminal(CodeChangesDiffer, stateCheck, TableRef{}, "changes_made says %s, but the commit does nothing of the kind", says)
}

// FormatRefused refuses a migration of the catalog's format.
func FormatRefused(catalog, from, to, setting string) Violation {
	return terminal(CodeFormat, stateObjectState, TableRef{}, "catalog %s may not be migrated from format %s to %s", quoted(catalog), from, to).
		detail("Clients of the older version could not attach it any more.").
		hint("ALTER DATABASE %s SET %s = 'allow' lets it pass.", quoted(catalog), setting)
}

// FormatTooNew refuses a format that the server does not know.
func FormatTooNew(catalog, to, setting string) Violation {
	return terminal(CodeFormat, stateObjectState, TableRef{}, "catalog %s may not become format %s, which this server does not know", quoted(catalog), to).
		hint("ALTER DATABASE %s SET %s = 'any' lets it pass all the same.", quoted(catalog), setting)
}

// FormatUnsaved refuses a migration because no copy of the store could be made before it.
func FormatUnsaved(catalog, from, to string) Violation {
	return terminal(CodeFormat, stateObjectState, TableRef{}, "catalog %s is not migrated from format %s to %s: no copy of the store could be made before", quoted(catalog), from, to).
		hint("The server's log says why. The server's setting migration-checkpoints = 0 migrates without a copy.")
}

// CommittedAlready tells a client that its commit, whose acknowledgement was lost, is
// stored: running it again would store its rows twice.
func CommittedAlready(t TableRef, path string, snapshot int64) Violation {
	return terminal(CodeCommittedTwice, stateObjectState, t,
		"this commit is stored already: snapshot %d has file %s of table %v", snapshot, quoted(path), t).
		detail("The acknowledgement of the first attempt was lost.").
		hint("Do not run the statement again; its rows are there.")
}
