package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// Traps of the client's protocol that need more than a script or a batch of statements. DESIGN.md lists all of them with their tests.

// TestTrapLargeStatements: a commit batch has no bound. One of 20 MB with 200,000 rows, one of a single value of 20 MB, and many small statements
// in one message come through as they are; so does what DuckDB sends through postgres_execute.
func TestTrapLargeStatements(t *testing.T) {
	const size = 20 << 20
	onBoth(t, func(ctx context.Context, t *testing.T, _ script.Target, dsn string) {
		c := connect(ctx, t, dsn)
		mustExec(ctx, t, c, "CREATE TABLE stats (data_file_id bigint, table_id bigint, column_id bigint, min_value varchar, max_value varchar); CREATE TABLE big (v varchar, b bytea); CREATE TABLE few (i bigint); INSERT INTO few VALUES (0)")
		var sql strings.Builder
		sql.WriteString("BEGIN;\nINSERT INTO \"public\".stats VALUES ")
		rows := 0
		for ; sql.Len() < size; rows++ {
			if rows > 0 {
				sql.WriteString(",")
			}
			fmt.Fprintf(&sql, "(%d, %d, %d, 'the least ''value'' %d of a column', '\\x%040d')", rows, rows%7, rows%11, rows, rows)
		}
		sql.WriteString(";\nINSERT INTO big VALUES ('last', NULL);COMMIT")
		mustExec(ctx, t, c, sql.String())
		got := one(ctx, t, c, "SELECT count(*) || ' ' || sum(data_file_id) || ' ' || max(length(max_value)) || ' ' || sum((min_value LIKE '%''value''%')::int) || ' ' || (SELECT count(*) FROM big) FROM stats")
		if want := fmt.Sprintf("%d %d 42 %d 1", rows, rows*(rows-1)/2, rows); got != want {
			t.Errorf("%s, want %s", got, want)
		}

		value := strings.Repeat("a''b\\c ", size/7)
		mustExec(ctx, t, c, "INSERT INTO big VALUES ('"+value+"', '\\x"+strings.Repeat("ab", size/2)+"')")
		if got, want := one(ctx, t, c, "SELECT max(length(v)) || ' ' || max(length(b)) FROM big"), fmt.Sprintf("%d %d", len(strings.ReplaceAll(value, "''", "'")), size/2); got != want {
			t.Errorf("%s, want %s", got, want)
		}

		// An error at the end of it is found, and nothing of it stays.
		_, err := c.Exec(ctx, strings.TrimSuffix(sql.String(), "COMMIT")+"INSERT INTO nosuch VALUES (1);COMMIT").ReadAll()
		if e := pgError(err); e.Code != "42P01" {
			t.Errorf("error behind 20 MB: %v", e)
		}
		mustExec(ctx, t, c, "ROLLBACK")
		if got := one(ctx, t, c, "SELECT count(*) FROM stats"); got != strconv.Itoa(rows) {
			t.Errorf("%s rows after the error, want %d", got, rows)
		}

		var many strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&many, "UPDATE few SET i = %d WHERE i = -1;\n", i)
		}
		if n := len(mustExec(ctx, t, c, many.String())); n != 20_000 {
			t.Errorf("%d results of 20,000 statements", n)
		}

		d := newDuck(ctx, t)
		for _, sql := range []string{
			"ATTACH '" + dsn + "' AS p (TYPE postgres)",
			"SET VARIABLE batch = 'CREATE TABLE made (i int, s text);INSERT INTO made VALUES ' || (SELECT string_agg('(' || range || ', ''' || repeat('x', 90) || ''')', ',') FROM range(200000))",
			"CALL postgres_execute('p', getvariable('batch'))",
		} {
			if _, err := d.Exec(ctx, sql); err != nil {
				t.Fatalf("%.100s: %.300v", sql, err)
			}
		}
		if got := one(ctx, t, c, "SELECT count(*) || ' ' || sum(length(s)) FROM made"); got != "200000 18000000" {
			t.Errorf("DuckDB's batch came to %s", got)
		}
	})
}

// The client's bulk load: five results of one message.
const bulkLoad = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT oid, nspname
FROM pg_namespace
ORDER BY oid;

SELECT pg_namespace.oid AS namespace_id, relname, relpages, attname,
	pg_type.typname type_name, atttypmod type_modifier, pg_attribute.attndims ndim,
	attnum, pg_attribute.attnotnull AS notnull, NULL constraint_id, NULL constraint_type, NULL constraint_key,
	type_ns.nspname type_schema, col.description column_comment, tab.description table_comment
FROM pg_class
JOIN pg_namespace ON relnamespace = pg_namespace.oid
JOIN pg_attribute ON pg_class.oid=pg_attribute.attrelid
JOIN pg_type ON atttypid=pg_type.oid
JOIN pg_namespace type_ns ON pg_type.typnamespace = type_ns.oid
LEFT JOIN pg_description col ON (col.objoid = pg_class.oid AND col.objsubid = attnum)
LEFT JOIN pg_description tab ON (tab.objoid = pg_class.oid AND tab.objsubid = 0)
WHERE attnum > 0 AND relkind IN ('r', 'v', 'm', 'f', 'p')
UNION ALL
SELECT pg_namespace.oid AS namespace_id, relname, NULL relpages, NULL attname, NULL type_name,
	NULL type_modifier, NULL ndim, NULL attnum, NULL AS notnull,
	pg_constraint.oid AS constraint_id, contype AS constraint_type,
	conkey AS constraint_key, NULL, NULL, NULL
FROM pg_class
JOIN pg_namespace ON relnamespace = pg_namespace.oid
JOIN pg_constraint ON (pg_class.oid=pg_constraint.conrelid)
WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND contype IN ('p', 'u')
ORDER BY namespace_id, relname, attnum, constraint_id;

SELECT n.oid, enumtypid, typname, enumlabel
FROM pg_enum e
JOIN pg_type t ON e.enumtypid = t.oid
JOIN pg_namespace AS n ON (typnamespace=n.oid)
ORDER BY n.oid, enumtypid, enumsortorder;

SELECT n.oid, t.typrelid AS id, t.typname as type, pg_attribute.attname, sub_type.typname, sub_type_ns.nspname
FROM pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
JOIN pg_class ON pg_class.oid = t.typrelid
JOIN pg_attribute ON attrelid=t.typrelid
JOIN pg_type sub_type ON (pg_attribute.atttypid=sub_type.oid)
JOIN pg_catalog.pg_namespace sub_type_ns ON sub_type_ns.oid = sub_type.typnamespace
WHERE pg_class.relkind IN ('c', 'r', 'v', 'm', 'f', 'p') AND t.typtype='c' AND attnum > 0 AND NOT attisdropped
ORDER BY n.oid, t.oid, attrelid, attnum;

SELECT pg_namespace.oid, tablename, indexname
FROM pg_indexes
JOIN pg_namespace ON (schemaname=nspname)
ORDER BY pg_namespace.oid;

`

// TestTrapBulkLoad: the client cuts four of the five results into schemas by walking the first: rows of a schema follow one another, in the order of
// the first result, and no schema is missing there; else what comes behind is silently gone. Keys stand behind the columns of their table.
func TestTrapBulkLoad(t *testing.T) {
	var mu sync.Mutex
	public := map[string]string{}
	t.Cleanup(func() {
		if pg, eider := public["pg"], public["eider"]; pg != "" && eider != "" && pg != eider {
			t.Errorf("the load of the same tables differs:\n--- pg\n%s\n--- eider\n%s", pg, eider)
		}
	})
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		c := connect(ctx, t, dsn)
		mustExec(ctx, t, c, `CREATE SCHEMA z; CREATE SCHEMA "A b"; CREATE TABLE z.t (i int PRIMARY KEY); CREATE TABLE "A b".t (i int)`)
		mustExec(ctx, t, c, `CREATE TABLE t (b bigint NOT NULL, gone int, n numeric(10,2), "Odd Name" varchar, a int[], ok bool, PRIMARY KEY (n, b), UNIQUE ("Odd Name")); ALTER TABLE t DROP COLUMN gone; CREATE TABLE z.late (x uuid); CREATE TABLE aa (x timestamptz)`)
		res, err := c.Exec(ctx, bulkLoad).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(res) != 6 || c.TxStatus() != 'T' {
			t.Fatalf("%d results, status %c", len(res), c.TxStatus())
		}
		var schemas []string
		last := -1
		names := map[string]string{}
		for _, row := range res[1].Rows {
			oid, err := strconv.Atoi(string(row[0]))
			if err != nil || oid <= last {
				t.Errorf("schema %q has oid %s behind %d", row[1], row[0], last)
			}
			last = oid
			schemas = append(schemas, string(row[0]))
			names[string(row[0])] = string(row[1])
		}
		for _, want := range []string{"public", "z", "A b"} {
			if !slices.ContainsFunc(schemas, func(oid string) bool { return names[oid] == want }) {
				t.Errorf("schema %s is missing", want)
			}
		}
		for i, r := range res[2:] {
			at := 0
			for _, row := range r.Rows {
				for at < len(schemas) && schemas[at] != string(row[0]) {
					at++
				}
				if at == len(schemas) {
					t.Errorf("result %d: %q stands where the client does not look for it", i+2, row)
					break
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		public[target.Name()] = tablesOf(res[2], names)
		mustExec(ctx, t, c, "COMMIT")
	})
}

// tablesOf renders the second result, with the schemas' names for their ids and without the keys' ids.
func tablesOf(r *pgconn.Result, names map[string]string) string {
	var out strings.Builder
	for _, f := range r.FieldDescriptions {
		fmt.Fprintf(&out, "%s:%d ", f.Name, f.DataTypeOID)
	}
	for _, row := range r.Rows {
		schema := names[string(row[0])]
		if strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
			continue
		}
		out.WriteString("\n" + schema)
		for i, v := range row[1:] {
			switch {
			case v == nil:
				out.WriteString(" NULL")
			case i+1 == 9: // constraint_id
				out.WriteString(" #")
			default:
				fmt.Fprintf(&out, " %q", v)
			}
		}
	}
	return out.String()
}

// TestTrapBrokenCopyIn: a connection that breaks while DuckDB copies rows to the server makes DuckDB give up its whole instance. The server reads to
// the end of the rows before it answers, also when an operator ends the session; so the instance lives. PostgreSQL does not do that.
func TestTrapBrokenCopyIn(t *testing.T) {
	s := needEider(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	db := newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.DropDatabase(ctx, db) }()
	d := newDuck(ctx, t)
	mustRun(ctx, t, d, "ATTACH '"+s.DSN(db)+"' AS p (TYPE postgres)")
	mustRun(ctx, t, d, "CREATE TABLE p.t (i BIGINT, s VARCHAR)")
	operator := connect(ctx, t, s.DSN(db))
	done := make(chan error, 1)
	go func() {
		_, err := d.Exec(ctx, "INSERT INTO p.t SELECT range, repeat('x', 100) FROM range(2000000)")
		done <- err
	}()
	ended := false
	for !ended {
		select {
		case err := <-done:
			t.Fatalf("the copy ended before it was broken: %v", err)
		default:
		}
		ended = one(ctx, t, operator, "SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%FROM STDIN%'") == "t"
	}
	if err := <-done; err == nil || strings.Contains(err.Error(), "INTERNAL") {
		t.Errorf("the broken copy: %v", err)
	}
	mustRun(ctx, t, d, "SELECT 1")
	if res, err := d.Query(ctx, "SELECT count(*) FROM p.t"); err != nil || res.Lines()[0] != "0" {
		t.Errorf("after it: %v, %v", res, err)
	}
	mustRun(ctx, t, d, "INSERT INTO p.t VALUES (1, 'again')")
}
