package plan

import (
	"errors"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

type (
	state struct{}
	scope struct{}
)

var errWork = errors.New("plan: being built")

func (b *Binder) tableScope(*rel.Table, string) *Scope           { return nil }
func (b *Binder) bindStmt(ast.Stmt) (exec.Node, error)           { return nil, errWork }
func (b *Binder) bindExprIn(*Scope, ast.Expr) (exec.Expr, error) { return nil, errWork }
func (b *Binder) coerceAssign(exec.Expr, types.T, string, int) (exec.Expr, error) {
	return nil, errWork
}
func (b *Binder) bindTable(ast.Name) (*rel.Table, error) { return nil, errWork }
func (b *Binder) bindType(ast.TypeName) (types.T, error) { return types.T{}, errWork }
func (b *Binder) bound() Bound                           { return Bound{} }
