package translate

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/guard"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgcatalog"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Deps is what sessions share.
type Deps struct {
	// Store holds the catalogs.
	Store *store.Store
	// Shared is the state sessions of one server have in common: notifications, advisory
	// locks, plan caches, who is connected to which catalog. Required for more than one
	// session; NewSession makes a private one when it is nil.
	Shared *Shared
	// Logger gets panics and other things a client must not be bothered with.
	Logger *slog.Logger
	// Clock is the time source; time.Now when nil.
	Clock func() time.Time
	// Version is Eider's version as version() reports it.
	Version string
	// Signal cancels the running statement of a session, or ends the session; false when
	// there is none with that process id. May be nil.
	Signal func(pid int32, terminate bool) bool
	// Guard looks at commits that write to lakes; one that enforces every check when nil.
	Guard *guard.Guard
	// Limits bounds what one session may use; zero fields mean the defaults.
	Limits Limits
}

// Limits bounds what one session may use.
type Limits struct {
	// StatementMemory caps what one statement's operators may hold, in bytes.
	StatementMemory int64
	// Statements caps the prepared statements of a session.
	Statements int
	// Portals caps the open portals and cursors of a session.
	Portals int
}

func (l Limits) withDefaults() Limits {
	if l.StatementMemory <= 0 {
		l.StatementMemory = defaultStatementMemory
	}
	if l.Statements <= 0 {
		l.Statements = defaultStatements
	}
	if l.Portals <= 0 {
		l.Portals = defaultPortals
	}
	return l
}

const (
	defaultStatementMemory = 512 << 20
	defaultStatements      = 10_000
	defaultPortals         = 1_000
)

// SessionOptions says who connects to what.
type SessionOptions struct {
	User            string
	Database        string
	ApplicationName string
	// RuntimeParams are the startup packet's other parameters: setting names, and
	// "options" with a command line of -c name=value and --name=value.
	RuntimeParams map[string]string
	PID           int32
	// RemoteAddr is the client's address as pg_stat_activity shows it, "" for a local socket.
	RemoteAddr string
	// Notify, when set, is called with every notification for a channel the session listens
	// to. It is called from the goroutine of the notifying session and must not block.
	Notify func(Notification)
}

// Notification is one NOTIFY as a listener gets it.
type Notification struct {
	PID     int32
	Channel string
	Payload string
	// Newest, if set, says that of the notifications of this channel with the same value the
	// newest alone is worth having: the others may go when there are too many.
	Newest string
}

// Param is a setting reported to the client.
type Param struct{ Name, Value string }

// Session is one client connection's state. Its methods are for one goroutine at a time,
// except Activity.
type Session struct {
	deps    Deps
	opts    SessionOptions
	log     *slog.Logger
	shared  *Shared
	catalog *store.Catalog
	catOID  uint32
	db      string

	set  *settings
	tx   txState
	turn turnState
	temp *store.TempSpace

	stmts     map[string]*prepared
	portals   map[string]*portal
	portalSeq uint64

	env        *types.Env
	envGen     uint64
	planCtx    string
	planCtxGen uint64
	fp         lex.FP // of the statement that runs in Simple
	funcs      sessionFuncs
	locks      bool      // advisory locks may be held
	names      []nameKey // made by the running transaction
	waitsFor   *Session  // whose names it waits for; under Shared.mu
	tempUsed   bool      // temporary tables may exist
	copyBuf    []byte    // message buffer of COPY TO
	pinged     bool      // the last simple message was SELECT 1
	manyRows   bool      // the client takes several rows of a COPY in one message (copyLimit)

	listens  map[string]bool // guarded by shared.mu for writes
	follows  bool            // it counts as a listener of its catalog's commitFeed
	activity atomic.Pointer[pgcatalog.Activity]
	space    atomic.Uint64 // schema of the lake that the transaction works on, severalSpaces, or 0
	holds    atomic.Pointer[heldView]
	attempts attempts
	ends     []func() // see exec.Ender
	closed   bool
}

// Activity returns what the session is doing. It may be called from any goroutine.
func (s *Session) Activity() pgcatalog.Activity { return *s.activity.Load() }

// setActivity records a change of state; query is "" for none new.
func (s *Session) setActivity(state, query string) {
	a := *s.activity.Load()
	now := s.now()
	a.State, a.Changed = state, now
	a.AppName = s.set.text("application_name")
	a.XactStart = s.tx.started
	if query != "" {
		a.Query, a.QueryStart = query, now
	}
	s.activity.Store(&a)
}

// setIdle records that the session waits for its client.
func (s *Session) setIdle() { s.setIdleAfter("") }

// setIdleAfter does so after a statement that has not been recorded when it began.
func (s *Session) setIdleAfter(query string) {
	switch s.TxStatus() {
	case 'T':
		s.setActivity("idle in transaction", query)
	case 'E':
		s.setActivity("idle in transaction (aborted)", query)
	default:
		s.setActivity("idle", query)
	}
}

// TxStatus is the status byte of ReadyForQuery: 'I' idle, 'T' in a block, 'E' in a failed block.
func (s *Session) TxStatus() byte {
	switch {
	case !s.tx.block:
		return 'I'
	case s.tx.failed:
		return 'E'
	}
	return 'T'
}

// Fail marks the running transaction failed after an error the session did not raise
// itself, such as a protocol violation between Parse and Sync.
func (s *Session) Fail() { s.fail() }

// Close ends the session: the transaction is rolled back, temporary tables, listens and
// locks go. It may be called twice.
func (s *Session) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.abort()
	for _, f := range s.ends {
		f()
	}
	s.dropAllPortals(true)
	s.unlistenAll()
	s.shared.leave(s)
	s.shared.clients.leave(s.clientKey(), s.now())
	s.temp.Reset()
}

// errFeature is valid SQL that Eider does not do.
func errFeature(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.FeatureNotSupported, format, args...)
}

// now is the wall clock.
func (s *Session) now() time.Time { return s.deps.Clock() }

// NewSession connects a client to a catalog: 3D000 when there is no such one, and the
// error of a startup parameter that is not acceptable.
func NewSession(d Deps, o SessionOptions) (*Session, error) {
	if d.Clock == nil {
		d.Clock = time.Now
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Shared == nil {
		d.Shared = NewShared(SharedOptions{Now: d.Clock()})
	}
	if d.Guard == nil {
		d.Guard = guard.New(guard.Options{Clock: d.Clock, Logger: d.Logger})
	}
	d.Limits = d.Limits.withDefaults()
	c, err := d.Store.Catalog(o.Database)
	if err != nil {
		if errors.Is(err, store.ErrNoCatalog) {
			return nil, pgerr.Wrap(err, pgerr.InvalidCatalogName, "database %q does not exist", o.Database)
		}
		return nil, err
	}
	s := &Session{
		deps: d, opts: o, log: d.Logger, shared: d.Shared, catalog: c, catOID: c.OID(), db: o.Database,
		set: newSettings(), temp: store.NewTempSpace(uint32(o.PID)),
		stmts: make(map[string]*prepared), portals: make(map[string]*portal), listens: make(map[string]bool),
	}
	s.funcs.s = s
	now := s.now()
	s.activity.Store(&pgcatalog.Activity{
		PID: o.PID, User: o.User, Database: o.Database, DatabaseOID: s.catOID, AppName: o.ApplicationName,
		Addr: o.RemoteAddr, State: "idle", Connected: now, Changed: now,
	})
	if err := s.applyStartup(); err != nil {
		return nil, s.toPG(context.Background(), err)
	}
	s.shared.join(s)
	s.turn.client = s.shared.clients.join(s.clientKey(), s.now())
	return s, nil
}

// IdleTimeouts are idle_in_transaction_session_timeout and idle_session_timeout, which the
// server enforces between messages; 0 means none.
func (s *Session) IdleTimeouts() (inTransaction, idle time.Duration) {
	f := s.set.decoded()
	return f.idleTxTimeout, f.idleTimeout
}
