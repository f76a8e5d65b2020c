package pebblekv

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/eiderdb/eider/kv"
)

// instance is one opening of the Pebble database. An engine has one at a time; after a
// failed write another one takes over, and the old one lives on, fenced off, until
// its last reader has gone.
type instance struct {
	e        *Engine
	db       *pebble.DB
	fence    *fence
	readOnly bool
	epoch    uint64 // of the engine, while this is its instance
	// failed is set when a write failed: nothing more may be written, and what reads show
	// may never have reached the disk.
	failed atomic.Bool
	// wedged is set with failed when locks of Pebble's may be held for ever: then nothing
	// that takes them may be called, and the database is not closed but left behind.
	wedged atomic.Bool
	sched  *scheduler
	// broken is closed after failed is set.
	broken chan struct{}
	once   sync.Once
	// entry is a lock with one holder: who enters Pebble's commit pipeline. A failed write may
	// leave locks held in there, and whoever waits here for the entry can turn to the next
	// instance then. The wait for the sync is outside.
	entry chan struct{}
	// refs counts the engine's own reference and every reader. The database is closed when
	// it reaches zero; it never rises from there.
	refs atomic.Int64
	// unsynced counts the commits on their way to stable storage.
	unsynced atomic.Int64
	closed   chan struct{} // closed after the database is
	err      error         // of closing; written before closed is closed
}

// fatal is what the logger panics with when Pebble gives a commit up.
type fatal struct{ msg string }

// openInstance opens the database.
func (e *Engine) openInstance(readOnly bool) (*instance, error) {
	i := &instance{e: e, fence: newFence(e.fs), readOnly: readOnly, closed: make(chan struct{}), broken: make(chan struct{}), entry: make(chan struct{}, 1)}
	i.refs.Store(1)
	o := &pebble.Options{
		FS:                          i.fence,
		Cache:                       e.cache,
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		MemTableSize:                e.opts.MemTableBytes,
		MemTableStopWritesThreshold: 4,
		MaxOpenFiles:                e.opts.MaxOpenFiles,
		WALMinSyncInterval:          i.spacing,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               64 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      i,
		ReadOnly:                    readOnly,
		DisableAutomaticCompactions: e.opts.NoBackground,
		EventListener: &pebble.EventListener{
			BackgroundError: i.backgroundError,
			WriteStallBegin: func(pebble.WriteStallBeginInfo) { e.stalls.Add(1) },
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				e.opts.Logger.Error("pebble: data corruption", "path", info.Path, "details", info.Details)
			},
		},
	}
	i.sched = new(scheduler)
	o.Experimental.CompactionScheduler = i.sched
	for l := range o.Levels {
		o.Levels[l] = pebble.LevelOptions{
			BlockSize:      16 << 10,
			IndexBlockSize: 64 << 10,
			FilterPolicy:   bloom.FilterPolicy(10),
			FilterType:     pebble.TableFilter,
			Compression:    func() *sstable.CompressionProfile { return sstable.SnappyCompression },
		}
	}
	db, err := pebble.Open(e.dir, o)
	if err != nil {
		return nil, err
	}
	i.db = db
	i.sched.open()
	return i, nil
}

// acquire takes a reference, unless the instance is closed already.
func (i *instance) acquire() bool {
	for {
		n := i.refs.Load()
		if n <= 0 {
			return false
		}
		if i.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives a reference back; the last one closes the database.
func (i *instance) release() {
	if i.refs.Add(-1) > 0 {
		return
	}
	if !i.fence.raised.Load() {
		i.close()
		return
	}
	if i.wedged.Load() {
		go i.close() // as far as it gets
		return
	}
	// Closing waits for what still runs in there, which whoever releases need not.
	i.e.retiring.Go(i.close)
}

func (i *instance) close() {
	defer close(i.closed)
	defer func() {
		if p := recover(); p != nil {
			i.err = fmt.Errorf("pebblekv: close: %v", p)
		}
	}()
	if i.wedged.Load() {
		i.sched.Unregister()
		return
	}
	err := i.db.Close()
	if i.fence.raised.Load() {
		return // it could not write what Close wants to
	}
	i.err = mapped("close", err)
}

// wedge abandons an instance that may have left locks held.
func (i *instance) wedge() {
	i.wedged.Store(true)
	i.abandon()
}

// abandon keeps the instance from writing anything more.
func (i *instance) abandon() {
	i.failed.Store(true)
	i.fence.raised.Store(true)
	i.once.Do(func() { close(i.broken) })
}

func (i *instance) backgroundError(err error) {
	if i.fence.raised.Load() {
		return
	}
	i.e.backgroundErrors.Add(1)
	if isDiskFull(err) {
		i.e.low.Store(true)
	}
	i.e.opts.Logger.Warn("pebble: background error", "error", err)
}

// Infof implements pebble.Logger.
func (i *instance) Infof(format string, args ...any) {
	if i.e.opts.Logger.Enabled(i.e.background, slog.LevelDebug) {
		i.e.opts.Logger.Debug("pebble: " + fmt.Sprintf(format, args...))
	}
}

// Errorf implements pebble.Logger.
func (i *instance) Errorf(format string, args ...any) {
	if !i.fence.raised.Load() {
		i.e.opts.Logger.Error("pebble: " + fmt.Sprintf(format, args...))
	}
}

// Fatalf implements pebble.Logger. Pebble calls it where it expects the process to end:
// the commit pipeline is unusable, or the MANIFEST could not be written. The instance is
// fenced off instead, so no half-done work goes on, and its successor finds on disk
// what a new process would find.
func (i *instance) Fatalf(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if !i.fence.raised.Load() {
		i.e.opts.Logger.Error("pebble gave up: " + msg)
	}
	if strings.HasPrefix(format, "pebble: fatal commit error") {
		i.abandon()
		panic(fatal{msg}) // Apply recovers it
	}
	if strings.HasPrefix(msg, "MANIFEST") {
		// The caller returns the error after this and unlocks what it has locked. With the
		// fence up it cannot make anything worse on disk.
		i.abandon()
		return
	}
	i.wedge()
	// Some goroutine of Pebble's own. It must not continue; deferred unlocking still runs.
	runtime.Goexit()
}

// usable returns an error for an instance that no longer serves reads: what its memory
// holds may not be on disk.
func (i *instance) usable() error {
	if i.failed.Load() {
		return kv.ErrEngineRestarted
	}
	return nil
}
