package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// expr binds an expression in a scope.
func (b *Binder) expr(sc *scope, e ast.Expr) (exec.Expr, error) {
	if err := b.enter(e.Position()); err != nil {
		return nil, err
	}
	defer b.leave()
	switch x := e.(type) {
	case *ast.Literal:
		return b.literal(x, false)
	case *ast.Param:
		return b.param(x)
	case *ast.ColumnRef:
		return b.column(sc, x)
	case *ast.Unary:
		return b.unary(sc, x)
	case *ast.Binary:
		return b.binary(sc, x)
	case *ast.IsTest:
		return b.isTest(sc, x)
	case *ast.Like:
		return b.like(sc, x)
	case *ast.Between:
		return b.between(sc, x)
	case *ast.In:
		return b.in(sc, x)
	case *ast.Quantified:
		return b.quantified(sc, x)
	case *ast.Exists:
		return b.exists(sc, x)
	case *ast.Subquery:
		return b.scalarSub(sc, x)
	case *ast.Case:
		return b.caseExpr(sc, x)
	case *ast.Cast:
		return b.cast(sc, x)
	case *ast.Collate:
		return b.collate(sc, x)
	case *ast.AtTimeZone:
		return b.callNamed(sc, "timezone", []ast.Expr{x.Zone, x.Expr}, int(x.Pos))
	case *ast.FuncCall:
		return b.call(sc, x)
	case *ast.RowExpr:
		return b.row(sc, x)
	case *ast.ArrayExpr:
		return b.array(sc, x)
	case *ast.Index:
		return b.index(sc, x)
	case *ast.FieldSelect:
		return b.field(sc, x)
	case *ast.Default:
		return nil, b.err(int(x.Pos), pgerr.SyntaxError, "DEFAULT is not allowed in this context")
	case *ast.Star:
		return nil, b.err(int(x.Pos), pgerr.SyntaxError, `syntax error at or near "*"`)
	}
	return nil, b.err(e.Position(), pgerr.FeatureNotSupported, "expression is not supported")
}

func (b *Binder) exprs(sc *scope, list []ast.Expr) ([]exec.Expr, error) {
	out := make([]exec.Expr, len(list))
	for i, e := range list {
		x, err := b.expr(sc, e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func positions(list []ast.Expr) func(int) int {
	return func(i int) int { return valuePos(list[i]) }
}

// valuePos is where an expression's value stands: in a cast of a string it is the string.
func valuePos(e ast.Expr) int {
	if c, ok := e.(*ast.Cast); ok {
		if l, ok := c.Expr.(*ast.Literal); ok && l.Kind == ast.LitString {
			return int(l.Pos)
		}
	}
	return e.Position()
}

// condition binds a boolean expression.
func (b *Binder) condition(sc *scope, e ast.Expr, clause string) (exec.Expr, error) {
	x, err := b.expr(sc, e)
	if err != nil {
		return nil, err
	}
	return b.boolean(x, clause, e.Position())
}

func (b *Binder) unary(sc *scope, x *ast.Unary) (exec.Expr, error) {
	if x.Op == "not" {
		a, err := b.condition(sc, x.Expr, "NOT")
		if err != nil {
			return nil, err
		}
		return &exec.Not{Arg: a}, nil
	}
	if u, ok := x.Expr.(*ast.Unary); ok && x.Op == "-" && u.Op == "-" {
		// The parser of PostgreSQL negates constants, one minus at a time.
		if l, ok := u.Expr.(*ast.Literal); ok && (l.Kind == ast.LitInteger || l.Kind == ast.LitNumeric) {
			return b.literal(l, false)
		}
	}
	if l, ok := x.Expr.(*ast.Literal); ok && (l.Kind == ast.LitInteger || l.Kind == ast.LitNumeric) {
		if x.Op == "+" {
			return b.literal(l, false)
		}
		if x.Op == "-" {
			// -9223372036854775808 and -2147483648 fit although their digits alone do not.
			return b.literal(l, true)
		}
	}
	a, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	return b.operator(x.Op, nil, a, int(x.Pos))
}

func (b *Binder) binary(sc *scope, x *ast.Binary) (exec.Expr, error) {
	switch x.Op {
	case "and", "or":
		return b.logic(sc, x)
	case "is distinct from", "is not distinct from":
		if l, ok := x.Left.(*ast.RowExpr); ok {
			if r, ok := x.Right.(*ast.RowExpr); ok {
				return b.rowDistinct(sc, l, r, x.Op == "is not distinct from", x.OpPos)
			}
		}
		l, err := b.expr(sc, x.Left)
		if err != nil {
			return nil, err
		}
		r, err := b.expr(sc, x.Right)
		if err != nil {
			return nil, err
		}
		return b.distinct(l, r, x.Op == "is not distinct from", x.OpPos)
	}
	if op, ok := cmpOps[x.Op]; ok {
		lr, lok := x.Left.(*ast.RowExpr)
		if lok {
			if rr, rok := x.Right.(*ast.RowExpr); rok {
				return b.rowCompare(sc, op, x.Op, lr.Items, rr.Items, x.OpPos)
			}
			if rs, rok := x.Right.(*ast.Subquery); rok && !rs.Array {
				return b.rowSubquery(sc, x.Op, lr.Items, rs, x.OpPos)
			}
		}
	}
	l, err := b.expr(sc, x.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(sc, x.Right)
	if err != nil {
		return nil, err
	}
	return b.operator(x.Op, l, r, x.OpPos)
}

// rowDistinct compares two rows column by column: they are distinct when a pair is.
func (b *Binder) rowDistinct(sc *scope, l, r *ast.RowExpr, not bool, pos int) (exec.Expr, error) {
	if len(l.Items) != len(r.Items) {
		return nil, b.err(pos, pgerr.SyntaxError, "unequal number of entries in row expressions")
	}
	ls, err := b.exprs(sc, l.Items)
	if err != nil {
		return nil, err
	}
	rs, err := b.exprs(sc, r.Items)
	if err != nil {
		return nil, err
	}
	list := make([]exec.Expr, len(ls))
	for i := range ls {
		if list[i], err = b.distinct(ls[i], rs[i], not, pos); err != nil {
			return nil, err
		}
	}
	if not {
		return &exec.And{List: list}, nil
	}
	return &exec.Or{List: list}, nil
}

// logic binds AND and OR chains flat, however deep the tree leans.
func (b *Binder) logic(sc *scope, x *ast.Binary) (exec.Expr, error) {
	var parts []ast.Expr
	stack := []ast.Expr{x}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if y, ok := e.(*ast.Binary); ok && y.Op == x.Op {
			stack = append(stack, y.Right, y.Left)
			continue
		}
		parts = append(parts, e)
	}
	clause := "AND"
	if x.Op == "or" {
		clause = "OR"
	}
	out := make([]exec.Expr, len(parts))
	for i, p := range parts {
		e, err := b.condition(sc, p, clause)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	if x.Op == "and" {
		return &exec.And{List: out}, nil
	}
	return &exec.Or{List: out}, nil
}

func (b *Binder) isTest(sc *scope, x *ast.IsTest) (exec.Expr, error) {
	a, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	switch x.Test {
	case "null":
		return &exec.IsNull{Arg: b.anyValue(a), Not: x.Not}, nil
	case "unknown":
		if a, err = b.boolean(a, "IS UNKNOWN", x.Expr.Position()); err != nil {
			return nil, err
		}
		return &exec.IsNull{Arg: a, Not: x.Not}, nil
	}
	clause := "IS TRUE"
	if x.Test == "false" {
		clause = "IS FALSE"
	}
	if a, err = b.boolean(a, clause, x.Expr.Position()); err != nil {
		return nil, err
	}
	return &exec.IsBool{Arg: a, Want: x.Test == "true", Not: x.Not}, nil
}

func (b *Binder) like(sc *scope, x *ast.Like) (exec.Expr, error) {
	l, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(sc, x.Pattern)
	if err != nil {
		return nil, err
	}
	var esc exec.Expr
	if x.Escape != nil {
		if esc, err = b.expr(sc, x.Escape); err != nil {
			return nil, err
		}
	}
	if x.Kind == "similar" {
		args := []exec.Expr{r}
		if esc != nil {
			args = append(args, esc)
		}
		if r, err = b.callBound("similar_to_escape", args, x.OpPos); err != nil {
			return nil, err
		}
		op := "~"
		if x.Not {
			op = "!~"
		}
		return b.operator(op, l, r, x.OpPos)
	}
	if esc != nil {
		if r, err = b.callBound("like_escape", []exec.Expr{r, esc}, x.OpPos); err != nil {
			return nil, err
		}
	}
	op := map[string]string{"like": "~~", "ilike": "~~*"}[x.Kind]
	if x.Not {
		op = "!" + op
	}
	return b.operator(op, l, r, x.OpPos)
}

func (b *Binder) between(sc *scope, x *ast.Between) (exec.Expr, error) {
	v, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	lo, err := b.expr(sc, x.Lo)
	if err != nil {
		return nil, err
	}
	hi, err := b.expr(sc, x.Hi)
	if err != nil {
		return nil, err
	}
	pos := int(x.Pos)
	pair := func(lo, hi exec.Expr) (exec.Expr, error) {
		ge, err := b.operator(">=", v, lo, pos)
		if err != nil {
			return nil, err
		}
		le, err := b.operator("<=", v, hi, pos)
		if err != nil {
			return nil, err
		}
		return &exec.And{List: []exec.Expr{ge, le}}, nil
	}
	out, err := pair(lo, hi)
	if err != nil {
		return nil, err
	}
	if x.Symmetric {
		rev, err := pair(hi, lo)
		if err != nil {
			return nil, err
		}
		out = &exec.Or{List: []exec.Expr{out, rev}}
	}
	if x.Not {
		out = &exec.Not{Arg: out}
	}
	return out, nil
}

func (b *Binder) in(sc *scope, x *ast.In) (exec.Expr, error) {
	if x.Query != nil {
		left := []ast.Expr{x.Expr}
		if r, ok := x.Expr.(*ast.RowExpr); ok {
			left = r.Items
		}
		return b.quantSub(sc, "=", left, x.Query, false, x.Not, int(x.Pos))
	}
	if r, ok := x.Expr.(*ast.RowExpr); ok {
		var list []exec.Expr
		for _, e := range x.List {
			er, ok := e.(*ast.RowExpr)
			if !ok {
				return nil, b.err(e.Position(), pgerr.UndefinedFunction, "operator does not exist: record = %s", "unknown")
			}
			c, err := b.rowCompare(sc, exec.EQ, "=", r.Items, er.Items, int(x.Pos))
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
		var out exec.Expr = &exec.Or{List: list}
		if x.Not {
			out = &exec.Not{Arg: out}
		}
		return out, nil
	}
	v, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	list, err := b.exprs(sc, x.List)
	if err != nil {
		return nil, err
	}
	// Like PostgreSQL: one common type for the whole list when there is one, else a chain of =.
	all := append([]exec.Expr{v}, list...)
	at := func(i int) int {
		if i == 0 {
			return x.Expr.Position()
		}
		return x.List[i-1].Position()
	}
	if oid, err := b.commonType(all, "IN", at); err == nil && b.hasEquality(oid) {
		ok := true
		conv := make([]exec.Expr, len(all))
		for i, e := range all {
			c, err := b.coerce(e, typ(oid), types.Implicit, at(i))
			if err != nil {
				return nil, err
			}
			if c == nil {
				ok = false
				break
			}
			conv[i] = c
		}
		if ok {
			static := true
			for _, e := range conv[1:] {
				static = static && isStatic(e)
			}
			return &exec.InList{Arg: conv[0], List: conv[1:], OID: cmpOID(oid), Not: x.Not, Static: static}, nil
		}
	}
	var parts []exec.Expr
	for i, e := range list {
		op := "="
		if x.Not {
			op = "<>"
		}
		c, err := b.operator(op, v, e, x.List[i].Position())
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
	}
	if x.Not {
		return &exec.And{List: parts}, nil
	}
	return &exec.Or{List: parts}, nil
}

// isStatic says whether an expression has one value for a whole execution: no columns
// of any level and nothing that changes from call to call.
func isStatic(e exec.Expr) bool {
	ok := true
	exec.WalkExpr(e, func(p exec.Expr) bool {
		switch x := p.(type) {
		case *exec.Col, *exec.OuterCol, *exec.CaseTest, *exec.ScalarSub, *exec.ExistsSub, *exec.QuantSub, *exec.AggRef, *exec.WinRef:
			ok = false
		case *exec.FuncX:
			if x.F.Vol == exec.Volatile || x.F.Set {
				ok = false
			}
		}
		return ok
	})
	return ok
}

func (b *Binder) caseExpr(sc *scope, x *ast.Case) (exec.Expr, error) {
	out := &exec.CaseX{}
	if x.Operand != nil {
		op, err := b.expr(sc, x.Operand)
		if err != nil {
			return nil, err
		}
		op = b.resolveUnknown(op)
		out.Operand = op
		out.Test = &exec.CaseTest{T: op.Type()}
	}
	var vals []exec.Expr
	var at []int
	for _, w := range x.Whens {
		var c exec.Expr
		var err error
		if out.Test != nil {
			r, err := b.expr(sc, w.Cond)
			if err != nil {
				return nil, err
			}
			if c, err = b.operator("=", out.Test, r, w.Cond.Position()); err != nil {
				return nil, err
			}
			if c, err = b.boolean(c, "CASE/WHEN", w.Cond.Position()); err != nil {
				return nil, err
			}
		} else if c, err = b.condition(sc, w.Cond, "CASE/WHEN"); err != nil {
			return nil, err
		}
		out.Conds = append(out.Conds, c)
		v, err := b.expr(sc, w.Then)
		if err != nil {
			return nil, err
		}
		vals = append(vals, v)
		at = append(at, w.Then.Position())
	}
	// PostgreSQL lets ELSE come first when it chooses the type.
	if x.Else != nil {
		v, err := b.expr(sc, x.Else)
		if err != nil {
			return nil, err
		}
		vals = append([]exec.Expr{v}, vals...)
		at = append([]int{x.Else.Position()}, at...)
	}
	vals, t, err := b.unify(vals, "CASE", func(i int) int { return at[i] })
	if err != nil {
		return nil, err
	}
	out.T = t
	if x.Else != nil {
		out.Else, vals = vals[0], vals[1:]
	}
	out.Thens = vals
	return out, nil
}

func (b *Binder) cast(sc *scope, x *ast.Cast) (exec.Expr, error) {
	to, err := b.bindType(x.Type)
	if err != nil {
		return nil, err
	}
	// A typed ARRAY[] takes its element type from the cast.
	if a, ok := x.Expr.(*ast.ArrayExpr); ok && types.ElemOf(to.OID) != 0 {
		return b.arrayOf(sc, a, to)
	}
	e, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	return b.mustCoerce(e, to, types.Explicit, x.OpPos)
}

func (b *Binder) collate(sc *scope, x *ast.Collate) (exec.Expr, error) {
	e, err := b.expr(sc, x.Expr)
	if err != nil {
		return nil, err
	}
	switch x.Collation.Name {
	case "C", "POSIX", "default", "ucs_basic", "en_US", "en_US.utf8", "en-US-x-icu", "und-x-icu", "C.UTF-8", "C.utf8", "unicode":
	default:
		return nil, b.err(x.OpPos, pgerr.UndefinedObject, "collation %q for encoding \"UTF8\" does not exist", x.Collation.Name)
	}
	if isUnknown(e) {
		return e, nil // it takes its type from what it is compared with
	}
	if category(e.Type().OID) != 'S' && category(e.Type().OID) != 'A' && e.Type().OID != types.JSONOID {
		return nil, b.err(x.OpPos, pgerr.DatatypeMismatch, "collations are not supported by type %s", types.TypeName(e.Type().OID))
	}
	return e, nil
}
