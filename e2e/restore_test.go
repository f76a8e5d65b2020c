package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/proc"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// restored is what the worker's restore reports.
type restored struct {
	New              int64    `json:"new_snapshot"`
	Rows             []string `json:"tables_with_other_rows"`
	Dropped, Created []string
}

// runRestore restores a snapshot of the lake in a database.
func runRestore(ctx context.Context, t *testing.T, target script.Target, db, snapshot string, args ...string) (int, restored, string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, eiderWorker(t), slices.Concat([]string{"restore", snapshot}, workerArgs(ctx, t, target, db), args)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	p, err := proc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	var r restored
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", out.String(), err)
		}
	}
	return cmd.ProcessState.ExitCode(), r, errs.String()
}

// lakeVersion is what a lake holds at a snapshot: its tables with columns, comments, partitioning and rows under their ids, its views and macros.
func lakeVersion(ctx context.Context, t *testing.T, dsn, data string, snapshot int64) map[string]string {
	t.Helper()
	inst, err := duck.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	s, err := inst.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s', SNAPSHOT_VERSION %d)", dsn, data, snapshot)
	if _, err := s.Exec(ctx, attach); err != nil {
		t.Fatalf("%s: %v", attach, err)
	}
	out := map[string]string{}
	list := func(sql string) [][]string { return mustDuck(ctx, t, s, sql).Rows }
	for _, row := range list("SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake'") {
		out["schema "+row[0]] = ""
	}
	for _, row := range list("SELECT schema_name, table_name, coalesce(comment, '-') FROM duckdb_tables() WHERE database_name = 'lake'") {
		name := row[0] + "." + row[1]
		cols := strings.Join(mustDuck(ctx, t, s, fmt.Sprintf("SELECT column_name, data_type, is_nullable, coalesce(column_default, '-'), coalesce(comment, '-') FROM duckdb_columns() WHERE database_name = 'lake' AND schema_name = '%s' AND table_name = '%s' ORDER BY column_index", row[0], row[1])).Lines(), "; ")
		rows := mustDuck(ctx, t, s, fmt.Sprintf("SELECT x::VARCHAR FROM (SELECT rowid, * FROM lake.\"%s\".\"%s\") x ORDER BY rowid", row[0], row[1])).Lines()
		out["table "+name] = row[2] + " | " + cols + "\n" + strings.Join(rows, "\n")
	}
	for _, row := range list("SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = 'lake' AND NOT internal") {
		out["view "+row[0]+"."+row[1]] = row[2]
	}
	for _, row := range list("SELECT schema_name, function_name, macro_definition FROM duckdb_functions() WHERE database_name = 'lake' AND function_type LIKE '%macro%' AND NOT internal") {
		out["macro "+row[0]+"."+row[1]] = row[2]
	}
	return out
}

// restoreHistory commits random statements of all kinds.
type restoreHistory struct {
	r      *rand.Rand
	s      duck.Session
	next   int
	tables []string // that exist
	made   int
}

// restoreColumns are a table's of restoreHistory.
const restoreColumns = " (i BIGINT, v VARCHAR DEFAULT 'x', s STRUCT(a INTEGER, b VARCHAR), l INTEGER[])"

// name is one of five names in a schema. The folder of a table with a blank in its name is another one each time that it is made.
func (h *restoreHistory) name(schema string) string {
	h.made++
	if n := h.made % 5; n > 2 {
		return fmt.Sprintf("%s.\"t %d\"", schema, n)
	}
	return fmt.Sprintf("%s.t%d", schema, h.made%5)
}

// step commits one statement; one that DuckLake refuses is left out.
func (h *restoreHistory) step(ctx context.Context, t *testing.T) {
	t.Helper()
	pick := func() string { return h.tables[h.r.IntN(len(h.tables))] }
	var sql string
	after := func() {}
	n := 1 + h.r.IntN(8)
	if h.r.IntN(2) == 0 {
		n += 20 // beyond inlining
	}
	switch k := h.r.IntN(24); {
	case len(h.tables) == 0 || k == 0 && len(h.tables) < 4:
		name := h.name("main")
		if h.r.IntN(3) == 0 {
			name = h.name("other")
			if _, err := h.s.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS other"); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Contains(h.tables, name) {
			return
		}
		sql = "CREATE TABLE " + name + restoreColumns
		after = func() { h.tables = append(h.tables, name) }
	case k < 7:
		sql = fmt.Sprintf("INSERT INTO %s (i, v) SELECT i, 'v' || i FROM range(%d, %d) t(i)", pick(), h.next, h.next+n)
		h.next += n
	case k < 9:
		sql = fmt.Sprintf("UPDATE %s SET v = 'u%d' WHERE i %% 7 = %d", pick(), h.next, h.r.IntN(7))
	case k < 12:
		sql = fmt.Sprintf("DELETE FROM %s WHERE i %% 5 = %d", pick(), h.r.IntN(5))
	case k == 12:
		sql = "CALL ducklake_flush_inlined_data('lake')"
	case k == 13:
		sql = "CALL ducklake_merge_adjacent_files('lake')"
	case k == 14:
		table := pick()
		sql = "DROP TABLE " + table
		after = func() { h.tables = slices.DeleteFunc(h.tables, func(s string) bool { return s == table }) }
	case k == 15:
		sql = fmt.Sprintf("ALTER TABLE %s ADD COLUMN c%d INTEGER DEFAULT %d", pick(), h.next, h.next)
		h.next++
	case k == 16:
		sql = []string{"ALTER TABLE %s RENAME v TO w", "ALTER TABLE %s DROP COLUMN s", "ALTER TABLE %s SET PARTITIONED BY (i)", "ALTER TABLE %s SET PARTITIONED BY (bucket(3, i), v)", "ALTER TABLE %s SET SORTED BY (i DESC)"}[h.r.IntN(5)]
		sql = fmt.Sprintf(sql, pick())
	case k == 17:
		sql = fmt.Sprintf("COMMENT ON TABLE %s IS 'c%d'", pick(), h.next)
		if h.r.IntN(2) == 0 {
			sql = fmt.Sprintf("COMMENT ON COLUMN %s.i IS 'c%d'", pick(), h.next)
		}
		h.next++
	case k == 18: // other tables under the names, in other folders
		from := pick()
		schema, _, _ := strings.Cut(from, ".")
		to := h.name(schema)
		if i := slices.IndexFunc(h.tables, func(s string) bool { return s != from && strings.HasPrefix(s, schema+".") }); i >= 0 && h.r.IntN(2) == 0 {
			to = h.tables[i]
		}
		_, name, _ := strings.Cut(to, ".")
		sql = fmt.Sprintf("ALTER TABLE %s RENAME TO %s", from, name)
		if slices.Contains(h.tables, to) {
			sql = "BEGIN; DROP TABLE " + to + "; " + sql + "; COMMIT"
		}
		after = func() {
			h.tables = append(slices.DeleteFunc(h.tables, func(s string) bool { return s == from || s == to }), to)
		}
	case k == 19:
		sql = "CREATE OR REPLACE TABLE " + pick() + restoreColumns
	case k == 20:
		sql = "DROP SCHEMA IF EXISTS other CASCADE"
		after = func() {
			h.tables = slices.DeleteFunc(h.tables, func(s string) bool { return strings.HasPrefix(s, "other.") })
		}
	case k == 21:
		sql = fmt.Sprintf("CREATE OR REPLACE VIEW main.w%d AS SELECT %d AS x", h.r.IntN(2), h.next)
		if h.r.IntN(3) == 0 {
			sql = fmt.Sprintf("DROP VIEW IF EXISTS main.w%d", h.r.IntN(2))
		}
		h.next++
	default:
		sql = fmt.Sprintf("CREATE OR REPLACE MACRO main.m%d(a) AS a + %d", h.r.IntN(2), h.next)
		h.next++
	}
	if _, err := h.s.Exec(ctx, sql); err != nil {
		t.Logf("left out: %s: %.200s", sql, err)
		_, _ = h.s.Exec(ctx, "ROLLBACK") // of a swap
		return
	}
	after()
}

// TestRestore restores lakes of random histories to their old snapshots, one after the other. The new snapshot is equal to the old one, with all
// row ids; every older version reads as before; the lake is healthy, and goes on.
func TestRestore(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		db := databaseOf(t, dsn)
		s := lakeSession(ctx, t, dsn, data)
		h := &restoreHistory{r: rand.New(rand.NewPCG(newSeed(t), 0)), s: s}
		for range times(60, 30) {
			h.step(ctx, t)
		}
		last := int64(headSnapshot(ctx, t, dsn))
		before := map[int64]map[string]string{}
		for v := range last + 1 {
			before[v] = lakeVersion(ctx, t, dsn, data, v)
		}
		all := make([]int64, 0, last+1)
		for v := range last + 1 {
			all = append(all, v)
		}
		h.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, v := range all[:min(len(all), times(40, 10))] {
			code, res, errs := runRestore(ctx, t, target, db, fmt.Sprint(v))
			if code != 0 {
				t.Fatalf("snapshot %d: exit code %d\n%s", v, code, errs)
			}
			head := int64(headSnapshot(ctx, t, dsn))
			if res.New != 0 && res.New != head {
				t.Errorf("snapshot %d is restored as %d, and the newest is %d", v, res.New, head)
			}
			if diff := cmp.Diff(before[v], lakeVersion(ctx, t, dsn, data, head)); diff != "" {
				t.Errorf("snapshot %d, restored as %d (%+v):\n%s", v, head, res, diff)
			}
			if err := healthy(ctx, target, db); err != nil {
				t.Errorf("after snapshot %d was restored as %d: %v", v, head, err)
			}
			if code, again, errs := runRestore(ctx, t, target, db, fmt.Sprint(v)); code != 0 || again.New != 0 {
				t.Errorf("snapshot %d again: exit code %d, %+v\n%s", v, code, again, errs)
			}
			if t.Failed() {
				return
			}
		}
		for v := range last + 1 {
			if diff := cmp.Diff(before[v], lakeVersion(ctx, t, dsn, data, v)); diff != "" {
				t.Errorf("older version %d changes:\n%s", v, diff)
			}
		}
		// The lake goes on, with a client that knew it before.
		fresh := lakeSession(ctx, t, dsn, data)
		for _, s := range []duck.Session{s, fresh} {
			for _, row := range mustDuck(ctx, t, s, "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'lake' AND schema_name IN ('main', 'other')").Rows {
				name := fmt.Sprintf("%s.%q", row[0], row[1])
				n := mustDuck(ctx, t, s, "SELECT count(*) FROM lake."+name).Lines()[0]
				for _, sql := range []string{
					"INSERT INTO lake.%s (i) SELECT i FROM range(1000000, 1000060) t(i)", "INSERT INTO lake.%s (i) VALUES (2000000)", "UPDATE lake.%s SET i = i + 1 WHERE i >= 1000000",
					"DELETE FROM lake.%s WHERE i > 1000000",
				} {
					mustDuck(ctx, t, s, fmt.Sprintf(sql, name))
				}
				if now := mustDuck(ctx, t, s, fmt.Sprintf("SELECT count(*), count(*) - count(DISTINCT rowid) FROM lake.%s", name)).Lines()[0]; now != n+" | 0" {
					t.Errorf("table %s: %s rows, were %s", name, now, n)
				}
			}
		}
		at := int64(headSnapshot(ctx, t, dsn))
		want := lakeVersion(ctx, t, dsn, data, at)
		if code, did, errs := runMaintain(ctx, t, target, db); code != 0 {
			t.Errorf("maintain: exit code %d, %+v\n%s", code, did, errs)
		}
		if diff := cmp.Diff(want, lakeVersion(ctx, t, dsn, data, int64(headSnapshot(ctx, t, dsn)))); diff != "" {
			t.Errorf("after maintenance:\n%s", diff)
		}
		for v := range last + 1 {
			if diff := cmp.Diff(before[v], lakeVersion(ctx, t, dsn, data, v)); diff != "" {
				t.Errorf("older version %d changes with maintenance:\n%s", v, diff)
			}
		}
		if err := healthy(ctx, target, db); err != nil {
			t.Error(err)
		}
	})
}

// TestRestoreParts restores single tables, by tag, and refuses what cannot be.
func TestRestoreParts(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		db := databaseOf(t, dsn)
		s := lakeSession(ctx, t, dsn, data)
		for _, sql := range []string{
			"CREATE SCHEMA other", "CREATE TABLE main.a (i BIGINT)", "CREATE TABLE other.b (i BIGINT)", "CREATE TABLE main.c (i BIGINT)",
			"INSERT INTO main.a SELECT i FROM range(100) t(i)", "INSERT INTO other.b SELECT i FROM range(50) t(i)",
		} {
			mustDuck(ctx, t, s, sql)
		}
		old := headSnapshot(ctx, t, dsn)
		c := connect(ctx, t, dsn)
		mustExec(ctx, t, c, "CREATE SCHEMA IF NOT EXISTS eider")
		mustExec(ctx, t, c, "CREATE TABLE IF NOT EXISTS eider.tags (lake text, tag text, snapshot_id bigint, created_at timestamptz, note text)")
		mustExec(ctx, t, c, fmt.Sprintf("INSERT INTO eider.tags VALUES ('public', 'good', %d, now(), NULL)", old))
		for _, sql := range []string{"DELETE FROM main.a WHERE i < 60", "DROP TABLE other.b", "DROP SCHEMA other", "DROP TABLE main.c", "CREATE VIEW main.w AS SELECT 1 AS x"} {
			mustDuck(ctx, t, s, sql)
		}
		head := headSnapshot(ctx, t, dsn)
		code, res, errs := runRestore(ctx, t, target, db, "good", "--dry-run")
		if code != 0 || headSnapshot(ctx, t, dsn) != head || len(res.Rows) != 1 || len(res.Created) != 2 || len(res.Dropped) != 1 {
			t.Errorf("dry run: exit code %d, %+v\n%s", code, res, errs)
		}
		code, res, errs = runRestore(ctx, t, target, db, "good", "--table", "other.b")
		if code != 0 || len(res.Created) != 1 || len(res.Rows) != 0 {
			t.Fatalf("one table: exit code %d, %+v\n%s", code, res, errs)
		}
		if got := mustDuck(ctx, t, lakeSession(ctx, t, dsn, data), "SELECT (SELECT count(*) FROM lake.other.b), (SELECT count(*) FROM lake.main.a), (SELECT count(*) FROM lake.main.w)").Lines()[0]; got != "50 | 40 | 1" {
			t.Errorf("one table is restored: %s", got)
		}
		code, res, errs = runRestore(ctx, t, target, db, "good", "--schema", "main", "--table", "a")
		if code != 0 || len(res.Rows) != 1 || len(res.Created) != 0 {
			t.Fatalf("one table of a schema: exit code %d, %+v\n%s", code, res, errs)
		}
		if got := mustDuck(ctx, t, lakeSession(ctx, t, dsn, data), "SELECT count(*), min(rowid), max(rowid) FROM lake.main.a").Lines()[0]; got != "100 | 0 | 99" {
			t.Errorf("rows are restored: %s", got)
		}
		for snapshot, says := range map[string]string{"bad": "no tag", "9999": "no such snapshot"} {
			if code, _, errs := runRestore(ctx, t, target, db, snapshot); code != 1 || !strings.Contains(errs, says) {
				t.Errorf("%s: exit code %d\n%s", snapshot, code, errs)
			}
		}
		if code, _, errs := runRestore(ctx, t, target, db, "good", "--table", "zzz"); code != 1 || !strings.Contains(errs, "no such table") {
			t.Errorf("an unknown table: exit code %d\n%s", code, errs)
		}
		// A version whose files are gone is refused with the name of a file, and nothing is written.
		mustDuck(ctx, t, s, "DELETE FROM main.a")
		files, err := filepath.Glob(filepath.Join(data, "main", "a", "*.parquet"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if err := os.Rename(f, f+".away"); err != nil {
				t.Fatal(err)
			}
		}
		head = headSnapshot(ctx, t, dsn)
		for _, args := range [][]string{{"--dry-run"}, nil} {
			if code, _, errs := runRestore(ctx, t, target, db, "good", args...); code != 1 || !strings.Contains(errs, ".parquet") || headSnapshot(ctx, t, dsn) != head {
				t.Errorf("%v without files: exit code %d, head %d, was %d\n%s", args, code, headSnapshot(ctx, t, dsn), head, errs)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(data, "*", "*", "*.parquet")); slices.ContainsFunc(left, func(f string) bool { return strings.Contains(f, filepath.Join("main", "a")) }) {
			t.Errorf("files are left of what was refused: %q", left)
		}
	})
}
