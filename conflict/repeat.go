package conflict

import "github.com/eiderdb/eider/lake"

// Repeats recognises a commit that is stored already: its acknowledgement was lost, and
// the client, or its application, sends the same files again on top of its own snapshot.
// It returns that snapshot.
//
// An answer of success is right when, and only when, everything that the commit would
// store is there. So each of its data and delete files must be known under its path with
// the same table, size and number of rows, all of one snapshot, which says the same
// changes with the same message; and the commit must do nothing that leaves no such
// trace: inlined rows and deletes, definitions, removals. Names of files that DuckLake
// writes are never given twice.
//
// An error would be worse than useless: DuckLake removes the files of a commit that has
// failed, which the stored commit names.
func Repeats(c Commit) (snapshot int64, ok bool, err error) {
	if c.Bootstrap || len(c.DataFiles.Added)+len(c.DeleteFiles.Added) == 0 || !c.addsFilesOnly() {
		return 0, false, nil
	}
	at := int64(-1)
	same := func(begin int64) bool {
		if at < 0 {
			at = begin
		}
		return at == begin
	}
	for i := range c.DataFiles.Added {
		f := &c.DataFiles.Added[i]
		begin, known, err := c.knownData(f)
		if err != nil || !known || !same(begin) {
			return 0, false, err
		}
	}
	for i := range c.DeleteFiles.Added {
		d := &c.DeleteFiles.Added[i]
		begin, known, err := c.knownDelete(d)
		if err != nil || !known || !same(begin) {
			return 0, false, err
		}
	}
	theirs, found, err := c.Was.ChangesOf(at)
	if err != nil || !found || theirs.Made != c.ChangesMade() {
		return 0, false, err
	}
	for i := range c.Logs.Added {
		if c.Logs.Added[i].Message != theirs.Message {
			return 0, false, nil
		}
	}
	return at, true, nil
}

// addsFilesOnly says whether the commit makes one snapshot of new files, with what
// belongs to them: statistics, partition values, and delete files that take over others.
func (c Commit) addsFilesOnly() bool {
	b := c.Batch
	return len(b.Snapshots.Added) == 1 && len(b.Snapshots.Changed)+len(b.Snapshots.Removed) == 0 &&
		len(b.Logs.Added) == 1 && len(b.Logs.Changed)+len(b.Logs.Removed) == 0 &&
		len(b.DataFiles.Changed)+len(b.DataFiles.Removed) == 0 &&
		len(b.DeleteFiles.Changed)+len(b.DeleteFiles.Removed) == 0 &&
		b.Schemas.Empty() && b.Tables.Empty() && b.Views.Empty() && b.Macros.Empty() && b.MacroImpls.Empty() &&
		b.Columns.Empty() && b.Tags.Empty() && b.ColumnTags.Empty() && b.Partitions.Empty() && b.Sorts.Empty() && b.SortKeys.Empty() &&
		b.Versions.Empty() && b.Scheduled.Empty() && b.InlinedTables.Empty() && b.Options.Empty() && b.Mappings.Empty() &&
		len(b.InlinedRows)+len(b.InlinedDeletes) == 0 && len(b.Made)+len(b.Dropped)+len(b.Emptied) == 0
}

// knownData finds the row of the same file. A merge has taken it away by now, or a user
// has registered it twice on purpose: then nothing is proved.
func (c Commit) knownData(f *lake.DataFile) (begin int64, known bool, err error) {
	if f.HasMapping {
		return 0, false, nil
	}
	rows, err := c.Was.DataFilesAt(f.Path)
	if err != nil {
		return 0, false, err
	}
	n := 0
	for _, o := range rows {
		if o.Relative != f.Relative || o.TableID != f.TableID {
			continue
		}
		n++
		known = o.Records == f.Records && o.Size == f.Size && o.Footer == f.Footer && o.Key == f.Key && !o.HasMapping &&
			o.HasPartition == f.HasPartition && o.PartitionID == f.PartitionID
		begin = o.Begin
	}
	return begin, known && n == 1, nil
}

func (c Commit) knownDelete(d *lake.DeleteFile) (begin int64, known bool, err error) {
	rows, err := c.Was.DeleteFilesAt(d.Path)
	if err != nil {
		return 0, false, err
	}
	for _, o := range rows {
		if o.Relative == d.Relative && o.TableID == d.TableID && o.DataFileID == d.DataFileID {
			return o.Begin, len(rows) == 1 && o.Count == d.Count && o.Size == d.Size && o.Footer == d.Footer && o.Key == d.Key, nil
		}
	}
	return 0, false, nil
}
