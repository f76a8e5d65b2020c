package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// BindAssign binds an expression whose value is assigned to a column of type to: literals
// take the type, anything else is coerced by assignment rules (42804 when there is none).
// It also returns the type the expression had by itself.
func (b *Binder) BindAssign(sc *Scope, e ast.Expr, to types.T, colName string) (exec.Expr, types.T, error) {
	s := &scope{}
	if sc != nil {
		s = sc.s
	}
	x, err := b.expr(s, e)
	if err != nil {
		return nil, types.T{}, err
	}
	s.layout()
	from := x.Type()
	r, err := b.coerceAssign(x, to, colName, e.Position())
	return r, from, err
}
