package store_test

import (
	"errors"
	"testing"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

func keyed(t *testing.T) (*store.Catalog, *rel.Table) {
	t.Helper()
	c := openMem(t)
	tx := begin(c)
	tbl, err := tx.CreateTable(&rel.Table{
		Schema: store.PublicOID, Name: "k", Columns: cols("a", int8OID, "b", varcharOID),
		Indexes: []rel.Index{{Name: "k_pkey", Columns: []int16{1}, Unique: true, Primary: true, Constraint: true}},
	})
	must(t, err)
	must(t, tx.Commit(t.Context()))
	return c, tbl
}

func insertAlone(t *testing.T, c *store.Catalog, tbl *rel.Table, key int) {
	t.Helper()
	tx := begin(c)
	_, err := tx.Insert(tbl, tuple(key, "theirs"))
	must(t, err)
	must(t, tx.Commit(t.Context()))
}

// A transaction whose key was taken since it began, before its insert or after it, writes
// another one.
func TestRestartAfterALostRace(t *testing.T) {
	for _, late := range []bool{false, true} {
		c, tbl := keyed(t)
		a := begin(c)
		must(t, a.EnsureSnapshot())
		asked, lost := 0, 0
		a.OnTaken(func(got *rel.Table) bool { asked++; return got.Name == "k" })
		if !late {
			insertAlone(t, c, tbl, 1)
		}
		_, err := a.Insert(tbl, tuple(1, "ours"))
		must(t, err)
		if late {
			insertAlone(t, c, tbl, 1)
		}
		a.OnLost(func(u *store.UniqueViolation) error {
			lost++
			equal(t, u.Table, "k")
			must(t, a.Restart())
			equal(t, a.HasWrites(), false)
			equal(t, rows(t, a, tbl, store.Access{}), []string{"1 theirs"})
			if lost == 1 { // and another race is lost
				insertAlone(t, c, tbl, 2)
			}
			_, err := a.Insert(tbl, tuple(2+lost, "ours"))
			return err
		})
		must(t, a.Commit(t.Context()))
		equal(t, lost, 1)
		equal(t, asked == 1, !late)
		r := begin(c)
		equal(t, rows(t, r, tbl, store.Access{}), []string{"1 theirs", "2 theirs", "3 ours"})
		must(t, r.Rollback())
	}
}

// Without help, and with a helper that gives up, a lost race ends the transaction.
func TestLostRaceWithoutHelp(t *testing.T) {
	for _, help := range []bool{false, true} {
		c, tbl := keyed(t)
		a := begin(c)
		must(t, a.EnsureSnapshot())
		insertAlone(t, c, tbl, 1)
		a.OnTaken(func(*rel.Table) bool { return true })
		_, err := a.Insert(tbl, tuple(1, "ours"))
		must(t, err)
		if help {
			a.OnLost(func(u *store.UniqueViolation) error { return u })
		}
		if err := a.Commit(t.Context()); !errors.Is(err, store.ErrUnique) {
			t.Errorf("help %v: %v", help, err)
		}
		if err := a.Restart(); !errors.Is(err, store.ErrTxnDone) {
			t.Error(err)
		}
	}
}

// A key that the transaction's own view has is taken whatever anybody says.
func TestTakenIsNotAskedForVisibleKeys(t *testing.T) {
	c, tbl := keyed(t)
	insertAlone(t, c, tbl, 1)
	a := begin(c)
	a.OnTaken(func(*rel.Table) bool { t.Error("asked"); return true })
	if _, err := a.Insert(tbl, tuple(1, "ours")); !errors.Is(err, store.ErrUnique) {
		t.Error(err)
	}
	must(t, a.Rollback())
}

func TestRestartDoesNotForgetDefinitions(t *testing.T) {
	c, _ := keyed(t)
	a := begin(c)
	_, err := a.CreateSchema("s")
	must(t, err)
	if err := a.Restart(); !errors.Is(err, store.ErrInvalid) {
		t.Error(err)
	}
	must(t, a.Rollback())
}
