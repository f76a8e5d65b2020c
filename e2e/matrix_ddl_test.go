package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/duck"
)

// ddlOperation is a statement on the objects of schema {s}: table t (i, v, w), view d over
// it, and the free name y; {n} is the schema's name without the lake's. What only a lake has is left out of the model.
type ddlOperation struct {
	name string
	sql  string
	lake bool // a plain DuckDB does not know the statement, and it changes nothing that the model sees
	// renamed does the same to the object when the other side has given it the name y.
	renamed string
	before  string // what has to be there before both transactions begin
}

var ddlOperations = []ddlOperation{
	{name: "drop", sql: "DROP TABLE {s}.t", renamed: "DROP TABLE {s}.y"},
	{name: "replace", sql: "CREATE OR REPLACE TABLE {s}.t AS SELECT {side} AS z", renamed: "DROP TABLE {s}.y; CREATE TABLE {s}.t AS SELECT {side} AS z"},
	{name: "drop_schema", sql: "DROP SCHEMA {s} CASCADE"},
	{name: "add_column", sql: "ALTER TABLE {s}.t ADD COLUMN c{side} INTEGER"},
	{name: "add_same", sql: "ALTER TABLE {s}.t ADD COLUMN c INTEGER"},
	{name: "drop_column", sql: "ALTER TABLE {s}.t DROP COLUMN v"},
	{name: "rename_column", sql: "ALTER TABLE {s}.t RENAME COLUMN v TO v{side}"},
	{name: "retype", sql: "ALTER TABLE {s}.t ALTER COLUMN v TYPE BIGINT"},
	{name: "not_null", sql: "ALTER TABLE {s}.t ALTER COLUMN i SET NOT NULL"},
	{name: "default", sql: "ALTER TABLE {s}.t ALTER COLUMN w SET DEFAULT '{side}'"},
	{name: "rename_y", sql: "ALTER TABLE {s}.t RENAME TO y"},
	{name: "comment", sql: "COMMENT ON TABLE {s}.t IS 'of {side}'"},
	{name: "partition", sql: "ALTER TABLE {s}.t SET PARTITIONED BY (i)", lake: true},
	{name: "sort", sql: "ALTER TABLE {s}.t SET SORTED BY (i)", lake: true},
	{name: "create_y", sql: "CREATE TABLE {s}.y (who INTEGER)"},
	{name: "view_y", sql: "CREATE VIEW {s}.y AS SELECT {side} AS who"},
	{name: "macro_y", sql: "CREATE MACRO {s}.y() AS {side}"},
	{name: "drop_view", sql: "DROP VIEW {s}.d", renamed: "DROP VIEW {s}.y"},
	{name: "replace_view", sql: "CREATE OR REPLACE VIEW {s}.d AS SELECT {side} AS replaced", renamed: "DROP VIEW {s}.y; CREATE VIEW {s}.d AS SELECT {side} AS replaced"},
	{name: "rename_view", sql: "ALTER VIEW {s}.d RENAME TO y"},
	{name: "comment_view", sql: "COMMENT ON VIEW {s}.d IS 'of {side}'"},
	{name: "insert", sql: "INSERT INTO {s}.t (i, w) VALUES (10{side}, 'new')"},
	{name: "insert_file", sql: "INSERT INTO {s}.t (i, w) SELECT range + 10{side}0, 'new' FROM range(20)"},
	{name: "create_schema", sql: "CREATE SCHEMA {s}x"},
	{name: "table_macro_y", sql: "CREATE MACRO {s}.y() AS TABLE SELECT {side} AS who"},
	{name: "drop_macro", sql: "DROP MACRO {s}.m", before: "CREATE MACRO {s}.m() AS 7"},
	{name: "replace_macro", sql: "CREATE OR REPLACE MACRO {s}.m() AS 10{side}", before: "CREATE MACRO {s}.m() AS 7"},
	{name: "drop_tmacro", sql: "DROP MACRO TABLE {s}.n", before: "CREATE MACRO {s}.n() AS TABLE SELECT 7 AS who"},
	{name: "comment_col", sql: "COMMENT ON COLUMN {s}.t.v IS 'of {side}'"},
	{name: "drop_default", sql: "ALTER TABLE {s}.t ALTER COLUMN w DROP DEFAULT", before: "ALTER TABLE {s}.t ALTER COLUMN w SET DEFAULT 'was'"},
	{name: "nullable", sql: "ALTER TABLE {s}.t ALTER COLUMN w DROP NOT NULL", before: "ALTER TABLE {s}.t ALTER COLUMN w SET NOT NULL"},
	{name: "unpartition", sql: "ALTER TABLE {s}.t RESET PARTITIONED BY", before: "ALTER TABLE {s}.t SET PARTITIONED BY (i)", lake: true},
	{name: "unsort", sql: "ALTER TABLE {s}.t RESET SORTED BY", before: "ALTER TABLE {s}.t SET SORTED BY (i)", lake: true},
	{name: "add_field", sql: "ALTER TABLE {s}.t ADD COLUMN f.c{side} INTEGER", before: ddlStruct},
	{name: "drop_field", sql: "ALTER TABLE {s}.t DROP COLUMN f.a", before: ddlStruct},
	{name: "rename_field", sql: "ALTER TABLE {s}.t RENAME COLUMN f.a TO a{side}", before: ddlStruct},
	{name: "message", sql: "CALL lake.set_commit_message('me', 'of {side}')", lake: true},
	{name: "option", sql: "CALL lake.set_option('target_file_size', '1{side}MB', schema => '{n}', table_name => 't')", lake: true},
	{name: "expire", sql: "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 HOUR)", lake: true},
	{name: "clean", sql: "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)", lake: true, before: "CREATE TABLE {s}.k AS SELECT range AS i FROM range(20); " +
		"INSERT INTO {s}.k SELECT range FROM range(20); CALL ducklake_merge_adjacent_files('lake', 'k', schema => '{n}'); DROP TABLE {s}.k"},
}

const ddlStruct = "ALTER TABLE {s}.t ADD COLUMN f STRUCT(a INTEGER, b INTEGER)"

func ddlNames() []string {
	names := make([]string, len(ddlOperations))
	for i, op := range ddlOperations {
		names[i] = op.name
	}
	return names
}

func (op ddlOperation) in(schema string, side int) string {
	_, bare, ok := strings.Cut(schema, ".")
	if !ok {
		bare = schema
	}
	return strings.NewReplacer("{s}", schema, "{n}", bare, "{side}", fmt.Sprint(side)).Replace(op.sql)
}

// ddlBefore is what two statements need before they meet.
func ddlBefore(schema string, model bool, ops ...ddlOperation) (out []string) {
	for _, op := range ops {
		sql := ddlOperation{sql: op.before}.in(schema, 0)
		if sql != "" && !slices.Contains(out, sql) && !(model && op.lake) {
			out = append(out, sql)
		}
	}
	return out
}

// ddlSetup makes a schema with its table, of a file and inlined rows, and its view.
func ddlSetup(schema string) []string {
	return []string{
		"CREATE SCHEMA " + schema,
		"CREATE TABLE " + schema + ".t (i INTEGER, v INTEGER, w VARCHAR)",
		"INSERT INTO " + schema + ".t SELECT range, range * 10, 'old' FROM range(20)",
		"INSERT INTO " + schema + ".t VALUES (20, 200, 'old'), (21, 210, 'old')",
		"CREATE VIEW " + schema + ".d AS SELECT i FROM " + schema + ".t",
	}
}

// describe returns everything that a client sees of a schema: its objects, their columns
// and comments, and the rows of its tables and views.
func describe(query func(string) ([]string, error), database, schema string) ([]string, error) {
	var out []string
	where := fmt.Sprintf(" WHERE database_name = '%s' AND schema_name = '%s'", database, schema)
	schemas, err := query(fmt.Sprintf("SELECT 'schema', schema_name FROM duckdb_schemas() WHERE database_name = '%s' AND schema_name IN ('%s', '%[2]sx') ORDER BY ALL", database, schema))
	if err != nil {
		return nil, err
	}
	out = append(out, schemas...)
	for _, sql := range []string{
		"SELECT 'table', table_name, coalesce(comment, '') FROM duckdb_tables()" + where + " ORDER BY ALL",
		"SELECT 'view', view_name, coalesce(comment, '') FROM duckdb_views()" + where + " AND NOT internal ORDER BY ALL",
		"SELECT 'macro', function_name, function_type, macro_definition FROM duckdb_functions()" + where + " AND NOT internal ORDER BY ALL",
		"SELECT 'column', table_name, column_name, data_type, is_nullable, coalesce(nullif(column_default, 'NULL'), ''), coalesce(comment, '') FROM duckdb_columns()" + where +
			" AND table_name IN (SELECT table_name FROM duckdb_tables()" + where + ") ORDER BY table_name, column_index",
	} {
		rows, err := query(sql)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	relations, err := query("SELECT table_name FROM duckdb_tables()" + where + " UNION ALL SELECT view_name FROM duckdb_views()" + where + " AND NOT internal ORDER BY ALL")
	if err != nil {
		return nil, err
	}
	for _, name := range relations {
		rows, err := query("SELECT '" + name + "', * FROM " + database + "." + schema + "." + name + " ORDER BY ALL")
		if err != nil {
			// A view whose table is gone or has changed cannot be read, in any database.
			if slices.ContainsFunc(out, func(l string) bool { return strings.HasPrefix(l, "view | "+name+" ") }) {
				out = append(out, "view "+name+" cannot be read")
				continue
			}
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// ddlModel runs statements on a plain DuckDB.
type ddlModel struct {
	inst *duck.Instance
	sess duck.Session
	n    int
}

func newDDLModel(ctx context.Context) (*ddlModel, error) {
	m := &ddlModel{}
	return m, m.open(ctx)
}

func (m *ddlModel) open(ctx context.Context) error {
	inst, err := duck.Open(ctx)
	if err != nil {
		return err
	}
	sess, err := inst.Conn(ctx)
	if err != nil {
		return errors.Join(err, inst.Close())
	}
	m.inst, m.sess = inst, sess
	return nil
}

func (m *ddlModel) close() {
	_ = m.sess.Close()
	_ = m.inst.Close()
}

// state returns the state of the schema after the given statements, in a fresh schema;
// ok is false when one of them fails.
func (m *ddlModel) state(ctx context.Context, schema string, before []string, steps ...func(string) string) (state []string, ok bool, err error) {
	m.n++
	db := fmt.Sprintf("m%d", m.n)
	setup := append([]string{"ATTACH ':memory:' AS " + db, "USE " + db}, append(ddlSetup(schema), before...)...)
	for _, sql := range setup {
		if _, err := m.sess.Exec(ctx, sql); err != nil {
			return nil, false, fmt.Errorf("%s: %w", sql, err)
		}
	}
	defer func() {
		_, _ = m.sess.Exec(ctx, "USE memory")
		_, _ = m.sess.Exec(ctx, "DETACH "+db)
	}()
	for _, step := range steps {
		sql := step(schema)
		if sql == "" {
			continue
		}
		if _, err := m.sess.Exec(ctx, sql); err != nil {
			// This order is not possible. DuckDB is of no use after it where a field is altered of a column that is not there.
			if _, err := m.sess.Exec(ctx, "SELECT 1"); err != nil {
				m.close()
				return nil, false, m.open(ctx)
			}
			return nil, false, nil
		}
	}
	state, err = describe(func(sql string) ([]string, error) {
		res, err := m.sess.Query(ctx, sql)
		return res.Lines(), err
	}, db, schema)
	return state, err == nil, err
}

// TestMatrixDDL races every statement of DDL, and inserts, against every other.
func TestMatrixDDL(t *testing.T) {
	t.Parallel()
	const parts = 3
	for _, target := range matrixTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			t.Parallel()
			g := newGrid("ddl", target.Name(), ddlNames())
			t.Run("cells", func(t *testing.T) {
				for part := range parts {
					t.Run(fmt.Sprint(part), func(t *testing.T) {
						t.Parallel()
						ctx, cancel := context.WithTimeout(context.Background(), matrixTimeout)
						defer cancel()
						cl := &clients{ctx: ctx}
						defer cl.close()
						model, err := newDDLModel(ctx)
						if err != nil {
							t.Fatal(err)
						}
						defer model.close()
						for i := part; i < len(ddlOperations); i += parts {
							m := &ddlRow{raceRow: raceRow{clients: cl, target: target, grid: g}, a: i, model: model}
							var cells []int
							for j := range ddlOperations {
								if a, b := ddlOperations[i].name, ddlOperations[j].name; chosen(t, a, b, 0, ddlShare, i+j) && !m.waits(a, b) {
									cells = append(cells, j)
								}
							}
							if err := m.run(t, ddlOperations[i].name, ddlNames(), cells, m.cell); err != nil {
								t.Fatal(err)
							}
						}
					})
				}
			})
			g.finish(t)
		})
	}
}

// ddlShare: without -matrix all, one of so many cells runs.
const ddlShare = 8

// ddlRow is the cells of one statement of A.
type ddlRow struct {
	raceRow
	a     int
	model *ddlModel
}

func (m *ddlRow) cell(j int, c *cell) error {
	a, b := ddlOperations[m.a], ddlOperations[j]
	schema := fmt.Sprintf("s%d", j)
	if err := m.exec(sideB, append(ddlSetup("lake."+schema), ddlBefore("lake."+schema, false, a, b)...)...); err != nil {
		return err
	}
	stepA := func(s string) string { return modelled(a, s, sideA) }
	stepB := func(s string) string { return modelled(b, s, sideB) }
	refusal, err := m.race([]string{a.in("lake."+schema, sideA)}, []string{b.in("lake."+schema, sideB)}, nil)
	if err != nil {
		return err
	}
	var allowed [][]string
	add := func(steps ...func(string) string) error {
		state, ok, err := m.model.state(m.ctx, schema, ddlBefore(schema, true, a, b), steps...)
		if ok {
			allowed = append(allowed, state)
		}
		return err
	}
	if refusal != nil {
		c.refuse(refusal, slices.Contains(quiet, a.name))
		if err := add(stepB); err != nil {
			return err
		}
	} else {
		orders := [][]func(string) string{{stepB, stepA}, {stepA, stepB}}
		if a.renamed != "" && strings.HasPrefix(b.name, "rename_") {
			orders = append(orders, []func(string) string{stepB, func(s string) string {
				return ddlOperation{sql: a.renamed}.in(s, sideA)
			}})
		}
		for _, order := range orders {
			if err := add(order...); err != nil {
				return err
			}
		}
		if len(allowed) == 0 {
			return errors.New("both land, though neither order is possible")
		}
	}
	check := func(side int, who string) {
		got, err := describe(func(sql string) ([]string, error) { return m.rows(side, sql) }, "lake", schema)
		if err != nil {
			c.fail("%s: %s", who, oneLine(err.Error()))
			return
		}
		for _, state := range allowed {
			if slices.Equal(got, state) {
				return
			}
		}
		c.fail("%s: %s", who, difference(got, allowed[0]))
	}
	check(sideA, "A")
	check(sideB, "B")
	check(sideC, "C")
	news, err := m.news()
	if err != nil {
		return err
	}
	for _, f := range news {
		c.fail("fsck: %s", f)
	}
	m.after = append(m.after, func() { check(sideC, "a fresh client") })
	return nil
}

// modelled is the statement for the model: empty for what it does not know. Views name
// their table with the schema only, so that their text does not depend on the database.
func modelled(op ddlOperation, schema string, side int) string {
	if op.lake {
		return ""
	}
	return op.in(schema, side)
}
