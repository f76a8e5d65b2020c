package pebblekv

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/eiderdb/eider/kv"
)

// A scan must not step over every version that a memtable has of a row that each commit
// changes: commits would become slower with the number of commits before them.
func TestNextSkipsVersions(t *testing.T) {
	t.Parallel()
	e, err := Open(t.TempDir(), Options{CacheBytes: 1 << 20, MemTableBytes: 8 << 20, BallastBytes: 1 << 16, ReserveBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const keys, versions = 3, 2000
	for v := range versions {
		b := e.NewBatch()
		for k := range keys {
			if err := b.Set(fmt.Appendf(nil, "row %d", k), fmt.Appendf(nil, "version %d", v)); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	it, err := e.Iter(kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = it.Close() }()
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if want := fmt.Sprintf("version %d", versions-1); string(it.Value()) != want {
			t.Fatalf("%s is %q, not %q", it.Key(), it.Value(), want)
		}
		n++
	}
	steps := it.(*iterator).it.Stats().ForwardStepCount[pebble.InternalIterCall]
	if n != keys || steps > 10*keys {
		t.Fatalf("%d rows in %d steps, with %d versions of each", n, steps, versions)
	}
}
