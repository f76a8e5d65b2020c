package history

import (
	"slices"
	"strings"
)

// after lists what a change must not be committed over, by DuckLake's own rules for a commit that lost the race for a snapshot id: both are of one
// table (or view, schema, macro). That two deletes of one table are free of each other depends on their files, which the record does not say.
var after = map[string][]string{
	"inserted_into_table": {"dropped_table", "altered_table", "deleted_from_table", "inlined_delete"},
	"inlined_insert":      {"dropped_table", "altered_table", "deleted_from_table", "inlined_delete"},
	"deleted_from_table":  {"dropped_table", "altered_table", "merge_adjacent", "rewrite_delete", "inserted_into_table", "inlined_insert"},
	"inlined_delete":      {"dropped_table", "altered_table", "inlined_delete", "inline_flush", "inserted_into_table", "inlined_insert"},
	"inline_flush":        {"dropped_table", "inlined_delete", "inline_flush"},
	"merge_adjacent":      {"dropped_table", "deleted_from_table", "merge_adjacent", "rewrite_delete"},
	"rewrite_delete":      {"dropped_table", "deleted_from_table", "merge_adjacent", "rewrite_delete"},
	"altered_table":       {"dropped_table", "altered_table"},
	"dropped_table":       {"dropped_table"},
	"dropped_view":        {"dropped_view"},
	"altered_view":        {"altered_view"},
	"created_table":       {"created_table", "created_view"},
	"created_view":        {"created_table", "created_view"},
}

// Over says whether a commit with the changes late may stand after one with the changes early that it did not see. Both are lists as DuckLake
// writes them to its snapshots' changes.
func Over(late, early string) bool {
	theirs := split(early)
	for _, mine := range split(late) {
		kind, what, _ := strings.Cut(mine, ":")
		for _, other := range theirs {
			k, w, _ := strings.Cut(other, ":")
			if strings.EqualFold(w, what) && slices.Contains(after[kind], k) {
				return false
			}
		}
	}
	return true
}

// split cuts a list of changes at the commas outside of double quotes.
func split(changes string) []string {
	var out []string
	quoted, from := false, 0
	for i := range len(changes) {
		switch changes[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				out = append(out, changes[from:i])
				from = i + 1
			}
		}
	}
	return append(out, changes[from:])
}
