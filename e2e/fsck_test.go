package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/gc/fsck"
)

// runFsck runs "eider fsck" on a catalog, and returns its report with the exit code.
func runFsck(ctx context.Context, t *testing.T, dsn string, args ...string) (rep fsck.Report, code int) {
	t.Helper()
	db := dsn[strings.Index(dsn, "dbname=")+len("dbname="):]
	db, _, _ = strings.Cut(db, " ")
	cmd := exec.CommandContext(ctx, eiderBinary(t), append([]string{"fsck", "--server", dsn, "--catalog", db, "--format", "json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var doc struct{ Lakes []fsck.Report }
	if code = cmd.ProcessState.ExitCode(); code > 1 {
		t.Fatalf("fsck %v: exit code %d: %s", args, code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Lakes) != 1 {
		t.Fatalf("%v: %s%s", err, out.String(), errs.String())
	}
	return doc.Lakes[0], code
}

func foundCodes(rep *fsck.Report) string {
	var list []string
	for code := range rep.Totals {
		list = append(list, string(code))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// fsckSetup is a lake with one of everything, in many files.
var fsckSetup = []string{
	"CREATE TABLE lake.t AS SELECT range AS i, range % 3 AS p FROM range(40)",
	"ALTER TABLE lake.t SET PARTITIONED BY (p)",
	"INSERT INTO lake.t SELECT range + 40, range % 3 FROM range(30)",
	"DELETE FROM lake.t WHERE i BETWEEN 2 AND 18",
	"DELETE FROM lake.t WHERE i = 45",
	"INSERT INTO lake.t VALUES (100, 1), (101, 2)",
	"DELETE FROM lake.t WHERE i = 101",
	"COMMENT ON TABLE lake.t IS 'one'",
	"COMMENT ON TABLE lake.t IS 'two'",
	"CREATE TABLE lake.u AS SELECT range AS i FROM range(20)",
	"ALTER TABLE lake.u RENAME TO w",
	"ALTER TABLE lake.w SET SORTED BY (i)",
	"CREATE VIEW lake.v AS SELECT 1 AS one",
	"CREATE MACRO lake.m(a) AS a + 1",
	"CREATE TABLE lake.gone (i INTEGER)",
	"DROP TABLE lake.gone",
}

const fsckContent = "SELECT count(*), sum(i), (SELECT count(*) FROM lake.t), (SELECT sum(i) FROM lake.w), (SELECT one FROM lake.v), lake.m(1) FROM lake.t"

// TestFsckRepairs breaks the lake by hand, one invariant at a time: each break is found, repaired under the server's checks, and DuckDB reads and
// writes as before.
func TestFsckRepairs(t *testing.T) {
	damages := []struct {
		code fsck.Code
		sql  string
		also string
	}{
		{fsck.OptionTwice, "INSERT INTO ducklake_metadata SELECT * FROM ducklake_metadata WHERE key IN ('version', 'data_path')", ""},
		{fsck.OptionTwice, "INSERT INTO ducklake_metadata VALUES ('target_file_size', '1000000', 'table', 1), ('target_file_size', '2000000', 'table', 1)", ""},
		{fsck.CounterWentBack, "UPDATE ducklake_snapshot SET next_file_id = 1, next_catalog_id = 1 WHERE snapshot_id = (SELECT max(snapshot_id) FROM ducklake_snapshot)", "id-beyond-counter"},
		{fsck.SnapshotWithoutChanges, "DELETE FROM ducklake_snapshot_changes WHERE snapshot_id = 3", ""},
		{fsck.ChangesWithoutSnapshot, "INSERT INTO ducklake_snapshot_changes VALUES (900, 'x', NULL, NULL, NULL)", ""},
		{fsck.VersionsOverlap, "UPDATE ducklake_table SET end_snapshot = NULL WHERE table_name = 'u'", ""},
		{fsck.VersionsOverlap, "UPDATE ducklake_tag SET end_snapshot = NULL WHERE value = 'one'", ""},
		{fsck.PartOrphaned, "INSERT INTO ducklake_sort_expression VALUES (0, 1, 0, 'i', 'duckdb', 'ASC', 'NULLS_LAST')", ""},
		{fsck.PartOrphaned, "INSERT INTO ducklake_tag VALUES (0, 1, 2, 'comment', 'x'), (9999, 1, 2, 'comment', 'x')", ""},
		{fsck.DeleteFileDangling, "INSERT INTO ducklake_delete_file SELECT 0, table_id, begin_snapshot, NULL, 9999, 'nowhere.parquet', true, format, 1, 1, 1, NULL, NULL FROM ducklake_delete_file LIMIT 1", ""},
		{fsck.FileStatsOrphaned, "INSERT INTO ducklake_file_column_stats SELECT data_file_id + 5000, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value, contains_nan, extra_stats FROM ducklake_file_column_stats", ""},
		{fsck.PartitionValueOrphaned, "INSERT INTO ducklake_file_partition_value SELECT data_file_id + 5000, table_id, partition_key_index, partition_value FROM ducklake_file_partition_value", ""},
		{fsck.TableStatsMissing, "DELETE FROM ducklake_table_stats WHERE table_id = (SELECT table_id FROM ducklake_table WHERE table_name = 'w')", ""},
		{fsck.TableStatsTwice, "INSERT INTO ducklake_table_stats SELECT * FROM ducklake_table_stats", ""},
		{fsck.TableStatsOrphaned, "INSERT INTO ducklake_table_stats VALUES (9999, 1, 1, 1)", ""},
		{fsck.RecordCount, "UPDATE ducklake_table_stats SET record_count = 0", ""},
		{fsck.RowIDBeyondCounter, "UPDATE ducklake_table_stats SET next_row_id = 1 WHERE next_row_id > 25", ""},
		{fsck.InlinedDeleteDangling, "INSERT INTO ducklake_inlined_delete_1 VALUES (9999, 1, 2)", ""},
		{fsck.InlinedDeleteTwice, "INSERT INTO ducklake_inlined_delete_1 SELECT * FROM ducklake_inlined_delete_1", ""},
		{fsck.RegistryTwice, "INSERT INTO ducklake_inlined_data_tables SELECT * FROM ducklake_inlined_data_tables", ""},
		{fsck.RegistryDangling, "INSERT INTO ducklake_inlined_data_tables VALUES (1, 'ducklake_inlined_data_1_99', 99)", ""},
		{fsck.RegistryForeign, "INSERT INTO ducklake_inlined_data_tables VALUES (9999, 'ducklake_inlined_data_9999_1', 1)", ""},
		{fsck.RelationUnregistered, "DELETE FROM ducklake_inlined_data_tables WHERE table_id = 1", "relation-leaked"},
		{fsck.RelationLeaked, "CREATE TABLE public.ducklake_inlined_data_9999_1 (row_id bigint, begin_snapshot bigint, end_snapshot bigint, i integer)", ""},
		{fsck.ScheduledLive, "INSERT INTO ducklake_files_scheduled_for_deletion SELECT data_file_id, 'main/t//./' || path, true, now() - interval '30 days' FROM ducklake_data_file WHERE table_id = 1", ""},
		{fsck.ScheduledTwice, "INSERT INTO ducklake_files_scheduled_for_deletion VALUES (0, 'main/t/x', true, now()), (0, 'main/t/x', true, now() - interval '1 day')", ""},
	}
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		l := openLake(ctx, t, dsn, data)
		l.must(ctx, t, fsckSetup...)
		want := l.rows(ctx, t, fsckContent)
		c := connect(ctx, t, dsn)
		repair := []string{"--repair"}
		if target.Name() == "pg" {
			repair = append(repair, "--no-checkpoint")
		}
		mustExec(ctx, t, c, `CREATE SCHEMA IF NOT EXISTS eider; CREATE TABLE IF NOT EXISTS eider.settings (lake text, table_id bigint, "check" text, mode text)`)
		if rep, code := runFsck(ctx, t, dsn, "--files"); code != 0 {
			t.Fatalf("before any damage: %v", rep.Findings)
		}
		next := 1000
		for _, d := range damages {
			mustExec(ctx, t, c, `INSERT INTO eider.settings VALUES (NULL, NULL, '*', 'off')`)
			mustExec(ctx, t, c, d.sql)
			mustExec(ctx, t, c, `DELETE FROM eider.settings`)
			rep, code := runFsck(ctx, t, dsn)
			for _, f := range foundBut(&rep, string(d.code), d.also, target.Name() == "pg") {
				t.Errorf("%s: found %s as well", d.code, f)
			}
			if code != 1 || rep.Totals[d.code] == 0 || len(rep.Repairs) == 0 {
				t.Errorf("%s: exit code %d, found %s, read %+v", d.code, code, foundCodes(&rep), rep.Counts)
				continue
			}
			rep, _ = repairAnyway(ctx, t, c, dsn, d.code == fsck.ScheduledLive && target.Name() == "eider", repair...)
			for _, r := range rep.Repairs {
				if r.Outcome != fsck.Applied {
					t.Errorf("%s: repair %s: %s", d.code, r.Outcome, r.Error)
				}
			}
			if left := foundBut(&rep, "", "", target.Name() == "pg"); len(left) > 0 {
				t.Errorf("%s: after the repair: %v", d.code, left)
			}
			// A client with nothing in its caches reads what was there, and writes.
			fresh := openLake(ctx, t, dsn, data)
			if got := fresh.rows(ctx, t, fsckContent); got != want {
				t.Errorf("%s: DuckDB reads %s, not %s", d.code, got, want)
			}
			next++
			fresh.must(ctx, t, fmt.Sprintf("INSERT INTO lake.t VALUES (%d, 0)", next), "INSERT INTO lake.w SELECT range FROM range(30)",
				"CALL ducklake_cleanup_old_files('lake', cleanup_all => true)")
			want = fresh.rows(ctx, t, fsckContent)
			if got := fresh.rows(ctx, t, "SELECT count(*) - count(DISTINCT rowid) FROM lake.t"); got != "0" {
				t.Errorf("%s: row ids given out twice: %s", d.code, got)
			}
		}
		if n := one(ctx, t, c, "SELECT count(DISTINCT code) FROM eider.repairs"); n == "0" {
			t.Error("no repair is recorded")
		}
		if rep, _ := runFsck(ctx, t, dsn, "--files"); len(foundBut(&rep, "", "", target.Name() == "pg")) > 0 {
			t.Errorf("at the end: %v", rep.Findings)
		}
	})
}

// refusedBy finds the check that refused a repair.
var refusedBy = regexp.MustCompile(`\(check ([a-z-]+)\)`)

// repairAnyway repairs; where a check of the server should refuse that, and does, it is told to let it pass, as docs/fsck.md says.
func repairAnyway(ctx context.Context, t *testing.T, c *pgconn.PgConn, dsn string, refused bool, args ...string) (rep fsck.Report, code int) {
	t.Helper()
	rep, code = runFsck(ctx, t, dsn, args...)
	if !refused {
		return rep, code
	}
	if len(rep.Repairs) != 1 || rep.Repairs[0].Outcome != fsck.Refused || code != 1 {
		t.Errorf("not refused: exit code %d, %+v", code, rep.Repairs)
		return rep, code
	}
	check := refusedBy.FindStringSubmatch(rep.Repairs[0].Error)
	if check == nil {
		t.Errorf("the refusal names no check: %s", rep.Repairs[0].Error)
		return rep, code
	}
	mustExec(ctx, t, c, "INSERT INTO eider.settings VALUES ('public', NULL, '"+check[1]+"', 'warn')")
	rep, code = runFsck(ctx, t, dsn, args...)
	mustExec(ctx, t, c, "DELETE FROM eider.settings")
	return rep, code
}

// foundBut are the findings of other codes that are no remarks. On PostgreSQL times go back by its nature.
func foundBut(rep *fsck.Report, code, also string, pg bool) (out []string) {
	for _, f := range rep.Findings {
		known := string(f.Code) == code || string(f.Code) == also || f.Severity == fsck.Info || pg && pgOnly[string(f.Code)]
		if !known {
			out = append(out, f.String())
		}
	}
	return out
}

// filesOf are the data files or delete files of a table, with their ids.
func filesOf(ctx context.Context, t *testing.T, c *pgconn.PgConn, data, relation string) map[string]string {
	t.Helper()
	out := map[string]string{}
	id := strings.TrimPrefix(relation, "ducklake_") + "_id"
	for _, r := range mustExec(ctx, t, c, "SELECT "+id+", path FROM "+relation+" WHERE table_id = 1 AND end_snapshot IS NULL ORDER BY 1")[0].Rows {
		out[string(r[0])] = filepath.Join(data, "main", "t", string(r[1]))
	}
	return out
}

// TestFsckFiles breaks files of a lake on disk.
func TestFsckFiles(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		l := openLake(ctx, t, dsn, data)
		l.must(ctx, t, "CALL lake.set_option('data_inlining_row_limit', 0)", "CREATE TABLE lake.t AS SELECT range AS i FROM range(1000)",
			"INSERT INTO lake.t SELECT range + 1000 FROM range(500)", "INSERT INTO lake.t SELECT range + 2000 FROM range(10)",
			"DELETE FROM lake.t WHERE i < 20", "CREATE TABLE lake.u AS SELECT 1 AS i")
		c := connect(ctx, t, dsn)
		dataFiles, deletes := filesOf(ctx, t, c, data, "ducklake_data_file"), filesOf(ctx, t, c, data, "ducklake_delete_file")
		if len(dataFiles) != 3 || len(deletes) != 1 {
			t.Fatalf("%v %v", dataFiles, deletes)
		}
		rep, code := runFsck(ctx, t, dsn, "--files")
		if code != 0 || rep.Counts.FilesRead != 5 || len(rep.Findings) > 0 {
			t.Fatalf("before: %+v %v", rep.Counts, rep.Findings)
		}
		var first, second, third, del string
		for _, p := range dataFiles {
			switch n := one(ctx, t, c, "SELECT record_count FROM ducklake_data_file WHERE path = '"+filepath.Base(p)+"'"); n {
			case "1000":
				first = p
			case "500":
				second = p
			default:
				third = p
			}
		}
		for _, p := range deletes {
			del = p
		}
		swap := func(code string, breakIt func(), undo func()) {
			t.Helper()
			breakIt()
			if rep, exit := runFsck(ctx, t, dsn, "--files"); exit != 1 || foundCodes(&rep) != code {
				t.Errorf("%s: exit code %d, found %s: %v, read %+v", code, exit, foundCodes(&rep), rep.Findings, rep.Counts)
			}
			undo()
		}
		keep := func(path string) func() {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		write := func(path string, b []byte) func() {
			return func() {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		whole, err := os.ReadFile(second)
		if err != nil {
			t.Fatal(err)
		}
		swap("file-damaged", write(first, []byte("PAR1 is not all that a file needs PAR1")), keep(first))
		swap("file-damaged", write(first, nil), keep(first))
		swap("file-rows file-size", write(first, whole), keep(first))
		swap("commit-files-missing file-missing", func() { _ = os.Remove(third) }, keep(third))
		swap("commit-files-missing file-missing", func() { _ = os.Remove(del) }, keep(del))
		sql := func(set, undo string) (func(), func()) {
			off := `CREATE SCHEMA IF NOT EXISTS eider; CREATE TABLE IF NOT EXISTS eider.settings (lake text, table_id bigint, "check" text, mode text); ` +
				`INSERT INTO eider.settings VALUES (NULL, NULL, '*', 'off')`
			mustExec(ctx, t, c, off)
			return func() { mustExec(ctx, t, c, set) }, func() { mustExec(ctx, t, c, undo) }
		}
		b, u := sql("UPDATE ducklake_data_file SET footer_size = footer_size + 1", "UPDATE ducklake_data_file SET footer_size = footer_size - 1")
		swap("footer-size", b, u)
		id := one(ctx, t, c, "SELECT data_file_id FROM ducklake_data_file WHERE record_count = 1000")
		start := one(ctx, t, c, "SELECT row_id_start FROM ducklake_data_file WHERE record_count = 1000")
		b, u = sql("UPDATE ducklake_data_file SET row_id_start = NULL WHERE data_file_id = "+id, "UPDATE ducklake_data_file SET row_id_start = "+start+" WHERE data_file_id = "+id)
		swap("row-id-missing", b, u)
		b, u = sql("UPDATE ducklake_delete_file SET delete_count = delete_count + 1", "UPDATE ducklake_delete_file SET delete_count = delete_count - 1")
		swap("delete-positions", b, u)
		// The same deletes, inlined as well: DuckDB then loses later deletes of the file. A repair takes them away.
		id = one(ctx, t, c, "SELECT data_file_id FROM ducklake_delete_file")
		b, u = sql("CREATE TABLE IF NOT EXISTS public.ducklake_inlined_delete_1 (file_id bigint, row_id bigint, begin_snapshot bigint); INSERT INTO public.ducklake_inlined_delete_1 VALUES ("+
			id+", 3, (SELECT max(snapshot_id) FROM ducklake_snapshot))", "SELECT 1")
		swap("delete-overlap", b, u)
		mustExec(ctx, t, c, "DELETE FROM eider.settings")
		repair := []string{"--files", "--repair"}
		if target.Name() == "pg" {
			repair = append(repair, "--no-checkpoint")
		}
		if rep, exit := repairAnyway(ctx, t, c, dsn, target.Name() == "eider", repair...); exit != 0 || len(rep.Repairs) != 1 || one(ctx, t, c, "SELECT count(*) FROM ducklake_inlined_delete_1") != "0" {
			t.Errorf("exit code %d, repairs %+v", exit, rep.Repairs)
		}
		fresh := openLake(ctx, t, dsn, data)
		if got := fresh.rows(ctx, t, "SELECT count(*), min(i) FROM lake.t"); got != "1490 | 20" {
			t.Errorf("after the repair: %s", got)
		}
	})
}

// TestFsckLostAnswer: a commit lands, its answer is lost, and stock DuckDB removes the files that it had written. fsck says which snapshot, table and
// files, and leaves them out in a new snapshot when it is told to.
func TestFsckLostAnswer(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		l := openLake(ctx, t, dsn, data)
		l.must(ctx, t, "CREATE TABLE lake.t AS SELECT range AS i FROM range(100)")
		cut := newCutter(t, dsn)
		sess := newDuck(ctx, t)
		if _, err := sess.Exec(ctx, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", cut.DSN(dsn), data)); err != nil {
			t.Fatal(err)
		}
		if _, err := sess.Query(ctx, "SELECT count(*) FROM lake.t"); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"BEGIN", "INSERT INTO lake.t SELECT range + 100 FROM range(50)"} {
			if _, err := sess.Exec(ctx, sql); err != nil {
				t.Fatal(err)
			}
		}
		cut.armed.Store(true)
		if _, err := sess.Exec(ctx, "COMMIT"); err == nil || cut.cuts.Load() != 1 {
			t.Fatalf("the commit's answer was not lost: %v", err)
		}
		c := connect(ctx, t, dsn)
		paths := filesOf(ctx, t, c, data, "ducklake_data_file")
		if len(paths) != 2 {
			t.Fatalf("the commit did not land: %v", paths)
		}
		var lost []string
		for _, p := range paths {
			if _, err := os.Stat(p); errors.Is(err, os.ErrNotExist) {
				lost = append(lost, p)
			}
		}
		if len(lost) != 1 {
			t.Fatalf("the client did not remove its file: %v of %v are gone", lost, paths)
		}
		rep, code := runFsck(ctx, t, dsn, "--files")
		if code != 1 || foundCodes(&rep) != "commit-files-missing file-missing" {
			t.Fatalf("exit code %d: %v", code, rep.Findings)
		}
		for _, f := range rep.Findings {
			t.Log(f)
			if f.Table != "main.t" || f.Snapshot == nil || *f.Snapshot != rep.Head || f.Repairable {
				t.Errorf("%+v", f)
			}
			if f.Code == fsck.CommitFilesMissing && (len(f.Files) != 1 || f.Files[0] != lost[0]) || f.Code == fsck.FileMissing && f.Path != lost[0] {
				t.Errorf("%+v", f)
			}
		}
		if got := openLake(ctx, t, dsn, data).rows(ctx, t, "SELECT sum(i) FROM lake.t"); got == "4950" {
			t.Error("the table is readable, though a file of it is gone")
		}
		args := []string{"--files", "--drop-missing-files", "--repair"}
		if target.Name() == "pg" {
			args = append(args, "--no-checkpoint")
		}
		was := rep.Head
		// The older snapshot that reads the file stays, and so does the finding.
		if rep, code = runFsck(ctx, t, dsn, args...); code != 1 || len(rep.Repairs) != 1 || rep.Repairs[0].Outcome != fsck.Applied || rep.Head != was+1 {
			t.Fatalf("exit code %d, head %d: %+v %v", code, rep.Head, rep.Repairs, rep.Findings)
		}
		fresh := openLake(ctx, t, dsn, data)
		if got := fresh.rows(ctx, t, "SELECT count(*), sum(i) FROM lake.t"); got != "100 | 4950" {
			t.Errorf("after the repair: %s", got)
		}
		fresh.must(ctx, t, "INSERT INTO lake.t VALUES (1)", fmt.Sprintf("CALL ducklake_expire_snapshots('lake', versions => [%d])", was))
		if rep, code = runFsck(ctx, t, dsn, "--files"); code != 0 {
			t.Errorf("when the snapshot is gone: %v", rep.Findings)
		}
	})
}

// A lake in a bucket.
func TestFsckS3(t *testing.T) {
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	endpoint := objectStorage(ctx, t)
	s := privateEider(t)
	sess := newDuck(ctx, t)
	makeBucket(ctx, t, sess, endpoint, "checked")
	for _, sql := range []string{
		fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH 's3://checked/data/')", s.DSN("lake")),
		"CALL lake.set_option('data_inlining_row_limit', 0)", "CREATE TABLE lake.t AS SELECT range AS i FROM range(100)", "DELETE FROM lake.t WHERE i < 5",
	} {
		if _, err := sess.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	access := []string{"--files", "--s3-endpoint", "http://" + endpoint, "--s3-path-style", "--s3-access-key", s3Key, "--s3-secret-file", s3SecretFile(t)}
	rep, code := runFsck(ctx, t, s.DSN("lake"), access...)
	if code != 0 || rep.Counts.FilesRead != 2 {
		t.Fatalf("%+v %v", rep.Counts, rep.Findings)
	}
	c := connect(ctx, t, s.DSN("lake"))
	mustExec(ctx, t, c, `CREATE SCHEMA IF NOT EXISTS eider; CREATE TABLE IF NOT EXISTS eider.settings (lake text, table_id bigint, "check" text, mode text)`)
	mustExec(ctx, t, c, "INSERT INTO eider.settings VALUES (NULL, NULL, '*', 'off')")
	mustExec(ctx, t, c, "UPDATE ducklake_data_file SET path = 'other.parquet'")
	mustExec(ctx, t, c, "UPDATE ducklake_delete_file SET file_size_bytes = 7")
	if rep, code = runFsck(ctx, t, s.DSN("lake"), access...); code != 1 || foundCodes(&rep) != "commit-files-missing file-missing file-size" {
		t.Errorf("exit code %d: %v", code, rep.Findings)
	}
	// Where nothing is found at all, the storage may be another: nothing is dropped.
	mustExec(ctx, t, c, "UPDATE ducklake_delete_file SET path = 'other-delete.parquet'")
	mustExec(ctx, t, c, "DELETE FROM eider.settings")
	rep, code = runFsck(ctx, t, s.DSN("lake"), append(access, "--drop-missing-files", "--repair")...)
	if code != 1 || len(rep.Repairs) != 0 || rep.Counts.FilesRead != 0 {
		t.Errorf("exit code %d: %+v", code, rep)
	}
	// Without credentials nothing can be said.
	rep, code = runFsck(ctx, t, s.DSN("lake"), "--files", "--s3-endpoint", "http://"+endpoint, "--s3-path-style")
	if code != 1 || foundCodes(&rep) != "file-unreadable" {
		t.Errorf("without credentials: exit code %d: %v", code, rep.Findings)
	}
}
