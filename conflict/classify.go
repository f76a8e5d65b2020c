package conflict

import (
	"cmp"
	"slices"

	"github.com/eiderdb/eider/lake"
)

// Op is what a commit does to a table, a set of bits.
type Op uint16

// The operations. A DELETE is OpDeleteFile when it writes delete files or ends whole
// files, OpDeleteInline when it marks inlined rows or rows of a file inline; both may be
// true of one statement. An UPDATE is a delete and an insert.
const (
	OpCreate       Op = 1 << iota
	OpDrop            // the table ends
	OpRename          // the table's row is replaced
	OpAlter           // columns, partition key, sort order, comments
	OpInsertFile      // new data files
	OpInsertInline    // new inlined rows
	OpDeleteFile      // delete files, whole files
	OpDeleteInline    // inlined rows end, rows of files are deleted inline
	OpFlushRows       // inlined rows become a data file
	OpFlushDeletes    // inlined deletes of files become delete files
	OpMerge           // data files are replaced by one, in all snapshots
	OpRewrite         // data files are replaced from this snapshot on, without deleted rows
)

var opNames = []string{
	"create", "drop", "rename", "alter", "insert (file)", "insert (inlined)", "delete (file)", "delete (inlined)",
	"flush (rows)", "flush (deletes)", "merge", "rewrite",
}

// Has says whether any of the operations is in the set.
func (o Op) Has(any Op) bool { return o&any != 0 }

// Names lists the operations of the set.
func (o Op) Names() []string {
	var out []string
	for i, n := range opNames {
		if o&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// TableChange is what a commit does to one table, down to data files.
type TableChange struct {
	ID   int64
	Name string // of the row it adds, when it creates or renames the table
	// SchemaID is the schema of that row.
	SchemaID int64
	Ops      Op

	// Columns and Sorted say what OpAlter is about.
	Columns, Sorted bool

	// Added are the data files it adds, Removed those whose rows it takes away (merge), Ended
	// those that it ends (whole-file delete, rewrite).
	Added, Removed, Ended []int64
	// Deleted are the data files that get a delete file, Flushed those that get one from a
	// flush.
	Deleted, Flushed []int64
	// Taken are those of Deleted whose delete file takes over the rows of an older one, and
	// is therefore dated back.
	Taken []int64
	// Inlined are the data files of which rows are deleted inline, Uninlined those whose
	// inlined deletes it takes away.
	Inlined, Uninlined []int64

	rowsAdded, rowsEnded, rowsRemoved int // inlined rows
}

// Sources are the data files that a compaction replaces.
func (t *TableChange) Sources() []int64 {
	switch {
	case t.Ops.Has(OpMerge):
		return t.Removed
	case t.Ops.Has(OpRewrite):
		return t.Ended
	}
	return nil
}

// Targets are the data files of which the commit deletes rows, in delete files or whole.
func (t *TableChange) Targets() []int64 {
	if t.Ops.Has(OpRewrite) {
		return t.Deleted
	}
	return union(t.Deleted, t.Ended)
}

// NamedObject is a schema, view or macro.
type NamedObject struct {
	ID       int64
	SchemaID int64 // 0 for a schema itself
	Name     string
	Kind     ChangeKind // how it is created: CreatedSchema, CreatedView, CreatedScalarMacro, CreatedTableMacro
}

// Parts is what a commit touches besides its tables, a set of bits.
type Parts uint16

// The parts. A commit of DuckLake has a snapshot; what has none is maintenance, options or
// plain SQL.
const (
	PartBootstrap Parts = 1 << iota // it makes the lake
	PartSnapshot                    // it adds a snapshot
	PartOptions                     // it changes ducklake_metadata
	PartMigration                   // it changes the catalog's format
	PartExpiry                      // it removes snapshots
	PartCleanup                     // it takes files off the deletion schedule
	PartInlined                     // it drops relations of inlined data, or their registration
	PartPlain                       // it changes rows in a way that no operation of DuckLake does
)

// ChangeSet is what one commit does, by meaning.
type ChangeSet struct {
	Parts   Parts
	Tables  []TableChange // by id
	Created []NamedObject
	Dropped []NamedObject
	// AlteredViews are ids of views with other tags; Renamed views are in Created and
	// Dropped with one id.
	AlteredViews []int64
	Changes      Changes // what its changes_made says
	// Unread says that its changes_made cannot be read: Changes is empty, and what only
	// changes_made could tell is not known.
	Unread bool
}

// Table returns what the commit does to a table.
func (c *ChangeSet) Table(id int64) *TableChange {
	i, ok := slices.BinarySearchFunc(c.Tables, id, func(t TableChange, id int64) int { return cmp.Compare(t.ID, id) })
	if !ok {
		return nil
	}
	return &c.Tables[i]
}

// Says reports whether changes_made has an entry of a kind for an id.
func (c *ChangeSet) Says(id int64, kinds ...ChangeKind) bool {
	for _, e := range c.Changes {
		if e.ID == id && slices.Contains(kinds, e.Kind) && changeKinds[e.Kind].form == formID {
			return true
		}
	}
	return false
}

// Classify reads a commit. The rows decide; changes_made is asked only where rows alone
// are ambiguous (a rewrite ends files and adds files, as an UPDATE of whole files does).
// The error is ErrChanges; the set then is what the rows alone say.
func Classify(b *Batch) (*ChangeSet, error) {
	made, err := ParseChanges(b.ChangesMade())
	c := classifier{
		b: b, set: &ChangeSet{Changes: made, Unread: err != nil}, tables: map[int64]*TableChange{}, expired: map[int64]bool{},
	}
	c.parts()
	c.objects()
	c.tableRows()
	c.files()
	c.inlined()
	c.meaning()
	return c.set, err
}

type classifier struct {
	b      *Batch
	set    *ChangeSet
	tables map[int64]*TableChange
	// expired are the data files whose rows go because their snapshots do.
	expired map[int64]bool
}

func (c *classifier) table(id int64) *TableChange {
	t := c.tables[id]
	if t == nil {
		t = &TableChange{ID: id}
		c.tables[id] = t
	}
	return t
}

func (c *classifier) parts() {
	b := c.b
	p := &c.set.Parts
	mark := func(yes bool, part Parts) {
		if yes {
			*p |= part
		}
	}
	mark(b.Bootstrap, PartBootstrap)
	mark(len(b.Snapshots.Added) > 0, PartSnapshot)
	mark(len(b.Snapshots.Removed) > 0, PartExpiry)
	mark(!b.Options.Empty(), PartOptions)
	_, _, version := FormatChange(b)
	mark(version, PartMigration)
	mark(len(b.Scheduled.Removed) > 0, PartCleanup)
	mark(len(b.InlinedTables.Removed) > 0 || len(b.Dropped) > 0, PartInlined)
	mark(len(b.Snapshots.Changed) > 0 || len(b.Logs.Changed) > 0 || len(b.Scheduled.Changed) > 0, PartPlain)
}

// FormatChange returns the versions of a commit that changes the catalog's format; from is
// "" when the commit makes the lake.
func FormatChange(b *Batch) (from, to string, ok bool) {
	of := func(o lake.Option) bool { return o.Key == "version" && o.Scope == "" }
	for _, o := range b.Options.Removed {
		if of(o) {
			from, ok = o.Value, true
		}
	}
	for _, o := range b.Options.Added {
		if of(o) {
			to, ok = o.Value, true
		}
	}
	for _, e := range b.Options.Changed {
		if of(e.Before) || of(e.After) {
			from, to, ok = e.Before.Value, e.After.Value, true
		}
	}
	return from, to, ok && from != to
}

// ends says whether an edit ends a row that was live.
func ends(before, after lake.Span) bool { return !before.Ended && after.Ended }

func (c *classifier) objects() {
	b, s := c.b, c.set
	for _, r := range b.Schemas.Added {
		s.Created = append(s.Created, NamedObject{ID: r.ID, Name: r.Name, Kind: CreatedSchema})
	}
	for _, e := range b.Schemas.Changed {
		if ends(e.Before.Span, e.After.Span) {
			s.Dropped = append(s.Dropped, NamedObject{ID: e.After.ID, Name: e.After.Name, Kind: CreatedSchema})
		}
	}
	for _, r := range b.Views.Added {
		s.Created = append(s.Created, NamedObject{ID: r.ID, SchemaID: r.SchemaID, Name: r.Name, Kind: CreatedView})
	}
	for _, e := range b.Views.Changed {
		if ends(e.Before.Span, e.After.Span) {
			s.Dropped = append(s.Dropped, NamedObject{ID: e.After.ID, SchemaID: e.After.SchemaID, Name: e.After.Name, Kind: CreatedView})
		}
	}
	for _, r := range b.Macros.Added {
		s.Created = append(s.Created, NamedObject{ID: r.ID, SchemaID: r.SchemaID, Name: r.Name, Kind: c.macroKind(r.ID)})
	}
	for _, e := range b.Macros.Changed {
		if ends(e.Before.Span, e.After.Span) {
			kind := CreatedScalarMacro
			if s.Says(e.After.ID, DroppedTableMacro) {
				kind = CreatedTableMacro
			}
			s.Dropped = append(s.Dropped, NamedObject{ID: e.After.ID, SchemaID: e.After.SchemaID, Name: e.After.Name, Kind: kind})
		}
	}
}

func (c *classifier) macroKind(id int64) ChangeKind {
	for _, m := range c.b.MacroImpls.Added {
		if m.MacroID == id && m.Type == "table" {
			return CreatedTableMacro
		}
	}
	return CreatedScalarMacro
}

// tableRows reads the rows that define tables.
func (c *classifier) tableRows() {
	b := c.b
	for _, r := range b.Tables.Added {
		t := c.table(r.ID)
		t.Ops |= OpCreate
		t.Name, t.SchemaID = r.Name, r.SchemaID
	}
	for _, e := range b.Tables.Changed {
		if !ends(e.Before.Span, e.After.Span) {
			c.set.Parts |= PartPlain
			continue
		}
		if t := c.table(e.After.ID); t.Ops.Has(OpCreate) {
			t.Ops = t.Ops&^OpCreate | OpRename
		} else {
			t.Ops |= OpDrop
			t.SchemaID = e.After.SchemaID
		}
	}
	alter := func(id int64) *TableChange {
		t := c.table(id)
		if !t.Ops.Has(OpCreate | OpDrop) {
			t.Ops |= OpAlter
		}
		return t
	}
	each(&b.Columns, func(r lake.Column) { alter(r.TableID).Columns = true })
	each(&b.Partitions, func(r lake.Partition) { alter(r.TableID) })
	each(&b.Sorts, func(r lake.Sort) { alter(r.TableID).Sorted = true })
	each(&b.ColumnTags, func(r lake.ColumnTag) { alter(r.TableID) })
	each(&b.Tags, func(r lake.Tag) { c.tagged(r.Object, alter) })
}

// tagged notes an object whose tags change. Ids of tables and views are of one counter;
// what the commit itself makes or drops is no alteration.
func (c *classifier) tagged(id int64, alter func(int64) *TableChange) {
	for _, o := range c.set.Created {
		if o.ID == id {
			return
		}
	}
	for _, o := range c.set.Dropped {
		if o.ID == id {
			return
		}
	}
	if c.set.Says(id, AlteredView) {
		if !slices.Contains(c.set.AlteredViews, id) {
			c.set.AlteredViews = append(c.set.AlteredViews, id)
		}
		return
	}
	alter(id)
}

func (c *classifier) files() {
	b := c.b
	own := map[int64]bool{} // data files that the commit adds
	for _, r := range b.DataFiles.Added {
		t := c.table(r.TableID)
		t.Added = append(t.Added, r.ID)
		own[r.ID] = true
	}
	gone := map[int64]bool{} // tables that no snapshot has any more
	for i := range b.Tables.Removed {
		gone[b.Tables.Removed[i].ID] = true
	}
	for _, r := range b.DataFiles.Removed {
		// In one commit with other work: no snapshot needs it any more, nothing replaces it.
		if p := PartSnapshot | PartExpiry; c.set.Parts&p == p && (r.Ended || gone[r.TableID]) {
			c.expired[r.ID] = true
			continue
		}
		t := c.table(r.TableID)
		t.Removed = append(t.Removed, r.ID)
	}
	for _, e := range b.DataFiles.Changed {
		if ends(e.Before.Span, e.After.Span) {
			t := c.table(e.After.TableID)
			t.Ended = append(t.Ended, e.After.ID)
		} else {
			c.set.Parts |= PartPlain
		}
	}
	for _, r := range b.DeleteFiles.Added {
		t := c.table(r.TableID)
		if own[r.DataFileID] {
			continue // rows that nobody else has seen: part of the insert or flush
		}
		t.Deleted = append(t.Deleted, r.DataFileID)
		if r.HasPartialMax {
			t.Taken = append(t.Taken, r.DataFileID)
		}
	}
}

func (c *classifier) inlined() {
	for i := range c.b.InlinedRows {
		r := &c.b.InlinedRows[i]
		t := c.table(r.TableID)
		t.rowsAdded += len(r.Added)
		t.rowsRemoved += c.flushedRows(r)
		for _, e := range r.Changed {
			if ends(e.Before.Span, e.After.Span) {
				t.rowsEnded++
			} else {
				c.set.Parts |= PartPlain
			}
		}
	}
	for i := range c.b.InlinedDeletes {
		r := &c.b.InlinedDeletes[i]
		t := c.table(r.TableID)
		// A flush that was taken back in part has removed deletes and given them back.
		back := map[lake.InlinedDelete]int{}
		for _, d := range r.Added {
			back[d]++
		}
		for _, d := range r.Removed {
			if back[d] > 0 {
				back[d]--
				continue
			}
			if c.expired[d.FileID] {
				continue
			}
			t.Uninlined = append(t.Uninlined, d.FileID)
		}
		for d, n := range back {
			if n > 0 {
				t.Inlined = append(t.Inlined, d.FileID)
			}
		}
		if len(r.Changed) > 0 {
			c.set.Parts |= PartPlain
		}
	}
}

// flushedRows counts the rows that leave inlined data for a file. An expiry takes ended
// rows away, and so does a flush, which says so.
func (c *classifier) flushedRows(r *InlinedRows) (n int) {
	if c.set.Parts&PartExpiry == 0 || c.set.Says(r.TableID, InlineFlush, FlushedInlined) {
		return len(r.Removed)
	}
	for i := range r.Removed {
		if !r.Removed[i].Ended {
			n++
		}
	}
	return n
}

// meaning turns what happened to rows into operations.
func (c *classifier) meaning() {
	lakeCommit := c.set.Parts&PartSnapshot != 0
	for _, t := range c.tables {
		for _, ids := range []*[]int64{&t.Added, &t.Removed, &t.Ended, &t.Deleted, &t.Taken, &t.Inlined, &t.Uninlined} {
			slices.Sort(*ids)
			*ids = slices.Compact(*ids)
		}
		if lakeCommit {
			t.Ops |= c.dataOps(t)
		}
		c.set.Tables = append(c.set.Tables, *t)
	}
	slices.SortFunc(c.set.Tables, func(a, b TableChange) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(c.set.AlteredViews)
}

func (c *classifier) dataOps(t *TableChange) Op {
	if t.Ops.Has(OpDrop) {
		return 0 // its files and rows end with it
	}
	var o Op
	if len(t.Removed) > 0 {
		o |= OpMerge
	}
	if len(t.Ended) > 0 && c.set.Says(t.ID, RewriteDelete, CompactedTable) {
		o |= OpRewrite
	}
	if t.rowsRemoved > 0 {
		o |= OpFlushRows
	}
	if len(t.Uninlined) > 0 && !o.Has(OpMerge|OpRewrite) {
		o |= OpFlushDeletes
	}
	// The shape of a delete file does not tell: a DELETE that takes over an older delete
	// file dates it back too. A flush takes inlined rows or deletes away.
	if o.Has(OpFlushRows | OpFlushDeletes) {
		t.Flushed, t.Deleted, t.Taken = t.Deleted, nil, nil
	}
	if len(t.Added) > 0 && (o == 0 || c.set.Says(t.ID, InsertedIntoTable)) {
		o |= OpInsertFile
	}
	if t.rowsAdded > 0 {
		o |= OpInsertInline
	}
	if len(t.Deleted) > 0 || len(t.Ended) > 0 && !o.Has(OpRewrite) {
		o |= OpDeleteFile
	}
	if len(t.Inlined) > 0 || t.rowsEnded > 0 {
		o |= OpDeleteInline
	}
	return o
}

// union merges two sorted lists.
func union(a, b []int64) []int64 {
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}

// shared returns the ids that are in both sorted lists.
func shared(a, b []int64) []int64 {
	var out []int64
	for _, id := range a {
		if _, ok := slices.BinarySearch(b, id); ok {
			out = append(out, id)
		}
	}
	return out
}

var partNames = []string{
	"bootstrap", "snapshot", "options", "migration", "expiry", "cleanup", "inlined relations", "plain rows",
}

// Names lists the parts of the set.
func (p Parts) Names() []string {
	var out []string
	for i, n := range partNames {
		if p&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}
