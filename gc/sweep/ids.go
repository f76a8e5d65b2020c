package sweep

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/lake"
)

// Range is the ids from First to Last, both of them.
type Range struct{ First, Last int64 }

// IDs is a set of ids, kept as ranges: a lake's snapshots are few of them, however many
// snapshots there are. The zero value is the empty set.
type IDs struct {
	runs  []Range // sorted, not touching, unless dirty
	dirty bool
}

// NewIDs makes a set of ids.
func NewIDs(ids ...int64) *IDs {
	s := &IDs{}
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// Add adds an id. Ids that come in ascending order cost nothing.
func (s *IDs) Add(id int64) { s.AddRange(Range{id, id}) }

// AddRange adds the ids of a range.
func (s *IDs) AddRange(r Range) {
	if r.First > r.Last {
		return
	}
	if n := len(s.runs); n > 0 {
		last := &s.runs[n-1]
		if r.First >= last.First && (r.First <= last.Last || r.First-1 == last.Last) {
			last.Last = max(last.Last, r.Last)
			return
		}
		s.dirty = s.dirty || r.First < last.First
	}
	s.runs = append(s.runs, r)
}

// sorted are the ranges in order.
func (s *IDs) sorted() []Range {
	if !s.dirty {
		return s.runs
	}
	slices.SortFunc(s.runs, func(a, b Range) int {
		if a.First < b.First {
			return -1
		} else if a.First > b.First {
			return 1
		}
		return 0
	})
	out := s.runs[:0]
	for _, r := range s.runs {
		if n := len(out); n > 0 && (r.First <= out[n-1].Last || r.First-1 == out[n-1].Last) {
			out[n-1].Last = max(out[n-1].Last, r.Last)
		} else {
			out = append(out, r)
		}
	}
	s.runs, s.dirty = out, false
	return out
}

// Ranges are the set's ranges in ascending order. They must not be changed.
func (s *IDs) Ranges() []Range { return s.sorted() }

// Any says whether the set has an id with first ≤ id ≤ last.
func (s *IDs) Any(first, last int64) bool {
	runs := s.sorted()
	i := sort.Search(len(runs), func(i int) bool { return runs[i].Last >= first })
	return i < len(runs) && first <= last && runs[i].First <= last
}

// Has says whether an id is in the set.
func (s *IDs) Has(id int64) bool { return s.Any(id, id) }

// Len is the number of ids.
func (s *IDs) Len() (n int64) {
	for _, r := range s.sorted() {
		n += r.Last - r.First + 1
	}
	return n
}

// Max is the largest id; ok is false for the empty set.
func (s *IDs) Max() (id int64, ok bool) {
	runs := s.sorted()
	if len(runs) == 0 {
		return 0, false
	}
	return runs[len(runs)-1].Last, true
}

// FromTop is the id that n ids of the set are larger than; ok is false when there are not
// so many.
func (s *IDs) FromTop(n int64) (id int64, ok bool) {
	runs := s.sorted()
	for i := len(runs) - 1; i >= 0; i-- {
		size := runs[i].Last - runs[i].First + 1
		if n < size {
			return runs[i].Last - n, true
		}
		n -= size
	}
	return 0, false
}

// And are the ids that are in both sets.
func (s *IDs) And(o *IDs) *IDs {
	out := &IDs{}
	a, b := s.sorted(), o.sorted()
	for i, j := 0, 0; i < len(a) && j < len(b); {
		out.AddRange(Range{max(a[i].First, b[j].First), min(a[i].Last, b[j].Last)})
		if a[i].Last < b[j].Last {
			i++
		} else {
			j++
		}
	}
	return out
}

// Without are the ids of s that are not in o.
func (s *IDs) Without(o *IDs) *IDs {
	out := &IDs{}
	b := o.sorted()
	j := 0
	for _, r := range s.sorted() {
		for j < len(b) && b[j].Last < r.First {
			j++
		}
		left := true
		for k := j; left && k < len(b) && b[k].First <= r.Last; k++ {
			if b[k].First > r.First {
				out.AddRange(Range{r.First, b[k].First - 1})
			}
			if left = b[k].Last < r.Last; left {
				r.First = b[k].Last + 1
			}
		}
		if left {
			out.AddRange(r)
		}
	}
	return out
}

// IDsOf are the ids of an integer column of a table.
func IDsOf(ctx context.Context, t meta.Table, column string) (*IDs, error) {
	id, out := t.Column(column), &IDs{}
	err := t.Scan(ctx, func(x *meta.Row) error {
		if n, ok := id.Int(x); ok {
			out.Add(n)
		}
		return nil
	})
	return out, err
}

// Kept are the snapshots of a lake, and all that may come: later transactions see rows of
// snapshots that this one does not. ok is false for a lake without snapshots.
func Kept(ctx context.Context, l meta.Lake) (ids *IDs, ok bool, err error) {
	if ids, err = IDsOf(ctx, l.Table(meta.SnapshotTable), "snapshot_id"); err != nil {
		return nil, false, err
	}
	head, ok := ids.Max()
	if ok {
		ids.AddRange(Range{head + 1, math.MaxInt64})
	}
	return ids, ok, nil
}

// Dead says whether a row has ended and no snapshot of a set sees it.
func Dead(s lake.Span, kept *IDs) bool { return s.Ended && !kept.Any(s.Begin, s.End-1) }
