package conflict

import "slices"

// Rule is one reason for which a commit may not follow another that was committed since
// it began.
type Rule struct {
	Name string
	// Why says what would happen, in a sentence.
	Why string
	// Client is true for a rule that DuckLake itself applies, in the client, when a commit
	// has lost the race for its snapshot id. The others are the server's: they are state
	// checks at commit, written here as a relation between two commits.
	Client bool
}

// The rules of DuckLake.
var (
	RuleDropped     = &Rule{"dropped", "The object was dropped.", true}
	RuleAltered     = &Rule{"altered", "The table or view was altered: the commit was planned for its older shape.", true}
	RuleRowsChanged = &Rule{"rows", "Rows were added or deleted that the statement might have had to see.", true}
	RuleSameFile    = &Rule{"same-file", "Both delete rows of one data file.", true}
	RuleCompaction  = &Rule{"compaction", "The data files were replaced by others.", true}
	RuleFlushed     = &Rule{"flushed", "The inlined rows were moved to a data file, or changed while they were being moved.", true}
	RuleName        = &Rule{"name", "The name was taken.", true}
	RuleSchema      = &Rule{"schema", "The schema was dropped, or filled while it was being dropped.", true}
)

// The rules of the server.
var (
	RuleSourceDeletes = &Rule{"source-deletes", "Rows of a source of the compaction were deleted inline; DuckLake looks for delete files only, and the rows would come back.", false}
	RuleSourceFlushed = &Rule{"source-flushed", "A source of the compaction got a delete file from a flush, which the compaction has not read.", false}
	RuleTargetGone    = &Rule{"target-gone", "The data file whose rows are deleted inline was replaced by a compaction or ended; DuckLake does not look, and the deletes would be lost.", false}
	RuleBothDelete    = &Rule{"both-delete", "A delete file and inlined deletes of one data file, which its writer did not know: a row in both stops readers from applying the deletes behind it. Where the server can read the delete file and no row is in both, the commit passes.", false}
	RuleTwoFiles      = &Rule{"two-delete-files", "A second live delete file of one data file: readers would see every row twice. DuckLake misses those that are dated back.", false}
	RuleRenameDropped = &Rule{"rename-dropped", "The table or view that is renamed was dropped: it would be live again, a table without columns.", false}
	RuleRenameAltered = &Rule{"rename-altered", "The columns of the table that is renamed changed: its inlined table would be made for the older ones.", false}
	RuleTagDropped    = &Rule{"tag-dropped", "The view that gets a comment was dropped: a live tag of nothing would stay.", false}
	RuleSchemaFilled  = &Rule{"schema-filled", "A macro was made in the schema that is dropped: it would belong to nothing. DuckLake looks for tables and views.", false}
	RuleSortedSince   = &Rule{"sorted-since", "The table got a sort order since the merge was planned; a merge into a sorted table must carry its row ids.", false}
)

// Rules returns all rules, DuckLake's first.
func Rules() []*Rule {
	return []*Rule{
		RuleDropped, RuleAltered, RuleRowsChanged, RuleSameFile, RuleCompaction, RuleFlushed, RuleName, RuleSchema,
		RuleSourceDeletes, RuleSourceFlushed, RuleTargetGone, RuleBothDelete, RuleTwoFiles, RuleRenameDropped, RuleRenameAltered,
		RuleTagDropped, RuleSchemaFilled, RuleSortedSince,
	}
}

// DuckLake returns the rules by which DuckLake refuses ours after theirs, both planned on
// the same snapshot. It is what the client does with the changes_made of theirs; the
// server does not repeat it.
func DuckLake(ours, theirs *ChangeSet) []*Rule {
	var out found
	for _, c := range ours.Changes {
		for _, r := range clientRules {
			if slices.Contains(r.ours, c.Kind) && theirs.Says(c.ID, r.theirs...) {
				out.add(r.rule)
			}
		}
		if c.Kind == DeletedFromTable && theirs.Says(c.ID, DeletedFromTable) && sameFile(ours.Table(c.ID), theirs.Table(c.ID)) {
			out.add(RuleSameFile)
		}
		out.names(c, ours, theirs)
	}
	return out
}

// clientRules are those of DuckLake's rules that compare ids.
var clientRules = func() []clientRule {
	type kinds = []ChangeKind
	inserts := kinds{InsertedIntoTable, InlinedInsert}
	flushes := kinds{InlineFlush, FlushedInlined}
	compactions := kinds{MergeAdjacent, RewriteDelete, CompactedTable}
	all := func(lists ...kinds) kinds { return slices.Concat(lists...) }
	return []clientRule{
		{kinds{DroppedTable}, kinds{DroppedTable}, RuleDropped},
		{kinds{DroppedView}, kinds{DroppedView}, RuleDropped},
		{kinds{DroppedSchema}, kinds{DroppedSchema}, RuleDropped},
		{kinds{DroppedScalarMacro}, kinds{DroppedScalarMacro}, RuleDropped},
		{kinds{DroppedTableMacro}, kinds{DroppedTableMacro}, RuleDropped},
		{
			all(inserts, flushes, compactions, kinds{DeletedFromTable, InlinedDelete, AlteredTable}),
			kinds{DroppedTable},
			RuleDropped,
		},
		{all(inserts, kinds{DeletedFromTable, InlinedDelete, AlteredTable}), kinds{AlteredTable}, RuleAltered},
		{kinds{AlteredView}, kinds{AlteredView}, RuleAltered},
		{inserts, kinds{DeletedFromTable, InlinedDelete}, RuleRowsChanged},
		{kinds{DeletedFromTable}, inserts, RuleRowsChanged},
		{kinds{InlinedDelete}, all(inserts, kinds{InlinedDelete}), RuleRowsChanged},
		{kinds{DeletedFromTable}, compactions, RuleCompaction},
		{compactions, all(compactions, kinds{DeletedFromTable}), RuleCompaction},
		{kinds{InlinedDelete}, flushes, RuleFlushed},
		{flushes, all(flushes, kinds{InlinedDelete}), RuleFlushed},
	}
}()

type clientRule struct {
	ours, theirs []ChangeKind
	rule         *Rule
}

// sameFile is DuckLake's look at data files. It finds delete files by the snapshot in
// which they begin, and so not those that are dated back.
func sameFile(ours, theirs *TableChange) bool {
	if ours == nil || theirs == nil {
		return false
	}
	seen := slices.DeleteFunc(union(theirs.Deleted, theirs.Ended), func(id int64) bool {
		_, taken := slices.BinarySearch(theirs.Taken, id)
		return taken
	})
	return len(shared(union(union(ours.Deleted, ours.Flushed), ours.Ended), seen)) > 0
}

// found collects rules, each once.
type found []*Rule

func (f *found) add(r *Rule) {
	if !slices.Contains(*f, r) {
		*f = append(*f, r)
	}
}

// names applies DuckLake's rules about names: schemas by name, tables and views in one
// space, macros in two of their own; without case.
func (f *found) names(c Change, ours, theirs *ChangeSet) {
	switch c.Kind {
	case CreatedSchema:
		for _, o := range theirs.Changes {
			if o.Kind == CreatedSchema && sameName(o.Schema, c.Schema) {
				f.add(RuleName)
			}
		}
	case DroppedSchema:
		for _, d := range ours.Dropped {
			if d.Kind != CreatedSchema || d.ID != c.ID {
				continue
			}
			for _, o := range theirs.Changes {
				if (o.Kind == CreatedTable || o.Kind == CreatedView) && sameName(o.Schema, d.Name) {
					f.add(RuleSchema)
				}
			}
		}
	case CreatedTable, CreatedView, CreatedScalarMacro, CreatedTableMacro:
		for _, o := range theirs.Changes {
			if nameSpace(o.Kind) == nameSpace(c.Kind) && sameName(o.Schema, c.Schema) && sameName(o.Name, c.Name) {
				f.add(RuleName)
			}
		}
		if id, ok := schemaOf(ours, c); ok && theirs.Says(id, DroppedSchema) {
			f.add(RuleSchema)
		}
	}
}

func nameSpace(k ChangeKind) ChangeKind {
	switch k {
	case CreatedTable, CreatedView:
		return CreatedTable
	case CreatedScalarMacro, CreatedTableMacro:
		return k
	}
	return ChangeUnknown
}

// schemaOf is the schema in which a commit creates what an entry names.
func schemaOf(c *ChangeSet, e Change) (int64, bool) {
	for _, o := range c.Created {
		if o.Kind == e.Kind && o.Name == e.Name {
			return o.SchemaID, true
		}
	}
	for i := range c.Tables {
		if t := &c.Tables[i]; e.Kind == CreatedTable && t.Ops.Has(OpCreate|OpRename) && t.Name == e.Name {
			return t.SchemaID, true
		}
	}
	return 0, false
}

// sameName compares names as DuckDB does: without the case of ASCII letters.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if asciiLower(a[i]) != asciiLower(b[i]) {
			return false
		}
	}
	return true
}

func asciiLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Server returns the rules by which the server refuses ours after theirs. They say as a
// relation what the state checks find in the state at commit.
func Server(ours, theirs *ChangeSet) []*Rule {
	var out found
	for i := range ours.Tables {
		if t := theirs.Table(ours.Tables[i].ID); t != nil {
			out.table(&ours.Tables[i], t)
		}
	}
	for _, o := range ours.Created {
		renamed := slices.ContainsFunc(theirs.Dropped, func(d NamedObject) bool { return d.ID == o.ID && d.Kind == o.Kind })
		again := slices.ContainsFunc(theirs.Created, func(d NamedObject) bool { return d.ID == o.ID && d.Kind == o.Kind })
		if renamed && !again {
			out.add(RuleRenameDropped)
		}
	}
	for _, d := range ours.Dropped {
		if d.Kind != CreatedSchema {
			continue
		}
		if slices.ContainsFunc(theirs.Created, func(o NamedObject) bool { return o.Kind != CreatedSchema && o.SchemaID == d.ID }) ||
			slices.ContainsFunc(theirs.Tables, func(t TableChange) bool { return t.Ops.Has(OpCreate|OpRename) && t.SchemaID == d.ID }) {
			out.add(RuleSchemaFilled)
		}
	}
	for _, id := range ours.AlteredViews {
		if slices.ContainsFunc(theirs.Dropped, func(d NamedObject) bool { return d.ID == id && d.Kind == CreatedView }) &&
			!slices.ContainsFunc(theirs.Created, func(d NamedObject) bool { return d.ID == id }) {
			out.add(RuleTagDropped)
		}
	}
	return out
}

func (f *found) table(ours, theirs *TableChange) {
	meet := func(a, b []int64) bool { return len(shared(a, b)) > 0 }
	gone := union(theirs.Removed, theirs.Ended)
	if sources := ours.Sources(); len(sources) > 0 {
		if meet(sources, theirs.Inlined) {
			f.add(RuleSourceDeletes)
		}
		if meet(sources, theirs.Flushed) {
			f.add(RuleSourceFlushed)
		}
		if ours.Ops.Has(OpMerge) && theirs.Sorted {
			f.add(RuleSortedSince)
		}
	}
	if meet(ours.Inlined, gone) {
		f.add(RuleTargetGone)
	}
	if meet(ours.Inlined, theirs.Deleted) || meet(ours.Deleted, theirs.Inlined) {
		f.add(RuleBothDelete)
	}
	// A flush may give a delete file to a data file that has ended: older snapshots need it.
	// Not to one whose row is gone.
	if meet(union(ours.Deleted, ours.Flushed), theirs.Removed) || meet(ours.Deleted, theirs.Ended) {
		f.add(RuleTargetGone)
	}
	if meet(union(ours.Deleted, ours.Flushed), union(theirs.Deleted, theirs.Flushed)) {
		f.add(RuleTwoFiles)
	}
	if ours.Ops.Has(OpRename) {
		if theirs.Ops.Has(OpDrop) {
			f.add(RuleRenameDropped)
		}
		if theirs.Columns && !theirs.Ops.Has(OpCreate) {
			f.add(RuleRenameAltered)
		}
	}
}

// MayFollow says whether ours may be committed after theirs, both planned on the same
// snapshot, by a stock client on this server.
func MayFollow(ours, theirs *ChangeSet) bool {
	return len(DuckLake(ours, theirs)) == 0 && len(Server(ours, theirs)) == 0
}
