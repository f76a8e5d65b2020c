package history

import "testing"

func TestOver(t *testing.T) {
	for _, c := range []struct {
		late, early string
		want        bool
	}{
		{"inlined_insert:1", "inlined_insert:1", true},
		{"inlined_insert:1", "inserted_into_table:1,deleted_from_table:2", true},
		{"inlined_insert:1", "deleted_from_table:1", false},
		{"inserted_into_table:2,inlined_delete:2", "inlined_insert:2", false},
		{"merge_adjacent:3", "inlined_delete:3", true}, // one of the holes: the client does not look
		{"merge_adjacent:3", "rewrite_delete:3", false},
		{`created_table:"main"."a,b"`, `created_view:"main"."A,B"`, false},
		{`created_table:"main"."a"`, `created_table:"main"."a,b"`, true},
		{"", "dropped_table:1", true},
	} {
		if got := Over(c.late, c.early); got != c.want {
			t.Errorf("%q over %q: %v, want %v", c.late, c.early, got, c.want)
		}
	}
}
