package translate

import (
	"context"
	"math"
	"sort"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/guard"
	"github.com/eiderdb/eider/translate/pgcatalog"
)

// heldView is the view that a session's transaction reads.
type heldView struct {
	seq   uint64
	since time.Time
}

// noteView tells others which view the running transaction reads.
func (s *Session) noteView() {
	seq, ok := s.tx.txn.ViewSeq()
	if v := s.holds.Load(); ok && (v == nil || v.seq != seq) {
		s.holds.Store(&heldView{seq: seq, since: s.tx.statement})
	}
}

// Views lists the sessions of the catalog with the views that they hold.
func (f sessionFuncs) Views() (list []pgcatalog.SessionView, release func(), err error) {
	h := f.s.shared
	// Which views sessions hold is looked up before the newest state is taken, so that each
	// of them is that state or an older one.
	h.mu.Lock()
	held := make([]*heldView, 0, len(h.sessions))
	for s := range h.sessions {
		if s.catOID != f.s.catOID {
			continue
		}
		v := s.holds.Load()
		x := pgcatalog.SessionView{Activity: s.Activity()}
		if v != nil {
			x.Holds, x.Since = true, v.since
		}
		list, held = append(list, x), append(held, v)
	}
	h.mu.Unlock()
	newest := f.s.catalog.Begin(store.TxnOptions{Isolation: store.RepeatableRead, ReadOnly: true})
	txns := []*store.Txn{newest}
	release = func() {
		for _, t := range txns {
			_ = t.Rollback() // nobody else ends them
		}
	}
	older, err := newest.Held()
	if err != nil {
		release()
		return nil, nil, err
	}
	txns = append(txns, older...)
	bySeq := make(map[uint64]*store.Txn, len(txns))
	for _, t := range txns {
		if seq, ok := t.ViewSeq(); ok {
			bySeq[seq] = t
		}
	}
	for i, v := range held {
		if v != nil {
			list[i].Txn = bySeq[v.seq]
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].PID < list[j].PID })
	return list, release, nil
}

// Schedule lists the files that wait to be deleted.
func (f sessionFuncs) Schedule(ctx context.Context, txn *store.Txn) ([]pgcatalog.ScheduledFile, error) {
	var out []pgcatalog.ScheduledFile
	err := f.s.deps.Guard.Waiting(ctx, txn, func(w guard.Waiting) error {
		out = append(out, pgcatalog.ScheduledFile{
			Lake: w.Lake, ID: w.File.ID, Path: w.File.Path, Relative: w.File.Relative, Start: micros(w.File.Start), Due: micros(w.Due), Held: w.Held,
		})
		return nil
	})
	return out, err
}

// micros is a time in µs since 1970; the infinite ones are the zero time.
func micros(n int64) time.Time {
	if n == math.MaxInt64 || n == math.MinInt64 {
		return time.Time{}
	}
	return time.UnixMicro(n)
}
