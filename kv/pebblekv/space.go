package pebblekv

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv"
)

// What the engine does about a full disk, in the order in which it helps:
//
//  1. Before every write it asks how much space is free, and refuses below a reserve.
//  2. A ballast file is removed at the first ENOSPC; the failed operation is tried again
//     and succeeds, so Pebble sees no error. Writes are refused until there is room for a
//     new ballast.
//  3. If an operation fails nevertheless, the instance is replaced (see apply.go).

// sizeByDisk settles the sizes that depend on the disk's.
func (e *Engine) sizeByDisk() {
	u, err := e.base.GetDiskUsage(e.dir)
	known := err == nil && u.TotalBytes > 0
	pick := func(configured, def int64, share uint64) int64 {
		switch {
		case configured != 0:
			return max(configured, 0)
		case !known:
			return 0 // a file system that cannot say what is free is one for tests
		}
		return min(def, int64(u.TotalBytes/share))
	}
	e.ballast.size = pick(e.opts.BallastBytes, defaultBallast, 32)
	e.reserve = uint64(pick(e.opts.ReserveBytes, defaultReserve, 16))
	if e.opts.MemTableBytes == 0 {
		// What is in memtables is in the log too, and must fit the disk a second time.
		e.opts.MemTableBytes = defaultMemTable
		if known {
			e.opts.MemTableBytes = max(1<<20, min(defaultMemTable, u.TotalBytes/32))
		}
	}
}

// makeBallast writes the ballast file if it is wanted and not there.
func (e *Engine) makeBallast() error {
	e.ballast.Lock()
	defer e.ballast.Unlock()
	if e.ballast.size == 0 || e.ballast.have {
		return nil
	}
	name := e.base.PathJoin(e.dir, ballastFile)
	if st, err := e.base.Stat(name); err == nil && st.Size() == e.ballast.size {
		e.ballast.have = true
		return nil
	}
	f, err := e.base.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return mapped("make ballast", err)
	}
	// Zeros would be enough on most file systems, but not on those that compress.
	chunk := make([]byte, 1<<20)
	x := uint64(0x9E3779B97F4A7C15)
	for left := e.ballast.size; left > 0 && err == nil; left -= int64(len(chunk)) {
		for i := range chunk {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			chunk[i] = byte(x)
		}
		_, err = f.Write(chunk[:min(left, int64(len(chunk)))])
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return mapped("make ballast", errors.Join(err, e.base.Remove(name)))
	}
	e.ballast.have = true
	return nil
}

// onDiskFull is called at the first ENOSPC of any operation of Pebble's, while the others wait.
func (e *Engine) onDiskFull() {
	e.low.Store(true)
	e.ballast.Lock()
	defer e.ballast.Unlock()
	if !e.ballast.have {
		return
	}
	e.ballast.have = false
	if err := e.base.Remove(e.base.PathJoin(e.dir, ballastFile)); err != nil {
		e.opts.Logger.Error("removing the ballast file", "folder", e.dir, "error", err)
		return
	}
	e.opts.Logger.Warn("disk is full: ballast file removed, writes are refused", "folder", e.dir)
}

// probe reports whether opening the database for writing can succeed. Pebble writes when
// it opens (the log's content to a table, a MANIFEST); on a full disk it would try the
// former for ever.
func (e *Engine) probe() error {
	// The log is written to table files, and to a MANIFEST and other small files.
	need := uint64(2 << 20)
	names, err := e.base.List(e.dir)
	if err != nil {
		return mapped("probe", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			if st, err := e.base.Stat(e.base.PathJoin(e.dir, name)); err == nil {
				need += uint64(st.Size())
			}
		}
	}
	if u, err := e.base.GetDiskUsage(e.dir); err == nil && u.AvailBytes < need {
		return fmt.Errorf("pebblekv: %d bytes are free in %q, opening may need %d: %w", u.AvailBytes, e.dir, need, kv.ErrDiskFull)
	}
	// What is free may not be ours to use: a quota says so only when writing.
	name := e.base.PathJoin(e.dir, probeFile)
	f, err := e.base.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return mapped("probe", err)
	}
	_, err = f.Write(make([]byte, 1<<20))
	if err == nil {
		err = f.Sync()
	}
	return mapped("probe", errors.Join(err, f.Close(), e.base.Remove(name)))
}

// checkSpace refuses a write of n bytes when the disk is nearly full. After trouble it
// first makes sure that a ballast can be had again.
func (e *Engine) checkSpace(n uint64) error {
	low := e.low.Load()
	if e.reserve == 0 && !low {
		return nil
	}
	u, err := e.base.GetDiskUsage(e.dir)
	known := err == nil
	// The log takes the batch, and in time a table file does.
	if known && u.AvailBytes < e.reserve+2*n {
		e.low.Store(true)
		e.refusals.Add(1)
		return fmt.Errorf("pebblekv: %d bytes are free in %q, %d are kept in reserve: %w", u.AvailBytes, e.dir, e.reserve, kv.ErrDiskFull)
	}
	if !low {
		return nil
	}
	if e.ballast.size > 0 && known && u.AvailBytes < e.reserve+2*n+uint64(e.ballast.size) {
		e.refusals.Add(1)
		return fmt.Errorf("pebblekv: %d bytes are free in %q, not enough to go on: %w", u.AvailBytes, e.dir, kv.ErrDiskFull)
	}
	if err := e.makeBallast(); err != nil {
		e.refusals.Add(1)
		if errors.Is(err, kv.ErrDiskFull) {
			return err
		}
		return fmt.Errorf("%w: %w", kv.ErrDiskFull, err)
	}
	e.low.Store(false)
	return nil
}
