package store

import (
	"cmp"
	"strings"
	"sync"

	"github.com/tidwall/btree"

	"github.com/eiderdb/eider/kv/rel"
)

// schema is the set of descriptors of a catalog at one version. A published schema is
// never changed; a transaction or the sequencer changes a copy, which costs O(log n)
// per changed descriptor however many there are.
type schema struct {
	// copyMu serializes copy: copying marks the trees, reading them does not look at the marks.
	copyMu sync.Mutex

	schemas *btree.BTreeG[schemaEntry] // by oid
	spaces  *btree.BTreeG[spaceEntry]  // by name
	tables  *btree.BTreeG[tableEntry]  // by oid
	names   *btree.BTreeG[nameEntry]   // tables, views and named indexes by (schema, name)
	ghosts  *btree.BTreeG[ghostEntry]  // by (schema, name)
	byAge   *btree.BTreeG[ghostEntry]  // by number
	// nextGhost numbers ghosts in the order of their drops.
	nextGhost uint64
}

type (
	schemaEntry struct {
		oid uint32
		s   *rel.Schema
	}
	spaceEntry struct {
		name string
		s    *rel.Schema
	}
	tableEntry struct {
		oid uint32
		t   *rel.Table
	}
	nameEntry struct {
		schema uint32
		name   string
		t      *rel.Table
		index  int // position in t.Indexes, or -1 for the relation itself
	}
	ghostEntry struct {
		schema uint32
		name   string
		n      uint64
		t      *rel.Table
	}
)

func compareName(s1 uint32, n1 string, s2 uint32, n2 string) int {
	if c := cmp.Compare(s1, s2); c != 0 {
		return c
	}
	return strings.Compare(n1, n2)
}

var noLocks = btree.Options{NoLocks: true}

func newSchema() *schema {
	return &schema{
		schemas: btree.NewBTreeGOptions(func(a, b schemaEntry) bool { return a.oid < b.oid }, noLocks),
		spaces:  btree.NewBTreeGOptions(func(a, b spaceEntry) bool { return a.name < b.name }, noLocks),
		tables:  btree.NewBTreeGOptions(func(a, b tableEntry) bool { return a.oid < b.oid }, noLocks),
		names: btree.NewBTreeGOptions(func(a, b nameEntry) bool {
			return compareName(a.schema, a.name, b.schema, b.name) < 0
		}, noLocks),
		ghosts: btree.NewBTreeGOptions(func(a, b ghostEntry) bool {
			return compareName(a.schema, a.name, b.schema, b.name) < 0
		}, noLocks),
		byAge: btree.NewBTreeGOptions(func(a, b ghostEntry) bool { return a.n < b.n }, noLocks),
	}
}

func (s *schema) copy() *schema {
	s.copyMu.Lock()
	defer s.copyMu.Unlock()
	return &schema{
		schemas: s.schemas.Copy(), spaces: s.spaces.Copy(), tables: s.tables.Copy(), names: s.names.Copy(),
		ghosts: s.ghosts.Copy(), byAge: s.byAge.Copy(), nextGhost: s.nextGhost,
	}
}

func (s *schema) table(oid uint32) (*rel.Table, bool) {
	e, ok := s.tables.Get(tableEntry{oid: oid})
	return e.t, ok
}

func (s *schema) relation(schemaOID uint32, name string) (nameEntry, bool) {
	return s.names.Get(nameEntry{schema: schemaOID, name: name})
}

func (s *schema) tableByName(schemaOID uint32, name string) (*rel.Table, bool) {
	e, ok := s.relation(schemaOID, name)
	if !ok || e.index >= 0 {
		return nil, false
	}
	return e.t, true
}

func (s *schema) schema(oid uint32) (*rel.Schema, bool) {
	e, ok := s.schemas.Get(schemaEntry{oid: oid})
	return e.s, ok
}

func (s *schema) schemaByName(name string) (*rel.Schema, bool) {
	e, ok := s.spaces.Get(spaceEntry{name: name})
	return e.s, ok
}

// empty reports whether no relation is in the schema with the given oid.
func (s *schema) empty(oid uint32) bool {
	empty := true
	s.names.Ascend(nameEntry{schema: oid}, func(e nameEntry) bool {
		empty = e.schema != oid
		return false
	})
	return empty
}

// taken returns a name of t (its own or one of its indexes') that is in use. What t
// replaces must have been removed before.
func (s *schema) taken(t *rel.Table) (ObjectKind, string, bool) {
	if _, ok := s.relation(t.Schema, t.Name); ok {
		return ObjectRelation, t.Name, true
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.Hidden {
			continue
		}
		if _, ok := s.relation(t.Schema, x.Name); ok || x.Name == t.Name {
			return ObjectRelation, x.Name, true
		}
		for j := range i {
			if !t.Indexes[j].Hidden && t.Indexes[j].Name == x.Name {
				return ObjectRelation, x.Name, true
			}
		}
	}
	return "", "", false
}

// add enters t, whose names must be free. A ghost of the same name goes; the result is
// that ghost.
func (s *schema) add(t *rel.Table) (gone ghostEntry, was bool) {
	s.tables.Set(tableEntry{t.OID, t})
	s.names.Set(nameEntry{t.Schema, t.Name, t, -1})
	for i := range t.Indexes {
		if !t.Indexes[i].Hidden {
			s.names.Set(nameEntry{t.Schema, t.Indexes[i].Name, t, i})
		}
	}
	gone, was = s.ghosts.Delete(ghostEntry{schema: t.Schema, name: t.Name})
	if was {
		s.byAge.Delete(gone)
	}
	return gone, was
}

func (s *schema) remove(t *rel.Table) {
	s.tables.Delete(tableEntry{oid: t.OID})
	s.names.Delete(nameEntry{schema: t.Schema, name: t.Name})
	for i := range t.Indexes {
		if !t.Indexes[i].Hidden {
			s.names.Delete(nameEntry{schema: t.Schema, name: t.Indexes[i].Name})
		}
	}
}

func (s *schema) addSchema(x *rel.Schema) {
	s.schemas.Set(schemaEntry{x.OID, x})
	s.spaces.Set(spaceEntry{x.Name, x})
}

func (s *schema) removeSchema(x *rel.Schema) {
	s.schemas.Delete(schemaEntry{oid: x.OID})
	s.spaces.Delete(spaceEntry{name: x.Name})
}

// leavesGhost reports whether the descriptor of a dropped table is kept: clients that
// cached the name of an inlined table still ask for it after a flush has dropped it.
func leavesGhost(t *rel.Table) bool {
	return t.Kind == rel.KindTable && !t.Temp &&
		(strings.HasPrefix(t.Name, "ducklake_inlined_data_") || strings.HasPrefix(t.Name, "ducklake_inlined_delete_")) &&
		t.Name != "ducklake_inlined_data_tables"
}

// addGhost remembers a dropped table without its storage, and returns its entry and the
// entries that had to go to stay within max.
func (s *schema) addGhost(t *rel.Table, max int) (added ghostEntry, gone []ghostEntry) {
	g := t.Clone()
	g.Storage, g.Indexes, g.Layout = 0, nil, nil
	s.nextGhost++
	added = ghostEntry{t.Schema, t.Name, s.nextGhost, g}
	gone = s.putGhost(added)
	for s.byAge.Len() > max {
		old, _ := s.byAge.PopMin()
		s.ghosts.Delete(old)
		gone = append(gone, old)
	}
	return added, gone
}

func (s *schema) putGhost(e ghostEntry) (gone []ghostEntry) {
	if prev, replaced := s.ghosts.Set(e); replaced {
		s.byAge.Delete(prev)
		gone = append(gone, prev)
	}
	s.byAge.Set(e)
	s.nextGhost = max(s.nextGhost, e.n)
	return gone
}
