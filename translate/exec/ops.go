package exec

import (
	"math"
	"sync"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// OpFunc computes an operator; its operands are not NULL.
type OpFunc = func(c *Ctx, a, b types.Datum) (types.Datum, error)

// OpDef is one operator. L is 0 for prefix operators.
type OpDef struct {
	Name      string
	L, R, Ret types.OID
	Fn        OpFunc
	// Poly makes the function of a polymorphic operator for its operand types.
	Poly func(l, r types.OID) OpFunc
	// Nulls says that the function takes NULL operands; of others NULL is the result.
	Nulls bool
}

// Operators are the operators of a name, without the comparisons.
func Operators(name string) []OpDef { return opTable()[name] }

func outOfRange(what string) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", what)
}

var errDivZero = pgerr.New(pgerr.DivisionByZero, "division by zero")

func intName(oid types.OID) string {
	switch oid {
	case types.Int2OID:
		return "smallint"
	case types.Int4OID:
		return "integer"
	}
	return "bigint"
}

// fit checks that v is in the type's range.
func fit(oid types.OID, v int64) (types.Datum, error) {
	switch oid {
	case types.Int2OID:
		if v != int64(int16(v)) {
			return types.Null, outOfRange("smallint")
		}
	case types.Int4OID:
		if v != int64(int32(v)) {
			return types.Null, outOfRange("integer")
		}
	}
	return Int(v), nil
}

func intArith(op byte, oid types.OID) OpFunc {
	switch op {
	case '+':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
			s := a.I + b.I
			if (s > a.I) != (b.I > 0) && b.I != 0 {
				return types.Null, outOfRange("bigint")
			}
			return fit(oid, s)
		}
	case '-':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
			s := a.I - b.I
			if (s < a.I) != (b.I > 0) && b.I != 0 {
				return types.Null, outOfRange("bigint")
			}
			return fit(oid, s)
		}
	case '*':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
			p := a.I * b.I
			if a.I != 0 && (p/a.I != b.I || a.I == -1 && b.I == math.MinInt64) {
				return types.Null, outOfRange("bigint")
			}
			return fit(oid, p)
		}
	case '/':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
			if b.I == 0 {
				return types.Null, errDivZero
			}
			if b.I == -1 {
				if a.I == math.MinInt64 {
					return types.Null, outOfRange("bigint")
				}
				return fit(oid, -a.I)
			}
			return Int(a.I / b.I), nil
		}
	case '%':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
			if b.I == 0 {
				return types.Null, errDivZero
			}
			if b.I == -1 {
				return Int(0), nil
			}
			return Int(a.I % b.I), nil
		}
	case '&':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return Int(a.I & b.I), nil }
	case '|':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return Int(a.I | b.I), nil }
	case '#':
		return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return Int(a.I ^ b.I), nil }
	}
	return nil
}

func truncInt(oid types.OID, v int64) types.Datum {
	switch oid {
	case types.Int2OID:
		return Int(int64(int16(v)))
	case types.Int4OID:
		return Int(int64(int32(v)))
	}
	return Int(v)
}

func shift(left bool, oid types.OID) OpFunc {
	width := uint(64)
	switch oid {
	case types.Int2OID, types.Int4OID:
		width = 32
	}
	return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
		n := uint(b.I) & (width - 1)
		if left {
			return truncInt(oid, a.I<<n), nil
		}
		return truncInt(oid, a.I>>n), nil
	}
}

// Float reads a float datum.
func Float(d types.Datum) float64 { return math.Float64frombits(uint64(d.I)) }

// floatResult checks for overflow and underflow, as PostgreSQL does.
func floatResult(v float64, f4, infIn, zeroOK bool) (types.Datum, error) {
	if f4 {
		v = float64(float32(v))
	}
	if math.IsInf(v, 0) && !infIn {
		return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: overflow")
	}
	if v == 0 && !zeroOK {
		return types.Null, pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: underflow")
	}
	return types.Float8(v), nil
}

func floatArith(op byte, f4 bool) OpFunc {
	return func(_ *Ctx, x, y types.Datum) (types.Datum, error) {
		a, b := Float(x), Float(y)
		inf := math.IsInf(a, 0) || math.IsInf(b, 0)
		switch op {
		case '+':
			return floatResult(a+b, f4, inf, true)
		case '-':
			return floatResult(a-b, f4, inf, true)
		case '*':
			return floatResult(a*b, f4, inf, a == 0 || b == 0)
		default:
			if b == 0 && !math.IsNaN(a) {
				return types.Null, errDivZero
			}
			return floatResult(a/b, f4, math.IsInf(a, 0), a == 0 || math.IsInf(b, 0))
		}
	}
}

func numArith(f func(a, b types.Datum) (types.Datum, error)) OpFunc {
	return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return f(a, b) }
}

func concatText(_ *Ctx, a, b types.Datum) (types.Datum, error) {
	out := make([]byte, 0, len(a.B)+len(b.B))
	return Bytes(append(append(out, a.B...), b.B...)), nil
}

// maxOID picks the wider of two integer types.
func widerInt(l, r types.OID) types.OID {
	rank := func(o types.OID) int {
		switch o {
		case types.Int2OID:
			return 1
		case types.Int4OID:
			return 2
		}
		return 3
	}
	if rank(l) >= rank(r) {
		return l
	}
	return r
}

// opTable lists the operators by name.
var opTable = sync.OnceValue(func() map[string][]OpDef {
	m := make(map[string][]OpDef)
	add := func(name string, l, r, ret types.OID, fn OpFunc) {
		m[name] = append(m[name], OpDef{Name: name, L: l, R: r, Ret: ret, Fn: fn})
	}
	prefix := func(name string, t, ret types.OID, fn func(d types.Datum) (types.Datum, error)) {
		m[name] = append(m[name], OpDef{Name: name, R: t, Ret: ret, Fn: func(_ *Ctx, _, b types.Datum) (types.Datum, error) { return fn(b) }})
	}
	ints := []types.OID{types.Int2OID, types.Int4OID, types.Int8OID}
	for _, l := range ints {
		for _, r := range ints {
			w := widerInt(l, r)
			for _, op := range []byte("+-*/") {
				add(string(op), l, r, w, intArith(op, w))
			}
			if l == r {
				for _, op := range []byte("%&|#") {
					add(string(op), l, r, w, intArith(op, w))
				}
			}
		}
		add("<<", l, types.Int4OID, l, shift(true, l))
		add(">>", l, types.Int4OID, l, shift(false, l))
		prefix("+", l, l, func(d types.Datum) (types.Datum, error) { return d, nil })
		prefix("-", l, l, func(d types.Datum) (types.Datum, error) {
			if d.I == math.MinInt64 {
				return types.Null, outOfRange("bigint")
			}
			return fit(l, -d.I)
		})
		prefix("~", l, l, func(d types.Datum) (types.Datum, error) { return Int(^d.I), nil })
		prefix("@", l, l, func(d types.Datum) (types.Datum, error) {
			if d.I == math.MinInt64 {
				return types.Null, outOfRange("bigint")
			}
			if d.I < 0 {
				return fit(l, -d.I)
			}
			return d, nil
		})
	}
	floats := []types.OID{types.Float4OID, types.Float8OID}
	for _, l := range floats {
		for _, r := range floats {
			ret := types.OID(types.Float8OID)
			if l == types.Float4OID && r == types.Float4OID {
				ret = types.Float4OID
			}
			for _, op := range []byte("+-*/") {
				add(string(op), l, r, ret, floatArith(op, ret == types.Float4OID))
			}
		}
		prefix("+", l, l, func(d types.Datum) (types.Datum, error) { return d, nil })
		prefix("-", l, l, func(d types.Datum) (types.Datum, error) { return types.Float8(-Float(d)), nil })
		prefix("@", l, l, func(d types.Datum) (types.Datum, error) { return types.Float8(math.Abs(Float(d))), nil })
	}
	num := types.OID(types.NumericOID)
	add("+", num, num, num, numArith(types.NumericAdd))
	add("-", num, num, num, numArith(types.NumericSub))
	add("*", num, num, num, numArith(types.NumericMul))
	add("/", num, num, num, numArith(types.NumericDiv))
	add("%", num, num, num, numArith(types.NumericMod))
	add("^", num, num, num, numArith(types.NumericPower))
	add("^", types.Float8OID, types.Float8OID, types.Float8OID, func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return floatPower(Float(a), Float(b)) })
	prefix("+", num, num, func(d types.Datum) (types.Datum, error) { return d, nil })
	prefix("-", num, num, types.NumericNeg)
	prefix("@", num, num, types.NumericAbs)
	prefix("|/", types.Float8OID, types.Float8OID, func(d types.Datum) (types.Datum, error) { return floatSqrt(Float(d)) })
	prefix("||/", types.Float8OID, types.Float8OID, func(d types.Datum) (types.Datum, error) { return types.Float8(math.Cbrt(Float(d))), nil })
	addDateOps(add, prefix)
	add("||", types.TextOID, types.TextOID, types.TextOID, concatText)
	add("||", types.ByteaOID, types.ByteaOID, types.ByteaOID, concatText)
	m["||"] = append(
		m["||"],
		OpDef{Name: "||", L: types.TextOID, R: types.AnyNonArrayOID, Ret: types.TextOID, Poly: func(_, r types.OID) OpFunc {
			return func(c *Ctx, a, b types.Datum) (types.Datum, error) {
				b, err := c.castText(r, b)
				if err != nil {
					return types.Null, err
				}
				return concatText(c, a, b)
			}
		}},
		OpDef{Name: "||", L: types.AnyNonArrayOID, R: types.TextOID, Ret: types.TextOID, Poly: func(l, _ types.OID) OpFunc {
			return func(c *Ctx, a, b types.Datum) (types.Datum, error) {
				a, err := c.castText(l, a)
				if err != nil {
					return types.Null, err
				}
				return concatText(c, a, b)
			}
		}},
		OpDef{Name: "||", L: types.AnyCompatibleArrayOID, R: types.AnyCompatibleArrayOID, Ret: types.AnyCompatibleArrayOID, Nulls: true, Poly: func(l, _ types.OID) OpFunc {
			return arrayCat(types.ElemOf(l))
		}},
		OpDef{Name: "||", L: types.AnyCompatibleArrayOID, R: types.AnyCompatibleOID, Ret: types.AnyCompatibleArrayOID, Nulls: true, Poly: func(l, _ types.OID) OpFunc {
			return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return arrayPush(types.ElemOf(l), a, b, false) }
		}},
		OpDef{Name: "||", L: types.AnyCompatibleOID, R: types.AnyCompatibleArrayOID, Ret: types.AnyCompatibleArrayOID, Nulls: true, Poly: func(_, r types.OID) OpFunc {
			return func(_ *Ctx, a, b types.Datum) (types.Datum, error) { return arrayPush(types.ElemOf(r), b, a, true) }
		}},
	)
	arrayBool := func(name string, f func(oid types.OID, a, b types.Datum) (bool, error)) {
		m[name] = append(m[name], OpDef{Name: name, L: types.AnyArrayOID, R: types.AnyArrayOID, Ret: types.BoolOID, Poly: func(l, _ types.OID) OpFunc {
			elem := types.ElemOf(l)
			return func(_ *Ctx, a, b types.Datum) (types.Datum, error) {
				ok, err := f(elem, a, b)
				return Bool(ok), err
			}
		}})
	}
	arrayBool("@>", arrayContains)
	arrayBool("<@", func(oid types.OID, a, b types.Datum) (bool, error) { return arrayContains(oid, b, a) })
	arrayBool("&&", arrayOverlap)
	addMatchOps(add)
	addJSONOps(add)
	addPathOps(add)
	return m
})

// textOf is a value's text form.
func (c *Ctx) textOf(oid types.OID, d types.Datum) types.Datum {
	if bytesLike(oid) && oid != types.ByteaOID && oid != types.UUIDOID {
		return d
	}
	return Bytes(types.AppendText(c.Env, nil, types.T{OID: oid, Mod: -1}, d))
}

// castText is a value as text by its cast, as text || anynonarray has it: true, not t.
func (c *Ctx) castText(from types.OID, d types.Datum) (types.Datum, error) {
	if !d.Valid {
		return d, nil
	}
	return c.cast(types.T{OID: from, Mod: -1}, types.T{OID: types.TextOID, Mod: -1}, d, true)
}

// cast converts a value by types.Cast; unknown text goes through the input function.
func (c *Ctx) cast(from, to types.T, d types.Datum, explicit bool) (types.Datum, error) {
	if len(d.B) >= bigValue && types.ElemOf(to.OID) != 0 && types.ElemOf(from.OID) == 0 {
		if err := c.roomForSplit(string(d.B), ","); err != nil {
			return types.Null, err
		}
	}
	return types.Cast(c.Env, from, to, d, explicit)
}

func floatPower(a, b float64) (types.Datum, error) {
	if a == 0 && b < 0 {
		return types.Null, pgerr.New("2201F", "zero raised to a negative power is undefined")
	}
	if a < 0 && b != math.Trunc(b) && !math.IsInf(b, 0) {
		return types.Null, pgerr.New("2201F", "a negative number raised to a non-integer power yields a complex result")
	}
	return floatResult(math.Pow(a, b), false, math.IsInf(a, 0) || math.IsInf(b, 0), a == 0 || math.IsInf(b, 0) || math.IsInf(a, 0))
}

func floatSqrt(a float64) (types.Datum, error) {
	if a < 0 {
		return types.Null, pgerr.New("2201F", "cannot take square root of a negative number")
	}
	return types.Float8(math.Sqrt(a)), nil
}
