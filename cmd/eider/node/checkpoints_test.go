package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestCheckpointsAreNamedAndBounded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "checkpoints")
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	c := newCheckpoints(dir, 3, func(dir string) error { return os.MkdirAll(filepath.Join(dir, "x"), 0o700) }, func() time.Time { return now })
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "by hand-1-2"), 0o700), os.MkdirAll(filepath.Join(dir, "unfinished-1", "store"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for i, catalog := range []string{"lake", "lake", "a/../b-c", "Ü"} {
		path, err := c.take(t.Context(), catalog, "0.3")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(path, "x")); err != nil || filepath.Dir(path) != dir {
			t.Errorf("%s: %v", path, err)
		}
		if i > 0 {
			now = now.Add(time.Second)
		}
	}
	now = now.Add(time.Minute)
	if _, err := c.take(t.Context(), "lake", "0.4"); err != nil {
		t.Fatal(err)
	}
	want := []string{"%C3%9C-0.3-20261130T100002.000Z", "a%2F%2E%2E%2Fb-c-0.3-20261130T100001.000Z", "by hand-1-2", "lake-0.4-20261130T100103.000Z"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q\n%q", got, want)
	}
}

// Copies of one kind do not push out those of another.
func TestCheckpointsByKind(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "checkpoints")
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	c := newCheckpoints(dir, 2, func(dir string) error { return os.MkdirAll(dir, 0o700) }, func() time.Time { return now })
	for _, version := range []string{"0.3", "0.4-dev1", "fsck", "fsck", "fsck", "restore"} {
		if _, err := c.take(t.Context(), "lake-fsck-x", version); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
	}
	want := []string{
		"lake-fsck-x-0.3-20261130T100000.000Z", "lake-fsck-x-0.4-dev1-20261130T100001.000Z", "lake-fsck-x-fsck-20261130T100003.000Z",
		"lake-fsck-x-fsck-20261130T100004.000Z", "lake-fsck-x-restore-20261130T100005.000Z",
	}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q\n%q", got, want)
	}
}

func TestCheckpointThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := errors.New("broken")
	c := newCheckpoints(dir, 3, func(dir string) error { return errors.Join(os.MkdirAll(dir, 0o700), broken) }, time.Now)
	if _, err := c.take(t.Context(), "lake", "0.3"); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Error(got)
	}
}

// Nobody waits for a copy, or gets one, after having given up.
func TestCheckpointIsGivenUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var other error
	var c *checkpoints
	c = newCheckpoints(dir, 3, func(dir string) error {
		cancel()
		_, other = c.take(ctx, "lake", "fsck") // while the first is at it
		return os.MkdirAll(dir, 0o700)
	}, time.Now)
	if _, err := c.take(ctx, "lake", "fsck"); !errors.Is(err, context.Canceled) || !errors.Is(other, context.Canceled) {
		t.Errorf("%v, %v", err, other)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Error(got)
	}
}
