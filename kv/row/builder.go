package row

import "encoding/binary"

// Builder makes tuples, append style. The zero Builder is ready; Reset reuses its
// memory. Fields are appended in column order.
type Builder struct {
	buf   []byte
	n     int
	field int // offset of the open field's length, 0 when none is open
}

// Reset starts a new tuple.
func (b *Builder) Reset() {
	b.buf = append(b.buf[:0], 0, 0)
	b.n, b.field = 0, 0
}

func (b *Builder) start() {
	if len(b.buf) == 0 {
		b.Reset()
	}
	b.n++
}

// Null appends a NULL field.
func (b *Builder) Null() {
	b.start()
	b.buf = append(b.buf, 0xFF, 0xFF, 0xFF, 0xFF)
}

// Bytes appends a field; val must not be nil for SQL NULL, use Null. A nil val is an
// empty value.
func (b *Builder) Bytes(val []byte) {
	b.start()
	b.buf = binary.BigEndian.AppendUint32(b.buf, uint32(len(val)))
	b.buf = append(b.buf, val...)
}

// String appends a field from a string.
func (b *Builder) String(val string) {
	b.start()
	b.buf = binary.BigEndian.AppendUint32(b.buf, uint32(len(val)))
	b.buf = append(b.buf, val...)
}

// Int64 appends a bigint field.
func (b *Builder) Int64(v int64) {
	b.start()
	b.buf = append(b.buf, 0, 0, 0, 8)
	b.buf = binary.BigEndian.AppendUint64(b.buf, uint64(v))
}

// Int32 appends an integer field.
func (b *Builder) Int32(v int32) {
	b.start()
	b.buf = append(b.buf, 0, 0, 0, 4)
	b.buf = binary.BigEndian.AppendUint32(b.buf, uint32(v))
}

// Bool appends a boolean field.
func (b *Builder) Bool(v bool) {
	b.start()
	b.buf = append(b.buf, 0, 0, 0, 1, 0)
	if v {
		b.buf[len(b.buf)-1] = 1
	}
}

// Buf opens a field and returns the buffer to append its payload to; the result goes
// to EndField, which fills in the length. So an encoder of the append style writes
// straight into the tuple.
func (b *Builder) Buf() []byte {
	b.start()
	b.field = len(b.buf)
	return append(b.buf, 0, 0, 0, 0)
}

// EndField closes the field that Buf opened.
func (b *Builder) EndField(buf []byte) {
	binary.BigEndian.PutUint32(buf[b.field:], uint32(len(buf)-b.field-4))
	b.buf, b.field = buf, 0
}

// Len is the number of fields so far.
func (b *Builder) Len() int { return b.n }

// Tuple returns the tuple built so far. It is valid until the next call on the Builder.
func (b *Builder) Tuple() (Tuple, error) {
	if len(b.buf) == 0 {
		b.Reset()
	}
	if b.n > MaxFields {
		return nil, ErrTooManyFields
	}
	binary.BigEndian.PutUint16(b.buf, uint16(b.n))
	return Tuple(b.buf), nil
}

// MustTuple is Tuple for callers that know the number of fields to be small enough.
func (b *Builder) MustTuple() Tuple {
	t, err := b.Tuple()
	if err != nil {
		panic(err)
	}
	return t
}
