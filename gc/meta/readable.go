package meta

import (
	"fmt"

	"github.com/eiderdb/eider/kv/rel"
)

// readable says why the columns cannot be read from a table, however it was made.
func readable(t *rel.Table, columns []ColumnDef) error {
	if t.Kind != rel.KindTable {
		return fmt.Errorf("%w: %s.%s: it is not a table", ErrShape, OwnSchema, t.Name)
	}
	for _, c := range columns {
		have, ok := t.Column(c.Name)
		switch {
		case !ok:
			return fmt.Errorf("%w: %s.%s: it has no column %q", ErrShape, OwnSchema, t.Name, c.Name)
		case have.Type != c.Type && kindOf(have.Type) != kindOf(c.Type):
			return fmt.Errorf("%w: %s.%s: its column %q is of another type", ErrShape, OwnSchema, t.Name, c.Name)
		}
	}
	return nil
}

// kindOf is one of the types that Column reads in the same way as another.
func kindOf(oid uint32) uint32 {
	switch oid {
	case Int2, Int4:
		return Int8
	case Varchar, Bpchar:
		return Text
	case Timestamp:
		return Timestamptz
	}
	return oid
}
