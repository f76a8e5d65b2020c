package meta

import (
	"fmt"

	"github.com/eiderdb/eider/kv/row"
)

// Insert adds a row; columns that have no value there are NULL.
func (t Table) Insert(values Values) error {
	if t.tbl == nil {
		return fmt.Errorf("%w: %q", ErrNoTable, t.name)
	}
	tup, err := t.tuple(nil, values)
	if err != nil {
		return err
	}
	if t.dry != nil {
		return nil
	}
	if _, err = t.txn.Insert(t.tbl, tup); err != nil {
		return fmt.Errorf("meta: insert into %s: %w", t.name, err)
	}
	return nil
}

// Update gives some columns of the row other values.
func (r *Row) Update(values Values) error {
	tup, err := r.Table.tuple(r, values)
	if err != nil {
		return err
	}
	if r.Table.dry != nil {
		return nil
	}
	if err := r.Table.txn.Update(r.Table.tbl, r.ID, r.Tuple, tup); err != nil {
		return fmt.Errorf("meta: update %s: %w", r.Table.name, err)
	}
	return nil
}

// Delete removes the row.
func (r *Row) Delete() error {
	if r.Table.dry != nil {
		r.Table.dry.of(r.Table.name).add(r.ID)
		return nil
	}
	if err := r.Table.txn.Delete(r.Table.tbl, r.ID, r.Tuple); err != nil {
		return fmt.Errorf("meta: delete from %s: %w", r.Table.name, err)
	}
	return nil
}

// tuple makes a row of values, and of those of another row where there are none.
func (t Table) tuple(from *Row, values Values) (row.Tuple, error) {
	var b row.Builder
	b.Reset()
	used := 0
	for i := range t.tbl.Columns {
		c := &t.tbl.Columns[i]
		v, given := values[c.Name]
		given = given && !c.Dropped
		if given {
			used++
		} else if from != nil {
			v = Column{c}.Value(from)
		}
		if v == nil {
			b.Null()
		} else {
			b.Bytes(v)
		}
	}
	if used < len(values) {
		for name := range values {
			if _, ok := t.tbl.Column(name); !ok {
				return nil, fmt.Errorf("%w: %s.%s", ErrNoColumn, t.name, name)
			}
		}
	}
	tup, err := b.Tuple()
	if err != nil {
		return nil, fmt.Errorf("meta: a row of %s: %w", t.name, err)
	}
	return tup, nil
}
