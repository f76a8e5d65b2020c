package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestMaintainWhen has each kind of work done for its age and for its bytes, where there is too little of it for its number.
func TestMaintainWhen(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data, db := t.TempDir(), databaseOf(t, dsn)
		s, c := lakeSession(ctx, t, dsn, data), connect(ctx, t, dsn)
		few := []string{"--min-inlined-rows", "1000", "--min-small-files", "100", "--delete-threshold", "0.9"}
		// did is the steps of a run, as "flush t", in their order.
		did := func(args ...string) string {
			t.Helper()
			code, events, errs := runMaintain(ctx, t, target, db, append(append([]string{}, few...), args...)...)
			if code != 0 {
				t.Fatalf("exit code %d: %+v\n%s", code, events, errs)
			}
			var out []string
			for _, e := range events {
				if e.Event == "step" {
					out = append(out, e.Phase+" "+e.Table)
				}
			}
			return strings.Join(out, ", ")
		}
		want := func(steps string, args ...string) {
			t.Helper()
			if got := did(args...); got != steps {
				t.Errorf("%v does %q, want %q", args, got, steps)
			}
		}
		age := func() { // what is there now becomes two days old
			t.Helper()
			mustExec(ctx, t, c, "UPDATE ducklake_snapshot SET snapshot_time = snapshot_time - INTERVAL '2 days'")
		}
		do := func(statements ...string) {
			t.Helper()
			for _, sql := range statements {
				mustDuck(ctx, t, s, sql)
			}
		}
		live := func(table, what string) string {
			t.Helper()
			return one(ctx, t, c, "SELECT "+what+" FROM ducklake_data_file WHERE end_snapshot IS NULL AND table_id = (SELECT table_id FROM ducklake_table WHERE table_name = '"+table+"')")
		}

		// Two inlined rows of 200 letters, a number and a NULL each: 404 bytes. And deletes of rows in a file.
		do("CREATE TABLE rows (i INTEGER, v VARCHAR, n VARCHAR)", "INSERT INTO rows VALUES (10, repeat('x', 200), NULL), (20, repeat('y', 200), NULL)",
			"CREATE TABLE deletes AS SELECT * FROM range(1000) t(i)", "DELETE FROM deletes WHERE i = 7")
		want("", "--dry-run")
		want("flush rows", "--dry-run", "--flush-bytes", "404")
		want("", "--dry-run", "--flush-bytes", "405")
		want("", "--dry-run", "--flush-age", "1d")
		age()
		do("CREATE TABLE young (i INTEGER)", "INSERT INTO young VALUES (1)")
		want("flush deletes, flush rows", "--flush-age", "1d")
		want("", "--flush-age", "1d")
		if n := live("rows", "count(*)"); n != "1" {
			t.Errorf("%s files of the rows that were flushed", n)
		}

		// Files of 2,000, 20 and 20 rows. One that is left of a merge is not merged again with the next.
		do("CREATE TABLE files AS SELECT i, md5(i::VARCHAR) AS v FROM range(2000) t(i)", "INSERT INTO files SELECT i, md5(i::VARCHAR) FROM range(20) t(i)")
		want("", "--dry-run", "--only", "merge", "--merge-age", "1d")
		age()
		do("INSERT INTO files SELECT i, md5(i::VARCHAR) FROM range(20) t(i)")
		waiting := live("files", "sum(file_size_bytes) - max(file_size_bytes)")
		want("merge files", "--dry-run", "--merge-bytes", waiting)
		want("", "--dry-run", "--merge-bytes", waiting+"0")
		want("merge files", "--only", "merge", "--merge-age", "1d")
		do("INSERT INTO files SELECT i, md5(i::VARCHAR) FROM range(20) t(i)")
		want("", "--only", "merge", "--merge-age", "1d")
		if n := live("files", "count(*)"); n != "2" {
			t.Errorf("%s files are left of those that were merged", n)
		}

		// A third of a file is deleted (beside the row that was flushed above) in two commits, of which one is old; less of another, and that is young.
		do("CREATE TABLE holes AS SELECT i, md5(i::VARCHAR) AS v FROM range(3000) t(i)", "DELETE FROM holes WHERE i < 900")
		age()
		do("DELETE FROM holes WHERE i < 1000", "INSERT INTO holes SELECT i, md5(i::VARCHAR) FROM range(5000, 8000) t(i)", "DELETE FROM holes WHERE i BETWEEN 5000 AND 5099")
		size := one(ctx, t, c, "SELECT file_size_bytes / 3 FROM ducklake_data_file WHERE end_snapshot IS NULL AND record_count = 3000 ORDER BY data_file_id LIMIT 1")
		want("rewrite holes", "--dry-run", "--only", "rewrite", "--rewrite-bytes", size)
		want("", "--dry-run", "--only", "rewrite", "--rewrite-bytes", size+"0")
		want("rewrite deletes, rewrite holes", "--only", "rewrite", "--rewrite-age", "1d")
		if n := live("holes", "string_agg(record_count::text, ' ' ORDER BY record_count)"); n != "2000 3000" {
			t.Errorf("the files that are left of a rewrite have %s rows", n)
		}
		want("", "--only", "rewrite", "--rewrite-age", "1d")
		if err := healthy(ctx, target, db); err != nil {
			t.Error(err)
		}
	})
}
