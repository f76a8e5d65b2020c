package storetest

import (
	"context"
	"testing"

	"github.com/eiderdb/eider/kv/kvtest"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// Open returns an empty store in memory with a catalog "lake". Its engine spoils what it
// has lent out as soon as it may (kvtest.Spoil). It is closed when the test ends.
func Open(t testing.TB) *store.Store {
	t.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, kvtest.Spoil(memkv.New()), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := st.CreateCatalog(ctx, "lake"); err != nil {
		t.Fatal(err)
	}
	return st
}
