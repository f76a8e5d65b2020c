package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/eiderdb/eider/materialize/run"
	"github.com/eiderdb/eider/materialize/state"
)

// show writes what runs do: a bar on a terminal, plain lines elsewhere, or lines of JSON.
type show struct {
	mu    sync.Mutex
	out   io.Writer // what came of it
	err   io.Writer // what is going on
	json  bool
	quiet bool
	bar   bool
	width int
	shown int // width of the bar that is on the screen
	done  int // jobs that are over
	total int // jobs that there are
}

func (a *app) newShow(format string, quiet bool, total int) *show {
	s := &show{out: a.out, err: a.err, json: format == "json", quiet: quiet, total: total, width: 100}
	if s.bar = isTerminal(a.err) && !s.json && !quiet; s.bar {
		if w, _, err := term.GetSize(int(a.err.(*os.File).Fd())); err == nil && w > 20 {
			s.width = w
		}
	}
	return s
}

// isTerminal says whether people look at what is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// runLine is an event, or the end of a run, in JSON.
type runLine struct {
	Event     string       `json:"event"`
	Script    string       `json:"script"`
	Asset     string       `json:"asset"`
	Partition string       `json:"partition,omitempty"`
	Run       string       `json:"run,omitempty"`
	Status    state.Status `json:"status,omitempty"`
	Strategy  string       `json:"strategy,omitempty"`
	Attempt   int          `json:"attempt,omitempty"`
	Snapshot  *int64       `json:"snapshot_id,omitempty"`
	Rows      *int64       `json:"rows,omitempty"`
	Version   *int64       `json:"schema_version,omitempty"`
	Tests     []state.Test `json:"tests,omitempty"`
	Seconds   float64      `json:"seconds,omitempty"`
	Text      string       `json:"text,omitempty"`
}

func (s *show) line(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{"event":"error"}`)
	}
	fmt.Fprintf(s.out, "%s\n", b)
}

// event shows what happens.
func (s *show) event(e run.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		if e.Kind == run.Step {
			return
		}
		l := runLine{Event: string(e.Kind), Script: e.Script, Asset: e.Asset, Partition: e.Partition, Text: e.Text}
		if r := e.Run; r != nil {
			l.Run, l.Status, l.Strategy, l.Attempt = r.ID, r.Status, r.Strategy, r.Attempt
			if e.Kind == run.Ended {
				l.Snapshot, l.Rows, l.Version, l.Tests, l.Seconds = r.Snapshot, r.Rows, r.SchemaVersion, r.Tests, r.Ended.Sub(r.Started).Seconds()
			}
		}
		s.line(l)
		return
	}
	name := title(e.Script, e.Partition)
	switch e.Kind {
	case run.Step:
		if s.bar {
			s.draw(float64(e.Done)/float64(max(e.Total, 1)), fmt.Sprintf("%s  %s", name, e.Role))
		}
	case run.Started:
		if !s.bar && !s.quiet {
			fmt.Fprintf(s.err, "%s: running\n", name)
		}
	case run.Waiting, run.Lost, run.Note, run.Retrying, run.Due:
		if !s.quiet || e.Kind == run.Note {
			s.clear()
			fmt.Fprintf(s.err, "%s: %s: %s\n", name, e.Kind, e.Text)
		}
	case run.Ended:
		s.clear()
		s.done++
		s.ended(name, e)
	}
}

func title(script, partition string) string {
	if partition != "" {
		return script + " [" + partition + "]"
	}
	return script
}

// ended writes what came of a run, for people.
func (s *show) ended(name string, e run.Event) {
	r := e.Run
	if r == nil {
		return
	}
	text := fmt.Sprintf("%s: %s", name, r.Status)
	if r.Status == state.Skipped {
		fmt.Fprintf(s.out, "%s: %s\n", text, e.Text)
		return
	}
	if r.Rows != nil {
		text += fmt.Sprintf("  %d rows", *r.Rows)
	}
	if r.Snapshot != nil {
		text += fmt.Sprintf("  snapshot %d", *r.Snapshot)
	}
	if n := len(r.Tests); n > 0 && r.Status == state.Materialized {
		text += fmt.Sprintf("  %d test%s passed", n, plural(n))
	}
	if d := r.Ended.Sub(r.Started); d > 0 {
		text += "  " + d.Round(time.Millisecond).String()
	}
	fmt.Fprintln(s.out, text)
	if r.Error != "" {
		fmt.Fprintln(s.out, "  "+strings.ReplaceAll(r.Error, "\n", "\n  "))
	}
	for _, t := range r.Tests {
		if len(t.Sample) > 0 {
			sample := string(t.Sample)
			if len(sample) > 500 {
				cut := 500
				for !utf8.RuneStart(sample[cut]) {
					cut--
				}
				sample = sample[:cut] + "…"
			}
			fmt.Fprintf(s.out, "  %s: %s\n", t.Name, sample)
		}
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// draw shows the bar: how many of the jobs are over, and part of the one at work.
func (s *show) draw(part float64, text string) {
	const cells = 24
	total := max(s.total, s.done+1)
	full := int((float64(s.done) + part) / float64(total) * cells)
	line := fmt.Sprintf("[%s%s] %d/%d  %s", strings.Repeat("#", full), strings.Repeat("-", cells-full), s.done, total, text)
	if r := []rune(line); len(r) >= s.width {
		line = string(r[:s.width-1])
	}
	n := utf8.RuneCountInString(line)
	fmt.Fprintf(s.err, "\r%s%s", line, strings.Repeat(" ", max(0, s.shown-n)))
	s.shown = n
}

// clear takes the bar away.
func (s *show) clear() {
	if s.shown > 0 {
		fmt.Fprintf(s.err, "\r%s\r", strings.Repeat(" ", s.shown))
		s.shown = 0
	}
}

// table writes rows in columns.
func table(w io.Writer, head []string, rows [][]string) {
	width := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
