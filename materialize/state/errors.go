package state

import "errors"

// Errors of this package.
var (
	// ErrNewer is returned when the tables were written by a newer version; they are left as
	// they are.
	ErrNewer = errors.New("the schema eider_materialize was written by a newer version of Eider")
	// ErrNone is returned by a store that is opened for reading where nothing was ever run.
	ErrNone = errors.New("nothing was materialized in this catalog yet")
	// ErrLost is returned when the connection is gone, and with it the asset's lock.
	ErrLost = errors.New("the connection to the catalog was lost")
	// ErrNoLake is returned when the database has no lake in the metadata schema.
	ErrNoLake = errors.New("there is no DuckLake catalog")
	// ErrConnect is returned when the catalog's database cannot be reached.
	ErrConnect = errors.New("the catalog cannot be reached")
	// ErrValue is returned for what no column can hold, such as a status that there is not.
	ErrValue = errors.New("not a value of the state")
)
