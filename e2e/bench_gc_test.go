package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
)

// folderSize is the size of the files below a folder.
func folderSize(t testing.TB, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
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
		s := privateEider(t)
		db := newDatabase()
		if err := s.CreateDatabase(ctx, db); err != nil {
			t.Fatal(err)
		}
		d, _ := lakeOn(ctx, t, s, db)
		if _, err := d.Exec(ctx, "CREATE TABLE lake.t (i INTEGER, s VARCHAR, d DOUBLE)"); err != nil {
			t.Fatal(err)
		}
		s.Kill()
		gcStep(ctx, t, s.DataDir(), db, "-snapshots", fmt.Sprint(b.snapshots), "-every", fmt.Sprint(b.every), "-columns", "3", "grow")
		before := folderSize(t, s.DataDir())
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
	const rows = 10_000_000
	ctx := context.Background()
	s := privateEider(t)
	db := newDatabase()
	if err := s.CreateDatabase(ctx, db); err != nil {
		t.Fatal(err)
	}
	d, _ := lakeOn(ctx, t, s, db)
	if _, err := d.Exec(ctx, "CREATE TABLE lake.t (i INTEGER, s VARCHAR, d DOUBLE)"); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	gcStep(ctx, t, s.DataDir(), db, "-orphans", fmt.Sprint(rows), "grow")
	before := folderSize(t, s.DataDir())
	r := gcStep(ctx, t, s.DataDir(), db, "trim")
	if got := r.Result.Counts["rows of ducklake_file_column_stats"]; got != rows {
		t.Errorf("%d rows", got)
	}
	fmt.Println("\n| trim | rows | took | peak memory | on disk before | after |\n|---|---|---|---|---|---|")
	fmt.Printf("| orphaned statistics | %d | %s | %s | %s | %s |\n", rows, short(r.Took), mib(r.Peak), mib(before), mib(folderSize(t, s.DataDir())))
	if err := s.Launch(ctx); err != nil {
		t.Fatal(err)
	}
}
