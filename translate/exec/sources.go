package exec

import (
	"github.com/eiderdb/eider/translate/types"
)

// VirtualScan reads a virtual table. Eq are equality hints by column.
type VirtualScan struct {
	Table  VirtualTable
	Cols   []ScanCol // Att is the 1-based column number
	Eq     map[int]Expr
	EqOID  map[int]types.OID
	Filter Expr
}

// Start opens the scan.
func (s *VirtualScan) Start(c *Ctx, shared Row) (SourceIter, error) {
	return &virtualIter{s: s, c: c, shared: shared}, nil
}

type virtualIter struct {
	s      *VirtualScan
	c      *Ctx
	shared Row
	running
	none bool
}

func (v *virtualIter) Next() (bool, error) {
	if v.none {
		return false, nil
	}
	if v.it == nil {
		var eq map[int]types.Datum
		for i, e := range v.s.Eq {
			d, err := e.Eval(v.c, v.shared)
			if err != nil {
				return false, err
			}
			if !d.Valid {
				v.none = true
				return false, nil
			}
			if eq == nil {
				eq = make(map[int]types.Datum, len(v.s.Eq))
			}
			eq[i] = d
		}
		it, err := v.s.Table.Rows(v.c, eq)
		if err != nil {
			return false, MapStoreError(err)
		}
		v.it = it
	}
	for {
		if err := v.c.Check(); err != nil {
			return false, err
		}
		r, err := v.it.Next()
		if err == EOF {
			return false, nil
		}
		if err != nil {
			return false, MapStoreError(err)
		}
		for _, sc := range v.s.Cols {
			switch n := len(v.s.Table.Columns()); {
			case sc.Att > 0:
				v.shared[sc.To.Idx] = r[sc.Att-1]
			case sc.Att == AttTableOID:
				v.shared[sc.To.Idx] = Int(int64(v.s.Table.OID()))
			case sc.Att == AttXmin && len(r) > n:
				v.shared[sc.To.Idx] = r[n]
			default:
				v.shared[sc.To.Idx] = types.Null
			}
		}
		ok, err := truthy(v.c, v.s.Filter, v.shared)
		if err != nil || ok {
			return ok, err
		}
	}
}

func (v *virtualIter) Reset() error {
	err := v.Close()
	v.none = false
	return err
}

// SubScan is a query in FROM: a derived table, a view, a CTE.
type SubScan struct {
	Node Node
	// Cols says which output column (1-based Att) goes where in the shared row.
	Cols []ScanCol
	// Cell is set when the query reads columns of its siblings to the left (LATERAL).
	Cell   *Cell
	Filter Expr
}

// Start opens the query when its first row is wanted.
func (s *SubScan) Start(c *Ctx, shared Row) (SourceIter, error) {
	return &subIter{s: s, c: c, shared: shared}, nil
}

type subIter struct {
	s      *SubScan
	c      *Ctx
	shared Row
	running
}

func (v *subIter) Next() (bool, error) {
	if v.s.Cell != nil {
		v.c.SetOuter(v.s.Cell, v.shared)
	}
	if v.it == nil {
		if err := v.c.enter(); err != nil {
			return false, err
		}
		it, err := v.s.Node.Open(v.c)
		v.c.leave()
		if err != nil {
			return false, err
		}
		v.it = it
	}
	for {
		r, err := v.it.Next()
		if err == EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for _, sc := range v.s.Cols {
			v.shared[sc.To.Idx] = r[sc.Att-1]
		}
		ok, err := truthy(v.c, v.s.Filter, v.shared)
		if err != nil || ok {
			return ok, err
		}
	}
}

func (v *subIter) Reset() error { return v.Close() }

// FilterSource tests a condition on another source's rows.
type FilterSource struct {
	Src  Source
	Cond Expr
}

// Start opens the source.
func (s *FilterSource) Start(c *Ctx, shared Row) (SourceIter, error) {
	it, err := s.Src.Start(c, shared)
	if err != nil {
		return nil, err
	}
	return &filterIter{s: s, c: c, shared: shared, it: it}, nil
}

type filterIter struct {
	s      *FilterSource
	c      *Ctx
	shared Row
	it     SourceIter
}

func (f *filterIter) Next() (bool, error) {
	for {
		ok, err := f.it.Next()
		if err != nil || !ok {
			return false, err
		}
		ok, err = truthy(f.c, f.s.Cond, f.shared)
		if err != nil || ok {
			return ok, err
		}
	}
}

func (f *filterIter) Reset() error { return f.it.Reset() }
func (f *filterIter) Close() error { return f.it.Close() }

// OpenRows calls a set-returning function; a strict one with a NULL argument has no rows.
func (e *FuncX) OpenRows(c *Ctx, row Row) (Iter, error) {
	args := make([]types.Datum, len(e.Args))
	for i, a := range e.Args {
		d, err := a.Eval(c, row)
		if err != nil {
			return nil, err
		}
		if !d.Valid && !e.F.NullCall {
			return &SliceIter{}, nil
		}
		args[i] = d
	}
	call := &Call{Ctx: c, Args: args, Types: e.ArgTypes, Ret: e.T, Func: e.F}
	if !e.F.Set {
		d, err := e.F.Eval(call)
		if err != nil {
			return nil, err
		}
		return &SliceIter{Items: []Row{{d}}}, nil
	}
	return e.F.Rows(call)
}

// running is the iterator that a source reads, nil before the first row.
type running struct{ it Iter }

// Close closes the iterator; the source may be read again from the start.
func (r *running) Close() error {
	if r.it == nil {
		return nil
	}
	err := r.it.Close()
	r.it = nil
	return err
}
