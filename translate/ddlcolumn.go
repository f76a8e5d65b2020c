package translate

import (
	"cmp"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func (d *ddl) setDefault(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	i, err := d.column(tbl, a)
	if err != nil {
		return nil, err
	}
	c := tbl.Clone()
	c.Columns[i].Default = ""
	if a.Kind == "set default" {
		if c.Columns[i].Default, err = d.defaultText(&c.Columns[i], a.Expr, a.Text); err != nil {
			return nil, err
		}
	}
	return d.t.PutTable(c)
}

func (d *ddl) setNotNull(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	i, err := d.column(tbl, a)
	if err != nil {
		return nil, err
	}
	if err := d.verifyNotNull(tbl, i); err != nil {
		return nil, err
	}
	c := tbl.Clone()
	c.Columns[i].NotNull = true
	return d.t.PutTable(c)
}

// verifyNotNull scans for NULLs in a column.
func (d *ddl) verifyNotNull(tbl *rel.Table, i int) error {
	c := &tbl.Columns[i]
	it, err := d.scanAll(tbl)
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		_, null, ok := it.Tuple().Field(int(c.Num) - 1)
		if null || !ok && (!c.HasMissing || c.Missing == nil) {
			return containsNulls(c.Name, tbl.Name)
		}
	}
	return it.Err()
}

func (d *ddl) dropNotNull(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	i, err := d.column(tbl, a)
	if err != nil {
		return nil, err
	}
	for _, idx := range tbl.Indexes {
		if idx.Primary && slices.Contains(idx.Columns, tbl.Columns[i].Num) {
			return nil, pgerr.New(pgerr.InvalidTableDefinition, "column %q is in a primary key", a.Column)
		}
	}
	c := tbl.Clone()
	c.Columns[i].NotNull = false
	return d.t.PutTable(c)
}

// setType is ALTER COLUMN … TYPE: the rows are rewritten with the new type.
func (d *ddl) setType(tbl *rel.Table, a *ast.AlterAction) (*rel.Table, error) {
	i, err := d.column(tbl, a)
	if err != nil {
		return nil, err
	}
	if err := d.refuseDependents(tbl, "alter type of a column used by a view or rule of"); err != nil {
		return nil, err
	}
	to, err := d.columnType(a.Column, *a.Type)
	if err != nil {
		return nil, err
	}
	b := d.s.binder(d.t, d.rq)
	using := a.Using
	if using == nil {
		using = &ast.ColumnRef{Pos: ast.Pos(a.Pos), Parts: []string{a.Column}}
	}
	conv, from, err := b.BindAssign(b.TableScope(tbl, tbl.Name), using, to, a.Column)
	if err != nil {
		if pgerr.CodeOf(err) == pgerr.DatatypeMismatch {
			if a.Using != nil {
				return nil, pgerr.New(pgerr.DatatypeMismatch, "result of USING clause for column %q cannot be cast automatically to type %s",
					a.Column, types.TypeName(to.OID)).WithHint("You might need to add an explicit cast.")
			}
			return nil, pgerr.New(pgerr.DatatypeMismatch, "column %q cannot be cast automatically to type %s",
				a.Column, types.TypeName(to.OID)).
				WithHint("You might need to specify \"USING %s::%s\".", quoteIdent(a.Column), types.FormatType(to))
		}
		return nil, err
	}
	c := tbl.Clone()
	col := &c.Columns[i]
	col.Type, col.Mod, col.NDims = to.OID, to.Mod, int32(a.Type.Dims)
	col.HasMissing, col.Missing = false, nil
	if col.Default != "" {
		if _, err := d.s.bindDefault(d.t, d.rq, col); err != nil {
			return nil, pgerr.New(pgerr.DatatypeMismatch, "default for column %q cannot be cast automatically to type %s",
				a.Column, types.TypeName(to.OID))
		}
	}
	if a.Using == nil && to.Mod < 0 && isPlainText(from.OID) && isPlainText(to.OID) {
		old := &tbl.Columns[i]
		col.HasMissing, col.Missing = old.HasMissing, old.Missing
		return d.t.PutTable(c)
	}
	return d.rewrite(tbl, c, func(ectx *exec.Ctx, r exec.Row) error {
		v, err := conv.Eval(ectx, r)
		r[i] = v
		return err
	})
}

// isPlainText says whether a type is stored as its text, so that changing between such
// types changes no row.
func isPlainText(oid types.OID) bool { return oid == types.TextOID || oid == types.VarcharOID }

// rewrite stores every row of a table anew: old is the table as the rows are now, next how
// it is to be, and change edits a row. Constraints of the new form are checked.
func (d *ddl) rewrite(old, next *rel.Table, change func(*exec.Ctx, exec.Row) error) (*rel.Table, error) {
	ectx := d.execCtx()
	type keptRow struct {
		id  uint64
		row exec.Row
	}
	var kept []keptRow
	it, err := d.scanAll(old)
	if err != nil {
		return nil, err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		if err := ectx.Check(); err != nil {
			return nil, err
		}
		r := make(exec.Row, len(old.Columns))
		if err := decodeTuple(old, it.Tuple(), r); err != nil {
			return nil, err
		}
		if err := change(ectx, r); err != nil {
			return nil, err
		}
		if err := ectx.Mem.Grow(rowSize(r)); err != nil {
			return nil, err
		}
		kept = append(kept, keptRow{it.RowID(), cloneRow(r)})
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	// Rows come in the order of the table's clustering and go back in the order of their insertion.
	slices.SortFunc(kept, func(a, b keptRow) int { return cmp.Compare(a.id, b.id) })
	empty, err := d.t.TruncateTable(old.OID)
	if err != nil {
		return nil, err
	}
	n := next.Clone()
	n.Storage, n.Layout, n.Version = empty.Storage, empty.Layout, empty.Version
	out, err := d.t.PutTable(n)
	if err != nil {
		return nil, err
	}
	w, err := d.s.newRowWriter(d.t, d.rq, ectx, out)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		copy(w.row, k.row)
		if err := w.insert(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeTuple reads a stored tuple into a row laid out by index of the table's Columns.
func decodeTuple(t *rel.Table, tup row.Tuple, dst exec.Row) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		dst[i] = types.Null
		if c.Dropped {
			continue
		}
		val, null, ok := tup.Field(int(c.Num) - 1)
		if !ok {
			if !c.HasMissing || c.Missing == nil {
				continue
			}
			val = c.Missing
		} else if null {
			continue
		}
		v, err := types.DecodeBinary(c.Type, val)
		if err != nil {
			return err
		}
		dst[i] = v
	}
	return nil
}
