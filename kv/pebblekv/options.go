package pebblekv

import (
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv"
)

// Options configure an engine. The zero value has the defaults.
type Options struct {
	// CacheBytes is the size of the block cache. Default 256 MiB. With Pebble's own 8 MiB
	// point reads of a catalog of some size cost six times as much.
	CacheBytes int64
	// MemTableBytes is the size of one memtable; up to four exist. Default: 32 MiB,
	// but at most 1/32 of the disk.
	MemTableBytes uint64
	// MaxOpenFiles bounds the open table files. Default 1000.
	MaxOpenFiles int
	// BallastBytes is the size of a file that is removed when the disk fills up, so that
	// what was begun can be finished. Default: 64 MiB, but at most 1/32 of the disk.
	// Negative: none.
	BallastBytes int64
	// ReserveBytes is the free space below which writes are refused with ErrDiskFull.
	// Default: 64 MiB, but at most 1/16 of the disk. Negative: none.
	ReserveBytes int64
	// Logger receives Pebble's messages and the engine's own. Default: discard.
	Logger *slog.Logger
	// FS is the file system. Default: the operating system's.
	FS vfs.FS
	// Clock limits how often a failed reopening is tried again. Default time.Now.
	Clock func() time.Time
	// Check looks at a database that is there already, before anything in its folder is
	// changed: it is opened for reading only for that, and an error of Check is Open's.
	// Default: no check.
	Check func(kv.Reader) error
	// NoBackground turns automatic compactions off. For tests.
	NoBackground bool
}

const (
	defaultBallast = 64 << 20
	defaultReserve = 64 << 20

	defaultMemTable = 32 << 20
	// reopenEvery is the shortest time between two attempts to open for writing again.
	reopenEvery = 200 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.CacheBytes <= 0 {
		o.CacheBytes = 256 << 20
	}
	if o.MaxOpenFiles <= 0 {
		o.MaxOpenFiles = 1000
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}
