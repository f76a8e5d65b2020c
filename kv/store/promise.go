package store

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// While a lease is held, the transaction that gets the next one would wait for nothing but
// the few numbers of the head that the holder is about to leave. If those are foreseeable
// (the holder has always added one to the same of them), the heir is promised them: its
// client reads the head, and works on in its own process, before the holder has committed.
//
// A promise is kept, whatever becomes of the holder:
//
//   - The heir reads nothing else before the promised row is there (Settle), and then reads
//     the state that its commit has left.
//   - While a promise is open, the sequencer refuses any other row with the promised key, as
//     if it were taken. Who is refused repeats its commit as after any lost race, and finds
//     the promise kept: see Refused.
//   - If the holder ends without a commit, or its bound has passed and more, a row as it was
//     promised is added by whoever needs it first: the heir, or a retry before it reads.
//
// So what a transaction was told is true when it commits. One that is rolled back, or whose
// client has gone, may have been told what never comes: its promise is dropped. A catalog has
// one open promise at most.

// Head is a row of the table that transactions race for: the values of Race.Columns.
type Head [4]int64

// Race says which rows transactions race for: those of the tables of a name, in whatever
// schema. The first of the columns is the unique key; all are integers of eight bytes.
type Race struct {
	Table   string
	Columns [4]string
}

// Forecast is what a session knows about a transaction that takes a lease.
type Forecast struct {
	// Schema is where the contended table is that the transaction is about to read the head of.
	// "": its statement cannot be answered with a promise.
	Schema string
	// Step is what its commit will add to the numbers of the head, if Steady.
	Step   Head
	Steady bool
}

// ErrPromiseOpen says that a promised row is not there and will not come by itself: the
// caller has to add it, see Txn.Promised and Txn.Fill, and settle again.
var ErrPromiseOpen = errors.New("store: a promised row is missing")

// errUnsettled is a defect of the caller: it reads although its transaction was promised a
// head and has not settled.
var errUnsettled = errors.New("store: the transaction has not settled its promise")

// promise is a head that somebody was told before it was there.
type promise struct {
	oid   uint32
	head  Head
	prior *turn         // whose commit should keep it
	moved chan struct{} // closed when the promise is kept or lost, or prior has ended without that

	// The rest is guarded by turns.mu.

	over bool  // moved is closed
	kept bool  // the row was committed
	lost bool  // the engine was reopened before that
	view *view // the state that the commit has left, until the heir takes it; it holds a reference
}

// move closes moved. REQUIRES: turns.mu.
func (p *promise) move() {
	if !p.over {
		p.over = true
		close(p.moved)
	}
}

// contest is what a transaction adds to the race.
type contest struct {
	ctx  context.Context // of the wait for the turn; nil: Contend was not called
	race *Race
	adds bool
	// oid and row are what it adds, if known: one row, of the form that the race expects. entry
	// is its key.
	oid   uint32
	row   Head
	entry *entry
	known bool
	// step is by how much the row exceeds the one before, if stepped.
	step    Head
	stepped bool
	refused bool // the last time, because of an open promise
}

// note notes an entry of the contended key; more says that it is not the first.
func (c *contest) note(t *Txn, tbl *rel.Table, e *entry, more bool) {
	if c.known = false; more || c.race == nil {
		return
	}
	c.entry = e
	rowid, err := rel.TrailingRowID(e.val)
	if err != nil {
		return
	}
	tup, ok, err := t.Get(tbl, rowid)
	if err != nil || !ok {
		return
	}
	c.oid = tbl.OID
	c.row, c.known = c.race.headOf(tbl, tup)
}

// contendAgain looks again at what t adds, after it was written in other words.
func (t *Txn) contendAgain() (err error) {
	if c := &t.contend; c.adds {
		c.adds, _, err = t.adds(c.race.Table)
	}
	return err
}

// forgetRows is for a commit of t: if it has changed the contended table otherwise than by
// adding a row, nobody knows what the newest one is until the next is added.
func (t *Txn) forgetRows() {
	g, c := t.cat.turns, &t.contend
	if c.race == nil || !t.TouchedPrefix(c.race.Table) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range t.deps {
		if d := &t.deps[i]; d.name == c.race.Table {
			if !t.entered || !c.known || d.oid != c.oid {
				delete(g.heads, d.oid)
			}
		}
	}
	t.Reshaped(func(before, _ *rel.Table) {
		if before != nil {
			delete(g.heads, before.OID)
		}
	})
}

// stepTo returns by how much a row exceeds the newest one, if it is the one after it.
//
// REQUIRES: g.mu.
func (g *turns) stepTo(oid uint32, row Head) (step Head, ok bool) {
	last, ok := g.heads[oid]
	if !ok || row[0] != last[0]+1 {
		return Head{}, false
	}
	for i := range row {
		step[i] = row[i] - last[i]
	}
	return step, true
}

// tell makes a promise to the first who waits for a lease, if there is one to make.
//
// REQUIRES: g.mu.
func (g *turns) tell() {
	if len(g.leases) == 0 || g.o.NoPromise || g.open != nil {
		return
	}
	u := g.leases[0]
	if u.told != nil || u.oid == 0 {
		return
	}
	head, ok := g.foresee(u.oid)
	if !ok {
		return
	}
	u.base = head
	u.told = &promise{oid: u.oid, head: head, prior: g.holder, moved: make(chan struct{})}
	g.open = u.told
	close(u.tell)
}

// foresee returns the row that the holder is about to leave in a table; ok is false if
// nobody knows, or somebody else comes first.
//
// REQUIRES: g.mu.
func (g *turns) foresee(oid uint32) (head Head, ok bool) {
	h := g.holder
	if h == nil || h.kind != TurnLease || h.oid != oid || !h.fore.Steady || h.committing {
		return head, false
	}
	if g.entered > 0 || len(g.retries) > 0 {
		return head, false
	}
	if head, ok = g.heads[oid]; !ok || head != h.base {
		return head, false // the holder has lost already
	}
	for i := range head {
		head[i] += h.fore.Step[i]
	}
	return head, true
}

// keep says that the open promise is kept by a commit that has left the state v, of which
// it takes over a reference.
//
// REQUIRES: g.mu.
func (g *turns) keep(v *view, by string) {
	p := g.open
	p.kept, p.view = true, v
	g.open = nil
	p.move()
	g.obs.HeadTold(g.catalog(), by)
}

// forget drops what u was promised, if its transaction ends without having asked for it.
// The state that it returns, if any, is to be released.
//
// REQUIRES: g.mu.
func (g *turns) forget(u *turn) (v *view) {
	p := u.told
	if p == nil {
		return nil
	}
	u.told = nil
	if g.open == p {
		g.open = nil
		g.obs.HeadTold(g.catalog(), "dropped")
	}
	v, p.view = p.view, nil
	return v
}

// passed notes that u is over without, or after, its commit. REQUIRES: g.mu.
func (g *turns) passed(u *turn) {
	if p := g.open; p != nil && p.prior == u {
		p.move()
	}
}

// mayAdd reports whether what a transaction adds leaves the place of a promised row free. Of
// rows that are not of the expected form nobody knows.
func (g *turns) mayAdd(c *contest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.open
	if p == nil {
		return true
	}
	return c.known && (p.oid != c.oid || p.head[0] != c.row[0] || p.head == c.row)
}

// awaited reports whether a row would keep the open promise.
func (g *turns) awaited(c *contest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open != nil && c.known && g.open.oid == c.oid && g.open.head == c.row
}

// forgetHeads is for an engine that was reopened: what was newest may be gone, and with it
// what the open promise follows.
func (g *turns) forgetHeads() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.heads)
	if p := g.open; p != nil {
		p.lost, g.open = true, nil
		p.move()
		g.obs.HeadTold(g.catalog(), "dropped")
	}
}

// Promised returns what the transaction was promised, and the oid of the table; ok is
// false if it was promised nothing or has settled.
func (t *Txn) Promised() (oid uint32, head Head, ok bool) {
	if t.told == nil {
		return 0, Head{}, false
	}
	return t.told.oid, t.told.head, true
}

// OpenPromise returns the promise that is not kept yet, if there is one.
func (c *Catalog) OpenPromise() (oid uint32, head Head, ok bool) {
	if _, _, ok := c.turns.openPromise(); !ok {
		return 0, Head{}, false
	}
	// The row may be written, and is published before seqMu is free.
	c.seqMu.Lock()
	defer c.seqMu.Unlock()
	return c.turns.openPromise()
}

func (g *turns) openPromise() (oid uint32, head Head, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		return 0, Head{}, false
	}
	return g.open.oid, g.open.head, true
}

// Refused reports, after Commit has failed, whether that was because of an open promise. It
// stays in the way until somebody fills it, which nobody else may be about to do.
func (t *Txn) Refused() bool { return t.contend.refused }

// patience is how long an heir waits for a holder that is still at work: long, since a row that
// it adds itself makes the holder lose. Whoever else commits meanwhile ends the wait as well.
func (o TurnOptions) patience() time.Duration { return o.Bound / 2 }

// Settle must be called before a transaction that was promised a head reads anything: it
// waits for its lease and for the promised row, and takes the view that its commit has
// left. ErrPromiseOpen says that the row does not come; ErrEngineRestarted of package kv,
// that nobody knows.
func (t *Txn) Settle(ctx context.Context) error {
	if t.told == nil {
		return nil
	}
	g, u, p := t.cat.turns, t.turn, t.told
	if err := g.await(ctx, u, false); err != nil {
		return err
	}
	late := time.NewTimer(g.o.patience())
	defer late.Stop()
	select {
	case <-p.moved:
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	v, err := g.redeem(u)
	if errors.Is(err, ErrPromiseOpen) {
		// The row may be written, and is published before seqMu is free.
		t.cat.seqMu.Lock()
		v, err = g.redeem(u)
		t.cat.seqMu.Unlock()
	}
	if err != nil {
		return err
	}
	t.told = nil
	t.setView(v)
	return nil
}

// redeem returns the state that u was promised, with its reference.
func (g *turns) redeem(u *turn) (*view, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := u.told
	switch {
	case p.lost:
		return nil, kv.ErrEngineRestarted
	case !p.kept:
		return nil, ErrPromiseOpen
	}
	v := p.view
	p.view, u.told = nil, nil
	return v, nil
}

// Fill makes t a transaction that adds a promised row in the place of those who should
// have: it reads the newest state, and nobody's turn is in its way.
func (t *Txn) Fill() { t.fills = true }

// Step reports, after Commit, by how much the row that t has added exceeds the one before.
func (t *Txn) Step() (step Head, ok bool) { return t.contend.step, t.contend.stepped }

// number returns a column of eight bytes.
func number(tbl *rel.Table, tup row.Tuple, column string) (int64, bool) {
	c, ok := tbl.Column(column)
	if !ok {
		return 0, false
	}
	v, null, ok := tup.Field(int(c.Num) - 1)
	if !ok || null || len(v) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(v)), true
}

// headOf reads a row of the contended table.
func (r *Race) headOf(tbl *rel.Table, tup row.Tuple) (h Head, ok bool) {
	for i, name := range r.Columns {
		if h[i], ok = number(tbl, tup, name); !ok {
			return Head{}, false
		}
	}
	return h, true
}
