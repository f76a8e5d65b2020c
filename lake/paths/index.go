package paths

import (
	"hash/maphash"
	"strings"
)

// Alike is Same for two names of which each may be known by its end only: those are taken
// for one object if one of them ends with the other. Both are ends of the whole name then.
func Alike(a, b string) bool {
	if a == b {
		return true
	}
	ta, endA := Tail(a)
	tb, endB := Tail(b)
	if endA && endB {
		return ta == tb || endsWith(ta, tb) || endsWith(tb, ta)
	}
	return Same(a, b)
}

// endsWith says whether the last parts of a name are those of another one.
func endsWith(name, end string) bool {
	return end == "" || strings.HasSuffix(name, "/"+strings.TrimPrefix(end, "/"))
}

// Index finds whom a name belongs to among names of any spelling. It keeps hashes: when
// two collide, a name is found that is not there. The zero value is empty and ready.
type Index struct {
	seed  maphash.Seed
	keys  map[uint64]int64
	tails map[uint64]int64
	lasts map[uint64]int64 // last parts
	some  int64            // the owner of one of them
	any   int64            // the owner of one that may be any object's
	anys  bool             // any is set
}

func (x *Index) hash(s string) uint64 { return maphash.String(x.seed, s) }

// Add puts in a name and its owner.
func (x *Index) Add(path string, owner int64) {
	if x.keys == nil {
		x.seed = maphash.MakeSeed()
		x.keys, x.tails, x.lasts = map[uint64]int64{}, map[uint64]int64{}, map[uint64]int64{}
	}
	x.some = owner
	keys := Keys(path)
	tail, ok := Tail(path)
	if ok && tail != "" {
		x.tails[x.hash(tail)] = owner
		x.lasts[x.hash(last(tail))] = owner
	}
	if tail == "" && (ok || len(keys) == 0) {
		x.any, x.anys = owner, true
	}
	for _, k := range keys {
		x.keys[x.hash(k)] = owner
		x.lasts[x.hash(last(k))] = owner
	}
}

func last(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// Find returns the owner of a name that may be the same object.
func (x *Index) Find(path string) (owner int64, ok bool) {
	if x.keys == nil {
		return 0, false
	}
	if x.anys {
		return x.any, true
	}
	keys := Keys(path)
	tail, end := Tail(path)
	if tail == "" && (end || len(keys) == 0) {
		return x.some, true
	}
	if end {
		// Of the others not all ends are kept. One with the same last part may be it.
		if owner, ok = x.lasts[x.hash(last(tail))]; ok {
			return owner, true
		}
	}
	for _, k := range keys {
		if owner, ok = x.keys[x.hash(k)]; ok {
			return owner, true
		}
		if len(x.tails) > 0 && suffixes(k, func(end string) bool { owner, ok = x.tails[x.hash(end)]; return ok }) {
			return owner, true
		}
	}
	return 0, false
}
