package keys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// ErrMalformed is returned for bytes that no encoder of this package makes.
var ErrMalformed = errors.New("keys: malformed key")

// The markers that lead a nullable value.
const (
	NotNull byte = 0x01
	Null    byte = 0x02
)

const (
	uvarintMax1 = 0xF7 // largest value in one byte
	escape      = 0x00
	escaped00   = 0xFF
	terminator  = 0x01
)

// AppendUvarint appends an unsigned number, short for small ones.
func AppendUvarint(dst []byte, v uint64) []byte {
	if v <= uvarintMax1 {
		return append(dst, byte(v))
	}
	n := 8
	for n > 1 && v>>(8*(n-1)) == 0 {
		n--
	}
	dst = append(dst, byte(uvarintMax1+n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// Uvarint decodes what AppendUvarint wrote and returns the bytes after it.
func Uvarint(b []byte) (v uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, ErrMalformed
	}
	if b[0] <= uvarintMax1 {
		return uint64(b[0]), b[1:], nil
	}
	n := int(b[0]) - uvarintMax1
	if len(b) < 1+n || b[1] == 0 || (n == 1 && b[1] <= uvarintMax1) {
		return 0, nil, ErrMalformed // cut off, or not the shortest form
	}
	for _, c := range b[1 : 1+n] {
		v = v<<8 | uint64(c)
	}
	return v, b[1+n:], nil
}

// AppendBool appends a boolean, false first.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Bool decodes a boolean.
func Bool(b []byte) (v bool, rest []byte, err error) {
	if len(b) == 0 || b[0] > 1 {
		return false, nil, ErrMalformed
	}
	return b[0] == 1, b[1:], nil
}

// AppendInt64 appends a signed number.
func AppendInt64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v)^(1<<63))
}

// Int64 decodes a signed number.
func Int64(b []byte) (v int64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, ErrMalformed
	}
	return int64(binary.BigEndian.Uint64(b) ^ (1 << 63)), b[8:], nil
}

// AppendInt128 appends a signed 128-bit number given as its high and low halves.
func AppendInt128(dst []byte, hi int64, lo uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(hi)^(1<<63))
	return binary.BigEndian.AppendUint64(dst, lo)
}

// Int128 decodes a signed 128-bit number.
func Int128(b []byte) (hi int64, lo uint64, rest []byte, err error) {
	if len(b) < 16 {
		return 0, 0, nil, ErrMalformed
	}
	return int64(binary.BigEndian.Uint64(b) ^ (1 << 63)), binary.BigEndian.Uint64(b[8:]), b[16:], nil
}

var canonicalNaN = math.Float64frombits(0x7FF8000000000000)

// AppendFloat64 appends a float in PostgreSQL's order: -Inf … -0 = 0 … +Inf, NaN.
func AppendFloat64(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		v = 0 // drops the sign of -0
	case v != v:
		v = canonicalNaN
	}
	u := math.Float64bits(v)
	if v == 0 {
		u = 0
	}
	if u>>63 == 0 {
		u ^= 1 << 63
	} else {
		u = ^u
	}
	return binary.BigEndian.AppendUint64(dst, u)
}

// Float64 decodes a float.
func Float64(b []byte) (v float64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, ErrMalformed
	}
	u := binary.BigEndian.Uint64(b)
	if u>>63 == 1 {
		u ^= 1 << 63
	} else {
		u = ^u
	}
	v = math.Float64frombits(u)
	if (v == 0 && u != 0) || (v != v && u != math.Float64bits(canonicalNaN)) {
		return 0, nil, ErrMalformed
	}
	return v, b[8:], nil
}

// AppendUUID appends 16 bytes as they are.
func AppendUUID(dst []byte, v [16]byte) []byte { return append(dst, v[:]...) }

// UUID decodes a uuid.
func UUID(b []byte) (v [16]byte, rest []byte, err error) {
	if len(b) < 16 {
		return v, nil, ErrMalformed
	}
	copy(v[:], b)
	return v, b[16:], nil
}

// AppendBytes appends a byte string of any content and length.
func AppendBytes(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, escape)
		if i < 0 {
			break
		}
		dst = append(dst, v[:i]...)
		dst = append(dst, escape, escaped00)
		v = v[i+1:]
	}
	dst = append(dst, v...)
	return append(dst, escape, terminator)
}

// Bytes appends the decoded byte string to dst and returns the bytes after it.
func Bytes(dst, b []byte) (v, rest []byte, err error) {
	for {
		i := bytes.IndexByte(b, escape)
		if i < 0 || i+1 >= len(b) {
			return dst, nil, ErrMalformed
		}
		dst = append(dst, b[:i]...)
		switch b[i+1] {
		case terminator:
			return dst, b[i+2:], nil
		case escaped00:
			dst = append(dst, 0)
			b = b[i+2:]
		default:
			return dst, nil, ErrMalformed
		}
	}
}
