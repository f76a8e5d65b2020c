package clean

import (
	"context"
	"errors"

	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/lake/paths"
)

// Watched is a watch over files, as the jobs make it.
type Watched struct {
	w  *watch
	st *store.Store
}

// WatchFiles looks at the catalogs and watches files of these names from then on.
func WatchFiles(ctx context.Context, st *store.Store, names ...string) (*Watched, error) {
	var all []*file
	for _, name := range names {
		at, err := paths.Locate(name)
		if err != nil {
			return nil, err
		}
		all = append(all, &file{Entry: Entry{Name: name}, place: at})
	}
	v, err := take(ctx, st)
	if err != nil {
		return nil, err
	}
	w := &Watched{v.watch(all), st}
	return w, v.close()
}

// Look looks at what was committed since the last look, and returns the names of the files that
// rows name, and how many rows it has read.
func (w *Watched) Look(ctx context.Context) (named []string, read int64, err error) {
	before := w.w.read
	err = w.w.look(ctx, w.st)
	for _, f := range w.w.files {
		if f.named {
			named = append(named, f.Name)
		}
	}
	return named, w.w.read - before, err
}

// Close ends it.
func (w *Watched) Close() { w.w.close() }

// NamedNow are those of some files that rows name, by reading all of them.
func NamedNow(ctx context.Context, st *store.Store, names ...string) (named []string, err error) {
	v, err := take(ctx, st)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	live, err := v.live(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if live.Has(name) {
			named = append(named, name)
		}
	}
	return named, nil
}
