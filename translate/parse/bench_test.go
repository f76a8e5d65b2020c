package parse

import (
	"fmt"
	"strings"
	"testing"
)

// manyRows is an INSERT as DuckLake writes it for inlined data or column statistics.
func manyRows(n int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO "public".ducklake_file_column_stats VALUES `)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d, %d, %d, %d, %d, 0, 'min %d', 'max %d', NULL, NULL)", 100+i, i%7, i%50, 1000+i*3, 100000-i, i, i*2)
	}
	b.WriteString(";")
	return b.String()
}

var benchStatements = map[string]string{
	"select1": `SELECT 1`,
	"begin":   `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ`,
	"copy": `COPY (SELECT "table_id", "begin_snapshot", "end_snapshot", "column_id", "column_name", "column_type" ` +
		`FROM "public"."ducklake_column" WHERE "begin_snapshot" <= '12' AND "table_id" = '3') TO STDOUT (FORMAT "binary");`,
	"update": `WITH new_values(tid, cid, new_contains_null, new_contains_nan, new_min, new_max, new_extra_stats) AS ( VALUES ` +
		`(2, 1, false, NULL, '0', '99', NULL),(2, 2, false, NULL, 'a', 'z', NULL)) UPDATE "public".ducklake_table_column_stats ` +
		`SET contains_null=CAST(new_contains_null AS BOOLEAN), min_value=new_min, max_value=new_max FROM new_values WHERE table_id=tid AND column_id=cid;`,
	"rows5000": manyRows(5000),
}

func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"select1", "begin", "copy", "update", "rows5000"} {
		sql := benchStatements[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(sql)))
			for b.Loop() {
				if _, err := Parse(sql, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAllocations pins that rows of literals are cut from slabs.
func TestAllocations(t *testing.T) {
	sql := manyRows(5000)
	n := testing.AllocsPerRun(3, func() {
		if _, err := Parse(sql, Limits{}); err != nil {
			t.Fatal(err)
		}
	})
	if n > 20 {
		t.Errorf("an INSERT of 5000 rows takes %v allocations", n)
	}
	t.Logf("5000 rows: %v allocations", n)
}

// TestLinear checks that many small INSERTs in one batch do not reserve room for the rest
// of the batch each.
func TestLinear(t *testing.T) {
	sql := strings.Repeat(`INSERT INTO t VALUES (1, 'a', NULL),(2, 'b', NULL);`, 4000)
	res := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(sql, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	if per := res.AllocedBytesPerOp() / 4000; per > 4000 {
		t.Errorf("%d bytes per statement", per)
	}
}
