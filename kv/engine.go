package kv

// Reader reads one consistent state: an engine's newest, a snapshot's, or a batch
// over the newest.
type Reader interface {
	// Get returns a copy of key's value, or ErrNotFound.
	Get(key []byte) ([]byte, error)
	// AppendGet appends key's value to dst, or returns dst and ErrNotFound.
	AppendGet(dst, key []byte) ([]byte, error)
	// Has reports whether key exists.
	Has(key []byte) (bool, error)
	// Iter returns an unpositioned iterator over [o.Lower, o.Upper). It must be closed.
	Iter(o IterOptions) (Iterator, error)
}

// IterOptions bounds an iterator. A nil bound is open. The slices must not change
// while the iterator lives.
type IterOptions struct {
	Lower []byte // inclusive
	Upper []byte // exclusive
}

// Iterator walks keys in both directions. The positioning methods return whether the
// iterator is at a key; after false, Err says if that was the end or a failure. Next
// after the last key and Prev before the first leave it exhausted at that side: a Prev
// after running off the end returns the last key, and the reverse.
type Iterator interface {
	First() bool
	Last() bool
	SeekGE(key []byte) bool // first key ≥ key
	SeekLT(key []byte) bool // last key < key
	Next() bool
	Prev() bool
	Valid() bool
	Key() []byte
	Value() []byte
	Err() error
	Close() error
}

// Snapshot is a Reader of the state at the moment it was taken. It is safe for
// concurrent use. Close releases it; iterators made from it must be closed first.
type Snapshot interface {
	Reader
	Close() error
}

// Batch collects writes that Apply makes visible and durable together. Within a batch
// later operations win over earlier ones. A batch is used by one goroutine at a time.
type Batch interface {
	// Set refuses an empty key with ErrEmptyKey.
	Set(key, value []byte) error
	Delete(key []byte) error
	// DeleteRange deletes every key in [start, end).
	DeleteRange(start, end []byte) error
	// Count is the number of operations, Len the encoded size in bytes.
	Count() int
	Len() int
	// Repr is the batch as one self-contained byte string that ApplyRepr of an engine of
	// the same kind accepts: the seam for shipping commits elsewhere.
	Repr() []byte
	// Background says that the caller is in no hurry: that this batch waits for stable storage
	// is no reason for the engine to let others wait longer, so as to sync them together.
	Background()
	// Reset empties the batch for reuse.
	Reset()
	Close() error
}

// IndexedBatch is a Batch that can be read: its operations over the newest engine state.
type IndexedBatch interface {
	Batch
	Reader
}

// Engine is an ordered key-value store with snapshots and atomic batches. It is safe
// for concurrent use.
type Engine interface {
	Reader
	Snapshot() (Snapshot, error)
	NewBatch() Batch
	NewIndexedBatch() IndexedBatch
	// Apply writes the batch atomically. With sync it returns after the write is on stable
	// storage; a later synced Apply also makes earlier unsynced ones durable, in order.
	// The batch is consumed: afterwards only Close may be called.
	Apply(b Batch, sync bool) error
	// ApplyAsync writes the batch as Apply does, but returns when it is visible: with sync,
	// wait returns when it is on stable storage, and an error of wait is one that Apply
	// would have returned. wait must be called once; the batch may be closed after that.
	// Batches become stable in the order in which they became visible. A batch is written
	// only while the engine's epoch is the one given: ErrEngineRestarted says that it is not,
	// and that nothing was written.
	ApplyAsync(b Batch, sync bool, epoch uint64) (wait func() error, err error)
	// ApplyRepr writes a batch given as its Repr.
	ApplyRepr(repr []byte, sync bool) error
	// Checkpoint writes a consistent, openable copy of the engine into the folder dir,
	// which must not exist. ErrUnsupported of package errors for engines without files.
	Checkpoint(dir string) error
	// Compact rewrites [start, end) so that space of deleted keys is freed.
	Compact(start, end []byte) error
	// Epoch counts how often the engine had to reopen its files after a failed write (see
	// ErrUnknownOutcome). When it has changed, unsynced writes may be gone.
	Epoch() uint64
	Metrics() Metrics
	Close() error
}

// Metrics are an engine's counters at one moment.
type Metrics struct {
	DiskBytes         uint64 // files of the engine
	WALBytes          uint64 // of which write-ahead log
	CacheBytes        int64
	CacheHits         int64
	CacheMisses       int64
	MemtableBytes     uint64
	Compactions       int64
	CompactionDebt    uint64
	Flushes           int64
	Snapshots         int
	ReadAmplification int
	WriteStalls       int64
	BackgroundErrors  int64
	DiskFullRefusals  int64 // Apply calls refused with ErrDiskFull
	Restarts          int64 // reopenings after a failed write
	FreeBytes         uint64
	DiskFull          bool // writes are being refused now
}

// PrefixEnd returns the smallest key greater than every key with the given prefix, or
// nil when there is none (the prefix is empty or all 0xFF).
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
