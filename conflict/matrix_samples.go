package conflict

import "github.com/eiderdb/eider/lake"

// Sample is a commit that the matrix is shown with: what a client does, as rows, on one
// small lake.
//
// The lake is at snapshot 10. Schema 0 is main, schema 1 is s and holds table 8. Table 2
// of main has data files 1 and 2 as they were written, 3 with delete file 30, 4 with
// inlined deletes, and inlined rows. View 5 and macro 6 are in main.
type Sample struct {
	Name string
	// Group is "tables" for what is done to table 2, "names" for the rest.
	Group string
	Batch *Batch
}

// Set returns the sample's classification.
func (s Sample) Set() *ChangeSet {
	set, err := Classify(s.Batch)
	if err != nil {
		panic(err) // the samples are fixed, and a test classifies all
	}
	return set
}

const (
	sampleBase  = 10
	sampleNext  = sampleBase + 1
	sampleTable = 2
)

// Samples returns the commits of the matrix, in the order of its rows.
func Samples() []Sample {
	out := append(tableSamples(), nameSamples()...)
	for _, s := range out {
		if s.Batch.Logs.Added != nil {
			s.Batch.Schema = "public"
			s.Batch.Snapshots.Added = []lake.Snapshot{{ID: sampleNext}}
		}
	}
	return out
}

func says(made string) Rows[lake.Changes] {
	return Rows[lake.Changes]{Added: []lake.Changes{{SnapshotID: sampleNext, Made: made, HasMade: made != ""}}}
}

func added[T any](rows ...T) Rows[T] { return Rows[T]{Added: rows} }

var (
	sinceThen = lake.Span{Begin: 3}
	endsNow   = lake.Span{Begin: 3, End: sampleNext, Ended: true}
	fromNow   = lake.Span{Begin: sampleNext}
)

// ended makes edits that end rows now, by their id.
func ended[T any](make func(id int64, s lake.Span) T, ids ...int64) Rows[T] {
	var r Rows[T]
	for _, id := range ids {
		r.Changed = append(r.Changed, Edit[T]{Before: make(id, sinceThen), After: make(id, endsNow)})
	}
	return r
}

func tableRow(name string) func(int64, lake.Span) lake.Table {
	return func(id int64, s lake.Span) lake.Table { return lake.Table{ID: id, Span: s, Name: name} }
}

func dataFile(id int64, s lake.Span) lake.DataFile {
	return lake.DataFile{ID: id, TableID: sampleTable, Span: s}
}

func deleteFile(of int64, s lake.Span) lake.DeleteFile {
	return lake.DeleteFile{ID: of + 100, TableID: sampleTable, DataFileID: of, Span: s}
}

// backDated is a delete file that says up to which snapshot its rows go.
func backDated(of, upTo int64) lake.DeleteFile {
	d := deleteFile(of, sinceThen)
	d.PartialMax, d.HasPartialMax = upTo, true
	return d
}

func viewRow(name string) func(int64, lake.Span) lake.View {
	return func(id int64, s lake.Span) lake.View { return lake.View{ID: id, Span: s, Name: name} }
}

func inlineDeletes(file int64) InlinedDeletes {
	return InlinedDeletes{TableID: sampleTable, Rows: added(lake.InlinedDelete{TableID: sampleTable, FileID: file, RowID: 1, Begin: sampleNext})}
}

func inlineRows(rows Rows[lake.InlinedRow]) []InlinedRows {
	return []InlinedRows{{Relation: "ducklake_inlined_data_2_1", TableID: sampleTable, Rows: rows}}
}

func inlineRow(id int64, s lake.Span) lake.InlinedRow {
	return lake.InlinedRow{Span: s, Relation: "ducklake_inlined_data_2_1", TableID: sampleTable, RowID: id}
}

func tableSamples() []Sample {
	column := lake.Column{ID: 9, TableID: sampleTable, Span: fromNow, Name: "c"}
	batch := func(name string, b Batch) Sample { return Sample{Name: name, Group: "tables", Batch: &b} }
	flushed := func() Rows[lake.InlinedRow] {
		return Rows[lake.InlinedRow]{Removed: []lake.InlinedRow{inlineRow(50, sinceThen)}}
	}
	renamed := ended(tableRow("t"), sampleTable)
	renamed.Added = []lake.Table{tableRow("new")(sampleTable, fromNow)}
	replaced := ended(tableRow("t"), sampleTable)
	replaced.Added = []lake.Table{tableRow("t")(20, fromNow)}
	merged := Rows[lake.DataFile]{
		Added:   []lake.DataFile{dataFile(40, sinceThen)},
		Removed: []lake.DataFile{dataFile(1, sinceThen), dataFile(2, sinceThen)},
	}
	rewritten := func(id int64) Rows[lake.DataFile] {
		r := ended(dataFile, id)
		r.Added = []lake.DataFile{dataFile(40, fromNow)}
		return r
	}
	return []Sample{
		batch("drop", Batch{Logs: says("dropped_table:2"), Tables: ended(tableRow("t"), sampleTable)}),
		batch("replace", Batch{Logs: says(`dropped_table:2,created_table:"main"."t"`), Tables: replaced}),
		batch("rename", Batch{Logs: says(`created_table:"main"."new"`), Tables: renamed}),
		batch("add column", Batch{Logs: says("altered_table:2"), Columns: added(column)}),
		batch("set sorted by", Batch{Logs: says("altered_table:2"), Sorts: added(lake.Sort{ID: 12, TableID: sampleTable, Span: fromNow})}),
		batch("insert file", Batch{Logs: says("inserted_into_table:2"), DataFiles: added(dataFile(40, fromNow))}),
		batch("insert inlined", Batch{Logs: says("inlined_insert:2"), InlinedRows: inlineRows(added(inlineRow(60, fromNow)))}),
		batch("delete from file 1", Batch{Logs: says("deleted_from_table:2"), DeleteFiles: added(deleteFile(1, fromNow))}),
		batch("delete from file 3", Batch{Logs: says("deleted_from_table:2"), DeleteFiles: added(backDated(3, sampleNext))}),
		batch("delete all of file 1", Batch{Logs: says("deleted_from_table:2"), DataFiles: ended(dataFile, 1)}),
		batch("delete inline from 1", Batch{Logs: says("inlined_delete:2"), InlinedDeletes: []InlinedDeletes{inlineDeletes(1)}}),
		batch("delete inline from 3", Batch{Logs: says("inlined_delete:2"), InlinedDeletes: []InlinedDeletes{inlineDeletes(3)}}),
		batch("delete inline from 4", Batch{Logs: says("inlined_delete:2"), InlinedDeletes: []InlinedDeletes{inlineDeletes(4)}}),
		batch("delete inlined rows", Batch{Logs: says("inlined_delete:2"), InlinedRows: inlineRows(ended(inlineRow, 50))}),
		batch("update in file 1", Batch{
			Logs:      says("inserted_into_table:2,deleted_from_table:2"),
			DataFiles: added(dataFile(40, fromNow)), DeleteFiles: added(deleteFile(1, fromNow)),
		}),
		batch("update inline in 1", Batch{
			Logs: says("inlined_insert:2,inlined_delete:2"), InlinedRows: inlineRows(added(inlineRow(1, fromNow))),
			InlinedDeletes: []InlinedDeletes{inlineDeletes(1)},
		}),
		batch("flush rows", Batch{Logs: says("inline_flush:2"), InlinedRows: inlineRows(flushed()), DataFiles: added(dataFile(40, sinceThen))}),
		batch("flush deletes of 4", Batch{
			Logs: says("deleted_from_table:2"), DeleteFiles: added(backDated(4, sampleBase)), InlinedDeletes: unlined(),
		}),
		batch("flush rows, deletes", Batch{
			Logs: says("deleted_from_table:2,inline_flush:2"), InlinedRows: inlineRows(flushed()), DataFiles: added(dataFile(40, sinceThen)),
			DeleteFiles: added(backDated(4, sampleBase)), InlinedDeletes: unlined(),
		}),
		batch("merge 1 and 2", Batch{Logs: says("merge_adjacent:2"), DataFiles: merged}),
		batch("rewrite 3", Batch{Logs: says("rewrite_delete:2"), DataFiles: rewritten(3)}),
		batch("rewrite 4", Batch{Logs: says("rewrite_delete:2"), DataFiles: rewritten(4)}),
	}
}

// unlined takes the inlined deletes of file 4 away.
func unlined() []InlinedDeletes {
	gone := lake.InlinedDelete{TableID: sampleTable, FileID: 4, RowID: 7, Begin: 5}
	return []InlinedDeletes{{TableID: sampleTable, Rows: Rows[lake.InlinedDelete]{Removed: []lake.InlinedDelete{gone}}}}
}

func nameSamples() []Sample {
	batch := func(name string, b Batch) Sample { return Sample{Name: name, Group: "names", Batch: &b} }
	schema := func(name string) func(int64, lake.Span) lake.Schema {
		return func(id int64, s lake.Span) lake.Schema { return lake.Schema{ID: id, Span: s, Name: name} }
	}
	in := func(schema int64, t lake.Table) lake.Table { t.SchemaID = schema; return t }
	viewIn := func(schema int64, v lake.View) lake.View { v.SchemaID = schema; return v }
	macro := func(id int64, s lake.Span) lake.Macro { return lake.Macro{ID: id, Span: s, Name: "m"} }
	renamed := ended(viewRow("v"), 5)
	renamed.Added = []lake.View{viewRow("w")(5, fromNow)}
	replaced := ended(viewRow("v"), 5)
	replaced.Added = []lake.View{viewRow("v")(21, fromNow)}
	return []Sample{
		batch("create schema n", Batch{Logs: says(`created_schema:"n"`), Schemas: added(schema("n")(20, fromNow))}),
		batch("drop schema s", Batch{Logs: says("dropped_schema:1"), Schemas: ended(schema("s"), 1)}),
		batch("create table s.x", Batch{Logs: says(`created_table:"s"."x"`), Tables: added(in(1, tableRow("x")(20, fromNow)))}),
		batch("create view s.x", Batch{Logs: says(`created_view:"s"."x"`), Views: added(viewIn(1, viewRow("x")(20, fromNow)))}),
		batch("create view w", Batch{Logs: says(`created_view:"main"."w"`), Views: added(viewRow("w")(20, fromNow))}),
		batch("drop view v", Batch{Logs: says("dropped_view:5"), Views: ended(viewRow("v"), 5)}),
		batch("replace view v", Batch{Logs: says(`dropped_view:5,created_view:"main"."v"`), Views: replaced}),
		batch("rename view v to w", Batch{Logs: says(`created_view:"main"."w"`), Views: renamed}),
		batch("comment on view v", Batch{Logs: says("altered_view:5"), Tags: added(lake.Tag{Object: 5, Key: "comment", Span: fromNow})}),
		batch("create macro k", Batch{
			Logs: says(`created_scalar_macro:"main"."k"`), Macros: added(lake.Macro{ID: 20, Span: fromNow, Name: "k"}),
			MacroImpls: added(lake.MacroImpl{MacroID: 20, Type: "scalar"}),
		}),
		batch("create table macro k", Batch{
			Logs: says(`created_table_macro:"main"."k"`), Macros: added(lake.Macro{ID: 20, Span: fromNow, Name: "k"}),
			MacroImpls: added(lake.MacroImpl{MacroID: 20, Type: "table"}),
		}),
		batch("create macro s.x", Batch{
			Logs: says(`created_scalar_macro:"s"."x"`), Macros: added(lake.Macro{ID: 20, SchemaID: 1, Span: fromNow, Name: "x"}),
			MacroImpls: added(lake.MacroImpl{MacroID: 20, Type: "scalar"}),
		}),
		batch("drop macro m", Batch{Logs: says("dropped_scalar_macro:6"), Macros: ended(macro, 6)}),
		batch("commit message", Batch{Logs: says("")}),
		batch("set option", Batch{Options: added(lake.Option{Key: "k", Value: "v"})}),
		batch("expire", Batch{Snapshots: Rows[lake.Snapshot]{Removed: []lake.Snapshot{{ID: 4}}}, DataFiles: Rows[lake.DataFile]{Removed: []lake.DataFile{{ID: 5, TableID: sampleTable, Span: lake.Span{Begin: 3, End: 4, Ended: true}}}}}),
		batch("clean up", Batch{Scheduled: Rows[lake.Scheduled]{Removed: []lake.Scheduled{{ID: 5}}}}),
	}
}
