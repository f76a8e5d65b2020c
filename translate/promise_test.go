package translate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv/store"
)

const (
	changesDDL  = `CREATE TABLE ducklake_snapshot_changes(snapshot_id BIGINT PRIMARY KEY, changes_made VARCHAR, author VARCHAR, commit_message VARCHAR, commit_extra_info VARCHAR)`
	allChanges  = "SELECT s.snapshot_id, c.changes_made FROM ducklake_snapshot s JOIN ducklake_snapshot_changes c ON c.snapshot_id = s.snapshot_id WHERE s.snapshot_id > 0 ORDER BY 1"
	newestRead  = "SELECT 'newest', max(snapshot_id) FROM ducklake_snapshot"
	steadyTimes = 9
)

func change(n int) string {
	return batch(n) + fmt.Sprintf("INSERT INTO ducklake_snapshot_changes VALUES (%d, 'inlined_insert:1')", n)
}

// toldWorld is a world with a storm, in which the sessions of the given names are writers of whom everybody knows what they add to the head. f gets
// the newest snapshot.
func toldWorld(t *testing.T, steady []string, f func(w *world, head int)) {
	turnWorldWith(t, store.TurnOptions{}, func(w *world) {
		w.run("setup", changesDDL)
		n := 0
		for range steadyTimes {
			for _, s := range steady {
				n++
				w.run(s, beginRR)
				w.run(s, headRead)
				w.run(s, change(n))
				w.run(s, "COMMIT")
			}
		}
		n++
		w.from("loser", "192.0.2.9:1")
		w.run("loser", beginRR)
		w.run("loser", headRead)
		w.run("winner", change(n))
		w.fails("loser", change(n))
		w.run("loser", "ROLLBACK")
		f(w, n)
	})
}

// tell lets x begin, and y after it, who is told what x will leave.
func tell(t *testing.T, w *world, x, y string, head int) {
	t.Helper()
	w.run(x, beginRR)
	w.run(x, headRead)
	w.run(y, beginRR)
	if got, want := w.run(y, headRead), fmt.Sprintf("D %d|", head+1); !strings.Contains(got, want) {
		t.Fatalf("y was told %s, want %s", got, want)
	}
}

func (w *world) filled() (list []string) {
	for _, line := range strings.Split(w.run("judge", allChanges), "\n") {
		if n, ok := strings.CutPrefix(line, "D "); ok && !strings.Contains(n, "inlined_insert") {
			list = append(list, strings.TrimSuffix(n, "|NULL"))
		}
	}
	return list
}

// TestTold: the heir of a lease learns the head while its holder is at work, and reads on when that has committed.
func TestTold(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		tell(t, w, "x", "y", n)
		w.run("y", headRead) // once more, as with a prepared text
		waits, result := w.blocked("y", newestRead)
		if !waits() {
			t.Fatal("the next statement does not wait")
		}
		w.run("x", change(n+1))
		if !waits() {
			t.Fatal("the next statement does not wait for the commit")
		}
		w.run("x", "COMMIT")
		if got := result(); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
			t.Errorf("after the holder's commit: %s", got)
		}
		w.run("y", change(n+2))
		w.run("y", "COMMIT")
		if list := w.filled(); list != nil {
			t.Errorf("snapshots %v were added by the server", list)
		}
	})
}

// TestToldReadsOneState: who was told a head reads the state that its commit has left, even if others have committed since.
func TestToldReadsOneState(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		tell(t, w, "x", "y", n)
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		w.run("other", change(n+2))
		if got := w.run("y", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
			t.Errorf("reads %s, was told %d", got, n+1)
		}
		w.fails("y", change(n+2))
	})
}

// TestPriorEnds: whatever becomes of the holder, what the heir was told comes true.
func TestPriorEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(w *world, n int)
		filled bool
		waits  time.Duration
	}{
		{"commit", func(w *world, n int) { w.run("x", change(n+1)); w.run("x", "COMMIT") }, false, 0},
		{"rollback", func(w *world, _ int) { w.run("x", "ROLLBACK") }, true, 0},
		{"nothing written", func(w *world, _ int) { w.run("x", "COMMIT") }, true, 0},
		{"error", func(w *world, _ int) { w.fails("x", "SELECT 1/0") }, true, 0},
		{"disconnect", func(w *world, _ int) { w.session("x").Close() }, true, 0},
		{"another step", func(w *world, n int) {
			w.run("x", strings.Replace(change(n+1), "NOW(), 0", "NOW(), 1", 1))
			w.fails("x", "COMMIT")
		}, true, 0},
		{"idle", func(*world, int) {}, true, store.DefaultTurnBound / 2},
		{"another writer, same step", func(w *world, n int) {
			w.run("x", "ROLLBACK")
			w.run("other", change(n+1))
		}, false, 0},
		{"another writer, another step", func(w *world, n int) {
			w.run("x", "ROLLBACK")
			time.Sleep(time.Second) // the heir's lease is over, too
			w.fails("other", strings.Replace(change(n+1), "NOW(), 0", "NOW(), 1", 1))
		}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
				tell(t, w, "x", "y", n)
				c.end(w, n)
				start := time.Now()
				if got := w.run("y", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
					t.Errorf("reads %s, was told %d", got, n+1)
				}
				if took := time.Since(start); took < c.waits || took > c.waits+store.DefaultTurnLease {
					t.Errorf("waited %s, want about %s", took, c.waits)
				}
				if got := len(w.filled()) > 0; got != c.filled {
					t.Errorf("the server added %v", w.filled())
				}
				w.run("y", change(n+2))
				w.run("y", "COMMIT")
				if c.name == "idle" {
					w.fails("x", change(n+1))
				}
			})
		})
	}
}

// TestOverrunHolderKeeps: a holder whose bound has passed may still keep the promise.
func TestOverrunHolderKeeps(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		tell(t, w, "x", "y", n)
		waits, result := w.blocked("y", newestRead)
		time.Sleep(60 * time.Millisecond) // more than the lease's bound
		if !waits() {
			t.Fatal("does not wait for who is late")
		}
		w.run("x", change(n+1))
		w.run("x", "COMMIT")
		if got := result(); !strings.Contains(got, fmt.Sprintf("newest|%d", n+1)) {
			t.Errorf("reads %s", got)
		}
		if list := w.filled(); list != nil {
			t.Errorf("snapshots %v were added by the server", list)
		}
	})
}

// TestHeirGoes: an heir that asks no more leaves nothing behind.
func TestHeirGoes(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"rollback":   func(w *world) { w.run("y", "ROLLBACK") },
		"disconnect": func(w *world) { w.session("y").Close() },
		"idle":       func(*world) { time.Sleep(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
				tell(t, w, "x", "y", n)
				end(w)
				w.run("x", "ROLLBACK")
				w.run("other", change(n+1))
				if list := w.filled(); list != nil {
					t.Errorf("snapshots %v were added by the server", list)
				}
			})
		})
	}
}

// TestRetryBesidePromise: a retry that meets a promise which nobody keeps adds the snapshot, and commits the one after it.
func TestRetryBesidePromise(t *testing.T) {
	toldWorld(t, []string{"x", "y"}, func(w *world, n int) {
		w.from("r", "192.0.2.7:1")
		w.run("r", beginRR)
		w.run("r", headRead)
		w.run("winner", change(n+1))
		w.fails("r", change(n+1))
		w.run("r", "ROLLBACK")
		tell(t, w, "x", "y", n+1)
		w.run("x", "ROLLBACK")
		time.Sleep(time.Second) // y has gone to sleep
		w.run("r", beginRR)
		if got, want := w.run("r", headRead), fmt.Sprintf("D %d|", n+2); !strings.Contains(got, want) {
			t.Errorf("the retry reads %s, want %s", got, want)
		}
		w.run("r", strings.Replace(change(n+3), "NOW(), 0", "NOW(), 1", 1))
		w.run("r", "COMMIT")
		if got := w.run("y", newestRead); !strings.Contains(got, fmt.Sprintf("newest|%d", n+2)) {
			t.Errorf("reads %s, was told %d", got, n+2)
		}
	})
}

// TestNobodyIsTold: who could not be answered right, or whose holder is not known well enough, waits.
func TestNobodyIsTold(t *testing.T) {
	long := strings.Replace(headRead, "next_file_id", "next_file_id, snapshot_time", 1)
	for _, c := range []struct {
		name   string
		before func(w *world)
		read   string
		told   bool
	}{
		{"as it should be", func(*world) {}, headRead, true},
		{"other columns", func(*world) {}, long, false},
		{"a second table", func(*world) {}, strings.Replace(headRead, ".ducklake_snapshot WHERE", ".ducklake_snapshot, ducklake_table_stats WHERE", 1), false},
		{"read only", func(w *world) { w.run("y", "SET TRANSACTION READ ONLY") }, headRead, false},
		{"the holder is read only", func(w *world) { w.run("x", "SET default_transaction_read_only = on") }, headRead, false},
		{"the holder has read before", func(w *world) {
			w.run("x", beginRR)
			w.run("x", headRead)
			w.run("x", "ROLLBACK")
		}, headRead, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			toldWorld(t, []string{"x", "y"}, func(w *world, _ int) {
				w.run("y", beginRR)
				c.before(w)
				w.run("x", beginRR)
				w.run("x", headRead)
				waits, result := w.blocked("y", c.read)
				if waits() == c.told {
					t.Errorf("the head read waits: %v", !c.told)
				}
				w.run("x", "ROLLBACK")
				result()
			})
		})
	}
}

// TestHeadsComeTrue: many sessions, some of which go astray. Whatever a session was told about the newest snapshot is so when it reads on, no snapshot
// is missing, and no commit needs more than two attempts but of those who idle.
func TestHeadsComeTrue(t *testing.T) {
	filled := 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			turnWorldWith(t, store.TurnOptions{}, func(w *world) {
				w.run("setup", changesDDL)
				names := make([]string, 2+int(seed%7))
				for i := range names {
					names[i] = fmt.Sprintf("s%d", i)
					w.from(names[i], fmt.Sprintf("192.0.2.%d:1", i+1))
				}
				var wg sync.WaitGroup
				for i, name := range names {
					p := &player{w: w, t: t, name: name, r: rand.New(rand.NewPCG(seed, uint64(i))), strays: i == 0 || seed%3 == 0}
					wg.Go(p.play)
				}
				wg.Wait()
				filled += len(w.filled())
				seen := 0
				for _, line := range strings.Split(w.run("judge", allChanges), "\n") {
					if n, ok := strings.CutPrefix(line, "D "); ok {
						if seen++; !strings.HasPrefix(n, fmt.Sprint(seen)) {
							t.Fatalf("seed %d: snapshot %s where %d was expected", seed, n, seen)
						}
					}
				}
				if seen < len(names)*20 {
					t.Errorf("seed %d: %d snapshots only", seed, seen)
				}
			})
		})
	}
	if filled == 0 {
		t.Error("no promise had to be filled")
	}
}

// player is a session that commits and goes astray now and then.
type player struct {
	w      *world
	t      *testing.T
	name   string
	r      *rand.Rand
	strays bool
}

func (p *player) think(d time.Duration) { time.Sleep(time.Duration(p.r.Int64N(int64(d)))) }

func (p *player) play() {
	for range 60 {
		p.think(3 * time.Millisecond)
		idled := false
		for attempt := 1; ; attempt++ {
			idle, lost := p.try()
			idled = idled || idle
			if !lost {
				break
			}
			if attempt >= 2 && !idled {
				p.t.Errorf("%s: a commit lost %d times", p.name, attempt)
			}
			p.think(100 * time.Millisecond)
		}
	}
}

// try begins a transaction and ends it in some way.
func (p *player) try() (idled, lost bool) {
	run := func(sql string) (out string, lost bool) {
		out = p.w.simple(p.name, sql, nil, "")
		lost = strings.Contains(out, "ERROR 23505") || strings.Contains(out, "ERROR 40001")
		if strings.Contains(out, "ERROR") && !lost {
			p.t.Errorf("%s: %s: %s", p.name, sql, out)
		}
		if lost {
			p.w.simple(p.name, "ROLLBACK", nil, "")
		}
		return out, lost
	}
	run(beginRR)
	out, lost := run(headRead)
	told, schema := 0, 0
	for _, line := range strings.Split(out, "\n") {
		if n, ok := strings.CutPrefix(line, "D "); ok {
			_, _ = fmt.Sscanf(n, "%d|%d", &told, &schema)
		}
	}
	if lost || told == 0 && !strings.Contains(out, "D 0|") {
		p.t.Errorf("%s: reading the head: %s", p.name, out)
		return false, false
	}
	as := func(schema int) string {
		return strings.Replace(change(told+1), "NOW(), 0", fmt.Sprintf("NOW(), %d", schema), 1)
	}
	add := as(schema)
	if p.strays {
		switch p.r.IntN(40) {
		case 0:
			run("ROLLBACK")
			return false, false
		case 1:
			run("COMMIT")
			return false, false
		case 2:
			time.Sleep(300 * time.Millisecond)
			idled = true
		case 3:
			add = as(schema + 1)
		}
	}
	p.think(2 * time.Millisecond)
	if p.r.IntN(2) == 0 {
		if out, lost := run(newestRead); lost || !strings.Contains(out, fmt.Sprintf("newest|%d\n", told)) {
			p.t.Errorf("%s: was told %d and reads %s", p.name, told, out)
			return idled, lost
		}
	}
	p.think(2 * time.Millisecond)
	if _, lost := run(add); lost {
		return idled, true
	}
	p.think(time.Millisecond)
	_, lost = run("COMMIT")
	return idled, lost
}
