package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Transactions of DuckLake race for the next snapshot id: whoever commits first makes all
// others that have read the same head do their work again. The turns of a catalog order
// them. At most one transaction holds the turn, in one of two ways:
//
//   - A retry holds it from before its first read until it ends. Others' commits wait
//     meanwhile, so it cannot lose again.
//   - A lease is for a first attempt while losses are frequent. It holds back other leases
//     and retries: those who would wait for a lease read the head after the holder has
//     committed, and win as well. Others' commits wait for it only while its head is promised.
//
// Nobody waits for ever: a holder that exceeds its bound while somebody waits loses the
// turn, and every wait has an end of its own. A turn is an optimization. What may be
// committed is decided by the sequencer alone.

// TurnOptions configure the turns of a store's catalogs. The zero value has the defaults.
type TurnOptions struct {
	// Off turns turns off: nobody waits for anybody.
	Off bool
	// NoPacing turns off leases for first attempts.
	NoPacing bool
	// NoPromise turns off promises of heads: the heir of a lease waits for the holder's commit.
	NoPromise bool
	// Bound is how long a retry may hold the turn while others wait for it. Default 2 s.
	Bound time.Duration
	// Lease is how long a first attempt may hold the turn at most while others wait for it:
	// as a rule four times what commits took lately. Default 100 ms.
	Lease time.Duration
	// Storm is how long after a loss first attempts are paced. Default 5 s.
	Storm time.Duration
}

// The defaults of TurnOptions.
const (
	DefaultTurnBound = 2 * time.Second
	DefaultTurnLease = 100 * time.Millisecond
	DefaultTurnStorm = 5 * time.Second
)

// leastLease is the shortest bound of a lease: below it a busy machine alone would exceed
// it. firstLease is the bound while it is not known how long commits take.
const (
	leastLease = 10 * time.Millisecond
	firstLease = 25 * time.Millisecond
)

// maxTurnWait is for how many bounds a transaction waits for a turn before it goes without.
const maxTurnWait = 5

func (o TurnOptions) withDefaults() TurnOptions {
	if o.Bound <= 0 {
		o.Bound = DefaultTurnBound
	}
	if o.Lease <= 0 {
		o.Lease = DefaultTurnLease
	}
	if o.Storm <= 0 {
		o.Storm = DefaultTurnStorm
	}
	return o
}

// TurnKind says what somebody waits for, or holds.
type TurnKind string

// The kinds of turns.
const (
	TurnRetry  TurnKind = "retry"  // the turn of a transaction that lost before
	TurnLease  TurnKind = "lease"  // the turn of a first attempt
	TurnCommit TurnKind = "commit" // a commit that lets the holder of a turn go first
)

// TurnObserver is what an Observer may also be: it is told about turns.
type TurnObserver interface {
	// TurnWait reports how long a transaction waited. Those that did not wait are not reported.
	TurnWait(catalog string, kind TurnKind, waited time.Duration)
	// TurnHeld reports that a turn was taken (+1) or given back (-1).
	TurnHeld(catalog string, kind TurnKind, change int)
	// TurnOverrun reports a holder that lost its turn because its bound had passed.
	TurnOverrun(catalog string, kind TurnKind)
	// CommitAttempt reports the end of an attempt to commit a snapshot: "committed", or
	// what it lost: "snapshot", "row", "schema".
	CommitAttempt(catalog, outcome string)
	// HeadTold reports what became of a head that was promised: "kept" by a commit, "filled"
	// by the server with a snapshot that changes nothing, "dropped" because who was promised
	// it rolled back or went, or the engine was reopened.
	HeadTold(catalog, outcome string)
}

func (noObserver) TurnWait(string, TurnKind, time.Duration) {}
func (noObserver) TurnHeld(string, TurnKind, int)           {}
func (noObserver) TurnOverrun(string, TurnKind)             {}
func (noObserver) CommitAttempt(string, string)             {}
func (noObserver) HeadTold(string, string)                  {}

// turn is one transaction's place in the order.
type turn struct {
	kind  TurnKind
	ready chan struct{} // closed when the turn is granted; nil: it was free
	tell  chan struct{} // closed when told is set; nil: it is not to be told
	oid   uint32        // the contended table that its transaction reads the head of; 0: unknown
	fore  Forecast

	// The rest is guarded by turns.mu.

	state      turnState
	since      time.Time // when it was granted
	committing bool      // the holder is in the sequencer: its bound does not count
	overran    bool
	told       *promise // until its transaction has settled
	base       Head     // the newest row of the contended table that its transaction knows
}

type turnState uint8

const (
	turnWaiting turnState = iota
	turnHeld
	turnOver
)

// commitWait is a commit that lets the holder go first.
type commitWait struct {
	ready  chan struct{} // closed when entered is set
	passed bool          // guarded by turns.mu: it counts in turns.entered
}

// turns is the order of one catalog.
type turns struct {
	o       TurnOptions
	clock   func() time.Time
	obs     TurnObserver
	catalog func() string

	storm atomic.Int64 // until when first attempts are paced, in Unix nanoseconds

	mu      sync.Mutex
	holder  *turn           // guarded by mu
	entered int             // guarded by mu: commits that are in the sequencer
	retries []*turn         // guarded by mu: in order of arrival
	leases  []*turn         // guarded by mu: in order of arrival
	commits []*commitWait   // guarded by mu
	section time.Duration   // guarded by mu: recent time from the grant to the commit
	timer   *time.Timer     // guarded by mu: runs while somebody waits for holder
	heads   map[uint32]Head // guarded by mu: by contended table, the newest row
	open    *promise        // guarded by mu: what was promised and is not there yet
}

func newTurns(o TurnOptions, clock func() time.Time, obs TurnObserver, catalog func() string) *turns {
	return &turns{o: o, clock: clock, obs: obs, catalog: catalog, heads: map[uint32]Head{}}
}

// stormy reports whether first attempts are to be paced.
func (g *turns) stormy() bool {
	until := g.storm.Load()
	return until != 0 && g.clock().UnixNano() < until
}

// lost notes that a transaction lost a race.
func (g *turns) lost() { g.storm.Store(g.clock().Add(g.o.Storm).UnixNano()) }

// take waits for the turn u. It may be over when take returns: then the transaction goes
// without. It may also be still to come, if the transaction was promised a head. The turn
// must be given back by end, also after an error.
func (g *turns) take(ctx context.Context, u *turn) error {
	g.mu.Lock()
	if g.holder == nil && g.entered == 0 && len(g.retries) == 0 && (u.kind == TurnRetry || len(g.leases) == 0) {
		g.grant(u)
		g.mu.Unlock()
		return nil
	}
	u.ready = make(chan struct{})
	if u.oid != 0 {
		u.tell = make(chan struct{})
	}
	queue := g.queue(u.kind)
	*queue = append(*queue, u)
	g.watch()
	g.tell()
	g.mu.Unlock()
	return g.await(ctx, u, true)
}

// await waits until the turn is granted, or too long; where told is set also until its
// transaction is promised a head, which leaves the turn in the queue.
func (g *turns) await(ctx context.Context, u *turn, told bool) error {
	tell := u.tell
	if !told {
		tell = nil
	}
	g.mu.Lock()
	over := u.state != turnWaiting || told && u.told != nil // granted, told, or given up before
	g.mu.Unlock()
	if over {
		return ctx.Err()
	}
	start := g.clock()
	giveUp := time.NewTimer(maxTurnWait * g.o.Bound)
	defer giveUp.Stop()
	var err error
	select {
	case <-u.ready:
	case <-tell:
	case <-giveUp.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	if !told || u.told == nil {
		g.withdraw(u)
	}
	g.mu.Unlock()
	g.obs.TurnWait(g.catalog(), u.kind, g.clock().Sub(start))
	return err
}

// withdraw ends u's wait. REQUIRES: g.mu.
func (g *turns) withdraw(u *turn) {
	if u.state != turnWaiting {
		return
	}
	u.state = turnOver
	queue := g.queue(u.kind)
	*queue = slices.DeleteFunc(*queue, func(o *turn) bool { return o == u })
}

func (g *turns) queue(kind TurnKind) *[]*turn {
	if kind == TurnRetry {
		return &g.retries
	}
	return &g.leases
}

// grant makes u the holder. REQUIRES: g.mu, no holder.
func (g *turns) grant(u *turn) {
	u.state, u.since = turnHeld, g.clock()
	if u.told == nil {
		u.base = g.heads[u.oid]
	}
	g.holder = u
	g.obs.TurnHeld(g.catalog(), u.kind, 1)
	// The heir is woken first: of two that are, Go runs the second at once.
	g.tell()
	if u.ready != nil {
		close(u.ready)
	}
	g.watch()
}

// next grants the turn to the first who waits, retries before leases; but before them to
// who was promised a head, and would have lost after any other. While commits are in the
// sequencer nobody gets it: what they write could make a holder lose.
//
// REQUIRES: g.mu.
func (g *turns) next() {
	if g.holder != nil || g.entered > 0 {
		g.tell()
		return
	}
	first, second := &g.retries, &g.leases
	if len(g.leases) > 0 && g.leases[0].told != nil {
		first, second = second, first
	}
	for _, queue := range []*[]*turn{first, second} {
		if len(*queue) > 0 {
			u := (*queue)[0]
			*queue = slices.Delete(*queue, 0, 1)
			g.grant(u)
			return
		}
	}
}

// end gives a turn back, and what its transaction was promised. The state that it returns,
// if any, is to be released. A second call does nothing.
func (g *turns) end(u *turn) *view {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed(u)
	g.withdraw(u)
	v := g.forget(u)
	g.endLocked(u)
	g.next()
	return v
}

// endLocked REQUIRES: g.mu; the caller calls next.
func (g *turns) endLocked(u *turn) {
	if u.state != turnHeld {
		return
	}
	u.state = turnOver
	g.holder = nil
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	g.obs.TurnHeld(g.catalog(), u.kind, -1)
	// The commits that waited go before whoever holds the turn next. If the holder has
	// committed, they learn now that they have lost; if not, one of them may win.
	for _, w := range g.commits {
		w.passed = true
		g.entered++
		close(w.ready)
	}
	g.commits = nil
}

// watch makes sure that the holder's bound is watched if somebody waits.
//
// REQUIRES: g.mu.
func (g *turns) watch() {
	u := g.holder
	if u == nil || g.timer != nil || len(g.retries)+len(g.leases)+len(g.commits) == 0 {
		return
	}
	left := u.since.Add(g.bound(u)).Sub(g.clock())
	g.timer = time.AfterFunc(max(left, 0), func() { g.expire(u) })
}

// expire takes the turn away from u, whose bound has passed.
func (g *turns) expire(u *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holder != u {
		return
	}
	g.timer = nil
	if u.committing || len(g.retries)+len(g.leases)+len(g.commits) == 0 {
		return // it ends by itself; the next who waits starts the watch again
	}
	u.overran = true
	g.obs.TurnOverrun(g.catalog(), u.kind)
	g.endLocked(u)
	g.next()
}

// bound is how long u may hold the turn. REQUIRES: g.mu.
func (g *turns) bound(u *turn) time.Duration {
	if u.kind == TurnRetry {
		return g.o.Bound
	}
	want := 4 * g.section
	if want == 0 {
		want = firstLease
	}
	return min(max(want, leastLease), g.o.Lease)
}

// enter lets a commit that adds a snapshot into the sequencer: at once if its transaction
// holds the turn (u, which may be nil), should keep a promise, or fills in for who should
// have; else as soon as commits of others need not wait, see closed. A nil error must be
// followed by leave.
func (g *turns) enter(ctx context.Context, u *turn, fills bool) error {
	g.mu.Lock()
	own := u != nil && g.holder == u
	if own || fills || u != nil && g.open != nil && g.open.prior == u || !g.closed() {
		g.entered++
		if own {
			u.committing = true
		}
		g.mu.Unlock()
		return nil
	}
	w := &commitWait{ready: make(chan struct{})}
	g.commits = append(g.commits, w)
	g.watch()
	g.mu.Unlock()

	start := g.clock()
	// The holder's bound comes first: this is for a commit in the sequencer that does not end.
	giveUp := time.NewTimer(2 * g.o.Bound)
	defer giveUp.Stop()
	var err error
	select {
	case <-w.ready:
	case <-giveUp.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	if !w.passed {
		g.commits = slices.DeleteFunc(g.commits, func(o *commitWait) bool { return o == w })
		if err == nil {
			g.entered++
		}
	} else if err != nil {
		g.leaveLocked()
	}
	g.mu.Unlock()
	g.obs.TurnWait(g.catalog(), TurnCommit, g.clock().Sub(start))
	return err
}

// closed reports whether commits of others than the holder must wait: a retry holds the
// turn, or waits for the commits that are in the sequencer, or the holder is to keep a
// promise, or waits for one to be kept.
//
// REQUIRES: g.mu.
func (g *turns) closed() bool {
	if g.holder != nil {
		return g.holder.kind == TurnRetry || g.open != nil
	}
	return len(g.retries) > 0 && g.entered > 0
}

// leave ends what enter began, and the transaction's turn with it.
func (g *turns) leave(u *turn, committed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaveWith(u, committed)
}

// leaveWith REQUIRES: g.mu.
func (g *turns) leaveWith(u *turn, committed bool) {
	if u != nil {
		if committed {
			g.observe(u)
		}
		g.passed(u)
		g.endLocked(u)
	}
	g.leaveLocked()
}

// leaveLocked REQUIRES: g.mu.
func (g *turns) leaveLocked() {
	g.entered--
	g.next()
}

// observe notes how long a transaction took from its turn's grant to its commit.
//
// REQUIRES: g.mu.
func (g *turns) observe(u *turn) {
	if u.since.IsZero() {
		return
	}
	now := g.clock()
	took := now.Sub(u.since)
	if g.section == 0 {
		g.section = took
	}
	g.section += (took - g.section) / 8
	if len(g.leases) > 0 {
		// Those who wait would have lost: the storm goes on.
		g.storm.Store(now.Add(g.o.Storm).UnixNano())
	}
}
