package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

func benchEngines(b *testing.B, f func(b *testing.B, e kv.Engine)) {
	b.Run("memkv", func(b *testing.B) { f(b, memkv.New()) })
	b.Run("pebblekv", func(b *testing.B) {
		e, err := pebblekv.Open("data", pebblekv.Options{FS: vfs.NewMem()})
		must(b, err)
		f(b, e)
	})
}

func benchCatalog(b *testing.B, e kv.Engine) *store.Catalog {
	b.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, e, store.Options{})
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	must(b, s.CreateCatalog(ctx, "lake"))
	c, err := s.Catalog("lake")
	must(b, err)
	return c
}

const benchRows = 200_000

// fill makes a table of rows of about 60 bytes.
func fill(b *testing.B, c *store.Catalog, n int) *rel.Table {
	b.Helper()
	tx := begin(c)
	tbl, err := tx.CreateTable(&rel.Table{
		Schema: store.PublicOID, Name: "t",
		Columns: cols("a", int8OID, "b", int8OID, "c", varcharOID, "d", int8OID),
		Indexes: []rel.Index{{Name: "t_pkey", Columns: []int16{1}, Unique: true, Primary: true}},
	})
	must(b, err)
	for i := range n {
		_, err := tx.Insert(tbl, tuple(i, i*7, fmt.Sprintf("value%010d", i), nil))
		must(b, err)
	}
	must(b, tx.Commit(context.Background()))
	if p, ok := c.Engine().(*pebblekv.Engine); ok {
		must(b, p.Flush())
		must(b, p.Compact([]byte{0}, []byte{0xFF}))
	}
	return tbl
}

func BenchmarkScan(b *testing.B) {
	benchEngines(b, func(b *testing.B, e kv.Engine) {
		c := benchCatalog(b, e)
		tbl := fill(b, c, benchRows)
		tx := begin(c)
		defer func() { must(b, tx.Rollback()) }()
		b.ReportAllocs()
		rows := 0
		for b.Loop() {
			it, err := tx.Scan(tbl, store.Access{})
			must(b, err)
			for it.Next() {
				rows += len(it.Tuple()) & 1
			}
			must(b, it.Err())
			must(b, it.Close())
		}
		b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}

func BenchmarkScanWithOwnWrites(b *testing.B) {
	benchEngines(b, func(b *testing.B, e kv.Engine) {
		c := benchCatalog(b, e)
		tbl := fill(b, c, benchRows)
		tx := begin(c)
		defer func() { must(b, tx.Rollback()) }()
		_, err := tx.Insert(tbl, tuple(-1, 0, "own", nil))
		must(b, err)
		b.ReportAllocs()
		for b.Loop() {
			it, err := tx.Scan(tbl, store.Access{})
			must(b, err)
			for it.Next() {
			}
			must(b, it.Err())
			must(b, it.Close())
		}
		b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}

func BenchmarkPointLookup(b *testing.B) {
	benchEngines(b, func(b *testing.B, e kv.Engine) {
		c := benchCatalog(b, e)
		tbl := fill(b, c, benchRows)
		tx := begin(c)
		defer func() { must(b, tx.Rollback()) }()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			it, err := tx.Scan(tbl, store.Access{Index: &tbl.Indexes[0], Eq: [][]byte{int8bin(i * 7919 % benchRows)}})
			must(b, err)
			if !it.Next() {
				b.Fatal("not found")
			}
			must(b, it.Close())
		}
	})
}

func BenchmarkLastKey(b *testing.B) {
	benchEngines(b, func(b *testing.B, e kv.Engine) {
		c := benchCatalog(b, e)
		tbl := fill(b, c, benchRows)
		b.ReportAllocs()
		for b.Loop() {
			tx := begin(c)
			it, err := tx.Scan(tbl, store.Access{Index: &tbl.Indexes[0], Reverse: true})
			must(b, err)
			if !it.Next() {
				b.Fatal("not found")
			}
			must(b, it.Close())
			must(b, tx.Rollback())
		}
	})
}

// BenchmarkInsert5000 is one transaction of 5,000 rows with a primary key.
func BenchmarkInsert5000(b *testing.B) {
	benchEngines(b, func(b *testing.B, e kv.Engine) {
		c := benchCatalog(b, e)
		tbl := fill(b, c, 1000)
		b.ReportAllocs()
		n := 1_000_000
		for b.Loop() {
			tx := begin(c)
			for range 5000 {
				_, err := tx.Insert(tbl, tuple(n, n, "some value", nil))
				must(b, err)
				n++
			}
			must(b, tx.Commit(context.Background()))
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/5000, "ns/row")
	})
}

// BenchmarkCommit is a transaction of one row, synced to a real disk.
func BenchmarkCommit(b *testing.B) {
	e, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
	must(b, err)
	c := benchCatalog(b, e)
	tbl := fill(b, c, 1000)
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers, " writers"), func(b *testing.B) {
			b.SetParallelism(writers)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					tx := begin(c)
					if _, err := tx.Insert(tbl, tuple(nil, 1, "some value", nil)); err != nil {
						b.Error(err)
						return
					}
					if err := tx.Commit(context.Background()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkCreateTable makes one table beside 20,000.
func BenchmarkCreateTable(b *testing.B) {
	c := benchCatalog(b, memkv.New())
	make1 := func(tx *store.Txn, i int) {
		_, err := tx.CreateTable(&rel.Table{Schema: store.PublicOID, Name: fmt.Sprint("t", i), Columns: cols("a", int8OID, "b", varcharOID)})
		must(b, err)
	}
	tx := begin(c)
	for i := range 20_000 {
		make1(tx, i)
	}
	must(b, tx.Commit(context.Background()))
	b.ReportAllocs()
	for i := 20_000; b.Loop(); i++ {
		tx := begin(c)
		make1(tx, i)
		must(b, tx.Commit(context.Background()))
	}
}
