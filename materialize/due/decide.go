package due

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Action is what to do.
type Action int

// The actions.
const (
	Nothing Action = iota // until something happens
	Wait                  // until Decision.At, or until something happens
	RunNow                // Decision.Runs
)

// Reason is why a run is due: the first of these that holds.
type Reason int

// The reasons.
const (
	ByTick   Reason = iota + 1 // a tick of the schedule
	ByCommit                   // sources have changed
	ByAge                      // the result is too old, or there is none
	ByRetry                    // the last run failed
)

// Run is a run that is due.
type Run struct {
	// Partition is its slice; "" for a script without.
	Partition string
	Reason    Reason
	// Attempt is 1, and one more for each retry.
	Attempt int
	// Tick is the newest tick that the run answers; zero if it answers none. Who begins the
	// run records it as State.LastTick.
	Tick time.Time
	// Assets are the sources whose changes the run answers, sorted.
	Assets []string
}

// Decision is what to do now.
type Decision struct {
	Action Action
	// Runs are to be made one after the other in this order, for RunNow. Before each of them
	// it is as well to ask again: the state is another.
	Runs []Run
	// At is when to ask again, for Wait.
	At time.Time
	// Older is set if slices were missed that are outside of the kind's window. They are
	// left to a backfill.
	Older bool
}

// String is the reason in words.
func (r Run) String() string {
	switch r.Reason {
	case ByTick:
		return "schedule: " + r.Tick.Format("2006-01-02T15:04:05Z07:00")
	case ByCommit:
		return "changed: " + strings.Join(r.Assets, ", ")
	case ByAge:
		return "stale"
	case ByRetry:
		return fmt.Sprintf("retry %d", r.Attempt-1)
	}
	return "none"
}

// Decide says what is due at now.
func (s Script) Decide(st State, now time.Time) (Decision, error) {
	if err := s.Check(); err != nil {
		return Decision{}, err
	}
	for _, slice := range st.Slices {
		if slice.Outcome == Running {
			return Decision{Action: Nothing}, nil
		}
	}
	d := decider{Script: s, st: st, now: now, runs: map[string]*Run{}}
	if err := d.ticks(); err != nil {
		return Decision{}, fmt.Errorf("ticks of the schedule: %w", err)
	}
	if err := d.commits(); err != nil {
		return Decision{}, fmt.Errorf("commits to sources: %w", err)
	}
	d.age()
	d.retries()
	out := Decision{Older: d.older}
	switch {
	case len(d.runs) > 0:
		out.Action, out.Runs = RunNow, d.sorted()
	case !d.at.IsZero():
		out.Action, out.At = Wait, d.at
	}
	return out, nil
}

// decider collects what is due, and when the next thing will be.
type decider struct {
	Script
	st    State
	now   time.Time
	runs  map[string]*Run // by partition
	at    time.Time       // zero for never
	older bool
}

// add makes a slice due at a time: now, if that has passed.
func (d *decider) add(part string, why Reason, at time.Time) *Run {
	if at.After(d.now) {
		if d.at.IsZero() || at.Before(d.at) {
			d.at = at
		}
		return nil
	}
	r := d.runs[part]
	if r == nil {
		r = &Run{Partition: part, Reason: why, Attempt: 1}
		d.runs[part] = r
	}
	return r
}

// sorted are the runs in the order of time, or of their values where these have none.
func (d *decider) sorted() []Run {
	start := func(r Run) time.Time {
		if d.Partition != nil {
			if t, _, err := d.Partition.Bucket(r.Partition); err == nil {
				return t
			}
		}
		return r.Tick
	}
	var runs []Run
	for _, r := range d.runs {
		slices.Sort(r.Assets)
		r.Assets = slices.Compact(r.Assets)
		runs = append(runs, *r)
	}
	slices.SortFunc(runs, func(a, b Run) int {
		if c := start(a).Compare(start(b)); c != 0 {
			return c
		}
		return strings.Compare(a.Partition, b.Partition)
	})
	return runs
}

// slice is the slice of an instant; skip is set if there is none.
func (d *decider) slice(t time.Time) (part string, skip bool, err error) {
	if d.Partition == nil {
		return "", false, nil
	}
	return d.Partition.Resolve(t)
}

// ticks are those of the schedule that no run has answered.
func (d *decider) ticks() error {
	if d.Schedule == nil {
		return nil
	}
	since := d.st.LastTick
	if since.IsZero() {
		since = d.st.Since
	}
	if since.IsZero() {
		since = d.now
	}
	limit := 1
	if d.Partition != nil {
		limit = d.Partition.Kind.Window()
	}
	// Backwards, a slice at a time: of the ticks in one slice the newest counts.
	for until := d.now; ; {
		tick, ok := d.Schedule.last(since, until)
		if !ok {
			break
		}
		part, skip, err := d.slice(tick)
		if err != nil {
			return err
		}
		if skip {
			break // and those before it are skipped too
		}
		if _, again := d.runs[part]; !again && limit == 0 {
			d.older = true
			break
		} else if !again {
			d.add(part, ByTick, tick).Tick = tick
			limit--
		}
		if d.Partition == nil {
			break
		}
		until = tick.Add(-1)
		if start, _, err := d.Partition.Bucket(part); err == nil && !start.After(tick) {
			until = start.Add(-1)
		}
	}
	next := max(since.UnixNano(), d.now.UnixNano())
	d.add("", ByTick, d.Schedule.Next(time.Unix(0, next)))
	return nil
}

// age makes a script without slices due whose result is too old. A run that failed counts
// as one: the next one is as far away, retries aside.
func (d *decider) age() {
	if d.Freshness <= 0 || d.Partition != nil {
		return
	}
	slice := d.st.Slices[""]
	if slice.Outcome == Never {
		d.add("", ByAge, d.now)
		return
	}
	d.add("", ByAge, slice.Ended.Add(d.Freshness))
}

// retries makes slices due whose last run failed.
func (d *decider) retries() {
	for part, slice := range d.st.Slices {
		if slice.Outcome != Failed || slice.Attempt > d.Retry.Count || d.runs[part] != nil {
			continue
		}
		if r := d.add(part, ByRetry, slice.Ended.Add(d.Retry.Delay)); r != nil {
			r.Attempt = slice.Attempt + 1
		}
	}
}
