package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// Commits that would corrupt the catalog, sent as a client sends its batch. PostgreSQL takes every one of them; eider refuses each with a text
// that is final, and the lake stays what it was.

// guardSetup is a lake with what the cases break: files, a delete file, an inlined delete, inlined rows, a schema that has ended with its view and
// its macro.
var guardSetup = []string{
	"CREATE TABLE lake.t AS SELECT range AS i FROM range(40)",
	"INSERT INTO lake.t SELECT range + 40 FROM range(20)",
	"DELETE FROM lake.t WHERE i BETWEEN 25 AND 39",
	"DELETE FROM lake.t WHERE i = 3",
	"INSERT INTO lake.t VALUES (100), (101)",
	"CREATE TABLE lake.u AS SELECT range AS i FROM range(20)",
	"CREATE SCHEMA lake.s",
	"CREATE TABLE lake.s.w (i INTEGER)",
	"CREATE VIEW lake.s.v AS SELECT 1 AS one",
	"CREATE MACRO lake.s.m() AS 1",
	"DROP SCHEMA lake.s CASCADE",
}

// head is the newest snapshot.
type head struct{ id, version, catalogID, fileID int64 }

func readHead(ctx context.Context, t testing.TB, c *pgconn.PgConn) (h head) {
	t.Helper()
	res := mustExec(ctx, t, c, "SELECT snapshot_id, schema_version, next_catalog_id, next_file_id FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1")
	for i, p := range []*int64{&h.id, &h.version, &h.catalogID, &h.fileID} {
		n, err := strconv.ParseInt(string(res[0].Rows[0][i]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		*p = n
	}
	return h
}

// batch is the text of a commit: its snapshot, the statements, its changes.
func (h head) batch(next head, made string, statements ...string) string {
	list := append([]string{fmt.Sprintf("INSERT INTO ducklake_snapshot VALUES (%d, NOW(), %d, %d, %d)", next.id, next.version, next.catalogID, next.fileID)}, statements...)
	list = append(list, fmt.Sprintf("INSERT INTO ducklake_snapshot_changes VALUES (%d, '%s', NULL, NULL, NULL)", next.id, made))
	return strings.Join(list, ";\n")
}

// next is the snapshot that follows, with so many more ids.
func (h head) next(version, catalogIDs, fileIDs int64) head {
	return head{h.id + 1, h.version + version, h.catalogID + catalogIDs, h.fileID + fileIDs}
}

// copyRow returns an INSERT of a row of a table with some columns changed; a value is SQL.
func copyRow(ctx context.Context, t testing.TB, c *pgconn.PgConn, table, where string, change map[string]string) string {
	t.Helper()
	res := mustExec(ctx, t, c, "SELECT * FROM "+table+" WHERE "+where+" LIMIT 1")
	if len(res[0].Rows) != 1 {
		t.Fatalf("no row of %s where %s", table, where)
	}
	vals := make([]string, len(res[0].Rows[0]))
	for i, v := range res[0].Rows[0] {
		switch name := res[0].FieldDescriptions[i].Name; {
		case change[name] != "":
			vals[i] = change[name]
		case v == nil:
			vals[i] = "NULL"
		default:
			vals[i] = "'" + strings.ReplaceAll(string(v), "'", "''") + "'"
		}
	}
	return "INSERT INTO " + table + " VALUES (" + strings.Join(vals, ", ") + ")"
}

// guardCase is a commit that must not land.
type guardCase struct{ name, sql string }

// guardCases writes the cases for a lake as guardSetup leaves it.
func guardCases(ctx context.Context, t testing.TB, c *pgconn.PgConn) []guardCase {
	t.Helper()
	h := readHead(ctx, t, c)
	begin := fmt.Sprint(h.id + 1)
	row := func(table, where string, change map[string]string) string {
		return copyRow(ctx, t, c, table, where, change)
	}
	tID := one(ctx, t, c, "SELECT table_id FROM ducklake_table WHERE table_name = 't'")
	uFile := one(ctx, t, c, "SELECT data_file_id FROM ducklake_data_file f JOIN ducklake_table t USING (table_id) WHERE table_name = 'u'")
	with := func(more ...string) map[string]string {
		out := map[string]string{"begin_snapshot": begin, "end_snapshot": "NULL"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	again := with()
	newTable, newFile := fmt.Sprint(h.catalogID), fmt.Sprint(h.fileID)
	inserted, deleted := "inserted_into_table:"+tID, "deleted_from_table:"+tID
	return []guardCase{
		{"G01", h.batch(h.next(0, 0, -1), "inlined_insert:"+tID)},
		{"G02", h.batch(h.next(1, -1, 0), `created_schema:"x"`)},
		{"G03", h.batch(h.next(-1, 0, 0), inserted)},
		{"G04", h.batch(h.next(1, 0, 0), "altered_table:"+tID, row("ducklake_column", "table_id = "+tID, again))},
		{"G05 view", h.batch(h.next(1, 0, 0), `created_view:"s"."v"`, row("ducklake_view", "view_name = 'v'", again))},
		{"G05 table", h.batch(h.next(1, 0, 0), `created_table:"s"."w"`, row("ducklake_table", "table_name = 'w'", again),
			row("ducklake_column", "table_id = (SELECT table_id FROM ducklake_table WHERE table_name = 'w')", again))},
		{"G05 macro", h.batch(h.next(1, 0, 0), `created_scalar_macro:"s"."m"`, row("ducklake_macro", "macro_name = 'm'", again))},
		{"G08", h.batch(h.next(1, 1, 0), `created_table:"main"."T"`,
			row("ducklake_table", "table_name = 't'", with("table_id", newTable, "table_name", "'T'", "table_uuid", "'11111111-2222-3333-4444-555555555555'")),
			row("ducklake_column", "table_id = "+tID, with("table_id", newTable)))},
		{"G10", h.batch(h.next(0, 0, 1), deleted, row("ducklake_delete_file", "end_snapshot IS NULL", with("delete_file_id", newFile, "path", "'other-delete.parquet'")))},
		{"G12", h.batch(h.next(0, 0, 1), deleted, row("ducklake_delete_file", "end_snapshot IS NULL", with("delete_file_id", newFile, "path", "'other-delete.parquet'", "data_file_id", uFile)))},
		{"G13", h.batch(h.next(0, 0, 0), "inlined_delete:"+tID, "INSERT INTO ducklake_inlined_delete_"+tID+" VALUES (9999, 1, "+begin+")")},
		{"G13 of another table", h.batch(h.next(0, 0, 0), "inlined_delete:"+tID, "INSERT INTO ducklake_inlined_delete_"+tID+" VALUES ("+uFile+", 1, "+begin+")")},
		{"G14", h.batch(h.next(0, 0, 0), inserted, "UPDATE ducklake_table_stats SET record_count = -5 WHERE table_id = "+tID)},
		{"G17", "INSERT INTO ducklake_files_scheduled_for_deletion SELECT data_file_id, path, path_is_relative, NOW() FROM ducklake_data_file WHERE end_snapshot IS NULL AND table_id = " + tID},
		{"G18 all", "DELETE FROM ducklake_snapshot"},
		{"G18 head", fmt.Sprintf("DELETE FROM ducklake_snapshot WHERE snapshot_id = %d", h.id)},
		{"G20b", "INSERT INTO ducklake_inlined_data_tables SELECT * FROM ducklake_inlined_data_tables"},
		{"G24 future", h.batch(h.next(0, 0, 1), inserted, row("ducklake_data_file", "table_id = "+tID, with("data_file_id", newFile, "path", "'future.parquet'", "begin_snapshot", fmt.Sprint(h.id+100))))},
		{"G24 ended", h.batch(h.next(0, 0, 1), inserted, row("ducklake_data_file", "table_id = "+tID, with("data_file_id", newFile, "path", "'past.parquet'", "end_snapshot", fmt.Sprint(h.id))))},
		{"G26", h.batch(h.next(0, 0, 0), "frobnicated_table:"+tID)},
		{"data file twice", h.batch(h.next(0, 0, 0), inserted, row("ducklake_data_file", "table_id = "+tID, with("path", "'twice.parquet'")))},
		{"path twice", h.batch(h.next(0, 0, 1), inserted, row("ducklake_data_file", "table_id = "+tID, with("data_file_id", newFile, "row_id_start", "1000")))},
		{"snapshot of tomorrow", strings.Replace(h.batch(h.next(0, 0, 0), ""), fmt.Sprintf("(%d,", h.id+1), fmt.Sprintf("(%d,", h.id+2), 1)},
		{"columns end and the table lives", h.batch(h.next(1, 0, 0), "altered_table:"+tID, "UPDATE ducklake_column SET end_snapshot = "+begin+" WHERE table_id = "+tID)},
		{"deleted inline twice in one commit", h.batch(h.next(0, 0, 0), "inlined_delete:"+tID, "INSERT INTO ducklake_inlined_delete_"+tID+" VALUES (0, 7, "+begin+"), (0, 7, "+begin+")")},
		{"time without end", fmt.Sprintf("UPDATE ducklake_snapshot SET snapshot_time = 'infinity' WHERE snapshot_id = %d", h.id)},
		{"files dropped", "DROP TABLE ducklake_data_file"},
		{"snapshots dropped", "DROP TABLE ducklake_snapshot"},
		{"comments renamed", "ALTER TABLE ducklake_tag RENAME TO ducklake_tag_old"},
		{"G13 twice", h.batch(h.next(0, 0, 0), "inlined_delete:"+tID, "INSERT INTO ducklake_inlined_delete_"+tID+" SELECT file_id, row_id, "+begin+" FROM ducklake_inlined_delete_"+tID)},
	}
}

// lostRaces are cases that a client meets when it loses a race, so that it may try again.
var lostRaces = []string{"data file twice", "snapshot of tomorrow"}

func TestGuardCases(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		another := func() string {
			db := newDatabase()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = target.DropDatabase(context.Background(), db) })
			return target.DSN(db)
		}
		for from := runGuardCases(ctx, t, target, dsn, 0); from >= 0; {
			from = runGuardCases(ctx, t, target, another(), from) // one has landed: the others need another lake
		}
		if target.Name() != "eider" {
			return
		}
		// Those that are known to land, each on a lake that is nobody else's.
		for _, w := range allWaiting(t) {
			if !strings.HasPrefix(w, guardPrefix) {
				continue
			}
			dsn := another()
			openLake(ctx, t, dsn, t.TempDir()).must(ctx, t, guardSetup...)
			c := connect(ctx, t, dsn)
			cases := guardCases(ctx, t, c)
			i := slices.IndexFunc(cases, func(g guardCase) bool { return guardName(g.name) == w })
			if i < 0 {
				t.Errorf("%s names %s, there is no such case", waitingFile, w)
			} else if err := tryGuardCase(ctx, t, c, cases[i].sql, true); err != nil {
				t.Errorf("%s is refused now, take it off %s: %v", w, waitingFile, err)
			}
		}
	})
}

// runGuardCases makes a lake, runs the cases from a number on and judges the lake on which all of them were refused. It returns the number behind the
// first that lands, or -1 when none does. Cases that are known to land are left out.
func runGuardCases(ctx context.Context, t *testing.T, target script.Target, dsn string, from int) int {
	data := t.TempDir()
	a := openLake(ctx, t, dsn, data)
	a.must(ctx, t, guardSetup...)
	before := guardContent(ctx, t, a)
	c := connect(ctx, t, dsn)
	cases := guardCases(ctx, t, c)
	refused, left := 0, 0
	for i := from; i < len(cases); i++ {
		name, sql := cases[i].name, cases[i].sql
		if target.Name() == "eider" && waiting(t, guardName(name)) {
			left++
			continue
		}
		err := tryGuardCase(ctx, t, c, sql, target.Name() == "eider")
		if target.Name() == "pg" {
			if err != nil && name != "data file twice" {
				t.Errorf("%s: PostgreSQL refuses it: %v", name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: it lands:\n%s", name, sql)
			return i + 1
		}
		refused++
		e := pgError(err)
		t.Logf("%s: %s %s %s", name, e.Code, e.Message, e.Hint)
		if retryable(e) && !slices.Contains(lostRaces, name) {
			t.Errorf("%s: a client tries again because of %s %s %s", name, e.Message, e.Detail, e.Hint)
		}
	}
	if want := len(cases) - from - left; target.Name() == "eider" && refused != want {
		t.Errorf("the lake is judged after %d refused cases, want %d", refused, want)
	}
	judgeGuarded(ctx, t, dsn, data, before)
	return -1
}

const guardPrefix = "guard:"

// guardName is the name of a case in the list of those that wait.
func guardName(name string) string { return guardPrefix + strings.ReplaceAll(name, " ", "-") }

// tryGuardCase sends a batch as a client does; without commit it is rolled back.
func tryGuardCase(ctx context.Context, t *testing.T, c *pgconn.PgConn, sql string, commit bool) error {
	t.Helper()
	mustExec(ctx, t, c, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	_, err := c.Exec(ctx, sql).ReadAll()
	if err == nil && commit {
		_, err = c.Exec(ctx, "COMMIT").ReadAll()
	}
	if err != nil || !commit {
		_, _ = c.Exec(ctx, "ROLLBACK").ReadAll()
	}
	return err
}

// guardContent is what a client sees of the lake of guardSetup.
func guardContent(ctx context.Context, t *testing.T, l *lakeClient) string {
	t.Helper()
	return l.rows(ctx, t, "SELECT (SELECT count(*) FROM lake.t), (SELECT sum(i) FROM lake.t), (SELECT count(*) FROM lake.u), (SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake')")
}

// judgeGuarded: the lake attaches, reads what it read before, can be written to and maintained, and is healthy.
func judgeGuarded(ctx context.Context, t *testing.T, dsn, data, before string) {
	t.Helper()
	b := openLake(ctx, t, dsn, data)
	if after := guardContent(ctx, t, b); after != before {
		t.Errorf("there was %s, there is %s", before, after)
	}
	b.must(ctx, t, "INSERT INTO lake.t VALUES (1000)", "INSERT INTO lake.t SELECT range FROM range(20)", "CHECKPOINT lake")
	const rows = "SELECT count(*) - 21, (SELECT count(*) FROM lake.t) - 21, sum(i) - 1190 FROM lake.t"
	got := b.rows(ctx, t, rows)
	fresh := openLake(ctx, t, dsn, data)
	if want := fresh.rows(ctx, t, rows); got != want {
		t.Errorf("after CHECKPOINT the client reads %s, a fresh one %s", got, want)
	}
	if count, _, _ := strings.Cut(before, " "); !strings.HasPrefix(got, count+" ") {
		t.Errorf("before the cases the table had %s rows, after CHECKPOINT it has %s but for those of the test", count, got)
	}
	found, err := script.Findings(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("fsck: %s", f)
	}
}

// B60a: A has begun before B commits; then A commits with NOW(), which is the start of its transaction. The times of snapshots never go back.
func TestB60a(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		l := openLake(ctx, t, dsn, t.TempDir())
		l.must(ctx, t, "CREATE TABLE lake.t (i INTEGER)")
		a, b := connect(ctx, t, dsn), connect(ctx, t, dsn)
		mustExec(ctx, t, a, "BEGIN")
		mustExec(ctx, t, a, "SELECT now()")
		h := readHead(ctx, t, b)
		mustExec(ctx, t, b, h.batch(h.next(0, 0, 0), ""))
		h = readHead(ctx, t, a)
		mustExec(ctx, t, a, h.batch(h.next(0, 0, 0), ""))
		mustExec(ctx, t, a, "COMMIT")
		rising := one(ctx, t, b, "SELECT bool_and(later) FROM (SELECT snapshot_time > lag(snapshot_time) OVER (ORDER BY snapshot_id) AS later FROM ducklake_snapshot) x")
		if want := map[string]string{"pg": "f", "eider": "t"}[target.Name()]; rising != want {
			t.Errorf("the times of the snapshots rise: %s, want %s", rising, want)
		}
	})
}
