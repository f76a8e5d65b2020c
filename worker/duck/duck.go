package duck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// Errors of this package.
var (
	// ErrExtension is returned when an extension can neither be loaded nor installed.
	ErrExtension = errors.New("a DuckDB extension is missing")
	// ErrAttach is returned when the lake cannot be attached.
	ErrAttach = errors.New("the lake cannot be attached")
)

// Options says how to open DuckDB. The zero value takes everything from DuckDB's own
// defaults and its extension repository.
type Options struct {
	// ExtensionDir is a folder with NAME.duckdb_extension files of DuckDB's version. What it
	// has is loaded from there, signed or not; the rest, and everything when it is "", is
	// installed from DuckDB's repository, or taken from where DuckDB keeps what was
	// installed before.
	ExtensionDir string
	// Extensions are loaded besides ducklake and postgres; "httpfs", for one.
	Extensions []string
	// Threads is how many threads DuckDB uses; 0 for as many as there are CPUs.
	Threads int
	// MemoryLimit is DuckDB's memory_limit, such as "4GB"; "" for its default, 80 % of the
	// machine's memory.
	MemoryLimit string
	// TempDir is where DuckDB spills what does not fit; "" for its default.
	TempDir string
	// Init are statements that are run before the lake is attached, for secrets and settings.
	Init []string
}

// Lake names a lake and its catalog.
type Lake struct {
	// Name is what the lake is called in SQL.
	Name string
	// DSN is the connection string of the catalog's database, in libpq's key=value form or
	// as a URL.
	DSN string
	// Schema is the metadata schema; "" for the catalog's default, public.
	Schema string
	// DataPath replaces the data path that the catalog has; "" to take that.
	DataPath string
	// ReadOnly attaches the lake for reading.
	ReadOnly bool
	// Options are further options of ATTACH, as text; "" for none.
	Options string
}

// DB is an open DuckDB with one connection.
type DB struct {
	db   *sql.DB
	conn *sql.Conn
}

// Open starts DuckDB and loads the extensions.
func Open(ctx context.Context, o Options) (*DB, error) {
	c, err := duckdb.NewConnector("?"+o.parameters().Encode(), func(driver.ExecerContext) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	d := &DB{db: sql.OpenDB(c)}
	if d.conn, err = d.db.Conn(ctx); err != nil {
		_ = d.db.Close()
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	err = d.load(ctx, o)
	for _, s := range o.Init {
		if err == nil {
			if err = d.Exec(ctx, s); err != nil {
				err = fmt.Errorf("initial statements: %w", err)
			}
		}
	}
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

func (o *Options) parameters() url.Values {
	p := url.Values{}
	if o.ExtensionDir != "" {
		p.Set("allow_unsigned_extensions", "true")
	}
	if o.Threads > 0 {
		p.Set("threads", strconv.Itoa(o.Threads))
	}
	if o.MemoryLimit != "" {
		p.Set("memory_limit", o.MemoryLimit)
	}
	if o.TempDir != "" {
		p.Set("temp_directory", o.TempDir)
	}
	return p
}

// load loads the extensions. The postgres extension has two names: its file's and the one
// under which it is installed.
func (d *DB) load(ctx context.Context, o Options) error {
	names := append([]string{"postgres_scanner", "ducklake"}, o.Extensions...)
	for _, name := range names {
		if o.ExtensionDir != "" {
			file := filepath.Join(o.ExtensionDir, name+".duckdb_extension")
			if _, err := os.Stat(file); err == nil {
				if err := d.Exec(ctx, "LOAD "+Literal(file)); err != nil {
					return fmt.Errorf("%w: %s: %w", ErrExtension, name, err)
				}
				continue
			}
		}
		if name == "postgres_scanner" {
			name = "postgres"
		}
		if err := d.Exec(ctx, "INSTALL "+Ident(name)); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrExtension, name, err)
		}
		if err := d.Exec(ctx, "LOAD "+Ident(name)); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrExtension, name, err)
		}
	}
	return nil
}

// Attach attaches a lake that exists. It never makes one and never migrates its format.
func (d *DB) Attach(ctx context.Context, l Lake) error {
	if err := d.Exec(ctx, l.attach()); err != nil {
		return fmt.Errorf("%w: %w", ErrAttach, err)
	}
	return nil
}

func (l *Lake) attach() string {
	options := []string{"CREATE_IF_NOT_EXISTS false"}
	if l.Schema != "" {
		options = append(options, "METADATA_SCHEMA "+Literal(l.Schema))
	}
	if l.DataPath != "" {
		options = append(options, "DATA_PATH "+Literal(l.DataPath), "OVERRIDE_DATA_PATH true")
	}
	if l.ReadOnly {
		options = append(options, "READ_ONLY")
	}
	if l.Options != "" {
		options = append(options, l.Options)
	}
	return "ATTACH " + Literal("ducklake:postgres:"+l.DSN) + " AS " + Ident(l.Name) + " (" + strings.Join(options, ", ") + ")"
}

// Exec runs one statement that has no result.
func (d *DB) Exec(ctx context.Context, sql string) error {
	_, err := d.conn.ExecContext(ctx, sql)
	return err
}

// Query runs one statement and returns its rows.
func (d *DB) Query(ctx context.Context, sql string) ([][]any, error) {
	rows, err := d.conn.QueryContext(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][]any
	for rows.Next() {
		row := make([]any, len(cols))
		to := make([]any, len(cols))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// Transact runs one statement in a transaction of its own and returns its rows. DuckLake's
// maintenance functions need the transaction: the driver prepares a statement before it
// runs it, and left alone it would do that in two transactions.
func (d *DB) Transact(ctx context.Context, sql string) ([][]any, error) {
	if err := d.Exec(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	rows, err := d.Query(ctx, sql)
	if err == nil {
		err = d.Exec(ctx, "COMMIT")
	}
	if err != nil {
		// A failed COMMIT has ended the transaction itself; the ROLLBACK then has nothing to
		// do. It must happen although the context is done, or the connection stays unusable.
		_ = d.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		return nil, err
	}
	return rows, nil
}

// Close ends the connection and DuckDB.
func (d *DB) Close() error { return errors.Join(d.conn.Close(), d.db.Close()) }

// Literal quotes a text for SQL.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Ident quotes a name for SQL.
func Ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
