package translate_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/store"
)

// countingEngine counts the keys that are read: gets, and positions of iterators.
type countingEngine struct {
	kv.Engine
	keys atomic.Int64
}

func (e *countingEngine) Get(key []byte) ([]byte, error) {
	e.keys.Add(1)
	return e.Engine.Get(key)
}

func (e *countingEngine) AppendGet(dst, key []byte) ([]byte, error) {
	e.keys.Add(1)
	return e.Engine.AppendGet(dst, key)
}

func (e *countingEngine) Iter(o kv.IterOptions) (kv.Iterator, error) {
	it, err := e.Engine.Iter(o)
	return &countingIter{it, &e.keys}, err
}

func (e *countingEngine) Snapshot() (kv.Snapshot, error) {
	s, err := e.Engine.Snapshot()
	return &countingSnapshot{s, &e.keys}, err
}

type countingSnapshot struct {
	kv.Snapshot
	keys *atomic.Int64
}

func (s *countingSnapshot) Get(key []byte) ([]byte, error) {
	s.keys.Add(1)
	return s.Snapshot.Get(key)
}

func (s *countingSnapshot) AppendGet(dst, key []byte) ([]byte, error) {
	s.keys.Add(1)
	return s.Snapshot.AppendGet(dst, key)
}

func (s *countingSnapshot) Iter(o kv.IterOptions) (kv.Iterator, error) {
	it, err := s.Snapshot.Iter(o)
	return &countingIter{it, s.keys}, err
}

type countingIter struct {
	kv.Iterator
	keys *atomic.Int64
}

func (i *countingIter) count(ok bool) bool {
	i.keys.Add(1)
	return ok
}

func (i *countingIter) First() bool          { return i.count(i.Iterator.First()) }
func (i *countingIter) Last() bool           { return i.count(i.Iterator.Last()) }
func (i *countingIter) SeekGE(k []byte) bool { return i.count(i.Iterator.SeekGE(k)) }
func (i *countingIter) SeekLT(k []byte) bool { return i.count(i.Iterator.SeekLT(k)) }
func (i *countingIter) Next() bool           { return i.count(i.Iterator.Next()) }
func (i *countingIter) Prev() bool           { return i.count(i.Iterator.Prev()) }

// TestReadsOfOneTable: what DuckLake asks about one table costs the same, however many rows of other tables lie beside it, and however many snapshots
// there were. Counted are the keys that the engine reads.
func TestReadsOfOneTable(t *testing.T) {
	t.Parallel()
	const stats = "SELECT data_file_id, value_count, max_value, min_value FROM public.ducklake_file_column_stats WHERE column_id = 1 AND table_id = 1"
	// So many rows of others, and a few more of table 1.
	const grow = `
insert into ducklake_snapshot select 5 + n, now(), 3, 7, 10 from generate_series(1, %[1]d) n;
insert into ducklake_data_file select 1000 + n, 50 + n %% 100, 1, null, null, 'o' || n, true, 'parquet', 1, 1, 1, 0 from generate_series(1, %[1]d) n;
insert into ducklake_delete_file select 1000000 + n, 50 + n %% 100, 1, null, 1000 + n, 'd' || n, true, 'parquet', 1, 1, 1 from generate_series(1, %[1]d) n;
insert into ducklake_file_column_stats select 1000 + n, 50 + n %% 100, 1, 40, 100, 0, '0', '9', false from generate_series(1, %[1]d) n;
insert into ducklake_table_stats select 50 + n, 1, 1, 1 from generate_series(1, %[1]d) n;
insert into ducklake_table_column_stats select 50 + n, 1, false, false, '0', '9' from generate_series(1, %[1]d) n;
insert into ducklake_schema_versions select 1, n, 50 + n from generate_series(1, %[1]d) n;
insert into ducklake_inlined_data_tables select 50 + n, 'ducklake_inlined_data_' || n, 1 from generate_series(1, %[1]d) n;
insert into ducklake_file_column_stats select 900 + n, 1, 1, 40, 100, 0, '0', '9', false from generate_series(1, 10) n;
insert into ducklake_schema_versions values (1, 1, 1)`
	for _, c := range []struct {
		name, sql string
		rows      int
	}{
		{"statistics of a column", stats, 10},
		{"the same by COPY", "COPY (" + stats + ") TO STDOUT (FORMAT BINARY)", 10},
		{"the newest snapshot", "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM public.ducklake_snapshot WHERE snapshot_id = (SELECT MAX(snapshot_id) FROM public.ducklake_snapshot)", 1},
		{"a snapshot", `COPY (SELECT "snapshot_id", "schema_version" FROM "public"."ducklake_snapshot" WHERE "snapshot_id" = '3') TO STDOUT (FORMAT "binary")`, 1},
		{"counts of a table", `COPY (SELECT "table_id", "record_count" FROM "public"."ducklake_table_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary")`, 1},
		{"bounds of a table", `COPY (SELECT "table_id", "column_id" FROM "public"."ducklake_table_column_stats" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary")`, 1},
		{"files of a table", `COPY (SELECT "data_file_id", "path" FROM "public"."ducklake_data_file" WHERE "table_id" = '1' AND "begin_snapshot" <= '5') TO STDOUT (FORMAT "binary")`, 4},
		{"delete files of a table", `COPY (SELECT "delete_file_id", "path" FROM "public"."ducklake_delete_file" WHERE "table_id" = '1' AND "begin_snapshot" <= '5') TO STDOUT (FORMAT "binary")`, 1},
		{"versions of a table", `COPY (SELECT "begin_snapshot" FROM "public"."ducklake_schema_versions" WHERE "table_id" = '1' AND "schema_version" = '1') TO STDOUT (FORMAT "binary")`, 1},
		{"relations of inlined rows of a table", `COPY (SELECT "table_name" FROM "public"."ducklake_inlined_data_tables" WHERE "table_id" = '1') TO STDOUT (FORMAT "binary")`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read := func(foreign int) int64 {
				e := &countingEngine{Engine: memkv.New()}
				w := newLakeOn(t, e, fmt.Sprintf(grow, foreign))
				w.simple("b", c.sql, nil, "") // plans it
				before := e.keys.Load()
				out := w.simple("b", c.sql, nil, "")
				if !strings.Contains(out, fmt.Sprintf("\nC COPY %d\n", c.rows)) && strings.Count(out, "\nD ") != c.rows {
					t.Fatalf("%s\nwant %d rows", out, c.rows)
				}
				return e.keys.Load() - before
			}
			few, many := read(40), read(4000)
			if few == 0 || many > few+few/4+2 {
				t.Errorf("%d keys beside 40 rows of others, %d beside 4,000", few, many)
			}
		})
	}
}

// newLakeOn is the lake of newLake on an engine, with more statements in the transaction that makes it.
func newLakeOn(t testing.TB, e kv.Engine, more string) *world {
	t.Helper()
	st, err := store.Open(context.Background(), e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.CreateCatalog(context.Background(), "lake"); err != nil {
		t.Fatal(err)
	}
	w := worldOn(t, st)
	w.setUpLake(more)
	return w
}
