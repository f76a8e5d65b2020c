package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/graph"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/state"
)

// Graph reads what each script of the project reads, and makes the graph of them. With status it
// has the last run of each, and the columns of tables that the SELECTs take whole, as far as the catalogs can be reached.
func (r *Runner) Graph(ctx context.Context, status bool) (*graph.Graph, error) {
	db, err := r.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var c Catalog
	if status {
		lakes := newConnections(r.Lake)
		defer lakes.close(ctx)
		c.Columns = lakes.columns(ctx)
	}
	var list []graph.Script
	for _, s := range r.Project.Scripts {
		if s.Header.Materialize == nil {
			continue
		}
		reads, err := Analyse(ctx, db, r.Project, s, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.File, err)
		}
		list = append(list, node(s, &reads))
	}
	if status {
		r.states(ctx, list)
	} else {
		for i := range list {
			list[i].Status.State = graph.StateUnknown
		}
	}
	return withReferences(list, r.Project)
}

// columns gives the columns of tables of lakes that can be reached.
func (c *connections) columns(ctx context.Context) func(LakeTable) ([]string, bool) {
	return func(t LakeTable) ([]string, bool) {
		src, err := c.source(ctx, t.Lake)
		if err != nil {
			return nil, false
		}
		columns, err := src.Columns(ctx, state.TableName{Schema: t.Schema, Name: t.Name})
		return columns, err == nil && len(columns) > 0
	}
}

// withReferences makes the graph in which a script also comes after the tables that its tests compare with; where that
// would be a circle, they are left to what is there.
func withReferences(list []graph.Script, p *project.Project) (*graph.Graph, error) {
	plain, err := graph.New(list)
	if err != nil || plain.Cycle() != nil {
		return plain, err
	}
	more := slices.Clone(list)
	for i := range more {
		s, _ := p.Find(more[i].Name)
		for _, t := range s.Header.Tests {
			ref := tableAsset(t.Ref).String()
			if t.Kind == annotate.TestRelationships && !slices.Contains(more[i].Reads, ref) {
				more[i].Reads = append(slices.Clone(more[i].Reads), ref)
			}
		}
	}
	if g, err := graph.New(more); err == nil && g.Cycle() == nil {
		return g, nil
	}
	return plain, nil
}

// node is a script as the graph has it.
func node(s *project.Script, reads *Analysis) graph.Script {
	h := s.Header
	n := graph.Script{
		Name: s.Name, File: s.File, Strategy: h.Materialize.Strategy().String(), Freshness: h.Freshness, TriggerAll: h.Join == annotate.JoinAll,
		Columns: reads.Columns, Status: graph.Status{Rows: -1},
	}
	if h.Materialize.Manual {
		n.Strategy = "manual"
	}
	for _, a := range h.Materialize.WriteTargets() {
		n.Writes = append(n.Writes, tableAsset(a).String())
	}
	for _, t := range reads.Tables {
		n.Reads = append(n.Reads, t.Asset().String())
	}
	for _, f := range reads.Files {
		n.Reads = append(n.Reads, f.String())
	}
	for _, t := range h.Triggers {
		if t.Native != "" {
			n.Triggers = append(n.Triggers, graph.Trigger{Native: t.Native})
			if t.Cron != "" {
				n.Schedule = t.Cron
			}
			continue
		}
		a := t.Asset
		a.Path = strings.TrimSuffix(strings.TrimSuffix(a.Path, annotate.PartitionPlaceholder), "/") // a slice of a table is of that table
		n.Triggers = append(n.Triggers, graph.Trigger{Asset: tableAsset(a).String()})
	}
	if h.Partitioned != nil {
		n.Partition = h.Partitioned.Kind
	}
	if h.Tag != "" {
		n.Tags = []string{h.Tag}
	}
	for _, t := range h.Tests {
		n.Tests = append(n.Tests, t.Name())
	}
	return n
}

// tableAsset is an asset without the schema that is meant anyway.
func tableAsset(a annotate.Asset) annotate.Asset {
	if a.Kind != annotate.KindLake || a.Table() == "" {
		return a
	}
	schema, name := plan.SplitTable(a.Table())
	return LakeTable{a.Lake(), schema, name}.Asset()
}

// states fills in the last runs. Of a lake that cannot be reached they are not known.
func (r *Runner) states(ctx context.Context, list []graph.Script) {
	for i := range list {
		n := &list[i]
		s, _ := r.Project.Find(n.Name)
		var last *state.Run
		if err := r.recorded(ctx, s, func(store *state.Store) (err error) {
			last, err = lastRun(ctx, store, s)
			return err
		}); err != nil {
			n.Status = graph.Status{State: graph.StateUnknown, Rows: -1, Error: err.Error()}
			continue
		}
		if last == nil {
			continue
		}
		n.Status = graph.Status{State: graph.State(last.Status), Rows: -1, At: last.Ended, Error: last.Error}
		if last.Ended.IsZero() {
			n.Status.At = last.Started
		}
		if last.Rows != nil {
			n.Status.Rows = *last.Rows
		}
		if last.Snapshot != nil {
			n.Status.Snapshot = *last.Snapshot
		}
		if r.stale(s, last) {
			n.Status.State = graph.StateStale
		}
	}
}

func (r *Runner) now() time.Time { return r.Options.withDefaults().Now() }

// Result is what came of one job.
type Result struct {
	Job Job
	Run state.Run
	// Err is nil when the run is materialized or skipped.
	Err error
	// Blocked names the script whose failure kept this one from being run; "" when it was run.
	Blocked string
}

// Retry makes attempts of a job until one succeeds or the header's count of retries is used up. What
// is refused, what was cancelled and what failed its data tests is not tried again, nor is anything when stop is closed.
func (r *Runner) Retry(ctx context.Context, job Job, stop <-chan struct{}) (run state.Run, err error) {
	more := 0
	var delay time.Duration
	if retry := job.Script.Header.Retry; retry != nil {
		more = retry.Count
		delay, _ = annotate.ParseDuration(retry.Delay) // the header's problems say when it is none
	}
	for job.Attempt = max(job.Attempt, 1); ; job.Attempt++ {
		run, err = r.Run(ctx, job)
		if err == nil || more <= 0 || errors.Is(err, ErrInput) || errors.Is(err, ErrTests) || ctx.Err() != nil {
			return run, err
		}
		more--
		if r.Report != nil {
			r.Report(Event{Kind: Retrying, Script: job.Script.Name, Asset: job.Script.Asset().String(), Partition: job.Partition, Run: &run, Text: fmt.Sprintf("attempt %d in %s", job.Attempt+1, delay), At: r.now()})
		}
		if !r.pause(ctx, delay, stop) {
			return run, err
		}
	}
}

// pause waits, and says whether that was to its end.
func (r *Runner) pause(ctx context.Context, d time.Duration, stop <-chan struct{}) bool {
	wait, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-stop:
			cancel()
		case <-wait.Done():
		}
	}()
	err := r.Options.withDefaults().Sleep(wait, d)
	cancel()
	<-watched
	select {
	case <-stop:
		return false
	default:
		return err == nil
	}
}

// All runs jobs in the order of what their scripts read. A script whose sources' script failed is not run,
// nor is anything more when stop is closed or ctx is done.
func (r *Runner) All(ctx context.Context, g *graph.Graph, jobs []Job, stop <-chan struct{}) ([]Result, error) {
	order, err := g.Order()
	if err != nil {
		return nil, &refusal{err.Error(), err}
	}
	jobs = slices.Clone(jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int {
		return slices.Index(order, a.Script.Name) - slices.Index(order, b.Script.Name)
	})
	var results []Result
	failed := map[string]string{} // by script, the one whose failure it is
	for _, job := range jobs {
		select {
		case <-stop:
			return results, context.Canceled
		default:
		}
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		res := Result{Job: job}
		upstream, err := g.Select([]string{"+" + job.Script.Name})
		if err != nil {
			return results, &refusal{err.Error(), err}
		}
		for _, up := range upstream {
			if cause := failed[up]; cause != "" && up != job.Script.Name {
				res.Blocked = cause
				res.Err = fmt.Errorf("%w: %s failed", ErrFailed, cause)
			}
		}
		if res.Blocked == "" {
			res.Run, res.Err = r.Retry(ctx, job, stop)
		}
		if res.Err != nil {
			failed[job.Script.Name] = job.Script.Name
			if res.Blocked != "" {
				failed[job.Script.Name] = res.Blocked
			}
		}
		results = append(results, res)
	}
	return results, nil
}
