package guard

import (
	"context"
	"math"
	"slices"

	"github.com/eiderdb/eider/conflict"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// DuckLake's expiry is a cascade of statements, each of which reads anew which snapshots
// there are: what only the removed ones need goes next. So it can be held up in one place
// only, at its first DELETE. Snapshots that somebody holds do not go there, the client finds
// them there when it looks, and the rest of its cascade is right. Bringing them back at the
// commit would leave them without the files and objects that the client has removed with
// them; those would have to be told from what goes rightly, and the inlined tables of
// dropped tables are gone by then.

// SnapshotTable is the list of snapshots of a lake.
const SnapshotTable = snapshotTable

// Spared is what a DELETE leaves of the snapshots of a lake, or of their changes.
type Spared struct {
	r      relation
	lake   string
	head   int64 // the newest snapshot is not spared: its removal is refused
	pinned int64 // and all after it
	tagged []int64
	fence  *Fence

	pins, tags []int64 // that were spared
	snapshots  bool    // of the table of snapshots
	there      *view   // of changes after an expiry: they stay where their snapshot is there
}

// Expiry is what a transaction has deleted of the snapshots of a lake before.
type Expiry uint8

const (
	// NoExpiry: nothing.
	NoExpiry Expiry = iota
	// WholeExpiry: all that it wanted to.
	WholeExpiry
	// PartExpiry: some of them were left.
	PartExpiry
)

// Spares says what a DELETE must leave of a table; nil: nothing. Once snapshots were deleted
// what became of them says which changes stay, and not what is held by then: a reader may
// have ended meanwhile, and a snapshot without its changes would be refused.
func (g *Guard) Spares(ctx context.Context, txn *store.Txn, tbl *rel.Table, before Expiry, holders func() string) (*Spared, error) {
	if tbl.Temp || tbl.Name != snapshotTable && tbl.Name != changesTable {
		return nil, nil
	}
	if tbl.Name == changesTable && before != NoExpiry {
		if before == WholeExpiry {
			return nil, nil
		}
		return &Spared{r: relation{txn, tbl}, there: &view{txn: txn, space: tbl.Schema}}, nil
	}
	l, ok := txn.SchemaByOID(tbl.Schema)
	if !ok {
		return nil, nil
	}
	f, err := g.Fence(txn, l.Name, holders)
	if err != nil {
		return nil, err
	}
	s := &Spared{r: relation{txn, tbl}, lake: l.Name, fence: f, pinned: math.MaxInt64, snapshots: tbl.Name == snapshotTable}
	if n, ok, err := f.Pinned(ctx); err != nil {
		return nil, err
	} else if ok {
		s.pinned = n
	}
	if s.tagged, err = f.Tagged(ctx); err != nil {
		return nil, err
	}
	if s.pinned == math.MaxInt64 && len(s.tagged) == 0 {
		return nil, nil
	}
	base, err := txn.Base()
	if err != nil {
		return nil, err
	}
	defer end([]*store.Txn{base})
	head, ok, err := (&view{txn: base, space: tbl.Schema}).Head()
	if err != nil || !ok {
		return nil, err
	}
	s.head = head.ID
	modes, err := loadModes(base, l.Name, g.o.Default)
	if err != nil {
		return nil, err
	}
	if modes.Of(conflict.CodeSnapshotPinned, 0) != conflict.Enforce {
		s.pinned = math.MaxInt64
	}
	if modes.Of(conflict.CodeSnapshotTagged, 0) != conflict.Enforce {
		s.tagged = nil
	}
	return s, nil
}

// Keeps says whether a row stays.
func (s *Spared) Keeps(t row.Tuple) bool {
	id, ok := s.r.optional(t, "snapshot_id")
	if s.there != nil {
		n, err := s.there.Snapshots(id, id)
		return ok && (n > 0 || err != nil) // what cannot be known is kept
	}
	if !ok || id >= s.head {
		return false
	}
	if id >= s.pinned {
		s.pins = append(s.pins, id)
		return true
	}
	if _, ok := slices.BinarySearch(s.tagged, id); ok {
		s.tags = append(s.tags, id)
		return true
	}
	return false
}

// Said is what to say of what was left, if it is the snapshots themselves.
func (s *Spared) Said() (list []Deferred) {
	if !s.snapshots {
		return nil
	}
	say := func(v conflict.Violation) { list = append(list, Deferred{Lake: s.lake, V: v}) }
	if len(s.pins) > 0 {
		slices.Sort(s.pins)
		say(conflict.SnapshotsSpared(s.pins, s.fence.Holders()))
	}
	if len(s.tags) > 0 {
		slices.Sort(s.tags)
		say(conflict.TaggedSpared(s.tags))
	}
	return list
}

// Deferred is something that a transaction wanted to remove and that was left.
type Deferred struct {
	Lake string
	V    conflict.Violation
}

// deferEvery is how often a finding says that something was left in a lake, or that files are
// out of reach, in µs: maintenance that runs all the time must not fill the catalog with them.
const deferEvery = 600_000_000

// deferredKey is what such findings are limited by.
type deferredKey struct {
	catalog, lake string
	code          conflict.Code
	table         int64 // 0 for what is about no table
}

// often says that such a finding was written a short while ago; if not, it is written now.
func (g *Guard) often(k deferredKey, now int64) bool {
	if last, ok := g.deferred.Load(k); ok && now-last.(int64) < deferEvery {
		return true
	}
	g.deferred.Store(k, now)
	return false
}

// recordDeferred notes what a transaction that has ended well has left.
func (g *Guard) recordDeferred(ctx context.Context, cat *store.Catalog, in Info) {
	r := &run{g: g, ctx: context.WithoutCancel(ctx), in: in, catalog: cat.Name()}
	now := g.o.Clock().UnixMicro()
	for _, d := range in.Deferred {
		g.o.Logger.Info("left for now", "catalog", r.catalog, "lake", d.Lake, "check", string(d.V.Code), "text", d.V.Text, "detail", d.V.Detail)
		if g.often(deferredKey{r.catalog, d.Lake, d.V.Code, 0}, now) {
			continue
		}
		r.findings = append(r.findings, finding{lake: d.Lake, v: d.V})
	}
	r.store(cat)
}

// holdersOf names the open transactions, if anybody can.
func (in *Info) holdersOf() func() string {
	if in.Holders != nil {
		return in.Holders
	}
	return func() string { return "" }
}

// fence is the fence of a commit to a lake.
func (r *run) fence(lake string) (*Fence, error) {
	return r.g.Fence(r.txn, lake, r.in.holdersOf())
}

// unscheduleAll makes rows of a schedule that a TRUNCATE takes, or a rewrite, ones that the
// commit removes: the batch does not have them otherwise.
func (c *commit) unscheduleAll(base *store.Txn) error {
	if !slices.Contains(c.batch.Emptied, scheduleTable) {
		return nil
	}
	was := view{txn: base, space: c.space}
	r, ok := was.of(scheduleTable)
	if !ok {
		return nil
	}
	return r.each("", nil, func(_ uint64, t row.Tuple) error {
		c.batch.Scheduled.Removed = append(c.batch.Scheduled.Removed, r.scheduled(t))
		return nil
	})
}
