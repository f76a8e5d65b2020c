package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for text, right := range map[string]bool{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": true,
		"postgres (PostgreSQL) 15.18":                            true,
		"15.18 (Debian 15.18-0+deb12u1)":                         true,
		"15beta1":                                                true,
		"15":                                                     true,
		"postgres (PostgreSQL) 16.4":                             false,
		"postgres (PostgreSQL) 14.15":                            false,
		"postgres (PostgreSQL) 150.1":                            false,
		"postgres (Other 15) 9.6.24":                             false,
		"9.15.1":                                                 false,
		"":                                                       false,
	} {
		err := checkVersion(text)
		if right != (err == nil) || err != nil && !errors.Is(err, ErrVersion) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// folder is a bin folder of a PostgreSQL that does nothing but say its version.
func folder(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"initdb", "postgres"} {
		text := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", name, version)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Only the right version is taken, wherever it stands among others; of others the tests know that they are others.
func TestFind(t *testing.T) {
	t.Parallel()
	old, right, newer, empty := folder(t, "14.15"), folder(t, "15.2"), folder(t, "17.1"), t.TempDir()
	for _, tc := range []struct {
		name string
		dirs []string
		want string
		err  error
	}{
		{"none", []string{empty, filepath.Join(empty, "nowhere")}, "", ErrMissing},
		{"behind others", []string{empty, newer, old, right}, right, nil},
		{"only others", []string{newer, old}, "", ErrVersion},
	} {
		if dir, err := find(context.Background(), tc.dirs); dir != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v", tc.name, dir, err)
		}
	}
}

// What is missing or of another version is installed by root, and only then; what the installer brings is looked at again.
func TestInstall(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root installs")
	}
	newer, later := folder(t, "17.1"), filepath.Join(t.TempDir(), "bin")
	ctx := context.Background()
	in := func(dirs ...string) func() []string { return func() []string { return dirs } }
	failed := errors.New("no network")
	if _, err := binaries(ctx, in(newer), func(context.Context) error { return failed }); !errors.Is(err, ErrVersion) || !errors.Is(err, failed) {
		t.Errorf("installer fails: %v", err)
	}
	if _, err := binaries(ctx, in(newer), func(context.Context) error { return nil }); !errors.Is(err, ErrVersion) {
		t.Errorf("installer brings nothing: %v", err)
	}
	brings := func(context.Context) error { return os.Rename(folder(t, "15.9"), later) }
	if dir, err := binaries(ctx, in(newer, later), brings); dir != later || err != nil {
		t.Errorf("installer brings it: %q, %v", dir, err)
	}
	if _, err := binaries(ctx, in(later), func(context.Context) error { return failed }); err != nil {
		t.Errorf("it is there: %v", err)
	}
}
