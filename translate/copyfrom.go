package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// copyIn is one COPY FROM STDIN.
type copyIn struct {
	s       *Session
	opts    *copyOptions
	table   *rel.Table
	cols    []*rel.Column // the columns in the data
	index   []int         // their indexes in table.Columns
	types   []types.T
	notNull []bool // FORCE_NOT_NULL, by data column
	null    []bool // FORCE_NULL
	where   exec.Expr
	env     *types.Env
	w       *rowWriter
	missing []bool // by table column: filled with its default
	n       int    // rows stored
	line    int    // line (or row) of the data that is being read
	rowLine []byte // the line of the row at hand; nil for the binary format
}

// copyFrom runs COPY FROM STDIN and returns the number of rows. Once the client has been
// asked for data, every way out first reads up to CopyDone or CopyFail: a client that
// finds the connection closed while it sends is lost.
func (s *Session) copyFrom(ctx context.Context, rq *request, st *ast.Copy, opts *copyOptions) (int, error) {
	if st.Table == nil {
		return 0, pgerr.New(pgerr.SyntaxError, "COPY query not supported for COPY FROM").At(rq.sql, st.Pos)
	}
	t, err := s.newStatement()
	if err != nil {
		return 0, err
	}
	c, err := s.prepareCopyIn(ctx, t, rq, st, opts)
	if err != nil {
		return 0, err
	}
	in, err := rq.out.CopyIn(opts.format == copyBinary, len(c.cols))
	if err != nil {
		return 0, err
	}
	if err := c.run(in); err != nil {
		if derr := in.Drain(); derr != nil && pgerr.As(derr) == nil {
			return 0, errors.Join(err, derr)
		}
		return 0, err
	}
	return c.n, nil
}

func (s *Session) prepareCopyIn(ctx context.Context, t *store.Txn, rq *request, st *ast.Copy, opts *copyOptions) (*copyIn, error) {
	tbl, err := s.bindTable(t, rq, *st.Table)
	if err != nil {
		if pgerr.CodeOf(err) == pgerr.WrongObjectType {
			return nil, systemRelation(st.Table.Name)
		}
		return nil, err
	}
	if tbl.Kind == rel.KindView {
		return nil, pgerr.New(pgerr.WrongObjectType, "cannot copy to view %q", tbl.Name)
	}
	if !tbl.Temp {
		if err := s.requireWritable("COPY FROM"); err != nil {
			return nil, err
		}
	}
	c := &copyIn{s: s, opts: opts, table: tbl, env: s.typeEnv()}
	if c.cols, err = copyColumns(tbl, st.Columns); err != nil {
		return nil, err
	}
	if c.w, err = s.newRowWriter(t, rq, s.execCtx(ctx, t, rq), tbl); err != nil {
		return nil, err
	}
	c.missing = make([]bool, len(tbl.Columns))
	for i := range c.missing {
		c.missing[i] = true
	}
	for _, col := range c.cols {
		i := slices.IndexFunc(tbl.Columns, func(x rel.Column) bool { return x.Num == col.Num })
		c.index = append(c.index, i)
		c.missing[i] = false
		c.types = append(c.types, types.T{OID: col.Type, Mod: col.Mod})
	}
	if c.notNull, err = c.forced(opts.forceNotNull, "FORCE_NOT_NULL"); err != nil {
		return nil, err
	}
	if c.null, err = c.forced(opts.forceNull, "FORCE_NULL"); err != nil {
		return nil, err
	}
	if st.Where != nil {
		b := s.binder(t, rq)
		if c.where, err = b.BindExpr(b.TableScope(tbl, ""), st.Where); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func systemRelation(name string) *pgerr.Error {
	return pgerr.New(pgerr.InsufficientPrivilege, "permission denied: %q is a system catalog", name)
}

func (c *copyIn) forced(names []string, what string) ([]bool, error) {
	out := make([]bool, len(c.cols))
	for _, n := range names {
		if n == "*" {
			for i := range out {
				out[i] = true
			}
			continue
		}
		i := slices.IndexFunc(c.cols, func(x *rel.Column) bool { return x.Name == n })
		if i < 0 {
			if findColumn(c.table, n) == nil {
				return nil, noColumn(n, c.table.Name)
			}
			return nil, pgerr.New(pgerr.InvalidColumnReference, "%s column %q not referenced by COPY", what, n)
		}
		out[i] = true
	}
	return out, nil
}

func (c *copyIn) run(in CopyReader) error {
	var err error
	switch c.opts.format {
	case copyBinary:
		err = c.runBinary(in)
	case copyCSV:
		err = c.runLines(in, true)
	default:
		err = c.runLines(in, false)
	}
	return err
}

// store puts the row at hand into the table.
func (c *copyIn) store() error {
	if err := c.w.applyDefaults(c.missing); err != nil {
		return c.context(err, "")
	}
	if c.where != nil {
		d, err := c.where.Eval(c.w.ectx, c.w.row)
		if err != nil {
			return c.context(err, "")
		}
		if !d.Valid || d.I == 0 {
			return nil
		}
	}
	if err := c.w.insert(); err != nil {
		detail := ""
		if code := pgerr.CodeOf(err); c.rowLine != nil && (code == pgerr.NotNullViolation || code == pgerr.CheckViolation) {
			detail = c.lineContext(c.rowLine)
		}
		return c.context(err, detail)
	}
	c.n++
	return c.w.ectx.Check()
}

// context adds PostgreSQL's CONTEXT line to an error of the row at hand.
func (c *copyIn) context(err error, detail string) error {
	e := pgerr.As(exec.MapStoreError(err))
	if e == nil || e.Where != "" {
		return err
	}
	e2 := *e
	if c.line > 0 {
		e2.Where = fmt.Sprintf("COPY %s, line %d", c.table.Name, c.line) + detail
	}
	return &e2
}

// columnContext is the detail of an error in one field.
func columnContext(name string, text []byte, null bool) string {
	if null {
		return ", column " + name + ": null input"
	}
	return ", column " + name + `: "` + shorten(text) + `"`
}

// shorten cuts a value or line for a CONTEXT line.
func shorten(b []byte) string {
	const most = 100
	if len(b) <= most {
		return string(b)
	}
	cut := most
	for cut > 0 && b[cut]&0xC0 == 0x80 {
		cut--
	}
	return string(b[:cut]) + "..."
}
