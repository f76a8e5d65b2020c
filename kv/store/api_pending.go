package store

import (
	"context"
	"errors"
	"iter"

	"github.com/eiderdb/eider/kv"
	"github.com/eiderdb/eider/kv/rel"
	"github.com/eiderdb/eider/kv/row"
)

var errPending = errors.New("store: being built")

type Store struct{}

func Open(ctx context.Context, engine kv.Engine, o Options) (*Store, error)    { return nil, errPending }
func (s *Store) Close() error                                                  { return nil }
func (s *Store) CreateCatalog(ctx context.Context, name string) error          { return errPending }
func (s *Store) DropCatalog(ctx context.Context, name string) error            { return errPending }
func (s *Store) RenameCatalog(ctx context.Context, name, newName string) error { return errPending }
func (s *Store) Catalogs() []CatalogInfo                                       { return nil }
func (s *Store) Catalog(name string) (*Catalog, error)                         { return nil, errPending }

type Catalog struct{}

func (c *Catalog) Name() string            { return "" }
func (c *Catalog) OID() uint32             { return 0 }
func (c *Catalog) Begin(o TxnOptions) *Txn { return nil }

type TempSpace struct{}

func NewTempSpace(sessionID uint32) *TempSpace { return nil }
func (ts *TempSpace) Schema() *rel.Schema      { return nil }
func (ts *TempSpace) Reset()                   {}

type Txn struct{}

// Mark is a savepoint.
type Mark struct{}

func (t *Txn) Catalog() *Catalog                                            { return nil }
func (t *Txn) Options() TxnOptions                                          { return TxnOptions{} }
func (t *Txn) EnsureSnapshot() error                                        { return errPending }
func (t *Txn) NewStatement() error                                          { return errPending }
func (t *Txn) ExportSnapshot() (id string, err error)                       { return "", errPending }
func (t *Txn) SetSnapshot(id string) error                                  { return errPending }
func (t *Txn) SchemaByName(name string) (*rel.Schema, bool)                 { return nil, false }
func (t *Txn) SchemaByOID(oid uint32) (*rel.Schema, bool)                   { return nil, false }
func (t *Txn) Schemas() iter.Seq[*rel.Schema]                               { return nil }
func (t *Txn) TableByName(schemaOID uint32, name string) (*rel.Table, bool) { return nil, false }
func (t *Txn) TableByOID(oid uint32) (*rel.Table, bool)                     { return nil, false }
func (t *Txn) IndexByName(schemaOID uint32, name string) (*rel.Table, *rel.Index, bool) {
	return nil, nil, false
}
func (t *Txn) Tables(schemaOID uint32) iter.Seq[*rel.Table]                   { return nil }
func (t *Txn) AllTables() iter.Seq[*rel.Table]                                { return nil }
func (t *Txn) TempTableByName(name string) (*rel.Table, bool)                 { return nil, false }
func (t *Txn) TempTables() iter.Seq[*rel.Table]                               { return nil }
func (t *Txn) TempSchema() *rel.Schema                                        { return nil }
func (t *Txn) GhostTable(schemaOID uint32, name string) (*rel.Table, bool)    { return nil, false }
func (t *Txn) CreateSchema(name string) (*rel.Schema, error)                  { return nil, errPending }
func (t *Txn) DropSchema(oid uint32) error                                    { return errPending }
func (t *Txn) RenameSchema(oid uint32, name string) error                     { return errPending }
func (t *Txn) PutSchema(s *rel.Schema) error                                  { return errPending }
func (t *Txn) NewOID() uint32                                                 { return 0 }
func (t *Txn) NewStorage() uint64                                             { return 0 }
func (t *Txn) CreateTable(tbl *rel.Table) (*rel.Table, error)                 { return nil, errPending }
func (t *Txn) PutTable(tbl *rel.Table) (*rel.Table, error)                    { return nil, errPending }
func (t *Txn) DropTable(oid uint32) error                                     { return errPending }
func (t *Txn) TruncateTable(oid uint32) (*rel.Table, error)                   { return nil, errPending }
func (t *Txn) CreateIndex(tableOID uint32, idx rel.Index) (*rel.Table, error) { return nil, errPending }
func (t *Txn) DropIndex(tableOID, indexOID uint32) (*rel.Table, error)        { return nil, errPending }
func (t *Txn) Insert(tbl *rel.Table, tup row.Tuple) (rowid uint64, err error) { return 0, errPending }
func (t *Txn) Update(tbl *rel.Table, rowid uint64, old, new row.Tuple) error  { return errPending }
func (t *Txn) Delete(tbl *rel.Table, rowid uint64, old row.Tuple) error       { return errPending }
func (t *Txn) Get(tbl *rel.Table, rowid uint64) (row.Tuple, bool, error) {
	return nil, false, errPending
}
func (t *Txn) Scan(tbl *rel.Table, a Access) (*RowIter, error) { return nil, errPending }
func (t *Txn) HasWrites() bool                                 { return false }
func (t *Txn) Savepoint() Mark                                 { return Mark{} }
func (t *Txn) RollbackTo(m Mark) error                         { return errPending }
func (t *Txn) Commit(ctx context.Context) error                { return errPending }
func (t *Txn) Rollback() error                                 { return nil }

// Access says which rows of a table a scan visits and in which order.
type Access struct {
	// Index is one of the table's indexes, or nil for the primary storage, whose key is
	// the table's Layout and then the row id.
	Index *rel.Index
	// Eq are binary values for the leading key parts; nil means NULL. For a layout part
	// with IsNull the value is one byte, 1 for "is null".
	Eq [][]byte
	// Lo and Hi bound the key part after Eq; NULLs are outside of every bound.
	Lo, Hi  *Bound
	Reverse bool
	// RowIDs, when not nil, asks for these rows in this order; the rest is ignored but
	// absent rows are passed over.
	RowIDs []uint64
}

// RowIter visits rows of a frozen view: later writes of the transaction do not show.
type RowIter struct{}

func (it *RowIter) Next() bool       { return false }
func (it *RowIter) RowID() uint64    { return 0 }
func (it *RowIter) Tuple() row.Tuple { return nil }
func (it *RowIter) Err() error       { return nil }
func (it *RowIter) Close() error     { return nil }
