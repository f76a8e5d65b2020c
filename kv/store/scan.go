package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// Access says which rows of a table a scan visits and in which order.
type Access struct {
	// Index is one of the table's indexes, or nil for the primary storage, whose key is
	// the table's Layout and then the row id.
	Index *rel.Index
	// Eq are binary values for the leading key parts; nil means NULL. For a layout part
	// with IsNull the value is one byte, 1 for "is null".
	Eq [][]byte
	// Lo and Hi bound the key part after Eq; NULLs are outside of every bound.
	Lo, Hi  *Bound
	Reverse bool
	// After, a Position of an earlier scan by the same Index, leaves out what comes up to
	// there: a scan goes on where another one has stopped, in the order that Reverse says.
	After []byte
	// RowIDs, when not nil, asks for these rows in this order, and all else is ignored.
	// Row ids that no row has are passed over.
	RowIDs []uint64
}

// RowIter visits rows of a frozen view: later writes of the transaction do not show. It
// must be closed; it may be read after the transaction moved to another view, but not
// after the transaction's end.
type RowIter struct {
	t   *Txn
	tbl *rel.Table
	sp  *space
	v   *view // held for the iterator; nil for temporary tables
	r   kv.Reader

	src mergeIter
	// bare is the engine's iterator when the overlay has nothing in the range: the fast path.
	bare    kv.Iterator
	reverse bool
	started bool

	lookup bool // src or ids yield row ids, rows are read one by one
	frozen *entryTree
	ids    []uint64
	single bool // one row id known already
	ahead  ahead

	rowid  uint64
	tuple  row.Tuple
	buf    []byte
	keyBuf []byte
	probe  entry
	err    error
	closed bool
}

// Scan starts a scan.
func (t *Txn) Scan(tbl *rel.Table, a Access) (*RowIter, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	it := &RowIter{t: t, tbl: tbl, sp: t.spaceOf(tbl), reverse: a.Reverse}
	if tbl.Kind != rel.KindTable {
		return nil, ErrNotTable
	}
	if tbl.Storage == 0 { // a ghost
		it.started, it.closed = true, true
		return it, nil
	}
	if t.onScan != nil && it.sp == &t.main {
		t.onScan(tbl, a)
	}
	r, err := t.reader(it.sp)
	if err != nil {
		return nil, err
	}
	it.r = r
	if it.sp == &t.main {
		it.v = t.view
		t.cat.ref(it.v)
	}
	if err := it.open(a); err != nil {
		return nil, errors.Join(err, it.Close())
	}
	return it, nil
}

func (it *RowIter) open(a Access) error {
	sp := it.sp
	if a.RowIDs != nil || a.Index != nil {
		lo, hi := storageRange(sp.rows, it.tbl.Storage)
		if sp.ov.touches(lo, hi) {
			it.frozen = sp.ov.tree.Copy()
		}
	}
	if a.RowIDs != nil {
		it.lookup, it.ids = true, a.RowIDs
		return nil
	}
	if a.Index != nil {
		it.lookup = true
		if whole(a) {
			return it.openPoint(a)
		}
	}
	lo, hi, err := rel.Bounds(sp.rows, it.tbl, a.Index, a.Eq, a.Lo, a.Hi)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if a.After != nil {
		if a.Reverse {
			if hi == nil || bytes.Compare(a.After, hi) < 0 {
				hi = a.After
			}
		} else if bytes.Compare(a.After, lo) >= 0 {
			lo = join(a.After, 0)
		}
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		it.started = true // an empty range; engines want lower ≤ upper
		it.ids, it.lookup = nil, true
		return nil
	}
	if sp.made[it.tbl.Storage] {
		// Nothing of the storage is in the engine.
		return it.src.init(sp.ov.tree.Copy(), nil, lo, hi, a.Reverse)
	}
	eng, err := it.r.Iter(kv.IterOptions{Lower: lo, Upper: hi})
	if err != nil {
		return err
	}
	if !sp.ov.touches(lo, hi) {
		it.bare = eng
		return nil
	}
	return it.src.init(sp.ov.tree.Copy(), eng, lo, hi, a.Reverse)
}

// whole reports whether a names one entry of a unique index.
func whole(a Access) bool {
	if !a.Index.Unique || len(a.Eq) != len(a.Index.Columns) {
		return false
	}
	for _, v := range a.Eq {
		if v == nil {
			return false
		}
	}
	return true
}

// openPoint looks a unique key up directly, which is several times cheaper than an
// iterator.
func (it *RowIter) openPoint(a Access) error {
	lo, _, err := rel.Bounds(it.sp.rows, it.tbl, a.Index, a.Eq, a.Lo, a.Hi)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	val, ok, err := it.get(lo)
	if err != nil || !ok {
		it.started = true
		it.ids = nil
		return err
	}
	rowid, err := rel.TrailingRowID(val)
	if err != nil {
		return err
	}
	it.single, it.rowid = true, rowid
	return nil
}

// Next moves to the next row.
func (it *RowIter) Next() bool {
	if it.closed || it.err != nil {
		return false
	}
	if it.bare != nil && !it.lookup {
		var ok bool
		if it.started {
			if it.reverse {
				ok = it.bare.Prev()
			} else {
				ok = it.bare.Next()
			}
		} else {
			ok = it.startBare()
		}
		if !ok {
			return it.fail(it.bare.Err())
		}
		return it.take(it.bare.Key(), it.bare.Value())
	}
	if it.lookup {
		return it.nextLookup()
	}
	key, val, ok := it.step()
	return ok && it.take(key, val)
}

func (it *RowIter) startBare() bool {
	it.started = true
	if it.reverse {
		return it.bare.Last()
	}
	return it.bare.First()
}

// step moves the source: to a row, or in a lookup to a row id.
func (it *RowIter) step() (key, val []byte, ok bool) {
	switch {
	case it.single:
		it.single, it.started = false, true
		return nil, nil, true
	case it.bare != nil: // an index without entries in the overlay
		if !it.started {
			ok = it.startBare()
		} else if it.reverse {
			ok = it.bare.Prev()
		} else {
			ok = it.bare.Next()
		}
		if !ok {
			it.fail(it.bare.Err())
			return nil, nil, false
		}
		key, val = it.bare.Key(), it.bare.Value()
	case it.src.open:
		it.started = true
		if !it.src.next() {
			it.fail(it.src.err())
			return nil, nil, false
		}
		key, val = it.src.key(), it.src.value()
	default:
		if len(it.ids) == 0 {
			return nil, nil, false
		}
		it.started = true
		it.rowid, it.ids = it.ids[0], it.ids[1:]
		return nil, nil, true
	}
	if it.lookup {
		rowid, err := rel.IndexRowID(key, val)
		if err != nil {
			it.fail(err)
			return nil, nil, false
		}
		it.rowid = rowid
	}
	return key, val, true
}

// take makes the row at the source the current one.
func (it *RowIter) take(key, val []byte) bool {
	n := len(key)
	if n < 6 || len(val) < 3 || val[0] != row.Version {
		return it.damaged(key, val)
	}
	k := key[n-6:]
	it.rowid = uint64(k[0])<<40 | uint64(k[1])<<32 | uint64(k[2])<<24 | uint64(k[3])<<16 | uint64(k[4])<<8 | uint64(k[5])
	it.tuple = row.Tuple(val[1:])
	return true
}

func (it *RowIter) damaged(key, val []byte) bool {
	_, err := row.FromStored(val)
	if err == nil {
		_, err = rel.TrailingRowID(key)
	}
	return it.fail(fmt.Errorf("store: table %q, key %x: %w: %w", it.tbl.Name, key, kv.ErrCorrupt, err))
}

func (it *RowIter) fail(err error) bool {
	it.err, it.tuple = err, nil
	return false
}

// RowID is the current row's id.
func (it *RowIter) RowID() uint64 { return it.rowid }

// Position is where the scan stands, for Access.After; nil at its ends and for a scan of
// row ids or of one unique key. It is good as long as the table keeps its storage, in any
// later transaction, whether or not the row is still there.
func (it *RowIter) Position() []byte {
	switch {
	case !it.started || it.closed || it.err != nil:
		return nil
	case len(it.ahead.list) > 0:
		h := &it.ahead
		if h.at == 0 || len(h.bytes(h.list[h.at-1].pos)) == 0 {
			return nil
		}
		return bytes.Clone(h.bytes(h.list[h.at-1].pos))
	case it.bare != nil && it.bare.Valid():
		return bytes.Clone(it.bare.Key())
	case it.src.open && (it.src.onOv && it.src.ovOK || !it.src.onOv && it.src.engOK):
		return bytes.Clone(it.src.key())
	}
	return nil
}

// Tuple is the current row. It is valid until the next call of Next or Close.
func (it *RowIter) Tuple() row.Tuple { return it.tuple }

// Err returns what ended the scan early, or nil.
func (it *RowIter) Err() error { return it.err }

// Close ends the scan. It may be called again.
func (it *RowIter) Close() error {
	if it.closed {
		return nil
	}
	it.closed, it.tuple = true, nil
	var err error
	if it.bare != nil {
		err = it.bare.Close()
	}
	if it.src.open {
		err = errors.Join(err, it.src.close())
	}
	err = errors.Join(err, it.closeAhead())
	if it.v != nil {
		it.t.cat.release(it.v)
		it.v = nil
	}
	return err
}

// Get returns the row with the given id as the transaction sees it. The tuple belongs to
// the caller, who must not change it.
func (t *Txn) Get(tbl *rel.Table, rowid uint64) (row.Tuple, bool, error) {
	if t.done {
		return nil, false, ErrTxnDone
	}
	if tbl.Kind != rel.KindTable {
		return nil, false, ErrNotTable
	}
	if tbl.Storage == 0 || rowid > rel.MaxRowID {
		return nil, false, nil
	}
	sp := t.spaceOf(tbl)
	if sp == &t.temp && t.opts.Temp == nil {
		return nil, false, ErrNoTemp
	}
	key := append(t.rowKey[:0], sp.rows...)
	if len(tbl.Layout) > 0 {
		key = rel.AppendLocator(key, tbl, rowid)
		t.rowKey = key
		layout, ok, err := t.get(sp, t.valueBuf[:0], key)
		if err != nil || !ok {
			return nil, false, err
		}
		key = rel.AppendRowKeyAt(append(key[:0], sp.rows...), tbl, layout, rowid)
	} else {
		key = rel.AppendRowID(rel.AppendPrimary(key, tbl), rowid)
	}
	t.rowKey = key
	val, ok, err := t.get(sp, nil, key)
	if err != nil || !ok {
		return nil, false, err
	}
	tup, err := row.FromStored(val)
	if err != nil {
		return nil, false, fmt.Errorf("store: table %q, key %x: %w: %w", tbl.Name, key, kv.ErrCorrupt, err)
	}
	return tup, true, nil
}

// mergeIter walks the keys of an overlay and an engine in one direction; where both have
// a key the overlay's entry counts.
type mergeIter struct {
	open    bool
	eng     kv.Iterator // nil: only the overlay
	ov      btree.IterG[*entry]
	lo, hi  []byte
	reverse bool
	started bool
	engOK   bool
	ovOK    bool
	onOv    bool // the current key is the overlay's
	both    bool // and the engine's too
}

func (m *mergeIter) init(tree *entryTree, eng kv.Iterator, lo, hi []byte, reverse bool) error {
	*m = mergeIter{open: true, eng: eng, ov: tree.Iter(), lo: lo, hi: hi, reverse: reverse}
	return nil
}

// merged iterates over the keys in [lo, hi) as the transaction sees them now.
func (t *Txn) merged(sp *space, lo, hi []byte, reverse bool) (*mergeIter, error) {
	r, err := t.reader(sp)
	if err != nil {
		return nil, err
	}
	eng, err := r.Iter(kv.IterOptions{Lower: lo, Upper: hi})
	if err != nil {
		return nil, err
	}
	m := new(mergeIter)
	return m, m.init(sp.ov.tree.Copy(), eng, lo, hi, reverse)
}

func (m *mergeIter) next() bool {
	if !m.started {
		m.started = true
		m.engOK = m.eng != nil && m.first(m.eng)
		m.ovOK = m.firstOv()
	} else {
		if !m.onOv || m.both {
			m.engOK = m.engOK && m.advance(m.eng)
		}
		if m.onOv {
			m.ovOK = m.ovOK && m.advanceOv()
		}
	}
	for {
		if !m.ovOK {
			m.onOv, m.both = false, false
			return m.engOK
		}
		c := -1
		if m.engOK {
			c = bytes.Compare(m.ov.Item().key, m.eng.Key())
			if m.reverse {
				c = -c
			}
		} else if m.eng != nil && m.eng.Err() != nil {
			return false
		}
		if c > 0 {
			m.onOv, m.both = false, false
			return true
		}
		m.onOv, m.both = true, c == 0
		if !m.ov.Item().del {
			return true
		}
		if m.both {
			m.engOK = m.advance(m.eng)
		}
		m.ovOK = m.advanceOv()
	}
}

func (m *mergeIter) first(i kv.Iterator) bool {
	if m.reverse {
		return i.Last()
	}
	return i.First()
}

func (m *mergeIter) advance(i kv.Iterator) bool {
	if m.reverse {
		return i.Prev()
	}
	return i.Next()
}

func (m *mergeIter) firstOv() bool {
	switch {
	case !m.reverse:
		return m.within(m.ov.Seek(&entry{key: m.lo}))
	case m.hi == nil:
		return m.within(m.ov.Last())
	case m.ov.Seek(&entry{key: m.hi}):
		return m.within(m.ov.Prev())
	}
	return m.within(m.ov.Last())
}

func (m *mergeIter) advanceOv() bool {
	if m.reverse {
		return m.within(m.ov.Prev())
	}
	return m.within(m.ov.Next())
}

func (m *mergeIter) within(ok bool) bool {
	if !ok {
		return false
	}
	// The other bound is the one that it comes from.
	if m.reverse {
		return bytes.Compare(m.ov.Item().key, m.lo) >= 0
	}
	return m.hi == nil || bytes.Compare(m.ov.Item().key, m.hi) < 0
}

func (m *mergeIter) key() []byte {
	if m.onOv {
		return m.ov.Item().key
	}
	return m.eng.Key()
}

func (m *mergeIter) value() []byte {
	if m.onOv {
		return m.ov.Item().val
	}
	return m.eng.Value()
}

func (m *mergeIter) err() error {
	if m.eng == nil {
		return nil
	}
	return m.eng.Err()
}

func (m *mergeIter) close() error {
	if !m.open {
		return nil
	}
	m.open = false
	m.ov.Release()
	if m.eng == nil {
		return nil
	}
	return m.eng.Close()
}
