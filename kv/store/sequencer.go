package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// The sequencer of a catalog gives its transactions an order. Committing goroutines line
// up; the first becomes the leader, takes all that wait, checks each against the newest
// state as the ones before it in the group leave it, and writes the survivors as one
// batch. Those who arrive meanwhile form the next group, whose leader is the first of
// them: so one sync serves everybody who waited for the one before.

type commitQueue struct {
	mu      sync.Mutex
	waiting []*commitRequest // guarded by mu
	leading bool             // guarded by mu: somebody is the leader or is being made one
}

type commitRequest struct {
	t    *Txn
	wake chan struct{} // closed when err is set, or lead
	lead bool          // written before wake is closed, under queue.mu
	err  error
}

// commit passes t through the sequencer.
func (c *Catalog) commit(ctx context.Context, t *Txn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &commitRequest{t: t, wake: make(chan struct{})}
	q := &c.queue
	q.mu.Lock()
	q.waiting = append(q.waiting, r)
	lead := !q.leading
	q.leading = true
	q.mu.Unlock()
	if !lead {
		select {
		case <-r.wake:
		case <-ctx.Done():
			if q.withdraw(r) {
				return ctx.Err()
			}
			<-r.wake // it is in a group, or has become the leader
		}
		if !r.lead {
			return r.err
		}
	}
	c.lead(r, q.take(c.store.opts.MaxGroup, c.store.opts.MaxGroupBytes))
	return r.err
}

// lead writes a group of commits, of which r is the leader's own. The next group is
// written while this one waits for stable storage.
func (c *Catalog) lead(r *commitRequest, group []*commitRequest) {
	decided, handed := false, false
	// Also after a panic: nobody may wait for ever or take silence for success.
	defer func() {
		if !handed {
			c.queue.handOver()
		}
		for _, m := range group {
			if !decided {
				m.err = kv.ErrUnknownOutcome
			}
			if m != r {
				close(m.wake)
			}
		}
	}()
	f, err := c.writeGroup(group)
	if errors.Is(err, kv.ErrEngineRestarted) {
		// Nothing was written. What the members assume is checked again, in what there is now.
		if f, err = c.writeGroup(group); errors.Is(err, kv.ErrEngineRestarted) {
			for _, m := range group {
				m.err = err
			}
		}
	}
	c.queue.handOver()
	handed = true
	if f != nil {
		defer f.close()
		c.finish(f, err)
	}
	decided = true
}

// close gives back what the group holds.
func (f *flight) close() {
	c := f.g.c
	f.g.notes.settle(noteDropped, nil) // unless it was kept
	if err := f.g.batch.Close(); err != nil {
		c.store.opts.Logger.Warn("closing a batch", "catalog", c.Name(), "error", err)
	}
}

// withdraw takes r out of the queue and reports whether it was still waiting there.
func (q *commitQueue) withdraw(r *commitRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.lead {
		return false
	}
	i := slices.Index(q.waiting, r)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// take removes the next group from the queue: at least one request.
func (q *commitQueue) take(maxGroup int, maxBytes int64) []*commitRequest {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, int64(0)
	for n < len(q.waiting) && n < maxGroup {
		size += q.waiting[n].t.main.ov.bytes
		if n > 0 && size > maxBytes {
			break
		}
		n++
	}
	group := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group
}

// handOver makes the first waiting request the leader.
func (q *commitQueue) handOver() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.leading = false
		return
	}
	next := q.waiting[0]
	next.lead = true
	close(next.wake)
}

// group is the state of one group while it is checked.
type group struct {
	c     *Catalog
	base  *view   // newest committed view
	next  *schema // descriptors after the members accepted so far
	batch kv.Batch
	// written has the checked entries of accepted members, by key. It is filled only when
	// the group has more members to come.
	written map[string]*entry
	touched map[uint64]bool // storages that accepted members wrote rows of
	dropped []uint64        // storages that accepted members emptied
	trail   []trailRow      // rows that trails ask for
	sync    bool
	hurried bool // a member is not in the background
	n       int  // accepted members
	broken  error
	view    *view // what it became, if others may not see it before it is stable
	notes   *groupNotes
}

// writeGroup decides on every member and writes the accepted ones: it sets each err, and
// returns a flight, to be finished with the error, unless there is nothing to wait for.
func (c *Catalog) writeGroup(members []*commitRequest) (_ *flight, err error) {
	c.seqMu.Lock()
	defer c.seqMu.Unlock()
	fail := func(err error) {
		for _, m := range members {
			if m.err == nil {
				m.err = err
			}
		}
	}
	base, err := c.acquire() // pins the view's snapshot, see acquireLocked
	if err != nil {
		fail(err)
		return nil, err
	}
	defer c.release(base)
	g := &group{
		c: c, base: base, next: base.schema, batch: c.store.engine.NewBatch(),
		touched: make(map[uint64]bool),
	}
	f := &flight{g: g, members: members, seq: base.seq + 1}
	written := false
	defer func() {
		if !written {
			f.close()
		}
	}()
	if len(members) > 1 {
		g.written = make(map[string]*entry)
	}
	for _, m := range members {
		if m.err = g.accept(m.t); m.err != nil {
			c.observeConflict(m.err)
			if g.broken != nil {
				fail(g.broken)
				return nil, g.broken
			}
		}
	}
	f.refused = len(members) - g.n
	if g.n == 0 {
		c.store.opts.Observer.CommitGroup(c.Name(), 0, f.refused, 0, false, 0)
		return nil, nil
	}
	markOID, markID, err := g.seal(f.seq)
	if err != nil {
		fail(err)
		return nil, err
	}
	if !g.hurried {
		g.batch.Background()
	}
	f.size, f.start = g.batch.Len(), c.store.opts.Clock()
	g.notes.enqueue()
	f.wait, err = c.applyGroup(g)
	if errors.Is(err, kv.ErrEngineRestarted) {
		return nil, err
	}
	written = true // or perhaps
	if err == nil {
		leaveTurns(members, c.publish(g, f.seq, markOID, markID))
	}
	return f, err
}

// flight is a group that others can build on, and that may not be on stable storage yet.
type flight struct {
	g             *group
	members       []*commitRequest
	seq           uint64
	refused, size int
	start         time.Time
	wait          func() error
}

// finish waits until the group is on stable storage and settles what becomes of its
// members: err is what applying it returned.
func (c *Catalog) finish(f *flight, err error) {
	if err == nil {
		err = f.wait()
	}
	if errors.Is(err, kv.ErrUnknownOutcome) {
		err = c.settle(f.seq, f.g.base.epoch, err)
	}
	took := c.store.opts.Clock().Sub(f.start)
	if err != nil {
		for _, m := range f.members {
			if m.err == nil {
				m.err = err
			}
		}
		c.store.opts.Observer.CommitGroup(c.Name(), 0, len(f.members), 0, f.g.sync, took)
		return
	}
	if f.g.view != nil && f.g.sync {
		c.land(f.g.view)
	}
	f.g.notes.settle(noteKept, f.g.view)
	c.store.opts.Observer.CommitGroup(c.Name(), f.g.n, f.refused, f.size, f.g.sync, took)
}

// leaveTurns gives back the turns of a published group. Refused members do it themselves,
// when they give up. What was not seen to be published keeps no promise.
func leaveTurns(members []*commitRequest, published bool) {
	for _, m := range members {
		if m.err == nil {
			m.t.contend.known = m.t.contend.known && published
			m.t.leaveTurn(true)
		}
	}
}

// applyGroup writes a group's batch, which is self-contained: whatever is to carry
// commits elsewhere takes batch.Repr here.
func (c *Catalog) applyGroup(g *group) (wait func() error, err error) {
	return c.store.engine.ApplyAsync(g.batch, g.sync, g.base.epoch)
}

// seal appends to the batch what every group carries: the commit number and the marks
// that keep ids from being given out again after a restart.
func (g *group) seal(seq uint64) (markOID uint32, markID uint64, err error) {
	c := g.c
	c.mu.Lock()
	markOID, markID = c.markOID, c.markID
	c.mu.Unlock()
	if n := c.nextOID.Load(); n > markOID {
		markOID = n + idBlock
		if err := g.batch.Set(join(c.prefix, kindMeta, metaOID), binary.BigEndian.AppendUint32(nil, markOID)); err != nil {
			return 0, 0, err
		}
	}
	if n := c.nextID.Load(); n > markID {
		markID = n + idBlock
		if err := g.batch.Set(join(c.prefix, kindMeta, metaID), binary.BigEndian.AppendUint64(nil, markID)); err != nil {
			return 0, 0, err
		}
	}
	return markOID, markID, g.batch.Set(join(c.prefix, kindMeta, metaSeq), binary.BigEndian.AppendUint64(nil, seq))
}

// settle finds out whether the group numbered seq, written in an epoch of the engine that
// has ended, is on disk.
func (c *Catalog) settle(seq, epoch uint64, cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch == epoch {
		if err := c.reloadLocked(); err != nil {
			return errors.Join(kv.ErrUnknownOutcome, err)
		}
	}
	kept, ok := c.kept[epoch]
	switch {
	case !ok:
		return kv.ErrUnknownOutcome
	case seq <= kept:
		return nil
	case errors.Is(cause, kv.ErrDiskFull):
		return fmt.Errorf("store: commit was not written: %w", kv.ErrDiskFull)
	}
	return fmt.Errorf("store: commit was not written: %w", kv.ErrIO)
}

// isLost reports whether a view shows commits that the engine lost when it was reopened.
func (c *Catalog) isLost(v *view) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.epoch == c.epoch {
		return false
	}
	kept, ok := c.kept[v.epoch]
	return !ok || v.seq > kept
}

// accept checks a member and, if it stands, adds its writes to the batch.
func (g *group) accept(t *Txn) error {
	if t.view.epoch != g.base.epoch {
		// It may have seen commits that are gone, and would bring back what follows from them.
		if err := t.mayMove(); err != nil {
			return err
		}
	}
	if err := g.checkTables(t); err != nil {
		return err
	}
	if g.n > 0 || t.firstSeq != g.base.seq {
		if err := g.checkEntries(t); err != nil {
			return err
		}
	}
	if c := &t.contend; c.adds {
		if c.refused = !g.c.turns.mayAdd(c); c.refused {
			return t.violationAt(c.entry)
		}
	}
	next, err := g.checkDescriptors(t)
	if err != nil {
		return err
	}
	// From here on nothing may fail but the batch itself, which then is unusable.
	if err := g.add(t, next); err != nil {
		g.broken = err
		return err
	}
	g.n++
	g.note(t)
	g.sync = g.sync || t.opts.Sync
	g.hurried = g.hurried || !t.opts.Background
	return nil
}

// checkTables verifies that the tables written to are still what they were.
func (g *group) checkTables(t *Txn) error {
	for i := range t.deps {
		d := &t.deps[i]
		if _, ok := t.main.ddl.Get(ddlEntry{kind: descTable, oid: d.oid}); ok || t.main.made[d.storage] {
			continue // checkDescriptors looks at it
		}
		cur, ok := g.next.table(d.oid)
		if !ok {
			return &SerializationError{Deleted: true, Table: d.name, Schema: true}
		}
		if cur.Version != d.version {
			return &SerializationError{Table: d.name, Schema: true}
		}
	}
	if len(t.stays) == 0 {
		return nil
	}
	g.c.mu.Lock()
	defer g.c.mu.Unlock()
	for i := range t.stays {
		if d := &t.stays[i]; g.moved(d) {
			return &SerializationError{Table: d.name, held: d.held}
		}
	}
	return nil
}

// checkEntries verifies what the member's writes assume about rows and unique keys.
func (g *group) checkEntries(t *Txn) error {
	changed := g.c.changedUnder(t, g.touched)
	if len(changed) == 0 {
		return nil
	}
	var err error
	t.main.ov.tree.Scan(func(e *entry) bool {
		if e.check == checkNone || !slices.Contains(changed, e.tbl.Storage) {
			return true
		}
		err = g.checkEntry(t, e)
		return err == nil
	})
	return err
}

func (g *group) checkEntry(t *Txn, e *entry) error {
	if w, ok := g.written[string(e.key)]; ok {
		switch {
		case e.check == checkFree && w.del:
			return nil
		case e.check == checkFree:
			return t.violationAt(e)
		}
		moved := false
		if w.del && e.check == checkRow && len(e.tbl.Layout) > 0 {
			moved = g.movedInGroup(e)
		}
		if w.del && e.del && !moved && e.check == checkRow && goneIsGone(e.tbl) {
			return nil
		}
		return &SerializationError{Table: e.tbl.Name, Deleted: w.del && !moved}
	}
	engine := g.c.store.engine
	switch e.check {
	case checkRow:
		rowid, err := rel.TrailingRowID(e.key)
		if err != nil {
			return err
		}
		return t.checkRow(engine, e, rowid)
	case checkFree:
		ok, err := engine.Has(e.key)
		if err != nil {
			return err
		}
		if ok {
			return t.violationAt(e)
		}
	case checkOwned:
		v, err := engine.AppendGet(t.valueBuf[:0], e.key)
		if errors.Is(err, kv.ErrNotFound) {
			return &SerializationError{Table: e.tbl.Name, Deleted: true}
		}
		if err != nil {
			return err
		}
		t.valueBuf = v[:0]
		if !bytes.Equal(v, e.exp) {
			return &SerializationError{Table: e.tbl.Name}
		}
	}
	return nil
}

// movedInGroup reports whether an earlier member gave the row another layout key rather
// than deleting it.
func (g *group) movedInGroup(e *entry) bool {
	rowid, err := rel.TrailingRowID(e.key)
	if err != nil {
		return false
	}
	w, ok := g.written[string(rel.AppendLocator(join(g.c.rows), e.tbl, rowid))]
	return ok && !w.del
}

// violationAt makes the error for an entry whose unique key has been taken meanwhile.
func (t *Txn) violationAt(e *entry) error {
	rowid, err := rel.TrailingRowID(e.val)
	if err != nil {
		return t.violation(e.tbl, e.idx, nil, 0, false)
	}
	tup, ok, err := t.Get(e.tbl, rowid)
	if err != nil || !ok {
		return t.violation(e.tbl, e.idx, nil, 0, false)
	}
	return t.violation(e.tbl, e.idx, tup, 0, false)
}

// checkDescriptors verifies the member's descriptor changes and returns the descriptors
// with them applied.
func (g *group) checkDescriptors(t *Txn) (next *schema, err error) {
	ddl := t.main.ddl
	if ddl.Len() == 0 {
		return g.next, nil
	}
	next = g.next.copy()
	ddl.Scan(func(e ddlEntry) bool {
		err = removeOld(next, e)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	ddl.Scan(func(e ddlEntry) bool {
		err = addNew(next, e)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	ddl.Scan(func(e ddlEntry) bool {
		if e.kind == descSchema && e.schemaAfter == nil && !next.empty(e.oid) {
			err = &SerializationError{Table: e.schemaBefore.Name, Schema: true}
		}
		if e.kind == descTable && e.after != nil {
			if _, ok := next.schema(e.after.Schema); !ok {
				err = &SerializationError{Table: e.after.Name, Schema: true, Deleted: true}
			}
		}
		return err == nil
	})
	return next, err
}

func removeOld(s *schema, e ddlEntry) error {
	if e.base == 0 {
		return nil
	}
	if e.kind == descTable {
		cur, ok := s.table(e.oid)
		if !ok {
			if e.after == nil && leavesGhost(e.before) {
				return nil // see goneIsGone
			}
			return &SerializationError{Table: e.before.Name, Schema: true, Deleted: true}
		}
		if cur.Version != e.base {
			return &SerializationError{Table: e.before.Name, Schema: true}
		}
		s.remove(cur)
		return nil
	}
	cur, ok := s.schema(e.oid)
	if !ok {
		return &SerializationError{Table: e.schemaBefore.Name, Schema: true, Deleted: true}
	}
	if cur.Version != e.base {
		return &SerializationError{Table: e.schemaBefore.Name, Schema: true}
	}
	s.removeSchema(cur)
	return nil
}

// addNew enters a new descriptor. A name that somebody else has taken meanwhile is a
// violation of the system catalog's unique index, as in PostgreSQL.
func addNew(s *schema, e ddlEntry) error {
	switch {
	case e.after != nil:
		if _, _, ok := s.taken(e.after); ok {
			return &UniqueViolation{Table: "pg_class", Index: "pg_class_relname_nsp_index", Names: []string{"relname", "relnamespace"}}
		}
		s.add(e.after)
	case e.schemaAfter != nil:
		_, name := s.schemaByName(e.schemaAfter.Name)
		_, oid := s.schema(e.oid)
		if name || oid {
			return &UniqueViolation{Table: "pg_namespace", Index: "pg_namespace_nspname_index", Names: []string{"nspname"}}
		}
		s.addSchema(e.schemaAfter)
	}
	return nil
}

// add appends an accepted member's writes to the batch.
func (g *group) add(t *Txn, next *schema) error {
	if err := t.main.writeTo(g.batch); err != nil {
		return err
	}
	if err := g.addDescriptors(t, next); err != nil {
		return err
	}
	g.next = next
	g.leave(t)
	for i := range t.deps {
		g.touched[t.deps[i].storage] = true
	}
	for _, storage := range t.main.wiped {
		g.touched[storage] = true
		g.dropped = append(g.dropped, storage)
	}
	if g.written != nil {
		t.main.ov.tree.Scan(func(e *entry) bool {
			if e.check != checkNone || len(e.tbl.Layout) > 0 {
				g.written[string(e.key)] = e
			}
			return true
		})
	}
	return nil
}

func (g *group) addDescriptors(t *Txn, next *schema) (err error) {
	b, prefix := g.batch, g.c.prefix
	t.main.ddl.Scan(func(e ddlEntry) bool {
		var val []byte
		switch {
		case e.kind == descTable && e.after == nil:
			err = errors.Join(b.Delete(tableKey(prefix, e.oid)), g.addGhost(e.before, next))
		case e.kind == descTable:
			if val, err = rel.EncodeTable(e.after); err == nil {
				err = b.Set(tableKey(prefix, e.oid), val)
			}
			if old, ok := g.next.ghosts.Get(ghostEntry{schema: e.after.Schema, name: e.after.Name}); ok && err == nil {
				err = b.Delete(ghostKey(prefix, old.n))
			}
		case e.schemaAfter == nil:
			err = b.Delete(schemaKey(prefix, e.oid))
		default:
			if val, err = rel.EncodeSchema(e.schemaAfter); err == nil {
				err = b.Set(schemaKey(prefix, e.oid), val)
			}
		}
		return err == nil
	})
	return err
}

// addGhost keeps the descriptor of a dropped inlined table.
func (g *group) addGhost(tbl *rel.Table, next *schema) error {
	if !leavesGhost(tbl) {
		return nil
	}
	if _, ok := next.relation(tbl.Schema, tbl.Name); ok {
		return nil // the name is in use again
	}
	added, gone := next.addGhost(tbl, g.c.store.opts.MaxGhosts)
	val, err := rel.EncodeGhost(added.t)
	if err != nil {
		return err
	}
	for _, e := range gone {
		if err := g.batch.Delete(ghostKey(g.c.prefix, e.n)); err != nil {
			return err
		}
	}
	return g.batch.Set(ghostKey(g.c.prefix, added.n), val)
}

func (c *Catalog) observeConflict(err error) {
	var se *SerializationError
	switch {
	case errors.Is(err, ErrUnique):
		c.store.opts.Observer.Conflict(c.Name(), "unique")
	case errors.As(err, &se) && se.Schema:
		c.store.opts.Observer.Conflict(c.Name(), "schema")
	case errors.As(err, &se):
		c.store.opts.Observer.Conflict(c.Name(), "row")
	}
}
