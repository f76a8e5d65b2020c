package meta

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// Table is a table in a transaction. One that does not exist has no rows.
type Table struct {
	txn  *store.Txn
	tbl  *rel.Table // nil: there is none
	name string
	dry  *rehearsal // nil: changes are written
}

// Exists says whether there is such a table.
func (t Table) Exists() bool { return t.tbl != nil }

// Name is the table's name.
func (t Table) Name() string { return t.name }

// Descriptor is the table's description, nil when there is none. It must not be changed.
func (t Table) Descriptor() *rel.Table { return t.tbl }

// Has says whether the table exists and has all the columns, as integers: the ids,
// snapshots and counters by which rows are judged. What fails it is of an unknown shape.
func (t Table) Has(integers ...string) bool {
	if t.tbl == nil {
		return false
	}
	for _, name := range integers {
		if c, ok := t.tbl.Column(name); !ok || !isInteger(c.Type) {
			return false
		}
	}
	return true
}

// Column is a column of a table, for reading many rows. A column that does not exist reads
// NULL.
type Column struct{ c *rel.Column }

// Column returns a column of the table.
func (t Table) Column(name string) Column {
	if t.tbl == nil {
		return Column{}
	}
	c, _ := t.tbl.Column(name)
	return Column{c}
}

// Exists says whether there is such a column.
func (c Column) Exists() bool { return c.c != nil }

// Value is the value in binary form, nil for NULL. It is good as long as the row.
func (c Column) Value(r *Row) []byte {
	if c.c == nil {
		return nil
	}
	v, null := c.c.Value(r.Tuple)
	if null {
		return nil
	}
	if v == nil {
		return []byte{}
	}
	return v
}

// Int reads an integer; ok is false for NULL and for columns of other types.
func (c Column) Int(r *Row) (n int64, ok bool) {
	if c.c == nil || !isInteger(c.c.Type) {
		return 0, false
	}
	return row.Integer(c.Value(r))
}

// Text reads a text; ok is false for NULL and for columns of other types.
func (c Column) Text(r *Row) (s string, ok bool) {
	if c.c == nil || !IsText(c.c.Type) {
		return "", false
	}
	v := c.Value(r)
	return string(v), v != nil
}

// Truth reads a boolean; NULL and columns of other types are false.
func (c Column) Truth(r *Row) bool {
	v := c.Value(r)
	return c.c != nil && c.c.Type == Bool && len(v) == 1 && v[0] != 0
}

// Micros reads a timestamp as µs since 1970. The infinite ones, and those that have no room
// there, are the largest and the smallest number.
func (c Column) Micros(r *Row) (n int64, ok bool) {
	if c.c == nil || !isTime(c.c.Type) {
		return 0, false
	}
	if n, ok = row.Integer(c.Value(r)); !ok || n == math.MinInt64 {
		return n, ok
	}
	if n > math.MaxInt64-epochMicros {
		return math.MaxInt64, true
	}
	return n + epochMicros, true
}

// Row is one row. It is good until the function that got it returns.
type Row struct {
	Table Table
	ID    uint64 // the store's own
	Tuple row.Tuple
	it    *store.RowIter
}

// Value is the value of a column in binary form, nil for NULL.
func (r *Row) Value(column string) []byte { return r.Table.Column(column).Value(r) }

// Int reads an integer; see Column.Int.
func (r *Row) Int(column string) (int64, bool) { return r.Table.Column(column).Int(r) }

// Num reads an integer, 0 for NULL.
func (r *Row) Num(column string) int64 {
	n, _ := r.Int(column)
	return n
}

// Text reads a text, "" for NULL.
func (r *Row) Text(column string) string {
	s, _ := r.Table.Column(column).Text(r)
	return s
}

// Truth reads a boolean, false for NULL.
func (r *Row) Truth(column string) bool { return r.Table.Column(column).Truth(r) }

// Micros reads a timestamp; see Column.Micros.
func (r *Row) Micros(column string) (int64, bool) { return r.Table.Column(column).Micros(r) }

// Span reads begin_snapshot and end_snapshot. The begin of NULL is 0.
func (r *Row) Span() lake.Span {
	s := lake.Span{Begin: r.Num("begin_snapshot")}
	s.End, s.Ended = r.Int("end_snapshot")
	return s
}

// Position is where the scan stands that found the row, for After.
func (r *Row) Position() []byte { return r.it.Position() }

// Cond narrows a scan.
type Cond struct {
	column string
	kind   condKind
	value  []byte
}

type condKind uint8

const (
	condEqual condKind = iota
	condNull
	condNotNull
	condFrom
	condUpto
	condAfter
	condReverse
)

// Equal asks for rows whose column has a value in binary form.
func Equal(column string, value []byte) Cond { return Cond{column, condEqual, value} }

// Is asks for rows whose bigint column is n.
func Is(column string, n int64) Cond { return Equal(column, Int(n)) }

// Null asks for rows whose column is NULL, or that have no such column.
func Null(column string) Cond { return Cond{column, condNull, nil} }

// NotNull asks for rows whose column is not NULL.
func NotNull(column string) Cond { return Cond{column, condNotNull, nil} }

// From asks for rows whose bigint column is at least n.
func From(column string, n int64) Cond { return Cond{column, condFrom, Int(n)} }

// Upto asks for rows whose bigint column is at most n.
func Upto(column string, n int64) Cond { return Cond{column, condUpto, Int(n)} }

// After asks for the rows behind the Position of a row that an earlier scan with the same
// other conditions has found, in this transaction or another. nil: from the first on.
func After(position []byte) Cond { return Cond{"", condAfter, position} }

// Reverse turns the order of the scan round.
func Reverse() Cond { return Cond{"", condReverse, nil} }

// ErrStop, returned by the function that a scan calls, ends the scan; Scan returns nil.
var ErrStop = errors.New("meta: stop")

// Scan calls fn for the rows that all conditions are true of. It reads a range of keys where
// the table's own order or an index has the columns: the conditions that were given first
// decide which. fn may change and remove rows; the scan does not see it.
func (t Table) Scan(ctx context.Context, fn func(r *Row) error, conds ...Cond) error {
	if t.tbl == nil {
		return nil
	}
	it, err := t.txn.Scan(t.tbl, t.access(conds))
	if err != nil {
		return fmt.Errorf("meta: read %s: %w", t.name, err)
	}
	defer func() { _ = it.Close() }()
	r := &Row{Table: t, it: it}
	var gone *rowSet
	if t.dry != nil {
		gone = t.dry.of(t.name)
	}
	for n := 0; it.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.ID, r.Tuple = it.RowID(), it.Tuple()
		if gone.has(r.ID) || !t.holds(r, conds) {
			continue
		}
		if err := fn(r); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return fmt.Errorf("meta: read %s: %w", t.name, err)
	}
	return nil
}

// One returns the first row that all conditions are true of; ok is false if there is none.
// The row is good until the transaction's end.
func (t Table) One(ctx context.Context, conds ...Cond) (r Row, ok bool, err error) {
	err = t.Scan(ctx, func(x *Row) error {
		r, ok = Row{Table: t, ID: x.ID, Tuple: append(row.Tuple(nil), x.Tuple...)}, true
		return ErrStop
	}, conds...)
	return r, ok, err
}

func (t Table) holds(r *Row, conds []Cond) bool {
	for i := range conds {
		k := &conds[i]
		if k.kind == condAfter || k.kind == condReverse {
			continue
		}
		c := t.Column(k.column)
		v := c.Value(r)
		switch k.kind {
		case condEqual:
			if v == nil || string(v) != string(k.value) {
				return false
			}
		case condNull, condNotNull:
			if (v == nil) != (k.kind == condNull) {
				return false
			}
		case condFrom, condUpto:
			n, ok := c.Int(r)
			bound, _ := row.Integer(k.value)
			if !ok || (k.kind == condFrom && n < bound) || (k.kind == condUpto && n > bound) {
				return false
			}
		}
	}
	return true
}

// access finds the keys that conditions are about: of the table's own order and its indexes
// the one that most of them lead.
func (t Table) access(conds []Cond) store.Access {
	best, led := t.led(nil, conds)
	for i := range t.tbl.Indexes {
		if a, n := t.led(&t.tbl.Indexes[i], conds); n > led {
			best, led = a, n
		}
	}
	for _, k := range conds {
		switch k.kind {
		case condAfter:
			best.After = k.value
		case condReverse:
			best.Reverse = true
		}
	}
	return best
}

// led is the access by an index, or by the table's own order, with the number of
// conditions, doubled for equality, that narrow it.
func (t Table) led(x *rel.Index, conds []Cond) (a store.Access, n int) {
	a.Index = x
	parts, err := rel.Parts(t.tbl, x)
	if err != nil {
		return a, -1
	}
	find := func(c *rel.Column, kinds ...condKind) *Cond {
		for i := range conds {
			if conds[i].column != c.Name || c.Dropped {
				continue
			}
			for _, k := range kinds {
				if conds[i].kind == k {
					return &conds[i]
				}
			}
		}
		return nil
	}
	for _, p := range parts {
		if p.IsNull {
			k := find(p.Column, condNull, condNotNull)
			if k == nil {
				return a, n
			}
			a.Eq = append(a.Eq, Truth(k.kind == condNull))
			n += 2
			continue
		}
		if k := find(p.Column, condEqual); k != nil {
			a.Eq = append(a.Eq, k.value)
			n += 2
			continue
		}
		if p.Column.Type != Int8 {
			return a, n
		}
		if k := find(p.Column, condFrom); k != nil {
			a.Lo = &store.Bound{Value: k.value, Inclusive: true}
			n++
		}
		if k := find(p.Column, condUpto); k != nil {
			a.Hi = &store.Bound{Value: k.value, Inclusive: true}
			n++
		}
		return a, n
	}
	return a, n
}
