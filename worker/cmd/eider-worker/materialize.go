package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/graph"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/run"
	"github.com/eiderdb/eider/worker/duck"
)

// projectFlags are the flags of the commands that read a project.
type projectFlags struct {
	server  string
	lakes   []string
	duck    duck.Options
	author  string
	format  string
	choose  []string
	quiet   bool
	version []string
	force   bool
	// formats are those that --format takes.
	formats []string

	title   string // the project's folder
	project *project.Project
	scripts []*project.Script // those that the arguments name, or all
	named   bool              // the arguments name scripts
	runner  *run.Runner
}

func (f *projectFlags) register(fs *pflag.FlagSet, formats ...string) {
	f.formats = formats
	fs.StringVar(&f.server, "server", "", "connection string of the server where lakes are that the project does not place (EIDER_SERVER), default "+defaultServer)
	fs.StringArrayVar(&f.lakes, "lake", nil, "where a lake is, NAME=CONNECTION STRING; goes before materialize.yaml")
	fs.StringVar(&f.format, "format", formats[0], "form of the output: "+strings.Join(formats, ", "))
	fs.StringVar(&f.duck.ExtensionDir, "extension-dir", "", "folder with DuckDB's extensions (EIDER_EXTENSION_DIR)")
	fs.StringSliceVar(&f.duck.Extensions, "extension", nil, "further extensions to load, such as httpfs")
	fs.IntVar(&f.duck.Threads, "threads", 0, "DuckDB's threads, default all CPUs")
	fs.StringVar(&f.duck.MemoryLimit, "memory-limit", "", "DuckDB's memory, such as 4GB")
	fs.StringVar(&f.duck.TempDir, "temp-dir", "", "where DuckDB spills to")
}

// registerSelect has the flag of the commands that are for several scripts.
func (f *projectFlags) registerSelect(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.choose, "select", nil, "only these scripts: NAME, ASSET, tag:WORD; +X with what feeds it, X+ with what it feeds")
}

// registerAuthor has the flag of the commands that write, or show what is written.
func (f *projectFlags) registerAuthor(fs *pflag.FlagSet) {
	fs.StringVar(&f.author, "author", "", "who snapshots are by, default the project's author or the system's user")
}

// registerQuiet has the flag of the commands that take their time.
func (f *projectFlags) registerQuiet(fs *pflag.FlagSet) {
	fs.BoolVar(&f.quiet, "quiet", false, "no progress, only what came of it")
}

// registerRun has the flags of the commands that run what they are told to.
func (f *projectFlags) registerRun(fs *pflag.FlagSet) {
	f.registerAuthor(fs)
	f.registerQuiet(fs)
	fs.StringSliceVar(&f.version, "at-version", nil, "read lakes as of a snapshot: N for all, or LAKE=N")
}

// load reads the project that the arguments name: a folder, or scripts of one.
func (f *projectFlags) load(a *app, args []string) error {
	if f.server == "" {
		f.server, _ = a.getenv("EIDER_SERVER")
	}
	if f.duck.ExtensionDir == "" {
		f.duck.ExtensionDir, _ = a.getenv("EIDER_EXTENSION_DIR")
	}
	ok := false
	for _, name := range f.formats {
		ok = ok || name == f.format
	}
	if !ok {
		return badFlag("format", fmt.Errorf("%q is none of %s", f.format, strings.Join(f.formats, ", ")))
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	root, names, err := rootOf(args)
	if err != nil {
		return err
	}
	if full, err := filepath.Abs(root); err == nil {
		f.title = filepath.Base(full)
	}
	if f.project, err = project.Load(os.DirFS(root)); err != nil {
		return cmdline.Usage(err)
	}
	if err := f.settings(a, root); err != nil {
		return err
	}
	f.scripts, f.named = f.project.Scripts, names != nil
	if f.named {
		f.scripts = nil
		for _, name := range names {
			s, ok := f.project.Find(name)
			if !ok {
				if err := f.problems(a, name); err != nil {
					return err
				}
				return cmdline.Usagef("%s makes no table: its header has no line with materialize", name)
			}
			f.scripts = append(f.scripts, s)
		}
	}
	if len(f.scripts) == 0 {
		if err := f.problems(a); err != nil {
			return err
		}
		return cmdline.Usagef("there is no script in %s: a script is a file NAME.sql with a line -- materialize ducklake://LAKE/TABLE at its head", root)
	}
	return nil
}

// pick leaves the scripts that --select chooses.
func (f *projectFlags) pick(ctx context.Context) error {
	if len(f.choose) == 0 {
		return nil
	}
	g, err := f.runner.Graph(ctx, false)
	if err != nil {
		return err
	}
	names, err := g.Select(f.choose)
	if err != nil {
		return cmdline.Usagef("--select: %w", err)
	}
	f.scripts = slices.DeleteFunc(slices.Clone(f.scripts), func(s *project.Script) bool { return !slices.Contains(names, s.Name) })
	return nil
}

// versions looks whether the project has to do with the lakes of --at-version: one that is misspelt would be read as it is now.
func (f *projectFlags) versions(g *graph.Graph) error {
	lakes := slices.Collect(maps.Keys(f.project.Config.Lakes))
	for _, n := range g.Nodes() {
		if a, ok := annotate.ParseAsset(n.Name); ok && a.Kind == annotate.KindLake {
			lakes = append(lakes, a.Lake())
		}
	}
	slices.Sort(lakes)
	for name := range f.runner.Options.AtVersion {
		if name != "" && !slices.Contains(lakes, name) {
			return badFlag("at-version", fmt.Errorf("there is no lake %s in the project; it has %s", name, strings.Join(slices.Compact(lakes), ", ")))
		}
	}
	return nil
}

// rootOf finds the project's folder, and the names of scripts in it; nil for all.
func rootOf(args []string) (root string, names []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(arg + ".sql"); err == nil {
				return "", nil, cmdline.Usagef("there is no file or folder %s; a script is given by its file, %s.sql, or with --select", arg, arg)
			}
			return "", nil, cmdline.Usagef("there is no file or folder %s", arg)
		}
		if err != nil {
			return "", nil, cmdline.Usage(err)
		}
		if info.IsDir() {
			if len(args) > 1 {
				return "", nil, cmdline.Usagef("one folder, or scripts of one project: %s is a folder", arg)
			}
			return arg, nil, nil
		}
		full, err := filepath.Abs(arg)
		if err != nil {
			return "", nil, cmdline.Usage(err)
		}
		dir := projectRoot(full)
		if root != "" && dir != root {
			return "", nil, cmdline.Usagef("%s is not in the project in %s", arg, root)
		}
		root = dir
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return "", nil, cmdline.Usage(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	return root, names, nil
}

// projectRoot is the next folder above a file with settings or a repository in it; else the file's own.
func projectRoot(file string) string {
	own := filepath.Dir(file)
	for dir := own; ; dir = filepath.Dir(dir) {
		for _, mark := range []string{project.ConfigFile, ".git"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return own
		}
	}
}

// settings makes the runner of what the flags and the project say.
func (f *projectFlags) settings(a *app, root string) error {
	p := f.project
	for _, l := range f.lakes {
		name, dsn, ok := strings.Cut(l, "=")
		if !ok || name == "" || dsn == "" {
			return badFlag("lake", fmt.Errorf("%q is not NAME=CONNECTION STRING", l))
		}
		if p.Config.Lakes == nil {
			p.Config.Lakes = map[string]project.Lake{}
		}
		lake := p.Config.Lakes[name]
		lake.DSN = dsn
		p.Config.Lakes[name] = lake
	}
	server := f.server
	if server == "" {
		server = p.Config.Server
	}
	if server == "" {
		server = defaultServer
	}
	if _, err := cmdline.ParseServer(server); err != nil {
		return err
	}
	f.duck.Extensions = append(f.duck.Extensions, p.Config.Extensions...)
	if p.Config.Init != "" {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.Config.Init)))
		if err != nil {
			return cmdline.Usagef("%s: init: %w", project.ConfigFile, err)
		}
		f.duck.Init = append(f.duck.Init, string(text))
	}
	o := run.Options{Force: f.force, Author: f.author}
	if o.Author == "" {
		o.Author = p.Config.Author
	}
	for _, v := range f.version {
		name, number, ok := strings.Cut(v, "=")
		if !ok {
			name, number = "", v
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 {
			return badFlag("at-version", fmt.Errorf("%q is no snapshot, nor LAKE=SNAPSHOT", v))
		}
		if o.AtVersion == nil {
			o.AtVersion = map[string]int64{}
		}
		o.AtVersion[name] = n
	}
	f.runner = &run.Runner{
		Project: p,
		Options: o,
		Open: func(ctx context.Context) (run.Engine, error) {
			db, err := duck.Open(ctx, f.duck)
			if err != nil {
				return nil, err
			}
			return engine{db}, nil
		},
		Lake: func(name string) (run.Lake, error) {
			l, _ := p.Lake(name)
			lake := run.Lake{Name: name, DSN: l.DSN, Schema: l.Schema, DataPath: l.DataPath}
			if lake.DSN == "" {
				lake.DSN = withDatabase(server, name)
			}
			return lake, nil
		},
	}
	return nil
}

// engine is a DuckDB as runs use it.
type engine struct{ *duck.DB }

// Attach attaches a lake under an alias.
func (e engine) Attach(ctx context.Context, l run.Lake, alias, options string) error {
	return e.DB.Attach(ctx, duck.Lake{Name: alias, DSN: l.DSN, Schema: l.Schema, DataPath: l.DataPath, Options: options})
}

// problems prints what is wrong with the project's files; where only some of its scripts are wanted, with theirs and
// with these files. What is an error in a file that makes no table is a warning of a command for all.
func (f *projectFlags) problems(a *app, files ...string) error {
	wanted := map[string]bool{project.ConfigFile: true}
	for _, file := range files {
		wanted[file] = true
	}
	for _, s := range f.scripts {
		wanted[s.File] = true
	}
	all := !f.named && len(f.scripts) == len(f.project.Scripts)
	var first error
	for _, p := range f.project.Problems {
		if p.Severity == annotate.SeverityError && wanted[p.File] {
			if first != nil {
				fmt.Fprintln(a.err, "eider:", first)
			}
			first = cmdline.Usagef("%s", p)
			continue
		}
		if wanted[p.File] || all {
			fmt.Fprintln(a.err, "eider: warning:", p)
		}
	}
	return first
}

func (a *app) materializeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "materialize",
		Short: "Make tables of SQL scripts with a header",
		Args:  cmdline.Exactly(0, "a command: run, plan, test, status, backfill, graph or watch"),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
		Long: `Make tables of a lake from SQL scripts. What a script makes is in the comments at its head:

  -- materialize ducklake://analytics/orders_daily
  -- partitioned daily
  -- data_test not_null order_id
  ATTACH 'ducklake://raw' AS raw;
  SELECT … FROM raw.orders WHERE day = {partition}

A project is a folder of such scripts, with settings in materialize.yaml. The header's grammar and the settings are in docs/materialize.md.

Exit codes: 0 well done; 1 something failed, a data test among it; 2 wrong use, or a script that cannot be run: nothing was written.`,
	}
	cmd.AddCommand(a.matRunCommand(), a.matPlanCommand(), a.matTestCommand(), a.matStatusCommand(), a.matBackfillCommand(), a.matGraphCommand(), a.matWatchCommand())
	return cmd
}
