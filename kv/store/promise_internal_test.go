package store

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

var (
	headRace = Race{Table: "heads", Columns: [4]string{"id", "a", "b", "c"}}
	oneStep  = Head{1, 0, 0, 2}
)

// reopened is an engine in memory that says when told that it was reopened. It loses nothing.
type reopened struct {
	kv.Engine
	epoch   atomic.Uint64
	applied func() // unless nil: called when a batch can be read, before it is published
}

func (e *reopened) Epoch() uint64 { return e.epoch.Load() }

func (e *reopened) ApplyAsync(b kv.Batch, sync bool, _ uint64) (wait func() error, err error) {
	wait, err = e.Engine.ApplyAsync(b, sync, 0)
	if e.applied != nil {
		e.applied()
	}
	return wait, err
}

// lake is a catalog with a table that transactions race for, in a storm.
type lake struct {
	t      *testing.T
	engine *reopened
	c      *Catalog
	oid    uint32
	log    *turnLog
}

// inLake runs f in fake time, and looks whether all turns, promises and views were given back.
func inLake(t *testing.T, f func(l *lake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		l := &lake{t: t, engine: &reopened{Engine: memkv.New()}}
		s, err := Open(ctx, l.engine, Options{})
		l.ok(err)
		l.ok(s.CreateCatalog(ctx, "lake"))
		l.c, err = s.Catalog("lake")
		l.ok(err)
		l.log = &turnLog{waits: map[TurnKind]int{}, held: map[TurnKind]int{}, overruns: map[TurnKind]int{}, told: map[TurnKind]int{}}
		g := l.c.turns
		g.obs = l.log
		tx := l.c.Begin(TxnOptions{})
		tbl := &rel.Table{Schema: PublicOID, Name: "heads", Indexes: []rel.Index{{Name: "heads_pkey", Columns: []int16{1}, Unique: true, Primary: true, Constraint: true}}}
		for _, name := range headRace.Columns {
			tbl.Columns = append(tbl.Columns, rel.Column{Name: name, Type: 20, Mod: -1})
		}
		tbl, err = tx.CreateTable(tbl)
		l.ok(err)
		l.oid = tbl.OID
		l.ok(tx.Commit(ctx))
		l.ok(l.commit(nil, Head{1}))
		g.lost() // a storm
		before := l.engine.Metrics().Snapshots
		f(l)
		synctest.Wait()
		if g.holder != nil || g.entered != 0 || len(g.retries)+len(g.leases)+len(g.commits) != 0 || g.open != nil {
			t.Errorf("left behind: %+v", g)
		}
		if n := l.engine.Metrics().Snapshots; n != before {
			t.Errorf("%d snapshots of the engine are open, %d were before", n, before)
		}
		l.ok(s.Close())
	})
}

func (l *lake) ok(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (h Head) plus(step Head) Head {
	for i := range h {
		h[i] += step[i]
	}
	return h
}

// add adds a row to what t does.
func (l *lake) add(t *Txn, h Head) error {
	tbl, ok := t.TableByOID(l.oid)
	if !ok {
		return errors.New("no table")
	}
	var b row.Builder
	b.Reset()
	for _, n := range h {
		b.Int64(n)
	}
	_, err := t.Insert(tbl, b.MustTuple())
	return err
}

// commit adds a row and commits; t may be nil.
func (l *lake) commit(t *Txn, h Head) error {
	if t == nil {
		t = l.c.Begin(TxnOptions{})
	}
	if err := l.add(t, h); err != nil {
		return errors.Join(err, t.Rollback())
	}
	t.Contend(context.Background(), &headRace)
	return t.Commit(context.Background())
}

// fill does what is to be done about an open promise.
func (l *lake) fill(h Head) error {
	t := l.c.Begin(TxnOptions{})
	t.Fill()
	if err := l.commit(t, h); err != nil && !errors.Is(err, ErrUnique) {
		return err
	}
	return nil
}

func (l *lake) fillOpen() error {
	for range 3 {
		_, h, ok := l.c.OpenPromise()
		if !ok {
			return nil
		}
		if err := l.fill(h); err != nil {
			return err
		}
	}
	return errors.New("a promise stays open")
}

// settle is Settle, filling.
func (l *lake) settle(ctx context.Context, t *Txn) error {
	for range 3 {
		err := t.Settle(ctx)
		if !errors.Is(err, ErrPromiseOpen) {
			return err
		}
		_, h, _ := t.Promised()
		if err := l.fill(h); err != nil {
			return err
		}
	}
	return errors.New("a promise stays open")
}

// newest is the newest row that t sees.
func (l *lake) newest(t *Txn) (h Head, err error) {
	if err := t.EnsureSnapshot(); err != nil {
		return Head{}, err
	}
	tbl, _ := t.TableByOID(l.oid)
	it, err := t.Scan(tbl, Access{})
	if err != nil {
		return Head{}, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		if now, ok := headRace.headOf(tbl, it.Tuple()); ok && now[0] > h[0] {
			h = now
		}
	}
	return h, it.Err()
}

func (l *lake) wantNewest(t *Txn, want Head) {
	l.t.Helper()
	own := t == nil
	if own {
		t = l.c.Begin(TxnOptions{})
		defer func() { _ = t.Rollback() }()
	}
	if h, err := l.newest(t); err != nil || h != want {
		l.t.Errorf("the newest row is %v (%v), want %v", h, err, want)
	}
}

// lease begins a transaction with a lease; it may have been promised a head instead.
func (l *lake) lease() *Txn {
	l.t.Helper()
	t := l.c.Begin(TxnOptions{})
	l.ok(t.AwaitLease(context.Background(), &headRace, Forecast{Schema: "public", Step: oneStep, Steady: true}))
	return t
}

// pair begins a holder, and an heir that is promised what that will leave.
func (l *lake) pair() (holder, heir *Txn, promised Head) {
	l.t.Helper()
	holder = l.lease()
	l.wantNewest(holder, Head{1})
	heir = l.lease()
	_, promised, ok := heir.Promised()
	if want := (Head{1}).plus(oneStep); !ok || promised != want {
		l.t.Fatalf("was promised %v, %v; want %v", promised, ok, want)
	}
	if err := heir.EnsureSnapshot(); !errors.Is(err, errUnsettled) {
		l.t.Errorf("reads before it has settled: %v", err)
	}
	return holder, heir, promised
}

func (l *lake) wantTold(kept, filled, dropped int) {
	l.t.Helper()
	if t := l.log.told; t["kept"] != kept || t["filled"] != filled || t["dropped"] != dropped {
		l.t.Errorf("told: %v, want %d kept, %d filled, %d dropped", t, kept, filled, dropped)
	}
}

// TestPromiseKept: the heir reads the state that the keeping commit has left, whatever came after it, and commits as the holder of the lease.
func TestPromiseKept(t *testing.T) {
	inLake(t, func(l *lake) {
		holder, heir, h := l.pair()
		l.ok(l.commit(holder, h))
		late := h.plus(Head{1, 1, 1, 1})
		l.ok(l.commit(nil, late))
		l.ok(heir.Settle(l.t.Context()))
		l.wantNewest(heir, h)
		if err := l.commit(heir, late); !errors.Is(err, ErrUnique) {
			t.Errorf("took the place of a row: %v", err)
		}
		l.wantTold(1, 0, 0)
	})
	inLake(t, func(l *lake) {
		holder, heir, h := l.pair()
		l.ok(l.commit(holder, h))
		next := l.lease() // is promised what the heir will leave, though that has not settled
		if _, got, ok := next.Promised(); !ok || got != h.plus(oneStep) {
			t.Errorf("was promised %v, %v", got, ok)
		}
		l.ok(heir.Settle(l.t.Context()))
		l.ok(l.commit(heir, h.plus(oneStep)))
		l.ok(next.Settle(l.t.Context()))
		l.wantNewest(next, h.plus(oneStep))
		l.ok(next.Rollback())
		l.wantTold(2, 0, 0)
	})
}

// TestPromiseFilled: where the holder goes, the heir adds the row; where it idles, after a while.
func TestPromiseFilled(t *testing.T) {
	for _, idle := range []bool{false, true} {
		inLake(t, func(l *lake) {
			holder, heir, h := l.pair()
			if !idle {
				l.ok(holder.Rollback())
			}
			start := time.Now()
			l.ok(l.settle(l.t.Context(), heir))
			want := time.Duration(0)
			if idle {
				want = firstLease + l.c.turns.o.patience()
			}
			if took := time.Since(start); took != want {
				t.Errorf("idle %v: waited %s, want %s", idle, took, want)
			}
			l.wantNewest(heir, h)
			l.ok(l.commit(heir, h.plus(oneStep)))
			l.wantTold(0, 1, 0)
			if idle {
				if err := l.commit(holder, h); !errors.Is(err, ErrUnique) {
					t.Errorf("the holder committed in the place of a filled row: %v", err)
				}
			}
		})
	}
}

// TestPromiseUnpublished: a row that is written, and not published yet, keeps a promise that its prior has left open.
func TestPromiseUnpublished(t *testing.T) {
	inLake(t, func(l *lake) {
		holder, heir, h := l.pair()
		l.ok(holder.Rollback())
		done := make(chan error, 1)
		l.engine.applied = func() {
			l.engine.applied = nil
			go func() { done <- l.settle(context.Background(), heir) }()
			for range 1000 {
				runtime.Gosched()
			}
		}
		l.ok(l.commit(nil, h))
		l.ok(<-done)
		l.wantNewest(heir, h)
		l.ok(heir.Rollback())
		l.wantTold(1, 0, 0)
	})
}

// TestPromiseDropped: whenever the heir goes, nothing is left of its promise.
func TestPromiseDropped(t *testing.T) {
	for name, f := range map[string]func(l *lake, holder, heir *Txn, h Head){
		"while the holder is at work": func(l *lake, holder, heir *Txn, h Head) {
			l.ok(heir.Rollback())
			l.ok(l.commit(holder, h))
		},
		"when it is kept": func(l *lake, holder, heir *Txn, h Head) {
			l.ok(l.commit(holder, h))
			l.ok(l.commit(nil, h.plus(oneStep))) // or the view is the newest, and needs no snapshot of its own
			l.ok(heir.Rollback())
		},
		"when the holder has gone": func(l *lake, holder, heir *Txn, h Head) {
			l.ok(holder.Rollback())
			l.ok(heir.Rollback())
			l.ok(l.commit(nil, h.plus(Head{0, 1})))
		},
		"after a cancelled wait": func(l *lake, holder, heir *Txn, h Head) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			if err := heir.Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
				l.t.Error(err)
			}
			l.ok(heir.Rollback())
			l.ok(l.commit(holder, h))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLake(t, func(l *lake) {
				holder, heir, h := l.pair()
				f(l, holder, heir, h)
			})
		})
	}
}

// TestPromiseCancelledWhenMade: who is cancelled when it is promised a head leaves neither the promise nor a view behind.
func TestPromiseCancelledWhenMade(t *testing.T) {
	inLake(t, func(l *lake) {
		cancelled, h := 0, Head{1}
		for range 64 {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			holder := l.lease()
			heir := l.c.Begin(TxnOptions{})
			err := heir.AwaitLease(ctx, &headRace, Forecast{Schema: "public"})
			if err != nil {
				cancelled++
			}
			h = h.plus(oneStep)
			l.ok(l.commit(holder, h))
			l.ok(heir.Rollback())
		}
		if cancelled == 0 {
			t.Error("none was cancelled")
		}
	})
	inLake(t, func(l *lake) {
		// Kept between the promise and the look at the cancelled context.
		holder := l.lease()
		u := &turn{kind: TurnLease, oid: l.oid, tell: make(chan struct{}), ready: make(chan struct{})}
		g := l.c.turns
		g.mu.Lock()
		g.leases = append(g.leases, u)
		g.tell()
		g.mu.Unlock()
		h := (Head{1}).plus(oneStep)
		l.ok(l.commit(holder, h))
		l.ok(l.commit(nil, h.plus(oneStep)))
		l.c.endTurn(u)
	})
}

// TestSettleAfterCancel: a wait that is taken up again waits for the row, and for no turn that was given up.
func TestSettleAfterCancel(t *testing.T) {
	inLake(t, func(l *lake) {
		holder, heir, h := l.pair()
		ctx, cancel := context.WithTimeout(l.t.Context(), time.Millisecond)
		defer cancel()
		if err := heir.Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		start := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			l.ok(l.commit(holder, h))
		}()
		l.ok(heir.Settle(l.t.Context()))
		if took := time.Since(start); took != time.Millisecond {
			t.Errorf("waited %s", took)
		}
		l.ok(l.commit(heir, h.plus(oneStep)))
	})
}

// TestPromiseRefuses: nobody takes the place of a promised row with other numbers, also not after it was written in other words.
func TestPromiseRefuses(t *testing.T) {
	other := Head{0, 1}
	inLake(t, func(l *lake) {
		holder, heir, h := l.pair()
		l.ok(holder.Rollback())
		tx := l.c.Begin(TxnOptions{})
		if err := l.commit(tx, h.plus(other)); !errors.Is(err, ErrUnique) || !tx.Refused() || !tx.Overtaken("heads") {
			t.Errorf("other numbers: %v, refused: %v", err, tx.Refused())
		}
		l.ok(l.commit(nil, h)) // the same are welcome
		l.ok(heir.Settle(l.t.Context()))
		l.wantNewest(heir, h)
		l.ok(heir.Rollback())
		l.wantTold(1, 0, 0)
	})
	inLake(t, func(l *lake) {
		// Rebased: it comes with the number before and gets the promised one.
		tx := l.c.Begin(TxnOptions{})
		l.ok(tx.EnsureSnapshot())
		holder := l.lease()
		l.ok(l.commit(holder, Head{2, 0, 0, 2}))
		tx.OnTaken(func(*rel.Table) bool { return true })
		l.ok(l.add(tx, Head{2, 1}))
		x, y := l.lease(), l.lease()
		_, h, ok := y.Promised()
		if !ok || h[0] != 3 {
			t.Fatal("nothing promised", h)
		}
		l.ok(x.Rollback())
		lost := 0
		tx.OnLost(func(u *UniqueViolation) error {
			if lost++; lost > 1 {
				return u
			}
			l.ok(tx.Restart())
			return l.add(tx, h.plus(other))
		})
		tx.Contend(l.t.Context(), &headRace)
		if err := tx.Commit(l.t.Context()); !errors.Is(err, ErrUnique) || !tx.Refused() {
			t.Errorf("rebased: %v, refused: %v", err, tx.Refused())
		}
		l.ok(l.fillOpen())
		l.ok(y.Settle(l.t.Context()))
		l.wantNewest(y, h)
		l.ok(y.Rollback())
		l.ok(l.commit(nil, h.plus(oneStep)))
	})
}

// TestPromiseAndReopening: when the engine reopens its files, nobody knows what becomes of a promise: its heir hears so, and nobody else does.
func TestPromiseAndReopening(t *testing.T) {
	inLake(t, func(l *lake) {
		holder, heir, h := l.pair()
		l.engine.epoch.Add(1)
		l.wantNewest(nil, Head{1}) // somebody reads, and finds out
		if err := heir.Settle(l.t.Context()); !errors.Is(err, kv.ErrEngineRestarted) {
			t.Error(err)
		}
		l.ok(holder.Rollback())
		l.ok(heir.Rollback())
		l.ok(l.commit(nil, h.plus(Head{0, 1})))
		l.wantTold(0, 0, 1)
	})
	inLake(t, func(l *lake) {
		// It was kept before: the state is there as long as the engine can read it.
		holder, heir, h := l.pair()
		l.ok(l.commit(holder, h))
		l.engine.epoch.Add(1)
		l.wantNewest(nil, h)
		l.ok(heir.Settle(l.t.Context()))
		l.ok(heir.Rollback())
	})
}

// TestPromiseWithoutBase: nobody is promised what follows from a row that was changed otherwise than by adding the next.
func TestPromiseWithoutBase(t *testing.T) {
	for name, change := range map[string]func(l *lake) error{
		"removed": func(l *lake) error { return l.removeAll(l.c.Begin(TxnOptions{})) },
		"two at once": func(l *lake) error {
			tx := l.c.Begin(TxnOptions{})
			l.ok(l.add(tx, Head{2}))
			return l.commit(tx, Head{3})
		},
		"one left out":  func(l *lake) error { return l.commit(nil, Head{7}) },
		"nothing known": func(l *lake) error { l.c.turns.forgetHeads(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inLake(t, func(l *lake) {
				l.ok(change(l))
				holder := l.lease()
				heir := l.lease() // waits for the bound
				if _, h, ok := heir.Promised(); ok {
					t.Errorf("was promised %v", h)
				}
				h, err := l.newest(heir)
				l.ok(err)
				l.ok(holder.Rollback())
				l.ok(l.commit(heir, h.plus(oneStep)))
				h = h.plus(oneStep)
				// From then on it is known again.
				holder, heir = l.lease(), l.lease()
				if _, got, ok := heir.Promised(); !ok || got != h.plus(oneStep) {
					t.Errorf("was promised %v, %v", got, ok)
				}
				l.ok(heir.Rollback())
				l.ok(holder.Rollback())
			})
		})
	}
}

func (l *lake) removeAll(t *Txn) error {
	tbl, _ := t.TableByOID(l.oid)
	it, err := t.Scan(tbl, Access{})
	l.ok(err)
	for it.Next() {
		if err := t.Delete(tbl, it.RowID(), it.Tuple()); err != nil {
			return errors.Join(err, it.Close(), t.Rollback())
		}
	}
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		return err
	}
	t.Contend(context.Background(), &headRace)
	return t.Commit(context.Background())
}
