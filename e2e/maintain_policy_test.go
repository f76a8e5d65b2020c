package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestMaintainPolicies runs maintain by the policies of a catalog: what is turned off for a table is left as it is, tiers and thresholds
// are the table's own, flags go before them, and the history has what was done, also of a run that is killed.
func TestMaintainPolicies(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	target := privateEider(t)
	db := newDatabase()
	if err := target.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	dsn := target.DSN(db)
	data := t.TempDir()
	s := lakeSession(ctx, t, dsn, data)
	buildMaintained(ctx, t, s, rand.New(rand.NewPCG(newSeed(t), 0)))
	c := connect(ctx, t, dsn)
	policy := func(name, value, schema, table string) {
		t.Helper()
		mustExec(ctx, t, c, fmt.Sprintf("SELECT * FROM eider.gc_policy_set('%s', '%s', 'public', '%s', '%s')", name, value, schema, table))
	}
	did := func(want int, args ...string) map[string]bool {
		t.Helper()
		code, events, errs := runMaintain(ctx, t, target, db, args...)
		if code != want {
			t.Fatalf("exit code %d, want %d: %+v\n%s", code, want, events, errs)
		}
		out := map[string]bool{}
		for _, e := range events {
			if e.Event == "step" {
				out[e.Phase+" "+e.Table+" "+e.Status] = true
			}
		}
		return out
	}
	want := func(got map[string]bool, step string, is bool) {
		t.Helper()
		if got[step] != is {
			t.Errorf("%q: %v, want %v, of %v", step, got[step], is, got)
		}
	}
	policy("tiers", testTiers, "", "")
	policy("merge", "off", "main", "plain")
	policy("min-inlined-rows", "1000000", "other", "")
	policy("rewrite", "off", "main", "")

	plan := did(0, "--dry-run")
	want(plan, "merge plain off", true)
	want(plan, "merge plain planned", false)
	want(plan, "rewrite plain off", true)
	want(plan, "flush small planned", false)
	want(plan, "merge parts planned", true)
	run := did(0)
	want(run, "merge plain done", false)
	want(run, "rewrite plain done", false)
	want(run, "flush small done", false)
	want(run, "merge parts done", true)
	if n := one(ctx, t, c, "SELECT max(file_size_bytes) < 300000 FROM ducklake_data_file WHERE end_snapshot IS NULL AND table_id IN (SELECT table_id FROM ducklake_table WHERE table_name = 'parts')"); n != "t" {
		t.Error("a file was merged beyond the tiers of the policy")
	}
	// A flag goes before what is set for a table.
	run = did(0, "--only", "merge", "--table", "main.plain")
	want(run, "merge plain done", true)
	want(did(0, "--min-inlined-rows", "1", "--skip", "merge"), "flush small done", true)

	// The history has all of it, beside the server's own jobs.
	rows := mustExec(ctx, t, c, "SELECT state, dry_run, counts, plan, coalesce(options, '') FROM eider.jobs WHERE kind = 'maintain' ORDER BY id")[0].Rows
	if len(rows) != 4 {
		t.Fatalf("%d runs in the history", len(rows))
	}
	for i, r := range rows {
		if string(r[0]) != "done" || (string(r[1]) == "t") != (i == 0) || !json.Valid(r[2]) || !strings.Contains(string(r[3]), `"items"`) {
			t.Errorf("run %d: %s", i, r)
		}
	}
	if got := string(rows[1][2]) + string(rows[3][2]); !strings.Contains(got, "files merged") || !strings.Contains(got, "rows flushed") {
		t.Errorf("two runs did %s", got)
	}
	if got := string(rows[2][4]); got != `{"only":"merge","table":"main.plain"}` {
		t.Errorf("options of the second run: %s", got)
	}

	// A policy that cannot be read keeps everything as it is.
	mustExec(ctx, t, c, "INSERT INTO eider.policies (lake, name, value) VALUES ('public', 'flush', 'perhaps')")
	code, _, errs := runMaintain(ctx, t, target, db)
	if code != 1 || !strings.Contains(errs, "perhaps") {
		t.Errorf("a policy that cannot be read: exit code %d, %s", code, errs)
	}
	mustExec(ctx, t, c, "DELETE FROM eider.policies WHERE value = 'perhaps'")

	// A run that is killed is shown as such.
	for i := range 40 {
		mustDuck(ctx, t, s, fmt.Sprintf("INSERT INTO main.plain SELECT i, 'x' FROM range(%d, %d) t(i)", 1_000_000+i*100, 1_000_000+i*100+100))
	}
	p, _ := startMaintain(ctx, t, target, db, "--only", "merge", "--outputs-per-step", "1")
	state := func() string {
		return one(ctx, t, c, "SELECT state || ' ' || coalesce(error, '') FROM eider.jobs WHERE kind = 'maintain' ORDER BY id DESC LIMIT 1")
	}
	for one(ctx, t, c, "SELECT count(*) FROM eider.jobs WHERE kind = 'maintain' AND state = 'running'") == "0" {
		select {
		case <-p.Done():
			t.Fatal("it ended before it was killed")
		default:
		}
	}
	p.Kill()
	for strings.HasPrefix(state(), "running") {
	}
	if got := state(); !strings.HasPrefix(got, "interrupted the connection of the worker ended") {
		t.Errorf("a run that was killed: %s", got)
	}
	if err := healthy(ctx, target, db); err != nil {
		t.Error(err)
	}
}
