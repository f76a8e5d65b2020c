package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/run"
	"github.com/eiderdb/eider/materialize/state"
)

// errRuns says that something failed that was told already.
var errRuns = errors.New("not everything succeeded")

// partitionFlags choose the slice of scripts that are partitioned.
type partitionFlags struct {
	partition, payload string
}

func (f *partitionFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.partition, "partition", "", "value of the partition, default that of now")
	c.Flags().StringVar(&f.payload, "payload", "", "JSON from which dynamic partitions take their value")
}

// of is the value for a script; skip for one that has not begun at that time.
func (f *partitionFlags) of(s *project.Script, now time.Time) (value string, skip bool, err error) {
	switch {
	case s.Spec == nil:
		return "", false, nil
	case f.partition != "":
		if err := s.Spec.Check(f.partition); err != nil {
			return "", false, cmdline.Usagef("--partition: %w", err)
		}
		return f.partition, s.Spec.Skips(f.partition), nil
	case f.payload != "" && len(s.Header.Partitioned.Key) > 0:
		if value, err = s.Spec.ResolveKey([]byte(f.payload)); err != nil {
			return "", false, cmdline.Usagef("--payload: %w", err)
		}
		return value, false, nil
	}
	value, skip, err = s.Spec.Resolve(now)
	if err != nil {
		return "", false, cmdline.Usagef("%s:%d: %w; give one with --partition", s.File, s.Header.Partitioned.Line, err)
	}
	return value, skip, nil
}

func (a *app) matRunCommand() *cobra.Command {
	f := &projectFlags{}
	p := &partitionFlags{}
	cmd := &cobra.Command{
		Use:   "run [DIR | FILE...]",
		Short: "Run scripts, in the order of what they read",
		Long: `Run the scripts of a project, or some of them: what feeds others first, and nothing that a failed one feeds. A script of which neither the text nor
any table that it reads has changed since its last run is skipped; --force runs it. Partitioned scripts run for the partition of now, or for --partition.

What came of each is in the schema eider_materialize of the catalog's database, where "eider materialize status" and any client read it.`,
		Example: `  eider materialize run pipeline/
  eider materialize run pipeline/orders/daily.sql --partition 2026-07-05
  eider materialize run pipeline/ --select tag:nightly --select +customers`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(a, args); err != nil {
				return err
			}
			return a.matRun(c.Context(), f, p)
		},
	}
	f.register(cmd.Flags(), "text", "json")
	f.registerSelect(cmd.Flags())
	f.registerRun(cmd.Flags())
	cmd.Flags().BoolVar(&f.force, "force", false, "run although nothing has changed since the last run")
	p.register(cmd)
	return cmd
}

func (a *app) matRun(ctx context.Context, f *projectFlags, p *partitionFlags) error {
	ctx, stop, end := a.signals(ctx, "this run")
	defer end()
	g, err := f.runner.Graph(ctx, false)
	if err != nil {
		return err
	}
	if err := f.pick(ctx); err != nil {
		return err
	}
	if err := f.problems(a); err != nil {
		return err
	}
	if err := f.versions(g); err != nil {
		return err
	}
	sh := a.newShow(f.format, f.quiet, len(f.scripts))
	f.runner.Report = sh.event
	var jobs []run.Job
	for _, s := range f.scripts {
		value, skip, err := p.of(s, time.Now())
		if err != nil {
			return err
		}
		if skip {
			fmt.Fprintf(a.err, "%s: skipped: its partitions begin on %s\n", title(s.Name, value), s.Header.Partitioned.Start)
			continue
		}
		jobs = append(jobs, run.Job{Script: s, Partition: value})
	}
	results, err := f.runner.All(ctx, g, jobs, stop)
	sh.clear()
	failed, refused, blocked := 0, 0, 0
	for _, r := range results {
		switch {
		case r.Blocked != "":
			failed++
			blocked++
			if sh.json {
				sh.line(runLine{Event: "blocked", Script: r.Job.Script.Name, Asset: r.Job.Script.Asset().String(), Partition: r.Job.Partition, Text: r.Blocked + " failed"})
			} else {
				fmt.Fprintf(a.out, "%s: not run, because %s failed\n", title(r.Job.Script.Name, r.Job.Partition), r.Blocked)
			}
		case errors.Is(r.Err, run.ErrInput):
			failed++
			refused++
			fmt.Fprintln(a.err, "eider:", r.Err)
		case r.Err != nil:
			failed++
			if r.Run.Status == "" { // it never came to a record
				fmt.Fprintln(a.err, "eider:", r.Err)
			}
		}
	}
	switch {
	case errors.Is(err, run.ErrInput):
		return cmdline.Usage(err)
	case err != nil:
		fmt.Fprintf(a.err, "eider: ended early, %d of %d scripts were run\n", len(results), len(jobs))
		return errRuns
	case refused > 0 && refused+blocked == failed: // nothing that began has failed
		return cmdline.Usage(errRuns)
	case failed > 0:
		return errRuns
	}
	return nil
}

// signals makes a context that ends with the second signal, and a channel that is closed by the first.
func (a *app) signals(parent context.Context, what string) (ctx context.Context, stop <-chan struct{}, end func()) {
	ctx, cancel := context.WithCancel(parent)
	first, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-a.sig:
				if n == 0 {
					fmt.Fprintf(a.err, "eider: ending after %s; again to end at once\n", what)
					close(first)
				} else {
					cancel()
				}
			}
		}
	}()
	return ctx, first, func() { cancel(); <-done }
}

func (a *app) matPlanCommand() *cobra.Command {
	f := &projectFlags{}
	p := &partitionFlags{}
	cmd := &cobra.Command{
		Use:   "plan [DIR | FILE...]",
		Short: "Print the SQL that a run would execute",
		Long: `Print the statements of a run with what each is for. Nothing is connected to and nothing is run. Statements that only a first run needs are marked; what
depends on the columns of the table, such as the ALTERs of on_schema_change=sync, is not known here.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(a, args); err != nil {
				return err
			}
			if err := f.pick(c.Context()); err != nil {
				return err
			}
			return a.matPlan(f, p)
		},
	}
	f.register(cmd.Flags(), "text", "json")
	f.registerSelect(cmd.Flags())
	f.registerAuthor(cmd.Flags())
	p.register(cmd)
	return cmd
}

// planLine is a statement in JSON.
type planLine struct {
	Script    string    `json:"script"`
	Asset     string    `json:"asset"`
	Partition string    `json:"partition,omitempty"`
	Role      plan.Role `json:"role"`
	When      string    `json:"when,omitempty"`
	SQL       string    `json:"sql"`
}

var conditions = map[plan.When]string{
	plan.IfMissing: "if there is no table", plan.IfSchemaMissing: "if there is no schema", plan.IfUnpartitioned: "if the table is not partitioned",
}

func (a *app) matPlan(f *projectFlags, p *partitionFlags) error {
	if err := f.problems(a); err != nil {
		return err
	}
	sh := a.newShow(f.format, true, 0)
	for _, s := range f.scripts {
		value, _, err := p.of(s, time.Now())
		if err != nil {
			return err
		}
		if s.Header.Materialize.Manual {
			if !sh.json {
				fmt.Fprintf(a.out, "-- %s: manual, run as it is\n\n", s.File)
			}
			continue
		}
		in := s.Input()
		in.Partition = value
		in.Snapshot = f.runner.Snapshot(run.Job{Script: s, Partition: value})
		pl, err := plan.Build(in)
		if err != nil {
			return cmdline.Usagef("%s: %w", s.File, err)
		}
		if !sh.json {
			fmt.Fprintf(a.out, "-- %s: %s into %s\n", title(s.Name, value), pl.Strategy, pl.Asset)
		}
		for _, st := range pl.Statements {
			if sh.json {
				sh.line(planLine{s.Name, pl.Asset.String(), value, st.Role, conditions[st.When], st.SQL})
				continue
			}
			when := ""
			if w := conditions[st.When]; w != "" {
				when = ", " + w
			}
			fmt.Fprintf(a.out, "-- %s%s\n%s;\n", st.Role, when, st.SQL)
		}
		if !sh.json {
			fmt.Fprintln(a.out)
		}
	}
	return nil
}

func (a *app) matTestCommand() *cobra.Command {
	f := &projectFlags{}
	p := &partitionFlags{}
	cmd := &cobra.Command{
		Use:   "test [DIR | FILE...]",
		Short: "Run the data tests on the tables as they are",
		Long: `Run the data tests of scripts on their tables as they are now. Nothing is written and nothing is recorded. With partitions the tests look at the one of now,
or at --partition.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.load(a, args); err != nil {
				return err
			}
			if err := f.pick(c.Context()); err != nil {
				return err
			}
			if err := f.problems(a); err != nil {
				return err
			}
			return a.matTest(c.Context(), f, p)
		},
	}
	f.register(cmd.Flags(), "text", "json")
	f.registerSelect(cmd.Flags())
	p.register(cmd)
	return cmd
}

// testLine is a test in JSON.
type testLine struct {
	Script    string `json:"script"`
	Asset     string `json:"asset"`
	Partition string `json:"partition,omitempty"`
	state.Test
}

func (a *app) matTest(ctx context.Context, f *projectFlags, p *partitionFlags) error {
	sh := a.newShow(f.format, true, 0)
	failed, tests := 0, 0
	for _, s := range f.scripts {
		if len(s.Header.Tests) == 0 {
			continue
		}
		value, _, err := p.of(s, time.Now())
		if err != nil {
			return err
		}
		list, err := f.runner.Test(ctx, s, value)
		if errors.Is(err, run.ErrInput) {
			return cmdline.Usage(err)
		}
		if err != nil {
			return err
		}
		for _, t := range list {
			tests++
			mark := "✓"
			if t.Violating > 0 {
				mark = "✗"
				failed++
			}
			switch {
			case sh.json:
				sh.line(testLine{s.Name, s.Asset().String(), value, t})
			case t.Violating > 0:
				fmt.Fprintf(a.out, "%s %s: %s: %d violating\n", mark, title(s.Name, value), t.Name, t.Violating)
				if len(t.Sample) > 0 {
					fmt.Fprintf(a.out, "    %s\n", strings.TrimSpace(string(t.Sample)))
				}
			default:
				fmt.Fprintf(a.out, "%s %s: %s\n", mark, title(s.Name, value), t.Name)
			}
		}
	}
	if !sh.json {
		fmt.Fprintf(a.out, "%d of %d data tests passed\n", tests-failed, tests)
	}
	if failed > 0 {
		return errRuns
	}
	return nil
}
