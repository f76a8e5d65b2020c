package exec

import (
	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// SubPlan is a query inside an expression. The enclosing rows it reads are in cells;
// Outer lists the references to the level it stands in, so that the binder can move
// them when that level is grouped.
type SubPlan struct {
	Node  Node
	Cell  *Cell // nil: reads nothing of the level it stands in
	Outer []*OuterCol
	// Correlated: reads a row of any enclosing level, so its result is not kept.
	Correlated bool
}

func (p *SubPlan) open(c *Ctx, row Row) (Iter, error) {
	if p.Cell != nil {
		c.SetOuter(p.Cell, row)
	}
	if err := c.enter(); err != nil {
		return nil, err
	}
	return p.Node.Open(c)
}

// run calls f for every row until it answers false.
func (p *SubPlan) run(c *Ctx, row Row, f func(Row) (bool, error)) error {
	// The row may be a buffer that an inner level's iterator overwrites: nothing is kept of it.
	it, err := p.open(c, row)
	if err != nil {
		if !isDepth(err) {
			c.leave()
		}
		return err
	}
	defer c.leave()
	defer it.Close()
	for {
		r, err := it.Next()
		if err == EOF {
			return nil
		}
		if err != nil {
			return err
		}
		more, err := f(r)
		if err != nil || !more {
			return err
		}
	}
}

func isDepth(err error) bool { return pgerr.CodeOf(err) == pgerr.StatementTooComplex }

// scalarState is the kept result of an uncorrelated subquery.
type scalarState struct {
	done  bool
	d     types.Datum
	store rowStore
}

// ScalarSub is a scalar subquery, or with Array its rows as an array.
type ScalarSub struct {
	Plan  *SubPlan
	T     types.T
	Array bool
	// Row subqueries have several columns and yield a record.
	Row bool
}

// Type is the column's type.
func (e *ScalarSub) Type() types.T { return e.T }

// Eval runs the subquery; an uncorrelated one only once per execution.
func (e *ScalarSub) Eval(c *Ctx, row Row) (types.Datum, error) {
	st := stateOf[scalarState](c, e)
	if st.done && !e.Plan.Correlated {
		return st.d, nil
	}
	if e.Plan.Correlated {
		// The value lives as long as the row it is for.
		st = &scalarState{}
		defer st.store.release()
	}
	st.store.mem = c.Mem
	var out types.Datum
	var elems []types.Datum
	n := 0
	err := e.Plan.run(c, row, func(r Row) (bool, error) {
		n++
		if e.Array {
			d, err := st.store.datum(r[0])
			if err == nil {
				err = st.store.grow(datumSize)
			}
			elems = append(elems, d)
			return true, err
		}
		if n > 1 {
			return false, pgerr.New(pgerr.CardinalityViolation, "more than one row returned by a subquery used as an expression")
		}
		var err error
		if e.Row {
			var k Row
			k, err = st.store.keep(r)
			out = types.Datum{R: k, Valid: true}
		} else {
			out, err = st.store.datum(r[0])
		}
		return true, err
	})
	if err != nil {
		return types.Null, err
	}
	if e.Array {
		if out, err = makeArrayOf(e.Plan.Node.Columns()[0].Type.OID, elems); err != nil {
			return types.Null, err
		}
	}
	if !e.Plan.Correlated {
		st.done, st.d = true, out
	}
	return out, nil
}

// ExistsSub is EXISTS (query).
type ExistsSub struct{ Plan *SubPlan }

// Type is boolean.
func (e *ExistsSub) Type() types.T { return boolT }

// Eval looks for a first row.
func (e *ExistsSub) Eval(c *Ctx, row Row) (types.Datum, error) {
	st := stateOf[scalarState](c, e)
	if st.done && !e.Plan.Correlated {
		return st.d, nil
	}
	found := false
	err := e.Plan.run(c, row, func(Row) (bool, error) { found = true; return false, nil })
	if err != nil {
		return types.Null, err
	}
	st.done, st.d = true, Bool(found)
	return st.d, nil
}

// QuantSub is x op ANY|ALL (query), IN included. Left are the left sides; Conds compare
// them with the subquery's row, which the conditions read from Test.
type QuantSub struct {
	Plan  *SubPlan
	Left  []Expr
	Test  []*CaseTest // stand for the columns of the subquery's row
	Ltest []*CaseTest // stand for the left values
	Cond  Expr
	All   bool
	// Hash is set for plain equality of hashable types: the result of an uncorrelated
	// subquery is kept in a set.
	Hash []types.OID
	Not  bool
}

type quantState struct {
	done    bool
	keys    map[string]struct{}
	hasNull bool // a row with a NULL
	n       int
	buf     []byte
}

// Type is boolean.
func (e *QuantSub) Type() types.T { return boolT }

// Eval compares with the rows.
func (e *QuantSub) Eval(c *Ctx, row Row) (types.Datum, error) {
	var d types.Datum
	var err error
	if e.Hash != nil && !e.Plan.Correlated {
		d, err = e.lookup(c, row)
	} else {
		d, err = e.scan(c, row)
	}
	if err != nil || !d.Valid || !e.Not {
		return d, err
	}
	return Bool(d.I == 0), nil
}

func (e *QuantSub) lookup(c *Ctx, row Row) (types.Datum, error) {
	st := stateOf[quantState](c, e)
	if !st.done {
		st.keys = make(map[string]struct{})
		err := e.Plan.run(c, row, func(r Row) (bool, error) {
			st.n++
			st.buf = st.buf[:0]
			for i, oid := range e.Hash {
				if !r[i].Valid {
					st.hasNull = true
					return true, nil
				}
				st.buf = hashKey(st.buf, oid, &r[i])
			}
			if _, ok := st.keys[string(st.buf)]; ok {
				return true, nil
			}
			if err := c.Mem.Grow(int64(len(st.buf)) + 64); err != nil {
				return false, err
			}
			st.keys[string(st.buf)] = struct{}{}
			return true, nil
		})
		if err != nil {
			return types.Null, err
		}
		st.done = true
	}
	if st.n == 0 {
		return Bool(false), nil
	}
	st.buf = st.buf[:0]
	for i, l := range e.Left {
		d, err := l.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		if !d.Valid {
			return types.Null, nil
		}
		st.buf = hashKey(st.buf, e.Hash[i], &d)
	}
	if _, ok := st.keys[string(st.buf)]; ok {
		return Bool(true), nil
	}
	if st.hasNull {
		return types.Null, nil
	}
	return Bool(false), nil
}

func (e *QuantSub) scan(c *Ctx, row Row) (types.Datum, error) {
	for i, l := range e.Left {
		d, err := l.Eval(c, row)
		if err != nil {
			return types.Null, err
		}
		*stateOf[types.Datum](c, e.Ltest[i]) = d
	}
	null, decided := false, false
	err := e.Plan.run(c, row, func(r Row) (bool, error) {
		for i, t := range e.Test {
			*stateOf[types.Datum](c, t) = r[i]
		}
		d, err := e.Cond.Eval(c, row)
		if err != nil {
			return false, err
		}
		if !d.Valid {
			null = true
			return true, nil
		}
		if (d.I != 0) != e.All {
			decided = true
			return false, nil
		}
		return true, nil
	})
	switch {
	case err != nil:
		return types.Null, err
	case decided:
		return Bool(!e.All), nil
	case null:
		return types.Null, nil
	}
	return Bool(e.All), nil
}

// MapParts maps the left side; the subquery is a plan of its own.
func (e *QuantSub) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.Left, f)
	if err != nil || !ch {
		return e, err
	}
	n := *e
	n.Left = l
	return &n, nil
}

// QuantArr is x op ANY|ALL (array).
type QuantArr struct {
	Left  Expr
	Arr   Expr
	Ltest *CaseTest
	Test  *CaseTest
	Cond  Expr
	All   bool
	// Hash is the element type when the operator is its equality.
	Hash types.OID
}

// Type is boolean.
func (e *QuantArr) Type() types.T { return boolT }

// Eval compares with the elements.
func (e *QuantArr) Eval(c *Ctx, row Row) (types.Datum, error) {
	arr, err := e.Arr.Eval(c, row)
	if err != nil || !arr.Valid {
		return types.Null, err
	}
	l, err := e.Left.Eval(c, row)
	if err != nil {
		return types.Null, err
	}
	elems, _, err := arrayElems(arr)
	if err != nil {
		return types.Null, err
	}
	null := false
	if e.Hash != 0 {
		if len(elems) == 0 {
			return Bool(e.All), nil
		}
		if !l.Valid {
			return types.Null, nil
		}
		for i := range elems {
			if !elems[i].Valid {
				null = true
			} else if (CompareDatum(e.Hash, &l, &elems[i]) == 0) != e.All {
				return Bool(!e.All), nil
			}
		}
	} else {
		*stateOf[types.Datum](c, e.Ltest) = l
		for i := range elems {
			*stateOf[types.Datum](c, e.Test) = elems[i]
			d, err := e.Cond.Eval(c, row)
			if err != nil {
				return types.Null, err
			}
			if !d.Valid {
				null = true
			} else if (d.I != 0) != e.All {
				return Bool(!e.All), nil
			}
		}
	}
	if null {
		return types.Null, nil
	}
	return Bool(e.All), nil
}

// MapParts maps both sides.
func (e *QuantArr) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, err := f(e.Left)
	if err != nil {
		return nil, err
	}
	a, err := f(e.Arr)
	if err != nil {
		return nil, err
	}
	n := *e
	n.Left, n.Arr = l, a
	return &n, nil
}
