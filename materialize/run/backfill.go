package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/state"
)

// SliceStatus is where a slice of a backfill is.
type SliceStatus string

// The states of slices.
const (
	SlicePending   SliceStatus = "pending"
	SliceRunning   SliceStatus = "running"
	SliceDone      SliceStatus = "success"
	SliceFailed    SliceStatus = "failure"
	SliceCancelled SliceStatus = "cancelled"
)

// Progress is a slice of a backfill.
type Progress struct {
	Partition string
	Status    SliceStatus
	// Run is the run's id, "" while it is not known.
	Run string
	// Rows is the slice's, below 0 when that is not known.
	Rows int64
	Took time.Duration
	// Error is why it failed.
	Error string
}

// Backfilled is the end of a backfill.
type Backfilled struct {
	Slices []Progress
	// Cancelled is set when it was ended before the last slice.
	Cancelled bool
}

// OK says that all slices succeeded.
func (b *Backfilled) OK() bool {
	return !b.Cancelled && !slices.ContainsFunc(b.Slices, func(p Progress) bool { return p.Status != SliceDone })
}

// launcher runs one slice. It calls started when it knows the run's id.
type launcher func(ctx context.Context, partition string, started func(id string)) (state.Run, error)

// sequence runs slices one after the other, in their order. A slice that fails does not keep the others from
// running. When stop is closed no further one begins; when ctx is done the one at work ends as
// cancelled. Each step is told with a copy of all slices.
func sequence(ctx context.Context, stop <-chan struct{}, partitions []string, now func() time.Time, launch launcher, told func([]Progress)) Backfilled {
	b := Backfilled{Slices: make([]Progress, len(partitions))}
	for i, p := range partitions {
		b.Slices[i] = Progress{Partition: p, Status: SlicePending, Rows: -1}
	}
	tell := func() {
		if told != nil {
			told(slices.Clone(b.Slices))
		}
	}
	tell()
	for i := range b.Slices {
		p := &b.Slices[i]
		select {
		case <-stop:
			b.Cancelled = true
		default:
			b.Cancelled = ctx.Err() != nil
		}
		if b.Cancelled {
			return b
		}
		p.Status = SliceRunning
		tell()
		began := now()
		run, err := launch(ctx, p.Partition, func(id string) { p.Run = id; tell() })
		p.Took = now().Sub(began)
		if run.ID != "" {
			p.Run = run.ID
		}
		if run.Rows != nil {
			p.Rows = *run.Rows
		}
		switch {
		case err == nil:
			p.Status = SliceDone
		case ctx.Err() != nil:
			p.Status, p.Error, b.Cancelled = SliceCancelled, err.Error(), true
		default:
			p.Status, p.Error = SliceFailed, err.Error()
		}
		tell()
	}
	return b
}

// Missing returns those of the partitions that are not materialized, in their order. What was written
// into a table that is gone, or that has been made again since, is missing.
func (r *Runner) Missing(ctx context.Context, s *project.Script, partitions []string) ([]string, error) {
	list, err := r.Slices(ctx, s)
	if err != nil || len(list) == 0 {
		return partitions, err
	}
	a := r.attempt(Job{Script: s})
	if a.lake, err = r.Lake(s.Asset().Lake()); err != nil {
		return nil, a.refuse(err)
	}
	if a.source, err = state.OpenSource(ctx, a.lake.DSN, a.lake.Schema); err != nil {
		return nil, a.unreachable(a.lake, err)
	}
	defer a.close(ctx)
	t := a.target()
	began, there, err := a.source.Began(ctx, state.TableName{Schema: t.Schema, Name: t.Name})
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, p := range list {
		// The slices of a manual script have no snapshot.
		done[p.Partition] = p.Status == state.Materialized && (p.Snapshot == nil || there && *p.Snapshot >= began)
	}
	return slices.DeleteFunc(slices.Clone(partitions), func(p string) bool { return done[p] }), nil
}

// Slices returns the state of a script's partitions. Runs whose owner is gone are found, and failed.
func (r *Runner) Slices(ctx context.Context, s *project.Script) (list []state.Slice, err error) {
	err = r.recorded(ctx, s, func(store *state.Store) (err error) {
		list, err = slicesOf(ctx, store, s)
		return err
	})
	return list, err
}

// Backfill runs partitions of a script one after the other, each a run of its own.
func (r *Runner) Backfill(ctx context.Context, s *project.Script, partitions []string, force bool, stop <-chan struct{}, told func([]Progress)) (Backfilled, error) {
	if s.Spec == nil {
		return Backfilled{}, r.attempt(Job{Script: s}).refuse(&plan.Error{Err: plan.ErrInput, Message: "a backfill is of partitions, and the script has none", Remedy: "add a line with partitioned, or use run"})
	}
	var refused error
	b := sequence(ctx, stop, partitions, r.now, func(ctx context.Context, partition string, started func(string)) (state.Run, error) {
		one := *r
		one.Report = func(e Event) {
			if e.Kind == Started && e.Run != nil {
				started(e.Run.ID)
			}
			if r.Report != nil {
				r.Report(e)
			}
		}
		run, err := one.Retry(ctx, Job{Script: s, Partition: partition, Trigger: "backfill", Force: force}, stop)
		if errors.Is(err, ErrInput) && refused == nil {
			refused = err
		}
		return run, err
	}, told)
	if refused != nil && !slices.ContainsFunc(b.Slices, func(p Progress) bool { return p.Status == SliceDone }) {
		return b, refused
	}
	return b, nil
}

// String is the slice in a line.
func (p Progress) String() string {
	s := p.Partition + " " + string(p.Status)
	if p.Rows >= 0 {
		s += fmt.Sprintf(" %d rows", p.Rows)
	}
	if p.Error != "" {
		s += ": " + p.Error
	}
	return s
}
