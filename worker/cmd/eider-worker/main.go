package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/worker/duck"
	"github.com/eiderdb/eider/worker/maintain"
)

// version is set by the linker in releases.
var version string

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitBusy   = 4
)

func main() {
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, syscall.SIGTERM, os.Interrupt)
	// The server tells clients apart by their application's name: a step that lost a race to
	// writers is let go first when it comes again, on whatever connection of this process.
	if _, ok := os.LookupEnv("PGAPPNAME"); !ok {
		_ = os.Setenv("PGAPPNAME", fmt.Sprintf("eider-worker %d", os.Getpid()))
	}
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv, sig))
}

// app is what the commands share.
type app struct {
	out, err io.Writer
	getenv   func(string) (string, bool)
	sig      <-chan os.Signal
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errs io.Writer, getenv func(string) (string, bool), sig <-chan os.Signal) int {
	a := &app{out: out, err: errs, getenv: getenv, sig: sig}
	root := &cobra.Command{
		Use:         "eider-worker",
		Short:       "The part of Eider that runs DuckDB; started by eider",
		Annotations: map[string]string{},
	}
	cmdline.Root(root, (*cobra.Command).CommandPath)
	root.AddCommand(a.maintainCommand(), a.restoreCommand(), a.materializeCommand(), a.versionCommand())
	if c, _, err := root.Find(args); err == nil && c != root {
		root.Annotations[cobra.CommandDisplayNameAnnotation] = startedBy(c)
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errRuns) { // what went wrong was told then
		fmt.Fprintln(errs, "eider:", maintain.Text(err))
	}
	if errors.Is(err, duck.ErrExtension) {
		fmt.Fprintln(errs, "eider: DuckDB installs extensions from its repository; where that cannot be reached, --extension-dir (EIDER_EXTENSION_DIR) names a folder with NAME.duckdb_extension files of its version")
	}
	switch {
	case cmdline.IsUsage(err), errors.Is(err, maintain.ErrOption):
		return exitUsage
	case errors.Is(err, maintain.ErrBusy):
		return exitBusy
	}
	return exitFailed
}

// startedBy is what people type in place of this program's name: eider starts it.
func startedBy(c *cobra.Command) string {
	switch c.Name() {
	case "restore":
		return "eider snapshot"
	case "version":
		return "eider-worker"
	}
	return "eider"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "eider-worker %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versionText is the version of this build.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}
