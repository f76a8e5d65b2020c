package conflict_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

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
