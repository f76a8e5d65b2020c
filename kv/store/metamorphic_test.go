package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// One history gives the same results on both engines.
func TestSameOnBothEngines(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	done := 0
	for i := range 30 {
		// The bytes that the history is drawn from.
		input := make([]byte, 64<<10)
		for j := range input {
			input[j] = byte(r.Uint32())
		}
		results := map[string]string{}
		for name, open := range engines() {
			t.Run(fmt.Sprint(i, " ", name), func(t *testing.T) {
				rapid.MakeFuzz(func(t *rapid.T) { results[name] = runModel(t, open()) })(t, input)
			})
		}
		if len(results) == 2 {
			done++
			if results["memkv"] != results["pebblekv"] {
				t.Fatalf("history %d:\nmemkv\n%s\npebblekv\n%s", i, results["memkv"], results["pebblekv"])
			}
		}
	}
	if done < 10 {
		t.Fatalf("only %d histories ran to their end", done)
	}
}

// A commit on a full disk fails with ErrDiskFull and leaves nothing; what was committed
// stays readable, and commits work again when there is space. Whether Pebble fails in
// the middle (no ballast) or the engine refuses (ballast used up) must not matter.
func TestDiskFull(t *testing.T) {
	for _, ballast := range []int64{-1, 1 << 16} {
		t.Run(fmt.Sprint("ballast ", ballast), func(t *testing.T) {
			var full atomic.Bool
			fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
				switch op.Kind {
				case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpReuseForWrite:
					if full.Load() {
						return syscall.ENOSPC
					}
				}
				return nil
			}))
			var ticks atomic.Int64
			e, err := pebblekv.Open("data", pebblekv.Options{
				FS: fs, CacheBytes: 1 << 20, MemTableBytes: 1 << 20, BallastBytes: ballast,
				Clock: func() time.Time { return time.Unix(ticks.Add(1), 0) },
			})
			must(t, err)
			ctx := context.Background()
			s, err := store.Open(ctx, e, store.Options{})
			must(t, err)
			defer func() { must(t, s.Close()) }()
			must(t, s.CreateCatalog(ctx, "lake"))
			c, err := s.Catalog("lake")
			must(t, err)
			tx := begin(c)
			tbl := create(t, tx, &rel.Table{Schema: store.PublicOID, Name: "t", Columns: cols("a", int8OID)})
			commit(t, tx)
			want := []string{}
			insert := func(n int) error {
				tx := begin(c)
				if err := tx.NewStatement(); err != nil {
					return err
				}
				if _, err := tx.Insert(tbl, tuple(n)); err != nil {
					return errors.Join(err, tx.Rollback())
				}
				err := tx.Commit(ctx)
				if err == nil {
					want = append(want, fmt.Sprint(n))
				}
				return err
			}
			check := func() {
				t.Helper()
				tx := begin(c)
				equal(t, rows(t, tx, tbl, store.Access{}), want)
				must(t, tx.Rollback())
			}
			for round := range 4 {
				must(t, insert(round*10))
				full.Store(true)
				for i := range 3 {
					if err := insert(round*10 + i + 1); !errors.Is(err, kv.ErrDiskFull) {
						t.Fatalf("commit on a full disk: %v", err)
					}
					check()
				}
				full.Store(false)
				must(t, insert(round*10+5))
				check()
			}
		})
	}
}
