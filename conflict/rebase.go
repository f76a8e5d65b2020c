package conflict

import (
	"slices"

	"github.com/eiderdb/eider/lake"
)

// Rebase gives a commit other ids: those that it would have got if it had begun on the
// newest snapshot.
type Rebase struct {
	From, To      int64 // its snapshot id, and the one that it gets
	Files         int64 // what is added to ids of files
	NextFile      int64
	NextCatalog   int64
	SchemaVersion int64
}

// PlanRebase says whether a commit that has lost the race for its snapshot id has lost
// nothing else, so that other ids make it right: c.Was is what the client planned it on,
// c.Is the newest committed state, without it.
//
// That is so for commits that only append, data files or inlined rows, to tables that
// nobody has touched since: no snapshot in between names them, their definitions and
// statistics are what they were. Appends to one table are left to the client: row ids and
// the bounds of columns would have to be made again.
func PlanRebase(c Commit) (r Rebase, ok bool, err error) {
	set := c.Set
	if set == nil || !c.appendsOnly() {
		return r, false, nil
	}
	mine, _ := c.Snapshot()
	base, ok, err := c.Was.Head()
	if err != nil || !ok {
		return r, false, err
	}
	head, ok, err := c.Is.Head()
	if err != nil || !ok {
		return r, false, err
	}
	if mine.ID != base.ID+1 || head.ID < mine.ID || mine.SchemaVersion != base.SchemaVersion ||
		mine.NextCatalogID != base.NextCatalogID || mine.NextFileID < base.NextFileID || head.NextFileID < base.NextFileID {
		return r, false, nil
	}
	for id := base.ID + 1; id <= head.ID; id++ {
		free, err := c.unnamed(id)
		if err != nil || !free {
			return r, false, err
		}
	}
	for i := range set.Tables {
		same, err := c.sameTable(set.Tables[i].ID)
		if err != nil || !same {
			return r, false, err
		}
	}
	delta := head.NextFileID - base.NextFileID
	return Rebase{
		From: mine.ID, To: head.ID + 1, Files: delta,
		// Clients keep statistics by next_file_id, so that it must be one that no snapshot has had.
		NextFile:    max(mine.NextFileID+delta, head.NextFileID+1),
		NextCatalog: head.NextCatalogID, SchemaVersion: head.SchemaVersion,
	}, true, nil
}

// appendsOnly says whether the commit adds rows to tables and does nothing else.
func (c Commit) appendsOnly() bool {
	b, set := c.Batch, c.Set
	if set.Parts != PartSnapshot || len(set.Tables) == 0 || len(set.Created)+len(set.Dropped)+len(set.AlteredViews) > 0 {
		return false
	}
	for i := range set.Tables {
		if o := set.Tables[i].Ops; o == 0 || o&^(OpInsertFile|OpInsertInline) != 0 {
			return false
		}
	}
	for _, e := range set.Changes {
		if e.Kind != InsertedIntoTable && e.Kind != InlinedInsert {
			return false
		}
	}
	for i := range b.DataFiles.Added {
		f := &b.DataFiles.Added[i]
		if f.HasMapping || f.HasPartialMax || f.Ended {
			return false
		}
	}
	for i := range b.InlinedRows {
		if in := &b.InlinedRows[i]; len(in.Changed)+len(in.Removed) > 0 {
			return false
		}
		for _, r := range b.InlinedRows[i].Added {
			if r.Ended {
				return false
			}
		}
	}
	return len(b.Snapshots.Added) == 1 && len(b.Logs.Added) == 1 && b.DeleteFiles.Empty() && b.Scheduled.Empty() &&
		b.Mappings.Empty() && b.Versions.Empty() && b.InlinedTables.Empty() && b.MacroImpls.Empty() && b.SortKeys.Empty() &&
		len(b.InlinedDeletes)+len(b.Others)+len(b.Made)+len(b.Dropped)+len(b.Emptied)+len(b.Nulls) == 0
}

// unnamed says whether a snapshot names none of the commit's tables. A snapshot that is
// not there any more, or has no changes row, may have.
func (c Commit) unnamed(snapshot int64) (bool, error) {
	log, ok, err := c.Is.ChangesOf(snapshot)
	if err != nil || !ok {
		return false, err
	}
	made, err := ParseChanges(log.Made)
	if err != nil {
		return false, nil //nolint:nilerr // what it says is not known
	}
	for _, e := range made {
		if changeKinds[e.Kind].form == formID && c.Set.Table(e.ID) != nil {
			return false, nil
		}
	}
	return true, nil
}

// sameTable says whether a table's definition and statistics are what they were.
func (c Commit) sameTable(id int64) (bool, error) {
	same, err := unchanged(View.Table, c, id)
	if err != nil || !same {
		return false, err
	}
	live, err := c.Is.Table(id)
	if err != nil || !slices.ContainsFunc(live, func(t lake.Table) bool { return !t.Ended }) {
		return false, err
	}
	if same, err = unchanged(View.Columns, c, id); err != nil || !same {
		return false, err
	}
	if same, err = unchanged(View.Partitions, c, id); err != nil || !same {
		return false, err
	}
	if same, err = unchanged(View.Sorts, c, id); err != nil || !same {
		return false, err
	}
	return unchanged(View.TableStats, c, id)
}

func unchanged[T comparable](read func(View, int64) ([]T, error), c Commit, id int64) (bool, error) {
	was, err := read(c.Was, id)
	if err != nil {
		return false, err
	}
	is, err := read(c.Is, id)
	return slices.Equal(was, is), err
}
