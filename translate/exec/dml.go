package exec

import (
	"errors"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Target is a table that rows are written to, with what its rows must satisfy.
type Target struct {
	Table *rel.Table
	// Checks read the new row laid out by column index of Table.Columns.
	Checks []CheckExpr
}

// CheckExpr is a bound CHECK constraint.
type CheckExpr struct {
	Name string
	Cond Expr
}

// writer encodes and checks rows of one target.
type writer struct {
	t   *Target
	c   *Ctx
	b   row.Builder
	row Row // by column index
}

// tuple checks the row in w.row and encodes it; the result is valid until the next call.
func (w *writer) tuple() (row.Tuple, error) {
	t := w.t.Table
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.NotNull && !col.Dropped && !w.row[i].Valid {
			e := pgerr.New(pgerr.NotNullViolation, "null value in column %q of relation %q violates not-null constraint", col.Name, t.Name).
				WithDetail("%s", FailingRow(w.c.Env, t, func(i int) types.Datum { return w.row[i] }))
			e.Table, e.Column = t.Name, col.Name
			return nil, e
		}
	}
	for _, ck := range w.t.Checks {
		d, err := ck.Cond.Eval(w.c, w.row)
		if err != nil {
			return nil, err
		}
		if d.Valid && d.I == 0 {
			e := pgerr.New(pgerr.CheckViolation, "new row for relation %q violates check constraint %q", t.Name, ck.Name).
				WithDetail("%s", FailingRow(w.c.Env, t, func(i int) types.Datum { return w.row[i] }))
			e.Table, e.Constraint = t.Name, ck.Name
			return nil, e
		}
	}
	w.b.Reset()
	last := int16(0)
	for i := range t.Columns {
		col := &t.Columns[i]
		for last++; last < col.Num; last++ {
			w.b.Null()
		}
		appendField(&w.b, col.Type, &w.row[i])
	}
	tup, err := w.b.Tuple()
	if err != nil {
		return nil, pgerr.Wrap(err, pgerr.TooManyColumns, "too many columns")
	}
	return tup, nil
}

// appendField appends a value in binary form.
func appendField(b *row.Builder, oid types.OID, d *types.Datum) {
	if !d.Valid {
		b.Null()
		return
	}
	switch oid {
	case types.Int8OID, types.TimestamptzOID, types.TimestampOID:
		b.Int64(d.I)
	case types.Int4OID, types.DateOID:
		b.Int32(int32(d.I))
	case types.BoolOID:
		b.Bool(d.I != 0)
	case types.TextOID, types.VarcharOID, types.ByteaOID, types.UUIDOID, types.BpcharOID, types.JSONOID:
		b.Bytes(d.B)
	default:
		b.EndField(types.AppendBinary(b.Buf(), oid, *d))
	}
}

// load decodes a stored tuple into dst, laid out by column index.
func loadTuple(t *rel.Table, tup row.Tuple, dst Row) error {
	for i := range t.Columns {
		col := &t.Columns[i]
		dst[i] = types.Datum{}
		if col.Dropped {
			continue
		}
		val, null, ok := tup.Field(int(col.Num) - 1)
		if !ok && col.HasMissing && col.Missing != nil {
			val, null, ok = col.Missing, false, true
		}
		if !ok || null {
			continue
		}
		if err := decodeField(&dst[i], col.Type, val); err != nil {
			return err
		}
	}
	return nil
}

// returning collects RETURNING rows: expressions over a row laid out by column index,
// followed by whatever the statement's other tables contribute.
type returning struct {
	exprs []Expr
	store rowStore
	rows  []Row
	buf   Row
}

func (r *returning) add(c *Ctx, in Row) error {
	if r.exprs == nil {
		return nil
	}
	if r.buf == nil {
		r.buf = make(Row, len(r.exprs))
	}
	for i, e := range r.exprs {
		d, err := e.Eval(c, in)
		if err != nil {
			return err
		}
		r.buf[i] = d
	}
	k, err := r.store.keep(r.buf)
	if err != nil {
		return err
	}
	r.rows = append(r.rows, k)
	return nil
}

// dmlIter runs a write when the first row is wanted and then yields its RETURNING rows.
type dmlIter struct {
	run  func(it *dmlIter) error
	n    int64
	ret  returning
	at   int
	done bool
}

func (it *dmlIter) Next() (Row, error) {
	if !it.done {
		it.done = true
		if err := it.run(it); err != nil {
			return nil, MapStoreError(err)
		}
	}
	if it.at >= len(it.ret.rows) {
		return nil, EOF
	}
	it.at++
	return it.ret.rows[it.at-1], nil
}

// Affected is the number of rows written.
func (it *dmlIter) Affected() int64 { return it.n }

func (it *dmlIter) Close() error {
	it.ret.store.release()
	return nil
}

// Insert is INSERT. Its input's rows hold values for Into (indexes of
// Table.Columns); Defaults fill the others.
type Insert struct {
	Target
	In       Node
	Into     []int
	Defaults []Expr // by column index; nil: NULL
	Conflict *Conflict
	// Returning reads the new row by column index, then ctid and tableoid.
	Returning []Expr
	Cols      []Column
}

// Conflict is ON CONFLICT.
type Conflict struct {
	// Index is the arbiter; nil means any unique index (DO NOTHING only).
	Index *rel.Index
	// Set are the new values of DO UPDATE by column index; nil entries keep the old value. A
	// nil slice is DO NOTHING. They read the existing row, then the excluded one.
	Set   []Expr
	Where Expr
}

// Columns are RETURNING's.
func (n *Insert) Columns() []Column { return n.Cols }

// Update is UPDATE. Its input's rows begin with the row id, the stored tuple and the new
// values for Into; RETURNING reads what follows.
type Update struct {
	Target
	In   Node
	Into []int
	// Returning reads the new row by column index, ctid, tableoid, and then the input's row from
	// Extra on (columns of other tables).
	Returning []Expr
	Extra     int
	Cols      []Column
}

// Delete is DELETE; its input's rows begin with the row id and the stored tuple.
type Delete struct {
	Table     *rel.Table
	In        Node
	Returning []Expr
	Extra     int
	Cols      []Column
}

// Columns are RETURNING's.
func (n *Update) Columns() []Column { return n.Cols }

// Columns are RETURNING's.
func (n *Delete) Columns() []Column { return n.Cols }

// errConcurrentRow is what a row that vanished between being read and written means.
func errConcurrentRow(err error) error {
	if errors.Is(err, store.ErrRowChanged) {
		return nil
	}
	return err
}

// target row: id and stored tuple of a row to be written, kept.
type targetRow struct {
	id  uint64
	row Row
}

// collect reads all rows of a write's input before anything is written. A row that joins
// several times counts once.
func collect(c *Ctx, in Node, store *rowStore) ([]targetRow, error) {
	it, err := in.Open(c)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var rows []targetRow
	seen := make(map[uint64]struct{})
	for {
		r, err := it.Next()
		if err == EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if !r[0].Valid {
			continue
		}
		id := uint64(r[0].I)
		if _, dup := seen[id]; dup {
			continue
		}
		seen[id] = struct{}{}
		k, err := store.keep(r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, targetRow{id: id, row: k})
	}
}

// Open prepares the update.
func (n *Update) Open(c *Ctx) (Iter, error) {
	it := &dmlIter{}
	it.ret.exprs, it.ret.store.mem = n.Returning, c.Mem
	it.run = func(it *dmlIter) error { return n.run(c, it) }
	return it, nil
}

func (n *Update) run(c *Ctx, it *dmlIter) error {
	keep := rowStore{mem: c.Mem}
	defer keep.release()
	rows, err := collect(c, n.In, &keep)
	if err != nil {
		return err
	}
	t := n.Table
	width := len(t.Columns)
	full := make(Row, width+2+n.extraWidth(rows))
	w := writer{t: &n.Target, c: c, row: full[:width]}
	for _, r := range rows {
		if err := c.Check(); err != nil {
			return err
		}
		old := row.Tuple(r.row[1].B)
		if err := loadTuple(t, old, full[:width]); err != nil {
			return err
		}
		for i, col := range n.Into {
			full[col] = r.row[2+i]
		}
		tup, err := w.tuple()
		if err != nil {
			return err
		}
		if err := c.Txn.Update(t, r.id, old, tup); err != nil {
			if err = errConcurrentRow(err); err != nil {
				return err
			}
			continue
		}
		it.n++
		if n.Returning != nil {
			full[width] = TIDDatum(r.id)
			full[width+1] = Int(int64(t.OID))
			copy(full[width+2:], r.row[min(n.Extra, len(r.row)):])
			if err := it.ret.add(c, full); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *Update) extraWidth(rows []targetRow) int {
	if len(rows) == 0 {
		return 0
	}
	return max(0, len(rows[0].row)-n.Extra)
}

// Open prepares the delete.
func (n *Delete) Open(c *Ctx) (Iter, error) {
	it := &dmlIter{}
	it.ret.exprs, it.ret.store.mem = n.Returning, c.Mem
	it.run = func(it *dmlIter) error { return n.run(c, it) }
	return it, nil
}

func (n *Delete) run(c *Ctx, it *dmlIter) error {
	keep := rowStore{mem: c.Mem}
	defer keep.release()
	rows, err := collect(c, n.In, &keep)
	if err != nil {
		return err
	}
	spared, err := spares(c, n.Table)
	if err != nil {
		return err
	}
	width := len(n.Table.Columns)
	var full Row
	for _, r := range rows {
		if err := c.Check(); err != nil {
			return err
		}
		old := row.Tuple(r.row[1].B)
		if spared != nil && spared.Keeps(old) {
			continue
		}
		if err := c.Txn.Delete(n.Table, r.id, old); err != nil {
			if err = errConcurrentRow(err); err != nil {
				return err
			}
			continue
		}
		it.n++
		if n.Returning != nil {
			if full == nil {
				full = make(Row, width+2+max(0, len(r.row)-n.Extra))
			}
			if err := loadTuple(n.Table, old, full[:width]); err != nil {
				return err
			}
			full[width] = TIDDatum(r.id)
			full[width+1] = Int(int64(n.Table.OID))
			copy(full[width+2:], r.row[min(n.Extra, len(r.row)):])
			if err := it.ret.add(c, full); err != nil {
				return err
			}
		}
	}
	if spared != nil {
		return spared.Done()
	}
	return nil
}
