package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eiderdb/eider/kv/pebblekv"
)

// A data folder of a newer version is refused before a byte in it is changed, wherever the
// newer format shows: in the folder's number, in the store's, in a catalog's.
func TestNewerFolder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, says string
		change     func(t *testing.T, dir string)
	}{
		{"folder", "has format 2, this program knows up to 1", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "EIDER_FORMAT"), []byte("2\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"store", "unknown store format 02, this program knows 1", func(t *testing.T, dir string) {
			overwrite(t, dir, "\x01F", "\x02")
		}},
		{"catalog", "unknown store format: catalog record", func(t *testing.T, dir string) {
			overwrite(t, dir, "\x01C\x00\x00\x00\x01", "\x02{}")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			serve(t, "--data", dir).stop()
			tc.change(t, dir)
			before := fingerprint(t, dir)
			for _, args := range [][]string{
				{"serve", "--listen", "127.0.0.1:0", "--admin-listen=", "--data", dir},
				{"catalog", "list", "--data", dir},
			} {
				eider(t, "", nil, args...).want(t, exitData, "data folder is from a newer version", dir, "has not been touched", "use the version that wrote it", tc.says)
				if after := fingerprint(t, dir); after != before {
					t.Errorf("%s has changed the folder:\n%s\nwas\n%s", args[0], after, before)
				}
			}
		})
	}
}

// A folder whose EIDER_FORMAT does not name a format is refused and not touched: it may be of any version.
func TestDamagedFormat(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	serve(t, "--data", dir).stop()
	name := filepath.Join(dir, "EIDER_FORMAT")
	for _, text := range []string{
		"", "\n", " ", "one\n", "0\n", "-1\n", "+1\n", "01\n", "1 \n", "1.0\n", "1x\n", "1\n2\n", "0x1\n", "\x00\x01", "1\x00", "99999999999999999999\n", "1" + strings.Repeat(" ", 100),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := fingerprint(t, dir)
		for _, args := range [][]string{
			{"serve", "--listen", "127.0.0.1:0", "--admin-listen=", "--data", dir},
			{"catalog", "list", "--data", dir},
		} {
			eider(t, "", nil, args...).want(t, exitFailed, "EIDER_FORMAT", dir, "which is no format's number")
			if after := fingerprint(t, dir); after != before {
				t.Errorf("%q: %s has changed the folder:\n%s\nwas\n%s", text, args[0], after, before)
			}
		}
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, dir)
	eider(t, "", nil, "serve", "--listen", "127.0.0.1:0", "--admin-listen=", "--data", dir).want(t, exitFailed, dir, "holds a database without EIDER_FORMAT")
	if after := fingerprint(t, dir); after != before {
		t.Errorf("without the file: the folder is changed:\n%s\nwas\n%s", after, before)
	}
	if err := os.WriteFile(name, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, "--data", dir).stop()
}

// A folder that holds other things is refused by every command, which says what to do, and not touched.
func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, dir)
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--admin-listen=", "--data", dir},
		{"catalog", "list", "--data", dir},
		{"catalog", "create", "x", "--data", dir},
	} {
		eider(t, "", nil, args...).want(t, exitFailed, dir, `has no EIDER_FORMAT, but "thesis.tex"`, "nothing was written", "--data")
		if after := fingerprint(t, dir); after != before {
			t.Errorf("%s has changed the folder:\n%s\nwas\n%s", args, after, before)
		}
	}
}

// overwrite changes a record of the store as a newer version would write it.
func overwrite(t *testing.T, dir, key, value string) {
	t.Helper()
	e, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := e.Has([]byte(key)); !ok || err != nil {
		t.Fatalf("the store has no record %q: %v", key, err)
	}
	b := e.NewBatch()
	if err := b.Set([]byte(key), []byte(value)); err != nil {
		t.Fatal(err)
	}
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// fingerprint names everything in a folder, with the time of its last change and a hash of
// what it has. The time of the lock's file is left out: to see that no other server is there,
// the lock has to be taken.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var out string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out += fmt.Sprintf("%s %s", path, info.Mode())
		if d.Name() != "EIDER_LOCK" {
			out += " " + info.ModTime().String()
		}
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out += fmt.Sprintf(" %x", sha256.Sum256(text))
		}
		out += "\n"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
