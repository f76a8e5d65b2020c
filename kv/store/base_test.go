package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

func changes(t testing.TB, tx *store.Txn, tbl *rel.Table) string {
	t.Helper()
	var out []string
	must(t, tx.Changes(tbl, func(c store.RowChange) bool {
		side := func(tup row.Tuple) string {
			if tup == nil {
				return "-"
			}
			return show(tbl, tup)
		}
		out = append(out, fmt.Sprintf("%d: %s > %s", c.RowID, side(c.Before), side(c.After)))
		return true
	}))
	return strings.Join(out, "; ")
}

// clustered is a table whose rows are kept by a column and by whether another is NULL, so
// that a change moves them.
func clustered() *rel.Table {
	return &rel.Table{Schema: store.PublicOID, Name: "ducklake_partition_info", Kind: rel.KindTable, Columns: []rel.Column{
		{Num: 1, Name: "partition_id", Type: 20, Mod: -1},
		{Num: 2, Name: "table_id", Type: 20, Mod: -1},
		{Num: 3, Name: "begin_snapshot", Type: 20, Mod: -1},
		{Num: 4, Name: "end_snapshot", Type: 20, Mod: -1},
	}}
}

func bigints(vals ...any) row.Tuple {
	var b row.Builder
	b.Reset()
	for _, v := range vals {
		if v == nil {
			b.Null()
		} else {
			b.Int64(int64(v.(int)))
		}
	}
	return b.MustTuple()
}

// Changes tells what a transaction does to rows in all, also to rows that move.
func TestChanges(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, clustered())
	for i := range 4 {
		_, err := tx.Insert(tbl, bigints(i, 1, 1, nil))
		must(t, err)
	}
	equal(t, strings.Count(changes(t, tx, tbl), "- > "), 4)
	commit(t, tx)

	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	equal(t, changes(t, tx, tbl), "")
	must(t, tx.Update(tbl, 1, bigints(0, 1, 1, nil), bigints(0, 1, 1, 5)))   // moves
	must(t, tx.Update(tbl, 2, bigints(1, 1, 1, nil), bigints(1, 1, 2, nil))) // stays
	must(t, tx.Delete(tbl, 3, bigints(2, 1, 1, nil)))
	must(t, tx.Update(tbl, 4, bigints(3, 1, 1, nil), bigints(3, 1, 1, 5))) // moves and comes back
	must(t, tx.Update(tbl, 4, bigints(3, 1, 1, 5), bigints(3, 1, 1, nil)))
	id, err := tx.Insert(tbl, bigints(9, 2, 1, nil))
	must(t, err)
	gone, err := tx.Insert(tbl, bigints(10, 2, 1, nil))
	must(t, err)
	must(t, tx.Delete(tbl, gone, bigints(10, 2, 1, nil)))
	got := changes(t, tx, tbl)
	for _, want := range []string{
		"1: " + show(tbl, bigints(0, 1, 1, nil)) + " > " + show(tbl, bigints(0, 1, 1, 5)),
		"2: " + show(tbl, bigints(1, 1, 1, nil)) + " > " + show(tbl, bigints(1, 1, 2, nil)),
		"3: " + show(tbl, bigints(2, 1, 1, nil)) + " > -",
		fmt.Sprintf("%d: - > %s", id, show(tbl, bigints(9, 2, 1, nil))),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s has no %s", got, want)
		}
	}
	if strings.Contains(got, fmt.Sprintf("%d: ", gone)) {
		t.Errorf("%s has a row that came and went", got)
	}
	must(t, tx.Rollback())
}

// Refresh shows the newest state, unless what was written does not fit there.
func TestRefresh(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	_, err := tx.Insert(tbl, tuple(1, "a"))
	must(t, err)
	commit(t, tx)

	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	other := begin(c)
	_, err = other.Insert(tbl, tuple(2, "b"))
	must(t, err)
	commit(t, other)
	equal(t, len(rows(t, tx, tbl, store.Access{})), 1)
	must(t, tx.Refresh())
	equal(t, len(rows(t, tx, tbl, store.Access{})), 2)
	must(t, tx.Update(tbl, 1, tuple(1, "a"), tuple(1, "mine")))
	other = begin(c)
	must(t, other.EnsureSnapshot())
	must(t, other.Update(tbl, 1, tuple(1, "a"), tuple(1, "theirs")))
	commit(t, other)
	wantErr(t, tx.Refresh(), store.ErrSerialization)
	wantErr(t, tx.Commit(t.Context()), store.ErrSerialization)
}

// A transaction whose watched rows have changed looks again before it commits.
func TestRecheck(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl := create(t, tx, simple("t"))
	log := create(t, tx, simple("log"))
	commit(t, tx)

	write := func(n int) {
		other := begin(c)
		_, err := other.Insert(tbl, tuple(n, "x"))
		must(t, err)
		commit(t, other)
	}
	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	_, err := tx.Insert(log, tuple(1, "a"))
	must(t, err)
	tx.WatchRows(tbl)
	looks := 0
	tx.Recheck(func() error {
		looks++
		equal(t, len(rows(t, tx, tbl, store.Access{})), looks)
		if looks < 3 {
			tx.WatchRows(tbl)
			write(looks + 1)
		}
		return nil
	})
	write(1)
	commit(t, tx)
	equal(t, looks, 3)

	// Without a function, and when it does not end, the commit fails.
	for _, again := range []bool{false, true} {
		tx = begin(c)
		must(t, tx.EnsureSnapshot())
		_, err = tx.Insert(log, tuple(2, "b"))
		must(t, err)
		tx.WatchRows(tbl)
		if again {
			tx.Recheck(func() error {
				tx.WatchRows(tbl)
				write(9)
				return nil
			})
		}
		write(9)
		wantErr(t, tx.Commit(t.Context()), store.ErrSerialization)
	}
}

// Two clients clean up after their flushes at once: neither may fail.
func TestCleanUpTwice(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	list := create(t, tx, &rel.Table{Schema: store.PublicOID, Name: "ducklake_inlined_data_tables", Kind: rel.KindTable, Columns: cols("table_id", 20, "table_name", 25)})
	inlined := create(t, tx, simple("ducklake_inlined_data_1_1"))
	other := create(t, tx, simple("other"))
	_, err := tx.Insert(list, tuple(1, "ducklake_inlined_data_1_1"))
	must(t, err)
	_, err = tx.Insert(other, tuple(1, "x"))
	must(t, err)
	commit(t, tx)

	a, b := begin(c), begin(c)
	for _, tx := range []*store.Txn{a, b} {
		must(t, tx.EnsureSnapshot())
		must(t, tx.Delete(list, 1, tuple(1, "ducklake_inlined_data_1_1")))
	}
	commit(t, a)
	commit(t, b)
	a, b = begin(c), begin(c)
	for _, tx := range []*store.Txn{a, b} {
		must(t, tx.EnsureSnapshot())
		must(t, tx.DropTable(inlined.OID))
	}
	commit(t, a)
	commit(t, b)
	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	ghost, ok := tx.GhostTable(store.PublicOID, inlined.Name)
	if !ok || len(rows(t, tx, ghost, store.Access{})) != 0 {
		t.Errorf("ghost %v", ghost)
	}
	must(t, tx.Rollback())
	// Any other row is deleted once.
	a, b = begin(c), begin(c)
	for _, tx := range []*store.Txn{a, b} {
		must(t, tx.EnsureSnapshot())
		must(t, tx.Delete(other, 1, tuple(1, "x")))
	}
	commit(t, a)
	wantErr(t, b.Commit(t.Context()), store.ErrSerialization)
}
