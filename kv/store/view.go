package store

import (
	"github.com/eiderdb/eider/kv"
)

// view is one committed state of a catalog: an engine snapshot and the descriptors that
// belong to it. All transactions that begin between two commits share one view.
type view struct {
	seq    uint64 // commit sequence number
	epoch  uint64 // the engine's epoch that seq is of
	schema *schema

	// The rest is guarded by Catalog.mu.

	snap kv.Snapshot // taken when first needed; nil: nobody reads this view
	refs int
}

// acquire returns the newest view with a snapshot. Each acquire needs a release.
func (c *Catalog) acquire() (*view, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.acquireLocked()
}

// acquireLocked REQUIRES: c.mu.
//
// Taking the snapshot here gives exactly the state of c.cur: while the sequencer writes,
// it holds a reference to the then current view, so that view has its snapshot already.
func (c *Catalog) acquireLocked() (*view, error) {
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
	v.refs--
	var snap kv.Snapshot
	if v.refs == 0 {
		snap, v.snap = v.snap, nil
	}
	c.mu.Unlock()
	if snap != nil {
		if err := snap.Close(); err != nil {
			c.store.opts.Logger.Warn("closing a snapshot", "catalog", c.Name(), "error", err)
		}
	}
}
