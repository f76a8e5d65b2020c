package clean

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/eiderdb/eider/lake/paths"
)

// disk is a folder of this machine. Everything it does goes through an os.Root, so that
// links, ".." and names chosen by users of a catalog do not lead out of the folder.
//
// objstore's own file system is not used: its Delete removes folders with all they hold.
type disk struct {
	root string // as configured
}

var (
	_ Storage    = (*disk)(nil)
	_ Identifier = (*disk)(nil)
)

// open opens the folder and finds the name in it. Links of folders are followed first, so
// that one which leads to another place within the root is no way out; what a link that was
// made since leads to is refused by the os.Root.
func (d *disk) open(name string) (*os.Root, string, error) {
	real, ok := realName(name)
	if !ok {
		return nil, "", ErrNotFound
	}
	rel, ok := below(realOr(d.root), real)
	if !ok || rel == "" {
		return nil, "", ErrNoAccess
	}
	r, err := os.OpenRoot(d.root)
	if err != nil {
		return nil, "", diskError(err)
	}
	return r, rel, nil
}

// below is what follows a folder in a name; "." and double slashes do not count.
func below(folder, name string) (string, bool) {
	folder, name = filepath.Clean(folder), filepath.Clean(name)
	if folder == name {
		return "", true
	}
	if folder != "/" {
		folder += "/"
	}
	return strings.CutPrefix(name, folder)
}

// List walks the folder and follows no links. Names are those of the folder without links:
// what is below the folder by its configured name may be elsewhere.
func (d *disk) List(ctx context.Context, folder paths.Place, fn func(Object) error) error {
	real, err := filepath.EvalSymlinks(folder.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list: %w", diskError(err))
	}
	n := 0
	err = filepath.WalkDir(real, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != real:
			return nil // gone meanwhile
		case err != nil:
			return diskError(err)
		case !e.Type().IsRegular():
			return nil
		}
		if n++; n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return diskError(err)
		}
		return fn(Object{Place: paths.Place{Kind: paths.Disk, Name: name}, Size: info.Size(), Modified: info.ModTime()})
	})
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	return nil
}

// Stat implements Storage.
func (d *disk) Stat(_ context.Context, at paths.Place) (Object, error) {
	r, rel, err := d.open(at.Name)
	if err != nil {
		return Object{}, err
	}
	defer r.Close()
	info, err := r.Lstat(rel)
	if err != nil {
		return Object{}, diskError(err)
	}
	if !info.Mode().IsRegular() {
		return Object{}, ErrNotAFile
	}
	return Object{Place: at, Size: info.Size(), Modified: info.ModTime()}, nil
}

// Delete removes regular files only.
func (d *disk) Delete(ctx context.Context, at []paths.Place) []error {
	errs := make([]error, len(at))
	for i, p := range at {
		if errs[i] = ctx.Err(); errs[i] != nil {
			continue
		}
		_, err := d.Stat(ctx, p)
		if err == nil {
			err = d.remove(p)
		}
		if !errors.Is(err, ErrNotFound) {
			errs[i] = err
		}
	}
	return errs
}

func (d *disk) remove(p paths.Place) error {
	r, rel, err := d.open(p.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	return diskError(r.Remove(rel))
}

// Move links the file at its new place before it takes it from the old one: a rename would
// overwrite. A move that was killed in between is brought to its end.
func (d *disk) Move(ctx context.Context, from, to paths.Place) error {
	if _, err := d.Stat(ctx, from); err != nil {
		return err
	}
	r, src, err := d.open(from.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	_, dst, err := d.open(to.Name)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(dst); dir != "." {
		if err := r.MkdirAll(dir, 0o777); err != nil {
			return diskError(err)
		}
	}
	if there, err := r.Lstat(dst); err == nil {
		if moved, err := r.Lstat(src); err == nil && src != dst && linked(moved, there) {
			return diskError(r.Remove(src))
		}
		return ErrExists
	}
	switch err := r.Link(src, dst); {
	case err == nil:
		return diskError(r.Remove(src))
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EMLINK):
		return diskError(r.Rename(src, dst)) // a file system without hard links
	default:
		return diskError(err)
	}
}

// Touch gives a file the time, so that it is young again.
func (d *disk) Touch(_ context.Context, at paths.Place, now time.Time) error {
	r, rel, err := d.open(at.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	return diskError(r.Chtimes(rel, now, now))
}

// Twins compares files by identity. Only files of a size that a candidate has are looked at
// twice.
func (d *disk) Twins(ctx context.Context, candidates []paths.Place, names iter.Seq[string]) (map[int]string, error) {
	bySize := map[int64][]int{}
	infos := make([]fs.FileInfo, len(candidates))
	for i, c := range candidates {
		info, err := os.Stat(c.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at a file: %w", diskError(err))
		}
		infos[i] = info
		bySize[info.Size()] = append(bySize[info.Size()], i)
	}
	found := map[int]string{}
	if len(bySize) == 0 {
		return found, nil
	}
	n := 0
	for name := range names {
		if n++; n%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, reading := range paths.Readings(name) {
			info, err := os.Stat(reading)
			if err != nil {
				continue
			}
			for _, i := range bySize[info.Size()] {
				if os.SameFile(info, infos[i]) {
					found[i] = name
				}
			}
		}
	}
	return found, ctx.Err()
}

func diskError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
