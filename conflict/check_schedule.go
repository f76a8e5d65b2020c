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

// removes says whether the commit removes the row of the file that it schedules, as
// DuckLake's own statements do, and returns the path in that row. Other rows have the path
// only where a client has registered the file twice, see stillNamed.
func (k *checker) removes(s *lake.Scheduled) (path string, ok bool, err error) {
	for i := range k.DataFiles.Removed {
		if f := &k.DataFiles.Removed[i]; f.ID == s.ID {
			if ok, err := k.paths.Is(f.TableID, f.Path, f.Relative, *s); ok || err != nil {
				return f.Path, ok, err
			}
		}
	}
	for i := range k.DeleteFiles.Removed {
		if d := &k.DeleteFiles.Removed[i]; d.ID == s.ID {
			if ok, err := k.paths.Is(d.TableID, d.Path, d.Relative, *s); ok || err != nil {
				return d.Path, ok, err
			}
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
// has read the schedule already would delete it all the same.
func (k *checker) notScheduled(t TableRef, path string, relative bool) error {
	at, err := k.paths.location(t.ID, path, relative)
	if err != nil {
		return err
	}
	due, err := k.Is.ScheduledAt(at.path)
	for _, s := range due {
		if s.Relative == at.relative {
			k.add(FileScheduled(t, path))
			break
		}
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

// unschedule finds rows that a commit adds to the schedule and that it must not: the
// second one for a path, and those of files that another row still names.
func (k *checker) unschedule() (out []Amendment, err error) {
	seen := map[place]bool{}
	for i := range k.Scheduled.Added {
		s := &k.Scheduled.Added[i]
		at := place{s.Path, s.Relative}
		if seen[at] {
			continue
		}
		seen[at] = true
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
			continue
		}
		path, ok, err := k.removes(s)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue // by hand: it is refused, see scheduled
		}
		named, err := k.stillNamed(s, path)
		if err != nil {
			return nil, err
		}
		if named {
			out = append(out, Amendment{Unschedule: s})
		}
	}
	return out, nil
}

// stillNamed says whether a row names a file after the commit has removed another one that
// does: add_data_files registers a file as often as it is told to.
func (k *checker) stillNamed(s *lake.Scheduled, path string) (bool, error) {
	files, err := k.Is.DataFilesAt(path)
	if err != nil || len(files) == 0 {
		return false, err
	}
	_, ok, err := k.paths.Named(*s)
	return ok, err
}
