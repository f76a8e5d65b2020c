package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/store"
)

// diary is a follower that writes down the rows of "log" that are committed.
type diary struct {
	t      *testing.T
	c      *store.Catalog
	mu     sync.Mutex
	noted  []string // guarded by mu: in the order of commits; some may not get through
	landed []string // guarded by mu
}

func (d *diary) Note(t *store.Txn) any {
	tbl, ok := t.TableByName(store.PublicOID, "log")
	if !ok {
		return nil
	}
	var added []string
	if err := t.Changes(tbl, func(c store.RowChange) bool {
		if c.Before == nil {
			added = append(added, show(tbl, c.After))
		}
		return true
	}); err != nil {
		d.t.Error(err)
	}
	if len(added) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted = append(d.noted, added...)
	return added
}

// Landed also looks whether a reader sees what it is told of.
func (d *diary) Landed(note any) {
	tx := d.c.Begin(store.TxnOptions{})
	defer func() { _ = tx.Rollback() }()
	if err := tx.EnsureSnapshot(); err != nil {
		d.t.Error(err)
		return
	}
	tbl, _ := tx.TableByName(store.PublicOID, "log")
	there := map[string]bool{}
	for _, r := range rows(d.t, tx, tbl, store.Access{}) {
		there[r] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range note.([]string) {
		if !there[r] {
			d.t.Errorf("told of %q, which nobody can read", r)
		}
		d.landed = append(d.landed, r)
	}
}

func (d *diary) told() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.landed...)
}

// TestFollow: whatever the order of syncs, and wherever one fails, a follower is told, in the
// order of the commits and when it can be read, of what is there in the end.
func TestFollow(t *testing.T) {
	t.Parallel()
	type step struct {
		kind, n int // 0, 1: n commits side by side, synced or not; 2: n writes land; 3: all but n are lost
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, 2, 3}).Draw(rt, "kind"), rapid.IntRange(1, 4).Draw(rt, "n")}
		}), 1, 25).Draw(rt, "steps")
		onSlowDisk(t, func(t *testing.T, disk *slowDisk, c *store.Catalog) {
			d := &diary{t: t, c: c}
			stop := c.Follow(d)
			var commits sync.WaitGroup
			key := 0
			for _, s := range steps {
				switch s.kind {
				case 2:
					disk.land(s.n)
				case 3:
					disk.fail(s.n - 1)
				default:
					for i := range s.n {
						tx := c.Begin(store.TxnOptions{Sync: s.kind == 0})
						must(t, tx.EnsureSnapshot())
						if i != 1 { // the second wants the key of the first
							key++
						}
						if _, err := tx.Insert(mustTable(t, tx, "log"), tuple(key, fmt.Sprint(s.kind, ".", i))); err != nil {
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
			// One more, so that the state after a failure is loaded.
			tx := begin(c)
			key++
			_, err := tx.Insert(mustTable(t, tx, "log"), tuple(key, "last"))
			must(t, err)
			commits.Go(func() { must(t, tx.Commit(context.Background())) })
			synctest.Wait()
			disk.land(1)
			commits.Wait()
			synctest.Wait()

			told := d.told()
			reader := begin(c)
			is := map[string]bool{}
			for _, r := range rows(t, reader, mustTable(t, reader, "log"), store.Access{}) {
				is[r] = true
			}
			must(t, reader.Rollback())
			next := 0
			for _, r := range told {
				for next < len(d.noted) && d.noted[next] != r {
					next++
				}
				if next == len(d.noted) {
					t.Fatalf("steps %v: told %v, committed in the order %v", steps, told, d.noted)
				}
				next++
				// What was not to be synced may be read, and lost after that.
				if _, who, _ := strings.Cut(r, " "); !is[r] && !strings.HasPrefix(who, "1.") {
					t.Errorf("steps %v: told of %q, which is not there in the end", steps, r)
				}
				delete(is, r)
			}
			if len(is) > 0 {
				t.Errorf("steps %v: not told of %v", steps, is)
			}
			stop()
		})
	})
}

// TestFollowFromNow: what a follower is not told of can be read as soon as AwaitStable has
// returned; after stop it hears nothing.
func TestFollowFromNow(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, disk *slowDisk, c *store.Catalog) {
		_, first := appendRow(t, holder(t, c), "before")
		d := &diary{t: t, c: c}
		stop := c.Follow(d)
		stable := make(chan error, 1)
		go func() { stable <- c.AwaitStable(context.Background()) }()
		synctest.Wait()
		if len(stable) > 0 {
			t.Fatal("a commit that nobody will hear of cannot be read yet")
		}
		disk.land(1)
		must(t, <-first)
		must(t, <-stable)
		reader := begin(c)
		if n := count(t, reader); n != 1 {
			t.Errorf("%d rows", n)
		}
		must(t, reader.Rollback())
		_, second := appendRow(t, holder(t, c), "after")
		if got := d.told(); len(got) > 0 {
			t.Errorf("told of %v before it is stable", got)
		}
		disk.land(1)
		must(t, <-second)
		synctest.Wait()
		equal(t, d.told(), []string{"1 after"})
		stop()
		_, third := appendRow(t, holder(t, c), "late")
		disk.land(1)
		must(t, <-third)
		synctest.Wait()
		equal(t, d.told(), []string{"1 after"})
	})
}
