// Package tools finds the repository and fetches what the tests need from outside: DuckDB's extensions and wheels, and PostgreSQL.
package tools

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Root is the folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// CacheDir is where fetched files are kept: EIDER_EXT_DIR or .cache/duckdb in the repository.
func CacheDir() string {
	if d := os.Getenv("EIDER_EXT_DIR"); d != "" {
		return d
	}
	return filepath.Join(Root(), ".cache", "duckdb")
}

// The parts that scripts/fetch-duckdb.sh can fetch.
const (
	Extensions = "extensions"
	Python155  = "python-1.5.5"
	Python144  = "python-1.4.4"
	HTTPFS     = "httpfs"
	SeaweedFS  = "seaweedfs"
	FakeGCS    = "fake-gcs"
)

// Fetch makes a part present and returns the cache folder.
func Fetch(ctx context.Context, part string) (string, error) {
	dir := CacheDir()
	if err := run(ctx, "fetch-duckdb.sh", dir, part); err != nil {
		return "", fmt.Errorf("fetching %s: %w", part, err)
	}
	return dir, nil
}

// InstallPostgres installs the PostgreSQL server of a major version with the system's package manager.
func InstallPostgres(ctx context.Context, version string) error {
	return run(ctx, "install-postgres.sh", version)
}

func run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(Root(), "scripts", name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out.Bytes())
	}
	return nil
}
