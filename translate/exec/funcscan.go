package exec

import "github.com/eiderdb/eider/translate/types"

// FuncScan is functions in FROM, side by side: the rows of shorter ones are filled with NULL.
// Cols' Att 1..Width are their columns, the one after them the ordinality.
type FuncScan struct {
	Parts  []FuncPart
	Width  int // output columns of all functions
	Cols   []ScanCol
	Cell   *Cell
	Filter Expr
}

// FuncPart is one function of a FuncScan.
type FuncPart struct {
	Call   *FuncX // nil when Scalar is set
	Scalar Expr   // a function that returns one row
	Width  int    // its columns
}

// Start opens the functions when the first row is wanted.
func (s *FuncScan) Start(c *Ctx, shared Row) (SourceIter, error) {
	return &funcIter{s: s, c: c, shared: shared}, nil
}

type funcIter struct {
	s      *FuncScan
	c      *Ctx
	shared Row
	running
	n int64
}

func (p *FuncPart) open(c *Ctx, shared Row) (Iter, error) {
	if p.Scalar == nil {
		return p.Call.OpenRows(c, shared)
	}
	d, err := p.Scalar.Eval(c, shared)
	if err != nil {
		return nil, err
	}
	if p.Width > 1 || d.R != nil {
		r := make(Row, p.Width)
		copy(r, d.R)
		return &SliceIter{Items: []Row{r}}, nil
	}
	return &SliceIter{Items: []Row{{d}}}, nil
}

func (v *funcIter) open() (Iter, error) {
	if len(v.s.Parts) == 1 {
		return v.s.Parts[0].open(v.c, v.shared)
	}
	z := &zipIter{parts: v.s.Parts, its: make([]Iter, len(v.s.Parts)), row: make(Row, v.s.Width)}
	for i := range v.s.Parts {
		it, err := v.s.Parts[i].open(v.c, v.shared)
		if err != nil {
			_ = z.Close()
			return nil, err
		}
		z.its[i] = it
	}
	return z, nil
}

func (v *funcIter) Next() (bool, error) {
	if v.it == nil {
		it, err := v.open()
		if err != nil {
			return false, err
		}
		v.it, v.n = it, 0
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
			return false, err
		}
		v.n++
		for _, sc := range v.s.Cols {
			if sc.Att > v.s.Width {
				v.shared[sc.To.Idx] = Int(v.n)
			} else if sc.Att > 0 && sc.Att <= len(r) {
				v.shared[sc.To.Idx] = r[sc.Att-1]
			}
		}
		ok, err := truthy(v.c, v.s.Filter, v.shared)
		if err != nil || ok {
			return ok, err
		}
	}
}

func (v *funcIter) Reset() error { return v.Close() }

// zipIter reads functions side by side until the longest one ends.
type zipIter struct {
	parts []FuncPart
	its   []Iter // nil once a function has ended
	row   Row
}

func (z *zipIter) Next() (Row, error) {
	some := false
	at := 0
	for i, it := range z.its {
		part := z.row[at : at+z.parts[i].Width]
		at += len(part)
		for k := range part {
			part[k] = types.Null
		}
		if it == nil {
			continue
		}
		r, err := it.Next()
		if err == EOF {
			z.its[i] = nil
			if err := it.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		copy(part, r)
		some = true
	}
	if !some {
		return nil, EOF
	}
	return z.row, nil
}

func (z *zipIter) Close() error {
	var first error
	for i, it := range z.its {
		if it == nil {
			continue
		}
		if err := it.Close(); err != nil && first == nil {
			first = err
		}
		z.its[i] = nil
	}
	return first
}
