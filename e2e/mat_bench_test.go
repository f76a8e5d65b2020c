package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/paired"
	"github.com/eiderdb/eider/materialize/plan"
	"github.com/eiderdb/eider/materialize/project"
	"github.com/eiderdb/eider/materialize/run"
)

// matEngine is a DuckDB of the tests as runs use it.
type matEngine struct {
	inst *duck.Instance
	duck.Session
}

func openMatEngine(ctx context.Context) (run.Engine, error) {
	inst, err := duck.Open(ctx)
	if err != nil {
		return nil, err
	}
	s, err := inst.Conn(ctx)
	if err != nil {
		_ = inst.Close()
		return nil, err
	}
	return &matEngine{inst, s}, nil
}

func (e *matEngine) Exec(ctx context.Context, sql string) error {
	_, err := e.Session.Exec(ctx, sql)
	return err
}

// Query gives whole numbers as such; the rest are texts.
func (e *matEngine) Query(ctx context.Context, sql string) ([][]any, error) {
	res, err := e.Session.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	rows := make([][]any, len(res.Rows))
	for i, r := range res.Rows {
		for _, v := range r {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				rows[i] = append(rows[i], n)
			} else {
				rows[i] = append(rows[i], v)
			}
		}
	}
	return rows, nil
}

func (e *matEngine) Attach(ctx context.Context, l run.Lake, alias, options string) error {
	if options != "" {
		options = " (" + options + ")"
	}
	return e.Exec(ctx, fmt.Sprintf(`ATTACH 'ducklake:postgres:%s' AS "%s"%s`, l.DSN, alias, options))
}

func (e *matEngine) Close() error {
	_ = e.Session.Close()
	return e.inst.Close()
}

// byHand does what a person would type for a run: open DuckDB, attach, the statements that write, and a query for each data test. The snapshots say as much.
func byHand(ctx context.Context, s *project.Script, lake run.Lake, partition string) error {
	in := s.Input()
	in.Partition, in.Snapshot = partition, &plan.Snapshot{Author: "me", Message: "by hand"}
	p, err := plan.Build(in)
	if err != nil {
		return err
	}
	db, err := openMatEngine(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := db.Attach(ctx, lake, lake.Name, ""); err != nil {
		return err
	}
	for _, st := range p.Statements[:len(p.Statements)-1] {
		switch {
		case st.Role == plan.AttachTo:
			err = db.Attach(ctx, lake, plan.Target, "")
		case st.Bootstrap: // the table is there
		default:
			err = db.Exec(ctx, st.SQL)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", st.SQL, err)
		}
	}
	for _, c := range p.Checks {
		if _, err := db.Query(ctx, c.Count()); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// TestBenchMaterialize prints what the layer costs beside the same statements typed by hand, and how fast a year of daily partitions is filled.
func TestBenchMaterialize(t *testing.T) {
	if !*benchFlag {
		t.Skip("a benchmark; -args -bench runs it")
	}
	ctx := context.Background()
	for _, target := range benchTargets(t) {
		db := newDatabase()
		if err := target.CreateDatabase(ctx, db); err != nil {
			t.Fatal(err)
		}
		p := newMatProject(ctx, t, target, target.DSN(db))
		p.sql(ctx, "CREATE TABLE src AS SELECT range AS id, range % 100 AS k, 'name ' || range AS name, DATE '2025-01-01' + CAST(range // 10000 AS INT) AS day FROM range(3650000)")
		p.write("whole.sql", "-- materialize ducklake://lake/whole\nSELECT * FROM lake.src WHERE id < 1000000")
		p.write("merge.sql", "-- materialize ducklake://lake/merge key=id\nSELECT * FROM lake.src WHERE id < 200000")
		p.write("small.sql", "-- materialize ducklake://lake/small\n-- data_test unique id\n-- data_test not_null name\nSELECT * FROM lake.src WHERE id < 10000")
		p.write("days.sql", "-- materialize ducklake://lake/days\n-- partitioned daily start=2025-01-01\nSELECT id, k, name FROM lake.src WHERE day = CAST({partition} AS DATE)")
		loaded, err := project.Load(os.DirFS(p.dir))
		if err != nil {
			t.Fatal(err)
		}
		lake := run.Lake{Name: "lake", DSN: p.dsn}
		r := &run.Runner{Project: loaded, Open: openMatEngine, Lake: func(string) (run.Lake, error) { return lake, nil }, Options: run.Options{Force: true}}
		fmt.Printf("\n| materialize on %s | by hand | with the layer | more | ratio | 95 %% of it |\n|---|---|---|---|---|---|\n", target.Name())
		for _, b := range []struct {
			name, script string
			rounds       int
		}{{"10,000 rows replaced, two tests", "small", 40}, {"200,000 rows merged by key", "merge", 20}, {"1,000,000 rows replaced", "whole", 20}} {
			if !benchWanted(t, "materialize "+b.name) {
				continue
			}
			s, ok := loaded.Find(b.script)
			if !ok {
				t.Fatal(b.script)
			}
			layer := func() (time.Duration, error) {
				start := time.Now()
				_, err := r.Run(ctx, run.Job{Script: s})
				return time.Since(start), err
			}
			hand := func() (time.Duration, error) {
				start := time.Now()
				err := byHand(ctx, s, lake, "")
				return time.Since(start), err
			}
			if _, err := layer(); err != nil { // makes the table
				t.Fatal(err)
			}
			if _, err := hand(); err != nil {
				t.Fatal(err)
			}
			sample, err := paired.Measure(b.rounds, hand, layer)
			if err != nil {
				t.Fatal(err)
			}
			res := sample.Result()
			fmt.Printf("| %s | %s | %s | %s | %.3f | %.3f–%.3f |\n", b.name, short(res.A.Median), short(res.B.Median), short(res.B.Median-res.A.Median), res.Ratio, res.Low, res.High)
		}
		if benchWanted(t, "materialize backfill") {
			s, _ := loaded.Find("days")
			days, err := s.Spec.Range(s.Spec.Start, s.Spec.Start.AddDays(364))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			b, err := r.Backfill(ctx, s, days, true, nil, nil)
			if err != nil || !b.OK() || len(b.Slices) != 365 {
				t.Fatalf("%d slices, %v", len(b.Slices), err)
			}
			took := time.Since(start)
			fmt.Printf("\nbackfill on %s: 365 partitions, 3650000 rows in %s: %.0f rows/s, %s for a partition\n", target.Name(), short(took), 3650000/took.Seconds(), short(took/365))
		}
		if got := p.rows(ctx, "SELECT count(*) FROM whole"); got != "1000000" && benchWanted(t, "materialize 1,000,000 rows replaced") {
			t.Errorf("%s rows", got)
		}
	}
}
