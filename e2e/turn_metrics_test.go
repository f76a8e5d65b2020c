package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/server"
)

// TestTurnMetrics: a DuckDB that loses a race is counted, and so are its turn, who waits for it, and that it is taken away when it takes too long.
func TestTurnMetrics(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := privateEider(t, "--commit-turn-bound", "2s", "--commit-pacing=false")
	data := t.TempDir()
	a, b := openLake(ctx, t, s.DSN("lake"), data), openLake(ctx, t, s.DSN("lake"), data)
	a.must(ctx, t, "CREATE TABLE lake.t (i INTEGER)", "CREATE TABLE lake.u (i INTEGER)")
	operator := connect(ctx, t, s.DSN("lake"))
	for _, overrun := range []bool{false, true} {
		before := readMetrics(ctx, t, s)
		grown := func(m server.Metrics, name string, labels ...string) float64 {
			return m.Sum(name, labels...) - before.Sum(name, labels...)
		}
		// A is planned, B commits, A loses. In its second attempt A holds the turn, and stops before its batch.
		second, released := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(released) })
		t.Cleanup(release) // before the clients are closed
		batches := 0
		a.Before(func(sql string) bool {
			if strings.Contains(sql, "ducklake_snapshot VALUES") {
				if batches++; batches == 2 {
					close(second)
					<-released
				}
			}
			return true
		})
		a.must(ctx, t, "BEGIN", "INSERT INTO lake.t VALUES (1)")
		b.must(ctx, t, "INSERT INTO lake.u VALUES (1)")
		done, other := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := a.sess.Exec(ctx, "COMMIT")
			done <- err
		}()
		<-second
		m := readMetrics(ctx, t, s)
		if m.Sum("eider_commit_turn_holders", `kind="retry"`) != 1 || grown(m, "eider_commit_attempts_total", `outcome="snapshot"`) != 1 {
			t.Errorf("after a lost race: %v holders, %v losses", m.Sum("eider_commit_turn_holders", `kind="retry"`), grown(m, "eider_commit_attempts_total", `outcome="snapshot"`))
		}
		started := make(chan struct{})
		b.Before(func(sql string) bool {
			if sql == "COMMIT" {
				select {
				case <-started:
				default:
					close(started)
				}
			}
			return true
		})
		go func() {
			_, err := b.sess.Exec(ctx, "INSERT INTO lake.u VALUES (2)")
			other <- err
		}()
		<-started
		// A COMMIT that waits is what its session does, for everybody to see. Nobody says when the server has it: each look is a round trip.
		for one(ctx, t, operator, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'COMMIT'") != "1" {
			select {
			case err := <-other:
				t.Fatalf("B's COMMIT was never seen: %v", err)
			default:
			}
		}
		if !overrun {
			release()
		}
		if err := <-other; err != nil { // while A stands still, B commits when A's turn is taken away
			t.Error(err)
		}
		if overrun {
			release()
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		a.Before(nil)
		b.Before(nil)
		m = readMetrics(ctx, t, s)
		if n := m.Sum("eider_commit_turn_holders"); n != 0 {
			t.Errorf("overrun %v: %v hold a turn when all have committed", overrun, n)
		}
		if n := grown(m, "eider_commit_attempts_total", `outcome="committed"`); n != 3 {
			t.Errorf("overrun %v: %v attempts were committed, not 3", overrun, n)
		}
		losses := 1.0 // A's first attempt; B's waits for A and then has lost too, unless A's turn is taken away, when A loses once more
		if n := grown(m, "eider_commit_attempts_total", `outcome="snapshot"`); n < losses || n > 2 {
			t.Errorf("overrun %v: %v attempts were lost, not 1 or 2", overrun, n)
		}
		if n := grown(m, "eider_commit_turn_wait_seconds_count", `kind="commit"`); overrun && n < 1 { // else B may come when A has committed
			t.Errorf("overrun %v: %v commits waited for the turn", overrun, n)
		}
		if n := grown(m, "eider_commit_turn_overruns_total", `kind="retry"`); n != map[bool]float64{true: 1}[overrun] {
			t.Errorf("overrun %v: %v turns were taken away", overrun, n)
		}
	}
	if got := a.rows(ctx, t, "SELECT (SELECT count(*) FROM lake.t), (SELECT count(*) FROM lake.u)"); got != "2 | 4" {
		t.Errorf("rows: %s", got)
	}
	if n := readMetrics(ctx, t, s).Sum("eider_findings_total"); n != 0 {
		t.Errorf("%v findings", n)
	}
}
