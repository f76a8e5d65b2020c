package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"syscall"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/memkv"
	"github.com/eiderdb/eider/kv/pebblekv"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/server"
)

// maintenanceCatalog is where tools connect that have no catalog in mind yet.
const maintenanceCatalog = "postgres"

// The errors that say what a person has to do about the data folder.
var (
	// ErrLocked is returned when another server has the data folder.
	ErrLocked = errors.New("data folder is in use")
	// ErrNewer is returned when a newer version has written the data folder.
	ErrNewer = errors.New("data folder is from a newer version")
)

// OpenStore opens the store that the options name. A new one gets its catalogs. m may be
// nil.
func OpenStore(ctx context.Context, o *config.Options, log *slog.Logger, m *server.Metrics) (*store.Store, error) {
	s, err := openStore(ctx, o, log, m)
	if err != nil {
		return nil, err
	}
	if err := createFirst(ctx, s, o.Catalogs); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// OpenExisting opens the store of a data folder that has one, and leaves it as it is.
func OpenExisting(ctx context.Context, o *config.Options, log *slog.Logger) (*store.Store, error) {
	if entries, err := os.ReadDir(o.Data); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	} else if len(entries) == 0 {
		return nil, fmt.Errorf("data folder %s is empty", o.Data)
	}
	s, err := openStore(ctx, o, log, nil)
	if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%w: an eider server uses %s; leave out --data to talk to that server, whose address --server names", ErrLocked, o.Data)
	}
	return s, err
}

func openStore(ctx context.Context, o *config.Options, log *slog.Logger, m *server.Metrics) (*store.Store, error) {
	engine, err := openEngine(o, log)
	switch {
	case errors.Is(err, kv.ErrLocked):
		return nil, fmt.Errorf("%w: another eider server uses %s; stop it first, or give this one a folder of its own with --data", ErrLocked, o.Data)
	case errors.Is(err, kv.ErrNewerFormat), errors.Is(err, store.ErrFormat):
		return nil, fmt.Errorf("%w: %s cannot be opened by this one and has not been touched; use the version that wrote it (%w)", ErrNewer, o.Data, err)
	case err != nil:
		return nil, fmt.Errorf("open data folder %s: %w%s", o.Data, err, folderHint(err))
	}
	so := store.Options{Logger: log, MaxTxnBytes: int64(o.TransactionSize)}
	so.Turns = store.TurnOptions{Off: !o.CommitTurn, NoPacing: !o.CommitPacing, NoPromise: !o.CommitForesight, Bound: o.CommitTurnBound}
	if m != nil {
		so.Observer = m
	}
	s, err := store.Open(ctx, engine, so)
	if err != nil {
		engine.Close()
		return nil, fmt.Errorf("open the store in %s: %w", o.Data, err)
	}
	if m != nil {
		m.WatchEngine(engine.Metrics)
	}
	return s, nil
}

// folderHint says what to do when a data folder cannot be used, where that is known.
func folderHint(err error) string {
	switch {
	case errors.Is(err, kv.ErrForeignFolder):
		return "; nothing was written; name a folder that is empty, or does not exist yet, with --data"
	case errors.Is(err, fs.ErrPermission):
		return "; this user must be able to read and write the folder, or name another with --data"
	case errors.Is(err, syscall.EROFS):
		return "; name a folder where something can be written with --data"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		return "; name a folder, or one that can be made, with --data"
	}
	return ""
}

// createFirst gives a new store its catalogs. The maintenance catalog comes last: a store
// that has others of these but not it did not get to the end of this the last time.
func createFirst(ctx context.Context, s *store.Store, names []string) error {
	for _, c := range s.Catalogs() {
		if c.Name == maintenanceCatalog || !slices.Contains(names, c.Name) {
			return nil
		}
	}
	for _, name := range append(slices.Clone(names), maintenanceCatalog) {
		if err := s.CreateCatalog(ctx, name); err != nil && !errors.Is(err, store.ErrExists) {
			return fmt.Errorf("create catalog %q: %w", name, err)
		}
	}
	return nil
}

func openEngine(o *config.Options, log *slog.Logger) (kv.Engine, error) {
	if o.Engine == "memory" {
		return memkv.New(), nil
	}
	e, err := pebblekv.Open(o.Data, pebblekv.Options{CacheBytes: int64(o.CacheSize), Logger: log, Check: store.CheckFormat})
	if err != nil {
		return nil, err
	}
	if !o.Fsync {
		return lazyEngine{e}, nil
	}
	return e, nil
}

// lazyEngine never waits for stable storage.
type lazyEngine struct{ kv.Engine }

// Apply writes the batch without a sync.
func (e lazyEngine) Apply(b kv.Batch, _ bool) error { return e.Engine.Apply(b, false) }

// ApplyAsync writes the batch without a sync.
func (e lazyEngine) ApplyAsync(b kv.Batch, _ bool, epoch uint64) (func() error, error) {
	return e.Engine.ApplyAsync(b, false, epoch)
}

// ApplyRepr writes the batch without a sync.
func (e lazyEngine) ApplyRepr(repr []byte, _ bool) error { return e.Engine.ApplyRepr(repr, false) }
