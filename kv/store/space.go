package store

import (
	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
)

// space is one of the two key spaces that a transaction reads and writes: its catalog's
// and the temporary one of its session.
type space struct {
	prefix   []byte // of all keys
	rows     []byte // of row and index keys
	base     *schema
	newest   kv.Reader // newest committed state
	counters *rowCounters
	ov       *overlay
	ddl      *btree.BTreeG[ddlEntry]
	// own is base with ddl applied; nil when it has to be made again or ddl is empty.
	own *schema
	// wiped are storages that existed before the transaction and end with it.
	wiped []uint64
	// made are storages that this transaction made: nothing of them is in the engine.
	made map[uint64]bool
}

// ddlEntry is one changed descriptor. base is its version before the transaction, 0 when
// it did not exist; after is nil when it is dropped.
type ddlEntry struct {
	kind   byte // descSchema or descTable
	oid    uint32
	base   uint64
	before *rel.Table // the descriptor that base is the version of
	after  *rel.Table

	schemaBefore *rel.Schema
	schemaAfter  *rel.Schema
}

func ddlLess(a, b ddlEntry) bool {
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.oid < b.oid
}

func (sp *space) init(prefix []byte, newest kv.Reader, counters *rowCounters) {
	sp.prefix, sp.newest, sp.counters = prefix, newest, counters
	sp.rows = join(prefix, kindRows)
	sp.ov = newOverlay()
	sp.ddl = btree.NewBTreeGOptions(ddlLess, noLocks)
}

// freeze makes sp what from is now.
func (sp *space) freeze(from *space) {
	*sp = *from
	if from.ov == nil {
		return // no temporary tables
	}
	sp.ov = &overlay{tree: from.ov.tree.Copy()}
	sp.ddl, sp.own = from.ddl.Copy(), nil
}

// clean reports whether nothing was written.
func (sp *space) clean() bool {
	return sp.ov.tree.Len() == 0 && sp.ddl.Len() == 0 && len(sp.wiped) == 0
}

// current returns the descriptors as the transaction sees them.
func (sp *space) current() *schema {
	if sp.ddl.Len() == 0 {
		return sp.base
	}
	if sp.own == nil {
		sp.own = sp.base.copy()
		replay(sp.own, sp.ddl)
	}
	return sp.own
}

// replay applies descriptor changes to s: first everything old goes, then everything new
// comes, so that names may be exchanged.
func replay(s *schema, ddl *btree.BTreeG[ddlEntry]) {
	ddl.Scan(func(e ddlEntry) bool {
		if e.kind == descTable {
			if cur, ok := s.table(e.oid); ok {
				s.remove(cur)
			}
		} else if cur, ok := s.schema(e.oid); ok {
			s.removeSchema(cur)
		}
		return true
	})
	ddl.Scan(func(e ddlEntry) bool {
		switch {
		case e.after != nil:
			s.add(e.after)
		case e.schemaAfter != nil:
			s.addSchema(e.schemaAfter)
		case e.kind == descTable && e.before != nil && leavesGhost(e.before):
			s.addGhost(e.before, s.byAge.Len()+1)
		}
		return true
	})
}

// changed returns the own schema for a change. The caller enters the change into ddl too.
func (sp *space) changed() *schema {
	if sp.own == nil {
		sp.own = sp.base.copy()
		replay(sp.own, sp.ddl)
	}
	return sp.own
}

// recordTable enters a table's change into ddl: cur is the descriptor as the transaction
// saw it so far (nil: none), after the new one (nil: dropped).
func (sp *space) recordTable(oid uint32, cur, after *rel.Table) {
	e, ok := sp.ddl.Get(ddlEntry{kind: descTable, oid: oid})
	if !ok {
		e = ddlEntry{kind: descTable, oid: oid, before: cur}
		if cur != nil {
			e.base = cur.Version
		}
	}
	e.after = after
	if after == nil && e.base == 0 {
		sp.ddl.Delete(e)
		return
	}
	sp.ddl.Set(e)
}

func (sp *space) recordSchema(oid uint32, cur, after *rel.Schema) {
	e, ok := sp.ddl.Get(ddlEntry{kind: descSchema, oid: oid})
	if !ok {
		e = ddlEntry{kind: descSchema, oid: oid, schemaBefore: cur}
		if cur != nil {
			e.base = cur.Version
		}
	}
	e.schemaAfter = after
	if after == nil && e.base == 0 {
		sp.ddl.Delete(e)
		return
	}
	sp.ddl.Set(e)
}

// wipe forgets the transaction's writes to a storage and has it emptied at commit.
func (sp *space) wipe(storage uint64) {
	lo, hi := storageRange(sp.rows, storage)
	sp.ov.wipe(lo, hi)
	if !sp.made[storage] {
		sp.wiped = append(sp.wiped, storage)
	}
}

// writeTo appends the space's row writes and range deletes to a batch.
func (sp *space) writeTo(b kv.Batch) error {
	for _, storage := range sp.wiped {
		lo, hi := storageRange(sp.rows, storage)
		if err := b.DeleteRange(lo, hi); err != nil {
			return err
		}
	}
	var err error
	sp.ov.tree.Scan(func(e *entry) bool {
		if e.del {
			err = b.Delete(e.key)
		} else {
			err = b.Set(e.key, e.val)
		}
		return err == nil
	})
	return err
}

// spaceMark is a space at a savepoint.
type spaceMark struct {
	tree  *entryTree
	bytes int64
	ddl   *btree.BTreeG[ddlEntry]
	wiped int
}

func (sp *space) mark() spaceMark {
	m := spaceMark{bytes: sp.ov.bytes, wiped: len(sp.wiped)}
	if sp.ov.tree.Len() > 0 {
		m.tree = sp.ov.tree.Copy()
	}
	if sp.ddl.Len() > 0 {
		m.ddl = sp.ddl.Copy()
	}
	return m
}

func (sp *space) rollbackTo(m spaceMark) {
	if m.tree != nil {
		sp.ov.tree = m.tree.Copy()
	} else {
		sp.ov.tree = btree.NewBTreeGOptions(entryLess, noLocks)
	}
	sp.ov.bytes = m.bytes
	if m.ddl != nil {
		sp.ddl = m.ddl.Copy()
		sp.own = nil
	} else if sp.ddl.Len() > 0 {
		sp.ddl = btree.NewBTreeGOptions(ddlLess, noLocks)
		sp.own = nil
	}
	sp.wiped = sp.wiped[:m.wiped]
}
