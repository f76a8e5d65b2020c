package exec

import (
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// And is a conjunction with SQL's three-valued logic.
type And struct{ List []Expr }

// Type is boolean.
func (e *And) Type() types.T { return boolT }

// Eval stops at the first false part.
func (e *And) Eval(c *Ctx, row Row) (types.Datum, error) { return decide(c, row, e.List, false) }

// MapParts maps the parts.
func (e *And) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.List, f)
	if err != nil || !ch {
		return e, err
	}
	return &And{List: l}, nil
}

// Or is a disjunction with SQL's three-valued logic.
type Or struct{ List []Expr }

// Type is boolean.
func (e *Or) Type() types.T { return boolT }

// Eval stops at the first true part.
func (e *Or) Eval(c *Ctx, row Row) (types.Datum, error) { return decide(c, row, e.List, true) }

// MapParts maps the parts.
func (e *Or) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.List, f)
	if err != nil || !ch {
		return e, err
	}
	return &Or{List: l}, nil
}

// decide evaluates the parts until one has the value that decides the whole: false for a
// conjunction, true for a disjunction. Without one the whole is NULL if a part is, and
// the opposite value else.
func decide(c *Ctx, row Row, list []Expr, decides bool) (types.Datum, error) {
	null := false
	for _, p := range list {
		d, err := p.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if !d.Valid {
			null = true
		} else if (d.I != 0) == decides {
			return d, nil
		}
	}
	if null {
		return types.Null, nil
	}
	return Bool(!decides), nil
}

// Not is negation.
type Not struct{ Arg Expr }

// Type is boolean.
func (e *Not) Type() types.T { return boolT }

// Eval negates.
func (e *Not) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Arg.Eval(c, row)
	if err != nil || !d.Valid {
		return types.Null, err
	}
	return Bool(d.I == 0), nil
}

// MapParts maps the argument.
func (e *Not) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil || a == e.Arg {
		return e, err
	}
	return &Not{Arg: a}, nil
}

// IsNull is x IS [NOT] NULL; for a row, whether all its fields are (not) NULL.
type IsNull struct {
	Arg Expr
	Not bool
}

// Type is boolean.
func (e *IsNull) Type() types.T { return boolT }

// Eval tests.
func (e *IsNull) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Arg.Eval(c, row)
	if err != nil {
		return types.Null, err
	}
	if d.Valid && d.R != nil {
		for i := range d.R {
			if d.R[i].Valid != e.Not {
				return Bool(false), nil
			}
		}
		return Bool(true), nil
	}
	return Bool(d.Valid == e.Not), nil
}

// MapParts maps the argument.
func (e *IsNull) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil || a == e.Arg {
		return e, err
	}
	return &IsNull{Arg: a, Not: e.Not}, nil
}

// IsBool is x IS [NOT] TRUE|FALSE.
type IsBool struct {
	Arg  Expr
	Want bool
	Not  bool
}

// Type is boolean.
func (e *IsBool) Type() types.T { return boolT }

// Eval tests.
func (e *IsBool) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Arg.Eval(c, row)
	if err != nil {
		return types.Null, err
	}
	return Bool((d.Valid && (d.I != 0) == e.Want) != e.Not), nil
}

// MapParts maps the argument.
func (e *IsBool) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil || a == e.Arg {
		return e, err
	}
	return &IsBool{Arg: a, Want: e.Want, Not: e.Not}, nil
}

// Distinct is IS [NOT] DISTINCT FROM.
type Distinct struct {
	L, R Expr
	OID  types.OID
	Not  bool
}

// Type is boolean.
func (e *Distinct) Type() types.T { return boolT }

// Eval compares with NULLs as values.
func (e *Distinct) Eval(c *Ctx, row Row) (types.Datum, error) {
	a, err := e.L.Eval(c, row)
	if err != nil {
		return types.Null, err
	}
	b, err := e.R.Eval(c, row)
	if err != nil {
		return types.Null, err
	}
	diff := a.Valid != b.Valid
	if a.Valid && b.Valid {
		if a.R != nil || b.R != nil {
			diff = compareRecords(&a, &b) != 0
		} else {
			diff = CompareDatum(e.OID, &a, &b) != 0
		}
	}
	return Bool(diff != e.Not), nil
}

// MapParts maps the operands.
func (e *Distinct) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, err := f(e.L)
	if err != nil {
		return nil, err
	}
	r, err := f(e.R)
	if err != nil {
		return nil, err
	}
	return &Distinct{L: l, R: r, OID: e.OID, Not: e.Not}, nil
}

// CaseX is a searched CASE; the operand form is bound to equality conditions.
type CaseX struct {
	// Operand, when set, is evaluated once and put where Test reads it.
	Operand Expr
	Test    *CaseTest
	Conds   []Expr
	Thens   []Expr
	Else    Expr // nil: NULL
	T       types.T
}

// CaseTest stands for the operand of a CASE inside its conditions.
type CaseTest struct{ T types.T }

// Type is the operand's type.
func (e *CaseTest) Type() types.T { return e.T }

// Eval returns the operand of the CASE being evaluated.
func (e *CaseTest) Eval(c *Ctx, _ Row) (types.Datum, error) {
	return *stateOf[types.Datum](c, e), nil
}

// Type returns the result type.
func (e *CaseX) Type() types.T { return e.T }

// Eval takes the first arm whose condition is true.
func (e *CaseX) Eval(c *Ctx, row Row) (types.Datum, error) {
	if e.Operand != nil {
		d, err := e.Operand.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		cell := stateOf[types.Datum](c, e.Test)
		saved := *cell
		*cell = d
		defer func() { *cell = saved }()
	}
	for i, cond := range e.Conds {
		d, err := cond.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if d.Valid && d.I != 0 {
			return e.Thens[i].Eval(c, row)
		}
	}
	if e.Else == nil {
		return types.Null, nil
	}
	return e.Else.Eval(c, row)
}

// MapParts maps all arms.
func (e *CaseX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	n := *e
	var err error
	if e.Operand != nil {
		if n.Operand, err = f(e.Operand); err != nil {
			return nil, err
		}
	}
	if n.Conds, _, err = mapList(e.Conds, f); err != nil {
		return nil, err
	}
	if n.Thens, _, err = mapList(e.Thens, f); err != nil {
		return nil, err
	}
	if e.Else != nil {
		if n.Else, err = f(e.Else); err != nil {
			return nil, err
		}
	}
	return &n, nil
}

// Coalesce is COALESCE.
type Coalesce struct {
	List []Expr
	T    types.T
}

// Type returns the common type.
func (e *Coalesce) Type() types.T { return e.T }

// Eval returns the first value that is not NULL.
func (e *Coalesce) Eval(c *Ctx, row Row) (types.Datum, error) {
	for _, p := range e.List {
		d, err := p.Eval(c, row)
		if err != nil || d.Valid {
			return d, err
		}
	}
	return types.Null, nil
}

// MapParts maps the parts.
func (e *Coalesce) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.List, f)
	if err != nil || !ch {
		return e, err
	}
	return &Coalesce{List: l, T: e.T}, nil
}

// NullIf is NULLIF: its first argument unless Eq holds.
type NullIf struct {
	Arg Expr
	Eq  Expr
}

// Type is the first argument's type.
func (e *NullIf) Type() types.T { return e.Arg.Type() }

// Eval tests equality first.
func (e *NullIf) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Eq.Eval(c, row)
	if err != nil {
		return types.Null, err
	}
	if d.Valid && d.I != 0 {
		return types.Null, nil
	}
	return e.Arg.Eval(c, row)
}

// MapParts maps both parts.
func (e *NullIf) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil {
		return nil, err
	}
	q, err := f(e.Eq)
	if err != nil {
		return nil, err
	}
	return &NullIf{Arg: a, Eq: q}, nil
}

// MinMax is GREATEST or LEAST: NULLs are skipped.
type MinMax struct {
	List []Expr
	Max  bool
	T    types.T
}

// Type returns the common type.
func (e *MinMax) Type() types.T { return e.T }

// Eval returns the extreme value.
func (e *MinMax) Eval(c *Ctx, row Row) (types.Datum, error) {
	var best types.Datum
	for _, p := range e.List {
		d, err := p.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if !d.Valid {
			continue
		}
		if best.Valid {
			cmp := CompareDatum(e.T.OID, &d, &best)
			if e.Max && cmp <= 0 || !e.Max && cmp >= 0 {
				continue
			}
		}
		best = d
	}
	return best, nil
}

// MapParts maps the parts.
func (e *MinMax) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.List, f)
	if err != nil || !ch {
		return e, err
	}
	return &MinMax{List: l, Max: e.Max, T: e.T}, nil
}

// InList is x [NOT] IN (list) where all parts have type OID. Lists of constants are
// looked up in a set.
type InList struct {
	Arg  Expr
	List []Expr
	OID  types.OID
	Not  bool
	// Static lists hold no columns: they are evaluated once per execution.
	Static bool
}

type inSet struct {
	done    bool
	hasNull bool
	ints    map[int64]struct{}
	keys    map[string]struct{}
	buf     []byte
}

// Type is boolean.
func (e *InList) Type() types.T { return boolT }

// Eval looks the value up.
func (e *InList) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Arg.Eval(c, row)
	if err != nil || !d.Valid {
		return types.Null, err
	}
	if e.Static && len(e.List) > 4 {
		return e.lookup(c, &d)
	}
	null := false
	for _, p := range e.List {
		v, err := p.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if !v.Valid {
			null = true
		} else if CompareDatum(e.OID, &d, &v) == 0 {
			return Bool(!e.Not), nil
		}
	}
	if null {
		return types.Null, nil
	}
	return Bool(e.Not), nil
}

func (e *InList) lookup(c *Ctx, d *types.Datum) (types.Datum, error) {
	s := stateOf[inSet](c, e)
	ints := intLike(e.OID)
	if !s.done {
		if ints {
			s.ints = make(map[int64]struct{}, len(e.List))
		} else {
			s.keys = make(map[string]struct{}, len(e.List))
		}
		for _, p := range e.List {
			v, err := p.Eval(c, nil)
			if err != nil {
				return types.Null, err
			}
			switch {
			case !v.Valid:
				s.hasNull = true
			case ints:
				s.ints[v.I] = struct{}{}
			default:
				s.buf = types.AppendHashKey(s.buf[:0], e.OID, v)
				s.keys[string(s.buf)] = struct{}{}
			}
		}
		s.done = true
	}
	var found bool
	if ints {
		_, found = s.ints[d.I]
	} else {
		s.buf = types.AppendHashKey(s.buf[:0], e.OID, *d)
		_, found = s.keys[string(s.buf)]
	}
	if !found && s.hasNull {
		return types.Null, nil
	}
	return Bool(found != e.Not), nil
}

// MapParts maps the argument and the list.
func (e *InList) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil {
		return nil, err
	}
	l, ch, err := mapList(e.List, f)
	if err != nil {
		return nil, err
	}
	if !ch && a == e.Arg {
		return e, nil
	}
	return &InList{Arg: a, List: l, OID: e.OID, Not: e.Not, Static: e.Static}, nil
}

// intLike says whether the order of a type is that of Datum.I.
func intLike(oid types.OID) bool {
	switch oid {
	case types.Int8OID, types.Int4OID, types.Int2OID, types.BoolOID, types.OidOID,
		types.DateOID, types.TimestampOID, types.TimestamptzOID, types.TimeOID, types.TidOID,
		types.RegclassOID:
		return true
	}
	return false
}

// bytesLike says whether the order of a type is that of the bytes of Datum.B.
func bytesLike(oid types.OID) bool {
	switch oid {
	case types.TextOID, types.VarcharOID, types.ByteaOID, types.UUIDOID, types.NameOID, types.UnknownOID:
		return true
	}
	return false
}

// CompareDatum compares two valid values of one type.
func CompareDatum(oid types.OID, a, b *types.Datum) int {
	if intLike(oid) {
		switch {
		case a.I < b.I:
			return -1
		case a.I > b.I:
			return 1
		}
		return 0
	}
	if bytesLike(oid) {
		return compareBytes(a.B, b.B)
	}
	if a.R != nil || b.R != nil {
		return compareRecords(a, b)
	}
	return types.Compare(oid, *a, *b)
}

// RowX is ROW(…): a record. Its fields' types are known from Items.
type RowX struct {
	Items []Expr
	Names []string
}

// Type is record.
func (e *RowX) Type() types.T { return types.T{OID: types.RecordOID, Mod: -1} }

// Eval builds the record.
func (e *RowX) Eval(c *Ctx, row Row) (types.Datum, error) {
	r := make([]types.Datum, len(e.Items))
	var h held
	defer h.release(c)
	for i, it := range e.Items {
		d, err := it.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if err := h.add(c, &d); err != nil {
			return types.Null, err
		}
		r[i] = d
	}
	oids := make([]types.OID, len(e.Items))
	for i, it := range e.Items {
		oids[i] = it.Type().OID
	}
	return types.MakeRecord(oids, r), nil
}

// MapParts maps the fields.
func (e *RowX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.Items, f)
	if err != nil || !ch {
		return e, err
	}
	return &RowX{Items: l, Names: e.Names}, nil
}

// FieldX reads one field of a record.
type FieldX struct {
	Arg Expr
	N   int
	T   types.T
}

// Type is the field's type.
func (e *FieldX) Type() types.T { return e.T }

// Eval reads the field.
func (e *FieldX) Eval(c *Ctx, row Row) (types.Datum, error) {
	d, err := e.Arg.Eval(c, row)
	if err != nil || !d.Valid || e.N >= len(d.R) {
		return types.Null, err
	}
	return d.R[e.N], nil
}

// MapParts maps the argument.
func (e *FieldX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	a, err := f(e.Arg)
	if err != nil || a == e.Arg {
		return e, err
	}
	return &FieldX{Arg: a, N: e.N, T: e.T}, nil
}

// RowCmp compares rows field by field: = and <> need only equality, the others decide
// at the first field that differs.
type RowCmp struct {
	Op   CmpOp
	L, R []Expr
	OIDs []types.OID
}

// Type is boolean.
func (e *RowCmp) Type() types.T { return boolT }

// Eval compares.
func (e *RowCmp) Eval(c *Ctx, row Row) (types.Datum, error) {
	null := false
	for i := range e.L {
		a, err := e.L[i].Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		b, err := e.R[i].Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if !a.Valid || !b.Valid {
			if e.Op != EQ && e.Op != NE {
				return types.Null, nil
			}
			null = true
			continue
		}
		cmp := CompareDatum(e.OIDs[i], &a, &b)
		if cmp != 0 {
			return Bool(e.Op.Holds(cmp)), nil
		}
	}
	if null {
		return types.Null, nil
	}
	return Bool(e.Op.Holds(0)), nil
}

// MapParts maps both rows.
func (e *RowCmp) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, _, err := mapList(e.L, f)
	if err != nil {
		return nil, err
	}
	r, _, err := mapList(e.R, f)
	if err != nil {
		return nil, err
	}
	return &RowCmp{Op: e.Op, L: l, R: r, OIDs: e.OIDs}, nil
}

// Fail is an expression that always fails; it stands for what may only fail when it is reached.
type Fail struct {
	Err *pgerr.Error
	T   types.T
}

// Type is the type it would have had.
func (e *Fail) Type() types.T { return e.T }

// Eval fails.
func (e *Fail) Eval(*Ctx, Row) (types.Datum, error) { return types.Null, e.Err }
