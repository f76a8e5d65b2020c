package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/due"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/state"
)

// WatchOptions says how a watch works. The zero value is right.
type WatchOptions struct {
	// Wait says how commits are waited for.
	Wait state.WaitOptions
	// Longest is the longest time until everything is looked at again, though nothing was heard;
	// 0 for a minute.
	Longest time.Duration
	// Reload returns the project's scripts when its files have changed, and nil when not. May be nil. It is
	// asked whenever everything is looked at.
	Reload func() (*project.Project, []*project.Script, error)
}

// watcher is a watch at work.
type watcher struct {
	*Runner
	o       WatchOptions
	scripts []*project.Script
	since   time.Time
	stores  map[string]*state.Store
	sources map[string]*state.Source
	wake    chan struct{}
	hears   map[string]context.CancelFunc // by lake
	wg      sync.WaitGroup
	failing map[string]string // what was last said about a script or lake that gives trouble
	refused map[string]string // by script, the run that was refused last
}

// Watch runs scripts when they are due, one after the other, until stop is closed or ctx is done: by their
// schedules, after commits to the tables that they wait for, when they are stale, and again after failures.
func (r *Runner) Watch(ctx context.Context, scripts []*project.Script, o WatchOptions, stop <-chan struct{}) error {
	if o.Longest <= 0 {
		o.Longest = time.Minute
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{
		Runner: r, o: o, scripts: scripts, since: r.now(), stores: map[string]*state.Store{}, sources: map[string]*state.Source{},
		wake: make(chan struct{}, 1), hears: map[string]context.CancelFunc{}, failing: map[string]string{}, refused: map[string]string{},
	}
	defer func() {
		cancel()
		w.wg.Wait()
		w.forget(context.WithoutCancel(ctx))
	}()
	for {
		select {
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		if err := w.reload(ctx); err != nil {
			w.trouble("", "the project: "+err.Error())
		}
		for _, lake := range w.lakes() {
			w.hear(ctx, lake)
		}
		ran, next := w.round(ctx, stop)
		if ran {
			continue
		}
		wait := o.Longest
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(r.now()), 0))
		}
		timer := time.NewTimer(wait)
		select {
		case <-stop:
		case <-ctx.Done():
		case <-w.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (w *watcher) reload(ctx context.Context) error {
	if w.o.Reload == nil {
		return nil
	}
	p, scripts, err := w.o.Reload()
	if err != nil || p == nil {
		return err
	}
	r := *w.Runner
	r.Project = p
	w.Runner, w.scripts = &r, scripts
	// A lake may be elsewhere now.
	for _, cancel := range w.hears {
		cancel()
	}
	clear(w.hears)
	w.forget(ctx)
	w.say("", "the project's files have changed and were read again")
	return nil
}

func (w *watcher) say(script, text string) {
	if w.Report != nil {
		w.Report(Event{Kind: Note, Script: script, Text: text, At: w.now()})
	}
}

// trouble says what is wrong, once until it is something else.
func (w *watcher) trouble(of, text string) {
	if w.failing[of] != text {
		w.failing[of] = text
		if text != "" {
			w.say(of, text)
		}
	}
}

// lakes are those that are written and those that are waited for.
func (w *watcher) lakes() []string {
	set := map[string]bool{}
	for _, s := range w.scripts {
		if s.Bad {
			continue
		}
		for _, t := range triggerTables(w.Project, s) {
			set[t.Lake] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// hear waits for commits to a lake, beside everything else.
func (w *watcher) hear(ctx context.Context, name string) {
	if w.hears[name] != nil {
		return
	}
	lake, err := w.Lake(name)
	if err != nil {
		return
	}
	src, err := state.OpenSource(ctx, lake.DSN, lake.Schema)
	if err != nil {
		w.trouble("lake "+name, "the lake "+name+": "+err.Error())
		return
	}
	w.trouble("lake "+name, "")
	ctx, cancel := context.WithCancel(ctx)
	w.hears[name] = cancel
	w.wg.Add(1)
	go func() {
		defer w.wg.Done()
		defer func() { _ = src.Close(context.WithoutCancel(ctx)) }()
		_ = src.Follow(ctx, w.o.Wait, func(int64) {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}, nil)
	}()
}

// round looks at every script once and runs what is due. It says whether anything ran, and when
// something will be due if not.
func (w *watcher) round(ctx context.Context, stop <-chan struct{}) (ran bool, next time.Time) {
	for _, s := range w.scripts {
		if s.Bad || s.Asset().Kind != annotate.KindLake {
			continue
		}
		d, err := w.decide(ctx, s)
		if err != nil {
			if ctx.Err() == nil {
				w.trouble(s.Name, err.Error())
				w.forget(ctx)
			}
			continue
		}
		if w.refused[s.Name] == "" {
			w.trouble(s.Name, "")
		}
		switch {
		case d.Action == due.Wait && (next.IsZero() || d.At.Before(next)):
			next = d.At
		case d.Action == due.RunNow:
			select {
			case <-stop:
				return true, next
			default:
			}
			// One run of each script in a round, so that a long backlog of one keeps no other waiting.
			run := d.Runs[0]
			wanted := run.String() + " " + run.Partition
			if w.Report != nil && w.refused[s.Name] != wanted {
				w.Report(Event{Kind: Due, Script: s.Name, Asset: s.Asset().String(), Partition: run.Partition, Text: run.String(), At: w.now()})
			}
			job := Job{Script: s, Partition: run.Partition, Trigger: run.String(), Attempt: run.Attempt, Force: run.Reason != due.ByTick}
			made, err := w.Run(ctx, job)
			if err != nil && !errors.Is(err, ErrFailed) {
				w.refused[s.Name] = wanted
				w.trouble(s.Name, err.Error())
				continue // nothing was recorded, and it would be due again at once
			}
			delete(w.refused, s.Name)
			// So would be a run that could not be recorded.
			ran = ran || made.ID != ""
		}
		if ctx.Err() != nil {
			return ran, next
		}
	}
	return ran, next
}

// forget closes the connections, to make them again.
func (w *watcher) forget(ctx context.Context) {
	for _, s := range w.stores {
		_ = s.Close(ctx)
	}
	for _, s := range w.sources {
		_ = s.Close(ctx)
	}
	clear(w.stores)
	clear(w.sources)
}

func (w *watcher) store(ctx context.Context, name string) (*state.Store, error) {
	if s := w.stores[name]; s != nil {
		return s, nil
	}
	lake, err := w.Lake(name)
	if err != nil {
		return nil, err
	}
	s, err := state.Open(ctx, lake.DSN, state.Options{Now: w.Options.Now})
	if err != nil {
		return nil, err
	}
	w.stores[name] = s
	return s, nil
}

func (w *watcher) source(ctx context.Context, name string) (*state.Source, error) {
	if s := w.sources[name]; s != nil {
		return s, nil
	}
	lake, err := w.Lake(name)
	if err != nil {
		return nil, err
	}
	s, err := state.OpenSource(ctx, lake.DSN, lake.Schema)
	if err != nil {
		return nil, err
	}
	w.sources[name] = s
	return s, nil
}

// schedulePrefix begins the trigger of a run that answers a tick.
const schedulePrefix = "schedule: "

// decide says whether a script is due.
func (w *watcher) decide(ctx context.Context, s *project.Script) (due.Decision, error) {
	ask, err := dueScript(w.Project, s)
	if err != nil {
		return due.Decision{}, err
	}
	store, err := w.store(ctx, s.Asset().Lake())
	if err != nil {
		return due.Decision{}, err
	}
	asset := recordOf(s)
	runs, err := store.Runs(ctx, state.Filter{Asset: asset, Limit: maxRuns})
	if err != nil {
		return due.Decision{}, err
	}
	if slices.ContainsFunc(runs, func(r state.Run) bool { return r.Status == state.Running }) {
		// Somebody else runs it, or is gone.
		if _, err := store.ReclaimAll(ctx); err != nil {
			return due.Decision{}, err
		}
		if runs, err = store.Runs(ctx, state.Filter{Asset: asset, Limit: maxRuns}); err != nil {
			return due.Decision{}, err
		}
	}
	st := past(runs)
	st.Since = w.since
	if st.Commits, err = w.commits(ctx, s, &st); err != nil {
		return due.Decision{}, err
	}
	return ask.Decide(st, w.now())
}

// maxRuns is how many of the last runs of a script count.
const maxRuns = 2000

// past is what runs, the newest first, say about a script.
func past(runs []state.Run) due.State {
	st := due.State{Slices: map[string]due.Slice{}}
	for _, r := range slices.Backward(runs) {
		if tick, ok := strings.CutPrefix(r.Trigger, schedulePrefix); ok {
			if t, err := time.Parse(time.RFC3339, tick); err == nil && t.After(st.LastTick) {
				st.LastTick = t
			}
		}
		sl := st.Slices[r.Partition]
		switch r.Status {
		case state.Running:
			sl.Outcome = due.Running
		case state.Failed:
			sl.Outcome = due.Failed
		case state.Materialized:
			sl.Outcome = due.Succeeded
		default:
			continue
		}
		sl.Ended, sl.Attempt = r.Ended, r.Attempt
		if r.Status == state.Failed && len(r.Tests) > 0 {
			sl.Attempt = math.MaxInt32 // the same rows fail the same tests
		}
		sl.Tried = seen(r.Sources)
		if r.Status == state.Materialized {
			sl.Seen = sl.Tried
		}
		st.Slices[r.Partition] = sl
	}
	return st
}

// seen are the snapshots of a record by the assets that triggers name.
func seen(sources map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for key, snapshot := range sources {
		if t, ok := parseKey(key); ok {
			out[strings.ToLower(t.Asset().String())] = snapshot
		}
	}
	return out
}

// commits are those of the tables that a script waits for, after what its slices have seen.
func (w *watcher) commits(ctx context.Context, s *project.Script, st *due.State) (map[string][]due.Commit, error) {
	out := map[string][]due.Commit{}
	for _, t := range triggerTables(w.Project, s) {
		src, err := w.source(ctx, t.Lake)
		if err != nil {
			return nil, err
		}
		name := strings.ToLower(t.Asset().String())
		after, any := int64(0), false
		for _, sl := range st.Slices {
			if n := sl.Seen[name]; !any || n < after {
				after, any = n, true
			}
		}
		tn := state.TableName{Schema: t.Schema, Name: t.Name}
		list, err := src.Commits(ctx, after, []state.TableName{tn})
		if err != nil {
			return nil, err
		}
		for _, c := range list[tn] {
			var extra struct {
				Partition string `json:"partition"`
			}
			_ = json.Unmarshal([]byte(c.Extra), &extra) // others' snapshots say other things
			out[name] = append(out[name], due.Commit{Snapshot: c.Snapshot, Time: c.Time, Partition: extra.Partition})
		}
	}
	return out, nil
}

// triggers are the assets that a script runs after: those of its header, without the muted ones.
func triggers(s *project.Script) []annotate.Trigger {
	return slices.DeleteFunc(slices.Clone(s.Header.Triggers), func(t annotate.Trigger) bool {
		return t.Native != "" || t.Asset.Kind != annotate.KindLake || s.Header.Mute.Has(t.Asset)
	})
}

// triggerTable is the table that a reference of a trigger is about: without the placeholder of the
// partition, and for the view of a history's current versions the history.
func triggerTable(p *project.Project, a annotate.Asset) LakeTable {
	a.Path = strings.Trim(strings.ReplaceAll(a.Path, annotate.PartitionPlaceholder, ""), "/")
	for _, s := range p.Scripts {
		if m := s.Header.Materialize; m != nil && len(m.WriteTargets()) > 1 && strings.EqualFold(tableAsset(m.WriteTargets()[1]).String(), tableAsset(a).String()) {
			a = m.Asset
		}
	}
	schema, name := plan.SplitTable(a.Table())
	return LakeTable{a.Lake(), schema, name}
}

func triggerTables(p *project.Project, s *project.Script) []LakeTable {
	var list []LakeTable
	for _, t := range triggers(s) {
		if lt := triggerTable(p, t.Asset); lt.Name != "" {
			list = append(list, lt)
		}
	}
	return list
}

// dueScript is what a header asks for, as package due has it.
func dueScript(p *project.Project, s *project.Script) (due.Script, error) {
	h := s.Header
	d := due.Script{Partition: s.Spec}
	at := func(line int, err error) error { return fmt.Errorf("%s:%d: %w", s.File, line, err) }
	duration := func(to *time.Duration, text, key string) error {
		if text == "" {
			return nil
		}
		var err error
		if *to, err = annotate.ParseDuration(text); err != nil {
			return at(h.Lines[key], err)
		}
		return nil
	}
	if err := duration(&d.Debounce, h.Debounce, "debounce"); err != nil {
		return d, err
	}
	if err := duration(&d.Freshness, h.Freshness, "freshness"); err != nil {
		return d, err
	}
	if h.Join == annotate.JoinAll {
		d.Join = due.JoinAll
	}
	if h.Retry != nil {
		d.Retry.Count = h.Retry.Count
		if err := duration(&d.Retry.Delay, h.Retry.Delay, "retry"); err != nil {
			return d, err
		}
	}
	for _, t := range h.Triggers {
		if t.Native != annotate.Schedule || t.Cron == "" || d.Schedule != nil {
			continue
		}
		sched, err := due.ParseSchedule(t.Cron, t.TZ)
		if err != nil {
			return d, at(t.Line, err)
		}
		d.Schedule = &sched
	}
	for _, t := range triggers(s) {
		src := due.Source{Asset: strings.ToLower(triggerTable(p, t.Asset).Asset().String()), Partitioned: t.PartitionBearing()}
		if t.Debounce != "" {
			var quiet time.Duration
			if err := duration(&quiet, t.Debounce, "on"); err != nil {
				return d, err
			}
			src.Debounce = &quiet
		}
		d.Sources = append(d.Sources, src)
	}
	if err := d.Check(); err != nil {
		return d, at(h.Partitioned.Line, err)
	}
	return d, nil
}
