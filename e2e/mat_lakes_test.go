package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/script"
)

// TestMaterializeTwoLakes reads one lake and writes another, with tests that compare across them; the graph knows where each column comes from.
func TestMaterializeTwoLakes(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		other := newDatabase()
		if err := target.CreateDatabase(ctx, other); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = target.DropDatabase(context.Background(), other) })
		raw := lakeSession(ctx, t, target.DSN(other), t.TempDir())
		for _, sql := range []string{"CREATE SCHEMA sales", "CREATE TABLE sales.orders AS SELECT range AS id, range % 3 AS customer, 1.5 AS price, 2 AS quantity FROM range(6)", "CREATE TABLE customers AS SELECT range AS id FROM range(3)"} {
			mustDuck(ctx, t, raw, sql)
		}
		// The other lake is no entry of the settings but the database of its name on the server.
		p.write("sums.sql", "-- materialize ducklake://lake/sums key=customer\n-- data_test relationships customer -> ducklake://"+other+"/customers.id\n"+
			"ATTACH 'ducklake://"+other+"' AS raw;\nSELECT o.customer, sum(o.price * o.quantity) AS amount FROM raw.sales.orders o GROUP BY ALL")
		if got := ended(p.must(ctx, "run")); got != "sums materialized" {
			t.Fatalf("it ran: %s", got)
		}
		if got := p.rows(ctx, "SELECT customer, amount FROM sums ORDER BY customer"); got != "0 | 6.0\n1 | 6.0\n2 | 6.0" {
			t.Errorf("the table:\n%s", got)
		}
		if got := ended(p.must(ctx, "run")); got != "sums skipped" {
			t.Errorf("without a change of the other lake: %s", got)
		}
		mustDuck(ctx, t, raw, "INSERT INTO sales.orders VALUES (7, 9, 1, 1)")
		code, lines, _ := p.do(ctx, "run")
		if got := ended(lines); code != 1 || got != "sums failed" {
			t.Errorf("a customer that the other lake does not have: exit code %d, %s", code, got)
		}

		p.write("all.sql", "-- materialize ducklake://lake/all\nSELECT * EXCLUDE (amount), amount AS total FROM lake.sums")
		want := map[string]string{
			"sums": "customer <- ducklake://other/sales.orders.customer; amount <- ducklake://other/sales.orders.price ducklake://other/sales.orders.quantity",
			"all":  "customer <- ducklake://lake/sums.customer; total <- ducklake://lake/sums.amount",
		}
		if got := p.columnsOf(ctx, other); got["sums"] != want["sums"] || got["all"] != want["all"] {
			t.Errorf("the columns: %v", got)
		}
		want["all"] = "* <- ducklake://lake/sums.*; total <- ducklake://lake/sums.amount"
		if got := p.columnsOf(ctx, other, "--no-status"); got["sums"] != want["sums"] || got["all"] != want["all"] {
			t.Errorf("the columns when no catalog is asked: %v", got)
		}
	})
}

// columnsOf are the columns of the graph with what they are made of, by script; a lake is called other.
func (p *matProject) columnsOf(ctx context.Context, other string, args ...string) map[string]string {
	p.t.Helper()
	out, err := p.command(ctx, "graph", append([]string{"--format", "json"}, args...)...).Output()
	if err != nil {
		p.t.Fatal(err)
	}
	var g struct {
		Columns []struct {
			Script  string
			Columns []struct {
				Name string
				From []struct{ Asset, Column string }
			}
		}
	}
	if err := json.Unmarshal(out, &g); err != nil {
		p.t.Fatal(err)
	}
	of := map[string]string{}
	for _, s := range g.Columns {
		var list []string
		for _, c := range s.Columns {
			text := c.Name + " <-"
			for _, f := range c.From {
				text += " " + strings.ReplaceAll(f.Asset, other, "other") + "." + f.Column
			}
			list = append(list, text)
		}
		of[s.Script] = strings.Join(list, "; ")
	}
	return of
}

// TestMaterializeSchedule has a watch that runs a script by the clock, and one whose table is stale.
func TestMaterializeSchedule(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		p := newMatProject(ctx, t, target, dsn)
		p.write("tick.sql", "-- materialize ducklake://lake/tick append\n-- on schedule cron=\"@every 1s\"\nSELECT now() AS t")
		p.write("fresh.sql", "-- materialize ducklake://lake/fresh\n-- freshness 1s\nSELECT 1 AS a")
		running, ch := p.start(ctx, "watch")
		seen := map[string]int{}
		for l := range ch {
			if l.Event == "ended" && l.Status == "materialized" {
				seen[l.Script]++
			}
			if seen["tick"] >= 2 && seen["fresh"] >= 2 {
				break
			}
		}
		running.Kill()
		<-running.Done()
		got := p.rows(ctx, "SELECT DISTINCT regexp_replace(trigger, '[0-9].*', '') FROM "+records("runs")+" ORDER BY 1")
		if got != "schedule: \nstale" {
			t.Errorf("why they ran:\n%s", got)
		}
		if got := p.rows(ctx, "SELECT count(*) = count(DISTINCT trigger) FROM "+records("runs")+" WHERE script = 'tick'"); got != "true" {
			t.Error("a tick has two runs")
		}
	})
}
