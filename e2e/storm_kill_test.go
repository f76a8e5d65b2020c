package e2e

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/storm"
)

// TestKillRaw kills the server with SIGKILL while connections commit batches as fast as they can. After each restart every acknowledged commit is
// there exactly once under the snapshot that its writer was told; what was not acknowledged is there as a whole or not at all, and only if its
// COMMIT was sent.
func TestKillRaw(t *testing.T) {
	stormTargets(t)
	s := privateEider(t)
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
	s := privateEider(t)
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
	w := &world{World: x, target: s, most: attempts(ctx, t, s), db: db, files: fileKeeper{data: x.Data, shadow: t.TempDir()}}
	x.Processes = true
	x.Watch = true
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
	keeper, err := x.NewClient(ctx, 100, storm.DML, false)
	if err != nil {
		t.Fatal(err)
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer keeper.Close()
		w.maintainThrough(ctx, keeper, stop)
	}()
	r := rand.New(rand.NewPCG(x.Seed, 5))
	for kill := range kills {
		before := x.Model.Len()
		time.Sleep(time.Duration(200+r.IntN(1200)) * time.Millisecond) // when the kill comes is left to chance on purpose
		if err := w.files.keep(); err != nil {
			t.Fatal(err)
		}
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
	t.Logf("%d DuckDBs did not survive a kill", w.replaced.Load())
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

// deadConnections is how many broken connections a DuckDB may find in its pool before it has a new one.
const deadConnections = 8

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
		failed := 0
		err = x.until(ctx, func() bool {
			_, err := c.Session().Query(ctx, "SELECT id FROM lake.current_snapshot()")
			if err != nil && x.up() {
				failed++
			}
			if failed > deadConnections { // the DuckDB has not survived it
				failed = 0
				x.replaced.Add(1)
				err = c.Reopen(ctx)
			}
			return err == nil
		})
		if err == nil {
			err = c.Settle(ctx)
		}
		if err == nil {
			err = x.files.restore()
		}
		if err != nil {
			x.Problem("writer %d after a restart: %v", c.Num, err)
			return
		}
	}
}

// up says whether the server answers.
func (x *world) up() bool {
	c, err := pgconn.Connect(context.Background(), x.DSN)
	if err != nil {
		return false
	}
	_, err = c.Exec(context.Background(), "SELECT 1").ReadAll()
	_ = c.Close(context.Background())
	return err == nil
}

// fileKeeper keeps second names of a lake's files. A DuckDB that gets no answer to its COMMIT takes the commit for failed and removes the files that
// it wrote for it, though the commit may have landed: then the lake names files that are gone. No server can keep it from that, so the test undoes it.
type fileKeeper struct {
	data, shadow string
	mu           sync.Mutex
}

// keep gives every file of the lake its second name.
func (k *fileKeeper) keep() error { return k.link(k.data, k.shadow) }

// restore brings back the files that are gone.
func (k *fileKeeper) restore() error { return k.link(k.shadow, k.data) }

// link gives each file under one folder the same name under another, unless it has it.
func (k *fileKeeper) link(from, to string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed while we looked
			}
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		err = os.Link(path, filepath.Join(to, rel))
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// maintainThrough makes maintenance calls until stop, through restarts of the server.
func (x *world) maintainThrough(ctx context.Context, c *storm.Client, stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(x.Seed, 1000))
	calls := []string{callMerge, callRewrite, callFlush}
	for {
		if err := x.Maintain(ctx, c.Session(), calls[r.IntN(len(calls))]); err != nil {
			if err := x.until(ctx, func() bool { return x.files.restore() == nil && c.Reopen(ctx) == nil }); err != nil {
				x.Problem("maintenance after a restart: %v", err)
				return
			}
		}
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(r.IntN(200)) * time.Millisecond):
		}
	}
}
