package state

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Slices returns the state of an asset's partitions, or of all assets' for the zero Asset, by
// asset and then by partition, the last one first.
func (s *Store) Slices(ctx context.Context, a Asset) ([]Slice, error) {
	where, args := "", []any{}
	if a != (Asset{}) {
		where, args = " WHERE asset_kind = $1 AND asset_path = $2", []any{a.Kind, a.Path}
	}
	rows, err := s.conn.Query(ctx, "SELECT asset_kind, asset_path, partition, status, snapshot_id, row_count, coalesce(CAST(run_id AS text), ''), coalesce(script, ''), materialized_at, coalesce(error, '') FROM "+
		Name+".partitions"+where+" ORDER BY asset_kind, asset_path, partition DESC", args...)
	if err != nil {
		return nil, fmt.Errorf("read the partitions: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (p Slice, err error) {
		err = r.Scan(&p.Asset.Kind, &p.Asset.Path, &p.Partition, &p.Status, &p.Snapshot, &p.Rows, &p.Run, &p.Script, &p.At, &p.Error)
		p.At = p.At.UTC()
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the partitions: %w", err)
	}
	return list, nil
}

// Schemas returns the versions of an asset's columns, the newest first, limit of them, or all
// for 0.
func (s *Store) Schemas(ctx context.Context, a Asset, limit int) ([]Schema, error) {
	list, err := schemas(ctx, s.conn, a, limit)
	if err != nil {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	return list, nil
}

func schemas(ctx context.Context, q querier, a Asset, limit int) ([]Schema, error) {
	sql := "SELECT version, CAST(columns AS text), snapshot_id, coalesce(CAST(run_id AS text), ''), captured_at FROM " + Name +
		".asset_schemas WHERE asset_kind = $1 AND asset_path = $2 ORDER BY version DESC"
	if limit > 0 {
		sql += " LIMIT " + strconv.Itoa(limit)
	}
	rows, err := q.Query(ctx, sql, a.Kind, a.Path)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (v Schema, err error) {
		var columns string
		if err = r.Scan(&v.Version, &columns, &v.Snapshot, &v.Run, &v.Captured); err == nil {
			err = json.Unmarshal([]byte(columns), &v.Columns)
		}
		v.Captured = v.Captured.UTC()
		return v, err
	})
}

// Filter chooses runs. Each zero field lets everything pass.
type Filter struct {
	ID        string
	Script    string
	Asset     Asset
	Partition *string
	Status    Status
	// NotSkipped leaves out runs that were skipped.
	NotSkipped bool
	// Limit is how many are returned at most.
	Limit int
}

// Runs returns runs, the newest first.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, error) {
	var where []string
	var args []any
	add := func(cond string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf(cond, len(args)))
	}
	if f.ID != "" {
		add("CAST(run_id AS text) = $%d", f.ID)
	}
	if f.Script != "" {
		add("script = $%d", f.Script)
	}
	if f.Asset != (Asset{}) {
		add("asset_kind = $%d", f.Asset.Kind)
		add("asset_path = $%d", f.Asset.Path)
	}
	if f.Partition != nil {
		add("partition = $%d", *f.Partition)
	}
	if f.Status != "" {
		add("status = $%d", string(f.Status))
	}
	if f.NotSkipped {
		where = append(where, "status <> '"+string(Skipped)+"'")
	}
	sql := `SELECT CAST(run_id AS text), script, asset_kind, asset_path, partition, strategy, status, trigger, attempt, owner, started_at, ended_at,
 snapshot_id, row_count, schema_version, script_hash, coalesce(CAST(sources AS text), ''), coalesce(CAST(tests AS text), ''), coalesce(error, '') FROM ` + Name + ".runs"
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	sql += " ORDER BY started_at DESC, attempt DESC, run_id"
	if f.Limit > 0 {
		sql += " LIMIT " + strconv.Itoa(f.Limit)
	}
	rows, err := s.conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanRun)
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	return list, nil
}

func scanRun(row pgx.CollectableRow) (r Run, err error) {
	var ended *time.Time
	var sources, tests string
	err = row.Scan(&r.ID, &r.Script, &r.Asset.Kind, &r.Asset.Path, &r.Partition, &r.Strategy, &r.Status, &r.Trigger, &r.Attempt, &r.Owner, &r.Started, &ended,
		&r.Snapshot, &r.Rows, &r.SchemaVersion, &r.ScriptHash, &sources, &tests, &r.Error)
	if err != nil {
		return r, err
	}
	r.Started = r.Started.UTC()
	if ended != nil {
		r.Ended = ended.UTC()
	}
	// Somebody may have written other JSON into the table; what it said is then not known.
	if sources != "" && json.Unmarshal([]byte(sources), &r.Sources) != nil {
		r.Sources = nil
	}
	if tests != "" && json.Unmarshal([]byte(tests), &r.Tests) != nil {
		r.Tests = nil
	}
	return r, nil
}

// Events returns what happened in a run, in order.
func (s *Store) Events(ctx context.Context, run string) ([]Event, error) {
	rows, err := s.conn.Query(ctx, "SELECT seq, at, kind, data FROM "+Name+".run_events WHERE CAST(run_id AS text) = $1 ORDER BY seq", run)
	if err != nil {
		return nil, fmt.Errorf("read the events: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (e Event, err error) {
		err = r.Scan(&e.Seq, &e.At, &e.Kind, &e.Data)
		e.At = e.At.UTC()
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the events: %w", err)
	}
	return list, nil
}
