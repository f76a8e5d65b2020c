package translate_test

import (
	"fmt"
	"testing"
)

// TestRowLossIsRepeated: who lost a row comes again with nothing but a read of the head, on the
// connection that a pool has reset or, if its client has a name, on another one. It has the
// turn until it has written what was given up; others are not taken for it.
func TestRowLossIsRepeated(t *testing.T) {
	for _, c := range []struct {
		name    string
		app     string // of the client that loses
		again   string // of the one that begins with the head then
		between string // what it has committed in between
		same    bool   // on the same connection
		holds   bool
	}{
		{"the client", "worker 1", "worker 1", "", false, true},
		{"another client", "worker 1", "worker 2", "", false, false},
		{"a client without a name, on another connection", "", "", "", false, false},
		{"a client without a name, on the same connection", "", "", "", true, true},
		{"on the same connection, after it has written the row", "", "", batch(1), true, false},
		{"on the same connection, after another commit", "", "", snapshot(1), true, true},
		{"the client, after it has written the row", "worker 1", "worker 1", batch(1), false, false},
		{"the client, after another commit", "worker 1", "worker 1", snapshot(1), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			turnWorld(t, func(w *world) {
				w.named("flush", c.app)
				w.run("flush", beginRR)
				w.run("flush", headRead)
				w.run("a", "UPDATE ducklake_table_stats SET record_count = 5")
				w.fails("flush", "UPDATE ducklake_table_stats SET record_count = 6")
				w.run("flush", "ROLLBACK")
				earlier, again := "flush", "flush"
				if c.same {
					w.run("flush", "DISCARD ALL")
				} else {
					w.session("flush").Close()
					earlier, again = "earlier", "again"
					w.named(earlier, c.app)
					w.named(again, c.again)
				}

				n := 1
				if c.between != "" {
					w.run(earlier, beginRR)
					w.run(earlier, headRead)
					w.run(earlier, c.between)
					w.run(earlier, "COMMIT")
					n++
				}
				w.run(again, beginRR)
				w.run(again, headRead)
				waits, result := w.rival(n)
				if waits() != c.holds {
					t.Errorf("a rival's commit waits: %v, want %v", !c.holds, c.holds)
				}
				if c.holds {
					w.run(again, "UPDATE ducklake_table_stats SET record_count = 7")
					w.run(again, batch(n))
				}
				w.run(again, "COMMIT")
				result()
			})
		})
	}
}

// snapshot is a commit that writes nothing else.
func snapshot(n int) string {
	return fmt.Sprintf(`INSERT INTO "public".ducklake_snapshot VALUES (%d, NOW(), 0, 1, 0);`, n)
}

// TestRepetitionLeavesLosses: a repetition that begins with the head has no loss that DuckLake
// repeats. Those that the client's other sessions have are theirs to use.
func TestRepetitionLeavesLosses(t *testing.T) {
	turnWorld(t, func(w *world) {
		w.run("flush", beginRR)
		w.run("flush", headRead)
		w.run("a", "UPDATE ducklake_table_stats SET record_count = 5")
		w.fails("flush", "UPDATE ducklake_table_stats SET record_count = 6")
		w.run("flush", "ROLLBACK")
		w.lose("b", 1)
		for range 3 {
			w.run("flush", beginRR)
			w.run("flush", headRead)
			w.run("flush", "ROLLBACK")
		}
		w.run("b", "DISCARD ALL")
		w.run("b", beginRR)
		w.run("b", retryRead)
		waits, result := w.rival(2)
		if !waits() {
			t.Error("a retry has no turn, as repetitions of another session have used up its loss")
		}
		w.run("b", batch(2))
		w.run("b", "COMMIT")
		result()
	})
}
