package translate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
)

// headCopied is the head read as DuckDB sends it the second time.
var headCopied = `COPY (SELECT "snapshot_id", "schema_version", "next_catalog_id", "next_file_id" FROM (` + headRead + `) AS __unnamed_subquery ) TO STDOUT (FORMAT "text");`

// interrupt sends a message of a session and cancels it when it waits.
func (w *world) interrupt(s, sql string) string {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	o := &transcript{sess: w.session(s)}
	go func() { done <- w.session(s).Simple(ctx, sql, o) }()
	synctest.Wait()
	cancel()
	if err := <-done; err != nil {
		o.problem(asPG(w.t, err))
	}
	return o.b.String()
}

// TestToldCommitIsTrue: a transaction that was told a head and commits has read what is so.
func TestToldCommitIsTrue(t *testing.T) {
	for _, commit := range []string{"COMMIT", "commit", "COMMIT AND CHAIN"} {
		for _, holder := range []string{"COMMIT", "ROLLBACK"} {
			t.Run(commit+" after "+holder, func(t *testing.T) {
				toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
					tell(t, w, "x", "y", n)
					w.run("x", change(n+1))
					waits, result := w.blocked("y", commit)
					if !waits() {
						t.Error("the commit does not wait for what was read")
					}
					w.run("x", holder)
					if got := result(); !strings.Contains(got, "COMMIT") {
						t.Error(got)
					}
					if got := w.run("judge", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
						t.Errorf("y has committed that it read %d, and now: %s", n+1, got)
					}
				})
			})
		}
	}
}

// TestToldRollback: who rolls back waits for nobody, in whatever words.
func TestToldRollback(t *testing.T) {
	for _, end := range []string{"ROLLBACK", "rollback", "ABORT;", "ROLLBACK AND CHAIN", "ROLLBACK TO a; ROLLBACK"} {
		for _, failed := range []bool{false, true} {
			t.Run(fmt.Sprint(end, " ", failed), func(t *testing.T) {
				toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
					w.run("x", beginRR)
					w.run("x", headRead)
					w.run("y", beginRR+"; SAVEPOINT a")
					w.run("y", headRead)
					if failed {
						if got := w.interrupt("y", newestRead); !strings.Contains(got, "57014") {
							t.Fatalf("cancelled: %s", got)
						}
					}
					waits, result := w.blocked("y", end)
					if waits() {
						t.Error("waits")
					}
					if got := result(); strings.Contains(got, "ERROR") {
						t.Error(got)
					}
					w.run("x", "ROLLBACK")
					// Nothing is left of the promise.
					w.run("other", strings.Replace(change(n+1), "NOW(), 0", "NOW(), 1", 1))
				})
			})
		}
	}
}

// TestToldGoesOnAfterCancel: a cancelled wait for what was promised may be taken up again, and is not longer for it.
func TestToldGoesOnAfterCancel(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		w.run("x", beginRR)
		w.run("x", headRead)
		w.run("y", beginRR+"; SAVEPOINT a")
		w.run("y", headRead)
		w.interrupt("y", newestRead)
		if got := w.run("y", "ROLLBACK TO a"); !strings.Contains(got, "ROLLBACK") {
			t.Error(got)
		}
		start := time.Now()
		waits, result := w.blocked("y", newestRead)
		if !waits() {
			t.Error("does not wait for the snapshot")
		}
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		if got := result(); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
			t.Errorf("reads %s", got)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("waited %s", took)
		}
		w.run("y", change(n+2))
		w.run("y", "COMMIT")
	})
}

// TestRefusedComesThrough: an open promise that nobody keeps refuses a commit once, however its client comes again.
func TestRefusedComesThrough(t *testing.T) {
	for _, idle := range []bool{false, true} {
		for _, form := range []string{"block", "one statement", "another connection"} {
			t.Run(fmt.Sprint(form, idle), func(t *testing.T) {
				toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
					tell(t, w, "x", "y", n)
					if !idle {
						w.run("x", "ROLLBACK")
					}
					time.Sleep(time.Minute) // both have gone to sleep, or y alone
					other := strings.Replace(change(n+1), "NOW(), 0", "NOW(), 1", 1)
					if form == "one statement" {
						other, _, _ = strings.Cut(other, ";")
					}
					if form == "another connection" {
						w.run("z1", beginRR)
						w.run("z1", headRead)
						w.run("z1", other)
						w.fails("z1", "COMMIT")
					} else {
						w.fails("z1", other)
					}
					again := strings.Replace(other, fmt.Sprintf("VALUES (%d", n+1), fmt.Sprintf("VALUES (%d", n+2), 2)
					switch form {
					case "one statement":
						w.run("z1", again)
					case "block":
						w.run("z1", beginRR)
						if got := w.run("z1", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) {
							t.Errorf("reads %s", got)
						}
						w.run("z1", again)
						w.run("z1", "COMMIT")
					default:
						w.run("z2", beginRR)
						if got := w.run("z2", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) {
							t.Errorf("reads %s", got)
						}
						w.run("z2", again)
						w.run("z2", "COMMIT")
					}
					if got := w.run("y", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
						t.Errorf("y was told %d and reads %s", n+1, got)
					}
				})
			})
		}
	}
}

// TestTextsLikeTheHead: what reads other tables as well is not answered before its snapshot is there.
func TestTextsLikeTheHead(t *testing.T) {
	for _, c := range []struct {
		text string
		told bool
	}{
		{headCopied, true},
		{strings.Replace(headCopied, `"snapshot_id", "`, `"schema_version", "snapshot_id", "`, 1), true},
		{strings.Replace(headCopied, "AS __unnamed_subquery ", `AS __unnamed_subquery, "public".ducklake_table_stats `, 1), false},
		{strings.Replace(headCopied, "AS __unnamed_subquery ", `AS __unnamed_subquery UNION ALL select record_count, 0, 0, 0 FROM "public".ducklake_table_stats `, 1), false},
		{strings.Replace(headCopied, `COPY (SELECT `, `COPY (SELECT record_count, 0, 0, 0 FROM "public".ducklake_table_stats UNION ALL SELECT `, 1), false},
		{strings.Replace(headCopied, `"schema_version",`, `pg_sleep,`, 1), false},
		{"SAVEPOINT a; " + headRead, false},
		{"DECLARE c CURSOR FOR " + headRead, false},
		{"EXPLAIN " + headRead, false},
		{"PREPARE p AS " + headRead, false},
	} {
		toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
			tell(t, w, "x", "y", n) // y may read the head only, then
			waits, result := w.blocked("y", c.text)
			if waits() == c.told {
				t.Errorf("waits: %v: %s", !c.told, c.text)
			}
			w.run("x", change(n+1))
			w.run("x", "COMMIT")
			result()
		})
		toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
			w.run("x", beginRR)
			w.run("x", headRead)
			w.run("y", beginRR)
			_, result := w.blocked("y", c.text)
			time.Sleep(5 * time.Millisecond)
			w.run("x", strings.Replace(change(n+1), "record_count=", "record_count=1000+", 1))
			w.run("x", "COMMIT")
			// Told or not, it reads one state.
			got := result()
			if strings.Contains(c.text, "stats") && !strings.Contains(c.text, ", \"public\"") && !strings.Contains(got, fmt.Sprint(1000+n+1)) {
				t.Errorf("%s reads %s", c.text, got)
			}
		})
	}
}

// TestMessagesOfSeveralStatements: each statement of a message is one like any other.
func TestMessagesOfSeveralStatements(t *testing.T) {
	for _, message := range []string{
		beginRR + ";" + headRead + ";" + newestRead,
		beginRR + ";" + headCopied + newestRead,
	} {
		toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
			w.run("x", beginRR)
			w.run("x", headRead)
			waits, result := w.blocked("y", message)
			if !waits() {
				t.Error("does not wait")
			}
			w.run("x", change(n+1))
			w.run("x", "COMMIT")
			if got := result(); !strings.Contains(got, fmt.Sprintf("%d|0|1|0", n+1)) && !strings.Contains(got, fmt.Sprintf(`"%d\t0\t1`, n+1)) || !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
				t.Errorf("reads %s, want %d twice", got, n+1)
			}
			w.run("y", change(n+2)+"; COMMIT")
		})
	}
}

// TestPortalAfterTold: a portal that was bound before the head was told runs on the state that was promised.
func TestPortalAfterTold(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		ctx := context.Background()
		w.run("x", beginRR)
		w.run("x", headRead)
		y := w.session("y")
		if err := y.Parse(ctx, "p", "SELECT record_count FROM ducklake_table_stats", nil); err != nil {
			t.Fatal(err)
		}
		if err := y.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		w.run("y", beginRR)
		o := &transcript{sess: y}
		if err := y.Bind(ctx, "p", "p", nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := w.run("y", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) {
			t.Fatalf("y was told %s", got)
		}
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		if err := y.Execute(ctx, "p", 0, o); err != nil {
			t.Fatal(err)
		}
		if got := o.b.String(); !strings.Contains(got, fmt.Sprintf("D %d", n+1)) {
			t.Errorf("reads %s", got)
		}
	})
}

// TestExtendedHead: Parse of the head is answered, its Bind waits for the snapshot.
func TestExtendedHead(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		ctx := context.Background()
		w.run("x", beginRR)
		w.run("x", headRead)
		w.run("y", beginRR)
		y := w.session("y")
		if err := y.Parse(ctx, "", headRead, nil); err != nil {
			t.Fatal(err)
		}
		if _, cols, err := y.DescribeStatement(ctx, ""); err != nil || len(cols) != 4 {
			t.Fatal(cols, err)
		}
		ch := make(chan error, 1)
		go func() { ch <- y.Bind(ctx, "", "", nil, nil, nil) }()
		synctest.Wait()
		if len(ch) != 0 {
			t.Error("Bind does not wait")
		}
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		if err := <-ch; err != nil {
			t.Fatal(err)
		}
		o := &transcript{sess: y}
		if err := y.Execute(ctx, "", 0, o); err != nil || !strings.Contains(o.b.String(), fmt.Sprintf("D %d|", n+1)) {
			t.Errorf("%v, %s", err, o.b.String())
		}
	})
}

// TestReadCommittedIsTold: under READ COMMITTED, too, nothing older than the promised snapshot is read.
func TestReadCommittedIsTold(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		w.run("x", beginRR)
		w.run("x", headRead)
		w.run("y", "BEGIN")
		if got := w.run("y", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) {
			t.Errorf("y was told %s", got)
		}
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		w.run("other", change(n+2))
		if got := w.run("y", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) && !strings.Contains(got, fmt.Sprintf("D %d|", n+2)) {
			t.Errorf("reads %s", got)
		}
		if got := w.run("y", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+2)) {
			t.Errorf("reads %s", got)
		}
	})
}

// TestPromisedTableGoes: a promise of a table that is gone is in nobody's way but of who was promised it.
func TestPromisedTableGoes(t *testing.T) {
	for _, ddl := range []string{
		"DROP TABLE ducklake_snapshot; DROP TABLE ducklake_snapshot_changes; DROP TABLE ducklake_table_stats",
		"DROP TABLE ducklake_table_stats; DROP TABLE ducklake_snapshot_changes; ALTER TABLE ducklake_snapshot RENAME TO was",
	} {
		t.Run(ddl, func(t *testing.T) {
			toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
				w.run("setup", "CREATE SCHEMA two; "+strings.ReplaceAll(strings.ReplaceAll(snapshotDDL+";"+changesDDL, "ducklake_", "two.ducklake_"), "two.ducklake_snapshot_pkey", "ducklake_snapshot_pkey"))
				second := func(n int) string {
					return fmt.Sprintf("INSERT INTO two.ducklake_snapshot VALUES (%d, NOW(), 0, 1, 0); INSERT INTO two.ducklake_snapshot_changes VALUES (%d, 'inlined_insert:1')", n, n)
				}
				w.from("b", "192.0.2.8:1")
				head := strings.ReplaceAll(headRead, "public", "two")
				w.run("b", beginRR)
				w.run("b", head)
				w.run("winner", second(1))
				w.fails("b", second(1))
				w.run("b", "ROLLBACK")
				tell(t, w, "x", "y", n)
				w.run("x", "ROLLBACK")
				w.run("ddl", ddl)
				time.Sleep(time.Second)
				w.run("b", beginRR)
				if got := w.run("b", head); !strings.Contains(got, "D 1|") {
					t.Errorf("the retry in another schema reads %s", got)
				}
				w.run("b", second(2))
				w.run("b", "COMMIT")
				w.simple("y", newestRead, nil, "")
				w.run("y", "ROLLBACK")
			})
		})
	}
}

// TestHeadChangedByHand: after rows of the table were changed in another way than by adding one, nobody is told what followed from the old ones.
func TestHeadChangedByHand(t *testing.T) {
	for _, sql := range []string{
		"UPDATE ducklake_snapshot SET schema_version = 7 WHERE snapshot_id = %d",
		"INSERT INTO ducklake_snapshot VALUES (%[1]d + 1, NOW(), 0, 1, 0), (%[1]d + 2, NOW(), 0, 1, 0)",
	} {
		t.Run(sql, func(t *testing.T) {
			toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
				w.run("hand", fmt.Sprintf(sql, n))
				w.run("x", beginRR)
				w.run("x", headRead)
				w.run("y", beginRR)
				waits, result := w.blocked("y", headRead)
				if !waits() {
					t.Error("is told what follows from a row that is not there any more")
				}
				w.run("x", "ROLLBACK")
				if got := result(); strings.Contains(got, "ERROR") {
					t.Error(got)
				}
				got := w.run("y", newestRead)
				if want := w.run("judge", newestRead); strings.Fields(got)[1] != strings.Fields(want)[1] {
					t.Errorf("y reads %s, judge %s", got, want)
				}
			})
		})
	}
}

// TestForesightOff: without turns, pacing or foresight nobody is told.
func TestForesightOff(t *testing.T) {
	for _, o := range []store.TurnOptions{{Off: true}, {NoPacing: true}, {NoPromise: true}} {
		turnWorldWith(t, o, func(w *world) {
			w.run("setup", changesDDL)
			n := 0
			for range steadyTimes {
				for _, s := range []string{"x", "y"} {
					n++
					w.run(s, beginRR)
					w.run(s, headRead)
					w.run(s, change(n))
					w.run(s, "COMMIT")
				}
			}
			w.run("loser", beginRR)
			w.run("loser", headRead)
			n++
			w.run("winner", change(n))
			w.fails("loser", change(n))
			w.run("loser", "ROLLBACK")
			w.run("x", beginRR)
			w.run("x", headRead)
			w.run("y", beginRR)
			waits, result := w.blocked("y", headRead)
			if waits() != o.NoPromise {
				t.Errorf("%+v: waits: %v", o, !o.NoPromise)
			}
			w.run("x", "ROLLBACK")
			if got := result(); !strings.Contains(got, fmt.Sprintf("D %d|", n)) {
				t.Errorf("%+v: reads %s", o, got)
			}
		})
	}
}

// TestExtendedRollback: who was told and rolls back by Parse, Bind and Execute waits for nobody, either.
func TestExtendedRollback(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		ctx := context.Background()
		tell(t, w, "x", "y", n)
		y, start := w.session("y"), time.Now()
		if err := y.Parse(ctx, "", "ROLLBACK", nil); err != nil {
			t.Fatal(err)
		}
		if err := y.Bind(ctx, "", "", nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := y.Execute(ctx, "", 0, &transcript{sess: y}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 0 || y.TxStatus() != 'I' {
			t.Errorf("took %s, status %c", took, y.TxStatus())
		}
		w.run("x", "ROLLBACK")
		w.run("other", strings.Replace(change(n+1), "NOW(), 0", "NOW(), 1", 1))
	})
}

// TestTemporaryTableOfTheName: a temporary table of the same name is not what the head is read of.
func TestTemporaryTableOfTheName(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		w.run("y", "CREATE TEMP TABLE ducklake_snapshot (snapshot_id BIGINT PRIMARY KEY, i int); INSERT INTO ducklake_snapshot VALUES (77, 1)")
		tell(t, w, "x", "y", n)
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		if got := w.run("y", newestRead); !strings.Contains(got, "newest|77") {
			t.Errorf("reads %s", got)
		}
		if got := w.run("y", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) {
			t.Errorf("reads %s", got)
		}
	})
}

// TestToldStatementTimeout: statement_timeout ends the wait for what was promised, and the promise with the transaction.
func TestToldStatementTimeout(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		w.run("y", "SET statement_timeout = 20")
		tell(t, w, "x", "y", n)
		start := time.Now()
		if e := w.fails("y", newestRead); e.Code != "57014" {
			t.Error(e)
		}
		if took := time.Since(start); took != 20*time.Millisecond {
			t.Errorf("took %s", took)
		}
		w.run("x", "ROLLBACK")
		w.run("other", strings.Replace(change(n+1), "NOW(), 0", "NOW(), 1", 1))
		w.run("y", "ROLLBACK")
	})
}

// TestTimeoutOfPreparation: a prepared text waits for its turn, or for what was promised, no longer than statement_timeout.
func TestTimeoutOfPreparation(t *testing.T) {
	code := func(err error) string {
		var e *pgerr.Error
		if !errors.As(err, &e) {
			return fmt.Sprint(err)
		}
		return e.Code
	}
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		ctx := context.Background()
		y := w.session("y")
		w.run("y", "SET statement_timeout = 20")
		tell(t, w, "x", "y", n)
		if err := y.Parse(ctx, "", newestRead, nil); code(err) != "57014" {
			t.Error(err)
		}
		w.run("y", "ROLLBACK")
		if err := y.Parse(ctx, "again", newestRead, nil); err != nil {
			t.Fatal(err)
		}
		if err := y.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		w.run("y", beginRR)
		w.run("y", headRead)
		if err := y.Bind(ctx, "", "again", nil, nil, nil); code(err) != "57014" {
			t.Error(err)
		}
		w.run("y", "ROLLBACK")
		w.run("x", "ROLLBACK")
	})
}

// TestPromiseOfAnotherLake: promises of one lake are in no other's way, and each is kept in its own.
func TestPromiseOfAnotherLake(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		w.run("setup", "CREATE SCHEMA two; "+strings.ReplaceAll(snapshotDDL+";"+changesDDL, "ducklake_", "two.ducklake_"))
		tell(t, w, "x", "y", n)
		w.run("x", "ROLLBACK")
		time.Sleep(time.Second)
		w.run("other", "INSERT INTO two.ducklake_snapshot VALUES (1, NOW(), 5, 1, 0); INSERT INTO two.ducklake_snapshot_changes VALUES (1, 'inlined_insert:1')")
		if list := w.filled(); list != nil {
			t.Errorf("snapshots %v were added by the server", list)
		}
		if got := w.run("y", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
			t.Errorf("y was told %d and reads %s", n+1, got)
		}
	})
}

// TestRegularStrays: writers who do something else at every tenth time cost the lake few snapshots, not one of ten.
func TestRegularStrays(t *testing.T) {
	for _, stray := range []string{newestRead + "; COMMIT", "ROLLBACK"} {
		t.Run(stray, func(t *testing.T) {
			toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
				head := func(out string) (n int) {
					_, out, _ = strings.Cut(out, "D ")
					_, _ = fmt.Sscanf(out, "%d|", &n)
					return n
				}
				now, next := "x", "y"
				w.run(now, beginRR)
				at := head(w.run(now, headRead))
				for i := range 400 {
					w.run(next, beginRR)
					waits, result := w.blocked(next, headRead)
					waits()
					if i%20 == 8 || i%20 == 19 { // each session after nine commits
						w.run(now, stray)
					} else {
						w.run(now, change(at+1))
						w.run(now, "COMMIT")
					}
					at = head(result())
					now, next = next, now
				}
				w.run(now, "ROLLBACK")
				if list := w.filled(); len(list) == 0 || len(list) > 4 {
					t.Errorf("of %d snapshots %d were added by the server", at-n, len(list))
				}
			})
		})
	}
}

// TestToldCommitCancelled: a commit that is cancelled while it waits for what its transaction was told has not happened, and leaves nothing.
func TestToldCommitCancelled(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		tell(t, w, "x", "y", n)
		if got := w.interrupt("y", "COMMIT"); !strings.Contains(got, "57014") {
			t.Error(got)
		}
		if status := w.session("y").TxStatus(); status != 'I' {
			t.Errorf("status %c", status)
		}
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		w.run("y", beginRR)
		if got := w.run("y", headRead); !strings.Contains(got, fmt.Sprintf("D %d|", n+1)) {
			t.Errorf("reads %s", got)
		}
		w.run("y", change(n+2)+"; COMMIT")
	})
}
