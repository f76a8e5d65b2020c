package store

import (
	"slices"

	"github.com/eiderdb/eider/kv"
)

// view is one committed state of a catalog: an engine snapshot and the descriptors that
// belong to it. All transactions that begin between two commits share one view.
//
// The sequencer publishes a view before its commits are on stable storage, so that the
// next commit can build on it. Readers get the newest view that is stable; who holds the
// turn gets the newest.
type view struct {
	seq    uint64 // commit sequence number
	epoch  uint64 // the engine's epoch that seq is of
	schema *schema
	// landed is closed when the view is stable, or will never be: see lost. Nil: it was
	// stable when it was made, or no wait for stable storage was asked for.
	landed chan struct{}

	// The rest is guarded by Catalog.mu.

	snap kv.Snapshot // taken when first needed; nil: nobody reads this view
	refs int
	sync bool // its commits wait for stable storage
	lost bool // its commits did not reach stable storage

	prev, next *view // in the list of referenced views, while refs > 0
}

// viewList is the list of a catalog's referenced views, in no order.
//
// Guarded by Catalog.mu.
type viewList struct{ first *view }

func (l *viewList) add(v *view) {
	if v.next = l.first; v.next != nil {
		v.next.prev = v
	}
	l.first = v
}

func (l *viewList) remove(v *view) {
	if v.prev != nil {
		v.prev.next = v.next
	} else {
		l.first = v.next
	}
	if v.next != nil {
		v.next.prev = v.prev
	}
	v.prev, v.next = nil, nil
}

// acquire returns the newest view with a snapshot. Each acquire needs a release.
func (c *Catalog) acquire() (*view, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.acquireLocked(false)
}

// acquireStable is acquire of the newest view that is on stable storage.
func (c *Catalog) acquireStable() (*view, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.acquireLocked(true)
}

// acquireLocked REQUIRES: c.mu.
//
// Taking the snapshot here gives exactly the state of c.cur: while the sequencer writes,
// it holds a reference to the then current view, so that view has its snapshot already.
// So has the stable one unless it is the current one, see publish.
func (c *Catalog) acquireLocked(stable bool) (*view, error) {
	if c.dropped {
		return nil, ErrNoCatalog
	}
	for {
		epoch := c.store.engine.Epoch()
		if c.cur.epoch != epoch {
			if err := c.reloadLocked(); err != nil {
				return nil, err
			}
			continue
		}
		v := c.cur
		if stable {
			v = c.stable
		}
		if v.snap == nil {
			snap, err := c.store.engine.Snapshot()
			if err != nil {
				return nil, err
			}
			if c.store.engine.Epoch() != epoch {
				if err := snap.Close(); err != nil {
					return nil, err
				}
				continue
			}
			v.snap = snap
		}
		if v.refs == 0 {
			c.referenced.add(v)
		}
		v.refs++
		return v, nil
	}
}

// ref takes one more reference to a view that the caller already holds.
func (c *Catalog) ref(v *view) {
	c.mu.Lock()
	v.refs++
	c.mu.Unlock()
}

// release gives back one reference. The last one closes the snapshot: an idle catalog
// must not keep the engine from dropping overwritten data.
func (c *Catalog) release(v *view) {
	c.mu.Lock()
	snap := c.unref(v)
	c.mu.Unlock()
	c.closeSnapshot(snap)
}

// unref REQUIRES: c.mu. The snapshot it returns, if any, is to be closed.
func (c *Catalog) unref(v *view) kv.Snapshot {
	v.refs--
	if v.refs > 0 {
		return nil
	}
	c.referenced.remove(v)
	snap := v.snap
	v.snap = nil
	return snap
}

func (c *Catalog) closeSnapshot(snap kv.Snapshot) {
	if snap == nil {
		return
	}
	if err := snap.Close(); err != nil {
		c.store.opts.Logger.Warn("closing a snapshot", "catalog", c.Name(), "error", err)
	}
}

// publish makes the written group the newest view. One that others may not see before it
// is stable is kept in g.view, to be landed.
//
// While views are on their way, they and the stable one are referenced, except for the
// newest: that can still take its snapshot when it is needed, because the sequencer
// acquires it before it writes on.
//
// It returns false if somebody has found the engine reopened meanwhile: nobody knows yet
// whether the group is there.
func (c *Catalog) publish(g *group, seq uint64, markOID uint32, markID uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markOID, c.markID = markOID, markID
	for storage := range g.touched {
		c.lastMod[storage] = seq
	}
	for _, storage := range g.dropped {
		delete(c.lastMod, storage)
		c.counters.drop(storage)
	}
	if c.cur != g.base {
		// A reader has found the engine reopened and loaded a view meanwhile. The group was
		// written before that or not at all: settle tells.
		return false
	}
	v := &view{seq: seq, epoch: g.base.epoch, schema: g.next, sync: g.sync}
	c.cur = v
	c.followTrails(g, seq)
	c.newest.Store(seq)
	if !g.sync && len(c.flying) == 0 {
		c.setStable(v)
		return true
	}
	v.landed = make(chan struct{})
	g.base.refs++ // it is the stable one, or on its way itself
	c.flying = append(c.flying, v)
	g.view = v
	return true
}

// setStable REQUIRES: c.mu.
func (c *Catalog) setStable(v *view) {
	c.stable = v
	c.readable.Store(v.seq)
}

// land makes a view that has reached stable storage, and with it all before it, what
// readers get.
func (c *Catalog) land(v *view) {
	c.mu.Lock()
	n := 0
	for i, f := range c.flying {
		if f == v {
			n = i + 1
		}
	}
	if n == 0 {
		c.mu.Unlock()
		return // a later one has landed, or the engine was reopened
	}
	for n < len(c.flying) && !c.flying[n].sync {
		n++
	}
	first := c.unref(c.stable)
	var more []kv.Snapshot
	for i, f := range c.flying[:n] {
		close(f.landed)
		if i < n-1 {
			more = append(more, c.unref(f))
		}
	}
	c.setStable(c.flying[n-1]) // referenced still, unless it is the newest
	c.flying = slices.Delete(c.flying, 0, n)
	c.mu.Unlock()
	c.closeSnapshot(first)
	for _, s := range more {
		c.closeSnapshot(s)
	}
}

// ground ends the flight of all views after the engine was reopened: those up to the
// commit number kept are stable, the others are lost.
//
// REQUIRES: c.mu. The snapshots it returns are to be closed.
func (c *Catalog) ground(kept uint64) (snaps []kv.Snapshot) {
	if len(c.flying) == 0 {
		return nil
	}
	snaps = append(snaps, c.unref(c.stable))
	for _, v := range c.flying {
		v.lost = v.seq > kept
		close(v.landed)
		if v != c.cur {
			snaps = append(snaps, c.unref(v))
		}
	}
	c.flying = nil
	return snaps
}
