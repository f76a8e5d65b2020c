package meta_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/meta/metatest"
	"github.com/eiderdb/eider/kv/store"
)

// A rehearsal reads as a transaction does that writes, and leaves nothing.
func TestRehearse(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	ctx := context.Background()
	do(t, c, func(txn *store.Txn) error {
		must(t, metatest.CreateTable(txn, store.PublicOID, meta.SnapshotTable, metatest.SnapshotColumns()...))
		must(t, metatest.CreateTable(txn, store.PublicOID, "ducklake_a", "x"))
		must(t, metatest.CreateTable(txn, store.PublicOID, "ducklake_b", "x"))
		l, err := meta.Open(txn, "public")
		must(t, err)
		for i := range int64(200) {
			must(t, l.Table("ducklake_a").Insert(meta.Values{"x": meta.Int(i)}))
		}
		return nil
	})
	read := func(t rapid.TB, l meta.Lake) (out []int64) {
		if err := l.Table("ducklake_a").Scan(ctx, func(x *meta.Row) error { out = append(out, x.Num("x")); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	rapid.Check(t, func(rt *rapid.T) {
		goes := rapid.SliceOf(rapid.Int64Range(0, 199)).Draw(rt, "goes")
		drop := rapid.Bool().Draw(rt, "drop")
		change := func(l meta.Lake) (left []int64, relations int) {
			for _, n := range goes {
				must(t, l.Table("ducklake_a").Scan(ctx, (*meta.Row).Delete, meta.Is("x", n)))
			}
			if drop {
				must(t, l.DropTable("ducklake_b"))
			}
			for range l.Tables("ducklake_") {
				relations++
			}
			if l.Table("ducklake_b").Exists() == drop {
				rt.Fatal("dropped, but there, or the other way round")
			}
			return read(rt, l), relations
		}
		var left []int64
		var relations int
		must(t, meta.Read(ctx, c, func(txn *store.Txn) error {
			l, err := meta.Open(txn, "public")
			must(t, err)
			left, relations = change(l.Rehearse())
			return nil
		}))
		txn := c.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
		must(t, txn.EnsureSnapshot())
		l, err := meta.Open(txn, "public")
		must(t, err)
		if n := len(read(rt, l)); n != 200 {
			rt.Fatalf("%d rows after a rehearsal", n)
		}
		want, there := change(l)
		must(t, txn.Rollback())
		if !slices.Equal(left, want) || relations != there {
			rt.Fatalf("rehearsed: %v, %d relations; done: %v, %d relations", left, relations, want, there)
		}
	})
}
