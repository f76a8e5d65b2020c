package plan_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

// TestMultiplyingValues has statements of some hundred bytes whose values would take from
// 16 GB up: each has to be refused before the memory is taken.
func TestMultiplyingValues(t *testing.T) {
	ctx := context.Background()
	st, err := store.Open(ctx, memkv.New(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.CreateCatalog(ctx, "lake"); err != nil {
		t.Fatal(err)
	}
	s, err := translate.NewSession(translate.Deps{Store: st, Version: "0", Limits: translate.Limits{StatementMemory: 32 << 20}},
		translate.SessionOptions{User: "eider", Database: "lake", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	big := "(select repeat('a', 10000000) x) b"
	for _, sql := range []string{
		"select replace(x, 'a', x) from " + big,
		"select regexp_replace(x, 'a', x, 'g') from " + big,
		"select regexp_replace(x, 'a', '\\&\\&\\&\\&\\&\\&\\&\\&', 'g') from " + big,
		"select regexp_split_to_array(x || x, '') from " + big,
		"select count(*) from regexp_matches(repeat('a', 10000000), '(a)', 'g')",
		"select string_to_array(x, 'a') from " + big,
		"select split_part(x, 'a', 3) from " + big,
		"select array_fill(x, array[10000000]) from " + big,
		"select format(repeat('%1$s', 1600), x) from " + big,
		"select format(repeat('%1$100000000s', 160), 'a')",
		"select lpad('a', 200000000), rpad('a', 200000000)",
		"select repeat('a', 200000000)",
		"select to_char(1, repeat('9', 10000000)), to_char(now(), repeat('Month', 2000000))",
		"select to_date('x', repeat('Month', 2000000))",
		"select concat(" + strings.Repeat("x, ", 1600) + "x) from " + big,
		"select " + strings.Repeat("x || ", 900) + "x from " + big,
		"select array[" + strings.Repeat("x, ", 1600) + "x] from " + big,
		"select row(" + strings.Repeat("x, ", 1600) + "x) from " + big,
		"select jsonb_build_array(" + strings.Repeat("x, ", 1600) + "x) from " + big,
		"select " + strings.Repeat("x, ", 1600) + "x from " + big,
		"select " + strings.Repeat("encode(", 12) + "x::bytea" + strings.Repeat(", 'hex')::bytea", 12) + " from " + big,
		"select ('{' || repeat('1,', 5000000) || '1}')::int[]",
		"select '{" + strings.Repeat("1,", 1000000) + "1}'::int[]",
		"select ('[' || repeat('1,', 5000000) || '1]')::json -> 0",
		"select jsonb_array_length(('[' || repeat('1,', 5000000) || '1]')::jsonb)",
		"select array(select generate_series(1, 5000000))",
		"select array(select generate_series(1, 5000000) + g) from generate_series(1, 2) g",
		"select 1 where 1 in (select generate_series(2, 5000000))",
		"with r0 as (select 1 a)" + doubling(40) + " select a::text from r40",
	} {
		var r recorder
		err := s.Simple(ctx, sql, &r)
		if c := pgerr.CodeOf(err); c != pgerr.OutOfMemory && c != pgerr.ProgramLimitExceeded {
			t.Errorf("%.80s: %v", sql, err)
		}
	}
	var r recorder
	for _, sql := range []string{
		"select count(array(select generate_series(1, 100000) + g)) from generate_series(1, 30) g",
		"select (select repeat('a', 1000000) || g) from generate_series(1, 50) g",
		"select count(*) from generate_series(1, 3) a where 5 not in (select 1 from generate_series(1, 1000000))",
	} {
		if err := s.Simple(ctx, sql, &r); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if err := s.Simple(ctx, "select length(x) from "+big+", generate_series(1, 20)", &r); err != nil {
		t.Error("one large value at a time:", err)
	}
}

// doubling is a chain of common table expressions that double a record each.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("$n", strconv.Itoa(i+1), "$p", strconv.Itoa(i)).Replace(", r$n as (select row(a, a) a from r$p)"))
	}
	return b.String()
}

func TestLikeBacktracking(t *testing.T) {
	e := newEider(t)
	done := make(chan string, 1)
	go func() {
		done <- e.run("select repeat('a', 5000) like repeat('%a_', 40) || 'b', repeat('ab', 5000) ilike repeat('%A_', 40) || 'c%'")
	}()
	select {
	case out := <-done:
		if !strings.Contains(out, "f\tf") && !strings.Contains(out, "f|f") && !strings.Contains(out, "f f") {
			t.Errorf("%s", out)
		}
	case <-time.After(time.Minute):
		t.Fatal("LIKE takes exponential time")
	}
}

func TestGroupingSetsProduct(t *testing.T) {
	e := newEider(t)
	cube := "cube(a, a+1, a+2, a+3, a+4, a+5, a+6, a+7, a+8, a+9, a+10, a+11)"
	sql := "select 1 from (values (1)) v(a) group by " + cube + ", " + strings.ReplaceAll(cube, "a+", "a*") + ", " + strings.ReplaceAll(cube, "a+", "a-")
	if out := e.run(sql); !strings.Contains(out, "54001") {
		t.Errorf("%.200s", out)
	}
}
