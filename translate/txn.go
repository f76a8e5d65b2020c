package translate

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/guard"
	"github.com/eiderdb/eider/translate/pgerr"
)

// isolation is a transaction's isolation level as the client named it.
type isolation uint8

const (
	readUncommitted isolation = iota
	readCommitted
	repeatableRead
	serializable
)

func (i isolation) String() string {
	return [...]string{"read uncommitted", "read committed", "repeatable read", "serializable"}[i]
}

func parseIsolation(s string) (isolation, bool) {
	for i := readUncommitted; i <= serializable; i++ {
		if strings.EqualFold(i.String(), s) {
			return i, true
		}
	}
	return readCommitted, false
}

// txState is the session's transaction: a state machine over three facts. open: a
// transaction is running, perhaps only for one statement or message. block: it is a
// BEGIN block, which only COMMIT and ROLLBACK end. failed: an error happened in the block.
type txState struct {
	open, block, failed bool
	// implicit marks the transaction that spans a message of several statements.
	implicit bool

	txn *store.Txn // made when a statement first needs it

	iso        isolation
	readOnly   bool
	deferrable bool
	snapshot   string // imported snapshot id, for when txn is made
	queried    bool   // a statement has read or written: the isolation level is fixed
	started    time.Time
	statement  time.Time

	// portals counts the statements run by Execute; again is the only one so far when it is
	// a write that may be run again at Sync, and againTag what it answered.
	portals  int
	again    *request
	againTag string

	// looked: ducklake_snapshot_changes was read, from the snapshot after since on where
	// hasSince is set (noteScan).
	looked, hasSince bool
	since            int64

	space    uint32           // schema of the lake whose tables were read last
	searched func()           // ends a search for orphans (guard.OrphanScan)
	deferred []guard.Deferred // what its statements have left
	wrote    bool             // its commit has changed tables of a lake
	kept     guard.Verdicts   // what keeps files from being deleted
	expired  uint32           // the schema of the lake whose snapshots it has deleted last
	expiry   guard.Expiry     // and how many of them

	savepoints []savepoint
	locks      bool // transaction-level advisory locks are held
	notifies   []Notification
	listens    []listenChange
}

// startTx opens a transaction unless one runs.
func (s *Session) startTx() {
	if s.tx.open {
		return
	}
	now := s.now()
	s.tx = txState{open: true, started: now, statement: now, savepoints: s.tx.savepoints[:0]}
	s.attempts.begin(now)
	s.tx.iso, _ = parseIsolation(s.set.text("default_transaction_isolation"))
	s.tx.readOnly = s.set.text("default_transaction_read_only") == "on"
	s.tx.deferrable = s.set.text("default_transaction_deferrable") == "on"
	s.set.begin()
	s.env = nil
}

// txn returns the store transaction, making it at the first need.
func (s *Session) txn() (*store.Txn, error) {
	s.startTx()
	if s.tx.txn != nil {
		return s.tx.txn, nil
	}
	o := store.TxnOptions{
		Isolation: store.RepeatableRead,
		ReadOnly:  s.tx.readOnly,
		Temp:      s.temp,
	}
	if s.tx.iso <= readCommitted {
		o.Isolation = store.ReadCommitted
	}
	t := s.catalog.Begin(o)
	t.OnScan(s.noteScan)
	t.OnTaken(s.mayTake)
	if s.tx.snapshot != "" {
		if err := t.SetSnapshot(s.tx.snapshot); err != nil {
			_ = t.Rollback()
			return nil, err
		}
	}
	s.tx.txn = t
	return t, nil
}

// noteScan notes that the transaction reads what others have committed. DuckLake does so
// before it commits again after a lost race, from the snapshot on that it has planned its
// changes on: the commit is judged by that.
func (s *Session) noteScan(tbl *rel.Table, a store.Access) {
	if tbl.Schema != s.tx.space && strings.HasPrefix(tbl.Name, "ducklake_") {
		s.noteSpace(tbl.Schema)
	}
	if tbl.Name != "ducklake_snapshot_changes" {
		return
	}
	has := a.Index != nil && a.Lo != nil && len(a.Lo.Value) == 8
	var since int64
	if has {
		since = int64(binary.BigEndian.Uint64(a.Lo.Value))
		if a.Lo.Inclusive {
			since--
		}
	}
	switch {
	case !has:
		s.tx.hasSince = false
	case !s.tx.looked:
		s.tx.since, s.tx.hasSince = since, true
	default:
		s.tx.since = min(s.tx.since, since)
	}
	s.tx.looked = true
}

// newStatement gives a statement its view: a fresh one under READ COMMITTED, the
// transaction's own otherwise.
func (s *Session) newStatement() (*store.Txn, error) {
	t, err := s.txn()
	if err != nil {
		return nil, err
	}
	s.tx.queried = true
	err = t.NewStatement()
	s.noteView()
	return t, err
}

// commitTx ends the running transaction successfully. On an error the transaction is gone
// as well: nothing of it is stored and the session is idle.
func (s *Session) commitTx(ctx context.Context) error {
	if !s.tx.open {
		return nil
	}
	err := s.settle(ctx) // what it was told must be true if it commits
	if err == nil {
		err = s.preCommit(ctx)
	}
	if err == nil && s.tx.txn != nil {
		// synchronous_commit counts as it is now, not as it was when the transaction began.
		o := s.tx.txn.Options()
		o.Sync = s.set.decoded().sync
		err = s.tx.txn.SetOptions(o)
	}
	t := s.tx.txn
	if err == nil && t != nil && !t.HasWrites() {
		err = t.AwaitStable(ctx)
	}
	if err == nil && t != nil {
		s.tx.wrote = t.TouchedPrefix("ducklake_")
		s.noteTables(t)
		t.Contend(ctx, &guard.SnapshotRace)
		err = s.deps.Guard.Commit(ctx, t, guard.Info{
			User: s.opts.User, Application: s.set.text("application_name"),
			Looked: s.tx.looked, Since: s.tx.since, HasSince: s.tx.hasSince, Rebase: s.rebases,
			Started: s.tx.started, Holders: s.holders(s.tx.space), Deferred: s.tx.deferred,
		})
		s.tx.txn = nil
	}
	if err != nil {
		s.noteLoss(ctx, t, err)
		s.abort()
		return err
	}
	if t != nil && t.Contends() {
		s.noteCommit(t)
	}
	notifies, listens := s.tx.notifies, s.tx.listens
	s.finishTx(true)
	s.applyListens(ctx, listens)
	s.shared.publish(s.catOID, notifies)
	return nil
}

// abort rolls back whatever transaction is open and leaves the session idle.
func (s *Session) abort() {
	if !s.tx.open {
		return
	}
	if s.tx.txn != nil {
		s.dropTxPortals()
		_ = s.tx.txn.Rollback()
		s.tx.txn = nil
	}
	s.finishTx(false)
}

// finishTx clears the state of the transaction that just ended.
func (s *Session) finishTx(committed bool) {
	s.dropTxPortals()
	s.noteEnd()
	s.set.end(committed)
	if s.tx.locks {
		s.releaseLocks(false, true)
	}
	s.releaseNames()
	if s.tx.space != 0 {
		s.space.Store(0)
	}
	s.attempts.end(s.now(), s.tx.space != 0, committed, s.tx.wrote)
	if s.tx.searched != nil {
		s.tx.searched()
	}
	s.tx = txState{savepoints: s.tx.savepoints[:0]}
	if s.holds.Load() != nil {
		s.holds.Store(nil)
	}
	s.env = nil
}

// fail is what an error does to the transaction: a block becomes failed, anything else
// is rolled back. What the innermost subtransaction did is undone at once.
func (s *Session) fail() {
	if !s.tx.open {
		return
	}
	if !s.tx.block {
		s.abort()
		return
	}
	if s.tx.failed {
		return
	}
	s.tx.failed = true
	if n := len(s.tx.savepoints); n > 0 {
		sp := &s.tx.savepoints[n-1]
		s.dropPortalsAfter(sp.portals)
		s.set.rollbackTo(sp.settings)
		return // the store transaction is kept: ROLLBACK TO may revive it
	}
	s.dropTxPortals()
	s.set.rollbackTo(0)
	if s.tx.txn != nil {
		_ = s.tx.txn.Rollback()
		s.tx.txn = nil
	}
	s.holds.Store(nil)
	s.releaseNames()
}

// errAborted is what every statement but the ones that end the block gets in a failed block.
func errAborted() error {
	return pgerr.New(pgerr.InFailedSQLTransaction,
		"current transaction is aborted, commands ignored until end of transaction block")
}

// exitsBlock says whether a statement may run in a failed block.
func exitsBlock(st ast.Stmt) bool {
	t, ok := st.(*ast.Transaction)
	if !ok {
		return false
	}
	switch t.Kind {
	case "commit", "rollback", "rollback to", "prepare":
		return true
	}
	return false
}

// preventInBlock refuses statements that must be their own transaction.
func (s *Session) preventInBlock(what string) error {
	if s.tx.block || s.tx.implicit {
		return pgerr.New(pgerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", what)
	}
	return nil
}

// requireBlock refuses statements that make sense only in a block.
func (s *Session) requireBlock(what string) error {
	if s.tx.block {
		return nil
	}
	return pgerr.New(pgerr.NoActiveSQLTransaction, "%s can only be used in transaction blocks", what)
}

// requireWritable refuses writes in a read-only transaction.
func (s *Session) requireWritable(what string) error {
	s.startTx()
	if s.tx.readOnly {
		return pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", what)
	}
	return nil
}

func (s *Session) isolationName() string {
	if s.tx.open {
		return s.tx.iso.String()
	}
	return s.set.text("default_transaction_isolation")
}

func (s *Session) readOnly() bool {
	if s.tx.open {
		return s.tx.readOnly
	}
	return s.set.text("default_transaction_read_only") == "on"
}

func warning(code, format string, args ...any) *pgerr.Error {
	e := pgerr.New(code, format, args...)
	e.Severity = pgerr.SeverityWarning
	return e
}

func notice(code, format string, args ...any) *pgerr.Error {
	e := pgerr.New(code, format, args...)
	e.Severity = pgerr.SeverityNotice
	return e
}

// execTransaction runs a transaction control statement and returns its tag.
func (s *Session) execTransaction(ctx context.Context, t *ast.Transaction, out Out) (string, error) {
	switch t.Kind {
	case "begin", "start":
		tag := "BEGIN"
		if t.Kind == "start" {
			tag = "START TRANSACTION"
		}
		return tag, s.beginBlock(t, out)
	case "commit":
		return s.commitBlock(ctx, t, out)
	case "rollback":
		return s.rollbackBlock(t, out)
	case "savepoint":
		return "SAVEPOINT", s.defineSavepoint(t.Name)
	case "release":
		return "RELEASE", s.releaseSavepoint(t.Name)
	case "rollback to":
		return "ROLLBACK", s.rollbackToSavepoint(t.Name)
	case "set":
		if !s.tx.block {
			if err := s.notice(out, warning(pgerr.NoActiveSQLTransaction, "SET TRANSACTION can only be used in transaction blocks")); err != nil {
				return "", err
			}
		}
		return "SET", s.setTransaction(t)
	case "set session":
		return "SET", s.setSessionCharacteristics(t)
	case "prepare":
		if !s.tx.block || s.tx.failed {
			if !s.tx.block {
				if err := s.notice(out, warning(pgerr.NoActiveSQLTransaction, "there is no transaction in progress")); err != nil {
					return "", err
				}
			}
			s.abort()
			return "ROLLBACK", nil
		}
		s.abort()
		return "", pgerr.New(pgerr.ObjectNotInPrerequisite, "prepared transactions are disabled")
	case "commit prepared", "rollback prepared":
		return "", pgerr.New(pgerr.UndefinedObject, "prepared transaction with identifier %q does not exist", t.Name)
	}
	return "", errFeature("transaction statement %q is not supported", t.Kind)
}

func (s *Session) beginBlock(t *ast.Transaction, out Out) error {
	if s.tx.block {
		if err := s.notice(out, warning(pgerr.ActiveSQLTransaction, "there is already a transaction in progress")); err != nil {
			return err
		}
	}
	s.startTx()
	s.tx.block = true
	s.tx.implicit = false
	return s.setTransaction(t)
}

func (s *Session) commitBlock(ctx context.Context, t *ast.Transaction, out Out) (string, error) {
	if !s.tx.block {
		if t.Chain {
			return "", pgerr.New(pgerr.NoActiveSQLTransaction, "COMMIT AND CHAIN can only be used in transaction blocks")
		}
		if err := s.notice(out, warning(pgerr.NoActiveSQLTransaction, "there is no transaction in progress")); err != nil {
			return "", err
		}
		return "COMMIT", s.commitTx(ctx)
	}
	if s.tx.failed {
		s.abort()
		return "", errCommitFailed()
	}
	chain := s.tx
	if err := s.commitTx(ctx); err != nil {
		return "", err
	}
	if t.Chain {
		s.chain(chain)
	}
	return "COMMIT", nil
}

// errCommitFailed answers COMMIT of a failed block. PostgreSQL answers with a ROLLBACK tag,
// which clients that look at success alone take for a commit.
func errCommitFailed() error {
	return pgerr.New(pgerr.InFailedSQLTransaction, "the transaction was rolled back because one of its statements had failed").
		WithDetail("Nothing of it was stored.")
}

func (s *Session) rollbackBlock(t *ast.Transaction, out Out) (string, error) {
	if !s.tx.block {
		if t.Chain {
			return "", pgerr.New(pgerr.NoActiveSQLTransaction, "ROLLBACK AND CHAIN can only be used in transaction blocks")
		}
		if err := s.notice(out, warning(pgerr.NoActiveSQLTransaction, "there is no transaction in progress")); err != nil {
			return "", err
		}
		s.abort()
		return "ROLLBACK", nil
	}
	chain := s.tx
	s.abort()
	if t.Chain {
		s.chain(chain)
	}
	return "ROLLBACK", nil
}

// chain opens a block with the characteristics of the one that ended.
func (s *Session) chain(old txState) {
	s.startTx()
	s.tx.block = true
	s.tx.iso, s.tx.readOnly, s.tx.deferrable = old.iso, old.readOnly, old.deferrable
}

// setTransaction applies the modes of BEGIN or SET TRANSACTION.
func (s *Session) setTransaction(t *ast.Transaction) error {
	s.startTx()
	if t.Isolation != "" {
		iso, ok := parseIsolation(t.Isolation)
		if !ok {
			return badValue("transaction_isolation", t.Isolation)
		}
		if err := s.setIsolation(iso); err != nil {
			return err
		}
	}
	if t.ReadOnly != nil {
		if err := s.setReadOnly(*t.ReadOnly); err != nil {
			return err
		}
	}
	if t.Deferrable != nil {
		s.tx.deferrable = *t.Deferrable
	}
	if t.Snapshot != "" {
		return s.importSnapshot(t.Snapshot)
	}
	return nil
}

func (s *Session) setIsolation(iso isolation) error {
	if iso == s.tx.iso {
		return nil
	}
	if s.tx.queried {
		return pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	if len(s.tx.savepoints) > 0 {
		return pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	}
	s.tx.iso = iso
	if s.tx.txn != nil {
		_ = s.tx.txn.Rollback()
		s.tx.txn = nil
	}
	return nil
}

func (s *Session) setReadOnly(ro bool) error {
	if !ro && s.tx.readOnly {
		if len(s.tx.savepoints) > 0 {
			return pgerr.New(pgerr.ActiveSQLTransaction, "cannot set transaction read-write mode inside a read-only transaction")
		}
		if s.tx.queried {
			return pgerr.New(pgerr.ActiveSQLTransaction, "transaction read-write mode must be set before any query")
		}
	}
	s.tx.readOnly = ro
	return nil
}

// setSessionCharacteristics is SET SESSION CHARACTERISTICS AS TRANSACTION.
func (s *Session) setSessionCharacteristics(t *ast.Transaction) error {
	if t.Isolation != "" {
		if err := s.change("default_transaction_isolation", t.Isolation, false, false, fromSQL); err != nil {
			return err
		}
	}
	if t.ReadOnly != nil {
		if err := s.change("default_transaction_read_only", onOff(*t.ReadOnly), false, false, fromSQL); err != nil {
			return err
		}
	}
	if t.Deferrable != nil {
		return s.change("default_transaction_deferrable", onOff(*t.Deferrable), false, false, fromSQL)
	}
	return nil
}

// setTransactionSetting is SET transaction_isolation and its like.
func (s *Session) setTransactionSetting(key, value string, def bool) error {
	s.startTx()
	d := settingDefs().byKey[key]
	if def {
		value = s.set.text("default_" + key)
	}
	canon, err := d.validate(value)
	if err != nil {
		return err
	}
	switch key {
	case "transaction_isolation":
		iso, _ := parseIsolation(canon)
		return s.setIsolation(iso)
	case "transaction_read_only":
		return s.setReadOnly(canon == "on")
	}
	s.tx.deferrable = canon == "on"
	return nil
}
