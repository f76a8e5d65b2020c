package e2e

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/run"
	"github.com/eiderdb/eider/materialize/state"
)

// lostCommit is an engine whose COMMIT of rows comes to its end, and then something else happens.
type lostCommit struct {
	run.Engine
	rows  bool // rows were inserted in this transaction
	after func() error
}

func (e *lostCommit) Exec(ctx context.Context, sql string) error {
	err := e.Engine.Exec(ctx, sql)
	if strings.HasPrefix(sql, "INSERT") {
		e.rows = true
	}
	if err == nil && sql == "COMMIT" && e.rows {
		return e.after()
	}
	return err
}

// TestMaterializeLostCommit ends a run that appends between its COMMIT and its record, once with its process and once with the answer. Its rows are there
// once, and the record says so.
func TestMaterializeLostCommit(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.sql(ctx, "CREATE TABLE src AS SELECT 1 AS n")
		p.write("t.sql", "-- materialize ducklake://lake/t append\n-- data_test not_null n\nSELECT n FROM lake.src")
		loaded, err := project.Load(os.DirFS(p.dir))
		if err != nil {
			t.Fatal(err)
		}
		s, _ := loaded.Find("t")
		lake := run.Lake{Name: "lake", DSN: dsn}
		runner := func(after func() error) *run.Runner {
			return &run.Runner{
				Project: loaded, Lake: func(string) (run.Lake, error) { return lake, nil }, Options: run.Options{Force: true},
				Open: func(ctx context.Context) (run.Engine, error) {
					e, err := openMatEngine(ctx)
					return &lostCommit{Engine: e, after: after}, err
				},
			}
		}
		whole := func() error { return nil }

		// The process ends: whatever it holds goes with it, and nothing more is recorded.
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = runner(func() error { runtime.Goexit(); return nil }).Run(ctx, run.Job{Script: s})
		}()
		<-gone
		p.sql(ctx, "INSERT INTO src VALUES (2)")
		made, err := runner(whole).Run(ctx, run.Job{Script: s})
		if err != nil || made.Status != state.Materialized || *made.Rows != 1 {
			t.Fatalf("after a process that ended: %+v, %v", made, err)
		}
		if got := p.rows(ctx, "SELECT n FROM t"); got != "1" {
			t.Errorf("the rows of the run that ended: %s", got)
		}
		first := p.rows(ctx, "SELECT max(snapshot_id) FROM ducklake_snapshots('lake') WHERE commit_extra_info LIKE '%\"run\":%'")
		if got := one(ctx, t, connect(ctx, t, dsn), "SELECT string_agg(status || ' ' || coalesce(CAST(snapshot_id AS text), '-'), ', ' ORDER BY started_at) FROM eider_materialize.runs"); got != "failed -, materialized "+first {
			t.Errorf("the records: %s, the snapshot is %s", got, first)
		}
		// The next one appends what the source has now.
		if made, err = runner(whole).Run(ctx, run.Job{Script: s}); err != nil || *made.Rows != 3 {
			t.Fatalf("the run after it: %+v, %v", made, err)
		}

		// The answer is lost: the catalog says that the rows are there.
		made, err = runner(func() error { return errors.New("server closed the connection unexpectedly") }).Run(ctx, run.Job{Script: s})
		if err != nil || made.Status != state.Materialized || *made.Rows != 5 {
			t.Errorf("an answer that is lost: %+v, %v", made, err)
		}
		if err := healthy(ctx, target, databaseOf(t, dsn)); err != nil {
			t.Error(err)
		}
	})
}

// TestMaterializeNoRetryOfTests does not append again for tests that failed, and does for other failures.
func TestMaterializeNoRetryOfTests(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("t.sql", "-- materialize ducklake://lake/t append\n-- retry 3\n-- data_test unique n\nSELECT unnest([1, 1]) AS n")
		p.write("u.sql", "-- materialize ducklake://lake/u append\n-- retry 2\nSELECT error('no') AS n")
		code, lines, _ := p.do(ctx, "run")
		if got := ended(lines); code != 1 || got != "t failed, u failed, u failed, u failed" {
			t.Errorf("exit code %d, %s", code, got)
		}
		if got := p.rows(ctx, "SELECT count(*) FROM t"); got != "2" {
			t.Errorf("%s rows", got)
		}
	})
}

// TestMaterializeOrderOfReferences runs a script after the table that its tests compare with, whatever their names are.
func TestMaterializeOrderOfReferences(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("a.sql", "-- materialize ducklake://lake/a\n-- data_test relationships n -> ducklake://lake/z.n\nSELECT 1 AS n")
		p.write("z.sql", "-- materialize ducklake://lake/z\nSELECT 1 AS n")
		if got := ended(p.must(ctx, "run")); got != "z materialized, a materialized" {
			t.Errorf("the order: %s", got)
		}
		// Two that compare with each other have none; both are there now.
		p.write("z.sql", "-- materialize ducklake://lake/z\n-- data_test relationships n -> ducklake://lake/a.n\nSELECT 1 AS n")
		if got := ended(p.must(ctx, "run", "--force")); got != "a materialized, z materialized" {
			t.Errorf("in a circle: %s", got)
		}
	})
}
