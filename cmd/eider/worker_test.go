package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Where the worker is looked for, and what it is called with.
func TestWorker(t *testing.T) {
	t.Parallel()
	beside := filepath.Join("bin", workerName())
	for _, c := range []struct {
		name    string
		command []string // maintain when nil
		files   map[string]bool
		path    string // of the one in PATH
		args    []string
		want    []string // what is run
		code    int      // else
		says    string
	}{
		{name: "beside", files: map[string]bool{beside: true}, path: "else", args: []string{"--every", "1h", "--dry-run"}, want: []string{beside, "maintain", "--every", "1h", "--dry-run"}},
		{name: "in PATH", path: "else", args: []string{"--help"}, want: []string{"else", "maintain", "--help"}},
		{name: "named", files: map[string]bool{beside: true, "mine": true}, args: []string{"--worker", "mine", "-x"}, want: []string{"mine", "maintain", "-x"}},
		{name: "named with =", files: map[string]bool{"mine": true}, args: []string{"a", "--worker=mine"}, want: []string{"mine", "maintain", "a"}},
		{name: "after --", files: map[string]bool{beside: true}, args: []string{"--", "--worker=mine"}, want: []string{beside, "maintain", "--", "--worker=mine"}},
		{name: "named wrongly", files: map[string]bool{beside: true}, args: []string{"--worker=mine"}, code: exitUsage, says: "no program mine"},
		{name: "named with nothing", args: []string{"--worker"}, code: exitUsage, says: "needs an argument"},
		{name: "named empty", args: []string{"--worker="}, code: exitUsage, says: "empty"},
		{name: "missing", code: exitFailed, says: `not in bin or PATH; build it with "make worker"`},
		{name: "below another command", command: []string{"snapshot", "restore"}, path: "else", args: []string{"5", "--dry-run"}, want: []string{"else", "restore", "5", "--dry-run"}},
		{name: "missing, help", args: []string{"--help"}, code: exitFailed, says: "Usage:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var ran []string
			stopped := errors.New("replaced")
			w := worker{
				executable: func() (string, error) { return filepath.Join("bin", "eider"), nil },
				isFile:     func(p string) bool { return c.files[p] },
				lookPath: func(string) (string, error) {
					if c.path == "" {
						return "", errors.New("not found")
					}
					return c.path, nil
				},
				become: func(_ string, args []string) error { ran = args; return stopped },
			}
			var out, errs bytes.Buffer
			a := &app{streams: streams{strings.NewReader(""), &out, &errs}, getenv: lookup(nil), worker: w}
			command := c.command
			if command == nil {
				command = []string{"maintain"}
			}
			r := result{a.run(t.Context(), slices.Concat(command, c.args)), out.String(), errs.String()}
			if !reflect.DeepEqual(ran, c.want) {
				t.Errorf("ran %q, want %q", ran, c.want)
			}
			if c.want == nil {
				r.want(t, c.code, c.says)
			} else {
				r.want(t, exitFailed, "replaced")
			}
		})
	}
}
