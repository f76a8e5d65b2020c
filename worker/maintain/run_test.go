package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/gc"
)

// world is a lake, its catalog, DuckDB and the clock at once.
type world struct {
	state   func() []Table
	answers map[string][]any // by the beginning of a step's name: what its calls give, in turn, rows or errors
	did     []string
	slept   []time.Duration
	now     time.Time
	lost    bool
	paused  string
	holds   bool
	risky   string
	onCall  func(n int)
	calls   int
}

func (w *world) Exec(_ context.Context, sql string) error {
	w.did = append(w.did, sql)
	return nil
}

func (w *world) Query(context.Context, string) ([][]any, error) { return nil, errors.New("not asked") }

func (w *world) Transact(ctx context.Context, sql string) ([][]any, error) {
	w.did = append(w.did, sql)
	w.calls++
	w.now = w.now.Add(time.Minute)
	if w.onCall != nil {
		w.onCall(w.calls)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for fn, answers := range w.answers {
		if !strings.Contains(sql, fn) {
			continue
		}
		if len(answers) == 0 {
			return nil, nil
		}
		w.answers[fn] = answers[1:]
		switch a := answers[0].(type) {
		case error:
			return nil, a
		case [][]any:
			return a, nil
		}
	}
	return nil, nil
}

func (w *world) Alive(context.Context) error {
	if w.lost {
		return ErrLost
	}
	return nil
}

func (w *world) Paused(context.Context) (string, error) {
	if w.lost {
		return "", ErrLost
	}
	return w.paused, nil
}

func (w *world) State(_ context.Context, o *Options) ([]Table, error) {
	list := w.state()
	for i := range list {
		list[i].Rule = o.ruleOf(list[i].Schema, list[i].Name)
	}
	return list, nil
}

func (w *world) HoldsRowIDs() bool { return w.holds }

func (w *world) ServerJob(_ context.Context, p Phase) (string, error) {
	w.did = append(w.did, "server "+p.String())
	if p == Cleanup {
		return "", errors.New("no")
	}
	return "fine", nil
}

func (w *world) checkRowIDs(context.Context, Engine, string, *Step) (string, error) {
	return w.risky, nil
}

func (w *world) runner(o Options) (*Runner, *[]string) {
	var said []string
	return &Runner{
		Lake: "l", DB: w, Catalog: w, Options: o,
		Clock: Clock{Now: func() time.Time { return w.now }, Sleep: func(ctx context.Context, d time.Duration) error {
			w.slept = append(w.slept, d)
			w.now = w.now.Add(d)
			return ctx.Err()
		}},
		Report: func(out Outcome) {
			said = append(said, fmt.Sprintf("%s %s %d/%d", out.Step.Name(), out.Status, out.Read, out.Written))
		},
	}, &said
}

// oneTable is a table with work for the first tier, as long as its merges are not done.
func oneTable() []Table {
	return []Table{{ID: 1, Schema: "main", Name: "t", InlinedRows: 1, Tiers: []TierFiles{{Files: 9, Mergeable: 9}, {}, {}}, Rewrite: RewriteFiles{Files: 1}}}
}

func rows(v ...int64) [][]any { return [][]any{{"main", "t", v[0], v[1]}} }

func newWorld() *world {
	return &world{state: oneTable, holds: true, now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), answers: map[string][]any{
		"flush_inlined":  {[][]any{{"main", "t", int64(1)}}},
		"merge_adjacent": {rows(4, 1), rows(5, 1)},
		"rewrite_data":   {rows(1, 1)},
	}}
}

func wantSaid(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*got, want) {
		t.Errorf("reported\n  %s\nwant\n  %s", strings.Join(*got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r, said := w.runner(Options{})
	sum, err := r.Run(t.Context(), nil)
	if err != nil || sum.Steps != 4 || sum.Read != 10 || sum.Written != 3 || sum.Rows != 1 || sum.Stopped != "" {
		t.Errorf("%+v, %v", sum, err)
	}
	wantSaid(t, said, "flush main.t done 0/0", "merge main.t 0B-1MiB done 4/1", "merge main.t 0B-1MiB done 5/1", "rewrite main.t done 1/1")
	// The size of merged files is set in DuckDB before each call, and nowhere else.
	for i, sql := range w.did {
		if strings.Contains(sql, "merge_adjacent") && w.did[i-1] != "SET ducklake_target_file_size = '5242880B'" {
			t.Errorf("before a merge: %s", w.did[i-1])
		}
		if strings.Contains(sql, "set_option") {
			t.Errorf("the catalog's options are changed: %s", sql)
		}
	}
}

// What ends a run early does so between two steps.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		o       Options
		stopAt  int // call in which stop is closed
		calls   int
		stopped string
	}{
		{name: "files", o: Options{MaxFiles: 4}, calls: 2, stopped: "files"},
		{name: "time", o: Options{MaxTime: 90 * time.Second}, calls: 2, stopped: "time"},
		{name: "signal", stopAt: 1, calls: 1, stopped: "stop"},
		{name: "signal in a merge", stopAt: 2, calls: 2, stopped: "stop"},
		{name: "window", o: Options{Windows: window("12:00-12:01")}, calls: 1, stopped: "window"},
		{name: "closed", o: Options{Windows: window("13:00-14:00")}, stopped: "window"},
		{name: "window of another zone", o: Options{Windows: window("13:00-14:00"), Zone: time.FixedZone("", 3600)}, calls: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			stop := make(chan struct{})
			w.onCall = func(n int) {
				if n == c.stopAt {
					close(stop)
				}
			}
			r, _ := w.runner(c.o)
			sum, err := r.Run(t.Context(), stop)
			if err != nil || w.calls != c.calls || !strings.Contains(sum.Stopped, c.stopped) || (sum.Stopped == "") != (c.stopped == "") {
				t.Errorf("%d calls, %+v, %v", w.calls, sum, err)
			}
		})
	}
}

func window(s string) gc.Windows {
	w, err := gc.ParseWindows(s)
	if err != nil {
		panic(err)
	}
	return w
}

// A merge does not go after the files that writers add meanwhile.
func TestRunBesideWriters(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.answers["merge_adjacent"] = []any{rows(4, 1), rows(4, 1), rows(4, 1), rows(4, 1), rows(4, 1)}
	r, _ := w.runner(Options{})
	if sum, err := r.Run(t.Context(), nil); err != nil || w.calls != 5 || sum.Read != 13 {
		t.Errorf("%d calls, %+v, %v", w.calls, sum, err)
	}
	// One that merges nothing ends the step.
	w = newWorld()
	w.answers["merge_adjacent"] = []any{rows(4, 1), [][]any{}, rows(4, 1)}
	r, _ = w.runner(Options{})
	if sum, err := r.Run(t.Context(), nil); err != nil || w.calls != 4 || sum.Read != 5 {
		t.Errorf("%d calls, %+v, %v", w.calls, sum, err)
	}
}

// A lost race is run again, with waits that double; what is refused is not, and the rest goes on.
func TestRunRetries(t *testing.T) {
	t.Parallel()
	race, refused := errors.New("Transaction conflict - x"), errors.New("would change row ids")
	w := newWorld()
	w.answers["flush_inlined"] = []any{race, race, rows(1, 0)}
	w.answers["merge_adjacent"] = []any{refused}
	r, said := w.runner(Options{Backoff: time.Second})
	sum, err := r.Run(t.Context(), nil)
	if !errors.Is(err, ErrFailed) || sum.Failed != 1 || sum.Steps != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	wantSaid(t, said, "flush main.t done 0/0", "merge main.t 0B-1MiB failed 0/0", "rewrite main.t done 1/1")
	if len(w.slept) != 2 || w.slept[0] < time.Second/2 || w.slept[0] > time.Second || w.slept[1] < time.Second || w.slept[1] > 2*time.Second {
		t.Errorf("waited %v", w.slept)
	}

	w = newWorld()
	w.answers["flush_inlined"] = []any{race, race, race}
	r, said = w.runner(Options{Retries: 2, Rule: &Rule{Flush: true, MinInlined: 1, MinFiles: 2, DeleteThreshold: 1}})
	if _, err := r.Run(t.Context(), nil); !errors.Is(err, ErrFailed) || w.calls != 3 {
		t.Errorf("%d calls, %v", w.calls, err)
	}
	wantSaid(t, said, "flush main.t failed 0/0")

	w = newWorld()
	w.answers["flush_inlined"] = []any{race}
	r, _ = w.runner(Options{Retries: -1})
	if sum, _ := r.Run(t.Context(), nil); sum.Failed != 1 || len(w.slept) != 0 {
		t.Errorf("%+v, waited %v", sum, w.slept)
	}
}

// Where the catalog does not hold row ids, a risky merge is left out unless it is wanted.
func TestRunRowIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		holds, allow bool
		skipped      int
	}{{false, false, 1}, {true, false, 0}, {false, true, 0}} {
		w := newWorld()
		w.holds, w.risky = c.holds, "because"
		r, _ := w.runner(Options{AllowRenumber: c.allow})
		if sum, err := r.Run(t.Context(), nil); err != nil || sum.Skipped != c.skipped {
			t.Errorf("%+v: %+v, %v", c, sum, err)
		}
	}
}

func TestRunLost(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.onCall = func(n int) { w.lost = n == 2 }
	r, _ := w.runner(Options{})
	if _, err := r.Run(t.Context(), nil); !errors.Is(err, ErrLost) || w.calls != 2 {
		t.Errorf("%d calls, %v", w.calls, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w = newWorld()
	w.onCall = func(int) { cancel() }
	r, said := w.runner(Options{})
	if _, err := r.Run(ctx, nil); !errors.Is(err, context.Canceled) || w.calls != 1 {
		t.Errorf("%d calls, %v", w.calls, err)
	}
	wantSaid(t, said, "flush main.t failed 0/0")
}

// A pause ends a run after the step that it is at, and lets none begin.
func TestRunPaused(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.onCall = func(n int) {
		if n == 2 {
			w.paused = "maintenance is paused by ann"
		}
	}
	r, said := w.runner(Options{})
	if sum, err := r.Run(t.Context(), nil); err != nil || sum.Stopped != w.paused {
		t.Errorf("%+v, %v", sum, err)
	}
	wantSaid(t, said, "flush main.t done 0/0", "merge main.t 0B-1MiB done 4/1")
	r, said = w.runner(Options{Rest: Rest{Server: true}})
	if sum, err := r.Run(t.Context(), nil); err != nil || sum.Stopped != w.paused || w.calls != 2 {
		t.Errorf("%+v, %v, %d calls", sum, err, w.calls)
	}
	wantSaid(t, said)
}

func TestRunRest(t *testing.T) {
	t.Parallel()
	nothing := Rule{MinInlined: 1, MinFiles: 2, DeleteThreshold: 1}
	w := newWorld()
	r, said := w.runner(Options{Rule: &nothing, Rest: Rest{Server: true}})
	if sum, err := r.Run(t.Context(), nil); !errors.Is(err, ErrFailed) || sum.Steps != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	wantSaid(t, said, "expire done 0/0", "cleanup failed 0/0", "orphans done 0/0")

	w = newWorld()
	r, said = w.runner(Options{Rule: &nothing, Rest: Rest{Expire: time.Hour, Orphans: time.Hour}})
	if _, err := r.Run(t.Context(), nil); err != nil {
		t.Error(err)
	}
	wantSaid(t, said, "expire done 0/0", "orphans done 0/0")
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r, said := w.runner(Options{})
	sum, err := r.DryRun(t.Context())
	if err != nil || sum.Steps != 3 || len(w.did) != 0 {
		t.Errorf("%+v, %v, did %q", sum, err, w.did)
	}
	wantSaid(t, said, "flush main.t planned 0/0", "merge main.t 0B-1MiB planned 9/0", "rewrite main.t planned 1/0")
}

func TestLoop(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r, _ := w.runner(Options{})
	stop := make(chan struct{})
	begun := w.now
	var at []time.Duration
	failed := errors.New("failed")
	err := Loop(t.Context(), stop, r.Clock, time.Hour, func(context.Context) (time.Time, error) {
		at = append(at, w.now.Sub(begun))
		w.now = w.now.Add(10 * time.Minute)
		switch len(at) {
		case 2:
			return begun.Add(5 * time.Hour), nil // a window opens
		case 3:
			w.now = w.now.Add(2 * time.Hour) // longer than the interval
		case 5:
			close(stop)
		}
		return time.Time{}, nil
	})
	want := []time.Duration{0, time.Hour, 5 * time.Hour, 7*time.Hour + 10*time.Minute, 8*time.Hour + 10*time.Minute}
	if err != nil || !slices.Equal(at, want) {
		t.Errorf("ran at %v, %v; want %v", at, err, want)
	}
	if err := Loop(t.Context(), nil, r.Clock, time.Hour, func(context.Context) (time.Time, error) { return time.Time{}, failed }); !errors.Is(err, failed) {
		t.Errorf("an error does not end the loop: %v", err)
	}
}

// A stop that comes while the loop waits ends the wait.
func TestLoopWaiting(t *testing.T) {
	t.Parallel()
	stop, waits := make(chan struct{}), make(chan struct{})
	clock := Clock{Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error {
		close(waits)
		<-ctx.Done()
		return ctx.Err()
	}}
	go func() { <-waits; close(stop) }()
	if err := Loop(t.Context(), stop, clock, time.Hour, func(context.Context) (time.Time, error) { return time.Time{}, nil }); err != nil {
		t.Error(err)
	}
}

// journal is a log that tells the run to end at a step, or is lost there.
type journal struct {
	steps  []string
	stop   int // the step that it tells at; 0: none
	lostAt int
}

func (j *journal) Step(_ context.Context, o *Outcome) (string, error) {
	j.steps = append(j.steps, o.Step.Name()+" "+o.text())
	switch len(j.steps) {
	case j.stop:
		return "cancelled by ann", nil
	case j.lostAt:
		return "", ErrLost
	}
	return "", nil
}

// Every step is recorded when it ends; a run that is told to end does so after the step, and one
// whose record is lost as well, because its lock is lost with it.
func TestRunLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		log     journal
		calls   int
		stopped string
		err     error
	}{
		{journal{}, 4, "", nil},
		{journal{stop: 2}, 2, "cancelled by ann", nil},
		{journal{lostAt: 1}, 1, "", ErrLost},
	} {
		w := newWorld()
		r, _ := w.runner(Options{})
		log := c.log
		r.Log = &log
		sum, err := r.Run(t.Context(), nil)
		if !errors.Is(err, c.err) || sum.Stopped != c.stopped || w.calls != c.calls || len(log.steps) != c.calls {
			t.Errorf("%+v: %+v, %v, %d calls, recorded %q", c.log, sum, err, w.calls, log.steps)
		}
	}
}

// A dry run says what would be done but for the rules of a table, and a run does not do it.
func TestRunOff(t *testing.T) {
	t.Parallel()
	w := newWorld()
	o := Options{RuleOf: func(string, string) Rule {
		r := DefaultRule()
		r.Merge = false
		return r
	}}
	r, said := w.runner(o)
	if _, err := r.DryRun(t.Context()); err != nil {
		t.Error(err)
	}
	wantSaid(t, said, "flush main.t planned 0/0", "merge main.t 0B-1MiB off 9/0", "rewrite main.t planned 1/0")
	r, said = w.runner(o)
	if _, err := r.Run(t.Context(), nil); err != nil {
		t.Error(err)
	}
	wantSaid(t, said, "flush main.t done 0/0", "rewrite main.t done 1/1")
}

// What the history has of a step.
func TestReportOf(t *testing.T) {
	t.Parallel()
	step := func(p Phase) Step { return Step{Phase: p, Schema: "main", Table: "t", Tier: Tier{Max: 10}} }
	for _, c := range []struct {
		out  Outcome
		want string
	}{
		{Outcome{Step: step(Flush), Status: Done, Rows: 7}, `'{"counts":{"rows flushed":7},"items":[{"what":"flush main.t","reason":"done, 7 rows, 0.0s"}]}'`},
		{Outcome{Step: step(Merge), Status: Done, Read: 9, Written: 1}, `'{"counts":{"files merged":9,"files written":1},"items":[{"what":"merge main.t 0B-10B","reason":"done, 9 files into 1, 0.0s"}]}'`},
		{Outcome{Step: step(Rewrite), Status: Failed, Err: errors.New("it's no")}, `'{"counts":{"steps that failed":1},"notes":["rewrite main.t: it''s no"],"items":[{"what":"rewrite main.t","reason":"failed, it''s no, 0.0s"}]}'`},
		{Outcome{Step: step(Flush), Status: Off}, `'{"items":[{"what":"flush main.t","reason":"off"}]}'`},
	} {
		if got := literal(reportOf(&c.out)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
