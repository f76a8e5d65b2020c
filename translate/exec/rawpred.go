package exec

import (
	"bytes"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/translate/types"
)

// RawComparable says whether stored values of a type can be compared without decoding.
func RawComparable(oid types.OID) bool {
	switch oid {
	case types.Int8OID, types.Int4OID, types.Int2OID, types.BoolOID, types.TimestamptzOID, types.TimestampOID,
		types.DateOID, types.TextOID, types.VarcharOID, types.UUIDOID, types.ByteaOID:
		return true
	}
	return false
}

// rawTest is a RawPred with its value at hand.
type rawTest struct {
	field   int
	width   int // 8, 4, 2, 1: signed integer of that many bytes; 0: bytes
	op      CmpOp
	i       int64
	b       []byte
	null    bool
	not     bool
	never   bool // compares with NULL: no row passes
	ints    []int64
	strs    [][]byte
	in      bool
	missing []byte
	hasMiss bool
}

func prepareRaw(c *Ctx, t *rel.Table, preds []*RawPred, shared Row, out []rawTest) ([]rawTest, error) {
	for _, p := range preds {
		col := &t.Columns[columnAt(t, p.Att)]
		r := rawTest{
			field: int(p.Att) - 1, op: p.Op, null: p.Null, not: p.Not,
			missing: col.Missing, hasMiss: col.HasMissing,
		}
		switch p.OID {
		case types.Int8OID, types.TimestamptzOID, types.TimestampOID:
			r.width = 8
		case types.Int4OID, types.DateOID:
			r.width = 4
		case types.Int2OID:
			r.width = 2
		case types.BoolOID:
			r.width = 1
		}
		switch {
		case p.In != nil:
			r.in = true
			for _, e := range p.In {
				d, err := e.Eval(c, shared)
				if err != nil {
					return nil, err
				}
				if !d.Valid {
					continue
				}
				if r.width > 0 {
					r.ints = append(r.ints, d.I)
				} else {
					r.strs = append(r.strs, d.B)
				}
			}
			slices.Sort(r.ints)
			slices.SortFunc(r.strs, bytes.Compare)
		case p.Val != nil:
			d, err := p.Val.Eval(c, shared)
			if err != nil {
				return nil, err
			}
			r.never = !d.Valid
			r.i, r.b = d.I, d.B
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b rawTest) int { return a.field - b.field })
	return out, nil
}

// testRaw tests the conditions, which are ordered by field, in one walk.
func testRaw(tests []rawTest, t row.Tuple) bool {
	if len(tests) == 0 {
		return true
	}
	w := row.Walk(t)
	next := 0 // the field the walker stands at
	var (
		val  []byte
		null bool
		have = -1
	)
	for i := range tests {
		r := &tests[i]
		if have != r.field {
			ok := false
			if w.Skip(r.field - next) {
				val, null, ok = w.Next()
				next = r.field + 1
			}
			if !ok {
				val, null = r.missing, !r.hasMiss || r.missing == nil
			}
			have = r.field
		}
		if !r.test(val, null) {
			return false
		}
	}
	return true
}

func (r *rawTest) test(val []byte, null bool) bool {
	if r.null {
		return null != r.not
	}
	if null || r.never {
		return false
	}
	if r.width == 0 {
		if r.in {
			_, found := slices.BinarySearchFunc(r.strs, val, bytes.Compare)
			return found
		}
		if r.op == EQ {
			return bytes.Equal(val, r.b)
		}
		return r.op.Holds(bytes.Compare(val, r.b))
	}
	if len(val) != r.width {
		return false
	}
	var n int64
	switch r.width {
	case 8:
		n = be64(val)
	case 4:
		n = int64(int32(be32(val)))
	case 2:
		n = int64(int16(uint16(val[0])<<8 | uint16(val[1])))
	default:
		n = int64(val[0])
	}
	if r.in {
		_, found := slices.BinarySearch(r.ints, n)
		return found
	}
	switch r.op {
	case EQ:
		return n == r.i
	case NE:
		return n != r.i
	case LT:
		return n < r.i
	case LE:
		return n <= r.i
	case GT:
		return n > r.i
	default:
		return n >= r.i
	}
}
