package translate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// run runs a message and fails the test on an error.
func (w *world) run(name, sql string) string {
	w.t.Helper()
	out := w.simple(name, sql, nil, "")
	if strings.Contains(out, "ERROR") {
		w.t.Fatalf("%s: %s", sql, out)
	}
	return out
}

// fails runs a message and returns the error that ended it.
func (w *world) fails(name, sql string) *pgerr.Error {
	w.t.Helper()
	s := w.session(name)
	err := s.Simple(context.Background(), sql, &transcript{sess: s})
	if err == nil {
		w.t.Fatalf("%s: no error", sql)
	}
	return asPG(w.t, err)
}

// lookedFor are the words that make DuckLake retry a commit.
var lookedFor = []string{"primary key", "unique", "conflict", "concurrent"}

func hasRetryWord(e *pgerr.Error) bool {
	text := strings.ToLower(strings.Join([]string{e.Message, e.Detail, e.Hint, e.Where}, "\n"))
	for _, w := range lookedFor {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// TestRetryWords: terminal errors never have one of the words, whatever names and values
// they quote; retryable ones always have one.
func TestRetryWords(t *testing.T) {
	w := newWorld(t)
	w.run("a", `create table t (a int primary key, "unique" text check (length("unique") < 30))`)
	for _, sql := range []string{
		"select * from concurrent_conflict",
		"create table t (a int)",
		"create table x (a int primary key, b int primary key)",
		`select "CONFLICT" from t`,
		"select 'primary key'::int",
		`alter table t alter a drop not null`,
		`insert into t values (1, 'unique unique conflict concurrent primary key')`,
		"insert into t (a) values (null)",
		"insert into t values (2, 'x') on conflict (\"unique\") do nothing",
		"copy t to stdout (format csv, format csv)",
		"set nope.unique to 1; show conflict",
		"Select primary key",
		`drop schema "concurrent"`,
		"reset \"Unique\"",
		"create index concurrently i on t (nope)",
	} {
		s := w.session("a")
		err := s.Simple(context.Background(), sql, &transcript{sess: s})
		if err == nil {
			t.Errorf("%s: no error", sql)
			continue
		}
		if e := asPG(t, err); hasRetryWord(e) {
			t.Errorf("%s: %s / %s / %s", sql, e.Message, e.Detail, e.Hint)
		}
	}
	w.run("a", "insert into t values (1, 'x')")
	if e := w.fails("a", "insert into t values (1, 'y')"); e.Code != "23505" || !hasRetryWord(e) {
		t.Errorf("duplicate key: %v", e)
	}
}

// TestSnapshotRace is the commit race of two DuckLake clients: the second one's batch
// fails on the key of ducklake_snapshot although its snapshot cannot see the row.
func TestSnapshotRace(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table ducklake_snapshot (snapshot_id bigint primary key, note text); insert into ducklake_snapshot values (1, 'first')")
	const begin = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ"
	for _, late := range []bool{false, true} {
		for _, name := range []string{"a", "b"} {
			w.run(name, begin)
			w.run(name, "select max(snapshot_id) from ducklake_snapshot")
		}
		w.run("a", "insert into ducklake_snapshot values (2, 'a')")
		insert := "insert into ducklake_snapshot values (2, 'b')"
		if late {
			w.run("b", insert) // before the other has committed: COMMIT finds out
			w.run("a", "COMMIT")
			e := w.fails("b", "COMMIT")
			if e.Code != "23505" || !strings.Contains(e.Message, `unique constraint "ducklake_snapshot_pkey"`) ||
				e.Detail != "Key (snapshot_id)=(2) already exists." {
				t.Errorf("%v %s", e, e.Detail)
			}
			if st := w.session("b").TxStatus(); st != 'I' {
				t.Errorf("after a COMMIT that failed the status is %c", st)
			}
		} else {
			w.run("a", "COMMIT")
			e := w.fails("b", insert)
			if e.Code != "23505" || !hasRetryWord(e) {
				t.Errorf("%v", e)
			}
			if st := w.session("b").TxStatus(); st != 'E' {
				t.Errorf("status %c", st)
			}
			w.run("b", "ROLLBACK")
		}
		w.run("a", "delete from ducklake_snapshot where snapshot_id = 2")
	}
}

// TestConcurrentUpdate: first committer wins, and the loser's text says "concurrent".
func TestConcurrentUpdate(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int primary key, n int); insert into t values (1, 0)")
	w.run("a", "begin isolation level repeatable read; select * from t")
	w.run("b", "update t set n = n + 1 where a = 1")
	if e := w.fails("a", "update t set n = n + 1 where a = 1; commit"); e.Code != "40001" ||
		e.Message != "could not serialize access due to concurrent update" {
		t.Errorf("%v", e)
	}
	if e := w.fails("a", "commit"); e.Code != "25P02" || hasRetryWord(e) || !strings.Contains(e.Message, "rolled back") {
		t.Errorf("%v", e)
	}
	if st := w.session("a").TxStatus(); st != 'I' {
		t.Errorf("status %c", st)
	}
}

// TestReadCommittedRetries: single statements under READ COMMITTED do not fail because of
// each other.
func TestReadCommittedRetries(t *testing.T) {
	w := newWorld(t)
	w.run("setup", "create table t (a int primary key, n int); insert into t values (1, 0)")
	const workers, rounds = 4, 25
	var wg sync.WaitGroup
	failed := make([]int, workers)
	for i := range workers {
		s := w.session(fmt.Sprint("w", i))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range rounds {
				if err := s.Simple(context.Background(), "update t set n = n + 1 where a = 1", &transcript{sess: s}); err != nil {
					failed[i]++
				}
			}
		}()
	}
	wg.Wait()
	lost := 0
	for _, n := range failed {
		lost += n
	}
	out := w.run("setup", "select n from t")
	if want := fmt.Sprintf("D %d\n", workers*rounds-lost); !strings.Contains(out, want) {
		t.Fatalf("%d statements failed, table says %s", lost, out)
	}
	if lost > workers*rounds/2 {
		t.Errorf("%d of %d statements failed", lost, workers*rounds)
	}
}

func TestStatementTimeout(t *testing.T) {
	w := newWorld(t)
	w.run("a", "set statement_timeout = 1")
	e := w.fails("a", "select count(*) from generate_series(1, 100000000)")
	if e.Code != "57014" || e.Message != "canceling statement due to statement timeout" {
		t.Errorf("%v", e)
	}
	w.run("a", "set statement_timeout = 0; select 1")
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	s := w.session("a")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Simple(ctx, "select count(*) from generate_series(1, 100000000)", &transcript{sess: s})
	if e := pgerr.As(err); e == nil || e.Code != "57014" || e.Message != "canceling statement due to user request" {
		t.Errorf("%v", err)
	}
	w.run("a", "select 1")
}

// panicky is an Out that panics where rows are sent.
type panicky struct{ transcript }

func (*panicky) RowDescription([]exec.Column, []int16) error { panic("boom") }

func TestPanicIsAnError(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int)")
	w.run("a", "begin; insert into t values (1); savepoint x")
	s := w.session("a")
	err := s.Simple(context.Background(), "select a from t", &panicky{transcript{sess: s}})
	if e := pgerr.As(err); e == nil || e.Code != "XX000" {
		t.Fatalf("%v", err)
	}
	if s.TxStatus() != 'E' {
		t.Errorf("status %c", s.TxStatus())
	}
	if e := w.fails("a", "rollback to x"); e.Code != "3B001" {
		t.Errorf("%v", e)
	}
	w.run("a", "rollback; insert into t values (2)")
	if out := w.run("a", "select a from t"); !strings.Contains(out, "D 2\n") || strings.Contains(out, "D 1\n") {
		t.Error(out)
	}
}

// gone is an Out whose client has disconnected.
type gone struct{ transcript }

var errGone = errors.New("connection lost")

func (*gone) DataRow(exec.Row, []exec.Column, []int16) error { return errGone }

func TestClientGone(t *testing.T) {
	w := newWorld(t)
	s := w.session("a")
	err := s.Simple(context.Background(), "select 1 as x", &gone{transcript{sess: s}})
	if !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
	s.Close()
	s.Close()
}

// TestNotifications: delivered when the transaction commits, to listeners of the catalog only.
func TestNotifications(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create database other")
	if _, err := w.open("o", "other", nil); err != nil {
		t.Fatal(err)
	}
	w.run("a", "listen ch")
	w.run("o", "listen ch")
	w.run("b", "begin; listen ch; rollback; begin; notify ch, 'one'; notify ch, 'one'; notify ch, 'two'; notify dull")
	if n := len(w.notified["a"]); n != 0 {
		t.Fatalf("%d notifications before the commit", n)
	}
	w.run("b", "select pg_notify('ch', 'three')")
	w.run("b", "COMMIT")
	if got := strings.Join(w.notified["a"], " "); got != `A ch "one" A ch "two" A ch "three"` {
		t.Errorf("got %s", got)
	}
	if len(w.notified["b"])+len(w.notified["o"]) != 0 {
		t.Errorf("others got %v %v", w.notified["b"], w.notified["o"])
	}
	w.run("a", "DISCARD ALL")
	delete(w.notified, "a")
	w.run("b", "notify ch")
	if n := len(w.notified["a"]); n != 0 {
		t.Errorf("%d notifications after DISCARD ALL", n)
	}
}

// TestPlanCache: equal statements with other literals hit; changes of the catalog are seen.
func TestPlanCache(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int primary key, b text); insert into t values (1, 'x'), (2, 'y')")
	get := func(name, sql, want string) {
		t.Helper()
		if out := w.run(name, sql); !strings.Contains(out, want) {
			t.Fatalf("%s: want %q in\n%s", sql, want, out)
		}
	}
	get("a", "select b from t where a = 1", "D x\n")
	before := w.shared.PlanStats()
	get("a", "SELECT  b FROM t WHERE a=2;", "D y\n")
	get("b", "select b from t where a = 1", "D x\n")
	if s := w.shared.PlanStats(); s.Hits != before.Hits+2 {
		t.Errorf("hits %d -> %d", before.Hits, s.Hits)
	}
	get("a", "copy (select b from t where a = '1') to stdout", "d \"x\\n\"")
	get("a", "copy (select b from t where a = '2') to stdout", "d \"y\\n\"")
	// A literal that is part of the plan.
	get("a", "select b, a from t order by 1", "D x|1\nD y|2\n")
	get("a", "select b, a from t order by 2", "D x|1\nD y|2\n")
	get("a", "select a, b from t order by a desc limit 1", "D 2|y\nC SELECT 1")
	get("a", "select a, b from t order by a desc limit 2", "D 2|y\nD 1|x\n")
	// A transaction that changed the table itself, and one that still sees it as it was.
	w.run("c", "begin isolation level repeatable read; select b from t where a = 1")
	w.run("a", "alter table t rename b to c; alter table t add b text default 'new'")
	get("a", "select b from t where a = 1", "D new\n")
	get("c", "select b from t where a = 1", "D x\n")
	w.run("c", "rollback")
	get("c", "select b from t where a = 1", "D new\n")
	// Names that come to mean something else.
	w.run("a", "create temp table t (a int, b text); insert into t values (1, 'temp')")
	get("a", "select b from t where a = 1", "D temp\n")
	get("b", "select b from t where a = 1", "D new\n")
	w.run("b", "create schema s; create table s.t (a int, b text); insert into s.t values (1, 's'); set search_path = s, public")
	get("b", "select b from t where a = 1", "D s\n")
	get("c", "select b from t where a = 1", "D new\n")
	w.run("a", "drop table public.t")
	if e := w.fails("c", "select b from t where a = 1"); e.Code != "42P01" {
		t.Errorf("%v", e)
	}
	// The position of an error in a literal is that of the statement which ran.
	w.run("c", "create table n (a int); insert into n values ('1')")
	if e := w.fails("c", "insert  into n values ('zwei')"); e.Code != "22P02" || e.Position != 24 {
		t.Errorf("%v at %d", e, e.Position)
	}
}

// TestPlanCacheIsBounded: neither many statements nor many variants of one grow it.
// A text that is prepared again and again, only for its columns, is bound once.
func TestPreparedTextIsCached(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a bigint, b text)")
	s, ctx := w.session("a"), context.Background()
	for i := range 3 {
		before := w.shared.PlanStats()
		if err := s.Parse(ctx, "", "SELECT b, a FROM t WHERE a = (SELECT max(a) FROM t)", nil); err != nil {
			t.Fatal(err)
		}
		_, cols, err := s.DescribeStatement(ctx, "")
		if err != nil || len(cols) != 2 || cols[0].Name != "b" {
			t.Fatal(cols, err)
		}
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if got := w.shared.PlanStats().Hits - before.Hits; got != uint64(min(i, 1)) {
			t.Fatalf("round %d: %d hits", i, got)
		}
	}
}

func TestPlanCacheIsBounded(t *testing.T) {
	w := newWorld(t)
	w.shared = translate.NewShared(translate.SharedOptions{PlanCacheEntries: 10, Now: w.clock()})
	w.run("a", "create table t (a int)")
	for i := range 40 {
		w.run("a", fmt.Sprintf("select a as c%d from t", i))
		w.run("a", fmt.Sprintf("select a from t order by a limit %d", i))
	}
	if s := w.shared.PlanStats(); s.Entries > 10 || s.Evictions == 0 {
		t.Errorf("%+v", s)
	}
}

// TestAdvisoryLocks: exclusive between sessions, gone with the transaction or DISCARD ALL.
func TestAdvisoryLocks(t *testing.T) {
	w := newWorld(t)
	try := func(name string, want bool) {
		t.Helper()
		out := w.run(name, "select pg_try_advisory_lock(7) as got")
		if got := strings.Contains(out, "D t\n"); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	try("a", true)
	try("a", true)
	try("b", false)
	w.run("a", "select pg_advisory_unlock(7)")
	try("b", false)
	w.run("a", "DISCARD ALL")
	try("b", true)
	w.run("b", "select pg_advisory_unlock_all()")
	w.run("a", "begin; select pg_advisory_xact_lock(7)")
	try("b", false)
	w.run("a", "rollback")
	try("b", true)
	w.run("a", "set lock_timeout = 1")
	if e := w.fails("a", "select pg_advisory_lock(7)"); e.Code != "55P03" {
		t.Errorf("%v", e)
	}
}

// TestSnapshotExport: a transaction that imports a snapshot sees what the exporter saw.
func TestSnapshotExport(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int); insert into t values (1)")
	out := w.run("a", "begin isolation level repeatable read; select pg_export_snapshot() as id")
	id := between(out, "D ", "\n")
	w.run("c", "insert into t values (2)")
	out = w.run("b", "begin isolation level repeatable read; set transaction snapshot '"+id+"'; select count(*) from t")
	if !strings.Contains(out, "D 1\n") {
		t.Error(out)
	}
	w.run("a", "rollback")
	w.run("b", "rollback")
	if e := w.fails("b", "begin isolation level repeatable read; set transaction snapshot '"+id+"'"); e.Code != "22023" {
		t.Errorf("%v", e)
	}
	w.run("b", "rollback")
	if e := w.fails("b", "begin; set transaction snapshot 'x'"); e.Code != "0A000" {
		t.Errorf("%v", e)
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// TestActivity: what other sessions and pg_stat_activity can see.
func TestActivity(t *testing.T) {
	w := newWorld(t)
	w.run("a", "begin; select 1 as x")
	a := w.session("a").Activity()
	if a.State != "idle in transaction" || a.Query != "begin; select 1 as x" || a.XactStart.IsZero() || a.User != "eider" {
		t.Errorf("%+v", a)
	}
	w.run("b", "select 1 as y")
	if n := len(w.shared.Activities()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	w.session("a").Close()
	if n := len(w.shared.Activities()); n != 1 {
		t.Errorf("%d sessions", n)
	}
	for _, step := range []struct{ sql, state string }{ // what clients send around every transaction
		{"SELECT 1", "idle"},
		{"DISCARD ALL", "idle"},
		{"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", "idle in transaction"},
		{"ROLLBACK", "idle"},
		{"BEGIN", "idle in transaction"},
		{"COMMIT", "idle"},
	} {
		w.run("b", step.sql)
		if b := w.session("b").Activity(); b.Query != step.sql || b.State != step.state {
			t.Errorf("after %s: %s, %s", step.sql, b.State, b.Query)
		}
	}
	if in, idle := w.session("b").IdleTimeouts(); in != 0 || idle != 0 {
		t.Errorf("timeouts %v %v", in, idle)
	}
	w.run("b", "set idle_in_transaction_session_timeout = '1min'; set idle_session_timeout = 5")
	if in, idle := w.session("b").IdleTimeouts(); in != time.Minute || idle != 5*time.Millisecond {
		t.Errorf("timeouts %v %v", in, idle)
	}
}
