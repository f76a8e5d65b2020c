package clean

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/eiderdb/eider/lake/paths"
)

var (
	// ErrNoAccess: the server has no credentials for the place, or was not allowed to delete
	// there. It is left to a client.
	ErrNoAccess = errors.New("clean: the server may not delete there")
	// ErrDenied: the server has credentials, and the storage refuses them.
	ErrDenied = errors.New("clean: access denied")
	// ErrNotFound: there is no such object. Deleting one is no error.
	ErrNotFound = errors.New("clean: no such object")
	// ErrNotAFile: the place is a folder, a link, a device. It is not touched.
	ErrNotAFile = errors.New("clean: not a regular file")
	// ErrExists: something is where an object is to be moved. It is not overwritten.
	ErrExists = errors.New("clean: there is an object already")
	// ErrChanged: the object is not the one that was judged.
	ErrChanged = errors.New("clean: the object has changed")
)

// Object is an object as a listing has it.
type Object struct {
	paths.Place
	Size int64 // bytes; -1 where the listing does not tell
	// Modified is when it was last written, by the storage's clock; zero where the
	// storage does not tell, which makes the object one to keep.
	Modified time.Time
}

// Storage is one bucket, or one folder of this machine. Its methods take places of its own
// kind only. It is safe for concurrent use.
type Storage interface {
	// List calls fn for each object below a folder, in no certain order. An error says that
	// the listing is incomplete; one of fn ends it. A folder that is not there is empty.
	List(ctx context.Context, folder paths.Place, fn func(Object) error) error
	// Stat looks at one object.
	Stat(ctx context.Context, at paths.Place) (Object, error)
	// Delete removes objects and says for each what became of it: nil when it is gone,
	// also if it never was there.
	Delete(ctx context.Context, at []paths.Place) []error
	// Move gives an object another place in the same storage. It overwrites nothing
	// (ErrExists). When it fails, or is killed, the object is at the old place, and may be at the
	// new one too; the same move then takes it from the old place.
	Move(ctx context.Context, from, to paths.Place) error
}

// Identifier is a Storage in which one file may have several names: by links, mounts, or
// because the file system folds letters.
type Identifier interface {
	// Twins finds those among candidates, by their index, that are the same file as one of the
	// names, with the name. Names that cannot be looked up are passed over.
	Twins(ctx context.Context, candidates []paths.Place, names iter.Seq[string]) (map[int]string, error)
}

// sameBytes says whether two objects have the same content.
func sameBytes(a, b io.Reader) (bool, error) {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
		}
		if errA != nil || errB != nil {
			return (errA == nil) == (errB == nil), nil
		}
	}
}

// Access finds the storage of places.
type Access interface {
	// Storage returns the storage that a place is in: ErrNoAccess when the server may not
	// delete there.
	Storage(at paths.Place) (Storage, error)
}

// None is the Access of a server that deletes nothing itself.
type None struct{}

// Storage implements Access.
func (None) Storage(paths.Place) (Storage, error) { return nil, ErrNoAccess }
