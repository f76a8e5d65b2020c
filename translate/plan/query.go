package plan

import (
	"strconv"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// bindQuery binds a query expression below parent (nil: outermost). Output columns may
// still be of unknown type.
func (b *Binder) bindQuery(q *ast.Select, parent *scope) (exec.Node, error) {
	if err := b.enter(q.Pos); err != nil {
		return nil, err
	}
	defer b.leave()
	b.nested++
	defer func() { b.nested-- }()
	// A subquery has aggregates and clauses of its own.
	clause, agg := b.clause, b.agg
	b.clause, b.agg = "", nil
	defer func() { b.clause, b.agg = clause, agg }()
	if q.With == nil {
		return b.bindBody(q, parent)
	}
	mark := len(b.ctes)
	ctes, err := b.bindWith(q.With, parent)
	if err != nil {
		return nil, err
	}
	n, err := b.bindBody(q, parent)
	b.ctes = b.ctes[:mark]
	if err != nil {
		return nil, err
	}
	return b.withNode(ctes, n), nil
}

func (b *Binder) withNode(ctes []*cteEntry, n exec.Node) exec.Node {
	w := &exec.With{Body: n}
	for _, c := range ctes {
		if c.cte != nil && (c.cte.Writes || c.cte.Correlated || c.cte.Lazy) {
			w.CTEs = append(w.CTEs, c.cte)
		}
	}
	if len(w.CTEs) == 0 {
		return n
	}
	return w
}

func (b *Binder) bindBody(q *ast.Select, parent *scope) (exec.Node, error) {
	switch {
	case q.Core != nil:
		return b.bindCore(q, parent)
	case q.SetOp != nil:
		return b.bindSetOp(q, parent)
	default:
		if err := b.lockOver(q, "cannot be applied to VALUES"); err != nil {
			return nil, err
		}
		return b.bindValues(q, parent)
	}
}

// settleUnknown makes output columns of unknown type text.
func (b *Binder) settleUnknown(n exec.Node) (exec.Node, error) {
	cols := n.Columns()
	any := false
	for _, c := range cols {
		any = any || c.Type.OID == types.UnknownOID
	}
	if !any {
		return n, nil
	}
	want := make([]types.T, len(cols))
	for i, c := range cols {
		want[i] = c.Type
		if c.Type.OID == types.UnknownOID {
			want[i] = textT
		}
	}
	if l, ok := n.(*exec.Limit); ok {
		if raw, ok := l.In.(*exec.RawScan); ok {
			nl := *l
			nl.In = typedRaw(raw, want)
			return &nl, nil
		}
	}
	if raw, ok := n.(*exec.RawScan); ok {
		return typedRaw(raw, want), nil
	}
	return b.convert(n, want, types.Implicit, func(int) int { return -1 })
}

// typedRaw gives the NULLs of a raw scan a type.
func typedRaw(n *exec.RawScan, want []types.T) exec.Node {
	out := *n
	out.Exprs = append([]exec.Expr(nil), n.Exprs...)
	out.Cols = append([]exec.Column(nil), n.Cols...)
	for i := range out.Cols {
		if out.Cols[i].Type.OID == types.UnknownOID {
			out.Cols[i].Type = want[i]
			out.Exprs[i] = &exec.Const{T: want[i]}
		}
	}
	return &out
}

// convert casts a query's output columns.
func (b *Binder) convert(n exec.Node, want []types.T, ctx types.CastContext, pos func(int) int) (exec.Node, error) {
	cols := n.Columns()
	out := &exec.Project{In: n, Exprs: make([]exec.Expr, len(want)), Cols: make([]exec.Column, len(want))}
	same := true
	for i, t := range want {
		c := cols[i]
		var e exec.Expr = &exec.Col{Idx: i, T: c.Type, Name: c.Name}
		if c.Type != t && (c.Type.OID != t.OID || t.Mod >= 0) {
			same = false
			r, err := b.mustCoerce(e, t, ctx, pos(i))
			if err != nil {
				return nil, err
			}
			e = r
		}
		out.Exprs[i] = e
		out.Cols[i] = exec.Column{Name: c.Name, Type: t, Table: c.Table, Attr: c.Attr}
	}
	if same {
		return n, nil
	}
	// A projection below takes the casts itself.
	if p, ok := n.(*exec.Project); ok && len(p.Exprs) == len(want) {
		np := &exec.Project{In: p.In, Exprs: make([]exec.Expr, len(want)), Cols: out.Cols}
		for i, t := range want {
			e := p.Exprs[i]
			if et := e.Type(); et != t && (et.OID != t.OID || t.Mod >= 0) {
				r, err := b.mustCoerce(e, t, ctx, pos(i))
				if err != nil {
					return nil, err
				}
				e = r
			}
			np.Exprs[i] = e
		}
		return np, nil
	}
	return out, nil
}

func (b *Binder) bindValues(q *ast.Select, parent *scope) (exec.Node, error) {
	sc := newScope(parent)
	v := &exec.Values{}
	b.clause = "VALUES"
	width := -1
	cols := [][]exec.Expr{}
	for _, r := range q.Values {
		if width < 0 {
			width = len(r)
			cols = make([][]exec.Expr, width)
		}
		if len(r) != width {
			return nil, b.err(r[0].Position(), pgerr.SyntaxError, "VALUES lists must all be the same length")
		}
		for i, e := range r {
			x, err := b.expr(sc, e)
			if err != nil {
				return nil, err
			}
			cols[i] = append(cols[i], x)
		}
	}
	b.clause = ""
	v.Rows = make([][]exec.Expr, len(q.Values))
	for i := range v.Rows {
		v.Rows[i] = make([]exec.Expr, width)
	}
	for i, list := range cols {
		conv, t, err := b.unify(list, "VALUES", func(k int) int { return valuePos(q.Values[k][i]) })
		if err != nil {
			return nil, err
		}
		for k, e := range conv {
			v.Rows[k][i] = e
		}
		v.Cols = append(v.Cols, exec.Column{Name: "column" + strconv.Itoa(i+1), Type: t})
	}
	sc.layout()
	return b.orderLimit(q, v, parent)
}

// orderLimit adds ORDER BY by output column, and LIMIT, to VALUES and set operations.
func (b *Binder) orderLimit(q *ast.Select, n exec.Node, parent *scope) (exec.Node, error) {
	cols := n.Columns()
	var keys []exec.SortKey
	for _, o := range q.OrderBy {
		at := -1
		switch x := o.Expr.(type) {
		case *ast.Literal:
			i, err := b.ordinal(x, len(cols), "ORDER BY")
			if err != nil {
				return nil, err
			}
			at = i
		case *ast.ColumnRef:
			if len(x.Parts) == 1 {
				for i, c := range cols {
					if c.Name == x.Parts[0] {
						at = i
						break
					}
				}
			}
			if at < 0 && q.SetOp == nil {
				break
			}
			if at < 0 {
				name := x.Parts[len(x.Parts)-1]
				return nil, operandHint(b.err(int(x.Pos), pgerr.UndefinedColumn, "column %q does not exist", name), q, name)
			}
		}
		if at < 0 {
			if q.SetOp != nil {
				return nil, b.err(o.Expr.Position(), pgerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
					WithDetail("Only result column names can be used, not expressions or functions.").
					WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
			}
			return nil, b.err(o.Expr.Position(), pgerr.UndefinedColumn, "column does not exist")
		}
		k, err := b.sortKey(o, at, cols[at].Type.OID)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) > 0 {
		n = &exec.Sort{In: n, Keys: keys}
	}
	return b.limit(q, n, keys, parent)
}

func (b *Binder) ordinal(l *ast.Literal, n int, clause string) (int, error) {
	if l.Kind != ast.LitInteger {
		return 0, b.err(int(l.Pos), pgerr.SyntaxError, "non-integer constant in %s", clause)
	}
	b.fix(l)
	v, ok := 0, len(l.Text) < 6
	if ok {
		for i := 0; i < len(l.Text); i++ {
			v = v*10 + int(l.Text[i]-'0')
		}
	}
	if !ok || v < 1 || v > n {
		return 0, b.err(int(l.Pos), pgerr.InvalidColumnReference, "%s position %s is not in select list", clause, l.Text)
	}
	return v - 1, nil
}

func (b *Binder) sortKey(o ast.OrderItem, at int, oid types.OID) (exec.SortKey, error) {
	desc := o.Desc || o.Using == ">" || o.Using == ">="
	k := exec.SortKey{Idx: at, OID: oid, Desc: desc, NullsFirst: desc}
	if o.NullsFirst != nil {
		k.NullsFirst = *o.NullsFirst
	}
	if oid == types.UnknownOID {
		k.OID = types.TextOID
	} else if !b.hasOrder(oid) {
		return k, b.err(o.Expr.Position(), pgerr.UndefinedFunction, "could not identify an ordering operator for type %s", types.TypeName(oid)).
			WithHint("Use an explicit ordering operator or modify the query.")
	}
	return k, nil
}

// limit adds LIMIT and OFFSET.
func (b *Binder) limit(q *ast.Select, n exec.Node, keys []exec.SortKey, parent *scope) (exec.Node, error) {
	if q.Limit == nil && q.Offset == nil {
		return n, nil
	}
	l := &exec.Limit{In: n}
	one := func(e ast.Expr, clause string) (exec.Expr, error) {
		if e == nil {
			return nil, nil
		}
		sc := newScope(parent)
		b.clause = clause
		x, err := b.expr(sc, e)
		b.clause = ""
		if err != nil {
			if pgerr.CodeOf(err) == pgerr.UndefinedColumn {
				return nil, b.err(e.Position(), pgerr.InvalidColumnReference, "argument of %s must not contain variables", clause)
			}
			return nil, err
		}
		c, err := b.coerce(x, int8T, types.Assignment, e.Position())
		if err != nil {
			return nil, err
		}
		if c == nil {
			return nil, b.err(e.Position(), pgerr.DatatypeMismatch, "argument of %s must be type bigint, not type %s", clause, types.TypeName(x.Type().OID))
		}
		return c, nil
	}
	var err error
	if l.Count, err = one(q.Limit, "LIMIT"); err != nil {
		return nil, err
	}
	if l.Offset, err = one(q.Offset, "OFFSET"); err != nil {
		return nil, err
	}
	if q.WithTies {
		if len(keys) == 0 {
			return nil, b.err(-1, pgerr.SyntaxError, "WITH TIES cannot be specified without ORDER BY clause")
		}
		l.Ties = keys
	}
	return l, nil
}

func newScope(parent *scope) *scope {
	s := &scope{parent: parent, depth: 1}
	if parent != nil {
		s.depth = parent.depth + 1
	}
	return s
}

func (b *Binder) bindSetOp(q *ast.Select, parent *scope) (exec.Node, error) {
	s := q.SetOp
	if err := b.lockOver(q, "is not allowed with UNION/INTERSECT/EXCEPT"); err != nil {
		return nil, err
	}
	l, err := b.bindQuery(s.Left, parent)
	if err != nil {
		return nil, err
	}
	r, err := b.bindQuery(s.Right, parent)
	if err != nil {
		return nil, err
	}
	n, err := b.setOp(s, l, r)
	if err != nil {
		return nil, err
	}
	return b.orderLimit(q, n, parent)
}

// operandHint completes the error about a column that another query of a UNION has and the
// first has not.
func operandHint(e *pgerr.Error, q *ast.Select, name string) *pgerr.Error {
	if q.SetOp == nil {
		return e
	}
	var operands []*ast.Select
	var flatten func(q *ast.Select)
	flatten = func(q *ast.Select) {
		if q.SetOp == nil || len(q.OrderBy) > 0 || q.Limit != nil || q.With != nil {
			operands = append(operands, q)
			return
		}
		flatten(q.SetOp.Left)
		flatten(q.SetOp.Right)
	}
	flatten(q.SetOp.Left)
	flatten(q.SetOp.Right)
	in := 0
	for i, o := range operands {
		if o.Core == nil {
			continue
		}
		for _, t := range o.Core.Targets {
			if t.Alias == name || t.Alias == "" && outputName(t.Expr) == name {
				if in > 0 {
					return e
				}
				in = i + 1
			}
		}
	}
	if in == 0 {
		return e
	}
	return e.WithHint(`There is a column named "%s" in table "*SELECT* %d", but it cannot be referenced from this part of the query.`, name, in)
}

// firstPos is where a query's first output expression stands.
func firstPos(q *ast.Select) int {
	for q.SetOp != nil {
		q = q.SetOp.Left
	}
	switch {
	case q.Core != nil && len(q.Core.Targets) > 0:
		return valuePos(q.Core.Targets[0].Expr)
	case len(q.Values) > 0 && len(q.Values[0]) > 0:
		return valuePos(q.Values[0][0])
	}
	return q.Pos
}

func (b *Binder) setOp(s *ast.SetOp, l, r exec.Node) (exec.Node, error) {
	name := map[string]string{"union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}[s.Op]
	lc, rc := l.Columns(), r.Columns()
	if len(lc) != len(rc) {
		return nil, b.err(firstPos(s.Right), pgerr.SyntaxError, "each %s query must have the same number of columns", name)
	}
	n := &exec.SetOp{Op: s.Op, All: s.All}
	want := make([]types.T, len(lc))
	for i := range lc {
		pair := []exec.Expr{&exec.Col{T: lc[i].Type}, &exec.Col{T: rc[i].Type}}
		// An unknown literal takes the other side's type.
		oid, err := b.commonType(pair, name, func(int) int { return firstPos(s.Right) })
		if err != nil {
			return nil, err
		}
		t := types.T{OID: oid, Mod: -1}
		if lc[i].Type == rc[i].Type {
			t = lc[i].Type
			if t.OID == types.UnknownOID {
				t = textT
			}
		}
		if !s.All && !b.hasEquality(t.OID) {
			return nil, b.err(-1, pgerr.UndefinedFunction, "could not identify an equality operator for type %s", types.TypeName(t.OID))
		}
		want[i] = t
		n.OIDs = append(n.OIDs, t.OID)
		n.Cols = append(n.Cols, exec.Column{Name: lc[i].Name, Type: t})
	}
	at := func(int) int { return -1 }
	var err error
	if n.L, err = b.convert(l, want, types.Implicit, at); err != nil {
		return nil, err
	}
	if n.R, err = b.convert(r, want, types.Implicit, at); err != nil {
		return nil, err
	}
	return n, nil
}
