package expire_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/expire"
	"github.com/eiderdb/eider/gc/sweep"
)

// Each rule by itself, told of one snapshot: the planner does for all what they say.
func TestChoose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(0, 15), 0, 10, rapid.ID[int64]).Draw(rt, "snapshots")
		times := map[int64]int64{}
		for _, id := range ids {
			times[id] = rapid.Int64Range(0, 9).Draw(rt, "time")
		}
		var sel expire.Selection
		if sel.HasBefore = rapid.Bool().Draw(rt, "has before"); sel.HasBefore {
			sel.Before = rapid.Int64Range(0, 10).Draw(rt, "before")
		}
		if sel.HasNewest = rapid.Bool().Draw(rt, "has newest"); sel.HasNewest {
			sel.Newest = rapid.Int64Range(0, 5).Draw(rt, "newest")
		}
		if rapid.Bool().Draw(rt, "has only") {
			sel.Only = []sweep.Range{}
			for range rapid.IntRange(0, 3).Draw(rt, "ranges") {
				first := rapid.Int64Range(0, 15).Draw(rt, "first")
				sel.Only = append(sel.Only, sweep.Range{First: first, Last: first + rapid.Int64Range(0, 5).Draw(rt, "more")})
			}
		}
		f := expire.Fences{HasPinned: rapid.Bool().Draw(rt, "has pinned"), Pinned: rapid.Int64Range(0, 15).Draw(rt, "pinned")}
		f.Tagged = rapid.SliceOfNDistinct(rapid.Int64Range(0, 15), 0, 3, rapid.ID[int64]).Draw(rt, "tagged")

		c := expire.NewChooser(sel)
		for _, id := range ids {
			c.Add(id, times[id])
		}
		p := c.Plan(f)
		for _, id := range ids {
			newer := int64(0)
			for _, o := range ids {
				if o > id {
					newer++
				}
			}
			selected := newer > 0 && (sel.HasBefore || sel.HasNewest || sel.Only != nil) &&
				(!sel.HasBefore || times[id] < sel.Before) && (!sel.HasNewest || newer >= sel.Newest) &&
				(sel.Only == nil || slices.ContainsFunc(sel.Only, func(r sweep.Range) bool { return r.First <= id && id <= r.Last }))
			tagged := slices.Contains(f.Tagged, id)
			pinned := f.HasPinned && id >= f.Pinned
			if !p.All.Has(id) || p.Tagged.Has(id) != (selected && tagged) || p.Pinned.Has(id) != (selected && !tagged && pinned) ||
				p.Go.Has(id) != (selected && !tagged && !pinned) {
				rt.Fatalf("snapshot %d: selected %v, tagged %v, pinned %v: go %v, tagged %v, pinned %v", id, selected, tagged, pinned,
					p.Go.Ranges(), p.Tagged.Ranges(), p.Pinned.Ranges())
			}
		}
		if n := p.Go.Len() + p.Tagged.Len() + p.Pinned.Len(); n > int64(len(ids)) {
			rt.Fatalf("%d of %d snapshots are planned for", n, len(ids))
		}
	})
}
