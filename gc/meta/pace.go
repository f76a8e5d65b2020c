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

// idleAfter is after how many transactions in a row beside which nobody else committed a job
// takes larger ones.
const idleAfter = 8

// Pacer runs the transactions of one job on one catalog, with pauses. It is for one
// goroutine.
type Pacer struct {
	o         PaceOptions
	cat       *store.Catalog
	committer Committer
	quiet     int  // transactions since somebody else last committed
	met       bool // somebody else has ever committed
}

// NewPacer makes a Pacer.
func NewPacer(cat *store.Catalog, c Committer, o PaceOptions) *Pacer {
	return &Pacer{o: o.withDefaults(), cat: cat, committer: c}
}

// Rows is how many rows the next transaction may write. The first few are small, until it is
// known that nobody else is at work.
func (p *Pacer) Rows() int {
	if p.quiet < idleAfter {
		return p.o.BusyRows
	}
	return p.o.Rows
}

// Do is the function Do with a pause after it, if others commit. Work is taken in the
// meantime for time in which the job holds others up, waiting for the disk included.
func (p *Pacer) Do(ctx context.Context, fn func(txn *store.Txn) error) error {
	seq, began := p.cat.Seq(), p.o.Clock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := Do(ctx, p.cat, p.committer, fn); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if p.cat.Seq() > seq+1 { // more than our own
		p.quiet, p.met = 0, true
	} else if p.quiet++; p.quiet >= idleAfter {
		p.met = false
	}
	if !p.met || p.o.BusyShare >= 1 {
		return nil
	}
	took := p.o.Clock().Sub(began)
	return p.o.Sleep(ctx, time.Duration(float64(took)*(1-p.o.BusyShare)/p.o.BusyShare))
}
