package clean

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/lake/paths"
)

// No name is passed over that may be a watched file's.
func TestWatchMay(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"", ".", "..", "a", "b", "a.parquet", "a%20b", "a b", "%61", "B", "x?y", "a?s3_region=x", "é", "%2F", `a\b`, "a#b"})
	scheme := rapid.SampledFrom([]string{"/", "file://", "file:///", "s3://b/", "s3a://B/", "gs://b/", "az://b/", "abfss://c@a.dfs.core.windows.net/", "https://b.s3.amazonaws.com/", "https://s3.amazonaws.com/b/", "s3://", ""})
	draw := func(t *rapid.T, what string) string {
		s := scheme.Draw(t, what)
		for i, p := range rapid.SliceOfN(part, 1, 4).Draw(t, "parts") {
			if i > 0 {
				s += "/"
			}
			s += p
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		name := draw(t, "file")
		at, err := paths.Locate(name)
		if err != nil {
			t.Skipf("drawn name %q is no place: %v", name, err)
		}
		w := watch{files: []*file{{Entry: Entry{Name: name}, place: at}}}
		row := draw(t, "row")
		var s paths.Set
		if err := keep(&s, row, true); err == nil && s.Has(name) && !w.may(row) {
			t.Fatalf("%q may be %q", row, name)
		}
	})
}
