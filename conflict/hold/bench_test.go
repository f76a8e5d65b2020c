//go:build unix

package hold_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
)

// BenchmarkTier0 is the look at the metadata of one compaction, of two, ten and a hundred sources.
func BenchmarkTier0(b *testing.B) {
	for _, n := range []int64{2, 10, 100} {
		b.Run(fmt.Sprintf("sources=%d", n), func(b *testing.B) {
			s := &scenario{dir: "/none"}
			s.Before.Stats = []statsRow{{TableID: 1, Records: 10 * n, Next: 10 * n}}
			for i := range n {
				s.Before.Data = append(s.Before.Data, dataRow{ID: i, TableID: 1, Begin: i + 2, Path: "f", Records: 10, Start: ptr(i * 10)})
				s.Before.Snapshots = append(s.Before.Snapshots, snapshotRow{ID: i + 2, Next: i + 1})
				s.Before.Changes = append(s.Before.Changes, changesRow{ID: i + 2, Made: "inserted_into_table:1"})
			}
			s.After = s.Before
			s.After.Changes = []changesRow{{ID: n + 2, Made: "merge_adjacent:1"}}
			s.After.Data = []dataRow{{ID: n, TableID: 1, Begin: 2, Path: "g", Records: 10 * n, Start: ptr(0), PartialMax: ptr(n + 1)}}
			batch := s.batch()
			set, err := conflict.Classify(batch)
			if err != nil {
				b.Fatal(err)
			}
			v := hold.New(hold.Options{})
			b.ReportAllocs()
			for b.Loop() {
				cs, found, err := hold.Find(batch, set, s)
				if err != nil || len(found) > 0 {
					b.Fatal(found, err)
				}
				out, err := v.Verify(context.Background(), cs, s)
				if err != nil || len(out[0].Violations) > 0 {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// BenchmarkTier2 verifies a merge that a client has made: EIDER_HOLD_SCENARIO is a folder
// as scripts/hold-testdata.py makes them ("bench" there: ten million rows).
func BenchmarkTier2(b *testing.B) {
	dir := os.Getenv("EIDER_HOLD_SCENARIO")
	if dir == "" {
		b.Skip("EIDER_HOLD_SCENARIO names no scenario")
	}
	s := loadDir(b, dir)
	set, err := files.New(files.Config{Paths: []string{s.dir}})
	if err != nil {
		b.Fatal(err)
	}
	var rows int64
	for _, r := range s.After.Data {
		if r.End == nil {
			rows += r.Records
		}
	}
	began := cpu(b)
	for b.Loop() {
		found, verdicts := judge(b, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: set, CacheEntries: -1})
		if len(found) > 0 || verdicts[0].Tier != hold.RowIDs {
			b.Fatal(found, verdicts)
		}
	}
	b.ReportMetric((cpu(b)-began)/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(rows), "rows")
}

// cpu is the CPU time of the process in seconds: what the look costs, however busy the machine is.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
