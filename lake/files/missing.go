package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Missing says that a file is not there for certain. So it is where the operator named the
// place. Of one that nobody promised, a folder of the same name on this machine says nothing,
// since the client's may be that of another; but if it holds files that DuckLake has written, it
// is the lake's, and a file of DuckLake's that is not among them is gone.
func (s *Set) Missing(ctx context.Context, path string) bool {
	reach := s.Reach(path)
	if reach == No || reach == Maybe && !besideWritten(path) {
		return false
	}
	f, err := s.Open(ctx, path, 0)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, ErrNotFound)
}

// writtenPrefix begins the names of the files that DuckLake writes; a uuid follows.
const writtenPrefix = "ducklake-"

// besideWritten reports whether a path has the name of a file that DuckLake has written, in
// a folder that is here and has such files.
func besideWritten(path string) bool {
	p, ok := normalize(path)
	if !ok || isS3(p) || !strings.HasPrefix(filepath.Base(p), writtenPrefix) {
		return false
	}
	entries, err := os.ReadDir(filepath.Dir(p))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), writtenPrefix) && e.Type().IsRegular() {
			return true
		}
	}
	return false
}
