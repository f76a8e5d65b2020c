package exec

import (
	"errors"
	"slices"

	"github.com/eiderdb/eider/translate/types"
)

// CTE is a WITH query whose rows are computed once and kept.
type CTE struct {
	Name string
	Node Node
	Cols []Column
	// Writes says that the query writes: it runs even when nobody reads it.
	Writes bool
	// Lazy queries may have no end; their rows are computed as far as they are read.
	Lazy bool
	// Correlated queries are computed anew for every opening of the statement they belong to.
	Correlated bool
}

type cteState struct {
	done  bool
	it    Iter // of a lazy query
	store rowStore
	rows  []Row
}

func (t *CTE) fill(c *Ctx) ([]Row, error) {
	st := stateOf[cteState](c, t)
	if st.done {
		return st.rows, nil
	}
	st.store.mem = c.Mem
	it, err := t.Node.Open(c)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for {
		r, err := it.Next()
		if err == EOF {
			st.done = true
			return st.rows, nil
		}
		if err != nil {
			return nil, err
		}
		if err := c.Check(); err != nil {
			return nil, err
		}
		k, err := st.store.keep(r)
		if err != nil {
			return nil, err
		}
		st.rows = append(st.rows, k)
	}
}

// row returns the i-th row of a lazy query, EOF behind the last.
func (t *CTE) row(c *Ctx, i int) (Row, error) {
	st := stateOf[cteState](c, t)
	for i >= len(st.rows) {
		if st.done {
			return nil, EOF
		}
		if st.it == nil {
			st.store.mem = c.Mem
			it, err := t.Node.Open(c)
			if err != nil {
				return nil, err
			}
			st.it = it
		}
		r, err := st.it.Next()
		if err == EOF {
			st.done = true
			return nil, EOF
		}
		if err != nil {
			return nil, err
		}
		if r, err = st.store.keep(r); err != nil {
			return nil, err
		}
		st.rows = append(st.rows, r)
	}
	return st.rows[i], nil
}

// reset forgets the rows.
func (t *CTE) reset(c *Ctx) error {
	st := stateOf[cteState](c, t)
	var err error
	if st.it != nil {
		err = st.it.Close()
	}
	st.store.release()
	*st = cteState{}
	return err
}

// CTEScan reads a CTE's rows.
type CTEScan struct{ CTE *CTE }

// Columns are the CTE's.
func (n *CTEScan) Columns() []Column { return n.CTE.Cols }

// Open computes the rows when the first one is wanted.
func (n *CTEScan) Open(c *Ctx) (Iter, error) {
	var rows []Row
	at := -1
	return &funcRows{next: func() (Row, error) {
		if n.CTE.Lazy {
			at++
			return n.CTE.row(c, at)
		}
		if at < 0 {
			r, err := n.CTE.fill(c)
			if err != nil {
				return nil, err
			}
			rows, at = r, 0
		}
		if at >= len(rows) {
			return nil, EOF
		}
		at++
		return rows[at-1], nil
	}}, nil
}

// With runs the writing CTEs of a statement and then the statement.
type With struct {
	CTEs []*CTE
	Body Node
}

// Columns are the body's.
func (n *With) Columns() []Column { return n.Body.Columns() }

// Open opens the body.
func (n *With) Open(c *Ctx) (Iter, error) {
	for _, t := range n.CTEs {
		if t.Correlated {
			if err := t.reset(c); err != nil {
				return nil, err
			}
		}
	}
	writes := slices.ContainsFunc(n.CTEs, func(t *CTE) bool { return t.Writes })
	it := &withIter{c: c, n: n}
	var err error
	if writes && c.reads == nil {
		// All parts of the statement see what was there before it.
		if c.reads, err = c.Txn.Freeze(); err != nil {
			return nil, MapStoreError(err)
		}
		it.froze = true
	}
	for _, t := range n.CTEs {
		if t.Writes {
			if _, err := t.fill(c); err != nil {
				return nil, errors.Join(err, it.Close())
			}
		}
	}
	if it.Iter, err = n.Body.Open(c); err != nil {
		return nil, errors.Join(err, it.Close())
	}
	if n, ok := it.Iter.(RowCounter); ok {
		return withWrite{it, n}, nil
	}
	return it, nil
}

// withIter keeps what a statement reads as it was before the statement's writes, and ends
// what its lazy queries began.
type withIter struct {
	Iter
	c     *Ctx
	n     *With
	froze bool
}

// withWrite is a withIter whose body writes.
type withWrite struct {
	*withIter
	RowCounter
}

func (it *withIter) Close() error {
	var err error
	if it.Iter != nil {
		err = it.Iter.Close()
	}
	for _, t := range it.n.CTEs {
		if t.Lazy {
			err = errors.Join(err, t.reset(it.c))
		}
	}
	if it.froze {
		it.froze = false
		_ = it.c.reads.Rollback()
		it.c.reads = nil
	}
	return err
}

// Recursive is WITH RECURSIVE: Base's rows, then Step's rows over the rows of the round
// before, until there are none.
type Recursive struct {
	Base, Step Node
	Work       *WorkTable
	// Distinct is UNION without ALL: OIDs are the columns' types.
	Distinct bool
	OIDs     []types.OID
	Cols     []Column
}

// WorkTable is what a recursive query's step reads.
type WorkTable struct{ Cols []Column }

type workState struct{ rows []Row }

// Columns are the query's.
func (n *WorkTable) Columns() []Column { return n.Cols }

// Open reads the rows of the round before.
func (n *WorkTable) Open(c *Ctx) (Iter, error) {
	return &SliceIter{Items: stateOf[workState](c, n).rows}, nil
}

// Columns are the query's.
func (n *Recursive) Columns() []Column { return n.Cols }

// Open starts with the base.
func (n *Recursive) Open(c *Ctx) (Iter, error) {
	it := &recursiveIter{n: n, c: c, seen: make(map[string]struct{})}
	var err error
	if it.cur, err = n.Base.Open(c); err != nil {
		return nil, err
	}
	it.store.mem, it.old.mem = c.Mem, c.Mem
	return it, nil
}

type recursiveIter struct {
	n     *Recursive
	c     *Ctx
	cur   Iter
	store rowStore // rows of the round being read
	old   rowStore
	next  []Row
	seen  map[string]struct{}
	key   []byte
}

func (it *recursiveIter) Next() (Row, error) {
	for {
		if it.cur == nil {
			return nil, EOF
		}
		r, err := it.cur.Next()
		if err == EOF {
			if err := it.round(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := it.c.Check(); err != nil {
			return nil, err
		}
		if it.n.Distinct {
			it.key = it.key[:0]
			for i, oid := range it.n.OIDs {
				it.key = hashKey(it.key, oid, &r[i])
			}
			if _, dup := it.seen[string(it.key)]; dup {
				continue
			}
			if err := it.c.Mem.Grow(int64(len(it.key)) + 32); err != nil {
				return nil, err
			}
			it.seen[string(it.key)] = struct{}{}
		}
		k, err := it.store.keep(r)
		if err != nil {
			return nil, err
		}
		it.next = append(it.next, k)
		return k, nil
	}
}

// round hands the rows just read to the step.
func (it *recursiveIter) round() error {
	err := it.cur.Close()
	it.cur = nil
	if err != nil || len(it.next) == 0 {
		return err
	}
	if err := it.c.CheckNow(); err != nil {
		return err
	}
	it.old.release()
	it.old, it.store = it.store, rowStore{mem: it.c.Mem}
	stateOf[workState](it.c, it.n.Work).rows = it.next
	it.next = nil
	it.cur, err = it.n.Step.Open(it.c)
	return err
}

func (it *recursiveIter) Close() error {
	it.store.release()
	it.old.release()
	if it.cur != nil {
		return it.cur.Close()
	}
	return nil
}

// SetOp is UNION, INTERSECT or EXCEPT.
type SetOp struct {
	Op   string // "union", "intersect", "except"
	All  bool
	L, R Node
	OIDs []types.OID
	Cols []Column
}

// Columns are the common ones.
func (n *SetOp) Columns() []Column { return n.Cols }

// Open opens both sides as they are needed.
func (n *SetOp) Open(c *Ctx) (Iter, error) {
	if n.Op == "union" {
		return n.openUnion(c)
	}
	var it *SliceIter
	store := rowStore{mem: c.Mem}
	return &funcRows{
		close: func() error { store.release(); return nil },
		next: func() (Row, error) {
			if it == nil {
				rows, err := n.match(c, &store)
				if err != nil {
					return nil, err
				}
				it = &SliceIter{Items: rows}
			}
			return it.Next()
		},
	}, nil
}

func (n *SetOp) openUnion(c *Ctx) (Iter, error) {
	cur, err := n.L.Open(c)
	if err != nil {
		return nil, err
	}
	right := false
	seen := make(map[string]struct{})
	var key []byte
	return &funcRows{
		close: func() error {
			if cur == nil {
				return nil
			}
			return cur.Close()
		},
		next: func() (Row, error) {
			for {
				if err := c.Check(); err != nil {
					return nil, err
				}
				r, err := cur.Next()
				if err == EOF && !right {
					right = true
					_ = cur.Close()
					cur = &SliceIter{}
					it, err := n.R.Open(c)
					if err != nil {
						return nil, err
					}
					cur = it
					continue
				}
				if err != nil {
					return nil, err
				}
				if n.All {
					return r, nil
				}
				key = key[:0]
				for i, oid := range n.OIDs {
					key = hashKey(key, oid, &r[i])
				}
				if _, dup := seen[string(key)]; dup {
					continue
				}
				if err := c.Mem.Grow(int64(len(key)) + 32); err != nil {
					return nil, err
				}
				seen[string(key)] = struct{}{}
				return r, nil
			}
		},
	}, nil
}

// match counts equal rows on both sides and keeps what the operator keeps.
func (n *SetOp) match(c *Ctx, store *rowStore) ([]Row, error) {
	type entry struct {
		row  Row
		l, r int
	}
	index := make(map[string]int)
	var entries []entry
	var key []byte
	read := func(node Node, left bool) error {
		it, err := node.Open(c)
		if err != nil {
			return err
		}
		defer it.Close()
		for {
			r, err := it.Next()
			if err == EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := c.Check(); err != nil {
				return err
			}
			key = key[:0]
			for i, oid := range n.OIDs {
				key = hashKey(key, oid, &r[i])
			}
			at, ok := index[string(key)]
			if !ok {
				if !left {
					continue
				}
				k, err := store.keep(r)
				if err != nil {
					return err
				}
				if err := store.grow(int64(len(key)) + 64); err != nil {
					return err
				}
				at = len(entries)
				entries = append(entries, entry{row: k})
				index[string(key)] = at
			}
			if left {
				entries[at].l++
			} else {
				entries[at].r++
			}
		}
	}
	if err := read(n.L, true); err != nil {
		return nil, err
	}
	if err := read(n.R, false); err != nil {
		return nil, err
	}
	var out []Row
	for _, e := range entries {
		times := 0
		switch {
		case n.Op == "intersect" && n.All:
			times = min(e.l, e.r)
		case n.Op == "intersect" && e.r > 0:
			times = 1
		case n.Op == "except" && n.All:
			times = max(0, e.l-e.r)
		case n.Op == "except" && e.r == 0:
			times = 1
		}
		for range times {
			out = append(out, e.row)
		}
	}
	return out, nil
}
