package pebblekv

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/eiderdb/eider/kv"
)

// bounds are o for Pebble, which takes an empty upper bound for none.
func bounds(o kv.IterOptions) *pebble.IterOptions {
	if o.Upper != nil && len(o.Upper) == 0 {
		o.Lower, o.Upper = []byte{0}, []byte{0}
	}
	lower := o.Lower
	if len(lower) == 0 {
		lower = nil // the same, and Pebble's race builds look at the bound's first byte
	}
	return &pebble.IterOptions{LowerBound: lower, UpperBound: o.Upper}
}

// snapshot is a kv.Snapshot of one instance.
type snapshot struct {
	i      *instance
	s      *pebble.Snapshot
	closed atomic.Bool
}

// Snapshot implements kv.Engine.
func (e *Engine) Snapshot() (kv.Snapshot, error) {
	i, err := e.current()
	if err != nil {
		return nil, err
	}
	e.snapshots.Add(1)
	return &snapshot{i: i, s: i.db.NewSnapshot()}, nil
}

func (s *snapshot) usable() error {
	if s.closed.Load() {
		return kv.ErrClosed
	}
	return s.i.usable()
}

func (s *snapshot) Get(key []byte) ([]byte, error) { return s.AppendGet(nil, key) }

func (s *snapshot) AppendGet(dst, key []byte) ([]byte, error) {
	if err := s.usable(); err != nil {
		return dst, err
	}
	v, c, err := s.s.Get(key)
	return copyOut(dst, v, c, err)
}

func (s *snapshot) Has(key []byte) (bool, error) {
	if err := s.usable(); err != nil {
		return false, err
	}
	_, c, err := s.s.Get(key)
	return closeHas(c, err)
}

func (s *snapshot) Iter(o kv.IterOptions) (kv.Iterator, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	it, err := s.s.NewIter(bounds(o))
	if err != nil {
		return nil, mapped("iterate", err)
	}
	if !s.i.acquire() {
		return nil, kv.ErrClosed
	}
	return &iterator{it: it, i: s.i}, nil
}

// Close releases the snapshot. Of a wedged instance nothing is given back.
func (s *snapshot) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.i.e.snapshots.Add(-1)
	if s.i.wedged.Load() {
		return nil
	}
	err := s.s.Close()
	s.i.release()
	return mapped("close snapshot", err)
}

// iterator is a kv.Iterator over an instance, a snapshot or a batch.
type iterator struct {
	it     *pebble.Iterator
	i      *instance
	closed bool
	err    error
}

func (t *iterator) First() bool { return !t.closed && t.it.First() }
func (t *iterator) Last() bool  { return !t.closed && t.it.Last() }

// SeekGE and SeekLT keep the empty key from Pebble, whose race builds look at its first byte.
func (t *iterator) SeekGE(key []byte) bool {
	switch {
	case t.closed:
		return false
	case len(key) == 0:
		return t.it.First()
	}
	return t.it.SeekGE(key)
}

func (t *iterator) SeekLT(key []byte) bool {
	switch {
	case t.closed:
		return false
	case len(key) == 0:
		return t.it.First() && t.it.Prev()
	}
	return t.it.SeekLT(key)
}

// Next goes past all versions of the key. The rows that every commit changes have
// thousands of versions in a memtable: Pebble's Next would step over each of them, its
// NextPrefix seeks after the first, and a prefix is the whole key here (Split of the
// default comparer).
func (t *iterator) Next() bool  { return !t.closed && t.it.NextPrefix() }
func (t *iterator) Prev() bool  { return !t.closed && t.it.Prev() }
func (t *iterator) Valid() bool { return !t.closed && t.it.Valid() }

func (t *iterator) Key() []byte {
	if !t.Valid() {
		return nil
	}
	return t.it.Key()
}

func (t *iterator) Value() []byte {
	if !t.Valid() {
		return nil
	}
	v, err := t.it.ValueAndErr()
	if err != nil {
		t.err = err
		return nil
	}
	return v
}

func (t *iterator) Err() error {
	if t.closed {
		return nil
	}
	if t.err != nil {
		return mapped("iterate", t.err)
	}
	return mapped("iterate", t.it.Error())
}

func (t *iterator) Close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	if t.i.wedged.Load() {
		return nil // as for snapshots
	}
	err := t.it.Close()
	t.i.release()
	if t.i.failed.Load() {
		return nil // its error has been reported by Err, if anybody asked
	}
	return mapped("close iterator", err)
}
