package pebblekv_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/kvtest"
	"github.com/eiderdb/eider/kv/pebblekv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func small() pebblekv.Options {
	return pebblekv.Options{CacheBytes: 1 << 20, MemTableBytes: 1 << 20, BallastBytes: 1 << 16, ReserveBytes: 1}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, o pebblekv.Options) *pebblekv.Engine {
	t.Helper()
	e, err := pebblekv.Open(dir, o)
	must(t, err)
	return e
}

func set(e kv.Engine, key, val string) error {
	b := e.NewBatch()
	if err := b.Set([]byte(key), []byte(val)); err != nil {
		return errors.Join(err, b.Close())
	}
	return errors.Join(e.Apply(b, true), b.Close())
}

func get(t testing.TB, e kv.Engine, key string) string {
	t.Helper()
	v, err := e.Get([]byte(key))
	if errors.Is(err, kv.ErrNotFound) {
		return "-"
	}
	must(t, err)
	return string(v)
}

func TestConformance(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine { return open(t, t.TempDir(), small()) })
}

func TestConformanceMemFS(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Engine {
		o := small()
		o.FS = vfs.NewMem()
		o.MemTableBytes = 64 << 10 // many flushes
		return open(t, "data", o)
	})
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, small())
	must(t, set(e, "a", "1"))
	copyDir := filepath.Join(t.TempDir(), "copy")
	must(t, e.Checkpoint(copyDir))
	must(t, set(e, "a", "2"))
	must(t, e.Close())
	e = open(t, dir, small())
	if got := get(t, e, "a"); got != "2" {
		t.Fatal(got)
	}
	must(t, e.Close())
	c := open(t, copyDir, small())
	if got := get(t, c, "a"); got != "1" {
		t.Fatal(got)
	}
	must(t, c.Close())
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, small())
	_, err := pebblekv.Open(dir, small())
	if !errors.Is(err, kv.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("second open: %v", err)
	}
	must(t, set(e, "a", "1"))
	must(t, e.Close())
	must(t, open(t, dir, small()).Close())
}

func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir, small()).Close())
	must(t, os.WriteFile(filepath.Join(dir, "EIDER_FORMAT"), []byte("2\n"), 0o644))
	before := list(t, dir)
	_, err := pebblekv.Open(dir, small())
	if !errors.Is(err, kv.ErrNewerFormat) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("newer format: %v", err)
	}
	if after := list(t, dir); after != before {
		t.Fatalf("folder was touched:\n%s\n%s", before, after)
	}
}

func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir, small()).Close())
	must(t, os.Remove(filepath.Join(dir, "EIDER_FORMAT")))
	before := list(t, dir)
	if _, err := pebblekv.Open(dir, small()); !errors.Is(err, kv.ErrCorrupt) {
		t.Fatalf("no format file: %v", err)
	}
	if after := list(t, dir); after != before {
		t.Fatalf("folder was touched:\n%s\n%s", before, after)
	}
	must(t, os.WriteFile(filepath.Join(dir, "EIDER_FORMAT"), []byte("garbage"), 0o644))
	if _, err := pebblekv.Open(dir, small()); !errors.Is(err, kv.ErrCorrupt) {
		t.Fatalf("damaged format file: %v", err)
	}
}

// A folder that holds other things is refused and not touched; what a start that was killed, or
// the system, leaves in a new one is none.
func TestFolderOfOthers(t *testing.T) {
	for _, c := range []struct {
		names []string
		ok    bool
	}{
		{nil, true},
		{[]string{"lost+found/", ".bashrc", ".cache/"}, true},
		{[]string{"EIDER_LOCK", "EIDER_FORMAT.new", "EIDER_BALLAST", "EIDER_PROBE"}, true},
		{[]string{"notes.txt"}, false},
		{[]string{"lost+found/", "main/"}, false},
		{[]string{"EIDER_LOCK", "a.parquet", "b.parquet"}, false},
		{[]string{"000004.sst"}, false},
	} {
		dir := t.TempDir()
		for _, name := range c.names {
			if strings.HasSuffix(name, "/") {
				must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
			} else {
				must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
			}
		}
		before := list(t, dir)
		e, err := pebblekv.Open(dir, small())
		if c.ok {
			if err != nil {
				t.Errorf("%v: %v", c.names, err)
				continue
			}
			must(t, e.Close())
			must(t, open(t, dir, small()).Close())
			continue
		}
		if !errors.Is(err, kv.ErrForeignFolder) {
			t.Errorf("%v: %v", c.names, err)
		}
		if after := list(t, dir); after != before {
			t.Errorf("%v: the folder was touched:\n%s\n%s", c.names, before, after)
		}
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var s strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		s.WriteString(e.Name() + " " + info.ModTime().String() + "\n")
	}
	return s.String()
}

// Readers that are open when the engine closes are reported, and do not crash.
func TestCloseWithReaders(t *testing.T) {
	o := small()
	o.FS = vfs.NewMem()
	e := open(t, "data", o)
	must(t, set(e, "a", "1"))
	s, err := e.Snapshot()
	must(t, err)
	if err := e.Close(); err == nil || !strings.Contains(err.Error(), "1 readers") {
		t.Fatalf("close: %v", err)
	}
	v, err := s.Get([]byte("a"))
	must(t, err)
	if string(v) != "1" {
		t.Fatal(v)
	}
	must(t, s.Close())
}

// lockFS is a file system whose locks fail.
type lockFS struct {
	vfs.FS
	err func(name string) error
}

func (f lockFS) Lock(name string) (io.Closer, error) { return nil, f.err(name) }

// A folder is in use when somebody holds its lock, not when the lock's file cannot be opened.
func TestLockFails(t *testing.T) {
	opening := func(errno syscall.Errno) func(string) error {
		return func(name string) error { return &fs.PathError{Op: "open", Path: name, Err: errno} }
	}
	for _, c := range []struct {
		name  string
		err   func(string) error
		busy  bool
		cause error
	}{
		{"read-only", opening(syscall.EROFS), false, syscall.EROFS},
		{"not permitted", opening(syscall.EACCES), false, fs.ErrPermission},
		{"too many files", opening(syscall.EMFILE), false, syscall.EMFILE},
		{"disk full", opening(syscall.ENOSPC), false, kv.ErrDiskFull},
		{"held", func(string) error { return syscall.EAGAIN }, true, nil},
		{"held, in the other word for it", func(string) error { return syscall.EACCES }, true, nil},
	} {
		o := small()
		o.FS = lockFS{vfs.NewMem(), c.err}
		_, err := pebblekv.Open("data", o)
		if err == nil || errors.Is(err, kv.ErrLocked) != c.busy || c.cause != nil && !errors.Is(err, c.cause) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A log of a folder's first life that is damaged in its middle is refused, not cut off there.
func TestDamagedFirstLog(t *testing.T) {
	mem := vfs.NewCrashableMem()
	o := small()
	o.FS = mem
	e := open(t, "data", o)
	for i := range 2000 {
		must(t, set(e, fmt.Sprint("key", i), strings.Repeat("x", 50)))
	}
	crashed := mem.CrashClone(vfs.CrashCloneCfg{})
	must(t, e.Close())

	names, err := crashed.List("data")
	must(t, err)
	damaged := false
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		path := crashed.PathJoin("data", name)
		f, err := crashed.Open(path)
		must(t, err)
		b, err := io.ReadAll(f)
		must(t, errors.Join(err, f.Close()))
		if len(b) < 100_000 {
			continue
		}
		for i := range 30 {
			b[20_000+i] ^= 0xff
		}
		w, err := crashed.Create(path, vfs.WriteCategoryUnspecified)
		must(t, err)
		_, err = w.Write(b)
		must(t, errors.Join(err, w.Sync(), w.Close()))
		damaged = true
	}
	if !damaged {
		t.Fatalf("no log: %v", names)
	}
	o.FS = crashed
	if e, err := pebblekv.Open("data", o); !errors.Is(err, kv.ErrCorrupt) {
		if err == nil {
			must(t, e.Close())
		}
		t.Fatalf("a damaged log was opened: %v", err)
	}
}
