package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/internal/cmdline"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/classify"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/state"
)

// recording bounds how long a record may take after the run's context is done.
const recording = 10 * time.Second

// attempt is one run at work.
type attempt struct {
	*Runner
	o     Options
	job   Job
	in    *plan.Input
	plan  *plan.Plan
	lake  Lake // the target's
	store *state.Store
	// source is another connection to the target's catalog, for what is read of it.
	source *state.Source
	db     Engine
	reads  Analysis
	run    state.Run
	notes  []state.Event
	// writing says that a transaction is open in DuckDB.
	writing bool
	// begun says that there is a record of the run.
	begun bool
	// id is the run's, also before it is recorded; what the run commits says it.
	id string
	// resumed is an earlier run whose rows are committed and that came to no end; nil for none.
	resumed *state.Run
	// base is the lake's head before the write began, -1 if it is not known; before is what the summary says
	// within the write.
	base   int64
	before *summary
}

// Run makes one attempt of one job. What is refused before anything is written is an ErrInput; a
// run that began and did not succeed an ErrFailed, and its record says so. The run is returned in
// any case, as far as it came.
func (r *Runner) Run(ctx context.Context, job Job) (state.Run, error) {
	a := r.attempt(job)
	err := a.do(ctx)
	return a.run, err
}

// attempt is what is known of a run before it begins.
func (r *Runner) attempt(job Job) *attempt {
	s := job.Script
	a := &attempt{Runner: r, o: r.Options.withDefaults(), job: job, base: -1}
	a.id = a.o.NewID()
	a.run = state.Run{
		Script: s.Name, Partition: job.Partition, Trigger: job.Trigger, Attempt: max(job.Attempt, 1), Owner: a.o.Owner, ScriptHash: s.Hash,
	}
	if a.run.Trigger == "" {
		a.run.Trigger = "by hand"
	}
	if m := s.Header.Materialize; m != nil {
		a.run.Asset = recordOf(s)
		a.run.Strategy = m.Strategy().String()
		if m.Manual {
			a.run.Strategy = "manual"
		}
	}
	return a
}

func (a *attempt) event(kind Kind, text string) {
	a.notes = append(a.notes, state.Event{At: a.o.Now(), Kind: string(kind), Data: text})
	a.report(Event{Kind: kind, Text: text})
}

func (a *attempt) report(e Event) {
	if a.Report == nil {
		return
	}
	e.Script, e.Asset, e.Partition, e.At = a.job.Script.Name, a.job.Script.Asset().String(), a.job.Partition, a.o.Now()
	if e.Run == nil && a.run.ID != "" {
		run := a.run
		e.Run = &run
	}
	a.Report(e)
}

// refuse makes an ErrInput that names the script's file.
func (a *attempt) refuse(err error) error {
	p := project.Problem{File: a.job.Script.File, Message: err.Error()}
	var bad *plan.Error
	if errors.As(err, &bad) {
		p.Line, p.Message, p.Remedy = bad.Line, bad.Message, bad.Remedy
	}
	return &refusal{p.String(), err}
}

type refusal struct {
	text string
	err  error
}

func (r *refusal) Error() string   { return r.text }
func (r *refusal) Unwrap() []error { return []error{ErrInput, r.err} }

func (a *attempt) do(ctx context.Context) error {
	s := a.job.Script
	if s.Bad {
		for _, p := range a.Project.Problems {
			if p.File == s.File && p.Severity == annotate.SeverityError {
				return &refusal{p.String(), ErrInput}
			}
		}
		return &refusal{s.File + ": a script that it uses has an error", ErrInput}
	}
	defer a.close(ctx)
	if err := a.prepare(ctx); err != nil {
		return err
	}
	if a.store != nil {
		if done, err := a.begin(ctx); done || err != nil {
			return err
		}
	}
	err := a.open(ctx)
	if err == nil {
		err = a.execute(ctx)
	}
	return a.finish(ctx, err)
}

// prepare makes the plan as far as it can be made without DuckDB, and connects to the catalog.
func (a *attempt) prepare(ctx context.Context) (err error) {
	s := a.job.Script
	a.in = s.Input()
	a.in.Partition = a.job.Partition
	if s.Spec != nil && a.job.Partition != "" {
		if err := s.Spec.Check(a.job.Partition); err != nil {
			return a.refuse(&plan.Error{Err: plan.ErrInput, Line: s.Header.Partitioned.Line, Message: err.Error()})
		}
	}
	if s.Header.Materialize.Manual {
		err = plan.CheckInput(a.in)
	} else {
		a.plan, err = plan.Build(a.in)
	}
	if err != nil {
		return a.refuse(err)
	}
	if s.Asset().Kind != annotate.KindLake {
		return nil // the script is run, and nothing is recorded
	}
	if a.lake, err = a.Lake(s.Asset().Lake()); err != nil {
		return a.refuse(&plan.Error{Err: plan.ErrInput, Line: s.Header.Materialize.Line, Message: err.Error()})
	}
	// That there is a lake is looked at before tables are made beside it.
	if a.source, err = state.OpenSource(ctx, a.lake.DSN, a.lake.Schema); err != nil {
		return a.unreachable(a.lake, err)
	}
	a.store, err = state.Open(ctx, a.lake.DSN, state.Options{Now: a.o.Now, NewID: func() string { return a.id }})
	if err != nil {
		return a.unreachable(a.lake, err)
	}
	return nil
}

func (a *attempt) unreachable(lake Lake, err error) error {
	text, remedy := strings.Join(strings.Fields(err.Error()), " "), ""
	if cfg, e := pgx.ParseConfig(lake.DSN); e == nil {
		if plain := cmdline.Unconnected(err, cfg, ", --lake or "+project.ConfigFile); plain != err {
			text = plain.Error()
		}
	}
	if errors.Is(err, state.ErrNoLake) {
		remedy = "make the lake first, once, in DuckDB: ATTACH 'ducklake:postgres:…' AS lake (DATA_PATH '…')"
	}
	if _, known := a.Project.Lake(lake.Name); !known && remedy == "" {
		remedy = fmt.Sprintf("%s does not say where the lake is, so it is taken for the database %s of the server", project.ConfigFile, lake.Name)
		if near := a.Project.Suggest(lake.Name); near != "" {
			remedy = near + "; " + remedy
		}
	}
	return a.refuse(&plan.Error{Err: plan.ErrInput, Line: a.job.Script.Header.Materialize.Line, Message: fmt.Sprintf("the lake %s: %s", lake.Name, text), Remedy: remedy})
}

// begin takes the lock and says whether there is nothing to do.
func (a *attempt) begin(ctx context.Context) (done bool, err error) {
	err = a.store.Lock(ctx, a.run.Asset, func(by *state.Run) {
		text := "another run of the asset is at work"
		if by != nil {
			text = fmt.Sprintf("a run of %s by %s is at work since %s", by.Script, by.Owner, by.Started.Format(time.DateTime))
		}
		a.event(Waiting, text)
	})
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	lost, err := a.store.Reclaim(ctx, a.run.Asset)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	for i := range lost {
		a.report(Event{Kind: Lost, Run: &lost[i], Text: lost[i].Error})
	}
	if err := a.resume(ctx); err != nil {
		return false, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	why, err := a.unchanged(ctx)
	if err != nil {
		a.event(Note, "whether something has changed cannot be told: "+err.Error())
	}
	if why == "" {
		return false, nil
	}
	if err := a.store.Skip(ctx, &a.run); err != nil {
		a.event(Note, err.Error())
		a.run.ID = ""
	}
	a.run.Status = state.Skipped
	a.report(Event{Kind: Ended, Text: why})
	return true, nil
}

// open opens DuckDB, finds out what is read, and notes the snapshots from which it is: before the first
// statement of the script, and also for a run that comes to none. A watch that does not know what a failed run had
// seen would make it again at once.
func (a *attempt) open(ctx context.Context) (err error) {
	h := a.heads()
	defer h.lakes.close(ctx)
	if a.db, err = a.Open(ctx); err == nil {
		if a.reads, err = Analyse(ctx, a.db, a.Project, a.job.Script, Catalog{View: h.view(ctx)}); err != nil {
			err = fmt.Errorf("%s: %w", a.job.Script.File, err)
		}
	}
	if err != nil && a.reads.Unknown == "" {
		a.reads.Unknown = "what it reads was not found out"
	}
	if a.store != nil {
		a.sources(ctx, h)
	}
	return err
}

// execute does the run's statements. It begins the record.
func (a *attempt) execute(ctx context.Context) error {
	if a.plan == nil {
		return a.manual(ctx)
	}
	// Lakes that are named without being attached come first: statements of the setup may name them.
	for _, lake := range a.reads.Attach {
		if err := a.attach(ctx, plan.Attach{Lake: lake, Alias: lake, IfNotExists: true}, true); err != nil {
			return err
		}
	}
	prep := a.plan.Preparation()
	for i, st := range prep {
		a.step(st, i, len(a.plan.Statements))
		if err := a.statement(ctx, st); err != nil {
			return a.located(st, err)
		}
	}
	if err := a.probe(ctx); err != nil {
		return err
	}
	if err := a.record(ctx); err != nil {
		return err
	}
	if a.resumed == nil {
		if err := a.write(ctx); err != nil {
			return err
		}
	}
	return a.summarize(ctx)
}

func (a *attempt) step(st plan.Statement, done, total int) {
	a.report(Event{Kind: Step, Role: st.Role, Done: done, Total: total})
}

// located is an error of a statement with its place in the script.
func (a *attempt) located(st plan.Statement, err error) error {
	if st.Line > 0 {
		return fmt.Errorf("%s:%d: %w", a.job.Script.File, st.Line, err)
	}
	return fmt.Errorf("%s: %s: %w", a.job.Script.File, st.Role, err)
}

// statement runs one statement; an ATTACH of a lake becomes what the settings say.
func (a *attempt) statement(ctx context.Context, st plan.Statement) error {
	if at, ok := plan.ParseAttach(st.SQL); ok {
		return a.attach(ctx, at, st.Role == plan.Setup)
	}
	return a.db.Exec(ctx, st.SQL)
}

// attach attaches a lake. One that the script reads is as of a version, if that is wanted.
func (a *attempt) attach(ctx context.Context, at plan.Attach, read bool) error {
	lake, err := a.Lake(at.Lake)
	if err != nil {
		return err
	}
	options := at.Options
	version, ok := a.version(at.Lake)
	if ok && read {
		if options != "" {
			options += ", "
		}
		options += fmt.Sprintf("SNAPSHOT_VERSION %d", version)
	}
	err = a.db.Attach(ctx, lake, at.Alias, options)
	if ok && read && err != nil && strings.Contains(err.Error(), "No snapshot found at version") {
		return &refusal{fmt.Sprintf("--at-version: the lake %s has no snapshot %d, or it was expired", at.Lake, version), err}
	}
	if err != nil {
		return fmt.Errorf("the lake %s: %w", at.Lake, err)
	}
	return nil
}

func (a *attempt) version(lake string) (int64, bool) {
	if v, ok := a.o.AtVersion[lake]; ok {
		return v, true
	}
	v, ok := a.o.AtVersion[""]
	return v, ok
}

// probe finds the columns of the SELECT and of the table, and makes the plan with them.
func (a *attempt) probe(ctx context.Context) error {
	out, err := a.describe(ctx, "SELECT * FROM ("+a.plan.Query+"\n)")
	if err != nil {
		return fmt.Errorf("%s:%d: %w", a.job.Script.File, a.job.Script.SQL.Output.Line, err)
	}
	// The catalog is asked whether the table is there: DuckDB would read the columns of all tables to tell.
	schema, name := plan.SplitTable(a.job.Script.Asset().Table())
	names, err := a.source.Columns(ctx, state.TableName{Schema: schema, Name: name})
	if err != nil {
		return err
	}
	probe := &plan.Probe{Output: out}
	if len(names) > 0 {
		if probe.Table, err = a.describe(ctx, plan.TargetTable(a.job.Script.Asset())); err != nil {
			return fmt.Errorf("look at the table: %w", err)
		}
	}
	a.in.Probe = probe
	a.in.Snapshot = a.snapshot(a.id)
	p, err := plan.Build(a.in)
	if err != nil {
		return a.refuse(err)
	}
	// What tests compare with is looked at as well: a test that cannot be made is no reason to have written.
	for _, c := range p.Checks {
		if c.Needs == "" {
			continue
		}
		if _, err := a.describe(ctx, c.Needs); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			why, _, _ := strings.Cut(err.Error(), "\n")
			return a.refuse(&plan.Error{Err: plan.ErrInput, Line: c.Line, Message: c.Name + ": what it compares with cannot be read: " + why, Remedy: "name a table and a column that are there"})
		}
	}
	if p.Drift != nil {
		a.event(Note, "the columns have changed: "+p.Drift.String())
	}
	if len(p.Retyped) > 0 && a.job.Script.Header.Materialize.OnSchemaChange != annotate.SchemaIgnore {
		a.event(Note, "values are cast: "+strings.Join(p.Retyped, "; "))
	}
	a.plan = p
	return nil
}

// tableColumns are the columns of the target; nil if it is not there.
func (a *attempt) tableColumns(ctx context.Context) ([]plan.Column, error) {
	schema, name := plan.SplitTable(a.job.Script.Asset().Table())
	rows, err := a.db.Query(ctx, "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = "+lake.QuoteText(plan.Target)+" AND lower(schema_name) = lower("+lake.QuoteText(schema)+
		") AND lower(table_name) = lower("+lake.QuoteText(name)+") ORDER BY column_index")
	if err != nil {
		return nil, fmt.Errorf("look at the table: %w", err)
	}
	var list []plan.Column
	for _, row := range rows {
		list = append(list, plan.Column{Name: text(row[0]), Type: text(row[1])})
	}
	return list, nil
}

func (a *attempt) describe(ctx context.Context, query string) ([]plan.Column, error) {
	rows, err := a.db.Query(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+query+")")
	if err != nil {
		return nil, err
	}
	var list []plan.Column
	for _, row := range rows {
		list = append(list, plan.Column{Name: text(row[0]), Type: text(row[1])})
	}
	return list, nil
}

func text(v any) string { s, _ := v.(string); return s }

// Snapshot is what the snapshot of a job says of itself, but for the run's id.
func (r *Runner) Snapshot(job Job) *plan.Snapshot {
	return r.attempt(job).snapshot("")
}

// snapshot is what a snapshot says of itself. Only the one that has the run's rows has its id.
func (a *attempt) snapshot(id string) *plan.Snapshot {
	return &plan.Snapshot{Author: a.o.Author, Message: a.message(), Extra: a.extra(id)}
}

// message is what snapshots say.
func (a *attempt) message() string {
	m := "materialize " + a.job.Script.Name
	if a.job.Partition != "" {
		m += " " + a.job.Partition
	}
	return m + " (" + a.run.Strategy + ")"
}

func (a *attempt) extra(id string) string {
	m := map[string]string{"script": a.job.Script.Name, "asset": a.run.Asset.String(), "partition": a.job.Partition, "trigger": a.run.Trigger}
	if id != "" {
		m["run"] = id
	}
	b, _ := json.Marshal(m)
	return string(b)
}

// record says that the run begins. A record that fails keeps no run from being made.
func (a *attempt) record(ctx context.Context) error {
	if a.store == nil {
		return nil
	}
	if err := a.store.Alive(ctx); err != nil {
		return err
	}
	if err := a.store.Begin(ctx, &a.run); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.event(Note, err.Error())
	} else {
		a.begun = true
	}
	a.report(Event{Kind: Started})
	return nil
}

// manual runs a script that writes itself.
func (a *attempt) manual(ctx context.Context) error {
	if err := a.record(ctx); err != nil {
		return err
	}
	for i, s := range a.job.Script.Statements {
		st := plan.Statement{Role: plan.Setup, SQL: s.Text, Line: s.Line}
		if a.job.Script.Spec != nil {
			st.SQL = classify.SubstitutePartition(s.Text, a.job.Partition)
		}
		a.step(st, i, len(a.job.Script.Statements))
		if err := a.statement(ctx, st); err != nil {
			return a.located(st, err)
		}
	}
	return nil
}

// finish records how the run ended.
func (a *attempt) finish(ctx context.Context, err error) error {
	if a.writing {
		_ = a.db.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		a.writing = false
	}
	if errors.Is(err, ErrInput) && a.run.ID == "" {
		return err
	}
	status := state.Materialized
	if err != nil {
		status = state.Failed
		a.run.Error = strings.TrimSpace(err.Error())
		if ctx.Err() != nil {
			a.run.Error = "cancelled: " + a.run.Error
		}
	}
	a.run.Status = status
	if a.store != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recording)
		defer cancel()
		if e := a.store.Finish(ctx, &a.run, status, a.notes); e != nil {
			a.event(Note, e.Error())
			if !a.begun {
				a.run.ID = "" // there is no record of that id
			}
		}
	}
	a.report(Event{Kind: Ended, Text: a.run.Error})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return nil
}

func (a *attempt) close(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if a.db != nil {
		_ = a.db.Close()
	}
	if a.source != nil {
		_ = a.source.Close(ctx)
	}
	if a.store != nil {
		_ = a.store.Close(ctx)
	}
}
