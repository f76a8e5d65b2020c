package translate

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Parse makes a prepared statement. A text of several statements is accepted when it has
// no parameters: Execute then runs them all, and the rows of the last one are the result,
// provided that none before it returns rows.
func (s *Session) Parse(ctx context.Context, name, sql string, paramOIDs []uint32) (err error) {
	defer s.edge(ctx, nil, &err)
	s.setActivity("active", sql)
	defer s.setIdle()
	if err := s.awaitTurnInTime(ctx, sql, true); err != nil {
		return err
	}
	end, err := s.pretend(ctx, sql)
	if err != nil {
		return err
	}
	defer end()
	if p, err := s.parseCached(name, sql, paramOIDs); p != nil || err != nil {
		if err != nil {
			return err
		}
		return s.replaceStatement(p)
	}
	list, err := parse.Parse(sql, s.parseLimits())
	if err != nil {
		return err
	}
	if s.tx.failed {
		for i := range list {
			if !exitsBlock(list[i].Stmt) {
				return errAborted()
			}
		}
	}
	s.startTx()
	p := &prepared{name: name, source: sql, sql: sql}
	switch len(list) {
	case 0:
	case 1:
		rq := &request{sql: sql, stmt: list[0].Stmt, ptypes: append([]types.OID(nil), paramOIDs...)}
		if isQuery(list[0].Stmt) {
			p.parsed, p.fp = &list[0], &lex.FP{}
			lex.Fingerprint(sql, list[0].Start, p.fp)
			rq.parsed, rq.fp = p.parsed, p.fp
		}
		if p.params, p.cols, err = s.analyze(rq, list[0].Params); err != nil {
			return err
		}
		p.list = []ast.Stmt{list[0].Stmt}
	default:
		if err := s.parseBatch(p, list, paramOIDs); err != nil {
			return err
		}
	}
	return s.replaceStatement(p)
}

// replaceStatement keeps a statement of the protocol; the unnamed one takes the place of
// the one before it.
func (s *Session) replaceStatement(p *prepared) error {
	if p.name == "" {
		delete(s.stmts, "")
	}
	return s.addStatement(p)
}

// parseCached prepares a statement without parameters from a cached plan, if there is one.
func (s *Session) parseCached(name, sql string, paramOIDs []uint32) (*prepared, error) {
	if len(paramOIDs) > 0 || s.tx.failed || lex.Check(sql) != nil {
		return nil, nil
	}
	lex.Fingerprint(sql, 0, &s.fp)
	if s.fp.Empty || !s.mayBeCached(&s.fp) {
		return nil, nil
	}
	if next := (lex.FP{}); s.fp.Next < len(sql) {
		if lex.Fingerprint(sql, s.fp.Next, &next); !next.Empty {
			return nil, nil
		}
	}
	t, err := s.newStatement()
	if err != nil {
		return nil, err
	}
	c := s.lookup(t, &s.fp, nil)
	if c == nil || c.copy != nil {
		return nil, nil
	}
	p := &prepared{name: name, source: sql, sql: sql, fp: &lex.FP{}}
	lex.Fingerprint(sql, 0, p.fp)
	if returnsRows(c.stmt) {
		p.cols = nonNilColumns(c.cols)
	}
	return p, nil
}

// parseBatch accepts a batch of statements as one prepared statement.
func (s *Session) parseBatch(p *prepared, list []ast.Parsed, paramOIDs []uint32) error {
	multi := pgerr.New(pgerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	if len(paramOIDs) > 0 {
		return multi
	}
	for i := range list {
		if list[i].Params > 0 {
			return multi
		}
		p.list = append(p.list, list[i].Stmt)
		if i < len(list)-1 && mayReturnRows(list[i].Stmt) {
			return multi
		}
	}
	last := list[len(list)-1]
	if mayReturnRows(last.Stmt) {
		cols, err := s.describe(&request{sql: p.sql, stmt: last.Stmt})
		if err != nil {
			return err
		}
		p.cols = cols
	}
	return nil
}

// mayReturnRows says whether a statement answers rows.
func mayReturnRows(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.Show, *ast.Explain, *ast.Execute:
		return true
	case *ast.Fetch:
		return !st.Move
	}
	return returnsRows(st)
}

// DescribeStatement answers a prepared statement's parameter types and result columns;
// nil columns mean NoData.
func (s *Session) DescribeStatement(ctx context.Context, name string) (params []uint32, cols []exec.Column, err error) {
	defer s.edge(ctx, nil, &err)
	p := s.stmts[name]
	if p == nil {
		return nil, nil, noStatement(name)
	}
	if s.tx.failed && p.cols != nil {
		return nil, nil, errAborted()
	}
	return p.params, p.cols, nil
}

// Bind makes a portal of a prepared statement and parameter values. It keeps params.
func (s *Session) Bind(ctx context.Context, portalName, stmt string, paramFormats []int16, params [][]byte, resultFormats []int16) (err error) {
	defer s.edge(ctx, nil, &err)
	p := s.stmts[stmt]
	if p == nil {
		return noStatement(stmt)
	}
	if len(paramFormats) > 1 && len(paramFormats) != len(params) {
		return pgerr.New(pgerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", len(paramFormats), len(params))
	}
	if len(params) != len(p.params) {
		return pgerr.New(pgerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(params), stmt, len(p.params))
	}
	if s.tx.failed {
		if p.fp != nil {
			return errAborted()
		}
		for _, st := range p.list {
			if !exitsBlock(st) {
				return errAborted()
			}
		}
	}
	if len(resultFormats) > 1 && len(resultFormats) != len(p.cols) {
		return pgerr.New(pgerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", len(resultFormats), len(p.cols))
	}
	s.startTx()
	if err := s.awaitTurnInTime(ctx, p.sql, false); err != nil {
		return err
	}
	values, err := s.bindParams(p, paramFormats, params)
	if err != nil {
		return err
	}
	pt := &portal{
		name: portalName, source: p.source, cols: p.cols, formats: append([]int16(nil), resultFormats...),
		rq: &request{sql: p.sql, ptypes: p.params, params: values, fp: p.fp, parsed: p.parsed}, batch: p.list,
	}
	if p.fp != nil && p.list == nil {
		pt.batch = []ast.Stmt{nil} // to be found by its fingerprint
	}
	return s.addPortal(pt)
}

// bindParams decodes parameter values, which may alias the message.
func (s *Session) bindParams(p *prepared, formats []int16, params [][]byte) ([]types.Datum, error) {
	out := make([]types.Datum, len(params))
	for i, raw := range params {
		if raw == nil {
			continue
		}
		format := int16(0)
		switch {
		case len(formats) == 1:
			format = formats[0]
		case len(formats) > 1:
			format = formats[i]
		}
		var err error
		switch format {
		case 0:
			if types.IsReg(p.params[i]) {
				if _, err := s.newStatement(); err != nil { // names are looked up as of now
					return nil, err
				}
			}
			out[i], err = types.Input(s.typeEnv(), types.T{OID: p.params[i], Mod: -1}, raw)
		case 1:
			out[i], err = types.DecodeBinary(p.params[i], raw)
			if err != nil && pgerr.As(err) == nil {
				err = pgerr.Wrap(err, pgerr.InvalidBinaryRepresentation, "incorrect binary data format in bind parameter %d", i+1)
			}
		default:
			err = pgerr.New(pgerr.InvalidParameterValue, "unsupported format code: %d", format)
		}
		if err != nil {
			if e := pgerr.As(err); e != nil && e.Where == "" {
				c := *e
				c.Where = "unnamed portal parameter $" + itoa(i+1)
				return nil, &c
			}
			return nil, err
		}
	}
	return out, nil
}

// DescribePortal answers a portal's result columns and formats; nil columns mean NoData.
func (s *Session) DescribePortal(name string) (cols []exec.Column, formats []int16, err error) {
	defer s.edge(context.Background(), nil, &err)
	p := s.portals[name]
	if p == nil {
		return nil, nil, noPortal(name)
	}
	if s.tx.failed && p.cols != nil {
		return nil, nil, errAborted()
	}
	return p.cols, p.formats, nil
}

// Execute runs a portal, or goes on with one that was suspended; maxRows 0 means all rows.
func (s *Session) Execute(ctx context.Context, portalName string, maxRows int, out Out) (err error) {
	defer s.edge(ctx, out, &err)
	p := s.portals[portalName]
	if p == nil {
		return noPortal(portalName)
	}
	s.setActivity("active", p.source)
	defer s.setIdle()
	if len(p.batch) == 0 && !p.cursor {
		return out.EmptyQuery()
	}
	sctx, cancel := s.statementContext(ctx)
	defer cancel()
	if !s.tx.failed && (len(p.batch) != 1 || !undoes(p.source)) {
		// It may have been bound before the head was read.
		if err := s.settle(sctx); err != nil {
			return s.cause(sctx, err)
		}
	}
	if err := s.awaitStable(sctx, p.stmt, p.source); err != nil {
		return s.cause(sctx, err)
	}
	if err := s.executePortal(sctx, p, maxRows, out); err != nil {
		return s.cause(sctx, err)
	}
	return nil
}

func (s *Session) executePortal(ctx context.Context, p *portal, maxRows int, out Out) error {
	if p.cursor {
		return s.executeCursor(ctx, p, maxRows, out)
	}
	if p.ended {
		return s.executeEnded(p, out)
	}
	if p.run == nil {
		if err := s.startPortalAgain(ctx, p, out); err != nil {
			return err
		}
	}
	r := p.run
	if r.ectx != nil {
		r.ectx.Context = ctx
	}
	if err := checkFormats(r.cols, p.formats); err != nil {
		return err
	}
	// Rows of a portal count per Execute in the tag, as in PostgreSQL.
	r.n = 0
	ended, err := r.send(out, p.formats, maxRows)
	if err != nil {
		return err
	}
	if !ended {
		if err := r.detach(); err != nil {
			return err
		}
		return out.Suspended()
	}
	p.ended = true
	p.tag = r.tag
	if p.returning {
		return out.CommandComplete(verbOf(r.finalTag()) + itoa(int(r.n)))
	}
	return out.CommandComplete(r.finalTag())
}

// verbOf is a tag without its number of rows.
func verbOf(tag string) string { return tag[:strings.LastIndexByte(tag, ' ')+1] }

// checkFormats refuses formats other than text and binary.
func checkFormats(cols []exec.Column, formats []int16) error {
	if len(cols) == 0 {
		return nil
	}
	for _, f := range formats {
		if f != 0 && f != 1 {
			return pgerr.New(pgerr.InvalidParameterValue, "unsupported format code: %d", f)
		}
	}
	return nil
}

// executeEnded answers Execute of a portal that has run: queries yield no more rows,
// anything else cannot run twice.
func (s *Session) executeEnded(p *portal, out Out) error {
	switch {
	case p.isSelect:
		return out.CommandComplete("SELECT 0")
	case p.returning:
		return out.CommandComplete(verbOf(p.run.finalTag()) + "0")
	}
	return pgerr.New(pgerr.ObjectNotInPrerequisite, "portal %q cannot be run", p.name)
}

// startPortalAgain is startPortal, which it repeats for a write that is all its transaction
// has done so far and that lost to another transaction.
func (s *Session) startPortalAgain(ctx context.Context, p *portal, out Out) error {
	first := s.tx.open && !s.tx.block && s.tx.portals == 0 && len(p.batch) == 1
	for attempt := 0; ; attempt++ {
		err := s.startPortal(ctx, p, out)
		if err == nil || !first || attempt >= maxRetries || !s.mayRetry(p.stmt, err) {
			if err == nil {
				s.noteAgain(p, first)
			}
			return err
		}
		// What else is bound and has not begun is none of the lost transaction's business.
		bound := make(map[string]*portal)
		for name, q := range s.portals {
			if q.run == nil && !q.cursor {
				bound[name] = q
			}
		}
		s.abort()
		maps.Copy(s.portals, bound)
		s.portals[p.name] = p
	}
}

// noteAgain remembers a write without rows that Sync may run again.
func (s *Session) noteAgain(p *portal, first bool) {
	s.tx.portals++
	s.tx.again = nil
	if first && s.tx.open && !s.tx.block && s.tx.portals == 1 && s.tx.iso <= readCommitted && p.run.cols == nil {
		rq := *p.rq
		rq.stmt, rq.plan, rq.begun = p.stmt, nil, false
		s.tx.again, s.tx.againTag = &rq, p.run.finalTag()
	}
}

// startPortal starts a portal's statement, or all of a batch.
func (s *Session) startPortal(ctx context.Context, p *portal, out Out) error {
	for i, st := range p.batch {
		if s.tx.failed && (st == nil || !exitsBlock(st)) {
			return errAborted()
		}
		s.startTx()
		s.tx.statement = s.now()
		if len(p.batch) > 1 && !s.tx.block {
			s.tx.implicit = true
		}
		rq := *p.rq
		rq.stmt, rq.out = st, out
		if err := s.resolve(&rq); err != nil {
			return err
		}
		st = rq.stmt
		p.stmt = st
		r, err := s.start(ctx, &rq)
		if err != nil {
			return err
		}
		_, p.isSelect = st.(*ast.Select)
		p.returning = isQuery(st) && !p.isSelect && r.cols != nil
		if i < len(p.batch)-1 {
			r.close()
			continue
		}
		if err := samePlan(p.cols, r.cols); err != nil && isQuery(st) {
			r.close()
			return err
		}
		p.run = r
		// The statement may have ended the transaction and dropped this portal with it.
	}
	return nil
}

// executeCursor runs the protocol's Execute on a cursor made by DECLARE.
func (s *Session) executeCursor(ctx context.Context, p *portal, maxRows int, out Out) error {
	n := 0
	for maxRows == 0 || n < maxRows {
		row, err := p.next(ctx)
		if err != nil {
			return err
		}
		if row == nil {
			return out.CommandComplete("SELECT " + itoa(n))
		}
		if err := out.DataRow(row, p.cols, p.formats); err != nil {
			return err
		}
		n++
	}
	return out.Suspended()
}

// CloseStatement forgets a prepared statement; one that does not exist is no error.
func (s *Session) CloseStatement(name string) error {
	delete(s.stmts, name)
	return nil
}

// ClosePortal closes a portal; one that does not exist is no error.
func (s *Session) ClosePortal(name string) error {
	s.dropPortal(name)
	return nil
}

// Sync ends the implicit transaction of the extended protocol. An error means that it
// could not be committed.
func (s *Session) Sync(ctx context.Context) (err error) {
	if !s.tx.open || s.tx.block {
		return nil
	}
	defer s.edge(ctx, nil, &err)
	defer s.setIdle()
	again, tag := s.tx.again, s.tx.againTag
	err = s.commitTx(ctx)
	for attempt := 0; err != nil && again != nil && attempt < maxRetries && s.mayRetry(again.stmt, err); attempt++ {
		lost := err
		s.startTx()
		s.tx.statement = s.now()
		rq := *again
		r, rerr := s.start(ctx, &rq)
		switch {
		case rerr != nil:
			s.abort()
			err = rerr
		case r.finalTag() != tag:
			s.abort()
			return lost // the client has been told another number of rows
		default:
			err = s.commitTx(ctx)
		}
	}
	return err
}
