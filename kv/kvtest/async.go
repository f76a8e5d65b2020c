package kvtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/eiderdb/eider/kv"
)

// testAsync: what ApplyAsync wrote is visible at once, in the order of the calls.
func testAsync(t *testing.T, e kv.Engine) {
	var waits []func() error
	var batches []kv.Batch
	for i := range 20 {
		b := e.NewBatch()
		must(t, b.Set([]byte("last"), fmt.Appendf(nil, "%d", i)))
		must(t, b.Set(fmt.Appendf(nil, "k%02d", i), []byte("v")))
		wait, err := e.ApplyAsync(b, i%3 > 0, e.Epoch())
		must(t, err)
		waits, batches = append(waits, wait), append(batches, b)
		v, err := e.Get([]byte("last"))
		must(t, err)
		want(t, string(v), fmt.Sprint(i))
		if _, err := e.ApplyAsync(b, true, e.Epoch()); !errors.Is(err, kv.ErrBatchDone) {
			t.Fatalf("a batch applied twice: %v", err)
		}
	}
	for i := range waits {
		// The order of the waits does not matter.
		must(t, waits[len(waits)-1-i]())
	}
	for _, b := range batches {
		must(t, b.Close())
	}
	b := e.NewBatch()
	wait, err := e.ApplyAsync(b, true, e.Epoch()) // empty
	must(t, err)
	must(t, wait())
	must(t, b.Close())
}
