package store_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// A scan after a position finds what the scan that was there would have found next:
// through any index, in both directions, over committed rows and own ones, in the same
// transaction or another, and also when the rows up to there are gone.
func TestScanAfter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := openMem(t)
		txn := c.Begin(store.TxnOptions{})
		tbl, err := txn.CreateTable(&rel.Table{
			Schema: store.PublicOID, Name: "ducklake_file_column_stats",
			Columns: cols("data_file_id", int8OID, "table_id", int8OID, "column_id", int8OID),
		})
		must(t, err)
		small := rapid.IntRange(0, 3)
		add := func(n int) {
			for range n {
				_, err := txn.Insert(tbl, tuple(small.Draw(rt, "file"), small.Draw(rt, "table"), small.Draw(rt, "column")))
				must(t, err)
			}
		}
		add(rapid.IntRange(0, 12).Draw(rt, "committed"))
		must(t, txn.Commit(context.Background()))
		txn = c.Begin(store.TxnOptions{})
		add(rapid.IntRange(0, 4).Draw(rt, "own"))

		var a store.Access
		if rapid.Bool().Draw(rt, "index") {
			a.Index = &tbl.Indexes[0]
		}
		a.Reverse = rapid.Bool().Draw(rt, "reverse")
		if rapid.Bool().Draw(rt, "prefix") {
			a.Eq = [][]byte{binary8(small.Draw(rt, "eq"))}
		}
		ids, at := positions(t, txn, tbl, a)
		if len(ids) == 0 {
			must(t, txn.Rollback())
			return
		}
		i := rapid.IntRange(0, len(ids)-1).Draw(rt, "stop")
		a.After = at[i]
		got, _ := positions(t, txn, tbl, a)
		if !slices.Equal(got, ids[i+1:]) {
			rt.Fatalf("after row %d of %v: %v", i, ids, got)
		}
		for _, id := range ids[:i+1] {
			tup, ok, err := txn.Get(tbl, id)
			if must(t, err); !ok {
				rt.Fatalf("row %d is gone", id)
			}
			must(t, txn.Delete(tbl, id, tup))
		}
		must(t, txn.Commit(context.Background()))
		txn = c.Begin(store.TxnOptions{})
		got, _ = positions(t, txn, tbl, a)
		if !slices.Equal(got, ids[i+1:]) {
			rt.Fatalf("after the removal of row %d of %v and those before: %v", i, ids, got)
		}
		must(t, txn.Rollback())
	})
}

func binary8(n int) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, byte(n)} }

func positions(t *testing.T, txn *store.Txn, tbl *rel.Table, a store.Access) (ids []uint64, at [][]byte) {
	t.Helper()
	it, err := txn.Scan(tbl, a)
	must(t, err)
	if p := it.Position(); p != nil {
		t.Errorf("a position before the first row: %x", p)
	}
	for it.Next() {
		ids, at = append(ids, it.RowID()), append(at, it.Position())
	}
	must(t, it.Err())
	if p := it.Position(); p != nil {
		t.Errorf("a position after the last row: %x", p)
	}
	must(t, it.Close())
	return ids, at
}
