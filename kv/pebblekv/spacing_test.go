package pebblekv

import (
	"fmt"
	"testing"
)

// Syncs are spaced while several commits wait for one, and only then: a lone writer's next
// commit is synced at once, also beside writers in the background.
func TestSpacing(t *testing.T) {
	t.Parallel()
	e, err := Open(t.TempDir(), Options{CacheBytes: 1 << 20, MemTableBytes: 1 << 20, BallastBytes: 1 << 16, ReserveBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	i := e.cur.Load()
	var waits []func() error
	for n := range 6 {
		// Every second batch is in the background, and not counted.
		if got, want := i.spacing() > 0, (n+1)/2 > 1; got != want {
			t.Errorf("%d commits wait: spaced %v", n, got)
		}
		b := e.NewBatch()
		if n%2 == 1 {
			b.Background()
		}
		defer func() { _ = b.Close() }()
		if err := b.Set(fmt.Appendf(nil, "k%d", n), nil); err != nil {
			t.Fatal(err)
		}
		wait, err := e.ApplyAsync(b, true, e.Epoch())
		if err != nil {
			t.Fatal(err)
		}
		waits = append(waits, wait)
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Fatal(err)
		}
	}
	if n := i.unsynced.Load(); n != 0 {
		t.Errorf("%d commits are counted after all were synced", n)
	}
}
