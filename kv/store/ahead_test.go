package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// manyFiles is a committed table of data files with some thousand rows, of which a transaction
// has ended, removed and added some; ids are the row ids that there ever were.
func manyFiles(t *testing.T, rt *rapid.T, c *store.Catalog) (tx *store.Txn, tbl *rel.Table, ids []uint64) {
	t.Helper()
	tx = begin(c)
	tbl, err := tx.CreateTable(&rel.Table{
		Schema: store.PublicOID, Name: "ducklake_data_file",
		Columns: cols("data_file_id", int8OID, "table_id", int8OID, "end_snapshot", int8OID, "path", 25),
	})
	must(t, err)
	n := rapid.SampledFrom([]int{3, 40, 1500}).Draw(rt, "rows")
	pad := rapid.SampledFrom([]int{0, 0, 2000}).Draw(rt, "size") // the last is more than a block has room for
	tables := rapid.IntRange(1, 5).Draw(rt, "tables")
	stride := rapid.SampledFrom([]int{1, 7, 389}).Draw(rt, "stride")
	at := 0
	add := func(end any) {
		at += stride
		id, err := tx.Insert(tbl, tuple(len(ids), at%tables, end, fmt.Sprintf("f%04d%s", at*31%n, strings.Repeat("x", pad))))
		must(t, err)
		ids = append(ids, id)
	}
	for range n {
		add(nil)
	}
	must(t, tx.Commit(context.Background()))
	tx = begin(c)
	every := rapid.SampledFrom([]int{1, 2, 10, 1000}).Draw(rt, "change every")
	for i, id := range slices.Clone(ids) {
		if i%every != 0 {
			continue
		}
		old, ok, err := tx.Get(tbl, id)
		if must(t, err); !ok {
			rt.Fatalf("row %d", id)
		}
		old = slices.Clone(old)
		switch i / every % 3 {
		case 0:
			must(t, tx.Delete(tbl, id, old))
		case 1: // moves
			must(t, tx.Update(tbl, id, old, tuple(i, i%tables, i, fmt.Sprintf("g%04d", i))))
		case 2:
			add(i)
		}
	}
	if rapid.Bool().Draw(rt, "commit") {
		must(t, tx.Commit(context.Background()))
		tx = begin(c)
	}
	return tx, tbl, ids
}

func eachEngine(t *testing.T, f func(t *testing.T, c func() *store.Catalog)) {
	t.Helper()
	t.Run("mem", func(t *testing.T) { t.Parallel(); f(t, func() *store.Catalog { return openMem(t) }) })
	t.Run("pebble", func(t *testing.T) {
		t.Parallel()
		e, err := pebblekv.Open(t.TempDir(), pebblekv.Options{MemTableBytes: 256 << 10})
		must(t, err)
		s, err := store.Open(context.Background(), e, store.Options{})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		n := 0
		f(t, func() *store.Catalog {
			n++
			name := fmt.Sprint("c", n)
			must(t, s.CreateCatalog(context.Background(), name))
			c, err := s.Catalog(name)
			must(t, err)
			return c
		})
	})
}

// A scan that reads ahead visits the rows that are there, one read for each, in its order: by
// an index in both directions, and by any list of row ids.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func() *store.Catalog) {
		rapid.Check(t, func(rt *rapid.T) {
			tx, tbl, ids := manyFiles(t, rt, open())
			defer func() { must(t, tx.Rollback()) }()
			there := map[uint64]string{}
			for _, id := range ids {
				tup, ok, err := tx.Get(tbl, id)
				if must(t, err); ok {
					there[id] = show(tbl, tup)
				}
			}
			check := func(a store.Access, want []uint64) {
				it, err := tx.Scan(tbl, a)
				must(t, err)
				stop := rapid.SampledFrom([]int{2, 7, 30, 1 << 20}).Draw(rt, "stop")
				var got []uint64
				for len(got) < stop && it.Next() {
					if s := show(tbl, it.Tuple()); s != there[it.RowID()] {
						rt.Fatalf("row %d is %s, want %s", it.RowID(), s, there[it.RowID()])
					}
					got = append(got, it.RowID())
				}
				must(t, it.Err())
				if len(got) < stop && it.Next() {
					rt.Fatalf("a row after the last")
				}
				must(t, it.Close())
				if !slices.Equal(got, want[:min(stop, len(want))]) {
					rt.Fatalf("visits %v, want %v", got, want)
				}
			}
			for i := range tbl.Indexes {
				a := store.Access{Index: &tbl.Indexes[i], Reverse: rapid.Bool().Draw(rt, "reverse")}
				var want []uint64
				it, err := tx.Scan(tbl, store.Access{})
				must(t, err)
				keys := map[uint64]string{}
				for it.Next() {
					c, _ := tbl.ColumnByNum(a.Index.Columns[0])
					v, _ := c.Value(it.Tuple())
					keys[it.RowID()] = string(v)
					want = append(want, it.RowID())
				}
				must(t, it.Close())
				slices.SortFunc(want, func(x, y uint64) int {
					if c := strings.Compare(keys[x], keys[y]); c != 0 {
						return c
					}
					return int(x) - int(y)
				})
				if a.Reverse {
					slices.Reverse(want)
				}
				check(a, want)
			}
			asked := rapid.Permutation(append(slices.Clone(ids), 1<<30, 1<<50)).Draw(rt, "ids")
			if rapid.Bool().Draw(rt, "in order") {
				slices.Sort(asked)
			}
			var want []uint64
			for _, id := range asked {
				if _, ok := there[id]; ok {
					want = append(want, id)
				}
			}
			check(store.Access{RowIDs: asked}, want)
		})
	})
}

// A Finder finds what a scan does at the same moment, whatever the transaction has written
// meanwhile and whichever view it has come to.
func TestFinder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func() *store.Catalog) {
		rapid.Check(t, func(rt *rapid.T) {
			c := open()
			tx, tbl, _ := manyFiles(t, rt, c)
			must(t, tx.Commit(context.Background()))
			tx = c.Begin(store.TxnOptions{Isolation: store.ReadCommitted})
			defer func() { must(t, tx.Rollback()) }()
			x := &tbl.Indexes[rapid.IntRange(0, len(tbl.Indexes)-1).Draw(rt, "index")]
			f, err := tx.Finder(tbl, x)
			must(t, err)
			col, _ := tbl.ColumnByNum(x.Columns[0])
			values := [][]byte{nil, []byte("f0001"), binary8(3)}
			it, err := tx.Scan(tbl, store.Access{})
			must(t, err)
			for it.Next() {
				v, _ := col.Value(it.Tuple())
				values = append(values, slices.Clone(v))
			}
			must(t, it.Close())
			for range rapid.IntRange(1, 20).Draw(rt, "steps") {
				must(t, tx.NewStatement())
				v := rapid.SampledFrom(values).Draw(rt, "value")
				if col.Type == int8OID && v != nil && len(v) != 8 {
					continue
				}
				var want []uint64
				it, err := tx.Scan(tbl, store.Access{Index: x, Eq: [][]byte{v}})
				must(t, err)
				var last []byte
				for it.Next() {
					want, last = append(want, it.RowID()), slices.Clone(it.Tuple())
				}
				must(t, it.Err())
				must(t, it.Close())
				got, err := f.Find(v)
				must(t, err)
				if !slices.Equal(got, want) {
					rt.Fatalf("%q: %v, want %v", v, got, want)
				}
				switch by := rapid.IntRange(0, 3).Draw(rt, "change"); {
				case by == 0 && len(want) > 0:
					must(t, tx.Delete(tbl, want[len(want)-1], last))
				case by == 1 && len(want) > 0:
					_, err := tx.Insert(tbl, last)
					must(t, err)
				case by == 2 && len(want) > 0:
					other := begin(c)
					_, err := other.Insert(tbl, last)
					must(t, err)
					must(t, other.Commit(context.Background()))
				}
			}
		})
	})
}

// A Finder neither holds a view that its transaction has left, nor outlives it.
func TestFinderHoldsNothing(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl, err := tx.CreateTable(&rel.Table{
		Schema: store.PublicOID, Name: "ducklake_files_scheduled_for_deletion",
		Columns: cols("data_file_id", int8OID, "path", 25),
	})
	must(t, err)
	must(t, tx.Commit(context.Background()))
	tx = c.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	f, err := tx.Finder(tbl, &tbl.Indexes[0])
	must(t, err)
	_, err = f.Find(binary8(1))
	must(t, err)
	other := begin(c)
	_, err = other.Insert(tbl, tuple(1, "p"))
	must(t, err)
	must(t, other.Commit(context.Background()))
	must(t, tx.Refresh())
	held, err := tx.Held()
	must(t, err)
	if len(held) != 0 {
		t.Errorf("%d views are held", len(held))
	}
	got, err := f.Find(binary8(1))
	if must(t, err); len(got) != 1 {
		t.Errorf("rows %v", got)
	}
	must(t, tx.Rollback())
	if _, err := f.Find(binary8(1)); err != store.ErrTxnDone {
		t.Errorf("after the end: %v", err)
	}
}
