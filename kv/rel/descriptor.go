package rel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// DescriptorFormat is the leading byte of every stored descriptor; JSON follows. Fields
// may be added under the same format if old programs may ignore them; anything else
// needs a new number.
const DescriptorFormat = 1

// The errors of decoding descriptors.
var (
	// ErrDescriptor is returned for bytes that are not a descriptor.
	ErrDescriptor = errors.New("rel: malformed descriptor")
	// ErrDescriptorFormat is returned for a descriptor of a format this program does not know.
	ErrDescriptorFormat = errors.New("rel: unknown descriptor format")
)

// EncodeTable returns the stored form of a table descriptor.
func EncodeTable(t *Table) ([]byte, error) { return encode(t) }

// EncodeGhost returns the stored form of a dropped table's descriptor, which has no storage.
func EncodeGhost(t *Table) ([]byte, error) { return encode(t) }

// DecodeGhost returns the descriptor that EncodeGhost stored.
func DecodeGhost(b []byte) (*Table, error) {
	t := new(Table)
	if err := decode(b, t); err != nil {
		return nil, err
	}
	// A ghost is a table without storage, indexes and layout; else it is like any other.
	probe := *t
	probe.Storage = 1
	if t.Storage != 0 || len(t.Indexes) > 0 || len(t.Layout) > 0 {
		return nil, fmt.Errorf("%w: ghost %q with storage", ErrDescriptor, t.Name)
	}
	if err := probe.Check(); err != nil {
		return nil, err
	}
	return t, nil
}

// EncodeSchema returns the stored form of a schema descriptor.
func EncodeSchema(s *Schema) ([]byte, error) { return encode(s) }

func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("rel: encode descriptor: %w", err)
	}
	return slices.Insert(b, 0, DescriptorFormat), nil
}

// DecodeTable returns the descriptor that EncodeTable stored, checked for what the rest
// of the package relies on.
func DecodeTable(b []byte) (*Table, error) {
	t := new(Table)
	if err := decode(b, t); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return t, nil
}

// DecodeSchema returns the descriptor that EncodeSchema stored.
func DecodeSchema(b []byte) (*Schema, error) {
	s := new(Schema)
	if err := decode(b, s); err != nil {
		return nil, err
	}
	if s.OID == 0 {
		return nil, fmt.Errorf("%w: schema without oid", ErrDescriptor)
	}
	return s, nil
}

func decode(b []byte, v any) error {
	if len(b) == 0 {
		return fmt.Errorf("%w: empty", ErrDescriptor)
	}
	if b[0] != DescriptorFormat {
		return fmt.Errorf("%w %d", ErrDescriptorFormat, b[0])
	}
	if err := json.Unmarshal(b[1:], v); err != nil {
		return fmt.Errorf("%w: %w", ErrDescriptor, err)
	}
	return nil
}

// Check reports what would make a descriptor unusable: references to columns that do
// not exist, attnums out of range, index ids that repeat.
func (t *Table) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: table %q: %s", ErrDescriptor, t.Name, fmt.Sprintf(format, args...))
	}
	if t.OID == 0 {
		return bad("no oid")
	}
	if t.Kind != KindTable && t.Kind != KindView {
		return bad("kind %q", t.Kind)
	}
	if t.Kind == KindTable && t.Storage == 0 {
		return bad("no storage")
	}
	for i := range t.Columns {
		if t.Columns[i].Num != int16(i+1) {
			return bad("column %d has number %d", i+1, t.Columns[i].Num)
		}
	}
	has := func(num int16) bool { return num >= 1 && int(num) <= len(t.Columns) }
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.ID == 0 || len(x.Columns) == 0 {
			return bad("index %q has id %d and %d columns", x.Name, x.ID, len(x.Columns))
		}
		for _, num := range x.Columns {
			if !has(num) {
				return bad("index %q on column %d", x.Name, num)
			}
		}
		for j := range i {
			if t.Indexes[j].ID == x.ID {
				return bad("index id %d twice", x.ID)
			}
		}
	}
	for _, p := range t.Layout {
		if !has(p.Column) {
			return bad("layout on column %d", p.Column)
		}
	}
	return nil
}
