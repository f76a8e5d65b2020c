package jobs

import (
	"context"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// Status is where one kind of job stands on one lake.
type Status struct {
	Lake string
	Kind gc.Kind
	// Mode is what the policies say; "off" where maintenance is, "" for what workers do.
	Mode gc.Mode
	// State is what is going on: "running", "queued", "paused", "blocked" (a policy cannot be
	// read), "off", "unavailable", "outside its window", "due" or "waiting"; of what workers do
	// "running", "paused" or "idle".
	State string
	// Job is the one that runs or waits, else the last one that has ended; 0 for none.
	Job int64
	// Last is when the last one was done; zero for never.
	Last time.Time
	// Next is when the next one is due, if one will be, and Why says what for.
	Next time.Time
	Why  string
	// Problem says what an operator should look at: a policy that cannot be read, failures.
	Problem string
	// Result is what the running job has done so far.
	Result gc.Result
}

// Status lists all kinds on all lakes of a catalog, or on one. What workers do is listed of
// lakes where one has been.
func (m *Manager) Status(ctx context.Context, catalog, lake string) ([]Status, error) {
	cat, err := m.catalog(catalog)
	if err != nil {
		return nil, err
	}
	st, err := m.state(ctx, cat)
	if err != nil {
		return nil, err
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
		for _, l := range meta.Lakes(txn) {
			if lake == "" || lake == l.Name() {
				lakes = append(lakes, l.Name())
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if lake != "" && len(lakes) == 0 {
		return nil, ErrNoLake
	}
	var out []Status
	for _, l := range lakes {
		p := set.For(l)
		for _, k := range gc.Kinds() {
			out = append(out, m.statusOf(st, p, hold, k))
		}
		if s, ok := m.worked(st, l, hold); ok {
			out = append(out, s)
		}
	}
	return out, nil
}

func (m *Manager) statusOf(st *catalogState, p *gc.Policies, hold []Pause, k gc.Kind) Status {
	s := Status{Lake: p.Lake(), Kind: k, Mode: p.Mode(k)}
	if !p.Maintenance() {
		s.Mode = gc.ModeOff
	}
	now := m.o.Clock.Now()
	m.mu.Lock()
	last := st.past[lakeKind{s.Lake, k}]
	s.Last = last.done
	live := ""
	if j := st.current; j != nil && j.entry.Lake == s.Lake && j.entry.Kind == k {
		live, s.Job, s.Result = "running", j.entry.ID, j.entry.Result.Clone()
	} else {
		for _, j := range st.queue {
			if j.entry.Lake == s.Lake && j.entry.Kind == k {
				live, s.Job = "queued", j.entry.ID
				break
			}
		}
	}
	m.mu.Unlock()
	held, isHeld := paused(hold, k)
	due, why := m.due(st, p, k)
	if last.failures > 0 {
		s.Problem = why
	}
	w, loc := p.Windows()
	switch err := readable(p); {
	case live != "":
		s.State = live
	case m.o.Jobs[k] == nil:
		s.State = "unavailable"
	case err != nil:
		s.State, s.Problem = "blocked", err.Error()
	case isHeld:
		s.State, s.Why = "paused", held.Note
	case s.Mode == gc.ModeOff:
		s.State = "off"
	case !w.Open(now.In(loc)):
		s.State, s.Why, s.Next = "outside its window", why, due
		if at, ok := w.Change(now.In(loc)); ok && at.After(due) {
			s.Next = at
		}
	case due.After(now):
		s.State, s.Why, s.Next = "waiting", why, due
	default:
		s.State, s.Why, s.Next = "due", why, now
	}
	return s
}
