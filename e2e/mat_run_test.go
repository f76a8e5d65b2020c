package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestMaterializeStrategies runs each strategy, twice and with other sources, and compares the tables with what they should hold.
func TestMaterializeStrategies(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT range AS id, 'n' || range AS name, DATE '2026-01-01' + CAST(range % 3 AS INT) AS day FROM range(9)")
		const src = "ATTACH 'ducklake://lake' AS dl;\nSELECT * FROM dl.src"
		p.write("whole.sql", "-- materialize ducklake://lake/whole\n"+src)
		p.write("other/inschema.sql", "-- materialize ducklake://lake/made.whole\n"+src)
		p.write("slices.sql", "-- materialize ducklake://lake/slices\n-- partitioned daily\n"+src+" WHERE strftime(day, '%Y-%m-%d') = {partition}")
		p.write("mergeslices.sql", "-- materialize ducklake://lake/mergeslices key=id\n-- partitioned daily\n"+src+" WHERE wm_partition(day) = {partition} AND id < 6")
		p.write("merge.sql", "-- materialize ducklake://lake/merge key=id\n"+src)
		p.write("merge2.sql", "-- materialize ducklake://lake/merge2 key=id,day\n"+src)
		p.write("appended.sql", "-- materialize ducklake://lake/appended append\n"+src)

		lines := p.must(ctx, "run", "--partition", "2026-01-01", "--force")
		want := "appended materialized, merge materialized, merge2 materialized, mergeslices 2026-01-01 materialized, other/inschema materialized, slices 2026-01-01 materialized, whole materialized"
		if got := ended(lines); got != want {
			t.Fatalf("runs: %s", got)
		}
		for _, l := range lines {
			if l.Event == "ended" && (l.Snapshot == nil || l.Rows == nil || *l.Version != 1) {
				t.Errorf("%s has snapshot %v, rows %v, schema version %v", l.Script, l.Snapshot, l.Rows, l.Version)
			}
		}
		counts := func() string {
			return p.rows(ctx, `SELECT 'whole', count(*), sum(hash(id, name, day)) = (SELECT sum(hash(id, name, day)) FROM src) FROM whole
 UNION ALL SELECT 'inschema', count(*), true FROM made.whole
 UNION ALL SELECT 'slices', count(*), count(DISTINCT _wm_partition) = 1 FROM slices
 UNION ALL SELECT 'mergeslices', count(*), bool_and(_wm_partition = strftime(day, '%Y-%m-%d')) FROM mergeslices
 UNION ALL SELECT 'merge', count(*), count(DISTINCT id) = count(*) FROM merge
 UNION ALL SELECT 'merge2', count(*), count(DISTINCT id) = count(*) FROM merge2
 UNION ALL SELECT 'appended', count(*), count(DISTINCT id) = 9 FROM appended`)
		}
		first := "whole | 9 | true\ninschema | 9 | true\nslices | 3 | true\nmergeslices | 2 | true\nmerge | 9 | true\nmerge2 | 9 | true\nappended | 9 | true"
		if got := counts(); got != first {
			t.Errorf("after the first run:\n%s", got)
		}
		if got := p.rows(ctx, "SELECT count(*), bool_and(author <> ''), min(commit_message) FROM ducklake_snapshots('lake') WHERE commit_message LIKE 'materialize merge (%'"); got != "2 | true | materialize merge (merge)" {
			t.Errorf("what the snapshots say: %s", got)
		}

		// Again: nothing has changed, so nothing runs; forced, only what appends grows.
		if got := ended(p.must(ctx, "run", "--partition", "2026-01-01")); strings.Contains(got, "materialized") {
			t.Errorf("though nothing has changed: %s", got)
		}
		p.must(ctx, "run", "--partition", "2026-01-01", "--force")
		if got := counts(); got != strings.Replace(first, "appended | 9", "appended | 18", 1) {
			t.Errorf("run again:\n%s", got)
		}

		// Another slice leaves the first one as it is; changed sources come through.
		slice := p.rows(ctx, "SELECT rowid, * FROM slices WHERE _wm_partition = '2026-01-01' ORDER BY ALL")
		p.sql(ctx, "UPDATE src SET name = 'other' WHERE id IN (1, 3)", "DELETE FROM src WHERE id = 8", "INSERT INTO src VALUES (NULL, 'null', NULL), (100, 'new', DATE '2026-01-02')")
		p.must(ctx, "run", "--partition", "2026-01-02")
		if got := p.rows(ctx, "SELECT rowid, * FROM slices WHERE _wm_partition = '2026-01-01' ORDER BY ALL"); got != slice {
			t.Errorf("the other slice is now\n%s\nand was\n%s", got, slice)
		}
		if got := p.rows(ctx, "SELECT id, name FROM slices WHERE _wm_partition = '2026-01-02' ORDER BY id"); got != "1 | other\n4 | n4\n7 | n7\n100 | new" {
			t.Errorf("the new slice:\n%s", got)
		}
		if got := p.rows(ctx, "SELECT count(*), count(*) FILTER (id IS NULL), min(name) FILTER (id = 3), count(*) FILTER (id = 8) FROM merge"); got != "11 | 1 | other | 1" {
			t.Errorf("merged: %s", got)
		}
		p.must(ctx, "run", "merge.sql", "merge2.sql", "--force")
		if got := p.rows(ctx, "SELECT (SELECT count(*) FROM merge WHERE id IS NULL), (SELECT count(*) FROM merge2 WHERE id IS NULL)"); got != "1 | 1" {
			t.Errorf("rows without a key after a second run: %s", got)
		}
		if got := p.rows(ctx, "SELECT DISTINCT partition_id IS NOT NULL FROM (SELECT partition_id FROM __ducklake_metadata_lake.ducklake_data_file f JOIN __ducklake_metadata_lake.ducklake_table t ON t.table_id = f.table_id AND t.table_name = 'slices') UNION ALL SELECT count(*) = 1 FROM __ducklake_metadata_lake.ducklake_partition_info i JOIN __ducklake_metadata_lake.ducklake_table t ON t.table_id = i.table_id AND t.table_name = 'slices'"); strings.Contains(got, "false") {
			t.Errorf("the partitioning: %s", got)
		}
		if err := healthy(ctx, target, databaseOf(t, dsn)); err != nil {
			t.Error(err)
		}
	})
}

// historyRow is a version in the model of a history.
type historyRow struct {
	id, name, tier string
	from, to       int // states of the source, from 1; to is 0 for the current version
}

// TestMaterializeHistory takes a history through states of its source and compares its versions with a model.
func TestMaterializeHistory(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src (id VARCHAR, name VARCHAR, tier VARCHAR, noise INT)")
		kinds := []struct {
			table, options string
			track          func(id, name, tier string) string
			closes         bool
		}{
			{"plain", "key=id history", func(_, name, tier string) string { return name + "/" + tier }, false},
			{"tracked", "key=id history track=tier", func(_, _, tier string) string { return tier }, false},
			{"closing", "key=id history deletes=close", func(_, name, tier string) string { return name + "/" + tier }, true},
		}
		for _, k := range kinds {
			p.write(k.table+".sql", "-- materialize ducklake://lake/"+k.table+" "+k.options+"\n-- data_test unique id\nSELECT id, name, tier FROM lake.src")
		}
		states := [][][3]string{
			{{"1", "a", "x"}, {"2", "b", "x"}, {"", "null", "x"}},
			{{"1", "a", "x"}, {"2", "b", "x"}, {"", "null", "x"}}, // unchanged
			{{"1", "a2", "x"}, {"2", "b", "y"}, {"", "null2", "y"}, {"3", "c", "x"}},
			{{"1", "a2", "y"}, {"3", "c", "x"}},                   // 2 and the one without a key have gone
			{{"1", "a2", "y"}, {"2", "b", "z"}, {"3", "c2", "x"}}, // 2 is back
		}
		model := map[string][]historyRow{}
		for n, rows := range states {
			p.sql(ctx, "DELETE FROM src")
			for _, r := range rows {
				p.sql(ctx, fmt.Sprintf("INSERT INTO src VALUES (nullif('%s', ''), '%s', '%s', %d)", r[0], r[1], r[2], n))
			}
			before := headSnapshot(ctx, t, dsn)
			p.must(ctx, "run", "--force")
			if n == 1 {
				if now := headSnapshot(ctx, t, dsn); now != before {
					t.Errorf("runs without changes made %d snapshots", now-before)
				}
			}
			for _, k := range kinds {
				list := model[k.table]
				current := map[string]int{}
				for i, v := range list {
					if v.to == 0 {
						current[v.id] = i
					}
				}
				seen := map[string]bool{}
				for _, r := range rows {
					seen[r[0]] = true
					if i, ok := current[r[0]]; ok {
						if k.track(list[i].id, list[i].name, list[i].tier) == k.track(r[0], r[1], r[2]) {
							continue
						}
						list[i].to = n + 1
					}
					list = append(list, historyRow{r[0], r[1], r[2], n + 1, 0})
				}
				for id, i := range current {
					if k.closes && !seen[id] {
						list[i].to = n + 1
					}
				}
				model[k.table] = list
				p.compareHistory(ctx, k.table, n+1, list)
			}
		}
		if err := healthy(ctx, target, databaseOf(t, dsn)); err != nil {
			t.Error(err)
		}
	})
}

// compareHistory compares a history with its model. The states of the source are told by the order of times; a state without changes has none.
func (p *matProject) compareHistory(ctx context.Context, table string, state int, model []historyRow) {
	p.t.Helper()
	times := map[int]bool{}
	for _, v := range model {
		times[v.from] = true
		if v.to > 0 {
			times[v.to] = true
		}
	}
	var order []int
	for n := range times {
		order = append(order, n)
	}
	slices.Sort(order)
	rank := func(n int) string {
		if n == 0 {
			return "NULL"
		}
		return fmt.Sprint(slices.Index(order, n) + 1)
	}
	var want []string
	for _, v := range model {
		id := v.id
		if id == "" {
			id = "NULL"
		}
		want = append(want, strings.Join([]string{id, v.name, v.tier, rank(v.from), rank(v.to), fmt.Sprint(v.to == 0)}, " | "))
	}
	slices.Sort(want)
	got := strings.Split(p.rows(ctx, fmt.Sprintf(`WITH times AS (SELECT DISTINCT t FROM (SELECT valid_from AS t FROM %[1]s UNION ALL SELECT valid_to FROM %[1]s) WHERE t IS NOT NULL),
 ranks AS (SELECT t, row_number() OVER (ORDER BY t) AS n FROM times)
 SELECT id, name, tier, f.n, u.n, is_current FROM %[1]s JOIN ranks f ON f.t = valid_from LEFT JOIN ranks u ON u.t = valid_to`, table)), "\n")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.t.Errorf("%s after state %d:\n%s\nwant\n%s", table, state, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := p.rows(ctx, fmt.Sprintf("SELECT (SELECT count(*) FROM %[1]s_current) = (SELECT count(*) FROM %[1]s WHERE valid_to IS NULL)", table)); n != "true" {
		p.t.Errorf("the view of %s is not its current versions", table)
	}
}

// TestMaterializeDataTests has tests that pass and tests that fail: the run fails, what it wrote stays, the record has what was found.
func TestMaterializeDataTests(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE users AS SELECT range AS id FROM range(5)", "CREATE TABLE src AS SELECT range AS id, range AS user_id, 1.5 AS kind FROM range(5)")
		const tests = `-- data_test unique id
-- data_test not_null user_id
-- data_test accepted_values kind = 1.5,x
-- data_test relationships user_id -> ducklake://lake/users.id
-- data_test tests/positive
`
		p.write("orders.sql", "-- materialize ducklake://lake/orders\n"+tests+"SELECT * FROM lake.src")
		p.write("below.sql", "-- materialize ducklake://lake/below\nSELECT count(*) AS n FROM lake.orders")
		p.write("tests/positive.sql", "SELECT * FROM _wm_target.orders WHERE id < 0;")
		lines := p.must(ctx, "run")
		if got := ended(lines); got != "orders materialized, below materialized" {
			t.Fatalf("good rows: %s", got)
		}
		if code, _, errs := p.do(ctx, "test"); code != 0 {
			t.Errorf("test: exit code %d\n%s", code, errs)
		}

		p.sql(ctx, "INSERT INTO src VALUES (1, NULL, 1.5), (-1, 99, 2.5), (1, 0, NULL)")
		code, lines, _ := p.do(ctx, "run")
		if got := ended(lines); code != 1 || got != "orders failed, below blocked" {
			t.Fatalf("bad rows: exit code %d, %s", code, got)
		}
		var failed matLine
		for _, l := range lines {
			if l.Event == "ended" {
				failed = l
			}
		}
		const want = `ducklake://lake/orders: 5 of 5 data tests failed
✗ unique(id): 1 violating
✗ not_null(user_id): 1 violating
✗ accepted_values(kind): 1 violating
✗ relationships(user_id -> lake/users.id): 1 violating
✗ custom(tests/positive): 1 violating`
		if failed.Text != want || failed.Snapshot == nil || failed.Rows == nil || *failed.Rows != 8 {
			t.Errorf("the failure says\n%s\nsnapshot %v, rows %v", failed.Text, failed.Snapshot, failed.Rows)
		}
		if len(failed.Tests) != 5 || string(failed.Tests[0].Sample) != `[{"value":1,"count":3}]` || !strings.Contains(string(failed.Tests[4].Sample), `"id":-1`) {
			t.Errorf("samples: %+v", failed.Tests)
		}
		if got := p.rows(ctx, "SELECT count(*) FROM orders"); got != "8" {
			t.Errorf("the rows that failed the tests are not there: %s", got)
		}
		if code, lines, _ := p.do(ctx, "test", "orders.sql"); code != 1 || len(lines) != 5 {
			t.Errorf("test of bad rows: exit code %d, %+v", code, lines)
		}
		got := p.rows(ctx, "SELECT status, row_count, schema_version IS NULL, error LIKE '%5 of 5%' FROM "+records("runs")+" ORDER BY started_at DESC LIMIT 1")
		if got != "failed | 8 | true | true" {
			t.Errorf("the record: %s", got)
		}
		if n := strings.Count(p.rows(ctx, "SELECT version FROM "+records("asset_schemas")), "\n") + 1; n != 2 {
			t.Errorf("%d versions of columns of two tables", n)
		}
	})
}

// TestMaterializeDrift changes the columns of a SELECT, in each mode.
func TestMaterializeDrift(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT 1 AS a")
		set := func(mode, columns string) {
			p.write(mode+".sql", "-- materialize ducklake://lake/"+mode+" append on_schema_change="+mode+"\nSELECT "+columns+" FROM lake.src")
		}
		for _, mode := range []string{"warn", "ignore", "fail", "sync"} {
			set(mode, "1 AS a, 'x' AS b")
		}
		p.must(ctx, "run")
		for _, mode := range []string{"warn", "ignore", "fail", "sync"} {
			set(mode, "'y' AS b, 2 AS a") // another order of the same names
		}
		p.must(ctx, "run")
		for _, mode := range []string{"warn", "ignore", "fail", "sync"} {
			if got := p.rows(ctx, "SELECT a, b FROM "+mode+" ORDER BY a"); got != "1 | x\n2 | y" {
				t.Errorf("%s: another order of columns:\n%s", mode, got)
			}
			set(mode, "3 AS a, 'z' AS c")
		}
		head := headSnapshot(ctx, t, dsn)
		if code, _, errs := p.do(ctx, "run", "fail.sql"); code != 2 || !strings.Contains(errs, "fail.sql:2: the columns have changed") || !strings.Contains(errs, "new in the SELECT: c; only in the table: b") {
			t.Errorf("fail: exit code %d\n%s", code, errs)
		}
		if now := headSnapshot(ctx, t, dsn); now != head {
			t.Errorf("fail wrote %d snapshots", now-head)
		}
		for mode, want := range map[string]string{"warn": "a, b: 3 | z", "ignore": "a, b: 3 | z", "sync": "a, c: 3 | z"} {
			lines := p.must(ctx, "run", mode+".sql")
			note := slices.ContainsFunc(lines, func(l matLine) bool { return l.Event == "note" && strings.Contains(l.Text, "the columns have changed") })
			if note != (mode != "ignore") {
				t.Errorf("%s: told: %v", mode, note)
			}
			got := p.rows(ctx, "SELECT string_agg(column_name, ', ' ORDER BY column_index) FROM duckdb_columns() WHERE database_name = 'lake' AND table_name = '"+mode+"'") + ": " +
				p.rows(ctx, "SELECT * FROM "+mode+" WHERE a = 3")
			if got != want {
				t.Errorf("%s: %s, want %s", mode, got, want)
			}
		}
		set("warn", "4 AS a")
		if code, _, errs := p.do(ctx, "run", "warn.sql"); code != 2 || !strings.Contains(errs, "1 columns and the table 2") {
			t.Errorf("fewer columns: exit code %d\n%s", code, errs)
		}
		set("sync", "4 AS a, DATE '2026-01-01' AS d, [1] AS l")
		p.must(ctx, "run", "sync.sql")
		if got := p.rows(ctx, "SELECT a, d, l FROM sync ORDER BY a"); got != "1 | NULL | NULL\n2 | NULL | NULL\n3 | NULL | NULL\n4 | 2026-01-01 | [1]" {
			t.Errorf("synced:\n%s", got)
		}
		set("ignore", "2.7 AS a, 'x' AS c")
		set("warn", "2.7 AS a, 'x' AS c")
		for mode, told := range map[string]bool{"warn": true, "ignore": false} {
			lines := p.must(ctx, "run", mode+".sql")
			if got := slices.ContainsFunc(lines, func(l matLine) bool {
				return l.Text == "values are cast: a is DECIMAL(2,1) in the SELECT and INTEGER in the table"
			}); got != told {
				t.Errorf("%s: another type is told: %v", mode, got)
			}
		}
		if err := healthy(ctx, target, databaseOf(t, dsn)); err != nil {
			t.Error(err)
		}
	})
}

// TestMaterializeRefusals has what is refused before anything is written: exit code 2, the file, the line, the remedy.
func TestMaterializeRefusals(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE made (a INT)", "CREATE TABLE history (id INT)")
		head := headSnapshot(ctx, t, dsn)
		for name, test := range map[string]struct {
			text, want string
			args       []string
		}{
			"bad header":       {text: "-- materialize ducklake://lake/x kye=id\nSELECT 1 AS id", want: "x.sql:1: "},
			"not one SELECT":   {text: "-- materialize ducklake://lake/x\nSELECT 1;\nDROP TABLE made", want: "x.sql:3: "},
			"no table":         {text: "-- materialize ducklake://lake\nSELECT 1", want: "x.sql:1: materialize: ducklake://lake names no table of a lake; write ducklake://LAKE/TABLE"},
			"no partition":     {text: "-- materialize ducklake://lake/x\n-- partitioned dynamic key=k\nSELECT 1 AS a", want: "x.sql:2: "},
			"not the format":   {text: "-- materialize ducklake://lake/x\n-- partitioned daily\nSELECT 1 AS a", args: []string{"--partition", "2026-13-01"}, want: "--partition"},
			"unknown lake":     {text: "-- materialize ducklake://lkae/x\nSELECT 1 AS a", want: "x.sql:1: the lake lkae: "},
			"unreachable lake": {text: "-- materialize ducklake://away/x\nSELECT 1 AS a", args: []string{"--lake", "away=host=127.0.0.1 port=1 user=x dbname=x connect_timeout=2"}, want: "x.sql:1: the lake away: "},
			"not a lake":       {text: "-- materialize s3://bucket/x\n-- data_test unique a\nSELECT 1 AS a", want: "x.sql:2: "},
			"other columns":    {text: "-- materialize ducklake://lake/made\n-- partitioned daily\nSELECT 1 AS a", args: []string{"--partition", "2026-01-01"}, want: "x.sql:2: the table ducklake://lake/made is there, and was made without partitions"},
			"reserved column":  {text: "-- materialize ducklake://lake/x key=id history\nSELECT 1 AS id, 2 AS valid_from", want: "x.sql:2: the SELECT has a column valid_from"},
			"not a history":    {text: "-- materialize ducklake://lake/history key=id history\nSELECT 1 AS id, 2 AS b", want: "x.sql:1: the table ducklake://lake/history is there, and is no history"},
			"no reference":     {text: "-- materialize ducklake://lake/x\n-- data_test relationships a -> ducklake://lake/none.a\nSELECT 1 AS a", want: "x.sql:2: relationships("},
			"not in reference": {text: "-- materialize ducklake://lake/x\n-- data_test relationships a -> ducklake://lake/history.a\nSELECT 1 AS a", want: "x.sql:2: relationships("},
			"no such script":   {text: "-- materialize ducklake://lake/x\nSELECT 1", args: []string{"none.sql"}, want: "there is no file or folder"},
			"bad version":      {text: "-- materialize ducklake://lake/x\nSELECT 1", args: []string{"--at-version", "new"}, want: "--at-version"},
		} {
			p.write("x.sql", test.text)
			code, lines, errs := p.do(ctx, "run", test.args...)
			if code != 2 || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") > 2 {
				t.Errorf("%s: exit code %d, want 2 and %q, got %+v\n%s", name, code, test.want, lines, errs)
			}
		}
		p.write("x.sql", "-- materialize ducklake://lake/x key=b\nSELECT 1 AS a")
		p.write("y.sql", "-- materialize ducklake://lake/y key=b\nSELECT 1 AS a")
		p.write("z.sql", "-- materialize ducklake://lake/z\nSELECT * FROM lake.y")
		if code, lines, errs := p.do(ctx, "run"); code != 2 || strings.Count(errs, "the key b is no column") != 2 || ended(lines) != "z blocked" {
			t.Errorf("two that are refused and one after them: exit code %d, %s\n%s", code, ended(lines), errs)
		}
		p.remove("y.sql")
		p.remove("z.sql")
		if now := headSnapshot(ctx, t, dsn); now != head {
			t.Errorf("%d snapshots were made", now-head)
		}
		if got := one(ctx, t, connect(ctx, t, dsn), "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'eider_materialize' AND table_name = 'runs'"); got == "1" {
			if n := one(ctx, t, connect(ctx, t, dsn), "SELECT count(*) FROM eider_materialize.runs"); n != "0" {
				t.Errorf("%s runs were recorded", n)
			}
		}
		// A SELECT that DuckDB refuses is a run that failed, and is recorded.
		p.write("x.sql", "-- materialize ducklake://lake/x\n\nSELECT nothing FROM lake.made")
		if code, _, errs := p.do(ctx, "run"); code != 1 {
			t.Errorf("a SELECT that cannot be bound: exit code %d\n%s", code, errs)
		}
		if got := one(ctx, t, connect(ctx, t, dsn), "SELECT status || ' ' || (error LIKE 'x.sql:3: %nothing%') FROM eider_materialize.runs"); got != "failed true" {
			t.Errorf("its record: %s", got)
		}
	})
}
