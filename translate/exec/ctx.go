package exec

import (
	"context"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// maxDepth bounds how deep evaluation may nest: functions of functions, subqueries in
// subqueries, views of views.
const maxDepth = 2000

// Session is what functions may ask about the client's session.
type Session interface {
	User() string        // current_user
	SessionUser() string // session_user
	Database() string
	DatabaseOID() uint32
	PID() int32
	// SearchPath is the effective path: existing schemas only, without the implicit
	// pg_temp and pg_catalog.
	SearchPath() []string
	// Setting reads a run-time parameter; ok is false when there is no such one.
	Setting(name string) (value string, ok bool)
	SetSetting(name, value string, local bool) error
	StatementTime() time.Time
	Notice(*pgerr.Error)
}

// Ender is a Session that tells of its end.
type Ender interface {
	// OnEnd has f called when the session ends, after its transaction and before its locks go.
	OnEnd(f func())
}

// Ctx is what one execution of a plan runs against. It belongs to one execution: what
// the plan computes once per execution (literals, uncorrelated subqueries, common table
// expressions) is remembered in it.
type Ctx struct {
	context.Context
	// Slots are the literal values of this execution, by ast.Literal.Slot, as written;
	// nil means the texts the plan was bound with.
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
	// Txn is the transaction the plan reads and writes in.
	Txn *store.Txn
	// Now is the clock of clock_timestamp(); nil means time.Now.
	Now func() time.Time

	// reads is what scans read when the statement's parts write: the transaction as it was
	// when the statement began.
	reads   *store.Txn
	memo    []types.Datum // literals, by Lit.Memo
	memoSet []bool
	state   map[any]any // per-execution state of plan parts, by the part
	depth   int
	ticks   uint
}

// reader is the transaction that scans read.
func (c *Ctx) reader() *store.Txn {
	if c.reads != nil {
		return c.reads
	}
	return c.Txn
}

// Clock returns the current wall-clock time.
func (c *Ctx) Clock() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// Check reports a cancelled statement (57014) every so many calls; loops call it per row.
func (c *Ctx) Check() error {
	c.ticks++
	if c.ticks&255 != 0 {
		return nil
	}
	return c.CheckNow()
}

// CheckNow is Check without the every-so-often.
func (c *Ctx) CheckNow() error {
	if c.Context == nil {
		return nil
	}
	select {
	case <-c.Done():
		return cancelled(context.Cause(c.Context))
	default:
		return nil
	}
}

func cancelled(cause error) error {
	if e := pgerr.As(cause); e != nil {
		return e
	}
	return pgerr.Wrap(cause, pgerr.QueryCanceled, "canceling statement due to user request")
}

// enter guards recursion; every enter that returned nil is paired with leave.
func (c *Ctx) enter() error {
	c.depth++
	if c.depth > maxDepth {
		c.depth--
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
			WithHint("The statement nests deeper than the server evaluates.")
	}
	return nil
}

func (c *Ctx) leave() { c.depth-- }

// stateOf returns the per-execution state of a plan part, making it when it is first asked for.
func stateOf[T any](c *Ctx, key any) *T {
	if v, ok := c.state[key]; ok {
		return v.(*T)
	}
	if c.state == nil {
		c.state = make(map[any]any)
	}
	v := new(T)
	c.state[key] = v
	return v
}

// Mem accounts for the memory operators hold. The zero Mem and a nil Mem have no cap.
type Mem struct {
	Limit int64 // bytes, 0 none
	used  int64
	peak  int64
}

// Grow accounts for n more bytes; over the cap it fails with 53200.
func (m *Mem) Grow(n int64) error {
	if m == nil {
		return nil
	}
	m.used += n
	if m.used > m.peak {
		m.peak = m.used
	}
	if m.Limit > 0 && m.used > m.Limit {
		return pgerr.New(pgerr.OutOfMemory, "out of memory").
			WithDetail("The statement holds more than its limit of %d bytes.", m.Limit)
	}
	return nil
}

// Shrink gives back n bytes.
func (m *Mem) Shrink(n int64) {
	if m != nil {
		m.used -= n
	}
}

// Peak is the most that was held at once.
func (m *Mem) Peak() int64 {
	if m == nil {
		return 0
	}
	return m.peak
}
