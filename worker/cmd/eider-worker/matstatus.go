package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/graph"
	"github.com/eiderdb/eider/materialize/partition"
	"github.com/eiderdb/eider/materialize/run"
	"github.com/eiderdb/eider/materialize/state"
)

func (a *app) matStatusCommand() *cobra.Command {
	f := &projectFlags{}
	limit := 20
	cmd := &cobra.Command{
		Use:   "status [DIR | FILE...]",
		Short: "Show the last runs of scripts, and of their partitions",
		Long: `Show how the tables of a project stand: the last run of each, or, for single scripts, their partitions and last runs. A run whose process is gone is found, and
recorded as failed.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(a, args); err != nil {
				return err
			}
			if err := f.pick(c.Context()); err != nil {
				return err
			}
			return a.matStatus(c.Context(), f, limit)
		},
	}
	f.register(cmd.Flags(), "text", "json")
	f.registerSelect(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", limit, "runs that are shown of each script")
	return cmd
}

// statusLine is a script's, a partition's or a run's state in JSON.
type statusLine struct {
	Script    string       `json:"script"`
	Asset     string       `json:"asset"`
	Partition string       `json:"partition,omitempty"`
	Status    string       `json:"status"`
	Run       string       `json:"run,omitempty"`
	Snapshot  *int64       `json:"snapshot_id,omitempty"`
	Rows      *int64       `json:"rows,omitempty"`
	At        *time.Time   `json:"at,omitempty"`
	Trigger   string       `json:"trigger,omitempty"`
	Tests     []state.Test `json:"tests,omitempty"`
	Error     string       `json:"error,omitempty"`
}

func (a *app) matStatus(ctx context.Context, f *projectFlags, limit int) error {
	sh := a.newShow(f.format, true, 0)
	single := len(f.scripts) < len(f.project.Scripts) || len(f.scripts) == 1
	var rows [][]string
	var unreachable error
	for _, s := range f.scripts {
		st, err := f.runner.Status(ctx, s, limit)
		if errors.Is(err, run.ErrInput) { // its lake is not there; others may be
			if unreachable != nil {
				fmt.Fprintln(a.err, "eider:", unreachable)
			}
			unreachable = cmdline.Usage(err)
			continue
		}
		if err != nil {
			return err
		}
		head := statusLine{Script: s.Name, Asset: s.Asset().String(), Status: st.State()}
		if st.Last != nil {
			head.of(st.Last)
			head.Status = st.State()
		}
		if !single {
			if sh.json {
				sh.line(head)
			} else {
				rows = append(rows, append([]string{s.Name}, head.cells()...))
			}
			continue
		}
		a.oneStatus(sh, s.Name, head, st)
	}
	if len(rows) > 0 {
		table(a.out, []string{"SCRIPT", "STATUS", "ROWS", "SNAPSHOT", "AT", "ERROR"}, rows)
	}
	return unreachable
}

func (l *statusLine) of(r *state.Run) {
	l.Partition, l.Status, l.Run, l.Snapshot, l.Rows, l.Trigger, l.Tests, l.Error = r.Partition, string(r.Status), r.ID, r.Snapshot, r.Rows, r.Trigger, r.Tests, r.Error
	at := r.Ended
	if at.IsZero() {
		at = r.Started
	}
	l.At = &at
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func (l *statusLine) cells() []string {
	at := "-"
	if l.At != nil {
		at = l.At.Format("2006-01-02 15:04:05Z")
	}
	text, _, _ := strings.Cut(l.Error, "\n")
	return []string{l.Status, number(l.Rows), number(l.Snapshot), at, text}
}

// oneStatus shows the partitions and runs of one script.
func (a *app) oneStatus(sh *show, name string, head statusLine, st *run.Status) {
	if sh.json {
		for _, p := range st.Slices {
			sh.line(statusLine{Script: name, Asset: head.Asset, Partition: p.Partition, Status: string(p.Status), Run: p.Run, Snapshot: p.Snapshot, Rows: p.Rows, At: &p.At, Error: p.Error})
		}
		return
	}
	fmt.Fprintf(a.out, "%s  %s  %s\n", name, head.Asset, head.Status)
	var rows [][]string
	for _, p := range st.Slices {
		l := statusLine{Status: string(p.Status), Snapshot: p.Snapshot, Rows: p.Rows, At: &p.At, Error: p.Error}
		value := p.Partition
		if value == "" {
			value = "(whole table)"
		}
		rows = append(rows, append([]string{value}, l.cells()...))
	}
	if len(rows) > 0 {
		fmt.Fprintln(a.out)
		table(a.out, []string{"PARTITION", "STATUS", "ROWS", "SNAPSHOT", "AT", "ERROR"}, rows)
	}
	rows = nil
	for i := range st.Runs {
		l := statusLine{}
		l.of(&st.Runs[i])
		rows = append(rows, append([]string{st.Runs[i].ID, l.Partition, l.Trigger}, l.cells()...))
	}
	if len(rows) > 0 {
		fmt.Fprintln(a.out)
		table(a.out, []string{"RUN", "PARTITION", "WHY", "STATUS", "ROWS", "SNAPSHOT", "AT", "ERROR"}, rows)
	}
	fmt.Fprintln(a.out)
}

func (a *app) matBackfillCommand() *cobra.Command {
	f := &projectFlags{}
	var from, to string
	var all, dry bool
	cmd := &cobra.Command{
		Use:   "backfill FILE [--from DATE] [--to DATE]",
		Short: "Run the missing and failed partitions of a range",
		Long: `Run a partitioned script for those partitions between two days, both included, that are missing or failed, one after the other from the oldest on. A
partition that fails does not keep the others from being run. SIGTERM or Ctrl-C ends the backfill after the partition that it is at, a second one at once.`,
		Example: `  eider materialize backfill pipeline/orders/daily.sql --from 2026-01-01 --to 2026-12-31`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.Usagef("backfill takes one script")
			}
			if err := f.load(a, args); err != nil {
				return err
			}
			if len(f.scripts) != 1 {
				return cmdline.Usagef("backfill takes one script, and %s is a folder with %d", args[0], len(f.scripts))
			}
			if err := f.problems(a); err != nil {
				return err
			}
			if len(f.version) > 0 {
				g, err := f.runner.Graph(c.Context(), false)
				if err != nil {
					return err
				}
				if err := f.versions(g); err != nil {
					return err
				}
			}
			return a.matBackfill(c.Context(), f, from, to, all, dry)
		},
	}
	f.register(cmd.Flags(), "text", "json")
	f.registerRun(cmd.Flags())
	cmd.Flags().StringVar(&from, "from", "", "first day, YYYY-MM-DD, default the start of the script's partitions")
	cmd.Flags().StringVar(&to, "to", "", "last day, YYYY-MM-DD, default today")
	cmd.Flags().BoolVar(&all, "all", false, "also partitions that are materialized")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the partitions")
	return cmd
}

func (a *app) matBackfill(ctx context.Context, f *projectFlags, from, to string, all, dry bool) error {
	s := f.scripts[0]
	if s.Spec == nil {
		return cmdline.Usagef("%s: a backfill is of partitions, and the script has none; add a line with partitioned, or use run", s.File)
	}
	ctx, stop, end := a.signals(ctx, "this partition")
	defer end()
	if s.Header.Partitioned.Kind == annotate.Dynamic {
		return cmdline.Usagef("%s:%d: a backfill is of times, and the partitions are dynamic; run those that are wanted, one by one, with --partition", s.File, s.Header.Partitioned.Line)
	}
	partitions, err := daysOf(s.Spec, from, to, time.Now())
	if err != nil {
		return err
	}
	if !all {
		if partitions, err = f.runner.Missing(ctx, s, partitions); errors.Is(err, run.ErrInput) {
			return cmdline.Usage(err)
		} else if err != nil {
			return err
		}
	}
	sh := a.newShow(f.format, f.quiet, len(partitions))
	if dry {
		for _, p := range partitions {
			if sh.json {
				sh.line(statusLine{Script: s.Name, Asset: s.Asset().String(), Partition: p, Status: "pending"})
			} else {
				fmt.Fprintln(a.out, p)
			}
		}
		return nil
	}
	f.runner.Report = func(e run.Event) {
		if e.Kind != run.Ended || sh.json || e.Run == nil || e.Run.Status == state.Failed || !sh.bar {
			sh.event(e)
			return
		}
		sh.mu.Lock()
		sh.done++
		sh.mu.Unlock()
	}
	began := time.Now()
	b, err := f.runner.Backfill(ctx, s, partitions, all, stop, nil)
	sh.clear()
	a.backfilled(sh, s.Name, &b, time.Since(began))
	switch {
	case errors.Is(err, run.ErrInput):
		return cmdline.Usage(err)
	case err != nil:
		return err
	case !b.OK():
		return errRuns
	}
	return nil
}

// backfilled writes the table at the end.
func (a *app) backfilled(sh *show, name string, b *run.Backfilled, took time.Duration) {
	count := map[run.SliceStatus]int{}
	var total int64
	var rows [][]string
	for _, p := range b.Slices {
		count[p.Status]++
		n := "-"
		if p.Rows >= 0 {
			total += p.Rows
			n = fmt.Sprint(p.Rows)
		}
		text, _, _ := strings.Cut(p.Error, "\n")
		rows = append(rows, []string{p.Partition, string(p.Status), n, p.Took.Round(time.Millisecond).String(), text})
	}
	if sh.json {
		sh.line(map[string]any{
			"event": "backfill", "script": name, "success": count[run.SliceDone], "failure": count[run.SliceFailed], "pending": count[run.SlicePending],
			"cancelled": b.Cancelled, "rows": total, "seconds": took.Seconds(),
		})
		return
	}
	if len(rows) == 0 {
		fmt.Fprintf(a.out, "%s: no partition is missing or failed\n", name)
		return
	}
	table(a.out, []string{"PARTITION", "STATUS", "ROWS", "TIME", "ERROR"}, rows)
	fmt.Fprintf(a.out, "%d succeeded, %d failed, %d not run; %d rows in %s (%.0f rows/s)\n", count[run.SliceDone], count[run.SliceFailed],
		count[run.SlicePending]+count[run.SliceCancelled], total, took.Round(time.Millisecond), float64(total)/max(took.Seconds(), 1e-9))
}

func daysOf(spec *partition.Spec, from, to string, now time.Time) ([]string, error) {
	first, last := spec.Start, partition.DateIn(now, spec.Zone)
	var err error
	if from != "" {
		if first, err = partition.ParseDate(from); err != nil {
			return nil, badFlag("from", err)
		}
	}
	if to != "" {
		if last, err = partition.ParseDate(to); err != nil {
			return nil, badFlag("to", err)
		}
	}
	if first.IsZero() {
		return nil, badFlag("from", errors.New("the script's partitions have no start, so the first day has to be given"))
	}
	list, err := spec.Range(first, last)
	if err != nil {
		return nil, cmdline.Usage(err)
	}
	return list, nil
}

func (a *app) matGraphCommand() *cobra.Command {
	f := &projectFlags{}
	out, noStatus := "", false
	cmd := &cobra.Command{
		Use:   "graph [DIR | FILE...]",
		Short: "Print what feeds what",
		Long: `Print the graph of a project's scripts and tables: as text, as DOT for Graphviz, as JSON with the origin of each column, as an SVG picture, or as a page
for a browser that needs nothing else. Nodes have the state of their last run where the catalogs can be reached.`,
		Example: `  eider materialize graph pipeline/ --format html --out graph.html`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(a, args); err != nil {
				return err
			}
			return a.matGraph(c.Context(), f, out, !noStatus)
		},
	}
	f.register(cmd.Flags(), "text", "dot", "json", "svg", "html")
	f.registerSelect(cmd.Flags())
	cmd.Flags().StringVar(&out, "out", "", "file to write, default standard output")
	cmd.Flags().BoolVar(&noStatus, "no-status", false, "do not ask the catalogs for the last runs")
	return cmd
}

func (a *app) matGraph(ctx context.Context, f *projectFlags, out string, status bool) error {
	g, err := f.runner.Graph(ctx, status)
	if err != nil {
		return err
	}
	if len(f.scripts) < len(f.project.Scripts) || len(f.choose) > 0 {
		names := f.choose
		if len(names) == 0 {
			for _, s := range f.scripts {
				names = append(names, s.Name)
			}
		}
		chosen, err := g.Select(names)
		if err != nil {
			return cmdline.Usage(err)
		}
		if g, err = g.Only(chosen); err != nil {
			return err
		}
	}
	var text []byte
	switch f.format {
	case "dot":
		text = []byte(g.DOT())
	case "json":
		text, err = g.JSON()
	case "svg":
		text = []byte(g.SVG())
	case "html":
		var page string
		page, err = g.HTML(graph.HTMLOptions{Title: f.title, Note: "made " + time.Now().UTC().Format("2006-01-02 15:04 MST")})
		text = []byte(page)
	default:
		text = []byte(g.Text(graph.TextOptions{Colour: out == "" && isTerminal(a.out)}))
	}
	if err != nil {
		return err
	}
	if out == "" {
		_, err = a.out.Write(text)
		return err
	}
	if err := os.WriteFile(out, text, 0o644); err != nil {
		return cmdline.Usagef("--out: %w", err)
	}
	return nil
}
