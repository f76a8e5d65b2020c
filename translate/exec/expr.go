package exec

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Mapper is implemented by expressions that have parts: MapParts returns a copy with
// every direct part replaced by what f makes of it.
type Mapper interface {
	Expr
	MapParts(f func(Expr) (Expr, error)) (Expr, error)
}

// MapExpr replaces e by f(e) where f answers non-nil, and otherwise maps its parts.
func MapExpr(e Expr, f func(Expr) (Expr, error)) (Expr, error) {
	if e == nil {
		return nil, nil
	}
	r, err := f(e)
	if err != nil || r != nil {
		return r, err
	}
	if m, ok := e.(Mapper); ok {
		return m.MapParts(func(p Expr) (Expr, error) { return MapExpr(p, f) })
	}
	return e, nil
}

// WalkExpr calls f for e and, while f answers true, for its parts.
func WalkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	if m, ok := e.(Mapper); ok {
		_, _ = m.MapParts(func(p Expr) (Expr, error) {
			WalkExpr(p, f)
			return p, nil
		})
	}
}

// Col reads a column of the current row. The binder shares one Col per column of a
// relation and sets Idx when the layout of the row is known.
type Col struct {
	Idx  int
	T    types.T
	Name string
	// Src and Att identify the column to the binder; execution ignores them.
	Src any
	Att int
}

// Type returns the column's type.
func (e *Col) Type() types.T { return e.T }

// Eval reads the column.
func (e *Col) Eval(_ *Ctx, row Row) (types.Datum, error) { return row[e.Idx], nil }

// OuterCol reads a column of an enclosing query's current row. Every enclosing query
// that is referred to has a cell of its own in Ctx.Outer.
type OuterCol struct {
	Cell *Cell
	Col  *Col
	Pos  int // where it is written, for the binder's errors
}

// Cell is the place of an enclosing query's current row.
type Cell struct{ N int }

// Type returns the column's type.
func (e *OuterCol) Type() types.T { return e.Col.T }

// Eval reads the column.
func (e *OuterCol) Eval(c *Ctx, _ Row) (types.Datum, error) {
	return c.Outer[e.Cell.N][e.Col.Idx], nil
}

// SetOuter makes row the current row of a cell.
func (c *Ctx) SetOuter(cell *Cell, row Row) {
	for len(c.Outer) <= cell.N {
		c.Outer = append(c.Outer, nil)
	}
	c.Outer[cell.N] = row
}

// Const is a value that does not depend on a literal.
type Const struct {
	T types.T
	D types.Datum
}

// Type returns the constant's type.
func (e *Const) Type() types.T { return e.T }

// Eval returns the constant.
func (e *Const) Eval(*Ctx, Row) (types.Datum, error) { return e.D, nil }

// Lit is a literal of the statement. Its value comes from the execution's slots when
// there are some, and is computed once per execution.
type Lit struct {
	T    types.T
	Kind uint8 // ast.LiteralKind
	Text string
	Slot int // -1: none
	Neg  bool
	Memo int // index in the execution's memo
	// Pos and Stmt say where the literal stands, for errors of its input function.
	Pos  int
	Stmt *string
	// Val is the value when it is known at bind time and slots do not change it.
	Val    types.Datum
	HasVal bool
}

// Type returns the literal's type.
func (e *Lit) Type() types.T { return e.T }

// Eval returns the value.
func (e *Lit) Eval(c *Ctx, _ Row) (types.Datum, error) {
	if e.HasVal && (c.Slots == nil || e.Slot < 0) {
		return e.Val, nil
	}
	if e.Memo < len(c.memo) && c.memoSet[e.Memo] {
		return c.memo[e.Memo], nil
	}
	d, err := e.Compute(c)
	if err != nil {
		return d, err
	}
	for len(c.memo) <= e.Memo {
		c.memo = append(c.memo, types.Datum{})
		c.memoSet = append(c.memoSet, false)
	}
	c.memo[e.Memo], c.memoSet[e.Memo] = d, true
	return d, nil
}

// Compute converts the literal's text without remembering the result.
func (e *Lit) Compute(c *Ctx) (types.Datum, error) {
	text := e.Text
	if c.Slots != nil && e.Slot >= 0 && e.Slot < len(c.Slots) {
		text = c.Slots[e.Slot].Text
	}
	if len(text) >= bigValue && types.ElemOf(e.T.OID) != 0 {
		if err := c.roomForSplit(text, ","); err != nil {
			return types.Null, err
		}
	}
	d, err := litInput(c.Env, e.T, text, e.Neg)
	if err != nil {
		if e.T.OID == types.Float8OID && ast.LiteralKind(e.Kind) == ast.LitNumeric {
			return e.viaNumeric(c, text, err)
		}
		return d, e.at(err)
	}
	return d, nil
}

// viaNumeric converts a number that float8's input function refuses by way of numeric, which
// is what was written, so that the error is the conversion's.
func (e *Lit) viaNumeric(c *Ctx, text string, err error) (types.Datum, error) {
	num := types.T{OID: types.NumericOID, Mod: -1}
	d, nerr := litInput(c.Env, num, text, e.Neg)
	if nerr != nil {
		return d, e.at(err)
	}
	return c.cast(num, e.T, d, true)
}

func (e *Lit) at(err error) error {
	if e.Stmt == nil {
		return err
	}
	if pe := pgerr.As(err); pe != nil {
		return pe.At(*e.Stmt, e.Pos)
	}
	return err
}

// litInput is the input function with fast paths for the common integer case.
func litInput(env *types.Env, t types.T, text string, neg bool) (types.Datum, error) {
	switch t.OID {
	case types.Int8OID, types.Int4OID, types.Int2OID:
		if n, ok := smallInt(text); ok && (t.OID == types.Int8OID || n < 1<<15) {
			if neg {
				n = -n
			}
			return types.Datum{I: n, Valid: true}, nil
		}
	}
	if neg {
		text = "-" + text
	}
	return types.Input(env, t, []byte(text))
}

// smallInt reads up to 18 plain digits.
func smallInt(s string) (int64, bool) {
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}

// ParamRef is a bind parameter.
type ParamRef struct {
	N   int // 0-based
	T   types.T
	Pos int
}

// Type returns the parameter's type.
func (e *ParamRef) Type() types.T { return e.T }

// Eval returns the parameter's value.
func (e *ParamRef) Eval(c *Ctx, _ Row) (types.Datum, error) {
	if e.N >= len(c.Params) {
		return types.Null, pgerr.New(pgerr.UndefinedParameter, "there is no parameter $%d", e.N+1)
	}
	return c.Params[e.N], nil
}

// CastX converts a value. A nil Fn is a cast through types.Cast.
type CastX struct {
	Arg      Expr
	To       types.T
	Explicit bool
	// Relabel casts change the type only.
	Relabel bool
	Pos     int
	Stmt    *string
}

// Type returns the target type.
func (e *CastX) Type() types.T { return e.To }

// Eval converts.
func (e *CastX) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Arg.Eval(c, row)
	if err != nil || e.Relabel {
		return d, err
	}
	if !d.Valid {
		return types.Null, nil
	}
	d, err = c.cast(e.Arg.Type(), e.To, d, e.Explicit)
	if err == nil {
		err = c.room(int64(len(d.B)))
	}
	if err != nil && e.Stmt != nil {
		if pe := pgerr.As(err); pe != nil && pe.Code == pgerr.CannotCoerce {
			return d, pe.At(*e.Stmt, e.Pos)
		}
	}
	return d, err
}

// MapParts maps the argument.
func (e *CastX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil || a == e.Arg {
		return e, err
	}
	n := *e
	n.Arg = a
	return &n, nil
}

// Op is a binary or unary operator with a strict function. L is nil for prefix operators.
type Op struct {
	Name string
	L, R Expr
	T    types.T
	Fn   func(c *Ctx, a, b types.Datum) (types.Datum, error)
	// Nulls says that Fn takes NULL operands.
	Nulls bool
}

// Type returns the result type.
func (e *Op) Type() types.T { return e.T }

// Eval applies the operator; NULL operands give NULL unless the operator takes them.
func (e *Op) Eval(c *Ctx, row Row) (types.Datum, error) {
	var a types.Datum
	if e.L != nil {
		var err error
		if a, err = e.L.Eval(c, row); err != nil || !a.Valid && !e.Nulls {
			return types.Null, err
		}
	}
	if len(a.B) >= bigValue {
		var h held
		defer h.release(c)
		if err := h.add(c, &a); err != nil {
			return types.Null, err
		}
		if err := c.roomForJSON(e.L.Type().OID, a.B); err != nil {
			return types.Null, err
		}
	}
	b, err := e.R.Eval(c, row)
	if err != nil || !b.Valid && !e.Nulls {
		return types.Null, err
	}
	if a, err = e.Fn(c, a, b); err == nil {
		err = c.room(int64(len(a.B)))
	}
	return a, err
}

// MapParts maps the operands.
func (e *Op) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	n := *e
	var err error
	if e.L != nil {
		if n.L, err = f(e.L); err != nil {
			return nil, err
		}
	}
	if n.R, err = f(e.R); err != nil {
		return nil, err
	}
	if n.L == e.L && n.R == e.R {
		return e, nil
	}
	return &n, nil
}

// CmpOp is a comparison operator.
type CmpOp uint8

// The comparison operators.
const (
	EQ CmpOp = iota
	NE
	LT
	LE
	GT
	GE
)

// Holds says whether a comparison result satisfies the operator.
func (o CmpOp) Holds(cmp int) bool {
	switch o {
	case EQ:
		return cmp == 0
	case NE:
		return cmp != 0
	case LT:
		return cmp < 0
	case LE:
		return cmp <= 0
	case GT:
		return cmp > 0
	default:
		return cmp >= 0
	}
}

// Swap is the operator with its operands exchanged.
func (o CmpOp) Swap() CmpOp {
	switch o {
	case LT:
		return GT
	case LE:
		return GE
	case GT:
		return LT
	case GE:
		return LE
	}
	return o
}

// Cmp compares two values by the order of type OID; both sides hold values of it.
type Cmp struct {
	Op   CmpOp
	L, R Expr
	OID  types.OID
}

// Type is boolean.
func (e *Cmp) Type() types.T { return boolT }

// Eval compares.
func (e *Cmp) Eval(c *Ctx, row Row) (types.Datum, error) {
	a, err := e.L.Eval(c, row)
	if err != nil || !a.Valid {
		return types.Null, err
	}
	b, err := e.R.Eval(c, row)
	if err != nil || !b.Valid {
		return types.Null, err
	}
	return Bool(e.Op.Holds(CompareDatum(e.OID, &a, &b))), nil
}

// MapParts maps the operands.
func (e *Cmp) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, err := f(e.L)
	if err != nil {
		return nil, err
	}
	r, err := f(e.R)
	if err != nil {
		return nil, err
	}
	if l == e.L && r == e.R {
		return e, nil
	}
	return &Cmp{Op: e.Op, L: l, R: r, OID: e.OID}, nil
}

// FuncX calls a function.
type FuncX struct {
	F    *Func
	Args []Expr
	T    types.T
	// ArgTypes are the types of Args.
	ArgTypes []types.T
	Pos      int
	Stmt     *string
	// Located calls stand for a literal's input function, whose errors tell Pos.
	Located bool
}

// Type returns the result type.
func (e *FuncX) Type() types.T { return e.T }

// Eval calls the function.
func (e *FuncX) Eval(c *Ctx, row Row) (types.Datum, error) {
	var buf [4]types.Datum
	args := buf[:0]
	var h held
	defer h.release(c)
	for _, a := range e.Args {
		d, err := a.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if !d.Valid && !e.F.NullCall {
			return types.Null, nil
		}
		if err := h.add(c, &d); err != nil {
			return types.Null, err
		}
		if len(d.B) >= bigValue {
			if err := c.roomForJSON(a.Type().OID, d.B); err != nil {
				return types.Null, err
			}
		}
		args = append(args, d)
	}
	if e.F.Eval == nil {
		return types.Null, pgerr.New(pgerr.FeatureNotSupported, "set-valued function called in context that cannot accept a set")
	}
	if err := c.enter(); err != nil {
		return types.Null, err
	}
	d, err := e.F.Eval(&Call{Ctx: c, Args: args, Types: e.ArgTypes, Ret: e.T, Func: e.F})
	c.leave()
	if err != nil {
		if pe := pgerr.As(err); pe == nil {
			err = MapStoreError(err)
		} else if e.Located && e.Stmt != nil {
			err = pe.At(*e.Stmt, e.Pos)
		}
		return d, err
	}
	return d, c.room(int64(len(d.B)))
}

// MapParts maps the arguments.
func (e *FuncX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	args, changed, err := mapList(e.Args, f)
	if err != nil || !changed {
		return e, err
	}
	n := *e
	n.Args = args
	return &n, nil
}

func mapList(list []Expr, f func(Expr) (Expr, error)) ([]Expr, bool, error) {
	var out []Expr
	for i, a := range list {
		if a == nil {
			continue
		}
		m, err := f(a)
		if err != nil {
			return nil, false, err
		}
		if m != a && out == nil {
			out = append([]Expr(nil), list...)
		}
		if out != nil {
			out[i] = m
		}
	}
	if out == nil {
		return list, false, nil
	}
	return out, true, nil
}

// boolT is the boolean type.
var boolT = types.T{OID: types.BoolOID, Mod: -1}

// Bool makes a boolean datum.
func Bool(b bool) types.Datum {
	if b {
		return types.Datum{I: 1, Valid: true}
	}
	return types.Datum{Valid: true}
}

// Int makes an integer datum.
func Int(n int64) types.Datum { return types.Datum{I: n, Valid: true} }

// Str makes a text datum.
func Str(s string) types.Datum { return types.Datum{B: []byte(s), Valid: true} }

// Bytes makes a text or bytea datum of bytes that the caller gives away.
func Bytes(b []byte) types.Datum {
	if b == nil {
		b = []byte{}
	}
	return types.Datum{B: b, Valid: true}
}
