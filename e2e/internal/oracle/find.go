package oracle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/eiderdb/eider/e2e/internal/tools"
)

// Version is the major version that the tests compare with. Others word errors and infer types differently, so what differs from them
// says nothing.
const Version = "15"

var (
	// ErrMissing says that there is no PostgreSQL on this machine and no way to install it.
	ErrMissing = errors.New("PostgreSQL is not installed and this user may not install it")
	// ErrVersion says that what there is of PostgreSQL is of another major version than Version.
	ErrVersion = errors.New("PostgreSQL is not of version " + Version)
)

// major finds the major version in "postgres (PostgreSQL) 15.18 (Debian …)" and in "15.18 (Debian …)".
var major = regexp.MustCompile(`^(?:postgres \(\S+\) )?(\d+)(?:\.|devel|beta|rc|\s|$)`)

// checkVersion wraps ErrVersion unless a text is the version of a PostgreSQL of the right major version.
func checkVersion(text string) error {
	text = strings.TrimSpace(text)
	if m := major.FindStringSubmatch(text); m == nil || m[1] != Version {
		return fmt.Errorf("%w: it is %q", ErrVersion, text)
	}
	return nil
}

// places lists the folders that may hold initdb and postgres, the likeliest first.
func places() []string {
	out := []string{"/usr/lib/postgresql/" + Version + "/bin"}
	if p, err := exec.LookPath("initdb"); err == nil {
		out = append(out, filepath.Dir(p))
		if p, err = filepath.EvalSymlinks(p); err == nil {
			out = append(out, filepath.Dir(p))
		}
	}
	others, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	return append(out, others...)
}

// binaries returns the folder of initdb and postgres of the right version. Where there is none, root installs it.
func binaries(ctx context.Context, dirs func() []string, install func(context.Context) error) (string, error) {
	dir, err := find(ctx, dirs())
	if err == nil || os.Getuid() != 0 {
		return dir, err
	}
	if ierr := install(ctx); ierr != nil {
		return "", errors.Join(err, ierr)
	}
	return find(ctx, dirs())
}

func install(ctx context.Context) error { return tools.InstallPostgres(ctx, Version) }

// find returns the first folder with the right version. The error says which others there are.
func find(ctx context.Context, dirs []string) (string, error) {
	var wrong []error
	var seen []string
	for _, dir := range dirs {
		if slices.Contains(seen, dir) || !exists(filepath.Join(dir, "initdb")) || !exists(filepath.Join(dir, "postgres")) {
			continue
		}
		seen = append(seen, dir)
		out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
		if err == nil {
			err = checkVersion(string(out))
		} else {
			err = fmt.Errorf("%w: it does not say its version: %w", ErrVersion, err)
		}
		if err == nil {
			return dir, nil
		}
		wrong = append(wrong, fmt.Errorf("%s: %w", dir, err))
	}
	if len(wrong) == 0 {
		return "", ErrMissing
	}
	return "", errors.Join(wrong...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
