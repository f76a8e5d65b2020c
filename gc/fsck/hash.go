package fsck

import "hash/maphash"

// hasher makes short keys of long texts. Two texts of one lake have one key with a
// probability that does not matter: 64 bits for names, of which few are compared, 128 for
// paths, on which repairs depend.
type hasher struct{ a, b maphash.Seed }

func newHasher() hasher { return hasher{maphash.MakeSeed(), maphash.MakeSeed()} }

func (h hasher) one(s string) uint64 { return maphash.String(h.a, s) }

// pathKey is the key of a path.
type pathKey [2]uint64

func (h hasher) path(s string) pathKey {
	return pathKey{maphash.String(h.a, s), maphash.String(h.b, s)}
}
