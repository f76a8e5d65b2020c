package store

import (
	"errors"
	"fmt"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// nextLookup moves to the next row id that has a row.
func (it *RowIter) nextLookup() bool {
	for {
		found, err := it.nextAhead()
		switch {
		case err != nil:
			return it.fail(err)
		case found:
			return true
		case it.ahead.ended:
			it.ahead.list = it.ahead.list[:0]
			return it.fail(nil)
		case it.readAhead():
			if err := it.fill(); err != nil {
				return it.fail(err)
			}
			continue
		}
		it.ahead.list = it.ahead.list[:0]
		it.ahead.asked++
		if _, _, ok := it.step(); !ok {
			return false
		}
		if found, err = it.fetch(); err != nil {
			return it.fail(err)
		}
		if found {
			return true
		}
	}
}

// fetch reads the row it.rowid and reports whether there is one.
func (it *RowIter) fetch() (bool, error) {
	if it.rowid > rel.MaxRowID {
		return false, nil
	}
	key := append(it.keyBuf[:0], it.sp.rows...)
	if len(it.tbl.Layout) > 0 {
		key = rel.AppendLocator(key, it.tbl, it.rowid)
		it.keyBuf = key
		layout, ok, err := it.get(key)
		if err != nil || !ok {
			return false, err
		}
		key = rel.AppendRowKeyAt(append(key[:0], it.sp.rows...), it.tbl, layout, it.rowid)
	} else {
		key = rel.AppendRowID(rel.AppendPrimary(key, it.tbl), it.rowid)
	}
	it.keyBuf = key
	val, ok, err := it.get(key)
	if err != nil || !ok {
		return false, err
	}
	it.tuple, err = it.stored(val)
	return err == nil, err
}

// corrupt is the error of a row that cannot be read.
func (it *RowIter) corrupt(err error) error {
	return fmt.Errorf("store: table %q, row %d: %w: %w", it.tbl.Name, it.rowid, kv.ErrCorrupt, err)
}

// get reads one key of the frozen view. The result is valid until the next get.
func (it *RowIter) get(key []byte) ([]byte, bool, error) {
	if it.frozen != nil {
		it.probe.key = key
		if e, ok := it.frozen.Get(&it.probe); ok {
			return e.val, !e.del, nil
		}
	}
	if it.sp.made[it.tbl.Storage] {
		return nil, false, nil
	}
	v, err := it.r.AppendGet(it.buf[:0], key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	it.buf = v
	return v, true, nil
}

// stored reads a row's stored form.
func (it *RowIter) stored(v []byte) (row.Tuple, error) {
	t, err := row.FromStored(v)
	if err != nil {
		return nil, it.corrupt(err)
	}
	return t, nil
}
