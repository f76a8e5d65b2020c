package annotate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// good are lines without a complaint, none of which leaves another one without effect.
var good = []string{
	"pipeline", "materialize ducklake://a/b key=id on_schema_change=sync", "partitioned daily tz=UTC", "freshness 2h", "on ducklake://a/c debounce=5s",
	`on schedule cron="0 6 * * *"`, "trigger all", "debounce 1m", "tag nightly", "retry 3 5s", "data_test unique id", "data_test f/tests/x",
	"data_test relationships a -> datatable://p/q.r", "column a <- ducklake://a/c.d", "mute ducklake://a/d", "macros", "use f/lib/x",
	"measure m = sum(x) where y", "dimension d = x", "a sentence about the table", "",
}

// bad are lines that are not read.
var bad = []string{
	"pipeline 1", "materialize", "materialize manual", "materialize orders", "partitioned", "partitioned yearly", "partitioned dynamic", "freshness",
	"on", "on x://y", "on kafka topic", "trigger some", "debounce", "tag", "tag two words", "retry 0", "retry", "data_test", "data_test uniq id",
	"data_test accepted_values a", "data_test relationships a -> b", "column", "column a <- b", "mute", "mute ducklake", "macros here", "use x", "measure m",
	"measure m = where", "dimension d", "materialise ducklake://x/y", "data-test unique x", "append", "Partitioned hourly",
}

// same compares what two headers say, but not what is wrong with them.
func same(a, b *Header) string {
	x, y := *a, *b
	x.Diagnostics, y.Diagnostics = nil, nil
	return cmp.Diff(x, y)
}

func script(prefix string, lines []string) string {
	return prefix + strings.Join(lines, "\n"+prefix) + "\nSELECT 1"
}

// Lines that cannot be read change nothing of what the others say, wherever they are.
func TestMalformedLinesAreInert(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(good), 0, 12).Draw(r, "lines")
		with := slices.Clone(lines)
		for _, b := range rapid.SliceOfN(rapid.SampledFrom(bad), 1, 5).Draw(r, "bad") {
			with = slices.Insert(with, rapid.IntRange(0, len(with)).Draw(r, "at"), b)
		}
		// The same lines in their places, with comments that say nothing instead of the bad.
		without := slices.Clone(with)
		for i, l := range without {
			if slices.Contains(bad, l) {
				without[i] = "---"
			}
		}
		prefix := rapid.SampledFrom([]string{"-- ", "//", "\t--  "}).Draw(r, "prefix")
		a, b := Parse(script(prefix, without)), Parse(script(prefix, with))
		if d := same(a, b); d != "" {
			r.Errorf("%q: %s", with, d)
		}
		if len(b.Diagnostics) <= len(a.Diagnostics) {
			r.Errorf("%q: nothing is said of what is not read", with)
		}
	})
}

// Each bad line is complained of once, in its line.
func TestBadLinesAreToldOf(t *testing.T) {
	t.Parallel()
	for _, line := range bad {
		h := Parse("\n-- " + line)
		if len(h.Diagnostics) != 1 || h.Diagnostics[0].Line != 2 || h.Diagnostics[0].Remedy == "" {
			t.Errorf("%q: %v", line, h.Diagnostics)
		}
	}
}

// A header of good lines, each at most once, has nothing wrong with it.
func TestGoodHeaders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfDistinct(rapid.SampledFrom(good), rapid.ID).Draw(r, "lines")
		lines = append([]string{good[1]}, slices.DeleteFunc(lines, func(l string) bool { return l == good[1] })...)
		if h := Parse(script("-- ", lines)); len(h.Diagnostics) > 0 {
			r.Errorf("%q: %v", lines, h.Diagnostics)
		}
	})
}

func TestAssetsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		checkAsset(r, rapid.SampledFrom([]string{"ducklake://", "datatable://", "s3://", "res://", "$res:", "volume://", "", "x://"}).Draw(r, "scheme")+
			strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"/", "a", ".", "{partition}", ":", "ä", "$res:", " "})).Draw(r, "path"), ""))
	})
}

func checkAsset(t rapid.TB, text string) {
	a, ok := ParseAsset(text)
	if !ok {
		return
	}
	again, ok := ParseAsset(a.String())
	if !ok || again != a {
		t.Errorf("%q is %+v, its text %q is %+v", text, a, a, again)
	}
}

// FuzzParse: whatever comes, lines are numbered in order, and what is recorded is whole.
func FuzzParse(f *testing.F) {
	f.Add(script("-- ", good))
	f.Add(script("// ", bad))
	f.Add("\ufeff#!x\r\n# on schedule cron=0 6 * * *\r\n\r\n--materialize ducklake append track=a, b key='x\n/* */\n-- use a/b")
	f.Fuzz(func(t *testing.T, text string) {
		h := Parse(text)
		lines := strings.Count(text, "\n") + 1
		last := 1
		in := func(what string, line int) {
			if line < last || line > lines {
				t.Errorf("%q: %s in line %d", text, what, line)
			}
			last = line
		}
		for _, d := range h.Diagnostics {
			in("diagnostic", d.Line)
			if d.Message == "" || d.Remedy == "" || d.Code == "" || d.Keyword == "" {
				t.Errorf("%q: %+v", text, d)
			}
		}
		last = 1
		for _, x := range h.Tests {
			in(x.Name(), x.Line)
			checkAsset(t, x.Ref.String())
			if (x.Kind == TestCustom) == (x.Script == "") || (x.Kind == TestCustom) == (x.Column != "") {
				t.Errorf("%q: %+v", text, x)
			}
		}
		last = 1
		for _, x := range h.Triggers {
			in(x.String(), x.Line)
			if (x.Native == "") == (x.Asset == Asset{}) {
				t.Errorf("%q: %+v", text, x)
			}
		}
		last = 1
		for _, x := range h.Columns {
			in(x.Name, x.Line)
			if len(x.From) == 0 {
				t.Errorf("%q: %+v", text, x)
			}
		}
		if m := h.Materialize; m != nil && (m.Asset.Path == "" || m.OnSchemaChange == "" || len(m.WriteTargets()) == 0) {
			t.Errorf("%q: %+v", text, m)
		}
		if h.Retry != nil && h.Retry.Count <= 0 {
			t.Errorf("%q: %+v", text, h.Retry)
		}
		if d := same(h, Parse(text+"\n")); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	})
}
