package trim

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/eiderdb/eider/gc/sweep"
)

// A version goes only if, for every snapshot that is left and every begin of a file, the
// version in force there is the same without it.
func TestSuperfluous(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.Int64Range(0, 12)
		begins := rapid.SliceOfNDistinct(id, 1, 5, rapid.ID[int64]).Draw(rt, "begins")
		all := make([]version, len(begins))
		for i, b := range begins {
			all[i] = version{b, b + 100}
		}
		kept, files := rapid.SliceOfN(id, 0, 4).Draw(rt, "kept"), rapid.SliceOfN(id, 0, 4).Draw(rt, "files")
		inlined := rapid.SliceOfN(rapid.Int64Range(100, 112), 0, 2).Draw(rt, "inlined")
		inForce := func(at, without int64) int64 {
			best := int64(-1)
			for _, v := range all {
				if v.begin != without && v.begin <= at && v.begin > best {
					best = v.begin
				}
			}
			return best
		}
		for _, v := range all {
			want := v.begin != inForce(1000, -5) // the last stays
			for _, at := range append(append([]int64(nil), kept...), files...) {
				want = want && inForce(at, -5) == inForce(at, v.begin)
			}
			for _, n := range inlined {
				want = want && n != v.number
			}
			got, err := superfluous(v, all, sweep.NewIDs(kept...), inlined, func() (*sweep.IDs, error) { return sweep.NewIDs(files...), nil })
			if got != want || err != nil {
				rt.Fatalf("version %v of %v, kept %v, files %v, inlined %v: %v", v, all, kept, files, inlined, got)
			}
		}
	})
}
