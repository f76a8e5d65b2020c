package gc_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eiderdb/eider/gc"
)

func TestParseTiers(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	got, err := gc.ParseTiers("0-1MiB:5MiB, 1MiB-10MiB:32MiB,10MiB-64MiB:128MiB")
	want := []gc.Tier{{Max: mib, Target: 5 * mib}, {Min: mib, Max: 10 * mib, Target: 32 * mib}, {Min: 10 * mib, Max: 64 * mib, Target: 128 * mib}}
	if err != nil || !slices.Equal(got, want) || !slices.Equal(want, gc.DefaultFileRule().Tiers) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"", "1MiB", "0-1MiB", "1MiB:5MiB", "1MiB-1MiB:5MiB", "0-5MiB:4MiB", "0-5MiB:5MiB,4MiB-9MiB:9MiB", "0-x:1", "0-9TiB:9TiB"} {
		if got, err := gc.ParseTiers(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What is set for a table goes before its schema's, that before the lake's and that before the
// catalog's, policy by policy; the rest is the default.
func TestFileRule(t *testing.T) {
	t.Parallel()
	p := gc.NewSet([]gc.Setting{
		set("", "", "", gc.NameFlush, "off"),
		set("l", "", "", gc.NameMinFiles, "9"),
		set("l", "s", "", gc.NameMinFiles, "5"),
		set("l", "s", "", gc.NameFlush, "on"),
		set("l", "s", "", gc.NameMinInlined, "100"),
		set("l", "s", "t", gc.NameMerge, "off"),
		set("l", "s", "t", gc.NameTiers, "0-1:2"),
		set("l", "s", "t", gc.NameDeleteThreshold, "0.5"),
		set("other", "", "", gc.NameRewrite, "off"),
		set("l", "", "", gc.NameFlushAge, "1h"),
		set("l", "s", "", gc.NameFlushAge, "none"),
		set("l", "s", "", gc.NameFlushBytes, "1MiB"),
		set("l", "s", "", gc.NameMergeAge, "2h"),
		set("l", "s", "t", gc.NameMergeBytes, "3KiB"),
		set("l", "s", "t", gc.NameRewriteAge, "3h"),
		set("l", "s", "t", gc.NameRewriteBytes, "5"),
	})
	text := func(r gc.FileRule) string {
		return fmt.Sprint(r.Flush, r.Merge, r.Rewrite, r.MinInlined, r.MinFiles, len(r.Tiers), r.DeleteThreshold,
			r.FlushAge, r.FlushBytes, r.MergeAge, r.MergeBytes, r.RewriteAge, r.RewriteBytes)
	}
	for _, c := range []struct{ schema, table, want string }{
		{"none", "none", "false true true 1 9 3 0.25 1h0m0s 0 0s 0 0s 0"},
		{"s", "none", "true true true 100 5 3 0.25 0s 1048576 2h0m0s 0 0s 0"},
		{"s", "t", "true false true 100 5 1 0.5 0s 1048576 2h0m0s 3072 3h0m0s 5"},
	} {
		r := p.For("l").FileRule(c.schema, c.table)
		if got := text(r); got != c.want || r.Check() != nil {
			t.Errorf("%s.%s: %s, want %s", c.schema, c.table, got, c.want)
		}
	}
	if r := gc.DefaultFileRule(); text(r) != "true true true 1 2 3 0.25 0s 0 0s 0 0s 0" {
		t.Errorf("default: %+v", r)
	}
	for _, x := range p.For("l").InForce("s", "t") {
		if x.Name == gc.NameDeleteThreshold && (x.Value != "0.5" || x.From.Table != "t") {
			t.Errorf("in force: %+v", x)
		}
	}
}

// A server's defaults count where nothing is set, and nowhere else.
func TestDefaults(t *testing.T) {
	t.Parallel()
	rows := []gc.Setting{set("b", "", "", gc.NameDeletionGrace, "0s")}
	s := gc.NewSet(rows).WithDefaults(gc.Defaults{gc.NameDeletionGrace: "2h"})
	over, err := s.For("a").With(map[string]string{gc.NameDeletionGrace: "5h"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    *gc.Policies
		want string
	}{{s.For("a"), "2h"}, {s.For("b"), "0s"}, {over, "5h"}, {gc.NewSet(rows).For("a"), "0s"}} {
		if got := gc.FormatDuration(c.p.DeletionGrace()); got != c.want {
			t.Errorf("lake %s: %s, want %s", c.p.Lake(), got, c.want)
		}
	}
}
