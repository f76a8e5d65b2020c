package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/materialize/run"
	"github.com/eiderdb/eider/materialize/state"
)

// TestShow: a terminal gets a bar that is drawn over and goes away, everything else plain lines; what came of a run goes to the output
// of either.
func TestShow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	n := int64(7)
	events := []run.Event{
		{Kind: run.Started, Script: "a", Run: &state.Run{}},
		{Kind: run.Step, Script: "a", Role: "insert", Done: 1, Total: 4},
		{Kind: run.Step, Script: "a", Role: "commit", Done: 2, Total: 4},
		{Kind: run.Note, Script: "a", Text: "take notice"},
		{Kind: run.Ended, Script: "a", Partition: "p", Run: &state.Run{Status: state.Materialized, Started: at, Ended: at.Add(time.Second), Outcome: state.Outcome{Rows: &n, Snapshot: &n}}},
		{Kind: run.Ended, Script: "b", Text: "as it was", Run: &state.Run{Status: state.Skipped}},
	}
	for _, test := range []struct {
		bar  bool
		errs string
	}{
		{true, "\r[###---------------------] 0/2  a  insert\r[######------------------] 0/2  a  commit\r" + strings.Repeat(" ", 41) + "\ra: note: take notice\n"},
		{false, "a: running\na: note: take notice\n"},
	} {
		var out, errs bytes.Buffer
		a := &app{out: &out, err: &errs}
		s := a.newShow("text", false, 2)
		s.bar = test.bar
		for _, e := range events {
			s.event(e)
		}
		if got := errs.String(); got != test.errs {
			t.Errorf("bar %v: %q, want %q", test.bar, got, test.errs)
		}
		if got := out.String(); got != "a [p]: materialized  7 rows  snapshot 7  1s\nb: skipped: as it was\n" {
			t.Errorf("bar %v: output %q", test.bar, got)
		}
	}

	// A narrow terminal gets a line that fits.
	var out, errs bytes.Buffer
	s := (&app{out: &out, err: &errs}).newShow("text", false, 1)
	s.bar, s.width = true, 30
	s.event(run.Event{Kind: run.Step, Script: strings.Repeat("é", 100), Role: "insert", Done: 1, Total: 2})
	if got := len([]rune(strings.TrimPrefix(errs.String(), "\r"))); got != 29 {
		t.Errorf("a line of %d characters in 30", got)
	}
}
