package lint

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	layoutRow = regexp.MustCompile("(?m)^\\| `([a-z0-9]+)` \\| (.+) \\| (.+) \\|$")
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// The table of folders in CONTRIBUTING.md is that of the import rules, and of the imports
// that the two other modules have.
func TestLayoutTable(t *testing.T) {
	t.Parallel()
	want := map[string][]string{}
	for _, r := range rules {
		folder := topFolder(r.prefix)
		if _, ok := want[folder]; !ok {
			want[folder] = nil
		}
		for _, m := range r.may {
			want[folder] = addOther(want[folder], folder, m)
		}
	}
	for _, dir := range []string{"e2e", "worker"} {
		want[dir] = importsOf(t, dir)
	}
	_, layout, _ := strings.Cut(readDoc(t, "CONTRIBUTING.md"), "## Layout")
	layout, _, _ = strings.Cut(layout, "\n## ")
	got := map[string][]string{}
	for _, m := range layoutRow.FindAllStringSubmatch(layout, -1) {
		got[m[1]] = nil
		for _, q := range quoted.FindAllStringSubmatch(m[3], -1) {
			got[m[1]] = append(got[m[1]], q[1])
		}
		if len(got[m[1]]) == 0 && m[3] != "nothing" {
			t.Errorf("%s: %q is neither a list nor the word nothing", m[1], m[3])
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(want)) {
		slices.Sort(want[folder])
		list, ok := got[folder]
		if !ok {
			t.Errorf("CONTRIBUTING.md has no row for %s", folder)
		} else if !slices.Equal(list, want[folder]) {
			t.Errorf("CONTRIBUTING.md lets %s import %q, the rules %q", folder, list, want[folder])
		}
		delete(got, folder)
	}
	for folder := range got {
		t.Errorf("CONTRIBUTING.md has a row for %s, which is no folder with rules", folder)
	}
}

// topFolder is the folder of the repository that a rule's package is in.
func topFolder(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "="), "/")
	return first
}

// addOther adds to a list what path stands for in the table, unless it is in the folder
// itself: another folder, or one package of internal.
func addOther(list []string, folder, path string) []string {
	path = strings.TrimPrefix(path, "=")
	top := topFolder(path)
	if top == folder {
		return list
	}
	if top != "internal" {
		path = top
	}
	if !slices.Contains(list, path) {
		list = append(list, path)
	}
	return list
}

// importsOf reads what the files of another module import of this one.
func importsOf(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	files(t, func(path string, text []byte) {
		if !strings.HasPrefix(path, dir+"/") || !strings.HasSuffix(path, ".go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			return
		}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Error(err)
			}
			if ours, ok := strings.CutPrefix(p, module+"/"); ok {
				list = addOther(list, dir, ours)
			}
		}
	})
	return list
}

var (
	fuzzTime     = regexp.MustCompile(`(?m)^FUZZTIME \?= (\S+)$`)
	fuzzTimeSaid = regexp.MustCompile("`FUZZTIME` \\((\\S+)\\)")
	phony        = regexp.MustCompile(`(?m)^\.PHONY: (.+)$`)
)

// CONTRIBUTING.md names every command of the Makefile, and the time of the fuzz targets.
func TestCommandsAreListed(t *testing.T) {
	t.Parallel()
	mk, text := readDoc(t, "Makefile"), readDoc(t, "CONTRIBUTING.md")
	targets := phony.FindStringSubmatch(mk)
	have, said := fuzzTime.FindStringSubmatch(mk), fuzzTimeSaid.FindStringSubmatch(text)
	if targets == nil || have == nil || said == nil {
		t.Fatalf("targets %q, FUZZTIME %q, in CONTRIBUTING.md %q", targets, have, said)
	}
	if have[1] != said[1] {
		t.Errorf("FUZZTIME is %s, CONTRIBUTING.md says %s", have[1], said[1])
	}
	for _, target := range strings.Fields(targets[1]) {
		if target != "all" && !strings.Contains(text, "| `make "+target+"` |") {
			t.Errorf("CONTRIBUTING.md does not list make %s", target)
		}
	}
}

// The README leads to every page of docs.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	readme := readDoc(t, "README.md")
	entries, err := os.ReadDir(filepath.Join(root(t), "docs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := "docs/" + e.Name(); !strings.Contains(readme, "]("+name+")") && !strings.Contains(readme, "]("+name+"/") {
			t.Errorf("README.md does not link to %s", name)
		}
	}
}
