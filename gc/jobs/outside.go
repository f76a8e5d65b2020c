package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// Work is a run that somebody else than the server does, and records in the history: a worker
// with DuckDB.
type Work struct {
	Lake    string
	DryRun  bool
	By      string            // a user
	Session int32             // the session of the worker, by its process id: only it may go on with the run
	Options map[string]string // what was asked for, for people
}

// Begin records the begin of a run and returns its id. Whoever begins one ends it with Finish, or
// Lost.
func (m *Manager) Begin(ctx context.Context, catalog string, w Work) (int64, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return 0, err
	}
	st, err := m.state(ctx, cat)
	if err != nil {
		return 0, err
	}
	err = meta.Read(ctx, cat, func(txn *store.Txn) error {
		if _, err := meta.Open(txn, w.Lake); err != nil {
			return fmt.Errorf("%w: %q", ErrNoLake, w.Lake)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	st.recordMu.Lock()
	defer st.recordMu.Unlock()
	now := m.o.Clock.Now()
	e := Entry{Lake: w.Lake, Kind: gc.Maintain, State: Running, DryRun: w.DryRun, Asked: now, Started: now, AskedBy: userName(w.By), Overrides: w.Options}
	m.mu.Lock()
	e.ID = st.nextID
	m.mu.Unlock()
	if err := m.record(ctx, cat, &e); err != nil {
		return 0, err
	}
	m.mu.Lock()
	st.nextID++
	st.outside = append(st.outside, &job{entry: e, ended: make(chan struct{}), saved: now, session: w.Session})
	m.mu.Unlock()
	m.log.Info("maintenance run of a worker begins", m.fields(st, &e)...)
	m.o.Metrics.begin(cat.Name(), &e)
	return e.ID, nil
}

// Report adds what a run has done since the last report, with its notes and items. stop says
// why the run is to end after what it is at; nil if it may go on.
func (m *Manager) Report(ctx context.Context, catalog string, id int64, session int32, did gc.Result) (stop, err error) {
	st, j, err := m.begun(ctx, catalog, id, session)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	r := j.entry.Result.Clone()
	stop = j.stop
	m.mu.Unlock()
	r.Merge(&did)
	m.progress(ctx, st, j, r)
	return stop, nil
}

// Finish ends a run, with what it has done since the last report. State is one in which a job
// ends, and failure says why it is not Done.
func (m *Manager) Finish(ctx context.Context, catalog string, id int64, session int32, s State, did gc.Result, failure string) (Entry, error) {
	st, j, err := m.begun(ctx, catalog, id, session)
	if err != nil {
		return Entry{}, err
	}
	m.mu.Lock()
	e := j.entry
	if j.stop != nil && s == Stopped {
		s = Cancelled // it was, whatever the worker calls it
	}
	m.mu.Unlock()
	e.Result = e.Result.Clone()
	e.Result.Merge(&did)
	e.State, e.Error = s, failure
	if !m.leave(st, j) {
		return Entry{}, noRun(catalog, id)
	}
	m.settle(ctx, st, j, e)
	return e, m.prune(ctx, st.cat)
}

// Lost ends a run whose worker is gone without a word. A run that has ended is left as it is.
func (m *Manager) Lost(ctx context.Context, catalog string, id int64, session int32) {
	st, j, err := m.begun(ctx, catalog, id, session)
	if err != nil || !m.leave(st, j) {
		return
	}
	m.mu.Lock()
	e := j.entry
	m.mu.Unlock()
	e.State, e.Error = Interrupted, "the connection of the worker ended while it was at work"
	m.settle(ctx, st, j, e)
}

// begun finds a run of a session that has not ended.
func (m *Manager) begun(ctx context.Context, catalog string, id int64, session int32) (*catalogState, *job, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return nil, nil, err
	}
	st, err := m.state(ctx, cat)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := st.run(id); i >= 0 && st.outside[i].session == session {
		return st, st.outside[i], nil
	}
	return nil, nil, noRun(catalog, id)
}

func noRun(catalog string, id int64) error {
	return fmt.Errorf("%w of this session that has not ended: %d in catalog %s", ErrNoJob, id, catalog)
}

// run is the index of a run in outside. REQUIRES: Manager.mu.
func (st *catalogState) run(id int64) int {
	return slices.IndexFunc(st.outside, func(j *job) bool { return j.entry.ID == id })
}

// leave takes a run off the list; false when it was not on it any more.
func (m *Manager) leave(st *catalogState, j *job) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(st.outside, j)
	if i < 0 {
		return false
	}
	st.outside = slices.Delete(st.outside, i, i+1)
	return true
}

// settle gives a run its final state.
func (m *Manager) settle(ctx context.Context, st *catalogState, j *job, e Entry) {
	e.Ended = m.o.Clock.Now()
	if err := m.record(ctx, st.cat, &e); err != nil && !errors.Is(err, store.ErrNoCatalog) {
		m.log.Error("the end of a run was not recorded", append(m.fields(st, &e), "error", err)...)
	}
	fields := append(m.fields(st, &e), "state", string(e.State), "counts", Counts(&e.Result), "took", e.Ended.Sub(e.Started).Round(0))
	if e.State == Done {
		m.log.Info("maintenance run of a worker ended", fields...)
	} else {
		m.log.Warn("maintenance run of a worker did not finish", append(fields, "error", e.Error)...)
	}
	m.o.Metrics.ended(st.cat.Name(), &e)
	m.mu.Lock()
	j.entry = e
	st.note(&e)
	left := slices.ContainsFunc(st.outside, func(o *job) bool { return o.entry.Kind == e.Kind })
	m.mu.Unlock()
	if !left {
		m.o.Metrics.over(st.cat.Name(), &e)
	}
	close(j.ended)
}

// worked is the status of what workers do on a lake; ok is false when none ever has.
func (m *Manager) worked(st *catalogState, lake string, hold []Pause) (s Status, ok bool) {
	s = Status{Lake: lake, Kind: gc.Maintain, State: "idle", Why: `"eider maintain" does it`}
	if p, held := paused(hold, gc.Maintain); held {
		s.State, s.Why = "paused", p.Note
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := st.past[lakeKind{lake, gc.Maintain}]
	s.Last = last.done
	if last.failures > 0 {
		s.Problem = fmt.Sprintf("it has failed %d times", last.failures)
	}
	for _, j := range st.outside {
		if j.entry.Lake == lake && !j.entry.DryRun {
			s.State, s.Job, s.Result, ok = "running", j.entry.ID, j.entry.Result.Clone(), true
		}
	}
	return s, ok
}

// userName is a user's name as the history has it: a user of the name is not the scheduler.
func userName(name string) string {
	if name == gc.Scheduler {
		return fmt.Sprintf("%q", name)
	}
	return name
}
