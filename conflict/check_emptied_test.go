package conflict_test

import (
	"slices"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// TestEmptied: what takes all rows of a relation at once is looked at like a DELETE.
func TestEmptied(t *testing.T) {
	t.Parallel()
	const rows, deletes = "ducklake_inlined_data_1_1", "ducklake_inlined_delete_1"
	for _, c := range []struct {
		name     string
		relation string
		was, is  [2]int64
		make     func(s *state, b *conflict.Batch)
		want     string
	}{
		{"data files", "ducklake_data_file", [2]int64{4, 3}, [2]int64{}, nil, "table-emptied"},
		{"an empty table", "ducklake_delete_file", [2]int64{}, [2]int64{}, nil, ""},
		{"a rewrite", "ducklake_data_file", [2]int64{4, 3}, [2]int64{4, 3}, nil, ""},
		{"a rewrite in a commit of changes", "ducklake_data_file", [2]int64{4, 3}, [2]int64{4, 3}, func(_ *state, b *conflict.Batch) {
			b.Snapshots = next("").Snapshots
		}, "table-emptied"},
		{"a migration", "ducklake_data_file", [2]int64{4, 3}, [2]int64{}, func(_ *state, b *conflict.Batch) {
			b.Options.Changed = []conflict.Edit[lake.Option]{{Before: lake.Option{Key: "version", Value: "0.3"}, After: lake.Option{Key: "version", Value: "1.0"}}}
		}, ""},
		{"a table that is dropped", "ducklake_data_file", [2]int64{4, 3}, [2]int64{}, func(s *state, b *conflict.Batch) {
			b.Emptied, b.Dropped, s.missing = nil, []string{"ducklake_data_file"}, []string{"ducklake_data_file"}
		}, "table-dropped"},
		{"a table of comments that is dropped", "ducklake_tag", [2]int64{}, [2]int64{}, func(s *state, b *conflict.Batch) {
			b.Emptied, b.Dropped, s.missing = nil, []string{"ducklake_tag"}, []string{"ducklake_tag"}
		}, "table-dropped"},
		{"somebody's table that is dropped", "ducklake_notes", [2]int64{}, [2]int64{}, func(s *state, b *conflict.Batch) {
			b.Emptied, b.Dropped, s.missing = nil, []string{"ducklake_notes"}, []string{"ducklake_notes"}
		}, ""},
		{"all tables are dropped", "ducklake_data_file", [2]int64{4, 3}, [2]int64{}, func(s *state, b *conflict.Batch) {
			all := []string{"ducklake_column", "ducklake_data_file", "ducklake_delete_file"}
			b.Emptied, b.Dropped, s.missing = nil, all, all
		}, ""},
		{"a migration drops a table", "ducklake_data_file", [2]int64{4, 3}, [2]int64{}, func(s *state, b *conflict.Batch) {
			b.Emptied, b.Dropped, s.missing = nil, []string{"ducklake_data_file"}, []string{"ducklake_data_file"}
			b.Options.Changed = []conflict.Edit[lake.Option]{{Before: lake.Option{Key: "version", Value: "0.3"}, After: lake.Option{Key: "version", Value: "1.0"}}}
		}, ""},
		{"one that is dropped and made", "ducklake_delete_file", [2]int64{4, 3}, [2]int64{}, func(_ *state, b *conflict.Batch) {
			b.Emptied, b.Dropped, b.Made = nil, []string{"ducklake_delete_file"}, []string{"ducklake_delete_file"}
		}, "table-emptied"},
		{"the deletion schedule", "ducklake_files_scheduled_for_deletion", [2]int64{4, 4}, [2]int64{}, nil, ""},
		{"inlined rows", rows, [2]int64{3, 1}, [2]int64{}, nil, "table-emptied"},
		{"inlined rows that have ended", rows, [2]int64{3, 0}, [2]int64{}, nil, ""},
		{"inlined rows of a dropped table", "ducklake_inlined_data_2_1", [2]int64{3, 1}, [2]int64{}, nil, ""},
		{"inlined rows that become a file", rows, [2]int64{3, 1}, [2]int64{}, func(_ *state, b *conflict.Batch) {
			b.DataFiles.Added = []lake.DataFile{{Span: live(4), ID: 9, TableID: 1, Path: "f9", Relative: true, Records: 1}}
		}, ""},
		{"inlined rows of a lake without its tables", rows, [2]int64{3, 1}, [2]int64{}, func(s *state, _ *conflict.Batch) {
			delete(s.relations, "ducklake_column")
		}, ""},
		{"inlined deletes", deletes, [2]int64{2, 2}, [2]int64{}, nil, "table-emptied"},
		{"inlined deletes of a file that has ended", deletes, [2]int64{2, 2}, [2]int64{}, func(s *state, _ *conflict.Batch) {
			s.files[2].Span = ended(1, 4)
		}, ""},
		{"inlined deletes that become a delete file", deletes, [2]int64{2, 2}, [2]int64{}, func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{{Span: live(3), ID: 9, TableID: 1, DataFileID: 4, Path: "d9", Relative: true, Count: 2, PartialMax: 4, HasPartialMax: true}}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, b := small(), &conflict.Batch{Schema: "public", Emptied: []string{c.relation}}
			s.relations = map[string][]string{"ducklake_column": nil, "ducklake_data_file": nil, "ducklake_delete_file": nil}
			s.counts, s.after = map[string][2]int64{c.relation: c.was}, map[string][2]int64{c.relation: c.is}
			if c.make != nil {
				c.make(s, b)
			}
			if slices.Contains(s.missing, c.relation) {
				s.after = nil
			}
			found, err := conflict.Check(commitOf(t, s, b))
			if err != nil {
				t.Fatal(err)
			}
			if got := codes(found); got != c.want {
				t.Fatalf("%q, want %q: %v", got, c.want, found)
			}
		})
	}
}
