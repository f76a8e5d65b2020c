package run

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/materialize/state"
)

// TestVerdict has the outcomes of tests: none, all well, some failed, some missing.
func TestVerdict(t *testing.T) {
	t.Parallel()
	tests := func(counts ...int64) []state.Test {
		var list []state.Test
		for i, n := range counts {
			list = append(list, state.Test{Name: string(rune('a' + i)), Violating: n})
		}
		return list
	}
	for _, test := range []struct {
		tests    []state.Test
		declared int
		want     string
	}{
		{nil, 0, ""},
		{tests(0, 0), 2, ""},
		{tests(1, 0, 2), 3, "x: 2 of 3 data tests failed\n✗ a: 1 violating\n✓ b\n✗ c: 2 violating"},
		{tests(0), 3, "x: 2 of 3 data tests gave no outcome"},
	} {
		got, ok := verdict("x", test.tests, test.declared)
		if got != test.want || ok != (test.want == "") {
			t.Errorf("%v: %q, %v; want %q", test.tests, got, ok, test.want)
		}
	}
}

// TestSummary reads lists as they are and as JSON in texts.
func TestSummary(t *testing.T) {
	t.Parallel()
	n := func(v int64) *int64 { return &v }
	want := summary{
		Materialized: "ducklake://l/t", Rows: n(3), Snapshot: n(7), Schema: []state.Column{{Name: "a", Type: "INTEGER"}},
		Tests: []state.Test{{Name: "unique(a)", Violating: 2}},
	}
	const columns, tests = `[{"name":"a","type":"INTEGER"}]`, `[{"test":"unique(a)","violating":2}]`
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, text := range []string{
		`{"materialized":"ducklake://l/t","rows":3,"snapshot_id":7,"output_schema":` + columns + `,"data_tests":` + tests + `}`,
		`{"materialized":"ducklake://l/t","rows":3,"snapshot_id":7,"output_schema":` + quote(columns) + `,"data_tests":` + quote(tests) + `}`,
	} {
		var got summary
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	var none summary
	if err := json.Unmarshal([]byte(`{"materialized":"x","rows":null}`), &none); err != nil || none.Tests != nil || none.Schema != nil {
		t.Errorf("without lists: %+v, %v", none, err)
	}
}

// TestSequence has the cases of a backfill: the order, a failure in the middle, a launch that fails, a stop and a
// cancel.
func TestSequence(t *testing.T) {
	t.Parallel()
	clock := func() time.Time { return time.Unix(0, 0) }
	show := func(list []Progress) string {
		var out []string
		for _, p := range list {
			s := p.Partition + " " + string(p.Status)
			if p.Run != "" {
				s += " " + p.Run
			}
			out = append(out, s)
		}
		return strings.Join(out, ", ")
	}
	failure := errors.New("it failed")
	for name, test := range map[string]struct {
		slices  []string
		fail    map[string]error
		stopAt  string // stop is closed while this one runs
		cancel  string // the context is cancelled while this one runs
		want    string
		ok      bool
		message string
	}{
		"three":         {slices: []string{"a", "b", "c"}, want: "a success ra, b success rb, c success rc", ok: true},
		"middle fails":  {slices: []string{"a", "b", "c"}, fail: map[string]error{"b": failure}, want: "a success ra, b failure rb, c success rc"},
		"launch fails":  {slices: []string{"a", "b"}, fail: map[string]error{"a": ErrInput}, want: "a failure, b success rb", message: "refused"},
		"stopped":       {slices: []string{"a", "b", "c"}, stopAt: "a", want: "a success ra, b pending, c pending"},
		"cancelled":     {slices: []string{"a", "b", "c"}, cancel: "b", want: "a success ra, b cancelled rb, c pending"},
		"nothing to do": {want: "", ok: true},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		stop := make(chan struct{})
		b := sequence(ctx, stop, test.slices, clock, func(ctx context.Context, p string, started func(string)) (state.Run, error) {
			err := test.fail[p]
			if errors.Is(err, ErrInput) {
				return state.Run{}, err
			}
			started("r" + p)
			if p == test.stopAt {
				close(stop)
			}
			if p == test.cancel {
				cancel()
				return state.Run{ID: "r" + p}, ctx.Err()
			}
			return state.Run{ID: "r" + p}, err
		}, nil)
		cancel()
		if got := show(b.Slices); got != test.want || b.OK() != test.ok {
			t.Errorf("%s: %s, %v; want %s, %v", name, got, b.OK(), test.want, test.ok)
		}
		if b.Cancelled != (test.stopAt != "" || test.cancel != "") {
			t.Errorf("%s: cancelled %v", name, b.Cancelled)
		}
		if test.message != "" && b.Slices[0].Error != test.message {
			t.Errorf("%s: %q", name, b.Slices[0].Error)
		}
	}

	// What is told is each time another list, and the run is known from the third on.
	var told [][]Progress
	sequence(context.Background(), nil, []string{"a"}, clock, func(_ context.Context, _ string, started func(string)) (state.Run, error) {
		started("ra")
		return state.Run{ID: "ra"}, nil
	}, func(list []Progress) { told = append(told, list) })
	var lines []string
	for _, list := range told {
		lines = append(lines, show(list))
	}
	if got := strings.Join(lines, "; "); got != "a pending; a running; a running ra; a success ra" {
		t.Errorf("told: %s", got)
	}
}

// TestSources reads the keys of records, and tells complete ones from others.
func TestSources(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]LakeTable{
		"lake/main.t":   {"lake", "main", "t"},
		"lake/s.a.b":    {"lake", "s", "a.b"},
		"lake/main.a/b": {"lake", "main", "a/b"},
	} {
		if got, ok := parseKey(key); !ok || got != want || got.key() != key {
			t.Errorf("%s: %+v", key, got)
		}
	}
	if _, ok := parseKey("?"); ok {
		t.Error("? is a table")
	}
	if !incomplete(map[string]int64{"?": 0, "l/main.t": 1}) || incomplete(map[string]int64{"l/main.t": 1}) {
		t.Error("complete records")
	}
	if got := (LakeTable{"l", "Main", "t"}).Asset().String(); got != "ducklake://l/t" {
		t.Errorf("the asset is %s", got)
	}
}
