package guard

import (
	"math"
	"sync"

	"github.com/eiderdb/eider/lake"
	"github.com/eiderdb/eider/lake/paths"
)

// A cleanup deletes the bytes of a scheduled file, and then its row of the schedule. Until
// then nobody can register the file. A transaction that began before, and has found the file
// there, could afterwards: so the paths of the rows are remembered until no such transaction
// is left.

// maxTaken bounds the paths that are remembered, of all lakes.
const maxTaken = 1 << 18

// takenFiles are paths that commits have taken off the schedules of lakes.
type takenFiles struct {
	mu sync.Mutex
	n  int
	m  map[searchKey]map[string]*takenFile // by the keys of package paths
}

type takenFile struct {
	pending int   // commits that take it off and have not ended
	at      int64 // when the last one has landed, in µs since 1970
}

// announce notes that a commit is about to take a path off; false: there are too many.
func (t *takenFiles) announce(k searchKey, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.m[k][key]
	if f == nil {
		if t.n >= maxTaken {
			return false
		}
		if t.m == nil {
			t.m = map[searchKey]map[string]*takenFile{}
		}
		if t.m[k] == nil {
			t.m[k] = map[string]*takenFile{}
		}
		f = &takenFile{at: math.MinInt64}
		t.m[k][key] = f
		t.n++
	}
	f.pending++
	return true
}

// ended notes the end of the commit, and forgets what landed before the oldest transaction.
func (t *takenFiles) ended(announced map[takenKey]bool, landed bool, now, oldest int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for a := range announced {
		if f := t.m[a.lake][a.key]; f != nil {
			f.pending--
			if landed {
				f.at = now
			}
		}
	}
	for k, of := range t.m {
		for key, f := range of {
			if f.pending == 0 && f.at < oldest {
				delete(of, key)
				t.n--
			}
		}
		if len(of) == 0 {
			delete(t.m, k)
		}
	}
}

// any says whether something was taken off in a lake.
func (t *takenFiles) any(k searchKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.m[k]) > 0
}

// after says whether a path was taken off at a time or later, or is about to be, by another
// than the commit that has announced own.
func (t *takenFiles) after(k searchKey, path string, micros int64, own map[takenKey]bool) bool {
	keys := paths.Keys(path)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		f := t.m[k][key]
		if f == nil {
			continue
		}
		others := f.pending
		if own[takenKey{k, key}] {
			others--
		}
		if others > 0 || f.at >= micros {
			return true
		}
	}
	return false
}

// forget forgets a catalog.
func (t *takenFiles) forget(catalog uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, of := range t.m {
		if k.catalog == catalog {
			t.n -= len(of)
			delete(t.m, k)
		}
	}
}

// takenKey is a path of a lake.
type takenKey struct {
	lake searchKey
	key  string
}

// takes announces the files that the commit takes off the schedule of a lake.
func (r *run) takes(c *commit, was *view) error {
	gone := c.batch.Scheduled.Removed
	for _, e := range c.batch.Scheduled.Changed {
		if e.Before.Path != e.After.Path || e.Before.Relative != e.After.Relative {
			gone = append(gone[:len(gone):len(gone)], e.Before)
		}
	}
	if len(gone) == 0 || !r.commits {
		return nil
	}
	base, err := was.DataPath()
	if err != nil {
		return err
	}
	lake := searchKey{r.txn.Catalog().OID(), c.space}
	for i := range gone {
		for _, key := range paths.Keys(fullPath(base, &gone[i])) {
			a := takenKey{lake, key}
			if r.announced[a] {
				continue
			}
			if !r.g.taken.announce(lake, key) {
				r.many = append(r.many, lake)
				return nil
			}
			if r.announced == nil {
				r.announced = map[takenKey]bool{}
			}
			r.announced[a] = true
		}
	}
	return nil
}

func fullPath(base string, s *lake.Scheduled) string {
	if s.Relative {
		return base + "/" + s.Path // keys have single slashes
	}
	return s.Path
}

// ended is the end of a commit that has announced something. What is too much to be
// remembered is looked for as after a search for orphans.
func (r *run) ended(landed bool) {
	if len(r.announced) == 0 && len(r.many) == 0 {
		return
	}
	for _, k := range r.many {
		r.g.searches.begin(k, r.g.o.Clock)()
	}
	oldest := int64(math.MinInt64)
	if r.g.o.Writing != nil {
		oldest = math.MaxInt64
		if w := r.g.o.Writing(); !w.IsZero() {
			oldest = w.UnixMicro()
		}
	}
	r.g.taken.ended(r.announced, landed, r.g.o.Clock().UnixMicro(), oldest)
	r.announced = nil
}
