package hold

import (
	"cmp"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// Shift is a new data file whose row-id start moves up.
type Shift struct {
	File, By int64
}

// TableGaps are the shifts of one table's new files. The table's counter moves by Next.
type TableGaps struct {
	Table  int64
	Shifts []Shift
	Next   int64
}

// Gaps leaves a row id out between new data files where the client must not take two of
// them for one run of ids. Its planner writes row ids in a merge only where the starts and
// counts of the files do not meet, so a gap of one is enough to make it write them: for
// files of a table with a sort order, which a merge sorts, and for files that may have
// their rows' ids inside when nobody can look. Nobody has seen the new rows' ids yet, so
// they may be any that are free.
//
// unsure says of a file that its layout is not known. A commit that also adds inlined rows
// to the table is left alone: their ids run on from those of the files.
func Gaps(b *conflict.Batch, set *conflict.ChangeSet, st State, unsure func(f *lake.DataFile) bool) ([]TableGaps, error) {
	if _, ok := b.Snapshot(); !ok {
		return nil, nil
	}
	var out []TableGaps
	for i := range set.Tables {
		t := &set.Tables[i]
		if !t.Ops.Has(conflict.OpInsertFile) || t.Ops.Has(conflict.OpInsertInline|conflict.OpMerge|conflict.OpRewrite|conflict.OpFlushRows) {
			continue
		}
		if gapped(b, t.ID) {
			continue
		}
		sorted, err := st.Sorted(t.ID)
		if err != nil {
			return nil, err
		}
		var added []*lake.DataFile
		for i := range b.DataFiles.Added {
			if f := &b.DataFiles.Added[i]; f.TableID == t.ID && f.HasRowIDStart {
				added = append(added, f)
			}
		}
		slices.SortFunc(added, func(a, b *lake.DataFile) int {
			return cmp.Or(cmp.Compare(a.RowIDStart, b.RowIDStart), cmp.Compare(a.ID, b.ID))
		})
		g := TableGaps{Table: t.ID}
		after := false // the file before must not be run on from
		for _, f := range added {
			u := unsure(f)
			if (sorted || u || after) && f.RowIDStart > 0 { // before the first id there is no other file's
				g.Next++
			}
			if after = u; g.Next > 0 {
				g.Shifts = append(g.Shifts, Shift{f.ID, g.Next})
			}
		}
		if after {
			g.Next++
		}
		if g.Next > 0 {
			out = append(out, g)
		}
	}
	return out, nil
}

// gapped says whether a table's new files have got their gaps, as those of a commit that is
// looked at again: its counter has moved by more than their rows.
func gapped(b *conflict.Batch, table int64) bool {
	var rows int64
	for i := range b.DataFiles.Added {
		if f := &b.DataFiles.Added[i]; f.TableID == table {
			rows += f.Records
		}
	}
	for i := range b.TableStats.Changed {
		if e := &b.TableStats.Changed[i]; e.After.TableID == table {
			return e.After.NextRowID-e.Before.NextRowID > rows
		}
	}
	for i := range b.TableStats.Added {
		if s := &b.TableStats.Added[i]; s.TableID == table {
			return s.NextRowID > rows
		}
	}
	return false
}
