package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// FirstOID is the first oid given to objects of a catalog; PublicOID is the oid of the
// schema "public" that a new catalog has, as in PostgreSQL.
const (
	FirstOID  = 16384
	PublicOID = 2200
)

// idBlock is by how much the persisted marks run ahead of the counters.
const idBlock = 1024

// keptEpochs is for how many ended epochs of the engine a catalog remembers which of its
// commits stayed. Transactions older than that cannot commit.
const keptEpochs = 64

// Catalog is one database: its descriptors, rows and sequencer.
type Catalog struct {
	store  *Store
	id     uint32
	oid    uint32
	prefix []byte // of all keys
	rows   []byte // of row and index keys

	name atomic.Pointer[string]

	nextOID atomic.Uint32 // next oid to give out
	nextID  atomic.Uint64 // next storage or version number to give out
	// newest is cur.seq, readable without mu: whether a view is still the newest.
	newest atomic.Uint64
	// readable is stable.seq.
	readable atomic.Uint64
	counters rowCounters

	// seqMu is held while a group is checked and written, and by DropCatalog. It comes
	// before mu.
	seqMu sync.Mutex

	mu     sync.Mutex
	cur    *view   // guarded by mu: the newest
	stable *view   // guarded by mu: the newest that readers may see
	flying []*view // guarded by mu: those after stable, oldest first
	// referenced are the views that something reads, or may be about to.
	referenced viewList          // guarded by mu
	epoch      uint64            // guarded by mu: the engine's, when the catalog was last loaded
	base       uint64            // guarded by mu: the commit number it had then
	kept       map[uint64]uint64 // guarded by mu: by epoch that has ended, the last commit that stayed
	dropped    bool              // guarded by mu
	lastMod    map[uint64]uint64 // guarded by mu: storage → seq of the last commit that changed its rows
	markOID    uint32            // guarded by mu: persisted mark, see metaOID
	markID     uint64            // guarded by mu

	queue commitQueue
	turns *turns

	followed atomic.Pointer[following] // set under seqMu
	trails   atomic.Pointer[[]*Trail]  // replaced under mu, and under seqMu too when it grows
}

// Name returns the catalog's present name.
func (c *Catalog) Name() string { return *c.name.Load() }

// OID returns the catalog's oid, pg_database.oid.
func (c *Catalog) OID() uint32 { return c.oid }

// Seq returns the number of the last commit.
func (c *Catalog) Seq() uint64 { return c.newest.Load() }

// setDropped makes the catalog give out no more views, or give them out again.
func (c *Catalog) setDropped(is bool) {
	c.mu.Lock()
	c.dropped = is
	c.mu.Unlock()
}

func newCatalog(s *Store, id, oid uint32, name string) *Catalog {
	c := &Catalog{store: s, id: id, oid: oid, prefix: catalogPrefix(id), lastMod: make(map[uint64]uint64), kept: make(map[uint64]uint64)}
	c.rows = join(c.prefix, kindRows)
	c.name.Store(&name)
	c.turns = newTurns(s.opts.Turns, s.opts.Clock, s.opts.turnObserver, c.Name)
	return c
}

// load reads the catalog's descriptors and counters.
func (c *Catalog) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cur != nil {
		return nil
	}
	return c.reloadLocked()
}

// reloadLocked makes what the engine holds the newest view. Besides opening, it is
// needed after the engine reopened its files: commits may be gone. Counters only grow,
// because ids above the persisted marks may be in transactions that are open.
//
// REQUIRES: c.mu.
func (c *Catalog) reloadLocked() error {
	// The epoch comes first: if the engine reopens in between, the view counts as old at once.
	epoch := c.store.engine.Epoch()
	snap, err := c.store.engine.Snapshot()
	if err != nil {
		return err
	}
	v, oid, id, err := readCatalog(snap, c.prefix)
	if cerr := snap.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("store: load catalog %q: %w", c.Name(), err)
	}
	v.epoch = epoch
	c.markOID, c.markID = oid, id
	c.nextOID.Store(max(c.nextOID.Load(), oid))
	c.nextID.Store(max(c.nextID.Load(), id))
	if c.cur != nil {
		c.turns.forgetHeads()
		// What of the last epoch is on disk is settled now: its instance writes no more.
		kept := max(v.seq, c.base)
		c.kept[c.epoch] = kept
		delete(c.kept, c.epoch-keptEpochs)
		for _, snap := range c.ground(kept) {
			c.closeSnapshot(snap)
		}
		// Sequence numbers must not repeat within a process: an open transaction compares
		// them to see whether anything was committed after it began.
		v.seq = max(v.seq, c.cur.seq) + 1
		clear(c.lastMod)
		for _, old := range c.cur.schema.tables.Items() {
			c.lastMod[old.t.Storage] = v.seq
		}
		c.loseTrails(v.seq)
	}
	c.cur = v
	c.epoch, c.base = epoch, v.seq
	c.newest.Store(v.seq)
	c.setStable(v)
	return nil
}

func readCatalog(r kv.Reader, prefix []byte) (v *view, oid uint32, id uint64, err error) {
	v = &view{schema: newSchema()}
	meta := func(key byte, size int) (uint64, error) {
		b, err := r.Get(join(prefix, kindMeta, key))
		if errors.Is(err, kv.ErrNotFound) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if len(b) != size {
			return 0, fmt.Errorf("meta %q: %w", key, kv.ErrCorrupt)
		}
		return binary.BigEndian.Uint64(append(make([]byte, 8-size, 8), b...)), nil
	}
	if v.seq, err = meta(metaSeq, 8); err != nil {
		return nil, 0, 0, err
	}
	o, err := meta(metaOID, 4)
	if err != nil {
		return nil, 0, 0, err
	}
	if id, err = meta(metaID, 8); err != nil {
		return nil, 0, 0, err
	}
	oid = max(uint32(o), FirstOID)
	id = max(id, 1)

	err = scanRange(r, join(prefix, kindDescriptor, descSchema), func(_, val []byte) error {
		s, err := rel.DecodeSchema(val)
		if err == nil {
			v.schema.addSchema(s)
		}
		return err
	})
	if err != nil {
		return nil, 0, 0, err
	}
	err = scanRange(r, join(prefix, kindGhost), func(key, val []byte) error {
		t, err := rel.DecodeGhost(val)
		if err != nil {
			return err
		}
		if len(key) < 8 {
			return kv.ErrCorrupt
		}
		v.schema.putGhost(ghostEntry{t.Schema, t.Name, binary.BigEndian.Uint64(key[len(key)-8:]), t})
		return nil
	})
	if err != nil {
		return nil, 0, 0, err
	}
	err = scanRange(r, join(prefix, kindDescriptor, descTable), func(_, val []byte) error {
		t, err := rel.DecodeTable(val)
		if err == nil {
			v.schema.add(t)
		}
		return err
	})
	if err != nil {
		return nil, 0, 0, err
	}
	return v, oid, id, nil
}

// scanRange calls f for every key with the given prefix; the slices are valid during the call.
func scanRange(r kv.Reader, prefix []byte, f func(key, val []byte) error) (err error) {
	it, err := r.Iter(kv.IterOptions{Lower: prefix, Upper: kv.PrefixEnd(prefix)})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return fmt.Errorf("key %x: %w", it.Key(), err)
		}
	}
	return it.Err()
}

// Engine returns the engine that the catalog is in, for metrics and tools.
func (c *Catalog) Engine() kv.Engine { return c.store.engine }
