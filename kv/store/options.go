package store

import (
	"log/slog"
	"time"

	"github.com/eiderdb/eider/kv/rel"
)

// Isolation is a transaction's isolation level.
type Isolation uint8

// The isolation levels. Weaker and stronger ones of SQL map to these, as callers decide.
const (
	RepeatableRead Isolation = iota
	ReadCommitted
)

// Options configure a Store. The zero value has the defaults.
type Options struct {
	// Clock gives the current time, for metrics only. Default time.Now.
	Clock func() time.Time
	// Logger receives what no caller can be told. Default: discard.
	Logger *slog.Logger
	// Observer is told about commits. Default: nobody. See Observer.
	Observer Observer
	// MaxTxnBytes bounds the keys and values one transaction may buffer; beyond it writes
	// fail with ErrTxnTooLarge. Default 1 GiB. The engine's batch limit is 4 GiB.
	MaxTxnBytes int64
	// MaxGroupBytes bounds the buffered bytes of transactions written with one sync; one
	// transaction is always taken. Default 64 MiB.
	MaxGroupBytes int64
	// MaxGroup bounds the number of transactions written with one sync. Default 256.
	MaxGroup int
	// Turns says how transactions that race for a snapshot take turns.
	Turns TurnOptions
	// MaxGhosts bounds the descriptors of dropped inlined tables kept per catalog. Default 1024.
	MaxGhosts int

	turnObserver TurnObserver // Observer, or nobody
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = noObserver{}
	}
	var ok bool
	if o.turnObserver, ok = o.Observer.(TurnObserver); !ok {
		o.turnObserver = noObserver{}
	}
	o.Turns = o.Turns.withDefaults()
	if o.MaxTxnBytes <= 0 {
		o.MaxTxnBytes = 1 << 30
	}
	if o.MaxGroupBytes <= 0 {
		o.MaxGroupBytes = 64 << 20
	}
	if o.MaxGroup <= 0 {
		o.MaxGroup = 256
	}
	if o.MaxGhosts <= 0 {
		o.MaxGhosts = 1024
	}
	return o
}

// TxnOptions configure a transaction.
type TxnOptions struct {
	Isolation Isolation
	// ReadOnly is remembered for callers; the store does not enforce it.
	ReadOnly bool
	// Sync makes Commit return only after the transaction is on stable storage. Without it
	// a crash may lose the last commits, never part of one and never out of order.
	Sync bool
	// Background says that nobody is kept waiting by the commit: others' syncs are not put off
	// so that one serves it as well (see kv.Batch).
	Background bool
	// Temp is the session's space for temporary tables; nil: none can be made.
	Temp *TempSpace
}

// Observer is told about what the sequencers do. Its methods are called from the
// committing goroutines, must be safe for concurrent use and return soon. See also TurnObserver.
type Observer interface {
	// CommitGroup reports one group written to the engine: members committed, members
	// refused, bytes of the batch, whether it was synced, and how long Apply took.
	CommitGroup(catalog string, committed, refused, bytes int, synced bool, apply time.Duration)
	// Conflict reports a transaction that lost: "row", "unique", "schema".
	Conflict(catalog, kind string)
}

type noObserver struct{}

func (noObserver) CommitGroup(string, int, int, int, bool, time.Duration) {}
func (noObserver) Conflict(string, string)                                {}

// CatalogInfo names a catalog.
type CatalogInfo struct {
	Name string
	OID  uint32
}

// Bound is one end of a range on a key part, in the column's binary form.
type Bound = rel.Bound
