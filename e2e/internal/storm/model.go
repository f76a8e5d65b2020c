package storm

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
)

// ChangeKind is what a change does to a table of the model.
type ChangeKind uint8

// The kinds of changes.
const (
	Put    ChangeKind = iota // a key has a value from now on
	Delete                   // a key is gone
	Create                   // the table exists and is empty, whatever was there before
	Drop                     // the table is gone
	Rename                   // the table is called To
)

// Change is one effect of a commit.
type Change struct {
	Kind     ChangeKind
	Table    string
	Key, Val int64
	To       string
}

// Commit is an acknowledged operation with the snapshot that it made.
type Commit struct {
	ID       string
	Snapshot int64
	Changes  []Change
}

// State is the content of tables by name: values by key.
type State map[string]map[int64]int64

func (s State) apply(c Change) error {
	if c.Kind == Create {
		s[c.Table] = map[int64]int64{}
		return nil
	}
	t, ok := s[c.Table]
	if !ok {
		return fmt.Errorf("there is no table %s", c.Table)
	}
	switch c.Kind {
	case Put:
		t[c.Key] = c.Val
	case Delete:
		if _, ok := t[c.Key]; !ok {
			return fmt.Errorf("table %s has no key %d", c.Table, c.Key)
		}
		delete(t, c.Key)
	case Drop:
		delete(s, c.Table)
	case Rename:
		if _, taken := s[c.To]; taken {
			return fmt.Errorf("table %s exists already", c.To)
		}
		s[c.To] = t
		delete(s, c.Table)
	}
	return nil
}

// Model is the history of a lake as its writers know it: what was acknowledged, and under which snapshot. It knows nothing of files, inlining or
// maintenance, which change no content.
type Model struct {
	mu      sync.Mutex
	commits []Commit
	sorted  bool
}

// Add records an acknowledged commit.
func (m *Model) Add(c Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits = append(m.commits, c)
	m.sorted = false
}

// Len is the number of commits.
func (m *Model) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.commits)
}

// Commits returns the commits by snapshot. Two commits under one snapshot are an error.
func (m *Model) Commits() ([]Commit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.sorted {
		sort.SliceStable(m.commits, func(i, j int) bool { return m.commits[i].Snapshot < m.commits[j].Snapshot })
		m.sorted = true
	}
	for i := 1; i < len(m.commits); i++ {
		if a, b := m.commits[i-1], m.commits[i]; a.Snapshot == b.Snapshot {
			return nil, fmt.Errorf("commits %s and %s were both told to be snapshot %d", a.ID, b.ID, a.Snapshot)
		}
	}
	return slices.Clone(m.commits), nil
}

// Walk replays the history and calls at with the state at each of the snapshots, which are sorted. The state is only valid during the call.
func (m *Model) Walk(snapshots []int64, at func(snapshot int64, s State) error) error {
	commits, err := m.Commits()
	if err != nil {
		return err
	}
	state := State{}
	i := 0
	for _, snap := range snapshots {
		for ; i < len(commits) && commits[i].Snapshot <= snap; i++ {
			for _, c := range commits[i].Changes {
				if err := state.apply(c); err != nil {
					return fmt.Errorf("replaying %s (snapshot %d): %w", commits[i].ID, commits[i].Snapshot, err)
				}
			}
		}
		if err := at(snap, state); err != nil {
			return err
		}
	}
	return nil
}

// Row is a row that was read.
type Row struct{ Key, Val int64 }

// Compare returns the differences between what a table should hold and what was read: keys that are missing, that are there but should not be,
// that are there more than once, and that have another value. At most a few of each are named.
func Compare(want map[int64]int64, got []Row) []string {
	seen := make(map[int64]int, len(got))
	var twice, extra, changed, missing []int64
	for _, r := range got {
		seen[r.Key]++
		v, ok := want[r.Key]
		switch {
		case seen[r.Key] == 2:
			twice = append(twice, r.Key)
		case seen[r.Key] > 2:
		case !ok:
			extra = append(extra, r.Key)
		case v != r.Val:
			changed = append(changed, r.Key)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if seen[k] == 0 {
			missing = append(missing, k)
		}
	}
	var out []string
	for _, p := range []struct {
		what string
		keys []int64
	}{{"missing", missing}, {"should not be there", extra}, {"there more than once", twice}, {"have another value", changed}} {
		if len(p.keys) > 0 {
			out = append(out, fmt.Sprintf("%d keys %s, first %v", len(p.keys), p.what, p.keys[:min(5, len(p.keys))]))
		}
	}
	return out
}

// Sum is a digest of a table's content that a database computes in one query: the number of rows, the sums of keys and values.
type Sum struct{ Rows, Keys, Vals int64 }

// SumOf returns the digest of content.
func SumOf(t map[int64]int64) Sum {
	s := Sum{Rows: int64(len(t))}
	for k, v := range t {
		s.Keys += k
		s.Vals += v
	}
	return s
}
