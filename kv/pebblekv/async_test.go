package pebblekv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/pebblekv"
)

// async begins a write of one key.
func async(t testing.TB, e *pebblekv.Engine, n int, epoch uint64) (kv.Batch, func() error, error) {
	t.Helper()
	b := e.NewBatch()
	must(t, b.Set(fmt.Appendf(nil, "k%03d", n), []byte("v")))
	wait, err := e.ApplyAsync(b, true, epoch)
	return b, wait, err
}

// prefix returns how many of k000, k001 … are there, and fails if one is behind a gap.
func prefix(t testing.TB, e kv.Engine, of int) int {
	t.Helper()
	n := 0
	for n < of && get(t, e, fmt.Sprintf("k%03d", n)) != "-" {
		n++
	}
	for i := n; i < of; i++ {
		if get(t, e, fmt.Sprintf("k%03d", i)) != "-" {
			t.Fatalf("k%03d is there, k%03d is not", i, n)
		}
	}
	return n
}

// After a crash, the writes that somebody has waited for are there, and all before them,
// waited for or not.
func TestAsyncCrash(t *testing.T) {
	const writes = 60
	fs := vfs.NewCrashableMem()
	o := small()
	o.FS, o.MemTableBytes = fs, 64<<10
	e := open(t, "data", o)
	var batches []kv.Batch
	type crash struct {
		fs     *vfs.MemFS
		waited int
	}
	var crashes []crash
	waited := 0
	for n := range writes {
		b, wait, err := async(t, e, n, e.Epoch())
		must(t, err)
		batches = append(batches, b)
		if n%7 == 6 {
			must(t, wait())
			waited = n + 1
		} else {
			defer func() { must(t, wait()) }()
		}
		crashes = append(crashes, crash{fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: n * 37 % 101, RNG: rand.New(rand.NewPCG(1, uint64(n)))}), waited})
	}
	for n, c := range crashes {
		o.FS = c.fs
		e := open(t, "data", o)
		if got := prefix(t, e, writes); got < c.waited || got > n+1 {
			t.Errorf("crash after %d writes, %d of them waited for: %d are there", n+1, c.waited, got)
		}
		must(t, e.Close())
	}
	t.Cleanup(func() {
		for _, b := range batches {
			must(t, b.Close())
		}
		must(t, e.Close())
	})
}

// When a sync fails, every write since the last good one is in doubt; what is there
// afterwards is a prefix of them, and nothing can be added in the old epoch.
func TestAsyncSyncFails(t *testing.T) {
	d, fs := newFullDisk()
	o := small()
	o.FS, o.BallastBytes, o.Clock = fs, -1, clock()
	e := open(t, "data", o)
	defer func() { must(t, e.Close()) }()
	for range 5 {
		start := prefix(t, e, 900)
		epoch := e.Epoch()
		d.fail(func(op errorfs.Op) bool {
			switch op.Kind {
			case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
				return strings.HasSuffix(op.Path, ".log")
			}
			return false
		})
		unknown := 0
		for n := start; n < start+5; n++ {
			b, wait, err := async(t, e, n, epoch)
			if err == nil {
				err = wait()
			}
			switch {
			case errors.Is(err, kv.ErrUnknownOutcome):
				unknown++
			case !errors.Is(err, kv.ErrEngineRestarted) && !errors.Is(err, kv.ErrDiskFull):
				t.Fatalf("write %d: %v", n, err)
			}
			must(t, b.Close())
		}
		d.fail(nil)
		if unknown == 0 || e.Epoch() == epoch {
			t.Fatalf("%d writes in doubt, epoch %d after %d", unknown, e.Epoch(), epoch)
		}
		if got := prefix(t, e, 900); got < start || got > start+unknown {
			t.Fatalf("%d keys of %d to %d", got, start, start+unknown)
		}
		b, _, err := async(t, e, 950, epoch)
		must(t, b.Close())
		if !errors.Is(err, kv.ErrEngineRestarted) {
			t.Fatalf("write in an ended epoch: %v", err)
		}
		if get(t, e, "k950") != "-" {
			t.Fatal("a refused write is there")
		}
	}
}
