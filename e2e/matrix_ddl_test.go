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
// it, and the free name y. What only a lake has is left out of the model.
type ddlOperation struct {
	name string
	sql  string
	lake bool // a plain DuckDB does not know the statement, and it changes nothing that the model sees
	// renamed does the same to the object when the other side has given it the name y.
	renamed string
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
}

func ddlNames() []string {
	names := make([]string, len(ddlOperations))
	for i, op := range ddlOperations {
		names[i] = op.name
	}
	return names
}

func (op ddlOperation) in(schema string, side int) string {
	return strings.NewReplacer("{s}", schema, "{side}", fmt.Sprint(side)).Replace(op.sql)
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
	schemas, err := query("SELECT 'schema' FROM duckdb_schemas()" + where)
	if err != nil {
		return nil, err
	}
	out = append(out, schemas...)
	for _, sql := range []string{
		"SELECT 'table', table_name, coalesce(comment, '') FROM duckdb_tables()" + where + " ORDER BY ALL",
		"SELECT 'view', view_name, coalesce(comment, '') FROM duckdb_views()" + where + " AND NOT internal ORDER BY ALL",
		"SELECT 'macro', function_name FROM duckdb_functions()" + where + " AND NOT internal ORDER BY ALL",
		"SELECT 'column', table_name, column_name, data_type, is_nullable, coalesce(nullif(column_default, 'NULL'), '') FROM duckdb_columns()" + where +
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
	inst, err := duck.Open(ctx)
	if err != nil {
		return nil, err
	}
	sess, err := inst.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, inst.Close())
	}
	return &ddlModel{inst: inst, sess: sess}, nil
}

func (m *ddlModel) close() {
	_ = m.sess.Close()
	_ = m.inst.Close()
}

// state returns the state of the schema after the given statements, in a fresh schema;
// ok is false when one of them fails.
func (m *ddlModel) state(ctx context.Context, schema string, steps ...func(string) string) (state []string, ok bool, err error) {
	m.n++
	db := fmt.Sprintf("m%d", m.n)
	setup := append([]string{"ATTACH ':memory:' AS " + db, "USE " + db}, ddlSetup(schema)...)
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
			return nil, false, nil //nolint:nilerr // this order is not possible
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
								if chosen(t, ddlOperations[i].name, ddlOperations[j].name, 0, ddlShare, i+j) {
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
const ddlShare = 4

// ddlRow is the cells of one statement of A.
type ddlRow struct {
	raceRow
	a     int
	model *ddlModel
}

func (m *ddlRow) cell(j int, c *cell) error {
	a, b := ddlOperations[m.a], ddlOperations[j]
	schema := fmt.Sprintf("s%d", j)
	if err := m.exec(sideB, ddlSetup("lake."+schema)...); err != nil {
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
		state, ok, err := m.model.state(m.ctx, schema, steps...)
		if ok {
			allowed = append(allowed, state)
		}
		return err
	}
	if refusal != nil {
		c.refuse(refusal)
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
