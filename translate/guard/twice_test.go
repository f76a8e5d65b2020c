package guard_test

import (
	"testing"

	"github.com/eiderdb/eider/conflict"
)

// TestInlinedTwice: a commit deletes no row inline twice. Readers lose the deletes behind it.
func TestInlinedTwice(t *testing.T) {
	s := serve(t, conflict.Enforce, lakeSQL)
	const insert = "insert into ducklake_inlined_delete_1 values "
	s.want("row 7 of data file 1 of table \"t\" (id 1) would be deleted inline twice", made("2", "inlined_delete:1", insert+"(1, 7, 2), (0, 7, 2)", insert+"(1, 7, 2)"))
	s.want("row 7 of data file 1", insert+"(1, 7, 1), (1, 7, 1)")
	s.want("", made("2", "inlined_delete:1", insert+"(1, 7, 2), (0, 7, 2), (1, 8, 2)"))
}
