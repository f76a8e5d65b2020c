package clean

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/minio/minio-go/v7"

	"github.com/eiderdb/eider/lake/paths"
)

// bucket is a bucket of S3, or of what speaks its protocol.
//
// objstore is not in between: it has no batch deletes, no sizes in listings and no copies
// within the storage, and speaks through the same client.
type bucket struct {
	client *minio.Client
	// single: the storage takes no request that deletes many objects, as Google's.
	single bool
}

var _ Storage = (*bucket)(nil)

// List implements Storage.
func (b *bucket) List(ctx context.Context, folder paths.Place, fn func(Object) error) error {
	ctx, cancel := context.WithCancel(ctx) // ends the lister when fn fails
	defer cancel()
	for o := range b.client.ListObjectsIter(ctx, folder.Bucket, minio.ListObjectsOptions{Prefix: folder.Name, Recursive: true}) {
		if o.Err != nil {
			return fmt.Errorf("list: %w", bucketError(o.Err))
		}
		if strings.HasSuffix(o.Key, "/") {
			continue // a marker of a folder
		}
		at := folder
		at.Name = o.Key
		if err := fn(Object{Place: at, Size: o.Size, Modified: o.LastModified}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Stat implements Storage.
func (b *bucket) Stat(ctx context.Context, at paths.Place) (Object, error) {
	o, err := b.client.StatObject(ctx, at.Bucket, at.Name, minio.StatObjectOptions{})
	if err != nil {
		return Object{}, bucketError(err)
	}
	return Object{Place: at, Size: o.Size, Modified: o.LastModified}, nil
}

// Delete asks for many objects at once, where the storage takes that. All places are of one
// bucket.
func (b *bucket) Delete(ctx context.Context, at []paths.Place) []error {
	errs := make([]error, len(at))
	where := make(map[string][]int, len(at))
	for i, p := range at {
		if len(at) > 1 && !b.single && inXML(p.Name) {
			where[p.Name] = append(where[p.Name], i)
			errs[i] = errNoAnswer
			continue
		}
		errs[i] = gone(bucketError(b.client.RemoveObject(ctx, p.Bucket, p.Name, minio.RemoveObjectOptions{})))
	}
	if len(where) == 0 {
		return errs
	}
	results, err := b.client.RemoveObjectsWithIter(ctx, at[0].Bucket, func(yield func(minio.ObjectInfo) bool) {
		for key := range where {
			if !yield(minio.ObjectInfo{Key: key}) {
				return
			}
		}
	}, minio.RemoveObjectsOptions{})
	if err != nil {
		for _, is := range where {
			for _, i := range is {
				errs[i] = bucketError(err)
			}
		}
		return errs
	}
	for r := range results {
		for _, i := range where[r.ObjectName] {
			errs[i] = gone(bucketError(r.Err))
		}
	}
	return errs
}

// errNoAnswer: the storage's answer to a batch did not name the key.
var errNoAnswer = errors.New("clean: the storage did not say what became of the object")

// inXML says whether XML can hold the key. In a batch, another key would stand in its place.
func inXML(key string) bool {
	for _, r := range key {
		if r < ' ' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return true
}

// copiedWhole is the size in bytes up to which S3 copies an object by one request.
const copiedWhole = 5 << 30

// Move copies within the storage.
func (b *bucket) Move(ctx context.Context, from, to paths.Place) error {
	o, err := b.Stat(ctx, from)
	if err != nil {
		return err
	}
	switch there, err := b.Stat(ctx, to); {
	case err == nil:
		return b.leave(ctx, o, there)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	// In parts only what must be: whoever is killed meanwhile leaves them behind, and no listing of objects shows them.
	dst, src := minio.CopyDestOptions{Bucket: to.Bucket, Object: to.Name}, minio.CopySrcOptions{Bucket: from.Bucket, Object: from.Name}
	if o.Size <= copiedWhole {
		_, err = b.client.CopyObject(ctx, dst, src)
	} else {
		_, err = b.client.ComposeObject(ctx, dst, src)
	}
	if err != nil {
		return fmt.Errorf("copy: %w", bucketError(err))
	}
	copied, err := b.Stat(ctx, to)
	if err != nil {
		return fmt.Errorf("look at the copy: %w", err)
	}
	if copied.Size != o.Size {
		return fmt.Errorf("copy: %w", ErrChanged)
	}
	return b.Delete(ctx, []paths.Place{from})[0]
}

// leave takes an object from its old place if it has been copied to the new one already, by a move that was killed before its end.
func (b *bucket) leave(ctx context.Context, from, to Object) error {
	if from.Size != to.Size || from.Place == to.Place {
		return ErrExists
	}
	old, err := b.client.GetObject(ctx, from.Bucket, from.Name, minio.GetObjectOptions{})
	if err != nil {
		return fmt.Errorf("compare: %w", bucketError(err))
	}
	defer old.Close()
	copied, err := b.client.GetObject(ctx, to.Bucket, to.Name, minio.GetObjectOptions{})
	if err != nil {
		return fmt.Errorf("compare: %w", bucketError(err))
	}
	defer copied.Close()
	switch same, err := sameBytes(old, copied); {
	case err != nil:
		return fmt.Errorf("compare: %w", bucketError(err))
	case !same:
		return ErrExists
	}
	return b.Delete(ctx, []paths.Place{from.Place})[0]
}

// gone makes a success of an object that is not there.
func gone(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// bucketError keeps what is known of the cause. A bucket that is not there is no missing
// object: somebody has mistyped something.
func bucketError(err error) error {
	if err == nil {
		return nil
	}
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == "NoSuchBucket":
		return fmt.Errorf("clean: no such bucket: %w", err)
	case r.Code == "NoSuchKey" || r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case r.Code == "AccessDenied" || r.StatusCode == http.StatusForbidden || r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
