package expire

import (
	"math"
	"time"

	"github.com/eiderdb/eider/gc"
	"github.com/eiderdb/eider/gc/sweep"
)

// Selection says which snapshots are to go: those that fit all that is given. The zero value
// selects none.
type Selection struct {
	// Before: snapshots whose time, in µs since 1970, is smaller.
	Before    int64
	HasBefore bool
	// Newest so many snapshots stay.
	Newest    int64
	HasNewest bool
	// Only these: single snapshots or ranges of them.
	Only []sweep.Range

	policies *gc.Policies // see ByPolicies
	now      time.Time
}

// ByPolicies selects what the policies of a lake do not keep.
func ByPolicies(p *gc.Policies, now time.Time) Selection {
	s := Selection{policies: p, now: now}
	r := p.Retention()
	if r.HasAge {
		s.Before, s.HasBefore = now.Add(-r.Age).UnixMicro()+1, true
	}
	s.Newest, s.HasNewest = r.Count, r.HasCount
	return s
}

// Empty says that nothing is selected.
func (s *Selection) Empty() bool {
	return !s.HasBefore && !s.HasNewest && s.Only == nil && (s.policies == nil || !s.policies.Narrower())
}

// Fences are the snapshots that stay although they are selected.
type Fences struct {
	// Pinned and every later one: an open transaction reads what changed since.
	Pinned    int64
	HasPinned bool
	// Tagged are those that tags name.
	Tagged []int64
}

// Plan is which snapshots go, and which would if nothing held them. Each selected snapshot
// is in one of them, except for the newest one, which no selection removes.
type Plan struct {
	All    *sweep.IDs
	Go     *sweep.IDs
	Pinned *sweep.IDs // deferred: an open transaction holds them
	Tagged *sweep.IDs // protected by a tag
}

// Chooser reads a lake's snapshots, in any order, and decides which go.
type Chooser struct {
	sel            Selection
	all, fit, only *sweep.IDs
}

// NewChooser makes a Chooser.
func NewChooser(s Selection) *Chooser {
	c := &Chooser{sel: s, all: &sweep.IDs{}, fit: &sweep.IDs{}}
	if s.Only != nil {
		c.only = &sweep.IDs{}
		for _, r := range s.Only {
			c.only.AddRange(r)
		}
	}
	return c
}

// Add tells the Chooser of a snapshot.
func (c *Chooser) Add(snapshot, micros int64) {
	c.all.Add(snapshot)
	switch {
	case c.sel.Empty(),
		c.sel.HasBefore && micros >= c.sel.Before,
		c.only != nil && !c.only.Has(snapshot):
		return
	}
	c.fit.Add(snapshot)
}

// Plan decides.
func (c *Chooser) Plan(f Fences) *Plan {
	p := &Plan{All: c.all, Go: &sweep.IDs{}, Pinned: &sweep.IDs{}, Tagged: &sweep.IDs{}}
	newest := int64(1)
	if c.sel.HasNewest {
		newest = max(newest, c.sel.Newest)
	}
	last, ok := c.all.FromTop(newest)
	if !ok {
		return p
	}
	older := &sweep.IDs{}
	older.AddRange(sweep.Range{First: math.MinInt64, Last: last})
	p.Go = c.fit.And(older)
	p.Tagged = p.Go.And(sweep.NewIDs(f.Tagged...))
	p.Go = p.Go.Without(p.Tagged)
	if f.HasPinned {
		pinned := &sweep.IDs{}
		pinned.AddRange(sweep.Range{First: f.Pinned, Last: math.MaxInt64})
		p.Pinned = p.Go.And(pinned)
		p.Go = p.Go.Without(p.Pinned)
	}
	return p
}
