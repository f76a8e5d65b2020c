package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/eiderdb/eider/e2e/internal/server"
)

// folderSize is the size of the files below a folder. A server may be at work in it: files that go meanwhile do not count.
func folderSize(t testing.TB, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mib(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// grownLake is a server that has been stopped, with a lake that gcstep has let grow, and the size of its folder in bytes.
func grownLake(ctx context.Context, t *testing.T, args ...string) (s *server.Server, db string, size int64) {
	t.Helper()
	s, db = privateEider(t), newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d, _ := lakeOn(ctx, t, s, db)
	mustDuck(ctx, t, d, "CREATE TABLE lake.t (i INTEGER, s VARCHAR, d DOUBLE)")
	s.Kill()
	gcStep(ctx, t, s.DataDir(), db, append(args, "grow")...)
	return s, db, folderSize(t, s.DataDir())
}

// TestBenchExpire expires 1,000,000 snapshots: a lake that gets rows in small pieces, and one where each snapshot wrote a file that another has replaced.
func TestBenchExpire(t *testing.T) {
	if !*benchFlag {
		t.Skip("benchmarks run with -bench")
	}
	ctx := context.Background()
	fmt.Println("\n| expiry | snapshots | took | peak memory | on disk before | after |\n|---|---|---|---|---|---|")
	for _, b := range []struct {
		name             string
		snapshots, every int64
	}{
		{"streaming, a file per 100 snapshots", 1_000_000, 100},
		{"a file per snapshot, 3 columns", 1_000_000, 1},
	} {
		if !benchWanted(t, "expire "+b.name) {
			continue
		}
		s, db, before := grownLake(ctx, t, "-snapshots", fmt.Sprint(b.snapshots), "-every", fmt.Sprint(b.every), "-columns", "3")
		r := gcStep(ctx, t, s.DataDir(), db, "-before", "4000000000000000", "expire")
		if got := r.Result.Counts["snapshots"]; got < b.snapshots {
			t.Errorf("%s: %d snapshots", b.name, got)
		}
		fmt.Printf("| %s | %d | %s | %s | %s | %s |\n", b.name, r.Result.Counts["snapshots"], short(r.Took), mib(r.Peak), mib(before), mib(folderSize(t, s.DataDir())))
		if err := s.Launch(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBenchTrim removes 10,000,000 rows of statistics of files that do not exist.
func TestBenchTrim(t *testing.T) {
	if !*benchFlag || !benchWanted(t, "trim statistics") {
		t.Skip("benchmarks run with -bench")
	}
	rows := *benchTrimRows
	ctx := context.Background()
	s, db, before := grownLake(ctx, t, "-orphans", fmt.Sprint(rows))
	r := gcStep(ctx, t, s.DataDir(), db, "trim")
	if got := r.Result.Counts[orphans]; got != rows {
		t.Errorf("%d rows", got)
	}
	fmt.Println("\n| trim | rows | took | peak memory | on disk before | after |\n|---|---|---|---|---|---|")
	fmt.Printf("| orphaned statistics | %d | %s | %s | %s | %s |\n", rows, short(r.Took), mib(r.Peak), mib(before), mib(folderSize(t, s.DataDir())))
	if err := s.Launch(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestBenchClientExpire lets DuckLake expire a tenth of the snapshots of TestBenchExpire itself, on both servers: one file for every tenth
// snapshot, which has ended.
func TestBenchClientExpire(t *testing.T) {
	if !*benchFlag {
		t.Skip("benchmarks run with -bench")
	}
	ctx := context.Background()
	fmt.Println("\n| ducklake_expire_snapshots | server | snapshots | files | took |\n|---|---|---|---|---|")
	for _, n := range []int{10_000, 100_000} {
		name := fmt.Sprintf("ducklake_expire_snapshots, %d snapshots", n)
		if !benchWanted(t, name) {
			continue
		}
		for _, target := range benchTargets(t) {
			s, private := target, (*server.Server)(nil)
			if target.Name() != "pg" {
				private = privateEider(t)
				s = private
			}
			db := newDatabase()
			if err := s.CreateDatabase(ctx, db); err != nil {
				t.Fatal(err)
			}
			d, attach := lakeOn(ctx, t, s, db)
			mustDuck(ctx, t, d, "CREATE TABLE lake.t (i INTEGER, s VARCHAR, d DOUBLE)")
			mustDuck(ctx, t, d, "DETACH lake")
			if private != nil {
				private.Kill()
				gcStep(ctx, t, private.DataDir(), db, "-snapshots", fmt.Sprint(n), "-every", "10", "-columns", "3", "grow")
				if err := private.Launch(ctx); err != nil {
					t.Fatal(err)
				}
			} else {
				growByHand(ctx, t, s.DSN(db), n)
			}
			mustDuck(ctx, t, d, attach)
			began := time.Now()
			mustDuck(ctx, t, d, "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 10 YEAR)")
			took := time.Since(began)
			if left := mustDuck(ctx, t, d, "SELECT count(*) FROM lake.snapshots()").Rows; fmt.Sprint(left) != "[[1]]" {
				t.Errorf("%s: %v snapshots are left", s.Name(), left)
			}
			fmt.Printf("| %s | %s | %d | %d | %s |\n", name, s.Name(), n, n/10, short(took))
		}
	}
}

// growByHand gives a lake on PostgreSQL the past that gcstep makes.
func growByHand(ctx context.Context, t *testing.T, dsn string, n int) {
	t.Helper()
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	for _, sql := range []string{
		`INSERT INTO ducklake_data_file (data_file_id, table_id, begin_snapshot, end_snapshot, path, path_is_relative, file_format, record_count, file_size_bytes, footer_size, row_id_start)
			SELECT next_file_id + g / 10, 1, snapshot_id + g, snapshot_id + g + 10, 'ducklake-01a22a26-2fa9-71e9-b0f6-' || lpad(g::text, 12, '0') || '.parquet', true, 'parquet', 100, 1000, 300, 0
			FROM ducklake_snapshot, generate_series(10, $1::int, 10) g WHERE snapshot_id = (SELECT max(snapshot_id) FROM ducklake_snapshot)`,
		`INSERT INTO ducklake_file_column_stats (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value)
			SELECT data_file_id, 1, c, 40, 100, 0, '0', '99' FROM ducklake_data_file, generate_series(1, 3) c WHERE $1::int > 0`,
		`INSERT INTO ducklake_snapshot SELECT snapshot_id + g, snapshot_time + g * interval '1 ms', schema_version, next_catalog_id, next_file_id + g / 10 + 1
			FROM ducklake_snapshot, generate_series(1, $1::int) g WHERE snapshot_id = (SELECT max(snapshot_id) FROM ducklake_snapshot)`,
		`INSERT INTO ducklake_snapshot_changes (snapshot_id, changes_made)
			SELECT snapshot_id, 'inlined_insert:1' FROM ducklake_snapshot s WHERE $1::int > 0 AND NOT EXISTS (SELECT 1 FROM ducklake_snapshot_changes c WHERE c.snapshot_id = s.snapshot_id)`,
	} {
		if _, err := c.Exec(ctx, sql, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Exec(ctx, "ANALYZE"); err != nil {
		t.Fatal(err)
	}
}
