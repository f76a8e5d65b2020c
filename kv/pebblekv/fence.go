package pebblekv

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fence is the file system of one Pebble instance. Once raised, every operation that
// would change something on disk fails: an instance whose write failed is abandoned
// with its goroutines, and must not touch files that its successor works on.
//
// Lock does nothing: the folder is locked once, by the engine, for all its instances.
type fence struct {
	vfs.FS
	raised *atomic.Bool
}

func newFence(fs vfs.FS) *fence { return &fence{FS: fs, raised: new(atomic.Bool)} }

// err reports a raised fence, after a pause: Pebble repeats a failed flush at once and
// for ever, and an abandoned instance should not keep a processor busy with that.
func (f *fence) err() error {
	if !f.raised.Load() {
		return nil
	}
	time.Sleep(fencePause)
	return errFenced
}

const fencePause = 20 * time.Millisecond

func (f *fence) file(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &fencedFile{file, f}, nil
}

func (f *fence) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	file, err := f.file(f.FS.Create(name, c))
	if err == nil && isWAL(name) {
		return newWALFile(file.(*fencedFile), 0), nil
	}
	return file, err
}

func (f *fence) Link(oldname, newname string) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

func (f *fence) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.file(f.FS.OpenReadWrite(name, c, opts...))
}

func (f *fence) OpenDir(name string) (vfs.File, error) { return f.file(f.FS.OpenDir(name)) }

func (f *fence) Remove(name string) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *fence) RemoveAll(name string) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.FS.RemoveAll(name)
}

func (f *fence) Rename(oldname, newname string) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

func (f *fence) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	file, err := f.file(f.FS.ReuseForWrite(oldname, newname, c))
	if err != nil || !isWAL(newname) {
		return file, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return newWALFile(file.(*fencedFile), info.Size()), nil
}

func (f *fence) MkdirAll(dir string, perm os.FileMode) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.FS.MkdirAll(dir, perm)
}

type noLock struct{}

func (noLock) Close() error { return nil }

func (f *fence) Lock(string) (io.Closer, error) { return noLock{}, nil }

// Unwrap implements vfs.FS.
func (f *fence) Unwrap() vfs.FS { return f.FS }

type fencedFile struct {
	vfs.File
	f *fence
}

func (f *fencedFile) Write(p []byte) (int, error) {
	if err := f.f.err(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *fencedFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.f.err(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *fencedFile) Preallocate(offset, length int64) error {
	if err := f.f.err(); err != nil {
		return err
	}
	return f.File.Preallocate(offset, length)
}

func (f *fencedFile) Sync() error {
	if err := f.f.err(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *fencedFile) SyncData() error {
	if err := f.f.err(); err != nil {
		return err
	}
	return f.File.SyncData()
}

func (f *fencedFile) SyncTo(length int64) (bool, error) {
	if err := f.f.err(); err != nil {
		return false, err
	}
	return f.File.SyncTo(length)
}
