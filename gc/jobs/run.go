package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// How long the scheduler waits after a failure before it tries again, doubled with each
// further one up to the time between two rounds.
const firstRetry = 5 * time.Minute

// triggerGap is the least time between a job and the next that a trigger asks for, and
// idleGap that after one that found nothing to do.
const (
	triggerGap = 10 * time.Minute
	idleGap    = time.Hour
)

// Run works until ctx ends, and returns when every job has ended. It is called once.
func (m *Manager) Run(ctx context.Context) {
	m.mu.Lock()
	m.running = true
	m.mu.Unlock()
	close(m.ready)
	var workers sync.WaitGroup
	defer func() {
		m.mu.Lock()
		m.running = false
		m.mu.Unlock()
		workers.Wait()
		m.dropQueues()
	}()
	for {
		next := m.round(ctx)
		m.dispatch(ctx, &workers)
		for waiting := true; waiting; {
			timer, stop := m.o.Clock.After(next)
			select {
			case <-ctx.Done():
				stop()
				return
			case <-timer:
				waiting = false
			case <-m.wake:
				// A job was submitted or has ended: what waits may run. Policies may have changed.
				waiting = false
			}
			stop()
		}
	}
}

// dropQueues ends what still waits when the server stops.
func (m *Manager) dropQueues() {
	m.mu.Lock()
	var list []*job
	var states []*catalogState
	for _, st := range m.catalogs {
		for _, j := range st.queue {
			list, states = append(list, j), append(states, st)
		}
		st.queue = nil
	}
	m.mu.Unlock()
	for i, j := range list {
		m.end(context.Background(), states[i], j, gc.Result{}, errStopping)
	}
}

// round looks at each catalog for what is due, and returns when to look again.
func (m *Manager) round(ctx context.Context) time.Duration {
	seen := map[uint32]bool{}
	for _, info := range m.o.Store.Catalogs() {
		seen[info.OID] = true
		cat, err := m.o.Store.Catalog(info.Name)
		if err != nil || ctx.Err() != nil {
			continue
		}
		if err := m.look(ctx, cat); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrNoCatalog) {
			m.log.Error("maintenance cannot be scheduled", "catalog", info.Name, "error", err)
		}
	}
	m.mu.Lock()
	for oid, st := range m.catalogs {
		if !seen[oid] && st.current == nil && len(st.queue)+len(st.outside) == 0 {
			delete(m.catalogs, oid)
			m.o.Metrics.forget(st.cat.Name())
		}
	}
	m.mu.Unlock()
	return m.o.Tick
}

// look measures the lakes of a catalog and puts what is due in the queue.
func (m *Manager) look(ctx context.Context, cat *store.Catalog) error {
	st, err := m.state(ctx, cat)
	if err != nil {
		return err
	}
	var set *gc.Set
	var hold []Pause
	var lakes []string
	err = meta.Read(ctx, cat, func(txn *store.Txn) (err error) {
		if set, err = LoadPolicies(ctx, txn, m.o.Defaults); err != nil {
			return err
		}
		if hold, err = pauses(ctx, txn); err != nil {
			return err
		}
		m.recheck(st, set, hold)
		for _, l := range meta.Lakes(txn) {
			lakes = append(lakes, l.Name())
		}
		return m.measure(ctx, st, txn)
	})
	if err != nil {
		return err
	}
	m.complain(st, set)
	m.o.Metrics.pauses(cat.Name(), hold)
	now := m.o.Clock.Now()
	for _, l := range lakes {
		p := set.For(l)
		if m.o.Manual || !p.Maintenance() || len(p.Problems()) > 0 {
			continue
		}
		if w, loc := p.Windows(); !w.Open(now.In(loc)) {
			continue
		}
		for _, k := range gc.Kinds() {
			mode := p.Mode(k)
			if _, held := paused(hold, k); held || mode == gc.ModeOff || m.o.Jobs[k] == nil {
				continue
			}
			if due, _ := m.due(st, p, k); due.After(now) {
				continue
			}
			e := Entry{Lake: l, Kind: k, State: Queued, DryRun: mode == gc.ModeDryRun, AskedBy: gc.Scheduler}
			if m.waits(st, &e) {
				continue
			}
			if _, err := m.enqueue(ctx, cat, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// waits says whether a job like this one waits or runs. One of the scheduler that waits becomes
// what the policies say when it is its turn.
func (m *Manager) waits(st *catalogState, e *Entry) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	like := func(j *job) bool {
		return j.entry.Lake == e.Lake && j.entry.Kind == e.Kind && (j.entry.DryRun == e.DryRun || j.entry.AskedBy == gc.Scheduler)
	}
	return st.current != nil && like(st.current) || slices.ContainsFunc(st.queue, like)
}

// due says when a kind of job is due on a lake, and why.
func (m *Manager) due(st *catalogState, p *gc.Policies, k gc.Kind) (at time.Time, why string) {
	m.mu.Lock()
	past, lake := st.past[lakeKind{p.Lake(), k}], st.lakes[p.Lake()]
	m.mu.Unlock()
	switch {
	case past.state == Stopped:
		return past.ended, "it was stopped"
	case past.state == Cancelled:
		return past.ended.Add(p.Every(k)), "it was cancelled"
	case past.failures == 1 && past.state == Interrupted:
		return past.ended, "it was interrupted"
	case past.failures > 0:
		wait := firstRetry << min(past.failures-1, 20)
		return past.ended.Add(min(wait, max(p.Every(k), firstRetry))), fmt.Sprintf("it has failed %d times", past.failures)
	case past.done.IsZero():
		return time.Time{}, "it has not run yet"
	}
	at, why = past.done.Add(p.Every(k)), "regularly"
	if t := lake.trigger(p.Triggers(), k, m.o.Clock.Now()); t != "" {
		gap := triggerGap
		if past.idle {
			gap = idleGap
		}
		if early := past.done.Add(gap); early.Before(at) {
			return early, t
		}
	}
	return at, why
}

// complain logs policies that cannot be read, once for each state of them.
func (m *Manager) complain(st *catalogState, set *gc.Set) {
	list := set.Problems()
	lines := make([]string, len(list))
	for i, x := range list {
		lines[i] = x.Scope.String() + ": " + x.Err.Error()
	}
	text := strings.Join(lines, "\n")
	m.o.Metrics.problems(st.cat.Name(), len(list))
	m.mu.Lock()
	changed := st.problems != text
	st.problems = text
	m.mu.Unlock()
	if !changed {
		return
	}
	for i := range list {
		m.log.Error("a policy cannot be read: no maintenance of what it covers", "catalog", st.cat.Name(),
			"scope", list[i].Scope.String(), "policy", list[i].Name, "value", list[i].Value, "error", list[i].Err)
	}
}

// dispatch starts a worker for each catalog that has something to do and none at work.
func (m *Manager) dispatch(ctx context.Context, workers *sync.WaitGroup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, st := range m.catalogs {
		if st.current != nil || len(st.queue) == 0 || ctx.Err() != nil {
			continue
		}
		j := st.queue[0]
		st.queue = st.queue[1:]
		jctx, cancel := context.WithCancelCause(ctx)
		j.cancel = cancel
		st.current = j
		workers.Go(func() {
			defer m.poke()
			m.work(jctx, st, j)
			cancel(nil)
		})
	}
}

// work runs one job from its begin to its end.
func (m *Manager) work(ctx context.Context, st *catalogState, j *job) {
	res, err := m.perform(ctx, st, j)
	// The end is written even when the server stops.
	under := context.WithoutCancel(ctx)
	m.end(under, st, j, res, err)
	if err := m.prune(under, st.cat); err != nil && !errors.Is(err, store.ErrNoCatalog) {
		m.log.Error("the history of jobs was not pruned", "catalog", st.cat.Name(), "error", err)
	}
}

// perform does the work of a job.
func (m *Manager) perform(ctx context.Context, st *catalogState, j *job) (res gc.Result, err error) {
	e := j.entry // only this goroutine changes it while the job runs
	defer func() { err = causeOf(ctx, err) }()
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	policies, err := m.admit(ctx, st, &e)
	if err != nil {
		return res, err
	}
	if e.AskedBy == gc.Scheduler {
		stop := m.closeWindow(policies, j.cancel)
		defer stop()
	}
	now := m.o.Clock.Now()
	e.State, e.Started = Running, now
	m.mu.Lock()
	j.entry.State, j.entry.Started, j.entry.DryRun, j.saved = Running, now, e.DryRun, now
	m.mu.Unlock()
	if err := m.record(ctx, st.cat, &e); err != nil {
		return res, err
	}
	m.log.Info("maintenance job begins", m.fields(st, &e)...)
	m.o.Metrics.begin(st.cat.Name(), &e)
	defer m.o.Metrics.over(st.cat.Name(), &e)
	r := &gc.Request{
		Catalog: st.cat.Name(), Lake: e.Lake, Policies: policies, Now: now, AskedBy: e.AskedBy, Job: e.ID,
		Progress: func(p gc.Result) { m.progress(ctx, st, j, p) },
	}
	body := m.o.Jobs[e.Kind]
	defer func() {
		// A defect in one job must not end the server that clients are served by.
		if p := recover(); p != nil {
			err = fmt.Errorf("defect: %v", p)
			m.log.Error("maintenance job panics", append(m.fields(st, &e), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))...)
		}
	}()
	if e.DryRun {
		res, err = body.Plan(ctx, r)
		if policies.Mode(e.Kind) == gc.ModeDryRun && e.AskedBy != gc.Scheduler {
			res.Note("only planned, because the policy %s is dry-run: set it to on, or override it for one run (%[1]s=on)", e.Kind)
		}
	} else {
		res, err = body.Run(ctx, r)
	}
	return res, err
}

// causeOf is the error of a job, and why its context has ended if that was before it had.
func causeOf(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if err = context.Cause(ctx); errors.Is(err, context.Canceled) {
		return errStopping
	}
	return err
}

// admit looks once more whether a job may run, whether as more than a dry run, and by which
// policies: it may have waited.
func (m *Manager) admit(ctx context.Context, st *catalogState, e *Entry) (p *gc.Policies, err error) {
	err = meta.Read(ctx, st.cat, func(txn *store.Txn) error {
		if _, err := meta.Open(txn, e.Lake); err != nil {
			return fmt.Errorf("%w: %q", ErrNoLake, e.Lake)
		}
		set, err := LoadPolicies(ctx, txn, m.o.Defaults)
		if err != nil {
			return err
		}
		if p, err = set.For(e.Lake).With(e.Overrides); err != nil {
			return err
		}
		if err := readable(p); err != nil && (e.AskedBy == gc.Scheduler || !e.DryRun) {
			return err
		}
		hold, err := pauses(ctx, txn)
		if err != nil {
			return err
		}
		return allow(p, hold, e)
	})
	if err == nil && e.AskedBy == gc.Scheduler {
		if w, loc := p.Windows(); !w.Open(m.o.Clock.Now().In(loc)) {
			return nil, gc.ErrWindowClosed
		}
	}
	return p, err
}

// closeWindow ends a job's context when its window closes. The wait ends with the function
// that it returns.
func (m *Manager) closeWindow(p *gc.Policies, cancel context.CancelCauseFunc) (stop func()) {
	w, loc := p.Windows()
	now := m.o.Clock.Now()
	at, ok := w.Change(now.In(loc))
	if !ok {
		return func() {}
	}
	closed, stopTimer := m.o.Clock.After(at.Sub(now))
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stopTimer()
		select {
		case <-closed:
			cancel(gc.ErrWindowClosed)
		case <-over:
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// progress keeps what a job has done so far, and writes it now and then.
func (m *Manager) progress(ctx context.Context, st *catalogState, j *job, r gc.Result) {
	r = r.Clone()
	now := m.o.Clock.Now()
	m.mu.Lock()
	j.entry.Result = r
	e := j.entry
	save := now.Sub(j.saved) >= progressEvery
	if save {
		j.saved = now
	}
	m.mu.Unlock()
	if !save {
		return
	}
	if err := m.record(ctx, st.cat, &e); err != nil && ctx.Err() == nil {
		m.log.Warn("the progress of a job was not recorded", append(m.fields(st, &e), "error", err)...)
	}
}

// end gives a job its final state.
func (m *Manager) end(ctx context.Context, st *catalogState, j *job, res gc.Result, err error) {
	m.mu.Lock()
	e := j.entry
	m.mu.Unlock()
	if err == nil || len(res.Counts) > 0 || res.Deferred > 0 || len(res.Notes) > 0 || len(res.Items) > 0 {
		e.Result = res.Clone() // else what it has told on its way
	}
	e.Ended = m.o.Clock.Now()
	switch {
	case err == nil:
		e.State = Done
	case errors.Is(err, ErrCancelled):
		e.State = Cancelled
	case errors.Is(err, gc.ErrPaused), errors.Is(err, gc.ErrWindowClosed), errors.Is(err, errStopping), errors.Is(err, ErrOff),
		errors.Is(err, ErrProblems):
		e.State = Stopped
	default:
		e.State = Failed
	}
	if err != nil {
		e.Error = err.Error()
	}
	if rerr := m.record(ctx, st.cat, &e); rerr != nil && !errors.Is(rerr, store.ErrNoCatalog) {
		m.log.Error("the end of a job was not recorded", append(m.fields(st, &e), "error", rerr)...)
	}
	fields := append(m.fields(st, &e), "state", string(e.State), "counts", Counts(&e.Result), "bytes", e.Result.Bytes, "deferred", e.Result.Deferred)
	switch e.State {
	case Done:
		m.log.Info("maintenance job ended", append(fields, "took", e.Ended.Sub(e.Started).Round(time.Millisecond))...)
	case Failed:
		m.log.Error("maintenance job failed", append(fields, "error", e.Error)...)
	default:
		m.log.Warn("maintenance job did not finish", append(fields, "error", e.Error)...)
	}
	m.o.Metrics.ended(st.cat.Name(), &e)
	m.mu.Lock()
	j.entry = e
	st.note(&e)
	if st.current == j {
		st.current = nil
	}
	m.mu.Unlock()
	close(j.ended)
}

func (m *Manager) fields(st *catalogState, e *Entry) []any {
	f := []any{"catalog", st.cat.Name(), "lake", e.Lake, "kind", string(e.Kind), "job", e.ID, "by", e.AskedBy}
	if e.DryRun {
		f = append(f, "dry_run", true)
	}
	return f
}
