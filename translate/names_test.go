package translate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// background is a message that another session runs: its error when it is done, and
// whether it is.
type background struct {
	err  error // written before done
	done atomic.Bool
}

func (w *world) background(ctx context.Context, name, sql string) *background {
	s, b := w.session(name), &background{}
	go func() {
		b.err = s.Simple(ctx, sql, &transcript{sess: s})
		b.done.Store(true)
	}()
	synctest.Wait()
	return b
}

func (b *background) want(t *testing.T, code, text string) {
	t.Helper()
	synctest.Wait()
	if !b.done.Load() {
		t.Fatal("it still waits")
	}
	e := pgerr.As(b.err)
	switch {
	case code == "" && b.err != nil:
		t.Fatal(b.err)
	case code != "" && (e == nil || e.Code != code || !strings.Contains(e.Message+e.Detail, text)):
		t.Fatalf("%v, want %s %q", b.err, code, text)
	}
}

// The second to make a name waits for the first, and fails at its own statement.
func TestSameNameTwice(t *testing.T) {
	for _, c := range []struct{ first, second, unique string }{
		{"create table x (a int)", "create table x (b int)", "pg_class_relname_nsp_index"},
		{"create table x (a int)", "create table if not exists x (b int)", "pg_class_relname_nsp_index"},
		{"create table x as select 1", "create view x as select 1", "pg_class_relname_nsp_index"},
		{"create schema x", "create schema if not exists x", "pg_namespace_nspname_index"},
	} {
		for _, end := range []string{"commit", "rollback"} {
			t.Run(c.second+" after "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, ctx := newWorld(t), t.Context()
					w.run("a", "begin isolation level repeatable read; "+c.first)
					w.run("b", "begin isolation level repeatable read; select 1")
					b := w.background(ctx, "b", c.second)
					if b.done.Load() {
						t.Fatalf("it did not wait: %v", b.err)
					}
					w.run("c", "create table other (a int); create schema y") // other names are free
					w.run("a", end)
					if end == "rollback" {
						b.want(t, "", "")
						w.run("b", "commit")
						return
					}
					b.want(t, "23505", c.unique)
					w.run("b", "rollback")
					w.run("b", "create table if not exists x (b int); create schema if not exists x")
				})
			})
		}
	}
}

func TestSameNameWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run("a", "begin; create table x (a int)")
		ctx, cancel := context.WithCancel(t.Context())
		b := w.background(ctx, "b", "create table x (a int)")
		cancel()
		b.want(t, "57014", "canceling statement")
		// A transaction that failed holds nothing, even before its ROLLBACK.
		w.fails("a", "select 1/0")
		w.run("b", "create table x (a int)")
		w.run("a", "rollback")
		// A session that goes away.
		w.run("a", "begin; create table y (a int)")
		c := w.background(t.Context(), "c", "create table y (a int)")
		w.session("a").Close()
		delete(w.sessions, "a")
		c.want(t, "", "")
		// lock_timeout
		w.run("d", "begin; create table z (a int)")
		w.run("e", "set lock_timeout = '5s'")
		e := w.background(t.Context(), "e", "create table z (a int)")
		if e.done.Load() {
			t.Fatal("it did not wait")
		}
		select {
		case <-t.Context().Done():
		case <-time.After(6 * time.Second):
		}
		e.want(t, "55P03", "lock timeout")
		w.run("d", "rollback")
	})
}

func TestSameNamesCrossed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run("a", "begin; create table x (a int)")
		w.run("b", "begin; create table y (a int)")
		a := w.background(t.Context(), "a", "create table y (a int)")
		if a.done.Load() {
			t.Fatal("it did not wait")
		}
		b := w.background(t.Context(), "b", "create table x (a int)")
		b.want(t, "40P01", "conflict")
		a.want(t, "", "")
		w.run("a", "commit")
		w.run("b", "rollback; create table if not exists x (a int)")
	})
}

// Commits of one lake race for its snapshot, not for the names of the tables they make.
func TestNamesOfRacingCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.run("a", "create table ducklake_snapshot (snapshot_id bigint primary key)")
		for _, s := range []string{"a", "b"} {
			w.run(s, "begin isolation level repeatable read; insert into ducklake_snapshot values (1)")
			b := w.background(t.Context(), s, "create table if not exists ducklake_inlined_data_1_1 (row_id bigint)")
			b.want(t, "", "")
		}
		w.run("b", "commit")
		if e := w.fails("a", "commit"); e.Code != "23505" || !strings.Contains(e.Message, "ducklake_snapshot_pkey") {
			t.Fatal(e)
		}
	})
}

// TestUserOfTheServersSchema: the schema of the server's own tables is not that of the user of its name.
func TestUserOfTheServersSchema(t *testing.T) {
	w := newWorld(t)
	w.run("a", "CREATE SCHEMA eider; CREATE TABLE t (i int)")
	if got := w.run("a", "SELECT current_user, current_schema(), schemaname FROM pg_tables WHERE tablename = 't'"); !strings.Contains(got, "D eider|public|public") {
		t.Errorf("%s", got)
	}
	if got := w.run("a", "SET search_path = eider; SELECT current_schema()"); !strings.Contains(got, "D eider") {
		t.Errorf("named, it counts: %s", got)
	}
}
