package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// totals counts tests. A test with subtests is counted as its subtests.
type totals struct{ passed, failed, skipped int }

// event is one line of go test -json (see "go doc test2json").
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// goTest runs every test of the module in dir.
func goTest(ctx context.Context, out io.Writer, dir string, timeout time.Duration) (totals, error) {
	// Never from Go's cache: the end-to-end tests build the server and run it, lint runs
	// tools over files, and the cache knows of neither.
	cmd := command(ctx, dir, "go", "test", "-count=1", "-json", "-timeout", timeout.String(), "./...")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return totals{}, err
	}
	if err := cmd.Start(); err != nil {
		return totals{}, err
	}
	c := newCounter(out)
	scanErr := c.read(pipe)
	err = cmd.Wait()
	if err == nil {
		err = scanErr
	}
	if err == nil && c.t.failed > 0 {
		err = errors.New("tests failed")
	}
	if err == nil && c.t.passed == 0 {
		err = errors.New("no test ran")
	}
	return c.t, err
}

// command is a process that ends with the context and reads no input.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// counter reads the events of a run, counts tests and passes on what a person wants to
// see: a line per package, the output of what failed, and what a package prints itself.
type counter struct {
	out     io.Writer
	t       totals
	outcome map[string]string   // by package and test: pass, fail, skip
	parent  map[string]bool     // tests that have subtests
	output  map[string][]string // of running tests
	loose   map[string][]string // of packages, outside of any test
}

func newCounter(out io.Writer) *counter {
	return &counter{
		out: out, outcome: map[string]string{}, parent: map[string]bool{},
		output: map[string][]string{}, loose: map[string][]string{},
	}
}

func (c *counter) read(r io.Reader) error {
	br := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(c.out, "%s", line) // the toolchain's own words
			} else {
				c.event(&e)
			}
		}
		if errors.Is(err, io.EOF) {
			c.count()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *counter) event(e *event) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output", "build-output":
		if strings.HasPrefix(e.Output, "=== ") {
			return // RUN, PAUSE, CONT, NAME: the order tells nothing here
		}
		if e.Test == "" {
			c.loose[e.Package] = append(c.loose[e.Package], e.Output)
		} else {
			c.output[key] = append(c.output[key], e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			c.endPackage(e)
			return
		}
		c.outcome[key] = e.Action
		if i := strings.LastIndexByte(e.Test, '/'); i > 0 {
			c.parent[e.Package+"\x00"+e.Test[:i]] = true
		}
		if e.Action == "fail" {
			fmt.Fprintf(c.out, "%s", strings.Join(c.output[key], ""))
		}
		delete(c.output, key)
	}
}

func (c *counter) endPackage(e *event) {
	loose := c.loose[e.Package]
	delete(c.loose, e.Package)
	if e.Action == "skip" {
		return // a package without tests
	}
	for _, l := range loose {
		switch strings.TrimSpace(l) {
		case "PASS", "FAIL", "":
			continue
		}
		if strings.HasPrefix(l, "coverage:") {
			continue
		}
		fmt.Fprint(c.out, l)
	}
	if e.Action != "fail" {
		return
	}
	// A crash or a timeout leaves tests without an end: show what they said.
	for key, lines := range c.output {
		if strings.HasPrefix(key, e.Package+"\x00") {
			fmt.Fprint(c.out, strings.Join(lines, ""))
			c.outcome[key] = "fail"
			delete(c.output, key)
		}
	}
}

func (c *counter) count() {
	for key, o := range c.outcome {
		if c.parent[key] {
			continue
		}
		switch o {
		case "pass":
			c.t.passed++
		case "fail":
			c.t.failed++
		case "skip":
			c.t.skipped++
		}
	}
}
