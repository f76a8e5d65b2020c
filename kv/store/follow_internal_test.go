package store

import (
	"context"
	"testing"

	"github.com/eiderdb/eider/kv/memkv"
)

// TestNobodyFollows: without a follower a commit pays nothing for there being such a thing.
func TestNobodyFollows(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, memkv.New(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.CreateCatalog(ctx, "lake"); err != nil {
		t.Fatal(err)
	}
	c, err := s.Catalog("lake")
	if err != nil {
		t.Fatal(err)
	}
	g := &group{c: c}
	tx := c.Begin(TxnOptions{})
	defer func() { _ = tx.Rollback() }()
	if n := testing.AllocsPerRun(100, func() {
		g.note(tx)
		g.notes.enqueue()
		g.notes.settle(noteKept, nil)
	}); n != 0 {
		t.Errorf("%v allocations for each commit", n)
	}
}
