package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	mdLink     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	makeTarget = regexp.MustCompile("`make ([a-z0-9-]+)")
	ruleLine   = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// Links between documents lead somewhere.
func TestDocLinks(t *testing.T) {
	t.Parallel()
	base := root(t)
	files(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".md") {
			return
		}
		for _, m := range mdLink.FindAllSubmatch(text, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "#") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			target, _, _ = strings.Cut(target, "#")
			if _, err := os.Stat(filepath.Join(base, filepath.Dir(path), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s: link to %s leads nowhere", path, target)
			}
		}
	})
}

// Commands that the documents name exist.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	mk, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range ruleLine.FindAllSubmatch(mk, -1) {
		have[string(m[1])] = true
	}
	files(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".md") {
			return
		}
		for _, m := range makeTarget.FindAllSubmatch(text, -1) {
			if !have[string(m[1])] {
				t.Errorf("%s: there is no make %s", path, m[1])
			}
		}
	})
}

// The check that runs elsewhere is the one that the README gives to people.
func TestContinuousIntegration(t *testing.T) {
	t.Parallel()
	run, err := os.ReadFile(filepath.Join(root(t), ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(run, []byte("make test")) || !bytes.Contains(readme, []byte("make test")) {
		t.Error(".ci/run and README.md do not both say: make test")
	}
}
