package conflict

import "fmt"

// Codes of the row-id hold: a compaction would change the ids of rows, or nobody can tell.
const (
	CodeRowIDs      Code = "row-ids"
	CodeRowIDColumn Code = "row-id-column"
	CodeRowIDShape  Code = "row-id-shape"
	CodeRowIDShared Code = "row-id-shared"
	CodeRowIDNext   Code = "row-id-next"
	CodeRowCount    Code = "row-count"
	CodeUnverified  Code = "unverified"
	CodeUnread      Code = "unread"
)

// RowIDsChange refuses a compaction whose output has other row ids than its sources.
// Examples are one or two ids that show it.
func RowIDsChange(t TableRef, output, differ, total int64, was, is int64) Violation {
	return terminal(CodeRowIDs, stateCheck, t,
		"compaction of table %v would change row ids: %d of %d differ, first %d becomes %d", t, differ, total, was, is).
		detail("The output is data file %d.", output)
}

// RowIDsLost refuses a compaction whose output lacks ids, or has ids that no source has.
func RowIDsLost(t TableRef, output int64, missing, unexpected []int64) Violation {
	v := terminal(CodeRowIDs, stateCheck, t, "compaction of table %v would change row ids: data file %d does not have those of its sources", t, output)
	switch {
	case len(missing) == 0:
		return v.detail("Unexpected: %s.", list(unexpected))
	case len(unexpected) == 0:
		return v.detail("Missing: %s.", list(missing))
	}
	return v.detail("Missing: %s. Unexpected: %s.", list(missing), list(unexpected))
}

// RowIDColumn refuses an output whose row-id column is absent or not usable.
func RowIDColumn(t TableRef, file int64, why string) Violation {
	return terminal(CodeRowIDColumn, stateCheck, t, "the row-id column of data file %d of table %v cannot be used: %s", file, t, why)
}

// RowIDShape refuses an output without a row-id column whose sources' rows cannot keep
// their ids by position.
func RowIDShape(t TableRef, output int64, why string) Violation {
	return terminal(CodeRowIDShape, stateObjectState, t, "compaction of table %v would change row ids: %s", t, why).
		detail("Data file %d has no row-id column, so its rows would be numbered anew.", output)
}

// RowIDsShared refuses a file with row ids that live rows of another file have.
func RowIDsShared(t TableRef, file, other int64, ids []int64) Violation {
	return terminal(CodeRowIDShared, stateCheck, t, "data files %d and %d of table %v would share row ids", file, other, t).
		detail("Shared: %s.", list(ids))
}

// NextRowIDMoved refuses a compaction that changes the counter of row ids: it adds no row.
func NextRowIDMoved(t TableRef, was, is int64) Violation {
	return terminal(CodeRowIDNext, stateCheck, t, "compaction of table %v changes next_row_id from %d to %d", t, was, is)
}

// RecordCountMoved refuses a merge that changes the table's count of rows: it adds none and
// loses none.
func RecordCountMoved(t TableRef, was, is int64) Violation {
	return terminal(CodeRowCount, stateCheck, t, "merge of data files of table %v changes record_count from %d to %d", t, was, is)
}

// RowCount refuses an output with another number of rows than its sources leave.
func RowCount(t TableRef, output, want, got int64) Violation {
	return terminal(CodeRowCount, stateCheck, t, "data file %d of table %v has %d rows, its sources leave %d", output, t, got, want)
}

// Unverified says that the row ids of a file could not be read. What it means is the
// mode's to say; it is never the same as being right.
func Unverified(t TableRef, file int64, path, why string) Violation {
	return terminal(CodeUnverified, stateObjectState, t, "the row ids of data file %d of table %v could not be verified: %s", file, t, why).
		detail("%s", fmt.Sprintf("The file is %s.", quoted(path))).
		hint("Let the server read the lake's files, or set the row-id hold to warn for this table.")
}

// RowIDsUnread says that a compaction was judged by less than the server's hold-tier, as its
// files are where nobody promised that the server could read them.
func RowIDsUnread(t TableRef, tier int, why string) Violation {
	return terminal(CodeUnread, stateObjectState, t, "row ids of a compaction of table %v were not compared: %s", t, why).
		detail("It was judged by tier %d of the row-id hold.", tier).
		hint("Name the lake's folder in the server's --lake-paths.")
}

// CodeCompactionDate marks a compaction whose output is seen in other snapshots than its
// sources.
const CodeCompactionDate Code = "compaction-date"

// CompactionDated refuses an output that other snapshots would see than saw its sources.
func CompactionDated(t TableRef, output, is, want int64) Violation {
	return terminal(CodeCompactionDate, stateCheck, t,
		"data file %d of table %v is dated %d, its sources want %d", output, t, is, want).
		detail("Some snapshots would lack its rows, or have them twice.")
}
