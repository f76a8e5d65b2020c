package plan

import (
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/translate/ast"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

func (b *Binder) insert(x *ast.Insert, parent *scope) (exec.Node, error) {
	t, err := b.dmlTarget(x.Table, "insert")
	if err != nil {
		return nil, err
	}
	n := &exec.Insert{Target: exec.Target{Table: t}}
	if n.Checks, err = b.BindChecks(t); err != nil {
		return nil, err
	}
	into, err := b.insertColumns(t, x)
	if err != nil {
		return nil, err
	}
	if err := b.insertDefaults(n, t, into); err != nil {
		return nil, err
	}
	if err := b.insertSource(n, t, into, x, parent); err != nil {
		return nil, err
	}
	alias := x.Alias
	if alias == "" {
		alias = t.Name
	}
	if x.OnConflict != nil {
		if n.Conflict, err = b.onConflict(t, alias, x, parent); err != nil {
			return nil, err
		}
	}
	if len(x.Returning) > 0 {
		sc := newScope(parent)
		r := b.tableRel(t, alias)
		sc.addRel(r).schema = x.Table.Schema
		if n.Returning, n.Cols, err = b.returning(sc, x.Returning); err != nil {
			return nil, err
		}
		fixRowLayout(r)
	}
	return n, nil
}

func (b *Binder) insertColumns(t *rel.Table, x *ast.Insert) ([]int, error) {
	var into []int
	if x.Columns == nil {
		for i := range t.Columns {
			if !t.Columns[i].Dropped {
				into = append(into, i)
			}
		}
		return into, nil
	}
	seen := make(map[int]bool)
	for k, name := range x.Columns {
		i := columnIndex(t, name)
		if i < 0 {
			return nil, b.err(x.ColumnPos[k], pgerr.UndefinedColumn, "column %q of relation %q does not exist", name, t.Name)
		}
		if seen[i] {
			return nil, b.err(x.ColumnPos[k], pgerr.DuplicateColumn, "column %q specified more than once", name)
		}
		seen[i] = true
		into = append(into, i)
	}
	return into, nil
}

func (b *Binder) insertDefaults(n *exec.Insert, t *rel.Table, into []int) error {
	given := make(map[int]bool, len(into))
	for _, i := range into {
		given[i] = true
	}
	for i := range t.Columns {
		if t.Columns[i].Default == "" || given[i] {
			continue
		}
		d, err := b.BindDefault(t, i)
		if err != nil {
			return err
		}
		if d != nil {
			if n.Defaults == nil {
				n.Defaults = make([]exec.Expr, len(t.Columns))
			}
			n.Defaults[i] = d
		}
	}
	return nil
}

func plainValues(q *ast.Select) bool {
	return q != nil && q.Values != nil && q.With == nil && len(q.OrderBy) == 0 && q.Limit == nil && q.Offset == nil
}

func (b *Binder) insertSource(n *exec.Insert, t *rel.Table, into []int, x *ast.Insert, parent *scope) error {
	if x.Query == nil {
		n.Into = nil
		n.In = &exec.Values{Rows: [][]exec.Expr{{}}}
		// Every column takes its default.
		return b.insertDefaults(n, t, nil)
	}
	if plainValues(x.Query) {
		return b.insertValues(n, t, into, x, parent)
	}
	node, err := b.bindQuery(x.Query, parent)
	if err != nil {
		return err
	}
	cols := node.Columns()
	if err := b.insertWidth(len(cols), &into, x, targetPos(x.Query, len(into))); err != nil {
		return err
	}
	want := make([]types.T, len(cols))
	for i, at := range into {
		c := &t.Columns[at]
		want[i] = types.T{OID: c.Type, Mod: c.Mod}
		from := cols[i].Type.OID
		if from != types.UnknownOID && !canCoerce(from, c.Type, types.Assignment) {
			return b.err(targetPos(x.Query, i), pgerr.DatatypeMismatch, "column %q is of type %s but expression is of type %s", c.Name, types.TypeName(c.Type), types.TypeName(from)).
				WithHint("You will need to rewrite or cast the expression.")
		}
	}
	if n.In, err = b.convert(node, want, types.Assignment, func(int) int { return -1 }); err != nil {
		return err
	}
	n.Into = into
	return b.insertDefaults(n, t, into)
}

// targetPos is where a query's i-th output expression stands, as far as the text says.
func targetPos(q *ast.Select, i int) int {
	if q.Core == nil || i >= len(q.Core.Targets) {
		return -1
	}
	for k := range i + 1 {
		if _, star := q.Core.Targets[k].Expr.(*ast.Star); star {
			return q.Core.Targets[k].Expr.Position()
		}
	}
	return q.Core.Targets[i].Expr.Position()
}

// insertWidth checks the number of expressions against the target columns; without a
// column list, fewer expressions fill the first columns.
func (b *Binder) insertWidth(got int, into *[]int, x *ast.Insert, extra int) error {
	switch {
	case got > len(*into):
		return b.err(extra, pgerr.SyntaxError, "INSERT has more expressions than target columns")
	case got < len(*into) && x.Columns != nil:
		return b.err(x.ColumnPos[got], pgerr.SyntaxError, "INSERT has more target columns than expressions")
	case got < len(*into):
		*into = (*into)[:got]
	}
	return nil
}

// insertValues binds VALUES cell by cell: most cells are literals that the column's input
// function reads, and no expression is made of them.
func (b *Binder) insertValues(n *exec.Insert, t *rel.Table, into []int, x *ast.Insert, parent *scope) error {
	rows := x.Query.Values
	width := len(rows[0])
	extra := -1
	if width > len(into) {
		extra = rows[0][len(into)].Position()
	}
	if err := b.insertWidth(width, &into, x, extra); err != nil {
		return err
	}
	if err := b.insertDefaults(n, t, into); err != nil {
		return err
	}
	lv := &exec.LitValues{Width: width, Stmt: b.stmt(), Types: make([]types.T, width), Cells: make([]exec.LitCell, len(rows)*width)}
	for i, at := range into {
		lv.Types[i] = types.T{OID: t.Columns[at].Type, Mod: t.Columns[at].Mod}
	}
	n.In, n.Into = lv, into
	sc := newScope(parent)
	b.clause = "VALUES"
	defer func() { b.clause = "" }()
	for r, row := range rows {
		if len(row) != width {
			return b.err(row[0].Position(), pgerr.SyntaxError, "VALUES lists must all be the same length")
		}
		for i, e := range row {
			cell := &lv.Cells[r*width+i]
			if b.fastCell(cell, lv.Types[i], e) {
				continue
			}
			if err := b.slowCell(cell, t, into[i], sc, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// fastCell fills a cell of a literal that needs no expression.
func (b *Binder) fastCell(cell *exec.LitCell, t types.T, e ast.Expr) bool {
	neg := false
	if u, ok := e.(*ast.Unary); ok && u.Op == "-" {
		neg = true
		e = u.Expr
	}
	l, ok := e.(*ast.Literal)
	if !ok {
		return false
	}
	switch l.Kind {
	case ast.LitNull:
		if neg {
			return false
		}
		cell.Kind = exec.CellNull
		return true
	case ast.LitTrue, ast.LitFalse:
		if neg || t.OID != types.BoolOID {
			return false
		}
		cell.Kind = exec.CellTrue
		if l.Kind == ast.LitFalse {
			cell.Kind = exec.CellFalse
		}
		return true
	case ast.LitString:
		if neg || isReg(t.OID) || t.OID == types.IntervalOID && t.Mod >= 0 {
			return false
		}
	case ast.LitInteger:
		if !intCell(t, l.Text, neg) {
			return false
		}
	case ast.LitNumeric:
		if t.OID != types.NumericOID && t.OID != types.Float8OID {
			return false
		}
	default:
		return false
	}
	cell.Kind, cell.Text, cell.Neg, cell.Pos = exec.CellInput, l.Text, neg, int32(l.Pos)
	cell.Slot = int32(l.Slot)
	if b.noSlots {
		cell.Slot = -1
	}
	return true
}

func intCell(t types.T, text string, neg bool) bool {
	switch t.OID {
	case types.Int8OID:
		return len(text) <= 18
	case types.Int4OID:
		return len(text) <= 9
	case types.Int2OID:
		return len(text) <= 4
	case types.NumericOID, types.Float8OID:
		return true
	case types.TextOID, types.VarcharOID:
		// Digits as written are the text of the number, unless there are leading zeros.
		return t.Mod < 0 && (text == "0" && !neg || text[0] != '0')
	}
	return false
}

func (b *Binder) slowCell(cell *exec.LitCell, t *rel.Table, col int, sc *scope, e ast.Expr) error {
	c := &t.Columns[col]
	cell.Kind = exec.CellExpr
	if _, ok := e.(*ast.Default); ok {
		d, err := b.BindDefault(t, col)
		if err != nil {
			return err
		}
		if d == nil {
			cell.Kind = exec.CellNull
			return nil
		}
		cell.Expr = d
		return nil
	}
	x, err := b.expr(sc, e)
	if err != nil {
		return err
	}
	cell.Expr, err = b.coerceAssign(x, types.T{OID: c.Type, Mod: c.Mod}, c.Name, e.Position())
	return err
}

func (b *Binder) onConflict(t *rel.Table, alias string, x *ast.Insert, parent *scope) (*exec.Conflict, error) {
	oc := x.OnConflict
	out := &exec.Conflict{}
	switch {
	case oc.Constraint != "":
		for i := range t.Indexes {
			if t.Indexes[i].Name == oc.Constraint && t.Indexes[i].Unique {
				out.Index = &t.Indexes[i]
			}
		}
		if out.Index == nil {
			return nil, b.err(-1, pgerr.UndefinedObject, "constraint %q for table %q does not exist", oc.Constraint, t.Name)
		}
	case len(oc.Columns) > 0:
		want := make(map[int16]bool)
		for _, e := range oc.Columns {
			ref, ok := e.(*ast.ColumnRef)
			if !ok {
				return nil, b.err(e.Position(), pgerr.FeatureNotSupported, "expressions in the arbiter of ON CON%s are not supported", "FLICT")
			}
			i := columnIndex(t, ref.Parts[len(ref.Parts)-1])
			if i < 0 {
				return nil, b.err(oc.Pos, pgerr.UndefinedColumn, "column %q does not exist", ref.Parts[len(ref.Parts)-1])
			}
			want[t.Columns[i].Num] = true
		}
		for i := range t.Indexes {
			idx := &t.Indexes[i]
			if !idx.Unique || len(idx.Columns) != len(want) {
				continue
			}
			all := true
			for _, c := range idx.Columns {
				all = all && want[c]
			}
			if all {
				out.Index = idx
				break
			}
		}
		if out.Index == nil {
			return nil, b.err(-1, pgerr.InvalidColumnReference, "there is no constraint that matches the arbiter columns of the INSERT")
		}
	}
	if oc.DoUpdate == nil {
		return out, nil
	}
	if out.Index == nil {
		return nil, b.err(-1, pgerr.SyntaxError, "INSERT ... DO UPDATE requires inference specification or constraint name")
	}
	sc := newScope(parent)
	cur, exc := b.tableRel(t, alias), b.tableRel(t, "excluded")
	sc.addRel(cur).schema = x.Table.Schema
	sc.addRel(exc).relOnly = true
	out.Set = make([]exec.Expr, len(t.Columns))
	b.clause = "UPDATE"
	for _, a := range oc.DoUpdate {
		if err := b.assign(sc, t, a, func(col int, e exec.Expr) error { out.Set[col] = e; return nil }); err != nil {
			return nil, err
		}
	}
	if oc.UpdateWhere != nil {
		w, err := b.condition(sc, oc.UpdateWhere, "WHERE")
		if err != nil {
			return nil, err
		}
		out.Where = w
	}
	b.clause = ""
	fixRowLayout(cur)
	fixRowLayout(exc)
	for _, c := range exc.refs {
		c.Idx += len(t.Columns)
	}
	return out, nil
}
