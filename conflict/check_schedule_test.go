package conflict_test

import (
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// TestFileScheduled: a new row does not name a file that is on the list of files to delete,
// however the two spell it. The data path is /data/, and the folder of the table main/t/.
func TestFileScheduled(t *testing.T) {
	t.Parallel()
	type at struct {
		path     string
		relative bool
	}
	for _, c := range []struct {
		name            string
		due, file       at
		mapping, wanted bool
	}{
		{"as DuckLake spells both", at{"main/t/x", true}, at{"x", true}, false, true},
		{"another file", at{"main/t/y", true}, at{"x", true}, true, false},
		{"another folder", at{"main/u/x", true}, at{"/data/main/t/x", false}, true, false},
		{"a longer name", at{"t/x", true}, at{"/data/main/t/x", false}, true, false},
		{"registered by its whole path", at{"main/t/x", true}, at{"/data/main/t/x", false}, true, true},
		{"without a mapping, too", at{"main/t/x", true}, at{"/data/main/t/x", false}, false, true},
		{"with detours", at{"main/t/x", true}, at{"/data//main/./u/../t/x", false}, true, true},
		{"with detours below the table", at{"main/t/x", true}, at{"u/../x", true}, true, true},
		{"as a URL", at{"main/t/x", true}, at{"file:///data/main/t/x", false}, true, true},
		{"encoded", at{"main/t/a b", true}, at{"file:///data/main/t/a%20b", false}, true, true},
		{"scheduled by its whole path", at{"/data/main/t/x", false}, at{"x", true}, true, true},
		{"both whole", at{"/data/main/t/x", false}, at{"/data/main/t/x", false}, true, true},
		{"both whole, with detours", at{"/data/main//t/x", false}, at{"/data/./main/t/x", false}, true, true},
		{"scheduled as a URL", at{"file:/data/main/t/x", false}, at{"/data/main/t/x", false}, true, true},
		{"scheduled with a dot", at{"./main/t/x", true}, at{"/data/main/t/x", false}, true, true},
		{"of a bucket", at{"s3a://b/t/x", false}, at{"s3://b//t/x", false}, true, true},
		{"of another bucket", at{"s3://c/t/x", false}, at{"s3://b/t/x", false}, true, false},
		// It has been written for this commit: what else is on the list is not read for it.
		{"a name that DuckLake has made up", at{"/data/main/t/x", false}, at{"x", true}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := small()
			s.scheduled = []lake.Scheduled{{ID: 8, Path: "main/t/other", Relative: true}, {ID: 7, Path: c.due.path, Relative: c.due.relative}}
			b := next(`inserted_into_table:1`)
			b.DataFiles.Added = []lake.DataFile{{
				Span: live(6), ID: 11, TableID: 1, Path: c.file.path, Relative: c.file.relative, Records: 1, HasMapping: c.mapping,
			}}
			found, err := conflict.Check(commitOf(t, s, b))
			if err != nil {
				t.Fatal(err)
			}
			got := false
			for _, v := range found {
				got = got || strings.Contains(v.String(), "is scheduled for deletion")
			}
			if got != c.wanted {
				t.Errorf("refused: %v, want %v: %v", got, c.wanted, found)
			}
		})
	}
}
