package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestPromisesAtRandom: many writers, of whom some go, idle, are cancelled or add something else. Who commits has read what it was told.
func TestPromisesAtRandom(t *testing.T) {
	var told [3]int
	for seed := range uint64(30) {
		inLake(t, func(l *lake) {
			var wg sync.WaitGroup
			for i := range 2 + int(seed%6) {
				p := &racer{l: l, r: rand.New(rand.NewPCG(seed, uint64(i))), name: fmt.Sprint(seed, "/", i)}
				wg.Go(p.run)
			}
			wg.Wait()
			for i, outcome := range []TurnKind{"kept", "filled", "dropped"} {
				told[i] += l.log.told[outcome]
			}
		})
	}
	for i, n := range told {
		if n == 0 {
			t.Errorf("kept, filled, dropped: %v, none of %d", told, i)
		}
	}
}

type racer struct {
	l    *lake
	r    *rand.Rand
	name string
}

func (p *racer) think(d time.Duration) { time.Sleep(time.Duration(p.r.Int64N(int64(d)))) }

func (p *racer) run() {
	for range 30 {
		p.think(3 * time.Millisecond)
		for attempt := 1; ; attempt++ {
			err := p.attempt(attempt)
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				break
			}
			if !errors.Is(err, ErrUnique) {
				p.l.t.Errorf("%s: %v", p.name, err)
				return
			}
			p.l.c.Lost("snapshot")
			p.think(50 * time.Millisecond)
		}
	}
}

// attempt begins a transaction and ends it in some way.
func (p *racer) attempt(n int) error {
	l := p.l
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if p.r.IntN(10) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(p.r.Int64N(int64(20*time.Millisecond))))
		defer cancel()
	}
	tx := l.c.Begin(TxnOptions{})
	defer func() { _ = tx.Rollback() }()
	if n > 1 {
		if err := errors.Join(tx.AwaitRetry(ctx), l.fillOpen()); err != nil {
			return err
		}
	} else if err := tx.AwaitLease(ctx, &headRace, Forecast{Schema: "public", Step: oneStep, Steady: true}); err != nil {
		return err
	}
	_, told, was := tx.Promised()
	p.think(2 * time.Millisecond)
	if was {
		if p.r.IntN(20) == 0 {
			return nil
		}
		if err := l.settle(ctx, tx); err != nil {
			return err
		}
	}
	head, err := l.newest(tx)
	if err != nil {
		return err
	}
	if was && head != told {
		return fmt.Errorf("was told %v and reads %v", told, head)
	}
	step := oneStep
	switch p.r.IntN(20) {
	case 0:
		return nil
	case 1:
		step[1]++
	case 2:
		time.Sleep(300 * time.Millisecond)
	}
	p.think(2 * time.Millisecond)
	err = l.commit(tx, head.plus(step))
	if err != nil && tx.Refused() {
		err = errors.Join(err, l.fillOpen())
	}
	return err
}
