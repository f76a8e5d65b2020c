package translate

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgcatalog"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Shared is what the sessions of one server have in common. It is safe for concurrent use.
type Shared struct {
	started time.Time
	virtual exec.VirtualRegistry
	funcs   *exec.FuncSet
	plans   *planCaches
	migrate Migrations
	rebase  bool
	clients turnClients
	feeds   commitFeeds

	mu       sync.Mutex
	sessions map[*Session]struct{}
	locks    map[lockKey]*advisoryLock
	names    map[nameKey]*nameHold
}

// SharedOptions configure a Shared. The zero value has the defaults.
type SharedOptions struct {
	// PlanCacheEntries bounds the plans kept, of all catalogs. Default 4096; negative: no cache.
	PlanCacheEntries int
	// Now is the start time that pg_postmaster_start_time() reports; time.Now when zero.
	Now time.Time
	// Migrations is the rule for changes of a lake's format.
	Migrations Migrations
	// Rebase gives commits other ids that have lost the race for theirs and nothing else,
	// in catalogs that do not say otherwise (eider.rebase).
	Rebase bool
	// Funcs are functions of the server's own, besides those of pg_catalog.
	Funcs []exec.Func
}

// NewShared makes the shared state of a server.
func NewShared(o SharedOptions) *Shared {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return &Shared{
		started:  o.Now,
		virtual:  pgcatalog.New(),
		funcs:    exec.NewFuncSet(append(pgcatalog.Funcs(), o.Funcs...)...),
		plans:    newPlanCaches(o.PlanCacheEntries),
		migrate:  o.Migrations,
		rebase:   o.Rebase,
		clients:  turnClients{m: make(map[clientKey]*turnClient)},
		feeds:    commitFeeds{m: make(map[*store.Catalog]*commitFeed)},
		sessions: make(map[*Session]struct{}),
		locks:    make(map[lockKey]*advisoryLock),
		names:    make(map[nameKey]*nameHold),
	}
}

// PlanStats are the plan cache's counters, for metrics.
func (h *Shared) PlanStats() PlanStats { return h.plans.stats() }

// Activities lists what every session is doing, by process id.
func (h *Shared) Activities() []pgcatalog.Activity {
	h.mu.Lock()
	out := make([]pgcatalog.Activity, 0, len(h.sessions))
	for s := range h.sessions {
		out = append(out, s.Activity())
	}
	h.mu.Unlock()
	sort.Slice(out, func(i, j int) bool { return out[i].PID < out[j].PID })
	return out
}

func (h *Shared) join(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[s] = struct{}{}
}

func (h *Shared) leave(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s)
	h.releaseLocks(s, true, true)
}

// others counts the sessions connected to a catalog, besides one.
func (h *Shared) others(c *store.Catalog, but *Session) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for s := range h.sessions {
		if s != but && s.catalog.OID() == c.OID() {
			n++
		}
	}
	return n
}

// publish delivers committed notifications to the listeners of a catalog.
func (h *Shared) publish(catOID uint32, list []Notification) {
	if len(list) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sessions {
		if s.catOID != catOID || s.opts.Notify == nil {
			continue
		}
		for _, n := range list {
			if s.listens[n.Channel] {
				s.opts.Notify(n)
			}
		}
	}
}

// listenChange is one LISTEN or UNLISTEN, which takes effect at commit.
type listenChange struct {
	channel string
	off     bool
	all     bool
}

// applyListens does what LISTEN and UNLISTEN said. It waits, unless ctx ends, for commits
// that are on their way and that the session will not hear of: what it reads next has them.
func (s *Session) applyListens(ctx context.Context, list []listenChange) {
	if len(list) == 0 {
		return
	}
	s.changeListens(list)
	s.followCommits()
	if s.follows {
		_ = s.catalog.AwaitStable(ctx)
	}
}

func (s *Session) changeListens(list []listenChange) {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	for _, l := range list {
		switch {
		case l.all:
			clear(s.listens)
		case l.off:
			delete(s.listens, l.channel)
		default:
			s.listens[l.channel] = true
		}
	}
}

// lockKey names an advisory lock in a catalog.
type lockKey struct {
	catalog uint32
	key     pgcatalog.AdvisoryKey
}

// advisoryLock counts who holds a lock. free is closed and replaced when a holder lets go.
type advisoryLock struct {
	holders map[*Session]*lockHold
	free    chan struct{}
}

// lockHold counts one session's holds: session-level and transaction-level ones, and how
// many of each are shared.
type lockHold struct{ session, sessionShared, xact, xactShared int }

func (l *lockHold) exclusive() bool { return l.session+l.xact > 0 }
func (l *lockHold) empty() bool {
	return l.session+l.sessionShared+l.xact+l.xactShared == 0
}

// grantable says whether s may take the lock now.
func (l *advisoryLock) grantable(s *Session, shared bool) bool {
	for other, hold := range l.holders {
		if other != s && (!shared || hold.exclusive()) {
			return false
		}
	}
	return true
}

// lockWait is how a statement waits for what another session holds, lock_timeout in all.
type lockWait struct {
	limit time.Duration // 0: none
	timer *time.Timer   // since the first wait
}

func (s *Session) lockWait() *lockWait { return &lockWait{limit: s.set.decoded().lockTimeout} }

// on waits until free is closed. The error is that of the timeout or the context's cause.
func (w *lockWait) on(ctx context.Context, free <-chan struct{}) error {
	var timeout <-chan time.Time
	if w.limit > 0 {
		if w.timer == nil {
			w.timer = time.NewTimer(w.limit)
		}
		timeout = w.timer.C
	}
	select {
	case <-free:
		return nil
	case <-timeout:
		return pgerr.New(pgerr.LockNotAvailable, "canceling statement due to lock timeout")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *lockWait) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// AdvisoryLock takes an advisory lock; see pgcatalog.AdvisoryLocker.
func (f sessionFuncs) AdvisoryLock(ctx context.Context, key pgcatalog.AdvisoryKey, mode pgcatalog.AdvisoryMode, try bool) (bool, error) {
	s, h := f.s, f.s.shared
	k := lockKey{catalog: s.catOID, key: key}
	wait := s.lockWait()
	defer wait.stop()
	for {
		h.mu.Lock()
		l := h.locks[k]
		if l == nil {
			l = &advisoryLock{holders: make(map[*Session]*lockHold), free: make(chan struct{})}
			h.locks[k] = l
		}
		if l.grantable(s, mode.Shared) {
			hold := l.holders[s]
			if hold == nil {
				hold = &lockHold{}
				l.holders[s] = hold
			}
			switch {
			case mode.Xact && mode.Shared:
				hold.xactShared++
			case mode.Xact:
				hold.xact++
			case mode.Shared:
				hold.sessionShared++
			default:
				hold.session++
			}
			if mode.Xact {
				s.tx.locks = true
			}
			s.locks = true
			h.mu.Unlock()
			return true, nil
		}
		free := l.free
		h.mu.Unlock()
		if try {
			return false, nil
		}
		if err := wait.on(ctx, free); err != nil {
			return false, err
		}
	}
}

// AdvisoryUnlock gives back one session-level hold.
func (f sessionFuncs) AdvisoryUnlock(key pgcatalog.AdvisoryKey, shared bool) bool {
	s, h := f.s, f.s.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	k := lockKey{catalog: s.catOID, key: key}
	l := h.locks[k]
	if l == nil || l.holders[s] == nil {
		return false
	}
	hold := l.holders[s]
	n := &hold.session
	if shared {
		n = &hold.sessionShared
	}
	if *n == 0 {
		return false
	}
	*n--
	h.settle(k, l, s)
	return true
}

// AdvisoryUnlockAll gives back every session-level hold.
func (f sessionFuncs) AdvisoryUnlockAll() { f.s.releaseLocks(true, false) }

func (s *Session) releaseLocks(session, xact bool) {
	if !s.locks {
		return
	}
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	s.shared.releaseLocks(s, session, xact)
}

// releaseLocks drops a session's holds. REQUIRES: h.mu.
func (h *Shared) releaseLocks(s *Session, session, xact bool) {
	for k, l := range h.locks {
		hold := l.holders[s]
		if hold == nil {
			continue
		}
		if session {
			hold.session, hold.sessionShared = 0, 0
		}
		if xact {
			hold.xact, hold.xactShared = 0, 0
		}
		h.settle(k, l, s)
	}
}

// settle forgets an empty hold and wakes waiters. REQUIRES: h.mu.
func (h *Shared) settle(k lockKey, l *advisoryLock, s *Session) {
	if l.holders[s].empty() {
		delete(l.holders, s)
	}
	close(l.free)
	l.free = make(chan struct{})
	if len(l.holders) == 0 {
		delete(h.locks, k)
	}
}
