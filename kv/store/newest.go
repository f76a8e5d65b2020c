package store

import (
	"slices"

	"github.com/eiderdb/eider/kv/rel"
)

// Newest says whether nothing has been committed since t's view.
func (t *Txn) Newest() bool {
	return t.view != nil && t.view.seq == t.cat.newest.Load() && t.view.epoch == t.cat.store.engine.Epoch()
}

// NameFree reports a *UniqueViolation when a relation, or with schema 0 a schema, of a
// name has been committed that t does not see: one that t makes could not commit.
func (t *Txn) NameFree(schema uint32, name string) error {
	if err := t.EnsureSnapshot(); err != nil {
		return err
	}
	t.cat.mu.Lock()
	newest := t.cat.cur.schema
	t.cat.mu.Unlock()
	if newest == t.view.schema {
		return nil
	}
	if schema == 0 {
		now, ok := newest.schemaByName(name)
		if !ok {
			return nil
		}
		if was, ok := t.view.schema.schemaByName(name); ok && was.OID == now.OID {
			return nil
		}
		return &UniqueViolation{Table: "pg_namespace", Index: "pg_namespace_nspname_index", Names: []string{"nspname"}}
	}
	now, ok := newest.relation(schema, name)
	if !ok {
		return nil
	}
	if was, ok := t.view.schema.relation(schema, name); ok && was.t.OID == now.t.OID {
		return nil
	}
	return &UniqueViolation{Table: "pg_class", Index: "pg_class_relname_nsp_index", Names: []string{"relname", "relnamespace"}}
}

// ChangedSince says whether commits after one, by its number (see ViewSeq), have changed
// rows of a table. It looks at the newest state, so that "no" is true for the view of
// t and every one between. "Yes" may be wrong after the engine reopened its files.
func (t *Txn) ChangedSince(tbl *rel.Table, seq uint64) bool {
	t.cat.mu.Lock()
	defer t.cat.mu.Unlock()
	return t.cat.lastMod[tbl.Storage] > seq
}

// changedUnder returns the storages that t has written rows of and whose rows may have
// changed since: by a commit that is published, or by those that have touched others. What
// t's writes assume of any other storage is still true in every published state from
// firstSeq on, so that a large transaction need not be looked at key by key while others wait.
func (c *Catalog) changedUnder(t *Txn, touched map[uint64]bool) (storages []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range t.deps {
		s := t.deps[i].storage
		// What was changed before the engine reopened its files is not known.
		if !t.main.made[s] && (touched[s] || c.lastMod[s] > t.firstSeq || c.base > t.firstSeq) && !slices.Contains(storages, s) {
			storages = append(storages, s)
		}
	}
	return storages
}
