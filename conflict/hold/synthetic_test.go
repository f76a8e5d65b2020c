package hold_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
)

// writeFile writes a data file: a value for each row, and ids and snapshots where they are
// given. idNode and idName are for files that are not as they should be.
type fileSpec struct {
	vals, ids, snaps []int64
	nullAt           int // 1 and up: the row whose id is NULL
	idNode           parquet.Node
	idName           string
}

func (f fileSpec) write(t testing.TB, path string) int64 {
	t.Helper()
	group := parquet.Group{"v": parquet.FieldID(parquet.Optional(parquet.Int(64)), 1)}
	name := f.idName
	if name == "" {
		name = "_ducklake_internal_row_id"
	}
	if f.ids != nil {
		node := f.idNode
		if node == nil {
			node = parquet.Int(64)
		}
		group[name] = parquet.FieldID(parquet.Optional(node), 2147483540)
	}
	if f.snaps != nil {
		group["zz_snapshot"] = parquet.FieldID(parquet.Optional(parquet.Int(64)), 2147483539)
	}
	schema := parquet.NewSchema("duckdb_schema", group)
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(out, schema, parquet.PageBufferSize(256), parquet.Compression(&parquet.Snappy))
	for i, v := range f.vals {
		row := parquet.Row{}
		for at, c := range schema.Columns() {
			val := parquet.Int64Value(v)
			switch c[0] {
			case name:
				val = parquet.Int64Value(f.ids[i])
				if f.idNode != nil {
					val = parquet.Int32Value(int32(f.ids[i]))
				}
				if f.nullAt == i+1 {
					row = append(row, parquet.NullValue().Level(0, 0, at))
					continue
				}
			case "zz_snapshot":
				val = parquet.Int64Value(f.snaps[i])
			}
			row = append(row, val.Level(0, 1, at))
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

func ptr(n int64) *int64 { return &n }

func seq(from, n int64) (out []int64) {
	for i := range n {
		out = append(out, from+i)
	}
	return out
}

func same(v int64, n int) []int64 { return slices.Repeat([]int64{v}, n) }

// merge is a compaction of a file with ids inside (7 and 9, of snapshot 3) and a dense one
// (20 to 24, of snapshot 4) into out.
func merge(t testing.TB, out fileSpec) *scenario {
	t.Helper()
	s := &scenario{name: "synthetic", dir: t.TempDir(), Right: true}
	s.Before.Stats = []statsRow{{TableID: 1, Records: 7, Next: 40}}
	s.Before.Data = []dataRow{
		{ID: 1, TableID: 1, Begin: 3, Path: "a.parquet", Records: 2},
		{ID: 2, TableID: 1, Begin: 4, Path: "b.parquet", Records: 5, Start: ptr(20)},
	}
	s.Before.Data[0].Size = fileSpec{vals: []int64{70, 90}, ids: []int64{7, 9}}.write(t, filepath.Join(s.dir, "a.parquet"))
	s.Before.Data[1].Size = fileSpec{vals: seq(200, 5)}.write(t, filepath.Join(s.dir, "b.parquet"))
	s.After = s.Before
	s.After.Data = []dataRow{{ID: 3, TableID: 1, Begin: 3, Path: "c.parquet", Records: int64(len(out.vals)), PartialMax: ptr(4)}}
	s.After.Data[0].Size = out.write(t, filepath.Join(s.dir, "c.parquet"))
	s.After.Changes = []changesRow{{ID: 5, Made: "merge_adjacent:1"}}
	s.After.Stats = slices.Clone(s.Before.Stats)
	return s
}

// partition puts the two sources of merge and its output into partitions, by the value of
// one column; "" is NULL.
func (s *scenario) partition(a, b, out string) {
	value := func(file int64, v string) valueRow {
		r := valueRow{FileID: file, TableID: 1}
		if v != "" {
			r.Value = &v
		}
		return r
	}
	for i := range s.Before.Data {
		s.Before.Data[i].Partition = ptr(7)
	}
	s.After.Data[0].Partition = ptr(7)
	s.Before.Values = []valueRow{value(1, a), value(2, b)}
	s.After.Values = []valueRow{value(3, out)}
}

// rightMerge is what merge should write, in some order.
func rightMerge() fileSpec {
	return fileSpec{
		vals: []int64{70, 90, 200, 201, 202, 203, 204}, ids: []int64{7, 9, 20, 21, 22, 23, 24},
		snaps: []int64{3, 3, 4, 4, 4, 4, 4},
	}
}

// What is wrong with an output, or with the commit, is found, each with its own code, and
// not before the tier that can see it.
func TestFindings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		file  func(f *fileSpec)
		rows  func(s *scenario)
		tier  hold.Tier // the first that finds it
		codes string
		text  string
	}{
		{name: "right", tier: 9},
		{name: "another order", file: func(f *fileSpec) {
			for _, l := range [][]int64{f.vals, f.ids, f.snaps} {
				slices.Reverse(l)
			}
		}, tier: 9},
		{name: "the column is found by id", file: func(f *fileSpec) { f.idName = "renamed" }, tier: 9},
		{name: "ids inside count before a start", rows: func(s *scenario) { s.Before.Data[0].Start = ptr(0) }, tier: 9},
		{name: "recorded footer size is wrong", rows: func(s *scenario) {
			for i := range s.Before.Data {
				s.Before.Data[i].Footer = 1 << 20
			}
			s.After.Data[0].Footer = 3
		}, tier: 9},
		{name: "a count", rows: func(s *scenario) { s.After.Data[0].Records = 6 }, tier: 0, codes: "row-count", text: "has 6 rows, its sources leave 7"},
		{name: "the counter", rows: func(s *scenario) { s.After.Stats[0].Next = 47 }, tier: 0, codes: "row-id-next", text: "from 40 to 47"},
		{name: "the count of all rows", rows: func(s *scenario) { s.After.Stats[0].Records = 6 }, tier: 0, codes: "row-count", text: "record_count from 7 to 6"},
		{name: "of one shape of the table", rows: func(s *scenario) { s.Before.Versions = []int64{1, 3} }, tier: 9},
		{name: "of two shapes of the table", rows: func(s *scenario) { s.Before.Versions = []int64{1, 4} }, tier: 0, codes: "row-count row-count", text: "has 7 rows, its sources leave 2"},
		{name: "within a partition", rows: func(s *scenario) { s.partition("x", "x", "x") }, tier: 9},
		{name: "another partition's value", rows: func(s *scenario) { s.partition("x", "x", "y") }, tier: 0, codes: "row-count row-count", text: "has 0 rows, its sources leave 7"},
		{name: "a partition without a value", rows: func(s *scenario) { s.partition("x", "x", "") }, tier: 0, codes: "row-count row-count", text: "has 0 rows, its sources leave 7"},
		{name: "sources of two partitions", rows: func(s *scenario) { s.partition("x", "y", "x") }, tier: 0, codes: "row-count row-count", text: "has 7 rows, its sources leave 2"},
		{name: "partitioned by something else", rows: func(s *scenario) {
			s.partition("x", "x", "x")
			s.After.Data[0].Partition = ptr(8)
		}, tier: 0, codes: "row-count row-count", text: "has 0 rows, its sources leave 7"},
		{name: "a date", rows: func(s *scenario) { s.After.Data[0].Begin = 4 }, tier: 0, codes: "compaction-date", text: "is dated 4, its sources want 3"},
		{name: "partial_max", rows: func(s *scenario) { s.After.Data[0].PartialMax = ptr(3) }, tier: 0, codes: "compaction-date", text: "is dated 3, its sources want 4"},
		{name: "numbered by position", rows: func(s *scenario) { s.After.Data[0].Start = ptr(20) }, tier: 0, codes: "row-id-shape", text: "do not follow one another"},
		{
			name: "rows in the file", file: func(f *fileSpec) { f.vals, f.ids, f.snaps = f.vals[:6], f.ids[:6], f.snaps[:6] }, rows: func(s *scenario) { s.After.Data[0].Records = 7 },
			tier: 1, codes: "row-count", text: "has 6 rows, its sources leave 7",
		},
		{name: "no ids", file: func(f *fileSpec) { f.ids = nil }, tier: 1, codes: "row-id-column", text: "the file has none"},
		{name: "ids of a wrong type", file: func(f *fileSpec) { f.idNode = parquet.Int(32) }, tier: 1, codes: "row-id-column", text: "64-bit"},
		{name: "NULL id", file: func(f *fileSpec) { f.nullAt = 3 }, tier: 2, codes: "row-id-column", text: "it is NULL in some row"},
		{name: "negative id", file: func(f *fileSpec) { f.ids[2] = -1 }, tier: 1, codes: "row-id-column", text: "it is negative in some row"},
		{name: "another id inside the bounds", file: func(f *fileSpec) { f.ids[0] = 8 }, tier: 2, codes: "row-ids", text: "1 of 7 differ, first 7 becomes 8"},
		{name: "an id twice", file: func(f *fileSpec) { f.ids[3] = 20 }, tier: 2, codes: "row-ids", text: "first 21 becomes 20"},
		{name: "another snapshot", file: func(f *fileSpec) { f.snaps[0] = 4 }, tier: 2, codes: "compaction-date", text: "is dated 4, its sources want 3"},
		{name: "ids that changed places", file: func(f *fileSpec) { f.ids[2], f.ids[3] = f.ids[3], f.ids[2] }, tier: 3, codes: "row-ids", text: "2 of 7 differ, first 20 becomes 21"},
		{name: "no such file", rows: func(s *scenario) { s.After.Data[0].Path = "gone.parquet" }, tier: 1, codes: "unverified", text: "there is no such file"},
		{name: "a folder", rows: func(s *scenario) {
			s.After.Data[0].Path = "sub"
			if err := os.Mkdir(filepath.Join(s.dir, "sub"), 0o755); err != nil {
				panic(err)
			}
		}, tier: 1, codes: "unverified", text: "not a file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			spec := rightMerge()
			if tc.file != nil {
				tc.file(&spec)
			}
			s := merge(t, spec)
			if tc.rows != nil {
				tc.rows(s)
			}
			for tier := hold.Metadata; tier <= hold.Rows; tier++ {
				found, _ := judge(t, s.batch(), s, hold.Options{Tier: tier, Files: s.reach(t)})
				want := tc.codes
				if tier < tc.tier {
					want = ""
				}
				if codes(found) != want {
					t.Fatalf("tier %d: found %v, want %q", tier, found, want)
				}
				if want != "" && !strings.Contains(found[0].Text+found[0].Detail, tc.text) {
					t.Fatalf("tier %d: %v", tier, found)
				}
			}
		})
	}
}

// Tier 1 compares the least and the largest id of the outputs with those of the sources: 7 and
// 9 by the file's statistics, 20 to 24 by its row-id start and its count.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		least, most int64 // of the output
		want        string
	}{
		{"the same", 7, 24, ""},
		{"narrower", 8, 23, ""},
		{"one below", 6, 24, "Unexpected: 6."},
		{"one above", 7, 25, "Unexpected: 25."},
		{"both", 0, 1 << 40, "Unexpected: 0, 1099511627776."},
		{"all above", 30, 40, "Unexpected: 40."},
	} {
		spec := rightMerge()
		spec.ids = []int64{tc.most, 9, 20, 21, 22, 23, tc.least}
		if tc.least > 24 {
			spec.ids = []int64{31, 32, tc.most, 33, tc.least, 34, 35}
		}
		s := merge(t, spec)
		found, verdicts := judge(t, s.batch(), s, hold.Options{Tier: hold.Footers, Files: s.reach(t)})
		got := ""
		if len(found) > 0 {
			got = found[0].Detail
		}
		if got != tc.want || len(found) > 0 && codes(found) != "row-ids" || verdicts[0].Tier != hold.Footers {
			t.Errorf("%s: %v, want %q at tier %d", tc.name, found, tc.want, verdicts[0].Tier)
		}
	}
	// A source that lies about its start widens the bounds: they are what the files say.
	s := merge(t, rightMerge())
	s.Before.Data[1].Start = ptr(21)
	if found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.Footers, Files: s.reach(t)}); len(found) > 0 {
		t.Errorf("20 is within 7 to 25: %v", found)
	}
	s.Before.Data[1].Start = ptr(10)
	if found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.Footers, Files: s.reach(t)}); codes(found) != "row-ids" || found[0].Detail != "Unexpected: 24." {
		t.Errorf("24 is not within 7 to 14: %v", found)
	}
}

// A file of this machine that is not there is no finding unless somebody said it would be.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := merge(t, rightMerge())
	if err := os.Remove(filepath.Join(s.dir, "a.parquet")); err != nil {
		t.Fatal(err)
	}
	local, err := files.New(files.Config{Paths: []string{files.Local}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		store files.Store
		codes string
		came  string
	}{
		{"promised", s.reach(t), "unverified", "wrong"},
		{"perhaps", local, "", "unread"},
		{"never", files.None{}, "", "unread"},
	} {
		found, verdicts := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: tc.store})
		if codes(found) != tc.codes || verdicts[0].Unread == "" || verdicts[0].Tier != hold.Metadata || verdicts[0].Outcome() != tc.came {
			t.Errorf("%s: %v, %+v", tc.name, found, verdicts)
		}
	}
}

// An encrypted file whose key in the catalog is another one's is there and cannot be read, which
// is a finding wherever it is. One out of reach is none, and that is said.
func TestWrongKey(t *testing.T) {
	t.Parallel()
	local, err := files.New(files.Config{Paths: []string{files.Local}})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"AAAAAAAAAAAAAAAAAAAAAA==", "no base64", ""} {
		for i, what := range []string{"source", "delete file", "output"} {
			s := load(t, "encrypted")
			set := func(list []dataRow, ended bool) {
				for i := range list {
					if (list[i].End != nil) == ended {
						list[i].Key = &key
					}
				}
			}
			switch i {
			case 0: // before and after: it is the same row
				set(s.Before.Data, false)
				set(s.After.Data, true)
			case 1:
				for i := range s.Before.Deletes {
					s.Before.Deletes[i].Key = &key
				}
			case 2:
				set(s.After.Data, false)
			}
			for _, c := range []struct {
				store   files.Store
				codes   string
				outcome string
			}{{s.reach(t), "unverified", "wrong"}, {local, "unverified", "wrong"}, {files.None{}, "", "unread"}} {
				found, verdicts := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: c.store})
				if codes(found) != c.codes || verdicts[0].Outcome() != c.outcome {
					t.Errorf("%q for the %s: %v, %s", key, what, found, verdicts[0].Outcome())
				}
				if c.codes != "" && !strings.Contains(found[0].Text, "it is encrypted, and the catalog's key does not open it") {
					t.Errorf("%q for the %s: %v", key, what, found)
				}
			}
		}
	}
}

// The catalog has a key for deletion vectors of an encrypted lake, but they are not encrypted.
func TestVectorsWithKey(t *testing.T) {
	t.Parallel()
	s := load(t, "rewrite_vectors")
	key := "AAAAAAAAAAAAAAAAAAAAAA=="
	vectors := 0
	for i := range s.Before.Deletes {
		if s.Before.Deletes[i].Format == "puffin" {
			s.Before.Deletes[i].Key = &key
			vectors++
		}
	}
	if vectors == 0 {
		t.Fatal("no vectors")
	}
	found, verdicts := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: s.reach(t)})
	if len(found) > 0 || verdicts[0].Outcome() != "right" || verdicts[0].Tier != hold.RowIDs {
		t.Errorf("%v, %+v", found, verdicts)
	}
}

// A verdict is remembered by path and size, and only a good one.
func TestVerdictIsRemembered(t *testing.T) {
	t.Parallel()
	s := merge(t, rightMerge())
	v := hold.New(hold.Options{Tier: hold.RowIDs, Files: s.reach(t)})
	again := func() []conflict.Violation {
		t.Helper()
		set, err := conflict.Classify(s.batch())
		if err != nil {
			t.Fatal(err)
		}
		cs, _, err := hold.Find(s.batch(), set, s)
		if err != nil {
			t.Fatal(err)
		}
		out, err := v.Verify(context.Background(), cs, s)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Violations
	}
	if found := again(); len(found) > 0 {
		t.Fatal(found)
	}
	s.After.Data[0].ID = 17 // the client tries again, with another id for the same file
	for _, f := range []string{"a.parquet", "b.parquet", "c.parquet"} {
		if err := os.Remove(filepath.Join(s.dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	if found := again(); len(found) > 0 {
		t.Fatal(found)
	}
	s.After.Data[0].Size++
	if found := again(); codes(found) != "unverified" {
		t.Fatal(found)
	}
}

// Too much to read is unverified.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := merge(t, rightMerge())
	found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: s.reach(t), MaxBytes: 64})
	if codes(found) != "unverified" || !strings.Contains(found[0].Text, "larger than what may be read") {
		t.Fatal(found)
	}
}

// Any set of rows that is split into sources and merged passes, and any other does not.
func TestMergesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "hold-")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s := &scenario{dir: dir}
		s.Before.Stats = []statsRow{{TableID: 1, Next: 1000}}
		var all fileSpec
		for i := range rapid.IntRange(2, 4).Draw(rt, "files") {
			n := rapid.IntRange(1, 300).Draw(rt, "rows")
			r := dataRow{ID: int64(i), TableID: 1, Begin: int64(3 + i), Path: string(rune('a' + i)), Records: int64(n)}
			f := fileSpec{vals: same(0, n), ids: rapid.SliceOfN(rapid.Int64Range(0, 500), n, n).Draw(rt, "ids")}
			all.vals = append(all.vals, f.vals...)
			all.ids = append(all.ids, f.ids...)
			all.snaps = append(all.snaps, same(r.Begin, n)...)
			r.Size = f.write(t, filepath.Join(dir, r.Path))
			s.Before.Data = append(s.Before.Data, r)
		}
		order := rapid.Permutation(seq(0, int64(len(all.ids)))).Draw(rt, "order")
		out := fileSpec{vals: all.vals}
		for _, i := range order {
			out.ids = append(out.ids, all.ids[i])
			out.snaps = append(out.snaps, all.snaps[i])
		}
		s.After = s.Before
		last := s.Before.Data[len(s.Before.Data)-1].Begin
		s.After.Changes = []changesRow{{ID: last + 1, Made: "merge_adjacent:1"}}
		row := dataRow{ID: 90, TableID: 1, Begin: 3, Path: "out", Records: int64(len(out.ids)), PartialMax: ptr(last)}
		row.Size = out.write(t, filepath.Join(dir, "out"))
		s.After.Data = []dataRow{row}
		if found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: s.reach(t)}); len(found) > 0 {
			rt.Fatal(found)
		}
		at := rapid.IntRange(0, len(out.ids)-1).Draw(rt, "at")
		if rapid.Bool().Draw(rt, "id") {
			out.ids[at] += rapid.Int64Range(1, 9).Draw(rt, "by")
		} else {
			out.snaps[at] += rapid.Int64Range(1, 9).Draw(rt, "by")
		}
		row.Size = out.write(t, filepath.Join(dir, "out"))
		if found, _ := judge(t, s.batch(), s, hold.Options{Tier: hold.RowIDs, Files: s.reach(t)}); len(found) == 0 {
			rt.Fatal("a changed row passes")
		}
	})
}
