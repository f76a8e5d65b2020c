package pebblekv_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/pebblekv"
)

// fullDisk is a memory file system on which writing operations fail with ENOSPC when the
// function says so.
type fullDisk struct {
	*vfs.MemFS
	fails atomic.Pointer[func(op errorfs.Op) bool]
	hits  atomic.Int64
}

func newFullDisk() (*fullDisk, vfs.FS) {
	d := &fullDisk{MemFS: vfs.NewMem()}
	return d, errorfs.Wrap(d.MemFS, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if f := d.fails.Load(); f != nil && (*f)(op) {
			d.hits.Add(1)
			return fmt.Errorf("write %s: %w", op.Path, syscall.ENOSPC)
		}
		return nil
	}))
}

func (d *fullDisk) fail(f func(op errorfs.Op) bool) {
	if f == nil {
		d.fails.Store(nil)
		return
	}
	d.fails.Store(&f)
}

func writes(op errorfs.Op) bool {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileWriteAt, errorfs.OpFileSync, errorfs.OpFileSyncData,
		errorfs.OpFileSyncTo, errorfs.OpFilePreallocate, errorfs.OpReuseForWrite:
		return true
	}
	return false
}

func logWrites(op errorfs.Op) bool { return writes(op) && strings.HasSuffix(op.Path, ".log") }

// clock advances by a second at every look, so that nothing waits.
func clock() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return time.Unix(n.Add(1), 0) }
}

// The ballast absorbs the first ENOSPC: the commit that hit it succeeds, the next ones
// are refused, and when there is space again they succeed.
func TestDiskFullBallast(t *testing.T) {
	d, fs := newFullDisk()
	o := small()
	o.FS, o.Clock = fs, clock()
	e := open(t, "data", o)
	defer func() { must(t, e.Close()) }()
	must(t, set(e, "a", "1"))
	exists := func(name string) bool { _, err := d.Stat("data/" + name); return err == nil }
	if !exists("EIDER_BALLAST") {
		t.Fatal("no ballast file")
	}
	// The disk is full for as long as the ballast is there, and too full for a new one.
	d.fail(func(op errorfs.Op) bool {
		return writes(op) && (exists("EIDER_BALLAST") || strings.HasSuffix(op.Path, "EIDER_BALLAST"))
	})
	must(t, set(e, "b", "2"))
	if exists("EIDER_BALLAST") {
		t.Fatal("ballast is still there")
	}
	for range 3 {
		if err := set(e, "c", "3"); !errors.Is(err, kv.ErrDiskFull) || errors.Is(err, kv.ErrUnknownOutcome) {
			t.Fatalf("write on a full disk: %v", err)
		}
	}
	if get(t, e, "a")+get(t, e, "b")+get(t, e, "c") != "12-" {
		t.Fatal("data is wrong while full")
	}
	if m := e.Metrics(); !m.DiskFull || m.DiskFullRefusals != 3 || m.Restarts != 0 {
		t.Fatalf("metrics %+v", m)
	}
	d.fail(nil)
	must(t, set(e, "c", "3"))
	if !exists("EIDER_BALLAST") || e.Metrics().DiskFull {
		t.Fatal("did not recover")
	}
}

// Free space below the reserve refuses writes before anything is tried.
func TestDiskFullReserve(t *testing.T) {
	d, fs := newFullDisk()
	o := small()
	o.FS, o.ReserveBytes = fs, 1<<20
	e := open(t, "data", o)
	defer func() { must(t, e.Close()) }()
	usage := func(avail uint64) {
		d.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: avail, TotalBytes: 1 << 30})
	}
	usage(100 << 20)
	must(t, set(e, "a", "1"))
	usage(1 << 19)
	if err := set(e, "b", "2"); !errors.Is(err, kv.ErrDiskFull) {
		t.Fatal(err)
	}
	// Room for the reserve but not for a lasting recovery.
	usage(1<<20 + 1<<12)
	if err := set(e, "b", "2"); !errors.Is(err, kv.ErrDiskFull) {
		t.Fatal(err)
	}
	usage(100 << 20)
	must(t, set(e, "b", "2"))
}

// Without ballast the log write fails inside Pebble. Wherever it fails, the commit fails
// cleanly, everything acknowledged stays, reads go on, and writes work when there is space.
func TestDiskFullRestart(t *testing.T) {
	for name, failing := range map[string]func(errorfs.Op) bool{
		"log":        logWrites,
		"everything": writes,
		"log sync": func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, fs := newFullDisk()
			o := small()
			o.FS, o.BallastBytes, o.Clock = fs, -1, clock()
			e := open(t, "data", o)
			acknowledged := map[string]string{}
			write := func(k, v string) error {
				err := set(e, k, v)
				switch {
				case err == nil:
					acknowledged[k] = v
				case errors.Is(err, kv.ErrUnknownOutcome):
					if got := get(t, e, k); got == v {
						acknowledged[k] = v
					}
				}
				return err
			}
			check := func() {
				t.Helper()
				for k, v := range acknowledged {
					if got := get(t, e, k); got != v {
						t.Fatalf("%s = %s, want %s", k, got, v)
					}
				}
			}
			for round := range 5 {
				must(t, write("a", fmt.Sprint(round)))
				old, err := e.Snapshot()
				must(t, err)
				epoch := e.Epoch()
				d.fail(failing)
				for i := range 3 {
					if err := write("b", fmt.Sprint(round, i)); !errors.Is(err, kv.ErrDiskFull) {
						t.Fatalf("write on a full disk: %v", err)
					}
					check()
				}
				if e.Epoch() == epoch {
					t.Fatal("epoch did not change")
				}
				if _, err := old.Get([]byte("a")); !errors.Is(err, kv.ErrEngineRestarted) {
					t.Fatalf("snapshot of the failed instance: %v", err)
				}
				must(t, old.Close())
				d.fail(nil)
				must(t, write("c", fmt.Sprint(round)))
				check()
			}
			if d.hits.Load() == 0 {
				t.Fatal("nothing failed")
			}
			must(t, e.Close())
			o.FS = d.MemFS
			e = open(t, "data", o)
			check()
			must(t, e.Close())
		})
	}
}

var _ kv.Engine = (*pebblekv.Engine)(nil)
