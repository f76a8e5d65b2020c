package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tasks:", err)
		os.Exit(1)
	}
}

// What went wrong; the details have been printed.
var (
	// errFailed is returned when something was run and did not pass.
	errFailed = errors.New("not everything passed")
	// errMissing is returned when a tool is not there, and nothing was run.
	errMissing = errors.New("something is missing on this machine, nothing was run")
)

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("usage: tasks test|fuzz [flags]")
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	fuzzTime := fs.Duration("fuzztime", time.Second, "how long each fuzz target runs")
	only := fs.String("only", "", "run one suite only: root, fuzz, worker or e2e")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "test":
		return runTest(ctx, out, *only, *fuzzTime)
	case "fuzz":
		return runTest(ctx, out, "fuzz", *fuzzTime)
	}
	return fmt.Errorf("unknown task %q", args[0])
}

// suite is one part of the tests, and what it needs besides Go.
type suite struct {
	name  string
	needs []string
	run   func() (totals, error)
}

func runTest(ctx context.Context, out io.Writer, only string, fuzzTime time.Duration) error {
	return runSuites(ctx, out, systemTooling(), []suite{
		{"root", []string{needC}, func() (totals, error) { return goTest(ctx, out, ".", 20*time.Minute) }},
		{"fuzz", nil, func() (totals, error) { return fuzzAll(ctx, out, ".", fuzzTime) }},
		{"worker", []string{needC}, func() (totals, error) { return goTest(ctx, out, "worker", 20*time.Minute) }},
		{"e2e", []string{needC, needPython}, func() (totals, error) { return goTest(ctx, out, "e2e", 40*time.Minute) }},
	}, only)
}

// runSuites runs the suites one after the other, whatever fails, and prints the totals last.
// What they need is looked for first: nobody should learn at the end of a long run that a
// tool was missing. Without only all of them run.
func runSuites(ctx context.Context, out io.Writer, m tooling, suites []suite, only string) error {
	looked := map[string]bool{}
	complete := true
	for _, s := range suites {
		if only != "" && only != s.name {
			continue
		}
		for _, need := range s.needs {
			if looked[need] {
				continue
			}
			looked[need] = true
			if what := m.missing(ctx, need); what != "" {
				complete = false
				fmt.Fprintln(out, what)
			}
		}
	}
	if !complete {
		return errMissing
	}
	var lines []string
	failed := false
	for _, s := range suites {
		if only != "" && only != s.name {
			continue
		}
		start := time.Now()
		fmt.Fprintf(out, "== %s\n", s.name)
		t, err := s.run()
		if err != nil {
			failed = true
			fmt.Fprintf(out, "%s: %v\n", s.name, err)
		}
		lines = append(lines, fmt.Sprintf("%s: %d passed, %d failed, %d skipped", s.name, t.passed, t.failed, t.skipped))
		fmt.Fprintf(out, "== %s took %s\n", s.name, time.Since(start).Round(time.Second))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, l := range lines {
		fmt.Fprintln(out, l)
	}
	if failed {
		return errFailed
	}
	return nil
}
