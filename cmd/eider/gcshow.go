package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
)

// maintenance is what the commands about maintenance and snapshots share.
type maintenance struct {
	*app
	url, catalog, lake, format string
}

// flags adds those that every command has.
func (m *maintenance) flags(cmd *cobra.Command, lake, help string) {
	f := cmd.PersistentFlags()
	f.StringVar(&m.url, "server", "", "connection string of the server (EIDER_SERVER), default "+defaultServer)
	f.StringVar(&m.catalog, "catalog", "lake", "catalog")
	f.StringVar(&m.lake, "lake", lake, help)
	f.StringVar(&m.format, "format", "text", "form of the output: text or json")
}

// with connects for a command.
func (m *maintenance) with(do func(ctx context.Context, conn *pgx.Conn, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if m.format != "text" && m.format != "json" {
			return cmdline.Usagef("unknown format %q: text or json", m.format)
		}
		conn, err := m.connectCatalog(c.Context(), m.url, m.catalog)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.WithoutCancel(c.Context())) }()
		return do(c.Context(), conn, args)
	}
}

// record is a row by the names of its columns.
type record map[string]any

// text is a value for people.
func (r record) text(name string) string {
	switch v := r[name].(type) {
	case nil:
		return ""
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05")
	case string:
		return strings.ReplaceAll(v, "\n", " ")
	case json.RawMessage:
		return summary(v)
	default:
		return fmt.Sprint(v)
	}
}

// jsonColumns are texts that hold JSON.
var jsonColumns = []string{"counts", "options", "notes", "plan"}

// summary is an object of counts in words: "3 snapshots, 1 data file".
func summary(raw json.RawMessage) string {
	var counts map[string]json.Number
	if json.Unmarshal(raw, &counts) != nil {
		return string(raw)
	}
	var parts []string
	for what, n := range counts {
		parts = append(parts, n.String()+" "+what)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// records runs a query.
func records(ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]record, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, plain(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToMap)
	if err != nil {
		return nil, plain(err)
	}
	out := make([]record, len(list))
	for i, r := range list {
		for _, c := range jsonColumns {
			if s, ok := r[c].(string); ok && json.Valid([]byte(s)) {
				r[c] = json.RawMessage(s)
			}
		}
		for c, v := range r {
			if t, ok := v.(time.Time); ok {
				r[c] = t.UTC()
			}
		}
		out[i] = r
	}
	return out, nil
}

// show prints rows: all of each as JSON, or the columns as a table.
func (m *maintenance) show(list []record, columns ...string) error {
	if m.format == "json" {
		if list == nil {
			list = []record{}
		}
		enc := json.NewEncoder(m.out)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	w := tabwriter.NewWriter(m.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.ReplaceAll(strings.Join(columns, "\t"), "_", " ")))
	for _, r := range list {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = r.text(c)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, "\t"), "\t"))
	}
	return w.Flush()
}
