package graph

import (
	"slices"

	"github.com/eiderdb/eider/materialize/lineage"
)

// cleaned is the graph of the same scripts with clean texts, for documents: the names in
// their data are then those in their pictures. Names that only differ in what Clean takes
// away are an error.
func (g *Graph) cleaned() (*Graph, error) {
	scripts := slices.Clone(g.scripts)
	for i := range scripts {
		s := &scripts[i]
		for _, text := range []*string{&s.Name, &s.File, &s.Comment, &s.Partition, &s.Strategy, &s.Freshness, &s.Schedule, &s.Status.Error} {
			*text = Clean(*text)
		}
		s.Status.State = State(Clean(string(s.Status.State)))
		for _, texts := range []*[]string{&s.Writes, &s.Reads, &s.Tags, &s.Tests} {
			*texts = cleanAll(*texts)
		}
		s.Triggers = slices.Clone(s.Triggers)
		for k, t := range s.Triggers {
			s.Triggers[k] = Trigger{Asset: Clean(t.Asset), Native: Clean(t.Native)}
		}
		s.Columns = slices.Clone(s.Columns)
		for k, c := range s.Columns {
			c.Name = Clean(c.Name)
			c.From = slices.Clone(c.From)
			for j, f := range c.From {
				c.From[j] = lineage.AssetRef{Asset: Clean(f.Asset), Column: Clean(f.Column)}
			}
			s.Columns[k] = c
		}
	}
	return New(scripts)
}

func cleanAll(texts []string) []string {
	out := slices.Clone(texts)
	for i := range out {
		out[i] = Clean(out[i])
	}
	return out
}
