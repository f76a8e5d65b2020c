package e2e

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// partitionsAt are a table's partitions at a snapshot: its key values with the rows, values and NULLs in the files that have them, whether
// these are of the table's own partitioning, and their folders.
func partitionsAt(ctx context.Context, t *testing.T, c *pgconn.PgConn, table string, snapshot int) []string {
	t.Helper()
	seen := func(alias string) string {
		return fmt.Sprintf("%[1]s.begin_snapshot <= %[2]d AND (%[1]s.end_snapshot IS NULL OR %[1]s.end_snapshot > %[2]d)", alias, snapshot)
	}
	id := one(ctx, t, c, "SELECT table_id FROM ducklake_table x WHERE table_name = '"+table+"' AND "+seen("x"))
	own := mustExec(ctx, t, c, "SELECT partition_id FROM ducklake_partition_info x WHERE table_id = "+id+" AND "+seen("x"))[0].Rows
	number := func(text []byte) int {
		n, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	rows, stats := map[string]int{}, map[string]int{}
	for _, f := range mustExec(ctx, t, c, "SELECT data_file_id, partition_id, record_count, path FROM ducklake_data_file x WHERE table_id = "+id+" AND "+seen("x"))[0].Rows {
		key := "other partitioning"
		if len(own) == 1 && string(f[1]) == string(own[0][0]) {
			key = "own partitioning"
		}
		for _, v := range mustExec(ctx, t, c, "SELECT partition_key_index, partition_value, table_id FROM ducklake_file_partition_value WHERE data_file_id = "+string(f[0])+" ORDER BY 1")[0].Rows {
			key += fmt.Sprintf(" %s=%q", v[0], v[1])
			if v[1] == nil {
				key += " is null"
			}
			if string(v[2]) != id {
				key += " of table " + string(v[2])
			}
		}
		key += " in " + path.Dir(string(f[3]))
		for _, v := range mustExec(ctx, t, c, "SELECT column_id, value_count, null_count FROM ducklake_file_column_stats WHERE data_file_id = "+string(f[0])+" ORDER BY 1")[0].Rows {
			for i, name := range []string{"values", "NULLs"} {
				stats[fmt.Sprintf("%s: %s of column %s", key, name, v[0])] += number(v[i+1])
			}
		}
		rows[key] += number(f[2])
	}
	out := make([]string, 0, len(rows)+len(stats))
	for _, m := range []map[string]int{rows, stats} {
		for key, n := range m {
			out = append(out, fmt.Sprintf("%s: %d", key, n))
		}
	}
	slices.Sort(out)
	return out
}

var filesRead = regexp.MustCompile(`Total Files Read: *(\d+)`)

// readOf is how many files a query of a lake reads.
func readOf(ctx context.Context, t *testing.T, s duck.Session, query string) string {
	t.Helper()
	plan := strings.Join(mustDuck(ctx, t, s, "EXPLAIN ANALYZE "+query).Lines(), "\n")
	m := filesRead.FindStringSubmatch(plan)
	if m == nil {
		t.Fatalf("%s\n%s", query, plan)
	}
	return m[1]
}

// TestRestorePartitions restores tables of every kind of partitioning. The new files are in the partitions that an INSERT of DuckLake put the rows
// into, so that queries leave out as many files, and merges take what belongs together.
func TestRestorePartitions(t *testing.T) {
	tables := []struct {
		name, columns, keys, rows string
		where                     string // is true of the rows of one file
		after                     []string
		created                   bool // under a new id
	}{
		{
			name: "strings", columns: "i BIGINT, p VARCHAR", keys: "p",
			rows:  "SELECT i, p FROM range(%d, %d) r(i), (VALUES ('a b'), ('a/b'), ('it''s'), ('x=y'), ('50%%'), (''), (NULL), ('größe'), ('a\\b'), ('NULL'), ('#?&')) v(p)",
			where: "p = 'a/b'",
		},
		{
			name: "two", columns: "a INTEGER, i BIGINT, \"b c\" DATE", keys: "\"b c\", a",
			rows: "SELECT i %% 3, i, DATE '2024-02-28' + (i %% 2)::INTEGER FROM range(%d, %d) r(i)", where: "\"b c\" = DATE '2024-02-29' AND a = 1",
		},
		{
			name: "times", columns: "i BIGINT, ts TIMESTAMP", keys: "year(ts), month(ts), day(ts), hour(ts)",
			rows: "SELECT i, TIMESTAMP '2019-12-30 22:30:00' + INTERVAL (i * 7) HOUR FROM range(%d, %d) r(i)", where: "ts = TIMESTAMP '2019-12-31 05:30:00'",
		},
		{
			name: "buckets", columns: "i BIGINT, s VARCHAR, d DATE", keys: "bucket(3, i), bucket(2, s), bucket(2, d)",
			rows: "SELECT i, 's' || i, DATE '2020-01-01' + i::INTEGER FROM range(%d, %d) r(i)", where: "i = 7 AND s = 's7' AND d = DATE '2020-01-08'",
		},
		{
			// Names of keys that are columns' names.
			name: "mixed", columns: "i BIGINT, \"year\" INTEGER, ts TIMESTAMP, \"bucket\" BIGINT", keys: "\"year\", year(ts), bucket(2, \"bucket\")",
			rows: "SELECT i, 1900 + i %% 2, TIMESTAMP '2019-12-31' + INTERVAL (i) DAY, i FROM range(%d, %d) r(i)", where: "\"year\" = 1901 AND ts >= '2020-01-01' AND \"bucket\" = 1",
		},
		{
			name: "flat", columns: "i BIGINT, p INTEGER", keys: "p", rows: "SELECT i, i %% 4 FROM range(%d, %d) r(i)", where: "p = 3",
		},
		{
			name: "again", columns: "i BIGINT, p INTEGER", keys: "p", rows: "SELECT i, i %% 4 FROM range(%d, %d) r(i)", where: "p = 3",
			after: []string{"ALTER TABLE lake.again RESET PARTITIONED BY", "ALTER TABLE lake.again SET PARTITIONED BY (p)"},
		},
		{
			name: "other", columns: "i BIGINT, p INTEGER", keys: "p", rows: "SELECT i, i %% 4 FROM range(%d, %d) r(i)", where: "p = 3",
			after: []string{"ALTER TABLE lake.other SET PARTITIONED BY (i)"}, created: true,
		},
		{
			name: "without", columns: "i BIGINT, p INTEGER", keys: "p", rows: "SELECT i, i %% 4 FROM range(%d, %d) r(i)", where: "p = 3",
			after: []string{"ALTER TABLE lake.without RESET PARTITIONED BY"}, created: true,
		},
		{
			name: "gone", columns: "i BIGINT, p INTEGER", keys: "bucket(4, p)", rows: "SELECT i, i %% 4 FROM range(%d, %d) r(i)", where: "p = 3",
			after: []string{"DROP TABLE lake.gone"}, created: true,
		},
	}
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		db := databaseOf(t, dsn)
		c := connect(ctx, t, dsn)
		s := lakeSession(ctx, t, dsn, data)
		mustDuck(ctx, t, s, "CALL lake.set_option('data_inlining_row_limit', 0)")
		insert := func(name, rows string, from, to int) {
			t.Helper()
			mustDuck(ctx, t, s, "INSERT INTO lake."+name+" "+fmt.Sprintf(rows, from, to))
		}
		for _, tc := range tables {
			mustDuck(ctx, t, s, fmt.Sprintf("CREATE TABLE lake.%s (%s)", tc.name, tc.columns))
			mustDuck(ctx, t, s, fmt.Sprintf("ALTER TABLE lake.%s SET PARTITIONED BY (%s)", tc.name, tc.keys))
			if tc.name == "flat" {
				mustDuck(ctx, t, s, "CALL lake.set_option('hive_file_pattern', false, table_name => 'flat')")
			}
			insert(tc.name, tc.rows, 0, 12)
			insert(tc.name, tc.rows, 12, 24)
		}
		old := headSnapshot(ctx, t, dsn)
		want := lakeVersion(ctx, t, dsn, data, int64(old))
		for _, tc := range tables {
			mustDuck(ctx, t, s, fmt.Sprintf("DELETE FROM lake.%s WHERE i %% 5 = 0", tc.name))
			for _, sql := range tc.after {
				mustDuck(ctx, t, s, sql)
			}
		}
		last := headSnapshot(ctx, t, dsn)
		before := lakeVersion(ctx, t, dsn, data, int64(last))
		code, res, errs := runRestore(ctx, t, target, db, fmt.Sprint(old))
		if code != 0 || len(res.Created) != 3 || len(res.Rows) != len(tables)-3 {
			t.Fatalf("exit code %d, %+v\n%s", code, res, errs)
		}
		head := headSnapshot(ctx, t, dsn)
		same := func(when string) {
			t.Helper()
			for v, want := range map[int]map[string]string{old: want, last: before, head: want} {
				if diff := cmp.Diff(want, lakeVersion(ctx, t, dsn, data, int64(v))); diff != "" {
					t.Errorf("%s, snapshot %d:\n%s", when, v, diff)
				}
			}
			if rep, _ := runFsck(ctx, t, dsn, "--files"); len(foundBut(&rep, "", "", target.Name() == "pg")) > 0 {
				t.Errorf("%s: %v", when, rep.Findings)
			}
		}
		same("restored")
		fresh := lakeSession(ctx, t, dsn, data)
		for _, tc := range tables {
			if diff := cmp.Diff(partitionsAt(ctx, t, c, tc.name, old), partitionsAt(ctx, t, c, tc.name, head)); diff != "" {
				t.Errorf("%s: partitions:\n%s", tc.name, diff)
			}
			count := fmt.Sprintf("SELECT count(*) FROM lake.%s WHERE %s", tc.name, tc.where)
			if n := readOf(ctx, t, fresh, count); n != "1" {
				t.Errorf("%s: %s files are read", tc.name, n)
			}
			was := mustDuck(ctx, t, fresh, fmt.Sprintf("SELECT count(*) FROM lake.%s AT (VERSION => %d) WHERE %s", tc.name, old, tc.where)).Lines()[0]
			if is := mustDuck(ctx, t, fresh, count).Lines()[0]; is != was || is == "0" {
				t.Errorf("%s: %s rows, were %s", tc.name, is, was)
			}
		}
		if code, again, errs := runRestore(ctx, t, target, db, fmt.Sprint(old)); code != 0 || again.New != 0 {
			t.Errorf("again: exit code %d, %+v\n%s", code, again, errs)
		}
		if flat, err := filepath.Glob(filepath.Join(data, "main", "flat", "*.parquet")); err != nil || len(flat) == 0 {
			t.Errorf("files without values in their paths: %q, %v", flat, err)
		}
		// What is written from now on, by a client that knew the lake before, is merged with the files of the restore, each partition by itself.
		for _, tc := range tables {
			insert(tc.name, tc.rows, 24, 36)
			insert(tc.name, tc.rows, 36, 48)
		}
		grown := headSnapshot(ctx, t, dsn)
		rows := lakeVersion(ctx, t, dsn, data, int64(grown))
		live := "SELECT count(*) FROM ducklake_data_file WHERE end_snapshot IS NULL"
		files := one(ctx, t, c, live)
		mustDuck(ctx, t, s, "CALL ducklake_merge_adjacent_files('lake')")
		merged := headSnapshot(ctx, t, dsn)
		if n := one(ctx, t, c, live); n == files || merged == grown {
			t.Errorf("nothing is merged: %s files, were %s", n, files)
		}
		same("merged")
		if diff := cmp.Diff(rows, lakeVersion(ctx, t, dsn, data, int64(merged))); diff != "" {
			t.Errorf("the merge changes rows:\n%s", diff)
		}
		fresh = lakeSession(ctx, t, dsn, data)
		for _, tc := range tables {
			if diff := cmp.Diff(partitionsAt(ctx, t, c, tc.name, grown), partitionsAt(ctx, t, c, tc.name, merged)); diff != "" {
				t.Errorf("%s: partitions after the merge:\n%s", tc.name, diff)
			}
			if n := readOf(ctx, t, fresh, fmt.Sprintf("SELECT count(*) FROM lake.%s WHERE %s", tc.name, tc.where)); n != "1" {
				t.Errorf("%s: %s files are read after the merge", tc.name, n)
			}
		}
	})
}

// TestRestoreObjectStorage restores tables whose files are in a bucket, with partition values that are escaped in paths and without.
func TestRestoreObjectStorage(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		endpoint := objectStorage(ctx, t)
		c := connect(ctx, t, dsn)
		s := newDuck(ctx, t)
		makeBucket(ctx, t, s, endpoint, "restore")
		must := func(list ...string) {
			t.Helper()
			for _, sql := range list {
				mustDuck(ctx, t, s, sql)
			}
		}
		must(fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH 's3://restore/data')", dsn),
			"CALL lake.set_option('data_inlining_row_limit', 0)",
			"CREATE TABLE lake.parts (i BIGINT, p VARCHAR, ts TIMESTAMP)",
			"ALTER TABLE lake.parts SET PARTITIONED BY (p, month(ts))",
			"CREATE TABLE lake.plain (i BIGINT)")
		fill := []string{
			"INSERT INTO lake.parts SELECT i, p, TIMESTAMP '2024-01-31' + INTERVAL (i) DAY FROM range(4) r(i), (VALUES ('a b'), ('é/ü=50%'), ('#?&'), (NULL)) v(p)",
			"INSERT INTO lake.plain SELECT i FROM range(30) r(i)",
		}
		must(fill...)
		old := headSnapshot(ctx, t, dsn)
		content := func(table string, at int) string {
			return strings.Join(mustDuck(ctx, t, s, fmt.Sprintf("SELECT rowid, * FROM lake.%s AT (VERSION => %d) ORDER BY ALL", table, at)).Lines(), "\n")
		}
		tables := []string{"parts", "plain"}
		want := map[string]string{}
		for _, table := range tables {
			want[table] = content(table, old)
			must("DELETE FROM lake." + table + " WHERE i > 1")
		}
		init := filepath.Join(t.TempDir(), "init.sql")
		if err := os.WriteFile(init, []byte(strings.Join(speakS3(ctx, t, endpoint), ";\n")+";\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, res, errs := runRestore(ctx, t, target, databaseOf(t, dsn), fmt.Sprint(old), "--init-file", init)
		if code != 0 || len(res.Rows) != len(tables) {
			t.Fatalf("exit code %d, %+v\n%s", code, res, errs)
		}
		same := func(when string) {
			t.Helper()
			for _, table := range tables {
				for _, at := range []int{old, int(res.New)} {
					if diff := cmp.Diff(want[table], content(table, at)); diff != "" {
						t.Errorf("%s, %s at %d:\n%s", when, table, at, diff)
					}
				}
			}
			access := []string{"--files", "--s3-endpoint", "http://" + endpoint, "--s3-path-style", "--s3-access-key", s3Key, "--s3-secret-file", s3SecretFile(t)}
			if rep, _ := runFsck(ctx, t, dsn, access...); len(foundBut(&rep, "", "", target.Name() == "pg")) > 0 {
				t.Errorf("%s: %v", when, rep.Findings)
			}
		}
		same("restored")
		for _, table := range tables {
			if diff := cmp.Diff(partitionsAt(ctx, t, c, table, old), partitionsAt(ctx, t, c, table, int(res.New))); diff != "" {
				t.Errorf("partitions of %s:\n%s", table, diff)
			}
		}
		must(fill...)
		live := "SELECT count(*) FROM ducklake_data_file WHERE end_snapshot IS NULL"
		files := one(ctx, t, c, live)
		must("CALL ducklake_merge_adjacent_files('lake')")
		if n := one(ctx, t, c, live); n == files {
			t.Errorf("nothing is merged: %s files", n)
		}
		same("merged")
	})
}
