package exec

import "github.com/eiderdb/eider/translate/types"

// VirtualTable is a relation whose rows are computed: pg_catalog, information_schema.
type VirtualTable interface {
	Schema() string
	Name() string
	// OID is the relation's oid, for tableoid and RowDescription.
	OID() uint32
	Columns() []Column
	// Rows opens the rows. eq holds equality constraints on columns (by index into
	// Columns) that the planner knows; they are a hint: the executor checks them again.
	// Rows that are returned have len(Columns()) values, or one more: the row's xmin.
	Rows(c *Ctx, eq map[int]types.Datum) (Iter, error)
}

// VirtualRegistry finds virtual tables. An implementation is immutable.
type VirtualRegistry interface {
	// Table finds a table by schema and name. Those of a schema that HasSchema does not name
	// are there as long as nothing of the name is stored.
	Table(schema, name string) (VirtualTable, bool)
	// HasSchema says whether the schema is one of the system's, which hold nothing else.
	HasSchema(schema string) bool
}

// SliceIter is an Iter over rows that are at hand.
type SliceIter struct {
	Items []Row
	next  int
}

// Next returns the next row.
func (s *SliceIter) Next() (Row, error) {
	if s.next >= len(s.Items) {
		return nil, EOF
	}
	s.next++
	return s.Items[s.next-1], nil
}

// Close does nothing.
func (s *SliceIter) Close() error { return nil }
