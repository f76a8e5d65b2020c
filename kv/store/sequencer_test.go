package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// bomb is an Observer that panics at its first commit group.
type bomb struct{ armed bool }

func (b *bomb) CommitGroup(string, int, int, int, bool, time.Duration) {
	if b.armed {
		b.armed = false
		panic("bomb")
	}
}

func (b *bomb) Conflict(string, string) {}

// TestPanicInCommit: a panic while a group is written ends that commit, not the queue.
func TestPanicInCommit(t *testing.T) {
	ctx := context.Background()
	b := &bomb{}
	s, err := store.Open(ctx, memkv.New(), store.Options{Observer: b})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	must(t, s.CreateCatalog(ctx, "c"))
	c, err := s.Catalog("c")
	must(t, err)
	b.armed = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		tx := begin(c)
		_, err := tx.CreateSchema("a")
		must(t, err)
		_ = tx.Commit(ctx)
	}()
	tx := begin(c)
	_, err = tx.CreateSchema("b")
	must(t, err)
	must(t, tx.Commit(ctx))
}
