package e2e

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/storm"
)

var (
	soakFlag  = flag.Duration("soak", 0, "length of each random workload, instead of a few seconds each")
	seedFlag  = flag.Uint64("seed", 0, "seed of the random workloads; 0 takes a new one")
	stormFull = flag.Bool("storm-full", false, "run the storms in their full size, on PostgreSQL too")
)

// newSeed is the seed of a random test. It is printed, and -seed repeats it.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64() >> 40
	}
	t.Logf("seed %d (repeat with -args -seed %d)", seed, seed)
	return seed
}

// stormTargets are the servers that storms run on: eider, and PostgreSQL as well when it was asked for, because there most of them fail some time.
func stormTargets(t *testing.T) []script.Target {
	t.Helper()
	if testing.Short() {
		t.Skip("storms are long; they run without -short")
	}
	if *targetFlag == "pg" || *stormFull {
		return targets(t)
	}
	return []script.Target{needEider(t)}
}

// workload is a random workload: what runs, how many at once, how long.
type workload struct {
	writers     int
	tables      int
	weights     storm.Weights
	maintenance []string // calls that run beside the writers, chosen at random
	alone       bool     // the writers make the calls themselves, between their operations
	time        time.Duration
}

const (
	callMerge   = "CALL ducklake_merge_adjacent_files('lake')"
	callRewrite = "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.05)"
	callFlush   = "CALL ducklake_flush_inlined_data('lake')"
	// What is expired and removed is older than any transaction of the workload; younger snapshots are the collector's own subject.
	callExpire  = "CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL '15 seconds')"
	callCleanup = "CALL ducklake_cleanup_old_files('lake', older_than => now() - INTERVAL '20 seconds')"
)

// S0: one writer, everything but flush, which has faults of the client's own that need no second writer.
func TestS0(t *testing.T) {
	runWorkload(t, workload{writers: 1, tables: 2, weights: storm.DML.Plus(storm.DDL), maintenance: []string{callMerge, callRewrite}, alone: true, time: 8 * time.Second})
}

// S1: inserts, deletes, updates and DDL of four writers, without maintenance.
func TestS1(t *testing.T) {
	runWorkload(t, workload{writers: 4, tables: 2, weights: storm.DML.Plus(storm.DDL), time: 12 * time.Second})
}

// Everything at once: eight writers with merges, rewrites, flushes, expiry and cleanup beside them.
func TestEverythingAtOnce(t *testing.T) {
	runWorkload(t, workload{
		writers: 8, tables: 3, weights: storm.DML.Plus(storm.DDL).Plus(storm.Weights{storm.AddColumn: 1}), time: 30 * time.Second,
		maintenance: []string{callMerge, callRewrite, callFlush, callFlush, callExpire, callCleanup},
	})
}

// Sixteen writers, one table.
func TestSixteenOnOneTable(t *testing.T) {
	runWorkload(t, workload{writers: 16, tables: 1, weights: storm.DML, time: 10 * time.Second, maintenance: []string{callMerge, callRewrite, callFlush}})
}

func runWorkload(t *testing.T, wl workload) {
	if *soakFlag > 0 {
		wl.time = *soakFlag
	}
	ctx, cancel := context.WithTimeout(context.Background(), wl.time+4*time.Minute)
	defer cancel()
	list := stormTargets(t)
	for _, target := range list {
		t.Run(target.Name(), func(t *testing.T) {
			seed := newSeed(t)
			x := newWorld(ctx, t, target, seed, wl.tables)
			x.run(ctx, t, wl)
			x.judge(ctx, t, 8)
		})
	}
}

// world is a storm.World on a server.
type world struct {
	*storm.World
	target script.Target
	most   func() int // attempts for one commit
	db     string

	files    fileKeeper   // of tests that kill
	replaced atomic.Int64 // clients that had to be started again after a kill
}

func newWorld(ctx context.Context, t *testing.T, target script.Target, seed uint64, tables int) *world {
	t.Helper()
	return newWorldIn(ctx, t, target, seed, tables, t.TempDir())
}

// newWorldIn takes the folder of the lake's files.
func newWorldIn(ctx context.Context, t *testing.T, target script.Target, seed uint64, tables int, data string) *world {
	t.Helper()
	db := newDatabase()
	if err := target.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.DropDatabase(context.Background(), db) })
	x, err := storm.NewWorld(ctx, target.DSN(db), data, seed, tables)
	if err != nil {
		t.Fatal(err)
	}
	return &world{World: x, target: target, most: attempts(ctx, t, target), db: db}
}

// run lets the writers and the maintenance work until the time is over.
func (x *world) run(ctx context.Context, t *testing.T, wl workload) {
	t.Helper()
	clients := make([]*storm.Client, wl.writers)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.Close()
			}
		}
	}()
	for w := range clients {
		var err error
		if clients[w], err = x.NewClient(ctx, w, wl.weights, true); err != nil {
			t.Fatal(err)
		}
	}
	x.Watch = true
	end := time.Now().Add(wl.time)
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 1; time.Now().Before(end); n++ {
				var err error
				switch {
				case wl.alone && n%12 == 0:
					err = x.Maintain(ctx, c.Session(), wl.maintenance[c.Plan.IntN(len(wl.maintenance))])
				case n%97 == 0:
					err = c.Reopen(ctx)
				case n%10 == 4:
					err = c.ReadOwn(ctx)
				case n%10 == 9:
					err = c.ReadAll(ctx)
				default:
					err = c.Step(ctx)
				}
				if err != nil {
					x.Problem("writer %d: %v", c.Num, err)
					return
				}
			}
		}()
	}
	if len(wl.maintenance) > 0 && !wl.alone {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := x.maintain(ctx, wl.maintenance, end); err != nil {
				x.Problem("maintenance: %v", err)
			}
		}()
	}
	wg.Wait()
}

// maintain makes calls at random until the time is over.
func (x *world) maintain(ctx context.Context, calls []string, end time.Time) error {
	w, err := storm.OpenWriter(ctx, x.DSN, x.Data)
	if err != nil {
		return err
	}
	defer w.Close()
	r := rand.New(rand.NewPCG(x.Seed, 1000))
	for time.Now().Before(end) {
		if err := x.Maintain(ctx, w, calls[r.IntN(len(calls))]); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond): // leaves the writers some peace
		}
	}
	return nil
}

// judge fails the test for everything that is wrong with the lake afterwards.
func (x *world) judge(ctx context.Context, t *testing.T, samples int) {
	t.Helper()
	eider := x.target.Name() == "eider"
	problems := x.Finish(ctx, samples, eider)
	s := x.Stats()
	t.Logf("%s", s)
	for i, p := range problems {
		if i == 25 {
			t.Errorf("and %d more", len(problems)-i)
			break
		}
		t.Errorf("%s", p)
	}
	if eider {
		for text, n := range s.ReadErrors {
			t.Errorf("%d reads were answered with %s", n, text)
		}
		if most := s.MostAttempts(); most > x.most() {
			t.Errorf("a commit took %d attempts: %v", most, s.Attempts)
		}
	}
	if err := healthy(ctx, x.target, x.db); err != nil {
		t.Error(err)
	}
}
