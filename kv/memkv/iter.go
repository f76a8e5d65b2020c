package memkv

import (
	"bytes"

	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv"
)

type position uint8

const (
	unpositioned position = iota
	beforeFirst
	atKey
	afterLast
)

// iterator walks a frozen tree within bounds. The tree's own iterator is asked to move
// only from an item, never from beyond an end: pos keeps which end was passed.
type iterator struct {
	it           btree.IterG[item]
	lower, upper []byte
	pos          position
	closed       bool
}

var _ kv.Iterator = (*iterator)(nil)

// ahead settles the position after a forward move that found an item or not.
func (i *iterator) ahead(ok bool) bool {
	if !ok || (i.upper != nil && bytes.Compare(i.it.Item().key, i.upper) >= 0) {
		i.pos = afterLast
		return false
	}
	i.pos = atKey
	return true
}

func (i *iterator) back(ok bool) bool {
	if !ok || (i.lower != nil && bytes.Compare(i.it.Item().key, i.lower) < 0) {
		i.pos = beforeFirst
		return false
	}
	i.pos = atKey
	return true
}

func (i *iterator) First() bool {
	if i.closed {
		return false
	}
	if i.lower != nil {
		return i.ahead(i.it.Seek(item{key: i.lower}))
	}
	return i.ahead(i.it.First())
}

func (i *iterator) Last() bool {
	if i.closed {
		return false
	}
	if i.upper != nil {
		return i.seekLT(i.upper)
	}
	return i.back(i.it.Last())
}

func (i *iterator) SeekGE(key []byte) bool {
	if i.closed {
		return false
	}
	if i.lower != nil && bytes.Compare(key, i.lower) < 0 {
		key = i.lower
	}
	return i.ahead(i.it.Seek(item{key: key}))
}

func (i *iterator) SeekLT(key []byte) bool {
	if i.closed {
		return false
	}
	if i.upper != nil && bytes.Compare(key, i.upper) > 0 {
		key = i.upper
	}
	return i.seekLT(key)
}

func (i *iterator) seekLT(key []byte) bool {
	if i.it.Seek(item{key: key}) {
		return i.back(i.it.Prev())
	}
	return i.back(i.it.Last())
}

func (i *iterator) Next() bool {
	switch {
	case i.closed || i.pos == afterLast:
		return false
	case i.pos == atKey:
		return i.ahead(i.it.Next())
	}
	return i.First()
}

func (i *iterator) Prev() bool {
	switch {
	case i.closed || i.pos == beforeFirst:
		return false
	case i.pos == atKey:
		return i.back(i.it.Prev())
	}
	return i.Last()
}

func (i *iterator) Valid() bool { return i.pos == atKey && !i.closed }

func (i *iterator) Key() []byte {
	if !i.Valid() {
		return nil
	}
	return i.it.Item().key
}

func (i *iterator) Value() []byte {
	if !i.Valid() {
		return nil
	}
	return i.it.Item().val
}

func (i *iterator) Err() error { return nil }

func (i *iterator) Close() error {
	if !i.closed {
		i.closed = true
		i.it.Release()
	}
	return nil
}
