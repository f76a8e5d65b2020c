package store_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// lookEngine counts look-ups of single keys, in snapshots too, and notes for each batch that is
// written whether it is in the background.
type lookEngine struct {
	kv.Engine
	looks      atomic.Int64
	background []bool
}

type lookSnapshot struct {
	kv.Snapshot
	e *lookEngine
}

type lookBatch struct {
	kv.Batch
	background bool
}

func (b *lookBatch) Background() { b.background = true }

func (e *lookEngine) AppendGet(dst, key []byte) ([]byte, error) {
	e.looks.Add(1)
	return e.Engine.AppendGet(dst, key)
}

func (e *lookEngine) Has(key []byte) (bool, error) {
	e.looks.Add(1)
	return e.Engine.Has(key)
}

func (e *lookEngine) Snapshot() (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot()
	return lookSnapshot{s, e}, err
}

func (e *lookEngine) NewBatch() kv.Batch { return &lookBatch{Batch: e.Engine.NewBatch()} }

func (e *lookEngine) Apply(b kv.Batch, sync bool) error {
	return e.Engine.Apply(b.(*lookBatch).Batch, sync)
}

func (e *lookEngine) ApplyAsync(b kv.Batch, sync bool, epoch uint64) (func() error, error) {
	lb := b.(*lookBatch)
	e.background = append(e.background, lb.background)
	return e.Engine.ApplyAsync(lb.Batch, sync, epoch)
}

func (s lookSnapshot) AppendGet(dst, key []byte) ([]byte, error) {
	s.e.looks.Add(1)
	return s.Snapshot.AppendGet(dst, key)
}

func (s lookSnapshot) Has(key []byte) (bool, error) {
	s.e.looks.Add(1)
	return s.Snapshot.Has(key)
}

func openLooks(t *testing.T) (*store.Catalog, *lookEngine) {
	t.Helper()
	e := &lookEngine{Engine: memkv.New()}
	s, err := store.Open(context.Background(), e, store.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	must(t, s.CreateCatalog(context.Background(), "lake"))
	c, err := s.Catalog("lake")
	must(t, err)
	return c, e
}

// While others wait for a large transaction, its rows are not looked up in tables that
// nobody else has changed; where somebody has, each is, and a lost race is found.
func TestCommitSparesUnchangedTables(t *testing.T) {
	t.Parallel()
	const rows = 300
	for _, k := range []struct {
		name    string
		others  string // the table that another transaction changes
		same    bool   // a row that is deleted
		refresh bool
		looked  bool
		err     error
	}{
		{name: "nobody"},
		{name: "another table", others: "u"},
		{name: "another table, refreshed", others: "u", refresh: true},
		{name: "another row", others: "t", looked: true},
		{name: "another row, refreshed", others: "t", refresh: true, looked: true},
		{name: "the same row", others: "t", same: true, looked: true, err: store.ErrSerialization},
		{name: "the same row, refreshed", others: "t", same: true, refresh: true, looked: true, err: store.ErrSerialization},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			c, e := openLooks(t)
			tx := begin(c)
			must(t, tx.EnsureSnapshot())
			create(t, tx, simple("t"))
			create(t, tx, simple("u"))
			var ids []uint64
			for i := range rows + 1 {
				id, err := tx.Insert(mustTable(t, tx, "t"), tuple(i, "a"))
				must(t, err)
				ids = append(ids, id)
			}
			commit(t, tx)

			tx = begin(c)
			must(t, tx.EnsureSnapshot())
			for i, id := range ids[:rows] {
				must(t, tx.Delete(mustTable(t, tx, "t"), id, tuple(i, "a")))
			}
			if k.others != "" {
				other := begin(c)
				must(t, other.EnsureSnapshot())
				tbl := mustTable(t, other, k.others)
				switch {
				case k.same:
					must(t, other.Delete(tbl, ids[7], tuple(7, "a")))
				case k.others == "t":
					must(t, other.Update(tbl, ids[rows], tuple(rows, "a"), tuple(rows, "b")))
				default:
					_, err := other.Insert(tbl, tuple(1, "a"))
					must(t, err)
				}
				commit(t, other)
			}
			before := e.looks.Load()
			var err error
			if k.refresh {
				err = tx.Refresh()
			}
			if err == nil {
				err = tx.Commit(context.Background())
			} else {
				must(t, tx.Rollback())
			}
			if !errors.Is(err, k.err) {
				t.Fatalf("got %v, want %v", err, k.err)
			}
			looks := e.looks.Load() - before
			if enough := looks >= rows || k.err != nil && looks > 7; k.looked && !enough || !k.looked && looks > 0 {
				t.Errorf("%d look-ups", looks)
			}
		})
	}
}

// A batch is in the background when all that is in it is.
func TestBackgroundCommits(t *testing.T) {
	t.Parallel()
	c, e := openLooks(t)
	made := len(e.background)
	for i, o := range []store.TxnOptions{{Sync: true}, {Sync: true, Background: true}} {
		tx := c.Begin(o)
		must(t, tx.EnsureSnapshot())
		create(t, tx, simple([]string{"t", "u"}[i]))
		commit(t, tx)
	}
	if got := e.background[made:]; !slices.Equal(got, []bool{false, true}) {
		t.Errorf("in the background: %v", got)
	}
}
