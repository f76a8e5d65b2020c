package translate_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// expect runs a message and wants a text in its answer.
func (w *world) expect(name, sql, want string) {
	w.t.Helper()
	if got := w.simple(name, sql, nil, ""); !strings.Contains(got, want) {
		w.t.Errorf("%s: %s\nwant %q in it", sql, got, want)
	}
}

// TestAlterRace: what ALTER TABLE derives from all rows must hold for a row that another
// session commits first, or the ALTER must not commit. No row may be lost either.
func TestAlterRace(t *testing.T) {
	for _, tc := range []struct{ rows, alter string }{
		{"(1, 1)", "alter a type text"},
		{"(1, 1)", "add c float8 default random()"},
		{"(1, 1)", "alter b set not null"},
		{"(1, 1)", "add check (a > 0)"},
		{"(1, 1)", "add primary key (b)"},
		{"(1, 1)", "add unique (a)"},
		{"", "add c int not null"},
	} {
		w := newWorld(t)
		w.run("a", "create table t (a int, b int)")
		want := 1
		if tc.rows != "" {
			w.run("a", "insert into t values "+tc.rows)
			want++
		}
		w.run("a", "begin; alter table t "+tc.alter)
		w.run("b", "insert into t values (-1, null)")
		if e := w.fails("a", "commit"); e.Code != "40001" {
			t.Errorf("%s: %v", tc.alter, e)
		}
		w.expect("b", "select count(*) from t", fmt.Sprintf("D %d", want))
	}
}

// TestSavepointKeepsSnapshot: a snapshot taken after a savepoint outlives ROLLBACK TO.
func TestSavepointKeepsSnapshot(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int)")
	w.run("a", "begin isolation level repeatable read; savepoint s")
	w.expect("a", "select count(*) from t", "D 0")
	w.run("a", "rollback to s")
	w.run("b", "insert into t values (1)")
	w.expect("a", "select count(*) from t", "D 0")
	w.expect("a", "set transaction isolation level read committed", "25001")
}

// TestHoldWithoutScroll: a NO SCROLL cursor that outlives its transaction has all its rows.
func TestHoldWithoutScroll(t *testing.T) {
	w := newWorld(t)
	for _, scroll := range []string{"no scroll", "scroll", ""} {
		w.run("a", "begin; declare c "+scroll+" cursor with hold for select * from generate_series(1,3) g")
		w.expect("a", "fetch 1 from c", "D 1")
		w.run("a", "commit")
		w.expect("a", "fetch all from c", "D 2\nD 3")
		w.expect("a", "fetch all from c", "FETCH 0")
		if scroll == "no scroll" {
			w.expect("a", "fetch backward 1 from c", "55000")
		} else {
			w.expect("a", "fetch backward 1 from c", "D 3")
		}
		w.simple("a", "close c", nil, "")
	}
}

// TestCursorStandsStill: a cursor shows what was there when it was opened, in scans that
// start later too, whatever this transaction and others do.
func TestCursorStandsStill(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int); create table u (a int); insert into t values (1),(2),(3),(4); insert into u values (10)")
	w.run("a", "begin; declare c cursor for select a, (select max(u.a) + t.a - t.a from u) from t")
	w.expect("a", "fetch 1 from c", "D 1|10")
	w.run("b", "update u set a = 20")
	w.expect("a", "select * from u", "D 20")
	w.expect("a", "fetch 1 from c", "D 2|10")
	w.run("a", "update u set a = 30; savepoint s; truncate u; drop table t")
	w.expect("a", "fetch 1 from c", "D 3|10")
	w.run("a", "rollback to s")
	w.expect("a", "fetch 1 from c", "D 4|10")
	w.run("a", "commit")
	w.expect("a", "select * from u", "D 30")
}

// TestQueriesDoNotWrite: what may be read at any time, or more than once, must not write.
func TestQueriesDoNotWrite(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int)")
	const query = "with x as (insert into t values (1) returning a) select * from x"
	w.expect("a", "create view v as "+query, "ERROR 0A000: views must not contain data-modifying statements in WITH")
	w.expect("a", "begin; declare c cursor for "+query, "ERROR 0A000: DECLARE CURSOR must not contain data-modifying statements in WITH")
	w.expect("a", "rollback; "+query, "D 1")
}

// TestPlanFollowsNames: a cached plan is not used when a name in it, or a setting, stands
// for something else.
func TestPlanFollowsNames(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int)")
	for range 3 {
		first := w.run("a", "select 't'::regclass::oid")
		w.run("a", "drop table t; create table t (a int)")
		if again := w.run("a", "select 't'::regclass::oid"); again == first {
			t.Errorf("stale oid: %s", again)
		}
	}
	for _, q := range []string{
		"select '2020-01-01 00:00:00+00'::timestamptz::text", "select '01/02/2020'::date::text",
		"select timestamptz '2020-01-01 00:00' at time zone 'utc'",
	} {
		for range 2 {
			w.run("a", "set timezone='UTC'; set datestyle='ISO, MDY'")
			x := w.run("a", q)
			w.run("a", "set timezone='Asia/Tokyo'; set datestyle='ISO, DMY'")
			if y := w.run("a", q); x == y {
				t.Errorf("%s: %s", q, x)
			}
		}
	}
	w.run("a", "create schema second; set search_path = first, second, public")
	w.expect("a", "select * from t", "T a:23")
	w.run("a", "create table second.t (y int)")
	w.expect("a", "select * from t", "T y:23")
	w.run("a", "create schema first; create table first.t (z int)")
	w.expect("a", "select * from t", "T z:23")
	w.run("a", "create temp table t (w int)")
	w.expect("a", "select * from t", "T w:23")
	w.run("a", "begin; drop table t")
	w.expect("a", "select * from t", "T z:23")
	w.run("a", "rollback")
	w.expect("a", "select * from t", "T w:23")
}

// TestPlanVariants: of the plans of one text that differ in context, the oldest gives way.
func TestPlanVariants(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int)")
	in := func(digits int) (hits uint64) {
		w.run("a", fmt.Sprintf("set extra_float_digits = %d", digits))
		before := w.shared.PlanStats().Hits
		w.run("a", "select a from t")
		return w.shared.PlanStats().Hits - before
	}
	for digits := -15; digits <= 3; digits++ {
		in(digits)
	}
	for digits := -1; digits <= 3; digits++ {
		if in(digits) != 1 {
			t.Errorf("no plan for digits %d", digits)
		}
	}
}

// TestPreparedResultChanges: a column's name is part of a prepared statement's result.
func TestPreparedResultChanges(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a varchar(3))")
	w.run("a", "prepare p as select * from t; execute p")
	w.run("a", "alter table t rename a to b")
	w.expect("a", "execute p", "cached plan must not change result type")
	w.run("a", "alter table t rename b to a; alter table t alter a type varchar(4)")
	w.expect("a", "execute p", "cached plan must not change result type")
	w.run("a", "alter table t alter a type varchar(3)")
	w.run("a", "execute p")
}

// TestCopyFailAfterMarker: the end marker ends the rows, but only CopyDone ends the COPY.
func TestCopyFailAfterMarker(t *testing.T) {
	w := newWorld(t)
	w.run("a", "create table t (a int)")
	if got := w.simple("a", "copy t from stdin", [][]byte{[]byte("1\n\\.\n"), []byte("2\n")}, "no"); !strings.Contains(got, "57014") {
		t.Error(got)
	}
	w.expect("a", "select count(*) from t", "D 0")
	w.expect("a", "copy t from stdin", "COPY 0")
	if got := w.simple("a", "copy t from stdin; select 7", [][]byte{[]byte("1\n\\.\n"), []byte("2\n")}, ""); !strings.Contains(got, "COPY 1\nT ?column?:23\nD 7") {
		t.Error(got)
	}
}

// TestCopyRowLimit: a row of COPY data that spans messages takes no more memory than a
// statement may.
func TestCopyRowLimit(t *testing.T) {
	w := newWorld(t)
	w.limits.StatementMemory = 1 << 20
	w.run("a", "create table t (a text)")
	var lines [][]byte
	for range 40 {
		lines = append(lines, bytes.Repeat([]byte("x"), 32<<10))
	}
	header := []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	tuple := append(header, 0, 1, 0x40, 0, 0, 0, 'x') // a field of a gigabyte
	for sql, data := range map[string][][]byte{
		"copy t from stdin": lines, "copy t from stdin (format csv)": lines, "copy t from stdin (format binary)": {tuple},
	} {
		if got := w.simple("a", sql, data, ""); !strings.Contains(got, "ERROR 54000: a row of COPY data takes more than") {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// syncs notes which commits were synced.
type syncs struct{ last bool }

func (o *syncs) CommitGroup(_ string, _, _, _ int, synced bool, _ time.Duration) { o.last = synced }
func (o *syncs) Conflict(string, string)                                         {}

// TestSyncAtCommit: synchronous_commit counts as it is when the transaction commits.
func TestSyncAtCommit(t *testing.T) {
	w := newWorld(t)
	o := new(syncs)
	st, err := store.Open(context.Background(), memkv.New(), store.Options{Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.CreateCatalog(context.Background(), "lake"); err != nil {
		t.Fatal(err)
	}
	w.store = st
	w.run("a", "create table t (a int)")
	for _, tc := range []struct {
		sql  string
		want bool
	}{
		{"begin; insert into t values (1); commit", true},
		{"begin; insert into t values (1); set local synchronous_commit = off; commit", false},
		{"set synchronous_commit = off", false},
		{"insert into t values (1)", false},
		{"begin; insert into t values (1); set local synchronous_commit = on; commit", true},
		{"begin; insert into t values (1); savepoint s; set local synchronous_commit = on; rollback to s; commit", false},
	} {
		o.last = tc.want
		if !strings.HasPrefix(tc.sql, "set ") {
			o.last = !tc.want
		}
		w.run("a", tc.sql)
		if o.last != tc.want {
			t.Errorf("%s: synced %v", tc.sql, o.last)
		}
	}
}
