package expire

import "errors"

// The errors of the package, besides those of gc/meta and package store, which pass through.
var (
	// ErrShape is returned for a lake whose snapshots cannot be read.
	ErrShape = errors.New("expire: the table of snapshots has an unknown shape")
)
