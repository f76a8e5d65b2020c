package guard

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
)

// pgEpochMicros is 2000-01-01 in µs since 1970; timestamps are stored from there.
const pgEpochMicros = 946_684_800_000_000

// relation reads rows of a DuckLake table by column name.
type relation struct {
	txn *store.Txn
	tbl *rel.Table
}

// each calls fn for all rows, or for those whose column has a value (in binary form),
// through an index or the table's own order where there is one. The tuple is good until
// fn returns.
func (r relation) each(column string, value []byte, fn func(rowid uint64, t row.Tuple) error) error {
	var a store.Access
	var c *rel.Column
	if column != "" {
		if c = r.column(column); c == nil {
			return nil
		}
		a = r.access(c, value)
	}
	it, err := r.txn.Scan(r.tbl, a)
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		t := it.Tuple()
		if c != nil {
			if v, null := c.Value(t); null || string(v) != string(value) {
				continue
			}
		}
		if err := fn(it.RowID(), t); err != nil {
			return err
		}
	}
	return it.Err()
}

// eachBeginning calls fn for the rows whose text in a column begins with one of several,
// none of which begins with another; without an index it reads all rows.
func (r relation) eachBeginning(column string, begins []string, fn func(t row.Tuple) error) error {
	c := r.column(column)
	if c == nil {
		return nil
	}
	list := []store.Access{{}}
	for i := range r.tbl.Indexes {
		x := &r.tbl.Indexes[i]
		if len(x.Columns) == 0 || x.Columns[0] != c.Num {
			continue
		}
		list = list[:0]
		for _, b := range begins {
			end := []byte(b)
			end[len(end)-1]++
			list = append(list, store.Access{Index: x, Lo: &store.Bound{Value: []byte(b), Inclusive: true}, Hi: &store.Bound{Value: end}})
		}
		break
	}
	begin := func(text string) bool {
		return slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(text, b) })
	}
	for _, a := range list {
		it, err := r.txn.Scan(r.tbl, a)
		if err != nil {
			return err
		}
		for err == nil && it.Next() {
			t := it.Tuple()
			if v, null := c.Value(t); !null && begin(string(v)) {
				err = fn(t)
			}
		}
		if err == nil {
			err = it.Err()
		}
		if cerr := it.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r relation) access(c *rel.Column, value []byte) (a store.Access) {
	if len(r.tbl.Layout) > 0 && r.tbl.Layout[0].Column == c.Num && !r.tbl.Layout[0].IsNull {
		a.Eq = [][]byte{value}
		return a
	}
	for i := range r.tbl.Indexes {
		if x := &r.tbl.Indexes[i]; len(x.Columns) > 0 && x.Columns[0] == c.Num {
			a.Index, a.Eq = x, [][]byte{value}
			break
		}
	}
	return a
}

// eachID is each for a bigint column.
func (r relation) eachID(column string, id int64, fn func(rowid uint64, t row.Tuple) error) error {
	return r.each(column, bigint(id), fn)
}

func bigint(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func (r relation) column(name string) *rel.Column {
	c, _ := r.tbl.Column(name)
	return c
}

func (r relation) field(t row.Tuple, name string) []byte {
	c := r.column(name)
	if c == nil {
		return nil
	}
	v, null := c.Value(t)
	if null {
		return nil
	}
	return v
}

func (r relation) optional(t row.Tuple, name string) (int64, bool) {
	if v := r.field(t, name); len(v) == 8 {
		return int64(binary.BigEndian.Uint64(v)), true
	}
	return 0, false
}

func (r relation) num(t row.Tuple, name string) int64 {
	n, _ := r.optional(t, name)
	return n
}

func (r relation) text(t row.Tuple, name string) string { return string(r.field(t, name)) }

func (r relation) textPtr(t row.Tuple, name string) *string {
	v := r.field(t, name)
	if v == nil {
		return nil
	}
	s := string(v)
	return &s
}

func (r relation) truth(t row.Tuple, name string) bool {
	v := r.field(t, name)
	return len(v) == 1 && v[0] != 0
}

func (r relation) truthPtr(t row.Tuple, name string) *bool {
	v := r.field(t, name)
	if len(v) != 1 {
		return nil
	}
	b := v[0] != 0
	return &b
}

func (r relation) span(t row.Tuple) lake.Span {
	s := lake.Span{Begin: r.num(t, "begin_snapshot")}
	s.End, s.Ended = r.optional(t, "end_snapshot")
	return s
}

// micros reads a timestamp as µs since 1970. The infinite ones, and those that have no
// room there, are the largest and the smallest number.
func (r relation) micros(t row.Tuple, name string) (int64, bool) {
	n, ok := r.optional(t, name)
	switch {
	case !ok:
		return 0, false
	case n == math.MinInt64:
		return n, true
	case n > math.MaxInt64-pgEpochMicros:
		return math.MaxInt64, true
	}
	return n + pgEpochMicros, true
}

// insert adds a row with values in binary form by the names of its columns; the others are
// NULL.
func (r relation) insert(values map[string][]byte) error {
	var b row.Builder
	b.Reset()
	for i := range r.tbl.Columns {
		if v, ok := values[r.tbl.Columns[i].Name]; ok && !r.tbl.Columns[i].Dropped {
			b.Bytes(v)
		} else {
			b.Null()
		}
	}
	t, err := b.Tuple()
	if err != nil {
		return fmt.Errorf("guard: a row of %s: %w", r.tbl.Name, err)
	}
	_, err = r.txn.Insert(r.tbl, t)
	return err
}

// with returns t with one column of it replaced; val nil is NULL.
func (r relation) with(t row.Tuple, name string, val []byte) (row.Tuple, error) {
	c := r.column(name)
	var b row.Builder
	b.Reset()
	for i := range r.tbl.Columns {
		v, null := r.tbl.Columns[i].Value(t)
		if c != nil && r.tbl.Columns[i].Num == c.Num {
			v, null = val, val == nil
		}
		if null {
			b.Null()
		} else {
			b.Bytes(v)
		}
	}
	return b.Tuple()
}
