package guard

import (
	"math"
	"testing"

	"github.com/eiderdb/eider/lake/paths"
)

// What was taken off is forgotten when every open transaction began later, or with its
// catalog; what is under way is not.
func TestTakenIsForgotten(t *testing.T) {
	t.Parallel()
	var files takenFiles
	k := searchKey{1, 2}
	key := func(path string) string { return paths.Keys(path)[0] }
	take := func(path string, now, oldest int64) {
		t.Helper()
		key := key(path)
		if !files.announce(k, key) {
			t.Fatal("no room")
		}
		files.ended(map[takenKey]bool{{k, key}: true}, true, now, oldest)
	}
	want := func(what string, n int) {
		t.Helper()
		if files.n != n {
			t.Errorf("%s: %d paths, want %d", what, files.n, n)
		}
	}
	take("/a", 10, 5)
	take("/b", 20, 10)
	want("still needed", 2)
	if !files.after(k, "/a", 10, nil) || files.after(k, "/a", 11, nil) || files.after(searchKey{1, 3}, "/a", 0, nil) {
		t.Error("the time or the lake does not count")
	}
	files.announce(k, key("/c"))
	if !files.after(k, "/c", 100, nil) || files.after(k, "/c", 100, map[takenKey]bool{{k, key("/c")}: true}) {
		t.Error("what is under way counts for others")
	}
	take("/d", 30, math.MaxInt64)
	want("under way", 1)
	files.ended(map[takenKey]bool{{k, key("/c")}: true}, false, 40, 0)
	want("that failed", 0)
	take("/e", 50, 0)
	files.forget(2)
	want("of another catalog", 1)
	files.forget(1)
	want("of a dropped catalog", 0)
}

// Guard forgets dropped catalogs.
func TestForget(t *testing.T) {
	t.Parallel()
	g := New(Options{})
	for _, catalog := range []string{"a", "b"} {
		g.deferred.Store(deferredKey{catalog: catalog}, int64(1))
		g.odd(catalog, tagsTable, "no", "so")
	}
	g.searches.begin(searchKey{1, 1}, g.o.Clock)()
	g.searches.begin(searchKey{2, 1}, g.o.Clock)()
	g.Forget("a", 1)
	n := 0
	count := func(any, any) bool { n++; return true }
	g.deferred.Range(count)
	g.oddities.Range(count)
	if n != 2 || len(g.searches.m) != 1 {
		t.Errorf("%d entries and %d searches are left", n, len(g.searches.m))
	}
}
