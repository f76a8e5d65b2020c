package exec

import (
	"slices"

	"github.com/eiderdb/eider/translate/types"
)

// AggSpec is one aggregate call of a query level.
type AggSpec struct {
	Name     string
	Args     []Expr
	ArgTypes []types.T
	Distinct bool
	Order    []AggOrder
	Filter   Expr
	Impl     *AggImpl
	T        types.T
	// Direct is how many of the arguments of an ordered-set aggregate stand for its whole group.
	Direct int
}

// AggOrder is one ORDER BY key inside of an aggregate. Key.Idx is not used.
type AggOrder struct {
	Expr Expr
	Key  SortKey
}

// AggImpl makes the states of an aggregate.
type AggImpl struct {
	New func(s *AggSpec) AggState
	// NullArgs: rows whose arguments are NULL are counted too.
	NullArgs bool
	// FirstOnly: only a NULL first argument skips the row.
	FirstOnly bool
	// SameType: the result has the argument's type with its modifier.
	SameType bool
}

// AggState accumulates one group. Result may be called several times, between Adds.
type AggState interface {
	Add(c *Ctx, args []types.Datum) error
	Result(c *Ctx) (types.Datum, error)
}

// AggRef stands for an aggregate's result until the level's layout is known.
type AggRef struct {
	N int
	T types.T
}

// Type is the result type.
func (e *AggRef) Type() types.T { return e.T }

// Eval is never reached: the binder replaces the reference.
func (e *AggRef) Eval(*Ctx, Row) (types.Datum, error) { return types.Null, errUnplaced }

// WinRef stands for a window function's result until the level's layout is known.
type WinRef struct {
	N int
	T types.T
}

// Type is the result type.
func (e *WinRef) Type() types.T { return e.T }

// Eval is never reached: the binder replaces the reference.
func (e *WinRef) Eval(*Ctx, Row) (types.Datum, error) { return types.Null, errUnplaced }

// SetRef stands for one row of a set-returning function in a select list.
type SetRef struct {
	N int
	T types.T
	F *FuncX
}

// Type is the row's type.
func (e *SetRef) Type() types.T { return e.T }

// Eval is never reached: the binder replaces the reference.
func (e *SetRef) Eval(*Ctx, Row) (types.Datum, error) { return types.Null, errUnplaced }

// GroupingX is GROUPING(…): a bit mask by the grouping set of the row.
type GroupingX struct {
	Args   []Expr
	Masks  []int64
	SetCol *Col
}

// Type is int4.
func (e *GroupingX) Type() types.T { return types.T{OID: types.Int4OID, Mod: -1} }

// Eval looks the row's set up.
func (e *GroupingX) Eval(_ *Ctx, row Row) (types.Datum, error) {
	if e.SetCol == nil {
		return types.Null, errUnplaced
	}
	return Int(e.Masks[row[e.SetCol.Idx].I]), nil
}

// MapParts maps the arguments.
func (e *GroupingX) MapParts(f func(Expr) (Expr, error)) (Expr, error) {
	l, ch, err := mapList(e.Args, f)
	if err != nil || !ch {
		return e, err
	}
	n := *e
	n.Args = l
	return &n, nil
}

// Group is aggregation. Its rows hold the keys, the aggregates' results and the number
// of the grouping set.
type Group struct {
	In   Node
	Keys []Expr
	OIDs []types.OID
	// Given is how many keys make the groups; the others depend on them.
	Given int
	// Sets are grouping sets, as indexes into Keys; nil is one set of all keys.
	Sets [][]int
	Aggs []*AggSpec
}

// Columns of a Group have no names.
func (n *Group) Columns() []Column { return nil }

// Open reads everything when the first row is wanted.
func (n *Group) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	return &groupIter{n: n, c: c, in: in, store: rowStore{mem: c.Mem}, groups: make(map[string]*group)}, nil
}

type group struct {
	keys   Row
	set    int
	states []aggRun
}

type groupIter struct {
	n      *Group
	c      *Ctx
	in     Iter
	store  rowStore
	groups map[string]*group
	order  []*group
	out    Row
	at     int
	loaded bool
}

func (it *groupIter) load() error {
	it.loaded = true
	n := it.n
	sets := n.Sets
	if sets == nil {
		all := make([]int, n.Given)
		for i := range all {
			all[i] = i
		}
		sets = [][]int{all}
	}
	keys := make(Row, len(n.Keys))
	var buf []byte
	var masked Row
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
		for i, k := range n.Keys {
			if keys[i], err = k.Eval(it.c, r); err != nil {
				return err
			}
		}
		for s, set := range sets {
			buf = buf[:0]
			if len(sets) > 1 {
				buf = append(buf, byte(s>>8), byte(s))
			}
			for _, k := range set {
				buf = hashKey(buf, n.OIDs[k], &keys[k])
			}
			g := it.groups[string(buf)]
			if g == nil {
				row := keys
				if n.Sets != nil {
					masked = append(masked[:0], keys...)
					for k := range masked {
						if !slices.Contains(set, k) {
							masked[k] = types.Null
						}
					}
					row = masked
				}
				if g, err = it.newGroup(row, s); err != nil {
					return err
				}
				if err := it.store.grow(int64(len(buf)) + 64); err != nil {
					return err
				}
				it.groups[string(buf)] = g
			}
			for i := range g.states {
				if err := g.states[i].add(it.c, r); err != nil {
					return err
				}
			}
		}
	}
	// Without keys there is always one row; with grouping sets, one for each empty set.
	if len(it.order) == 0 {
		for s, set := range sets {
			if len(set) == 0 {
				if _, err := it.newGroup(make(Row, len(n.Keys)), s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (it *groupIter) newGroup(keys Row, set int) (*group, error) {
	k, err := it.store.keep(keys)
	if err != nil {
		return nil, err
	}
	g := &group{keys: k, set: set, states: make([]aggRun, len(it.n.Aggs))}
	for i, a := range it.n.Aggs {
		g.states[i].init(it.c, a, &it.store)
	}
	it.order = append(it.order, g)
	return g, it.store.grow(int64(len(g.states)) * 128)
}

func (it *groupIter) Next() (Row, error) {
	if !it.loaded {
		if err := it.load(); err != nil {
			return nil, err
		}
		it.out = make(Row, len(it.n.Keys)+len(it.n.Aggs)+1)
	}
	if it.at >= len(it.order) {
		return nil, EOF
	}
	g := it.order[it.at]
	it.at++
	copy(it.out, g.keys)
	for i := range g.states {
		d, err := g.states[i].result(it.c)
		if err != nil {
			return nil, err
		}
		it.out[len(g.keys)+i] = d
	}
	it.out[len(it.out)-1] = Int(int64(g.set))
	return it.out, nil
}

func (it *groupIter) Close() error {
	it.store.release()
	it.groups, it.order = nil, nil
	return it.in.Close()
}

// aggRun runs one aggregate over one group: filter, DISTINCT, ORDER BY, and the state.
type aggRun struct {
	spec  *AggSpec
	state AggState
	store *rowStore
	seen  map[string]struct{}
	rows  []Row // arguments and sort keys, when they must be sorted first
	args  Row
	key   []byte
	fed   bool
}

func (a *aggRun) init(_ *Ctx, spec *AggSpec, store *rowStore) {
	a.spec, a.store = spec, store
	a.state = spec.Impl.New(spec)
	a.args = make(Row, len(spec.Args)+len(spec.Order))
	if spec.Distinct && len(spec.Order) == 0 {
		a.seen = make(map[string]struct{})
	}
	if s, ok := a.state.(interface{ use(*rowStore) }); ok {
		s.use(store)
	}
}

func (a *aggRun) add(c *Ctx, row Row) error {
	s := a.spec
	if s.Filter != nil {
		ok, err := truthy(c, s.Filter, row)
		if err != nil || !ok {
			return err
		}
	}
	for i, e := range s.Args {
		d, err := e.Eval(c, row)
		if err != nil {
			return err
		}
		if !d.Valid && !s.Impl.NullArgs && (i == 0 || !s.Impl.FirstOnly) {
			return nil
		}
		a.args[i] = d
	}
	n := len(s.Args)
	if len(s.Order) > 0 {
		for i, o := range s.Order {
			d, err := o.Expr.Eval(c, row)
			if err != nil {
				return err
			}
			a.args[n+i] = d
		}
		k, err := a.store.keep(a.args)
		if err != nil {
			return err
		}
		a.rows = append(a.rows, k)
		return nil
	}
	if a.seen != nil {
		a.key = a.key[:0]
		for i := range n {
			a.key = hashKey(a.key, s.ArgTypes[i].OID, &a.args[i])
		}
		if _, dup := a.seen[string(a.key)]; dup {
			return nil
		}
		if err := a.store.grow(int64(len(a.key)) + 32); err != nil {
			return err
		}
		a.seen[string(a.key)] = struct{}{}
	}
	return a.state.Add(c, a.args[:n])
}

func (a *aggRun) result(c *Ctx) (types.Datum, error) {
	if len(a.spec.Order) > 0 && !a.fed {
		a.fed = true
		n := len(a.spec.Args)
		keys := make([]SortKey, len(a.spec.Order))
		for i, o := range a.spec.Order {
			keys[i] = o.Key
			keys[i].Idx = n + i
		}
		slices.SortStableFunc(a.rows, func(x, y Row) int { return compareKeys(keys, x, y) })
		var seen map[string]struct{}
		if a.spec.Distinct {
			seen = make(map[string]struct{})
		}
		for _, r := range a.rows {
			if seen != nil {
				a.key = a.key[:0]
				for i := range n {
					a.key = hashKey(a.key, a.spec.ArgTypes[i].OID, &r[i])
				}
				if _, dup := seen[string(a.key)]; dup {
					continue
				}
				seen[string(a.key)] = struct{}{}
			}
			if err := a.state.Add(c, r[:n]); err != nil {
				return types.Null, err
			}
		}
	}
	return a.state.Result(c)
}

// ExtendSet appends set-returning functions' rows to its input's rows: the functions
// advance together and shorter ones are padded with NULL.
type ExtendSet struct {
	In    Node
	Width int
	Sets  []*FuncX
}

// Columns of an ExtendSet have no names.
func (n *ExtendSet) Columns() []Column { return nil }

// Open opens the input.
func (n *ExtendSet) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	return &extendIter{n: n, c: c, in: in, out: make(Row, n.Width+len(n.Sets)), its: make([]Iter, len(n.Sets))}, nil
}

type extendIter struct {
	n    *ExtendSet
	c    *Ctx
	in   Iter
	its  []Iter
	out  Row
	open bool
}

func (it *extendIter) Next() (Row, error) {
	for {
		if !it.open {
			r, err := it.in.Next()
			if err != nil {
				return nil, err
			}
			copy(it.out, r[:it.n.Width])
			for i, f := range it.n.Sets {
				if it.its[i], err = f.OpenRows(it.c, it.out); err != nil {
					return nil, err
				}
			}
			it.open = true
		}
		if err := it.c.Check(); err != nil {
			return nil, err
		}
		some := false
		for i, si := range it.its {
			at := it.n.Width + i
			it.out[at] = types.Null
			if si == nil {
				continue
			}
			r, err := si.Next()
			if err == EOF {
				_ = si.Close()
				it.its[i] = nil
				continue
			}
			if err != nil {
				return nil, err
			}
			some = true
			if len(r) == 1 && len(it.n.Sets[i].F.Cols) <= 1 {
				it.out[at] = r[0]
			} else {
				cols := it.n.Sets[i].F.Cols
				oids := make([]types.OID, len(cols))
				for k := range cols {
					oids[k] = cols[k].Type.OID
				}
				it.out[at] = types.MakeRecord(oids, slices.Clone(r))
			}
		}
		if some {
			return it.out, nil
		}
		it.open = false
	}
}

func (it *extendIter) Close() error {
	for _, si := range it.its {
		if si != nil {
			_ = si.Close()
		}
	}
	return it.in.Close()
}
