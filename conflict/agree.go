package conflict

import "slices"

// Names resolves what a changes_made spells by name.
type Names struct {
	// Schema returns the name of a live schema. Nil: names of schemas are not compared.
	Schema func(id int64) (string, bool)
}

// Agree compares what a commit does with what its changes_made says. Other clients learn
// from changes_made alone what they must not follow, so a commit that does something
// without saying it is refused; so is one that says it drops or compacts what it does not
// touch, since it would stop others for nothing.
//
// A commit without a snapshot says nothing, one that makes the lake is DuckLake's own
// fixed text, and what cannot be read is ChangesUnreadable's.
func Agree(c *ChangeSet, names Names) []Violation {
	if c.Parts&PartSnapshot == 0 || c.Parts&PartBootstrap != 0 || c.Unread {
		return nil
	}
	a := agreement{set: c, names: names}
	for i := range c.Tables {
		a.table(&c.Tables[i])
	}
	a.objects()
	a.undone()
	return a.found
}

type agreement struct {
	set   *ChangeSet
	names Names
	found []Violation
}

// claim is what an operation has to be called; any of the kinds will do.
var claims = []struct {
	op    Op
	does  string
	kinds []ChangeKind
}{
	{OpDrop, "drops the table", []ChangeKind{DroppedTable}},
	{OpAlter, "alters the table", []ChangeKind{AlteredTable}},
	{OpInsertFile, "adds data files", []ChangeKind{InsertedIntoTable}},
	{OpInsertInline, "adds inlined rows", []ChangeKind{InlinedInsert}},
	{OpDeleteFile, "deletes rows of data files", []ChangeKind{DeletedFromTable}},
	{OpDeleteInline, "deletes rows inline", []ChangeKind{InlinedDelete}},
	{OpFlushRows, "flushes inlined rows", []ChangeKind{InlineFlush, FlushedInlined}},
	// DuckLake calls a flush that found only inlined deletes a delete.
	{OpFlushDeletes, "flushes inlined deletes", []ChangeKind{InlineFlush, FlushedInlined, DeletedFromTable}},
	{OpMerge, "merges data files", []ChangeKind{MergeAdjacent, CompactedTable}},
}

func (a *agreement) table(t *TableChange) {
	ref := TableRef{ID: t.ID, Name: t.Name}
	created := t.Ops.Has(OpCreate | OpRename)
	if created && !a.saysName(CreatedTable, t.SchemaID, t.Name) {
		a.found = append(a.found, ChangesUnsaid(ref, "makes the table or gives it a name", words(CreatedTable)))
	}
	for _, c := range claims {
		if !t.Ops.Has(c.op) || a.set.Says(t.ID, c.kinds...) {
			continue
		}
		a.found = append(a.found, ChangesUnsaid(ref, c.does, words(c.kinds...)))
	}
}

func (a *agreement) objects() {
	for _, o := range a.set.Created {
		if o.Kind == CreatedSchema {
			if !slices.ContainsFunc(a.set.Changes, func(c Change) bool { return c.Kind == CreatedSchema && c.Schema == o.Name }) {
				a.found = append(a.found, ChangesUnsaid(TableRef{}, "makes schema "+quoted(o.Name), words(CreatedSchema)))
			}
			continue
		}
		if !a.saysName(o.Kind, o.SchemaID, o.Name) {
			a.found = append(a.found, ChangesUnsaid(TableRef{}, "makes "+quoted(o.Name), words(o.Kind)))
		}
	}
	for _, o := range a.set.Dropped {
		// A renamed view ends and begins; its new name is what is said.
		if a.created(o.ID, o.Kind) {
			continue
		}
		if kind := droppedAs(o.Kind); !a.set.Says(o.ID, kind) {
			a.found = append(a.found, ChangesUnsaid(TableRef{}, "drops "+quoted(o.Name), words(kind)))
		}
	}
	for _, id := range a.set.AlteredViews {
		if !a.set.Says(id, AlteredView) {
			a.found = append(a.found, ChangesUnsaid(TableRef{}, "alters a view", words(AlteredView)))
		}
	}
}

func (a *agreement) created(id int64, kind ChangeKind) bool {
	return slices.ContainsFunc(a.set.Created, func(o NamedObject) bool { return o.ID == id && o.Kind == kind })
}

func droppedAs(created ChangeKind) ChangeKind {
	switch created {
	case CreatedSchema:
		return DroppedSchema
	case CreatedView:
		return DroppedView
	case CreatedScalarMacro:
		return DroppedScalarMacro
	case CreatedTableMacro:
		return DroppedTableMacro
	}
	return DroppedTable
}

// saysName reports whether an object of a kind is said to be created under this name.
func (a *agreement) saysName(kind ChangeKind, schema int64, name string) bool {
	in, known := "", false
	for _, o := range a.set.Created {
		if o.Kind == CreatedSchema && o.ID == schema {
			in, known = o.Name, true
		}
	}
	if !known && a.names.Schema != nil {
		in, known = a.names.Schema(schema)
	}
	return slices.ContainsFunc(a.set.Changes, func(c Change) bool {
		return c.Kind == kind && c.Name == name && (!known || c.Schema == in)
	})
}

// undone looks for entries about a drop or a compaction that is not there. Other entries
// may be left without rows: a transaction that inserts rows and deletes them says both,
// one that makes a table and renames it says both names.
func (a *agreement) undone() {
	for _, c := range a.set.Changes {
		if !a.does(c) {
			a.found = append(a.found, ChangesUndone(c))
		}
	}
}

func (a *agreement) does(c Change) bool {
	switch c.Kind {
	case DroppedSchema, DroppedView, DroppedScalarMacro, DroppedTableMacro:
		return slices.ContainsFunc(a.set.Dropped, func(o NamedObject) bool { return o.ID == c.ID && droppedAs(o.Kind) == c.Kind })
	case DroppedTable, MergeAdjacent, RewriteDelete, CompactedTable:
		return a.set.Table(c.ID) != nil
	}
	return true
}

func words(kinds ...ChangeKind) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.String()
	}
	return out
}
