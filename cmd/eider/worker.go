package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
)

// errNoWorker is returned when the program with DuckDB in it is not found.
var errNoWorker = errors.New("this command needs the program eider-worker, which has DuckDB in it")

// worker finds and runs eider-worker. Its fields are what the system provides.
type worker struct {
	// executable is the path of the running program.
	executable func() (string, error)
	// isFile says whether there is a program at a path.
	isFile func(path string) bool
	// lookPath finds a program in PATH.
	lookPath func(name string) (string, error)
	// become replaces the process by a program, or runs it and ends with its exit code, so
	// that signals, standard streams and the exit code are the program's. It returns only
	// when the program could not be started.
	become func(path string, args []string) error
}

func systemWorker() worker {
	return worker{
		executable: os.Executable,
		isFile: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular()
		},
		lookPath: exec.LookPath,
		become:   become,
	}
}

// workerName is the file name of the worker's program.
func workerName() string {
	if runtime.GOOS == "windows" {
		return "eider-worker.exe"
	}
	return "eider-worker"
}

// find returns the path of the worker: what --worker says, the one beside this program, or
// the one in PATH.
func (w *worker) find(given string) (string, error) {
	if given != "" {
		if !w.isFile(given) {
			return "", cmdline.Usagef("--worker: there is no program %s", given)
		}
		return given, nil
	}
	tried := "PATH"
	if self, err := w.executable(); err == nil {
		// A link to this program is followed: what lies beside the link is somebody else's.
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), workerName())
		if w.isFile(beside) {
			return beside, nil
		}
		tried = filepath.Dir(self) + " or PATH"
	}
	if path, err := w.lookPath(workerName()); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%w: it is not in %s; build it with \"make worker\", put it beside eider, or name it with --worker", errNoWorker, tried)
}

// run passes a command on to the worker.
func (w *worker) run(command string, args []string) error {
	given, rest, err := workerFlag(args)
	if err != nil {
		return err
	}
	path, err := w.find(given)
	if err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", path, w.become(path, append([]string{path, command}, rest...)))
}

// workerFlag takes --worker out of the arguments.
func workerFlag(args []string) (path string, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		if args[i] == "--" {
			return path, append(rest, args[i:]...), nil
		}
		if name != "--worker" {
			rest = append(rest, args[i])
			continue
		}
		if !has {
			if i++; i == len(args) {
				return "", nil, cmdline.Usagef("flag needs an argument: --worker")
			}
			value = args[i]
		}
		if value == "" {
			return "", nil, cmdline.Usagef("--worker: the path of the program is empty")
		}
		path = value
	}
	return path, rest, nil
}

func (a *app) maintainCommand() *cobra.Command {
	return a.workerCommand("maintain", &cobra.Command{
		Use:   "maintain",
		Short: "Flush, merge and rewrite the files of a lake, with DuckDB",
		Long: `Flush inlined data, merge small files and rewrite files of which much is deleted. It is done by DuckDB, which is in the program
eider-worker beside this one, in PATH, or at --worker PATH; its flags are listed by "eider maintain --help" when it is there.`,
	})
}

func (a *app) materializeCommand() *cobra.Command {
	return a.workerCommand("materialize", &cobra.Command{
		Use:   "materialize run|plan|test|status|backfill|graph|watch [DIR | FILE...]",
		Short: "Make tables of SQL scripts with a header, with DuckDB",
		Long: `Make tables of a lake from SQL scripts whose comments say what they make. It is done by DuckDB, which is in the program
eider-worker beside this one, in PATH, or at --worker PATH; its commands are listed by "eider materialize --help" when it is there.`,
	})
}

// restoreCommand is a command below snapshot.
func (a *app) restoreCommand() *cobra.Command {
	return a.workerCommand("restore", &cobra.Command{
		Use:   "restore SNAPSHOT|TAG",
		Short: "Make a new snapshot that is equal to an old one, with DuckDB",
		Long: `Make a new snapshot that is equal to an old one, row ids included. The old version is read by DuckDB, which is in the program
eider-worker beside this one, in PATH, or at --worker PATH; its flags are listed by "eider snapshot restore --help" when it is there.`,
	})
}

// workerCommand makes a command of one that the worker does.
func (a *app) workerCommand(name string, cmd *cobra.Command) *cobra.Command {
	cmd.DisableFlagParsing = true // they are the worker's
	cmd.RunE = func(c *cobra.Command, args []string) error {
		err := a.worker.run(name, args)
		for _, arg := range args {
			if errors.Is(err, errNoWorker) && (arg == "--help" || arg == "-h") {
				return errors.Join(c.Help(), err)
			}
		}
		return err
	}
	return cmd
}
