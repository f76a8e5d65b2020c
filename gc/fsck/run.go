package fsck

import (
	"context"
	"errors"
	"fmt"

	"github.com/eiderdb/eider/lake"
)

var (
	// ErrMoved is returned by a Writer that did not make a repair because the lake has changed
	// since it was planned. The lake is checked again.
	ErrMoved = errors.New("fsck: the lake has changed")
	// ErrRefused is returned by a Writer when the server's checks do not let the repair pass.
	ErrRefused = errors.New("fsck: refused")
)

// Writer makes repairs of one lake.
type Writer interface {
	// Checkpoint keeps a copy of the catalog from before the first repair, and names it.
	Checkpoint(ctx context.Context) (name string, err error)
	// Apply makes all changes of a repair in one transaction, and records them, or none. It
	// returns ErrMoved when the newest snapshot is not r.Head, unless r.Steady, or when a change
	// touches another number of rows than it says.
	Apply(ctx context.Context, r *Repair) error
}

// Reader calls fn with the lake as it is at one moment, which it is only during the call.
type Reader func(ctx context.Context, fn func(lake.Source) error) error

// MaxStatements bounds the statements of one repair in a report.
const MaxStatements = 20

// rounds bounds how often a lake is checked again after repairs.
const rounds = 1000

// moves bounds how often in a row nothing can be repaired because the lake changes.
const moves = 5

// Run checks a lake and, when w is not nil, repairs it and checks again until nothing is
// left that a repair exists for. The report is of the last check, with the repairs of all.
// Without a writer the repairs are those that were planned.
func Run(ctx context.Context, read Reader, w Writer, o Options) (*Report, error) {
	check := func() (rep *Report, err error) {
		err = read(ctx, func(src lake.Source) error {
			rep, err = Check(ctx, src, o)
			return err
		})
		return rep, err
	}
	rep, err := check()
	if err != nil {
		return nil, err
	}
	if w == nil {
		for i := range rep.plans {
			rep.Repairs = append(rep.Repairs, describe(&rep.plans[i], o.Lake, Planned, nil))
		}
		return rep, nil
	}
	x := &repairer{w: w, lake: o.Lake, given: map[Code]bool{}, made: map[string]bool{}}
	for range rounds {
		again, err := x.round(ctx, rep.plans)
		if err != nil {
			return nil, errors.Join(err, x.summary())
		}
		if !again {
			break
		}
		if rep, err = check(); err != nil {
			return nil, errors.Join(err, x.summary())
		}
	}
	rep.Repairs, rep.Checkpoint = x.done, x.checkpoint
	return rep, nil
}

// repairer makes the repairs of a run.
type repairer struct {
	w          Writer
	lake       string
	checkpoint string
	kept       bool // the checkpoint is taken
	done       []RepairReport
	// given are the codes whose repairs are not tried again.
	given map[Code]bool
	moved int
	// made are the repairs that were made, by their text and first statement: one that is
	// planned again has not helped.
	made map[string]bool
}

// round makes the repairs of one check, and says whether another check is worth while.
func (x *repairer) round(ctx context.Context, plans []Repair) (again bool, err error) {
	progress, moved := false, false
	for i := range plans {
		r := &plans[i]
		if x.given[r.Code] {
			continue
		}
		if !x.kept {
			if x.checkpoint, err = x.w.Checkpoint(ctx); err != nil {
				return false, fmt.Errorf("fsck: checkpoint: %w", err)
			}
			x.kept = true
		}
		err := x.apply(ctx, r)
		switch {
		case err == nil:
			progress = true
			x.done = append(x.done, describe(r, x.lake, Applied, nil))
		case ctx.Err() != nil:
			return false, err
		case errors.Is(err, ErrMoved) && x.moved < moves:
			moved = true
		case errors.Is(err, ErrRefused):
			x.given[r.Code] = true
			x.done = append(x.done, describe(r, x.lake, Refused, err))
		default:
			x.given[r.Code] = true
			x.done = append(x.done, describe(r, x.lake, Failed, err))
		}
	}
	if moved && !progress {
		x.moved++
	}
	return progress || moved, nil
}

// errNoHelp: a repair was made and what it is for was found again.
var errNoHelp = errors.New("fsck: it was made before, and did not help")

func (x *repairer) apply(ctx context.Context, r *Repair) error {
	key := r.Text + r.Changes[0].SQL(x.lake)
	if x.made[key] {
		return errNoHelp
	}
	err := x.w.Apply(ctx, r)
	x.made[key] = err == nil
	return err
}

// summary names what was repaired before something failed.
func (x *repairer) summary() error {
	n := 0
	for i := range x.done {
		if x.done[i].Outcome == Applied {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("fsck: %d repairs were made before, the checkpoint is %q", n, x.checkpoint)
}

func describe(r *Repair, lake string, o Outcome, err error) RepairReport {
	d := RepairReport{Code: r.Code, Text: r.Text, Outcome: o, Changes: len(r.Changes), Statements: []string{}}
	if err != nil {
		d.Error = err.Error()
	}
	for i := range r.Changes[:min(len(r.Changes), MaxStatements)] {
		d.Statements = append(d.Statements, r.Changes[i].SQL(lake))
	}
	return d
}
