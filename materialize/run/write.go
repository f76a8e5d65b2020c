package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/materialize/annotate"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/state"
)

// write executes the plan's own statements.
func (a *attempt) write(ctx context.Context) error {
	need, err := a.needed(ctx)
	if err != nil {
		return err
	}
	writes := a.plan.Writes()
	first := len(a.plan.Preparation())
	for i := 0; i < len(writes); i++ {
		st := writes[i]
		a.step(st, first+i, len(a.plan.Statements))
		if st.Bootstrap {
			// What makes the table is one transaction, so that a table without its partitioning is
			// never there.
			var list []plan.Statement
			for ; i < len(writes) && writes[i].Bootstrap; i++ {
				if need[writes[i].When] {
					list = append(list, writes[i])
				}
			}
			i--
			if err := a.bootstrap(ctx, list); err != nil {
				return err
			}
			continue
		}
		if err := a.one(ctx, st); err != nil {
			return a.located(st, err)
		}
	}
	return nil
}

// one executes one statement of the write. A COMMIT is not interrupted: what came of it would not be known.
func (a *attempt) one(ctx context.Context, st plan.Statement) error {
	switch st.Role {
	case plan.Begin:
		return a.beginWrite(ctx, st)
	case plan.Commit:
		return a.commit(ctx, st)
	}
	return a.db.Exec(ctx, st.SQL)
}

func (a *attempt) beginWrite(ctx context.Context, st plan.Statement) error {
	if head, err := a.source.Head(ctx); err == nil {
		a.base = head
	}
	err := a.db.Exec(ctx, st.SQL)
	a.writing = err == nil
	return err
}

func (a *attempt) commit(ctx context.Context, st plan.Statement) error {
	if !st.Bootstrap && len(a.plan.Checks) == 0 {
		// Cheap here: after the commit of a new table DuckDB reads the whole catalog anew.
		sum, err := a.summary(ctx, nil)
		if err != nil {
			return err
		}
		a.before = sum
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// The lock went with the connection: another run may have begun.
	if err := a.store.Alive(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err := a.db.Exec(ctx, st.SQL)
	a.writing = false
	if err == nil || st.Bootstrap {
		return err
	}
	// An answer that is lost says nothing about the commit; the catalog does.
	snapshot, e := a.committed(ctx, a.id)
	if e == nil && snapshot != nil {
		a.event(Note, fmt.Sprintf("COMMIT had no answer, and its snapshot %d is there: %s", *snapshot, err))
		a.run.Snapshot = snapshot
		return nil
	}
	if e != nil {
		return fmt.Errorf("%w (whether it was committed is not known: %w)", err, e)
	}
	return err
}

// committed finds the snapshot that a run has committed, over a connection that is there; nil for none.
func (a *attempt) committed(ctx context.Context, id string) (*int64, error) {
	snapshot, err := a.source.RunSnapshot(ctx, id)
	if err == nil {
		return snapshot, nil
	}
	ctx, cancel := context.WithTimeout(ctx, recording)
	defer cancel()
	for {
		src, e := state.OpenSource(ctx, a.lake.DSN, a.lake.Schema)
		if e == nil {
			_ = a.source.Close(ctx)
			a.source = src
			return src.RunSnapshot(ctx, id)
		}
		if a.o.Sleep(ctx, 200*time.Millisecond) != nil {
			return nil, err
		}
	}
}

// resume finds out whether the last run of the slice has committed its rows without coming to its end: its
// process is gone, or the answer was lost. What appends is then not done again; its tests are.
func (a *attempt) resume(ctx context.Context) error {
	if a.plan == nil || a.plan.Strategy != annotate.Append {
		return nil
	}
	last, err := a.store.Runs(ctx, state.Filter{Asset: a.run.Asset, Partition: &a.job.Partition, NotSkipped: true, Limit: 1})
	if err != nil || len(last) == 0 {
		return err
	}
	r := last[0]
	if r.Status != state.Failed || r.ScriptHash != a.job.Script.Hash || r.Script != a.job.Script.Name || len(r.Tests) > 0 {
		return nil
	}
	if r.Snapshot == nil {
		if r.Snapshot, err = a.source.RunSnapshot(ctx, r.ID); err != nil || r.Snapshot == nil {
			return err
		}
	}
	a.event(Note, fmt.Sprintf("the run %s has committed its rows as snapshot %d and came to no end: they are not appended again", r.ID, *r.Snapshot))
	a.resumed = &r
	return nil
}

func (a *attempt) bootstrap(ctx context.Context, list []plan.Statement) error {
	if len(list) == 0 {
		return nil
	}
	all := []plan.Statement{{Role: plan.Begin, SQL: "BEGIN TRANSACTION"}}
	if a.in.Snapshot != nil {
		all = append(all, plan.Statement{Role: plan.Describe, SQL: a.snapshot("").Call()})
	}
	all = append(all, list...)
	for _, st := range append(all, plan.Statement{Role: plan.Commit, SQL: "COMMIT", Bootstrap: true}) {
		if err := a.one(ctx, st); err != nil {
			return a.located(st, err)
		}
	}
	return nil
}

// needed says which conditions of statements are met.
func (a *attempt) needed(ctx context.Context) (map[plan.When]bool, error) {
	missing := a.in.Probe.Table == nil
	need := map[plan.When]bool{plan.IfMissing: missing, plan.IfUnpartitioned: missing}
	schema, name := plan.SplitTable(a.job.Script.Asset().Table())
	if missing && !strings.EqualFold(schema, plan.DefaultSchema) {
		rows, err := a.db.Query(ctx, "SELECT count(*) FROM duckdb_schemas() WHERE database_name = "+lake.QuoteText(plan.Target)+" AND lower(schema_name) = lower("+lake.QuoteText(schema)+")")
		if err != nil {
			return nil, fmt.Errorf("look at the schema: %w", err)
		}
		need[plan.IfSchemaMissing] = len(rows) == 1 && number(rows[0][0]) == 0
	}
	if !missing && a.job.Script.Spec != nil {
		by, err := a.source.PartitionedBy(ctx, state.TableName{Schema: schema, Name: name})
		if err != nil {
			return nil, err
		}
		need[plan.IfUnpartitioned] = len(by) != 1 || !strings.EqualFold(by[0], plan.PartitionColumn)
	}
	return need, nil
}

func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case int32:
		return int64(n)
	}
	return -1
}

// summarize reads what came of the write: the snapshot, the rows, the columns, the tests.
func (a *attempt) summarize(ctx context.Context) error {
	a.step(plan.Statement{Role: plan.Summary}, len(a.plan.Statements)-1, len(a.plan.Statements))
	if a.resumed != nil {
		a.run.Snapshot, a.run.Sources = a.resumed.Snapshot, a.resumed.Sources
	} else if rows, err := a.db.Query(ctx, plan.LastSnapshot); err == nil && len(rows) == 1 {
		if n := number(rows[0][0]); n >= 0 {
			a.run.Snapshot = &n
		}
	}
	sum := a.before
	// What was read within the write is what was committed if nobody else has committed in between.
	if sum == nil || a.run.Snapshot == nil || a.base < 0 || *a.run.Snapshot != a.base+1 {
		if err := a.db.Exec(ctx, "BEGIN TRANSACTION"); err != nil {
			return err
		}
		defer func() { _ = a.db.Exec(context.WithoutCancel(ctx), "ROLLBACK") }()
		var err error
		if sum, err = a.summary(ctx, a.run.Snapshot); err != nil {
			return err
		}
	}
	a.run.Rows, a.run.Columns, a.run.Tests = sum.Rows, sum.Schema, sum.Tests
	if a.run.Snapshot == nil {
		a.run.Snapshot = sum.Snapshot
	}
	if bad, ok := verdict(a.run.Asset.String(), a.run.Tests, len(a.plan.Checks)); !ok {
		a.samples(ctx)
		return &failure{bad}
	}
	return nil
}

// summary is the plan's summary as of a snapshot; nil for what the transaction sees.
func (a *attempt) summary(ctx context.Context, snapshot *int64) (*summary, error) {
	rows, err := a.db.Query(ctx, "SELECT CAST(to_json(s) AS VARCHAR) FROM ("+a.plan.Summarize(snapshot)+") AS s")
	if err != nil {
		return nil, fmt.Errorf("%s: look at what was written: %w", a.job.Script.File, err)
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("the summary has %d rows", len(rows))
	}
	sum := &summary{}
	if err := json.Unmarshal([]byte(text(rows[0][0])), sum); err != nil {
		return nil, fmt.Errorf("the summary cannot be read: %w", err)
	}
	return sum, nil
}

// failure is an ErrTests whose text is the tests'.
type failure struct{ text string }

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return ErrTests }

// samples reads some of the rows that tests found.
func (a *attempt) samples(ctx context.Context) {
	for i := range a.run.Tests {
		t := &a.run.Tests[i]
		if t.Violating == 0 || i >= len(a.plan.Checks) {
			continue
		}
		rows, err := a.db.Query(ctx, a.plan.Checks[i].Sample())
		if err != nil || len(rows) != 1 {
			continue // the count says enough
		}
		if s := text(rows[0][0]); s != "" && len(s) <= plan.SampleBytes && json.Valid([]byte(s)) {
			t.Sample = json.RawMessage(s)
		}
	}
}
