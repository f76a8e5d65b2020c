package maintain

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/worker/duck"
)

// Catalog reads what a lake's catalog says, over a connection of its own, and holds the lock
// that keeps other workers away. DuckDB's connections come from a pool and are reset between
// transactions, which lets go of a session's locks.
type Catalog struct {
	conn   *pgx.Conn
	lake   string // metadata schema
	locked bool
	eider  bool
}

// lockClass is the first half of the lock's key, "EIDM" as a number; the second is made from
// the lake's name. Advisory locks are a database's own on PostgreSQL and on Eider.
const lockClass = 0x4549444d

// OpenCatalog connects to the database of a lake and looks whether there is one. lake is its
// metadata schema, "" for public.
func OpenCatalog(ctx context.Context, dsn, lake string) (*Catalog, error) {
	if lake == "" {
		lake = "public"
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: connection string: %w", ErrOption, err)
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to the catalog: %w", err)
	}
	c := &Catalog{conn: conn, lake: lake}
	var version string
	var tables int
	err = conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	if err == nil {
		err = conn.QueryRow(ctx, "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'ducklake_snapshot'", lake).Scan(&tables)
	}
	if err == nil && tables == 0 {
		err = fmt.Errorf("%w in schema %s of database %s", ErrNoLake, lake, cfg.Database)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	c.eider = strings.Contains(version, "Eider")
	return c, nil
}

// Lake is the metadata schema.
func (c *Catalog) Lake() string { return c.lake }

// HoldsRowIDs says whether the catalog refuses merges that would give rows other ids: Eider
// does.
func (c *Catalog) HoldsRowIDs() bool { return c.eider }

// Lock takes the lake's lock, or returns ErrBusy.
func (c *Catalog) Lock(ctx context.Context) error {
	var ok bool
	key := int32(crc32.ChecksumIEEE([]byte(c.lake)))
	if err := c.conn.QueryRow(ctx, fmt.Sprintf("SELECT pg_try_advisory_lock(%d, %d)", lockClass, key)).Scan(&ok); err != nil {
		return fmt.Errorf("lock the lake: %w", err)
	}
	if !ok {
		return ErrBusy
	}
	c.locked = true
	return nil
}

// Alive says with an error whether the connection, and with it the lock, is still there.
func (c *Catalog) Alive(ctx context.Context) error {
	if err := c.conn.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// Close lets go of the lock and ends the connection.
func (c *Catalog) Close(ctx context.Context) error { return c.conn.Close(ctx) }

// Policies reads eider.policies; ok is false where there is no such table, as on PostgreSQL.
func (c *Catalog) Policies(ctx context.Context) (set *gc.Set, ok bool, err error) {
	var n int
	err = c.conn.QueryRow(ctx, `SELECT count(*) FROM information_schema.columns WHERE table_schema = 'eider' AND table_name = 'policies'
 AND column_name IN ('lake', 'schema_name', 'table_name', 'name', 'value')`).Scan(&n)
	if err != nil || n != 5 {
		return gc.NewSet(nil), false, err
	}
	rows, err := c.conn.Query(ctx, "SELECT coalesce(lake, ''), coalesce(schema_name, ''), coalesce(table_name, ''), coalesce(name, ''), coalesce(value, '') FROM eider.policies")
	if err != nil {
		return nil, false, fmt.Errorf("read policies: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (s gc.Setting, err error) {
		return s, r.Scan(&s.Lake, &s.Schema, &s.Table, &s.Name, &s.Value)
	})
	if err != nil {
		return nil, false, fmt.Errorf("read policies: %w", err)
	}
	return gc.NewSet(list), true, nil
}

// Paused says by whom all maintenance of the catalog, or what workers do, is paused ("eider gc
// pause"); "" if it is not, as on PostgreSQL.
func (c *Catalog) Paused(ctx context.Context) (string, error) {
	if !c.eider {
		return "", nil
	}
	var n int
	err := c.conn.QueryRow(ctx, `SELECT count(*) FROM information_schema.columns WHERE table_schema = 'eider' AND table_name = 'pauses'
 AND column_name IN ('kind', 'paused_by', 'note')`).Scan(&n)
	if err != nil || n != 3 {
		return "", err
	}
	var by, note string
	err = c.conn.QueryRow(ctx, "SELECT coalesce(paused_by, ''), coalesce(note, '') FROM eider.pauses WHERE coalesce(kind, '') IN ('', '"+string(gc.Maintain)+"') LIMIT 1").Scan(&by, &note)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read pauses: %w", err)
	}
	why := "maintenance is paused by " + by
	if note != "" {
		why += ": " + note
	}
	return why, nil
}

// table is a relation of the lake, quoted.
func (c *Catalog) table(name string) string { return duck.Ident(c.lake) + "." + duck.Ident(name) }

// HasServerJobs says whether the catalog's server does expiry, cleanup and orphans itself.
func (c *Catalog) HasServerJobs(ctx context.Context) (bool, error) {
	rows, err := c.conn.Query(ctx, "SELECT * FROM eider.gc_status("+duck.Literal(c.lake)+")")
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "42883", "42P01", "3F000", "0A000": // no such function, relation or schema; not here
			return false, nil
		}
	}
	return err == nil, err
}

// ServerJob has the server do a phase for the lake, and waits for its end. What the policies
// turn off, or a pause holds up, is skipped.
func (c *Catalog) ServerJob(ctx context.Context, p Phase) (string, error) {
	kinds := []string{p.String()}
	if p == Expire {
		kinds = append(kinds, "trim") // what expiry leaves without a use
	}
	var said []string
	for _, kind := range kinds {
		var state, counts, failure string
		err := c.conn.QueryRow(ctx, fmt.Sprintf(`SELECT state, coalesce(counts, ''), coalesce(error, '') FROM eider.gc_run(%s, %s, '{"wait": true, "skip": true}')`,
			duck.Literal(c.lake), duck.Literal(kind))).Scan(&state, &counts, &failure)
		if err != nil {
			return strings.Join(said, "; "), err
		}
		if state == "skipped" {
			said = append(said, kind+" "+state+": "+failure)
			continue
		}
		if failure != "" {
			return strings.Join(said, "; "), fmt.Errorf("%w: %s: %s", ErrServerJob, kind, failure)
		}
		said = append(said, strings.TrimSpace(kind+" "+state+" "+counts))
	}
	return strings.Join(said, "; "), nil
}
