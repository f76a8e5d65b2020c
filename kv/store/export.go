package store

import (
	"fmt"
	"sync"
)

// exportedViews are the views that open transactions have exported, by id.
type exportedViews struct {
	mu   sync.Mutex
	next uint64                // guarded by mu
	m    map[string]exportView // guarded by mu
}

type exportView struct {
	c *Catalog
	v *view
}

// ExportSnapshot makes the transaction's view available to SetSnapshot of others under
// the returned id, until this transaction ends (pg_export_snapshot). Writes of this
// transaction are not part of it.
func (t *Txn) ExportSnapshot() (id string, err error) {
	if err := t.EnsureSnapshot(); err != nil {
		return "", err
	}
	x := &t.cat.store.exports
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next++
	id = fmt.Sprintf("%08X-%08X-1", t.cat.oid, x.next)
	if x.m == nil {
		x.m = make(map[string]exportView)
	}
	t.cat.ref(t.view)
	x.m[id] = exportView{t.cat, t.view}
	t.exported = append(t.exported, id)
	return id, nil
}

// SetSnapshot makes the transaction read an exported view. It must come before the
// transaction's first read.
func (t *Txn) SetSnapshot(id string) error {
	if t.done {
		return ErrTxnDone
	}
	if t.view != nil {
		return ErrSnapshotInUse
	}
	x := &t.cat.store.exports
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.m[id]
	if !ok || e.c != t.cat {
		return fmt.Errorf("%w: %q", ErrNoSnapshot, id)
	}
	t.cat.ref(e.v)
	t.setView(e.v)
	return nil
}

// unexport withdraws what the transaction exported.
func (t *Txn) unexport() {
	if len(t.exported) == 0 {
		return
	}
	x := &t.cat.store.exports
	x.mu.Lock()
	gone := make([]*view, 0, len(t.exported))
	for _, id := range t.exported {
		gone = append(gone, x.m[id].v)
		delete(x.m, id)
	}
	x.mu.Unlock()
	t.exported = nil
	for _, v := range gone {
		t.cat.release(v)
	}
}
