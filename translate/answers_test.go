package translate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// described are relations whose rows are made of descriptors.
var described = []string{
	"pg_attrdef", "pg_attribute", "pg_class", "pg_constraint", "pg_description", "pg_enum", "pg_index", "pg_indexes", "pg_namespace", "pg_type",
}

// describedWorld has more of everything than a small answer has rows.
func describedWorld(t testing.TB) *world {
	w := newWorld(t)
	var sql strings.Builder
	for i := range 60 {
		fmt.Fprintf(&sql, "create schema s%d; create table t%d (a bigint primary key, b varchar(20) default 'x', c numeric(10,2), d integer[], check (a > 0)); comment on table t%d is 'one';", i, i, i)
	}
	sql.WriteString("alter table t7 drop column c; create view v as select a from t1; create index i on t2 (b)")
	w.run("setup", sql.String())
	return w
}

// asked are the rows of a relation as the session is told, and as they are made for it.
func (w *world) asked(session, relation string) (told, made string) {
	told = w.simple(session, "select * from "+relation, nil, "")
	made = w.simple(session, "select * from "+relation+" where length('') = 0", nil, "") // a function: never kept
	return told, made
}

// TestAnswersAreKept: an answer of some size is made twice, for two sessions, and then is the same for a third.
func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	w := describedWorld(t)
	var want []any
	for i, session := range []string{"a", "b", "c", "d"} {
		for _, relation := range described {
			if told, made := w.asked(session, relation); told != made {
				t.Errorf("%s, asked for the %d. time: %s\nand not %s", relation, i+1, told, made)
			}
		}
		kept, _ := w.shared.KeptAnswers()
		switch i {
		case 0:
			if len(kept) > 0 {
				t.Errorf("%d answers are kept that were asked for once", len(kept))
			}
		case 1:
			if want = kept; len(want) != len(described)-1 { // there are no enums
				t.Errorf("%d answers are kept", len(want))
			}
		default:
			if !slices.Equal(kept, want) {
				t.Error("answers are made again")
			}
		}
	}
}

// TestAnswersOfLiterals: an answer is one to its literals.
func TestAnswersOfLiterals(t *testing.T) {
	t.Parallel()
	w := describedWorld(t)
	ask := func(n int) string {
		return w.simple("a", fmt.Sprintf("select attname from pg_attribute where attnum = %d", n), nil, "")
	}
	first, second := ask(1), ask(2)
	if first == second {
		t.Fatal("both columns have the same names")
	}
	for i := range 6 {
		for range i%3 + 1 {
			if ask(1) != first {
				t.Error("told of the second column when asked for the first")
			}
		}
		if ask(2) != second {
			t.Error("told of the first column when asked for the second")
		}
	}
	if kept, _ := w.shared.KeptAnswers(); len(kept) != 1 {
		t.Errorf("%d answers are kept", len(kept))
	}
}

// TestAnswersNotKept: what does not follow from the descriptors alone, small answers, and parts of one.
func TestAnswersNotKept(t *testing.T) {
	t.Parallel()
	w := describedWorld(t)
	for _, sql := range []string{
		"select oid, current_user from pg_class",
		"select oid::regclass from pg_class",
		"select relname from pg_class where relname = 't1'",
		"select c.relname from pg_class c, pg_settings s where s.name = 'timezone'",
		"select relname from (select * from pg_class) c",
		"with pg_class as (select 1 as a from generate_series(1, 100)) select a from pg_class",
		"select table_name from information_schema.columns",
		"select a from pg_class, t1",
		"select oid from pg_class where relname in (select 't1')",
		"values (0)" + strings.Repeat(", (1)", 99),
		"begin; declare c cursor for select oid from pg_class; fetch 60 from c; commit",
	} {
		for range 3 {
			w.run("a", sql)
		}
		if kept, size := w.shared.KeptAnswers(); len(kept) > 0 || size > 0 {
			t.Fatalf("kept: %s", sql)
		}
	}
}

// TestAnswersOfNamesakes: a table that has the name of such a relation is read.
func TestAnswersOfNamesakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run("a", "create table pg_enum as select i from generate_series(1, 100) i")
	for range 3 {
		told := w.simple("a", "select * from public.pg_enum", nil, "")
		w.run("a", "insert into public.pg_enum values (1)")
		if next := w.simple("a", "select * from public.pg_enum", nil, ""); next == told {
			t.Error("a row that was added is not there")
		}
	}
}

// TestAnswersAreTrue: whatever sessions do, each is told what its transaction sees.
func TestAnswersAreTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := describedWorld(t)
		var did []string
		for range rapid.IntRange(3, 25).Draw(rt, "steps") {
			session := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "session")
			n := rapid.IntRange(1, 4).Draw(rt, "n")
			sql := rapid.SampledFrom([]string{
				"", "", "", "begin", "begin isolation level repeatable read", "commit", "rollback",
				"create table x%d_%s (a integer)", "drop table if exists x%d_%s", "create temp table y%d (a integer)", "drop table if exists y%d",
				"comment on table t%d is 'two'", "alter table if exists t%d rename to z%d_%s", "alter table if exists z%d_%s rename to t%d_%s",
				"insert into t%d values (1)", "create view pg_class as select '%s' as relname", "drop view if exists public.pg_class",
				"set search_path = public, pg_catalog", "reset search_path", "create schema r%d_%s", "savepoint p", "rollback to p", "discard temp",
			}).Draw(rt, "statement")
			if strings.HasPrefix(sql, "create view") {
				session = "a"
			}
			// Each makes names of its own: who makes another's would wait for it.
			sql = strings.NewReplacer("%d", fmt.Sprint(n), "%s", session).Replace(sql)
			did = append(did, session+": "+sql)
			if sql != "" {
				w.simple(session, sql, nil, "")
			}
			for _, relation := range []string{"pg_class", "pg_description"} {
				if told, made := w.asked(session, relation); told != made {
					rt.Fatalf("%q\n%s: %s\nand not %s", did, relation, told, made)
				}
			}
		}
	})
}
