package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/cmd/eider/node"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/gc/fsck"
	"github.com/eiderdb/eider/gc/fsck/pgrepair"
	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
	"github.com/eiderdb/eider/lake/paths"
	"github.com/eiderdb/eider/lake/pgsource"
)

// exitError ends the program with a code; what has to be said was said unless err is set.
type exitError struct {
	code int
	err  error
}

// Error is what has to be said.
func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap is the cause.
func (e exitError) Unwrap() error { return e.err }

// Exit codes of fsck, as those of its namesakes.
const (
	exitFound   = 1 // something was found, and is still there
	exitNoCheck = 2 // the lake could not be checked
)

// fsckOptions are the flags of fsck.
type fsckOptions struct {
	url, catalog, lake, format, dataPath      string
	repair, dryRun, files, drop, noCheckpoint bool
	workers, most                             int
	access                                    *config.Flags
}

func (a *app) fsckCommand() *cobra.Command {
	var o fsckOptions
	cmd := &cobra.Command{
		Use:   "fsck",
		Short: "Check the invariants of lakes, and repair what is broken",
		Long: `Check the invariants of every lake of a catalog, or of one (--lake, the metadata schema), and repair what is broken.

Everything is read in one transaction, over the protocol that clients use, from a running server or from a PostgreSQL that keeps the
catalog. With --files the lake's files are looked at too, from this machine: that they are there, their sizes, footers, row counts and
the positions of deletes. docs/fsck.md lists what is checked.

--dry-run shows the repairs; --repair makes them, each in one transaction, with a row in eider.repairs. Before the first one an Eider
server keeps a copy of its store in the folder checkpoints of its data folder. PostgreSQL keeps none: there --repair wants
--no-checkpoint, and a backup.

Exit codes: 0 nothing is wrong, or it was repaired; 1 something is; 2 wrong use, or the lake could not be checked.`,
		Args: cmdline.Exactly(0, "no arguments"),
	}
	f := cmd.Flags()
	f.StringVar(&o.url, "server", "", "connection string of the server (EIDER_SERVER), default "+defaultServer)
	f.StringVar(&o.catalog, "catalog", "lake", "catalog")
	f.StringVar(&o.lake, "lake", "", "metadata schema of one lake; all lakes of the catalog without it")
	f.StringVar(&o.format, "format", "text", "form of the report: text or json")
	f.BoolVar(&o.repair, "repair", false, "make the repairs")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the repairs and make none")
	f.BoolVar(&o.files, "files", false, "look at the lake's files as well")
	f.BoolVar(&o.drop, "drop-missing-files", false, "with --files: repair live data files that do not exist by a new snapshot in which they have ended")
	f.BoolVar(&o.noCheckpoint, "no-checkpoint", false, "repair without a copy of the store from before: there is a backup")
	f.StringVar(&o.dataPath, "data-path", "", "data path of the lake, when it is not the one in the catalog")
	f.IntVar(&o.workers, "readers", fsck.DefaultWorkers, "files read at a time")
	f.IntVar(&o.most, "max-findings", fsck.DefaultMaxPerCode, "findings of one code that are shown; all are counted")
	o.access = config.AddFlags(f, "lake-paths", "s3-endpoint", "s3-region", "s3-path-style", "s3-access-key", "s3-secret-file")
	f.Lookup("lake-paths").Usage = "More folders that files are read in, besides the lake's data path: /srv/lake, s3://bucket/lake, or local."
	cmd.RunE = func(c *cobra.Command, _ []string) error {
		if o.format != "text" && o.format != "json" {
			return cmdline.Usagef("unknown format %q: text or json", o.format)
		}
		if o.drop && !o.files {
			return cmdline.Usagef("--drop-missing-files needs --files")
		}
		err := a.fsck(c.Context(), &o)
		var exit exitError
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return exitError{exitNoCheck, err}
	}
	return cmd
}

// fsck checks the lakes one after the other, and reports on all.
func (a *app) fsck(ctx context.Context, o *fsckOptions) error {
	conn, err := a.connectCatalog(ctx, o.url, o.catalog)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	pg := conn.PgConn()
	lakes, err := lakesOf(ctx, pg, o)
	if err != nil {
		return err
	}
	var reports []*fsck.Report
	clean := true
	for _, name := range lakes {
		rep, err := a.fsckLake(ctx, pg, o, name)
		if errors.Is(err, pgrepair.ErrNoCheckpoint) {
			return fmt.Errorf("lake %s: %w; nothing was changed. With --no-checkpoint it is repaired all the same: have a backup", name, err)
		}
		if err != nil {
			return fmt.Errorf("lake %s: %w", name, plain(err))
		}
		clean = clean && rep.Clean()
		if o.format == "text" {
			writeReport(a.out, o.catalog, rep)
		}
		reports = append(reports, rep)
	}
	if o.format == "json" {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]any{"catalog": o.catalog, "clean": clean, "lakes": reports}); err != nil {
			return err
		}
	}
	if !clean {
		return exitError{code: exitFound}
	}
	return nil
}

func lakesOf(ctx context.Context, pg *pgconn.PgConn, o *fsckOptions) ([]string, error) {
	view, err := pgsource.Open(ctx, pg)
	if err != nil {
		return nil, plain(err)
	}
	lakes := view.Lakes()
	if err := view.Close(ctx); err != nil {
		return nil, plain(err)
	}
	switch {
	case o.lake != "" && !slices.Contains(lakes, o.lake):
		return nil, fmt.Errorf("catalog %s has no lake %s; it has: %s", o.catalog, o.lake, strings.Join(lakes, ", "))
	case o.lake != "":
		return []string{o.lake}, nil
	case len(lakes) == 0:
		return nil, fmt.Errorf("catalog %s has no lake", o.catalog)
	}
	return lakes, nil
}

func (a *app) fsckLake(ctx context.Context, pg *pgconn.PgConn, o *fsckOptions, name string) (*fsck.Report, error) {
	read := func(ctx context.Context, fn func(lake.Source) error) (err error) {
		view, err := pgsource.Open(ctx, pg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, view.Close(context.WithoutCancel(ctx))) }()
		return fn(view.Lake(name))
	}
	fo := fsck.Options{Lake: name, Now: time.Now().UTC(), MaxPerCode: o.most, DataPath: o.dataPath, DropMissing: o.drop}
	if o.files {
		verifier, err := a.lakeFiles(ctx, o, read)
		if err != nil {
			return nil, err
		}
		fo.Files = &fsck.Files{Verifier: verifier, Workers: o.workers}
	}
	if !o.repair || o.dryRun {
		return fsck.Run(ctx, read, nil, fo)
	}
	log := slog.New(slog.NewTextHandler(a.err, nil))
	return fsck.Run(ctx, read, pgrepair.New(pg, pgrepair.Options{Lake: name, NoCheckpoint: o.noCheckpoint, Logger: log}), fo)
}

// lakeFiles reaches the files below the lake's data path, below the folders of tables that
// lie elsewhere, and below --lake-paths.
func (a *app) lakeFiles(ctx context.Context, o *fsckOptions, read fsck.Reader) (*hold.Verifier, error) {
	l, err := config.Load(o.access, a.getenv)
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	if l.Sources["lake-paths"] != config.FromDefault {
		for _, p := range l.LakePaths {
			folders[p] = true
		}
	}
	err = read(ctx, func(src lake.Source) error {
		r, err := lake.NewReader(ctx, src)
		if err != nil {
			return err
		}
		note := func(p string) {
			if place, err := paths.Folder(p); err == nil && (place.Kind == paths.Disk || place.Kind == paths.S3) {
				folders[strings.TrimSuffix(place.String(), "/")+"/"] = true
			}
		}
		if o.dataPath != "" {
			note(o.dataPath)
		}
		err = r.Each(ctx, "ducklake_metadata", "key value scope", func(r *lake.Row) error {
			if r.Text(0) == "data_path" && r.Text(2) == "" && o.dataPath == "" {
				note(r.Text(1))
			}
			return nil
		})
		for _, relation := range []string{"ducklake_schema", "ducklake_table"} {
			err = errors.Join(err, r.Each(ctx, relation, "path path_is_relative", func(r *lake.Row) error {
				if r.Has(0) && r.Has(1) && !r.Bool(1) {
					note(r.Text(0))
				}
				return nil
			}))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, len(folders))
	for p := range folders {
		list = append(list, p)
	}
	slices.Sort(list)
	set, err := node.LakeFiles(&l.Options, func(k string) string { v, _ := a.getenv(k); return v }, list...)
	if err != nil {
		return nil, err
	}
	return hold.New(hold.Options{Files: files.Store(set), CacheEntries: -1}), nil
}

// writeReport is the report for people.
func writeReport(w io.Writer, catalog string, r *fsck.Report) {
	n := r.Counts
	fmt.Fprintf(w, "catalog %s, lake %s, format %s, newest snapshot %d\n", catalog, r.Lake, r.Version, r.Head)
	fmt.Fprintf(w, "read: %d snapshots, %d tables, %d data files, %d delete files, %d rows of file statistics, %d inlined rows, %d inlined deletes, %d scheduled files",
		n.Snapshots, n.Tables, n.DataFiles, n.DeleteFiles, n.StatisticsRows, n.InlinedRows, n.InlinedDeletes, n.Scheduled)
	if n.FilesRead > 0 {
		fmt.Fprintf(w, "; %d files", n.FilesRead)
	}
	fmt.Fprintln(w)
	shown := map[fsck.Code]int64{}
	for _, f := range r.Findings {
		shown[f.Code]++
		of := ""
		if f.Table != "" {
			of = " of " + f.Table
		}
		more := ""
		if f.Repairable {
			more = " [repair]"
		}
		fmt.Fprintf(w, "%-7s %s: %s%s: %s%s\n", f.Severity, f.Code, f.Object, of, f.Message, more)
		for _, p := range f.Files {
			fmt.Fprintf(w, "        %s\n", p)
		}
	}
	for _, i := range fsck.Codes() {
		if more := r.Totals[i.Code] - shown[i.Code]; more > 0 {
			fmt.Fprintf(w, "%-7s %s: and %d more\n", i.Severity, i.Code, more)
		}
	}
	for i := range r.Repairs {
		p := &r.Repairs[i]
		fmt.Fprintf(w, "repair  %s: %s: %s\n", p.Code, p.Outcome, p.Text)
		if p.Error != "" {
			fmt.Fprintf(w, "        %s\n", p.Error)
		}
		if p.Outcome == fsck.Planned {
			for _, s := range p.Statements {
				fmt.Fprintf(w, "        %s;\n", shorten(s))
			}
			if more := p.Changes - len(p.Statements); more > 0 {
				fmt.Fprintf(w, "        and %d more\n", more)
			}
		}
	}
	if r.Checkpoint != "" {
		fmt.Fprintf(w, "the state before is kept in %s\n", r.Checkpoint)
	}
	if r.Errors+r.Warnings+r.Infos == 0 {
		fmt.Fprintln(w, "clean")
		return
	}
	fmt.Fprintf(w, "%d errors, %d warnings, %d remarks\n", r.Errors, r.Warnings, r.Infos)
}

// shorten cuts what is too long for a line. The JSON form has everything.
func shorten(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
