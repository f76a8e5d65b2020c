package store

import "github.com/eiderdb/eider/kv/rel"

// maxLost bounds how often Commit gives a transaction another chance after a lost race.
const maxLost = 16

// OnTaken gives t a function to ask when it inserts a unique key that its view does not
// have but another transaction has committed since. When it answers true, the insert
// stands until Commit, which fails unless OnLost does something about it.
func (t *Txn) OnTaken(fn func(tbl *rel.Table) bool) { t.taken = fn }

// OnLost gives Commit a function to call when a unique key that t adds has been taken. It
// may Restart t and write something else; when it returns nil, Commit tries again, some
// times. Its error ends the transaction.
func (t *Txn) OnLost(fn func(lost *UniqueViolation) error) { t.lost = fn }

// Restart takes back everything that t has written to its catalog and moves it to the
// newest committed state. It is for a caller that then writes the same in other words.
// Definitions that t has changed cannot be taken back like this.
func (t *Txn) Restart() error {
	switch {
	case t.done:
		return ErrTxnDone
	case t.frozen || t.main.ddl.Len() > 0 || len(t.main.wiped) > 0:
		return ErrInvalid
	}
	v, err := t.cat.acquire()
	if err != nil {
		return err
	}
	prefix, newest, counters := t.main.prefix, t.main.newest, t.main.counters
	t.main = space{}
	t.main.init(prefix, newest, counters)
	if old := t.view; old != nil {
		defer t.cat.release(old)
	}
	t.setView(v)
	t.deps, t.stays = nil, nil
	t.wrote, t.firstSeq = false, 0
	return nil
}
