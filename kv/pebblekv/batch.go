package pebblekv

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"

	"github.com/eiderdb/eider/kv"
)

// batch is both kinds of batch. It is made for one instance; if that is replaced before
// Apply, the operations move to a batch of the new one.
type batch struct {
	e       *Engine
	i       *instance // held
	b       *pebble.Batch
	indexed bool
	done    bool
	hidden  bool  // see Background
	err     error // of making it
}

var _ kv.IndexedBatch = (*batch)(nil)

// NewBatch implements kv.Engine.
func (e *Engine) NewBatch() kv.Batch { return e.newBatch(false) }

// NewIndexedBatch implements kv.Engine.
func (e *Engine) NewIndexedBatch() kv.IndexedBatch { return e.newBatch(true) }

func (e *Engine) newBatch(indexed bool) *batch {
	b := &batch{e: e, indexed: indexed}
	if b.i, b.err = e.current(); b.err == nil {
		b.b = b.i.newBatch(indexed)
	}
	return b
}

func (i *instance) newBatch(indexed bool) *pebble.Batch {
	if indexed {
		return i.db.NewIndexedBatch()
	}
	return i.db.NewBatch()
}

func (b *batch) usable() error {
	if b.err != nil {
		return b.err
	}
	if b.done {
		return kv.ErrBatchDone
	}
	return nil
}

func (b *batch) Set(key, value []byte) error {
	if err := b.usable(); err != nil {
		return err
	}
	if len(key) == 0 {
		return kv.ErrEmptyKey
	}
	return mapped("set", b.b.Set(key, value, nil))
}

func (b *batch) Delete(key []byte) error {
	if err := b.usable(); err != nil {
		return err
	}
	return mapped("delete", b.b.Delete(key, nil))
}

func (b *batch) DeleteRange(start, end []byte) error {
	if err := b.usable(); err != nil {
		return err
	}
	if bytes.Compare(start, end) >= 0 {
		return nil
	}
	return mapped("delete range", b.b.DeleteRange(start, end, nil))
}

func (b *batch) Count() int {
	if b.b == nil {
		return 0
	}
	return int(b.b.Count())
}

func (b *batch) Len() int {
	if b.b == nil {
		return 0
	}
	return b.b.Len()
}

func (b *batch) Repr() []byte {
	if b.b == nil {
		return nil
	}
	return b.b.Repr()
}

// Background implements kv.Batch: the batch does not count as one that waits (see spacing).
func (b *batch) Background() { b.hidden = true }

func (b *batch) Reset() {
	if b.err != nil {
		return
	}
	b.hidden = false
	if b.done {
		b.b = b.i.newBatch(b.indexed)
		b.done = false
		return
	}
	b.b.Reset()
}

func (b *batch) Close() error {
	if b.err != nil || b.i == nil {
		return nil
	}
	b.done = true
	i := b.i
	b.i = nil
	var err error
	if !i.failed.Load() {
		err = mapped("close batch", b.b.Close())
	} // else Pebble may still refer to it
	b.b = nil
	i.release()
	return err
}

func (b *batch) Get(key []byte) ([]byte, error) { return b.AppendGet(nil, key) }

func (b *batch) AppendGet(dst, key []byte) ([]byte, error) {
	if err := b.usable(); err != nil {
		return dst, err
	}
	if err := b.i.usable(); err != nil {
		return dst, err
	}
	v, c, err := b.b.Get(key)
	return copyOut(dst, v, c, err)
}

func (b *batch) Has(key []byte) (bool, error) {
	if err := b.usable(); err != nil {
		return false, err
	}
	if err := b.i.usable(); err != nil {
		return false, err
	}
	_, c, err := b.b.Get(key)
	return closeHas(c, err)
}

func (b *batch) Iter(o kv.IterOptions) (kv.Iterator, error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	if err := b.i.usable(); err != nil {
		return nil, err
	}
	it, err := b.b.NewIter(bounds(o))
	if err != nil {
		return nil, mapped("iterate", err)
	}
	if !b.i.acquire() {
		return nil, kv.ErrClosed
	}
	return &iterator{it: it, i: b.i}, nil
}
