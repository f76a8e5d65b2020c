package store

// WatchTable is WatchRows for the table that a schema has under a name in t's view, and also
// makes Commit look whether that is still so: whether another transaction has made the
// table, replaced or removed it, or has written to it in a way that leaves no changed rows.
func (t *Txn) WatchTable(schema, name string) {
	if t.view == nil {
		return
	}
	d := dataDep{schema: schema, name: name, seq: t.view.seq, held: true}
	d.storage = t.view.schema.storageOf(schema, name)
	for i := range t.stays {
		if t.stays[i].held && t.stays[i].schema == schema && t.stays[i].name == name {
			t.stays[i] = d
			return
		}
	}
	t.stays = append(t.stays, d)
}

// storageOf is the storage of the relation of a name, 0 when there is none.
func (s *schema) storageOf(schema, name string) uint64 {
	ns, ok := s.schemaByName(schema)
	if !ok {
		return 0
	}
	tbl, ok := s.tableByName(ns.OID, name)
	if !ok {
		return 0
	}
	return tbl.Storage
}

// moved says whether what a transaction relies on has changed. REQUIRES: Catalog.mu.
func (g *group) moved(d *dataDep) bool {
	if d.schema != "" && g.next.storageOf(d.schema, d.name) != d.storage {
		return true
	}
	return d.storage != 0 && (g.touched[d.storage] || g.c.lastMod[d.storage] > d.seq)
}
