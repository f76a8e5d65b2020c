package exec

import (
	"bytes"

	"github.com/eiderdb/eider/translate/types"
)

// datumSize is what one value costs in memory beside its bytes.
const datumSize = 72

func compareBytes(a, b []byte) int { return bytes.Compare(a, b) }

// compareRecords orders records by their fields, as far as values say without their
// types: bytes where there are bytes, numbers otherwise; NULL sorts last.
func compareRecords(a, b *types.Datum) int {
	for i := 0; i < len(a.R) && i < len(b.R); i++ {
		x, y := &a.R[i], &b.R[i]
		switch {
		case !x.Valid && !y.Valid:
			continue
		case !x.Valid:
			return 1
		case !y.Valid:
			return -1
		}
		var cmp int
		oid := types.RecordField(*a, i)
		switch {
		case oid != types.UnknownOID && oid != types.RecordOID:
			cmp = CompareDatum(oid, x, y)
		case x.R != nil || y.R != nil:
			cmp = compareRecords(x, y)
		case x.B != nil || y.B != nil:
			cmp = bytes.Compare(x.B, y.B)
		case x.I < y.I:
			cmp = -1
		case x.I > y.I:
			cmp = 1
		}
		if cmp != 0 {
			return cmp
		}
	}
	return len(a.R) - len(b.R)
}

// rowStore keeps copies of rows. Bytes go to shared chunks, so a kept row costs no
// allocation of its own.
type rowStore struct {
	mem   *Mem
	held  int64
	bytes []byte
	cells []types.Datum
}

const (
	byteChunk = 32 << 10
	cellChunk = 512
)

// keep copies row.
func (s *rowStore) keep(row Row) (Row, error) {
	if cap(s.cells)-len(s.cells) < len(row) {
		// Chunks grow with what is kept: many stores hold a few rows only.
		n := max(min(2*cap(s.cells), cellChunk), 16, len(row))
		if err := s.grow(int64(n) * datumSize); err != nil {
			return nil, err
		}
		s.cells = make([]types.Datum, 0, n)
	}
	at := len(s.cells)
	s.cells = s.cells[:at+len(row)]
	out := s.cells[at : at+len(row) : at+len(row)]
	for i := range row {
		if err := s.copyDatum(&out[i], &row[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *rowStore) copyDatum(dst, src *types.Datum) error {
	*dst = *src
	if src.B != nil {
		b, err := s.keepBytes(src.B)
		if err != nil {
			return err
		}
		dst.B = b
	}
	if src.R != nil {
		if err := s.grow(int64(len(src.R)) * datumSize); err != nil {
			return err
		}
		dst.R = make([]types.Datum, len(src.R))
		for i := range src.R {
			if err := s.copyDatum(&dst.R[i], &src.R[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// datum copies one value.
func (s *rowStore) datum(d types.Datum) (types.Datum, error) {
	var out types.Datum
	err := s.copyDatum(&out, &d)
	return out, err
}

func (s *rowStore) keepBytes(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return emptyBytes, nil
	}
	if cap(s.bytes)-len(s.bytes) < len(b) {
		n := byteChunk
		if s.bytes == nil {
			n = 512
		}
		n = max(n, len(b))
		if err := s.grow(int64(n)); err != nil {
			return nil, err
		}
		s.bytes = make([]byte, 0, n)
	}
	at := len(s.bytes)
	s.bytes = append(s.bytes, b...)
	return s.bytes[at:len(s.bytes):len(s.bytes)], nil
}

func (s *rowStore) grow(n int64) error {
	s.held += n
	return s.mem.Grow(n)
}

// release gives the accounted memory back.
func (s *rowStore) release() {
	s.mem.Shrink(s.held)
	*s = rowStore{mem: s.mem}
}

var emptyBytes = []byte{}

// hashKey appends the hash key of a value; NULL has a key of its own.
func hashKey(dst []byte, oid types.OID, d *types.Datum) []byte {
	if !d.Valid {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if intLike(oid) {
		u := uint64(d.I)
		return append(dst, byte(u>>56), byte(u>>48), byte(u>>40), byte(u>>32), byte(u>>24), byte(u>>16), byte(u>>8), byte(u))
	}
	if d.R != nil {
		for i := range d.R {
			f := &d.R[i]
			if f.B != nil {
				dst = hashKey(dst, types.TextOID, f)
			} else {
				dst = hashKey(dst, types.Int8OID, f)
			}
		}
		return dst
	}
	if bytesLike(oid) {
		u := uint32(len(d.B))
		dst = append(dst, byte(u>>24), byte(u>>16), byte(u>>8), byte(u))
		return append(dst, d.B...)
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = types.AppendHashKey(dst, oid, *d)
	u := uint32(len(dst) - at - 4)
	dst[at], dst[at+1], dst[at+2], dst[at+3] = byte(u>>24), byte(u>>16), byte(u>>8), byte(u)
	return dst
}

// truthy evaluates a condition; a nil one holds.
func truthy(c *Ctx, e Expr, row Row) (bool, error) {
	if e == nil {
		return true, nil
	}
	d, err := e.Eval(c, row)
	return d.Valid && d.I != 0, err
}
