package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Missing says that a file is not there for certain: its place is within reach. Of a place
// that nobody promised it is certain when the file's folder is there.
func (s *Set) Missing(ctx context.Context, path string) bool {
	f, err := s.Open(ctx, path, 0)
	if err == nil {
		_ = f.Close()
		return false
	}
	if !errors.Is(err, ErrNotFound) {
		return false
	}
	if s.Reach(path) == Yes {
		return true
	}
	p, _ := normalize(path)
	st, err := os.Stat(filepath.Dir(p))
	return err == nil && st.IsDir()
}
