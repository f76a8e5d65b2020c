package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/worker/duck"
	"github.com/eiderdb/eider/worker/restore"
)

// lakeFlags say which lake a command works on, and how its DuckDB is opened.
type lakeFlags struct {
	server, catalog string
	address         *pgx.ConnConfig // what server says
	lake            duck.Lake
	duck            duck.Options
	initFile        string
	format          string
}

func (f *lakeFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server, "server", "", "connection string of the server (EIDER_SERVER), default "+defaultServer)
	fs.StringVar(&f.catalog, "catalog", "lake", "catalog, the database's name")
	fs.StringVar(&f.lake.Schema, "lake", "", "metadata schema of the lake, default public")
	fs.StringVar(&f.lake.DataPath, "data-path", "", "where the lake's files are, if not where the catalog says")
	fs.StringVar(&f.duck.ExtensionDir, "extension-dir", "", "folder with DuckDB's extensions (EIDER_EXTENSION_DIR)")
	fs.StringSliceVar(&f.duck.Extensions, "extension", nil, "further extensions to load, such as httpfs")
	fs.StringVar(&f.initFile, "init-file", "", "file of SQL statements to run in DuckDB first")
	fs.IntVar(&f.duck.Threads, "threads", 0, "DuckDB's threads, default all CPUs")
	fs.StringVar(&f.duck.MemoryLimit, "memory-limit", "", "DuckDB's memory, such as 4GB")
	fs.StringVar(&f.duck.TempDir, "temp-dir", "", "where DuckDB spills to")
	fs.StringVar(&f.format, "format", "text", "form of the output: text or json")
}

func badFlag(flag string, err error) error { return cmdline.Usagef("--%s: %w", flag, err) }

// finish reads what the flags and the environment say.
func (f *lakeFlags) finish(a *app) error {
	env := func(to *string, name, def string) {
		if *to == "" {
			if v, ok := a.getenv(name); ok {
				*to = v
			} else {
				*to = def
			}
		}
	}
	env(&f.server, "EIDER_SERVER", defaultServer)
	env(&f.duck.ExtensionDir, "EIDER_EXTENSION_DIR", "")
	if f.format != "text" && f.format != "json" {
		return badFlag("format", errors.New("text or json"))
	}
	if f.initFile != "" {
		text, err := os.ReadFile(f.initFile)
		if err != nil {
			return badFlag("init-file", err)
		}
		f.duck.Init = []string{string(text)}
	}
	var err error
	if f.address, err = cmdline.ParseServer(f.server); err != nil {
		return err
	}
	f.lake.Name = "lake"
	f.lake.DSN = withDatabase(f.server, f.catalog)
	return nil
}

// unconnected says what to do where err is that of a connection.
func (f *lakeFlags) unconnected(err error) error {
	if plain := cmdline.Unconnected(err, f.address, ""); plain != err {
		return fmt.Errorf("connect to the catalog: %w", plain)
	}
	return err
}

// open opens DuckDB with the lake attached for reading.
func (f *lakeFlags) open(ctx context.Context, readOnly bool) (*duck.DB, error) {
	db, err := duck.Open(ctx, f.duck)
	if err != nil {
		return nil, err
	}
	l := f.lake
	l.ReadOnly = readOnly
	if err := db.Attach(ctx, l); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (a *app) restoreCommand() *cobra.Command {
	var f lakeFlags
	var o restore.Options
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT|TAG",
		Short: "Make a new snapshot of a lake that is equal to an old one",
		Long: `Make a new snapshot that is equal to an old one: rows with their ids, tables, views, macros, schemas and comments. Nothing is taken from
the lake's history: what was committed since can still be read, and restored, until it expires.

The old version is read with DuckDB, so its files must be there, and what differs is written into new files. A table that differs in more than
rows, and whatever comes back from the dead, gets a new id. The new files of a partitioned table are partitioned as it is.

Options of tables (set_option) are not versioned; a table with a new id has none of its own.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.Usagef("restore takes the id of a snapshot, or a tag")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.finish(a); err != nil {
				return err
			}
			o.Snapshot = args[0]
			return a.restore(c.Context(), &f, o)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringSliceVar(&o.Schemas, "schema", nil, "only what is in these schemas")
	cmd.Flags().StringSliceVar(&o.Tables, "table", nil, "only these tables, NAME or SCHEMA.NAME")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be done")
	cmd.Flags().StringVar(&o.Author, "author", "", "author of the new snapshot")
	return cmd
}

// restoreLine is the outcome in JSON.
type restoreLine struct {
	Snapshot int64    `json:"snapshot"`
	New      int64    `json:"new_snapshot,omitempty"`
	Rows     []string `json:"tables_with_other_rows,omitempty"`
	Dropped  []string `json:"dropped,omitempty"`
	Created  []string `json:"created,omitempty"`
	Files    int      `json:"files"`
	Records  int64    `json:"records"`
	Bytes    int64    `json:"bytes"`
}

func (a *app) restore(ctx context.Context, f *lakeFlags, o restore.Options) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // a signal ends the command: nothing was done then
		defer close(done)
		select {
		case <-ctx.Done():
		case <-a.sig:
			cancel()
		}
	}()
	defer func() { cancel(); <-done }()
	db, err := f.open(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	o.DSN, o.Schema, o.DB, o.Lake, o.DataPath = f.lake.DSN, f.lake.Schema, db, f.lake.Name, f.lake.DataPath
	res, err := restore.Run(ctx, o)
	if err != nil {
		return f.unconnected(err)
	}
	line := restoreLine{Snapshot: res.Snapshot, New: res.New, Files: res.Files, Records: res.Records, Bytes: res.Bytes}
	name := func(to *[]string, kind string, list []restore.Object) {
		for _, x := range list {
			*to = append(*to, kind+x.Schema+"."+x.Name)
		}
	}
	for _, p := range res.Rows {
		line.Rows = append(line.Rows, p.Now.Schema+"."+p.Now.Name)
	}
	name(&line.Dropped, "table ", res.Drop)
	name(&line.Dropped, "view ", res.DropViews)
	name(&line.Dropped, "macro ", res.DropMacros)
	name(&line.Created, "table ", res.Create)
	name(&line.Created, "view ", res.CreateViews)
	name(&line.Created, "macro ", res.CreateMacros)
	if f.format == "json" {
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.out, "%s\n", text)
		return err
	}
	for _, part := range []struct {
		what string
		list []string
	}{{"other rows", line.Rows}, {"ends", line.Dropped}, {"comes back", line.Created}} {
		for _, x := range part.list {
			fmt.Fprintf(a.out, "%s: %s\n", part.what, x)
		}
	}
	switch {
	case o.DryRun:
		fmt.Fprintf(a.out, "nothing is changed: dry run for snapshot %d\n", res.Snapshot)
	case res.New == 0:
		fmt.Fprintf(a.out, "the lake is as in snapshot %d already\n", res.Snapshot)
	default:
		fmt.Fprintf(a.out, "snapshot %d is equal to snapshot %d; %d rows in %d new files\n", res.New, res.Snapshot, res.Records, res.Files)
	}
	return nil
}
