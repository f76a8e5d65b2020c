package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines is where a file must be split; longLines where it is named in the report.
const (
	maxLines  = 1000
	longLines = 600
)

// A file has one subject. Tables that were written by a program may be long.
func TestFileLength(t *testing.T) {
	t.Parallel()
	files(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".go") || bytes.Contains(text, []byte("DO NOT EDIT")) {
			return
		}
		switch n := bytes.Count(text, []byte("\n")); {
		case n > maxLines:
			t.Errorf("%s has %d lines", path, n)
		case n > longLines:
			t.Logf("%s has %d lines", path, n)
		}
	})
}

// A path of one machine means nothing on another.
var machinePath = regexp.MustCompile(`(^|[\s"'=:(\x60])/(work|root|home|Users)/[A-Za-z0-9_.-]+`)

func TestNoMachinePaths(t *testing.T) {
	t.Parallel()
	files(t, func(path string, text []byte) {
		if strings.HasPrefix(path, "internal/lint/") || !isText(text) {
			return
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if m := machinePath.Find(line); m != nil {
				t.Errorf("%s:%d: path of a machine: %s", path, i+1, bytes.TrimSpace(m))
			}
		}
	})
}

func isText(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) < 0 }

// Work that is left is an issue, not a comment.
var leftover = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func TestNoLeftovers(t *testing.T) {
	t.Parallel()
	files(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "internal/lint/") {
			return
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if m := leftover.Find(line); m != nil {
				t.Errorf("%s:%d: %s", path, i+1, m)
			}
		}
	})
}

// Every package says what it is in doc.go, and every top-level folder of packages has a
// DESIGN.md.
func TestPackageDocs(t *testing.T) {
	t.Parallel()
	base := root(t)
	top := map[string]bool{}
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		rel, err := filepath.Rel(base, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		rel = filepath.ToSlash(rel)
		text, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		want := "// Package " + p.Name + " "
		if p.Name == "main" {
			want = "// Command "
		}
		if err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s has no doc.go that begins %q", rel, want)
		}
		first, _, _ := strings.Cut(rel, "/")
		top[first] = true
	}
	top["e2e"] = true
	top["worker"] = true
	for dir := range top {
		if _, err := os.Stat(filepath.Join(base, dir, "DESIGN.md")); err != nil {
			t.Errorf("%s has no DESIGN.md", dir)
		}
	}
}
