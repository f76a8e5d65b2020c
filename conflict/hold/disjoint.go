package hold

import (
	"fmt"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// disjoint looks for ids in the live rows of the table's other files: those that are
// given, or all of the outputs. After an UPDATE the old copy of a row is still in its old
// file, deleted there, so deletes count.
func (e *examiner) disjoint(wanted []int64) ([]conflict.Violation, error) {
	if wanted == nil {
		all, err := e.collect(e.outputs, func(uint64) bool { return true })
		if err != nil {
			return nil, err
		}
		wanted = ids(all)
	}
	// Ids of transactions count from the same number in each.
	wanted = slices.DeleteFunc(slices.Compact(slices.Clone(wanted)), func(id int64) bool { return id >= localIDs })
	live, err := e.st.LiveFiles(e.c.Table.ID)
	if err != nil || len(wanted) == 0 {
		return nil, err
	}
	var found []conflict.Violation
	for i := range live {
		f := &live[i]
		if slices.ContainsFunc(e.sources, func(t table) bool { return t.id == f.ID }) {
			continue
		}
		t, err := e.other(f)
		if err != nil {
			return found, err
		}
		if t.ft, err = e.v.footerOf(e.ctx, t.file); err != nil {
			return found, e.blame(&t, t.file, err)
		}
		if t.ft.rows != t.records {
			return found, e.blame(&t, t.file, fmt.Errorf("%w: a file of %d rows that should have %d", ErrDamaged, t.ft.rows, t.records))
		}
		if !t.ft.embeds() && !t.started {
			continue
		}
		if lo, hi, ok := t.bounds(); ok && (lo > wanted[len(wanted)-1] || hi < wanted[0]) {
			continue
		}
		var shared []int64
		err = e.rows(&t, false, func(ids, _ []int64) error {
			for _, id := range ids {
				if _, ok := slices.BinarySearch(wanted, id); ok {
					shared = append(shared, id)
				}
			}
			return nil
		})
		if err != nil {
			return found, err
		}
		if len(shared) > 0 {
			slices.Sort(shared)
			found = append(found, conflict.RowIDsShared(e.c.Table, e.outputs[0].id, f.ID, shared))
		}
	}
	return found, nil
}

// other is a live file that the compaction leaves alone, with its deletes.
func (e *examiner) other(f *lake.DataFile) (table, error) {
	path, err := e.st.Path(e.c.Table.ID, f.Path, f.Relative)
	t := table{id: f.ID, file: dataFile(f, path), begin: f.Begin, start: f.RowIDStart, started: f.HasRowIDStart, records: f.Records}
	if err != nil {
		return t, err
	}
	pos, err := e.st.InlinedDeletes(e.c.Table.ID, f.ID)
	if err != nil {
		return t, err
	}
	pos = slices.Clone(pos)
	del, ok, err := e.st.LiveDelete(f.ID)
	if err != nil {
		return t, err
	}
	if ok {
		in := deleteFile(&del, "")
		if in.Path, err = e.st.Path(e.c.Table.ID, del.Path, del.Relative); err != nil {
			return t, err
		}
		more, err := e.v.DeletePositions(e.ctx, in)
		if err != nil {
			return t, e.blame(&t, in, err)
		}
		pos = append(pos, more...)
	}
	slices.Sort(pos)
	t.deleted = slices.Compact(pos)
	return t, nil
}
