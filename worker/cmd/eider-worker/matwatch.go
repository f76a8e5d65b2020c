package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/run"
)

func (a *app) matWatchCommand() *cobra.Command {
	f := &projectFlags{}
	cmd := &cobra.Command{
		Use:   "watch [DIR | FILE...]",
		Short: "Run scripts when they are due, until SIGTERM",
		Long: `Run the scripts of a project when they are due: by their schedule, after commits to the tables of their "on" lines, when their table is older than their
freshness, and again after failures, as their retry line says. Commits are heard of at once on Eider; other catalogs are asked every two seconds. One script runs at a time. Files that
change are read again.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(a, args); err != nil {
				return err
			}
			if err := f.pick(c.Context()); err != nil {
				return err
			}
			return a.matWatch(c.Context(), f, args)
		},
	}
	f.register(cmd.Flags(), "text", "json")
	f.registerSelect(cmd.Flags())
	f.registerAuthor(cmd.Flags())
	f.registerQuiet(cmd.Flags())
	return cmd
}

func (a *app) matWatch(ctx context.Context, f *projectFlags, args []string) error {
	if err := f.problems(a); err != nil {
		fmt.Fprintln(a.err, "eider:", err)
	}
	ctx, stop, end := a.signals(ctx, "this run")
	defer end()
	sh := a.newShow(f.format, f.quiet, 0)
	sh.bar = false
	f.runner.Report = sh.event
	root, _, err := rootOf(args0(args))
	if err != nil {
		return err
	}
	last, err := marks(root)
	if err != nil {
		return cmdline.Usage(err)
	}
	err = f.runner.Watch(ctx, f.scripts, run.WatchOptions{Longest: 10 * time.Second, Reload: func() (*project.Project, []*project.Script, error) {
		now, err := marks(root)
		if err != nil || now == last {
			return nil, nil, err
		}
		last = now
		again := *f
		if err := again.load(a, args); err != nil {
			return nil, nil, err
		}
		if err := again.pick(ctx); err != nil {
			return nil, nil, err
		}
		if err := again.problems(a); err != nil {
			fmt.Fprintln(a.err, "eider:", err)
		}
		return again.project, again.scripts, nil
	}}, stop)
	if errors.Is(err, context.Canceled) {
		return errRuns
	}
	return err
}

func args0(args []string) []string {
	if len(args) == 0 {
		return []string{"."}
	}
	return args
}

// marks tells whether a project's files have changed: their names, sizes and times.
func marks(root string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && path != root {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || !strings.HasSuffix(d.Name(), ".sql") && d.Name() != project.ConfigFile {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return b.String(), err
}
