package paths_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/lake/paths"
)

func TestAlike(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"/d/f", "/d//f", true},
		{"/d/f", "/d/g", false},
		{"/d/f", "d/f", true},
		{"lake/t/f", "lake//t/./f", true},
		{"lake/t/f", "lake/u/f", false}, // from wherever
		{"lake/t/f", "t/f", true},
		{"lake/t/f", "nt/f", false},
		{"lake/t/f", "../t/f", true},
		{"lake/t/f", "s3://b/lake/t/f", true}, // an end of it
		{"/d/f", "..", true},
	} {
		if got := paths.Alike(tc.a, tc.b) && paths.Alike(tc.b, tc.a); got != tc.want {
			t.Errorf("%q and %q: %v", tc.a, tc.b, got)
		}
	}
}

// TestIndex: what is alike is found, and an object of another name is not.
func TestIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind, bucket, parts := object(t)
		name := func(label string) string {
			if rapid.Bool().Draw(t, label+" by its end") {
				n := rapid.IntRange(0, len(parts)).Draw(t, label)
				tail := ""
				for _, p := range parts[n:] {
					tail += "/" + p
				}
				return ".." + tail
			}
			return spell(t, kind, bucket, parts)
		}
		a, b := name("a"), name("b")
		var x paths.Index
		x.Add("/elsewhere/entirely", 1)
		if _, ok := x.Find(spell(t, kind, bucket, append(parts[:len(parts):len(parts)], "more"))); ok {
			t.Fatal("found what is not there")
		}
		x.Add(a, 2)
		if paths.Alike(a, b) {
			if _, ok := x.Find(b); !ok {
				t.Fatalf("%q is in and %q is not found", a, b)
			}
		}
	})
}

func TestIndexEmpty(t *testing.T) {
	t.Parallel()
	var x paths.Index
	if _, ok := x.Find(".."); ok {
		t.Error("found something in nothing")
	}
	x.Add("..", 7)
	if owner, ok := x.Find("/any/thing"); !ok || owner != 7 {
		t.Errorf("got %d %v", owner, ok)
	}
}
