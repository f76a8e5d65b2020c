package parse

// slab hands out values and lists from chunks, so that a statement with many nodes of a
// kind costs few allocations. Chunks live as long as anything in them is referred to.
type slab[T any] struct{ free []T }

const (
	firstChunk = 8
	lastChunk  = 1024
)

// reserve makes room for n values in one chunk.
func (s *slab[T]) reserve(n int) {
	if cap(s.free)-len(s.free) < n {
		s.free = make([]T, 0, n)
	}
}

func (s *slab[T]) grow(n int) {
	s.reserve(max(n, min(max(2*cap(s.free), firstChunk), lastChunk)))
}

// one returns a new zero value.
func (s *slab[T]) one() *T {
	n := len(s.free)
	if n == cap(s.free) {
		s.grow(1)
		n = 0
	}
	s.free = s.free[:n+1]
	return &s.free[n]
}

// list returns a copy of src.
func (s *slab[T]) list(src []T) []T {
	if cap(s.free)-len(s.free) < len(src) {
		s.grow(len(src))
	}
	n := len(s.free)
	s.free = append(s.free, src...)
	return s.free[n:len(s.free):len(s.free)]
}
