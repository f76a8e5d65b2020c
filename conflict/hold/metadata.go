package hold

import (
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
	taken := make(map[*Source]bool, len(c.Sources))
	byStart := make(map[int64][]*Source, len(c.Sources))
	for i := range c.Sources {
		if s := &c.Sources[i]; s.HasRowIDStart && s.Records > 0 && s.survivors() == s.Records {
			byStart[s.RowIDStart] = append(byStart[s.RowIDStart], s)
		}
	}
	var rest []*Output
	for i := range c.Outputs {
		o := &c.Outputs[i]
		if !o.HasRowIDStart {
			rest = append(rest, o)
			continue
		}
		chain := chainOf(o, byStart, taken)
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
		if s := &c.Sources[i]; !taken[s] {
			free = append(free, s)
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

// chainOf finds the sources whose ids run on from the output's start and fill it, and
// takes them.
func chainOf(o *Output, byStart map[int64][]*Source, taken map[*Source]bool) []*Source {
	var chain []*Source
	for next, left := o.RowIDStart, o.Records; left > 0; {
		var s *Source
		for _, x := range byStart[next] {
			if !taken[x] && x.Records <= left {
				s = x
				break
			}
		}
		if s == nil {
			for _, x := range chain {
				delete(taken, x)
			}
			return nil
		}
		taken[s] = true
		chain = append(chain, s)
		next += s.Records
		left -= s.Records
	}
	return chain
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
