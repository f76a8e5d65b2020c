package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
)

// The cases of expiry and cleanup that need links, time, or several clients at once; the others are scripts.

// spellings are ways to write one folder: root/lake is there, root/link leads to it.
var spellings = map[string]string{"plain": "lake", "slash": "lake/", "dots": "./lake/./", "link": "link/", "climbs": "folder/../link"}

// B49a: however the data path is written, no live file is an orphan, to clients and to the server's own search.
func TestB49a(t *testing.T) {
	work := []string{
		"CALL lake.set_option('data_inlining_row_limit', 0)",
		"CREATE TABLE lake.t (i INTEGER)",
		"INSERT INTO lake.t SELECT range FROM range(20)", "INSERT INTO lake.t SELECT range FROM range(20, 40)",
		"DELETE FROM lake.t WHERE i < 5", "CALL ducklake_merge_adjacent_files('lake')", "UPDATE lake.t SET i = i + 100 WHERE i > 35",
	}
	for name, path := range spellings {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
				root := linkedRoot(t)
				d := newDuck(ctx, t)
				mustDuck(ctx, t, d, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/%s')", dsn, root, path))
				for _, sql := range work {
					mustDuck(ctx, t, d, sql)
				}
				for _, dry := range []string{"true", "false"} {
					if res := mustDuck(ctx, t, d, "SELECT * FROM ducklake_delete_orphaned_files('lake', dry_run => "+dry+", cleanup_all => true)"); len(res.Rows) > 0 {
						t.Errorf("taken for orphans: %v", res.Lines())
					}
				}
				if got := fmt.Sprint(mustDuck(ctx, t, d, "SELECT count(*), sum(i) FROM lake.t").Rows); got != "[[35 1170]]" {
					t.Errorf("read %s", got)
				}
			})
		})
	}
}

// linkedRoot is a folder with the folder and the links that spellings name.
func linkedRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"lake", "folder"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "lake"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	return root
}

// The server's half of B49a: two clients know the folder by different names, and one of them by a link; files are old, and the server may delete.
func TestB49aServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	root := linkedRoot(t)
	s := privateEider(t, "--delete-paths", root)
	for name, path := range spellings {
		t.Run(name, func(t *testing.T) {
			l := &holdLake{s: s, db: newDatabase()}
			if err := s.CreateDatabase(ctx, l.db); err != nil {
				t.Fatal(err)
			}
			l.dsn = s.DSN(l.db)
			data := fmt.Sprintf("%s/%s", root, strings.TrimSuffix(path, "/")+"/"+l.db)
			if err := os.Mkdir(filepath.Join(root, "lake", l.db), 0o755); err != nil {
				t.Fatal(err)
			}
			other := fmt.Sprintf("%s/link/%s/", root, l.db)
			a := again(ctx, t, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s')", l.dsn, data))
			mustDuck(ctx, t, a, "CALL lake.set_option('data_inlining_row_limit', 0)")
			mustDuck(ctx, t, a, "CREATE TABLE lake.t (i INTEGER)")
			b := again(ctx, t, fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s', OVERRIDE_DATA_PATH true)", l.dsn, other))
			for i, d := range []duck.Session{a, b, a, b} {
				mustDuck(ctx, t, d, fmt.Sprintf("INSERT INTO lake.t SELECT range FROM range(%d, %d)", i*10, i*10+10))
			}
			mustDuck(ctx, t, b, "DELETE FROM lake.t WHERE i < 5")
			mustDuck(ctx, t, a, "UPDATE lake.t SET i = i + 100 WHERE i > 35")
			mustDuck(ctx, t, a, fmt.Sprintf("COPY (SELECT 1) TO '%s/stray.parquet'", filepath.Join(root, "lake", l.db)))
			var live int
			err := filepath.WalkDir(filepath.Join(root, "lake", l.db), func(name string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				live++
				return os.Chtimes(name, time.Time{}, time.Now().AddDate(0, -1, 0))
			})
			if err != nil {
				t.Fatal(err)
			}
			out := l.run(ctx, t, "gc", "run", "orphans", "--set", "orphans=on")
			left := 0
			_ = filepath.WalkDir(filepath.Join(root, "lake", l.db), func(_ string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					left++
				}
				return err
			})
			// Where a ".." leads only the storage knows: nothing is looked for there.
			want := live - 1
			if strings.Contains(path, "..") {
				want = live
			}
			if left != want {
				t.Errorf("%d files of %d are left, want %d\n%s", left, live, want, out)
			}
			for _, d := range []duck.Session{a, b} {
				if got := fmt.Sprint(mustDuck(ctx, t, d, "SELECT count(*), sum(i) FROM lake.t").Rows); got != "[[35 1170]]" {
					t.Errorf("read %s", got)
				}
			}
		})
	}
}

// B48b: one client inserts and deletes by key, one merges, rewrites and flushes, one expires all but the newest 20 snapshots and cleans files up, and one
// reads kept snapshots: the keys are right at the end, and no read fails but of what has expired meanwhile.
func TestB48b(t *testing.T) {
	for _, target := range stormTargets(t) {
		t.Run(target.Name(), func(t *testing.T) {
			const length = 15 * time.Second
			ctx, cancel := context.WithTimeout(context.Background(), length+2*time.Minute)
			defer cancel()
			db, data := newDatabase(), t.TempDir()
			if err := target.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", target.DSN(db), data)
			w := again(ctx, t, attach)
			mustDuck(ctx, t, w, "CREATE TABLE lake.t (k INTEGER)")
			end := time.Now().Add(length)
			var wg sync.WaitGroup
			var refused, calls, reads atomic.Int64
			// tell counts what is refused for good and must be asked again; everything else is wrong.
			tell := func(what string, err error) bool {
				switch {
				case err == nil:
					return true
				case strings.Contains(err.Error(), "Transaction conflict"), strings.Contains(err.Error(), "Nothing was stored"), strings.Contains(err.Error(), "could not serialize access"):
					refused.Add(1)
				default:
					t.Errorf("%s: %v", what, err)
				}
				return false
			}
			side := func(calls *atomic.Int64, f func(d duck.Session)) {
				d := again(ctx, t, attach)
				wg.Go(func() {
					for time.Now().Before(end) && !t.Failed() {
						f(d)
						calls.Add(1)
					}
				})
			}
			side(&calls, func(d duck.Session) {
				for _, sql := range []string{callMerge, callRewrite, callFlush} {
					_, err := d.Exec(ctx, sql)
					tell(sql, err)
				}
			})
			side(&calls, func(d duck.Session) {
				res, err := d.Query(ctx, "SELECT list(snapshot_id ORDER BY snapshot_id)[:-21] FROM lake.snapshots()")
				if tell("snapshots", err) && res.Rows[0][0] != "[]" {
					_, err = d.Exec(ctx, "CALL ducklake_expire_snapshots('lake', versions => "+res.Rows[0][0]+")")
					tell("expire", err)
				}
				_, err = d.Exec(ctx, "CALL ducklake_cleanup_old_files('lake', older_than => now() - INTERVAL 5 SECONDS)")
				tell("cleanup", err)
			})
			side(&reads, func(d duck.Session) {
				res, err := d.Query(ctx, "SELECT snapshot_id FROM lake.snapshots() WHERE snapshot_id > 0 ORDER BY snapshot_id DESC LIMIT 5")
				if !tell("snapshots", err) || len(res.Rows) < 5 {
					return
				}
				at := "lake.t AT (VERSION => " + res.Rows[4][0] + ")"
				got, err := d.Query(ctx, "SELECT count(*), count(DISTINCT k), (SELECT count(*) FROM "+at+") FROM "+at)
				if err != nil && strings.Contains(err.Error(), "No snapshot found") {
					return // it was not among the newest 20 any more
				}
				if tell("time travel", err) && (got.Rows[0][0] != got.Rows[0][1] || got.Rows[0][0] != got.Rows[0][2]) {
					t.Errorf("version %s has %v rows, keys, and rows by count", res.Rows[4][0], got.Rows[0])
				}
			})
			keys := map[int]bool{}
			for n := 0; time.Now().Before(end) && !t.Failed(); n++ {
				_, err := w.Exec(ctx, fmt.Sprintf("INSERT INTO lake.t SELECT range FROM range(%d, %d)", n*20, n*20+20-n%2*17)) // 20 rows in a file, 3 inlined
				if !tell("insert", err) {
					continue
				}
				for k := n * 20; k < n*20+20-n%2*17; k++ {
					keys[k] = true
				}
				k := n / 2 * 20 // of an older insert
				if _, err := w.Exec(ctx, fmt.Sprintf("DELETE FROM lake.t WHERE k IN (%d, %d)", k, k+1)); tell("delete", err) {
					delete(keys, k)
					delete(keys, k+1)
				}
			}
			wg.Wait()
			sum := 0
			for k := range keys {
				sum += k
			}
			want := fmt.Sprintf("[[%d %d %d]]", len(keys), len(keys), sum)
			if got := fmt.Sprint(mustDuck(ctx, t, again(ctx, t, attach), "SELECT count(*), count(DISTINCT k), sum(k) FROM lake.t").Rows); got != want {
				t.Errorf("rows, keys and their sum: %s, want %s", got, want)
			}
			if err := healthy(ctx, target, db); err != nil {
				t.Error(err)
			}
			t.Logf("%d keys, %d rounds of maintenance, %d reads, %d refused", len(keys), calls.Load(), reads.Load(), refused.Load())
			if len(keys) < 40 || calls.Load() < 4 || reads.Load() < 4 {
				t.Error("too little was done")
			}
		})
	}
}

// B58a: all metadata read in one REPEATABLE READ transaction, five times, while four clients commit: every copy is a healthy lake whose newest snapshot
// is whole, and no older than what had been committed before.
func TestB58a(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		attach := fmt.Sprintf("ATTACH 'ducklake:postgres:%s' AS lake (DATA_PATH '%s/')", dsn, data)
		first := again(ctx, t, attach)
		for i := range 4 {
			mustDuck(ctx, t, first, fmt.Sprintf("CREATE TABLE lake.t%d (i INTEGER)", i))
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var commits atomic.Int64
		for i := range 4 {
			d := again(ctx, t, attach)
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					rows := 1 + n%2*19 // inlined, and a file
					if _, err := d.Exec(ctx, fmt.Sprintf("INSERT INTO lake.t%d SELECT %d FROM range(%d)", i, n, rows)); err != nil {
						if target.Name() == "pg" && strings.Contains(err.Error(), "conflict") || strings.Contains(err.Error(), "Failed to commit") {
							continue // exhausted retries are another case's
						}
						t.Errorf("insert: %v", err)
						return
					}
					commits.Add(1)
				}
			})
		}
		c := connect(ctx, t, dsn)
		for range 5 {
			// A copy begins when somebody has committed since the one before.
			for seen := commits.Load(); commits.Load() < seen+4 && ctx.Err() == nil && !t.Failed(); time.Sleep(5 * time.Millisecond) {
			}
			before, err := strconv.Atoi(one(ctx, t, c, "SELECT max(snapshot_id) FROM ducklake_snapshot"))
			if err != nil {
				t.Fatal(err)
			}
			found, err := script.Findings(ctx, dsn)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if target.Name() != "pg" || !pgOnly[string(f.Code)] {
					t.Errorf("a copy is not whole: %s", f.Finding)
				}
			}
			mustExec(ctx, t, c, "BEGIN ISOLATION LEVEL REPEATABLE READ")
			head, err := strconv.Atoi(one(ctx, t, c, "SELECT max(snapshot_id) FROM ducklake_snapshot"))
			if err != nil || head < before {
				t.Errorf("the copy ends with snapshot %d, %d was there before (%v)", head, before, err)
			}
			if n := one(ctx, t, c, fmt.Sprintf("SELECT count(*) FROM ducklake_snapshot_changes WHERE snapshot_id = %d", head)); n != "1" {
				t.Errorf("snapshot %d has %s rows of changes", head, n)
			}
			if n := one(ctx, t, c, fmt.Sprintf("SELECT count(*) FROM ducklake_data_file WHERE begin_snapshot > %d", head)); n != "0" {
				t.Errorf("%s files are of snapshots that the copy does not have", n)
			}
			mustExec(ctx, t, c, "COMMIT")
		}
		close(stop)
		wg.Wait()
		t.Logf("%d commits beside five copies", commits.Load())
	})
}
