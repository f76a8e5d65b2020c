package meta

// rehearsal is what has been removed in a rehearsal.
type rehearsal struct {
	rows   map[string]*rowSet // by table
	tables map[string]bool
}

// rowSet is a set of row ids, 64 of them in a word: what a job removes lies close together,
// and the set of millions of rows is small.
type rowSet struct{ words map[uint64]uint64 }

func (s *rowSet) add(id uint64) { s.words[id/64] |= 1 << (id % 64) }

func (s *rowSet) has(id uint64) bool { return s != nil && s.words[id/64]>>(id%64)&1 != 0 }

// Rehearse returns the lake for finding out what a job would do: what is removed and dropped
// is gone for whoever reads by the Lake that is returned, and nothing is written. What is
// inserted or updated is checked and forgotten. Distinct still lists values of removed rows.
func (l Lake) Rehearse() Lake {
	l.dry = &rehearsal{rows: map[string]*rowSet{}, tables: map[string]bool{}}
	return l
}

// Rehearsal says whether the lake is one that Rehearse has returned.
func (l Lake) Rehearsal() bool { return l.dry != nil }

// of are the removed rows of a table. It is not nil.
func (r *rehearsal) of(table string) *rowSet {
	s := r.rows[table]
	if s == nil {
		s = &rowSet{words: map[uint64]uint64{}}
		r.rows[table] = s
	}
	return s
}
