package files

import (
	"context"
	"errors"
)

// Missing says that a file is not there for certain: the operator named its place, and it
// has no such file. Of a place that nobody promised, a folder of the same name on this
// machine says nothing: the client's may be that of another.
func (s *Set) Missing(ctx context.Context, path string) bool {
	if s.Reach(path) != Yes {
		return false
	}
	f, err := s.Open(ctx, path, 0)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, ErrNotFound)
}
