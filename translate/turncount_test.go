package translate_test

import (
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// turnCounts is what an observer is told about turns.
type turnCounts struct {
	attempts map[string]int                   // by outcome
	waits    map[store.TurnKind]int           // how many
	waited   map[store.TurnKind]time.Duration // and how long together
	taken    map[store.TurnKind]int           // turns, ever
	held     map[store.TurnKind]int           // now
	overruns map[store.TurnKind]int
}

func newTurnCounts() turnCounts {
	return turnCounts{
		attempts: map[string]int{}, waits: map[store.TurnKind]int{}, waited: map[store.TurnKind]time.Duration{},
		taken: map[store.TurnKind]int{}, held: map[store.TurnKind]int{}, overruns: map[store.TurnKind]int{},
	}
}

// turnRecorder is a store.TurnObserver that counts.
type turnRecorder struct {
	mu sync.Mutex
	n  turnCounts // guarded by mu
}

func (*turnRecorder) CommitGroup(string, int, int, int, bool, time.Duration) {}
func (*turnRecorder) Conflict(string, string)                                {}
func (*turnRecorder) HeadTold(string, string)                                {}

func (r *turnRecorder) CommitAttempt(_, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n.attempts[outcome]++
}

func (r *turnRecorder) TurnWait(_ string, k store.TurnKind, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n.waits[k]++
	r.n.waited[k] += d
}

func (r *turnRecorder) TurnHeld(_ string, k store.TurnKind, change int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n.taken[k] += max(change, 0); r.n.held[k]+change == 0 {
		delete(r.n.held, k)
	} else {
		r.n.held[k] += change
	}
}

func (r *turnRecorder) TurnOverrun(_ string, k store.TurnKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n.overruns[k]++
}

func (r *turnRecorder) holds(k store.TurnKind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n.held[k]
}

// TestTurnsAreCounted: the observer, from which the metrics come, is told of each attempt, each
// wait, each turn taken and given back, and of turns that are taken away.
func TestTurnsAreCounted(t *testing.T) {
	type (
		kinds  = map[store.TurnKind]int
		waited = map[store.TurnKind]time.Duration
		counts = map[string]int
	)
	const pause = 300 * time.Millisecond
	for _, c := range []struct {
		name string
		run  func(t *testing.T, w *world, r *turnRecorder)
		want turnCounts
	}{
		{
			name: "nobody races",
			run: func(_ *testing.T, w *world, _ *turnRecorder) {
				w.run("a", beginRR)
				w.run("a", headRead)
				w.run("a", batch(1))
				w.run("a", "COMMIT")
			},
			want: turnCounts{attempts: counts{"committed": 1}},
		},
		{
			name: "a doomed batch",
			run:  func(_ *testing.T, w *world, _ *turnRecorder) { w.lose("b", 1) },
			want: turnCounts{attempts: counts{"committed": 1, "snapshot": 1}},
		},
		{
			name: "a row",
			run: func(_ *testing.T, w *world, _ *turnRecorder) {
				w.run("b", beginRR)
				w.run("b", headRead)
				w.run("a", "UPDATE ducklake_table_stats SET record_count = 5")
				w.fails("b", "UPDATE ducklake_table_stats SET record_count = 6")
				w.run("b", "ROLLBACK")
			},
			want: turnCounts{attempts: counts{"row": 1}},
		},
		{
			name: "a retry holds the turn, a commit waits and loses",
			run: func(t *testing.T, w *world, r *turnRecorder) {
				w.run("other", beginRR)
				w.lose("b", 1)
				w.run("b", beginRR)
				w.run("b", retryRead)
				if r.holds(store.TurnRetry) != 1 {
					t.Error("the turn that is held is not shown")
				}
				w.run("other", headRead)
				w.run("other", batch(2))
				waits, result := w.blocked("other", "COMMIT")
				if !waits() {
					t.Fatal("the other does not wait")
				}
				time.Sleep(pause)
				w.run("b", batch(2))
				w.run("b", "COMMIT")
				result()
			},
			want: turnCounts{
				attempts: counts{"committed": 2, "snapshot": 2}, taken: kinds{store.TurnRetry: 1},
				waits: kinds{store.TurnCommit: 1}, waited: waited{store.TurnCommit: pause},
			},
		},
		{
			name: "a retry waits for another",
			run: func(t *testing.T, w *world, _ *turnRecorder) {
				w.lose("b", 1)
				w.lose("c", 2)
				w.run("b", beginRR)
				w.run("b", retryRead)
				w.run("c", beginRR)
				waits, result := w.blocked("c", retryRead)
				if !waits() {
					t.Fatal("the second retry does not wait")
				}
				time.Sleep(pause)
				w.run("b", batch(3))
				w.run("b", "COMMIT")
				result()
				w.run("c", batch(4))
				w.run("c", "COMMIT")
			},
			want: turnCounts{
				attempts: counts{"committed": 4, "snapshot": 2}, taken: kinds{store.TurnRetry: 2},
				waits: kinds{store.TurnRetry: 1}, waited: waited{store.TurnRetry: pause},
			},
		},
		{
			name: "given back by a rollback",
			run: func(_ *testing.T, w *world, _ *turnRecorder) {
				w.lose("b", 1)
				w.run("b", beginRR)
				w.run("b", retryRead)
				w.run("b", "ROLLBACK")
			},
			want: turnCounts{attempts: counts{"committed": 1, "snapshot": 1}, taken: kinds{store.TurnRetry: 1}},
		},
		{
			name: "given back by a disconnect",
			run: func(_ *testing.T, w *world, _ *turnRecorder) {
				w.lose("b", 1)
				w.run("b", beginRR)
				w.run("b", retryRead)
				w.session("b").Close()
			},
			want: turnCounts{attempts: counts{"committed": 1, "snapshot": 1}, taken: kinds{store.TurnRetry: 1}},
		},
		{
			name: "held beyond its bound",
			run: func(_ *testing.T, w *world, _ *turnRecorder) {
				w.run("other", beginRR)
				w.lose("b", 1)
				w.run("b", beginRR)
				w.run("b", retryRead)
				w.run("other", headRead)
				w.run("other", batch(2))
				_, result := w.blocked("other", "COMMIT")
				result()
				w.fails("b", batch(2))
				w.run("b", "ROLLBACK")
			},
			want: turnCounts{
				attempts: counts{"committed": 2, "snapshot": 2}, taken: kinds{store.TurnRetry: 1}, overruns: kinds{store.TurnRetry: 1},
				waits: kinds{store.TurnCommit: 1}, waited: waited{store.TurnCommit: store.DefaultTurnBound},
			},
		},
		{
			name: "a first attempt waits for another in a storm",
			run: func(t *testing.T, w *world, _ *turnRecorder) {
				for i, s := range []string{"x", "y", "x", "y"} {
					w.run(s, beginRR)
					w.run(s, headRead)
					w.run(s, batch(i+1))
					w.run(s, "COMMIT")
				}
				w.lose("b", 5)
				w.run("x", beginRR)
				w.run("x", headRead)
				w.run("y", beginRR)
				waits, result := w.blocked("y", headRead)
				if !waits() {
					t.Fatal("the second writer does not wait")
				}
				time.Sleep(time.Millisecond)
				w.run("x", batch(6))
				w.run("x", "COMMIT")
				result()
				w.run("y", batch(7))
				w.run("y", "COMMIT")
			},
			want: turnCounts{
				attempts: counts{"committed": 7, "snapshot": 1}, taken: kinds{store.TurnLease: 2},
				waits: kinds{store.TurnLease: 1}, waited: waited{store.TurnLease: time.Millisecond},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &turnRecorder{n: newTurnCounts()}
			o := store.Options{Turns: store.TurnOptions{NoPromise: true}, Observer: r}
			turnWorldOn(t, func() kv.Engine { return memkv.New() }, o, func(w *world) {
				r.mu.Lock()
				r.n = newTurnCounts() // without what made the world
				r.mu.Unlock()
				c.run(t, w, r)
				synctest.Wait()
				r.mu.Lock()
				defer r.mu.Unlock()
				check := func(what string, same bool, got, want any) {
					if !same {
						t.Errorf("%s: %v, want %v", what, got, want)
					}
				}
				check("attempts", maps.Equal(r.n.attempts, c.want.attempts), r.n.attempts, c.want.attempts)
				check("waits", maps.Equal(r.n.waits, c.want.waits), r.n.waits, c.want.waits)
				check("waited", maps.Equal(r.n.waited, c.want.waited), r.n.waited, c.want.waited)
				check("turns taken", maps.Equal(r.n.taken, c.want.taken), r.n.taken, c.want.taken)
				check("turns held", maps.Equal(r.n.held, c.want.held), r.n.held, c.want.held)
				check("overruns", maps.Equal(r.n.overruns, c.want.overruns), r.n.overruns, c.want.overruns)
			})
		})
	}
}
