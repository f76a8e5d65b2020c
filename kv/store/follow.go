package store

import "sync"

// Follower hears of the commits of a catalog, in their order.
type Follower interface {
	// Note looks at a transaction as it is being committed, with the ids that it has got, and
	// returns what Landed is to be told of it: nil for nothing. Other commits wait meanwhile,
	// so it must be quick. It may read what the transaction has written and its descriptors,
	// and must keep none of their memory.
	Note(t *Txn) any
	// Landed is told what Note returned when the commit is on stable storage, unless it was
	// made without waiting for that, and who begins to read sees it. Calls come one at a time. No commit waits for them.
	Landed(note any)
}

// Follow makes f hear of the catalog's commits until stop is called, which returns when no
// call is under way. A catalog has one follower: the one before must have been stopped. Who
// calls AwaitStable after it has then seen to it that commits which f does not hear of can be read.
func (c *Catalog) Follow(f Follower) (stop func()) {
	w := &following{c: c, f: f, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	// Not while a group is checked: it would be told of in part.
	c.seqMu.Lock()
	c.followed.Store(w)
	c.seqMu.Unlock()
	go w.run()
	return func() {
		c.followed.CompareAndSwap(w, nil)
		close(w.quit)
		<-w.done
	}
}

// following is a follower and what it has not been told yet.
type following struct {
	c    *Catalog
	f    Follower
	wake chan struct{} // has a value when there may be something to tell
	quit chan struct{} // closed by stop
	done chan struct{} // closed when run has returned

	mu    sync.Mutex
	queue []*groupNotes // guarded by mu: groups that may be written, in the order of commits
}

// groupNotes is what the follower noted of one group.
type groupNotes struct {
	w    *following
	list []any

	// The rest is guarded by following.mu.

	outcome noteOutcome
	view    *view // what the group was published as, if that was not stable at once
}

type noteOutcome uint8

const (
	noteOpen noteOutcome = iota // nobody knows yet whether the group is written
	noteKept
	noteDropped
)

// note lets the follower, if there is one, look at an accepted member.
func (g *group) note(t *Txn) {
	w := g.c.followed.Load()
	if w == nil {
		return
	}
	n := w.f.Note(t)
	if n == nil {
		return
	}
	if g.notes == nil {
		g.notes = &groupNotes{w: w}
	}
	g.notes.list = append(g.notes.list, n)
}

// enqueue gives a group's notes their place. REQUIRES: Catalog.seqMu.
func (n *groupNotes) enqueue() {
	if n == nil {
		return
	}
	n.w.mu.Lock()
	n.w.queue = append(n.w.queue, n)
	n.w.mu.Unlock()
}

// settle notes what became of the group, once: later calls change nothing.
func (n *groupNotes) settle(is noteOutcome, v *view) {
	if n == nil {
		return
	}
	n.w.mu.Lock()
	if n.outcome == noteOpen {
		n.outcome, n.view = is, v
	}
	n.w.mu.Unlock()
	n.w.rouse()
}

// rouse makes run look again.
func (w *following) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *following) run() {
	defer close(w.done)
	for {
		select {
		case <-w.wake:
		case <-w.quit:
			return
		}
		for {
			n, kept := w.next()
			if n == nil {
				break
			}
			if n.view != nil { // not a synced one: it is stable when a later one is
				if !w.landed(n.view) {
					break
				}
				kept = kept && !w.c.isViewLost(n.view)
			}
			for _, x := range n.list {
				if kept {
					w.f.Landed(x)
				}
			}
		}
	}
}

// next takes the first group out of the queue if it is known what became of it.
func (w *following) next() (n *groupNotes, kept bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || w.queue[0].outcome == noteOpen {
		return nil, false
	}
	n = w.queue[0]
	w.queue[0] = nil
	if w.queue = w.queue[1:]; len(w.queue) == 0 {
		w.queue = nil
	}
	return n, n.outcome == noteKept
}

// landed waits until a view can be read, or never will be.
func (w *following) landed(v *view) bool {
	select {
	case <-v.landed:
		return true
	case <-w.quit:
		return false
	}
}

// isViewLost reports whether a view that has landed did not reach stable storage.
func (c *Catalog) isViewLost(v *view) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return v.lost
}
