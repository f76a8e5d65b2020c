package pgcatalog

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/types"
)

// A dropped table of inlined data is found by its name, with its columns, and is in no list.
func TestDroppedInlinedTable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.Open(t)
	cat, err := s.Catalog("lake")
	if err != nil {
		t.Fatal(err)
	}
	const name, other = "ducklake_inlined_data_1_1", "plain"
	commit := func(do func(*store.Txn) error) {
		t.Helper()
		txn := cat.Begin(store.TxnOptions{})
		if err := txn.EnsureSnapshot(); err != nil {
			t.Fatal(err)
		}
		if err := do(txn); err != nil {
			t.Fatal(err)
		}
		if err := txn.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	oids := map[string]uint32{}
	for _, n := range []string{name, other} {
		commit(func(txn *store.Txn) error {
			made, err := txn.CreateTable(&rel.Table{Schema: PublicOID, Name: n, Kind: rel.KindTable, Columns: []rel.Column{
				column(1, "row_id", types.Int8OID, -1), column(2, "i", types.Int4OID, -1),
			}})
			if err == nil {
				oids[n] = made.OID
			}
			return err
		})
		commit(func(txn *store.Txn) error { return txn.DropTable(oids[n]) })
	}
	txn := cat.Begin(store.TxnOptions{})
	defer func() { _ = txn.Rollback() }()
	if err := txn.EnsureSnapshot(); err != nil {
		t.Fatal(err)
	}
	c := &exec.Ctx{Context: ctx, Env: types.DefaultEnv(), Session: &fakeSession{}, Txn: txn}
	read := func(relation, column, value, show string) []string {
		t.Helper()
		eq := map[string]string{column: value}
		if column == "" {
			eq = nil
		}
		rows, err := readAll(c, relation, eq, []string{show})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if got := read("pg_class", "relname", name, "relname"); !slices.Equal(got, []string{name}) {
		t.Errorf("by its name: %v", got)
	}
	if got := read("pg_class", "relname", other, "relname"); len(got) != 0 {
		t.Errorf("another dropped table: %v", got)
	}
	if got := read("pg_class", "", "", "relname"); slices.Contains(got, name) {
		t.Errorf("in the list: %v", got)
	}
	if got := read("pg_attribute", "attrelid", strconv.Itoa(int(oids[name])), "attname"); !slices.Equal(got, []string{"row_id", "i"}) {
		t.Errorf("columns: %v", got)
	}
}
