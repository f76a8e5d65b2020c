package store

import (
	"bytes"
	"fmt"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// Finder looks rows up by one index again and again, and reads index entries only: who asks
// whether anybody else has a value need not read the row that has it, nor pay for an iterator
// each time. It sees what its transaction sees at the time of each call, and ends with it.
type Finder struct {
	t   *Txn
	tbl *rel.Table
	idx *rel.Index
	sp  *space

	eng kv.Iterator // of the transaction's present view; nil: not open
	ids []uint64
}

// Finder makes a Finder for one of a table's indexes.
func (t *Txn) Finder(tbl *rel.Table, x *rel.Index) (*Finder, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	if tbl.Kind != rel.KindTable {
		return nil, ErrNotTable
	}
	f := &Finder{t: t, tbl: tbl, idx: x, sp: t.spaceOf(tbl)}
	t.finders = append(t.finders, f)
	return f, nil
}

// Find returns the ids of the rows whose leading index columns have the values, in the order
// of the index: like a scan with that Access.Eq. The slice is good until the next call.
func (f *Finder) Find(eq ...[]byte) ([]uint64, error) {
	f.ids = f.ids[:0]
	if f.t.done {
		return nil, ErrTxnDone
	}
	if f.tbl.Storage == 0 { // a ghost
		return nil, nil
	}
	if f.t.onScan != nil && f.sp == &f.t.main {
		f.t.onScan(f.tbl, Access{Index: f.idx, Eq: eq})
	}
	lo, hi, err := rel.Bounds(f.sp.rows, f.tbl, f.idx, eq, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	ov := f.sp.ov.tree.Iter()
	defer ov.Release()
	ovOK := ov.Seek(&entry{key: lo}) && bytes.Compare(ov.Item().key, hi) < 0
	engOK := f.eng != nil && f.eng.SeekGE(lo) && bytes.Compare(f.eng.Key(), hi) < 0
	for ovOK || engOK {
		c := 1
		if ovOK {
			if c = -1; engOK {
				c = bytes.Compare(ov.Item().key, f.eng.Key())
			}
		}
		key, val, gone := []byte(nil), []byte(nil), false
		if c <= 0 {
			e := ov.Item()
			key, val, gone = e.key, e.val, e.del
		} else {
			key, val = f.eng.Key(), f.eng.Value()
		}
		if !gone {
			id, err := rel.IndexRowID(key, val)
			if err != nil {
				return nil, err
			}
			f.ids = append(f.ids, id)
		}
		if c <= 0 {
			ovOK = ov.Next() && bytes.Compare(ov.Item().key, hi) < 0
		}
		if c >= 0 {
			engOK = f.eng.Next() && bytes.Compare(f.eng.Key(), hi) < 0
		}
	}
	if f.eng != nil {
		err = f.eng.Err()
	}
	return f.ids, err
}

// open opens the engine's iterator. Of temporary tables, which have no views, it is always
// another one.
func (f *Finder) open() error {
	if f.sp == &f.t.temp {
		f.close()
	}
	if f.eng != nil || f.sp.made[f.tbl.Storage] {
		return nil
	}
	r, err := f.t.reader(f.sp)
	if err != nil {
		return err
	}
	lo := rel.AppendIndex(join(f.sp.rows), f.tbl, f.idx)
	f.eng, err = r.Iter(kv.IterOptions{Lower: lo, Upper: kv.PrefixEnd(lo)})
	return err
}

func (f *Finder) close() {
	if f.eng != nil {
		_ = f.eng.Close() // Find has reported what it read wrongly
		f.eng = nil
	}
}

// closeFinders has the Finders read in the next view, before t's present one is given back.
func (t *Txn) closeFinders() {
	for _, f := range t.finders {
		f.close()
	}
}
