package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
)

// quarantineCommand is what was moved aside, and its way back.
type quarantineCommand struct {
	*gcCommand
	job  int64
	path string
	all  bool
}

func (g *gcCommand) quarantineCommand() *cobra.Command {
	q := &quarantineCommand{gcCommand: g}
	cmd := &cobra.Command{
		Use: "quarantine", Short: "List the files in quarantine, and bring them back", Args: cmdline.Exactly(0, "a command: list or restore"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the files in quarantine", Args: cmdline.Exactly(0, "no arguments"), RunE: g.with(q.list),
	}
	list.Flags().StringVar(&q.path, "path", "", "old path of a file, or of a folder above it")
	restore := &cobra.Command{
		Use: "restore", Short: "Bring files back to where they were",
		Long: `Bring files back to where they were: those of a job (--job), of a path or folder (--path), or all of them (--all). Nothing is overwritten.
A file that nothing names is an orphan afterwards, as young as one that was just written. Exit code 1 if one did not come back.`,
		Args: func(c *cobra.Command, args []string) error {
			if err := cmdline.Exactly(0, "no arguments")(c, args); err != nil {
				return err
			}
			if (q.job != 0 || q.path != "") == q.all {
				return cmdline.Usagef("%s: name what comes back: --job, --path, or --all", c.CommandPath())
			}
			return nil
		},
		RunE: g.with(q.restore),
	}
	restore.Flags().Int64Var(&q.job, "job", 0, "files that the job has moved, by its id")
	restore.Flags().StringVar(&q.path, "path", "", "old path of a file, or of a folder above it")
	restore.Flags().BoolVar(&q.all, "all", false, "all files in quarantine")
	cmd.AddCommand(list, restore)
	return cmd
}

func (q *quarantineCommand) list(ctx context.Context, conn *pgx.Conn, _ []string) error {
	list, err := records(ctx, conn, "SELECT * FROM eider.quarantine_list($1, $2) ORDER BY moved_at, path", q.lake, q.path)
	if err != nil {
		return err
	}
	return q.show(list, "lake", "job", "moved_at", "bytes", "path", "reason")
}

func (q *quarantineCommand) restore(ctx context.Context, conn *pgx.Conn, _ []string) error {
	var job *int64
	if q.job != 0 {
		job = &q.job
	}
	list, err := records(ctx, conn, "SELECT * FROM eider.quarantine_restore($1, $2::bigint, $3)", q.lake, job, q.path)
	if err != nil {
		return err
	}
	if err := q.show(list, "restored", "failed", "bytes"); err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	var notes []string
	if raw, ok := list[0]["notes"].(json.RawMessage); ok {
		_ = json.Unmarshal(raw, &notes) // the server wrote it; if not, there are none
	}
	if q.format == "text" {
		for _, n := range notes {
			fmt.Fprintf(q.out, "  note: %s\n", n)
		}
	}
	if n, _ := list[0]["failed"].(int64); n > 0 {
		return fmt.Errorf("%d files did not come back", n)
	}
	return nil
}
