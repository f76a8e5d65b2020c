package sweep_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/sweep"
)

// The set answers as a map of ids does.
func TestIDs(t *testing.T) {
	t.Parallel()
	ids := rapid.SliceOfN(rapid.Int64Range(-3, 20), 0, 20)
	model := func(list []int64) map[int64]bool {
		m := map[int64]bool{}
		for _, id := range list {
			m[id] = true
		}
		return m
	}
	rapid.Check(t, func(rt *rapid.T) {
		as, bs := ids.Draw(rt, "a"), ids.Draw(rt, "b")
		if rapid.Bool().Draw(rt, "sorted") {
			slices.Sort(as)
		}
		a, b, inA, inB := sweep.NewIDs(as...), sweep.NewIDs(bs...), model(as), model(bs)
		all := make([]int64, 0, len(inA))
		for id := range inA {
			all = append(all, id)
		}
		slices.Sort(all)
		if n := a.Len(); n != int64(len(inA)) {
			rt.Fatalf("length %d of %v", n, all)
		}
		and, without := a.And(b), a.Without(b)
		for id := int64(-5); id < 25; id++ {
			if a.Has(id) != inA[id] || and.Has(id) != (inA[id] && inB[id]) || without.Has(id) != (inA[id] && !inB[id]) {
				rt.Fatalf("id %d: %v %v %v", id, a.Has(id), and.Has(id), without.Has(id))
			}
		}
		first, last := rapid.Int64Range(-5, 25).Draw(rt, "first"), rapid.Int64Range(-5, 25).Draw(rt, "last")
		want := slices.ContainsFunc(all, func(id int64) bool { return first <= id && id <= last })
		if a.Any(first, last) != want {
			rt.Fatalf("any of %d to %d in %v: %v", first, last, all, !want)
		}
		for i := range int64(len(all)) + 2 {
			id, ok := a.FromTop(i)
			if ok != (i < int64(len(all))) || ok && id != all[int64(len(all))-1-i] {
				rt.Fatalf("%d from the top of %v: %d, %v", i, all, id, ok)
			}
		}
		for i, r := range a.Ranges() {
			if r.First > r.Last || i > 0 && a.Ranges()[i-1].Last >= r.First-1 {
				rt.Fatalf("ranges %v", a.Ranges())
			}
		}
	})
}

func TestIDsAtTheEnds(t *testing.T) {
	t.Parallel()
	all := &sweep.IDs{}
	all.AddRange(sweep.Range{First: math.MinInt64, Last: math.MaxInt64})
	s := sweep.NewIDs(math.MinInt64, 5, math.MaxInt64)
	if got := s.And(all).Len(); got != 3 {
		t.Errorf("and: %d", got)
	}
	if got := s.Without(all).Ranges(); len(got) != 0 {
		t.Errorf("without: %v", got)
	}
}
