package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
)

// outerAgg marks the column that stands for an aggregate of an enclosing level in a
// subquery; grouping that level puts the aggregate's result in its place.
type outerAgg struct{ n int }

// aggLevel is the enclosing level that an aggregate call belongs to: the innermost one
// that its arguments refer to. It is nil when that is the level the call stands in, and
// when no argument refers to anything.
func (b *Binder) aggLevel(sc *scope, x *ast.FuncCall) *scope {
	var level *scope
	own := false
	look := func(e ast.Expr) {
		walkExpr(e, func(p ast.Expr) {
			switch r := p.(type) {
			case *ast.ColumnRef:
				s := b.levelOf(sc, r)
				if s == nil || s == sc {
					own = true
				} else if level == nil || s.depth > level.depth {
					level = s
				}
			case *ast.Star, *ast.Subquery, *ast.Exists, *ast.In, *ast.Quantified:
				own = true // what these refer to is known only once they are bound
			}
		})
	}
	for _, a := range x.Args {
		look(a)
	}
	for _, o := range x.OrderBy {
		look(o.Expr)
	}
	for _, o := range x.WithinGroup {
		look(o.Expr)
	}
	if x.Filter != nil {
		look(x.Filter)
	}
	if own || level == nil || level.agg == nil {
		return nil
	}
	return level
}

// levelOf is the level whose relations have the column, nil when there is none.
func (b *Binder) levelOf(sc *scope, ref *ast.ColumnRef) *scope {
	if n := len(ref.Parts); n > 1 {
		schema := ""
		if n > 2 {
			schema = ref.Parts[n-3]
		}
		_, s := b.findItem(sc, schema, ref.Parts[n-2])
		return s
	}
	for s := sc; s != nil; s = s.parent {
		for _, it := range s.items {
			if it.relOnly || it.hidden {
				continue
			}
			for i := range it.cols {
				if it.cols[i].name == ref.Parts[0] {
					return s
				}
			}
		}
	}
	return nil
}

// outerAggregate binds an aggregate call as one of an enclosing level.
func (b *Binder) outerAggregate(level *scope, x *ast.FuncCall) (exec.Expr, error) {
	agg, clause, allow := b.agg, b.clause, b.allowSet
	b.agg, b.clause, b.allowSet = level.agg, level.clause, 0
	e, err := b.aggregate(level, x)
	b.agg, b.clause, b.allowSet = agg, clause, allow
	if err != nil {
		return nil, err
	}
	ref := e.(*exec.AggRef)
	if level.cell == nil {
		level.cell = b.newCell()
	}
	b.minDepth = min(b.minDepth, level.depth)
	o := &exec.OuterCol{Cell: level.cell, Col: &exec.Col{T: ref.T, Src: outerAgg{ref.N}}, Pos: int(x.Pos)}
	level.outer = append(level.outer, o)
	return o, nil
}
