package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/cmd/eider/node"
	"github.com/eiderdb/eider/internal/cmdline"
)

// version is set by the linker in releases.
var version string

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitData   = 3
)

func main() {
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, syscall.SIGTERM, os.Interrupt)
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.LookupEnv, sig))
}

// streams are the standard streams of a command.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// app is what the commands share.
type app struct {
	streams
	getenv func(string) (string, bool)
	sig    <-chan os.Signal
	worker worker
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, io streams, getenv func(string) (string, bool), sig <-chan os.Signal) int {
	a := &app{streams: io, getenv: getenv, sig: sig, worker: systemWorker()}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var exit exitError
	if errors.As(err, &exit) && exit.err == nil {
		return exit.code
	}
	fmt.Fprintln(a.err, "eider:", err)
	switch {
	case errors.Is(err, node.ErrLocked), errors.Is(err, node.ErrNewer):
		return exitData
	case cmdline.IsUsage(err), errors.Is(err, config.ErrConfig):
		return exitUsage
	case exit.code != 0:
		return exit.code
	}
	return exitFailed
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "eider",
		Short: "Eider is a catalog server for DuckLake",
		Long: `Eider is a catalog server for DuckLake. DuckDB attaches it as if it were PostgreSQL:

    eider serve
    duckdb -c "ATTACH 'ducklake:postgres:host=127.0.0.1 port=5434 dbname=lake user=eider' AS lake (DATA_PATH 'files/')"

Exit codes: 0 well done, 1 failed, 2 wrong use or configuration, 3 the data folder is in use or from a newer version.`,
	}
	cmdline.Root(root, (*cobra.Command).CommandPath)
	root.AddCommand(a.serveCommand(), a.catalogCommand(), a.checksCommand(), a.fsckCommand(), a.gcCommand(), a.maintainCommand(), a.materializeCommand(), a.snapshotCommand(), a.userCommand(), a.versionCommand())
	return root
}

// versionText is the version of this build.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
