package conflict

import (
	"github.com/eiderdb/eider/lake"
)

// files: a data file belongs to a live table and is catalogued once.
func (k *checker) files() error {
	again, all := int64(-1), true // the snapshot that has all added paths already
	for i := range k.DataFiles.Added {
		f := &k.DataFiles.Added[i]
		ref := TableRef{ID: f.TableID}
		if f.Records < 0 {
			k.add(NegativeCount(k.ref(f.TableID), "ducklake_data_file", "record_count", f.Records))
		}
		if f.Size < 0 {
			k.add(NegativeCount(k.ref(f.TableID), "ducklake_data_file", "file_size_bytes", f.Size))
		}
		if !f.Ended {
			live, err := k.tableLive(f.TableID)
			if err != nil {
				return err
			}
			// A client that writes to a table and then drops it leaves the file's row live.
			if !live && !k.endsTable(f.TableID) {
				k.add(DeadReference(k.ref(f.TableID), "data file", f.ID, "table", f.TableID))
			}
		}
		at, err := k.pathTaken(f)
		if err != nil {
			return err
		}
		if all = all && at >= 0 && (again < 0 || again == at); all {
			again = at
		}
		if err := k.notScheduled(ref, f.Path, f.Relative, f.HasMapping); err != nil {
			return err
		}
	}
	if all && again >= 0 {
		// A commit whose acknowledgement was lost comes with the same files again.
		f := &k.DataFiles.Added[0]
		k.found = append([]Violation{CommittedAlready(k.ref(f.TableID), f.Path, again)}, k.found...)
	}
	for i := range k.DeleteFiles.Added {
		d := &k.DeleteFiles.Added[i]
		if d.Count < 0 {
			k.add(NegativeCount(k.ref(d.TableID), "ducklake_delete_file", "delete_count", d.Count))
		}
		if err := k.notScheduled(TableRef{ID: d.TableID}, d.Path, d.Relative, false); err != nil {
			return err
		}
	}
	return k.droppedRows()
}

// pathTaken looks for another row with the path of a new file. Files that a client
// registers itself (they have a name mapping) may be registered twice on purpose. It
// returns the snapshot in which that row began, or -1.
func (k *checker) pathTaken(f *lake.DataFile) (int64, error) {
	if f.HasMapping {
		return -1, nil
	}
	same, err := k.Is.DataFilesAt(f.Path)
	if err != nil {
		return -1, err
	}
	for _, o := range same {
		if o.ID == f.ID || o.Relative != f.Relative || (f.Relative && o.TableID != f.TableID) {
			continue
		}
		k.add(PathTaken(k.ref(f.TableID), f.Path, o.ID))
		return o.Begin, nil
	}
	return -1, nil
}

// droppedRows: live inlined rows leave their relation only into a data file.
func (k *checker) droppedRows() error {
	for i := range k.InlinedRows {
		in := &k.InlinedRows[i]
		n := 0
		for j := range in.Removed {
			if !in.Removed[j].Ended {
				n++
			}
		}
		if n == 0 {
			continue
		}
		flushed := false
		for j := range k.DataFiles.Added {
			flushed = flushed || k.DataFiles.Added[j].TableID == in.TableID
		}
		live, err := k.tableLive(in.TableID)
		if err != nil {
			return err
		}
		if live && !flushed {
			k.add(RowsDropped(k.ref(in.TableID), in.Relation, n))
		}
	}
	return nil
}

// statistics: counts are not negative, and there is one row for each table and column.
func (k *checker) statistics() error {
	each(&k.TableStats, func(s lake.TableStats) {
		for _, c := range []struct {
			column string
			value  int64
		}{{"record_count", s.Records}, {"next_row_id", s.NextRowID}, {"file_size_bytes", s.Size}} {
			if c.value < 0 {
				k.add(NegativeCount(k.ref(s.TableID), "ducklake_table_stats", c.column, c.value))
			}
		}
	})
	for i := range k.TableStats.Added {
		id := k.TableStats.Added[i].TableID
		rows, err := k.Is.TableStats(id)
		if err != nil {
			return err
		}
		if len(rows) > 1 {
			k.add(TwoLive(k.ref(id), "statistics of table", id))
		}
	}
	seen := map[int64]bool{}
	for i := range k.ColumnStats.Added {
		id := k.ColumnStats.Added[i].TableID
		if seen[id] {
			continue
		}
		seen[id] = true
		rows, err := k.Is.ColumnStats(id)
		if err != nil {
			return err
		}
		columns := map[int64]bool{}
		for _, r := range rows {
			if columns[r.ColumnID] {
				k.add(TwoLive(k.ref(id), "statistics of column", r.ColumnID))
				break
			}
			columns[r.ColumnID] = true
		}
	}
	return nil
}
