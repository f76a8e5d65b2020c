package state

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/jackc/pgx/v5"
)

// lockClass is the first half of a lock's key, "EIMA" as a number; the second is made from the
// asset. Two assets of one key wait for each other for nothing, which is harmless.
const lockClass = 0x45494d41

func lockKey(a Asset) string {
	return fmt.Sprintf("%d, %d", lockClass, int32(crc32.ChecksumIEEE([]byte(a.String()))))
}

// TryLock takes an asset's lock, if nobody has it.
func (s *Store) TryLock(ctx context.Context, a Asset) (ok bool, err error) {
	if err := s.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+lockKey(a)+")").Scan(&ok); err != nil {
		return false, fmt.Errorf("lock %s: %w", a, err)
	}
	return ok, nil
}

// Lock takes an asset's lock and waits for it if need be; waiting is called once with the run
// that has it, as far as that is known. When ctx ends the connection may be closed.
func (s *Store) Lock(ctx context.Context, a Asset, waiting func(*Run)) error {
	ok, err := s.TryLock(ctx, a)
	if ok || err != nil {
		return err
	}
	if waiting != nil {
		var by *Run
		if list, err := s.Runs(ctx, Filter{Asset: a, Status: Running, Limit: 1}); err == nil && len(list) > 0 {
			by = &list[0]
		}
		waiting(by)
	}
	if _, err := s.conn.Exec(ctx, "SELECT pg_advisory_lock("+lockKey(a)+")"); err != nil {
		return fmt.Errorf("wait for the lock of %s: %w", a, err)
	}
	return nil
}

// Unlock lets go of an asset's lock.
func (s *Store) Unlock(ctx context.Context, a Asset) error {
	if _, err := s.conn.Exec(ctx, "SELECT pg_advisory_unlock("+lockKey(a)+")"); err != nil {
		return fmt.Errorf("unlock %s: %w", a, err)
	}
	return nil
}

// Reclaim makes runs of an asset that are recorded as running into failed ones, and returns
// them. The caller has the asset's lock: whoever ran them is gone.
func (s *Store) Reclaim(ctx context.Context, a Asset) ([]Run, error) {
	list, err := s.Runs(ctx, Filter{Asset: a, Status: Running})
	if err != nil {
		return nil, err
	}
	for i := range list {
		r := &list[i]
		r.Error = fmt.Sprintf("its owner is gone (%s, since %s)", r.Owner, r.Started.Format("2006-01-02 15:04:05Z"))
		r.Status, r.Ended = Failed, s.now()
		err := s.transact(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "UPDATE "+Name+".runs SET status = $1, ended_at = $2, error = $3 WHERE CAST(run_id AS text) = $4 AND status = $5",
				string(r.Status), r.Ended, r.Error, r.ID, string(Running)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE "+Name+".partitions SET status = $1, materialized_at = $2, error = $3 WHERE CAST(run_id AS text) = $4 AND status = $5",
				string(r.Status), r.Ended, r.Error, r.ID, string(Running))
			return err
		})
		if err != nil {
			return list[:i], fmt.Errorf("record a lost run: %w", err)
		}
	}
	return list, nil
}

// ReclaimAll does it for every asset whose lock nobody has.
func (s *Store) ReclaimAll(ctx context.Context) (lost []Run, err error) {
	list, err := s.Runs(ctx, Filter{Status: Running})
	if err != nil {
		return nil, err
	}
	seen := map[Asset]bool{}
	for _, r := range list {
		if seen[r.Asset] {
			continue
		}
		seen[r.Asset] = true
		ok, err := s.TryLock(ctx, r.Asset)
		if err != nil {
			return lost, err
		}
		if !ok {
			continue
		}
		some, err := s.Reclaim(ctx, r.Asset)
		lost = append(lost, some...)
		if e := s.Unlock(ctx, r.Asset); err == nil {
			err = e
		}
		if err != nil {
			return lost, err
		}
	}
	return lost, nil
}
