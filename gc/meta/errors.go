package meta

import "errors"

// The errors of the package, besides those of package store, which pass through.
var (
	// ErrNoLake is returned for a schema that does not exist or holds no lake.
	ErrNoLake = errors.New("meta: no such lake")
	// ErrNoTable is returned by writes to a table that the lake does not have.
	ErrNoTable = errors.New("meta: the lake has no such table")
	// ErrNoColumn is returned by writes to a column that the table does not have.
	ErrNoColumn = errors.New("meta: the table has no such column")
	// ErrType is returned for values whose type has no text here.
	ErrType = errors.New("meta: no text for values of the type")
	// ErrShape is returned by OwnTable for a table of the name that is not the server's.
	ErrShape = errors.New("meta: the table has another shape")
	// ErrLost marks an error of a Committer after which the transaction may be done again,
	// on a newer state, with another outcome.
	ErrLost = errors.New("meta: another transaction came first")
)
