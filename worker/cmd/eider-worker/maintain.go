package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/worker/duck"
	"github.com/eiderdb/eider/worker/maintain"
)

// defaultServer is where "eider serve" listens unless told otherwise.
const defaultServer = "postgres://eider@127.0.0.1:5434/postgres"

// maintainFlags are the flags of maintain.
type maintainFlags struct {
	lakeFlags
	o         maintain.Options
	rule      maintain.Rule      // of the flags; only those that are given count
	when      map[string]*string // texts of the flags that are policies of ages and sizes, by name
	tiers     string
	skip      []string
	only      []string
	windows   string
	zone      string
	all       bool
	expire    string
	cleanup   string
	orphans   string
	maxTime   string
	dryRun    bool
	every     string
	everyTime time.Duration
	set       *pflag.FlagSet
}

func (a *app) maintainCommand() *cobra.Command {
	f := &maintainFlags{rule: maintain.DefaultRule(), when: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "maintain",
		Short: "Flush, merge and rewrite the files of a lake",
		Long: `Do the part of a lake's maintenance that needs DuckDB, in the order that DuckLake recommends: flush inlined data into files, merge
small files by tiers of their sizes, rewrite files of which much is deleted. No row changes its id and no older version reads otherwise.

It works on an Eider catalog and on a PostgreSQL catalog, beside everybody else who uses the lake, and one worker at a time works on a lake.
It may be ended at any time: SIGTERM lets it finish the step that it is at, a second one ends that too, and nothing is left behind.

With --all it also has snapshots expired, scheduled files removed and orphans deleted: on Eider by the server's jobs and policies, elsewhere
by DuckLake's functions and the --...-older-than flags. On Eider the server can do these by itself, see "eider gc".

Policies of the catalog, where it has them, say when (windows, time-zone) and what is done to each table (flush, min-inlined-rows, flush-age,
flush-bytes, merge, min-small-files, merge-age, merge-bytes, tiers, rewrite, delete-threshold, rewrite-age, rewrite-bytes); a flag goes before a policy, whatever that is set for. --dry-run shows what is
turned off. On Eider the runs are in the history of jobs ("eider gc jobs", kind maintain), and "eider gc cancel JOB", "eider gc pause maintain" and
"eider gc pause" end or hold up a run after its step.

DuckDB's extensions ducklake and postgres are taken from --extension-dir, or installed from DuckDB's repository. Secrets for object
storage go into a file of SQL statements (--init-file), and --extension httpfs loads what they need.

Exit codes: 0 well done, also when ended early; 1 something failed; 2 wrong use; 4 another worker is at the lake.`,
		Example: `  eider maintain --catalog lake --dry-run
  eider maintain --catalog lake --every 1h --windows "22:00-06:00"
  eider maintain --server "host=db.example.org user=lake" --catalog lake --all --expire-older-than 30d`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdline.Usagef("maintain takes no arguments, only flags: %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			f.set = c.Flags()
			if err := f.finish(a); err != nil {
				return err
			}
			return a.maintain(c.Context(), f)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *maintainFlags) register(fs *pflag.FlagSet) {
	f.lakeFlags.register(fs)
	fs.StringSliceVar(&f.o.Schemas, "schema", nil, "only tables of these schemas")
	fs.StringSliceVar(&f.o.Tables, "table", nil, "only these tables, NAME or SCHEMA.NAME")
	fs.StringSliceVar(&f.skip, "skip", nil, "steps to leave out: flush, merge, rewrite")
	fs.StringSliceVar(&f.only, "only", nil, "only these steps, also where a policy turns them off: flush, merge, rewrite")
	fs.StringVar(&f.tiers, "tiers", "", "tiers of file sizes, MIN-MAX:TARGET, default "+tiersText(maintain.DefaultTiers()))
	fs.Int64Var(&f.rule.MinInlined, "min-inlined-rows", f.rule.MinInlined, "flush a table when so many inlined rows and deletes wait")
	fs.Int64Var(&f.rule.MinFiles, "min-small-files", f.rule.MinFiles, "merge when a tier of a table has so many files to merge")
	fs.Float64Var(&f.rule.DeleteThreshold, "delete-threshold", f.rule.DeleteThreshold, "rewrite files of which so much is deleted, above 0 to 1")
	for _, d := range []struct{ name, help string }{
		{gc.NameFlushAge, "flush also when an inlined row or delete has waited so long, such as 1h"},
		{gc.NameFlushBytes, "flush also when the inlined values are so many bytes, such as 10MiB"},
		{gc.NameMergeAge, "merge also when two files to merge are so old"},
		{gc.NameMergeBytes, "merge also when so many bytes wait beside the largest file of each partition"},
		{gc.NameRewriteAge, "rewrite also files with deletes that are so old"},
		{gc.NameRewriteBytes, "rewrite also files in which deleted rows take up so many bytes"},
	} {
		f.when[d.name] = fs.String(d.name, "", d.help+"; none takes a policy back")
	}
	fs.IntVar(&f.o.Outputs, "outputs-per-step", 16, "files that one merge step writes at most")
	fs.Int64Var(&f.o.MaxFiles, "max-files", 0, "end after the step that has read so many files")
	fs.StringVar(&f.maxTime, "max-time", "", "end after the step in which so much time has passed, such as 2h")
	fs.StringVar(&f.windows, "windows", "", `when steps may begin, such as "Mon-Fri 22:00-06:00, Sat-Sun"`)
	fs.StringVar(&f.zone, "time-zone", "", "time zone of the windows, default UTC")
	fs.IntVar(&f.o.Retries, "retries", 10, "how often a step is tried again that lost a race; 0 for never")
	fs.BoolVar(&f.o.AllowRenumber, "allow-renumber", false, "merge although rows would get other ids, on catalogs that let that pass")

	fs.BoolVar(&f.all, "all", false, "also expire snapshots, clean up scheduled files and delete orphans")
	fs.StringVar(&f.expire, "expire-older-than", "", "with --all, not on Eider: expire snapshots of this age, default none")
	fs.StringVar(&f.cleanup, "cleanup-older-than", "2d", "with --all, not on Eider: remove files that were scheduled so long ago")
	fs.StringVar(&f.orphans, "orphans-older-than", "7d", "with --all, not on Eider: delete unknown files of this age")
	fs.BoolVar(&f.dryRun, "dry-run", false, "only say what would be done")
	fs.StringVar(&f.every, "every", "", "do it again every so often, such as 1h, until SIGTERM")
}

func tiersText(tiers []maintain.Tier) string {
	var parts []string
	for _, t := range tiers {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, ",")
}

// finish reads what the flags' texts say.
func (f *maintainFlags) finish(a *app) (err error) {
	if err := f.lakeFlags.finish(a); err != nil {
		return err
	}
	if f.every != "" && f.dryRun {
		return badFlag("every", errors.New("a dry run is made once"))
	}
	if f.tiers != "" {
		if f.rule.Tiers, err = maintain.ParseTiers(f.tiers); err != nil {
			return badFlag("tiers", err)
		}
	}
	if err := f.readWhen(); err != nil {
		return err
	}
	if len(f.skip) > 0 && len(f.only) > 0 {
		return badFlag("only", errors.New("it excludes --skip"))
	}
	for flag, list := range map[string][]string{"skip": f.skip, "only": f.only} {
		for _, step := range list {
			if !slices.Contains([]string{gc.NameFlush, gc.NameMerge, gc.NameRewrite}, step) {
				return badFlag(flag, fmt.Errorf("%q is none of flush, merge, rewrite", step))
			}
		}
	}
	if err := f.rule.Check(); err != nil {
		return cmdline.Usage(err)
	}
	for _, d := range []struct {
		flag, text string
		to         *time.Duration
	}{
		{"expire-older-than", f.expire, &f.o.Rest.Expire},
		{"cleanup-older-than", f.cleanup, &f.o.Rest.Cleanup},
		{"orphans-older-than", f.orphans, &f.o.Rest.Orphans},
		{"max-time", f.maxTime, &f.o.MaxTime},
		{"every", f.every, &f.everyTime},
	} {
		if d.text == "" {
			continue
		}
		if *d.to, err = gc.ParseDuration(d.text); err != nil {
			return badFlag(d.flag, err)
		}
		if *d.to <= 0 {
			return badFlag(d.flag, errors.New("a duration above 0"))
		}
	}
	if !f.all {
		f.o.Rest = maintain.Rest{}
	}
	if f.o.Windows, err = gc.ParseWindows(f.windows); err != nil {
		return badFlag("windows", err)
	}
	if f.zone != "" {
		if f.o.Zone, err = time.LoadLocation(f.zone); err != nil {
			return badFlag("time-zone", err)
		}
	}
	if f.o.Retries == 0 {
		f.o.Retries = -1
	}
	return nil
}

// readWhen reads the flags that are written as the policies of their names are.
func (f *maintainFlags) readWhen() error {
	var rows []gc.Setting
	for name, text := range f.when {
		if !f.set.Changed(name) {
			continue
		}
		s := gc.Setting{Name: name, Value: *text}
		if err := gc.Check(s); err != nil {
			return badFlag(name, err)
		}
		rows = append(rows, s)
	}
	r := gc.NewSet(rows).For("").FileRule("", "")
	f.rule.FlushAge, f.rule.MergeAge, f.rule.RewriteAge = r.FlushAge, r.MergeAge, r.RewriteAge
	f.rule.FlushBytes, f.rule.MergeBytes, f.rule.RewriteBytes = r.FlushBytes, r.MergeBytes, r.RewriteBytes
	return nil
}

var urlForm = regexp.MustCompile(`^(postgres(?:ql)?://[^/?]*)(?:/[^?]*)?(\?.*)?$`)

// withDatabase is a connection string with another database.
func withDatabase(dsn, name string) string {
	if m := urlForm.FindStringSubmatch(dsn); m != nil {
		return m[1] + "/" + escapePath(name) + m[2]
	}
	return dsn + " dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
}

// escapePath escapes what may not stand in a URL's path.
func escapePath(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// maintain does one run, or many.
func (a *app) maintain(ctx context.Context, f *maintainFlags) error {
	ctx, stop, end := a.signals(ctx, "this step")
	defer end()
	rep := &maintain.Reporter{Out: a.out, JSON: f.format == "json"}
	if f.everyTime == 0 {
		_, err := a.once(ctx, f, rep, stop)
		return err
	}
	return maintain.Loop(ctx, stop, maintain.SystemClock(), f.everyTime, func(ctx context.Context) (time.Time, error) {
		next, err := a.once(ctx, f, rep, stop)
		if err == nil || ctx.Err() != nil || errors.Is(err, maintain.ErrOption) || errors.Is(err, duck.ErrExtension) {
			return next, err
		}
		// A server that is away may be there again, and a lake that is busy free.
		fmt.Fprintln(a.err, "eider:", maintain.Text(err))
		return next, nil
	})
}

// once does one run. It returns when the next one may begin, if a window says so.
func (a *app) once(ctx context.Context, f *maintainFlags, rep *maintain.Reporter, stop <-chan struct{}) (next time.Time, err error) {
	cat, err := maintain.OpenCatalog(ctx, f.lake.DSN, f.lake.Schema)
	if err != nil {
		return next, f.unconnected(err)
	}
	defer func() { _ = cat.Close(context.WithoutCancel(ctx)) }()
	o, err := f.options(ctx, cat)
	if err != nil {
		return next, err
	}
	clock := maintain.SystemClock()
	if now := clock.Now().In(o.Zone); !o.Windows.Open(now) && !f.dryRun {
		next, _ = o.Windows.Change(now)
		rep.Run(maintain.Summary{Stopped: "the window is closed"}, nil)
		return next, nil
	}
	if !f.dryRun {
		if err := cat.Lock(ctx); err != nil {
			return next, err
		}
	}
	rec, refused, err := cat.Record(ctx, f.dryRun, f.given())
	if err != nil {
		return next, err
	}
	if refused != nil {
		fmt.Fprintln(a.err, "eider: the run is not recorded:", maintain.Text(refused))
	}
	var sum maintain.Summary
	defer func() { err = errors.Join(err, rec.End(ctx, &sum, err)) }()
	db, err := duck.Open(ctx, f.duck)
	if err != nil {
		return next, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	f.lake.ReadOnly = f.dryRun
	if err := db.Attach(ctx, f.lake); err != nil {
		return next, err
	}
	r := &maintain.Runner{Lake: f.lake.Name, DB: db, Catalog: cat, Clock: clock, Options: o, Report: rep.Step, Log: rec}
	if f.dryRun {
		sum, err = r.DryRun(ctx)
	} else {
		sum, err = r.Run(ctx, stop)
	}
	rep.Run(sum, err)
	return next, err
}

// given are the flags that were given and say what is done, for the history.
func (f *maintainFlags) given() map[string]string {
	m := map[string]string{}
	f.set.Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "server", "catalog", "lake", "data-path", "extension-dir", "extension", "init-file", "threads", "memory-limit", "temp-dir", "format", "dry-run":
		default:
			m[flag.Name] = strings.Trim(flag.Value.String(), "[]")
		}
	})
	return m
}

// options are the run's: the flags', and the policies' where there is no flag.
func (f *maintainFlags) options(ctx context.Context, cat *maintain.Catalog) (maintain.Options, error) {
	o := f.o
	o.Seed = uint64(time.Now().UnixNano())
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if f.all && cat.HoldsRowIDs() {
		has, err := cat.HasServerJobs(ctx)
		if err != nil {
			return o, err
		}
		o.Rest = maintain.Rest{Server: has}
	}
	set, _, err := cat.Policies(ctx)
	if err != nil {
		return o, err
	}
	policies := set.For(cat.Lake())
	// A policy that nobody understands may have been meant to leave something as it is.
	if bad := policies.Problems(); len(bad) > 0 && !f.dryRun {
		return o, fmt.Errorf("nothing is done while a policy cannot be read, for %s: %w", bad[0].Scope, bad[0].Err)
	}
	o.RuleOf = func(schema, table string) maintain.Rule { return f.override(policies.FileRule(schema, table)) }
	if !f.set.Changed("windows") {
		w, zone := policies.Windows()
		o.Windows = w
		if !f.set.Changed("time-zone") {
			o.Zone = zone
		}
	}
	return o, nil
}

// override is a rule with what the flags say in place of the policies.
func (f *maintainFlags) override(r maintain.Rule) maintain.Rule {
	for _, s := range []struct {
		name string
		on   *bool
	}{{gc.NameFlush, &r.Flush}, {gc.NameMerge, &r.Merge}, {gc.NameRewrite, &r.Rewrite}} {
		if len(f.only) > 0 {
			*s.on = slices.Contains(f.only, s.name)
		}
		*s.on = *s.on && !slices.Contains(f.skip, s.name)
	}
	if f.set.Changed(gc.NameMinInlined) {
		r.MinInlined = f.rule.MinInlined
	}
	if f.set.Changed(gc.NameMinFiles) {
		r.MinFiles = f.rule.MinFiles
	}
	if f.set.Changed(gc.NameDeleteThreshold) {
		r.DeleteThreshold = f.rule.DeleteThreshold
	}
	if f.set.Changed(gc.NameTiers) {
		r.Tiers = f.rule.Tiers
	}
	for _, s := range []struct {
		name      string
		from, age *time.Duration
	}{{gc.NameFlushAge, &f.rule.FlushAge, &r.FlushAge}, {gc.NameMergeAge, &f.rule.MergeAge, &r.MergeAge}, {gc.NameRewriteAge, &f.rule.RewriteAge, &r.RewriteAge}} {
		if f.set.Changed(s.name) {
			*s.age = *s.from
		}
	}
	for _, s := range []struct {
		name       string
		from, size *int64
	}{{gc.NameFlushBytes, &f.rule.FlushBytes, &r.FlushBytes}, {gc.NameMergeBytes, &f.rule.MergeBytes, &r.MergeBytes}, {gc.NameRewriteBytes, &f.rule.RewriteBytes, &r.RewriteBytes}} {
		if f.set.Changed(s.name) {
			*s.size = *s.from
		}
	}
	return r
}
