package plan

import (
	"slices"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// orderCTEs says in which order the queries of WITH RECURSIVE can be bound: each after those it
// reads. Queries that read each other are refused.
func (b *Binder) orderCTEs(w *ast.With) ([]int, error) {
	n := len(w.CTEs)
	order := make([]int, n)
	reads := make([][]bool, n)
	for i := range w.CTEs {
		order[i] = i
		reads[i] = make([]bool, n)
		for j := range w.CTEs {
			reads[i][j] = i != j && stmtRefersTo(w.CTEs[i].Stmt, w.CTEs[j].Name)
		}
	}
	for i := range order {
		j := i
		for j < n && slices.Contains(reads[order[j]], true) {
			j++
		}
		if j == n {
			return nil, b.err(w.CTEs[order[i]].Pos, pgerr.FeatureNotSupported, "mutual recursion between WITH items is not implemented")
		}
		order[i], order[j] = order[j], order[i]
		for k := range reads {
			reads[k][order[i]] = false
		}
	}
	return order, nil
}

// stmtRefersTo says whether a statement names a relation in a FROM clause anywhere inside.
func stmtRefersTo(s ast.Stmt, name string) bool {
	r := &recursion{name: name, count: true}
	r.stmt(s)
	return r.refs > 0
}

// Where a recursive query may not read itself.
const (
	placeOK        = ""
	placeBase      = "its non-recursive term"
	placeSubquery  = "a subquery"
	placeOuterJoin = "an outer join"
	placeIntersect = "INTERSECT"
	placeExcept    = "EXCEPT"
)

// recursion walks a recursive query and finds what it reads of itself. The first reference
// that is out of place is kept.
type recursion struct {
	name  string
	place string
	count bool // only count
	refs  int
	// shadow is how many inner WITH queries of the same name are in scope.
	shadow int
	bad    func(r *recursion) error
	err    error
	at     int
}

// checkRecursion refuses a recursive query in the forms PostgreSQL refuses.
func (b *Binder) checkRecursion(c *ast.CTE) error {
	q, ok := c.Stmt.(*ast.Select)
	if !ok {
		return b.err(c.Pos, pgerr.InvalidRecursion, "recursive query %q must not contain data-modifying statements", c.Name)
	}
	if q.SetOp == nil || q.SetOp.Op != "union" {
		return b.err(c.Pos, pgerr.InvalidRecursion, "recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", c.Name)
	}
	r := &recursion{name: c.Name}
	r.bad = func(r *recursion) error {
		if r.place == placeOK {
			return b.err(r.at, pgerr.InvalidRecursion, "recursive reference to query %q must not appear more than once", c.Name)
		}
		return b.err(r.at, pgerr.InvalidRecursion, "recursive reference to query %q must not appear within %s", c.Name, r.place)
	}
	if q.With != nil {
		r.place = placeSubquery
		r.with(q.With)
		r.shadow = 0
	}
	decoration, at := "", -1
	switch {
	case r.err != nil:
	case len(q.OrderBy) > 0:
		decoration, at = "ORDER BY", q.OrderBy[0].Expr.Position()
	case q.Offset != nil:
		decoration, at = "OFFSET", q.Offset.Position()
	case q.Limit != nil:
		decoration, at = "LIMIT", q.Limit.Position()
	case len(q.Locks) > 0:
		decoration = "FOR UPDATE/SHARE"
	}
	if decoration != "" {
		return b.err(at, pgerr.FeatureNotSupported, "%s in a recursive query is not implemented", decoration)
	}
	r.refs, r.place = 0, placeBase
	r.query(q.SetOp.Left)
	r.refs, r.place = 0, placeOK
	r.query(q.SetOp.Right)
	return r.err
}

// within walks a part in which references are out of place.
func (r *recursion) within(place string, f func()) {
	saved := r.place
	if place != placeOK {
		r.place = place
	}
	f()
	r.place = saved
}

func (r *recursion) reference(t *ast.TableRef) {
	if r.shadow > 0 || t.Name.Schema != "" || t.Name.Name != r.name || r.err != nil {
		return
	}
	r.refs++
	if !r.count && (r.place != placeOK || r.refs > 1) {
		r.at = t.Name.Pos
		r.err = r.bad(r)
	}
}

// with walks the queries of an inner WITH and says how many of them hide the name from now on.
func (r *recursion) with(w *ast.With) int {
	hidden := 0
	if w.Recursive {
		for i := range w.CTEs {
			if w.CTEs[i].Name == r.name {
				hidden++
			}
		}
		r.shadow += hidden
	}
	for i := range w.CTEs {
		r.stmt(w.CTEs[i].Stmt)
		if !w.Recursive && w.CTEs[i].Name == r.name {
			hidden++
			r.shadow++
		}
	}
	return hidden
}

func (r *recursion) stmt(s ast.Stmt) {
	with := func(w *ast.With) func() {
		if w == nil {
			return func() {}
		}
		n := r.with(w)
		return func() { r.shadow -= n }
	}
	switch x := s.(type) {
	case *ast.Select:
		r.query(x)
	case *ast.Insert:
		defer with(x.With)()
		r.query(x.Query)
		r.targets(x.Returning)
	case *ast.Update:
		defer with(x.With)()
		r.tables(x.From)
		for _, set := range x.Set {
			r.expr(set.Expr)
		}
		r.expr(x.Where)
		r.targets(x.Returning)
	case *ast.Delete:
		defer with(x.With)()
		r.tables(x.Using)
		r.expr(x.Where)
		r.targets(x.Returning)
	}
}

func (r *recursion) query(q *ast.Select) {
	if q == nil || r.err != nil {
		return
	}
	if q.With != nil {
		n := r.with(q.With)
		defer func() { r.shadow -= n }()
	}
	if s := q.SetOp; s != nil {
		left, right := placeOK, placeOK
		if r.place == placeOK {
			switch {
			case s.Op == "intersect" && s.All:
				left, right = placeIntersect, placeIntersect
			case s.Op == "except" && s.All:
				left, right = placeExcept, placeExcept
			case s.Op == "except":
				right = placeExcept
			}
		}
		r.within(left, func() { r.query(s.Left) })
		r.within(right, func() { r.query(s.Right) })
	}
	for _, row := range q.Values {
		r.exprs(row)
	}
	if c := q.Core; c != nil {
		r.targets(c.Targets)
		r.tables(c.From)
		r.expr(c.Where)
		r.expr(c.Having)
		r.exprs(c.DistinctOn)
	}
	for _, o := range q.OrderBy {
		r.expr(o.Expr)
	}
	r.expr(q.Offset)
	r.expr(q.Limit)
}

func (r *recursion) targets(list []ast.Target) {
	for _, t := range list {
		r.expr(t.Expr)
	}
}

func (r *recursion) tables(list []ast.TableExpr) {
	for _, t := range list {
		r.table(t)
	}
}

func (r *recursion) table(t ast.TableExpr) {
	switch x := t.(type) {
	case *ast.TableRef:
		r.reference(x)
	case *ast.SubqueryRef:
		r.query(x.Query)
	case *ast.FuncRef:
		r.expr(x.Func)
		for _, f := range x.Rows {
			r.expr(f.Func)
		}
	case *ast.Join:
		left, right := placeOK, placeOK
		if r.place == placeOK {
			if x.Kind == "right" || x.Kind == "full" {
				left = placeOuterJoin
			}
			if x.Kind == "left" || x.Kind == "full" {
				right = placeOuterJoin
			}
		}
		r.within(left, func() { r.table(x.Left) })
		r.within(right, func() { r.table(x.Right) })
		r.expr(x.On)
	}
}

func (r *recursion) exprs(list []ast.Expr) {
	for _, e := range list {
		r.expr(e)
	}
}

func (r *recursion) expr(e ast.Expr) {
	if e == nil {
		return
	}
	walkExpr(e, func(p ast.Expr) {
		var sub *ast.Select
		switch x := p.(type) {
		case *ast.Subquery:
			sub = x.Query
		case *ast.Exists:
			sub = x.Query
		case *ast.In:
			sub = x.Query
		case *ast.Quantified:
			sub = x.Query
		}
		if sub == nil {
			return
		}
		r.within(placeSubquery, func() { r.query(sub) })
	})
}

// recursiveAggregate refuses an aggregate of the rows that a recursive query reads of itself.
func (c *coreBinder) recursiveAggregate() error {
	if len(c.agg.aggs) == 0 {
		return nil
	}
	for _, it := range c.sc.items {
		if it.rel == nil || it.rel.sub == nil {
			continue
		}
		if _, ok := it.rel.sub.node.(*exec.WorkTable); !ok {
			continue
		}
		at := -1
		list := []ast.Expr{c.core.Having}
		for _, t := range c.core.Targets {
			list = append(list, t.Expr)
		}
		for _, e := range list {
			walkExpr(e, func(p ast.Expr) {
				if f, ok := p.(*ast.FuncCall); ok && exec.IsAggregate(f.Name.Name) && f.Over == nil && (at < 0 || int(f.Pos) < at) {
					at = int(f.Pos)
				}
			})
		}
		return c.b.err(at, pgerr.InvalidRecursion, "aggregate functions are not allowed in a recursive query's recursive term")
	}
	return nil
}
