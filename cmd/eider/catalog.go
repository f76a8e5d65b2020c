package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/cmd/eider/config"
	"github.com/eiderdb/eider/cmd/eider/node"
	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/kv/store"
	"github.com/eiderdb/eider/translate"
	"github.com/eiderdb/eider/translate/pgerr"
)

// defaultServer is where "eider serve" listens unless told otherwise.
const defaultServer = "postgres://eider@127.0.0.1:5434/postgres"

// catalogs is what the catalog commands do, on a running server or on a data folder.
type catalogs interface {
	create(ctx context.Context, name string) error
	drop(ctx context.Context, name string) error
	rename(ctx context.Context, from, to string) error
	list(ctx context.Context) ([]string, error)
	// set gives a setting of a catalog a value; "" takes it back.
	set(ctx context.Context, name, setting, value string) error
	close(ctx context.Context)
}

func (a *app) catalogCommand() *cobra.Command {
	var url, data string
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Create, list, drop and rename catalogs, and change their settings",
		Long: `Create, list, drop and rename catalogs, and change their settings. A catalog is what a client names as dbname; each holds any number of lakes.

The commands talk to the server at --server (EIDER_SERVER), or work on the data folder --data while no server runs on it.`,
		Args: cmdline.Exactly(0, "a command: create, list, drop, rename, set or reset"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.PersistentFlags().StringVar(&url, "server", "", "connection string of the server (EIDER_SERVER), default "+defaultServer)
	cmd.PersistentFlags().StringVar(&data, "data", "", "data folder to work on without a server")

	with := func(do func(context.Context, catalogs, []string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, args []string) error {
			cs, err := a.openCatalogs(c.Context(), url, data)
			if err != nil {
				return err
			}
			defer cs.close(c.Context())
			return do(c.Context(), cs, args)
		}
	}
	say := func(format string, args ...any) error {
		_, err := fmt.Fprintf(a.out, format+"\n", args...)
		return err
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "create NAME", Short: "Create a catalog", Args: cmdline.Exactly(1, "the name of one catalog"),
			RunE: with(func(ctx context.Context, cs catalogs, args []string) error {
				if err := cs.create(ctx, args[0]); err != nil {
					return err
				}
				return say("created catalog %s", args[0])
			}),
		},
		&cobra.Command{
			Use: "list", Short: "List the catalogs", Args: cmdline.Exactly(0, "no arguments"),
			RunE: with(func(ctx context.Context, cs catalogs, _ []string) error {
				names, err := cs.list(ctx)
				if err != nil {
					return err
				}
				for _, name := range names {
					if err := say("%s", name); err != nil {
						return err
					}
				}
				return nil
			}),
		},
		&cobra.Command{
			Use: "drop NAME", Short: "Drop a catalog and everything in it",
			Long: "Drop a catalog and everything in it. The data files of its lakes stay where they are.",
			Args: cmdline.Exactly(1, "the name of one catalog"),
			RunE: with(func(ctx context.Context, cs catalogs, args []string) error {
				if err := cs.drop(ctx, args[0]); err != nil {
					return err
				}
				return say("dropped catalog %s", args[0])
			}),
		},
		&cobra.Command{
			Use: "rename NAME NEW", Short: "Rename a catalog", Args: cmdline.Exactly(2, "a catalog's name and its new name"),
			RunE: with(func(ctx context.Context, cs catalogs, args []string) error {
				if err := cs.rename(ctx, args[0], args[1]); err != nil {
					return err
				}
				return say("renamed catalog %s to %s", args[0], args[1])
			}),
		},
		&cobra.Command{
			Use: "set NAME SETTING VALUE", Short: "Give a catalog's setting a value", Args: cmdline.Exactly(3, "a catalog's name, a setting and its value"),
			Long: `Give a setting of one catalog a value, which goes before the server's.

migrate   what a client may do to the format of the catalog's lakes: allow, any or refuse

SQL does the same: ALTER DATABASE lake SET eider.migrate = 'refuse'; SELECT * FROM eider.options.`,
			RunE: with(func(ctx context.Context, cs catalogs, args []string) error {
				if args[2] == "" {
					return cmdline.Usagef("the value is empty: take a setting back with \"eider catalog reset\"")
				}
				if err := cs.set(ctx, args[0], settingName(args[1]), args[2]); err != nil {
					return err
				}
				return say("set %s of catalog %s to %s", args[1], args[0], args[2])
			}),
		},
		&cobra.Command{
			Use: "reset NAME SETTING", Short: "Take a catalog's setting back", Args: cmdline.Exactly(2, "a catalog's name and a setting"),
			RunE: with(func(ctx context.Context, cs catalogs, args []string) error {
				if err := cs.set(ctx, args[0], settingName(args[1]), ""); err != nil {
					return err
				}
				return say("reset %s of catalog %s", args[1], args[0])
			}),
		},
	)
	return cmd
}

// settingName is the name that SQL has for a setting.
func settingName(s string) string {
	if strings.HasPrefix(s, "eider.") {
		return s
	}
	return "eider." + s
}

// openCatalogs connects to a server or opens a data folder.
func (a *app) openCatalogs(ctx context.Context, url, data string) (catalogs, error) {
	if url != "" && data != "" {
		return nil, cmdline.Usagef("--server and --data exclude each other")
	}
	if data != "" {
		o := config.Default()
		o.Data, o.Catalogs = data, nil
		s, err := node.OpenExisting(ctx, &o, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		return offline{s}, nil
	}
	c, err := a.server(url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, cmdline.Unconnected(err, c, ", or work on its folder with --data")
	}
	return online{conn}, nil
}

// server is the server that --server, EIDER_SERVER or nobody names.
func (a *app) server(url string) (*pgx.ConnConfig, error) {
	if url == "" {
		url, _ = a.getenv("EIDER_SERVER")
	}
	if url == "" {
		url = defaultServer
	}
	return cmdline.ParseServer(url)
}

// online works through a running server.
type online struct{ conn *pgx.Conn }

func (o online) exec(ctx context.Context, sql string) error {
	_, err := o.conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	return plain(err)
}

func (o online) create(ctx context.Context, name string) error {
	return o.exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
}

func (o online) drop(ctx context.Context, name string) error {
	return o.exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize())
}

func (o online) rename(ctx context.Context, from, to string) error {
	return o.exec(ctx, "ALTER DATABASE "+pgx.Identifier{from}.Sanitize()+" RENAME TO "+pgx.Identifier{to}.Sanitize())
}

func (o online) set(ctx context.Context, name, setting, value string) error {
	quoted := pgx.Identifier(strings.Split(setting, ".")).Sanitize()
	if value == "" {
		return o.exec(ctx, "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" RESET "+quoted)
	}
	return o.exec(ctx, "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" SET "+quoted+" = '"+strings.ReplaceAll(value, "'", "''")+"'")
}

func (o online) list(ctx context.Context) ([]string, error) {
	rows, err := o.conn.Query(ctx, "SELECT datname FROM pg_database ORDER BY datname", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, plain(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, plain(err)
}

func (o online) close(ctx context.Context) { o.conn.Close(ctx) }

// plain is what the server said, without the driver's words around it.
func plain(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		if more := e.Detail + e.Hint; more != "" {
			return fmt.Errorf("%s (%s)", e.Message, more)
		}
		return errors.New(e.Message)
	}
	return err
}

// offline works on a data folder that no server uses.
type offline struct{ s *store.Store }

func (o offline) create(ctx context.Context, name string) error {
	return said(o.s.CreateCatalog(ctx, name), name)
}

func (o offline) drop(ctx context.Context, name string) error {
	return said(o.s.DropCatalog(ctx, name), name)
}

func (o offline) rename(ctx context.Context, from, to string) error {
	err := o.s.RenameCatalog(ctx, from, to)
	if errors.Is(err, store.ErrExists) {
		return said(err, to)
	}
	return said(err, from)
}

func (o offline) set(ctx context.Context, name, setting, value string) error {
	c, err := o.s.Catalog(name)
	if err != nil {
		return said(err, name)
	}
	return plainSQL(translate.ChangeSetting(ctx, c, setting, value))
}

// plainSQL is an error that SQL would have given, without its code.
func plainSQL(err error) error {
	if e := pgerr.As(err); e != nil {
		if e.Hint != "" {
			return fmt.Errorf("%s (%s)", e.Message, e.Hint)
		}
		return errors.New(e.Message)
	}
	return err
}

// said words a store's error as a server does.
func said(err error, name string) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return fmt.Errorf("database %q already exists", name)
	case errors.Is(err, store.ErrNoCatalog):
		return fmt.Errorf("database %q does not exist", name)
	}
	return err
}

func (o offline) list(context.Context) ([]string, error) {
	var names []string
	for _, c := range o.s.Catalogs() {
		names = append(names, c.Name)
	}
	return names, nil
}

func (o offline) close(context.Context) { o.s.Close() }
