package plan

import (
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// Binder binds one statement. Its exported fields are set by the caller before the first
// call; a Binder is used once and by one goroutine.
type Binder struct {
	// Text is the text that positions in the tree refer to (the whole batch).
	Text string
	// Txn is the transaction whose catalog names are resolved in.
	Txn *store.Txn
	// Virtual finds pg_catalog and information_schema tables; may be nil.
	Virtual exec.VirtualRegistry
	// Funcs is the function table; nil means the built-in functions only.
	Funcs *exec.FuncSet
	// SearchPath is the effective search path (existing schemas), without pg_temp and
	// pg_catalog, which are looked up first.
	SearchPath []string
	Env        *types.Env
	Session    exec.Session
	// Params are the parameter types: in, what the client declared (0 unknown); out, with
	// the inferred ones. It grows to the highest parameter that is used. nil Params with
	// NoParams set refuses parameters (42P02).
	Params   []types.OID
	NoParams bool
	// ParseExpr parses a stored expression (DEFAULT, CHECK) and ParseQuery a view's text;
	// they default to the parse package.
	ParseExpr  func(string) (ast.Expr, error)
	ParseQuery func(string) (*ast.Select, error)
	// Slots says that the plan will run with other literal values: literals are then
	// left to be read from exec.Ctx.Slots. Bound says which ones must stay as they are.
	Slots bool

	state
}

// Bound says what a cached plan depends on beyond its text's fingerprint.
type Bound struct {
	// Fixed are the literal slots whose text is part of the plan.
	Fixed []FixedSlot
	// Volatile plans must not be cached (they hold values of this execution).
	NoCache bool
}

// FixedSlot is a literal that shaped the plan.
type FixedSlot struct {
	Slot int
	// Text is the value it must have; with ClassOnly only its class must be the same:
	// int4, int8, numeric or string.
	Text      string
	Kind      uint8
	ClassOnly bool
}

// Scope is a set of columns that expressions can name.
type Scope struct{ s *scope }

// TableScope makes a scope of one table's columns, for CHECK and DEFAULT expressions and
// COPY's WHERE: the row has the table's live columns in order.
func (b *Binder) TableScope(t *rel.Table, alias string) *Scope { return b.tableScope(t, alias) }

// BindStmt binds SELECT, INSERT, UPDATE or DELETE.
func (b *Binder) BindStmt(st ast.Stmt) (exec.Node, error) { return b.bindStmt(st) }

// BindSelect binds a query.
func (b *Binder) BindSelect(q *ast.Select) (exec.Node, error) { return b.bindStmt(q) }

// BindInsert binds an INSERT.
func (b *Binder) BindInsert(st *ast.Insert) (exec.Node, error) { return b.bindStmt(st) }

// BindUpdate binds an UPDATE.
func (b *Binder) BindUpdate(st *ast.Update) (exec.Node, error) { return b.bindStmt(st) }

// BindDelete binds a DELETE.
func (b *Binder) BindDelete(st *ast.Delete) (exec.Node, error) { return b.bindStmt(st) }

// BindExpr binds an expression; a nil scope has no columns.
func (b *Binder) BindExpr(sc *Scope, e ast.Expr) (exec.Expr, error) { return b.bindExprIn(sc, e) }

// CoerceAssign makes e yield a value of type to, by assignment rules (42804 when there is none).
func (b *Binder) CoerceAssign(e exec.Expr, to types.T, colName string) (exec.Expr, error) {
	return b.coerceAssign(e, to, colName, -1)
}

// BindTable resolves a stored table or view by name: 42P01, 3F000. Virtual tables answer 42809.
func (b *Binder) BindTable(n ast.Name) (*rel.Table, error) { return b.bindTable(n) }

// BindType resolves a type as written.
func (b *Binder) BindType(n ast.TypeName) (types.T, error) { return b.bindType(n) }

// Bound reports what the plan depends on; call it after binding.
func (b *Binder) Bound() Bound { return b.bound() }
