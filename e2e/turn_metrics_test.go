package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/server"
)

// TestTurnMetrics: a DuckDB that loses a race is counted, and so are its turn, who waits for it, and that it is taken away when it takes too long.
func TestTurnMetrics(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := privateEider(t, "--commit-turn-bound", "700ms", "--commit-pacing=false")
	data := t.TempDir()
	a, b := openLake(ctx, t, s.DSN("lake"), data), openLake(ctx, t, s.DSN("lake"), data)
	a.must(ctx, t, "CREATE TABLE lake.t (i INTEGER)", "CREATE TABLE lake.u (i INTEGER)")
	wait := func(what string, reached func(m server.Metrics) bool) {
		t.Helper()
		for !reached(readMetrics(ctx, t, s)) {
			if ctx.Err() != nil {
				t.Fatalf("never: %s", what)
			}
			time.Sleep(5 * time.Millisecond) // between two looks at /metrics, which tell nobody
		}
	}
	for _, overrun := range []bool{false, true} {
		before := readMetrics(ctx, t, s)
		grown := func(m server.Metrics, name string, labels ...string) float64 {
			return m.Sum(name, labels...) - before.Sum(name, labels...)
		}
		// A is planned, B commits, A loses. In its second attempt A holds the turn, and stops before its batch.
		second, release := make(chan struct{}), make(chan struct{})
		batches := 0
		a.Before(func(sql string) bool {
			if strings.Contains(sql, "ducklake_snapshot VALUES") {
				if batches++; batches == 2 {
					close(second)
					<-release
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
		if overrun {
			wait("the turn is taken away", func(m server.Metrics) bool { return grown(m, "eider_commit_turn_overruns_total", `kind="retry"`) == 1 })
			if err := <-other; err != nil {
				t.Error(err)
			}
			close(release)
		} else {
			close(release)
			if err := <-other; err != nil {
				t.Error(err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		a.Before(nil)
		b.Before(nil)
		wait("nobody holds a turn", func(m server.Metrics) bool { return m.Sum("eider_commit_turn_holders") == 0 })
		m = readMetrics(ctx, t, s)
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
