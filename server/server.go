package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves PostgreSQL clients on any number of listeners.
type Server struct {
	opts    Options
	log     *slog.Logger
	metrics *Metrics
	wg      sync.WaitGroup // connections
	nextPID atomic.Int32
	working atomic.Int32 // connections that do not wait for their client

	mu struct {
		sync.Mutex
		backend   Backend
		listeners map[net.Listener]struct{}
		conns     map[*conn]struct{}
		byPID     map[int32]*conn // those that can be cancelled
		stopping  bool
	}
}

// New makes a server. Nothing is opened before Serve.
func New(o Options) *Server {
	if o.MaxNotifications <= 0 {
		o.MaxNotifications = DefaultMaxNotifications
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.StartupTimeout <= 0 {
		o.StartupTimeout = DefaultStartupTimeout
	}
	if o.DrainTimeout <= 0 {
		o.DrainTimeout = DefaultDrainTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.TLS != nil {
		o.TLS = o.TLS.Clone()
		// A client that offers ALPN must offer this protocol; one that offers none is
		// served after an SSLRequest, and refused when it starts with TLS directly.
		o.TLS.NextProtos = []string{alpnProtocol}
	}
	s := &Server{opts: o, log: o.Logger, metrics: o.Metrics}
	s.mu.backend = o.Backend
	s.mu.listeners = make(map[net.Listener]struct{})
	s.mu.conns = make(map[*conn]struct{})
	s.mu.byPID = make(map[int32]*conn)
	o.Metrics.watch(s)
	return s
}

// SetBackend ends the starting-up state.
func (s *Server) SetBackend(b Backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.backend = b
}

// Ready says whether clients are being served.
func (s *Server) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.backend != nil && !s.mu.stopping
}

// Serve accepts connections until the server stops and returns ErrServerClosed then.
// It closes l.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.mu.stopping {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.mu.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.mu.listeners, l)
		s.mu.Unlock()
	}()

	var pause time.Duration
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.isStopping() || errors.Is(err, net.ErrClosed) {
				return ErrServerClosed
			}
			// Out of descriptors, most likely: others will close theirs.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.log.Error("accepting connections", "error", err, "retry_in", pause)
			time.Sleep(pause)
			continue
		}
		pause = 0
		c := newConn(s, nc)
		if !s.enter(c) {
			nc.Close()
			continue
		}
		go func() {
			defer s.wg.Done()
			defer s.leave(c)
			c.run()
		}()
	}
}

// enter registers a connection. Twice the allowed number is the bound for sockets that
// have not said yet whether they want a session or to cancel one.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopping || len(s.mu.conns) >= 2*s.opts.MaxConnections {
		return false
	}
	s.mu.conns[c] = struct{}{}
	s.wg.Add(1)
	s.metrics.accepted.Inc()
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.conns, c)
	if s.mu.byPID[c.pid] == c {
		delete(s.mu.byPID, c.pid)
	}
}

// admit counts a connection that wants a session: it fails with the FATAL error that
// refuses it, and otherwise gives it a process id to be cancelled by.
func (s *Server) admit(c *conn) (Backend, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mu.stopping:
		return nil, errStopping()
	case s.mu.backend == nil:
		return nil, errStarting()
	case len(s.mu.byPID) >= s.opts.MaxConnections:
		return nil, errTooMany()
	}
	for {
		c.pid = s.nextPID.Add(1) & 0x7fffffff
		if c.pid != 0 && s.mu.byPID[c.pid] == nil {
			break
		}
	}
	s.mu.byPID[c.pid] = c
	return s.mu.backend, nil
}

// cancel stops the running statement of the connection with this process id and key. A
// wrong key does nothing, and nobody learns which was wrong.
func (s *Server) cancel(pid int32, key []byte) {
	s.mu.Lock()
	c := s.mu.byPID[pid]
	match := c != nil && len(c.key) > 0 && subtle.ConstantTimeCompare(c.key, key) == 1
	s.mu.Unlock()
	if !match {
		s.log.Debug("cancel request without a match", "pid", pid)
		return
	}
	c.interrupt(errCanceledByUser())
}

// Signal cancels the running statement of the session with this process id, or ends the
// session (57P01). It says whether there is one. It is what pg_cancel_backend and
// pg_terminate_backend do, and asks for no key.
func (s *Server) Signal(pid int32, terminate bool) bool {
	s.mu.Lock()
	c := s.mu.byPID[pid]
	s.mu.Unlock()
	if c == nil {
		return false
	}
	if terminate {
		c.ask(stopNow)
	} else {
		c.interrupt(errCanceledByUser())
	}
	return true
}

// setKey makes c known to cancel requests.
func (s *Server) setKey(c *conn, key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.key = key
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.stopping
}

// stop refuses new connections and returns the open ones.
func (s *Server) stop() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stopping = true
	for l := range s.mu.listeners {
		l.Close()
	}
	conns := make([]*conn, 0, len(s.mu.conns))
	for c := range s.mu.conns {
		conns = append(conns, c)
	}
	return conns
}

// Shutdown stops accepting, tells idle clients goodbye (57P01) and lets running
// statements finish. When ctx ends first, the remaining statements are cancelled; a
// client that is sending COPY data is listened to for another DrainTimeout at most. It
// returns when every connection is gone: ctx's error if statements had to be cancelled.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.stop() {
		c.ask(stopWhenIdle)
	}
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.stop() {
		c.ask(stopNow)
	}
	select {
	case <-done:
		return context.Cause(ctx)
	case <-time.After(s.opts.DrainTimeout + 2*time.Second):
	}
	for _, c := range s.stop() {
		c.nc.Close()
	}
	<-done
	return context.Cause(ctx)
}

// Close is Shutdown without patience for running statements.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Shutdown(ctx)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
