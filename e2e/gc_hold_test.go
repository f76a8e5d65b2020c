package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/server"
)

// holdLake is a lake whose table is replaced as a whole again and again: each state has one file of its own.
type holdLake struct {
	s      *server.Server
	dsn    string
	db     string
	data   string
	attach string
	d      duck.Session
}

func newHoldLake(ctx context.Context, t *testing.T) *holdLake {
	t.Helper()
	root := t.TempDir()
	l := &holdLake{s: privateEider(t, "--delete-paths", root), db: newDatabase(), data: filepath.Join(root, "lake")}
	if err := l.s.CreateDatabase(ctx, l.db); err != nil {
		t.Fatal(err)
	}
	l.dsn = l.s.DSN(l.db)
	l.attach = fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", l.dsn, l.data)
	l.d = again(ctx, t, l.attach)
	mustDuck(ctx, t, l.d, "CALL lake.set_option('data_inlining_row_limit', 0)")
	mustDuck(ctx, t, l.d, "CREATE TABLE lake.t (i INTEGER)")
	return l
}

// state replaces the content, and returns the snapshot and the file.
func (l *holdLake) state(ctx context.Context, t *testing.T, n int) (snapshot, file string) {
	t.Helper()
	mustDuck(ctx, t, l.d, "DELETE FROM lake.t")
	mustDuck(ctx, t, l.d, fmt.Sprintf("INSERT INTO lake.t SELECT %d FROM range(10)", n))
	row := mustDuck(ctx, t, l.d, "SELECT max(snapshot_id), (SELECT any_value(data_file) FROM ducklake_list_files('lake', 't')) FROM lake.snapshots()").Rows[0]
	return row[0], filepath.Base(row[1])
}

// run runs a command of eider on the catalog.
func (l *holdLake) run(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, eiderBinary(t), append(args, "--server", l.s.DSN("postgres"), "--catalog", l.db)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("eider %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// collect has the server keep nothing but the head.
func (l *holdLake) collect(ctx context.Context, t *testing.T) string {
	t.Helper()
	return l.run(ctx, t, "gc", "run", "expire", "cleanup", "--set", "retain-count=1")
}

// has compares the snapshots and the files with what there is to be.
func (l *holdLake) has(ctx context.Context, t *testing.T, when string, snapshots, files []string) {
	t.Helper()
	c := connect(ctx, t, l.dsn)
	left := column(ctx, t, c, "SELECT snapshot_id FROM ducklake_snapshot ORDER BY snapshot_id")
	for _, s := range snapshots {
		if !slices.Contains(left, s) {
			t.Errorf("%s: snapshot %s has gone, left are %v", when, s, left)
		}
	}
	entries, err := os.ReadDir(filepath.Join(l.data, "main", "t"))
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, e := range entries {
		there = append(there, e.Name())
	}
	slices.Sort(there)
	files = slices.Clone(files)
	slices.Sort(files)
	if !slices.Equal(there, files) {
		t.Errorf("%s: files %q, want %q", when, there, files)
	}
	if rep, code := runFsck(ctx, t, l.dsn, "--files"); code != 0 {
		t.Errorf("%s: fsck: %v", when, rep.Findings)
	}
}

func (l *holdLake) reads(ctx context.Context, t *testing.T, d duck.Session, from, want string) {
	t.Helper()
	if got := fmt.Sprint(mustDuck(ctx, t, d, "SELECT count(*), min(i), max(i) FROM "+from).Rows); got != want {
		t.Errorf("%s reads %s, not %s", from, got, want)
	}
}

// TestHeldSnapshots: a tag and a transaction that is open keep their snapshots, with the files of these, from the server's expiry and cleanup and from a
// client's; each goes when it is released, and not before.
func TestHeldSnapshots(t *testing.T) {
	for _, by := range []string{"server", "client"} {
		t.Run(by, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			l := newHoldLake(ctx, t)
			collect := func() string {
				if by == "server" {
					return l.collect(ctx, t)
				}
				mustDuck(ctx, t, l.d, "CALL ducklake_expire_snapshots('lake', older_than => now())")
				mustDuck(ctx, t, l.d, "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)")
				return ""
			}
			l.state(ctx, t, 1)
			tagged, f2 := l.state(ctx, t, 2)
			l.run(ctx, t, "snapshot", "tag", "audit")
			_, f3 := l.state(ctx, t, 3)
			collect()
			l.has(ctx, t, "with a tag, before anybody reads", []string{tagged}, []string{f2, f3})
			held, f4 := l.state(ctx, t, 4)
			reader := again(ctx, t, l.attach)
			mustDuck(ctx, t, reader, "BEGIN")
			l.reads(ctx, t, reader, "lake.t", "[[10 4 4]]")
			_, f5 := l.state(ctx, t, 5)
			head, f6 := l.state(ctx, t, 6)

			// The reader may also ask for the older snapshots that it sees, so all files of its view stay.
			said := collect()
			l.has(ctx, t, "with a tag and a reader", []string{tagged, held, head}, []string{f2, f3, f4, f5, f6})
			if by == "server" && !strings.Contains(said, "open transaction") {
				t.Errorf("the job does not say what has kept it:\n%s", said)
			}
			l.reads(ctx, t, reader, "lake.t", "[[10 4 4]]")
			l.reads(ctx, t, l.d, "lake.t AT (VERSION => "+tagged+")", "[[10 2 2]]")
			if gone := one(ctx, t, connect(ctx, t, l.dsn), "SELECT count(*) FROM ducklake_snapshot WHERE snapshot_id < "+held+" AND snapshot_id <> "+tagged); gone != "0" {
				t.Errorf("%s snapshots that nobody holds are left", gone)
			}

			// The transaction ends: what only it held goes, the tag stays, over a restart too.
			mustDuck(ctx, t, reader, "ROLLBACK")
			if err := l.s.Restart(ctx, "", true); err != nil {
				t.Fatal(err)
			}
			l.d = again(ctx, t, l.attach)
			collect()
			l.has(ctx, t, "with a tag", []string{tagged, head}, []string{f2, f6})
			l.reads(ctx, t, l.d, "lake.t AT (VERSION => "+tagged+")", "[[10 2 2]]")
			if left := one(ctx, t, connect(ctx, t, l.dsn), "SELECT count(*) FROM ducklake_snapshot"); left != "2" {
				t.Errorf("%s snapshots are left", left)
			}

			l.run(ctx, t, "snapshot", "untag", "audit")
			collect()
			l.has(ctx, t, "released", []string{head}, []string{f6})
			if left := one(ctx, t, connect(ctx, t, l.dsn), "SELECT count(*) FROM ducklake_snapshot"); left != "1" {
				t.Errorf("%s snapshots are left", left)
			}
			l.reads(ctx, t, l.d, "lake.t", "[[10 6 6]]")
		})
	}
}

// TestHeldFiles: files that a merge has scheduled at once stay while a transaction that planned with them is open, whether it reads or writes, and
// the writer commits.
func TestHeldFiles(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l := newHoldLake(ctx, t)
	mustDuck(ctx, t, l.d, "INSERT INTO lake.t SELECT 1 FROM range(10)")
	mustDuck(ctx, t, l.d, "INSERT INTO lake.t SELECT 2 FROM range(10)")
	mustDuck(ctx, t, l.d, "CREATE TABLE lake.u (i INTEGER)")
	writer := again(ctx, t, l.attach)
	mustDuck(ctx, t, writer, "BEGIN")
	mustDuck(ctx, t, writer, "INSERT INTO lake.u SELECT * FROM range(20)") // its file is nobody's yet
	mustDuck(ctx, t, l.d, "CALL ducklake_merge_adjacent_files('lake')")
	// As old as it takes to be an orphan, but for the transaction.
	for _, name := range []string{"t", "u"} {
		files, err := filepath.Glob(filepath.Join(l.data, "main", name, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if err := os.Chtimes(f, time.Time{}, time.Now().Add(-90*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := l.run(ctx, t, "gc", "run", "cleanup", "orphans", "--set", "orphans=on", "--set", "orphan-min-age=2h")
	if n := one(ctx, t, connect(ctx, t, l.dsn), "SELECT count(*) FROM eider.schedule WHERE held IS NOT NULL"); n != "2" {
		t.Errorf("%s files of the schedule are held\n%s", n, out)
	}
	l.reads(ctx, t, writer, "lake.t", "[[20 1 2]]")
	mustDuck(ctx, t, writer, "COMMIT")
	l.reads(ctx, t, l.d, "lake.u", "[[20 0 19]]")
	l.run(ctx, t, "gc", "run", "cleanup", "orphans", "--set", "orphans=on")
	if files, _ := filepath.Glob(filepath.Join(l.data, "main", "t", "*")); len(files) != 1 {
		t.Errorf("after the end of the transaction: %q", files)
	}
	l.reads(ctx, t, l.d, "lake.t", "[[20 1 2]]")
	l.reads(ctx, t, l.d, "lake.u", "[[20 0 19]]")
}
