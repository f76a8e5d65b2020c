package paths

import (
	"errors"
	"fmt"
	"hash/maphash"
)

// ErrAnything: a name of which not even the end is known. Every object may be the one.
var ErrAnything = errors.New("paths: a name that may be any object's")

// Set is a set of names, the files that must stay. It keeps hashes of keys: when two
// collide, a file stays that need not. The zero value is empty and ready.
type Set struct {
	seed  maphash.Seed
	made  bool
	keys  map[uint64]struct{}
	tails map[uint64]struct{}
	n     int
}

func (s *Set) hash(key string) uint64 { return maphash.String(s.seed, key) }

// Add puts a name in. ErrAnything: it cannot be told from any other, and is not in the set.
func (s *Set) Add(path string) error {
	if !s.made {
		s.seed, s.made = maphash.MakeSeed(), true
		s.keys, s.tails = map[uint64]struct{}{}, map[uint64]struct{}{}
	}
	tail, hasTail := Tail(path)
	if hasTail && tail == "" {
		return fmt.Errorf("%w: %q", ErrAnything, path)
	}
	keys := Keys(path)
	if len(keys) == 0 && !hasTail {
		return fmt.Errorf("%w: %q", ErrAnything, path)
	}
	s.n++
	if hasTail {
		s.tails[s.hash(tail)] = struct{}{}
	}
	for _, k := range keys {
		s.keys[s.hash(k)] = struct{}{}
	}
	return nil
}

// AddTail puts in every name that ends with the given one, for files whose folder is not known.
func (s *Set) AddTail(path string) error { return s.Add("../" + path) }

// Len is how many names were added.
func (s *Set) Len() int { return s.n }

// Has says whether the object of a name may be one of the set. A name of which only the
// end is known is in every set.
func (s *Set) Has(path string) bool {
	keys := Keys(path)
	if _, ok := Tail(path); ok || len(keys) == 0 {
		return true
	}
	if !s.made {
		return false
	}
	for _, k := range keys {
		if _, ok := s.keys[s.hash(k)]; ok {
			return true
		}
		if len(s.tails) == 0 {
			continue
		}
		if suffixes(k, func(end string) bool { _, ok := s.tails[s.hash(end)]; return ok }) {
			return true
		}
	}
	return false
}
