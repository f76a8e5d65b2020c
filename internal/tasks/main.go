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

// errFailed says that something was run and did not pass; what it was has been printed.
var errFailed = errors.New("not everything passed")

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("usage: tasks test|fuzz [flags]")
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	fuzzTime := fs.Duration("fuzztime", 3*time.Second, "how long each fuzz target runs")
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

// runTest runs the suites one after the other, whatever fails, and prints the totals last.
func runTest(ctx context.Context, out io.Writer, only string, fuzzTime time.Duration) error {
	suites := []struct {
		name string
		run  func() (totals, error)
	}{
		{"root", func() (totals, error) { return goTest(ctx, out, ".", 20*time.Minute) }},
		{"fuzz", func() (totals, error) { return fuzzAll(ctx, out, ".", fuzzTime) }},
		{"worker", func() (totals, error) { return goTest(ctx, out, "worker", 20*time.Minute) }},
		{"e2e", func() (totals, error) { return goTest(ctx, out, "e2e", 40*time.Minute) }},
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
