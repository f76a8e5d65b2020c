package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/storm"
)

// TestKillRaw kills the server with SIGKILL while connections commit batches as fast as they can. After each restart every acknowledged commit is
// there exactly once under the snapshot that its writer was told; what was not acknowledged is there as a whole or not at all, and only if its
// COMMIT was sent.
func TestKillRaw(t *testing.T) {
	stormTargets(t)
	s := privateEider(t, "--admin-listen", "")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	const db = "storm"
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	table := rawLake(ctx, t, s.DSN(db), t.TempDir())
	r := rand.New(rand.NewPCG(newSeed(t), 0))
	const conns = 16
	next := make([]int64, conns)
	var mu sync.Mutex
	acked, inDoubt := map[int64]int64{}, map[int64]bool{}
	for kill := range times(30, 8) {
		var wg sync.WaitGroup
		warm := make(chan struct{}, conns)
		for w := range conns {
			wg.Add(1)
			go func() {
				defer wg.Done()
				c, err := storm.OpenRaw(ctx, s.DSN(db), table)
				if err != nil {
					t.Errorf("connection %d: %v", w, err)
					warm <- struct{}{}
					return
				}
				defer c.Close(ctx)
				for n := 0; ; n++ {
					if n == 1 {
						warm <- struct{}{}
					}
					v := int64(w)*1_000_000 + next[w]
					next[w]++
					_, snap, err := c.Commit(ctx, v)
					mu.Lock()
					if err == nil {
						acked[snap] = v
					} else if errors.Is(err, storm.ErrInDoubt) {
						inDoubt[v] = true
					}
					mu.Unlock()
					if err != nil {
						if n == 0 {
							warm <- struct{}{}
						}
						return
					}
				}
			}()
		}
		for range conns {
			<-warm
		}
		time.Sleep(time.Duration(r.IntN(80)) * time.Millisecond) // when the kill comes is left to chance on purpose
		s.Kill()
		wg.Wait()
		if err := s.Launch(ctx); err != nil {
			t.Fatalf("after kill %d: %v", kill+1, err)
		}
		if err := storm.CheckRaw(ctx, connect(ctx, t, s.DSN(db)), table, acked, inDoubt, true); err != nil {
			t.Fatalf("after kill %d:\n%v", kill+1, err)
		}
	}
	t.Logf("%d acknowledged commits, %d in doubt", len(acked), len(inDoubt))
	if err := healthy(ctx, s, db); err != nil {
		t.Error(err)
	}
}

// TestKillStorm kills the server while DuckDBs insert, update, delete, create and drop, and maintenance runs. The clients find out what became of
// the operation that was cut off, and go on after the restart with the DuckDB that they have.
func TestKillStorm(t *testing.T) {
	stormTargets(t)
	s := privateEider(t, "--admin-listen", "")
	kills := times(20, 5)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	const db = "storm"
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	x, err := storm.NewWorld(ctx, s.DSN(db), t.TempDir(), newSeed(t), 2)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{x, s, db}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range 6 {
		c, err := x.NewClient(ctx, n, storm.DML.Plus(storm.DDL), false)
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer c.Close()
			w.survive(ctx, c, stop)
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		w.maintainThrough(ctx, stop)
	}()
	r := rand.New(rand.NewPCG(x.Seed, 5))
	for kill := range kills {
		before := x.Model.Len()
		time.Sleep(time.Duration(200+r.IntN(1200)) * time.Millisecond) // when the kill comes is left to chance on purpose
		s.Kill()
		if err := s.Launch(ctx); err != nil {
			t.Fatalf("after kill %d: %v", kill+1, err)
		}
		if err := w.until(ctx, func() bool { return x.Model.Len() > before+6 }); err != nil {
			t.Errorf("after kill %d the clients do not go on: %v", kill+1, err)
			break
		}
	}
	close(stop)
	wg.Wait()
	w.judge(ctx, t, 10)
}

// until waits for a condition, half a minute at most.
func (x *world) until(ctx context.Context, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// survive lets a client work until stop, through restarts of the server.
func (x *world) survive(ctx context.Context, c *storm.Client, stop <-chan struct{}) {
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		default:
		}
		var err error
		switch n % 10 {
		case 4:
			err = c.ReadOwn(ctx)
		case 9:
			err = c.ReadAll(ctx)
		default:
			err = c.Step(ctx)
		}
		if !errors.Is(err, storm.ErrLost) {
			continue
		}
		err = x.until(ctx, func() bool {
			_, err := c.Session().Query(ctx, "SELECT id FROM lake.current_snapshot()")
			return err == nil
		})
		if err == nil {
			err = c.Settle(ctx)
		}
		if err != nil {
			x.Problem("writer %d after a restart: %v", c.Num, err)
			return
		}
	}
}

// maintainThrough makes maintenance calls until stop, through restarts of the server.
func (x *world) maintainThrough(ctx context.Context, stop <-chan struct{}) {
	w, err := storm.OpenWriter(ctx, x.DSN, x.Data)
	if err != nil {
		x.Problem("maintenance: %v", err)
		return
	}
	defer w.Close()
	r := rand.New(rand.NewPCG(x.Seed, 1000))
	calls := []string{callMerge, callRewrite, callFlush}
	for {
		x.Maintain(ctx, w, calls[r.IntN(len(calls))])
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(r.IntN(200)) * time.Millisecond):
		}
	}
}
