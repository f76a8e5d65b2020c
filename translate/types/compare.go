package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
)

// Compare orders two values of a type as its default btree operators do. Both are
// valid. Text compares by bytes, which is the "C" collation.
func Compare(oid OID, a, b Datum) int {
	switch oid {
	case Int8OID, Int4OID, Int2OID, BoolOID, DateOID, TimeOID, TimestampOID, TimestamptzOID, TidOID,
		OidOID, XidOID, CidOID, RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID,
		RegtypeOID, RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		return cmp.Compare(a.I, b.I)
	case TextOID, VarcharOID, ByteaOID, UUIDOID, NameOID, JSONOID, UnknownOID, CstringOID, PgNodeTreeOID, RefcursorOID, CharOID:
		return bytes.Compare(a.B, b.B)
	case BpcharOID:
		return bytes.Compare(trimBlanks(a.B), trimBlanks(b.B))
	case NumericOID:
		return compareNumeric(a.B, b.B)
	case Float8OID, Float4OID:
		return compareFloat(a.Float(), b.Float())
	case IntervalOID:
		return compareInterval(a, b)
	case TimetzOID:
		if c := cmp.Compare(a.I+int64(a.J)*usPerSecond, b.I+int64(b.J)*usPerSecond); c != 0 {
			return c
		}
		return cmp.Compare(a.J, b.J)
	case Xid8OID, PgLSNOID:
		return cmp.Compare(uint64(a.I), uint64(b.I))
	case JSONBOID:
		return compareJSONB(a.B, b.B)
	case RecordOID:
		return compareRecords(a, b)
	case VoidOID:
		return 0
	}
	if info, ok := Lookup(oid); ok && info.Category == 'A' || oid == AnyArrayOID {
		return compareArrays(a.B, b.B)
	}
	return bytes.Compare(a.B, b.B)
}

// compareFloat puts NaN above everything and equal to itself.
func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}

func compareInterval(a, b Datum) int {
	ah, al := intervalSpan(a)
	bh, bl := intervalSpan(b)
	if ah != bh {
		return cmp.Compare(ah, bh)
	}
	return cmp.Compare(al, bl)
}

// mul128 is the signed 128-bit product.
func mul128(a, b int64) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	hi = int64(h)
	if a < 0 {
		hi -= b
	}
	if b < 0 {
		hi -= a
	}
	return hi, l
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// AppendHashKey appends bytes that are the same for two values exactly when Compare
// finds them equal (NULLs equal each other). The bytes delimit themselves, so keys of
// several columns may be joined.
func AppendHashKey(dst []byte, oid OID, d Datum) []byte {
	if !d.Valid {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch oid {
	case Int8OID, Int4OID, Int2OID, BoolOID, DateOID, TimeOID, TimestampOID, TimestamptzOID, TidOID,
		OidOID, XidOID, CidOID, Xid8OID, PgLSNOID, RegclassOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID,
		RegtypeOID, RegnamespaceOID, RegroleOID, RegcollationOID, RegconfigOID, RegdictionaryOID:
		return binary.BigEndian.AppendUint64(dst, uint64(d.I))
	case Float8OID, Float4OID:
		f := d.Float()
		switch {
		case math.IsNaN(f):
			f = math.Float64frombits(nanBits)
		case f == 0:
			f = 0
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(f))
	case BpcharOID:
		return appendSizedKey(dst, trimBlanks(d.B))
	case NumericOID:
		return appendNumericHash(dst, d.B)
	case IntervalOID:
		hi, lo := intervalSpan(d)
		dst = binary.BigEndian.AppendUint64(dst, uint64(hi))
		return binary.BigEndian.AppendUint64(dst, lo)
	case TimetzOID:
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.I))
		return binary.BigEndian.AppendUint32(dst, uint32(d.J))
	case JSONBOID:
		return appendSizedKey(dst, jsonbHashForm(d.B))
	case RecordOID:
		dst = binary.AppendUvarint(dst, uint64(len(d.R)))
		for i := range d.R {
			dst = AppendHashKey(dst, RecordField(d, i), d.R[i])
		}
		return dst
	case VoidOID:
		return dst
	}
	if info, ok := Lookup(oid); ok && info.Category == 'A' || oid == AnyArrayOID {
		a := openArray(d.B)
		dst = append(dst, byte(len(a.Dims)))
		for _, m := range a.Dims {
			dst = binary.BigEndian.AppendUint32(dst, uint32(m.Len))
			dst = binary.BigEndian.AppendUint32(dst, uint32(m.Lower))
		}
		for {
			e, ok := a.Next()
			if !ok {
				return dst
			}
			dst = AppendHashKey(dst, a.Elem, e)
		}
	}
	return appendSizedKey(dst, d.B)
}

func appendSizedKey(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}
