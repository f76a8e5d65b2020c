package pebblekv

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// walStep is by how much a log file is made longer than what it holds.
const walStep = 8 << 20

// walFile is a write-ahead log whose size is ahead of what was written. A sync after
// every commit then has only data to write: were the file to grow with each write, as
// Pebble's own preallocation lets it, the file system would have to commit the new size
// as well, a third of a sync's time. Pebble itself has such files once it recycles them,
// and ends its reading of the last log at the first zeroed chunk.
type walFile struct {
	*fencedFile
	off, size int64
	fixed     bool // the file system does not do it
}

// isWAL says whether a file of the folder is a write-ahead log.
func isWAL(name string) bool { return strings.HasSuffix(name, ".log") }

// newWALFile wraps a log that has size bytes, of which nothing counts yet.
func newWALFile(f *fencedFile, size int64) *walFile {
	return &walFile{fencedFile: f, size: size, fixed: f.Fd() == vfs.InvalidFd}
}

func (w *walFile) Write(p []byte) (int, error) {
	if end := w.off + int64(len(p)); end > w.size && !w.fixed {
		step := max(walStep, int64(len(p)))
		// Without room the write itself may still succeed, or tell.
		if extend(w.Fd(), w.size, step) == nil {
			w.size += step
		} else {
			w.fixed = true
		}
	}
	n, err := w.fencedFile.Write(p)
	w.off += int64(n)
	return n, err
}
