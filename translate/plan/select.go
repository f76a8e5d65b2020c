package plan

import (
	"slices"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// aggScope collects the aggregates, window calls and set-returning calls of one level.
type aggScope struct {
	sc    *scope
	aggs  []*exec.AggSpec
	keys  []string
	wins  []*winCall
	sets  []*exec.FuncX
	named map[string]*ast.Window
	inAgg bool
	inWin bool
	inDef bool // within OVER's definition
	// where the columns of each reference are, for errors
	pos map[*exec.Col]int
}

// target is one output expression.
type target struct {
	expr exec.Expr
	name string
	pos  int
}

// bindCore binds SELECT … FROM … WHERE … with its ORDER BY and LIMIT.
func (b *Binder) bindCore(q *ast.Select, parent *scope) (exec.Node, error) {
	core := q.Core
	sc := newScope(parent)
	b.agg = &aggScope{sc: sc}
	sc.agg = b.agg
	c := &coreBinder{b: b, q: q, core: core, sc: sc, agg: b.agg, parent: parent}
	return c.bind()
}

type coreBinder struct {
	b       *Binder
	q       *ast.Select
	core    *ast.SelectCore
	sc      *scope
	agg     *aggScope
	parent  *scope
	targets []target
	visible int
	order   []orderKey
	groups  []exec.Expr
	sets    [][]int
	grouped bool
	having  exec.Expr
	on      []int // DISTINCT ON: indexes into targets
}

type orderKey struct {
	at   int
	item ast.OrderItem
}

func (c *coreBinder) bind() (exec.Node, error) {
	b, core := c.b, c.core
	if core.Into != nil {
		return nil, b.err(core.Into.Pos, pgerr.SyntaxError, "SELECT ... INTO is not allowed here")
	}
	if len(core.Windows) > 0 {
		c.agg.named = make(map[string]*ast.Window)
		for i := range core.Windows {
			w := &core.Windows[i]
			if c.agg.named[w.Name] != nil {
				return nil, b.err(-1, pgerr.WindowingError, "window %q is already defined", w.Name)
			}
			c.agg.named[w.Name] = &w.Window
		}
	}
	b.clause = "FROM"
	trees, err := b.from(c.sc, core.From)
	if err != nil {
		return nil, err
	}
	b.clause = ""
	if err := c.bindTargets(); err != nil {
		return nil, err
	}
	var where []exec.Expr
	if core.Where != nil {
		b.clause = "WHERE"
		w, err := b.condition(c.sc, core.Where, "WHERE")
		if err != nil {
			return nil, err
		}
		where = conjuncts(w, nil)
		b.clause = ""
	}
	if core.Having != nil {
		b.clause = "HAVING"
		if c.having, err = b.condition(c.sc, core.Having, "HAVING"); err != nil {
			return nil, err
		}
		b.clause = ""
	}
	if err := c.bindOrder(); err != nil {
		return nil, err
	}
	if err := c.bindGroups(); err != nil {
		return nil, err
	}
	if err := c.bindDistinctOn(); err != nil {
		return nil, err
	}
	if err := c.checkLocks(trees); err != nil {
		return nil, err
	}
	if err := c.recursiveAggregate(); err != nil {
		return nil, err
	}
	c.grouped = len(core.GroupBy) > 0 || len(c.agg.aggs) > 0 || c.having != nil
	return c.build(trees, where)
}

func (c *coreBinder) bindTargets() error {
	ts, err := c.b.bindTargetList(c.sc, c.core.Targets)
	c.targets = ts
	c.visible = len(ts)
	return err
}

// bindTargetList binds a select list or RETURNING.
func (b *Binder) bindTargetList(sc *scope, list []ast.Target) ([]target, error) {
	var out []target
	for _, t := range list {
		if st, ok := t.Expr.(*ast.Star); ok {
			es, ns, err := b.star(sc, st)
			if err != nil {
				return nil, err
			}
			for i, e := range es {
				out = append(out, target{e, ns[i], int(st.Pos)})
			}
			continue
		}
		if f, ok := t.Expr.(*ast.FieldSelect); ok && f.Field == "*" {
			ts, err := b.expandRecord(sc, f)
			if err != nil {
				return nil, err
			}
			out = append(out, ts...)
			continue
		}
		b.allowSet++
		e, err := b.expr(sc, t.Expr)
		b.allowSet--
		if err != nil {
			return nil, err
		}
		name := t.Alias
		if name == "" {
			name = outputName(t.Expr)
		}
		out = append(out, target{e, name, t.Expr.Position()})
	}
	return out, nil
}

// expandRecord expands (x).*.
func (b *Binder) expandRecord(sc *scope, f *ast.FieldSelect) ([]target, error) {
	if ref, ok := f.Expr.(*ast.ColumnRef); ok && len(ref.Parts) <= 2 {
		if it, _ := b.findItem(sc, "", ref.Parts[len(ref.Parts)-1]); it != nil {
			es, ns, err := b.star(sc, &ast.Star{Pos: f.Pos, Table: ref.Parts})
			if err != nil {
				return nil, err
			}
			var out []target
			for i, e := range es {
				out = append(out, target{e, ns[i], int(f.Pos)})
			}
			return out, nil
		}
	}
	b.allowSet++
	e, err := b.expr(sc, f.Expr)
	b.allowSet--
	if err != nil {
		return nil, err
	}
	var out []target
	switch x := e.(type) {
	case *exec.RowX:
		for i, it := range x.Items {
			out = append(out, target{it, x.Names[i], int(f.Pos)})
		}
		return out, nil
	case *exec.SetRef:
		for i, col := range x.F.F.Cols {
			out = append(out, target{&exec.FieldX{Arg: e, N: i, T: col.Type}, col.Name, int(f.Pos)})
		}
		if len(out) > 0 {
			return out, nil
		}
	case *exec.FuncX:
		for i, col := range x.F.Cols {
			out = append(out, target{&exec.FieldX{Arg: e, N: i, T: col.Type}, col.Name, int(f.Pos)})
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, b.err(int(f.Pos), pgerr.WrongObjectType, "type %s is not composite", types.TypeName(e.Type().OID))
}

// findTarget finds an output column by alias; PostgreSQL prefers output names in ORDER BY
// and input names in GROUP BY.
func (c *coreBinder) findTarget(name string) (int, bool, bool) {
	at, n := -1, 0
	for i := range c.visible {
		if c.targets[i].name == name {
			if n > 0 && exprKey(c.targets[i].expr) == exprKey(c.targets[at].expr) {
				continue
			}
			if n == 0 {
				at = i
			}
			n++
		}
	}
	return at, n == 1, n > 1
}

// addTarget finds an equal target or adds a hidden one.
func (c *coreBinder) addTarget(e exec.Expr, pos int) int {
	key := exprKey(e)
	for i := range c.targets {
		if exprKey(c.targets[i].expr) == key {
			c.b.fixExpr(e)
			c.b.fixExpr(c.targets[i].expr)
			return i
		}
	}
	c.targets = append(c.targets, target{e, "", pos})
	return len(c.targets) - 1
}

func (c *coreBinder) sortTarget(e ast.Expr, clause string) (int, error) {
	b := c.b
	switch x := e.(type) {
	case *ast.Literal:
		if x.Kind == ast.LitInteger {
			return b.ordinal(x, c.visible, clause)
		}
		if x.Kind != ast.LitNull {
			return 0, b.err(int(x.Pos), pgerr.SyntaxError, "non-integer constant in %s", clause)
		}
	case *ast.ColumnRef:
		if len(x.Parts) == 1 {
			at, ok, amb := c.findTarget(x.Parts[0])
			if amb {
				return 0, b.err(int(x.Pos), pgerr.AmbiguousColumn, "%s %q is ambiguous", clause, x.Parts[0])
			}
			if ok {
				return at, nil
			}
		}
	}
	saved := b.clause
	b.clause = clause
	if clause == "ORDER BY" || clause == "DISTINCT ON" {
		b.clause = ""
	}
	b.allowSet++
	x, err := b.expr(c.sc, e)
	b.allowSet--
	b.clause = saved
	if err != nil {
		return 0, err
	}
	if at, ok := c.sameParam(x); ok {
		return at, nil
	}
	return c.addTarget(b.resolveUnknown(x), e.Position()), nil
}

// sameParam finds the output column that is the same parameter.
func (c *coreBinder) sameParam(x exec.Expr) (int, bool) {
	p, ok := x.(*exec.ParamRef)
	if !ok {
		return 0, false
	}
	for i, t := range c.targets {
		if o, ok := t.expr.(*exec.ParamRef); ok && o.N == p.N {
			c.b.params = slices.DeleteFunc(c.b.params, func(r *exec.ParamRef) bool { return r == p })
			c.targets[i].expr = c.b.resolveUnknown(o)
			return i, true
		}
	}
	return 0, false
}

func (c *coreBinder) bindOrder() error {
	for _, o := range c.q.OrderBy {
		at, err := c.sortTarget(o.Expr, "ORDER BY")
		if err != nil {
			return err
		}
		if c.core.Distinct && len(c.core.DistinctOn) == 0 && at >= c.visible {
			return c.b.err(o.Expr.Position(), pgerr.InvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
		}
		c.order = append(c.order, orderKey{at, o})
	}
	return nil
}

func (c *coreBinder) bindDistinctOn() error {
	for _, e := range c.core.DistinctOn {
		at, err := c.sortTarget(e, "DISTINCT ON")
		if err != nil {
			return err
		}
		if !slices.Contains(c.on, at) {
			c.on = append(c.on, at)
		}
	}
	if len(c.on) == 0 {
		return nil
	}
	// ORDER BY must begin with the DISTINCT ON expressions, in any order.
	for i, k := range c.order {
		if i >= len(c.on) {
			break
		}
		if !slices.Contains(c.on, k.at) {
			return c.b.err(c.core.DistinctOn[0].Position(), pgerr.InvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
		}
	}
	return nil
}

// build makes the nodes.
func (c *coreBinder) build(trees []*tree, where []exec.Expr) (exec.Node, error) {
	b := c.b
	for i := range c.targets {
		if i >= c.visible {
			c.targets[i].expr = b.resolveUnknown(c.targets[i].expr)
		}
	}
	jp := &joinPlanner{b: b, sc: c.sc}
	minmax := c.lastKey(trees, where)
	src, rest := jp.plan(trees, where)
	c.sc.layout()
	jp.finish()
	width := c.sc.width
	scan := &exec.Scan{Src: src, Width: width, Cond: andOf(rest)}
	var node exec.Node = scan
	if minmax != nil {
		node = minmax(src, node)
	}
	if !c.grouped && c.having == nil && len(c.agg.wins) == 0 && len(c.agg.sets) == 0 {
		if raw := c.rawScan(trees, scan); raw != nil {
			return b.limit(c.q, raw, nil, c.parent)
		}
	}
	if c.grouped {
		var err error
		if node, err = c.buildGroup(node); err != nil {
			return nil, err
		}
		width = len(c.groups) + len(c.agg.aggs) + 1
	}
	if len(c.agg.wins) > 0 {
		var err error
		if node, width, err = c.buildWindows(node, width); err != nil {
			return nil, err
		}
	}
	if len(c.agg.sets) > 0 {
		node = c.buildSets(node, width)
	}
	return c.buildOutput(node)
}

// buildSets puts set-returning functions of the select list below the projection.
func (c *coreBinder) buildSets(in exec.Node, width int) exec.Node {
	n := &exec.ExtendSet{In: in, Width: width}
	n.Sets = append(n.Sets, c.agg.sets...)
	for i := range c.targets {
		c.targets[i].expr, _ = exec.MapExpr(c.targets[i].expr, func(e exec.Expr) (exec.Expr, error) {
			if s, ok := e.(*exec.SetRef); ok {
				return &exec.Col{Idx: width + s.N, T: s.T}, nil
			}
			return nil, nil
		})
	}
	return n
}

// buildOutput projects, makes distinct, sorts, limits and trims.
func (c *coreBinder) buildOutput(node exec.Node) (exec.Node, error) {
	b := c.b
	p := &exec.Project{In: node}
	for i, t := range c.targets {
		p.Exprs = append(p.Exprs, t.expr)
		if i < c.visible {
			tab, attr := origin(t.expr)
			p.Cols = append(p.Cols, exec.Column{Name: t.name, Type: t.expr.Type(), Table: tab, Attr: attr})
		}
	}
	node = p
	if c.core.Distinct && len(c.on) == 0 {
		// Unknown literals must be settled before they are compared.
		u := &exec.Unique{}
		for i := range p.Exprs[:c.visible] {
			p.Exprs[i] = b.resolveUnknown(p.Exprs[i])
			p.Cols[i].Type = p.Exprs[i].Type()
			if !b.hasEquality(p.Cols[i].Type.OID) {
				return nil, b.err(c.targets[i].pos, pgerr.UndefinedFunction, "could not identify an equality operator for type %s", types.TypeName(p.Cols[i].Type.OID))
			}
			u.OIDs = append(u.OIDs, p.Cols[i].Type.OID)
		}
		u.In = node
		node = u
	}
	var keys []exec.SortKey
	for _, o := range c.order {
		k, err := b.sortKey(o.item, o.at, p.Exprs[o.at].Type().OID)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) > 0 {
		node = &exec.Sort{In: node, Keys: keys}
	}
	if len(c.on) > 0 {
		u := &exec.Unique{In: node, Keys: c.on}
		for _, at := range c.on {
			u.OIDs = append(u.OIDs, p.Exprs[at].Type().OID)
		}
		node = u
	}
	node, err := b.limit(c.q, node, keys, c.parent)
	if err != nil {
		return nil, err
	}
	if c.visible < len(c.targets) {
		node = &exec.Trim{In: node, Cols: p.Cols}
	}
	return node, nil
}
