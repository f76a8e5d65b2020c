package meta

import (
	"fmt"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// OwnSchema is the schema of the server's own tables in a catalog.
const OwnSchema = "eider"

// ColumnDef describes a column of one of the server's own tables.
type ColumnDef struct {
	Name    string
	Type    uint32 // one of the oids of this package
	NotNull bool
}

// Own returns one of the server's own tables, of the schema "eider", if it is there: ok is
// false if it is not. It is for reading: the table may have what keeps the server from writing to
// it. ErrShape says that it cannot be read: it is somebody else's.
func Own(txn *store.Txn, name string, columns ...ColumnDef) (t Table, ok bool, err error) {
	t = Table{txn: txn, name: name}
	if s, found := txn.SchemaByName(OwnSchema); found {
		if t.tbl, ok = txn.TableByName(s.OID, name); ok {
			return t, true, readable(t.tbl, columns)
		}
	}
	return t, false, nil
}

// OwnTable is Own, but makes the table, and the schema, where they are missing. A table
// of the name may have more columns, which stay NULL, but not fewer, and none of another
// type: otherwise it is not touched, and the error is ErrShape with the reason.
func OwnTable(txn *store.Txn, name string, columns ...ColumnDef) (Table, error) {
	t, ok, err := Own(txn, name, columns...)
	if ok && err == nil {
		err = fits(t.tbl, columns)
	}
	if ok || err != nil {
		return t, err
	}
	s, found := txn.SchemaByName(OwnSchema)
	if !found {
		if s, err = txn.CreateSchema(OwnSchema); err != nil {
			return t, fmt.Errorf("meta: make schema %s: %w", OwnSchema, err)
		}
	}
	d := &rel.Table{Schema: s.OID, Name: name, Kind: rel.KindTable}
	for i, c := range columns {
		d.Columns = append(d.Columns, rel.Column{Num: int16(i + 1), Name: c.Name, Type: c.Type, Mod: -1, NotNull: c.NotNull})
	}
	if t.tbl, err = txn.CreateTable(d); err != nil {
		return t, fmt.Errorf("meta: make %s.%s: %w", OwnSchema, name, err)
	}
	return t, nil
}

// fits says why a table cannot be used as the server's own with the columns.
func fits(t *rel.Table, columns []ColumnDef) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s.%s: %s", ErrShape, OwnSchema, t.Name, fmt.Sprintf(format, args...))
	}
	if t.Kind != rel.KindTable {
		return bad("it is not a table")
	}
	if len(t.Checks) > 0 {
		return bad("it has check constraints")
	}
	ours := map[string]ColumnDef{}
	for _, c := range columns {
		ours[c.Name] = c
		have, ok := t.Column(c.Name)
		if !ok {
			return bad("it has no column %q", c.Name)
		}
		if (have.Type != c.Type && !(IsText(have.Type) && c.Type == Text)) || have.Mod != -1 {
			return bad("its column %q is of another type", c.Name)
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.NotNull && !c.Dropped && !ours[c.Name].NotNull {
			return bad("its column %q takes no NULL", c.Name)
		}
	}
	return nil
}
