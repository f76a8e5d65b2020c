package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// Options configure a Manager. The zero value of a field has its default, unless it says
// otherwise.
type Options struct {
	// Store has the catalogs. Required.
	Store *store.Store
	// Jobs do the work, by kind. A kind that is not here is never due.
	Jobs map[gc.Kind]gc.Job
	// Committer commits what the manager itself writes: history, policies, pauses, tags.
	// Required.
	Committer meta.Committer
	// Clock is the time source; SystemClock when nil.
	Clock Clock
	// Logger gets what jobs do; nobody when nil.
	Logger *slog.Logger
	// Metrics counts; nothing is counted when nil.
	Metrics *Metrics
	// Defaults count where no policy is set; nil for the policies' own.
	Defaults gc.Defaults
	// Manual turns the scheduler off: only jobs that somebody asks for are run.
	Manual bool
	// Tick is how often the manager looks for what is due. Default one minute.
	Tick time.Duration
	// History is how many jobs eider.jobs keeps. Default 1000.
	History int
	// Waiting bounds the jobs that wait in a catalog. Default 1000.
	Waiting int
	// Measure is how often lakes are measured, for the metrics and the policies' triggers.
	// Default 15 minutes; negative: never.
	Measure time.Duration
	// MeasureRows bounds the rows of each table that one measurement reads. Default 1,000,000.
	MeasureRows int
}

// progressEvery is how often the progress of a running job is written to the history.
const progressEvery = 5 * time.Second

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tick <= 0 {
		o.Tick = time.Minute
	}
	if o.History <= 0 {
		o.History = 1000
	}
	if o.Waiting <= 0 {
		o.Waiting = 1000
	}
	if o.Measure == 0 {
		o.Measure = 15 * time.Minute
	}
	if o.MeasureRows <= 0 {
		o.MeasureRows = 1_000_000
	}
	return o
}

// Manager runs jobs. Its methods may be called from any goroutine.
type Manager struct {
	o    Options
	log  *slog.Logger
	wake chan struct{} // capacity 1: something changed

	ready chan struct{} // closed when Run is at work

	mu       sync.Mutex
	running  bool                     // guarded by mu: Run is at work
	catalogs map[uint32]*catalogState // guarded by mu, by oid
}

// catalogState is what the manager knows of a catalog.
type catalogState struct {
	cat *store.Catalog

	// Guarded by Manager.mu.

	ready    bool   // the history was read
	nextID   int64  // of the next job
	queue    []*job // waiting, in order
	current  *job   // at work
	outside  []*job // runs of workers, see Begin
	past     map[lakeKind]past
	lakes    map[string]Measure
	problems string // of policies, as they were logged last

	// recordMu lets one at a time give out ids, so that they ascend in the history.
	recordMu sync.Mutex
}

// past is what decides when a kind of job is due on a lake.
type past struct {
	done     time.Time // end of the last one that was done; zero: none
	ended    time.Time // end of the last one at all
	state    State     // of the last one
	failures int       // failed or interrupted since the last that was done
	idle     bool      // the last one that was done has changed nothing
}

// job is a job that waits or runs.
type job struct {
	entry  Entry
	ended  chan struct{} // closed when the entry is final
	cancel context.CancelCauseFunc
	saved  time.Time // when its progress was written last

	// Of runs of workers.

	session int32 // the worker's
	stop    error // why it was asked to end; guarded by Manager.mu
}

// New makes a Manager. Run makes it work.
func New(o Options) *Manager {
	m := &Manager{o: o.withDefaults(), wake: make(chan struct{}, 1), ready: make(chan struct{}), catalogs: make(map[uint32]*catalogState)}
	m.log = m.o.Logger
	return m
}

// Begun is closed when Run is at work, so that requests are taken.
func (m *Manager) Begun() <-chan struct{} { return m.ready }

// poke makes Run look at once.
func (m *Manager) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Manager) catalog(name string) (*store.Catalog, error) {
	c, err := m.o.Store.Catalog(name)
	if errors.Is(err, store.ErrNoCatalog) {
		return nil, fmt.Errorf("%w: %q", ErrNoCatalog, name)
	}
	return c, err
}

// state returns what is known of a catalog, after its history was read: jobs found running
// there were ended by a crash.
func (m *Manager) state(ctx context.Context, cat *store.Catalog) (*catalogState, error) {
	m.mu.Lock()
	st := m.catalogs[cat.OID()]
	if st == nil {
		st = &catalogState{cat: cat, nextID: 1, past: map[lakeKind]past{}, lakes: map[string]Measure{}}
		m.catalogs[cat.OID()] = st
	}
	ready := st.ready
	m.mu.Unlock()
	if ready {
		return st, nil
	}
	st.recordMu.Lock()
	defer st.recordMu.Unlock()
	m.mu.Lock()
	ready = st.ready
	m.mu.Unlock()
	if ready {
		return st, nil
	}
	var all []Entry
	err := meta.Read(ctx, cat, func(txn *store.Txn) (err error) {
		all, err = entries(ctx, txn)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the jobs of catalog %s: %w", cat.Name(), err)
	}
	for i := range all {
		e := &all[i]
		if e.State.Ended() {
			continue
		}
		m.log.Warn("maintenance job was interrupted", "catalog", cat.Name(), "lake", e.Lake, "kind", string(e.Kind), "job", e.ID)
		e.State, e.Ended, e.Error = Interrupted, m.o.Clock.Now(), "the server ended while the job was "+string(e.State)
		if err := m.record(ctx, cat, e); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range all {
		st.nextID = max(st.nextID, all[i].ID+1)
		st.note(&all[i])
	}
	for k, p := range st.past {
		m.o.Metrics.last(cat.Name(), k, p.done)
	}
	st.ready = true
	return st, nil
}

// note remembers the end of a job. REQUIRES: Manager.mu.
func (st *catalogState) note(e *Entry) {
	if e.Kind != gc.Maintain && e.AskedBy != gc.Scheduler && (len(e.Overrides) > 0 || e.State == Cancelled) || e.State == Skipped {
		return // it says nothing about what the policies ask for
	}
	key := lakeKind{e.Lake, e.Kind}
	p := st.past[key]
	p.ended, p.state = e.Ended, e.State
	switch e.State {
	case Done:
		if e.DryRun && e.AskedBy != gc.Scheduler {
			return
		}
		p.done, p.failures, p.idle = e.Ended, 0, e.DryRun || e.Result.Idle()
	case Failed, Interrupted:
		p.failures++
	}
	st.past[key] = p
}

// Ask is a request for jobs.
type Ask struct {
	Catalog string
	Lake    string    // "" for all lakes of the catalog
	Kinds   []gc.Kind // in the order in which they are to run; none for all that the server can do
	DryRun  bool
	By      string
	// Overrides are policies that count for this run only.
	Overrides map[string]string
	// Skip skips named kinds that are off or paused, as in a request for all.
	Skip bool
}

// Submit records jobs and puts them in the queue. They run one after the other, whatever the
// policies say about windows and whether maintenance is on. It returns the jobs' ids, in order.
//
// The mode of a kind holds for them too: a kind that is "dry-run" is planned only, and one that
// is off does not run, as does one that is paused. A named kind that no lake lets run is refused
// with an ErrOff or gc.ErrPaused; all others are skipped, and recorded as that. An override of
// the mode lifts it, and plans may always be made.
func (m *Manager) Submit(ctx context.Context, a Ask) ([]int64, error) {
	cat, err := m.catalog(a.Catalog)
	if err != nil {
		return nil, err
	}
	a.By = userName(a.By)
	for _, k := range a.Kinds {
		if k == gc.Maintain {
			return nil, fmt.Errorf("%w %s: \"eider maintain\" does it, with DuckDB", ErrUnavailable, k)
		}
		if m.o.Jobs[k] == nil {
			return nil, fmt.Errorf("%w %s", ErrUnavailable, k)
		}
	}
	refuse := len(a.Kinds) > 0 && !a.Skip
	if len(a.Kinds) == 0 {
		a.Kinds = slices.DeleteFunc(gc.Kinds(), func(k gc.Kind) bool { return m.o.Jobs[k] == nil })
	}
	var list []Entry
	err = meta.Read(ctx, cat, func(txn *store.Txn) (err error) {
		list, err = choose(ctx, txn, &a, refuse, m.o.Defaults)
		return err
	})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, e := range list {
		id, err := m.enqueue(ctx, cat, e)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// choose makes the entries of a request: queued, or skipped with the reason. With refuse, a
// kind that is skipped everywhere is an error.
func choose(ctx context.Context, txn *store.Txn, a *Ask, refuse bool, defaults gc.Defaults) ([]Entry, error) {
	var lakes []string
	for _, l := range meta.Lakes(txn) {
		if a.Lake == "" || a.Lake == l.Name() {
			lakes = append(lakes, l.Name())
		}
	}
	if a.Lake != "" && len(lakes) == 0 {
		return nil, fmt.Errorf("%w: %q in catalog %s", ErrNoLake, a.Lake, a.Catalog)
	}
	hold, err := pauses(ctx, txn)
	if err != nil {
		return nil, err
	}
	if x, all := paused(hold, ""); all && !a.DryRun && !a.Skip {
		return nil, x.err() // nothing of a round would be left but plans
	}
	set, err := LoadPolicies(ctx, txn, defaults)
	if err != nil {
		return nil, err
	}
	var list []Entry
	runs, reasons := map[gc.Kind]bool{}, map[gc.Kind]error{}
	for _, l := range lakes {
		p, err := set.For(l).With(a.Overrides)
		if err != nil {
			return nil, err
		}
		if err := readable(p); err != nil && !a.DryRun {
			return nil, err
		}
		for _, k := range a.Kinds {
			e := Entry{Lake: l, Kind: k, State: Queued, DryRun: a.DryRun, AskedBy: a.By, Overrides: maps.Clone(a.Overrides)}
			if err := allow(p, hold, &e); err != nil {
				e.State, e.Error, reasons[k] = Skipped, err.Error(), err
			} else {
				runs[k] = true
			}
			list = append(list, e)
		}
	}
	for _, k := range a.Kinds {
		if refuse && !runs[k] && reasons[k] != nil {
			return nil, reasons[k]
		}
	}
	return list, nil
}

// allow says with an ErrOff or gc.ErrPaused why a job may not run, and makes it a dry run where
// the mode of its kind lets it do no more. A job of the scheduler is what the mode says, others
// stay dry runs if they are.
func allow(p *gc.Policies, hold []Pause, e *Entry) error {
	scheduled := e.AskedBy == gc.Scheduler
	if scheduled && !p.Maintenance() {
		return fmt.Errorf("%w: maintenance of lake %s is off", ErrOff, e.Lake)
	}
	switch mode := p.Mode(e.Kind); {
	case mode == gc.ModeOff && (scheduled || !e.DryRun):
		return fmt.Errorf("%w: policy %s of lake %s is off", ErrOff, e.Kind, e.Lake)
	case mode == gc.ModeDryRun:
		e.DryRun = true
	case scheduled:
		e.DryRun = false
	}
	if x, held := paused(hold, e.Kind); held && (scheduled || !e.DryRun) {
		return x.err()
	}
	return nil
}

// readable refuses to work by policies of which some cannot be read.
func readable(p *gc.Policies) error {
	list := p.Problems()
	if len(list) == 0 {
		return nil
	}
	x := list[0]
	return fmt.Errorf("%w, for %s: %w", ErrProblems, x.Scope, x.Err)
}

// enqueue records a job and puts it in the queue, unless it is skipped.
func (m *Manager) enqueue(ctx context.Context, cat *store.Catalog, e Entry) (int64, error) {
	st, err := m.state(ctx, cat)
	if err != nil {
		return 0, err
	}
	st.recordMu.Lock()
	defer st.recordMu.Unlock()
	m.mu.Lock()
	e.ID = st.nextID
	running, waiting := m.running, len(st.queue)
	m.mu.Unlock()
	switch {
	case !running:
		return 0, ErrStopped
	case waiting >= m.o.Waiting:
		return 0, fmt.Errorf("%w: %d", ErrBusy, waiting)
	}
	e.Asked = m.o.Clock.Now()
	if e.State == Skipped {
		e.Ended = e.Asked
	}
	if err := m.record(ctx, cat, &e); err != nil {
		return 0, err
	}
	m.mu.Lock()
	st.nextID++
	if e.State == Queued {
		st.queue = append(st.queue, &job{entry: e, ended: make(chan struct{})})
	}
	m.mu.Unlock()
	m.poke()
	return e.ID, nil
}

// Job returns a job: as it is now if it waits or runs, from the history if it has ended.
func (m *Manager) Job(ctx context.Context, catalog string, id int64) (Entry, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return Entry{}, err
	}
	if _, e, ok := m.live(cat, id); ok {
		return e, nil
	}
	var found Entry
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		t, ok, err := meta.Own(txn, jobsTable, jobsColumns...)
		if err != nil {
			return err
		}
		if ok {
			r, is, err := t.One(ctx, meta.Is("id", id))
			if err != nil {
				return err
			}
			if ok = is; is {
				found = entry(&r)
			}
		}
		if !ok {
			return fmt.Errorf("%w: %d in catalog %s", ErrNoJob, id, catalog)
		}
		return nil
	})
	return found, err
}

// live finds a job that has not ended.
func (m *Manager) live(cat *store.Catalog, id int64) (j *job, e Entry, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.catalogs[cat.OID()]
	if st == nil {
		return nil, Entry{}, false
	}
	list := slices.Concat(st.queue, st.outside)
	if st.current != nil {
		list = append(list, st.current)
	}
	i := slices.IndexFunc(list, func(j *job) bool { return j.entry.ID == id })
	if i < 0 {
		return nil, Entry{}, false
	}
	e = list[i].entry
	e.Result = e.Result.Clone()
	return list[i], e, true
}

// Wait waits until a job has ended, and returns it.
func (m *Manager) Wait(ctx context.Context, catalog string, id int64) (Entry, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return Entry{}, err
	}
	if j, _, ok := m.live(cat, id); ok {
		select {
		case <-j.ended:
		case <-ctx.Done():
			return Entry{}, context.Cause(ctx)
		}
	}
	return m.Job(ctx, catalog, id)
}

// Cancel ends a job that waits or runs; ErrNoJob when there is no such one. A worker is told
// with its next report, and ends after the step that it is at.
func (m *Manager) Cancel(ctx context.Context, catalog string, id int64, by string) error {
	cat, err := m.catalog(catalog)
	if err != nil {
		return err
	}
	cause := fmt.Errorf("%w by %s", ErrCancelled, by)
	m.mu.Lock()
	st := m.catalogs[cat.OID()]
	var j *job
	if st != nil && st.current != nil && st.current.entry.ID == id {
		st.current.cancel(cause)
		m.mu.Unlock()
		return nil
	}
	if st != nil {
		if i := st.run(id); i >= 0 {
			st.outside[i].stop = cause
			m.mu.Unlock()
			return nil
		}
		if i := slices.IndexFunc(st.queue, func(j *job) bool { return j.entry.ID == id }); i >= 0 {
			j = st.queue[i]
			st.queue = slices.Delete(st.queue, i, i+1)
		}
	}
	m.mu.Unlock()
	if j == nil {
		return fmt.Errorf("%w that waits or runs: %d in catalog %s", ErrNoJob, id, catalog)
	}
	m.end(ctx, st, j, gc.Result{}, cause)
	return nil
}

// stopPaused ends the running job of a kind that was paused; those in the queue find out
// when it is their turn.
func (m *Manager) stopPaused(cat *store.Catalog, k gc.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if st := m.catalogs[cat.OID()]; st != nil && st.current != nil && !st.current.entry.DryRun && (k == "" || k == st.current.entry.Kind) {
		st.current.cancel(gc.ErrPaused)
	}
}

// recheck ends the running job of the scheduler when policies or pauses, which may have changed
// since its begin, do not let it go on.
func (m *Manager) recheck(st *catalogState, set *gc.Set, hold []Pause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := st.current
	if j == nil || j.entry.AskedBy != gc.Scheduler {
		return
	}
	e, p := j.entry, set.For(j.entry.Lake)
	err := readable(p)
	if err == nil {
		err = allow(p, hold, &e)
	}
	if err == nil && e.DryRun && !j.entry.DryRun {
		err = fmt.Errorf("%w: policy %s of lake %s is dry-run", ErrOff, e.Kind, e.Lake)
	}
	if err != nil {
		j.cancel(err)
	}
}
