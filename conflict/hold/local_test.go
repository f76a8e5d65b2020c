package hold_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/conflict/hold"
	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/files"
)

const local = 1_000_000_000_000_000_000

// ownUpdate is a merge that numbers rows by position: of an INSERT's rows and of rows that
// the next transaction inserted and updated, with ids inside.
func ownUpdate(t *testing.T, inside []int64) *scenario {
	t.Helper()
	s := &scenario{name: "synthetic", dir: t.TempDir(), Right: true}
	s.Before.Stats = []statsRow{{TableID: 1, Records: 4, Next: 14}}
	s.Before.Data = []dataRow{
		{ID: 1, TableID: 1, Begin: 3, Path: "a.parquet", Records: 2, Start: ptr(10)},
		{ID: 2, TableID: 1, Begin: 4, Path: "b.parquet", Records: 2, Start: ptr(12)},
	}
	s.Before.Data[0].Size = fileSpec{vals: []int64{70, 90}}.write(t, filepath.Join(s.dir, "a.parquet"))
	s.Before.Data[1].Size = fileSpec{vals: []int64{200, 201}, ids: inside}.write(t, filepath.Join(s.dir, "b.parquet"))
	s.After.Data = []dataRow{{ID: 3, TableID: 1, Begin: 3, Path: "c.parquet", Records: 4, Start: ptr(10), PartialMax: ptr(4)}}
	s.After.Data[0].Size = fileSpec{vals: []int64{70, 90, 200, 201}, snaps: []int64{3, 3, 4, 4}}.write(t, filepath.Join(s.dir, "c.parquet"))
	s.After.Changes = []changesRow{{ID: 5, Made: "merge_adjacent:1"}}
	s.After.Stats = slices.Clone(s.Before.Stats)
	return s
}

// The ids of an open transaction's rows are nobody's: a merge may number such rows by the
// start that the catalog has for their file. All other ids it must keep.
func TestLocalIDs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		inside []int64
		codes  [4]string // by tier
	}{
		{name: "of a transaction", inside: []int64{local, local + 7}},
		{name: "twice", inside: []int64{local, local}},
		{name: "one of an older row", inside: []int64{5, local}, codes: [4]string{"row-id-shape", "row-id-shape", "row-ids", "row-ids"}},
		{name: "just below", inside: []int64{local - 1, local}, codes: [4]string{"row-id-shape", "row-id-shape", "row-ids", "row-ids"}},
	} {
		s := ownUpdate(t, tc.inside)
		for tier := hold.Metadata; tier <= hold.Rows; tier++ {
			found, _ := judge(t, s.batch(), s, hold.Options{Tier: tier, Files: s.reach(t)})
			if codes(found) != tc.codes[tier] {
				t.Errorf("%s: tier %d: found %v, want %q", tc.name, tier, found, tc.codes[tier])
			}
		}
	}
}

// An UPDATE of a transaction's own rows is a delete that its changes do not name. The file
// is looked at; where that cannot be, nobody is sure of it.
func TestOwnDeletes(t *testing.T) {
	t.Parallel()
	s := &scenario{name: "synthetic", dir: t.TempDir()}
	s.After.Data = []dataRow{
		{ID: 1, TableID: 1, Begin: 3, Path: "a.parquet", Records: 2, Start: ptr(0)},
		{ID: 2, TableID: 1, Begin: 3, Path: "b.parquet", Records: 1, Start: ptr(2)},
	}
	s.After.Data[0].Size = fileSpec{vals: []int64{70, 90}}.write(t, filepath.Join(s.dir, "a.parquet"))
	s.After.Data[1].Size = fileSpec{vals: []int64{200}, ids: []int64{local}}.write(t, filepath.Join(s.dir, "b.parquet"))
	s.After.Changes = []changesRow{{ID: 3, Made: "inserted_into_table:1"}}
	look := func(st files.Store) (embedded, unsure int) {
		t.Helper()
		b := s.batch()
		set, err := conflict.Classify(b)
		if err != nil {
			t.Fatal(err)
		}
		e, u, err := hold.New(hold.Options{Files: st}).Embedding(context.Background(), b, set, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(e) > 0 && e[0].ID != 2 {
			t.Fatalf("file %d has no ids inside", e[0].ID)
		}
		return len(e), len(u)
	}
	if e, u := look(s.reach(t)); e != 0 || u != 0 {
		t.Errorf("an INSERT: %d with ids inside, %d unsure", e, u)
	}
	s.After.Deletes = []deleteRow{{ID: 3, TableID: 1, DataFileID: 1, Begin: 3, Path: "d.parquet"}}
	if e, u := look(s.reach(t)); e != 1 || u != 0 {
		t.Errorf("with a delete: %d with ids inside, %d unsure", e, u)
	}
	if e, u := look(files.None{}); e != 0 || u != 2 {
		t.Errorf("not readable: %d with ids inside, %d unsure", e, u)
	}
}

// hanging is a store that never answers; it counts who waits for it.
type hanging struct {
	waiting atomic.Int64
	opened  func()
}

func (*hanging) Reach(string) files.Reach { return files.Yes }

func (h *hanging) Open(ctx context.Context, _ string, _ int64) (files.File, error) {
	h.waiting.Add(1)
	if h.opened != nil {
		h.opened()
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// Many new files on a store that hangs: all of them together have one limit, after which
// nobody is sure of them, and who waits may give up.
func TestNewFilesOnHangingStore(t *testing.T) {
	t.Parallel()
	s := &scenario{name: "synthetic", dir: t.TempDir()}
	for i := range int64(40) {
		s.After.Data = append(s.After.Data, dataRow{ID: i, TableID: 1, Begin: 3, Path: "f", Records: 2, Start: ptr(2 * i)})
	}
	s.After.Changes = []changesRow{{ID: 3, Made: "inserted_into_table:1,deleted_from_table:1"}}
	b := s.batch()
	set, err := conflict.Classify(b)
	if err != nil {
		t.Fatal(err)
	}
	h := &hanging{}
	v := hold.New(hold.Options{Files: h, NewTimeout: time.Millisecond, CacheEntries: -1})
	_, unsure, err := v.Embedding(context.Background(), b, set, s)
	if err != nil || len(unsure) != 40 {
		t.Errorf("%d unsure, %v", len(unsure), err)
	}
	if n := h.waiting.Load(); n > 4 {
		t.Errorf("%d files were waited for one after another", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h = &hanging{opened: cancel}
	v = hold.New(hold.Options{Files: h, NewTimeout: time.Hour, Timeout: time.Hour})
	if _, _, err := v.Embedding(ctx, b, set, s); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A commit that is looked at again has its gaps already.
func TestGapsOnce(t *testing.T) {
	t.Parallel()
	s := &scenario{name: "synthetic", dir: t.TempDir()}
	s.Before.Stats = []statsRow{{TableID: 1, Records: 4, Next: 4}}
	s.After.Stats = []statsRow{{TableID: 1, Records: 9, Next: 9}}
	s.After.Data = []dataRow{
		{ID: 1, TableID: 1, Begin: 3, Path: "a", Records: 2, Start: ptr(4)},
		{ID: 2, TableID: 1, Begin: 3, Path: "b", Records: 3, Start: ptr(6)},
	}
	s.After.Changes = []changesRow{{ID: 3, Made: "inserted_into_table:1"}}
	gaps := func() []hold.TableGaps {
		t.Helper()
		b := s.batch()
		set, err := conflict.Classify(b)
		if err != nil {
			t.Fatal(err)
		}
		g, err := hold.Gaps(b, set, s, func(f *lake.DataFile) bool { return f.ID == 2 })
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := gaps()
	if len(g) != 1 || g[0].Next != 2 || len(g[0].Shifts) != 1 {
		t.Fatalf("%+v", g)
	}
	s.After.Stats[0].Next += g[0].Next
	*s.After.Data[1].Start += g[0].Shifts[0].By
	if g := gaps(); len(g) > 0 {
		t.Errorf("again: %+v", g)
	}
}
