package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/e2e/internal/duck"
)

// everything reads all tables of a lake at all its snapshots, row ids included.
func everything(ctx context.Context, t *testing.T, d duck.Session) []string {
	t.Helper()
	query := func(sql string) [][]string {
		res, err := d.Query(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return res.Rows
	}
	var out []string
	for _, s := range query("SELECT snapshot_id FROM lake.snapshots() ORDER BY 1") {
		// Which tables a snapshot has is found by asking for them.
		for _, table := range []string{"main.t0", "main.t1", "main.t2", "main.t3", "main.t4", "s0.u", "s1.u"} {
			res, err := d.Query(ctx, fmt.Sprintf("SELECT rowid, * FROM lake.%s AT (VERSION => %s) ORDER BY ALL", table, s[0]))
			if err != nil {
				text, _, _ := strings.Cut(err.Error(), "\n")
				out = append(out, s[0]+" "+table+": "+text)
				continue
			}
			n, err := d.Query(ctx, fmt.Sprintf("SELECT count(*) FROM lake.%s AT (VERSION => %s)", table, s[0]))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s %s: %s rows %v", s[0], table, n.Rows[0][0], res.Rows))
		}
	}
	return out
}

// TestTrim trims lakes after an expiry of DuckLake's: what can be read stays the same, also after a flush, and clients go on.
func TestTrim(t *testing.T) {
	s := privateEider(t)
	ctx := context.Background()
	seed := newSeed(t)
	const lakes, steps = 3, 100
	dbs, attach, before := []string{}, map[string]string{}, map[string][]string{}
	for i := range lakes {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		db := newDatabase()
		dbs = append(dbs, db)
		attach[db] = grown(ctx, t, s, db, r, steps)
		d := again(ctx, t, attach[db])
		if i > 0 {
			res, err := d.Query(ctx, "SELECT list(snapshot_id ORDER BY snapshot_id)[:-2] FROM lake.snapshots()")
			if err != nil {
				t.Fatal(err)
			}
			ids := strings.FieldsFunc(res.Rows[0][0], func(c rune) bool { return c < '0' || c > '9' })
			ids = slices.DeleteFunc(ids, func(string) bool { return r.IntN(6) == 0 })
			if _, err := d.Exec(ctx, fmt.Sprintf("CALL ducklake_expire_snapshots('lake', versions => [%s])", strings.Join(ids, ","))); err != nil {
				t.Fatal(err)
			}
		}
		before[db] = everything(ctx, t, again(ctx, t, attach[db]))
	}
	s.Kill()
	for _, db := range dbs {
		r := gcStep(ctx, t, s.DataDir(), db, "-rows", "7", "-check", "-plan", "trim")
		if len(r.Findings) > 0 {
			t.Errorf("%s: findings on the way:\n%s", db, strings.Join(r.Findings, "\n"))
		}
		t.Logf("%s: planned %v\ndone %v", db, r.Plan.Counts, r.Result.Counts)
		for what, n := range r.Plan.Counts {
			if r.Result.Counts[what] < n {
				t.Errorf("%s: %d %s were planned, %d done", db, n, what, r.Result.Counts[what])
			}
		}
		if again := gcStep(ctx, t, s.DataDir(), db, "trim"); len(again.Result.Counts) > 0 {
			t.Errorf("%s: trimmed once more: %v", db, again.Result.Counts)
		}
		for _, f := range gcStep(ctx, t, s.DataDir(), db, "dump").Findings {
			t.Errorf("%s: %s", db, f)
		}
	}
	if err := s.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	for _, db := range dbs {
		d := again(ctx, t, attach[db])
		if after := everything(ctx, t, d); !slices.Equal(before[db], after) {
			t.Errorf("%s: before the trim only:\n%s\nafter it only:\n%s", db, strings.Join(minus(before[db], after), "\n"), strings.Join(minus(after, before[db]), "\n"))
		}
		for _, sql := range []string{
			"CALL ducklake_flush_inlined_data('lake')", "CALL ducklake_merge_adjacent_files('lake')",
			"CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.1)",
		} {
			if _, err := d.Exec(ctx, sql); err != nil {
				// This client cannot merge files with a mapping of names, trimmed or not.
				if strings.Contains(err.Error(), "shared_ptr that is NULL") {
					d = again(ctx, t, attach[db])
					continue
				}
				t.Errorf("%s: %s: %v", db, sql, err)
			}
		}
		// Snapshots that were there are as they were; these made none of another content.
		d = again(ctx, t, attach[db])
		after := everything(ctx, t, d)
		if gone := minus(before[db], after); len(gone) > 0 {
			t.Errorf("%s: different after compactions:\n%s", db, strings.Join(gone, "\n"))
		}
		for _, sql := range []string{
			"CREATE TABLE lake.fresh (i INTEGER, s VARCHAR)", "INSERT INTO lake.fresh VALUES (1, 'a')", "ALTER TABLE lake.fresh ADD COLUMN c INTEGER",
			"INSERT INTO lake.fresh VALUES (2, 'b', 3)", "UPDATE lake.fresh SET c = 4", "CALL ducklake_flush_inlined_data('lake')",
		} {
			if _, err := d.Exec(ctx, sql); err != nil {
				t.Errorf("%s: %s: %v", db, sql, err)
			}
		}
	}
}
