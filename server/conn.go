package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// stopMode is how urgently a connection is asked to end.
type stopMode uint8

const (
	keepServing  stopMode = iota
	stopWhenIdle          // after the running statement
	stopNow               // the running statement is cancelled
)

// What a connection is doing, for the metrics.
const (
	stateStarting int32 = iota
	stateActive
	stateIdle
	stateInTransaction
	stateInFailedTransaction
	numStates
)

// errWake is what a wait for the client ends with when somebody else wants the
// connection's attention.
var errWake = errors.New("server: wait interrupted")

// past is a deadline that wakes a blocked read at once.
var past = time.Unix(1, 0)

// conn is one client connection. Its goroutine owns every field but those in mu.
type conn struct {
	srv *Server
	log *slog.Logger
	raw net.Conn // the socket: deadlines and Close may come from anywhere
	nc  net.Conn // raw, or TLS on top of it
	r   reader
	w   writer
	out outlet

	hover hover

	pid       int32
	key       []byte // cancels statements of this connection; under srv.mu
	minor     uint32 // of protocol 3
	encrypted bool
	user      string
	database  string
	sess      Session
	state     atomic.Int32

	skip    bool    // an error in the extended protocol: everything up to Sync is dropped
	batch   stmt    // the running message, or the messages since the last Sync
	copying *copyIn // the COPY FROM STDIN whose end has not been reached
	counted struct{ in, out uint64 }

	mu struct {
		sync.Mutex
		stop     stopMode
		starting bool
		waiting  bool // blocked until the client sends a message
		copying  bool // the wait is for CopyData
		timed    bool // a read deadline is set
		running  bool
		cancel   context.CancelCauseFunc
		// drainUntil bounds all reading once the server stops now.
		drainUntil time.Time
		notes      noteQueue
	}
	attention atomic.Bool // stop or notes have been set since the last look
	noted     atomic.Bool // notes has something to deliver
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, raw: nc, nc: nc, log: s.log}
	c.r.src, c.w.dst = nc, nc
	c.r.onTimeout = c.onTimeout
	c.out.c = c
	c.hover.init(nc, &s.working)
	c.mu.starting = true
	return c
}

// run serves the connection to its end.
func (c *conn) run() {
	c.srv.working.Add(1)
	defer c.srv.working.Add(-1)
	defer c.close()
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a connection", "panic", p, "stack", string(debug.Stack()))
			c.srv.metrics.panics.Inc()
			c.farewell(fatal(pgerr.InternalError, "internal error; the connection is closed"))
		}
	}()
	err := c.startup()
	if err == nil {
		err = c.serve()
	}
	switch e := pgerr.As(err); {
	case err == nil || errors.Is(err, io.EOF):
	case e != nil:
		c.farewell(e)
	case errors.Is(err, errLength):
		c.farewell(protocolFatal("invalid message length"))
	case errors.Is(err, errGone):
		c.log.Debug("client gone", "error", err)
	default:
		c.log.Warn("connection failed", "error", err)
	}
}

// farewell sends the error that ends the connection and lets the client read it: closing
// a socket with unread input would reset the connection and take the message with it. A
// client in the middle of sending COPY data is listened to until its end.
func (c *conn) farewell(e *pgerr.Error) {
	if e.Severity != pgerr.SeverityFatal {
		f := *e
		f.Severity = pgerr.SeverityFatal
		e = &f
	}
	if c.copying != nil {
		c.stopBy(c.srv.opts.DrainTimeout)
		if c.copying.Drain() != nil {
			return
		}
	}
	c.srv.metrics.failed(e.Code)
	c.log.Debug("connection ends", "code", e.Code, "message", e.Message)
	c.raw.SetWriteDeadline(time.Now().Add(5 * time.Second))
	if c.w.problem('E', e) != nil || c.w.flush() != nil {
		return
	}
	c.linger()
}

// linger half-closes the connection and reads until the client has closed its side, for
// a second and a megabyte at most.
func (c *conn) linger() {
	if t, ok := c.nc.(interface{ CloseWrite() error }); ok && c.nc != c.raw {
		t.CloseWrite()
	}
	t, ok := c.raw.(interface{ CloseWrite() error })
	if !ok || t.CloseWrite() != nil {
		return
	}
	c.raw.SetReadDeadline(time.Now().Add(time.Second))
	io.CopyN(io.Discard, c.raw, 1<<20)
}

// close gives everything back. The session's own panic must not keep the rest.
func (c *conn) close() {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic while closing a session", "panic", p, "stack", string(debug.Stack()))
			c.srv.metrics.panics.Inc()
		}
	}()
	defer func() {
		c.count()
		c.r.r, c.r.w = 0, 0
		c.r.rest()
		c.w.release()
		c.raw.Close()
	}()
	c.endBatch()
	if c.sess != nil {
		c.sess.Close()
		c.log.Debug("disconnected")
	}
}

// count adds the traffic since the last call to the metrics.
func (c *conn) count() {
	if n := c.r.received - c.counted.in; n > 0 {
		c.srv.metrics.received.Add(float64(n))
		c.counted.in = c.r.received
	}
	if n := c.w.sent - c.counted.out; n > 0 {
		c.srv.metrics.sent.Add(float64(n))
		c.counted.out = c.w.sent
	}
}

// ask tells the connection to end, from any goroutine.
func (c *conn) ask(m stopMode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m <= c.mu.stop {
		return
	}
	c.mu.stop = m
	c.attention.Store(true)
	if m == stopNow {
		c.stopByLocked(c.srv.opts.DrainTimeout)
		if c.mu.cancel != nil {
			c.mu.cancel(errAdminShutdown())
		}
		c.raw.SetReadDeadline(past)
		return
	}
	if c.mu.starting || c.mu.waiting && !c.mu.copying {
		c.raw.SetReadDeadline(past)
	}
}

// stopBy bounds everything that is still read and written.
func (c *conn) stopBy(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopByLocked(d)
}

// REQUIRES: c.mu.
func (c *conn) stopByLocked(d time.Duration) {
	if c.mu.drainUntil.IsZero() {
		c.mu.drainUntil = time.Now().Add(d)
		c.raw.SetDeadline(c.mu.drainUntil)
	}
}

// interrupt cancels the running statement, from any goroutine.
func (c *conn) interrupt(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.running || c.mu.cancel == nil {
		return
	}
	c.mu.cancel(cause)
	if c.mu.waiting && c.mu.copying {
		c.raw.SetReadDeadline(past)
	}
}

// onTimeout is called by the reader when a read deadline has passed. Only a wait for a
// message is interrupted; the rest of a message is read on.
func (c *conn) onTimeout() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.starting {
		if c.mu.stop != keepServing {
			return errStopping()
		}
		return fatal(pgerr.QueryCanceled, "canceling authentication due to timeout")
	}
	if until := c.mu.drainUntil; !until.IsZero() {
		if !time.Now().Before(until) {
			return errors.Join(errGone, os.ErrDeadlineExceeded)
		}
		c.raw.SetReadDeadline(until)
	} else {
		c.raw.SetReadDeadline(time.Time{})
	}
	if c.mu.waiting {
		return errWake
	}
	return nil
}

// wait blocks until the client has sent the first byte of a message. It returns errWake
// when something else is to be done first or after idle, if that is not 0.
func (c *conn) wait(copying bool, idle time.Duration) error {
	if c.r.buffered() > 0 {
		return nil
	}
	if !copying {
		c.r.rest()
	}
	c.mu.Lock()
	switch {
	case copying && c.batch.ctx != nil && c.batch.ctx.Err() != nil && !c.copying.draining,
		!copying && c.attention.Load():
		c.mu.Unlock()
		return errWake
	}
	c.mu.waiting, c.mu.copying = true, copying
	if idle > 0 && c.mu.drainUntil.IsZero() {
		c.raw.SetReadDeadline(time.Now().Add(idle))
		c.mu.timed = true
	}
	c.mu.Unlock()

	if !copying {
		c.hover.wait()
	}
	c.srv.working.Add(-1)
	err := c.r.fill(1)
	c.srv.working.Add(1)

	c.mu.Lock()
	c.mu.waiting = false
	if c.mu.timed {
		c.mu.timed = false
		if c.mu.drainUntil.IsZero() {
			c.raw.SetReadDeadline(time.Time{})
		}
	}
	c.mu.Unlock()
	return err
}

// attend does what others have asked for: it delivers notifications, and returns the
// error that ends the connection when the server stops.
func (c *conn) attend() error {
	c.mu.Lock()
	stop := c.mu.stop
	c.attention.Store(false)
	c.mu.Unlock()
	if stop != keepServing {
		return errAdminShutdown()
	}
	if c.batch.ctx != nil || c.sess.TxStatus() != 'I' {
		return nil // ready delivers them, outside of a transaction
	}
	if err := c.deliver(); err != nil {
		return err
	}
	if c.w.flush() != nil {
		return errGone
	}
	return nil
}

// idleLimiter is a Session with idle_in_transaction_session_timeout and
// idle_session_timeout; 0 is for ever.
type idleLimiter interface {
	IdleTimeouts() (inTransaction, idle time.Duration)
}

// idleLimit is how long the client may be silent now.
func (c *conn) idleLimit(l idleLimiter) time.Duration {
	if l == nil {
		return 0
	}
	inTransaction, idle := l.IdleTimeouts()
	if c.sess.TxStatus() == 'I' {
		return idle
	}
	return inTransaction
}

// serve is the main loop.
func (c *conn) serve() error {
	limiter, _ := c.sess.(idleLimiter)
	for {
		if c.attention.Load() {
			if err := c.attend(); err != nil {
				return err
			}
		}
		idle := c.idleLimit(limiter)
		var began time.Time
		if idle > 0 {
			began = time.Now()
		}
		switch err := c.wait(false, idle); {
		case errors.Is(err, errWake):
			if !c.attention.Load() && idle > 0 && time.Since(began) >= idle {
				return errIdle(c.sess.TxStatus())
			}
			continue
		case err != nil:
			return lost(err)
		}
		if err := c.message(); err != nil {
			return err
		}
	}
}

// errIdle is what a client that was silent for too long gets.
func errIdle(status byte) error {
	if status == 'I' {
		return fatal("57P05", "terminating connection due to idle-session timeout")
	}
	return fatal(pgerr.IdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout")
}

// message reads and handles one message.
func (c *conn) message() error {
	typ, n, err := c.r.header()
	if err != nil {
		return lost(err)
	}
	limit := smallMessage
	switch typ {
	case 'Q', 'P', 'B', 'F', 'd':
		limit = c.srv.opts.MaxMessage
	case 'C', 'D', 'E', 'S', 'H', 'X', 'c', 'f':
	default:
		return protocolFatal("invalid frontend message type %d", typ)
	}
	if n > limit {
		if limit == smallMessage {
			return errLength
		}
		return c.oversized(typ, n)
	}
	body, owned, err := c.r.next(n)
	if err != nil {
		return lost(err)
	}
	switch typ {
	case 'X':
		return io.EOF
	case 'S':
		return c.sync(body)
	case 'd', 'c', 'f':
		// The client was still sending when its COPY failed.
		return nil
	}
	if c.skip {
		return nil
	}
	switch typ {
	case 'Q':
		return c.query(body, owned)
	case 'F':
		return c.functionCall()
	case 'H':
		if c.w.flush() != nil {
			return errGone
		}
		return nil
	}
	return c.extended(typ, body)
}

// smallMessage bounds messages that carry no statement and no data.
const smallMessage = 10_000

// oversized drops a message that is too long. The stream is intact, so that the session
// can go on.
func (c *conn) oversized(typ byte, n int) error {
	if err := c.r.discard(n); err != nil {
		return lost(err)
	}
	if c.skip || typ == 'd' {
		return nil
	}
	c.begin("")
	e := pgerr.New(pgerr.ProgramLimitExceeded, "a message of %d bytes exceeds the limit of %d bytes", n, c.srv.opts.MaxMessage)
	c.sess.Fail()
	if typ == 'Q' || typ == 'F' {
		return c.finishSimple(e)
	}
	return c.failExtended(e)
}
