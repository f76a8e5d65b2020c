package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
	if st.Role == plan.Commit {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The lock went with the connection: another run may have begun.
		if err := a.store.Alive(ctx); err != nil {
			return err
		}
		ctx = context.WithoutCancel(ctx)
	}
	err := a.db.Exec(ctx, st.SQL)
	switch {
	case err == nil && st.Role == plan.Begin:
		a.writing = true
	case st.Role == plan.Commit:
		a.writing = false
	}
	return err
}

func (a *attempt) bootstrap(ctx context.Context, list []plan.Statement) error {
	if len(list) == 0 {
		return nil
	}
	all := []plan.Statement{{Role: plan.Begin, SQL: "BEGIN TRANSACTION"}}
	if a.in.Snapshot != nil {
		all = append(all, plan.Statement{Role: plan.Describe, SQL: a.in.Snapshot.Call()})
	}
	all = append(all, list...)
	for _, st := range append(all, plan.Statement{Role: plan.Commit, SQL: "COMMIT"}) {
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
		rows, err := a.db.Query(ctx, "SELECT count(*) FROM duckdb_schemas() WHERE database_name = "+plan.Literal(plan.Target)+" AND lower(schema_name) = lower("+plan.Literal(schema)+")")
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
	rows, err := a.db.Query(ctx, plan.LastSnapshot)
	if err == nil && len(rows) == 1 {
		if n := number(rows[0][0]); n >= 0 {
			a.run.Snapshot = &n
		}
	}
	if err := a.db.Exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return err
	}
	defer func() { _ = a.db.Exec(context.WithoutCancel(ctx), "ROLLBACK") }()
	rows, err = a.db.Query(ctx, "SELECT CAST(to_json(s) AS VARCHAR) FROM ("+a.plan.Summarize(a.run.Snapshot)+") AS s")
	if err != nil {
		return fmt.Errorf("%s: look at what was written: %w", a.job.Script.File, err)
	}
	var sum summary
	if len(rows) != 1 {
		return fmt.Errorf("the summary has %d rows", len(rows))
	}
	if err := json.Unmarshal([]byte(text(rows[0][0])), &sum); err != nil {
		return fmt.Errorf("the summary cannot be read: %w", err)
	}
	a.run.Rows, a.run.Columns, a.run.Tests = sum.Rows, sum.Schema, sum.Tests
	if a.run.Snapshot == nil {
		a.run.Snapshot = sum.Snapshot
	}
	if bad, ok := verdict(a.run.Asset.String(), a.run.Tests, len(a.plan.Checks)); !ok {
		a.samples(ctx)
		return errors.New(bad)
	}
	return nil
}

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
