package guard

import "github.com/eiderdb/eider/kv/store"

// Added is a snapshot that a transaction adds to a lake.
type Added struct {
	// Lake is the schema that the lake's tables are in.
	Lake string
	// Snapshot is its id.
	Snapshot int64
	// Changes is what ducklake_snapshot_changes says of it, "" where it says nothing.
	Changes string
	// Author and Message are what the client has set for the commit, "" for nothing.
	Author, Message string
}

// AddedSnapshots returns what a transaction adds, one snapshot for each lake: the newest
// where there are several, as in an import. It reads nothing but what the transaction has written.
func AddedSnapshots(txn *store.Txn) (list []Added) {
	for _, oid := range txn.Touched(snapshotTable) {
		tbl, ok := txn.TableByOID(oid)
		if !ok || tbl.Temp || tbl.Name != snapshotTable || !isSnapshots(tbl) {
			continue
		}
		ns, ok := txn.SchemaByOID(tbl.Schema)
		if !ok {
			continue
		}
		if id, ok := newest(relation{txn, tbl}); ok {
			a := Added{Lake: ns.Name, Snapshot: id}
			if changes, ok := txn.TableByName(tbl.Schema, changesTable); ok {
				a.describe(relation{txn, changes})
			}
			list = append(list, a)
		}
	}
	return list
}

// newest is the largest id among the new rows of a table of snapshots.
func newest(r relation) (id int64, ok bool) {
	// An error is that of a key which the transaction itself has made: there is none.
	_ = r.txn.Changes(r.tbl, func(c store.RowChange) bool {
		if c.Before == nil && c.After != nil {
			if n := r.num(c.After, "snapshot_id"); !ok || n > id {
				id, ok = n, true
			}
		}
		return true
	})
	return id, ok
}

// describe takes over what the table of changes says of the snapshot.
func (a *Added) describe(r relation) {
	_ = r.txn.Changes(r.tbl, func(c store.RowChange) bool {
		if c.After == nil || r.num(c.After, "snapshot_id") != a.Snapshot {
			return true
		}
		// Lakes of older formats have none of the latter two.
		a.Changes, a.Author, a.Message = r.text(c.After, "changes_made"), r.text(c.After, "author"), r.text(c.After, "commit_message")
		return false
	})
}
