package types

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/eiderdb/eider/translate/pgerr"
)

// Input reads a value from its text form, as a literal of the type is read: the
// modifier applies as in an assignment (varchar(n) refuses what is too long, numeric
// rounds to its scale). The result may alias s.
func Input(env *Env, t T, s []byte) (Datum, error) {
	switch t.OID {
	case TextOID, UnknownOID, CstringOID, NameOID, PgNodeTreeOID, RefcursorOID:
		if err := CheckUTF8(s); err != nil {
			return Null, err
		}
		return Datum{B: s, Valid: true}, nil
	case VarcharOID, BpcharOID:
		if err := CheckUTF8(s); err != nil {
			return Null, err
		}
		return coerceLength(t, Datum{B: s, Valid: true}, false)
	case Int8OID:
		v, err := parseInt(s, 64, "bigint")
		return Datum{I: v, Valid: err == nil}, err
	case Int4OID:
		v, err := parseInt(s, 32, "integer")
		return Datum{I: v, Valid: err == nil}, err
	case Int2OID:
		v, err := parseInt(s, 16, "smallint")
		return Datum{I: v, Valid: err == nil}, err
	case BoolOID:
		v, ok := parseBool(s)
		if !ok {
			return Null, errSyntax("boolean", s)
		}
		return Bool(v), nil
	case NumericOID:
		return numericInput(s, t.Mod)
	case Float8OID:
		f, err := parseFloat(s, 64)
		return Float8(f), err
	case Float4OID:
		f, err := parseFloat(s, 32)
		return Float8(f), err
	case ByteaOID:
		return byteaInput(s)
	case UUIDOID:
		return uuidInput(s)
	case DateOID:
		return dateInput(env, s)
	case TimeOID:
		return timeInput(env, s, t.Mod)
	case TimetzOID:
		return timetzInput(env, s, t.Mod)
	case TimestampOID:
		return timestampInput(env, s, t.Mod)
	case TimestamptzOID:
		return timestamptzInput(env, s, t.Mod)
	case IntervalOID:
		return intervalInput(env, s, t.Mod)
	case JSONOID:
		if err := CheckUTF8(s); err != nil {
			return Null, err
		}
		if err := checkJSON(s); err != nil {
			return Null, err
		}
		return Datum{B: s, Valid: true}, nil
	case JSONPathOID:
		return jsonpathInput(s)
	case JSONBOID:
		if err := CheckUTF8(s); err != nil {
			return Null, err
		}
		b, err := normalizeJSONB(s)
		return Datum{B: b, Valid: err == nil}, err
	case OidOID:
		v, err := parseOID(s, "oid")
		return Datum{I: int64(v), Valid: err == nil}, err
	case XidOID, CidOID:
		return Datum{I: int64(uint32(parseUintPrefix(s))), Valid: true}, nil
	case Xid8OID:
		return Datum{I: int64(parseUintPrefix(s)), Valid: true}, nil
	case TidOID:
		return tidInput(s)
	case CharOID:
		return charInput(s), nil
	case RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegtypeOID,
		RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		return regInput(env, t.OID, s)
	case PgLSNOID:
		return lsnInput(s)
	case Int2VectorOID, OidVectorOID:
		return vectorInput(env, t.OID, s)
	case VoidOID:
		return Datum{Valid: true}, nil
	case RecordOID, RecordArrayOID:
		return Null, pgerr.New(pgerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	case AnyOID, AnyArrayOID, AnyElementOID, AnyNonArrayOID, AnyCompatibleOID, AnyCompatibleArrayOID, AnyEnumOID, TriggerOID, InternalOID:
		return Null, pgerr.New(pgerr.FeatureNotSupported, "cannot accept a value of type %s", typname(t.OID))
	}
	if info, ok := Lookup(t.OID); ok && info.IsArray() && info.Supported {
		return arrayInput(env, T{OID: info.Elem, Mod: t.Mod}, s)
	}
	return Null, errUnsupported(t.OID)
}

// AppendText appends a value's text form as its type's output function writes it. A
// NULL datum appends nothing.
func AppendText(env *Env, dst []byte, t T, d Datum) []byte {
	if !d.Valid {
		return dst
	}
	switch t.OID {
	case TextOID, VarcharOID, BpcharOID, NameOID, JSONOID, JSONBOID, JSONPathOID, UnknownOID, CstringOID, PgNodeTreeOID, RefcursorOID:
		return append(dst, d.B...)
	case Int8OID, Int4OID, Int2OID:
		return appendInt(dst, d.I)
	case OidOID, XidOID, CidOID:
		return appendInt(dst, int64(uint32(d.I)))
	case BoolOID:
		if d.I != 0 {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case NumericOID:
		return appendNumericText(dst, d.B)
	case Float8OID:
		return appendFloat(env, dst, math.Float64frombits(uint64(d.I)), 64)
	case Float4OID:
		return appendFloat(env, dst, math.Float64frombits(uint64(d.I)), 32)
	case ByteaOID:
		return appendBytea(env, dst, d.B)
	case UUIDOID:
		return appendUUID(dst, d.B)
	case DateOID:
		return appendDate(env, dst, d.I)
	case TimeOID:
		return appendTime(dst, d.I)
	case TimetzOID:
		return appendTimetz(dst, d.I, d.J)
	case TimestampOID:
		return appendTimestamp(env, dst, d.I)
	case TimestamptzOID:
		return appendTimestamptz(env, dst, d.I)
	case IntervalOID:
		return appendInterval(env, dst, d)
	case Xid8OID:
		return appendUint(dst, uint64(d.I))
	case TidOID:
		dst = append(dst, '(')
		dst = appendInt(dst, d.I>>16)
		dst = append(dst, ',')
		dst = appendInt(dst, d.I&0xffff)
		return append(dst, ')')
	case CharOID:
		return appendChar(dst, d.B)
	case RegtypeOID:
		if _, ok := Lookup(OID(d.I)); ok {
			return append(dst, TypeName(OID(d.I))...)
		}
		return appendReg(dst, d.I)
	case RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID,
		RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		if env != nil && env.RegName != nil {
			if name, ok := env.RegName(t.OID, uint32(d.I)); ok {
				return append(dst, name...)
			}
		}
		return appendReg(dst, d.I)
	case PgLSNOID:
		return appendLSN(dst, uint64(d.I))
	case Int2VectorOID, OidVectorOID:
		return appendVector(dst, t.OID, d.B)
	case VoidOID:
		return dst
	case RecordOID:
		return appendRecord(env, dst, d)
	}
	if info, ok := Lookup(t.OID); ok && info.Category == 'A' || t.OID == AnyArrayOID || t.OID == RecordArrayOID {
		return appendArray(env, dst, d.B)
	}
	return append(dst, d.B...)
}

// DecodeBinary reads a value from its binary form and checks it: length, ranges,
// encoding. The result may alias b. Modifiers are not applied. Bytes behind the value are ErrLeftOver.
func DecodeBinary(oid OID, b []byte) (Datum, error) {
	switch oid {
	case TextOID, VarcharOID, BpcharOID, NameOID, UnknownOID, CstringOID, PgNodeTreeOID, RefcursorOID:
		if err := CheckUTF8(b); err != nil {
			return Null, err
		}
		return Datum{B: b, Valid: true}, nil
	case Int8OID, Xid8OID, PgLSNOID:
		if len(b) != 8 {
			return Null, wrongSize(b, 8)
		}
		return Datum{I: int64(binary.BigEndian.Uint64(b)), Valid: true}, nil
	case Int4OID:
		if len(b) != 4 {
			return Null, wrongSize(b, 4)
		}
		return Datum{I: int64(int32(binary.BigEndian.Uint32(b))), Valid: true}, nil
	case Int2OID:
		if len(b) != 2 {
			return Null, wrongSize(b, 2)
		}
		return Datum{I: int64(int16(binary.BigEndian.Uint16(b))), Valid: true}, nil
	case BoolOID:
		if len(b) != 1 {
			return Null, wrongSize(b, 1)
		}
		return Bool(b[0] != 0), nil
	case NumericOID:
		return numericDecode(b)
	case Float8OID:
		if len(b) != 8 {
			return Null, wrongSize(b, 8)
		}
		return Datum{I: int64(binary.BigEndian.Uint64(b)), Valid: true}, nil
	case Float4OID:
		if len(b) != 4 {
			return Null, wrongSize(b, 4)
		}
		return Float8(float64(math.Float32frombits(binary.BigEndian.Uint32(b)))), nil
	case ByteaOID:
		return Datum{B: b, Valid: true}, nil
	case UUIDOID:
		if len(b) != 16 {
			return Null, wrongSize(b, 16)
		}
		return Datum{B: b, Valid: true}, nil
	case DateOID:
		if len(b) != 4 {
			return Null, wrongSize(b, 4)
		}
		v := int64(int32(binary.BigEndian.Uint32(b)))
		if v != dateInfinity && v != dateNegInfinity && (v < minDate || v >= endDate) {
			return Null, errDatetimeOverflow("date")
		}
		return Datum{I: v, Valid: true}, nil
	case TimeOID:
		if len(b) != 8 {
			return Null, wrongSize(b, 8)
		}
		v := int64(binary.BigEndian.Uint64(b))
		if v < 0 || v > usPerDay {
			return Null, errDatetimeOverflow("time")
		}
		return Datum{I: v, Valid: true}, nil
	case TimetzOID:
		if len(b) != 12 {
			return Null, wrongSize(b, 12)
		}
		v := int64(binary.BigEndian.Uint64(b))
		z := int32(binary.BigEndian.Uint32(b[8:]))
		if v < 0 || v > usPerDay {
			return Null, errDatetimeOverflow("time")
		}
		if z <= -maxZone || z >= maxZone {
			return Null, pgerr.New(pgerr.InvalidTimeZoneDisplacement, "time zone displacement out of range")
		}
		return Datum{I: v, J: z, Valid: true}, nil
	case TimestampOID, TimestamptzOID:
		if len(b) != 8 {
			return Null, wrongSize(b, 8)
		}
		v := int64(binary.BigEndian.Uint64(b))
		if v != tsInfinity && v != tsNegInfinity && (v < minTimestamp || v >= endTimestamp) {
			return Null, errDatetimeOverflow("timestamp")
		}
		return Datum{I: v, Valid: true}, nil
	case IntervalOID:
		if len(b) != 16 {
			return Null, wrongSize(b, 16)
		}
		return Datum{
			I: int64(binary.BigEndian.Uint64(b)), J: int32(binary.BigEndian.Uint32(b[8:])),
			K: int32(binary.BigEndian.Uint32(b[12:])), Valid: true,
		}, nil
	case JSONOID:
		return Input(nil, T{JSONOID, -1}, b)
	case JSONBOID:
		if len(b) < 1 || b[0] != 1 {
			if len(b) > 0 {
				return Null, pgerr.New(pgerr.InternalError, "unsupported jsonb version number %d", b[0])
			}
			return Null, wrongSize(b, 1)
		}
		return Input(nil, T{JSONBOID, -1}, b[1:])
	case JSONPathOID:
		if len(b) < 1 || b[0] != 1 {
			if len(b) > 0 {
				return Null, pgerr.New(pgerr.InternalError, "unsupported jsonpath version number: %d", b[0])
			}
			return Null, wrongSize(b, 1)
		}
		return Input(nil, T{JSONPathOID, -1}, b[1:])
	case OidOID, XidOID, CidOID, RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegtypeOID,
		RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		if len(b) != 4 {
			return Null, wrongSize(b, 4)
		}
		return Datum{I: int64(binary.BigEndian.Uint32(b)), Valid: true}, nil
	case TidOID:
		if len(b) != 6 {
			return Null, wrongSize(b, 6)
		}
		return Datum{I: int64(binary.BigEndian.Uint32(b))<<16 | int64(binary.BigEndian.Uint16(b[4:])), Valid: true}, nil
	case CharOID:
		if len(b) != 1 {
			return Null, wrongSize(b, 1)
		}
		return Datum{B: b, Valid: true}, nil
	case VoidOID:
		return Datum{Valid: true}, nil
	case RecordOID:
		return decodeRecord(b)
	}
	if info, ok := Lookup(oid); ok && info.Category == 'A' && info.Supported {
		d, err := arrayDecode(info.Elem, b)
		if err == nil && !info.IsArray() && len(d.B) == 12 {
			return MakeVector(info.Elem, nil), nil
		}
		return d, err
	}
	return Null, errUnsupported(oid)
}

// AppendBinary appends a value's binary form without a length. A NULL datum appends nothing.
func AppendBinary(dst []byte, oid OID, d Datum) []byte {
	if !d.Valid {
		return dst
	}
	switch oid {
	case Int8OID, TimestampOID, TimestamptzOID, TimeOID, Float8OID, Xid8OID, PgLSNOID:
		return binary.BigEndian.AppendUint64(dst, uint64(d.I))
	case Int4OID, DateOID, OidOID, XidOID, CidOID, RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID,
		RegtypeOID, RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		return binary.BigEndian.AppendUint32(dst, uint32(d.I))
	case Int2OID:
		return binary.BigEndian.AppendUint16(dst, uint16(d.I))
	case BoolOID:
		return append(dst, byte(d.I))
	case Float4OID:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(math.Float64frombits(uint64(d.I)))))
	case TimetzOID:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.I))
		return binary.BigEndian.AppendUint32(dst, uint32(d.J))
	case IntervalOID:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.I))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.J))
		return binary.BigEndian.AppendUint32(dst, uint32(d.K))
	case TidOID:
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.I>>16))
		return binary.BigEndian.AppendUint16(dst, uint16(d.I))
	case JSONBOID, JSONPathOID:
		dst = append(dst, 1)
		return append(dst, d.B...)
	case CharOID:
		if len(d.B) == 0 {
			return append(dst, 0)
		}
		return append(dst, d.B[0])
	case VoidOID:
		return dst
	case RecordOID:
		return appendRecordBinary(dst, d)
	}
	return append(dst, d.B...)
}

// CheckUTF8 refuses text that is not UTF-8. NUL bytes pass: Eider keeps them.
func CheckUTF8(s []byte) error {
	if utf8.Valid(s) {
		return nil
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n <= 1 {
			return pgerr.New(pgerr.CharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": %s`, hexBytes(s[i:]))
		}
		i += n
	}
	return nil
}

// hexBytes shows the first bytes of a broken sequence: as many as its lead byte asks for.
func hexBytes(s []byte) string {
	n := 1
	switch c := s[0]; {
	case c&0xe0 == 0xc0:
		n = 2
	case c&0xf0 == 0xe0:
		n = 3
	case c&0xf8 == 0xf0:
		n = 4
	}
	out := make([]byte, 0, 5*n)
	for i := 0; i < n && i < len(s); i++ {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, '0', 'x', hexDigits[s[i]>>4], hexDigits[s[i]&15])
	}
	return string(out)
}

const hexDigits = "0123456789abcdef"
