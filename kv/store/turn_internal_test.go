package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// turnLog is a TurnObserver that counts.
type turnLog struct {
	mu       sync.Mutex
	waits    map[TurnKind]int
	held     map[TurnKind]int
	overruns map[TurnKind]int
	told     map[TurnKind]int // by outcome
}

func (l *turnLog) TurnWait(_ string, k TurnKind, _ time.Duration) { l.add(l.waits, k, 1) }
func (l *turnLog) TurnHeld(_ string, k TurnKind, n int)           { l.add(l.held, k, n) }
func (l *turnLog) TurnOverrun(_ string, k TurnKind)               { l.add(l.overruns, k, 1) }
func (l *turnLog) CommitAttempt(string, string)                   {}
func (l *turnLog) HeadTold(_ string, outcome string)              { l.add(l.told, TurnKind(outcome), 1) }

func (l *turnLog) add(m map[TurnKind]int, k TurnKind, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m[k] += n
}

func testTurns(o TurnOptions) (*turns, *turnLog) {
	l := &turnLog{waits: map[TurnKind]int{}, held: map[TurnKind]int{}, overruns: map[TurnKind]int{}, told: map[TurnKind]int{}}
	return newTurns(o.withDefaults(), time.Now, l, func() string { return "c" }), l
}

func mustTake(t *testing.T, g *turns, kind TurnKind) *turn {
	t.Helper()
	u := &turn{kind: kind}
	if err := g.take(context.Background(), u); err != nil {
		t.Fatal(err)
	}
	return u
}

// inTurn runs f in fake time and looks whether all turns were given back.
func inTurn(t *testing.T, o TurnOptions, f func(t *testing.T, g *turns, l *turnLog)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, l := testTurns(o)
		f(t, g, l)
		synctest.Wait()
		if g.holder != nil || g.entered != 0 || len(g.retries)+len(g.leases)+len(g.commits) != 0 {
			t.Errorf("left behind: %+v", g)
		}
		for k, n := range l.held {
			if n != 0 {
				t.Errorf("%d turns %s are still held", n, k)
			}
		}
	})
}

// order collects events of many goroutines.
type order struct {
	mu sync.Mutex
	s  []string
}

func (o *order) say(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.s = append(o.s, fmt.Sprintf(format, args...))
}

func (o *order) want(t *testing.T, want string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := strings.Join(o.s, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTurnOrder: retries in the order of their arrival, then leases in theirs.
func TestTurnOrder(t *testing.T) {
	inTurn(t, TurnOptions{}, func(t *testing.T, g *turns, _ *turnLog) {
		var o order
		first := mustTake(t, g, TurnLease)
		for i, kind := range []TurnKind{TurnLease, TurnRetry, TurnLease, TurnRetry} {
			go func() {
				u := mustTake(t, g, kind)
				o.say("%s%d", kind, i)
				g.end(u)
				g.end(u) // once more does no harm
			}()
			synctest.Wait()
		}
		o.want(t, "")
		g.end(first)
		synctest.Wait()
		o.want(t, "retry1 retry3 lease0 lease2")
	})
}

// TestTurnBound: an idle holder keeps the turn while nobody wants it, and for its bound
// when somebody does.
func TestTurnBound(t *testing.T) {
	for kind, bound := range map[TurnKind]time.Duration{TurnRetry: 2 * time.Second, TurnLease: 25 * time.Millisecond} {
		inTurn(t, TurnOptions{}, func(t *testing.T, g *turns, l *turnLog) {
			idle := mustTake(t, g, kind)
			start := time.Now()
			next := mustTake(t, g, TurnRetry)
			if got := time.Since(start); got != bound {
				t.Errorf("%s: waited %s, want %s", kind, got, bound)
			}
			if !idle.overran || l.overruns[kind] != 1 {
				t.Errorf("%s: overrun %v, counted %d", kind, idle.overran, l.overruns[kind])
			}
			g.end(idle) // must not end the other's
			if g.holder != next {
				t.Errorf("%s: the turn was taken from the wrong one", kind)
			}
			time.Sleep(20 * time.Second)
			if g.holder != next {
				t.Errorf("%s: taken away though nobody waits", kind)
			}
			start = time.Now()
			last := mustTake(t, g, TurnRetry)
			if got := time.Since(start); got != 0 {
				t.Errorf("%s: waited %s for a holder beyond its bound", kind, got)
			}
			g.end(last)
			g.end(next)
		})
	}
}

// TestTurnLeaseAdapts: a lease is shorter where commits are fast.
func TestTurnLeaseAdapts(t *testing.T) {
	inTurn(t, TurnOptions{Lease: time.Second}, func(t *testing.T, g *turns, _ *turnLog) {
		for range 50 {
			u := mustTake(t, g, TurnLease)
			time.Sleep(5 * time.Millisecond)
			if err := g.enter(context.Background(), u, false); err != nil {
				t.Fatal(err)
			}
			g.leave(u, true)
		}
		idle := mustTake(t, g, TurnLease)
		start := time.Now()
		g.end(mustTake(t, g, TurnLease))
		if got := time.Since(start); got != 20*time.Millisecond {
			t.Errorf("lease of %s after commits of 5ms", got)
		}
		g.end(idle)
	})
}

// TestTurnCancel: who is cancelled leaves the queue and holds nothing.
func TestTurnCancel(t *testing.T) {
	inTurn(t, TurnOptions{}, func(t *testing.T, g *turns, _ *turnLog) {
		var o order
		first := mustTake(t, g, TurnRetry)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			u := &turn{kind: TurnRetry}
			if err := g.take(ctx, u); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			g.end(u)
			o.say("cancelled")
		}()
		synctest.Wait()
		go func() {
			if err := g.enter(ctx, nil, false); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled commit: %v", err)
			}
			o.say("commit")
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if len(g.retries) != 0 || len(g.commits) != 0 {
			t.Error("still in the queue")
		}
		g.end(first)
		g.end(mustTake(t, g, TurnRetry))
	})
}

// TestTurnCommits: commits wait for a retry, not for a lease, and not for ever.
func TestTurnCommits(t *testing.T) {
	inTurn(t, TurnOptions{}, func(t *testing.T, g *turns, _ *turnLog) {
		ctx := context.Background()
		commit := func(u *turn) {
			if err := g.enter(ctx, u, false); err != nil {
				t.Error(err)
			}
			g.leave(u, true)
		}
		lease := mustTake(t, g, TurnLease)
		commit(nil)
		g.end(lease)

		var o order
		retry := mustTake(t, g, TurnRetry)
		go func() { commit(nil); o.say("other") }()
		synctest.Wait()
		o.want(t, "")
		commit(retry)
		synctest.Wait()
		o.want(t, "other")

		// The bound frees those who wait.
		idle := mustTake(t, g, TurnRetry)
		start := time.Now()
		commit(nil)
		if got := time.Since(start); got != 2*time.Second {
			t.Errorf("a commit waited %s", got)
		}
		g.end(idle)
	})
}

// TestTurnWaitsForCommits: a retry gets its turn, and reads, after the commits that are
// under way, and later ones wait for it.
func TestTurnWaitsForCommits(t *testing.T) {
	inTurn(t, TurnOptions{}, func(t *testing.T, g *turns, _ *turnLog) {
		ctx := context.Background()
		var o order
		if err := g.enter(ctx, nil, false); err != nil {
			t.Fatal(err)
		}
		go func() {
			u := mustTake(t, g, TurnRetry)
			o.say("retry")
			time.Sleep(time.Millisecond)
			g.end(u)
		}()
		synctest.Wait()
		go func() {
			if err := g.enter(ctx, nil, false); err != nil {
				t.Error(err)
			}
			o.say("late")
			g.leave(nil, true)
		}()
		synctest.Wait()
		o.want(t, "")
		g.leave(nil, true)
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		o.want(t, "retry late")
	})
}

// TestTurnGivesUp: the wait for a turn has an end whatever the others do.
func TestTurnGivesUp(t *testing.T) {
	inTurn(t, TurnOptions{}, func(t *testing.T, g *turns, _ *turnLog) {
		if err := g.enter(context.Background(), nil, false); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		u := mustTake(t, g, TurnRetry) // the commit never ends
		if got := time.Since(start); got != maxTurnWait*2*time.Second {
			t.Errorf("waited %s", got)
		}
		if u.state != turnOver {
			t.Error("it got the turn")
		}
		g.leave(nil, false)
		g.end(u)
	})
}

// TestTurnAttempts: simulated clients race for the next number as DuckLake's do for the
// next snapshot. Whoever stays within the bound needs two attempts at most.
func TestTurnAttempts(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			o := TurnOptions{NoPacing: seed%3 == 0}
			g, _ := testTurns(o)
			var mu sync.Mutex
			head := 0
			clients, commits := 2+r.IntN(20), 30
			most := make([]int, clients)
			var wg sync.WaitGroup
			for c := range clients {
				r := rand.New(rand.NewPCG(seed, uint64(c)+2))
				think := func(d time.Duration) { time.Sleep(time.Duration(r.Int64N(int64(d)))) }
				idles := c == 0 && seed%2 == 0 // now and then this one holds its turn too long, or goes away
				wg.Go(func() {
					ctx := context.Background()
					wrote := false
					for range commits {
						think(20 * time.Millisecond)
						for attempt := 1; ; attempt++ {
							var u *turn
							var err error
							switch {
							case attempt > 1:
								u = &turn{kind: TurnRetry}
							case wrote && g.stormy() && !o.NoPacing:
								u = &turn{kind: TurnLease}
							}
							if u != nil {
								err = g.take(ctx, u)
							}
							if err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							read := head
							mu.Unlock()
							if idles && r.IntN(5) == 0 {
								think(4 * time.Second)
								if u != nil {
									g.end(u)
								}
								break
							}
							think(15 * time.Millisecond)
							if err := g.enter(ctx, u, false); err != nil {
								t.Error(err)
								return
							}
							think(2 * time.Millisecond)
							mu.Lock()
							won := head == read
							if won {
								head++
							}
							mu.Unlock()
							if won {
								g.leave(u, true)
								most[c] = max(most[c], attempt)
								wrote = true
								break
							}
							g.lost()
							g.leave(u, false)
							think(100 * time.Millisecond)
						}
					}
				})
			}
			wg.Wait()
			from := 0
			if seed%2 == 0 {
				from = 1 // the one that idles has no such promise
			}
			if m := slices.Max(most[from:]); m > 2 {
				t.Errorf("seed %d: a commit needed %d attempts", seed, m)
			}
			if g.holder != nil || g.entered != 0 {
				t.Errorf("seed %d: left behind: %+v", seed, g)
			}
		})
	}
}
