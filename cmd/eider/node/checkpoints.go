package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
)

// checkpointFolder is where in the data folder the checkpoints lie.
const checkpointFolder = "checkpoints"

// unfinished begins the names of folders whose copy is being written.
const unfinished = "unfinished-"

// checkpointTime is the time in the name of a checkpoint: it sorts, and no file system
// minds it.
const checkpointTime = "20060102T150405.000Z"

// migrations is what the options say about changes of a lake's format. In memory there
// are no files to keep a copy of.
func migrations(o *config.Options, s *store.Store) translate.Migrations {
	m := translate.Migrations{Policy: o.Migrate}
	if o.Engine != "memory" && o.MigrationCheckpoints > 0 {
		c := newCheckpoints(filepath.Join(o.Data, checkpointFolder), o.MigrationCheckpoints, s.Checkpoint, time.Now)
		m.Checkpoint = c.take
	}
	return m
}

// checkpoints keeps copies of the store from before catalogs were migrated, and before
// repairs. A copy is a data folder: a server started on it has everything as it was.
type checkpoints struct {
	dir   string
	keep  int
	write func(dir string) error
	now   func() time.Time

	turn chan struct{} // one at a time: the leftovers of a crash are then known from work under way
}

func newCheckpoints(dir string, keep int, write func(dir string) error, now func() time.Time) *checkpoints {
	return &checkpoints{dir: dir, keep: keep, write: write, now: now, turn: make(chan struct{}, 1)}
}

// take writes a copy named after the catalog, the format that it has now or another reason,
// and the time, and removes the oldest copies of the kind beyond the number to keep. One
// that is not written is not there: it gets its name when it is whole. When ctx ends before
// the copy is begun, or while it is written, there is none.
func (c *checkpoints) take(ctx context.Context, catalog, version string) (path string, err error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
	}
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	path = filepath.Join(c.dir, checkpointName(catalog, version, c.now()))
	for i := 2; ; i++ { // two in one moment
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("checkpoint: %w", err)
		}
		path = fmt.Sprintf("%s-%d", filepath.Join(c.dir, checkpointName(catalog, version, c.now())), i)
	}
	part, err := os.MkdirTemp(c.dir, unfinished)
	if err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	whole := filepath.Join(part, "store")
	if err := c.write(whole); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if err := os.Rename(whole, path); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if err := syncFolder(c.dir); err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	return path, c.prune()
}

// checkpointName is catalog-version-time. A catalog may have any name, a folder may not.
func checkpointName(catalog, version string, t time.Time) string {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), ".", "%2E") }
	return fmt.Sprintf("%s-%s-%s", escape(catalog), url.QueryEscape(version), t.UTC().Format(checkpointTime))
}

// prune removes the oldest checkpoints, and what a crash has left of unfinished ones.
func (c *checkpoints) prune() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	type made struct{ name, time string }
	lists := map[string][]made{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			if err := os.RemoveAll(filepath.Join(c.dir, e.Name())); err != nil {
				return fmt.Errorf("checkpoint: %w", err)
			}
			continue
		}
		if t, ok := timeOf(e.Name()); ok && e.IsDir() {
			kind := kindOf(e.Name(), t)
			lists[kind] = append(lists[kind], made{e.Name(), t})
		}
	}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b made) int { return strings.Compare(b.time+b.name, a.time+a.name) })
		for _, m := range list[min(c.keep, len(list)):] {
			if err := os.RemoveAll(filepath.Join(c.dir, m.name)); err != nil {
				return fmt.Errorf("checkpoint: %w", err)
			}
		}
	}
	return nil
}

// kindOf is what a checkpoint was made for: the word before the time in its name, or "" for
// a migration, where a version stands there. Those of one kind do not push out the others.
func kindOf(name, at string) string {
	before, _, _ := strings.Cut(name, "-"+at)
	word := before[strings.LastIndexByte(before, '-')+1:]
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return ""
		}
	}
	return word
}

// timeOf finds the time in a checkpoint's name. Folders of other names are not ours.
func timeOf(name string) (string, bool) {
	parts := strings.Split(name, "-")
	for i := len(parts) - 1; i >= 2 && i >= len(parts)-2; i-- {
		if _, err := time.Parse(checkpointTime, parts[i]); err == nil {
			return parts[i], true
		}
	}
	return "", false
}

func syncFolder(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
