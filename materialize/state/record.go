package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Begin records a run that begins: its row, and its slice as running. It sets ID, Status and
// Started, and Attempt to 1 if it is 0.
func (s *Store) Begin(ctx context.Context, r *Run) error {
	r.ID, r.Status, r.Started = s.o.NewID(), Running, s.now()
	r.Attempt = max(r.Attempt, 1)
	err := s.transact(ctx, func(tx pgx.Tx) error {
		if err := insertRun(ctx, tx, r); err != nil {
			return err
		}
		return upsertSlice(ctx, tx, r, r.Started)
	})
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	return nil
}

// Skip records a run that was not made, because it would have changed nothing. Its slice stays as it is.
func (s *Store) Skip(ctx context.Context, r *Run) error {
	r.ID, r.Status, r.Started = s.o.NewID(), Skipped, s.now()
	r.Ended, r.Attempt = r.Started, max(r.Attempt, 1)
	if err := s.transact(ctx, func(tx pgx.Tx) error { return insertRun(ctx, tx, r) }); err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	return nil
}

// Finish records how a run ended. Only a run that is Materialized advances the history of the
// asset's columns. It may be called for a run that Begin could not record. events are recorded with
// it, numbered in their order, after those that the run has.
func (s *Store) Finish(ctx context.Context, r *Run, status Status, events []Event) error {
	if err := status.check(); err != nil {
		return err
	}
	r.Status, r.Ended = status, s.now()
	if r.ID == "" {
		r.ID, r.Started = s.o.NewID(), r.Ended
	}
	var errs []error
	// The columns go first and by themselves, so that the run's row can say their version; it is
	// no reason not to record the run.
	if status == Materialized && r.Columns != nil {
		if err := s.advance(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("record the columns: %w", err))
		}
	}
	err := s.transact(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM "+Name+".runs WHERE run_id = $1", r.ID); err != nil {
			return err
		}
		if err := insertRun(ctx, tx, r); err != nil {
			return err
		}
		for _, e := range events {
			if err := insertEvent(ctx, tx, r.ID, e); err != nil {
				return err
			}
		}
		return upsertSlice(ctx, tx, r, r.Ended)
	})
	if err != nil {
		errs = append(errs, fmt.Errorf("record the run: %w", err))
	}
	return errors.Join(errs...)
}

// Event records something that happens in a run at once.
func (s *Store) Event(ctx context.Context, run, kind, data string) error {
	err := s.transact(ctx, func(tx pgx.Tx) error { return insertEvent(ctx, tx, run, Event{At: s.now(), Kind: kind, Data: data}) })
	if err != nil {
		return fmt.Errorf("record an event: %w", err)
	}
	return nil
}

func insertEvent(ctx context.Context, tx pgx.Tx, run string, e Event) error {
	_, err := tx.Exec(ctx, "INSERT INTO "+Name+".run_events (run_id, seq, at, kind, data) SELECT CAST($1 AS uuid), coalesce(max(seq), 0) + 1, CAST($2 AS timestamptz), $3::text, $4::text FROM "+
		Name+".run_events WHERE run_id = CAST($1 AS uuid)", run, e.At.UTC(), clean(e.Kind), clean(e.Data))
	return err
}

// now is the clock's time as the tables keep it.
func (s *Store) now() time.Time { return s.o.Now().UTC().Truncate(time.Microsecond) }

func insertRun(ctx context.Context, tx pgx.Tx, r *Run) error {
	sources, err := jsonText(r.Sources, r.Sources == nil)
	if err != nil {
		return err
	}
	tests, err := jsonText(r.Tests, len(r.Tests) == 0)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO "+Name+`.runs (run_id, script, asset_kind, asset_path, partition, strategy, status, trigger, attempt, owner, started_at, ended_at,
 snapshot_id, row_count, schema_version, script_hash, sources, tests, error)
 VALUES (CAST($1 AS uuid), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, CAST($17 AS json), CAST($18 AS json), $19)`,
		r.ID, clean(r.Script), clean(r.Asset.Kind), clean(r.Asset.Path), clean(r.Partition), clean(r.Strategy), string(r.Status), clean(r.Trigger), r.Attempt,
		clean(r.Owner), r.Started, orNil(r.Ended, r.Ended.IsZero()), r.Snapshot, r.Rows, r.SchemaVersion, r.ScriptHash, sources, tests, orNil(clean(r.Error), r.Error == ""))
	return err
}

// upsertSlice overwrites everything that is known of the slice.
func upsertSlice(ctx context.Context, tx pgx.Tx, r *Run, at time.Time) error {
	if r.Status == Skipped {
		return nil
	}
	_, err := tx.Exec(ctx, "INSERT INTO "+Name+`.partitions (asset_kind, asset_path, partition, status, snapshot_id, row_count, run_id, script, materialized_at, error)
 VALUES ($1, $2, $3, $4, $5, $6, CAST($7 AS uuid), $8, $9, $10)
 ON CONFLICT (asset_kind, asset_path, partition) DO UPDATE SET status = excluded.status, snapshot_id = excluded.snapshot_id, row_count = excluded.row_count,
 run_id = excluded.run_id, script = excluded.script, materialized_at = excluded.materialized_at, error = excluded.error`,
		clean(r.Asset.Kind), clean(r.Asset.Path), clean(r.Partition), string(r.Status), r.Snapshot, r.Rows, r.ID, clean(r.Script), at,
		orNil(clean(r.Error), r.Error == ""))
	return err
}

// advance gives the run's columns the version of the latest ones if they are the same, and else
// the next.
func (s *Store) advance(ctx context.Context, r *Run) error {
	return s.transact(ctx, func(tx pgx.Tx) error {
		list, err := schemas(ctx, tx, r.Asset, 1)
		if err != nil {
			return err
		}
		next := int64(1)
		if len(list) > 0 {
			if slices.Equal(list[0].Columns, r.Columns) {
				r.SchemaVersion = &list[0].Version
				return nil
			}
			next = list[0].Version + 1
		}
		columns, err := json.Marshal(r.Columns)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO "+Name+`.asset_schemas (asset_kind, asset_path, version, columns, snapshot_id, run_id, captured_at)
 VALUES ($1, $2, $3, CAST($4 AS json), $5, CAST($6 AS uuid), $7)`, clean(r.Asset.Kind), clean(r.Asset.Path), next, string(columns), r.Snapshot, r.ID, r.Ended)
		if err == nil {
			r.SchemaVersion = &next
		}
		return err
	})
}

// jsonText is a value as JSON, or nil for a NULL.
func jsonText(v any, null bool) (any, error) {
	if null {
		return nil, nil
	}
	b, err := json.Marshal(v)
	return string(b), err // a NUL is escaped in it
}

func orNil[T any](v T, null bool) any {
	if null {
		return nil
	}
	return v
}
