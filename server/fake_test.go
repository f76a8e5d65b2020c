package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// fakeSession answers a toy language, so that framing, flow control and shutdown are
// tested without a store:
//
//	SELECT n        one int4 row            ROWS n       n text rows
//	BEGIN COMMIT ROLLBACK DISCARD ALL       FAIL         42P01
//	WAIT            until cancelled         PANIC
//	COPYOUT n       n chunks                COPYIN       reads all; COPYIN bad fails at the first payload
//	NOTICE          NOTIFY text             SET ms       both idle timeouts
type fakeSession struct {
	env     types.Env
	opts    translate.SessionOptions
	status  byte
	stmts   map[string]string
	portals map[string]*fakePortal
	waiting chan struct{} // receives one value per WAIT and COPYIN that has begun
	closed  atomic.Int32
	lastIn  [][]byte
	idle    time.Duration // both idle timeouts
}

type fakePortal struct {
	sql     string
	formats []int16
	sent    int
}

func newFake(o translate.SessionOptions) *fakeSession {
	return &fakeSession{
		opts: o, status: 'I', stmts: map[string]string{}, portals: map[string]*fakePortal{},
		waiting: make(chan struct{}, 16),
	}
}

var textCol = []exec.Column{{Name: "t", Type: types.T{OID: 25, Mod: -1}}}

var intCol = []exec.Column{{Name: "?column?", Type: types.T{OID: 23, Mod: -1}}}

func (s *fakeSession) Simple(ctx context.Context, sql string, out translate.Out) error {
	any := false
	for one := range strings.SplitSeq(sql, ";") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		any = true
		if err := s.one(ctx, one, nil, 0, out, nil); err != nil {
			if s.status == 'T' {
				s.status = 'E'
			}
			return err
		}
	}
	if !any {
		return out.EmptyQuery()
	}
	return nil
}

func (s *fakeSession) one(ctx context.Context, sql string, formats []int16, limit int, out translate.Out, p *fakePortal) error {
	word, arg, _ := strings.Cut(sql, " ")
	n, _ := strconv.Atoi(arg)
	if s.status == 'E' && word != "ROLLBACK" && word != "COMMIT" {
		return pgerr.New(pgerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	switch word {
	case "BEGIN":
		s.status = 'T'
	case "COMMIT", "ROLLBACK":
		s.status = 'I'
	case "SET":
		s.idle = time.Duration(n) * time.Millisecond
	case "DISCARD":
		word = sql
	case "SELECT":
		if err := out.RowDescription(intCol, formats); err != nil {
			return err
		}
		if err := out.DataRow(exec.Row{{I: int64(n), Valid: true}}, intCol, formats); err != nil {
			return err
		}
		word = "SELECT 1"
	case "ROWS":
		if err := out.RowDescription(textCol, formats); err != nil {
			return err
		}
		start := 0
		if p != nil {
			start = p.sent
		}
		for i := start; i < n; i++ {
			if limit > 0 && i-start == limit {
				p.sent = i
				return out.Suspended()
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := out.DataRow(exec.Row{{B: []byte("row " + strconv.Itoa(i)), Valid: true}}, textCol, formats); err != nil {
				return err
			}
		}
		word = fmt.Sprintf("SELECT %d", n-start)
	case "FAIL":
		return pgerr.New(pgerr.UndefinedTable, "relation %q does not exist", "x\x00y").WithDetail("d").WithHint("h").At(sql, 2)
	case "ODD":
		return errors.New("could not do it: conflict with something")
	case "WAIT":
		s.waiting <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	case "PANIC":
		panic("fake")
	case "NOTICE":
		if err := out.Notice(&pgerr.Error{Severity: pgerr.SeverityNotice, Code: "42P07", Message: "skipping"}); err != nil {
			return err
		}
	case "NOTIFY":
		s.opts.Notify(translate.Notification{PID: s.opts.PID, Channel: "c", Payload: arg})
	case "COPYOUT":
		if err := out.CopyOut(true, 1); err != nil {
			return err
		}
		chunk := make([]byte, 20_000)
		for range n {
			if err := out.CopyData(chunk); err != nil {
				return err
			}
		}
		if err := out.CopyDone(); err != nil {
			return err
		}
		word = "COPY " + arg
	case "COPYIN":
		r, err := out.CopyIn(false, 1)
		if err != nil {
			return err
		}
		s.waiting <- struct{}{}
		rows := 0
		for {
			b, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err // the server drains
			}
			if arg == "bad" {
				return pgerr.New(pgerr.BadCopyFileFormat, "bad data")
			}
			if arg == "panic" {
				panic("copy")
			}
			s.lastIn = append(s.lastIn, append([]byte(nil), b...))
			rows++
		}
		word = fmt.Sprintf("COPY %d", rows)
	default:
		return pgerr.New(pgerr.SyntaxError, "syntax error at or near %q", word)
	}
	return out.CommandComplete(word)
}

func (s *fakeSession) Parse(_ context.Context, name, sql string, _ []uint32) error {
	if sql == "BAD" {
		return pgerr.New(pgerr.SyntaxError, "syntax error")
	}
	s.stmts[name] = sql
	return nil
}

func (s *fakeSession) cols(sql string) []exec.Column {
	switch word, _, _ := strings.Cut(sql, " "); word {
	case "SELECT":
		return intCol
	case "ROWS":
		return textCol
	}
	return nil
}

func (s *fakeSession) DescribeStatement(_ context.Context, name string) ([]uint32, []exec.Column, error) {
	sql, ok := s.stmts[name]
	if !ok {
		return nil, nil, pgerr.New(pgerr.InvalidSQLStatementName, "prepared statement %q does not exist", name)
	}
	return []uint32{23}, s.cols(sql), nil
}

func (s *fakeSession) Bind(_ context.Context, portal, stmt string, _ []int16, _ [][]byte, formats []int16) error {
	sql, ok := s.stmts[stmt]
	if !ok {
		return pgerr.New(pgerr.InvalidSQLStatementName, "prepared statement %q does not exist", stmt)
	}
	s.portals[portal] = &fakePortal{sql: sql, formats: formats}
	return nil
}

func (s *fakeSession) DescribePortal(name string) ([]exec.Column, []int16, error) {
	p := s.portals[name]
	if p == nil {
		return nil, nil, pgerr.New(pgerr.InvalidCursorName, "portal %q does not exist", name)
	}
	return s.cols(p.sql), p.formats, nil
}

func (s *fakeSession) Execute(ctx context.Context, portal string, maxRows int, out translate.Out) error {
	p := s.portals[portal]
	if p == nil {
		return pgerr.New(pgerr.InvalidCursorName, "portal %q does not exist", portal)
	}
	return s.one(ctx, p.sql, p.formats, maxRows, out, p)
}

func (s *fakeSession) CloseStatement(name string) error { delete(s.stmts, name); return nil }
func (s *fakeSession) ClosePortal(name string) error    { delete(s.portals, name); return nil }
func (s *fakeSession) Sync(context.Context) error       { return nil }
func (s *fakeSession) TxStatus() byte                   { return s.status }

func (s *fakeSession) Fail() {
	if s.status == 'T' {
		s.status = 'E'
	}
}
func (s *fakeSession) Env() *types.Env { return &s.env }

func (s *fakeSession) Params() []translate.Param {
	return []translate.Param{{Name: "server_version", Value: "15.8"}, {Name: "client_encoding", Value: "UTF8"}}
}

func (s *fakeSession) IdleTimeouts() (inTransaction, idle time.Duration) { return s.idle, s.idle }

func (s *fakeSession) Close() { s.closed.Add(1) }

func notification(pid int32, text string) translate.Notification {
	return translate.Notification{PID: pid, Channel: "c", Payload: text}
}
