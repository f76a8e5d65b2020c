package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// subPlan binds a query inside of an expression.
func (b *Binder) subPlan(sc *scope, q *ast.Select) (*exec.SubPlan, error) {
	saved := b.minDepth
	b.minDepth = maxDepthMark
	logged := len(sc.outer)
	inFrom, allow := b.inFrom, b.allowSet
	b.inFrom, b.allowSet = false, 0
	sc.clause = b.clause
	n, err := b.bindQuery(q, sc)
	b.inFrom, b.allowSet = inFrom, allow
	if err == nil {
		n, err = b.settleUnknown(n)
	}
	depth := b.minDepth
	if saved != 0 {
		b.minDepth = min(saved, depth)
	} else {
		b.minDepth = depth
	}
	if err != nil {
		return nil, err
	}
	p := &exec.SubPlan{Node: n, Outer: sc.outer[logged:len(sc.outer):len(sc.outer)], Correlated: depth < maxDepthMark}
	if len(p.Outer) > 0 {
		p.Cell = sc.cell
	}
	return p, nil
}

func (b *Binder) exists(sc *scope, x *ast.Exists) (exec.Expr, error) {
	p, err := b.subPlan(sc, x.Query)
	if err != nil {
		return nil, err
	}
	return &exec.ExistsSub{Plan: p}, nil
}

func (b *Binder) scalarSub(sc *scope, x *ast.Subquery) (exec.Expr, error) {
	p, err := b.subPlan(sc, x.Query)
	if err != nil {
		return nil, err
	}
	cols := p.Node.Columns()
	if len(cols) != 1 {
		return nil, b.err(int(x.Pos), pgerr.SyntaxError, "subquery must return only one column")
	}
	t := cols[0].Type
	if x.Array {
		arr := types.ArrayOf(t.OID)
		if types.IsArray(t.OID) {
			arr = t.OID
		}
		if arr == 0 {
			return nil, b.err(int(x.Pos), pgerr.UndefinedObject, "could not find array type for data type %s", types.TypeName(t.OID))
		}
		return &exec.ScalarSub{Plan: p, T: typ(arr), Array: true}, nil
	}
	return &exec.ScalarSub{Plan: p, T: t}, nil
}

// rowSubquery binds (a, b) op (SELECT x, y …).
func (b *Binder) rowSubquery(sc *scope, op string, left []ast.Expr, s *ast.Subquery, pos int) (exec.Expr, error) {
	ls, err := b.exprs(sc, left)
	if err != nil {
		return nil, err
	}
	p, err := b.subPlan(sc, s.Query)
	if err != nil {
		return nil, err
	}
	cols := p.Node.Columns()
	if len(cols) != len(ls) {
		return nil, b.err(pos, pgerr.SyntaxError, "subquery has too %s columns", map[bool]string{true: "many", false: "few"}[len(cols) > len(ls)])
	}
	sub := &exec.ScalarSub{Plan: p, T: typ(types.RecordOID), Row: true}
	rs := make([]exec.Expr, len(cols))
	for i, c := range cols {
		rs[i] = &exec.FieldX{Arg: sub, N: i, T: c.Type}
	}
	return b.compareRows(cmpOps[op], op, ls, rs, pos)
}

func (b *Binder) quantified(sc *scope, x *ast.Quantified) (exec.Expr, error) {
	if x.Query != nil {
		left := []ast.Expr{x.Left}
		if r, ok := x.Left.(*ast.RowExpr); ok {
			left = r.Items
		}
		return b.quantSub(sc, x.Op, left, x.Query, x.All, false, int(x.Pos))
	}
	l, err := b.expr(sc, x.Left)
	if err != nil {
		return nil, err
	}
	arr, err := b.expr(sc, x.Array)
	if err != nil {
		return nil, err
	}
	if isUnknown(arr) {
		// The array takes its type from the left side.
		at := types.ArrayOf(cmpOID(l.Type().OID))
		if isUnknown(l) || at == 0 {
			at = types.TextArrayOID
		}
		if arr, err = b.mustCoerce(arr, typ(at), types.Implicit, x.Array.Position()); err != nil {
			return nil, err
		}
	}
	elem := types.ElemOf(arr.Type().OID)
	if elem == 0 {
		return nil, b.err(x.OpPos, pgerr.WrongObjectType, "op ANY/ALL (array) requires array on right side")
	}
	l2 := l
	if isUnknown(l) {
		if l2, err = b.mustCoerce(l, typ(elem), types.Implicit, int(x.Pos)); err != nil {
			return nil, err
		}
	}
	q := &exec.QuantArr{Left: l2, Arr: arr, All: x.All, Ltest: &exec.CaseTest{T: l2.Type()}, Test: &exec.CaseTest{T: typ(elem)}}
	if q.Cond, err = b.operator(x.Op, q.Ltest, q.Test, int(x.Pos)); err != nil {
		return nil, err
	}
	if q.Cond, err = b.boolean(q.Cond, "ANY/ALL", int(x.Pos)); err != nil {
		return nil, b.err(int(x.Pos), pgerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean")
	}
	if c, ok := q.Cond.(*exec.Cmp); ok && c.Op == exec.EQ && bare(c.L) == exec.Expr(q.Ltest) && bare(c.R) == exec.Expr(q.Test) {
		q.Hash = c.OID
	}
	return q, nil
}

// quantSub binds x op ANY|ALL (query) and x IN (query).
func (b *Binder) quantSub(sc *scope, op string, left []ast.Expr, query *ast.Select, all, not bool, pos int) (exec.Expr, error) {
	ls, err := b.exprs(sc, left)
	if err != nil {
		return nil, err
	}
	p, err := b.subPlan(sc, query)
	if err != nil {
		return nil, err
	}
	cols := p.Node.Columns()
	if len(cols) != len(ls) {
		return nil, b.err(pos, pgerr.SyntaxError, "subquery has too %s columns", map[bool]string{true: "many", false: "few"}[len(cols) > len(ls)])
	}
	q := &exec.QuantSub{Plan: p, All: all, Not: not}
	var lt, rt []exec.Expr
	for i, l := range ls {
		if isUnknown(l) {
			if l, err = b.mustCoerce(l, typ(cols[i].Type.OID), types.Implicit, pos); err != nil {
				return nil, err
			}
		}
		t1 := &exec.CaseTest{T: l.Type()}
		t2 := &exec.CaseTest{T: cols[i].Type}
		q.Left = append(q.Left, l)
		q.Ltest = append(q.Ltest, t1)
		q.Test = append(q.Test, t2)
		lt = append(lt, t1)
		rt = append(rt, t2)
	}
	if len(ls) == 1 {
		q.Cond, err = b.operator(op, lt[0], rt[0], pos)
	} else {
		c, ok := cmpOps[op]
		if !ok {
			return nil, b.err(pos, pgerr.FeatureNotSupported, "row comparison operator %s is not supported", op)
		}
		q.Cond, err = b.compareRows(c, op, lt, rt, pos)
	}
	if err != nil {
		return nil, err
	}
	if q.Cond, err = b.boolean(q.Cond, "ANY/ALL", pos); err != nil {
		return nil, err
	}
	if op == "=" && !all {
		b.hashable(q)
	}
	return q, nil
}

// hashable says so when the comparison is plain equality of values as they are: then an
// uncorrelated subquery's rows go into a set.
func (b *Binder) hashable(q *exec.QuantSub) {
	var oids []types.OID
	ok := func(l, r exec.Expr, i int, oid types.OID) bool {
		if types.IsArray(oid) || oid == types.JSONBOID || oid == types.RecordOID {
			return false
		}
		// A conversion on the subquery's side would have to be applied to every row.
		return bare(r) == exec.Expr(q.Test[i]) && (bare(l) == exec.Expr(q.Ltest[i]))
	}
	switch c := q.Cond.(type) {
	case *exec.Cmp:
		if c.Op != exec.EQ || !ok(c.L, c.R, 0, c.OID) {
			return
		}
		oids = append(oids, c.OID)
	case *exec.RowCmp:
		for i := range c.L {
			if !ok(c.L[i], c.R[i], i, c.OIDs[i]) {
				return
			}
			oids = append(oids, c.OIDs[i])
		}
		// A NULL in one column of a pair does not always make the pair NULL.
		if len(oids) > 1 {
			return
		}
	default:
		return
	}
	q.Hash = oids
}
