package store

import (
	"iter"
	"weak"

	"github.com/eiderdb/eider/kv/rel"
)

// desc returns the catalog's descriptors as the transaction sees them. Looking at a
// descriptor is a read: it fixes the view. When no view can be had (the catalog was
// dropped, the engine is closed) there are no descriptors; EnsureSnapshot, which
// callers do first, returns the reason.
func (t *Txn) desc() *schema {
	if t.EnsureSnapshot() != nil {
		return newSchema()
	}
	return t.main.current()
}

func (t *Txn) tempDesc() *schema {
	if t.done || t.opts.Temp == nil {
		return newSchema()
	}
	return t.temp.current()
}

// SchemaByName returns the schema of the given name; the temporary schema too.
func (t *Txn) SchemaByName(name string) (*rel.Schema, bool) {
	if ts := t.opts.Temp; ts != nil && ts.ns.Name == name {
		return ts.ns, true
	}
	return t.desc().schemaByName(name)
}

// SchemaByOID returns the schema with the given oid; the temporary schema too.
func (t *Txn) SchemaByOID(oid uint32) (*rel.Schema, bool) {
	if ts := t.opts.Temp; ts != nil && ts.ns.OID == oid {
		return ts.ns, true
	}
	return t.desc().schema(oid)
}

// Schemas visits the catalog's schemas in oid order, without the temporary one.
func (t *Txn) Schemas() iter.Seq[*rel.Schema] {
	d := t.desc()
	d.copyMu.Lock()
	tree := d.schemas.Copy()
	d.copyMu.Unlock()
	return func(yield func(*rel.Schema) bool) {
		tree.Scan(func(e schemaEntry) bool { return yield(e.s) })
	}
}

// TableByName returns the table or view of the given name in a schema.
func (t *Txn) TableByName(schemaOID uint32, name string) (*rel.Table, bool) {
	if ts := t.opts.Temp; ts != nil && ts.ns.OID == schemaOID {
		return t.TempTableByName(name)
	}
	return t.desc().tableByName(schemaOID, name)
}

// TableByOID returns the table or view with the given oid, temporary ones too.
func (t *Txn) TableByOID(oid uint32) (*rel.Table, bool) {
	if tbl, ok := t.tempDesc().table(oid); ok {
		return tbl, true
	}
	return t.desc().table(oid)
}

// IndexByName returns an index and its table by the index's name.
func (t *Txn) IndexByName(schemaOID uint32, name string) (*rel.Table, *rel.Index, bool) {
	d := t.desc()
	if ts := t.opts.Temp; ts != nil && ts.ns.OID == schemaOID {
		d = t.tempDesc()
	}
	e, ok := d.relation(schemaOID, name)
	if !ok || e.index < 0 {
		return nil, nil, false
	}
	return e.t, &e.t.Indexes[e.index], true
}

// Tables visits the tables and views of a schema by name.
func (t *Txn) Tables(schemaOID uint32) iter.Seq[*rel.Table] {
	if ts := t.opts.Temp; ts != nil && ts.ns.OID == schemaOID {
		return t.TempTables()
	}
	return relations(t.desc(), schemaOID, true)
}

// AllTables visits the catalog's tables and views by schema oid and name, without
// temporary ones.
func (t *Txn) AllTables() iter.Seq[*rel.Table] { return relations(t.desc(), 0, false) }

func relations(d *schema, schemaOID uint32, only bool) iter.Seq[*rel.Table] {
	d.copyMu.Lock()
	tree := d.names.Copy()
	d.copyMu.Unlock()
	return func(yield func(*rel.Table) bool) {
		tree.Ascend(nameEntry{schema: schemaOID}, func(e nameEntry) bool {
			if only && e.schema != schemaOID {
				return false
			}
			return e.index >= 0 || yield(e.t)
		})
	}
}

// TempTableByName returns a temporary table.
func (t *Txn) TempTableByName(name string) (*rel.Table, bool) {
	if t.opts.Temp == nil {
		return nil, false
	}
	return t.tempDesc().tableByName(t.opts.Temp.ns.OID, name)
}

// TempTables visits the session's temporary tables by name.
func (t *Txn) TempTables() iter.Seq[*rel.Table] {
	if t.opts.Temp == nil {
		return func(func(*rel.Table) bool) {}
	}
	return relations(t.tempDesc(), t.opts.Temp.ns.OID, true)
}

// TempSchema returns the session's temporary schema, or nil.
func (t *Txn) TempSchema() *rel.Schema {
	if t.opts.Temp == nil {
		return nil
	}
	return t.opts.Temp.ns
}

// GhostTable returns the last descriptor of a dropped inlined-data table of that name, if
// no table has the name now. Scans of it find no rows.
func (t *Txn) GhostTable(schemaOID uint32, name string) (*rel.Table, bool) {
	e, ok := t.desc().ghosts.Get(ghostEntry{schema: schemaOID, name: name})
	return e.t, ok
}

// GhostByOID finds a ghost by its oid. It walks the ghosts, of which there are few.
func (t *Txn) GhostByOID(oid uint32) (found *rel.Table, ok bool) {
	t.desc().ghosts.Scan(func(e ghostEntry) bool {
		if e.t.OID == oid {
			found, ok = e.t, true
		}
		return !ok
	})
	return found, ok
}

// Descriptors tells sets of descriptors apart. It keeps none of them in memory.
type Descriptors struct{ of weak.Pointer[schema] }

// Descriptors returns the same for two transactions of a catalog only if what they see of its
// schemas, tables, views and indexes, dropped ones included, is the same. ok is false for a
// transaction that has changed them itself, or whose session has temporary relations.
func (t *Txn) Descriptors() (d Descriptors, ok bool) {
	if t.done || t.EnsureSnapshot() != nil || t.main.ddl.Len() > 0 {
		return d, false
	}
	for range t.TempTables() {
		return d, false
	}
	return Descriptors{weak.Make(t.main.base)}, true
}
