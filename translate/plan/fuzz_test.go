package plan_test

import (
	"context"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/translate/pgerr"
)

// fragments are what random statements are made of.
var fragments = strings.Fields(`select from where group by having order limit offset union all except intersect distinct on
	with recursive as values insert into update set delete using returning join left right full natural cross lateral
	( ) , . * = <> < > <= >= + - / % || :: -> ->> @> ~ like in not and or is null true false between case when then else end
	exists any array[ ] row cast int4 text numeric date timestamptz jsonb bigint[]
	t s u a b c x y ctid tableoid count(*) sum(a) max(b) min(a) avg(x) string_agg(b,',') array_agg(a) rank() over partition row_number()
	generate_series(1,3) unnest(array[1,2]) coalesce nullif greatest(1,2) length(b) now() substr(b,1,2) filter rollup cube grouping sets
	1 2 0 -1 1.5 'a' '1' '{1,2}' '{"a":1}' '2024-01-01' null $1 "a" pg_class pg_catalog.pg_attribute oid relname conflict do nothing default`)

// FuzzStatements runs random sequences of fragments: nothing may panic, and every
// failure has a SQLSTATE other than an internal error's.
func FuzzStatements(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed, "select a from t where")
	}
	f.Fuzz(func(t *testing.T, seed int64, head string) {
		if len(head) > 200 {
			return
		}
		e := newEider(t)
		e.run("create table t (a bigint primary key, b text, c boolean); create table s (x int, y text); insert into t values (1, 'x', true), (2, null, null); insert into s values (1, 'q')")
		r := rand.New(rand.NewSource(seed))
		for range 30 {
			var sb strings.Builder
			sb.WriteString(head)
			for range r.Intn(14) {
				sb.WriteByte(' ')
				sb.WriteString(fragments[r.Intn(len(fragments))])
			}
			sql := sb.String()
			var rec recorder
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			err := e.s.Simple(ctx, sql, &rec)
			cancel()
			if err == nil {
				continue
			}
			if code := pgerr.CodeOf(err); code == "" || code == pgerr.InternalError {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	})
}
