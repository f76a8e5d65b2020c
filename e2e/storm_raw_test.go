package e2e

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/storm"
	"github.com/eiderdb/eider/e2e/internal/tap"
)

// rawStorm is a lake for raw commits with what was acknowledged.
type rawStorm struct {
	target script.Target
	most   func() int // attempts for one commit
	db     string
	data   string
	table  storm.RawTable

	mu    sync.Mutex
	acked map[int64]int64
	value int64
}

func onRaw(t *testing.T, run func(ctx context.Context, t *testing.T, s *rawStorm)) {
	for _, target := range stormTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			s := &rawStorm{target: target, db: newDatabase(), data: t.TempDir(), acked: map[int64]int64{}}
			if err := target.CreateDatabase(ctx, s.db); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = target.DropDatabase(context.Background(), s.db) }()
			s.most = attempts(ctx, t, target)
			s.table = rawLake(ctx, t, target.DSN(s.db), s.data)
			run(ctx, t, s)
			if err := storm.CheckRaw(ctx, connect(ctx, t, target.DSN(s.db)), s.table, s.acked, nil, target.Name() == "eider"); err != nil {
				t.Error(err)
			}
			if err := healthy(ctx, target, s.db); err != nil {
				t.Error(err)
			}
		})
	}
}

func (s *rawStorm) open(ctx context.Context, t *testing.T) *storm.Raw {
	t.Helper()
	c, err := storm.OpenRaw(ctx, s.target.DSN(s.db), s.table)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// next is a value that was not used yet.
func (s *rawStorm) next() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value++
	return s.value
}

func (s *rawStorm) ack(snapshot, value int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked[snapshot] = value
}

func (s *rawStorm) commit(ctx context.Context, c *storm.Raw) storm.Outcome {
	v := s.next()
	n, snap, err := c.Commit(ctx, v)
	if err == nil {
		s.ack(snap, v)
	}
	return storm.Outcome{Attempts: n, Err: err}
}

// Connections that commit as fast as they can, without the back-off of a real client: no commit takes more than two attempts, snapshots have no gap.
func TestRawStorm(t *testing.T) {
	for _, n := range []int{8, 64} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			onRaw(t, func(ctx context.Context, t *testing.T, s *rawStorm) {
				conns := make([]*storm.Raw, n)
				for i := range conns {
					conns[i] = s.open(ctx, t)
				}
				r := storm.Run(n, time.Duration(times(20, 2))*time.Second, nil, func(w, _ int) storm.Outcome { return s.commit(ctx, conns[w]) })
				t.Logf("%d commits (%.0f/s), %.2f attempts per commit, %d at most, slowest writer %.0f %% of the mean", r.Commits(), r.Rate(), r.AttemptsPerCommit(), r.Worst, 100*r.Fairness())
				for _, err := range r.Failures {
					t.Error(err)
				}
				if s.target.Name() == "eider" && (r.Worst > s.most() || r.AttemptsPerCommit() > 1.2) {
					t.Errorf("a commit took %d attempts, the mean %.2f", r.Worst, r.AttemptsPerCommit())
				}
			})
		})
	}
}

// A DuckDB among connections that are a hundred times faster is not starved: its commits need two attempts at most.
func TestSlowAmongFast(t *testing.T) {
	onRaw(t, func(ctx context.Context, t *testing.T, s *rawStorm) {
		tp, err := tap.New(s.target.DSN(s.db))
		if err != nil {
			t.Fatal(err)
		}
		defer tp.Close()
		w, err := storm.OpenWriter(ctx, tp.DSN(s.target.DSN(s.db)), s.data)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		conns := make([]*storm.Raw, 8)
		for i := range conns {
			conns[i] = s.open(ctx, t)
		}
		stop := make(chan struct{})
		attempts := map[int]int{}
		var failed error
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer close(stop)
			tp.Take()
			for range times(40, 12) {
				v := s.next()
				if _, failed = w.Exec(ctx, fmt.Sprintf("INSERT INTO lake.t VALUES (%d)", v)); failed != nil {
					return
				}
				attempts[tp.Take().Attempts]++
				res, err := w.Query(ctx, "SELECT id FROM lake.last_committed_snapshot()")
				if err != nil {
					failed = err
					return
				}
				var snap int64
				if _, failed = fmt.Sscan(res.Rows[0][0], &snap); failed != nil {
					return
				}
				s.ack(snap, v)
			}
		}()
		r := storm.Run(len(conns), 2*time.Minute, stop, func(w, _ int) storm.Outcome { return s.commit(ctx, conns[w]) })
		<-done
		t.Logf("%d commits beside, attempts %v", r.Commits(), attempts)
		if failed != nil && s.target.Name() == "eider" {
			t.Errorf("%s", storm.Short(failed))
		}
		for a := range attempts {
			if a > s.most() && s.target.Name() == "eider" {
				t.Errorf("a commit took %d attempts", a)
			}
		}
	})
}

// A connection that has lost a race, reads the head again and then does nothing, or goes away, holds up others for a bounded time only.
func TestIdleAfterLostRace(t *testing.T) {
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut=%v", cut), func(t *testing.T) {
			onRaw(t, func(ctx context.Context, t *testing.T, s *rawStorm) {
				a, b := s.open(ctx, t), s.open(ctx, t)
				if err := a.Begin(ctx); err != nil {
					t.Fatal(err)
				}
				if o := s.commit(ctx, b); o.Err != nil {
					t.Fatal(o.Err)
				}
				if _, err := a.Finish(ctx, s.next()); !storm.LostRace(err) {
					t.Fatalf("a lost race: %v", err)
				}
				if err := a.Rollback(ctx); err != nil {
					t.Fatal(err)
				}
				if err := a.Begin(ctx); err != nil {
					t.Fatal(err)
				}
				if cut {
					if err := a.Cut(); err != nil {
						t.Fatal(err)
					}
				}
				for range 10 {
					if o := s.commit(ctx, b); o.Err != nil {
						t.Fatal(o.Err)
					}
				}
				if cut {
					return
				}
				v := s.next()
				snap, err := a.Finish(ctx, v)
				if err == nil {
					s.ack(snap, v)
					t.Fatal("a commit on top of a snapshot that is not the newest")
				}
				if !storm.LostRace(err) {
					t.Fatal(err)
				}
				if err := a.Rollback(ctx); err != nil {
					t.Fatal(err)
				}
				if o := s.commit(ctx, a); o.Err != nil {
					t.Error(o.Err)
				}
			})
		})
	}
}
