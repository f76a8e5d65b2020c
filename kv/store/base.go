package store

import (
	"bytes"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

// Base returns a transaction that reads what t's view shows without t's own writes: what
// was there when t began. It cannot write, costs O(1), and is ended by Rollback, before or
// after t.
func (t *Txn) Base() (*Txn, error) {
	if err := t.EnsureSnapshot(); err != nil {
		return nil, err
	}
	b := &Txn{cat: t.cat, opts: t.opts, frozen: true}
	b.main.init(t.main.prefix, t.main.newest, t.main.counters)
	t.cat.ref(t.view)
	b.setView(t.view)
	return b, nil
}

// Touched returns the oids of the tables of a name, in any schema, whose rows t has written.
func (t *Txn) Touched(name string) []uint32 {
	var oids []uint32
	for i := range t.deps {
		if t.deps[i].name == name && !slices.Contains(oids, t.deps[i].oid) {
			oids = append(oids, t.deps[i].oid)
		}
	}
	return oids
}

// Written calls fn for the rows of a table that t has inserted or changed, as they are
// now, in key order, until fn answers false. The tuple must not be changed.
func (t *Txn) Written(tbl *rel.Table, fn func(rowid uint64, tup row.Tuple) bool) error {
	sp := t.spaceOf(tbl)
	lo := rel.AppendPrimary(join(sp.rows), tbl)
	var err error
	sp.ov.tree.Ascend(&entry{key: lo}, func(e *entry) bool {
		if !bytes.HasPrefix(e.key, lo) {
			return false
		}
		if e.del {
			return true
		}
		var rowid uint64
		if rowid, err = rel.TrailingRowID(e.key); err != nil {
			return false
		}
		return fn(rowid, row.Tuple(e.val[1:]))
	})
	return err
}
