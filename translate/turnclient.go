package translate

import (
	"net"
	"slices"
	"sync"
	"time"
)

// clientKey says which sessions are one client's: those of one process, as far as can be
// told.
type clientKey struct {
	catalog         uint32
	user, app, host string
}

// turnClient is what the sessions of one client share.
type turnClient struct {
	refs int // guarded by turnClients.mu

	mu       sync.Mutex
	named    bool       // it has an application name: others are not taken for it
	losses   int        // guarded by mu: losses whose retry has not come yet
	lastLoss time.Time  // guarded by mu
	undone   repetition // guarded by mu; of a client that is named
	overran  bool       // guarded by mu: a retry held its turn too long or for nothing, and nothing was committed since
}

// turnClients are the clients of a server.
type turnClients struct {
	mu   sync.Mutex
	m    map[clientKey]*turnClient // guarded by mu
	left bool                      // guarded by mu: some have no session
}

func (s *Session) clientKey() clientKey {
	host, _, err := net.SplitHostPort(s.opts.RemoteAddr)
	if err != nil {
		host = s.opts.RemoteAddr
	}
	return clientKey{catalog: s.catOID, user: s.opts.User, app: s.opts.ApplicationName, host: host}
}

// join returns what is known of a client, for one more session of it.
func (c *turnClients) join(k clientKey, now time.Time) *turnClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left {
		c.sweep(now)
	}
	t := c.m[k]
	if t == nil {
		t = &turnClient{named: k.app != ""}
		c.m[k] = t
	}
	t.refs++
	return t
}

// leave ends a session of a client. A client that has lost is remembered for a while without
// any: it may come again on a new connection.
func (c *turnClients) leave(k clientKey, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.m[k]
	if t == nil {
		return
	}
	if t.refs--; t.refs > 0 {
		return
	}
	if t.mayRepeat(now) {
		c.left = true
		return
	}
	delete(c.m, k)
}

// sweep forgets clients without sessions. REQUIRES: c.mu.
func (c *turnClients) sweep(now time.Time) {
	c.left = false
	for k, t := range c.m {
		switch {
		case t.refs > 0:
		case t.mayRepeat(now):
			c.left = true
		default:
			delete(c.m, k)
		}
	}
}

// lose notes a loss.
func (c *turnClient) lose(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.losses++
	c.lastLoss = now
}

// mayRepeat reports whether the client may still come again after a loss.
func (c *turnClient) mayRepeat(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.losses > 0 && now.Sub(c.lastLoss) <= lossMemory || c.undone.due(now)
}

// committed notes that the client committed a snapshot.
func (c *turnClient) committed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.overran = false
}

// repetition is what DuckLake gives up after a loss, and its caller may repeat: a flush that
// met a changed row when it deleted what it had read, or a retry that read what forbids it.
// Nothing but the head tells such a transaction from others when it comes again.
type repetition struct {
	tables []string // that the last one to lose has written
	at     time.Time
	is     bool // it was given up, and no commit has written all of them since
}

// lose notes a loss of a transaction that has written tables.
func (r *repetition) lose(tables []string) { r.tables, r.is = tables, false }

// giveUp notes that DuckLake does not repeat the last one that lost.
func (r *repetition) giveUp(now time.Time) { r.at, r.is = now, len(r.tables) > 0 }

// done notes a commit that writes tables: a flush commits the deletions first, then the rows.
func (r *repetition) done(tables []string) {
	r.is = r.is && slices.ContainsFunc(r.tables, func(name string) bool { return !slices.Contains(tables, name) })
}

// due reports whether a transaction that begins with the head may be it.
func (r *repetition) due(now time.Time) bool { return r.is && now.Sub(r.at) <= lossMemory }

// undone calls f with what the session, or its client, may repeat: DuckDB may close the
// connection that met the error, but only a client with a name is told from others.
func (s *Session) undone(f func(r *repetition)) {
	c := s.turn.client
	if !c.named {
		f(&s.turn.undone)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.undone)
}

// repeats reports whether a transaction that begins with the head now has the turn of a
// repetition.
func (s *Session) repeats(now time.Time) (is bool) {
	s.undone(func(r *repetition) { is = r.due(now) })
	return is && !s.turn.client.overrun()
}

// retry reports whether a retry of the client may take the turn, and counts it. own says
// that the session itself has lost.
func (c *turnClient) retry(now time.Time, own bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.lastLoss) > lossMemory {
		c.losses = 0
	}
	due := c.losses > 0 || own
	c.losses = max(c.losses-1, 0)
	return due && !c.overran
}

func (c *turnClient) setOverran() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.overran = true
}

func (c *turnClient) overrun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overran
}
