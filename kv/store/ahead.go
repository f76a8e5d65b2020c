package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// How a scan by row ids reads ahead: not before so many rows were asked for one by one, then
// in blocks that double up to the largest, and of a block no more than so many bytes.
const (
	aheadAfter = 4
	aheadFirst = 16
	aheadMost  = 512
	aheadBytes = 256 << 10
)

// ahead are the rows that a look-up has read before they were asked for. Rows of one index
// entry after the other are often neighbours, so a block is read in the order of the keys
// by iterators that move on: several times cheaper than a point read for each.
type ahead struct {
	asked int  // rows that were read one by one
	size  int  // of the next block
	off   bool // the rows of the last block lay too far apart
	ended bool // there are no more row ids

	block
	at int // the next one of block.list

	locators, rows cursor
	hint           btree.PathHint // of the frozen overlay
}

// block are the rows that are read together.
type block struct {
	list  []aheadRow // in the scan's order
	order []int32    // places in list, in the order of their keys
	arena []byte     // positions, layout parts and rows
}

// aheadRow is one row of a block. The ranges are of the arena.
type aheadRow struct {
	rowid         uint64
	pos, lay, val span
	read, found   bool // not read: there was no room for it
}

type span struct{ from, to int }

func (h *ahead) bytes(s span) []byte { return h.arena[s.from:s.to:s.to] }

func (h *ahead) put(b []byte) span {
	at := len(h.arena)
	h.arena = append(h.arena, b...)
	return span{at, len(h.arena)}
}

// readAhead says whether the next row is to be read with those after it.
func (it *RowIter) readAhead() bool {
	h := &it.ahead
	if h.off || it.sp.made[it.tbl.Storage] {
		return false
	}
	if h.size == 0 {
		if h.asked < aheadAfter && len(it.ids) < 2*aheadAfter {
			return false
		}
		h.size = aheadFirst
	}
	return true
}

// nextAhead moves to the next row of the block; ok is false at its end.
func (it *RowIter) nextAhead() (ok bool, err error) {
	h := &it.ahead
	for h.at < len(h.list) {
		r := &h.list[h.at]
		h.at++
		it.rowid = r.rowid
		if !r.read {
			if ok, err = it.fetch(); ok || err != nil {
				return ok, err
			}
			continue
		}
		if r.found {
			it.tuple, err = it.stored(h.bytes(r.val))
			return err == nil, err
		}
	}
	return false, nil
}

// fill reads the next block.
func (it *RowIter) fill() error {
	h := &it.ahead
	if h.list == nil {
		// Clients send thousands of statements with some hundred row ids each.
		h.block, it.t.spare = it.t.spare, block{}
	}
	h.list, h.at, h.arena = h.list[:0], 0, h.arena[:0]
	n := h.size
	if it.bare == nil && !it.src.open {
		n = max(n, min(len(it.ids), aheadMost))
	}
	h.size = min(2*h.size, aheadMost)
	for len(h.list) < n {
		key, _, ok := it.step()
		if !ok {
			h.ended = true
			break
		}
		if it.rowid <= rel.MaxRowID {
			h.list = append(h.list, aheadRow{rowid: it.rowid, pos: h.put(key)})
		}
	}
	if it.err != nil || len(h.list) == 0 {
		return it.err
	}
	h.order = h.order[:0]
	for i := range h.list {
		h.order = append(h.order, int32(i))
	}
	if err := it.openCursors(); err != nil {
		return err
	}
	h.locators.restart()
	h.rows.restart()
	if err := it.fillLayouts(); err != nil {
		return err
	}
	if err := it.fillRows(); err != nil {
		return err
	}
	h.off = len(h.list) >= aheadFirst && 2*(h.locators.seeks+h.rows.seeks) > len(h.list)
	return nil
}

func (it *RowIter) openCursors() (err error) {
	h := &it.ahead
	open := func(c *cursor, lo []byte) {
		if c.it == nil && err == nil {
			c.it, err = it.r.Iter(kv.IterOptions{Lower: lo, Upper: kv.PrefixEnd(lo)})
		}
	}
	if len(it.tbl.Layout) > 0 {
		open(&h.locators, rel.AppendLocators(join(it.sp.rows), it.tbl))
	}
	open(&h.rows, rel.AppendPrimary(join(it.sp.rows), it.tbl))
	return err
}

// fillLayouts reads the locators of a block, for tables whose rows are not in the order of
// their ids.
func (it *RowIter) fillLayouts() error {
	h := &it.ahead
	slices.SortFunc(h.order, func(a, b int32) int { return cmp.Compare(h.list[a].rowid, h.list[b].rowid) })
	if len(it.tbl.Layout) == 0 {
		return nil
	}
	for _, i := range h.order {
		r := &h.list[i]
		it.keyBuf = rel.AppendLocator(append(it.keyBuf[:0], it.sp.rows...), it.tbl, r.rowid)
		v, ok, err := it.find(&h.locators, it.keyBuf)
		if err != nil {
			return err
		}
		if ok { // else no key will be found for it
			r.lay = h.put(v)
		}
	}
	slices.SortFunc(h.order, func(a, b int32) int {
		x, y := &h.list[a], &h.list[b]
		if c := bytes.Compare(h.bytes(x.lay), h.bytes(y.lay)); c != 0 {
			return c
		}
		return cmp.Compare(x.rowid, y.rowid)
	})
	return nil
}

// fillRows reads the rows of a block.
func (it *RowIter) fillRows() error {
	h := &it.ahead
	for _, i := range h.order {
		r := &h.list[i]
		if len(h.arena) > aheadBytes {
			return nil
		}
		it.keyBuf = rel.AppendRowKeyAt(append(it.keyBuf[:0], it.sp.rows...), it.tbl, h.bytes(r.lay), r.rowid)
		v, ok, err := it.find(&h.rows, it.keyBuf)
		if err != nil {
			return err
		}
		if r.read, r.found = true, ok; ok {
			r.val = h.put(v)
		}
	}
	return nil
}

// find is get by a cursor.
func (it *RowIter) find(c *cursor, key []byte) ([]byte, bool, error) {
	if it.frozen != nil {
		it.probe.key = key
		if e, ok := it.frozen.GetHint(&it.probe, &it.ahead.hint); ok {
			return e.val, !e.del, nil
		}
	}
	return c.find(key)
}

// closeAhead ends it and leaves its block to the next scan.
func (it *RowIter) closeAhead() error {
	h := &it.ahead
	if cap(h.list) > cap(it.t.spare.list) && cap(h.arena) <= 2*aheadBytes {
		it.t.spare = h.block
	}
	h.block = block{}
	return errors.Join(h.locators.close(), h.rows.close())
}

// cursorSteps is how far a cursor goes on step by step before it seeks.
const cursorSteps = 8

// cursor finds keys in the engine that come in ascending order from restart to restart.
type cursor struct {
	it    kv.Iterator
	on    bool // at the first key that is not below the last one that was looked for
	ended bool // there is none
	near  bool // that was found in a few steps
	seeks int  // since restart
}

func (c *cursor) restart() { c.on, c.ended, c.near, c.seeks = false, false, false, 0 }

// find returns the value of a key. It is good until the next call.
func (c *cursor) find(key []byte) ([]byte, bool, error) {
	if c.ended {
		return nil, false, nil
	}
	steps := 1
	if c.near {
		steps = cursorSteps
	}
	for ; c.on; steps-- {
		if d := bytes.Compare(c.it.Key(), key); d >= 0 {
			c.near = true
			return c.value(d == 0)
		}
		if steps == 0 {
			break
		}
		if c.on = c.it.Next(); !c.on {
			c.ended = true
			return nil, false, c.it.Err()
		}
	}
	c.seeks++
	c.near = false
	if c.on = c.it.SeekGE(key); !c.on {
		c.ended = true
		return nil, false, c.it.Err()
	}
	return c.value(bytes.Equal(c.it.Key(), key))
}

func (c *cursor) value(found bool) ([]byte, bool, error) {
	if !found {
		return nil, false, c.it.Err()
	}
	v := c.it.Value()
	return v, true, c.it.Err()
}

func (c *cursor) close() error {
	if c.it == nil {
		return nil
	}
	it := c.it
	c.it = nil
	return it.Close()
}
