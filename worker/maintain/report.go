package maintain

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/eiderdb/eider/internal/bytesize"
)

// Reporter writes what runs do, a line for each thing.
type Reporter struct {
	// Out takes the lines.
	Out io.Writer
	// JSON writes lines of JSON instead of text for people.
	JSON bool
}

// stepLine is a step in JSON.
type stepLine struct {
	Event   string  `json:"event"` // "step"
	Phase   string  `json:"phase"`
	Schema  string  `json:"schema,omitempty"`
	Table   string  `json:"table,omitempty"`
	Min     int64   `json:"tier_min_bytes,omitempty"`
	Max     int64   `json:"tier_max_bytes,omitempty"`
	Target  int64   `json:"target_bytes,omitempty"`
	Status  Status  `json:"status"`
	Files   int64   `json:"planned_files,omitempty"`
	Bytes   int64   `json:"planned_bytes,omitempty"`
	Read    int64   `json:"files_read,omitempty"`
	Written int64   `json:"files_written,omitempty"`
	Rows    int64   `json:"rows,omitempty"`
	Retries int     `json:"retries,omitempty"`
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// summaryLine is a run in JSON.
type summaryLine struct {
	Event   string  `json:"event"` // "run"
	Steps   int     `json:"steps"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Read    int64   `json:"files_read"`
	Written int64   `json:"files_written"`
	Rows    int64   `json:"rows_flushed"`
	Seconds float64 `json:"seconds"`
	Stopped string  `json:"stopped,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// Step writes the end of a step.
func (r *Reporter) Step(o Outcome) {
	if r.JSON {
		l := stepLine{
			Event: "step", Phase: o.Step.Phase.String(), Schema: o.Step.Schema, Table: o.Step.Table,
			Min: o.Step.Tier.Min, Max: o.Step.Tier.Max, Target: o.Step.Target, Status: o.Status, Files: o.Step.Files, Bytes: o.Step.Bytes,
			Rows: o.Rows, Retries: o.Retries, Seconds: seconds(o.Took), Note: o.Note,
		}
		if o.Status != Planned && o.Status != Off {
			l.Read, l.Written = o.Read, o.Written
		}
		if o.Err != nil {
			l.Error = Text(o.Err)
		}
		r.json(l)
		return
	}
	fmt.Fprintln(r.Out, o.Step.Name()+": "+o.text())
}

// text is what became of a step, for people.
func (o *Outcome) text() string {
	parts := []string{string(o.Status)}
	add := func(ok bool, format string, args ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	planned := o.Status == Planned || o.Status == Skipped || o.Status == Off
	add(planned && o.Step.Files > 0, "%s", plural(o.Step.Files, "file"))
	add(planned && o.Step.Bytes > 0, "%s into files of %s", bytesize.Short(o.Step.Bytes), bytesize.Short(o.Step.Target))
	add(!planned && o.Read > 0, "%s into %d", plural(o.Read, "file"), o.Written)
	add(o.Rows > 0, "%s", plural(o.Rows, unitOf(o.Step.Phase)))
	add(o.Step.Age > 0, "older than %s", o.Step.Age)
	add(o.Retries > 0, "%s lost before", plural(int64(o.Retries), "race"))
	add(o.Note != "", "%s", o.Note)
	add(o.Err != nil, "%s", errText(o.Err))
	add(!planned, "%.1fs", seconds(o.Took))
	return strings.Join(parts, ", ")
}

// unitOf is what a phase's rows are.
func unitOf(p Phase) string {
	switch p {
	case Expire:
		return "snapshot"
	case Cleanup, Orphans:
		return "file"
	}
	return "row"
}

// Run writes the end of a run; err is what ended it early, if anything did.
func (r *Reporter) Run(s Summary, err error) {
	if r.JSON {
		r.json(summaryLine{"run", s.Steps, s.Failed, s.Skipped, s.Read, s.Written, s.Rows, seconds(s.Took), s.Stopped, errText(err)})
		return
	}
	text := fmt.Sprintf("%s, %d failed, %d skipped; %s flushed, %s into %d; %.1fs", plural(int64(s.Steps), "step"), s.Failed, s.Skipped,
		plural(s.Rows, "row"), plural(s.Read, "file"), s.Written, seconds(s.Took))
	if s.Stopped != "" {
		text += "; ended early: " + s.Stopped
	}
	fmt.Fprintln(r.Out, text)
}

func (r *Reporter) json(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(`{"event":"error"}`) // no field can fail
	}
	fmt.Fprintf(r.Out, "%s\n", text)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return Text(err)
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
