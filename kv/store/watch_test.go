package store_test

import (
	"testing"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// A transaction that watches a table by its name looks again when somebody makes it, fills it,
// replaces it or takes it away, and not for other tables.
func TestWatchTable(t *testing.T) {
	t.Parallel()
	c := openMem(t)
	tx := begin(c)
	log := create(t, tx, simple("log"))
	own, err := tx.CreateSchema("own")
	must(t, err)
	commit(t, tx)
	named := func() *rel.Table {
		d := simple("w")
		d.Schema = own.OID
		return d
	}
	var tbl *rel.Table
	n := 0
	for _, tc := range []struct {
		name  string
		looks int
		other func(tx *store.Txn)
	}{
		{"another table", 0, func(tx *store.Txn) { create(t, tx, simple("other")) }},
		{"made", 1, func(tx *store.Txn) { tbl = create(t, tx, named()) }},
		{"filled", 1, func(tx *store.Txn) {
			_, err := tx.Insert(tbl, tuple(1, "x"))
			must(t, err)
		}},
		{"nothing", 0, func(*store.Txn) {}},
		{"replaced", 1, func(tx *store.Txn) {
			must(t, tx.DropTable(tbl.OID))
			tbl = create(t, tx, named())
			_, err := tx.Insert(tbl, tuple(1, "x"))
			must(t, err)
		}},
		{"dropped", 1, func(tx *store.Txn) { must(t, tx.DropTable(tbl.OID)) }},
	} {
		tx := begin(c)
		must(t, tx.EnsureSnapshot())
		n++
		_, err := tx.Insert(log, tuple(n, "a"))
		must(t, err)
		looks := 0
		tx.WatchTable("own", "w")
		tx.WatchTable("own", "w")
		tx.Recheck(func() error {
			looks++
			tx.WatchTable("own", "w")
			return nil
		})
		other := begin(c)
		tc.other(other)
		commit(t, other)
		commit(t, tx)
		if looks != tc.looks {
			t.Errorf("%s: looked again %d times, want %d", tc.name, looks, tc.looks)
		}
	}
}
