package translate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/exec"
	"github.com/eiderdb/eider/translate/pgerr"
)

// discard is an Out that drops everything.
type discard struct{ bytes int64 }

func (*discard) RowDescription([]exec.Column, []int16) error    { return nil }
func (*discard) DataRow(exec.Row, []exec.Column, []int16) error { return nil }
func (*discard) CommandComplete(string) error                   { return nil }
func (*discard) EmptyQuery() error                              { return nil }
func (*discard) Notice(*pgerr.Error) error                      { return nil }
func (*discard) ParameterStatus(string, string) error           { return nil }
func (*discard) CopyOut(bool, int) error                        { return nil }
func (*discard) CopyDone() error                                { return nil }
func (*discard) Suspended() error                               { return nil }

func (o *discard) CopyData(b []byte) error {
	o.bytes += int64(len(b))
	return nil
}

func (*discard) CopyIn(bool, int) (translate.CopyReader, error) {
	return &feeder{o: &transcript{}}, nil
}

func benchmarkSimple(b *testing.B, setup string, texts ...string) {
	w := newWorld(b)
	if setup != "" {
		w.run("a", setup)
	}
	s := w.session("a")
	out := &discard{}
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		if err := s.Simple(ctx, texts[i%len(texts)], out); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(out.bytes / int64(b.N))
}

func BenchmarkPing(b *testing.B) { benchmarkSimple(b, "", "SELECT 1") }

func BenchmarkDiscard(b *testing.B) { benchmarkSimple(b, "", "DISCARD ALL") }

func BenchmarkBeginCommit(b *testing.B) {
	benchmarkSimple(b, "", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", "COMMIT")
}

const fileTable = `create table ducklake_data_file (data_file_id bigint primary key, table_id bigint, begin_snapshot bigint,
	end_snapshot bigint, path varchar)`

// BenchmarkScan is the statement DuckLake's reads are made of, with varying literals.
func BenchmarkScan(b *testing.B) {
	var setup strings.Builder
	setup.WriteString(fileTable)
	for i := range 1000 {
		fmt.Fprintf(&setup, ";insert into ducklake_data_file values (%d, %d, %d, NULL, 'part-%d.parquet')", i, i%50, i, i)
	}
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = fmt.Sprintf(`COPY (SELECT "data_file_id", "path" FROM "public"."ducklake_data_file" WHERE "begin_snapshot" <= '900' AND "table_id" = '%d') TO STDOUT (FORMAT "binary");`, i)
	}
	benchmarkSimple(b, setup.String(), texts...)
}

// BenchmarkWholeTable copies 1,000 rows as they are stored.
func BenchmarkWholeTable(b *testing.B) {
	benchmarkSimple(b, fileTable+";insert into ducklake_data_file select i, i, i, null, 'part-' || i from generate_series(1, 1000) i",
		`COPY (SELECT "data_file_id", "table_id", "begin_snapshot", "end_snapshot", "path" FROM "public"."ducklake_data_file" ) TO STDOUT (FORMAT "binary");`)
}

// BenchmarkCommitBatch is a small DuckLake commit, rolled back.
func BenchmarkCommitBatch(b *testing.B) {
	setup := fileTable + `;create table ducklake_snapshot (snapshot_id bigint primary key, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint, next_file_id bigint);
		create table ducklake_table_stats (table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint);
		insert into ducklake_table_stats values (1, 0, 0, 0);
		create table ducklake_snapshot_changes (snapshot_id bigint primary key, changes_made varchar, author varchar, commit_message varchar, commit_extra_info varchar)`
	batch := `INSERT INTO "public".ducklake_snapshot VALUES (2, NOW(), 1, 2, 1);UPDATE "public".ducklake_table_stats SET record_count=10, file_size_bytes=100, next_row_id=10 WHERE table_id=1;` +
		`INSERT INTO "public".ducklake_data_file VALUES (5, 1, 2, NULL, 'x.parquet');INSERT INTO "public".ducklake_snapshot_changes VALUES (2, 'inserted_into_table:1', NULL, NULL, NULL);`
	benchmarkSimple(b, setup, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ", batch, "ROLLBACK")
}
