package meta

import (
	"context"
	"fmt"

	"github.com/eiderdb/eider/kv/store"
)

// Finder asks again and again which rows of a table have a value in a column: Scan with one
// Equal, but without reading the rows where there is an index. It sees what the
// transaction has changed, and ends with it.
type Finder struct {
	t      Table
	column string
	f      *store.Finder // nil: there is no index
	ids    []uint64
}

// Finder makes a Finder for a column.
func (t Table) Finder(column string) (*Finder, error) {
	f := &Finder{t: t, column: column}
	if t.tbl == nil || t.dry != nil {
		return f, nil
	}
	x := t.access([]Cond{Equal(column, nil)}).Index
	if x == nil {
		return f, nil
	}
	var err error
	if f.f, err = t.txn.Finder(t.tbl, x); err != nil {
		return nil, fmt.Errorf("meta: look up in %s: %w", t.name, err)
	}
	return f, nil
}

// Find returns the store's ids of the rows that have the value, which is in binary form. The
// slice is good until the next call.
func (f *Finder) Find(ctx context.Context, value []byte) ([]uint64, error) {
	if f.f != nil {
		ids, err := f.f.Find(value)
		if err != nil {
			return nil, fmt.Errorf("meta: look up in %s: %w", f.t.name, err)
		}
		return ids, nil
	}
	f.ids = f.ids[:0]
	err := f.t.Scan(ctx, func(r *Row) error {
		f.ids = append(f.ids, r.ID)
		return nil
	}, Equal(f.column, value))
	return f.ids, err
}
