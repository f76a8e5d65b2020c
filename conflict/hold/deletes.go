package hold

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// DeletePositions reads a delete file: the positions of deleted rows in its data file, in
// ascending order. It reads the column pos of Parquet files and deletion vectors in Puffin
// files.
func (v *Verifier) DeletePositions(ctx context.Context, f *File) (pos []int64, err error) {
	ctx, cancel := v.limit(ctx)
	defer cancel()
	if v.cache != nil {
		if p, ok := v.cache.positions(f); ok {
			return p, nil
		}
	}
	if f.Format == "puffin" {
		pos, err = v.vector(ctx, f)
	} else {
		pos, err = v.posColumn(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	if !slices.IsSorted(pos) {
		slices.Sort(pos)
	}
	if len(pos) > 0 && pos[0] < 0 {
		return nil, fmt.Errorf("%w: a negative position", ErrDamaged)
	}
	if v.cache != nil {
		v.cache.putPositions(f, pos)
	}
	return pos, nil
}

func (v *Verifier) posColumn(ctx context.Context, f *File) (pos []int64, err error) {
	r, err := v.open(ctx, f, wantIDs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if n := r.pq.NumRows(); n < 0 || n > v.mostPositions() {
		return nil, ErrBudget
	}
	err = guarded(func() error {
		leaf := -1
		for _, c := range r.pq.Root().Columns() {
			if c.Name() == posColumn && c.Leaf() && !c.Repeated() {
				leaf = c.Index()
			}
		}
		if leaf < 0 {
			return fmt.Errorf("%w: it has no column pos", ErrDamaged)
		}
		c := r.column(leaf, false)
		defer c.close()
		most := int(r.pq.NumRows())
		return c.each(func(p []int64) error {
			if len(p) > most-len(pos) {
				return fmt.Errorf("%w: more values than rows", ErrDamaged)
			}
			pos = append(pos, p...)
			return nil
		})
	})
	return pos, err
}

// mostVector is the largest file of deletion vectors that is read. It is read as a whole.
const mostVector = 256 << 20

// mostPositions bounds the positions of one delete file. A few bytes can stand for many of
// them, so what is held of several files that are read at once stays within MaxBytes.
func (v *Verifier) mostPositions() int64 { return v.opts.MaxBytes / 8 / readers }

func (v *Verifier) vector(ctx context.Context, f *File) (pos []int64, err error) {
	most := min(v.opts.MaxBytes, mostVector)
	if f.Size > most {
		return nil, ErrBudget
	}
	file, err := v.opts.Files.Open(ctx, f.Path, max(f.Size, 0))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.Size() > most {
		return nil, ErrBudget
	}
	b := make([]byte, file.Size())
	if n, err := file.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	err = guarded(func() error {
		pos, err = readVectors(b, v.mostPositions())
		return err
	})
	if f.Key != "" && errors.Is(err, ErrDamaged) {
		// DuckDB gives deletion vectors of an encrypted lake a key, and writes them as they are.
		return nil, fmt.Errorf("%w: an encrypted deletion vector", ErrEncrypted)
	}
	return pos, err
}
