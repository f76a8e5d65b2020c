package row

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Version is the format version byte that leads every stored row.
const Version = 1

// MaxFields is the largest number of fields a tuple can hold: the count is an int16.
const MaxFields = math.MaxInt16

const headerLen = 2

// The errors of the package.
var (
	// ErrMalformed is returned for bytes that are not a tuple.
	ErrMalformed = errors.New("row: malformed tuple")
	// ErrVersion is returned for a stored row of a version this program does not know.
	ErrVersion = errors.New("row: unknown row format version")
	// ErrTooManyFields is returned by building a tuple of more than MaxFields fields.
	ErrTooManyFields = errors.New("row: too many fields")
)

// Tuple is a COPY-binary tuple: field count, then length-prefixed fields. Its methods
// never panic on damaged bytes: a field that is cut off reads as absent.
type Tuple []byte

// Len returns the number of fields, 0 for a damaged tuple.
func (t Tuple) Len() int {
	if len(t) < headerLen {
		return 0
	}
	n := int16(binary.BigEndian.Uint16(t))
	if n < 0 {
		return 0
	}
	return int(n)
}

// Field returns field i (0-based). ok is false when the tuple has fewer fields. val
// aliases the tuple; for NULL it is nil. Reading several fields is cheaper with a Walker.
func (t Tuple) Field(i int) (val []byte, null, ok bool) {
	if i < 0 || i >= t.Len() {
		return nil, false, false
	}
	w := Walk(t)
	if !w.Skip(i) {
		return nil, false, false
	}
	return w.Next()
}

// Walker visits fields in order without allocating. The zero Walker has no fields.
type Walker struct {
	rest []byte
	left int
}

// Walk returns a Walker at the first field.
func Walk(t Tuple) Walker {
	if n := t.Len(); n > 0 {
		return Walker{rest: t[headerLen:], left: n}
	}
	return Walker{}
}

// Next returns the next field; ok is false after the last one or when bytes are missing.
func (w *Walker) Next() (val []byte, null, ok bool) {
	if w.left <= 0 || len(w.rest) < 4 {
		w.left = 0
		return nil, false, false
	}
	w.left--
	n := int32(binary.BigEndian.Uint32(w.rest))
	if n < 0 {
		w.rest = w.rest[4:]
		return nil, true, true
	}
	if int64(n) > int64(len(w.rest)-4) {
		w.left = 0
		return nil, false, false
	}
	val = w.rest[4 : 4+n : 4+n]
	w.rest = w.rest[4+n:]
	return val, false, true
}

// Skip passes over n fields and reports whether there were that many.
func (w *Walker) Skip(n int) bool {
	for ; n > 0; n-- {
		if w.left <= 0 || len(w.rest) < 4 {
			w.left = 0
			return false
		}
		w.left--
		l := int64(int32(binary.BigEndian.Uint32(w.rest)))
		if l < 0 {
			l = 0
		}
		if l > int64(len(w.rest)-4) {
			w.left = 0
			return false
		}
		w.rest = w.rest[4+l:]
	}
	return true
}

// Left is the number of fields not yet visited.
func (w *Walker) Left() int { return w.left }

// Validate checks that t is one well-formed tuple of at most maxFields fields
// (maxFields < 0: any number) with no bytes after it.
func Validate(t Tuple, maxFields int) error {
	n, err := Size(t)
	if err != nil {
		return err
	}
	if n != len(t) {
		return fmt.Errorf("%w: %d bytes after the last field", ErrMalformed, len(t)-n)
	}
	if maxFields >= 0 && t.Len() > maxFields {
		return fmt.Errorf("%w: %d fields, at most %d expected", ErrMalformed, t.Len(), maxFields)
	}
	return nil
}

// Size returns the length of the tuple that b starts with.
func Size(b []byte) (int, error) {
	if len(b) < headerLen {
		return 0, fmt.Errorf("%w: no field count", ErrMalformed)
	}
	n := int16(binary.BigEndian.Uint16(b))
	if n < 0 {
		return 0, fmt.Errorf("%w: field count %d", ErrMalformed, n)
	}
	at := headerLen
	for i := range int(n) {
		if len(b)-at < 4 {
			return 0, fmt.Errorf("%w: field %d has no length", ErrMalformed, i)
		}
		l := int32(binary.BigEndian.Uint32(b[at:]))
		at += 4
		if l < -1 {
			return 0, fmt.Errorf("%w: field %d has length %d", ErrMalformed, i, l)
		}
		if l > 0 {
			if int64(l) > int64(len(b)-at) {
				return 0, fmt.Errorf("%w: field %d is cut off", ErrMalformed, i)
			}
			at += int(l)
		}
	}
	return at, nil
}

// AppendProject appends a tuple made of fields cols (0-based) of t to dst. A field that
// t does not have becomes missing(i), nil meaning NULL; a nil missing means NULL for all.
// Fields in ascending order are found in one walk; a column may appear more than once.
func AppendProject(dst []byte, t Tuple, cols []int, missing func(i int) []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(cols)))
	w := Walk(t)
	at := 0
	for _, c := range cols {
		if c < at {
			w, at = Walk(t), 0
		}
		var (
			val      []byte
			null, ok bool
		)
		if w.Skip(c - at) {
			val, null, ok = w.Next()
			at = c + 1
		} else {
			at = c
		}
		if !ok && missing != nil {
			val = missing(c)
			null = val == nil
		}
		if null || (!ok && missing == nil) {
			dst = append(dst, 0xFF, 0xFF, 0xFF, 0xFF)
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(val)))
		dst = append(dst, val...)
	}
	return dst
}

// AppendStored appends the stored form of t: the version byte and the tuple.
func AppendStored(dst []byte, t Tuple) []byte {
	dst = append(dst, Version)
	return append(dst, t...)
}

// FromStored returns the tuple of a stored row, aliasing it.
func FromStored(v []byte) (Tuple, error) {
	if len(v) < 1+headerLen {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(v))
	}
	if v[0] != Version {
		return nil, fmt.Errorf("%w %d", ErrVersion, v[0])
	}
	return Tuple(v[1:]), nil
}
