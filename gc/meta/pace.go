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
	// BusyTime is how long it may take at least to put together one transaction while somebody
	// commits; half of what a commit takes where that is more, since nobody notices it there. The
	// rows of the next are chosen by what the last ones took, BusyRows at most. Checking and
	// writing it, when others wait, takes half of that. Default 250 µs.
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
	leastRows = 32
)

// pace is what one transaction took.
type pace struct{ row, commit time.Duration }

// Pacer runs the transactions of one job on one catalog, with pauses. It is for one
// goroutine.
type Pacer struct {
	o         PaceOptions
	cat       *store.Catalog
	committer Committer
	busy      int       // rows of a transaction while others commit
	took      [8]pace   // the last transactions while others committed
	n         int       // how many there have been
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
	ended := p.o.Clock()
	if !p.idle {
		p.resize(p.busy, work, ended.Sub(began)-work)
	}
	if p.cat.Seq() > seq+1 { // more than our own
		p.quiet, p.since, p.idle, p.met = 0, ended, false, true
	} else if p.quiet++; p.quiet >= idleAfter && ended.Sub(p.since) >= idleFor {
		p.idle, p.met = true, false
	}
	if !p.met || p.o.BusyShare >= 1 {
		return nil
	}
	took := ended.Sub(began)
	// The transaction is committed, whatever ends the pause: the next one is not begun then.
	_ = p.o.Sleep(ctx, time.Duration(float64(took)*(1-p.o.BusyShare)/p.o.BusyShare))
	return nil
}

// resize chooses the rows of the next transaction beside others by what the last ones took.
// The fastest of them tells what rows and commits cost: the others were held up by somebody
// else, which smaller transactions would only make last longer.
func (p *Pacer) resize(rows int, work, commit time.Duration) {
	p.took[p.n%len(p.took)] = pace{work / time.Duration(rows), commit}
	p.n++
	fastest := p.took[0]
	for _, t := range p.took[1:min(p.n, len(p.took))] {
		fastest.row, fastest.commit = min(fastest.row, t.row), min(fastest.commit, t.commit)
	}
	want := int(max(p.o.BusyTime, fastest.commit/2) / max(fastest.row, 1))
	// A single transaction that had little to do is fast too.
	p.busy = min(want, p.busy+max(p.busy/8, 1))
	p.busy = min(max(p.busy, leastRows), p.o.BusyRows)
}
