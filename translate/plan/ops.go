package plan

import (
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

var cmpOps = map[string]exec.CmpOp{"=": exec.EQ, "<>": exec.NE, "<": exec.LT, "<=": exec.LE, ">": exec.GT, ">=": exec.GE}

// comparable is a pair of types that have comparison operators; as is the type whose
// order they are compared by.
type cmpPair struct{ l, r, as types.OID }

// cmpPairs are the comparison operators of PostgreSQL for the types that Eider has.
var cmpPairs = func() []cmpPair {
	var out []cmpPair
	for _, t := range []types.OID{
		types.BoolOID, types.ByteaOID, types.CharOID, types.NameOID, types.TextOID, types.OidOID, types.TidOID,
		types.BpcharOID, types.DateOID, types.TimeOID, types.TimestampOID, types.TimestamptzOID,
		types.IntervalOID, types.TimetzOID, types.NumericOID, types.UUIDOID, types.JSONBOID, types.XidOID, types.CidOID,
		types.OidVectorOID, types.AnyArrayOID, types.RecordOID, types.PgLSNOID, types.Xid8OID, types.MacaddrOID, types.InetOID,
	} {
		out = append(out, cmpPair{t, t, t})
	}
	ints := []types.OID{types.Int2OID, types.Int4OID, types.Int8OID}
	for _, l := range ints {
		for _, r := range ints {
			out = append(out, cmpPair{l, r, max8(l, r)})
		}
	}
	floats := []types.OID{types.Float4OID, types.Float8OID}
	for _, l := range floats {
		for _, r := range floats {
			as := types.Float8OID
			if l == r {
				as = l
			}
			out = append(out, cmpPair{l, r, as})
		}
	}
	dates := []types.OID{types.DateOID, types.TimestampOID, types.TimestamptzOID}
	for i, l := range dates {
		for j, r := range dates {
			if i != j {
				out = append(out, cmpPair{l, r, dates[max(i, j)]})
			}
		}
	}
	return append(out, cmpPair{types.NameOID, types.TextOID, types.TextOID}, cmpPair{types.TextOID, types.NameOID, types.TextOID},
		cmpPair{types.XidOID, types.Int4OID, types.XidOID})
}()

// max8 is the type whose order mixed integers are compared by.
func max8(l, r types.OID) types.OID {
	if l == r {
		return l
	}
	return types.Int8OID
}

// cmpOID is the type that values of oid are compared as.
func cmpOID(oid types.OID) types.OID {
	if oid == types.VarcharOID {
		return types.TextOID
	}
	return oid
}

// operator resolves and binds an operator; l is nil for a prefix operator.
func (b *Binder) operator(name string, l, r exec.Expr, pos int) (exec.Expr, error) {
	if op, ok := cmpOps[name]; ok && l != nil {
		return b.compare(op, name, l, r, pos)
	}
	var lt types.OID
	if name == "||" {
		// What is not typed yet is an array beside an array.
		var err error
		switch {
		case l != nil && isUnknown(l) && types.IsArray(r.Type().OID):
			l, err = b.coerceUnknown(l, typ(r.Type().OID), types.Implicit, pos)
		case l != nil && isUnknown(r) && types.IsArray(l.Type().OID):
			r, err = b.coerceUnknown(r, typ(l.Type().OID), types.Implicit, pos)
		}
		if err != nil {
			return nil, err
		}
	}
	if l != nil {
		lt = l.Type().OID
	}
	rt := r.Type().OID
	defs := exec.Operators(name)
	var cands []candidate[*exec.OpDef]
	for i := range defs {
		d := &defs[i]
		if (d.L == 0) != (l == nil) {
			continue
		}
		if l == nil {
			cands = append(cands, candidate[*exec.OpDef]{[]types.OID{d.R}, d})
		} else {
			cands = append(cands, candidate[*exec.OpDef]{[]types.OID{d.L, d.R}, d})
		}
	}
	actual := []types.OID{rt}
	if l != nil {
		actual = []types.OID{lt, rt}
	}
	d, ambiguous := resolveOp(cands, actual)
	if d == nil {
		return nil, b.noOperator(name, l, r, pos, ambiguous)
	}
	return b.bindOp(d.item, name, l, r, pos)
}

// resolveOp is PostgreSQL's oper(): an exact match (an unknown side counting as the other
// side's type), else the best candidate.
func resolveOp[T any](cands []candidate[T], actual []types.OID) (best *candidate[T], ambiguous bool) {
	exact := func(as []types.OID) *candidate[T] {
	next:
		for i := range cands {
			for j, a := range as {
				if cands[i].args[j] != a {
					continue next
				}
			}
			return &cands[i]
		}
		return nil
	}
	as := append([]types.OID(nil), actual...)
	if len(as) == 2 {
		if as[0] == types.UnknownOID && as[1] != types.UnknownOID {
			as[0] = as[1]
		} else if as[1] == types.UnknownOID && as[0] != types.UnknownOID {
			as[1] = as[0]
		}
	}
	if c := exact(as); c != nil {
		return c, false
	}
	m := matching(cands, actual)
	switch len(m) {
	case 0:
		return nil, false
	case 1:
		return &m[0], false
	}
	c := bestCandidate(m, actual)
	return c, c == nil
}

func (b *Binder) noOperator(name string, l, r exec.Expr, pos int, ambiguous bool) error {
	show := types.TypeName(r.Type().OID)
	if l == nil {
		show = name + " " + show
	} else {
		show = types.TypeName(l.Type().OID) + " " + name + " " + show
	}
	if ambiguous {
		return b.err(pos, pgerr.AmbiguousFunction, "operator is not unique: %s", show).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	e := b.err(pos, pgerr.UndefinedFunction, "operator does not exist: %s", show)
	if l == nil {
		return e.WithHint("No operator matches the given name and argument type. You might need to add an explicit type cast.")
	}
	return e.
		WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

func (b *Binder) bindOp(d *exec.OpDef, name string, l, r exec.Expr, pos int) (exec.Expr, error) {
	var err error
	ret := d.Ret
	lt, rt := d.L, d.R
	if isPoly(lt) || isPoly(rt) {
		var lo types.OID
		if l != nil {
			lo = l.Type().OID
		}
		lt, rt, ret = polyOperands(d, lo, r.Type().OID)
	}
	if l != nil {
		if l, err = b.mustCoerce(l, typ(lt), types.Implicit, pos); err != nil {
			return nil, err
		}
	}
	if r, err = b.mustCoerce(r, typ(rt), types.Implicit, pos); err != nil {
		return nil, err
	}
	if d.Poly != nil {
		return &exec.Op{Name: name, L: l, R: r, T: typ(ret), Fn: d.Poly(lt, rt), Nulls: d.Nulls}, nil
	}
	return &exec.Op{Name: name, L: l, R: r, T: typ(ret), Fn: d.Fn}, nil
}

// polyOperands resolves the operand types of a polymorphic operator.
func polyOperands(d *exec.OpDef, l, r types.OID) (lt, rt, ret types.OID) {
	elem := types.OID(0)
	note := func(decl, a types.OID) {
		if a == types.UnknownOID || elem != 0 {
			return
		}
		switch decl {
		case types.AnyArrayOID, types.AnyCompatibleArrayOID:
			elem = types.ElemOf(a)
		case types.AnyElementOID, types.AnyCompatibleOID:
			elem = a
		}
	}
	// An array decides before an element does.
	if d.L == types.AnyArrayOID || d.L == types.AnyCompatibleArrayOID {
		note(d.L, l)
	}
	note(d.R, r)
	note(d.L, l)
	pick := func(decl, a types.OID) types.OID {
		switch decl {
		case types.AnyArrayOID, types.AnyCompatibleArrayOID:
			if x := types.ArrayOf(elem); x != 0 {
				return x
			}
			return a
		case types.AnyElementOID, types.AnyCompatibleOID:
			if elem != 0 {
				return elem
			}
			return a
		case types.AnyNonArrayOID:
			if a == types.UnknownOID {
				return types.TextOID
			}
			return a
		}
		return decl
	}
	return pick(d.L, l), pick(d.R, r), pick(d.Ret, types.TextArrayOID)
}

// compare binds a comparison operator.
func (b *Binder) compare(op exec.CmpOp, name string, l, r exec.Expr, pos int) (exec.Expr, error) {
	lt, rt := l.Type().OID, r.Type().OID
	if lr, ok := l.(*exec.RowX); ok {
		if rr, ok := r.(*exec.RowX); ok {
			return b.compareRows(op, name, lr.Items, rr.Items, pos)
		}
	}
	if lt == types.UnknownOID && rt == types.UnknownOID {
		lt, rt = types.TextOID, types.TextOID
	}
	if lt == rt && lt == types.RecordOID {
		return &exec.Cmp{Op: op, L: l, R: r, OID: types.RecordOID}, nil
	}
	var cands []candidate[cmpPair]
	for _, p := range cmpPairs {
		if (p.l == types.XidOID || p.l == types.CidOID) && op != exec.EQ && op != exec.NE {
			continue
		}
		cands = append(cands, candidate[cmpPair]{[]types.OID{p.l, p.r}, p})
	}
	// Arrays of one type, exactly.
	if types.IsArray(lt) && (rt == lt || rt == types.UnknownOID) || types.IsArray(rt) && lt == types.UnknownOID {
		t := lt
		if t == types.UnknownOID {
			t = rt
		}
		return b.finishCompare(op, cmpPair{t, t, t}, l, r, pos)
	}
	best, ambiguous := resolveOp(cands, []types.OID{lt, rt})
	if best == nil {
		return nil, b.noOperator(name, l, r, pos, ambiguous)
	}
	p := best.item
	if p.l == types.AnyArrayOID {
		if lt != rt && lt != types.UnknownOID && rt != types.UnknownOID {
			return nil, b.noOperator(name, l, r, pos, false)
		}
		p = cmpPair{lt, lt, lt}
	}
	return b.finishCompare(op, p, l, r, pos)
}

func (b *Binder) finishCompare(op exec.CmpOp, p cmpPair, l, r exec.Expr, pos int) (exec.Expr, error) {
	l, err := b.mustCoerce(l, typ(p.l), types.Implicit, pos)
	if err != nil {
		return nil, err
	}
	if r, err = b.mustCoerce(r, typ(p.r), types.Implicit, pos); err != nil {
		return nil, err
	}
	switch p.as {
	case types.TimestampOID, types.TimestamptzOID:
		if l, err = b.mustCoerce(l, typ(p.as), types.Explicit, pos); err != nil {
			return nil, err
		}
		if r, err = b.mustCoerce(r, typ(p.as), types.Explicit, pos); err != nil {
			return nil, err
		}
	}
	return &exec.Cmp{Op: op, L: l, R: r, OID: p.as}, nil
}

func (b *Binder) distinct(l, r exec.Expr, not bool, pos int) (exec.Expr, error) {
	if lr, ok := l.(*exec.RowX); ok {
		if rr, ok := r.(*exec.RowX); ok && len(lr.Items) == len(rr.Items) {
			var parts []exec.Expr
			for i := range lr.Items {
				d, err := b.distinct(lr.Items[i], rr.Items[i], not, pos)
				if err != nil {
					return nil, err
				}
				parts = append(parts, d)
			}
			if not {
				return &exec.And{List: parts}, nil
			}
			return &exec.Or{List: parts}, nil
		}
	}
	if isUnknown(l) && isUnknown(r) {
		l, r = b.resolveUnknown(l), b.resolveUnknown(r)
	}
	c, err := b.compare(exec.EQ, "=", l, r, pos)
	if err != nil {
		return nil, err
	}
	cmp, ok := c.(*exec.Cmp)
	if !ok {
		return nil, b.err(pos, pgerr.FeatureNotSupported, "IS DISTINCT FROM is not supported for rows of this kind")
	}
	return &exec.Distinct{L: cmp.L, R: cmp.R, OID: cmp.OID, Not: not}, nil
}

func (b *Binder) rowCompare(sc *scope, op exec.CmpOp, name string, l, r []ast.Expr, pos int) (exec.Expr, error) {
	ls, err := b.exprs(sc, l)
	if err != nil {
		return nil, err
	}
	rs, err := b.exprs(sc, r)
	if err != nil {
		return nil, err
	}
	return b.compareRows(op, name, ls, rs, pos)
}

func (b *Binder) compareRows(op exec.CmpOp, name string, l, r []exec.Expr, pos int) (exec.Expr, error) {
	if len(l) != len(r) {
		return nil, b.err(pos, pgerr.SyntaxError, "unequal number of entries in row expressions")
	}
	if len(l) == 0 {
		return nil, b.err(pos, pgerr.FeatureNotSupported, "cannot compare rows of zero length")
	}
	out := &exec.RowCmp{Op: op}
	for i := range l {
		c, err := b.compare(exec.EQ, name, l[i], r[i], pos)
		if err != nil {
			return nil, err
		}
		cmp, ok := c.(*exec.Cmp)
		if !ok {
			return nil, b.err(pos, pgerr.FeatureNotSupported, "nested rows cannot be compared")
		}
		out.L = append(out.L, cmp.L)
		out.R = append(out.R, cmp.R)
		out.OIDs = append(out.OIDs, cmp.OID)
	}
	return out, nil
}

// hasEquality says whether values of a type can be compared for equality.
func (b *Binder) hasEquality(oid types.OID) bool {
	if oid == types.VarcharOID || types.IsArray(oid) || oid == types.RecordOID || isReg(oid) {
		return true
	}
	for _, p := range cmpPairs {
		if p.l == oid && p.r == oid {
			return true
		}
	}
	return false
}

// hasOrder says whether values of a type can be sorted.
func (b *Binder) hasOrder(oid types.OID) bool {
	return b.hasEquality(oid) && oid != types.XidOID && oid != types.CidOID
}
