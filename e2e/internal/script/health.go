package script

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/lake"
)

// Finding is a broken invariant of the lake in one schema of a database.
type Finding struct {
	Schema string
	lake.Finding
}

// Findings checks the invariants of every lake in a database, all rows read in one transaction.
func Findings(ctx context.Context, dsn string) ([]Finding, error) {
	c, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	if err := c.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").Close(); err != nil {
		return nil, err
	}
	schemas, err := columnsBySchema(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for schema, relations := range schemas {
		m, err := lake.Load(ctx, &pgSource{c, schema, relations})
		if errors.Is(err, lake.ErrNotALake) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", schema, err)
		}
		for _, f := range lake.Check(m) {
			out = append(out, Finding{schema, f})
		}
	}
	return out, nil
}

// health checks every lake in the script's database. What is found and the script does
// not announce is a failure, and so is an announced finding that is not there.
func (r *runner) health(ctx context.Context) error {
	found, err := Findings(ctx, r.t.DSN(r.db))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range found {
		own := r.t.Name() + ":" + f.Code
		seen[f.Code], seen[own] = true, true
		if r.s.Unhealthy[f.Code] == "" && r.s.Unhealthy[own] == "" {
			r.trace.Failures = append(r.trace.Failures, fmt.Sprintf("the lake in schema %s is not healthy: %s", f.Schema, f.Finding))
		}
	}
	for code := range r.s.Unhealthy {
		server, _, one := strings.Cut(code, ":")
		if !seen[code] && (!one || server == r.t.Name()) {
			r.trace.Failures = append(r.trace.Failures, fmt.Sprintf("no finding %s, though the script says so", code))
		}
	}
	return nil
}

const listColumns = `SELECT n.nspname, c.relname, a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ` +
	`JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ` +
	`AND c.relname LIKE 'ducklake%'`

// columnsBySchema lists the columns of DuckLake's relations by metadata schema.
func columnsBySchema(ctx context.Context, c *pgconn.PgConn) (map[string]map[string][]string, error) {
	res, err := c.Exec(ctx, listColumns).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("listing columns: %w", err)
	}
	out := map[string]map[string][]string{}
	for _, row := range res[0].Rows {
		schema, name := string(row[0]), string(row[1])
		if out[schema] == nil {
			out[schema] = map[string][]string{}
		}
		out[schema][name] = append(out[schema][name], string(row[2]))
	}
	return out, nil
}

// pgSource is a lake.Source over a connection.
type pgSource struct {
	c         *pgconn.PgConn
	schema    string
	relations map[string][]string
}

var _ lake.Source = (*pgSource)(nil)

// Relations lists the relations with their columns.
func (s *pgSource) Relations(context.Context) (map[string][]string, error) { return s.relations, nil }

// Rows reads one relation.
func (s *pgSource) Rows(ctx context.Context, relation string, columns []string, fn func([]*string) error) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quote(c)
	}
	sql := "SELECT " + strings.Join(names, ", ") + " FROM " + quote(s.schema) + "." + quote(relation)
	res, err := s.c.Exec(ctx, sql).ReadAll()
	if err != nil {
		return err
	}
	v := make([]*string, len(columns))
	for _, row := range res[0].Rows {
		for i, b := range row {
			v[i] = nil
			if b != nil {
				text := string(b)
				v[i] = &text
			}
		}
		if err := fn(v); err != nil {
			return err
		}
	}
	return nil
}
