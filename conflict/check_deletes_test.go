package conflict_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/lake"
)

// A reader's rows: those of the live data files, without what delete files and inlined
// deletes take away. visible returns them as file and position, and whether a position
// was deleted twice, which readers do not get right.
func visible(s *state, contents map[int64][]int64) (rows map[[2]int64]bool, twice bool) {
	rows = map[[2]int64]bool{}
	for _, f := range s.files {
		if f.Ended {
			continue
		}
		gone := map[int64]bool{}
		for _, d := range s.deletes {
			if d.DataFileID == f.ID && !d.Ended {
				for _, p := range contents[d.ID] {
					twice = twice || gone[p]
					gone[p] = true
				}
			}
		}
		for _, i := range s.inlined {
			if i.FileID == f.ID {
				twice = twice || gone[i.RowID]
				gone[i.RowID] = true
			}
		}
		for p := range f.Records {
			if !gone[p] {
				rows[[2]int64{f.ID, p}] = true
			}
		}
	}
	return rows, twice
}

// TestDeletesAreNotLost: whatever two clients do to one file, each planned on the same
// snapshot, the second is refused or both deletes hold and no position is deleted twice.
func TestDeletesAreNotLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &state{
			snapshots: []lake.Snapshot{{ID: 5, Micros: 50, NextCatalogID: 5, NextFileID: 10}},
			schemas:   []lake.Schema{{Span: live(0), Name: "main"}},
			tables:    []lake.Table{{Span: live(1), ID: 1, Name: "t"}},
			columns:   []lake.Column{{Span: live(1), ID: 1, TableID: 1, Name: "i"}},
			stats:     []lake.TableStats{{TableID: 1, Records: 8, NextRowID: 8}},
			files:     []lake.DataFile{{Span: live(1), ID: 1, TableID: 1, Path: "f1", Records: 8}},
		}
		contents := map[int64][]int64{}
		set := func(label string) []int64 {
			return rapid.SliceOfNDistinct(rapid.Int64Range(0, 7), 0, 3, rapid.ID[int64]).Draw(t, label)
		}
		if old := set("old delete file"); len(old) > 0 {
			contents[2] = old
			s.deletes = []lake.DeleteFile{{Span: live(2), ID: 2, TableID: 1, DataFileID: 1, Path: "d2", Count: int64(len(old))}}
		}
		for _, p := range set("old inlined") {
			if !slices.Contains(contents[2], p) {
				s.inlined = append(s.inlined, lake.InlinedDelete{TableID: 1, FileID: 1, RowID: p, Begin: 3})
			}
		}
		planned := *s // what both clients see
		known, _ := visible(&planned, contents)
		readable := rapid.Bool().Draw(t, "files can be read")
		landed := map[int64]bool{} // positions that a commit that landed has deleted
		for n := int64(6); n <= 7; n++ {
			label := fmt.Sprint("client ", n)
			var mine []int64
			for _, p := range set(label) {
				if known[[2]int64{1, p}] {
					mine = append(mine, p)
				}
			}
			b := &conflict.Batch{}
			b.Snapshots.Added = []lake.Snapshot{{ID: n, Micros: n * 10, NextCatalogID: 5, NextFileID: 10 * n}}
			made := ""
			switch op := rapid.SampledFrom([]string{"inlined", "file", "merge", "rewrite"}).Draw(t, label+" does"); {
			case op == "inlined":
				made = "inlined_delete:1"
				r := conflict.InlinedDeletes{TableID: 1}
				for _, p := range mine {
					r.Added = append(r.Added, lake.InlinedDelete{TableID: 1, FileID: 1, RowID: p, Begin: n})
				}
				b.InlinedDeletes = []conflict.InlinedDeletes{r}
			case op == "file" && len(mine) > 0:
				made = "deleted_from_table:1"
				d := lake.DeleteFile{Span: live(n), ID: 10*n - 1, TableID: 1, DataFileID: 1, Path: label, Count: int64(len(mine))}
				contents[d.ID] = mine
				if len(planned.deletes) > 0 {
					d.Begin, d.PartialMax, d.HasPartialMax = 2, 6, true
					d.Count += planned.deletes[0].Count
					contents[d.ID] = append(slices.Clone(mine), contents[2]...)
					b.DeleteFiles.Removed = filter(s.deletes, func(o lake.DeleteFile) bool { return o.ID == 2 })
				}
				b.DeleteFiles.Added = []lake.DeleteFile{d}
			case op == "merge" && len(planned.deletes)+len(planned.inlined) == 0:
				made, mine = "merge_adjacent:1", nil
				b.DataFiles.Removed = filter(s.files, func(f lake.DataFile) bool { return f.ID == 1 })
				b.DataFiles.Added = []lake.DataFile{{Span: live(1), ID: 10*n - 1, TableID: 1, Path: label, Records: 8, HasPartialMax: true, PartialMax: 1}}
			case op == "rewrite":
				made, mine = "rewrite_delete:1", nil
				for _, f := range s.files {
					if f.ID == 1 {
						g := f
						g.End, g.Ended = n, true
						b.DataFiles.Changed = append(b.DataFiles.Changed, conflict.Edit[lake.DataFile]{Before: f, After: g})
					}
				}
				b.DataFiles.Added = []lake.DataFile{{Span: live(n), ID: 10*n - 1, TableID: 1, Path: label, Records: int64(len(known))}}
			default:
				mine = nil
			}
			b.Logs.Added = []lake.Changes{{SnapshotID: n, Made: made, HasMade: made != ""}}
			set, err := conflict.Classify(b)
			if err != nil {
				t.Fatal(err)
			}
			c := conflict.Commit{Batch: b, Was: s, Is: s.with(b), Set: set, Base: 5, HasBase: true, Ctx: context.Background()}
			if readable {
				c.Positions = func(_ context.Context, d lake.DeleteFile) ([]int64, error) { return contents[d.ID], nil }
			}
			found, err := conflict.Check(c)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				if n == 6 {
					t.Fatalf("the first commit is refused: %v", found)
				}
				continue
			}
			s = s.with(b)
			for _, p := range mine {
				landed[p] = true
			}
		}
		rows, twice := visible(s, contents)
		if twice {
			t.Fatalf("a position is deleted twice: %+v %v", s.deletes, s.inlined)
		}
		want := 0
		for r := range known {
			if !landed[r[1]] {
				want++
			}
		}
		if len(rows) != want {
			t.Fatalf("%d rows, want %d: files %+v, deletes %+v %v, inlined %+v", len(rows), want, s.files, s.deletes, contents, s.inlined)
		}
	})
}
