package translate_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// slowSync is an engine whose writes can be held up on their way to stable storage.
type slowSync struct {
	kv.Engine
	gate atomic.Pointer[chan struct{}]
}

func (e *slowSync) ApplyAsync(b kv.Batch, sync bool, epoch uint64) (func() error, error) {
	wait, err := e.Engine.ApplyAsync(b, sync, epoch)
	gate := e.gate.Load()
	if err != nil || gate == nil {
		return wait, err
	}
	return func() error {
		<-*gate
		return wait()
	}, nil
}

func (e *slowSync) shut() (open func()) {
	ch := make(chan struct{})
	e.gate.Store(&ch)
	return func() {
		e.gate.Store(nil)
		close(ch)
	}
}

// TestReadBeforeStable: who has the turn learns the head and the statistics that a commit has left before that is on stable
// storage, and nothing else. It hears of its end, as a reader or as a writer, after that.
func TestReadBeforeStable(t *testing.T) {
	const (
		stats = `COPY (SELECT "table_id", "record_count" FROM "public"."ducklake_table_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "text");`
		whole = `COPY (SELECT "table_id", "record_count" FROM "public"."ducklake_table_stats") TO STDOUT (FORMAT "text");`
	)
	for _, c := range []struct {
		name, sql string
		waits     bool
	}{
		{"head", headRead, false},
		{"statistics of a table", stats, false},
		{"all statistics", whole, true},
		{"rows", "SELECT count(*) FROM ducklake_snapshot", true},
		{"end", "COMMIT", true},
		{"batch", batch(5), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := &slowSync{}
			turnWorldOn(t, func() kv.Engine { disk.Engine = memkv.New(); return disk }, store.Options{Turns: store.TurnOptions{NoPromise: true}}, func(w *world) {
				for n, s := range []string{"x", "y"} { // both are writers
					w.run(s, beginRR)
					w.run(s, headRead)
					w.run(s, batch(n+1))
					w.run(s, "COMMIT")
				}
				w.from("loser", "192.0.2.9:1")
				w.lose("loser", 3)
				w.run("x", beginRR)
				w.run("x", headRead)
				w.run("x", batch(4))
				open := disk.shut()
				committing, committed := w.blocked("x", "COMMIT")
				if !committing() {
					t.Fatal("acknowledged before it is stable")
				}
				w.run("y", beginRR)
				head, got := w.blocked("y", headRead)
				if head() {
					t.Fatal("the head is not told")
				}
				if head := got(); !strings.Contains(head, "D 4|") {
					t.Fatalf("y reads %s", head)
				}
				waits, result := w.blocked("y", c.sql)
				if waits() != c.waits {
					t.Errorf("waits: %v", !c.waits)
				}
				open()
				synctest.Wait()
				if got := result(); strings.Contains(got, "ERROR") {
					t.Errorf("%s", got)
				}
				committed()
			})
		})
	}
}
