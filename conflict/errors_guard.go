package conflict

// Codes of checks that the state checks and the checks of rows need besides.
const (
	CodeDeletesDropped Code = "deletes-dropped"
	CodeDeleteCount    Code = "delete-count"
	CodeTableGone      Code = "table-gone"
	CodeInlinedShape   Code = "inlined-shape"
	CodeRowsDropped    Code = "rows-dropped"
	CodeBaseExpired    Code = "base-expired"
	CodeTableEmptied   Code = "table-emptied"
	CodeTableDropped   Code = "table-dropped"
)

// DeletesDropped refuses the removal of a live delete file without one that takes its place.
func DeletesDropped(t TableRef, deleteFile, file int64) Violation {
	return terminal(CodeDeletesDropped, stateCheck, t,
		"delete file %d of data file %d of table %v would go without another that has its rows", deleteFile, file, t).
		detail("Deleted rows would come back.")
}

// InlinedDeletesDropped refuses the removal of inlined deletes that no delete file takes over.
func InlinedDeletesDropped(t TableRef, file int64) Violation {
	return terminal(CodeDeletesDropped, stateCheck, t,
		"inlined deletes of data file %d of table %v would go without a delete file that has them", file, t).
		detail("Deleted rows would come back.")
}

// RowsDropped refuses the removal of inlined rows that no data file takes over.
func RowsDropped(t TableRef, relation string, rows int) Violation {
	return terminal(CodeRowsDropped, stateCheck, t,
		"%d live rows of inlined table %s of table %v would go without a data file that has them", rows, quoted(relation), t)
}

// TableEmptied refuses a TRUNCATE, a DROP or a rewrite by ALTER TABLE that takes rows away
// which the lake needs.
func TableEmptied(t TableRef, relation string, rows int64) Violation {
	return terminal(CodeTableEmptied, stateObjectState, t,
		"%s would lose its rows, or have them all written again: there are %d that the lake needs", quoted(relation), rows).
		detail("TRUNCATE, DROP TABLE and ALTER TABLE with a rewrite change rows without naming them, so that no check can look at them.")
}

// TableDropped refuses to drop or rename some of the tables that make a lake, while others
// of them stay.
func TableDropped(gone []string, stays string) Violation {
	return terminal(CodeTableDropped, stateObjectState, TableRef{}, "the lake would go on without %s", joinWords(gone)).
		detail("It keeps %s, but no client could use it.", quoted(stays)).
		hint("To remove a lake, drop its schema, or all its tables in one transaction.")
}

// DeleteCountBeyond refuses a delete file with more rows than its data file has.
func DeleteCountBeyond(t TableRef, deleteFile, count, file, records int64) Violation {
	return terminal(CodeDeleteCount, stateCheck, t,
		"delete file %d of table %v deletes %d rows, data file %d has %d", deleteFile, t, count, file, records)
}

// DeletePosition refuses the delete of a row that a data file does not have.
func DeletePosition(t TableRef, position, file, records int64) Violation {
	return terminal(CodeDeleteCount, stateCheck, t,
		"row %d of data file %d of table %v would be deleted, the file has %d rows", position, file, t, records)
}

// TableGone refuses a new version of a table, as a rename makes, that has no live version
// to take the place of.
func TableGone(t TableRef) Violation {
	return terminal(CodeTableGone, stateObjectState, t, "table %v, which this transaction changes, was dropped by another one", t).
		hint(hintRunAgain)
}

// TableWithoutColumns refuses a live table without columns: no client can load it.
func TableWithoutColumns(t TableRef) Violation {
	return terminal(CodeReference, stateCheck, t, "table %v would be live without a column", t).
		detail("No client could load the lake.")
}

// InlinedShape refuses a new relation of inlined rows whose columns are not the table's.
func InlinedShape(t TableRef, relation string) Violation {
	return terminal(CodeInlinedShape, stateObjectState, t,
		"another transaction changed the columns of table %v since this one read them", t).
		detail("Inlined table %s would have other columns than the table.", quoted(relation)).hint(hintRunAgain)
}

// BaseExpired refuses a commit that cannot be compared with what was committed since it
// began, because those snapshots are gone.
func BaseExpired(base, head int64) Violation {
	return terminal(CodeBaseExpired, stateObjectState, TableRef{},
		"snapshots between %d, which this commit was planned on, and %d have expired meanwhile", base, head).
		detail("What they did cannot be compared with it.").hint(hintRunAgain)
}

// SchemaNotEmpty refuses the end of a schema that still has live tables or views.
func SchemaNotEmpty(schema int64, kind string, id int64) Violation {
	return terminal(CodeReference, stateObjectState, TableRef{}, "schema %d would end while %s %d in it is live", schema, kind, id).
		detail("It was made there by another transaction, perhaps.").hint(hintRunAgain)
}

// IDReused refuses a new row whose id the counters have given out before.
func IDReused(t TableRef, relation string, id int64, counter string, next int64) Violation {
	return terminal(CodeCounter, stateCheck, t, "row %d of %s is new, but %s of the newest snapshot is %d already", id, relation, counter, next)
}

// FileScheduled refuses to register a file that is on the list of files to delete.
func FileScheduled(t TableRef, path string) Violation {
	return terminal(CodePathTaken, stateObjectState, t, "file %s is scheduled for deletion and cannot be added to table %v", quoted(path), t)
}

// NextRowIDBack refuses a lower counter of row ids: ids would be given out twice.
func NextRowIDBack(t TableRef, got, was int64) Violation {
	return terminal(CodeCounter, stateCheck, t, "next_row_id of table %v would go back from %d to %d", t, was, got)
}

// ViewGone refuses a new version of a view that has no live version to take the place of.
func ViewGone(view int64) Violation {
	return terminal(CodeTableGone, stateObjectState, TableRef{}, "view %d, which this transaction changes, was dropped by another one", view).
		hint(hintRunAgain)
}

// ColumnGone refuses a new version of a column that was dropped.
func ColumnGone(t TableRef, column int64) Violation {
	return terminal(CodeTableGone, stateObjectState, t, "column %d of table %v, which this transaction changes, was dropped by another one", column, t).
		hint(hintRunAgain)
}
