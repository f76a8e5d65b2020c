package history

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// Read is one observation: of what, and what it was.
type Read struct{ Item, Value string }

// Tx is a transaction as its client saw it. Moments are ticks of the recorder's clock.
type Tx struct {
	ID        string
	Begin     int64   // before the first statement was sent
	Snapshots []int64 // the ids of the snapshot that it was told, every time it asked
	Reads     []Read  // before its first write
	SeenAt    int64   // after the first rows were read; 0 without
	Writes    []string
	Classes   []string // what it did, for the relation of allowed pairs
	Commit    int64    // the id of the snapshot that it made; 0 if it made none or failed
	End       int64    // after the answer to COMMIT
}

// snapshot is what the transaction read; ok is false if it never asked.
func (t *Tx) snapshot() (int64, bool) {
	if len(t.Snapshots) == 0 {
		return 0, false
	}
	return t.Snapshots[0], true
}

// Recorder collects transactions of concurrent clients.
type Recorder struct {
	mu   sync.Mutex
	tick int64
	txs  []Tx
}

// Tick is the next moment: larger than every moment before.
func (r *Recorder) Tick() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick++
	return r.tick
}

// Add records a transaction that has ended.
func (r *Recorder) Add(t Tx) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.txs = append(r.txs, t)
}

// Txs are the transactions recorded so far.
func (r *Recorder) Txs() []Tx {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.txs)
}

// Premises are what Check holds a record against besides itself. Every field may be left out.
type Premises struct {
	// At returns what an item must have been at a snapshot; ok is false when it cannot be said.
	At func(snapshot int64, item string) (value string, ok bool)
	// Allowed says whether a transaction may commit after another one that it did not see.
	Allowed func(late, early *Tx) bool
	// Times are the times of snapshots by id.
	Times map[int64]time.Time
}

// Violation is a promise that was not kept.
type Violation struct{ Property, Text string }

func (v Violation) String() string { return v.Property + ": " + v.Text }

// The properties.
const (
	RepeatableRead  = "repeatable read"
	ConsistentCut   = "consistent cut"
	RealTimeOrder   = "real-time order"
	MonotoneIDs     = "monotone ids"
	MonotoneTimes   = "monotone times"
	FirstCommitter  = "first committer wins"
	PremiseToWindow = "no gap between premise and conflict window"
)

// Check returns every violation that it finds in a record.
func Check(txs []Tx, p Premises) []Violation {
	c := &checker{txs: txs, p: p}
	c.reads()
	c.order()
	c.windows()
	c.times()
	return c.found
}

type checker struct {
	txs   []Tx
	p     Premises
	found []Violation
}

func (c *checker) add(property, format string, args ...any) {
	c.found = append(c.found, Violation{property, fmt.Sprintf(format, args...)})
}

func (c *checker) reads() {
	for i := range c.txs {
		t := &c.txs[i]
		snap, ok := t.snapshot()
		for _, s := range t.Snapshots {
			if s != snap {
				c.add(RepeatableRead, "%s saw snapshots %d and %d", t.ID, snap, s)
				break
			}
		}
		first := map[string]string{}
		for _, r := range t.Reads {
			v, again := first[r.Item]
			if again && v != r.Value {
				c.add(RepeatableRead, "%s read %s twice: %s, then %s", t.ID, r.Item, v, r.Value)
			}
			if again || !ok || c.p.At == nil {
				continue
			}
			first[r.Item] = r.Value
			if want, known := c.p.At(snap, r.Item); known && want != r.Value {
				c.add(ConsistentCut, "%s read %s at snapshot %d: %s, want %s", t.ID, r.Item, snap, r.Value, want)
			}
		}
		for _, r := range t.Reads {
			if _, ok := first[r.Item]; !ok {
				first[r.Item] = r.Value
			}
		}
		if t.Commit != 0 && ok && t.Commit <= snap {
			c.add(MonotoneIDs, "%s saw snapshot %d and committed as %d", t.ID, snap, t.Commit)
		}
	}
}

// order checks ids against the order in which things happened.
func (c *checker) order() {
	byID := map[int64]string{}
	var ends []moment
	for i := range c.txs {
		t := &c.txs[i]
		if t.Commit == 0 {
			continue
		}
		if other, taken := byID[t.Commit]; taken {
			c.add(MonotoneIDs, "%s and %s both committed as snapshot %d", other, t.ID, t.Commit)
		}
		byID[t.Commit] = t.ID
		ends = append(ends, moment{t.End, t.Commit, t.ID})
	}
	newest := newestBefore(ends)
	var seen []moment
	for i := range c.txs {
		if s, ok := c.txs[i].snapshot(); ok && c.txs[i].SeenAt != 0 {
			seen = append(seen, moment{c.txs[i].SeenAt, s, c.txs[i].ID})
		}
	}
	newestSeen := newestBefore(seen)
	for i := range c.txs {
		t := &c.txs[i]
		snap, ok := t.snapshot()
		if m, any := newest(t.Begin); any {
			switch {
			case ok && m.id > snap:
				c.add(RealTimeOrder, "%s began after commit %d of %s was acknowledged and saw snapshot %d", t.ID, m.id, m.tx, snap)
			case t.Commit != 0 && m.id >= t.Commit:
				c.add(MonotoneIDs, "%s began after commit %d of %s was acknowledged and committed as %d", t.ID, m.id, m.tx, t.Commit)
			}
		}
		if m, any := newestSeen(t.Begin); any && ok && m.id > snap {
			c.add(RealTimeOrder, "%s saw snapshot %d after %s had seen %d", t.ID, snap, m.tx, m.id)
		}
	}
}

type moment struct {
	at, id int64
	tx     string
}

// newestBefore returns a function that gives the largest id among the moments before a moment.
func newestBefore(ms []moment) func(at int64) (moment, bool) {
	slices.SortFunc(ms, func(a, b moment) int { return int(a.at - b.at) })
	best := make([]moment, len(ms))
	for i, m := range ms {
		best[i] = m
		if i > 0 && best[i-1].id > m.id {
			best[i] = best[i-1]
		}
	}
	return func(at int64) (moment, bool) {
		n := sort.Search(len(ms), func(i int) bool { return ms[i].at >= at })
		if n == 0 {
			return moment{}, false
		}
		return best[n-1], true
	}
}

// windows looks at what was committed between a transaction's snapshot and its own commit.
func (c *checker) windows() {
	committed := make([]*Tx, 0, len(c.txs))
	for i := range c.txs {
		if c.txs[i].Commit != 0 {
			committed = append(committed, &c.txs[i])
		}
	}
	slices.SortFunc(committed, func(a, b *Tx) int { return int(a.Commit - b.Commit) })
	for i, late := range committed {
		snap, ok := late.snapshot()
		if !ok {
			continue
		}
		writes := map[string]bool{}
		for _, w := range late.Writes {
			writes[w] = true
		}
		for j := i - 1; j >= 0 && committed[j].Commit > snap; j-- {
			early := committed[j]
			for _, w := range early.Writes {
				if writes[w] {
					c.add(FirstCommitter, "%s (snapshot %d, commit %d) and %s (commit %d) both wrote %s", late.ID, snap, late.Commit, early.ID, early.Commit, w)
					break
				}
			}
			if c.p.Allowed != nil && !c.p.Allowed(late, early) {
				c.add(PremiseToWindow, "%s (snapshot %d, commit %d: %v) committed over %s (commit %d: %v)",
					late.ID, snap, late.Commit, late.Classes, early.ID, early.Commit, early.Classes)
			}
		}
	}
}

func (c *checker) times() {
	ids := slices.Sorted(maps.Keys(c.p.Times))
	for i := 1; i < len(ids); i++ {
		if a, b := c.p.Times[ids[i-1]], c.p.Times[ids[i]]; !b.After(a) {
			c.add(MonotoneTimes, "snapshot %d has time %s, snapshot %d before it %s", ids[i], b.Format(time.RFC3339Nano), ids[i-1], a.Format(time.RFC3339Nano))
		}
	}
}
