package pebblekv_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/pebblekv"
)

// logs returns the write-ahead logs of a folder and their sizes.
func logs(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	must(t, err)
	for _, p := range paths {
		info, err := os.Stat(p)
		must(t, err)
		out[p] = info.Size()
	}
	return out
}

// copyOf copies the files of a folder as a crash leaves them.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// Logs on a real disk are longer than what is in them. All of it is found again, through
// several logs, and damage in the middle is still told from the end.
func TestLogsAheadOfTheirContent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("files are extended on Linux only")
	}
	dir := t.TempDir()
	o := small()
	o.MemTableBytes = 256 << 10
	e := open(t, dir, o)
	value := strings.Repeat("v", 300)
	const n = 3000 // several logs, which are recycled
	for i := range n {
		must(t, set(e, fmt.Sprint("key", i), value))
	}
	crashed, damaged := copyOf(t, dir), copyOf(t, dir)
	must(t, e.Close())

	again := open(t, crashed, o)
	for i := range n {
		if v, err := again.Get(fmt.Appendf(nil, "key%d", i)); err != nil || string(v) != value {
			t.Fatalf("key%d: %q, %v", i, v, err)
		}
	}
	must(t, again.Close())

	ahead := false
	for path, size := range logs(t, damaged) {
		b, err := os.ReadFile(path)
		must(t, err)
		used := len(strings.TrimRight(string(b), "\x00"))
		if size < 8<<20 || used < 40_000 {
			continue
		}
		ahead = true
		for i := range 30 {
			b[10_000+i] ^= 0xff
		}
		must(t, os.WriteFile(path, b, 0o600))
	}
	if !ahead {
		t.Fatalf("no log is longer than its content: %v", logs(t, damaged))
	}
	if e, err := pebblekv.Open(damaged, o); !errors.Is(err, kv.ErrCorrupt) {
		if err == nil {
			must(t, e.Close())
		}
		t.Fatalf("a damaged log was opened: %v", err)
	}
}
