package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/internal/nearest"
)

// sort finds the levels, or a circle.
func (g *Graph) sort() {
	waits := make([]int, len(g.scripts))
	var level []int
	for i := range g.scripts {
		if waits[i] = len(g.prev[i]); waits[i] == 0 {
			level = append(level, i)
		}
	}
	done := 0
	for len(level) > 0 {
		slices.Sort(level)
		g.levels = append(g.levels, level)
		done += len(level)
		var next []int
		for _, i := range level {
			for _, j := range g.next[i] {
				if waits[j]--; waits[j] == 0 {
					next = append(next, j)
				}
			}
		}
		level = next
	}
	if done < len(g.scripts) {
		g.cycle = g.circle(waits)
	}
}

// circle names one among the scripts that still wait: script, asset, script, … and the
// first one again. It is a shortest one from the first script that is in any.
func (g *Graph) circle(waits []int) []string {
	for start := range g.scripts {
		if waits[start] == 0 {
			continue
		}
		from := map[int]int{}
		queue := []int{start}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, j := range g.next[i] {
				if j == start {
					return g.nameCircle(start, i, from)
				}
				if _, seen := from[j]; !seen && waits[j] > 0 {
					from[j] = i
					queue = append(queue, j)
				}
			}
		}
	}
	return nil
}

func (g *Graph) nameCircle(start, last int, from map[int]int) []string {
	path := []int{start}
	for i := last; i != start; i = from[i] {
		path = append(path, i)
	}
	path = append(path, start)
	slices.Reverse(path)
	out := []string{g.scripts[start].Name}
	for k := 1; k < len(path); k++ {
		out = append(out, g.between(path[k-1], path[k]), g.scripts[path[k]].Name)
	}
	return out
}

// between is the first asset by which one script feeds another.
func (g *Graph) between(from, to int) string {
	var via []string
	t := &g.scripts[to]
	for _, w := range g.scripts[from].Writes {
		if slices.Contains(t.Reads, w) || slices.Contains(t.waitsFor(), w) {
			via = append(via, w)
		}
	}
	slices.Sort(via)
	return via[0]
}

// Cycle names scripts that feed each other in a circle, and the assets between them: the
// first and the last name are the same. It is nil when there is none.
func (g *Graph) Cycle() []string { return slices.Clone(g.cycle) }

// Levels gives the names of the scripts so that each is in a later level than all that feed
// it, and no later than it must be; by name within a level.
func (g *Graph) Levels() ([][]string, error) {
	if g.cycle != nil {
		return nil, fmt.Errorf("%w: %s", ErrCycle, Clean(strings.Join(g.cycle, " → ")))
	}
	out := make([][]string, len(g.levels))
	for i, level := range g.levels {
		for _, s := range level {
			out[i] = append(out[i], g.scripts[s].Name)
		}
	}
	return out, nil
}

// Order gives the names of the scripts, those that feed before those that are fed.
func (g *Graph) Order() ([]string, error) {
	levels, err := g.Levels()
	if err != nil {
		return nil, err
	}
	return slices.Concat(levels...), nil
}

// Select gives the scripts that the selectors stand for together, in the order of runs. A
// selector is a script's name, "tag:" and a tag, or an asset, which stands for the scripts
// that write it; "+" before it adds what feeds those, "+" after it what they feed. An asset
// that no script writes stands for nothing itself; with "+" after it, for its readers and
// what they feed.
func (g *Graph) Select(selectors []string) ([]string, error) {
	chosen := map[int]bool{}
	for _, sel := range selectors {
		if err := g.choose(sel, chosen); err != nil {
			return nil, err
		}
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(order, func(name string) bool { return !chosen[g.byName[name]] }), nil
}

func (g *Graph) choose(sel string, to map[int]bool) error {
	name, up := strings.CutPrefix(sel, "+")
	name, down := strings.CutSuffix(name, "+")
	seeds, downOnly := g.named(name)
	if !down {
		downOnly = nil
	}
	if len(seeds)+len(downOnly) == 0 {
		return fmt.Errorf("%w: %s is no script, no tag:NAME with scripts and no asset that a script writes%s", ErrSelector, Clean(sel), g.near(name))
	}
	for _, i := range seeds {
		to[i] = true
	}
	if up {
		g.spread(seeds, g.prev, to)
	}
	if down {
		g.spread(append(seeds, downOnly...), g.next, to)
		for _, i := range downOnly {
			to[i] = true
		}
	}
	return nil
}

// named gives the scripts of a selector without its plus signs, and those that read the
// source which it names.
func (g *Graph) named(name string) (scripts, readers []int) {
	tag, isTag := strings.CutPrefix(name, "tag:")
	for i := range g.scripts {
		s := &g.scripts[i]
		switch {
		case s.Name == name, isTag && slices.Contains(s.Tags, tag), slices.Contains(s.Writes, name):
			scripts = append(scripts, i)
		case len(g.writers[name]) == 0 && (slices.Contains(s.Reads, name) || slices.Contains(s.waitsFor(), name)):
			readers = append(readers, i)
		}
	}
	return scripts, readers
}

func (g *Graph) spread(from []int, along [][]int, to map[int]bool) {
	stack, seen := slices.Clone(from), map[int]bool{}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range along[i] {
			if !seen[j] {
				seen[j], to[j] = true, true
				stack = append(stack, j)
			}
		}
	}
}

// near proposes what may have been meant.
func (g *Graph) near(name string) string {
	for _, s := range g.scripts {
		if base := s.Name[strings.LastIndex(s.Name, "/")+1:]; base == name || strings.EqualFold(s.Name, name) || strings.TrimSuffix(name, ".sql") == s.Name {
			return "; did you mean " + Clean(s.Name) + "?"
		}
	}
	var known []string
	for _, s := range g.scripts {
		known = append(append(known, s.Name), s.Writes...)
		for _, tag := range s.Tags {
			known = append(known, "tag:"+tag)
		}
	}
	if near := nearest.Of(name, known); near != "" {
		return "; did you mean " + Clean(near) + "?"
	}
	return ""
}
