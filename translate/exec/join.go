package exec

import (
	"github.com/eiderdb/eider/translate/types"
)

// OneRow is a FROM clause that is not there: one row without columns.
type OneRow struct{}

// Start opens it.
func (OneRow) Start(*Ctx, Row) (SourceIter, error) { return &oneRowIter{}, nil }

type oneRowIter struct{ done bool }

func (o *oneRowIter) Next() (bool, error) {
	first := !o.done
	o.done = true
	return first, nil
}
func (o *oneRowIter) Reset() error { o.done = false; return nil }
func (o *oneRowIter) Close() error { return nil }

// JoinKind says what happens to rows without a partner.
type JoinKind uint8

// The join kinds.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
)

// Join joins two sources. With hash keys it builds a table of the right side; with
// Keyed set the right side can be looked up by key for every left row instead, which
// is done while the left side is small. Without keys it is a nested loop.
type Join struct {
	Kind JoinKind
	L, R Source
	// LCols and RCols are the columns of each side in the shared row, to save and to fill with NULL.
	LCols, RCols *ColSet
	// LKeys and RKeys are equal pairs for hashing; On is what remains. For an inner join On
	// may hold any condition.
	LKeys, RKeys []Expr
	KeyOIDs      []types.OID
	On           Expr
	// Keyed is the right side with the join's equalities as keys; nil when there is no such way in.
	Keyed Source
	// KeyedOn is the condition to test with Keyed (all of the join's).
	KeyedOn Expr
	// Small is up to how many left rows Keyed is used; 0 means smallOuter.
	Small int
	// Lateral: the right side reads columns of the left: it is restarted for every left row.
	Lateral bool
}

// ColSet is a set of columns of the shared row; the binder fills it when the layout is known.
type ColSet struct{ Idx []int }

func (s *ColSet) null(row Row) {
	for _, i := range s.Idx {
		row[i] = types.Datum{}
	}
}

// smallOuter is up to how many left rows a keyed join looks up one by one.
const smallOuter = 200

// Start opens the join.
func (j *Join) Start(c *Ctx, shared Row) (SourceIter, error) {
	if j.Lateral || j.Keyed == nil && len(j.LKeys) == 0 {
		return j.startLoop(c, shared, j.L, j.R, j.On)
	}
	if j.Keyed != nil {
		return &adaptiveIter{j: j, c: c, shared: shared, store: rowStore{mem: c.Mem}}, nil
	}
	return newHashIter(c, j, j.L, shared), nil
}

func (j *Join) startLoop(c *Ctx, shared Row, l, r Source, on Expr) (SourceIter, error) {
	return &loopIter{j: j, c: c, shared: shared, l: l, r: r, on: on, track: j.Kind == RightJoin || j.Kind == FullJoin}, nil
}

// loopIter is the nested loop. Right and full joins remember which right rows, by
// ordinal, had a partner and run the right side once more.
type loopIter struct {
	j       *Join
	c       *Ctx
	shared  Row
	l, r    Source
	on      Expr
	li, ri  SourceIter
	inLeft  bool
	matched bool
	track   bool
	seen    []bool
	ord     int
	tail    bool
}

func (it *loopIter) Next() (bool, error) {
	var err error
	if it.li == nil {
		if it.li, err = it.l.Start(it.c, it.shared); err != nil {
			return false, err
		}
	}
	for !it.tail {
		if err := it.c.Check(); err != nil {
			return false, err
		}
		if !it.inLeft {
			ok, err := it.li.Next()
			if err != nil {
				return false, err
			}
			if !ok {
				if !it.track {
					return false, nil
				}
				it.tail = true
				break
			}
			if it.ri == nil {
				it.ri, err = it.r.Start(it.c, it.shared)
			} else {
				err = it.ri.Reset()
			}
			if err != nil {
				return false, err
			}
			it.inLeft, it.matched, it.ord = true, false, -1
		}
		ok, err := it.ri.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			it.inLeft = false
			if !it.matched && (it.j.Kind == LeftJoin || it.j.Kind == FullJoin) {
				it.j.RCols.null(it.shared)
				return true, nil
			}
			continue
		}
		it.ord++
		if ok, err = truthy(it.c, it.on, it.shared); err != nil {
			return false, err
		}
		if ok {
			it.matched = true
			if it.track {
				for len(it.seen) <= it.ord {
					it.seen = append(it.seen, false)
				}
				it.seen[it.ord] = true
			}
			return true, nil
		}
	}
	if !it.inLeft {
		if it.ri == nil {
			it.ri, err = it.r.Start(it.c, it.shared)
		} else {
			err = it.ri.Reset()
		}
		if err != nil {
			return false, err
		}
		it.inLeft, it.ord = true, -1
	}
	for {
		ok, err := it.ri.Next()
		if err != nil || !ok {
			return false, err
		}
		it.ord++
		if it.ord < len(it.seen) && it.seen[it.ord] {
			continue
		}
		it.j.LCols.null(it.shared)
		return true, nil
	}
}

func (it *loopIter) Reset() error {
	it.inLeft, it.tail, it.seen = false, false, nil
	if it.li != nil {
		return it.li.Reset()
	}
	return nil
}

func (it *loopIter) Close() error {
	if it.li != nil {
		_ = it.li.Close()
	}
	if it.ri != nil {
		_ = it.ri.Close()
	}
	return nil
}

// adaptiveIter reads the first rows of the left side. When they are few it looks each up
// in the right side by key; otherwise it hashes the right side.
type adaptiveIter struct {
	j      *Join
	c      *Ctx
	shared Row
	store  rowStore
	inner  SourceIter
	rest   SourceIter // the left side beyond the buffer
}

func (it *adaptiveIter) open() error {
	li, err := it.j.L.Start(it.c, it.shared)
	if err != nil {
		return err
	}
	var rows []Row
	buf := make(Row, len(it.j.LCols.Idx))
	more := false
	limit := it.j.Small
	if limit == 0 {
		limit = smallOuter
	}
	for {
		ok, err := li.Next()
		if err != nil {
			_ = li.Close()
			return err
		}
		if !ok {
			break
		}
		for i, at := range it.j.LCols.Idx {
			buf[i] = it.shared[at]
		}
		kept, err := it.store.keep(buf)
		if err != nil {
			_ = li.Close()
			return err
		}
		rows = append(rows, kept)
		if len(rows) >= limit {
			more = true
			break
		}
	}
	left := &bufferedSource{rows: rows, cols: it.j.LCols}
	if more {
		left.rest, it.rest = li, li
	} else {
		_ = li.Close()
	}
	keyless := len(it.j.LKeys) == 0
	if !more || keyless || it.j.Kind == RightJoin || it.j.Kind == FullJoin {
		if it.j.Kind == RightJoin || it.j.Kind == FullJoin {
			it.inner = newHashIter(it.c, it.j, left, it.shared)
			return nil
		}
		it.inner, err = it.j.startLoop(it.c, it.shared, left, it.j.Keyed, it.j.KeyedOn)
		return err
	}
	it.inner = newHashIter(it.c, it.j, left, it.shared)
	return nil
}

func (it *adaptiveIter) Next() (bool, error) {
	if it.inner == nil {
		if err := it.open(); err != nil {
			return false, err
		}
	}
	return it.inner.Next()
}

func (it *adaptiveIter) Reset() error {
	err := it.Close()
	it.inner = nil
	return err
}

func (it *adaptiveIter) Close() error {
	if it.inner != nil {
		_ = it.inner.Close()
	}
	if it.rest != nil { // the join may have failed before it came to it
		_ = it.rest.Close()
		it.rest = nil
	}
	it.store.release()
	return nil
}

// bufferedSource replays rows that were read already and then goes on with the rest.
type bufferedSource struct {
	rows []Row
	cols *ColSet
	rest SourceIter
}

func (b *bufferedSource) Start(_ *Ctx, shared Row) (SourceIter, error) {
	return &bufferedIter{b: b, shared: shared}, nil
}

type bufferedIter struct {
	b      *bufferedSource
	shared Row
	at     int
}

func (it *bufferedIter) Next() (bool, error) {
	if it.at < len(it.b.rows) {
		r := it.b.rows[it.at]
		it.at++
		for i, to := range it.b.cols.Idx {
			it.shared[to] = r[i]
		}
		return true, nil
	}
	if it.b.rest != nil {
		return it.b.rest.Next()
	}
	return false, nil
}

func (it *bufferedIter) Reset() error { it.at = 0; return nil }

func (it *bufferedIter) Close() error {
	if it.b.rest != nil {
		return it.b.rest.Close()
	}
	return nil
}

// hashIter builds a hash table of the right side and probes it with the left.
type hashIter struct {
	j      *Join
	c      *Ctx
	l      Source
	shared Row
	li     SourceIter
	store  rowStore
	table  map[string]int32 // key → 1 + first entry
	rows   []hashRow
	built  bool
	key    []byte
	cur    int32
	inLeft bool
	match  bool
	tail   int
	inTail bool
}

type hashRow struct {
	row  Row
	next int32 // 1 + next entry of the same key
	used bool
}

func newHashIter(c *Ctx, j *Join, l Source, shared Row) *hashIter {
	return &hashIter{j: j, c: c, l: l, shared: shared, store: rowStore{mem: c.Mem}}
}

func (it *hashIter) build() error {
	it.built = true
	ri, err := it.j.R.Start(it.c, it.shared)
	if err != nil {
		return err
	}
	defer ri.Close()
	it.table = make(map[string]int32)
	last := make(map[int32]int32)
	buf := make(Row, len(it.j.RCols.Idx))
	keepNull := it.j.Kind == RightJoin || it.j.Kind == FullJoin
	for {
		ok, err := ri.Next()
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		if err := it.c.Check(); err != nil {
			return err
		}
		key, ok, err := it.hash(it.j.RKeys)
		if err != nil {
			return err
		}
		if !ok && !keepNull {
			continue
		}
		for i, at := range it.j.RCols.Idx {
			buf[i] = it.shared[at]
		}
		kept, err := it.store.keep(buf)
		if err != nil {
			return err
		}
		it.rows = append(it.rows, hashRow{row: kept})
		n := int32(len(it.rows))
		if !ok {
			continue
		}
		// Entries of one key are chained in the order they came.
		if first, found := it.table[string(key)]; found {
			l, more := last[first]
			if !more {
				l = first
			}
			it.rows[l-1].next = n
			last[first] = n
		} else {
			if err := it.store.grow(int64(len(key)) + 48); err != nil {
				return err
			}
			it.table[string(key)] = n
		}
	}
}

// hash makes the key of the current row; false when a part is NULL.
func (it *hashIter) hash(keys []Expr) ([]byte, bool, error) {
	k := it.key[:0]
	for i, e := range keys {
		d, err := e.Eval(it.c, it.shared)
		if err != nil {
			return nil, false, err
		}
		if !d.Valid {
			return nil, false, nil
		}
		k = hashKey(k, it.j.KeyOIDs[i], &d)
	}
	it.key = k
	return k, true, nil
}

func (it *hashIter) load(r Row) {
	for i, to := range it.j.RCols.Idx {
		it.shared[to] = r[i]
	}
}

func (it *hashIter) Next() (bool, error) {
	if !it.built {
		if err := it.build(); err != nil {
			return false, err
		}
		var err error
		if it.li, err = it.l.Start(it.c, it.shared); err != nil {
			return false, err
		}
	}
	outer := it.j.Kind == LeftJoin || it.j.Kind == FullJoin
	for !it.inTail {
		if err := it.c.Check(); err != nil {
			return false, err
		}
		if !it.inLeft {
			ok, err := it.li.Next()
			if err != nil {
				return false, err
			}
			if !ok {
				if it.j.Kind != RightJoin && it.j.Kind != FullJoin {
					return false, nil
				}
				it.inTail = true
				break
			}
			key, ok, err := it.hash(it.j.LKeys)
			if err != nil {
				return false, err
			}
			it.cur = 0
			if ok {
				it.cur = it.table[string(key)]
			}
			it.inLeft, it.match = true, false
		}
		for it.cur != 0 {
			e := &it.rows[it.cur-1]
			it.cur = e.next
			it.load(e.row)
			ok, err := truthy(it.c, it.j.On, it.shared)
			if err != nil {
				return false, err
			}
			if ok {
				e.used, it.match = true, true
				return true, nil
			}
		}
		it.inLeft = false
		if !it.match && outer {
			it.j.RCols.null(it.shared)
			return true, nil
		}
	}
	for it.tail < len(it.rows) {
		e := &it.rows[it.tail]
		it.tail++
		if !e.used {
			it.load(e.row)
			it.j.LCols.null(it.shared)
			return true, nil
		}
	}
	return false, nil
}

func (it *hashIter) Reset() error {
	err := it.Close()
	*it = *newHashIter(it.c, it.j, it.l, it.shared)
	return err
}

func (it *hashIter) Close() error {
	if it.li != nil {
		_ = it.li.Close()
		it.li = nil
	}
	it.store.release()
	it.table, it.rows = nil, nil
	return nil
}
