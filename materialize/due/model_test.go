package due_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/due"
	"github.com/eiderdb/eider/materialize/partition"
	"pgregory.net/rapid"
)

// watch is a script, the tables that it reads, and somebody who does what is due.
type watch struct {
	r      *rapid.T
	script due.Script
	state  due.State
	now    time.Time
	head   int64

	ticks map[string]bool // answered, with the slice
	tries map[string]int  // attempts that followed a cause
}

func newWatch(r *rapid.T) *watch {
	w := &watch{r: r, now: time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), ticks: map[string]bool{}, tries: map[string]int{}}
	minutes := func(name string, high int) time.Duration {
		return time.Duration(rapid.IntRange(0, high).Draw(r, name)) * time.Minute
	}
	if rapid.Bool().Draw(r, "partitioned") {
		spec, err := partition.New(rapid.SampledFrom([]string{"daily", "hourly"}).Draw(r, "kind"), "Europe/Berlin", "", "", "")
		if err != nil {
			r.Fatal(err)
		}
		w.script.Partition = &spec
	}
	if rapid.Bool().Draw(r, "scheduled") {
		s, err := due.ParseSchedule(rapid.SampledFrom([]string{"*/10 * * * *", "30 * * * *", "30 2 * * *", "0 */3 * * *"}).Draw(r, "schedule"), "Europe/Berlin")
		if err != nil {
			r.Fatal(err)
		}
		w.script.Schedule = &s
	}
	for i := range rapid.IntRange(0, 3).Draw(r, "sources") {
		src := due.Source{Asset: fmt.Sprint("s", i), Partitioned: rapid.Bool().Draw(r, "partitioned")}
		if rapid.Bool().Draw(r, "own debounce") {
			d := minutes("debounce", 20)
			src.Debounce = &d
		}
		w.script.Sources = append(w.script.Sources, src)
	}
	w.script.Join = due.Join(rapid.IntRange(0, 1).Draw(r, "join"))
	w.script.Debounce = minutes("debounce", 20)
	w.script.Freshness = minutes("freshness", 3) * 60
	w.script.Retry = due.Retry{Count: rapid.IntRange(0, 3).Draw(r, "retries"), Delay: minutes("delay", 30)}
	w.state = due.State{Since: w.now, Commits: map[string][]due.Commit{}, Slices: map[string]due.Slice{}}
	return w
}

func (w *watch) decide() due.Decision {
	d, err := w.script.Decide(w.state, w.now)
	if err != nil {
		w.r.Fatal(err)
	}
	if d.Action == due.Wait && !d.At.After(w.now) {
		w.r.Fatalf("at %s it is to wait until %s", w.now, d.At)
	}
	return d
}

// commit adds one to a source, for a slice if it has them.
func (w *watch) commit(src due.Source) {
	w.head++
	c := due.Commit{Snapshot: w.head, Time: w.now}
	if src.Partitioned {
		c.Partition = rapid.SampledFrom([]string{"2026-10-24", "2026-10-25", "x"}).Draw(w.r, "slice")
	}
	w.state.Commits[src.Asset] = append(w.state.Commits[src.Asset], c)
}

// news are the sources with a commit that no attempt has seen which could concern the slice.
func (w *watch) news(part string) (n int) {
	for _, src := range w.script.Sources {
		for _, c := range w.state.Commits[src.Asset] {
			if c.Snapshot > w.state.Slices[part].Tried[src.Asset] {
				n++
				break
			}
		}
	}
	return n
}

// run makes a run that is due and records what came of it.
func (w *watch) run(run due.Run, fail bool) {
	slice := w.state.Slices[run.Partition]
	switch run.Reason {
	case due.ByRetry:
		if run.Attempt != slice.Attempt+1 || run.Attempt > w.script.Retry.Count+1 || slice.Outcome != due.Failed || w.now.Sub(slice.Ended) < w.script.Retry.Delay {
			w.r.Fatalf("at %s %+v after %+v", w.now, run, slice)
		}
	case due.ByCommit:
		if w.news(run.Partition) == 0 {
			w.r.Fatalf("at %s %+v, but %+v has seen all of %+v", w.now, run, slice, w.state.Commits)
		}
		if w.script.Join == due.JoinAll && len(run.Assets) != len(w.script.Sources) {
			w.r.Fatalf("at %s %+v is not for all", w.now, run)
		}
	case due.ByAge:
		if slice.Outcome != due.Never && w.now.Sub(slice.Ended) < w.script.Freshness {
			w.r.Fatalf("at %s %+v after %+v", w.now, run, slice)
		}
	}
	if run.Reason != due.ByRetry && run.Attempt != 1 {
		w.r.Fatalf("%+v is attempt %d", run, run.Attempt)
	}
	if !run.Tick.IsZero() {
		if key := run.Tick.UTC().String(); w.ticks[key] {
			w.r.Fatalf("the tick %s a second time", run.Tick)
		} else {
			w.ticks[key] = true
		}
		if run.Tick.After(w.now) || !run.Tick.After(w.state.LastTick) {
			w.r.Fatalf("at %s tick %s after %s", w.now, run.Tick, w.state.LastTick)
		}
		w.state.LastTick = run.Tick
	}
	tried := map[string]int64{}
	for _, src := range w.script.Sources {
		tried[src.Asset] = w.head
	}
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 120).Draw(w.r, "seconds")) * time.Second)
	slice.Outcome, slice.Ended, slice.Attempt, slice.Tried = due.Succeeded, w.now, run.Attempt, tried
	if fail {
		slice.Outcome = due.Failed
	} else {
		slice.Seen = tried
	}
	w.state.Slices[run.Partition] = slice
}

// settle makes what is due until nothing is. If runs succeed that has an end soon.
func (w *watch) settle(fail func() bool) {
	for n := 0; ; n++ {
		d := w.decide()
		if d.Action != due.RunNow {
			return
		}
		if n > 200 {
			w.r.Fatalf("at %s there is no end: %+v", w.now, d)
		}
		// As a watch that asks before each run, or as one that makes them all.
		if rapid.Bool().Draw(w.r, "ask again") {
			d.Runs = d.Runs[:1]
		}
		for _, run := range d.Runs {
			w.run(run, fail())
		}
	}
}

// What is due is run once and nothing is forgotten, whatever happens in between.
func TestWatchModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := newWatch(r)
		flaky := func() bool { return rapid.IntRange(0, 2).Draw(r, "outcome") == 0 }
		r.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) {},
			"commit": func(*rapid.T) {
				if len(w.script.Sources) == 0 {
					r.Skip("no source")
				}
				w.commit(rapid.SampledFrom(w.script.Sources).Draw(r, "source"))
			},
			"look": func(*rapid.T) { w.settle(flaky) },
			"sleep": func(*rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 500).Draw(r, "minutes")) * time.Minute)
			},
			// Until something is due, nothing is, and then something is.
			"wait": func(*rapid.T) {
				w.settle(flaky)
				d := w.decide()
				if d.Action != due.Wait {
					return
				}
				w.now = w.now.Add(time.Duration(rapid.Int64Range(0, int64(d.At.Sub(w.now))-1).Draw(r, "between")))
				if again := w.decide(); again.Action != due.Wait || !again.At.Equal(d.At) {
					r.Fatalf("wait until %s, but at %s %+v", d.At, w.now, again)
				}
				w.now = d.At
				if again := w.decide(); again.Action != due.RunNow {
					r.Fatalf("wait until %s, and then %+v", d.At, again)
				}
				w.settle(flaky)
			},
		})
		w.finish()
	})
}

// finish lets all be quiet and runs succeed: then all is seen, and every tick is answered.
func (w *watch) finish() {
	w.settle(func() bool { return false })
	w.now = w.now.Add(24 * time.Hour)
	// Failures that were given up are made good by a commit to everything.
	parts := map[string]bool{}
	for _, src := range w.script.Sources {
		for _, c := range w.state.Commits[src.Asset] {
			parts[c.Partition] = true
		}
	}
	for part := range maps.Clone(parts) {
		for _, src := range w.script.Sources {
			w.head++
			c := due.Commit{Snapshot: w.head, Time: w.now}
			if src.Partitioned {
				c.Partition = part
				if part == "" {
					c.Partition = "x"
				}
			}
			w.state.Commits[src.Asset] = append(w.state.Commits[src.Asset], c)
		}
	}
	w.now = w.now.Add(24 * time.Hour)
	w.settle(func() bool { return false })
	for _, src := range w.script.Sources {
		for _, c := range w.state.Commits[src.Asset] {
			seen := int64(0)
			for part, s := range w.state.Slices {
				if w.script.Partition == nil || !src.Partitioned || part == c.Partition {
					seen = max(seen, s.Seen[src.Asset])
				}
			}
			if seen < c.Snapshot {
				w.r.Fatalf("the commit %+v to %s was never read: %+v", c, src.Asset, w.state.Slices)
			}
		}
	}
	if w.script.Schedule != nil {
		last := w.state.LastTick
		if last.IsZero() {
			last = w.state.Since
		}
		if next := w.script.Schedule.Next(last); !next.After(w.now) {
			w.r.Fatalf("the tick %s was not answered by %s", next, w.now)
		}
	}
	for part, slice := range w.state.Slices {
		if slice.Outcome == due.Failed && slice.Attempt <= w.script.Retry.Count {
			w.r.Fatalf("%q was not tried again: %+v", part, slice)
		}
	}
}
