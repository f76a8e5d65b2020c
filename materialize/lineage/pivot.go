package lineage

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

func (a *analysis) pivot(t object, e env) []col {
	rels, source := a.from(t.object("source"), e)
	sc := &scope{parent: e.outer, ctes: e.ctes, rels: rels, cols: source}
	if len(t.texts("unpivot_names")) > 0 {
		return a.unpivot(t, sc)
	}
	used := map[string]bool{} // columns that the pivot takes
	a.usedColumns(t["aggregates"], used)
	chosen := constant
	for _, p := range t.list("pivots") {
		x := asObject(p)["pivot_expressions"]
		a.usedColumns(x, used)
		chosen = chosen.and(a.expr(x, sc))
	}
	var out []col
	if groups := t.texts("groups"); len(groups) > 0 {
		for _, g := range groups {
			out = append(out, col{name: g, val: a.bare(g, sc, false)})
		}
	} else {
		for _, c := range source {
			switch {
			case c.star != nil:
				c.star = c.star.without(slices.Sorted(maps.Keys(used))...)
			case used[fold(c.name)]:
				continue
			}
			out = append(out, c)
		}
	}
	aggregates := t.list("aggregates")
	for _, name := range entryNames(t.list("pivots")) {
		for _, x := range aggregates {
			agg := asObject(x)
			c := col{name: name, val: a.expr(x, sc).and(chosen)}
			switch {
			case name == "": // the values are found when it runs
				c.star = &star{}
			case agg.text("alias") != "":
				c.name += "_" + agg.text("alias")
			case len(aggregates) > 1:
				c.name = ""
			}
			a.spend(1)
			if a.err != nil {
				return nil
			}
			out = append(out, c)
		}
	}
	return out
}

// usedColumns adds the columns that expressions name.
func (a *analysis) usedColumns(v any, to map[string]bool) {
	if !a.enter() {
		return
	}
	defer a.leave()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			a.usedColumns(e, to)
		}
	case map[string]any:
		if names := object(v).texts("column_names"); len(names) > 0 {
			to[fold(names[len(names)-1])] = true
		}
		for _, e := range v {
			a.usedColumns(e, to)
		}
	}
}

// entryNames gives the names of the columns that the values of all pivots make together;
// one "" where a value is not in the tree.
func entryNames(pivots []any) []string {
	names := []string{""}
	for i, p := range pivots {
		var next []string
		entries := asObject(p).list("entries")
		if len(entries) == 0 || len(names)*len(entries) > 10_000 {
			return []string{""}
		}
		for _, n := range names {
			for _, e := range entries {
				name, ok := entryName(asObject(e))
				if !ok {
					return []string{""}
				}
				if i > 0 {
					name = n + "_" + name
				}
				next = append(next, name)
			}
		}
		names = next
	}
	return names
}

func entryName(e object) (string, bool) {
	if e["star_expr"] != nil {
		return "", false
	}
	if alias := e.text("alias"); alias != "" {
		return alias, true
	}
	var parts []string
	for _, v := range e.list("values") {
		switch x := asObject(v)["value"].(type) {
		case string:
			parts = append(parts, x)
		case float64:
			if x != float64(int64(x)) {
				return "", false
			}
			parts = append(parts, strconv.FormatInt(int64(x), 10))
		default:
			return "", false
		}
	}
	name := strings.Join(parts, "_")
	return name, name != ""
}

// unpivot makes rows of columns: the columns that remain, then the name's, then the
// values'.
func (a *analysis) unpivot(t object, sc *scope) []col {
	values := t.texts("unpivot_names")
	made := make([]value, len(values))
	for i := range made {
		made[i] = constant
	}
	taken := map[string]bool{}
	known := true
	var names []col
	for _, p := range t.list("pivots") {
		o := asObject(p)
		for _, n := range o.texts("unpivot_names") {
			names = append(names, col{name: n, val: constant})
		}
		for _, entry := range o.list("entries") {
			x := asObject(entry)
			if x["star_expr"] != nil {
				known = false
				a.visit(x["star_expr"], sc)
				continue
			}
			for i, v := range x.list("values") {
				name, _ := asObject(v)["value"].(string)
				taken[fold(name)] = true
				if i < len(made) {
					made[i] = made[i].and(a.bare(name, sc, false))
				}
			}
		}
	}
	var out []col
	for _, c := range sc.cols {
		switch {
		case !known:
		case c.star != nil:
			c.star = c.star.without(slices.Sorted(maps.Keys(taken))...)
			out = append(out, c)
		case !taken[fold(c.name)]:
			out = append(out, c)
		}
	}
	if !known {
		// Which columns were taken is for DuckDB to find.
		all := together(sc.cols)
		all.exact = false
		for i := range made {
			made[i].exact = false
		}
		out = append(out, col{val: all, star: &star{}})
	}
	out = append(out, names...)
	for i, n := range values {
		out = append(out, col{name: n, val: made[i]})
	}
	return out
}
