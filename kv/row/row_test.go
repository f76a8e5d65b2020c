package row_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/kv/row"
)

func build(f func(b *row.Builder)) row.Tuple {
	var b row.Builder
	b.Reset()
	f(&b)
	return b.MustTuple()
}

// Stored rows have this form for ever, or the version byte changes.
func TestGolden(t *testing.T) {
	tup := build(func(b *row.Builder) {
		b.Int64(-2)
		b.Null()
		b.String("hé")
		b.Bytes(nil)
		b.Bool(true)
		b.Int32(7)
		b.EndField(append(b.Buf(), 0xAA, 0xBB))
	})
	const want = "01" + "0007" + "00000008fffffffffffffffe" + "ffffffff" + "0000000368c3a9" + "00000000" +
		"0000000101" + "0000000400000007" + "00000002aabb"
	if got := hex.EncodeToString(row.AppendStored(nil, tup)); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if err := row.Validate(tup, 7); err != nil {
		t.Fatal(err)
	}
	if err := row.Validate(tup, 6); !errors.Is(err, row.ErrMalformed) {
		t.Fatalf("too many fields: %v", err)
	}
	if got := hex.EncodeToString(build(func(*row.Builder) {})); got != "0000" {
		t.Fatalf("empty tuple: %s", got)
	}
}

func TestFromStored(t *testing.T) {
	if _, err := row.FromStored([]byte{2, 0, 0}); !errors.Is(err, row.ErrVersion) {
		t.Fatal(err)
	}
	if _, err := row.FromStored([]byte{1}); !errors.Is(err, row.ErrMalformed) {
		t.Fatal(err)
	}
}

func fields() *rapid.Generator[[][]byte] {
	return rapid.SliceOfN(rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 5).Filter(func(b []byte) bool { return b != nil })), 0, 8)
}

func TestFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := fields().Draw(t, "fields")
		tup := build(func(b *row.Builder) {
			for _, f := range want {
				if f == nil {
					b.Null()
				} else {
					b.Bytes(f)
				}
			}
		})
		if err := row.Validate(tup, -1); err != nil {
			t.Fatal(err)
		}
		if tup.Len() != len(want) {
			t.Fatalf("%d fields", tup.Len())
		}
		w := row.Walk(tup)
		for i, f := range want {
			for _, get := range []func() ([]byte, bool, bool){w.Next, func() ([]byte, bool, bool) { return tup.Field(i) }} {
				val, null, ok := get()
				if !ok || null != (f == nil) || !bytes.Equal(val, f) {
					t.Fatalf("field %d: %x %v %v, want %x", i, val, null, ok, f)
				}
			}
		}
		if _, _, ok := w.Next(); ok {
			t.Fatal("a field after the last")
		}
		if _, _, ok := tup.Field(len(want)); ok {
			t.Fatal("a field after the last")
		}
		// Projection, with absent fields read as missing.
		cols := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 6).Draw(t, "cols")
		missing := func(i int) []byte {
			if i == 9 {
				return nil
			}
			return []byte{byte(i)}
		}
		p := row.Tuple(row.AppendProject(nil, tup, cols, missing))
		if err := row.Validate(p, len(cols)); err != nil {
			t.Fatal(err)
		}
		for at, c := range cols {
			exp := []byte(nil)
			if c < len(want) {
				exp = want[c]
			} else {
				exp = missing(c)
			}
			val, null, ok := p.Field(at)
			if !ok || null != (exp == nil) || !bytes.Equal(val, exp) {
				t.Fatalf("column %d: %x %v %v, want %x", c, val, null, ok, exp)
			}
		}
	})
}

func TestWalkAllocatesNothing(t *testing.T) {
	tup := build(func(b *row.Builder) {
		for range 10 {
			b.Int64(1)
		}
	})
	buf := make([]byte, 0, 256)
	cols := []int{1, 3, 9}
	if n := testing.AllocsPerRun(100, func() {
		w := row.Walk(tup)
		for _, _, ok := w.Next(); ok; _, _, ok = w.Next() {
		}
		_, _, _ = tup.Field(7)
		buf = row.AppendProject(buf[:0], tup, cols, nil)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func FuzzTuple(f *testing.F) {
	f.Add([]byte{0, 0})
	f.Add([]byte{0, 1, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Add([]byte{0, 2, 0, 0, 0, 1, 9, 0, 0, 0, 0})
	f.Add([]byte{0x7F, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF})
	f.Add([]byte{0, 1, 0x80, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		tup := row.Tuple(b)
		n := 0
		w := row.Walk(tup)
		for {
			_, _, ok := w.Next()
			if !ok {
				break
			}
			n++
		}
		_, _, _ = tup.Field(3)
		_ = row.AppendProject(nil, tup, []int{2, 0, 5}, nil)
		if row.Validate(tup, -1) == nil && n != tup.Len() {
			t.Fatalf("valid tuple %x: walked %d fields of %d", b, n, tup.Len())
		}
		_, _ = row.FromStored(b)
	})
}

func BenchmarkProject(b *testing.B) {
	tup := build(func(b *row.Builder) {
		for range 10 {
			b.Int64(1)
		}
	})
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf = row.AppendProject(buf[:0], tup, []int{1, 3, 9}, nil)
	}
}
