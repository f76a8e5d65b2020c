package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/eiderdb/eider/kv/store/storetest"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

func TestMemoryCap(t *testing.T) {
	ctx := context.Background()
	st := storetest.Open(t)
	s, err := translate.NewSession(translate.Deps{Store: st, Version: "0", Limits: translate.Limits{StatementMemory: 1 << 20}},
		translate.SessionOptions{User: "eider", Database: "lake", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sql := range []string{
		"select g from generate_series(1, 1000000) g order by g desc",
		"select g, count(*) from generate_series(1, 1000000) g group by g",
		"select distinct g from generate_series(1, 1000000) g",
		"select count(*) from generate_series(1, 10) a join generate_series(1, 1000000) b on a = b",
		"select array_agg(g) from generate_series(1, 1000000) g",
		"select string_agg(repeat('x', 1000), ',') from generate_series(1, 10000) g",
		"select sum(g) over () from generate_series(1, 1000000) g",
		"select 1 union select g from generate_series(1, 1000000) g",
		"with recursive r(n) as (select 1 union select n + 1 from r where n < 1000000) select count(*) from r",
		"with w as materialized (select g from generate_series(1, 1000000) g) select count(*) from w",
	} {
		var r recorder
		err := s.Simple(ctx, sql, &r)
		if pgerr.CodeOf(err) != pgerr.OutOfMemory {
			t.Errorf("%s: %v", sql, err)
		}
	}
	var r recorder
	if err := s.Simple(ctx, "select count(*), max(g) from generate_series(1, 100000) g", &r); err != nil {
		t.Error("a statement that holds little:", err)
	}
	if err := s.Simple(ctx, "select g from generate_series(1, 100000) g order by g desc limit 3", &r); err != nil {
		t.Error("the first rows of an order:", err)
	}
}

func TestDeepNesting(t *testing.T) {
	e := newEider(t)
	deep := "select " + strings.Repeat("abs(", 3000) + "1" + strings.Repeat(")", 3000)
	if out := e.run(deep); !strings.Contains(out, "54001") {
		t.Errorf("deep calls: %.200s", out)
	}
	long := "select 1" + strings.Repeat(" + 1", 900)
	if out := e.run(long); !strings.Contains(out, "901") {
		t.Errorf("a long sum: %.200s", out)
	}
	ors := "select 1 where 1 = 2" + strings.Repeat(" or 1 = 1", 20000)
	if out := e.run(ors); !strings.Contains(out, "1") {
		t.Errorf("a long OR: %.200s", out)
	}
}
