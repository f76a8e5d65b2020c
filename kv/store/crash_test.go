package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// After a crash the store is a prefix of the commits, with every acknowledged one in it:
// row n of "log" and row n of "twin" are written by commit n, so both tables must hold
// exactly 0…k-1, where k is at least the number acknowledged when the crash came.
func TestCrash(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fs := vfs.NewCrashableMem()
	opts := pebblekv.Options{FS: fs, CacheBytes: 1 << 20, MemTableBytes: 64 << 10}
	e, err := pebblekv.Open("data", opts)
	must(t, err)
	ctx := context.Background()
	s, err := store.Open(ctx, e, store.Options{})
	must(t, err)
	must(t, s.CreateCatalog(ctx, "lake"))
	c, err := s.Catalog("lake")
	must(t, err)
	tx := begin(c)
	for _, name := range []string{"log", "twin"} {
		_, err := tx.CreateTable(&rel.Table{
			Schema: store.PublicOID, Name: name, Columns: cols("n", int8OID, "pad", varcharOID),
			Indexes: []rel.Index{{Name: name + "_pkey", Columns: []int16{1}, Unique: true, Primary: true}},
		})
		must(t, err)
	}
	must(t, tx.Commit(ctx))

	type clone struct {
		fs    *vfs.MemFS
		acked int64
	}
	var (
		acked  atomic.Int64
		wg     sync.WaitGroup
		stop   = make(chan struct{})
		clones []clone
	)
	wg.Go(func() {
		defer close(stop)
		for n := range 400 {
			tx := begin(c)
			for _, name := range []string{"log", "twin"} {
				tbl, _ := tx.TableByName(store.PublicOID, name)
				if _, err := tx.Insert(tbl, tuple(n, fmt.Sprintf("padding %d%d%d%d", n, n, n, n))); err != nil {
					t.Error(err)
					return
				}
			}
			if err := tx.Commit(ctx); err != nil {
				t.Error(err)
				return
			}
			acked.Store(int64(n + 1))
		}
	})
	for i := uint64(0); ; i++ {
		select {
		case <-stop:
		default:
			// What was acknowledged before the crash must be there; unsynced data may be.
			n := acked.Load()
			clones = append(clones, clone{fs.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: int(i * 37 % 101), RNG: rand.New(rand.NewPCG(seed, i)),
			}), n})
			if len(clones) < 200 {
				continue
			}
		}
		break
	}
	wg.Wait()
	clones = append(clones, clone{fs.CrashClone(vfs.CrashCloneCfg{}), acked.Load()})
	must(t, s.Close())
	step := max(1, len(clones)/40)
	for i := 0; i < len(clones)-1; i += step {
		checkCrashed(t, clones[i].fs, clones[i].acked)
	}
	checkCrashed(t, clones[len(clones)-1].fs, 400)
}

func checkCrashed(t *testing.T, fs *vfs.MemFS, acked int64) {
	t.Helper()
	e, err := pebblekv.Open("data", pebblekv.Options{FS: fs, CacheBytes: 1 << 20, MemTableBytes: 64 << 10})
	must(t, err)
	ctx := context.Background()
	s, err := store.Open(ctx, e, store.Options{})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	c, err := s.Catalog("lake")
	must(t, err)
	tx := begin(c)
	var got [2][]string
	for i, name := range []string{"log", "twin"} {
		tbl := mustTable(t, tx, name)
		got[i] = rows(t, tx, tbl, store.Access{})
		equal(t, rows(t, tx, tbl, store.Access{Index: &tbl.Indexes[0]}), got[i])
		if int64(len(got[i])) < acked {
			t.Fatalf("%s has %d rows, %d were acknowledged", name, len(got[i]), acked)
		}
		for n, r := range got[i] {
			equal(t, r, fmt.Sprintf("%d padding %d%d%d%d", n, n, n, n, n))
		}
	}
	equal(t, got[0], got[1])
	// It goes on: ids are not given out twice.
	tbl := mustTable(t, tx, "log")
	id, err := tx.Insert(tbl, tuple(100_000, "after"))
	must(t, err)
	if id < uint64(len(got[0])) {
		t.Fatalf("row id %d given out twice", id)
	}
	must(t, tx.Commit(ctx))
}

// Writers on a few rows at once: exactly one of those who increment the same value wins,
// so that the sum equals the number of successes.
func TestConcurrentIncrements(t *testing.T) {
	for name, open := range engines() {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			s, err := store.Open(ctx, open(), store.Options{})
			must(t, err)
			defer func() { must(t, s.Close()) }()
			must(t, s.CreateCatalog(ctx, "lake"))
			c, err := s.Catalog("lake")
			must(t, err)
			tx := begin(c)
			tbl, err := tx.CreateTable(&rel.Table{Schema: store.PublicOID, Name: "n", Columns: cols("v", int8OID)})
			must(t, err)
			for range 3 {
				_, err := tx.Insert(tbl, tuple(0))
				must(t, err)
			}
			must(t, tx.Commit(ctx))
			var won atomic.Int64
			var wg sync.WaitGroup
			for w := range 6 {
				wg.Go(func() {
					for i := range 40 {
						tx := begin(c)
						id := uint64((w + i) % 3)
						tup, _, err := tx.Get(tbl, id)
						if err == nil {
							var v int
							if _, err = fmt.Sscan(show(tbl, tup), &v); err == nil {
								err = tx.Update(tbl, id, tup, tuple(v+1))
							}
						}
						if err == nil {
							err = tx.Commit(ctx)
						} else {
							_ = tx.Rollback()
						}
						switch {
						case err == nil:
							won.Add(1)
						case !errors.Is(err, store.ErrSerialization):
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			sum := 0
			tx = begin(c)
			for _, r := range rows(t, tx, tbl, store.Access{}) {
				var v int
				_, err := fmt.Sscan(r, &v)
				must(t, err)
				sum += v
			}
			must(t, tx.Rollback())
			if int64(sum) != won.Load() || sum == 0 {
				t.Fatalf("sum %d, %d commits succeeded", sum, won.Load())
			}
		})
	}
}
