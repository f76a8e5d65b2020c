package meta

import (
	"context"
	"slices"

	"github.com/eiderdb/eider/kv/store"
)

// Distinct lists the values of a bigint column, each once, in ascending order, without NULL.
// Where the column leads the table's own order, or an index, it reads one row for each.
func (t Table) Distinct(ctx context.Context, column string) ([]int64, error) {
	if !t.Has(column) {
		return nil, nil
	}
	c := t.Column(column)
	var out []int64
	a := t.access([]Cond{From(column, 0)})
	if a.Lo == nil || len(a.Eq) > 0 {
		seen := map[int64]bool{}
		err := t.Scan(ctx, func(r *Row) error {
			if n, ok := c.Int(r); ok && !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
			return nil
		})
		slices.Sort(out)
		return out, err
	}
	a.Lo = nil
	for {
		n, ok, err := t.first(a, c)
		if err != nil || !ok {
			return out, err
		}
		if err := context.Cause(ctx); err != nil {
			return out, err
		}
		out = append(out, n)
		a.Lo = &store.Bound{Value: Int(n)}
	}
}

// first reads a column of the first row of an access; ok is false for NULL, which comes last.
func (t Table) first(a store.Access, c Column) (n int64, ok bool, err error) {
	it, err := t.txn.Scan(t.tbl, a)
	if err != nil {
		return 0, false, err
	}
	if it.Next() {
		n, ok = c.Int(&Row{Table: t, Tuple: it.Tuple()})
	}
	err = it.Err()
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return n, ok, err
}
