package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/internal/cmdline"
)

// The tables of a catalog that the checks use, as the server makes them.
const (
	createSettings = `CREATE SCHEMA IF NOT EXISTS eider; CREATE TABLE IF NOT EXISTS eider.settings (lake text, table_id bigint, "check" text, mode text)`
	hasTable       = `SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'eider' AND tablename = $1`
)

// checkScope says for what a mode is set.
type checkScope struct {
	url, catalog, lake string
	table              tableID
}

// String is the scope in words.
func (s *checkScope) String() string {
	scope := "the catalog"
	if s.lake != "" {
		scope = "lake " + s.lake
	}
	if s.table != 0 {
		scope += fmt.Sprintf(", table %d", s.table)
	}
	return scope
}

// tableID is a flag for the id of a table of a lake; 0 when it is not given. DuckLake counts
// from 1, so that a setting for another number would never count.
type tableID int64

func (t *tableID) String() string { return strconv.FormatInt(int64(*t), 10) }

// Set takes the flag's text.
func (t *tableID) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return errors.New("a table_id is a whole number from 1 on")
	}
	*t = tableID(n)
	return nil
}

// Type names the value in the usage text.
func (*tableID) Type() string { return "int" }

func (a *app) checksCommand() *cobra.Command {
	var s checkScope
	cmd := &cobra.Command{
		Use:   "checks",
		Short: "Show and set what happens to commits that violate a check, and list what was found",
		Long: `Show and set what happens to commits that violate a check, and list what was found.

A commit to a lake is checked before it lands. A check is set to enforce (refuse the commit), warn (let it land and record a
finding) or off, for a catalog, one of its lakes (--lake, the metadata schema) or a table of a lake (--table, its table_id). What is
set for a table goes before what is set for a lake and that before the catalog's; what is set for one check goes before what is set for
all (*). What nothing is set for is as the server's --checks says.

The settings are the table eider.settings of the catalog, the findings its table eider.findings.`,
		Args: cmdline.Exactly(0, "a command: list, set, reset or findings"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.PersistentFlags().StringVar(&s.url, "server", "", "connection string of the server (EIDER_SERVER), default "+defaultServer)
	cmd.PersistentFlags().StringVar(&s.catalog, "catalog", "lake", "catalog")
	cmd.PersistentFlags().StringVar(&s.lake, "lake", "", "metadata schema of one lake; all lakes of the catalog without it")
	cmd.PersistentFlags().Var(&s.table, "table", "table_id of one table of the lake")
	with := func(do func(context.Context, *pgx.Conn, []string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, args []string) error {
			conn, err := a.connectCatalog(c.Context(), s.url, s.catalog)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close(c.Context()) }()
			return do(c.Context(), conn, args)
		}
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the checks and the modes that are set", Args: cmdline.Exactly(0, "no arguments"),
			RunE: with(func(ctx context.Context, conn *pgx.Conn, _ []string) error { return a.listChecks(ctx, conn) }),
		},
		&cobra.Command{
			Use: "set CHECK MODE", Short: "Set the mode of a check, or of all with *", Args: cmdline.Exactly(2, "a check, or *, and a mode: enforce, warn or off"),
			RunE: func(c *cobra.Command, args []string) error {
				if code := conflict.Code(args[0]); code != conflict.Any && !conflict.Known(code) {
					return cmdline.Usagef("unknown check %q; \"eider checks list\" lists them", args[0])
				}
				mode, ok := conflict.ParseMode(args[1])
				if !ok {
					return cmdline.Usagef("unknown mode %q: enforce, warn or off", args[1])
				}
				return with(func(ctx context.Context, conn *pgx.Conn, _ []string) error {
					return a.setCheck(ctx, conn, s, args[0], mode.String())
				})(c, args)
			},
		},
		&cobra.Command{
			Use: "reset CHECK", Short: "Remove what was set for a check, or for * itself", Args: cmdline.Exactly(1, "a check, or *"),
			RunE: with(func(ctx context.Context, conn *pgx.Conn, args []string) error {
				return a.setCheck(ctx, conn, s, args[0], "")
			}),
		},
		&cobra.Command{
			Use: "findings", Short: "List what commits were let pass with", Args: cmdline.Exactly(0, "no arguments"),
			RunE: with(func(ctx context.Context, conn *pgx.Conn, _ []string) error { return a.listFindings(ctx, conn) }),
		},
	)
	return cmd
}

// connectCatalog connects to a catalog of the server at url.
func (a *app) connectCatalog(ctx context.Context, url, catalog string) (*pgx.Conn, error) {
	c, err := a.server(url)
	if err != nil {
		return nil, err
	}
	c.Database = catalog
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("connect to catalog %s: %w", catalog, cmdline.Unconnected(err, c, ""))
	}
	return conn, nil
}

func (a *app) has(ctx context.Context, conn *pgx.Conn, table string) (bool, error) {
	var n int
	err := conn.QueryRow(ctx, hasTable, table).Scan(&n)
	return n > 0, plain(err)
}

// checkSetting is a row of the settings; NULL stands for all.
type checkSetting struct {
	Lake  *string
	Table *int64
	Check *string
	Mode  *string
}

func checkSettings(ctx context.Context, conn *pgx.Conn) ([]checkSetting, error) {
	rows, err := conn.Query(ctx, `SELECT lake, table_id, "check", mode FROM eider.settings ORDER BY lake, table_id, "check"`)
	if err != nil {
		return nil, plain(err)
	}
	set, err := pgx.CollectRows(rows, pgx.RowToStructByPos[checkSetting])
	return set, plain(err)
}

// inForce says what counts for a check in a scope, by all that is set.
func inForce(set []checkSetting, s checkScope, check conflict.Code) string {
	const unset = conflict.Off + 1 // the server's --checks, which it tells nobody
	m := conflict.Modes{Default: unset}
	var own []conflict.Setting
	for _, r := range set {
		x := conflict.Setting{Check: conflict.Any}
		if r.Table != nil {
			x.Table = *r.Table
		}
		if r.Check != nil && *r.Check != "" {
			x.Check = conflict.Code(*r.Check)
		}
		if r.Mode != nil {
			x.Mode, _ = conflict.ParseMode(*r.Mode)
		}
		switch {
		case r.Lake == nil || *r.Lake == "":
			m.Settings = append(m.Settings, x)
		case *r.Lake == s.lake:
			own = append(own, x)
		}
	}
	m.Settings = append(m.Settings, own...) // those of a lake go before those of the catalog
	of := func(code conflict.Code) string {
		if mode := m.Of(code, int64(s.table)); mode != unset {
			return mode.String()
		}
		return "as the server's --checks says"
	}
	all := of(check)
	out := fmt.Sprintf("%s for %s: %s", check, s.String(), all)
	if check != conflict.Any {
		return out
	}
	for _, c := range conflict.Checks() {
		if mode := of(c.Code); mode != all {
			out += fmt.Sprintf("; %s: %s", c.Code, mode)
		}
	}
	return out
}

func (a *app) listChecks(ctx context.Context, conn *pgx.Conn) error {
	var set []checkSetting
	ok, err := a.has(ctx, conn, "settings")
	if err != nil {
		return err
	}
	if ok {
		if set, err = checkSettings(ctx, conn); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHECK\tREFUSES")
	for _, c := range conflict.Checks() {
		fmt.Fprintf(w, "%s\t%s\n", c.Code, c.What)
	}
	fmt.Fprintln(w, "\nSET FOR\tCHECK\tMODE")
	for _, s := range set {
		var scope checkScope
		if s.Lake != nil {
			scope.lake = *s.Lake
		}
		if s.Table != nil {
			scope.table = tableID(*s.Table)
		}
		check, mode := "*", ""
		if s.Check != nil {
			check = *s.Check
		}
		if s.Mode != nil {
			mode = *s.Mode
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", scope.String(), check, mode)
	}
	if len(set) == 0 {
		fmt.Fprintln(w, "(nothing)\t\t")
	}
	return w.Flush()
}

// setCheck replaces the setting of a check for a scope; mode "" removes it. It prints what
// counts there from the next commit on.
func (a *app) setCheck(ctx context.Context, conn *pgx.Conn, s checkScope, check, mode string) (err error) {
	ok, err := a.has(ctx, conn, "settings")
	if err != nil {
		return err
	}
	if !ok {
		if mode == "" {
			return errors.New("nothing is set")
		}
		if _, err := conn.Exec(ctx, createSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return plain(err)
		}
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return plain(err)
	}
	defer func() {
		if rerr := tx.Rollback(ctx); err == nil && rerr != nil && !errors.Is(rerr, pgx.ErrTxClosed) {
			err = plain(rerr)
		}
	}()
	var lake *string
	var table *int64
	where, args := `"check" = $1`, []any{check}
	if s.lake != "" {
		lake, args = &s.lake, append(args, s.lake)
		where += fmt.Sprintf(" AND lake = $%d", len(args))
	} else {
		where += " AND lake IS NULL"
	}
	if s.table != 0 {
		id := int64(s.table)
		table, args = &id, append(args, id)
		where += fmt.Sprintf(" AND table_id = $%d", len(args))
	} else {
		where += " AND table_id IS NULL"
	}
	tag, err := tx.Exec(ctx, "DELETE FROM eider.settings WHERE "+where, args...)
	if err != nil {
		return plain(err)
	}
	if mode == "" && tag.RowsAffected() == 0 {
		return fmt.Errorf("nothing is set for check %s there", check)
	}
	if mode != "" {
		if _, err := tx.Exec(ctx, `INSERT INTO eider.settings (lake, table_id, "check", mode) VALUES ($1, $2, $3, $4)`, lake, table, check, mode); err != nil {
			return plain(err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return plain(err)
	}
	set, err := checkSettings(ctx, conn)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, inForce(set, s, conflict.Code(check)))
	return err
}

func (a *app) listFindings(ctx context.Context, conn *pgx.Conn) error {
	ok, err := a.has(ctx, conn, "findings")
	if err != nil || !ok {
		return err
	}
	rows, err := conn.Query(ctx, `SELECT found_at, lake, coalesce(snapshot_id::text, '-'), coalesce(table_id::text, '-'), "check", text FROM eider.findings ORDER BY found_at`)
	if err != nil {
		return plain(err)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FOUND\tLAKE\tSNAPSHOT\tTABLE\tCHECK\tTEXT")
	var at time.Time
	var lake, snapshot, table, check, text string
	_, err = pgx.ForEachRow(rows, []any{&at, &lake, &snapshot, &table, &check, &text}, func() error {
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", at.UTC().Format(time.RFC3339), lake, snapshot, table, check, strings.ReplaceAll(text, "\n", " "))
		return err
	})
	if err != nil {
		return plain(err)
	}
	return w.Flush()
}
