package store

import (
	"errors"
	"fmt"
)

// The errors of the package, besides those of package kv, which pass through.
var (
	// ErrClosed is returned by calls on a closed store.
	ErrClosed = errors.New("store: closed")
	// ErrNoCatalog is returned for a catalog that does not exist or was dropped.
	ErrNoCatalog = errors.New("store: catalog does not exist")
	// ErrExists marks *ExistsError: a catalog, schema, relation or index of that name exists.
	ErrExists = errors.New("store: object exists")
	// ErrNotFound marks *NotFoundError: a schema, relation or index does not exist.
	ErrNotFound = errors.New("store: object does not exist")
	// ErrSchemaNotEmpty is returned by DropSchema while relations are in the schema.
	ErrSchemaNotEmpty = errors.New("store: schema is not empty")
	// ErrSerialization marks *SerializationError: another transaction committed first. It
	// may be returned by a write and by Commit; the transaction cannot go on.
	ErrSerialization = errors.New("store: could not serialize access")
	// ErrUnique marks *UniqueViolation.
	ErrUnique = errors.New("store: key exists")
	// ErrRowChanged is returned by Update and Delete for a row that this transaction itself
	// has changed or deleted since the caller read it.
	ErrRowChanged = errors.New("store: row was changed by this transaction")
	// ErrTxnDone is returned by calls on a transaction after Commit or Rollback.
	ErrTxnDone = errors.New("store: transaction is finished")
	// ErrTxnTooLarge is returned by a write that would exceed Options.MaxTxnBytes.
	ErrTxnTooLarge = errors.New("store: transaction is too large")
	// ErrNotTable is returned by row operations on a view.
	ErrNotTable = errors.New("store: relation has no rows")
	// ErrNoSnapshot is returned for an exported snapshot that is gone or belongs to
	// another catalog.
	ErrNoSnapshot = errors.New("store: snapshot does not exist")
	// ErrSnapshotInUse is returned by SetSnapshot after the transaction has read.
	ErrSnapshotInUse = errors.New("store: transaction has a snapshot already")
	// ErrNoTemp is returned by making a temporary table in a transaction without TempSpace.
	ErrNoTemp = errors.New("store: transaction has no temporary space")
	// ErrRowIDs is returned when a table has given out all its row ids.
	ErrRowIDs = errors.New("store: row ids are used up")
	// ErrInvalid is returned for descriptors and accesses that make no sense.
	ErrInvalid = errors.New("store: invalid argument")
	// ErrFormat is returned by opening a store that a newer version wrote.
	ErrFormat = errors.New("store: unknown store format")
)

// ObjectKind says what an ExistsError or NotFoundError is about.
type ObjectKind string

// The object kinds.
const (
	ObjectCatalog  ObjectKind = "database"
	ObjectSchema   ObjectKind = "schema"
	ObjectRelation ObjectKind = "relation"
	ObjectIndex    ObjectKind = "index"
)

// ExistsError is returned when a name is taken.
type ExistsError struct {
	Kind ObjectKind
	Name string
}

func (e *ExistsError) Error() string { return fmt.Sprintf("%s %q already exists", e.Kind, e.Name) }

// Is reports ErrExists.
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// NotFoundError is returned when an object is not there (any more).
type NotFoundError struct {
	Kind ObjectKind
	Name string
	OID  uint32
}

func (e *NotFoundError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s with oid %d does not exist", e.Kind, e.OID)
	}
	return fmt.Sprintf("%s %q does not exist", e.Kind, e.Name)
}

// Is reports ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// SerializationError says that another transaction committed first. Its text is
// PostgreSQL's, on which clients base their retry.
type SerializationError struct {
	// Deleted says that the other transaction deleted the row or dropped the object.
	Deleted bool
	// Table is the relation's name, or "" when it is not known.
	Table string
	// Schema says that the other transaction changed the relation's definition, not a row.
	Schema bool
	held   bool // rows that WatchRows named
}

func (e *SerializationError) Error() string {
	if e.Deleted {
		return "could not serialize access due to concurrent delete"
	}
	return "could not serialize access due to concurrent update"
}

// Is reports ErrSerialization.
func (e *SerializationError) Is(target error) bool { return target == ErrSerialization }

// UniqueViolation says that a key of a unique index exists already.
type UniqueViolation struct {
	// SchemaOID, Table and TableOID are the relation's; Table is "pg_class" or
	// "pg_namespace" when two transactions made the same relation or schema.
	SchemaOID uint32
	TableOID  uint32
	Table     string
	Index     string
	// Columns are the key's attnums and Names their names; Values the binary values.
	Columns []int16
	Names   []string
	Types   []uint32
	Values  [][]byte // nil: not known
	// RowID is the row that holds the key, when it is known and visible to the transaction.
	RowID   uint64
	Visible bool
}

func (e *UniqueViolation) Error() string {
	return fmt.Sprintf("duplicate key value violates unique constraint %q", e.Index)
}

// Is reports ErrUnique.
func (e *UniqueViolation) Is(target error) bool { return target == ErrUnique }
