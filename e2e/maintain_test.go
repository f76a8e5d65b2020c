package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eiderdb/eider/e2e/internal/duck"
	"github.com/eiderdb/eider/e2e/internal/script"
	"github.com/eiderdb/eider/e2e/internal/storm"
)

// TestMaintain runs maintain on a lake with something to do for every step. Every version of every table reads as before, with its row ids; files
// are as the tiers say; the lake's options are as they were. A dry run changes nothing and says what is done afterwards.
func TestMaintain(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		db := databaseOf(t, dsn)
		s := lakeSession(ctx, t, dsn, data)
		buildMaintained(ctx, t, s, rand.New(rand.NewPCG(newSeed(t), 0)))
		mustDuck(ctx, t, s, "CALL lake.set_option('target_file_size', '300MB')")
		mustDuck(ctx, t, s, "CALL lake.set_option('target_file_size', '20KB', schema => 'other', table_name => 'small')")
		last := headSnapshot(ctx, t, dsn)
		before, options := lakeContent(ctx, t, dsn, data, last), lakeOptions(ctx, t, dsn)

		code, planned, errs := runMaintain(ctx, t, target, db, "--dry-run", "--tiers", testTiers)
		if code != 0 || headSnapshot(ctx, t, dsn) != last {
			t.Fatalf("dry run: exit code %d, head %d, was %d\n%s", code, headSnapshot(ctx, t, dsn), last, errs)
		}
		seen := map[string]bool{}
		for _, e := range planned {
			seen[e.Phase+" "+e.Status] = true
		}
		if !seen["flush planned"] || !seen["rewrite planned"] || !seen["merge planned"] {
			t.Errorf("the dry run plans %v", planned)
		}

		for i := range 3 {
			code, did, errs := runMaintain(ctx, t, target, db, "--tiers", testTiers)
			if code != 0 {
				t.Fatalf("run %d: exit code %d, %+v\n%s", i, code, did, errs)
			}
			if i == 0 {
				merged := map[int64]bool{}
				for _, e := range did {
					if e.Event == "step" && e.Phase == "merge" && e.Status == "done" {
						merged[e.Min] = true
					}
				}
				if !merged[0] {
					t.Errorf("no small files are merged: %+v", did)
				}
			}
			if sum := did[len(did)-1]; i == 2 && sum.Steps != 0 {
				t.Errorf("the third run still has something to do: %+v", did)
			}
			if skips := did[len(did)-1].Skipped; (skips > 0) != (target.Name() == "pg") {
				t.Errorf("%d merges are skipped", skips)
			}
		}
		if diff := cmp.Diff(before, lakeContent(ctx, t, dsn, data, last)); diff != "" {
			t.Errorf("what is read changes:\n%s", diff)
		}
		head := headSnapshot(ctx, t, dsn)
		at := func(all map[string]string, v int) map[string]string {
			out := map[string]string{}
			for _, table := range maintained {
				out[table] = all[fmt.Sprintf("%s at %d", table, v)]
			}
			return out
		}
		if diff := cmp.Diff(at(before, last), at(lakeContent(ctx, t, dsn, data, head), head)); diff != "" {
			t.Errorf("the newest version changes:\n%s", diff)
		}
		if now := lakeOptions(ctx, t, dsn); now != options {
			t.Errorf("options are\n%s\nwere\n%s", now, options)
		}
		// What is left of the tables that nothing keeps from merging: below the tiers' end two files of a partition are not both in one tier.
		c := connect(ctx, t, dsn)
		if target.Name() != "pg" {
			for _, row := range mustExec(ctx, t, c, `SELECT table_id, v, CASE WHEN file_size_bytes < 16384 THEN 0 ELSE 1 END, count(*) FROM ducklake_data_file f
 LEFT JOIN (SELECT data_file_id, min(partition_value) AS v FROM ducklake_file_partition_value GROUP BY 1) p USING (data_file_id)
 WHERE end_snapshot IS NULL AND file_size_bytes < 65536 AND data_file_id NOT IN (SELECT data_file_id FROM ducklake_delete_file)
 AND table_id IN (SELECT table_id FROM ducklake_table WHERE table_name = 'plain') GROUP BY 1, 2, 3`)[0].Rows {
				if string(row[3]) != "1" {
					t.Errorf("table %s, partition %s: %s files are left in tier %s", row[0], row[1], row[3], row[2])
				}
			}
		}
		if n := one(ctx, t, c, "SELECT count(*) FROM ducklake_data_file WHERE end_snapshot IS NULL AND file_size_bytes > 300000"); n != "1" {
			t.Errorf("%s files above the tiers are left, there was 1", n)
		}
		if n := one(ctx, t, c, "SELECT max(file_size_bytes) FROM ducklake_data_file WHERE end_snapshot IS NULL AND file_size_bytes < 300000"); len(n) > 6 || n > "200000" && len(n) == 6 {
			t.Errorf("files were merged into one of %s bytes, beyond the tiers' target", n)
		}
		if err := healthy(ctx, target, db); err != nil {
			t.Error(err)
		}
	})
}

// TestMaintainKilled kills the worker in the middle of runs. Whatever it was at, the lake reads as before and its options are as they were, and the
// next run may begin at once.
func TestMaintainKilled(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		db := databaseOf(t, dsn)
		r := rand.New(rand.NewPCG(newSeed(t), 0))
		buildMaintained(ctx, t, lakeSession(ctx, t, dsn, data), r)
		last := headSnapshot(ctx, t, dsn)
		before, options := lakeContent(ctx, t, dsn, data, last), lakeOptions(ctx, t, dsn)
		killed := 0
		for range times(8, 4) {
			p, out := startMaintain(ctx, t, target, db, "--tiers", testTiers, "--outputs-per-step", "1")
			// A step or two are reported, then the kill comes somewhere in the next one.
			lines := bufio.NewReader(out)
			for range 1 + r.IntN(2) {
				if _, err := lines.ReadString('\n'); err != nil {
					break
				}
			}
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond) // when the kill comes is left to chance on purpose
			p.Kill()
			if p.Err() != nil {
				killed++
			}
			if now := lakeOptions(ctx, t, dsn); now != options {
				t.Fatalf("options are\n%s\nwere\n%s", now, options)
			}
			if err := healthy(ctx, target, db); err != nil {
				t.Fatal(err)
			}
		}
		if killed == 0 {
			t.Error("no run was killed before its end")
		}
		// The server lets go of a dead worker's lock when it sees the end of the connection.
		code := 4
		for i := 0; code == 4 && i < 100; i++ {
			var errs string
			var did []maintainEvent
			if code, did, errs = runMaintain(ctx, t, target, db, "--tiers", testTiers); code != 0 && code != 4 {
				t.Fatalf("exit code %d, %+v\n%s", code, did, errs)
			}
		}
		if diff := cmp.Diff(before, lakeContent(ctx, t, dsn, data, last)); diff != "" {
			t.Errorf("what is read changes:\n%s", diff)
		}
	})
}

// TestMaintainBesideWriters lets maintain run again and again beside writers. One that only inserts never fails. Those that update and delete may lose
// races, against each other and against merges, as the concurrency rules of DuckLake have it or the server's checks, and then do it again. At the end
// every row is there once.
func TestMaintainBesideWriters(t *testing.T) {
	t.Parallel()
	target := needEider(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	db := newDatabase()
	if err := target.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = target.DropDatabase(ctx, db) }()
	data := t.TempDir()
	s := lakeSession(ctx, t, target.DSN(db), data)
	tables := []string{"main.log", "main.t", "main.t"}
	for _, table := range tables[:2] {
		mustDuck(ctx, t, s, fmt.Sprintf("CREATE TABLE %s (w INTEGER, i BIGINT, v BIGINT)", table))
	}
	stop := make(chan struct{})
	writers := len(tables)
	var wg sync.WaitGroup
	want := make([]map[int]int, writers)
	sessions := make([]duck.Session, writers)
	for w := range writers {
		sessions[w] = lakeSession(ctx, t, target.DSN(db), data)
		want[w] = map[int]int{}
	}
	lost := make([]int, writers)
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(w), 7))
			do := func(format string, args ...any) bool {
				sql := fmt.Sprintf(format, args...)
				for try := 0; ; try++ {
					_, err := sessions[w].Exec(ctx, sql)
					if err == nil {
						return true
					}
					if w == 0 || try == 200 || !storm.Refused(err) {
						t.Errorf("writer %d, %s: %v", w, sql, err)
						return false
					}
					lost[w]++
				}
			}
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				n := 1 + r.IntN(30)
				if !do("INSERT INTO %s SELECT %d, i, 0 FROM range(%d, %d) t(i)", tables[w], w, i*100, i*100+n) {
					return
				}
				for k := range n {
					want[w][i*100+k] = 0
				}
				if w == 0 {
					continue
				}
				at := r.IntN(i+1) * 100
				ok := false
				change := func(m map[int]int, k int) { m[k]++ }
				if r.IntN(2) == 0 {
					ok = do("DELETE FROM %s WHERE w = %d AND i BETWEEN %d AND %d", tables[w], w, at, at+9)
					change = func(m map[int]int, k int) { delete(m, k) }
				} else {
					ok = do("UPDATE %s SET v = v + 1 WHERE w = %d AND i BETWEEN %d AND %d", tables[w], w, at, at+9)
				}
				if !ok {
					return
				}
				for k := at; k < at+10; k++ {
					if _, ok := want[w][k]; ok {
						change(want[w], k)
					}
				}
			}
		}()
	}
	steps, runs := map[string]int{}, times(20, 6)
	for run := range runs {
		code, did, errs := runMaintain(ctx, t, target, db, "--retries", "40", "--delete-threshold", "0.1")
		for _, e := range did {
			if e.Event == "step" {
				steps[e.Phase+" "+e.Table]++
				steps["retries"] += e.Retries
			}
		}
		if code != 0 {
			t.Errorf("run %d: exit code %d, %+v\n%s", run, code, did, errs)
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d runs, %v; writers lost %v races", runs, steps, lost)
	for _, step := range []string{"flush log", "merge log", "flush t"} {
		if steps[step] == 0 {
			t.Errorf("there was no %s", step)
		}
	}
	fresh := lakeSession(ctx, t, target.DSN(db), data)
	for w := range writers {
		got := map[int]int{}
		for _, row := range mustDuck(ctx, t, fresh, fmt.Sprintf("SELECT i, v FROM lake.%s WHERE w = %d", tables[w], w)).Rows {
			i, err1 := strconv.Atoi(row[0])
			v, err2 := strconv.Atoi(row[1])
			if _, twice := got[i]; err1 != nil || err2 != nil || twice {
				t.Fatalf("writer %d: row %v (%v, %v, twice %v)", w, row, err1, err2, twice)
			}
			got[i] = v
		}
		if diff := cmp.Diff(want[w], got); diff != "" {
			t.Errorf("writer %d:\n%s", w, diff)
		}
	}
	if n := mustDuck(ctx, t, fresh, "SELECT count(*) - count(DISTINCT rowid) FROM lake.main.t").Lines()[0]; n != "0" {
		t.Errorf("%s row ids are there twice", n)
	}
	if err := healthy(ctx, target, db); err != nil {
		t.Error(err)
	}
}

// TestMaintainAlone lets one worker at a time at a lake, and ends a loop after its step on SIGTERM.
func TestMaintainAlone(t *testing.T) {
	onBoth(t, func(ctx context.Context, t *testing.T, target script.Target, dsn string) {
		data := t.TempDir()
		db := databaseOf(t, dsn)
		s := lakeSession(ctx, t, dsn, data)
		mustDuck(ctx, t, s, "CREATE TABLE main.t (i BIGINT)")
		mustDuck(ctx, t, s, "INSERT INTO main.t VALUES (1), (2)")

		p, out := startMaintain(ctx, t, target, db, "--every", "1h")
		lines := bufio.NewScanner(out)
		for lines.Scan() && !strings.Contains(lines.Text(), `"event":"run"`) {
		}
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			t.Errorf("after SIGTERM: %s", lines.Text())
		}
		if err := p.Err(); err != nil {
			t.Errorf("SIGTERM ends the loop with %v", err)
		}
		if n := mustDuck(ctx, t, s, "SELECT count(*) FROM ducklake_list_files('lake', 't')").Lines()[0]; n != "1" {
			t.Errorf("the inlined rows are in %s files", n)
		}

		c := connect(ctx, t, dsn)
		mustExec(ctx, t, c, fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", 0x4549444d, lockOf("public")))
		if code, _, errs := runMaintain(ctx, t, target, db); code != 4 || !strings.Contains(errs, "another worker") {
			t.Errorf("beside another worker: exit code %d\n%s", code, errs)
		}
		if code, _, _ := runMaintain(ctx, t, target, db, "--dry-run"); code != 0 {
			t.Errorf("a dry run beside another worker: exit code %d", code)
		}
		mustExec(ctx, t, c, "SELECT pg_advisory_unlock_all()")
		if code, did, errs := runMaintain(ctx, t, target, db, "--windows", "00:00-00:01", "--time-zone", closedZone()); code != 0 || did[0].Stopped == "" {
			t.Errorf("outside of the window: exit code %d, %+v\n%s", code, did, errs)
		}
		if code, _, errs := runMaintain(ctx, t, target, db, "--lake", "nowhere"); code != 1 || !strings.Contains(errs, "there is no lake in schema nowhere") {
			t.Errorf("without a lake: exit code %d\n%s", code, errs)
		}
	})
}

// lockOf is the second half of the key of a lake's lock.
func lockOf(lake string) int32 { return int32(crc32.ChecksumIEEE([]byte(lake))) }

// closedZone is a time zone where it is not just after midnight.
func closedZone() string {
	if h := time.Now().UTC().Hour(); h == 23 || h == 0 {
		return "Asia/Tokyo"
	}
	return "UTC"
}

// TestMaintainAll has DuckLake's own functions expire, clean up and delete orphans at their places, on a catalog that has no jobs of its own.
func TestMaintainAll(t *testing.T) {
	pg := postgres(t)
	if pg == nil {
		t.Skip("runs on PostgreSQL only")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	db := newDatabase()
	if err := pg.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pg.DropDatabase(ctx, db) }()
	data := t.TempDir()
	s := lakeSession(ctx, t, pg.DSN(db), data)
	mustDuck(ctx, t, s, "CREATE TABLE main.t (i BIGINT)")
	for i := range 4 {
		mustDuck(ctx, t, s, fmt.Sprintf("INSERT INTO main.t SELECT i FROM range(%d, %d) t(i)", i*100, i*100+100))
	}
	c := connect(ctx, t, pg.DSN(db))
	mustExec(ctx, t, c, "UPDATE ducklake_snapshot SET snapshot_time = snapshot_time - INTERVAL '10 days'")
	orphan := filepath.Join(data, "orphan.parquet")
	if err := os.WriteFile(orphan, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().AddDate(0, 0, -9)
	if err := os.Chtimes(orphan, old, old); err != nil {
		t.Fatal(err)
	}
	code, did, errs := runMaintain(ctx, t, pg, db, "--all", "--expire-older-than", "5d", "--cleanup-older-than", "1d")
	if code != 0 {
		t.Fatalf("exit code %d, %+v\n%s", code, did, errs)
	}
	var order []string
	for _, e := range did {
		if e.Event == "step" {
			order = append(order, fmt.Sprintf("%s %d", e.Phase, e.Rows))
		}
	}
	// The files that the merge replaced were scheduled just now, and stay.
	if diff := cmp.Diff([]string{"expire 5", "merge 0", "cleanup 0", "orphans 1"}, order); diff != "" {
		t.Errorf("steps:\n%s", diff)
	}
	if _, err := os.Stat(orphan); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the orphan: %v", err)
	}
	if n := mustDuck(ctx, t, lakeSession(ctx, t, pg.DSN(db), data), "SELECT count(*) FROM lake.main.t").Lines()[0]; n != "400" {
		t.Errorf("%s rows are left", n)
	}
}
