package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// maxReads bounds the rows that one transaction reads: its view is held that long.
const maxReads = 200_000

// Walk is a walk over one table.
type Walk struct {
	Table string
	// Ranges are the parts of the table to walk over, each by its conditions; nil: all of it.
	Ranges [][]meta.Cond
	// Row looks at one row, and says how many rows it wrote.
	Row func(x *meta.Row, res *gc.Result) (wrote int, err error)
	// Begin and End are called in each transaction, before the first and after the last of its
	// rows. They may be called again for the same rows, when the transaction is repeated. Both
	// may be nil.
	Begin, End func(l meta.Lake, res *gc.Result) error
}

// position is how far a walk has come.
type position struct {
	part  int
	after []byte
}

// Runner makes walks over the tables of one lake. Result is what they did.
type Runner struct {
	Pace   *meta.Pacer
	Lake   string // the metadata schema
	Result gc.Result
	// Progress takes the result after each transaction; may be nil.
	Progress func(gc.Result)
	// Rehearsal is set to find out what would be done: everything runs in its transaction, and
	// Pace is not needed. See meta.Lake.Rehearse.
	Rehearsal *meta.Lake
}

// DropCost is the number of rows whose removal costs what dropping a table does.
const DropCost = 20

// Read runs fn on the lake's newest state.
func (r *Runner) Read(ctx context.Context, cat *store.Catalog, fn func(l meta.Lake) error) error {
	if r.Rehearsal != nil {
		return fn(*r.Rehearsal)
	}
	return meta.Read(ctx, cat, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.Lake)
		if err != nil {
			return err
		}
		return fn(l)
	})
}

// Do makes a walk. When ctx ends it returns the cause; what was done is in Result.
func (r *Runner) Do(ctx context.Context, w Walk) error {
	if w.Ranges == nil {
		w.Ranges = [][]meta.Cond{nil}
	}
	for at := (position{}); at.part < len(w.Ranges); {
		var next position
		err := r.Transaction(ctx, func(l meta.Lake, rows int, res *gc.Result) error {
			next = at
			if w.Begin != nil {
				if err := w.Begin(l, res); err != nil {
					return err
				}
			}
			if err := w.part(ctx, l, &next, res, rows); err != nil {
				return err
			}
			if w.End != nil {
				return w.End(l, res)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s of lake %s: %w", w.Table, r.Lake, err)
		}
		at = next
	}
	return nil
}

// Transaction does one transaction, which should write so many rows at most, and adds what
// it did to the result. It may be repeated, with an empty result each time.
func (r *Runner) Transaction(ctx context.Context, fn func(l meta.Lake, rows int, res *gc.Result) error) error {
	var res gc.Result
	if r.Rehearsal != nil {
		err := fn(*r.Rehearsal, math.MaxInt, &res)
		if err == nil {
			r.Result.Merge(&res)
		}
		return err
	}
	err := r.Pace.Do(ctx, func(txn *store.Txn) error {
		l, err := meta.Open(txn, r.Lake)
		if err != nil {
			return err
		}
		res = gc.Result{}
		return fn(l, r.Pace.Rows(), &res)
	})
	if err != nil {
		return err
	}
	r.Result.Merge(&res)
	if r.Progress != nil {
		r.Progress(r.Result.Clone())
	}
	return nil
}

// errFull ends a transaction's part of a walk.
var errFull = errors.New("full")

// part goes on from a position until so many rows are written, and moves the position.
func (w *Walk) part(ctx context.Context, l meta.Lake, at *position, res *gc.Result, rows int) error {
	wrote, reads := 0, 0
	for at.part < len(w.Ranges) {
		conds := append(append([]meta.Cond(nil), w.Ranges[at.part]...), meta.After(at.after))
		err := l.Table(w.Table).Scan(ctx, func(x *meta.Row) error {
			n, err := w.Row(x, res)
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
