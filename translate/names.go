package translate

import (
	"context"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate/pgerr"
)

// Two transactions that make the same relation or schema cannot both commit. The second
// waits at its CREATE for the first to end, as PostgreSQL's waits for the index entry, and
// fails there if the first has committed. A client learns it from the statement and can
// clean up: DuckDB does when ATTACH finds that somebody else is making the lake, and does
// not when only its COMMIT fails.

// nameKey is a name that an open transaction has made: a relation in a schema, or a schema
// (schema 0).
type nameKey struct {
	catalog, schema uint32
	name            string
}

// nameHold is who has made a name and not ended yet.
type nameHold struct {
	by   *Session
	free chan struct{} // closed when the transaction ends
}

// reserve makes the running transaction the one that makes a name, waiting for another
// that has made it. The error is a unique violation when the name was taken meanwhile.
func (s *Session) reserve(ctx context.Context, t *store.Txn, schema uint32, name string) error {
	h, k := s.shared, nameKey{catalog: s.catOID, schema: schema, name: name}
	wait := s.lockWait()
	defer wait.stop()
	for {
		free, err := h.reserve(k, s)
		if err != nil {
			return err
		}
		if free == nil {
			break
		}
		err = wait.on(ctx, free)
		h.mu.Lock()
		s.waitsFor = nil
		h.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return t.NameFree(schema, name)
}

// reserve is Session.reserve for a new relation.
func (d *ddl) reserve(tbl *rel.Table) error {
	// Of transactions that have added a snapshot to one lake only one can commit, whatever
	// names they make: to wait would hold up the one whose turn it is.
	if tbl.Temp || len(d.t.Touched("ducklake_snapshot")) > 0 {
		return nil
	}
	return d.s.reserve(d.ctx, d.t, tbl.Schema, tbl.Name)
}

// reserve gives k to s, or returns what to wait for.
func (h *Shared) reserve(k nameKey, s *Session) (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hold := h.names[k]
	if hold == nil {
		h.names[k] = &nameHold{by: s, free: make(chan struct{})}
		s.names = append(s.names, k)
		return nil, nil
	}
	if hold.by == s {
		return nil, nil
	}
	for other := hold.by; other != nil; other = other.waitsFor {
		if other == s {
			// With a word that makes clients try again: one of the two has to.
			return nil, pgerr.New(pgerr.DeadlockDetected, "deadlock detected").
				WithDetail("Two transactions conflict: each waits for the other to end because both make the same names.")
		}
	}
	s.waitsFor = hold.by
	return hold.free, nil
}

// releaseNames lets others have the names that the transaction has made.
func (s *Session) releaseNames() {
	if len(s.names) == 0 {
		return
	}
	h := s.shared
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range s.names {
		close(h.names[k].free)
		delete(h.names, k)
	}
	s.names = nil
}
