package exec

import (
	"slices"
	"sort"

	"github.com/eiderdb/eider/translate/pgerr"
	"github.com/eiderdb/eider/translate/types"
)

// Window computes window functions that share one definition. Its rows are the input's
// with the functions' results appended.
type Window struct {
	In        Node
	Width     int // of the input
	Partition []Expr
	PartOIDs  []types.OID
	Order     []AggOrder
	Frame     FrameSpec
	Calls     []*WindowCall
}

// WindowCall is one function of a Window: an aggregate or one of the window functions.
type WindowCall struct {
	Name   string
	Args   []Expr
	T      types.T
	Agg    *AggSpec // set for aggregates
	Filter Expr
}

// FrameSpec is a frame clause.
type FrameSpec struct {
	Mode       byte // 'r' rows, 'R' range, 'g' groups
	Start, End FrameEnd
	Exclude    string
}

// FrameEnd is one end of a frame.
type FrameEnd struct {
	Kind   byte // 'U' unbounded preceding, 'p' preceding, 'c' current row, 'f' following, 'u' unbounded following
	Offset Expr
	// Add and Sub move a RANGE frame's sort value by the offset.
	Add, Sub OpFunc
}

// IsWindowOnly says whether a name is a window function that is no aggregate.
func IsWindowOnly(name string) bool {
	switch name {
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value", "nth_value":
		return true
	}
	return false
}

// Columns of a Window have no names.
func (n *Window) Columns() []Column { return nil }

// Open reads everything when the first row is wanted.
func (n *Window) Open(c *Ctx) (Iter, error) {
	in, err := n.In.Open(c)
	if err != nil {
		return nil, err
	}
	return &windowIter{n: n, c: c, in: in, store: rowStore{mem: c.Mem}}, nil
}

type windowIter struct {
	n      *Window
	c      *Ctx
	in     Iter
	store  rowStore
	rows   []Row // input, results, then partition and sort keys
	at     int
	loaded bool
}

func (it *windowIter) load() error {
	it.loaded = true
	n := it.n
	w := n.Width + len(n.Calls)
	buf := make(Row, w+len(n.Partition)+len(n.Order))
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
		copy(buf, r[:n.Width])
		for i, e := range n.Partition {
			if buf[w+i], err = e.Eval(it.c, r); err != nil {
				return err
			}
		}
		for i, o := range n.Order {
			if buf[w+len(n.Partition)+i], err = o.Expr.Eval(it.c, r); err != nil {
				return err
			}
		}
		k, err := it.store.keep(buf)
		if err != nil {
			return err
		}
		it.rows = append(it.rows, k)
	}
	var keys, order []SortKey
	for i, oid := range n.PartOIDs {
		keys = append(keys, SortKey{Idx: w + i, OID: oid})
	}
	for i, o := range n.Order {
		k := o.Key
		k.Idx = w + len(n.Partition) + i
		order = append(order, k)
	}
	part := keys
	all := append(slices.Clone(keys), order...)
	slices.SortStableFunc(it.rows, func(a, b Row) int { return compareKeys(all, a, b) })
	for i := 0; i < len(it.rows); {
		j := i + 1
		for j < len(it.rows) && compareKeys(part, it.rows[i], it.rows[j]) == 0 {
			j++
		}
		p := &partition{it: it, rows: it.rows[i:j], order: order}
		if err := p.run(); err != nil {
			return err
		}
		i = j
	}
	return nil
}

func (it *windowIter) Next() (Row, error) {
	if !it.loaded {
		if err := it.load(); err != nil {
			return nil, err
		}
	}
	if it.at >= len(it.rows) {
		return nil, EOF
	}
	it.at++
	return it.rows[it.at-1][:it.n.Width+len(it.n.Calls)], nil
}

func (it *windowIter) Close() error {
	it.store.release()
	it.rows = nil
	return it.in.Close()
}

// partition is the rows of one partition, in order.
type partition struct {
	it         *windowIter
	rows       []Row
	order      []SortKey
	peerStart  []int
	peerEnd    []int
	groupOf    []int
	groupAt    []int // first row of each peer group
	start, end FrameOffset
}

// FrameOffset is a frame offset's value for one execution.
type FrameOffset struct {
	n int64
	d types.Datum
}

func (p *partition) run() error {
	n := len(p.rows)
	p.peerStart, p.peerEnd, p.groupOf = make([]int, n), make([]int, n), make([]int, n)
	for i := 0; i < n; {
		j := i + 1
		for j < n && compareKeys(p.order, p.rows[i], p.rows[j]) == 0 {
			j++
		}
		p.groupAt = append(p.groupAt, i)
		for k := i; k < j; k++ {
			p.peerStart[k], p.peerEnd[k], p.groupOf[k] = i, j, len(p.groupAt)-1
		}
		i = j
	}
	var err error
	f := &p.it.n.Frame
	if p.start, err = p.offset(&f.Start); err != nil {
		return err
	}
	if p.end, err = p.offset(&f.End); err != nil {
		return err
	}
	for i, call := range p.it.n.Calls {
		at := p.it.n.Width + i
		if call.Agg != nil {
			err = p.aggregate(call, at)
		} else {
			err = p.function(call, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *partition) offset(e *FrameEnd) (FrameOffset, error) {
	if e.Offset == nil {
		return FrameOffset{}, nil
	}
	d, err := e.Offset.Eval(p.it.c, p.rows[0])
	if err != nil {
		return FrameOffset{}, err
	}
	which := "starting"
	if e == &p.it.n.Frame.End {
		which = "ending"
	}
	if !d.Valid {
		return FrameOffset{}, pgerr.New(pgerr.NullValueNotAllowed, "frame %s offset must not be null", which)
	}
	if p.it.n.Frame.Mode != 'R' {
		if d.I < 0 {
			return FrameOffset{}, pgerr.New("22013", "frame %s offset must not be negative", which)
		}
		return FrameOffset{n: d.I}, nil
	}
	zero := types.Datum{Valid: true}
	t := e.Offset.Type().OID
	if t == types.NumericOID {
		zero = types.NumericFromInt64(0)
	}
	if CompareDatum(t, &d, &zero) < 0 {
		return FrameOffset{}, pgerr.New("22013", "invalid preceding or following size in window function")
	}
	return FrameOffset{d: d}, nil
}

// frame is the rows [lo, hi) of row i, before exclusion.
func (p *partition) frame(i int) (lo, hi int, err error) {
	f := &p.it.n.Frame
	n := len(p.rows)
	if lo, err = p.edge(i, &f.Start, p.start, true); err != nil {
		return 0, 0, err
	}
	if hi, err = p.edge(i, &f.End, p.end, false); err != nil {
		return 0, 0, err
	}
	lo, hi = max(0, lo), min(n, hi)
	if lo > hi {
		lo = hi
	}
	return lo, hi, nil
}

func (p *partition) edge(i int, e *FrameEnd, off FrameOffset, start bool) (int, error) {
	n := len(p.rows)
	mode := p.it.n.Frame.Mode
	switch e.Kind {
	case 'U':
		return 0, nil
	case 'u':
		return n, nil
	case 'c':
		if mode == 'r' {
			if start {
				return i, nil
			}
			return i + 1, nil
		}
		if start {
			return p.peerStart[i], nil
		}
		return p.peerEnd[i], nil
	}
	switch mode {
	case 'r':
		k := off.n
		if k > int64(n) {
			k = int64(n)
		}
		at := i - int(k)
		if e.Kind == 'f' {
			at = i + int(k)
		}
		if !start {
			at++
		}
		return at, nil
	case 'g':
		k := off.n
		if k > int64(n) {
			k = int64(n)
		}
		g := p.groupOf[i] - int(k)
		if e.Kind == 'f' {
			g = p.groupOf[i] + int(k)
		}
		if !start {
			g++
		}
		if g < 0 {
			return 0, nil
		}
		if g >= len(p.groupAt) {
			return n, nil
		}
		return p.groupAt[g], nil
	}
	return p.rangeEdge(i, e, off, start)
}

// rangeEdge finds the edge of RANGE with an offset: the rows whose sort value is within the
// offset of the current one's.
func (p *partition) rangeEdge(i int, e *FrameEnd, off FrameOffset, start bool) (int, error) {
	key := p.order[0]
	v := p.rows[i][key.Idx]
	if !v.Valid {
		if start {
			return p.peerStart[i], nil
		}
		return p.peerEnd[i], nil
	}
	fn := e.Sub
	if (e.Kind == 'f') != key.Desc {
		fn = e.Add
	}
	bound, err := fn(p.it.c, v, off.d)
	if err != nil {
		if pgerr.CodeOf(err) == pgerr.NumericValueOutOfRange || pgerr.CodeOf(err) == pgerr.DatetimeFieldOverflow {
			// Beyond the type's range nothing is excluded on that side.
			if start == (e.Kind == 'p') {
				if start {
					return 0, nil
				}
			}
			if e.Kind == 'f' {
				return len(p.rows), nil
			}
			return 0, nil
		}
		return 0, err
	}
	// Where the NULLs stand, no bound reaches.
	at := sort.Search(len(p.rows), func(k int) bool {
		x := &p.rows[k][key.Idx]
		if !x.Valid {
			return !key.NullsFirst
		}
		cmp := CompareDatum(key.OID, x, &bound)
		if key.Desc {
			cmp = -cmp
		}
		if start {
			return cmp >= 0
		}
		return cmp > 0
	})
	return at, nil
}

// excluded says whether the frame's EXCLUDE clause leaves row k out of row i's frame.
func (p *partition) excluded(i, k int) bool {
	switch p.it.n.Frame.Exclude {
	case "current row":
		return k == i
	case "group":
		return p.groupOf[k] == p.groupOf[i]
	case "ties":
		return k != i && p.groupOf[k] == p.groupOf[i]
	}
	return false
}

func (p *partition) aggregate(call *WindowCall, at int) error {
	c := p.it.c
	lastLo, lastHi := -1, -1
	var run *aggRun
	for i := range p.rows {
		if err := c.Check(); err != nil {
			return err
		}
		lo, hi, err := p.frame(i)
		if err != nil {
			return err
		}
		// A frame that only grows at its end goes on with what it has.
		if run == nil || lo != lastLo || hi < lastHi || p.it.n.Frame.Exclude != "" {
			run = &aggRun{}
			run.init(c, call.Agg, &p.it.store)
			lastHi = lo
		}
		for k := lastHi; k < hi; k++ {
			if p.excluded(i, k) {
				continue
			}
			if err := run.add(c, p.rows[k]); err != nil {
				return err
			}
		}
		lastLo, lastHi = lo, hi
		d, err := run.result(c)
		if err != nil {
			return err
		}
		if p.rows[i][at], err = p.it.store.datum(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *partition) function(call *WindowCall, at int) error {
	c := p.it.c
	n := len(p.rows)
	arg := func(k, row int) (types.Datum, error) { return call.Args[k].Eval(c, p.rows[row]) }
	for i := range p.rows {
		if err := c.Check(); err != nil {
			return err
		}
		var d types.Datum
		var err error
		switch call.Name {
		case "row_number":
			d = Int(int64(i + 1))
		case "rank":
			d = Int(int64(p.peerStart[i] + 1))
		case "dense_rank":
			d = Int(int64(p.groupOf[i] + 1))
		case "percent_rank":
			v := 0.0
			if n > 1 {
				v = float64(p.peerStart[i]) / float64(n-1)
			}
			d = types.Float8(v)
		case "cume_dist":
			d = types.Float8(float64(p.peerEnd[i]) / float64(n))
		case "ntile":
			d, err = p.ntile(call, i)
		case "lag", "lead":
			d, err = p.shifted(call, i)
		default:
			d, err = p.valueAt(call, i, arg)
		}
		if err != nil {
			return err
		}
		if p.rows[i][at], err = p.it.store.datum(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *partition) ntile(call *WindowCall, i int) (types.Datum, error) {
	d, err := call.Args[0].Eval(p.it.c, p.rows[i])
	if err != nil || !d.Valid {
		return types.Null, err
	}
	if d.I <= 0 {
		return types.Null, pgerr.New("22014", "argument of ntile must be greater than zero")
	}
	n, b := int64(len(p.rows)), d.I
	size, extra, k := n/b, n%b, int64(i)
	if k < extra*(size+1) {
		return Int(k/(size+1) + 1), nil
	}
	return Int(extra + (k-extra*(size+1))/size + 1), nil
}

func (p *partition) shifted(call *WindowCall, i int) (types.Datum, error) {
	off := int64(1)
	if len(call.Args) > 1 {
		d, err := call.Args[1].Eval(p.it.c, p.rows[i])
		if err != nil || !d.Valid {
			return types.Null, err
		}
		off = d.I
	}
	if call.Name == "lag" {
		off = -off
	}
	k := int64(i) + off
	if k < 0 || k >= int64(len(p.rows)) {
		if len(call.Args) > 2 {
			return call.Args[2].Eval(p.it.c, p.rows[i])
		}
		return types.Null, nil
	}
	return call.Args[0].Eval(p.it.c, p.rows[k])
}

// valueAt is first_value, last_value and nth_value.
func (p *partition) valueAt(call *WindowCall, i int, arg func(k, row int) (types.Datum, error)) (types.Datum, error) {
	lo, hi, err := p.frame(i)
	if err != nil {
		return types.Null, err
	}
	nth := int64(1)
	if call.Name == "nth_value" {
		d, err := arg(1, i)
		if err != nil || !d.Valid {
			return types.Null, err
		}
		if nth = d.I; nth <= 0 {
			return types.Null, pgerr.New("22016", "argument of nth_value must be greater than zero")
		}
	}
	if call.Name == "last_value" {
		for k := hi - 1; k >= lo; k-- {
			if !p.excluded(i, k) {
				return arg(0, k)
			}
		}
		return types.Null, nil
	}
	for k := lo; k < hi; k++ {
		if p.excluded(i, k) {
			continue
		}
		if nth--; nth == 0 {
			return arg(0, k)
		}
	}
	return types.Null, nil
}
