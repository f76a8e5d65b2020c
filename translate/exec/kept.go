package exec

import (
	"slices"

	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/translate/types"
)

// Kept are all rows of a query, in the form that rows are stored in. It is immutable.
type Kept struct {
	cols   []Column
	tuples []byte
	rows   int
}

// Rows is their number.
func (k *Kept) Rows() int { return k.rows }

// Bytes is what they take.
func (k *Kept) Bytes() int { return len(k.tuples) }

// Open yields the rows. A row is good until the next one is asked for.
func (k *Kept) Open(c *Ctx) Iter {
	return &keptIter{k: k, c: c, rest: k.tuples, row: make(Row, len(k.cols))}
}

type keptIter struct {
	k    *Kept
	c    *Ctx
	rest []byte
	row  Row
}

func (it *keptIter) Next() (Row, error) {
	if len(it.rest) == 0 {
		return nil, EOF
	}
	if err := it.c.Check(); err != nil {
		return nil, err
	}
	n, err := row.Size(it.rest)
	if err != nil {
		return nil, err
	}
	w := row.Walk(row.Tuple(it.rest[:n]))
	for i := range it.row {
		val, null, ok := w.Next()
		if !ok || null {
			it.row[i] = types.Datum{}
			continue
		}
		if err := decodeField(&it.row[i], it.k.cols[i].Type.OID, val); err != nil {
			return nil, err
		}
	}
	it.rest = it.rest[n:]
	return it.row, nil
}

func (it *keptIter) Close() error {
	it.rest = nil
	return nil
}

// Keep yields the rows of it, and gives a copy of them to done when all of them have been read
// and take no more than limit bytes.
func Keep(it Iter, cols []Column, limit int, done func(*Kept)) Iter {
	for _, c := range cols {
		if c.Type.OID == types.RecordOID { // has no stored form
			return it
		}
	}
	return &keepIter{Iter: it, k: &Kept{cols: cols}, limit: limit, done: done}
}

type keepIter struct {
	Iter
	k     *Kept // nil: not to be had any more
	b     row.Builder
	limit int
	done  func(*Kept)
}

func (it *keepIter) Next() (Row, error) {
	r, err := it.Iter.Next()
	switch {
	case it.k == nil:
	case err == EOF:
		it.k.tuples = slices.Clip(it.k.tuples)
		it.done(it.k)
		it.k = nil
	case err != nil:
		it.k = nil
	default:
		it.keep(r)
	}
	return r, err
}

func (it *keepIter) keep(r Row) {
	it.b.Reset()
	for i := range it.k.cols {
		appendField(&it.b, it.k.cols[i].Type.OID, &r[i])
	}
	t, err := it.b.Tuple()
	if err != nil || len(it.k.tuples)+len(t) > it.limit {
		it.k = nil
		return
	}
	it.k.tuples = append(it.k.tuples, t...)
	it.k.rows++
}

func (it *keepIter) Close() error {
	it.k = nil
	return it.Iter.Close()
}
