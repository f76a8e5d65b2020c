package rel_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

func table() *rel.Table {
	return &rel.Table{
		OID: 16384, Schema: 2200, Name: "ducklake_data_file", Kind: rel.KindTable, Version: 3, Storage: 300,
		Columns: []rel.Column{
			{Num: 1, Name: "data_file_id", Type: 20, Mod: -1},
			{Num: 2, Name: "table_id", Type: 20, Mod: -1},
			{Num: 3, Name: "end_snapshot", Type: 20, Mod: -1},
			{Num: 4, Name: "path", Type: 1043, Mod: -1},
			{Num: 5, Name: "added", Type: 20, Mod: -1, HasMissing: true, Missing: []byte{0, 0, 0, 0, 0, 0, 0, 9}},
		},
		Indexes: []rel.Index{
			{OID: 1, ID: 1, Name: "pk", Columns: []int16{1}, Unique: true, Primary: true},
			{ID: 2, Columns: []int16{4}, Hidden: true},
		},
		Layout: []rel.KeyPart{{Column: 2}, {Column: 3, IsNull: true}},
	}
}

func tuple(id, tableID int64, end any, path string) row.Tuple {
	var b row.Builder
	b.Reset()
	b.Int64(id)
	b.Int64(tableID)
	if end == nil {
		b.Null()
	} else {
		b.Int64(int64(end.(int)))
	}
	b.String(path)
	return b.MustTuple()
}

func TestGoldenKeys(t *testing.T) {
	tbl := table()
	tup := tuple(5, 7, nil, "a")
	rowKey, err := rel.AppendRowKey(nil, tbl, tup, 0x0102)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := rel.AppendRowKey(nil, tbl, tuple(5, 7, 1, "a"), 0x0102)
	if err != nil {
		t.Fatal(err)
	}
	pk, guarded, err := rel.AppendIndexKey(nil, tbl, &tbl.Indexes[0], tup, 0x0102)
	if err != nil || !guarded {
		t.Fatal(guarded, err)
	}
	path, guarded, err := rel.AppendIndexKey(nil, tbl, &tbl.Indexes[1], tup, 0x0102)
	if err != nil || guarded {
		t.Fatal(guarded, err)
	}
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{rowKey, "f9012c" + "00" + "018000000000000007" + "00" + "000000000102"},
		{ended, "f9012c" + "00" + "018000000000000007" + "01" + "000000000102"},
		{pk, "f9012c" + "01" + "018000000000000005"},
		{path, "f9012c" + "02" + "01610001" + "000000000102"},
		{rel.AppendLocator(nil, tbl, 0x0102), "f9012c" + "ff" + "000000000102"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestTID(t *testing.T) {
	for _, c := range []struct {
		rowid uint64
		block uint32
		off   uint16
	}{{0, 0, 1}, {32766, 0, 32767}, {32767, 1, 1}, {rel.MaxRowID, 2147549184, 5}} {
		block, off := rel.TID(c.rowid)
		if c.rowid != rel.MaxRowID && (block != c.block || off != c.off) {
			t.Errorf("TID(%d) = (%d,%d)", c.rowid, block, off)
		}
		if back, ok := rel.RowID(block, off); !ok || back != c.rowid {
			t.Errorf("RowID(%d,%d) = %d %v, want %d", block, off, back, ok, c.rowid)
		}
	}
	for _, c := range [][2]uint32{{0, 0}, {0, 32768}, {1<<32 - 1, 1}} {
		if id, ok := rel.RowID(c[0], uint16(c[1])); ok {
			t.Errorf("RowID(%d,%d) = %d", c[0], c[1], id)
		}
	}
}

func TestLayouts(t *testing.T) {
	tbl := table()
	layout, hidden := rel.ChooseLayout(tbl)
	if d := cmp.Diff([]rel.KeyPart{{Column: 2}, {Column: 3, IsNull: true}}, layout); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]int16{{4}}, hidden); d != "" {
		t.Error(d)
	}
	for _, change := range []func(*rel.Table){
		func(t *rel.Table) { t.Columns[2].Type = 25 },
		func(t *rel.Table) { t.Columns[1].Name = "other" },
		func(t *rel.Table) { t.Name = "data_file" },
		func(t *rel.Table) { t.Temp = true },
		func(t *rel.Table) { t.Kind = rel.KindView },
	} {
		tbl := table()
		change(tbl)
		if layout, hidden := rel.ChooseLayout(tbl); layout != nil || hidden != nil {
			t.Errorf("%s: layout %v, hidden %v", tbl.Name, layout, hidden)
		}
	}
}

// Bounds contain a row's key exactly when the row satisfies the conditions.
func TestBounds(t *testing.T) {
	tbl := table()
	bin := func(v int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(int64(v))) }
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.IntRange(-2, 2)
		idx := &rel.Index{ID: 3, Columns: []int16{2, 3}}
		tid := v.Draw(t, "table_id")
		end := rapid.SampledFrom([]any{nil, -1, 0, 1, 2}).Draw(t, "end")
		key, _, err := rel.AppendIndexKey([]byte("p"), tbl, idx, tuple(1, int64(tid), end, ""), 77)
		if err != nil {
			t.Fatal(err)
		}
		var eq [][]byte
		match := true
		n := rapid.IntRange(0, 2).Draw(t, "conditions")
		vals := []any{tid, end}
		for i := range n {
			if rapid.Bool().Draw(t, "null") {
				eq = append(eq, nil)
				match = match && vals[i] == nil
			} else {
				x := v.Draw(t, "eq")
				eq = append(eq, bin(x))
				match = match && vals[i] == x
			}
		}
		var lo, hi *rel.Bound
		if n < 2 {
			if rapid.Bool().Draw(t, "lo") {
				x := v.Draw(t, "from")
				lo = &rel.Bound{Value: bin(x), Inclusive: rapid.Bool().Draw(t, "incl")}
				match = match && vals[n] != nil && (vals[n].(int) > x || lo.Inclusive && vals[n] == x)
			}
			if rapid.Bool().Draw(t, "hi") {
				x := v.Draw(t, "to")
				hi = &rel.Bound{Value: bin(x), Inclusive: rapid.Bool().Draw(t, "incl")}
				match = match && vals[n] != nil && (vals[n].(int) < x || hi.Inclusive && vals[n] == x)
			}
		}
		from, to, err := rel.Bounds([]byte("p"), tbl, idx, eq, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		if in := bytes.Compare(from, key) <= 0 && bytes.Compare(key, to) < 0; in != match {
			t.Fatalf("key %x in [%x, %x) is %v, the row matches: %v", key, from, to, in, match)
		}
	})
}

func TestMissing(t *testing.T) {
	tbl := table()
	val, null := tbl.Columns[4].Value(tuple(1, 2, nil, ""))
	if null || !bytes.Equal(val, tbl.Columns[4].Missing) {
		t.Fatal(val, null)
	}
	if _, null := (&rel.Column{Num: 9}).Value(tuple(1, 2, nil, "")); !null {
		t.Fatal("absent field without missing value")
	}
}

func TestWrongBytes(t *testing.T) {
	for _, typ := range []uint32{16, 20, 21, 23, 700, 701, 1082, 1114, 1186, 1266, 1700, 2950} {
		if _, err := rel.AppendKey(nil, typ, []byte{1, 2, 3}, false); !errors.Is(err, rel.ErrKeyValue) {
			t.Errorf("type %d: %v", typ, err)
		}
	}
}

func TestDescriptor(t *testing.T) {
	tbl := table()
	b, err := rel.EncodeTable(tbl)
	if err != nil {
		t.Fatal(err)
	}
	back, err := rel.DecodeTable(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(tbl, back); d != "" {
		t.Fatal(d)
	}
	b[0] = 2
	if _, err := rel.DecodeTable(b); !errors.Is(err, rel.ErrDescriptorFormat) {
		t.Fatalf("newer format: %v", err)
	}
}

func FuzzDescriptor(f *testing.F) {
	b, err := rel.EncodeTable(table())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("\x01{\"OID\":1,\"Kind\":114,\"Storage\":1,\"Columns\":[{\"Num\":1}],\"Layout\":[{\"Column\":2}]}"))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := rel.DecodeSchema(b); err != nil {
			_ = err
		}
		_, _ = rel.DecodeGhost(b)
		tbl, err := rel.DecodeTable(b)
		if err != nil {
			return
		}
		// What decodes can be used: keys of any tuple can be made or are refused.
		tup := tuple(1, 2, 3, "x")
		_, _ = rel.AppendRowKey(nil, tbl, tup, 1)
		for i := range tbl.Indexes {
			_, _, _ = rel.AppendIndexKey(nil, tbl, &tbl.Indexes[i], tup, 1)
		}
	})
}
