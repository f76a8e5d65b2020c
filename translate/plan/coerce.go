package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func typ(oid types.OID) types.T { return types.T{OID: oid, Mod: -1} }

var (
	boolT    = typ(types.BoolOID)
	int8T    = typ(types.Int8OID)
	textT    = typ(types.TextOID)
	unknownT = typ(types.UnknownOID)
)

func isUnknown(e exec.Expr) bool { return e.Type().OID == types.UnknownOID }

// isPoly says whether a declared argument type stands for a family of types.
func isPoly(oid types.OID) bool {
	switch oid {
	case types.AnyElementOID, types.AnyArrayOID, types.AnyNonArrayOID, types.AnyEnumOID,
		types.AnyCompatibleOID, types.AnyCompatibleArrayOID, types.AnyOID:
		return true
	}
	return false
}

func polyAccepts(decl, actual types.OID) bool {
	switch decl {
	case types.AnyArrayOID, types.AnyCompatibleArrayOID:
		return actual == types.UnknownOID || types.ElemOf(actual) != 0
	case types.AnyNonArrayOID:
		return !types.IsArray(actual)
	case types.AnyEnumOID:
		return false
	}
	return true
}

// canCoerce says whether a value of one type can become another in a context.
func canCoerce(from, to types.OID, ctx types.CastContext) bool {
	if from == to {
		return true
	}
	if isPoly(to) {
		return polyAccepts(to, from)
	}
	if from == types.UnknownOID {
		return true
	}
	if to == types.RecordOID {
		return false
	}
	c, _, ok := types.FindCast(from, to)
	return ok && c <= ctx
}

// coerce makes e a value of type to, or answers nil when the context does not allow it.
func (b *Binder) coerce(e exec.Expr, to types.T, ctx types.CastContext, pos int) (exec.Expr, error) {
	from := e.Type()
	if isPoly(to.OID) {
		return e, nil
	}
	if from.OID == types.UnknownOID {
		return b.coerceUnknown(e, to, ctx, pos)
	}
	if from.OID == to.OID {
		return b.applyMod(e, to, ctx), nil
	}
	if !canCoerce(from.OID, to.OID, ctx) {
		return nil, nil
	}
	if l, ok := e.(*exec.Lit); ok && numericLit(l, to) {
		return b.retypeLit(l, to, pos)
	}
	_, kind, _ := types.FindCast(from.OID, to.OID)
	if kind == types.CastBinary {
		var out exec.Expr = &exec.CastX{Arg: e, To: typ(to.OID), Relabel: true}
		return b.applyMod(out, to, ctx), nil
	}
	if e2, err := b.specialCast(e, to, pos); e2 != nil || err != nil {
		return e2, err
	}
	return &exec.CastX{Arg: e, To: to, Explicit: ctx == types.Explicit, Pos: pos, Stmt: b.stmt()}, nil
}

// applyMod adds the length or scale conversion to a modifier that e does not have.
func (b *Binder) applyMod(e exec.Expr, to types.T, ctx types.CastContext) exec.Expr {
	if to.Mod < 0 || e.Type().Mod == to.Mod {
		return e
	}
	return &exec.CastX{Arg: e, To: to, Explicit: ctx == types.Explicit, Pos: -1}
}

// numericLit says whether a number as written can be read by to's input function with the
// same result as converting it.
func numericLit(l *exec.Lit, to types.T) bool {
	switch ast.LiteralKind(l.Kind) {
	case ast.LitInteger:
		switch to.OID {
		case types.Int2OID, types.Int4OID:
			return len(l.Text) <= 4
		case types.Int8OID, types.Float8OID:
			return true
		case types.NumericOID:
			return to.Mod < 0
		}
	case ast.LitNumeric:
		return to.OID == types.NumericOID && to.Mod < 0 || to.OID == types.Float8OID
	}
	return false
}

func (b *Binder) retypeLit(l *exec.Lit, to types.T, pos int) (exec.Expr, error) {
	n := *l
	n.T = to
	n.Memo = b.newMemo()
	n.HasVal = false
	// The literal's own class no longer shapes the plan unless the type is narrow.
	if to.OID == types.Int8OID || to.OID == types.NumericOID || to.OID == types.Float8OID {
		delete(b.classes, l.Slot)
	}
	return b.precompute(&n, pos)
}

// maxBoundArray is the longest array literal that is read at bind time. Reading takes a
// multiple of it, which only an execution accounts for.
const maxBoundArray = 64 << 10

// precompute converts a literal at bind time where the result cannot depend on when the
// plan runs; bad input is reported at once.
func (b *Binder) precompute(l *exec.Lit, pos int) (exec.Expr, error) {
	oid := l.T.OID
	if e := types.ElemOf(oid); e != 0 {
		if len(l.Text) > maxBoundArray {
			return l, nil
		}
		oid = e
	}
	switch oid {
	case types.DateOID, types.TimeOID, types.TimetzOID, types.TimestampOID, types.TimestamptzOID:
		return l, nil
	}
	c := exec.Ctx{Env: b.Env}
	d, err := l.Compute(&c)
	if err != nil {
		if l.Stmt == nil {
			err = b.at(err, pos)
		}
		return nil, err
	}
	l.Val, l.HasVal = d, true
	return l, nil
}

func (b *Binder) coerceUnknown(e exec.Expr, to types.T, ctx types.CastContext, pos int) (exec.Expr, error) {
	switch x := e.(type) {
	case *exec.Const:
		if !x.D.Valid {
			return &exec.Const{T: to}, nil
		}
	case *exec.ParamRef:
		if b.Params[x.N] == 0 {
			b.Params[x.N] = to.OID
			x.T = typ(to.OID)
			return b.applyMod(x, to, ctx), nil
		}
		// It has found its type elsewhere since it was bound.
		if was := b.Params[x.N]; was != to.OID {
			return nil, b.err(x.Pos, pgerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", x.N+1).
				WithDetail("%s versus %s", types.TypeName(was), types.TypeName(to.OID))
		}
		x.T = typ(to.OID)
		return b.applyMod(x, to, ctx), nil
	case *exec.Lit:
		if to.OID == types.UnknownOID {
			return e, nil
		}
		if e2, err := b.specialCast(e, to, pos); e2 != nil || err != nil {
			return e2, err
		}
		n := *x
		n.HasVal, n.Val = false, types.Null
		n.T = typ(to.OID)
		if to.OID == types.IntervalOID {
			n.T = to
		}
		n.Memo = b.newMemo()
		p := x.Pos
		if p < 0 {
			p = pos
		}
		lit, err := b.precompute(&n, p)
		if err != nil {
			return nil, err
		}
		if to.OID == types.IntervalOID {
			return lit, nil
		}
		return b.applyMod(lit, to, ctx), nil
	}
	if to.OID == types.UnknownOID || to.OID == types.TextOID {
		return &exec.CastX{Arg: e, To: to, Relabel: true}, nil
	}
	return &exec.CastX{Arg: e, To: to, Explicit: true, Pos: pos, Stmt: b.stmt()}, nil
}

// specialCast handles casts that need the catalog: names to oids and back go through
// registered functions called like the target type.
func (b *Binder) specialCast(e exec.Expr, to types.T, pos int) (exec.Expr, error) {
	from := e.Type().OID
	name := ""
	switch {
	case isReg(to.OID) && (from == types.UnknownOID || from == types.TextOID || from == types.VarcharOID || from == types.NameOID):
		if i, ok := types.Lookup(to.OID); ok {
			name = i.Name
		}
	case isReg(from) && (to.OID == types.TextOID || to.OID == types.VarcharOID || to.OID == types.NameOID):
		name = "text"
	}
	if name == "" {
		return nil, nil
	}
	for _, f := range b.funcs().Lookup(name) {
		if len(f.Args) != 1 || f.Ret != to.OID && name != "text" {
			continue
		}
		if name == "text" && f.Args[0] != from {
			continue
		}
		arg := e
		l, located := e.(*exec.Lit)
		if located {
			pos = l.Pos
		}
		if name != "text" && from == types.UnknownOID {
			t, err := b.coerceUnknown(e, textT, types.Implicit, pos)
			if err != nil {
				return nil, err
			}
			arg = t
		}
		return &exec.FuncX{F: f, Args: []exec.Expr{arg}, ArgTypes: []types.T{arg.Type()}, T: to, Pos: pos, Stmt: b.stmt(), Located: located}, nil
	}
	return nil, nil
}

func isReg(oid types.OID) bool {
	switch oid {
	case types.RegclassOID, types.RegtypeOID, types.RegprocOID, types.RegprocedureOID, types.RegnamespaceOID,
		types.RegroleOID, types.RegoperOID, types.RegoperatorOID, types.RegcollationOID, types.RegconfigOID, types.RegdictionaryOID:
		return true
	}
	return false
}

// mustCoerce is coerce with an error when there is no way.
func (b *Binder) mustCoerce(e exec.Expr, to types.T, ctx types.CastContext, pos int) (exec.Expr, error) {
	r, err := b.coerce(e, to, ctx, pos)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, b.err(pos, pgerr.CannotCoerce, "cannot cast type %s to %s", types.TypeName(e.Type().OID), types.FormatType(to))
	}
	return r, nil
}

// coerceAssign is the assignment to a column.
func (b *Binder) coerceAssign(e exec.Expr, to types.T, col string, pos int) (exec.Expr, error) {
	r, err := b.coerce(e, to, types.Assignment, pos)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, b.err(pos, pgerr.DatatypeMismatch, "column %q is of type %s but expression is of type %s",
			col, types.TypeName(to.OID), types.TypeName(e.Type().OID)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	return r, nil
}

// boolean coerces a condition; clause is named when it is not one.
func (b *Binder) boolean(e exec.Expr, clause string, pos int) (exec.Expr, error) {
	r, err := b.coerce(e, boolT, types.Assignment, pos)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, b.err(pos, pgerr.DatatypeMismatch, "argument of %s must be type boolean, not type %s", clause, types.TypeName(e.Type().OID))
	}
	return r, nil
}

// resolveUnknown makes what is still of unknown type text.
func (b *Binder) resolveUnknown(e exec.Expr) exec.Expr {
	if e == nil || !isUnknown(e) {
		return e
	}
	r, err := b.coerceUnknown(e, textT, types.Implicit, -1)
	if err != nil {
		if b.paramErr == nil {
			b.paramErr = err
		}
		return e
	}
	return r
}

// anyValue is resolveUnknown where a value of every type will do: a parameter does not learn
// its type from that.
func (b *Binder) anyValue(e exec.Expr) exec.Expr {
	if _, ok := e.(*exec.ParamRef); ok {
		return e
	}
	return b.resolveUnknown(e)
}

// commonType finds the type that CASE, COALESCE, UNION, VALUES, ARRAY and IN agree on. what is
// for the message; 0 without an error never happens: all unknown is text.
func (b *Binder) commonType(exprs []exec.Expr, what string, pos func(i int) int) (types.OID, error) {
	var t types.OID
	pref := false
	var cat byte
	for i, e := range exprs {
		o := e.Type().OID
		if o == types.UnknownOID || o == 0 || o == t {
			continue
		}
		info, ok := types.Lookup(o)
		if t == 0 {
			t = o
			if ok {
				pref, cat = info.Preferred, info.Category
			}
			continue
		}
		if !ok || info.Category != cat {
			return 0, b.err(pos(i), pgerr.DatatypeMismatch, "%s types %s and %s cannot be matched", what, types.TypeName(t), types.TypeName(o))
		}
		if !pref && canCoerce(t, o, types.Implicit) && !canCoerce(o, t, types.Implicit) {
			t, pref = o, info.Preferred
		}
	}
	if t == 0 {
		t = types.TextOID
	}
	return t, nil
}

// unify coerces expressions to their common type. A modifier is kept when all have the same one.
func (b *Binder) unify(exprs []exec.Expr, what string, pos func(i int) int) ([]exec.Expr, types.T, error) {
	oid, err := b.commonType(exprs, what, pos)
	if err != nil {
		return nil, types.T{}, err
	}
	mod := int32(-2)
	for _, e := range exprs {
		t := e.Type()
		m := t.Mod
		if t.OID != oid {
			if c, ok := e.(*exec.Const); ok && !c.D.Valid {
				m = -1
			}
			m = -1
		}
		if mod == -2 {
			mod = m
		} else if mod != m {
			mod = -1
		}
	}
	if mod == -2 {
		mod = -1
	}
	to := types.T{OID: oid, Mod: -1}
	out := make([]exec.Expr, len(exprs))
	for i, e := range exprs {
		c, err := b.coerce(e, to, types.Implicit, pos(i))
		if err != nil {
			return nil, to, err
		}
		if c == nil {
			return nil, to, b.err(pos(i), pgerr.CannotCoerce, "%s could not convert type %s to %s", what, types.TypeName(e.Type().OID), types.TypeName(oid))
		}
		out[i] = c
	}
	to.Mod = mod
	return out, to, nil
}

// intClass is the width of the type of an integer as written: 4, 8, or 16 for numeric. The
// sign belongs to it: the least int4 and int8 fit although their digits alone do not.
func intClass(s string, neg bool) int {
	if neg && (s == "2147483648" || s == "9223372036854775808") {
		return map[int]int{10: 4, 19: 8}[len(s)]
	}
	switch {
	case len(s) < 10:
		return 4
	case len(s) == 10 && s <= "2147483647":
		return 4
	case len(s) < 19, len(s) == 19 && s <= "9223372036854775807":
		return 8
	}
	return 16
}

// literal binds a constant.
func (b *Binder) literal(l *ast.Literal, neg bool) (exec.Expr, error) {
	switch l.Kind {
	case ast.LitNull:
		return &exec.Const{T: unknownT}, nil
	case ast.LitTrue, ast.LitFalse:
		return &exec.Const{T: boolT, D: exec.Bool(l.Kind == ast.LitTrue)}, nil
	}
	n := &exec.Lit{Kind: uint8(l.Kind), Text: l.Text, Slot: l.Slot, Neg: neg, Memo: b.newMemo(), Pos: int(l.Pos), Stmt: b.stmt()}
	if b.noSlots {
		n.Slot = -1
	}
	switch l.Kind {
	case ast.LitInteger:
		class := intClass(l.Text, neg)
		switch class {
		case 4:
			n.T = typ(types.Int4OID)
		case 8:
			n.T = int8T
		default:
			n.T = typ(types.NumericOID)
		}
		if neg && (len(l.Text) == 10 || len(l.Text) == 19) {
			b.fixSlot(l.Slot, l.Kind, l.Text) // the class of the digits does not say whether it is the least of its type
		} else {
			b.class(l)
		}
	case ast.LitNumeric:
		n.T = typ(types.NumericOID)
		if neg && len(l.Text) == 19 {
			b.fixSlot(l.Slot, l.Kind, l.Text)
			if intClass(l.Text, true) == 8 {
				n.T = int8T
			}
		}
	case ast.LitString:
		n.T = unknownT
	default:
		return nil, b.err(int(l.Pos), pgerr.FeatureNotSupported, "bit string literals are not supported")
	}
	return b.precompute(n, int(l.Pos))
}

func (b *Binder) class(l *ast.Literal) {
	if l.Slot < 0 || b.noSlots {
		return
	}
	if b.classes == nil {
		b.classes = make(map[int]FixedSlot)
	}
	b.classes[l.Slot] = FixedSlot{Slot: l.Slot, Text: l.Text, Kind: uint8(l.Kind), ClassOnly: true}
}

// param binds $n.
func (b *Binder) param(p *ast.Param) (exec.Expr, error) {
	if b.NoParams || p.Index < 1 || p.Index > 65535 {
		return nil, b.err(int(p.Pos), pgerr.UndefinedParameter, "there is no parameter $%d", p.Index)
	}
	for len(b.Params) < p.Index {
		b.Params = append(b.Params, 0)
	}
	t := unknownT
	if oid := b.Params[p.Index-1]; oid != 0 {
		t = typ(oid)
	}
	ref := &exec.ParamRef{N: p.Index - 1, T: t, Pos: int(p.Pos)}
	b.params = append(b.params, ref)
	return ref, nil
}
