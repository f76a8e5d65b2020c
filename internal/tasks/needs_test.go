package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// What is missing is told with how to get it, and nothing is told where all is there.
func TestMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, need string
		env        string // CC and CGO_ENABLED
		fails      string // program that is not there
		want       []string
	}{
		{"all is there", needC, "gcc\n1\n", "", nil},
		{"a compiler with a flag", needC, "ccache gcc\n1\n", "gcc", nil},
		{"no compiler", needC, "gcc\n0\n", "gcc", []string{"gcc does not make a program (not found)", "apt-get install gcc g++", "make build"}},
		{"another compiler", needC, "clang -m64\n1\n", "clang", []string{"clang does not make a program", "xcode-select"}},
		{"cgo is off", needC, "gcc\n0\n", "", []string{"CGO_ENABLED is 0", "Unset it"}},
		{"pip is there", needPython, "", "", nil},
		{"no pip", needPython, "", "python-x", []string{"python-x -m pip does not work", "apt-get install python3 python3-pip"}},
	} {
		m := tooling{
			run: func(_ context.Context, name string, args ...string) (string, error) {
				if name == "go" {
					return c.env, nil
				}
				if name == c.fails {
					return "", errors.New("not found")
				}
				if c.need == needC && !slices.Contains(args, "-lstdc++") && !slices.Contains(args, "-lc++") {
					t.Errorf("%s: linked without the C++ library: %s %q", c.name, name, args)
				}
				return "", nil
			},
			getenv: func(string) string { return "python-x" },
		}
		got := m.missing(t.Context(), c.need)
		if (got == "") != (c.want == nil) {
			t.Errorf("%s: %q", c.name, got)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", c.name, part, got)
			}
		}
	}
}

// Suites that cannot run do not begin, and neither do the others: half a run is no run.
func TestNeedsComeFirst(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	ran := false
	suites := []suite{
		{name: "plain", run: func() (totals, error) { ran = true; return totals{passed: 1}, nil }},
		{name: "linked", needs: []string{needC}, run: func() (totals, error) { ran = true; return totals{passed: 1}, nil }},
	}
	m := tooling{run: func(context.Context, string, ...string) (string, error) { return "", errors.New("not found") }}
	if err := runSuites(t.Context(), &out, m, suites, ""); !errors.Is(err, errMissing) || ran || !strings.Contains(out.String(), "go env") {
		t.Errorf("%v, ran %v\n%s", err, ran, out.String())
	}
	if err := runSuites(t.Context(), &out, m, suites, "plain"); err != nil || !ran {
		t.Errorf("a suite without needs: %v, ran %v", err, ran)
	}
}
