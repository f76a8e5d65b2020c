package memkv

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv"
)

type item struct{ key, val []byte }

func less(a, b item) bool { return bytes.Compare(a.key, b.key) < 0 }

type tree = btree.BTreeG[item]

// newTree makes trees without locks of their own. A tree is written under Engine.mu
// only; a copy handed to readers is never written. Reading does not touch the fields
// that Copy changes, so readers need no lock.
func newTree() *tree { return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}) }

// Engine is an in-memory kv.Engine.
type Engine struct {
	mu        sync.Mutex
	t         *tree // guarded by mu; nil after Close
	snapshots int   // guarded by mu
	bytes     int64 // guarded by mu: keys and values
}

var _ kv.Engine = (*Engine)(nil)

// New returns an empty engine.
func New() *Engine { return &Engine{t: newTree()} }

// view returns a frozen copy of the newest state.
func (e *Engine) view() (view, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return view{}, kv.ErrClosed
	}
	return view{e.t.Copy()}, nil
}

// Get implements kv.Reader.
func (e *Engine) Get(key []byte) ([]byte, error) { return e.AppendGet(nil, key) }

// AppendGet implements kv.Reader.
func (e *Engine) AppendGet(dst, key []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return dst, kv.ErrClosed
	}
	return view{e.t}.AppendGet(dst, key)
}

// Has implements kv.Reader.
func (e *Engine) Has(key []byte) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return false, kv.ErrClosed
	}
	return view{e.t}.Has(key)
}

// Iter implements kv.Reader: it iterates over a snapshot of its own.
func (e *Engine) Iter(o kv.IterOptions) (kv.Iterator, error) {
	v, err := e.view()
	if err != nil {
		return nil, err
	}
	return v.Iter(o)
}

type snapshot struct {
	view
	e    *Engine
	once sync.Once
}

// Close releases the snapshot.
func (s *snapshot) Close() error {
	s.once.Do(func() {
		s.e.mu.Lock()
		s.e.snapshots--
		s.e.mu.Unlock()
	})
	return nil
}

// Snapshot implements kv.Engine.
func (e *Engine) Snapshot() (kv.Snapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return nil, kv.ErrClosed
	}
	e.snapshots++
	return &snapshot{view: view{e.t.Copy()}, e: e}, nil
}

// NewBatch implements kv.Engine.
func (e *Engine) NewBatch() kv.Batch { return &batch{e: e} }

// NewIndexedBatch implements kv.Engine.
func (e *Engine) NewIndexedBatch() kv.IndexedBatch { return &batch{e: e} }

// Apply implements kv.Engine. There is no stable storage, so sync means nothing.
func (e *Engine) Apply(b kv.Batch, _ bool) error {
	mb, ok := b.(*batch)
	if !ok || mb.e != e {
		return errors.New("memkv: batch of another engine")
	}
	if mb.done {
		return kv.ErrBatchDone
	}
	mb.done = true
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return kv.ErrClosed
	}
	e.bytes += mb.applyTo(e.t)
	return nil
}

// ApplyAsync implements kv.Engine.
func (e *Engine) ApplyAsync(b kv.Batch, sync bool, _ uint64) (wait func() error, err error) {
	return stable, e.Apply(b, sync)
}

func stable() error { return nil }

// ApplyRepr implements kv.Engine.
func (e *Engine) ApplyRepr(repr []byte, sync bool) error {
	b, err := decodeRepr(e, repr)
	if err != nil {
		return err
	}
	return e.Apply(b, sync)
}

// Checkpoint implements kv.Engine; memory has no files to copy.
func (e *Engine) Checkpoint(string) error {
	return fmt.Errorf("memkv: checkpoint: %w", errors.ErrUnsupported)
}

// Compact implements kv.Engine; deleted keys hold no space.
func (e *Engine) Compact(_, _ []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return kv.ErrClosed
	}
	return nil
}

// Epoch implements kv.Engine: memory is never reopened.
func (e *Engine) Epoch() uint64 { return 0 }

// Metrics implements kv.Engine.
func (e *Engine) Metrics() kv.Metrics {
	e.mu.Lock()
	defer e.mu.Unlock()
	return kv.Metrics{MemtableBytes: uint64(e.bytes), Snapshots: e.snapshots}
}

// Close implements kv.Engine. Snapshots taken before stay readable.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.t == nil {
		return kv.ErrClosed
	}
	e.t = nil
	return nil
}

// view reads one tree that nobody writes meanwhile.
type view struct{ t *tree }

func (v view) Get(key []byte) ([]byte, error) { return v.AppendGet(nil, key) }

func (v view) AppendGet(dst, key []byte) ([]byte, error) {
	it, ok := v.t.Get(item{key: key})
	if !ok {
		return dst, kv.ErrNotFound
	}
	if dst == nil {
		dst = make([]byte, 0, len(it.val))
	}
	return append(dst, it.val...), nil
}

func (v view) Has(key []byte) (bool, error) {
	_, ok := v.t.Get(item{key: key})
	return ok, nil
}

func (v view) Iter(o kv.IterOptions) (kv.Iterator, error) {
	return &iterator{it: v.t.Iter(), lower: o.Lower, upper: o.Upper}, nil
}
