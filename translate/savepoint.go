package translate

import (
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
)

// savepoint is a subtransaction's start.
type savepoint struct {
	name     string
	mark     store.Mark
	settings int
	notifies int
	listens  int
	readOnly bool
	portals  uint64
	deferred int
}

func (s *Session) defineSavepoint(name string) error {
	if err := s.requireBlock("SAVEPOINT"); err != nil {
		return err
	}
	// The store transaction is made here if need be, so that a view which it takes later
	// outlives ROLLBACK TO.
	t, err := s.txn()
	if err != nil {
		return err
	}
	s.tx.savepoints = append(s.tx.savepoints, savepoint{
		name: name, mark: t.Savepoint(), settings: s.set.mark(), notifies: len(s.tx.notifies), listens: len(s.tx.listens),
		readOnly: s.tx.readOnly, portals: s.portalSeq, deferred: len(s.tx.deferred),
	})
	return nil
}

func (s *Session) findSavepoint(name string) (int, error) {
	for i := len(s.tx.savepoints) - 1; i >= 0; i-- {
		if s.tx.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, pgerr.New(pgerr.InvalidSavepoint, "savepoint %q does not exist", name)
}

func (s *Session) releaseSavepoint(name string) error {
	if err := s.requireBlock("RELEASE SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	s.tx.savepoints = s.tx.savepoints[:i]
	return nil
}

func (s *Session) rollbackToSavepoint(name string) error {
	if err := s.requireBlock("ROLLBACK TO SAVEPOINT"); err != nil {
		return err
	}
	i, err := s.findSavepoint(name)
	if err != nil {
		return err
	}
	sp := s.tx.savepoints[i]
	s.dropPortalsAfter(sp.portals)
	s.set.rollbackTo(sp.settings)
	s.tx.notifies = s.tx.notifies[:sp.notifies]
	s.tx.listens = s.tx.listens[:sp.listens]
	s.tx.readOnly = sp.readOnly
	s.tx.deferred = s.tx.deferred[:sp.deferred]
	s.env = nil
	if err := s.tx.txn.RollbackTo(sp.mark); err != nil {
		return err
	}
	s.tx.savepoints = s.tx.savepoints[:i+1]
	s.tx.failed = false
	return nil
}
