package hold_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

// A scenario is a compaction by DuckLake's client: the catalog before and after, and the
// files. scripts/hold-testdata.py makes them.
type scenario struct {
	name, dir     string
	Right         bool // the client kept the ids
	Rows          [][2]int64
	Before, After catalog
}

type catalog struct {
	Data      []dataRow
	Deletes   []deleteRow
	Inlined   []inlinedRow
	Values    []valueRow
	Sorted    bool
	Stats     []statsRow
	Changes   []changesRow
	Snapshots []snapshotRow
	Versions  []int64 // when the table got another shape
}

type dataRow struct {
	ID         int64   `json:"data_file_id"`
	TableID    int64   `json:"table_id"`
	Begin      int64   `json:"begin_snapshot"`
	End        *int64  `json:"end_snapshot"`
	Path       string  `json:"path"`
	Records    int64   `json:"record_count"`
	Size       int64   `json:"file_size_bytes"`
	Footer     int64   `json:"footer_size"`
	Start      *int64  `json:"row_id_start"`
	Partition  *int64  `json:"partition_id"`
	Key        *string `json:"encryption_key"`
	PartialMax *int64  `json:"partial_max"`
}

type deleteRow struct {
	ID         int64   `json:"delete_file_id"`
	TableID    int64   `json:"table_id"`
	Begin      int64   `json:"begin_snapshot"`
	End        *int64  `json:"end_snapshot"`
	DataFileID int64   `json:"data_file_id"`
	Path       string  `json:"path"`
	Format     string  `json:"format"`
	Count      int64   `json:"delete_count"`
	Size       int64   `json:"file_size_bytes"`
	Footer     int64   `json:"footer_size"`
	Key        *string `json:"encryption_key"`
}

type inlinedRow struct {
	TableID int64 `json:"table_id"`
	FileID  int64 `json:"file_id"`
	RowID   int64 `json:"row_id"`
}

type valueRow struct {
	FileID  int64   `json:"data_file_id"`
	TableID int64   `json:"table_id"`
	Key     int64   `json:"partition_key_index"`
	Value   *string `json:"partition_value"`
}

type statsRow struct {
	TableID int64 `json:"table_id"`
	Records int64 `json:"record_count"`
	Next    int64 `json:"next_row_id"`
}

type changesRow struct {
	ID   int64  `json:"snapshot_id"`
	Made string `json:"changes_made"`
}

type snapshotRow struct {
	ID   int64 `json:"snapshot_id"`
	Next int64 `json:"next_file_id"`
}

func span(begin int64, end *int64) lake.Span {
	s := lake.Span{Begin: begin}
	if end != nil {
		s.End, s.Ended = *end, true
	}
	return s
}

func number(p *int64) (int64, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}

func (r dataRow) file() lake.DataFile {
	f := lake.DataFile{Span: span(r.Begin, r.End), ID: r.ID, TableID: r.TableID, Path: r.Path, Relative: true, Records: r.Records, Size: r.Size, Footer: r.Footer}
	f.RowIDStart, f.HasRowIDStart = number(r.Start)
	f.PartitionID, f.HasPartition = number(r.Partition)
	f.PartialMax, f.HasPartialMax = number(r.PartialMax)
	if r.Key != nil {
		f.Key = *r.Key
	}
	return f
}

func (r deleteRow) file() lake.DeleteFile {
	f := lake.DeleteFile{
		Span: span(r.Begin, r.End), ID: r.ID, TableID: r.TableID, DataFileID: r.DataFileID, Path: r.Path, Relative: true,
		Format: r.Format, Count: r.Count, Size: r.Size, Footer: r.Footer,
	}
	if r.Key != nil {
		f.Key = *r.Key
	}
	return f
}

func (r valueRow) value() lake.PartitionValue {
	v := lake.PartitionValue{FileID: r.FileID, TableID: r.TableID, Key: r.Key}
	if r.Value != nil {
		v.Value, v.HasValue = *r.Value, true
	}
	return v
}

func load(t testing.TB, name string) *scenario {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return loadDir(t, dir)
}

func loadDir(t testing.TB, dir string) *scenario {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "scenario.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{name: filepath.Base(dir), dir: dir}
	if err := json.Unmarshal(b, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func scenarios(t testing.TB) (out []*scenario) {
	t.Helper()
	list, err := filepath.Glob("testdata/*/scenario.json")
	if err != nil || len(list) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, p := range list {
		out = append(out, load(t, filepath.Base(filepath.Dir(p))))
	}
	return out
}

// batch is the compaction's commit.
func (s *scenario) batch() *conflict.Batch {
	last := s.After.Changes[len(s.After.Changes)-1]
	b := &conflict.Batch{Schema: "public"}
	b.Snapshots.Added = []lake.Snapshot{{ID: last.ID}}
	b.Logs.Added = []lake.Changes{{SnapshotID: last.ID, Made: last.Made, HasMade: true}}
	after := map[int64]lake.DataFile{}
	for _, r := range s.After.Data {
		after[r.ID] = r.file()
	}
	for _, r := range s.Before.Data {
		f := r.file()
		now, ok := after[f.ID]
		switch delete(after, f.ID); {
		case !ok:
			b.DataFiles.Removed = append(b.DataFiles.Removed, f)
		case now != f:
			b.DataFiles.Changed = append(b.DataFiles.Changed, conflict.Edit[lake.DataFile]{Before: f, After: now})
		}
	}
	for _, r := range s.After.Data {
		if f, ok := after[r.ID]; ok {
			b.DataFiles.Added = append(b.DataFiles.Added, f)
		}
	}
	for _, r := range s.After.Deletes {
		if !slices.ContainsFunc(s.Before.Deletes, func(o deleteRow) bool { return o.ID == r.ID }) {
			b.DeleteFiles.Added = append(b.DeleteFiles.Added, r.file())
		}
	}
	for _, r := range s.Before.Values {
		if !slices.ContainsFunc(s.After.Values, func(o valueRow) bool { return o.FileID == r.FileID }) {
			b.FileValues.Removed = append(b.FileValues.Removed, r.value())
		}
	}
	for _, r := range s.After.Values {
		if !slices.ContainsFunc(s.Before.Values, func(o valueRow) bool { return o.FileID == r.FileID }) {
			b.FileValues.Added = append(b.FileValues.Added, r.value())
		}
	}
	for i, r := range s.After.Stats {
		if w := s.Before.Stats[i]; w != r {
			b.TableStats.Changed = append(b.TableStats.Changed, conflict.Edit[lake.TableStats]{
				Before: lake.TableStats{TableID: w.TableID, Records: w.Records, NextRowID: w.Next},
				After:  lake.TableStats{TableID: r.TableID, Records: r.Records, NextRowID: r.Next},
			})
		}
	}
	return b
}

// The scenario is the State as the commit finds it.

func (s *scenario) Table(id int64) conflict.TableRef { return conflict.TableRef{ID: id, Name: "t"} }
func (s *scenario) Sorted(int64) (bool, error)       { return s.Before.Sorted, nil }
func (s *scenario) Path(_ int64, p string, _ bool) (string, error) {
	return filepath.Join(s.dir, p), nil
}

func (s *scenario) LiveDelete(file int64) (out lake.DeleteFile, ok bool, err error) {
	for _, r := range s.Before.Deletes {
		if r.DataFileID == file && r.End == nil {
			out, ok = r.file(), true
		}
	}
	return out, ok, nil
}

func (s *scenario) InlinedDeletes(table, file int64) (out []int64, err error) {
	for _, r := range s.Before.Inlined {
		if r.TableID == table && r.FileID == file {
			out = append(out, r.RowID)
		}
	}
	return out, nil
}

func (s *scenario) PartitionValues(file int64) (out []lake.PartitionValue, err error) {
	for _, r := range s.Before.Values {
		if r.FileID == file {
			out = append(out, r.value())
		}
	}
	return out, nil
}

func (s *scenario) Versions(int64) ([]int64, error) { return s.Before.Versions, nil }

func (s *scenario) MadeIn(f *lake.DataFile) (string, bool, error) {
	for i, r := range s.Before.Snapshots {
		if r.Next > f.ID && (i == 0 || s.Before.Snapshots[i-1].Next <= f.ID) {
			return s.Before.Changes[i].Made, true, nil
		}
	}
	return "", false, nil
}

func (s *scenario) LiveFiles(table int64) (out []lake.DataFile, err error) {
	for _, r := range s.Before.Data {
		if r.TableID == table && r.End == nil {
			out = append(out, r.file())
		}
	}
	return out, nil
}

// reach is a store of the scenario's folder.
func (s *scenario) reach(t testing.TB) files.Store {
	t.Helper()
	set, err := files.New(files.Config{Paths: []string{s.dir}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// judge finds and verifies the commit's compactions.
func judge(t testing.TB, b *conflict.Batch, st hold.State, o hold.Options) ([]conflict.Violation, []hold.Verdict) {
	t.Helper()
	set, err := conflict.Classify(b)
	if err != nil {
		t.Fatal(err)
	}
	cs, found, err := hold.Find(b, set, st)
	if err != nil {
		t.Fatal(err)
	}
	if len(cs) == 0 {
		t.Fatal("no compaction found")
	}
	verdicts, err := hold.New(o).Verify(context.Background(), cs, st)
	if err != nil {
		t.Fatal(err)
	}
	for i := range verdicts {
		found = append(found, verdicts[i].Violations...)
	}
	return found, verdicts
}

func codes(list []conflict.Violation) string {
	var out []string
	for _, v := range list {
		out = append(out, string(v.Code))
	}
	return strings.Join(out, " ")
}

// What the client did right passes on every tier, what it did wrong is refused on every
// tier, with and without access to the files.
func TestScenarios(t *testing.T) {
	t.Parallel()
	// Right, but without a look at the files nobody can tell.
	suspect := map[string]bool{"delete_and_insert": true}
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for tier := hold.Metadata; tier <= hold.Rows; tier++ {
				found, verdicts := judge(t, s.batch(), s, hold.Options{Tier: tier, Files: s.reach(t)})
				if (len(found) == 0) != s.Right {
					t.Errorf("tier %d: right is %v, found %v", tier, s.Right, found)
				}
				for _, v := range verdicts {
					if s.Right && v.Tier != tier {
						t.Errorf("tier %d: came to tier %d only: %s", tier, v.Tier, v.Unread)
					}
				}
			}
			found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs})
			if (len(found) == 0) != (s.Right && !suspect[s.name]) {
				t.Errorf("without files: right is %v, found %v", s.Right, found)
			}
		})
	}
}

// Refusals name rows where the files can be read.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ scenario, near, far string }{
		{"updates", "compaction of table \"t\" (id 1) would change row ids: 20 of 20 differ, first 0 becomes 20", "data file 1 may have its rows' ids inside"},
		{"sorted_inserts", "would change row ids: the table has a sort order", "the table has a sort order"},
		{"sorted_flushes", "would change row ids: the table has a sort order", "the table has a sort order"},
		{"flush_gaps", "would change row ids: 1 of 5 differ, first 5 becomes 2", "has its rows' ids inside"},
		{"encrypted_merge", "20 of 20 differ, first 0 becomes 20", "data file 1 may have its rows' ids inside"},
	} {
		s := load(t, tc.scenario)
		near, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: s.reach(t)})
		if len(near) == 0 || !strings.Contains(near[0].Text, tc.near) {
			t.Errorf("%s: %v", tc.scenario, near)
		}
		far, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs})
		if len(far) == 0 || !strings.Contains(far[0].Text, tc.far) {
			t.Errorf("%s without files: %v", tc.scenario, far)
		}
	}
	// Row 5 would get the id of a live row in another partition.
	s := load(t, "flush_gaps")
	found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: s.reach(t)})
	if codes(found) != "row-ids row-id-shared" || !strings.Contains(found[1].Detail, "Shared: 2.") {
		t.Errorf("%v", found)
	}
}
