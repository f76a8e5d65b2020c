package conflict_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

func rows[T any](added ...T) conflict.Rows[T] { return conflict.Rows[T]{Added: added} }

func gone[T any](removed ...T) conflict.Rows[T] { return conflict.Rows[T]{Removed: removed} }

func changed[T any](before, after T) conflict.Rows[T] {
	return conflict.Rows[T]{Changed: []conflict.Edit[T]{{Before: before, After: after}}}
}

// commit is a batch of snapshot 9 that says what it did.
func commit(made string, fill func(*conflict.Batch)) *conflict.Batch {
	b := &conflict.Batch{
		Schema: "public", Snapshots: rows(lake.Snapshot{ID: 9}),
		Logs: rows(lake.Changes{SnapshotID: 9, Made: made, HasMade: made != ""}),
	}
	if fill != nil {
		fill(b)
	}
	return b
}

func TestClassifyParts(t *testing.T) {
	t.Parallel()
	version := func(v string) lake.Option { return lake.Option{Key: "version", Value: v} }
	for _, c := range []struct {
		name  string
		batch conflict.Batch
		want  string
	}{
		{"nothing", conflict.Batch{}, ""},
		{"expiry", conflict.Batch{Snapshots: gone(lake.Snapshot{ID: 1}), Logs: gone(lake.Changes{SnapshotID: 1})}, "expiry"},
		{"cleanup", conflict.Batch{Scheduled: gone(lake.Scheduled{ID: 1})}, "cleanup"},
		{"option", conflict.Batch{Options: rows(lake.Option{Key: "k"})}, "options"},
		{"scoped version", conflict.Batch{Options: rows(lake.Option{Key: "version", Scope: "table", Value: "1"})}, "options"},
		{"bootstrap", conflict.Batch{Bootstrap: true, Options: rows(version("1.0")), Snapshots: rows(lake.Snapshot{})}, "bootstrap snapshot options migration"},
		{"migration", conflict.Batch{Options: changed(version("0.3"), version("1.0"))}, "options migration"},
		{"migration in two rows", conflict.Batch{Options: conflict.Rows[lake.Option]{Added: []lake.Option{version("1.0")}, Removed: []lake.Option{version("0.3")}}}, "options migration"},
		{"same version", conflict.Batch{Options: changed(version("1.0"), version("1.0"))}, "options"},
		{"superseded inlined table", conflict.Batch{InlinedTables: gone(lake.InlinedTable{TableID: 1})}, "inlined relations"},
		{"plain", conflict.Batch{DataFiles: changed(lake.DataFile{ID: 1, TableID: 2}, lake.DataFile{ID: 1, TableID: 2, Records: 5})}, "plain rows"},
	} {
		set, err := conflict.Classify(&c.batch)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(set.Parts.Names(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if found := conflict.Agree(set, conflict.Names{}); len(found) > 0 {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

func TestClassifyRefusesGrammar(t *testing.T) {
	t.Parallel()
	if set, err := conflict.Classify(commit("eider_turn:1", nil)); !errors.Is(err, conflict.ErrChanges) || !set.Unread || set.Parts != conflict.PartSnapshot {
		t.Fatal(err)
	}
}

// What clients really write, by hand from their traffic.
func TestAgreeWithClients(t *testing.T) {
	t.Parallel()
	table := func(id int64, name string) lake.Table { return lake.Table{ID: id, Name: name, Span: live(9)} }
	view := lake.View{ID: 4, Name: "v", Span: live(2)}
	viewEnded := lake.View{ID: 4, Name: "v", Span: ended(2, 9)}
	for _, c := range []struct {
		name, made string
		fill       func(*conflict.Batch)
	}{
		{"made and renamed in one transaction", `created_table:"main"."z",created_table:"main"."y",altered_table:4,inlined_insert:4`, func(b *conflict.Batch) {
			b.Tables = rows(table(4, "y"))
			b.Columns = rows(lake.Column{ID: 1, TableID: 4, Span: live(9)})
			b.InlinedRows = []conflict.InlinedRows{{TableID: 4, Rows: rows(lake.InlinedRow{TableID: 4})}}
		}},
		{"made and filled", `created_table:"main"."u",inserted_into_table:2`, func(b *conflict.Batch) {
			b.Tables = rows(table(2, "u"))
			b.DataFiles = rows(lake.DataFile{ID: 1, TableID: 2, Span: live(9)})
		}},
		{"inserted and deleted in one transaction", "inlined_insert:1,inlined_delete:1", nil},
		{"a file made and deleted from in one transaction", "inserted_into_table:1", func(b *conflict.Batch) {
			b.DataFiles = rows(lake.DataFile{ID: 1, TableID: 1, Span: live(9)})
			b.DeleteFiles = rows(lake.DeleteFile{ID: 2, TableID: 1, DataFileID: 1, Span: live(9)})
		}},
		{"inlined deletes removed and given back", "inline_flush:1", func(b *conflict.Batch) {
			d := lake.InlinedDelete{TableID: 1, FileID: 3, RowID: 4, Begin: 5}
			b.InlinedDeletes = []conflict.InlinedDeletes{{TableID: 1, Rows: conflict.Rows[lake.InlinedDelete]{Added: []lake.InlinedDelete{d}, Removed: []lake.InlinedDelete{d}}}}
		}},
		{"a message only", "", nil},
		{"1.4.4 renames a view", `dropped_view:4,created_view:"main"."v2",altered_view:4`, func(b *conflict.Batch) {
			b.Views = changed(view, viewEnded)
			b.Views.Added = []lake.View{{ID: 4, Name: "v2", Span: live(9)}}
			b.Tags = rows(lake.Tag{Object: 4, Key: "comment", Span: live(9)})
		}},
		{"1.4.4 flushes", "flushed_inlined:1", func(b *conflict.Batch) {
			b.InlinedRows = []conflict.InlinedRows{{TableID: 1, Rows: gone(lake.InlinedRow{TableID: 1})}}
			b.DataFiles = rows(lake.DataFile{ID: 1, TableID: 1, Span: live(9)})
		}},
		{"1.4.4 rewrites", "compacted_table:1", func(b *conflict.Batch) {
			b.DataFiles = changed(lake.DataFile{ID: 1, TableID: 1, Span: live(2)}, lake.DataFile{ID: 1, TableID: 1, Span: ended(2, 9)})
			b.DataFiles.Added = []lake.DataFile{{ID: 2, TableID: 1, Span: live(9)}}
		}},
		{"a schema with a table in it", `created_schema:"S",created_table:"S"."t"`, func(b *conflict.Batch) {
			b.Schemas = rows(lake.Schema{ID: 7, Name: "S", Span: live(9)})
			b.Tables = rows(lake.Table{ID: 8, SchemaID: 7, Name: "t", Span: live(9)})
		}},
	} {
		set, err := conflict.Classify(commit(c.made, c.fill))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if found := conflict.Agree(set, conflict.Names{Schema: func(id int64) (string, bool) { return "main", id == 0 }}); len(found) > 0 {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

// Each sample of the matrix with something taken from what it says, or added to it.
func TestAgreeNoticesLies(t *testing.T) {
	t.Parallel()
	for _, s := range conflict.Samples() {
		if len(s.Batch.Logs.Added) == 0 || s.Batch.ChangesMade() == "" {
			continue
		}
		said := s.Set().Changes
		for i := range said {
			set := s.Set()
			set.Changes = slices.Delete(slices.Clone(said), i, i+1)
			rest, err := conflict.Classify(relog(s, set.Changes.String()))
			if err != nil {
				t.Fatal(err)
			}
			// A flush of rows and deletes says two things, of which either names the deletes.
			if found := conflict.Agree(rest, conflict.Names{}); len(found) == 0 && s.Name != "flush rows, deletes" {
				t.Errorf("%s may leave out %v", s.Name, said[i])
			}
		}
		for _, lie := range []string{"dropped_table:77", "merge_adjacent:77", "rewrite_delete:77", "dropped_view:77", "dropped_schema:77"} {
			set, err := conflict.Classify(relog(s, said.String()+","+lie))
			if err != nil {
				t.Fatal(err)
			}
			if found := conflict.Agree(set, conflict.Names{}); len(found) != 1 || found[0].Code != conflict.CodeChangesDiffer {
				t.Errorf("%s may add %s: %v", s.Name, lie, found)
			}
		}
	}
}

func relog(s conflict.Sample, made string) *conflict.Batch {
	b := *s.Batch
	b.Logs = rows(lake.Changes{SnapshotID: b.Snapshots.Added[0].ID, Made: made, HasMade: true})
	return &b
}

func TestAgreeComparesSchemas(t *testing.T) {
	t.Parallel()
	b := commit(`created_table:"other"."t"`, func(b *conflict.Batch) {
		b.Tables = rows(lake.Table{ID: 8, SchemaID: 0, Name: "t", Span: live(9)})
	})
	set, err := conflict.Classify(b)
	if err != nil {
		t.Fatal(err)
	}
	if found := conflict.Agree(set, conflict.Names{Schema: func(int64) (string, bool) { return "main", true }}); len(found) != 1 {
		t.Error(found)
	}
	if found := conflict.Agree(set, conflict.Names{}); len(found) != 0 {
		t.Error(found)
	}
}
