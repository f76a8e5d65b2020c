package hold

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Metadata of Parquet files are Thrift structs. The library that decodes them allocates
// lists of the length that the bytes state, and recurses as deep as they nest; neither
// running out of memory nor out of stack can be recovered from. So metadata are looked
// through before they are decoded.

const (
	// mostFooter is the largest footer that is read. Those of files of thousands of columns
	// have less.
	mostFooter = 16 << 20
	// mostNesting is how deep metadata may nest; the format's own nest six deep.
	mostNesting = 24
	// mostSchema is how deep columns may nest.
	mostSchema = 256
	// structBytes is how many bytes of metadata there must be for each struct in a list,
	// which takes much more in memory.
	structBytes = 4
)

// The types of Thrift's compact protocol.
const (
	compactTrue = iota + 1
	compactFalse
	compactByte
	compactI16
	compactI32
	compactI64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
	compactUUID
)

// scanner walks over a compact struct without keeping anything.
type scanner struct {
	b       []byte
	structs int // that lists may still have
}

// checkStruct says whether b begins with a struct that is safe to decode.
func checkStruct(b []byte) error {
	s := scanner{b: b, structs: len(b) / structBytes}
	if !s.fields(mostNesting) {
		return fmt.Errorf("%w: metadata that no writer writes", ErrDamaged)
	}
	return nil
}

func (s *scanner) skip(n uint64) bool {
	if n > uint64(len(s.b)) {
		return false
	}
	s.b = s.b[n:]
	return true
}

func (s *scanner) byte() (byte, bool) {
	if len(s.b) == 0 {
		return 0, false
	}
	c := s.b[0]
	s.b = s.b[1:]
	return c, true
}

func (s *scanner) varint() (uint64, bool) {
	n, size := binary.Uvarint(s.b)
	if size <= 0 {
		return 0, false
	}
	s.b = s.b[size:]
	return n, true
}

// fields walks over the fields of a struct up to its end.
func (s *scanner) fields(depth int) bool {
	if depth == 0 {
		return false
	}
	for {
		head, ok := s.byte()
		if !ok {
			return false
		}
		typ := head & 15
		if typ == 0 {
			return true
		}
		if head>>4 == 0 { // the field's number in full
			if _, ok := s.varint(); !ok {
				return false
			}
		}
		if typ == compactTrue || typ == compactFalse {
			continue // the value is the type
		}
		if !s.value(typ, depth-1) {
			return false
		}
	}
}

func (s *scanner) value(typ byte, depth int) bool {
	switch typ {
	case compactTrue, compactFalse, compactByte:
		return s.skip(1)
	case compactI16, compactI32, compactI64:
		_, ok := s.varint()
		return ok
	case compactDouble:
		return s.skip(8)
	case compactUUID:
		return s.skip(16)
	case compactBinary:
		n, ok := s.varint()
		return ok && s.skip(n)
	case compactList, compactSet:
		return s.list(depth)
	case compactMap:
		return s.dict(depth)
	case compactStruct:
		return s.fields(depth)
	}
	return false
}

func (s *scanner) list(depth int) bool {
	head, ok := s.byte()
	if !ok || depth <= 0 {
		return false
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, ok = s.varint(); !ok {
			return false
		}
	}
	return s.elements(n, depth, head&15)
}

func (s *scanner) dict(depth int) bool {
	n, ok := s.varint()
	if !ok || n == 0 {
		return ok
	}
	types, ok := s.byte()
	return ok && depth > 0 && s.elements(n, depth, types>>4, types&15)
}

// elements walks over n times one value of each type. Each has a byte or more.
func (s *scanner) elements(n uint64, depth int, types ...byte) bool {
	if n > uint64(len(s.b)) {
		return false
	}
	for _, t := range types {
		if t == compactStruct || t == compactList || t == compactSet || t == compactMap {
			if n > uint64(s.structs) {
				return false
			}
			s.structs -= int(n)
		}
	}
	for range n {
		for _, t := range types {
			if !s.value(t, depth-1) {
				return false
			}
		}
	}
	return true
}

// checkFooter says whether a footer is safe to decode and to open.
func checkFooter(b []byte) error {
	if err := checkStruct(b); err != nil {
		return err
	}
	var protocol thrift.CompactProtocol
	var meta struct {
		Schema []format.SchemaElement `thrift:"2"`
	}
	if err := thrift.Unmarshal(&protocol, b, &meta); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return checkSchema(meta.Schema)
}

// checkSchema bounds how deep a schema nests: it lists each element before its children.
func checkSchema(schema []format.SchemaElement) error {
	var open []int32 // how many children are still to come, by level
	for i := range schema {
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if n := schema[i].NumChildren; n.Valid && n.V != 0 {
			if n.V < 0 || int(n.V) >= len(schema)-i || len(open) == mostSchema {
				return fmt.Errorf("%w: columns that nest too deep, or are not there", ErrDamaged)
			}
			open = append(open, n.V)
		}
	}
	return nil
}
