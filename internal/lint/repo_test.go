package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/eiderdb/eider"

// root is the folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("no caller")
	}
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// goCmd runs the go command in a folder of the repository and returns its output.
func goCmd(t testing.TB, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	return runCmd(t, filepath.Join(root(t), dir), env, "go", args...)
}

func runCmd(t testing.TB, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-buildvcs=false"), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err != nil {
		out.Write(errOut.Bytes())
	}
	return out.String(), err
}

// pkg is what go list says about a package.
type pkg struct {
	Dir, ImportPath           string
	Imports                   []string
	TestImports, XTestImports []string
	GoFiles                   []string
	Name                      string
}

func packages(t testing.TB) []pkg {
	t.Helper()
	out, err := goCmd(t, ".", nil, "list", "-json=Dir,ImportPath,Imports,TestImports,XTestImports,GoFiles,Name", "./...")
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	var list []pkg
	dec := json.NewDecoder(strings.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// files calls f for every file of the repository that people write: nothing built, fetched
// or kept by version control.
func files(t testing.TB, f func(path string, text []byte)) {
	t.Helper()
	base := root(t)
	skip := []string{".git", ".cache", "bin", "eider-data", "__pycache__"}
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(skip, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(rel), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
