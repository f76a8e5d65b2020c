package store

import "slices"

// Held returns a transaction on each view older than t's that something still reads,
// oldest first: open transactions, what they have frozen or exported, and for a moment
// commits on their way to stable storage, whose readers still get the view before. Each
// cannot write, and is ended by Rollback; until then it holds its view itself.
//
// What is older than t's view and is not among them will never be read again, with one
// exception: a t that has the turn may read what is not stable yet, and the stable view is
// among them then.
//
// A view of before the engine reopened its files is among them as well: who reads it fails
// with ErrEngineRestarted of package kv, here as there.
func (t *Txn) Held() ([]*Txn, error) {
	if err := t.EnsureSnapshot(); err != nil {
		return nil, err
	}
	c := t.cat
	var views []*view
	c.mu.Lock()
	for v := c.referenced.first; v != nil; v = v.next {
		if v.seq < t.view.seq {
			v.refs++
			views = append(views, v)
		}
	}
	c.mu.Unlock()
	if len(views) == 0 {
		return nil, nil
	}
	slices.SortFunc(views, func(a, b *view) int {
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	out := make([]*Txn, len(views))
	for i, v := range views {
		b := &Txn{cat: c, opts: TxnOptions{Isolation: RepeatableRead, ReadOnly: true}, frozen: true}
		b.main.init(c.prefix, c.store.engine, &c.counters)
		b.setView(v)
		out[i] = b
	}
	return out, nil
}

// ViewSeq is the commit that the transaction's view is of; ok is false before it has read.
// Two transactions of a catalog with the same one read the same state.
func (t *Txn) ViewSeq() (seq uint64, ok bool) {
	if t.view == nil {
		return 0, false
	}
	return t.view.seq, true
}
