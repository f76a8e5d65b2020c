package exec

import (
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// Warden is a Session that keeps some stored rows from statements.
type Warden interface {
	// Hidden returns the row ids that a scan which does not write passes over; nil: none.
	Hidden(c *Ctx, s *TableScan) (map[uint64]struct{}, error)
	// Spares returns what a DELETE leaves of a table; nil: nothing.
	Spares(c *Ctx, tbl *rel.Table) (Sparing, error)
}

// Sparing is what one DELETE leaves.
type Sparing interface {
	// Keeps says whether a row that the statement would delete stays.
	Keeps(t row.Tuple) bool
	// Done is called when the statement has deleted all others.
	Done() error
}

// Reads says whether a scan puts a column of its table into its rows.
func (s *TableScan) Reads(att int16) bool {
	for i := range s.Cols {
		if s.Cols[i].Att == int(att) {
			return true
		}
	}
	return false
}

// hidden asks the session which rows a scan passes over.
func (s *TableScan) hidden(c *Ctx) (map[uint64]struct{}, error) {
	w, ok := c.Session.(Warden)
	if !ok || s.Reads(AttTuple) { // to write them
		return nil, nil
	}
	return w.Hidden(c, s)
}

// spares asks the session what a DELETE leaves.
func spares(c *Ctx, tbl *rel.Table) (Sparing, error) {
	w, ok := c.Session.(Warden)
	if !ok {
		return nil, nil
	}
	return w.Spares(c, tbl)
}

// passes says whether the scan passes over the row it is at.
func (it *tableIter) passes() bool {
	_, ok := it.hidden[it.cur.RowID()]
	return ok
}

func (it *rawIter) passes() bool {
	_, ok := it.hidden[it.cur.RowID()]
	return ok
}
