package plan

import "github.com/eiderdb/eider/translate/ast"

// walkFrom calls f for every table reference of a query, in FROM clauses and in
// subqueries of expressions.
func walkFrom(q *ast.Select, f func(*ast.TableRef)) {
	if q == nil {
		return
	}
	if q.With != nil {
		for i := range q.With.CTEs {
			if s, ok := q.With.CTEs[i].Stmt.(*ast.Select); ok {
				walkFrom(s, f)
			}
		}
	}
	if q.SetOp != nil {
		walkFrom(q.SetOp.Left, f)
		walkFrom(q.SetOp.Right, f)
	}
	for _, r := range q.Values {
		for _, e := range r {
			walkExprFrom(e, f)
		}
	}
	if c := q.Core; c != nil {
		for _, t := range c.From {
			walkTable(t, f)
		}
		for _, t := range c.Targets {
			walkExprFrom(t.Expr, f)
		}
		walkExprFrom(c.Where, f)
		walkExprFrom(c.Having, f)
	}
}

func walkTable(t ast.TableExpr, f func(*ast.TableRef)) {
	switch x := t.(type) {
	case *ast.TableRef:
		f(x)
	case *ast.SubqueryRef:
		walkFrom(x.Query, f)
	case *ast.Join:
		walkTable(x.Left, f)
		walkTable(x.Right, f)
		walkExprFrom(x.On, f)
	case *ast.FuncRef:
		walkExprFrom(x.Func, f)
		for _, r := range x.Rows {
			walkExprFrom(r.Func, f)
		}
	}
}

func walkExprFrom(e ast.Expr, f func(*ast.TableRef)) {
	walkExpr(e, func(p ast.Expr) {
		switch x := p.(type) {
		case *ast.Subquery:
			walkFrom(x.Query, f)
		case *ast.Exists:
			walkFrom(x.Query, f)
		case *ast.In:
			walkFrom(x.Query, f)
		case *ast.Quantified:
			walkFrom(x.Query, f)
		}
	})
}

// walkExpr calls f for an expression and its parts, but not for what is in subqueries.
func walkExpr(e ast.Expr, f func(ast.Expr)) {
	if e == nil {
		return
	}
	f(e)
	list := func(l []ast.Expr) {
		for _, p := range l {
			walkExpr(p, f)
		}
	}
	switch x := e.(type) {
	case *ast.Unary:
		walkExpr(x.Expr, f)
	case *ast.Binary:
		walkExpr(x.Left, f)
		walkExpr(x.Right, f)
	case *ast.IsTest:
		walkExpr(x.Expr, f)
	case *ast.Like:
		list([]ast.Expr{x.Expr, x.Pattern, x.Escape})
	case *ast.Between:
		list([]ast.Expr{x.Expr, x.Lo, x.Hi})
	case *ast.In:
		walkExpr(x.Expr, f)
		list(x.List)
	case *ast.Quantified:
		walkExpr(x.Left, f)
		walkExpr(x.Array, f)
	case *ast.Case:
		walkExpr(x.Operand, f)
		for _, w := range x.Whens {
			walkExpr(w.Cond, f)
			walkExpr(w.Then, f)
		}
		walkExpr(x.Else, f)
	case *ast.Cast:
		walkExpr(x.Expr, f)
	case *ast.Collate:
		walkExpr(x.Expr, f)
	case *ast.AtTimeZone:
		walkExpr(x.Expr, f)
		walkExpr(x.Zone, f)
	case *ast.FuncCall:
		list(x.Args)
		walkExpr(x.Filter, f)
	case *ast.RowExpr:
		list(x.Items)
	case *ast.ArrayExpr:
		list(x.Items)
	case *ast.Index:
		list([]ast.Expr{x.Expr, x.Lo, x.Hi})
	case *ast.FieldSelect:
		walkExpr(x.Expr, f)
	}
}
