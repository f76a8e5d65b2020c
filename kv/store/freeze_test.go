package store_test

import (
	"testing"

	"github.com/eiderdb/eider/kv/store"
)

// rowsOf counts the rows of a table as tx sees them.
func rowsOf(t testing.TB, tx *store.Txn, name string) int {
	t.Helper()
	tbl, ok := tx.TableByName(store.PublicOID, name)
	if !ok {
		return -1
	}
	it, err := tx.Scan(tbl, store.Access{})
	must(t, err)
	n := 0
	for it.Next() {
		n++
	}
	must(t, it.Err())
	must(t, it.Close())
	return n
}

func TestFreeze(t *testing.T) {
	c := openMem(t)
	tx := c.Begin(store.TxnOptions{Isolation: store.ReadCommitted})
	must(t, tx.NewStatement())
	tbl := create(t, tx, simple("t"))
	_, err := tx.Insert(tbl, tuple(1, "a"))
	must(t, err)
	f, err := tx.Freeze()
	must(t, err)
	mark := tx.Savepoint()
	for range 3 {
		_, err = tx.Insert(tbl, tuple(2, "b"))
		must(t, err)
	}
	create(t, tx, simple("own"))
	other := begin(c)
	create(t, other, simple("other"))
	commit(t, other)
	must(t, tx.NewStatement())
	for name, want := range map[string][2]int{"t": {4, 1}, "own": {0, -1}, "other": {0, -1}} {
		if got := [2]int{rowsOf(t, tx, name), rowsOf(t, f, name)}; got != want {
			t.Errorf("%s: %v rows, want %v", name, got, want)
		}
	}
	_, err = f.Insert(tbl, tuple(3, "c"))
	wantErr(t, err, store.ErrInvalid)
	must(t, tx.RollbackTo(mark))
	if n := rowsOf(t, f, "t"); n != 1 {
		t.Errorf("%d rows after a rollback of the original", n)
	}
	g, err := tx.Freeze()
	must(t, err)
	must(t, g.Rollback())
	// The end of a frozen one must not make row ids start again.
	id, err := tx.Insert(tbl, tuple(4, "d"))
	must(t, err)
	if id != 4 {
		t.Errorf("row id %d", id)
	}
	commit(t, tx)
	if n := rowsOf(t, f, "t"); n != 1 {
		t.Errorf("%d rows after the original's commit", n)
	}
	must(t, f.Rollback())
}

func TestHoldRows(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	commit(t, tx)
	for _, change := range []bool{false, true} {
		tx = begin(c)
		must(t, tx.HoldRows(tbl))
		create(t, tx, simple("made"))
		if change {
			other := begin(c)
			_, err := other.Insert(tbl, tuple(1, "a"))
			must(t, err)
			commit(t, other)
			wantErr(t, tx.Commit(t.Context()), store.ErrSerialization)
			continue
		}
		commit(t, tx)
		tx = begin(c)
		made, _ := tx.TableByName(store.PublicOID, "made")
		must(t, tx.DropTable(made.OID))
		commit(t, tx)
	}
}
