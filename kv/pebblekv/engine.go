package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv"
)

// Engine is a kv.Engine in a folder.
type Engine struct {
	dir   string
	opts  Options
	base  vfs.FS // without the ballast's wrapping
	fs    vfs.FS
	cache *pebble.Cache
	lock  io.Closer
	// background is for calls that want a context and have none to give.
	background context.Context

	cur   atomic.Pointer[instance] // nil after Close
	epoch atomic.Uint64

	retiring sync.WaitGroup // abandoned instances that are being closed

	mu         sync.Mutex
	reopenedAt time.Time // guarded by mu
	closed     bool      // guarded by mu

	low     atomic.Bool // the disk is or was just full: look before every write
	ballast struct {
		sync.Mutex
		size int64 // 0: none wanted
		have bool
	}
	reserve uint64

	backgroundErrors atomic.Int64
	refusals         atomic.Int64
	stalls           atomic.Int64
	snapshots        atomic.Int64
}

var _ kv.Engine = (*Engine)(nil)

// Open opens the engine in the folder dir, which is made if it does not exist.
// ErrNewerFormat, ErrForeignFolder, and what Options.Check returns, come before anything in the folder is
// touched, ErrLocked when another process has it open.
func Open(dir string, o Options) (_ *Engine, err error) {
	o = o.withDefaults()
	e := &Engine{dir: dir, opts: o, base: o.FS, background: context.Background()}
	format, err := checkFormat(o.FS, dir)
	if err != nil {
		return nil, err
	}
	if err := o.FS.MkdirAll(dir, 0o755); err != nil {
		return nil, mapped("make folder", err)
	}
	if e.lock, err = lockFolder(o.FS, dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.lock.Close())
		}
	}()
	fresh := format == 0
	if format == 0 {
		// Again under the lock: somebody may have made the folder meanwhile.
		if format, err = checkFormat(o.FS, dir); err != nil {
			return nil, err
		}
		if fresh = format == 0; fresh {
			if err := writeFormat(o.FS, dir); err != nil {
				return nil, mapped("write "+formatFile, err)
			}
		}
	}
	e.sizeByDisk()
	e.fs = vfs.OnDiskFull(o.FS, e.onDiskFull)
	e.cache = pebble.NewCache(o.CacheBytes)
	defer func() {
		if err != nil {
			e.cache.Unref()
		}
	}()
	if !fresh {
		if err := e.check(); err != nil {
			return nil, err
		}
	}
	i, err := e.openFirst(fresh)
	if err != nil {
		return nil, mapped(fmt.Sprintf("open %q", dir), err)
	}
	e.cur.Store(i)
	if i.readOnly {
		e.low.Store(true)
		return e, nil
	}
	if err := e.makeBallast(); err != nil {
		o.Logger.Warn("no ballast file", "folder", dir, "error", err)
		e.low.Store(true)
	}
	return e, nil
}

// check lets Options.Check look at a database that nobody writes to.
func (e *Engine) check() error {
	if e.opts.Check == nil {
		return nil
	}
	i, err := e.openInstance(true)
	if errors.Is(err, pebble.ErrDBDoesNotExist) {
		return nil // a crash came between the format file and the database
	}
	if err != nil {
		return mapped(fmt.Sprintf("open %q for reading", e.dir), err)
	}
	e.cur.Store(i)
	err = e.opts.Check(e)
	e.cur.Store(nil)
	i.release()
	<-i.closed
	return errors.Join(err, i.err)
}

// openFirst opens the database, a new one twice; on a full disk for reading only, unless it is new.
func (e *Engine) openFirst(fresh bool) (*instance, error) {
	if err := e.probe(); err != nil {
		// The ballast is there for this.
		e.ballast.have = true
		e.onDiskFull()
		if err = e.probe(); err != nil && (fresh || !isDiskFull(err)) {
			return nil, err
		}
		if err != nil {
			e.opts.Logger.Warn("disk is full: opened for reading only", "folder", e.dir, "error", err)
			return e.openInstance(true)
		}
	}
	if fresh {
		// Pebble begins the first log of a new database before it has raised the format to
		// ours, and such a log does not tell damage in its middle from its end: what was
		// committed behind the damage would silently be gone. The next opening begins a
		// log that does.
		i, err := e.openInstance(false)
		if err != nil {
			return nil, err
		}
		i.release()
		if i.err != nil {
			return nil, i.err
		}
	}
	return e.openInstance(false)
}

// current returns the instance to use, with a reference that must be released.
func (e *Engine) current() (*instance, error) {
	for {
		i := e.cur.Load()
		if i == nil {
			return nil, kv.ErrClosed
		}
		if !i.acquire() {
			continue // being replaced
		}
		if !i.failed.Load() {
			return i, nil
		}
		i.release()
		if err := e.reopen(i); err != nil {
			return nil, err
		}
	}
}

// Close implements kv.Engine. Readers that are still open are reported; they keep the
// files open until they are closed.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return kv.ErrClosed
	}
	e.closed = true
	i := e.cur.Swap(nil)
	i.release()
	e.retiring.Wait()
	var err error
	if n := i.refs.Load(); n > 0 {
		err = fmt.Errorf("pebblekv: close: %d readers are still open", n)
		go func() {
			<-i.closed
			e.cache.Unref()
		}()
	} else {
		<-i.closed
		err = i.err
		e.cache.Unref()
	}
	return errors.Join(err, e.lock.Close())
}

// Epoch implements kv.Engine.
func (e *Engine) Epoch() uint64 {
	// A failed instance counts as replaced already: whoever compares epochs must not take
	// what it read before for the state on disk.
	i := e.cur.Load()
	switch {
	case i == nil:
		return e.epoch.Load()
	case i.failed.Load():
		return i.epoch + 1
	}
	return i.epoch
}

// Get implements kv.Reader.
func (e *Engine) Get(key []byte) ([]byte, error) { return e.AppendGet(nil, key) }

// AppendGet implements kv.Reader.
func (e *Engine) AppendGet(dst, key []byte) ([]byte, error) {
	i, err := e.current()
	if err != nil {
		return dst, err
	}
	defer i.release()
	v, c, err := i.db.Get(key)
	return copyOut(dst, v, c, err)
}

// Has implements kv.Reader.
func (e *Engine) Has(key []byte) (bool, error) {
	i, err := e.current()
	if err != nil {
		return false, err
	}
	defer i.release()
	_, c, err := i.db.Get(key)
	return closeHas(c, err)
}

func copyOut(dst, v []byte, c io.Closer, err error) ([]byte, error) {
	if err != nil {
		return dst, mapped("get", err)
	}
	if dst == nil {
		dst = make([]byte, 0, len(v))
	}
	dst = append(dst, v...)
	return dst, mapped("get", c.Close())
}

func closeHas(c io.Closer, err error) (bool, error) {
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, mapped("get", err)
	}
	return true, mapped("get", c.Close())
}

// Iter implements kv.Reader.
func (e *Engine) Iter(o kv.IterOptions) (kv.Iterator, error) {
	i, err := e.current()
	if err != nil {
		return nil, err
	}
	it, err := i.db.NewIter(bounds(o))
	if err != nil {
		i.release()
		return nil, mapped("iterate", err)
	}
	return &iterator{it: it, i: i}, nil
}

// Checkpoint implements kv.Engine. The copy can be opened by Open.
func (e *Engine) Checkpoint(dir string) error {
	i, err := e.current()
	if err != nil {
		return err
	}
	defer i.release()
	if err := i.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return mapped("checkpoint", err)
	}
	return mapped("checkpoint", writeFormat(e.base, dir))
}

// Compact implements kv.Engine.
func (e *Engine) Compact(start, end []byte) error {
	i, err := e.current()
	if err != nil {
		return err
	}
	defer i.release()
	if end == nil {
		end = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	}
	return mapped("compact", i.db.Compact(e.background, start, end, false))
}

// Flush writes the memtable to a table file. For tests and tools.
func (e *Engine) Flush() error {
	i, err := e.current()
	if err != nil {
		return err
	}
	defer i.release()
	return mapped("flush", i.db.Flush())
}

// Metrics implements kv.Engine.
func (e *Engine) Metrics() kv.Metrics {
	m := kv.Metrics{
		Snapshots: int(e.snapshots.Load()), BackgroundErrors: e.backgroundErrors.Load(),
		DiskFullRefusals: e.refusals.Load(), Restarts: int64(e.epoch.Load()), WriteStalls: e.stalls.Load(),
		DiskFull: e.low.Load(),
	}
	if u, err := e.base.GetDiskUsage(e.dir); err == nil {
		m.FreeBytes = u.AvailBytes
	}
	i := e.cur.Load()
	if i == nil || !i.acquire() {
		return m
	}
	defer i.release()
	if i.failed.Load() {
		return m
	}
	p := i.db.Metrics()
	m.DiskBytes = p.DiskSpaceUsage()
	m.WALBytes = p.WAL.PhysicalSize
	m.CacheBytes, m.CacheHits, m.CacheMisses = p.BlockCache.Size, p.BlockCache.Hits, p.BlockCache.Misses
	m.MemtableBytes = p.MemTable.Size
	m.Compactions, m.CompactionDebt = p.Compact.Count, p.Compact.EstimatedDebt
	m.Flushes = p.Flush.Count
	m.ReadAmplification = p.ReadAmp()
	return m
}
