package types

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/eiderdb/eider/translate/pgerr"
)

const (
	maxDims      = 6
	maxArraySize = 134217727
)

// Array is a decoded array header. Elems walks the elements in storage order.
type Array struct {
	Elem  OID
	Dims  []ArrayDim
	body  []byte
	nulls bool
}

// ArrayDim is one dimension: its length and the subscript of its first element.
type ArrayDim struct {
	Len, Lower int32
}

// ArrayOpen reads an array datum's header. The datum is one this package made or checked.
func ArrayOpen(d Datum) Array { return openArray(d.B) }

func openArray(b []byte) Array {
	n := int(binary.BigEndian.Uint32(b))
	a := Array{Elem: binary.BigEndian.Uint32(b[8:]), nulls: binary.BigEndian.Uint32(b[4:]) != 0}
	if n > 0 {
		a.Dims = make([]ArrayDim, n)
	}
	for i := range a.Dims {
		o := b[12+8*i:]
		a.Dims[i] = ArrayDim{int32(binary.BigEndian.Uint32(o)), int32(binary.BigEndian.Uint32(o[4:]))}
	}
	a.body = b[12+8*n:]
	return a
}

// Len is the number of elements.
func (a *Array) Len() int {
	if len(a.Dims) == 0 {
		return 0
	}
	n := 1
	for _, d := range a.Dims {
		n *= int(d.Len)
	}
	return n
}

// Next answers the next element and whether there was one. Elements alias the array.
func (a *Array) Next() (Datum, bool) {
	if len(a.body) < 4 {
		return Null, false
	}
	n := int32(binary.BigEndian.Uint32(a.body))
	a.body = a.body[4:]
	if n < 0 {
		return Null, true
	}
	d, _ := DecodeBinary(a.Elem, a.body[:n])
	a.body = a.body[n:]
	return d, true
}

// Elems decodes all elements.
func (a Array) Elems() []Datum {
	out := make([]Datum, 0, a.Len())
	for {
		d, ok := a.Next()
		if !ok {
			return out
		}
		out = append(out, d)
	}
}

// MakeArray builds a one-dimensional array (an empty one for no elements).
func MakeArray(elem OID, elems []Datum) Datum {
	if len(elems) == 0 {
		return buildArray(elem, nil, nil)
	}
	return buildArray(elem, []ArrayDim{{int32(len(elems)), 1}}, elems)
}

// MakeArrayDims builds an array of the given dimensions, whose product is len(elems).
func MakeArrayDims(elem OID, dims []ArrayDim, elems []Datum) (Datum, error) {
	if len(dims) > maxDims {
		return Null, errTooManyDims(len(dims))
	}
	n := 1
	for _, d := range dims {
		n *= int(d.Len)
	}
	if len(dims) == 0 || n == 0 {
		return buildArray(elem, nil, nil), nil
	}
	if n != len(elems) {
		return Null, pgerr.New(pgerr.ArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions")
	}
	for _, d := range dims {
		if err := checkLower(d); err != nil {
			return Null, err
		}
	}
	return buildArray(elem, dims, elems), nil
}

// checkLower refuses subscripts over int4, which no text could name.
func checkLower(d ArrayDim) error {
	if int64(d.Lower)+int64(d.Len) > math.MaxInt32 {
		return pgerr.New(pgerr.ProgramLimitExceeded, "array lower bound is too large: %d", d.Lower)
	}
	return nil
}

func errTooManyDims(n int) error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, maxDims)
}

func buildArray(elem OID, dims []ArrayDim, elems []Datum) Datum {
	flags := uint32(0)
	for i := range elems {
		if !elems[i].Valid {
			flags = 1
		}
	}
	b := make([]byte, 0, 12+8*len(dims)+12*len(elems))
	b = binary.BigEndian.AppendUint32(b, uint32(len(dims)))
	b = binary.BigEndian.AppendUint32(b, flags)
	b = binary.BigEndian.AppendUint32(b, elem)
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d.Len))
		b = binary.BigEndian.AppendUint32(b, uint32(d.Lower))
	}
	for i := range elems {
		b = appendSized(b, elem, elems[i])
	}
	return Datum{B: b, Valid: true}
}

// appendSized appends a length-prefixed binary value, −1 for NULL.
func appendSized(b []byte, oid OID, d Datum) []byte {
	if !d.Valid {
		return binary.BigEndian.AppendUint32(b, math.MaxUint32)
	}
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = AppendBinary(b, oid, d)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// arrayDecode checks a binary array against its element type and normalises the
// header: the element type and the has-nulls flag are what they should be.
func arrayDecode(elem OID, b []byte) (Datum, error) {
	if len(b) < 12 {
		return Null, wrongSize(b, 12)
	}
	ndim := int32(binary.BigEndian.Uint32(b))
	flags := binary.BigEndian.Uint32(b[4:])
	wireElem := binary.BigEndian.Uint32(b[8:])
	switch {
	case ndim < 0:
		return Null, pgerr.New(pgerr.InvalidBinaryRepresentation, "invalid number of dimensions: %d", ndim)
	case ndim > maxDims:
		return Null, errTooManyDims(int(ndim))
	case flags > 1:
		return Null, pgerr.New(pgerr.InvalidBinaryRepresentation, "invalid array flags")
	}
	if wireElem != elem && !sameBinary(wireElem, elem) {
		return Null, pgerr.New(pgerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			wireElem, TypeName(wireElem), elem, TypeName(elem))
	}
	head := 12 + 8*int(ndim)
	if len(b) < head {
		return Null, wrongSize(b, head)
	}
	count := int64(1)
	for i := range int(ndim) {
		n := int32(binary.BigEndian.Uint32(b[12+8*i:]))
		if n < 0 {
			return Null, pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArraySize)
		}
		if count *= int64(n); count > maxArraySize {
			return Null, pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArraySize)
		}
	}
	if ndim == 0 || count == 0 {
		return buildArray(elem, nil, nil), nil
	}
	for i := range int(ndim) {
		n, lower := binary.BigEndian.Uint32(b[12+8*i:]), binary.BigEndian.Uint32(b[16+8*i:])
		if err := checkLower(ArrayDim{int32(n), int32(lower)}); err != nil {
			return Null, err
		}
	}
	if int64(len(b)-head) < 4*count {
		return Null, wrongSize(nil, 4)
	}
	rest := b[head:]
	nulls, canonical := false, true
	for i := range count {
		if len(rest) < 4 {
			return Null, wrongSize(rest, 4)
		}
		n := int32(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if n < 0 {
			nulls = true
			continue
		}
		if int(n) > len(rest) {
			return Null, errItemSize()
		}
		d, err := DecodeBinary(elem, rest[:n])
		if errors.Is(err, ErrLeftOver) {
			err = pgerr.New(pgerr.InvalidBinaryRepresentation, "improper binary format in array element %d", i+1)
		}
		if err != nil {
			return Null, err
		}
		if canonical && (elem == NumericOID || elem == JSONBOID) {
			var buf [64]byte
			canonical = string(AppendBinary(buf[:0], elem, d)) == string(rest[:n])
		}
		rest = rest[n:]
	}
	if len(rest) != 0 {
		return Null, ErrLeftOver
	}
	if canonical && wireElem == elem && (flags == 1) == nulls {
		return Datum{B: b, Valid: true}, nil
	}
	a := openArray(b)
	a.Elem = elem
	return buildArray(elem, a.Dims, a.Elems()), nil
}

// sameBinary says that values of the two types have one binary form, as text and varchar do.
func sameBinary(a, b OID) bool {
	text := func(o OID) bool {
		return o == TextOID || o == VarcharOID || o == BpcharOID || o == NameOID || o == UnknownOID
	}
	return text(a) && text(b)
}

// appendArray writes an array's text form.
func appendArray(env *Env, dst, b []byte) []byte {
	a := openArray(b)
	if a.Len() == 0 {
		return append(dst, '{', '}')
	}
	shown := false
	for _, d := range a.Dims {
		shown = shown || d.Lower != 1
	}
	if shown {
		for _, d := range a.Dims {
			dst = append(dst, '[')
			dst = appendInt(dst, int64(d.Lower))
			dst = append(dst, ':')
			dst = appendInt(dst, int64(d.Lower)+int64(d.Len)-1)
			dst = append(dst, ']')
		}
		dst = append(dst, '=')
	}
	var scratch []byte
	return a.appendLevel(env, dst, 0, &scratch)
}

func (a *Array) appendLevel(env *Env, dst []byte, depth int, scratch *[]byte) []byte {
	dst = append(dst, '{')
	for i := range a.Dims[depth].Len {
		if i > 0 {
			dst = append(dst, ',')
		}
		if depth+1 < len(a.Dims) {
			dst = a.appendLevel(env, dst, depth+1, scratch)
			continue
		}
		d, _ := a.Next()
		if !d.Valid {
			dst = append(dst, "NULL"...)
			continue
		}
		*scratch = AppendText(env, (*scratch)[:0], T{a.Elem, -1}, d)
		dst = appendArrayItem(dst, *scratch)
	}
	return append(dst, '}')
}

func appendArrayItem(dst, s []byte) []byte {
	quote := len(s) == 0 || len(s) == 4 && strings.EqualFold(string(s), "null")
	for _, c := range s {
		if c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || isSpace(c) {
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
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// compareArrays orders arrays element by element, then by length, dimensions and bounds.
func compareArrays(x, y []byte) int {
	a, b := openArray(x), openArray(y)
	la, lb := a.Len(), b.Len()
	for range min(la, lb) {
		d, _ := a.Next()
		e, _ := b.Next()
		switch {
		case !d.Valid && !e.Valid:
			continue
		case !d.Valid:
			return 1 // NULL is the greatest
		case !e.Valid:
			return -1
		}
		if c := Compare(a.Elem, d, e); c != 0 {
			return c
		}
	}
	if la != lb {
		return sign(int64(la) - int64(lb))
	}
	if len(a.Dims) != len(b.Dims) {
		return sign(int64(len(a.Dims)) - int64(len(b.Dims)))
	}
	for i := range a.Dims {
		if a.Dims[i].Len != b.Dims[i].Len {
			return sign(int64(a.Dims[i].Len) - int64(b.Dims[i].Len))
		}
	}
	for i := range a.Dims {
		if a.Dims[i].Lower != b.Dims[i].Lower {
			return sign(int64(a.Dims[i].Lower) - int64(b.Dims[i].Lower))
		}
	}
	return 0
}

func sign(v int64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// vectorInput reads int2vector and oidvector: numbers with blanks between. They are
// stored as one-dimensional arrays with lower bound 0.
func vectorInput(env *Env, oid OID, s []byte) (Datum, error) {
	elem := ElemOf(oid)
	var elems []Datum
	for _, f := range strings.Fields(string(s)) {
		d, err := Input(env, T{elem, -1}, []byte(f))
		if err != nil {
			return Null, err
		}
		elems = append(elems, d)
	}
	return MakeVector(elem, elems), nil
}

// MakeVector builds an int2vector or oidvector of elements of type elem.
func MakeVector(elem OID, elems []Datum) Datum {
	return buildArray(elem, []ArrayDim{{int32(len(elems)), 0}}, elems)
}

func appendVector(dst []byte, _ OID, b []byte) []byte {
	a := openArray(b)
	for i := 0; ; i++ {
		d, ok := a.Next()
		if !ok {
			return dst
		}
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = AppendText(nil, dst, T{a.Elem, -1}, d)
	}
}
