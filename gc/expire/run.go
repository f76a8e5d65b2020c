package expire

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/gc/sweep"
	"github.com/eiderdb/eider/kv/store"
)

// Options say how Run works. Committer is required.
type Options struct {
	Committer meta.Committer
	// Fence answers for a transaction what of a lake is held; nil: nothing is.
	Fence func(txn *store.Txn, lake string) gc.Fence
	// Clock gives the time at which files are scheduled for deletion; time.Now when nil.
	Clock func() time.Time
	// Pace says how Run gives way to commits of others.
	Pace meta.PaceOptions
	// Progress takes the result so far after each transaction; may be nil.
	Progress func(gc.Result)
}

func (o Options) now() time.Time {
	if o.Clock == nil {
		return time.Now()
	}
	return o.Clock()
}

// fences asks what stays.
func (o Options) fences(ctx context.Context, l meta.Lake) (f Fences, err error) {
	if o.Fence == nil {
		return f, nil
	}
	x := o.Fence(l.Txn(), l.Name())
	if f.Pinned, f.HasPinned, err = x.Pinned(ctx); err != nil {
		return f, fmt.Errorf("expire: what is pinned: %w", err)
	}
	if f.Tagged, err = x.Tagged(ctx); err != nil {
		return f, fmt.Errorf("expire: what is tagged: %w", err)
	}
	return f, nil
}

// choose plans on the state of a transaction.
func (o Options) choose(ctx context.Context, l meta.Lake, sel Selection) (*Plan, error) {
	t := l.Table(meta.SnapshotTable)
	if !t.Has("snapshot_id") {
		return nil, ErrShape
	}
	id, at := t.Column("snapshot_id"), t.Column("snapshot_time")
	if sel.policies != nil && sel.policies.Narrower() {
		only, err := byTable(ctx, l, sel.policies, sel.now)
		if err != nil {
			return nil, err
		}
		sel = Selection{Only: only}
	}
	c := NewChooser(sel)
	err := t.Scan(ctx, func(r *meta.Row) error {
		n, ok := id.Int(r)
		if !ok {
			return ErrShape
		}
		micros, ok := at.Micros(r)
		if !ok {
			micros = math.MaxInt64 // of no age
		}
		c.Add(n, micros)
		return nil
	})
	if err != nil {
		return nil, err
	}
	f, err := o.fences(ctx, l)
	if err != nil {
		return nil, err
	}
	return c.Plan(f), nil
}

// Preview says what Run would do, and changes nothing: it rehearses it in one view.
func Preview(ctx context.Context, cat *store.Catalog, name string, sel Selection, o Options) (res gc.Result, err error) {
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err == nil && !sel.Empty() {
			res, err = rehearsal(l.Rehearse(), o).run(ctx, sel)
		}
		return err
	})
	return res, err
}

// What of the selected snapshots stays, in a result's counts.
const (
	pinnedCount = gc.LeftPinned
	taggedCount = gc.LeftTagged
)

// held notes what stays although it was selected.
func held(res *gc.Result) {
	pinned, tagged := res.Counts[pinnedCount], res.Counts[taggedCount]
	res.Deferred += pinned + tagged
	if pinned > 0 {
		res.Note("snapshots left for the next time, because open transactions can still read them or look at what changed since: %d", pinned)
	}
	if tagged > 0 {
		res.Note("snapshots protected by tags: %d", tagged)
	}
}

// Run removes the selected snapshots of a lake and the rows that no other snapshot sees, and
// schedules the files of those rows for deletion. When ctx ends it returns what was done
// until then with the cause; called again it goes on.
func Run(ctx context.Context, cat *store.Catalog, name string, sel Selection, o Options) (gc.Result, error) {
	if sel.Empty() {
		return gc.Result{}, nil
	}
	return newRunner(cat, name, o).run(ctx, sel)
}

// Rows removes the rows that no snapshot sees, as Run does after its snapshots: what an expiry
// that was ended early has left.
func Rows(ctx context.Context, cat *store.Catalog, name string, o Options) (gc.Result, error) {
	r := newRunner(cat, name, o)
	err := r.rows(ctx)
	return r.sweep.Result, wrap(err)
}

// RehearseRows says what Rows would do, and removes it from a lake that is a rehearsal.
func RehearseRows(ctx context.Context, l meta.Lake, o Options) (gc.Result, error) {
	r := rehearsal(l, o)
	err := r.rows(ctx)
	return r.sweep.Result, wrap(err)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	return nil
}

// runner is one Run, or the rehearsal of one.
type runner struct {
	o     Options
	cat   *store.Catalog // nil in a rehearsal
	sweep sweep.Runner
}

func newRunner(cat *store.Catalog, name string, o Options) *runner {
	return &runner{o: o, cat: cat, sweep: sweep.Runner{
		Pace: meta.NewPacer(cat, o.Committer, o.Pace), Lake: name, Progress: o.Progress,
	}}
}

func rehearsal(l meta.Lake, o Options) *runner {
	return &runner{o: o, sweep: sweep.Runner{Lake: l.Name(), Rehearsal: &l}}
}

func (r *runner) run(ctx context.Context, sel Selection) (gc.Result, error) {
	err := r.snapshots(ctx, sel)
	if err == nil {
		err = r.rows(ctx)
	}
	return r.sweep.Result, wrap(err)
}

// snapshots removes snapshots with the rows of their changes.
func (r *runner) snapshots(ctx context.Context, sel Selection) error {
	var p *Plan
	err := r.sweep.Read(ctx, r.cat, func(l meta.Lake) (err error) {
		p, err = r.o.choose(ctx, l, sel)
		return err
	})
	if err != nil {
		return err
	}
	r.sweep.Result.Count(pinnedCount, p.Pinned.Len())
	r.sweep.Result.Count(taggedCount, p.Tagged.Len())
	if p.Go.Len() > 0 {
		var fences Fences
		var gone *sweep.IDs
		err = r.sweep.Do(ctx, sweep.Walk{
			Table: meta.SnapshotTable,
			Begin: func(l meta.Lake, _ *gc.Result) (err error) {
				// What was free when the plan was made may be held by now.
				gone = &sweep.IDs{}
				fences, err = r.o.fences(ctx, l)
				return err
			},
			Row: func(x *meta.Row, res *gc.Result) (int, error) {
				id, ok := x.Int("snapshot_id")
				switch {
				case !ok || !p.Go.Has(id):
					return 0, nil
				case fences.HasPinned && id >= fences.Pinned:
					res.Count(pinnedCount, 1)
					return 0, nil
				case slices.Contains(fences.Tagged, id):
					res.Count(taggedCount, 1)
					return 0, nil
				}
				gone.Add(id)
				res.Count("snapshots", 1)
				res.Add(gc.Item{What: "snapshot", ID: id})
				return 2, x.Delete()
			},
			End: func(l meta.Lake, _ *gc.Result) error { return removeChanges(ctx, l, gone) },
		})
	}
	held(&r.sweep.Result)
	return err
}

// removeChanges removes the rows of ducklake_snapshot_changes of snapshots that go.
func removeChanges(ctx context.Context, l meta.Lake, gone *sweep.IDs) error {
	t := l.Table("ducklake_snapshot_changes")
	id := t.Column("snapshot_id")
	for _, span := range gone.Ranges() {
		err := t.Scan(ctx, func(x *meta.Row) error {
			if n, ok := id.Int(x); !ok || n < span.First || n > span.Last {
				return nil
			}
			return x.Delete()
		}, meta.From("snapshot_id", span.First), meta.Upto("snapshot_id", span.Last))
		if err != nil {
			return err
		}
	}
	return nil
}

// rows removes what no snapshot that is left can see.
func (r *runner) rows(ctx context.Context) error {
	c := &cascade{}
	var steps []sweep.Walk
	err := r.sweep.Read(ctx, r.cat, func(l meta.Lake) (err error) {
		var ok bool
		if c.kept, ok, err = sweep.Kept(ctx, l); err != nil {
			return err
		}
		if !ok {
			return ErrShape
		}
		steps, err = c.steps(ctx, l)
		return err
	})
	if err != nil {
		return err
	}
	for i := range steps {
		s := steps[i]
		begin := s.Begin
		s.Begin = func(l meta.Lake, res *gc.Result) (err error) {
			if err = c.begin(ctx, l, r.o.now()); err == nil && begin != nil {
				err = begin(l, res)
			}
			return err
		}
		if err := r.sweep.Do(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
