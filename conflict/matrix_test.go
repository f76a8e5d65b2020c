package conflict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/eiderdb/eider/conflict"
)

// The matrix in a file that a person can read. Commands:
//
//	grid group=tables      letters of every pair of a group
//	refused                every pair that somebody refuses, with the rules
//	ops                    what each sample is classified as
func TestMatrix(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/matrix", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "grid":
			return conflict.Grid(conflict.Matrix(group(d.CmdArgs[0].Vals[0])))
		case "refused":
			return refused(conflict.Matrix(conflict.Samples()))
		case "ops":
			return ops()
		}
		t.Fatalf("unknown command %s", d.Cmd)
		return ""
	})
}

func group(name string) []conflict.Sample {
	return slices.DeleteFunc(conflict.Samples(), func(s conflict.Sample) bool { return s.Group != name })
}

func refused(rows [][]conflict.Cell) string {
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%s\n", row[0].Ours)
		free := 0
		for _, c := range row {
			if c.Letter() == "·" {
				free++
				continue
			}
			fmt.Fprintf(&b, "  %s %-22s %s\n", c.Letter(), c.Theirs, rules(slices.Concat(c.Client, c.Server)))
		}
		fmt.Fprintf(&b, "  may follow %d others\n", free)
	}
	return b.String()
}

func rules(list []*conflict.Rule) string {
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

func ops() string {
	var b strings.Builder
	for _, s := range conflict.Samples() {
		set := s.Set()
		var what []string
		for _, t := range set.Tables {
			what = append(what, fmt.Sprintf("table %d: %s", t.ID, strings.Join(t.Ops.Names(), ", ")))
		}
		for _, o := range set.Dropped {
			what = append(what, fmt.Sprintf("%s %d ends", o.Kind, o.ID))
		}
		for _, o := range set.Created {
			what = append(what, fmt.Sprintf("%s %d", o.Kind, o.ID))
		}
		for _, id := range set.AlteredViews {
			what = append(what, fmt.Sprintf("view %d: alter", id))
		}
		fmt.Fprintf(&b, "%-24s %s%s\n", s.Name, strings.Join(set.Parts.Names(), "+"), prefix("; ", strings.Join(what, "; ")))
	}
	return b.String()
}

func prefix(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}

// Every sample says what it does, so the matrix is about commits that a client can make.
func TestSamplesAgree(t *testing.T) {
	t.Parallel()
	for _, s := range conflict.Samples() {
		if found := conflict.Agree(s.Set(), conflict.Names{}); len(found) > 0 {
			t.Errorf("%s: %v", s.Name, found)
		}
	}
}

// Every rule is shown by some pair, and every refusal that DuckLake does not make has a
// reason that a reader finds in the list of rules.
func TestEveryRuleIsShown(t *testing.T) {
	t.Parallel()
	seen := map[*conflict.Rule]bool{}
	for _, row := range conflict.Matrix(conflict.Samples()) {
		for _, c := range row {
			for _, r := range slices.Concat(c.Client, c.Server) {
				seen[r] = true
			}
			for _, r := range c.Client {
				if !r.Client {
					t.Errorf("%s is said to be DuckLake's", r.Name)
				}
			}
			if may := conflict.MayFollow(sample(c.Ours), sample(c.Theirs)); may && len(c.Client) > 0 {
				t.Errorf("%s after %s: DuckLake refuses, the whole relation does not", c.Ours, c.Theirs)
			}
		}
	}
	for _, r := range conflict.Rules() {
		if !seen[r] {
			t.Errorf("no pair shows rule %s", r.Name)
		}
		if r.Why == "" || !strings.HasSuffix(r.Why, ".") {
			t.Errorf("rule %s gives no reason", r.Name)
		}
	}
	if len(seen) != len(conflict.Rules()) {
		t.Errorf("%d rules are used, %d are listed", len(seen), len(conflict.Rules()))
	}
}

func sample(name string) *conflict.ChangeSet {
	for _, s := range conflict.Samples() {
		if s.Name == name {
			return s.Set()
		}
	}
	return nil
}
