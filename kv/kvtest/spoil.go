package kvtest

import "github.com/eiderdb/eider/kv"

// Spoil wraps an engine so that what its iterators return is overwritten as soon as they
// move on or are closed, as the contract allows. Whoever keeps such bytes without copying
// them finds garbage, where an engine in memory would forgive it.
func Spoil(e kv.Engine) kv.Engine { return &spoiler{e} }

type spoiler struct{ kv.Engine }

func (s *spoiler) Iter(o kv.IterOptions) (kv.Iterator, error) { return spoilIter(s.Engine.Iter(o)) }

func (s *spoiler) Snapshot() (kv.Snapshot, error) {
	snap, err := s.Engine.Snapshot()
	if err != nil {
		return nil, err
	}
	return &spoiledSnapshot{snap}, nil
}

type spoiledSnapshot struct{ kv.Snapshot }

func (s *spoiledSnapshot) Iter(o kv.IterOptions) (kv.Iterator, error) {
	return spoilIter(s.Snapshot.Iter(o))
}

func spoilIter(it kv.Iterator, err error) (kv.Iterator, error) {
	if err != nil {
		return nil, err
	}
	return &spoiledIter{Iterator: it}, nil
}

// spoiledIter returns the present key and value from memory of its own.
type spoiledIter struct {
	kv.Iterator
	key, val []byte
	has      bool // key and val are of the present position
}

func (i *spoiledIter) spoil() {
	for _, b := range [][]byte{i.key, i.val} {
		for k := range b {
			b[k] = 0xA5
		}
	}
	i.has = false
}

func (i *spoiledIter) load() {
	if !i.has {
		i.key = append(i.key[:0], i.Iterator.Key()...)
		i.val = append(i.val[:0], i.Iterator.Value()...)
		i.has = true
	}
}

func (i *spoiledIter) First() bool          { i.spoil(); return i.Iterator.First() }
func (i *spoiledIter) Last() bool           { i.spoil(); return i.Iterator.Last() }
func (i *spoiledIter) Next() bool           { i.spoil(); return i.Iterator.Next() }
func (i *spoiledIter) Prev() bool           { i.spoil(); return i.Iterator.Prev() }
func (i *spoiledIter) SeekGE(k []byte) bool { i.spoil(); return i.Iterator.SeekGE(k) }
func (i *spoiledIter) SeekLT(k []byte) bool { i.spoil(); return i.Iterator.SeekLT(k) }
func (i *spoiledIter) Close() error         { i.spoil(); return i.Iterator.Close() }

func (i *spoiledIter) Key() []byte {
	if !i.Valid() {
		return nil
	}
	i.load()
	return i.key
}

func (i *spoiledIter) Value() []byte {
	if !i.Valid() {
		return nil
	}
	i.load()
	return i.val
}
