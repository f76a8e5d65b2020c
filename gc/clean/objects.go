package clean

import (
	"context"
	"errors"
	"fmt"

	"github.com/thanos-io/objstore"

	"github.com/eiderdb/eider/lake/paths"
)

// objects is a bucket of objstore, for the storages that have no client here.
type objects struct{ b objstore.Bucket }

var _ Storage = objects{}

// List asks for the times with the names. Sizes are not in a listing of objstore.
func (o objects) List(ctx context.Context, folder paths.Place, fn func(Object) error) error {
	opts := []objstore.IterOption{objstore.WithRecursiveIter()}
	timed := false
	for _, t := range o.b.SupportedIterOptions() {
		if t == objstore.UpdatedAt {
			timed = true
			opts = append(opts, objstore.WithUpdatedAt())
		}
	}
	err := o.b.IterWithAttributes(ctx, folder.Name, func(a objstore.IterObjectAttributes) error {
		x := Object{Place: folder, Size: -1}
		x.Name = a.Name
		if t, ok := a.LastModified(); ok {
			x.Modified = t
		}
		if !timed {
			var err error
			if x, err = o.Stat(ctx, x.Place); errors.Is(err, ErrNotFound) {
				return nil
			} else if err != nil {
				return err
			}
		}
		return fn(x)
	}, opts...)
	if err != nil {
		return fmt.Errorf("list: %w", o.error(err))
	}
	return nil
}

// Stat implements Storage.
func (o objects) Stat(ctx context.Context, at paths.Place) (Object, error) {
	a, err := o.b.Attributes(ctx, at.Name)
	if err != nil {
		return Object{}, o.error(err)
	}
	return Object{Place: at, Size: a.Size, Modified: a.LastModified}, nil
}

// Delete removes one object after the other.
func (o objects) Delete(ctx context.Context, at []paths.Place) []error {
	errs := make([]error, len(at))
	for i, p := range at {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = gone(o.error(o.b.Delete(ctx, p.Name)))
		}
	}
	return errs
}

// Move sends the object through this machine: objstore has no copy.
func (o objects) Move(ctx context.Context, from, to paths.Place) (err error) {
	old, err := o.Stat(ctx, from)
	if err != nil {
		return err
	}
	switch ok, err := o.b.Exists(ctx, to.Name); {
	case err != nil:
		return o.error(err)
	case ok:
		return o.leave(ctx, old, to)
	}
	r, err := o.b.Get(ctx, from.Name)
	if err != nil {
		return fmt.Errorf("copy: %w", o.error(err))
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := o.b.Upload(ctx, to.Name, r); err != nil {
		return fmt.Errorf("copy: %w", o.error(err))
	}
	copied, err := o.Stat(ctx, to)
	if err != nil {
		return fmt.Errorf("look at the copy: %w", err)
	}
	if copied.Size != old.Size {
		return fmt.Errorf("copy: %w", ErrChanged)
	}
	return gone(o.error(o.b.Delete(ctx, from.Name)))
}

// leave takes an object from its old place if it has been copied to the new one already, by a move that was killed before its end.
func (o objects) leave(ctx context.Context, from Object, to paths.Place) (err error) {
	there, err := o.Stat(ctx, to)
	if err != nil {
		return err
	}
	if there.Size != from.Size || from.Place == to {
		return ErrExists
	}
	old, err := o.b.Get(ctx, from.Name)
	if err != nil {
		return fmt.Errorf("compare: %w", o.error(err))
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	copied, err := o.b.Get(ctx, to.Name)
	if err != nil {
		return fmt.Errorf("compare: %w", o.error(err))
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	switch same, err := sameBytes(old, copied); {
	case err != nil:
		return fmt.Errorf("compare: %w", o.error(err))
	case !same:
		return ErrExists
	}
	return gone(o.error(o.b.Delete(ctx, from.Name)))
}

func (o objects) error(err error) error {
	switch {
	case err == nil:
		return nil
	case o.b.IsObjNotFoundErr(err):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case o.b.IsAccessDeniedErr(err):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
