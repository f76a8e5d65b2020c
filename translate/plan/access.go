package plan

import (
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// bare strips casts that only change a type's name.
func bare(e exec.Expr) exec.Expr {
	for {
		c, ok := e.(*exec.CastX)
		if !ok || !c.Relabel {
			return e
		}
		e = c.Arg
	}
}

// sameKey says whether a value of type val is stored as a column of type col stores it.
func sameKey(col, val types.OID) bool {
	if col == val {
		return true
	}
	class := func(o types.OID) int {
		switch o {
		case types.Int2OID, types.Int4OID, types.Int8OID:
			return 1
		case types.TextOID, types.VarcharOID, types.NameOID:
			return 2
		case types.OidOID, types.RegclassOID, types.RegtypeOID, types.RegprocOID, types.RegnamespaceOID, types.RegroleOID:
			return 3
		}
		return 0
	}
	c := class(col)
	return c != 0 && c == class(val)
}

// colCompare recognises "column op value" for a column of r, where the value reads only
// relations in avail and is stored the same way.
func colCompare(r *relItem, e exec.Expr, avail relSet) (*exec.Col, exec.Expr, exec.CmpOp, bool) {
	c, ok := e.(*exec.Cmp)
	if !ok {
		return nil, nil, 0, false
	}
	try := func(l, v exec.Expr, op exec.CmpOp) (*exec.Col, exec.Expr, exec.CmpOp, bool) {
		col, ok := bare(l).(*exec.Col)
		if !ok || col.Src != any(r) {
			return nil, nil, 0, false
		}
		v = bare(v)
		if refsOf(v)&^avail != 0 || !sameKey(col.T.OID, v.Type().OID) || isVolatile(v) {
			return nil, nil, 0, false
		}
		return col, v, op, true
	}
	if col, v, op, ok := try(c.L, c.R, c.Op); ok {
		return col, v, op, true
	}
	return try(c.R, c.L, c.Op.Swap())
}

func isVolatile(e exec.Expr) bool {
	v := false
	exec.WalkExpr(e, func(p exec.Expr) bool {
		if f, ok := p.(*exec.FuncX); ok && f.F.Vol == exec.Volatile {
			v = true
		}
		return !v
	})
	return v
}

// keyConds are the conditions on one column that a key can use.
type keyConds struct {
	eq      exec.Expr
	in      []exec.Expr
	arr     exec.Expr
	lo, hi  *exec.KeyBound
	isNull  bool
	notNull bool
}

func gather(r *relItem, conds []exec.Expr, avail relSet) map[int]*keyConds {
	out := make(map[int]*keyConds)
	at := func(att int) *keyConds {
		k := out[att]
		if k == nil {
			k = &keyConds{}
			out[att] = k
		}
		return k
	}
	for _, e := range conds {
		switch x := e.(type) {
		case *exec.Cmp:
			col, v, op, ok := colCompare(r, e, avail)
			if !ok {
				continue
			}
			k := at(col.Att)
			switch op {
			case exec.EQ:
				if k.eq == nil {
					k.eq = v
				}
			case exec.LT, exec.LE:
				if k.hi == nil {
					k.hi = &exec.KeyBound{Val: v, Inclusive: op == exec.LE}
				}
			case exec.GT, exec.GE:
				if k.lo == nil {
					k.lo = &exec.KeyBound{Val: v, Inclusive: op == exec.GE}
				}
			}
			if op != exec.NE {
				k.notNull = true
			}
		case *exec.InList:
			col, ok := bare(x.Arg).(*exec.Col)
			if !ok || col.Src != any(r) || x.Not || !x.Static || len(x.List) > maxSeeks {
				continue
			}
			fits := true
			list := make([]exec.Expr, len(x.List))
			for i, v := range x.List {
				list[i] = bare(v)
				fits = fits && sameKey(col.T.OID, list[i].Type().OID)
			}
			if fits && at(col.Att).in == nil {
				at(col.Att).in = list
				at(col.Att).notNull = true
			}
		case *exec.QuantArr:
			col, ok := bare(x.Left).(*exec.Col)
			if !ok || col.Src != any(r) || x.All || x.Hash == 0 || !sameKey(col.T.OID, types.ElemOf(x.Arr.Type().OID)) || refsOf(x.Arr)&^avail != 0 {
				continue
			}
			at(col.Att).arr = x.Arr
			at(col.Att).notNull = true
		case *exec.IsNull:
			if col, ok := x.Arg.(*exec.Col); ok && col.Src == any(r) {
				if x.Not {
					at(col.Att).notNull = true
				} else {
					at(col.Att).isNull = true
				}
			}
		}
	}
	return out
}

// maxSeeks is up to how many keys of an IN list are looked up one by one.
const maxSeeks = 100000

// accessPath chooses a way into a stored table by the conditions on it; nil is a full scan.
func (b *Binder) accessPath(r *relItem, conds []exec.Expr, avail relSet) *exec.AccessPath {
	if r.table == nil || len(conds) == 0 {
		return nil
	}
	ks := gather(r, conds, avail)
	if k := ks[exec.AttCtid]; k != nil {
		switch {
		case k.eq != nil:
			return &exec.AccessPath{TIDs: k.eq}
		case k.in != nil:
			return &exec.AccessPath{TIDIn: k.in}
		case k.arr != nil:
			return &exec.AccessPath{TIDArr: k.arr}
		}
	}
	var best *exec.AccessPath
	score := 0
	try := func(idx *rel.Index, parts []rel.KeyPart, unique bool) {
		p, s := keyPath(r.table, idx, parts, ks, unique)
		if s > score {
			best, score = p, s
		}
	}
	if len(r.table.Layout) > 0 {
		try(nil, r.table.Layout, false)
	}
	for i := range r.table.Indexes {
		idx := &r.table.Indexes[i]
		parts := make([]rel.KeyPart, len(idx.Columns))
		for k, c := range idx.Columns {
			parts[k] = rel.KeyPart{Column: c}
		}
		try(idx, parts, idx.Unique)
	}
	return best
}

// keyPath matches conditions to the parts of a key, in order.
func keyPath(t *rel.Table, idx *rel.Index, parts []rel.KeyPart, ks map[int]*keyConds, unique bool) (*exec.AccessPath, int) {
	p := &exec.AccessPath{Index: idx}
	score, eqs := 0, 0
	multi := false
	for _, part := range parts {
		k := ks[int(part.Column)]
		if k == nil {
			break
		}
		oid := columnType(t, part.Column)
		if part.IsNull {
			if !k.isNull && !k.notNull {
				break
			}
			v := k.isNull
			p.Eq = append(p.Eq, exec.KeyPart{Col: types.BoolOID, IsNull: &v})
			score += 6
			eqs++
			continue
		}
		if k.eq != nil {
			p.Eq = append(p.Eq, exec.KeyPart{Col: oid, Val: k.eq})
			score += 20
			eqs++
			continue
		}
		if k.in != nil && !multi {
			multi = true
			p.Eq = append(p.Eq, exec.KeyPart{Col: oid, In: k.in})
			score += 15
			eqs++
			continue
		}
		if k.arr != nil && !multi {
			multi = true
			p.Eq = append(p.Eq, exec.KeyPart{Col: oid, Arr: k.arr})
			score += 15
			eqs++
			continue
		}
		if k.lo != nil || k.hi != nil {
			p.Lo, p.Hi, p.Range = k.lo, k.hi, oid
			score += 8
		}
		break
	}
	if score == 0 {
		return nil, 0
	}
	if unique && eqs == len(parts) {
		score += 50
	}
	if idx == nil {
		score++ // the clustered storage needs no second look-up
	}
	return p, score
}

func columnType(t *rel.Table, num int16) types.OID {
	for i := range t.Columns {
		if t.Columns[i].Num == num {
			return t.Columns[i].Type
		}
	}
	return 0
}

// rawPred turns a condition on one stored column into a test of the stored bytes.
func (b *Binder) rawPred(r *relItem, e exec.Expr, avail relSet) *exec.RawPred {
	switch x := e.(type) {
	case *exec.Cmp:
		col, v, op, ok := colCompare(r, e, avail)
		if !ok || col.Att < 1 || !exec.RawComparable(col.T.OID) {
			return nil
		}
		return &exec.RawPred{Att: int16(col.Att), OID: col.T.OID, Op: op, Val: v}
	case *exec.IsNull:
		col, ok := x.Arg.(*exec.Col)
		if !ok || col.Src != any(r) || col.Att < 1 {
			return nil
		}
		return &exec.RawPred{Att: int16(col.Att), OID: col.T.OID, Null: true, Not: x.Not}
	case *exec.InList:
		col, ok := bare(x.Arg).(*exec.Col)
		if !ok || col.Src != any(r) || col.Att < 1 || x.Not || !x.Static || !exec.RawComparable(col.T.OID) {
			return nil
		}
		list := make([]exec.Expr, len(x.List))
		for i, v := range x.List {
			list[i] = bare(v)
			if !sameKey(col.T.OID, list[i].Type().OID) {
				return nil
			}
		}
		return &exec.RawPred{Att: int16(col.Att), OID: col.T.OID, In: list}
	case *exec.Col:
		if x.Src != any(r) || x.Att < 1 || x.T.OID != types.BoolOID {
			return nil
		}
		return &exec.RawPred{Att: int16(x.Att), OID: types.BoolOID, Op: exec.EQ, Val: &exec.Const{T: boolT, D: exec.Bool(true)}}
	case *exec.Not:
		if c, ok := x.Arg.(*exec.Col); ok && c.Src == any(r) && c.Att > 0 && c.T.OID == types.BoolOID {
			return &exec.RawPred{Att: int16(c.Att), OID: types.BoolOID, Op: exec.EQ, Val: &exec.Const{T: boolT, D: exec.Bool(false)}}
		}
	}
	return nil
}
