package conflict

import (
	"github.com/eiderdb/eider/lake"
)

// scheduled: a file that is catalogued is not scheduled for deletion, and one that is
// scheduled is not taken off the list before it may be deleted.
func (k *checker) scheduled() error {
	for i := range k.Scheduled.Added {
		s := &k.Scheduled.Added[i]
		_, removes, err := k.removes(s)
		if err == nil && !removes {
			err = k.scheduledFile(s)
		}
		if err != nil {
			return err
		}
	}
	return k.unscheduled()
}

// goneFile is where a row that the commit removes has its file.
type goneFile struct {
	table    int64
	path     string
	relative bool
}

// removes says whether the commit removes the row of the file that it schedules, as
// DuckLake's own statements do, and returns the path in that row. Other rows have the path only where a client has registered
// the file twice, see stillNamed.
func (k *checker) removes(s *lake.Scheduled) (path string, ok bool, err error) {
	if k.gone == nil {
		k.gone = make(map[int64][]goneFile, len(k.DataFiles.Removed)+len(k.DeleteFiles.Removed))
		for i := range k.DataFiles.Removed {
			f := &k.DataFiles.Removed[i]
			k.gone[f.ID] = append(k.gone[f.ID], goneFile{f.TableID, f.Path, f.Relative})
		}
		for i := range k.DeleteFiles.Removed {
			d := &k.DeleteFiles.Removed[i]
			k.gone[d.ID] = append(k.gone[d.ID], goneFile{d.TableID, d.Path, d.Relative})
		}
	}
	for _, g := range k.gone[s.ID] {
		if ok, err := k.loose().Is(g.table, g.path, g.relative, *s); ok || err != nil {
			return g.path, ok, err
		}
	}
	return "", false, nil
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
	table, ok, err := k.paths.Named(*s)
	if ok {
		k.add(ScheduledLive(k.ref(table), s.Path))
	}
	return err
}

// notScheduled: a new row does not name a file that somebody is about to delete: whoever
// has read the schedule already would delete it all the same. registered is said of files
// that a client has registered itself.
func (k *checker) notScheduled(t TableRef, path string, relative, registered bool) error {
	due, err := k.paths.scheduled(t.ID, path, relative, registered)
	if due {
		k.add(FileScheduled(t, path))
	}
	return err
}

// unscheduled: rows leave the schedule when their file may be deleted. A row also goes
// when the path stays in another one.
func (k *checker) unscheduled() error {
	if k.Fence == nil {
		return nil
	}
	gone := k.Scheduled.Removed
	for _, e := range k.Scheduled.Changed {
		if e.Before.Path != e.After.Path || e.Before.Relative != e.After.Relative {
			gone = append(gone[:len(gone):len(gone)], e.Before)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	why, err := k.Fence.Early(k.Ctx, gone)
	if err != nil {
		return err
	}
	for i, w := range why {
		if w == "" {
			continue
		}
		left, err := k.Is.ScheduledAt(gone[i].Path)
		if err != nil {
			return err
		}
		if !samePlace(left, gone[i]) {
			k.add(ScheduleEarly(gone[i].Path, w))
		}
	}
	return nil
}

func samePlace(list []lake.Scheduled, s lake.Scheduled) bool {
	for _, o := range list {
		if o.Relative == s.Relative {
			return true
		}
	}
	return false
}

// unschedule finds rows that a commit adds to the schedule and that it must not: those of
// files that another row still names, and the second one for a path. Whether the file is
// named comes first: a row that stayed for a named file would give it the time of this
// commit, however long it is read on.
func (k *checker) unschedule() (out []Amendment, err error) {
	removed := map[place]string{} // the path in a row of the file that the commit removes
	seen := map[place]bool{}
	var order []*lake.Scheduled
	for i := range k.Scheduled.Added {
		s := &k.Scheduled.Added[i]
		at := place{s.Path, s.Relative}
		if !seen[at] {
			seen[at], order = true, append(order, s)
		}
		if _, ok := removed[at]; ok {
			continue
		}
		path, ok, err := k.removes(s)
		if err != nil {
			return nil, err
		}
		if ok {
			removed[at] = path
		}
	}
	for _, s := range order {
		// One by hand is refused if its file is named, see scheduled.
		if path, ok := removed[place{s.Path, s.Relative}]; ok {
			named, err := k.stillNamed(s, path)
			if err != nil {
				return nil, err
			}
			if named {
				out = append(out, Amendment{Unschedule: s})
				continue
			}
		}
		rows, err := k.Is.ScheduledAt(s.Path)
		if err != nil {
			return nil, err
		}
		n := 0
		for _, o := range rows {
			if o.Relative == s.Relative {
				n++
			}
		}
		if n > 1 {
			out = append(out, Amendment{Unschedule: s, Twice: true})
		}
	}
	return out, nil
}

// stillNamed says whether a row names a file after the commit has removed another one that
// does: add_data_files registers a file as often as it is told to.
//
// It reads what is not watched, or every insert beside an expiry would make it look again.
// A row that comes to name the file at the same time finds it scheduled if it commits later,
// and is refused. If it was earlier, the file is on the list and has a row: nobody who
// deletes files takes one that a row of the newest state names (Fence.Early), and the row
// stays on the list for the time when that one goes, too.
//
// Of a file that DuckLake has written it asks for rows with the path of the removed one, and
// for such as a client has registered. A row that has it otherwise, because the folder of its
// table is above the other's, is found by those who delete.
func (k *checker) stillNamed(s *lake.Scheduled, path string) (ok bool, err error) {
	if s.Relative {
		_, ok, err = k.loose().namedAs(*s, path)
	} else {
		_, ok, err = k.loose().Named(*s)
	}
	return ok, err
}
