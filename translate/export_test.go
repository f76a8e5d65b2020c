package translate

import "github.com/eiderdb/eider/kv/store"

// Txn is the session's transaction, for tests that look at it from below.
func (s *Session) Txn() *store.Txn { return s.tx.txn }
