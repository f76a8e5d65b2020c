package translate

import (
	"context"
	"errors"
	"time"

	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// portal is a bound statement of the protocol or a cursor made by DECLARE.
type portal struct {
	name    string
	source  string
	seq     uint64 // creation order, for savepoints
	created time.Time
	cols    []exec.Column // nil: no rows
	formats []int16

	// rq is what to run, for portals of the protocol; batch has more than one statement.
	rq    *request
	batch []ast.Stmt
	run   *running // once started
	ended bool
	// stmt is what ran; isSelect: Execute after the end is no error.
	stmt     ast.Stmt
	isSelect bool
	// returning: a write that returns rows, whose tag counts the rows of one Execute.
	returning bool
	tag       string // once ended

	// The rest is for cursors.
	cursor bool
	hold   bool
	held   bool // outlived its transaction: rows are in buf
	binary bool
	scroll bool
	noBack bool // rows passed are gone
	buf    []exec.Row
	size   int64
	pos    int  // rows before the position; row pos-1 is the current one
	all    bool // every row is in buf
}

func noCursor(name string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidCursorName, "cursor %q does not exist", name)
}

func noPortal(name string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidCursorName, "portal %q does not exist", name)
}

// addPortal keeps a portal under its name.
func (s *Session) addPortal(p *portal) error {
	if _, ok := s.portals[p.name]; ok {
		if p.name != "" {
			return pgerr.New(pgerr.DuplicateCursor, "cursor %q already exists", p.name)
		}
		s.dropPortal("")
	}
	if len(s.portals) >= s.deps.Limits.Portals {
		return pgerr.New(pgerr.ProgramLimitExceeded, "too many open cursors").WithHint("Close cursors that are no longer used.")
	}
	s.portalSeq++
	p.seq, p.created = s.portalSeq, s.now()
	s.portals[p.name] = p
	return nil
}

func (s *Session) dropPortal(name string) {
	if p, ok := s.portals[name]; ok {
		if p.run != nil {
			p.run.close()
		}
		delete(s.portals, name)
	}
}

// dropTxPortals closes what does not outlive its transaction.
func (s *Session) dropTxPortals() { s.dropAllPortals(false) }

func (s *Session) dropAllPortals(held bool) {
	for name, p := range s.portals {
		if held || !p.held {
			s.dropPortal(name)
		}
	}
}

// dropPortalsAfter closes portals made after a savepoint.
func (s *Session) dropPortalsAfter(seq uint64) {
	for name, p := range s.portals {
		if p.seq > seq {
			s.dropPortal(name)
		}
	}
}

// execDeclare is DECLARE name CURSOR FOR query.
func (s *Session) execDeclare(ctx context.Context, rq *request, st *ast.Declare) error {
	if !st.Hold && !s.tx.block && !s.tx.implicit {
		return pgerr.New(pgerr.NoActiveSQLTransaction, "DECLARE CURSOR can only be used in transaction blocks")
	}
	if intoClause(st.Query) != nil {
		return pgerr.New(pgerr.InvalidTableDefinition, "DECLARE CURSOR must not contain SELECT INTO")
	}
	if modifies(st.Query) {
		return pgerr.New(pgerr.FeatureNotSupported, "DECLARE CURSOR must not contain data-modifying statements in WITH")
	}
	if _, ok := s.portals[st.Name]; ok && st.Name != "" {
		return pgerr.New(pgerr.DuplicateCursor, "cursor %q already exists", st.Name)
	}
	sub := &request{sql: rq.sql, stmt: st.Query, ptypes: rq.ptypes, params: rq.params, noParams: rq.noParams, out: rq.out}
	// The rows come in later statements, whose time limits are their own.
	r, err := s.startQuery(context.WithoutCancel(ctx), sub)
	if err != nil {
		return err
	}
	if err := r.detach(); err != nil {
		r.close()
		return err
	}
	p := &portal{
		name: st.Name, source: rq.sql, cols: r.cols, run: r, cursor: true, hold: st.Hold, binary: st.Binary,
		scroll: st.Scroll != nil && *st.Scroll, noBack: st.Scroll != nil && !*st.Scroll,
	}
	if st.Binary {
		p.formats = []int16{1}
	}
	if err := s.addPortal(p); err != nil {
		r.close()
		return err
	}
	return nil
}

// cursorBuffer is how many bytes of passed rows a cursor without SCROLL keeps for going back.
const cursorBuffer = 8 << 20

// pull reads one more row into the cursor's buffer.
func (p *portal) pull(ctx context.Context) (bool, error) {
	if p.all || p.run == nil {
		return false, nil
	}
	p.run.ectx.Context = ctx
	row, err := p.run.iter.Next()
	if errors.Is(err, exec.EOF) {
		p.all = true
		p.run.close()
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n := rowSize(row)
	if p.noBack {
		p.buf = append(p.buf[:0], cloneRow(row))
		return true, nil
	}
	if err := p.run.ectx.Mem.Grow(n); err != nil {
		return false, err
	}
	p.size += n
	p.buf = append(p.buf, cloneRow(row))
	if !p.scroll && !p.hold && p.size > cursorBuffer {
		p.noBack = true
		p.run.ectx.Mem.Shrink(p.size)
		p.buf = append([]exec.Row(nil), p.buf[len(p.buf)-1])
	}
	return true, nil
}

// next moves the cursor forward by one row; nil at the end.
func (p *portal) next(ctx context.Context) (exec.Row, error) {
	if !p.noBack && p.pos < len(p.buf) {
		p.pos++
		return p.buf[p.pos-1], nil
	}
	if p.all {
		if p.pos <= p.total() {
			p.pos = p.total() + 1
		}
		return nil, nil
	}
	ok, err := p.pull(ctx)
	if err != nil {
		return nil, err
	}
	p.pos++
	if !ok {
		return nil, nil
	}
	return p.buf[len(p.buf)-1], nil
}

// total is the number of rows known so far, when nothing was thrown away.
func (p *portal) total() int {
	if p.noBack {
		return p.pos
	}
	return len(p.buf)
}

func (p *portal) prior() (exec.Row, error) {
	if p.noBack {
		return nil, pgerr.New(pgerr.ObjectNotInPrerequisite, "cursor can only scan forward").
			WithHint("Declare it with SCROLL option to enable backward scan.")
	}
	if p.pos <= 1 {
		p.pos = 0
		return nil, nil
	}
	p.pos--
	return p.buf[p.pos-1], nil
}

// current is the row the cursor stands on.
func (p *portal) current() exec.Row {
	if p.noBack {
		if p.pos > 0 && !p.all && len(p.buf) > 0 {
			return p.buf[0]
		}
		return nil
	}
	if p.pos >= 1 && p.pos <= len(p.buf) {
		return p.buf[p.pos-1]
	}
	return nil
}

// fetch moves the cursor as FETCH says and returns the rows passed over.
func (p *portal) fetch(ctx context.Context, st *ast.Fetch) ([]exec.Row, error) {
	var out []exec.Row
	n := st.Count
	dir := st.Direction
	switch dir {
	case "next":
		dir, n = "forward", 1
	case "prior":
		dir, n = "backward", 1
	case "first":
		dir, n = "absolute", 1
	case "last":
		dir, n = "absolute", -1
	}
	if (dir == "forward" || dir == "backward") && n < 0 && !st.All {
		n = -n
		if dir == "forward" {
			dir = "backward"
		} else {
			dir = "forward"
		}
	}
	keep := func(r exec.Row) exec.Row {
		if p.noBack {
			return cloneRow(r)
		}
		return r
	}
	switch dir {
	case "forward":
		if n == 0 && !st.All {
			if r := p.current(); r != nil {
				out = append(out, keep(r))
			}
			return out, nil
		}
		for i := int64(0); st.All || i < n; i++ {
			r, err := p.next(ctx)
			if err != nil {
				return nil, err
			}
			if r == nil {
				break
			}
			out = append(out, keep(r))
		}
	case "backward":
		if n == 0 && !st.All {
			if r := p.current(); r != nil {
				out = append(out, keep(r))
			}
			return out, nil
		}
		for i := int64(0); st.All || i < n; i++ {
			r, err := p.prior()
			if err != nil {
				return nil, err
			}
			if r == nil {
				break
			}
			out = append(out, r)
		}
	case "absolute", "relative":
		r, err := p.seek(ctx, dir, n)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, keep(r))
		}
	default:
		return nil, errFeature("FETCH %s is not supported", dir)
	}
	return out, nil
}

// seek moves to one row, counted from the start, the end or the position.
func (p *portal) seek(ctx context.Context, dir string, n int64) (exec.Row, error) {
	target := n
	if dir == "relative" {
		if n == 0 {
			return p.current(), nil
		}
		target = int64(p.pos) + n
		if target < 0 {
			target = 0
		}
	} else if n < 0 {
		for {
			r, err := p.next(ctx)
			if err != nil {
				return nil, err
			}
			if r == nil {
				break
			}
		}
		target = max(int64(p.total())+n+1, 0)
		if p.noBack {
			_, err := p.prior()
			return nil, err
		}
	}
	for int64(p.pos) > target {
		if _, err := p.prior(); err != nil {
			return nil, err
		}
	}
	if target == 0 {
		p.pos = 0
		return nil, nil
	}
	if int64(p.pos) == target {
		return p.current(), nil
	}
	for {
		r, err := p.next(ctx)
		if err != nil || r == nil || int64(p.pos) == target {
			return r, err
		}
	}
}

// execFetch is FETCH and MOVE.
func (s *Session) execFetch(ctx context.Context, st *ast.Fetch) (*running, error) {
	p := s.portals[st.Cursor]
	if p == nil {
		return nil, noCursor(st.Cursor)
	}
	if !p.cursor {
		return nil, errFeature("FETCH from a portal of the protocol is not supported")
	}
	list, err := p.fetch(ctx, st)
	if err != nil {
		return nil, err
	}
	if st.Move {
		return done("MOVE " + itoa(len(list))), nil
	}
	r := rows(p.cols, "FETCH", list)
	r.counted = true
	r.buffered = false
	if p.binary {
		r.formats = p.formats
	}
	return r, nil
}

func (s *Session) execCloseCursor(st *ast.CloseCursor) (string, error) {
	if st.Name == "" {
		s.dropAllPortals(true)
		return "CLOSE CURSOR ALL", nil
	}
	if s.portals[st.Name] == nil {
		return "", noCursor(st.Name)
	}
	s.dropPortal(st.Name)
	return "CLOSE CURSOR", nil
}

// holdCursors reads the rows of WITH HOLD cursors to the end, before the transaction commits.
func (s *Session) holdCursors(ctx context.Context) error {
	for _, p := range s.portals {
		if !p.hold || p.held {
			continue
		}
		if p.noBack && !p.all { // buf has room for one row
			p.run.ectx.Context = ctx
			if err := p.run.freeze(); err != nil {
				return err
			}
		}
		for more := !p.noBack; more; {
			var err error
			if more, err = p.pull(ctx); err != nil {
				return err
			}
		}
		p.held = true
	}
	return nil
}

// freeze replaces the rows to come by copies of them.
func (r *running) freeze() error {
	var list []exec.Row
	for {
		row, err := r.iter.Next()
		if errors.Is(err, exec.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := r.ectx.Mem.Grow(rowSize(row)); err != nil {
			return err
		}
		list = append(list, cloneRow(row))
	}
	r.close()
	r.iter, r.buffered = &exec.SliceIter{Items: list}, true
	return nil
}
