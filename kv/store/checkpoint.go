package store

// Checkpoint writes a copy of the whole store, all catalogs as committed now, into the
// folder dir, which must not exist. Open opens it. ErrUnsupported of package errors for
// an engine without files.
func (s *Store) Checkpoint(dir string) error { return s.engine.Checkpoint(dir) }
