package store_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

func isLog(t *rel.Table) bool { return t.Name == "log" }

// TestTrail: whatever the order of syncs, and wherever one fails, the rows that a new view has and the one before had not are those of the
// trail, or the trail says that it does not know.
func TestTrail(t *testing.T) {
	t.Parallel()
	type step struct {
		kind, n int // 0, 1: n commits side by side, synced or not; 2: n writes land; 3: all but n are lost; 4: a look
	}
	known := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 4}).Draw(rt, "kind"), rapid.IntRange(1, 4).Draw(rt, "n")}
		}), 1, 30).Draw(rt, "steps")
		limit := rapid.SampledFrom([]int64{1 << 20, 200}).Draw(rt, "limit")
		onSlowDisk(t, func(t *testing.T, disk *slowDisk, c *store.Catalog) {
			trail := c.Trail(limit, isLog)
			defer trail.Close()
			was, at := map[string]bool{}, uint64(math.MaxUint64) // nothing was looked at
			look := func() {
				reader := begin(c)
				defer func() { _ = reader.Rollback() }()
				must(t, reader.EnsureSnapshot())
				seq, _ := reader.ViewSeq()
				tbl := mustTable(t, reader, "log")
				is := map[string]bool{}
				for _, r := range rows(t, reader, tbl, store.Access{}) {
					is[r] = true
				}
				if at != math.MaxUint64 {
					if list, ok := trail.Since(tbl, at); ok {
						known++
						has := map[string]bool{}
						for _, x := range list {
							has[show(tbl, x)] = true
						}
						for r := range is {
							if !was[r] && !has[r] {
								t.Fatalf("steps %v: %q is new and not in the trail", steps, r)
							}
						}
					}
				}
				trail.Forget(seq)
				was, at = is, seq
			}
			var commits sync.WaitGroup
			key := 0
			for i, s := range steps {
				switch s.kind {
				case 2:
					disk.land(s.n)
				case 3:
					disk.fail(s.n - 1)
				case 4:
					look()
				default:
					for j := range s.n {
						tx := c.Begin(store.TxnOptions{Sync: s.kind == 0})
						must(t, tx.EnsureSnapshot())
						if j != 1 { // the second wants the key of the first
							key++
						}
						if _, err := tx.Insert(mustTable(t, tx, "log"), tuple(key, fmt.Sprint(i, ".", j))); err != nil {
							must(t, tx.Rollback())
							continue
						}
						commits.Go(func() { _ = tx.Commit(context.Background()) })
					}
				}
				synctest.Wait()
			}
			for disk.unstable() > 0 {
				disk.land(1)
				synctest.Wait()
			}
			commits.Wait()
			look()
		})
	})
	if known == 0 {
		t.Error("the trail never knew")
	}
}

// TestTrailRows: changed rows are there as they are now, rows of other tables are not, and a table that has changed its shape or came to match
// later has to be read.
func TestTrailRows(t *testing.T) {
	t.Parallel()
	c := openMem(t)
	tx := begin(c)
	create(t, tx, simple("log"))
	create(t, tx, simple("other"))
	commit(t, tx)
	trail := c.Trail(1<<20, isLog)
	defer trail.Close()
	at := func() (seq uint64, tbl *rel.Table) {
		tx := begin(c)
		must(t, tx.EnsureSnapshot())
		seq, _ = tx.ViewSeq()
		tbl = mustTable(t, tx, "log")
		must(t, tx.Rollback())
		return seq, tbl
	}
	since := func(seq uint64) []string {
		_, tbl := at()
		list, ok := trail.Since(tbl, seq)
		if !ok {
			return []string{"unknown"}
		}
		out := []string{}
		for _, x := range list {
			out = append(out, show(tbl, x))
		}
		return out
	}
	first, _ := at()
	equal(t, since(first), []string{})
	tx = begin(c)
	log, other := mustTable(t, tx, "log"), mustTable(t, tx, "other")
	_, err := tx.Insert(other, tuple(9, "not this"))
	must(t, err)
	id, err := tx.Insert(log, tuple(1, "a"))
	must(t, err)
	_, err = tx.Insert(log, tuple(2, "b"))
	must(t, err)
	commit(t, tx)
	second, _ := at()
	equal(t, since(first), []string{"1 a", "2 b"})
	equal(t, since(second), []string{})
	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	must(t, tx.Update(log, id, tuple(1, "a"), tuple(1, "c")))
	commit(t, tx)
	equal(t, since(second), []string{"1 c"})
	equal(t, since(first), []string{"1 a", "2 b", "1 c"})
	trail.Forget(second)
	equal(t, since(first), []string{"unknown"})
	equal(t, since(second), []string{"1 c"})

	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	_, err = tx.TruncateTable(log.OID)
	must(t, err)
	_, err = tx.Insert(mustTable(t, tx, "log"), tuple(3, "d"))
	must(t, err)
	commit(t, tx)
	if got := since(second); len(got) != 1 || got[0] != "unknown" {
		t.Errorf("rows of two shapes: %v", got)
	}
	third, _ := at()
	equal(t, since(third), []string{})

	// What is beyond the limit is forgotten.
	small := c.Trail(100, isLog)
	tx = begin(c)
	must(t, tx.EnsureSnapshot())
	_, tbl := at()
	for i := range 3 {
		_, err = tx.Insert(mustTable(t, tx, "log"), tuple(10+i, "x"))
		must(t, err)
	}
	commit(t, tx)
	if _, ok := small.Since(tbl, third); ok {
		t.Error("more than the limit is known")
	}
	fourth, _ := at()
	if list, ok := small.Since(tbl, fourth); !ok || len(list) > 0 {
		t.Errorf("after it: %v, %v", list, ok)
	}
	small.Close()
}

// TestTrailLost: what an engine that was reopened has kept is not known to a trail.
func TestTrailLost(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, disk *slowDisk, c *store.Catalog) {
		trail := c.Trail(1<<20, isLog)
		defer trail.Close()
		seq := func() (uint64, *rel.Table) {
			reader := begin(c)
			defer func() { _ = reader.Rollback() }()
			must(t, reader.EnsureSnapshot())
			n, _ := reader.ViewSeq()
			return n, mustTable(t, reader, "log")
		}
		before, tbl := seq()
		if _, ok := trail.Since(tbl, before); !ok {
			t.Error("nothing is known from the beginning")
		}
		_, done := appendRow(t, holder(t, c), "one")
		disk.fail(0)
		<-done
		synctest.Wait()
		after, _ := seq() // loads the state anew
		if _, ok := trail.Since(tbl, before); ok {
			t.Error("what became of the commit is taken for known")
		}
		if list, ok := trail.Since(tbl, after); !ok || len(list) > 0 {
			t.Errorf("from then on: %v, %v", list, ok)
		}
	})
}
