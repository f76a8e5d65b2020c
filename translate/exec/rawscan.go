package exec

import (
	"encoding/binary"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// RawScan projects plain columns of one stored table. It runs as any other plan, and for
// COPY TO in binary it hands out stored bytes: whole tuples when all columns are wanted
// in order.
type RawScan struct {
	Scan  *TableScan
	Plain *Scan
	// Atts are the column numbers; AttCtid is ctid, 0 a NULL.
	Atts  []int
	Exprs []Expr
	Cols  []Column
}

// Columns are the projected ones.
func (n *RawScan) Columns() []Column { return n.Cols }

// Open runs it as a projection.
func (n *RawScan) Open(c *Ctx) (Iter, error) {
	return (&Project{In: n.Plain, Exprs: n.Exprs, Cols: n.Cols}).Open(c)
}

// OpenRaw opens the stored rows; nil when a condition needs decoded values.
func (n *RawScan) OpenRaw(c *Ctx) (RawIter, error) {
	if n.Scan.Filter != nil {
		return nil, nil
	}
	return n.openRaw(c, -1, 0)
}

func (n *RawScan) openRaw(c *Ctx, count, offset int64) (RawIter, error) {
	it := &rawIter{n: n, c: c, left: count, skip: offset}
	var err error
	if it.hidden, err = n.Scan.hidden(c); err != nil {
		return nil, err
	}
	if it.todo, err = n.Scan.Path.accesses(c, nil, nil); err != nil {
		return nil, err
	}
	if it.preds, err = prepareRaw(c, n.Scan.Table, n.Scan.Raw, nil, nil); err != nil {
		return nil, err
	}
	it.plan(n.Scan.Table, n.Atts)
	return it, nil
}

// OpenRaw is for a limited RawScan.
func (n *Limit) OpenRaw(c *Ctx) (RawIter, error) {
	in, ok := n.In.(*RawScan)
	if !ok || n.Ties != nil || in.Scan.Filter != nil {
		return nil, nil
	}
	count, offset, err := n.bounds(c)
	if err != nil {
		return nil, err
	}
	return in.openRaw(c, count, offset)
}

type rawIter struct {
	n       *RawScan
	c       *Ctx
	todo    []store.Access
	at      int
	cur     *store.RowIter
	preds   []rawTest
	left    int64 // rows still to yield; negative: all
	skip    int64
	whole   bool                // tuples are copied as they are
	width   int                 // fields of a whole tuple
	cols    []int               // fields to project, 0-based; -1 NULL, -2 ctid
	missing [][]byte            // by field: what a short tuple reads
	hidden  map[uint64]struct{} // rows to pass over
}

func (it *rawIter) plan(t *rel.Table, atts []int) {
	it.whole = len(atts) == len(t.Columns)
	for i, att := range atts {
		f := att - 1
		switch att {
		case 0:
			f = -1
		case AttCtid:
			f = -2
		}
		it.cols = append(it.cols, f)
		it.whole = it.whole && f == i
	}
	it.width = len(t.Columns)
	for i := range t.Columns {
		col := &t.Columns[i]
		it.whole = it.whole && !col.Dropped && int(col.Num) == i+1
		for len(it.missing) < int(col.Num) {
			it.missing = append(it.missing, nil)
		}
		if col.HasMissing {
			it.missing[col.Num-1] = col.Missing
		}
	}
}

// AppendTuples fills dst up to limit bytes.
func (it *rawIter) AppendTuples(dst []byte, limit int) ([]byte, int, error) {
	rows := 0
	for len(dst) < limit && it.left != 0 {
		if it.cur == nil {
			if it.at >= len(it.todo) {
				break
			}
			cur, err := it.c.reader().Scan(it.n.Scan.Table, it.todo[it.at])
			if err != nil {
				return dst, rows, MapStoreError(err)
			}
			it.at++
			it.cur = cur
		}
		if !it.cur.Next() {
			if err := it.cur.Err(); err != nil {
				return dst, rows, MapStoreError(err)
			}
			_ = it.cur.Close()
			it.cur = nil
			continue
		}
		if err := it.c.Check(); err != nil {
			return dst, rows, err
		}
		tup := it.cur.Tuple()
		if !testRaw(it.preds, tup) {
			continue
		}
		if it.hidden != nil && it.passes() {
			continue
		}
		if it.skip > 0 {
			it.skip--
			continue
		}
		if it.whole && tup.Len() == it.width {
			dst = append(dst, tup...)
		} else {
			dst = it.project(dst, tup)
		}
		rows++
		if it.left > 0 {
			it.left--
		}
	}
	return dst, rows, nil
}

func (it *rawIter) project(dst []byte, tup row.Tuple) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(it.cols)))
	w := row.Walk(tup)
	next := 0
	for _, f := range it.cols {
		if f < 0 {
			if f == -2 {
				block, off := rel.TID(it.cur.RowID())
				dst = append(dst, 0, 0, 0, 6)
				dst = binary.BigEndian.AppendUint32(dst, block)
				dst = binary.BigEndian.AppendUint16(dst, off)
				continue
			}
			dst = append(dst, 0xFF, 0xFF, 0xFF, 0xFF)
			continue
		}
		if f < next {
			w, next = row.Walk(tup), 0
		}
		var val []byte
		null, ok := false, false
		if w.Skip(f - next) {
			val, null, ok = w.Next()
			next = f + 1
		} else {
			next = f
		}
		if !ok {
			val = it.missing[f]
			null = val == nil
		}
		if null {
			dst = append(dst, 0xFF, 0xFF, 0xFF, 0xFF)
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(val)))
		dst = append(dst, val...)
	}
	return dst
}

// Close closes the scan.
func (it *rawIter) Close() error {
	if it.cur != nil {
		err := it.cur.Close()
		it.cur = nil
		return err
	}
	return nil
}
