package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]*)\(\w+ \*testing\.F\)`)

// fuzzTarget is one fuzz function.
type fuzzTarget struct{ dir, pkg, name string }

// fuzzAll runs every fuzz target of the module for a short while.
func fuzzAll(ctx context.Context, out io.Writer, dir string, each time.Duration) (totals, error) {
	targets, err := fuzzTargets(ctx, dir)
	if err != nil {
		return totals{}, err
	}
	var t totals
	for _, f := range targets {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		start := time.Now()
		text, err := fuzzOne(ctx, dir, f, each)
		for again := 0; err != nil && again < 3 && ranOut(text); again++ {
			text, err = fuzzOne(ctx, dir, f, each)
		}
		if err != nil {
			t.failed++
			fmt.Fprintf(out, "FAIL %s %s\n%s\n", f.pkg, f.name, text)
			continue
		}
		t.passed++
		fmt.Fprintf(out, "ok   %s %s (%s)\n", f.pkg, f.name, time.Since(start).Round(100*time.Millisecond))
	}
	if t.failed > 0 {
		return t, errors.New("fuzz targets failed")
	}
	return t, nil
}

// fuzzOne runs one target and returns what it printed.
func fuzzOne(ctx context.Context, dir string, f fuzzTarget, each time.Duration) ([]byte, error) {
	var buf bytes.Buffer
	// Two workers: more only heat a small machine. The timeout covers building and the corpus.
	cmd := command(ctx, dir, "go", "test", "-run", "^$", "-fuzz", "^"+f.name+"$", "-fuzztime", each.String(),
		"-parallel", "2", "-timeout", (5 * time.Minute).String(), f.pkg)
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err := cmd.Run()
	return buf.Bytes(), err
}

// ranOut tells the end of the fuzzing time from a finding. When the time is up while a
// worker is between two inputs, the go command may report its own deadline as the
// target's failure; a finding always names or shows its input.
func ranOut(text []byte) bool {
	return bytes.Contains(text, []byte("    context deadline exceeded\n")) &&
		!bytes.Contains(text, []byte("Failing input written")) &&
		!bytes.Contains(text, []byte("testdata/fuzz/")) &&
		!bytes.Contains(text, []byte("panic:"))
}

// fuzzTargets finds the fuzz functions of the module.
func fuzzTargets(ctx context.Context, dir string) ([]fuzzTarget, error) {
	cmd := command(ctx, dir, "go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...")
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var targets []fuzzTarget
	dec := json.NewDecoder(&buf)
	for {
		var p struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return targets, nil
		} else if err != nil {
			return nil, err
		}
		for _, file := range append(p.TestGoFiles, p.XTestGoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
				targets = append(targets, fuzzTarget{dir: p.Dir, pkg: p.ImportPath, name: string(m[1])})
			}
		}
	}
}
