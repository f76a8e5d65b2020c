package conflict

import (
	"github.com/eiderdb/eider/lake"
)

// Deletes come in two forms, which the client keeps apart: delete files, of which a data
// file has at most one at a time, and inlined deletes. A reader takes the union and must
// not meet one position in both. Compactions take both into account as they were when the
// compaction read them. None of this is in DuckLake's own conflict rules for inlined
// deletes, so it is tested here, on the state that the commit lands on.

// compactions: what a merge or rewrite took from its sources is what they have now.
func (k *checker) compactions() error {
	merged := map[int64][]int64{}
	for i := range k.DataFiles.Removed {
		f := &k.DataFiles.Removed[i]
		if f.Ended {
			continue // expiry, of a file that no snapshot needs
		}
		live, err := k.tableLive(f.TableID)
		if err != nil {
			return err
		}
		if !live {
			continue // expiry, of a table: its last transaction may have left files live
		}
		deletes, err := k.Was.DeletesOf(f.ID)
		if err != nil {
			return err
		}
		_, has := liveDelete(deletes)
		if !has {
			inlined, err := k.inlinedBefore(f.TableID, f.ID)
			if err != nil {
				return err
			}
			has = len(inlined) > 0
		}
		if has {
			merged[f.TableID] = append(merged[f.TableID], f.ID)
		}
	}
	for _, table := range sortedKeys(merged) {
		k.add(MergeOfDeletedRows(k.ref(table), merged[table]))
	}
	for i := range k.DataFiles.Changed {
		if e := &k.DataFiles.Changed[i]; e.Before.Ended && e.After.Ended && e.Before.End != e.After.End {
			k.add(SourceGone(k.ref(e.After.TableID), e.After.ID))
		}
	}
	for i := range k.Set.Tables {
		t := &k.Set.Tables[i]
		// Older clients call both a compaction: what becomes of its sources tells.
		old, ends := k.Set.Says(t.ID, CompactedTable), t.Ops.Has(OpRewrite)
		merges := k.Set.Says(t.ID, MergeAdjacent) || old && (t.Ops.Has(OpMerge) || !ends) || k.Set.Unread && t.Ops.Has(OpMerge)
		switch {
		case k.Set.Says(t.ID, RewriteDelete) || old && ends:
			if err := k.rewrite(t.ID, merges); err != nil {
				return err
			}
		case merges:
			k.merge(t.ID)
		}
	}
	return nil
}

// expired says whether an expiry in the same commit takes a file's row away: it had ended
// before, so that no compaction on the newest state has it as a source.
func (k *checker) expired(f *lake.DataFile) bool { return f.Ended && k.Set.Parts&PartExpiry != 0 }

// merge compares numbers of rows: of a source that another transaction has replaced there
// is no row to remove, and its rows would be there twice.
func (k *checker) merge(table int64) {
	var want, got, output int64
	sources := false
	for i := range k.DataFiles.Removed {
		f := &k.DataFiles.Removed[i]
		switch {
		case f.TableID != table || k.expired(f):
		case f.Ended:
			k.add(SourceGone(k.ref(table), f.ID))
			return
		default:
			want, sources = want+f.Records, true
		}
	}
	for i := range k.DataFiles.Added {
		if f := &k.DataFiles.Added[i]; f.TableID == table {
			got, output = got+f.Records, f.ID
		}
	}
	switch {
	case got == want:
	case !sources:
		k.add(SourceGone(k.ref(table), output))
	default:
		k.add(RowCount(k.ref(table), output, want, got))
	}
}

// rewrite compares numbers of rows: deletes of a live file only grow, so equal numbers
// are equal sets.
// A transaction may merge as well; which output is whose cannot be told then.
func (k *checker) rewrite(table int64, merges bool) error {
	left, suspect, since, sources := int64(0), int64(-1), int64(-1), 0
	for i := range k.DataFiles.Changed {
		e := &k.DataFiles.Changed[i]
		if e.After.TableID != table || e.Before.Ended || !e.After.Ended {
			continue
		}
		sources++
		left += e.Before.Records
		deletes, err := k.Was.DeletesOf(e.After.ID)
		if err != nil {
			return err
		}
		last := e.Before.Begin
		if d, ok := liveDelete(deletes); ok {
			left -= d.Count
			last = max(last, d.Begin, d.PartialMax)
		}
		inlined, err := k.inlinedBefore(table, e.After.ID)
		if err != nil {
			return err
		}
		left -= int64(len(inlined))
		for _, d := range inlined {
			last = max(last, d.Begin)
		}
		if last > since {
			since, suspect = last, e.After.ID
		}
	}
	for i := range k.DataFiles.Removed {
		f := &k.DataFiles.Removed[i]
		if !merges || f.TableID != table || k.expired(f) {
			continue
		}
		if f.Ended {
			k.add(SourceGone(k.ref(table), f.ID))
			return nil
		}
		sources, left, suspect = sources+1, left+f.Records, max(suspect, f.ID)
	}
	got, output := int64(0), int64(-1)
	for i := range k.DataFiles.Added {
		if f := &k.DataFiles.Added[i]; f.TableID == table {
			got, output = got+f.Records, f.ID
		}
	}
	switch {
	case sources == 0 && output >= 0:
		k.add(SourceGone(k.ref(table), output))
	case sources > 0 && got != left:
		k.add(RewriteOfOtherDeletes(k.ref(table), suspect))
	}
	return nil
}

// deleteFiles: a delete file names a live data file of its own table, and no other delete
// file is read beside it.
func (k *checker) deleteFiles() error {
	for i := range k.DeleteFiles.Added {
		if err := k.deleteFile(&k.DeleteFiles.Added[i]); err != nil {
			return err
		}
	}
	for i := range k.DeleteFiles.Changed {
		if err := k.oneDeleteFile(&k.DeleteFiles.Changed[i].After); err != nil {
			return err
		}
	}
	for i := range k.DeleteFiles.Removed {
		if err := k.removedDeleteFile(&k.DeleteFiles.Removed[i]); err != nil {
			return err
		}
	}
	return nil
}

func (k *checker) deleteFile(d *lake.DeleteFile) error {
	f, ok, err := k.Is.DataFile(d.DataFileID)
	if err != nil {
		return err
	}
	late := ok && f.Ended && !k.endedNow(f.ID)
	if late && d.Begin < f.End {
		// One that begins while its file was live is history: a flush of old inlined deletes.
		flush, err := k.flushed(d)
		if err != nil {
			return err
		}
		late = !flush
	}
	switch {
	case !ok:
		k.add(DeleteOfEndedFile(k.ref(d.TableID), d.DataFileID))
		return nil
	case f.TableID != d.TableID:
		k.add(DeleteOfForeignFile(k.ref(d.TableID), d.ID, d.DataFileID))
		return nil
	case late:
		k.add(DeleteOfEndedFile(k.ref(d.TableID), d.DataFileID))
		return nil
	case d.Count > f.Records:
		k.add(DeleteCountBeyond(k.ref(d.TableID), d.ID, d.Count, f.ID, f.Records))
	}
	return k.oneDeleteFile(d)
}

func (k *checker) oneDeleteFile(d *lake.DeleteFile) error {
	f, ok, err := k.Is.DataFile(d.DataFileID)
	if err != nil || !ok {
		return err
	}
	others, err := k.Is.DeletesOf(d.DataFileID)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != d.ID && readable(o.Span, f.Span).Overlaps(readable(d.Span, f.Span)) {
			k.add(SecondDeleteFile(k.ref(d.TableID), f.ID, o.ID, d.ID))
			break
		}
	}
	return nil
}

// removedDeleteFile: what a delete file deleted stays deleted.
func (k *checker) removedDeleteFile(d *lake.DeleteFile) error {
	if d.Ended {
		return nil
	}
	f, ok, err := k.Is.DataFile(d.DataFileID)
	if err != nil || !ok || f.Ended {
		return err
	}
	now, err := k.Is.DeletesOf(d.DataFileID)
	if err != nil {
		return err
	}
	if n, ok := liveDelete(now); !ok || n.Count < d.Count {
		k.add(DeletesDropped(k.ref(d.TableID), d.ID, d.DataFileID))
	}
	return nil
}

// inlinedDeletes: they name live data files of their table, and rows that these have, each
// once.
func (k *checker) inlinedDeletes() error {
	for i := range k.InlinedDeletes {
		in := &k.InlinedDeletes[i]
		var last int64 = -1
		var f lake.DataFile
		ok, fine := false, false
		for _, d := range in.Added {
			if d.FileID != last {
				var err error
				if f, ok, err = k.Is.DataFile(d.FileID); err != nil {
					return err
				}
				// One that the commit removes as well is of a flush that was taken back.
				fine = ok && f.TableID == in.TableID && (!f.Ended || k.endedNow(f.ID) || containsDelete(in.Removed, d))
				last = d.FileID
				if !fine {
					k.add(DeleteOfEndedFile(k.ref(in.TableID), d.FileID))
				}
			}
			if fine && (d.RowID < 0 || d.RowID >= f.Records) {
				k.add(DeletePosition(k.ref(in.TableID), d.RowID, f.ID, f.Records))
				break
			}
		}
		if d, ok := repeatedDelete(in.Added); ok {
			k.add(InlinedTwice(k.ref(in.TableID), d.RowID, d.FileID))
		}
	}
	return nil
}

// repeatedDelete finds a delete of a row that an earlier one of the list has deleted.
func repeatedDelete(list []lake.InlinedDelete) (d lake.InlinedDelete, ok bool) {
	if len(list) < 2 {
		return d, false
	}
	seen := make(map[[2]int64]bool, len(list))
	for _, d := range list {
		at := [2]int64{d.FileID, d.RowID}
		if seen[at] {
			return d, true
		}
		seen[at] = true
	}
	return d, false
}

// overlaps: no position is both in a delete file and inlined.
func (k *checker) overlaps() error {
	for i := range k.DeleteFiles.Added {
		d := &k.DeleteFiles.Added[i]
		if d.Ended || k.addedFile(d.DataFileID) {
			continue
		}
		if flush, err := k.flushed(d); flush || err != nil {
			if err != nil {
				return err
			}
			continue // it has nothing that was not deleted before
		}
		beside, err := k.inlinedOf(d.TableID, d.DataFileID)
		if err != nil {
			return err
		}
		if err := k.disjoint(*d, k.since(beside)); err != nil {
			return err
		}
	}
	for i := range k.InlinedDeletes {
		in := &k.InlinedDeletes[i]
		files, byFile := filesOf(in.Added)
		for _, file := range files {
			if err := k.inlinedTwice(in.TableID, file, byFile[file]); err != nil {
				return err
			}
			deletes, err := k.Is.DeletesOf(file)
			if err != nil {
				return err
			}
			d, ok := liveDelete(deletes)
			if !ok || k.ownDeleteFile(d.ID) || (k.HasBase && max(d.Begin, d.PartialMax) <= k.Base) {
				continue
			}
			if err := k.disjoint(d, byFile[file]); err != nil {
				return err
			}
		}
	}
	return nil
}

// inlinedTwice: a row is deleted inline once. A client that has planned on the newest
// snapshot knows what is deleted; the relation, which has no index, is read only for others.
func (k *checker) inlinedTwice(table, file int64, added []lake.InlinedDelete) error {
	if k.HasBase && k.Base >= k.head.ID {
		return nil
	}
	all, err := k.inlinedOf(table, file)
	if err != nil {
		return err
	}
	mine := make(map[int64]bool, len(added))
	for _, a := range added {
		mine[a.RowID] = true
	}
	seen := make(map[int64]bool, len(all))
	for _, d := range all {
		if seen[d.RowID] && mine[d.RowID] {
			k.add(DeleteRace(k.ref(table), file))
			return nil
		}
		seen[d.RowID] = true
	}
	return nil
}

// since leaves out the inlined deletes that the client knew when it wrote its delete
// file: it does not delete a row twice.
func (k *checker) since(list []lake.InlinedDelete) []lake.InlinedDelete {
	if !k.HasBase {
		return list
	}
	var out []lake.InlinedDelete
	for _, d := range list {
		// Those of the commit itself the client knows as well.
		if d.Begin > k.Base && !(k.makes && d.Begin == k.at) {
			out = append(out, d)
		}
	}
	return out
}

// disjoint compares a delete file with inlined deletes that its writer did not see. Where
// the file cannot be read nobody knows, and the commit is refused.
func (k *checker) disjoint(d lake.DeleteFile, inlined []lake.InlinedDelete) error {
	if len(inlined) == 0 {
		return nil
	}
	if k.Positions == nil {
		k.add(DeleteRace(k.ref(d.TableID), d.DataFileID))
		return nil
	}
	in, err := k.Positions(k.Ctx, d)
	if err != nil {
		if k.Ctx.Err() != nil {
			return k.Ctx.Err()
		}
		k.add(DeleteRace(k.ref(d.TableID), d.DataFileID).detail("Delete file %d could not be read: %v.", d.ID, err))
		return nil
	}
	set := make(map[int64]bool, len(in))
	for _, p := range in {
		set[p] = true
	}
	twice := 0
	for _, i := range inlined {
		if set[i.RowID] {
			twice++
		}
	}
	if twice > 0 {
		k.add(DeletedTwice(k.ref(d.TableID), d.DataFileID, twice))
	}
	return nil
}

// removedDeletes: inlined deletes go only into a delete file, or with their data file.
func (k *checker) removedDeletes() error {
	for i := range k.InlinedDeletes {
		in := &k.InlinedDeletes[i]
		if len(in.Removed) == 0 {
			continue
		}
		again := make(map[lake.InlinedDelete]bool, len(in.Added))
		for _, d := range in.Added {
			again[d] = true
		}
		files, byFile := filesOf(in.Removed)
		for _, file := range files {
			f, ok, err := k.Is.DataFile(file)
			if err != nil {
				return err
			}
			if !ok || f.Ended {
				continue
			}
			deletes, err := k.Is.DeletesOf(file)
			if err != nil {
				return err
			}
			d, has := liveDelete(deletes)
			for _, r := range byFile[file] {
				if again[r] {
					continue
				}
				if !has || !k.ownDeleteFile(d.ID) || (d.HasPartialMax && d.PartialMax < r.Begin) {
					k.add(InlinedDeletesDropped(k.ref(in.TableID), file))
					break
				}
			}
		}
	}
	return nil
}

// filesOf are the data files of inlined deletes, in the order in which they come, and the
// deletes of each.
func filesOf(list []lake.InlinedDelete) (files []int64, byFile map[int64][]lake.InlinedDelete) {
	byFile = make(map[int64][]lake.InlinedDelete)
	for _, d := range list {
		if _, ok := byFile[d.FileID]; !ok {
			files = append(files, d.FileID)
		}
		byFile[d.FileID] = append(byFile[d.FileID], d)
	}
	return files, byFile
}
