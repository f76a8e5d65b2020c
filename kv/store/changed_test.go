package store_test

import (
	"testing"

	"github.com/eiderdb/eider/kv/store"
)

// ChangedSince tells commits that changed a table's rows from all others.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	c := openMem(t)
	tx := begin(c)
	create(t, tx, simple("t"))
	create(t, tx, simple("u"))
	commit(t, tx)
	at := func() uint64 {
		tx := begin(c)
		must(t, tx.EnsureSnapshot())
		defer func() { must(t, tx.Rollback()) }()
		seq, ok := tx.ViewSeq()
		if !ok {
			t.Fatal("no view")
		}
		return seq
	}
	changed := func(name string, seq uint64) bool {
		tx := begin(c)
		must(t, tx.EnsureSnapshot())
		defer func() { must(t, tx.Rollback()) }()
		tbl, ok := tx.TableByName(store.PublicOID, name)
		if !ok {
			t.Fatal("no table")
		}
		return tx.ChangedSince(tbl, seq)
	}
	first := at()
	if changed("t", first) || changed("u", first) {
		t.Error("changed without a commit")
	}
	addRow(t, c)
	second := at()
	if !changed("t", first) || changed("u", first) || changed("t", second) {
		t.Error("the commit changed t, and u not")
	}
	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	tbl, _ := tx.TableByName(store.PublicOID, "t")
	_, err := tx.TruncateTable(tbl.OID)
	must(t, err)
	_, err = tx.Insert(mustTable(t, tx, "t"), tuple(1, "b"))
	must(t, err)
	commit(t, tx)
	if !changed("t", second) {
		t.Error("rows after TRUNCATE are not seen")
	}
}
