package exec

import (
	"errors"

	"github.com/eiderdb/eider/translate/types"
)

// EOF is what Iter.Next returns after the last row.
//
//lint:ignore ST1012 it is named like io.EOF, which it is the counterpart of
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
// by many sessions at once (the plan cache shares it): all run state is in the Iter
// and in the Ctx.
type Node interface {
	Columns() []Column
	Open(c *Ctx) (Iter, error)
}

// Iter yields rows. Close is idempotent and must be called.
type Iter interface {
	Next() (Row, error)
	Close() error
}

// RowCounter is implemented by the iterators of INSERT, UPDATE and DELETE: how many
// rows were changed. The count is final once Next has answered EOF or a first row.
type RowCounter interface{ Affected() int64 }

// RawNode is a plan whose rows can be had as COPY-binary tuples without decoding them.
type RawNode interface {
	Node
	// OpenRaw answers a nil iterator when this execution cannot run raw.
	OpenRaw(c *Ctx) (RawIter, error)
}

// RawIter yields COPY-binary tuples.
type RawIter interface {
	// AppendTuples appends whole tuples to dst until it holds at least limit bytes or
	// the rows end, and says how many it appended; 0 at the end.
	AppendTuples(dst []byte, limit int) (out []byte, rows int, err error)
	Close() error
}

// Slot is one literal's text with its kind, as the lexer saw it.
type Slot struct {
	Kind uint8 // ast.LiteralKind
	Text string
}
