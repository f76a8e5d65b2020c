package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/internal/cmdline"
)

// addManifest gives plan the flag --manifest, with which it writes all files to a file in
// place of planning jobs.
func (g *gcCommand) addManifest(plan *cobra.Command) {
	file := plan.Flags().String("manifest", "", "write every file that cleanup and orphans would take to FILE: .csv, or .json or .jsonl for a JSON object in each line")
	run := plan.RunE
	plan.RunE = func(c *cobra.Command, args []string) error {
		if *file == "" {
			return run(c, args)
		}
		ext := strings.ToLower(filepath.Ext(*file))
		if !slices.Contains([]string{".csv", ".json", ".jsonl"}, ext) {
			return cmdline.Usagef("--manifest %s: the name ends in .csv, .json or .jsonl", *file)
		}
		for _, k := range args {
			if k != string(gc.Cleanup) && k != string(gc.Orphans) {
				return cmdline.Usagef("--manifest is of cleanup and orphans, not of %s", k)
			}
		}
		if len(args) == 0 {
			args = []string{string(gc.Cleanup), string(gc.Orphans)}
		}
		return g.with(func(ctx context.Context, conn *pgx.Conn, kinds []string) error {
			return g.manifest(ctx, conn, kinds, *file, ext == ".csv")
		})(c, args)
	}
}

// manifestLine is a line of a manifest.
type manifestLine struct {
	Lake   string  `json:"lake"`
	Kind   string  `json:"kind"`
	Path   string  `json:"path"`
	Size   *int64  `json:"size"` // bytes; null when it is not known
	Reason *string `json:"reason"`
	Action string  `json:"action"`
}

func (g *gcCommand) manifest(ctx context.Context, conn *pgx.Conn, kinds []string, name string, asCSV bool) (err error) {
	options, err := g.options()
	if err != nil {
		return err
	}
	lakes := []string{g.lake}
	if g.lake == "" {
		list, err := records(ctx, conn, "SELECT DISTINCT lake FROM eider.gc_status() ORDER BY lake")
		if err != nil {
			return err
		}
		lakes = lakes[:0]
		for _, r := range list {
			lakes = append(lakes, r.text("lake"))
		}
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	write, end := lineWriter(f, asCSV)
	n := 0
	for _, lake := range lakes {
		for _, kind := range kinds {
			rows, err := conn.Query(ctx, "SELECT path, size, reason, action FROM eider.gc_manifest($1, $2, $3)", lake, kind, options)
			if err != nil {
				return plain(err)
			}
			l := manifestLine{Lake: lake, Kind: kind}
			_, err = pgx.ForEachRow(rows, []any{&l.Path, &l.Size, &l.Reason, &l.Action}, func() error {
				n++
				return write(&l)
			})
			if err != nil {
				return plain(err)
			}
		}
	}
	if err := end(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(g.out, "%d files in %s\n", n, name)
	return err
}

// lineWriter writes lines as CSV, after the names of the columns, or as JSON objects.
func lineWriter(to io.Writer, asCSV bool) (write func(*manifestLine) error, end func() error) {
	if !asCSV {
		enc := json.NewEncoder(to)
		enc.SetEscapeHTML(false)
		return func(l *manifestLine) error { return enc.Encode(l) }, func() error { return nil }
	}
	w := csv.NewWriter(to)
	_ = w.Write([]string{"lake", "kind", "path", "size", "reason", "action"}) // end tells
	return func(l *manifestLine) error {
			var size, reason string
			if l.Size != nil {
				size = strconv.FormatInt(*l.Size, 10)
			}
			if l.Reason != nil {
				reason = *l.Reason
			}
			return w.Write([]string{l.Lake, l.Kind, l.Path, size, reason, l.Action})
		}, func() error {
			w.Flush()
			return w.Error()
		}
}
