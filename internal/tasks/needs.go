package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// What suites need besides Go.
const (
	needC      = "C"      // a C compiler with the C++ library: DuckDB's Go driver is linked by cgo
	needPython = "Python" // Python with pip, which gets DuckDB
)

// cHelp says how to get a C compiler, whatever of it is missing.
const cHelp = `The worker and the end-to-end tests, which lint looks at too, have DuckDB in them. It is linked by cgo, which needs a C compiler and the C++ library.
  Debian, Ubuntu:  apt-get install gcc g++
  Fedora, RHEL:    dnf install gcc gcc-c++
  macOS:           xcode-select --install
The server needs none of this: "make build" and "make quickstart" work without.`

const pythonHelp = `The end-to-end tests get DuckDB with pip: Python 3 with pip is needed, as python3 or as what PYTHON names.
  Debian, Ubuntu:  apt-get install python3 python3-pip
  Fedora, RHEL:    dnf install python3 python3-pip
"make unit" works without.`

// tooling is how this machine is asked for tools.
type tooling struct {
	// run runs a program and returns what it printed.
	run    func(ctx context.Context, name string, args ...string) (string, error)
	getenv func(string) string
}

func systemTooling() tooling {
	return tooling{
		run: func(ctx context.Context, name string, args ...string) (string, error) {
			out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
			return string(out), err
		},
		getenv: os.Getenv,
	}
}

// missing says what of need is not there and how to get it, "" for nothing.
func (m tooling) missing(ctx context.Context, need string) string {
	switch need {
	case needC:
		return m.missingC(ctx)
	case needPython:
		return m.missingPython(ctx)
	}
	return ""
}

// missingC compiles and links a program as cgo does for DuckDB's driver.
func (m tooling) missingC(ctx context.Context) string {
	out, err := m.run(ctx, "go", "env", "CC", "CGO_ENABLED")
	if err != nil {
		return fmt.Sprintf("go env: %v\n%s", err, out)
	}
	cc, enabled, _ := strings.Cut(strings.TrimSpace(out), "\n")
	words := strings.Fields(cc)
	if len(words) == 0 {
		words = []string{"gcc"}
	}
	dir, err := os.MkdirTemp("", "eider-cc-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "main.c")
	if err := os.WriteFile(source, []byte("#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"), 0o600); err != nil {
		return err.Error()
	}
	library := "-lstdc++"
	if runtime.GOOS == "darwin" {
		library = "-lc++"
	}
	args := append(words[1:], "-o", filepath.Join(dir, "main"), source, library)
	if out, err := m.run(ctx, words[0], args...); err != nil {
		return fmt.Sprintf("%s does not make a program (%v).\n%s%s", words[0], err, out, cHelp)
	}
	if enabled == "0" { // by the environment or "go env -w": a compiler is there
		return "cgo is off: CGO_ENABLED is 0, in the environment or by \"go env -w\". Unset it.\n" + cHelp
	}
	return ""
}

func (m tooling) missingPython(ctx context.Context) string {
	python := m.getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := m.run(ctx, python, "-m", "pip", "--version"); err != nil {
		return fmt.Sprintf("%s -m pip does not work (%v).\n%s%s", python, err, out, pythonHelp)
	}
	return ""
}
