package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
)

// columns reads NAME:TYPE,….
func columns(texts []string) []Column {
	var list []Column
	for _, t := range texts {
		name, typ, _ := strings.Cut(t, ":")
		list = append(list, Column{name, typ})
	}
	return list
}

// build makes a plan of a script in which lines of --- PATH begin bodies of tests.
func build(d *datadriven.TestData) (*Plan, error) {
	parts := strings.Split(d.Input, "\n--- ")
	h := annotate.Parse(parts[0])
	in := &Input{Header: h, Custom: map[string]string{}}
	for _, p := range parts[1:] {
		name, body, _ := strings.Cut(p, "\n")
		in.Custom[name] = body
	}
	if h.Materialize == nil || !h.Materialize.Manual {
		s, err := classify.Classify(parts[0])
		if err != nil {
			return nil, err
		}
		in.Script = s
	}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "partition":
			in.Partition = a.Vals[0]
		case "output":
			if in.Probe == nil {
				in.Probe = &Probe{}
			}
			in.Probe.Output = columns(a.Vals)
		case "table":
			if in.Probe == nil {
				in.Probe = &Probe{}
			}
			in.Probe.Table = columns(a.Vals)
		case "snapshot":
			in.Snapshot = &Snapshot{Author: "o'brien", Message: "m", Extra: `{"a": 1}`}
		case "macro":
			in.PartitionMacro = "CREATE OR REPLACE TEMP MACRO wm_partition(ts) AS ts"
		}
	}
	return Build(in)
}

// TestPlan prints plans: each statement with its role, and when it is needed.
func TestPlan(t *testing.T) {
	t.Parallel()
	when := map[When]string{IfMissing: " if missing", IfSchemaMissing: " if schema missing", IfUnpartitioned: " if unpartitioned"}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := build(d)
			if err != nil {
				if !errors.Is(err, ErrInput) && !errors.Is(err, ErrColumns) {
					t.Errorf("%s: %v is neither sentinel", d.Pos, err)
				}
				return "error: " + err.Error()
			}
			var b strings.Builder
			if p.Drift != nil {
				fmt.Fprintf(&b, "drift: %s\n", p.Drift)
			}
			for _, c := range p.Retyped {
				fmt.Fprintf(&b, "retyped: %s\n", c)
			}
			for _, s := range p.Statements {
				line := ""
				if s.Line > 0 {
					line = fmt.Sprintf(" line %d", s.Line)
				}
				fmt.Fprintf(&b, "%s%s%s: %s\n", s.Role, when[s.When], line, strings.ReplaceAll(s.SQL, "\n", " "))
			}
			for _, c := range p.Checks {
				fmt.Fprintf(&b, "test %s: %s\n", c.Name, strings.ReplaceAll(c.Rows, "\n", " "))
			}
			return b.String()
		})
	})
}

// TestPlanParts says which part of a plan is for what.
func TestPlanParts(t *testing.T) {
	t.Parallel()
	s, err := classify.Classify("SET x = 1; SELECT 1 AS a")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(&Input{Header: annotate.Parse("-- materialize ducklake://l/t append\n-- data_test relationships a -> ducklake://m/u.b"), Script: s})
	if err != nil {
		t.Fatal(err)
	}
	roles := func(list []Statement) string {
		var out []string
		for _, s := range list {
			out = append(out, string(s.Role))
		}
		return strings.Join(out, " ")
	}
	if got := roles(p.Preparation()); got != "setup attach reference" {
		t.Errorf("preparation: %s", got)
	}
	if got := roles(p.Writes()); got != "create begin insert commit" {
		t.Errorf("writes: %s", got)
	}
	if got := p.Checks[0].Sample(); !strings.Contains(got, "'_wm_partition'") || !strings.Contains(got, "LIMIT 20") {
		t.Errorf("the sample: %s", got)
	}
	n := int64(7)
	if got := p.Summarize(&n); !strings.Contains(got, `_wm_target."t" AT (VERSION => 7)`) || strings.Contains(got, "ducklake_snapshots") {
		t.Errorf("the summary of a snapshot: %s", got)
	}
}

func TestParseAttach(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"ATTACH 'ducklake://main' AS dl":                                           "main dl false ",
		"attach database if not exists 'ducklake://a b' as \"x\"\"y\" (READ_ONLY)": "a b x\"y true READ_ONLY",
		"ATTACH 'ducklake://it''s/'":                                               "it's it's false ",
		"ATTACH 'ducklake'":                                                        "main main false ",
		"ATTACH 'DuckLake://m' AS é;":                                              "m é false ",
		"ATTACH 'ducklake:postgres:dbname=x' AS dl":                                "",
		"ATTACH 'ducklake://a/b' AS dl":                                            "",
		"ATTACH 'ducklake://' AS dl":                                               "",
		"ATTACH OR REPLACE 'ducklake://a' AS dl":                                   "",
		"ATTACH 'x.db'":                                                            "",
		"SELECT 'ATTACH'":                                                          "",
	} {
		got := ""
		if a, ok := ParseAttach(sql); ok {
			got = fmt.Sprintf("%s %s %v %s", a.Lake, a.Alias, a.IfNotExists, a.Options)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func FuzzParseAttach(f *testing.F) {
	f.Add("ATTACH 'ducklake://main' AS \"d\"\"l\" (READ_ONLY)")
	f.Fuzz(func(t *testing.T, sql string) {
		if a, ok := ParseAttach(sql); ok && (a.Lake == "" || a.Alias == "" || strings.Contains(a.Lake, "/")) {
			t.Errorf("%q: %+v", sql, a)
		}
	})
}
