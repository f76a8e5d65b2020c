package translate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/guard"
)

// Which transactions take turns is decided here, by what clients send; what a turn is, in
// store/turn.go.
//
// A transaction that lost the race for a snapshot id comes again after a pause. DuckDB
// does so on any connection of its pool: what it reads first then (snapshots and
// statistics, unfiltered) says that it is a retry, and that its process has lost before
// keeps others who read the same from being taken for one. Other clients keep to their
// connection, and begin with the head.

// snapshotTable is the table whose primary key DuckLake's commits race for.
const snapshotTable = "ducklake_snapshot"

// lossMemory is how long a loss entitles its client to a turn: longer than the longest
// pause between two attempts.
const lossMemory = 30 * time.Second

// writerMemory is how long a session that committed a snapshot counts as a writer.
const writerMemory = 30 * time.Second

// turnState is what a session knows about its part in races.
type turnState struct {
	client *turnClient
	// lost: the last transaction lost, and the session has not been reset since.
	lost bool
	// wrote is when the session last committed a snapshot, or tried to.
	wrote time.Time
	// began: the running transaction began with a read of the head. writes: it turned out
	// to be a writer's.
	began, writes bool
	habit         habit
	steps         steps
	// schema is where the head is that the running transaction may have been promised.
	schema string
	// wroteTables are those of the last transaction that came to its COMMIT, or lost.
	wroteTables []string
	// undone is what the session may repeat, also after DISCARD ALL: a pool gives the connection
	// to whoever comes next, which as a rule is who lost. It is the client's if that has a name.
	undone repetition
	// retry is the running transaction if it has, or had, a retry's turn.
	retry *store.Txn
}

// habit predicts whether the next transaction that begins with the head will write, from
// what followed the last two of them earlier. Drivers that prepare a statement in a
// transaction of its own read and write by turns.
type habit struct {
	last  uint8    // the last two: a bit is set for one that wrote
	after [4]uint8 // by last: 2 and more predicts a writer
}

func (h *habit) writes() bool { return h.after[h.last] >= 2 }

func (h *habit) learn(wrote bool) {
	if wrote && h.after == [4]uint8{} {
		h.after = [4]uint8{2, 2, 2, 2} // a writer, until it shows when it reads
	}
	n := &h.after[h.last]
	h.last = h.last << 1 & 3
	switch {
	case wrote:
		*n = min(*n+2, 3)
		h.last |= 1
	case *n > 0:
		*n--
	}
}

// firstRead is what a transaction's first statement tells about it.
type firstRead uint8

const (
	readOther firstRead = iota
	readHead            // the newest snapshot: anybody may begin so
	readRetry           // what DuckLake reads before it repeats a commit
)

// maxFirstRead is the longest text that is looked at: schema names may be long, batches are not meant.
const maxFirstRead = 2048

// classifyFirst looks at the text of a transaction's first statement.
func classifyFirst(sql string) firstRead {
	if len(sql) > maxFirstRead {
		return readOther
	}
	sql = strings.TrimLeft(sql, " \t\r\n")
	if len(sql) < 7 {
		return readOther
	}
	switch {
	case strings.EqualFold(sql[:6], "SELECT"), strings.EqualFold(sql[:5], "COPY "):
	default:
		return readOther
	}
	switch {
	case !strings.Contains(sql, "ducklake_"):
		return readOther
	case strings.Contains(sql, snapshotTable) && (strings.Contains(sql, "MAX(snapshot_id)") || strings.Contains(sql, "max(snapshot_id)")):
		return readHead
	case sql[0] != 'C' && sql[0] != 'c':
		return readOther
	}
	table, where, ok := copied(sql)
	if !ok {
		return readOther
	}
	filtered := where != ""
	switch table {
	case snapshotTable:
		// A retry looks for the newest. The versions alone are read after a commit, to tell what is not needed any more,
		// and by any session of the client: it would use up the turn of one that has lost.
		if !filtered && strings.Contains(sql, `"snapshot_id"`) {
			return readRetry
		}
	case "ducklake_table_stats", "ducklake_table_column_stats":
		if !filtered {
			return readRetry
		}
	case "ducklake_snapshot_changes":
		if !filtered || strings.HasPrefix(where, `"snapshot_id" > `) {
			return readRetry
		}
	}
	return readOther
}

// copied takes COPY (SELECT … FROM "schema"."table" [WHERE …]) TO STDOUT … apart. It does not
// read the text as a parser would: what it says of others is nothing, or means no harm.
func copied(sql string) (table, where string, ok bool) {
	end := strings.LastIndex(sql, ") TO STDOUT")
	if end < 0 {
		return "", "", false
	}
	from := strings.LastIndex(sql[:end], " FROM ")
	if from < 0 {
		return "", "", false
	}
	source := strings.TrimRight(sql[from+len(" FROM "):end], " \n")
	source, where, _ = strings.Cut(source, " WHERE ")
	return strings.Trim(source[strings.LastIndexByte(source, '.')+1:], `"`), where, true
}

// readsForBatch reports whether a statement reads one table's statistics, or what inlined
// relations it has: a writer of inlined rows does so between the head and its batch, into
// which it puts what follows from that.
func readsForBatch(sql string) bool {
	// Two brackets: no room for another query.
	if len(sql) > maxFirstRead || !strings.HasPrefix(sql, "COPY (SELECT ") || strings.Count(sql, "(") > 2 {
		return false
	}
	table, where, ok := copied(sql)
	if !ok || !strings.HasPrefix(where, `"table_id" = '`) {
		return false
	}
	switch table {
	case "ducklake_table_stats", "ducklake_table_column_stats", "ducklake_inlined_data_tables":
		return true
	}
	return false
}

// awaitTurn waits for the turn if the statement begins a transaction that should have one.
// It must be called before the transaction takes its view. told says that the caller
// answers a head read by pretend, if the transaction was promised one.
func (s *Session) awaitTurn(ctx context.Context, sql string, told bool) error {
	if !s.tx.failed && s.promised() {
		if told && s.readsPromise(sql) || undoes(sql) {
			return nil
		}
		return s.settle(ctx)
	}
	if !s.tx.block || s.tx.failed || s.tx.txn != nil && s.tx.txn.HasSnapshot() || !s.catalog.Turns() {
		return nil
	}
	first := classifyFirst(sql)
	if first == readOther {
		return nil
	}
	now := s.now()
	s.turn.began = first == readHead
	repeats := first == readHead && !s.turn.lost && s.repeats(now)
	switch {
	case first == readRetry || s.turn.lost || repeats:
		own := s.turn.lost
		s.turn.lost = false
		// What DuckLake has given up counts among no losses that it repeats.
		if !repeats && !s.turn.client.retry(now, own) {
			return nil
		}
		t, err := s.txn()
		if err != nil {
			return err
		}
		s.turn.retry = t
		if err := t.AwaitRetry(ctx); err != nil {
			return err
		}
		s.fillOpen(ctx) // its own row could not take that place, or not follow
		if first == readHead {
			return nil
		}
		if err := t.EnsureSnapshot(); err != nil {
			return err
		}
		return t.AwaitStable(ctx)
	case s.turn.habit.writes() && now.Sub(s.turn.wrote) <= writerMemory:
		t, err := s.txn()
		if err != nil {
			return err
		}
		f := s.forecast(sql, told)
		s.turn.schema = f.Schema
		return t.AwaitLease(ctx, &guard.SnapshotRace, f)
	}
	return nil
}

// awaitTurnInTime is awaitTurn within the statement_timeout, which as a rule begins later.
func (s *Session) awaitTurnInTime(ctx context.Context, sql string, told bool) error {
	sctx, cancel := s.statementContext(ctx)
	defer cancel()
	if err := s.awaitTurn(sctx, sql, told); err != nil {
		return s.cause(sctx, err)
	}
	return nil
}

// awaitStable waits, before a statement that returns rows, until what its transaction reads
// is on stable storage. The exceptions are the head and what else goes into the batch of
// an INSERT: who has the turn may learn that, and build on it, while it is on its way there.
// Its own commit comes after it, and the answer to its COMMIT, also if it has written nothing.
func (s *Session) awaitStable(ctx context.Context, st ast.Stmt, sql string) error {
	t := s.tx.txn
	if t == nil || !t.Unstable() {
		return nil
	}
	switch st := st.(type) {
	case *ast.Transaction:
		return nil
	case *ast.Insert, *ast.Update, *ast.Delete:
		if !returnsRows(st) {
			return nil
		}
	}
	if classifyFirst(sql) == readHead || readsForBatch(sql) {
		return nil
	}
	return t.AwaitStable(ctx)
}

// noteLoss looks whether an error says that t, the session's transaction, lost a race. The
// client hears of it when what it lost to is on stable storage.
func (s *Session) noteLoss(ctx context.Context, t *store.Txn, err error) {
	var unique *store.UniqueViolation
	var serial *store.SerializationError
	what := "row"
	switch {
	case errors.As(err, &unique):
		// A rival's commit between two statements of a batch shows at the next key that both
		// add: often that of ducklake_snapshot_changes.
		if unique.Table != snapshotTable && (t == nil || !t.Overtaken(snapshotTable)) {
			return
		}
		what = "snapshot"
		if r := s.turn.retry; r != nil && r.HadRetry() {
			// Nobody could come before it: it did not build on the head that it read. Such a
			// client would earn the next turn with each, and others would hardly commit.
			s.turn.client.setOverran()
		}
	case errors.As(err, &serial):
		if serial.Schema {
			what = "schema"
		}
	default:
		return
	}
	if t != nil && t.Refused() {
		// Or it would be refused each time, if it gets no turn.
		s.fillOpen(ctx)
	}
	_ = s.catalog.AwaitStable(ctx)
	if !s.tx.block {
		return // a statement of its own, which nobody repeats in the way that is ordered here
	}
	s.turn.lost = true
	s.turn.writes, s.turn.wrote = true, s.now()
	s.turn.client.lose(s.now())
	s.undone(func(r *repetition) {
		if r.lose(slices.Clone(s.turn.wroteTables)); what == "row" {
			r.giveUp(s.now())
		}
	})
	s.catalog.Lost(what)
}

// noteTables notes what tables a transaction writes, for a client that may repeat it. t may be
// nil, but has not ended.
func (s *Session) noteTables(t *store.Txn) {
	if s.turn.wroteTables = s.turn.wroteTables[:0]; t != nil {
		s.turn.wroteTables = t.AppendWrote(s.turn.wroteTables)
	}
}

// noteCommit notes that the session committed a snapshot.
func (s *Session) noteCommit(t *store.Txn) {
	s.turn.steps.learn(t.Step())
	s.turn.lost, s.turn.retry = false, nil
	s.turn.writes, s.turn.wrote = true, s.now()
	s.turn.client.committed()
	s.undone(func(r *repetition) { r.done(s.turn.wroteTables) })
}

// noteEnd notes the end of a transaction.
func (s *Session) noteEnd() {
	if r := s.turn.retry; r != nil {
		s.undone(func(u *repetition) { u.giveUp(s.now()) })
		if r.Overran() {
			s.turn.client.setOverran()
		}
	}
	if s.turn.began {
		s.turn.habit.learn(s.turn.writes)
		if !s.turn.writes {
			s.turn.steps.stray()
		}
	}
	s.turn.began, s.turn.writes, s.turn.retry = false, false, nil
}
