package rel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/eiderdb/eider/kv/keys"
	"github.com/eiderdb/eider/kv/row"
)

// ErrKeyValue is returned when a column's bytes are not of the form its type has, so
// that no key can be made of them.
var ErrKeyValue = errors.New("rel: value does not fit its column's type")

// The type OIDs whose binary form needs its own key encoding. All other types are
// ordered by their binary form's bytes, which is right for text, bytea, uuid, and
// serves equality for the rest.
const (
	oidBool        = 16
	oidChar        = 18
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidOID         = 26
	oidFloat4      = 700
	oidFloat8      = 701
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidTimeTZ      = 1266
	oidBytea       = 17
	oidName        = 19
	oidText        = 25
	oidVarchar     = 1043
	oidNumeric     = 1700
	oidUUID        = 2950
)

// Ordered reports whether the key order of a type's values is the type's own order, so
// that an index scan may serve ORDER BY and range conditions. For the other types keys
// serve equality only.
func Ordered(typ uint32) bool {
	switch typ {
	case oidBool, oidChar, oidInt8, oidInt2, oidInt4, oidOID, oidFloat4, oidFloat8, oidDate, oidTime,
		oidTimestamp, oidTimestampTZ, oidInterval, oidTimeTZ, oidNumeric, oidUUID,
		oidBytea, oidText, oidName, oidVarchar: // compared as bytes
		return true
	}
	return false
}

// AppendKey appends the key form of one column value: a NULL marker, or the marker for
// a value and the value in its type's order.
func AppendKey(dst []byte, typ uint32, val []byte, null bool) ([]byte, error) {
	if null {
		return append(dst, keys.Null), nil
	}
	dst = append(dst, keys.NotNull)
	switch typ {
	case oidInt8, oidTimestamp, oidTimestampTZ, oidTime:
		if len(val) == 8 {
			return keys.AppendInt64(dst, int64(binary.BigEndian.Uint64(val))), nil
		}
	case oidInt4, oidDate:
		if len(val) == 4 {
			return keys.AppendInt64(dst, int64(int32(binary.BigEndian.Uint32(val)))), nil
		}
	case oidInt2:
		if len(val) == 2 {
			return keys.AppendInt64(dst, int64(int16(binary.BigEndian.Uint16(val)))), nil
		}
	case oidOID:
		if len(val) == 4 {
			return keys.AppendInt64(dst, int64(binary.BigEndian.Uint32(val))), nil
		}
	case oidBool:
		if len(val) == 1 {
			return keys.AppendBool(dst, val[0] != 0), nil
		}
	case oidFloat8:
		if len(val) == 8 {
			return keys.AppendFloat64(dst, math.Float64frombits(binary.BigEndian.Uint64(val))), nil
		}
	case oidFloat4:
		if len(val) == 4 {
			return keys.AppendFloat64(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(val)))), nil
		}
	case oidUUID:
		if len(val) == 16 {
			return append(dst, val...), nil
		}
	case oidNumeric:
		out, err := keys.AppendNumeric(dst, val)
		if err != nil {
			return dst, fmt.Errorf("%w: %w", ErrKeyValue, err)
		}
		return out, nil
	case oidInterval:
		if len(val) == 16 {
			return appendInterval(dst, val), nil
		}
	case oidTimeTZ:
		if len(val) == 12 {
			micros := int64(binary.BigEndian.Uint64(val))
			zone := int64(int32(binary.BigEndian.Uint32(val[8:])))
			dst = keys.AppendInt64(dst, micros+zone*1_000_000)
			return keys.AppendInt64(dst, zone), nil
		}
	default:
		return keys.AppendBytes(dst, val), nil
	}
	return dst, fmt.Errorf("%w: %d bytes for type %d", ErrKeyValue, len(val), typ)
}

// appendInterval orders intervals as PostgreSQL does: by months of 30 days and days of
// 24 hours, in microseconds, which takes more than 64 bits.
func appendInterval(dst, val []byte) []byte {
	micros := int64(binary.BigEndian.Uint64(val))
	days := int64(int32(binary.BigEndian.Uint32(val[8:])))
	months := int64(int32(binary.BigEndian.Uint32(val[12:])))
	days += months * 30
	const dayMicros = 86_400_000_000
	neg := days < 0
	abs := uint64(days)
	if neg {
		abs = -abs
	}
	hi, lo := bits.Mul64(abs, dayMicros)
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	lo, carry := bits.Add64(lo, uint64(micros), 0)
	hi, _ = bits.Add64(hi, uint64(micros>>63), carry)
	return keys.AppendInt128(dst, int64(hi), lo)
}

// Value returns the value of column c in tup: the field, or what the column reads in
// rows older than itself. The bytes alias the tuple or the descriptor.
func (c *Column) Value(tup row.Tuple) (val []byte, null bool) {
	val, null, ok := tup.Field(int(c.Num) - 1)
	if ok {
		return val, null
	}
	if c.HasMissing && c.Missing != nil {
		return c.Missing, false
	}
	return nil, true
}
