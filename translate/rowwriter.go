package translate

import (
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/plan"
	"github.com/eiderdb/eider/translate/types"
)

// rowWriter checks and stores rows of one table for COPY FROM, CREATE TABLE AS and table
// rewrites. row is laid out by index of the table's Columns.
type rowWriter struct {
	table    *rel.Table
	ectx     *exec.Ctx
	row      exec.Row
	defaults []exec.Expr // by column index, nil: NULL
	checks   []exec.CheckExpr
	b        row.Builder
}

// newRowWriter binds the defaults and checks of a table.
func (s *Session) newRowWriter(t *store.Txn, rq *request, ectx *exec.Ctx, tbl *rel.Table) (*rowWriter, error) {
	w := &rowWriter{table: tbl, ectx: ectx, row: make(exec.Row, len(tbl.Columns)), defaults: make([]exec.Expr, len(tbl.Columns))}
	for i := range tbl.Columns {
		c := &tbl.Columns[i]
		if c.Dropped || c.Default == "" {
			continue
		}
		e, err := s.bindDefault(t, rq, c)
		if err != nil {
			return nil, err
		}
		w.defaults[i] = e
	}
	var err error
	w.checks, err = s.bindChecks(t, rq, tbl)
	return w, err
}

// bindDefault binds a column's stored DEFAULT expression.
func (s *Session) bindDefault(t *store.Txn, rq *request, c *rel.Column) (exec.Expr, error) {
	tree, err := parse.ParseExpr(c.Default)
	if err != nil {
		return nil, err
	}
	b := s.storedBinder(t, rq, c.Default)
	e, _, err := b.BindAssign(nil, tree, types.T{OID: c.Type, Mod: c.Mod}, c.Name)
	return e, err
}

// storedBinder binds an expression kept in a descriptor.
func (s *Session) storedBinder(t *store.Txn, rq *request, text string) *plan.Binder {
	b := s.binder(t, &request{sql: text, noParams: true, out: rq.out})
	return b
}

// bindChecks binds a table's CHECK constraints.
func (s *Session) bindChecks(t *store.Txn, rq *request, tbl *rel.Table) ([]exec.CheckExpr, error) {
	var out []exec.CheckExpr
	for i := range tbl.Checks {
		ck := &tbl.Checks[i]
		tree, err := parse.ParseExpr(ck.Expr)
		if err != nil {
			return nil, err
		}
		e, err := s.bindCheck(t, rq, tbl, tree, ck.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, exec.CheckExpr{Name: ck.Name, Cond: e})
	}
	return out, nil
}

// bindCheck binds one condition over a table's row.
func (s *Session) bindCheck(t *store.Txn, rq *request, tbl *rel.Table, tree ast.Expr, text string) (exec.Expr, error) {
	b := s.storedBinder(t, rq, text)
	e, err := b.BindExpr(b.TableScope(tbl, ""), tree)
	if err != nil {
		return nil, err
	}
	if e.Type().OID == types.UnknownOID {
		return b.CoerceAssign(e, types.T{OID: types.BoolOID, Mod: -1}, "")
	}
	if e.Type().OID != types.BoolOID {
		return nil, pgerr.New(pgerr.DatatypeMismatch, "argument of CHECK must be type boolean, not type %s", types.FormatType(e.Type()))
	}
	return e, nil
}

// applyDefaults fills the columns that use marks by their defaults.
func (w *rowWriter) applyDefaults(use []bool) error {
	for i, d := range w.defaults {
		if !use[i] || w.table.Columns[i].Dropped {
			continue
		}
		w.row[i] = types.Null
		if d != nil {
			v, err := d.Eval(w.ectx, nil)
			if err != nil {
				return err
			}
			w.row[i] = v
		}
	}
	return nil
}

// check applies NOT NULL and CHECK constraints to the row.
func (w *rowWriter) check() error {
	t := w.table
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.NotNull && !c.Dropped && !w.row[i].Valid {
			e := pgerr.New(pgerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint", c.Name, t.Name).
				WithDetail("%s", w.failing())
			e.Table, e.Column = t.Name, c.Name
			return e
		}
	}
	for i := range w.checks {
		d, err := w.checks[i].Cond.Eval(w.ectx, w.row)
		if err != nil {
			return err
		}
		if d.Valid && d.I == 0 {
			e := pgerr.New(pgerr.CheckViolation, "new row for relation %q violates check constraint %q", t.Name, w.checks[i].Name).
				WithDetail("%s", w.failing())
			e.Table, e.Constraint = t.Name, w.checks[i].Name
			return e
		}
	}
	return nil
}

func (w *rowWriter) failing() string {
	return exec.FailingRow(w.ectx.Env, w.table, func(i int) types.Datum { return w.row[i] })
}

// tuple encodes the row; the result is valid until the next call.
func (w *rowWriter) tuple() (row.Tuple, error) {
	w.b.Reset()
	num := int16(0)
	for i := range w.table.Columns {
		c := &w.table.Columns[i]
		for num++; num < c.Num; num++ {
			w.b.Null()
		}
		d := &w.row[i]
		if c.Dropped || !d.Valid {
			w.b.Null()
			continue
		}
		w.b.EndField(types.AppendBinary(w.b.Buf(), c.Type, *d))
	}
	tup, err := w.b.Tuple()
	if err != nil {
		return nil, pgerr.Wrap(err, pgerr.TooManyColumns, "too many columns")
	}
	return tup, nil
}

// insert checks and stores the row.
func (w *rowWriter) insert() error {
	if err := w.check(); err != nil {
		return err
	}
	tup, err := w.tuple()
	if err != nil {
		return err
	}
	_, err = w.ectx.Txn.Insert(w.table, tup)
	return err
}
