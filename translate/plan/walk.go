package plan

import "github.com/eiderdb/eider/translate/ast"

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
