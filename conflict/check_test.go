package conflict_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// small is a lake at snapshot 5: table 1 with files 1 (plain), 2 (delete file 3), 4
// (inlined deletes of rows 0 and 1), 5 (ended), inlined rows in r.
func small() *state {
	return &state{
		snapshots: []lake.Snapshot{
			{ID: 4, Micros: 40, SchemaVersion: 2, NextCatalogID: 5, NextFileID: 10},
			{ID: 5, Micros: 50, SchemaVersion: 2, NextCatalogID: 5, NextFileID: 10},
		},
		schemas: []lake.Schema{{Span: live(0), ID: 0, Name: "main", Path: "main/", Relative: true}},
		tables: []lake.Table{
			{Span: live(1), ID: 1, Name: "t", Path: "t/", Relative: true},
			{Span: ended(1, 3), ID: 2, Name: "gone", Path: "gone/", Relative: true},
		},
		views:   []lake.View{{Span: live(1), ID: 3, Name: "v"}},
		columns: []lake.Column{{Span: live(1), ID: 1, TableID: 1, Name: "i", Type: "int64"}, {Span: live(1), ID: 2, TableID: 1, Name: "h", Type: "int128"}},
		stats:   []lake.TableStats{{TableID: 1, Records: 300, NextRowID: 400}},
		files: []lake.DataFile{
			{Span: live(1), ID: 1, TableID: 1, Path: "f1", Relative: true, Records: 100},
			{Span: live(1), ID: 2, TableID: 1, Path: "f2", Relative: true, Records: 100},
			{Span: live(1), ID: 4, TableID: 1, Path: "f4", Relative: true, Records: 100},
			{Span: ended(1, 3), ID: 5, TableID: 1, Path: "f5", Relative: true, Records: 100},
		},
		deletes: []lake.DeleteFile{{Span: live(2), ID: 3, TableID: 1, DataFileID: 2, Path: "d3", Relative: true, Count: 20}},
		inlined: []lake.InlinedDelete{{TableID: 1, FileID: 4, RowID: 0, Begin: 3}, {TableID: 1, FileID: 4, RowID: 1, Begin: 4}},
	}
}

// next is the batch of snapshot 6 with nothing in it.
func next(changes string) *conflict.Batch {
	b := &conflict.Batch{Schema: "public"}
	b.Snapshots.Added = []lake.Snapshot{{ID: 6, Micros: 60, SchemaVersion: 2, NextCatalogID: 5, NextFileID: 20}}
	b.Logs.Added = []lake.Changes{{SnapshotID: 6, Made: changes, HasMade: changes != ""}}
	return b
}

type option func(*conflict.Commit)

// base says on which snapshot the client has planned its changes; below 0: nobody knows.
func base(n int64) option {
	return func(c *conflict.Commit) { c.Base, c.HasBase = n, n >= 0 }
}

func reads(positions []int64, err error) option {
	return func(c *conflict.Commit) {
		c.Positions = func(context.Context, lake.DeleteFile) ([]int64, error) { return positions, err }
	}
}

func commitOf(t testing.TB, s *state, b *conflict.Batch, opts ...option) conflict.Commit {
	t.Helper()
	set, err := conflict.Classify(b)
	if err != nil {
		t.Fatal(err)
	}
	c := conflict.Commit{Batch: b, Was: s, Is: s.with(b), Set: set, Base: 5, HasBase: true, Ctx: context.Background()}
	for _, o := range opts {
		o(&c)
	}
	return c
}

func codes(found []conflict.Violation) string {
	var out []string
	for _, v := range found {
		out = append(out, string(v.Code))
	}
	return strings.Join(out, " ")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	deleteFile := func(id, file, count int64) lake.DeleteFile {
		return lake.DeleteFile{Span: live(6), ID: id, TableID: 1, DataFileID: file, Path: fmt.Sprint("d", id), Relative: true, Count: count}
	}
	dated := func(d lake.DeleteFile, begin, partialMax int64) lake.DeleteFile {
		d.Begin, d.PartialMax, d.HasPartialMax = begin, partialMax, true
		return d
	}
	end := func(f lake.DataFile) conflict.Edit[lake.DataFile] {
		g := f
		g.End, g.Ended = 6, true
		return conflict.Edit[lake.DataFile]{Before: f, After: g}
	}
	for _, c := range []struct {
		name    string
		changes string
		make    func(s *state, b *conflict.Batch)
		opts    []option
		want    string
	}{
		{"nothing", "", func(*state, *conflict.Batch) {}, nil, ""},
		{"merge of plain files", "merge_adjacent:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Removed = s.files[:1]
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 100}}
		}, nil, ""},
		{"(a) merge of a file with a delete file", "merge_adjacent:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Removed, b.DeleteFiles.Removed = s.files[1:2], s.deletes
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 100}}
		}, nil, "merge-deletes"},
		{"(a) merge of a file with inlined deletes", "merge_adjacent:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Removed = s.files[2:3]
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 100}}
		}, nil, "merge-deletes"},
		{"expiry of an ended file", "", func(s *state, b *conflict.Batch) { b.DataFiles.Removed = s.files[3:] }, nil, ""},
		{"expiry of a table with live files", "", func(s *state, b *conflict.Batch) {
			s.files[1].TableID, s.deletes[0].TableID = 2, 2
			b.Snapshots.Removed, b.Tables.Removed = s.snapshots[:1], s.tables[1:]
			b.DataFiles.Removed, b.DeleteFiles.Removed = s.files[1:2], s.deletes
		}, nil, ""},
		{"(b) rewrite", "rewrite_delete:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1]), end(s.files[2])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 178}}
		}, nil, ""},
		{"(b) rewrite that missed a delete", "rewrite_delete:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1]), end(s.files[2])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 179}}
		}, nil, "rewrite-deletes"},
		{"(b) rewrite and merge", "merge_adjacent:1,rewrite_delete:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Removed = s.files[:1]
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 100}, {Span: live(6), ID: 12, TableID: 1, Path: "f12", Relative: true, Records: 80}}
		}, nil, ""},
		{"(b) rewrite and merge that missed a delete", "merge_adjacent:1,rewrite_delete:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Removed = s.files[:1]
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 100}, {Span: live(6), ID: 12, TableID: 1, Path: "f12", Relative: true, Records: 81}}
		}, nil, "rewrite-deletes"},
		{"(b) rewrite to nothing that missed rows", "rewrite_delete:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1])}
		}, nil, "rewrite-deletes"},
		{"(b) rewrite by an older client", "compacted_table:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1]), end(s.files[2])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 178}}
		}, nil, ""},
		{"(b) rewrite by an older client that missed a delete", "compacted_table:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1]), end(s.files[2])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 179}}
		}, nil, "rewrite-deletes"},
		{"(b) rewrite of a file that is gone", "rewrite_delete:1", func(_ *state, b *conflict.Batch) {
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 10}}
		}, nil, "source-gone"},
		{"merge of a file that is gone", "merge_adjacent:1", func(_ *state, b *conflict.Batch) {
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 10}}
		}, nil, "source-gone"},
		{"merge of which one file is gone", "merge_adjacent:1", func(s *state, b *conflict.Batch) {
			b.DataFiles.Removed = s.files[:1]
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 110}}
		}, nil, "row-count"},
		{"(c) delete file of a missing file", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 99, 1)}
		}, nil, "delete-target"},
		{"(c) delete file of an ended file", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 5, 1)}
		}, nil, "delete-target"},
		{"(c) history of an ended file", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{dated(deleteFile(11, 5, 1), 2, 2)}
		}, nil, ""},
		{"a row deleted inline twice", "inlined_delete:1", func(_ *state, b *conflict.Batch) {
			twice := lake.InlinedDelete{TableID: 1, FileID: 1, RowID: 7, Begin: 6}
			b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{
				Added: []lake.InlinedDelete{twice, {TableID: 1, FileID: 4, RowID: 7, Begin: 6}, twice},
			}}}
		}, nil, "delete-overlap"},
		{"(c) inlined delete of an ended file", "inlined_delete:1", func(_ *state, b *conflict.Batch) {
			b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Added: []lake.InlinedDelete{{TableID: 1, FileID: 5, RowID: 1, Begin: 6}}}}}
		}, nil, "delete-target"},
		{"(d) second delete file", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 2, 30)}
		}, nil, "delete-file-two"},
		{"(d) one that takes its place", "deleted_from_table:1", func(s *state, b *conflict.Batch) {
			b.DeleteFiles.Removed = s.deletes
			b.DeleteFiles.Added = []lake.DeleteFile{dated(deleteFile(11, 2, 30), 2, 6)}
		}, nil, ""},
		{"(d) one that is smaller", "deleted_from_table:1", func(s *state, b *conflict.Batch) {
			b.DeleteFiles.Removed = s.deletes
			b.DeleteFiles.Added = []lake.DeleteFile{dated(deleteFile(11, 2, 19), 2, 6)}
		}, nil, "deletes-dropped"},
		{"(e) beside inlined deletes that the client knew", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 4, 10)}
		}, nil, ""},
		{"(e) beside one that it did not know", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 4, 10)}
		}, []option{base(3)}, "delete-overlap"},
		{"(e) nobody knows what it knew", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 4, 10)}
		}, []option{base(-1)}, "delete-overlap"},
		{"(e) which the file shows to be others", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 4, 10)}
		}, []option{base(-1), reads([]int64{7, 8}, nil)}, ""},
		{"(e) which the file shows to be the same", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 4, 10)}
		}, []option{base(3), reads([]int64{1, 8}, nil)}, "delete-overlap"},
		{"(e) in a file that cannot be read", "deleted_from_table:1", func(_ *state, b *conflict.Batch) {
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(11, 4, 10)}
		}, []option{base(3), reads(nil, errors.New("no access"))}, "delete-overlap"},
		{"(e) inlined beside a delete file of a later snapshot", "inlined_delete:1", func(_ *state, b *conflict.Batch) {
			b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Added: []lake.InlinedDelete{{TableID: 1, FileID: 2, RowID: 50, Begin: 6}}}}}
		}, []option{base(1)}, "base-expired delete-overlap"},
		{"a flush takes inlined deletes over", "deleted_from_table:1", func(s *state, b *conflict.Batch) {
			b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Removed: s.inlined}}}
			b.DeleteFiles.Added = []lake.DeleteFile{dated(deleteFile(11, 4, 2), 3, 4)}
		}, nil, ""},
		{"a flush takes fewer over", "deleted_from_table:1", func(s *state, b *conflict.Batch) {
			b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Removed: s.inlined}}}
			b.DeleteFiles.Added = []lake.DeleteFile{dated(deleteFile(11, 4, 1), 3, 3)}
		}, nil, "deletes-dropped"},
		{"sorted by text", "inline_flush:1", func(s *state, b *conflict.Batch) {
			s.sorts = []lake.Sort{{Span: live(1), ID: 4, TableID: 1}}
			s.sortKeys = []lake.SortKey{{SortID: 4, TableID: 1, Expression: `abs("h")`}}
			b.DataFiles.Added = []lake.DataFile{{Span: live(4), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 10}}
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(12, 11, 1)}
		}, nil, "text-sort-flush"},
		{"sorted by another column", "inline_flush:1", func(s *state, b *conflict.Batch) {
			s.sorts = []lake.Sort{{Span: live(1), ID: 4, TableID: 1}}
			s.sortKeys = []lake.SortKey{{SortID: 4, TableID: 1, Expression: `hh`}}
			b.DataFiles.Added = []lake.DataFile{{Span: live(4), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 10}}
			b.DeleteFiles.Added = []lake.DeleteFile{deleteFile(12, 11, 1)}
		}, nil, ""},
		{"H9 a dropped table comes back", `created_table:"main"."x"`, func(_ *state, b *conflict.Batch) {
			b.Tables.Added = []lake.Table{{Span: live(6), ID: 2, Name: "x"}}
		}, nil, "table-gone"},
		{"a view takes a table's name", `created_view:"main"."T"`, func(_ *state, b *conflict.Batch) {
			b.Snapshots.Added[0].NextCatalogID = 6
			b.Views.Added = []lake.View{{Span: live(6), ID: 5, Name: "T"}}
		}, nil, "name-taken"},
		{"a name in another case beyond ASCII", `created_view:"main"."É",created_view:"main"."é"`, func(_ *state, b *conflict.Batch) {
			b.Snapshots.Added[0].NextCatalogID = 7
			b.Views.Added = []lake.View{{Span: live(6), ID: 5, Name: "É"}, {Span: live(6), ID: 6, Name: "é"}}
		}, nil, ""},
		{"an inlined table of other columns", "altered_table:1", func(s *state, b *conflict.Batch) {
			s.relations = map[string][]string{"r": {"I"}}
			b.Made = []string{"r"}
			b.InlinedTables.Added = []lake.InlinedTable{{TableID: 1, Name: "r"}}
		}, nil, "inlined-shape"},
		{"an inlined table", "altered_table:1", func(s *state, b *conflict.Batch) {
			s.relations = map[string][]string{"r": {"I", "h"}}
			b.Made = []string{"r"}
			b.InlinedTables.Added = []lake.InlinedTable{{TableID: 1, Name: "r"}}
		}, nil, ""},
		{"an inlined table that is not there", "altered_table:1", func(_ *state, b *conflict.Batch) {
			b.InlinedTables.Added = []lake.InlinedTable{{TableID: 1, Name: "r"}}
		}, nil, "registry"},
		{"insert and drop", "dropped_table:1,inserted_into_table:1", func(s *state, b *conflict.Batch) {
			gone := s.tables[0]
			gone.End, gone.Ended = 6, true
			b.Tables.Changed = []conflict.Edit[lake.Table]{{Before: s.tables[0], After: gone}}
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[0])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 1}}
		}, nil, ""},
		{"insert into a table that was dropped before", "inserted_into_table:2", func(_ *state, b *conflict.Batch) {
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 2, Path: "f11", Relative: true, Records: 1}}
		}, nil, "reference"},
		{"comment and rename", `created_table:"main"."tt"`, func(s *state, b *conflict.Batch) {
			gone := s.tables[0]
			gone.End, gone.Ended = 6, true
			b.Tables.Changed = []conflict.Edit[lake.Table]{{Before: s.tables[0], After: gone}}
			b.Tables.Added = []lake.Table{{Span: live(6), ID: 1, Name: "t"}, {Span: live(6), ID: 1, Name: "tt"}}
		}, nil, "two-live two-live"},
		{"flush and expiry", "inline_flush:1", func(s *state, b *conflict.Batch) {
			b.Snapshots.Removed, b.DataFiles.Removed = s.snapshots[:1], s.files[3:]
			b.DataFiles.Added = []lake.DataFile{{Span: live(4), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 10}}
			b.InlinedRows = []conflict.InlinedRows{{TableID: 1, Relation: "r", Rows: conflict.Rows[lake.InlinedRow]{Removed: []lake.InlinedRow{{Span: ended(2, 3)}, {Span: live(4)}}}}}
		}, nil, ""},
		{"merge and expiry", "merge_adjacent:1", func(s *state, b *conflict.Batch) {
			b.Snapshots.Removed, b.DataFiles.Removed = s.snapshots[:1], []lake.DataFile{s.files[0], s.files[3]}
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 100}}
		}, nil, ""},
		{"merge of what the expiry takes", "merge_adjacent:1", func(s *state, b *conflict.Batch) {
			b.Snapshots.Removed, b.DataFiles.Removed = s.snapshots[:1], []lake.DataFile{s.files[0], s.files[3]}
			b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 200}}
		}, nil, "row-count"},
		{"rewrite and expiry", "rewrite_delete:1", func(s *state, b *conflict.Batch) {
			b.Snapshots.Removed, b.DataFiles.Removed = s.snapshots[:1], s.files[3:]
			b.DataFiles.Changed = []conflict.Edit[lake.DataFile]{end(s.files[1])}
			b.DataFiles.Added = []lake.DataFile{{Span: live(6), ID: 11, TableID: 1, Path: "f11", Relative: true, Records: 80}}
		}, nil, ""},
		{"snapshots between have expired", "", func(*state, *conflict.Batch) {}, []option{base(2)}, "base-expired"},
		{"a snapshot that exists", "inlined_delete:1", func(_ *state, b *conflict.Batch) {
			b.Snapshots.Added[0].ID = 5
		}, nil, "snapshot-order"},
		{"the time does not grow", "", func(_ *state, b *conflict.Batch) { b.Snapshots.Added[0].Micros = 50 }, nil, "snapshot-time"},
		{"a time without end", "", func(_ *state, b *conflict.Batch) { b.Snapshots.Added[0].Micros = math.MaxInt64 }, nil, "snapshot-time"},
		{"an older one gets a time out of order", "", func(s *state, b *conflict.Batch) {
			later := s.snapshots[0]
			later.Micros = 50
			b.Snapshots.Changed = []conflict.Edit[lake.Snapshot]{{Before: s.snapshots[0], After: later}}
		}, nil, "snapshot-time"},
		{"an older one gets a time in order", "", func(s *state, b *conflict.Batch) {
			later := s.snapshots[0]
			later.Micros = 49
			b.Snapshots.Changed = []conflict.Edit[lake.Snapshot]{{Before: s.snapshots[0], After: later}}
		}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, b := small(), next(c.changes)
			c.make(s, b)
			k := commitOf(t, s, b, c.opts...)
			found, err := conflict.Check(k)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(c.name, "and expiry") {
				found = append(found, conflict.Agree(k.Set, conflict.Names{})...)
			}
			if got := codes(found); got != c.want {
				t.Fatalf("%q, want %q: %v", got, c.want, found)
			}
		})
	}
}

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

func TestBootstrapIsTakenAsItComes(t *testing.T) {
	t.Parallel()
	b := next("created_schema:\"main\"")
	b.Bootstrap = true
	b.Snapshots.Added[0] = lake.Snapshot{ID: 77}
	c := conflict.Commit{Batch: b, Was: &state{}, Is: (&state{}).with(b), Ctx: context.Background()}
	if found, err := conflict.Check(c); err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	if list, err := conflict.Amend(c, 1); err != nil || len(list) > 0 {
		t.Fatalf("%v, %v", list, err)
	}
}

func TestAmend(t *testing.T) {
	t.Parallel()
	// A flush of file 4, done again after a lost race: its inlined deletes are there again.
	s, b := small(), next("deleted_from_table:1")
	d := lake.DeleteFile{Span: live(3), ID: 11, TableID: 1, DataFileID: 4, Path: "d", Relative: true, Count: 2, PartialMax: 4, HasPartialMax: true}
	b.DeleteFiles.Added = []lake.DeleteFile{d}
	for _, o := range []option{base(5), base(4), base(-1)} {
		list, err := conflict.Amend(commitOf(t, s, b, o), 70)
		if err != nil || len(list) != 1 || !list[0].Covered || list[0].Upto != 4 || list[0].File != 4 {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	// The same file of an ordinary delete, planned on snapshot 3, is none.
	if list, err := conflict.Amend(commitOf(t, s, b, base(3)), 70); err != nil || len(list) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}

	// A delete file that takes another's place, dated with a snapshot that was lost.
	b = next("deleted_from_table:1")
	b.DeleteFiles.Removed = s.deletes
	b.DeleteFiles.Added = []lake.DeleteFile{{Span: live(2), ID: 11, TableID: 1, DataFileID: 2, Path: "d", Relative: true, Count: 30, PartialMax: 5, HasPartialMax: true}}
	list, err := conflict.Amend(commitOf(t, s, b, base(4)), 70)
	if err != nil || len(list) != 1 || list[0].Keep == nil || list[0].Keep.ID != 3 || list[0].End != 6 || list[0].Instead != 11 {
		t.Fatalf("%+v, %v", list, err)
	}
	// With the right date it is as it should be.
	b.DeleteFiles.Added[0].PartialMax = 6
	if list, err := conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) > 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	// One without room for dates begins later.
	b.DeleteFiles.Added[0].Span, b.DeleteFiles.Added[0].HasPartialMax = live(6), false
	if list, err = conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) != 1 || list[0].Keep == nil {
		t.Fatalf("%+v, %v", list, err)
	}

	// The next delete of a file with such a history: its delete file is dated back too far.
	s.deletes = []lake.DeleteFile{
		{Span: ended(2, 5), ID: 3, TableID: 1, DataFileID: 2, Path: "d3", Relative: true, Count: 20},
		{Span: live(5), ID: 6, TableID: 1, DataFileID: 2, Path: "d6", Relative: true, Count: 30},
	}
	b = next("deleted_from_table:1")
	b.DeleteFiles.Removed = s.deletes[1:]
	b.DeleteFiles.Added = []lake.DeleteFile{{Span: live(2), ID: 11, TableID: 1, DataFileID: 2, Path: "d", Relative: true, Count: 40, PartialMax: 6, HasPartialMax: true}}
	if list, err = conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) != 1 || list[0].Begin != 5 || list[0].Instead != 11 || list[0].Keep != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	// A flush of an inlined delete from before: only the inlined delete can say so.
	inlined := lake.InlinedDelete{TableID: 1, FileID: 2, RowID: 99, Begin: 3}
	s.inlined = []lake.InlinedDelete{inlined}
	b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Removed: s.inlined}}}
	b.DeleteFiles.Added[0].Count, b.DeleteFiles.Added[0].PartialMax = 31, 5
	if list, err = conflict.Amend(commitOf(t, s, b), 70); err != nil || len(list) != 1 || !list[0].Back || list[0].Keep == nil || list[0].Keep.ID != 6 {
		t.Fatalf("%+v, %v", list, err)
	}

	// Times grow: from the clock, or by the least there is.
	for _, c := range []struct{ micros, now, want int64 }{{50, 70, 70}, {49, 7, 51}, {51, 7, 0}, {math.MaxInt64, 70, 70}, {math.MaxInt64, 7, 51}, {math.MinInt64, 70, 70}} {
		b = next("")
		b.Snapshots.Added[0].Micros = c.micros
		list, err := conflict.Amend(commitOf(t, s, b), c.now)
		if err != nil || (c.want == 0) != (len(list) == 0) || c.want != 0 && list[0].Micros != c.want {
			t.Fatalf("%+v: %+v, %v", c, list, err)
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	m := conflict.Modes{Settings: []conflict.Setting{
		{Table: 7, Check: conflict.Any, Mode: conflict.Warn},
		{Check: conflict.CodeCounter, Mode: conflict.Off},
		{Table: 7, Check: conflict.CodeSpan, Mode: conflict.Enforce},
		{Table: 8, Check: conflict.CodeSpan, Mode: conflict.Off},
	}}
	for _, c := range []struct {
		code  conflict.Code
		table int64
		want  conflict.Mode
	}{
		{conflict.CodeCounter, 0, conflict.Off},
		{conflict.CodeCounter, 7, conflict.Warn},
		{conflict.CodeSpan, 7, conflict.Enforce},
		{conflict.CodeSpan, 8, conflict.Off},
		{conflict.CodeSpan, 9, conflict.Enforce},
		{conflict.CodeNegative, 7, conflict.Warn},
	} {
		if got := m.Of(c.code, c.table); got != c.want {
			t.Errorf("%s of table %d: %v, want %v", c.code, c.table, got, c.want)
		}
	}
	for mode := conflict.Enforce; mode <= conflict.Off; mode++ {
		if got, ok := conflict.ParseMode(strings.ToUpper(mode.String())); !ok || got != mode {
			t.Errorf("%v reads as %v", mode, got)
		}
	}
	if _, ok := conflict.ParseMode("loud"); ok {
		t.Error("loud is a mode")
	}
}

// A reader's rows: those of the live data files, without what delete files and inlined
// deletes take away. visible returns them as file and position, and whether a position
// was deleted twice, which readers do not get right.
func visible(s *state, contents map[int64][]int64) (rows map[[2]int64]bool, twice bool) {
	rows = map[[2]int64]bool{}
	for _, f := range s.files {
		if f.Ended {
			continue
		}
		gone := map[int64]bool{}
		for _, d := range s.deletes {
			if d.DataFileID == f.ID && !d.Ended {
				for _, p := range contents[d.ID] {
					twice = twice || gone[p]
					gone[p] = true
				}
			}
		}
		for _, i := range s.inlined {
			if i.FileID == f.ID {
				twice = twice || gone[i.RowID]
				gone[i.RowID] = true
			}
		}
		for p := range f.Records {
			if !gone[p] {
				rows[[2]int64{f.ID, p}] = true
			}
		}
	}
	return rows, twice
}

// TestDeletesAreNotLost: whatever two clients do to one file, each planned on the same
// snapshot, the second is refused or both deletes hold and no position is deleted twice.
func TestDeletesAreNotLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &state{
			snapshots: []lake.Snapshot{{ID: 5, Micros: 50, NextCatalogID: 5, NextFileID: 10}},
			schemas:   []lake.Schema{{Span: live(0), Name: "main"}},
			tables:    []lake.Table{{Span: live(1), ID: 1, Name: "t"}},
			columns:   []lake.Column{{Span: live(1), ID: 1, TableID: 1, Name: "i"}},
			stats:     []lake.TableStats{{TableID: 1, Records: 8, NextRowID: 8}},
			files:     []lake.DataFile{{Span: live(1), ID: 1, TableID: 1, Path: "f1", Records: 8}},
		}
		contents := map[int64][]int64{}
		set := func(label string) []int64 {
			return rapid.SliceOfNDistinct(rapid.Int64Range(0, 7), 0, 3, rapid.ID[int64]).Draw(t, label)
		}
		if old := set("old delete file"); len(old) > 0 {
			contents[2] = old
			s.deletes = []lake.DeleteFile{{Span: live(2), ID: 2, TableID: 1, DataFileID: 1, Path: "d2", Count: int64(len(old))}}
		}
		for _, p := range set("old inlined") {
			if !slices.Contains(contents[2], p) {
				s.inlined = append(s.inlined, lake.InlinedDelete{TableID: 1, FileID: 1, RowID: p, Begin: 3})
			}
		}
		planned := *s // what both clients see
		known, _ := visible(&planned, contents)
		readable := rapid.Bool().Draw(t, "files can be read")
		landed := map[int64]bool{} // positions that a commit that landed has deleted
		for n := int64(6); n <= 7; n++ {
			label := fmt.Sprint("client ", n)
			var mine []int64
			for _, p := range set(label) {
				if known[[2]int64{1, p}] {
					mine = append(mine, p)
				}
			}
			b := &conflict.Batch{}
			b.Snapshots.Added = []lake.Snapshot{{ID: n, Micros: n * 10, NextCatalogID: 5, NextFileID: 10 * n}}
			made := ""
			switch op := rapid.SampledFrom([]string{"inlined", "file", "merge", "rewrite"}).Draw(t, label+" does"); {
			case op == "inlined":
				made = "inlined_delete:1"
				r := conflict.InlinedDeletes{TableID: 1}
				for _, p := range mine {
					r.Added = append(r.Added, lake.InlinedDelete{TableID: 1, FileID: 1, RowID: p, Begin: n})
				}
				b.InlinedDeletes = []conflict.InlinedDeletes{r}
			case op == "file" && len(mine) > 0:
				made = "deleted_from_table:1"
				d := lake.DeleteFile{Span: live(n), ID: 10*n - 1, TableID: 1, DataFileID: 1, Path: label, Count: int64(len(mine))}
				contents[d.ID] = mine
				if len(planned.deletes) > 0 {
					d.Begin, d.PartialMax, d.HasPartialMax = 2, 6, true
					d.Count += planned.deletes[0].Count
					contents[d.ID] = append(slices.Clone(mine), contents[2]...)
					b.DeleteFiles.Removed = filter(s.deletes, func(o lake.DeleteFile) bool { return o.ID == 2 })
				}
				b.DeleteFiles.Added = []lake.DeleteFile{d}
			case op == "merge" && len(planned.deletes)+len(planned.inlined) == 0:
				made, mine = "merge_adjacent:1", nil
				b.DataFiles.Removed = filter(s.files, func(f lake.DataFile) bool { return f.ID == 1 })
				b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 10*n - 1, TableID: 1, Path: label, Records: 8, HasPartialMax: true, PartialMax: 1}}
			case op == "rewrite":
				made, mine = "rewrite_delete:1", nil
				for _, f := range s.files {
					if f.ID == 1 {
						g := f
						g.End, g.Ended = n, true
						b.DataFiles.Changed = append(b.DataFiles.Changed, conflict.Edit[lake.DataFile]{Before: f, After: g})
					}
				}
				b.DataFiles.Added = []lake.DataFile{{Span: live(n), ID: 10*n - 1, TableID: 1, Path: label, Records: int64(len(known))}}
			default:
				mine = nil
			}
			b.Logs.Added = []lake.Changes{{SnapshotID: n, Made: made, HasMade: made != ""}}
			set, err := conflict.Classify(b)
			if err != nil {
				t.Fatal(err)
			}
			c := conflict.Commit{Batch: b, Was: s, Is: s.with(b), Set: set, Base: 5, HasBase: true, Ctx: context.Background()}
			if readable {
				c.Positions = func(_ context.Context, d lake.DeleteFile) ([]int64, error) { return contents[d.ID], nil }
			}
			found, err := conflict.Check(c)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				if n == 6 {
					t.Fatalf("the first commit is refused: %v", found)
				}
				continue
			}
			s = s.with(b)
			for _, p := range mine {
				landed[p] = true
			}
		}
		rows, twice := visible(s, contents)
		if twice {
			t.Fatalf("a position is deleted twice: %+v %v", s.deletes, s.inlined)
		}
		want := 0
		for r := range known {
			if !landed[r[1]] {
				want++
			}
		}
		if len(rows) != want {
			t.Fatalf("%d rows, want %d: files %+v, deletes %+v %v, inlined %+v", len(rows), want, s.files, s.deletes, contents, s.inlined)
		}
	})
}

// watched notes reads of files in the view whose changes make a commit look again.
type watched struct {
	*state
	reads []string
}

func (w *watched) DataFile(id int64) (lake.DataFile, bool, error) {
	w.reads = append(w.reads, "DataFile")
	return w.state.DataFile(id)
}

func (w *watched) DataFilesAt(path string) ([]lake.DataFile, error) {
	w.reads = append(w.reads, "DataFilesAt")
	return w.state.DataFilesAt(path)
}

func (w *watched) DeleteFilesAt(path string) ([]lake.DeleteFile, error) {
	w.reads = append(w.reads, "DeleteFilesAt")
	return w.state.DeleteFilesAt(path)
}

func (w *watched) Foreign(fn func(int64, string, bool) error) error {
	w.reads = append(w.reads, "Foreign")
	return w.state.Foreign(fn)
}

// TestExpiryBesideInserts: an expiry does not rest on which files there are, or each
// insert meanwhile would make it look again.
func TestExpiryBesideInserts(t *testing.T) {
	t.Parallel()
	s := small()
	b := &conflict.Batch{Schema: "public"}
	b.Snapshots.Removed, b.DataFiles.Removed = s.snapshots[:1], s.files[3:]
	b.Scheduled.Added = []lake.Scheduled{{ID: 5, Path: "main/t/f5", Relative: true}}
	c := commitOf(t, s, b)
	w := &watched{state: c.Is.(*state)}
	c.Is, c.Loose = w, c.Is
	list, err := conflict.Amend(c, 0)
	if err != nil || len(list) > 0 {
		t.Errorf("amended: %v %v", list, err)
	}
	found, err := conflict.Check(c)
	if err != nil || len(found) > 0 {
		t.Errorf("found %v %v", found, err)
	}
	if len(w.reads) > 0 {
		t.Errorf("it rests on %v", w.reads)
	}
}

// TestUnscheduleNamed: whether a file is named comes before whether it is listed already.
func TestUnscheduleNamed(t *testing.T) {
	t.Parallel()
	s := small()
	s.files = append(s.files, lake.DataFile{Span: live(2), ID: 8, TableID: 1, Path: "f5", Relative: true, Records: 100})
	b := &conflict.Batch{Schema: "public"}
	b.DataFiles.Removed = s.files[3:4]
	b.Scheduled.Added = []lake.Scheduled{{ID: 9, Path: "main/t/f5", Relative: true}, {ID: 5, Path: "main/t/f5", Relative: true}}
	list, err := conflict.Amend(commitOf(t, s, b), 0)
	if err != nil || len(list) != 1 || list[0].Unschedule == nil || list[0].Twice {
		t.Errorf("got %+v %v", list, err)
	}
}
