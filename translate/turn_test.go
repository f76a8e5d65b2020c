package translate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
)

const (
	snapshotDDL = `CREATE TABLE ducklake_snapshot(snapshot_id BIGINT PRIMARY KEY, snapshot_time TIMESTAMPTZ, schema_version BIGINT, next_catalog_id BIGINT, next_file_id BIGINT);
		CREATE TABLE ducklake_table_stats(table_id BIGINT, record_count BIGINT, next_row_id BIGINT, file_size_bytes BIGINT);
		INSERT INTO ducklake_snapshot VALUES (0, NOW(), 0, 1, 0); INSERT INTO ducklake_table_stats VALUES (1, 0, 0, 0)`
	beginRR   = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ"
	headRead  = "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id\n FROM \"public\".ducklake_snapshot WHERE snapshot_id = (\n SELECT MAX(snapshot_id) FROM \"public\".ducklake_snapshot\n )"
	retryRead = `COPY (SELECT "table_id", "record_count", "file_size_bytes", "next_row_id" FROM "public"."ducklake_table_stats" ) TO STDOUT (FORMAT "text");`
)

func batch(n int) string {
	return strings.ReplaceAll(`INSERT INTO "public".ducklake_snapshot VALUES (?, NOW(), 0, 1, 0);UPDATE "public".ducklake_table_stats SET record_count=? WHERE table_id=1;`, "?", strconv.Itoa(n))
}

// turnWorld is a world in the fake time of a test of its own.
func turnWorld(t *testing.T, f func(w *world)) {
	turnWorldWith(t, store.TurnOptions{NoPromise: true}, f)
}

func turnWorldWith(t *testing.T, o store.TurnOptions, f func(w *world)) {
	turnWorldOn(t, func() kv.Engine { return memkv.New() }, store.Options{Turns: o}, f)
}

// turnWorldOn takes the function that makes the engine, inside of the test's own time.
func turnWorldOn(t *testing.T, engine func() kv.Engine, o store.Options, f func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		st, err := store.Open(ctx, engine(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.CreateCatalog(ctx, "lake"); err != nil {
			t.Fatal(err)
		}
		w := &world{
			t: t, store: st, clock: time.Now, shared: translate.NewShared(translate.SharedOptions{}),
			sessions: map[string]*translate.Session{}, notified: map[string][]string{}, pid: 100,
		}
		w.run("setup", snapshotDDL)
		f(w)
		for _, s := range w.sessions {
			s.Close()
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDoomedBatch: a batch for a snapshot that exists meanwhile ends at its first
// statement, with PostgreSQL's words, though the transaction cannot see that snapshot.
func TestDoomedBatch(t *testing.T) {
	turnWorld(t, func(w *world) {
		for _, s := range []string{"a", "b"} {
			w.run(s, beginRR)
			w.run(s, headRead)
		}
		w.run("a", batch(1))
		w.run("a", "COMMIT")
		got := w.simple("b", batch(1)+"CREATE TABLE never (i int); SELECT 'not run'", nil, "")
		for _, want := range []string{
			`duplicate key value violates unique constraint "ducklake_snapshot_pkey"`, "23505",
			"Key (snapshot_id)=(1) already exists.", "Z E",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
		if strings.Contains(got, "UPDATE") || strings.Contains(got, "INSERT 0") || strings.Contains(got, "not run") {
			t.Errorf("went on:\n%s", got)
		}
		w.run("b", "ROLLBACK")
	})
}

// from connects a session from an address of its own: another client than all others.
func (w *world) from(name, addr string) { w.connect(name, translate.SessionOptions{RemoteAddr: addr}) }

// named connects a session whose client has an application name.
func (w *world) named(name, app string) {
	w.connect(name, translate.SessionOptions{ApplicationName: app})
}

func (w *world) connect(name string, o translate.SessionOptions) {
	w.pid++
	o.User, o.Database, o.PID = "eider", "lake", w.pid
	s, err := translate.NewSession(translate.Deps{Store: w.store, Shared: w.shared, Clock: w.clock}, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.sessions[name] = s
}

// lose makes session s lose the race for the next snapshot, n, against a.
func (w *world) lose(s string, n int) {
	w.run(s, beginRR)
	w.run(s, headRead)
	w.run("a", batch(n))
	w.fails(s, batch(n))
	w.run(s, "ROLLBACK")
}

// rival is a session, not known as a writer, at its COMMIT of snapshot n; see blocked.
func (w *world) rival(n int) (waits func() bool, result func() string) {
	name := "rival" + strconv.Itoa(n)
	w.run(name, beginRR)
	w.run(name, headRead)
	w.run(name, batch(n))
	return w.blocked(name, "COMMIT")
}

// blocked starts a message of a session and reports whether it waits; done gives its transcript.
func (w *world) blocked(s, sql string) (waits func() bool, result func() string) {
	w.session(s)
	ch := make(chan string, 1)
	go func() { ch <- w.simple(s, sql, nil, "") }()
	return func() bool { synctest.Wait(); return len(ch) == 0 }, func() string { return <-ch }
}

// TestRetryHoldsTurn: from the first read of a retry, on whatever connection of the
// client, others' commits wait; those that have lost then hear so at once.
func TestRetryHoldsTurn(t *testing.T) {
	for _, c := range []struct {
		name string
		// retry is the session that comes again, first what it says first.
		retry, first string
		reset        bool // DISCARD ALL after the loss
		holds        bool
	}{
		{"same connection", "b", retryRead, false, true},
		{"pooled connection", "c", retryRead, true, true},
		{"same connection after a reset", "b", retryRead, true, true},
		{"client without the conflict query", "b", headRead, false, true},
		{"another transaction of the pool", "b", headRead, true, false},
		{"another transaction on another connection", "c", headRead, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			turnWorld(t, func(w *world) {
				w.run("other", beginRR)
				w.lose("b", 1)
				if c.reset {
					w.run("b", "DISCARD ALL")
				}
				w.run(c.retry, beginRR)
				w.run(c.retry, c.first)
				w.run("other", headRead)
				w.run("other", batch(2))
				waits, result := w.blocked("other", "COMMIT")
				if got := waits(); got != c.holds {
					t.Fatalf("the other's commit waits: %v", got)
				}
				if !c.holds {
					result()
					return
				}
				start := time.Now()
				w.run("options", "BEGIN; INSERT INTO ducklake_table_stats VALUES (7, 0, 0, 0); COMMIT") // no snapshot
				w.run(c.retry, batch(2))
				w.run(c.retry, "COMMIT")
				if got := result(); !strings.Contains(got, "23505") || !strings.Contains(got, "Z I") {
					t.Errorf("the other's commit: %s", got)
				}
				if took := time.Since(start); took != 0 {
					t.Errorf("the other waited %s", took)
				}
			})
		})
	}
}

// TestLossAtLaterKey: a rival that commits between two statements of a batch makes the second fail, not the one that adds the snapshot. It is the
// same race that was lost: the retry has the turn. A key that is there twice by the session's own fault is none.
func TestLossAtLaterKey(t *testing.T) {
	const changes = "INSERT INTO ducklake_snapshot_changes VALUES (%d)"
	for _, lost := range []bool{true, false} {
		for _, at := range []string{"statement", "commit"} {
			t.Run(fmt.Sprintf("lost=%v at %s", lost, at), func(t *testing.T) {
				turnWorld(t, func(w *world) {
					w.run("setup", "CREATE TABLE ducklake_snapshot_changes(snapshot_id BIGINT PRIMARY KEY)")
					w.run("other", beginRR)
					w.run("b", beginRR)
					w.run("b", headRead)
					add := map[bool]string{true: batch(1), false: "SELECT 1;"}[lost]
					w.run("b", add)
					if at == "commit" {
						w.run("b", fmt.Sprintf(changes, 1))
					}
					w.run("a", beginRR)
					w.run("a", headRead)
					w.run("a", batch(1)+fmt.Sprintf(changes, 1)+";COMMIT")
					if at == "commit" {
						w.fails("b", "COMMIT")
					} else {
						w.fails("b", fmt.Sprintf(changes, 1))
						w.run("b", "ROLLBACK")
					}
					w.run("b", beginRR)
					w.run("b", headRead)
					w.run("other", headRead)
					w.run("other", batch(2))
					waits, result := w.blocked("other", "COMMIT")
					if waits() != lost {
						t.Errorf("the other's commit waits: %v", !lost)
					}
					w.run("b", "ROLLBACK")
					result()
				})
			})
		}
	}
}

// TestTurnGivenBack: whatever ends the retry lets the others go on.
func TestTurnGivenBack(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"rollback":   func(w *world) { w.run("b", "ROLLBACK") },
		"error":      func(w *world) { w.fails("b", "SELECT 1/0") },
		"disconnect": func(w *world) { w.session("b").Close() },
		"nothing":    func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			turnWorld(t, func(w *world) {
				w.run("other", beginRR)
				w.lose("b", 1)
				w.run("b", beginRR)
				w.run("b", retryRead)
				w.run("other", headRead)
				w.run("other", batch(2))
				waits, result := w.blocked("other", "COMMIT")
				if !waits() {
					t.Fatal("the commit does not wait")
				}
				start := time.Now()
				end(w)
				if got := result(); strings.Contains(got, "ERROR") {
					t.Errorf("commit: %s", got)
				}
				want := time.Duration(0)
				if name == "nothing" {
					want = store.DefaultTurnBound
				}
				if took := time.Since(start); took != want {
					t.Errorf("the commit waited %s, want %s", took, want)
				}
			})
		})
	}
}

// TestTurnForNothing: a client that loses although it has the turn gets none until it commits.
func TestTurnForNothing(t *testing.T) {
	turnWorld(t, func(w *world) {
		w.from("b", "192.0.2.1:4711")
		held := func(n int) bool {
			w.run("b", beginRR)
			w.run("b", headRead)
			waits, result := w.rival(n)
			is := waits()
			w.fails("b", batch(1))
			w.run("b", "ROLLBACK")
			result()
			return is
		}
		w.lose("b", 1)
		if !held(2) {
			t.Fatal("no turn for a retry")
		}
		if held(3) {
			t.Fatal("a turn for who lost with one")
		}
		w.run("b", beginRR)
		w.run("b", batch(4))
		w.run("b", "COMMIT")
		w.lose("b", 5)
		if !held(6) {
			t.Fatal("no turn after a commit")
		}
	})
}

// TestOverrun: a client whose retry held the turn too long gets none until it commits.
func TestOverrun(t *testing.T) {
	turnWorld(t, func(w *world) {
		w.from("b", "192.0.2.1:4711")
		overrun := func(n int) bool {
			w.lose("b", n)
			w.run("b", beginRR)
			w.run("b", retryRead)
			waits, result := w.rival(n + 1)
			held := waits()
			result()
			w.run("b", "ROLLBACK")
			return held
		}
		if !overrun(1) {
			t.Fatal("no turn for a retry")
		}
		if overrun(3) {
			t.Fatal("a turn for who held one too long")
		}
		w.run("b", beginRR)
		w.run("b", batch(5))
		w.run("b", "COMMIT")
		if !overrun(6) {
			t.Fatal("no turn after a commit")
		}
	})
}

// TestTurnCancelled: a wait for the turn ends with the statement's context.
func TestTurnCancelled(t *testing.T) {
	turnWorld(t, func(w *world) {
		w.lose("b", 1)
		w.lose("c", 2)
		w.run("b", beginRR)
		w.run("b", retryRead)
		w.run("c", beginRR)
		ctx, cancel := context.WithCancel(context.Background())
		errs := make(chan error, 1)
		go func() {
			errs <- w.session("c").Simple(ctx, retryRead, &transcript{sess: w.session("c")})
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) && asPG(t, err).Code != "57014" {
			t.Errorf("cancelled: %v", err)
		}
		w.run("c", "ROLLBACK")
		w.run("b", batch(3))
		w.run("b", "COMMIT")
	})
}

// TestPacing: while losses are frequent, sessions that write read the head one after the
// other, and readers at once.
func TestPacing(t *testing.T) {
	turnWorld(t, func(w *world) {
		commit := func(s string, n int) {
			w.run(s, beginRR)
			w.run(s, headRead)
			w.run(s, batch(n))
			w.run(s, "COMMIT")
		}
		n := 0
		both := func() {
			commit("x", n+1)
			commit("y", n+2)
			n += 2
		}
		for range 4 {
			both()
		}
		w.run("x", beginRR)
		w.run("x", headRead)
		w.run("y", beginRR)
		w.run("y", headRead) // no storm: nobody waits
		w.run("y", "ROLLBACK")
		w.run("x", "ROLLBACK")
		w.lose("b", n+1)
		n++
		for range 3 {
			both()
		}

		w.run("x", beginRR)
		w.run("x", headRead)
		w.run("y", beginRR)
		waits, result := w.blocked("y", headRead)
		if !waits() {
			t.Fatal("the second writer does not wait")
		}
		w.run("reader", beginRR)
		w.run("reader", headRead)
		w.run("reader", "COMMIT")
		w.run("x", batch(n+1))
		w.run("x", "COMMIT")
		if got, want := result(), fmt.Sprintf("D %d", n+1); !strings.Contains(got, want) {
			t.Errorf("head after the wait: %s, want %s", got, want)
		}
		w.run("y", batch(n+2))
		w.run("y", "COMMIT")

		// Who has become a reader is waited for a few times, and for the bound of a lease at most.
		waited := []bool{}
		for range 8 {
			w.run("x", beginRR)
			w.run("x", headRead)
			w.run("y", beginRR)
			start := time.Now()
			w.run("y", headRead)
			took := time.Since(start)
			if took > 25*time.Millisecond {
				t.Errorf("waited %s for an idle writer", took)
			}
			waited = append(waited, took > 0)
			w.run("x", "COMMIT")
			n++
			w.run("y", batch(n+2))
			w.run("y", "COMMIT")
		}
		if !waited[0] || slices.Contains(waited[5:], true) {
			t.Errorf("waited for a reader: %v", waited)
		}
	})
}

// TestPacingByHabit: a driver that prepares each statement in a transaction of its own is
// paced when it writes, not when it prepares.
func TestPacingByHabit(t *testing.T) {
	turnWorld(t, func(w *world) {
		n := 0
		prepare := func(s string) {
			w.run(s, beginRR)
			w.run(s, headRead)
			w.run(s, "COMMIT")
		}
		write := func(s string) {
			w.run(s, beginRR)
			w.run(s, headRead)
			n++
			w.run(s, batch(n))
			w.run(s, "COMMIT")
		}
		for range 8 {
			prepare("x")
			write("x")
			prepare("y")
			write("y")
		}
		n++
		w.lose("b", n)
		prepare("x")
		w.run("x", beginRR)
		w.run("x", headRead)
		start := time.Now()
		prepare("y")
		if took := time.Since(start); took != 0 {
			t.Errorf("preparing waited %s", took)
		}
		w.run("y", beginRR)
		waits, result := w.blocked("y", headRead)
		if !waits() {
			t.Error("writing did not wait")
		}
		n++
		w.run("x", batch(n))
		w.run("x", "COMMIT")
		result()
	})
}
