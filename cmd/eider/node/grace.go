package node

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/store"
)

// graces is deletionGrace for the commits of clients. A table eider.policies that is somebody
// else's holds no policies, so that what is there without any counts. The log says so once.
type graces struct {
	log      *slog.Logger
	defaults gc.Defaults

	mu   sync.Mutex
	told map[uint32]string // why, by the oid of the catalog
}

// of is how long files stay in a lake after they were scheduled for deletion.
func (g *graces) of(txn *store.Txn, lake string) (time.Duration, error) {
	d, err := deletionGrace(txn, lake, g.defaults)
	foreign := errors.Is(err, meta.ErrShape)
	if err != nil && !foreign {
		return 0, err
	}
	g.note(txn.Catalog(), err)
	if foreign {
		return gc.NewSet(nil).WithDefaults(g.defaults).For(lake).DeletionGrace(), nil
	}
	return d, nil
}

func (g *graces) note(cat *store.Catalog, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		delete(g.told, cat.OID())
		return
	}
	if g.told[cat.OID()] == err.Error() {
		return
	}
	if g.told == nil {
		g.told = map[uint32]string{}
	}
	g.told[cat.OID()] = err.Error()
	g.log.Error("eider.policies is not the server's table: no policies count", "catalog", cat.Name(), "error", err)
}
