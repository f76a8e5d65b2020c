package pebblekv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/eiderdb/eider/kv"
)

// Files of the engine's own in the data folder.
const (
	formatFile  = "EIDER_FORMAT"
	lockFile    = "EIDER_LOCK"
	ballastFile = "EIDER_BALLAST"
	probeFile   = "EIDER_PROBE"
)

// Format is the number of the folder's format, in decimal with a newline in
// EIDER_FORMAT. It covers the choice of engine, Pebble's format version and the keys and
// values of package store.
const Format = 1

// readFormat returns the folder's format, 0 when it has none yet. It changes nothing.
func readFormat(fsys vfs.FS, dir string) (int, error) {
	f, err := fsys.Open(fsys.PathJoin(dir, formatFile))
	if errors.Is(err, fs.ErrNotExist) || isNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("pebblekv: read %s in %q: %w", formatFile, dir, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, 64))
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("pebblekv: read %s in %q: %w", formatFile, dir, err)
	}
	text := strings.TrimSuffix(string(b), "\n")
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("pebblekv: %s in %q says %q, which is no format's number: %w", formatFile, dir, b, kv.ErrCorrupt)
	}
	return n, nil
}

func isNotExist(err error) bool {
	// Pebble's memory file system wraps os.ErrNotExist in a path error of its own.
	return err != nil && (os.IsNotExist(err) || errors.Is(err, os.ErrNotExist))
}

// checkFormat refuses folders that this program must not touch.
func checkFormat(fsys vfs.FS, dir string) (format int, err error) {
	format, err = readFormat(fsys, dir)
	if err != nil {
		return 0, err
	}
	if format > Format {
		return 0, fmt.Errorf("pebblekv: %w: folder %q has format %d, this program knows up to %d; use the program that wrote it",
			kv.ErrNewerFormat, dir, format, Format)
	}
	if format == 0 {
		names, err := fsys.List(dir)
		if err != nil && !isNotExist(err) {
			return 0, fmt.Errorf("pebblekv: list %q: %w", dir, err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, "MANIFEST-") || name == "CURRENT" {
				return 0, fmt.Errorf("pebblekv: folder %q holds a database without %s: %w", dir, formatFile, kv.ErrCorrupt)
			}
		}
		if name, n := foreign(names); n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" and %d more", n-1)
			}
			return 0, fmt.Errorf("pebblekv: %w: %q has no %s, but %q%s", kv.ErrForeignFolder, dir, formatFile, name, more)
		}
	}
	return format, nil
}

// foreign counts the names in a folder without a format that are neither left there by a start
// that was killed, nor what systems put into new folders (lost+found, hidden files), and
// returns the first of them.
func foreign(names []string) (first string, n int) {
	for _, name := range names {
		switch name {
		case formatFile + ".new", lockFile, ballastFile, probeFile, "lost+found":
			continue
		}
		if strings.HasPrefix(name, ".") {
			continue
		}
		if n++; n == 1 || name < first {
			first = name
		}
	}
	return first, n
}

// writeFormat writes the format file so that after a crash it is whole or not there.
func writeFormat(fsys vfs.FS, dir string) error {
	tmp := fsys.PathJoin(dir, formatFile+".new")
	f, err := fsys.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(strconv.Itoa(Format) + "\n"))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(tmp, fsys.PathJoin(dir, formatFile)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lockFolder takes the lock that keeps other processes out.
func lockFolder(fsys vfs.FS, dir string) (io.Closer, error) {
	l, err := fsys.Lock(fsys.PathJoin(dir, lockFile))
	if err == nil {
		return l, nil
	}
	if !isBusy(err) {
		return nil, mapped(fmt.Sprintf("lock folder %q", dir), err)
	}
	return nil, fmt.Errorf("pebblekv: %w: another process has opened %q (%v)", kv.ErrLocked, dir, err)
}
