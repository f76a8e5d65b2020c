package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func worker(t *testing.T, env map[string]string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := execute(context.Background(), args, &out, &out, func(k string) (string, bool) { v, ok := env[k]; return v, ok }, nil)
	return code, out.String()
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	nowhere := map[string]string{"EIDER_SERVER": "postgres://eider@127.0.0.1:1/postgres"}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"version", exitOK, "eider-worker "},
		{"", exitOK, "maintain"},
		{"bogus", exitUsage, "unknown command"},
		{"maintain --help", exitOK, "--dry-run"},
		{"maintain --help", exitOK, "a flag goes before a policy"},
		{"maintain x", exitUsage, "no arguments"},
		{"maintain --bogus", exitUsage, `see "eider maintain --help"`},
		{"maintain --format xml", exitUsage, "text or json"},
		{"restore 5 --format xml", exitUsage, "text or json"},
		{"maintain --skip merge,lunch", exitUsage, `"lunch"`},
		{"maintain --tiers 5", exitUsage, "MIN-MAX:TARGET"},
		{"maintain --every 1h --dry-run", exitUsage, "once"},
		{"maintain --every soon", exitUsage, "--every"},
		{"maintain --windows never", exitUsage, "--windows"},
		{"maintain --time-zone Moon", exitUsage, "--time-zone"},
		{"maintain --only merge --skip flush", exitUsage, "--only"},
		{"maintain --only compact", exitUsage, "none of flush, merge, rewrite"},
		{"maintain --min-small-files 1", exitUsage, "at least 2 files"},
		{"maintain --flush-age 0s", exitUsage, "at least 1s"},
		{"maintain --merge-bytes 1.5GB", exitUsage, "--merge-bytes"},
		{"maintain --rewrite-age soon", exitUsage, "--rewrite-age"},
		{"maintain --rewrite-bytes none", exitFailed, "connect to the catalog"},
		{"maintain --max-time 0s", exitUsage, "--max-time"},
		{"maintain --init-file /does/not/exist", exitUsage, "--init-file"},
		{"maintain --server 127.0.0.1:1", exitUsage, "--server: cannot parse"},
		{"restore 5 --server 127.0.0.1:1", exitUsage, "postgres://USER@HOST:PORT/"},
		{"maintain", exitFailed, "connect to the catalog: no server answers at 127.0.0.1:1: start one"},
		{"maintain --catalog=x --server host=127.0.0.1\tport=1", exitFailed, "connect to the catalog"},
	} {
		code, out := worker(t, nowhere, strings.Split(c.args, " ")...)
		if c.args == "" {
			code, out = worker(t, nowhere)
		}
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%q: exit code %d, want %d with %q:\n%s", c.args, code, c.code, c.says, out)
		}
	}
}

// What cannot be loaded is told together with where else it may come from.
func TestExtensionMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "postgres_scanner.duckdb_extension"), []byte("no extension"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out := worker(t, nil, "restore", "5", "--extension-dir", dir)
	if code != exitFailed || !strings.Contains(out, "extension is missing: postgres_scanner") || !strings.Contains(out, "EIDER_EXTENSION_DIR") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"postgres://eider@host:5434/postgres", "lake", "postgres://eider@host:5434/lake"},
		{"postgres://eider@host:5434", "la ke/1", "postgres://eider@host:5434/la%20ke%2F1"},
		{"postgresql://u:p@h/x?sslmode=require", "lake", "postgresql://u:p@h/lake?sslmode=require"},
		{"postgresql://u@h?sslmode=require", "lake", "postgresql://u@h/lake?sslmode=require"},
		{"host=h user=u", "lake", "host=h user=u dbname='lake'"},
		{"host=h dbname=x", `it's\`, `host=h dbname=x dbname='it\'s\\'`},
	} {
		if got := withDatabase(c[0], c[1]); got != c[2] {
			t.Errorf("%s with %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
