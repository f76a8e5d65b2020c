package translate

import (
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// rebases says whether lost races of this session's catalog may be settled by the server
// (guard's rebase). It is asked when one has been lost.
func (s *Session) rebases() bool {
	// Not the session's transaction: it may be in the middle of a write.
	txn := s.catalog.Begin(store.TxnOptions{Isolation: store.RepeatableRead})
	defer func() { _ = txn.Rollback() }()
	if err := txn.EnsureSnapshot(); err != nil {
		return false
	}
	v, ok, err := catalogSetting(txn, settingRebase)
	switch {
	case err != nil:
		return false
	case ok:
		return v == "on"
	}
	return s.shared.rebase
}

// mayTake lets the rows of a commit stand, until COMMIT, whose ids another commit has
// taken since this transaction began: they may get others. Where they cannot, a doomed
// batch is refused at its first statement.
func (s *Session) mayTake(tbl *rel.Table) bool {
	return strings.HasPrefix(tbl.Name, "ducklake_") && s.rebases()
}
