package conflict

import (
	"strings"

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
		place, err := k.location(f.TableID, f.Path, f.Relative)
		if err != nil {
			return err
		}
		due, err := k.Is.ScheduledAt(place.path)
		if err != nil {
			return err
		}
		for _, s := range due {
			if s.Relative == place.relative {
				k.add(FileScheduled(ref, f.Path))
				break
			}
		}
	}
	if all && again >= 0 {
		// A commit whose acknowledgement was lost comes with the same files again.
		f := &k.DataFiles.Added[0]
		k.found = append([]Violation{CommittedAlready(k.ref(f.TableID), f.Path, again)}, k.found...)
	}
	for i := range k.DeleteFiles.Added {
		if d := &k.DeleteFiles.Added[i]; d.Count < 0 {
			k.add(NegativeCount(k.ref(d.TableID), "ducklake_delete_file", "delete_count", d.Count))
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

// place is where a file is: relative to the lake's data path, or absolute.
type place struct {
	path     string
	relative bool
}

// location resolves the path of a file of a table.
func (k *checker) location(table int64, path string, relative bool) (place, error) {
	if !relative {
		return place{path, false}, nil
	}
	p, ok := k.folders[table]
	if !ok {
		var err error
		if p, err = k.folder(table); err != nil {
			return p, err
		}
		if k.folders == nil {
			k.folders = make(map[int64]place)
		}
		k.folders[table] = p
	}
	return place{p.path + path, p.relative}, nil
}

// folder is where a table's files are.
func (k *checker) folder(table int64) (place, error) {
	tables, err := k.Is.Table(table)
	if err != nil || len(tables) == 0 {
		return place{"", true}, err
	}
	t := tables[len(tables)-1]
	if !t.Relative {
		return place{t.Path, false}, nil
	}
	schemas, err := k.Is.Schema(t.SchemaID)
	if err != nil || len(schemas) == 0 {
		return place{t.Path, true}, err
	}
	s := schemas[len(schemas)-1]
	return place{s.Path + t.Path, s.Relative}, nil
}

func (k *checker) absolute(p place) (string, error) {
	if !p.relative {
		return p.path, nil
	}
	base, err := k.Is.DataPath()
	return base + p.path, err
}

// scheduled: a file that is catalogued is not scheduled for deletion.
func (k *checker) scheduled() error {
	for i := range k.Scheduled.Added {
		s := &k.Scheduled.Added[i]
		if k.removes(s) {
			continue
		}
		if err := k.scheduledFile(s); err != nil {
			return err
		}
	}
	return nil
}

// removes says whether the commit removes the row of the file that it schedules, as
// DuckLake's own statements do. No other row has the path then.
func (k *checker) removes(s *lake.Scheduled) bool {
	for i := range k.DataFiles.Removed {
		if f := &k.DataFiles.Removed[i]; f.ID == s.ID && strings.HasSuffix(s.Path, f.Path) {
			return true
		}
	}
	for i := range k.DeleteFiles.Removed {
		if d := &k.DeleteFiles.Removed[i]; d.ID == s.ID && strings.HasSuffix(s.Path, d.Path) {
			return true
		}
	}
	return false
}

func (k *checker) scheduledFile(s *lake.Scheduled) error {
	// The row of a live file is not copied either, although its path, which is relative to
	// the table, then names no file of the lake: the next writer means the file.
	if f, ok, err := k.Is.DataFile(s.ID); err != nil {
		return err
	} else if ok && !f.Ended && f.Path == s.Path {
		k.add(ScheduledLive(k.ref(f.TableID), s.Path))
		return nil
	}
	want, err := k.absolute(place{s.Path, s.Relative})
	if err != nil {
		return err
	}
	hit := func(table int64, path string, relative bool) (bool, error) {
		p, err := k.location(table, path, relative)
		if err != nil {
			return false, err
		}
		full, err := k.absolute(p)
		if err != nil || full != want {
			return false, err
		}
		k.add(ScheduledLive(k.ref(table), s.Path))
		return true, nil
	}
	// A row's path is an end of the whole path, cut at a slash.
	for rest := want; ; {
		files, err := k.Is.DataFilesAt(rest)
		if err != nil {
			return err
		}
		for _, f := range files {
			if done, err := hit(f.TableID, f.Path, f.Relative); done || err != nil {
				return err
			}
		}
		deletes, err := k.Is.DeleteFilesAt(rest)
		if err != nil {
			return err
		}
		for _, d := range deletes {
			if done, err := hit(d.TableID, d.Path, d.Relative); done || err != nil {
				return err
			}
		}
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return nil
		}
		rest = rest[i+1:]
	}
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
