package maintain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/eiderdb/eider/worker/duck"
)

// Engine is the DuckDB that does the steps.
type Engine interface {
	// Exec runs one statement that has no result.
	Exec(ctx context.Context, sql string) error
	// Query runs one statement and returns its rows.
	Query(ctx context.Context, sql string) ([][]any, error)
	// Transact runs one statement in a transaction of its own and returns its rows.
	Transact(ctx context.Context, sql string) ([][]any, error)
}

var _ Engine = (*duck.DB)(nil)

// Source is the catalog of the lake.
type Source interface {
	// Alive says with an ErrLost whether the lake's lock is still held.
	Alive(ctx context.Context) error
	// Paused says why no step may begin, because maintenance is paused; "" if one may.
	Paused(ctx context.Context) (string, error)
	// State reads the lake's live tables, those of the options.
	State(ctx context.Context, o *Options) ([]Table, error)
	// HoldsRowIDs says whether the catalog refuses merges that would change row ids.
	HoldsRowIDs() bool
	// ServerJob has the server do a phase that needs no DuckDB; it returns what was done.
	ServerJob(ctx context.Context, p Phase) (string, error)
	checkRowIDs(ctx context.Context, db Engine, lake string, s *Step) (string, error)
}

var _ Source = (*Catalog)(nil)

// Clock is what a run knows of time.
type Clock struct {
	// Now is the time.
	Now func() time.Time
	// Sleep waits, or returns the context's error when that ends first.
	Sleep func(context.Context, time.Duration) error
}

// SystemClock is the machine's clock.
func SystemClock() Clock {
	return Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}}
}

// Runner does runs on one lake.
type Runner struct {
	// Lake is the name under which DB has attached the lake.
	Lake    string
	DB      Engine
	Catalog Source
	Clock   Clock
	Options Options
	// Report is told of every step when it ends; it may be nil.
	Report func(Outcome)
	// Log records the run where operators see all maintenance; it may be nil.
	Log Log
}

// Log is where a run is recorded.
type Log interface {
	// Step records the end of a step. stop says why the run is to end after it; "" if it may
	// go on. Its error is that of the lost connection.
	Step(ctx context.Context, o *Outcome) (stop string, err error)
}

// Status says how a step ended.
type Status string

// The ends of a step.
const (
	Done    Status = "done"
	Planned Status = "planned" // in a dry run
	Skipped Status = "skipped" // it would have changed row ids
	Off     Status = "off"     // in a dry run: it would be done but for the policies
	Failed  Status = "failed"
)

// Outcome is what became of a step.
type Outcome struct {
	Step    Step
	Status  Status
	Read    int64 // files
	Written int64 // files
	Rows    int64 // flushed
	Retries int
	Took    time.Duration
	Note    string // what a server's job said, or why the step was skipped
	Err     error
}

// Summary is what a run did.
type Summary struct {
	Steps, Failed, Skipped int
	Read, Written, Rows    int64
	Took                   time.Duration
	// Stopped says why the run ended before it had done everything; "" if it has.
	Stopped string
}

// run is one run's state.
type run struct {
	*Runner
	o     Options
	stop  <-chan struct{}
	rng   *rand.Rand
	begun time.Time
	sum   Summary
	told  string // by the log: why the run is to end
}

// Run does everything that there is to do, and returns what it did. It ends after the step
// at which stop is closed, which is no error; the context ends the step as well. An ErrFailed
// means that other steps were done.
func (r *Runner) Run(ctx context.Context, stop <-chan struct{}) (Summary, error) {
	x, err := r.begin(stop)
	if err != nil {
		return Summary{}, err
	}
	err = x.all(ctx)
	x.sum.Took = r.Clock.Now().Sub(x.begun)
	if err == nil && x.sum.Failed > 0 {
		err = fmt.Errorf("%w: %d", ErrFailed, x.sum.Failed)
	}
	return x.sum, err
}

// DryRun reports the steps that a run would begin with. What earlier steps leave to later
// ones is not known before they are done: files that a flush writes are not among those that
// are planned to be merged.
func (r *Runner) DryRun(ctx context.Context) (Summary, error) {
	x, err := r.begin(nil)
	if err != nil {
		return Summary{}, err
	}
	state, err := r.Catalog.State(ctx, &x.o)
	if err != nil {
		return Summary{}, err
	}
	for _, p := range phases(tiersOf(state)) {
		for _, s := range planAll(state, &x.o, p.phase, p.tier) {
			out := Outcome{Step: s, Status: Planned, Read: s.Files, Rows: s.Rows}
			if s.Off {
				out.Status, out.Note = Off, "turned off for this table"
			} else if note, err := x.risk(ctx, &s); err != nil {
				return x.sum, err
			} else if note != "" {
				out.Status, out.Note = Skipped, note
			}
			if err := x.report(ctx, out); err != nil {
				return x.sum, err
			}
		}
	}
	x.sum.Took = r.Clock.Now().Sub(x.begun)
	return x.sum, nil
}

func (r *Runner) begin(stop <-chan struct{}) (*run, error) {
	o, err := r.Options.withDefaults()
	if err != nil {
		return nil, err
	}
	return &run{Runner: r, o: o, stop: stop, rng: rand.New(rand.NewPCG(o.Seed, 0)), begun: r.Clock.Now()}, nil
}

// phase is a phase of a run, and the tier of its merges.
type phase struct {
	phase Phase
	tier  int
}

// phases are those of a run in their order, with merges of so many tiers. Files that one tier's
// merges write are in the state that the next tier's are planned from.
func phases(tiers int) []phase {
	list := []phase{{phase: Flush}, {phase: Expire}}
	for i := range tiers {
		list = append(list, phase{Merge, i})
	}
	return append(list, phase{phase: Rewrite}, phase{phase: Cleanup}, phase{phase: Orphans})
}

func (x *run) all(ctx context.Context) error {
	if stopped, err := x.stopped(ctx); stopped || err != nil {
		return err
	}
	state, err := x.Catalog.State(ctx, &x.o)
	if err != nil {
		return err
	}
	// Tables that come later have no more tiers than there are now, or wait for the next run.
	for i, p := range phases(tiersOf(state)) {
		if stopped, err := x.stopped(ctx); stopped || err != nil {
			return err
		}
		if x.o.Rest.Server && (p.phase == Expire || p.phase == Cleanup || p.phase == Orphans) {
			if err := x.server(ctx, p.phase); err != nil {
				return err
			}
			continue
		}
		if _, ok := x.o.Rest.step(p.phase); !ok && (p.phase == Expire || p.phase == Cleanup || p.phase == Orphans) {
			continue
		}
		if i > 0 {
			if state, err = x.Catalog.State(ctx, &x.o); err != nil {
				return err
			}
		}
		for _, s := range Plan(state, &x.o, p.phase, p.tier) {
			if err := x.step(ctx, s); err != nil {
				return err
			}
			if x.sum.Stopped != "" {
				return nil
			}
		}
	}
	return nil
}

// over says why no further step may begin; "" if one may.
func (x *run) over() string {
	select {
	case <-x.stop:
		return "asked to stop"
	default:
	}
	now := x.Clock.Now()
	switch {
	case x.told != "":
		return x.told
	case x.o.MaxTime > 0 && now.Sub(x.begun) >= x.o.MaxTime:
		return "the time is up"
	case x.o.MaxFiles > 0 && x.sum.Read >= x.o.MaxFiles:
		return "so many files have been read"
	case !x.o.Windows.Open(now.In(x.o.Zone)):
		return "the window is closed"
	}
	return ""
}

// stopped says whether no further step may begin, and keeps the reason.
func (x *run) stopped(ctx context.Context) (bool, error) {
	why := x.over()
	if why == "" {
		var err error
		if why, err = x.Catalog.Paused(ctx); err != nil {
			return true, err
		}
	}
	x.sum.Stopped = why
	return why != "", nil
}

// step does a planned step: one call, or as many as a merge needs for all files of its tier.
func (x *run) step(ctx context.Context, s Step) error {
	for read := int64(0); ; {
		if err := x.Catalog.Alive(ctx); err != nil {
			return err
		}
		if stopped, err := x.stopped(ctx); stopped || err != nil {
			return err
		}
		if note, err := x.risk(ctx, &s); err != nil {
			return err
		} else if note != "" {
			return x.report(ctx, Outcome{Step: s, Status: Skipped, Note: note})
		}
		out := x.try(ctx, s)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), x.report(context.WithoutCancel(ctx), out))
		}
		// The last call of several finds nothing, which nobody needs to know.
		if out.Err != nil || s.Phase != Merge || out.Read > 0 {
			if err := x.report(ctx, out); err != nil {
				return err
			}
		}
		// Each merge leaves fewer files than it takes, and those that writers add meanwhile are
		// the next run's, so this ends.
		if read += out.Read; out.Err != nil || s.Phase != Merge || out.Read <= out.Written || read >= s.Files {
			return nil
		}
	}
}

// risk says why a step must not be done; "" if it may.
func (x *run) risk(ctx context.Context, s *Step) (string, error) {
	if s.Phase != Merge || x.o.AllowRenumber || x.Catalog.HoldsRowIDs() {
		return "", nil
	}
	why, err := x.Catalog.checkRowIDs(ctx, x.DB, x.Lake, s)
	if why != "" {
		why = "a merge could give rows other ids: " + why
	}
	return why, err
}

// mostWait bounds the wait before a retry.
const mostWait = 5 * time.Second

// try does one call, again while it loses races.
func (x *run) try(ctx context.Context, s Step) (out Outcome) {
	out.Step, out.Status = s, Done
	begun := x.Clock.Now()
	defer func() { out.Took = x.Clock.Now().Sub(begun) }()
	wait := x.o.Backoff
	for {
		rows, err := x.call(ctx, &s)
		if err == nil {
			out.count(rows)
			return out
		}
		out.Err = err
		if !retryable(err) || out.Retries >= x.o.Retries {
			break
		}
		// A whole wait at most, half of it at least: others that lost do not come back together.
		if x.Clock.Sleep(ctx, wait/2+time.Duration(x.rng.Int64N(int64(wait/2)+1))) != nil {
			break
		}
		out.Retries, out.Err, wait = out.Retries+1, nil, min(wait*2, max(mostWait, x.o.Backoff))
	}
	out.Status = Failed
	return out
}

func (x *run) call(ctx context.Context, s *Step) ([][]any, error) {
	if err := x.DB.Exec(ctx, s.TargetSQL()); err != nil {
		return nil, err
	}
	return x.DB.Transact(ctx, s.SQL(x.Lake, x.o.Outputs))
}

// count sums up what a function returned.
func (o *Outcome) count(rows [][]any) {
	for _, row := range rows {
		switch o.Step.Phase {
		case Flush:
			o.Rows += number(row, 2)
		case Merge, Rewrite:
			o.Read += number(row, 2)
			o.Written += number(row, 3)
		default:
			o.Rows++ // a snapshot or a file
		}
	}
}

// number is a column of a row that holds a number of whatever width.
func number(row []any, i int) int64 {
	if i >= len(row) {
		return 0
	}
	switch v := row[i].(type) {
	case int64:
		return v
	case int32:
		return int64(v)
	case uint64:
		return int64(v)
	case *big.Int:
		return v.Int64()
	}
	return 0
}

// server has the server do a phase.
func (x *run) server(ctx context.Context, p Phase) error {
	if err := x.Catalog.Alive(ctx); err != nil {
		return err
	}
	begun := x.Clock.Now()
	note, err := x.Catalog.ServerJob(ctx, p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := Outcome{Step: Step{Phase: p}, Status: Done, Note: note, Err: err, Took: x.Clock.Now().Sub(begun)}
	if err != nil {
		out.Status = Failed
	}
	return x.report(ctx, out)
}

// report counts a step, tells of it and records it.
func (x *run) report(ctx context.Context, out Outcome) error {
	switch out.Status {
	case Failed:
		x.sum.Failed++
	case Skipped:
		x.sum.Skipped++
	case Off:
	default:
		x.sum.Steps++
		x.sum.Read += out.Read
		x.sum.Written += out.Written
		if out.Step.Phase == Flush {
			x.sum.Rows += out.Rows
		}
	}
	if x.Report != nil {
		x.Report(out)
	}
	if x.Log == nil {
		return nil
	}
	stop, err := x.Log.Step(ctx, &out)
	if stop != "" {
		x.told = stop
	}
	return err
}

// Loop calls once again and again until stop is closed or it returns an error. A call begins
// every so long after the one before it began, or at the time that once returns, if that is
// not zero.
func Loop(ctx context.Context, stop <-chan struct{}, clock Clock, every time.Duration, once func(context.Context) (time.Time, error)) error {
	waiting, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends a wait when stop is closed
		defer close(done)
		select {
		case <-stop:
			cancel()
		case <-waiting.Done():
		}
	}()
	defer func() { cancel(); <-done }()
	for {
		begun := clock.Now()
		next, err := once(ctx)
		if err != nil {
			return err
		}
		if next.IsZero() {
			next = begun.Add(every)
		}
		select {
		case <-stop:
			return nil
		default:
		}
		if d := next.Sub(clock.Now()); d > 0 && clock.Sleep(waiting, d) != nil {
			return ctx.Err()
		}
	}
}

// Text is an error for people and for a line of a report: what a server said, where one did,
// without the batch of statements that DuckLake puts before it, and without line breaks.
func Text(err error) string {
	text := strings.Join(strings.Fields(said(err.Error())), " ")
	const most = 600
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
