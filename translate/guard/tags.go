package guard

import (
	"context"
	"slices"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
	"github.com/eiderdb/eider/kv/store"
)

// tagsTable has the tags of snapshots: a row with lake and snapshot_id protects the snapshot,
// one without a lake that of every lake.
const tagsTable = "tags"

// watchTags makes the look at a commit be repeated when somebody sets a tag before it lands.
func watchTags(txn *store.Txn) { txn.WatchTable(schemaName, tagsTable) }

// Tagged are the snapshots that rows of eider.tags name. If the relation of the name is none
// that tags can be read from, they are all: what it was meant to protect is not known.
func (f *Fence) Tagged(context.Context) ([]int64, error) {
	t, ok := tagsOf(f.txn)
	if !ok {
		return nil, nil
	}
	why := unreadableTags(t)
	f.g.odd(f.txn.Catalog().Name(), tagsTable, why, "all snapshots are kept")
	if why != "" {
		return f.everySnapshot()
	}
	r := relation{f.txn, t}
	var ids []int64
	err := r.each("", nil, func(_ uint64, t row.Tuple) error {
		if of := r.field(t, "lake"); of != nil && string(of) != f.lake {
			return nil
		}
		if id, ok := row.Integer(r.field(t, "snapshot_id")); ok {
			ids = append(ids, id)
		}
		return nil
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// everySnapshot are the snapshots that there were before the transaction's own writes.
func (f *Fence) everySnapshot() (ids []int64, err error) {
	base, err := f.txn.Base()
	if err != nil {
		return nil, err
	}
	defer end([]*store.Txn{base})
	ids, err = list(&view{txn: base, space: f.space}, snapshotTable, "", nil, func(r relation, t row.Tuple) int64 {
		return r.num(t, "snapshot_id")
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

func tagsOf(txn *store.Txn) (*rel.Table, bool) {
	s, ok := txn.SchemaByName(schemaName)
	if !ok {
		return nil, false
	}
	return txn.TableByName(s.OID, tagsTable)
}

// unreadableTags says why tags cannot be read from a relation, "" when they can.
func unreadableTags(t *rel.Table) string {
	if t.Kind != rel.KindTable {
		return "it is not a table"
	}
	if c, ok := t.Column("lake"); !ok || c.Type != oidText && c.Type != oidVarchar {
		return `it has no column "lake" of a text type`
	}
	if c, ok := t.Column("snapshot_id"); !ok || c.Type != oidInt8 && c.Type != oidInt4 && c.Type != oidInt2 {
		return `it has no column "snapshot_id" of an integer type`
	}
	return ""
}

// odd tells the log that a relation of the schema eider is not the server's, and what
// follows, once for each reason. "" says that it is.
func (g *Guard) odd(catalog, table, why, so string) {
	k := oddKey{catalog, table}
	if why == "" {
		g.oddities.Delete(k)
		return
	}
	if was, ok := g.oddities.Swap(k, why); !ok || was != why {
		g.o.Logger.Error("eider."+table+" is not the server's table: "+so, "catalog", catalog, "reason", why)
	}
}

// oddKey is a relation of the schema eider of a catalog.
type oddKey struct{ catalog, table string }
