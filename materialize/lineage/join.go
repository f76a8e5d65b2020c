package lineage

import "slices"

func (a *analysis) join(t object, e env) ([]relation, []col) {
	leftRels, left := a.from(t.object("left"), e)
	// The right side may name columns of the left one.
	rightRels, right := a.from(t.object("right"), env{&scope{parent: e.outer, ctes: e.ctes, rels: leftRels, cols: left}, e.ctes})
	both := &scope{
		parent: e.outer, ctes: e.ctes, rels: slices.Concat(leftRels, rightRels), cols: slices.Concat(left, right),
	}
	a.spend(len(both.cols) + len(both.rels))
	a.visit(t["condition"], both)
	kind, using := t.text("join_type"), t.texts("using_columns")
	if kind == "SEMI" || kind == "ANTI" {
		return leftRels, left
	}
	if t.text("ref_type") == "NATURAL" {
		if open(left) || open(right) {
			return both.rels, naturalUnknown(left, right, kind)
		}
		for _, c := range left {
			if known, _ := find(right, c.name); c.name != "" && known != nil {
				using = append(using, c.name)
			}
		}
	}
	return both.rels, merge(left, right, using, kind)
}

// merge gives the columns of a join: those of USING once, in the left side's place.
func merge(left, right []col, using []string, kind string) []col {
	if len(using) == 0 {
		return slices.Concat(left, right)
	}
	var added []col
	out := slices.Clone(left)
	rest := slices.Clone(right)
	for _, name := range using {
		l, r := side(left, name), side(right, name)
		v := l
		switch kind {
		case "RIGHT":
			v = r
		case "FULL":
			v = l.and(r)
		}
		if i := index(out, name); i >= 0 {
			out[i].val = v
		} else {
			added = append(added, col{name: name, val: v})
		}
		if i := index(rest, name); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	for _, cols := range [][]col{out, rest} {
		for i := range cols {
			if cols[i].star != nil {
				cols[i].star = cols[i].star.without(using...)
			}
		}
	}
	return slices.Concat(added, out, rest)
}

// side is what the column of that name is made of on one side of a join.
func side(cols []col, name string) value {
	known, maybe := find(cols, name)
	switch {
	case known != nil:
		return known.val
	case len(maybe) == 1:
		return maybe[0].as(name)
	}
	return unknown
}

func index(cols []col, name string) int {
	return slices.IndexFunc(cols, func(c col) bool { return c.star == nil && c.name != "" && fold(c.name) == fold(name) })
}

// naturalUnknown gives the columns of a natural join of which it is not known what it
// joins by. If all columns of the left side are known, those are the left side's, and what
// has another name the right side's, unless the join makes rows without a left side.
func naturalUnknown(left, right []col, kind string) []col {
	if !open(left) && (kind == "INNER" || kind == "LEFT") {
		names := make([]string, len(left))
		for i, c := range left {
			names[i] = c.name
		}
		return merge(left, right, names, kind)
	}
	out := slices.Concat(left, right)
	for i := range out {
		if c := &out[i]; c.star != nil {
			c.star = c.star.unnamed()
		} else {
			c.val.exact = false
		}
	}
	return out
}
