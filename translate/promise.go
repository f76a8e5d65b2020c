package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/guard"
)

// What a session does with a head that it was promised, see store/promise.go: it answers
// the head read as if the row were there, settles before the next statement, and adds the
// row itself where nobody else does.

// steadySteps is how many transactions in a row that began with the head must have committed
// and added the same to it before a session is expected to do so again. One that does not
// costs the lake a snapshot which changes nothing: who reads and writes by chance must
// hardly ever be taken for steady. Each time that a session was, wrongly, it needs twice as
// many, up to mostSteps: who does something else after every tenth commit is found out.
const (
	steadySteps = 8
	mostSteps   = 128
)

// steps is what a session's commits added to the numbers of the head.
type steps struct {
	last store.Head
	// n is how often in a row: without a transaction that began with the head and did not try
	// to commit a snapshot.
	n    int
	need int // from how many on the session counts as steady; 0: steadySteps
}

func (s *steps) steady() bool { return s.n >= max(s.need, steadySteps) }

func (s *steps) learn(step store.Head, ok bool) {
	if ok && s.n > 0 && s.last == step {
		s.n = min(s.n+1, mostSteps)
		return
	}
	s.stray()
	if ok {
		s.last, s.n = step, 1
	}
}

// stray notes a transaction that did something else.
func (s *steps) stray() {
	if s.steady() {
		s.need = min(2*max(s.need, steadySteps), mostSteps)
	}
	s.n = 0
}

// forecast is what is known about a transaction that begins with a read of the head. Only
// commits that leave definitions as they are are foreseen. told says that the read may be
// answered by pretend.
func (s *Session) forecast(sql string, told bool) store.Forecast {
	f := store.Forecast{Step: s.turn.steps.last}
	f.Steady = s.turn.steps.steady() && f.Step[1] == 0 && f.Step[2] == 0
	if told && !s.tx.readOnly {
		f.Schema, _ = headSchema(sql)
	}
	return f
}

// The parts of DuckLake's head read, which may stand in the subquery of a COPY. Nothing else
// is answered with a promise: it would see other tables as they were before.
const (
	headCopy    = "COPY (SELECT "
	headColumns = "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id"
	headWhere   = ".ducklake_snapshot WHERE snapshot_id = ("
	headNewest  = "SELECT MAX(snapshot_id) FROM \""
	headTail    = ") AS __unnamed_subquery"
	headEnd     = ") TO STDOUT"
)

// headSchema is the schema of the table whose head a text reads, if it reads just that.
func headSchema(sql string) (schema string, ok bool) {
	const space = " \t\r\n"
	rest := strings.TrimLeft(sql, space)
	copied, isCopy := strings.CutPrefix(rest, headCopy)
	if isCopy {
		var columns string
		if columns, rest, ok = strings.Cut(copied, " FROM ("); !ok || !headOnly(columns) {
			return "", false
		}
		rest = strings.TrimLeft(rest, space)
	}
	if rest, ok = strings.CutPrefix(rest, headColumns); !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, space), "FROM \""); !ok {
		return "", false
	}
	if schema, rest, ok = strings.Cut(rest, "\""); !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(rest, headWhere); !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, space), headNewest+schema+"\".ducklake_snapshot"); !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, space), ")"); !ok {
		return "", false
	}
	rest = strings.TrimLeft(rest, space)
	if isCopy {
		rest, ok = strings.CutPrefix(rest, headTail)
		ok = ok && strings.HasPrefix(strings.TrimLeft(rest, space), headEnd)
	} else {
		ok = rest == "" || rest == ";"
	}
	if !ok {
		return "", false
	}
	return schema, true
}

// headOnly reports whether a list has columns of the head only.
func headOnly(columns string) bool {
	for c := range strings.SplitSeq(columns, ",") {
		name, ok := strings.CutPrefix(strings.TrimSpace(c), `"`)
		name, end := strings.CutSuffix(name, `"`)
		if !ok || !end || !slices.Contains(guard.SnapshotRace.Columns[:], name) {
			return false
		}
	}
	return true
}

// undoes reports whether a statement takes back what its transaction has done: it reads
// nothing, and need not wait for what was promised.
func undoes(sql string) bool {
	sql = strings.TrimLeft(sql, " \t\r\n")
	return len(sql) >= 8 && strings.EqualFold(sql[:8], "ROLLBACK") || len(sql) >= 5 && strings.EqualFold(sql[:5], "ABORT")
}

// promised reports whether the session's transaction has a promise that it has not settled.
func (s *Session) promised() bool {
	if s.tx.txn == nil {
		return false
	}
	_, _, ok := s.tx.txn.Promised()
	return ok
}

// readsPromise reports whether a statement reads the head that the session's transaction was
// promised, and nothing else.
func (s *Session) readsPromise(sql string) bool {
	if s.tx.failed || !s.promised() {
		return false
	}
	schema, ok := headSchema(sql)
	return ok && schema == s.turn.schema
}

// pretend makes the session answer a read of the head as if the row that its transaction was
// promised were there. The function that it returns ends that. Other statements it leaves alone.
func (s *Session) pretend(ctx context.Context, sql string) (end func(), err error) {
	if !s.readsPromise(sql) {
		return func() {}, nil
	}
	oid, head, _ := s.tx.txn.Promised()
	t := s.catalog.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	t.Fill() // for its view: the newest
	defer func() {
		if s.tx.txn != t {
			_ = t.Rollback()
		}
	}()
	if err := t.EnsureSnapshot(); err != nil {
		return nil, err
	}
	if err := guard.AddHead(t, oid, head, s.now(), false); err != nil {
		if errors.Is(err, store.ErrUnique) { // it has been kept meanwhile
			return func() {}, s.settle(ctx)
		}
		return nil, err
	}
	own := s.tx.txn
	s.tx.txn = t
	return func() {
		_ = t.Rollback()
		s.tx.txn = own
	}, nil
}

// maxFills is how often a promise is tried to be filled. Once is enough, as a rule: if not by
// the session itself, it was kept by who was faster.
const maxFills = 3

// settle must come before a transaction that was promised a head does anything but read that
// or roll back: what it then reads is what it was told. Without a promise it does nothing.
func (s *Session) settle(ctx context.Context) error {
	if !s.promised() {
		return nil
	}
	for range maxFills {
		err := s.tx.txn.Settle(ctx)
		if !errors.Is(err, store.ErrPromiseOpen) {
			return err
		}
		oid, head, _ := s.tx.txn.Promised()
		if err := s.fill(ctx, oid, head); err != nil {
			return err
		}
	}
	return errPromiseBroken
}

// errPromiseBroken is for a promise that cannot be kept: the table is another one now.
var errPromiseBroken = &store.SerializationError{Table: snapshotTable, Schema: true}

// fillOpen adds what was promised to somebody and does not come, so that it is in nobody's
// way. If that cannot be, the caller goes on, and hears of the reason when it matters to it.
func (s *Session) fillOpen(ctx context.Context) {
	for range maxFills {
		oid, head, ok := s.catalog.OpenPromise()
		if !ok {
			return
		}
		if err := s.fill(ctx, oid, head); err != nil {
			s.log.Warn("an announced snapshot was not added", "error", err, "pid", s.opts.PID, "database", s.db)
			return
		}
	}
}

// fill adds a promised snapshot which changes nothing. Somebody else may be faster.
func (s *Session) fill(ctx context.Context, oid uint32, head store.Head) error {
	t := s.catalog.Begin(store.TxnOptions{Isolation: store.RepeatableRead, Sync: s.set.decoded().sync})
	t.Fill()
	defer func() { _ = t.Rollback() }()
	err := t.EnsureSnapshot()
	if err == nil {
		err = guard.AddHead(t, oid, head, s.now(), true)
	}
	if err == nil {
		t.Contend(ctx, &guard.SnapshotRace)
		err = s.deps.Guard.Commit(ctx, t, guard.Info{User: s.opts.User, Application: s.set.text("application_name")})
	}
	if errors.Is(err, store.ErrUnique) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("translate: adding an announced snapshot: %w", err)
	}
	return nil
}
