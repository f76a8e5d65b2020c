package hold

import (
	"cmp"
	"slices"
	"sync"

	"github.com/eiderdb/eider/conflict"
)

// print is a fingerprint of a multiset that does not depend on order: two that differ
// have the same print with a chance of about 2^-64.
type print struct{ count, sum, xor uint64 }

func (p *print) add(x uint64) {
	p.count++
	p.sum += x
	p.xor ^= rotate(x)
}

// addAll adds the hashes of rows; it is where the time of a verification goes.
func (p *print) addAll(ids, snaps []int64) {
	sum, xor := p.sum, p.xor
	if snaps == nil {
		for _, id := range ids {
			h := mixPair(id, 0)
			sum += h
			xor ^= rotate(h)
		}
	} else {
		snaps = snaps[:len(ids)]
		for i, id := range ids {
			h := mixPair(id, snaps[i])
			sum += h
			xor ^= rotate(h)
		}
	}
	p.count, p.sum, p.xor = p.count+uint64(len(ids)), sum, xor
}

func (p *print) merge(o print) {
	p.count += o.count
	p.sum += o.sum
	p.xor ^= o.xor
}

func rotate(x uint64) uint64 { return x<<23 | x>>41 }

// mix spreads a number over 64 bits; it is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// pair is a row: its id and, in a dated comparison, the snapshot that made it.
type pair struct{ id, snapshot int64 }

func (p pair) hash() uint64 { return mixPair(p.id, p.snapshot) }

func mixPair(id, snapshot int64) uint64 {
	return mix(uint64(id) + 0x9e3779b97f4a7c15*uint64(snapshot+1))
}

func byPair(a, b pair) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.snapshot, b.snapshot))
}

// dated says whether the comparison is of (row id, snapshot): a merge keeps both.
func (e *examiner) dated() bool { return e.c.Kind == Merge && e.c.Dated }

// compareIDs is tier 2: what outputs hold must be what sources held, as multisets.
func (e *examiner) compareIDs() ([]conflict.Violation, error) {
	want, err := e.print(e.sources)
	if err != nil {
		return nil, err
	}
	got, err := e.print(e.outputs)
	if err != nil || want == got {
		return nil, err
	}
	return e.difference()
}

func (e *examiner) print(tables []table) (print, error) {
	dated := e.dated()
	var mu sync.Mutex
	var all print
	err := each(tables, func(t *table) error {
		var p print
		err := e.rows(t, dated, func(ids, snaps []int64) error {
			p.addAll(ids, snaps)
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		all.merge(p)
		return err
	})
	return all, err
}

// mostRows is how many rows of each side are compared one by one to name examples. Of
// more, only those are compared that share some bits of their hash with a row in question.
const mostRows = 4 << 20

// difference names what differs.
func (e *examiner) difference() ([]conflict.Violation, error) {
	var total int64
	for i := range e.sources {
		total += e.sources[i].records
	}
	pick := func(uint64) bool { return true }
	if total > mostRows {
		buckets := uint64(total/mostRows+1) * 16
		at, err := e.bucket(buckets)
		if err != nil {
			return nil, err
		}
		pick = func(h uint64) bool { return h%buckets == at }
	}
	want, err := e.collect(e.sources, pick)
	if err != nil {
		return nil, err
	}
	got, err := e.collect(e.outputs, pick)
	if err != nil {
		return nil, err
	}
	missing, strange := subtract(want, got)
	output := int64(0)
	if len(e.outputs) > 0 {
		output = e.outputs[0].id
	}
	if len(missing) > 0 && len(strange) > 0 && sameIDs(missing, strange) {
		return []conflict.Violation{conflict.CompactionDated(e.c.Table, output, strange[0].snapshot, missing[0].snapshot)}, nil
	}
	lost, new := ids(missing), ids(strange)
	var out []conflict.Violation
	if len(lost) == len(new) && len(lost) > 0 {
		out = append(out, conflict.RowIDsChange(e.c.Table, output, int64(len(lost)), int64(len(want)), lost[0], new[0]))
	} else {
		out = append(out, conflict.RowIDsLost(e.c.Table, output, lost, new))
	}
	if len(new) > 0 {
		// Whose ids are they? What cannot be read here adds nothing to the refusal.
		shared, err := e.disjoint(new)
		if err == nil {
			out = append(out, shared...)
		}
	}
	return out, nil
}

func sameIDs(a, b []pair) bool { return slices.Equal(ids(a), ids(b)) }

func ids(p []pair) []int64 {
	out := make([]int64, len(p))
	for i := range p {
		out[i] = p[i].id
	}
	return out
}

// bucket finds a class of hashes in which the two sides differ.
func (e *examiner) bucket(n uint64) (uint64, error) {
	side := func(tables []table) ([]print, error) {
		var mu sync.Mutex
		all := make([]print, n)
		err := each(tables, func(t *table) error {
			return e.rows(t, e.dated(), func(ids, snaps []int64) error {
				mu.Lock()
				defer mu.Unlock()
				for i := range ids {
					h := at(ids, snaps, i).hash()
					all[h%n].add(h)
				}
				return nil
			})
		})
		return all, err
	}
	want, err := side(e.sources)
	if err != nil {
		return 0, err
	}
	got, err := side(e.outputs)
	if err != nil {
		return 0, err
	}
	for i := range want {
		if want[i] != got[i] {
			return uint64(i), nil
		}
	}
	return 0, nil
}

func at(ids, snaps []int64, i int) pair {
	if snaps == nil {
		return pair{id: ids[i]}
	}
	return pair{ids[i], snaps[i]}
}

// collect returns the rows whose hash is picked, in order.
func (e *examiner) collect(tables []table, pick func(hash uint64) bool) ([]pair, error) {
	var mu sync.Mutex
	var out []pair
	err := each(tables, func(t *table) error {
		return e.rows(t, e.dated(), func(ids, snaps []int64) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range ids {
				if p := at(ids, snaps, i); pick(p.hash()) {
					out = append(out, p)
				}
			}
			return nil
		})
	})
	slices.SortFunc(out, byPair)
	return out, err
}

// subtract returns what only the one, and what only the other sorted multiset has.
func subtract(want, got []pair) (missing, strange []pair) {
	for len(want) > 0 || len(got) > 0 {
		switch {
		case len(got) == 0 || len(want) > 0 && byPair(want[0], got[0]) < 0:
			missing = append(missing, want[0])
			want = want[1:]
		case len(want) == 0 || byPair(want[0], got[0]) > 0:
			strange = append(strange, got[0])
			got = got[1:]
		default:
			want, got = want[1:], got[1:]
		}
	}
	return missing, strange
}
