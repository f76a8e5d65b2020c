package store

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
)

// applied is one batch as an engine got it.
type applied struct {
	sync bool
	size int
}

// gate is an engine that counts what is applied, and holds it up while it is shut.
type gate struct {
	kv.Engine
	mu      sync.Mutex
	applied []applied
	shut    chan struct{} // guarded by mu: nil while the gate is open
	held    chan struct{} // gets a value when a batch stands at the gate
	done    func()        // called when all commits have ended, before the store closes
}

func (g *gate) ApplyAsync(b kv.Batch, sync bool, epoch uint64) (func() error, error) {
	g.mu.Lock()
	shut := g.shut
	g.applied = append(g.applied, applied{sync, b.Count()})
	g.mu.Unlock()
	if shut != nil {
		g.held <- struct{}{}
		<-shut
	}
	return g.Engine.ApplyAsync(b, sync, epoch)
}

// logSyncs is a file system that counts syncs of write-ahead logs.
type logSyncs struct {
	vfs.FS
	mu sync.Mutex
	n  int
}

func (f *logSyncs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err != nil || !strings.HasSuffix(name, ".log") {
		return file, err
	}
	return syncCounter{file, f}, nil
}

func (f *logSyncs) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func (f *logSyncs) add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
}

type syncCounter struct {
	vfs.File
	fs *logSyncs
}

func (s syncCounter) Sync() error     { s.fs.add(); return s.File.Sync() }
func (s syncCounter) SyncData() error { s.fs.add(); return s.File.SyncData() }

func (s syncCounter) SyncTo(n int64) (bool, error) {
	s.fs.add()
	return s.File.SyncTo(n)
}

// groupCommit begins n commits while the one before them stands at the gate, opens it, and
// returns what was applied since: that one first. waiting returns when n commits wait.
func groupCommit(t *testing.T, g *gate, n int, o Options, waiting func(c *Catalog, n int)) []applied {
	t.Helper()
	ctx := context.Background()
	s, err := Open(ctx, g, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.CreateCatalog(ctx, "lake"); err != nil {
		t.Fatal(err)
	}
	c, err := s.Catalog("lake")
	if err != nil {
		t.Fatal(err)
	}
	var commits sync.WaitGroup
	commit := func(i int) {
		commits.Go(func() {
			tx := c.Begin(TxnOptions{Sync: true})
			_, err := tx.CreateTable(&rel.Table{Schema: PublicOID, Name: fmt.Sprint("t", i), Columns: []rel.Column{{Name: "a", Type: 20, Mod: -1}}})
			if err == nil {
				err = tx.Commit(ctx)
			}
			if err != nil {
				t.Errorf("commit %d: %v", i, err)
			}
		})
	}
	g.mu.Lock()
	g.applied, g.shut, g.held = nil, make(chan struct{}), make(chan struct{}, 1)
	g.mu.Unlock()
	commit(0)
	<-g.held
	for i := range n {
		commit(1 + i)
	}
	waiting(c, n)
	g.mu.Lock()
	shut := g.shut
	g.shut = nil
	g.mu.Unlock()
	close(shut)
	commits.Wait()
	if g.done != nil {
		g.done()
	}
	tx := c.Begin(TxnOptions{})
	defer tx.Rollback()
	for i := range n + 1 {
		if _, ok := tx.TableByName(PublicOID, fmt.Sprint("t", i)); !ok {
			t.Errorf("commit %d is not there", i)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.applied
}

// TestGroupCommit: commits that come while another is being written are written together:
// as one batch with one sync, as far as a group's bound allows.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		n, group int
		batches  int // besides that of the first commit
	}{
		{"one batch", 40, 0, 1},
		{"bounded", 40, 16, 3},
		{"alone", 1, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got := groupCommit(t, &gate{Engine: memkv.New()}, c.n, Options{MaxGroup: c.group}, func(*Catalog, int) { synctest.Wait() })
				if len(got) != 1+c.batches {
					t.Fatalf("%d commits took %d batches, want 1 and %d: %v", 1+c.n, len(got), c.batches, got)
				}
				for _, b := range got {
					if !b.sync {
						t.Errorf("a batch was not synced: %v", got)
					}
				}
			})
		})
	}
}

// TestGroupCommitSyncs: the same on files. A group costs one sync of the log.
func TestGroupCommitSyncs(t *testing.T) {
	t.Parallel()
	const n = 40
	fs := &logSyncs{FS: vfs.NewMem()}
	e, err := pebblekv.Open("data", pebblekv.Options{FS: fs, CacheBytes: 1 << 20, BallastBytes: -1, ReserveBytes: -1, NoBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	var before, after int
	g := &gate{Engine: e, done: func() { after = fs.count() }}
	got := groupCommit(t, g, n, Options{}, func(c *Catalog, n int) {
		for waits := 0; waits < n; { // the goroutines need nothing but time to get there
			c.queue.mu.Lock()
			waits = len(c.queue.waiting)
			c.queue.mu.Unlock()
			runtime.Gosched()
		}
		before = fs.count()
	})
	if len(got) != 2 {
		t.Fatalf("%d commits took %d batches, want 2: %v", 1+n, len(got), got)
	}
	// The first commit's, which was held up before it, and the group's.
	if syncs := after - before; syncs < 1 || syncs > 2 {
		t.Errorf("%d commits in two batches took %d syncs of the log, want 2 at most", 1+n, syncs)
	}
}
