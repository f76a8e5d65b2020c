package maintain

import (
	"errors"
	"testing"
)

func TestParseTiers(t *testing.T) {
	t.Parallel()
	got, err := ParseTiers("0-1MiB:5MiB, 1MiB-10MiB:32MiB,10MiB-64MiB:128MiB")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range DefaultTiers() {
		if got[i] != want {
			t.Errorf("tier %d: %v, want %v", i, got[i], want)
		}
	}
	for _, text := range []string{"", "1MiB", "0-1MiB", "1MiB:5MiB", "1MiB-1MiB:5MiB", "0-5MiB:4MiB", "0-5MiB:5MiB,4MiB-9MiB:9MiB", "0-x:1"} {
		if _, err := ParseTiers(text); !errors.Is(err, ErrOption) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := Options{}.withDefaults()
	if err != nil || o.Rule.DeleteThreshold != 0.25 || len(o.Rule.Tiers) != 3 || o.Outputs != 16 || o.Retries != 10 {
		t.Errorf("defaults: %+v, %v", o, err)
	}
	rule := DefaultRule()
	rule.Tiers = []Tier{{Min: 1, Max: 1, Target: 1}}
	for name, o := range map[string]Options{
		"outputs":   {Outputs: -1},
		"files":     {MaxFiles: -1},
		"time":      {MaxTime: -1},
		"wait":      {Backoff: -1},
		"age":       {Rest: Rest{Expire: -1}},
		"inlined":   {Rule: &Rule{MinFiles: 2, DeleteThreshold: 1}},
		"small":     {Rule: &Rule{MinInlined: 1, MinFiles: 1, DeleteThreshold: 1}},
		"threshold": {Rule: &Rule{MinInlined: 1, MinFiles: 2}},
		"tier":      {Rule: &rule},
		"rule age":  {Rule: &Rule{MinInlined: 1, MinFiles: 2, DeleteThreshold: 1, MergeAge: -1}},
		"rule size": {Rule: &Rule{MinInlined: 1, MinFiles: 2, DeleteThreshold: 1, FlushBytes: -1}},
	} {
		if _, err := o.withDefaults(); !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := Options{Schemas: []string{"Main"}, Tables: []string{"a", "main.B"}}
	for table, want := range map[string]bool{"a": true, "A": true, "b": true, "c": false} {
		if w.wants("main", table) != want {
			t.Errorf("main.%s: %v", table, !want)
		}
	}
	if w.wants("other", "a") {
		t.Error("a table of another schema is wanted")
	}
}
