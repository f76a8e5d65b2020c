package pgsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/lake"
)

// begin starts the transaction that everything is read in. Times are printed in one zone,
// whatever the session's is, and an Eider server shows what it hides from clients that
// delete files. PostgreSQL takes that setting too, and does nothing with it.
const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL TIME ZONE 'UTC'; SET LOCAL eider.show_schedule = 'all'`

const listColumns = `SELECT n.nspname, c.relname, a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ` +
	`JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ` +
	`AND c.relname LIKE 'ducklake%' AND n.nspname NOT LIKE 'pg!_temp!_%' ESCAPE '!' ORDER BY n.nspname, c.relname, a.attnum`

// marker is the relation that makes a schema a lake.
const marker = "ducklake_snapshot"

// View is one catalog as it was at one moment, in a transaction of a connection that nobody
// else uses meanwhile.
type View struct {
	conn   *pgconn.PgConn
	schema map[string]map[string][]string
}

// Open begins a transaction on the connection and lists the lakes. Close ends it.
func Open(ctx context.Context, conn *pgconn.PgConn) (*View, error) {
	if err := conn.Exec(ctx, begin).Close(); err != nil {
		return nil, fmt.Errorf("pgsource: begin: %w", err)
	}
	v := &View{conn, map[string]map[string][]string{}}
	err := stream(ctx, conn, listColumns, func(row [][]byte) error {
		schema, name := string(row[0]), string(row[1])
		if v.schema[schema] == nil {
			v.schema[schema] = map[string][]string{}
		}
		v.schema[schema][name] = append(v.schema[schema][name], string(row[2]))
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pgsource: list relations: %w", err), v.Close(ctx))
	}
	return v, nil
}

// Lakes are the metadata schemas that hold a lake, in order.
func (v *View) Lakes() []string {
	var out []string
	for schema, relations := range v.schema {
		if _, ok := relations[marker]; ok {
			out = append(out, schema)
		}
	}
	slices.Sort(out)
	return out
}

// Lake reads the lake of one metadata schema.
func (v *View) Lake(schema string) lake.Source { return source{v, schema} }

// Close ends the transaction. The connection can be used again.
func (v *View) Close(ctx context.Context) error {
	if err := v.conn.Exec(ctx, "ROLLBACK").Close(); err != nil {
		return fmt.Errorf("pgsource: end: %w", err)
	}
	return nil
}

type source struct {
	v      *View
	schema string
}

// Relations lists the relations with their columns.
func (s source) Relations(context.Context) (map[string][]string, error) {
	return s.v.schema[s.schema], nil
}

// Rows reads one relation as the server sends it. What fn is given is good until it returns.
func (s source) Rows(ctx context.Context, relation string, columns []string, fn func([]*string) error) error {
	var sql strings.Builder
	sql.WriteString("SELECT ")
	for i, c := range columns {
		if i > 0 {
			sql.WriteString(", ")
		}
		sql.WriteString(lake.QuoteName(c))
	}
	if len(columns) == 0 { // rows without columns are still rows
		sql.WriteString("NULL")
	}
	sql.WriteString(" FROM " + lake.QuoteName(s.schema) + "." + lake.QuoteName(relation))
	text, ptrs := make([]string, len(columns)), make([]*string, len(columns))
	return stream(ctx, s.v.conn, sql.String(), func(row [][]byte) error {
		for i := range columns {
			ptrs[i] = nil
			if row[i] != nil {
				text[i] = string(row[i])
				ptrs[i] = &text[i]
			}
		}
		return fn(ptrs)
	})
}

// stream runs one query and calls fn with its rows as they come. After an error of fn the
// rest is read and dropped, so that the connection stays usable.
func stream(ctx context.Context, conn *pgconn.PgConn, sql string, fn func([][]byte) error) error {
	res := conn.Exec(ctx, sql)
	var failed error
	for res.NextResult() {
		r := res.ResultReader()
		for r.NextRow() {
			if failed == nil {
				failed = fn(r.Values())
			}
		}
		if _, err := r.Close(); err != nil {
			return errors.Join(failed, err, res.Close())
		}
	}
	return errors.Join(failed, res.Close())
}
