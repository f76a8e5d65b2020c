package hold

import (
	"errors"
	"fmt"
	"io"
)

// rows calls fn with the ids of a file's rows and with the snapshots that made them, in
// the order of the file, without those that are deleted. snapshots is nil unless asked
// for. The slices are good until fn returns.
func (e *examiner) rows(t *table, dated bool, fn func(ids, snapshots []int64) error) error {
	return e.blame(t, t.file, e.stream(t, dated, fn))
}

func (e *examiner) stream(t *table, dated bool, fn func(ids, snapshots []int64) error) (err error) {
	readSnaps := dated && t.ft.snapshot >= 0
	var r *reader
	if t.inside() || readSnaps {
		if err := e.spendRows(t.records); err != nil {
			return err
		}
		if r, err = e.v.open(e.ctx, t.file, wantIDs); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
	}
	return guarded(func() error {
		s := source{t: t, left: t.records}
		if t.inside() {
			s.ids = r.column(t.ft.id, true)
			defer s.ids.close()
		}
		if readSnaps {
			s.snaps = r.column(t.ft.snapshot, false)
			defer s.snaps.close()
		}
		keep := keeper{deleted: t.deleted}
		for {
			ids, snaps, err := s.next(dated)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = e.ctx.Err()
			}
			if err != nil {
				return err
			}
			signs := int64(0)
			for _, id := range ids {
				signs |= id
			}
			if signs < 0 {
				return badIDs(negative)
			}
			if ids, snaps = keep.filter(ids, snaps); len(ids) > 0 {
				if err := fn(ids, snaps); err != nil {
					return err
				}
			}
		}
	})
}

// source yields the rows of a table in batches.
type source struct {
	t          *table
	ids, snaps *column // nil: computed
	at, left   int64
	idBuf      []int64
	snapBuf    []int64
}

func (s *source) next(dated bool) (ids, snaps []int64, err error) {
	if s.left <= 0 {
		return nil, nil, io.EOF
	}
	n := int(min(batch, s.left))
	if s.ids != nil {
		if ids, err = s.ids.next(n); err != nil {
			return nil, nil, early(err)
		}
		n = len(ids)
	} else {
		s.idBuf = s.idBuf[:0]
		for i := range int64(n) {
			s.idBuf = append(s.idBuf, s.t.start+s.at+i)
		}
		ids = s.idBuf
	}
	switch {
	case !dated:
	case s.snaps == nil:
		for len(s.snapBuf) < n {
			s.snapBuf = append(s.snapBuf, s.t.begin)
		}
		snaps = s.snapBuf[:n]
	default:
		s.snapBuf = s.snapBuf[:0]
		for len(s.snapBuf) < n {
			part, err := s.snaps.next(n - len(s.snapBuf))
			if err != nil {
				return nil, nil, early(err)
			}
			s.snapBuf = append(s.snapBuf, part...)
		}
		snaps = s.snapBuf
	}
	s.at += int64(n)
	s.left -= int64(n)
	return ids, snaps, nil
}

// early is the end of a column before the end of the file.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: a column ends before the file's last row", ErrDamaged)
	}
	return err
}

// keeper drops deleted rows from batches that follow one another.
type keeper struct {
	deleted []int64
	at      int64
	ids     []int64
	snaps   []int64
}

func (k *keeper) filter(ids, snaps []int64) ([]int64, []int64) {
	from, to := k.at, k.at+int64(len(ids))
	k.at = to
	if len(k.deleted) == 0 || k.deleted[0] >= to {
		return ids, snaps
	}
	k.ids, k.snaps = k.ids[:0], k.snaps[:0]
	for i := range ids {
		for len(k.deleted) > 0 && k.deleted[0] < from+int64(i) {
			k.deleted = k.deleted[1:]
		}
		if len(k.deleted) > 0 && k.deleted[0] == from+int64(i) {
			continue
		}
		k.ids = append(k.ids, ids[i])
		if snaps != nil {
			k.snaps = append(k.snaps, snaps[i])
		}
	}
	if snaps == nil {
		return k.ids, nil
	}
	return k.ids, k.snaps
}
