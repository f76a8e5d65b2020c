package annotate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// dump is a header as text: what is set, then what is wrong.
func dump(h *Header) string {
	var out strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, k := range slices.Sorted(maps.Keys(h.Lines)) {
		switch k {
		case keyPipeline:
			add("%d: pipeline %v", h.Lines[k], h.Pipeline)
		case keyFreshness:
			add("%d: freshness %q", h.Lines[k], h.Freshness)
		case keyTrigger:
			add("%d: trigger %v", h.Lines[k], h.Join)
		case keyDebounce:
			add("%d: debounce %q", h.Lines[k], h.Debounce)
		case keyTag:
			add("%d: tag %q", h.Lines[k], h.Tag)
		case keyMacros:
			add("%d: macros %v", h.Lines[k], h.Macros)
		case keyMute:
			add("%d: mute all=%v %v", h.Lines[k], h.Mute.All, h.Mute.Assets)
		}
	}
	if m := h.Materialize; m != nil {
		add("%d: materialize %s %s manual=%v key=%q track=%q close=%v schema=%s writes %v",
			m.Line, m.Asset, m.Strategy(), m.Manual, m.Key, m.Track, m.CloseDeleted, m.OnSchemaChange, m.WriteTargets())
	}
	if p := h.Partitioned; p != nil {
		add("%d: partitioned %s key=%q tz=%q format=%q start=%q", p.Line, p.Kind, p.Key, p.TZ, p.Format, p.Start)
	}
	for _, t := range h.Triggers {
		add("%d: on %s debounce=%q cron=%q tz=%q bearing=%v", t.Line, t, t.Debounce, t.Cron, t.TZ, t.PartitionBearing())
	}
	if r := h.Retry; r != nil {
		add("%d: retry %d %q", r.Line, r.Count, r.Delay)
	}
	for _, t := range h.Tests {
		add("%d: data_test %s values=%q ref=%s", t.Line, t.Name(), t.Values, t.Ref)
	}
	for _, c := range h.Columns {
		add("%d: column %s <- %v", c.Line, c.Name, c.From)
	}
	if len(h.Use) > 0 {
		add("use %q", h.Use)
	}
	for _, m := range h.Measures {
		add("%d: measure %s = %q where %q", m.Line, m.Name, m.Expr, m.Where)
	}
	for _, d := range h.Dimensions {
		add("%d: dimension %s = %q", d.Line, d.Name, d.Expr)
	}
	for _, d := range h.Diagnostics {
		add("%s %s %s", d.Severity, d.Code, d)
	}
	return out.String()
}

// The files hold the cases of the grammar, by their numbers, and ours after them.
func TestCases(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/cases", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			// A vertical bar ends a line, since an editor would take spaces off.
			script := strings.ReplaceAll(d.Input, "|\n", "\n")
			script = strings.ReplaceAll(strings.TrimSuffix(script, "|"), `\t`, "\t")
			switch d.Cmd {
			case "header":
				return dump(Parse(script))
			case "malformed-tests":
				return fmt.Sprintln(Parse(script).MalformedTests())
			}
			t.Fatalf("%s: %s", d.Pos, d.Cmd)
			return ""
		})
	})
}
