package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

const (
	int8OID    = 20
	varcharOID = 1043
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openMem(t testing.TB) *store.Catalog {
	t.Helper()
	s, err := store.Open(context.Background(), memkv.New(), store.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	must(t, s.CreateCatalog(context.Background(), "lake"))
	c, err := s.Catalog("lake")
	must(t, err)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func cols(spec ...any) []rel.Column {
	var out []rel.Column
	for i := 0; i < len(spec); i += 2 {
		out = append(out, rel.Column{Name: spec[i].(string), Type: uint32(spec[i+1].(int)), Mod: -1})
	}
	return out
}

// tuple makes a tuple: int → bigint, string → text, nil → NULL.
func tuple(vals ...any) row.Tuple {
	var b row.Builder
	b.Reset()
	for _, v := range vals {
		switch v := v.(type) {
		case nil:
			b.Null()
		case int:
			b.Int64(int64(v))
		case string:
			b.String(v)
		default:
			panic(fmt.Sprintf("tuple: %T", v))
		}
	}
	return b.MustTuple()
}

func begin(c *store.Catalog) *store.Txn { return c.Begin(store.TxnOptions{Sync: true}) }

func mustTable(t testing.TB, tx *store.Txn, name string) *rel.Table {
	t.Helper()
	tbl, ok := tx.TableByName(store.PublicOID, name)
	if !ok {
		t.Fatalf("no table %q", name)
	}
	return tbl
}

// rows returns the tuples a scan visits, printed.
func rows(t testing.TB, tx *store.Txn, tbl *rel.Table, a store.Access) []string {
	t.Helper()
	it, err := tx.Scan(tbl, a)
	must(t, err)
	out := []string{}
	for it.Next() {
		out = append(out, show(tbl, it.Tuple()))
	}
	must(t, it.Err())
	must(t, it.Close())
	return out
}

func show(tbl *rel.Table, tup row.Tuple) string {
	s := ""
	for i := range tbl.Columns {
		val, null := tbl.Columns[i].Value(tup)
		if i > 0 {
			s += " "
		}
		switch {
		case null:
			s += "~"
		case tbl.Columns[i].Type == int8OID:
			var n int64
			for _, b := range val {
				n = n<<8 | int64(b)
			}
			s += fmt.Sprint(n)
		default:
			s += string(val)
		}
	}
	return s
}

func equal(t testing.TB, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("want -, got +\n%s", d)
	}
}

func TestBasics(t *testing.T) {
	c := openMem(t)
	tx := begin(c)
	tbl, err := tx.CreateTable(&rel.Table{
		Schema: store.PublicOID, Name: "t", Columns: cols("a", int8OID, "b", varcharOID),
		Indexes: []rel.Index{{Name: "t_pkey", Columns: []int16{1}, Unique: true, Primary: true, Constraint: true}},
	})
	must(t, err)
	for i := range 3 {
		_, err := tx.Insert(tbl, tuple(i, fmt.Sprint("v", i)))
		must(t, err)
	}
	equal(t, rows(t, tx, tbl, store.Access{}), []string{"0 v0", "1 v1", "2 v2"})
	_, err = tx.Insert(tbl, tuple(1, "x"))
	if !errors.Is(err, store.ErrUnique) {
		t.Fatal(err)
	}
	must(t, tx.Commit(context.Background()))

	tx = begin(c)
	must(t, tx.NewStatement())
	tbl = mustTable(t, tx, "t")
	equal(t, rows(t, tx, tbl, store.Access{Reverse: true}), []string{"2 v2", "1 v1", "0 v0"})
	must(t, tx.Update(tbl, 1, tuple(1, "v1"), tuple(11, "w")))
	must(t, tx.Delete(tbl, 0, tuple(0, "v0")))
	equal(t, rows(t, tx, tbl, store.Access{Index: &tbl.Indexes[0]}), []string{"2 v2", "11 w"})

	tx2 := begin(c)
	must(t, tx2.Update(tbl, 1, tuple(1, "v1"), tuple(1, "z")))
	must(t, tx.Commit(context.Background()))
	if err := tx2.Commit(context.Background()); !errors.Is(err, store.ErrSerialization) {
		t.Fatal(err)
	}
}
