package exec

import (
	"context"
	"errors"

	"github.com/eiderdb/eider/translate/types"
)

// EOF is what Iter.Next returns after the last row.
var EOF = errors.New("exec: end of rows")

// Row is one tuple of values. It is valid until the next call of Next on the
// iterator that returned it; operators that keep rows copy them.
type Row []types.Datum

// Column names and types one output column.
type Column struct {
	Name string
	Type types.T
	// Table and Attr say which table column it is, as RowDescription reports; 0 when none.
	Table uint32
	Attr  int16
}

// Expr is a bound, typed expression.
type Expr interface {
	Type() types.T
	Eval(c *Ctx, row Row) (types.Datum, error)
}

// Node is a bound plan operator. A Node is immutable and may be opened many times and
// by many sessions at once (the plan cache shares it): all run state is in the Iter.
type Node interface {
	Columns() []Column
	Open(c *Ctx) (Iter, error)
}

// Iter yields rows. Close is idempotent and must be called.
type Iter interface {
	Next() (Row, error)
	Close() error
}

// Ctx is what one execution of a plan runs against.
type Ctx struct {
	context.Context
	// Slots are the literal values of this execution, by ast.Literal.Slot, as written.
	Slots []Slot
	// Params are the bind parameters, already of the types the plan was bound with.
	Params []types.Datum
	// Outer is the stack of outer rows for correlated subqueries, innermost last.
	Outer []Row
	// Env holds session facts that type I/O and functions need.
	Env *types.Env
	// Session answers session functions (current_user, current_database, settings, …).
	Session Session
	// Mem accounts for what operators hold; exceeding its cap is 53200.
	Mem *Mem
	// Txn is the transaction the plan reads in (see kv/store); storage operators use it.
	Txn Txn
}

// Slot is one literal's text with its kind, as the lexer saw it.
type Slot struct {
	Kind uint8 // ast.LiteralKind
	Text string
}
