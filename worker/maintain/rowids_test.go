package maintain

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRenumbers(t *testing.T) {
	t.Parallel()
	f := func(path string, start, records int64) source {
		return source{path: path, start: start, records: records, hasStart: true}
	}
	other := func(s source) source { s.other = true; return s }
	for _, c := range []struct {
		name   string
		files  []source
		sorted bool
		want   string
	}{
		{name: "nothing"},
		{name: "plain", files: []source{f("a", 0, 10), f("b", 10, 10)}},
		{name: "updated, adjacent", files: []source{other(f("a", 0, 10)), f("b", 10, 10)}, want: "a for one"},
		{name: "updated, adjacent, later", files: []source{f("a", 0, 10), other(f("b", 10, 10))}, want: "b for one"},
		{name: "updated, gap", files: []source{other(f("a", 0, 10)), f("b", 11, 10)}},
		{name: "updated, no start", files: []source{{path: "a", records: 10, other: true}, f("b", 10, 10)}},
		{name: "other partition", files: []source{other(f("a", 0, 10)), {path: "b", start: 10, records: 1, hasStart: true, group: "x"}}},
		{name: "sorted", files: []source{f("a", 0, 10), f("b", 10, 10)}, sorted: true, want: "sorted"},
		{name: "sorted, gap", files: []source{f("a", 0, 10), f("b", 20, 10)}, sorted: true},
	} {
		got := renumbers(c.files, c.sorted)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// A merge as DuckLake 1.5.5 does it: it takes any run of a partition's files, and leaves the
// ids out if each file begins where the one before it ends. If renumbers has nothing to say,
// no such merge changes an id.
func TestRenumbersModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type file struct {
			source
			ids []int64
		}
		var files []file
		next := int64(0)
		for range rapid.IntRange(0, 6).Draw(t, "files") {
			n := rapid.Int64Range(1, 3).Draw(t, "rows")
			f := file{source: source{start: next, records: n, hasStart: true, group: rapid.SampledFrom([]string{"", "p"}).Draw(t, "group")}}
			for i := range n {
				f.ids = append(f.ids, next+i)
			}
			if rapid.Bool().Draw(t, "updated") {
				f.other = true
				for i := range f.ids {
					f.ids[i] += 1000
				}
				f.hasStart = rapid.Bool().Draw(t, "has start")
			}
			next += n + rapid.Int64Range(0, 1).Draw(t, "gap")
			files = append(files, f)
		}
		var sources []source
		for _, f := range files {
			sources = append(sources, f.source)
		}
		if renumbers(sources, false) != "" {
			return
		}
		for _, group := range []string{"", "p"} {
			var g []file
			for _, f := range files {
				if f.group == group {
					g = append(g, f)
				}
			}
			for from := range g {
				for to := from + 2; to <= len(g); to++ {
					part := g[from:to]
					adjacent := true
					for i, f := range part {
						adjacent = adjacent && f.hasStart && (i == 0 || part[i-1].start+part[i-1].records == f.start)
					}
					at := part[0].start
					for _, f := range part {
						for _, id := range f.ids {
							if adjacent && id != at {
								t.Fatalf("row %d becomes %d", id, at)
							}
							at++
						}
					}
				}
			}
		}
	})
}
