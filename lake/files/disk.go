package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// disk opens files of this machine.
type disk struct{}

type diskFile struct {
	*os.File
	size int64
}

func (f diskFile) Size() int64 { return f.size }

// open does not wait for the other end of a pipe, and takes regular files only: a catalog's
// user chooses the path.
func (disk) open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			err = ErrNotFound
		case errors.Is(err, fs.ErrPermission):
			err = ErrDenied
		}
		return nil, fmt.Errorf("files: open: %w", err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = ErrNotAFile
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return diskFile{f, st.Size()}, nil
}
