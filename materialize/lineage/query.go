package lineage

import "fmt"

// analysis is one OfSelect. The first error stays; what comes after it does nothing.
type analysis struct {
	opt          Options
	tables       map[TableRef]bool
	files        []FileRead
	functions    map[string]bool
	named        map[namedKey]*namedSelect
	depth, steps int
	err          error
}

// env is where a query stands.
type env struct {
	outer *scope // names that its own tables do not have
	ctes  *cte   // the innermost first
}

// cte is a common table expression that can be named.
type cte struct {
	name string // folded
	cols []col
	next *cte
}

func (c *cte) lookup(name string) ([]col, bool) {
	for key := fold(name); c != nil; c = c.next {
		if c.name == key {
			return c.cols, true
		}
	}
	return nil, false
}

// enter counts a level of the tree; leave goes with it if it is true.
func (a *analysis) enter() bool {
	a.spend(1)
	if a.err == nil && a.depth >= maxDepth {
		a.err = fmt.Errorf("%w: %d levels", ErrTooLarge, a.depth)
	}
	if a.err != nil {
		return false
	}
	a.depth++
	return true
}

func (a *analysis) leave() { a.depth-- }

func (a *analysis) spend(steps int) {
	if a.steps += steps; a.steps > maxSteps && a.err == nil {
		a.err = fmt.Errorf("%w: %d steps", ErrTooLarge, a.steps)
	}
}

// query gives the output columns of a query.
func (a *analysis) query(q object, e env) []col {
	if !a.enter() {
		return nil
	}
	defer a.leave()
	for _, entry := range q.object("cte_map").list("map") {
		o := asObject(entry)
		value := o.object("value")
		cols := rename(a.query(value.object("query").object("node"), e), value.texts("aliases"))
		e.ctes = &cte{fold(o.text("key")), cols, e.ctes}
	}
	var cols []col
	switch q.text("type") {
	case "SELECT_NODE":
		return a.selectNode(q, e)
	case "SET_OPERATION_NODE":
		cols = a.setOperation(q, e)
	case "RECURSIVE_CTE_NODE":
		cols = a.recursive(q, e)
	default:
		a.visit(map[string]any(q), &scope{parent: e.outer, ctes: e.ctes})
		return []col{unknownStar()}
	}
	a.visit(q["modifiers"], &scope{parent: e.outer, ctes: e.ctes, cols: cols})
	a.spend(len(cols))
	return cols
}

func (a *analysis) selectNode(q object, e env) []col {
	sc := &scope{parent: e.outer, ctes: e.ctes}
	sc.rels, sc.cols = a.from(q.object("from_table"), e)
	var out []col
	for _, item := range q.list("select_list") {
		cols := a.item(asObject(item), sc)
		a.spend(len(cols))
		if a.err != nil {
			return nil
		}
		out = append(out, cols...)
		for _, c := range cols {
			if c.name != "" && asObject(item).text("alias") != "" {
				sc.aliases = append(sc.aliases, c)
			}
		}
	}
	for _, key := range []string{"where_clause", "group_expressions", "having", "qualify", "sample", "modifiers"} {
		a.visit(q[key], sc)
	}
	return out
}

func (a *analysis) setOperation(q object, e env) []col {
	left := a.query(q.object("left"), e)
	right := a.query(q.object("right"), e)
	switch q.text("setop_type") {
	case "EXCEPT", "INTERSECT":
		return left
	case "UNION_BY_NAME":
		return unionByName(left, right)
	}
	return union(left, right)
}

// union adds columns by their position.
func union(left, right []col) []col {
	var out []col
	for i, c := range left {
		if c.star != nil || i >= len(right) || right[i].star != nil {
			// From the first star on, positions are not known.
			return append(out, unionRest(left[i:], right[min(i, len(right)):])...)
		}
		out = append(out, col{name: c.name, val: c.val.and(right[i].val)})
	}
	return out
}

// unionRest adds columns of which it is not known which one goes to which.
func unionRest(left, right []col) []col {
	more := together(right)
	more.exact = false
	var parts []starPart
	for _, c := range right {
		if c.star != nil {
			parts = append(parts, c.star.unnamed().parts...)
		}
	}
	out := make([]col, 0, len(left))
	for _, c := range left {
		n := col{name: c.name, val: value{c.val.from, false}}
		if c.star != nil {
			n.star = &star{append(append([]starPart(nil), c.star.parts...), parts...), c.star.except}
		} else if len(right) == 1 {
			n.val = c.val.and(more)
		}
		out = append(out, n)
	}
	return out
}

// unionByName adds columns by their names.
func unionByName(left, right []col) []col {
	out := append([]col(nil), left...)
	if open(left) || open(right) {
		// A name of one side may be in the other's star.
		for i := range out {
			out[i].val.exact = false
		}
	}
	for _, c := range right {
		known, _ := find(left, c.name)
		if c.star != nil || c.name == "" || known == nil {
			if open(left) || open(right) {
				c.val.exact = false
			}
			out = append(out, c)
			continue
		}
		for i := range out {
			if fold(out[i].name) == fold(c.name) {
				out[i].val = out[i].val.and(c.val)
				break
			}
		}
	}
	return out
}

// recursive reads the right side twice: what a column gets in one round can go into another
// in the next. What then still changes is not followed.
func (a *analysis) recursive(q object, e env) []col {
	cols := rename(a.query(q.object("left"), e), q.texts("aliases"))
	for round := 0; ; round++ {
		inner := e
		inner.ctes = &cte{fold(q.text("cte_name")), cols, e.ctes}
		next := union(cols, a.query(q.object("right"), inner))
		same := len(next) == len(cols)
		for i := range next {
			same = same && sameColumn(next[i], cols[i])
		}
		if same || a.err != nil {
			return next
		}
		if cols = next; round == 2 {
			for i := range cols {
				cols[i].val.exact = false
			}
			return cols
		}
	}
}

func sameColumn(a, b col) bool {
	x, y := a.whole(), b.whole()
	if len(x.from) != len(y.from) || x.exact != y.exact {
		return false
	}
	for i := range x.from {
		if x.from[i] != y.from[i] {
			return false
		}
	}
	return true
}

// namedKey is what Options.Named was asked.
type namedKey struct {
	kind                  Kind
	catalog, schema, name string
}

// namedSelect is its answer; while it is being read, done is false.
type namedSelect struct {
	ok, done bool
	cols     []col
}

// asNamed gives the columns of a view or macro of the script.
func (a *analysis) asNamed(kind Kind, catalog, schema, name string) ([]col, bool) {
	if a.opt.Named == nil || a.err != nil {
		return nil, false
	}
	key := namedKey{kind, fold(catalog), fold(schema), fold(name)}
	if n, ok := a.named[key]; ok {
		return n.cols, n.ok && n.done // one that reads itself reads the table of that name
	}
	n := &namedSelect{}
	a.named[key] = n
	var s NamedSelect
	if s, n.ok = a.opt.Named(kind, catalog, schema, name); !n.ok {
		return nil, false
	}
	node, err := selectNode(s.Tree)
	if err != nil {
		a.err = fmt.Errorf("%s: %w", name, err)
		return nil, false
	}
	outer := &scope{macroParams: map[string]bool{}}
	for _, p := range s.Params {
		outer.macroParams[fold(p)] = true
	}
	n.cols, n.done = a.query(node, env{outer: outer}), true
	return n.cols, a.err == nil
}
