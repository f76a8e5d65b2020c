package meta

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/store"
)

// The table whose presence makes a schema a lake, and what the names of all tables begin with.
const (
	Prefix        = "ducklake_"
	SnapshotTable = "ducklake_snapshot"
)

// Lake is one lake as a transaction sees it. It is worth as much as its transaction.
type Lake struct {
	txn   *store.Txn
	space uint32 // oid of the metadata schema
	name  string
	dry   *rehearsal // nil: changes are written
}

// Lakes lists the lakes of a catalog in the order of their names.
func Lakes(txn *store.Txn) []Lake {
	var out []Lake
	for s := range txn.Schemas() {
		if l, ok := lakeIn(txn, s); ok {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b Lake) int { return strings.Compare(a.name, b.name) })
	return out
}

// Open returns the lake whose metadata is in the schema of a name.
func Open(txn *store.Txn, name string) (Lake, error) {
	if s, ok := txn.SchemaByName(name); ok {
		if l, ok := lakeIn(txn, s); ok {
			return l, nil
		}
	}
	return Lake{}, fmt.Errorf("%w: %q", ErrNoLake, name)
}

func lakeIn(txn *store.Txn, s *rel.Schema) (Lake, bool) {
	l := Lake{txn: txn, space: s.OID, name: s.Name}
	// A table that only has the name is nobody's lake.
	return l, l.Table(SnapshotTable).Has("snapshot_id", "schema_version", "next_catalog_id", "next_file_id")
}

// Name is the name of the schema that the metadata is in.
func (l Lake) Name() string { return l.name }

// Schema is the oid of that schema.
func (l Lake) Schema() uint32 { return l.space }

// Txn is the lake's transaction.
func (l Lake) Txn() *store.Txn { return l.txn }

// Table returns a table of the lake. It has no rows when there is none of that name.
func (l Lake) Table(name string) Table {
	t, ok := l.txn.TableByName(l.space, name)
	if !ok || t.Kind != rel.KindTable || l.dropped(name) {
		return Table{txn: l.txn, name: name}
	}
	return Table{txn: l.txn, tbl: t, name: name, dry: l.dry}
}

// dropped says whether a rehearsal has dropped a table.
func (l Lake) dropped(name string) bool { return l.dry != nil && l.dry.tables[name] }

// Tables yields the tables of the lake whose names begin with prefix.
func (l Lake) Tables(prefix string) iter.Seq[Table] {
	return func(yield func(Table) bool) {
		for t := range l.txn.Tables(l.space) {
			if t.Kind != rel.KindTable || !strings.HasPrefix(t.Name, prefix) || l.dropped(t.Name) {
				continue
			}
			if !yield(Table{txn: l.txn, tbl: t, name: t.Name, dry: l.dry}) {
				return
			}
		}
	}
}

// DropTable drops a table of the lake with its rows. Clients that remember one of inlined
// rows find it empty.
func (l Lake) DropTable(name string) error {
	t := l.Table(name)
	if !t.Exists() {
		return fmt.Errorf("%w: %q", ErrNoTable, name)
	}
	if l.dry != nil {
		l.dry.tables[name] = true
		return nil
	}
	return l.txn.DropTable(t.tbl.OID)
}

// DataPath is the lake's data path, "" when none is set: rows of data_path with a scope are
// settings of schemas and tables.
func (l Lake) DataPath(ctx context.Context) (string, error) {
	r, ok, err := l.Table("ducklake_metadata").One(ctx, Equal("key", Str("data_path")), Null("scope"))
	if err != nil || !ok {
		return "", err
	}
	return r.Text("value"), nil
}
