package kv

import "errors"

// The errors of every engine. Engines wrap them with the operation and the folder;
// callers use errors.Is.
var (
	// ErrNotFound is returned by Get when the key does not exist.
	ErrNotFound = errors.New("kv: key not found")
	// ErrClosed is returned by every call on a closed engine.
	ErrClosed = errors.New("kv: engine is closed")
	// ErrLocked is returned by opening a folder that another process holds.
	ErrLocked = errors.New("kv: data folder is in use")
	// ErrNewerFormat is returned by opening a folder that a newer version wrote. The
	// folder has not been touched.
	ErrNewerFormat = errors.New("kv: data folder has a newer format")
	// ErrForeignFolder is returned by opening a folder that holds something else. It has not
	// been touched.
	ErrForeignFolder = errors.New("kv: the folder holds other things")
	// ErrDiskFull is returned by Apply when there is no space for the batch. Nothing of
	// the batch was written; earlier data is safe and readable; the same call succeeds
	// again once there is space.
	ErrDiskFull = errors.New("kv: no space left on device")
	// ErrUnknownOutcome is returned by Apply when writing failed half-way and the engine
	// reopened its files: the batch is either wholly there or not at all, and the caller
	// has to read to know which. Snapshots taken before are no longer served.
	ErrUnknownOutcome = errors.New("kv: outcome of the write is unknown")
	// ErrEngineRestarted is reported by snapshots and iterators that outlived such a reopening.
	ErrEngineRestarted = errors.New("kv: engine was restarted, the snapshot is gone")
	// ErrCorrupt is returned when stored bytes do not have the form they must have.
	ErrCorrupt = errors.New("kv: stored data is damaged")
	// ErrIO is returned when the storage device fails.
	ErrIO = errors.New("kv: input/output error")
	// ErrBatchDone is returned by using a batch after Apply or Close.
	ErrBatchDone = errors.New("kv: batch is already applied or closed")
	// ErrEmptyKey is returned by Set of a key without bytes: Pebble cannot hold one.
	ErrEmptyKey = errors.New("kv: the key is empty")
)

// IsRetryableWrite reports whether a write that failed with err may succeed later
// without anybody repairing anything but disk space.
func IsRetryableWrite(err error) bool { return errors.Is(err, ErrDiskFull) }
