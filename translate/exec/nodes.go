package exec

import (
	"slices"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Scan turns a source into rows of the level's shared layout.
type Scan struct {
	Src   Source
	Width int  // of the shared row
	Cond  Expr // what is left of WHERE
}

// Columns of a Scan have no names.
func (n *Scan) Columns() []Column { return nil }

// Open opens the source.
func (n *Scan) Open(c *Ctx) (Iter, error) {
	shared := make(Row, n.Width)
	si, err := n.Src.Start(c, shared)
	if err != nil {
		return nil, err
	}
	return &scanIter{n: n, c: c, si: si, shared: shared}, nil
}

type scanIter struct {
	n      *Scan
	c      *Ctx
	si     SourceIter
	shared Row
}

func (it *scanIter) Next() (Row, error) {
	for {
		ok, err := it.si.Next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, EOF
		}
		if ok, err = truthy(it.c, it.n.Cond, it.shared); err != nil {
			return nil, err
		}
		if ok {
			return it.shared, nil
		}
	}
}

func (it *scanIter) Close() error { return it.si.Close() }

// Filter keeps rows for which Cond holds (HAVING).
type Filter struct {
	In   Node
	Cond Expr
}

// Columns are the input's.
func (n *Filter) Columns() []Column { return n.In.Columns() }

// Open opens the input.
func (n *Filter) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	return &funcRows{close: in.Close, next: func() (Row, error) {
		for {
			r, err := in.Next()
			if err != nil {
				return nil, err
			}
			ok, err := truthy(c, n.Cond, r)
			if err != nil {
				return nil, err
			}
			if ok {
				return r, nil
			}
		}
	}}, nil
}

// funcRows is an Iter of closures.
type funcRows struct {
	next  func() (Row, error)
	close func() error
}

func (f *funcRows) Next() (Row, error) { return f.next() }

func (f *funcRows) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Project computes expressions over its input's rows. Cols may be fewer than Exprs: the
// others are keys for sorting that are cut off later.
type Project struct {
	In    Node
	Exprs []Expr
	Cols  []Column
}

// Columns are the computed ones.
func (n *Project) Columns() []Column { return n.Cols }

// Open opens the input.
func (n *Project) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	return &projectIter{n: n, c: c, in: in, out: make(Row, len(n.Exprs))}, nil
}

type projectIter struct {
	n    *Project
	c    *Ctx
	in   Iter
	out  Row
	held held // the large values of the current row
}

func (it *projectIter) Next() (Row, error) {
	it.held.release(it.c)
	r, err := it.in.Next()
	if err != nil {
		return nil, err
	}
	for i, e := range it.n.Exprs {
		d, err := e.Eval(it.c, r)
		if err != nil {
			return nil, err
		}
		if err := it.held.add(it.c, &d); err != nil {
			return nil, err
		}
		it.out[i] = d
	}
	return it.out, nil
}

func (it *projectIter) Close() error {
	it.held.release(it.c)
	return it.in.Close()
}

// Trim cuts rows to the first len(Cols) values and names them.
type Trim struct {
	In   Node
	Cols []Column
}

// Columns are the names.
func (n *Trim) Columns() []Column { return n.Cols }

// Open opens the input.
func (n *Trim) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	w := len(n.Cols)
	return &funcRows{close: in.Close, next: func() (Row, error) {
		r, err := in.Next()
		if err != nil {
			return nil, err
		}
		return r[:w], nil
	}}, nil
}

// Limit is LIMIT, OFFSET and WITH TIES (Ties are the sort keys then).
type Limit struct {
	In     Node
	Count  Expr // int8; nil or NULL: no limit
	Offset Expr
	Ties   []SortKey
}

// Columns are the input's.
func (n *Limit) Columns() []Column { return n.In.Columns() }

// bounds evaluates count and offset; count -1 is none.
func (n *Limit) bounds(c *Ctx) (count, offset int64, err error) {
	count = -1
	if n.Count != nil {
		d, err := n.Count.Eval(c, nil)
		if err != nil {
			return 0, 0, err
		}
		if d.Valid {
			if d.I < 0 {
				return 0, 0, pgerr.New(pgerr.InvalidRowCountInLimit, "LIMIT must not be negative")
			}
			count = d.I
		}
	}
	if n.Offset != nil {
		d, err := n.Offset.Eval(c, nil)
		if err != nil {
			return 0, 0, err
		}
		if d.Valid {
			if d.I < 0 {
				return 0, 0, pgerr.New(pgerr.InvalidRowCountInOffset, "OFFSET must not be negative")
			}
			offset = d.I
		}
	}
	return count, offset, nil
}

// Open opens the input.
func (n *Limit) Open(c *Ctx) (Iter, error) {
	count, offset, err := n.bounds(c)
	if err != nil {
		return nil, err
	}
	if count == 0 {
		return &SliceIter{}, nil
	}
	if s, ok := n.In.(topNer); ok && count > 0 && n.Ties == nil && count+offset < 1<<20 {
		c = withTop(c, s, count+offset)
	}
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	var done int64
	var last Row
	store := rowStore{mem: c.Mem}
	return &funcRows{close: in.Close, next: func() (Row, error) {
		for ; offset > 0; offset-- {
			if _, err := in.Next(); err != nil {
				return nil, err
			}
		}
		if count >= 0 && done >= count {
			if n.Ties == nil {
				return nil, EOF
			}
			r, err := in.Next()
			if err != nil {
				return nil, err
			}
			if compareKeys(n.Ties, r, last) != 0 {
				return nil, EOF
			}
			return r, nil
		}
		r, err := in.Next()
		if err != nil {
			return nil, err
		}
		done++
		if n.Ties != nil && done == count {
			if last, err = store.keep(r); err != nil {
				return nil, err
			}
		}
		return r, nil
	}}, nil
}

// SortKey orders rows by one column of them.
type SortKey struct {
	Idx        int
	OID        types.OID
	Desc       bool
	NullsFirst bool
}

func compareKeys(keys []SortKey, a, b Row) int {
	for i := range keys {
		k := &keys[i]
		x, y := &a[k.Idx], &b[k.Idx]
		if x.Valid && y.Valid {
			cmp := CompareDatum(k.OID, x, y)
			if cmp != 0 {
				if k.Desc {
					return -cmp
				}
				return cmp
			}
			continue
		}
		if x.Valid == y.Valid {
			continue
		}
		if x.Valid == k.NullsFirst {
			return 1
		}
		return -1
	}
	return 0
}

// Sort orders its input's rows; equal ones keep their order.
type Sort struct {
	In   Node
	Keys []SortKey
}

type topNer interface{ sortsRows() }

func (n *Sort) sortsRows() {}

// withTop tells a Sort directly below a Limit how many rows are wanted.
func withTop(c *Ctx, key any, n int64) *Ctx {
	*stateOf[int64](c, key) = n
	return c
}

// Columns are the input's.
func (n *Sort) Columns() []Column { return n.In.Columns() }

// Open reads and sorts everything when the first row is wanted.
func (n *Sort) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	return &sortIter{n: n, c: c, in: in, top: *stateOf[int64](c, n), store: rowStore{mem: c.Mem}}, nil
}

type sortIter struct {
	n     *Sort
	c     *Ctx
	in    Iter
	top   int64
	store rowStore
	rows  []Row
	at    int
	done  bool
}

func (it *sortIter) load() error {
	it.done = true
	cmp := func(a, b Row) int { return compareKeys(it.n.Keys, a, b) }
	var worst Row
	for {
		r, err := it.in.Next()
		if err == EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := it.c.Check(); err != nil {
			return err
		}
		if it.top > 0 {
			// Only the first rows are wanted: what comes after the worst of them is passed over.
			if worst != nil && cmp(r, worst) >= 0 {
				continue
			}
			if int64(len(it.rows)) >= it.top*2+64 {
				slices.SortStableFunc(it.rows, cmp)
				it.rows = it.rows[:it.top]
				if err := it.compact(); err != nil {
					return err
				}
				worst = it.rows[it.top-1]
			}
		}
		kept, err := it.store.keep(r)
		if err != nil {
			return err
		}
		it.rows = append(it.rows, kept)
	}
	slices.SortStableFunc(it.rows, cmp)
	return nil
}

func (it *sortIter) compact() error {
	old := it.store
	fresh := rowStore{mem: it.c.Mem}
	for i, r := range it.rows {
		k, err := fresh.keep(r)
		if err != nil {
			return err
		}
		it.rows[i] = k
	}
	it.store = fresh
	old.release()
	return nil
}

func (it *sortIter) Next() (Row, error) {
	if !it.done {
		if err := it.load(); err != nil {
			return nil, err
		}
	}
	if it.at >= len(it.rows) || it.top > 0 && int64(it.at) >= it.top {
		return nil, EOF
	}
	it.at++
	return it.rows[it.at-1], nil
}

func (it *sortIter) Close() error {
	it.store.release()
	it.rows = nil
	it.done = true
	return it.in.Close()
}

// Unique drops rows whose first N values were seen before (DISTINCT); with Keys it looks
// at these columns only (DISTINCT ON).
type Unique struct {
	In   Node
	OIDs []types.OID
	Keys []int // nil: the first len(OIDs) columns
}

// Columns are the input's.
func (n *Unique) Columns() []Column { return n.In.Columns() }

// Open opens the input.
func (n *Unique) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]struct{})
	var key []byte
	held := int64(0)
	return &funcRows{
		close: func() error { c.Mem.Shrink(held); held = 0; return in.Close() },
		next: func() (Row, error) {
			for {
				r, err := in.Next()
				if err != nil {
					return nil, err
				}
				key = key[:0]
				for i, oid := range n.OIDs {
					at := i
					if n.Keys != nil {
						at = n.Keys[i]
					}
					key = hashKey(key, oid, &r[at])
				}
				if _, dup := seen[string(key)]; dup {
					continue
				}
				held += int64(len(key)) + 32
				if err := c.Mem.Grow(int64(len(key)) + 32); err != nil {
					return nil, err
				}
				seen[string(key)] = struct{}{}
				return r, nil
			}
		},
	}, nil
}

// Values yields rows of expressions.
type Values struct {
	Rows [][]Expr
	Cols []Column
}

// Columns are column1, column2, ….
func (n *Values) Columns() []Column { return n.Cols }

// Open starts at the first row.
func (n *Values) Open(c *Ctx) (Iter, error) {
	out := make(Row, len(n.Cols))
	at := 0
	return &funcRows{next: func() (Row, error) {
		if at >= len(n.Rows) {
			return nil, EOF
		}
		if err := c.Check(); err != nil {
			return nil, err
		}
		for i, e := range n.Rows[at] {
			d, err := e.Eval(c, nil)
			if err != nil {
				return nil, err
			}
			out[i] = d
		}
		at++
		return out, nil
	}}, nil
}
