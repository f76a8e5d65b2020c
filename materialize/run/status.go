package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/due"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/state"
)

// Status is how the table of a script stands.
type Status struct {
	// Last is the last run that was not skipped, nil if there was none.
	Last *state.Run
	// Stale says that the table is older than the header's freshness allows.
	Stale bool
	// Slices are its partitions, the newest first; one for a table without.
	Slices []state.Slice
	// Runs are the last ones, the newest first.
	Runs []state.Run
}

// State is the last run's status, "stale" for a table that is too old, "never run" for none.
func (s *Status) State() string {
	switch {
	case s.Last == nil:
		return "never run"
	case s.Stale:
		return "stale"
	}
	return string(s.Last.Status)
}

// Status reads how the table of a script stands, with limit of its runs. Runs whose owner is gone are
// found, and failed.
func (r *Runner) Status(ctx context.Context, s *project.Script, limit int) (*Status, error) {
	out := &Status{}
	if s.Header.Materialize == nil || s.Asset().Kind != annotate.KindLake {
		return out, nil
	}
	err := r.recorded(ctx, s, func(store *state.Store) (err error) {
		if out.Slices, err = slicesOf(ctx, store, s); err != nil {
			return err
		}
		if out.Last, err = lastRun(ctx, store, s); err != nil {
			return err
		}
		out.Runs, err = store.Runs(ctx, state.Filter{Asset: recordOf(s), Limit: limit})
		return err
	})
	out.Stale = r.stale(s, out.Last)
	return out, err
}

// recorded reads what is recorded in the catalog of a script's target; it does nothing where nothing was
// ever run. A lake that cannot be reached is an ErrInput.
func (r *Runner) recorded(ctx context.Context, s *project.Script, read func(*state.Store) error) error {
	a := r.attempt(Job{Script: s})
	lake, err := r.Lake(s.Asset().Lake())
	if err != nil {
		return a.refuse(err)
	}
	store, err := state.Open(ctx, lake.DSN, state.Options{ReadOnly: true, Now: r.Options.Now})
	if errors.Is(err, state.ErrNone) {
		return nil
	}
	if err != nil {
		return a.unreachable(lake, err)
	}
	defer func() { _ = store.Close(context.WithoutCancel(ctx)) }()
	return read(store)
}

// recordOf is a script's target as records have it.
func recordOf(s *project.Script) state.Asset {
	return state.Asset{Kind: string(s.Asset().Kind), Path: s.Asset().Path}
}

// lastRun is the last run of a script that was not skipped; nil if there is none.
func lastRun(ctx context.Context, store *state.Store, s *project.Script) (*state.Run, error) {
	runs, err := store.Runs(ctx, state.Filter{Asset: recordOf(s), NotSkipped: true, Limit: 1})
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return &runs[0], nil
}

// slicesOf are the partitions of a script's target, after runs whose owner is gone have been failed.
func slicesOf(ctx context.Context, store *state.Store, s *project.Script) ([]state.Slice, error) {
	if _, err := store.ReclaimAll(ctx); err != nil && ctx.Err() != nil {
		return nil, err // who may only read cannot record it
	}
	return store.Slices(ctx, recordOf(s))
}

// stale says whether the last run has left a table that is older than the header's freshness allows.
func (r *Runner) stale(s *project.Script, last *state.Run) bool {
	if last == nil || last.Status != state.Materialized {
		return false
	}
	d, err := annotate.ParseDuration(s.Header.Freshness)
	return err == nil && (due.Script{Freshness: d}).Stale(last.Ended, r.now())
}

// Test runs the data tests of a script on its table as it is. Nothing is written or recorded.
func (r *Runner) Test(ctx context.Context, s *project.Script, partition string) ([]state.Test, error) {
	a := r.attempt(Job{Script: s, Partition: partition})
	if s.Bad {
		return nil, a.do(ctx)
	}
	a.in = s.Input()
	a.in.Partition = partition
	p, err := plan.Build(a.in)
	if err != nil {
		return nil, a.refuse(err)
	}
	a.plan = p
	defer a.close(ctx)
	if a.lake, err = r.Lake(s.Asset().Lake()); err != nil {
		return nil, a.refuse(err)
	}
	if a.source, err = state.OpenSource(ctx, a.lake.DSN, a.lake.Schema); err != nil {
		return nil, a.unreachable(a.lake, err)
	}
	if a.db, err = r.Open(ctx); err != nil {
		return nil, err
	}
	for _, st := range p.Preparation() {
		if st.Role == plan.Setup && len(s.Macros) == 0 {
			continue // tests look at the target
		}
		if err := a.statement(ctx, st); err != nil {
			return nil, a.located(st, err)
		}
	}
	// With the types of the columns some tests are other queries.
	columns, err := a.tableColumns(ctx)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		return nil, a.refuse(&plan.Error{Err: plan.ErrInput, Line: s.Header.Materialize.Line, Message: fmt.Sprintf("the table %s is not there", s.Asset()), Remedy: "run the script first"})
	}
	a.in.Probe = &plan.Probe{Output: plan.Selected(p.Strategy, s.Spec != nil, columns)}
	if p, err = plan.Build(a.in); err != nil {
		return nil, a.refuse(err)
	}
	a.plan = p
	if err := a.db.Exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return nil, err
	}
	defer func() { _ = a.db.Exec(context.WithoutCancel(ctx), "ROLLBACK") }()
	for _, c := range p.Checks {
		rows, err := a.db.Query(ctx, c.Count())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", s.File, c.Line, c.Name, err)
		}
		if len(rows) != 1 {
			return nil, errors.New("a count has no row")
		}
		a.run.Tests = append(a.run.Tests, state.Test{Name: c.Name, Violating: number(rows[0][0])})
	}
	a.samples(ctx)
	return a.run.Tests, nil
}
