package guard

import (
	"context"
	"errors"
	"strings"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// errRepeated says that everything which the transaction would store is stored: it is
// rolled back and answered as committed.
var errRepeated = errors.New("guard: the commit is stored already")

// repeated answers errRepeated for a commit that comes a second time because the
// acknowledgement of the first was lost. It reads by path, and only for commits that
// register files.
func (r *run) repeated(c *commit, base *store.Txn) error {
	was := &view{txn: base, space: c.space}
	snapshot, ok, err := conflict.Repeats(conflict.Commit{Batch: c.batch, Was: was})
	if err != nil || !ok {
		return err
	}
	if others(r.txn, c.space) {
		return nil
	}
	// What a look sees may still be on its way to stable storage. Who is told that the commit
	// failed removes its files, so this is not given up.
	if err := r.txn.AwaitStable(context.WithoutCancel(r.ctx)); err != nil {
		return err
	}
	s, _ := c.batch.Snapshot()
	r.g.o.Logger.Info("a commit came again whose acknowledgement was lost", "catalog", r.catalog, "lake", c.batch.Schema,
		"snapshot", snapshot, "again_as", s.ID, "user", r.in.User, "application", r.in.Application)
	return errRepeated
}

// others says whether a transaction writes to tables besides the lake's: what it writes
// there is not stored with the lake's rows.
func others(txn *store.Txn, space uint32) (is bool) {
	txn.TouchedTables(func(tbl *rel.Table) { is = is || tbl.Schema != space || !strings.HasPrefix(tbl.Name, prefix) })
	return is
}
