package hold

import (
	"cmp"
	"slices"

	"github.com/eiderdb/eider/conflict"
)

// run is one output with a row-id start and the sources whose ids it continues.
type run struct {
	output  *Output
	sources []*Source
}

// metadata is tier 0: what the catalog's rows alone must say. It returns the outputs that
// number their rows by position, with their sources, for the shape rule.
func (c *Compaction) metadata() (runs []run, found []conflict.Violation) {
	if len(c.Sources) == 0 {
		for i := range c.Outputs {
			found = append(found, conflict.RowCount(c.Table, c.Outputs[i].ID, 0, c.Outputs[i].Records))
		}
		return nil, found
	}
	x := chains{c: c, taken: make([]bool, len(c.Sources))}
	rest := make([]*Output, 0, len(c.Outputs))
	for i := range c.Outputs {
		o := &c.Outputs[i]
		if !o.HasRowIDStart {
			rest = append(rest, o)
			continue
		}
		chain := x.take(o)
		if chain == nil {
			found = append(found, conflict.RowIDShape(c.Table, o.ID, "the ids of its sources do not follow one another"))
			rest = append(rest, o)
			continue
		}
		runs = append(runs, run{o, chain})
		found = append(found, c.dates([]*Output{o}, chain)...)
	}
	var free []*Source
	for i := range c.Sources {
		if !x.taken[i] {
			free = append(free, &c.Sources[i])
		}
	}
	var want, got int64
	for _, s := range free {
		want += s.survivors()
	}
	for _, o := range rest {
		got += o.Records
	}
	if want != got {
		id := c.Sources[0].ID
		if len(c.Outputs) > 0 {
			id = c.Outputs[0].ID
		}
		found = append(found, conflict.RowCount(c.Table, id, want, got))
	}
	return runs, append(found, c.dates(rest, free)...)
}

// chains finds sources whose ids run on from one another's.
type chains struct {
	c       *Compaction
	taken   []bool
	byStart []int // indexes of the sources that have ids by position and all their rows; made when first asked for
}

func (x *chains) start(i int) int64 { return x.c.Sources[x.byStart[i]].RowIDStart }

func (x *chains) index() {
	if x.byStart != nil {
		return
	}
	x.byStart = make([]int, 0, len(x.c.Sources))
	ordered := true
	for i := range x.c.Sources {
		if s := &x.c.Sources[i]; s.HasRowIDStart && s.Records > 0 && s.survivors() == s.Records {
			x.byStart = append(x.byStart, i)
			if n := len(x.byStart); n > 1 && x.start(n-2) > x.start(n-1) {
				ordered = false
			}
		}
	}
	if !ordered {
		slices.SortStableFunc(x.byStart, func(a, b int) int { return cmp.Compare(x.c.Sources[a].RowIDStart, x.c.Sources[b].RowIDStart) })
	}
}

// take finds the sources whose ids run on from the output's start and fill it, and takes
// them; nil when there are none.
func (x *chains) take(o *Output) []*Source {
	x.index()
	var chain []int
	// Starts only grow along a chain, so one search finds its beginning.
	at, _ := slices.BinarySearchFunc(x.byStart, o.RowIDStart, func(i int, start int64) int { return cmp.Compare(x.c.Sources[i].RowIDStart, start) })
	for next, left := o.RowIDStart, o.Records; left > 0; {
		for at < len(x.byStart) && x.start(at) < next {
			at++
		}
		found := -1
		for i := at; i < len(x.byStart) && x.start(i) == next; i++ {
			if j := x.byStart[i]; !x.taken[j] && x.c.Sources[j].Records <= left {
				found = j
				break
			}
		}
		if found < 0 {
			for _, j := range chain {
				x.taken[j] = false
			}
			return nil
		}
		x.taken[found] = true
		chain = append(chain, found)
		next += x.c.Sources[found].Records
		left -= x.c.Sources[found].Records
	}
	if len(chain) == 0 {
		return nil // an output without rows continues nothing
	}
	out := make([]*Source, len(chain))
	for i, j := range chain {
		out[i] = &x.c.Sources[j]
	}
	return out
}

// dates checks from when on the outputs are seen: a merge from when its first source was,
// a rewrite from the snapshot on that ends its sources.
func (c *Compaction) dates(outputs []*Output, sources []*Source) (found []conflict.Violation) {
	if len(sources) == 0 {
		return nil
	}
	first, newest := sources[0].Begin, int64(0)
	for _, s := range sources {
		first = min(first, s.Begin)
		newest = max(newest, s.Begin, s.PartialMax)
	}
	earliest, latest := int64(-1), int64(0)
	for _, o := range outputs {
		if earliest < 0 || o.Begin < earliest {
			earliest = o.Begin
		}
		latest = max(latest, o.PartialMax)
		if c.Kind == Rewrite && !slices.ContainsFunc(sources, func(s *Source) bool { return s.End == o.Begin }) {
			found = append(found, conflict.CompactionDated(c.Table, o.ID, o.Begin, sources[0].End))
		}
		if c.Kind == Merge && !slices.ContainsFunc(sources, func(s *Source) bool { return s.Begin == o.Begin }) {
			found = append(found, conflict.CompactionDated(c.Table, o.ID, o.Begin, first))
		}
	}
	if c.Kind == Merge && len(outputs) > 0 && len(found) == 0 {
		switch {
		case earliest != first:
			found = append(found, conflict.CompactionDated(c.Table, outputs[0].ID, earliest, first))
		case c.Dated && latest < newest:
			found = append(found, conflict.CompactionDated(c.Table, outputs[0].ID, latest, newest))
		}
	}
	return found
}
