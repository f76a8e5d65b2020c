package plan

import (
	"math/bits"

	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// joinPlanner turns the trees of a FROM clause and the conditions on them into sources.
type joinPlanner struct {
	b    *Binder
	sc   *scope
	late []func() // what needs the level's layout
}

// conj is a condition with the relations it reads.
type conj struct {
	e    exec.Expr
	refs relSet
	done bool
}

func toConjs(list []exec.Expr) []*conj {
	out := make([]*conj, len(list))
	for i, e := range list {
		out[i] = &conj{e: e, refs: refsOf(e)}
	}
	return out
}

// plan plans a FROM clause with WHERE's conjuncts; what could not be placed is returned.
func (p *joinPlanner) plan(trees []*tree, where []exec.Expr) (exec.Source, []exec.Expr) {
	if len(trees) == 0 {
		return exec.OneRow{}, where
	}
	conjs := toConjs(where)
	src := p.inner(trees, conjs)
	var rest []exec.Expr
	for _, c := range conjs {
		if !c.done {
			rest = append(rest, c.e)
		}
	}
	return src, rest
}

// finish runs what waited for the layout.
func (p *joinPlanner) finish() {
	for _, f := range p.late {
		f()
	}
}

// inner joins trees with conditions, all of which filter.
func (p *joinPlanner) inner(trees []*tree, conjs []*conj) exec.Source {
	var items []*tree
	given := len(conjs)
	items, conjs = flatten(trees, conjs)
	var placed relSet
	var src exec.Source
	left := append([]*tree(nil), items...)
	for len(left) > 0 {
		at := p.choose(left, placed, conjs)
		it := left[at]
		left = append(left[:at], left[at+1:]...)
		if src == nil {
			src = p.item(it, conjs)
		} else {
			src = p.step(src, placed, it, conjs)
		}
		placed |= it.set
	}
	// What is left reads no relation of this level. The caller sees to its own conditions,
	// nobody else to those of the joins.
	return p.wrap(src, conjs[given:])
}

// flatten takes inner joins apart.
func flatten(trees []*tree, conjs []*conj) ([]*tree, []*conj) {
	var out []*tree
	for _, t := range trees {
		if t.rel == nil && t.kind == exec.InnerJoin {
			var sub []*tree
			conjs = append(conjs, toConjs(t.on)...)
			sub, conjs = flatten([]*tree{t.l, t.r}, conjs)
			out = append(out, sub...)
			continue
		}
		out = append(out, t)
	}
	return out, conjs
}

func (t *tree) deps() relSet {
	if t.rel != nil {
		return t.rel.deps
	}
	return (t.l.deps() | t.r.deps()) &^ t.set
}

// choose picks the next item: the written order, except that an item with a constant
// equality goes first and joined items go before unrelated ones.
func (p *joinPlanner) choose(items []*tree, placed relSet, conjs []*conj) int {
	ready := func(t *tree) bool { return placed.has(t.deps()) }
	if placed == 0 {
		for i, t := range items {
			if !ready(t) || t.rel == nil {
				continue
			}
			for _, c := range conjs {
				if !c.done && c.refs == t.set && isEquality(c.e) {
					return i
				}
			}
		}
		// A list of values is small, and what it is joined to may have a key for it.
		for i, t := range items {
			if ready(t) && t.rel != nil && t.rel.sub != nil && isValues(t.rel.sub.node) {
				return i
			}
		}
	} else {
		for i, t := range items {
			if !ready(t) {
				continue
			}
			for _, c := range conjs {
				if !c.done && c.refs&t.set != 0 && c.refs&placed != 0 && (placed | t.set).has(c.refs) && isEquality(c.e) {
					return i
				}
			}
		}
	}
	for i, t := range items {
		if ready(t) {
			return i
		}
	}
	return 0
}

func isValues(n exec.Node) bool {
	switch x := n.(type) {
	case *exec.Values:
		return true
	case *exec.CTEScan:
		return isValues(x.CTE.Node)
	case *exec.Project:
		return isValues(x.In)
	}
	return false
}

func isEquality(e exec.Expr) bool {
	switch x := e.(type) {
	case *exec.Cmp:
		return x.Op == exec.EQ
	case *exec.InList:
		return !x.Not
	}
	return false
}

// take removes and returns the conditions that f wants.
func take(conjs []*conj, f func(*conj) bool) []exec.Expr {
	var out []exec.Expr
	for _, c := range conjs {
		if !c.done && f(c) {
			c.done = true
			out = append(out, c.e)
		}
	}
	return out
}

func andOf(list []exec.Expr) exec.Expr {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &exec.And{List: list}
}

// item makes the source of one item with the conditions that are on it alone.
func (p *joinPlanner) item(t *tree, conjs []*conj) exec.Source {
	if t.rel != nil {
		own := take(conjs, func(c *conj) bool { return c.refs == t.set && t.set != 0 || c.refs == 0 && onceOnly(c.e) })
		return p.leaf(t.rel, own, 0)
	}
	return p.outer(t, conjs)
}

// onceOnly conditions without columns can be tested anywhere.
func onceOnly(e exec.Expr) bool { return isStatic(e) }

// outer plans an outer join. Conditions from above on the preserved side go below it.
func (p *joinPlanner) outer(t *tree, above []*conj) exec.Source {
	on := toConjs(t.on)
	keepL := t.kind == exec.LeftJoin
	keepR := t.kind == exec.RightJoin
	below := func(side *tree, pushed bool, push func(*conj) bool) []*conj {
		var out []*conj
		if pushed {
			for _, c := range above {
				if !c.done && c.refs != 0 && side.set.has(c.refs) {
					c.done = true
					out = append(out, &conj{e: c.e, refs: c.refs})
				}
			}
		}
		for _, c := range on {
			if !c.done && c.refs != 0 && side.set.has(c.refs) && push(c) {
				c.done = true
				out = append(out, &conj{e: c.e, refs: c.refs})
			}
		}
		return out
	}
	never := func(*conj) bool { return false }
	always := func(*conj) bool { return true }
	lp, rp := never, never
	switch t.kind {
	case exec.LeftJoin:
		rp = always
	case exec.RightJoin:
		lp = always
	}
	lconj := below(t.l, keepL, lp)
	rconj := below(t.r, keepR, rp)
	l := p.wrap(p.inner([]*tree{t.l}, lconj), lconj)
	var rest []exec.Expr
	for _, c := range on {
		if !c.done {
			rest = append(rest, c.e)
		}
	}
	j := p.join(t.kind, l, t.l.set, t.r, rconj, rest)
	own := take(above, func(c *conj) bool { return c.refs != 0 && t.set.has(c.refs) })
	if len(own) > 0 {
		return &exec.FilterSource{Src: j, Cond: andOf(own)}
	}
	return j
}

func (p *joinPlanner) wrap(s exec.Source, conjs []*conj) exec.Source {
	rest := take(conjs, func(*conj) bool { return true })
	if len(rest) > 0 {
		return &exec.FilterSource{Src: s, Cond: andOf(rest)}
	}
	return s
}

// step joins one more item to what is placed, with every condition that becomes testable.
func (p *joinPlanner) step(src exec.Source, placed relSet, t *tree, conjs []*conj) exec.Source {
	var own []*conj
	for _, c := range conjs {
		if !c.done && c.refs != 0 && t.set.has(c.refs) {
			c.done = true
			own = append(own, &conj{e: c.e, refs: c.refs})
		}
	}
	both := placed | t.set
	on := take(conjs, func(c *conj) bool { return c.refs != 0 && both.has(c.refs) })
	return p.join(exec.InnerJoin, src, placed, t, own, on)
}

// join builds the join of a planned left side and a right tree. own are conditions for the
// right side alone, on are the join's.
func (p *joinPlanner) join(kind exec.JoinKind, l exec.Source, lset relSet, rt *tree, own []*conj, on []exec.Expr) exec.Source {
	j := &exec.Join{Kind: kind, L: l, LCols: &exec.ColSet{}, RCols: &exec.ColSet{}}
	p.late = append(p.late, func() {
		p.fill(j.LCols, lset)
		p.fill(j.RCols, rt.set)
	})
	j.Lateral = rt.deps()&lset != 0
	ownList := make([]exec.Expr, len(own))
	for i, c := range own {
		ownList[i] = c.e
	}
	j.R = p.wrap(p.inner([]*tree{rt}, own), own)
	var rest []exec.Expr
	for _, e := range on {
		if lk, rk, oid, ok := hashPair(e, lset, rt.set); ok && !j.Lateral {
			j.LKeys = append(j.LKeys, lk)
			j.RKeys = append(j.RKeys, rk)
			j.KeyOIDs = append(j.KeyOIDs, oid)
			continue
		}
		rest = append(rest, e)
	}
	j.On = andOf(rest)
	if j.Lateral {
		j.On = andOf(on)
		return j
	}
	if rt.rel != nil && (kind == exec.InnerJoin || kind == exec.LeftJoin) {
		if keyed, ok := p.keyed(rt.rel, append(append([]exec.Expr(nil), ownList...), on...), lset); ok {
			j.Keyed = keyed
			j.KeyedOn = andOf(on)
			if rt.rel.table != nil {
				j.Small = storedOuter
			}
		}
	}
	return j
}

// storedOuter is up to how many rows a stored table is looked up by key instead of being
// read whole: a look-up costs about as much as reading a few dozen rows.
const storedOuter = 5000

func (p *joinPlanner) fill(cs *exec.ColSet, set relSet) {
	cs.Idx = cs.Idx[:0]
	for s := uint64(set); s != 0; s &= s - 1 {
		cs.Idx = append(cs.Idx, p.sc.rels[bits.TrailingZeros64(s)].set.Idx...)
	}
}

// hashPair recognises an equality between the two sides.
func hashPair(e exec.Expr, l, r relSet) (lk, rk exec.Expr, oid types.OID, ok bool) {
	c, isCmp := e.(*exec.Cmp)
	if !isCmp || c.Op != exec.EQ || c.OID == types.RecordOID || types.IsArray(c.OID) || c.OID == types.JSONBOID {
		return nil, nil, 0, false
	}
	ls, rs := refsOf(c.L), refsOf(c.R)
	if ls == 0 || rs == 0 {
		return nil, nil, 0, false
	}
	switch {
	case l.has(ls) && r.has(rs):
		return c.L, c.R, c.OID, true
	case l.has(rs) && r.has(ls):
		return c.R, c.L, c.OID, true
	}
	return nil, nil, 0, false
}

// keyed makes a source of a relation that looks rows up by values of the left side;
// false when there is no key for it.
func (p *joinPlanner) keyed(r *relItem, conds []exec.Expr, avail relSet) (exec.Source, bool) {
	usesLeft := func(e exec.Expr) bool { return refsOf(e)&avail != 0 }
	switch {
	case r.table != nil && !r.ghost:
		var local []exec.Expr
		for _, e := range conds {
			if refsOf(e)&^(r.bit()|avail) == 0 {
				local = append(local, e)
			}
		}
		path := p.b.accessPath(r, local, avail)
		if path == nil || !pathUses(path, usesLeft) {
			return nil, false
		}
		return p.tableScan(r, local, avail, path), true
	case r.vt != nil:
		s := p.virtualScan(r, conds, avail)
		for _, e := range s.Eq {
			if usesLeft(e) {
				return s, true
			}
		}
	}
	return nil, false
}

func pathUses(a *exec.AccessPath, f func(exec.Expr) bool) bool {
	for _, k := range a.Eq {
		if k.Val != nil && f(k.Val) {
			return true
		}
	}
	return a.TIDs != nil && f(a.TIDs)
}

// leaf makes the source of one relation.
func (p *joinPlanner) leaf(r *relItem, conds []exec.Expr, avail relSet) exec.Source {
	switch {
	case r.table != nil:
		return p.tableScan(r, conds, avail, p.b.accessPath(r, conds, avail))
	case r.vt != nil:
		return p.virtualScan(r, conds, avail)
	case r.sub != nil:
		s := &exec.SubScan{Node: r.sub.node, Cell: r.sub.cell, Filter: andOf(conds)}
		p.late = append(p.late, func() { s.Cols = r.scanCols() })
		return s
	case r.fn != nil:
		s := &exec.FuncScan{Parts: r.fn.parts, Width: r.fn.width, Filter: andOf(conds)}
		p.late = append(p.late, func() { s.Cols = r.scanCols() })
		return s
	}
	return exec.OneRow{}
}

func (p *joinPlanner) tableScan(r *relItem, conds []exec.Expr, avail relSet, path *exec.AccessPath) *exec.TableScan {
	s := &exec.TableScan{Table: r.table, Path: path}
	var rest []exec.Expr
	for _, e := range conds {
		if raw := p.b.rawPred(r, e, avail); raw != nil {
			s.Raw = append(s.Raw, raw)
			continue
		}
		rest = append(rest, e)
	}
	s.Filter = andOf(rest)
	p.late = append(p.late, func() { s.Cols = r.scanCols() })
	return s
}

func (p *joinPlanner) virtualScan(r *relItem, conds []exec.Expr, avail relSet) *exec.VirtualScan {
	s := &exec.VirtualScan{Table: r.vt, Filter: andOf(conds)}
	for _, e := range conds {
		col, val, op, ok := colCompare(r, e, avail)
		if !ok || op != exec.EQ || col.Att < 1 {
			continue
		}
		if s.Eq == nil {
			s.Eq = make(map[int]exec.Expr)
		}
		if _, dup := s.Eq[col.Att-1]; !dup {
			s.Eq[col.Att-1] = val
		}
	}
	p.late = append(p.late, func() { s.Cols = r.scanCols() })
	return s
}
