package pgcatalog

import (
	"context"
	"time"

	"github.com/eiderdb/eider/kv/store"
)

// The interfaces below are optional: the exec.Session of a statement may implement any
// of them, and the relations and functions that need one ask for it.

// SettingsLister answers pg_settings.
type SettingsLister interface {
	Settings() []Setting
}

// Setting is a run-time parameter as pg_settings shows it.
type Setting struct {
	Name    string
	Value   string
	Unit    string
	Boot    string // the value without any configuration
	Reset   string // the value RESET gives
	Desc    string
	VarType string // bool, integer, real, string, enum
	Context string // user, internal, postmaster, …
	Source  string // default, session, client, …
}

// ActivityLister answers pg_stat_activity and counts sessions for pg_stat_database.
type ActivityLister interface {
	Activities() []Activity
}

// Activity is one session as pg_stat_activity shows it.
type Activity struct {
	PID         int32
	User        string
	Database    string
	DatabaseOID uint32
	AppName     string
	Addr        string // host:port of the client, "" when local
	Query       string
	State       string
	Connected   time.Time
	XactStart   time.Time // zero outside a transaction
	QueryStart  time.Time // zero before the first statement
	Changed     time.Time // of State
}

// ViewLister answers eider.sessions.
type ViewLister interface {
	// Views lists the sessions of the catalog with what they read, in a transaction that sees
	// the newest state; release ends what was taken for that.
	Views() (list []SessionView, release func(), err error)
}

// SessionView is one session with the view that it holds.
type SessionView struct {
	Activity
	// Txn reads in the session's view; nil when it holds none, or one that cannot be read any more.
	Txn *store.Txn
	// Holds says that the session holds a view, and Since when it was taken.
	Holds bool
	Since time.Time
}

// ScheduleLister answers eider.schedule.
type ScheduleLister interface {
	// Schedule lists the files that wait to be deleted in all lakes of the catalog.
	Schedule(ctx context.Context, txn *store.Txn) ([]ScheduledFile, error)
}

// ScheduledFile is a row of a lake's ducklake_files_scheduled_for_deletion.
type ScheduledFile struct {
	Lake     string
	ID       int64
	Path     string
	Relative bool
	Start    time.Time // zero where the row has none
	Due      time.Time // when the time allows it to go; zero for never
	Held     string    // what keeps it besides, in words; "" for nothing
}

// Signaller answers pg_cancel_backend and pg_terminate_backend; false means that there
// is no such session.
type Signaller interface {
	CancelBackend(pid int32) bool
	TerminateBackend(pid int32) bool
}

// Notifier answers pg_notify: the notification goes out when the transaction commits.
type Notifier interface {
	Notify(channel, payload string) error
}

// AdvisoryLocker answers the pg_advisory_lock family. Keys are as PostgreSQL makes
// them: Class is the high half of a bigint key or the first of two integer keys.
type AdvisoryLocker interface {
	// AdvisoryLock takes a lock, waiting when try is false; it answers whether the lock is held.
	AdvisoryLock(ctx context.Context, key AdvisoryKey, mode AdvisoryMode, try bool) (bool, error)
	// AdvisoryUnlock gives back a session lock; false when it was not held.
	AdvisoryUnlock(key AdvisoryKey, shared bool) bool
	// AdvisoryUnlockAll gives back every session lock.
	AdvisoryUnlockAll()
}

// AdvisoryKey names an advisory lock within a database.
type AdvisoryKey struct {
	Class, Object uint32
	// TwoKeys tells pg_advisory_lock(int, int) from pg_advisory_lock(bigint).
	TwoKeys bool
}

// AdvisoryMode says how an advisory lock is taken.
type AdvisoryMode struct {
	Shared bool
	Xact   bool // released at the end of the transaction
}

// StatementLister answers pg_prepared_statements.
type StatementLister interface {
	PreparedStatements() []PreparedStatement
}

// PreparedStatement is a named statement of the session.
type PreparedStatement struct {
	Name     string
	Text     string
	Prepared time.Time
	Params   []uint32
	SQL      bool // made by PREPARE and not by the protocol
}

// CursorLister answers pg_cursors.
type CursorLister interface {
	Cursors() []Cursor
}

// Cursor is an open portal of the session.
type Cursor struct {
	Name     string
	Text     string
	Hold     bool
	Binary   bool
	Scroll   bool
	Declared time.Time
}

// DatabaseLister answers pg_database. Without it only the session's own is listed.
type DatabaseLister interface {
	Databases() []Database
}

// Database is a catalog of the server.
type Database struct {
	OID  uint32
	Name string
}

// RoleLister answers pg_roles and its relatives. The first role owns everything.
// Without it the session's user is the only role.
type RoleLister interface {
	Roles() []Role
}

// Role is a user of the server.
type Role struct {
	OID       uint32
	Name      string
	Superuser bool
	Login     bool
}

// Sizer answers pg_database_size and pg_relation_size with estimates in bytes.
type Sizer interface {
	DatabaseSize(name string) int64
	RelationSize(oid uint32) int64
}

// SnapshotExporter answers pg_export_snapshot.
type SnapshotExporter interface {
	ExportSnapshot() (string, error)
}

// ServerInfo answers functions about the process.
type ServerInfo interface {
	// ProductVersion is Eider's version, such as "0.3.1".
	ProductVersion() string
	StartTime() time.Time
}
