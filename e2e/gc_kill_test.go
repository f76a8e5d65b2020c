package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/killat"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// trap ends a server before one of its steps.
type trap interface {
	// arm says before which step, counted from 1.
	arm(ctx context.Context, n int) error
	// disarm lets the server live; it returns the step before which it was killed all the same.
	disarm() (string, error)
	// fired is the step before which the server was killed.
	fired() string
}

// callTrap kills before changes to files.
type callTrap struct {
	t *killat.Trap
	s *server.Server
}

func (c callTrap) arm(ctx context.Context, n int) error { return c.t.Arm(ctx, n, c.s.DataDir()) }
func (c callTrap) disarm() (string, error)              { return c.t.Disarm() }
func (c callTrap) fired() string                        { return c.t.Fired() }

// killLake is a lake on a server that can be killed at any step.
type killLake struct {
	s            *server.Server
	trap         trap
	dsn, db      string
	attach, data string // without a slash at the end
	fsck         []string
	setup        []string // what a DuckDB needs before it attaches the lake
	list         func(ctx context.Context, t *testing.T) map[string]int64
	d            duck.Session
	want         string // what content reads
	strays       int
}

const quarantineDir = ".eider-quarantine"

// newKillLake makes a lake on a disk.
func newKillLake(ctx context.Context, t *testing.T) *killLake {
	t.Helper()
	if !wantEider() {
		t.Skip("runs on eider only")
	}
	root := t.TempDir()
	script, calls, err := killat.Wrapper(t.TempDir(), eiderBinary(t))
	if errors.Is(err, killat.ErrUnsupported) {
		t.Skipf("the server is stopped before single system calls, which only Linux lets a test do; this is %s", runtime.GOOS)
	}
	if err != nil {
		t.Fatal(err)
	}
	k := &killLake{data: filepath.Join(root, "lake"), fsck: []string{"--files"}}
	k.list = k.onDisk
	k.start(ctx, t, script, "--delete-paths", root)
	k.trap = callTrap{calls, k.s}
	return k
}

// start starts the server, and makes the lake.
func (k *killLake) start(ctx context.Context, t *testing.T, bin string, args ...string) {
	t.Helper()
	var err error
	if k.s, err = server.Start(ctx, bin, args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			logTail(t, k.s.LogPath())
		}
		if err := k.s.Stop(); err != nil {
			t.Error(err)
		}
	})
	k.db = newDatabase()
	if err := k.s.CreateDatabase(ctx, k.db); err != nil {
		t.Fatal(err)
	}
	k.dsn = k.s.DSN(k.db)
	k.attach = fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", k.dsn, k.data)
	k.open(ctx, t)
	for _, sql := range []string{
		"CALL lake.set_option('data_inlining_row_limit', 0)",
		"CREATE TABLE lake.kept AS SELECT range AS i FROM range(100)",
		"DELETE FROM lake.kept WHERE i < 10", // a delete file
		"CREATE TABLE lake.t AS SELECT range AS i FROM range(10)",
	} {
		mustDuck(ctx, t, k.d, sql)
	}
	k.cli(ctx, t, true, "snapshot", "tag", "old")
	mustDuck(ctx, t, k.d, "DELETE FROM lake.kept WHERE i >= 90")
	k.cli(ctx, t, true, "gc", "run", "cleanup")
	k.want = k.content(ctx, t)
}

// open attaches the lake in a DuckDB that knows nothing of it.
func (k *killLake) open(ctx context.Context, t *testing.T) {
	t.Helper()
	k.d = newDuck(ctx, t)
	for _, sql := range append(slices.Clone(k.setup), k.attach) {
		mustDuck(ctx, t, k.d, sql)
	}
}

// cli runs a command of eider on the lake's catalog; ok says that it must succeed.
func (k *killLake) cli(ctx context.Context, t *testing.T, ok bool, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(ctx, eiderBinary(t), append(args, "--server", k.s.DSN("postgres"), "--catalog", k.db)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ok && err != nil {
		t.Fatalf("eider %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String(), err
}

// content is all that the lake has, in its newest state and at the tagged snapshot.
func (k *killLake) content(ctx context.Context, t *testing.T) string {
	t.Helper()
	c := connect(ctx, t, k.dsn)
	tagged := one(ctx, t, c, "SELECT snapshot_id FROM eider.tags")
	var out []string
	for _, sql := range []string{
		"SELECT count(*), sum(i), count(DISTINCT i) FROM lake.kept", "SELECT min(i), max(i), count(DISTINCT i) FROM (FROM lake.t UNION ALL FROM lake.t)",
		"SELECT count(*), sum(i) FROM lake.kept AT (VERSION => " + tagged + ")", "SELECT count(*), sum(i) FROM lake.t AT (VERSION => " + tagged + ")",
	} {
		out = append(out, fmt.Sprint(mustDuck(ctx, t, k.d, sql).Rows))
	}
	return strings.Join(out, " ")
}

// onDisk lists the files below the data path with their sizes, by their name there.
func (k *killLake) onDisk(_ context.Context, t *testing.T) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := filepath.WalkDir(k.data, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		out[k.rel(name)] = info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (k *killLake) rel(name string) string { return strings.TrimPrefix(name, k.data+"/") }

// column is what a query of one column gives.
func column(ctx context.Context, t *testing.T, c *pgconn.PgConn, sql string) []string {
	t.Helper()
	res := mustExec(ctx, t, c, sql)
	var out []string
	for _, r := range res[len(res)-1].Rows {
		out = append(out, string(r[0]))
	}
	return out
}

// merged makes files that are scheduled for deletion, and returns where they are.
func (k *killLake) merged(ctx context.Context, t *testing.T) []string {
	t.Helper()
	mustDuck(ctx, t, k.d, "INSERT INTO lake.t SELECT range FROM range(10)")
	mustDuck(ctx, t, k.d, "INSERT INTO lake.t SELECT range FROM range(10)")
	mustDuck(ctx, t, k.d, "CALL ducklake_merge_adjacent_files('lake')")
	return k.scheduled(ctx, t)
}

// scheduled are the files of the deletion schedule.
func (k *killLake) scheduled(ctx context.Context, t *testing.T) []string {
	t.Helper()
	return column(ctx, t, connect(ctx, t, k.dsn), "SELECT path FROM eider.schedule")
}

// stray makes files that nothing names.
func (k *killLake) stray(_ context.Context, t *testing.T) (out []string) {
	t.Helper()
	old := time.Now().AddDate(0, -1, 0)
	for range 2 {
		k.strays++
		rel := filepath.Join("main", "t", fmt.Sprintf("stray%d.parquet", k.strays))
		name := filepath.Join(k.data, rel)
		if err := errors.Join(os.WriteFile(name, []byte("nobody's"), 0o644), os.Chtimes(name, old, old)); err != nil {
			t.Fatal(err)
		}
		out = append(out, rel)
	}
	return out
}

// quarantined moves files aside, and returns where they were.
func (k *killLake) quarantined(ctx context.Context, t *testing.T) []string {
	t.Helper()
	files := k.merged(ctx, t)
	k.cli(ctx, t, true, "gc", "run", "cleanup", "--set", "quarantine=on")
	return files
}

// placed are the files that the list of the quarantine has: where each was, and where it is.
func (k *killLake) placed(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	c := connect(ctx, t, k.dsn)
	out := map[string]string{}
	if one(ctx, t, c, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'eider' AND table_name = 'quarantine'") == "0" {
		return out
	}
	for _, r := range column(ctx, t, c, "SELECT place || ' ' || path FROM eider.quarantine") {
		place, path, _ := strings.Cut(r, " ")
		out[k.rel(place)] = k.rel(path)
	}
	return out
}

// sound checks what must hold at any moment: what is named is there and reads as before, and what is in quarantine is on its list.
func (k *killLake) sound(ctx context.Context, t *testing.T) {
	t.Helper()
	if rep, code := runFsck(ctx, t, k.dsn, k.fsck...); code != 0 {
		t.Errorf("fsck: %v", rep.Findings)
	}
	k.open(ctx, t)
	if got := k.content(ctx, t); got != k.want {
		t.Errorf("the lake reads %s, not %s", got, k.want)
	}
	have := k.list(ctx, t)
	c := connect(ctx, t, k.dsn)
	for _, table := range []string{"ducklake_data_file", "ducklake_delete_file"} {
		for _, name := range column(ctx, t, c, "SELECT path FROM "+table) {
			if _, t1 := have["main/t/"+name]; t1 {
				continue
			}
			if _, t2 := have["main/kept/"+name]; !t2 {
				t.Errorf("%s of %s is missing", name, table)
			}
		}
	}
	listed := k.placed(ctx, t)
	for name := range have {
		if _, ok := listed[name]; !ok && strings.HasPrefix(name, quarantineDir) {
			t.Errorf("%s is in quarantine, and not on its list", name)
		}
	}
}

// unlost checks that each file is where it was, or in quarantine.
func (k *killLake) unlost(ctx context.Context, t *testing.T, files []string, sizes map[string]int64) {
	t.Helper()
	have, listed := k.list(ctx, t), k.placed(ctx, t)
	for _, f := range files {
		size, ok := have[f]
		for place, path := range listed {
			if n, there := have[place]; there && path == f {
				size, ok = n, true
			}
		}
		if !ok || size != sizes[f] {
			t.Errorf("%s is lost: %d bytes of %d", f, size, sizes[f])
		}
	}
}

// killCase is a job and what it is to do.
type killCase struct {
	name string
	make func(k *killLake, ctx context.Context, t *testing.T) []string
	run  []string
	keep bool // nothing may be lost: the files go aside, or come back
	back bool // they come back
}

func cleanupCases() []killCase {
	return []killCase{
		{"cleanup", (*killLake).merged, []string{"gc", "run", "cleanup"}, false, false},
		{"cleanup aside", (*killLake).merged, []string{"gc", "run", "cleanup", "--set", "quarantine=on"}, true, false},
		{"purge", (*killLake).quarantined, []string{"gc", "run", "cleanup"}, false, false},
		{"restore", (*killLake).quarantined, []string{"gc", "quarantine", "restore", "--all"}, true, true},
	}
}

// TestKillAtEveryStepOfDeletion kills the server before each change to files that a job makes, one after the other, until the job comes to its end.
// After every kill nothing that is named is missing, and the same command, given again, ends the work. Orphans are scheduled before they go, so the rest
// of them is the next cleanup's.
func TestKillAtEveryStepOfDeletion(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred kills are long; they run without -short")
	}
	for _, tc := range append(cleanupCases(),
		killCase{"orphans", (*killLake).stray, []string{"gc", "run", "cleanup", "orphans", "--set", "orphans=on"}, false, false},
		killCase{"orphans aside", (*killLake).stray, []string{"gc", "run", "cleanup", "orphans", "--set", "orphans=on", "--set", "quarantine=on"}, true, false},
	) {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			newKillLake(ctx, t).sweep(ctx, t, tc)
		})
	}
}

// sweep kills the server before each step of a job.
func (k *killLake) sweep(ctx context.Context, t *testing.T, tc killCase) {
	t.Helper()
	if tc.name == "purge" {
		k.cli(ctx, t, true, "gc", "policy", "set", "quarantine-keep", "0s")
	}
	var fired, all []string
	for n, call := 1, "first"; call != ""; n++ {
		files := tc.make(k, ctx, t)
		all = append(all, files...)
		if len(files) < 2 {
			t.Fatalf("there is nothing to do: %q", files)
		}
		sizes := k.sizes(ctx, t, files)
		if call = k.killed(ctx, t, n, tc.run); call != "" {
			fired = append(fired, call)
			if err := k.s.Launch(ctx); err != nil {
				t.Fatalf("after %s: %v", call, err)
			}
			k.sound(ctx, t)
			if tc.keep {
				k.unlost(ctx, t, files, sizes)
			}
			k.cli(ctx, t, true, tc.run...)
		}
		k.ended(ctx, t, files, sizes, &tc)
		if t.Failed() {
			t.Fatalf("killed before step %d: %s", n, call)
		}
	}
	t.Logf("%d kills: %s", len(fired), strings.Join(fired, ", "))
	if len(fired) < 2 {
		t.Errorf("killed %d times only", len(fired))
	}
	if tc.keep && !tc.back { // all of it can be brought back, in one go
		k.cli(ctx, t, true, "gc", "quarantine", "restore", "--all")
		have := k.list(ctx, t)
		for _, f := range all {
			if _, there := have[f]; !there {
				t.Errorf("%s has not come back", f)
			}
		}
	}
	// What is left in quarantine goes in the end, and nothing of it stays.
	k.cli(ctx, t, true, "gc", "policy", "set", "quarantine-keep", "0s")
	k.cli(ctx, t, true, "gc", "run", "cleanup")
	if listed := k.placed(ctx, t); len(listed) > 0 {
		t.Errorf("still in quarantine: %v", listed)
	}
	for name := range k.list(ctx, t) {
		if strings.HasPrefix(name, quarantineDir) {
			t.Errorf("%s stays for ever", name)
		}
	}
}

// killed runs a command and has the server killed before a step; it returns the step, or "" when the command came to its end.
func (k *killLake) killed(ctx context.Context, t *testing.T, n int, run []string) string {
	t.Helper()
	if err := k.trap.arm(ctx, n); err != nil {
		t.Fatal(err)
	}
	out, err := k.cli(ctx, t, false, run...)
	if err == nil {
		if call, err := k.trap.disarm(); call != "" || err != nil {
			t.Fatalf("killed after the end of the work: %s %v", call, err)
		}
		return ""
	}
	call := k.trap.fired()
	if call == "" {
		t.Fatalf("eider %s: %v\n%s", strings.Join(run, " "), err, out)
	}
	return call
}

// sizes are those of files, wherever they are.
func (k *killLake) sizes(ctx context.Context, t *testing.T, files []string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	have := k.list(ctx, t)
	for _, f := range files {
		out[f] = have[f]
	}
	for place, path := range k.placed(ctx, t) {
		if slices.Contains(files, path) {
			out[path] = have[place]
		}
	}
	return out
}

// ended checks that the work is done: nothing is scheduled, the files are gone, aside, or back where they were.
func (k *killLake) ended(ctx context.Context, t *testing.T, files []string, sizes map[string]int64, tc *killCase) {
	t.Helper()
	k.sound(ctx, t)
	if left := k.scheduled(ctx, t); len(left) > 0 {
		t.Errorf("still scheduled: %q", left)
	}
	if tc.keep {
		k.unlost(ctx, t, files, sizes)
	}
	have := k.list(ctx, t)
	for _, f := range files {
		if _, there := have[f]; there != tc.back {
			t.Errorf("%s is there: %v", f, there)
		}
	}
	if listed := k.placed(ctx, t); tc.back && len(listed) > 0 {
		t.Errorf("still in quarantine: %v", listed)
	}
}
