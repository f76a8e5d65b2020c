package metatest

import (
	"context"
	"fmt"
	"strings"

	"github.com/eiderdb/eider/gc/meta"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// Plain commits without checks.
type Plain struct {
	Before func(txn *store.Txn) // called in front of each commit, unless it is nil
}

// Commit commits a transaction.
func (p Plain) Commit(ctx context.Context, txn *store.Txn) error {
	if p.Before != nil {
		p.Before(txn)
	}
	return txn.Commit(ctx)
}

var types = map[string]uint32{
	"": meta.Int8, "int": meta.Int4, "text": meta.Text, "varchar": meta.Varchar, "timestamptz": meta.Timestamptz,
	"timestamp": meta.Timestamp, "boolean": meta.Bool, "uuid": meta.UUID, "double": meta.Float8, "json": 114,
}

// SnapshotColumns are the columns of meta.SnapshotTable, for CreateTable.
func SnapshotColumns() []string {
	return []string{"snapshot_id", "snapshot_time timestamptz", "schema_version", "next_catalog_id", "next_file_id"}
}

// CreateTable makes a table. A column is its name, for a bigint, or name and type with a
// space between them. The first column of meta.SnapshotTable is its primary key.
func CreateTable(txn *store.Txn, schema uint32, name string, columns ...string) error {
	d := &rel.Table{Schema: schema, Name: name, Kind: rel.KindTable}
	for i, c := range columns {
		col, typ, _ := strings.Cut(c, " ")
		oid, ok := types[typ]
		if !ok {
			return fmt.Errorf("metatest: column %s of table %s: unknown type %s", col, name, typ)
		}
		d.Columns = append(d.Columns, rel.Column{Num: int16(i + 1), Name: col, Type: oid, Mod: -1})
	}
	if name == meta.SnapshotTable {
		d.Indexes = []rel.Index{{Name: name + "_pkey", Columns: []int16{1}, Unique: true, Primary: true, Constraint: true}}
	}
	_, err := txn.CreateTable(d)
	return err
}
