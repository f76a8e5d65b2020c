package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
)

// snapshotCommand is what people do with snapshots.
type snapshotCommand struct {
	maintenance
	note  string
	move  bool
	tags  bool
	limit int
}

func (a *app) snapshotCommand() *cobra.Command {
	s := &snapshotCommand{maintenance: maintenance{app: a}}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "List snapshots, and protect them by tags",
		Long: `List the snapshots of a lake, and give them names. A snapshot with a tag does not expire, whoever asks for it: the server's jobs, or
ducklake_expire_snapshots of a client.

Exit codes: 0 well done, 1 failed, 2 wrong use.`,
		Args: cmdline.Exactly(0, "a command: tag, untag, restore or list"),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	s.flags(cmd, "public", "metadata schema of the lake")
	tag := &cobra.Command{
		Use: "tag TAG [SNAPSHOT]", Short: "Name a snapshot, the newest one without an id",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return cmdline.Usagef("%s takes a tag and the id of a snapshot", c.CommandPath())
			}
			if len(args) == 2 {
				if n, err := strconv.ParseInt(args[1], 10, 64); err != nil || n < 0 {
					return cmdline.Usagef("the id of a snapshot is a whole number from 0 on")
				}
			}
			return nil
		},
		RunE: s.with(s.tag),
	}
	tag.Flags().StringVar(&s.note, "note", "", "why, for others to read")
	tag.Flags().BoolVar(&s.move, "move", false, "take the tag from the snapshot that has it")
	list := &cobra.Command{Use: "list", Short: "List snapshots, the newest first, with their tags", Args: cmdline.Exactly(0, "no arguments"), RunE: s.with(s.list)}
	list.Flags().BoolVar(&s.tags, "tagged", false, "only those with a tag")
	list.Flags().IntVar(&s.limit, "limit", 20, "snapshots to list")
	cmd.AddCommand(tag, a.restoreCommand(),
		&cobra.Command{Use: "untag TAG", Short: "Remove a tag", Args: cmdline.Exactly(1, "a tag"), RunE: s.with(s.untag)},
		list,
	)
	return cmd
}

var tagColumns = []string{"lake", "tag", "snapshot_id", "created_at", "note"}

func (s *snapshotCommand) tag(ctx context.Context, conn *pgx.Conn, args []string) error {
	var id *int64
	if len(args) == 2 {
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return err
		}
		id = &n
	}
	list, err := records(ctx, conn, "SELECT * FROM eider.snapshot_tag($1, $2, $3::bigint, $4, $5)", s.lake, args[0], id, s.note, s.move)
	if err != nil {
		return err
	}
	return s.show(list, tagColumns...)
}

func (s *snapshotCommand) untag(ctx context.Context, conn *pgx.Conn, args []string) error {
	list, err := records(ctx, conn, "SELECT * FROM eider.snapshot_untag($1, $2)", s.lake, args[0])
	if err != nil {
		return err
	}
	return s.show(list, tagColumns...)
}

func (s *snapshotCommand) list(ctx context.Context, conn *pgx.Conn, _ []string) error {
	var n int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'ducklake_snapshot'", s.lake).Scan(&n); err != nil {
		return plain(err)
	}
	if n == 0 {
		return fmt.Errorf("no such lake: %q in catalog %s", s.lake, s.catalog)
	}
	sql := `SELECT s.snapshot_id, s.snapshot_time, s.schema_version,
		(SELECT string_agg(t.tag, ', ' ORDER BY t.tag) FROM eider.tags t WHERE t.lake = $1 AND t.snapshot_id = s.snapshot_id) AS tags,
		(SELECT c.changes_made FROM LAKE.ducklake_snapshot_changes c WHERE c.snapshot_id = s.snapshot_id) AS changes
		FROM LAKE.ducklake_snapshot s
		WHERE NOT $3 OR s.snapshot_id IN (SELECT t.snapshot_id FROM eider.tags t WHERE t.lake = $1)
		ORDER BY s.snapshot_id DESC LIMIT $2`
	sql = strings.ReplaceAll(sql, "LAKE", pgx.Identifier{s.lake}.Sanitize())
	list, err := records(ctx, conn, sql, s.lake, s.limit, s.tags)
	if err != nil {
		return err
	}
	return s.show(list, "snapshot_id", "snapshot_time", "tags", "changes")
}
