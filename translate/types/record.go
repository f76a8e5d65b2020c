package types

import (
	"encoding/binary"
	"errors"

	"github.com/eiderdb/eider/translate/pgerr"
)

// MakeRecord builds a record of fields with their types: B holds the fields' type
// OIDs, four bytes each, and R the values.
func MakeRecord(fieldTypes []OID, vals []Datum) Datum {
	b := make([]byte, 0, 4*len(fieldTypes))
	for _, o := range fieldTypes {
		b = binary.BigEndian.AppendUint32(b, o)
	}
	return Datum{B: b, R: vals, Valid: true}
}

// RecordField is the type of field i of a record datum.
func RecordField(d Datum, i int) OID {
	if len(d.B) < 4*(i+1) {
		return UnknownOID
	}
	return binary.BigEndian.Uint32(d.B[4*i:])
}

func appendRecord(env *Env, dst []byte, d Datum) []byte {
	dst = append(dst, '(')
	var scratch []byte
	for i := range d.R {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !d.R[i].Valid {
			continue
		}
		scratch = AppendText(env, scratch[:0], T{RecordField(d, i), -1}, d.R[i])
		dst = appendRecordItem(dst, scratch)
	}
	return append(dst, ')')
}

func appendRecordItem(dst, s []byte) []byte {
	quote := len(s) == 0
	for _, c := range s {
		if c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || isSpace(c) {
			quote = true
			break
		}
	}
	if !quote {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for _, c := range s {
		if c == '"' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

func appendRecordBinary(dst []byte, d Datum) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(d.R)))
	for i := range d.R {
		o := RecordField(d, i)
		dst = binary.BigEndian.AppendUint32(dst, o)
		dst = appendSized(dst, o, d.R[i])
	}
	return dst
}

func decodeRecord(b []byte) (Datum, error) {
	if len(b) < 4 {
		return Null, wrongSize(b, 4)
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(n)*8 > uint64(len(b)) {
		return Null, wrongSize(nil, 8)
	}
	oids := make([]OID, n)
	vals := make([]Datum, n)
	for i := range vals {
		if len(b) < 8 {
			return Null, wrongSize(b, 8)
		}
		oids[i] = binary.BigEndian.Uint32(b)
		size := int32(binary.BigEndian.Uint32(b[4:]))
		b = b[8:]
		if size < 0 {
			continue
		}
		if int(size) > len(b) {
			return Null, errItemSize()
		}
		d, err := DecodeBinary(oids[i], b[:size])
		if errors.Is(err, ErrLeftOver) {
			err = pgerr.New(pgerr.InvalidBinaryRepresentation, "improper binary format in record column %d", i+1)
		}
		if err != nil {
			return Null, err
		}
		vals[i] = d
		b = b[size:]
	}
	if len(b) > 0 {
		return Null, ErrLeftOver
	}
	return MakeRecord(oids, vals), nil
}

func compareRecords(a, b Datum) int {
	for i := 0; i < len(a.R) && i < len(b.R); i++ {
		x, y := a.R[i], b.R[i]
		switch {
		case !x.Valid && !y.Valid:
			continue
		case !x.Valid:
			return 1
		case !y.Valid:
			return -1
		}
		if c := Compare(RecordField(a, i), x, y); c != 0 {
			return c
		}
	}
	return sign(int64(len(a.R) - len(b.R)))
}
