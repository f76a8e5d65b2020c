package store

import (
	"bytes"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// Trail remembers the rows that commits have added or changed in some tables of a catalog, for one
// that looks again and again at what is new. It costs the commits nothing but those that write to
// such tables.
type Trail struct {
	c     *Catalog
	match func(*rel.Table) bool
	limit int64

	// The rest is guarded by Catalog.mu.

	from  uint64 // of all commits after this one it has the rows
	rows  []trailRow
	bytes int64
}

// trailRow is a row as a commit left it.
type trailRow struct {
	seq   uint64
	tbl   *rel.Table
	tuple row.Tuple
}

// trailRowCost is about what a row takes beside its tuple, in bytes.
const trailRowCost = 64

// Trail begins to remember rows of the tables that match, which is called while commits wait. More
// than limit bytes are not kept: older rows are forgotten then, and Since says so. What was
// committed by the time that AwaitStable returns after this call need not be in it; all later
// commits are. Close must be called.
func (c *Catalog) Trail(limit int64, match func(*rel.Table) bool) *Trail {
	t := &Trail{c: c, match: match, limit: limit}
	// Not while a group is checked: it would be there in part.
	c.seqMu.Lock()
	defer c.seqMu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.from = c.newest.Load()
	list := append(slices.Clone(c.trailList()), t)
	c.trails.Store(&list)
	return t
}

// Close ends it.
func (t *Trail) Close() {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(t.c.trailList()), func(o *Trail) bool { return o == t })
	t.c.trails.Store(&list)
	t.rows, t.bytes = nil, 0
}

// Since returns the rows that commits after one, by its number (see Txn.ViewSeq), have added to a
// table or changed, as each commit left them: among them are all that a view of a later commit
// has and one of that commit has not. ok is false when they are not known, or the table is
// of another shape now: then it has to be read. The tuples must not be changed.
func (t *Trail) Since(tbl *rel.Table, after uint64) (tuples []row.Tuple, ok bool) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if after < t.from {
		return nil, false
	}
	for i := range t.rows {
		r := &t.rows[i]
		if r.tbl.OID != tbl.OID || r.seq <= after {
			continue
		}
		if r.tbl.Version != tbl.Version {
			return nil, false
		}
		tuples = append(tuples, r.tuple)
	}
	return tuples, true
}

// Forget lets go of what commits up to one have written.
func (t *Trail) Forget(upto uint64) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	t.forget(upto)
}

func (t *Trail) forget(upto uint64) {
	n := 0
	for n < len(t.rows) && t.rows[n].seq <= upto {
		t.bytes -= t.rows[n].size()
		n++
	}
	t.rows = slices.Clone(t.rows[n:])
	t.from = max(t.from, upto)
}

func (r *trailRow) size() int64 { return int64(len(r.tuple)) + trailRowCost }

func (c *Catalog) trailList() []*Trail {
	if p := c.trails.Load(); p != nil {
		return *p
	}
	return nil
}

// leave notes the rows of an accepted member that trails ask for. REQUIRES: c.seqMu.
func (g *group) leave(t *Txn) {
	trails := g.c.trailList()
	if len(trails) == 0 {
		return
	}
	seen := map[uint32]bool{}
	for i := range t.deps {
		oid := t.deps[i].oid
		tbl, ok := g.next.table(oid)
		if !ok || seen[oid] {
			continue
		}
		seen[oid] = true
		if !slices.ContainsFunc(trails, func(x *Trail) bool { return x.match(tbl) }) {
			continue
		}
		lo := rel.AppendPrimary(join(t.main.rows), tbl)
		t.main.ov.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
			if !bytes.HasPrefix(e.key, lo) {
				return false
			}
			if !e.del {
				g.trail = append(g.trail, trailRow{tbl: tbl, tuple: bytes.Clone(e.val[1:])})
			}
			return true
		})
	}
}

// followTrails gives a published group's rows to the trails. REQUIRES: c.mu.
func (c *Catalog) followTrails(g *group, seq uint64) {
	for _, t := range c.trailList() {
		for i := range g.trail {
			r := g.trail[i]
			if !t.match(r.tbl) {
				continue
			}
			r.seq = seq
			t.rows = append(t.rows, r)
			t.bytes += r.size()
		}
		if t.bytes > t.limit {
			t.forget(seq)
		}
	}
}

// loseTrails forgets all rows, because a view was read anew. REQUIRES: c.mu.
func (c *Catalog) loseTrails(seq uint64) {
	for _, t := range c.trailList() {
		t.forget(seq)
	}
}
