//go:build unix

package clean

import (
	"io/fs"
	"os"
	"syscall"
)

// linked says whether two names are two links to one file. Names by which one link is reached in two ways, through a mount or because
// the file system folds letters, are not.
func linked(a, b fs.FileInfo) bool {
	st, ok := a.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1 && a.Name() == b.Name() && os.SameFile(a, b)
}
