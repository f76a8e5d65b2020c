package store_test

import (
	"testing"

	"github.com/eiderdb/eider/kv/store"
)

// TestDescriptors: sets of descriptors are told apart, and commits of rows make no other.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	c := openMem(t)
	tx := begin(c)
	create(t, tx, simple("t"))
	commit(t, tx)
	now := func() store.Descriptors {
		t.Helper()
		tx := begin(c)
		defer func() { must(t, tx.Rollback()) }()
		d, ok := tx.Descriptors()
		if !ok {
			t.Fatal("not known")
		}
		return d
	}
	first := now()
	old := begin(c)
	must(t, old.EnsureSnapshot())
	addRow(t, c)
	if now() != first {
		t.Error("a row makes other descriptors")
	}
	tx = begin(c)
	made := create(t, tx, simple("u"))
	if _, ok := tx.Descriptors(); ok {
		t.Error("a transaction's own descriptors are taken for everybody's")
	}
	if now() != first {
		t.Error("others see them")
	}
	commit(t, tx)
	second := now()
	if second == first {
		t.Error("a new table makes no other descriptors")
	}
	if d, ok := old.Descriptors(); !ok || d != first {
		t.Error("an old view has other descriptors than before")
	}
	must(t, old.Rollback())
	if _, ok := old.Descriptors(); ok {
		t.Error("known after the end")
	}
	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	must(t, tx.DropTable(made.OID))
	commit(t, tx)
	if d := now(); d == first || d == second {
		t.Error("what was and is no more has left the same descriptors")
	}

	ts := store.NewTempSpace(42)
	tx = c.Begin(store.TxnOptions{Temp: ts})
	if _, ok := tx.Descriptors(); !ok {
		t.Error("room for temporary tables makes descriptors of its own")
	}
	tmp := simple("tmp")
	tmp.Schema, tmp.Temp = 42, true
	create(t, tx, tmp)
	if _, ok := tx.Descriptors(); ok {
		t.Error("a temporary table is taken for everybody's")
	}
	commit(t, tx)
	tx = c.Begin(store.TxnOptions{Temp: ts})
	if _, ok := tx.Descriptors(); ok {
		t.Error("the same in the next transaction")
	}
	must(t, tx.Rollback())
}
