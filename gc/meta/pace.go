package meta

import (
	"context"
	"time"

	"github.com/eiderdb/eider/kv/store"
)

// PaceOptions say how a job that works in many transactions gives way to others. The zero
// value has the defaults.
type PaceOptions struct {
	// Rows bounds the rows that one transaction writes while nobody else commits to the
	// catalog. Default 10,000.
	Rows int
	// BusyRows is the bound while somebody does: their commits wait for the job's transaction
	// to be checked and written. Default 1,000.
	BusyRows int
	// BusyTime is how long it should take to put together one transaction while somebody
	// commits: the rows of the next are chosen by what the last one took, BusyRows at most.
	// Checking and writing it, when others wait, takes half of that. Default 250 µs, about half
	// of a small commit.
	BusyTime time.Duration
	// BusyShare is the share of time that the job works while somebody commits; it pauses for
	// the rest. Default 0.25; 1 is without pauses.
	BusyShare float64
	// Clock is the time source; time.Now when nil.
	Clock func() time.Time
	// Sleep waits, or returns ctx's error when that ends first; by a timer when nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (o PaceOptions) withDefaults() PaceOptions {
	if o.Rows <= 0 {
		o.Rows = 10_000
	}
	if o.BusyRows <= 0 {
		o.BusyRows = 1_000
	}
	o.BusyRows = min(o.BusyRows, o.Rows)
	if o.BusyTime <= 0 {
		o.BusyTime = 250 * time.Microsecond
	}
	if o.BusyShare <= 0 || o.BusyShare > 1 {
		o.BusyShare = 0.25
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A job takes larger transactions when nobody else has committed beside so many in a row,
// and for so long: one that writes rows by the thousand is met by the next client's commit.
const (
	idleAfter = 8
	idleFor   = 100 * time.Millisecond
)

// firstRows is how many rows a busy transaction writes while it is not known how long they
// take, and leastRows the least, however long: the cost of a transaction itself is paid in any
// case.
const (
	firstRows = 64
	leastRows = 16
)

// Pacer runs the transactions of one job on one catalog, with pauses. It is for one
// goroutine.
type Pacer struct {
	o         PaceOptions
	cat       *store.Catalog
	committer Committer
	busy      int       // rows of a transaction while others commit
	quiet     int       // transactions since somebody else last committed
	since     time.Time // of that commit, or of the first transaction
	idle      bool      // nobody else is at work
	met       bool      // somebody else has committed, and it is not idle since
}

// NewPacer makes a Pacer.
func NewPacer(cat *store.Catalog, c Committer, o PaceOptions) *Pacer {
	o = o.withDefaults()
	return &Pacer{o: o, cat: cat, committer: c, busy: min(firstRows, o.BusyRows)}
}

// Rows is how many rows the next transaction may write. The first few are small, until it is
// known that nobody else is at work.
func (p *Pacer) Rows() int {
	if p.idle {
		return p.o.Rows
	}
	return p.busy
}

// Do is the function Do with a pause after it, if others commit. Work is taken in the
// meantime for time in which the job holds others up, waiting for the disk included.
func (p *Pacer) Do(ctx context.Context, fn func(txn *store.Txn) error) error {
	seq, began := p.cat.Seq(), p.o.Clock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if p.since.IsZero() {
		p.since = began
	}
	var work time.Duration // of fn
	err := Do(ctx, p.cat, p.committer, func(txn *store.Txn) error {
		from := p.o.Clock()
		err := fn(txn)
		work = p.o.Clock().Sub(from)
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if !p.idle {
		p.resize(work)
	}
	ended := p.o.Clock()
	if p.cat.Seq() > seq+1 { // more than our own
		p.quiet, p.since, p.idle, p.met = 0, ended, false, true
	} else if p.quiet++; p.quiet >= idleAfter && ended.Sub(p.since) >= idleFor {
		p.idle, p.met = true, false
	}
	if !p.met || p.o.BusyShare >= 1 {
		return nil
	}
	took := ended.Sub(began)
	return p.o.Sleep(ctx, time.Duration(float64(took)*(1-p.o.BusyShare)/p.o.BusyShare))
}

// resize chooses the rows of the next transaction beside others by what the last one took.
// One that took too long halves them, since something held it up or its rows are dear; they
// grow by an eighth, so that a single fast one decides nothing.
func (p *Pacer) resize(work time.Duration) {
	switch {
	case work > 2*p.o.BusyTime:
		p.busy /= 2
	case work > p.o.BusyTime:
		p.busy -= p.busy / 8
	default:
		p.busy += p.busy / 8
	}
	p.busy = min(max(p.busy, leastRows), p.o.BusyRows)
}
