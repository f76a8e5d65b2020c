package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Each anomaly is planted into a history that is right without it.
func TestPlantedAnomalies(t *testing.T) {
	at := func(snapshot int64, item string) (string, bool) { return fmt.Sprintf("%s@%d", item, snapshot), true }
	base := func() []Tx {
		return []Tx{
			{ID: "a", Begin: 1, Snapshots: []int64{5, 5}, SeenAt: 2, Reads: []Read{{"t", "t@5"}, {"t", "t@5"}}, Writes: []string{"t/1"}, Classes: []string{"insert t"}, Commit: 6, End: 4},
			{ID: "b", Begin: 3, Snapshots: []int64{5}, SeenAt: 5, Writes: []string{"t/2"}, Classes: []string{"insert t"}, Commit: 7, End: 7},
			{ID: "c", Begin: 8, Snapshots: []int64{7, 7}, SeenAt: 9, Reads: []Read{{"t", "t@7"}}, End: 10},
			{ID: "d", Begin: 11, Snapshots: []int64{7}, SeenAt: 12, Writes: []string{"t/1"}, Classes: []string{"delete t"}, Commit: 8, End: 13},
		}
	}
	times := func() map[int64]time.Time {
		m := map[int64]time.Time{}
		for id := int64(5); id <= 8; id++ {
			m[id] = time.Unix(id, 0)
		}
		return m
	}
	allowed := func(late, early *Tx) bool {
		return !slices.Contains(late.Classes, "delete t") && !slices.Contains(early.Classes, "delete t")
	}
	for _, c := range []struct {
		property string
		plant    func(h []Tx, times map[int64]time.Time)
	}{
		{"", func([]Tx, map[int64]time.Time) {}},
		{RepeatableRead, func(h []Tx, _ map[int64]time.Time) { h[0].Snapshots[1] = 6 }},
		{RepeatableRead, func(h []Tx, _ map[int64]time.Time) { h[0].Reads[1].Value = "t@6" }},
		{ConsistentCut, func(h []Tx, _ map[int64]time.Time) { h[2].Reads[0].Value = "t@6" }},
		{RealTimeOrder, func(h []Tx, _ map[int64]time.Time) { h[2].Snapshots, h[2].Reads = []int64{6}, nil }},
		{RealTimeOrder, func(h []Tx, _ map[int64]time.Time) {
			h[0].Commit, h[1].Commit, h[2].Snapshots[0], h[2].Snapshots[1] = 0, 0, 5, 5
			h[2].Reads = nil
			h[0].Snapshots = []int64{6}
			h[0].Reads = nil
		}},
		{MonotoneIDs, func(h []Tx, _ map[int64]time.Time) { h[1].Commit = 6 }},
		{MonotoneIDs, func(h []Tx, _ map[int64]time.Time) { h[3].Snapshots, h[3].Commit = nil, 4 }},
		{MonotoneIDs, func(h []Tx, _ map[int64]time.Time) { h[3].Commit = 7; h[1].Commit = 0; h[1].End = 0; h[3].Writes = nil }},
		{MonotoneTimes, func(_ []Tx, m map[int64]time.Time) { m[7] = m[6] }},
		{FirstCommitter, func(h []Tx, _ map[int64]time.Time) { h[1].Writes = []string{"t/1"} }},
		{PremiseToWindow, func(h []Tx, _ map[int64]time.Time) { h[1].Classes = []string{"delete t"} }},
	} {
		h, m := base(), times()
		c.plant(h, m)
		found := Check(h, Premises{At: at, Allowed: allowed, Times: m})
		if c.property == "" {
			if len(found) > 0 {
				t.Errorf("found %v in a history that is right", found)
			}
			continue
		}
		if !slices.ContainsFunc(found, func(v Violation) bool { return v.Property == c.property }) {
			t.Errorf("%s was planted, found %v", c.property, found)
		}
	}
}

// store is a serial implementation of the model: what it records must be free of violations, and any stale read or write over an unseen commit that
// is slipped in must be found.
type store struct {
	rec   Recorder
	value map[string]int64 // by item, the snapshot that wrote it last
	old   []map[string]int64
}

func (s *store) run(r *rand.Rand, txs int, stale float64) (planted int) {
	items := []string{"x", "y", "z"}
	s.value = map[string]int64{}
	s.old = []map[string]int64{{}}
	type open struct {
		tx    Tx
		snap  int64
		items map[string]int64
	}
	var live []open
	for n := 0; n < txs || len(live) > 0; {
		if n < txs && (len(live) < 3 || r.IntN(2) == 0) {
			snap := int64(len(s.old) - 1)
			if stale > 0 && r.Float64() < stale && snap > 0 {
				snap--
				planted++
			}
			o := open{Tx{ID: fmt.Sprint("tx", n), Begin: s.rec.Tick(), Snapshots: []int64{snap}}, snap, s.old[snap]}
			for range 2 {
				i := items[r.IntN(len(items))]
				o.tx.Reads = append(o.tx.Reads, Read{i, fmt.Sprint(o.items[i])})
			}
			o.tx.SeenAt = s.rec.Tick()
			live = append(live, o)
			n++
			continue
		}
		k := r.IntN(len(live))
		o := live[k]
		live = slices.Delete(live, k, k+1)
		if item := items[r.IntN(len(items))]; s.value[item] <= o.snap {
			id := int64(len(s.old))
			s.value[item] = id
			next := map[string]int64{}
			for i, v := range s.value {
				next[i] = v
			}
			s.old = append(s.old, next)
			o.tx.Writes, o.tx.Commit = []string{item}, id
		}
		o.tx.End = s.rec.Tick()
		s.rec.Add(o.tx)
	}
	return planted
}

func (s *store) at(snapshot int64, item string) (string, bool) {
	return fmt.Sprint(s.old[snapshot][item]), true
}

func TestRightHistoriesPass(t *testing.T) {
	for seed := range uint64(300) {
		var s store
		s.run(rand.New(rand.NewPCG(seed, 0)), 60, 0)
		if found := Check(s.rec.Txs(), Premises{At: s.at}); len(found) > 0 {
			t.Fatalf("seed %d: %v", seed, found)
		}
	}
}

func TestStaleSnapshotsAreFound(t *testing.T) {
	for seed := range uint64(300) {
		var s store
		planted := s.run(rand.New(rand.NewPCG(seed, 0)), 60, 0.3)
		if found := Check(s.rec.Txs(), Premises{At: s.at}); planted > 0 && len(found) == 0 {
			t.Fatalf("seed %d: %d stale snapshots were not found", seed, planted)
		}
	}
}
