package lint

import (
	"path/filepath"
	"strings"
	"testing"
)

// modules are the folders with a go.mod.
var modules = []string{".", "e2e", "worker"}

func TestGofumpt(t *testing.T) {
	t.Parallel()
	out, err := goCmd(t, ".", nil, "tool", "gofumpt", "-l", ".")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for f := range strings.FieldsSeq(out) {
		if !strings.HasPrefix(f, ".cache") {
			t.Errorf("%s is not formatted: go tool gofumpt -w %s", f, f)
		}
	}
}

func TestVet(t *testing.T) {
	t.Parallel()
	for _, dir := range modules {
		if out, err := goCmd(t, dir, nil, "vet", "./..."); err != nil {
			t.Errorf("go vet in %s: %v\n%s", dir, err, out)
		}
	}
}

func TestStaticcheck(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "staticcheck")
	if out, err := goCmd(t, ".", nil, "build", "-o", bin, "honnef.co/go/tools/cmd/staticcheck"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, dir := range modules {
		if out, err := runCmd(t, filepath.Join(root(t), dir), nil, bin, "./..."); err != nil {
			t.Errorf("staticcheck in %s: %v\n%s", dir, err, out)
		}
	}
}

func TestModTidy(t *testing.T) {
	t.Parallel()
	for _, dir := range modules {
		if out, err := goCmd(t, dir, nil, "mod", "tidy", "-diff"); err != nil {
			t.Errorf("go mod tidy would change %s/go.mod: %v\n%s", dir, err, out)
		}
	}
}
