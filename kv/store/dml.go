package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// keyAt is an index key in the scratch buffer.
type keyAt struct {
	from, to int
	guarded  bool
}

// write is what every row change starts with: it notes that the change relies on the
// table's descriptor.
func (t *Txn) write(tbl *rel.Table) (*space, error) {
	if tbl.Kind != rel.KindTable || tbl.Storage == 0 {
		return nil, ErrNotTable
	}
	sp := t.spaceOf(tbl)
	if err := t.begin(sp); err != nil {
		return nil, err
	}
	if err := t.room(); err != nil {
		return nil, err
	}
	if sp == &t.temp {
		return sp, nil
	}
	for i := len(t.deps) - 1; i >= 0; i-- {
		if d := &t.deps[i]; d.oid == tbl.OID && d.version == tbl.Version {
			return sp, nil
		}
	}
	cur, ok := t.main.current().table(tbl.OID)
	if !ok {
		return nil, &SerializationError{Deleted: true, Table: tbl.Name, Schema: true}
	}
	if cur.Version != tbl.Version {
		return nil, &SerializationError{Table: tbl.Name, Schema: true}
	}
	t.deps = append(t.deps, tableDep{tbl.OID, tbl.Version, tbl.Storage, tbl.Name})
	return sp, nil
}

// Insert adds a row and returns its row id. A *UniqueViolation leaves the transaction
// as it was.
func (t *Txn) Insert(tbl *rel.Table, tup row.Tuple) (rowid uint64, err error) {
	sp, err := t.write(tbl)
	if err != nil {
		return 0, err
	}
	counter, err := t.rowCounter(sp, tbl)
	if err != nil {
		return 0, err
	}
	rowid = counter.next.Add(1) - 1
	if rowid > rel.MaxRowID {
		return 0, ErrRowIDs
	}
	if err := t.indexKeys(sp, tbl, tup, rowid); err != nil {
		return 0, err
	}
	for i := range tbl.Indexes {
		if k := t.offsets[i]; k.guarded {
			if err := t.free(sp, tbl, &tbl.Indexes[i], t.scratch[k.from:k.to], tup); err != nil {
				return 0, err
			}
		}
	}
	for i := range tbl.Indexes {
		k := t.offsets[i]
		t.putIndex(sp, tbl, &tbl.Indexes[i], t.scratch[k.from:k.to], k.guarded, rowid, nil)
	}
	t.scratch, err = rel.AppendRowKey(append(t.scratch[:0], sp.rows...), tbl, tup, rowid)
	if err != nil {
		return 0, err
	}
	e := sp.ov.newEntry()
	e.key, e.val, e.tbl, e.fresh = sp.ov.dup(t.scratch), sp.ov.stored(tup), tbl, true
	sp.ov.set(e)
	if len(tbl.Layout) > 0 {
		t.putLocator(sp, tbl, e.key, rowid, true)
	}
	return rowid, nil
}

// stored returns the stored form of a tuple in the arena.
func (o *overlay) stored(tup row.Tuple) []byte {
	b := o.alloc(1 + len(tup))
	b[0] = row.Version
	copy(b[1:], tup)
	return b
}

func (t *Txn) rowCounter(sp *space, tbl *rel.Table) (*rowCounter, error) {
	if t.counter.storage == tbl.Storage && sp == &t.main && t.counter.c != nil {
		return t.counter.c, nil
	}
	c, err := sp.counters.of(sp.newest, sp.rows, tbl)
	if err == nil && sp == &t.main {
		t.counter.storage, t.counter.c = tbl.Storage, c
	}
	return c, err
}

// indexKeys builds the keys of a row in all indexes of its table into t.scratch, described
// by t.offsets.
func (t *Txn) indexKeys(sp *space, tbl *rel.Table, tup row.Tuple, rowid uint64) error {
	t.scratch, t.offsets = t.scratch[:0], t.offsets[:0]
	for i := range tbl.Indexes {
		from := len(t.scratch)
		key, guarded, err := rel.AppendIndexKey(append(t.scratch, sp.rows...), tbl, &tbl.Indexes[i], tup, rowid)
		if err != nil {
			return err
		}
		t.scratch = key
		t.offsets = append(t.offsets, keyAt{from, len(key), guarded})
	}
	return nil
}

// free checks that no row has this key of a unique index: none that this transaction
// made, and none in the newest committed state, which may be newer than its view.
func (t *Txn) free(sp *space, tbl *rel.Table, x *rel.Index, key []byte, tup row.Tuple) error {
	if e := sp.ov.get(&t.probe, key); e != nil {
		if e.del {
			return nil
		}
		rowid, err := rel.TrailingRowID(e.val)
		if err != nil {
			return err
		}
		return t.violation(tbl, x, tup, rowid, true)
	}
	if sp.made[tbl.Storage] {
		return nil
	}
	t.valueBuf = t.valueBuf[:0]
	v, err := sp.newest.AppendGet(t.valueBuf, key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t.valueBuf = v[:0]
	rowid, err := rel.TrailingRowID(v)
	if err != nil {
		return err
	}
	visible := true
	if sp == &t.main && t.view.seq != t.cat.newest.Load() {
		if visible, err = t.view.snap.Has(key); err != nil {
			return err
		}
	}
	if !visible && t.taken != nil && t.taken(tbl) {
		return nil
	}
	return t.violation(tbl, x, tup, rowid, visible)
}

func (t *Txn) violation(tbl *rel.Table, x *rel.Index, tup row.Tuple, rowid uint64, visible bool) *UniqueViolation {
	v := &UniqueViolation{
		SchemaOID: tbl.Schema, TableOID: tbl.OID, Table: tbl.Name, Index: x.Name, Columns: x.Columns,
		RowID: rowid, Visible: visible,
	}
	for _, num := range x.Columns {
		c, ok := tbl.ColumnByNum(num)
		if !ok {
			continue
		}
		v.Names = append(v.Names, c.Name)
		v.Types = append(v.Types, c.Type)
		if tup != nil {
			val, _ := c.Value(tup)
			v.Values = append(v.Values, bytes.Clone(val))
		}
	}
	return v
}

// putIndex enters an index entry. prev is the overlay's entry of the key, if the caller
// knows it; it is looked up otherwise for unique keys.
func (t *Txn) putIndex(sp *space, tbl *rel.Table, x *rel.Index, key []byte, guarded bool, rowid uint64, prev *entry) {
	e := sp.ov.newEntry()
	e.tbl, e.idx = tbl, x
	if prev == nil {
		prev = sp.ov.get(&t.probe, key)
	}
	if prev != nil {
		// Deleted before: what was assumed of the committed state stays assumed.
		e.key, e.check, e.exp, e.fresh = prev.key, prev.check, prev.exp, prev.fresh
	} else {
		e.key, e.fresh = sp.ov.dup(key), true
		if guarded {
			e.check = checkFree
		}
	}
	if guarded {
		e.val = sp.ov.alloc(6)
		rel.AppendRowID(e.val[:0], rowid)
	} else {
		e.val = []byte{}
	}
	sp.ov.set(e)
}

// delIndex deletes the index entry of a row.
func (t *Txn) delIndex(sp *space, tbl *rel.Table, x *rel.Index, key []byte, guarded bool, rowid uint64) {
	prev := sp.ov.get(&t.probe, key)
	if prev != nil && guarded && !prev.del && !isRowID(prev.val, rowid) {
		// This transaction entered the key for another row when it was free; then somebody
		// committed this row with the same key, which READ COMMITTED shows and this
		// transaction now deletes. The key stays with the other row, if that still is so.
		e := sp.ov.newEntry()
		*e = *prev
		e.check, e.fresh = checkOwned, false
		e.exp = sp.ov.alloc(6)
		rel.AppendRowID(e.exp[:0], rowid)
		sp.ov.set(e)
		return
	}
	if prev != nil && prev.fresh {
		sp.ov.forget(prev)
		return
	}
	e := sp.ov.newEntry()
	e.tbl, e.idx, e.del = tbl, x, true
	if prev != nil {
		e.key, e.check, e.exp = prev.key, prev.check, prev.exp
	} else {
		e.key = sp.ov.dup(key)
		if guarded {
			e.check = checkOwned
			e.exp = sp.ov.alloc(6)
			rel.AppendRowID(e.exp[:0], rowid)
		}
	}
	sp.ov.set(e)
}

func isRowID(b []byte, rowid uint64) bool {
	got, err := rel.TrailingRowID(b)
	return err == nil && got == rowid
}

// putLocator makes a row's locator name the layout parts of rowKey.
func (t *Txn) putLocator(sp *space, tbl *rel.Table, rowKey []byte, rowid uint64, fresh bool) {
	head := len(rel.AppendPrimary(append(t.scratch[:0], sp.rows...), tbl))
	layout := rowKey[head : len(rowKey)-6]
	e := sp.ov.newEntry()
	key := rel.AppendLocator(append(t.scratch[:0], sp.rows...), tbl, rowid)
	t.scratch = key
	if prev := sp.ov.get(&t.probe, key); prev != nil {
		fresh = prev.fresh
	}
	e.key, e.val, e.tbl, e.fresh = sp.ov.dup(key), layout, tbl, fresh
	sp.ov.set(e)
}

// replaceRow enters a new state of the row at key, whose present state is old: val nil
// deletes it. It checks that nobody changed the row meanwhile as far as that can be known now.
func (t *Txn) replaceRow(sp *space, tbl *rel.Table, key []byte, rowid uint64, old row.Tuple, val []byte) (*entry, error) {
	prev := sp.ov.get(&t.probe, key)
	e := sp.ov.newEntry()
	e.tbl, e.val, e.del = tbl, val, val == nil
	if prev != nil {
		if prev.del || !bytes.Equal(prev.val[1:], old) {
			return nil, ErrRowChanged
		}
		if e.del && prev.fresh {
			sp.ov.forget(prev)
			return prev, nil
		}
		e.key, e.check, e.exp, e.fresh = prev.key, prev.check, prev.exp, prev.fresh
		sp.ov.set(e)
		return e, nil
	}
	if sp.made[tbl.Storage] {
		return nil, ErrRowChanged // all rows of the storage are in the overlay
	}
	e.key, e.check = sp.ov.dup(key), checkRow
	e.exp = sp.ov.stored(old)
	if sp == &t.temp {
		// Only this transaction writes here, so the state is final: check it now.
		cur, err := sp.newest.AppendGet(t.valueBuf[:0], key)
		if errors.Is(err, kv.ErrNotFound) || (err == nil && !bytes.Equal(cur, e.exp)) {
			return nil, ErrRowChanged
		}
		if err != nil {
			return nil, err
		}
		t.valueBuf = cur[:0]
	} else if t.view.seq != t.cat.newest.Load() {
		if err := t.checkRow(t.main.newest, e, rowid); err != nil {
			return nil, err
		}
	}
	sp.ov.set(e)
	return e, nil
}

// checkRow verifies that a row is still what e assumes, in the state r.
func (t *Txn) checkRow(r kv.Reader, e *entry, rowid uint64) error {
	cur, err := r.AppendGet(t.valueBuf[:0], e.key)
	if err == nil {
		same := bytes.Equal(cur, e.exp)
		t.valueBuf = cur[:0]
		if same {
			return nil
		}
		return &SerializationError{Table: e.tbl.Name}
	}
	if !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	if len(e.tbl.Layout) > 0 {
		// The row may have moved to another layout key: that is an update.
		loc := rel.AppendLocator(join(t.cat.rows), e.tbl, rowid)
		moved, err := r.Has(loc)
		if err != nil {
			return err
		}
		if !moved && e.del && goneIsGone(e.tbl) {
			return nil
		}
		return &SerializationError{Table: e.tbl.Name, Deleted: !moved}
	}
	if e.del && goneIsGone(e.tbl) {
		return nil
	}
	return &SerializationError{Table: e.tbl.Name, Deleted: true}
}

// Update replaces a row that the transaction sees as old. ErrRowChanged says that the
// transaction itself has changed the row since; a *SerializationError that another one
// has. After a *UniqueViolation the transaction is as it was.
func (t *Txn) Update(tbl *rel.Table, rowid uint64, old, new row.Tuple) error {
	sp, err := t.write(tbl)
	if err != nil {
		return err
	}
	oldKey, err := rel.AppendRowKey(append(t.rowKey[:0], sp.rows...), tbl, old, rowid)
	if err != nil {
		return err
	}
	t.rowKey = oldKey
	// Keys of the old and the new state, index by index: 2i and 2i+1.
	t.scratch, t.offsets = t.scratch[:0], t.offsets[:0]
	for i := range tbl.Indexes {
		for _, tup := range [2]row.Tuple{old, new} {
			from := len(t.scratch)
			key, guarded, err := rel.AppendIndexKey(append(t.scratch, sp.rows...), tbl, &tbl.Indexes[i], tup, rowid)
			if err != nil {
				return err
			}
			t.scratch = key
			t.offsets = append(t.offsets, keyAt{from, len(key), guarded})
		}
	}
	at := func(k keyAt) []byte { return t.scratch[k.from:k.to] }
	for i := range tbl.Indexes {
		if was, is := t.offsets[2*i], t.offsets[2*i+1]; is.guarded && !bytes.Equal(at(was), at(is)) {
			if err := t.free(sp, tbl, &tbl.Indexes[i], at(is), new); err != nil {
				return err
			}
		}
	}
	newKey, err := rel.AppendRowKey(append(t.newKey[:0], sp.rows...), tbl, new, rowid)
	if err != nil {
		return err
	}
	t.newKey = newKey
	if bytes.Equal(oldKey, newKey) {
		if _, err := t.replaceRow(sp, tbl, oldKey, rowid, old, sp.ov.stored(new)); err != nil {
			return err
		}
	} else if err := t.moveRow(sp, tbl, oldKey, newKey, rowid, old, new); err != nil {
		return err
	}
	for i := range tbl.Indexes {
		was, is := t.offsets[2*i], t.offsets[2*i+1]
		if bytes.Equal(at(was), at(is)) {
			continue
		}
		t.delIndex(sp, tbl, &tbl.Indexes[i], at(was), was.guarded, rowid)
		t.putIndex(sp, tbl, &tbl.Indexes[i], at(is), is.guarded, rowid, nil)
	}
	return nil
}

// moveRow gives a row of a clustered table another key.
func (t *Txn) moveRow(sp *space, tbl *rel.Table, oldKey, newKey []byte, rowid uint64, old, new row.Tuple) error {
	gone, err := t.replaceRow(sp, tbl, oldKey, rowid, old, nil)
	if err != nil {
		return err
	}
	fresh := gone.fresh
	e := sp.ov.newEntry()
	e.tbl, e.val = tbl, sp.ov.stored(new)
	if prev := sp.ov.get(&t.probe, newKey); prev != nil {
		// The row moves back to where it was: that entry's assumption stays.
		e.key, e.check, e.exp, e.fresh = prev.key, prev.check, prev.exp, prev.fresh
	} else {
		// No other row can have this key: it ends with the row's id.
		e.key, e.fresh = sp.ov.dup(newKey), true
	}
	sp.ov.set(e)
	saved := t.scratch
	t.scratch = t.locKey
	t.putLocator(sp, tbl, e.key, rowid, fresh)
	t.locKey, t.scratch = t.scratch, saved
	return nil
}

// Delete removes a row that the transaction sees as old. Errors are those of Update.
func (t *Txn) Delete(tbl *rel.Table, rowid uint64, old row.Tuple) error {
	sp, err := t.write(tbl)
	if err != nil {
		return err
	}
	key, err := rel.AppendRowKey(append(t.rowKey[:0], sp.rows...), tbl, old, rowid)
	if err != nil {
		return err
	}
	t.rowKey = key
	if err := t.indexKeys(sp, tbl, old, rowid); err != nil {
		return err
	}
	if _, err := t.replaceRow(sp, tbl, key, rowid, old, nil); err != nil {
		return err
	}
	for i := range tbl.Indexes {
		k := t.offsets[i]
		t.delIndex(sp, tbl, &tbl.Indexes[i], t.scratch[k.from:k.to], k.guarded, rowid)
	}
	if len(tbl.Layout) == 0 {
		return nil
	}
	t.scratch = rel.AppendLocator(append(t.scratch[:0], sp.rows...), tbl, rowid)
	if prev := sp.ov.get(&t.probe, t.scratch); prev != nil && prev.fresh {
		sp.ov.forget(prev)
		return nil
	}
	e := sp.ov.newEntry()
	e.key, e.tbl, e.del = sp.ov.dup(t.scratch), tbl, true
	sp.ov.set(e)
	return nil
}

// wipeIndex deletes all entries of an index, one by one: an index's keys lie within the
// storage of a table that stays, whose other keys must not be covered by a range delete
// of an older batch member.
func (t *Txn) wipeIndex(sp *space, tbl *rel.Table, x *rel.Index) error {
	lo := rel.AppendIndex(join(sp.rows), tbl, x)
	it, err := t.merged(sp, lo, kv.PrefixEnd(lo), false)
	if err != nil {
		return err
	}
	for it.next() {
		prev := sp.ov.get(&t.probe, it.key())
		if prev != nil && prev.fresh {
			sp.ov.forget(prev)
			continue
		}
		e := sp.ov.newEntry()
		e.key, e.tbl, e.del = sp.ov.dup(it.key()), tbl, true
		sp.ov.set(e)
		if err := t.room(); err != nil {
			return errors.Join(err, it.close())
		}
	}
	if err := errors.Join(it.err(), it.close()); err != nil {
		return fmt.Errorf("store: drop index %q: %w", x.Name, err)
	}
	return nil
}
