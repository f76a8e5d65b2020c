package maintain

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// state is a lake with something to do for every phase.
func testState() []Table {
	return []Table{
		{
			ID: 1, Schema: "main", Name: "a", InlinedRows: 3, InlinedDeletes: 1,
			Tiers:   []TierFiles{{Files: 5, Mergeable: 5, Bytes: 100}, {Files: 1}, {}},
			Rewrite: RewriteFiles{Files: 2, Rows: 100, Deleted: 60},
		},
		{ID: 2, Schema: "main", Name: "b", Target: 3 << 20, Tiers: []TierFiles{{Files: 3, Mergeable: 2, Bytes: 7}, {}, {Files: 2, Mergeable: 2, Bytes: 30 << 20}}},
		{ID: 3, Schema: "it's", Name: `q"t`, InlinedDeletes: 9, Tiers: []TierFiles{{Files: 9}, {Files: 4, Mergeable: 4, Bytes: 9 << 20}, {}}},
	}
}

// The SQL of all steps, phase by phase: what is planned, in which order, and what it says.
func TestPlan(t *testing.T) {
	t.Parallel()
	all, none := Options{}, Options{Rule: &Rule{MinInlined: 1, MinFiles: 2, DeleteThreshold: 1, Tiers: DefaultTiers()}}
	one := Options{Tables: []string{"b"}}
	few := Options{Rule: &Rule{Flush: true, Merge: true, MinInlined: 5, MinFiles: 4, DeleteThreshold: 0.5, Tiers: DefaultTiers()}, Outputs: 2}
	rest := Options{Rest: Rest{Expire: 30 * 24 * time.Hour, Cleanup: time.Hour, Orphans: 7 * 24 * time.Hour}, Schemas: []string{"none"}}
	server := Options{Rest: Rest{Expire: time.Hour, Server: true}, Schemas: []string{"none"}}
	byTable := Options{RuleOf: func(schema, table string) Rule {
		r := DefaultRule()
		r.Flush, r.Merge = table == "a", table == "b"
		return r
	}}
	tiers := Options{RuleOf: func(schema, table string) Rule {
		r := DefaultRule()
		if table == "b" {
			r.Tiers = []Tier{{Min: 0, Max: 1 << 10, Target: 2 << 10}}
		}
		r.Flush, r.Rewrite = false, false
		return r
	}}
	var out strings.Builder
	for _, c := range []struct {
		name string
		o    Options
	}{{"all", all}, {"nothing", none}, {"one table", one}, {"triggers", few}, {"the rest", rest}, {"the server", server}, {"rules", byTable}, {"tiers of a table", tiers}} {
		o, err := c.o.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "# %s\n", c.name)
		state := testState()
		for i := range state {
			state[i].Rule = o.ruleOf(state[i].Schema, state[i].Name)
		}
		for _, p := range phases(tiersOf(state)) {
			for _, s := range Plan(state, &o, p.phase, p.tier) {
				fmt.Fprintf(&out, "%s\n    %s; %s\n", s.Name(), s.TargetSQL(), s.SQL("lake", o.Outputs))
			}
		}
	}
	const golden = "testdata/plan.txt"
	want, err := os.ReadFile(golden)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		if os.Getenv("REWRITE") != "" {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the plan is another than in %s (REWRITE=1 writes it):\n%s", golden, diff)
	}
}

// Each kind of work is asked for by how much there is, by its age and by its bytes; any of them is
// enough, and each by itself.
func TestPlanTriggers(t *testing.T) {
	t.Parallel()
	rule := func(set func(*Rule)) Rule {
		r := DefaultRule()
		r.MinInlined, r.MinFiles, r.DeleteThreshold = 1000, 1000, 0.9
		set(&r)
		return r
	}
	nothing := rule(func(*Rule) {})
	waiting := Table{InlinedRows: 5, InlinedBytes: 700, InlinedOld: true, Tiers: []TierFiles{{Files: 4, Mergeable: 3, Bytes: 90, Waiting: 40, Old: 2}}}
	for _, c := range []struct {
		name string
		rule Rule
		p    Phase
		want bool
	}{
		{"flush", nothing, Flush, false},
		{"flush by count", rule(func(r *Rule) { r.MinInlined = 5 }), Flush, true},
		{"flush by fewer", rule(func(r *Rule) { r.MinInlined = 6 }), Flush, false},
		{"flush by age", rule(func(r *Rule) { r.FlushAge = time.Hour }), Flush, true},
		{"flush by bytes", rule(func(r *Rule) { r.FlushBytes = 700 }), Flush, true},
		{"flush by fewer bytes", rule(func(r *Rule) { r.FlushBytes = 701 }), Flush, false},
		{"merge", nothing, Merge, false},
		{"merge by count", rule(func(r *Rule) { r.MinFiles = 3 }), Merge, true},
		{"merge by fewer", rule(func(r *Rule) { r.MinFiles = 4 }), Merge, false},
		{"merge by age", rule(func(r *Rule) { r.MergeAge = time.Hour }), Merge, true},
		{"merge by bytes", rule(func(r *Rule) { r.MergeBytes = 40 }), Merge, true},
		{"merge by fewer bytes", rule(func(r *Rule) { r.MergeBytes = 41 }), Merge, false},
	} {
		table := waiting
		table.Rule = c.rule
		if _, worth := planTable(&table, c.p, 0); worth != c.want {
			t.Errorf("%s: %v", c.name, worth)
		}
	}
	// Nothing waits: no age makes work.
	empty := Table{InlinedOld: true, Tiers: []TierFiles{{Files: 1, Old: 1}}, Rule: rule(func(r *Rule) { r.FlushAge, r.MergeAge = 1, 1 })}
	for _, p := range []Phase{Flush, Merge} {
		if _, worth := planTable(&empty, p, 0); worth {
			t.Errorf("%s of nothing", p)
		}
	}
}

// Which files a table's rule wants rewritten, and what the call must be told to take them.
func TestRewriteFiles(t *testing.T) {
	t.Parallel()
	type file struct {
		rows, deleted, size int64
		old                 bool
	}
	files := []file{{100, 95, 1000, false}, {100, 30, 100_000, false}, {300, 100, 500, true}, {100, 1, 1000, false}}
	for _, c := range []struct {
		rule      Rule
		files     int64
		threshold float64
	}{
		{Rule{DeleteThreshold: 0.9}, 1, 0.9},
		{Rule{DeleteThreshold: 0.96}, 0, 0.96},
		{Rule{DeleteThreshold: 0.96, RewriteBytes: 30_000}, 1, 0.3},
		{Rule{DeleteThreshold: 0.96, RewriteBytes: 30_001}, 0, 0.96},
		{Rule{DeleteThreshold: 0.96, RewriteAge: 1}, 1, 1.0 / 3},
		{Rule{DeleteThreshold: 0.9, RewriteAge: 1, RewriteBytes: 950}, 3, 0.3},
		{Rule{DeleteThreshold: 0.005}, 4, 0.005},
	} {
		var f RewriteFiles
		for _, x := range files {
			f.add(&c.rule, x.rows, x.deleted, x.size, x.old)
		}
		got := f.threshold(&c.rule)
		if f.Files != c.files || got > c.threshold || got < c.threshold*(1-1e-8) {
			t.Errorf("%+v: %+v, threshold %v; want %d files, %v", c.rule, f, got, c.files, c.threshold)
		}
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Transaction conflict - attempting to merge table":    true,
		"could not serialize access due to Concurrent update": true,
		`violates UNIQUE constraint`:                          true,
		`duplicate Primary Key`:                               true,
		"compaction of table t would change row ids":          false,
		`Failed to execute query "COMMIT": ERROR:  another transaction changed the deletes of data file 83 HINT:  Nothing was stored. Run the statement again. (check rewrite-deletes)`: true,
		`Failed to execute query "INSERT INTO x VALUES ('Run the statement again.')": FATAL:  terminating connection due to administrator command`:                                      false,
		`Failed to execute query "INSERT INTO x VALUES ('unique_visitors')": ERROR:  storage failed during COMMIT: it is not known whether the transaction was committed`:               false,
		`Failed to execute query "INSERT INTO x VALUES ('conflicts')": FATAL:  terminating connection due to administrator command`:                                                     false,
		`Failed to execute query "INSERT INTO x VALUES ('conflicts')": server closed the connection unexpectedly`:                                                                       false,
		`Failed to execute query "COMMIT": ERROR:  could not serialize access due to concurrent update`:                                                                                 true,
	} {
		if retryable(errors.New(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	for text, want := range map[string]string{
		"plain":                            "plain",
		"a\n  b":                           "a b",
		"INSERT ...\nERROR:  it is\n full": "it is full",
		long:                               long[:600] + "...",
	} {
		if got := Text(errors.New(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
