package exec

import (
	"errors"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// LitCell is one value of a literal VALUES list, small because lists are long: a literal
// that the column's input function takes as it is, or any other expression.
type LitCell struct {
	Text string
	Expr Expr
	Slot int32
	Pos  int32
	Kind CellKind
	Neg  bool
}

// CellKind says how a LitCell becomes a value.
type CellKind uint8

// The kinds of cells.
const (
	CellNull CellKind = iota
	CellTrue
	CellFalse
	CellInput // Text goes through the column's input function
	CellExpr
)

// LitValues is the VALUES list of an INSERT, row by row, for the columns Into of the
// Insert it feeds. Types are the columns' types.
type LitValues struct {
	Width int
	Cells []LitCell
	Types []types.T
	Stmt  *string
}

// Columns of a LitValues have no names.
func (n *LitValues) Columns() []Column { return nil }

// Open yields the rows as values.
func (n *LitValues) Open(c *Ctx) (Iter, error) {
	out := make(Row, n.Width)
	at := 0
	return &funcRows{next: func() (Row, error) {
		if at >= len(n.Cells) {
			return nil, EOF
		}
		if err := c.Check(); err != nil {
			return nil, err
		}
		for i := range out {
			d, err := n.eval(c, &n.Cells[at+i], i)
			if err != nil {
				return nil, err
			}
			out[i] = d
		}
		at += n.Width
		return out, nil
	}}, nil
}

func (n *LitValues) text(c *Ctx, cell *LitCell) string {
	if c.Slots != nil && cell.Slot >= 0 && int(cell.Slot) < len(c.Slots) {
		return c.Slots[cell.Slot].Text
	}
	return cell.Text
}

func (n *LitValues) eval(c *Ctx, cell *LitCell, col int) (types.Datum, error) {
	switch cell.Kind {
	case CellNull:
		return types.Null, nil
	case CellTrue:
		return Bool(true), nil
	case CellFalse:
		return Bool(false), nil
	case CellInput:
		d, err := litInput(c.Env, n.Types[col], n.text(c, cell), cell.Neg)
		return d, n.at(err, cell)
	}
	return cell.Expr.Eval(c, nil)
}

func (n *LitValues) at(err error, cell *LitCell) error {
	if err == nil || n.Stmt == nil {
		return err
	}
	// A modifier's complaint is not about the literal's text and has no position.
	if e := pgerr.As(err); e != nil && e.Code != pgerr.StringDataRightTruncation && !(e.Code == pgerr.NumericValueOutOfRange && e.Detail != "") {
		return e.At(*n.Stmt, int(cell.Pos))
	}
	return err
}

// appendCell encodes a cell straight into a tuple.
func (n *LitValues) appendCell(c *Ctx, b *row.Builder, cell *LitCell, col int) error {
	t := n.Types[col]
	switch cell.Kind {
	case CellNull:
		b.Null()
		return nil
	case CellTrue, CellFalse:
		b.Bool(cell.Kind == CellTrue)
		return nil
	case CellInput:
		text := n.text(c, cell)
		switch t.OID {
		case types.Int8OID:
			if v, ok := smallInt(text); ok {
				if cell.Neg {
					v = -v
				}
				b.Int64(v)
				return nil
			}
		case types.TextOID, types.VarcharOID:
			if t.Mod < 0 && !cell.Neg {
				b.String(text)
				return nil
			}
		}
		d, err := litInput(c.Env, t, text, cell.Neg)
		if err != nil {
			return n.at(err, cell)
		}
		appendField(b, t.OID, &d)
		return nil
	}
	d, err := cell.Expr.Eval(c, nil)
	if err != nil {
		return err
	}
	appendField(b, t.OID, &d)
	return nil
}

// Open prepares the insert.
func (n *Insert) Open(c *Ctx) (Iter, error) {
	it := &dmlIter{}
	it.ret.exprs, it.ret.store.mem = n.Returning, c.Mem
	it.run = func(it *dmlIter) error {
		if lv, ok := n.In.(*LitValues); ok && n.straight() {
			return n.runLiteral(c, it, lv)
		}
		return n.run(c, it)
	}
	return it, nil
}

// straight says whether rows can be encoded without being looked at: the list covers the
// columns in order and nothing reads the values.
func (n *Insert) straight() bool {
	if n.Returning != nil || n.Conflict != nil || len(n.Checks) > 0 || len(n.Into) != len(n.Table.Columns) {
		return false
	}
	for i, col := range n.Into {
		if col != i || n.Table.Columns[i].Num != int16(i+1) {
			return false
		}
	}
	return true
}

func (n *Insert) runLiteral(c *Ctx, it *dmlIter, lv *LitValues) error {
	var b row.Builder
	for at := 0; at < len(lv.Cells); at += lv.Width {
		if err := c.Check(); err != nil {
			return err
		}
		b.Reset()
		for i := range lv.Width {
			cell := &lv.Cells[at+i]
			if err := lv.appendCell(c, &b, cell, i); err != nil {
				return err
			}
		}
		tup, err := b.Tuple()
		if err != nil {
			return pgerr.Wrap(err, pgerr.TooManyColumns, "too many columns")
		}
		if i := nullInNotNull(n.Table, tup); i >= 0 {
			vals := make(Row, len(n.Table.Columns))
			if err := loadTuple(n.Table, tup, vals); err != nil {
				return err
			}
			return n.notNull(c, i, vals)
		}
		if _, err := c.Txn.Insert(n.Table, tup); err != nil {
			return err
		}
		it.n++
	}
	return nil
}

// nullInNotNull finds a NOT NULL column that the tuple has NULL in, or -1. Columns are
// in order and none is missing.
func nullInNotNull(t *rel.Table, tup row.Tuple) int {
	any := false
	for i := range t.Columns {
		any = any || t.Columns[i].NotNull
	}
	if !any {
		return -1
	}
	w := row.Walk(tup)
	for i := range t.Columns {
		_, null, _ := w.Next()
		if null && t.Columns[i].NotNull && !t.Columns[i].Dropped {
			return i
		}
	}
	return -1
}

func (n *Insert) notNull(c *Ctx, col int, vals Row) error {
	t := n.Table
	e := pgerr.New(pgerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint", t.Columns[col].Name, t.Name).
		WithDetail("%s", FailingRow(c.Env, t, func(i int) types.Datum { return vals[i] }))
	e.Table, e.Column = t.Name, t.Columns[col].Name
	return e
}

func (n *Insert) run(c *Ctx, it *dmlIter) error {
	t := n.Table
	width := len(t.Columns)
	full := make(Row, width+2)
	w := writer{t: &n.Target, c: c, row: full[:width]}
	in, err := n.In.Open(c)
	if err != nil {
		return err
	}
	defer in.Close()
	var cf *conflictRun
	if n.Conflict != nil {
		cf = newConflictRun(c, n, &w)
		defer cf.keep.release()
	}
	next := in.Next
	if _, literal := n.In.(*LitValues); !literal {
		// A query is read to its end first: it must not meet the rows it inserts.
		keep := rowStore{mem: c.Mem}
		defer keep.release()
		var rows []Row
		for {
			r, err := in.Next()
			if err == EOF {
				break
			}
			if err != nil {
				return err
			}
			if r, err = keep.keep(r); err != nil {
				return err
			}
			rows = append(rows, r)
		}
		next = (&SliceIter{Items: rows}).Next
	}
	for {
		r, err := next()
		if err == EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.Check(); err != nil {
			return err
		}
		clear(w.row)
		for i, d := range n.Defaults {
			if d != nil {
				if w.row[i], err = d.Eval(c, nil); err != nil {
					return err
				}
			}
		}
		for i, col := range n.Into {
			w.row[col] = r[i]
		}
		tup, err := w.tuple()
		if err != nil {
			return err
		}
		var id uint64
		done := true
		if cf != nil {
			id, done, err = cf.insert(tup)
		} else {
			id, err = c.Txn.Insert(t, tup)
		}
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		it.n++
		if n.Returning != nil {
			full[width] = TIDDatum(id)
			full[width+1] = Int(int64(t.OID))
			if err := it.ret.add(c, full); err != nil {
				return err
			}
		}
	}
}

// conflictRun applies ON CONFLICT to one execution.
type conflictRun struct {
	c       *Ctx
	n       *Insert
	w       *writer
	indexes []*rel.Index
	touched map[uint64]struct{} // rows this statement inserted or updated
	pair    Row                 // existing row, then the excluded one
	keep    rowStore
}

func newConflictRun(c *Ctx, n *Insert, w *writer) *conflictRun {
	cf := &conflictRun{c: c, n: n, w: w, touched: make(map[uint64]struct{}), keep: rowStore{mem: c.Mem}}
	if n.Conflict.Index != nil {
		cf.indexes = []*rel.Index{n.Conflict.Index}
	} else {
		for i := range n.Table.Indexes {
			if n.Table.Indexes[i].Unique {
				cf.indexes = append(cf.indexes, &n.Table.Indexes[i])
			}
		}
	}
	return cf
}

// insert inserts, or does what ON CONFLICT says; done is false when the row was skipped.
func (cf *conflictRun) insert(tup row.Tuple) (id uint64, done bool, err error) {
	for _, idx := range cf.indexes {
		old, oldID, found, err := cf.find(idx)
		if err != nil {
			return 0, false, err
		}
		if !found {
			continue
		}
		if cf.n.Conflict.Set == nil {
			return 0, false, nil
		}
		return cf.update(oldID, old)
	}
	id, err = cf.c.Txn.Insert(cf.n.Table, tup)
	if err == nil {
		cf.touched[id] = struct{}{}
	}
	if err != nil && cf.n.Conflict.Set == nil && errors.Is(err, store.ErrUnique) && cf.n.Conflict.Index == nil {
		return 0, false, nil
	}
	return id, true, err
}

// find looks the new row's key up.
func (cf *conflictRun) find(idx *rel.Index) (row.Tuple, uint64, bool, error) {
	t := cf.n.Table
	a := store.Access{Index: idx}
	for _, num := range idx.Columns {
		i := columnAt(t, num)
		b, ok := keyBytes(t.Columns[i].Type, cf.w.row[i])
		if !ok {
			return nil, 0, false, nil
		}
		a.Eq = append(a.Eq, b)
	}
	it, err := cf.c.Txn.Scan(t, a)
	if err != nil {
		return nil, 0, false, err
	}
	defer it.Close()
	if !it.Next() {
		return nil, 0, false, it.Err()
	}
	b, err := cf.keep.keepBytes(it.Tuple())
	return row.Tuple(b), it.RowID(), true, err
}

func (cf *conflictRun) update(id uint64, old row.Tuple) (uint64, bool, error) {
	if _, twice := cf.touched[id]; twice {
		// PostgreSQL's text names the clause by a word that makes clients retry; this is not retryable.
		return 0, false, pgerr.New(pgerr.CardinalityViolation, "INSERT ... DO UPDATE command cannot affect row a second time").
			WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
	}
	t := cf.n.Table
	width := len(t.Columns)
	if cf.pair == nil {
		cf.pair = make(Row, 2*width)
	}
	copy(cf.pair[width:], cf.w.row)
	if err := loadTuple(t, old, cf.pair[:width]); err != nil {
		return 0, false, err
	}
	ok, err := truthy(cf.c, cf.n.Conflict.Where, cf.pair)
	if err != nil || !ok {
		return 0, false, err
	}
	for i := range t.Columns {
		cf.w.row[i] = cf.pair[i]
		if e := cf.n.Conflict.Set[i]; e != nil {
			if cf.w.row[i], err = e.Eval(cf.c, cf.pair); err != nil {
				return 0, false, err
			}
		}
	}
	tup, err := cf.w.tuple()
	if err != nil {
		return 0, false, err
	}
	if err := cf.c.Txn.Update(t, id, old, tup); err != nil {
		return 0, false, err
	}
	cf.touched[id] = struct{}{}
	return id, true, nil
}
