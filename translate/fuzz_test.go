package translate_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/translate"
)

// soup is what random messages are made of.
var soup = []string{
	"begin", "commit", "rollback", "savepoint a", "savepoint b", "rollback to a", "rollback to b", "release a",
	"begin isolation level repeatable read", "begin read only", "commit and chain", "rollback and chain", "start transaction",
	"select 1", "select 1/0", "select * from t", "select count(*) from t", "select a, b from t order by a limit 3",
	"insert into t values (1, 'x')", "insert into t values (2, 'y') on conflict do nothing", "insert into t (b) values ('z')",
	"update t set b = b || '!' where a = 1", "delete from t where a = 2", "delete from t", "insert into t select a + 10, b from t",
	"create table t (a int primary key, b text)", "drop table t", "drop table if exists t", "create table if not exists t (a int primary key, b text)",
	"alter table t add column c int default 5", "alter table t drop column c", "alter table t rename to t9", "alter table t9 rename to t",
	"alter table t alter b type varchar(10)", "create index on t (b)", "truncate t", "create view v as select a from t", "drop view v", "select * from v",
	"create temp table tt (x int) on commit drop", "insert into tt values (1)", "select * from tt", "create temp table tk (x int)", "discard temp",
	"create schema s", "drop schema s cascade", "create table s.u (a int)", "set search_path to s, public", "reset search_path",
	"set work_mem = '2MB'", "set local work_mem = '3MB'", "show work_mem", "set nope = 1", "reset all", "show all",
	"prepare p as select a from t where a = $1", "execute p(1)", "execute p", "deallocate p", "deallocate all",
	"declare c cursor for select a from t", "declare h cursor with hold for select a from t", "fetch 2 from c", "fetch all from h", "move backward 1 in c", "close c", "close all",
	"copy t to stdout", "copy (select 1) to stdout (format binary)", "copy t from stdin", "copy t (a) from stdin csv",
	"listen x", "notify x, 'p'", "unlisten *", "discard all", "vacuum", "explain select * from t", "lock table t",
	"set transaction isolation level serializable", "set transaction read only", "set session characteristics as transaction isolation level repeatable read",
	"", " ", "nonsense", "select", "select (", "'", "comment on table t is 'c'", "select pg_export_snapshot()", "select set_config('my.x', 'y', true)",
	"select pg_try_advisory_lock(1)", "select pg_advisory_unlock_all()", "with x as (delete from t returning a) select * from x",
}

// checkStatus compares the status byte with what the session does next: a session that
// says it is idle accepts statements, one in a failed block refuses them, and ROLLBACK
// leads out of everything.
func checkStatus(t interface {
	Fatalf(string, ...any)
}, s *translate.Session,
) {
	ctx := context.Background()
	probe := func() error { return s.Simple(ctx, "show server_version_num", &transcript{sess: s}) }
	switch st := s.TxStatus(); st {
	case 'I', 'T':
		if err := probe(); err != nil {
			t.Fatalf("status %c, but a statement answers %v", st, err)
		}
	case 'E':
		if err := probe(); err == nil {
			t.Fatalf("a failed block ran a statement")
		}
	default:
		t.Fatalf("status %q", st)
	}
	before := s.TxStatus()
	if before == 'I' {
		return
	}
	if err := s.Simple(ctx, "rollback", &transcript{sess: s}); err != nil || s.TxStatus() != 'I' {
		t.Fatalf("rollback from %c: %v, status %c", before, err, s.TxStatus())
	}
}

// TestSoup runs random messages: nothing panics, every error has a SQLSTATE and the
// transaction status is what it says.
func TestSoup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		names := []string{"a", "b"}
		// Both sessions are in this goroutine: one must not wait for the other's names for ever.
		for _, name := range names {
			if _, err := w.open(name, "lake", map[string]string{"lock_timeout": "5ms"}); err != nil {
				t.Fatal(err)
			}
		}
		n := rapid.IntRange(1, 25).Draw(rt, "messages")
		for range n {
			name := rapid.SampledFrom(names).Draw(rt, "session")
			parts := rapid.SliceOfN(rapid.SampledFrom(soup), 1, 4).Draw(rt, "statements")
			s := w.session(name)
			o := &transcript{sess: s, copyIn: [][]byte{[]byte("5\tq\n")}}
			err := s.Simple(context.Background(), strings.Join(parts, ";"), o)
			if err != nil {
				if e := asPG(t, err); e.Code == "XX000" {
					rt.Fatalf("%q: %v %s", parts, err, e.Detail)
				}
			}
		}
		for _, name := range names {
			checkStatus(rt, w.session(name))
		}
	})
}

// FuzzSimple feeds mutated text to a session with a table in it.
func FuzzSimple(f *testing.F) {
	for _, s := range soup {
		f.Add(s)
	}
	f.Add("begin; insert into t values (1, 'x'); savepoint a; select 1/0; rollback to a; commit")
	f.Add("copy t from stdin with (format csv, null 'x', header match)")
	f.Add("fetch absolute -1 from c; fetch backward all from c")
	f.Fuzz(func(t *testing.T, sql string) {
		w := newWorld(t)
		s := w.session("a")
		setup := "create table t (a int primary key, b text); insert into t values (1, 'x'), (3, 'z')"
		if err := s.Simple(context.Background(), setup, &transcript{sess: s}); err != nil {
			t.Fatal(err)
		}
		o := &transcript{sess: s, copyIn: [][]byte{[]byte("5\t"), []byte("q\n")}}
		if err := s.Simple(context.Background(), sql, o); err != nil {
			if e := asPG(t, err); e.Code == "XX000" {
				t.Fatalf("%q: %v", sql, err)
			}
		}
		checkStatus(t, s)
	})
}

// FuzzCopyText feeds bytes to COPY FROM in all formats, cut into messages anywhere: where
// the cuts are makes no difference to the result.
func FuzzCopyText(f *testing.F) {
	f.Add([]byte("1\tx\n2\t\\N\n\\.\n"), uint64(1), uint8(0))
	f.Add([]byte("1,\"a\nb\"\n2,\n"), uint64(2), uint8(1))
	f.Add([]byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff"), uint64(3), uint8(2))
	f.Add([]byte("1\tx\r\n2\ty\r\n"), uint64(4), uint8(0))
	f.Add([]byte("00XX0000"), uint64(107), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, format uint8) {
		sql := "copy t from stdin (format " + []string{"text", "csv", "binary"}[format%3] + ")"
		whole := copyResult(t, sql, [][]byte{data})
		r := rand.New(rand.NewPCG(seed, 1))
		var cut [][]byte
		for rest := append([]byte(nil), data...); len(rest) > 0; {
			n := r.IntN(len(rest)) + 1
			cut = append(cut, rest[:n:n])
			rest = rest[n:]
		}
		if got := copyResult(t, sql, cut); got != whole {
			t.Fatalf("in one message:\n%s\ncut:\n%s", whole, got)
		}
	})
}

func copyResult(t *testing.T, sql string, data [][]byte) string {
	w := newWorld(t)
	w.simple("a", "create table t (a int, b text)", nil, "")
	given := make([][]byte, len(data))
	for i := range data {
		given[i] = append([]byte(nil), data[i]...)
	}
	out := w.simple("a", sql, given, "")
	if strings.Contains(out, "ERROR XX000:") { // the data, which errors quote, may hold the code
		t.Fatal(out)
	}
	return out + w.simple("a", "select * from t", nil, "")
}
