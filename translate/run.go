package translate

import (
	"context"
	"errors"
	"strconv"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/lex"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/plan"
	"github.com/eiderdb/eider/translate/types"
)

// request is one statement to run.
type request struct {
	sql  string // the text that positions in stmt refer to
	stmt ast.Stmt
	// ptypes are the types of the parameters, and params their values.
	ptypes   []types.OID
	params   []types.Datum
	noParams bool
	out      Out // for notices and COPY
	// fp is the statement's fingerprint and parsed what the parser said of it, for the plan
	// cache; nil: the plan is not to be cached. plan is the cached plan once it is found.
	fp     *lex.FP
	parsed *ast.Parsed
	plan   *cachedPlan
	begun  bool // the statement has its view already
}

// running is a statement that has started: finished ones without rows have only a tag,
// others yield rows.
type running struct {
	cols []exec.Column // nil: the statement returns no rows
	iter exec.Iter
	ectx *exec.Ctx
	rq   *request
	// tag is the command tag; with counted set, the number of rows is appended.
	tag     string
	counted bool
	n       int64
	// formats override the result formats, for FETCH from a binary cursor.
	formats []int16
	// buffered rows are all at hand: nothing that fails can follow.
	buffered bool
	frozen   *store.Txn // what the rows to come are read from, after detach
}

func done(tag string) *running { return &running{tag: tag} }

// rows makes a running statement over rows at hand.
func rows(cols []exec.Column, tag string, list []exec.Row) *running {
	return &running{cols: cols, iter: &exec.SliceIter{Items: list}, tag: tag, buffered: true}
}

func (r *running) close() {
	if r.iter != nil {
		_ = r.iter.Close()
		r.iter = nil
	}
	if r.frozen != nil {
		_ = r.frozen.Rollback()
		r.frozen = nil
	}
}

// detach makes the rows to come independent of what the transaction does from now on: they
// show what was there when the query was opened.
func (r *running) detach() error {
	if r.iter == nil || r.ectx == nil || r.buffered || r.frozen != nil {
		return nil
	}
	f, err := r.ectx.Txn.Freeze()
	if err == nil {
		r.ectx.Txn, r.frozen = f, f
	}
	return err
}

func (r *running) finalTag() string {
	if r.counted {
		return r.tag + " " + strconv.FormatInt(r.n, 10)
	}
	return r.tag
}

// send writes up to limit rows (0: all) and says whether the rows have ended.
func (r *running) send(out Out, formats []int16, limit int) (ended bool, err error) {
	if r.iter == nil {
		return true, nil
	}
	for sent := 0; limit == 0 || sent < limit; sent++ {
		row, err := r.iter.Next()
		if errors.Is(err, exec.EOF) {
			r.close()
			return true, nil
		}
		if err != nil {
			r.close()
			return false, r.rq.located(err)
		}
		if err := out.DataRow(row, r.cols, formats); err != nil {
			r.close()
			return false, err
		}
		r.n++
	}
	return false, nil
}

// binder makes a binder for a request in the current transaction.
func (s *Session) binder(t *store.Txn, rq *request) *plan.Binder {
	return &plan.Binder{
		Text: rq.sql, Txn: t, Virtual: s.shared.virtual, Funcs: s.shared.funcs,
		SearchPath: s.searchPath(), Env: s.typeEnv(), Session: sessionFuncs{s: s, out: rq.out},
		Params: rq.ptypes, NoParams: rq.noParams,
	}
}

func (s *Session) execCtx(ctx context.Context, t *store.Txn, rq *request) *exec.Ctx {
	return &exec.Ctx{
		Context: ctx, Params: rq.params, Env: s.typeEnv(), Session: sessionFuncs{s: s, out: rq.out},
		Mem: &exec.Mem{Limit: s.deps.Limits.StatementMemory}, Txn: t, Now: s.deps.Clock,
	}
}

// start begins a statement: queries are opened, everything else is done.
func (s *Session) start(ctx context.Context, rq *request) (*running, error) {
	switch st := rq.stmt.(type) {
	case *ast.Select:
		if into := intoClause(st); into != nil {
			return s.selectInto(ctx, rq, st, into)
		}
		return s.startQuery(ctx, rq)
	case *ast.Insert, *ast.Update, *ast.Delete:
		return s.startQuery(ctx, rq)
	case *ast.Transaction:
		tag, err := s.execTransaction(ctx, st, rq.out)
		return done(tag), err
	case *ast.Copy:
		return s.execCopy(ctx, rq, st)
	case *ast.Set:
		tag, err := s.execSet(st, rq.out)
		return done(tag), err
	case *ast.Reset:
		return done("RESET"), s.execReset(st)
	case *ast.Show:
		return s.execShow(st)
	case *ast.Discard:
		tag, err := s.execDiscard(st)
		return done(tag), err
	case *ast.Prepare:
		return done("PREPARE"), s.execPrepare(rq, st)
	case *ast.Execute:
		return s.execExecute(ctx, rq, st)
	case *ast.Deallocate:
		tag, err := s.execDeallocate(st)
		return done(tag), err
	case *ast.Declare:
		return done("DECLARE CURSOR"), s.execDeclare(ctx, rq, st)
	case *ast.Fetch:
		return s.execFetch(ctx, st)
	case *ast.CloseCursor:
		tag, err := s.execCloseCursor(st)
		return done(tag), err
	case *ast.Explain:
		return s.execExplain(ctx, rq, st)
	case *ast.Listen, *ast.Notify, *ast.Unlisten:
		tag, err := s.execListen(st)
		return done(tag), err
	case *ast.Maintenance:
		tag, err := s.execMaintenance(rq, st)
		return done(tag), err
	case *ast.Lock:
		return done("LOCK TABLE"), s.execLock(rq, st)
	case *ast.Call:
		return nil, errFeature("CALL is not supported")
	case *ast.Unsupported:
		return nil, errFeature("%s is not supported", st.Feature).At(rq.sql, st.Pos)
	}
	return s.startDDL(ctx, rq)
}

// startQuery binds and opens SELECT, INSERT, UPDATE or DELETE.
func (s *Session) startQuery(ctx context.Context, rq *request) (*running, error) {
	t, err := s.beginRequest(rq)
	if err != nil {
		return nil, err
	}
	node, slots, err := s.planQuery(t, rq)
	if err != nil {
		if del, ok := rq.stmt.(*ast.Delete); ok && pgerr.CodeOf(err) == pgerr.UndefinedTable &&
			len(del.Returning) == 0 && s.isGhost(t, del.Table) {
			return done("DELETE 0"), nil // whoever cached a dropped inlined table finds no rows in it
		}
		return nil, err
	}
	if s.tx.readOnly {
		if err := s.checkReadOnly(t, rq); err != nil {
			return nil, err
		}
	}
	ectx := s.execCtx(ctx, t, rq)
	ectx.Slots = slots
	r, err := s.open(node, ectx, rq.stmt)
	if err != nil {
		return nil, rq.located(err)
	}
	r.rq = rq
	return r, nil
}

// beginRequest gives a request its view of the store.
func (s *Session) beginRequest(rq *request) (*store.Txn, error) {
	if rq.begun {
		return s.txn()
	}
	rq.begun = true
	return s.newStatement()
}

// located moves the position of an error that a cached plan raised.
func (rq *request) located(err error) error {
	if rq == nil || rq.plan == nil {
		return err
	}
	return rq.plan.replace(err, rq.sql, rq.fp)
}

// part is the request for a statement inside this one, which has no plan of its own.
func (rq *request) part(st ast.Stmt) *request {
	sub := *rq
	sub.stmt, sub.fp, sub.parsed, sub.plan = st, nil, nil, nil
	return &sub
}

// open starts a bound query; data-modifying ones run to their end.
func (s *Session) open(node exec.Node, ectx *exec.Ctx, st ast.Stmt) (*running, error) {
	iter, err := node.Open(ectx)
	if err != nil {
		return nil, err
	}
	r := &running{iter: iter, ectx: ectx, counted: true}
	switch st := st.(type) {
	case *ast.Insert:
		r.tag = "INSERT 0"
		return r, r.runDML(node, len(st.Returning) > 0)
	case *ast.Update:
		r.tag = "UPDATE"
		return r, r.runDML(node, len(st.Returning) > 0)
	case *ast.Delete:
		r.tag = "DELETE"
		return r, r.runDML(node, len(st.Returning) > 0)
	}
	r.tag = "SELECT"
	r.cols = nonNilColumns(node.Columns())
	return r, nil
}

// runDML runs a data-modifying statement to its end and keeps its RETURNING rows.
func (r *running) runDML(node exec.Node, returning bool) error {
	iter := r.iter
	r.iter = nil
	defer func() { _ = iter.Close() }()
	var kept []exec.Row
	for {
		row, err := iter.Next()
		if errors.Is(err, exec.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if returning {
			if err := r.ectx.Mem.Grow(rowSize(row)); err != nil {
				return err
			}
			kept = append(kept, cloneRow(row))
		}
	}
	n := int64(len(kept))
	if c, ok := iter.(exec.RowCounter); ok {
		n = c.Affected()
	}
	if err := iter.Close(); err != nil {
		return err
	}
	r.tag, r.counted = r.tag+" "+strconv.FormatInt(n, 10), false
	if returning {
		r.cols = nonNilColumns(node.Columns())
		r.iter = &exec.SliceIter{Items: kept}
		r.buffered = true
	}
	return nil
}

func nonNilColumns(c []exec.Column) []exec.Column {
	if c == nil {
		return []exec.Column{}
	}
	return c
}

func rowSize(row exec.Row) int64 {
	n := int64(len(row)) * 64
	for i := range row {
		n += int64(len(row[i].B))
	}
	return n
}

// cloneRow copies a row with what it points to.
func cloneRow(row exec.Row) exec.Row {
	out := make(exec.Row, len(row))
	n := 0
	for i := range row {
		n += len(row[i].B)
	}
	arena := make([]byte, 0, n)
	for i, d := range row {
		if d.B != nil {
			start := len(arena)
			arena = append(arena, d.B...)
			d.B = arena[start:len(arena):len(arena)]
		}
		if d.R != nil {
			d.R = cloneRow(d.R)
		}
		out[i] = d
	}
	return out
}

// checkReadOnly refuses writes to anything but temporary tables.
func (s *Session) checkReadOnly(t *store.Txn, rq *request) error {
	var bad error
	writes(rq.stmt, func(what string, table ast.Name) {
		if bad != nil {
			return
		}
		if tbl, err := s.bindTable(t, rq, table); err == nil && tbl.Temp {
			return
		}
		bad = pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute %s in a read-only transaction", what)
	})
	if sel, ok := rq.stmt.(*ast.Select); ok && sel.Lock != "" && bad == nil {
		bad = pgerr.New(pgerr.ReadOnlySQLTransaction, "cannot execute SELECT FOR %s in a read-only transaction", upper(sel.Lock))
	}
	return bad
}

// writes calls f for every table that a statement, or a CTE of it, writes to.
func writes(st ast.Stmt, f func(what string, table ast.Name)) {
	with := func(w *ast.With) {
		if w == nil {
			return
		}
		for i := range w.CTEs {
			writes(w.CTEs[i].Stmt, f)
		}
	}
	switch st := st.(type) {
	case *ast.Select:
		with(st.With)
	case *ast.Insert:
		with(st.With)
		f("INSERT", st.Table)
	case *ast.Update:
		with(st.With)
		f("UPDATE", st.Table)
	case *ast.Delete:
		with(st.With)
		f("DELETE", st.Table)
	}
}

// modifies says whether a statement, or a CTE of it, writes to a table.
func modifies(st ast.Stmt) bool {
	is := false
	writes(st, func(string, ast.Name) { is = true })
	return is
}

// describe answers a statement's result columns without running it; nil means no rows.
func (s *Session) describe(rq *request) ([]exec.Column, error) {
	switch st := rq.stmt.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete:
		t, err := s.newStatement()
		if err != nil {
			return nil, err
		}
		var node exec.Node
		if rq.fp != nil && len(rq.ptypes) == 0 {
			// The plan is kept: clients prepare one text again and again only to learn
			// its columns, as DuckDB does for the newest snapshot in every transaction.
			node, _, err = s.planQuery(t, rq)
		} else {
			b := s.binder(t, rq)
			node, err = b.BindStmt(st)
			rq.ptypes = b.Params
		}
		if err != nil {
			return nil, err
		}
		if !returnsRows(st) {
			return nil, nil
		}
		return nonNilColumns(node.Columns()), nil
	case *ast.Show:
		return s.showColumns(st)
	case *ast.Explain:
		return explainColumns(), s.inferParams(rq, st.Stmt)
	case *ast.Fetch:
		if st.Move {
			return nil, nil
		}
		p := s.portals[st.Cursor]
		if p == nil {
			return nil, noCursor(st.Cursor)
		}
		return p.cols, nil
	case *ast.Execute:
		p := s.stmts[st.Name]
		if p == nil {
			return nil, noStatement(st.Name)
		}
		return p.cols, nil
	case *ast.Declare:
		return nil, s.inferParams(rq, st.Query)
	case *ast.CreateTable:
		if st.As != nil {
			return nil, s.inferParams(rq, st.As)
		}
	}
	return nil, nil
}

// inferParams finds the parameter types of the query that a statement holds.
func (s *Session) inferParams(rq *request, st ast.Stmt) error {
	if len(rq.ptypes) == 0 || !isQuery(st) {
		return nil
	}
	t, err := s.newStatement()
	if err != nil {
		return err
	}
	inner := *rq
	inner.stmt = st
	b := s.binder(t, &inner)
	if _, err := b.BindStmt(st); err != nil {
		return err
	}
	rq.ptypes = b.Params
	return nil
}

// returnsRows says whether a query statement has result rows.
func returnsRows(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.Select:
		return intoClause(st) == nil
	case *ast.Insert:
		return len(st.Returning) > 0
	case *ast.Update:
		return len(st.Returning) > 0
	case *ast.Delete:
		return len(st.Returning) > 0
	}
	return false
}

// intoClause finds SELECT … INTO, which stands in the leftmost core.
func intoClause(q *ast.Select) *ast.Name {
	for q != nil {
		if q.Core != nil {
			return q.Core.Into
		}
		if q.SetOp == nil {
			return nil
		}
		q = q.SetOp.Left
	}
	return nil
}
