package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// cleanReport is what the command cleanstep prints.
type cleanReport struct {
	Result struct {
		Counts   map[string]int64
		Deferred int64
		Notes    []string
	}
	Manifest []struct {
		Path, Reason, Action string
		Size                 int64
	}
}

func (r *cleanReport) lines() []string {
	var out []string
	for _, l := range r.Manifest {
		out = append(out, fmt.Sprint(l.Action, " ", l.Path, " ", l.Size))
	}
	slices.Sort(out)
	return out
}

// cleanStep runs a job that deletes files on the data folder of a server that is stopped meanwhile.
func cleanStep(ctx context.Context, t *testing.T, s *server.Server, args ...string) cleanReport {
	t.Helper()
	bin := stepBinary(t, &shared.cleanstep, "cleanstep")
	s.Kill()
	defer func() {
		if err := s.Launch(ctx); err != nil {
			t.Fatal(err)
		}
	}()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, append([]string{"-data", s.DataDir()}, args...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	var r cleanReport
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// DuckLake merges, deletes and expires; the server's jobs remove exactly the files that nothing names any more, on a disk and in a
// bucket, with partition values that are encoded in paths, and with a data path that is written in another way than the files' paths.
func TestClean(t *testing.T) {
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for _, tc := range []struct {
		name     string
		dataPath func(root string) string
	}{
		{"disk", func(root string) string { return root + "/data" }},
		{"disk with trailing slashes", func(root string) string { return root + "/./data//" }},
		{"s3", func(root string) string { return root + "/data/" }},
		{"s3a", func(root string) string { return strings.Replace(root, "s3://", "s3a://", 1) + "/data" }},
		{"gs", func(root string) string { return root + "/data/" }},
		{"gcs", func(root string) string { return strings.Replace(root, "gs://", "gcs://", 1) + "/data" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := privateEider(t)
			c := newDuck(ctx, t)
			root := t.TempDir()
			access := []string{"-folders", root}
			if !strings.HasPrefix(tc.name, "disk") {
				endpoint := objectStorage(ctx, t)
				makeBucket(ctx, t, c, endpoint, "clean")
				root = "s3://clean"
				access = []string{"-s3-endpoint", endpoint, "-s3-key", s3Key, "-s3-secret", s3Secret}
				if strings.HasPrefix(tc.name, "g") { // as DuckDB speaks to Google: by the same protocol
					mustDuck(ctx, t, c, fmt.Sprintf("CREATE SECRET (TYPE gcs, KEY_ID '%s', SECRET '%s', ENDPOINT '%s', URL_STYLE 'path', USE_SSL false)", s3Key, s3Secret, endpoint))
					root, access = "gs://clean", append(access, "-google")
				}
				access = append(access, "-folders", root+"/data")
			}
			cleanLake(ctx, t, s, c, root, tc.dataPath(root), access)
		})
	}
}

// cleanLake makes a lake with all that cleanup and orphans are about, and runs them.
func cleanLake(ctx context.Context, t *testing.T, s *server.Server, c duck.Session, root, dataPath string, access []string) {
	t.Helper()
	run := func(list ...string) {
		t.Helper()
		for _, sql := range list {
			if _, err := c.Exec(ctx, sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	column := func(sql string) []string {
		t.Helper()
		res, err := c.Query(ctx, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var out []string
		for _, r := range res.Rows {
			out = append(out, strings.Join(r, " "))
		}
		slices.Sort(out)
		return out
	}
	attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", s.DSN("lake"), dataPath)
	run(attach,
		"CALL lake.set_option('data_inlining_row_limit', 0)",
		"CREATE TABLE lake.t (p VARCHAR, i INTEGER)",
		"ALTER TABLE lake.t SET PARTITIONED BY (p)")
	for i := range 3 {
		run(fmt.Sprintf("INSERT INTO lake.t SELECT p, %d FROM (VALUES ('a b'), ('x=y'), ('50%%'), ('é/ü'), ('plain')) v(p), range(3)", i))
	}
	run("DELETE FROM lake.t WHERE p = 'plain' AND i = 1",
		"CALL ducklake_merge_adjacent_files('lake')",
		"CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 0 SECONDS)",
		"INSERT INTO lake.t VALUES ('a b', 99)")
	list := func() []string { return column(fmt.Sprintf("SELECT file FROM glob('%s/data/**')", root)) }
	rows := "SELECT * FROM lake.t ORDER BY ALL"
	want := column(rows)
	folders := column("SELECT DISTINCT regexp_replace(data_file, '[^/]*$', '') FROM ducklake_list_files('lake', 't')")
	if len(folders) != 5 {
		t.Fatalf("folders of partitions: %q", folders)
	}
	live := len(column("SELECT data_file FROM ducklake_list_files('lake', 't') UNION ALL SELECT delete_file FROM ducklake_list_files('lake', 't') WHERE delete_file IS NOT NULL"))
	scheduled := len(column("SELECT path FROM __ducklake_metadata_lake.ducklake_files_scheduled_for_deletion"))
	if before := len(list()); scheduled == 0 || before != live+scheduled {
		t.Fatalf("%d files, %d live and %d scheduled", before, live, scheduled)
	}
	run("DETACH lake")

	both := func(step string, more ...string) cleanReport {
		t.Helper()
		args := append(slices.Clone(access), more...)
		before := list()
		plan := cleanStep(ctx, t, s, append(append(slices.Clone(args), "-plan"), step)...)
		if after := list(); !slices.Equal(before, after) {
			t.Fatalf("a dry run of %s has changed %q to %q", step, before, after)
		}
		done := cleanStep(ctx, t, s, append(args, step)...)
		if !slices.Equal(plan.lines(), done.lines()) {
			t.Fatalf("%s: planned\n%s\ndone\n%s", step, strings.Join(plan.lines(), "\n"), strings.Join(done.lines(), "\n"))
		}
		return done
	}
	// Nothing is old enough to be an orphan, or may be deleted before its time.
	if r := both("orphans"); len(r.Manifest) != 0 {
		t.Fatalf("orphans among files just written: %q", r.lines())
	}
	if r := both("cleanup", "-set", "deletion-grace=1h"); len(r.Manifest) != 0 {
		t.Fatalf("cleaned up before the time: %q", r.lines())
	}
	// Aside and back.
	if r := both("cleanup", "-set", "quarantine=on", "-after", "1s"); len(r.Manifest) != scheduled || len(list()) != live+scheduled {
		t.Fatalf("quarantine: %+v", r)
	}
	if r := cleanStep(ctx, t, s, append(slices.Clone(access), "restore")...); r.Result.Counts["files brought back"] != int64(scheduled) {
		t.Fatalf("restore: %+v", r)
	}
	// What came back is named nowhere now, and neither are these.
	run(fmt.Sprintf("COPY (SELECT 1) TO '%sstray é%%.parquet'", folders[0]), fmt.Sprintf("COPY (SELECT 1) TO '%s/data/notes.csv'", root))
	if r := both("orphans", "-after", "720h"); len(r.Manifest) != scheduled+1 {
		t.Fatalf("orphans: %q", r.lines())
	}
	if left := list(); len(left) != live+1 {
		t.Fatalf("left: %q, want %d", left, live+1)
	}
	run(attach)
	if got := column(rows); !slices.Equal(got, want) {
		t.Fatalf("rows: %q, want %q", got, want)
	}
	// A second table's files go when it is dropped and its snapshots expire, and when they are missing already.
	run("CREATE TABLE lake.u AS SELECT 1 AS i", "INSERT INTO lake.u VALUES (2)", "DROP TABLE lake.u",
		"CALL ducklake_expire_snapshots('lake', older_than => now() - INTERVAL 0 SECONDS)", "DETACH lake")
	if r := both("cleanup", "-after", "1s"); len(r.Manifest) != 2 || len(list()) != live+1 {
		t.Fatalf("cleanup: %q", r.lines())
	}
	if r := both("cleanup", "-after", "1s"); len(r.Manifest) != 0 {
		t.Fatalf("again: %q", r.lines())
	}
	run(attach)
	if got := column(rows); !slices.Equal(got, want) {
		t.Fatalf("rows at last: %q, want %q", got, want)
	}
}
