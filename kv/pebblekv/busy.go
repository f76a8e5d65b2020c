package pebblekv

import (
	"errors"
	"io/fs"
)

// isBusy reports whether a lock failed because somebody holds it. What fails with a path
// is the opening of the lock's file, which asks nobody: fcntl, which does, knows no path,
// and may say EACCES like an opening that is not permitted.
func isBusy(err error) bool {
	var open *fs.PathError
	return !errors.As(err, &open)
}
