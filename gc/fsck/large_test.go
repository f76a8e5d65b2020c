package fsck_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/fsck"
)

// large is a lake that makes its rows up while they are read.
type large struct {
	snapshots, files, columns, orphans int64
	peak                               atomic.Uint64
}

func (l *large) Relations(context.Context) (map[string][]string, error) {
	out, err := parse(healthy).Relations(context.Background())
	delete(out, "ducklake_inlined_data_1_1")
	delete(out, "ducklake_inlined_delete_1")
	return out, err
}

func (l *large) Rows(_ context.Context, relation string, columns []string, fn func([]*string) error) error {
	v := make([]*string, len(columns))
	emit := func(values map[string]string) error {
		for i, c := range columns {
			v[i] = nil
			if text, ok := values[c]; ok {
				v[i] = &text
			}
		}
		return fn(v)
	}
	n := func(i int64) string { return strconv.FormatInt(i, 10) }
	repeat := func(count int64, row func(i int64) map[string]string) error {
		for i := range count {
			if err := emit(row(i)); err != nil {
				return err
			}
			if i%1_000_000 == 0 {
				l.look()
			}
		}
		l.look()
		return nil
	}
	begin := map[string]string{"begin_snapshot": "0"}
	with := func(values map[string]string) map[string]string {
		for k, x := range begin {
			values[k] = x
		}
		return values
	}
	switch relation {
	case "ducklake_metadata":
		return emit(map[string]string{"key": "version", "value": "1.0"})
	case "ducklake_snapshot":
		base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		return repeat(l.snapshots, func(i int64) map[string]string {
			return map[string]string{
				"snapshot_id": n(i), "snapshot_time": base.Add(time.Duration(i) * time.Second).Format("2006-01-02 15:04:05.999999-07"), "schema_version": "1",
				"next_catalog_id": "2", "next_file_id": n(l.files + l.orphans),
			}
		})
	case "ducklake_snapshot_changes":
		return repeat(l.snapshots, func(i int64) map[string]string { return map[string]string{"snapshot_id": n(i)} })
	case "ducklake_schema":
		return emit(with(map[string]string{"schema_id": "0", "schema_name": "main", "path": "main/", "path_is_relative": "t"}))
	case "ducklake_table":
		return emit(with(map[string]string{"table_id": "1", "schema_id": "0", "table_name": "t", "path": "t/", "path_is_relative": "t"}))
	case "ducklake_column":
		return repeat(l.columns, func(i int64) map[string]string {
			return with(map[string]string{"column_id": n(i + 1), "table_id": "1", "column_name": "c" + n(i)})
		})
	case "ducklake_schema_versions":
		return emit(map[string]string{"table_id": "1", "begin_snapshot": "0", "schema_version": "1"})
	case "ducklake_table_stats":
		return emit(map[string]string{"table_id": "1", "record_count": n(l.files * 10), "next_row_id": n(l.files * 10)})
	case "ducklake_data_file":
		return repeat(l.files, func(i int64) map[string]string {
			return map[string]string{
				"data_file_id": n(i), "table_id": "1", "begin_snapshot": n(i % l.snapshots), "path": fmt.Sprintf("ducklake-%032d.parquet", i),
				"path_is_relative": "t", "record_count": "10", "file_size_bytes": "1000", "footer_size": "100", "row_id_start": n(i * 10),
			}
		})
	case "ducklake_file_column_stats":
		return repeat((l.files+l.orphans)*l.columns, func(i int64) map[string]string {
			return map[string]string{"data_file_id": n(i / l.columns), "table_id": "1", "column_id": n(i%l.columns + 1), "value_count": "10", "null_count": "0"}
		})
	}
	return nil
}

// look notes the heap in use.
func (l *large) look() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapInuse > l.peak.Load() {
		l.peak.Store(m.HeapInuse)
	}
}

// What a check keeps of large relations is bounded: rows of statistics cost nothing,
// snapshots 48 bytes, data files some hundred.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some million rows; runs without -short")
	}
	measure := func(l *large, want int64) uint64 {
		rep := check(t, l, fsck.Options{})
		if rep.Errors != 0 || rep.Counts.StatisticsRows != (l.files+l.orphans)*l.columns || rep.Totals[fsck.FileStatsOrphaned] != want {
			t.Fatalf("%+v", rep.Findings)
		}
		return l.peak.Load()
	}
	small := measure(&large{snapshots: 1000, files: 1000, columns: 10}, 0)
	stats := measure(&large{snapshots: 1000, files: 1000, columns: 1000}, 0)
	snapshots := measure(&large{snapshots: 200_000, files: 1000, columns: 10}, 0)
	files := measure(&large{snapshots: 1000, files: 50_000, columns: 10}, 0)
	per := func(more uint64, n int64) int64 { return (int64(more) - int64(small)) / n }
	if b := per(stats, 999_000); b > 4 {
		t.Errorf("%d bytes for each row of statistics", b)
	}
	if b := per(snapshots, 199_000); b > 150 {
		t.Errorf("%d bytes for each snapshot", b)
	}
	if b := per(files, 49_000); b > 500 {
		t.Errorf("%d bytes for each data file", b)
	}
}

// BenchmarkLarge is a lake of 10^6 snapshots with 10^7 rows of statistics, 99 of 100 of
// them without a file.
func BenchmarkLarge(b *testing.B) {
	for b.Loop() {
		l := &large{snapshots: 1_000_000, files: 10_000, orphans: 990_000, columns: 10}
		rep, err := fsck.Check(context.Background(), l, fsck.Options{})
		if err != nil || rep.Totals[fsck.FileStatsOrphaned] != 1 {
			b.Fatal(err, rep)
		}
		b.ReportMetric(float64(l.peak.Load())/(1<<20), "peak-MiB")
	}
}

// A check of any rows ends without a panic, and repairs of what it finds end too.
func TestRandomLakes(t *testing.T) {
	t.Parallel()
	names := []string{}
	base := parse(healthy)
	for name := range base {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		src := base.clone()
		value := rapid.OneOf(rapid.StringMatching(`-|[0-9]|1[0-9]|t|f`), rapid.SampledFrom([]string{"-", "-1", "9223372036854775807", "-9223372036854775808", "x", "2147483540"}))
		for range rapid.IntRange(1, 6).Draw(t, "edits") {
			name := rapid.SampledFrom(names).Draw(t, "relation")
			r := src[name]
			if r == nil {
				continue
			}
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				delete(src, name)
			case 1:
				if len(r.rows) > 0 {
					r.rows = append(r.rows, append([]string(nil), r.rows[0]...))
				}
			case 2:
				if len(r.rows) > 0 {
					r.rows = r.rows[1:]
				}
			default:
				if len(r.rows) > 0 {
					row := rapid.SampledFrom(r.rows).Draw(t, "row")
					row[rapid.IntRange(0, len(row)-1).Draw(t, "column")] = value.Draw(t, "value")
				}
			}
		}
		if src["ducklake_snapshot"] == nil {
			return
		}
		rep, err := fsck.Check(context.Background(), src, fsck.Options{Lake: "public", MaxPerCode: 3})
		if err != nil { // a number that is none
			return
		}
		for _, f := range rep.Findings {
			if f.Severity == "" || f.Object == "" || f.Message == "" {
				t.Fatalf("%+v", f)
			}
		}
		w := &writer{t: src}
		if _, err := fsck.Run(context.Background(), reader(src), w, fsck.Options{Lake: "public"}); err != nil {
			t.Fatal(err)
		}
	})
}
