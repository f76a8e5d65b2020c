package due_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/internal/duration"
	"github.com/eiderdb/eider/materialize/due"
	"github.com/eiderdb/eider/materialize/partition"
)

const day = "2026-07-05T"

// at is a time of the day of the tests.
func at(t testing.TB, hhmm string) time.Time { return instant(t, day+hhmm+"Z") }

func daily(t testing.TB, start string) *partition.Spec {
	t.Helper()
	s, err := partition.New("daily", "", "", start, "")
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// commits reads "SNAPSHOT@HH:MM" or "SNAPSHOT@HH:MM/SLICE", with blanks between them.
func commits(t testing.TB, text string) []due.Commit {
	t.Helper()
	var list []due.Commit
	for _, f := range strings.Fields(text) {
		var c due.Commit
		n, rest, _ := strings.Cut(f, "@")
		if _, err := fmt.Sscan(n, &c.Snapshot); err != nil {
			t.Fatal(err)
		}
		clock, part, _ := strings.Cut(rest, "/")
		c.Time, c.Partition = at(t, clock), part
		list = append(list, c)
	}
	return list
}

// show writes a decision in the form of the tables below.
func show(d due.Decision) string {
	var b strings.Builder
	switch d.Action {
	case due.Nothing:
		b.WriteString("nothing")
	case due.Wait:
		b.WriteString("wait " + d.At.UTC().Format("01-02T15:04"))
	}
	for i, r := range d.Runs {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "run %s", r)
		if r.Partition != "" {
			fmt.Fprintf(&b, " [%s]", r.Partition)
		}
		if r.Reason != due.ByTick && !r.Tick.IsZero() {
			b.WriteString(" (and a tick)")
		}
	}
	if d.Older {
		b.WriteString(", older ones are left")
	}
	return b.String()
}

func source(t testing.TB, text string) due.Source {
	t.Helper()
	name, quiet, own := strings.Cut(text, " ")
	src := due.Source{Asset: strings.TrimSuffix(name, "/{partition}"), Partitioned: strings.HasSuffix(name, "/{partition}")}
	if own {
		d, err := duration.Parse(quiet)
		if err != nil {
			t.Fatal(err)
		}
		src.Debounce = &d
	}
	return src
}

func TestDecide(t *testing.T) {
	t.Parallel()
	type commitsOf = map[string]string
	seen := func(pairs ...any) map[string]int64 {
		m := map[string]int64{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = int64(pairs[i+1].(int))
		}
		return m
	}
	ok := func(hhmm string, saw map[string]int64) due.Slice {
		return due.Slice{Outcome: due.Succeeded, Ended: at(t, hhmm), Attempt: 1, Seen: saw, Tried: saw}
	}
	failed := func(hhmm string, attempt int, saw, tried map[string]int64) due.Slice {
		return due.Slice{Outcome: due.Failed, Ended: at(t, hhmm), Attempt: attempt, Seen: saw, Tried: tried}
	}
	hour := schedule(t, "0 * * * *", "")
	nightly := schedule(t, "0 2 * * *", "")
	quarters := schedule(t, "*/15 * * * *", "")
	one := func(s due.Slice) map[string]due.Slice { return map[string]due.Slice{"": s} }

	for _, c := range []struct {
		name    string
		script  due.Script
		sources []string
		state   due.State
		commits commitsOf
		now     string
		want    string
	}{
		{name: "nothing is asked", now: "12:00", want: "nothing"},

		{name: "before the first tick", script: due.Script{Schedule: &hour}, now: "12:30", want: "wait 07-05T13:00"},
		{name: "at a tick that began to count earlier", script: due.Script{Schedule: &hour}, state: due.State{Since: at(t, "12:30")}, now: "13:00", want: "run schedule: 2026-07-05T13:00:00Z"},
		{name: "a tick that is answered", script: due.Script{Schedule: &hour}, state: due.State{LastTick: at(t, "13:00")}, now: "13:00", want: "wait 07-05T14:00"},
		{name: "missed ticks are one run", script: due.Script{Schedule: &hour}, state: due.State{LastTick: at(t, "03:00")}, now: "13:30", want: "run schedule: 2026-07-05T13:00:00Z"},
		{
			name: "missed ticks, in slices", script: due.Script{Schedule: &nightly, Partition: daily(t, "")}, state: due.State{LastTick: instant(t, "2026-07-02T02:00Z")}, now: "12:00",
			want: "run schedule: 2026-07-03T02:00:00Z [2026-07-03]; run schedule: 2026-07-04T02:00:00Z [2026-07-04]; run schedule: 2026-07-05T02:00:00Z [2026-07-05]",
		},
		{
			name: "many ticks of a slice are one run", script: due.Script{Schedule: &quarters, Partition: daily(t, "")}, state: due.State{LastTick: instant(t, "2026-07-03T23:45Z")}, now: "12:20",
			want: "run schedule: 2026-07-04T23:45:00Z [2026-07-04]; run schedule: 2026-07-05T12:15:00Z [2026-07-05]",
		},
		{name: "the start ends what was missed", script: due.Script{Schedule: &nightly, Partition: daily(t, "2026-07-05")}, state: due.State{LastTick: instant(t, "2026-07-02T02:00Z")}, now: "12:00", want: "run schedule: 2026-07-05T02:00:00Z [2026-07-05]"},
		{name: "all before the start", script: due.Script{Schedule: &nightly, Partition: daily(t, "2026-07-07")}, state: due.State{LastTick: instant(t, "2026-07-02T02:00Z")}, now: "12:00", want: "wait 07-06T02:00"},

		{name: "a source changed", sources: []string{"a"}, commits: commitsOf{"a": "5@10:00"}, now: "12:00", want: "run changed: a"},
		{name: "as it was", sources: []string{"a"}, commits: commitsOf{"a": "5@10:00"}, state: due.State{Slices: one(ok("11:00", seen("a", 5)))}, now: "12:00", want: "nothing"},
		{name: "any: one of two", sources: []string{"a", "b"}, commits: commitsOf{"a": "5@10:00", "b": "6@11:00"}, state: due.State{Slices: one(ok("10:30", seen("a", 5, "b", 5)))}, now: "12:00", want: "run changed: b"},
		{name: "all: one of two", script: due.Script{Join: due.JoinAll}, sources: []string{"a", "b"}, commits: commitsOf{"a": "5@10:00", "b": "6@11:00"}, state: due.State{Slices: one(ok("10:30", seen("a", 5, "b", 5)))}, now: "12:00", want: "nothing"},
		{name: "all: the other too", script: due.Script{Join: due.JoinAll}, sources: []string{"a", "b"}, commits: commitsOf{"a": "5@10:00 7@11:30", "b": "6@11:00"}, state: due.State{Slices: one(ok("10:30", seen("a", 5, "b", 5)))}, now: "12:00", want: "run changed: a, b"},
		{name: "all: a source that never was", script: due.Script{Join: due.JoinAll}, sources: []string{"a", "b"}, commits: commitsOf{"a": "5@10:00"}, now: "12:00", want: "nothing"},
		{name: "all: given up until there is more", script: due.Script{Join: due.JoinAll}, sources: []string{"a", "b"}, commits: commitsOf{"a": "7@11:30", "b": "6@11:00"}, state: due.State{Slices: one(failed("11:40", 1, seen("a", 5, "b", 5), seen("a", 7, "b", 7)))}, now: "12:00", want: "nothing"},
		{name: "all: more in one is enough then", script: due.Script{Join: due.JoinAll}, sources: []string{"a", "b"}, commits: commitsOf{"a": "7@11:30 8@11:50", "b": "6@11:00"}, state: due.State{Slices: one(failed("11:40", 1, seen("a", 5, "b", 5), seen("a", 7, "b", 7)))}, now: "12:00", want: "run changed: a, b"},
		{name: "a failure does not run for what it saw", sources: []string{"a"}, commits: commitsOf{"a": "7@11:30"}, state: due.State{Slices: one(failed("11:40", 1, nil, seen("a", 7)))}, now: "12:00", want: "nothing"},
		{name: "while one runs", script: due.Script{Schedule: &hour}, sources: []string{"a"}, commits: commitsOf{"a": "7@11:30"}, state: due.State{LastTick: at(t, "03:00"), Slices: one(due.Slice{Outcome: due.Running})}, now: "12:00", want: "nothing"},

		{name: "not quiet yet", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a"}, commits: commitsOf{"a": "7@11:55"}, now: "12:00", want: "wait 07-05T12:05"},
		{name: "quiet", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a"}, commits: commitsOf{"a": "7@11:50"}, now: "12:00", want: "run changed: a"},
		{name: "quiet begins again", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a"}, commits: commitsOf{"a": "7@11:45 8@11:53"}, now: "12:00", want: "wait 07-05T12:03"},
		{name: "never quiet", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a"}, commits: commitsOf{"a": "7@10:20 8@11:00 9@11:59"}, now: "12:00", want: "run changed: a"},
		{name: "what was seen is not waited for", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a"}, commits: commitsOf{"a": "7@10:20 8@11:00 9@11:59"}, state: due.State{Slices: one(ok("11:00", seen("a", 8)))}, now: "12:00", want: "wait 07-05T12:09"},
		{name: "the source's own", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a 1m", "b"}, commits: commitsOf{"a": "7@11:58", "b": "8@11:58"}, now: "12:00", want: "run changed: a"},
		{name: "the source's own none", script: due.Script{Debounce: 10 * time.Minute}, sources: []string{"a 0s"}, commits: commitsOf{"a": "7@12:00"}, now: "12:00", want: "run changed: a"},
		{name: "all: the last one to be quiet", script: due.Script{Join: due.JoinAll}, sources: []string{"a 20m", "b 5m"}, commits: commitsOf{"a": "7@11:50", "b": "8@11:50"}, now: "12:00", want: "wait 07-05T12:10"},

		{
			name: "each slice that a source brought", script: due.Script{Partition: daily(t, "")}, sources: []string{"a/{partition}"}, commits: commitsOf{"a": "7@11:30/2026-07-02 8@11:31/2026-07-01 9@11:32/2026-07-03"},
			state: due.State{Slices: map[string]due.Slice{"2026-07-03": ok("11:40", seen("a", 9))}}, now: "12:00", want: "run changed: a [2026-07-01]; run changed: a [2026-07-02]",
		},
		{name: "slices before the start", script: due.Script{Partition: daily(t, "2026-07-02")}, sources: []string{"a/{partition}"}, commits: commitsOf{"a": "7@11:30/2026-07-02 8@11:31/2026-07-01"}, now: "12:00", want: "run changed: a [2026-07-02]"},
		{
			name: "all: slices that all have", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition}", "b/{partition}"},
			commits: commitsOf{"a": "7@11:30/2026-07-02 8@11:31/2026-07-01", "b": "9@11:30/2026-07-02 10@11:31/2026-07-03"}, now: "12:00", want: "run changed: a, b [2026-07-02]",
		},
		{
			name: "all: a slice again, by one", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition}", "b/{partition}"},
			commits: commitsOf{"a": "7@11:30/2026-07-02 11@11:50/2026-07-02", "b": "9@11:30/2026-07-02"}, state: due.State{Slices: map[string]due.Slice{"2026-07-02": ok("11:40", seen("a", 10, "b", 10))}}, now: "12:00", want: "nothing",
		},
		{
			name: "all: a slice again, by both", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition}", "b/{partition}"},
			commits: commitsOf{"a": "7@11:30/2026-07-02 11@11:50/2026-07-02", "b": "9@11:30/2026-07-02 12@11:51/2026-07-02"}, state: due.State{Slices: map[string]due.Slice{"2026-07-02": ok("11:40", seen("a", 10, "b", 10))}}, now: "12:00", want: "run changed: a, b [2026-07-02]",
		},
		{
			name: "all: with a table that has no slices", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition}", "rates"},
			commits: commitsOf{"a": "7@11:30/2026-07-02", "rates": "3@09:00"}, now: "12:00", want: "run changed: a, rates [2026-07-02]",
		},
		{
			name: "all: slices, the last one to be quiet", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition} 20m", "b/{partition} 5m"},
			commits: commitsOf{"a": "7@11:50/2026-07-02", "b": "9@11:50/2026-07-02"}, now: "12:00", want: "wait 07-05T12:10",
		},
		{name: "all: and that is not there", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition}", "rates"}, commits: commitsOf{"a": "7@11:30/2026-07-02"}, now: "12:00", want: "nothing"},
		{name: "all: nothing brought", script: due.Script{Partition: daily(t, ""), Join: due.JoinAll}, sources: []string{"a/{partition}", "rates"}, commits: commitsOf{"rates": "7@11:30"}, now: "12:00", want: "nothing"},
		{name: "a table without slices: the slice of its commit", script: due.Script{Partition: daily(t, "")}, sources: []string{"rates"}, commits: commitsOf{"rates": "3@09:00 4@11:00"}, now: "12:00", want: "run changed: rates [2026-07-05]"},
		{
			name: "and once for all slices", script: due.Script{Partition: daily(t, "")}, sources: []string{"rates"}, commits: commitsOf{"rates": "3@09:00"},
			state: due.State{Slices: map[string]due.Slice{"2026-07-04": ok("11:40", seen("rates", 3))}}, now: "12:00", want: "nothing",
		},
		{name: "slices, for a script without: all of one", script: due.Script{Join: due.JoinAll}, sources: []string{"a/{partition}", "b/{partition}"}, commits: commitsOf{"a": "7@11:30/x 8@11:30/y", "b": "9@11:40/y"}, now: "12:00", want: "run changed: a, b"},
		{
			name: "slices, for a script without: no news of them", script: due.Script{Join: due.JoinAll}, sources: []string{"a/{partition}", "rates"}, commits: commitsOf{"a": "7@11:30/x", "rates": "9@11:55"},
			state: due.State{Slices: one(ok("11:50", seen("a", 8, "rates", 8)))}, now: "12:00", want: "nothing",
		},
		{name: "slices, for a script without: none", script: due.Script{Join: due.JoinAll}, sources: []string{"a/{partition}", "b/{partition}"}, commits: commitsOf{"a": "7@11:30/x", "b": "9@11:40/y"}, now: "12:00", want: "nothing"},
		{
			name: "slices, for a script without: the half that was seen counts", script: due.Script{Join: due.JoinAll}, sources: []string{"a/{partition}", "b/{partition}"}, commits: commitsOf{"a": "7@11:30/x 8@11:30/y", "b": "9@11:40/y 11@11:59/x"},
			state: due.State{Slices: one(ok("11:50", seen("a", 10, "b", 10)))}, now: "12:00", want: "run changed: a, b",
		},
		{
			name: "slices, for a script without: tried ones do not hide the debounce", script: due.Script{Join: due.JoinAll, Debounce: 5 * time.Minute}, sources: []string{"a/{partition}"}, commits: commitsOf{"a": "7@11:30/x 8@11:59/y"},
			state: due.State{Slices: one(failed("11:50", 1, nil, seen("a", 7)))}, now: "12:00", want: "wait 07-05T12:04",
		},

		{name: "never made", script: due.Script{Freshness: time.Hour}, now: "12:00", want: "run stale"},
		{name: "fresh", script: due.Script{Freshness: time.Hour}, state: due.State{Slices: one(ok("11:30", nil))}, now: "12:00", want: "wait 07-05T12:30"},
		{name: "stale", script: due.Script{Freshness: time.Hour}, state: due.State{Slices: one(ok("11:00", nil))}, now: "12:00", want: "run stale"},
		{name: "a failure is not repeated at once", script: due.Script{Freshness: time.Hour}, state: due.State{Slices: one(failed("11:30", 1, nil, nil))}, now: "12:00", want: "wait 07-05T12:30"},
		{name: "slices do not age", script: due.Script{Freshness: time.Hour, Partition: daily(t, "")}, now: "12:00", want: "nothing"},

		{name: "a retry, later", script: due.Script{Retry: due.Retry{Count: 2, Delay: 45 * time.Minute}}, state: due.State{Slices: one(failed("11:30", 1, nil, nil))}, now: "12:00", want: "wait 07-05T12:15"},
		{name: "a retry", script: due.Script{Retry: due.Retry{Count: 2, Delay: 30 * time.Minute}}, state: due.State{Slices: one(failed("11:30", 1, nil, nil))}, now: "12:00", want: "run retry 1"},
		{name: "the last retry", script: due.Script{Retry: due.Retry{Count: 2}}, state: due.State{Slices: one(failed("11:30", 2, nil, nil))}, now: "12:00", want: "run retry 2"},
		{name: "no more", script: due.Script{Retry: due.Retry{Count: 2}}, state: due.State{Slices: one(failed("11:30", 3, nil, nil))}, now: "12:00", want: "nothing"},
		{name: "none asked", state: due.State{Slices: one(failed("11:30", 1, nil, nil))}, now: "12:00", want: "nothing"},
		{
			name: "retries of slices", script: due.Script{Partition: daily(t, ""), Retry: due.Retry{Count: 1}}, now: "12:00", want: "run retry 1 [2026-07-01]; run retry 1 [2026-07-04]",
			state: due.State{Slices: map[string]due.Slice{"2026-07-04": failed("11:30", 1, nil, nil), "2026-07-01": failed("11:40", 1, nil, nil), "2026-07-02": failed("11:40", 2, nil, nil), "2026-07-03": ok("11:40", nil)}},
		},
		{name: "news go before a retry", script: due.Script{Retry: due.Retry{Count: 2, Delay: time.Hour}}, sources: []string{"a"}, commits: commitsOf{"a": "5@11:45"}, state: due.State{Slices: one(failed("11:30", 2, nil, seen("a", 4)))}, now: "12:00", want: "run changed: a"},
		{name: "the sooner of two", script: due.Script{Schedule: &hour, Retry: due.Retry{Count: 2, Delay: time.Hour}}, state: due.State{LastTick: at(t, "12:00"), Slices: one(failed("11:30", 2, nil, nil))}, now: "12:10", want: "wait 07-05T12:30"},
		{name: "a tick and a commit are one run", script: due.Script{Schedule: &hour}, sources: []string{"a"}, commits: commitsOf{"a": "5@11:45"}, state: due.State{LastTick: at(t, "11:00")}, now: "12:00", want: "run schedule: 2026-07-05T12:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range c.sources {
				c.script.Sources = append(c.script.Sources, source(t, s))
			}
			c.state.Commits = map[string][]due.Commit{}
			for asset, text := range c.commits {
				c.state.Commits[asset] = commits(t, text)
				slices.Reverse(c.state.Commits[asset]) // any order will do
			}
			d, err := c.script.Decide(c.state, at(t, c.now))
			if got := show(d); err != nil || got != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// Slices that were missed are as many as the kind's window has, the newest.
func TestMissedWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, format, schedule, since string
		runs                          int
		first                         string
		older                         bool
	}{
		{"daily", "", "*/15 * * * *", "2026-01-01T00:00Z", 14, "2026-06-22", true},
		{"daily", "", "0 2 * * *", "2026-06-21T02:00Z", 14, "2026-06-22", false},
		{"hourly", "", "* * * * *", "2026-07-04T12:30Z", 24, "2026-07-04T13", true},
		{"weekly", "", "0 0 * * mon", "2020-01-01T00:00Z", 8, "2026-W20", true},
		{"monthly", "", "0 0 1 * *", "2020-01-01T00:00Z", 6, "2026-02", true},
		{"monthly", "%B", "0 0 1 * *", "2026-02-01T00:00Z", 5, "March", false},
	} {
		spec, err := partition.New(c.kind, "", c.format, "", "")
		if err != nil {
			t.Fatal(err)
		}
		sched := schedule(t, c.schedule, "")
		d, err := due.Script{Schedule: &sched, Partition: &spec}.Decide(due.State{LastTick: instant(t, c.since)}, at(t, "12:00"))
		if err != nil || len(d.Runs) != c.runs || d.Runs[0].Partition != c.first || d.Older != c.older {
			t.Errorf("%s %s since %s: %s, %v", c.kind, c.schedule, c.since, show(d), err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	dynamic, err := partition.New("dynamic", "", "", "", "$.tenant")
	if err != nil {
		t.Fatal(err)
	}
	sched := schedule(t, "@daily", "")
	for _, c := range []struct {
		name    string
		script  due.Script
		sources string
		ok      bool
	}{
		{"schedule", due.Script{Schedule: &sched}, "", false},
		{"slices", due.Script{}, "a/{partition}", true},
		{"a table without", due.Script{}, "a", false},
		{"any of both", due.Script{}, "a/{partition} b", false},
		{"all of both", due.Script{Join: due.JoinAll}, "a/{partition} b", true},
		{"all without", due.Script{Join: due.JoinAll}, "a b", false},
	} {
		c.script.Partition = &dynamic
		for _, s := range strings.Fields(c.sources) {
			c.script.Sources = append(c.script.Sources, source(t, s))
		}
		if _, err := c.script.Decide(due.State{}, at(t, "12:00")); (err == nil) != c.ok || err != nil && !errors.Is(err, due.ErrScript) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	script := due.Script{Freshness: time.Hour}
	for hhmm, want := range map[string]bool{"10:59": true, "11:00": true, "11:01": false} {
		if script.Stale(at(t, hhmm), at(t, "12:00")) != want {
			t.Errorf("stale since %s: not %v", hhmm, want)
		}
	}
	if !script.Stale(time.Time{}, at(t, "12:00")) || (due.Script{}).Stale(time.Time{}, at(t, "12:00")) {
		t.Error("without a success it is stale, without a freshness it never is")
	}
}
