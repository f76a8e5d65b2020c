package translate

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// maxRetries is how often a single statement in READ COMMITTED is run again after losing
// to another transaction.
const maxRetries = 8

// Simple runs a whole Query message. The error that ended it, if any, is a *pgerr.Error;
// the transaction state is then settled already.
//
// Several statements in one message are one implicit transaction. BEGIN turns what has
// run so far into a block, COMMIT and ROLLBACK end it; an error skips the rest.
func (s *Session) Simple(ctx context.Context, sql string, out Out) (err error) {
	defer s.edge(ctx, out, &err)
	if handled, err := s.fastSimple(ctx, sql, out); handled {
		return err
	}
	s.setActivity("active", sql)
	defer s.setIdle()
	s.dropPortal("") // a Query message ends the unnamed portal and statement
	delete(s.stmts, "")
	var room [4]batchItem
	list, err := s.splitBatch(sql, room[:0])
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return out.EmptyQuery()
	}
	for i := range list {
		if err := s.simpleStatement(ctx, sql, &list[i], len(list), i == len(list)-1, out); err != nil {
			return err
		}
	}
	return nil
}

// batchItem is one statement of a message.
type batchItem struct {
	start  int
	parsed *ast.Parsed // nil: a cached plan is likely to fit, parse when it does not
}

// splitBatch finds the statements of a message and parses those that have no cached plan,
// so that a syntax error anywhere keeps the whole message from running.
func (s *Session) splitBatch(sql string, list []batchItem) ([]batchItem, error) {
	if err := lex.Check(sql); err != nil {
		return nil, err
	}
	for at := 0; ; {
		lex.Fingerprint(sql, at, &s.fp)
		if s.fp.Empty {
			return list, nil
		}
		if s.mayBeCached(&s.fp) {
			list = append(list, batchItem{start: s.fp.Start})
			at = s.fp.Next
			continue
		}
		p, next, ok, err := parse.Next(sql, at, s.parseLimits())
		if err != nil {
			return nil, err
		}
		if !ok {
			return list, nil
		}
		list = append(list, batchItem{start: p.Start, parsed: &p})
		at = next
	}
}

// edge settles the transaction after an error or panic, converts the error and reports
// changed settings.
func (s *Session) edge(ctx context.Context, out Out, err *error) {
	if p := recover(); p != nil {
		*err = s.panicked(p)
	}
	if *err != nil {
		// Which schema a key is in is known only while the transaction lives.
		if s.tx.open {
			s.noteTables(s.tx.txn)
			s.noteLoss(ctx, s.tx.txn, *err)
		}
		*err = s.toPG(ctx, *err)
		s.fail()
	}
	if out != nil {
		if rerr := s.ReportChanges(out); rerr != nil && *err == nil {
			*err = rerr
		}
	}
}

// panicked turns a panic into XX000 and gives up the transaction's store state, which may
// be in the middle of a change.
func (s *Session) panicked(p any) error {
	s.log.Error("panic in a statement", "panic", p, "pid", s.opts.PID, "database", s.db,
		"query", s.activity.Load().Query, "stack", string(debug.Stack()))
	s.tx.savepoints = s.tx.savepoints[:0]
	func() {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic while rolling back", "panic", p, "stack", string(debug.Stack()))
				s.tx.txn = nil
			}
		}()
		s.fail()
	}()
	return pgerr.New(pgerr.InternalError, "internal error: %s", firstLine(fmt.Sprint(p)))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// simpleStatement runs one statement of a Query message.
func (s *Session) simpleStatement(ctx context.Context, sql string, it *batchItem, count int, last bool, out Out) error {
	if s.tx.failed && (it.parsed == nil || !exitsBlock(it.parsed.Stmt)) {
		return errAborted()
	}
	lex.Fingerprint(sql, it.start, &s.fp)
	alone := count == 1 && !s.tx.open
	for attempt := 0; ; attempt++ {
		s.startTx()
		s.tx.statement = s.now()
		if count > 1 && !s.tx.block {
			s.tx.implicit = true
		}
		rq := &request{sql: sql, noParams: true, out: out, fp: &s.fp, parsed: it.parsed}
		if it.parsed != nil {
			rq.stmt = it.parsed.Stmt
		}
		err := s.simpleAttempt(ctx, rq, last, out)
		if err == nil || !alone || attempt >= maxRetries || !s.mayRetry(rq.stmt, err) {
			return err
		}
		s.abort()
	}
}

// mayRetry says whether a statement that is its own transaction may run again: writes
// under READ COMMITTED, which have sent nothing before their commit.
func (s *Session) mayRetry(st ast.Stmt, err error) bool {
	if iso, _ := parseIsolation(s.set.text("default_transaction_isolation")); iso > readCommitted {
		return false
	}
	switch st := st.(type) {
	case *ast.Insert:
		return isConflict(err) || st.OnConflict != nil && errors.Is(err, store.ErrUnique)
	case *ast.Update, *ast.Delete:
		return isConflict(err)
	}
	return false
}

func isConflict(err error) bool { return errors.Is(err, store.ErrSerialization) }

func (s *Session) simpleAttempt(ctx context.Context, rq *request, last bool, out Out) error {
	sctx, cancel := s.statementContext(ctx)
	defer cancel()
	if err := s.awaitTurn(sctx, rq.sql[rq.fp.Start:], true); err != nil {
		return s.cause(sctx, err)
	}
	end, err := s.pretend(sctx, rq.sql[rq.fp.Start:])
	if err != nil {
		return s.cause(sctx, err)
	}
	defer end()
	if err := s.resolve(rq); err != nil {
		return err
	}
	if err := s.awaitStable(sctx, rq.stmt, rq.sql[rq.fp.Start:]); err != nil {
		return s.cause(sctx, err)
	}
	r, err := s.start(sctx, rq)
	if err != nil {
		return s.cause(sctx, err)
	}
	defer r.close()
	finish := last && s.tx.open && !s.tx.block
	if finish && r.buffered {
		if err := s.commitTx(ctx); err != nil {
			return err
		}
		finish = false
	}
	if r.cols != nil {
		if err := out.RowDescription(r.cols, r.formats); err != nil {
			return err
		}
		if _, err := r.send(out, r.formats, 0); err != nil {
			return s.cause(sctx, err)
		}
	}
	if finish {
		if err := s.commitTx(ctx); err != nil {
			return err
		}
	}
	return out.CommandComplete(r.finalTag())
}

// statementContext applies statement_timeout.
func (s *Session) statementContext(ctx context.Context) (context.Context, context.CancelFunc) {
	d := s.set.decoded().statementTimeout
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, errStatementTimeout)
}

// cause replaces a bare context error by what ended the context.
func (s *Session) cause(ctx context.Context, err error) error {
	if pgerr.As(err) == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		if c := context.Cause(ctx); c != nil {
			return c
		}
	}
	return err
}

func (s *Session) parseLimits() parse.Limits { return parse.Limits{} }

// notice sends a notice or warning unless client_min_messages hides it.
func (s *Session) notice(out Out, e *pgerr.Error) error {
	rank := 2
	switch s.set.decoded().minMessages {
	case "warning":
		rank = 3
	case "error":
		rank = 4
	}
	have := 2
	if e.Severity == pgerr.SeverityWarning {
		have = 3
	}
	if have < rank || out == nil {
		return nil
	}
	return out.Notice(e)
}

// The result of the pool's health check, SELECT 1.
var (
	selectOneColumns = []exec.Column{{Name: "?column?", Type: types.T{OID: types.Int4OID, Mod: -1}}}
	selectOneRow     = exec.Row{{I: 1, Valid: true}}
)

// fastSimple answers the texts that clients send around every transaction without parsing.
func (s *Session) fastSimple(ctx context.Context, sql string, out Out) (bool, error) {
	pinged := s.pinged
	s.pinged = sql == "SELECT 1"
	switch sql {
	case "SELECT 1":
		if s.tx.open {
			return false, nil
		}
		if err := out.RowDescription(selectOneColumns, nil); err != nil {
			return true, err
		}
		if err := out.DataRow(selectOneRow, selectOneColumns, nil); err != nil {
			return true, err
		}
		s.setIdleAfter(sql)
		return true, out.CommandComplete("SELECT 1")
	case "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN":
		if s.tx.open {
			return false, nil
		}
		s.startTx()
		s.tx.block = true
		if sql != "BEGIN" {
			s.tx.iso = repeatableRead
		}
		s.setIdleAfter(sql)
		return true, out.CommandComplete("BEGIN")
	case "COMMIT":
		if !s.tx.block || s.tx.failed {
			return false, nil
		}
		s.setActivity("active", sql)
		err := s.commitTx(ctx)
		s.setIdle()
		if err != nil {
			return true, err
		}
		return true, out.CommandComplete("COMMIT")
	case "ROLLBACK":
		if !s.tx.block {
			return false, nil
		}
		s.abort()
		s.setIdleAfter(sql)
		return true, out.CommandComplete("ROLLBACK")
	case "DISCARD ALL":
		if s.tx.open {
			return false, nil
		}
		s.discardAll()
		s.setIdleAfter(sql)
		// DuckDB's pool, since 1.5.2, pings a connection and resets it at once. A reset by
		// anybody else may hand the connection to another client.
		s.manyRows = pinged
		return true, out.CommandComplete("DISCARD ALL")
	}
	return false, nil
}
