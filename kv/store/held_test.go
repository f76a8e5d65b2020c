package store_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/store"
)

// heldRows are the numbers of rows of table t in the views that are held, as tx finds them.
func heldRows(t testing.TB, tx *store.Txn) []int {
	t.Helper()
	held, err := tx.Held()
	must(t, err)
	out := []int{}
	for _, h := range held {
		out = append(out, rowsOf(t, h, "t"))
		must(t, h.Rollback())
	}
	return out
}

// newestHeld asks from the newest view.
func newestHeld(t testing.TB, c *store.Catalog) []int {
	t.Helper()
	tx := begin(c)
	must(t, tx.EnsureSnapshot())
	defer func() { must(t, tx.Rollback()) }()
	return heldRows(t, tx)
}

func addRow(t testing.TB, c *store.Catalog) {
	t.Helper()
	tx := begin(c)
	must(t, tx.EnsureSnapshot())
	tbl, ok := tx.TableByName(store.PublicOID, "t")
	if !ok {
		t.Fatal("no table")
	}
	_, err := tx.Insert(tbl, tuple(1, "a"))
	must(t, err)
	commit(t, tx)
}

func TestHeld(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	create(t, tx, simple("t"))
	commit(t, tx)
	want := func(what string, rows ...int) {
		t.Helper()
		if got := newestHeld(t, c); !slices.Equal(got, rows) {
			t.Errorf("%s: held %v, want %v", what, got, rows)
		}
	}
	idle := begin(c) // has not read
	reader := begin(c)
	must(t, reader.EnsureSnapshot())
	want("a reader of the newest view")
	addRow(t, c)
	want("a reader", 0)
	second := begin(c)
	must(t, second.EnsureSnapshot())
	twin := begin(c)
	must(t, twin.EnsureSnapshot())
	addRow(t, c)
	want("two views", 0, 1)
	if got := heldRows(t, second); !slices.Equal(got, []int{0}) {
		t.Errorf("older than an old one: %v", got)
	}
	must(t, second.Rollback())
	want("one of two readers of a view has gone", 0, 1)
	f, err := twin.Freeze()
	must(t, err)
	must(t, twin.Rollback())
	want("what is frozen", 0, 1)
	must(t, f.Rollback())
	want("what was frozen", 0)
	id, err := reader.ExportSnapshot()
	must(t, err)
	other := c.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	must(t, other.SetSnapshot(id))
	must(t, reader.Rollback())
	want("an imported view", 0)
	must(t, other.NewStatement())
	want("REPEATABLE READ stays", 0)
	must(t, other.Rollback())
	want("nobody")

	committed := c.Begin(store.TxnOptions{Isolation: store.ReadCommitted})
	must(t, committed.NewStatement())
	addRow(t, c)
	want("READ COMMITTED between statements", 2)
	must(t, committed.NewStatement())
	want("READ COMMITTED has moved on")
	must(t, committed.Commit(context.Background()))
	must(t, idle.Rollback())
}

// Held holds what it returns, also when the one who read it has gone.
func TestHeldStays(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	create(t, tx, simple("t"))
	commit(t, tx)
	reader := begin(c)
	must(t, reader.EnsureSnapshot())
	addRow(t, c)
	tx = begin(c)
	held, err := tx.Held()
	must(t, err)
	must(t, reader.Rollback())
	addRow(t, c)
	if len(held) != 1 || rowsOf(t, held[0], "t") != 0 {
		t.Fatalf("held %d views", len(held))
	}
	_, err = held[0].Insert(mustTable(t, held[0], "t"), tuple(1, "a"))
	wantErr(t, err, store.ErrInvalid)
	must(t, held[0].Rollback())
	must(t, tx.Rollback())
	if got := newestHeld(t, c); len(got) != 0 {
		t.Errorf("held %v", got)
	}
}

// Whatever transactions do, the views that are held are those that some of them have.
func TestHeldModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := openMem(t)
		tx := begin(c)
		create(t, tx, simple("t"))
		commit(t, tx)
		rows := 0
		type open struct {
			tx   *store.Txn
			rows int
		}
		var readers []open
		pick := func() int { return rapid.IntRange(0, len(readers)-1).Draw(rt, "reader") }
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch op := rapid.SampledFrom([]string{"begin", "commit", "end", "freeze"}).Draw(rt, "op"); {
			case op == "begin":
				tx := begin(c)
				must(t, tx.EnsureSnapshot())
				readers = append(readers, open{tx, rows})
			case op == "commit":
				addRow(t, c)
				rows++
			case len(readers) == 0:
			case op == "end":
				i := pick()
				must(t, readers[i].tx.Rollback())
				readers = slices.Delete(readers, i, i+1)
			default:
				r := readers[pick()]
				f, err := r.tx.Freeze()
				must(t, err)
				readers = append(readers, open{f, r.rows})
			}
			want := []int{}
			for _, r := range readers {
				if r.rows < rows {
					want = append(want, r.rows)
				}
			}
			slices.Sort(want)
			want = slices.Compact(want)
			if got := newestHeld(t, c); !slices.Equal(got, want) {
				rt.Fatalf("held %v, want %v", got, want)
			}
		}
		for _, r := range readers {
			must(t, r.tx.Rollback())
		}
	})
}
