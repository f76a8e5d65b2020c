package store

import (
	"sync"
	"sync/atomic"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// rowCounter gives out the row ids of one storage.
type rowCounter struct{ next atomic.Uint64 }

// rowCounters holds the counters of the storages that rows were inserted into since the
// process started. A counter starts after the largest stored row id; ids handed to
// transactions that did not commit are not handed out again while the process lives.
type rowCounters struct {
	mu sync.Mutex
	m  map[uint64]*rowCounter // guarded by mu
}

// of returns the counter of t's storage, reading the start from the newest state r.
func (rc *rowCounters) of(r kv.Reader, rowPrefix []byte, t *rel.Table) (*rowCounter, error) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if c, ok := rc.m[t.Storage]; ok {
		return c, nil
	}
	next, err := nextRowID(r, rowPrefix, t)
	if err != nil {
		return nil, err
	}
	c := new(rowCounter)
	c.next.Store(next)
	if rc.m == nil {
		rc.m = make(map[uint64]*rowCounter)
	}
	rc.m[t.Storage] = c
	return c, nil
}

func (rc *rowCounters) drop(storage uint64) {
	rc.mu.Lock()
	delete(rc.m, storage)
	rc.mu.Unlock()
}

// nextRowID returns one more than the largest row id stored: the last key of a table in
// row-id order, the last locator of a clustered one.
func nextRowID(r kv.Reader, rowPrefix []byte, t *rel.Table) (next uint64, err error) {
	lo := join(rowPrefix)
	if len(t.Layout) > 0 {
		lo = rel.AppendLocators(lo, t)
	} else {
		lo = rel.AppendPrimary(lo, t)
	}
	it, err := r.Iter(kv.IterOptions{Lower: lo, Upper: kv.PrefixEnd(lo)})
	if err != nil {
		return 0, err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	if !it.Last() {
		return 0, it.Err()
	}
	last, err := rel.TrailingRowID(it.Key())
	return last + 1, err
}
