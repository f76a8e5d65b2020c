package pebblekv

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/eiderdb/eider/kv"
)

// Apply implements kv.Engine.
func (e *Engine) Apply(kb kv.Batch, sync bool) error {
	b, err := e.consume(kb)
	if b == nil || err != nil {
		return err
	}
	return e.settled(b, e.apply(b, sync))
}

// ApplyAsync implements kv.Engine.
func (e *Engine) ApplyAsync(kb kv.Batch, sync bool, epoch uint64) (wait func() error, err error) {
	b, err := e.consume(kb)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return stable, nil
	}
	i, err := e.writable()
	if err != nil {
		return nil, err
	}
	if i.epoch != epoch {
		return nil, kv.ErrEngineRestarted
	}
	select {
	case i.entry <- struct{}{}:
	case <-i.broken:
		return nil, kv.ErrEngineRestarted
	}
	counted := int64(1)
	if b.hidden || !sync {
		counted = 0
	}
	i.unsynced.Add(counted)
	err = i.enter(b, sync)
	<-i.entry
	if !sync {
		if err != nil {
			return nil, e.settled(b, err)
		}
		return stable, nil
	}
	if err != nil {
		i.unsynced.Add(-counted)
		return nil, e.settled(b, err)
	}
	return func() error {
		defer i.unsynced.Add(-counted)
		return e.settled(b, b.syncWait())
	}, nil
}

// syncSpacing is the least time between the end of a sync and the next while commits come
// faster than they can be synced one by one: the later they wait for anyway, the more of
// them it serves. A sync costs the processors as much as a tenth of a small commit.
const syncSpacing = 600 * time.Microsecond

// spacing is asked after each sync. Of the commits that it has served one may be counted still.
// Background batches are not: they commit without end, and would make a lone writer wait.
func (i *instance) spacing() time.Duration {
	if i.unsynced.Load() > 1 {
		return syncSpacing
	}
	return 0
}

func stable() error { return nil }

// consume checks a batch that is to be written, and the room on the disk. It returns nil
// for an empty one.
func (e *Engine) consume(kb kv.Batch) (*batch, error) {
	b, ok := kb.(*batch)
	if !ok || b.e != e {
		return nil, errors.New("pebblekv: batch of another engine")
	}
	if err := b.usable(); err != nil {
		return nil, err
	}
	b.done = true
	if b.b.Empty() {
		return nil, nil
	}
	return b, e.checkSpace(uint64(b.b.Len()))
}

// syncWait waits until the batch is on stable storage.
func (b *batch) syncWait() error {
	err := b.b.SyncWait()
	if err == nil {
		return nil
	}
	b.i.abandon()
	return &failure{mapped("sync", err)}
}

// settled makes sure that the engine goes on after a write that failed.
func (e *Engine) settled(b *batch, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	// The write failed inside Pebble. Bring up a successor, so that the caller can see
	// whether the batch reached the disk.
	e.low.Store(true)
	if rerr := e.reopen(b.i); rerr != nil {
		err = errors.Join(err, rerr)
	}
	return fmt.Errorf("%w: %w", kv.ErrUnknownOutcome, err)
}

// failure is an error that made an instance unusable.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// apply hands the batch to Pebble and waits for the sync if one is wanted.
func (e *Engine) apply(b *batch, sync bool) error {
	for {
		i, err := e.writable()
		if err != nil {
			return err
		}
		select {
		case i.entry <- struct{}{}:
		case <-i.broken:
			continue
		}
		err = i.enter(b, sync)
		<-i.entry
		if err != nil || !sync {
			return err
		}
		return b.syncWait()
	}
}

// enter writes the batch to the log and the memtable without waiting for the sync.
//
// REQUIRES: i.entry.
func (i *instance) enter(b *batch, sync bool) (err error) {
	if i != b.i {
		if !i.acquire() {
			return kv.ErrClosed
		}
		moved := i.db.NewBatch()
		if err := moved.SetRepr(bytes.Clone(b.b.Repr())); err != nil {
			i.release()
			return mapped("apply", err)
		}
		b.i.release()
		b.i, b.b = i, moved
	}
	defer func() {
		// Pebble panics, directly or through Fatalf, when the log cannot be written.
		// A panic of its own it throws with locks held.
		if p := recover(); p != nil {
			if _, ok := p.(fatal); ok {
				i.abandon()
			} else {
				i.wedge()
			}
			err = &failure{mapped("apply", panicError(p))}
		}
	}()
	if sync {
		err = i.db.ApplyNoSyncWait(b.b, pebble.Sync)
	} else {
		err = i.db.Apply(b.b, pebble.NoSync)
	}
	return mapped("apply", err)
}

func panicError(p any) error {
	switch p := p.(type) {
	case error:
		return p
	case fatal:
		return errors.New(p.msg)
	}
	return fmt.Errorf("panic: %v", p)
}

// ApplyRepr implements kv.Engine.
func (e *Engine) ApplyRepr(repr []byte, sync bool) error {
	b := e.newBatch(false)
	if b.err != nil {
		return b.err
	}
	err := b.b.SetRepr(bytes.Clone(repr))
	if err != nil {
		return errors.Join(fmt.Errorf("pebblekv: batch repr: %w: %w", kv.ErrCorrupt, err), b.Close())
	}
	return errors.Join(e.Apply(b, sync), b.Close())
}

// writable returns the instance to write to, opening one if the present one has failed
// or can only be read.
func (e *Engine) writable() (*instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, kv.ErrClosed
	}
	i := e.cur.Load()
	if !i.failed.Load() && !i.readOnly {
		return i, nil
	}
	if err := e.reopenLocked(i, true); err != nil {
		return nil, err
	}
	i = e.cur.Load()
	if i.readOnly || i.failed.Load() {
		e.low.Store(true)
		e.refusals.Add(1)
		return nil, fmt.Errorf("pebblekv: %q can only be read now: %w", e.dir, kv.ErrDiskFull)
	}
	return i, nil
}

// reopen replaces the failed instance i, unless somebody did already.
func (e *Engine) reopen(i *instance) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reopenLocked(i, false)
}

// reopenLocked replaces i by an instance opened for writing or, if that fails and i
// cannot be used at all, for reading: then reads go on and writes are refused until
// there is space again. toWrite says that an instance for reading is not good enough.
//
// REQUIRES: e.mu.
func (e *Engine) reopenLocked(i *instance, toWrite bool) error {
	if e.closed {
		return kv.ErrClosed
	}
	if e.cur.Load() != i || (!i.failed.Load() && (!toWrite || !i.readOnly)) {
		return nil
	}
	now := e.opts.Clock()
	if !i.failed.Load() && now.Sub(e.reopenedAt) < reopenEvery {
		return nil // serves reads; try for writing again later
	}
	e.reopenedAt = now
	var next *instance
	err := e.probe()
	if err == nil {
		next, err = e.openInstance(false)
	}
	if err != nil {
		if !i.failed.Load() {
			return nil
		}
		var rerr error
		if next, rerr = e.openInstance(true); rerr != nil {
			return mapped(fmt.Sprintf("reopen %q", e.dir), errors.Join(err, rerr))
		}
	}
	e.opts.Logger.Warn("engine reopened its files", "folder", e.dir, "read_only", next.readOnly)
	next.epoch = e.epoch.Add(1)
	e.cur.Store(next)
	i.release()
	return nil
}
