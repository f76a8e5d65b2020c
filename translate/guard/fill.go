package guard

import (
	"time"

	"github.com/eiderdb/eider/kv/store"
)

// SnapshotRace is what DuckLake's commits race for, with the numbers of the head that the
// next one builds on.
var SnapshotRace = store.Race{
	Table: snapshotTable, Columns: [4]string{"snapshot_id", "schema_version", "next_catalog_id", "next_file_id"},
}

// AddHead adds a row of ducklake_snapshot with the numbers of a head to the table oid, and
// where it is to be whole the row of its changes: NULL, as DuckLake itself stores for a
// commit without any. It joins the texts of several snapshots, and could not read an empty
// one between others. A *store.SerializationError says that there is no such table any more.
func AddHead(txn *store.Txn, oid uint32, head store.Head, at time.Time, whole bool) error {
	tbl, ok := txn.TableByOID(oid)
	if !ok || tbl.Name != snapshotTable {
		return &store.SerializationError{Table: snapshotTable, Schema: true}
	}
	values := map[string][]byte{"snapshot_time": bigint(at.UnixMicro() - pgEpochMicros)}
	for i, c := range SnapshotRace.Columns {
		values[c] = bigint(head[i])
	}
	if err := (relation{txn, tbl}).insert(values); err != nil || !whole {
		return err
	}
	changes, ok := txn.TableByName(tbl.Schema, changesTable)
	if !ok {
		return &store.SerializationError{Table: changesTable, Schema: true}
	}
	return relation{txn, changes}.insert(map[string][]byte{"snapshot_id": bigint(head[0])})
}
