package exec

import (
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/types"
)

// Source is one item of a FROM clause. All sources of one query level share one row:
// each fills its own columns of it, so joins copy nothing.
type Source interface {
	Start(c *Ctx, shared Row) (SourceIter, error)
}

// SourceIter produces the rows of a Source.
type SourceIter interface {
	// Next fills the source's columns of the shared row; false at the end.
	Next() (bool, error)
	// Reset starts over, with the present values of the columns to its left.
	Reset() error
	Close() error
}

// System columns of stored tables, by the attribute numbers PostgreSQL gives them, and
// two of our own that INSERT, UPDATE and DELETE read.
const (
	AttCtid     = -1
	AttXmin     = -2
	AttCmin     = -3
	AttXmax     = -4
	AttCmax     = -5
	AttTableOID = -6
	AttRowID    = -100 // the row id, as an int8
	AttTuple    = -101 // the stored tuple, as bytes
)

// ScanCol says that a scan puts a column of the table into the shared row.
type ScanCol struct {
	Att int // attnum (1-based), or one of the system columns
	To  *Col
}

// TableScan reads a stored table.
type TableScan struct {
	Table *rel.Table
	Cols  []ScanCol
	Path  *AccessPath // nil: everything
	// Raw are conditions that are tested on the stored tuple.
	Raw []*RawPred
	// Filter is what is left to test on the decoded row.
	Filter Expr
}

// AccessPath is a keyed way into a table. Its expressions do not read the table's own columns.
type AccessPath struct {
	Index *rel.Index // nil: the clustered primary storage
	Eq    []KeyPart
	Lo    *KeyBound
	Hi    *KeyBound
	// Range is the type of the column that Lo and Hi are on.
	Range   types.OID
	Reverse bool
	// One of these looks rows up by ctid: =, IN, = ANY.
	TIDs   Expr
	TIDIn  []Expr
	TIDArr Expr
}

// KeyPart is an equality on one key part.
type KeyPart struct {
	Col types.OID
	// One of: a value, a list of values (at most one part of a path has one), an array, or a NULL test.
	Val    Expr
	In     []Expr
	Arr    Expr
	IsNull *bool
}

// KeyBound is one end of a range.
type KeyBound struct {
	Val       Expr
	Inclusive bool
}

// RawPred is a condition on one field of a stored tuple: Op with a value that does not
// depend on the table, a NULL test, or membership.
type RawPred struct {
	Att  int16
	OID  types.OID
	Op   CmpOp
	Val  Expr
	Null bool // IS NULL, or IS NOT NULL with Not
	In   []Expr
	Not  bool
}

// Start opens the scan.
func (s *TableScan) Start(c *Ctx, shared Row) (SourceIter, error) {
	it := &tableIter{s: s, c: c, shared: shared}
	var err error
	if it.hidden, err = s.hidden(c); err != nil {
		return nil, err
	}
	it.prepare()
	if err := it.Reset(); err != nil {
		return nil, err
	}
	return it, nil
}

type tableIter struct {
	s      *TableScan
	c      *Ctx
	shared Row
	todo   []store.Access
	at     int
	cur    *store.RowIter
	preds  []rawTest
	cols   []fieldCol // ascending by field
	sys    []ScanCol
	hidden map[uint64]struct{} // rows to pass over
}

type fieldCol struct {
	field   int
	oid     types.OID
	to      int
	missing []byte
	hasMiss bool
}

func (it *tableIter) prepare() {
	for _, sc := range it.s.Cols {
		if sc.Att < 0 {
			it.sys = append(it.sys, sc)
			continue
		}
		col := &it.s.Table.Columns[columnAt(it.s.Table, int16(sc.Att))]
		it.cols = append(it.cols, fieldCol{
			field: sc.Att - 1, oid: col.Type, to: sc.To.Idx, missing: col.Missing, hasMiss: col.HasMissing,
		})
	}
	slices.SortFunc(it.cols, func(a, b fieldCol) int { return a.field - b.field })
}

// columnAt finds a column's index by its number.
func columnAt(t *rel.Table, num int16) int {
	if i := int(num) - 1; i < len(t.Columns) && i >= 0 && t.Columns[i].Num == num {
		return i
	}
	for i := range t.Columns {
		if t.Columns[i].Num == num {
			return i
		}
	}
	return -1
}

// Reset computes keys and conditions anew.
func (it *tableIter) Reset() error {
	it.closeCur()
	var err error
	if it.todo, err = it.s.Path.accesses(it.c, it.shared, it.todo[:0]); err != nil {
		return err
	}
	it.at = 0
	it.preds, err = prepareRaw(it.c, it.s.Table, it.s.Raw, it.shared, it.preds[:0])
	return err
}

func (it *tableIter) closeCur() {
	if it.cur != nil {
		_ = it.cur.Close()
		it.cur = nil
	}
}

// Next finds the next row that passes.
func (it *tableIter) Next() (bool, error) {
	for {
		if it.cur == nil {
			if it.at >= len(it.todo) {
				return false, nil
			}
			cur, err := it.c.reader().Scan(it.s.Table, it.todo[it.at])
			if err != nil {
				return false, MapStoreError(err)
			}
			it.at++
			it.cur = cur
		}
		if !it.cur.Next() {
			if err := it.cur.Err(); err != nil {
				return false, MapStoreError(err)
			}
			it.closeCur()
			continue
		}
		if err := it.c.Check(); err != nil {
			return false, err
		}
		tup := it.cur.Tuple()
		if !testRaw(it.preds, tup) {
			continue
		}
		if it.hidden != nil && it.passes() {
			continue
		}
		if err := it.decode(tup); err != nil {
			return false, err
		}
		ok, err := truthy(it.c, it.s.Filter, it.shared)
		if err != nil {
			return false, err
		}
		if ok {
			return true, nil
		}
	}
}

func (it *tableIter) decode(tup row.Tuple) error {
	if len(it.cols) > 0 {
		w := row.Walk(tup)
		at := 0
		for i := range it.cols {
			fc := &it.cols[i]
			var val []byte
			null, ok := false, false
			if w.Skip(fc.field - at) {
				val, null, ok = w.Next()
				at = fc.field + 1
			}
			if !ok {
				val, null = fc.missing, !fc.hasMiss || fc.missing == nil
			}
			if null {
				it.shared[fc.to] = types.Datum{}
				continue
			}
			if err := decodeField(&it.shared[fc.to], fc.oid, val); err != nil {
				return err
			}
		}
	}
	for _, sc := range it.sys {
		it.shared[sc.To.Idx] = it.system(sc.Att, tup)
	}
	return nil
}

func (it *tableIter) system(att int, tup row.Tuple) types.Datum {
	switch att {
	case AttCtid:
		return TIDDatum(it.cur.RowID())
	case AttTableOID:
		return Int(int64(it.s.Table.OID))
	case AttRowID:
		return Int(int64(it.cur.RowID()))
	case AttTuple:
		return types.Datum{B: tup, Valid: true}
	case AttXmin:
		return Int(int64(uint32(it.s.Table.Version)))
	}
	return Int(0)
}

// TIDDatum is a row id as a tid.
func TIDDatum(rowid uint64) types.Datum {
	block, off := rel.TID(rowid)
	return Int(int64(block)<<16 | int64(off))
}

func (it *tableIter) Close() error {
	it.closeCur()
	return nil
}

// decodeField decodes a stored value; the common fixed types without a call.
func decodeField(d *types.Datum, oid types.OID, b []byte) error {
	switch oid {
	case types.Int8OID, types.TimestamptzOID, types.TimestampOID, types.TimeOID:
		if len(b) == 8 {
			*d = types.Datum{I: be64(b), Valid: true}
			return nil
		}
	case types.Int4OID, types.DateOID:
		if len(b) == 4 {
			*d = types.Datum{I: int64(int32(be32(b))), Valid: true}
			return nil
		}
	case types.BoolOID:
		if len(b) == 1 {
			*d = types.Datum{I: int64(b[0]), Valid: true}
			return nil
		}
	case types.TextOID, types.VarcharOID, types.ByteaOID, types.UUIDOID, types.BpcharOID, types.JSONOID:
		if b == nil {
			b = emptyBytes
		}
		*d = types.Datum{B: b, Valid: true}
		return nil
	}
	v, err := types.DecodeBinary(oid, b)
	if err != nil {
		return err
	}
	*d = v
	return nil
}

func be64(b []byte) int64 {
	_ = b[7]
	return int64(b[0])<<56 | int64(b[1])<<48 | int64(b[2])<<40 | int64(b[3])<<32 |
		int64(b[4])<<24 | int64(b[5])<<16 | int64(b[6])<<8 | int64(b[7])
}

func be32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// accesses turns the path into the store scans of this execution: none when a key is
// NULL, several for lists. A nil path is one full scan.
func (p *AccessPath) accesses(c *Ctx, shared Row, out []store.Access) ([]store.Access, error) {
	if p == nil {
		return append(out, store.Access{}), nil
	}
	if p.TIDs != nil || p.TIDIn != nil || p.TIDArr != nil {
		return p.tidAccess(c, shared, out)
	}
	a := store.Access{Index: p.Index, Reverse: p.Reverse}
	multi := -1
	var list [][]byte
	for i := range p.Eq {
		k := &p.Eq[i]
		switch {
		case k.IsNull != nil:
			b := []byte{0}
			if *k.IsNull {
				b[0] = 1
			}
			a.Eq = append(a.Eq, b)
		case k.In != nil || k.Arr != nil:
			vals, err := k.values(c, shared)
			if err != nil {
				return nil, err
			}
			if len(vals) == 0 {
				return out, nil
			}
			multi, list = i, vals
			a.Eq = append(a.Eq, nil)
		default:
			d, err := k.Val.Eval(c, shared)
			if err != nil {
				return nil, err
			}
			b, ok := keyBytes(k.Col, d)
			if !ok {
				return out, nil
			}
			a.Eq = append(a.Eq, b)
		}
	}
	for _, end := range []struct {
		from *KeyBound
		to   **store.Bound
		low  bool
	}{{p.Lo, &a.Lo, true}, {p.Hi, &a.Hi, false}} {
		if end.from == nil {
			continue
		}
		d, err := end.from.Val.Eval(c, shared)
		if err != nil {
			return nil, err
		}
		if !d.Valid {
			return out, nil
		}
		b, ok := keyBytes(p.Range, d)
		if !ok { // outside of the column's type: everything or nothing is on this side
			if (d.I > 0) == end.low {
				return out, nil
			}
			continue
		}
		*end.to = &store.Bound{Value: b, Inclusive: end.from.Inclusive}
	}
	if multi < 0 {
		return append(out, a), nil
	}
	for _, v := range list {
		one := a
		one.Eq = slices.Clone(a.Eq)
		one.Eq[multi] = v
		out = append(out, one)
	}
	if p.Reverse {
		slices.Reverse(out)
	}
	return out, nil
}

// values evaluates a list, sorted and without duplicates.
func (k *KeyPart) values(c *Ctx, shared Row) ([][]byte, error) {
	var ds []types.Datum
	if k.Arr != nil {
		d, err := k.Arr.Eval(c, shared)
		if err != nil || !d.Valid {
			return nil, err
		}
		elems, _, err := arrayElems(d)
		if err != nil {
			return nil, err
		}
		ds = elems
	}
	for _, e := range k.In {
		d, err := e.Eval(c, shared)
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	ds = slices.DeleteFunc(ds, func(d types.Datum) bool { return !d.Valid })
	slices.SortFunc(ds, func(a, b types.Datum) int { return CompareDatum(k.Col, &a, &b) })
	ds = slices.CompactFunc(ds, func(a, b types.Datum) bool { return CompareDatum(k.Col, &a, &b) == 0 })
	out := make([][]byte, 0, len(ds))
	for _, d := range ds {
		if b, ok := keyBytes(k.Col, d); ok {
			out = append(out, b)
		}
	}
	return out, nil
}

// keyBytes is the binary form of a key value; false for NULL and for an integer that
// the column's type cannot hold.
func keyBytes(oid types.OID, d types.Datum) ([]byte, bool) {
	if !d.Valid {
		return nil, false
	}
	switch oid {
	case types.Int4OID:
		if d.I != int64(int32(d.I)) {
			return nil, false
		}
	case types.Int2OID:
		if d.I != int64(int16(d.I)) {
			return nil, false
		}
	}
	b := types.AppendBinary(nil, oid, d)
	if b == nil {
		b = emptyBytes
	}
	return b, true
}

func (p *AccessPath) tidAccess(c *Ctx, shared Row, out []store.Access) ([]store.Access, error) {
	var ids []uint64
	add := func(d types.Datum) {
		if !d.Valid {
			return
		}
		block, off := uint32(uint64(d.I)>>16), uint16(d.I)
		if id, ok := rel.RowID(block, off); ok {
			ids = append(ids, id)
		}
	}
	if p.TIDs != nil {
		d, err := p.TIDs.Eval(c, shared)
		if err != nil {
			return nil, err
		}
		add(d)
	}
	for _, e := range p.TIDIn {
		d, err := e.Eval(c, shared)
		if err != nil {
			return nil, err
		}
		add(d)
	}
	if p.TIDArr != nil {
		d, err := p.TIDArr.Eval(c, shared)
		if err != nil || !d.Valid {
			return out, err
		}
		elems, _, err := arrayElems(d)
		if err != nil {
			return nil, err
		}
		for _, d := range elems {
			add(d)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	slices.Sort(ids)
	return append(out, store.Access{RowIDs: slices.Compact(ids)}), nil
}
