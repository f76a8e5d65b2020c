package memkv

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/eiderdb/eider/kv"
)

type opKind byte

const (
	opSet opKind = iota + 1
	opDelete
	opDeleteRange
)

// op is one operation; for opDeleteRange val is the exclusive end.
type op struct {
	kind     opKind
	key, val []byte
}

// batch is both kinds of batch. Reading it replays its operations, newest first for
// Get, onto a copy of the newest state for Iter.
type batch struct {
	e    *Engine
	ops  []op
	size int
	done bool
}

var _ kv.IndexedBatch = (*batch)(nil)

func (b *batch) add(kind opKind, key, val []byte) error {
	if b.done {
		return kv.ErrBatchDone
	}
	// One allocation for both; the key's capacity is cut so that it cannot grow into val.
	buf := make([]byte, len(key)+len(val))
	copy(buf, key)
	copy(buf[len(key):], val)
	b.ops = append(b.ops, op{kind: kind, key: buf[:len(key):len(key)], val: buf[len(key):]})
	b.size += 9 + len(buf)
	return nil
}

func (b *batch) Set(key, value []byte) error {
	if len(key) == 0 {
		return kv.ErrEmptyKey
	}
	return b.add(opSet, key, value)
}

func (b *batch) Delete(key []byte) error             { return b.add(opDelete, key, nil) }
func (b *batch) DeleteRange(start, end []byte) error { return b.add(opDeleteRange, start, end) }
func (b *batch) Background()                         {}
func (b *batch) Count() int                          { return len(b.ops) }
func (b *batch) Len() int                            { return b.size }

func (b *batch) Reset() { b.ops, b.size, b.done = nil, 0, false }

func (b *batch) Close() error {
	b.ops, b.done = nil, true
	return nil
}

// Repr is, per operation: kind byte, uint32 key length, uint32 value length, both.
func (b *batch) Repr() []byte {
	out := make([]byte, 0, b.size)
	for _, o := range b.ops {
		out = append(out, byte(o.kind))
		out = binary.BigEndian.AppendUint32(out, uint32(len(o.key)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(o.val)))
		out = append(out, o.key...)
		out = append(out, o.val...)
	}
	return out
}

func decodeRepr(e *Engine, repr []byte) (*batch, error) {
	b := &batch{e: e}
	for len(repr) > 0 {
		if len(repr) < 9 {
			return nil, fmt.Errorf("memkv: batch repr: %w", kv.ErrCorrupt)
		}
		kind := opKind(repr[0])
		k, v := int64(binary.BigEndian.Uint32(repr[1:])), int64(binary.BigEndian.Uint32(repr[5:]))
		repr = repr[9:]
		if kind < opSet || kind > opDeleteRange || k+v > int64(len(repr)) {
			return nil, fmt.Errorf("memkv: batch repr: %w", kv.ErrCorrupt)
		}
		if err := b.add(kind, repr[:k], repr[k:k+v]); err != nil {
			return nil, err
		}
		repr = repr[k+v:]
	}
	return b, nil
}

// applyTo performs the operations and returns by how many bytes the tree grew.
func (b *batch) applyTo(t *tree) (grown int64) {
	for _, o := range b.ops {
		switch o.kind {
		case opSet:
			prev, replaced := t.Set(item{key: o.key, val: o.val})
			if replaced {
				grown -= int64(len(prev.key) + len(prev.val))
			}
			grown += int64(len(o.key) + len(o.val))
		case opDelete:
			if prev, ok := t.Delete(item{key: o.key}); ok {
				grown -= int64(len(prev.key) + len(prev.val))
			}
		case opDeleteRange:
			var doomed []item
			t.Ascend(item{key: o.key}, func(i item) bool {
				if bytes.Compare(i.key, o.val) >= 0 {
					return false
				}
				doomed = append(doomed, i)
				return true
			})
			for _, i := range doomed {
				t.Delete(i)
				grown -= int64(len(i.key) + len(i.val))
			}
		}
	}
	return grown
}

func (b *batch) Get(key []byte) ([]byte, error) { return b.AppendGet(nil, key) }

func (b *batch) AppendGet(dst, key []byte) ([]byte, error) {
	for i := len(b.ops) - 1; i >= 0; i-- {
		switch o := &b.ops[i]; o.kind {
		case opSet:
			if bytes.Equal(o.key, key) {
				if dst == nil {
					dst = make([]byte, 0, len(o.val))
				}
				return append(dst, o.val...), nil
			}
		case opDelete:
			if bytes.Equal(o.key, key) {
				return dst, kv.ErrNotFound
			}
		case opDeleteRange:
			if bytes.Compare(o.key, key) <= 0 && bytes.Compare(key, o.val) < 0 {
				return dst, kv.ErrNotFound
			}
		}
	}
	return b.e.AppendGet(dst, key)
}

func (b *batch) Has(key []byte) (bool, error) {
	_, err := b.AppendGet([]byte{}, key)
	if err == kv.ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

func (b *batch) Iter(o kv.IterOptions) (kv.Iterator, error) {
	v, err := b.e.view()
	if err != nil {
		return nil, err
	}
	b.applyTo(v.t)
	return v.Iter(o)
}
