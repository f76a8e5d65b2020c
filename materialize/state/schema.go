package state

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Name is the schema that holds the tables.
const Name = "eider_materialize"

// version is that of the tables. A later one says how an earlier one becomes it.
const version = 1

// tables are the statements that make version 1. A partition is never NULL, since it is a
// part of a key: ” is an asset without partitions.
var tables = []string{
	"CREATE SCHEMA IF NOT EXISTS " + Name,
	"CREATE TABLE IF NOT EXISTS " + Name + `.meta (key text PRIMARY KEY, value text NOT NULL)`,
	"CREATE TABLE IF NOT EXISTS " + Name + `.partitions (
 asset_kind text NOT NULL, asset_path text NOT NULL, partition text NOT NULL, status text NOT NULL, snapshot_id bigint, row_count bigint,
 run_id uuid, script text, materialized_at timestamptz NOT NULL DEFAULT now(), error text,
 PRIMARY KEY (asset_kind, asset_path, partition))`,
	"CREATE TABLE IF NOT EXISTS " + Name + `.asset_schemas (
 asset_kind text NOT NULL, asset_path text NOT NULL, version bigint NOT NULL, columns json NOT NULL, snapshot_id bigint, run_id uuid,
 captured_at timestamptz NOT NULL DEFAULT now(),
 PRIMARY KEY (asset_kind, asset_path, version))`,
	"CREATE TABLE IF NOT EXISTS " + Name + `.runs (
 run_id uuid PRIMARY KEY, script text NOT NULL, asset_kind text NOT NULL, asset_path text NOT NULL, partition text NOT NULL, strategy text NOT NULL,
 status text NOT NULL, trigger text NOT NULL, attempt bigint NOT NULL, owner text NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz,
 snapshot_id bigint, row_count bigint, schema_version bigint, script_hash text NOT NULL, sources json, tests json, error text)`,
	"CREATE INDEX IF NOT EXISTS runs_asset ON " + Name + ".runs (asset_kind, asset_path, started_at)",
	"CREATE TABLE IF NOT EXISTS " + Name + `.run_events (
 run_id uuid NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL, kind text NOT NULL, data text NOT NULL,
 PRIMARY KEY (run_id, seq))`,
	fmt.Sprintf("INSERT INTO "+Name+".meta (key, value) VALUES ('version', '%d') ON CONFLICT (key) DO NOTHING", version),
}

// ready makes the tables, or looks that they are there.
func (s *Store) ready(ctx context.Context) error {
	ok, err := s.known(ctx)
	if ok || err != nil {
		return err
	}
	if s.o.ReadOnly {
		return ErrNone
	}
	// Others may make the same tables now. IF NOT EXISTS is no protection against that: of two,
	// one meets the other's rows in the system's tables, and may try again.
	const attempts = 20
	for i := range attempts {
		err = s.create(ctx)
		if err == nil || !raced(err) {
			break
		}
		if i == attempts-1 {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("make the schema %s: %w", Name, err)
	}
	return nil
}

func (s *Store) create(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d, 0)", lockClass)); err != nil {
			return err
		}
		for _, sql := range tables {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// raced says whether somebody else was making the same thing.
func raced(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case "23505", "40001", "40P01", "42P06", "42P07", "42710", "XX000":
		return pg.Code != "XX000" || strings.Contains(pg.Message, "concurrently updated")
	}
	return false
}

// known says whether the tables are there, in a version that this program knows.
func (s *Store) known(ctx context.Context) (bool, error) {
	var n int
	err := s.conn.QueryRow(ctx, "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'meta'", Name).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for the schema %s: %w", Name, err)
	}
	if n == 0 {
		return false, nil
	}
	var v string
	err = s.conn.QueryRow(ctx, "SELECT value FROM "+Name+".meta WHERE key = 'version'").Scan(&v)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil // made by hand, or half of it; what is missing is made
	}
	if err != nil {
		return false, fmt.Errorf("read the version of %s: %w", Name, err)
	}
	if v != fmt.Sprint(version) {
		return false, fmt.Errorf("%w (version %s; this program knows %d)", ErrNewer, v, version)
	}
	return true, nil
}
