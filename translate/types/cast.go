package types

import (
	"math"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// CastContext is the least explicit use in which a cast applies.
type CastContext uint8

// The contexts, from what happens by itself to what must be written.
const (
	Implicit CastContext = iota
	Assignment
	Explicit
)

// CastKind is how a cast is done.
type CastKind uint8

// The kinds of casts.
const (
	CastBinary CastKind = iota // same representation: only the type changes
	CastFunc                   // a conversion function
	CastIO                     // through the text form
	CastArray                  // element by element
)

// FindCast looks a cast up as PostgreSQL does: the same type, pg_cast, arrays by their
// elements, then the I/O conversions (to string types on assignment, from string types
// when written), and unknown literals to everything. ok is false when there is none.
func FindCast(from, to OID) (ctx CastContext, kind CastKind, ok bool) {
	if from == to {
		return Implicit, CastBinary, true
	}
	if from == UnknownOID {
		return Implicit, CastIO, true
	}
	if row, ok := castTable[castKey{from, to}]; ok {
		return row.ctx, row.kind, true
	}
	f, fok := Lookup(from)
	t, tok := Lookup(to)
	if !fok || !tok || to == UnknownOID {
		return 0, 0, false
	}
	if to == AnyOID || to == AnyElementOID || to == AnyCompatibleOID || (to == AnyArrayOID || to == AnyCompatibleArrayOID) && f.Category == 'A' {
		return Implicit, CastBinary, true
	}
	if f.Category == 'A' && t.Category == 'A' && f.Elem != 0 && t.Elem != 0 {
		if from == Int2VectorOID && to == Int2ArrayOID || from == OidVectorOID && to == OidArrayOID {
			return Implicit, CastBinary, true
		}
		if f.IsArray() && t.IsArray() {
			if ctx, kind, ok := FindCast(f.Elem, t.Elem); ok {
				if kind == CastBinary {
					return ctx, CastArray, true // the header names the element type
				}
				if kind != CastIO {
					return ctx, CastArray, true
				}
			}
		}
	}
	if t.Category == 'S' && (f.Kind == 'b' || from == RecordOID || from == VoidOID || from == CstringOID || from == AnyArrayOID || from == RecordArrayOID) {
		return Assignment, CastIO, true
	}
	if f.Category == 'S' && t.Kind == 'b' {
		return Explicit, CastIO, true
	}
	if f.IsArray() && t.IsArray() {
		if ctx, _, ok := FindCast(f.Elem, t.Elem); ok {
			return ctx, CastArray, true
		}
	}
	return 0, 0, false
}

// Cast converts a value, NULL to NULL, and applies the target's modifier: an explicit
// cast cuts what is too long, an assignment refuses it. Use FindCast first to learn
// whether the cast is allowed; names for the reg types are looked up by the caller.
func Cast(env *Env, from, to T, d Datum, explicit bool) (Datum, error) {
	if !d.Valid {
		return Null, nil
	}
	if from.OID == to.OID {
		if from.Mod == to.Mod && to.OID != BpcharOID {
			return d, nil
		}
		return coerceMod(to, d, explicit)
	}
	switch to.OID {
	case Int8OID, Int4OID, Int2OID:
		if v, done, err := toInt(from.OID, to.OID, d); done || err != nil {
			return v, err
		}
	case Float8OID, Float4OID:
		if v, done, err := toFloat(from.OID, to.OID, d); done || err != nil {
			return v, err
		}
	case NumericOID:
		v, done, err := toNumeric(from.OID, d)
		if err != nil {
			return Null, err
		}
		if done {
			return coerceMod(to, v, explicit)
		}
	case BoolOID:
		switch from.OID {
		case Int4OID, Int2OID, Int8OID:
			return Bool(d.I != 0), nil
		case JSONBOID:
			switch n := parseJSONB(&jsonReader{s: d.B}); n.kind {
			case jsonbBool:
				return Bool(n.t), nil
			default:
				return Null, errJSONBCast(n.kind, "boolean")
			}
		}
	case TextOID, VarcharOID, BpcharOID, NameOID, CstringOID, PgNodeTreeOID, UnknownOID:
		return toString(env, from, to, d, explicit)
	case CharOID:
		if from.OID == Int4OID {
			if d.I < math.MinInt8 || d.I > math.MaxInt8 {
				return Null, errOutOfRange(`"char"`)
			}
			return Text([]byte{byte(d.I)}), nil
		}
		if isString(from.OID) {
			return Text(d.B[:min(1, len(d.B))]), nil
		}
	case OidOID, RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegtypeOID,
		RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		switch from.OID {
		case Int8OID:
			if d.I < 0 || d.I > math.MaxUint32 {
				return Null, errOutOfRange("OID")
			}
			return d, nil
		case Int4OID, Int2OID:
			return Int(int64(uint32(int32(d.I)))), nil
		}
		if isOidLike(from.OID) {
			return d, nil
		}
	case XidOID:
		if from.OID == Xid8OID {
			return Int(int64(uint32(d.I))), nil
		}
	case DateOID, TimestampOID, TimestamptzOID, TimeOID, TimetzOID, IntervalOID:
		v, done, err := toDatetime(env, from.OID, to.OID, d)
		if err != nil {
			return Null, err
		}
		if done {
			return coerceMod(to, v, explicit)
		}
	case JSONOID:
		if from.OID == JSONBOID {
			return d, nil
		}
	case ByteaOID:
		if from.OID == UnknownOID {
			return byteaInput(d.B)
		}
	}
	if fi, ok := Lookup(from.OID); ok && fi.Category == 'A' {
		if ti, ok := Lookup(to.OID); ok && ti.Category == 'A' {
			return castArray(env, fi.Elem, T{ti.Elem, to.Mod}, d, explicit)
		}
		if to.OID == AnyArrayOID || to.OID == AnyCompatibleArrayOID {
			return d, nil
		}
	}
	if to.OID == AnyOID || to.OID == AnyElementOID || to.OID == AnyCompatibleOID {
		return d, nil
	}
	// Through the text form.
	text := d.B
	if !isString(from.OID) || from.OID == BpcharOID {
		text = AppendText(env, nil, from, d)
	}
	return Input(env, to, text)
}

func isString(o OID) bool {
	switch o {
	case TextOID, VarcharOID, BpcharOID, NameOID, UnknownOID, CstringOID, PgNodeTreeOID, RefcursorOID:
		return true
	}
	return false
}

func isOidLike(o OID) bool {
	switch o {
	case OidOID, RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegtypeOID,
		RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		return true
	}
	return false
}

func intName(o OID) (bits uint, name string) {
	switch o {
	case Int8OID:
		return 64, "bigint"
	case Int4OID:
		return 32, "integer"
	}
	return 16, "smallint"
}

func fits(v int64, bits uint) bool { return v<<(64-bits)>>(64-bits) == v }

func toInt(from, to OID, d Datum) (Datum, bool, error) {
	bits, name := intName(to)
	switch from {
	case Int8OID, Int4OID, Int2OID:
		if !fits(d.I, bits) {
			return Null, false, errOutOfRange(name)
		}
		return d, true, nil
	case BoolOID:
		return d, true, nil
	case NumericOID:
		v, err := numericToInt(d, bits, name)
		return Datum{I: v, Valid: err == nil}, true, err
	case Float8OID, Float4OID:
		f := math.RoundToEven(d.Float())
		limit := math.Ldexp(1, int(bits)-1)
		if !(f >= -limit && f < limit) {
			return Null, false, errOutOfRange(name)
		}
		return Int(int64(f)), true, nil
	case CharOID:
		if len(d.B) == 0 {
			return Int(0), true, nil
		}
		return Int(int64(int8(d.B[0]))), true, nil
	case JSONBOID:
		n, err := jsonbNumberOf(d, name)
		if err != nil {
			return Null, false, err
		}
		v, err := numericToInt(n, bits, name)
		return Datum{I: v, Valid: err == nil}, true, err
	}
	if isOidLike(from) {
		if to == Int4OID {
			return Int(int64(int32(uint32(d.I)))), true, nil
		}
		return d, true, nil
	}
	return Null, false, nil
}

func toFloat(from, to OID, d Datum) (Datum, bool, error) {
	bits := 64
	if to == Float4OID {
		bits = 32
	}
	switch from {
	case Int8OID, Int4OID, Int2OID:
		if bits == 32 {
			return Float8(float64(float32(d.I))), true, nil
		}
		return Float8(float64(d.I)), true, nil
	case Float4OID:
		return d, true, nil
	case Float8OID:
		f := d.Float()
		g := float64(float32(f))
		if math.IsInf(g, 0) && !math.IsInf(f, 0) {
			return Null, false, pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: overflow")
		}
		if g == 0 && f != 0 {
			return Null, false, pgerr.New(pgerr.NumericValueOutOfRange, "value out of range: underflow")
		}
		return Float8(g), true, nil
	case NumericOID:
		var buf [64]byte
		f, err := parseFloat(appendNumericText(buf[:0], d.B), bits)
		return Float8(f), true, err
	case JSONBOID:
		n, err := jsonbNumberOf(d, floatName(bits))
		if err != nil {
			return Null, false, err
		}
		return toFloat(NumericOID, to, n)
	}
	return Null, false, nil
}

func toNumeric(from OID, d Datum) (Datum, bool, error) {
	switch from {
	case Int8OID, Int4OID, Int2OID:
		return NumericFromInt64(d.I), true, nil
	case Float8OID:
		v, err := NumericFromFloat(d.Float(), 64)
		return v, true, err
	case Float4OID:
		v, err := NumericFromFloat(d.Float(), 32)
		return v, true, err
	case JSONBOID:
		v, err := jsonbNumberOf(d, "numeric")
		return v, true, err
	}
	return Null, false, nil
}

func errJSONBCast(k jsonbKind, to string) error {
	name := [...]string{"null", "string", "numeric", "boolean", "array", "object"}[k]
	what := "jsonb " + name
	switch k {
	case jsonbArray, jsonbObject:
		what = "jsonb " + name
	}
	return pgerr.New(pgerr.InvalidParameterValue, "cannot cast %s to type %s", what, to)
}

func jsonbNumberOf(d Datum, to string) (Datum, error) {
	n := parseJSONB(&jsonReader{s: d.B})
	if n.kind != jsonbNumber {
		return Null, errJSONBCast(n.kind, to)
	}
	return Text(n.b), nil
}

// toString casts to a string type: bool spells true and false, bpchar loses its
// padding, everything else gives its text form.
func toString(env *Env, from, to T, d Datum, explicit bool) (Datum, error) {
	v := d
	switch {
	case from.OID == BpcharOID && to.OID != UnknownOID && to.OID != CstringOID:
		v.B = trimBlanks(d.B)
	case isString(from.OID):
	case from.OID == BoolOID && to.OID != NameOID && to.OID != CstringOID && to.OID != UnknownOID:
		v = String("false")
		if d.I != 0 {
			v = String("true")
		}
	default:
		v = Text(AppendText(env, []byte{}, from, d))
		// A type without a cast function goes through the target's input function,
		// which takes the value as an assignment does.
	}
	return coerceMod(to, v, explicit)
}

// coerceMod applies a modifier to a value of the type.
func coerceMod(t T, d Datum, explicit bool) (Datum, error) {
	switch t.OID {
	case VarcharOID, BpcharOID:
		return coerceLength(t, d, explicit)
	}
	if t.Mod < 0 {
		return d, nil
	}
	switch t.OID {
	case NumericOID:
		return coerceNumeric(d, t.Mod)
	case TimeOID, TimetzOID:
		d.I = roundTime(d.I, t.Mod)
	case TimestampOID, TimestamptzOID:
		d.I = roundTimestamp(d.I, t.Mod)
	case IntervalOID:
		return applyIntervalTypmod(d, t.Mod), nil
	default:
		if e := ElemOf(t.OID); e != 0 {
			return castArray(nil, e, T{e, t.Mod}, d, explicit)
		}
	}
	return d, nil
}

// coerceNumeric applies numeric(p,s).
func coerceNumeric(d Datum, mod int32) (Datum, error) {
	if v, scale, ok := smallNumeric(d.B); ok {
		if p, s, ok := NumericPrecisionScale(mod); ok && int(s) == scale && p < 18 && abs64(v) < pow10int[p] {
			return d, nil // fits as it is
		}
		if r, ok := makeSmallTypmod(v, scale, mod); ok {
			return r, nil
		}
	}
	var n num
	n.load(d.B)
	if err := n.applyTypmod(mod); err != nil {
		return Null, err
	}
	return n.datum()
}

// coerceLength applies varchar(n) and character(n), which count characters.
func coerceLength(t T, d Datum, explicit bool) (Datum, error) {
	if t.Mod < 4 {
		return d, nil
	}
	limit := int(t.Mod - 4)
	b := d.B
	if len(b) > limit || t.OID == BpcharOID {
		n, at := 0, 0
		for at < len(b) && n < limit {
			_, w := utf8.DecodeRune(b[at:])
			at += w
			n++
		}
		if at < len(b) {
			if !explicit && len(trimBlanks(b[at:])) > 0 {
				return Null, pgerr.New(pgerr.StringDataRightTruncation, "value too long for type %s", FormatType(T{t.OID, t.Mod}))
			}
			d.B = b[:at]
			return d, nil
		}
		if t.OID == BpcharOID && n < limit {
			out := make([]byte, len(b), len(b)+limit-n)
			copy(out, b)
			for ; n < limit; n++ {
				out = append(out, ' ')
			}
			d.B = out
		}
	}
	return d, nil
}

// castArray casts element by element.
func castArray(env *Env, from OID, to T, d Datum, explicit bool) (Datum, error) {
	a := openArray(d.B)
	elems := a.Elems()
	for i := range elems {
		v, err := Cast(env, T{from, -1}, to, elems[i], explicit)
		if err != nil {
			return Null, err
		}
		elems[i] = v
	}
	return buildArray(to.OID, a.Dims, elems), nil
}
