package duck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/eiderdb/eider/e2e/internal/tools"
)

// Instance is a DuckDB of its own: its own catalog cache, pool and memory, as another process would have.
type Instance struct {
	db *sql.DB
}

// Open starts an instance with the ducklake and postgres extensions loaded.
func Open(ctx context.Context) (*Instance, error) {
	dir, err := tools.Fetch(ctx, tools.Extensions)
	if err != nil {
		return nil, err
	}
	setup := []string{
		"LOAD '" + filepath.Join(dir, "extensions", "postgres_scanner.duckdb_extension") + "'",
		"LOAD '" + filepath.Join(dir, "extensions", "ducklake.duckdb_extension") + "'",
		"SET TimeZone = 'UTC'",
	}
	// One thread: with more, the order of rows in a file, and so its size in the catalog, is
	// a matter of scheduling. Scripts that want threads set them.
	c, err := duckdb.NewConnector("?allow_unsigned_extensions=true&threads=1&memory_limit=2GB", func(ex driver.ExecerContext) error {
		for _, s := range setup {
			if _, err := ex.ExecContext(context.Background(), s, nil); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Instance{db: sql.OpenDB(c)}, nil
}

// Conn opens a connection. Connections of one instance share its attached lakes.
func (i *Instance) Conn(ctx context.Context) (Session, error) {
	c, err := i.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c: c}, nil
}

// Close ends the instance and its connections to servers.
func (i *Instance) Close() error { return i.db.Close() }

type conn struct{ c *sql.Conn }

func (c *conn) Query(ctx context.Context, sql string) (Result, error) {
	sql, _ = asText(sql)
	return c.Exec(ctx, sql)
}

func (c *conn) Exec(ctx context.Context, sql string) (Result, error) {
	res, err := c.exec(ctx, sql)
	if err == nil || !strings.Contains(err.Error(), "after the transaction has ended") {
		return res, err
	}
	// The driver prepares a statement in a transaction of its own before it runs it; some table functions of DuckLake do not survive that.
	if _, err := c.exec(ctx, "BEGIN"); err != nil {
		return Result{}, err
	}
	res, err = c.exec(ctx, sql)
	if err != nil {
		_, _ = c.exec(ctx, "ROLLBACK")
		return Result{}, err
	}
	_, err = c.exec(ctx, "COMMIT")
	return res, err
}

func (c *conn) exec(ctx context.Context, sql string) (Result, error) {
	rows, err := c.c.QueryContext(ctx, sql)
	if err != nil {
		return Result{}, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return Result{}, err
	}
	var res Result
	vals := make([]any, len(cols))
	ptrs := make([]any, len(cols))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return Result{}, err
		}
		row := make([]string, len(cols))
		for i, v := range vals {
			row[i] = render(v)
		}
		res.Rows = append(res.Rows, row)
	}
	return res, rows.Err()
}

func (c *conn) Close() error { return c.c.Close() }

// render shows a Go value of the driver, for the statements whose result DuckDB cannot render itself.
func render(v any) string {
	switch v := v.(type) {
	case nil:
		return Null
	case string:
		return Text(v)
	case []byte:
		return `\x` + hex.EncodeToString(v)
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = render(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := make([]string, 0, len(v))
		for k := range v {
			parts = append(parts, "'"+k+"': "+render(v[k]))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case duckdb.OrderedMap:
		keys, vals := v.Keys(), v.Values()
		parts := make([]string, len(keys))
		for i := range keys {
			parts[i] = render(keys[i]) + "=" + render(vals[i])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		return Text(fmt.Sprint(v))
	}
}
