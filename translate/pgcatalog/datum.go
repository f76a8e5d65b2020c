package pgcatalog

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/eiderdb/eider/translate/types"
)

// pgEpoch is what PostgreSQL's timestamps count from.
var pgEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func dOID(v uint32) types.Datum { return types.Datum{I: int64(v), Valid: true} }

func dInt(v int64) types.Datum { return types.Datum{I: v, Valid: true} }

func dBool(v bool) types.Datum {
	if v {
		return types.Datum{I: 1, Valid: true}
	}
	return types.Datum{Valid: true}
}

func dText(s string) types.Datum { return types.Datum{B: []byte(s), Valid: true} }

// dChar is a "char" value.
func dChar(c byte) types.Datum {
	if c == 0 {
		return types.Datum{B: []byte{}, Valid: true}
	}
	return types.Datum{B: []byte{c}, Valid: true}
}

func dFloat(v float64) types.Datum { return types.Datum{I: int64(math.Float64bits(v)), Valid: true} }

// dTime is a timestamptz; the zero time is NULL.
func dTime(t time.Time) types.Datum {
	if t.IsZero() {
		return types.Null
	}
	return types.Datum{I: t.Sub(pgEpoch).Microseconds(), Valid: true}
}

// dTextOr is NULL for the empty string.
func dTextOr(s string) types.Datum {
	if s == "" {
		return types.Null
	}
	return dText(s)
}

// yesNo is information_schema's yes_or_no.
func yesNo(v bool) types.Datum {
	if v {
		return dText("YES")
	}
	return dText("NO")
}

// array builds a one-dimensional array in PostgreSQL's binary form. lower is the
// subscript of the first element: 1, or 0 for int2vector and oidvector.
func array(elem types.OID, lower int32, items [][]byte) types.Datum {
	size := 12
	if len(items) > 0 {
		size += 8
	}
	for _, it := range items {
		size += 4 + len(it)
	}
	b := make([]byte, 0, size)
	if len(items) == 0 {
		b = binary.BigEndian.AppendUint32(b, 0)
	} else {
		b = binary.BigEndian.AppendUint32(b, 1)
	}
	b = binary.BigEndian.AppendUint32(b, 0) // no NULLs
	b = binary.BigEndian.AppendUint32(b, elem)
	if len(items) > 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(len(items)))
		b = binary.BigEndian.AppendUint32(b, uint32(lower))
	}
	for _, it := range items {
		b = binary.BigEndian.AppendUint32(b, uint32(len(it)))
		b = append(b, it...)
	}
	return types.Datum{B: b, Valid: true}
}

func int2Items(v []int16) [][]byte {
	items := make([][]byte, len(v))
	for i, n := range v {
		items[i] = binary.BigEndian.AppendUint16(nil, uint16(n))
	}
	return items
}

func oidItems(v []uint32) [][]byte {
	items := make([][]byte, len(v))
	for i, n := range v {
		items[i] = binary.BigEndian.AppendUint32(nil, n)
	}
	return items
}

func dInt2Array(v []int16) types.Datum { return array(types.Int2OID, 1, int2Items(v)) }

func dInt2Vector(v []int16) types.Datum { return array(types.Int2OID, 0, int2Items(v)) }

func dOIDVector(v []uint32) types.Datum { return array(types.OidOID, 0, oidItems(v)) }

func dNameArray(v []string) types.Datum {
	items := make([][]byte, len(v))
	for i, s := range v {
		items[i] = []byte(s)
	}
	return array(types.NameOID, 1, items)
}
