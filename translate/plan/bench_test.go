package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/parse"
	"github.com/eiderdb/eider/translate/plan"
	"github.com/eiderdb/eider/translate/types"
)

// newLake is a session with tables.
func newLake(b testing.TB, ddl string) *eider {
	b.Helper()
	e := newEider(b)
	if out := e.run(ddl); strings.Contains(out, "ERROR") {
		b.Fatal(out)
	}
	return e
}

func BenchmarkInsertValues(b *testing.B) {
	e := newLake(b, "create table t (a bigint, b bigint, c bigint, d varchar, e varchar)")
	var sb strings.Builder
	sb.WriteString("insert into t values ")
	for i := range 5000 {
		if i > 0 {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, "(%d, 2, %d, 'min%d', NULL)", i, i*7, i)
	}
	sql := sb.String()
	b.ReportAllocs()
	b.SetBytes(int64(len(sql)))
	for b.Loop() {
		if out := e.run("begin; " + sql + "; rollback"); strings.Contains(out, "ERROR") {
			b.Fatal(out)
		}
	}
}

func BenchmarkPointSelect(b *testing.B) {
	e := newLake(b, "create table t (a bigint primary key, b varchar); insert into t select g, 'v' || g from generate_series(1, 10000) g")
	b.ReportAllocs()
	for b.Loop() {
		e.run("select a, b from t where a = 5000")
	}
}

func BenchmarkLastKey(b *testing.B) {
	e := newLake(b, "create table t (a bigint primary key, b varchar); insert into t select g, 'v' || g from generate_series(1, 10000) g")
	b.ReportAllocs()
	for b.Loop() {
		e.run("select a, b from t where a = (select max(a) from t)")
	}
}

func BenchmarkHashAggregate(b *testing.B) {
	e := newLake(b, "create table t (a bigint, b bigint); insert into t select g, g % 100 from generate_series(1, 100000) g")
	b.ReportAllocs()
	for b.Loop() {
		e.run("select b, count(*), sum(a) from t group by b")
	}
}

// BenchmarkRawScan copies a million rows of five columns from an engine on disk.
func BenchmarkRawScan(b *testing.B) {
	const rows = 1_000_000
	ctx := context.Background()
	eng, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	st, err := store.Open(ctx, eng, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	if err := st.CreateCatalog(ctx, "lake"); err != nil {
		b.Fatal(err)
	}
	cat, err := st.Catalog("lake")
	if err != nil {
		b.Fatal(err)
	}
	run := func(sql string, use func(*exec.Ctx, exec.Node) error) {
		t := cat.Begin(store.TxnOptions{})
		if err := t.EnsureSnapshot(); err != nil {
			b.Fatal(err)
		}
		list, err := parse.Parse(sql, parse.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		bd := &plan.Binder{Text: sql, Txn: t, SearchPath: []string{"public"}, Env: types.DefaultEnv()}
		n, err := bd.BindStmt(list[0].Stmt)
		if err != nil {
			b.Fatal(err)
		}
		c := &exec.Ctx{Context: ctx, Env: types.DefaultEnv(), Txn: t}
		if err := use(c, n); err != nil {
			b.Fatal(err)
		}
		if err := t.Commit(ctx); err != nil {
			b.Fatal(err)
		}
	}
	t := cat.Begin(store.TxnOptions{})
	if err := t.EnsureSnapshot(); err != nil {
		b.Fatal(err)
	}
	public, _ := t.SchemaByName("public")
	tbl := &rel.Table{Schema: public.OID, Name: "t", Kind: rel.KindTable}
	for i, oid := range []uint32{types.Int8OID, types.Int8OID, types.Int8OID, types.VarcharOID, types.BoolOID} {
		tbl.Columns = append(tbl.Columns, rel.Column{Num: int16(i + 1), Name: string(rune('a' + i)), Type: oid, Mod: -1})
	}
	if _, err := t.CreateTable(tbl); err != nil {
		b.Fatal(err)
	}
	if err := t.Commit(ctx); err != nil {
		b.Fatal(err)
	}
	for i := 0; i < rows; i += 100_000 {
		sql := fmt.Sprintf("insert into t select g, 2, g * 7, 'value ' || g, g %% 2 = 0 from generate_series(%d, %d) g", i, i+99_999)
		run(sql, func(c *exec.Ctx, n exec.Node) error {
			it, err := n.Open(c)
			if err != nil {
				return err
			}
			defer it.Close()
			if _, err := it.Next(); err != exec.EOF {
				return err
			}
			return nil
		})
	}
	buf := make([]byte, 0, 128<<10)
	for _, q := range []struct{ name, sql string }{
		{"whole", "select a, b, c, d, e from t"},
		{"projected", "select d, a, b from t"},
		{"filtered", "select a, b, c, d, e from t where b <= '7' and c > '100'"},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(q.sql, func(c *exec.Ctx, n exec.Node) error {
					raw, ok := n.(exec.RawNode)
					if !ok {
						b.Fatalf("no raw plan: %T", n)
					}
					it, err := raw.OpenRaw(c)
					if err != nil {
						return err
					}
					defer it.Close()
					total := 0
					for {
						out, k, err := it.AppendTuples(buf[:0], 64<<10)
						if err != nil {
							return err
						}
						if k == 0 {
							break
						}
						total += k
						buf = out
					}
					if total < rows-1000 {
						b.Fatalf("%d rows", total)
					}
					return nil
				})
			}
		})
	}
}
