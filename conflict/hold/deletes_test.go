package hold_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake/files"
)

// The delete files of the scenarios have as many positions as the catalog says, and those
// whose rows are gone.
func TestDeletePositions(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, s := range scenarios(t) {
		v := hold.New(hold.Options{Files: s.reach(t)})
		for _, r := range s.Before.Deletes {
			key := ""
			if r.Key != nil {
				key = *r.Key
			}
			f := &hold.File{Path: filepath.Join(s.dir, r.Path), Size: r.Size, Footer: r.Footer, Key: key, Format: r.Format}
			for range 2 { // the second time from memory
				pos, err := v.DeletePositions(context.Background(), f)
				if err != nil {
					t.Fatalf("%s/%s: %v", s.name, r.Path, err)
				}
				if int64(len(pos)) != r.Count || !slices.IsSorted(pos) {
					t.Errorf("%s/%s: %v, want %d", s.name, r.Path, pos, r.Count)
				}
			}
			kind := r.Format
			if key != "" {
				kind = "encrypted"
			}
			seen[kind]++
		}
	}
	for _, kind := range []string{"parquet", "puffin", "encrypted"} {
		if seen[kind] == 0 {
			t.Errorf("no delete file is %s", kind)
		}
	}
}

// blob makes a deletion vector as a client may: containers are arrays, bitmaps or runs.
func blob(pos []int64, runs bool) []byte {
	byHigh := map[uint32][]uint32{}
	var highs []uint32
	for _, p := range pos {
		h := uint32(p >> 32)
		if _, ok := byHigh[h]; !ok {
			highs = append(highs, h)
		}
		byHigh[h] = append(byHigh[h], uint32(p))
	}
	body := []byte{0xD1, 0xD3, 0x39, 0x64}
	body = binary.LittleEndian.AppendUint64(body, uint64(len(highs)))
	for _, h := range highs {
		body = binary.LittleEndian.AppendUint32(body, h)
		body = append(body, bitmap(byHigh[h], runs)...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(out, body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
}

func bitmap(vals []uint32, runs bool) (out []byte) {
	le := binary.LittleEndian
	var keys []uint16
	parts := map[uint16][]uint16{}
	for _, v := range vals {
		k := uint16(v >> 16)
		if parts[k] == nil {
			keys = append(keys, k)
		}
		parts[k] = append(parts[k], uint16(v))
	}
	if runs {
		out = le.AppendUint32(out, 12347|uint32(len(keys)-1)<<16)
		flags := make([]byte, (len(keys)+7)/8)
		for i := range keys {
			flags[i/8] |= 1 << (i % 8)
		}
		out = append(out, flags...)
	} else {
		out = le.AppendUint32(out, 12346)
		out = le.AppendUint32(out, uint32(len(keys)))
	}
	for _, k := range keys {
		out = le.AppendUint16(le.AppendUint16(out, k), uint16(len(parts[k])-1))
	}
	if !runs || len(keys) >= 4 {
		out = append(out, make([]byte, 4*len(keys))...) // offsets, which readers in sequence do without
	}
	for _, k := range keys {
		low := parts[k]
		switch {
		case runs:
			var list [][2]uint16
			for i, v := range low {
				if i > 0 && v == low[i-1]+1 {
					list[len(list)-1][1]++
				} else {
					list = append(list, [2]uint16{v, 0})
				}
			}
			out = le.AppendUint16(out, uint16(len(list)))
			for _, r := range list {
				out = le.AppendUint16(le.AppendUint16(out, r[0]), r[1])
			}
		case len(low) <= 4096:
			for _, v := range low {
				out = le.AppendUint16(out, v)
			}
		default:
			words := make([]byte, 8192)
			for _, v := range low {
				words[v/8] |= 1 << (v % 8)
			}
			out = append(out, words...)
		}
	}
	return out
}

// puffin wraps a blob in a Puffin file.
func puffin(blob []byte) []byte {
	out := append([]byte("PFA1"), blob...)
	foot := fmt.Sprintf(`{"blobs":[{"type":"apache-datasketches-theta-v1","offset":4,"length":1},{"type":"deletion-vector-v1","offset":4,"length":%d}]}`, len(blob))
	out = append(out, "PFA1"...)
	out = append(out, foot...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(foot)))
	return append(out, 0, 0, 0, 0, 'P', 'F', 'A', '1')
}

// Any set of positions that is written as a vector is read again.
func TestVectorsProperty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		// Some dense stretches make bitmaps and long runs, far ones more containers.
		set := map[int64]bool{}
		for range rapid.IntRange(0, 3).Draw(rt, "stretches") {
			from := rapid.Int64Range(0, 1<<33).Draw(rt, "from")
			step := rapid.Int64Range(1, 3).Draw(rt, "step")
			for i := range rapid.Int64Range(1, 9000).Draw(rt, "length") {
				set[from+i*step] = true
			}
		}
		for _, p := range rapid.SliceOfN(rapid.Int64Range(0, 1<<20), 0, 50).Draw(rt, "single") {
			set[p] = true
		}
		want := make([]int64, 0, len(set))
		for p := range set {
			want = append(want, p)
		}
		slices.Sort(want)
		b := blob(want, rapid.Bool().Draw(rt, "runs"))
		if rapid.Bool().Draw(rt, "puffin") {
			b = puffin(b)
		}
		path := filepath.Join(dir, "v.puffin")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			rt.Fatal(err)
		}
		got, err := positions(t, dir, &hold.File{Path: path, Size: int64(len(b)), Format: "puffin"})
		if err != nil || !slices.Equal(got, want) {
			rt.Fatalf("%d positions came back as %d: %v", len(want), len(got), err)
		}
	})
}

func positions(t testing.TB, dir string, f *hold.File) ([]int64, error) {
	t.Helper()
	set, err := files.New(files.Config{Paths: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	return hold.New(hold.Options{Files: set, CacheEntries: -1}).DeletePositions(context.Background(), f)
}

// Damage is found, not read over.
func TestVectorDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := blob([]int64{1, 5, 70_000, math.MaxUint32 + 7}, false)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x10
		path := filepath.Join(dir, fmt.Sprintf("%d.puffin", i))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if pos, err := positions(t, dir, &hold.File{Path: path, Size: int64(len(bad)), Format: "puffin"}); !errors.Is(err, hold.ErrDamaged) {
			t.Errorf("byte %d changed: %v %v", i, pos, err)
		}
	}
}

// No bytes make the readers panic, whatever they are taken for.
func FuzzFiles(f *testing.F) {
	for _, name := range []string{
		"updates/data1.parquet", "updates/delete2.parquet", "rewrite_vectors/delete4.puffin", "encrypted/data1.parquet", "partitions/data7.parquet",
	} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, len(name)%2 == 0)
	}
	f.Add(puffin(blob([]int64{1, 2, 3}, true)), true)
	for _, b := range hostile(f, 500) {
		f.Add(b, false)
	}
	dir := f.TempDir()
	set, err := files.New(files.Config{Paths: []string{dir}})
	if err != nil {
		f.Fatal(err)
	}
	v := hold.New(hold.Options{Files: set, CacheEntries: -1, MaxBytes: 1 << 20})
	f.Fuzz(func(t *testing.T, b []byte, keyed bool) {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file := hold.File{Path: path, Size: int64(len(b))}
		if keyed {
			file.Key = "AAAAAAAAAAAAAAAAAAAAAA=="
		}
		_, _ = v.Layout(context.Background(), &file)
		_, _ = v.DeletePositions(context.Background(), &file)
		file.Format = "puffin"
		_, _ = v.DeletePositions(context.Background(), &file)
		s := &scenario{dir: dir}
		s.Before.Data = []dataRow{{ID: 1, TableID: 1, Begin: 1, Path: "file", Records: 10}, {ID: 2, TableID: 1, Begin: 1, Path: "file", Records: 10}}
		s.After.Data = []dataRow{{ID: 3, TableID: 1, Begin: 1, Path: "file", Records: 20, PartialMax: ptr(1)}}
		s.After.Changes = []changesRow{{ID: 2, Made: "merge_adjacent:1"}}
		judge(t, s.batch(), s, hold.Options{Tier: hold.Rows, Files: set, MaxBytes: 1 << 20})
	})
}
