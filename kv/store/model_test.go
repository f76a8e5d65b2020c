package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/kvtest"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// The model of a store: tables as maps of row ids, with the properties
//
//   - a REPEATABLE READ transaction sees one committed state and its own writes,
//     a READ COMMITTED one the newest state at each statement and its own writes;
//   - of two transactions that change a row the one that commits first wins;
//   - a unique key has one owner in every committed state;
//   - ROLLBACK TO restores exactly what was;
//   - every access path yields the same rows, in its own order, both ways.

type mrow struct {
	a, b, c any // int, string, int or nil
}

func (r mrow) tuple() row.Tuple { return tuple(r.a, r.b, r.c) }

func (r mrow) String() string { return fmt.Sprint(r.a, " ", r.b, " ", r.c) }

type mtable map[uint64]mrow

type mstate [2]mtable // the two tables

func (s mstate) clone() mstate { return mstate{maps.Clone(s[0]), maps.Clone(s[1])} }

type mtxn struct {
	tx    *store.Txn
	rc    bool
	began bool
	base  mstate // committed state of the view
	seen  mstate // base with own writes
	seq   int
	// touched are rows of the committed state that it changed, with what it took them for.
	touched [2]map[uint64]mrow
	fresh   [2]map[uint64]bool
	keys    map[int]bool // unique keys it entered anew
	marks   []mmark
	failed  bool
	iters   []miter
}

type mmark struct {
	m       store.Mark
	seen    mstate
	touched [2]map[uint64]mrow
	fresh   [2]map[uint64]bool
	keys    map[int]bool
}

type miter struct {
	it   *store.RowIter
	tbl  *rel.Table
	want []string
}

// two tables: one in row-id order with a unique index on a and an index on b; one whose
// name and columns give it the layout (table_id, end_snapshot IS NULL) and hidden indexes.
var modelTables = [2]*rel.Table{
	{
		Schema: store.PublicOID, Name: "plain", Columns: cols("a", int8OID, "b", varcharOID, "c", int8OID),
		Indexes: []rel.Index{
			{Name: "plain_a", Columns: []int16{1}, Unique: true, Primary: true},
			{Name: "plain_b", Columns: []int16{2, 3}},
		},
	},
	{
		Schema: store.PublicOID, Name: "ducklake_data_file",
		Columns: cols("table_id", int8OID, "path", varcharOID, "end_snapshot", int8OID),
	},
}

func modelRow(t *rapid.T, table int) mrow {
	r := mrow{
		a: rapid.IntRange(0, 6).Draw(t, "a"),
		b: rapid.SampledFrom([]any{"x", "y", "", "a\x00b", nil}).Draw(t, "b"),
		c: rapid.SampledFrom([]any{1, 2, nil, nil}).Draw(t, "c"),
	}
	if table == 0 && rapid.IntRange(0, 5).Draw(t, "null key") == 0 {
		r.a = nil
	}
	return r
}

// order of rows in the primary storage.
func (s mstate) list(table int) []string {
	ids := slices.Collect(maps.Keys(s[table]))
	slices.SortFunc(ids, func(x, y uint64) int {
		if table == 1 {
			rx, ry := s[1][x], s[1][y]
			if c := compareInt(rx.a, ry.a); c != 0 {
				return c
			}
			if (rx.c == nil) != (ry.c == nil) {
				if rx.c == nil {
					return -1
				}
				return 1
			}
		}
		return cmp.Compare(x, y)
	})
	out := []string{}
	for _, id := range ids {
		out = append(out, fmt.Sprint(id, ": ", s[table][id]))
	}
	return out
}

func compareInt(x, y any) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return cmp.Compare(x.(int), y.(int))
}

type model struct {
	t         *rapid.T
	c         *store.Catalog
	committed mstate
	history   []mstate // committed states; index = seq
	txns      []*mtxn
	log       strings.Builder // results, to compare engines
}

func (m *model) seq() int { return len(m.history) - 1 }

func (m *model) note(format string, args ...any) { fmt.Fprintf(&m.log, format+"\n", args...) }

func (m *model) begin() {
	rc := rapid.Bool().Draw(m.t, "read committed")
	o := store.TxnOptions{Sync: rapid.Bool().Draw(m.t, "sync")}
	if rc {
		o.Isolation = store.ReadCommitted
	}
	m.txns = append(m.txns, &mtxn{
		tx: m.c.Begin(o), rc: rc, keys: map[int]bool{},
		touched: [2]map[uint64]mrow{{}, {}}, fresh: [2]map[uint64]bool{{}, {}},
	})
}

// statement does what every statement starts with, and reports whether it can go on.
func (m *model) statement(x *mtxn) bool {
	err := x.tx.NewStatement()
	if x.rc && x.began {
		for i := range x.touched {
			for id, was := range x.touched[i] {
				if now, ok := m.committed[i][id]; !ok || now != was {
					if !errors.Is(err, store.ErrSerialization) {
						m.t.Fatalf("statement over lost rows: %v", err)
					}
					x.failed = true
					return false
				}
			}
		}
	}
	if err != nil {
		m.t.Fatal(err)
	}
	if !x.began || x.rc {
		base := m.committed.clone()
		if x.began {
			// Own writes stay on top of the new state.
			for i := range base {
				for id := range x.touched[i] {
					delete(base[i], id)
					if r, ok := x.seen[i][id]; ok {
						base[i][id] = r
					}
				}
				for id := range x.fresh[i] {
					if r, ok := x.seen[i][id]; ok {
						base[i][id] = r
					}
				}
			}
		}
		x.base, x.seen = m.committed.clone(), base
		if !x.began {
			x.seq = m.seq()
		}
		x.began = true
	}
	return true
}

func (m *model) table(x *mtxn, i int) *rel.Table {
	tbl, ok := x.tx.TableByName(store.PublicOID, modelTables[i].Name)
	if !ok {
		m.t.Fatalf("no table %s", modelTables[i].Name)
	}
	return tbl
}

// disputed reports that the key belongs to a row that the transaction changed but somebody
// else has changed too: it will not commit, and may learn that now or then.
func (m *model) disputed(x *mtxn, key any) bool {
	for id, r := range m.committed[0] {
		was, mine := x.touched[0][id]
		if mine && was != r && r.a == key {
			return true
		}
	}
	return false
}

// freed reports that the transaction has freed the key by changing a row that had it, and
// that somebody else has changed that row too: as disputed, though the key is another's now.
func (m *model) freed(x *mtxn, key any) bool {
	for id, was := range x.touched[0] {
		if now, ok := m.committed[0][id]; was.a == key && (!ok || now != was) {
			return true
		}
	}
	return false
}

// taken reports who else has the unique key, as Insert must see it: own writes over the
// newest committed state.
func (m *model) taken(x *mtxn, key any, self uint64) bool {
	if key == nil {
		return false
	}
	for id, r := range x.seen[0] {
		_, mine := x.touched[0][id]
		if id != self && r.a == key && (mine || x.fresh[0][id]) {
			return true
		}
	}
	for id, r := range m.committed[0] {
		_, mine := x.touched[0][id]
		if id != self && r.a == key && !mine {
			return true
		}
	}
	return false
}

func (m *model) insert(x *mtxn) {
	if !m.statement(x) {
		return
	}
	i := rapid.IntRange(0, 1).Draw(m.t, "table")
	r := modelRow(m.t, i)
	id, err := x.tx.Insert(m.table(x, i), r.tuple())
	if i == 0 && (m.taken(x, r.a, ^uint64(0)) && (err != nil || !m.freed(x, r.a)) || m.disputed(x, r.a) && err != nil) {
		if !errors.Is(err, store.ErrUnique) {
			m.t.Fatalf("insert %v: %v, want a violation", r, err)
		}
		m.note("violation")
		return
	}
	if err != nil {
		m.t.Fatalf("insert %v: %v", r, err)
	}
	m.note("insert %d", id)
	x.seen[i][id] = r
	x.fresh[i][id] = true
	if i == 0 && r.a != nil {
		x.keys[r.a.(int)] = true
	}
}

func (m *model) pick(x *mtxn, i int) (uint64, mrow, bool) {
	ids := slices.Sorted(maps.Keys(x.seen[i]))
	if len(ids) == 0 {
		return 0, mrow{}, false
	}
	id := rapid.SampledFrom(ids).Draw(m.t, "row")
	return id, x.seen[i][id], true
}

// stale reports whether a row that x has not touched yet was changed by somebody else
// since x's view, which a change notices at once.
func (m *model) stale(x *mtxn, i int, id uint64) bool {
	if _, ok := x.touched[i][id]; ok || x.fresh[i][id] {
		return false
	}
	now, ok := m.committed[i][id]
	return !ok || now != x.base[i][id]
}

func (m *model) change(x *mtxn) {
	if !m.statement(x) {
		return
	}
	i := rapid.IntRange(0, 1).Draw(m.t, "table")
	id, old, ok := m.pick(x, i)
	if !ok {
		return
	}
	tbl := m.table(x, i)
	update := rapid.Bool().Draw(m.t, "update")
	var (
		r   mrow
		err error
	)
	if update {
		r = modelRow(m.t, i)
		err = x.tx.Update(tbl, id, old.tuple(), r.tuple())
		if i == 0 && r.a != old.a && (m.taken(x, r.a, id) && (err != nil || !m.freed(x, r.a)) || m.disputed(x, r.a) && errors.Is(err, store.ErrUnique)) {
			if !errors.Is(err, store.ErrUnique) {
				m.t.Fatalf("update to %v: %v, want a violation", r, err)
			}
			m.note("violation")
			return
		}
	} else {
		err = x.tx.Delete(tbl, id, old.tuple())
	}
	if m.stale(x, i, id) {
		// The key that the row is to get may be the one that others have given it.
		own := update && i == 0 && m.committed[0][id].a == r.a && errors.Is(err, store.ErrUnique)
		if !errors.Is(err, store.ErrSerialization) && !own {
			m.t.Fatalf("change of a stale row: %v", err)
		}
		m.note("stale: %v", err)
		x.failed = true
		return
	}
	if err != nil {
		m.t.Fatalf("change of row %d %v to %v: %v", id, old, r, err)
	}
	if !x.fresh[i][id] {
		if _, ok := x.touched[i][id]; !ok {
			x.touched[i][id] = x.base[i][id]
		}
	}
	if update {
		x.seen[i][id] = r
		if i == 0 && r.a != nil && r.a != old.a {
			x.keys[r.a.(int)] = true
		}
	} else {
		delete(x.seen[i], id)
	}
}

func scanAll(t *rapid.T, tx *store.Txn, tbl *rel.Table, a store.Access) []string {
	it, err := tx.Scan(tbl, a)
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, it, tbl)
}

func drain(t *rapid.T, it *store.RowIter, tbl *rel.Table) []string {
	out := []string{}
	for it.Next() {
		out = append(out, fmt.Sprint(it.RowID(), ": ", nils(show(tbl, it.Tuple()))))
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

func nils(s string) string { return strings.ReplaceAll(s, "~", "<nil>") }

func (m *model) same(what string, got, want []string) {
	if !slices.Equal(got, want) {
		m.t.Fatalf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// byKey are the rows that look-ups by the unique key find, as listed. A row of the view
// whose key others have freed and the transaction has given to another row is not among
// them: a known difference from PostgreSQL.
func (x *mtxn) byKey() []string {
	found := mstate{maps.Clone(x.seen[0]), nil}
	for id, r := range x.seen[0] {
		if r.a == nil || x.fresh[0][id] || x.base[0][id].a != r.a {
			continue
		}
		for other, o := range x.seen[0] {
			if other != id && o.a == r.a {
				delete(found[0], id)
			}
		}
	}
	return found.list(0)
}

func (m *model) read(x *mtxn) {
	if !m.statement(x) {
		return
	}
	i := rapid.IntRange(0, 1).Draw(m.t, "table")
	tbl := m.table(x, i)
	want := x.seen.list(i)
	m.same("scan", scanAll(m.t, x.tx, tbl, store.Access{}), want)
	rev := slices.Clone(want)
	slices.Reverse(rev)
	m.same("reverse scan", scanAll(m.t, x.tx, tbl, store.Access{Reverse: true}), rev)
	for k := range tbl.Indexes {
		got := scanAll(m.t, x.tx, tbl, store.Access{Index: &tbl.Indexes[k], Reverse: k == 1})
		if !x.rc || k != 0 {
			sorted := slices.Sorted(slices.Values(want))
			if i == 0 && k == 0 {
				sorted = slices.Sorted(slices.Values(x.byKey()))
			}
			slices.Sort(got)
			m.same("index "+tbl.Indexes[k].Name, got, sorted)
		}
	}
	// Equality on the first key part of the primary storage or the first index.
	key := rapid.IntRange(0, 6).Draw(m.t, "key")
	a := store.Access{Eq: [][]byte{int8bin(key)}}
	if i == 0 {
		a.Index = &tbl.Indexes[0]
	}
	var eq []string
	all := want
	if i == 0 {
		all = x.byKey()
	}
	for _, s := range all {
		if strings.Contains(s, fmt.Sprintf(": %d ", key)) {
			eq = append(eq, s)
		}
	}
	got := scanAll(m.t, x.tx, tbl, a)
	if !x.rc || i == 1 {
		m.same("equality", got, append([]string{}, eq...))
	}
	// The range (key, ∞).
	if i == 1 {
		var above []string
		for _, s := range want {
			id := uint64(0)
			if _, err := fmt.Sscan(s, &id); err == nil || true {
				fmt.Sscanf(s, "%d:", &id)
			}
			if x.seen[1][id].a.(int) > key {
				above = append(above, s)
			}
		}
		m.same("range", scanAll(m.t, x.tx, tbl, store.Access{Lo: &store.Bound{Value: int8bin(key)}}), append([]string{}, above...))
	}
	if id, r, ok := m.pick(x, i); ok {
		tup, found, err := x.tx.Get(tbl, id)
		if err != nil || !found || nils(show(tbl, tup)) != r.String() {
			m.t.Fatalf("get %d: %q %v %v, want %v", id, show(tbl, tup), found, err, r)
		}
		m.same("by row id", scanAll(m.t, x.tx, tbl, store.Access{RowIDs: []uint64{1 << 40, id}}), []string{fmt.Sprint(id, ": ", r)})
	}
	m.note("%q", want)
	if rapid.IntRange(0, 3).Draw(m.t, "keep open") == 0 {
		it, err := x.tx.Scan(tbl, store.Access{})
		if err != nil {
			m.t.Fatal(err)
		}
		x.iters = append(x.iters, miter{it, tbl, want})
	}
}

func int8bin(v int) []byte {
	var b [8]byte
	for i := range b {
		b[i] = byte(uint64(v) >> (56 - 8*i))
	}
	return b[:]
}

func cloneMaps[K comparable, V any](m [2]map[K]V) [2]map[K]V {
	return [2]map[K]V{maps.Clone(m[0]), maps.Clone(m[1])}
}

func (m *model) savepoint(x *mtxn) {
	if !m.statement(x) {
		return
	}
	x.marks = append(x.marks, mmark{x.tx.Savepoint(), x.seen.clone(), cloneMaps(x.touched), cloneMaps(x.fresh), maps.Clone(x.keys)})
}

func (m *model) rollbackTo(x *mtxn) {
	if len(x.marks) == 0 {
		return
	}
	n := rapid.IntRange(0, len(x.marks)-1).Draw(m.t, "mark")
	k := x.marks[n]
	if err := x.tx.RollbackTo(k.m); err != nil {
		m.t.Fatal(err)
	}
	x.marks = x.marks[:n+1]
	if x.rc {
		// What others committed since stays visible; drop own writes made after the mark.
		x.touched, x.fresh, x.keys = cloneMaps(k.touched), cloneMaps(k.fresh), maps.Clone(k.keys)
		x.seen = x.base.clone()
		for i := range x.seen {
			for id := range x.touched[i] {
				delete(x.seen[i], id)
				if r, ok := k.seen[i][id]; ok {
					x.seen[i][id] = r
				}
			}
			for id := range x.fresh[i] {
				if r, ok := k.seen[i][id]; ok {
					x.seen[i][id] = r
				}
			}
		}
		return
	}
	x.seen, x.touched, x.fresh, x.keys = k.seen.clone(), cloneMaps(k.touched), cloneMaps(k.fresh), maps.Clone(k.keys)
}

func (m *model) end(x *mtxn, i int) {
	for _, it := range x.iters {
		m.same("iterator opened earlier", drain(m.t, it.it, it.tbl), it.want)
	}
	m.txns = slices.Delete(m.txns, i, i+1)
	if x.failed || rapid.IntRange(0, 4).Draw(m.t, "rollback") == 0 {
		if err := x.tx.Rollback(); err != nil {
			m.t.Fatal(err)
		}
		return
	}
	err := x.tx.Commit(context.Background())
	lost, clash := false, false
	next := m.committed.clone()
	for i := range next {
		for id, was := range x.touched[i] {
			now, ok := m.committed[i][id]
			lost = lost || !ok || now != was
			delete(next[i], id)
			if r, ok := x.seen[i][id]; ok {
				next[i][id] = r
			}
		}
		for id := range x.fresh[i] {
			if r, ok := x.seen[i][id]; ok {
				next[i][id] = r
			}
		}
	}
	owners := map[any]int{}
	for _, r := range next[0] {
		if r.a != nil {
			owners[r.a]++
			clash = clash || owners[r.a] > 1
		}
	}
	switch {
	case lost || clash:
		if !errors.Is(err, store.ErrSerialization) && !errors.Is(err, store.ErrUnique) {
			m.t.Fatalf("commit: %v, want a conflict (row %v, key %v)", err, lost, clash)
		}
		if !clash && !errors.Is(err, store.ErrSerialization) {
			m.t.Fatalf("commit: %v without a key clash", err)
		}
		m.note("conflict")
	case err != nil:
		m.t.Fatalf("commit: %v", err)
	default:
		m.committed = next
		m.history = append(m.history, next)
		m.note("commit")
	}
}

func engines() map[string]func() kv.Engine {
	return map[string]func() kv.Engine{
		"memkv": func() kv.Engine { return kvtest.Spoil(memkv.New()) },
		"pebblekv": func() kv.Engine {
			e, err := pebblekv.Open("data", pebblekv.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20, MemTableBytes: 256 << 10})
			if err != nil {
				panic(err)
			}
			return e
		},
	}
}

// runModel plays one random history on an engine and returns its results.
func runModel(t *rapid.T, e kv.Engine) string {
	s, err := store.Open(context.Background(), e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	if err := s.CreateCatalog(context.Background(), "lake"); err != nil {
		t.Fatal(err)
	}
	c, err := s.Catalog("lake")
	if err != nil {
		t.Fatal(err)
	}
	tx := begin(c)
	for _, tbl := range modelTables {
		if _, err := tx.CreateTable(tbl); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, c: c, committed: mstate{{}, {}}}
	m.history = []mstate{m.committed}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		if len(m.txns) < 4 && (len(m.txns) == 0 || rapid.IntRange(0, 3).Draw(t, "begin") == 0) {
			m.begin()
			continue
		}
		i := rapid.IntRange(0, len(m.txns)-1).Draw(t, "txn")
		x := m.txns[i]
		op := rapid.IntRange(0, 9).Draw(t, "op")
		switch {
		case x.failed || op == 9:
			m.end(x, i)
		case op < 3:
			m.insert(x)
		case op < 6:
			m.change(x)
		case op == 6:
			m.savepoint(x)
		case op == 7:
			m.rollbackTo(x)
		default:
			m.read(x)
		}
	}
	for len(m.txns) > 0 {
		m.end(m.txns[0], 0)
	}
	x := &mtxn{tx: begin(c), seen: m.committed.clone(), touched: [2]map[uint64]mrow{{}, {}}, fresh: [2]map[uint64]bool{{}, {}}}
	m.txns = append(m.txns, x)
	for range 4 {
		m.read(x)
	}
	for _, it := range x.iters {
		m.same("iterator opened earlier", drain(t, it.it, it.tbl), it.want)
	}
	if err := x.tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	return m.log.String()
}

func TestModel(t *testing.T) {
	for name, open := range engines() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { runModel(t, open()) })
		})
	}
}
