package plan

import "github.com/eiderdb/eider/translate/ast"

// outputName is the name PostgreSQL gives to a target without alias.
func outputName(e ast.Expr) string {
	if n, strength := nameOf(e); strength > 0 {
		return n
	}
	return "?column?"
}

// nameOf is a name with its strength: 2 for names that a cast keeps, 1 for names that it
// replaces, 0 for none.
func nameOf(e ast.Expr) (string, int) {
	switch x := e.(type) {
	case *ast.ColumnRef:
		return x.Parts[len(x.Parts)-1], 2
	case *ast.FuncCall:
		return x.Name.Name, 2
	case *ast.Cast:
		if n, s := nameOf(x.Expr); s > 1 {
			return n, s
		}
		return x.Type.Name, 1
	case *ast.Collate:
		return nameOf(x.Expr)
	case *ast.Index:
		return nameOf(x.Expr)
	case *ast.FieldSelect:
		return x.Field, 2
	case *ast.Case:
		if x.Else != nil {
			if n, s := nameOf(x.Else); s > 1 {
				return n, s
			}
		}
		return "case", 1
	case *ast.ArrayExpr:
		return "array", 2
	case *ast.RowExpr:
		return "row", 2
	case *ast.AtTimeZone:
		return "timezone", 2
	case *ast.Exists:
		return "exists", 2
	case *ast.Subquery:
		if x.Array {
			return "array", 2
		}
		if c := firstCore(x.Query); c != nil && len(c.Targets) > 0 {
			if t := c.Targets[0]; t.Alias != "" {
				return t.Alias, 2
			}
			return outputName(c.Targets[0].Expr), 2
		}
		if x.Query.Values != nil {
			return "column1", 2
		}
	}
	return "", 0
}

func firstCore(q *ast.Select) *ast.SelectCore {
	for q.SetOp != nil {
		q = q.SetOp.Left
	}
	return q.Core
}
