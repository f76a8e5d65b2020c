package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// slowDisk is an engine in memory whose synced writes stay unstable until land, and are
// lost, in part or all, by fail.
type slowDisk struct {
	mu     sync.Mutex
	kv     kv.Engine    // guarded by mu
	epoch  uint64       // guarded by mu
	disk   [][]byte     // guarded by mu: batches on stable storage
	cache  [][]byte     // guarded by mu: batches that are not
	synced []chan error // guarded by mu: who waits for each of cache; nil: nobody
	old    []kv.Engine  // guarded by mu
	direct bool         // guarded by mu: writes are stable at once
}

func (d *slowDisk) now() kv.Engine {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kv
}

func (d *slowDisk) Get(k []byte) ([]byte, error)               { return d.now().Get(k) }
func (d *slowDisk) AppendGet(dst, k []byte) ([]byte, error)    { return d.now().AppendGet(dst, k) }
func (d *slowDisk) Has(k []byte) (bool, error)                 { return d.now().Has(k) }
func (d *slowDisk) Iter(o kv.IterOptions) (kv.Iterator, error) { return d.now().Iter(o) }
func (d *slowDisk) Snapshot() (kv.Snapshot, error)             { return d.now().Snapshot() }
func (d *slowDisk) NewBatch() kv.Batch                         { return d.now().NewBatch() }
func (d *slowDisk) NewIndexedBatch() kv.IndexedBatch           { return d.now().NewIndexedBatch() }
func (d *slowDisk) ApplyRepr(r []byte, sync bool) error        { return errors.ErrUnsupported }
func (d *slowDisk) Checkpoint(string) error                    { return errors.ErrUnsupported }
func (d *slowDisk) Compact(_, _ []byte) error                  { return nil }
func (d *slowDisk) Metrics() kv.Metrics                        { return kv.Metrics{} }

func (d *slowDisk) Epoch() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.epoch
}

func (d *slowDisk) Close() error {
	for _, e := range append(d.old, d.kv) {
		if n := e.Metrics().Snapshots; n > 0 {
			return fmt.Errorf("%d snapshots are open", n)
		}
	}
	return d.now().Close()
}

func (d *slowDisk) Apply(b kv.Batch, sync bool) error {
	wait, err := d.ApplyAsync(b, sync, d.Epoch())
	if err != nil {
		return err
	}
	return wait()
}

func (d *slowDisk) ApplyAsync(b kv.Batch, sync bool, epoch uint64) (func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if epoch != d.epoch {
		return nil, kv.ErrEngineRestarted
	}
	repr := b.Repr()
	if err := d.kv.Apply(b, false); err != nil {
		return nil, err
	}
	if d.direct {
		d.disk = append(d.disk, repr)
		return func() error { return nil }, nil
	}
	d.cache = append(d.cache, repr)
	if !sync {
		d.synced = append(d.synced, nil)
		return func() error { return nil }, nil
	}
	ch := make(chan error, 1)
	d.synced = append(d.synced, ch)
	return func() error { return <-ch }, nil
}

// land makes the first n unstable writes stable.
func (d *slowDisk) land(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n = min(n, len(d.cache))
	for i := range n {
		d.disk = append(d.disk, d.cache[i])
		if d.synced[i] != nil {
			d.synced[i] <- nil
		}
	}
	d.cache, d.synced = d.cache[n:], d.synced[n:]
}

// fail reopens the engine after a sync that failed: only the first n unstable writes are
// found on disk.
func (d *slowDisk) fail(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n = min(n, len(d.cache))
	d.disk = append(d.disk, d.cache[:n]...)
	next := memkv.New()
	for _, r := range d.disk {
		if err := next.ApplyRepr(r, false); err != nil {
			panic(err)
		}
	}
	d.old = append(d.old, d.kv)
	d.kv = next
	d.epoch++
	for _, ch := range d.synced {
		if ch != nil {
			ch <- fmt.Errorf("%w: %w", kv.ErrUnknownOutcome, kv.ErrIO)
		}
	}
	d.cache, d.synced = nil, nil
}

func (d *slowDisk) unstable() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.cache)
}

// onSlowDisk runs f with a catalog that has an empty table "log" with a unique key.
func onSlowDisk(t *testing.T, f func(t *testing.T, d *slowDisk, c *store.Catalog)) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		d := &slowDisk{kv: memkv.New(), direct: true}
		s, err := store.Open(ctx, d, store.Options{})
		must(t, err)
		must(t, s.CreateCatalog(ctx, "lake"))
		c, err := s.Catalog("lake")
		must(t, err)
		tx := begin(c)
		_, err = tx.CreateTable(&rel.Table{
			Schema: store.PublicOID, Name: "log", Columns: cols("n", int8OID, "who", varcharOID),
			Indexes: []rel.Index{{Name: "log_pkey", Columns: []int16{1}, Unique: true, Primary: true}},
		})
		must(t, err)
		must(t, tx.Commit(ctx))
		d.mu.Lock()
		d.direct = false
		d.mu.Unlock()
		f(t, d, c)
		synctest.Wait()
		must(t, s.Close())
	})
}

// holder begins a transaction that has the turn.
func holder(t *testing.T, c *store.Catalog) *store.Txn {
	t.Helper()
	tx := c.Begin(store.TxnOptions{Sync: true})
	must(t, tx.AwaitRetry(context.Background()))
	return tx
}

// count returns the rows of "log" that tx sees.
func count(t *testing.T, tx *store.Txn) int {
	t.Helper()
	must(t, tx.EnsureSnapshot())
	return len(rows(t, tx, mustTable(t, tx, "log"), store.Access{}))
}

// append adds row n as seen by tx and begins to commit.
func appendRow(t *testing.T, tx *store.Txn, who string) (n int, done chan error) {
	t.Helper()
	n = count(t, tx)
	_, err := tx.Insert(mustTable(t, tx, "log"), tuple(n, who))
	must(t, err)
	done = make(chan error, 1)
	go func() {
		tx.Contend(context.Background(), &store.Race{Table: "log"})
		done <- tx.Commit(context.Background())
	}()
	synctest.Wait()
	return n, done
}

// TestPublishBeforeSync: who has the turn builds on a commit that is not on stable storage
// yet. Nobody else sees it, and its author is not told.
func TestPublishBeforeSync(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, d *slowDisk, c *store.Catalog) {
		_, a := appendRow(t, holder(t, c), "a")
		reader := begin(c)
		if n := count(t, reader); n != 0 {
			t.Errorf("a reader sees %d rows that a power failure may take back", n)
		}
		next := holder(t, c)
		if n := count(t, next); n != 1 || !next.Unstable() {
			t.Errorf("who has the turn sees %d rows", n)
		}
		_, b := appendRow(t, next, "b")
		if len(a) > 0 || len(b) > 0 {
			t.Fatal("acknowledged before the sync")
		}
		if d.unstable() != 2 {
			t.Fatalf("%d writes are under way", d.unstable())
		}
		d.land(1)
		synctest.Wait()
		if len(a) != 1 || len(b) > 0 {
			t.Fatal("the first write is stable, the second is not")
		}
		must(t, <-a)
		late := begin(c)
		if n := count(t, late); n != 1 {
			t.Errorf("after the first acknowledgement a reader sees %d rows", n)
		}
		last := holder(t, c)
		if n := count(t, last); n != 2 {
			t.Errorf("who has the turn sees %d rows", n)
		}
		stable := make(chan error, 1)
		go func() { stable <- last.AwaitStable(context.Background()) }()
		synctest.Wait()
		if len(stable) > 0 {
			t.Error("said to be stable too early")
		}
		d.land(1)
		must(t, <-b)
		must(t, <-stable)
		if n := count(t, reader); n != 0 {
			t.Errorf("a reader's view has moved to %d rows", n)
		}
		for _, tx := range []*store.Txn{reader, late, last} {
			must(t, tx.Rollback())
		}
	})
}

// TestStatementsSeeStable: a transaction that has the turn and takes a view for each
// statement takes no second one that is not on stable storage.
func TestStatementsSeeStable(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, d *slowDisk, c *store.Catalog) {
		_, a := appendRow(t, holder(t, c), "a")
		tx := c.Begin(store.TxnOptions{Isolation: store.ReadCommitted})
		must(t, tx.AwaitRetry(context.Background()))
		must(t, tx.NewStatement())
		if n := count(t, tx); n != 1 || !tx.Unstable() {
			t.Fatalf("the first statement sees %d rows", n)
		}
		other := c.Begin(store.TxnOptions{Sync: true})
		_, err := other.Insert(mustTable(t, other, "log"), tuple(100, "b"))
		must(t, err)
		b := make(chan error, 1)
		go func() { b <- other.Commit(context.Background()) }()
		synctest.Wait()
		d.land(1)
		synctest.Wait()
		must(t, <-a)
		must(t, tx.NewStatement())
		if tx.Unstable() {
			t.Error("a later statement reads what a power failure may take back")
		}
		must(t, tx.Rollback())
		d.land(1)
		must(t, <-b)
	})
}

// TestSyncFails: a sync that fails takes all commits after it along, also those built on
// them, and transactions that have seen them cannot commit. What stayed is acknowledged.
func TestSyncFails(t *testing.T) {
	for kept := range 4 {
		t.Run(fmt.Sprint(kept, " kept"), func(t *testing.T) {
			onSlowDisk(t, func(t *testing.T, d *slowDisk, c *store.Catalog) {
				var done []chan error
				for i := range 3 {
					_, ch := appendRow(t, holder(t, c), fmt.Sprint(i))
					done = append(done, ch)
				}
				seen := holder(t, c)
				n := count(t, seen)
				if n != 3 {
					t.Fatalf("%d rows", n)
				}
				_, err := seen.Insert(mustTable(t, seen, "log"), tuple(n, "late"))
				must(t, err)
				d.fail(kept)
				for i, ch := range done {
					err := <-ch
					if ok := i < kept; ok != (err == nil) || errors.Is(err, kv.ErrUnknownOutcome) {
						t.Errorf("commit %d: %v", i, err)
					}
				}
				late := make(chan error, 1)
				go func() { late <- seen.Commit(context.Background()) }()
				synctest.Wait()
				d.land(1)
				want := kept
				if err = <-late; kept == 3 {
					must(t, err) // nothing that it has seen is lost
					want++
				} else if !errors.Is(err, store.ErrSerialization) {
					t.Errorf("commit of who has seen what is lost: %v", err)
				}
				n, ch := appendRow(t, holder(t, c), "after")
				if n != want {
					t.Errorf("%d rows after the failure, want %d", n, want)
				}
				d.land(1)
				must(t, <-ch)
				tx := begin(c)
				if n := count(t, tx); n != want+1 {
					t.Errorf("%d rows in the end", n)
				}
				must(t, tx.Rollback())
			})
		})
	}
}

// TestPipelineHistory: random writers, syncs and failures. What is there is a chain of
// commits without a gap, all acknowledged ones in it, and refused ones not.
func TestPipelineHistory(t *testing.T) {
	for seed := range uint64(40) {
		onSlowDisk(t, func(t *testing.T, d *slowDisk, c *store.Catalog) {
			r := rand.New(rand.NewPCG(seed, 7))
			type commit struct {
				who  string
				done chan error
			}
			var open []*commit
			acked, refused := map[string]bool{}, map[string]bool{}
			settle := func() {
				synctest.Wait()
				kept := open[:0]
				for _, m := range open {
					select {
					case err := <-m.done:
						switch {
						case err == nil:
							acked[m.who] = true
						case errors.Is(err, kv.ErrUnknownOutcome):
							t.Errorf("seed %d: %s: %v", seed, m.who, err)
						default:
							refused[m.who] = true
						}
					default:
						kept = append(kept, m)
					}
				}
				open = kept
			}
			check := func() {
				tx := begin(c)
				defer func() { must(t, tx.Rollback()) }()
				must(t, tx.EnsureSnapshot())
				there := map[string]bool{}
				for i, row := range rows(t, tx, mustTable(t, tx, "log"), store.Access{Index: &mustTable(t, tx, "log").Indexes[0]}) {
					n, who, _ := strings.Cut(row, " ")
					if n != fmt.Sprint(i) {
						t.Fatalf("seed %d: row %d is %s", seed, i, row)
					}
					if refused[who] || there[who] {
						t.Fatalf("seed %d: %s is there, refused %v", seed, who, refused[who])
					}
					there[who] = true
				}
				for who := range acked {
					if !there[who] {
						t.Fatalf("seed %d: %s was acknowledged and is gone", seed, who)
					}
				}
			}
			for step := range 150 {
				switch k := r.IntN(20); {
				case k < 9:
					tx := holder(t, c)
					if r.IntN(4) == 0 {
						o := tx.Options()
						o.Sync = false
						must(t, tx.SetOptions(o))
					}
					who := fmt.Sprint("w", step)
					if !tx.Options().Sync {
						// What is not synced may be lost after it was acknowledged.
						who = fmt.Sprint("u", step)
					}
					_, done := appendRow(t, tx, who)
					if who[0] == 'w' {
						open = append(open, &commit{who, done})
					} else {
						<-done
					}
				case k < 15:
					d.land(r.IntN(4))
				case k < 16:
					d.fail(r.IntN(4))
				default:
					check()
				}
				settle()
			}
			d.land(1000)
			settle()
			check()
			if len(open) > 0 {
				t.Errorf("seed %d: %d commits never ended", seed, len(open))
			}
		})
	}
}

// TestDropIsLost: the engine fails and takes back that a table was dropped. A transaction
// from before that deleted a row which somebody else had changed loses the race all the same:
// what became of the table's rows is not forgotten with the table.
func TestDropIsLost(t *testing.T) {
	onSlowDisk(t, func(t *testing.T, d *slowDisk, c *store.Catalog) {
		_, made := appendRow(t, begin(c), "a")
		d.land(1)
		must(t, <-made)
		old := begin(c)
		must(t, old.EnsureSnapshot())
		log := mustTable(t, old, "log")
		it, err := old.Scan(log, store.Access{})
		must(t, err)
		if !it.Next() {
			t.Fatal("no row")
		}
		id, tup := it.RowID(), slices.Clone(it.Tuple())
		must(t, it.Close())
		must(t, old.Delete(log, id, tup))

		other := begin(c)
		must(t, other.EnsureSnapshot())
		must(t, other.Update(mustTable(t, other, "log"), id, tup, tuple(0, "b")))
		updated := make(chan error, 1)
		go func() { updated <- other.Commit(context.Background()) }()
		synctest.Wait()
		d.land(1)
		must(t, <-updated)
		dropper := begin(c)
		must(t, dropper.EnsureSnapshot())
		must(t, dropper.DropTable(log.OID))
		dropped := make(chan error, 1)
		go func() { dropped <- dropper.Commit(context.Background()) }()
		synctest.Wait()
		d.fail(0)
		if err := <-dropped; err == nil {
			t.Fatal("the table is said to be dropped")
		}

		late := make(chan error, 1)
		go func() { late <- old.Commit(context.Background()) }()
		synctest.Wait()
		d.land(1)
		if err := <-late; !errors.Is(err, store.ErrSerialization) {
			t.Errorf("a row that somebody else has changed was deleted: %v", err)
		}
	})
}
