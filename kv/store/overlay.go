package store

import (
	"bytes"

	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv/rel"
)

// check says what an entry assumes of the committed state of its key. The sequencer
// verifies it against the newest state.
type check uint8

const (
	// checkNone: nothing. The key holds a fresh row id, or hangs on a row whose own entry
	// is checked.
	checkNone check = iota
	// checkRow: the row is still entry.exp.
	checkRow
	// checkFree: no entry of a unique index has this key.
	checkFree
	// checkOwned: the entry of the unique index is still entry.exp, which belongs to a row
	// that this transaction deleted or gave another key.
	checkOwned
)

// entry is one buffered write. Entries are immutable: a change replaces the entry, so
// that copies of the tree (savepoints, open iterators) keep what they saw.
type entry struct {
	key   []byte
	val   []byte // what the key will hold; unused when del
	exp   []byte // for checkRow and checkOwned
	tbl   *rel.Table
	idx   *rel.Index // for unique keys
	check check
	del   bool
	// fresh: the key did not exist before this transaction, so deleting it forgets the entry.
	fresh bool
}

func entryLess(a, b *entry) bool { return bytes.Compare(a.key, b.key) < 0 }

type entryTree = btree.BTreeG[*entry]

// overlay buffers the writes of a transaction in key order.
type overlay struct {
	tree  *entryTree
	hints [16]btree.PathHint // see hint
	bytes int64
	slab  []entry
	arena []byte
}

func newOverlay() *overlay {
	return &overlay{tree: btree.NewBTreeGOptions(entryLess, noLocks)}
}

const (
	arenaChunk = 64 << 10
	slabChunk  = 128
	entryCost  = 128 // bookkeeping of one entry, for the size limit
)

// alloc returns n bytes that live as long as the transaction.
func (o *overlay) alloc(n int) []byte {
	if n > cap(o.arena)-len(o.arena) {
		if n > arenaChunk/4 {
			return make([]byte, n)
		}
		size := 1 << 10
		for size < 2*cap(o.arena) && size < arenaChunk || size < n {
			size *= 2
		}
		o.arena = make([]byte, 0, size)
	}
	at := len(o.arena)
	o.arena = o.arena[:at+n]
	return o.arena[at : at+n : at+n]
}

func (o *overlay) dup(b []byte) []byte {
	c := o.alloc(len(b))
	copy(c, b)
	return c
}

func (o *overlay) newEntry() *entry {
	if len(o.slab) == 0 {
		o.slab = make([]entry, min(slabChunk, 4+2*o.tree.Len()))
	}
	e := &o.slab[0]
	o.slab = o.slab[1:]
	return e
}

// hint is where the tree looks for a key first: where the last one was of the same rows,
// index or locators, mostly. A row that is removed writes to each of these in turn.
func (o *overlay) hint(key []byte) *btree.PathHint {
	const at = 6 // behind the prefix of a catalog's rows: the storage
	if len(key) < at+2 {
		return &o.hints[0]
	}
	return &o.hints[(key[at]^key[at+1]<<1)%16]
}

// get returns the entry of a key, or nil.
func (o *overlay) get(probe *entry, key []byte) *entry {
	if o.tree.Len() == 0 {
		return nil
	}
	probe.key = key
	e, ok := o.tree.GetHint(probe, o.hint(key))
	if !ok {
		return nil
	}
	return e
}

// set enters e, which must not be changed afterwards.
func (o *overlay) set(e *entry) {
	prev, replaced := o.tree.SetHint(e, o.hint(e.key))
	o.bytes += e.size()
	if replaced {
		o.bytes -= prev.size()
	}
}

func (o *overlay) forget(e *entry) {
	if _, ok := o.tree.Delete(e); ok {
		o.bytes -= e.size()
	}
}

func (e *entry) size() int64 { return int64(len(e.key)+len(e.val)+len(e.exp)) + entryCost }

// touches reports whether any entry lies in [lo, hi).
func (o *overlay) touches(lo, hi []byte) bool {
	if o.tree.Len() == 0 {
		return false
	}
	found := false
	o.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
		found = bytes.Compare(e.key, hi) < 0
		return false
	})
	return found
}

// wipe forgets the entries in [lo, hi).
func (o *overlay) wipe(lo, hi []byte) {
	var doomed []*entry
	o.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
		if bytes.Compare(e.key, hi) >= 0 {
			return false
		}
		doomed = append(doomed, e)
		return true
	})
	for _, e := range doomed {
		o.forget(e)
	}
}
