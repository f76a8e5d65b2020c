package rel

import "slices"

// Kind is pg_class.relkind.
type Kind byte

// The relation kinds.
const (
	KindTable Kind = 'r'
	KindView  Kind = 'v'
)

// Schema is a namespace of a catalog.
type Schema struct {
	OID     uint32
	Name    string
	Version uint64 // bumped by every change; pg_namespace.xmin
	Comment string `json:",omitempty"`
}

// Clone returns a copy to change.
func (s *Schema) Clone() *Schema { c := *s; return &c }

// Table describes a table or view. Descriptors are immutable once published: to change
// one, Clone it, change the copy and hand it to the transaction.
type Table struct {
	OID      uint32
	Schema   uint32 // namespace oid
	Name     string
	Kind     Kind
	Version  uint64 // bumped by every change; pg_class.xmin
	Storage  uint64 // leads the row keys; TRUNCATE gives a new one. 0 for views
	Columns  []Column
	Indexes  []Index   `json:",omitempty"`
	Layout   []KeyPart `json:",omitempty"` // clustering of the primary storage before the row id; empty: row-id order
	Checks   []Check   `json:",omitempty"`
	View     string    `json:",omitempty"` // SELECT text of a view
	Temp     bool      `json:",omitempty"`
	OnCommit string    `json:",omitempty"` // temp tables: "", "delete", "drop"
	Comment  string    `json:",omitempty"`
}

// Clone returns a deep copy to change. Bytes of missing values are shared: they are
// never changed in place.
func (t *Table) Clone() *Table {
	c := *t
	c.Columns = slices.Clone(t.Columns)
	c.Layout = slices.Clone(t.Layout)
	c.Checks = slices.Clone(t.Checks)
	c.Indexes = slices.Clone(t.Indexes)
	for i := range c.Indexes {
		c.Indexes[i].Columns = slices.Clone(c.Indexes[i].Columns)
	}
	return &c
}

// Column returns the live column with the given name.
func (t *Table) Column(name string) (*Column, bool) {
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.Dropped && c.Name == name {
			return c, true
		}
	}
	return nil, false
}

// ColumnByNum returns the column with attnum num, dropped or not.
func (t *Table) ColumnByNum(num int16) (*Column, bool) {
	// Columns are in attnum order without gaps, except in descriptors made by hand.
	if i := int(num) - 1; i >= 0 && i < len(t.Columns) && t.Columns[i].Num == num {
		return &t.Columns[i], true
	}
	for i := range t.Columns {
		if t.Columns[i].Num == num {
			return &t.Columns[i], true
		}
	}
	return nil, false
}

// PrimaryKey returns the primary key's index.
func (t *Table) PrimaryKey() (*Index, bool) {
	for i := range t.Indexes {
		if t.Indexes[i].Primary {
			return &t.Indexes[i], true
		}
	}
	return nil, false
}

// Column is one attribute. Num is its attnum, 1-based, and the position of its field in
// stored tuples; numbers of dropped columns are never reused.
type Column struct {
	Num     int16
	Name    string
	Type    uint32 // type OID
	Mod     int32  // typmod, -1 none
	NDims   int32  `json:",omitempty"`
	NotNull bool   `json:",omitempty"`
	Dropped bool   `json:",omitempty"`
	// Default is the SQL text of the DEFAULT expression, "" when there is none.
	Default string `json:",omitempty"`
	// HasMissing says that rows with fewer fields than Num read Missing (binary form,
	// nil = NULL) for this column: ADD COLUMN … DEFAULT does not rewrite rows.
	HasMissing bool   `json:",omitempty"`
	Missing    []byte `json:",omitempty"`
	Comment    string `json:",omitempty"`
}

// Index is a unique constraint or an index.
type Index struct {
	OID        uint32 // also the constraint's oid when Constraint is set
	ID         uint32 // leads the index's keys under the table's storage; ≥ 1
	Name       string
	Columns    []int16 // attnums
	Unique     bool
	Primary    bool
	Constraint bool // made by PRIMARY KEY or UNIQUE, not by CREATE INDEX
	// Hidden marks an index that the store keeps for a known table on its own: it serves
	// lookups and has no name, no oid and no place in pg_index.
	Hidden bool `json:",omitempty"`
}

// Check is a CHECK constraint.
type Check struct {
	Name string
	Expr string
}

// KeyPart is one part of a clustering key.
type KeyPart struct {
	Column int16
	// IsNull makes the part a boolean "column IS NULL" (true sorts first: live rows before
	// ended ones) instead of the column's value.
	IsNull bool `json:",omitempty"`
}
