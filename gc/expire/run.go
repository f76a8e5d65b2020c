package expire

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake"
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

// Preview says what Run would do, and changes nothing.
func Preview(ctx context.Context, cat *store.Catalog, name string, sel Selection, o Options) (res gc.Result, err error) {
	if sel.Empty() {
		return res, nil
	}
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, name)
		if err != nil {
			return err
		}
		p, err := o.choose(ctx, l, sel)
		if err != nil {
			return err
		}
		res.Count("snapshots", p.Go.Len())
		for _, r := range p.Go.Ranges() {
			for id := r.First; id <= r.Last && !res.Cut; id++ {
				res.Add(gc.Item{What: "snapshot", ID: id})
			}
		}
		res.Count(pinnedCount, p.Pinned.Len())
		res.Count(taggedCount, p.Tagged.Len())
		held(&res)
		c := &cascade{kept: p.All.Without(p.Go), dry: true}
		return c.preview(ctx, l, &res)
	})
	return res, err
}

// What of the selected snapshots stays, in a result's counts.
const (
	pinnedCount = "pinned snapshots"
	taggedCount = "tagged snapshots"
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
	r := &runner{o: o, cat: cat, lake: name, pace: meta.NewPacer(cat, o.Committer, o.Pace)}
	if sel.Empty() {
		return r.res, nil
	}
	if err := r.snapshots(ctx, sel); err != nil {
		return r.res, err
	}
	err := r.rows(ctx)
	return r.res, err
}

// runner is one Run.
type runner struct {
	o    Options
	cat  *store.Catalog
	lake string
	pace *meta.Pacer
	res  gc.Result
}

// snapshots removes snapshots with the rows of their changes.
func (r *runner) snapshots(ctx context.Context, sel Selection) error {
	var p *Plan
	err := meta.Read(ctx, r.cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.lake)
		if err == nil {
			p, err = r.o.choose(ctx, l, sel)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.res.Count(pinnedCount, p.Pinned.Len())
	r.res.Count(taggedCount, p.Tagged.Len())
	if p.Go.Len() > 0 {
		var fences Fences
		var gone *IDs
		err = r.sweep(ctx, sweep{
			table: meta.SnapshotTable,
			begin: func(l meta.Lake, _ *gc.Result) (err error) {
				// What was free when the plan was made may be held by now.
				gone = &IDs{}
				fences, err = r.o.fences(ctx, l)
				return err
			},
			row: func(x *meta.Row, res *gc.Result) (int, error) {
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
			end: func(l meta.Lake, _ *gc.Result) error { return removeChanges(ctx, l, gone) },
		})
	}
	held(&r.res)
	return err
}

// removeChanges removes the rows of ducklake_snapshot_changes of snapshots that go.
func removeChanges(ctx context.Context, l meta.Lake, gone *IDs) error {
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
	var steps []sweep
	err := meta.Read(ctx, r.cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.lake)
		if err != nil {
			return err
		}
		if c.kept, err = idsOf(ctx, l.Table(meta.SnapshotTable), "snapshot_id"); err != nil {
			return err
		}
		steps, err = c.steps(ctx, l)
		return err
	})
	if err != nil {
		return err
	}
	for i := range steps {
		s := steps[i]
		begin := s.begin
		s.begin = func(l meta.Lake, res *gc.Result) (err error) {
			c.lake = l
			if c.sched, err = newScheduler(ctx, l, r.o.now()); err == nil && begin != nil {
				err = begin(l, res)
			}
			return err
		}
		if err := r.sweep(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// dead says whether a row has ended and no snapshot is left that sees it.
func dead(s lake.Span, kept *IDs) bool { return s.Ended && !kept.Any(s.Begin, s.End-1) }

// maxReads bounds the rows that one transaction reads: its view is held that long.
const maxReads = 200_000

// sweep is a walk over a table, in as many transactions as it takes.
type sweep struct {
	table string
	// ranges are the parts of the table to walk over, each by its conditions; nil: all of it.
	ranges [][]meta.Cond
	// row looks at one row, and says how many rows it wrote.
	row func(x *meta.Row, res *gc.Result) (wrote int, err error)
	// begin and end are called in each transaction, may be called again for the same rows
	// when it is repeated, and may be nil.
	begin, end func(l meta.Lake, res *gc.Result) error
}

// position is how far a sweep has come.
type position struct {
	part  int
	after []byte
}

// sweep makes a walk.
func (r *runner) sweep(ctx context.Context, s sweep) error {
	if s.ranges == nil {
		s.ranges = [][]meta.Cond{nil}
	}
	for at := (position{}); at.part < len(s.ranges); {
		var next position
		var res gc.Result
		err := r.pace.Do(ctx, func(txn *store.Txn) error {
			l, err := meta.Open(txn, r.lake)
			if err != nil {
				return err
			}
			next, res = at, gc.Result{}
			if s.begin != nil {
				if err := s.begin(l, &res); err != nil {
					return err
				}
			}
			if err := s.walk(ctx, l, &next, &res, r.pace.Rows()); err != nil {
				return err
			}
			if s.end != nil {
				return s.end(l, &res)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("expire: %s of lake %s: %w", s.table, r.lake, err)
		}
		at = next
		merge(&r.res, &res)
		if r.o.Progress != nil {
			r.o.Progress(r.res.Clone())
		}
	}
	return nil
}

// errFull ends a transaction's part of a walk.
var errFull = errors.New("full")

// walk goes on from a position until so many rows are written, and moves the position.
func (s *sweep) walk(ctx context.Context, l meta.Lake, at *position, res *gc.Result, rows int) error {
	wrote, reads := 0, 0
	for at.part < len(s.ranges) {
		conds := append(append([]meta.Cond(nil), s.ranges[at.part]...), meta.After(at.after))
		err := l.Table(s.table).Scan(ctx, func(x *meta.Row) error {
			n, err := s.row(x, res)
			if err != nil {
				return err
			}
			wrote, reads = wrote+n, reads+1
			if wrote >= rows || reads >= maxReads {
				at.after = x.Position()
				return errFull
			}
			return nil
		}, conds...)
		if errors.Is(err, errFull) {
			return nil
		}
		if err != nil {
			return err
		}
		at.part, at.after = at.part+1, nil
		if reads++; wrote >= rows || reads >= maxReads {
			return nil
		}
	}
	return nil
}

// merge adds a transaction's part to the result.
func merge(to, part *gc.Result) {
	for what, n := range part.Counts {
		to.Count(what, n)
	}
	to.Bytes += part.Bytes
	to.Deferred += part.Deferred
	for _, n := range part.Notes {
		to.Note("%s", n)
	}
	for _, i := range part.Items {
		to.Add(i)
	}
	to.Cut = to.Cut || part.Cut
}
