package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/internal/cmdline"
)

// gcCommand is maintenance by hand: jobs, policies, pauses.
type gcCommand struct {
	maintenance
	set    []string // policies for one run
	dry    bool
	noWait bool
	note   string
	limit  int
	schema string
	table  string
}

func (a *app) gcCommand() *cobra.Command {
	g := &gcCommand{maintenance: maintenance{app: a}}
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Run, plan and watch maintenance jobs, and set their policies",
		Long: `Run, plan and watch maintenance jobs, and set their policies. The server runs the jobs, this command asks it to.

    eider gc policy set maintenance on
    eider gc policy set retain-age 30d

turns maintenance on for all lakes of the catalog; eider gc status shows what it does, eider gc plan what it would do now. A lake is
named by its metadata schema (--lake; public, unless the client says METADATA_SCHEMA).

Kinds of jobs, in the order of a round: expire (snapshots), trim (metadata that nothing needs), cleanup (files whose scheduled time
has passed), orphans (files that nothing names), fsck (checks). What needs DuckDB - flushes, merges, rewrites - is done by "eider maintain", whose
runs are jobs of the kind maintain here.

Exit codes: 0 well done, 1 the command or a job that it waited for has failed or did not finish, 2 wrong use.`,
		Args: cmdline.Exactly(0, "a command: run, plan, status, jobs, pause, resume, cancel, policy or quarantine"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	g.flags(cmd, "", "metadata schema of one lake; all lakes of the catalog without it")
	run := &cobra.Command{
		Use: "run [KIND...]", Short: "Run jobs now, whatever the windows: those of the kinds, or a whole round",
		Args: kinds, RunE: g.with(g.run),
	}
	run.Flags().BoolVar(&g.dry, "dry-run", false, "only say what would be done")
	run.Flags().BoolVar(&g.noWait, "no-wait", false, "do not wait for the jobs' end")
	plan := &cobra.Command{
		Use: "plan [KIND...]", Short: "Say what jobs would do now", Args: kinds,
		RunE: g.with(func(ctx context.Context, conn *pgx.Conn, args []string) error {
			g.dry = true
			return g.run(ctx, conn, args)
		}),
	}
	for _, c := range []*cobra.Command{run, plan} {
		c.Flags().StringArrayVar(&g.set, "set", nil, "a policy for this run, as name=value; may be repeated")
	}
	g.addManifest(plan)
	jobs := &cobra.Command{Use: "jobs", Short: "List the jobs, the newest first", Args: cmdline.Exactly(0, "no arguments"), RunE: g.with(g.jobs)}
	jobs.Flags().IntVar(&g.limit, "limit", 20, "jobs to list")
	pause := &cobra.Command{
		Use: "pause [KIND]", Short: "Hold up the jobs of a kind, or all, until resume; a running one is stopped", Args: oneKind, RunE: g.with(g.pause),
	}
	pause.Flags().StringVar(&g.note, "note", "", "why, for others to read")
	cmd.AddCommand(run, plan,
		&cobra.Command{Use: "status", Short: "Show what runs, what is due and what is wrong", Args: cmdline.Exactly(0, "no arguments"), RunE: g.with(g.status)},
		jobs, pause,
		&cobra.Command{Use: "resume [KIND]", Short: "End a pause", Args: oneKind, RunE: g.with(g.resume)},
		&cobra.Command{Use: "cancel JOB", Short: "End a job that waits or runs", Args: cmdline.Exactly(1, "the id of a job"), RunE: g.with(g.cancel)},
		g.policyCommand(), g.quarantineCommand(),
	)
	return cmd
}

// kinds takes names of kinds.
func kinds(_ *cobra.Command, args []string) error {
	for _, a := range args {
		k, err := gc.ParseKind(a)
		if err != nil {
			return cmdline.Usage(err)
		}
		if k == gc.Maintain {
			return cmdline.Usagef("%s is no job of the server: \"eider maintain\" does it", k)
		}
	}
	return nil
}

// oneKind takes the name of a kind that can be paused, or none.
func oneKind(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cmdline.Usagef("%s takes one kind of job, or none for all", c.CommandPath())
	}
	for _, a := range args {
		if _, err := gc.ParseKind(a); err != nil {
			return cmdline.Usage(err)
		}
	}
	return nil
}

// options are those of gc_run and gc_plan.
func (g *gcCommand) options() (string, error) {
	o := map[string]any{"wait": false}
	if g.dry {
		o["dry-run"] = true
	}
	for _, s := range g.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return "", cmdline.Usagef("--set %s: write name=value", s)
		}
		if err := gc.Check(gc.Setting{Name: name, Value: value}); err != nil {
			return "", cmdline.Usage(err)
		}
		o[name] = value
	}
	b, err := json.Marshal(o)
	return string(b), err
}

// pollEvery is how often the end of a job is asked for.
const pollEvery = 200 * time.Millisecond

func (g *gcCommand) run(ctx context.Context, conn *pgx.Conn, args []string) error {
	options, err := g.options()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"all"}
	}
	var list []record
	for _, kind := range args {
		some, err := records(ctx, conn, "SELECT * FROM eider.gc_run($1, $2, $3)", g.lake, kind, options)
		if err != nil {
			return err
		}
		list = append(list, some...)
	}
	if len(list) == 0 && g.format == "text" {
		_, err := fmt.Fprintf(g.out, "catalog %s has no lake\n", g.catalog)
		return err
	}
	failed := 0
	for i := range list {
		// The server is asked again and again, so that no statement of ours holds a view open
		// that the job would have to spare.
		for !g.noWait && list[i]["ended"] == nil {
			if err := pause(ctx, pollEvery); err != nil {
				return err
			}
			now, err := records(ctx, conn, "SELECT * FROM eider.gc_job($1)", list[i]["id"])
			if err != nil {
				return err
			}
			list[i] = now[0]
		}
		if s := list[i]["state"]; !g.noWait && s != "done" && s != "skipped" {
			failed++
		}
	}
	if err := g.show(list, "id", "lake", "kind", "state", "dry_run", "counts", "bytes", "deferred", "error"); err != nil {
		return err
	}
	if g.format == "text" {
		if err := g.details(list); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d jobs were not done", failed, len(list))
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// details prints the notes of jobs and, of plans, what would go.
func (g *gcCommand) details(list []record) error {
	for _, r := range list {
		var notes []string
		if raw, ok := r["notes"].(json.RawMessage); ok {
			_ = json.Unmarshal(raw, &notes) // the server wrote it; if not, there are none
		}
		var plan struct {
			Items []gc.Item `json:"items"`
			Cut   bool      `json:"cut"`
		}
		if raw, ok := r["plan"].(json.RawMessage); ok && g.dry {
			_ = json.Unmarshal(raw, &plan)
		}
		if len(notes)+len(plan.Items) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(g.out, "\n%s of %s:\n", r.text("kind"), r.text("lake")); err != nil {
			return err
		}
		for _, n := range notes {
			fmt.Fprintf(g.out, "  note: %s\n", n)
		}
		for _, i := range plan.Items {
			line := "  " + i.What
			if i.ID != 0 || i.Path == "" {
				line += " " + strconv.FormatInt(i.ID, 10)
			}
			if i.Path != "" {
				line += " " + i.Path
			}
			if i.Bytes > 0 {
				line += fmt.Sprintf(", %d bytes", i.Bytes)
			}
			if i.Reason != "" {
				line += ": " + i.Reason
			}
			fmt.Fprintln(g.out, line)
		}
		if plan.Cut {
			fmt.Fprintln(g.out, "  and more")
		}
	}
	return nil
}

func (g *gcCommand) status(ctx context.Context, conn *pgx.Conn, _ []string) error {
	list, err := records(ctx, conn, "SELECT * FROM eider.gc_status($1)", g.lake)
	if err != nil {
		return err
	}
	return g.show(list, "lake", "kind", "mode", "state", "job", "last_done", "next_due", "why", "problem")
}

func (g *gcCommand) jobs(ctx context.Context, conn *pgx.Conn, _ []string) error {
	list, err := records(ctx, conn, "SELECT * FROM eider.jobs WHERE $1 = '' OR lake = $1 ORDER BY id DESC LIMIT $2", g.lake, g.limit)
	if err != nil {
		return err
	}
	return g.show(list, "id", "lake", "kind", "state", "dry_run", "asked_by", "started", "ended", "counts", "bytes", "deferred", "error")
}

// kind is the argument of pause and resume: nil for all.
func kind(args []string) *string {
	if len(args) == 0 {
		return nil
	}
	return &args[0]
}

func (g *gcCommand) pause(ctx context.Context, conn *pgx.Conn, args []string) error {
	_, err := records(ctx, conn, "SELECT * FROM eider.gc_pause($1::text, $2)", kind(args), g.note)
	if err != nil {
		return err
	}
	list, err := records(ctx, conn, "SELECT coalesce(kind, 'all') AS kind, since, paused_by, note FROM eider.pauses ORDER BY since")
	if err != nil {
		return err
	}
	return g.show(list, "kind", "since", "paused_by", "note")
}

func (g *gcCommand) resume(ctx context.Context, conn *pgx.Conn, args []string) error {
	if _, err := records(ctx, conn, "SELECT * FROM eider.gc_resume($1::text)", kind(args)); err != nil {
		return err
	}
	return g.status(ctx, conn, nil)
}

func (g *gcCommand) cancel(ctx context.Context, conn *pgx.Conn, args []string) error {
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return cmdline.Usagef("the id of a job is a whole number")
	}
	list, err := records(ctx, conn, "SELECT * FROM eider.gc_cancel($1)", id)
	if err != nil {
		return err
	}
	return g.show(list, "id", "lake", "kind", "state")
}

func (g *gcCommand) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "List, set and reset policies", Args: cmdline.Exactly(0, "a command: list, set or reset"),
		Long: "List, set and reset policies, for the catalog, a lake (--lake), one of its schemas (--schema) or tables (--schema and --table).\n" +
			"What is set for the narrower one counts, policy by policy.\n\n" + policyTable(),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cmd.PersistentFlags().StringVar(&g.schema, "schema", "", "schema of the lake")
	cmd.PersistentFlags().StringVar(&g.table, "table", "", "table of the schema")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List what is set; with --lake, what counts for a lake, or its --schema and --table", Args: cmdline.Exactly(0, "no arguments"), RunE: g.with(g.listPolicies),
		},
		&cobra.Command{
			Use: "set NAME VALUE", Short: "Set a policy", Args: cmdline.Exactly(2, "the name of a policy and a value"),
			RunE: func(c *cobra.Command, args []string) error {
				s := gc.Setting{Scope: g.scope(), Name: args[0], Value: args[1]}
				if err := gc.Check(s); err != nil {
					return cmdline.Usage(err)
				}
				return g.with(g.setPolicy)(c, args)
			},
		},
		&cobra.Command{
			Use: "reset NAME", Short: "Remove what is set for a policy", Args: cmdline.Exactly(1, "the name of a policy"), RunE: g.with(g.resetPolicy),
		},
	)
	return cmd
}

// policyTable describes the policies, for people.
func policyTable() string {
	var b strings.Builder
	for _, d := range gc.Defs() {
		def := d.Default
		if def == "" {
			def = "nothing"
		}
		fmt.Fprintf(&b, "%-18s %s (default %s). %s\n", d.Name, d.Value, def, d.Help)
	}
	return b.String()
}

func (g *gcCommand) scope() gc.Scope { return gc.Scope{Lake: g.lake, Schema: g.schema, Table: g.table} }

func (g *gcCommand) listPolicies(ctx context.Context, conn *pgx.Conn, _ []string) error {
	if g.lake != "" {
		list, err := records(ctx, conn, "SELECT * FROM eider.gc_policies($1, $2, $3)", g.lake, g.schema, g.table)
		if err != nil {
			return err
		}
		return g.show(list, "name", "value", "set_for")
	}
	list, err := records(ctx, conn, "SELECT lake, schema_name, table_name, name, value FROM eider.policies ORDER BY name, lake NULLS FIRST, schema_name NULLS FIRST, table_name NULLS FIRST")
	if err != nil {
		return err
	}
	for _, r := range list {
		s := gc.Setting{Scope: gc.Scope{Lake: r.text("lake"), Schema: r.text("schema_name"), Table: r.text("table_name")}, Name: r.text("name"), Value: r.text("value")}
		r["set_for"] = s.String()
		if err := gc.Check(s); err != nil {
			r["problem"] = err.Error()
		}
	}
	return g.show(list, "name", "value", "set_for", "problem")
}

func (g *gcCommand) setPolicy(ctx context.Context, conn *pgx.Conn, args []string) error {
	_, err := records(ctx, conn, "SELECT * FROM eider.gc_policy_set($1, $2, $3, $4, $5)", args[0], args[1], g.lake, g.schema, g.table)
	if err != nil {
		return err
	}
	return g.listSet(ctx, conn)
}

func (g *gcCommand) resetPolicy(ctx context.Context, conn *pgx.Conn, args []string) error {
	list, err := records(ctx, conn, "SELECT * FROM eider.gc_policy_reset($1, $2, $3, $4)", args[0], g.lake, g.schema, g.table)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("policy %s is not set for %s", args[0], g.scope())
	}
	return g.listSet(ctx, conn)
}

// listSet lists all that is set, after a change.
func (g *gcCommand) listSet(ctx context.Context, conn *pgx.Conn) error {
	g.lake, g.schema, g.table = "", "", ""
	return g.listPolicies(ctx, conn, nil)
}
