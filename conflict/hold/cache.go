package hold

import (
	"container/list"
	"strconv"
	"strings"
	"sync"
)

// cache remembers what files say, by path and size: their names hold a uuid and nobody
// writes one twice. It remembers verdicts without a finding too, for the commit that is
// tried again with the same files.
type cache struct {
	mu      sync.Mutex
	most    int
	entries map[string]*list.Element
	order   *list.List // newest first
	held    int        // positions
}

// mostPositions bounds the delete positions that are remembered, of all files.
const mostPositions = 1 << 20

type entry struct {
	key   string
	value any
}

func newCache(most int) *cache {
	return &cache{most: most, entries: map[string]*list.Element{}, order: list.New()}
}

func (c *cache) get(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).value, true
}

func (c *cache) put(key string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.held += weight(value) - weight(e.Value.(*entry).value)
		e.Value.(*entry).value = value
		c.order.MoveToFront(e)
	} else {
		c.entries[key] = c.order.PushFront(&entry{key, value})
		c.held += weight(value)
	}
	for c.order.Len() > c.most || c.held > mostPositions {
		last := c.order.Back()
		e := c.order.Remove(last).(*entry)
		c.held -= weight(e.value)
		delete(c.entries, e.key)
	}
}

func weight(v any) int {
	if p, ok := v.([]int64); ok {
		return len(p)
	}
	return 0
}

func fileKey(kind byte, f *File) string {
	return string(kind) + strconv.FormatInt(f.Size, 10) + " " + f.Path
}

func (c *cache) footer(f *File) (footer, bool) {
	v, ok := c.get(fileKey('f', f))
	if !ok {
		return footer{}, false
	}
	return v.(footer), true
}

func (c *cache) putFooter(f *File, ft footer) { c.put(fileKey('f', f), ft) }

func (c *cache) positions(f *File) ([]int64, bool) {
	v, ok := c.get(fileKey('d', f))
	if !ok {
		return nil, false
	}
	return v.([]int64), true
}

func (c *cache) putPositions(f *File, pos []int64) {
	if len(pos) <= mostPositions/16 {
		c.put(fileKey('d', f), pos)
	}
}

// passed returns how far a compaction with the same files and deletes was found right.
func (v *Verifier) passed(c *Compaction) (Tier, bool) {
	if v.cache == nil {
		return 0, false
	}
	t, ok := v.cache.get(c.key())
	if !ok {
		return 0, false
	}
	return t.(Tier), true
}

func (v *Verifier) pass(c *Compaction, t Tier) {
	if v.cache != nil && t == v.opts.Tier {
		v.cache.put(c.key(), t)
	}
}

// key is everything about a compaction that the tiers which read files depend on. File
// ids are not in it: a commit that is tried again gets new ones.
func (c *Compaction) key() string {
	var b strings.Builder
	num := func(n int64) {
		b.WriteString(strconv.FormatInt(n, 10))
		b.WriteByte(' ')
	}
	file := func(path string, size int64, start int64, has bool) {
		b.WriteString(strconv.Quote(path))
		num(size)
		if has {
			num(start)
		}
	}
	b.WriteByte('v')
	num(int64(c.Kind))
	for i := range c.Sources {
		s := &c.Sources[i]
		b.WriteByte('s')
		file(s.Path, s.Size, s.RowIDStart, s.HasRowIDStart)
		num(s.Begin)
		num(s.Records)
		if s.Delete != nil {
			file(s.DeletePath, s.Delete.Size, 0, false)
		}
		for _, p := range s.Inlined {
			num(p)
		}
	}
	for i := range c.Outputs {
		o := &c.Outputs[i]
		b.WriteByte('o')
		file(o.Path, o.Size, o.RowIDStart, o.HasRowIDStart)
		num(o.Records)
	}
	return b.String()
}
