package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/eiderdb/eider/kv"
)

// Open makes an empty engine for a test. The suite closes it.
type Open func(t *testing.T) kv.Engine

// Run runs the whole suite.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, kv.Engine)
	}{
		{"get", testGet},
		{"iterate", testIterate},
		{"iterate beyond the ends", testEnds},
		{"bounds", testBounds},
		{"snapshot isolation", testSnapshot},
		{"iterator isolation", testIteratorIsolation},
		{"batch order", testBatchOrder},
		{"indexed batch", testIndexedBatch},
		{"delete range", testDeleteRange},
		{"repr", testRepr},
		{"batch misuse", testBatchMisuse},
		{"large values", testLarge},
		{"apply without waiting", testAsync},
		{"checkpoint", testCheckpoint},
		{"concurrent batches are atomic", testAtomic},
		{"model", testModel},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t)
			defer func() {
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.run(t, e)
		})
	}
	t.Run("closed", func(t *testing.T) { testClosed(t, open(t)) })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// apply writes pairs; a nil value deletes.
func apply(t testing.TB, e kv.Engine, kvs ...any) {
	t.Helper()
	b := e.NewBatch()
	for i := 0; i < len(kvs); i += 2 {
		if kvs[i+1] == nil {
			must(t, b.Delete([]byte(kvs[i].(string))))
		} else {
			must(t, b.Set([]byte(kvs[i].(string)), []byte(kvs[i+1].(string))))
		}
	}
	must(t, e.Apply(b, true))
	must(t, b.Close())
}

func dump(t testing.TB, r kv.Reader, o kv.IterOptions, reverse bool) string {
	t.Helper()
	it, err := r.Iter(o)
	must(t, err)
	var s []byte
	step := it.Next
	ok := false
	if reverse {
		step, ok = it.Prev, it.Last()
	} else {
		ok = it.First()
	}
	for ; ok; ok = step() {
		s = fmt.Appendf(s, "%s=%s ", it.Key(), it.Value())
	}
	must(t, it.Err())
	must(t, it.Close())
	return string(bytes.TrimSpace(s))
}

func want(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func testGet(t *testing.T, e kv.Engine) {
	if _, err := e.Get([]byte("a")); !errors.Is(err, kv.ErrNotFound) {
		t.Fatalf("empty engine: %v", err)
	}
	b := e.NewBatch()
	if err := b.Set(nil, []byte("v")); !errors.Is(err, kv.ErrEmptyKey) {
		t.Fatalf("empty key: %v", err)
	}
	must(t, b.Close())
	apply(t, e, "a", "1", "empty", "", "\x00\xff", "bin")
	for k, v := range map[string]string{"a": "1", "empty": "", "\x00\xff": "bin"} {
		got, err := e.Get([]byte(k))
		must(t, err)
		if got == nil {
			t.Fatalf("%q: nil value", k)
		}
		want(t, string(got), v)
		ok, err := e.Has([]byte(k))
		must(t, err)
		if !ok {
			t.Fatalf("%q: Has says no", k)
		}
	}
	got, err := e.AppendGet([]byte("x:"), []byte("a"))
	must(t, err)
	want(t, string(got), "x:1")
	got, err = e.AppendGet([]byte("x:"), []byte("b"))
	if !errors.Is(err, kv.ErrNotFound) || string(got) != "x:" {
		t.Fatalf("AppendGet of nothing: %q, %v", got, err)
	}
	apply(t, e, "a", nil)
	if ok, err := e.Has([]byte("a")); ok || err != nil {
		t.Fatalf("deleted: %v %v", ok, err)
	}
}

func testIterate(t *testing.T, e kv.Engine) {
	apply(t, e, "c", "3", "a", "1", "b", "2", "d", "4", "b", nil)
	want(t, dump(t, e, kv.IterOptions{}, false), "a=1 c=3 d=4")
	want(t, dump(t, e, kv.IterOptions{}, true), "d=4 c=3 a=1")
	it, err := e.Iter(kv.IterOptions{})
	must(t, err)
	if it.Valid() {
		t.Fatal("valid before positioning")
	}
	for _, c := range []struct {
		ok   bool
		move func() bool
		key  string
	}{
		{true, func() bool { return it.SeekGE([]byte("b")) }, "c"},
		{true, it.Prev, "a"},
		{true, it.Next, "c"},
		{true, it.Next, "d"},
		{true, func() bool { return it.SeekLT([]byte("c")) }, "a"},
		{true, it.Next, "c"},
		{true, func() bool { return it.SeekGE([]byte("c")) }, "c"},
		{true, func() bool { return it.SeekLT([]byte("zz")) }, "d"},
		{false, func() bool { return it.SeekGE([]byte("e")) }, ""},
		{false, func() bool { return it.SeekLT([]byte("a")) }, ""},
	} {
		if ok := c.move(); ok != c.ok || it.Valid() != c.ok || string(it.Key()) != c.key {
			t.Fatalf("at %q (%v), want %q (%v)", it.Key(), ok, c.key, c.ok)
		}
	}
	must(t, it.Err())
	must(t, it.Close())
	must(t, it.Close())
}

func testEnds(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1", "b", "2")
	it, err := e.Iter(kv.IterOptions{})
	must(t, err)
	defer func() { must(t, it.Close()) }()
	it.Last()
	for range 2 {
		if it.Next() {
			t.Fatal("Next after the last key")
		}
	}
	if !it.Prev() || string(it.Key()) != "b" {
		t.Fatalf("Prev after the end: %q", it.Key())
	}
	it.First()
	for range 2 {
		if it.Prev() {
			t.Fatal("Prev before the first key")
		}
	}
	if !it.Next() || string(it.Key()) != "a" {
		t.Fatalf("Next before the start: %q", it.Key())
	}
}

func testBounds(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1", "b", "2", "c", "3", "d", "4")
	o := kv.IterOptions{Lower: []byte("b"), Upper: []byte("d")}
	want(t, dump(t, e, o, false), "b=2 c=3")
	want(t, dump(t, e, o, true), "c=3 b=2")
	want(t, dump(t, e, kv.IterOptions{Lower: []byte("bb")}, false), "c=3 d=4")
	want(t, dump(t, e, kv.IterOptions{Upper: []byte("bb")}, true), "b=2 a=1")
	want(t, dump(t, e, kv.IterOptions{Lower: []byte("x"), Upper: []byte("y")}, false), "")
	it, err := e.Iter(o)
	must(t, err)
	defer func() { must(t, it.Close()) }()
	if !it.SeekGE([]byte("a")) || string(it.Key()) != "b" {
		t.Fatalf("SeekGE below the bound: %q", it.Key())
	}
	if it.SeekGE([]byte("d")) || it.SeekLT([]byte("b")) {
		t.Fatal("seek left the bounds")
	}
	if !it.SeekLT([]byte("z")) || string(it.Key()) != "c" {
		t.Fatalf("SeekLT above the bound: %q", it.Key())
	}
}

func testSnapshot(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1", "b", "2")
	s, err := e.Snapshot()
	must(t, err)
	apply(t, e, "a", "9", "b", nil, "c", "3")
	b := e.NewBatch()
	must(t, b.DeleteRange([]byte("a"), []byte("z")))
	must(t, e.Apply(b, false))
	must(t, b.Close())
	want(t, dump(t, s, kv.IterOptions{}, false), "a=1 b=2")
	want(t, dump(t, s, kv.IterOptions{}, true), "b=2 a=1")
	want(t, dump(t, e, kv.IterOptions{}, false), "")
	v, err := s.Get([]byte("b"))
	must(t, err)
	want(t, string(v), "2")
	if ok, err := s.Has([]byte("c")); ok || err != nil {
		t.Fatal("snapshot sees a later key", err)
	}
	must(t, s.Close())
	must(t, s.Close())
}

func testIteratorIsolation(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1", "b", "2", "c", "3")
	it, err := e.Iter(kv.IterOptions{})
	must(t, err)
	it.First()
	apply(t, e, "b", "9", "c", nil, "d", "4")
	var got []string
	for ok := it.Valid(); ok; ok = it.Next() {
		got = append(got, string(it.Key())+string(it.Value()))
	}
	want(t, fmt.Sprint(got), "[a1 b2 c3]")
	must(t, it.Close())
}

func testBatchOrder(t *testing.T, e kv.Engine) {
	b := e.NewBatch()
	must(t, b.Set([]byte("a"), []byte("1")))
	must(t, b.Set([]byte("a"), []byte("2")))
	must(t, b.Set([]byte("b"), []byte("1")))
	must(t, b.DeleteRange([]byte("b"), []byte("c")))
	must(t, b.Set([]byte("bb"), []byte("3")))
	must(t, b.Set([]byte("c"), []byte("1")))
	must(t, b.Delete([]byte("c")))
	if b.Count() != 7 || b.Len() == 0 {
		t.Fatalf("count %d, length %d", b.Count(), b.Len())
	}
	must(t, e.Apply(b, true))
	must(t, b.Close())
	want(t, dump(t, e, kv.IterOptions{}, false), "a=2 bb=3")
}

func testIndexedBatch(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1", "b", "2", "c", "3")
	b := e.NewIndexedBatch()
	must(t, b.Set([]byte("b"), []byte("9")))
	must(t, b.Delete([]byte("a")))
	must(t, b.Set([]byte("d"), []byte("4")))
	want(t, dump(t, b, kv.IterOptions{}, false), "b=9 c=3 d=4")
	want(t, dump(t, b, kv.IterOptions{}, true), "d=4 c=3 b=9")
	want(t, dump(t, e, kv.IterOptions{}, false), "a=1 b=2 c=3")
	apply(t, e, "c", "7", "e", "5")
	v, err := b.Get([]byte("c"))
	must(t, err)
	want(t, string(v), "7") // newest state below the batch
	must(t, b.DeleteRange([]byte("b"), []byte("d")))
	if _, err := b.Get([]byte("c")); !errors.Is(err, kv.ErrNotFound) {
		t.Fatalf("range-deleted in the batch: %v", err)
	}
	must(t, b.Set([]byte("c"), []byte("again")))
	want(t, dump(t, b, kv.IterOptions{}, false), "c=again d=4 e=5")
	if ok, err := b.Has([]byte("b")); ok || err != nil {
		t.Fatal(ok, err)
	}
	must(t, e.Apply(b, true))
	must(t, b.Close())
	want(t, dump(t, e, kv.IterOptions{}, false), "c=again d=4 e=5")
}

func testDeleteRange(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1", "b", "2", "b\x00", "3", "c", "4")
	b := e.NewBatch()
	must(t, b.DeleteRange([]byte("b"), []byte("c")))
	must(t, b.DeleteRange([]byte("x"), []byte("x")))
	must(t, e.Apply(b, true))
	must(t, b.Close())
	want(t, dump(t, e, kv.IterOptions{}, false), "a=1 c=4")
	apply(t, e, "b", "new")
	want(t, dump(t, e, kv.IterOptions{}, false), "a=1 b=new c=4")
	must(t, e.Compact([]byte("a"), []byte("z")))
	want(t, dump(t, e, kv.IterOptions{}, true), "c=4 b=new a=1")
}

func testRepr(t *testing.T, e kv.Engine) {
	apply(t, e, "old", "1", "b1", "x", "b2", "x")
	b := e.NewBatch()
	must(t, b.Set([]byte("a"), []byte("1")))
	must(t, b.Delete([]byte("old")))
	must(t, b.DeleteRange([]byte("b"), []byte("c")))
	repr := bytes.Clone(b.Repr())
	must(t, b.Close())
	must(t, e.ApplyRepr(repr, true))
	want(t, dump(t, e, kv.IterOptions{}, false), "a=1")
	if err := e.ApplyRepr([]byte("garbage"), true); !errors.Is(err, kv.ErrCorrupt) {
		t.Fatalf("garbage repr: %v", err)
	}
}

func testBatchMisuse(t *testing.T, e kv.Engine) {
	b := e.NewBatch()
	must(t, e.Apply(b, true)) // empty
	if err := b.Set([]byte("a"), nil); !errors.Is(err, kv.ErrBatchDone) {
		t.Fatalf("set after apply: %v", err)
	}
	if err := e.Apply(b, true); !errors.Is(err, kv.ErrBatchDone) {
		t.Fatalf("apply twice: %v", err)
	}
	b.Reset()
	must(t, b.Set([]byte("a"), []byte("1")))
	b.Reset()
	if b.Count() != 0 {
		t.Fatalf("count %d after reset", b.Count())
	}
	must(t, b.Set([]byte("b"), nil))
	must(t, e.Apply(b, true))
	must(t, b.Close())
	must(t, b.Close())
	want(t, dump(t, e, kv.IterOptions{}, false), "b=")
}

func testLarge(t *testing.T, e kv.Engine) {
	big := bytes.Repeat([]byte("x"), 5<<20)
	b := e.NewBatch()
	for i := range 4 {
		must(t, b.Set([]byte{byte(i)}, big))
	}
	must(t, e.Apply(b, true))
	must(t, b.Close())
	for i := range 4 {
		v, err := e.Get([]byte{byte(i)})
		must(t, err)
		if !bytes.Equal(v, big) {
			t.Fatalf("value %d differs", i)
		}
	}
	long := bytes.Repeat([]byte("k"), 100<<10)
	b = e.NewBatch()
	must(t, b.Set(long, []byte("v")))
	must(t, e.Apply(b, true))
	must(t, b.Close())
	if ok, err := e.Has(long); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

func testCheckpoint(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1")
	err := e.Checkpoint(t.TempDir() + "/copy")
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	apply(t, e, "a", "2")
	want(t, dump(t, e, kv.IterOptions{}, false), "a=2")
}

func testClosed(t *testing.T, e kv.Engine) {
	apply(t, e, "a", "1")
	must(t, e.Close())
	if err := e.Close(); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("close twice: %v", err)
	}
	if _, err := e.Get([]byte("a")); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("get: %v", err)
	}
	if _, err := e.Has([]byte("a")); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("has: %v", err)
	}
	if _, err := e.Iter(kv.IterOptions{}); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("iter: %v", err)
	}
	if _, err := e.Snapshot(); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("snapshot: %v", err)
	}
	b := e.NewBatch()
	err := b.Set([]byte("a"), []byte("1"))
	if err == nil {
		err = e.Apply(b, true)
	}
	if !errors.Is(err, kv.ErrClosed) {
		t.Errorf("apply: %v", err)
	}
	must(t, b.Close())
	if err := e.Compact(nil, nil); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("compact: %v", err)
	}
	_ = e.Metrics() // must not panic
	_ = e.Epoch()
}
